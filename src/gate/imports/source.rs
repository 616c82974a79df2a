//! Offsets to lines and columns, and the files that are refused before a lexer sees them.

use std::sync::Arc;

use super::{Import, ImportKind, Opaque, Within};

/// Where and why lexing had to stop.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fault {
    /// Lower case, one line.
    pub why: &'static str,
    /// Byte offset at which the trouble begins.
    pub at: usize,
}

/// Of a slash or `<` that cannot be decided: another reading of the same file must not stand in
/// for the one that stopped here, since this one may be what the language does.
pub const UNSURE: &str = "has a slash that may divide or begin an expression";
/// As [`UNSURE`].
pub const UNSURE_ELEMENT: &str = "has a `<` that may compare or begin an element";

impl Fault {
    /// Whether the reading may be the right one although it could not go on.
    pub fn is_unsure(self) -> bool {
        matches!(self.why, UNSURE | UNSURE_ELEMENT)
    }

    /// The fault with its line.
    pub fn located(self, source: &[u8]) -> Opaque {
        let before = &source[..self.at.min(source.len())];
        Opaque {
            why: self.why.to_owned(),
            line: Some(count_newlines(before) + 1),
        }
    }
}

/// An import whose place is still a byte offset.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Found {
    /// See [`Import::raw`].
    pub raw: String,
    /// See [`Import::identity`].
    pub identity: Vec<String>,
    /// See [`Import::kind`].
    pub kind: ImportKind,
    /// Byte offset of the specifier.
    pub at: usize,
}

/// Refuses what no lexer here can read: UTF-16 and binary files have NUL bytes, and bytes that are
/// not UTF-8 mean something else in another encoding.
pub fn inspectable(source: &[u8]) -> Result<(), Opaque> {
    if let Some(at) = memchr::memchr(0, source) {
        return Err(Fault {
            why: "has a NUL byte",
            at,
        }
        .located(source));
    }
    match std::str::from_utf8(source) {
        Ok(_) => Ok(()),
        Err(error) => Err(Fault {
            why: "is not UTF-8",
            at: error.valid_up_to(),
        }
        .located(source)),
    }
}

/// How many bytes a leading byte order mark takes.
pub fn byte_order_mark(source: &[u8]) -> usize {
    if source.starts_with(b"\xEF\xBB\xBF") { 3 } else { 0 }
}

/// Sorts by position, drops what two readings of one file both found, and counts lines.
pub fn placed(source: &[u8], found: Vec<Found>) -> Vec<Import> {
    placed_within(source, found, &[])
}

/// As [`placed`], with the namespaces around from each of these offsets on.
pub fn placed_within(source: &[u8], mut found: Vec<Found>, namespaces: &[(usize, Option<Arc<Within>>)]) -> Vec<Import> {
    found.sort_by(|a, b| (a.at, a.kind, &a.raw).cmp(&(b.at, b.kind, &b.raw)));
    found.dedup();
    let (mut line, mut line_start, mut seen) = (1, byte_order_mark(source), 0);
    let mut passed = 0;
    let mut imports = Vec::with_capacity(found.len());
    for Found {
        raw,
        identity,
        kind,
        at,
    } in found
    {
        let between = &source[seen..at];
        line += count_newlines(between);
        if let Some(newline) = memchr::memrchr(b'\n', between) {
            line_start = seen + newline + 1;
        }
        seen = at;
        while namespaces.get(passed).is_some_and(|(from, _)| *from <= at) {
            passed += 1;
        }
        // `global::A.B` and `alias::A.B` say where they begin.
        let within = match kind {
            ImportKind::Declared | ImportKind::Opaque => None,
            _ if raw.contains("::") => None,
            _ => passed.checked_sub(1).and_then(|last| namespaces[last].1.clone()),
        };
        let column = u32::try_from(at.saturating_sub(line_start)).unwrap_or(u32::MAX - 1) + 1;
        imports.push(Import {
            raw,
            identity,
            kind,
            line,
            column,
            within,
        });
    }
    imports
}

fn count_newlines(bytes: &[u8]) -> u32 {
    // Only `\n`, as git counts lines, although a lone `\r` ends a line for both languages.
    u32::try_from(memchr::memchr_iter(b'\n', bytes).count()).unwrap_or(u32::MAX - 1)
}

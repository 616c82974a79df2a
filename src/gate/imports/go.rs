//! Imports of a Go file.
//!
//! `import` is a keyword, so wherever it stands outside comments and literals it is a declaration;
//! one below other code, which the compiler refuses, counts as well. Of comments count, as the
//! toolchain reads them: `//go:linkname local importpath.name`, a [`ImportKind::Reference`], and what
//! `import "C"` is preceded by (see [`cgo`]). `//go:embed` needs `import "embed"`.

mod cgo;
mod mask;
#[cfg(test)]
mod tests;

use super::ImportKind;
use super::escapes;
use super::lexeme::{Cursor, Kind, Lexeme};
use super::source::{Fault, Found};

/// Imports of one file that are kept.
pub(super) const MAX_FOUND: usize = 1_000_000;

/// Every import, in no particular order.
pub fn scan(source: &[u8]) -> Result<Vec<Found>, Fault> {
    let masked = mask::mask(source)?;
    let mut scanner = Scanner {
        source,
        cursor: Cursor::new(&masked.mask),
        found: Vec::new(),
    };
    scanner.run()?;
    let mut found = scanner.found;
    found.extend(masked.links.into_iter().filter_map(|at| link(source, at)));
    match found.get(MAX_FOUND) {
        Some(last) => Err(Fault {
            why: "has more imports than are read",
            at: last.at,
        }),
        None => Ok(found),
    }
}

/// The mask, for tests.
#[cfg(test)]
pub fn masked(source: &[u8]) -> Option<Vec<u8>> {
    Some(mask::mask(source).ok()?.mask)
}

struct Scanner<'a> {
    source: &'a [u8],
    cursor: Cursor<'a>,
    found: Vec<Found>,
}

impl Scanner<'_> {
    fn run(&mut self) -> Result<(), Fault> {
        let mut before = Lexeme::NONE;
        loop {
            let token = self.cursor.next();
            match token.kind {
                Kind::End => return Ok(()),
                Kind::Word if self.cursor.bytes(token) == b"import" => self.import(before.end)?,
                _ => {}
            }
            before = token;
        }
    }

    /// After `import`; `gap` is where the comments begin that stand before it.
    fn import(&mut self, gap: usize) -> Result<(), Fault> {
        if !self.cursor.peek().is(b'(') {
            return self.spec(gap);
        }
        let open = self.cursor.next().end;
        // As the toolchain has it, the comments before the keyword are those of an only spec.
        let mut gap = if self.is_only() { gap } else { open };
        loop {
            let token = self.cursor.peek();
            match token.kind {
                Kind::Punct(b')') | Kind::End => return Ok(()),
                // A name, `.` or `_` before the path.
                Kind::Text => {
                    self.spec(gap)?;
                    gap = token.end;
                }
                Kind::Punct(b';') => {
                    self.cursor.next();
                    gap = token.end;
                }
                _ => {
                    self.cursor.next();
                }
            }
        }
    }

    /// Whether the brackets, which the cursor is in, have one path at most.
    fn is_only(&self) -> bool {
        let mut ahead = self.cursor;
        let mut paths = 0;
        while paths < 2 {
            match ahead.next().kind {
                Kind::Punct(b')') | Kind::End => return true,
                Kind::Text => paths += 1,
                _ => {}
            }
        }
        false
    }

    /// An alias, if there is one, and a path.
    fn spec(&mut self, gap: usize) -> Result<(), Fault> {
        let mut token = self.cursor.peek();
        if matches!(token.kind, Kind::Word | Kind::Punct(b'.')) {
            let mut ahead = self.cursor;
            ahead.next();
            token = ahead.peek();
            if token.kind != Kind::Text {
                return Ok(());
            }
            self.cursor = ahead;
        }
        if token.kind != Kind::Text {
            return Ok(());
        }
        self.cursor.next();
        let body = &self.source[token.start + 1..token.end - 1];
        let path = match self.source[token.start] {
            // Carriage returns are no part of it.
            b'`' => String::from_utf8(body.iter().copied().filter(|b| *b != b'\r').collect()).ok(),
            b'"' => escapes::go(body),
            _ => return Ok(()),
        };
        let Some(raw) = path else {
            return Err(Fault {
                why: "imports what no string can be read from",
                at: token.start,
            });
        };
        if raw == "C" {
            cgo::scan(self.source, gap, token.start, &mut self.found)?;
        }
        self.found.push(Found {
            identity: identity(&raw),
            raw,
            kind: ImportKind::Static,
            at: token.start,
        });
        Ok(())
    }
}

/// The segments of a path; empty for a relative one.
fn identity(path: &str) -> Vec<String> {
    if path.starts_with(['.', '/']) {
        return Vec::new();
    }
    path.split('/')
        .filter(|segment| !segment.is_empty())
        .map(str::to_owned)
        .collect()
}

/// What `//go:linkname local importpath.name` at `at` names; nothing where it has no path (`local`
/// alone, a symbol of C).
fn link(source: &[u8], at: usize) -> Option<Found> {
    let line = source[at..].split(|b| *b == b'\n').next()?;
    let line = std::str::from_utf8(line).ok()?;
    let mut place = at;
    let mut words = line.split(|c: char| c.is_ascii_whitespace()).filter_map(|word| {
        let start = place;
        place += word.len() + 1;
        (!word.is_empty()).then_some((start, word))
    });
    let (at, target) = words.nth(2)?;
    // A method's symbol has its type in brackets, generics theirs; dots of a path's last part are
    // escaped.
    let name = &target[..target.find(['(', '[']).unwrap_or(target.len())];
    let last = name.rfind('/').map_or(0, |slash| slash + 1);
    let dot = name[last..].find('.')? + last;
    let path = name[..dot].replace("%2e", ".").replace("%2E", ".");
    Some(Found {
        identity: identity(&path),
        raw: path,
        kind: ImportKind::Reference,
        at,
    })
}

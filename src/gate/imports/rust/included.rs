//! Files that Rust code names by their path: `include!("x.rs")` and `#[path = "x.rs"] mod x;`. In a module of
//! the file that has a `#[path]` itself, that is the folder of all modules without a body.
//!
//! What a build script writes (`include!(concat!(env!("OUT_DIR"), "/x.rs"))`) is no file of the
//! repository and no import; a path from the package's own folder begins with [`PACKAGE`]; any other
//! path that is put together is opaque.

use super::super::ImportKind;
use super::super::lexeme::{Cursor, Kind, Lexeme};
use super::super::source::{Fault, Found};
use super::Scanner;

/// In a [`Found::raw`], the folder of the package's Cargo.toml.
pub(in crate::gate) const PACKAGE: &str = "$CARGO_MANIFEST_DIR";
/// Tokens of a path that is put together; more are taken for computed.
const MAX_TOKENS: usize = 64;

impl Scanner<'_> {
    /// After `include !`, with the cursor before the bracket.
    pub(super) fn include(&mut self) -> Result<(), Fault> {
        let mut ahead = self.cursor;
        ahead.next();
        let first = ahead.peek();
        let (mut path, mut depth, mut is_generated, mut is_known) = (String::new(), 0usize, false, true);
        for _ in 0..MAX_TOKENS {
            let token = ahead.next();
            match token.kind {
                Kind::Text => {
                    let text = text(&self.source[token.start..token.end]);
                    is_generated |= text == "OUT_DIR";
                    path.push_str(match text.as_str() {
                        "CARGO_MANIFEST_DIR" => PACKAGE,
                        text => text,
                    });
                }
                Kind::Punct(b'(' | b'[' | b'{') => depth += 1,
                Kind::Punct(b')' | b']' | b'}') if depth == 0 => break,
                Kind::Punct(b')' | b']' | b'}') => depth -= 1,
                Kind::Punct(b'!' | b',') | Kind::Path => {}
                Kind::Word => is_known &= matches!(ahead.bytes(token), b"concat" | b"env" | b"std" | b"core"),
                Kind::End => return Ok(()),
                _ => is_known = false,
            }
        }
        match (is_generated, is_known && depth == 0 && !path.is_empty()) {
            (true, _) => Ok(()),
            (false, true) => self.roots.push(included(path, first)),
            (false, false) => self.roots.opaque(first.start),
        }
    }

    /// The `path` of an attribute of a module, whose brackets these offsets are.
    pub(super) fn module_path(&mut self, start: usize, end: usize) -> Result<(), Fault> {
        let next = self.cursor.peek();
        let is_of_module =
            next.is(b'#') || next.kind == Kind::Word && matches!(self.cursor.bytes(next), b"mod" | b"pub" | b"unsafe");
        if !is_of_module {
            return Ok(());
        }
        let mut cursor = Cursor::starting(self.mask, start);
        cursor.next();
        let word = cursor.peek();
        let is_conditional = cursor.is_word(word, b"cfg_attr");
        if !is_conditional && !cursor.is_word(word, b"path") {
            return Ok(());
        }
        let mut before = [Lexeme::NONE; 2];
        loop {
            let token = cursor.next();
            if token.kind == Kind::End || token.start >= end {
                return Ok(());
            }
            if token.kind == Kind::Text && before[0].is(b'=') && cursor.is_word(before[1], b"path") {
                let path = text(&self.source[token.start..token.end]);
                for whole in self.seen_from_file(&path) {
                    self.roots.push(included(whole, token))?;
                }
                if self.moved.len() < MAX_BASES {
                    self.moved.push(path);
                }
            }
            before = [token, before[0]];
        }
    }
}

/// A module inside the file.
pub(super) struct Inline {
    /// How many brackets are open in its body; 0 before that.
    pub(super) depth: usize,
    /// Where it looks for files, from the file's folder: its names, or the `#[path]` in their place. None where
    /// nothing is moved, or too much.
    bases: Vec<String>,
    is_moved: bool,
}

/// Modules around one that are looked at, ways in which `#[path]`s may place one, and bytes of each.
const MAX_INLINE: usize = 64;
const MAX_BASES: usize = 8;
const MAX_BASE: usize = 1000;

impl Scanner<'_> {
    /// At the name of a module with a body.
    pub(super) fn begin_inline(&mut self, name: Lexeme) {
        let mut steps = std::mem::take(&mut self.moved);
        let is_moved = !steps.is_empty() || self.inline.last().is_some_and(|inline| inline.is_moved);
        if steps.is_empty() {
            let name = String::from_utf8_lossy(self.cursor.bytes(name));
            steps.push(name.trim_start_matches("r#").to_owned());
        }
        let outer: Vec<String> = match self.inline.last() {
            None => vec![String::new()],
            Some(_) if self.inline.len() >= MAX_INLINE => Vec::new(),
            Some(inline) => inline.bases.clone(),
        };
        let bases = outer
            .iter()
            .flat_map(|outer| steps.iter().map(move |step| format!("{outer}{step}/")))
            .filter(|base| base.len() <= MAX_BASE)
            .take(MAX_BASES);
        self.inline.push(Inline {
            depth: 0,
            bases: bases.collect(),
            is_moved,
        });
    }

    /// At the name of a module without a body. In one that `#[path]` moves, its file lies there.
    pub(super) fn module_file(&mut self, name: Lexeme) -> Result<(), Fault> {
        if !std::mem::take(&mut self.moved).is_empty() || name.kind != Kind::Word || !self.is_moved() {
            return Ok(());
        }
        let file = String::from_utf8_lossy(self.cursor.bytes(name));
        let file = format!("{}.rs", file.trim_start_matches("r#"));
        for whole in self.seen_from_file(&file) {
            self.roots.push(included(whole, name))?;
        }
        Ok(())
    }

    fn is_moved(&self) -> bool {
        self.inline.last().is_some_and(|inline| inline.is_moved)
    }

    /// A `#[path]` as it is read from the file's folder; itself where no module around is moved.
    fn seen_from_file(&self, path: &str) -> Vec<String> {
        match self.inline.last() {
            Some(inline) if inline.is_moved && !inline.bases.is_empty() && !path.starts_with('/') => {
                inline.bases.iter().map(|base| format!("{base}{path}")).collect()
            }
            _ => vec![path.to_owned()],
        }
    }
}

fn included(raw: String, token: Lexeme) -> Found {
    Found {
        raw,
        identity: Vec::new(),
        kind: ImportKind::Include,
        at: token.start,
    }
}

/// What a literal says; `\` and a character stands for the character, as it does where paths need it.
fn text(literal: &[u8]) -> String {
    let literal = String::from_utf8_lossy(literal);
    let is_raw = literal.starts_with('r');
    let body = literal.trim_start_matches('r').trim_matches('#');
    let body = body.strip_prefix('"').unwrap_or(body);
    let body = body.strip_suffix('"').unwrap_or(body);
    if is_raw || !body.contains('\\') {
        return body.to_owned();
    }
    let mut text = String::with_capacity(body.len());
    let mut rest = body;
    while let Some(at) = rest.find('\\') {
        text.push_str(&rest[..at]);
        rest = &rest[at + 1..];
        let digits = |digits: &str| u32::from_str_radix(digits, 16).ok().and_then(char::from_u32);
        let (letter, used) = match rest.as_bytes() {
            [b'x', ..] => (rest.get(1..3).and_then(digits), 3),
            [b'u', b'{', ..] => {
                let end = rest.find('}').unwrap_or(rest.len());
                (
                    rest.get(2..end).and_then(|inner| digits(&inner.replace('_', ""))),
                    end + 1,
                )
            }
            // The line goes on after the blanks of the next one.
            [b'\n' | b'\r', ..] => (None, rest.len() - rest.trim_start().len()),
            _ => (rest.chars().next(), rest.chars().next().map_or(0, char::len_utf8)),
        };
        text.extend(letter);
        rest = rest.get(used..).unwrap_or_default();
    }
    text.push_str(rest);
    text
}

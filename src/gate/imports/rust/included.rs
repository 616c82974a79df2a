//! Files that Rust code names by their path: `include!("x.rs")` and `#[path = "x.rs"] mod x;`.
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
                self.roots.push(included(path, token))?;
            }
            before = [token, before[0]];
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

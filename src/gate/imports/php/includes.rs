//! `include`, `include_once`, `require` and `require_once` of PHP.

use super::super::literal_cursor::{Kind, Token};
use super::super::{ImportKind, escapes, identity};
use super::{Found, Scanner};

/// The argument of an include up to its end.
pub(super) struct Include {
    at: usize,
    parens: usize,
    braces: usize,
    texts: Vec<Token>,
    /// Whether `__DIR__` or `__FILE__` stands in it.
    has_place: bool,
    /// Whether it holds nothing but literals and what finds the place of this file.
    is_known: bool,
}

impl<'a> Scanner<'a> {
    /// After the keyword.
    pub(super) fn begin_include(&mut self, token: Token) {
        let first = self.cursor.peek_over_lines();
        // `require => x`, `require: x`: a key or a named argument.
        if matches!(first.kind, Kind::Punct(b'=' | b':' | b',' | b')' | b';') | Kind::End) {
            return;
        }
        if let Some(outer) = self.include.take() {
            self.opaque(outer.at);
            self.texts(outer.texts, false);
        }
        self.include = Some(Include {
            at: first.start.max(token.end),
            parens: self.parens,
            braces: self.braces,
            texts: Vec::new(),
            has_place: false,
            is_known: true,
        });
    }

    /// A token of an argument.
    pub(super) fn see_include(&mut self, token: Token) {
        let Some(include) = &mut self.include else { return };
        if token.start < include.at {
            return;
        }
        match token.kind {
            Kind::Text => {
                include.texts.push(token);
                if super::includes::has_variable(&self.source[token.start..token.end]) {
                    include.is_known = false;
                }
            }
            Kind::Word => {
                let word = self.cursor.bytes(token);
                let is = |name: &str| word.eq_ignore_ascii_case(name.as_bytes());
                include.has_place |= is("__DIR__") || is("__FILE__");
                let known = ["__DIR__", "__FILE__", "dirname", "realpath", "DIRECTORY_SEPARATOR", "b"];
                include.is_known &= known.iter().any(|name| is(name)) || word.iter().all(u8::is_ascii_digit);
            }
            Kind::Punct(b'(' | b')' | b'.' | b',' | b'\\') => {}
            _ => include.is_known = false,
        }
    }

    /// Where the argument ends before this token, says what it includes.
    pub(super) fn end_include(&mut self, token: Token) {
        let Some(include) = &self.include else { return };
        if token.start < include.at {
            return;
        }
        let is_outer = self.parens <= include.parens && self.braces <= include.braces;
        let ends = match token.kind {
            Kind::End => true,
            Kind::Punct(b')' | b']' | b'}' | b',' | b';') => is_outer,
            Kind::Word => is_outer && ["or", "and", "xor"].iter().any(|word| self.is(token, word.as_bytes())),
            _ => false,
        };
        if !ends {
            return;
        }
        let Some(include) = self.include.take() else { return };
        if !include.is_known {
            self.opaque(include.at);
            self.texts(include.texts, include.has_place);
            return;
        }
        let mut raw = String::new();
        for token in &include.texts {
            match self.literal(*token) {
                Some(text) => raw.push_str(&text),
                None => return self.opaque(token.start),
            }
        }
        let at = include.texts.first().map_or(include.at, |token| token.start);
        let mut identity = package(&raw, include.has_place);
        // Nothing but this path says where the file is.
        if identity.is_empty() && !include.has_place && raw.starts_with('/') {
            identity = absolute(&raw);
        }
        self.found.push(Found {
            identity,
            raw,
            kind: ImportKind::Include,
            at,
        });
    }

    /// The strings of an argument that is not known.
    fn texts(&mut self, texts: Vec<Token>, has_place: bool) {
        for token in texts {
            if let Some(raw) = self.literal(token) {
                self.found.push(Found {
                    identity: package(&raw, has_place),
                    raw,
                    kind: ImportKind::Include,
                    at: token.start,
                });
            }
        }
    }

    /// What a literal says, variables in it as they are written.
    pub(super) fn literal(&self, token: Token) -> Option<String> {
        match &self.source[token.start..token.end] {
            [b'"', body @ .., b'"'] => escapes::javascript(body),
            [b'\'', body @ .., b'\''] => {
                let mut out = Vec::with_capacity(body.len());
                let mut bytes = body.iter().peekable();
                while let Some(byte) = bytes.next() {
                    let escaped = bytes.next_if(|next| *byte == b'\\' && matches!(**next, b'\\' | b'\''));
                    out.push(*escaped.unwrap_or(byte));
                }
                String::from_utf8(out).ok()
            }
            [b'<', ..] => {
                let text = &self.source[token.start..token.end];
                let first = text.iter().position(|b| *b == b'\n')? + 1;
                let last = text.iter().rposition(|b| *b == b'\n')?.max(first);
                Some(String::from_utf8_lossy(&text[first..last]).trim().to_owned())
            }
            _ => None,
        }
    }
}

/// Whether a literal holds a variable without braces: `"$dir/x.php"`.
fn has_variable(source: &[u8]) -> bool {
    if source.first() == Some(&b'\'') {
        return false;
    }
    let mut before = 0;
    source.windows(2).any(|pair| {
        let is_escaped = before == b'\\';
        before = pair[0];
        !is_escaped && pair[0] == b'$' && (pair[1].is_ascii_alphabetic() || pair[1] == b'_' || pair[1] >= 0x80)
    })
}

/// The folders and the name of a file at an absolute path: any of them may be the package's.
fn absolute(path: &str) -> Vec<String> {
    let mut segments: Vec<String> = path
        .split('/')
        .filter(|part| !part.is_empty() && *part != ".")
        .map(str::to_owned)
        .collect();
    if let Some(last) = segments.last_mut()
        && let Some(dot) = last.rfind('.').filter(|dot| *dot > 0)
    {
        last.truncate(dot);
    }
    segments
}

/// The package that a path names, empty for the repository's own files.
fn package(path: &str, has_place: bool) -> Vec<String> {
    let segments: Vec<&str> = path.split(['/', '\\']).filter(|s| !s.is_empty() && *s != ".").collect();
    // `vendor/<organisation>/<package>/` and copies that were put there by hand, less the file; what composer
    // itself writes is no package.
    if let Some(mut copy) = identity::vendored(path)
        && copy.len() > 1
        && !copy[0].eq_ignore_ascii_case("composer")
    {
        copy.truncate(2.min(copy.len() - 1));
        return copy;
    }
    let is_place = has_place || path.starts_with(['.', '/', '\\', '$']) || path.contains(':') || segments.len() < 2;
    if is_place {
        Vec::new()
    } else {
        vec![segments[0].to_owned()]
    }
}

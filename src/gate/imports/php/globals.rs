//! Classes by one word: `new Redis()` in a file without a namespace, `new Client()` in `namespace Redis`.
//!
//! A name of one word counts where only a class can stand, unless a `use` binds it or the file
//! declares it for certain: a declaration in braces may never be reached, and then the name is the
//! extension's or library's.

use super::super::ImportKind;
use super::super::literal_cursor::{Kind, Token};
use super::super::source::Fault;
use super::{Scanner, names};

/// Names of a union that are looked over for the variable behind it.
const MOST_NAMES: usize = 8;

impl Scanner<'_> {
    /// After `class` and the like, with the name ahead.
    pub(super) fn declared_class(&mut self) {
        let name = self.cursor.peek_over_lines();
        if name.kind == Kind::Word && self.braces == self.outer {
            let name = self.cursor.bytes(name).to_ascii_lowercase();
            self.declared.insert((self.namespace.clone(), name));
        }
    }

    /// At a word by itself.
    pub(super) fn global_class(&mut self, token: Token) {
        if !self.stands_as_class(token) {
            return;
        }
        let lower = self.cursor.bytes(token).to_ascii_lowercase();
        if lower[0].is_ascii_digit() || is_own_word(&lower) || self.aliases.contains_key(&lower) {
            return;
        }
        self.globals.push((token, self.namespace.clone()));
    }

    /// Reports what the file does not declare.
    pub(super) fn settle_globals(&mut self) -> Result<(), Fault> {
        for (token, namespace) in std::mem::take(&mut self.globals) {
            let bytes = self.cursor.bytes(token);
            let key = (namespace, bytes.to_ascii_lowercase());
            if !self.declared.contains(&key) {
                let name = String::from_utf8_lossy(bytes).into_owned();
                let (kind, identity) = match &*key.0 {
                    [] => (ImportKind::Reference, vec![name.clone()]),
                    around => (ImportKind::Relative, [around, std::slice::from_ref(&name)].concat()),
                };
                self.push(name, identity, kind, token.start)?;
            }
        }
        Ok(())
    }

    fn stands_as_class(&self, token: Token) -> bool {
        let [one, two, three] = self.before;
        let is_introduced = match one.kind {
            Kind::Word => [&b"new"[..], b"extends", b"implements", b"instanceof", b"use"]
                .iter()
                .any(|word| self.is(one, word)),
            Kind::Punct(b',') => self.class == Some(self.parens),
            Kind::Punct(b'(') => self.is(two, b"catch"),
            Kind::Punct(b'[') => two.is(b'#') && two.end == one.start,
            _ => false,
        };
        if is_introduced {
            return true;
        }
        let mut ahead = self.cursor.clone();
        let next = ahead.next_over_lines();
        // `function f(): Redis {`, `): ?Redis;`; after a condition's `:` comes a statement.
        let is_result = (one.is(b':') && two.is(b')')) || (one.is(b'?') && two.is(b':') && three.is(b')'));
        match next.kind {
            Kind::Punct(b':') => ahead.next().is(b':'),
            Kind::Punct(b'{') => is_result,
            Kind::Punct(b';') => is_result && self.cursor.bytes(token).iter().any(u8::is_ascii_lowercase),
            Kind::Punct(b'=') => is_result && ahead.next().is(b'>'),
            _ => self.is_hint(token),
        }
    }

    /// Whether a variable follows, over the rest of a union, `&` and `...`.
    fn is_hint(&self, token: Token) -> bool {
        if names::comes_before_name(self.cursor.bytes(token)) {
            return false;
        }
        let mut ahead = self.cursor.clone();
        let mut left = MOST_NAMES;
        let mut is_joined = false;
        loop {
            match ahead.next_over_lines().kind {
                // `REDIS & $x` is a number, `Redis &$x` a parameter.
                Kind::Punct(b'$') => return !is_joined || self.is_parameter(token),
                Kind::Punct(b'.') if ahead.next().is(b'.') && ahead.next().is(b'.') => {}
                Kind::Punct(b'|' | b'&') if left > 0 => {
                    left -= 1;
                    is_joined = ahead.peek_over_lines().kind != Kind::Word;
                    if !is_joined {
                        ahead.next_over_lines();
                    }
                }
                _ => return false,
            }
        }
    }

    /// Whether it is written like a class where a parameter or property may begin.
    fn is_parameter(&self, token: Token) -> bool {
        matches!(self.before[0].kind, Kind::Punct(b'(' | b',' | b'?' | b'|'))
            && self.cursor.bytes(token).iter().any(u8::is_ascii_lowercase)
    }
}

/// Words that stand where a class does and name none of another file.
fn is_own_word(lower: &[u8]) -> bool {
    matches!(
        lower,
        b"class"
            | b"self"
            | b"parent"
            | b"static"
            | b"int"
            | b"float"
            | b"bool"
            | b"string"
            | b"array"
            | b"callable"
            | b"iterable"
            | b"object"
            | b"mixed"
            | b"void"
            | b"never"
            | b"null"
            | b"true"
            | b"false"
            | b"readonly"
            | b"enum"
            | b"abstract"
            | b"final"
            | b"public"
            | b"private"
            | b"protected"
            | b"var"
            | b"const"
            | b"fn"
            | b"function"
    )
}

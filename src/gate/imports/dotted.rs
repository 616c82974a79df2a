//! Tokens and dotted names of Java, Kotlin and C#, over a mask.
//!
//! Comments may stand anywhere in a dotted name; on the mask they are blanks like any other. A name
//! begins at a word that nothing joins to what stands before it.

use std::borrow::Cow;

use super::ImportKind;
use super::source::Found;
use super::token::HIDDEN;

/// Which of the three languages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Dialect {
    /// Names as they are.
    Java,
    /// Names may stand in backquotes.
    Kotlin,
    /// Names may have an `@` before them and escapes in them.
    CSharp,
}

/// What a token is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A name, keyword or number.
    Word,
    /// A whole literal of a string or character.
    Text,
    /// `.`; C#'s `->` as well.
    Dot,
    /// `..` and more.
    Dots,
    /// `::`
    Scope,
    /// Any other single byte.
    Punct(u8),
    /// The end of the file, and what stands before its beginning.
    End,
}

/// A token and its place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Token {
    /// What it is.
    pub kind: Kind,
    /// Offset of its first byte.
    pub start: usize,
    /// Offset after its last byte.
    pub end: usize,
}

impl Token {
    /// A token before the file begins.
    pub const NONE: Token = Token {
        kind: Kind::End,
        start: 0,
        end: 0,
    };

    /// Whether it is this single byte.
    pub fn is(&self, byte: u8) -> bool {
        self.kind == Kind::Punct(byte)
    }

    /// Whether it joins a name to what stands before it.
    pub fn joins(&self) -> bool {
        matches!(self.kind, Kind::Dot | Kind::Scope)
    }
}

/// Walks the tokens of a mask.
#[derive(Clone, Copy)]
pub struct Cursor<'a> {
    mask: &'a [u8],
    dialect: Dialect,
    at: usize,
}

impl<'a> Cursor<'a> {
    /// At the beginning of the mask.
    pub fn new(mask: &'a [u8], dialect: Dialect) -> Self {
        Cursor { mask, dialect, at: 0 }
    }

    /// The bytes of a token.
    pub fn bytes(&self, token: Token) -> &'a [u8] {
        &self.mask[token.start..token.end]
    }

    /// Whether the token is the given word.
    pub fn is_word(&self, token: Token, word: &[u8]) -> bool {
        token.kind == Kind::Word && self.bytes(token) == word
    }

    /// The next token, without moving.
    pub fn peek(&self) -> Token {
        self.clone().next()
    }

    /// The first byte of the next token, 0 at the end of the file: far cheaper than the token.
    pub fn next_byte(&self) -> u8 {
        self.mask.get(self.after_blanks()).copied().unwrap_or(0)
    }

    /// Whether `::` follows.
    pub fn is_scope_next(&self) -> bool {
        let at = self.after_blanks();
        self.mask.get(at) == Some(&b':') && self.mask.get(at + 1) == Some(&b':')
    }

    fn after_blanks(&self) -> usize {
        let mut at = self.at;
        while let Some(&byte) = self.mask.get(at) {
            if CLASSES[usize::from(byte)] != BLANK {
                break;
            }
            at += 1;
        }
        at
    }

    /// At an offset where a token begins.
    pub fn moved(self, at: usize) -> Self {
        Cursor { at, ..self }
    }

    /// Where the cursor is: after the last token that it read.
    pub fn offset(&self) -> usize {
        self.at
    }

    /// The bytes of the mask between two offsets.
    pub fn between(&self, from: usize, to: usize) -> &'a [u8] {
        &self.mask[from..to]
    }

    /// Whether a line break stands between the cursor and the next token.
    pub fn breaks(&self) -> bool {
        self.mask[self.at..self.after_blanks()]
            .iter()
            .any(|b| matches!(b, b'\n' | b'\r'))
    }

    /// The next token.
    pub fn next(&mut self) -> Token {
        let mask = self.mask;
        let start = self.after_blanks();
        let Some(&byte) = mask.get(start) else {
            self.at = start;
            return self.token(Kind::End, start);
        };
        if CLASSES[usize::from(byte)] == WORD {
            self.at = self.word_end(start + 1);
            return self.token(Kind::Word, start);
        }
        let rest = &mask[start..];
        let second = rest.get(1).copied().unwrap_or(0);
        let is_csharp = self.dialect == Dialect::CSharp;
        let (kind, length) = match byte {
            b'.' if second == b'.' => (Kind::Dots, rest.iter().take_while(|b| **b == b'.').count()),
            b'.' => (Kind::Dot, 1),
            b':' if second == b':' => (Kind::Scope, 2),
            b'"' => text(rest),
            b'`' if self.dialect == Dialect::Kotlin => match rest[1..].iter().position(|b| matches!(b, b'`' | b'\n')) {
                Some(end) if rest[end + 1] == b'`' => (Kind::Word, end + 2),
                _ => (Kind::Punct(byte), 1),
            },
            b'@' | b'\\' if is_csharp && (CLASSES[usize::from(second)] == WORD || second == b'\\') => {
                (Kind::Word, self.word_end(start + 1) - start)
            }
            b'-' if is_csharp && second == b'>' && mask[..start].last() != Some(&b'-') => (Kind::Dot, 2),
            _ => (Kind::Punct(byte), 1),
        };
        self.at = start + length;
        self.token(kind, start)
    }

    /// The end of the word that goes on at `at`.
    fn word_end(&self, at: usize) -> usize {
        let mut at = at;
        while let Some(&byte) = self.mask.get(at) {
            if CLASSES[usize::from(byte)] != WORD && !(byte == b'\\' && self.dialect == Dialect::CSharp) {
                break;
            }
            at += 1;
        }
        at
    }

    fn token(&self, kind: Kind, start: usize) -> Token {
        Token {
            kind,
            start,
            end: self.at,
        }
    }

    /// The words of the dotted name that begins with `first`, which has just been read.
    pub fn chain(&mut self, first: Token, chain: &mut Vec<Token>) {
        chain.clear();
        chain.push(first);
        loop {
            if !matches!(self.next_byte(), b'.' | b'-') {
                return;
            }
            let mut ahead = *self;
            if ahead.next().kind != Kind::Dot {
                return;
            }
            let word = ahead.next();
            if word.kind != Kind::Word {
                return;
            }
            chain.push(word);
            *self = ahead;
        }
    }

    /// A word as the language reads it: without backquotes or `@`, escapes decoded.
    pub fn name(&self, token: Token) -> Cow<'a, str> {
        let bytes = self.bytes(token);
        match (self.dialect, bytes) {
            (Dialect::Kotlin, [b'`', inner @ .., b'`']) => String::from_utf8_lossy(inner),
            (Dialect::CSharp, bytes) => csharp_name(bytes),
            _ => String::from_utf8_lossy(bytes),
        }
    }

    /// The words as names.
    pub fn names(&self, chain: &[Token]) -> Vec<String> {
        chain.iter().map(|token| self.name(*token).into_owned()).collect()
    }

    /// An import of a dotted name as it stands in the file.
    pub fn found(&self, chain: &[Token], kind: ImportKind) -> Found {
        let identity = self.names(chain);
        Found {
            raw: identity.join("."),
            identity,
            kind,
            at: chain.first().map_or(0, |token| token.start),
        }
    }
}

/// A literal: quotes around [`HIDDEN`] bytes.
fn text(rest: &[u8]) -> (Kind, usize) {
    let body = rest[1..]
        .iter()
        .take_while(|b| matches!(**b, HIDDEN | b'\n' | b'\r'))
        .count();
    match rest.get(body + 1) {
        Some(b'"') => (Kind::Text, body + 2),
        _ => (Kind::Punct(b'"'), body + 1),
    }
}

const WORD: u8 = 1;
const BLANK: u8 = 2;

/// What each byte is in a mask.
static CLASSES: [u8; 256] = {
    let mut classes = [0; 256];
    let mut byte = 0_u8;
    loop {
        classes[byte as usize] = if is_word_byte(byte) {
            WORD
        } else if byte <= b' ' || byte == 0x7F {
            BLANK
        } else {
            0
        };
        if byte == u8::MAX {
            break classes;
        }
        byte += 1;
    }
};

/// Bytes of names and numbers; every non-ASCII byte counts, since the masks have turned Unicode
/// blanks into spaces where the language knows such.
pub const fn is_word_byte(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'$') || byte >= 0x80
}

/// Characters that Java and C# allow in a name and leave out of it: controls and Unicode's
/// category Cf. Blanks are none of them.
pub fn is_ignorable(c: char) -> bool {
    matches!(u32::from(c),
        0x00..=0x08 | 0x0E..=0x1B | 0x7F..=0x84 | 0x86..=0x9F | 0xAD | 0x600..=0x605 | 0x61C | 0x6DD | 0x70F
        | 0x890..=0x891 | 0x8E2 | 0x180E | 0x200B..=0x200F | 0x202A..=0x202E | 0x2060..=0x2064 | 0x2066..=0x206F
        | 0xFEFF | 0xFFF9..=0xFFFB | 0x110BD | 0x110CD | 0x13430..=0x1343F | 0x1BCA0..=0x1BCA3
        | 0x1D173..=0x1D17A | 0xE0001 | 0xE0020..=0xE007F)
}

/// `@name`, `n\u0061me` and names with characters that do not count.
fn csharp_name(bytes: &[u8]) -> Cow<'_, str> {
    let bytes = bytes.strip_prefix(b"@").unwrap_or(bytes);
    let text = String::from_utf8_lossy(bytes);
    if bytes.is_ascii() && !bytes.contains(&b'\\') {
        return text;
    }
    let mut name = String::with_capacity(text.len());
    let mut rest = &*text;
    while let Some(c) = rest.chars().next() {
        let length = match rest.as_bytes() {
            [b'\\', b'u', ..] => 6,
            [b'\\', b'U', ..] => 10,
            _ => 0,
        };
        let escape = rest
            .get(2..length)
            .and_then(|digits| u32::from_str_radix(digits, 16).ok());
        let (c, used) = match escape.and_then(char::from_u32) {
            Some(decoded) => (decoded, length),
            None => (c, c.len_utf8()),
        };
        if !is_ignorable(c) {
            name.push(c);
        }
        rest = &rest[used..];
    }
    Cow::Owned(name)
}

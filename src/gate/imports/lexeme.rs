//! Tokens of the masks of Rust and Go, and how those masks are written.
//!
//! In such a mask every literal, whatever its quotes and prefix, is `"`, [`HIDDEN`] bytes and line
//! breaks, `"`; all else is code in ASCII and names. So a token never depends on what came before
//! it, and a cursor can be copied to look ahead.

use super::token::HIDDEN;

/// What a lexeme is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A name or keyword, of Rust also a raw one (`r#use`).
    Word,
    /// A number.
    Number,
    /// A whole literal.
    Text,
    /// `::`
    Path,
    /// `..`, `...`
    Dots,
    /// Any other single byte.
    Punct(u8),
    /// The end of the file.
    End,
}

/// A token and its place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Lexeme {
    /// What it is.
    pub kind: Kind,
    /// Offset of its first byte.
    pub start: usize,
    /// Offset after its last byte.
    pub end: usize,
}

impl Lexeme {
    /// Before the file begins.
    pub const NONE: Lexeme = Lexeme {
        kind: Kind::End,
        start: 0,
        end: 0,
    };

    /// Whether it is this single byte.
    pub fn is(&self, byte: u8) -> bool {
        self.kind == Kind::Punct(byte)
    }
}

/// Walks the tokens of a mask.
#[derive(Clone, Copy)]
pub struct Cursor<'a> {
    mask: &'a [u8],
    at: usize,
}

impl<'a> Cursor<'a> {
    /// At the beginning of the mask.
    pub fn new(mask: &'a [u8]) -> Self {
        Cursor { mask, at: 0 }
    }

    /// At an offset at which a token begins.
    pub fn starting(mask: &'a [u8], at: usize) -> Self {
        Cursor { mask, at }
    }

    /// The bytes of a token.
    pub fn bytes(&self, token: Lexeme) -> &'a [u8] {
        &self.mask[token.start..token.end]
    }

    /// Whether the token is the given word.
    pub fn is_word(&self, token: Lexeme, word: &[u8]) -> bool {
        token.kind == Kind::Word && self.bytes(token) == word
    }

    /// The next token, without moving.
    pub fn peek(&self) -> Lexeme {
        let mut ahead = *self;
        ahead.next()
    }

    /// The next token.
    pub fn next(&mut self) -> Lexeme {
        while let Some(b' ' | b'\t' | b'\n' | b'\r' | 0x0B | 0x0C | &HIDDEN) = self.mask.get(self.at) {
            self.at += 1;
        }
        let start = self.at;
        let rest = &self.mask[start..];
        let (kind, length) = match rest {
            [] => (Kind::End, 0),
            [b'r', b'#', first, ..] if is_name_start(*first) => (Kind::Word, 2 + word_length(&rest[2..])),
            [first, ..] if is_name_start(*first) => (Kind::Word, word_length(rest)),
            [b'0'..=b'9', ..] => (Kind::Number, number_length(rest)),
            [b'"', ..] => {
                let body = rest[1..]
                    .iter()
                    .take_while(|b| matches!(**b, HIDDEN | b'\n' | b'\r'))
                    .count();
                (Kind::Text, (body + 2).min(rest.len()))
            }
            [b':', b':', ..] => (Kind::Path, 2),
            [b'.', b'.', b'.', ..] => (Kind::Dots, 3),
            [b'.', b'.', ..] => (Kind::Dots, 2),
            [byte, ..] => (Kind::Punct(*byte), 1),
        };
        self.at += length;
        Lexeme {
            kind,
            start,
            end: self.at,
        }
    }
}

/// Every non-ASCII byte counts: the masks have turned Unicode blanks into spaces.
pub fn is_name_start(byte: u8) -> bool {
    byte.is_ascii_alphabetic() || byte == b'_' || byte >= 0x80
}

/// Bytes of names and numbers.
pub fn is_name_byte(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_' || byte >= 0x80
}

fn word_length(bytes: &[u8]) -> usize {
    bytes.iter().take_while(|b| is_name_byte(**b)).count()
}

/// `1.5`, `1.` and the `1` of `1..2`, `1.max()`.
fn number_length(bytes: &[u8]) -> usize {
    let whole = word_length(bytes);
    match bytes.get(whole..) {
        Some([b'.', b'0'..=b'9', ..]) => whole + 1 + word_length(&bytes[whole + 1..]),
        Some([b'.', next, ..]) if *next == b'.' || is_name_start(*next) => whole,
        Some([b'.', ..]) => whole + 1,
        _ => whole,
    }
}

/// Turns a comment, or the decoration of a literal, into spaces; line breaks stay.
pub fn blank(mask: &mut [u8], from: usize, to: usize) {
    fill(mask, from, to, b' ');
}

/// Turns the bytes of a literal at `from..to` into `"`, [`HIDDEN`], `"`; line breaks stay. It has at
/// least two bytes, its quotes.
pub fn hide(mask: &mut [u8], from: usize, to: usize) {
    fill(mask, from, to, HIDDEN);
    mask[from] = b'"';
    mask[to - 1] = b'"';
}

fn fill(mask: &mut [u8], from: usize, to: usize, with: u8) {
    for byte in &mut mask[from..to] {
        *byte = if matches!(*byte, b'\n' | b'\r') { *byte } else { with };
    }
}

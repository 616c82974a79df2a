//! Tokens of the masks of Ruby and PHP, in which every literal has one form, whatever delimiters it
//! has in the source: a quote, [`HIDDEN`] bytes, a quote; or, if it holds code, [`OPEN`], its text
//! hidden and its code in braces, [`CLOSE`].

use super::token::{HIDDEN, newline_length};

/// The first byte of a literal that holds code.
pub const OPEN: u8 = 0x02;
/// The last byte of a literal that holds code.
pub const CLOSE: u8 = 0x03;

/// Stands for the backslash that joins the next line.
pub const JOIN: u8 = 0x04;

/// What a token is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A name, keyword or number.
    Word,
    /// A whole literal without code.
    Text,
    /// The beginning of a literal that holds code.
    Open,
    /// Its end.
    Close,
    /// A line break.
    Newline,
    /// Any other single byte.
    Punct(u8),
    /// The end of the file.
    End,
}

/// A token and its place, as offsets of its first byte and after its last.
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
}

/// Walks the tokens of a mask; a clone looks ahead.
#[derive(Clone)]
pub struct Cursor<'a> {
    mask: &'a [u8],
    at: usize,
}

impl<'a> Cursor<'a> {
    /// At the beginning of the mask.
    pub fn new(mask: &'a [u8]) -> Self {
        Cursor { mask, at: 0 }
    }

    /// The bytes of a token in the mask.
    pub fn bytes(&self, token: Token) -> &'a [u8] {
        &self.mask[token.start..token.end]
    }

    /// Whether the token is the given word; letter case counts.
    pub fn is_word(&self, token: Token, word: &[u8]) -> bool {
        token.kind == Kind::Word && self.bytes(token) == word
    }

    /// The next token, without moving.
    pub fn peek(&self) -> Token {
        self.clone().next()
    }

    /// The next token that is no line break, without moving.
    pub fn peek_over_lines(&self) -> Token {
        self.clone().next_over_lines()
    }

    /// The next token that is no line break.
    pub fn next_over_lines(&mut self) -> Token {
        loop {
            let token = self.next();
            if token.kind != Kind::Newline {
                return token;
            }
        }
    }

    /// The next token.
    pub fn next(&mut self) -> Token {
        loop {
            match self.mask.get(self.at) {
                Some(b' ' | b'\t' | b'\r' | 0x0B | 0x0C | &HIDDEN) => self.at += 1,
                Some(&JOIN) => self.at += 1 + newline_length(&self.mask[self.at + 1..]),
                _ => break,
            }
        }
        let start = self.at;
        let Some(&byte) = self.mask.get(start) else {
            return Token {
                kind: Kind::End,
                start,
                end: start,
            };
        };
        self.at += 1;
        let kind = match byte {
            b'\n' => Kind::Newline,
            OPEN => Kind::Open,
            CLOSE => Kind::Close,
            b'"' => {
                while let Some(&(HIDDEN | b'\n')) = self.mask.get(self.at) {
                    self.at += 1;
                }
                self.at = (self.at + 1).min(self.mask.len());
                Kind::Text
            }
            _ if is_word_byte(byte) => {
                while self.mask.get(self.at).is_some_and(|b| is_word_byte(*b)) {
                    self.at += 1;
                }
                Kind::Word
            }
            _ => Kind::Punct(byte),
        };
        Token {
            kind,
            start,
            end: self.at,
        }
    }
}

/// Bytes of names and numbers; every non-ASCII byte counts.
pub fn is_word_byte(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_' || byte >= 0x80
}

//! Tokens of a masked file. On the mask no comment and no string body is left, so a token never
//! depends on what came before it and a cursor can be cloned to look ahead.

use super::Language;

/// What the body of a string literal becomes in a mask.
pub const HIDDEN: u8 = 0x01;

/// What a token is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A name, keyword or number.
    Word,
    /// A whole string literal with its quotes, without a prefix.
    Text,
    /// The first piece of a JavaScript template that has substitutions.
    Template,
    /// `...`
    Spread,
    /// A line break; Python only.
    Newline,
    /// Any other single byte.
    Punct(u8),
    /// The end of the file.
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
}

/// Walks the tokens of a mask.
#[derive(Clone)]
pub struct Cursor<'a> {
    mask: &'a [u8],
    language: Language,
    at: usize,
}

impl<'a> Cursor<'a> {
    /// At the beginning of the mask.
    pub fn new(mask: &'a [u8], language: Language) -> Self {
        Cursor { mask, language, at: 0 }
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

    /// The next token.
    pub fn next(&mut self) -> Token {
        let python = self.language == Language::Python;
        loop {
            let Some(&byte) = self.mask.get(self.at) else {
                return Token {
                    kind: Kind::End,
                    start: self.at,
                    end: self.at,
                };
            };
            let start = self.at;
            let class = CLASSES[usize::from(byte)];
            if class == BLANK {
                self.at += 1;
                continue;
            }
            if class == WORD {
                self.at = word_end(self.mask, start, self.language);
                return self.token(Kind::Word, start);
            }
            match byte {
                b'\n' | b'\r' if python => {
                    self.at += 1;
                    return self.token(Kind::Newline, start);
                }
                b'\n' | b'\r' => self.at += 1,
                b'\\' if python => self.at += 1 + newline_length(&self.mask[start + 1..]),
                b'"' | b'\'' | b'`' => return self.text(byte),
                b'.' if self.mask[start..].starts_with(b"...") && !python => {
                    self.at += 3;
                    return self.token(Kind::Spread, start);
                }
                b'\\' => {
                    self.at = word_end(self.mask, start, self.language);
                    return self.token(Kind::Word, start);
                }
                _ => {
                    self.at += 1;
                    return self.token(Kind::Punct(byte), start);
                }
            }
        }
    }

    fn token(&self, kind: Kind, start: usize) -> Token {
        Token {
            kind,
            start,
            end: self.at,
        }
    }

    fn text(&mut self, quote: u8) -> Token {
        let start = self.at;
        let triple = [quote; 3];
        let fence: &[u8] = if self.language == Language::Python && self.mask[start..].starts_with(&triple) {
            &triple
        } else {
            &[quote]
        };
        self.at += fence.len();
        while matches!(self.mask.get(self.at), Some(&(HIDDEN | b'\n' | b'\r'))) {
            self.at += 1;
        }
        if self.mask[self.at..].starts_with(fence) {
            self.at += fence.len();
            return self.token(Kind::Text, start);
        }
        let hole = quote == b'`' && self.mask[self.at..].starts_with(b"${");
        self.token(if hole { Kind::Template } else { Kind::Punct(quote) }, start)
    }
}

/// Length of the line break at the beginning of `bytes`, 0 if there is none.
pub fn newline_length(bytes: &[u8]) -> usize {
    match bytes {
        [b'\r', b'\n', ..] => 2,
        [b'\r' | b'\n', ..] => 1,
        _ => 0,
    }
}

/// Length of the non-ASCII blank or line break at the beginning of `bytes`, 0 if there is none.
/// Python knows none.
pub fn unicode_blank(bytes: &[u8], language: Language) -> usize {
    if language == Language::Python {
        return 0;
    }
    match bytes {
        [0xC2, 0xA0, ..] => 2,
        [0xE1, 0x9A, 0x80, ..] | [0xE2, 0x80, 0x80..=0x8A | 0xA8 | 0xA9 | 0xAF, ..] => 3,
        [0xE2, 0x81, 0x9F, ..] | [0xE3, 0x80, 0x80, ..] | [0xEF, 0xBB, 0xBF, ..] => 3,
        _ => 0,
    }
}

const WORD: u8 = 1;
const BLANK: u8 = 2;

/// What each byte is in a mask; line breaks, which Python's statements need, are no blanks here.
static CLASSES: [u8; 256] = {
    let mut classes = [0; 256];
    let mut byte = 0_u8;
    loop {
        classes[byte as usize] = if is_word_byte(byte) {
            WORD
        } else if matches!(byte, b' ' | b'\t' | 0x0B | 0x0C | HIDDEN) {
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

/// Bytes of names and numbers. Every non-ASCII byte counts: the masks have turned Unicode blanks
/// into spaces where the language knows such.
pub const fn is_word_byte(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'$' | b'#') || byte >= 0x80
}

/// The end of the word that begins at `start`; never `start` itself.
#[inline]
pub fn word_end(bytes: &[u8], start: usize, language: Language) -> usize {
    let mut at = start;
    while let Some(&byte) = bytes.get(at) {
        if CLASSES[usize::from(byte)] != WORD || byte >= 0x80 {
            if byte >= 0x80 || byte == b'\\' {
                return rare_word_end(bytes, start, at, language);
            }
            break;
        }
        at += 1;
    }
    at.max(start + 1).min(bytes.len())
}

/// The end of a word with escapes or non-ASCII bytes in it, which goes on at `at`.
#[cold]
fn rare_word_end(bytes: &[u8], start: usize, mut at: usize, language: Language) -> usize {
    while let Some(&byte) = bytes.get(at) {
        if byte == b'\\' && language == Language::JavaScript {
            // An escape in a name: `requ\u{69}re`.
            at += 1;
            if bytes[at..].starts_with(b"u{") {
                at += 2;
                while bytes.get(at).is_some_and(|b| b.is_ascii_hexdigit() || *b == b'}') {
                    at += 1;
                    if bytes[at - 1] == b'}' {
                        break;
                    }
                }
            }
        } else if !is_word_byte(byte) || (byte >= 0x80 && unicode_blank(&bytes[at..], language) > 0) {
            break;
        } else {
            at += 1;
        }
    }
    at.max(start + 1).min(bytes.len())
}

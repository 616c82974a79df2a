//! The mask of a Rust file, as [`lexeme`](super::super::lexeme) describes it, lexed as the compiler
//! does: what it takes for a literal here is one in macro arguments too.
//!
//! Two things depend on how the file is compiled, so they are asked for by a [`Reading`].

use super::super::lexeme::{blank, hide, is_name_byte, is_name_start};
use super::super::source::{Fault, byte_order_mark};
use super::super::token::HIDDEN;

/// What a file alone does not tell.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Reading {
    /// Whether `cr"..."` is one raw literal (edition 2021) or `cr` and a string (before).
    pub raw_c_strings: bool,
    /// Whether `---` at the beginning encloses a manifest (a cargo script) or is three minus signs
    /// (of an expression that is included).
    pub front_matter: bool,
}

/// A mask, and whether the other answer to each question of [`Reading`] could give another one.
pub struct Masked {
    /// As long as the source.
    pub mask: Vec<u8>,
    /// There is a `cr"`.
    pub has_raw_c_string: bool,
    /// It begins with `---`.
    pub has_front_matter: bool,
}

struct Lexer<'a> {
    source: &'a [u8],
    out: Vec<u8>,
    at: usize,
    reading: Reading,
    has_raw_c_string: bool,
    has_front_matter: bool,
}

/// Masks the file.
pub fn mask(source: &[u8], reading: Reading) -> Result<Masked, Fault> {
    let mut lexer = Lexer {
        source,
        out: source.to_vec(),
        at: byte_order_mark(source),
        reading,
        has_raw_c_string: false,
        has_front_matter: false,
    };
    blank(&mut lexer.out, 0, lexer.at);
    lexer.shebang();
    lexer.front_matter()?;
    lexer.run()?;
    Ok(Masked {
        mask: lexer.out,
        has_raw_c_string: lexer.has_raw_c_string,
        has_front_matter: lexer.has_front_matter,
    })
}

impl Lexer<'_> {
    fn byte(&self, ahead: usize) -> Option<u8> {
        self.source.get(self.at + ahead).copied()
    }

    fn find(&self, from: usize, byte: u8) -> Option<usize> {
        self.source[from..].iter().position(|b| *b == byte).map(|at| from + at)
    }

    /// A first line that begins with `#!` is for the system, unless `[` comes next, over blanks and
    /// comments: `#![attr]`.
    fn shebang(&mut self) {
        if !self.source[self.at..].starts_with(b"#!") {
            return;
        }
        let mut at = self.at + 2;
        loop {
            match &self.source[at..] {
                [b'[', ..] => return,
                [b'/', b'/', ..] => at = self.find(at, b'\n').unwrap_or(self.source.len()),
                [b'/', b'*', ..] => match block_comment_end(self.source, at) {
                    Some(end) => at = end,
                    None => break,
                },
                rest => match white_space(rest) {
                    0 => break,
                    length => at += length,
                },
            }
        }
        let end = self.find(self.at, b'\n').unwrap_or(self.source.len());
        blank(&mut self.out, self.at, end);
        self.at = end;
    }

    /// The lines from `---` to the next line of as many minus signs.
    fn front_matter(&mut self) -> Result<(), Fault> {
        let blanks = self.source[self.at..]
            .iter()
            .take_while(|b| b.is_ascii_whitespace())
            .count();
        let start = self.at + blanks;
        let signs = self.source[start..].iter().take_while(|b| **b == b'-').count();
        if signs < 3 {
            return Ok(());
        }
        self.has_front_matter = true;
        if !self.reading.front_matter {
            return Ok(());
        }
        let mut line = start;
        while let Some(newline) = self.find(line, b'\n') {
            line = newline + 1;
            let length = self.source[line..].iter().take_while(|b| **b == b'-').count();
            if length == signs {
                self.at = self.find(line, b'\n').unwrap_or(self.source.len());
                blank(&mut self.out, start, self.at);
                return Ok(());
            }
        }
        Err(Fault {
            why: "has front matter that never ends",
            at: start,
        })
    }

    fn run(&mut self) -> Result<(), Fault> {
        while let Some(byte) = self.byte(0) {
            match byte {
                b'/' if self.byte(1) == Some(b'/') => {
                    let end = self.find(self.at, b'\n').unwrap_or(self.source.len());
                    blank(&mut self.out, self.at, end);
                    self.at = end;
                }
                b'/' if self.byte(1) == Some(b'*') => {
                    let Some(end) = block_comment_end(self.source, self.at) else {
                        return Err(Fault {
                            why: "has a comment that never ends",
                            at: self.at,
                        });
                    };
                    blank(&mut self.out, self.at, end);
                    self.at = end;
                }
                b'"' => self.string()?,
                b'\'' => self.quote()?,
                HIDDEN => {
                    self.out[self.at] = b' ';
                    self.at += 1;
                }
                _ if byte < 0x80 && is_name_byte(byte) => self.word()?,
                _ if byte >= 0x80 => match white_space(&self.source[self.at..]) {
                    0 => self.word()?,
                    length => {
                        blank(&mut self.out, self.at, self.at + length);
                        self.at += length;
                    }
                },
                _ => self.at += 1,
            }
        }
        Ok(())
    }

    /// A name or number, or the prefix of a literal.
    fn word(&mut self) -> Result<(), Fault> {
        let start = self.at;
        self.at = word_end(self.source, start);
        let is_quoted = matches!(self.byte(0), Some(b'"' | b'\'' | b'#'));
        if !is_quoted {
            return Ok(());
        }
        match &self.source[start..self.at] {
            b"cr" => {
                let is_literal = self.raw_fence().is_some();
                self.has_raw_c_string |= is_literal;
                if is_literal && self.reading.raw_c_strings {
                    self.raw_string(start)?;
                }
            }
            b"r" | b"br" => self.raw_string(start)?,
            b"b" | b"c" if self.byte(0) == Some(b'"') => blank(&mut self.out, start, self.at),
            b"b" if self.byte(0) == Some(b'\'') => blank(&mut self.out, start, self.at),
            _ => {}
        }
        Ok(())
    }

    /// How many `#` stand between here and a quote.
    fn raw_fence(&self) -> Option<usize> {
        let fence = self.source[self.at..].iter().take_while(|b| **b == b'#').count();
        (self.byte(fence) == Some(b'"')).then_some(fence)
    }

    /// After `r`, `br` or `cr`; a raw name (`r#use`) is left as it is.
    fn raw_string(&mut self, start: usize) -> Result<(), Fault> {
        let Some(fence) = self.raw_fence() else {
            return Ok(());
        };
        let open = self.at + fence;
        let mut at = open + 1;
        while let Some(quote) = self.find(at, b'"') {
            at = quote + 1;
            let closing = self.source[at..].iter().take(fence).take_while(|b| **b == b'#').count();
            if closing == fence {
                hide(&mut self.out, open, at);
                blank(&mut self.out, start, open);
                blank(&mut self.out, at, at + fence);
                self.at = at + fence;
                return Ok(());
            }
            // The `#` that were looked at cannot be quotes.
            at += closing;
        }
        Err(Fault {
            why: "has a raw string that never ends",
            at: start,
        })
    }

    fn string(&mut self) -> Result<(), Fault> {
        let start = self.at;
        let mut at = start + 1;
        loop {
            match self.source.get(at) {
                Some(b'"') => break,
                Some(b'\\') => at += 2,
                Some(_) => at += 1,
                None => {
                    return Err(Fault {
                        why: "has a string that never ends",
                        at: start,
                    });
                }
            }
        }
        self.at = at + 1;
        hide(&mut self.out, start, self.at);
        Ok(())
    }

    /// A character, or a lifetime or label, which nothing needs and which is blanked.
    fn quote(&mut self) -> Result<(), Fault> {
        let start = self.at;
        let body = start + 1;
        let first = self.source.get(body).copied().unwrap_or(b'\n');
        let after = body + width(first);
        if first != b'\\' && self.source.get(after) == Some(&b'\'') {
            self.at = after + 1;
            hide(&mut self.out, start, self.at);
            return Ok(());
        }
        if is_name_start(first) || first.is_ascii_digit() {
            let end = word_end(self.source, body);
            if self.source.get(end) == Some(&b'\'') {
                self.at = end + 1;
                hide(&mut self.out, start, self.at);
            } else {
                self.at = end;
                blank(&mut self.out, start, end);
            }
            return Ok(());
        }
        let mut at = body;
        loop {
            match self.source.get(at) {
                Some(b'\'') => break,
                Some(b'\\') => at += 2,
                Some(b'/' | b'\n') | None => return Err(unended(start)),
                Some(_) => at += 1,
            }
        }
        self.at = at + 1;
        hide(&mut self.out, start, self.at);
        Ok(())
    }
}

fn unended(at: usize) -> Fault {
    Fault {
        why: "has a character that its quote does not end",
        at,
    }
}

/// The end of the block comment, which may hold others, that begins at `at`.
fn block_comment_end(source: &[u8], at: usize) -> Option<usize> {
    let mut depth = 0;
    let mut at = at;
    loop {
        match source.get(at..)? {
            [b'/', b'*', ..] => {
                depth += 1;
                at += 2;
            }
            [b'*', b'/', ..] => {
                depth -= 1;
                at += 2;
                if depth == 0 {
                    return Some(at);
                }
            }
            [] => return None,
            _ => at += 1,
        }
    }
}

/// The length of the blank at the beginning (Unicode's Pattern_White_Space), 0 if there is none.
fn white_space(bytes: &[u8]) -> usize {
    match bytes {
        [b' ' | b'\t'..=b'\r', ..] => 1,
        [0xC2, 0x85, ..] => 2,
        [0xE2, 0x80, 0x8E | 0x8F | 0xA8 | 0xA9, ..] => 3,
        _ => 0,
    }
}

/// The end of the name or number at `start`; a Unicode blank ends it.
fn word_end(source: &[u8], start: usize) -> usize {
    let mut at = start;
    while let Some(&byte) = source.get(at) {
        if !is_name_byte(byte) || (byte >= 0x80 && white_space(&source[at..]) > 0) {
            break;
        }
        at += 1;
    }
    at.max(start + 1).min(source.len())
}

/// How many bytes the character takes that begins with this one.
fn width(first: u8) -> usize {
    match first {
        0xF0.. => 4,
        0xE0.. => 3,
        0xC0.. => 2,
        _ => 1,
    }
}

//! What the masks of Java, Kotlin and C# have in common.
//!
//! A literal without code in it becomes one token: `"`, [`HIDDEN`] bytes, `"`, from the first byte
//! of its prefix to the last one of its fence. Of a literal with code in it only that code stays
//! visible, with the braces around it. Line breaks stay wherever they are.

use super::source::{Fault, byte_order_mark};
use super::token::HIDDEN;

/// A source and its mask in the making.
pub struct Lexer<'a> {
    /// The file.
    pub source: &'a [u8],
    /// The mask; of the same length.
    pub out: Vec<u8>,
    /// Where the lexer is.
    pub at: usize,
}

impl<'a> Lexer<'a> {
    /// At the first byte of code: a byte order mark and a `#!` line are blank.
    pub fn new(source: &'a [u8]) -> Self {
        let mut lexer = Lexer {
            source,
            out: source.to_vec(),
            at: 0,
        };
        let mark = byte_order_mark(source);
        lexer.blank(0, mark);
        lexer.at = mark;
        if source[mark..].starts_with(b"#!") {
            lexer.line_comment();
        }
        lexer
    }

    /// Goes over bytes that are code by themselves in any state: names, blanks, most operators.
    pub fn skip_plain(&mut self) {
        while let Some(&byte) = self.source.get(self.at) {
            if SPECIAL[usize::from(byte)] {
                break;
            }
            self.at += 1;
        }
    }

    /// The byte `ahead` of the lexer; 0 after the end of the file.
    pub fn peek(&self, ahead: usize) -> u8 {
        self.source.get(self.at + ahead).copied().unwrap_or(0)
    }

    /// Turns bytes into spaces.
    pub fn blank(&mut self, from: usize, to: usize) {
        self.fill(from, to, b' ');
    }

    /// Turns bytes into [`HIDDEN`] ones.
    pub fn hide(&mut self, from: usize, to: usize) {
        self.fill(from, to, HIDDEN);
    }

    fn fill(&mut self, from: usize, to: usize, with: u8) {
        let to = to.min(self.out.len());
        for byte in &mut self.out[from..to] {
            if !matches!(byte, b'\n' | b'\r') {
                *byte = with;
            }
        }
    }

    /// Makes one token of a literal and goes behind it.
    pub fn literal(&mut self, from: usize, to: usize) {
        self.hide(from, to);
        self.out[from] = b'"';
        self.out[to - 1] = b'"';
        self.at = to;
    }

    /// How many times a byte stands at `at` in a row.
    pub fn run(&self, at: usize, byte: u8) -> usize {
        self.source[at..].iter().take_while(|b| **b == byte).count()
    }

    /// From here to the end of the line, which stays.
    pub fn line_comment(&mut self) {
        let end = self.source[self.at..]
            .iter()
            .position(|b| matches!(b, b'\n' | b'\r'))
            .map_or(self.source.len(), |length| self.at + length);
        self.blank(self.at, end);
        self.at = end;
    }

    /// A comment that begins here; with `nests` its inner comments need ends of their own.
    pub fn block_comment(&mut self, nests: bool) -> Result<(), Fault> {
        let (start, mut at, mut depth) = (self.at, self.at + 2, 1_usize);
        loop {
            let rest = self.source.get(at..).unwrap_or_default();
            let Some(length) = rest.iter().position(|b| *b == b'/') else {
                return Err(Fault {
                    why: "has a comment that never ends",
                    at: start,
                });
            };
            let slash = at + length;
            at = slash + 1;
            // The `*` of `/*/` begins a comment and cannot end it as well.
            if length > 0 && self.source[slash - 1] == b'*' {
                depth -= 1;
                if depth == 0 {
                    break;
                }
            } else if nests && self.source.get(at) == Some(&b'*') {
                at += 1;
                depth += 1;
            }
        }
        self.blank(start, at);
        self.at = at;
        Ok(())
    }

    /// `'x'`, on one line. The quotes of no other literal matter in it.
    pub fn character(&mut self) -> Result<(), Fault> {
        let (start, mut at) = (self.at, self.at + 1);
        loop {
            match self.source.get(at) {
                Some(b'\\') => at += 2,
                Some(b'\'') => break,
                Some(b'\n' | b'\r') | None => return Err(unended_line(start)),
                Some(_) => at += 1,
            }
        }
        self.literal(start, at + 1);
        Ok(())
    }
}

/// Bytes at which a mask must look.
static SPECIAL: [bool; 256] = {
    let mut special = [false; 256];
    let mut byte = 0_u8;
    loop {
        special[byte as usize] = matches!(
            byte,
            b'/' | b'"'
                | b'\''
                | b'`'
                | b'$'
                | b'@'
                | b'{'
                | b'}'
                | b'('
                | b')'
                | b'['
                | b']'
                | b':'
                | b'\n'
                | b'\r'
                | HIDDEN
        ) || byte >= 0x80;
        if byte == u8::MAX {
            break special;
        }
        byte += 1;
    }
};

/// Of a literal that its line should have ended.
pub fn unended_line(at: usize) -> Fault {
    Fault {
        why: "has a string or character that its line does not end",
        at,
    }
}

/// Of a literal that should have ended before the file does.
pub fn unended(at: usize) -> Fault {
    Fault {
        why: "has a string that never ends",
        at,
    }
}

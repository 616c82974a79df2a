//! One pass over the bytes of a C file: lines joined, comments and strings skipped.

use super::super::source::{Fault, Found, byte_order_mark};
use super::macros::Macros;

const TRIGRAPH: &str = "has a trigraph `??/` that not every compiler takes for a backslash";
const RETURN: &str = "has a carriage return in a comment that not every compiler takes for the end of its line";
const BLANKS: &str = "has blanks after a backslash at the end of a line that not every compiler joins with the next";

pub(super) struct Lexer<'a> {
    pub(super) source: &'a [u8],
    pub(super) at: usize,
    pub(super) found: Vec<Found>,
    /// Whether only blanks and comments stand before on this line.
    pub(super) begins_line: bool,
    /// Whether the line is one of `#if` and `#elif`.
    pub(super) is_condition: bool,
    /// Whether a statement may begin here: after `;`, `{`, `}` or `export`.
    begins_statement: bool,
    raw_strings: RawStrings,
    pub(super) macros: Macros,
}

/// Whether the compiler knows raw strings.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(in super::super) enum RawStrings {
    /// As C++ does.
    Known,
    /// As C does with gcc's additions and does not without.
    Doubtful,
}

impl<'a> Lexer<'a> {
    pub(super) fn new(source: &'a [u8], raw_strings: RawStrings) -> Self {
        Lexer {
            source,
            at: byte_order_mark(source),
            found: Vec::new(),
            begins_line: true,
            is_condition: false,
            begins_statement: true,
            raw_strings,
            macros: Macros::default(),
        }
    }

    pub(super) fn run(mut self) -> Result<Vec<Found>, Fault> {
        while let Some(&byte) = self.source.get(self.at) {
            match byte {
                b'\n' | b'\r' => {
                    self.begins_line = true;
                    self.is_condition = false;
                    self.at += 1;
                }
                b' ' | b'\t' | 0x0B | 0x0C => self.at += 1,
                b'\\' => match self.splice(self.at) {
                    0 => self.plain(byte),
                    length => {
                        // With blanks before the line break not every compiler joins.
                        self.begins_line |= matches!(self.source[self.at + 1], b' ' | b'\t' | 0x0B | 0x0C);
                        self.at += length;
                    }
                },
                b'/' => match self.byte(self.joined(self.at + 1)) {
                    b'/' => self.line_comment()?,
                    b'*' => self.at = self.after_comment(self.at)?,
                    _ => self.plain(byte),
                },
                b'"' | b'\'' => self.quoted()?,
                b'#' if self.begins_line => self.directive(self.at + 1)?,
                b'%' if self.begins_line && self.byte(self.joined(self.at + 1)) == b':' => {
                    let colon = self.joined(self.at + 1);
                    self.directive(colon + 1)?;
                }
                b'?' if self.source[self.at..].starts_with(b"??/") && self.is_line_end(self.at + 3) => {
                    return Err(self.fault(TRIGRAPH, self.at));
                }
                b'?' if self.begins_line && self.source[self.at..].starts_with(b"??=") => {
                    self.directive(self.at + 3)?;
                }
                b'0'..=b'9' => self.number(),
                _ if is_word_byte(byte) => self.word()?,
                _ => self.plain(byte),
            }
        }
        self.found.extend(std::mem::take(&mut self.macros).found());
        Ok(self.found)
    }

    fn plain(&mut self, byte: u8) {
        self.begins_line = false;
        self.begins_statement = matches!(byte, b';' | b'{' | b'}' | b'@');
        self.at += 1;
    }

    pub(super) fn fault(&self, why: &'static str, at: usize) -> Fault {
        Fault { why, at }
    }

    /// The byte there, a line break after the end of the file.
    pub(super) fn byte(&self, at: usize) -> u8 {
        self.source.get(at).copied().unwrap_or(b'\n')
    }

    /// Length of the backslash and line break there that join two lines, 0 if there are none.
    /// Blanks between them do not matter to gcc, clang and C++23.
    fn splice(&self, at: usize) -> usize {
        if self.source.get(at) != Some(&b'\\') {
            return 0;
        }
        let mut end = at + 1;
        while let Some(b' ' | b'\t' | 0x0B | 0x0C | b'\r') = self.source.get(end) {
            end += 1;
        }
        if self.source.get(end) == Some(&b'\n') {
            end + 1 - at
        } else {
            0
        }
    }

    /// The offset of the next byte at or after `at` that belongs to no joined line break.
    pub(super) fn joined(&self, mut at: usize) -> usize {
        loop {
            match self.splice(at) {
                0 => return at,
                length => at += length,
            }
        }
    }

    /// Whether only blanks are left on the line.
    pub(super) fn is_line_end(&self, at: usize) -> bool {
        let rest = &self.source[at..];
        let blanks = rest
            .iter()
            .take_while(|b| matches!(b, b' ' | b'\t' | 0x0B | 0x0C | b'\r'))
            .count();
        matches!(rest.get(blanks), None | Some(b'\n'))
    }

    /// Skips `//` and the rest of its line.
    fn line_comment(&mut self) -> Result<(), Fault> {
        let start = self.at;
        self.at += 2;
        while let Some(&byte) = self.source.get(self.at) {
            match byte {
                b'\n' => return Ok(()),
                b'\\' => {
                    let length = self.splice(self.at);
                    if length > 0 && matches!(self.source[self.at + 1], b' ' | b'\t' | 0x0B | 0x0C) {
                        self.check_next_line(self.at + length)?;
                    }
                    self.at += length.max(1);
                }
                b'/' if self.source[start..self.at].ends_with(b"??") && self.is_line_end(self.at + 1) => {
                    return Err(self.fault(TRIGRAPH, self.at - 2));
                }
                b'\r' => {
                    let run = self.source[self.at..].iter().take_while(|b| **b == b'\r').count();
                    self.at += run;
                    if !self.is_line_end(self.at) {
                        return Err(self.fault(RETURN, self.at - 1));
                    }
                }
                _ => self.at += 1,
            }
        }
        Ok(())
    }

    /// The line at `at` is a comment for one compiler and code for another: as code it must do
    /// nothing that matters here.
    fn check_next_line(&self, at: usize) -> Result<(), Fault> {
        let line = self.source[at..].split(|b| *b == b'\n').next().unwrap_or_default();
        let blanks = line.iter().take_while(|b| b.is_ascii_whitespace()).count();
        let line = &line[blanks..];
        if line.starts_with(b"//") {
            return Ok(());
        }
        let opens = line.iter().any(|b| matches!(b, b'#' | b'"' | b'\'' | b'%' | b'@'))
            || line.windows(2).any(|pair| pair == b"/*")
            || line.windows(6).any(|word| word == b"import");
        if opens {
            return Err(self.fault(BLANKS, at - 1));
        }
        Ok(())
    }

    /// The offset after the block comment that begins at `at`.
    pub(super) fn after_comment(&self, at: usize) -> Result<usize, Fault> {
        let mut end = self.joined(at + 1) + 1;
        while let Some(&byte) = self.source.get(end) {
            end += 1;
            if byte != b'*' {
                continue;
            }
            let next = self.joined(end);
            if self.byte(next) == b'/' && next < self.source.len() {
                return Ok(next + 1);
            }
            if self.source[end..].starts_with(b"??/") && self.is_line_end(end + 3) {
                return Err(self.fault(TRIGRAPH, end));
            }
        }
        Err(self.fault("has a comment that never ends", at))
    }

    /// Skips a string or character.
    fn quoted(&mut self) -> Result<(), Fault> {
        self.begins_line = false;
        self.begins_statement = false;
        let quote = self.source[self.at];
        self.at += 1;
        while let Some(&byte) = self.source.get(self.at) {
            match byte {
                b'\n' => return Ok(()),
                b'\\' => match self.splice(self.at) {
                    0 => {
                        // The escaped character may stand after a joined line break.
                        let escaped = self.joined(self.at + 1);
                        self.at = if self.byte(escaped) == b'\n' {
                            escaped
                        } else {
                            escaped + 1
                        };
                    }
                    length => self.at += length,
                },
                b'/' if self.source[..self.at].ends_with(b"??")
                    && (matches!(self.byte(self.at + 1), b'"' | b'\'' | b'\\') || self.is_line_end(self.at + 1)) =>
                {
                    return Err(self.fault(TRIGRAPH, self.at - 2));
                }
                _ => {
                    self.at += 1;
                    if byte == quote {
                        return Ok(());
                    }
                }
            }
        }
        Ok(())
    }

    /// Skips a number, in which `'` separates digits.
    fn number(&mut self) {
        self.begins_line = false;
        self.begins_statement = false;
        while let Some(&byte) = self.source.get(self.at) {
            let next = || self.byte(self.joined(self.at + 1));
            match byte {
                b'\\' if self.splice(self.at) > 0 => self.at += self.splice(self.at),
                b'\'' if next().is_ascii_alphanumeric() || next() == b'_' => self.at += 1,
                b'.' => self.at += 1,
                _ if is_word_byte(byte) => self.at += 1,
                _ => return,
            }
        }
    }

    /// Reads the word at `at`, joined lines taken out; its end.
    pub(super) fn word_at<'w>(&self, at: usize, buffer: &'w mut Vec<u8>) -> (&'w [u8], usize)
    where
        'a: 'w,
    {
        let run = |at: usize| self.source[at..].iter().take_while(|b| is_word_byte(**b)).count();
        let source = self.source;
        let mut end = at + run(at);
        if self.splice(end) == 0 {
            return (&source[at..end], end);
        }
        buffer.extend_from_slice(&source[at..end]);
        loop {
            let next = self.joined(end);
            let length = run(next);
            if length == 0 {
                return (buffer, end);
            }
            buffer.extend_from_slice(&source[next..next + length]);
            end = next + length;
        }
    }

    fn word(&mut self) -> Result<(), Fault> {
        let start = self.at;
        let begins = self.begins_line || self.begins_statement;
        let mut buffer = Vec::new();
        let (word, end) = self.word_at(start, &mut buffer);
        let is_import = begins && word == b"import";
        let is_question = self.is_condition && word.starts_with(b"__has_");
        let is_raw = matches!(word, b"R" | b"LR" | b"uR" | b"UR" | b"u8R");
        self.begins_statement = word == b"export" && begins;
        self.begins_line = false;
        self.at = end;
        if is_raw {
            let quote = self.joined(end);
            if self.byte(quote) == b'"' {
                return self.raw_string(quote);
            }
        } else if is_import {
            return self.import(start);
        } else if is_question {
            return self.check_question();
        }
        Ok(())
    }

    /// At the quote of `R"x(...)x"`. What has no such beginning is a plain string.
    fn raw_string(&mut self, quote: usize) -> Result<(), Fault> {
        let rest = &self.source[quote + 1..];
        let is_delimiter = |b: &&u8| {
            !matches!(
                **b,
                b' ' | b'(' | b')' | b'\\' | b'"' | b'\t' | 0x0B | 0x0C | b'\n' | b'\r'
            )
        };
        let length = rest.iter().take(17).take_while(is_delimiter).count();
        self.at = quote;
        if length > 16 || rest.get(length) != Some(&b'(') {
            return self.quoted();
        }
        let delimiter = &rest[..length];
        let body = quote + 1 + length + 1;
        let mut at = body;
        while let Some(place) = self.source[at..].iter().position(|b| *b == b')') {
            at += place + 1;
            let after = &self.source[at..];
            if after.starts_with(delimiter) && after.get(length) == Some(&b'"') {
                self.as_plain_string(body, at)?;
                self.at = at + length + 1;
                return Ok(());
            }
        }
        Err(self.fault("has a raw string that never ends", quote))
    }

    /// C before C23 has no raw strings: there `R"(" ... ")"` is two strings with code between them,
    /// if the first one ends on its line. Then the includes between them count. One that does not end there
    /// is only compiled where `#if` leaves it out, so those count that come after the end of such a block.
    fn as_plain_string(&mut self, body: usize, end: usize) -> Result<(), Fault> {
        let text = &self.source[body..end];
        let first = text.split(|b| *b == b'\n').next().unwrap_or_default();
        let mut counts = first.contains(&b'"');
        if first.len() == text.len() || !counts && self.raw_strings == RawStrings::Known {
            return Ok(());
        }
        let mut at = body + first.len() + 1;
        for line in text[first.len() + 1..].split(|b| *b == b'\n') {
            let blanks = line.iter().take_while(|b| b.is_ascii_whitespace()).count();
            if line.get(blanks) == Some(&b'#') {
                let word = line[blanks + 1..].trim_ascii_start();
                match counts {
                    true => self.directive(at + blanks + 1)?,
                    false => counts = word.starts_with(b"e") && !word.starts_with(b"error"),
                }
            }
            at += line.len() + 1;
        }
        self.is_condition = false;
        self.begins_line = false;
        Ok(())
    }
}

pub(super) fn is_word_byte(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'$') || byte >= 0x80
}

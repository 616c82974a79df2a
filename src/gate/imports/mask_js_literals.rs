//! Strings, templates, comments and regular expressions of JavaScript.

use memchr::{memchr3, memchr3_iter, memmem};

use super::Language;
use super::mask_js::{Frame, Lexer, Slash};
use super::source::{Fault, UNSURE};
use super::token::{HIDDEN, is_word_byte, newline_length, word_end};

impl Lexer<'_> {
    /// Hides bytes up to `end`, but not line breaks.
    pub(super) fn hide(&mut self, end: usize) {
        self.fill(end, HIDDEN);
        self.at = end;
    }

    fn fill(&mut self, end: usize, with: u8) {
        for (out, byte) in self.out[self.at..end].iter_mut().zip(&self.source[self.at..end]) {
            *out = if matches!(byte, b'\n' | b'\r') { *byte } else { with };
        }
    }

    pub(super) fn string(&mut self, quote: u8) -> Result<(), Fault> {
        let start = self.at;
        let mut at = start + 1;
        loop {
            match self.source.get(at) {
                None => {
                    return Err(Fault {
                        why: "has a string that never ends",
                        at: start,
                    });
                }
                Some(b'\\') => at += 1 + newline_length(&self.source[at + 1..]).max(1),
                Some(b'\n' | b'\r') => {
                    return Err(Fault {
                        why: "has a string that its line does not end",
                        at: start,
                    });
                }
                Some(byte) if *byte == quote => break,
                Some(_) => at += 1,
            }
        }
        self.at = start + 1;
        self.hide(at);
        self.at = at + 1;
        self.token(b'"', Slash::Division);
        Ok(())
    }

    /// The text of a template up to its end or its next `${`.
    pub(super) fn template(&mut self, start: usize) -> Result<(), Fault> {
        let mut at = self.at;
        loop {
            at += memchr3(b'\\', b'`', b'$', &self.source[at..]).unwrap_or(self.source.len() - at);
            match self.source.get(at) {
                None => {
                    return Err(Fault {
                        why: "has a template that never ends",
                        at: start,
                    });
                }
                Some(b'\\') => at = (at + 2).min(self.source.len()),
                Some(b'`') => {
                    self.hide(at);
                    self.at = at + 1;
                    self.token(b'"', Slash::Division);
                    return Ok(());
                }
                Some(b'$') if self.source.get(at + 1) == Some(&b'{') => {
                    self.hide(at);
                    self.at = at + 2;
                    self.frames.push(Frame::Hole { start });
                    self.token(b'(', Slash::Regex);
                    return Ok(());
                }
                Some(_) => at += 1,
            }
        }
    }

    pub(super) fn line_comment(&mut self) {
        let source = self.source;
        let mut end = self.at;
        loop {
            end += memchr3(b'\n', b'\r', 0xE2, &source[end..]).unwrap_or(source.len() - end);
            // U+2028 and U+2029 end a line as well: code may follow them.
            match source[end..] {
                [0xE2, 0x80, 0xA8 | 0xA9, ..] => break,
                [0xE2, ..] => end += 1,
                _ => break,
            }
        }
        self.fill(end, b' ');
        self.at = end;
    }

    pub(super) fn block_comment(&mut self) -> Result<(), Fault> {
        let start = self.at;
        let Some(length) = memmem::find(&self.source[start + 2..], b"*/") else {
            return Err(Fault {
                why: "has a comment that never ends",
                at: start,
            });
        };
        let end = start + 2 + length + 2;
        let source = self.source;
        let is_break = |at: usize| matches!(source[at..], [b'\n' | b'\r', ..] | [0xE2, 0x80, 0xA8 | 0xA9, ..]);
        if memchr3_iter(b'\n', b'\r', 0xE2, &source[start..end]).any(|at| is_break(start + at)) {
            self.break_line();
        }
        self.fill(end, b' ');
        self.at = end;
        Ok(())
    }

    pub(super) fn slash(&mut self) -> Result<(), Fault> {
        match (self.source.get(self.at + 1), self.slash) {
            (Some(b'/'), _) => self.line_comment(),
            (Some(b'*'), _) => self.block_comment()?,
            (_, Slash::Division) => {
                // After `let x`, `break a` or `import "x"` a line break ends the statement, and
                // the slash begins an expression; anywhere else it divides.
                if self.broke_line
                    && let Some(end) = self.regex_end()?
                    && could_hide(self.source, self.at + 1, end)
                {
                    return Err(Fault {
                        why: UNSURE,
                        at: self.at,
                    });
                }
                self.operator(b'/');
            }
            (_, slash) => match self.regex_end()? {
                None if slash == Slash::Unsure => self.operator(b'/'),
                None => {
                    return Err(Fault {
                        why: "has a regular expression that its line does not end",
                        at: self.at,
                    });
                }
                Some(end) => {
                    if slash == Slash::Unsure && could_hide(self.source, self.at + 1, end) {
                        return Err(Fault {
                            why: UNSURE,
                            at: self.at,
                        });
                    }
                    self.at += 1;
                    self.hide(end);
                    self.at = word_end(self.source, end, Language::JavaScript);
                    while self.rest().first().is_some_and(|b| b.is_ascii_alphanumeric()) {
                        self.at += 1;
                    }
                    self.token(b'"', Slash::Division);
                }
            },
        }
        Ok(())
    }

    /// Offset of the `/` that ends a regular expression which begins here.
    fn regex_end(&mut self) -> Result<Option<usize>, Fault> {
        let mut in_class = false;
        let mut at = self.at + 1;
        while let Some(&byte) = self.source.get(at) {
            match byte {
                b'\n' | b'\r' => return Ok(None),
                0xE2 if matches!(self.source[at..], [_, 0x80, 0xA8 | 0xA9, ..]) => return Ok(None),
                b'\\' if newline_length(&self.source[at + 1..]) > 0 => return Ok(None),
                b'\\' => at += 1,
                b'[' => in_class = true,
                b']' => in_class = false,
                b'/' if !in_class => return Ok(Some(at)),
                _ => {}
            }
            at += 1;
            // Many an unsure slash on one line could each read the line to its end.
            self.budget = self.budget.saturating_sub(1);
            if self.budget == 0 {
                return Err(Fault {
                    why: "has too many slashes that may divide or begin an expression",
                    at: self.at,
                });
            }
        }
        Ok(None)
    }
}

/// Whether it makes a difference for imports if these bytes are code or a regular expression:
/// because of what they are, or because the two readings would not agree on what follows.
fn could_hide(source: &[u8], start: usize, end: usize) -> bool {
    let body = &source[start..end];
    let (mut round, mut square) = (0i32, 0i32);
    for byte in body {
        match byte {
            b'"' | b'\'' | b'`' | b'/' | b'<' | b'{' | b'}' => return true,
            b'(' => round += 1,
            b')' => round -= 1,
            b'[' => square += 1,
            b']' => square -= 1,
            _ => {}
        }
        if round < 0 || square < 0 {
            return true;
        }
    }
    round != 0
        || square != 0
        || body.windows(6).any(|w| w == b"import")
        || body.windows(7).any(|w| w == b"require")
        || !agrees_after(source, end + 1)
}

/// Whether what comes after the second slash means the same after an operand (a regular
/// expression) and after an operator (a division).
fn agrees_after(source: &[u8], at: usize) -> bool {
    const LIMIT: usize = 1024;
    let rest = &source[at..];
    let rest = &rest[..rest.len().min(LIMIT)];
    let blank = blanks(rest);
    let word = rest[blank..]
        .iter()
        .take_while(|b| is_word_byte(**b) || **b == b'\\')
        .count();
    let changes = [
        &b"typeof"[..],
        b"void",
        b"delete",
        b"new",
        b"in",
        b"of",
        b"instanceof",
        b"yield",
        b"await",
        b"function",
        b"class",
        b"return",
    ];
    if changes.contains(&&rest[blank..blank + word]) {
        return false;
    }
    let next = blank + word + blanks(&rest[blank + word..]);
    match rest.get(next..) {
        None | Some([]) => at + rest.len() == source.len(),
        Some([b'/' | b'<' | b'{' | b'!' | b'"' | b'\'' | b'`', ..] | [b'+', b'+', ..] | [b'-', b'-', ..]) => false,
        Some(_) => true,
    }
}

/// Length of the blanks and comments at the beginning.
fn blanks(bytes: &[u8]) -> usize {
    let mut at = 0;
    loop {
        at += bytes[at..].iter().take_while(|b| b.is_ascii_whitespace()).count();
        let rest = &bytes[at..];
        let length = if rest.starts_with(b"//") {
            let ends = |at: &usize| matches!(rest[*at..], [b'\n' | b'\r', ..] | [0xE2, 0x80, 0xA8 | 0xA9, ..]);
            let length = (0..rest.len()).find(ends).unwrap_or(rest.len());
            if rest.get(length) == Some(&0xE2) {
                return at + length;
            }
            length
        } else if rest.starts_with(b"/*") {
            match rest[2..].windows(2).position(|w| w == b"*/") {
                Some(length) => length + 4,
                None => return at,
            }
        } else {
            return at;
        };
        at += length;
    }
}

//! Strings, templates, comments and regular expressions of JavaScript.

use super::Language;
use super::mask_js::{Frame, Lexer, Slash};
use super::source::Fault;
use super::token::{HIDDEN, newline_length, word_end};

const UNSURE: &str = "has a slash that may divide or begin an expression";

impl Lexer<'_> {
    /// Hides bytes up to `end`, but not line breaks.
    pub(super) fn hide(&mut self, end: usize) {
        for at in self.at..end {
            if !matches!(self.source[at], b'\n' | b'\r') {
                self.out[at] = HIDDEN;
            }
        }
        self.at = end;
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
        while let Some(&byte) = self.source.get(self.at) {
            // U+2028 and U+2029 end a line as well: code may follow them.
            if matches!(byte, b'\n' | b'\r') || (byte == 0xE2 && matches!(self.rest(), [_, 0x80, 0xA8 | 0xA9, ..])) {
                return;
            }
            self.out[self.at] = b' ';
            self.at += 1;
        }
    }

    pub(super) fn block_comment(&mut self) -> Result<(), Fault> {
        let start = self.at;
        let Some(length) = self.source[start + 2..].windows(2).position(|w| w == b"*/") else {
            return Err(Fault {
                why: "has a comment that never ends",
                at: start,
            });
        };
        self.at = start + 2 + length + 2;
        for at in start..self.at {
            match self.source[at] {
                b'\n' | b'\r' => self.broke_line = true,
                _ => self.out[at] = b' ',
            }
        }
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
                    && could_hide(&self.source[self.at + 1..end])
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
                    if slash == Slash::Unsure && could_hide(&self.source[self.at + 1..end]) {
                        return Err(Fault {
                            why: "has a slash that may divide or begin an expression",
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

/// Whether it makes a difference for imports if these bytes are code or a regular expression.
fn could_hide(body: &[u8]) -> bool {
    body.iter().any(|b| matches!(b, b'"' | b'\'' | b'`'))
        || body.windows(6).any(|w| w == b"import")
        || body.windows(7).any(|w| w == b"require")
}

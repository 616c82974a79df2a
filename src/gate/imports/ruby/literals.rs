//! Literals of Ruby: where one begins, and its text.

use super::super::literal_cursor::{CLOSE, OPEN, is_word_byte};
use super::super::source::{Fault, UNSURE};
use super::super::token::{HIDDEN, newline_length};
use super::mask::{Frame, Lexer, Literal, State, unended};

impl Lexer<'_> {
    /// Whether a literal begins here that needs an expression's beginning; `next` is what follows
    /// its first byte. None where it depends on whether a name is a local variable.
    pub(super) fn begins_literal(&self, next: u8) -> Option<bool> {
        match self.state {
            State::Begin => Some(true),
            State::Name(place) => {
                let blank_before = self.at > 0 && self.source[self.at - 1].is_ascii_whitespace();
                if !blank_before || next.is_ascii_whitespace() {
                    Some(false)
                } else if place.is_some_and(|(start, end)| self.may_be_local(&self.source[start..end])) {
                    None
                } else {
                    Some(true)
                }
            }
            _ => Some(false),
        }
    }

    /// Whether nothing on the rest of the line can matter, whichever way it is read: it has no
    /// quotes, braces or other slashes that could open or end something.
    pub(super) fn check_neutral(&self) -> Result<(), Fault> {
        let rest = &self.source[self.at + 1..];
        let harmless = |b: &&u8| {
            b.is_ascii_alphanumeric()
                || matches!(
                    **b,
                    b' ' | b'_' | b'.' | b',' | b'(' | b')' | b'+' | b'-' | b'*' | b';' | b'=' | b'>'
                )
        };
        let length = rest.iter().take(256).take_while(harmless).count();
        let ends = newline_length(&rest[length..]) > 0 || length == rest.len();
        let text = &rest[..length];
        if ends && !text.windows(7).any(|word| word == b"require") {
            return Ok(());
        }
        Err(Fault {
            why: UNSURE,
            at: self.at,
        })
    }

    /// Whether a literal that begins here, so many bytes before its text, ends on this line and has nothing in it but
    /// words: as code in brackets (`x % w[a b]`) it is a value as well, and opens nothing.
    fn is_neutral_in(&self, length: usize, open: u8) -> bool {
        let close = match open {
            b'[' => b']',
            b'(' => b')',
            _ => return false,
        };
        let text = &self.source[self.at + length..];
        let is_plain = |b: &&u8| b.is_ascii_alphanumeric() || matches!(**b, b' ' | b'_' | b'.' | b',' | b'-');
        let end = text.iter().take(256).take_while(is_plain).count();
        text.get(end) == Some(&close) && !text[..end].windows(7).any(|word| word == b"require")
    }

    pub(super) fn slash(&mut self) -> Result<(), Fault> {
        let next = self.byte(self.at + 1);
        let is_assignment = next == b'=' && matches!(self.state, State::Name(_));
        match self.begins_literal(next) {
            Some(true) if !is_assignment => {
                self.open(1, b'/', true, true);
                return Ok(());
            }
            None if !is_assignment => self.check_neutral()?,
            _ => {}
        }
        self.step(State::Begin);
        Ok(())
    }

    pub(super) fn percent(&mut self) -> Result<(), Fault> {
        let next = self.byte(self.at + 1);
        let is_assignment = next == b'=' && matches!(self.state, State::Name(_));
        let is_kind = matches!(next, b'q' | b'Q' | b'w' | b'W' | b'i' | b'I' | b'r' | b's' | b'x');
        let (length, delimiter) = if is_kind {
            (3, self.byte(self.at + 2))
        } else {
            (2, next)
        };
        let is_delimiter = !is_word_byte(delimiter) && self.at + length <= self.source.len();
        let begins = if is_assignment || !is_delimiter {
            Some(false)
        } else {
            match self.begins_literal(next) {
                // Of a list of words the elements count, which the other reading has, too.
                None if is_kind && self.is_neutral_in(length, delimiter) => Some(true),
                begins => begins,
            }
        };
        match begins {
            Some(true) => {
                if matches!(delimiter, b'\n' | b'\r' | b'\\') {
                    return Err(Fault {
                        why: "has a literal with a delimiter that is not read here",
                        at: self.at,
                    });
                }
                let may_have_code = !matches!(next, b'q' | b'w' | b'i' | b's');
                self.open(length, delimiter, may_have_code, next == b'r');
                return Ok(());
            }
            None => self.check_neutral()?,
            Some(false) => {}
        }
        self.step(State::Begin);
        Ok(())
    }

    pub(super) fn question(&mut self) -> Result<(), Fault> {
        let next = self.byte(self.at + 1);
        let is_word = is_word_byte(next) && next < 0x80 && is_word_byte(self.byte(self.at + 2));
        let begins = match self.begins_literal(next) {
            _ if next.is_ascii_whitespace() || is_word => Some(false),
            None if is_word_byte(next) => Some(false),
            begins => begins,
        };
        match begins {
            None => Err(Fault {
                why: "has a `?` that may ask or begin a character",
                at: self.at,
            }),
            Some(false) => {
                self.step(State::Begin);
                Ok(())
            }
            Some(true) => {
                let mut end = self.at + 2;
                if next == b'\\' {
                    // `?\C-\M-x`, `?\u{1F600}`, `?\x41`
                    loop {
                        let rest = &self.source[end.min(self.source.len())..];
                        match rest {
                            [b'C' | b'M', b'-', b'\\', ..] => end += 3,
                            [b'C' | b'M', b'-', ..] => break end += 3,
                            [b'c', b'\\', ..] => end += 2,
                            [b'c', ..] => break end += 2,
                            [b'u', b'{', ..] => {
                                break end += rest.iter().take(64).position(|b| *b == b'}').unwrap_or(1) + 1;
                            }
                            _ => break end += 1,
                        }
                    }
                }
                while self.source.get(end).is_some_and(|b| is_word_byte(*b)) {
                    end += 1;
                }
                self.hide(end.min(self.source.len()));
                self.state = State::End;
                Ok(())
            }
        }
    }

    pub(super) fn shift(&mut self) -> Result<(), Fault> {
        let Some(heredoc) = self.heredoc() else {
            self.at += 1;
            self.step(State::Begin);
            return Ok(());
        };
        let begins = match self.begins_literal(self.byte(self.at + 2)) {
            None if self.has_line(heredoc) => {
                return Err(Fault {
                    why: "has a `<<` that may shift or begin a heredoc",
                    at: self.at,
                });
            }
            None => false,
            // After a name Ruby takes it for a heredoc and refuses the file if that does not end; the
            // name may be a variable that was not seen here.
            Some(true) if self.state != State::Begin => self.has_line(heredoc),
            Some(begins) => begins,
        };
        if !begins {
            self.at += 1;
            self.step(State::Begin);
            return Ok(());
        }
        let start = self.at;
        self.hide(heredoc.mark_end);
        self.out[start] = b'"';
        self.out[heredoc.mark_end - 1] = b'"';
        self.pending.push(heredoc);
        self.state = State::End;
        Ok(())
    }

    /// Opens a literal whose opening takes `length` bytes.
    pub(super) fn open(&mut self, length: usize, delimiter: u8, may_have_code: bool, is_regex: bool) {
        let start = self.at;
        let (open, close) = match delimiter {
            b'(' => (b'(', b')'),
            b'[' => (b'[', b']'),
            b'{' => (b'{', b'}'),
            b'<' => (b'<', b'>'),
            other => (0, other),
        };
        self.hide(start + length);
        self.out[start] = b'"';
        self.frames.push(Frame::Literal(Literal {
            start,
            open,
            close,
            depth: 0,
            has_code: false,
            may_have_code,
            is_regex,
        }));
    }

    /// The text of a literal up to its end, its next code, or the body of a heredoc.
    pub(super) fn text(&mut self, mut literal: Literal) -> Result<(), Fault> {
        while let Some(&byte) = self.source.get(self.at) {
            match byte {
                b'\\' => {
                    let is_break = newline_length(&self.source[self.at + 1..]) > 0;
                    let length = if is_break { 1 } else { 2 };
                    self.hide((self.at + length).min(self.source.len()));
                }
                b'#' if literal.may_have_code && self.byte(self.at + 1) == b'{' => {
                    literal.has_code = true;
                    self.out[literal.start] = OPEN;
                    self.put(literal);
                    self.enter();
                    return Ok(());
                }
                _ if byte == literal.close && literal.depth == 0 => {
                    self.out[self.at] = if literal.has_code { CLOSE } else { b'"' };
                    self.at += 1;
                    if literal.is_regex {
                        let end = self.at
                            + self.source[self.at..]
                                .iter()
                                .take_while(|b| b.is_ascii_lowercase())
                                .count();
                        self.hide(end);
                    }
                    self.frames.pop();
                    self.state = State::End;
                    return Ok(());
                }
                b'\n' => {
                    if !self.pending.is_empty() {
                        self.put(literal);
                        self.line_break();
                        return Ok(());
                    }
                    self.at += 1;
                }
                _ => {
                    if byte == literal.close {
                        literal.depth -= 1;
                    } else if byte == literal.open && literal.open != 0 {
                        literal.depth += 1;
                    }
                    self.out[self.at] = HIDDEN;
                    self.at += 1;
                }
            }
        }
        Err(unended(literal.start))
    }

    pub(super) fn put(&mut self, literal: Literal) {
        if let Some(frame) = self.frames.last_mut() {
            *frame = Frame::Literal(literal);
        }
    }

    /// Into the code of a `#{`.
    pub(super) fn enter(&mut self) {
        self.out[self.at] = HIDDEN;
        self.at += 1;
        self.frames.push(Frame::Code);
        self.step(State::Begin);
    }
}

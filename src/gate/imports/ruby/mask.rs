//! The mask of a Ruby file: comments become spaces, literals take the form that
//! [`super::super::literal_cursor`] reads, line breaks stay. Code in `#{}` stays visible.
//!
//! Whether `/`, `%`, `<<` and `?` begin a literal depends on what stands before, as in Ruby's own
//! lexer: after a value they do not, after an operator they do, after the name of a method they do
//! with a blank before and none behind. A name that may be a local variable (it was assigned, was a
//! parameter, or stood where it could be one) is a value in one scope and a method in another; scopes
//! are not followed, so there the file is a fault unless both readings come to the same.

use std::collections::HashSet;

use super::super::literal_cursor::{CLOSE, JOIN, OPEN, is_word_byte};
use super::super::source::{Fault, byte_order_mark};
use super::super::token::{HIDDEN, newline_length};
use super::heredoc::Heredoc;
use super::words::{After, after_keyword};

/// What may follow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum State {
    /// An expression begins.
    Begin,
    /// A value has ended.
    End,
    /// After a name that may be a method's; its place, if it may be a local variable's as well.
    Name(Option<(usize, usize)>),
    /// After `def`, `undef` and `alias` comes a name, which may be an operator.
    Defines,
    /// After the first name of `alias`, likewise.
    Aliases,
    /// After `.` or `::`, likewise.
    Dot,
    /// After `class`, where `<<` opens a singleton.
    Class,
}

#[derive(Clone, Copy)]
pub(super) struct Literal {
    pub(super) start: usize,
    /// The bracket that nests, 0 for other delimiters.
    pub(super) open: u8,
    pub(super) close: u8,
    pub(super) depth: usize,
    pub(super) has_code: bool,
    pub(super) may_have_code: bool,
    pub(super) is_regex: bool,
}

#[derive(Clone, Copy)]
pub(super) enum Frame {
    Brace,
    /// `#{`; the literal it stands in is the frame below.
    Code,
    Literal(Literal),
    Heredoc(Heredoc),
}

pub(super) struct Lexer<'a> {
    pub(super) source: &'a [u8],
    pub(super) out: Vec<u8>,
    pub(super) at: usize,
    pub(super) frames: Vec<Frame>,
    pub(super) state: State,
    /// Whose bodies begin after this line.
    pub(super) pending: Vec<Heredoc>,
    /// Whether a heredoc's line begins, so that it may be the last one.
    pub(super) begins_line: bool,
    /// Names that may be local variables.
    locals: HashSet<&'a [u8]>,
    /// Lines without their indentation, for heredocs that may be none.
    pub(super) lines: Option<HashSet<&'a [u8]>>,
}

/// Masks the file. The result has the length of the source.
pub fn mask(source: &[u8]) -> Result<Vec<u8>, Fault> {
    let mark = byte_order_mark(source);
    let mut lexer = Lexer {
        source,
        out: source.to_vec(),
        at: mark,
        frames: Vec::new(),
        state: State::Begin,
        pending: Vec::new(),
        begins_line: false,
        locals: HashSet::new(),
        lines: None,
    };
    lexer.out[..mark].fill(b' ');
    lexer.run()?;
    Ok(lexer.out)
}

impl<'a> Lexer<'a> {
    fn run(&mut self) -> Result<(), Fault> {
        loop {
            match self.frames.last().copied() {
                Some(Frame::Literal(literal)) => self.text(literal)?,
                Some(Frame::Heredoc(heredoc)) => self.body(heredoc)?,
                _ => {
                    let Some(&byte) = self.source.get(self.at) else { break };
                    // The end of the script for Ruby as well.
                    if matches!(byte, 0x04 | 0x1A) || self.is_end_line(byte) {
                        self.blank(self.source.len());
                        break;
                    }
                    self.code(byte)?;
                }
            }
        }
        let open = self.frames.iter().rev().find_map(|frame| match frame {
            Frame::Literal(literal) => Some(literal.start),
            Frame::Heredoc(heredoc) => Some(heredoc.start),
            _ => None,
        });
        match open.or(self.pending.first().map(|heredoc| heredoc.start)) {
            Some(at) => Err(unended(at)),
            None => Ok(()),
        }
    }

    pub(super) fn byte(&self, at: usize) -> u8 {
        self.source.get(at).copied().unwrap_or(b'\n')
    }

    fn is_line_start(&self) -> bool {
        self.at == 0 || self.source[self.at - 1] == b'\n' || self.at == byte_order_mark(self.source)
    }

    fn is_end_line(&self, byte: u8) -> bool {
        byte == b'_'
            && self.is_line_start()
            && self.source[self.at..].starts_with(b"__END__")
            && (self.at + 7 == self.source.len() || newline_length(&self.source[self.at + 7..]) > 0)
    }

    /// Blanks what lies before `end`, but for line breaks.
    fn blank(&mut self, end: usize) {
        self.fill(end, b' ');
    }

    /// Hides what lies before `end`, but for line breaks.
    pub(super) fn hide(&mut self, end: usize) {
        self.fill(end, HIDDEN);
    }

    fn fill(&mut self, end: usize, with: u8) {
        for byte in &mut self.out[self.at..end] {
            if *byte != b'\n' {
                *byte = with;
            }
        }
        self.at = end;
    }

    /// Steps over a line break; the bodies of heredocs come first.
    pub(super) fn line_break(&mut self) {
        self.at += 1;
        self.begins_line = true;
        // The first of the line lies on top.
        while let Some(heredoc) = self.pending.pop() {
            self.frames.push(Frame::Heredoc(heredoc));
        }
    }

    fn code(&mut self, byte: u8) -> Result<(), Fault> {
        match byte {
            b'\n' => {
                if !matches!(self.state, State::Defines | State::Aliases | State::Dot) {
                    self.state = State::Begin;
                }
                self.line_break();
            }
            b' ' | b'\t' | b'\r' | 0x0B | 0x0C => self.at += 1,
            b'#' => {
                let rest = &self.source[self.at..];
                let length = rest.iter().position(|b| *b == b'\n').unwrap_or(rest.len());
                self.blank(self.at + length);
            }
            b'\\' => {
                self.at += 1;
                if newline_length(&self.source[self.at..]) > 0 {
                    self.out[self.at - 1] = JOIN;
                    self.at += newline_length(&self.source[self.at..]) - 1;
                    if self.byte(self.at) == b'\n' {
                        // Blank as well: the statement goes on.
                        self.line_break();
                    }
                }
            }
            b'=' if self.is_line_start() && self.is_mark(b"=begin") => self.document()?,
            b'"' | b'`' | b'\'' | b'/' | b'%' | b'<' | b'?' | b'[' | b'=' | b'!' | b'*' | b'+' | b'-' | b'~' | b'^'
            | b'&' | b'|' | b'>'
                if matches!(self.state, State::Defines | State::Aliases | State::Dot)
                    && !matches!(byte, b'"' | b'\'') =>
            {
                self.operator_name();
            }
            b'"' | b'`' => self.open(1, byte, true, false),
            b'\'' => self.open(1, byte, false, false),
            b'/' => self.slash()?,
            b'%' => self.percent()?,
            b'<' if self.source[self.at..].starts_with(b"<<") => self.shift()?,
            b'?' => self.question()?,
            b':' => self.colon(),
            b'$' => self.global(),
            b'@' => {
                let end = self.at + 1 + usize::from(self.byte(self.at + 1) == b'@');
                self.at = self.word_end(end);
                self.state = State::End;
            }
            b'0'..=b'9' => self.number(),
            b'{' => {
                self.frames.push(Frame::Brace);
                self.step(State::Begin);
            }
            b'}' => {
                let frame = self.frames.pop();
                self.step(State::End);
                if matches!(frame, Some(Frame::Code)) {
                    self.begins_line = false;
                }
            }
            b')' | b']' => self.step(State::End),
            b'.' if self.byte(self.at + 1) == b'.' => {
                self.at += 1;
                self.step(State::Begin);
            }
            b'.' => self.step(State::Dot),
            _ if is_word_byte(byte) => self.word(),
            HIDDEN | OPEN | CLOSE => {
                self.out[self.at] = b' ';
                self.at += 1;
            }
            _ => self.step(State::Begin),
        }
        Ok(())
    }

    pub(super) fn step(&mut self, state: State) {
        self.at += 1;
        self.state = state;
    }

    /// Whether the line begins with this word.
    fn is_mark(&self, mark: &[u8]) -> bool {
        self.source[self.at..].starts_with(mark) && self.byte(self.at + mark.len()).is_ascii_whitespace()
    }

    /// `=begin` to `=end`
    fn document(&mut self) -> Result<(), Fault> {
        let start = self.at;
        loop {
            let rest = &self.source[self.at..];
            let Some(length) = rest.iter().position(|b| *b == b'\n') else {
                return Err(Fault {
                    why: "has a `=begin` without `=end`",
                    at: start,
                });
            };
            self.blank(self.at + length + 1);
            if self.is_mark(b"=end") {
                let rest = &self.source[self.at..];
                let length = rest.iter().position(|b| *b == b'\n').unwrap_or(rest.len());
                self.blank(self.at + length);
                self.state = State::Begin;
                return Ok(());
            }
        }
    }

    fn colon(&mut self) {
        let next = self.byte(self.at + 1);
        if next == b':' {
            self.at += 1;
            self.step(State::Dot);
        } else if self.state == State::End || next.is_ascii_whitespace() || matches!(next, b'"' | b'\'') {
            self.step(State::Begin);
        } else {
            self.at += 1;
            if is_word_byte(next) {
                self.at = self.word_end(self.at);
                if matches!(self.byte(self.at), b'?' | b'!') && self.byte(self.at + 1) != b'=' {
                    self.at += 1;
                }
                self.state = State::End;
            } else if !matches!(next, b'@' | b'$') {
                self.operator_name();
                self.state = State::End;
            }
        }
    }

    /// `$x`, `$1`, `$"`, `$-w`
    fn global(&mut self) {
        self.at += 1;
        let next = self.byte(self.at);
        if is_word_byte(next) {
            self.at = self.word_end(self.at);
        } else if !next.is_ascii_whitespace() {
            let length = if next == b'-' { 2 } else { 1 };
            self.hide((self.at + length).min(self.source.len()));
        }
        self.state = State::End;
    }

    fn number(&mut self) {
        loop {
            self.at = self.word_end(self.at);
            if self.byte(self.at) == b'.' && self.byte(self.at + 1).is_ascii_digit() {
                self.at += 1;
            } else {
                break;
            }
        }
        self.state = State::End;
    }

    /// An operator as the name of a method; what stands for it in the mask is nothing.
    fn operator_name(&mut self) {
        const NAMES: [&[u8]; 14] = [
            b"[]=", b"<=>", b"===", b"[]", b"**", b"==", b"=~", b"!=", b"!~", b"<<", b">>", b"<=", b">=", b"+@",
        ];
        let rest = &self.source[self.at..];
        let length = NAMES
            .iter()
            .find(|name| rest.starts_with(name))
            .map_or(1, |name| name.len());
        let end = (self.at + length).min(self.source.len());
        self.hide(end);
        self.named();
    }

    /// After a name that is no variable's.
    fn named(&mut self) {
        self.state = match self.state {
            State::Defines => State::End,
            State::Aliases => State::Defines,
            _ => State::Name(None),
        };
    }

    fn word_end(&self, at: usize) -> usize {
        at + self.source[at..].iter().take_while(|b| is_word_byte(**b)).count()
    }

    fn word(&mut self) {
        let start = self.at;
        let mut end = self.word_end(start);
        let next = self.byte(end);
        if matches!(next, b'?' | b'!') && self.byte(end + 1) != b'=' {
            end += 1;
        }
        self.at = end;
        let name = &self.source[start..end];
        if matches!(self.state, State::Dot | State::Defines | State::Aliases) {
            self.named();
            return;
        }
        if self.byte(end) == b':' && self.byte(end + 1) != b':' {
            // A label, or the second part of a condition.
            self.locals.insert(name);
            self.step(State::Begin);
            return;
        }
        self.state = match after_keyword(name) {
            Some(After::Begin) => State::Begin,
            Some(After::End) => State::End,
            Some(After::Argument) => State::Name(None),
            Some(After::Name) => State::Defines,
            Some(After::TwoNames) => State::Aliases,
            Some(After::Class) => State::Class,
            None => {
                if self.may_become_local(start, end) {
                    self.locals.insert(name);
                }
                State::Name(Some((start, end)))
            }
        };
    }

    pub(super) fn may_be_local(&self, name: &[u8]) -> bool {
        // Parameters of blocks that are not written.
        let implicit = matches!(name, b"it" | [b'_', b'1'..=b'9']);
        implicit || self.locals.contains(name)
    }

    /// Whether the name is assigned, a parameter, or could be one.
    fn may_become_local(&self, start: usize, end: usize) -> bool {
        if self.source[start].is_ascii_uppercase() {
            return false;
        }
        let blanks = self.source[end..]
            .iter()
            .take_while(|b| matches!(b, b' ' | b'\t'))
            .count();
        let rest = &self.source[end + blanks..];
        let before = self.source[..start]
            .iter()
            .rev()
            .take(64)
            .find(|b| !matches!(b, b' ' | b'\t'));
        match rest {
            [b'=', b'=' | b'~', ..] => false,
            [b'=' | b',' | b'|' | b')' | b'}' | b']', ..] => true,
            [b'i', b'n', b' ' | b'\t' | b'\n' | b'[' | b'(', ..] => true,
            [b'*' | b'+' | b'-' | b'/' | b'%' | b'&' | b'^', b'=', ..] => true,
            [b'*' | b'&' | b'<' | b'>', b'*' | b'&' | b'<' | b'>', b'=', ..] => true,
            // The last parameter, what `rescue => e` and `->x {` name.
            [b'\n' | b'\r' | b';' | b'{', ..] | [b'd', b'o', ..] | [b't', b'h', b'e', b'n', ..] => {
                before.is_some_and(|b| matches!(b, b',' | b'(' | b'*' | b'&' | b'>' | b'|'))
            }
            _ => false,
        }
    }
}

pub(super) fn unended(at: usize) -> Fault {
    Fault {
        why: "has a string, pattern or heredoc that never ends",
        at,
    }
}

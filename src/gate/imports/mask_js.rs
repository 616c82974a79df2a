//! The mask of a JavaScript or TypeScript file: comments become spaces; the bodies of strings,
//! templates and regular expressions and everything of JSX but its `{expressions}` become
//! [`HIDDEN`]; line breaks stay, Unicode blanks become plain ones.
//!
//! Whether `/` divides or begins a regular expression, and whether `<` compares or begins an
//! element, follows from the token before it. Where a `/` stays unsure and it matters, the file is
//! refused rather than guessed at.

use std::collections::HashMap;

use super::Language;
use super::source::{Fault, byte_order_mark};
use super::token::{HIDDEN, is_word_byte, unicode_blank, word_end};

/// Whether `<` may begin an element. The ending of the file does not decide it here: a caller
/// reads both ways and takes what each finds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Elements {
    /// .tsx, .jsx, .js
    Jsx,
    /// .ts: `<T>x` is a type assertion.
    None,
}

/// A masked file.
#[derive(Debug)]
pub struct Masked {
    /// As long as the source.
    pub mask: Vec<u8>,
    /// Whether an element was seen.
    pub has_elements: bool,
}

/// Whether `<!--` and, where a line begins, `-->` begin a comment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Html {
    /// A script.
    Comments,
    /// A module.
    Operators,
}

/// What a `/` after the token before would be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Slash {
    Regex,
    Division,
    Unsure,
}

#[derive(Clone, Copy, Debug)]
pub(super) enum Frame {
    /// `(`, with what a `/` after its `)` is, and whether it is the head of a `for`.
    Paren { after: Slash, is_for: bool },
    /// `[`
    Square,
    /// `{`, with what a `/` after its `}` is.
    Brace { after: Slash },
    /// `${` of a template.
    Hole { start: usize },
    /// `{` in JSX.
    Expression { start: usize },
    /// Inside `<name ...`.
    Tag { start: usize, name: (usize, usize) },
    /// Between `<name>` and `</name>`.
    Children { start: usize, name: (usize, usize) },
}

pub(super) struct Lexer<'a> {
    pub(super) source: &'a [u8],
    pub(super) out: Vec<u8>,
    pub(super) at: usize,
    pub(super) frames: Vec<Frame>,
    /// What a `/` would be here.
    pub(super) slash: Slash,
    /// Last byte of the token before; 0 at the beginning, `*` for a spread, `a` for an element.
    pub(super) last: u8,
    /// The word before, where the token before is one that is no property name.
    word: Option<(usize, usize)>,
    /// Whether a line break came after the token before.
    pub(super) broke_line: bool,
    /// Depths at which the body of a function or class expression is still to come.
    pub(super) expressions: Vec<usize>,
    elements: Elements,
    html: Html,
    /// Whether nothing but blanks and comments came since the line began.
    line_begins: bool,
    pub(super) has_elements: bool,
    /// Where `</name` occurs last, by name.
    pub(super) closers: Option<HashMap<&'a [u8], usize>>,
    /// Bytes that looking ahead may still read, so that it stays linear.
    pub(super) budget: usize,
}

/// Masks the file. The result has the length of the source.
pub fn mask(source: &[u8], elements: Elements, html: Html) -> Result<Masked, Fault> {
    let mut lexer = Lexer {
        source,
        out: source.to_vec(),
        at: byte_order_mark(source),
        frames: Vec::new(),
        slash: Slash::Regex,
        last: 0,
        word: None,
        broke_line: false,
        expressions: Vec::new(),
        elements,
        html,
        line_begins: true,
        has_elements: false,
        closers: None,
        budget: source.len().saturating_mul(4).saturating_add(4096),
    };
    lexer.out[..lexer.at].fill(b' ');
    if source[lexer.at..].starts_with(b"#!") {
        lexer.line_comment();
    }
    while lexer.at < source.len() {
        match lexer.frames.last() {
            Some(&Frame::Tag { start, name }) => lexer.tag(start, name)?,
            Some(&Frame::Children { start, name }) => lexer.children(start, name)?,
            _ => lexer.code()?,
        }
    }
    let open = lexer.frames.iter().find_map(|frame| match frame {
        Frame::Hole { start } => Some((*start, "has a template that never ends")),
        Frame::Tag { start, .. } | Frame::Children { start, .. } | Frame::Expression { start } => {
            Some((*start, "has a JSX element that never ends"))
        }
        _ => None,
    });
    match open {
        Some((at, why)) => Err(Fault { why, at }),
        None => Ok(Masked {
            mask: lexer.out,
            has_elements: lexer.has_elements,
        }),
    }
}

impl Lexer<'_> {
    pub(super) fn rest(&self) -> &[u8] {
        &self.source[self.at..]
    }

    fn code(&mut self) -> Result<(), Fault> {
        let source = self.source;
        let byte = loop {
            match source.get(self.at) {
                None => return Ok(()),
                Some(b' ' | b'\t' | 0x0B | 0x0C) => self.at += 1,
                Some(b'\n' | b'\r') => {
                    self.break_line();
                    self.at += 1;
                }
                Some(byte) => break *byte,
            }
        };
        if byte.is_ascii_alphabetic() {
            self.word();
            return Ok(());
        }
        if self.html == Html::Comments
            && (self.rest().starts_with(b"<!--") || (self.line_begins && self.rest().starts_with(b"-->")))
        {
            self.line_comment();
            return Ok(());
        }
        match byte {
            HIDDEN => {
                self.out[self.at] = b' ';
                self.at += 1;
            }
            b'"' | b'\'' => self.string(byte)?,
            b'`' => {
                self.at += 1;
                self.template(self.at - 1)?;
            }
            b'/' => self.slash()?,
            b'<' if self.elements == Elements::Jsx && self.begins_element()? => self.open_element()?,
            b'(' | b'[' | b'{' => self.open(byte),
            b')' | b']' => self.close(byte),
            b'}' => self.close_brace()?,
            0x80.. if self.blank() => {}
            _ if is_word_byte(byte) || byte == b'\\' => self.word(),
            _ => self.operator(byte),
        }
        Ok(())
    }

    /// Turns a Unicode blank into plain ones; false if there is none.
    pub(super) fn blank(&mut self) -> bool {
        let length = unicode_blank(self.rest(), Language::JavaScript);
        if matches!(self.rest(), [0xE2, 0x80, 0xA8 | 0xA9, ..]) {
            self.break_line();
        }
        self.out[self.at..self.at + length].fill(b' ');
        self.at += length;
        length > 0
    }

    pub(super) fn break_line(&mut self) {
        self.broke_line = true;
        self.line_begins = true;
    }

    /// Notes a token that ended at the current position.
    pub(super) fn token(&mut self, last: u8, slash: Slash) {
        self.last = last;
        self.slash = slash;
        self.word = None;
        self.broke_line = false;
        self.line_begins = false;
    }

    /// Whether the token before is a word of which this holds.
    pub(super) fn is_word(&self, holds: impl Fn(&[u8]) -> bool) -> bool {
        self.word.is_some_and(|(start, end)| holds(&self.source[start..end]))
    }

    fn word(&mut self) {
        let start = self.at;
        let is_property = self.last == b'.';
        self.at = word_end(self.source, start, Language::JavaScript);
        if self.source[start].is_ascii_digit() {
            // `1.` and `1.5` are one number, and the dot no property access.
            while self
                .rest()
                .first()
                .is_some_and(|b| *b == b'.' || b.is_ascii_alphanumeric())
            {
                self.at += 1;
            }
        }
        let word = &self.source[start..self.at];
        let slash = match word {
            _ if is_property => Slash::Division,
            b"return" | b"typeof" | b"case" | b"do" | b"else" | b"in" | b"instanceof" | b"new" | b"delete"
            | b"void" | b"throw" | b"extends" | b"default" => Slash::Regex,
            b"break" | b"continue" | b"debugger" => Slash::Regex,
            b"yield" | b"await" => Slash::Unsure,
            b"of"
                if matches!(self.frames.last(), Some(Frame::Paren { is_for: true, .. }))
                    && (self.word.is_some() || matches!(self.last, b']' | b'}')) =>
            {
                Slash::Regex
            }
            _ => Slash::Division,
        };
        if matches!(word, b"function" | b"class") && !is_property && !self.begins_statement() {
            self.expressions.push(self.frames.len());
        }
        // `for await (` is the head of a `for` as well.
        let stays_for = word == b"await" && self.is_word(|word| word == b"for");
        let noted = if stays_for { self.word } else { Some((start, self.at)) };
        self.token(b'a', slash);
        self.word = if is_property { None } else { noted };
    }

    fn begins_statement(&self) -> bool {
        match self.last {
            0 | b';' => true,
            b'}' | b')' => self.slash == Slash::Regex,
            b'{' => matches!(self.frames.last(), Some(Frame::Brace { after: Slash::Regex })),
            b'a' => {
                self.broke_line
                    || self.is_word(|word| {
                        matches!(
                            word,
                            b"else" | b"do" | b"export" | b"default" | b"async" | b"declare" | b"abstract"
                        )
                    })
            }
            _ => false,
        }
    }

    pub(super) fn operator(&mut self, byte: u8) {
        let after = self.source.get(self.at + 1).copied();
        self.at += 1;
        match (byte, after) {
            (b'+' | b'-', Some(next)) if next == byte => {
                // `a++ / 2` divides. Where no operand stands before it on the line, as in
                // `++/x/.lastIndex`, an operand follows.
                self.at += 1;
                let slash = if self.broke_line { Slash::Regex } else { self.slash };
                self.token(b'+', slash);
            }
            // `f<string> / 2` has type arguments, in `x > /a/` it compares.
            (b'>', _) if !self.source[..self.at - 1].ends_with(b"=") => self.token(b'>', Slash::Unsure),
            (b'.', Some(b'.')) if self.rest().starts_with(b"..") => {
                self.at += 2;
                self.token(b'*', Slash::Regex);
            }
            // TypeScript's `a! / b`.
            (b'!', next) if self.slash == Slash::Division && !self.broke_line && next != Some(b'=') => {}
            _ => self.token(byte, Slash::Regex),
        }
    }
}

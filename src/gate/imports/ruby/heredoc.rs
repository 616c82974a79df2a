//! Heredocs of Ruby: their marks, and the lines that belong to them.

use std::collections::HashSet;

use super::super::literal_cursor::is_word_byte;
use super::super::source::Fault;
use super::super::token::newline_length;
use super::mask::{Frame, Lexer, unended};

/// A heredoc by the place of its mark.
#[derive(Clone, Copy)]
pub(super) struct Heredoc {
    pub(super) start: usize,
    pub(super) mark_end: usize,
    /// Where its name lies.
    name: (usize, usize),
    /// Whether the last line may be indented.
    is_indented: bool,
    /// Whether it has neither code nor escapes.
    is_raw: bool,
}

impl<'a> Lexer<'a> {
    /// The heredoc whose mark may begin at the `<<` here.
    pub(super) fn heredoc(&self) -> Option<Heredoc> {
        let start = self.at;
        let mut at = start + 2;
        let is_indented = matches!(self.source.get(at), Some(b'-' | b'~'));
        at += usize::from(is_indented);
        let quote = *self.source.get(at)?;
        let (name, mark_end) = if matches!(quote, b'"' | b'\'' | b'`') {
            let rest = &self.source[at + 1..];
            let length = rest.iter().take(256).position(|b| *b == quote || *b == b'\n')?;
            if rest[length] == b'\n' || length == 0 {
                return None;
            }
            ((at + 1, at + 1 + length), at + length + 2)
        } else {
            let length = self.source[at..].iter().take_while(|b| is_word_byte(**b)).count();
            if length == 0 || quote.is_ascii_digit() {
                return None;
            }
            ((at, at + length), at + length)
        };
        Some(Heredoc {
            start,
            mark_end,
            name,
            is_indented,
            is_raw: quote == b'\'',
        })
    }

    /// Whether any line could end it.
    pub(super) fn has_line(&mut self, heredoc: Heredoc) -> bool {
        let source = self.source;
        self.lines
            .get_or_insert_with(|| -> HashSet<&'a [u8]> {
                source.split(|b| *b == b'\n').map(<[u8]>::trim_ascii).collect()
            })
            .contains(source[heredoc.name.0..heredoc.name.1].trim_ascii())
    }

    /// The body up to its last line, its next code, or the body of another heredoc.
    pub(super) fn body(&mut self, heredoc: Heredoc) -> Result<(), Fault> {
        loop {
            if self.begins_line
                && let Some(end) = self.last_line(heredoc)
            {
                self.hide(end);
                self.frames.pop();
                // What lies below may be a heredoc as well, whose line begins here.
                if self.source.get(self.at) == Some(&b'\n') {
                    self.at += 1;
                }
                return Ok(());
            }
            self.begins_line = false;
            let Some(&byte) = self.source.get(self.at) else {
                return Err(unended(heredoc.start));
            };
            match byte {
                b'\n' => {
                    self.line_break();
                    if !matches!(self.frames.last(), Some(Frame::Heredoc(top)) if top.start == heredoc.start) {
                        return Ok(());
                    }
                }
                b'\\' if !heredoc.is_raw => {
                    // A joined line is not the last one.
                    let length = newline_length(&self.source[self.at + 1..]);
                    if length > 0 && self.pending.is_empty() {
                        self.hide(self.at + 1 + length);
                    } else {
                        self.hide((self.at + if length > 0 { 1 } else { 2 }).min(self.source.len()));
                    }
                }
                b'#' if !heredoc.is_raw && self.source.get(self.at + 1) == Some(&b'{') => {
                    self.enter();
                    return Ok(());
                }
                _ => self.hide(self.at + 1),
            }
        }
    }

    /// The end of this line without its line break, if it ends the heredoc.
    fn last_line(&self, heredoc: Heredoc) -> Option<usize> {
        let mut at = self.at;
        if heredoc.is_indented {
            at += self.source[at..]
                .iter()
                .take_while(|b| matches!(b, b' ' | b'\t' | 0x0B | 0x0C | b'\r'))
                .count();
        }
        let name = &self.source[heredoc.name.0..heredoc.name.1];
        if !self.source[at..].starts_with(name) {
            return None;
        }
        let end = at + name.len();
        match &self.source[end..] {
            [] | [b'\n', ..] => Some(end),
            [b'\r', b'\n', ..] => Some(end + 1),
            _ => None,
        }
    }
}

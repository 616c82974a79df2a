//! Elements of JSX: their text is neither code nor string, and an apostrophe in it opens nothing.

use super::Language;
use super::mask_js::{Frame, Lexer, Slash};
use super::source::Fault;
use super::token::{HIDDEN, unicode_blank};

impl Lexer<'_> {
    /// At a `<` that begins an element.
    pub(super) fn open_element(&mut self) -> Result<(), Fault> {
        self.has_elements = true;
        let start = self.at;
        self.at += 1;
        self.blanks_of_tag()?;
        let name = (self.at, name_end(self.source, self.at));
        self.hide(name.1);
        self.frames.push(Frame::Tag { start, name });
        self.blanks_of_tag()?;
        if self.rest().first() == Some(&b'<') && name.0 < name.1 {
            self.type_arguments(start)?;
        }
        Ok(())
    }

    fn blanks_of_tag(&mut self) -> Result<(), Fault> {
        loop {
            let source = self.source;
            match &source[self.at..] {
                [b'/', b'/', ..] => self.line_comment(),
                [b'/', b'*', ..] => self.block_comment()?,
                [byte, ..] if byte.is_ascii_whitespace() => self.at += 1,
                _ if !self.blank() => return Ok(()),
                _ => {}
            }
        }
    }

    /// `<Type<{ a: "b" }>>` after an element's name.
    fn type_arguments(&mut self, start: usize) -> Result<(), Fault> {
        let mut depth = 0usize;
        while let Some(&byte) = self.rest().first() {
            match byte {
                b'<' => depth += 1,
                b'>' if self.source[self.at - 1] != b'=' => depth -= 1,
                b'"' | b'\'' | b'`' => {
                    self.attribute_string(byte)?;
                    continue;
                }
                b'/' if matches!(self.rest().get(1), Some(b'/' | b'*')) => {
                    self.blanks_of_tag()?;
                    continue;
                }
                _ => {}
            }
            self.hide(self.at + 1);
            if depth == 0 {
                return Ok(());
            }
        }
        Err(Fault {
            why: "has a JSX element that never ends",
            at: start,
        })
    }

    /// The `>` that ends an element, at this place.
    fn close_tag(&mut self) -> Result<(), Fault> {
        if self.rest().first() != Some(&b'>') {
            return Err(Fault {
                why: "has a JSX element that cannot be read",
                at: self.at,
            });
        }
        self.hide(self.at + 1);
        self.frames.pop();
        self.end_element();
        Ok(())
    }

    /// One step inside a tag.
    pub(super) fn tag(&mut self, start: usize, name: (usize, usize)) -> Result<(), Fault> {
        self.blanks_of_tag()?;
        match self.rest() {
            [] => Ok(()),
            [b'/', ..] => {
                self.hide(self.at + 1);
                self.blanks_of_tag()?;
                self.close_tag()
            }
            [b'>', ..] => {
                self.hide(self.at + 1);
                self.frames.pop();
                self.frames.push(Frame::Children { start, name });
                Ok(())
            }
            [b'{', ..] => {
                self.expression();
                Ok(())
            }
            [quote @ (b'"' | b'\''), ..] => self.attribute_string(*quote),
            [b'<', ..] => self.open_element(),
            [byte, ..] if super::token::is_word_byte(*byte) || b"=-:.".contains(byte) => {
                self.hide(self.at + 1);
                Ok(())
            }
            _ => Err(Fault {
                why: "has a JSX element that cannot be read",
                at: self.at,
            }),
        }
    }

    /// One step between the tags.
    pub(super) fn children(&mut self, start: usize, name: (usize, usize)) -> Result<(), Fault> {
        let text = memchr::memchr2(b'<', b'{', self.rest()).unwrap_or(self.rest().len());
        self.hide(self.at + text);
        match self.rest() {
            [] => Ok(()),
            [b'{', ..] => {
                self.expression();
                Ok(())
            }
            [b'<', rest @ ..] => {
                let slash = end_of_blanks(self.source, self.source.len() - rest.len())
                    .filter(|at| matches!(self.source[*at..], [b'/', next, ..] if !matches!(next, b'/' | b'*')));
                let Some(slash) = slash else {
                    return self.open_element();
                };
                self.hide(slash + 1);
                self.blanks_of_tag()?;
                let end = name_end(self.source, self.at);
                if self.source[self.at..end] != self.source[name.0..name.1] {
                    return Err(Fault {
                        why: "has a JSX element that another one's end closes",
                        at: start,
                    });
                }
                self.hide(end);
                self.blanks_of_tag()?;
                // The rest of a name, `.b` or `:b`, perhaps with blanks between.
                while let Some(b'.' | b':') = self.rest().first() {
                    self.hide(self.at + 1);
                    self.blanks_of_tag()?;
                    self.hide(name_end(self.source, self.at));
                    self.blanks_of_tag()?;
                }
                self.close_tag()
            }
            _ => Ok(()),
        }
    }

    fn expression(&mut self) {
        self.frames.push(Frame::Expression { start: self.at });
        self.at += 1;
        self.token(b'(', Slash::Regex);
    }

    fn end_element(&mut self) {
        // Kept apart from what follows by a byte that is no blank to a reader of tokens.
        debug_assert_eq!(self.out[self.at - 1], HIDDEN);
        self.token(b'"', Slash::Division);
    }

    /// A string in a tag: without escapes, over any number of lines.
    fn attribute_string(&mut self, quote: u8) -> Result<(), Fault> {
        match self.rest()[1..].iter().position(|b| *b == quote) {
            Some(length) => {
                self.hide(self.at + length + 2);
                Ok(())
            }
            None => Err(Fault {
                why: "has a string that never ends",
                at: self.at,
            }),
        }
    }
}

/// The end of the first part of an element's name: `a` of `a.b` and `a:b`, whose parts may have
/// blanks between them; the start itself if there is none.
pub(super) fn name_end(source: &[u8], start: usize) -> usize {
    let mut at = start.min(source.len());
    while source
        .get(at)
        .is_some_and(|b| super::token::is_word_byte(*b) || *b == b'-')
        && unicode_blank(&source[at..], Language::JavaScript) == 0
    {
        at += 1;
    }
    at
}

/// Offset after blanks, if anything follows.
pub(super) fn end_of_blanks(source: &[u8], mut at: usize) -> Option<usize> {
    loop {
        match source.get(at)? {
            byte if byte.is_ascii_whitespace() => at += 1,
            _ => match unicode_blank(&source[at..], Language::JavaScript) {
                0 => return Some(at),
                length => at += length,
            },
        }
    }
}

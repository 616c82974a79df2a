//! Elements of JSX: their text is neither code nor string, and an apostrophe in it opens nothing.

use std::collections::HashMap;

use super::mask_js::{Frame, Lexer, Slash};
use super::source::Fault;
use super::token::HIDDEN;

/// Words that, after `<`, begin a type and no element.
const TYPE_WORDS: [&[u8]; 9] = [
    b"const",
    b"in",
    b"out",
    b"keyof",
    b"typeof",
    b"readonly",
    b"unique",
    b"infer",
    b"abstract",
];

impl<'a> Lexer<'a> {
    /// Whether the `<` here, where an expression may begin, begins an element. The other readings
    /// are TypeScript's type parameters and type assertions.
    pub(super) fn is_element(&mut self) -> bool {
        let name_start = self.skip_blanks(self.at + 1);
        let name_end = name_end(self.source, name_start);
        let name = &self.source[name_start..name_end];
        if name.is_empty() {
            return self.source.get(name_start) == Some(&b'>') && self.closes_later(b"", name_end);
        }
        if name[0].is_ascii_digit() || TYPE_WORDS.contains(&name) {
            return false;
        }
        let at = self.skip_blanks(name_end);
        match self.source.get(at) {
            Some(b'/') => self.source.get(at + 1) == Some(&b'>'),
            Some(b'{') => true,
            Some(b'<') => self.closes_later(name, at) || self.source[at..].windows(2).take(256).any(|w| w == b"/>"),
            Some(b'>') => self.closes_later(name, at) && !self.is_signature(at + 1),
            Some(byte) if super::token::is_word_byte(*byte) => {
                // `<T extends X>` has type parameters, `<p extends="x">` an attribute.
                let word_end = name_end_of_attribute(self.source, at);
                let after = self.skip_blanks(word_end);
                &self.source[at..word_end] != b"extends" || matches!(self.source.get(after), Some(b'=' | b'>' | b'/'))
            }
            _ => false,
        }
    }

    /// Whether `</name` comes after `at` at all; a type parameter has no such end.
    fn closes_later(&mut self, name: &[u8], at: usize) -> bool {
        let source = self.source;
        let closers = self.closers.get_or_insert_with(|| {
            let mut closers: HashMap<&'a [u8], usize> = HashMap::new();
            for at in source
                .windows(2)
                .enumerate()
                .filter(|(_, w)| *w == b"</")
                .map(|(at, _)| at)
            {
                let start = at + 2 + source[at + 2..].iter().take_while(|b| b.is_ascii_whitespace()).count();
                closers.insert(&source[start..name_end(source, start)], at);
            }
            closers
        });
        closers.get(name).is_some_and(|last| *last >= at)
    }

    /// Whether `(...) =>` follows, or `(...):` where an interface's member may begin: then `<T>`
    /// was a list of type parameters. (`>` may not stand in the text of an element.)
    fn is_signature(&mut self, at: usize) -> bool {
        let mut at = self.skip_blanks(at);
        if self.source.get(at) != Some(&b'(') {
            return false;
        }
        let begins_member = match self.last {
            b';' | b',' | b'}' => true,
            b'{' => matches!(self.frames.last(), Some(Frame::Brace { .. })),
            _ => false,
        };
        let mut depth = 0usize;
        while let Some(&byte) = self.source.get(at) {
            if self.budget == 0 {
                return false;
            }
            self.budget -= 1;
            match byte {
                b'(' | b'[' | b'{' => depth += 1,
                b')' | b']' | b'}' => {
                    depth -= 1;
                    if depth == 0 {
                        break;
                    }
                }
                b'"' | b'\'' | b'`' => {
                    let body = &self.source[at + 1..];
                    let length = body
                        .iter()
                        .take(self.budget)
                        .position(|b| *b == byte || matches!(b, b'\n' | b'\r'));
                    match length {
                        Some(length) if body[length] == byte => {
                            self.budget -= length.min(self.budget);
                            at += length + 1;
                        }
                        _ => return false,
                    }
                }
                b'/' if matches!(self.source.get(at + 1), Some(b'/' | b'*')) => {
                    at = self.skip_blanks(at).max(at + 1);
                    continue;
                }
                _ => {}
            }
            at += 1;
        }
        let after = self.skip_blanks((at + 1).min(self.source.len()));
        let rest = &self.source[after..];
        rest.starts_with(b"=>") || (begins_member && matches!(rest.first(), Some(b':' | b';' | b'}')))
    }

    /// Skips blanks and comments, within the budget.
    fn skip_blanks(&mut self, mut at: usize) -> usize {
        loop {
            let start = at;
            let rest = &self.source[at..];
            if rest.starts_with(b"//") {
                at += rest
                    .iter()
                    .take(self.budget)
                    .take_while(|b| !matches!(b, b'\n' | b'\r'))
                    .count();
            } else if rest.starts_with(b"/*") {
                let end = rest[2..].windows(2).take(self.budget).position(|w| w == b"*/");
                at += end.map_or(rest.len().min(self.budget), |length| length + 4);
            } else {
                at += rest.iter().take_while(|b| b.is_ascii_whitespace()).count();
            }
            self.budget = self.budget.saturating_sub(at - start);
            if at == start {
                return at;
            }
        }
    }

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
            match self.rest() {
                [b'/', b'/', ..] => self.line_comment(),
                [b'/', b'*', ..] => self.block_comment()?,
                [byte, ..] if byte.is_ascii_whitespace() => self.at += 1,
                _ => return Ok(()),
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

    /// One step inside a tag.
    pub(super) fn tag(&mut self, start: usize, name: (usize, usize)) -> Result<(), Fault> {
        self.blanks_of_tag()?;
        match self.rest() {
            [] => Ok(()),
            [b'/', b'>', ..] => {
                self.hide(self.at + 2);
                self.frames.pop();
                self.end_element();
                Ok(())
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
        let text = self.rest().iter().take_while(|b| !matches!(b, b'<' | b'{')).count();
        self.hide(self.at + text);
        match self.rest() {
            [] => Ok(()),
            [b'{', ..] => {
                self.expression();
                Ok(())
            }
            [b'<', rest @ ..] => {
                let blanks = rest.iter().take_while(|b| b.is_ascii_whitespace()).count();
                if rest.get(blanks) != Some(&b'/') {
                    return self.open_element();
                }
                self.hide(self.at + 1 + blanks + 1);
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

/// The end of an element's name: `a`, `a-b`, `a.b`, `a:b`; the start itself if there is none.
fn name_end(source: &[u8], start: usize) -> usize {
    let name = |b: &u8| super::token::is_word_byte(*b) || matches!(b, b'-' | b'.' | b':');
    start + source[start.min(source.len())..].iter().take_while(|b| name(b)).count()
}

fn name_end_of_attribute(source: &[u8], start: usize) -> usize {
    start
        + source[start..]
            .iter()
            .take_while(|b| super::token::is_word_byte(**b) || **b == b'-')
            .count()
}

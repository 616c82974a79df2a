//! Whether a `<` begins an element of JSX.

use std::collections::HashMap;

use super::jsx::{end_of_blanks, name_end};
use super::mask_js::{Frame, Lexer, Slash};
use super::source::{Fault, UNSURE_ELEMENT};

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

/// Stands for every name among the ends of elements.
const ANY: &[u8] = b"/";

impl<'a> Lexer<'a> {
    /// Whether the `<` here begins an element.
    pub(super) fn begins_element(&mut self) -> Result<bool, Fault> {
        // After `let x: T`, `import "x"` and the like a line break ends the statement, and an
        // element may follow; after an operand the `<` compares.
        if (self.slash == Slash::Division && !self.broke_line) || !self.is_element()? {
            return Ok(false);
        }
        if self.slash == Slash::Division || (self.slash == Slash::Unsure && self.last == b'}') {
            return Err(Fault {
                why: UNSURE_ELEMENT,
                at: self.at,
            });
        }
        Ok(true)
    }

    /// Whether the `<` here, where an expression may begin, begins an element. The other readings
    /// are TypeScript's type parameters and type assertions.
    fn is_element(&mut self) -> Result<bool, Fault> {
        let name_start = self.skip_blanks(self.at + 1);
        let name_end = name_end(self.source, name_start);
        let name = &self.source[name_start..name_end];
        if name.is_empty() {
            return Ok(self.source.get(name_start) == Some(&b'>') && self.closes_later(b"", name_end));
        }
        if name[0].is_ascii_digit() {
            return Ok(false);
        }
        let mut at = self.skip_blanks(name_end);
        while let Some(b'.' | b':') = self.source.get(at) {
            let part = self.skip_blanks(at + 1);
            at = self.skip_blanks(self::name_end(self.source, part));
        }
        let is = match self.source.get(at) {
            Some(b'/') => {
                let at = self.skip_blanks(at + 1);
                self.source.get(at) == Some(&b'>')
            }
            Some(b'{') => true,
            Some(b'<') => self.closes_later(name, at) || self.goes_on_after_types(at),
            Some(b'>') => self.closes_later(name, at) && !self.is_signature(at + 1)?,
            Some(byte) if super::token::is_word_byte(*byte) => {
                let word_end = name_end_of_attribute(self.source, at);
                let after = self.skip_blanks(word_end);
                let next = self.source.get(after);
                if TYPE_WORDS.contains(&name) {
                    // `<const T>`, `<keyof X>`, unless an attribute has a value or an end follows.
                    let value = self.skip_blanks((after + 1).min(self.source.len()));
                    (next == Some(&b'=') && matches!(self.source.get(value), Some(b'"' | b'\'' | b'{')))
                        || self.closes_later(name, at)
                } else {
                    // `<T extends X>` has type parameters, `<p extends="x">` an attribute.
                    &self.source[at..word_end] != b"extends" || matches!(next, Some(b'=' | b'>' | b'/'))
                }
            }
            _ => false,
        };
        Ok(is)
    }

    /// Whether `</name` comes after `at` at all; a type parameter has no such end.
    fn closes_later(&mut self, name: &[u8], at: usize) -> bool {
        let source = self.source;
        let closers = self.closers.get_or_insert_with(|| {
            let mut closers: HashMap<&'a [u8], usize> = HashMap::new();
            for at in source.iter().enumerate().filter(|(_, b)| **b == b'<').map(|(at, _)| at) {
                let Some(slash) = end_of_blanks(source, at + 1).filter(|at| source.get(*at) == Some(&b'/')) else {
                    continue;
                };
                match end_of_blanks(source, slash + 1) {
                    // A comment before the name: taken for the end of any element.
                    Some(start) if source.get(start) == Some(&b'/') => {
                        closers.insert(ANY, at);
                    }
                    Some(start) => {
                        closers.insert(&source[start..name_end(source, start)], at);
                    }
                    None => {}
                }
            }
            closers
        });
        [name, ANY]
            .iter()
            .any(|name| closers.get(name).is_some_and(|last| *last >= at))
    }

    /// Whether attributes or the end of an element follow the type arguments that begin here; after a type
    /// assertion's (`<A<B>>x`) comes its `>`.
    fn goes_on_after_types(&mut self, mut at: usize) -> bool {
        let mut depth = 0usize;
        while let Some(&byte) = self.source.get(at) {
            if self.budget == 0 {
                return false;
            }
            self.budget -= 1;
            match byte {
                b'<' => depth += 1,
                b'>' if self.source[at - 1] != b'=' => {
                    depth -= 1;
                    if depth == 0 {
                        break;
                    }
                }
                b'"' | b'\'' | b'`' => {
                    let body = &self.source[at + 1..];
                    let Some(length) = body.iter().take(self.budget).position(|b| *b == byte) else {
                        return false;
                    };
                    self.budget -= length;
                    at += length + 1;
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
        match &self.source[after..] {
            [b'/', rest @ ..] => end_of_blanks(rest, 0).is_some_and(|at| rest[at] == b'>'),
            [byte, ..] => *byte == b'{' || super::token::is_word_byte(*byte),
            [] => false,
        }
    }

    /// Whether `(...) =>` follows, or `(...):` where an interface's member may begin: then `<T>`
    /// was a list of type parameters. (`>` may not stand in the text of an element.)
    fn is_signature(&mut self, at: usize) -> Result<bool, Fault> {
        let mut at = self.skip_blanks(at);
        if self.source.get(at) != Some(&b'(') {
            return Ok(false);
        }
        let begins_member = match self.last {
            b';' | b',' | b'}' => true,
            b'{' => matches!(self.frames.last(), Some(Frame::Brace { .. })),
            _ => false,
        };
        let mut depth = 0usize;
        while let Some(&byte) = self.source.get(at) {
            if self.budget == 0 {
                return Ok(false);
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
                        _ => return Ok(false),
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
        if begins_member && matches!(rest.first(), Some(b':' | b';' | b'}')) {
            // A member of an interface, or a statement that is an element with this text.
            return Err(Fault {
                why: UNSURE_ELEMENT,
                at: self.at,
            });
        }
        Ok(rest.starts_with(b"=>"))
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
                at = end_of_blanks(self.source, at).unwrap_or(self.source.len());
            }
            self.budget = self.budget.saturating_sub(at - start);
            if at == start {
                return at;
            }
        }
    }
}

fn name_end_of_attribute(source: &[u8], start: usize) -> usize {
    start
        + source[start..]
            .iter()
            .take_while(|b| super::token::is_word_byte(**b) || **b == b'-')
            .count()
}

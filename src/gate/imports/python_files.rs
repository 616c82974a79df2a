//! Files that Python runs by their text: `exec(open("x.txt").read())`, `exec(compile(open("x.txt").read(), ...))`.
//!
//! They are imports of kind [`ImportKind::Include`] with the path as it is written. Seen is a literal path in the call
//! itself, and behind a name that the file gave to such a text or opened file (`with open("x") as f: exec(f.read())`),
//! wherever that stands above. Any other text is unknown, as `eval` is.

use std::collections::HashMap;

use super::ImportKind;
use super::arguments::Argument;
use super::python::Scanner;
use super::source::Found;
use super::token::{Cursor, Kind, Token};

/// Tokens of a call that are looked at.
const MAX_TOKENS: usize = 60;
/// Names of opened files of one source.
const MAX_OPENED: usize = 10_000;

/// Names that a file gives to what it opens, with the path and its place.
pub type Opened<'a> = HashMap<&'a [u8], (String, usize)>;

impl<'a> Scanner<'a> {
    /// At `open` or `Path`: `with open("x") as f`, `text = open("x").read()`.
    pub(super) fn opens(&mut self, token: Token) {
        let mut ahead = self.cursor.clone();
        if self.opened.len() >= MAX_OPENED || !ahead.next().is(b'(') {
            return;
        }
        let Argument::Literal { text, at } = self.argument(&mut ahead) else {
            return;
        };
        let name = self.assigned(token).or_else(|| self.named_behind(ahead));
        if let Some(name) = name {
            self.opened.insert(name, (text, at));
        }
    }

    /// The name behind `as`, after the arguments in which the cursor is.
    fn named_behind(&self, mut ahead: Cursor<'a>) -> Option<&'a [u8]> {
        let mut depth = 1;
        for _ in 0..MAX_TOKENS {
            let token = ahead.next();
            match token.kind {
                Kind::Punct(b'(') => depth += 1,
                Kind::Punct(b')') => depth -= 1,
                Kind::Punct(b':') | Kind::End if depth == 0 => return None,
                Kind::Word if depth == 0 && ahead.is_word(token, b"as") => {
                    let name = ahead.next();
                    return (name.kind == Kind::Word).then(|| ahead.bytes(name));
                }
                _ => {}
            }
            if depth == 0 && token.kind == Kind::Newline {
                return None;
            }
        }
        None
    }

    /// At `exec` or `eval`.
    pub(super) fn executes(&mut self, before: Token) {
        let mut ahead = self.cursor.clone();
        // A method of that name is some other object's.
        if before.is(b'.') && !self.mask[..before.start].ends_with(b"builtins") || !ahead.next().is(b'(') {
            return;
        }
        let mut first = true;
        for _ in 0..MAX_TOKENS {
            let token = ahead.next();
            match token.kind {
                Kind::Word if matches!(ahead.bytes(token), b"open" | b"Path") && ahead.peek().is(b'(') => {
                    ahead.next();
                    if let Argument::Literal { text, at } = self.argument(&mut ahead) {
                        self.include(text, at);
                    }
                    return;
                }
                Kind::Word if ahead.bytes(token) == b"compile" => {}
                Kind::Word if first && !ahead.peek().is(b'(') => {
                    if let Some((text, at)) = self.opened.get(ahead.bytes(token)).cloned() {
                        return self.include(text, at);
                    }
                    first = false;
                }
                Kind::Punct(b'(' | b'.') | Kind::Newline => {}
                Kind::Word => first = false,
                _ => return,
            }
        }
    }

    fn include(&mut self, raw: String, at: usize) {
        self.found.push(Found {
            raw,
            identity: Vec::new(),
            kind: ImportKind::Include,
            at,
        });
    }
}

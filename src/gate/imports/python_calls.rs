//! Calls of Python that import what their first argument names.

use super::arguments::Argument;
use super::python::Scanner;
use super::source::Found;
use super::token::{Cursor, HIDDEN, Kind, Token};
use super::{ImportKind, escapes, identity};

impl<'a> Scanner<'a> {
    /// After the name of an importer.
    pub(super) fn call(&mut self) {
        let mut ahead = self.cursor.clone();
        if !ahead.next().is(b'(') {
            return;
        }
        match self.argument(&mut ahead) {
            Argument::Literal { text, at } => {
                let text = match self.package(&mut ahead) {
                    Some(package) if text.starts_with('.') => resolved(&text, &package),
                    _ => text,
                };
                self.push(text, ImportKind::Dynamic, at);
            }
            Argument::Prefix { text, at } => {
                let identity = identity::python_prefix(&text);
                if !identity.is_empty() {
                    self.found.push(Found {
                        raw: text,
                        identity,
                        kind: ImportKind::Dynamic,
                        at,
                    });
                }
                self.opaque(at);
            }
            Argument::Other { at } => self.opaque(at),
            Argument::None => {}
        }
    }

    fn opaque(&mut self, at: usize) {
        self.found.push(Found {
            raw: String::new(),
            identity: Vec::new(),
            kind: ImportKind::Opaque,
            at,
        });
    }

    /// Reads the first argument, leaving the cursor at the `,` or `)` after it.
    fn argument(&self, ahead: &mut Cursor<'a>) -> Argument {
        let mut text: Option<(String, usize)> = None;
        let mut depth = 0usize;
        loop {
            let here = ahead.clone();
            let token = ahead.next();
            match token.kind {
                Kind::Newline => {}
                Kind::Punct(b'(') if text.is_none() => depth += 1,
                Kind::Punct(b')') if depth > 0 => depth -= 1,
                Kind::Punct(b'+') if text.is_some() => {}
                Kind::Punct(b',' | b')') => {
                    *ahead = here;
                    return text.map_or(Argument::None, |(text, at)| Argument::Literal { text, at });
                }
                Kind::Text => {
                    let Some(piece) = self.decoded(token, false) else {
                        return Argument::Other { at: token.start };
                    };
                    text.get_or_insert((String::new(), token.start)).0.push_str(&piece);
                }
                Kind::Word if ahead.peek().is(b'=') && text.is_none() && ahead.is_word(token, b"name") => {
                    ahead.next();
                }
                Kind::Word if ahead.peek().kind == Kind::Text && ahead.peek().start == token.end => {
                    let raw = self.cursor.bytes(token).iter().any(|b| matches!(b, b'r' | b'R'));
                    let literal = ahead.next();
                    let Some(piece) = self.decoded(literal, raw) else {
                        return Argument::Other { at: token.start };
                    };
                    text.get_or_insert((String::new(), token.start)).0.push_str(&piece);
                }
                Kind::Word if self.mask.get(token.end) == Some(&HIDDEN) => {
                    // An f-string with fields: its text up to the first of them.
                    let (mut piece, at) = text.unwrap_or((String::new(), token.start));
                    let body = &self.source[token.end..];
                    let quotes = body.iter().take(3).take_while(|b| **b == body[0]).count();
                    let quotes = if quotes == 3 { 3 } else { 1 };
                    let mask = &self.mask[token.end..];
                    let hole = mask.iter().position(|b| *b == b'{').unwrap_or(quotes).max(quotes);
                    piece.push_str(&String::from_utf8_lossy(&body[quotes..hole]));
                    return Argument::Prefix { text: piece, at };
                }
                _ => {
                    return match text {
                        Some((text, at)) => Argument::Prefix { text, at },
                        None => Argument::Other { at: token.start },
                    };
                }
            }
        }
    }

    fn decoded(&self, token: Token, raw: bool) -> Option<String> {
        let body = &self.source[token.start..token.end];
        let fence = if body.len() >= 6 && body[1] == body[0] && body[2] == body[0] {
            3
        } else {
            1
        };
        escapes::python(&body[fence..body.len() - fence], raw)
    }

    /// The literal package of `import_module(".x", "package")`.
    fn package(&self, ahead: &mut Cursor<'a>) -> Option<String> {
        if !ahead.next().is(b',') {
            return None;
        }
        if ahead.is_word(ahead.peek(), b"package") {
            ahead.next();
            ahead.next();
        }
        match self.argument(ahead) {
            Argument::Literal { text, .. } => Some(text),
            _ => None,
        }
    }
}

/// `..x` in `a.b` is `a.x`.
fn resolved(relative: &str, package: &str) -> String {
    let name = relative.trim_start_matches('.');
    let dots = relative.len() - name.len();
    let mut parents: Vec<&str> = package.split('.').collect();
    parents.truncate(parents.len().saturating_sub(dots - 1));
    if !name.is_empty() {
        parents.push(name);
    }
    parents.join(".")
}

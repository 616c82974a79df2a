//! Calls of Python that import what their first argument names.

use super::arguments::Argument;
use super::python::{IMPORTERS, Scanner};
use super::source::Found;
use super::token::{Cursor, HIDDEN, Kind, Token};
use super::{ImportKind, escapes};

/// Tokens of a call in which a keyword argument is looked for.
const MAX_ARGUMENTS: usize = 200;

impl<'a> Scanner<'a> {
    /// At the name of an importer. Where it is no call, it becomes a value: then nobody can tell
    /// without running the file what calls it, and every literal argument counts as an import.
    pub(super) fn importer(&mut self, token: Token) {
        let mut ahead = self.cursor.clone();
        let open = ahead.next();
        if !open.is(b'(') {
            // `def f(import_module=...)` and `__import__ = hook` give the name away, they do not
            // take it.
            if !open.is(b'=') || ahead.peek().is(b'=') {
                self.escaped.get_or_insert(token.start);
            }
            return;
        }
        let all = ahead.clone();
        if let Some(named) = self.keyword(&ahead, &["name", "modname", "mod_name"]) {
            ahead = named;
        }
        match self.argument(&mut ahead) {
            Argument::Literal { text, at } => {
                let package = self.package(&mut ahead).or_else(|| {
                    let mut named = self.keyword(&all, &["package"])?;
                    match self.argument(&mut named) {
                        Argument::Literal { text, .. } => Some(text),
                        _ => None,
                    }
                });
                let text = match package {
                    Some(package) if text.starts_with('.') => resolved(&text, &package),
                    _ => text,
                };
                self.push(text, ImportKind::Dynamic, at);
            }
            Argument::Prefix { text, at } => {
                if !text.is_empty() {
                    self.push(text, ImportKind::Dynamic, at);
                }
                self.computed(open, at);
            }
            Argument::Other { at } => self.computed(open, at),
            Argument::None => {}
        }
    }

    pub(super) fn computed(&mut self, open: Token, at: usize) {
        self.opaque(at);
        self.computed.get_or_insert((open.start, self.depth + 1));
    }

    /// A string anywhere.
    pub(super) fn literal(&mut self, token: Token, before: [Token; 2]) {
        let prefix = before[0].kind == Kind::Word && before[0].end == token.start;
        let (raw, previous) = match prefix {
            true => {
                let raw = self.cursor.bytes(before[0]).iter().any(|b| matches!(b, b'r' | b'R'));
                (raw, before[1])
            }
            false => (false, before[0]),
        };
        if self.computed.is_some_and(|(open, _)| token.start > open) {
            match self.joined(token, raw) {
                // `redis:Redis` is how an entry point names an object.
                Some(text) => self.push(text.replace(':', "."), ImportKind::Dynamic, token.start),
                None => self.opaque(token.start),
            }
        }
        if matches!(previous.kind, Kind::Punct(b'(' | b',' | b'[' | b'{' | b'=')) {
            self.arguments.push((token, raw));
        }
        if token.end - token.start <= 64
            && self
                .decoded(token, raw)
                .is_some_and(|text| IMPORTERS.contains(&text.as_str()))
            && !previous.is(b'[')
            && matches!(self.cursor.peek().kind, Kind::Punct(b')'))
        {
            // `getattr(importlib, "import_module")`
            self.escaped.get_or_insert(token.start);
        } else if previous.is(b'[') && self.is_subscript(token, previous) {
            self.escaped.get_or_insert(token.start);
        }
    }

    /// `vars(importlib)["import_module"]`
    fn is_subscript(&self, token: Token, open: Token) -> bool {
        let owner = self.mask[..open.start].last().copied().unwrap_or(b' ');
        (super::token::is_word_byte(owner) || matches!(owner, b')' | b']'))
            && self
                .decoded(token, false)
                .is_some_and(|text| IMPORTERS.contains(&text.as_str()))
    }

    /// A literal with those that follow it directly or are added to it.
    fn joined(&self, token: Token, raw: bool) -> Option<String> {
        let mut text = self.decoded(token, raw)?;
        let mut ahead = self.cursor.clone();
        for _ in 0..64 {
            let next = ahead.next();
            match next.kind {
                Kind::Newline => {}
                Kind::Punct(b'+') if ahead.peek().kind == Kind::Text => {}
                Kind::Text => text.push_str(&self.decoded(next, false)?),
                _ => break,
            }
        }
        Some(text)
    }

    /// After the last token.
    pub(super) fn finish(&mut self) {
        let Some(at) = self.escaped else { return };
        self.opaque(at);
        for (token, raw) in std::mem::take(&mut self.arguments) {
            // A dotted path, which has no blank in it.
            if let Some(text) = self.decoded(token, raw)
                && !text.is_empty()
                && !text.contains(char::is_whitespace)
            {
                self.push(text, ImportKind::Dynamic, token.start);
            }
        }
    }

    /// Behind the `=` of the keyword argument that is called so, where the call begins with a keyword argument: any
    /// other call has what it loads in the first place.
    pub(super) fn keyword(&self, arguments: &Cursor<'a>, words: &[&str]) -> Option<Cursor<'a>> {
        let mut ahead = arguments.clone();
        let (mut depth, mut is_first, mut begins) = (0_usize, true, true);
        for _ in 0..MAX_ARGUMENTS {
            let token = ahead.next();
            match token.kind {
                Kind::Newline => continue,
                Kind::End => return None,
                Kind::Word if begins && depth == 0 => {
                    let is_keyword = ahead.peek().is(b'=');
                    if is_first && !is_keyword {
                        return None;
                    }
                    if is_keyword && words.iter().any(|word| ahead.is_word(token, word.as_bytes())) {
                        ahead.next();
                        return Some(ahead);
                    }
                }
                _ if is_first => return None,
                Kind::Punct(b'(' | b'[' | b'{') => depth += 1,
                Kind::Punct(b')' | b']' | b'}') => depth = depth.checked_sub(1)?,
                _ => {}
            }
            is_first = false;
            begins = token.is(b',');
        }
        None
    }

    pub(super) fn opaque(&mut self, at: usize) {
        self.found.push(Found {
            raw: String::new(),
            identity: Vec::new(),
            kind: ImportKind::Opaque,
            at,
        });
    }

    /// Reads the first argument, leaving the cursor at the `,` or `)` after it.
    pub(super) fn argument(&self, ahead: &mut Cursor<'a>) -> Argument {
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
                Kind::Punct(b',') if depth > 0 => {
                    return match text {
                        Some((text, at)) => Argument::Prefix { text, at },
                        None => Argument::Other { at: token.start },
                    };
                }
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

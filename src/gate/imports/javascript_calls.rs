//! Calls of JavaScript that import what their first argument names.

use super::arguments::Argument;
use super::javascript::Scanner;
use super::source::Found;
use super::token::{Cursor, Kind, Token};
use super::{ImportKind, identity};

impl<'a> Scanner<'a> {
    /// After `require` or another name of it.
    pub(super) fn require(&mut self) {
        let mut ahead = self.cursor.clone();
        let next = ahead.peek();
        if next.is(b'.') {
            ahead.next();
            let member = ahead.next();
            if ahead.is_word(member, b"resolve") {
                self.call_at(ahead, ImportKind::Require, false);
            }
            return;
        }
        if next.is(b')') && matches!(self.before[0].kind, Kind::Punct(b'(' | b',')) {
            // `(require)("x")`, `(0, require)("x")`
            ahead.next();
            self.call_at(ahead, ImportKind::Require, false);
            return;
        }
        if self.before[0].is(b'=') && self.before[1].kind == Kind::Word && !next.is(b'(') && !next.is(b'`') {
            self.aliases.insert(self.cursor.bytes(self.before[1]));
            return;
        }
        if !self.is_before(0, &[b"function"]) {
            self.call(ImportKind::Require);
        }
    }

    /// `createRequire(url)("x")`, and the name that `const x = createRequire(url)` gives.
    pub(super) fn create_require(&mut self) {
        let mut ahead = self.cursor.clone();
        if !ahead.peek().is(b'(') || !skip_parentheses(&mut ahead) {
            return;
        }
        if ahead.peek().is(b'(') {
            self.call_at(ahead, ImportKind::Require, true);
            return;
        }
        // `module.createRequire(...)` has its owner between.
        let back = if self.before[0].is(b'.') { 2 } else { 0 };
        if self.before[back].is(b'=') {
            let mut named = self.before.get(back + 1).copied().unwrap_or(Token::NONE);
            if back == 2 {
                // One further back than is remembered: read the name from the mask.
                named = self.cursor.word_before(self.before[2].start);
            }
            if named.kind == Kind::Word && self.cursor.bytes(named) != b"require" {
                self.aliases.insert(self.cursor.bytes(named));
            }
        }
    }

    pub(super) fn mock(&mut self) {
        self.call_at(self.cursor.clone(), ImportKind::Mock, false);
    }

    pub(super) fn call(&mut self, kind: ImportKind) {
        self.call_at(self.cursor.clone(), kind, true);
    }

    /// Reads the argument of a call whose `(` comes next at `ahead`.
    pub(super) fn call_at(&mut self, mut ahead: Cursor<'a>, kind: ImportKind, say_opaque: bool) {
        if ahead.peek().is(b'?') {
            // `require?.("x")`
            ahead.next();
            if !ahead.next().is(b'.') {
                return;
            }
        }
        if ahead.peek().is(b'<') && !skip_angles(&mut ahead) {
            return;
        }
        if !ahead.next().is(b'(') {
            return;
        }
        let is_class = self.is_before(0, &[b"extends"]);
        match self.reader.argument(ahead, is_class) {
            Argument::Literal { text, at } => self.push(text, kind, at),
            Argument::Prefix { text, at } => {
                let identity = identity::javascript_prefix(&text);
                if !identity.is_empty() {
                    self.found.push(Found {
                        raw: text,
                        identity,
                        kind,
                        at,
                    });
                }
                if say_opaque {
                    self.opaque(at);
                }
            }
            Argument::Other { at } if say_opaque => self.opaque(at),
            Argument::Other { .. } | Argument::None => {}
        }
    }
}

/// From `(` past its `)`, if that is near.
fn skip_parentheses(ahead: &mut Cursor) -> bool {
    let mut depth = 0usize;
    for _ in 0..64 {
        match ahead.next().kind {
            Kind::Punct(b'(') => depth += 1,
            Kind::Punct(b')') => {
                depth = depth.saturating_sub(1);
                if depth == 0 {
                    return true;
                }
            }
            Kind::End => return false,
            _ => {}
        }
    }
    false
}

/// From `<` past its `>`, if that is near: the type arguments of a call.
fn skip_angles(ahead: &mut Cursor) -> bool {
    let mut depth = 0usize;
    let mut arrow = false;
    for _ in 0..256 {
        let token = ahead.next();
        match token.kind {
            Kind::Punct(b'<') => depth += 1,
            Kind::Punct(b'>') if !arrow => {
                depth = depth.saturating_sub(1);
                if depth == 0 {
                    return true;
                }
            }
            Kind::Punct(b';') | Kind::End => return false,
            _ => {}
        }
        arrow = token.is(b'=');
    }
    false
}

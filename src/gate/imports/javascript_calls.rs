//! Calls of JavaScript that import what their first argument names.

use super::ImportKind;
use super::arguments::Argument;
use super::javascript::Scanner;
use super::javascript_dirname::beside;
use super::token::{Cursor, Kind, Token};

/// The argument of a call that imports, being no literal: each string in it may be the one.
#[derive(Clone, Copy)]
pub(super) struct Computed {
    /// Offset of the bracket that opens it.
    pub(super) open: usize,
    /// How many brackets are open inside of it.
    pub(super) depth: usize,
    pub(super) kind: ImportKind,
    /// Whether it ends at a comma.
    pub(super) is_first: bool,
}

impl<'a> Scanner<'a> {
    pub(super) fn mock(&mut self) {
        self.call_at(self.cursor.clone(), ImportKind::Mock, false);
    }

    pub(super) fn call(&mut self, kind: ImportKind) {
        self.call_at(self.cursor.clone(), kind, true);
    }

    /// Reads the argument of a call whose `(` comes next at `ahead`.
    pub(super) fn call_at(&mut self, mut ahead: Cursor<'a>, kind: ImportKind, say_opaque: bool) {
        match ahead.peek().kind {
            // `require?.("x")`
            Kind::Punct(b'?') => {
                ahead.next();
                if !ahead.next().is(b'.') {
                    return;
                }
            }
            Kind::Punct(b'!') => {
                ahead.next();
            }
            _ => {}
        }
        if ahead.peek().is(b'<') && !skip_angles(&mut ahead) {
            return;
        }
        let open = ahead.next();
        if !open.is(b'(') {
            return;
        }
        if let Some(beside) = beside(self.reader, ahead.clone()) {
            self.push(beside.path, kind, beside.at);
            if !beside.is_call {
                if say_opaque {
                    self.opaque(beside.at);
                }
                return;
            }
        }
        let is_class = self.is_before(0, &[b"extends"]);
        match self.reader.argument(ahead, is_class) {
            Argument::Literal { text, at } => self.push(text, kind, at),
            Argument::Prefix { text, at } => {
                if !text.is_empty() {
                    self.push(text, kind, at);
                }
                self.computed(open, kind, at, say_opaque);
            }
            Argument::Other { at } => self.computed(open, kind, at, say_opaque),
            Argument::None => {}
        }
    }

    fn computed(&mut self, open: Token, kind: ImportKind, at: usize, say_opaque: bool) {
        if say_opaque {
            self.opaque(at);
        }
        // In `(require)(x)` the first parenthesis is still to close.
        let levels = usize::from(!self.cursor.peek().is(b')'));
        self.enter(open, levels, kind, true);
    }

    /// From the bracket on every string is an import.
    pub(super) fn enter(&mut self, open: Token, levels: usize, kind: ImportKind, is_first: bool) {
        match self.computed {
            // An outer one goes on: its strings are those of the inner one as well.
            Some(outer) if outer.open < open.start => return,
            // One that is still to come, as in `createRequire(require(x))(y)`: its strings are
            // arguments in a file where anything may be `require`.
            Some(_) => self.escapes(open.start),
            None => {}
        }
        self.computed = Some(Computed {
            open: open.start,
            depth: self.depth + levels,
            kind,
            is_first,
        });
    }

    /// After `define` or `requirejs`: `("name", ["a", "b"], ...)`.
    pub(super) fn amd(&mut self) {
        let mut ahead = self.cursor.clone();
        if !ahead.next().is(b'(') {
            return;
        }
        if ahead.peek().kind == Kind::Text {
            ahead.next();
            ahead.next();
        }
        let open = ahead.next();
        if open.is(b'[') {
            self.enter(open, 2, ImportKind::Require, false);
        }
    }
}

/// From `(` past its `)`, if that is near.
pub(super) fn skip_parentheses(ahead: &mut Cursor) -> bool {
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
pub(super) fn skip_angles(ahead: &mut Cursor) -> bool {
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

//! `require` where it is more than the name of a direct call.
//!
//! The rule: where `require`, `createRequire(...)` or `module.require` is used as a value that can
//! be called under another name (an alias, an argument, `.call`, a computed property), nobody can
//! follow it without running the file. Then the file gets one opaque import, and every literal
//! argument of every call and every literal in an array counts as an import too. Guards
//! (`typeof require`, `if (require)`), members (`require.cache`), parameters and assignments that
//! keep the name are no such use. So a false alarm needs both such a use and a call such as
//! `log("redis")` with a forbidden name in the same file.

use super::ImportKind;
use super::javascript::Scanner;
use super::javascript_calls::{skip_angles, skip_parentheses};
use super::token::{Cursor, Kind, Token};

/// Objects whose `require` is the function itself.
const OWNERS: [&[u8]; 11] = [
    b"module",
    b"Module",
    b"globalThis",
    b"global",
    b"window",
    b"self",
    b"mainModule",
    b"main",
    b"meta",
    b"prototype",
    b"parent",
];

impl<'a> Scanner<'a> {
    /// `require` became a value.
    pub(super) fn escapes(&mut self, at: usize) {
        self.escaped.get_or_insert(at);
    }

    /// The token before the dot of a property, `?` and `!` skipped.
    fn owner(&self) -> Token {
        let back = if self.before[1].is(b'?') || self.before[1].is(b'!') {
            2
        } else {
            1
        };
        self.before[back]
    }

    /// `x.require`
    pub(super) fn require_of(&mut self, token: Token) {
        let owner = self.owner();
        if owner.kind == Kind::Word && OWNERS.contains(&self.cursor.bytes(owner)) {
            self.require(token);
        } else if owner.is(b')') || owner.is(b']') {
            // `(module).require("x")`
            self.call(ImportKind::Require);
        } else {
            let next = self.cursor.peek();
            self.has_suspect |= matches!(next.kind, Kind::Punct(b'(' | b'.' | b')' | b',' | b';'));
        }
    }

    /// `x._load`
    pub(super) fn load_of(&mut self) {
        let owner = self.owner();
        let known: [&[u8]; 3] = [b"Module", b"module", b"constructor"];
        if owner.kind == Kind::Word && known.contains(&self.cursor.bytes(owner)) {
            self.call(ImportKind::Require);
        } else {
            self.has_suspect = true;
        }
    }

    /// At `require`, with its owner before it or none.
    pub(super) fn require(&mut self, token: Token) {
        let before = self.before[0];
        if self.is_before(0, &[b"function"]) {
            return;
        }
        let mut ahead = self.cursor.clone();
        let next = ahead.next();
        match next.kind {
            Kind::Punct(b'(') => return self.call(ImportKind::Require),
            Kind::Punct(b'<') => {
                let mut ahead = self.cursor.clone();
                if skip_angles(&mut ahead) && ahead.peek().is(b'(') {
                    return self.call(ImportKind::Require);
                }
            }
            Kind::Punct(b'!') if ahead.peek().is(b'(') => return self.call(ImportKind::Require),
            Kind::Punct(b'!') if ahead.peek().is(b'=') => return,
            Kind::Punct(b'?') if ahead.peek().is(b':') => return,
            Kind::Punct(b'?') if ahead.peek().is(b'.') => {
                ahead.next();
                if ahead.peek().is(b'(') {
                    return self.call(ImportKind::Require);
                }
                return self.member(token, ahead);
            }
            Kind::Punct(b'.') => return self.member(token, ahead),
            // A parameter, an assignment that keeps the name, or a comparison.
            Kind::Punct(b'=') => return,
            Kind::Punct(b':') if !before.is(b'?') => {
                // `const require: NodeRequire = ` and a typed parameter keep the name.
                let is_typed = before.is(b'(') || self.is_before(0, &[b"const", b"let", b"var"]);
                if !is_typed && is_renamed(ahead) {
                    self.escapes(token.start);
                }
                return;
            }
            Kind::Punct(b')') if matches!(before.kind, Kind::Punct(b'(' | b',')) => {
                if ahead.peek().is(b'(') {
                    // `(require)("x")`, `(0, require)("x")`
                    return self.call_at(ahead, ImportKind::Require, true);
                }
                if self.is_before(1, &[b"if", b"while"]) {
                    return;
                }
            }
            _ => {}
        }
        let keeps = self.is_before(0, &[b"typeof", b"var", b"let", b"const", b"declare", b"delete"])
            || before.is(b'!')
            || (before.is(b'=') && matches!(self.before[1].kind, Kind::Punct(b'=' | b'!')))
            || (matches!(before.kind, Kind::Punct(b'(' | b',' | b'{'))
                && matches!(next.kind, Kind::Punct(b',' | b')' | b'}'))
                && self.is_declared(self.cursor.clone()));
        if !keeps {
            self.escapes(token.start);
        }
    }

    /// After `require.`
    fn member(&mut self, token: Token, mut ahead: Cursor<'a>) {
        let member = ahead.next();
        if ahead.is_word(member, b"resolve") || ahead.is_word(member, b"resolveWeak") {
            self.call_at(ahead, ImportKind::Require, false);
        } else if ahead.is_word(member, b"context") {
            self.context(ahead);
        } else if ahead.is_word(member, b"ensure") {
            self.ensured(ahead);
        } else if [&b"call"[..], b"apply", b"bind"].contains(&ahead.bytes(member)) || member.is(b'[') {
            self.escapes(token.start);
        }
    }

    /// Whether the list of names that goes on here declares them: parameters before a body,
    /// `{ require } = x`.
    fn is_declared(&self, mut ahead: Cursor<'a>) -> bool {
        let mut depth = 0usize;
        for _ in 0..64 {
            let token = ahead.next();
            match token.kind {
                Kind::Punct(b'(' | b'[' | b'{') => depth += 1,
                Kind::Punct(b')' | b']' | b'}') if depth > 0 => depth -= 1,
                Kind::Punct(b')') => {
                    let body = ahead.next();
                    let between = &self.reader.source[token.end..body.start];
                    return match body.kind {
                        // On a line of its own the `{` begins a block.
                        Kind::Punct(b'{') => !between.iter().any(|b| matches!(b, b'\n' | b'\r' | 0xE2)),
                        Kind::Punct(b'=') => ahead.next().is(b'>'),
                        Kind::Punct(b':') => true,
                        _ => false,
                    };
                }
                Kind::Punct(b'}') => return ahead.next().is(b'=') && !ahead.peek().is(b'='),
                Kind::Punct(b']') | Kind::End => return false,
                _ => {}
            }
        }
        false
    }

    /// At `createRequire`.
    pub(super) fn create_require(&mut self, token: Token) {
        if self.is_before(0, &[b"function"]) {
            return;
        }
        let mut ahead = self.cursor.clone();
        let next = ahead.next();
        match next.kind {
            Kind::Punct(b'(') => {}
            Kind::Punct(b':') if !is_renamed(ahead.clone()) => return,
            Kind::Punct(b',' | b'}') if matches!(self.before[0].kind, Kind::Punct(b'{' | b',')) => return,
            Kind::Punct(b'=') => return,
            _ if self.is_before(0, &[b"typeof"]) => return,
            _ => return self.escapes(token.start),
        }
        let mut ahead = self.cursor.clone();
        if !skip_parentheses(&mut ahead) {
            return self.escapes(token.start);
        }
        match ahead.peek().kind {
            Kind::Punct(b'(') => self.call_at(ahead, ImportKind::Require, true),
            Kind::Punct(b'.') => {
                ahead.next();
                self.member(token, ahead);
            }
            _ if self.is_for_require() => {}
            _ => self.escapes(token.start),
        }
    }

    /// Whether `const require = `, `require: NodeRequire = ` stands before `createRequire` and its
    /// owner.
    fn is_for_require(&self) -> bool {
        let mut tokens = self.before.iter();
        if self.before[0].is(b'.') {
            tokens.nth(1);
        }
        tokens.next().is_some_and(|token| token.is(b'='))
            && tokens
                .take_while(|token| matches!(token.kind, Kind::Word | Kind::Punct(b'.' | b':')))
                .any(|token| self.cursor.is_word(token, b"require"))
    }

    /// `{ createRequire as r }` hides `require` behind another name.
    pub(super) fn renames(&mut self, mut names: Cursor<'a>) {
        loop {
            let token = names.next();
            match token.kind {
                Kind::Punct(b'}') | Kind::End => return,
                Kind::Word | Kind::Text if names.is_word(names.peek(), b"as") => {
                    let bytes = names.bytes(token);
                    let written = match token.kind {
                        Kind::Text => self.reader.text(token),
                        _ if bytes.contains(&b'\\') => self.reader.name(bytes),
                        _ => None,
                    };
                    match written.as_deref().map_or(bytes, str::as_bytes) {
                        b"createRequire" | b"createRequireFromPath" => self.escapes(token.start),
                        // Only of node's own module, see `finish`.
                        b"_load" => self.has_loader_name = true,
                        _ => {}
                    }
                }
                _ => {}
            }
        }
    }

    /// After the last token.
    pub(super) fn finish(&mut self) {
        let loads = self
            .found
            .iter()
            .any(|import| import.identity.first().is_some_and(|first| first == "module"));
        if (self.has_suspect && (loads || self.has_module_value)) || (self.has_loader_name && loads) {
            // `import M from "module"; M._load("x")`, `const m = module; m.require("x")`,
            // `const { _load } = require("module")`
            self.escapes(0);
        }
        let Some(at) = self.escaped else { return };
        self.opaque(at);
        for token in std::mem::take(&mut self.arguments) {
            // A name of a package has no blank in it.
            if let Some(text) = self.reader.text(token)
                && !text.is_empty()
                && !text.contains(char::is_whitespace)
            {
                self.push(text, ImportKind::Require, token.start);
            }
        }
    }
}

/// After `require:` in a pattern: whether another name takes it.
pub(super) fn is_renamed(mut ahead: Cursor) -> bool {
    let name = ahead.next();
    // Options and their types have such a key as well.
    let values: [&[u8]; 9] = [
        b"true",
        b"false",
        b"null",
        b"undefined",
        b"any",
        b"unknown",
        b"string",
        b"number",
        b"boolean",
    ];
    name.kind == Kind::Word
        && !values.contains(&ahead.bytes(name))
        && matches!(ahead.peek().kind, Kind::Punct(b',' | b'}' | b'='))
}

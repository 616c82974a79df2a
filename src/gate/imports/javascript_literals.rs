//! String literals of JavaScript that may be specifiers although no call of `require` holds them.

use super::ImportKind;
use super::javascript::Scanner;
use super::javascript_require::is_renamed;
use super::token::{Kind, Token};

impl Scanner<'_> {
    /// A string that is no specifier by its place.
    pub(super) fn literal(&mut self, token: Token) {
        if let Some(computed) = self.computed
            && token.start > computed.open
        {
            self.push_run(token, computed.kind);
        }
        let [before, second] = [self.before[0], self.before[1]];
        let is_tag =
            self.cursor.bytes(token).starts_with(b"`") && matches!(before.kind, Kind::Word | Kind::Punct(b')'));
        if !is_tag && !matches!(before.kind, Kind::Punct(b'(' | b',' | b'[' | b'{')) {
            return;
        }
        self.arguments.push(token);
        if token.end - token.start > 64 {
            return;
        }
        let names: [&str; 3] = ["require", "createRequire", "_load"];
        let written = &self.reader.source[token.start..token.end];
        let is_name = |name: &&str| written.get(1..=name.len()) == Some(name.as_bytes());
        if !written.contains(&b'\\') && !names.iter().any(is_name) {
            return;
        }
        let Some(text) = self.reader.text(token).filter(|text| names.contains(&text.as_str())) else {
            return;
        };
        // `module["require"]`, `{ "require": r } = module`, `Reflect.get(module, "require")`,
        // `eval("require")`.
        let is_member = before.is(b'[') && matches!(second.kind, Kind::Word | Kind::Punct(b')' | b']' | b'.'));
        let mut ahead = self.cursor.clone();
        let is_key = ahead.next().is(b':') && is_renamed(ahead);
        let is_named = before.is(b',') && self.is_before(1, &[b"module", b"Module"]);
        let is_evaluated = text == "require" && before.is(b'(') && self.is_before(1, &[b"eval"]);
        if is_member || is_key || is_named || is_evaluated {
            self.escapes(token.start);
        }
    }

    /// A literal, and what it is with those that are added to it.
    fn push_run(&mut self, token: Token, kind: ImportKind) {
        let Some(mut text) = self.reader.text(token) else {
            return self.opaque(token.start);
        };
        let mut joined = false;
        if !self.before[0].is(b'+') {
            let mut ahead = self.cursor.clone();
            let mut whole = text.clone();
            while token.kind == Kind::Text && ahead.next().is(b'+') {
                let piece = ahead.next();
                if piece.kind != Kind::Text {
                    break;
                }
                let Some(more) = self.reader.text(piece) else { break };
                whole.push_str(&more);
                joined = true;
            }
            if joined {
                std::mem::swap(&mut text, &mut whole);
                self.push(whole, kind, token.start);
            }
        }
        self.push(text, kind, token.start);
    }
}

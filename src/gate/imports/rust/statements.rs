//! What the scanner does at `use`, `extern crate` and `::`.

use super::super::ImportKind;
use super::super::lexeme::{Kind, Lexeme};
use super::super::source::Fault;
use super::scopes::{Meaning, Place};
use super::use_tree::{self, End};
use super::{ATTRIBUTE, BRACE, MACRO, RESTRICTED, RULES, Scanner, roots};

impl Scanner<'_> {
    pub(super) fn use_tree(&mut self, was_public: bool) -> Result<(), Fault> {
        let kind = match was_public {
            true => ImportKind::ReExport,
            false => ImportKind::Static,
        };
        let place = self.place();
        let mut leaves = Vec::new();
        let open = use_tree::read(&mut self.cursor, |leaf| leaves.push(leaf));
        for leaf in leaves {
            let last = leaf.path.last().copied().unwrap_or(Lexeme::NONE);
            match leaf.end {
                End::Name if leaf.path.len() > 1 || leaf.is_global || roots::may_be_crate(self.cursor.bytes(last)) => {
                    self.declare(last, Meaning::Used);
                }
                // A type's name is never a crate's.
                End::As(name) if roots::is_type(self.cursor.bytes(name)) => {
                    self.declare(name, Meaning::Used);
                }
                // Of an own path the name is an own module's; as with `use crate::redis`, it may be a
                // function's, and then `use redis::x` is the crate's all the same.
                End::As(name) if !leaf.is_global && leaf.path.first().is_some_and(|root| self.is_own(*root)) => {
                    self.declare(name, Meaning::Used);
                }
                End::Glob if leaf.path.len() == 1 && self.cursor.is_word(last, b"super") => {
                    let is_item = self.frames.last().is_none_or(|frame| frame.flags & BRACE != 0);
                    if is_item && self.flags() & (MACRO | RULES) == 0 && self.condition_here() == 0 {
                        self.scopes.sees_outer(place.scope);
                    }
                }
                End::Computed if leaf.path.is_empty() => self.mark_computed(),
                _ => {}
            }
            self.roots.import(self.mask, leaf, kind, place)?;
        }
        for _ in 0..open {
            self.open(Lexeme {
                kind: Kind::Punct(b'{'),
                start: 0,
                end: 0,
            });
        }
        Ok(())
    }

    /// Whether a path with this root stays in the crate.
    fn is_own(&self, root: Lexeme) -> bool {
        [&b"crate"[..], b"self", b"super"].contains(&self.cursor.bytes(root))
    }

    /// After `extern`: `crate name`, `crate name as other`.
    pub(super) fn extern_crate(&mut self, was_public: bool) -> Result<(), Fault> {
        if !self.cursor.is_word(self.cursor.peek(), b"crate") {
            return Ok(());
        }
        self.cursor.next();
        let name = self.cursor.peek();
        if name.is(b'$') {
            let mut ahead = self.cursor;
            ahead.next();
            ahead.next();
            if !ahead.peek().is(b':') {
                self.mark_computed();
                self.roots.opaque(name.start)?;
            }
            return Ok(());
        }
        if name.kind != Kind::Word {
            return Ok(());
        }
        self.cursor.next();
        let is_self = self.cursor.is_word(name, b"self");
        if self.cursor.is_word(self.cursor.peek(), b"as") {
            self.cursor.next();
            let alias = self.cursor.peek();
            self.declare(
                alias,
                match is_self {
                    true => Meaning::Own,
                    false => Meaning::Crate(name.start, name.end),
                },
            );
        } else {
            self.declare(name, Meaning::Used);
        }
        if !is_self {
            let kind = match was_public {
                true => ImportKind::ReExport,
                false => ImportKind::Static,
            };
            self.roots.extern_crate(self.mask, name, kind)?;
        }
        Ok(())
    }

    /// What stands around `::`: the root of a path, or a later part of one.
    pub(super) fn path(&mut self, token: Lexeme, before: [Lexeme; 2]) -> Result<(), Fault> {
        let root = before[0];
        if root.kind == Kind::Path || self.flags() & RESTRICTED != 0 {
            return Ok(());
        }
        let name = self.cursor.bytes(root);
        if root.kind == Kind::Word && !roots::goes_before_path(name) {
            match before[1].kind {
                Kind::Path | Kind::Punct(b'.') => return Ok(()),
                Kind::Punct(b'$') => {
                    if name != b"crate" {
                        self.mark_computed();
                    }
                    return Ok(());
                }
                _ => {}
            }
            let is_tool = self.flags() & ATTRIBUTE != 0 && roots::is_tool(name);
            // `name::<T>()` calls a function.
            if roots::may_be_crate(name) && !is_tool && !self.cursor.peek().is(b'<') {
                self.refer(root, false)?;
            }
            return Ok(());
        }
        // `::name`, or the end of `<T as Trait>::name`.
        let mut ahead = self.cursor;
        let first = ahead.next();
        let is_longer = ahead.next().kind == Kind::Path && !ahead.peek().is(b'<');
        let is_global = !root.is(b'>') || before[1].is(b'-') || before[1].is(b'=');
        let name = self.cursor.bytes(first);
        if first.kind == Kind::Word && is_longer && (roots::may_be_crate(name) || (is_global && roots::is_type(name))) {
            self.refer(token, true)?;
        }
        Ok(())
    }

    fn mark_computed(&mut self) {
        if let Some(name) = self.rules.last() {
            self.computed.insert(self.cursor.bytes(*name));
        }
    }

    pub(super) fn refer(&mut self, token: Lexeme, is_global: bool) -> Result<(), Fault> {
        let place = Place {
            is_exposed: is_global || self.flags() & RULES != 0,
            ..self.place()
        };
        self.roots.refer(token.start, place)
    }
}

//! Imports of Kotlin, scripts included.
//!
//! `import` is no keyword everywhere: it is one where a statement begins and a name follows on the
//! same line. Where a file may have imports is not asked, since a script may have them anywhere.
//!
//! Names that are used without an import count as in Java, see [`super::java`], but for those that a variable begins. Functions and properties by their
//! full path (`com.acme.db.store()`) look like members of a variable, so they count where no variable of the first
//! name is seen, see [`scopes`]: as a reference where that name is one that domains begin with, else as an
//! [`ImportKind::Member`]. Not seen: those of a package of one segment (`redis.connect()`).

pub(super) mod mask;
mod scopes;
#[cfg(test)]
mod tests;

use self::scopes::{Place, Scopes};
use super::dotted::{Cursor, Dialect, Kind, Token};
use super::java::TypePath;
use super::reflection;
use super::source::{Fault, Found};
use super::type_position::Position;
use super::{ImportKind, identity, java};

/// Every import, in no particular order.
pub fn scan(source: &[u8]) -> Result<Vec<Found>, Fault> {
    let mask = mask::mask(source)?;
    let mut scanner = Scanner {
        source,
        cursor: Cursor::new(&mask, Dialect::Kotlin),
        found: Vec::new(),
        has_for_name: false,
        scopes: Scopes::new(),
        paths: Vec::new(),
    };
    scanner.run();
    scanner.settle();
    Ok(scanner.found)
}

struct Scanner<'a> {
    source: &'a [u8],
    cursor: Cursor<'a>,
    found: Vec<Found>,
    /// Whether `forName` alone is the method of `Class`.
    has_for_name: bool,
    scopes: Scopes<'a>,
    /// Dotted names that may begin with a variable, with the length of the path to a type that each has.
    paths: Vec<(Token, Option<usize>, Place)>,
}

impl<'a> Scanner<'a> {
    fn run(&mut self) {
        let mut before = Token::NONE;
        let mut position = Position::new(Dialect::Kotlin);
        let mut chain = Vec::new();
        loop {
            let token = self.cursor.next();
            match token.kind {
                Kind::End => return,
                Kind::Word => {
                    self.scopes.begins(self.cursor, token, before);
                    self.cursor.chain(token, &mut chain);
                    if before.joins() {
                    } else if chain.len() > 1 {
                        self.dotted(&chain, java::type_path(self.cursor, &chain, before, &position));
                        let last = chain[chain.len() - 1];
                        if matches!(before.kind, Kind::Punct(b'@' | b':' | b'['))
                            && self.cursor.is_word(last, b"DependsOn")
                        {
                            self.artifacts(ImportKind::Static);
                        }
                    } else {
                        self.scopes.word(self.cursor, token, before);
                        self.word(token, before, &mut chain);
                    }
                    if let Some(call) = java::loader(self.cursor, &chain, before, self.has_for_name) {
                        self.found
                            .extend(reflection::call(self.cursor, self.source, call, string));
                    }
                    before = chain[chain.len() - 1];
                }
                _ => {
                    self.scopes.token(self.cursor, token, before);
                    before = token;
                }
            }
            position.push(self.cursor, before);
        }
    }

    /// A dotted name with nothing joined to its front.
    fn dotted(&mut self, chain: &[Token], path: Option<TypePath>) {
        let first = chain[0];
        match path {
            Some(path) if path.is_certain => {
                let found = self.cursor.found(&chain[..path.length], ImportKind::Reference);
                self.found.push(found);
            }
            Some(path) => {
                let place = self.scopes.place(self.cursor, first);
                self.paths.push((first, Some(path.length), place));
            }
            None if java::may_be_path(self.cursor, chain) => {
                self.paths.push((first, None, self.scopes.place(self.cursor, first)));
            }
            None => {}
        }
    }

    /// Reports the dotted names that no variable begins.
    fn settle(&mut self) {
        let mut chain = Vec::new();
        for (first, length, place) in std::mem::take(&mut self.paths) {
            let name = self.cursor.bytes(first);
            if self.scopes.hides(name, place) {
                continue;
            }
            let mut cursor = self.cursor.moved(first.end);
            cursor.chain(first, &mut chain);
            let kind = match length.is_some() || java::is_domain(name) {
                true => ImportKind::Reference,
                false => ImportKind::Member,
            };
            self.found
                .push(cursor.found(&chain[..length.unwrap_or(chain.len())], kind));
        }
    }

    fn word(&mut self, token: Token, before: Token, chain: &mut Vec<Token>) {
        match self.cursor.bytes(token) {
            b"import" if self.begins_statement(token, before) => self.import(chain),
            b"package" if self.begins_statement(token, before) && !self.cursor.breaks() => {
                let first = self.cursor.peek();
                if first.kind == Kind::Word {
                    self.cursor.next();
                    self.cursor.chain(first, chain);
                    self.found.push(self.cursor.found(chain, ImportKind::Declared));
                }
            }
            b"DependsOn" if before.is(b':') || before.is(b'@') || before.is(b'[') => self.artifacts(ImportKind::Static),
            b"DependsOn" if before.kind == Kind::Word && self.cursor.is_word(before, b"file") => {
                self.artifacts(ImportKind::Static);
            }
            b"Import" if before.is(b':') => self.artifacts(ImportKind::Include),
            _ => {}
        }
    }

    /// Whether nothing of the same statement stands before the token.
    fn begins_statement(&self, token: Token, before: Token) -> bool {
        matches!(before.kind, Kind::End | Kind::Punct(b';' | b'{' | b'}' | b')' | b']'))
            || self
                .cursor
                .between(before.end, token.start)
                .iter()
                .any(|b| matches!(b, b'\n' | b'\r'))
    }

    /// After `import`.
    fn import(&mut self, chain: &mut Vec<Token>) {
        if self.cursor.breaks() {
            return;
        }
        let mut ahead = self.cursor;
        let first = ahead.next();
        if first.kind != Kind::Word {
            return;
        }
        ahead.chain(first, chain);
        self.cursor = ahead;
        let mut found = ahead.found(chain, ImportKind::Static);
        if ahead.next().kind == Kind::Dot && ahead.next().is(b'*') {
            found.raw.push_str(".*");
        }
        let names: Vec<&str> = found.identity.iter().map(String::as_str).collect();
        self.has_for_name |= matches!(
            names.as_slice(),
            ["java", "lang", "Class"] | ["java", "lang", "Class", "forName"]
        );
        self.found.push(found);
    }

    /// The strings of `@file:DependsOn("group:name:version", "libs/x.jar")` and
    /// `@file:Import("other.main.kts")`, wherever they stand in its brackets.
    fn artifacts(&mut self, kind: ImportKind) {
        if self.cursor.next_byte() != b'(' {
            return;
        }
        self.cursor.next();
        let mut depth = 1;
        // A string with code in it can be no argument of an annotation. The brackets are read once:
        // looking ahead from each of many nested ones would take quadratic time.
        while depth > 0 {
            let token = self.cursor.next();
            match token.kind {
                Kind::Punct(b'(' | b'[' | b'{') => depth += 1,
                Kind::Punct(b')' | b']' | b'}') => depth -= 1,
                Kind::Text => {
                    if let Some(raw) = string(&self.source[token.start..token.end]) {
                        self.found.push(Found {
                            identity: match kind {
                                // A script beside this one.
                                ImportKind::Include => Vec::new(),
                                _ => artifact(&raw),
                            },
                            raw,
                            kind,
                            at: token.start,
                        });
                    }
                }
                Kind::End => return,
                _ => {}
            }
        }
    }
}

/// `redis.clients:jedis:5.0` is `redis`, `clients`, `jedis`; a path to an archive its own segments.
fn artifact(raw: &str) -> Vec<String> {
    let mut parts = raw.split(':');
    match (parts.next(), parts.next()) {
        (Some(group), Some(name)) if !raw.contains(['/', '\\']) => group
            .split('.')
            .chain([name])
            .filter(|segment| !segment.is_empty())
            .map(str::to_owned)
            .collect(),
        _ => identity::include(raw),
    }
}

/// The value of a literal.
fn string(literal: &[u8]) -> Option<String> {
    let dollars = literal.iter().take_while(|b| **b == b'$').count();
    match &literal[dollars..] {
        [b'"', b'"', b'"', body @ .., b'"', b'"', b'"'] => String::from_utf8(body.to_vec()).ok(),
        [b'"', body @ .., b'"'] if has_name(body) && dollars == 0 => None,
        [b'"', body @ .., b'"'] => super::escapes::javascript(body),
        _ => None,
    }
}

/// Whether a variable's value goes into the text: `"redis.$name"`.
fn has_name(body: &[u8]) -> bool {
    body.windows(2).enumerate().any(|(at, pair)| {
        pair[0] == b'$'
            && (pair[1].is_ascii_alphabetic() || matches!(pair[1], b'_' | b'`') || pair[1] >= 0x80)
            && body[..at].iter().rev().take_while(|b| **b == b'\\').count() % 2 == 0
    })
}

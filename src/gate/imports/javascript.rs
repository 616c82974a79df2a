//! Imports of a JavaScript or TypeScript file.
//!
//! `import` is a reserved word, so wherever it stands outside comments and strings and is no
//! property name it imports; no notion of where a statement begins is needed, and a missing
//! semicolon hides nothing.

use super::arguments::Reader;
use super::javascript_calls::Computed;
use super::source::Found;
use super::token::{Cursor, Kind, Token};
use super::{ImportKind, Language, identity};

const MOCK_OWNERS: [&[u8]; 4] = [b"jest", b"vi", b"vitest", b"mock"];
const MOCKS: [&[u8]; 17] = [
    b"mock",
    b"doMock",
    b"unmock",
    b"doUnmock",
    b"dontMock",
    b"deepUnmock",
    b"setMock",
    b"requireActual",
    b"requireMock",
    b"importActual",
    b"importMock",
    b"createMockFromModule",
    b"genMockFromModule",
    b"unstable_mockModule",
    b"unstable_unmockModule",
    b"mockModule",
    b"module",
];

/// The last tokens; 0 is the nearest.
pub(super) struct Before {
    tokens: [Token; Before::COUNT],
    /// Where the nearest one stands; those before it follow.
    first: usize,
}

impl Before {
    const COUNT: usize = 8;

    fn push(&mut self, token: Token) {
        self.first = self.first.wrapping_sub(1) % Before::COUNT;
        self.tokens[self.first] = token;
    }

    /// The last six, the nearest first.
    pub(super) fn iter(&self) -> impl Iterator<Item = Token> {
        (0..6).map(|back| self[back])
    }
}

impl Default for Before {
    fn default() -> Self {
        Before {
            tokens: [Token::NONE; Before::COUNT],
            first: 0,
        }
    }
}

impl std::ops::Index<usize> for Before {
    type Output = Token;

    fn index(&self, back: usize) -> &Token {
        &self.tokens[(self.first + back) % Before::COUNT]
    }
}

pub(super) struct Scanner<'a> {
    pub(super) reader: Reader<'a>,
    pub(super) cursor: Cursor<'a>,
    /// The tokens before the current one, the last first.
    pub(super) before: Before,
    pub(super) found: Vec<Found>,
    /// How many brackets are open.
    pub(super) depth: usize,
    pub(super) computed: Option<Computed>,
    /// Where `require` first became a value.
    pub(super) escaped: Option<usize>,
    /// Literals that stand as arguments, in arrays or after a tag.
    pub(super) arguments: Vec<Token>,
    /// Whether something unknown has a `require` or `_load`.
    pub(super) has_suspect: bool,
    /// Whether a name `_load` stands alone.
    pub(super) has_loader_name: bool,
    /// Whether `module` is used but for its members.
    pub(super) has_module_value: bool,
}

impl<'a> Scanner<'a> {
    pub(super) fn new(source: &'a [u8], mask: &'a [u8]) -> Self {
        Scanner {
            reader: Reader { source },
            cursor: Cursor::new(mask, Language::JavaScript),
            before: Before::default(),
            found: Vec::new(),
            depth: 0,
            computed: None,
            escaped: None,
            arguments: Vec::new(),
            has_suspect: false,
            has_loader_name: false,
            has_module_value: false,
        }
    }

    pub(super) fn run(mut self) -> Vec<Found> {
        loop {
            let token = self.cursor.next();
            match token.kind {
                Kind::End => {
                    self.finish();
                    return self.found;
                }
                Kind::Word => self.word(token),
                Kind::Text | Kind::Template => self.literal(token),
                Kind::Punct(b'(' | b'[' | b'{') => self.depth += 1,
                Kind::Punct(b')' | b']' | b'}') => self.depth = self.depth.saturating_sub(1),
                _ => {}
            }
            if let Some(computed) = self.computed
                && token.start > computed.open
                && (self.depth < computed.depth
                    || (computed.is_first && self.depth == computed.depth && token.is(b',')))
            {
                self.computed = None;
            }
            self.before.push(token);
        }
    }

    #[inline]
    pub(super) fn is_before(&self, back: usize, words: &[&[u8]]) -> bool {
        let token = self.before[back];
        token.kind == Kind::Word && words.contains(&self.cursor.bytes(token))
    }

    fn word(&mut self, token: Token) {
        let is_property = self.before[0].is(b'.');
        let bytes = self.cursor.bytes(token);
        // No shorter word is one of those below with an escape (`\u{6d}ock`) in it.
        let decoded = if bytes.len() > 8 && bytes.contains(&b'\\') {
            self.reader.name(bytes)
        } else {
            None
        };
        let name = decoded.as_deref().map_or(bytes, str::as_bytes);
        match name {
            b"import" if !is_property => self.import(),
            b"import" if self.is_before(1, &[b"System"]) => self.call(ImportKind::Dynamic),
            b"export" if !is_property => self.clause(ImportKind::ReExport),
            b"require" if is_property => self.require_of(token),
            b"require" => self.require(token),
            b"createRequire" | b"createRequireFromPath" => self.create_require(token),
            b"_load" if is_property => self.load_of(),
            b"_load" => self.has_loader_name = true,
            b"_compile" | b"_extensions" | b"_resolveFilename" if is_property => self.has_suspect = true,
            b"getBuiltinModule" => self.call(ImportKind::Require),
            b"URL" if self.is_made() => self.url(),
            b"Worker" | b"SharedWorker" if self.is_made() => self.worker(),
            b"importScripts" => self.scripts(),
            b"define" | b"requirejs" if !is_property => self.amd(),
            b"register" if is_property && self.is_before(1, &[b"System"]) => self.amd(),
            b"register" => self.hooks(),
            b"fork" => self.fork(),
            b"module" if !is_property => {
                let next = self.cursor.peek();
                // `declare module "x" { ... }` says what types a package has; of a pattern none is named.
                if next.kind == Kind::Text
                    && self.is_before(0, &[b"declare"])
                    && self.reader.text(next).is_some_and(|name| !name.contains('*'))
                {
                    self.push_literal(next, ImportKind::TypeOnly);
                }
                self.has_module_value |=
                    !matches!(next.kind, Kind::Punct(b'.' | b':' | b'=' | b'[' | b'?') | Kind::Text);
            }
            _ if is_property && self.is_before(1, &MOCK_OWNERS) && MOCKS.contains(&name) => self.mock(),
            _ => {}
        }
    }

    /// After `import`.
    fn import(&mut self) {
        let mut ahead = self.cursor.clone();
        let next = ahead.next();
        match next.kind {
            Kind::Text => self.push_literal(next, ImportKind::Static),
            Kind::Punct(b'(') => {
                let kind = if self.is_type_position() {
                    ImportKind::TypeOnly
                } else {
                    ImportKind::Dynamic
                };
                self.call(kind);
            }
            Kind::Punct(b'.') => {
                let member = ahead.next();
                if ahead.is_word(member, b"source") || ahead.is_word(member, b"defer") {
                    self.call_at(ahead, ImportKind::Dynamic, true);
                } else if ahead.is_word(member, b"meta") && ahead.next().is(b'.') {
                    let member = ahead.next();
                    match ahead.bytes(member) {
                        b"resolve" => self.call_at(ahead, ImportKind::Dynamic, false),
                        b"glob" | b"globEager" | b"globEagerDefault" => self.globs(ahead),
                        b"webpackContext" => self.context(ahead),
                        _ => {}
                    }
                }
            }
            _ => self.clause(ImportKind::Static),
        }
    }

    /// Where `import("x")` can only be a type: after `as` and the like on the same line, and in
    /// `type T = import("x").T`, `let x: typeof import("x")`.
    fn is_type_position(&self) -> bool {
        let mut back = 0;
        if self.is_before(0, &[b"typeof"]) {
            back = 1;
        } else if self.is_before(0, &[b"as", b"satisfies", b"keyof"]) {
            let end = self.before[0].end;
            let between = self.reader.source[end..].iter().take_while(|b| **b != b'i');
            return self.before[1].kind != Kind::End && !between.clone().any(|b| matches!(b, b'\n' | b'\r' | 0xE2));
        }
        let [operator, name] = [self.before[back], self.before[back + 1]];
        let keyword: &[&[u8]] = match operator.kind {
            Kind::Punct(b'=') => &[b"type"],
            Kind::Punct(b':') => &[b"let", b"const", b"var"],
            _ => return false,
        };
        let before_name = self.before[back + 2];
        name.kind == Kind::Word && before_name.kind == Kind::Word && keyword.contains(&self.cursor.bytes(before_name))
    }

    /// After `import` or `export`: `type a, * as b, { c as d } from "x"`, `a = require("x")`.
    /// Stops at the first token that no such clause has, so that it reads nothing twice.
    fn clause(&mut self, kind: ImportKind) {
        let mut ahead = self.cursor.clone();
        let mut words: [Option<Token>; 3] = [None; 3];
        let mut count = 0;
        let mut listed = false;
        let mut kind = kind;
        loop {
            let token = ahead.next();
            match token.kind {
                Kind::Word if ahead.is_word(token, b"from") && ahead.peek().kind == Kind::Text => {
                    let typed =
                        |t: Option<Token>| t.is_some_and(|t| ahead.is_word(t, b"type") || ahead.is_word(t, b"typeof"));
                    // `import type from "x"` and `import type, { a } from "x"` bind the name `type`.
                    if typed(words[0]) && (count > 1 || listed) {
                        kind = ImportKind::TypeOnly;
                    }
                    let specifier = ahead.next();
                    self.cursor = ahead;
                    self.push_literal(specifier, kind);
                    return;
                }
                Kind::Word if count < words.len() && !ahead.is_word(token, b"import") => {
                    words[count] = Some(token);
                    count += 1;
                }
                Kind::Punct(b',') if count > 0 => words[0] = None,
                Kind::Punct(b'*') => {
                    listed = true;
                    if ahead.is_word(ahead.peek(), b"as") {
                        ahead.next();
                        if !matches!(ahead.next().kind, Kind::Word | Kind::Text) {
                            return;
                        }
                    }
                }
                Kind::Punct(b'{') => {
                    listed = true;
                    let start = ahead.clone();
                    if !names(&mut ahead) {
                        return;
                    }
                    self.renames(start);
                }
                Kind::Punct(b'=') if kind == ImportKind::Static => {
                    let callee = ahead.next();
                    if ahead.is_word(callee, b"require") && ahead.next().is(b'(') {
                        let specifier = ahead.next();
                        if specifier.kind == Kind::Text {
                            let typed = count > 1 && words[0].is_some_and(|t| ahead.is_word(t, b"type"));
                            self.push_literal(specifier, if typed { ImportKind::TypeOnly } else { kind });
                            // Past the `(`, not past its `)`.
                            self.cursor = ahead;
                            self.depth += 1;
                        }
                    }
                    return;
                }
                _ => return,
            }
        }
    }

    pub(super) fn push_literal(&mut self, token: Token, kind: ImportKind) {
        match self.reader.text(token) {
            Some(text) => self.push(text, kind, token.start),
            None => self.opaque(token.start),
        }
    }

    pub(super) fn push(&mut self, raw: String, kind: ImportKind, at: usize) {
        if raw.get(..5).is_some_and(|head| head.eq_ignore_ascii_case("data:")) {
            // The module is in the text itself, with imports of its own.
            return self.opaque(at);
        }
        let identity = identity::javascript(&raw);
        self.found.push(Found {
            raw,
            identity,
            kind,
            at,
        });
    }

    pub(super) fn opaque(&mut self, at: usize) {
        self.found.push(Found {
            raw: String::new(),
            identity: Vec::new(),
            kind: ImportKind::Opaque,
            at,
        });
    }
}

/// Reads `a, b as c, type d as e, "f" as g }`; false if it is no list of names.
fn names(ahead: &mut Cursor) -> bool {
    let mut run = 0;
    loop {
        let token = ahead.next();
        match token.kind {
            Kind::Punct(b'}') => return true,
            Kind::Punct(b',') => run = 0,
            // `type a as b` is the longest; a limit keeps reading ahead short.
            Kind::Word | Kind::Text if run < 4 => run += 1,
            _ => return false,
        }
    }
}

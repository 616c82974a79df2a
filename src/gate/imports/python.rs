//! Imports of a Python file.
//!
//! `import` is a keyword, so wherever it stands outside comments and strings it is a statement;
//! no notion of blocks is needed to find it after `;`, `if x:` or `else:`.

use std::borrow::Cow;
use std::collections::HashMap;

use unicode_normalization::UnicodeNormalization;

use super::python_files::Opened;
use super::python_loaders::Loader;
use super::source::{Fault, Found};
use super::token::{Cursor, Kind, Token};
use super::{ImportKind, Language, identity, mask_py, python_encoding, python_loaders};

/// Calls that import the module that their first argument names.
pub(super) const IMPORTERS: [&str; 5] = [
    "__import__",
    "import_module",
    "importorskip",
    "run_module",
    "_gcd_import",
];

/// Every import, in no particular order.
pub fn scan(source: &[u8]) -> Result<Vec<Found>, Fault> {
    python_encoding::check(source)?;
    let mask = mask_py::mask(source)?;
    let mut scanner = Scanner::of(source, &mask, HashMap::new());
    scanner.run();
    if !scanner.renamed.is_empty() {
        // A function may use a name that the file only gives further below.
        scanner = Scanner::of(source, &mask, scanner.renamed);
        scanner.run();
    }
    Ok(scanner.found)
}

pub(super) struct Scanner<'a> {
    pub(super) source: &'a [u8],
    pub(super) mask: &'a [u8],
    pub(super) cursor: Cursor<'a>,
    pub(super) found: Vec<Found>,
    /// How many brackets are open.
    pub(super) depth: usize,
    /// Brackets around the arguments of an importer that are no literal: every string in them may
    /// be the name. (Offset of the opening one, depth inside of it.)
    pub(super) computed: Option<(usize, usize)>,
    /// Where an importer first became a value that another name may call.
    pub(super) escaped: Option<usize>,
    /// Literals that stand as arguments or in lists, and whether they are raw.
    pub(super) arguments: Vec<(Token, bool)>,
    /// Words that were looked for in the file, and whether they stand in it.
    pub(super) homes: Vec<(&'static str, bool)>,
    /// Other names that the file gives to loaders.
    pub(super) renamed: HashMap<&'a [u8], Loader>,
    pub(super) opened: Opened<'a>,
    /// The indentation of the `if TYPE_CHECKING:` that the scanner is below of.
    type_block: Option<usize>,
}

impl<'a> Scanner<'a> {
    fn of(source: &'a [u8], mask: &'a [u8], renamed: HashMap<&'a [u8], Loader>) -> Self {
        Scanner {
            source,
            mask,
            cursor: Cursor::new(mask, Language::Python),
            found: Vec::new(),
            depth: 0,
            computed: None,
            escaped: None,
            arguments: Vec::new(),
            homes: Vec::new(),
            renamed,
            opened: Opened::new(),
            type_block: None,
        }
    }

    fn run(&mut self) {
        let mut before = [Token::NONE; 2];
        let mut line_begins = true;
        loop {
            let token = self.cursor.next();
            match token.kind {
                Kind::End => break,
                Kind::Newline => {
                    line_begins = self.depth == 0;
                    if line_begins {
                        before = [token, before[0]];
                    }
                    continue;
                }
                Kind::Punct(b'(' | b'[' | b'{') => self.depth += 1,
                Kind::Punct(b')' | b']' | b'}') => self.depth = self.depth.saturating_sub(1),
                Kind::Word => self.word(token, before[0], line_begins),
                Kind::Text => self.literal(token, before),
                _ => {}
            }
            if self
                .computed
                .is_some_and(|(open, depth)| token.start > open && self.depth < depth)
            {
                self.computed = None;
            }
            line_begins = false;
            before = [token, before[0]];
        }
        self.finish();
    }

    fn word(&mut self, token: Token, before: Token, line_begins: bool) {
        if line_begins {
            let indent = self.indent(token.start);
            if self.type_block.is_some_and(|block| indent <= block) {
                self.type_block = None;
            }
            if self.cursor.is_word(token, b"if") && self.type_block.is_none() && self.is_type_checking() {
                self.type_block = Some(indent);
            }
        }
        match self.cursor.bytes(token) {
            b"import" => self.import(),
            // After a dot it is no statement, and looking ahead from each `.from` of a chain would
            // take quadratic time.
            b"from" if !before.is(b'.') => self.from(),
            b"def" | b"class" => {}
            b"open" | b"Path" => self.opens(token),
            b"exec" | b"eval" if !self.cursor.is_word(before, b"def") => self.executes(before),
            name if self.is_importer(name)
                && !self.cursor.is_word(before, b"def")
                && !self.is_some_method(token, before) =>
            {
                self.importer(token)
            }
            name if !self.cursor.is_word(before, b"def") => {
                if let Some(loader) = self.called(name) {
                    self.loader(loader, token, before);
                }
            }
            _ => {}
        }
    }

    fn indent(&self, at: usize) -> usize {
        self.mask[..at]
            .iter()
            .rev()
            .take_while(|b| matches!(b, b' ' | b'\t' | 0x0C))
            .count()
    }

    /// Whether `TYPE_CHECKING:` or `name.TYPE_CHECKING:` follows.
    fn is_type_checking(&self) -> bool {
        let mut ahead = self.cursor.clone();
        let mut token = ahead.next();
        if token.kind == Kind::Word && ahead.peek().is(b'.') {
            ahead.next();
            token = ahead.next();
        }
        ahead.is_word(token, b"TYPE_CHECKING") && ahead.next().is(b':')
    }

    fn name(&self, token: Token) -> Cow<'a, str> {
        match String::from_utf8_lossy(self.cursor.bytes(token)) {
            name if name.is_ascii() => name,
            name => Cow::Owned(name.nfkc().collect()),
        }
    }

    fn is_importer(&self, name: &[u8]) -> bool {
        if name.is_ascii() {
            return IMPORTERS.iter().any(|known| known.as_bytes() == name);
        }
        let name: String = String::from_utf8_lossy(name).nfkc().collect();
        IMPORTERS.contains(&name.as_str())
    }

    fn static_kind(&self) -> ImportKind {
        if self.type_block.is_some() {
            ImportKind::TypeOnly
        } else {
            ImportKind::Static
        }
    }

    /// After `import`: `a, b.c as d`.
    fn import(&mut self) {
        loop {
            let mut ahead = self.cursor.clone();
            let Some((raw, at, ahead)) = self.dotted(&mut ahead) else {
                return;
            };
            self.cursor = ahead;
            self.push(raw, self.static_kind(), at);
            if self.cursor.is_word(self.cursor.peek(), b"as") {
                self.cursor.next();
                self.cursor.next();
            }
            if !self.cursor.peek().is(b',') {
                return;
            }
            self.cursor.next();
        }
    }

    /// `name.name`, with the cursor after it.
    fn dotted(&self, ahead: &mut Cursor<'a>) -> Option<(String, usize, Cursor<'a>)> {
        let first = ahead.next();
        if first.kind != Kind::Word {
            return None;
        }
        let mut raw = self.name(first).into_owned();
        while ahead.peek().is(b'.') {
            ahead.next();
            if ahead.peek().kind == Kind::Word {
                raw.push('.');
                raw.push_str(&self.name(ahead.next()));
            }
        }
        Some((raw, first.start, ahead.clone()))
    }

    /// After `from`: dots, a dotted name, `import`, names. Anything else (`yield from`, `raise x
    /// from y`) is left alone.
    fn from(&mut self) {
        let mut ahead = self.cursor.clone();
        let mut module = String::new();
        let at = ahead.peek().start;
        while ahead.peek().is(b'.') {
            ahead.next();
            module.push('.');
        }
        if !ahead.is_word(ahead.peek(), b"import")
            && let Some((name, _, after)) = self.dotted(&mut ahead)
        {
            module.push_str(&name);
            ahead = after;
        }
        let keyword = ahead.next();
        if module.is_empty() || !ahead.is_word(keyword, b"import") {
            return;
        }
        self.cursor = ahead;
        let parenthesised = self.cursor.peek().is(b'(');
        let mut names = 0;
        loop {
            let ahead = self.cursor.clone();
            let token = self.cursor.next();
            match token.kind {
                Kind::Newline if parenthesised => {}
                Kind::Punct(b'(') => self.depth += 1,
                Kind::Punct(b',') => {}
                Kind::Word => {
                    let name = self.name(token).into_owned();
                    let dot = if module.ends_with('.') { "" } else { "." };
                    self.push(format!("{module}{dot}{name}"), self.static_kind(), at);
                    names += 1;
                    self.alias(&name);
                }
                Kind::Punct(b')') => {
                    self.depth = self.depth.saturating_sub(1);
                    break;
                }
                Kind::Punct(b'*') => break,
                _ => {
                    // The end of the statement is the main loop's to see.
                    self.cursor = ahead;
                    break;
                }
            }
        }
        if names == 0 {
            self.push(module, self.static_kind(), at);
        }
    }

    /// Skips `as x`. If `name` is an importer, x is one from here on.
    fn alias(&mut self, name: &str) {
        let mut ahead = self.cursor.clone();
        let mut keyword = ahead.next();
        while keyword.kind == Kind::Newline {
            keyword = ahead.next();
        }
        if !ahead.is_word(keyword, b"as") {
            return;
        }
        let mut alias = ahead.next();
        while alias.kind == Kind::Newline {
            alias = ahead.next();
        }
        if alias.kind == Kind::Word {
            if IMPORTERS.contains(&name) {
                self.escaped.get_or_insert(alias.start);
            }
            if let Some(loader) = python_loaders::named(name.as_bytes()) {
                self.rename(ahead.bytes(alias), loader);
            }
            self.cursor = ahead;
        }
    }

    pub(super) fn push(&mut self, raw: String, kind: ImportKind, at: usize) {
        let identity = identity::python(&raw);
        self.found.push(Found {
            raw,
            identity,
            kind,
            at,
        });
    }
}

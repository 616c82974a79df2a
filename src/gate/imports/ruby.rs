//! Imports of a Ruby file.
//!
//! `require`, `load`, `gem`, `autoload` and `require_relative` are methods, so a name alone does not
//! tell that `Kernel`'s is meant. Chosen:
//!
//! - Without a receiver, or with `Kernel`, `Object` or `self`, they are. A literal argument is an
//!   import; any other is opaque, and each string in it counts. `x.require "redis"` with another
//!   receiver counts if its argument is a literal (`K = Kernel` is not followed), `x.load` does not.
//! - `send(:require, "x")` and the like count as calls. Where `require` becomes a value
//!   (`method(:require)`, `alias r require`), the file has one opaque import, and each literal argument
//!   and list element in it counts. A `require l` of a bare name does so for the lists of the file
//!   that are assigned or iterated: `%w[redis json].each { |l| require l }`.
//! - `gem "x"` is an import, in a Gemfile as well; `Bundler.require` loads what those name and is none.
//! - A path that is put together from `__FILE__`, `__dir__` and literals is one from the file, see
//!   [`places`], as is all that `require_relative` names.
//!
//! Not seen: code in strings (`eval`, `class_eval`) but for files that it reads (`eval File.read("x")`), `Gem::Specification`'s `add_dependency`, what
//! `$LOAD_PATH` leads to, names of methods that are computed (`send("req" + "uire", x)`).

mod calls;
mod encoding;
mod heredoc;
mod literals;
mod mask;
mod places;
#[cfg(test)]
mod tests;
mod words;

use super::literal_cursor::{Cursor, Kind, Token};
use super::source::{Fault, Found};
use super::{ImportKind, escapes};

/// Every import, in no particular order.
pub fn scan(source: &[u8]) -> Result<Vec<Found>, Fault> {
    encoding::check(source)?;
    let mask = mask::mask(source)?;
    let mut scanner = Scanner {
        source,
        mask: &mask,
        cursor: Cursor::new(&mask),
        found: Vec::new(),
        before: [Token::NONE; 4],
        brackets: Vec::new(),
        computed: None,
        escaped: None,
        is_bare: false,
        arguments: Vec::new(),
        lists: Vec::new(),
    };
    scanner.run();
    Ok(scanner.found)
}

/// An argument that is no literal, up to its end.
struct Computed {
    at: usize,
    kind: ImportKind,
    /// How many brackets are open around it.
    depth: usize,
    is_parenthesised: bool,
    texts: Vec<Token>,
    place: places::Place,
    /// Whether it holds only what puts paths together.
    is_path: bool,
}

struct Scanner<'a> {
    source: &'a [u8],
    mask: &'a [u8],
    cursor: Cursor<'a>,
    found: Vec<Found>,
    /// The last tokens, line breaks among them.
    before: [Token; 4],
    /// Opening brackets; of `[`, how long `lists` was and whether the list is assigned.
    brackets: Vec<(u8, usize, bool)>,
    computed: Option<Computed>,
    /// Where `require` first became a value.
    escaped: Option<usize>,
    /// Whether a bare name is required.
    is_bare: bool,
    /// Literals that stand as arguments.
    arguments: Vec<Token>,
    /// Literals in lists that are assigned or iterated, `%w` lists as a whole.
    lists: Vec<Token>,
}

impl<'a> Scanner<'a> {
    fn run(&mut self) {
        loop {
            let token = self.cursor.next();
            self.end_computed(token);
            match token.kind {
                Kind::End => break,
                Kind::Punct(byte @ (b'(' | b'[' | b'{')) => {
                    let is_assigned = self.is_assigned();
                    self.brackets.push((byte, self.lists.len(), is_assigned));
                }
                Kind::Open => self.brackets.push((b'"', 0, false)),
                Kind::Punct(b')' | b']' | b'}') | Kind::Close => self.close(),
                Kind::Word => self.word(token),
                Kind::Text => self.literal(token),
                _ => {}
            }
            if let Some(computed) = &mut self.computed
                && token.start >= computed.at
            {
                match token.kind {
                    Kind::Text => computed.texts.push(token),
                    Kind::Word => {
                        let word = self.cursor.bytes(token);
                        computed.place.see(word);
                        computed.is_path &= is_path_word(word);
                    }
                    Kind::Punct(byte) => {
                        computed.is_path &= matches!(byte, b'(' | b')' | b'.' | b',' | b':' | b'+' | b'{' | b'}')
                    }
                    _ => {}
                }
            }
            self.before = [token, self.before[0], self.before[1], self.before[2]];
        }
        self.finish();
    }

    fn close(&mut self) {
        if let Some((b'[', length, is_assigned)) = self.brackets.pop()
            && !is_assigned
            && !self.cursor.peek_over_lines().is(b'.')
        {
            self.lists.truncate(length);
        }
    }

    /// Whether a list that begins after the last token is assigned or iterated by `for`.
    fn is_assigned(&self) -> bool {
        matches!(self.before[0].kind, Kind::Punct(b'=' | b'*' | b'|')) || self.cursor.is_word(self.before[0], b"in")
    }

    fn literal(&mut self, token: Token) {
        let before = self.before[0];
        let is_argument = matches!(before.kind, Kind::Punct(b'(' | b',' | b'[' | b'=' | b'*') | Kind::Word);
        if is_argument {
            self.arguments.push(token);
        }
        let in_list = self.brackets.last().is_some_and(|(byte, ..)| *byte == b'[');
        let is_words = matches!(&self.source[token.start..], [b'%', b'w' | b'W', ..]);
        if (in_list && matches!(before.kind, Kind::Punct(b'[' | b',') | Kind::Newline))
            || (is_words && (self.is_assigned() || self.cursor.peek_over_lines().is(b'.')))
        {
            self.lists.push(token);
        }
    }

    /// Where a computed argument ends before this token, says what it may import.
    fn end_computed(&mut self, token: Token) {
        let Some(computed) = &self.computed else { return };
        if token.start < computed.at {
            return;
        }
        let depth = self.brackets.len();
        let ends = match token.kind {
            Kind::End => true,
            Kind::Punct(b')' | b']' | b'}') | Kind::Close => depth <= computed.depth,
            _ if computed.is_parenthesised || depth > computed.depth => false,
            Kind::Punct(b';') => true,
            Kind::Newline => {
                !matches!(self.before[0].kind, Kind::Punct(byte) if !matches!(byte, b')' | b']' | b'}' | b'?' | b'!'))
            }
            Kind::Word => self.before[0].kind != Kind::Punct(b'.') && words::ends_statement(self.cursor.bytes(token)),
            _ => false,
        };
        if !ends {
            return;
        }
        let Some(computed) = self.computed.take() else { return };
        if computed.place.is_known() && computed.is_path {
            let pieces: Option<Vec<String>> = computed.texts.iter().map(|token| self.text(*token)).collect();
            let Some(pieces) = pieces else {
                return self.opaque(computed.at);
            };
            if let Some(first) = computed.texts.first() {
                let raw = computed.place.path(&pieces.join("/"));
                self.push(raw, computed.kind, first.start);
            }
            return;
        }
        self.opaque(computed.at);
        for token in computed.texts {
            self.push_all(token);
        }
    }

    /// After the last token.
    fn finish(&mut self) {
        if let Some(at) = self.escaped {
            self.opaque(at);
            for token in std::mem::take(&mut self.arguments) {
                self.push_all(token);
            }
        }
        if self.escaped.is_some() || self.is_bare {
            for token in std::mem::take(&mut self.lists) {
                self.push_all(token);
            }
        }
    }

    /// What a literal may name: itself, or each word of a list.
    fn push_all(&mut self, token: Token) {
        if let [b'%', b'w' | b'W' | b'i' | b'I', ..] = self.source[token.start..] {
            let body = &self.source[token.start + 3..token.end - 1];
            let mut at = token.start + 3;
            for word in body.split(|b| b.is_ascii_whitespace()) {
                if let Ok(raw) = String::from_utf8(word.to_vec())
                    && !raw.is_empty()
                {
                    self.push(raw, ImportKind::Dynamic, at);
                }
                at += word.len() + 1;
            }
        } else if let Some(raw) = self.text(token)
            && !raw.is_empty()
            && !raw.contains(char::is_whitespace)
        {
            self.push(raw, ImportKind::Dynamic, token.start);
        }
    }

    fn push(&mut self, raw: String, kind: ImportKind, at: usize) {
        let identity = identity(&raw);
        self.found.push(Found {
            raw,
            identity,
            kind,
            at,
        });
    }

    fn opaque(&mut self, at: usize) {
        self.found.push(Found {
            raw: String::new(),
            identity: Vec::new(),
            kind: ImportKind::Opaque,
            at,
        });
    }

    /// What a string literal without code says; None for patterns, lists, commands and heredocs.
    fn text(&self, token: Token) -> Option<String> {
        let source = &self.source[token.start..token.end];
        match source {
            [b'"', body @ .., _] | [b'%', b'Q', _, body @ .., _] => escapes::javascript(body),
            [b'\'', body @ .., _] | [b'%', b'q' | b's', _, body @ .., _] => plain(body),
            [b'%', b'w' | b'W' | b'i' | b'I' | b'r' | b'x', ..] => None,
            [b'%', _, body @ .., _] => escapes::javascript(body),
            _ => None,
        }
    }
}

/// A string in which a backslash escapes only itself and the quote.
fn plain(body: &[u8]) -> Option<String> {
    let mut out = Vec::with_capacity(body.len());
    let mut bytes = body.iter().peekable();
    while let Some(byte) = bytes.next() {
        if *byte == b'\\'
            && let Some(next) = bytes.next_if(|next| !next.is_ascii_alphanumeric())
        {
            out.push(*next);
        } else {
            out.push(*byte);
        }
    }
    String::from_utf8(out).ok()
}

/// Words that only put a path together from the place of the file.
fn is_path_word(word: &[u8]) -> bool {
    let known: [&[u8]; 17] = [
        b"File",
        b"join",
        b"expand_path",
        b"absolute_path",
        b"dirname",
        b"realpath",
        b"__FILE__",
        b"__dir__",
        b"Dir",
        b"pwd",
        b"Rails",
        b"root",
        b"Pathname",
        b"new",
        b"to_s",
        b"parent",
        b"freeze",
    ];
    known.contains(&word)
}

/// The segments of a feature's path; empty for one that begins at a folder of the file system, unless
/// that leads into a folder of copies.
fn identity(path: &str) -> Vec<String> {
    if path.starts_with(['.', '/', '~', '\\'])
        && let Some(copy) = super::identity::vendored(path)
    {
        return identity(&copy.join("/"));
    }
    if path.starts_with(['.', '/', '~', '\\']) {
        return Vec::new();
    }
    let mut segments: Vec<String> = Vec::new();
    for segment in path.split('/') {
        match segment {
            "" | "." => {}
            ".." => {
                segments.pop();
            }
            _ => segments.push(segment.to_owned()),
        }
    }
    if let Some(last) = segments.last_mut() {
        for ending in [".rb", ".so", ".o", ".dll", ".bundle", ".jar"] {
            if let Some(stem) = last.strip_suffix(ending).filter(|stem| !stem.is_empty()) {
                last.truncate(stem.len());
                break;
            }
        }
    }
    segments
}

//! Calls of JavaScript whose literal is the path of a module, beside the file and not a package's name:
//! `new URL("x.js", import.meta.url)`, `new Worker("x.js")`, `importScripts("x.js")`, `fork("./x")` of
//! child_process and `register("./x", import.meta.url)` of node's module; and those that take
//! many modules at once: `import.meta.glob("../x/*.ts")`, `require.context("../x")`.
//!
//! A text without dots in front is such a path too, so `./` is put in front of it. What is computed is no
//! import here: nearly every such call is about a picture or a queue of that name. Of a pattern the folder
//! before its first wildcard counts; where that is all that lies above the file, the import is opaque, since
//! it may take in anything.

use super::ImportKind;
use super::javascript::Scanner;
use super::javascript_calls::skip_angles;
use super::javascript_dirname::beside;
use super::token::{Cursor, Kind, Token};

/// Tokens of an argument that are looked over.
const MOST: usize = 64;
/// Files that a worker may be.
const SCRIPTS: [&str; 8] = [".js", ".mjs", ".cjs", ".ts", ".mts", ".cts", ".jsx", ".tsx"];

impl<'a> Scanner<'a> {
    /// Whether `new` or `new x.` stands before.
    pub(super) fn is_made(&self) -> bool {
        self.is_before(if self.before[0].is(b'.') { 2 } else { 0 }, &[b"new"])
    }

    /// After `new URL`: `("x", import.meta.url)`.
    pub(super) fn url(&mut self) {
        let mut ahead = self.cursor.clone();
        if !ahead.next().is(b'(') {
            return;
        }
        let first = ahead.next();
        if !matches!(first.kind, Kind::Text | Kind::Template) {
            return;
        }
        for _ in 0..MOST {
            let token = ahead.next();
            match token.kind {
                Kind::Punct(b';') | Kind::End => return,
                Kind::Word if ahead.is_word(token, b"import") => {
                    if ahead.next().is(b'.') {
                        let meta = ahead.next();
                        if ahead.is_word(meta, b"meta") {
                            self.path(first);
                        }
                    }
                    return;
                }
                _ => {}
            }
        }
    }

    /// After `Worker`: of `new Worker("x.js")` the file. `new Worker("queue")` is some other worker.
    pub(super) fn worker(&mut self) {
        let mut ahead = self.cursor.clone();
        if !ahead.next().is(b'(') {
            return;
        }
        if let Some(beside) = beside(self.reader, ahead.clone()) {
            return self.push(beside.path, ImportKind::Dynamic, beside.at);
        }
        let first = ahead.next();
        if matches!(first.kind, Kind::Text | Kind::Template)
            && let Some(text) = self.reader.text(first)
            && (text.contains('/') || SCRIPTS.iter().any(|ending| text.ends_with(ending)))
        {
            self.path(first);
        }
    }

    /// After `importScripts`: every literal argument.
    pub(super) fn scripts(&mut self) {
        let mut ahead = self.cursor.clone();
        if !ahead.next().is(b'(') {
            return;
        }
        for _ in 0..MOST {
            let token = ahead.next();
            match token.kind {
                Kind::Text => self.path(token),
                Kind::Punct(b',') => {}
                _ => return,
            }
        }
    }

    /// After `fork`, which is a common name: of a relative path.
    pub(super) fn fork(&mut self) {
        let mut ahead = self.cursor.clone();
        if ahead.next().is(b'(') {
            if let Some(beside) = beside(self.reader, ahead.clone()) {
                return self.push(beside.path, ImportKind::Require, beside.at);
            }
            let first = ahead.next();
            if self.is_relative(first) {
                self.path_as(first, ImportKind::Require);
            }
        }
    }

    /// After `register`, which is one, too: of a relative path, and of a package where the place that it is seen
    /// from follows.
    pub(super) fn hooks(&mut self) {
        let mut ahead = self.cursor.clone();
        if !ahead.next().is(b'(') {
            return;
        }
        let first = ahead.next();
        if self.is_relative(first) {
            return self.path(first);
        }
        let has_place = first.kind == Kind::Text && ahead.next().is(b',') && {
            let place = ahead.next();
            [&b"import"[..], b"pathToFileURL"].contains(&ahead.bytes(place))
        };
        if has_place {
            self.push_literal(first, ImportKind::Dynamic);
        }
    }

    fn is_relative(&self, token: Token) -> bool {
        matches!(token.kind, Kind::Text | Kind::Template)
            && (self.reader.text(token)).is_some_and(|text| ["./", "../"].iter().any(|head| text.starts_with(head)))
    }

    /// A path as seen from the file.
    fn path(&mut self, token: Token) {
        self.path_as(token, ImportKind::Dynamic);
    }

    fn path_as(&mut self, token: Token, kind: ImportKind) {
        let Some(text) = self.reader.text(token) else { return };
        let has_name = text.split(['/', '\\']).any(|part| !part.trim_matches('.').is_empty());
        // Code in a string (`{ eval: true }`) has blanks or brackets.
        if !has_name || text.contains(|c: char| c.is_whitespace() || matches!(c, '(' | ';' | '{')) {
            return;
        }
        let is_url = text.split(['/', '?']).next().is_some_and(|first| first.contains(':'));
        let raw = match is_url || text.starts_with(['.', '/', '\\', '#']) {
            true => text,
            false => format!("./{text}"),
        };
        // `data:` holds a module of its own, and other schemes are no imports: `redis://host`.
        let scheme = raw.split(':').next().unwrap_or_default().to_ascii_lowercase();
        if !is_url || ["http", "https", "file", "npm", "jsr", "node", "data"].contains(&scheme.as_str()) {
            self.push(raw, kind, token.start);
        }
    }

    /// After `import.meta.glob`: `("./*.ts")`, `(["./a/*.ts", "!./a/b.ts"], { eager: true })`.
    pub(super) fn globs(&mut self, mut ahead: Cursor<'a>) {
        if ahead.peek().is(b'<') && !skip_angles(&mut ahead) {
            return;
        }
        let open = ahead.next();
        if !open.is(b'(') {
            return;
        }
        let mut depth = 0;
        // Long lists are cut short by what a name holds, not by their length: each text is read once.
        loop {
            let token = ahead.next();
            match token.kind {
                Kind::Text => match self.reader.text(token) {
                    Some(text) if text.starts_with('!') => {}
                    Some(text) => self.pattern(&text, token.start),
                    None => self.opaque(token.start),
                },
                Kind::Punct(b'[') => depth += 1,
                Kind::Punct(b']') if depth > 1 => depth -= 1,
                Kind::Punct(b',') if depth > 0 => {}
                Kind::Punct(b']' | b')' | b',') => return,
                _ => return self.opaque(token.start),
            }
        }
    }

    fn pattern(&mut self, text: &str, at: usize) {
        let wild = text.find(['*', '?', '[', '{', '!', '(', '@', '+']);
        let scoped = text.find('@').filter(|at| *at == 0 || text.as_bytes()[at - 1] == b'/');
        let wild = match (wild, scoped) {
            // `@scope/x` is a name, `@(a|b)` a pattern.
            (Some(at), Some(scope)) if at == scope && !text[at..].starts_with("@(") => text[at + 1..]
                .find(['*', '?', '[', '{', '!', '('])
                .map(|more| at + 1 + more),
            (wild, _) => wild,
        };
        let Some(wild) = wild else {
            return self.push(text.to_owned(), ImportKind::Dynamic, at);
        };
        let folder = &text[..text[..wild].rfind('/').map_or(0, |slash| slash + 1)];
        if is_above(folder) || is_all_packages(folder) {
            return self.opaque(at);
        }
        if !folder.is_empty() {
            self.push(folder.to_owned(), ImportKind::Dynamic, at);
        }
    }

    /// After `require.context`: `("../x", true, /\.js$/)`.
    pub(super) fn context(&mut self, ahead: Cursor<'a>) {
        let mut inner = ahead.clone();
        if inner.next().is(b'(') {
            let first = inner.next();
            if first.kind == Kind::Text && self.reader.text(first).is_some_and(|text| is_above(&text)) {
                return self.opaque(first.start);
            }
        }
        self.call_at(ahead, ImportKind::Dynamic, true);
    }

    /// After `require.ensure`: `(["a", "b"], ...)`.
    pub(super) fn ensured(&mut self, mut ahead: Cursor<'a>) {
        let outer = ahead.next();
        let open = ahead.next();
        if outer.is(b'(') && open.is(b'[') {
            self.enter(open, 2, ImportKind::Require, false);
        }
    }
}

/// Whether it is a folder of packages, or of a scope's, so that a pattern behind it says which are meant.
fn is_all_packages(folder: &str) -> bool {
    let behind = folder.rsplit_once("node_modules/").map(|(_, behind)| behind);
    behind.is_some_and(|behind| behind.is_empty() || behind.starts_with('@') && behind.matches('/').count() == 1)
}

/// Whether a folder is only what lies above: `../..`, `/`.
fn is_above(folder: &str) -> bool {
    (folder.starts_with('/') || folder.split('/').any(|part| part == ".."))
        && folder.split('/').all(|part| matches!(part, "" | "." | ".."))
}

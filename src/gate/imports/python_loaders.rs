//! Calls of Python that load a module without being named for it: `pkgutil.resolve_name("redis:Redis")`,
//! `patch("redis.Redis")`.
//!
//! Such names are common words, so each counts only in a file that has the word of its library somewhere:
//! under whatever name code imports the library, that word is there. A string that is put together hides it,
//! as it hides everything. The same holds for `x.import_module("redis")` where x is a name: in a file without
//! `importlib` it is some other object's method, as `self.import_module` always is.
//!
//! Another name that an import or a plain assignment gives to such a call counts like its own (`from pkgutil
//! import resolve_name as rn`, `rn = pkgutil.resolve_name`), wherever in the file that stands.
//!
//! Not seen: programs that are started (`python -m redis`), what `sys.modules` already has, names that come
//! about in any other way.

use memchr::memmem;

use super::ImportKind;
use super::arguments::Argument;
use super::python::Scanner;
use super::token::Token;

/// What a call does with its argument.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Action {
    /// Loads what it names: `a.b` or `a.b:c`.
    Loads,
    /// Loads it to put something in its place, and may as well be another method of that name.
    Replaces,
    /// Loads what nobody can tell: a file under any name, whatever is installed.
    Hides,
    /// The same, and its strings may name it.
    Describes,
}

/// A call, and the words of which one must stand in the file; none where the name says enough.
#[derive(Clone, Copy, Debug)]
pub struct Loader {
    action: Action,
    homes: &'static [&'static str],
}

/// Bytes of a dotted name before a loader's that are looked at.
const MAX_OWNER: usize = 256;

/// What a call of this name may load.
#[inline]
pub fn named(name: &[u8]) -> Option<Loader> {
    // The shortest is `patch`.
    if name.len() < 5 || name.len() > 23 {
        return None;
    }
    let loader = |action, homes| Some(Loader { action, homes });
    match name {
        b"resolve_name" => loader(Action::Loads, &["pkgutil"]),
        b"find_spec" => loader(Action::Loads, &["importlib"]),
        b"find_loader" | b"get_loader" => loader(Action::Loads, &["pkgutil", "importlib"]),
        b"load_module" | b"find_module" => loader(Action::Loads, &["zipimport", "importlib", "import imp"]),
        b"locate" | b"safeimport" => loader(Action::Loads, &["pydoc"]),
        b"import_string" | b"import_from_string" | b"symbol_by_name" => loader(Action::Loads, &[]),
        b"patch" | b"multiple" => loader(Action::Replaces, &["mock"]),
        b"setattr" | b"delattr" => loader(Action::Replaces, &["monkeypatch"]),
        b"run_path" => loader(Action::Hides, &["runpy"]),
        b"entry_points" | b"iter_entry_points" | b"load_entry_point" => {
            loader(Action::Hides, &["importlib", "pkg_resources"])
        }
        b"spec_from_file_location"
        | b"spec_from_loader"
        | b"SourceFileLoader"
        | b"SourcelessFileLoader"
        | b"ExtensionFileLoader" => loader(Action::Hides, &["importlib"]),
        b"EntryPoint" => loader(Action::Describes, &["importlib", "pkg_resources"]),
        _ => None,
    }
}

impl<'a> Scanner<'a> {
    /// Whether `x.import_module` is some other object's method.
    pub(super) fn is_some_method(&mut self, token: Token, before: Token) -> bool {
        let home = match self.cursor.bytes(token) {
            b"import_module" => "importlib",
            b"run_module" => "runpy",
            b"importorskip" => "pytest",
            _ => return false,
        };
        let owner = self.owner(before);
        !owner.is_empty() && (matches!(owner, b"self" | b"cls") || !self.has_home(home))
    }

    /// The name before the dot; empty where there is none, or an expression.
    fn owner(&self, before: Token) -> &'a [u8] {
        if !before.is(b'.') {
            return &[];
        }
        let start = word_start(self.mask, before.start);
        // `self.x.import_module`: what x is, nobody can tell.
        match start > 0 && self.mask[start - 1] == b'.' {
            true => &[],
            false => &self.mask[start..before.start],
        }
    }

    /// What a call of this name may load in this file.
    #[inline]
    pub(super) fn called(&self, name: &[u8]) -> Option<Loader> {
        named(name).or_else(|| match self.renamed.is_empty() {
            true => None,
            false => self.renamed.get(name).copied(),
        })
    }

    /// From now on and before, the name calls the loader.
    pub(super) fn rename(&mut self, name: &'a [u8], loader: Loader) {
        self.renamed.entry(name).or_insert(loader);
    }

    /// The name in `name = a.b.loader`, of which the last word is given.
    pub(super) fn assigned(&self, token: Token) -> Option<&'a [u8]> {
        let is_blank = |byte: &u8| matches!(byte, b' ' | b'\t');
        let mask = self.mask;
        let before = mask[..token.start].iter().rev().take(MAX_OWNER);
        let owner = before
            .take_while(|byte| super::token::is_word_byte(**byte) || **byte == b'.')
            .count();
        let rest = mask[..token.start - owner].trim_ascii_end().strip_suffix(b"=")?;
        let blanks = rest.iter().rev().take_while(|byte| is_blank(byte)).count();
        let end = rest.len() - blanks;
        let start = word_start(mask, end);
        (start < end && !mask[start].is_ascii_digit() && mask[..start].last() != Some(&b'.')).then(|| &mask[start..end])
    }

    fn has_home(&mut self, home: &'static str) -> bool {
        if let Some((_, has)) = self.homes.iter().find(|(known, _)| *known == home) {
            return *has;
        }
        let has = memmem::find(self.source, home.as_bytes()).is_some();
        self.homes.push((home, has));
        has
    }

    /// At the name of such a call.
    pub(super) fn loader(&mut self, loader: Loader, token: Token, before: Token) {
        let mut ahead = self.cursor.clone();
        let open = ahead.next();
        let is_patch_of = open.is(b'.') && loader.action == Action::Replaces;
        if !open.is(b'(') && !open.is(b'.') {
            if let Some(name) = self.assigned(token) {
                self.rename(name, loader);
            }
            return;
        }
        let open = match is_patch_of {
            // `patch.dict("a.b")`
            true => {
                let member = ahead.next();
                if !ahead.is_word(member, b"dict") {
                    return;
                }
                ahead.next()
            }
            false => open,
        };
        let is_own = matches!(self.owner(before), b"self" | b"cls") && loader.action != Action::Replaces;
        if !open.is(b'(')
            || is_own
            || (!loader.homes.is_empty() && !loader.homes.iter().any(|home| self.has_home(home)))
        {
            return;
        }
        let words: &[&str] = match loader.action {
            Action::Replaces => &["target", "in_dict"],
            _ => &["name", "fullname", "path", "import_name", "dotted_path"],
        };
        if let Some(named) = self.keyword(&ahead, words) {
            ahead = named;
        }
        let argument = self.argument(&mut ahead);
        match (loader.action, argument) {
            (Action::Hides, _) => self.opaque(token.start),
            (Action::Describes, Argument::None) => {}
            (
                Action::Describes,
                Argument::Literal { at, .. } | Argument::Prefix { at, .. } | Argument::Other { at },
            ) => {
                self.computed(open, at);
            }
            (Action::Replaces, Argument::Literal { text, at }) => {
                // A target is an attribute of a module, but of these two it is a module or an object itself.
                let is_whole = is_patch_of || self.cursor.is_word(token, b"multiple");
                if (is_whole || text.contains('.')) && is_dotted(&text) {
                    self.push(text, ImportKind::Mock, at);
                }
            }
            (Action::Replaces, _) | (Action::Loads, Argument::None) => {}
            (Action::Loads, Argument::Literal { text, at }) => {
                // `redis:Redis` and `.redis` that a package is added to.
                let text = text.replace(':', ".");
                if is_dotted(text.trim_start_matches('.')) {
                    self.push(text, ImportKind::Dynamic, at);
                }
            }
            (Action::Loads, Argument::Prefix { text, at }) => {
                if !text.is_empty() {
                    self.push(text.replace(':', "."), ImportKind::Dynamic, at);
                }
                self.opaque(at);
            }
            (Action::Loads, Argument::Other { at }) => self.opaque(at),
        }
    }
}

/// Where the word that ends before this offset begins.
fn word_start(mask: &[u8], end: usize) -> usize {
    mask[..end]
        .iter()
        .rposition(|byte| !super::token::is_word_byte(*byte))
        .map_or(0, |at| at + 1)
}

/// Whether each part of a path is a name.
fn is_dotted(text: &str) -> bool {
    text.split('.').all(|part| {
        part.starts_with(|c: char| c.is_alphabetic() || c == '_')
            && part.chars().all(|c| c.is_alphanumeric() || c == '_')
    })
}

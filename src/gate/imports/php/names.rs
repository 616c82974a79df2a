//! `namespace`, `use`, and the names of PHP.

use super::super::ImportKind;
use super::super::literal_cursor::{Kind, Token};
use super::super::source::Fault;
use super::{HashMap, Rc, Scanner};

/// Functions and classes whose first argument names a class or function.
const ASKING: [&str; 21] = [
    "class_exists",
    "interface_exists",
    "trait_exists",
    "enum_exists",
    "function_exists",
    "method_exists",
    "property_exists",
    "class_alias",
    "class_implements",
    "class_parents",
    "class_uses",
    "get_class_methods",
    "get_class_vars",
    "call_user_func",
    "call_user_func_array",
    "constant",
    "defined",
    "reflectionclass",
    "reflectionmethod",
    "reflectionfunction",
    "is_callable",
];

/// As [`ASKING`], the second argument.
const ASKING_SECOND: [&str; 2] = ["is_a", "is_subclass_of"];

/// Whether a name of its own may follow this word after a blank. (Before PHP 8 a name could have
/// blanks before its backslashes.)
pub(super) fn comes_before_name(word: &[u8]) -> bool {
    let mut lower = [0; 12];
    let Some(lower) = lower.get_mut(..word.len()) else {
        return false;
    };
    lower.copy_from_slice(word);
    lower.make_ascii_lowercase();
    matches!(
        &*lower,
        b"new"
            | b"extends"
            | b"implements"
            | b"instanceof"
            | b"insteadof"
            | b"throw"
            | b"return"
            | b"case"
            | b"use"
            | b"as"
            | b"echo"
            | b"print"
            | b"and"
            | b"or"
            | b"xor"
            | b"static"
            | b"public"
            | b"private"
            | b"protected"
            | b"readonly"
            | b"var"
            | b"abstract"
            | b"final"
            | b"const"
            | b"yield"
            | b"from"
            | b"clone"
            | b"else"
            | b"do"
            | b"fn"
            | b"function"
            | b"catch"
            | b"match"
            | b"if"
            | b"elseif"
            | b"while"
            | b"for"
            | b"foreach"
            | b"switch"
            | b"default"
            | b"include"
            | b"include_once"
            | b"require"
            | b"require_once"
            | b"goto"
            | b"global"
            | b"self"
            | b"parent"
            | b"try"
            | b"finally"
    )
}

impl<'a> Scanner<'a> {
    /// After `namespace`.
    pub(super) fn namespace(&mut self) -> Result<(), Fault> {
        if self.cursor.peek_over_lines().is(b'\\') {
            // `namespace\x` is the namespace's own.
            let at = self.cursor.peek_over_lines().start;
            let segments = self.segments();
            return match segments.is_empty() {
                true => Ok(()),
                false => self.relative(segments, at),
            };
        }
        let first = self.cursor.peek_over_lines();
        match first.kind {
            Kind::Word => {
                self.cursor.next_over_lines();
                let mut path = vec![self.name(first)];
                path.extend(self.segments());
                self.namespace = path.as_slice().into();
                self.push(path.join("\\"), path, ImportKind::Declared, first.start)?;
                self.has_namespace = true;
            }
            Kind::Punct(b'{') => {
                self.has_namespace = false;
                self.namespace = Rc::default();
            }
            _ => return Ok(()),
        }
        self.outer = self.braces + usize::from(self.cursor.peek_over_lines().is(b'{'));
        self.aliases = HashMap::new();
        Ok(())
    }

    /// `\x` as often as it follows.
    fn segments(&mut self) -> Vec<String> {
        let mut segments = Vec::new();
        loop {
            let mut ahead = self.cursor.clone();
            if !ahead.next_over_lines().is(b'\\') {
                return segments;
            }
            let word = ahead.next_over_lines();
            if word.kind != Kind::Word {
                return segments;
            }
            segments.push(self.name(word));
            self.cursor = ahead;
        }
    }

    fn name(&self, token: Token) -> String {
        String::from_utf8_lossy(self.cursor.bytes(token)).into_owned()
    }

    /// At the first word of a name that a backslash follows.
    pub(super) fn qualified(&mut self, first: Token) -> Result<(), Fault> {
        let mut segments = vec![self.name(first)];
        segments.extend(self.segments());
        let raw = segments.join("\\");
        let alias = self.aliases.get(&self.cursor.bytes(first).to_ascii_lowercase());
        let identity = match alias {
            _ if segments.len() == 1 => return Ok(()),
            Some(path) => path.iter().cloned().chain(segments.drain(1..)).collect(),
            None if self.has_namespace => return self.relative(segments, first.start),
            None => segments,
        };
        self.push(raw, identity, ImportKind::Reference, first.start)
    }

    /// A name that begins in the file's namespace.
    fn relative(&mut self, segments: Vec<String>, at: usize) -> Result<(), Fault> {
        let (raw, namespace) = (segments.join("\\"), self.namespace.clone());
        match namespace.is_empty() {
            true => self.push(raw, segments, ImportKind::Reference, at),
            false => self.push(raw, [&*namespace, &segments].concat(), ImportKind::Relative, at),
        }
    }

    /// At a backslash that begins a name.
    pub(super) fn rooted(&mut self, token: Token) -> Result<(), Fault> {
        let first = self.cursor.peek_over_lines();
        if first.kind != Kind::Word {
            return Ok(());
        }
        self.cursor.next_over_lines();
        let mut segments = vec![self.name(first)];
        segments.extend(self.segments());
        if let [name] = segments.as_slice() {
            self.asks_for_class(name.to_ascii_lowercase().as_bytes());
        }
        self.push(
            format!("\\{}", segments.join("\\")),
            segments,
            ImportKind::Reference,
            token.start,
        )
    }

    /// After `use` that is neither a closure's nor a class's.
    pub(super) fn use_statement(&mut self) -> Result<(), Fault> {
        let is_class = !self.skip_kind();
        loop {
            let mut first = self.cursor.peek_over_lines();
            let at = first.start;
            if first.is(b'\\') {
                self.cursor.next_over_lines();
                first = self.cursor.peek_over_lines();
            }
            if first.kind != Kind::Word {
                return Ok(());
            }
            self.cursor.next_over_lines();
            let mut segments = vec![self.name(first)];
            segments.extend(self.segments());
            let mut ahead = self.cursor.clone();
            if ahead.next_over_lines().is(b'\\') && ahead.next_over_lines().is(b'{') {
                self.cursor = ahead;
                self.group(&segments, is_class)?;
            } else {
                self.imported(segments, is_class, at)?;
            }
            if !self.cursor.peek_over_lines().is(b',') {
                return Ok(());
            }
            self.cursor.next_over_lines();
        }
    }

    /// Skips `function` and `const`; whether one was there.
    fn skip_kind(&mut self) -> bool {
        let mut ahead = self.cursor.clone();
        let word = ahead.next_over_lines();
        let follows = ahead.peek_over_lines();
        let is_kind = (self.is(word, b"function") || self.is(word, b"const"))
            && (follows.kind == Kind::Word || (follows.is(b'\\') && follows.start > word.end))
            && !self.is(follows, b"as");
        if is_kind {
            self.cursor = ahead;
        }
        is_kind
    }

    /// After the `{` of `use Predis\{`.
    fn group(&mut self, prefix: &[String], is_class: bool) -> Result<(), Fault> {
        loop {
            let is_class = !self.skip_kind() && is_class;
            let first = self.cursor.next_over_lines();
            match first.kind {
                Kind::Word => {
                    let mut segments = prefix.to_vec();
                    segments.push(self.name(first));
                    segments.extend(self.segments());
                    self.imported(segments, is_class, first.start)?;
                }
                Kind::Punct(b',' | b'\\') => {}
                Kind::Punct(b'}') | Kind::End => return Ok(()),
                _ => {}
            }
        }
    }

    /// One name of a `use`, with its alias if one follows.
    fn imported(&mut self, segments: Vec<String>, is_class: bool, at: usize) -> Result<(), Fault> {
        let mut alias = segments
            .last()
            .map(|last| last.clone().into_bytes())
            .unwrap_or_default();
        if self.is(self.cursor.peek_over_lines(), b"as") {
            self.cursor.next_over_lines();
            let name = self.cursor.peek_over_lines();
            if name.kind == Kind::Word {
                self.cursor.next_over_lines();
                alias = self.cursor.bytes(name).to_vec();
            }
        }
        self.push(segments.join("\\"), segments.clone(), ImportKind::Static, at)?;
        if is_class {
            self.aliases.insert(alias.to_ascii_lowercase(), segments);
        }
        Ok(())
    }

    /// After the name of a function that may ask for a class by its name.
    pub(super) fn asks_for_class(&mut self, name: &[u8]) {
        let is_second = ASKING_SECOND.iter().any(|known| known.as_bytes() == name);
        let is_first = name == b"new" || ASKING.iter().any(|known| known.as_bytes() == name);
        if !is_first && !is_second {
            return;
        }
        let mut ahead = self.cursor.clone();
        if !ahead.next_over_lines().is(b'(') {
            return;
        }
        let mut token = ahead.next_over_lines();
        let mut left = 64;
        if is_second {
            while left > 0 && !token.is(b',') && token.kind != Kind::End {
                token = ahead.next_over_lines();
                left -= 1;
            }
            token = ahead.next_over_lines();
        }
        if token.kind == Kind::Word && ahead.peek().is(b':') {
            // A named argument.
            ahead.next();
            token = ahead.next_over_lines();
        }
        if token.kind == Kind::Text {
            self.class_name(token, ImportKind::Dynamic);
        }
    }

    /// A string, where `::` makes it a class's name.
    pub(super) fn text(&mut self, token: Token) {
        self.class_text(token);
        let mut ahead = self.cursor.clone();
        if ahead.next_over_lines().is(b':') && ahead.next().is(b':') {
            self.class_name(token, ImportKind::Dynamic);
        }
    }

    /// A literal that names a class or a member of it.
    pub(super) fn class_name(&mut self, token: Token, kind: ImportKind) {
        let Some(raw) = self.class_literal(token) else { return };
        let name = raw.split("::").next().unwrap_or_default().trim_start_matches('\\');
        let is_name = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '\\' || !c.is_ascii();
        if name.is_empty() || !name.chars().all(is_name) {
            return;
        }
        let identity = name.split('\\').filter(|s| !s.is_empty()).map(str::to_owned).collect();
        self.found.push(super::Found {
            raw,
            identity,
            kind,
            at: token.start,
        });
    }
}

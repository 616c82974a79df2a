//! Imports of C#.
//!
//! A dotted name that is used without a `using` is one of three things: certain where a type must
//! stand (`new`, `typeof`, `is`, `as`, `catch`, a declaration, base list, constraint, cast, tuple,
//! generic argument, attribute) or where `::` stands in it; nothing where something is joined to its
//! front or its root is in lower case; and else [`ImportKind::Member`], since `StackExchange.Redis.X.Y()`
//! and `Config.Redis.Url.Get()` look alike, and `nameof` takes both. Names whose root this file
//! declares are none. A root that is an alias of the file stands for what it names.
//!
//! A name may begin in a namespace around it (`namespace A { using B; }` is `A.B` where there is one), so each
//! is given with those ([`Within`]). Where a file has an `#if`, all that it declares count, since the braces of
//! a branch may close or open what another one does not.
//!
//! Not seen: names of one segment, which a `using` must have brought.

mod brackets;
mod literals;
pub(super) mod mask;
mod positions;
#[cfg(test)]
mod tests;

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use self::brackets::Brackets;
use self::positions::Context;
use super::dotted::{Cursor, Dialect, Kind, Token};
use super::reflection::{self, Call, Computed};
use super::source::{Fault, Found};
use super::{ImportKind, Within};

/// The namespaces around what stands from each offset on, sorted.
pub type Namespaces = Vec<(usize, Option<Arc<Within>>)>;

/// What a file has.
pub struct Scan {
    /// Every import, in no particular order.
    pub found: Vec<Found>,
    /// See [`Namespaces`].
    pub namespaces: Namespaces,
}

/// Every import, and the namespaces around.
pub fn scan(source: &[u8]) -> Result<Scan, Fault> {
    let masked = mask::mask(source)?;
    let mut scanner = Scanner {
        source,
        cursor: Cursor::new(&masked.mask, Dialect::CSharp),
        found: Vec::new(),
        context: Context::default(),
        brackets: Brackets::default(),
        members: Vec::new(),
        declared: HashSet::new(),
        aliases: HashMap::new(),
        depth: 0,
        around: Vec::new(),
        namespaces: Vec::new(),
    };
    scanner.run();
    scanner.settle_members();
    let (mut found, mut namespaces) = (scanner.found, scanner.namespaces);
    if masked.has_branches {
        namespaces = all(&found)?;
    }
    found.extend(
        masked
            .directives
            .iter()
            .filter_map(|(from, to)| literals::directive(source, *from, *to)),
    );
    Ok(Scan { found, namespaces })
}

/// Every namespace that is declared, as if all of them were around each name.
fn all(found: &[Found]) -> Result<Namespaces, Fault> {
    let mut names = Vec::new();
    let mut seen = HashSet::new();
    for found in found.iter().filter(|found| found.kind == ImportKind::Declared) {
        if seen.insert(&found.identity) {
            names.push(found.identity.clone());
        }
        if names.len() > MAX_ALL {
            return Err(Fault {
                why: "has an #if and more namespaces than can be told apart",
                at: found.at,
            });
        }
    }
    Ok(vec![(0, (!names.is_empty()).then(|| Arc::new(Within(names))))])
}

struct Scanner<'a> {
    source: &'a [u8],
    cursor: Cursor<'a>,
    found: Vec<Found>,
    context: Context,
    brackets: Brackets,
    /// Offsets of dotted names in expressions.
    members: Vec<usize>,
    /// Names that the file gives to types, members and variables; in upper case only.
    declared: HashSet<&'a [u8]>,
    /// What the file's aliases stand for.
    aliases: HashMap<String, Vec<String>>,
    /// Braces that are open.
    depth: usize,
    /// The namespaces around, each with the depth inside of it and its whole name.
    around: Vec<(usize, Vec<String>)>,
    /// See [`Scan::namespaces`].
    namespaces: Namespaces,
}

/// Segments of a nested namespace's whole name; deeper ones are not joined.
const MAX_JOINED: usize = 64;
/// Namespaces of a file with an `#if`.
const MAX_ALL: usize = 100;

impl<'a> Scanner<'a> {
    fn run(&mut self) {
        let mut chain = Vec::new();
        loop {
            let token = self.cursor.next();
            match token.kind {
                Kind::End => break,
                Kind::Word => self.name(token, &mut chain),
                kind => {
                    self.brace(kind);
                    self.brackets.token(self.cursor, kind, &self.context, &mut self.members);
                    self.certain();
                    self.context.token(kind);
                    self.context.push(token);
                }
            }
        }
        self.brackets.clear(&mut self.members);
    }

    /// Where a namespace's block ends. Branches of `#if` may open a brace twice, so a name that was joined is reported
    /// beside the one that is written.
    fn brace(&mut self, kind: Kind) {
        match kind {
            Kind::Punct(b'{') => self.depth += 1,
            Kind::Punct(b'}') => {
                self.depth = self.depth.saturating_sub(1);
                let before = self.around.len();
                while self.around.last().is_some_and(|(depth, _)| *depth > self.depth) {
                    self.around.pop();
                }
                if self.around.len() < before {
                    self.within(self.around.last().map(|(_, name)| name.clone()));
                }
            }
            _ => {}
        }
    }

    /// `namespace A { namespace B { } }` declares `A` and `A.B`.
    fn nested(&mut self, written: Found, is_block: bool) {
        let outer = self.around.last().map_or(&[][..], |(_, name)| name.as_slice());
        let whole = [outer, &written.identity].concat();
        if whole.len() <= MAX_JOINED {
            if !outer.is_empty() {
                self.found.push(Found {
                    raw: whole.join("."),
                    identity: whole.clone(),
                    kind: written.kind,
                    at: written.at,
                });
            }
            self.within(Some(whole.clone()));
            if is_block {
                self.around.push((self.depth + 1, whole));
            }
        }
        self.found.push(written);
    }

    /// From here on this namespace is around, or none.
    fn within(&mut self, name: Option<Vec<String>>) {
        let within = name.map(|name| Arc::new(Within(vec![name])));
        self.namespaces.push((self.cursor.offset(), within));
    }

    /// Reports the names of which brackets have shown that they are types.
    fn certain(&mut self) {
        for at in std::mem::take(&mut self.brackets.certain) {
            self.reference(at, ImportKind::Reference);
        }
    }

    /// A word and the dotted name that begins with it.
    fn name(&mut self, token: Token, chain: &mut Vec<Token>) {
        let before = self.context.before[0];
        let mut first = token;
        if self.cursor.is_scope_next() {
            let mut ahead = self.cursor;
            ahead.next();
            first = ahead.next();
            if first.kind != Kind::Word {
                self.context.push(token);
                return;
            }
            self.cursor = ahead;
        }
        self.cursor.chain(first, chain);
        let last = chain[chain.len() - 1];
        let is_qualified = first != token;
        if !before.joins() {
            if is_qualified {
                self.reference(token.start, ImportKind::Reference);
                self.generic(None);
            } else if chain.len() > 1 {
                self.dotted(token, chain);
            } else if self.word(token) {
                return;
            }
        } else {
            self.generic(None);
        }
        if let Some(call) = loader(self.cursor, chain, before) {
            self.found
                .extend(reflection::call(self.cursor, self.source, call, literals::string));
        }
        self.context.push(Token {
            start: token.start,
            ..last
        });
        self.context.last_word = last.start;
    }

    /// A dotted name with nothing joined to its front.
    fn dotted(&mut self, first: Token, chain: &[Token]) {
        if self.cursor.bytes(first)[0].is_ascii_digit() || !self.may_be_namespace(first) {
            self.brackets.word(self.cursor, first, &mut self.members);
            self.generic(None);
        } else if positions::is_type(self.cursor, &self.context) {
            self.reference(first.start, ImportKind::Reference);
            self.generic(None);
        } else if self.cursor.next_byte() == b'<' {
            self.generic(Some(first.start));
        } else if self.brackets.is_open() {
            self.brackets.pending.push(first.start);
        } else if chain.len() > 2 {
            self.members.push(first.start);
        }
    }

    /// Opens the generic arguments that follow, if any do. `owner` is the name before them where it
    /// is not known to be a type.
    fn generic(&mut self, owner: Option<usize>) {
        if self.cursor.next_byte() == b'<' {
            self.brackets.generic(owner);
            let open = self.cursor.next();
            self.context.push(open);
        }
    }

    /// `this.A.B` and `base.A.B` begin with no namespace.
    fn may_be_namespace(&self, first: Token) -> bool {
        !matches!(self.cursor.bytes(first), b"this" | b"base")
    }

    /// A word by itself. Whether it was a statement that has been read.
    fn word(&mut self, token: Token) -> bool {
        let bytes = self.cursor.bytes(token);
        match bytes {
            b"using" => return self.using(token),
            b"namespace" => {
                let mut ahead = self.cursor;
                let first = ahead.next();
                if first.kind == Kind::Word {
                    let mut chain = Vec::new();
                    ahead.chain(first, &mut chain);
                    self.cursor = ahead;
                    let found = ahead.found(&chain, ImportKind::Declared);
                    self.nested(found, ahead.peek().is(b'{'));
                }
            }
            b"extern" => {
                let mut ahead = self.cursor;
                let alias = ahead.next();
                let name = ahead.next();
                if ahead.is_word(alias, b"alias") && name.kind == Kind::Word && ahead.peek().is(b';') {
                    self.found.push(ahead.found(&[name], ImportKind::Static));
                    self.cursor = ahead;
                }
            }
            b"class" | b"struct" | b"interface" | b"record" | b"enum" => {
                let name = self.cursor.peek();
                if name.kind == Kind::Word && !matches!(self.context.before[0].kind, Kind::Punct(b':' | b',')) {
                    self.context.begin_header();
                    self.declared.insert(self.cursor.bytes(name));
                }
            }
            _ if bytes.contains(&b'\\') && self.cursor.name(token) == "using" => return self.using(token),
            _ => {
                if bytes[0].is_ascii_uppercase() && self.is_declaration() {
                    self.declared.insert(bytes);
                }
                self.brackets.word(self.cursor, token, &mut self.members);
                self.generic(None);
            }
        }
        false
    }

    /// Whether the word that was just read is the name of what its statement declares.
    fn is_declaration(&self) -> bool {
        let before = self.context.before[0];
        let has_type = match before.kind {
            Kind::Word => !positions::is_operator(self.cursor.bytes(before)),
            Kind::Punct(b'>' | b']' | b'?') => true,
            _ => false,
        };
        has_type && matches!(self.cursor.next_byte(), b'{' | b';' | b'=' | b',' | b')')
    }

    /// After `using`; whether it was a directive.
    fn using(&mut self, keyword: Token) -> bool {
        let mut ahead = self.cursor;
        let mut is_static = false;
        let mut first = ahead.next();
        while (ahead.is_word(first, b"static") || ahead.is_word(first, b"unsafe")) && ahead.peek().kind == Kind::Word {
            is_static |= ahead.is_word(first, b"static");
            first = ahead.next();
        }
        if first.kind != Kind::Word {
            return false;
        }
        if ahead.peek().is(b'=') {
            ahead.next();
            self.cursor = ahead;
            self.alias(first);
            self.context.push(keyword);
            return true;
        }
        let start = first.start;
        let after = self.end_of_name(start);
        if after.peek().is(b';') || (is_static && after.peek().is(b'<')) {
            self.reference(start, ImportKind::Static);
            self.cursor = after;
            self.context.push(first);
            self.generic(None);
            return true;
        }
        // `using A.B x = ...`, `using var x = ...`: a statement.
        false
    }

    /// After `using x =`: a type of any form. Each name in it is imported but for those of a tuple's
    /// elements, which stand behind a type. In brackets a name by itself is a type, which needs a `using` of its own.
    fn alias(&mut self, name: Token) {
        let mut before = Token::NONE;
        let mut names: Vec<(usize, ImportKind)> = Vec::new();
        let mut depth = 0usize;
        loop {
            let token = self.cursor.peek();
            match token.kind {
                Kind::End | Kind::Punct(b';' | b'{' | b'}') => break,
                Kind::Word if !before.joins() => {
                    let is_element = matches!(before.kind, Kind::Word | Kind::Punct(b'>' | b']' | b'?' | b'*' | b')'));
                    self.cursor = self.end_of_name(token.start);
                    let is_type = depth > 0 && token.end == self.cursor.offset();
                    if !is_element && !is_type && !positions::is_predefined(self.cursor.bytes(token)) {
                        let kind = if depth > 0 {
                            ImportKind::Reference
                        } else {
                            ImportKind::Static
                        };
                        names.push((token.start, kind));
                    }
                }
                kind => {
                    match kind {
                        Kind::Punct(b'<' | b'(') => depth += 1,
                        Kind::Punct(b'>' | b')') => depth = depth.saturating_sub(1),
                        _ => {}
                    }
                    self.cursor.next();
                }
            }
            before = token;
        }
        let is_plain = matches!(before.kind, Kind::Word) && names.len() == 1;
        for (at, kind) in &names {
            // No alias of the file counts in another one.
            self.reference(*at, ImportKind::Static);
            if let Some(found) = self.found.last_mut() {
                found.kind = *kind;
            }
        }
        if let (true, Some(target)) = (is_plain, self.found.last()) {
            let name = self.cursor.name(name).into_owned();
            self.aliases.insert(name, target.identity.clone());
        }
    }

    /// The cursor after the dotted name at an offset.
    fn end_of_name(&self, at: usize) -> Cursor<'a> {
        let mut cursor = self.cursor.moved(at);
        let mut first = cursor.next();
        if cursor.is_scope_next() {
            let mut ahead = cursor;
            ahead.next();
            let word = ahead.next();
            if word.kind == Kind::Word {
                (first, cursor) = (word, ahead);
            }
        }
        cursor.chain(first, &mut Vec::new());
        cursor
    }

    /// Reports the dotted name at an offset.
    fn reference(&mut self, at: usize, kind: ImportKind) {
        let mut cursor = self.cursor.moved(at);
        let first = cursor.next();
        let mut identity = Vec::new();
        let mut raw = String::new();
        let mut root = first;
        if cursor.is_scope_next() {
            let qualifier = cursor.name(first);
            if let Some(target) = self.aliases.get(&*qualifier) {
                identity.extend(target.iter().cloned());
            }
            raw.push_str(&qualifier);
            raw.push_str("::");
            cursor.next();
            root = cursor.next();
        }
        let mut chain = Vec::new();
        cursor.chain(root, &mut chain);
        let names = cursor.names(&chain);
        raw.push_str(&names.join("."));
        match self.aliases.get(&names[0]) {
            Some(target) if root == first && kind != ImportKind::Static => {
                identity.extend(target.iter().chain(&names[1..]).cloned());
            }
            _ => identity.extend(names),
        }
        self.found.push(Found {
            raw,
            identity,
            kind,
            at,
        });
    }

    fn settle_members(&mut self) {
        for at in std::mem::take(&mut self.members) {
            let mut cursor = self.cursor.moved(at);
            let root = cursor.next();
            let mut chain = Vec::new();
            cursor.chain(root, &mut chain);
            let is_upper = |token: Token| {
                self.cursor
                    .name(token)
                    .chars()
                    .next()
                    .is_some_and(|c| !c.is_lowercase() && c != '_')
            };
            if chain.len() > 2
                && is_upper(chain[0])
                && is_upper(chain[1])
                && !self.declared.contains(self.cursor.bytes(root))
            {
                self.reference(at, ImportKind::Member);
            }
        }
    }
}

/// The call that loads a type, an assembly or a library and follows this chain, if one does.
fn loader(cursor: Cursor<'_>, chain: &[Token], before: Token) -> Option<Call> {
    let name = *chain.last()?;
    let bytes = cursor.bytes(name);
    let of = |owner: &[u8]| chain.len() > 1 && cursor.is_word(chain[chain.len() - 2], owner);
    let is_joined = chain.len() > 1 || before.kind == Kind::Dot;
    let (computed, arguments) = match bytes {
        b"GetType" | b"ReflectionOnlyGetType" if of(b"Type") => (Computed::Opaque, 1),
        b"GetType" if is_joined => (Computed::Ignored, 1),
        b"Load"
        | b"LoadFrom"
        | b"LoadFile"
        | b"LoadWithPartialName"
        | b"UnsafeLoadFrom"
        | b"ReflectionOnlyLoad"
        | b"ReflectionOnlyLoadFrom"
            if of(b"Assembly") =>
        {
            (Computed::Opaque, 1)
        }
        b"LoadFromAssemblyName" | b"LoadFromAssemblyPath" if is_joined => (Computed::Opaque, 1),
        b"CreateInstance" | b"CreateInstanceFrom" | b"CreateInstanceAndUnwrap" if is_joined => (Computed::Ignored, 2),
        b"Load" | b"TryLoad" if of(b"NativeLibrary") => (Computed::Ignored, 1),
        b"DllImport" | b"LibraryImport" | b"DllImportAttribute" => (Computed::Ignored, 1),
        _ => return None,
    };
    let next = cursor.next_byte();
    let is_value = computed == Computed::Opaque && matches!(next, b';' | b',' | b')');
    (is_value || next == b'(').then_some(Call {
        name,
        computed,
        arguments,
    })
}

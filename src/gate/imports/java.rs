//! Imports of Java.
//!
//! `import` is a keyword: wherever it stands outside comments and strings it is a statement. The
//! words of a module declaration are only known once `module a.b {` was seen.
//!
//! A name that is used without an import counts where it can only be one: two or more segments
//! that begin in lower case, then one in upper case, not joined to anything before it. In an expression
//! a variable goes before a package, so there its first name must be none that the place sees, see
//! [`scopes`]. Where the last segment has no lower
//! case (`config.redis.URL`, `java.net.URI`) it must stand where a type does, or be one letter and have a method that
//! is called. Below a package of one
//! segment (`redis.Jedis`) a name counts where the grammar has no place for a value, see
//! [`Position`]. Not seen: such names in expressions (`redis.Jedis.create()`), and types in lower case.

mod escapes;
pub(super) mod mask;
mod scopes;
#[cfg(test)]
mod tests;

use self::scopes::{Place, Scopes};
use super::ImportKind;
use super::dotted::{Cursor, Dialect, Kind, Token};
use super::reflection::{self, Call, Computed};
use super::source::{Fault, Found};
use super::type_position::Position;

/// Every import, in no particular order.
pub fn scan(source: &[u8]) -> Result<Vec<Found>, Fault> {
    let text = escapes::translate(source)?;
    let placed = |fault: Fault| Fault {
        at: text.origin(fault.at),
        ..fault
    };
    let mask = mask::mask(&text.bytes).map_err(placed)?;
    let mut scanner = Scanner {
        source: &text.bytes,
        cursor: Cursor::new(&mask, Dialect::Java),
        found: Vec::new(),
        chain: Vec::new(),
        is_module: false,
        has_for_name: false,
        scopes: Scopes::new(),
        paths: Vec::new(),
    };
    scanner.run();
    scanner.settle();
    let mut found = scanner.found;
    for import in &mut found {
        import.at = text.origin(import.at);
    }
    Ok(found)
}

struct Scanner<'a> {
    source: &'a [u8],
    cursor: Cursor<'a>,
    found: Vec<Found>,
    chain: Vec<Token>,
    /// Whether this is a module declaration.
    is_module: bool,
    /// Whether `forName` alone is the method of `Class`.
    has_for_name: bool,
    scopes: Scopes<'a>,
    /// Dotted names that may begin with a variable, and how many segments lead to their type.
    paths: Vec<(Token, usize, Place)>,
}

impl Scanner<'_> {
    fn run(&mut self) {
        let mut before = Token::NONE;
        let mut position = Position::new(Dialect::Java);
        // Where the last generic arguments ended.
        let mut generic = 0;
        loop {
            let token = self.cursor.next();
            match token.kind {
                Kind::End => return,
                Kind::Word => {
                    let mut chain = std::mem::take(&mut self.chain);
                    self.cursor.chain(token, &mut chain);
                    let last = chain[chain.len() - 1];
                    if chain.len() == 1 && !before.joins() {
                        self.scopes.word(self.cursor, token, before, generic);
                        self.word(token);
                    } else if !before.joins() {
                        self.reference(&chain, before, &position);
                    }
                    self.call(&chain, before);
                    self.chain = chain;
                    before = last;
                }
                _ => {
                    self.scopes.token(self.cursor, token);
                    before = token;
                }
            }
            let is_inside = position.is_in_generics();
            position.push(self.cursor, before);
            if is_inside && !position.is_in_generics() {
                generic = before.end;
            }
        }
    }

    /// Reports the dotted names that no variable begins.
    fn settle(&mut self) {
        for (first, length, place) in std::mem::take(&mut self.paths) {
            if !self.scopes.hides(self.cursor.bytes(first), place) {
                let mut cursor = self.cursor.moved(first.end);
                cursor.chain(first, &mut self.chain);
                self.found
                    .push(cursor.found(&self.chain[..length], ImportKind::Reference));
            }
        }
    }

    fn word(&mut self, token: Token) {
        match self.cursor.bytes(token) {
            b"import" => self.import(),
            b"package" => {
                if let Some(chain) = self.name() {
                    self.found.push(self.cursor.found(&chain, ImportKind::Declared));
                }
            }
            b"module" => {
                let mut ahead = self.cursor;
                let first = ahead.next();
                if first.kind == Kind::Word {
                    ahead.chain(first, &mut self.chain);
                    self.is_module |= ahead.peek().is(b'{');
                }
            }
            b"requires" if self.is_module => self.requires(),
            b"uses" if self.is_module => self.services(),
            b"provides" if self.is_module => self.services(),
            b"exports" | b"opens" if self.is_module => {
                self.name();
            }
            _ => {}
        }
    }

    /// The dotted name that follows.
    fn name(&mut self) -> Option<Vec<Token>> {
        let first = self.cursor.peek();
        if first.kind != Kind::Word {
            return None;
        }
        let mut chain = Vec::new();
        self.cursor.next();
        self.cursor.chain(first, &mut chain);
        Some(chain)
    }

    /// After `import`.
    fn import(&mut self) {
        let mut ahead = self.cursor;
        let word = ahead.next();
        let follows = ahead.peek().kind == Kind::Word;
        if follows && (ahead.is_word(word, b"static") || ahead.is_word(word, b"module")) {
            self.cursor = ahead;
        }
        let Some(chain) = self.name() else { return };
        let mut found = self.cursor.found(&chain, ImportKind::Static);
        let mut ahead = self.cursor;
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

    /// After `requires`: the last name before `;` is the module's.
    fn requires(&mut self) {
        let mut last = None;
        while let Some(chain) = self.name() {
            last = Some(chain);
        }
        if let Some(chain) = last {
            self.found.push(self.cursor.found(&chain, ImportKind::Static));
        }
    }

    /// After `uses` or `provides`: `a.B with c.D, e.F;`.
    fn services(&mut self) {
        while let Some(chain) = self.name() {
            if !(chain.len() == 1 && self.cursor.is_word(chain[0], b"with")) {
                self.found.push(self.cursor.found(&chain, ImportKind::Reference));
            }
            if self.cursor.peek().is(b',') {
                self.cursor.next();
            }
        }
    }

    fn reference(&mut self, chain: &[Token], before: Token, position: &Position) {
        match type_path(self.cursor, chain, before, position) {
            Some(path) if path.is_certain => {
                let found = self.cursor.found(&chain[..path.length], ImportKind::Reference);
                self.found.push(found);
            }
            Some(path) => {
                let place = self.scopes.place(self.cursor, chain[0]);
                self.paths.push((chain[0], path.length, place));
            }
            None => {}
        }
    }

    /// `Class.forName(x)`, `loader.loadClass(x)`, `System.loadLibrary(x)`.
    fn call(&mut self, chain: &[Token], before: Token) {
        if let Some(call) = loader(self.cursor, chain, before, self.has_for_name) {
            self.found
                .extend(reflection::call(self.cursor, self.source, call, string));
        }
    }
}

/// The call that loads a class and follows this chain, if one does; for Kotlin as well.
pub fn loader(cursor: Cursor<'_>, chain: &[Token], before: Token, has_for_name: bool) -> Option<Call> {
    let mut name = *chain.last()?;
    let of = |owner: &[u8]| chain.len() > 1 && cursor.is_word(chain[chain.len() - 2], owner);
    let is_joined = chain.len() > 1 || before.kind == Kind::Dot;
    let computed = match cursor.bytes(name) {
        b"forName" if of(b"Class") || (!is_joined && has_for_name) => Computed::Opaque,
        // A call of some loader; without an owner it may be the declaration of such a method.
        b"loadClass" if is_joined => Computed::Opaque,
        b"loadClass" | b"findClass" | b"loadLibrary" => Computed::Ignored,
        // `Class::forName` may be called under any name.
        b"Class" if cursor.is_scope_next() => {
            let mut ahead = cursor;
            ahead.next();
            name = ahead.next();
            if !ahead.is_word(name, b"forName") {
                return None;
            }
            Computed::Opaque
        }
        _ => return None,
    };
    (matches!(cursor.next_byte(), b'(' | b':')).then_some(Call {
        name,
        computed,
        arguments: 1,
    })
}

/// The path of a type in a dotted name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TypePath {
    /// How many of the segments it is.
    pub length: usize,
    /// Whether nothing but a type can stand there. A variable of the first name hides any other.
    pub is_certain: bool,
}

/// The path of a type that a chain begins with, if it can be nothing else but a variable's members; for Kotlin as well.
pub fn type_path(cursor: Cursor<'_>, chain: &[Token], before: Token, position: &Position) -> Option<TypePath> {
    if chain.len() < 2 {
        return None;
    }
    let certain = |length| {
        Some(TypePath {
            length,
            is_certain: true,
        })
    };
    let first = cursor.bytes(chain[0]);
    if matches!(first, b"this" | b"super" | b"it") || first[0].is_ascii_digit() {
        return None;
    }
    let Some(lower) = chain.iter().position(|word| begins_upper(cursor.bytes(*word))) else {
        if chain.len() < 3 && cursor.next_byte() != b'.' {
            return None;
        }
        // `redis.clients.jedis.@NonNull Jedis`
        let mut ahead = cursor;
        let is_annotated = ahead.next().kind == Kind::Dot && ahead.next().is(b'@') && ahead.next().kind == Kind::Word;
        return match is_annotated {
            true => certain(chain.len()),
            false => None,
        };
    };
    let name = cursor.bytes(chain[lower]);
    let follows = chain.get(lower + 1).copied();
    let is_type = lower > 0 && position.is_type(cursor, follows);
    // `MIN < config.redis.MAX` and `f(MIN < order.Total.x(), y)` have no generic arguments.
    let may_close =
        |bytes: &[u8]| !position.is_in_generics() || follows.is_none() && bytes.contains(&cursor.next_byte());
    if lower < 2 {
        let is_name = name.iter().any(u8::is_ascii_lowercase) || name.len() == 1 && may_close(b">");
        return if lower == 1 && is_name && is_type {
            certain(2)
        } else {
            None
        };
    }
    // In Java what a statement calls without `new` is a method; in brackets it may be a pattern.
    let may_call = matches!(before.kind, Kind::Punct(b';' | b'{' | b'}' | b'='));
    if may_call && follows.is_none() && cursor.next_byte() == b'(' && position.is_of(Dialect::Java) {
        return None;
    }
    let is_plain = name.iter().any(u8::is_ascii_lowercase) && !name.contains(&b'_');
    let is_certain = match is_plain {
        true => is_type && may_close(b">,&["),
        false => is_type && may_close(b">") || stands_as_type(cursor, chain, lower, before, position),
    };
    let may_be_path = is_plain || is_domain(first) || is_called(cursor, chain, lower, position);
    (is_certain || may_be_path).then_some(TypePath {
        length: lower + 1,
        is_certain,
    })
}

/// Whether a name of one letter has a method that is called, or in Kotlin is called itself.
fn is_called(cursor: Cursor<'_>, chain: &[Token], last: usize, position: &Position) -> bool {
    let is_call = cursor.bytes(chain[last]).len() == 1 && cursor.next_byte() == b'(';
    match &chain[last + 1..] {
        [] => is_call && position.is_of(Dialect::Kotlin),
        [method] => is_call && !begins_upper(cursor.bytes(*method)),
        _ => false,
    }
}

/// Of a name in capitals or with a `_`, which may be a constant's or an unusual method's.
fn stands_as_type(cursor: Cursor<'_>, chain: &[Token], last: usize, before: Token, position: &Position) -> bool {
    let is_last = last + 1 == chain.len();
    let is_introduced = before.is(b'@')
        || (before.kind == Kind::Word
            && matches!(
                cursor.bytes(before),
                b"new" | b"extends" | b"implements" | b"throws" | b"instanceof"
            ));
    is_introduced
        // In Kotlin a word behind it may be an operator, or begin the next line.
        || (is_last
            && position.is_of(Dialect::Java)
            && matches!(cursor.peek().kind, Kind::Word | Kind::Dots)
            && !cursor.is_word(cursor.peek(), b"instanceof"))
        || (is_last && cursor.peek().kind == Kind::Scope)
        || (!is_last && cursor.is_word(chain[last + 1], b"class"))
}

/// Whether packages of domains, or the language's own, begin with this name.
pub fn is_domain(name: &[u8]) -> bool {
    matches!(
        name,
        b"com"
            | b"org"
            | b"net"
            | b"io"
            | b"dev"
            | b"java"
            | b"javax"
            | b"jakarta"
            | b"jdk"
            | b"sun"
            | b"kotlin"
            | b"kotlinx"
    )
}

/// Whether a chain may be the full path of a function or property: its first two names are written like packages.
pub fn may_be_path(cursor: Cursor<'_>, chain: &[Token]) -> bool {
    let first = cursor.bytes(chain[0]);
    chain.len() > 2
        && !matches!(first, b"this" | b"super" | b"it")
        && !first[0].is_ascii_digit()
        && !begins_upper(first)
        && !begins_upper(cursor.bytes(chain[1]))
}

fn begins_upper(word: &[u8]) -> bool {
    let word = word.strip_prefix(b"`").unwrap_or(word);
    match word.first() {
        Some(first) if first.is_ascii() => first.is_ascii_uppercase(),
        _ => String::from_utf8_lossy(word)
            .chars()
            .next()
            .is_some_and(char::is_uppercase),
    }
}

/// The value of a literal. Unicode escapes are translated already.
pub fn string(literal: &[u8]) -> Option<String> {
    let body = match literal {
        [b'"', b'"', b'"', body @ .., b'"', b'"', b'"'] => body.trim_ascii(),
        [b'"', body @ .., b'"'] => body,
        _ => return None,
    };
    super::escapes::javascript(body)
}

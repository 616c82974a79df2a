//! Calls of Ruby that import what an argument names.

use super::super::ImportKind;
use super::super::literal_cursor::{CLOSE, Cursor, Kind, OPEN, Token};
use super::{Computed, Scanner, words};

/// Which of the importing methods it is.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Importer {
    Require,
    Relative,
    Load,
    Gem,
}

impl Importer {
    fn named(word: &[u8]) -> Option<Importer> {
        Some(match word {
            b"require" | b"require_dependency" => Importer::Require,
            b"require_relative" => Importer::Relative,
            b"load" => Importer::Load,
            b"gem" => Importer::Gem,
            _ => return None,
        })
    }

    fn kind(self) -> ImportKind {
        match self {
            Importer::Gem => ImportKind::Static,
            // A file under any name, as it is.
            Importer::Load => ImportKind::Include,
            _ => ImportKind::Require,
        }
    }
}

/// What stands before the name of a call.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Receiver {
    /// None, or one whose method is `Kernel`'s.
    Kernel,
    Other,
    /// It is no call: a symbol, a variable, the name after `def`.
    NoCall,
}

impl<'a> Scanner<'a> {
    /// At any word.
    pub(super) fn word(&mut self, token: Token) {
        let name = self.cursor.bytes(token);
        match name {
            b"autoload" => return self.autoload(token),
            b"eval" | b"instance_eval" | b"class_eval" | b"module_eval" => return self.evaluated(),
            b"send" | b"__send__" | b"public_send" | b"try" | b"try!" => return self.sent(),
            b"method" | b"instance_method" | b"public_method" | b"singleton_method" | b"alias_method" => {
                return self.taken(token);
            }
            _ => {}
        }
        let Some(importer) = Importer::named(name) else { return };
        let receiver = self.receiver(token);
        if self.cursor.is_word(self.before[1], b"alias") && receiver == Receiver::Kernel && importer != Importer::Gem {
            self.escaped.get_or_insert(token.start);
            return;
        }
        match receiver {
            Receiver::Kernel => self.call(importer, self.cursor.clone(), true),
            Receiver::Other if importer == Importer::Require => self.call(importer, self.cursor.clone(), false),
            Receiver::Other | Receiver::NoCall => {}
        }
    }

    fn receiver(&self, token: Token) -> Receiver {
        match self.mask.get(token.end..) {
            Some([b'?' | b'!', ..]) => return Receiver::NoCall,
            Some([b':', next, ..]) if *next != b':' => return Receiver::NoCall,
            _ => {}
        }
        let [one, two, three, _] = self.before;
        let touches = one.end == token.start;
        let owner = match one.kind {
            Kind::Word
                if ["def", "undef", "alias"]
                    .iter()
                    .any(|word| self.cursor.is_word(one, word.as_bytes())) =>
            {
                return Receiver::NoCall;
            }
            Kind::Punct(b'$' | b'@') if touches => return Receiver::NoCall,
            Kind::Punct(b'.') if two.is(b'&') => three,
            // `1..require("x")` is none that anyone writes.
            Kind::Punct(b'.') => two,
            Kind::Newline if two.is(b'.') => three,
            Kind::Punct(b':') if two.is(b':') && two.end == one.start => three,
            Kind::Punct(b':') if touches => {
                let is_symbol = one.start == 0 || !super::super::literal_cursor::is_word_byte(self.mask[one.start - 1]);
                // No argument can follow a symbol: `x ? 1 :require("redis")`, `{"a":require("redis")}`.
                let next = self.cursor.peek();
                let is_called =
                    matches!(next.kind, Kind::Text | Kind::Open) || (next.is(b'(') && next.start == token.end);
                return if is_symbol && !is_called {
                    Receiver::NoCall
                } else {
                    Receiver::Kernel
                };
            }
            _ => return Receiver::Kernel,
        };
        if self.is_defined(owner) {
            return Receiver::NoCall;
        }
        // Rails' strong parameters: a key of the request.
        if self.cursor.is_word(owner, b"params") {
            return Receiver::NoCall;
        }
        let known: [&[u8]; 3] = [b"Kernel", b"Object", b"self"];
        if owner.kind == Kind::Word && known.contains(&self.cursor.bytes(owner)) {
            Receiver::Kernel
        } else {
            Receiver::Other
        }
    }

    /// `def self.require`
    fn is_defined(&self, owner: Token) -> bool {
        owner == self.before[1] && self.cursor.is_word(self.before[2], b"def")
    }

    /// The argument of a call, which begins at the cursor.
    fn call(&mut self, importer: Importer, mut ahead: Cursor<'a>, is_certain: bool) {
        let mut first = ahead.next();
        let is_parenthesised = first.is(b'(');
        if is_parenthesised {
            first = ahead.next_over_lines();
        }
        match first.kind {
            Kind::Text => {
                if let Some((text, is_whole)) = self.joined(first, &mut ahead) {
                    let kind = if is_whole { importer.kind() } else { ImportKind::Dynamic };
                    if !text.is_empty() {
                        self.name(importer, text, kind, first.start);
                    }
                    if is_whole {
                        return;
                    }
                }
            }
            Kind::Open if self.begins_at_place(importer.kind(), first) => return,
            Kind::Open => {
                let text = self.beginning(first);
                if !text.is_empty() {
                    self.name(importer, text, ImportKind::Dynamic, first.start);
                }
            }
            Kind::Word if words::ends_statement(ahead.bytes(first)) => return,
            Kind::Word if !is_parenthesised && importer == Importer::Gem && ahead.peek().is(b'=') => return,
            Kind::Word => {
                let is_name = ahead.bytes(first)[0].is_ascii_lowercase();
                if is_name
                    && matches!(
                        ahead.peek().kind,
                        Kind::Punct(b')' | b'}' | b';') | Kind::Newline | Kind::End | Kind::Word
                    )
                    && is_certain
                {
                    self.is_bare |= matches!(importer, Importer::Require | Importer::Load);
                }
            }
            // An argument that begins with a bracket or sign; anything else is no argument.
            Kind::Punct(b'[' | b'(' | b'*' | b':' | b'@' | b'$' | b'-' | b'&')
                if self.is_argument(first, is_parenthesised) => {}
            _ => return,
        }
        if is_certain {
            let outer = self.computed.replace(Computed {
                at: first.start,
                kind: importer.kind(),
                depth: self.brackets.len() + usize::from(is_parenthesised),
                is_parenthesised,
                texts: Vec::new(),
                place: super::places::Place::default(),
                is_path: true,
            });
            if let Some(outer) = outer {
                self.opaque(outer.at);
                outer.texts.into_iter().for_each(|token| self.push_all(token));
            }
        }
    }

    /// `require *x` has a blank before the sign and none behind it, `gem * 2` is a product and
    /// `gem[0]` an element.
    fn is_argument(&self, first: Token, is_parenthesised: bool) -> bool {
        let blank = |at: usize| self.mask.get(at).is_some_and(|b| matches!(b, b' ' | b'\t'));
        is_parenthesised || (first.start > 0 && blank(first.start - 1) && !blank(first.end) && !first.is(b'&'))
    }

    fn name(&mut self, importer: Importer, text: String, kind: ImportKind, at: usize) {
        self.push(text, kind, at);
        if importer == Importer::Relative
            && let Some(found) = self.found.last_mut()
        {
            found.identity = match super::super::identity::vendored(&found.raw) {
                // A path into a folder of copies, and still one from the file.
                Some(_) if !found.raw.starts_with('.') => {
                    found.raw.insert_str(0, "./");
                    super::identity(&found.raw)
                }
                Some(_) => super::identity(&found.raw),
                None => Vec::new(),
            };
        }
        self.copy();
    }

    /// Of a path into a gem's `lib` also the feature that it is there: `vendor/redis-rb-5.0/lib/redis` is `redis`.
    fn copy(&mut self) {
        let Some(found) = self.found.last() else { return };
        let is_path = found.raw.starts_with(['.', '/', '~', '\\']);
        let Some(copy) = super::super::identity::vendored(&found.raw).filter(|_| is_path) else {
            return;
        };
        let Some(lib) = copy.iter().position(|part| part == "lib").filter(|at| *at > 0) else {
            return;
        };
        let feature = super::identity(&copy[lib + 1..].join("/"));
        if !feature.is_empty() && feature.first() != found.identity.first() {
            let mut more = found.clone();
            more.identity = feature;
            self.found.push(more);
        }
    }

    /// A literal with those that follow it or are added to it, and whether that is the argument.
    fn joined(&self, first: Token, ahead: &mut Cursor<'a>) -> Option<(String, bool)> {
        let mut text = self.text(first)?;
        for _ in 0..256 {
            let next = ahead.next();
            match next.kind {
                Kind::Text => text.push_str(&self.text(next)?),
                Kind::Punct(b'+') if ahead.peek_over_lines().kind == Kind::Text => {
                    text.push_str(&self.text(ahead.next_over_lines())?);
                }
                Kind::Punct(b'.') => {
                    let name = ahead.next();
                    let same: [&[u8]; 4] = [b"freeze", b"dup", b"to_s", b"itself"];
                    if !same.contains(&ahead.bytes(name)) {
                        return Some((text, false));
                    }
                }
                Kind::Newline | Kind::End | Kind::Close => return Some((text, true)),
                Kind::Punct(b')' | b']' | b'}' | b';' | b',') => return Some((text, true)),
                Kind::Word if words::ends_statement(ahead.bytes(next)) => return Some((text, true)),
                _ => return Some((text, false)),
            }
        }
        Some((text, false))
    }

    /// The text of a literal before its first code.
    fn beginning(&self, open: Token) -> String {
        let delimiter = match self.source[open.start..] {
            [b'"', ..] => 1,
            [b'%', b'Q', ..] => 3,
            [b'%', ..] => 2,
            _ => return String::new(),
        };
        let body = open.start + delimiter;
        let length = self.mask[body..]
            .iter()
            .take_while(|b| !matches!(**b, b'{' | OPEN | CLOSE))
            .count();
        // The `#` before the brace.
        let end = (body + length).saturating_sub(1).max(body);
        super::escapes::javascript(&self.source[body..end]).unwrap_or_default()
    }

    /// `autoload :Redis, "redis"`, of whatever module.
    fn autoload(&mut self, token: Token) {
        if self.receiver(token) == Receiver::NoCall {
            return;
        }
        let mut ahead = self.cursor.clone();
        let mut first = ahead.next();
        let is_parenthesised = first.is(b'(');
        if is_parenthesised {
            first = ahead.next_over_lines();
        }
        match first.kind {
            Kind::Punct(b':') => {
                ahead.next();
            }
            Kind::Text => {}
            // A name that is computed: the path is its second argument all the same.
            Kind::Word if !words::ends_statement(ahead.bytes(first)) => {
                let mut next = ahead.peek();
                let mut left = 16;
                while left > 0 && !matches!(next.kind, Kind::Punct(b',' | b';') | Kind::Newline | Kind::End) {
                    ahead.next();
                    next = ahead.peek();
                    left -= 1;
                }
            }
            _ => return,
        }
        if ahead.next().is(b',') {
            while ahead.peek().kind == Kind::Newline {
                ahead.next();
            }
            self.second(ahead, is_parenthesised);
        }
    }

    /// An argument that is not the first one.
    fn second(&mut self, ahead: Cursor<'a>, is_parenthesised: bool) {
        let at = ahead.peek().start;
        self.call(Importer::Require, ahead, true);
        if let Some(computed) = &mut self.computed
            && computed.at >= at
            && is_parenthesised
        {
            computed.depth += usize::from(!computed.is_parenthesised);
            computed.is_parenthesised = true;
        }
    }

    /// The importer that a symbol or string at the cursor names.
    fn quoted_name(&self, ahead: &mut Cursor<'a>) -> Option<Importer> {
        let first = ahead.next_over_lines();
        match first.kind {
            Kind::Punct(b':') => {
                let name = ahead.next();
                match name.kind {
                    Kind::Text => Importer::named(self.text(name)?.as_bytes()),
                    _ => Importer::named(ahead.bytes(name)),
                }
            }
            Kind::Text if first.end - first.start <= 32 => Importer::named(self.text(first)?.as_bytes()),
            _ => None,
        }
    }

    /// `eval File.read("x.txt")`: a file that is run as it is.
    fn evaluated(&mut self) {
        let mut ahead = self.cursor.clone();
        if ahead.peek().is(b'(') {
            ahead.next();
        }
        while ahead.peek().is(b':') {
            ahead.next();
        }
        let owner = ahead.next();
        let is_file = ["File", "IO"].iter().any(|word| ahead.is_word(owner, word.as_bytes()));
        if !is_file || !ahead.next().is(b'.') {
            return;
        }
        let method = ahead.next();
        if ["read", "binread"]
            .iter()
            .any(|word| ahead.is_word(method, word.as_bytes()))
        {
            self.call(Importer::Load, ahead, true);
        }
    }

    /// `send(:require, "redis")`
    fn sent(&mut self) {
        let mut ahead = self.cursor.clone();
        let is_parenthesised = ahead.peek().is(b'(');
        if is_parenthesised {
            ahead.next();
        }
        if let Some(Importer::Require | Importer::Load) = self.quoted_name(&mut ahead)
            && ahead.next().is(b',')
        {
            while ahead.peek().kind == Kind::Newline {
                ahead.next();
            }
            self.second(ahead, is_parenthesised);
        }
    }

    /// `method(:require)`, `alias_method :r, :require`
    fn taken(&mut self, token: Token) {
        if self.receiver(token) == Receiver::NoCall {
            return;
        }
        let mut ahead = self.cursor.clone();
        if ahead.peek().is(b'(') {
            ahead.next();
        }
        if self.cursor.is_word(token, b"alias_method") {
            let first = ahead.next_over_lines();
            if first.is(b':') {
                ahead.next();
            }
            if !ahead.next().is(b',') {
                return;
            }
        }
        if let Some(Importer::Require | Importer::Load) = self.quoted_name(&mut ahead) {
            self.escaped.get_or_insert(token.start);
        }
    }
}

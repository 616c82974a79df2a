//! Where in Java and Kotlin a dotted name can only be a type's.
//!
//! `redis.Foo` in an expression may be the member of a variable, so a package of one segment counts
//! only where the grammar has no place for a value: `new redis.Foo()`, `redis.Foo x;`, `<redis.Foo>`.
//! Generic arguments are told from comparisons by what may stand in them, without looking ahead.

use super::dotted::{Cursor, Dialect, Kind, Token};

/// What stands before a name.
pub struct Position {
    dialect: Dialect,
    /// The last tokens, the nearest first. Of a dotted name there is one token, its last word.
    before: [Token; 3],
    /// Open `<` of generic arguments.
    angles: usize,
    /// Since `extends`, `implements`, `throws` or `permits`, in which a comma goes on.
    is_list: bool,
}

impl Position {
    /// At the beginning of a file.
    pub fn new(dialect: Dialect) -> Self {
        Position {
            dialect,
            before: [Token::NONE; 3],
            angles: 0,
            is_list: false,
        }
    }

    /// The token becomes the last one.
    pub fn push(&mut self, cursor: Cursor<'_>, token: Token) {
        let before = self.before[0];
        match token.kind {
            Kind::Punct(b'<') if self.angles > 0 || before.joins() || begins_type(cursor, before) => self.angles += 1,
            Kind::Punct(b'>') => self.angles = self.angles.saturating_sub(1),
            Kind::Word | Kind::Dot | Kind::Punct(b',' | b'?' | b'@' | b'&') => {}
            // `Map<String[], x.Y>`; Kotlin's bounds stand behind `:`.
            Kind::Punct(b'[' | b']') => {}
            Kind::Punct(b':' | b'*') if self.dialect == Dialect::Kotlin => {}
            _ => self.angles = 0,
        }
        match token.kind {
            Kind::Word if self.dialect == Dialect::Java => {
                self.is_list |= matches!(cursor.bytes(token), b"extends" | b"implements" | b"throws" | b"permits");
            }
            Kind::Punct(b'{' | b'}' | b';' | b'(' | b')' | b'=') => self.is_list = false,
            _ => {}
        }
        self.before = [token, self.before[0], self.before[1]];
    }

    /// Whether it is in the arguments of what may be a generic type.
    pub fn is_in_generics(&self) -> bool {
        self.angles > 0
    }

    /// Whether this is the language.
    pub fn is_of(&self, dialect: Dialect) -> bool {
        self.dialect == dialect
    }

    /// Whether the name that the cursor has just read can only be a type's. `follows` is the word
    /// behind it that a dot joins to it, if one does.
    pub fn is_type(&self, cursor: Cursor<'_>, follows: Option<Token>) -> bool {
        self.is_introduced(cursor) || self.is_declared(cursor, follows)
    }

    /// By what stands before.
    fn is_introduced(&self, cursor: Cursor<'_>) -> bool {
        let [before, second, third] = self.before;
        let word = |token: Token| match token.kind {
            Kind::Word => cursor.bytes(token),
            _ => b"",
        };
        if before.is(b'@') || self.angles > 0 && matches!(before.kind, Kind::Punct(b'<' | b',' | b'&')) {
            return true;
        }
        match self.dialect {
            Dialect::Kotlin => match before.kind {
                // `x ?: a.b` is a value, `@[a.B]` and `@file:[a.B]` begin lists of annotations.
                Kind::Punct(b':') => !(second.is(b'?') && second.end == before.start),
                Kind::Punct(b'[') => second.is(b'@') || second.is(b':') && is_target(word(third)),
                // `x as? a.B`
                Kind::Punct(b'?') => word(second) == b"as",
                Kind::Punct(b'=') => word(third) == b"typealias",
                _ => matches!(word(before), b"as" | b"is" | b"fun"),
            },
            _ => {
                self.is_list && before.is(b',')
                    || matches!(
                        word(before),
                        b"new" | b"extends" | b"implements" | b"throws" | b"permits" | b"instanceof" | b"super"
                    )
            }
        }
    }

    /// By what stands behind.
    fn is_declared(&self, cursor: Cursor<'_>, follows: Option<Token>) -> bool {
        if let Some(follows) = follows {
            return cursor.is_word(follows, b"class");
        }
        let mut ahead = cursor;
        let next = ahead.next();
        if next.kind == Kind::Scope {
            return true;
        }
        if self.dialect == Dialect::Kotlin {
            return false;
        }
        match next.kind {
            // `a.B name`; the only word between two values is `instanceof`.
            Kind::Word => !cursor.is_word(next, b"instanceof"),
            Kind::Dots => true,
            Kind::Punct(b'[') => ahead.next().is(b']'),
            Kind::Punct(b'<') => {
                let argument = ahead.next();
                argument.is(b'?') || argument.is(b'>') || begins_type(ahead, argument)
            }
            Kind::Punct(b')') => self.is_cast(ahead),
            // A pattern of a record.
            Kind::Punct(b'(') => cursor.is_word(self.before[0], b"case"),
            _ => false,
        }
    }

    /// Whether `(a.B)`, which the cursor has read, stands before a value and behind nothing that is
    /// called.
    fn is_cast(&self, mut ahead: Cursor<'_>) -> bool {
        let [before, second, _] = self.before;
        let is_open = before.is(b'(')
            && match second.kind {
                Kind::Word => matches!(ahead.bytes(second), b"return" | b"throw" | b"yield" | b"case" | b"else"),
                Kind::Punct(b')' | b']' | b'>') => false,
                _ => true,
            };
        let next = ahead.next();
        is_open
            && match next.kind {
                Kind::Word => !ahead.is_word(next, b"instanceof"),
                Kind::Text => true,
                Kind::Punct(byte) => matches!(byte, b'(' | b'!' | b'~'),
                _ => false,
            }
    }
}

/// What an annotation of Kotlin may say that it is for.
fn is_target(word: &[u8]) -> bool {
    matches!(
        word,
        b"file"
            | b"field"
            | b"property"
            | b"get"
            | b"set"
            | b"receiver"
            | b"param"
            | b"setparam"
            | b"delegate"
            | b"all"
    )
}

/// Whether the word is written like a type.
fn begins_type(cursor: Cursor<'_>, word: Token) -> bool {
    word.kind == Kind::Word && cursor.bytes(word)[0].is_ascii_uppercase()
}

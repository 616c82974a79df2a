//! Names in `<...>` and `(...)`, of which only the closing bracket and what follows it tells whether
//! they are types: generic arguments, casts, tuples.
//!
//! The brackets that are open are those in which only types were seen so far. Anything that no type
//! can hold closes them all. Each name is kept as its offset and settled once, so that the work is
//! linear however deep they nest.

use super::super::dotted::{Cursor, Kind, Token};
use super::positions::{self, Context};

struct Open {
    is_generic: bool,
    /// The name before a `<`, where it is not known to be a type.
    owner: Option<usize>,
    /// How many names were pending when it was opened.
    from: usize,
}

/// The brackets that may hold types.
#[derive(Default)]
pub struct Brackets {
    open: Vec<Open>,
    /// Offsets of the names in them.
    pub pending: Vec<usize>,
    /// Offsets of names that turned out to be types, to be taken by the caller.
    pub certain: Vec<usize>,
}

impl Brackets {
    /// Whether a name would be pending.
    pub fn is_open(&self) -> bool {
        !self.open.is_empty()
    }

    /// `<` after a name.
    pub fn generic(&mut self, owner: Option<usize>) {
        self.open.push(Open {
            is_generic: true,
            owner,
            from: self.pending.len(),
        });
    }

    /// No open bracket holds types: the names in them are expressions.
    pub fn clear(&mut self, members: &mut Vec<usize>) {
        members.append(&mut self.pending);
        members.extend(self.open.drain(..).filter_map(|open| open.owner));
    }

    /// A word by itself, or one that begins an expression.
    pub fn word(&mut self, cursor: Cursor<'_>, word: Token, members: &mut Vec<usize>) {
        if self.is_open() {
            let bytes = cursor.bytes(word);
            if bytes[0].is_ascii_digit()
                || matches!(bytes, b"new" | b"await" | b"is" | b"as" | b"this" | b"base" | b"null")
            {
                self.clear(members);
            }
        }
    }

    /// A token that is no word; the cursor is behind it.
    pub fn token(&mut self, cursor: Cursor<'_>, kind: Kind, context: &Context, members: &mut Vec<usize>) {
        let before = context.before[0];
        match kind {
            Kind::Dot | Kind::Scope | Kind::Punct(b',' | b'?' | b'*') => {}
            Kind::Punct(b'(') => {
                // `=> (A.B)c`
                let is_arrow = before.is(b'>') && context.before[1].is(b'=') && context.before[1].end == before.start;
                let is_call = match before.kind {
                    _ if is_arrow => false,
                    Kind::Word => !positions::precedes_bracket(cursor.bytes(before)),
                    Kind::Punct(b')' | b']' | b'>') | Kind::Text => true,
                    _ => false,
                };
                if is_call {
                    self.clear(members);
                } else {
                    self.open.push(Open {
                        is_generic: false,
                        owner: None,
                        from: self.pending.len(),
                    });
                }
            }
            // `delegate*<A.B, void>`, `unmanaged[Cdecl]<A.B>`
            Kind::Punct(b'<') if matches!(before.kind, Kind::Punct(b'*' | b']')) => self.generic(None),
            Kind::Punct(b'[') if matches!(cursor.peek().kind, Kind::Punct(b']' | b',')) => {}
            Kind::Punct(b']') if matches!(before.kind, Kind::Punct(b'[' | b',')) => {}
            Kind::Punct(b'>') if self.open.last().is_some_and(|open| open.is_generic) => {
                self.close(is_generic(cursor), cursor, members);
            }
            Kind::Punct(b')') if self.open.last().is_some_and(|open| !open.is_generic) => {
                self.close(is_cast(cursor), cursor, members);
            }
            _ => {
                if self.is_open() {
                    self.clear(members);
                }
            }
        }
    }

    fn close(&mut self, holds_types: bool, cursor: Cursor<'_>, members: &mut Vec<usize>) {
        let Some(open) = self.open.pop() else { return };
        if holds_types {
            self.certain.extend(self.pending.drain(open.from..));
        }
        if let Some(owner) = open.owner {
            if holds_types && is_generic_type(cursor) {
                self.certain.push(owner);
            } else {
                self.pending.push(owner);
            }
        }
        if self.open.is_empty() {
            members.append(&mut self.pending);
        }
    }
}

/// Whether what follows a `>` tells that it ends generic arguments, as the language decides it; a
/// name after it declares something.
fn is_generic(cursor: Cursor<'_>) -> bool {
    let next = cursor.peek();
    match next.kind {
        Kind::Word => !cursor.bytes(next)[0].is_ascii_digit(),
        Kind::Dot | Kind::Scope | Kind::Dots | Kind::End => true,
        Kind::Punct(byte) => b"()[]{}:;,?=|^&>*".contains(&byte),
        Kind::Text => false,
    }
}

/// Whether what follows generic arguments tells that they belong to a type and not to a method.
fn is_generic_type(cursor: Cursor<'_>) -> bool {
    let mut ahead = cursor;
    let next = ahead.next();
    match next.kind {
        Kind::Word => positions::is_identifier(cursor, next),
        Kind::Dot => true,
        Kind::Punct(b'[') => matches!(ahead.next().kind, Kind::Punct(b']' | b',')),
        Kind::Punct(b'?') => ahead.next().kind == Kind::Word,
        _ => false,
    }
}

/// Whether what follows a `)` tells that it ends a cast or the types of a tuple.
fn is_cast(cursor: Cursor<'_>) -> bool {
    let mut ahead = cursor;
    let next = ahead.next();
    match next.kind {
        Kind::Word => !positions::is_operator(cursor.bytes(next)) || matches!(cursor.bytes(next), b"await" | b"throw"),
        Kind::Text | Kind::Punct(b'(' | b'~') => true,
        Kind::Punct(b'!') => !ahead.next().is(b'='),
        _ => false,
    }
}

//! Classes, types and libraries that Java, Kotlin and C# load by a string.
//!
//! The first argument of the call decides: literals, joined by `+`, are the name. With anything
//! else in it the import is opaque, and each literal in it counts for itself, as does the beginning
//! of a string with code in it.

use super::ImportKind;
use super::dotted::{Cursor, Kind, Token};
use super::source::Found;
use super::token::HIDDEN;

/// What the argument of a call may be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Computed {
    /// What is no literal makes an opaque import.
    Opaque,
    /// Only literals matter: the argument may be something else than a name.
    Ignored,
}

/// A string as the language reads it: (the literal with quotes and prefix) -> its value.
pub type Value = fn(&[u8]) -> Option<String>;

/// How many tokens of an argument are read.
const MOST: usize = 60;

/// A call that loads something.
#[derive(Clone, Copy)]
pub struct Call {
    /// The method.
    pub name: Token,
    /// What its arguments may be.
    pub computed: Computed,
    /// How many of them name something.
    pub arguments: usize,
}

/// The imports of a call whose opening bracket is the cursor's next token; of one that has none,
/// which is a value that may be called elsewhere, an opaque one. The cursor stays where it is: what
/// stands in the brackets is code of its own.
pub fn call(cursor: Cursor<'_>, source: &[u8], call: Call, value: Value) -> Vec<Found> {
    let mut found = Vec::new();
    let mut arguments = Arguments {
        cursor,
        source,
        value,
        computed: call.computed,
    };
    let mut is_opaque = !arguments.cursor.next().is(b'(');
    for _ in 0..call.arguments {
        if is_opaque || !arguments.one(&mut found, &mut is_opaque) {
            break;
        }
    }
    if is_opaque && call.computed == Computed::Opaque {
        found.push(Found {
            raw: String::new(),
            identity: Vec::new(),
            kind: ImportKind::Opaque,
            at: call.name.start,
        });
    }
    found
}

struct Arguments<'a> {
    cursor: Cursor<'a>,
    source: &'a [u8],
    value: Value,
    computed: Computed,
}

impl Arguments<'_> {
    /// Reads an argument; whether another one follows.
    fn one(&mut self, found: &mut Vec<Found>, is_opaque: &mut bool) -> bool {
        let mut pieces = Vec::new();
        let (mut whole, mut first, mut depth, mut is_computed) = (String::new(), None, 0_usize, false);
        let mut end = self.cursor.offset();
        let (mut goes_on, mut begins_as_literal) = (false, false);
        for count in 0.. {
            let token = self.cursor.next();
            // A piece of a string with code in it leaves hidden bytes behind, and no token.
            if let Some((text, at)) = piece(&self.cursor, self.source, end, token.start) {
                is_computed = true;
                push(&mut pieces, &text, at);
            }
            end = token.end;
            match token.kind {
                Kind::Text => {
                    begins_as_literal |= count == 0;
                    let literal = &self.source[token.start..token.end];
                    let text = (self.value)(literal).unwrap_or_else(|| {
                        is_computed = true;
                        let text = String::from_utf8_lossy(literal);
                        let head = text.trim_start_matches('"').split('$').next();
                        head.unwrap_or_default().to_owned()
                    });
                    push(&mut pieces, &text, token.start);
                    whole.push_str(&text);
                    first.get_or_insert(token.start);
                }
                Kind::Punct(b'(' | b'[' | b'{') => {
                    depth += 1;
                    is_computed = true;
                }
                Kind::Punct(b')' | b']' | b'}') if depth > 0 => depth -= 1,
                Kind::Punct(b',') if depth == 0 => {
                    goes_on = true;
                    break;
                }
                Kind::Punct(b')' | b']' | b'}') => break,
                Kind::Punct(b'+') => {}
                // The name of a parameter: `typeName: "x"`, `name = "x"`.
                Kind::Word if count == 0 && matches!(self.cursor.peek().kind, Kind::Punct(b':' | b'=')) => {
                    end = self.cursor.next().end;
                }
                _ => is_computed = true,
            }
            if token.kind == Kind::End || count == MOST {
                is_computed = true;
                break;
            }
        }
        *is_opaque |= is_computed;
        match first {
            Some(at) if !is_computed => push(found, &whole, at),
            // Strings somewhere in an argument that need not be a name are anything.
            _ if self.computed == Computed::Opaque || begins_as_literal => found.append(&mut pieces),
            _ => {}
        }
        goes_on
    }
}

/// The text of a piece of a string between two tokens, and where it begins.
fn piece(cursor: &Cursor<'_>, source: &[u8], from: usize, to: usize) -> Option<(String, usize)> {
    let between = cursor.between(from, to);
    let start = from + between.iter().position(|b| *b == HIDDEN)?;
    let length = between[start - from..].iter().take_while(|b| **b == HIDDEN).count();
    let text = String::from_utf8_lossy(&source[start..start + length]).into_owned();
    let text = text.trim_matches(['"', '$', '@', '\\']);
    (!text.is_empty()).then(|| (text.to_owned(), start))
}

/// One import for each dotted name in a string: `A.B, Assembly, Version=1` has two, the names of
/// generic arguments stand in brackets, of an array's class before `;`.
fn push(found: &mut Vec<Found>, text: &str, at: usize) {
    for (number, part) in text.split(['[', ']', ',', ';']).enumerate() {
        let part = part.trim();
        // `[Lredis.clients.Jedis;`
        let part = match part.strip_prefix('L') {
            Some(class) if number > 0 && text.contains(';') => class,
            _ => part,
        };
        let identity: Vec<String> = part
            .split(['.', '$', '/', '+'])
            .filter(|segment| !segment.is_empty())
            .map(|segment| segment.split('`').next().unwrap_or(segment).to_owned())
            .collect();
        let is_name = |segment: &String| segment.chars().all(|c| c.is_alphanumeric() || matches!(c, '_' | '-'));
        if !identity.is_empty() && identity.iter().all(is_name) {
            found.push(Found {
                raw: text.to_owned(),
                identity,
                kind: ImportKind::Dynamic,
                at,
            });
        }
    }
}

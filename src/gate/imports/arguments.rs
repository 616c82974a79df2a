//! The first argument of a call that imports, and string literals of JavaScript.

use super::escapes;
use super::token::{Cursor, Kind, Token};

/// What stands in the parentheses of `require(...)`, `import(...)` or `import_module(...)`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Argument {
    /// Literals only, joined.
    Literal {
        /// Decoded.
        text: String,
        /// Offset of the first literal.
        at: usize,
    },
    /// Begins with a literal that something is added to.
    Prefix {
        /// The decoded beginning.
        text: String,
        /// Offset of the first literal.
        at: usize,
    },
    /// No literal.
    Other {
        /// Offset of the argument.
        at: usize,
    },
    /// No call that imports: without arguments, or the declaration of a function of that name.
    None,
}

/// Reads JavaScript literals from the source at the offsets of a mask's tokens.
#[derive(Clone, Copy)]
pub struct Reader<'a> {
    /// The original bytes.
    pub source: &'a [u8],
}

impl Reader<'_> {
    /// A string literal, or a template without substitutions.
    pub fn text(self, token: Token) -> Option<String> {
        let end = if token.kind == Kind::Template {
            token.end
        } else {
            token.end - 1
        };
        escapes::javascript(&self.source[token.start + 1..end])
    }

    /// A name with its escapes decoded.
    pub fn name(self, bytes: &[u8]) -> Option<String> {
        escapes::javascript(bytes)
    }

    /// The argument after `(`. `is_certain` says that no function can be declared here.
    pub fn argument(self, mut ahead: Cursor, is_certain: bool) -> Argument {
        let after_open = ahead.clone();
        let mut joined: Option<(String, usize)> = None;
        let mut depth = 0usize;
        let mut wants_literal = true;
        loop {
            let token = ahead.next();
            match (token.kind, &mut joined) {
                (Kind::Punct(b'('), None) => depth += 1,
                (Kind::Text | Kind::Template, _) if wants_literal => {
                    let Some(piece) = self.text(token) else {
                        return Argument::Other { at: token.start };
                    };
                    let (mut text, at) = joined.unwrap_or((String::new(), token.start));
                    text.push_str(&piece);
                    if token.kind == Kind::Template {
                        return Argument::Prefix { text, at };
                    }
                    joined = Some((text, at));
                    wants_literal = false;
                }
                (Kind::Punct(b'+'), Some(_)) if !wants_literal => wants_literal = true,
                (Kind::Punct(b')'), _) if depth > 0 => depth -= 1,
                (Kind::Punct(b',' | b')'), Some((text, at))) if !wants_literal && depth == 0 => {
                    return Argument::Literal {
                        text: std::mem::take(text),
                        at: *at,
                    };
                }
                // `"x"!` and `"x" as T`, where nothing else follows.
                (Kind::Punct(b'!'), Some(_)) if !wants_literal && ends(&ahead) => {}
                (Kind::Word, Some(_)) if !wants_literal && is_cast(&ahead, token) && ends_after_type(&mut ahead) => {}
                (_, Some((text, at))) => {
                    return Argument::Prefix {
                        text: std::mem::take(text),
                        at: *at,
                    };
                }
                (Kind::Punct(b')') | Kind::End, None) => return Argument::None,
                (_, None) if !is_certain && self.is_declaration(&after_open, token, ahead) => return Argument::None,
                (_, None) => return Argument::Other { at: token.start },
            }
        }
    }

    /// Whether parameters and no argument follow `(`: `import(x: string): void`,
    /// `require(x) { ... }`.
    fn is_declaration(self, after_open: &Cursor, token: Token, mut ahead: Cursor) -> bool {
        if token.kind == Kind::Word {
            let next = ahead.next();
            if next.is(b':') || (next.is(b'?') && matches!(ahead.peek().kind, Kind::Punct(b':' | b',' | b')'))) {
                return true;
            }
        }
        // One level is open already; a parenthesis that closes it ends the list.
        let mut ahead = after_open.clone();
        let mut end = token.start;
        let mut depth = 1usize;
        for _ in 0..64 {
            let token = ahead.next();
            match token.kind {
                Kind::Punct(b'(') => depth += 1,
                Kind::Punct(b')') => depth -= 1,
                Kind::End => return false,
                _ => {}
            }
            end = token.end;
            if depth == 0 {
                break;
            }
        }
        let body = ahead.peek();
        // On a line of its own the `{` may begin a block, and this is a call.
        depth == 0
            && body.is(b'{')
            && !self.source[end..body.start]
                .iter()
                .any(|b| matches!(b, b'\n' | b'\r' | 0xE2))
    }
}

/// Whether an argument ends here.
fn ends(ahead: &Cursor) -> bool {
    matches!(ahead.peek().kind, Kind::Punct(b',' | b')'))
}

/// Skips a plain type, `A.B`; false if something else follows.
fn ends_after_type(ahead: &mut Cursor) -> bool {
    for _ in 0..16 {
        if ends(ahead) {
            return true;
        }
        if !matches!(ahead.next().kind, Kind::Word | Kind::Punct(b'.')) {
            return false;
        }
    }
    false
}

fn is_cast(ahead: &Cursor, token: Token) -> bool {
    ahead.is_word(token, b"as") || ahead.is_word(token, b"satisfies")
}

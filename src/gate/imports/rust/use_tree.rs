//! The tree of a `use` declaration, flattened: one leaf for each name that it brings in.

use super::super::lexeme::{Cursor, Kind, Lexeme};

/// Segments of a path that are kept. No entry of a policy names as many, and nested groups of a
/// hostile file would otherwise take quadratic room.
const MAX_SEGMENTS: usize = 16;

/// One path of the tree.
pub struct Leaf {
    /// It begins with `::`.
    pub is_global: bool,
    /// The names of the path as they lie in the file, without a last `self` and cut at
    /// [`MAX_SEGMENTS`]; empty for `use *` and `use $x`.
    pub path: Vec<Lexeme>,
    /// How it ends.
    pub end: End,
    /// Where it is written: its first name, or what stands there instead.
    pub at: usize,
}

/// How a leaf ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// With a name.
    Name,
    /// `::*`
    Glob,
    /// `as name`; `_` binds nothing and is [`End::Unnamed`].
    As(Lexeme),
    /// `as _`
    Unnamed,
    /// `$x`: a macro puts the name in.
    Computed,
}

/// Reads the tree after `use`, with the cursor after the keyword, and hands each leaf to `leaf`.
/// What is no tree (`use<'a>` of a type) has no leaf. Leaves the cursor at what ends the tree, and
/// answers how many of its groups are still open there: none, if it is a tree.
pub fn read(cursor: &mut Cursor<'_>, mut leaf: impl FnMut(Leaf)) -> usize {
    // How long the path is at each open group, and whether it began with `::`.
    let mut groups: Vec<(usize, bool)> = Vec::new();
    let mut path: Vec<Lexeme> = Vec::new();
    // The path is cut, but its length is not forgotten.
    let mut length = 0;
    let mut is_global = false;
    let mut is_begun = false;
    loop {
        let token = cursor.peek();
        let mut emit = |path: &[Lexeme], is_global: bool, end: End| {
            let at = path.first().map_or(token.start, |first| first.start);
            // A group's leaf is where its own names are.
            let own = groups.last().map_or(0, |(outer, _)| *outer).min(path.len());
            leaf(Leaf {
                is_global,
                path: path.to_vec(),
                end,
                at: path
                    .get(own)
                    .map_or(if own > 0 { token.start } else { at }, |first| first.start),
            });
        };
        match token.kind {
            Kind::Path => {
                is_global |= path.is_empty() && !is_begun;
                cursor.next();
            }
            Kind::Word if !is_begun => {
                cursor.next();
                let is_self = cursor.bytes(token) == b"self" && length > 0;
                if !is_self {
                    if path.len() < MAX_SEGMENTS {
                        path.push(token);
                    }
                    length += 1;
                }
                let next = cursor.peek();
                if next.kind == Kind::Path {
                    continue;
                }
                let mut end = End::Name;
                if cursor.is_word(next, b"as") {
                    cursor.next();
                    let name = cursor.peek();
                    if name.kind == Kind::Word {
                        cursor.next();
                        end = match cursor.bytes(name) {
                            b"_" => End::Unnamed,
                            _ => End::As(name),
                        };
                    } else {
                        end = End::Unnamed;
                    }
                }
                emit(&path, is_global, end);
                is_begun = true;
            }
            Kind::Punct(b'*') if !is_begun => {
                cursor.next();
                emit(&path, is_global, End::Glob);
                is_begun = true;
            }
            // `$crate` is a name of its own kind.
            Kind::Punct(b'$') if !is_begun => {
                let mut ahead = *cursor;
                ahead.next();
                let name = ahead.peek();
                if path.is_empty() && ahead.is_word(name, b"crate") {
                    cursor.next();
                    continue;
                }
                if is_computed(cursor) {
                    emit(&path, is_global, End::Computed);
                }
                is_begun = true;
            }
            Kind::Punct(b'{') if !is_begun => {
                cursor.next();
                groups.push((length, is_global));
            }
            Kind::Punct(b',') if !groups.is_empty() => {
                cursor.next();
                (is_begun, is_global, length) = (false, groups[groups.len() - 1].1, groups[groups.len() - 1].0);
                path.truncate(length);
            }
            Kind::Punct(b'}') if !groups.is_empty() => {
                cursor.next();
                groups.pop();
                is_begun = true;
            }
            _ => return groups.len(),
        }
        if groups.is_empty() && is_begun {
            return 0;
        }
    }
}

/// Goes over `$x`, `$x::y` and `$($x)::*`, up to what ends the leaf; whether it is none of a macro's
/// patterns, such as `$x:path`.
fn is_computed(cursor: &mut Cursor<'_>) -> bool {
    let mut depth = 0_usize;
    let mut is_pattern = false;
    loop {
        let token = cursor.peek();
        match token.kind {
            Kind::Punct(b'(') => depth += 1,
            Kind::Punct(b')') if depth > 0 => depth -= 1,
            Kind::Punct(b';' | b'{' | b'}' | b')' | b']') | Kind::End => return !is_pattern,
            Kind::Punct(b',') if depth == 0 => return !is_pattern,
            Kind::Punct(b':') => is_pattern = true,
            _ => {}
        }
        cursor.next();
    }
}

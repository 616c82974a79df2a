//! Which variables a place of a Java file sees, so that `order.customer.Address.CITY` is told from a name that begins
//! with a package.
//!
//! A variable hides a package only where it is seen: another method's `int redis` hides nothing. Fields are seen in all
//! of their class, parameters in the block, statement or expression behind their list, local variables from their
//! declaration to the end of their block, those of patterns as parameters are. A word counts as declared where a type
//! stands before it. What is inherited is not known here. Each place keeps its block alone and
//! is settled when the file has ended, so that the work is linear; more than [`MAX_DEPTH`] blocks around hide nothing.

use std::collections::{HashMap, HashSet};

use super::super::dotted::{Cursor, Kind, Token};

/// Blocks and brackets around a name that are looked through.
const MAX_DEPTH: usize = 64;
/// Variables of one list.
const MAX_LIST: usize = 64;
/// Variables of one file; those that come later hide nothing.
const MAX_NAMES: usize = 500_000;

/// A bracket that is open.
struct Open<'a> {
    /// The block that it is, or lies in.
    block: u32,
    is_round: bool,
    /// Whether what follows is the head of a class.
    is_head: bool,
    /// Whether a comma goes on with the declaration of variables.
    goes_on: bool,
    /// The variables of the last list, until the block, statement or argument behind it has ended.
    parameters: Vec<&'a [u8]>,
    /// Variables that are declared in these round brackets.
    declared: Vec<&'a [u8]>,
    /// Words that are parameters if an arrow follows the brackets.
    bare: Vec<&'a [u8]>,
}

/// Where a name was used.
#[derive(Clone, Copy, Debug)]
pub struct Place {
    block: u32,
    at: usize,
    /// Whether a variable of a list is seen there.
    is_hidden: bool,
}

/// The blocks and variables of a file.
pub struct Scopes<'a> {
    open: Vec<Open<'a>>,
    /// The block around each one, and whether it is a class's or the file's.
    blocks: Vec<(u32, bool)>,
    /// From which offset on a variable is seen in its block.
    names: HashMap<(u32, &'a [u8]), usize>,
    /// The names alone: most that are asked about are none.
    all: HashSet<&'a [u8]>,
}

impl<'a> Scopes<'a> {
    /// At the beginning of a file.
    pub fn new() -> Self {
        Scopes {
            open: vec![Open::of(0, false)],
            blocks: vec![(0, true)],
            names: HashMap::new(),
            all: HashSet::new(),
        }
    }

    /// A token that is no word; the cursor is behind it.
    pub fn token(&mut self, cursor: Cursor<'a>, token: Token) {
        let Some(open) = self.open.last_mut() else { return };
        match token.kind {
            Kind::Punct(b'(') => {
                let block = open.block;
                self.open.push(Open::of(block, true));
            }
            Kind::Punct(b')') if open.is_round => self.end_list(cursor),
            Kind::Punct(b'{') => self.begin(),
            Kind::Punct(b'}') => self.end(),
            Kind::Punct(b';') => open.end_statement(),
            Kind::Punct(b',') if open.is_round => open.parameters.clear(),
            _ => {}
        }
    }

    /// A word by itself; the cursor is behind it. `generic` is where the last generic arguments ended.
    pub fn word(&mut self, cursor: Cursor<'a>, token: Token, before: Token, generic: usize) {
        let Some(open) = self.open.last_mut() else { return };
        let name = cursor.bytes(token);
        if name[0].is_ascii_uppercase() || name[0].is_ascii_digit() {
            return;
        }
        if matches!(name, b"class" | b"interface" | b"enum" | b"record") && cursor.peek().kind == Kind::Word {
            open.is_head = true;
            return;
        }
        let next = cursor.next_byte();
        let has_type = match before.kind {
            Kind::Word => !is_no_type(cursor.bytes(before)),
            Kind::Punct(b'>') => before.end == generic,
            Kind::Punct(b']') | Kind::Dots => true,
            Kind::Punct(b',') => open.goes_on,
            _ => false,
        };
        let is_end = match next {
            b'=' | b';' | b',' | b'[' => true,
            b')' | b':' => open.is_round && !cursor.is_scope_next(),
            _ => false,
        };
        // `x instanceof T t && t.y`, `case T t when t.y`
        let is_pattern = match next {
            b'&' | b'?' => true,
            b':' => !open.is_round && !cursor.is_scope_next(),
            b'w' => cursor.is_word(cursor.peek(), b"when"),
            _ => false,
        };
        if has_type && (is_end || is_pattern) {
            if open.is_round {
                open.declared.push_some(name);
            } else if is_pattern {
                open.parameters.push_some(name);
            } else {
                open.goes_on = matches!(next, b'=' | b',');
                let block = open.block;
                self.declare(block, name, token.start);
            }
        } else if next == b'-' && is_arrow(cursor) {
            // `case a, b -> x`
            if !cursor.is_word(before, b"case") && (open.is_round || !before.is(b',')) {
                open.parameters.push_some(name);
            }
        } else if matches!(before.kind, Kind::Punct(b'(' | b',')) && matches!(next, b',' | b')') {
            open.bare.push_some(name);
        }
    }

    /// The place of a name that has just been read.
    pub fn place(&self, cursor: Cursor<'a>, first: Token) -> Place {
        let name = cursor.bytes(first);
        let mut around = self.open.iter().rev().take(MAX_DEPTH);
        Place {
            block: self.open.last().map_or(0, |open| open.block),
            at: first.start,
            is_hidden: around.any(|open| open.parameters.contains(&name) || open.declared.contains(&name)),
        }
    }

    /// Whether a variable of this name is seen there; asked when the file has ended.
    pub fn hides(&self, name: &[u8], place: Place) -> bool {
        if place.is_hidden || !self.all.contains(name) {
            return place.is_hidden;
        }
        let mut block = place.block;
        for _ in 0..MAX_DEPTH {
            if self.names.get(&(block, name)).is_some_and(|from| *from <= place.at) {
                return true;
            }
            if block == 0 {
                return false;
            }
            block = self.blocks[block as usize].0;
        }
        false
    }

    fn declare(&mut self, block: u32, name: &'a [u8], at: usize) {
        let from = if self.blocks[block as usize].1 { 0 } else { at };
        if self.names.len() < MAX_NAMES {
            let known = self.names.entry((block, name)).or_insert(from);
            *known = from.min(*known);
            self.all.insert(name);
        }
    }

    /// Behind a `)`: what its brackets declare is seen in what follows.
    fn end_list(&mut self, cursor: Cursor<'a>) {
        let Some(list) = self.open.pop() else { return };
        let Some(open) = self.open.last_mut() else { return };
        let is_lambda = is_arrow(cursor);
        // In brackets they are a pattern's: `if (x instanceof T(U u) && u.y)`.
        let seen = match open.is_round && !is_lambda {
            true => &mut open.declared,
            false => &mut open.parameters,
        };
        let bare = list.bare.into_iter().filter(|_| is_lambda);
        for name in list.declared.into_iter().chain(bare) {
            seen.push_some(name);
        }
    }

    /// Behind a `{`.
    fn begin(&mut self) {
        let Some(open) = self.open.last_mut() else { return };
        let parameters = std::mem::take(&mut open.parameters);
        let is_class = std::mem::take(&mut open.is_head);
        let (around, block) = (open.block, self.blocks.len() as u32);
        self.blocks.push((around, is_class));
        self.open.push(Open::of(block, false));
        for name in parameters {
            self.declare(block, name, 0);
        }
    }

    /// Behind a `}`; round brackets that it leaves open hide nothing more.
    fn end(&mut self) {
        while self.open.len() > 1 && self.open.pop().is_some_and(|open| open.is_round) {}
        if let Some(open) = self.open.last_mut().filter(|open| !open.is_round) {
            open.end_statement();
        }
    }
}

impl Open<'_> {
    fn of(block: u32, is_round: bool) -> Self {
        Open {
            block,
            is_round,
            is_head: false,
            goes_on: false,
            parameters: Vec::new(),
            declared: Vec::new(),
            bare: Vec::new(),
        }
    }

    fn end_statement(&mut self) {
        self.parameters.clear();
        self.is_head = false;
        self.goes_on = false;
    }
}

/// A list that does not grow without bounds.
trait PushSome<T> {
    fn push_some(&mut self, item: T);
}

impl<T> PushSome<T> for Vec<T> {
    fn push_some(&mut self, item: T) {
        if self.len() < MAX_LIST {
            self.push(item);
        }
    }
}

/// Whether `->` follows.
fn is_arrow(cursor: Cursor<'_>) -> bool {
    let mut ahead = cursor;
    ahead.next().is(b'-') && ahead.next().is(b'>')
}

/// Words behind which no name is declared: what follows is a value, a label or another type.
fn is_no_type(word: &[u8]) -> bool {
    matches!(
        word,
        b"return"
            | b"throw"
            | b"throws"
            | b"new"
            | b"case"
            | b"else"
            | b"do"
            | b"assert"
            | b"yield"
            | b"instanceof"
            | b"import"
            | b"package"
            | b"extends"
            | b"implements"
            | b"permits"
            | b"break"
            | b"continue"
            | b"goto"
            | b"when"
            | b"module"
            | b"requires"
            | b"exports"
            | b"opens"
            | b"to"
            | b"uses"
            | b"provides"
            | b"with"
    )
}

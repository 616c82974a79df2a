//! Which variables a place of a Kotlin file sees, so that `com.acme.db.store()` is told from a member of a
//! variable `com`.
//!
//! A variable hides a package only where it is seen: another function's `val com` hides nothing. Properties of a
//! class and of the file are seen in all of it, parameters in the block or the expression behind them, other
//! variables from their declaration to the end of their block. What is inherited or imported is not known here.
//! Each place keeps its block alone and is settled when the file has ended, so that the work is linear; more than
//! [`MAX_DEPTH`] blocks around hide nothing.

use std::collections::{HashMap, HashSet};

use super::super::dotted::{Cursor, Kind, Token};

/// Blocks around a name that are looked through.
const MAX_DEPTH: usize = 64;
/// Parameters of one list.
const MAX_PARAMETERS: usize = 64;
/// Tokens between a block's brace and its `->`.
const MAX_LAMBDA: usize = 32;
/// Variables of one file; those that come later hide nothing.
const MAX_NAMES: usize = 500_000;

/// A block that is open.
struct Open<'a> {
    block: usize,
    parens: usize,
    /// Whether what follows is the head of a class.
    is_head: bool,
    /// The parameters of the last list, until a block or the next declaration.
    parameters: Vec<&'a [u8]>,
    /// Whether the scanner is in the brackets of `val (a, b)`.
    is_list: bool,
}

/// Where a name was used.
#[derive(Clone, Copy, Debug)]
pub struct Place {
    block: usize,
    at: usize,
    /// Whether a parameter without a block is seen there.
    is_hidden: bool,
}

/// The blocks and variables of a file.
pub struct Scopes<'a> {
    open: Vec<Open<'a>>,
    /// The block around each one, and whether it is a class's or the file's.
    blocks: Vec<(usize, bool)>,
    /// From which offset on a variable is seen in its block.
    names: HashMap<(usize, &'a [u8]), usize>,
    /// The names alone: most that are asked about are none.
    all: HashSet<&'a [u8]>,
}

impl<'a> Scopes<'a> {
    /// At the beginning of a file.
    pub fn new() -> Self {
        Scopes {
            open: vec![Open::of(0)],
            blocks: vec![(0, true)],
            names: HashMap::new(),
            all: HashSet::new(),
        }
    }

    /// A token that is no word; the cursor is behind it.
    pub fn token(&mut self, cursor: Cursor<'a>, token: Token, before: Token) {
        match token.kind {
            Kind::Punct(b'(') => {
                let is_list = is_variable(cursor, before);
                if let Some(open) = self.open.last_mut() {
                    open.parens += 1;
                    open.is_list = is_list;
                }
            }
            Kind::Punct(b')') => {
                if let Some(open) = self.open.last_mut() {
                    open.parens = open.parens.saturating_sub(1);
                    open.is_list = false;
                }
            }
            Kind::Punct(b'{') => self.begin(cursor),
            Kind::Punct(b'}') if self.open.len() > 1 => {
                self.open.pop();
            }
            Kind::Punct(b';') => {
                if let Some(open) = self.open.last_mut().filter(|open| open.parens == 0) {
                    open.parameters.clear();
                }
            }
            _ => {}
        }
    }

    /// Any word, before all else: on a line of its own it ends the expression that parameters are seen in.
    pub fn begins(&mut self, cursor: Cursor<'a>, token: Token, before: Token) {
        let Some(open) = self.open.last_mut() else { return };
        if open.parameters.is_empty() || open.parens > 0 {
            return;
        }
        let may_end = matches!(before.kind, Kind::Word | Kind::Text | Kind::Punct(b')' | b']' | b'}'));
        let goes_on = matches!(cursor.bytes(token), b"else" | b"where" | b"by" | b"in" | b"is" | b"as");
        let is_on_a_line = cursor.between(before.end, token.start).contains(&b'\n');
        if may_end && !goes_on && is_on_a_line && !cursor.is_word(before, b"return") {
            open.parameters.clear();
        }
    }

    /// A word by itself; the cursor is behind it.
    pub fn word(&mut self, cursor: Cursor<'a>, token: Token, before: Token) {
        let Some(open) = self.open.last_mut() else { return };
        let name = plain(cursor.bytes(token));
        let (block, is_inside) = (open.block, open.parens > 0);
        if is_variable(cursor, before) || open.is_list {
            match is_inside && !open.is_list {
                true => open.parameter(name),
                false => self.declare(block, name, token.start),
            }
            return;
        }
        match name {
            b"fun" | b"val" | b"var" | b"class" | b"interface" | b"object" | b"init" | b"constructor" if !is_inside => {
                open.parameters.clear();
                open.is_head = matches!(name, b"class" | b"interface" | b"object");
            }
            _ if is_inside && is_parameter(cursor) => open.parameter(name),
            _ => {}
        }
    }

    /// The place of a name that has just been read.
    pub fn place(&self, cursor: Cursor<'a>, first: Token) -> Place {
        let name = plain(cursor.bytes(first));
        let open = self.open.last();
        Place {
            block: open.map_or(0, |open| open.block),
            at: first.start,
            is_hidden: open.is_some_and(|open| open.parameters.contains(&name)),
        }
    }

    /// Whether a variable of this name is seen there; asked when the file has ended.
    pub fn hides(&self, name: &[u8], place: Place) -> bool {
        if place.is_hidden || !self.all.contains(plain(name)) {
            return place.is_hidden;
        }
        let mut block = place.block;
        for _ in 0..MAX_DEPTH {
            if self
                .names
                .get(&(block, plain(name)))
                .is_some_and(|from| *from <= place.at)
            {
                return true;
            }
            if block == 0 {
                return false;
            }
            block = self.blocks[block].0;
        }
        false
    }

    fn declare(&mut self, block: usize, name: &'a [u8], at: usize) {
        let from = if self.blocks[block].1 { 0 } else { at };
        if self.names.len() < MAX_NAMES {
            let known = self.names.entry((block, name)).or_insert(from);
            *known = from.min(*known);
            self.all.insert(name);
        }
    }

    /// Behind a `{`.
    fn begin(&mut self, cursor: Cursor<'a>) {
        let Some(open) = self.open.last_mut() else { return };
        let is_class = open.is_head && open.parens == 0;
        // A block in the brackets is a default value's, which sees what stands before it.
        let parameters = match open.parens {
            0 => std::mem::take(&mut open.parameters),
            _ => open.parameters.clone(),
        };
        if open.parens == 0 {
            open.is_head = false;
        }
        let block = self.blocks.len();
        self.blocks.push((open.block, is_class));
        self.open.push(Open::of(block));
        for name in parameters {
            self.declare(block, name, 0);
        }
        for name in lambda(cursor) {
            self.declare(block, name, 0);
        }
    }
}

impl<'a> Open<'a> {
    fn of(block: usize) -> Self {
        Open {
            block,
            parens: 0,
            is_head: false,
            parameters: Vec::new(),
            is_list: false,
        }
    }

    fn parameter(&mut self, name: &'a [u8]) {
        if self.parameters.len() < MAX_PARAMETERS {
            self.parameters.push(name);
        }
    }
}

/// Whether the word declares what follows it.
fn is_variable(cursor: Cursor<'_>, word: Token) -> bool {
    cursor.is_word(word, b"val") || cursor.is_word(word, b"var")
}

/// Whether the word that was just read in brackets is a parameter's or a loop's: `x: T`, `x in xs`.
fn is_parameter(cursor: Cursor<'_>) -> bool {
    match cursor.next_byte() {
        b':' => !cursor.is_scope_next(),
        b'i' => cursor.is_word(cursor.peek(), b"in"),
        _ => false,
    }
}

/// The parameters of a block: `{ a, (b, c), d: T -> ... }`.
fn lambda<'a>(cursor: Cursor<'a>) -> Vec<&'a [u8]> {
    let mut ahead = cursor;
    let mut names = Vec::new();
    let mut is_name = true;
    for _ in 0..MAX_LAMBDA {
        let token = ahead.next();
        match token.kind {
            Kind::Word if is_name => {
                names.push(plain(ahead.bytes(token)));
                is_name = false;
            }
            Kind::Punct(b',' | b'(') => is_name = true,
            Kind::Punct(b'-') if ahead.next().is(b'>') => return names,
            // What is joined to a name makes it no parameter.
            Kind::Dot if ahead.bytes(token) == b"." => {}
            Kind::Word | Kind::Punct(b')' | b':' | b'?' | b'<' | b'>' | b'*') => {}
            _ => return Vec::new(),
        }
    }
    Vec::new()
}

/// A name without backquotes.
fn plain(name: &[u8]) -> &[u8] {
    match name {
        [b'`', inner @ .., b'`'] => inner,
        name => name,
    }
}

//! Imports of a Rust file: `use`, one for each leaf of its tree, `extern crate`, and names of a
//! crate at the root of a path (`redis::cmd()`, `#[redis::test]`), which need no import. Files that are
//! named by their path are includes, see [`included`].
//!
//! What is in the brackets of a macro is code like any other. Whether a name is a crate's is told
//! by [`scopes`]; where it is not certain, it is taken for a crate's. Chosen, where only types or
//! other files would tell:
//! - A root that begins with an upper-case letter is a type and no reference of its own; neither
//!   are the names of primitive types. In `use` it counts, unless the file declares it.
//! - A path through a name that a `use` brought in is no second import; that `use` is reported. But
//!   `use redis::x` counts although `redis` was brought in by a `use`, which may be a function's.
//! - `mod redis;` is taken for a module; that its file may begin with `#![cfg(any())]` and so be
//!   none is not seen here.
//! - Of edition 2018 and later. In 2015 a path of `use` begins at the crate's own root, and crates
//!   need `extern crate`, which is reported in any case.
//! - Where a macro of the file puts in the crate's name (`use $x;`, `$x::f()`), the words in its
//!   calls count as references. Macros of other files, and names that a macro puts together, are
//!   not seen.

mod included;
mod mask;
mod roots;
mod scopes;
mod statements;
#[cfg(test)]
mod tests;
mod use_tree;

pub(in crate::gate) use included::PACKAGE;

use std::collections::HashSet;

use super::lexeme::{Cursor, Kind, Lexeme};
use super::source::{Fault, Found};
use mask::Reading;
use roots::Roots;
use scopes::{Handle, Meaning, Place, Scopes, both};

/// Every import, in no particular order. Where the mask depends on the edition, those of both.
pub fn scan(source: &[u8]) -> Result<Vec<Found>, Fault> {
    let reading = Reading {
        raw_c_strings: true,
        front_matter: true,
    };
    let first = mask::mask(source, reading);
    let (raw, front) = match &first {
        Ok(masked) => (masked.has_raw_c_string, masked.has_front_matter),
        // Of a file that cannot be read the questions are not known.
        Err(_) => (true, true),
    };
    let mut answer = first.and_then(|masked| read(source, &masked.mask));
    for (raw_c_strings, front_matter) in [(false, true), (true, false), (false, false)] {
        if (raw_c_strings || raw) && (front_matter || front) {
            let reading = Reading {
                raw_c_strings,
                front_matter,
            };
            // What is no Rust in one reading is Rust in the other, or in none.
            if let Ok(found) = mask::mask(source, reading).and_then(|masked| read(source, &masked.mask)) {
                match &mut answer {
                    Ok(known) => known.extend(found),
                    Err(_) => answer = Ok(found),
                }
            }
        }
    }
    answer
}

/// The masks of all readings, for tests.
#[cfg(test)]
pub fn masks(source: &[u8]) -> Vec<Vec<u8>> {
    [(false, false), (false, true), (true, false), (true, true)]
        .into_iter()
        .filter_map(|(raw_c_strings, front_matter)| {
            let reading = Reading {
                raw_c_strings,
                front_matter,
            };
            Some(mask::mask(source, reading).ok()?.mask)
        })
        .collect()
}

fn read(source: &[u8], mask: &[u8]) -> Result<Vec<Found>, Fault> {
    let mut scanner = Scanner {
        source,
        mask,
        cursor: Cursor::new(mask),
        scopes: Scopes::new(),
        roots: Roots::default(),
        frames: Vec::new(),
        opening: None,
        rules: Vec::new(),
        computed: HashSet::new(),
        conditions: 0,
        item: None,
        is_public: false,
        moved: Vec::new(),
        inline: Vec::new(),
    };
    scanner.run()?;
    scanner.roots.resolve(mask, scanner.scopes)
}

/// The brackets of a macro's call.
const MACRO: u16 = 1;
/// Those of `macro_rules!`.
const RULES: u16 = 2;
/// Those of a call whose words may become the root of a path.
const COMPUTED: u16 = 4;
/// Those of an attribute.
const ATTRIBUTE: u16 = 8;
/// Flags that hold for all that is inside.
const INHERITED: u16 = MACRO | RULES | COMPUTED | ATTRIBUTE;
/// `{`
const BRACE: u16 = 16;
/// The outermost bracket of an attribute.
const BEGINS_ATTRIBUTE: u16 = 32;
/// Of `#![...]`.
const INNER: u16 = 64;
/// After `pub`.
const VISIBILITY: u16 = 128;
/// Of `pub(in path)`.
const RESTRICTED: u16 = 256;
/// The outermost bracket of a `macro_rules!`.
const BEGINS_RULES: u16 = 512;

/// An open bracket.
#[derive(Clone, Copy)]
struct Frame {
    start: u32,
    scope: u32,
    flags: u16,
    /// The module whose body it is.
    module: Option<Handle>,
}

struct Scanner<'a> {
    source: &'a [u8],
    mask: &'a [u8],
    cursor: Cursor<'a>,
    scopes: Scopes<'a>,
    roots: Roots,
    frames: Vec<Frame>,
    /// What the bracket that comes next is.
    opening: Option<Opening>,
    /// The names of the `macro_rules!` that are open.
    rules: Vec<Lexeme>,
    /// Macros of the file whose arguments become the root of a path.
    computed: HashSet<&'a [u8]>,
    /// The conditions of the attributes that stand one after the other, 0 for none.
    conditions: u64,
    /// The condition of the item that the scanner is in, and how many brackets were open where it
    /// began.
    item: Option<(u64, usize)>,
    /// `pub` or `pub(...)` came just before.
    is_public: bool,
    /// The `#[path]`s of the module that comes next.
    moved: Vec<String>,
    /// The modules inside the file that are open.
    inline: Vec<included::Inline>,
}

#[derive(Clone, Copy)]
enum Opening {
    Call(Lexeme),
    Rules(Lexeme),
    Attribute(u16),
    Module(Option<Handle>),
    Visibility(u16),
}

impl<'a> Scanner<'a> {
    fn run(&mut self) -> Result<(), Fault> {
        let mut before = [Lexeme::NONE; 2];
        loop {
            let token = self.cursor.next();
            let was_public = std::mem::take(&mut self.is_public);
            match token.kind {
                Kind::End => break,
                Kind::Punct(b'{' | b'(' | b'[') => self.open(token),
                Kind::Punct(b'}' | b')' | b']') => self.close(token)?,
                Kind::Punct(b';' | b',') => self.item = self.item.filter(|(_, depth)| *depth != self.frames.len()),
                Kind::Punct(b'!') if before[0].kind == Kind::Word => self.call(before[0])?,
                Kind::Punct(b'#') => self.attribute(),
                Kind::Path => self.path(token, before)?,
                Kind::Word => self.word(token, before, was_public)?,
                _ => {}
            }
            before = [token, before[0]];
        }
        Ok(())
    }

    fn flags(&self) -> u16 {
        self.frames.last().map_or(0, |frame| frame.flags)
    }

    fn scope(&self) -> u32 {
        self.frames.last().map_or(0, |frame| frame.scope)
    }

    fn open(&mut self, token: Lexeme) {
        let mut flags = self.flags() & INHERITED;
        let mut module = None;
        let mut is_module = false;
        match self.opening.take() {
            Some(Opening::Call(name)) => {
                flags |= MACRO;
                if self.computed.contains(self.cursor.bytes(name)) {
                    flags |= COMPUTED;
                }
            }
            Some(Opening::Rules(name)) => {
                flags |= RULES | BEGINS_RULES;
                self.rules.push(name);
            }
            Some(Opening::Attribute(inner)) => {
                if flags & ATTRIBUTE == 0 {
                    flags |= BEGINS_ATTRIBUTE | inner;
                }
                flags |= ATTRIBUTE;
            }
            Some(Opening::Module(handle)) => {
                (module, is_module) = (handle, true);
                if let Some(inline) = self.inline.last_mut().filter(|inline| inline.depth == 0) {
                    inline.depth = self.frames.len() + 1;
                }
            }
            Some(Opening::Visibility(kind)) => flags |= VISIBILITY | kind,
            None => {}
        }
        let mut scope = self.scope();
        if token.is(b'{') {
            flags |= BRACE;
            scope = self.scopes.open(scope, is_module, self.condition_here());
        }
        self.frames.push(Frame {
            start: u32::try_from(token.start).unwrap_or(u32::MAX),
            scope,
            flags,
            module,
        });
    }

    fn close(&mut self, token: Lexeme) -> Result<(), Fault> {
        let Some(frame) = self.frames.pop() else {
            return Ok(());
        };
        let depth = self.frames.len();
        while self.inline.last().is_some_and(|inline| inline.depth > depth) {
            self.inline.pop();
        }
        if frame.flags & BRACE != 0 {
            self.scopes.close(frame.scope);
        }
        if frame.flags & BEGINS_RULES != 0 {
            self.rules.pop();
        }
        self.item = self
            .item
            .filter(|(_, at)| *at < depth || (*at == depth && frame.flags & BRACE == 0));
        self.is_public = frame.flags & VISIBILITY != 0;
        if frame.flags & BEGINS_ATTRIBUTE != 0 {
            self.end_attribute(frame, token.start);
            if frame.flags & INNER == 0 {
                self.module_path(frame.start as usize, token.start)?;
            }
        }
        Ok(())
    }

    /// `#[` or `#![`, with the cursor after the `#`.
    fn attribute(&mut self) {
        let mut ahead = self.cursor;
        let mut inner = 0;
        if ahead.peek().is(b'!') {
            ahead.next();
            inner = INNER;
        }
        if ahead.peek().is(b'[') {
            self.cursor = ahead;
            self.opening = Some(Opening::Attribute(inner));
        }
    }

    fn end_attribute(&mut self, frame: Frame, end: usize) {
        let condition = roots::condition(self.source, self.mask, frame.start as usize + 1, end);
        if frame.flags & INNER != 0 {
            let module = self.frames.last().and_then(|frame| frame.module);
            if let (Some(module), true) = (module, condition != 0) {
                self.scopes.add_condition(module, condition);
            }
            return;
        }
        self.conditions = both(self.conditions, condition);
        let next = self.cursor.peek();
        if next.is(b'#') {
            return;
        }
        let conditions = std::mem::take(&mut self.conditions);
        if conditions == 0 {
            return;
        }
        // Of nothing else it is certain where it ends: of a generic parameter the brackets are not
        // counted.
        let begins_item = next.kind == Kind::Word
            && matches!(
                self.cursor.bytes(next),
                b"pub"
                    | b"fn"
                    | b"mod"
                    | b"use"
                    | b"extern"
                    | b"impl"
                    | b"trait"
                    | b"static"
                    | b"unsafe"
                    | b"async"
                    | b"let"
                    | b"struct"
                    | b"enum"
            );
        self.item = begins_item.then_some((conditions, self.frames.len()));
    }

    /// The condition of an item that begins here.
    fn condition_here(&self) -> u64 {
        self.item
            .filter(|(_, depth)| *depth == self.frames.len())
            .map_or(0, |(condition, _)| condition)
    }

    /// After `name !`.
    fn call(&mut self, name: Lexeme) -> Result<(), Fault> {
        let is_open = |token: Lexeme| token.is(b'{') || token.is(b'(') || token.is(b'[');
        let next = self.cursor.peek();
        if is_open(next) {
            self.opening = Some(Opening::Call(name));
            if matches!(self.cursor.bytes(name), b"include" | b"r#include") {
                self.include()?;
            }
        } else if next.kind == Kind::Word && self.cursor.is_word(name, b"macro_rules") {
            self.cursor.next();
            if is_open(self.cursor.peek()) {
                self.opening = Some(Opening::Rules(next));
            }
        }
        Ok(())
    }

    fn word(&mut self, token: Lexeme, before: [Lexeme; 2], was_public: bool) -> Result<(), Fault> {
        match self.cursor.bytes(token) {
            b"use" if !before[0].is(b'.') => self.use_tree(was_public)?,
            b"extern" => self.extern_crate(was_public)?,
            b"pub" => {
                self.is_public = true;
                let mut ahead = self.cursor;
                if ahead.next().is(b'(') {
                    let word = ahead.next();
                    match ahead.bytes(word) {
                        b"in" => self.opening = Some(Opening::Visibility(RESTRICTED)),
                        b"crate" | b"self" | b"super" if ahead.peek().is(b')') => {
                            self.opening = Some(Opening::Visibility(0));
                        }
                        _ => {}
                    }
                }
            }
            b"mod" => {
                let name = self.cursor.peek();
                let mut ahead = self.cursor;
                if ahead.next().kind == Kind::Word || self.flags() & RULES != 0 {
                    let handle = self.declare(name, Meaning::Own);
                    // In a macro's body the name may be `$name`.
                    while ahead.peek().is(b'$') || ahead.peek().kind == Kind::Word {
                        ahead.next();
                    }
                    if ahead.peek().is(b'{') {
                        self.begin_inline(name);
                        self.cursor = ahead;
                        self.opening = Some(Opening::Module(handle));
                    } else {
                        self.module_file(name)?;
                    }
                }
            }
            b"struct" | b"enum" | b"trait" => {
                let name = self.cursor.peek();
                self.declare(name, Meaning::Own);
            }
            name => {
                let is_root = !matches!(before[0].kind, Kind::Path | Kind::Punct(b'.' | b'$'));
                if self.flags() & COMPUTED != 0 && is_root && roots::may_be_crate(name) {
                    self.refer(token, false)?;
                }
            }
        }
        Ok(())
    }

    /// Declares a name in the scope that the scanner is in, if it is certain to be declared there.
    fn declare(&mut self, name: Lexeme, meaning: Meaning) -> Option<Handle> {
        let flags = self.flags();
        let is_item = self.frames.is_empty() || flags & BRACE != 0;
        if name.kind != Kind::Word || !is_item || flags & (MACRO | RULES) != 0 {
            return None;
        }
        let place = Place {
            scope: self.scope(),
            condition: self.condition_here(),
            is_exposed: false,
        };
        Some(self.scopes.declare(self.cursor.bytes(name), place, meaning))
    }

    fn place(&self) -> Place {
        Place {
            scope: self.scope(),
            condition: self.item.map_or(0, |(condition, _)| condition),
            is_exposed: self.flags() & RULES != 0,
        }
    }
}

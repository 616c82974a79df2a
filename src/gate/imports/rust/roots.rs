//! What the scanner found, and which of it a crate is the root of.

use std::hash::{DefaultHasher, Hash, Hasher};

use unicode_normalization::UnicodeNormalization;

use super::super::ImportKind;
use super::super::lexeme::{Cursor, Kind, Lexeme};
use super::super::source::{Fault, Found};
use super::scopes::{Meaning, Place, Scopes, plain};
use super::use_tree::{End, Leaf};

/// Imports and references of one file that are kept; generated bindings of a whole operating
/// system stay far below.
const MAX_FOUND: usize = 1_000_000;
/// Segments of a reference that are read.
const MAX_SEGMENTS: usize = 16;
/// Bytes of all names that are kept: leaves of one group share a path, which is written for each.
const MAX_BYTES: usize = 256 << 20;

/// A reference before it is known whether the file declares its root.
#[derive(Clone, Copy)]
struct Reference {
    start: usize,
    place: Place,
}

/// Everything found so far.
#[derive(Default)]
pub struct Roots {
    found: Vec<Found>,
    /// Imports whose root the file may declare: number in `found`, the root's place in the file.
    open: Vec<(usize, Lexeme, Place)>,
    references: Vec<Reference>,
    bytes: usize,
}

impl Roots {
    pub fn push(&mut self, found: Found) -> Result<(), Fault> {
        self.bytes += found.raw.len();
        if self.found.len() >= MAX_FOUND || self.bytes > MAX_BYTES {
            return Err(too_many(found.at));
        }
        self.found.push(found);
        Ok(())
    }

    /// A leaf of a `use`.
    pub fn import(&mut self, mask: &[u8], leaf: Leaf, kind: ImportKind, place: Place) -> Result<(), Fault> {
        let Some(root) = leaf.path.first().copied() else {
            return match leaf.end {
                End::Computed => self.opaque(leaf.at),
                // `use *` names the crate's own root, and `use {self}` nothing.
                _ => Ok(()),
            };
        };
        let name = &mask[root.start..root.end];
        let is_local = !leaf.is_global && is_local(name);
        let segments = leaf.path.iter().map(|token| &mask[token.start..token.end]);
        let mut raw = written(leaf.is_global, segments.clone());
        match leaf.end {
            End::Glob => raw.push_str("::*"),
            End::Computed => raw.push_str("::$"),
            End::Name | End::As(_) | End::Unnamed => {}
        }
        if !is_local && !leaf.is_global {
            self.open.push((self.found.len(), root, place));
        }
        self.push(Found {
            raw,
            identity: match is_local {
                true => Vec::new(),
                false => identity(segments),
            },
            kind,
            at: leaf.at,
        })
    }

    /// The crate of `extern crate`.
    pub fn extern_crate(&mut self, mask: &[u8], name: Lexeme, kind: ImportKind) -> Result<(), Fault> {
        let segments = [&mask[name.start..name.end]];
        self.push(Found {
            raw: written(false, segments.into_iter()),
            identity: identity(segments.into_iter()),
            kind,
            at: name.start,
        })
    }

    /// An import whose name a macro puts in.
    pub fn opaque(&mut self, at: usize) -> Result<(), Fault> {
        self.push(Found {
            raw: String::new(),
            identity: Vec::new(),
            kind: ImportKind::Opaque,
            at,
        })
    }

    /// A path that begins at `start`, with `::` or with a name.
    pub fn refer(&mut self, start: usize, place: Place) -> Result<(), Fault> {
        if self.references.len() >= MAX_FOUND {
            return Err(too_many(start));
        }
        self.references.push(Reference { start, place });
        Ok(())
    }

    /// The imports, and those references whose root the file does not declare.
    pub fn resolve<'a>(mut self, mask: &'a [u8], mut scopes: Scopes<'a>) -> Result<Vec<Found>, Fault> {
        let root = |start: usize| {
            let mut cursor = Cursor::starting(mask, start);
            match cursor.next() {
                token if token.kind == Kind::Path => cursor.next(),
                token => token,
            }
        };
        let mut queries: Vec<(&[u8], Place)> = Vec::with_capacity(self.open.len() + self.references.len());
        for (_, root, place) in &self.open {
            queries.push((&mask[root.start..root.end], *place));
        }
        for reference in &self.references {
            let root = root(reference.start);
            queries.push((&mask[root.start..root.end], reference.place));
        }
        let mut is_hidden = vec![false; self.references.len()];
        let (open, found) = (&self.open, &mut self.found);
        scopes.resolve(&queries, |number, meaning| {
            let Some((import, root, _)) = open.get(number) else {
                is_hidden[number - open.len()] = true;
                return;
            };
            let found = &mut found[*import];
            match meaning {
                Meaning::Own => {
                    found.raw.insert_str(0, "self::");
                    found.identity.clear();
                }
                Meaning::Used if is_type(&mask[root.start..root.end]) => found.identity.clear(),
                // It may be a function's name, which does not hide the crate's.
                Meaning::Used => {}
                Meaning::Crate(start, end) => found.identity[0] = segment(&mask[start..end]),
            }
        });
        let references = std::mem::take(&mut self.references);
        for (reference, _) in references.iter().zip(is_hidden).filter(|(_, is_hidden)| !is_hidden) {
            let mut cursor = Cursor::starting(mask, reference.start);
            let mut token = cursor.next();
            let is_global = token.kind == Kind::Path;
            if is_global {
                token = cursor.next();
            }
            let mut segments = vec![&mask[token.start..token.end]];
            while segments.len() < MAX_SEGMENTS && cursor.next().kind == Kind::Path {
                let token = cursor.next();
                if token.kind != Kind::Word {
                    break;
                }
                segments.push(&mask[token.start..token.end]);
            }
            self.push(Found {
                raw: written(is_global, segments.iter().copied()),
                identity: identity(segments.into_iter()),
                kind: ImportKind::Reference,
                at: reference.start,
            })?;
        }
        Ok(self.found)
    }
}

fn too_many(at: usize) -> Fault {
    Fault {
        why: "has more imports than are read",
        at,
    }
}

fn written<'a>(is_global: bool, segments: impl Iterator<Item = &'a [u8]>) -> String {
    let mut raw = String::new();
    for (number, segment) in segments.enumerate() {
        if number > 0 || is_global {
            raw.push_str("::");
        }
        raw.push_str(&String::from_utf8_lossy(segment));
    }
    raw
}

fn identity<'a>(segments: impl Iterator<Item = &'a [u8]>) -> Vec<String> {
    segments.map(segment).collect()
}

/// A name as the compiler compares it: without `r#`, in NFC.
fn segment(name: &[u8]) -> String {
    let name = String::from_utf8_lossy(plain(name));
    match name.is_ascii() {
        true => name.into_owned(),
        false => name.nfc().collect(),
    }
}

fn is_local(name: &[u8]) -> bool {
    matches!(name, b"crate" | b"self" | b"super" | b"Self")
}

/// Whether it is written like a type.
pub fn is_type(name: &[u8]) -> bool {
    plain(name).first().is_some_and(u8::is_ascii_uppercase)
}

/// Whether a path that has this root may lead into a crate, as far as the name tells.
pub fn may_be_crate(name: &[u8]) -> bool {
    !is_type(name)
        && !is_local(name)
        && !goes_before_path(name)
        && !matches!(
            name,
            b"_" | b"true"
                | b"false"
                | b"bool"
                | b"char"
                | b"str"
                | b"u8"
                | b"u16"
                | b"u32"
                | b"u64"
                | b"u128"
                | b"usize"
                | b"i8"
                | b"i16"
                | b"i32"
                | b"i64"
                | b"i128"
                | b"isize"
                | b"f16"
                | b"f32"
                | b"f64"
                | b"f128"
        )
}

/// Keywords: what comes after is no part of their path.
pub fn goes_before_path(word: &[u8]) -> bool {
    matches!(
        word,
        b"as"
            | b"async"
            | b"await"
            | b"box"
            | b"break"
            | b"const"
            | b"continue"
            | b"do"
            | b"dyn"
            | b"else"
            | b"enum"
            | b"extern"
            | b"fn"
            | b"for"
            | b"if"
            | b"impl"
            | b"in"
            | b"let"
            | b"loop"
            | b"match"
            | b"mod"
            | b"move"
            | b"mut"
            | b"pub"
            | b"ref"
            | b"return"
            | b"static"
            | b"struct"
            | b"trait"
            | b"type"
            | b"unsafe"
            | b"use"
            | b"where"
            | b"while"
            | b"yield"
    )
}

/// Tools whose attributes no crate defines (`#[rustfmt::skip]`).
pub fn is_tool(name: &[u8]) -> bool {
    matches!(
        name,
        b"rustfmt" | b"clippy" | b"rustdoc" | b"diagnostic" | b"miri" | b"rust_analyzer" | b"rustc"
    )
}

/// The condition that an attribute at `from..to` puts on what it stands before, 0 for none: what
/// stands in `cfg(...)`, also in that of a `cfg_attr`. Conditions that are written alike are equal.
pub fn condition(source: &[u8], mask: &[u8], from: usize, to: usize) -> u64 {
    let mut cursor = Cursor::starting(&mask[..to], from);
    let first = cursor.peek();
    let mut hides = match plain(cursor.bytes(first)) {
        b"cfg" => true,
        b"cfg_attr" => false,
        _ => return 0,
    };
    let mut sum = DefaultHasher::new();
    let mut before = [Lexeme::NONE; 2];
    loop {
        let token = cursor.next();
        if token.kind == Kind::End {
            break;
        }
        // `doc(cfg(...))` is for the documentation.
        hides |= plain(cursor.bytes(token)) == b"cfg" && !cursor.is_word(before[1], b"doc");
        // Literals are compared as they are written, which the mask does not tell.
        source[token.start..token.end].hash(&mut sum);
        before = [token, before[0]];
    }
    if hides { sum.finish().max(1) } else { 0 }
}

//! Headers that a macro of the same file names: `#define H "x.h"` and `#include H`.
//!
//! Every definition of the name counts, wherever in the file it stands, since a branch that `#if` leaves out may be
//! the one that is taken. The include stays a computed one all the same: another file or the build may define the
//! name as well.

use std::collections::HashMap;

use super::super::ImportKind;
use super::super::source::{Fault, Found};
use super::lexer::{Lexer, is_word_byte};
use super::names::of_path;

/// Macros that name the next before the last is given up.
const MAX_STEPS: usize = 8;
/// Headers that one include may be.
const MAX_HEADERS: usize = 64;

/// What a macro without parameters stands for, as far as it can name a header.
pub(super) enum Body {
    Header(String),
    Macro(Vec<u8>),
}

/// The macros of a file, and the includes that name one.
#[derive(Default)]
pub(super) struct Macros {
    defined: HashMap<Vec<u8>, Vec<Body>>,
    included: Vec<(Vec<u8>, usize)>,
}

impl Lexer<'_> {
    /// After `define`.
    pub(super) fn define(&mut self, end: usize) -> Result<(), Fault> {
        let at = self.blanks(end)?;
        let mut buffer = Vec::new();
        let (name, end) = self.word_at(at, &mut buffer);
        let name = name.to_vec();
        if name.is_empty() || self.byte(self.joined(end)) == b'(' {
            return Ok(());
        }
        let at = self.blanks(end)?;
        let (body, end) = match self.byte(at) {
            // What is no header's name is none of an include's, either.
            b'<' | b'"' => match self.delimited(at) {
                Ok(Some((raw, end))) => (Body::Header(raw), end),
                Ok(None) | Err(_) => return Ok(()),
            },
            byte if is_word_byte(byte) => {
                let mut buffer = Vec::new();
                let (word, end) = self.word_at(at, &mut buffer);
                (Body::Macro(word.to_vec()), end)
            }
            _ => return Ok(()),
        };
        let rest = self.blanks(end)?;
        if matches!(self.byte(rest), b'\n' | b'\r') || self.byte(rest) == b'/' {
            self.macros.defined.entry(name).or_default().push(body);
        }
        Ok(())
    }

    /// An include at `at` of what is no header's name.
    pub(super) fn include_macro(&mut self, at: usize) {
        let mut buffer = Vec::new();
        let (name, _) = self.word_at(at, &mut buffer);
        if !name.is_empty() {
            let name = name.to_vec();
            self.macros.included.push((name, at));
        }
    }
}

impl Macros {
    /// What these includes may name.
    pub(super) fn found(self) -> Vec<Found> {
        let mut found = Vec::new();
        for (name, at) in &self.included {
            let mut open = vec![name];
            let mut count = 0;
            for _ in 0..MAX_STEPS {
                let bodies: Vec<&Body> = (open.drain(..))
                    .filter_map(|name| self.defined.get(name))
                    .flatten()
                    .take(MAX_HEADERS)
                    .collect();
                for body in bodies {
                    match body {
                        Body::Macro(next) => open.push(next),
                        Body::Header(raw) if count < MAX_HEADERS => {
                            count += 1;
                            found.push(Found {
                                identity: of_path(raw[1..raw.len() - 1].trim(), raw.starts_with('"')),
                                raw: raw.clone(),
                                kind: ImportKind::Include,
                                at: *at,
                            });
                        }
                        Body::Header(_) => {}
                    }
                }
            }
        }
        found
    }
}

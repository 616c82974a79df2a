//! Which names of a Rust file are its own where they stand.
//!
//! A path begins with a crate unless the name is declared in an enclosing block of the same module.
//! A module does not see what the one around it declares, but through `use super::*`. So an empty
//! `mod redis {}` hides the crate only where it hides it from the compiler.
//!
//! Invariant: a name is taken for the file's own only where that is certain. A declaration under
//! `#[cfg]` holds for what stands under the same condition; one inside a macro's brackets holds
//! nowhere, since the macro may drop it; a rename (`use a::b as redis`) holds nowhere either, since
//! `b` may be a function, which leaves the crate's name as it is, but for one of an own path
//! (`use crate::db as redis`), which hides the crate from paths that are no `use`. What stands in a `macro_rules!` is
//! resolved where the macro is called, so nothing hides it.
//!
//! Time is linear in the number of scopes, declarations and queries (but for sorting).

use std::collections::HashMap;

/// A pair of braces, or the whole file, which is the first.
struct Scope {
    /// The last scope inside of it; it numbers scopes in the order in which they open.
    last: u32,
    /// The scope of the module that it lies in: itself, if it is a module's.
    module: u32,
    /// For a module: the scope that it is in.
    outer: u32,
    /// For a module: it has `use super::*`.
    sees_outer: bool,
    /// The condition of the item that it belongs to, 0 for none.
    condition: u64,
}

/// What a declared name stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Meaning {
    /// A module or type of the file.
    Own,
    /// `extern crate x as name`: the place of `x`.
    Crate(usize, usize),
    /// `use a::name`: what else is reported for that statement. It may be a function's name.
    Used,
}

#[derive(Clone, Copy)]
struct Declaration<'a> {
    name: &'a [u8],
    scope: u32,
    condition: u64,
    meaning: Meaning,
}

/// Where a path stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Place {
    /// The innermost scope.
    pub scope: u32,
    /// The condition of its own statement, 0 for none.
    pub condition: u64,
    /// Nothing hides a name here.
    pub is_exposed: bool,
}

/// The scopes of a file, in the making and then to be asked.
pub struct Scopes<'a> {
    scopes: Vec<Scope>,
    declarations: Vec<Declaration<'a>>,
}

/// A declaration of a scope, to change it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Handle(u32);

impl<'a> Scopes<'a> {
    /// With the file itself as the only scope.
    pub fn new() -> Self {
        let file = Scope {
            last: 0,
            module: 0,
            outer: 0,
            sees_outer: false,
            condition: 0,
        };
        Scopes {
            scopes: vec![file],
            declarations: Vec::new(),
        }
    }

    /// Opens a scope inside of `outer`.
    pub fn open(&mut self, outer: u32, is_module: bool, condition: u64) -> u32 {
        // A scope takes a byte of a file that is far smaller than 4 GB.
        let scope = u32::try_from(self.scopes.len()).unwrap_or(u32::MAX);
        let module = if is_module {
            scope
        } else {
            self.scopes[outer as usize].module
        };
        self.scopes.push(Scope {
            last: scope,
            module,
            outer,
            sees_outer: false,
            condition,
        });
        scope
    }

    /// Closes it: what opened since lies inside.
    pub fn close(&mut self, scope: u32) {
        self.scopes[scope as usize].last = u32::try_from(self.scopes.len() - 1).unwrap_or(u32::MAX);
    }

    /// Declares a name.
    pub fn declare(&mut self, name: &'a [u8], place: Place, meaning: Meaning) -> Handle {
        self.declarations.push(Declaration {
            name: plain(name),
            scope: place.scope,
            condition: place.condition,
            meaning,
        });
        Handle(u32::try_from(self.declarations.len() - 1).unwrap_or(u32::MAX))
    }

    /// A condition that is written inside of what is declared (`#![cfg(x)]`).
    pub fn add_condition(&mut self, handle: Handle, condition: u64) {
        let declaration = &mut self.declarations[handle.0 as usize];
        declaration.condition = both(declaration.condition, condition);
    }

    /// `use super::*` in this scope. Only in that of a module it holds for the module.
    pub fn sees_outer(&mut self, scope: u32) {
        let scope = &mut self.scopes[scope as usize];
        scope.sees_outer = true;
    }

    /// Calls `tell` for each of the queries that the file declares itself, with its number.
    pub fn resolve(&mut self, queries: &[(&'a [u8], Place)], mut tell: impl FnMut(usize, Meaning)) {
        if self.declarations.is_empty() || queries.is_empty() {
            return;
        }
        self.close(0);
        self.declarations.sort_by_key(|declaration| declaration.scope);
        let horizon = self.horizons();
        let mut known: HashMap<&[u8], Vec<Declaration<'a>>> = HashMap::new();
        for declaration in &self.declarations {
            known.entry(declaration.name).or_default();
        }
        let mut asked: Vec<(u32, usize)> = queries
            .iter()
            .enumerate()
            .filter(|(_, (name, place))| !place.is_exposed && known.contains_key(plain(name)))
            .map(|(number, (_, place))| (place.scope, number))
            .collect();
        asked.sort_unstable();
        let mut asked = asked.into_iter().peekable();
        let mut declared = self.declarations.iter().peekable();
        // Scopes that are open, with what they declare, and how often each condition holds.
        let mut open: Vec<(u32, Vec<&[u8]>)> = Vec::new();
        let mut conditions: HashMap<u64, usize> = HashMap::new();
        for scope in 0..self.scopes.len() as u32 {
            while let Some((inner, names)) = open.pop_if(|(inner, _)| self.scopes[*inner as usize].last < scope) {
                for name in names {
                    known.get_mut(name).and_then(Vec::pop);
                }
                let condition = self.scopes[inner as usize].condition;
                conditions.entry(condition).and_modify(|count| *count -= 1);
            }
            let mut names = Vec::new();
            while let Some(declaration) = declared.next_if(|declaration| declaration.scope == scope) {
                names.push(declaration.name);
                known.entry(declaration.name).or_default().push(*declaration);
            }
            *conditions.entry(self.scopes[scope as usize].condition).or_default() += 1;
            open.push((scope, names));
            let horizon = horizon[self.scopes[scope as usize].module as usize];
            while let Some((_, number)) = asked.next_if(|(of, _)| *of == scope) {
                let (name, place) = &queries[number];
                let holds = |declaration: &&Declaration| {
                    self.scopes[declaration.scope as usize].module >= horizon
                        && (declaration.condition == 0
                            || declaration.condition == place.condition
                            || conditions.get(&declaration.condition).is_some_and(|count| *count > 0))
                };
                let candidates = known.get(plain(name)).map_or(&[][..], Vec::as_slice);
                // Nobody declares a name more often under different conditions; a file that does
                // is not given the benefit.
                let nearest = candidates.iter().rev().take(16).filter(holds);
                // A module is certain, so it goes before what may be a function's name.
                if let Some(declaration) = nearest.min_by_key(|declaration| declaration.meaning == Meaning::Used) {
                    tell(number, declaration.meaning);
                }
            }
        }
    }

    /// For each module the outermost module whose names it sees.
    fn horizons(&self) -> Vec<u32> {
        let mut horizons = vec![0; self.scopes.len()];
        for scope in 0..self.scopes.len() {
            let it = &self.scopes[scope];
            horizons[scope] = if it.module as usize == scope && it.sees_outer && scope > 0 {
                horizons[self.scopes[it.outer as usize].module as usize]
            } else {
                it.module
            };
        }
        horizons
    }
}

/// Two conditions as one; what has a condition never becomes what has none.
pub fn both(one: u64, other: u64) -> u64 {
    match (one, other) {
        (0, condition) | (condition, 0) => condition,
        _ => one.wrapping_mul(0x9E37_79B9_7F4A_7C15).wrapping_add(other).max(1),
    }
}

/// A name without `r#`.
pub fn plain(name: &[u8]) -> &[u8] {
    name.strip_prefix(b"r#").unwrap_or(name)
}

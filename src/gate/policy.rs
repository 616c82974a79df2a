//! The policy `architecture/invariants.yml`, strict: what is not understood is an error.

use std::fmt;

use super::paths::PathRule;
use super::{Oid, Tree, Unreadable};

/// Why the policy cannot be used (exit 2).
#[derive(Debug)]
pub enum PolicyError {
    /// The base has no policy file.
    Missing,
    /// It is there and cannot be used; the text has file, line, column, snippet and nearest key.
    Invalid(String),
    /// It is there and cannot be read.
    Unreadable(Unreadable),
}

impl fmt::Display for PolicyError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        todo!()
    }
}

impl std::error::Error for PolicyError {}

/// One entry of `forbidden_imports`, as written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ImportRule {
    /// The entry as written, such as `redis` or `@redis/*`.
    pub entry: String,
    /// `payments.forbidden_imports[0]`
    pub key: String,
}

/// A named part of the repository.
#[derive(Clone, Debug)]
pub struct Area {
    /// The key in the policy.
    pub name: String,
    /// What the area consists of; empty: the whole repository (for its import rules only, such an
    /// area owns no path for `unmapped` and `Areas:`).
    pub allowed_roots: Vec<PathRule>,
    /// Imports that files of the area must not have.
    pub forbidden_imports: Vec<ImportRule>,
    /// Folders in which nothing may change.
    pub forbidden_dirs: Vec<PathRule>,
}

/// `unmapped`, `existing`: whether the lenient default holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stance {
    /// The default.
    Allow,
    /// The strict reading.
    Deny,
}

/// The rules of one base tree. Only made from a tree, so it cannot come from an edited file.
#[derive(Clone, Debug)]
pub struct Policy {
    /// Blob id of the policy file.
    pub id: Oid,
    /// In the order of the file.
    pub areas: Vec<Area>,
    /// Default 0.
    pub max_new_top_level_dirs: u32,
    /// Human-owned paths, the built-in ones included.
    pub must_not_touch: Vec<PathRule>,
    /// A changed path under no area's roots.
    pub unmapped: Stance,
    /// An import that the same file already had at the base.
    pub existing: Stance,
}

impl Policy {
    /// The policy of this tree.
    pub fn of(tree: &dyn Tree) -> Result<Policy, PolicyError> {
        todo!()
    }
}

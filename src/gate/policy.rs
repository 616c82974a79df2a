//! The policy `architecture/invariants.yml`, strict: what is not understood is an error.
//!
//! Invariants: a [`Policy`] is only made from a tree, so an edited file cannot judge its own
//! change; a key whose rule this version does not enforce is refused, never ignored; a policy
//! that could not refuse anything is no policy.

mod areas;
mod ci;
mod dependencies;
mod parse;
#[cfg(test)]
mod tests;

pub use parse::{AREA as AREA_KEYS, AREA_LATER as LATER_AREA_KEYS, TOP as TOP_KEYS, TOP_LATER as LATER_TOP_KEYS};

use std::fmt;

use super::imports::Language;
use super::paths::PathRule;
use super::tree::lookup;
use super::yaml;
use super::{Kind, Oid, POLICY_PATH, SCHEMA_PATH, SETTINGS_PATH, Tree, Unreadable};
pub use ci::{KNOWN as CI_PATHS, is_mention as calls_gate};
pub use dependencies::{Dependencies, NameRule};

/// Where accepted old findings are kept unless the policy says otherwise; protected in any case.
pub const BASELINE_PATH: &str = "architecture/invariants.baseline.json";
/// The key of protected paths that no policy needs to list.
pub const BUILT_IN: &str = "must_not_touch (built in)";

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
        match self {
            PolicyError::Missing => write!(
                f,
                "no {POLICY_PATH} in the base\nhint: write one with `agentgate init`, then `git add {POLICY_PATH}` and \
                 `git commit`"
            ),
            PolicyError::Invalid(text) => f.write_str(text),
            PolicyError::Unreadable(error) => error.fmt(f),
        }
    }
}

impl std::error::Error for PolicyError {}

impl From<Unreadable> for PolicyError {
    fn from(error: Unreadable) -> Self {
        PolicyError::Unreadable(error)
    }
}

/// One entry of `forbidden_imports`, as written.
#[derive(Clone, Debug)]
pub struct ImportRule {
    /// The entry as written, such as `redis` or `@redis/*`.
    pub entry: String,
    /// `payments.forbidden_imports[0]`
    pub key: String,
    /// The languages it holds for; empty: all of them.
    pub languages: Vec<Language>,
    /// Paths that may have the import all the same.
    pub except: Vec<PathRule>,
    /// Why it is forbidden, in the owner's words; one line.
    pub reason: Option<String>,
    /// What to import instead; one line.
    pub use_instead: Option<String>,
}

impl ImportRule {
    /// Whether it says anything about imports of such a file. `except` is an allow-list: only the
    /// very spelling counts.
    pub fn covers(&self, path: &[u8], language: Language) -> bool {
        (self.languages.is_empty() || self.languages.contains(&language)) && !self.excepts(path)
    }

    /// Whether a path is one of those that may have the import all the same.
    pub fn excepts(&self, path: &[u8]) -> bool {
        self.except.iter().any(|rule| rule.allows(path))
    }
}

/// A named part of the repository.
#[derive(Clone, Debug)]
pub struct Area {
    /// The key in the policy.
    pub name: String,
    /// What the area consists of; empty: the whole repository (for its import rules only, such an
    /// area owns no path for `unmapped` and `Areas:`).
    pub allowed_roots: Vec<PathRule>,
    /// Imports that files of the area must not have, and dependencies that its manifests must not
    /// newly declare.
    pub forbidden_imports: Vec<ImportRule>,
    /// Folders in which nothing may change.
    pub forbidden_dirs: Vec<PathRule>,
    /// The other areas whose modules its files may import; `None`: any.
    pub may_depend_on: Option<Vec<String>>,
    /// The external packages that its files may import; `None`: any.
    pub allowed_imports: Option<Vec<ImportRule>>,
}

impl Area {
    /// Whether any rule about imports says something of those of such a file.
    pub fn speaks_of(&self, path: &[u8], language: Language) -> bool {
        self.may_depend_on.is_some()
            || self.allowed_imports.is_some()
            || self.forbidden_imports.iter().any(|rule| rule.covers(path, language))
    }
}

/// `unmapped`, `existing`, `autoexec`: whether the lenient default holds.
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
    /// A change of a file that tools run by themselves. `Allow` is the policy's `warn`.
    pub autoexec: Stance,
    /// An import whose name is computed, so that no rule can look at it.
    pub dynamic_imports: Stance,
    /// Where the known findings are listed, if they are.
    pub baseline: Option<String>,
    /// Most changed paths, at least 1.
    pub max_changed_files: Option<u32>,
    /// Most added and deleted lines together, at least 1.
    pub max_changed_lines: Option<u32>,
    /// Fingerprints of values that look like credentials and are none.
    pub allowed_credentials: Vec<String>,
    /// What manifests may newly declare; `None`: no such rule.
    pub dependencies: Option<Dependencies>,
}

impl Policy {
    /// The policy of this tree, with the built-in protected paths: the policy itself, its
    /// baseline and schema, the settings, and CI files of this tree that mention agentgate.
    pub fn of(tree: &dyn Tree) -> Result<Policy, PolicyError> {
        let entry = lookup(tree, POLICY_PATH.as_bytes())?.ok_or(PolicyError::Missing)?;
        let what = match entry.kind {
            Kind::File | Kind::Executable => None,
            Kind::Symlink => Some("a symlink"),
            Kind::Submodule => Some("a submodule link"),
            Kind::Tree => Some("a folder"),
        };
        if let Some(what) = what {
            return Err(PolicyError::Invalid(format!(
                "{POLICY_PATH}: {what}, where a file belongs\nhint: commit it as a regular file"
            )));
        }
        let size = tree.blob_size(&entry.id)?;
        if size > yaml::MAX_BYTES as u64 {
            return Err(PolicyError::Invalid(format!(
                "{POLICY_PATH}: {size} bytes, more than the limit of {}",
                yaml::MAX_BYTES
            )));
        }
        let mut policy = parse::parse(&tree.blob(&entry.id)?, entry.id).map_err(PolicyError::Invalid)?;
        let built_in = [POLICY_PATH, BASELINE_PATH, SCHEMA_PATH, SETTINGS_PATH].map(|path| path.as_bytes().to_vec());
        let listed = policy.baseline.iter().map(|path| path.as_bytes().to_vec());
        let listed: Vec<Vec<u8>> = listed.filter(|path| path != BASELINE_PATH.as_bytes()).collect();
        for path in built_in.into_iter().chain(listed).chain(ci::mentions(tree)?) {
            policy
                .must_not_touch
                .push(PathRule::exactly(&path, BUILT_IN.to_owned()));
        }
        Ok(policy)
    }

    /// Whether these bytes would be a usable policy. It gives no policy: judging always goes
    /// through [`Policy::of`].
    pub fn validate(bytes: &[u8]) -> Result<(), PolicyError> {
        let Some(nowhere) = Oid::from_bytes(&[]) else {
            return Err(PolicyError::Invalid(format!("{POLICY_PATH}: cannot be validated here")));
        };
        parse::parse(bytes, nowhere).map(drop).map_err(PolicyError::Invalid)
    }

    /// The area with this name.
    pub fn area(&self, name: &str) -> Option<&Area> {
        self.areas.iter().find(|area| area.name == name)
    }
}

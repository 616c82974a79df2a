//! The gate: a pure function from two trees and a task to findings.
//!
//! Invariant: the policy is found inside the base tree itself. No function here takes a policy
//! from anywhere else, so an edited policy in the candidate cannot judge its own change. Nothing
//! on this floor touches a file system, a clock, a process or libgit2.

pub mod autoexec;
pub mod baseline;
pub mod checks;
pub mod content;
pub mod credentials;
pub mod graph;
pub mod imports;
pub mod inspected;
mod known;
pub mod leftovers;
pub mod lines;
pub mod manifests;
pub mod meaning;
pub mod policy;
pub mod render;
pub mod resolve;
pub mod rules;
mod survey;
pub mod touched;
pub mod tree;
pub mod whole;
pub mod yaml;

use std::collections::HashSet;
use std::fmt;

use crate::exit::Exit;
pub use crate::paths;
use crate::task::Task;
pub use inspected::Inspected;
pub use lines::Line;
pub use policy::{Policy, PolicyError};
pub use rules::credentials::Holder;
use survey::{Survey, Wants};
pub use tree::{Change, Entry, Kind, Oid, Tree, Unreadable};

/// Where the policy lies in every base tree.
pub const POLICY_PATH: &str = "architecture/invariants.yml";
/// Where a JSON Schema of the policy may lie, for editors; nothing here reads it.
pub const SCHEMA_PATH: &str = "architecture/invariants.schema.json";
/// Where the repository's settings lie in every base tree.
pub const SETTINGS_PATH: &str = "architecture/agentgate.yml";

/// What kind of rule a finding breaks. The kebab-case code is stable.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Rule {
    /// A human-owned path changed.
    ProtectedPath,
    /// A change below `forbidden_dirs`.
    ForbiddenDirectory,
    /// An import that `forbidden_imports` names.
    ForbiddenImport,
    /// An import whose name is computed, where `dynamic_imports: deny` rules that out.
    DynamicImport,
    /// An import of another area that `may_depend_on` does not name.
    DependencyEdge,
    /// An import from outside that `allowed_imports` does not name.
    ImportNotAllowed,
    /// More new top-level directories than allowed.
    NewTopLevelDirectory,
    /// A new directory although the task's Non-goals name `new directories`.
    NewDirectory,
    /// Outside the task's scope or outside every area.
    OutOfScope,
    /// A manifest declares a dependency that the base did not.
    NewDependency,
    /// A manifest declares a dependency that the policy names as forbidden.
    ForbiddenDependency,
    /// A lock file changed and none of its manifests did.
    LockFile,
    /// Content that hides from review.
    Uninspectable,
    /// A command of `checks:` failed on the candidate.
    CheckFailed,
    /// An agent commit without valid trailers.
    Trailers,
    /// The baseline lists a finding that is no longer there, and `--strict-baseline` was given.
    StaleBaseline,
    /// More changed files or lines than the policy allows.
    TooLarge,
    /// A credential in the change or in the task.
    Credential,
}

impl Rule {
    /// The stable kebab-case code of the rule.
    pub const fn code(self) -> &'static str {
        match self {
            Rule::ProtectedPath => "protected-path",
            Rule::ForbiddenDirectory => "forbidden-directory",
            Rule::ForbiddenImport => "forbidden-import",
            Rule::DynamicImport => "dynamic-import",
            Rule::DependencyEdge => "dependency-edge",
            Rule::ImportNotAllowed => "import-not-allowed",
            Rule::NewTopLevelDirectory => "new-top-level-directory",
            Rule::NewDirectory => "new-directory",
            Rule::OutOfScope => "out-of-scope",
            Rule::NewDependency => "new-dependency",
            Rule::ForbiddenDependency => "forbidden-dependency",
            Rule::LockFile => "lock-file",
            Rule::Uninspectable => "uninspectable",
            Rule::CheckFailed => "check-failed",
            Rule::Trailers => "trailers",
            Rule::StaleBaseline => "stale-baseline",
            Rule::TooLarge => "too-large",
            Rule::Credential => "credential",
        }
    }

    /// The exit code that this rule leads to.
    pub const fn exit(self) -> Exit {
        match self {
            Rule::ProtectedPath => Exit::ProtectedPath,
            Rule::ForbiddenDirectory => Exit::ForbiddenDirectory,
            Rule::ForbiddenImport | Rule::DynamicImport | Rule::DependencyEdge | Rule::ImportNotAllowed => {
                Exit::ForbiddenImport
            }
            Rule::NewTopLevelDirectory | Rule::NewDirectory => Exit::NewTopLevelDirectory,
            Rule::OutOfScope => Exit::OutOfScope,
            Rule::NewDependency | Rule::ForbiddenDependency | Rule::LockFile => Exit::ForbiddenDependency,
            Rule::Uninspectable => Exit::Uninspectable,
            Rule::CheckFailed => Exit::CheckFailed,
            Rule::Trailers => Exit::Trailers,
            Rule::StaleBaseline => Exit::PolicyUnusable,
            Rule::TooLarge => Exit::OutOfScope,
            Rule::Credential => Exit::Credential,
        }
    }

    /// Which findings come first, and whose exit is returned: credentials, then the lowest code.
    fn rank(self) -> (bool, Exit) {
        (self != Rule::Credential, self.exit())
    }
}

/// One broken rule at one place.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Finding {
    /// Which kind of rule.
    pub rule: Rule,
    /// Repository-relative path as git's bytes; empty where a finding has no path.
    pub path: Vec<u8>,
    /// 1-based line in the candidate's file.
    pub line: Option<u32>,
    /// 1-based column, in bytes.
    pub column: Option<u32>,
    /// The key and index that judged it, such as `payments.forbidden_imports[0]` or
    /// `task: Allowed files`.
    pub judged_by: String,
    /// What is wrong, lower case, one line, without the path. Untrusted text in it is escaped.
    pub message: String,
    /// What to do about it, one line.
    pub hint: String,
    /// The commit (hex) in which it was found, where a single commit of a range was judged.
    pub commit: Option<String>,
    /// The line itself, where the candidate has it.
    pub at: Option<Line>,
}

/// A change that no rule forbids and that a person should look at before it is used.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Warning {
    /// Repository-relative path as git's bytes.
    pub path: Vec<u8>,
    /// The key and what it named, such as `autoexec: **/.envrc`.
    pub judged_by: String,
    /// What happened and why it matters, lower case, one line, without the path.
    pub message: String,
    /// The commit (hex) in which it was seen, where a single commit of a range was judged.
    pub commit: Option<String>,
}

/// What a verdict is about.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Extent {
    /// What differs between two trees.
    #[default]
    Change,
    /// All that is in one.
    Tree,
}

impl Extent {
    /// What stands before "paths" or "files" in a sentence about those that were judged.
    pub const fn adjective(self) -> &'static str {
        match self {
            Extent::Change => "changed ",
            Extent::Tree => "",
        }
    }
}

/// What the gate found.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Verdict {
    /// What was judged.
    pub extent: Extent,
    /// All broken rules, credentials first, then sorted by exit code, path, line; never deduplicated away.
    pub findings: Vec<Finding>,
    /// Changes that break no rule and must not be overlooked, sorted by path; one for each path, and
    /// none for a path that is a finding as protected.
    pub warnings: Vec<Warning>,
    /// Things worth saying that break no rule, one line each.
    pub notices: Vec<String>,
    /// How many changed paths were judged.
    pub paths_checked: usize,
    /// Blob ids (hex) of the policies that judged.
    pub policies: Vec<String>,
    /// What the commands of `checks:` came to, in the order in which they were run; those that failed are
    /// findings as well.
    pub checks: Vec<checks::CheckResult>,
    /// What was looked at.
    pub inspected: Inspected,
}

impl Verdict {
    /// [`Exit::Credential`] if there is such a finding, else the lowest exit code among the findings, or [`Exit::Ok`].
    pub fn exit(&self) -> Exit {
        let first = self.findings.iter().map(|f| f.rule).min_by_key(|rule| rule.rank());
        first.map_or(Exit::Ok, Rule::exit)
    }

    /// Why it says nothing, if it does.
    pub fn is_hollow(&self) -> Option<String> {
        self.inspected.is_hollow(self.paths_checked, self.extent)
    }

    /// How many different paths have a finding. One about the whole change, a commit or the task has no path.
    pub fn broken_paths(&self) -> usize {
        let paths = self.findings.iter().map(|found| found.path.as_slice());
        let mut paths: Vec<&[u8]> = paths.filter(|path| !path.is_empty()).collect();
        paths.sort_unstable();
        paths.dedup();
        paths.len()
    }

    /// Adds what another judgement of the same range found; equal findings are kept once.
    pub fn merge(&mut self, other: Verdict) {
        self.findings.extend(other.findings);
        self.warnings.extend(other.warnings);
        self.notices.extend(other.notices);
        self.paths_checked = self.paths_checked.max(other.paths_checked);
        self.policies.extend(other.policies);
        self.checks.extend(other.checks);
        self.inspected.merge(other.inspected);
        self.settle();
    }

    /// Sorts and removes exact repetitions, so that two runs print the same bytes.
    pub fn settle(&mut self) {
        self.findings.sort_by(|a, b| {
            (a.rule.rank(), a.rule, &a.path, a.line, a.column)
                .cmp(&(b.rule.rank(), b.rule, &b.path, b.line, b.column))
                .then_with(|| a.cmp(b))
        });
        self.findings.dedup();
        let protected: HashSet<&[u8]> = self
            .findings
            .iter()
            .filter(|found| found.rule == Rule::ProtectedPath)
            .map(|found| found.path.as_slice())
            .collect();
        self.warnings
            .retain(|warning| !protected.contains(warning.path.as_slice()));
        // The end points' own before that of a single commit, which sorts after it.
        self.warnings
            .sort_by(|a, b| (&a.path, &a.commit).cmp(&(&b.path, &b.commit)).then_with(|| a.cmp(b)));
        self.warnings.dedup_by(|later, first| later.path == first.path);
        let mut seen = HashSet::new();
        self.notices.retain(|notice| seen.insert(notice.clone()));
        let mut seen = HashSet::new();
        self.policies.retain(|id| seen.insert(id.clone()));
    }
}

/// Why there is no verdict. Each is a failure of the whole job or check, never a pass.
#[derive(Debug)]
pub enum GateError {
    /// The base has no usable policy: exit 2.
    Policy(PolicyError),
    /// An object could not be read: exit 2.
    Unreadable(Unreadable),
    /// The task contradicts the policy (an area that does not exist): exit 22.
    Task(String),
}

impl GateError {
    /// The documented exit code.
    pub const fn exit(&self) -> Exit {
        match self {
            GateError::Policy(_) | GateError::Unreadable(_) => Exit::PolicyUnusable,
            GateError::Task(_) => Exit::BadTask,
        }
    }
}

impl fmt::Display for GateError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            GateError::Policy(error) => error.fmt(f),
            GateError::Unreadable(error) => error.fmt(f),
            GateError::Task(message) => f.write_str(message),
        }
    }
}

impl std::error::Error for GateError {}

impl From<PolicyError> for GateError {
    fn from(error: PolicyError) -> Self {
        GateError::Policy(error)
    }
}

impl From<Unreadable> for GateError {
    fn from(error: Unreadable) -> Self {
        GateError::Unreadable(error)
    }
}

/// The files of a change that hold a credential which the base does not have and its policy does not allow.
pub fn credentials_in(base: &dyn Tree, candidate: &dyn Tree) -> Result<Vec<Holder>, GateError> {
    let policy = Policy::of(base)?;
    let changes = tree::diff(base, candidate)?;
    let survey = Survey::of(candidate, &changes, &Wants::default());
    Ok(rules::credentials::added(&policy, &[base], candidate, &changes, &survey)?.0)
}

/// Judges a whole change: everything that differs between `base` and `candidate`, by the policy
/// that lies in `base` and by the task's scope where there is one.
pub fn check(base: &dyn Tree, candidate: &dyn Tree, task: Option<&Task>) -> Result<Verdict, GateError> {
    let policy = Policy::of(base)?;
    rules::judge(&policy, base, candidate, task)
}

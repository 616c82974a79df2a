//! What a judgement looked at, so that a pass can be told from a look at nothing.
//!
//! Invariants: a path is either read (for imports, as a manifest, or both) or skipped for one reason, and one with
//! dependencies that no reader here knows is said to have them, also where its imports were read; merging two
//! judgements of one range counts each path once.

use std::collections::{BTreeMap, BTreeSet};

use super::imports::Language;
use super::{Extent, Rule};

/// The files, imports and rules of one judgement.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Inspected {
    /// Files whose imports were read, by path as git's bytes.
    pub files: BTreeMap<Vec<u8>, Read>,
    /// Changed manifests whose dependencies were read, by path as git's bytes.
    pub manifests: BTreeSet<Vec<u8>>,
    /// Changed files that declare dependencies in a way that is not read, whatever else of them was.
    pub undeclared: BTreeSet<Vec<u8>>,
    /// Changed paths that were not read, with the reason in words.
    pub skipped: BTreeMap<Vec<u8>, String>,
    /// The policy's own rules, in the order of the policy.
    pub rules: Vec<Active>,
}

/// A file whose imports were read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Read {
    /// In which language.
    pub language: Language,
    /// How many imports it has, allowed ones included.
    pub imports: usize,
}

/// A rule of the policy that is in force.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Active {
    /// What a finding of it is called.
    pub rule: Rule,
    /// The key and index it stands under, as in [`super::Finding::judged_by`].
    pub key: String,
    /// The entry as written.
    pub entry: String,
    /// Whether it has anything to hold on to.
    pub reach: Reach,
}

/// Whether a rule can match anything in the trees that were judged.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Reach {
    /// Something in base or candidate, or anything that could come.
    Live,
    /// It forbids what is not there, as such a rule should.
    Absent,
    /// Nothing in base or candidate: it may be misspelt.
    Dead,
    /// It was not looked up: the policy is that of another tree, or the tree is too large.
    Unknown,
}

impl Reach {
    /// The word in reports.
    pub const fn word(self) -> &'static str {
        match self {
            Reach::Live => "live",
            Reach::Absent => "absent",
            Reach::Dead => "dead",
            Reach::Unknown => "unknown",
        }
    }
}

impl Inspected {
    /// Notes a file whose imports were read.
    pub fn read(&mut self, path: &[u8], language: Language, imports: usize) {
        self.skipped.remove(path);
        self.files.insert(path.to_vec(), Read { language, imports });
    }

    /// Notes a manifest whose dependencies were read.
    pub fn read_manifest(&mut self, path: &[u8]) {
        self.skipped.remove(path);
        self.manifests.insert(path.to_vec());
    }

    /// Notes a file that declares dependencies which were not read.
    pub fn skip_dependencies(&mut self, path: &[u8]) {
        self.undeclared.insert(path.to_vec());
    }

    /// Notes a path that was not read.
    pub fn skip(&mut self, path: &[u8], reason: impl Into<String>) {
        if !self.files.contains_key(path) && !self.manifests.contains(path) {
            self.skipped.entry(path.to_vec()).or_insert_with(|| reason.into());
        }
    }

    /// Imports seen, for every language that this version reads.
    pub fn imports(&self) -> BTreeMap<&'static str, usize> {
        let mut counts: BTreeMap<&str, usize> = Language::ALL.iter().map(|language| (language.name(), 0)).collect();
        for read in self.files.values() {
            *counts.entry(read.language.name()).or_default() += read.imports;
        }
        counts
    }

    /// The skipped paths by reason, the most frequent reason first.
    pub fn reasons(&self) -> Vec<(&str, Vec<&[u8]>)> {
        let mut by_reason: BTreeMap<&str, Vec<&[u8]>> = BTreeMap::new();
        if !self.undeclared.is_empty() {
            let paths = self.undeclared.iter().map(Vec::as_slice).collect();
            by_reason.insert("for dependencies, in a form that is not read", paths);
        }
        for (path, reason) in self.skipped.iter().filter(|(path, _)| !self.undeclared.contains(*path)) {
            by_reason.entry(reason).or_default().push(path);
        }
        let mut reasons: Vec<_> = by_reason.into_iter().collect();
        reasons.sort_by_key(|(_, paths)| std::cmp::Reverse(paths.len()));
        reasons
    }

    /// The rules that can match nothing.
    pub fn dead(&self) -> impl Iterator<Item = &Active> {
        self.rules.iter().filter(|active| active.reach == Reach::Dead)
    }

    /// Why the judgement of this many paths says nothing, if it does.
    pub(super) fn is_hollow(&self, paths_checked: usize, extent: Extent) -> Option<String> {
        if paths_checked == 0 {
            return Some("no path differs between base and head".to_owned());
        }
        // How many folders the root gains is compared whatever else the policy says, also by default.
        let rules: Vec<&Active> = self
            .rules
            .iter()
            .filter(|active| active.rule != Rule::NewTopLevelDirectory)
            .collect();
        if rules.is_empty() {
            return None;
        }
        if rules.iter().all(|active| active.reach == Reach::Dead) {
            return Some(format!(
                "the policy has no effect: {} in the tree",
                match rules.len() {
                    1 => format!("its rule {} matches nothing", rules[0].key),
                    count => format!("none of its {count} rules matches anything"),
                }
            ));
        }
        // What they read is in `files` and `manifests`.
        let reads_content = |rule: Rule| {
            matches!(
                rule,
                Rule::ForbiddenImport
                    | Rule::DependencyEdge
                    | Rule::ImportNotAllowed
                    | Rule::DynamicImport
                    | Rule::NewDependency
                    | Rule::ForbiddenDependency
            )
        };
        let looks_at_paths = |active: &&Active| !reads_content(active.rule) && active.reach != Reach::Dead;
        if self.files.is_empty() && self.manifests.is_empty() && !rules.iter().any(looks_at_paths) {
            return Some(format!(
                "no rule of the policy looked at any of the {}files",
                extent.adjective()
            ));
        }
        None
    }

    /// Adds what another judgement of the same range looked at.
    pub fn merge(&mut self, other: Inspected) {
        for (path, read) in other.files {
            self.read(&path, read.language, read.imports);
        }
        for path in other.manifests {
            self.read_manifest(&path);
        }
        self.undeclared.extend(other.undeclared);
        for (path, reason) in other.skipped {
            self.skip(&path, reason);
        }
        for active in other.rules {
            let same = |known: &&mut Active| known.key == active.key && known.entry == active.entry;
            match self.rules.iter_mut().find(same) {
                // Two bases: what one of them has is there.
                Some(known) => known.reach = known.reach.min(active.reach),
                None => self.rules.push(active),
            }
        }
    }
}

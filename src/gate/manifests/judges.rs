//! Which rules look at a manifest, and what they say about a name in it.

use super::declared::{Computed, Dependency, Named};
use super::format::{Format, format, home};
use super::locks::is_at_or_below;
use super::names::{Ecosystem, allows, forbids};
use crate::gate::policy::{Area, Dependencies, ImportRule, Stance};
use crate::gate::rules::{finding, plain, shown};
use crate::gate::tree::{join, lookup};
use crate::gate::{Finding, Kind, POLICY_PATH, Policy, Rule, Tree, Unreadable};

/// The key under which the task judges.
pub(super) const TASK: &str = "task: Non-goals";

/// The rules that look at one manifest.
pub(super) struct Judges<'a> {
    /// The task rules out new dependencies.
    pub(super) task: bool,
    pub(super) dependencies: Option<&'a Dependencies>,
    pub(super) areas: Vec<&'a Area>,
    /// `existing: deny`: areas judge what the base declared, too.
    pub(super) existing: Stance,
}

impl<'a> Judges<'a> {
    /// Those that hold anywhere, without any area.
    pub(super) fn everywhere(policy: &'a Policy, task: bool) -> Judges<'a> {
        Judges {
            task,
            dependencies: policy.dependencies.as_ref().filter(|rules| rules.is_rule()),
            areas: Vec::new(),
            existing: policy.existing,
        }
    }

    /// The key of the first rule; `None`: nothing looks at the manifest.
    pub(super) fn first_key(&self) -> Option<String> {
        if self.task {
            return Some(TASK.into());
        }
        let policy = self.dependencies.map(|_| "dependencies".to_owned());
        policy.or_else(|| {
            self.areas
                .first()
                .map(|area| format!("{}.forbidden_imports", area.name))
        })
    }

    /// The keys of the rules that refuse every new name.
    pub(super) fn denials(&self) -> Vec<&'a str> {
        let task = self.task.then_some(TASK);
        let policy = self.dependencies.filter(|rules| rules.new == Stance::Deny);
        task.into_iter().chain(policy.map(|rules| rules.new_key)).collect()
    }

    /// The findings about one name, without their line.
    pub(super) fn name(&self, path: &[u8], format: Format, dependency: &Dependency, is_new: bool) -> Vec<Finding> {
        let ecosystem = format.ecosystem();
        let name = shown(dependency.name.as_bytes());
        let mut findings = Vec::new();
        let banned = self.banned(path, ecosystem, dependency, is_new);
        let (is_denied, is_allowed) = (self.is_denied(), self.is_allowed(ecosystem, dependency));
        let mut push = |rule, key: &str, message, hint| findings.push(finding(rule, path, key, message, hint));
        let is_own = match &dependency.kind {
            Named::Local(_) | Named::Module => true,
            Named::Outright | Named::Elsewhere(_) | Named::Guessed | Named::InPlace(_) => false,
        };
        if is_new && dependency.kind != Named::Guessed && !is_own {
            if self.task {
                push(
                    Rule::NewDependency,
                    TASK,
                    format!("new dependency {name}, which the task rules out"),
                    match &banned {
                        Some(key) => format!("remove {name}; {key} forbids it anyway"),
                        None => format!("remove {name}, or take `new dependencies` out of the task's Non-goals"),
                    },
                );
            }
            if let Some(rules) = self.dependencies.filter(|_| is_denied && !is_allowed) {
                push(
                    Rule::NewDependency,
                    rules.new_key,
                    format!("new dependency {name}, which `dependencies.allowed` does not name"),
                    match &banned {
                        Some(key) => format!(
                            "remove {name}; {key} forbids it anyway, so that a place in `dependencies.allowed` would not help"
                        ),
                        None => {
                            format!(
                                "remove {name}, or ask an owner of {POLICY_PATH} to list it in `dependencies.allowed`"
                            )
                        }
                    },
                );
            }
        }
        let forbidden = self.dependencies.into_iter().flat_map(|rules| &rules.forbidden);
        for rule in forbidden.filter(|rule| is_new && forbids(&rule.entry, ecosystem, &dependency.name)) {
            push(
                Rule::ForbiddenDependency,
                &rule.key,
                format!("new dependency {}", by_entry(dependency, &rule.entry, "")),
                format!(
                    "remove {name}, or ask an owner of {POLICY_PATH} to take it out of `dependencies.forbidden`{}",
                    match is_denied && !is_allowed {
                        true => " and to list it in `dependencies.allowed`",
                        false => "",
                    }
                ),
            );
        }
        for area in self.areas.iter().filter(|_| is_new || self.existing == Stance::Deny) {
            for rule in &area.forbidden_imports {
                if !is_for(rule, ecosystem) || rule.excepts(path) {
                    continue;
                }
                if forbids(&rule.entry, ecosystem, &dependency.name) {
                    let entry = shown(rule.entry.as_bytes());
                    push(
                        Rule::ForbiddenDependency,
                        &rule.key,
                        format!(
                            "declares {}{}",
                            by_entry(dependency, &rule.entry, &format!(" in {}", area.name)),
                            match &rule.reason {
                                Some(reason) => format!(": {}", plain(reason)),
                                None => String::new(),
                            }
                        ),
                        format!(
                            "{}, or ask an owner of {POLICY_PATH} to allow {entry} in {}, or in this file by `except`",
                            match &rule.use_instead {
                                Some(instead) => format!("use {} instead", plain(instead)),
                                None => format!("remove {name}"),
                            },
                            area.name
                        ),
                    );
                }
            }
        }
        findings
    }

    /// Whether `dependencies` refuses new names.
    fn is_denied(&self) -> bool {
        self.dependencies.is_some_and(|rules| rules.new == Stance::Deny)
    }

    /// Whether `dependencies.allowed` lets the name through.
    fn is_allowed(&self, ecosystem: Ecosystem, dependency: &Dependency) -> bool {
        let allowed = self.dependencies.into_iter().flat_map(|rules| &rules.allowed);
        allowed
            .into_iter()
            .any(|rule| allows(&rule.entry, ecosystem, &dependency.name))
    }

    /// The key of the first entry that forbids the name, whatever is said of new ones.
    fn banned(&self, path: &[u8], ecosystem: Ecosystem, dependency: &Dependency, is_new: bool) -> Option<&'a str> {
        let is_meant = |entry: &str| forbids(entry, ecosystem, &dependency.name);
        let mut policy = self.dependencies.into_iter().flat_map(|rules| &rules.forbidden);
        if let Some(rule) = policy.find(|rule| is_new && is_meant(&rule.entry)) {
            return Some(&rule.key);
        }
        let areas = self.areas.iter().filter(|_| is_new || self.existing == Stance::Deny);
        let mut rules = areas.flat_map(|area| &area.forbidden_imports);
        let found = rules.find(|rule| is_for(rule, ecosystem) && !rule.excepts(path) && is_meant(&rule.entry));
        found.map(|rule| rule.key.as_str())
    }

    /// The findings about a new declaration whose name is computed; none where no rule refuses
    /// every new name.
    pub(super) fn computed(&self, path: &[u8], computed: &Computed) -> Vec<Finding> {
        let text = shown(computed.text.as_bytes());
        self.denials()
            .into_iter()
            .map(|key| {
                finding(
                    Rule::NewDependency,
                    path,
                    key,
                    format!("a dependency whose name is computed, {text}"),
                    "write its name out as one literal, so that it can be judged".into(),
                )
            })
            .collect()
    }

    /// Of each entry that forbids the longest part that every name has which it matches, in lower case.
    pub(super) fn words(&self) -> impl Iterator<Item = String> {
        let policy = self.dependencies.into_iter().flat_map(|rules| &rules.forbidden);
        let areas = self.areas.iter().flat_map(|area| &area.forbidden_imports);
        let entries = policy.map(|rule| &rule.entry).chain(areas.map(|rule| &rule.entry));
        entries.map(|entry| {
            if entry.contains(['[', '{']) {
                return String::new();
            }
            let parts = entry.split(|c: char| !c.is_ascii_alphanumeric());
            parts
                .max_by_key(|part| part.len())
                .unwrap_or_default()
                .to_ascii_lowercase()
        })
    }

    /// Whether an entry that forbids names this Python package: for files of other names that
    /// requirements may include.
    pub(super) fn forbid(&self, ecosystem: Ecosystem, name: &str) -> bool {
        let policy = self.dependencies.into_iter().flat_map(|rules| &rules.forbidden);
        let areas = self.areas.iter().flat_map(|area| &area.forbidden_imports);
        policy
            .map(|rule| &rule.entry)
            .chain(areas.map(|rule| &rule.entry))
            .any(|entry| forbids(entry, ecosystem, name))
    }
}

/// Whether an entry of `forbidden_imports` speaks of the ecosystem's languages.
fn is_for(rule: &ImportRule, ecosystem: Ecosystem) -> bool {
    let languages = &rule.languages;
    languages.is_empty()
        || ecosystem
            .languages()
            .iter()
            .any(|language| languages.contains(language))
}

/// `` `ioredis`, which is forbidden`` or `` `@redis/client`, which `@redis/*` forbids``.
fn by_entry(dependency: &Dependency, entry: &str, place: &str) -> String {
    let (name, entry) = (shown(dependency.name.as_bytes()), shown(entry.as_bytes()));
    let from = match dependency.kind {
        Named::Guessed => format!(" (from {})", shown(dependency.written.as_bytes())),
        _ => String::new(),
    };
    match name == entry {
        true => format!("{name}{from}, which is forbidden{place}"),
        false => format!("{name}{from}, which {entry} forbids{place}"),
    }
}

/// What the dependencies of a file are for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Speaks {
    /// The folders below, as a manifest's are.
    ForFolders,
    /// A script or an image alone.
    ForItself,
}

/// The areas whose `forbidden_imports` look at a manifest: those without roots, those in whose roots
/// it lies, and those that it speaks for from above. Of several above an area only the nearest of
/// its ecosystem does, unless folders below inherit from it. A nearer one counts if base and
/// candidate both have it: an agent that adds an empty manifest must not turn the other off.
pub(super) fn areas<'a>(
    policy: &'a Policy,
    base: &dyn Tree,
    candidate: &dyn Tree,
    path: &[u8],
    format: Option<Format>,
    speaks: Speaks,
) -> Result<Vec<&'a Area>, Unreadable> {
    let mut found = Vec::new();
    for area in policy.areas.iter().filter(|area| !area.forbidden_imports.is_empty()) {
        let mut looks =
            area.allowed_roots.is_empty() || area.allowed_roots.iter().any(|root| root.denies(path).is_some());
        for root in &area.allowed_roots {
            let lead = lead(&root.text);
            let home = home(path);
            if looks || speaks == Speaks::ForItself || !is_at_or_below(&lead, home) {
                continue;
            }
            looks = match format {
                Some(format) if !format.is_inherited() => {
                    !has_nearer(base, home, &lead, format.ecosystem())?
                        || !has_nearer(candidate, home, &lead, format.ecosystem())?
                }
                _ => true,
            };
        }
        if looks {
            found.push(area);
        }
    }
    Ok(found)
}

/// The folders with which every path of a root begins.
fn lead(root: &str) -> Vec<u8> {
    let parts: Vec<&str> = root
        .split('/')
        .filter(|part| !matches!(*part, "" | "."))
        .take_while(|part| !part.contains(['*', '?', '[', '{']))
        .collect();
    parts.join("/").into_bytes()
}

/// Whether a folder below `home`, down to `lead`, has a manifest of the ecosystem.
fn has_nearer(tree: &dyn Tree, home: &[u8], lead: &[u8], ecosystem: Ecosystem) -> Result<bool, Unreadable> {
    let ends = lead
        .iter()
        .enumerate()
        .filter(|(_, byte)| **byte == b'/')
        .map(|(at, _)| at);
    for end in ends.chain([lead.len()]).filter(|&end| end > home.len()) {
        let Some(entry) = lookup(tree, &lead[..end])?.filter(|entry| entry.kind == Kind::Tree) else {
            return Ok(false);
        };
        for inner in tree.entries(&entry.id)? {
            let path = join(&lead[..end], &inner.name);
            let is_file = matches!(inner.kind, Kind::File | Kind::Executable);
            if is_file && format(&path).is_some_and(|format| format.ecosystem() == ecosystem && !format.is_beside()) {
                return Ok(true);
            }
        }
    }
    Ok(false)
}

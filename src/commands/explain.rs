//! `agentgate explain`: which rules hold for a path, for an import or behind an exit code, asked
//! before anything is changed.
//!
//! Invariant: what is said about a path is the verdict of the gate itself over a tree in which that
//! path is touched; nothing is decided here a second time.

use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStrExt;
use std::path::{Component, Path, PathBuf};

use anyhow::Result;

use super::{Surroundings, first_policy};
use crate::exit::{Exit, Stop};
use crate::gate::imports::{self, Import, Language};
use crate::gate::policy::{Area, ImportRule, Stance};
use crate::gate::touched::Touched;
use crate::gate::tree::lookup;
use crate::gate::yaml::nearest;
use crate::gate::{Finding, GateError, Kind, Policy, Rule, Warning, manifests, rules};
use crate::git::repo::Checkout;
use crate::git::tree::GitTree;
use crate::task::Task;

/// What is to be explained.
#[derive(Clone, Debug)]
pub enum Question {
    /// An exit code, its name, a rule's code, or else a path.
    Word(OsString, Option<PathBuf>),
    /// An import in a file.
    Import {
        /// As the code would name it.
        name: String,
        /// The file.
        path: PathBuf,
    },
}

/// The answer.
#[derive(Clone, Debug)]
pub enum Report {
    /// Of an exit code.
    Code {
        /// The code.
        exit: Exit,
        /// The rules that lead to it.
        rules: Vec<Rule>,
    },
    /// Of a path.
    Path(PathReport),
    /// Of an import.
    Import(ImportReport),
}

/// What holds for a path.
#[derive(Clone, Debug)]
pub struct PathReport {
    /// The commit whose policy it is, as asked for: `HEAD` or a revision.
    pub by: String,
    /// Repository-relative.
    pub path: Vec<u8>,
    /// What is there in HEAD, in words.
    pub there: &'static str,
    /// The areas that own it.
    pub areas: Vec<String>,
    /// Its language, if its imports are read.
    pub language: Option<Language>,
    /// What the gate would say if it were changed.
    pub findings: Vec<Finding>,
    /// What the gate would warn of.
    pub warnings: Vec<Warning>,
    /// Imports that the file must not have: key, entry, and the owner's words.
    pub imports: Vec<ImportLine>,
    /// What holds for the names that it declares, if it is a manifest.
    pub manifest: Option<Manifest>,
    /// For each area that bounds them: the other areas whose files it may import.
    pub may_depend_on: Vec<(String, Vec<String>)>,
    /// For each area that bounds them: the packages from outside that it may import.
    pub allowed_imports: Vec<(String, Vec<String>)>,
}

/// What holds for what a manifest declares.
#[derive(Clone, Debug)]
pub struct Manifest {
    /// Whether this version reads the names in it.
    pub is_read: bool,
    /// The keys that refuse every new name; none: new names are let through.
    pub denials: Vec<String>,
    /// Names that the policy lets through all the same.
    pub allowed: Vec<String>,
    /// Names that it must not declare, of `dependencies.forbidden` and of the areas that it speaks for.
    pub forbidden: Vec<ImportLine>,
}

/// One entry of `forbidden_imports` or `dependencies.forbidden` and what it says here.
#[derive(Clone, Debug)]
pub struct ImportLine {
    /// `payments.forbidden_imports[0]`
    pub key: String,
    /// As written.
    pub entry: String,
    /// The owner's reason and replacement.
    pub words: Vec<String>,
    /// Whether it forbids the import in question, and why or why not; only for an import.
    pub answer: Option<(bool, &'static str)>,
}

/// What holds for an import.
#[derive(Clone, Debug)]
pub struct ImportReport {
    /// As in [`PathReport::by`].
    pub by: String,
    /// The file, repository-relative.
    pub path: Vec<u8>,
    /// Its language.
    pub language: Language,
    /// As asked.
    pub name: String,
    /// The segments that entries are compared with; empty for the repository's own.
    pub identity: Vec<String>,
    /// Areas whose import rules look at the file.
    pub areas: Vec<String>,
    /// What the gate would say of the file with this import in it.
    pub findings: Vec<Finding>,
    /// Whether it says nothing only because the file has the import in HEAD already.
    pub is_old: bool,
    /// Every entry of `forbidden_imports` that could be meant.
    pub entries: Vec<ImportLine>,
}

impl ImportReport {
    /// Whether the gate would refuse it.
    pub fn is_forbidden(&self) -> bool {
        !self.findings.is_empty()
    }
}

/// Answers a question by the policy of HEAD, or of another commit.
///
/// # Errors
/// Exit 2 for a policy that cannot be used, 22 for a bad task, 64 for a path outside the repository
/// or in a language whose imports are not read.
pub fn explain(surroundings: &Surroundings, question: &Question, base: Option<&str>) -> Result<Report> {
    let by = base.unwrap_or("HEAD");
    match question {
        Question::Word(word, task) => {
            if let Some(report) = code(word) {
                return Ok(report);
            }
            let checkout = surroundings.checkout()?;
            let path = relative(&checkout, &surroundings.cwd, Path::new(word))?;
            let task = task
                .as_deref()
                .map(|task| super::check::read_task(&surroundings.cwd, task))
                .transpose()?;
            let commit = commit(&checkout, base)?;
            let tree = GitTree::of_commit(&checkout.repo, commit).map_err(GateError::from)?;
            if let Some(word) = word.to_str().filter(|word| !word.contains(['/', '.']))
                && lookup(&tree, &path).map_err(GateError::from)?.is_none()
            {
                mistyped(word)?;
            }
            first_policy::must_be_in(&checkout, &surroundings.cwd, commit, &tree)?;
            Ok(Report::Path(of_path(by, &tree, path, task.as_ref())?))
        }
        Question::Import { name, path } => {
            let checkout = surroundings.checkout()?;
            let path = relative(&checkout, &surroundings.cwd, path)?;
            let commit = commit(&checkout, base)?;
            let tree = GitTree::of_commit(&checkout.repo, commit).map_err(GateError::from)?;
            first_policy::must_be_in(&checkout, &surroundings.cwd, commit, &tree)?;
            Ok(Report::Import(of_import(by, &tree, path, name)?))
        }
    }
}

/// By number, by name, by a rule's code.
fn code(word: &OsStr) -> Option<Report> {
    let word = word.to_str()?;
    let by_rule = Rule::ALL
        .iter()
        .find(|rule| rule.code() == word)
        .map(|rule| rule.exit());
    let exit = match word.parse::<u8>() {
        Ok(number) => Exit::from_code(number)?,
        Err(_) => by_rule.or_else(|| Exit::ALL.iter().copied().find(|exit| exit.name() == word))?,
    };
    // A rule by its own name; a code, and its name, stand for all that end with it.
    let is_meant =
        |rule: &Rule| rule.exit() == exit && (by_rule.is_none() || exit.name() == word || rule.code() == word);
    let rules = Rule::ALL.iter().copied().filter(is_meant).collect();
    Some(Report::Code { exit, rules })
}

/// Refuses a word that was probably meant as a code or a rule: one that is nearly such a name, a number, or words with
/// hyphens between them as rules have. A path of that name can be asked for as `./word`.
fn mistyped(word: &str) -> Result<(), Stop> {
    let is_number = word.bytes().all(|byte| byte.is_ascii_digit());
    let is_like_a_rule = word.contains('-')
        && word.split('-').all(|part| {
            !part.is_empty()
                && part
                    .bytes()
                    .all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit())
        });
    let names: Vec<&str> = Rule::ALL
        .iter()
        .map(|rule| rule.code())
        .chain(Exit::ALL.iter().map(|exit| exit.name()))
        .collect();
    let near = nearest(word, &names);
    if !is_number && !is_like_a_rule && near.is_none() {
        return Ok(());
    }
    let stop = Stop::new(
        Exit::Usage,
        format!("{word} is no exit code, no rule and no path of HEAD"),
    );
    let alike = like(word, &names);
    let stop = match near {
        Some(near) => stop.hint(format!("did you mean {near}?")),
        None if !alike.is_empty() => stop.hint(format!("did you mean {}?", alike.join(", or "))),
        None => stop.hint("agentgate help exit-codes lists the codes, agentgate explain 5 the rules of one"),
    };
    Err(stop.hint(format!("agentgate explain ./{word}   # for a path of that name")))
}

/// The names that share most words with this one, three at most; none where none does.
fn like<'n>(word: &str, names: &[&'n str]) -> Vec<&'n str> {
    let shared = |name: &str| {
        let parts = word.split('-').filter(|part| part.len() > 2);
        parts.filter(|part| name.split('-').any(|other| other == *part)).count()
    };
    let most = names.iter().map(|name| shared(name)).max().unwrap_or_default();
    let mut alike: Vec<&str> = names
        .iter()
        .copied()
        .filter(|name| most > 0 && shared(name) == most)
        .collect();
    alike.dedup();
    alike.truncate(3);
    alike
}

/// The commit whose policy answers.
fn commit(checkout: &Checkout, base: Option<&str>) -> Result<git2::Oid> {
    let Some(base) = base else {
        return Ok(checkout.head()?.commit);
    };
    Ok(checkout.commit(base)?.ok_or_else(|| {
        Stop::new(Exit::PolicyUnusable, format!("--base {base} names no commit here"))
            .hint("git fetch, or name a commit that git log shows")
    })?)
}

/// From a path as typed to one from the root of the repository; nothing on the disk is asked, since
/// it need not exist.
fn relative(checkout: &Checkout, cwd: &Path, given: &Path) -> Result<Vec<u8>> {
    let outside = || {
        Stop::new(
            Exit::Usage,
            format!(
                "{} is no path inside this repository, no exit code and no rule",
                crate::gate::render::path(given.as_os_str().as_bytes())
            ),
        )
        .hint("agentgate explain src/main.rs, agentgate explain 5, agentgate explain forbidden-import")
    };
    let top = checkout.workdir.as_deref().unwrap_or(&checkout.common);
    let cwd = std::fs::canonicalize(cwd)?;
    let mut parts: Vec<&std::ffi::OsStr> = Vec::new();
    let whole = cwd.join(given);
    for part in whole.components() {
        match part {
            Component::Normal(name) => parts.push(name),
            Component::ParentDir => {
                parts.pop();
            }
            Component::CurDir | Component::RootDir | Component::Prefix(_) => {}
        }
    }
    let above = top
        .components()
        .filter(|part| matches!(part, Component::Normal(_)))
        .count();
    let is_below = top
        .components()
        .filter_map(|part| match part {
            Component::Normal(name) => Some(name),
            _ => None,
        })
        .eq(parts.iter().take(above).copied());
    if !is_below || parts.len() <= above {
        return Err(outside().into());
    }
    let names: Vec<&[u8]> = parts[above..].iter().map(|name| name.as_bytes()).collect();
    Ok(names.join(&b'/'))
}

fn of_path(by: &str, tree: &GitTree<'_>, path: Vec<u8>, task: Option<&Task>) -> Result<PathReport> {
    let policy = Policy::of(tree).map_err(GateError::from)?;
    let there = lookup(tree, &path).map_err(GateError::from)?;
    let touched = match &there {
        // A folder: what holds for a new file in it.
        Some(entry) if entry.kind == Kind::Tree => {
            Touched::new(tree, &[path.as_slice(), b"/new-file"].concat()).map_err(GateError::from)?
        }
        _ => Touched::new(tree, &path).map_err(GateError::from)?,
    };
    let verdict = rules::judge(&policy, tree, &touched, task)?;
    let is_folder = matches!(&there, Some(entry) if entry.kind == Kind::Tree);
    let manifest = match is_folder {
        true => None,
        false => manifest(&policy, tree, &path, task)?,
    };
    let language = imports::language(&path);
    let imports = match language {
        None => Vec::new(),
        Some(language) => lines(&policy, &path, language),
    };
    Ok(PathReport {
        by: by.to_owned(),
        there: match there.map(|entry| entry.kind) {
            None => "not in HEAD",
            Some(Kind::Tree) => "a folder",
            Some(Kind::Symlink) => "a symlink",
            Some(Kind::Submodule) => "a submodule link",
            Some(Kind::File | Kind::Executable) => "a file",
        },
        areas: policy
            .areas
            .iter()
            .filter(|area| area.allowed_roots.iter().any(|root| root.allows(&path)))
            .map(|area| area.name.clone())
            .collect(),
        may_depend_on: bounds(&policy, &path, language, |area| area.may_depend_on.clone()),
        allowed_imports: bounds(&policy, &path, language, |area| {
            let allowed = area.allowed_imports.as_ref()?;
            Some(allowed.iter().map(|rule| rule.entry.clone()).collect())
        }),
        language,
        manifest,
        findings: verdict.findings,
        warnings: verdict.warnings,
        imports,
        path,
    })
}

/// What the gate would ask of a manifest at this path.
fn manifest(
    policy: &Policy,
    tree: &GitTree<'_>,
    path: &[u8],
    task: Option<&Task>,
) -> Result<Option<Manifest>, GateError> {
    let is_ruled_out = task.is_some_and(|task| task.no_new_dependencies);
    let rules = manifests::rules_for(policy, tree, path, is_ruled_out)?;
    Ok(rules.map(|rules| {
        let everywhere = rules.forbidden.into_iter().map(|rule| ImportLine {
            key: rule.key,
            entry: rule.entry,
            words: Vec::new(),
            answer: None,
        });
        let of_areas = rules.of_areas.iter().map(|rule| ImportLine {
            key: rule.key.clone(),
            entry: rule.entry.clone(),
            words: words(rule),
            answer: None,
        });
        Manifest {
            is_read: rules.is_read,
            denials: rules.denials,
            allowed: rules.allowed,
            forbidden: everywhere.chain(of_areas).collect(),
        }
    }))
}

/// Whether the area's import rules look at the path.
fn looks_at(area: &Area, path: &[u8]) -> bool {
    area.allowed_roots.is_empty() || area.allowed_roots.iter().any(|root| root.denies(path).is_some())
}

fn lines(policy: &Policy, path: &[u8], language: Language) -> Vec<ImportLine> {
    policy
        .areas
        .iter()
        .filter(|area| looks_at(area, path))
        .flat_map(|area| &area.forbidden_imports)
        .filter(|rule| rule.covers(path, language))
        .map(|rule| ImportLine {
            key: rule.key.clone(),
            entry: rule.entry.clone(),
            words: words(rule),
            answer: None,
        })
        .collect()
}

/// What each area that looks at the file says in one of its lists.
fn bounds(
    policy: &Policy,
    path: &[u8],
    language: Option<Language>,
    list: impl Fn(&Area) -> Option<Vec<String>>,
) -> Vec<(String, Vec<String>)> {
    if language.is_none() {
        return Vec::new();
    }
    let areas = policy.areas.iter().filter(|area| looks_at(area, path));
    areas
        .filter_map(|area| Some((area.name.clone(), list(area)?)))
        .collect()
}

fn words(rule: &ImportRule) -> Vec<String> {
    let reason = rule.reason.clone();
    let instead = rule
        .use_instead
        .as_ref()
        .map(|instead| format!("use {instead} instead"));
    reason.into_iter().chain(instead).collect()
}

/// Why an entry forbids an import.
fn forbids(rule: &ImportRule, language: Language, import: &Import) -> &'static str {
    let is_word = !rule.entry.contains(['/', '.', '\\']);
    match is_word && import.identity.len() > 1 && imports::is_anywhere(language) {
        true => "forbids it: one word names any segment in this language",
        false => "forbids it: it is a prefix by whole segments",
    }
}

fn of_import(by: &str, tree: &GitTree<'_>, path: Vec<u8>, name: &str) -> Result<ImportReport> {
    let policy = Policy::of(tree).map_err(GateError::from)?;
    let Some(language) = imports::language(&path) else {
        return Err(Stop::new(
            Exit::Usage,
            format!(
                "no import rule looks at {}: its ending names no language that is read",
                crate::gate::render::path(&path)
            ),
        )
        .hint(format!(
            "the languages are: {}",
            Language::ALL
                .iter()
                .map(|language| language.name())
                .collect::<Vec<_>>()
                .join(", ")
        ))
        .into());
    };
    let import = imports::named(language, name);
    let shown = crate::gate::render::path(name.as_bytes());
    let content = imports::file_with(language, name).ok_or_else(|| {
        Stop::new(
            Exit::Usage,
            format!("`{shown}` is no name that {} could import", language.name()),
        )
        .hint("write it as the code would: redis/client, redis.asyncio, redis::aio, github.com/redis/go-redis/v9")
    })?;
    let touched = Touched::with(tree, &path, &content).map_err(GateError::from)?;
    let is_about_it = |found: &Finding| {
        found.path == path
            && matches!(
                found.rule,
                Rule::ForbiddenImport | Rule::DependencyEdge | Rule::ImportNotAllowed | Rule::DynamicImport
            )
    };
    let mut findings = rules::judge(&policy, tree, &touched, None)?.findings;
    findings.retain(is_about_it);
    let strict = Policy {
        existing: Stance::Deny,
        ..policy.clone()
    };
    let is_old = findings.is_empty()
        && rules::judge(&strict, tree, &touched, None)?
            .findings
            .iter()
            .any(is_about_it);
    let areas: Vec<&Area> = policy.areas.iter().filter(|area| looks_at(area, &path)).collect();
    let entries = areas
        .iter()
        .flat_map(|area| &area.forbidden_imports)
        .map(|rule| {
            // What the gate itself says goes first.
            let is_named = findings.iter().any(|found| found.judged_by == rule.key);
            let answer = if is_named {
                (true, forbids(rule, language, &import))
            } else if !rule.languages.is_empty() && !rule.languages.contains(&language) {
                (false, "is not for this language")
            } else if !rule.covers(&path, language) {
                (false, "has an exception for this file")
            } else if import.identity.is_empty() {
                (false, "does not match: the import is relative, or the repository's own")
            } else if imports::matches(&rule.entry, language, &import) {
                (true, forbids(rule, language, &import))
            } else {
                (false, "does not match: it is no prefix by whole segments")
            };
            ImportLine {
                key: rule.key.clone(),
                entry: rule.entry.clone(),
                words: words(rule),
                answer: Some(answer),
            }
        })
        .collect();
    Ok(ImportReport {
        by: by.to_owned(),
        language,
        name: name.to_owned(),
        identity: import.identity,
        areas: areas.iter().map(|area| area.name.clone()).collect(),
        findings,
        is_old,
        entries,
        path,
    })
}

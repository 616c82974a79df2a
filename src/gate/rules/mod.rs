//! The rules: a policy, two trees and a task in, a verdict out.
//!
//! Invariant: every rule looks at the same list of changed paths, and none of them stops at its
//! first finding, so a verdict names everything that is wrong at once.

mod active;
mod aliases;
mod allowed_imports;
mod autoexec;
mod composer_prefixes;
mod copies;
mod crate_names;
pub mod credentials;
mod dead;
mod forbidden_imports;
mod go_modules;
pub(super) mod graph;
mod limits;
mod new_folders;
mod outside;
mod protected;
mod scope;

pub(in crate::gate) use forbidden_imports::{
    follow_link, is_told_elsewhere, may_be_loaded_as_another, plain, reads_imports,
};

use std::collections::HashSet;

use super::imports::{Import, Language};
use super::manifests::MAX_MANIFEST;
use super::resolve::{self, Resolver};
use super::survey::{Survey, Wants};
use super::tree::{Difference, Side, diff, difference, lookup};
use super::{
    Change, Finding, GateError, Kind, Policy, Rule, Tree, Unreadable, Verdict, baseline, content, lines, manifests,
};
use crate::task::Task;

/// Judges everything that differs between the two trees.
pub fn judge(
    policy: &Policy,
    base: &dyn Tree,
    candidate: &dyn Tree,
    task: Option<&Task>,
) -> Result<Verdict, GateError> {
    let all = difference(base, candidate)?;
    let changes = &all.changes;
    let survey = Survey::of(
        candidate,
        changes,
        &Wants {
            imports: Some(policy),
            mentions: Some(manifests::Mentions::of(policy, task)),
        },
    );
    let mut verdict = guard(policy, &[base], candidate, &all, &survey)?;
    protected::forbidden_directories(policy, changes, &mut verdict);
    imports_of(policy, (base, candidate), changes, &survey, &mut verdict)?;
    new_folders::top_level(policy, base, candidate, &mut verdict)?;
    scope::unmapped(policy, changes, &mut verdict);
    limits::judge(policy, base, candidate, changes, &mut verdict)?;
    if let Some(task) = task {
        scope::of_task(policy, task, changes, &mut verdict)?;
        if task.no_new_directories {
            new_folders::anywhere(task, base, changes, &mut verdict)?;
        }
    }
    manifests::judge(policy, (base, candidate), changes, &survey, task, &mut verdict)?;
    once(&mut verdict);
    baseline::apply(policy, base, candidate, &mut verdict)?;
    dead::notice(policy, base, candidate, &mut verdict)?;
    // Last: they clear what the others say of the values that they find.
    credentials::judge(policy, &[base], candidate, changes, &survey, &mut verdict)?;
    if let Some(task) = task {
        credentials::of_task(policy, task, &mut verdict);
    }
    lines::attach(candidate, &mut verdict)?;
    verdict.settle();
    Ok(verdict)
}

/// What holds for every file of a whole tree, as if all of it were new. The repository's own
/// modules are those of the tree itself.
pub(super) fn judge_content(
    policy: &Policy,
    tree: &dyn Tree,
    changes: &[Change],
    survey: &Survey,
    verdict: &mut Verdict,
) -> Result<(), GateError> {
    protected::forbidden_directories(policy, changes, verdict);
    imports_of(policy, (tree, tree), changes, survey, verdict)?;
    scope::unmapped(policy, changes, verdict);
    once(verdict);
    dead::notice(policy, tree, tree, verdict)?;
    Ok(())
}

/// Every rule about imports; each source is read and scanned once.
fn imports_of(
    policy: &Policy,
    (base, candidate): (&dyn Tree, &dyn Tree),
    changes: &[Change],
    survey: &Survey,
    verdict: &mut Verdict,
) -> Result<(), GateError> {
    let mut own = Resolvers::of(base, candidate);
    let mut names = aliases::Aliases::of(candidate);
    let scanned = forbidden_imports::judge(policy, &mut own, &mut names, changes, survey, verdict)?;
    graph::judge(policy, &mut own, &scanned, verdict)?;
    let mut crates = crate_names::CrateNames::of(candidate);
    allowed_imports::judge(&mut own, &mut names, &mut crates, &scanned, verdict)?;
    Ok(())
}

/// Both trees, and where imports lead in each. Nothing is indexed before an import asks.
struct Resolvers<'a> {
    base_tree: &'a dyn Tree,
    candidate_tree: &'a dyn Tree,
    base: Resolver<'a>,
    candidate: Resolver<'a>,
}

impl<'a> Resolvers<'a> {
    fn of(base: &'a dyn Tree, candidate: &'a dyn Tree) -> Resolvers<'a> {
        Resolvers {
            base_tree: base,
            candidate_tree: candidate,
            base: Resolver::of(base),
            candidate: Resolver::of(candidate),
        }
    }

    /// Whether an import is the repository's own in both.
    fn own(&mut self, language: Language, import: &Import, from: &[u8]) -> Result<bool, Unreadable> {
        resolve::is_own(&mut self.base, &mut self.candidate, language, import, from)
    }

    /// Whether an import is what the candidate alone makes the repository's own.
    fn own_now(&mut self, language: Language, import: &Import, from: &[u8]) -> Result<bool, Unreadable> {
        resolve::is_own_now(&mut self.base, &mut self.candidate, language, import, from)
    }

    /// Whether it is, and no installed package of its name would go first.
    fn goes_first(&mut self, language: Language, import: &Import, from: &[u8]) -> Result<bool, Unreadable> {
        Ok(self.own(language, import, from)?
            && self.base.goes_first(language, import, from)?
            && self.candidate.goes_first(language, import, from)?)
    }
}

/// A file that a rule already reported because it cannot be read is not reported again for being
/// unreadable: one fault, one finding, and the rule's own says more.
fn once(verdict: &mut Verdict) {
    let by_rules: HashSet<Vec<u8>> = verdict
        .findings
        .iter()
        .filter(|found| found.rule == Rule::Uninspectable && !found.judged_by.starts_with("built-in: "))
        .map(|found| found.path.clone())
        .collect();
    verdict
        .findings
        .retain(|found| found.judged_by != content::UNREADABLE || !by_rules.contains(&found.path));
}

/// Judges one single-parent commit of a range by itself: protected paths, content and credentials only. What
/// was touched and put back later is invisible in the difference of the range's end points.
pub fn judge_commit(policy: &Policy, parent: &dyn Tree, commit: &dyn Tree) -> Result<Verdict, GateError> {
    judge_merge(policy, &[parent], commit)
}

/// Judges a merge: only the paths that differ from all its parents, since any other path is what
/// one of the parents had and was judged there (merging in main is no finding).
pub fn judge_merge(policy: &Policy, parents: &[&dyn Tree], merge: &dyn Tree) -> Result<Verdict, GateError> {
    let Some((first, others)) = parents.split_first() else {
        return Err(GateError::Unreadable(Unreadable {
            what: "the parents of a commit: it has none".into(),
        }));
    };
    let mut all = difference(*first, merge)?;
    for parent in others {
        let differs: HashSet<Vec<u8>> = diff(*parent, merge)?.into_iter().map(|change| change.path).collect();
        all.changes.retain(|change| differs.contains(&change.path));
    }
    let survey = Survey::of(merge, &all.changes, &Wants::default());
    let mut verdict = guard(policy, parents, merge, &all, &survey)?;
    credentials::judge(policy, parents, merge, &all.changes, &survey, &mut verdict)?;
    lines::attach(merge, &mut verdict)?;
    verdict.settle();
    Ok(verdict)
}

/// What holds for every commit, whoever made it and whatever was asked.
fn guard(
    policy: &Policy,
    bases: &[&dyn Tree],
    candidate: &dyn Tree,
    all: &Difference,
    survey: &Survey,
) -> Result<Verdict, GateError> {
    let changes = &all.changes;
    let mut verdict = Verdict {
        paths_checked: changes.len(),
        policies: vec![policy.id.to_string()],
        ..Verdict::default()
    };
    protected::protected_paths(policy, changes, &mut verdict);
    autoexec::judge(policy, changes, &mut verdict);
    content::judge(bases, candidate, all, survey, &mut verdict)?;
    Ok(verdict)
}

/// A finding about a whole path.
pub(super) fn finding(rule: Rule, path: &[u8], judged_by: &str, message: String, hint: String) -> Finding {
    Finding {
        rule,
        path: path.to_vec(),
        line: None,
        column: None,
        judged_by: judged_by.to_string(),
        message,
        hint,
        commit: None,
        at: None,
    }
}

/// Longest text of an agent's that is quoted in a message, in characters before escaping.
const MAX_SHOWN: usize = 200;

/// Names and specifiers come from an agent: printed raw, they could forge lines of a report or
/// reorder it on a terminal; printed whole, one specifier could fill a disk. Quotes stay as they are: a format in which
/// they mean something escapes them itself, and `"config.h"` is to be read as it stands in the file.
pub(super) fn shown(bytes: &[u8]) -> String {
    let mut text = String::from("`");
    let mut left = MAX_SHOWN;
    for chunk in bytes.utf8_chunks() {
        let letters = chunk.valid().chars();
        for escaped in letters
            .scan(' ', |before, c| {
                // Two of them and a bracket are a command to some CIs, anywhere in a line.
                let is_second = c == '#' && *before == '#';
                *before = c;
                Some(match is_second {
                    true => c.escape_unicode().to_string(),
                    false if matches!(c, '"' | '\'') => c.to_string(),
                    false => c.escape_debug().to_string(),
                })
            })
            .chain(chunk.invalid().iter().map(|byte| format!("\\x{byte:02x}")))
        {
            if left == 0 {
                text.push_str("...`");
                return text;
            }
            left -= 1;
            text.push_str(&escaped);
        }
    }
    text.push('`');
    text
}

/// The content of a manifest; `None` where no file is at the path, or one that is too large to be one.
fn manifest(tree: &dyn Tree, path: &[u8]) -> Result<Option<Vec<u8>>, Unreadable> {
    match lookup(tree, path)?.filter(|entry| matches!(entry.kind, Kind::File | Kind::Executable)) {
        Some(entry) if tree.blob_size(&entry.id)? <= MAX_MANIFEST => tree.blob(&entry.id).map(Some),
        _ => Ok(None),
    }
}

/// Whether this side is a file with content of its own.
pub(super) fn is_regular(side: &Side) -> bool {
    matches!(side.kind, Kind::File | Kind::Executable)
}

/// How the hint begins of a finding about a path that is to be as it was.
pub const PUT_BACK: &str = "put it back as it is in the base";

/// How a change of a path is taken back.
fn undo(change: &Change) -> &'static str {
    match change.before {
        None => "delete it",
        Some(_) => PUT_BACK,
    }
}

/// What happened at a path, as the end of a sentence.
fn what_happened(change: &Change) -> String {
    let noun = |side: &Side| match side.kind {
        Kind::File => "file",
        Kind::Executable => "executable file",
        Kind::Symlink => "symlink",
        Kind::Submodule => "submodule link",
        Kind::Tree => "folder",
    };
    match (&change.before, &change.after) {
        (_, None) => "deleted".into(),
        (None, Some(after)) => format!("added ({})", noun(after)),
        (Some(before), Some(after)) if is_regular(before) != is_regular(after) => {
            format!("replaced by a {}", noun(after))
        }
        (Some(before), Some(after)) if !is_regular(before) && before.kind != after.kind => {
            format!("replaced by a {}", noun(after))
        }
        (Some(before), Some(after)) if before.id == after.id => "changed (file mode)".into(),
        _ => "changed".into(),
    }
}

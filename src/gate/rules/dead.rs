//! Entries of the policy that match nothing in the base: a misspelt root owns no file and a
//! misspelt protected path protects none, and both look like rules.
//!
//! It is a notice and no finding, since an entry may be meant for what is yet to come.
//! A glob of an allow-list that names folders is told too: nothing below them is allowed by it.
//! `forbidden_dirs` are left out: they usually name what must never exist.

use crate::gate::paths::{Match, PathRule};
use crate::gate::policy::BUILT_IN;
use crate::gate::tree::{join, lookup};
use crate::gate::{Kind, POLICY_PATH, Policy, Tree, Unreadable, Verdict};

use super::shown;

/// Above this many entries of the base no glob is looked up: the walk would cost more than the
/// notice is worth.
const MAX_ENTRIES: usize = 200_000;
/// Entries named in the notice.
const MAX_NAMED: usize = 5;

/// One notice about all of them. A policy that lies in another tree (the tip of the branch to
/// land on) is not compared: its entries may name what only that tree has.
pub(super) fn notice(policy: &Policy, base: &dyn Tree, verdict: &mut Verdict) -> Result<(), Unreadable> {
    if lookup(base, POLICY_PATH.as_bytes())?.is_none_or(|entry| entry.id != policy.id) {
        return Ok(());
    }
    let roots = policy.areas.iter().flat_map(|area| &area.allowed_roots);
    let protected = policy.must_not_touch.iter().filter(|rule| rule.key != BUILT_IN);
    let rules = roots
        .map(|rule| (rule, true))
        .chain(protected.map(|rule| (rule, false)));
    let mut dead = Vec::new();
    let mut globs = Vec::new();
    for (rule, allows) in rules {
        match rule.literal() {
            Some(path) if lookup(base, path)?.is_none() => dead.push(rule),
            Some(_) => {}
            None if rule.is_glob() => globs.push(Looked {
                rule,
                allows,
                names_folders: false,
            }),
            // `.` is the root folder itself, which is there.
            None => {}
        }
    }
    if !globs.is_empty() {
        let (folders, unmatched): (Vec<_>, Vec<_>) =
            unmatched(base, globs)?.into_iter().partition(|glob| glob.names_folders);
        dead.extend(unmatched.iter().map(|glob| glob.rule));
        verdict.notices.extend(folders.iter().take(MAX_NAMED).map(|glob| {
            format!(
                "{} of {} names folders, not what is in them: write {}",
                shown(glob.rule.text.as_bytes()),
                glob.rule.key,
                shown(format!("{}/**", glob.rule.text).as_bytes()),
            )
        }));
    }
    let named: Vec<String> = dead
        .iter()
        .take(MAX_NAMED)
        .map(|rule| format!("{} of {}", shown(rule.text.as_bytes()), rule.key))
        .collect();
    let more = match dead.len().saturating_sub(MAX_NAMED) {
        0 => String::new(),
        n => format!(" and {n} more"),
    };
    match dead.len() {
        0 => {}
        1 => verdict.notices.push(format!(
            "{} matches nothing in the base (fine if it is yet to come)",
            named[0]
        )),
        _ => verdict.notices.push(format!(
            "{}{more} match nothing in the base (fine if they are yet to come)",
            named.join(", ")
        )),
    }
    Ok(())
}

/// A glob that has matched no file yet.
struct Looked<'a> {
    rule: &'a PathRule,
    /// It stands in an allow-list.
    allows: bool,
    /// Of an allow-list: it matched a folder above some file.
    names_folders: bool,
}

impl Looked<'_> {
    /// Whether this file leaves the glob without a match.
    fn misses(&mut self, path: &[u8]) -> bool {
        match self.rule.denies(path) {
            Some(Match::Exact) if self.allows && !self.rule.allows(path) => {
                self.names_folders = true;
                true
            }
            found => found.is_none(),
        }
    }
}

/// The globs that match no file of the tree; none where the tree is too large to be walked.
fn unmatched<'a>(tree: &dyn Tree, mut globs: Vec<Looked<'a>>) -> Result<Vec<Looked<'a>>, Unreadable> {
    let mut open = vec![(Vec::new(), tree.root())];
    let mut seen = 0;
    while let Some((prefix, folder)) = open.pop() {
        for entry in tree.entries(&folder)? {
            seen += 1;
            if seen > MAX_ENTRIES || globs.is_empty() {
                return Ok(Vec::new());
            }
            let path = join(&prefix, &entry.name);
            match entry.kind {
                Kind::Tree => open.push((path, entry.id)),
                _ => globs.retain_mut(|glob| glob.misses(&path)),
            }
        }
    }
    Ok(globs)
}

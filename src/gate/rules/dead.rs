//! Entries of the policy that match nothing: a misspelt root owns no file and a misspelt protected
//! path protects none, and both look like rules.
//!
//! It is a notice and no finding, since an entry may be meant for what is yet to come.
//! A glob of an allow-list that names folders is told too: nothing below them is allowed by it.
//! `forbidden_dirs` are not told: they usually name what must never exist.

use std::collections::HashMap;

use super::active::{self, Use};
use super::shown;
use crate::gate::inspected::Reach;
use crate::gate::paths::{Match, PathRule};
use crate::gate::tree::{join, lookup};
use crate::gate::{Kind, POLICY_PATH, Policy, Tree, Unreadable, Verdict};

/// Above this many entries of a tree no glob is looked up: the walk would cost more than the
/// notice is worth.
const MAX_ENTRIES: usize = 200_000;
/// Entries named in the notice.
const MAX_NAMED: usize = 20;

/// One notice about all of them, one about the globs that name folders, and the list of rules with what each can reach. A policy that lies
/// in another tree (the tip of the branch to land on) is not compared: its entries may name what
/// only that tree has.
pub(super) fn notice(
    policy: &Policy,
    base: &dyn Tree,
    candidate: &dyn Tree,
    verdict: &mut Verdict,
) -> Result<(), Unreadable> {
    let mut reach = HashMap::new();
    if lookup(base, POLICY_PATH.as_bytes())?.is_some_and(|entry| entry.id == policy.id) {
        let entries = active::lists(policy);
        let in_base = Looks::at(base, &entries)?;
        let later: Vec<(&PathRule, Use)> = in_base.unmatched.clone();
        // What the change itself brings is there now.
        let in_neither = match base.root() == candidate.root() || later.is_empty() {
            true => in_base.unmatched.clone(),
            false => Looks::at(candidate, &later)?.unmatched,
        };
        for (rule, _) in &entries {
            reach.insert(rule.key.as_str(), Reach::Live);
        }
        for rule in &in_base.unknown {
            reach.insert(rule.key.as_str(), Reach::Unknown);
        }
        for (rule, does) in &in_neither {
            let nothing = if *does == Use::Forbids {
                Reach::Absent
            } else {
                Reach::Dead
            };
            reach.insert(rule.key.as_str(), nothing);
        }
        say(&in_base, &in_neither, verdict);
    }
    verdict.inspected.rules = active::rules(policy, &reach);
    Ok(())
}

fn say(in_base: &Looks, in_neither: &[(&PathRule, Use)], verdict: &mut Verdict) {
    let of = |rule: &PathRule| format!("{} of {}", shown(rule.text.as_bytes()), rule.key);
    let folders: Vec<&PathRule> = in_base.folders.iter().take(MAX_NAMED).copied().collect();
    let instead: Vec<String> = folders
        .iter()
        .map(|rule| shown(format!("{}/**", rule.text).as_bytes()))
        .collect();
    match in_base.folders.len() {
        0 => {}
        count => verdict.notices.push(format!(
            "{}{} {}, not what is in them: write {}",
            folders.iter().map(|rule| of(rule)).collect::<Vec<_>>().join(", "),
            more(count),
            if count == 1 { "names folders" } else { "name folders" },
            instead.join(", ")
        )),
    }
    // Literal entries first, each kind in the order of the policy.
    let told = in_neither.iter().filter(|(_, does)| *does != Use::Forbids);
    let (literal, globs): (Vec<&PathRule>, Vec<&PathRule>) =
        told.map(|(rule, _)| *rule).partition(|rule| rule.literal().is_some());
    let dead = [literal, globs].concat();
    let named: Vec<String> = dead.iter().take(MAX_NAMED).map(|rule| of(rule)).collect();
    match dead.len() {
        0 => {}
        1 => verdict.notices.push(format!(
            "{} matches nothing in the base (fine if it is yet to come)",
            named[0]
        )),
        count => verdict.notices.push(format!(
            "{}{} match nothing in the base (fine if they are yet to come)",
            named.join(", "),
            more(count)
        )),
    }
}

/// The end of a list that names only some of so many.
fn more(count: usize) -> String {
    match count.saturating_sub(MAX_NAMED) {
        0 => String::new(),
        left => format!(" and {left} more"),
    }
}

/// What the entries find in one tree.
struct Looks<'a> {
    /// They match nothing.
    unmatched: Vec<(&'a PathRule, Use)>,
    /// Globs of an allow-list that match folders alone.
    folders: Vec<&'a PathRule>,
    /// Globs that were not looked up, since the tree is too large.
    unknown: Vec<&'a PathRule>,
}

impl<'a> Looks<'a> {
    fn at(tree: &dyn Tree, entries: &[(&'a PathRule, Use)]) -> Result<Looks<'a>, Unreadable> {
        let mut looks = Looks {
            unmatched: Vec::new(),
            folders: Vec::new(),
            unknown: Vec::new(),
        };
        let mut globs = Vec::new();
        for (rule, does) in entries {
            match rule.literal() {
                Some(path) if lookup(tree, path)?.is_none() => looks.unmatched.push((rule, *does)),
                Some(_) => {}
                None if rule.is_glob() => globs.push(Looked {
                    rule,
                    does: *does,
                    names_folders: false,
                }),
                // `.` is the root folder itself, which is there.
                None => {}
            }
        }
        let all: Vec<&PathRule> = globs.iter().map(|glob| glob.rule).collect();
        match unmatched(tree, globs)? {
            None => looks.unknown = all,
            Some(left) => {
                for glob in left {
                    match glob.names_folders {
                        true => looks.folders.push(glob.rule),
                        false => looks.unmatched.push((glob.rule, glob.does)),
                    }
                }
            }
        }
        Ok(looks)
    }
}

/// A glob that has matched no file yet.
struct Looked<'a> {
    rule: &'a PathRule,
    does: Use,
    /// Of an allow-list: it matched a folder above some file.
    names_folders: bool,
}

impl Looked<'_> {
    /// Whether this file leaves the glob without a match.
    fn misses(&mut self, path: &[u8]) -> bool {
        match self.rule.denies(path) {
            Some(Match::Exact) if self.does == Use::Allows && !self.rule.allows(path) => {
                self.names_folders = true;
                true
            }
            found => found.is_none(),
        }
    }
}

/// The globs that match no file of the tree; `None` where the tree is too large to be walked.
fn unmatched<'a>(tree: &dyn Tree, mut globs: Vec<Looked<'a>>) -> Result<Option<Vec<Looked<'a>>>, Unreadable> {
    let mut open = vec![(Vec::new(), tree.root())];
    let mut seen = 0;
    while let Some((prefix, folder)) = open.pop() {
        if globs.is_empty() {
            break;
        }
        for entry in tree.entries(&folder)? {
            seen += 1;
            if seen > MAX_ENTRIES {
                return Ok(None);
            }
            let path = join(&prefix, &entry.name);
            match entry.kind {
                Kind::Tree => open.push((path, entry.id)),
                _ => globs.retain_mut(|glob| glob.misses(&path)),
            }
        }
    }
    Ok(Some(globs))
}

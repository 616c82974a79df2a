//! Folders that git would not have written: one name twice, entries out of order, names that are none.
//!
//! git, libgit2 and a hoster's page each show another part of such a tree, so nobody can review it.
//! Only folders that differ from the base's are looked at, and what the base's own folder has at the
//! same place is no finding.

use std::collections::HashSet;

use super::hidden;
use crate::gate::rules::shown;
use crate::gate::tree::{Fault, join};
use crate::gate::{Finding, Kind, Oid, Tree, Unreadable};

/// What judges such folders.
pub const MALFORMED: &str = "built-in: malformed trees";

/// Findings of all folders of the candidate that none of the bases has at the same place.
pub(super) fn judge(bases: &[&dyn Tree], candidate: &dyn Tree) -> Result<Vec<Finding>, Unreadable> {
    let mut findings = Vec::new();
    let roots: Vec<Option<Oid>> = bases.iter().map(|base| Some(base.root())).collect();
    let mut open = vec![(Vec::new(), roots, candidate.root())];
    while let Some((path, before, after)) = open.pop() {
        if before.contains(&Some(after)) {
            continue;
        }
        let mut known: HashSet<Fault> = HashSet::new();
        let mut folders: Vec<Vec<(Vec<u8>, Oid)>> = Vec::new();
        for (base, id) in bases.iter().zip(&before) {
            let mut below = Vec::new();
            if let Some(id) = id {
                known.extend(base.faults(id)?);
                below = folders_of(*base, id)?;
            }
            folders.push(below);
        }
        for fault in candidate.faults(&after)? {
            if known.contains(&fault) {
                continue;
            }
            let place = join(&path, &fault.name);
            let message = format!("malformed tree {after}: {} {}", shown(&fault.name), fault.what);
            let hint = "git fsck names such trees too; make the commit anew with git itself";
            findings.push(hidden(&place, MALFORMED, message, hint));
        }
        for (name, id) in folders_of(candidate, &after)? {
            let same = |below: &Vec<(Vec<u8>, Oid)>| {
                let at = below.binary_search_by(|(other, _)| other.cmp(&name));
                at.ok().map(|at| below[at].1)
            };
            open.push((join(&path, &name), folders.iter().map(same).collect(), id));
        }
    }
    Ok(findings)
}

/// Name and id of every folder in a folder, sorted by name.
fn folders_of(tree: &dyn Tree, folder: &Oid) -> Result<Vec<(Vec<u8>, Oid)>, Unreadable> {
    let entries = tree.entries(folder)?.into_iter();
    let mut folders: Vec<(Vec<u8>, Oid)> = entries
        .filter(|entry| entry.kind == Kind::Tree)
        .map(|entry| (entry.name, entry.id))
        .collect();
    folders.sort();
    Ok(folders)
}

//! Folders that git would not have written: one name twice, entries out of order, names that are none.
//!
//! git, libgit2 and a hoster's page each show another part of such a tree, so nobody can review it.
//! Only folders that differ from the base's are looked at, and what the base's own folder has at the
//! same place is no finding.

use std::collections::HashSet;
use std::rc::Rc;

use super::hidden;
use crate::gate::rules::shown;
use crate::gate::tree::{Fault, Folder, join};
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
        let listing = candidate.folder(&after)?;
        let mut old: Vec<Rc<Folder>> = Vec::new();
        for (base, id) in bases.iter().zip(&before) {
            old.push(id.map_or(Ok(Rc::default()), |id| base.folder(&id))?);
        }
        let known: HashSet<&Fault> = old.iter().flat_map(|folder| &folder.faults).collect();
        let folders: Vec<_> = old.iter().map(|folder| folders_of(folder)).collect();
        for fault in &listing.faults {
            if known.contains(fault) {
                continue;
            }
            let place = join(&path, &fault.name);
            let message = format!("malformed tree {after}: {} {}", shown(&fault.name), fault.what);
            let hint = "git fsck names such trees too; make the commit anew with git itself";
            findings.push(hidden(&place, MALFORMED, message, hint));
        }
        for (name, id) in folders_of(&listing) {
            let same = |below: &Vec<(&[u8], Oid)>| {
                let at = below.binary_search_by(|(other, _)| (*other).cmp(name));
                at.ok().map(|at| below[at].1)
            };
            let before: Vec<Option<Oid>> = folders.iter().map(same).collect();
            // Most are as they were, and need no path.
            if !before.contains(&Some(id)) {
                open.push((join(&path, name), before, id));
            }
        }
    }
    Ok(findings)
}

/// Name and id of every folder in a folder, sorted by name.
fn folders_of(folder: &Folder) -> Vec<(&[u8], Oid)> {
    let entries = folder.entries.iter();
    let mut folders: Vec<(&[u8], Oid)> = entries
        .filter(|entry| entry.kind == Kind::Tree)
        .map(|entry| (entry.name.as_slice(), entry.id))
        .collect();
    folders.sort_unstable();
    folders
}

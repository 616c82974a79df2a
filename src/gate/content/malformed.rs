//! Folders that git would not have written: one name twice, entries out of order, names that are none.
//!
//! git, libgit2 and a hoster's page each show another part of such a tree, so nobody can review it.
//! Only folders that differ from the base's are looked at, and what the base's own folder has at the
//! same place is no finding.

use std::collections::HashSet;
use std::rc::Rc;

use super::hidden;
use crate::gate::rules::shown;
use crate::gate::tree::{Fault, Folder, Item, different, join};
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
        for fault in &listing.faults {
            if known.contains(fault) {
                continue;
            }
            let place = join(&path, &fault.name);
            let message = format!("malformed tree {after}: {} {}", shown(&fault.name), fault.what);
            let hint = "git fsck names such trees too; make the commit anew with git itself";
            findings.push(hidden(&place, MALFORMED, message, hint));
        }
        // Most are as they were in one of the bases, and need no path.
        let changed: Vec<Item> = match old.first() {
            Some(old) => different(old, &listing)
                .into_values()
                .flat_map(|(_, new)| new)
                .collect(),
            None => listing.items().collect(),
        };
        let changed = changed.into_iter().filter(|item| item.kind == Kind::Tree);
        let folders: Vec<_> = old.iter().map(|folder| folders_of(folder)).collect();
        for item in changed {
            let same = |below: &Vec<Item>| {
                let at = below.binary_search_by(|other| other.name.cmp(item.name));
                at.ok().map(|at| below[at].id())
            };
            let before: Vec<Option<Oid>> = folders.iter().map(same).collect();
            if !before.contains(&Some(item.id())) {
                open.push((join(&path, item.name), before, item.id()));
            }
        }
    }
    Ok(findings)
}

/// Every folder in a folder, sorted by name.
fn folders_of(folder: &Folder) -> Vec<Item<'_>> {
    let mut folders: Vec<Item> = folder.items().filter(|item| item.kind == Kind::Tree).collect();
    // By bytes they are sorted already, but for the few names that begin with another.
    folders.sort_by_key(|item| item.name);
    folders
}

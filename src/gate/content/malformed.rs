//! Folders that git would not have written: one name twice, entries out of order, names that are none.
//!
//! git, libgit2 and a hoster's page each show another part of such a tree, so nobody can review it.
//! Only folders that differ from the base's are looked at, and what the base's own folder has at the
//! same place is no finding.

use std::collections::HashSet;
use std::rc::Rc;

use super::hidden;
use crate::gate::rules::shown;
use crate::gate::tree::{Fault, Folder, join, lookup};
use crate::gate::{Finding, Kind, Oid, Tree, Unreadable};

/// What judges such folders.
pub const MALFORMED: &str = "built-in: malformed trees";

/// Findings of these folders of the candidate (path and id), of those that none of the bases has at the same place.
pub(super) fn judge(
    bases: &[&dyn Tree],
    candidate: &dyn Tree,
    faulty: &[(Vec<u8>, Oid)],
) -> Result<Vec<Finding>, Unreadable> {
    let mut findings = Vec::new();
    for (path, after) in faulty {
        let mut old: Vec<Rc<Folder>> = Vec::new();
        let mut is_old = false;
        for base in bases {
            let before = match path.is_empty() {
                true => Some(base.root()),
                false => lookup(*base, path)?
                    .filter(|entry| entry.kind == Kind::Tree)
                    .map(|entry| entry.id),
            };
            is_old |= before == Some(*after);
            old.push(before.map_or(Ok(Rc::default()), |id| base.folder(&id))?);
        }
        if is_old {
            continue;
        }
        let known: HashSet<&Fault> = old.iter().flat_map(|folder| &folder.faults).collect();
        for fault in &candidate.folder(after)?.faults {
            if known.contains(fault) {
                continue;
            }
            let place = join(path, &fault.name);
            let message = format!("malformed tree {after}: {} {}", shown(&fault.name), fault.what);
            let hint = "git fsck names such trees too; make the commit anew with git itself";
            findings.push(hidden(&place, MALFORMED, message, hint));
        }
    }
    Ok(findings)
}

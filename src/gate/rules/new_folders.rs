//! New folders (exit 6): in the root, counted against the policy, and anywhere, when the task's
//! Non-goals name new directories. Both compare with the base tree, never with a list in a file.

use std::collections::{BTreeSet, HashMap};

use super::{finding, shown};
use crate::gate::tree::lookup;
use crate::gate::{Change, GateError, Kind, POLICY_PATH, Policy, Rule, Tree, Unreadable, Verdict};
use crate::task::Task;

/// Folders in the candidate's root that the base's root does not have. A submodule link counts as
/// a folder, since a checkout makes one of it.
pub(super) fn top_level(
    policy: &Policy,
    base: &dyn Tree,
    candidate: &dyn Tree,
    verdict: &mut Verdict,
) -> Result<(), GateError> {
    let before = base.entries(&base.root())?;
    let had = |name: &[u8], folder: bool| before.iter().any(|e| e.name == name && (!folder || is_folder(e.kind)));
    let mut new = Vec::new();
    for entry in candidate.entries(&candidate.root())? {
        if is_folder(entry.kind) && !had(&entry.name, true) {
            new.push(entry.name);
        } else if entry.kind == Kind::Symlink && !had(&entry.name, false) {
            verdict.notices.push(format!(
                "{} is a new symlink in the root; it is not counted as a directory",
                shown(&entry.name)
            ));
        }
    }
    if new.len() <= usize::try_from(policy.max_new_top_level_dirs).unwrap_or(usize::MAX) {
        return Ok(());
    }
    for name in &new {
        verdict.findings.push(finding(
            Rule::NewTopLevelDirectory,
            name,
            "max_new_top_level_dirs",
            format!(
                "new top-level directory ({} new, {} allowed)",
                new.len(),
                policy.max_new_top_level_dirs
            ),
            format!(
                "put the files into an existing directory, or ask an owner of {POLICY_PATH} to raise `max_new_top_level_dirs`"
            ),
        ));
    }
    Ok(())
}

/// Every outermost folder that the base does not have, except the parents of a file that the task
/// names literally: whoever asks for `src/new/x.ts` asks for `src/new` too.
pub(super) fn anywhere(
    task: &Task,
    base: &dyn Tree,
    changes: &[Change],
    verdict: &mut Verdict,
) -> Result<(), Unreadable> {
    let asked: Vec<&[u8]> = task.allowed_files.iter().filter_map(|rule| rule.literal()).collect();
    let is_asked = |folder: &[u8]| {
        asked
            .iter()
            .any(|file| file.strip_prefix(folder).is_some_and(|rest| rest.starts_with(b"/")))
    };
    let mut known: HashMap<Vec<u8>, bool> = HashMap::new();
    let mut new: BTreeSet<Vec<u8>> = BTreeSet::new();
    for change in changes {
        let Some(after) = change.after else { continue };
        let mut ends: Vec<usize> = (0..change.path.len()).filter(|&at| change.path[at] == b'/').collect();
        if after.kind == Kind::Submodule {
            ends.push(change.path.len());
        }
        for end in ends {
            let folder = &change.path[..end];
            let had = match known.get(folder) {
                Some(&had) => had,
                None => {
                    let had = lookup(base, folder)?.is_some_and(|entry| is_folder(entry.kind));
                    known.insert(folder.to_vec(), had);
                    had
                }
            };
            if !had && !is_asked(folder) {
                new.insert(folder.to_vec());
                break;
            }
        }
    }
    for folder in new {
        verdict.findings.push(finding(
            Rule::NewDirectory,
            &folder,
            "task: Non-goals",
            "new directory, which the task rules out".into(),
            "put the files into an existing directory, or name them under `Allowed files:` in the task".into(),
        ));
    }
    Ok(())
}

fn is_folder(kind: Kind) -> bool {
    matches!(kind, Kind::Tree | Kind::Submodule)
}

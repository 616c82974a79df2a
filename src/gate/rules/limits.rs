//! How large a change may be (exit 7): `max_changed_files` and `max_changed_lines`.
//!
//! Invariant: what is counted is never less than what a difference of the two trees has. Where a close comparison
//! would take too long, the count is higher.

mod lines;

use std::collections::HashMap;

use super::{finding, is_regular, shown};
use crate::gate::tree::Side;
use crate::gate::{Change, Finding, POLICY_PATH, Policy, Rule, Tree, Unreadable, Verdict};

/// Larger files (bytes) are not compared: they are over every limit of lines.
const MAX_COMPARED: u64 = 32 * 1024 * 1024;
/// Files that a finding names.
const NAMED: usize = 3;

/// Counts the changed paths and their lines against the policy.
pub(super) fn judge(
    policy: &Policy,
    base: &dyn Tree,
    candidate: &dyn Tree,
    changes: &[Change],
    verdict: &mut Verdict,
) -> Result<(), Unreadable> {
    if let Some(limit) = policy.max_changed_files
        && changes.len() > usize::try_from(limit).unwrap_or(usize::MAX)
    {
        let most = of_folders(changes);
        let message = format!(
            "{} files changed, more than {limit}; most in {}",
            changes.len(),
            named(&most, |count| format!("{count}"))
        );
        verdict.findings.push(too_large("max_changed_files", message));
    }
    let Some(limit) = policy.max_changed_lines else {
        return Ok(());
    };
    let mut counts: Vec<(Vec<u8>, u64)> = Vec::new();
    for change in changes {
        let (old, new) = (content(base, change.before)?, content(candidate, change.after)?);
        let (Some(old), Some(new)) = (old, new) else {
            let mut finding = too_large(
                "max_changed_lines",
                format!("more than 32 MiB, so that its lines are not counted; the limit is {limit} lines"),
            );
            finding.path.clone_from(&change.path);
            verdict.findings.push(finding);
            continue;
        };
        // A change of the mode alone has no lines.
        if change.before.map(|side| side.id) != change.after.map(|side| side.id) {
            counts.push((change.path.clone(), lines::changed(&old, &new)));
        }
    }
    let total: u64 = counts.iter().map(|(_, count)| count).sum();
    if total > u64::from(limit) {
        counts.sort_by(|(a, more), (b, less)| less.cmp(more).then_with(|| a.cmp(b)));
        let message = format!(
            "{total} lines added and deleted, more than {limit}; most in {}",
            named(&counts, |count| format!("{count}"))
        );
        verdict.findings.push(too_large("max_changed_lines", message));
    }
    Ok(())
}

fn too_large(key: &str, message: String) -> Finding {
    let hint = format!("split the change into smaller ones, or ask an owner of {POLICY_PATH} to raise `{key}`");
    finding(Rule::TooLarge, b"", key, message, hint)
}

/// The text of one side: a link's is its target, a submodule link's a line with the commit. `None` where there is too
/// much of it.
fn content(tree: &dyn Tree, side: Option<Side>) -> Result<Option<Vec<u8>>, Unreadable> {
    match side {
        None => Ok(Some(Vec::new())),
        Some(side) if is_regular(&side) || side.kind == crate::gate::Kind::Symlink => {
            if tree.blob_size(&side.id)? > MAX_COMPARED {
                return Ok(None);
            }
            tree.blob(&side.id).map(Some)
        }
        Some(side) => Ok(Some(side.id.to_string().into_bytes())),
    }
}

/// Changed files by folder, most first.
fn of_folders(changes: &[Change]) -> Vec<(Vec<u8>, u64)> {
    let mut folders: HashMap<Vec<u8>, u64> = HashMap::new();
    for change in changes {
        let end = change
            .path
            .iter()
            .rposition(|&byte| byte == b'/')
            .map_or(0, |at| at + 1);
        *folders.entry(change.path[..end].to_vec()).or_default() += 1;
    }
    let mut folders: Vec<(Vec<u8>, u64)> = folders.into_iter().collect();
    folders.sort_by(|(a, more), (b, less)| less.cmp(more).then_with(|| a.cmp(b)));
    folders
}

fn named(counts: &[(Vec<u8>, u64)], count: impl Fn(u64) -> String) -> String {
    let name = |path: &[u8]| {
        if path.is_empty() {
            "the root".to_owned()
        } else {
            shown(path)
        }
    };
    let mut text: Vec<String> = counts
        .iter()
        .take(NAMED)
        .map(|(path, number)| format!("{} ({})", name(path), count(*number)))
        .collect();
    if counts.len() > NAMED {
        text.push(format!("and {} more", counts.len() - NAMED));
    }
    text.join(", ")
}

//! Folders that git takes for a repository although they are content: bare repositories.
//!
//! git looks for one in every folder from where it was started upwards, and one that it finds there is
//! believed: its configuration names programs (`core.fsmonitor`, `core.hooksPath`, `core.pager`, ...) that
//! then run as the person who typed `git status`.

use std::collections::HashSet;

use super::hidden;
use super::twins::Twins;
use crate::gate::paths::fold;
use crate::gate::tree::join;
use crate::gate::{Finding, Kind, Unreadable};

/// What judges such folders.
pub const REPOSITORIES: &str = "built-in: repositories";

/// Names in a git dir that make it one, or that decide what git runs in it. Folded.
const OF_GIT_DIRS: &[&[u8]] = &[
    b"head",
    b"config",
    b"config.worktree",
    b"commondir",
    b"hooks",
    b"info",
    b"objects",
    b"refs",
];

/// Whether an entry of this name decides about a git dir.
pub fn is_of_git_dir(name: &[u8]) -> bool {
    OF_GIT_DIRS.contains(&fold(name).as_slice())
}

/// The folders on the way to a changed path that are git dirs by their shape and in which the change lies.
/// Each is found once: `seen` holds those that were looked at.
pub(super) fn of(twins: &mut Twins<'_>, path: &[u8], seen: &mut HashSet<Vec<u8>>) -> Result<Vec<Finding>, Unreadable> {
    let mut findings = Vec::new();
    let parts: Vec<&[u8]> = path.split(|&byte| byte == b'/').collect();
    // The root is no such folder: the `.git` beside it is found first.
    let Some(last) = parts[1..].iter().rposition(|part| is_of_git_dir(part)) else {
        return Ok(findings);
    };
    let mut here = Vec::new();
    let mut folder = twins.candidate.root();
    for (part, next) in parts.iter().zip(&parts[1..]).take(last + 1) {
        let listing = twins.listing(&folder)?;
        let same = listing.get(&fold(part));
        let Some(entry) = same.iter().find(|entry| entry.name == *part) else {
            break;
        };
        if entry.kind != Kind::Tree {
            break;
        }
        folder = entry.id();
        here = join(&here, part);
        if is_of_git_dir(next) && seen.insert(here.clone()) {
            let names = twins.listing(&folder)?;
            let has = |name: &[u8], fits: fn(Kind) -> bool| names.get(name).iter().any(|entry| fits(entry.kind));
            // git asks whether it may enter these two, which is so of a link to a folder and of an
            // executable file as well; `HEAD` may be a link.
            let opens = |name: &[u8]| has(name, |kind| kind != Kind::File);
            let head = has(b"head", |kind| !matches!(kind, Kind::Tree | Kind::Submodule));
            let whole = opens(b"objects") && opens(b"refs");
            if head && (whole || has(b"commondir", |kind| kind != Kind::Tree)) {
                findings.push(hidden(
                    &here,
                    REPOSITORIES,
                    "a bare repository: git that is run inside it takes it for one, and runs what its configuration names"
                        .into(),
                    "delete it; a test that needs one can make it with git init in a temporary folder",
                ));
            }
        }
    }
    Ok(findings)
}

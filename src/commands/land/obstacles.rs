//! What stops a landing before anything moves.

use std::collections::HashSet;
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use anyhow::Result;

use super::saved::is_folder;
use super::short;
use crate::exit::{Exit, Stop};
use crate::files;
use crate::gate::tree::Change;
use crate::git::program::Git;
use crate::git::repo::{Checkout, dirt_of, under_way};

/// Exit 12 in the middle of a merge and the like: its commit would not be the one that was meant.
pub(super) fn must_not_be_busy(place: &Path) -> Result<()> {
    let busy = git2::Repository::open(place).ok().and_then(|repo| under_way(&repo));
    match busy {
        None => Ok(()),
        Some(operation) => Err(Stop::new(
            Exit::DirtyTree,
            format!("{} is in the middle of {operation}", place.display()),
        )
        .hint("finish or abort it first: git status says how")
        .into()),
    }
}

/// Exit 12 while a checkout rebases or bisects the branch: HEAD is detached then, and the branch is
/// set when that ends.
pub(super) fn must_not_be_rebased(checkout: &Checkout, target: &str) -> Result<()> {
    let linked = std::fs::read_dir(checkout.common.join("worktrees"))
        .into_iter()
        .flatten()
        .filter_map(Result::ok)
        .map(|entry| entry.path());
    for git_dir in linked.chain([checkout.common.clone()]) {
        for (note, what) in [
            ("rebase-merge/head-name", "rebased"),
            ("rebase-apply/head-name", "rebased"),
            ("BISECT_START", "bisected"),
        ] {
            let Ok(name) = files::read_small(&git_dir.join(note), 4096) else {
                continue;
            };
            let name = name.trim_ascii_end();
            if name == target.as_bytes() || name == short(target).as_bytes() {
                return Err(Stop::new(Exit::DirtyTree, format!("{} is being {what}", short(target)))
                    .hint(format!("finish or abort that first ({})", git_dir.join(note).display()))
                    .into());
            }
        }
    }
    Ok(())
}

/// Exit 12 where a touched path is dirty in the target's checkout, or where something untracked
/// (ignored or not) stands at a path that the candidate adds.
pub(super) fn must_not_be_in_the_way(git: &Git, place: &Path, changes: &[Change]) -> Result<()> {
    let touched: HashSet<String> = changes
        .iter()
        .map(|change| change.path.escape_ascii().to_string())
        .collect();
    let mut blocking: Vec<String> = dirt_of(git, place, None)?
        .into_iter()
        .filter(|line| line.get(3..).is_some_and(|path| touched.contains(path)))
        .collect();
    let tracked: HashSet<PathBuf> = changes
        .iter()
        .filter(|change| change.before.is_some())
        .map(|change| place.join(OsStr::from_bytes(&change.path)))
        .collect();
    for change in changes.iter().filter(|change| change.before.is_none()) {
        let mut at = place.to_owned();
        let parts: Vec<&[u8]> = change.path.split(|&b| b == b'/').collect();
        for (number, part) in parts.iter().enumerate() {
            at.push(OsStr::from_bytes(part));
            let Ok(meta) = at.symlink_metadata() else { break };
            let is_last = number + 1 == parts.len();
            let is_free = match (meta.is_dir(), is_last) {
                (true, false) => true,
                // A folder in the place of a file may go when all in it goes.
                (true, true) => has_only(&at, &tracked),
                // A tracked file in the place of a folder is part of the change itself.
                (false, _) => tracked.contains(&at),
            };
            if !is_free {
                blocking.push(format!("?? {}", change.path.escape_ascii()));
                break;
            }
        }
    }
    if blocking.is_empty() {
        return Ok(());
    }
    blocking.sort();
    blocking.dedup();
    Err(in_the_way(place, &blocking.join("\n")))
}

/// Exit 1 where a touched path's folder cannot be written: git only warns of a file that it cannot
/// delete, and leaves it behind.
pub(super) fn must_be_writable(place: &Path, changes: &[Change]) -> Result<()> {
    let needed = rustix::fs::Access::WRITE_OK | rustix::fs::Access::EXEC_OK;
    for change in changes {
        let at = place.join(OsStr::from_bytes(&change.path));
        let folder = at.ancestors().skip(1).find(|folder| is_folder(folder)).unwrap_or(place);
        if let Err(error) = rustix::fs::access(folder, needed) {
            let what = format!("cannot write to {}: {error}; nothing was touched", folder.display());
            return Err(Stop::new(Exit::Internal, what)
                .hint("the candidate changes what is in it: make it writable, then land again")
                .into());
        }
    }
    Ok(())
}

/// Whether a folder holds nothing but these files. An empty one that is there for no tracked file
/// was made by a person.
fn has_only(folder: &Path, files: &HashSet<PathBuf>) -> bool {
    let Ok(entries) = std::fs::read_dir(folder) else {
        return false;
    };
    files.iter().any(|file| file.starts_with(folder))
        && entries.into_iter().all(|entry| {
            entry.is_ok_and(|entry| match entry.file_type() {
                Ok(kind) if kind.is_dir() => has_only(&entry.path(), files),
                _ => files.contains(&entry.path()),
            })
        })
}

pub(super) fn in_the_way(place: &Path, what: &str) -> anyhow::Error {
    Stop::new(
        Exit::DirtyTree,
        format!("{} has changes in the way of the candidate:\n{what}", place.display()),
    )
    .hint("commit, stash or move them away, then land again")
    .into()
}

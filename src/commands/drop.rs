//! `agentgate drop`: gives a kept job's worktree and branch up. The record stays.

use std::path::PathBuf;

use anyhow::{Context, Result};
use git2::Oid;

use super::{Surroundings, job_folder};
use crate::exit::{Exit, Stop};
use crate::files;
use crate::git::places::Places;
use crate::git::refs;
use crate::git::repo::Checkout;
use crate::git::shell;
use crate::git::worktree::{self, Worktree};
use crate::job::machine::State;
use crate::job::{Created, Event};
use crate::store::{NewerFormat, Owner, Store};

/// What a person's edits in a kept worktree mean for its removal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Edits {
    /// They stop it (12).
    Refuse,
    /// `--force`: they go with it.
    Discard,
}

/// What was dropped.
#[derive(Clone, Debug)]
pub struct Report {
    /// Job id.
    pub job_id: String,
    /// Where the record is.
    pub record: PathBuf,
    /// Things worth knowing.
    pub notices: Vec<String>,
}

/// Drops job `id`: a kept one, or the worktree that `open` or a failure left.
pub fn drop_job(surroundings: &Surroundings, id: &str, edits: Edits) -> Result<Report> {
    let checkout = surroundings.checkout()?;
    let mut owner = own(&Store::of(&checkout.common), id)?;
    let record = owner.folder.path.clone();
    must_be_removable(&checkout, &owner, id, edits)?;
    let kept = owner.state.ended == Some(Exit::Ok) && !owner.state.landed && !owner.state.dropped;
    let there = worktree_of(&checkout, &owner, id)?.is_some();
    if !kept && !there {
        return Err(Stop::new(
            Exit::WrongState,
            format!("job {id} has nothing to drop: {}", words(&owner.state)),
        )
        .into());
    }
    if kept {
        owner.append(&Event::Dropped {})?;
    }
    let notices = remove(&checkout, &owner, id)?;
    Ok(Report {
        job_id: id.to_owned(),
        record,
        notices,
    })
}

/// Takes a job's ownership: 23 where there is none, 13 while another owner lives.
pub fn own(store: &Store, id: &str) -> Result<Owner> {
    job_folder(store, id)?;
    let owner = store
        .own(id)
        .map_err(|error| match error.downcast_ref::<NewerFormat>() {
            Some(newer) => Stop::new(Exit::WrongState, newer.to_string())
                .hint("use that version; nothing was changed")
                .into(),
            None => error,
        })?;
    owner.ok_or_else(|| {
        Stop::new(Exit::Locked, format!("job {id} is being worked on by another process"))
            .hint("agentgate status shows the holder")
            .into()
    })
}

/// A job's state in a few words.
pub fn words(state: &State) -> String {
    match (state.ended, state.landed, state.dropped) {
        (_, true, _) => "it was landed".into(),
        (_, _, true) => "it was dropped".into(),
        (Some(Exit::Ok), ..) => "it is kept".into(),
        (Some(exit), ..) => format!("it ended with {exit}"),
        (None, ..) => "it never finished".into(),
    }
}

fn created(owner: &Owner) -> Result<&Created> {
    owner.state.created.as_ref().context("the job's log has no job.created")
}

/// Where the job's worktree is or was.
pub fn worktree_path(owner: &Owner) -> Result<String> {
    Ok(created(owner)?.worktree.clone())
}

/// The job's worktree, found by the clone's own registrations: the recorded admin folder, or the
/// one that `open` made for the same path.
fn worktree_of(checkout: &Checkout, owner: &Owner, id: &str) -> Result<Option<Worktree>> {
    let path = PathBuf::from(worktree_path(owner)?);
    let recorded = owner.state.worktree.as_ref().map(|(_, admin)| PathBuf::from(admin));
    let registered = std::fs::read_dir(checkout.common.join("worktrees"))
        .into_iter()
        .flatten()
        .filter_map(Result::ok)
        .map(|entry| entry.path());
    let mut found = recorded.into_iter().chain(registered).map(|admin| Worktree {
        path: path.clone(),
        admin,
    });
    Ok(found.find(|worktree| worktree.is_ours(id)))
}

/// Refuses what a removal would lose: edits beyond the candidate (12), a branch that moved on
/// (20), a lock that a person set (23).
pub fn must_be_removable(checkout: &Checkout, owner: &Owner, id: &str, edits: Edits) -> Result<()> {
    let Some(worktree) = worktree_of(checkout, owner, id)? else {
        return Ok(());
    };
    if let Some(reason) = worktree.locked_by_person(id) {
        return Err(Stop::new(
            Exit::WrongState,
            format!("{} is locked by a person: {reason}", worktree.path.display()),
        )
        .hint(format!("git worktree unlock {}", shell(&worktree.path)))
        .into());
    }
    if edits == Edits::Discard || !worktree.path.is_dir() {
        return Ok(());
    }
    let id = shell_words::quote(id).into_owned();
    if owner.state.ended == Some(Exit::Ok) {
        let commit = owner.state.commit.clone().unwrap_or_default();
        let head = git2::Repository::open(&worktree.path)
            .ok()
            .and_then(|repo| repo.head().ok().and_then(|head| head.target()));
        let branch = checkout
            .repo
            .find_reference(&refs::branch(&owner.folder.id))
            .ok()
            .and_then(|branch| branch.target());
        if [head, branch].into_iter().flatten().any(|at| at.to_string() != commit) {
            return Err(Stop::new(
                Exit::Collision,
                format!("{} has commits beyond the candidate {commit}", worktree.path.display()),
            )
            .hint(format!(
                "put them on a branch of your own: git -C {} switch -c my-branch",
                shell(&worktree.path)
            ))
            .hint(format!("or give them up: agentgate drop --force {id}"))
            .into());
        }
        worktree::must_be_clean(&checkout.git, &worktree.path)
            .map_err(|error| with_hint(error, format!("or give them up: agentgate drop --force {id}")))?;
    } else {
        // Opened, or left by a failure: the index holds the candidate or the base. A job that died
        // left its `.git` pointing to the agent's git dir, whose configuration must not be read.
        worktree.restore_git_file()?;
        let diff = checkout
            .git
            .at(&worktree.path)
            .args([
                "status",
                "--porcelain=v1",
                "--untracked-files=all",
                "--ignore-submodules=none",
            ])
            .text()?;
        let edited: Vec<&str> = diff
            .lines()
            .filter(|line| line.get(1..2).is_none_or(|work| work != " "))
            .collect();
        if !edited.is_empty() {
            return Err(Stop::new(
                Exit::DirtyTree,
                format!(
                    "{} has changes that are not in the record:\n{}",
                    worktree.path.display(),
                    edited.join("\n")
                ),
            )
            .hint(format!("or give them up: agentgate drop --force {id}"))
            .into());
        }
    }
    Ok(())
}

fn with_hint(error: anyhow::Error, hint: String) -> anyhow::Error {
    match error.downcast::<Stop>() {
        Ok(stop) => stop.hint(hint).into(),
        Err(error) => error,
    }
}

/// Removes worktree, branch and private folder of a job, as far as they are its own.
pub fn remove(checkout: &Checkout, owner: &Owner, id: &str) -> Result<Vec<String>> {
    let created = created(owner)?;
    let mut notices = Vec::new();
    let private = PathBuf::from(&created.private);
    let root = PathBuf::from(&created.worktree)
        .parent()
        .map(PathBuf::from)
        .unwrap_or_default();
    let places = Places::of(&root, id);
    match worktree_of(checkout, owner, id)? {
        Some(worktree) => notices.extend(worktree.remove(id, &places.trash)?),
        None => {
            let path = PathBuf::from(&created.worktree);
            if path.symlink_metadata().is_ok() {
                notices.push(format!(
                    "{} is not the worktree that job {id} made any more; it is left alone",
                    path.display()
                ));
            }
        }
    }
    if let Some(commit) = &owner.state.commit {
        let name = refs::branch(id);
        if !refs::delete_if_at(&checkout.repo, &name, Oid::from_str(commit)?)? {
            notices.push(format!(
                "agent/{id} does not point at the candidate any more; it is left alone"
            ));
        }
    }
    if private == places.private {
        files::remove_tree(&private)?;
    }
    for folder in [private.parent(), Some(places.trash.as_path()), Some(root.as_path())]
        .into_iter()
        .flatten()
    {
        let _ = std::fs::remove_dir(folder);
    }
    Ok(notices)
}

//! `agentgate open`: a job's candidate as a worktree to look at.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result};

use super::walls::Walls;
use super::{Surroundings, drop, remains};
use crate::exit::{Exit, Stop};
use crate::git::refs;
use crate::git::shell;
use crate::git::worktree::{Content, Worktree, fill};
use crate::store::{PATCH, Store};

/// Where the candidate can be looked at.
#[derive(Clone, Debug)]
pub struct Report {
    /// Job id.
    pub job_id: String,
    /// The worktree.
    pub worktree: PathBuf,
    /// What stands there.
    pub shown: Shown,
}

/// What stands in a worktree that was opened, by which it is told what to type next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shown {
    /// The worktree of a kept job, which was there already.
    Kept,
    /// That of a job that waits for a person, which was there already.
    Waiting,
    /// One that was made now.
    Candidate,
}

/// Brings the candidate of job `id` back: HEAD at the base, the candidate staged and on disk. No
/// hook runs, and files are laid out by the base's attributes.
pub fn open(surroundings: &Surroundings, id: &str) -> Result<Report> {
    let checkout = surroundings.checkout()?;
    let (owner, created) = drop::own(&Store::of(&checkout.common), id)?;
    let path = PathBuf::from(owner.state.place().unwrap_or(&created.worktree));
    let shown = match owner.state.ended {
        _ if owner.state.landed || owner.state.dropped => Shown::Candidate,
        Some(Exit::Ok) => Shown::Kept,
        Some(Exit::NeedsHuman) => Shown::Waiting,
        _ => Shown::Candidate,
    };
    if shown != Shown::Candidate && path.is_dir() {
        return Ok(Report {
            job_id: id.to_owned(),
            worktree: path,
            shown,
        });
    }
    if owner.state.ended.is_none() {
        return Err(Stop::new(
            Exit::WrongState,
            format!("job {id} never finished, so there is no candidate to open"),
        )
        .hint(format!(
            "agentgate log {} shows how far it came",
            shell_words::quote(id)
        ))
        .into());
    }
    let record = refs::record(&checkout.repo, id)?.ok_or_else(|| match &owner.state.frozen {
        Some(_) => without_ref(id, &owner.folder.path.join(PATCH)),
        None => nothing(id),
    })?;
    let tree = checkout
        .repo
        .find_tree(record)
        .context("the record's tree cannot be read")?;
    let candidate = tree
        .get_name("candidate")
        .map(|entry| entry.id())
        .ok_or_else(|| nothing(id))?;
    let blocked = path.symlink_metadata().is_ok();
    if blocked {
        // The job has its id, and a worktree that is moved by hand is lost to git.
        return Err(
            Stop::new(Exit::WorktreeExists, format!("{} exists already", path.display()))
                .hint(format!("is it open already? cd {}", shell(&path)))
                .hint("if it is no worktree of the job, give it another name, then open again")
                .into(),
        );
    }
    // Somebody deleted the folder; git would not add it again.
    remains::of(&checkout, &owner.state, &created, id).forget_if_gone()?;
    let worktree = Worktree::add(&checkout.git, &checkout.common, &path, &created.base, id, Content::None)?;
    let plan = Walls::for_filters(&checkout, &path, vec![path.clone(), worktree.admin.clone()])?;
    if let Err(error) = fill(&checkout.git, &worktree, &candidate.to_string(), &created.base, &plan) {
        let _ = worktree.remove(id, &path.with_file_name(".trash"));
        return Err(error);
    }
    worktree.unlock()?;
    Ok(Report {
        job_id: id.to_owned(),
        worktree: path,
        shown: Shown::Candidate,
    })
}

/// A candidate was frozen and is in no ref.
fn without_ref(id: &str, patch: &Path) -> Stop {
    Stop::new(
        Exit::WrongState,
        format!("the candidate of job {id} was not kept: it held a credential, or somebody deleted its ref"),
    )
    .hint(format!(
        "its patch has `x` in the place of credentials: git apply {}",
        shell(patch)
    ))
}

fn nothing(id: &str) -> Stop {
    Stop::new(
        Exit::WrongState,
        format!("job {id} has no candidate: it ended before one was frozen"),
    )
    .hint(format!("agentgate log {} shows what it did", shell_words::quote(id)))
}

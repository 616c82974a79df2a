//! `agentgate open`: a job's candidate as a worktree to look at.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result};

use super::walls::Walls;
use super::{Surroundings, drop, remains};
use crate::exit::{Exit, Stop};
use crate::git::refs;
use crate::git::shell;
use crate::git::worktree::{Content, Worktree, fill, in_the_way};
use crate::store::{PATCH, Store};

/// Where the candidate can be looked at.
#[derive(Clone, Debug)]
pub struct Report {
    /// Job id.
    pub job_id: String,
    /// The worktree.
    pub worktree: PathBuf,
    /// It was there already.
    pub was_there: bool,
}

/// Brings the candidate of job `id` back: HEAD at the base, the candidate staged and on disk. No
/// hook runs, and files are laid out by the base's attributes.
pub fn open(surroundings: &Surroundings, id: &str) -> Result<Report> {
    let checkout = surroundings.checkout()?;
    let (owner, created) = drop::own(&Store::of(&checkout.common), id)?;
    let path = PathBuf::from(owner.state.place().unwrap_or(&created.worktree));
    let kept = owner.state.ended == Some(Exit::Ok) && !owner.state.landed && !owner.state.dropped;
    if kept && path.is_dir() {
        return Ok(Report {
            job_id: id.to_owned(),
            worktree: path,
            was_there: true,
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
        let (what, hint) = in_the_way(&checkout, &path, id)?.unwrap_or_default();
        return Err(Stop::new(Exit::WorktreeExists, what)
            .hint(hint)
            .hint(format!("is it open already? cd {}", shell(&path)))
            .into());
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
        was_there: false,
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

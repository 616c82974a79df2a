//! `agentgate land`: a kept job's candidate onto its branch, fast-forward only.
//!
//! Runs nothing the candidate brought: hooks are off for the checkout update, and the branch moves
//! by compare-and-swap. No clone lock is taken: a running job does not care which branch moves.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use git2::Oid;

use super::{Surroundings, drop};
use crate::exit::{Exit, Stop};
use crate::gate::tree::{Change, diff};
use crate::git::program::{Git, first_lines};
use crate::git::refs;
use crate::git::repo::{Checkout, dirt_of};
use crate::git::shell;
use crate::git::tree::GitTree;
use crate::job::Event;
use crate::store::{Owner, Store};

/// What was landed.
#[derive(Clone, Debug)]
pub struct Report {
    /// Job id.
    pub job_id: String,
    /// The commit that is on the branch now.
    pub commit: String,
    /// Full ref name.
    pub target: String,
    /// What it pointed at before.
    pub old: String,
    /// The checkout that was updated, if the branch is checked out somewhere.
    pub checkout: Option<PathBuf>,
    /// Things worth knowing.
    pub notices: Vec<String>,
}

/// Lands job `id` on `onto`, or on the branch HEAD pointed at when the job started.
pub fn land(surroundings: &Surroundings, id: &str, onto: Option<&str>) -> Result<Report> {
    let checkout = surroundings.checkout()?;
    let mut owner = drop::own(&Store::of(&checkout.common), id)?;
    let (commit, base) = kept_commit(&owner, id)?;
    let target = target_ref(&checkout, &owner, onto, id)?;
    let repo = &checkout.repo;
    let old = repo
        .find_reference(&target)
        .ok()
        .and_then(|reference| reference.peel_to_commit().ok())
        .map(|commit| commit.id())
        .ok_or_else(|| {
            Stop::new(
                Exit::WrongState,
                format!("the branch {} does not exist", short(&target)),
            )
            .hint("name another: --onto BRANCH")
        })?;
    if old != base && !repo.graph_descendant_of(commit, old).unwrap_or(false) {
        return Err(Stop::new(
            Exit::TargetMoved,
            format!(
                "{} moved since the job started: it is at {old}, the candidate stands on {base}",
                short(&target)
            ),
        )
        .hint(format!(
            "git -C {} rebase {}, check it, and merge it by hand",
            shell(Path::new(&drop::worktree_path(&owner)?)),
            short(&target)
        ))
        .hint("or run the task again from the new base")
        .into());
    }
    drop::must_be_removable(&checkout, &owner, id, drop::Edits::Refuse)?;
    let before = GitTree::of_commit(repo, old).map_err(crate::gate::GateError::from)?;
    let after = GitTree::of_commit(repo, commit).map_err(crate::gate::GateError::from)?;
    let changes = diff(&before, &after).map_err(crate::gate::GateError::from)?;
    let place = checked_out_at(&checkout, &target)?;
    if let Some(place) = &place {
        must_not_be_in_the_way(&checkout.git, place, &changes)?;
        dry_run(&checkout.git, place, old, commit)?;
    }
    refs::compare_and_swap(repo, &target, commit, old, &format!("agentgate land {id}"))?;
    if let Some(place) = &place
        && let Err(error) = update(&checkout.git, place, old, commit, Run::Real)
    {
        // The checkout was not touched: the branch must not claim otherwise.
        refs::compare_and_swap(repo, &target, old, commit, "agentgate land: undone")?;
        return Err(error);
    }
    owner.append(&Event::Landed {
        commit: commit.to_string(),
        target: target.clone(),
        old: old.to_string(),
    })?;
    let notices = drop::remove(&checkout, &owner, id)?;
    Ok(Report {
        job_id: id.to_owned(),
        commit: commit.to_string(),
        target,
        old: old.to_string(),
        checkout: place,
        notices,
    })
}

/// The candidate and its base.
fn kept_commit(owner: &Owner, id: &str) -> Result<(Oid, Oid)> {
    let state = &owner.state;
    let kept = state.ended == Some(Exit::Ok) && !state.landed && !state.dropped;
    match (&state.commit, &state.created) {
        (Some(commit), Some(created)) if kept => Ok((Oid::from_str(commit)?, Oid::from_str(&created.base)?)),
        _ => Err(Stop::new(
            Exit::WrongState,
            format!("job {id} cannot be landed: {}", drop::words(state)),
        )
        .hint(format!("agentgate log {} shows what it did", shell_words::quote(id)))
        .into()),
    }
}

fn target_ref(checkout: &Checkout, owner: &Owner, onto: Option<&str>, id: &str) -> Result<String> {
    let recorded = owner.state.created.as_ref().and_then(|created| created.target.clone());
    let name = match onto {
        Some(branch) if branch.starts_with("refs/heads/") => branch.to_owned(),
        Some(branch) => format!("refs/heads/{branch}"),
        None => recorded.ok_or_else(|| {
            Stop::new(
                Exit::Usage,
                format!("job {id} started from a detached HEAD, so there is no branch to land on"),
            )
            .hint(format!("agentgate land {} --onto BRANCH", shell_words::quote(id)))
        })?,
    };
    // A symbolic branch would move the one behind it.
    if let Ok(reference) = checkout.repo.find_reference(&name)
        && reference.kind() == Some(git2::ReferenceType::Symbolic)
    {
        return Err(
            Stop::new(Exit::WrongState, format!("{} is a symbolic ref", short(&name)))
                .hint("name the branch it points to: --onto BRANCH")
                .into(),
        );
    }
    Ok(name)
}

fn short(name: &str) -> &str {
    name.strip_prefix("refs/heads/").unwrap_or(name)
}

/// Where a branch is checked out: git allows one place.
fn checked_out_at(checkout: &Checkout, target: &str) -> Result<Option<PathBuf>> {
    let listed = checkout
        .git
        .at(&checkout.common)
        .args(["worktree", "list", "--porcelain", "-z"])
        .bytes()?;
    let (mut path, mut bare) = (None, false);
    for line in listed.split(|&b| b == 0) {
        if let Some(rest) = line.strip_prefix(b"worktree ") {
            (path, bare) = (Some(PathBuf::from(OsStr::from_bytes(rest))), false);
        } else if line == b"bare" {
            bare = true;
        } else if line.strip_prefix(b"branch ") == Some(target.as_bytes()) && !bare {
            return Ok(path.filter(|path| path.is_dir()));
        }
    }
    Ok(None)
}

/// Exit 12 where a touched path is dirty in the target's checkout, or where something untracked
/// (ignored or not) stands at a path that the candidate adds.
fn must_not_be_in_the_way(git: &Git, place: &Path, changes: &[Change]) -> Result<()> {
    let touched: std::collections::HashSet<String> = changes
        .iter()
        .map(|change| change.path.escape_ascii().to_string())
        .collect();
    let mut blocking: Vec<String> = dirt_of(git, place, None)?
        .into_iter()
        .filter(|line| line.get(3..).is_some_and(|path| touched.contains(path)))
        .collect();
    for change in changes.iter().filter(|change| change.before.is_none()) {
        let mut at = place.to_owned();
        for part in change.path.split(|&b| b == b'/') {
            at.push(OsStr::from_bytes(part));
            let Ok(meta) = at.symlink_metadata() else { break };
            let last = at == place.join(OsStr::from_bytes(&change.path));
            // A tracked file in the place of a folder is part of the change itself.
            let tracked = changes
                .iter()
                .any(|other| other.before.is_some() && place.join(OsStr::from_bytes(&other.path)) == at);
            if (last || !meta.is_dir()) && !tracked {
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

fn in_the_way(place: &Path, what: &str) -> anyhow::Error {
    Stop::new(
        Exit::DirtyTree,
        format!("{} has changes in the way of the candidate:\n{what}", place.display()),
    )
    .hint("commit, stash or move them away, then land again")
    .into()
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Run {
    Dry,
    Real,
}

fn dry_run(git: &Git, place: &Path, old: Oid, new: Oid) -> Result<()> {
    // A file that was only touched must not count as edited.
    let _ = git
        .at(place)
        .env("GIT_OPTIONAL_LOCKS", "1")
        .args(["update-index", "-q", "--refresh"])
        .outcome()?;
    update(git, place, old, new, Run::Dry)
}

/// A two-way merge of index and files: a person's other edits survive, and git refuses to
/// overwrite what it does not know.
fn update(git: &Git, place: &Path, old: Oid, new: Oid, run: Run) -> Result<()> {
    let mut call = git.at(place).args(["read-tree", "-m", "-u"]);
    if run == Run::Dry {
        call = call.arg("-n");
    }
    let outcome = call
        .arg(old.to_string())
        .arg(new.to_string())
        .outcome()
        .context("git read-tree")?;
    if outcome.success() {
        return Ok(());
    }
    Err(in_the_way(place, &first_lines(&outcome.stderr)))
}

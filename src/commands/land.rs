//! `agentgate land`: a kept job's candidate onto its branch, fast-forward only.
//!
//! Runs nothing the candidate brought: hooks are off for the checkout update, and the branch moves
//! by compare-and-swap. No clone lock is taken: a running job does not care which branch moves. Landings wait for each
//! other: git's own lock on the index of one checkout would turn both away.

mod obstacles;
mod saved;

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use git2::Oid;

use super::remains::{self, CheckedOut, Edits, Verb, checked_out_at};
use super::{Surroundings, drop};
use crate::exit::{Exit, Stop};
use crate::gate::render;
use crate::gate::tree::diff;
use crate::git::program::{Git, first_lines};
use crate::git::refs;
use crate::git::repo::Checkout;
use crate::git::shell;
use crate::git::tree::GitTree;
use crate::job::{Created, Event};
use crate::lock::{FileLock, LockError};
use crate::process::signals;
use crate::store::{Owner, Store};
use obstacles::{in_the_way, must_be_writable, must_not_be_busy, must_not_be_in_the_way, must_not_be_rebased};
use saved::Saved;

/// Longest wait for another landing.
const PATIENCE: Duration = Duration::from_secs(30);
/// Between two attempts.
const PAUSE: Duration = Duration::from_millis(20);

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
    /// The job's worktree, if it is still there.
    pub worktree: Option<PathBuf>,
    /// The job's branch is still there.
    pub has_branch: bool,
    /// Things worth knowing.
    pub notices: Vec<String>,
}

/// Lands job `id` on `onto`, or on the branch HEAD pointed at when the job started. A branch that
/// is at the candidate already (a person merged it) needs no move.
pub fn land(surroundings: &Surroundings, id: &str, onto: Option<&str>) -> Result<Report> {
    let checkout = surroundings.checkout()?;
    let (mut owner, created) = drop::own(&Store::of(&checkout.common), id)?;
    let _alone = alone(&checkout)?;
    let (commit, base) = kept_commit(&owner, &created, id)?;
    let target = target_ref(&checkout, &created, onto, id)?;
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
    let moves = old != commit;
    // Nobody judged what lies between another tip and the base, even where git could fast-forward.
    if moves && old != base {
        return Err(moved(repo, &target, old, commit, &owner, &created, id).into());
    }
    let remains = remains::of(&checkout, &owner.state, &created, id);
    let edits = Edits::Refuse(Verb::Land);
    let ignored = remains.must_be_removable(&checkout, &owner.state, &created, id, edits)?;
    let place = match checked_out_at(&checkout, &target)? {
        CheckedOut::At(place) => Some(place).filter(|place| place.is_dir()),
        CheckedOut::MainUnknown if moves => return Err(unknown_place(&checkout, &target, id).into()),
        _ => None,
    };
    // A landing that was killed moved the branch and not the files.
    let is_half = match &place {
        Some(place) if !moves => is_at(&checkout.git, place, base)?,
        _ => false,
    };
    if let Some(place) = &place {
        saved::clear(place)?;
    }
    let (old, place) = match is_half {
        true => (base, place),
        false if moves => (old, place),
        false => (moved_by_us(repo, &target, commit, id).unwrap_or(old), None),
    };
    if moves || is_half {
        advance(&checkout, place.as_deref(), &target, old, commit, id)?;
    }
    let files = owner.closing()?;
    owner.append(&Event::Landed {
        commit: commit.to_string(),
        target: target.clone(),
        old: old.to_string(),
        files,
    })?;
    let notices = match ignored.as_slice() {
        [] => drop::remove(&checkout, &owner, &created, &remains, id)?,
        // A test or a build there is no reason not to land; a person's notes are none to be deleted.
        ignored => vec![stays(&remains.path, ignored, id)],
    };
    Ok(Report {
        job_id: id.to_owned(),
        commit: commit.to_string(),
        target,
        old: old.to_string(),
        checkout: place,
        worktree: Some(remains.path).filter(|path| path.symlink_metadata().is_ok()),
        has_branch: repo.find_reference(&refs::branch(id)).is_ok(),
        notices,
    })
}

/// Why the worktree of a landed job is still there.
fn stays(worktree: &Path, ignored: &[Vec<u8>], id: &str) -> String {
    let mut shown: Vec<String> = ignored.iter().take(10).map(|path| render::path(path)).collect();
    if ignored.len() > shown.len() {
        shown.push(format!("and {} more", ignored.len() - shown.len()));
    }
    format!(
        "{} stays, since files that git ignores have come there since the job was kept: {}; agentgate drop --force {} \
         deletes it, and the job's branch, with them",
        worktree.display(),
        shown.join(", "),
        shell_words::quote(id)
    )
}

/// The lock of landings in this clone.
fn alone(checkout: &Checkout) -> Result<FileLock> {
    // Beside the jobs, of which there is one.
    let path = checkout.common.join("agentgate/land.lock");
    let started = Instant::now();
    loop {
        match FileLock::try_exclusive(&path) {
            Err(LockError::Held { .. }) if started.elapsed() < PATIENCE => std::thread::sleep(PAUSE),
            Err(held @ LockError::Held { .. }) => {
                return Err(Stop::new(Exit::Locked, format!("another landing is at work: {held}"))
                    .hint("agentgate status says which jobs are kept; land again when the other has ended")
                    .into());
            }
            lock => return lock.map_err(Into::into),
        }
    }
}

/// Moves the branch and then the files of the place where it is checked out.
fn advance(checkout: &Checkout, place: Option<&Path>, target: &str, old: Oid, commit: Oid, id: &str) -> Result<()> {
    let repo = &checkout.repo;
    let before = GitTree::of_commit(repo, old).map_err(crate::gate::GateError::from)?;
    let after = GitTree::of_commit(repo, commit).map_err(crate::gate::GateError::from)?;
    let changes = diff(&before, &after).map_err(crate::gate::GateError::from)?;
    must_not_be_rebased(checkout, target)?;
    // Where the branch is there already, all that is to come looks edited; git itself refuses to overwrite edits.
    let moves = repo.refname_to_id(target)? != commit;
    if let Some(place) = place {
        must_not_be_busy(place)?;
        if moves {
            must_not_be_in_the_way(&checkout.git, place, &changes)?;
        }
        must_be_writable(place, &changes)?;
        dry_run(&checkout.git, place, old, commit)?;
    }
    let saved = place.map(|place| Saved::of(place, &changes)).transpose()?;
    // From here on a signal must not leave the branch moved and the files not.
    signals::install().context("cannot catch signals")?;
    if moves {
        refs::compare_and_swap(repo, target, commit, old, &words(id))?;
    }
    let Some(saved) = saved else { return Ok(()) };
    let complaint = update(&checkout.git, &saved.place, old, commit, Run::Real);
    match complaint.unwrap_or_else(|error| Some(format!("{error:#}"))) {
        None => Ok(()),
        Some(words) => Err(undo(checkout, saved, target, old, commit, &words)),
    }
}

/// Brings files and then the branch back after git failed half way: while the branch is at the
/// candidate no other landing begins on these files.
fn undo(checkout: &Checkout, saved: Saved, target: &str, old: Oid, commit: Oid, words: &str) -> anyhow::Error {
    let place = saved.place.clone();
    // git says these before it touches a file: what differs by now is a person's newer edit.
    let is_refusal = [
        "index.lock",
        "Cannot merge",
        "would be overwritten",
        "would lose untracked",
    ]
    .iter()
    .any(|said| words.contains(said));
    let left = if is_refusal { Vec::new() } else { saved.put_back() };
    refresh(&checkout.git, &place);
    let back = refs::compare_and_swap(&checkout.repo, target, old, commit, "agentgate land: undone");
    if is_refusal && back.is_ok() {
        return in_the_way(&place, words);
    }
    let mut message = format!("git could not update {}: {words}", place.display());
    match (&back, left.is_empty()) {
        (Ok(()), true) => message.push_str("\nthe branch and the files are as they were"),
        (Ok(()), false) => message.push_str(&format!("\n{} is at {old} again", short(target))),
        (Err(error), _) => message.push_str(&format!(
            "\n{} could not be moved back to {old} and is at {commit}, or where somebody else moved it: {error:#}",
            short(target)
        )),
    }
    let mut stop = Stop::new(Exit::Internal, String::new());
    if left.is_empty() {
        stop = stop.hint("repair what git complains about, then land again");
    } else {
        let shown: Vec<String> = left.iter().map(|path| path.escape_ascii().to_string()).collect();
        message.push_str(&format!(
            "\nthese could not be put back and may be half written:\n{}",
            shown.join("\n")
        ));
        let paths: Vec<String> = left
            .iter()
            .map(|path| shell(Path::new(OsStr::from_bytes(path))))
            .collect();
        let place = shell(&place);
        stop = stop
            .hint(format!("git -C {place} checkout --force {old} -- {}", paths.join(" ")))
            .hint(format!(
                "or take them from where they were saved: {}",
                saved.keep().display()
            ));
    }
    stop.message = message;
    stop.into()
}

/// The files of a checkout that cannot be found would be left behind.
fn unknown_place(checkout: &Checkout, target: &str, id: &str) -> Stop {
    Stop::new(
        Exit::WrongState,
        format!(
            "{} is checked out in the main checkout, and {} does not say where that is",
            short(target),
            checkout.common.display()
        ),
    )
    .hint(format!(
        "cd into the main checkout, then: agentgate land {} --onto {}",
        shell_words::quote(id),
        shell_words::quote(short(target))
    ))
}

fn moved(
    repo: &git2::Repository,
    target: &str,
    old: Oid,
    commit: Oid,
    owner: &Owner,
    created: &Created,
    id: &str,
) -> Stop {
    let target = short(target);
    let id = shell_words::quote(id);
    if repo.graph_descendant_of(old, commit).unwrap_or(false) {
        return Stop::new(
            Exit::TargetMoved,
            format!("{target} moved on, to {old}, and has the candidate in its history already"),
        )
        .hint(format!("nothing is left to land: agentgate drop {id}"));
    }
    let base = &created.base;
    let branch = shell_words::quote(target);
    if repo.graph_descendant_of(commit, old).unwrap_or(false) {
        let stands_on = Oid::from_str(base).unwrap_or(commit);
        let unjudged = repo.graph_ahead_behind(stands_on, old).map_or(0, |(ahead, _)| ahead);
        let commits = if unjudged == 1 { "commit" } else { "commits" };
        return Stop::new(
            Exit::TargetMoved,
            format!(
                "{target} is at {old}, the candidate stands on {base}: landing would bring {unjudged} {commits} along \
                 that nobody judged"
            ),
        )
        .hint(format!("judge them first: agentgate check --range {old}..{base}"))
        .hint(format!(
            "then, on {target}: git merge --ff-only {base}; agentgate land {id} --onto {branch}"
        ));
    }
    Stop::new(
        Exit::TargetMoved,
        format!("{target} moved since job {id} started: it is at {old}, the candidate stands on {base}"),
    )
    .hint(format!(
        "git -C {} rebase {target}, check it, and merge it by hand",
        shell(Path::new(owner.state.place().unwrap_or(&created.worktree))),
    ))
    .hint("or run the task again from the new base")
}

/// The candidate and its base.
fn kept_commit(owner: &Owner, created: &Created, id: &str) -> Result<(Oid, Oid)> {
    let state = &owner.state;
    let kept = state.ended == Some(Exit::Ok) && !state.landed && !state.dropped;
    match &state.commit {
        Some(commit) if kept => Ok((Oid::from_str(commit)?, Oid::from_str(&created.base)?)),
        _ => {
            let stop = Stop::new(
                Exit::WrongState,
                format!("job {id} cannot be landed: {}", drop::words(state)),
            );
            let quoted = shell_words::quote(id);
            Err(match drop::waits(state) {
                true => stop.hint(drop::answers("agentgate", id)),
                false => stop.hint(format!("agentgate log {quoted} shows what it did")),
            }
            .into())
        }
    }
}

fn target_ref(checkout: &Checkout, created: &Created, onto: Option<&str>, id: &str) -> Result<String> {
    let name = match onto {
        Some(branch) if branch.starts_with("refs/heads/") => branch.to_owned(),
        Some(branch) => format!("refs/heads/{branch}"),
        None => created.target.clone().ok_or_else(|| {
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

#[derive(Clone, Copy, PartialEq, Eq)]
enum Run {
    Dry,
    Real,
}

fn dry_run(git: &Git, place: &Path, old: Oid, new: Oid) -> Result<()> {
    refresh(git, place);
    match update(git, place, old, new, Run::Dry)? {
        None => Ok(()),
        Some(words) => Err(in_the_way(place, &words)),
    }
}

/// Where a branch was before a landing of this job that was killed had moved it, by the branch's own log.
fn moved_by_us(repo: &git2::Repository, target: &str, commit: Oid, id: &str) -> Option<Oid> {
    let log = repo.reflog(target).ok()?;
    let last = log.get(0)?;
    let is_ours = last.id_new() == commit && last.message().ok().flatten() == Some(&*words(id));
    is_ours.then(|| last.id_old())
}

/// What the branch's log says of a landing.
pub fn words(id: &str) -> String {
    format!("agentgate land {id}")
}

/// Whether the index of a checkout is that of a commit.
fn is_at(git: &Git, place: &Path, commit: Oid) -> Result<bool> {
    let asked = ["diff-index", "--cached", "--quiet", "--ignore-submodules=none"];
    let outcome = git.at(place).args(asked).arg(commit.to_string()).outcome()?;
    Ok(outcome.success())
}

/// A file that was only touched must not count as edited.
fn refresh(git: &Git, place: &Path) {
    // Best effort: what is not refreshed is refused as edited.
    let _ = git
        .at(place)
        .env("GIT_OPTIONAL_LOCKS", "1")
        .args(["update-index", "-q", "--refresh"])
        .outcome();
}

/// A two-way merge of index and files: a person's other edits survive, and git refuses to
/// overwrite what it does not know. Gives git's words where it failed.
fn update(git: &Git, place: &Path, old: Oid, new: Oid, run: Run) -> Result<Option<String>> {
    let mut call = git.at(place).args(["read-tree", "-m", "-u"]);
    if run == Run::Dry {
        call = call.arg("-n");
    }
    let outcome = call
        .arg(old.to_string())
        .arg(new.to_string())
        .outcome()
        .context("git read-tree")?;
    Ok((!outcome.success()).then(|| first_lines(&outcome.stderr)))
}

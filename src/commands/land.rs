//! `agentgate land`: a kept job's candidate onto its branch, fast-forward only.
//!
//! Runs nothing the candidate brought: hooks are off for the checkout update, and the branch moves
//! by compare-and-swap. No clone lock is taken: a running job does not care which branch moves.

use std::collections::{BTreeSet, HashSet};
use std::ffi::OsStr;
use std::fs::Metadata;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use git2::Oid;
use tempfile::TempDir;

use super::remains::{self, CheckedOut, Edits, checked_out_at};
use super::{Surroundings, drop};
use crate::exit::{Exit, Stop};
use crate::files;
use crate::gate::tree::{Change, diff};
use crate::git::program::{Git, first_lines};
use crate::git::refs;
use crate::git::repo::{Checkout, dirt_of, under_way};
use crate::git::shell;
use crate::git::tree::GitTree;
use crate::job::{Created, Event};
use crate::process::signals;
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

/// Lands job `id` on `onto`, or on the branch HEAD pointed at when the job started. A branch that
/// is at the candidate already (a person merged it) needs no move.
pub fn land(surroundings: &Surroundings, id: &str, onto: Option<&str>) -> Result<Report> {
    let checkout = surroundings.checkout()?;
    let (mut owner, created) = drop::own(&Store::of(&checkout.common), id)?;
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
        return Err(moved(repo, &target, old, commit, &created, id).into());
    }
    let remains = remains::of(&checkout, &owner.state, &created, id);
    remains.must_be_removable(&checkout, &owner.state, &created, id, Edits::Refuse)?;
    let place = match checked_out_at(&checkout, &target)? {
        CheckedOut::At(place) => Some(place).filter(|place| moves && place.is_dir()),
        CheckedOut::MainUnknown if moves => return Err(unknown_place(&checkout, &target, id).into()),
        _ => None,
    };
    if moves {
        advance(&checkout, place.as_deref(), &target, old, commit, id)?;
    }
    owner.append(&Event::Landed {
        commit: commit.to_string(),
        target: target.clone(),
        old: old.to_string(),
    })?;
    let notices = drop::remove(&checkout, &owner, &created, &remains, id)?;
    Ok(Report {
        job_id: id.to_owned(),
        commit: commit.to_string(),
        target,
        old: old.to_string(),
        checkout: place,
        notices,
    })
}

/// Moves the branch and then the files of the place where it is checked out.
fn advance(checkout: &Checkout, place: Option<&Path>, target: &str, old: Oid, commit: Oid, id: &str) -> Result<()> {
    let repo = &checkout.repo;
    let before = GitTree::of_commit(repo, old).map_err(crate::gate::GateError::from)?;
    let after = GitTree::of_commit(repo, commit).map_err(crate::gate::GateError::from)?;
    let changes = diff(&before, &after).map_err(crate::gate::GateError::from)?;
    must_not_be_rebased(checkout, target)?;
    if let Some(place) = place {
        must_not_be_busy(place)?;
        must_not_be_in_the_way(&checkout.git, place, &changes)?;
        must_be_writable(place, &changes)?;
        dry_run(&checkout.git, place, old, commit)?;
    }
    let saved = place.map(|place| Saved::of(place, &changes)).transpose()?;
    // From here on a signal must not leave the branch moved and the files not.
    signals::install().context("cannot catch signals")?;
    refs::compare_and_swap(repo, target, commit, old, &format!("agentgate land {id}"))?;
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

/// What stood at a path that a landing touches.
enum Was {
    Absent,
    Folder,
    /// A file or link: the copy, and how the original looked.
    File(PathBuf, Metadata),
}

/// The touched paths of a checkout as they were. git could bring them back only through the filters
/// that may be what failed.
struct Saved {
    place: PathBuf,
    copies: TempDir,
    paths: Vec<(Vec<u8>, Was)>,
    /// Folders that were not there.
    missing: BTreeSet<PathBuf>,
}

impl Saved {
    fn of(place: &Path, changes: &[Change]) -> Result<Saved> {
        let git_dir = git2::Repository::open(place)
            .with_context(|| format!("cannot open {}", place.display()))?
            .path()
            .to_owned();
        let copies = tempfile::Builder::new()
            .prefix("agentgate-landing-")
            .tempdir_in(&git_dir)
            .with_context(|| format!("cannot make a folder in {}", git_dir.display()))?;
        let mut paths = Vec::new();
        let mut missing = BTreeSet::new();
        for (number, change) in changes.iter().enumerate() {
            let at = place.join(OsStr::from_bytes(&change.path));
            let absent: Vec<&Path> = folders(place, &at).filter(|folder| !is_folder(folder)).collect();
            let was = match at.symlink_metadata() {
                _ if !absent.is_empty() => Was::Absent,
                Ok(meta) if meta.is_dir() => Was::Folder,
                Ok(meta) => {
                    let copy = copies.path().join(number.to_string());
                    copy_entry(&at, &copy).with_context(|| format!("cannot save {}", at.display()))?;
                    Was::File(copy, meta)
                }
                Err(error) if error.kind() == std::io::ErrorKind::NotFound => Was::Absent,
                Err(error) => return Err(error).with_context(|| format!("cannot read {}", at.display())),
            };
            missing.extend(absent.into_iter().map(Path::to_owned));
            paths.push((change.path.clone(), was));
        }
        Ok(Saved {
            place: place.to_owned(),
            copies,
            paths,
            missing,
        })
    }

    /// Puts back what differs; gives the paths where that failed.
    fn put_back(&self) -> Vec<Vec<u8>> {
        let at = |path: &[u8]| self.place.join(OsStr::from_bytes(path));
        let mut left = Vec::new();
        for (path, was) in &self.paths {
            let at = at(path);
            let is_new = !matches!(was, Was::File(..))
                // Through a link it would be somebody else's file.
                && folders(&self.place, &at).all(is_folder)
                && at.symlink_metadata().is_ok_and(|meta| !meta.is_dir());
            if is_new && std::fs::remove_file(&at).is_err() {
                left.push(path.clone());
            }
        }
        for folder in self.missing.iter().rev().filter(|folder| is_folder(folder)) {
            // What a person put there in the meantime keeps it.
            let _ = std::fs::remove_dir(folder);
        }
        for (path, was) in &self.paths {
            let at = at(path);
            let done = match was {
                Was::Absent => Ok(()),
                Was::Folder if is_folder(&at) => Ok(()),
                Was::Folder => std::fs::create_dir_all(&at),
                Was::File(_, before) if at.symlink_metadata().is_ok_and(|now| is_same(before, &now)) => Ok(()),
                Was::File(copy, _) => put(copy, &at),
            };
            if done.is_err() && !left.contains(path) {
                left.push(path.clone());
            }
        }
        left
    }

    /// Leaves the copies where they are.
    fn keep(self) -> PathBuf {
        self.copies.keep()
    }
}

/// The folders above a path, below the checkout's top, outermost last.
fn folders<'a>(place: &'a Path, at: &'a Path) -> impl Iterator<Item = &'a Path> {
    at.ancestors().skip(1).take_while(move |folder| *folder != place)
}

fn is_folder(path: &Path) -> bool {
    path.symlink_metadata().is_ok_and(|meta| meta.is_dir())
}

fn is_same(before: &Metadata, now: &Metadata) -> bool {
    let key = |meta: &Metadata| {
        (
            meta.dev(),
            meta.ino(),
            meta.mode(),
            meta.size(),
            meta.mtime(),
            meta.mtime_nsec(),
        )
    };
    key(before) == key(now)
}

fn put(copy: &Path, at: &Path) -> std::io::Result<()> {
    if let Some(folder) = at.parent() {
        std::fs::create_dir_all(folder)?;
    }
    match std::fs::rename(copy, at) {
        // The git dir may lie on another disk.
        Err(error) if error.kind() == std::io::ErrorKind::CrossesDevices => {
            if at.symlink_metadata().is_ok() {
                std::fs::remove_file(at)?;
            }
            copy_entry(copy, at)
        }
        done => done,
    }
}

fn copy_entry(from: &Path, to: &Path) -> std::io::Result<()> {
    if from.symlink_metadata()?.is_symlink() {
        return std::os::unix::fs::symlink(std::fs::read_link(from)?, to);
    }
    std::fs::copy(from, to)?;
    Ok(())
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

fn moved(repo: &git2::Repository, target: &str, old: Oid, commit: Oid, created: &Created, id: &str) -> Stop {
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
        shell(Path::new(&created.worktree)),
    ))
    .hint("or run the task again from the new base")
}

/// The candidate and its base.
fn kept_commit(owner: &Owner, created: &Created, id: &str) -> Result<(Oid, Oid)> {
    let state = &owner.state;
    let kept = state.ended == Some(Exit::Ok) && !state.landed && !state.dropped;
    match &state.commit {
        Some(commit) if kept => Ok((Oid::from_str(commit)?, Oid::from_str(&created.base)?)),
        _ => Err(Stop::new(
            Exit::WrongState,
            format!("job {id} cannot be landed: {}", drop::words(state)),
        )
        .hint(format!("agentgate log {} shows what it did", shell_words::quote(id)))
        .into()),
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

/// Exit 12 in the middle of a merge and the like: its commit would not be the one that was meant.
fn must_not_be_busy(place: &Path) -> Result<()> {
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
fn must_not_be_rebased(checkout: &Checkout, target: &str) -> Result<()> {
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
fn must_not_be_in_the_way(git: &Git, place: &Path, changes: &[Change]) -> Result<()> {
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
fn must_be_writable(place: &Path, changes: &[Change]) -> Result<()> {
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
    refresh(git, place);
    match update(git, place, old, new, Run::Dry)? {
        None => Ok(()),
        Some(words) => Err(in_the_way(place, &words)),
    }
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

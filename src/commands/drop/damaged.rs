//! The worktree of a job whose log is damaged: nobody goes on with such a job, and its worktree would stay for ever.
//!
//! Invariants: the record is not written to and nothing of it is believed but the lines before the damage, which are
//! chained; what is deleted is proved to be the job's by other means: its place, the mark in the registration that only
//! agentgate writes, and the pointer in the folder itself. Whoever holds the job's lock keeps all of it.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result};

use super::{Report, logins};
use crate::commands::{Surroundings, remains};
use crate::exit::{Exit, Stop};
use crate::files;
use crate::git::places::Places;
use crate::git::refs;
use crate::git::repo::Checkout;
use crate::git::shell;
use crate::git::worktree::{self, Standing, Worktree};
use crate::job::log::{self, Damaged};
use crate::job::machine::{self, State};
use crate::lock::{FileLock, LockError};
use crate::process;
use crate::store::{EVENTS, Folder, OWNER_LOCK, Store};

/// Deletes worktree and private folder of such a job; none where its log is not damaged.
///
/// # Errors
/// Exit 13 while a process has the job, 23 where a person locked the worktree or nothing is left that could be proved
/// to be the job's.
pub(super) fn drop_worktree(
    surroundings: &Surroundings,
    checkout: &Checkout,
    store: &Store,
    id: &str,
) -> Result<Option<Report>> {
    let Some(folder) = store.find(id)? else { return Ok(None) };
    let Some(damage) = folder.log().err().and_then(|error| what_is_wrong(&error)) else {
        return Ok(None);
    };
    let _alone = lock(&folder)?;
    let state = before_the_damage(&folder);
    let (ours, others) = places(checkout, &state, id);
    let mut notices = vec![format!("{damage}; its record was left as it is")];
    for other in &others {
        notices.push(format!(
            "{} is not where worktrees of job {id} are made; it is left alone",
            other.display()
        ));
    }
    let mut has_removed = false;
    for (places, worktree) in &ours {
        if let Some(reason) = worktree.as_ref().and_then(|worktree| worktree.locked_by_person(id)) {
            let path = worktree
                .as_ref()
                .map(|worktree| worktree.path.clone())
                .unwrap_or_default();
            return Err(Stop::new(
                Exit::WrongState,
                format!("{} is locked by a person: {reason}", path.display()),
            )
            .hint(format!("git worktree unlock {}", shell(&path)))
            .into());
        }
        let ended = process::end_marked(&places.mark())?;
        if ended > 0 {
            notices.push(format!(
                "processes of the job that were still at work were ended: {ended}"
            ));
        }
        if let Some(created) = state
            .created
            .as_ref()
            .filter(|created| Path::new(&created.private) == places.private)
        {
            notices.extend(logins(surroundings, checkout, &folder, &state, created));
        }
        if let Some(worktree) = worktree {
            has_removed = true;
            notices.extend(remove(worktree, places, id)?);
        }
        if places.private.symlink_metadata().is_ok_and(|meta| meta.is_dir()) {
            has_removed = true;
            files::remove_tree(&places.private)
                .with_context(|| format!("cannot remove {}", places.private.display()))?;
            notices.push(format!("deleted: {}", places.private.display()));
        }
        for empty in [
            places.private.parent(),
            Some(places.trash.as_path()),
            Some(places.root.as_path()),
        ] {
            let _ = empty.map(std::fs::remove_dir);
        }
    }
    if !has_removed {
        let what = format!("job {id} has nothing to drop: {damage}, and nothing else of it is left");
        return Err(Stop::new(Exit::WrongState, what)
            .hint(format!("the record stays: {}", shell(&folder.path)))
            .into());
    }
    if checkout.repo.find_reference(&refs::branch(id)).is_ok() {
        notices.push(format!(
            "the branch agent/{id} stays: nobody can tell whether it is the job's any more"
        ));
    }
    Ok(Some(Report {
        job_id: id.to_owned(),
        record: folder.path,
        notices,
    }))
}

/// In a few words; none where another version of agentgate, or another try, may read it.
fn what_is_wrong(error: &anyhow::Error) -> Option<String> {
    let is_missing = |error: &std::io::Error| error.kind() == std::io::ErrorKind::NotFound;
    match (error.downcast_ref::<Damaged>(), error.downcast_ref::<std::io::Error>()) {
        (Some(damaged), _) => Some(damaged.to_string()),
        (_, Some(error)) if is_missing(error) => Some("its event log is not there".to_owned()),
        _ => None,
    }
}

/// Takes the job's lock for as long as this lasts.
fn lock(folder: &Folder) -> Result<FileLock> {
    let path = folder.path.join(OWNER_LOCK);
    if !path.symlink_metadata().is_ok_and(|meta| meta.is_file()) {
        let stop = format!(
            "{OWNER_LOCK} of job {} is not there, so nobody can tell who has the job",
            folder.id
        );
        return Err(Stop::new(Exit::WrongState, stop).hint("nothing was changed").into());
    }
    match FileLock::try_exclusive(&path) {
        Ok(lock) => Ok(lock),
        Err(LockError::Held { .. }) => Err(Stop::new(
            Exit::Locked,
            format!("job {} is being worked on by another process", folder.id),
        )
        .hint("agentgate status shows the holder")
        .into()),
        Err(error) => Err(error.into()),
    }
}

/// What the lines before the damage say.
fn before_the_damage(folder: &Folder) -> State {
    let bytes = std::fs::read(folder.path.join(EVENTS)).unwrap_or_default();
    let Err(damage) = log::decode(&bytes) else {
        // It is whole, and another job's.
        return State::default();
    };
    let whole = usize::try_from(damage.line).unwrap_or(1).saturating_sub(1);
    let lines = bytes.split_inclusive(|&byte| byte == b'\n').take(whole);
    let log = log::decode(&lines.flatten().copied().collect::<Vec<u8>>()).unwrap_or_default();
    let is_own = |line: &&log::Line| line.json.get("job").and_then(|job| job.as_str()) == Some(&folder.id);
    let events = log
        .lines
        .iter()
        .take_while(is_own)
        .filter_map(|line| line.event.as_ref());
    events.fold(State::default(), machine::fold)
}

/// The places of the job, each with the worktree that is registered there; and where else there are registrations
/// of it, which a person must have moved.
type Found = (Vec<(Places, Option<Worktree>)>, Vec<PathBuf>);

fn places(checkout: &Checkout, state: &State, id: &str) -> Found {
    let (mut ours, mut others) = (Vec::new(), Vec::new());
    for worktree in worktree::of_job(&checkout.common, id) {
        let name = worktree
            .path
            .file_name()
            .and_then(|name| name.to_str())
            .unwrap_or_default();
        let is_own_name = name
            .strip_prefix(id)
            .is_some_and(|rest| rest.is_empty() || rest.starts_with('~'));
        match worktree.path.parent() {
            Some(root) if is_own_name => ours.push((Places::of(root, id), Some(worktree))),
            _ => others.push(worktree.path),
        }
    }
    let recorded = state.created.as_ref().and_then(|created| {
        let root = Path::new(&created.worktree).parent()?;
        let is_here = Path::new(&created.clone) == checkout.clone;
        Some(Places::of(root, id)).filter(|places| is_here && places.private == Path::new(&created.private))
    });
    // Where the log does not say, they are where they are made unless something else was chosen.
    let unsaid = state
        .created
        .is_none()
        .then(|| Places::beside(&checkout.common, id))
        .flatten();
    let unsaid = unsaid.filter(|places| places.private.symlink_metadata().is_ok());
    if let Some(places) = recorded.or(unsaid)
        && !ours.iter().any(|(there, _): &(Places, _)| there.root == places.root)
    {
        ours.push((places, None));
    }
    (ours, others)
}

/// Removes folder and registration, or only the registration where the folder is somebody else's by now.
fn remove(worktree: &Worktree, places: &Places, id: &str) -> Result<Vec<String>> {
    let shown = worktree.path.display();
    Ok(match worktree.standing(&places.private.join("git")) {
        Standing::Foreign => {
            worktree.forget()?;
            vec![format!(
                "{shown} is not the worktree that job {id} made any more; it is left alone"
            )]
        }
        Standing::Ours | Standing::Gone => {
            let left = worktree.remove(id, &places.trash)?;
            let name = worktree
                .path
                .file_name()
                .and_then(|name| name.to_str())
                .map(str::to_owned);
            remains::empty_trash(&places.trash, name.as_slice());
            left.into_iter().chain([format!("deleted: {shown}")]).collect()
        }
    })
}

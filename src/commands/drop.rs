//! `agentgate drop`: gives a kept job's worktree and branch up. The record stays.

mod damaged;

use std::path::{Path, PathBuf};

use anyhow::Result;
use git2::Oid;

use super::remains::{self, CheckedOut, Edits, Remains};
use super::{Surroundings, job_folder, run};
use crate::exit::{Exit, Stop};
use crate::files;
use crate::git::places::Places;
use crate::git::refs;
use crate::git::repo::Checkout;
use crate::job::log::Damaged;
use crate::job::machine::State;
use crate::job::{Created, Event};
use crate::lock::CloneLock;
use crate::process;
use crate::store::{Folder, NewerFormat, Owner, Store};

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

/// Drops job `id`: a kept one, one that died, or the worktree that `open` or a failure left.
pub fn drop_job(surroundings: &Surroundings, id: &str, edits: Edits) -> Result<Report> {
    let checkout = surroundings.checkout()?;
    let store = Store::of(&checkout.common);
    if let Some(report) = drop_unbegun(&checkout, &store, id)? {
        return Ok(report);
    }
    if edits == Edits::Discard
        && let Some(report) = damaged::drop_worktree(surroundings, &checkout, &store, id)?
    {
        return Ok(report);
    }
    let (mut owner, created) = own(&store, id)?;
    let record = owner.folder.path.clone();
    let left = if owner.state.ended.is_none() {
        // Its agentgate was killed: what is still at work there would write on while we delete.
        process::end_marked(&Path::new(&created.private).join("task/TASK.md"))?
    } else {
        0
    };
    // Of a job that is kept the branch is a person's too; of any other a lock is what a killed process left.
    if owner.state.ended != Some(Exit::Ok) || owner.state.landed || owner.state.dropped {
        refs::unlock(&checkout.repo, id)?;
        owner.folder.clear_temporary()?;
    }
    let remains = remains::of(&checkout, &owner.state, &created, id);
    remains.must_be_removable(&checkout, &owner.state, &created, id, edits)?;
    let state = &owner.state;
    let open = !state.landed && !state.dropped && matches!(state.ended, None | Some(Exit::Ok | Exit::NeedsHuman));
    // Killed on its way, an earlier drop or landing may have left any of them.
    let branch = state.commit.as_ref().is_some_and(|commit| {
        let at = checkout.repo.refname_to_id(&refs::branch(id));
        at.is_ok_and(|at| at.to_string() == *commit)
    });
    let private = Path::new(&created.private).symlink_metadata().is_ok();
    if !open && remains.is_empty() && !branch && !private {
        return Err(Stop::new(
            Exit::WrongState,
            format!("job {id} has nothing to drop: {}", words(state)),
        )
        .into());
    }
    let mut notices = match state.ended {
        None => logins(surroundings, &checkout, &owner.folder, state, &created),
        Some(_) => Vec::new(),
    };
    if open {
        let files = owner.closing()?;
        owner.append(&Event::Dropped { files })?;
    }
    notices.extend(remove(&checkout, &owner, &created, &remains, id)?);
    if left > 0 {
        notices.push(match left {
            1 => "1 process of the job that was still at work was ended".to_owned(),
            _ => format!("{left} processes of the job that were still at work were ended"),
        });
    }
    Ok(Report {
        job_id: id.to_owned(),
        record,
        notices,
    })
}

/// Brings back logins that the agent of a job that died had renewed, which are the only good ones then.
fn logins(
    surroundings: &Surroundings,
    checkout: &Checkout,
    folder: &Folder,
    state: &State,
    created: &Created,
) -> Vec<String> {
    run::settle_left_behind(surroundings, checkout, folder, state, created).unwrap_or_else(|error| {
        vec![format!(
            "logins that the killed agent may have renewed were not brought back: {error:#}"
        )]
    })
}

/// Frees the id of a job that was killed before its first event: it made nothing, and its record says nothing.
fn drop_unbegun(checkout: &Checkout, store: &Store, id: &str) -> Result<Option<Report>> {
    let Some(folder) = store.unbegun(id)? else {
        return Ok(None);
    };
    if let Some(who) = CloneLock::in_use(&checkout.common) {
        let stop = format!("job {id} has not begun, and {who}: it may be about to");
        return Err(Stop::new(Exit::Locked, stop)
            .hint("try again when that has ended")
            .into());
    }
    files::remove_tree(&folder.path)?;
    Ok(Some(Report {
        job_id: id.to_owned(),
        record: folder.path,
        notices: vec!["it had ended before it began, so there is no record; its id is free again".to_owned()],
    }))
}

/// Takes a job's ownership: 23 where there is none or its log cannot be read, 13 while another
/// owner lives.
pub fn own(store: &Store, id: &str) -> Result<(Owner, Created)> {
    owned(store, id, Store::own)
}

/// The same for whoever goes on with the job.
pub fn take(store: &Store, id: &str) -> Result<(Owner, Created)> {
    owned(store, id, Store::take)
}

fn owned(store: &Store, id: &str, how: fn(&Store, &str) -> Result<Option<Owner>>) -> Result<(Owner, Created)> {
    job_folder(store, id)?;
    let unreadable = |what: String| Stop::new(Exit::WrongState, what).hint("nothing was changed");
    let owner = how(store, id).map_err(|error| {
        let missing = error
            .downcast_ref::<std::io::Error>()
            .is_some_and(|error| error.kind() == std::io::ErrorKind::NotFound);
        if let Some(newer) = error.downcast_ref::<NewerFormat>() {
            unreadable(newer.to_string()).hint("use that version").into()
        } else if missing || error.downcast_ref::<Damaged>().is_some() {
            let stop = unreadable(format!("the record of job {id} cannot be read: {error:#}"));
            with_ways_out(stop, id).into()
        } else {
            error
        }
    })?;
    let owner = owner.ok_or_else(|| {
        Stop::new(Exit::Locked, format!("job {id} is being worked on by another process"))
            .hint("agentgate status shows the holder")
    })?;
    let created = owner.state.created.clone().ok_or_else(|| {
        unreadable(format!(
            "job {id} ended before it began: its log is empty, and it made nothing"
        ))
        .hint(format!("agentgate drop {} frees its id", shell_words::quote(id)))
    })?;
    Ok((owner, created))
}

/// What can be done about a job whose log is damaged.
pub fn with_ways_out(stop: Stop, id: &str) -> Stop {
    let id = shell_words::quote(id);
    stop.hint(format!("agentgate doctor --job {id} explains it"))
        .hint(format!(
            "agentgate drop --force {id} deletes its worktree, with all that is in there; the record stays"
        ))
}

/// Whether a job waits for a person.
pub fn waits(state: &State) -> bool {
    state.ended == Some(Exit::NeedsHuman) && !state.landed && !state.dropped
}

/// What such a person can type; `agentgate` is how that is typed here.
pub fn answers(agentgate: &str, id: &str) -> String {
    let id = shell_words::quote(id);
    format!("{agentgate} answer {id} --approve takes it as it is; --file ANSWER.md says what is to be done")
}

/// A job's state in a few words.
pub fn words(state: &State) -> String {
    match (state.ended, state.landed, state.dropped) {
        (_, true, _) => "it was landed".into(),
        (_, _, true) => "it was dropped".into(),
        (Some(Exit::Ok), ..) => "it is kept".into(),
        (Some(Exit::NeedsHuman), ..) => "it waits for a person".into(),
        (Some(exit), ..) => format!("it ended with {exit}"),
        (None, ..) => "it never finished".into(),
    }
}

/// A job's branch with a person's commits on top is theirs, unless another branch has them too.
fn delete_if_merged(checkout: &Checkout, name: &str) -> Result<bool> {
    let tip = checkout.repo.refname_to_id(name)?;
    Ok(refs::held_elsewhere(&checkout.repo, tip, name)? && refs::delete_if_at(&checkout.repo, name, tip)?)
}

/// Removes worktree, branch and private folder of a job, as far as they are its own.
pub fn remove(
    checkout: &Checkout,
    owner: &Owner,
    created: &Created,
    remains: &Remains,
    id: &str,
) -> Result<Vec<String>> {
    // Where the run was ended before it wrote its report, `resume` still does, and until then this file says so.
    if owner.state.landed || owner.state.dropped || !owner.closing()?.is_empty() {
        run::forget(&owner.folder.path);
    }
    let private = PathBuf::from(&created.private);
    let root = PathBuf::from(&created.worktree)
        .parent()
        .map(PathBuf::from)
        .unwrap_or_default();
    let places = Places::of(&root, id);
    let mut notices = remains.remove(id, &places.trash)?;
    if let Some(commit) = &owner.state.commit {
        let name = refs::branch(id);
        let place = match remains::checked_out_at(checkout, &name)? {
            CheckedOut::Nowhere => None,
            CheckedOut::At(place) => Some(place.display().to_string()),
            CheckedOut::MainUnknown => Some("the main checkout".to_owned()),
        };
        if let Some(place) = place {
            notices.push(format!("agent/{id} is checked out in {place}; it is left alone"));
        } else if !refs::delete_if_at(&checkout.repo, &name, Oid::from_str(commit)?)?
            && !delete_if_merged(checkout, &name)?
        {
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

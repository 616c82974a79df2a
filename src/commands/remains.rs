//! What a job left beside the clone, and what its removal would lose.
//!
//! Two things are never believed: that what stands at the recorded path is still the job's (a
//! person may have put a clone or a link there), and anything that an agent wrote into a git dir
//! (git run there would run its settings).

mod unsaved;

use std::path::{Path, PathBuf};

use anyhow::Result;

use crate::exit::{Exit, Stop};
use crate::files;
use crate::git::repo::Checkout;
use crate::git::shell;
use crate::git::worktree::{self, Standing, Worktree};
use crate::job::Created;
use crate::job::machine::State;
use unsaved::Unsaved;

pub use unsaved::remember_ignored;

/// What a person's edits in a job's worktree mean for its removal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Edits {
    /// They stop it (12).
    Refuse(Verb),
    /// `--force`: they go with it.
    Discard,
}

/// What the person had typed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verb {
    /// `drop`
    Drop,
    /// `land`
    Land,
    /// `answer`
    Answer,
}

/// What is left of a job's worktree.
#[derive(Clone, Debug)]
pub struct Remains {
    /// Where the worktree is or was.
    pub path: PathBuf,
    /// What stands there.
    pub standing: Standing,
    /// The registration, if the clone still has it.
    registered: Option<Worktree>,
    /// What a worktree of the job was called at any time.
    names: Vec<String>,
    /// The clone's common git dir.
    common: PathBuf,
}

/// Finds it by the clone's own registrations: the recorded admin folder, or the one that `open`
/// made for the same path.
pub fn of(checkout: &Checkout, state: &State, created: &Created, id: &str) -> Remains {
    let recorded = state.worktree.as_ref().map(|(_, admin)| PathBuf::from(admin));
    let listed = std::fs::read_dir(checkout.common.join("worktrees"))
        .into_iter()
        .flatten()
        .filter_map(Result::ok)
        .map(|entry| entry.path());
    let admins: Vec<PathBuf> = recorded.into_iter().chain(listed).collect();
    // Whoever goes on with a job removes what the last owner left before it makes a worktree of its own: there is
    // one at a time.
    let names = state.places.iter().map(|path| Path::new(path).file_name()?.to_str());
    let places = state.places.iter().rev();
    let mut found = places.flat_map(|path| {
        admins.iter().map(move |admin| Worktree {
            path: PathBuf::from(path),
            admin: admin.clone(),
        })
    });
    let registered = found.find(|worktree| worktree.is_ours(id));
    let path = match &registered {
        Some(worktree) => worktree.path.clone(),
        None => PathBuf::from(state.place().unwrap_or(&created.worktree)),
    };
    let standing = match &registered {
        Some(worktree) => worktree.standing(&Path::new(&created.private).join("git")),
        None if path.symlink_metadata().is_err() => Standing::Gone,
        None => Standing::Foreign,
    };
    Remains {
        path,
        standing,
        registered,
        names: names.flatten().map(str::to_owned).collect(),
        common: checkout.common.clone(),
    }
}

/// Deletes what was moved to the trash under one of these names by somebody who was killed over it.
pub(super) fn empty_trash(trash: &Path, names: &[String]) {
    for entry in std::fs::read_dir(trash).into_iter().flatten().flatten() {
        let name = entry.file_name();
        let is_ours = files::trashed(&name).is_some_and(|was| names.iter().any(|name| name == was));
        // Best effort, as the first deletion was.
        if is_ours && let Err(_left) = files::remove_tree(&entry.path()) {}
    }
}

/// Where a branch is checked out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CheckedOut {
    /// In no checkout.
    Nowhere,
    /// In this one, which may be absent: on a disk that is not mounted.
    At(PathBuf),
    /// In the main checkout, whose place the git dir does not name.
    MainUnknown,
}

/// Where a branch is checked out: git allows one place.
pub fn checked_out_at(checkout: &Checkout, branch: &str) -> Result<CheckedOut> {
    let listed = worktree::list(&checkout.git, &checkout.common)?;
    let found = listed
        .into_iter()
        .enumerate()
        .find(|(_, one)| !one.bare && one.branch.as_deref() == Some(branch));
    Ok(match (found, &checkout.main) {
        (None, _) => CheckedOut::Nowhere,
        // git names the git dir here where that lies apart from the checkout, as a submodule's does.
        (Some((0, _)), Some(main)) => CheckedOut::At(main.clone()),
        (Some((0, _)), None) => CheckedOut::MainUnknown,
        (Some((_, linked)), _) => CheckedOut::At(linked.path),
    })
}

impl Remains {
    /// Neither folder nor registration is there.
    pub fn is_empty(&self) -> bool {
        self.registered.is_none()
    }

    /// Removes folder and registration, or only the registration where the folder is not ours.
    pub fn remove(&self, id: &str, trash: &Path) -> Result<Vec<String>> {
        let mut notices = Vec::new();
        empty_trash(trash, &self.names);
        worktree::forget_the_rest(&self.common)?;
        match (&self.registered, self.standing) {
            (Some(worktree), Standing::Ours | Standing::Gone) => notices.extend(worktree.remove(id, trash)?),
            (registered, standing) => {
                if let Some(worktree) = registered {
                    worktree.forget()?;
                }
                if standing == Standing::Foreign {
                    notices.push(format!(
                        "{} is not the worktree that job {id} made any more; it is left alone",
                        self.path.display()
                    ));
                }
            }
        }
        Ok(notices)
    }

    /// The registration, if the clone still has it.
    pub fn worktree(&self) -> Option<&Worktree> {
        self.registered.as_ref()
    }

    /// Why a person locked it, if one did.
    pub fn locked_by_person(&self, id: &str) -> Option<String> {
        self.registered.as_ref()?.locked_by_person(id)
    }

    /// Removes the registration of a worktree that somebody deleted.
    pub fn forget_if_gone(&self) -> Result<()> {
        match (&self.registered, self.standing) {
            (Some(worktree), Standing::Gone) => worktree.forget(),
            _ => Ok(()),
        }
    }

    /// Refuses what a removal would lose: edits that are not in the record (12), commits beyond
    /// it (20), a lock that a person set (23). A landing is not held up by files that git ignores: where there are
    /// any, they come back, and the worktree must stay.
    pub fn must_be_removable(
        &self,
        checkout: &Checkout,
        state: &State,
        created: &Created,
        id: &str,
        edits: Edits,
    ) -> Result<Vec<Vec<u8>>> {
        let Some(worktree) = &self.registered else {
            return Ok(Vec::new());
        };
        if let Some(reason) = worktree.locked_by_person(id) {
            return Err(Stop::new(
                Exit::WrongState,
                format!("{} is locked by a person: {reason}", self.path.display()),
            )
            .hint(format!("git worktree unlock {}", shell(&self.path)))
            .into());
        }
        // Before the worktree was recorded no agent had started: what is there is git's own.
        let is_fresh = state.worktree.is_none() && state.ended.is_none() && state.owners < 2;
        let Edits::Refuse(verb) = edits else {
            return Ok(Vec::new());
        };
        if self.standing != Standing::Ours || is_fresh {
            return Ok(Vec::new());
        }
        // The agent's git dir must not be read by the program that would run its settings.
        worktree.restore_git_file()?;
        let unsaved = Unsaved::of(checkout, worktree, state, created, id)?;
        unsaved.refuse(verb, id)?;
        Ok(unsaved.ignored)
    }
}

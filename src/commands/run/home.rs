//! The job's own home: made before its agent starts, its logins settled after the end.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result};

use super::inputs::rules_of;
use super::prepare::Job;
use super::request::Request;
use crate::agent::effective::Effective;
use crate::agent::home::{Home, LoginError, Person, Wishes};
use crate::commands::Surroundings;
use crate::commands::implementer::Chosen;
use crate::exit::{Exit, Stop};
use crate::git::repo::Checkout;
use crate::git::settings::persons_config;
use crate::git::worktree::Worktree;
use crate::job::Created;
use crate::job::machine::State;
use crate::job::role::Role;
use crate::store::Folder;

impl Job {
    /// Makes the private home of this job.
    ///
    /// # Errors
    /// Exit 64 where a file that was asked for cannot be copied.
    pub(super) fn make_home(&mut self, worktree: &Worktree, effective: &Effective) -> Result<Home> {
        let git = persons_config(&self.checkout)?;
        let home_files = home_files(&self.surroundings, effective);
        let wishes = Wishes {
            job: &self.owner.folder.id,
            worktree: &worktree.path,
            home_files: &home_files,
            git: &git,
        };
        let person = Person {
            vars: &self.surroundings.vars,
        };
        let mut home = Home::make(&self.places.private, person, &wishes).map_err(|error| {
            match error.downcast_ref::<LoginError>() {
                Some(refused) => Stop::new(Exit::Usage, refused.to_string())
                    .hint("home_files takes single regular files of your home, copied into the agent's")
                    .into(),
                None => error,
            }
        })?;
        self.notices.append(&mut home.notices);
        Ok(home)
    }

    /// Brings renewed logins back. Called when nothing of the agent is left, however it ended.
    pub(super) fn settle_home(&mut self, home: &mut Home) {
        if let Some(lock) = login_lock(&self.surroundings) {
            self.notices.extend(home.settle(&lock));
        }
    }
}

/// The files that the person lets in, and the profile's logins that are there: nobody asked for those, so
/// that one is missing, or a link, is no news.
pub(super) fn home_files(surroundings: &Surroundings, effective: &Effective) -> Vec<PathBuf> {
    let is_file = |below: &&String| {
        let real = surroundings.home().map(|home| home.join(below));
        real.is_some_and(|real| real.symlink_metadata().is_ok_and(|meta| meta.is_file()))
    };
    let logins = effective.logins.iter().filter(is_file);
    let logins = logins.filter(|login| !effective.home_files.contains(login));
    effective.home_files.iter().chain(logins).map(PathBuf::from).collect()
}

/// Brings back what the agent of a job that is given up had renewed: its process is gone, and its home goes. What
/// is worth telling comes back.
///
/// # Errors
/// It cannot be told which files these are: the record or the settings cannot be read.
pub fn settle_left_behind(
    here: &Surroundings,
    checkout: &Checkout,
    folder: &Folder,
    state: &State,
    created: &Created,
) -> Result<Vec<String>> {
    let private = Path::new(&created.private);
    if !private.join("home").is_dir() {
        return Ok(Vec::new());
    }
    let request = Request::read(folder)?.context("its record does not say which agent it had")?;
    let surroundings = request.surroundings(here);
    let options = request.options(&folder.id);
    let person = surroundings.person()?;
    let base = git2::Oid::from_str(&created.base).context("the base's id")?;
    let (_, settings) = rules_of(checkout, base, None, &person)?;
    let chosen = Chosen {
        asked: &options.asked,
        task: &options.task,
        task_timeout: None,
        repository: &settings,
        person: &person,
    };
    let role = state.progress.calling.as_ref().map(|call| call.role);
    let effective = match role {
        None | Some(Role::Implementer) => chosen.effective(&surroundings)?,
        Some(role) => chosen.effective_of(role, &surroundings)?,
    };
    let files = home_files(&surroundings, &effective);
    let person = Person {
        vars: &surroundings.vars,
    };
    let mut home = Home::left_behind(private, person, &files);
    let lock = login_lock(&surroundings).context("no folder for the lock that jobs share")?;
    Ok(home.settle(&lock))
}

/// One for all clones of the person: they share the logins.
pub fn login_lock(surroundings: &Surroundings) -> Option<PathBuf> {
    Some(surroundings.state_home()?.join("agentgate/logins.lock"))
}

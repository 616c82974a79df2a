//! The job's own home: made before its agent starts, its logins settled after the end.

use std::path::PathBuf;

use anyhow::Result;

use super::prepare::Job;
use crate::agent::effective::Effective;
use crate::agent::home::{Home, LoginError, Person, Wishes};
use crate::commands::Surroundings;
use crate::exit::{Exit, Stop};
use crate::git::settings::persons_config;
use crate::git::worktree::Worktree;

impl Job {
    /// Makes the private home of this job.
    ///
    /// # Errors
    /// Exit 64 where a file that was asked for cannot be copied.
    pub(super) fn make_home(&mut self, worktree: &Worktree, effective: &Effective) -> Result<Home> {
        let git = persons_config(&self.checkout)?;
        let home_files = self.home_files(effective);
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

    /// The files that the person lets in, and the profile's logins that are there: nobody asked for those, so
    /// that one is missing, or a link, is no news.
    pub(super) fn home_files(&self, effective: &Effective) -> Vec<PathBuf> {
        let is_file = |below: &&String| {
            let real = self.surroundings.home().map(|home| home.join(below));
            real.is_some_and(|real| real.symlink_metadata().is_ok_and(|meta| meta.is_file()))
        };
        let logins = effective.logins.iter().filter(is_file);
        let logins = logins.filter(|login| !effective.home_files.contains(login));
        effective.home_files.iter().chain(logins).map(PathBuf::from).collect()
    }

    /// Brings renewed logins back. Called when nothing of the agent is left, however it ended.
    pub(super) fn settle_home(&mut self, home: &mut Home) {
        if let Some(lock) = login_lock(&self.surroundings) {
            self.notices.extend(home.settle(&lock));
        }
    }
}

/// One for all clones of the person: they share the logins.
pub fn login_lock(surroundings: &Surroundings) -> Option<PathBuf> {
    Some(surroundings.state_home()?.join("agentgate/logins.lock"))
}

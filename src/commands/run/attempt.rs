//! What an agent had done when its owner was killed: saved as a patch, and its renewed logins brought back, before
//! its worktree and its home are deleted.
//!
//! Invariant: none of it gets into the candidate, and a failure here keeps no job from going on.

use anyhow::{Context, Result};

use super::prepare::Job;
use crate::agent::home::{Home, Person};
use crate::commands::remains::{self, Remains};
use crate::exit::Stop;
use crate::gate::{self, GateError};
use crate::git::evidence;
use crate::git::from_git2;
use crate::git::settings::ContentSettings;
use crate::git::snapshot::Stage;
use crate::git::tree::GitTree;
use crate::git::worktree::{Standing, Worktree};
use crate::job::FileRef;
use crate::job::role::Role;

use super::steps::SAVED_INDEX;

impl Job {
    /// Saves what is there of a step that was under way, and says what for.
    pub(super) fn save_attempt(&mut self, epoch: u64) -> Option<FileRef> {
        let state = &self.owner.state;
        let writes = state.progress.calling.as_ref().is_some_and(|call| call.role.writes());
        if !writes || state.agent.is_some() || state.frozen.is_some() {
            return None;
        }
        let id = self.owner.folder.id.clone();
        let remains = remains::of(&self.checkout, state, &self.created, &id);
        match self.patch_of(&remains) {
            Ok(None) => None,
            Ok(Some(patch)) => {
                let name = format!("attempt-{}.patch", epoch.saturating_sub(1));
                let saved = self.owner.folder.save(&name, &patch);
                let file =
                    saved.inspect_err(|error| self.notices.push(format!("{name} could not be saved: {error:#}")));
                let file = file.ok()?;
                self.notices.push(format!(
                    "what the killed agent had changed is in {name} of the record; the agent begins anew without it"
                ));
                Some(file)
            }
            Err(error) => {
                self.notices.push(format!(
                    "what the killed agent had changed could not be saved: {error:#}"
                ));
                None
            }
        }
    }

    /// The change that a dead worktree holds against the tree that its step began from; none where there is none.
    fn patch_of(&self, remains: &Remains) -> Result<Option<Vec<u8>>> {
        let Some(worktree) = remains.worktree().filter(|_| remains.standing == Standing::Ours) else {
            return Ok(None);
        };
        let index = self.places.private.join(SAVED_INDEX);
        if !index.is_file() {
            return Ok(None);
        }
        worktree.restore_git_file()?;
        let stage = self.stage_of(worktree)?;
        let git = self.checkout.git.clone();
        let frozen = stage.freeze(
            &git,
            &self.checkout.repo,
            self.base,
            &self.places.private.join("git/index"),
        )?;
        let before = self.tree_before()?;
        if frozen.tree() == before {
            return Ok(None);
        }
        let base = GitTree::of_commit(&self.checkout.repo, self.base).map_err(GateError::from)?;
        let candidate = GitTree::new(&self.checkout.repo, from_git2(frozen.tree()));
        let held =
            gate::credentials_in(&base, &candidate).map_err(|error| Stop::new(error.exit(), error.to_string()))?;
        if !held.is_empty() {
            anyhow::bail!("it holds a credential");
        }
        let patch = evidence::patch(&git, &stage, &before.to_string(), &frozen.tree().to_string())?;
        Ok(Some(patch))
    }

    fn stage_of(&self, worktree: &Worktree) -> Result<Stage> {
        let config = self.surroundings.config_home();
        let home = self.surroundings.home();
        let content = ContentSettings::read(&self.checkout, &worktree.admin, home, config.as_deref())?;
        let private = &self.places.private;
        let stage = Stage::make(
            &content,
            private,
            &worktree.path,
            &private.join(SAVED_INDEX),
            &self.created.base,
            self.walls.tool(Vec::new()),
        )
        .context("cannot stage")?;
        Ok(stage.keep_out(self.copies.paths()))
    }

    /// A login that the killed agent had renewed is the only one that is still good.
    pub(super) fn settle_dead_home(&mut self) -> Result<()> {
        let calling = self.owner.state.progress.calling.as_ref();
        let seat = self.seat(calling.map_or(Role::Implementer, |call| call.role))?;
        let files = self.home_files(&seat.effective);
        let person = Person {
            vars: &self.surroundings.vars,
        };
        let mut home = Home::left_behind(&self.places.private, person, &files);
        self.settle_home(&mut home);
        Ok(())
    }
}

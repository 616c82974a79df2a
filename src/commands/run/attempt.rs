//! What an agent had done when its owner was killed: saved as a patch, and its renewed logins brought back, before
//! its worktree and its home are deleted.
//!
//! Invariant: none of it gets into the candidate, and a failure here keeps no job from going on.

use anyhow::{Context, Result};

use super::prepare::Job;
use crate::agent::home::{Home, Person};
use crate::commands::remains::{self, Remains};
use crate::exit::Stop;
use crate::files;
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

/// Most files of an attempt that the line of its next owner has room for.
const MOST: usize = 8;
/// What files begin with that a step which is made again writes again.
const HALVES: &[&str] = &[
    "gate.", "change.", "frozen", "ignored", "agent-", "check-", "setup.", "dispute.", "person-",
];

impl Job {
    /// Saves what is there of a step that was under way, under names of its own. Whatever else no event names is
    /// half of something that is made again, and goes.
    pub(super) fn save_attempt(&mut self, epoch: u64) -> Result<Vec<FileRef>> {
        let attempt = format!("attempt-{}", epoch.saturating_sub(1));
        let mut saved = Vec::new();
        for file in self.owner.nameless()? {
            let from = self.owner.folder.path.join(&file);
            let is_log = file.starts_with("agent") && file.ends_with(".log");
            let is_told = is_log || file.starts_with("call-");
            let is_named = file.starts_with(&attempt) || file.starts_with("torn-");
            let is_empty = from.symlink_metadata().is_ok_and(|meta| meta.len() == 0);
            if !is_told && !is_named && !HALVES.iter().any(|start| file.starts_with(start)) {
                // Nobody knows whose it is.
                continue;
            }
            if (is_named || is_told && !is_empty) && saved.len() < MOST {
                let name = match is_named {
                    true => file,
                    false => format!("{attempt}-{file}"),
                };
                std::fs::rename(&from, self.owner.folder.path.join(&name))
                    .with_context(|| format!("cannot rename {}", from.display()))?;
                saved.push(self.owner.folder.describe(&name)?);
            } else {
                files::remove_tree(&from).with_context(|| format!("cannot remove {}", from.display()))?;
            }
        }
        let state = &self.owner.state;
        let writes = state.progress.calling.as_ref().is_some_and(|call| call.role.writes());
        if !writes || state.agent.is_some() || state.frozen.is_some() {
            return Ok(saved);
        }
        let name = format!("{attempt}.patch");
        let id = self.owner.folder.id.clone();
        let remains = remains::of(&self.checkout, state, &self.created, &id);
        let patch = self.patch_of(&remains);
        match patch.and_then(|patch| patch.map(|patch| self.owner.folder.save(&name, &patch)).transpose()) {
            Ok(None) => {}
            Ok(Some(file)) => {
                self.notices.push(format!(
                    "what the killed agent had changed is in {name} of the record; the agent began anew without it"
                ));
                saved.retain(|other| other.name != name);
                saved.push(file);
            }
            Err(error) => self.notices.push(format!(
                "what the killed agent had changed could not be saved: {error:#}"
            )),
        }
        Ok(saved)
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

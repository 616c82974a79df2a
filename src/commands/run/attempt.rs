//! What an agent had done when its owner was killed: saved as a patch, and its renewed logins brought back, before
//! its worktree and its home are deleted.
//!
//! Invariant: none of it gets into the candidate, and a failure here keeps no job from going on.

use anyhow::{Context, Result};

use super::home::home_files;
use super::prepare::Job;
use crate::agent::home::{Home, Person};
use crate::commands::remains::{self, Remains};
use crate::exit::Stop;
use crate::files;
use crate::gate::{self, GateError};
use crate::git::agent_refs;
use crate::git::evidence;
use crate::git::from_git2;
use crate::git::settings::ContentSettings;
use crate::git::shadow::{Shadow, refs_given};
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
    "gate.", "change", "frozen", "ignored", "agent-", "check-", "setup.", "dispute.", "person-",
];

/// What files begin with that `candidate.frozen` names.
const BESIDE: &[&str] = &["ignored", "agent-refs", "agent-git", "change-"];

/// A patch and a bundle.
type Work = (Option<Vec<u8>>, Option<Vec<u8>>);

impl Job {
    /// Saves what is there of a step that was under way, under names of its own. Whatever else no event names is
    /// half of something that is made again, and goes.
    pub(super) fn save_attempt(&mut self, epoch: u64) -> Result<Vec<FileRef>> {
        let attempt = format!("attempt-{}", epoch.saturating_sub(1));
        let mut saved = Vec::new();
        // A step that is finished and not yet written down as frozen: what was saved beside its tree is named then.
        let is_finished = self.owner.state.left.is_some() && self.owner.state.frozen.is_none();
        for file in self.owner.nameless()? {
            if is_finished && BESIDE.iter().any(|start| file.starts_with(start)) {
                continue;
            }
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
        let found = self.work_of(&remains);
        let save = |(patch, bundle): Work| -> Result<(Option<FileRef>, Option<FileRef>)> {
            let folder = &self.owner.folder;
            let bundle = bundle.map(|bundle| folder.save(&format!("{attempt}-refs.bundle"), &bundle));
            let patch = patch.map(|patch| folder.save(&name, &patch));
            Ok((patch.transpose()?, bundle.transpose()?))
        };
        match found.and_then(save) {
            Ok((None, None)) => {}
            Ok((patch, bundle)) => {
                let files: Vec<FileRef> = patch.into_iter().chain(bundle).collect();
                let names: Vec<&str> = files.iter().map(|file| file.name.as_str()).collect();
                self.notices.push(format!(
                    "what the killed agent had done is in the record ({}); the agent began anew without it",
                    names.join(", ")
                ));
                saved.retain(|other: &FileRef| files.iter().all(|file| file.name != other.name));
                saved.extend(files);
            }
            Err(error) => self.notices.push(format!(
                "what the killed agent had changed could not be saved: {error:#}"
            )),
        }
        Ok(saved)
    }

    /// The change that a dead worktree holds against the tree that its step began from, and the agent's own commits,
    /// branches and stashes as a bundle; none where there are none.
    fn work_of(&self, remains: &Remains) -> Result<Work> {
        let Some(worktree) = remains.worktree().filter(|_| remains.standing == Standing::Ours) else {
            return Ok((None, None));
        };
        let index = self.places.private.join(SAVED_INDEX);
        if !index.is_file() {
            return Ok((None, None));
        }
        worktree.restore_git_file()?;
        let content = self.content_of(worktree)?;
        let stage = self.stage_of(&content, worktree)?;
        let git = self.checkout.git.clone();
        let frozen = stage.freeze(
            &git,
            &self.checkout.repo,
            self.base,
            &self.places.private.join("git/index"),
        )?;
        let before = self.tree_before()?;
        let base = GitTree::of_commit(&self.checkout.repo, self.base).map_err(GateError::from)?;
        let candidate = GitTree::new(&self.checkout.repo, from_git2(frozen.tree()));
        let held =
            gate::credentials_in(&base, &candidate).map_err(|error| Stop::new(error.exit(), error.to_string()))?;
        if !held.is_empty() {
            anyhow::bail!("it holds a credential");
        }
        let patch = match frozen.tree() == before {
            true => None,
            false => Some(evidence::patch(
                &git,
                &stage,
                &before.to_string(),
                &frozen.tree().to_string(),
            )?),
        };
        let shadow = Shadow {
            git_dir: self.places.private.join("git"),
            given: refs_given(&self.checkout.repo)?,
        };
        let refs = agent_refs::read(&shadow, &self.created.base);
        let bundle = match refs.refs.is_empty() && refs.head.is_none() {
            true => None,
            false => agent_refs::bundle(&git, &content, &shadow, &self.places.private, &refs, &self.created.base)?,
        };
        Ok((patch, bundle))
    }

    fn content_of(&self, worktree: &Worktree) -> Result<ContentSettings> {
        let config = self.surroundings.config_home();
        let home = self.surroundings.home();
        ContentSettings::read(&self.checkout, &worktree.admin, home, config.as_deref())
    }

    /// The git dir in which all that stands in a worktree becomes one tree.
    pub(super) fn stage_of(&self, content: &ContentSettings, worktree: &Worktree) -> Result<Stage> {
        let private = &self.places.private;
        let stage = Stage::make(
            content,
            private,
            &worktree.path,
            &private.join(SAVED_INDEX),
            &self.created.base,
            self.walls.tool(Vec::new()),
        )?;
        Ok(stage.keep_out(self.copies.paths()))
    }

    /// A login that the killed agent had renewed is the only one that is still good.
    pub(super) fn settle_dead_home(&mut self) -> Result<()> {
        let calling = self.owner.state.progress.calling.as_ref();
        let seat = self.seat(calling.map_or(Role::Implementer, |call| call.role))?;
        let files = home_files(&self.surroundings, &seat.effective);
        let person = Person {
            vars: &self.surroundings.vars,
        };
        let mut home = Home::left_behind(&self.places.private, person, &files);
        self.settle_home(&mut home);
        Ok(())
    }
}

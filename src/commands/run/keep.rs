//! A job that passed: record, commit, branch, worktree.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use anyhow::{Context, Result};

use super::freeze::names;
use super::prepare::Job;
use crate::commands::Watch;
use crate::commands::remains::remember_ignored;
use crate::files;
use crate::git::shadow::copy_index;
use crate::git::{evidence, fingerprint, history, refs};
use crate::job::Event;
use crate::store;
use crate::trailer::{self, Trailers};

impl Job {
    pub(super) fn commit(&mut self, watch: &dyn Watch) -> Result<()> {
        let id = self.owner.folder.id.clone();
        let frozen = self.frozen.clone().context("nothing is frozen")?;
        let patch = self.save_patch()?;
        // The record first: a commit without a record could not be proved.
        self.write_record_ref()?;
        let trailers = Trailers {
            job_id: id,
            host: self.created.host.clone(),
            model_label: self.created.model_label.clone(),
            task_sha256: Some(self.created.task.sha256.clone()),
            policy_oid: Some(self.created.policy.clone()),
            confinement: Some(self.confinement_value()),
            log_sum: Some(self.owner.last_sum().to_owned()),
        };
        let message = trailer::message(&self.task.goal, &trailers);
        self.owner.append(&Event::CommitIntended {
            tree: frozen.tree().to_string(),
            parent: self.created.base.clone(),
            patch,
        })?;
        let commit = history::commit(
            &self.checkout.git,
            &self.checkout.common,
            &frozen,
            self.base,
            &message,
            &self.identity,
        )?;
        watch.step(&format!("commit {commit}"));
        self.owner.append(&Event::CommitMade {
            commit: commit.to_string(),
        })
    }

    /// `unconfined`, or the layers, then each waiver.
    pub(super) fn confinement_value(&self) -> String {
        let confined = self.owner.state.confined.as_ref();
        let tier = confined.map_or_else(|| self.walls.layers.tier(), |(tier, _)| tier.clone());
        std::iter::once(tier.as_str())
            .chain(self.created.waivers.iter().map(String::as_str))
            .collect::<Vec<_>>()
            .join(",")
    }

    /// `change.patch`, from the same two trees that were judged; without credentials, if the candidate holds any.
    pub(super) fn save_patch(&self) -> Result<crate::job::FileRef> {
        let frozen = self.frozen.as_ref().context("nothing is frozen")?;
        let base = history::tree_of(&self.checkout.repo, self.base)?.to_string();
        let tree = frozen.tree().to_string();
        let git = &self.checkout.git;
        let patch = match (&self.stage, self.credentials.is_empty()) {
            (Some(stage), true) => evidence::patch(git, stage, &base, &tree)?,
            // A job that is gone on with, and that a signal ends before it has a worktree.
            (None, true) => evidence::patch_of_stored(git, &self.checkout.common, &base, &tree)?,
            (stage, false) => self.blanked_patch(stage.as_ref().context("nothing was staged")?, &base, &tree)?,
        };
        self.owner.folder.save(store::PATCH, &patch)
    }

    /// The record as a tree under `refs/agentgate/jobs/`: the log so far and the files beside it.
    /// None where the candidate holds a credential: refs are pushed and cloned.
    pub(super) fn write_record_ref(&self) -> Result<()> {
        if !self.credentials.is_empty() {
            return Ok(());
        }
        if self.before.is_some()
            && let Some(name) = fingerprint::no_file(&self.checkout)
        {
            anyhow::bail!("{name} of the clone is no file, and whoever opens it may wait for ever");
        }
        let mut files = vec![
            (store::EVENTS, self.owner.log_bytes()?),
            (store::TASK, self.task_bytes.clone()),
        ];
        for name in [store::PATCH, store::GATE_LOG, store::GATE_JSON] {
            match std::fs::read(self.owner.folder.path.join(name)) {
                Ok(bytes) => files.push((name, bytes)),
                Err(error) if error.kind() == std::io::ErrorKind::NotFound => {}
                Err(error) => return Err(error).with_context(|| format!("cannot read {name} of the record")),
            }
        }
        let candidate = self.frozen.as_ref().map(crate::git::snapshot::Frozen::tree);
        refs::write_record(&self.checkout.repo, &self.owner.folder.id, &files, candidate)?;
        Ok(())
    }

    pub(super) fn keep(&mut self, watch: &dyn Watch) -> Result<()> {
        let id = self.owner.folder.id.clone();
        let worktree = self.worktree.clone().context("no worktree")?;
        let index = self
            .stage
            .as_ref()
            .map(|stage| stage.git_dir.join("index"))
            .context("nothing was staged")?;
        let commit = self.owner.state.commit.clone().context("no commit")?;
        let commit = git2::Oid::from_str(&commit)?;
        refs::create_branch_once(&self.checkout.repo, &id, commit)?;
        worktree.restore_git_file()?;
        self.empty_submodules(&worktree.path)?;
        for (from, to) in self.frozen.iter().flat_map(|frozen| &frozen.put_back) {
            files::rename_long(to, from).with_context(|| format!("cannot put {} back", from.display()))?;
        }
        files::replace(
            &worktree.admin.join("HEAD"),
            format!("ref: {}\n", refs::branch(&id)).as_bytes(),
            0o644,
        )?;
        // The staged index describes exactly the candidate, stat data included.
        copy_index(&index, &worktree.admin.join("index"))?;
        remember_ignored(&self.checkout.git, &worktree)?;
        worktree.unlock()?;
        self.owner.append(&Event::Kept {
            branch: format!("agent/{id}"),
        })?;
        self.copy_artifacts();
        self.remove_private();
        watch.step(&format!("kept on branch agent/{id}"));
        Ok(())
    }

    /// A submodule's git dir goes with the private folder; left behind, its files would belong to no
    /// repository, and git could not fill the folder again.
    fn empty_submodules(&mut self, worktree: &Path) -> Result<()> {
        let submodules = self.frozen.as_ref().map_or(&[][..], |frozen| &frozen.submodules);
        for submodule in submodules {
            let folder = worktree.join(OsStr::from_bytes(&submodule.path));
            files::remove_tree(&folder)
                .and_then(|()| std::fs::create_dir(&folder))
                .with_context(|| format!("cannot empty {}", folder.display()))?;
        }
        if !submodules.is_empty() {
            self.notices.push(format!(
                "empty in the kept worktree: {}; git submodule update --init fills it again",
                names(submodules.iter().map(|submodule| submodule.path.as_slice()))
            ));
        }
        Ok(())
    }

    /// Deletes the private folder. The record is complete by now: a failure is told.
    pub(super) fn remove_private(&mut self) {
        self.stage = None;
        let private = self.places.private.clone();
        if let Err(error) = files::remove_tree(&private) {
            self.notices
                .push(format!("{} could not be deleted: {error}", private.display()));
        }
        // Folders that are empty now; others may have just begun to use them.
        for folder in [
            private.parent(),
            Some(self.places.trash.as_path()),
            Some(self.places.root.as_path()),
        ]
        .into_iter()
        .flatten()
        {
            let _ = std::fs::remove_dir(folder);
        }
    }

    /// Copies for `--artifacts`. The record itself is complete: a failure is told, not returned.
    pub(super) fn copy_artifacts(&mut self) {
        let Some(dir) = &self.artifacts else { return };
        // No id has a tilde in it.
        let prefix = format!("{}{}~", files::TEMPORARY, self.owner.folder.id);
        let _ = files::clear_temporary(dir, &prefix);
        let names = [
            store::PATCH,
            store::GATE_LOG,
            store::GATE_JSON,
            store::TASK,
            store::SETUP_LOG,
            store::AGENT_LOG,
            store::EVENTS,
            store::HIDDEN,
            store::BUNDLE,
            store::GIT_DIRS,
        ];
        let checks = self.verdict.iter().flat_map(|verdict| &verdict.checks);
        let logs: Vec<String> = checks.filter_map(|result| result.log.clone()).collect();
        for name in names.into_iter().chain(logs.iter().map(String::as_str)) {
            let from = self.owner.folder.path.join(name);
            if !from.exists() {
                continue;
            }
            let read = std::fs::read(&from);
            if read.as_ref().is_ok_and(|bytes| self.holds_credential(bytes)) {
                self.notices.push(format!(
                    "{name} was not copied to {}: the credential stands in it",
                    dir.display()
                ));
                continue;
            }
            let copied = read.and_then(|bytes| files::replace_as(&dir.join(name), &bytes, 0o644, &prefix));
            if let Err(error) = copied {
                self.notices
                    .push(format!("{name} could not be copied to {}: {error}", dir.display()));
            }
        }
    }
}

//! The steps that make, run, freeze and judge.

use std::os::unix::fs::MetadataExt;
use std::path::Path;

use anyhow::{Context, Result};

use super::inputs::settings_of;
use super::outside;
use super::prepare::Job;
use super::unseen;
use crate::commands::Watch;
use crate::commands::walls::Walls;
use crate::files;
use crate::gate::{self, Verdict};
use crate::git::disarm;
use crate::git::from_git2;
use crate::git::history;
use crate::git::settings::ContentSettings;
use crate::git::shadow::{Pointer, copy_index};
use crate::git::snapshot::Stage;
use crate::git::tree::GitTree;
use crate::git::worktree::{Content, Worktree, fill};
use crate::job::Event;
use crate::job::answer;
use crate::store;

/// The index as it was before the agent ran; in the private folder, where the agent has no
/// business.
pub(super) const SAVED_INDEX: &str = "index.base";

impl Job {
    pub(super) fn preflight(&mut self) -> Result<()> {
        // The check itself was made before the job existed; this is where it becomes durable.
        self.owner.append(&Event::PreflightPassed {
            head: self.head.to_string(),
        })
    }

    pub(super) fn add_worktree(&mut self, watch: &dyn Watch) -> Result<()> {
        let id = self.owner.folder.id.clone();
        watch.step(&format!("worktree {}", self.places.worktree.display()));
        if self.owner.state.owners > 1 {
            // Nothing that an earlier owner had left there counts any more.
            files::remove_tree(&self.places.private)?;
        }
        for folder in ["git", "tmp", "outbox", "home", "task"] {
            files::make_private_dir(&self.places.private.join(folder))?;
        }
        files::replace(&self.places.private.join("task/TASK.md"), &self.task_bytes, 0o600)?;
        // A job that is gone on with after its candidate was frozen needs that, and no agent is to see it any more.
        let candidate = self.frozen.as_ref().map(|frozen| frozen.tree());
        let worktree = Worktree::add(
            &self.checkout.git,
            &self.checkout.common,
            &self.places.worktree,
            &self.created.base,
            &id,
            match candidate {
                None => Content::Base,
                Some(_) => Content::None,
            },
        )?;
        if let Some(tree) = candidate {
            self.lay_out(&worktree, tree)?;
        }
        copy_index(&worktree.admin.join("index"), &self.places.private.join(SAVED_INDEX))?;
        let event = Event::WorktreeAdded {
            path: worktree.path.display().to_string(),
            admin: worktree.admin.display().to_string(),
        };
        self.made = identity(&worktree.path);
        self.ready = false;
        self.worktree = Some(worktree);
        self.owner.append(&event)
    }

    pub(super) fn pointer(&self) -> Pointer {
        if self.walls.layers.mounts {
            Pointer::Bound
        } else {
            Pointer::Written
        }
    }

    /// Whether the folder at the worktree's path is the one that was made: not gone, not a link, and
    /// not another one that a link further up leads to. Nothing else may be written to or deleted.
    pub(super) fn worktree_is_there(&self) -> bool {
        let worktree = self.worktree.as_ref().and_then(|worktree| identity(&worktree.path));
        worktree.is_some() && worktree == self.made
    }

    /// The base's tree.
    pub(super) fn base_tree(&self) -> Result<git2::Oid> {
        history::tree_of(&self.checkout.repo, self.base)
    }

    /// Puts the candidate into a new worktree, as it was frozen: by the base's attributes, without a hook, filters
    /// behind walls.
    fn lay_out(&mut self, worktree: &Worktree, tree: git2::Oid) -> Result<()> {
        let writable = vec![worktree.path.clone(), worktree.admin.clone()];
        let plan = Walls::for_filters(&self.checkout, &worktree.path, writable)?;
        fill(
            &self.checkout.git,
            worktree,
            &tree.to_string(),
            &self.created.base,
            &plan,
        )?;
        let config = self.surroundings.config_home();
        let home = self.surroundings.home();
        let content = ContentSettings::read(&self.checkout, &worktree.admin, home, config.as_deref())?;
        self.stage = Some(Stage::make(
            &content,
            &self.places.private,
            &worktree.path,
            &worktree.admin.join("index"),
            &self.created.base,
            self.walls.tool(Vec::new()),
        )?);
        self.content = Some(content);
        Ok(())
    }

    /// Not one process of the agent is left: from here on the worktree is ours again.
    pub(super) fn take_worktree_back(&mut self, worktree: &Worktree) -> Result<()> {
        if self.worktree_is_there() {
            disarm::open_folder(&worktree.path)?;
            if self.pointer() == Pointer::Written {
                if !worktree.points_to(&self.places.private.join("git")) {
                    self.notices
                        .push("the agent changed the worktree's .git file; it was put back".to_owned());
                }
                self.set_git_dir_aside(worktree)?;
                worktree.restore_git_file()?;
            }
        }
        Ok(())
    }

    pub(super) fn judge(&mut self, watch: &dyn Watch) -> Result<()> {
        watch.step("gate");
        let (mut verdict, changed) = self.judge_tree()?;
        let tree = self.frozen.as_ref().context("nothing is frozen")?.tree();
        if !self.run_checks(&mut verdict, tree, &changed, watch)? {
            // A signal: the loop ends the job.
            return Ok(());
        }
        self.owner.must_be_sole()?;
        let log = self
            .owner
            .folder
            .save(store::GATE_LOG, gate::render::text(&verdict).as_bytes())?;
        let json = format!("{:#}\n", gate::render::json(&verdict));
        let report = self.owner.folder.save(store::GATE_JSON, json.as_bytes())?;
        let event = Event::GateFinished {
            exit: verdict.exit().code(),
            findings: verdict.findings.len() as u64,
            digest: self
                .created
                .pipeline
                .as_ref()
                .filter(|_| !verdict.findings.is_empty())
                .map(|_| {
                    answer::digest(verdict.findings.iter().map(|found| {
                        let code = found.rule.exit().name().as_bytes();
                        [code, found.path.as_slice(), found.message.as_bytes()]
                    }))
                }),
            report,
            log: Some(log),
        };
        watch.step(&gate::render::summary(&verdict));
        self.verdict = Some(verdict);
        self.owner.append(&event)
    }

    /// The verdict before any check, and the changed paths.
    pub(super) fn judge_tree(&self) -> Result<(Verdict, Vec<Vec<u8>>)> {
        let frozen = self.frozen.clone().context("nothing is frozen")?;
        let base = GitTree::of_commit(&self.checkout.repo, self.base).map_err(gate::GateError::from)?;
        let candidate = GitTree::new(&self.checkout.repo, from_git2(frozen.tree()));
        let mut verdict = gate::check(&base, &candidate, Some(&self.task))?;
        if self.created.pipeline.is_some() {
            let settings = settings_of(&base, &self.surroundings.person()?)?;
            let of_roles = outside::of_roles(&base, &candidate, &settings)?;
            verdict.findings.extend(of_roles);
        }
        if let Some(plan) = self.plan()? {
            let early = self.left.as_ref().map_or(&[][..], |left| &left.outside);
            verdict
                .findings
                .extend(outside::of_plan(&base, &candidate, &plan, early)?);
        }
        unseen::add(&mut verdict, &frozen);
        let changed: Vec<Vec<u8>> = gate::tree::diff(&base, &candidate)
            .map_err(gate::GateError::from)?
            .into_iter()
            .map(|change| change.path)
            .collect();
        Ok((verdict, changed))
    }
}

/// Device and inode of a folder that is no link.
fn identity(folder: &Path) -> Option<(u64, u64)> {
    let meta = folder.symlink_metadata().ok()?;
    meta.is_dir().then(|| (meta.dev(), meta.ino()))
}

//! The steps that make, run, freeze and judge.

use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::time::Duration;

use anyhow::{Context, Result};

use super::prepare::Job;
use super::unseen;
use super::words::{agent_end, end_words, last_lines, speaks_of_a_wall};
use crate::agent::command::{Fill, Stdin};
use crate::agent::environment::{self, Filter, Given};
use crate::commands::walls::Walls;
use crate::commands::{Watch, own_sandbox};
use crate::exit::Exit;
use crate::files;
use crate::gate::{self, Verdict};
use crate::git::disarm;
use crate::git::fingerprint::Fingerprint;
use crate::git::from_git2;
use crate::git::history;
use crate::git::settings::ContentSettings;
use crate::git::shadow::{Pointer, Shadow, copy_index};
use crate::git::snapshot::Stage;
use crate::git::tree::GitTree;
use crate::git::worktree::{Content, Worktree, fill};
use crate::job::machine::Ending;
use crate::job::machine::SETUP;
use crate::job::{AgentEnd, Event};
use crate::process::AgentRun;
use crate::store;
use crate::task::format_duration as seconds;

/// The one role of this version.
const ROLE: &str = "implementer";
/// Its step.
pub(super) const STEP: &str = "implement";
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
        self.worktree = Some(worktree);
        self.owner.append(&event)
    }

    fn pointer(&self) -> Pointer {
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

    pub(super) fn run_agent(&mut self, watch: &dyn Watch) -> Result<()> {
        let id = self.owner.folder.id.clone();
        let worktree = self.worktree.clone().context("no worktree")?;
        let private = self.places.private.clone();
        let mut home = self.make_home(&worktree)?;
        let xdg = self.surroundings.config_home();
        let content = ContentSettings::read(
            &self.checkout,
            &worktree.admin,
            self.surroundings.home(),
            xdg.as_deref(),
        )?;
        let shadow = Shadow::make(
            &self.checkout.repo,
            &content,
            &self.places,
            &worktree.admin,
            &id,
            &self.created.base,
            self.pointer(),
        )?;
        self.content = Some(content);
        self.shadow = Some(shadow);
        let (task_file, home_folder) = (private.join("task/TASK.md"), private.join("home"));
        let model = (self.created.model_label != "unspecified").then_some(self.created.model_label.as_str());
        let fill = Fill {
            task_file: &task_file,
            task: &self.task.text,
            worktree: &worktree.path,
            job: &id,
            model,
            home: &home_folder,
            tmp: &private.join("tmp"),
            own_sandbox: own_sandbox(self.walls.layers),
        };
        let agent = self.agent.clone()?;
        let filled = agent.fill(&fill);
        let own_variables = self.effective.variables(&fill);
        for folder in &self.effective.home_folders {
            files::make_private_dir(&home_folder.join(folder))?;
        }
        let given = Given {
            job: &id,
            host_label: &self.created.host,
            model_label: model,
            task_file: &task_file,
            role: ROLE,
            outbox: &private.join("outbox"),
            home: &home.variables,
            worktree: &worktree.path,
        };
        let effective = &self.effective;
        let mut env = environment::build(&self.surroundings.vars, effective.filter(), &effective.pass_env, &given);
        let filled = filled.and_then(|command| {
            env.set(own_variables?);
            Ok(command)
        });
        // The repository's own commands need tools, not the keys of the agent that comes after them.
        let given = Given { role: SETUP, ..given };
        let named = &self.effective.pass_env_to_setup;
        let setup = environment::build(&self.surroundings.vars, Filter::Profile, named, &given);
        self.withheld = env.withheld;
        let plan = self
            .walls
            .agent(&self.checkout, &self.places, agent.program(), &self.surroundings);
        let tier = self.walls.layers.tier();
        self.not_covered = self.walls.layers.not_covered(&plan);
        // With read-only mounts nothing of the clone can change, not even a mode.
        if !self.walls.layers.mounts {
            self.before = Some(Fingerprint::take(&self.checkout, &id)?);
        }
        let stopped = match self.copy_in(&worktree, watch)? {
            None => self.set_up(&worktree, &setup.variables, watch)?,
            stopped => stopped,
        };
        if let Some(ending) = stopped {
            self.settle_home(&mut home);
            self.take_worktree_back(&worktree)?;
            let collisions = self.compare_clone()?;
            let ending = match ending {
                Ending::Failed(..) if !collisions.is_empty() => Ending::Failed(
                    Exit::Collision,
                    format!("the clone's git dir changed during setup: {}", collisions.join(", ")),
                ),
                ending => ending,
            };
            return self.end(&ending, watch);
        }
        self.owner.append(&Event::StepStarted {
            step: STEP.into(),
            role: ROLE.into(),
            tree: Some(self.base_tree()?.to_string()),
        })?;
        self.owner.append(&Event::Confined {
            tier: tier.clone(),
            not_covered: self.not_covered.clone(),
        })?;
        watch.step(&self.banner(&tier));
        let log = self.owner.folder.path.join(store::AGENT_LOG);
        let (end, leftovers, duration) = match filled {
            Err(error) => {
                files::replace(&log, b"", 0o600)?;
                (
                    AgentEnd::NotStarted {
                        error: error.to_string(),
                    },
                    0,
                    Duration::ZERO,
                )
            }
            Ok(command) => {
                let run = AgentRun {
                    program: command.program,
                    argv: command.argv,
                    cwd: worktree.path.clone(),
                    plan,
                    environment: env.variables,
                    stdin: (command.stdin == Stdin::Task).then(|| task_file.clone()),
                    log,
                    verbose: self.verbose,
                    limit: Some(Duration::from_secs(self.created.timeout)),
                    idle: self.effective.idle_timeout.map(Duration::from_secs),
                    grace: AgentRun::GRACE,
                };
                let finished = run.run(&mut |progress| watch.agent(progress.elapsed, progress.last_line));
                watch.settled();
                self.settle_home(&mut home);
                let finished = finished?;
                if let Some(error) = finished.log_error {
                    anyhow::bail!("the agent's output could not be recorded: {error}");
                }
                self.last_output = last_lines(&finished.last_lines);
                self.met_a_wall = speaks_of_a_wall(&String::from_utf8_lossy(&finished.last_lines));
                (agent_end(finished.ending), finished.leftovers, finished.duration)
            }
        };
        self.take_worktree_back(&worktree)?;
        if leftovers > 0 {
            self.notices.push(match leftovers {
                1 => "1 process that the agent had left running was ended".to_owned(),
                _ => format!("{leftovers} processes that the agent had left running were ended"),
            });
        }
        let output = self.owner.folder.describe(store::AGENT_LOG)?;
        watch.step(&format!(
            "agent {} after {}",
            end_words(&end),
            seconds(duration.as_secs())
        ));
        // What it left is saved first: a step that is finished is not made again.
        let frozen = self.freeze(&end, watch);
        self.owner.append(&Event::StepFinished {
            step: STEP.into(),
            end,
            leftovers: leftovers as u64,
            millis: u64::try_from(duration.as_millis()).unwrap_or(u64::MAX),
            output,
            left: frozen.as_ref().ok().map(|(_, left)| left.clone()),
        })?;
        let (event, _) = frozen?;
        self.owner.append(&event)
    }

    /// The base's tree.
    fn base_tree(&self) -> Result<git2::Oid> {
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
    fn take_worktree_back(&mut self, worktree: &Worktree) -> Result<()> {
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
        let log = self
            .owner
            .folder
            .save(store::GATE_LOG, gate::render::text(&verdict).as_bytes())?;
        let json = format!("{:#}\n", gate::render::json(&verdict));
        let report = self.owner.folder.save(store::GATE_JSON, json.as_bytes())?;
        let event = Event::GateFinished {
            exit: verdict.exit().code(),
            findings: verdict.findings.len() as u64,
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

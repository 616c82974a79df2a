//! `setup`: commands in the worktree before the agent, behind the same walls and in the same home, without the
//! agent's keys.

use std::ffi::{OsStr, OsString};
use std::time::{Duration, Instant};

use anyhow::{Context, Result};

use super::prepare::Job;
use super::words::{agent_end, end_words, last_lines};
use crate::agent::lookup;
use crate::commands::Watch;
use crate::files;
use crate::git::worktree::Worktree;
use crate::job::machine::{Ending, SETUP, after_setup};
use crate::job::{AgentEnd, Event};
use crate::process::AgentRun;
use crate::store;
use crate::task::format_duration;

impl Job {
    /// Runs them one after the other, for as long as the job may take. The first that fails ends the job:
    /// an agent in a half prepared worktree would waste its time.
    pub(super) fn set_up(
        &mut self,
        worktree: &Worktree,
        environment: &[(OsString, OsString)],
        watch: &dyn Watch,
    ) -> Result<Option<Ending>> {
        let commands = self.effective.setup.clone();
        if commands.is_empty() {
            return Ok(None);
        }
        self.owner.append(&Event::StepStarted {
            step: SETUP.into(),
            role: SETUP.into(),
            tree: None,
        })?;
        let log = self.owner.folder.path.join(store::SETUP_LOG);
        files::replace(&log, b"", 0o600)?;
        let started = Instant::now();
        let limit = Duration::from_secs(self.created.timeout);
        let (mut end, mut leftovers, mut stopped) = (AgentEnd::Exited { status: 0 }, 0, None);
        for (index, command) in commands.iter().enumerate() {
            let line = shell_words::join(command);
            let left = limit.saturating_sub(started.elapsed());
            let whole = format_duration(limit.as_secs());
            let room = match index {
                0 => format!("limit {whole}"),
                _ => format!("{}s left of {whole}", left.as_secs()),
            };
            watch.step(&format!("setup {} of {}: {line} ({room})", index + 1, commands.len()));
            files::append_synced(&files::open_append(&log, 0o600)?, format!("$ {line}\n").as_bytes())
                .with_context(|| format!("cannot append to {}", log.display()))?;
            let ended = self.one(worktree, command, environment, left, watch)?;
            end = ended.0;
            leftovers += ended.1;
            if end != (AgentEnd::Exited { status: 0 }) {
                let line: String = line.chars().filter(|letter| !letter.is_control()).take(200).collect();
                let what = format!("setup command {} of {} (`{line}`)", index + 1, commands.len());
                stopped = Some(after_setup(&end, &what));
                break;
            }
        }
        watch.step(&format!(
            "setup {} after {}",
            end_words(&end),
            format_duration(started.elapsed().as_secs())
        ));
        self.owner.append(&Event::StepFinished {
            step: SETUP.into(),
            end,
            leftovers,
            millis: u64::try_from(started.elapsed().as_millis()).unwrap_or(u64::MAX),
            output: self.owner.folder.describe(store::SETUP_LOG)?,
            left: None,
        })?;
        Ok(stopped)
    }

    /// One command: how it ended, and how many processes it left.
    fn one(
        &mut self,
        worktree: &Worktree,
        command: &[String],
        environment: &[(OsString, OsString)],
        limit: Duration,
        watch: &dyn Watch,
    ) -> Result<(AgentEnd, u64)> {
        let name = command.first().context("a setup command without a program")?;
        let path = environment.iter().find(|(name, _)| name == "PATH");
        let path = path.map(|(_, value)| value.as_os_str());
        // What the repository brings (`./scripts/setup.sh`) is the base's.
        let program = match lookup::program(OsStr::new(name), &worktree.path, path) {
            Ok(program) => program,
            Err(error) => {
                // It is no agent.
                let error = error.to_string();
                let error = error.strip_prefix("agent ").unwrap_or(&error).replace('\n', "; ");
                return Ok((AgentEnd::NotStarted { error }, 0));
            }
        };
        let run = AgentRun {
            plan: self
                .walls
                .agent(&self.checkout, &self.places, &program, &self.surroundings),
            program,
            argv: command.iter().map(OsString::from).collect(),
            cwd: worktree.path.clone(),
            environment: environment.to_vec(),
            stdin: None,
            log: self.owner.folder.path.join(store::SETUP_LOG),
            verbose: self.verbose,
            limit: Some(limit),
            idle: None,
            grace: AgentRun::GRACE,
        };
        let finished = run.run(&mut |progress| watch.agent(progress.elapsed, progress.last_line));
        watch.settled();
        let finished = finished?;
        if let Some(error) = finished.log_error {
            anyhow::bail!("the output of setup could not be recorded: {error}");
        }
        let end = agent_end(finished.ending);
        if end != (AgentEnd::Exited { status: 0 }) {
            self.last_output = last_lines(&finished.last_lines);
        }
        Ok((end, finished.leftovers as u64))
    }
}

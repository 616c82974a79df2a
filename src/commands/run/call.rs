//! One call of a role: a fresh process with a fresh home, whose only inputs are files.
//!
//! Invariants: what a writing role left is one tree, and saved, before its step is said to be finished; a reading
//! role cannot write in the worktree that it judges, and its answer is durable before anything is made of it.

use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Context, Result};

use super::desk::socket_of;
use super::prepare::{Job, Seat};
use super::words::{agent_end, end_words, last_lines, speaks_of_a_wall};
use crate::agent::command::{AgentCommand, CommandError, Connector, Fill, Stdin};
use crate::agent::environment::{self, AgentEnvironment, Filter, Given};
use crate::agent::home::Home;
use crate::commands::{Watch, answered, own_sandbox};
use crate::confine::Plan;
use crate::exit::Exit;
use crate::files;
use crate::git::fingerprint::Fingerprint;
use crate::git::settings::ContentSettings;
use crate::git::shadow::Shadow;
use crate::git::worktree::Worktree;
use crate::job::answer::{NEEDS_HUMAN, PLAN, REVIEW};
use crate::job::machine::{Ending, SETUP};
use crate::job::pipeline::Call;
use crate::job::role::Role;
use crate::job::{AgentEnd, Event, FileRef};
use crate::process::AgentRun;
use crate::store;
use crate::task::format_duration as seconds;

/// All that a role's process is started with.
struct Start {
    seat: Seat,
    home: Home,
    environment: AgentEnvironment,
    filled: Result<AgentCommand, CommandError>,
    plan: Plan,
    /// What it is told, on standard input where its command does not name it.
    brief: PathBuf,
    limit: Duration,
}

/// What a call came to.
struct Ran {
    end: AgentEnd,
    /// Processes that it left.
    leftovers: usize,
    duration: Duration,
    /// Its answer came over MCP and is in the record.
    answered: bool,
}

impl Job {
    pub(super) fn call(&mut self, call: &Call, watch: &dyn Watch) -> Result<()> {
        let worktree = self.worktree.clone().context("no worktree")?;
        if call.number.is_some_and(|number| number > 1) {
            self.sweep_up()?;
        }
        let mut start = self.make_start(call, &worktree)?;
        let tier = start.seat.walls.layers.tier();
        self.not_covered = start.seat.walls.layers.not_covered(&start.plan);
        // With read-only mounts nothing of the clone can change, not even a mode.
        if !self.walls.layers.mounts {
            self.before = Some(Fingerprint::take(&self.checkout, &self.owner.folder.id)?);
        }
        // Whoever reads what was written finds it as its writer did, also in a worktree that was made anew.
        if (call.role.writes() || self.owner.state.progress.good.is_some())
            && !self.ready
            && let Some(ending) = self.make_ready(&worktree, &start, watch)?
        {
            self.settle_home(&mut start.home);
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
        let name = log_name(call.number);
        // Whoever looks on opens it at the event.
        files::replace(&self.owner.folder.path.join(&name), b"", 0o600)?;
        let started = Event::StepStarted {
            step: call.step.clone(),
            role: call.role.name().to_owned(),
            tree: Some(self.tree_now()?.to_string()),
            call: call.number,
        };
        let confined = Event::Confined {
            tier: tier.clone(),
            not_covered: self.not_covered.clone(),
        };
        self.owner.append_all(&[started, confined])?;
        watch.step(&self.banner(call, &start.seat, start.limit, &tier));
        self.withheld.clone_from(&start.environment.withheld);
        let ran = self.run(start, call, &worktree, &name, watch)?;
        let (end, leftovers, duration) = (ran.end, ran.leftovers, ran.duration);
        // Whoever stood still as long may have lost the job to another one.
        self.owner.must_be_sole()?;
        let _ = std::fs::remove_file(self.mcp_socket());
        self.take_worktree_back(&worktree)?;
        if leftovers > 0 {
            self.notices.push(match leftovers {
                1 => "1 process that the agent had left running was ended".to_owned(),
                _ => format!("{leftovers} processes that the agent had left running were ended"),
            });
        }
        let output = self.owner.folder.describe(&name)?;
        let who = if call.number.is_some() {
            call.role.name()
        } else {
            "agent"
        };
        watch.step(&format!(
            "{who} {} after {}",
            end_words(&end),
            seconds(duration.as_secs())
        ));
        let finished = |end, left: Option<FileRef>| Event::StepFinished {
            step: call.step.clone(),
            end,
            leftovers: leftovers as u64,
            millis: u64::try_from(duration.as_millis()).unwrap_or(u64::MAX),
            output,
            left,
        };
        // An answer comes first: what a role has answered it is not asked again.
        let answer = match call.number {
            Some(number) if !ran.answered => self.take_answer(call, number, &end)?,
            _ => Ok(()),
        };
        self.say_answer(call, watch);
        if call.role.writes() {
            // What it left is saved first: a step that is finished is not made again.
            let frozen = self.freeze(call, &end, watch);
            let finished = finished(end, frozen.as_ref().ok().map(|(_, left)| left.clone()));
            return match frozen {
                Ok((event, _)) => self.owner.append_all(&[finished, event]),
                Err(error) => {
                    self.owner.append(&finished)?;
                    Err(error)
                }
            };
        }
        let collisions = self.compare_clone()?;
        self.owner.append(&finished(end.clone(), None))?;
        if !collisions.is_empty() {
            let reason = format!(
                "the clone's git dir changed while the agent ran: {}",
                collisions.join(", ")
            );
            return self.end(&Ending::Failed(Exit::Collision, reason), watch);
        }
        self.must_be_unmoved(call)?;
        match answer {
            Err(reason) if end == (AgentEnd::Exited { status: 0 }) && !self.owner.state.progress.asked_again => {
                watch.step(&format!("{who} is asked once more: {reason}"));
                self.retry(&call.step, &reason, false)
            }
            Err(reason) => {
                self.unanswered = Some(reason);
                Ok(())
            }
            Ok(()) => Ok(()),
        }
    }

    /// Says what a call has answered, whichever way it came.
    fn say_answer(&self, call: &Call, watch: &dyn Watch) {
        let Some(number) = call.number else { return };
        for name in [NEEDS_HUMAN, PLAN, REVIEW] {
            if let Some(file) = self.owner.state.files.get(&format!("call-{number}-{name}")) {
                for line in answered::lines(&self.owner.folder, file) {
                    watch.step(&line);
                }
            }
        }
    }

    /// Says that a step is made again.
    pub(super) fn retry(&mut self, step: &str, reason: &str, failed: bool) -> Result<()> {
        let reason: String = crate::job::answer::line(reason);
        self.owner.append(&Event::StepRetried {
            step: step.to_owned(),
            reason,
            failed,
        })?;
        // A writing role begins from the state before it.
        if self.owner.state.worktree.is_none() {
            self.clear_worktree()?;
        }
        Ok(())
    }

    /// The tree that the worktree was made from, or was made into by the last step that succeeded.
    fn tree_now(&self) -> Result<git2::Oid> {
        match &self.owner.state.progress.good {
            Some(((tree, _), _)) => Ok(git2::Oid::from_str(tree)?),
            None => self.base_tree(),
        }
    }

    /// Copies and commands before the first role that writes, and again in each worktree that is made after it. Where that fails, how the job ends.
    fn make_ready(&mut self, worktree: &Worktree, start: &Start, watch: &dyn Watch) -> Result<Option<Ending>> {
        // The repository's own commands need tools, not the keys of the agent that comes after them.
        let given = Given {
            role: SETUP,
            ..self.given(&start.home, worktree, &start.seat)
        };
        let named = &self.effective.pass_env_to_setup;
        let setup = environment::build(&self.surroundings.vars, Filter::Profile, named, &given);
        let variables = setup.variables;
        let stopped = match self.copy_in(worktree, watch)? {
            None => self.set_up(worktree, &variables, watch)?,
            stopped => stopped,
        };
        self.ready = stopped.is_none();
        Ok(stopped)
    }

    fn given<'a>(&'a self, home: &'a Home, worktree: &'a Worktree, seat: &'a Seat) -> Given<'a> {
        Given {
            job: &self.owner.folder.id,
            host_label: &self.created.host,
            model_label: seat.model_label.as_deref(),
            task_file: &self.task_file,
            role: seat.role.name(),
            outbox: &self.outbox,
            mcp: None,
            home: &home.variables,
            worktree: &worktree.path,
        }
    }

    fn make_start(&mut self, call: &Call, worktree: &Worktree) -> Result<Start> {
        let id = self.owner.folder.id.clone();
        let private = self.places.private.clone();
        let seat = self.seat(call.role)?;
        let home = self.make_home(worktree, &seat.effective)?;
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
        let (brief, text) = match call.number {
            None => (self.task_file.clone(), self.task.text.clone()),
            Some(_) => self.write_brief(call)?,
        };
        let home_folder = private.join("home");
        let socket = self.mcp_socket();
        let own = std::env::current_exe().ok().filter(|program| program.exists());
        let connector = own.as_deref().and_then(|program| Connector::new(program, &socket));
        let fill = Fill {
            task_file: &brief,
            task: &text,
            worktree: &worktree.path,
            job: &id,
            model: seat.model_label.as_deref(),
            home: &home_folder,
            tmp: &private.join("tmp"),
            own_sandbox: own_sandbox(seat.walls.layers),
            connector,
        };
        let filled = seat.agent.clone()?.fill(&fill);
        let own_variables = seat.effective.variables(&fill);
        for folder in &seat.effective.home_folders {
            files::make_private_dir(&home_folder.join(folder))?;
        }
        let effective = &seat.effective;
        let mut environment = environment::build(
            &self.surroundings.vars,
            effective.filter(),
            &effective.pass_env,
            &Given {
                mcp: Some(&socket),
                ..self.given(&home, worktree, &seat)
            },
        );
        let filled = filled.and_then(|command| {
            environment.set(own_variables?);
            Ok(command)
        });
        if let Ok(command) = &filled {
            self.write_settings(&home_folder, command)?;
        }
        let program = seat.agent.clone()?.program().to_owned();
        let mut plan = seat
            .walls
            .agent(&self.checkout, &self.places, &program, &self.surroundings);
        // The connector is this program.
        plan.needed.extend(own);
        if !call.role.writes() {
            plan.writable.retain(|path| *path != worktree.path);
            plan.needed.push(worktree.path.clone());
        }
        let limit = self.limit_of(&seat);
        Ok(Start {
            seat,
            home,
            environment,
            filled,
            plan,
            brief,
            limit,
        })
    }

    /// What a call may take: its own limit, and what the job has left.
    fn limit_of(&self, seat: &Seat) -> Duration {
        let own = match seat.role {
            Role::Implementer => self.created.timeout,
            _ => seat.effective.timeout,
        };
        let pipeline = self.created.pipeline.as_ref();
        let most = pipeline.and_then(|pipeline| pipeline.max_job_time);
        let left = most.map_or(u64::MAX, |most| {
            most.saturating_sub(self.owner.state.progress.millis / 1000).max(1)
        });
        Duration::from_secs(own.min(left))
    }

    /// Writes what a profile has in its agent's own settings, where the person has put no file of theirs.
    fn write_settings(&mut self, home: &Path, command: &AgentCommand) -> Result<()> {
        for (name, text) in &command.files {
            let path = home.join(name);
            if path.exists() {
                self.notices.push(format!(
                    "{name} is the person's own: agentgate's MCP server was not added to it"
                ));
                continue;
            }
            if let Some(folder) = path.parent() {
                std::fs::create_dir_all(folder).with_context(|| format!("cannot make {}", folder.display()))?;
            }
            files::replace(&path, text.as_bytes(), 0o600)?;
        }
        Ok(())
    }

    /// Where the tools of a call are served.
    fn mcp_socket(&self) -> PathBuf {
        socket_of(&self.task_file)
    }

    fn run(&mut self, mut start: Start, call: &Call, worktree: &Worktree, log: &str, watch: &dyn Watch) -> Result<Ran> {
        let log = self.owner.folder.path.join(log);
        let command = match start.filled {
            Ok(command) => command,
            Err(error) => {
                let error = error.to_string();
                return Ok(Ran {
                    end: AgentEnd::NotStarted { error },
                    leftovers: 0,
                    duration: Duration::ZERO,
                    answered: false,
                });
            }
        };
        let run = AgentRun {
            program: command.program,
            argv: command.argv,
            cwd: worktree.path.clone(),
            plan: start.plan,
            environment: start.environment.variables,
            stdin: (command.stdin == Stdin::Task).then_some(start.brief),
            log,
            verbose: self.verbose,
            limit: Some(start.limit),
            idle: start.seat.effective.idle_timeout.map(Duration::from_secs),
            grace: AgentRun::GRACE,
        };
        let mut serving = self.serve(call)?;
        let finished = run.run(&mut |progress| {
            watch.agent(progress.elapsed, progress.last_line);
            self.hear(&mut serving, call, watch);
        });
        watch.settled();
        self.settle_home(&mut start.home);
        let answered = self.served(serving, call, watch);
        let finished = finished?;
        if let Some(error) = finished.log_error {
            anyhow::bail!("the agent's output could not be recorded: {error}");
        }
        self.last_output = last_lines(&finished.last_lines);
        self.met_a_wall = speaks_of_a_wall(&String::from_utf8_lossy(&finished.last_lines));
        Ok(Ran {
            end: agent_end(finished.ending),
            leftovers: finished.leftovers,
            duration: finished.duration,
            answered: answered?,
        })
    }
}

/// The file with what a call printed.
pub fn log_name(call: Option<u64>) -> String {
    match call {
        None => store::AGENT_LOG.to_owned(),
        Some(number) => format!("agent-{number}.log"),
    }
}

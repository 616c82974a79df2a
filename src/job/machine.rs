//! The job as a state machine: events are folded into a state, and the state says what is next.
//!
//! Invariant: `next` looks at nothing but what the log says, so that a process that replays the
//! log of a dead one arrives at the same step. `commands/run.rs` is the loop around it.

use std::collections::BTreeMap;

use super::pipeline::{self, Call, Progress};
use super::role::Role;
use super::{AgentEnd, Created, Event, FileRef};
use crate::exit::Exit;
use crate::gate::checks::CheckEnd;
use crate::task::format_duration;

/// The step in which the commands of `setup` run, before the agent.
pub const SETUP: &str = "setup";
/// The step of a job that has an implementer alone.
pub const IMPLEMENT: &str = "implement";

/// What to do next.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Step {
    /// See that the checkout is clean.
    Preflight,
    /// Make the worktree.
    AddWorktree,
    /// Start a role's agent and wait until its whole process tree is gone.
    Call(Call),
    /// Say that a step is made again, and why.
    Retry {
        /// Its name.
        step: String,
        /// Why, one line.
        reason: String,
        /// It counts among the calls that failed.
        failed: bool,
    },
    /// Write down the one tree that was made of what it left.
    Freeze,
    /// Judge the frozen tree: by the gate, and where that has no finding by the checks.
    Judge,
    /// Write the record, then the commit.
    Commit,
    /// Put branch and worktree in place.
    Keep,
    /// Save the evidence, leave the worktree, and wait for a person.
    NeedsHuman(String),
    /// Save the evidence, say how it ended, delete what was made.
    End(Ending),
    /// Nothing: the job is over.
    Done(Exit),
}

/// Why a job does not keep its worktree.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Ending {
    /// The gate's code.
    Refused(Exit),
    /// Another code, with one line of reason.
    Failed(Exit, String),
    /// A signal.
    Interrupted(i32),
}

/// What the log says so far.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct State {
    /// The job's definition.
    pub created: Option<Created>,
    /// Preflight has passed.
    pub preflight: bool,
    /// How many owners it has had.
    pub owners: u64,
    /// Path and admin folder of the worktree of the owner that it has now.
    pub worktree: Option<(String, String)>,
    /// Every path at which a worktree of the job was, or was to be, the latest last.
    pub places: Vec<String>,
    /// What held the agent, and what that leaves open.
    pub confined: Option<(String, Vec<String>)>,
    /// How the commands before the agent ended, where they failed.
    pub setup: Option<AgentEnd>,
    /// How the agent ended.
    pub agent: Option<AgentEnd>,
    /// The file that says what it left.
    pub left: Option<FileRef>,
    /// The frozen tree, and how many paths it changes.
    pub frozen: Option<(String, u64)>,
    /// How many credentials that tree holds.
    pub credentials: u64,
    /// What changed in the clone's configuration while the agent ran.
    pub collisions: Vec<String>,
    /// Runs of checks on that tree, or beside it on the base, that are over.
    pub checks: Vec<CheckRun>,
    /// The gate's exit code.
    pub gate: Option<u8>,
    /// The commit.
    pub commit: Option<String>,
    /// How it ended, once it did.
    pub ended: Option<Exit>,
    /// Why, one line.
    pub reason: String,
    /// What could not be saved was left as it is.
    pub left_as_is: bool,
    /// How far its roles have come.
    pub progress: Progress,
    /// It was landed.
    pub landed: bool,
    /// It was dropped.
    pub dropped: bool,
    /// The files of the record, by name, as the last event that names each says.
    pub files: BTreeMap<String, FileRef>,
}

/// One run of a check.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CheckRun {
    /// Where it stands in the base's settings.
    pub check: String,
    /// `candidate` or `base`.
    pub on: String,
    /// How it ended.
    pub end: CheckEnd,
    /// Wall-clock time in milliseconds.
    pub millis: u64,
    /// The file of its output.
    pub output: Option<FileRef>,
}

impl State {
    /// The path of the worktree: where it is, was last, or will be.
    pub fn place(&self) -> Option<&str> {
        self.places.last().map(String::as_str)
    }

    fn add_place(&mut self, path: &str) {
        self.places.retain(|place| place != path);
        self.places.push(path.to_owned());
    }
}

/// The state after one more event.
pub fn fold(mut state: State, event: &Event) -> State {
    let named = event.files().into_iter().cloned();
    state.files.extend(named.map(|file| (file.name.clone(), file)));
    pipeline::fold(&mut state, event);
    match event {
        Event::Created(created) => {
            state.add_place(&created.worktree);
            state.created = Some(created.clone());
        }
        Event::Owned { worktree, .. } => {
            state.owners += 1;
            // Another owner works in a place of its own.
            state.worktree = None;
            if let Some(worktree) = worktree {
                state.add_place(worktree);
            }
        }
        Event::PreflightPassed { .. } => state.preflight = true,
        Event::WorktreeAdded { path, admin } => {
            state.add_place(path);
            state.worktree = Some((path.clone(), admin.clone()));
        }
        Event::Confined { tier, not_covered } => state.confined = Some((tier.clone(), not_covered.clone())),
        Event::StepFinished { step, end, .. } if step == SETUP => {
            state.setup = Some(end.clone()).filter(|end| *end != AgentEnd::Exited { status: 0 });
        }
        Event::StepFinished { .. } if state.progress.calling.as_ref().is_some_and(|call| !call.role.writes()) => {}
        Event::StepFinished { end, left, .. } => {
            state.agent = Some(end.clone());
            state.left.clone_from(left);
        }
        Event::StepRetried { .. } => {
            // A role that only reads has left the worktree as it was.
            if state.progress.calling.as_ref().is_none_or(|call| call.role.writes()) {
                state.agent = None;
                state.worktree = None;
            }
        }
        Event::Frozen {
            tree,
            changed,
            collisions,
            credentials,
            ..
        } => {
            state.frozen = Some((tree.clone(), *changed));
            state.credentials = *credentials;
            state.collisions.clone_from(collisions);
            state.checks.clear();
            state.gate = None;
        }
        Event::GateFinished { exit, .. } => state.gate = Some(*exit),
        Event::CommitMade { commit } => state.commit = Some(commit.clone()),
        Event::Landed { .. } => state.landed = true,
        Event::Dropped { .. } => state.dropped = true,
        Event::CheckFinished {
            check,
            on,
            end,
            millis,
            output,
            ..
        } => state.checks.push(CheckRun {
            check: check.clone(),
            on: on.clone(),
            end: end.clone(),
            millis: *millis,
            output: output.clone(),
        }),
        Event::Answered { .. } => {
            state.ended = None;
            state.reason.clear();
        }
        Event::StepStarted { .. }
        | Event::StepOutput { .. }
        | Event::StepAnswered { .. }
        | Event::CommitIntended { .. } => {}
        Event::NeedsHuman { .. }
        | Event::Kept { .. }
        | Event::Refused { .. }
        | Event::Failed { .. }
        | Event::Interrupted { .. } => {
            state.ended = event.ends_with();
            state.left_as_is = matches!(
                event,
                Event::Failed { left: true, .. } | Event::Interrupted { left: true, .. }
            );
            state.reason = reason(event);
        }
    }
    state
}

fn reason(event: &Event) -> String {
    match event {
        Event::Refused { exit, .. } if *exit == Exit::CheckFailed.code() => "a check failed".into(),
        Event::Refused { .. } => "the gate refused it".into(),
        Event::Failed { reason, .. } | Event::NeedsHuman { reason, .. } => reason.clone(),
        Event::Interrupted { signal, .. } => format!("ended by signal {signal}"),
        _ => String::new(),
    }
}

/// What to do in this state. The order of verdicts is fixed: interrupted, clone tampered
/// with, timed out, agent failed, nothing changed, gate; a job that breaks no other rule is judged by the
/// commands of `checks:`, and both are in the one verdict.
pub fn next(state: &State) -> Step {
    if let Some(exit) = state.ended {
        return Step::Done(exit);
    }
    if !state.preflight {
        return Step::Preflight;
    }
    if state.agent.is_some() && state.frozen.is_none() {
        return Step::Freeze;
    }
    if state.worktree.is_none() {
        return Step::AddWorktree;
    }
    if let Some(end) = &state.setup {
        return Step::End(after_setup(end, "a setup command"));
    }
    if let Some(pipeline) = state.created.as_ref().and_then(|created| created.pipeline.as_ref()) {
        return match tampered(state) {
            Some(step) => step,
            None => pipeline::turn(state, pipeline),
        };
    }
    let Some(agent) = &state.agent else {
        return Step::Call(Call {
            step: IMPLEMENT.to_owned(),
            role: Role::Implementer,
            number: None,
        });
    };
    let Some((_, changed)) = &state.frozen else {
        return Step::Freeze;
    };
    if let Some(step) = tampered(state) {
        return step;
    }
    match agent {
        AgentEnd::Interrupted { signal } => return Step::End(Ending::Interrupted(*signal)),
        AgentEnd::TimedOut => {
            let limit = state.created.as_ref().map(|created| format_duration(created.timeout));
            let limit = limit.map_or_else(String::new, |limit| format!(" of {limit}"));
            return failed(
                Exit::AgentTimeout,
                format!("the agent ran past its limit{limit} and was ended"),
            );
        }
        AgentEnd::Silent { idle_timeout } => {
            let silence = format_duration(*idle_timeout);
            let reason = format!("the agent said nothing for {silence} (idle_timeout) and was ended");
            return failed(Exit::AgentTimeout, reason);
        }
        AgentEnd::NotStarted { error } => {
            return failed(Exit::AgentFailed, format!("the agent could not be started: {error}"));
        }
        AgentEnd::Signaled { signal } => {
            return failed(Exit::AgentFailed, format!("the agent was killed by signal {signal}"));
        }
        AgentEnd::Exited { status } if *status != 0 => {
            return failed(Exit::AgentFailed, format!("the agent exited with status {status}"));
        }
        AgentEnd::Exited { .. } => {}
    }
    if *changed == 0 {
        return failed(
            Exit::NothingToCommit,
            "the agent changed nothing against the base".into(),
        );
    }
    match state.gate {
        None => Step::Judge,
        Some(0) if state.commit.is_none() => Step::Commit,
        Some(0) => Step::Keep,
        Some(code) => Step::End(Ending::Refused(Exit::from_code(code).unwrap_or(Exit::Internal))),
    }
}

/// The clone was changed while an agent ran.
fn tampered(state: &State) -> Option<Step> {
    let interrupted = matches!(state.agent, Some(AgentEnd::Interrupted { .. }));
    if state.collisions.is_empty() || interrupted {
        return None;
    }
    let what = state.collisions.join(", ");
    Some(failed(
        Exit::Collision,
        format!("the clone's git dir changed while the agent ran: {what}"),
    ))
}

/// What a failed setup ends a job with. `what` is the command, in words.
pub fn after_setup(end: &AgentEnd, what: &str) -> Ending {
    let (exit, how) = match end {
        AgentEnd::Interrupted { signal } => return Ending::Interrupted(*signal),
        AgentEnd::TimedOut | AgentEnd::Silent { .. } => {
            (Exit::AgentTimeout, "ran past the job's limit and was ended".to_owned())
        }
        AgentEnd::NotStarted { error } => (Exit::AgentFailed, format!("could not be started: {error}")),
        AgentEnd::Signaled { signal } => (Exit::AgentFailed, format!("was killed by signal {signal}")),
        AgentEnd::Exited { status } => (Exit::AgentFailed, format!("exited with status {status}")),
    };
    Ending::Failed(exit, format!("{what} {how}; the agent was not started"))
}

fn failed(exit: Exit, reason: String) -> Step {
    Step::End(Ending::Failed(exit, reason))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// After the agent ended so and left a change.
    fn after(agent: AgentEnd) -> Step {
        next(&State {
            preflight: true,
            worktree: Some(("/w".into(), "/a".into())),
            agent: Some(agent),
            frozen: Some(("tree".into(), 1)),
            ..State::default()
        })
    }

    #[test]
    fn a_silent_agent_is_17_and_the_reason_names_the_setting() {
        assert_eq!(
            after(AgentEnd::Silent { idle_timeout: 300 }),
            failed(
                Exit::AgentTimeout,
                "the agent said nothing for 5m (idle_timeout) and was ended".into()
            )
        );
        let line = serde_json::to_value(AgentEnd::Silent { idle_timeout: 300 }).expect("JSON");
        assert_eq!(line, serde_json::json!({"ending": "silent", "idle_timeout": 300}));
    }

    #[test]
    fn a_failed_setup_ends_the_job_before_the_agent() {
        let state = |end| State {
            preflight: true,
            worktree: Some(("/w".into(), "/a".into())),
            setup: Some(end),
            ..State::default()
        };
        let exit = |end| match next(&state(end)) {
            Step::End(Ending::Failed(exit, reason)) => {
                assert!(reason.ends_with("the agent was not started"), "{reason}");
                exit
            }
            other => panic!("{other:?}"),
        };
        assert_eq!(exit(AgentEnd::Exited { status: 1 }), Exit::AgentFailed);
        assert_eq!(exit(AgentEnd::TimedOut), Exit::AgentTimeout);
        let step = next(&state(AgentEnd::Interrupted { signal: 15 }));
        assert_eq!(step, Step::End(Ending::Interrupted(15)));
    }

    #[test]
    fn whatever_a_failed_agent_left_is_not_judged() {
        assert_eq!(after(AgentEnd::Exited { status: 0 }), Step::Judge);
        for agent in [
            AgentEnd::TimedOut,
            AgentEnd::Exited { status: 3 },
            AgentEnd::Signaled { signal: 9 },
        ] {
            assert!(matches!(after(agent), Step::End(Ending::Failed(..))));
        }
    }
}

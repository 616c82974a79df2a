//! Whose turn it is in a job of several roles: folded from its events, as everything else.
//!
//! planner -> implementer, one step of the plan after the other -> gate and checks -> reviewer -> fixer -> gate
//! and checks -> ... Invariant: every way through it is bounded: by the rounds, by the steps of a plan, by the
//! attempts of a call, and by the first tree or set of findings that comes back.

use super::machine::{Ending, State, Step};
use super::role::{Pipeline, Role};
use super::{AgentEnd, Answered, Event, FileRef, PersonsVerdict};
use crate::exit::Exit;
use crate::job::answer::Decision;

/// A call of a role.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Call {
    /// Such as `plan`, `implement-2`, `review-1`.
    pub step: String,
    /// Whose it is.
    pub role: Role,
    /// Its number in the job, from 1; none in a job that has an implementer alone.
    pub number: Option<u64>,
}

/// How far a job of several roles has come.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Progress {
    /// Calls that were begun.
    pub calls: u64,
    /// Those of them that a person has waved through.
    pub calls_before: u64,
    /// The call that was begun last.
    pub calling: Option<Call>,
    /// How it ended, where it did and nothing was made of it yet.
    pub over: Option<AgentEnd>,
    /// It gave a valid answer.
    pub answered: bool,
    /// How often the step in turn has failed.
    pub failures: u64,
    /// Its answer was asked for once more.
    pub asked_again: bool,
    /// Why, for the role that is called again.
    pub last_reason: String,
    /// The plan, and its number of steps.
    pub plan: Option<(FileRef, u64)>,
    /// Steps that are implemented.
    pub implemented: u64,
    /// Rounds: reviews, and refusals by the gate in their place.
    pub rounds: u64,
    /// Reviews that were given.
    pub reviews: u64,
    /// The last review.
    pub review: Option<FileRef>,
    /// Fixes that were made.
    pub fixes: u64,
    /// The tree of the last writing step that succeeded, with the number of its changes, and what it left.
    pub good: Option<((String, u64), Option<FileRef>)>,
    /// The trees of all of them.
    pub trees: Vec<String>,
    /// Digests of the blocking findings so far.
    pub digests: Vec<String>,
    /// What the gate said of `good`, once it did.
    pub judged: Option<u8>,
    /// The last candidate was turned down.
    pub rejected: Option<Rejection>,
    /// The reviewer, or a person, approved the last candidate.
    pub approved: bool,
    /// The last fix led to a tree that there was before.
    pub stuck: bool,
    /// Why a person must decide, and the role that asks.
    pub human: Option<(String, Option<Role>)>,
    /// What persons have said, the latest last.
    pub persons: Vec<FileRef>,
    /// Time of all calls and checks that are over, in milliseconds.
    pub millis: u64,
}

/// A candidate was turned down.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rejection {
    /// By the gate or a check, not by a reviewer.
    pub by_gate: bool,
    /// For the same as before.
    pub repeated: bool,
}

/// What an event means for it. Called before the rest of the state is folded.
pub fn fold(state: &mut State, event: &Event) {
    let p = &mut state.progress;
    match event {
        Event::StepStarted { step, role, call, .. } => {
            let Some(role) = Role::of(role) else { return };
            p.calls += 1;
            p.calling = Some(Call {
                step: step.clone(),
                role,
                number: *call,
            });
            p.over = None;
            p.answered = false;
            if call.is_some() && role.writes() {
                // What was frozen stays in `good`: this step begins from it.
                state.agent = None;
                state.left = None;
                state.frozen = None;
                state.gate = None;
                p.approved = false;
            }
        }
        Event::StepAnswered { answered, file, .. } => {
            p.answered = true;
            p.failures = 0;
            p.asked_again = false;
            let asker = p.calling.as_ref().map(|call| call.role);
            match answered {
                Answered::Plan { steps } => p.plan = Some((file.clone(), *steps)),
                Answered::NeedsHuman { reason } => p.human = Some((reason.clone(), asker)),
                Answered::Review { decision, digest, .. } => {
                    p.rounds += 1;
                    p.reviews += 1;
                    p.review = Some(file.clone());
                    match decision {
                        Decision::Approve => p.approved = true,
                        Decision::RequestChanges => p.reject(digest, false),
                        Decision::NeedsHuman => {
                            p.human = Some(("the reviewer asks for a person".to_owned(), asker));
                        }
                    }
                }
            }
        }
        Event::StepFinished { step, end, millis, .. } => {
            p.millis += millis;
            if p.calling.as_ref().is_some_and(|call| call.step == *step) {
                p.over = Some(end.clone());
            }
        }
        Event::StepRetried { failed, reason, .. } => {
            p.over = None;
            p.last_reason.clone_from(reason);
            match failed {
                true => p.failures += 1,
                false => p.asked_again = true,
            }
            // What a writing role left is no candidate; the last good one stays in `good`.
            if p.calling.as_ref().is_none_or(|call| call.role.writes()) {
                state.frozen = None;
                state.left = None;
            }
        }
        Event::Frozen { tree, changed, .. } => {
            let succeeded = state.agent == Some(AgentEnd::Exited { status: 0 });
            if !succeeded {
                return;
            }
            p.over = None;
            p.failures = 0;
            p.asked_again = false;
            p.good = Some(((tree.clone(), *changed), state.left.clone()));
            p.judged = None;
            if p.human.is_some() {
                // Whoever asks for a person has not done its step.
                return;
            }
            match p.calling.as_ref().map(|call| call.role) {
                Some(Role::Fixer) => {
                    p.fixes += 1;
                    p.stuck = p.trees.contains(tree);
                }
                _ => p.implemented += 1,
            }
            p.rejected = None;
            p.trees.push(tree.clone());
        }
        Event::Owned { .. } => {
            // A writing role that has asked for a person and was killed before it was over: what it had changed is
            // lost, and what stands for the job is what it began from.
            let is_lost = p.human.is_some() && p.over.is_none() && state.frozen.is_none();
            if is_lost && let Some((good, left)) = &p.good {
                state.frozen = Some(good.clone());
                state.left.clone_from(left);
                state.gate = p.judged;
            }
        }
        Event::CheckFinished { millis, .. } => p.millis += millis,
        Event::GateFinished { exit: 0, .. } => p.judged = Some(0),
        Event::GateFinished { exit, digest, .. } if *exit != 0 => {
            p.judged = Some(*exit);
            p.rounds += 1;
            p.reject(digest.as_deref().unwrap_or_default(), true);
        }
        Event::Answered { verdict, file } => {
            let (_, asker) = p.human.take().unwrap_or_default();
            p.persons.push(file.clone());
            p.rounds = 0;
            p.calls_before = p.calls;
            p.digests.clear();
            p.trees.clear();
            p.stuck = false;
            p.failures = 0;
            p.asked_again = false;
            p.over = None;
            if let Some(rejected) = &mut p.rejected {
                rejected.repeated = false;
            }
            if *verdict == PersonsVerdict::Approve {
                p.approved = true;
                p.rejected = None;
            } else if asker == Some(Role::Reviewer) {
                p.rejected = None;
            }
        }
        _ => {}
    }
}

impl Progress {
    fn reject(&mut self, digest: &str, by_gate: bool) {
        let repeated = self.digests.iter().any(|other| other == digest);
        self.digests.push(digest.to_owned());
        self.rejected = Some(Rejection { by_gate, repeated });
    }

    /// The call that comes after all that were begun.
    fn call(&self, role: Role, step: String) -> Call {
        Call {
            step,
            role,
            number: Some(self.calls + 1),
        }
    }
}

/// Whose turn it is. The worktree is there, and the last writing step, if any, is frozen.
pub fn turn(state: &State, pipeline: &Pipeline) -> Step {
    let step = due(state, pipeline);
    // A worktree that waits for a person is looked at, copied and pushed from. No credential may wait in it: the gate
    // is asked first, and its refusal is the end.
    let holds = state.frozen.is_some() && state.credentials > 0;
    match (&step, state.gate.and_then(Exit::from_code)) {
        (Step::NeedsHuman(_), None) if holds => Step::Judge,
        (Step::NeedsHuman(_), Some(Exit::Credential)) if holds => Step::End(Ending::Refused(Exit::Credential)),
        _ => step,
    }
}

/// The same, whatever the candidate holds.
fn due(state: &State, pipeline: &Pipeline) -> Step {
    let p = &state.progress;
    if let Some(step) = after_call(state, pipeline) {
        return step;
    }
    if let Some((reason, _)) = &p.human {
        return Step::NeedsHuman(reason.clone());
    }
    // A writing step that was begun and came to nothing is begun again, whatever was judged before it.
    if let Some(call) = p.calling.as_ref().filter(|call| call.role.writes())
        && state.frozen.is_none()
    {
        return called(state, pipeline, p.call(call.role, call.step.clone()));
    }
    let steps = match (&p.plan, pipeline.planner) {
        (Some((_, steps)), _) => *steps,
        (None, false) => 1,
        (None, true) => return called(state, pipeline, p.call(Role::Planner, "plan".to_owned())),
    };
    if p.implemented < steps {
        let step = match pipeline.planner {
            true => format!("implement-{}", p.implemented + 1),
            false => "implement".to_owned(),
        };
        return called(state, pipeline, p.call(Role::Implementer, step));
    }
    if state.frozen.as_ref().is_some_and(|(_, changed)| *changed == 0) {
        // A person who was asked for it, and did not approve of nothing, has said what is to be done.
        if p.fixes > 0 && p.trees.is_empty() {
            return called(state, pipeline, p.call(Role::Fixer, format!("fix-{}", p.fixes + 1)));
        }
        if p.fixes > 0 {
            return Step::NeedsHuman("no progress: a fix took the whole change back".to_owned());
        }
        return failed(Exit::NothingToCommit, "the agents changed nothing against the base");
    }
    let gate = match state.gate {
        None => return Step::Judge,
        Some(gate) => Exit::from_code(gate).unwrap_or(Exit::Internal),
    };
    match gate {
        Exit::Ok if p.approved || !pipeline.reviewer => match state.commit {
            None => Step::Commit,
            Some(_) => Step::Keep,
        },
        Exit::Ok if p.stuck => {
            Step::NeedsHuman("no progress: a fix led to a change that was turned down before".to_owned())
        }
        Exit::Ok if p.rejected.is_none() => called(
            state,
            pipeline,
            p.call(Role::Reviewer, format!("review-{}", p.reviews + 1)),
        ),
        Exit::ProtectedPath | Exit::Credential => Step::End(Ending::Refused(gate)),
        _ => after_rejection(state, pipeline, gate),
    }
}

/// A call that is over and came to nothing.
fn after_call(state: &State, pipeline: &Pipeline) -> Option<Step> {
    let p = &state.progress;
    let (call, end) = (p.calling.as_ref()?, p.over.as_ref()?);
    let role = call.role.name();
    if let AgentEnd::Interrupted { signal } = end {
        return Some(Step::End(Ending::Interrupted(*signal)));
    }
    // What it has answered counts, however it ended; and who asks for a person is not made to try again.
    if p.answered && (!call.role.writes() || p.human.is_some()) {
        return None;
    }
    match end {
        AgentEnd::Interrupted { .. } => {}
        AgentEnd::Exited { status: 0 } => {}
        AgentEnd::TimedOut => {
            return Some(failed(
                Exit::AgentTimeout,
                &format!("the {role} ran past its limit and was ended"),
            ));
        }
        AgentEnd::Silent { .. } => {
            return Some(failed(
                Exit::AgentTimeout,
                &format!("the {role} said nothing for too long and was ended"),
            ));
        }
        AgentEnd::NotStarted { error } => {
            return Some(failed(
                Exit::AgentFailed,
                &format!("the {role} could not be started: {error}"),
            ));
        }
        AgentEnd::Exited { .. } | AgentEnd::Signaled { .. } => {
            let how = match end {
                AgentEnd::Signaled { signal } => format!("was killed by signal {signal}"),
                AgentEnd::Exited { status } => format!("exited with status {status}"),
                _ => "failed".to_owned(),
            };
            return Some(match p.failures < pipeline.max_attempts {
                true => Step::Retry {
                    step: call.step.clone(),
                    reason: format!("the {role} {how}"),
                    failed: true,
                },
                false => failed(Exit::AgentFailed, &format!("the {role} {how}")),
            });
        }
    }
    if call.role.writes() || p.answered {
        return None;
    }
    Some(match p.asked_again {
        false => Step::Retry {
            step: call.step.clone(),
            reason: format!("the {role} gave no valid answer"),
            failed: false,
        },
        true => Step::NeedsHuman(format!("the {role} gave no valid answer, asked twice")),
    })
}

fn after_rejection(state: &State, pipeline: &Pipeline, gate: Exit) -> Step {
    let p = &state.progress;
    let Some(rejected) = p.rejected.filter(|_| pipeline.fixer || gate == Exit::Ok) else {
        return Step::End(Ending::Refused(gate));
    };
    let stop = |why: String| match gate {
        Exit::Ok => Step::NeedsHuman(why),
        _ => Step::End(Ending::Refused(gate)),
    };
    if p.rounds >= pipeline.max_review_rounds {
        return stop(format!("not approved after {} rounds (max_review_rounds)", p.rounds));
    }
    if p.stuck || rejected.repeated {
        return stop("no progress: the same blocking findings as before".to_owned());
    }
    called(state, pipeline, p.call(Role::Fixer, format!("fix-{}", p.fixes + 1)))
}

/// A call, as far as the job may still make one.
fn called(state: &State, pipeline: &Pipeline, call: Call) -> Step {
    let p = &state.progress;
    // Where the last candidate breaks the gate, its code is what the job came to.
    let gate = state.gate.filter(|gate| *gate != 0).and_then(Exit::from_code);
    if let Some(most) = pipeline.max_agent_calls
        && p.calls - p.calls_before >= most
    {
        return match gate {
            Some(gate) => Step::End(Ending::Refused(gate)),
            None => Step::NeedsHuman(format!("{most} calls were made (max_agent_calls)")),
        };
    }
    if let Some(seconds) = pipeline.max_job_time
        && p.millis / 1000 >= seconds
    {
        return failed(Exit::AgentTimeout, "the job ran past its limit (max_job_time)");
    }
    Step::Call(call)
}

fn failed(exit: Exit, reason: &str) -> Step {
    Step::End(Ending::Failed(exit, reason.to_owned()))
}

//! What must hold between the lines of a whole log, beyond the chain that `log` proves.
//!
//! Invariant: an event is believed only where what it follows from stands before it. Somebody who can compute
//! the chain anew can still not make a log whose events tell of a job that cannot have been.

use super::log::{Line, Log};
use super::machine::{self, Ending, SETUP, State, Step};
use super::role::Role;
use super::{AgentEnd, Answered, Event};
use crate::exit::Exit;

/// By how much a call may be measured longer than its limit: ending a process tree takes its time.
const SLACK: u64 = 120;

/// What the lines so far say.
#[derive(Default)]
struct Audit<'a> {
    job: &'a str,
    epoch: u64,
    base: String,
    timeout: u64,
    has_preflight: bool,
    has_worktree: bool,
    /// The call that is under way.
    open: Option<String>,
    /// It has answered.
    has_said: bool,
    /// It is the implementer's.
    is_implementer: bool,
    /// The job has several roles.
    has_roles: bool,
    /// All of it so far, folded as the job itself does.
    state: State,
    has_answer: bool,
    frozen: Option<String>,
    gate: Option<u8>,
    intended: bool,
    committed: bool,
    ended: Option<Exit>,
    is_kept: bool,
    is_settled: bool,
    faults: Vec<String>,
}

/// What does not fit, each a line that names the event. Empty where all does.
pub fn faults(log: &Log, job: &str) -> Vec<String> {
    let mut audit = Audit {
        job,
        ..Audit::default()
    };
    log.lines.iter().for_each(|line| audit.line(line));
    audit.faults
}

impl Audit<'_> {
    fn fault(&mut self, line: &Line, what: &str) {
        self.faults
            .push(format!("event {} ({}) {what}", line.seq, line.kind.escape_debug()));
    }

    fn expect(&mut self, line: &Line, holds: bool, what: &str) {
        if !holds {
            self.fault(line, what);
        }
    }

    fn line(&mut self, line: &Line) {
        let Some(event) = &line.event else {
            self.fault(
                line,
                "was written by another version of agentgate: it is not known here",
            );
            self.epoch = line.epoch;
            return;
        };
        let is_first = line.seq == 1;
        self.expect(
            line,
            is_first == matches!(event, Event::Created(_)),
            "stands where job.created does not belong, or in its place",
        );
        let due = match event {
            Event::Created(_) => 1,
            Event::Owned { .. } if line.seq > 2 => self.epoch + 1,
            _ => self.epoch,
        };
        self.expect(
            line,
            line.epoch == due,
            &format!("is of epoch {} where {due} is due", line.epoch),
        );
        self.epoch = line.epoch;
        let may_follow_the_end = matches!(
            event,
            Event::Owned { .. } | Event::Landed { .. } | Event::Dropped { .. } | Event::Answered { .. }
        );
        self.expect(
            line,
            self.ended.is_none() || may_follow_the_end,
            "comes after the job's end",
        );
        self.event(line, event);
        self.turn(line, event);
        self.state = machine::fold(std::mem::take(&mut self.state), event);
    }

    /// What was done is what the state before it asks for: turns, rounds, attempts and all bounds are in that.
    fn turn(&mut self, line: &Line, event: &Event) {
        let next = machine::next(&self.state);
        let is_due = match event {
            Event::StepStarted { step, role, call, .. } if Role::of(role).is_some() => {
                matches!(&next, Step::Call(due) if due.step == *step && due.role.name() == role && due.number == *call)
            }
            Event::StepRetried { step, failed, .. } => match &next {
                Step::Retry {
                    step: due,
                    failed: counts,
                    ..
                } => due == step && counts == failed,
                Step::Freeze => !failed,
                _ => false,
            },
            Event::GateFinished { .. } => next == Step::Judge,
            Event::CommitIntended { .. } => matches!(next, Step::Commit | Step::Keep),
            Event::Kept { .. } => next == Step::Keep,
            Event::Refused { exit, .. } => {
                matches!(&next, Step::End(Ending::Refused(due)) if due.code() == *exit)
            }
            Event::NeedsHuman { .. } => matches!(next, Step::NeedsHuman(_)),
            _ => true,
        };
        self.expect(line, is_due, "is not what was next");
    }

    fn event(&mut self, line: &Line, event: &Event) {
        match event {
            Event::Created(created) => {
                self.base.clone_from(&created.base);
                self.timeout = created.timeout;
                self.has_roles = created.pipeline.is_some();
            }
            // Whatever another owner had begun is not under way any more.
            Event::Owned { .. } => self.open = None,
            Event::PreflightPassed { .. } => self.has_preflight = true,
            Event::WorktreeAdded { .. } => {
                self.expect(line, self.has_preflight, "comes before preflight.passed");
                self.has_worktree = true;
            }
            Event::StepStarted { step, role, .. } => {
                self.has_said = false;
                self.is_implementer = role == Role::Implementer.name();
                self.expect(line, self.has_worktree, "comes before worktree.added");
                self.expect(line, self.open.is_none(), "begins a call while another is under way");
                self.open = Some(step.clone());
            }
            Event::Confined { .. } => {
                self.expect(line, self.open.is_some(), "comes without a call that it holds");
            }
            Event::StepOutput { step, .. } => {
                let is_open = self.open.as_deref() == Some(step);
                self.expect(line, is_open, "comes without a call that it is of");
            }
            Event::StepFinished { step, end, millis, .. } => self.finished(line, step, end, *millis),
            Event::StepAnswered {
                step, answered, tree, ..
            } => {
                let is_open = self.open.as_deref() == Some(step);
                self.expect(line, is_open, "answers a call that is not under way");
                self.expect(line, !self.has_said, "is a second answer of one call");
                self.has_said = true;
                let is_review = matches!(answered, Answered::Review { .. });
                let is_bound = !is_review || self.frozen.as_ref() == Some(tree);
                self.expect(line, is_bound, "is about another tree than the candidate");
            }
            Event::NeedsHuman { .. } => {
                self.expect(line, self.has_roles, "asks for a person in a job without roles");
            }
            Event::Answered { .. } => {
                let waits = self.ended == Some(Exit::NeedsHuman);
                self.expect(line, waits, "answers a job that did not ask");
                self.ended = None;
            }
            Event::StepRetried { .. } => {
                let is_lost = self.has_roles || self.frozen.is_none();
                self.expect(line, is_lost, "gives up an answer that was frozen");
                self.open = None;
                self.has_answer = false;
            }
            Event::Frozen { tree, .. } => {
                self.expect(line, self.has_answer, "comes before the agent's step.finished");
                self.frozen = Some(tree.clone());
                self.gate = None;
                self.intended = false;
                self.committed = false;
            }
            Event::CheckFinished { .. } => {
                self.expect(
                    line,
                    self.frozen.is_some() && self.gate.is_none(),
                    "does not stand between candidate.frozen and gate.finished",
                );
            }
            Event::GateFinished { exit, findings, .. } => {
                self.expect(line, self.frozen.is_some(), "comes before candidate.frozen");
                self.expect(line, self.gate.is_none(), "is a second verdict on one candidate");
                self.expect(
                    line,
                    (*exit == 0) == (*findings == 0),
                    "has findings and passes, or has none and refuses",
                );
                self.gate = Some(*exit);
            }
            Event::CommitIntended { tree, parent, .. } => {
                self.expect(line, self.gate == Some(0), "comes without a gate that has passed");
                self.expect(
                    line,
                    self.frozen.as_ref() == Some(tree),
                    "names another tree than candidate.frozen",
                );
                let is_base = *parent == self.base;
                self.expect(line, is_base, "names another parent than the base");
                self.intended = true;
                self.committed = false;
            }
            Event::CommitMade { .. } => {
                let is_due = self.intended && !self.committed;
                self.expect(line, is_due, "has no commit.intended of its own");
                self.committed = true;
            }
            Event::Kept { branch } => {
                self.expect(line, self.committed, "comes without commit.made");
                let is_own = *branch == format!("agent/{}", self.job);
                self.expect(line, is_own, "names another branch than the job's");
                self.is_kept = true;
            }
            Event::Refused { exit, .. } => {
                let is_verdict = self.gate == Some(*exit) && *exit != 0;
                self.expect(line, is_verdict, "has another code than gate.finished");
            }
            Event::Failed { exit, .. } | Event::Interrupted { exit, .. } => {
                self.expect(line, *exit != 0, "is a failure with code 0");
            }
            Event::Landed { .. } => {
                self.expect(line, self.is_kept && !self.is_settled, "settles a job that is not kept");
                self.is_settled = true;
            }
            Event::Dropped { .. } => {
                let may_be = self.ended.is_none() || self.is_kept || self.ended == Some(Exit::NeedsHuman);
                self.expect(line, may_be && !self.is_settled, "settles a job that is not kept");
                self.is_settled = true;
            }
        }
        if let Some(exit) = event.ends_with() {
            self.ended = Some(exit);
        }
    }

    /// Each finish has one start, and nothing went on for longer than the job allows.
    fn finished(&mut self, line: &Line, step: &str, end: &AgentEnd, millis: u64) {
        let is_open = self.open.take().as_deref() == Some(step);
        self.expect(line, is_open, "has no step.started of its own");
        if step != SETUP {
            self.has_answer = true;
        }
        let by_itself = matches!(end, AgentEnd::Exited { .. } | AgentEnd::Signaled { .. });
        let limit = self.timeout.saturating_add(SLACK).saturating_mul(1000);
        self.expect(
            line,
            !by_itself || !self.is_implementer || millis <= limit,
            &format!("took {}s, and the limit is {}s", millis / 1000, self.timeout),
        );
    }
}

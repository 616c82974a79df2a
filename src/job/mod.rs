//! A job's events: what happened, in the order in which it was made durable.
//!
//! Invariant: one JSON object a line, chained by SHA-256, so that a changed, missing or reordered
//! line is seen by anybody who reads the file. This floor only encodes and decodes; `store.rs`
//! writes and syncs.

pub mod answer;
pub mod audit;
pub mod left;
pub mod log;
pub mod machine;
pub mod pipeline;
pub mod role;

use serde::{Deserialize, Serialize};

use crate::exit::Exit;
use crate::gate::checks::CheckEnd;
use answer::Decision;
use role::Pipeline;

/// A file that lies beside the log, as it was when the event was written.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FileRef {
    /// File name in the job's folder.
    pub name: String,
    /// Length in bytes.
    pub bytes: u64,
    /// Lower-case hex SHA-256 of the content.
    pub sha256: String,
}

/// What a job is, decided before anything was made.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Created {
    /// Version of agentgate that made the job.
    pub agentgate: String,
    /// Commit id (hex) the job starts from.
    pub base: String,
    /// Branch that HEAD pointed at (`refs/heads/main`); none when HEAD was detached.
    pub target: Option<String>,
    /// The task's goal, one line, cut to 200 characters.
    pub goal: String,
    /// The task as given.
    pub task: FileRef,
    /// Blob id (hex) of the policy in the base.
    pub policy: String,
    /// Where the agent's command came from: `command line`, `AGENT_CMD`, `settings` or `profile NAME`.
    pub agent_source: String,
    /// The agent's program (no arguments: they may hold a secret).
    pub agent: String,
    /// `Agent-Host`
    pub host: String,
    /// `Agent-Model-Label`
    pub model_label: String,
    /// What the person waived, such as `allow-dirty`.
    pub waivers: Vec<String>,
    /// Wall-clock limit of the agent in seconds.
    pub timeout: u64,
    /// Top folder of the clone.
    pub clone: String,
    /// Where the worktree will be.
    pub worktree: String,
    /// The job's private folder.
    pub private: String,
    /// What it has beyond an implementer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pipeline: Option<Pipeline>,
}

/// What a role answered, as far as it decides what is next.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "answer")]
pub enum Answered {
    /// A plan.
    Plan {
        /// How many steps it has.
        steps: u64,
    },
    /// A review.
    Review {
        /// What it comes to.
        decision: Decision,
        /// How many of its findings are blocking.
        blocking: u64,
        /// By which the same blocking findings are known again: lower-case hex SHA-256.
        digest: String,
    },
    /// The role asks for a person.
    NeedsHuman {
        /// Why, one line.
        reason: String,
    },
}

/// What a person decided.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "decision")]
pub enum PersonsVerdict {
    /// The candidate is good as it is.
    Approve,
    /// Go on, with the person's words.
    GoOn,
}

/// How the agent's process ended.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "ending")]
pub enum AgentEnd {
    /// By itself, with this status.
    Exited {
        /// 0 to 255
        status: i32,
    },
    /// By a signal that was not ours.
    Signaled {
        /// Signal number.
        signal: i32,
    },
    /// It ran past its limit and was ended, whatever status it then returned.
    TimedOut,
    /// It wrote nothing for longer than its `idle_timeout` and was ended.
    Silent {
        /// The silence it was allowed, in seconds.
        idle_timeout: u64,
    },
    /// The person ended the job.
    Interrupted {
        /// The signal that agentgate received.
        signal: i32,
    },
    /// It could not be started.
    NotStarted {
        /// Why.
        error: String,
    },
}

/// One thing that happened. The wire form has the dotted name under `event`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "event")]
#[expect(clippy::large_enum_variant, reason = "a job has some dozens of events in all")]
pub enum Event {
    /// Always the first.
    #[serde(rename = "job.created")]
    Created(Created),
    /// A process took the job: epoch 1 the first time, one more each later time.
    #[serde(rename = "job.owned")]
    Owned {
        /// Process id of the owner.
        pid: u32,
        /// Its start time in clock ticks since boot.
        start_time: u64,
        /// The boot it runs in.
        boot_id: String,
        /// Where its worktree will be; none for the first owner's, which `job.created` names.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        worktree: Option<String>,
        /// The torn tail of the log that it found and set aside.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        torn: Option<FileRef>,
        /// What was saved of the step that its last owner did not finish: the agent's change, its output, its answer.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        attempt: Vec<FileRef>,
    },
    /// The checkout was clean (or its state was waived).
    #[serde(rename = "preflight.passed")]
    PreflightPassed {
        /// Commit id of the checkout's HEAD.
        head: String,
    },
    /// The worktree exists.
    #[serde(rename = "worktree.added")]
    WorktreeAdded {
        /// Its path.
        path: String,
        /// Its admin folder below the clone's git dir, as read back from its `.git`.
        admin: String,
    },
    /// What holds the agent.
    #[serde(rename = "agent.confined")]
    Confined {
        /// Layers joined by `+`, or `unconfined`.
        tier: String,
        /// What they leave open, one line each.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        not_covered: Vec<String>,
    },
    /// A role's call begins.
    #[serde(rename = "step.started")]
    StepStarted {
        /// Such as `implement`.
        step: String,
        /// Such as `implementer`.
        role: String,
        /// The tree (hex) that its worktree was made from: where it is begun again, it is from there.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        tree: Option<String>,
        /// Which call of the job it is, from 1; none for `setup` and in a job that has an implementer alone.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        call: Option<u64>,
    },
    /// A line that a role has reported while its call lasts.
    #[serde(rename = "step.output")]
    StepOutput {
        /// As in `step.started`.
        step: String,
        /// As in `step.started`.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        call: Option<u64>,
        /// At most 300 characters, none of them a control character.
        text: String,
    },
    /// The first valid answer of a call, durable before anything is made of it.
    #[serde(rename = "step.answered")]
    StepAnswered {
        /// As in `step.started`.
        step: String,
        /// As in `step.started`.
        call: u64,
        /// What it is.
        #[serde(flatten)]
        answered: Answered,
        /// The tree (hex) that it is about.
        tree: String,
        /// The answer itself.
        file: FileRef,
    },
    /// A role's call is over and not one of its processes is left.
    #[serde(rename = "step.finished")]
    StepFinished {
        /// As in `step.started`.
        step: String,
        /// How the agent ended.
        #[serde(flatten)]
        end: AgentEnd,
        /// Processes that had outlived the agent and were ended.
        leftovers: u64,
        /// Wall-clock time in milliseconds.
        millis: u64,
        /// `agent.log`; `setup.log` of the step `setup`
        output: FileRef,
        /// What it left, for whoever has to go on from here: `frozen.json`. None for `setup`, and where what it
        /// left could not be made one tree.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        left: Option<FileRef>,
    },
    /// A role's call is made again: nothing that it left is there any more, it failed, or it gave no valid answer.
    #[serde(rename = "step.retried")]
    StepRetried {
        /// As in `step.started`.
        step: String,
        /// Why, one line.
        reason: String,
        /// It counts among the calls that failed.
        #[serde(default, skip_serializing_if = "is_false")]
        failed: bool,
    },
    /// Everything the agent left is one tree now.
    #[serde(rename = "candidate.frozen")]
    Frozen {
        /// Tree id (hex).
        tree: String,
        /// How many paths differ from the base.
        changed: u64,
        /// Files that only the agent's own ignore rules hide.
        hidden: u64,
        /// Branches, tags and stashes that the agent made in its private git dir.
        refs: Vec<String>,
        /// Folders in which the agent had put a repository of its own.
        nested: Vec<String>,
        /// Configuration, hooks and `info/` files of the clone that changed while the agent ran.
        collisions: Vec<String>,
        /// How many credentials it holds beyond the base's.
        #[serde(default, skip_serializing_if = "is_zero")]
        credentials: u64,
        /// What was saved of what the tree does not hold: `ignored.tar`, `agent-refs.bundle`, `agent-git.tar`.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        files: Vec<FileRef>,
    },
    /// A command of `checks:` is over, and not one of its processes is left.
    #[serde(rename = "check.finished")]
    CheckFinished {
        /// Where it stands in the base's settings, such as `checks[0]`.
        check: String,
        /// Its name.
        name: String,
        /// What it ran on: `candidate` or `base`.
        on: String,
        /// How it ended.
        #[serde(flatten)]
        end: CheckEnd,
        /// Processes that had outlived it and were ended.
        leftovers: u64,
        /// Wall-clock time in milliseconds, without its set-up.
        millis: u64,
        /// Its output, that of its set-up included; none where it was skipped.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        output: Option<FileRef>,
    },
    /// The gate has spoken, the checks included.
    #[serde(rename = "gate.finished")]
    GateFinished {
        /// Exit code of the verdict.
        exit: u8,
        /// How many findings.
        findings: u64,
        /// By which the same findings are known again: lower-case hex SHA-256; none without any.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        digest: Option<String>,
        /// `gate.json`
        report: FileRef,
        /// `gate.log`
        #[serde(default, skip_serializing_if = "Option::is_none")]
        log: Option<FileRef>,
    },
    /// The commit will be made of this.
    #[serde(rename = "commit.intended")]
    CommitIntended {
        /// Tree id.
        tree: String,
        /// Parent commit: the base.
        parent: String,
        /// `change.patch`
        patch: FileRef,
    },
    /// The commit exists.
    #[serde(rename = "commit.made")]
    CommitMade {
        /// Commit id.
        commit: String,
    },
    /// A person must decide; the worktree waits with all that there is.
    #[serde(rename = "job.needs_human")]
    NeedsHuman {
        /// Exit code.
        exit: u8,
        /// Why, one line.
        reason: String,
        /// What is written about it, and what no other event names.
        files: Vec<FileRef>,
    },
    /// A person has decided, and the job goes on.
    #[serde(rename = "job.answered")]
    Answered {
        /// What was decided.
        #[serde(flatten)]
        verdict: PersonsVerdict,
        /// The person's words.
        file: FileRef,
    },
    /// The job passed; worktree and branch are there.
    #[serde(rename = "job.kept")]
    Kept {
        /// `agent/<job id>`
        branch: String,
    },
    /// The gate refused.
    #[serde(rename = "job.refused")]
    Refused {
        /// Exit code.
        exit: u8,
        /// The files of the record that no event before this one names as they are.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        files: Vec<FileRef>,
    },
    /// The job failed for another reason than the gate.
    #[serde(rename = "job.failed")]
    Failed {
        /// Exit code.
        exit: u8,
        /// One line.
        reason: String,
        /// What could not be saved was not deleted either: worktree and private folder stay as they are.
        #[serde(default, skip_serializing_if = "is_false")]
        left: bool,
        /// As in `job.refused`.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        files: Vec<FileRef>,
    },
    /// A signal ended the job.
    #[serde(rename = "job.interrupted")]
    Interrupted {
        /// Signal number.
        signal: i32,
        /// Exit code.
        exit: u8,
        /// As in `job.failed`.
        #[serde(default, skip_serializing_if = "is_false")]
        left: bool,
        /// As in `job.refused`.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        files: Vec<FileRef>,
    },
    /// The candidate is on its branch.
    #[serde(rename = "job.landed")]
    Landed {
        /// The landed commit.
        commit: String,
        /// Full ref name.
        target: String,
        /// What the target pointed at before.
        old: String,
        /// `report.json`, where the run was over and had left one.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        files: Vec<FileRef>,
    },
    /// Worktree and branch were given up on request.
    #[serde(rename = "job.dropped")]
    Dropped {
        /// As in `job.landed`.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        files: Vec<FileRef>,
    },
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde asks with a reference")]
fn is_false(value: &bool) -> bool {
    !*value
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde asks with a reference")]
fn is_zero(value: &u64) -> bool {
    *value == 0
}

impl Event {
    /// The exit code of an event that ends a run, if it is one.
    pub fn ends_with(&self) -> Option<Exit> {
        match self {
            Event::Kept { .. } => Some(Exit::Ok),
            Event::NeedsHuman { exit, .. }
            | Event::Refused { exit, .. }
            | Event::Failed { exit, .. }
            | Event::Interrupted { exit, .. } => Some(Exit::from_code(*exit).unwrap_or(Exit::Internal)),
            _ => None,
        }
    }

    /// The files of the record that it names. Of what several events name, the last one counts.
    pub fn files(&self) -> Vec<&FileRef> {
        match self {
            Event::Created(created) => vec![&created.task],
            Event::Owned { torn, attempt, .. } => torn.iter().chain(attempt).collect(),
            Event::StepAnswered { file, .. } | Event::Answered { file, .. } => vec![file],
            Event::StepFinished { output, left, .. } => std::iter::once(output).chain(left).collect(),
            Event::Frozen { files, .. }
            | Event::NeedsHuman { files, .. }
            | Event::Refused { files, .. }
            | Event::Failed { files, .. }
            | Event::Interrupted { files, .. }
            | Event::Landed { files, .. }
            | Event::Dropped { files } => files.iter().collect(),
            Event::CheckFinished { output, .. } => output.iter().collect(),
            Event::GateFinished { report, log, .. } => std::iter::once(report).chain(log).collect(),
            Event::CommitIntended { patch, .. } => vec![patch],
            Event::PreflightPassed { .. }
            | Event::WorktreeAdded { .. }
            | Event::Confined { .. }
            | Event::StepStarted { .. }
            | Event::StepOutput { .. }
            | Event::StepRetried { .. }
            | Event::CommitMade { .. }
            | Event::Kept { .. } => Vec::new(),
        }
    }
}

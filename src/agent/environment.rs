//! The agent's environment, from a snapshot of ours.

use std::ffi::OsString;
use std::path::Path;

/// Which variables pass.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Filter {
    /// All but git's, sockets into the session, conversation ids and secrets: for a command that
    /// the person wrote (after `--`, or in `AGENT_CMD`).
    Withhold,
    /// Only what is known to be needed: for a command from settings.
    Allow,
}

/// What the agent is told.
#[derive(Clone, Copy, Debug)]
pub struct Given<'a> {
    /// AGENT_JOB_ID.
    pub job: &'a str,
    /// AGENT_HOST_LABEL.
    pub host_label: &'a str,
    /// AGENT_MODEL_LABEL; unset without one.
    pub model_label: Option<&'a str>,
    /// AGENTGATE_TASK: its copy of the task.
    pub task_file: &'a Path,
    /// AGENTGATE_ROLE.
    pub role: &'a str,
    /// AGENTGATE_OUTBOX.
    pub outbox: &'a Path,
    /// TMPDIR.
    pub tmp: &'a Path,
    /// PWD: where it starts.
    pub worktree: &'a Path,
}

/// What the agent gets.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AgentEnvironment {
    /// All of its variables, sorted by name.
    pub variables: Vec<(OsString, OsString)>,
    /// Names from our environment that it did not get, sorted.
    pub withheld: Vec<String>,
}

/// Builds it. `pass` names variables that go through whatever the filter says (`pass_env`).
pub fn build(
    snapshot: &[(OsString, OsString)],
    filter: Filter,
    pass: &[String],
    given: &Given<'_>,
) -> AgentEnvironment {
    todo!()
}

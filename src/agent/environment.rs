//! The agent's environment, from a snapshot of ours.

mod names;

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::{OsStr, OsString};
use std::path::Path;

use super::home::tools;
use names::{ALLOWED, GIT_TRUST, MODEL_KEYS, PERSONAL, WITHHELD};

/// Which variables pass.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Filter {
    /// All but git's, sockets into the session, conversation ids and secrets: for a command that
    /// the person wrote (after `--`, or in `AGENT_CMD`).
    Withhold,
    /// Only what is known to be needed: for a command from settings.
    Allow,
    /// The same without the keys of model providers: a profile names those of its own.
    Profile,
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
    /// AGENTGATE_MCP: the socket to which `agentgate mcp` connects it; none for what is no role's agent.
    pub mcp: Option<&'a Path>,
    /// HOME and everything else that leads into the job's private folders.
    pub home: &'a [(OsString, OsString)],
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

impl AgentEnvironment {
    /// Sets the agent's own variables (`env` of a profile or of the settings).
    pub fn set(&mut self, variables: Vec<(OsString, OsString)>) {
        let mut all: BTreeMap<_, _> = std::mem::take(&mut self.variables).into_iter().collect();
        all.extend(variables);
        self.withheld.retain(|name| !all.contains_key(OsStr::new(name)));
        self.variables = all.into_iter().collect();
    }
}

/// Builds it. `pass` names variables that go through whatever the filter says (`pass_env`); what
/// we set ourselves goes before all.
pub fn build(
    snapshot: &[(OsString, OsString)],
    filter: Filter,
    pass: &[String],
    given: &Given<'_>,
) -> AgentEnvironment {
    let mut variables = BTreeMap::new();
    let mut withheld = BTreeSet::new();
    for (name, value) in snapshot {
        // A name that is not UTF-8 is on no list.
        let text = name.to_str().unwrap_or_default();
        let passes = match filter {
            Filter::Withhold => {
                let mut refused = WITHHELD.iter().chain(PERSONAL);
                refused.all(|pattern| !matches(pattern, text)) || is_model_key(text)
            }
            Filter::Allow => {
                ALLOWED.iter().any(|pattern| matches(pattern, text)) || tools::is_tool_home(text) || is_model_key(text)
            }
            Filter::Profile => ALLOWED.iter().any(|pattern| matches(pattern, text)) || tools::is_tool_home(text),
        };
        if passes || GIT_TRUST.contains(&text) || pass.iter().any(|passed| passed == text) {
            variables.insert(name.clone(), value.clone());
        } else {
            withheld.insert(name.to_string_lossy().into_owned());
        }
    }
    // The folder we were started in is not where the agent starts.
    variables.remove(OsStr::new("OLDPWD"));
    for (name, value) in QUIET {
        variables.insert(name.into(), value.into());
    }
    // npm reads its variables in any case, and the last one wins: no other one than ours.
    let ours = |name: &OsStr| given.home.iter().any(|(known, _)| known.eq_ignore_ascii_case(name));
    variables.retain(|name, _| !name.to_string_lossy().to_ascii_lowercase().starts_with("npm_config_") || !ours(name));
    variables.extend(given.home.iter().cloned());
    variables.remove(OsStr::new("AGENT_MODEL_LABEL"));
    variables.remove(OsStr::new("AGENTGATE_MCP"));
    let told = [
        ("AGENT_JOB_ID", Some(OsStr::new(given.job))),
        ("AGENT_HOST_LABEL", Some(OsStr::new(given.host_label))),
        ("AGENT_MODEL_LABEL", given.model_label.map(OsStr::new)),
        ("AGENTGATE_TASK", Some(given.task_file.as_os_str())),
        ("AGENTGATE_ROLE", Some(OsStr::new(given.role))),
        ("AGENTGATE_OUTBOX", Some(given.outbox.as_os_str())),
        ("AGENTGATE_MCP", given.mcp.map(Path::as_os_str)),
        ("PWD", Some(given.worktree.as_os_str())),
    ];
    variables.extend(
        told.into_iter()
            .filter_map(|(name, value)| Some((name.into(), value?.to_owned()))),
    );
    withheld.retain(|name| !variables.contains_key(OsStr::new(name)));
    AgentEnvironment {
        variables: variables.into_iter().collect(),
        withheld: withheld.into_iter().collect(),
    }
}

/// Settings with which nothing waits for a person who is not there.
///
/// The editor is `true`, not `false`: it ends at once just the same, `git commit` without a
/// message still fails (the message is empty), and `git rebase --continue` or `git commit --amend`,
/// whose message is there already, work. With the terminal prompt off, a failing askpass program
/// ends a request for a password.
const QUIET: [(&str, &str); 12] = [
    ("GIT_TERMINAL_PROMPT", "0"),
    ("GIT_ASKPASS", "false"),
    ("GIT_EDITOR", "true"),
    ("GIT_SEQUENCE_EDITOR", "true"),
    ("GIT_PAGER", "cat"),
    ("EDITOR", "true"),
    ("VISUAL", "true"),
    ("PAGER", "cat"),
    ("MANPAGER", "cat"),
    ("DEBIAN_FRONTEND", "noninteractive"),
    ("GH_PROMPT_DISABLED", "1"),
    ("PIP_NO_INPUT", "1"),
];

/// One `*` stands for anything, also for nothing.
fn matches(pattern: &str, name: &str) -> bool {
    match pattern.split_once('*') {
        Some((start, end)) => name.strip_prefix(start).is_some_and(|rest| rest.ends_with(end)),
        None => name == pattern,
    }
}

/// Keys of model providers, and their endpoints: the agent cannot work without them.
fn is_model_key(name: &str) -> bool {
    MODEL_KEYS.contains(&name)
}

#[cfg(test)]
#[path = "environment_tests.rs"]
mod tests;

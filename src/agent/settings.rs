//! The repository's settings `architecture/agentgate.yml`, as strict as the policy.
//!
//! Invariant: a setting that this version does not act on is refused, never ignored.

#[cfg(test)]
mod tests;

use std::fmt;

use crate::exit::Exit;
use crate::gate::SETTINGS_PATH;
use crate::gate::yaml::{self, At, Entry, Node, Source, Value, nearest};
use crate::task::parse_duration;
use crate::trailer::valid_value;

const TOP: &[&str] = &["version", "agents"];
const TOP_LATER: &[&str] = &[
    "confinement",
    "network",
    "hide",
    "home_files",
    "pass_env",
    "max_jobs",
    "worktree_root",
    "setup",
    "copy",
    "checks",
    "rails",
    "workspace",
    "max_review_rounds",
    "max_attempts",
    "max_job_time",
    "max_agent_calls",
    "profile",
    "input",
    "env",
    "idle_timeout",
];
const ROLES: &[&str] = &["implementer"];
const ROLES_LATER: &[&str] = &["planner", "reviewer", "fixer"];
const AGENT: &[&str] = &["command", "model_label", "timeout"];
const AGENT_LATER: &[&str] = &[
    "profile",
    "input",
    "env",
    "idle_timeout",
    "confinement",
    "network",
    "pass_env",
    "setup",
];

/// What the repository asks for. The default is a file that asks for nothing.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Settings {
    /// `agents.implementer`
    pub implementer: Option<AgentSettings>,
}

/// How one role's agent is run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AgentSettings {
    /// `command`: program and arguments; at least the program. A text is split like a shell would.
    pub command: Vec<String>,
    /// `model_label`: for the trailer; a valid trailer value.
    pub model_label: Option<String>,
    /// `timeout` in seconds.
    pub timeout: Option<u64>,
}

/// Why the settings cannot be used (exit 2): file, line, column, snippet, hint.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BadSettings(String);

impl BadSettings {
    /// The documented exit code.
    pub const fn exit(&self) -> Exit {
        Exit::PolicyUnusable
    }
}

impl fmt::Display for BadSettings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for BadSettings {}

impl Settings {
    /// Reads the file's bytes. A file without keys asks for nothing.
    pub fn parse(bytes: &[u8]) -> Result<Settings, BadSettings> {
        parse(bytes).map_err(BadSettings)
    }
}

fn parse(bytes: &[u8]) -> Result<Settings, String> {
    let (source, entries) = yaml::read(SETTINGS_PATH, bytes)?;
    let mut settings = Settings::default();
    // First, since a later version may have any other key.
    if let Some(entry) = entries.iter().find(|entry| entry.key == "version") {
        let version = source.number(&entry.value, "version")?;
        if version != 1 {
            let message = format!("version {version} is not known to this version of agentgate");
            return Err(source.fault(entry.value.at, &message, "it reads `version: 1`"));
        }
    }
    for entry in &entries {
        match entry.key.as_str() {
            "version" => {}
            "agents" => {
                for role in source.map(&entry.value, "agents")? {
                    match role.key.as_str() {
                        "implementer" => settings.implementer = Some(agent(&source, role, "agents.implementer")?),
                        _ => return Err(refused(&source, role, "agents.", ROLES, ROLES_LATER)),
                    }
                }
            }
            _ => return Err(refused(&source, entry, "", TOP, TOP_LATER)),
        }
    }
    Ok(settings)
}

fn agent(source: &Source, role: &Entry, key: &str) -> Result<AgentSettings, String> {
    let (mut command, mut model_label, mut timeout) = (None, None, None);
    for entry in source.map(&role.value, key)? {
        let inner = format!("{key}.{}", entry.key);
        match entry.key.as_str() {
            "command" => command = Some(self::command(source, &entry.value, &inner)?),
            "model_label" => {
                let label = source.string(&entry.value, &format!("`{inner}`"))?;
                if !valid_value(label) {
                    let message = format!("`{inner}` cannot be `{}`", label.escape_debug());
                    let hint = "1 to 128 of A-Z a-z 0-9 . _ : / @ + , -";
                    return Err(source.fault(entry.value.at, &message, hint));
                }
                model_label = Some(label.to_owned());
            }
            "timeout" => {
                let hint = "write a whole number with s, m, h or d, such as 30m";
                let Value::Text(text) = &entry.value.value else {
                    let message = format!("`{inner}` must be a duration, not {}", entry.value.value.kind());
                    return Err(source.fault(entry.value.at, &message, hint));
                };
                let seconds = parse_duration(text).map_err(|wrong| source.fault(entry.value.at, &wrong, hint))?;
                timeout = Some(seconds);
            }
            _ => return Err(refused(source, entry, &format!("{key}."), AGENT, AGENT_LATER)),
        }
    }
    match command {
        Some(command) => Ok(AgentSettings {
            command,
            model_label,
            timeout,
        }),
        None => Err(source.fault(
            role.at,
            &format!("`{key}` has no command"),
            "add `command: my-agent --flags`",
        )),
    }
}

fn command(source: &Source, node: &Node, key: &str) -> Result<Vec<String>, String> {
    let hint = "write `command: my-agent --flags` or `command: [my-agent, --flags]`";
    let fault = |at: At, what: &str| Err(source.fault(at, &format!("`{key}` {what}"), hint));
    let words = match &node.value {
        Value::List(_) => {
            let mut words = Vec::new();
            for (index, item) in source.list(node, key)?.iter().enumerate() {
                words.push(source.string(item, &format!("`{key}[{index}]`"))?.to_owned());
            }
            words
        }
        _ => match shell_words::split(source.string(node, &format!("`{key}`"))?) {
            Ok(words) => words,
            Err(_) => return fault(node.at, "has a quote that is never closed"),
        },
    };
    match words.first().is_none_or(|program| program.trim().is_empty()) {
        true => fault(node.at, "names no program"),
        false => Ok(words),
    }
}

/// The error for a key that is not read: one of a later version, or unknown.
fn refused(source: &Source, entry: &Entry, prefix: &str, known: &[&str], later: &[&str]) -> String {
    let key = entry.key.as_str();
    if later.contains(&key) {
        let message = format!("`{prefix}{key}` is not enforced by this version");
        return source.fault(entry.at, &message, "remove it, so that nobody relies on it");
    }
    let hint = match nearest(key, &[known, later].concat()) {
        Some(near) => format!("did you mean `{near}`?"),
        None if ROLES.contains(&key) || ROLES_LATER.contains(&key) => "it belongs below `agents:`".to_owned(),
        None => format!("known here: {}", known.join(", ")),
    };
    source.fault(
        entry.at,
        &format!("unknown key `{prefix}{}`", key.escape_debug()),
        &hint,
    )
}

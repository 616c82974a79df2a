//! Which key stands where, and what is said to one that stands elsewhere.

use crate::gate::yaml::{Entry, Source, nearest};

use super::{Owner, checks};

/// How many of [`TOP`] the repository's file can have: the first.
pub const OF_REPOSITORY: usize = 9;
/// At the top, in either file or in the person's.
pub const TOP: &[&str] = &[
    "version",
    "agents",
    "setup",
    "copy",
    "checks",
    "max_review_rounds",
    "max_attempts",
    "max_job_time",
    "max_agent_calls",
    "confinement",
    "network",
    "hide",
    "home_files",
    "pass_env",
    "worktree_root",
    "profiles",
];
/// Those that set a job's bounds, wider or narrower, with the option that says the same.
const WIDENING: &[(&str, Option<&str>)] = &[
    ("confinement", Some("--confinement")),
    ("network", Some("--network")),
    ("hide", Some("--hide")),
    ("home_files", None),
    ("pass_env", Some("--pass-env")),
    ("worktree_root", None),
    ("profiles", None),
];
const TOP_LATER: &[&str] = &["max_jobs", "rails", "workspace"];
/// Below `agents`.
pub const ROLES: &[&str] = &["planner", "implementer", "reviewer", "fixer"];
/// Below a role.
pub const AGENT: &[&str] = &[
    "profile",
    "command",
    "input",
    "env",
    "model_label",
    "timeout",
    "idle_timeout",
];
pub(super) const CHECK: &[&str] = &["name", "run", "timeout", "when", "baseline"];

/// Refuses a key at the top that this file cannot have.
pub(super) fn top(source: &Source, entry: &Entry, owner: Owner<'_>) -> Result<(), String> {
    let key = entry.key.as_str();
    if !TOP.contains(&key) {
        let known = match owner {
            Owner::Repository(_) => &TOP[..OF_REPOSITORY],
            Owner::Person => TOP,
        };
        return Err(unknown(source, entry, "", known, TOP_LATER));
    }
    if let (Owner::Person, "checks") = (owner, key) {
        return Err(checks::not_yours(source, entry));
    }
    match (owner, WIDENING.iter().find(|(widening, _)| *widening == key)) {
        (Owner::Repository(person), Some((_, option))) => {
            Err(source.fault(entry.at, &not_here(&format!("`{key}`")), &elsewhere(person, *option)))
        }
        _ => Ok(()),
    }
}

/// Why a repository cannot ask for something.
pub(super) fn not_here(what: &str) -> String {
    format!("{what} is for a person to set, so the repository's file cannot have it")
}

/// Where it can stand instead.
pub(super) fn elsewhere(person: &str, option: Option<&str>) -> String {
    match option {
        Some(option) => format!("put it into your own {person}, or type {option}"),
        None => format!("put it into your own {person}"),
    }
}

/// The error for a key that is not read: one of a later version, one of another place, or unknown.
pub(super) fn unknown(source: &Source, entry: &Entry, prefix: &str, known: &[&str], later: &[&str]) -> String {
    let key = entry.key.as_str();
    if later.contains(&key) {
        let message = format!("`{prefix}{key}` is not enforced by this version");
        return source.fault(entry.at, &message, "remove it, so that nobody relies on it");
    }
    let near = if prefix.is_empty() { TOP } else { known };
    let hint = match nearest(key, &[near, later].concat()) {
        _ if ROLES.contains(&key) => "it belongs below `agents:`".to_owned(),
        _ if prefix.is_empty() && AGENT.contains(&key) => "it belongs below `agents:`, `implementer:`".to_owned(),
        _ if !prefix.is_empty() && TOP.contains(&key) => "it belongs at the top of the file".to_owned(),
        Some(near) if prefix.is_empty() && TOP.contains(&near) && !known.contains(&near) => {
            format!("did you mean `{near}`? that one can stand in a person's own file only")
        }
        Some(near) => format!("did you mean `{near}`?"),
        None => format!("known here: {}", known.join(", ")),
    };
    source.fault(
        entry.at,
        &format!("unknown key `{prefix}{}`", key.escape_debug()),
        &hint,
    )
}

//! Settings, as strict as the policy: the repository's `architecture/agentgate.yml` and the person's
//! `agentgate/config.yml`.
//!
//! Invariants: a setting that this version does not act on is refused, never ignored; a key that widens
//! what a job may do counts only from the person's file, and is an error in the repository's.

mod checks;
mod copy;
mod keys;
mod person;
mod read;
#[cfg(test)]
mod tests;

use std::fmt;

use super::profiles::Profiles;
use crate::confine::{Mode, Network};
use crate::exit::Exit;
use crate::gate::SETTINGS_PATH;
use crate::gate::yaml;
use crate::job::role::Role;

pub use keys::{AGENT as AGENT_KEYS, OF_REPOSITORY, ROLES as ROLE_KEYS, TOP as TOP_KEYS};
pub use person::{PERSON_PATH, Person};

/// What one file asks for. The default is a file that asks for nothing.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Settings {
    /// `agents.planner`
    pub planner: Option<AgentSettings>,
    /// `agents.implementer`
    pub implementer: Option<AgentSettings>,
    /// `agents.reviewer`
    pub reviewer: Option<AgentSettings>,
    /// `agents.fixer`
    pub fixer: Option<AgentSettings>,
    /// `max_review_rounds`: 1 to 20.
    pub max_review_rounds: Option<u64>,
    /// `max_attempts`: how often a call that failed is made again, 0 to 10.
    pub max_attempts: Option<u64>,
    /// `max_job_time` in seconds.
    pub max_job_time: Option<u64>,
    /// `max_agent_calls`: 1 to 1000.
    pub max_agent_calls: Option<u64>,
    /// `confinement`; the person's alone, like the next five.
    pub confinement: Option<Mode>,
    /// `network`
    pub network: Option<Network>,
    /// `hide`: absolute paths, or `~/` and a path.
    pub hide: Vec<String>,
    /// `home_files`: paths relative to the home.
    pub home_files: Vec<String>,
    /// `pass_env`: names of variables.
    pub pass_env: Vec<String>,
    /// `worktree_root`: an absolute path, or `~/` and a path.
    pub worktree_root: Option<String>,
    /// `setup`: commands to run in the worktree before the agent, each with at least its program.
    pub setup: Vec<Vec<String>>,
    /// `copy`: what is copied into the worktree.
    pub copy: Vec<CopyIn>,
    /// `checks`: what a candidate must pass; the repository's alone.
    pub checks: Vec<Check>,
}

/// A command that a candidate must pass.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Check {
    /// `name`: one printable line of at most 100 characters; no two have the same.
    pub name: String,
    /// `run`: program and arguments; a text has become `sh -c TEXT`.
    pub run: Vec<String>,
    /// `timeout` in seconds: at most a day.
    pub timeout: u64,
    /// `when`: paths or globs as the policy has them; empty: always.
    pub when: Vec<String>,
    /// `baseline`: where it fails, it is run on the base as well.
    pub baseline: bool,
}

/// How one role's agent is run.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AgentSettings {
    /// Which one, if the file names one.
    pub agent: Option<NamedAgent>,
    /// `model_label`: for the trailer; a valid trailer value.
    pub model_label: Option<String>,
    /// `timeout` in seconds.
    pub timeout: Option<u64>,
    /// `idle_timeout` in seconds.
    pub idle_timeout: Option<u64>,
}

/// An agent that settings name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NamedAgent {
    /// `profile` or `command`.
    pub runs: Runs,
    /// `env`: variables it gets, with placeholders.
    pub env: Vec<(String, String)>,
}

/// What an agent of the settings is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Runs {
    /// `profile`: the name of one that exists.
    Profile(String),
    /// `command`: program and arguments; at least the program. A text is split like a shell would.
    Command(Vec<String>),
}

/// Something that is copied into the worktree before the agent starts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CopyIn {
    /// Files of the checkout that git ignores: a repository-relative path or glob, as the policy has
    /// them ([`crate::paths::PathRule`]).
    Ignored(String),
    /// A file or folder from elsewhere; the person's file only.
    Outside {
        /// An absolute path, or `~/` and a path.
        from: String,
        /// Where it goes, relative to the worktree.
        to: String,
    },
}

/// Whose file it is.
#[derive(Clone, Copy, Debug)]
enum Owner<'a> {
    /// The base's; where the person's file is or would be, for messages.
    Repository(&'a str),
    /// The person's.
    Person,
}

/// Why settings cannot be used: file, line, column, snippet, hint.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BadSettings {
    text: String,
    exit: Exit,
}

impl BadSettings {
    /// The documented exit code: 2 for the repository's file, 64 for the person's.
    pub const fn exit(&self) -> Exit {
        self.exit
    }
}

impl fmt::Display for BadSettings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl std::error::Error for BadSettings {}

impl Settings {
    /// The block of one role.
    pub fn of_role(&self, role: Role) -> Option<&AgentSettings> {
        match role {
            Role::Planner => self.planner.as_ref(),
            Role::Implementer => self.implementer.as_ref(),
            Role::Reviewer => self.reviewer.as_ref(),
            Role::Fixer => self.fixer.as_ref(),
        }
    }

    /// Reads the bytes of the repository's file. A file without keys asks for nothing. The person's
    /// profiles may be named in it, and its errors may name the person's file.
    pub fn of_repository(bytes: &[u8], person: &Person) -> Result<Settings, BadSettings> {
        let bad = |text| BadSettings {
            text,
            exit: Exit::PolicyUnusable,
        };
        let theirs = person.shown();
        let (source, entries) = yaml::read(SETTINGS_PATH, bytes).map_err(bad)?;
        read::settings(&source, &entries, Owner::Repository(&theirs), &person.profiles).map_err(bad)
    }

    /// Reads the bytes of the person's file, which is called `name` in errors.
    pub fn of_person(name: &str, bytes: &[u8]) -> Result<(Settings, Profiles), BadSettings> {
        let bad = |text| BadSettings {
            text,
            exit: Exit::Usage,
        };
        let (source, entries) = yaml::read(name, bytes).map_err(bad)?;
        // First, since the rest may name them.
        let profiles = read::profiles(&source, &entries).map_err(bad)?;
        let settings = read::settings(&source, &entries, Owner::Person, &profiles).map_err(bad)?;
        Ok((settings, profiles))
    }
}

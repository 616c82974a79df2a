//! What the doctor found: one line a check, and what to do where one failed.

use super::agents::Agent;
use crate::exit::{Exit, Stop};

/// How a check came out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum State {
    /// As it should be.
    Ok,
    /// A job can run, and somebody should know this.
    Warn,
    /// A job would end with this.
    Fail(Exit),
}

impl State {
    /// One word.
    pub fn word(self) -> &'static str {
        match self {
            State::Ok => "ok",
            State::Warn => "warn",
            State::Fail(_) => "fail",
        }
    }
}

/// One thing that was looked at.
#[derive(Clone, Debug)]
pub struct Check {
    /// What, in a word or two.
    pub name: String,
    /// How it came out.
    pub state: State,
    /// What was found, one line.
    pub text: String,
    /// What to do, one line each; commands can be pasted.
    pub hints: Vec<String>,
}

/// All checks, in the order of a run.
#[derive(Clone, Debug, Default)]
pub struct Report {
    /// The checks.
    pub checks: Vec<Check>,
    /// The confinement that a job would get; none where there is none.
    pub tier: Option<String>,
    /// What it leaves open, one line each.
    pub not_covered: Vec<String>,
    /// The agents that are installed.
    pub agents: Vec<Agent>,
}

impl Report {
    /// 0 if a job could run, else what it would end with.
    pub fn exit(&self) -> Exit {
        let failed = self.checks.iter().find_map(|check| match check.state {
            State::Fail(exit) => Some(exit),
            State::Ok | State::Warn => None,
        });
        failed.unwrap_or(Exit::Ok)
    }

    pub(super) fn ok(&mut self, name: &str, text: impl Into<String>) {
        self.add(name, State::Ok, text.into(), Vec::new());
    }

    pub(super) fn warn(&mut self, name: &str, text: impl Into<String>, hints: &[String]) {
        self.add(name, State::Warn, text.into(), hints.to_vec());
    }

    pub(super) fn fail(&mut self, name: &str, stop: &Stop) {
        self.add(name, State::Fail(stop.exit), stop.message.clone(), stop.hints.clone());
    }

    fn add(&mut self, name: &str, state: State, text: String, hints: Vec<String>) {
        self.checks.push(Check {
            name: name.to_owned(),
            state,
            text,
            hints,
        });
    }
}

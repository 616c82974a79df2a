//! What the doctor found: one line a check, and what to do where one failed.

use super::agents::Row;
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
    pub agents: Vec<Row>,
    /// The job whose record was looked at, and nothing else.
    pub job: Option<String>,
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
        // Some messages bring their hints along.
        let (hints, lines): (Vec<&str>, Vec<&str>) = stop
            .message
            .lines()
            .partition(|line| line.trim_start().starts_with("hint: "));
        let hints = hints
            .into_iter()
            .map(|hint| hint.trim_start().trim_start_matches("hint: ").to_owned());
        let hints = hints.chain(stop.hints.iter().cloned()).collect();
        self.add(name, State::Fail(stop.exit), lines.join("\n"), hints);
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

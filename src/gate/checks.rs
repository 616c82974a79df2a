//! What human-owned commands (`checks:`) came to on a candidate, and the findings of those that failed.
//!
//! They are run elsewhere, and only on a candidate without a finding; this floor decides what their ends
//! mean. Whatever is not a clear pass is a finding.

use serde::{Deserialize, Serialize};

use super::{Finding, Rule, SETTINGS_PATH, render};
use crate::task::format_duration;

/// How one command ended.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "ending")]
pub enum CheckEnd {
    /// No changed path matches its `when`: it was not run.
    Skipped,
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
    TimedOut {
        /// The limit in seconds.
        timeout: u64,
    },
    /// It never ran: no checkout, a set-up that failed, no such program.
    NotStarted {
        /// Why, one printable line.
        error: String,
    },
    /// A signal to agentgate ended it.
    Interrupted {
        /// Signal number.
        signal: i32,
    },
}

impl CheckEnd {
    /// Whether it says yes.
    pub const fn passed(&self) -> bool {
        matches!(self, CheckEnd::Exited { status: 0 })
    }

    /// Whether it says no: everything but a pass and what was not asked.
    pub const fn failed(&self) -> bool {
        !self.passed() && !matches!(self, CheckEnd::Skipped)
    }

    /// In words.
    pub fn words(&self) -> String {
        match self {
            CheckEnd::Skipped => "skipped: no changed path matches".to_owned(),
            CheckEnd::Exited { status: 0 } => "passed".to_owned(),
            CheckEnd::Exited { status } => format!("exited with status {status}"),
            CheckEnd::Signaled { signal } => format!("was killed by signal {signal}"),
            CheckEnd::TimedOut { timeout } => {
                format!("ran past its limit of {} and was ended", format_duration(*timeout))
            }
            CheckEnd::NotStarted { error } => format!("could not be started: {error}"),
            CheckEnd::Interrupted { signal } => format!("was interrupted by signal {signal}"),
        }
    }
}

/// One check on one candidate.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CheckResult {
    /// Where it stands in the settings, such as `checks[0]`.
    pub key: String,
    /// Its name; one printable line.
    pub name: String,
    /// How it ended.
    pub end: CheckEnd,
    /// Its wall-clock time, without its set-up, in milliseconds.
    pub millis: u64,
    /// The last lines of its output, printable, where it failed.
    pub last_lines: Vec<String>,
    /// The file of the record that has its output, where there is a record.
    pub log: Option<String>,
    /// How the same command ended on the base (`baseline: true`), where it failed on the candidate.
    pub baseline: Option<CheckEnd>,
}

/// What a run on the base tells about a failure.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cause {
    /// It passes there.
    ThisChange,
    /// It fails there as well.
    Before,
    /// It gave no answer there.
    Unknown,
}

impl Cause {
    /// The stable word.
    pub const fn word(self) -> &'static str {
        match self {
            Cause::ThisChange => "this-change",
            Cause::Before => "before",
            Cause::Unknown => "unknown",
        }
    }
}

impl CheckResult {
    /// Who broke it, where the base was asked.
    pub fn cause(&self) -> Option<Cause> {
        Some(match self.baseline.as_ref()? {
            CheckEnd::Exited { status: 0 } => Cause::ThisChange,
            CheckEnd::Exited { .. } | CheckEnd::Signaled { .. } | CheckEnd::TimedOut { .. } => Cause::Before,
            CheckEnd::NotStarted { .. } | CheckEnd::Interrupted { .. } | CheckEnd::Skipped => Cause::Unknown,
        })
    }

    /// The finding, if it failed. One that was red before fails as well: nobody knows what else it hides.
    pub fn finding(&self) -> Option<Finding> {
        if !self.end.failed() {
            return None;
        }
        let mut message = format!("check `{}` {}", self.name, self.end.words());
        let base = self.baseline.as_ref().map(CheckEnd::words).unwrap_or_default();
        let hint = match self.cause() {
            None => format!("mend it, or ask an owner of {SETTINGS_PATH} to change the check"),
            Some(Cause::ThisChange) => {
                message.push_str("; it passes on the base, so this change broke it");
                "mend what this change broke".to_owned()
            }
            Some(Cause::Before) => {
                message.push_str(&format!(
                    "; on the base it {base} too, so it was red before this change"
                ));
                format!("mend the base first, or ask an owner of {SETTINGS_PATH} to take the check out until then")
            }
            Some(Cause::Unknown) => {
                message.push_str(&format!(
                    "; whether it was red before is not known: on the base it {base}"
                ));
                format!("mend it, or ask an owner of {SETTINGS_PATH} to change the check")
            }
        };
        Some(Finding {
            rule: Rule::CheckFailed,
            path: Vec::new(),
            line: None,
            column: None,
            judged_by: format!("{} ({})", self.key, self.name),
            message,
            hint,
            commit: None,
            at: None,
        })
    }
}

/// An error as one printable line of at most 500 characters.
pub fn one_line(error: &str) -> String {
    let lines: Vec<&str> = error.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
    render::path(lines.join("; ").as_bytes()).chars().take(500).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn result(end: CheckEnd, baseline: Option<CheckEnd>) -> CheckResult {
        CheckResult {
            key: "checks[1]".into(),
            name: "unit".into(),
            end,
            millis: 0,
            last_lines: Vec::new(),
            log: None,
            baseline,
        }
    }

    #[test]
    fn only_a_pass_and_what_was_skipped_are_no_finding() {
        let ends = [
            (CheckEnd::Exited { status: 0 }, false),
            (CheckEnd::Skipped, false),
            (CheckEnd::Exited { status: 1 }, true),
            (CheckEnd::Signaled { signal: 9 }, true),
            (CheckEnd::TimedOut { timeout: 60 }, true),
            (CheckEnd::NotStarted { error: "x".into() }, true),
            (CheckEnd::Interrupted { signal: 2 }, true),
        ];
        for (end, fails) in ends {
            assert_eq!(result(end.clone(), None).finding().is_some(), fails, "{end:?}");
        }
        let finding = result(CheckEnd::TimedOut { timeout: 60 }, None).finding().expect("one");
        assert_eq!(finding.judged_by, "checks[1] (unit)");
        assert_eq!(finding.message, "check `unit` ran past its limit of 1m and was ended");
        assert_eq!(finding.rule.exit().code(), 10);
    }

    #[test]
    fn a_failure_that_the_base_has_too_stays_one_and_says_so() {
        let red = CheckEnd::Exited { status: 1 };
        let says = |baseline: CheckEnd| {
            let finding = result(red.clone(), Some(baseline)).finding().expect("one");
            finding.message
        };
        assert!(says(CheckEnd::Exited { status: 0 }).ends_with("so this change broke it"));
        assert!(
            says(red.clone()).ends_with("on the base it exited with status 1 too, so it was red before this change")
        );
        let unknown = says(CheckEnd::NotStarted { error: "no".into() });
        assert!(
            unknown.contains("is not known: on the base it could not be started: no"),
            "{unknown}"
        );
    }

    #[test]
    fn an_error_becomes_one_printable_line() {
        assert_eq!(one_line("a\n\n  b\u{1b}[2J"), "a; b\\u{1b}[2J");
    }
}

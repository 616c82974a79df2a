//! What was found: one row a check.

use anyhow::Result;

use super::case::Source;
use crate::exit::Exit;

/// How a check came out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Holds {
    /// It holds.
    Yes,
    /// It does not.
    No,
    /// It could not be looked at, and need not hold here.
    NotCompared,
}

/// One thing that was checked.
#[derive(Clone, Debug)]
pub struct Check {
    /// What, in a word.
    pub name: &'static str,
    /// How it came out.
    pub holds: Holds,
    /// What holds, or all that does not: where, what was found, what was expected. Untrusted text in it is escaped
    /// when it is shown.
    pub details: Vec<String>,
    /// What to do, one line each.
    pub hints: Vec<String>,
}

impl Check {
    /// Something that must hold does not.
    pub(super) fn fails(&mut self, what: impl Into<String>) {
        if self.holds != Holds::No {
            self.details.clear();
        }
        self.holds = Holds::No;
        self.details.push(what.into());
    }

    /// What to do about it.
    pub(super) fn hint(&mut self, hint: impl Into<String>) {
        let hint = hint.into();
        if !self.hints.contains(&hint) {
            self.hints.push(hint);
        }
    }

    /// What holds, in words; said only where nothing fails.
    pub(super) fn says(&mut self, what: impl Into<String>) {
        if self.holds != Holds::No {
            self.details.push(what.into());
        }
    }

    /// It was not looked at.
    pub(super) fn skip(&mut self, why: impl Into<String>) {
        if self.holds != Holds::No {
            self.holds = Holds::NotCompared;
            self.details.push(why.into());
        }
    }
}

/// The whole of it.
#[derive(Clone, Debug)]
pub struct Report {
    /// Job id.
    pub job_id: String,
    /// The commit that was asked about, if one was.
    pub commit: Option<String>,
    /// `record`, or `ref` where only that is here.
    pub from: &'static str,
    /// The checks, in their order.
    pub checks: Vec<Check>,
    /// Things worth knowing.
    pub notices: Vec<String>,
}

impl Report {
    pub(super) fn new(id: &str, source: &Source, commit: Option<String>) -> Report {
        let mut notices = Vec::new();
        let from = match source {
            Source::Folder(_) => "record",
            Source::Ref(_) => {
                notices.push(
                    "the job was run in another clone, and only its ref is here: the agent's output, files beside \
                     the candidate and what came after the ref was written were not looked at"
                        .to_owned(),
                );
                "ref"
            }
        };
        Report {
            job_id: id.to_owned(),
            commit,
            from,
            checks: Vec::new(),
            notices,
        }
    }

    /// Makes a check. What cannot be read does not hold.
    pub(super) fn check(&mut self, name: &'static str, look: impl FnOnce(&mut Check) -> Result<()>) {
        let mut check = Check {
            name,
            holds: Holds::Yes,
            details: Vec::new(),
            hints: Vec::new(),
        };
        if let Err(error) = look(&mut check) {
            check.fails(format!("{error:#}"));
            if crate::git::is_unreadable(&error) {
                check
                    .hint("an object is not in this clone: git fetch brings what another one has; git fsck tells more");
            }
        }
        self.checks.push(check);
    }

    /// How many came out so.
    pub fn count(&self, holds: Holds) -> usize {
        self.checks.iter().filter(|check| check.holds == holds).count()
    }

    /// 0 if all that was looked at holds, else 25.
    pub fn exit(&self) -> Exit {
        match self.count(Holds::No) {
            0 => Exit::Ok,
            _ => Exit::NotProved,
        }
    }
}

//! The exit code table: the one place where a number gets its name and meaning.
//!
//! Scripts branch on these numbers, so they never change once published. The agent's own exit
//! status is recorded in the event log and never passed through: an agent that exits 4 must not
//! look like a gate finding.

use std::fmt;

macro_rules! exits {
    ($($variant:ident = $code:literal, $name:literal, $meaning:literal;)+) => {
        /// How a command ended, as a process exit status.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum Exit {
            $(#[doc = $meaning] $variant,)+
        }

        impl Exit {
            /// Every documented exit code, in ascending order.
            pub const ALL: &'static [Exit] = &[$(Exit::$variant,)+];

            /// The number a shell sees in `$?`.
            pub const fn code(self) -> u8 {
                match self { $(Exit::$variant => $code,)+ }
            }

            /// The stable name, in kebab-case.
            pub const fn name(self) -> &'static str {
                match self { $(Exit::$variant => $name,)+ }
            }

            /// One line on when this code is returned.
            pub const fn meaning(self) -> &'static str {
                match self { $(Exit::$variant => $meaning,)+ }
            }
        }
    };
}

exits! {
    Ok = 0, "ok", "passed; for an informational command, done";
    Internal = 1, "internal", "unexpected failure; nothing was let through";
    PolicyUnusable = 2, "policy-unusable", "the gate could not be evaluated: policy missing, empty or invalid; base not found (shallow clone); repository or object unreadable";
    ProtectedPath = 3, "protected-path", "a human-owned file changed";
    ForbiddenDirectory = 4, "forbidden-directory", "a change inside `forbidden_dirs`";
    ForbiddenImport = 5, "forbidden-import", "a `forbidden_imports` match, or an import that the package graph does not allow";
    NewTopLevelDirectory = 6, "new-top-level-directory", "more new top-level directories than `max_new_top_level_dirs`";
    OutOfScope = 7, "out-of-scope", "outside the task's `Allowed files` or areas, outside every area with `unmapped: deny`, or over a size limit";
    ForbiddenDependency = 8, "forbidden-dependency", "a manifest gained a dependency that the policy or task forbids";
    Uninspectable = 9, "uninspectable", "content that hides from review: submodule link, symlink out of the repository, non-text or oversized source, case or Unicode twin, bidirectional controls, unsafe path, bare repository, file over 2 GiB, malformed tree";
    CheckFailed = 10, "check-failed", "a human-owned command under `checks:` failed on the candidate";
    Trailers = 11, "trailers", "an agent commit lacks valid trailers";
    DirtyTree = 12, "dirty-tree", "the checkout is dirty or in the middle of a merge, rebase, cherry-pick, revert or bisect";
    Locked = 13, "locked", "another agent job holds the clone lock, or another owner this job";
    WorktreeExists = 14, "worktree-exists", "the job's worktree path or job id already exists";
    NothingToCommit = 15, "nothing-to-commit", "the agent changed nothing against the base";
    AgentFailed = 16, "agent-failed", "the agent exited non-zero or could not be started";
    AgentTimeout = 17, "agent-timeout", "the agent (or the job) ran past its limit and was ended";
    NeedsHuman = 18, "needs-human", "the review loop reached its cap or made no progress, or a role asked for a human";
    TargetMoved = 19, "target-moved", "the branch to land on moved and the candidate does not apply cleanly, or a push lost its race too often";
    Collision = 20, "collision", "a checkout, hook or config changed under the job; a commit would sweep in another's edits; an agent branch in a main checkout";
    Unconfined = 21, "unconfined", "write confinement is not available here and was not waived";
    BadTask = 22, "bad-task", "the task file is missing, empty, too large, unreadable, has a misspelt key or contradicts itself";
    WrongState = 23, "wrong-state", "no such job, or not in a state (or of a format) that allows this";
    Credential = 24, "credential", "the task or the candidate holds a credential";
    NotProved = 25, "not-proved", "`verify` or `audit`: record, history and verdict do not agree";
    Usage = 64, "usage", "bad command line, bad job id or label, or a set-up that cannot work (no git identity, git too old)";
    Hangup = 129, "interrupted", "ended by SIGHUP (where it does not go on)";
    Interrupted = 130, "interrupted", "ended by SIGINT";
    Terminated = 143, "interrupted", "ended by SIGTERM";
}

impl Exit {
    /// The exit for a job ended by this signal number (SIGHUP 1, SIGINT 2, SIGTERM 15).
    pub const fn from_signal(signal: i32) -> Exit {
        match signal {
            1 => Exit::Hangup,
            15 => Exit::Terminated,
            _ => Exit::Interrupted,
        }
    }

    /// The exit with this number, if it is a documented one.
    pub fn from_code(code: u8) -> Option<Exit> {
        Exit::ALL.iter().copied().find(|exit| exit.code() == code)
    }
}

impl fmt::Display for Exit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}, {}", self.code(), self.name())
    }
}

/// A documented refusal: which exit code, what happened, and what to type next. It travels as an
/// error; `lib.rs` prints it and turns it into the process's exit status.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stop {
    /// The code to end with.
    pub exit: Exit,
    /// Lower case, one line (porcelain lines may follow), no full stop.
    pub message: String,
    /// What to do next, one line each; commands can be pasted.
    pub hints: Vec<String>,
}

impl Stop {
    /// A refusal without a hint.
    pub fn new(exit: Exit, message: impl Into<String>) -> Stop {
        Stop {
            exit,
            message: message.into(),
            hints: Vec::new(),
        }
    }

    /// The same with one more hint.
    pub fn hint(mut self, hint: impl Into<String>) -> Stop {
        self.hints.push(hint.into());
        self
    }
}

impl fmt::Display for Stop {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for Stop {}

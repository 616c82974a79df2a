//! Short-lived programs that are trusted, such as git.

use std::ffi::{OsStr, OsString};
use std::path::PathBuf;
use std::time::Duration;

/// A program to run to its end, with its output captured.
///
/// It gets a process group of its own, so that a terminal's Ctrl-C does not hit it in the middle
/// of an update, and exactly the environment it is given.
#[derive(Clone, Debug)]
pub struct Tool {}

impl Tool {
    /// `program` is a path (no lookup on PATH), `cwd` the folder it runs in. Standard input is
    /// /dev/null, the environment is empty, there is no time limit.
    pub fn new(program: impl Into<PathBuf>, cwd: impl Into<PathBuf>) -> Tool {
        todo!()
    }
    /// Adds one argument.
    pub fn arg(self, arg: impl AsRef<OsStr>) -> Tool {
        todo!()
    }
    /// Adds arguments.
    pub fn args<I: IntoIterator<Item: AsRef<OsStr>>>(self, args: I) -> Tool {
        todo!()
    }
    /// Replaces the whole environment.
    pub fn environment(self, variables: Vec<(OsString, OsString)>) -> Tool {
        todo!()
    }
    /// Sets one variable.
    pub fn variable(self, name: impl AsRef<OsStr>, value: impl AsRef<OsStr>) -> Tool {
        todo!()
    }
    /// What it reads on standard input.
    pub fn stdin(self, bytes: Vec<u8>) -> Tool {
        todo!()
    }
    /// Most bytes of standard output; more is [`ToolError::TooMuchOutput`]. Default 1 GiB.
    pub fn stdout_limit(self, bytes: usize) -> Tool {
        todo!()
    }
    /// Bytes of standard error that are kept; the rest is read and dropped. Default 1 MiB.
    pub fn stderr_limit(self, bytes: usize) -> Tool {
        todo!()
    }
    /// Ends its group (TERM, then KILL) after this time.
    pub fn time_limit(self, limit: Duration) -> Tool {
        todo!()
    }
    /// Ends it when a signal arrives while it runs. Not for clean-up work, which must go on.
    pub fn stop_on_signal(self) -> Tool {
        todo!()
    }
    /// Runs it to its end. A non-zero exit is an [`Outcome`], not an error.
    pub fn run(self) -> Result<Outcome, ToolError> {
        todo!()
    }
}

/// How a program ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Status {
    /// With this exit status.
    Exited(i32),
    /// Killed by this signal.
    Signaled(i32),
}

/// What a [`Tool`] left.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Outcome {
    /// How it ended.
    pub status: Status,
    /// All of its standard output.
    pub stdout: Vec<u8>,
    /// The beginning of its standard error.
    pub stderr: Vec<u8>,
}

impl Outcome {
    /// Whether it exited with 0.
    pub fn success(&self) -> bool {
        self.status == Status::Exited(0)
    }
}

/// Why a [`Tool`] has no [`Outcome`]. `command` is the command line, for people.
#[derive(Debug)]
pub enum ToolError {
    /// It could not be started.
    NotStarted {
        /// The command line.
        command: String,
        /// Why.
        error: std::io::Error,
    },
    /// It ran past its time limit and was ended.
    TimedOut {
        /// The command line.
        command: String,
        /// The limit.
        limit: Duration,
    },
    /// It wrote more than the limit to standard output and was ended.
    TooMuchOutput {
        /// The command line.
        command: String,
        /// The limit in bytes.
        limit: usize,
    },
    /// This signal arrived and it was ended ([`Tool::stop_on_signal`]).
    Interrupted {
        /// The command line.
        command: String,
        /// The signal's number.
        signal: i32,
    },
    /// It could not be supervised.
    Io {
        /// The command line.
        command: String,
        /// What failed.
        error: std::io::Error,
    },
}

impl std::fmt::Display for ToolError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        todo!()
    }
}

impl std::error::Error for ToolError {}

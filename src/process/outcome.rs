//! How a tool ended, and why it may have no outcome.

use std::fmt;
use std::io;
use std::os::unix::process::ExitStatusExt;
use std::time::Duration;

/// How a program ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Status {
    /// With this exit status.
    Exited(i32),
    /// Killed by this signal.
    Signaled(i32),
}

impl Status {
    pub(super) fn of(status: std::process::ExitStatus) -> Status {
        match (status.code(), status.signal()) {
            (Some(code), _) => Status::Exited(code),
            (None, signal) => Status::Signaled(signal.unwrap_or(0)),
        }
    }
}

impl fmt::Display for Status {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Status::Exited(code) => write!(f, "exit status {code}"),
            Status::Signaled(signal) => write!(f, "killed by signal {signal}"),
        }
    }
}

/// What a [`super::Tool`] left.
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

/// Why a [`super::Tool`] has no [`Outcome`]. `command` is the command line, for people.
#[derive(Debug)]
pub enum ToolError {
    /// It could not be started.
    NotStarted {
        /// The command line.
        command: String,
        /// Why.
        error: io::Error,
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
    /// This signal arrived and it was ended ([`super::Tool::finish_after_signal`]).
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
        error: io::Error,
    },
}

impl fmt::Display for ToolError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ToolError::NotStarted { command, error } => write!(f, "cannot start `{command}`: {error}"),
            ToolError::TimedOut { command, limit } => {
                write!(f, "`{command}` was ended after {} s", limit.as_secs_f32())
            }
            ToolError::TooMuchOutput { command, limit } => {
                write!(f, "`{command}` wrote more than {limit} bytes and was ended")
            }
            ToolError::Interrupted { command, signal } => write!(f, "`{command}` was ended by signal {signal}"),
            ToolError::Io { command, error } => write!(f, "cannot supervise `{command}`: {error}"),
        }
    }
}

impl ToolError {
    /// The signal because of which a tool was ended, where that is what an error comes from.
    pub fn signal_in(error: &anyhow::Error) -> Option<i32> {
        match error.downcast_ref::<ToolError>()? {
            ToolError::Interrupted { signal, .. } => Some(*signal),
            _ => None,
        }
    }
}

impl std::error::Error for ToolError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            ToolError::NotStarted { error, .. } | ToolError::Io { error, .. } => Some(error),
            _ => None,
        }
    }
}

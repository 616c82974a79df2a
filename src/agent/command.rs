//! From what a person wrote to the program and arguments that run. No shell is involved.

use std::ffi::OsString;
use std::fmt;
use std::path::{Path, PathBuf};

/// Where the command stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Source {
    /// After `--` on the command line.
    CommandLine(Vec<OsString>),
    /// In `AGENT_CMD`: split like a shell does, then `--stateless --input <task> --apply` added.
    Variable(String),
    /// In the settings.
    Settings(Vec<String>),
}

/// What placeholders stand for.
#[derive(Clone, Copy, Debug)]
pub struct Fill<'a> {
    /// `{task_file}`: the agent's copy of the task.
    pub task_file: &'a Path,
    /// `{task}`: its text.
    pub task: &'a str,
    /// `{worktree}`.
    pub worktree: &'a Path,
    /// `{job}`: the job's id.
    pub job: &'a str,
    /// `{model}`: the model label, if one was given.
    pub model: Option<&'a str>,
}

/// A command whose program was found; placeholders are not yet filled.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Found {
    program: PathBuf,
    words: Vec<OsString>,
    from_variable: bool,
}

/// A command ready to run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AgentCommand {
    /// Absolute path of the program.
    pub program: PathBuf,
    /// The arguments, with the name as it was written first.
    pub argv: Vec<OsString>,
    /// What standard input is.
    pub stdin: Stdin,
}

/// What the agent reads on standard input.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stdin {
    /// The task file: no placeholder took it.
    Task,
    /// /dev/null.
    Null,
}

/// Why a command cannot run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CommandError {
    /// There is no word in it.
    Empty {
        /// Where it stands, in words.
        place: &'static str,
    },
    /// `AGENT_CMD` cannot be split (a quote is not closed).
    Unsplittable {
        /// Its value.
        value: String,
    },
    /// No such program.
    NotFound {
        /// The program as written.
        program: String,
        /// What may be wrong.
        hint: Option<String>,
    },
    /// A file is there but cannot be executed.
    NotExecutable {
        /// Its path.
        path: PathBuf,
    },
    /// The script's first line names an interpreter that cannot run.
    Interpreter {
        /// The script.
        path: PathBuf,
        /// The interpreter.
        interpreter: String,
        /// Why not.
        reason: String,
    },
    /// A placeholder cannot be filled.
    Placeholder {
        /// Its name, with braces.
        name: &'static str,
        /// Why not.
        reason: String,
    },
}

impl fmt::Display for CommandError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        todo!()
    }
}

impl std::error::Error for CommandError {}

impl Found {
    /// Finds the program on `path` (the value of PATH), before anything is made. A program with a
    /// slash is relative to `start_dir`, the absolute folder agentgate was started in.
    pub fn find(source: &Source, start_dir: &Path, path: Option<&std::ffi::OsStr>) -> Result<Found, CommandError> {
        todo!()
    }

    /// Fills the placeholders.
    pub fn fill(&self, fill: &Fill<'_>) -> Result<AgentCommand, CommandError> {
        todo!()
    }
}

/// For a command from `AGENT_CMD` whose program is a known agent that does not take the flags
/// added to it: the command to type instead.
pub fn hint(argv: &[OsString]) -> Option<String> {
    todo!()
}

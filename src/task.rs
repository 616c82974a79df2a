//! The task file: what is asked, and the scope that the gate holds the answer to.

use crate::gate::paths::PathRule;

/// Upper limit of a task file in bytes.
pub const MAX_BYTES: usize = 256 * 1024;

/// A task as given.
#[derive(Clone, Debug)]
pub struct Task {
    /// `Goal:`, else the first non-empty line (Markdown heading marks removed); never empty.
    pub goal: String,
    /// `Allowed files:`; empty: no such limit.
    pub allowed_files: Vec<PathRule>,
    /// `Areas:`; names from the policy; empty: no such limit.
    pub areas: Vec<String>,
    /// The Non-goals name `new dependencies`.
    pub no_new_dependencies: bool,
    /// The Non-goals name `new directories`.
    pub no_new_directories: bool,
    /// The Non-goals as written, one an item.
    pub non_goals: Vec<String>,
    /// `Timeout:` in seconds.
    pub timeout: Option<u64>,
    /// The whole text, for the agent.
    pub text: String,
}

/// Why a task file cannot be used (exit 22). Display is one or two lines with line number and hint.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BadTask {
    /// 1-based line, where there is one.
    pub line: Option<u32>,
    /// Lower case, one line.
    pub message: String,
    /// What to do, one line.
    pub hint: String,
}

impl Task {
    /// Reads a task file's bytes.
    pub fn parse(bytes: &[u8]) -> Result<Task, BadTask> {
        todo!()
    }

    /// The scope in words, one line an entry, for printing before the agent starts.
    pub fn scope(&self) -> Vec<String> {
        todo!()
    }
}

/// Durations as written everywhere: a whole number with s, m, h or d. In seconds.
pub fn parse_duration(text: &str) -> Result<u64, String> {
    todo!()
}

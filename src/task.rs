//! The task file: what is asked, and the scope that the gate holds the answer to.
//!
//! Invariant: a line that a person would take for a limit is read as one or refused; it never
//! turns into prose silently.

mod duration;
mod lines;
mod near;
mod non_goals;
#[cfg(test)]
mod tests;
#[cfg(test)]
mod tests_near;
mod values;

use std::fmt;

use crate::paths::PathRule;
pub(crate) use crate::paths::is_invisible;
pub use duration::{format_duration, parse_duration};
use lines::{Block, Key};

/// Upper limit of a task file in bytes.
pub const MAX_BYTES: usize = 256 * 1024;

/// A task as given.
#[derive(Clone, Debug)]
pub struct Task {
    /// `Goal:`, else what stands under a heading or behind a label `Goal`, else the first non-empty
    /// line (Markdown heading marks removed); never empty.
    pub goal: String,
    /// `Allowed files:`; empty: no such limit.
    pub allowed_files: Vec<PathRule>,
    /// `Areas:`; names from the policy; empty: no such limit.
    pub areas: Vec<String>,
    /// The Non-goals name `new dependencies` (or packages, libraries, deps; one or many).
    pub no_new_dependencies: bool,
    /// The Non-goals name `new directories` (or folders, dirs; one or many).
    pub no_new_directories: bool,
    /// The Non-goals as written, one an item.
    pub non_goals: Vec<String>,
    /// `Timeout:` in seconds.
    pub timeout: Option<u64>,
    /// The whole text, for the agent.
    pub text: String,
    /// 1-based lines of `areas`.
    area_lines: Vec<u32>,
    /// Non-goals in which nothing, or not everything, is enforced.
    not_enforced: Vec<String>,
    /// What sounds like a limit and is not read as one, each a sentence.
    unread: Vec<String>,
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

impl fmt::Display for BadTask {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.line {
            Some(line) => write!(f, "task line {line}: {}", self.message)?,
            None => write!(f, "task: {}", self.message)?,
        }
        match self.hint.is_empty() {
            true => Ok(()),
            false => write!(f, "\nhint: {}", self.hint),
        }
    }
}

impl std::error::Error for BadTask {}

fn bad<T>(line: impl Into<Option<u32>>, message: impl Into<String>, hint: impl Into<String>) -> Result<T, BadTask> {
    Err(BadTask {
        line: line.into(),
        message: message.into(),
        hint: hint.into(),
    })
}

impl Task {
    /// Reads a task file's bytes: UTF-8, with or without a byte order mark, LF or CRLF.
    ///
    /// Keys stand at the start of a line, without regard to case. Their values follow on the line,
    /// comma-separated, or below as `-`, `*` or `+` items, or both. Paths with a comma or outer
    /// blanks stand in backticks or quotes. Fenced code blocks are prose.
    pub fn parse(bytes: &[u8]) -> Result<Task, BadTask> {
        let text = text(bytes)?;
        let read = lines::read(text)?;
        let mut task = Task {
            goal: String::new(),
            allowed_files: Vec::new(),
            areas: Vec::new(),
            no_new_dependencies: false,
            no_new_directories: false,
            non_goals: Vec::new(),
            timeout: None,
            text: text.to_owned(),
            area_lines: Vec::new(),
            not_enforced: Vec::new(),
            unread: read.unread,
        };
        for Block { key, line, values } in &read.blocks {
            let Some(first) = values.first() else {
                return bad(*line, format!("`{}:` has no value", key.name()), key.usage());
            };
            let one = || match values.len() {
                1 => Ok(first),
                _ => bad(*line, format!("`{}:` takes one value", key.name()), key.usage()),
            };
            match key {
                Key::Goal => task.goal = one()?.text.clone(),
                Key::Timeout => {
                    let value = one()?;
                    match parse_duration(&value.text) {
                        Ok(seconds) => task.timeout = Some(seconds),
                        Err(message) => {
                            let hint = match duration::suggested(&value.text) {
                                Some(meant) => format!("write `Timeout: {meant}`"),
                                None => key.usage().to_owned(),
                            };
                            return bad(value.line, message, hint);
                        }
                    }
                }
                Key::Areas => {
                    task.area_lines = values.iter().map(|value| value.line).collect();
                    task.areas = values.iter().map(|value| value.text.clone()).collect();
                }
                Key::NonGoals => {
                    task.non_goals = values.iter().map(|value| value.text.clone()).collect();
                    for item in &task.non_goals {
                        let limits = non_goals::limits(item);
                        task.no_new_dependencies |= limits.dependencies;
                        task.no_new_directories |= limits.directories;
                        if limits.others || !(limits.dependencies || limits.directories) {
                            task.not_enforced.push(item.clone());
                        }
                    }
                }
                Key::AllowedFiles => {
                    for (index, value) in values.iter().enumerate() {
                        match PathRule::parse(&value.text, format!("task: Allowed files[{index}]")) {
                            Ok(rule) => task.allowed_files.push(rule),
                            Err(message) => return bad(value.line, message, "fix or remove this entry"),
                        }
                    }
                }
            }
        }
        if task.goal.is_empty() {
            task.goal = match read.labelled_goal.or(read.first_prose) {
                Some(goal) => goal,
                None => return bad(None, "it says nothing but its limits", "add a line `Goal: ...`"),
            };
        }
        Ok(task)
    }

    /// The scope in words, one line an entry, for printing before the agent starts.
    pub fn scope(&self) -> Vec<String> {
        let mut lines = Vec::new();
        let mut line = |what: &str, items: Vec<&str>| {
            if !items.is_empty() {
                let items: Vec<String> = items.iter().map(|item| item.escape_debug().to_string()).collect();
                lines.push(format!("{what}: {}", items.join(", ")));
            }
        };
        line(
            "allowed files",
            self.allowed_files.iter().map(|rule| rule.text.as_str()).collect(),
        );
        line("areas", self.areas.iter().map(String::as_str).collect());
        let enforced = [
            (self.no_new_dependencies, "no new dependencies"),
            (self.no_new_directories, "no new directories"),
        ];
        line(
            "non-goals enforced",
            enforced.iter().filter(|e| e.0).map(|e| e.1).collect(),
        );
        let limits = lines.len();
        if let Some(seconds) = self.timeout {
            lines.push(format!("timeout: {}", format_duration(seconds)));
        }
        match (limits, self.timeout) {
            (0, None) => lines.push("no limit in the task; the policy alone judges".to_owned()),
            (0, Some(_)) => lines.push("nothing else is limited by the task; the policy alone judges".to_owned()),
            _ => {}
        }
        if !self.not_enforced.is_empty() {
            let items: Vec<String> = self
                .not_enforced
                .iter()
                .map(|item| item.escape_debug().to_string())
                .collect();
            lines.push(format!("not enforced (for the agent to read): {}", items.join(", ")));
        }
        lines.extend(self.unread.iter().cloned());
        lines
    }

    /// What sounds like a limit and is none, each a sentence.
    pub fn unread(&self) -> &[String] {
        &self.unread
    }

    /// The 1-based line of the task file that names this area, for messages.
    pub fn area_line(&self, name: &str) -> Option<u32> {
        let index = self.areas.iter().position(|area| area == name)?;
        self.area_lines.get(index).copied()
    }
}

/// The text without a byte order mark.
fn text(bytes: &[u8]) -> Result<&str, BadTask> {
    if bytes.len() > MAX_BYTES {
        let message = format!("{} bytes, more than the limit of {MAX_BYTES}", bytes.len());
        return bad(
            None,
            message,
            "put long material into files of the repository and name them",
        );
    }
    let line_of = |index: usize| bytes[..index].iter().filter(|&&b| b == b'\n').count() as u32 + 1;
    let text = match std::str::from_utf8(bytes) {
        Ok(text) => text.strip_prefix('\u{feff}').unwrap_or(text),
        Err(error) => return bad(line_of(error.valid_up_to()), "not UTF-8", "save the task as UTF-8"),
    };
    if let Some(index) = bytes.iter().position(|&b| b == 0) {
        return bad(line_of(index), "a NUL byte", "remove it");
    }
    // What one program takes for two lines and another for one would hide a key from a reader.
    let ends_a_line = |(index, c): (usize, char)| match c {
        '\r' => !text[index + 1..].starts_with('\n'),
        '\u{b}' | '\u{c}' | '\u{85}' | '\u{2028}' | '\u{2029}' => true,
        _ => false,
    };
    if let Some((index, c)) = text.char_indices().find(|&at| ends_a_line(at)) {
        let what = match c {
            '\r' => "a carriage return without a line feed".to_owned(),
            c => format!("U+{:04X}, which ends a line for some programs", c as u32),
        };
        let line = text[..index].matches('\n').count() as u32 + 1;
        return bad(line, what, "save the task with LF or CRLF line ends");
    }
    if text.trim().is_empty() {
        return bad(
            None,
            "empty",
            "say what is to be done, such as `Goal: bounded retry in payments`",
        );
    }
    Ok(text)
}

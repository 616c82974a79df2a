//! The task file: what is asked, and the scope that the gate holds the answer to.
//!
//! Invariant: a line that a person would take for a limit is read as one or refused; it never
//! turns into prose silently.

mod lines;
#[cfg(test)]
mod tests;

use std::fmt;

use crate::paths::PathRule;
use lines::{Block, Key};

/// Upper limit of a task file in bytes.
pub const MAX_BYTES: usize = 256 * 1024;

/// Upper limit of a duration in seconds: ten years, so that sums of times cannot overflow.
const MAX_SECONDS: u64 = 3650 * 24 * 3600;

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
                        Err(message) => return bad(value.line, message, key.usage()),
                    }
                }
                Key::Areas => task.areas = values.iter().map(|value| value.text.clone()).collect(),
                Key::NonGoals => {
                    task.non_goals = values.iter().map(|value| value.text.clone()).collect();
                    task.no_new_dependencies = task.non_goals.iter().any(|item| names(item, "new dependencies"));
                    task.no_new_directories = task.non_goals.iter().any(|item| names(item, "new directories"));
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
            task.goal = match read.first_prose {
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
        if lines.is_empty() {
            lines.push("no limit in the task; the policy alone judges".to_owned());
        }
        if let Some(seconds) = self.timeout {
            lines.push(format!("timeout: {}", format_duration(seconds)));
        }
        lines
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
    if text.trim().is_empty() {
        return bad(
            None,
            "empty",
            "say what is to be done, such as `Goal: bounded retry in payments`",
        );
    }
    Ok(text)
}

/// Whether the phrase stands in the item, whatever the case, blanks and Markdown marks.
fn names(item: &str, phrase: &str) -> bool {
    let plain: String = item.chars().filter(|c| !matches!(c, '*' | '_' | '`')).collect();
    let words: Vec<&str> = plain.split_whitespace().collect();
    words.join(" ").to_lowercase().contains(phrase)
}

/// Durations as written everywhere: a whole number with s, m, h or d. In seconds, at least one and
/// at most ten years.
pub fn parse_duration(text: &str) -> Result<u64, String> {
    let wrong = || {
        let shown = text.escape_debug();
        format!("`{shown}` is no duration; write a whole number with s, m, h or d, such as 90s or 5m")
    };
    let unit = text.chars().last().ok_or_else(wrong)?;
    let seconds = match unit {
        's' => 1,
        'm' => 60,
        'h' => 3600,
        'd' => 24 * 3600,
        _ => return Err(wrong()),
    };
    let digits = &text[..text.len() - 1];
    if digits.is_empty() || !digits.bytes().all(|b| b.is_ascii_digit()) {
        return Err(wrong());
    }
    let total = digits
        .parse::<u64>()
        .ok()
        .and_then(|number| number.checked_mul(seconds));
    match total {
        Some(0) => Err(format!("`{text}` is no time at all")),
        Some(total) if total <= MAX_SECONDS => Ok(total),
        _ => Err(format!("`{text}` is longer than 3650d")),
    }
}

/// Seconds in the largest unit that leaves no rest: `90s`, `5m`.
pub fn format_duration(seconds: u64) -> String {
    let (size, unit) = [(24 * 3600, 'd'), (3600, 'h'), (60, 'm')]
        .into_iter()
        .find(|&(size, _)| seconds != 0 && seconds.is_multiple_of(size))
        .unwrap_or((1, 's'));
    format!("{}{unit}", seconds / size)
}

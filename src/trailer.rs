//! Commit messages of agent commits: written, parsed and required in one place.
//!
//! Invariant: there is one spelling. A commit that claims in any other way to come from an agent
//! is faulty, so that a check can neither be passed nor be dodged by a near miss.

mod read;
#[cfg(test)]
mod tests;
#[cfg(test)]
mod tests_hidden;

pub use read::{Reading, read};

/// Longest goal in a subject, in columns.
const MAX_GOAL: usize = 72;

/// What the message of a candidate is made of. Values are checked, never cleaned up silently.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Trailers {
    /// `Agent-Job-Id`
    pub job_id: String,
    /// `Agent-Host`
    pub host: String,
    /// `Agent-Model-Label`
    pub model_label: String,
    /// `Agent-Task-Sha256`, lower-case hex
    pub task_sha256: Option<String>,
    /// `Agent-Policy-Oid`, hex
    pub policy_oid: Option<String>,
    /// `Agent-Confinement`
    pub confinement: Option<String>,
    /// `Agent-Log-Sum`, lower-case hex
    pub log_sum: Option<String>,
}

/// The keys in the order in which they are written; the first three are required.
const KEYS: [&str; 7] = [
    "Agent-Job-Id",
    "Agent-Host",
    "Agent-Model-Label",
    "Agent-Task-Sha256",
    "Agent-Policy-Oid",
    "Agent-Confinement",
    "Agent-Log-Sum",
];
const REQUIRED: usize = 3;

impl Trailers {
    fn values(&self) -> [Option<&str>; 7] {
        [
            Some(&self.job_id),
            Some(&self.host),
            Some(&self.model_label),
            self.task_sha256.as_deref(),
            self.policy_oid.as_deref(),
            self.confinement.as_deref(),
            self.log_sum.as_deref(),
        ]
    }

    /// Whether each value may stand in a commit. The error is one line and names the trailer.
    pub fn validate(&self) -> Result<(), String> {
        KEYS.iter().zip(self.values()).try_for_each(|(key, value)| match value {
            Some(value) => check(key, value),
            None => Ok(()),
        })
    }
}

/// Whether a value may stand in a trailer: `[A-Za-z0-9._:/@+,-]{1,128}`.
pub fn valid_value(value: &str) -> bool {
    (1..=128).contains(&value.len())
        && value
            .bytes()
            .all(|b| b.is_ascii_alphanumeric() || b"._:/@+,-".contains(&b))
}

/// Whether a job may be called so: `[A-Za-z0-9_][A-Za-z0-9._-]{0,63}`, no `..`, not ending in `.`
/// or `.lock`, since it becomes part of a ref name and of a path.
pub fn valid_job_id(id: &str) -> bool {
    (1..=64).contains(&id.len())
        && id.bytes().all(|b| b.is_ascii_alphanumeric() || b"._-".contains(&b))
        && !id.starts_with(['.', '-'])
        && !id.contains("..")
        && !id.ends_with('.')
        && !id.to_ascii_lowercase().ends_with(".lock")
}

fn check(key: &str, value: &str) -> Result<(), String> {
    let hex = |lengths: &[usize]| {
        lengths.contains(&value.len()) && value.bytes().all(|b| matches!(b, b'0'..=b'9' | b'a'..=b'f'))
    };
    let (valid, expected) = match key {
        "Agent-Job-Id" => (valid_job_id(value), "a job id"),
        "Agent-Task-Sha256" | "Agent-Log-Sum" => (hex(&[64]), "64 lower-case hex digits"),
        "Agent-Policy-Oid" => (hex(&[40, 64]), "40 or 64 lower-case hex digits"),
        _ => (valid_value(value), "1 to 128 of A-Z a-z 0-9 . _ : / @ + , -"),
    };
    match valid {
        true => Ok(()),
        false => Err(format!("{key} cannot be `{}`; expected {expected}", shown(value))),
    }
}

/// Untrusted text for a message: escaped and cut.
fn shown(text: &str) -> String {
    let cut: String = text.chars().take(60).collect();
    let more = if cut.len() < text.len() { "..." } else { "" };
    format!("{}{more}", cut.escape_debug())
}

/// The whole commit message, with a final newline. `goal` is cut to one line of 72 columns for
/// the subject, control characters replaced.
///
/// # Panics
/// If [`Trailers::validate`] fails: a value with a line break in it would forge further trailers.
pub fn message(goal: &str, trailers: &Trailers) -> String {
    let valid = trailers.validate();
    assert!(valid.is_ok(), "trailers are checked before they are written: {valid:?}");
    let mut message = format!("agent job {}: {}\n\n", trailers.job_id, one_line(goal));
    for (key, value) in KEYS.iter().zip(trailers.values()) {
        if let Some(value) = value {
            message.push_str(&format!("{key}: {value}\n"));
        }
    }
    message
}

/// One line without characters that act on a terminal or hide, at most [`MAX_GOAL`] columns wide.
fn one_line(goal: &str) -> String {
    let is_acting = |c: char| {
        c.is_control()
            || matches!(c, '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{feff}')
    };
    let plain: String = goal.chars().map(|c| if is_acting(c) { ' ' } else { c }).collect();
    let text = plain.split_whitespace().collect::<Vec<_>>().join(" ");
    if text.is_empty() {
        return "(no goal)".to_owned();
    }
    if text.chars().map(columns).sum::<usize>() <= MAX_GOAL {
        return text;
    }
    let mut width = 1;
    let cut: String = text
        .chars()
        .take_while(|&c| {
            width += columns(c);
            width <= MAX_GOAL
        })
        .collect();
    format!("{}…", cut.trim_end())
}

/// Columns of a character on a terminal: two for the wide blocks of East Asian scripts and emoji.
fn columns(c: char) -> usize {
    match c {
        '\u{1100}'..='\u{115f}'
        | '\u{2e80}'..='\u{a4cf}'
        | '\u{ac00}'..='\u{d7a3}'
        | '\u{f900}'..='\u{faff}'
        | '\u{fe30}'..='\u{fe6f}'
        | '\u{ff00}'..='\u{ff60}'
        | '\u{ffe0}'..='\u{ffe6}'
        | '\u{1f300}'..='\u{1faff}'
        | '\u{20000}'..='\u{3fffd}' => 2,
        _ => 1,
    }
}

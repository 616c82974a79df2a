//! What a `check` came to, made ready for every format at once.
//!
//! Invariants: whatever a repository can put into a path or a message is escaped here, so that a
//! format has only its own syntax to care for; a refusal is a thing to report like a finding, so
//! that no format can print an empty and therefore green document for it.

use crate::commands::check;
use crate::exit::{Exit, Stop};
use crate::gate::{Finding, Warning, meaning, render};
use crate::job::log::sha256_hex;

/// The result of a `check`.
pub struct Checked<'a> {
    /// The report, or why there is none.
    pub outcome: Outcome<'a>,
    /// Findings, then warnings.
    pub items: Vec<Item>,
    /// One line each.
    pub notices: Vec<String>,
}

/// Whether a verdict was reached.
#[derive(Clone, Copy)]
pub enum Outcome<'a> {
    /// It was.
    Judged(&'a check::Report),
    /// It was not.
    Refused(&'a Stop),
}

/// How much an item weighs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Level {
    /// A finding.
    Error,
    /// A warning.
    Warning,
}

/// A finding or a warning. All text is one line without control characters.
#[derive(Clone, Debug)]
pub struct Item {
    /// Its weight.
    pub level: Level,
    /// The rule's stable code.
    pub code: &'static str,
    /// Repository-relative path as git's bytes; empty where there is none.
    pub path: Vec<u8>,
    /// The same for a reader, escaped; without a path what the item is about: a commit, the task, the
    /// whole change.
    pub shown: String,
    /// 1-based line.
    pub line: Option<u32>,
    /// 1-based column in bytes.
    pub column: Option<u32>,
    /// 1-based column in UTF-16 code units, where the line is known.
    pub column_utf16: Option<u32>,
    /// The key that judged it.
    pub key: String,
    /// What is wrong, with the commit where it is of one.
    pub message: String,
    /// What to do about it; may be empty.
    pub hint: String,
    /// The last lines of output of a check that failed; printable.
    pub output: Vec<String>,
    /// The commit's id, where it is of one.
    pub commit: Option<String>,
    /// The exit code of a finding.
    pub exit: Option<Exit>,
    /// Lower-case hex SHA-256, the same as long as the item is the same: rule, path, and the line's text
    /// (else the message) go into it, and which of several such it is; no line number does.
    pub fingerprint: String,
}

impl<'a> Checked<'a> {
    /// Of a verdict.
    pub fn judged(report: &'a check::Report) -> Checked<'a> {
        let findings = report.verdict.findings.iter().map(of_finding);
        let warnings = report.verdict.warnings.iter().map(of_warning);
        let mut items: Vec<Item> = findings.chain(warnings).collect();
        fingerprint(&mut items, &report.verdict.findings);
        for check in &report.verdict.checks {
            let Some(found) = check.finding() else { continue };
            let is_of_it =
                |item: &&mut Item| item.key == one_line(&found.judged_by) && item.message == one_line(&found.message);
            if let Some(item) = items.iter_mut().find(is_of_it) {
                item.output.clone_from(&check.last_lines);
            }
        }
        Checked {
            outcome: Outcome::Judged(report),
            items,
            notices: report.verdict.notices.iter().map(|notice| one_line(notice)).collect(),
        }
    }

    /// Of a refusal.
    pub fn refused(stop: &'a Stop) -> Checked<'a> {
        Checked {
            outcome: Outcome::Refused(stop),
            items: Vec::new(),
            notices: Vec::new(),
        }
    }

    /// The exit.
    pub fn exit(&self) -> Exit {
        match self.outcome {
            Outcome::Judged(report) => report.exit,
            Outcome::Refused(stop) => stop.exit,
        }
    }

    /// The items of one weight.
    pub fn of(&self, level: Level) -> impl Iterator<Item = &Item> {
        self.items.iter().filter(move |item| item.level == level)
    }

    /// The last line of the text.
    pub fn summary(&self) -> String {
        match self.outcome {
            Outcome::Judged(report) => render::summary(&report.verdict),
            Outcome::Refused(stop) => format!("not judged; {} (exit {})", stop.exit.name(), stop.exit.code()),
        }
    }
}

impl Item {
    /// `path:line:column`, as far as known, for a reader.
    pub fn place(&self) -> String {
        let mut shown = self.shown.clone();
        for number in [self.line, self.line.and(self.column)].into_iter().flatten() {
            shown.push_str(&format!(":{number}"));
        }
        shown
    }

    /// The message for a format that wants a file for everything: it says what it is about where that is no file.
    pub fn told(&self) -> String {
        match self.path.is_empty() && self.commit.is_none() {
            true => format!("{}: {}", self.shown, self.message),
            false => self.message.clone(),
        }
    }
}

/// Why there is no verdict: the message, then its hints, as lines.
pub fn reason(stop: &Stop) -> String {
    let mut text = render::lines(&stop.message);
    for hint in &stop.hints {
        text.push_str(&format!("\nhint: {}", render::lines(hint)));
    }
    text
}

fn one_line(text: &str) -> String {
    render::lines(text).replace('\n', "\\n")
}

fn of_finding(finding: &Finding) -> Item {
    Item {
        level: Level::Error,
        code: finding.rule.code(),
        path: finding.path.clone(),
        shown: match finding.path.is_empty() {
            true => render::place(finding),
            false => render::path(&finding.path),
        },
        line: finding.line,
        column: finding.column,
        column_utf16: finding.at.as_ref().and_then(|line| line.column_utf16),
        key: one_line(&finding.judged_by),
        message: message(&finding.message, finding.commit.as_deref()),
        hint: one_line(&finding.hint),
        output: Vec::new(),
        commit: finding.commit.clone(),
        exit: Some(finding.rule.exit()),
        fingerprint: String::new(),
    }
}

fn of_warning(warning: &Warning) -> Item {
    Item {
        level: Level::Warning,
        code: meaning::WARNING,
        path: warning.path.clone(),
        shown: render::path(&warning.path),
        line: None,
        column: None,
        column_utf16: None,
        key: one_line(&warning.judged_by),
        message: message(&warning.message, warning.commit.as_deref()),
        hint: meaning::WARNING_HINT.to_owned(),
        output: Vec::new(),
        commit: warning.commit.clone(),
        exit: None,
        fingerprint: String::new(),
    }
}

fn message(text: &str, commit: Option<&str>) -> String {
    match commit {
        Some(commit) => format!("{} (in commit {})", one_line(text), commit.get(..12).unwrap_or(commit)),
        None => one_line(text),
    }
}

/// Items come in a settled order, so that the count of equal ones is stable.
fn fingerprint(items: &mut [Item], findings: &[Finding]) {
    let mut seen = std::collections::HashMap::new();
    for (index, item) in items.iter_mut().enumerate() {
        let line = findings.get(index).and_then(|finding| finding.at.as_ref());
        // A commit's id is in the message, and a rebase changes it.
        let text = match (line, findings.get(index)) {
            (Some(line), _) => line.text.clone(),
            (None, Some(finding)) => finding.message.clone(),
            (None, None) => item.message.clone(),
        };
        let what = sha256_hex(&[item.code.as_bytes(), b"\0", &item.path, b"\0", text.as_bytes()]);
        let count = seen.entry(what.clone()).or_insert(0u32);
        item.fingerprint = sha256_hex(&[what.as_bytes(), b"\0", count.to_string().as_bytes()]);
        *count += 1;
    }
}

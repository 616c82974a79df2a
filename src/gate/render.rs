//! Findings and verdicts as lines and as JSON: the same words in the terminal, in `gate.log` and
//! in reports. File names and import texts are untrusted and printed escaped.

use std::collections::HashSet;

use serde_json::{Value, json};

use super::checks::{Cause, CheckResult};
use super::meaning::WARNING_HINT;
use super::{Finding, Inspected, Rule, Verdict, Warning};
use crate::exit::Exit;
use crate::paths::is_invisible;
use crate::task::format_duration;

/// A path as one printable line: control characters, what cannot be seen, quotes of a backslash and
/// bytes that are not UTF-8 escaped, letters of all scripts as they are. What a CI's log reader would
/// take for a command (`::error`, `##[error]`, `##vso[`) is escaped too.
pub fn path(bytes: &[u8]) -> String {
    let mut shown = String::new();
    for chunk in bytes.utf8_chunks() {
        plain(chunk.valid(), &mut shown);
        shown.extend(chunk.invalid().iter().map(|byte| format!("\\x{byte:02x}")));
    }
    shown
}

/// Text of many lines from elsewhere (a refusal that quotes a file), each line made safe as by [`path`].
pub fn lines(text: &str) -> String {
    let safe = |line: &str| {
        let mut shown = String::new();
        // It was escaped where it was quoted: a backslash here is an escape already.
        for (index, part) in line.split('\\').enumerate() {
            shown.push_str(if index == 0 { "" } else { "\\" });
            plain(part, &mut shown);
        }
        shown
    };
    text.split('\n').map(safe).collect::<Vec<_>>().join("\n")
}

fn plain(text: &str, shown: &mut String) {
    for letter in text.chars() {
        // Format characters (bidirectional marks, zero width) must not reach a terminal, and line
        // separators are line breaks to some readers.
        let hides = is_invisible(letter) || matches!(letter, '\u{2028}' | '\u{2029}');
        let commands = match letter {
            ':' => shown.trim().is_empty(),
            '#' => shown.ends_with('#'),
            _ => false,
        };
        if letter.is_control() || hides || letter == '\\' {
            shown.extend(letter.escape_default());
        } else if commands {
            shown.extend(letter.escape_unicode());
        } else {
            shown.push(letter);
        }
    }
}

/// `path:line:column`, as far as known; without a path what it is about: a commit, the task, the whole change.
pub fn place(finding: &Finding) -> String {
    let mut shown = match &finding.commit {
        _ if !finding.path.is_empty() => path(&finding.path),
        Some(commit) => format!("commit {commit}"),
        None => about(finding.rule).to_owned(),
    };
    for number in [finding.line, finding.line.and(finding.column)].into_iter().flatten() {
        shown.push_str(&format!(":{number}"));
    }
    shown
}

/// What a finding without path and commit is about.
fn about(rule: Rule) -> &'static str {
    match rule {
        Rule::Credential => "task",
        _ => "whole change",
    }
}

/// A finding in three lines: place and message, rule, hint.
pub fn finding(finding: &Finding) -> String {
    let Finding {
        rule,
        message,
        judged_by,
        hint,
        ..
    } = finding;
    let commit = match &finding.commit {
        Some(commit) if !finding.path.is_empty() => format!(" (in commit {})", commit.get(..12).unwrap_or(commit)),
        _ => String::new(),
    };
    let mut text = format!(
        "{}: {message}{commit}\n  rule: {} [{judged_by}] (exit {})\n",
        place(finding),
        rule.code(),
        rule.exit().code()
    );
    if !hint.is_empty() {
        text.push_str(&format!("  hint: {hint}\n"));
    }
    text
}

/// Warnings that a terminal shows; all of them are in the JSON.
const MAX_WARNINGS: usize = 20;

/// All warnings, a line each, and what to do about them.
pub fn warnings(warnings: &[Warning]) -> String {
    if warnings.is_empty() {
        return String::new();
    }
    let mut text = String::new();
    for warning in warnings.iter().take(MAX_WARNINGS) {
        let commit = match &warning.commit {
            Some(commit) => format!(" (in commit {})", commit.get(..12).unwrap_or(commit)),
            None => String::new(),
        };
        text.push_str(&format!(
            "warning: {}: {}{commit} [{}]\n",
            path(&warning.path),
            warning.message,
            warning.judged_by
        ));
    }
    if let Some(more) = warnings.len().checked_sub(MAX_WARNINGS + 1) {
        text.push_str(&format!("warning: and {} more such files\n", more + 1));
    }
    // Warnings of other rules say in themselves what is to be looked at.
    if warnings.iter().any(|warning| warning.judged_by.starts_with("autoexec")) {
        text.push_str(&format!("hint: {WARNING_HINT}\n"));
    }
    text
}

/// One line for each check, and the last lines of those that failed.
pub fn checks(results: &[CheckResult]) -> String {
    let mut text = String::new();
    for result in results {
        let time = match result.millis {
            0 => String::new(),
            millis => format!(" after {}", format_duration(millis / 1000)),
        };
        text.push_str(&format!("check `{}`: {}{time}\n", result.name, result.end.words()));
        text.extend(result.last_lines.iter().map(|line| format!("  | {line}\n")));
    }
    text
}

/// The last line: `invariants ok; 3 paths checked`, `invariants broken; 4 findings in 2 paths and the whole
/// change (exit 7)`.
pub fn summary(verdict: &Verdict) -> String {
    let plural = |count: usize, word: &str| format!("{count} {word}{}", if count == 1 { "" } else { "s" });
    if verdict.exit() == Exit::Ok {
        return format!("invariants ok; {} checked", plural(verdict.paths_checked, "path"));
    }
    // A limit of the whole change, a commit's message and the task are no paths.
    let mut places = Vec::new();
    let paths = verdict.broken_paths();
    if paths > 0 {
        places.push(plural(paths, "path"));
    }
    let elsewhere = || verdict.findings.iter().filter(|found| found.path.is_empty());
    let commits: HashSet<&String> = elsewhere().filter_map(|found| found.commit.as_ref()).collect();
    if !commits.is_empty() {
        places.push(plural(commits.len(), "commit"));
    }
    for what in ["whole change", "task"] {
        if elsewhere().any(|found| found.commit.is_none() && about(found.rule) == what) {
            places.push(format!("the {what}"));
        }
    }
    let last = places.pop().unwrap_or_default();
    let before = match places.is_empty() {
        true => String::new(),
        false => format!("{} and ", places.join(", ")),
    };
    format!(
        "invariants broken; {} in {before}{last} (exit {})",
        plural(verdict.findings.len(), "finding"),
        verdict.exit().code()
    )
}

/// Findings, checks, warnings, notices and the summary.
pub fn text(verdict: &Verdict) -> String {
    let mut lines: String = verdict.findings.iter().map(finding).collect();
    lines.push_str(&checks(&verdict.checks));
    lines.push_str(&warnings(&verdict.warnings));
    lines.extend(verdict.notices.iter().map(|notice| format!("note: {notice}\n")));
    lines.push_str(&summary(verdict));
    lines.push('\n');
    lines
}

/// One finding as JSON. A path that is not UTF-8 has `path` escaped and `path_b64` beside it.
pub fn finding_json(finding: &Finding) -> Value {
    let mut object = json!({
        "rule": finding.rule.code(),
        "exit": finding.rule.exit().code(),
        "line": finding.line,
        "column": finding.column,
        "judged_by": finding.judged_by,
        "message": finding.message,
        "hint": finding.hint,
        "commit": finding.commit,
    });
    put_path(&mut object, &finding.path);
    object
}

/// One warning as JSON.
pub fn warning_json(warning: &Warning) -> Value {
    let mut object = json!({
        "judged_by": warning.judged_by,
        "message": warning.message,
        "commit": warning.commit,
    });
    put_path(&mut object, &warning.path);
    object
}

/// One check as JSON.
pub fn check_json(result: &CheckResult) -> Value {
    let mut object = json!({
        "key": result.key,
        "name": result.name,
        "words": result.end.words(),
        "millis": result.millis,
        "last_lines": result.last_lines,
        "log": result.log,
        "baseline": result.baseline,
        "broken_by": result.cause().map(Cause::word),
    });
    // How it ended, as in the event: `ending`, and `status`, `signal`, `timeout` or `error`.
    if let Ok(Value::Object(end)) = serde_json::to_value(&result.end) {
        end.into_iter().for_each(|(key, value)| object[key] = value);
    }
    object
}

/// Sets `path`, and `path_b64` where the former cannot hold it.
pub fn put_path(object: &mut Value, bytes: &[u8]) {
    match std::str::from_utf8(bytes) {
        // A name with a line break in it is escaped here as well, and whole beside it.
        Ok(text) if path(bytes) == text => object["path"] = text.into(),
        _ => {
            object["path"] = path(bytes).into();
            object["path_b64"] = base64(bytes).into();
        }
    }
}

/// The path that [`put_path`] has set.
pub fn path_of(object: &Value) -> Vec<u8> {
    let text = |key: &str| object[key].as_str();
    match text("path_b64") {
        Some(encoded) => unbase64(encoded),
        None => text("path").unwrap_or_default().as_bytes().to_vec(),
    }
}

/// The verdict as JSON.
pub fn json(verdict: &Verdict) -> Value {
    json!({
        "schema": "agentgate/verdict/1",
        "verdict": verdict.exit().name(),
        "exit": verdict.exit().code(),
        "paths_checked": verdict.paths_checked,
        "policies": verdict.policies,
        "inspected": inspected_json(&verdict.inspected),
        "warnings": verdict.warnings.iter().map(warning_json).collect::<Vec<_>>(),
        "notices": verdict.notices,
        "findings": verdict.findings.iter().map(finding_json).collect::<Vec<_>>(),
        "checks": verdict.checks.iter().map(check_json).collect::<Vec<_>>(),
    })
}

/// What was looked at, as JSON.
pub fn inspected_json(inspected: &Inspected) -> Value {
    let named = |bytes: &[u8]| {
        let mut object = json!({});
        put_path(&mut object, bytes);
        object
    };
    json!({
        "files": inspected.files.len(),
        "manifests": inspected.manifests.len(),
        "imports": inspected.imports(),
        "skipped": inspected.reasons().into_iter().map(|(reason, paths)| json!({
            "reason": reason,
            "count": paths.len(),
            "paths": paths.into_iter().map(named).collect::<Vec<_>>(),
        })).collect::<Vec<_>>(),
        "rules": inspected.rules.iter().map(|active| json!({
            "rule": active.rule.code(),
            "key": active.key,
            "entry": active.entry,
            "reach": active.reach.word(),
        })).collect::<Vec<_>>(),
    })
}

const ALPHABET: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

/// The bytes of [`base64`]; what is no digit of it ends them.
fn unbase64(text: &str) -> Vec<u8> {
    let digits = text
        .bytes()
        .map_while(|byte| ALPHABET.iter().position(|digit| *digit == byte));
    let (mut bytes, mut word, mut bits) = (Vec::new(), 0u32, 0);
    for digit in digits {
        word = word << 6 | digit as u32 & 63;
        bits += 6;
        if bits >= 8 {
            bits -= 8;
            bytes.push((word >> bits) as u8);
            word &= (1 << bits) - 1;
        }
    }
    bytes
}

/// Standard base64 with padding (RFC 4648, section 4).
fn base64(bytes: &[u8]) -> String {
    let mut text = String::new();
    for chunk in bytes.chunks(3) {
        let word = chunk.iter().fold(0u32, |word, &byte| word << 8 | u32::from(byte)) << (8 * (3 - chunk.len()));
        for digit in 0..4 {
            let index = (word >> (18 - 6 * digit)) & 63;
            text.push(if digit <= chunk.len() {
                char::from(ALPHABET[index as usize])
            } else {
                '='
            });
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn base64_pads_as_the_standard_says() {
        let known = [
            ("", ""),
            ("f", "Zg=="),
            ("fo", "Zm8="),
            ("foo", "Zm9v"),
            ("foobar", "Zm9vYmFy"),
        ];
        for (plain, encoded) in known {
            assert_eq!(base64(plain.as_bytes()), encoded);
            assert_eq!(unbase64(encoded), plain.as_bytes());
        }
    }

    #[test]
    fn a_path_is_one_printable_line() {
        assert_eq!(path("prot/café.md".as_bytes()), "prot/café.md");
        assert_eq!(path(b"a\nb\xff c"), "a\\nb\\xff c");
        assert_eq!(
            path("\u{202e}\u{2028}\u{e0041}".as_bytes()),
            "\\u{202e}\\u{2028}\\u{e0041}"
        );
    }

    #[test]
    fn nothing_in_a_path_is_a_command_to_a_ci() {
        assert_eq!(path(b"::error::x"), "\\u{3a}:error::x");
        assert_eq!(path(b" ::error::x"), " \\u{3a}:error::x");
        assert_eq!(path(b"a##[error]##vso[x]"), "a#\\u{23}[error]#\\u{23}vso[x]");
        assert_eq!(path(b"Foo::Bar.3pm"), "Foo::Bar.3pm");
        assert_eq!(lines("a \\n\n::b\n\u{1b}[2J"), "a \\n\n\\u{3a}:b\n\\u{1b}[2J");
    }
}

//! Findings and verdicts as lines and as JSON: the same words in the terminal, in `gate.log` and
//! in reports. File names and import texts are untrusted and printed escaped.

use serde_json::{Value, json};

use super::checks::{Cause, CheckResult};
use super::{Finding, POLICY_PATH, Rule, Verdict, Warning};
use crate::exit::Exit;
use crate::task::format_duration;

/// A path as one printable line: control characters, quotes and bytes that are not UTF-8 escaped,
/// letters of all scripts as they are.
pub fn path(bytes: &[u8]) -> String {
    let mut shown = String::new();
    for chunk in bytes.utf8_chunks() {
        for letter in chunk.valid().chars() {
            // Format characters (bidirectional marks, zero width) must not reach a terminal.
            let hides = matches!(letter, '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{feff}' | '\u{ad}');
            if letter.is_control() || hides || letter == '\\' {
                shown.extend(letter.escape_default());
            } else {
                shown.push(letter);
            }
        }
        shown.extend(chunk.invalid().iter().map(|byte| format!("\\x{byte:02x}")));
    }
    shown
}

/// `path:line:column`, as far as known.
pub fn place(finding: &Finding) -> String {
    let mut shown = match (&finding.commit, finding.rule) {
        _ if !finding.path.is_empty() => path(&finding.path),
        (Some(commit), _) => commit.clone(),
        (None, Rule::Credential) => "task".to_owned(),
        (None, _) => "whole change".to_owned(),
    };
    for number in [finding.line, finding.line.and(finding.column)].into_iter().flatten() {
        shown.push_str(&format!(":{number}"));
    }
    shown
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
    // A check is about the whole candidate.
    let place = match place(finding) {
        place if place.is_empty() => place,
        place => format!("{place}: "),
    };
    let mut text = format!(
        "{place}{message}{commit}\n  rule: {} [{judged_by}] (exit {})\n",
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
        text.push_str(&format!(
            "hint: read what runs by itself before you use it; `autoexec: deny` in {POLICY_PATH} refuses such changes\n"
        ));
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

/// The last line: `invariants ok; 3 paths checked`.
pub fn summary(verdict: &Verdict) -> String {
    let plural = |count: usize, word: &str| format!("{count} {word}{}", if count == 1 { "" } else { "s" });
    if verdict.exit() == Exit::Ok {
        return format!("invariants ok; {} checked", plural(verdict.paths_checked, "path"));
    }
    format!(
        "invariants broken; {} in {} (exit {})",
        plural(verdict.findings.len(), "finding"),
        plural(verdict.broken_paths(), "path"),
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

fn put_path(object: &mut Value, bytes: &[u8]) {
    match std::str::from_utf8(bytes) {
        Ok(text) => object["path"] = text.into(),
        Err(_) => {
            object["path"] = path(bytes).into();
            object["path_b64"] = base64(bytes).into();
        }
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
        "warnings": verdict.warnings.iter().map(warning_json).collect::<Vec<_>>(),
        "notices": verdict.notices,
        "findings": verdict.findings.iter().map(finding_json).collect::<Vec<_>>(),
        "checks": verdict.checks.iter().map(check_json).collect::<Vec<_>>(),
    })
}

/// Standard base64 with padding (RFC 4648, section 4).
fn base64(bytes: &[u8]) -> String {
    const ALPHABET: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
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
        }
    }

    #[test]
    fn a_path_is_one_printable_line() {
        assert_eq!(path("prot/café.md".as_bytes()), "prot/café.md");
        assert_eq!(path(b"a\nb\xff c"), "a\\nb\\xff c");
    }
}

//! GitLab's Code Quality report: an array of issues with a fingerprint each.
//!
//! Invariants: no two issues have one fingerprint (GitLab shows only one of such); what was not
//! judged is an issue, since an empty array means that all is well.
//! Format: docs.gitlab.com, "Code Quality", custom tools.

use serde_json::{Value, json};

use super::checked::{Checked, Item, Level, Outcome, reason};
use crate::gate::POLICY_PATH;
use crate::job::log::sha256_hex;

/// The array.
pub fn render(checked: &Checked) -> String {
    let mut issues: Vec<Value> = checked.items.iter().map(issue).collect();
    match checked.outcome {
        Outcome::Refused(stop) => {
            let what = format!("not judged, exit {}: {}", stop.exit.code(), reason(stop));
            issues.push(about_all(&what, stop.exit.name(), "blocker"));
        }
        Outcome::Judged(report) if report.verdict.paths_checked == 0 && issues.is_empty() => {
            let what = format!("{}; {}", checked.summary(), checked.notices.join("; "));
            issues.push(about_all(&what, "nothing-inspected", "info"));
        }
        Outcome::Judged(_) => {}
    }
    format!("{:#}\n", Value::Array(issues))
}

fn issue(item: &Item) -> Value {
    let severity = match (item.level, item.code) {
        (Level::Warning, _) => "minor",
        (Level::Error, "protected-path" | "uninspectable" | "credential") => "critical",
        (Level::Error, _) => "major",
    };
    // GitLab has no issue without a file: what is about a commit is shown at the rules.
    let path = if item.path.is_empty() { POLICY_PATH } else { &item.shown };
    let hint = if item.hint.is_empty() {
        String::new()
    } else {
        format!(" (hint: {})", item.hint)
    };
    json!({
        "description": format!("{} [{}]{hint}", item.told(), item.key),
        "check_name": item.code,
        "fingerprint": item.fingerprint,
        "severity": severity,
        "location": { "path": path, "lines": { "begin": item.line.unwrap_or(1) } },
    })
}

fn about_all(what: &str, name: &str, severity: &str) -> Value {
    json!({
        "description": what,
        "check_name": name,
        "fingerprint": sha256_hex(&[name.as_bytes(), b"\0", what.as_bytes()]),
        "severity": severity,
        "location": { "path": POLICY_PATH, "lines": { "begin": 1 } },
    })
}

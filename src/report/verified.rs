//! What `verify` found, as text and as JSON. What stands in records and messages of commits is untrusted.

use serde_json::{Value, json};

use crate::commands::verify::{Holds, Report};
use crate::exit::Exit;
use crate::gate::render;

/// One row a check; in the end whether all holds. What is worth knowing goes beside.
pub(super) fn text(report: &Report) -> (String, String) {
    let width = report.checks.iter().map(|check| check.name.len()).max().unwrap_or(0);
    let indent = " ".repeat(4 + 2 + width + 2);
    let mut text = String::new();
    for check in &report.checks {
        let word = match check.holds {
            Holds::Yes => "ok",
            Holds::No => "FAIL",
            Holds::NotCompared => "-",
        };
        let mut details = check.details.iter().map(|detail| shown(detail));
        let first = details.next().unwrap_or_default();
        text.push_str(format!("{word:4}  {:width$}  {first}", check.name).trim_end());
        text.push('\n');
        details.for_each(|detail| text.push_str(&format!("{indent}{detail}\n")));
        if check.holds == Holds::No {
            for hint in &check.hints {
                text.push_str(&format!("{indent}-> {}\n", shown(hint)));
            }
        }
    }
    let (failed, held) = (report.count(Holds::No), report.count(Holds::Yes));
    let id = &report.job_id;
    text.push_str(&match failed {
        0 => format!(
            "verified job {id}: {held} check{} hold{}\n",
            plural(held),
            if held == 1 { "s" } else { "" }
        ),
        _ => format!(
            "job {id} is not proved: {failed} of {} checks do{} not hold (exit {})\n",
            failed + held,
            if failed == 1 { "es" } else { "" },
            Exit::NotProved.code()
        ),
    });
    let notes = report.notices.iter().map(|notice| format!("note: {}\n", shown(notice)));
    (text, notes.collect())
}

fn plural(count: usize) -> &'static str {
    if count == 1 { "" } else { "s" }
}

pub(super) fn json(report: &Report) -> Value {
    json!({
        "schema": "agentgate/verify/1",
        "job_id": report.job_id,
        "commit": report.commit,
        "from": report.from,
        "verdict": report.exit().name(),
        "exit": report.exit().code(),
        "checks": report.checks.iter().map(|check| json!({
            "name": check.name,
            "ok": match check.holds {
                Holds::Yes => Some(true),
                Holds::No => Some(false),
                Holds::NotCompared => None,
            },
            "detail": check.details.join("; "),
            "hints": if check.holds == Holds::No { check.hints.as_slice() } else { &[] },
        })).collect::<Vec<_>>(),
        "notices": report.notices,
    })
}

fn shown(text: &str) -> String {
    // Quoted parts are escaped already.
    render::lines(&text.replace('\n', "; "))
}

//! What the doctor found, for people.

use crate::commands::doctor::Report;
use crate::exit::Exit;
use crate::gate::render;

/// One line a check, what to do below a failed one, and the sum of it in the end.
pub fn render(report: &Report) -> String {
    let width = report.checks.iter().map(|check| check.name.len()).max().unwrap_or(0);
    let indent = " ".repeat(4 + 2 + width + 2);
    let mut text = String::new();
    for check in &report.checks {
        let mut lines = check.text.lines();
        let first = printable(lines.next().unwrap_or_default());
        text.push_str(&format!("{:4}  {:width$}  {first}\n", check.state.word(), check.name));
        for line in lines {
            text.push_str(&format!("{indent}{}\n", printable(line)));
        }
        for hint in &check.hints {
            text.push_str(&format!("{indent}-> {}\n", printable(hint)));
        }
        if check.name == "confinement" && !report.not_covered.is_empty() {
            text.push_str(&format!("{indent}what it does not stop:\n"));
            for open in &report.not_covered {
                text.push_str(&format!("{indent}  {open}\n"));
            }
        }
    }
    text.push_str(&match (report.exit(), &report.job) {
        (Exit::Ok, Some(id)) => format!("the record of job {id} can be used\n"),
        (exit, Some(id)) => format!("the record of job {id} cannot be used as it is (exit {exit})\n"),
        (Exit::Ok, None) => "a job can run here\n".to_owned(),
        (exit, None) => format!("a job cannot run here (exit {exit})\n"),
    });
    text
}

/// What would move a terminal's cursor or colours is escaped.
fn printable(line: &str) -> String {
    render::path(line.as_bytes())
}

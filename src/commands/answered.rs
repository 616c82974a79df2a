//! What a role has answered, in lines for whoever looks on.
//!
//! Invariant: it is read from the record, as the event names it; its text is an agent's, so each piece is cut to one
//! line and escaped.

use crate::files;
use crate::gate::render;
use crate::job::FileRef;
use crate::job::answer::{self, Answer, Decision, Plan, Review};
use crate::job::log::sha256_hex;
use crate::store::Folder;

/// More findings than these are counted, not shown.
const SHOWN: usize = 50;

/// The answer in this file of the record; where it is not as the event names it, that.
pub fn lines(folder: &Folder, file: &FileRef) -> Vec<String> {
    let bytes = match files::read_small(&folder.path.join(&file.name), answer::MAX) {
        Ok(bytes) if sha256_hex(&[&bytes]) == file.sha256 => bytes,
        Ok(_) => return vec![format!("{} is not the file that the log names", shown(&file.name))],
        Err(error) => return vec![format!("{} cannot be read: {error}", shown(&file.name))],
    };
    // `call-N-` stands before the name that the role gave it.
    let name = file.name.splitn(3, '-').nth(2).unwrap_or_default();
    match Answer::parse(name, &bytes) {
        Ok(Answer::Plan(plan)) => steps(&plan),
        Ok(Answer::Review(review)) => findings(&review),
        Ok(Answer::NeedsHuman(ask)) => vec![format!("asks for a person: {}", shown(&ask.question))],
        Err(wrong) => vec![shown(&wrong)],
    }
}

fn steps(plan: &Plan) -> Vec<String> {
    let first = format!("plan: {}", counted(plan.steps.len(), "step"));
    let titles = plan.steps.iter().enumerate();
    let titles = titles.map(|(index, step)| format!("  {}. {}", index + 1, shown(&step.title)));
    std::iter::once(first).chain(titles).collect()
}

fn findings(review: &Review) -> Vec<String> {
    let decision = match review.decision {
        Decision::Approve => "approves",
        Decision::RequestChanges => "requests changes",
        Decision::NeedsHuman => "asks for a person",
    };
    let count = review.findings.len();
    let mut lines = vec![match count {
        0 => format!("review: {decision}, no findings"),
        _ => format!(
            "review: {decision}, {}, {} blocking",
            counted(count, "finding"),
            review.blocking().count()
        ),
    }];
    for finding in review.findings.iter().take(SHOWN) {
        let line = finding.line.map_or_else(String::new, |line| format!(":{line}"));
        let blocking = if finding.blocking { "blocking" } else { "not blocking" };
        lines.push(format!(
            "  {}{line} ({blocking}): {}",
            shown(&finding.path),
            shown(&finding.message)
        ));
    }
    if count > SHOWN {
        lines.push(format!("  and {} more", count - SHOWN));
    }
    lines
}

fn counted(count: usize, what: &str) -> String {
    match count {
        1 => format!("1 {what}"),
        _ => format!("{count} {what}s"),
    }
}

fn shown(text: &str) -> String {
    render::path(answer::line(text).as_bytes())
}

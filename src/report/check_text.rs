//! `check` as text: `(standard output, standard error)`. What was judged, by what and how much of it
//! was looked at goes to standard error, in three lines.

use crate::commands::check;
use crate::commands::check::Subject;
use crate::gate::inspected::{Inspected, Reach};
use crate::gate::render;

/// Paths named for a reason under `--verbose`.
const MAX_PATHS: usize = 10;

/// The two texts.
pub fn render(report: &check::Report) -> (String, String) {
    let short = |id: &str| id.get(..12).unwrap_or(id).to_owned();
    let verdict = &report.verdict;
    let against = |what: &str| {
        format!(
            "agentgate: {what} against {} ({})\n",
            short(&report.base),
            render::lines(&report.base_from)
        )
    };
    let mut beside = match report.subject {
        Subject::Range => format!(
            "agentgate: {}, {}..{} (base {}: {})\n",
            count(report.commits, "commit"),
            short(&report.merge_base),
            short(&report.head),
            short(&report.base),
            render::lines(&report.base_from)
        ),
        Subject::All => format!("agentgate: the whole tree of {}\n", short(&report.head)),
        Subject::Worktree => against("the checkout"),
        Subject::Staged => against("what is staged"),
        Subject::Paths(_) => against("these paths of the checkout"),
    };
    let policies: Vec<String> = verdict.policies.iter().map(|id| short(id)).collect();
    beside.push_str(&format!(
        "agentgate: policy {}; {}\n",
        policies.join(", "),
        rules(&verdict.inspected)
    ));
    beside.push_str(&format!("agentgate: {}\n", files(&verdict.inspected)));
    if report.verbose {
        beside.push_str(&lists(&verdict.inspected));
    }
    (render::text(verdict), beside)
}

fn count(count: usize, word: &str) -> String {
    format!("{count} {word}{}", if count == 1 { "" } else { "s" })
}

fn rules(inspected: &Inspected) -> String {
    let dead = inspected.dead().count();
    let all = count(inspected.rules.len(), "rule");
    match dead {
        // The first policy of a repository is what changes.
        0 if inspected.rules.is_empty() => "it judges from the next commit on".to_owned(),
        0 => all,
        dead => format!("{all}, {dead} of them without anything to match in the tree"),
    }
}

fn files(inspected: &Inspected) -> String {
    let imports: Vec<String> = inspected
        .imports()
        .into_iter()
        .filter(|(_, count)| *count > 0)
        .map(|(language, count)| format!("{language} {count}"))
        .collect();
    let mut read = match (inspected.files.len(), imports.is_empty()) {
        (0, _) => "no file was read for imports".to_owned(),
        (files, true) => format!("{} read for imports, which have none", count(files, "file")),
        (files, false) => format!("{} read; imports: {}", count(files, "file"), imports.join(", ")),
    };
    if !inspected.manifests.is_empty() {
        read.push_str(&format!(
            "; {} read for dependencies",
            count(inspected.manifests.len(), "manifest")
        ));
    }
    let reasons = inspected.reasons();
    if reasons.is_empty() {
        return read;
    }
    let reasons: Vec<String> = reasons
        .iter()
        .map(|(reason, paths)| format!("{} {reason}", paths.len()))
        .collect();
    format!("{read}; not read: {}", reasons.join(", "))
}

fn lists(inspected: &Inspected) -> String {
    let mut text = String::new();
    for active in &inspected.rules {
        let reach = match active.reach {
            Reach::Live => "",
            Reach::Absent => "   (nothing there, as it should be)",
            Reach::Dead => "   (matches nothing in the tree)",
            Reach::Unknown => "   (not compared with the tree)",
        };
        let entry = render::path(active.entry.as_bytes());
        text.push_str(&format!(
            "  rule {} {}: {entry}{reach}\n",
            active.rule.code(),
            active.key
        ));
    }
    for (reason, paths) in inspected.reasons() {
        for path in paths.iter().take(MAX_PATHS) {
            text.push_str(&format!("  not read, {reason}: {}\n", render::path(path)));
        }
        if paths.len() > MAX_PATHS {
            text.push_str(&format!("  not read, {reason}: and {} more\n", paths.len() - MAX_PATHS));
        }
    }
    text
}

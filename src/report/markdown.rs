//! GitHub-flavoured Markdown, for a comment on a pull request or a job's summary.
//!
//! Invariants: everything from a repository stands inside `<code>` with each mark of punctuation as
//! a character reference, where neither Markdown, HTML, mentions nor links mean anything; the text
//! fits into a comment.

use super::checked::{Checked, Item, Level, Outcome, reason};
use crate::commands::check;
use crate::gate::Extent;

/// A comment on GitHub may have 65,536 characters.
const MAX_BYTES: usize = 60_000;
/// Notices that are shown.
const MAX_NOTICES: usize = 20;

/// The text.
pub fn render(checked: &Checked) -> String {
    let mut text = format!("### agentgate: {}\n\n", plain(&checked.summary()));
    match checked.outcome {
        Outcome::Refused(stop) => {
            text.push_str("Nothing was let through.\n\n");
            for line in reason(stop).lines().take(100) {
                text.push_str(&format!("{}<br>\n", code(line)));
            }
            return text;
        }
        Outcome::Judged(report) => {
            for (level, head) in [(Level::Error, "rule | exit"), (Level::Warning, "warning | ")] {
                rows(checked, level, head, &mut text);
            }
            for notice in checked.notices.iter().take(MAX_NOTICES) {
                text.push_str(&format!("- {}\n", code(notice)));
            }
            if checked.notices.len() > MAX_NOTICES {
                text.push_str(&format!("- and {} more notes\n", checked.notices.len() - MAX_NOTICES));
            }
            if !checked.notices.is_empty() {
                text.push('\n');
            }
            text.push_str(&facts(report));
        }
    }
    text
}

fn rows(checked: &Checked, level: Level, head: &str, text: &mut String) {
    let items: Vec<&Item> = checked.of(level).collect();
    if items.is_empty() {
        return;
    }
    text.push_str(&format!("| {head} | where | what |\n|---|---|---|---|\n"));
    for (index, item) in items.iter().enumerate() {
        let row = row(item);
        if text.len() + row.len() > MAX_BYTES {
            text.push_str(&format!("| | | | and {} more |\n", items.len() - index));
            break;
        }
        text.push_str(&row);
    }
    text.push('\n');
}

fn row(item: &Item) -> String {
    let exit = item.exit.map(|exit| exit.code().to_string()).unwrap_or_default();
    let hint = match item.hint.as_str() {
        "" => String::new(),
        hint => format!("<br>hint: {}", code(hint)),
    };
    let output: String = item
        .output
        .iter()
        .map(|line| format!("<br>{}", code(&format!("| {line}"))))
        .collect();
    format!(
        "| {} | {exit} | {} | {}<br>{}{hint}{output} |\n",
        item.code,
        code(&item.place()),
        code(&item.message),
        code(&item.key),
    )
}

fn facts(report: &check::Report) -> String {
    let inspected = &report.verdict.inspected;
    let policies: Vec<String> = report.verdict.policies.iter().map(|id| code(id)).collect();
    let dead = match inspected.dead().count() {
        0 => String::new(),
        dead => format!(" ({dead} of them without anything to match in the tree)"),
    };
    format!(
        "Commits judged: {}, {} to {}. Policy: {}. Rules: {}{dead}. {}: {}; files read for imports: {}.\n",
        report.commits,
        code(&report.merge_base),
        code(&report.head),
        policies.join(", "),
        inspected.rules.len(),
        match report.verdict.extent {
            Extent::Change => "Changed paths",
            Extent::Tree => "Paths",
        },
        report.verdict.paths_checked,
        inspected.files.len(),
    )
}

/// Words of our own.
fn plain(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('|', "&#124;")
}

/// Anybody's text, so that it only ever is text. A name that a hoster would link (`@team`, `#1`, a
/// commit's id) is left alone inside of `<code>`.
fn code(text: &str) -> String {
    let mut escaped = String::from("<code>");
    let has_www = text.to_ascii_lowercase().contains("www.");
    for letter in text.chars() {
        let is_harmless = letter.is_alphanumeric()
            || !letter.is_ascii() && !letter.is_control()
            || matches!(letter, ' ' | '/' | '-' | ',' | ';')
            || letter == '.' && !has_www;
        if is_harmless {
            escaped.push(letter);
        } else {
            escaped.push_str(&format!("&#{};", letter as u32));
        }
    }
    escaped.push_str("</code>");
    escaped
}

#[cfg(test)]
mod tests {
    use super::code;

    #[test]
    fn nothing_in_code_is_markup() {
        let text = code("|`</code>@org/team [x](https://a.b) <img> www.x.y ~~a~~ **b** :+1: &amp; #1 \\");
        let inside = text
            .strip_prefix("<code>")
            .and_then(|text| text.strip_suffix("</code>"))
            .expect("it is in code");
        assert!(
            !inside.contains(['|', '`', '<', '>', '@', '[', ']', '(', '*', '~', '\\', '_', ':', '.']),
            "{inside}"
        );
        for reference in inside.split('&').skip(1) {
            assert!(reference.starts_with('#'), "{reference}");
        }
    }
}

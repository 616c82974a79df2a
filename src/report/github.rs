//! Workflow commands of GitHub Actions (`::error file=a,line=1::text`), which the runner turns into
//! annotations of the job and of the lines of a pull request.
//!
//! Invariant: one command a line, and nothing that a repository says can end one or begin another.
//! Format: docs.github.com, "Workflow commands for GitHub Actions"; the escapes are those of the
//! runner's `ActionCommand`.

use super::checked::{Checked, Item, Level, Outcome, reason};

/// The runner shows this many annotations of a kind in a step and drops the rest.
const SHOWN: usize = 10;

/// The commands, the summary last.
pub fn render(checked: &Checked) -> String {
    let mut text = String::new();
    if let Outcome::Refused(stop) = checked.outcome {
        let title = format!("agentgate: {} (exit {})", stop.exit.name(), stop.exit.code());
        text.push_str(&command("error", &[("title", title)], &reason(stop)));
        return text;
    }
    for (level, word) in [(Level::Error, "error"), (Level::Warning, "warning")] {
        let lines: Vec<String> = checked.of(level).map(|item| annotation(word, item)).collect();
        text.push_str(&some(word, lines));
    }
    let mut notices: Vec<String> = checked
        .notices
        .iter()
        .map(|notice| command("notice", &[("title", "agentgate".to_owned())], notice))
        .collect();
    // First among the notices, or many of them would hide it.
    notices.insert(
        0,
        command("notice", &[("title", "agentgate".to_owned())], &checked.summary()),
    );
    text.push_str(&some("notice", notices));
    text
}

/// As many as are shown; the last one says how many more there are.
fn some(word: &str, mut lines: Vec<String>) -> String {
    if lines.len() > SHOWN {
        let more = lines.len() - (SHOWN - 1);
        lines.truncate(SHOWN - 1);
        let title = [("title", "agentgate".to_owned())];
        let what =
            format!("and {more} more: GitHub shows {SHOWN} of a kind; all of them are in the text and JSON reports");
        lines.push(command(word, &title, &what));
    }
    lines.concat()
}

fn annotation(word: &str, item: &Item) -> String {
    let mut properties = Vec::new();
    if !item.path.is_empty() {
        properties.push(("file", item.shown.clone()));
    }
    properties.extend(item.line.map(|line| ("line", line.to_string())));
    properties.extend(item.column_utf16.map(|column| ("col", column.to_string())));
    let exit = item
        .exit
        .map(|exit| format!(" (exit {})", exit.code()))
        .unwrap_or_default();
    properties.push(("title", format!("{}{exit}", item.code)));
    let mut text = format!("{} [{}]", item.told(), item.key);
    if !item.hint.is_empty() {
        text.push_str(&format!("\nhint: {}", item.hint));
    }
    text.extend(item.output.iter().map(|line| format!("\n| {line}")));
    command(word, &properties, &text)
}

fn command(word: &str, properties: &[(&str, String)], text: &str) -> String {
    let properties: Vec<String> = properties
        .iter()
        .map(|(key, value)| format!("{key}={}", data(value).replace(':', "%3A").replace(',', "%2C")))
        .collect();
    format!("::{word} {}::{}\n", properties.join(","), data(text))
}

fn data(text: &str) -> String {
    text.replace('%', "%25").replace('\r', "%0D").replace('\n', "%0A")
}

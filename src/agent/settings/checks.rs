//! `checks`: commands of the repository's owners that a candidate must pass.

use crate::gate::checks::one_line;
use crate::gate::yaml::{At, Entry, Node, Source, Value};
use crate::paths::PathRule;

use super::super::values;
use super::Check;
use super::keys::{CHECK, unknown};

/// The limit of a command that names none: ten minutes.
const DEFAULT_TIMEOUT: u64 = 10 * 60;
/// The longest limit that one can have: a day.
const MAX_TIMEOUT: u64 = 24 * 60 * 60;
/// More would fill the log with their ends.
const MAX_CHECKS: usize = 100;
/// Longest name in characters.
const MAX_NAME: usize = 100;

pub(super) fn checks(source: &Source, node: &Node) -> Result<Vec<Check>, String> {
    if !matches!(node.value, Value::List(_)) {
        let message = format!("`checks` must be a list, not {}", node.value.kind());
        return Err(source.fault(node.at, &message, "write `checks: [{name: tests, run: npm test}]`"));
    }
    let items = source.list(node, "checks")?;
    if let Some(over) = items.get(MAX_CHECKS) {
        let message = format!("`checks` has more than {MAX_CHECKS} commands");
        return Err(source.fault(over.at, &message, "let one command run several"));
    }
    let mut checks: Vec<Check> = Vec::new();
    for (index, item) in items.iter().enumerate() {
        let (check, at) = check(source, item, &format!("checks[{index}]"))?;
        if let Some(first) = checks.iter().position(|other| other.name == check.name) {
            let message = format!("`{}` stands twice in `checks`", check.name);
            return Err(source.fault(at, &message, &format!("checks[{first}] has this name already")));
        }
        checks.push(check);
    }
    Ok(checks)
}

/// A check, and where its name stands.
fn check(source: &Source, node: &Node, key: &str) -> Result<(Check, At), String> {
    let (mut named, mut run) = (None, None);
    let (mut timeout, mut when, mut baseline) = (DEFAULT_TIMEOUT, Vec::new(), false);
    for entry in source.map(node, key)? {
        let (inner, value) = (format!("{key}.{}", entry.key), &entry.value);
        match entry.key.as_str() {
            "name" => named = Some((name(source, value, &inner)?, value.at)),
            "run" => run = Some(command(source, value, &inner)?),
            "timeout" => {
                timeout = values::duration(source, value, &inner)?;
                if timeout > MAX_TIMEOUT {
                    return Err(source.fault(value.at, &format!("`{inner}` is longer than 1d"), "1d is the most"));
                }
            }
            "when" => when = globs(source, value, &inner)?,
            "baseline" => match value.value {
                Value::Bool(wanted) => baseline = wanted,
                _ => {
                    let message = format!("`{inner}` must be true or false, not {}", value.value.kind());
                    return Err(source.fault(value.at, &message, ""));
                }
            },
            _ => return Err(unknown(source, entry, &format!("{key}."), CHECK, &[])),
        }
    }
    let missing = |what: &str| source.fault(node.at, &format!("`{key}` has no `{what}`"), USAGE);
    let (name, at) = named.ok_or_else(|| missing("name"))?;
    let run = run.ok_or_else(|| missing("run"))?;
    let check = Check {
        name,
        run,
        timeout,
        when,
        baseline,
    };
    Ok((check, at))
}

const USAGE: &str = "such as `{name: unit tests, run: npm test, timeout: 5m}`";

/// It stands in findings and events: one printable line.
fn name(source: &Source, node: &Node, key: &str) -> Result<String, String> {
    let name = source.string(node, &format!("`{key}`"))?;
    if name.trim().is_empty() || name.trim() != name || one_line(name) != name || name.chars().count() > MAX_NAME {
        let message = format!("`{key}` is no name");
        let hint = format!("one line of 1 to {MAX_NAME} printable characters, without `\\` and outer blanks");
        return Err(source.fault(node.at, &message, &hint));
    }
    Ok(name.to_owned())
}

/// A text is for a shell: split into words, `npm test && npm run lint` would pass without the second half.
fn command(source: &Source, node: &Node, key: &str) -> Result<Vec<String>, String> {
    match &node.value {
        Value::Text(text) if !text.trim().is_empty() => Ok(["sh", "-c", text].map(str::to_owned).to_vec()),
        Value::Text(_) => Err(source.fault(node.at, &format!("`{key}` is empty"), USAGE)),
        _ => values::command(source, node, key),
    }
}

fn globs(source: &Source, node: &Node, key: &str) -> Result<Vec<String>, String> {
    let mut globs = Vec::new();
    for (text, at) in source.strings(node, key)? {
        if let Err(wrong) = PathRule::parse(text, key.to_owned()) {
            return Err(source.fault(at, &format!("`{key}`: {wrong}"), "such as `payments/` or `**/*.ts`"));
        }
        globs.push(text.to_owned());
    }
    Ok(globs)
}

/// What is said of `checks` in a person's file.
pub(super) fn not_yours(source: &Source, entry: &Entry) -> String {
    source.fault(
        entry.at,
        "`checks` is for a repository's owners to set, so a person's own file cannot have it",
        "put it into the repository's architecture/agentgate.yml",
    )
}

//! Values that settings and profiles share, read strictly: each error names file, line and column.

use crate::gate::yaml::{At, Node, Source, Value};
use crate::task::parse_duration;
use crate::trailer::valid_value;

/// Whether a variable can have this name.
pub fn valid_variable(name: &str) -> bool {
    name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_')
        && name.bytes().next().is_some_and(|first| !first.is_ascii_digit())
}

/// Whether a variable is set by agentgate itself, or steers the loader of the program that goes between
/// agentgate and the agent.
fn is_ours(name: &str) -> bool {
    let names = [
        "AGENT_JOB_ID",
        "AGENT_HOST_LABEL",
        "AGENT_MODEL_LABEL",
        "HOME",
        "TMPDIR",
        "PWD",
        "OLDPWD",
        "GLIBC_TUNABLES",
    ];
    names.contains(&name) || name.starts_with("AGENTGATE_") || name.starts_with("LD_")
}

/// Program and arguments: a text, split like a shell would, or a list of words.
pub(super) fn command(source: &Source, node: &Node, key: &str) -> Result<Vec<String>, String> {
    let example = key.rsplit('.').next().unwrap_or(key);
    let hint = match example.contains('[') {
        false => format!("write `{example}: my-agent --flags` or `{example}: [my-agent, --flags]`"),
        true => "write a text such as `npm ci`, or a list of words".to_owned(),
    };
    let fault = |at: At, what: &str| Err(source.fault(at, &format!("`{key}` {what}"), &hint));
    let words = match &node.value {
        Value::List(_) => words(source, node, key)?,
        _ => match shell_words::split(source.string(node, &format!("`{key}`"))?) {
            Ok(words) => words,
            Err(_) => return fault(node.at, "has a quote that is never closed"),
        },
    };
    match words.first().is_none_or(|program| program.trim().is_empty()) {
        true => fault(node.at, "names no program"),
        false => Ok(words),
    }
}

/// A list of texts; one may stand in it twice.
pub(super) fn words(source: &Source, node: &Node, key: &str) -> Result<Vec<String>, String> {
    let mut words = Vec::new();
    for (index, item) in source.list(node, key)?.iter().enumerate() {
        words.push(source.string(item, &format!("`{key}[{index}]`"))?.to_owned());
    }
    Ok(words)
}

/// Seconds.
pub(super) fn duration(source: &Source, node: &Node, key: &str) -> Result<u64, String> {
    let hint = "write a whole number with s, m, h or d, such as 30m";
    let Value::Text(text) = &node.value else {
        let message = format!("`{key}` must be a duration, not {}", node.value.kind());
        return Err(source.fault(node.at, &message, hint));
    };
    parse_duration(text).map_err(|wrong| source.fault(node.at, &wrong, hint))
}

/// A value that can stand in a trailer.
pub(super) fn label(source: &Source, node: &Node, key: &str) -> Result<String, String> {
    let label = source.string(node, &format!("`{key}`"))?;
    if valid_value(label) {
        return Ok(label.to_owned());
    }
    let message = format!("`{key}` cannot be `{}`", label.escape_debug());
    Err(source.fault(node.at, &message, "1 to 128 of A-Z a-z 0-9 . _ : / @ + , -"))
}

/// Variables to set, in the order of the file.
pub(super) fn variables(source: &Source, node: &Node, key: &str) -> Result<Vec<(String, String)>, String> {
    let mut variables = Vec::new();
    for entry in source.map(node, key)? {
        variable(source, &entry.key, entry.at, key)?;
        if is_ours(&entry.key) {
            let message = format!("`{key}` cannot set {}", entry.key);
            let hint = match entry.key.starts_with("LD_") || entry.key == "GLIBC_TUNABLES" {
                true => "it would reach agentgate's own program too; put `env NAME=VALUE` in front of the command",
                false => "agentgate sets it itself",
            };
            return Err(source.fault(entry.at, &message, hint));
        }
        let value = source.string(&entry.value, &format!("`{key}.{}`", entry.key))?;
        variables.push((entry.key.clone(), value.to_owned()));
    }
    Ok(variables)
}

/// Names of variables.
pub(super) fn names(source: &Source, node: &Node, key: &str) -> Result<Vec<String>, String> {
    let mut names = Vec::new();
    for (name, at) in source.strings(node, key)? {
        variable(source, name, at, key)?;
        names.push(name.to_owned());
    }
    Ok(names)
}

fn variable(source: &Source, name: &str, at: At, key: &str) -> Result<(), String> {
    if valid_variable(name) {
        return Ok(());
    }
    let message = format!("`{key}`: `{}` is no name of a variable", name.escape_debug());
    let hint = match name.split_once('=') {
        Some((name, _)) if key.ends_with("pass_env") && valid_variable(name) => {
            format!("only names stand here: `{name}`; its value is that of your own environment")
        }
        _ => "letters, digits and _, not beginning with a digit; no pattern".to_owned(),
    };
    Err(source.fault(at, &message, &hint))
}

/// Paths below a home, such as `.codex/auth.json`; `~/` in front is the same.
pub(super) fn below_home(source: &Source, node: &Node, key: &str) -> Result<Vec<String>, String> {
    let mut paths: Vec<String> = Vec::new();
    for (text, at) in source.strings(node, key)? {
        let below = text.strip_prefix("~/").unwrap_or(text);
        let parts: Vec<&str> = below.split('/').filter(|part| !matches!(*part, "" | ".")).collect();
        let wrong = if below.starts_with('/') {
            "is absolute; paths here are below your home"
        } else if parts.contains(&"..") {
            "leaves your home"
        } else if below.contains(['*', '?']) {
            "is a pattern; each path is written out here"
        } else if parts.is_empty() || below.starts_with('~') {
            "names no path below your home"
        } else {
            let path = parts.join("/");
            if paths.contains(&path) {
                let message = format!("`{}` stands twice in `{key}`", path.escape_debug());
                return Err(source.fault(at, &message, "remove one of the two"));
            }
            paths.push(path);
            continue;
        };
        let message = format!("`{key}`: `{}` {wrong}", text.escape_debug());
        return Err(source.fault(at, &message, "such as `.config/tool/login.json`"));
    }
    Ok(paths)
}

/// Whether this is a path that stays below a home, written out.
pub(super) fn is_below_home(path: &str) -> bool {
    !path.starts_with('~') && path.split('/').all(|part| !matches!(part, "" | "." | ".."))
}

/// A path of this machine: absolute, or below the home with `~/` in front. Given as written.
pub(super) fn place(source: &Source, text: &str, at: At, key: &str) -> Result<String, String> {
    let wrong = if !(text.starts_with('/') || text.starts_with("~/")) {
        "is relative: to which folder would depend on where agentgate is started"
    } else if text.split('/').any(|part| part == "..") {
        "has `..` in it"
    } else {
        return Ok(text.to_owned());
    };
    let message = format!("`{key}`: `{}` {wrong}", text.escape_debug());
    Err(source.fault(at, &message, "write it absolute, or with `~/` in front"))
}

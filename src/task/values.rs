//! The values of a key: split at commas, taken out of quotes, and refused where an entry cannot be
//! meant as it would be read.

use super::lines::Key;
use super::{BadTask, bad};

/// One value with its 1-based line.
#[derive(Debug)]
pub(super) struct Value {
    pub(super) text: String,
    pub(super) line: u32,
}

pub(super) fn values(key: Key, text: &str, line: u32) -> Result<Vec<Value>, BadTask> {
    match key {
        Key::Goal | Key::Timeout => single(text, line),
        _ => {
            let mut values = Vec::new();
            for part in split(text) {
                values.extend(match key {
                    Key::NonGoals => single(part, line)?,
                    _ => unquoted(key, part, line)?,
                });
            }
            Ok(values)
        }
    }
}

pub(super) fn single(text: &str, line: u32) -> Result<Vec<Value>, BadTask> {
    let text = text.trim();
    Ok(match text.is_empty() {
        true => Vec::new(),
        false => vec![Value {
            text: text.to_owned(),
            line,
        }],
    })
}

/// An entry without the backticks or quotes around it. Words behind the closing one would be lost
/// or would make the path another one.
fn unquoted(key: Key, text: &str, line: u32) -> Result<Vec<Value>, BadTask> {
    let text = text.trim();
    if key == Key::AllowedFiles {
        plain(text, line)?;
    }
    for mark in ['`', '"', '\''] {
        let Some(inner) = text.strip_prefix(mark) else {
            continue;
        };
        return match inner.split_once(mark) {
            Some((entry, "")) => single(entry, line),
            Some((entry, _)) => {
                let hint = format!("write `{}` alone, and prose on a line of its own", entry.escape_debug());
                bad(
                    line,
                    format!("words after the entry {mark}{}{mark}", entry.escape_debug()),
                    hint,
                )
            }
            None => bad(line, format!("a {mark} that is never closed"), "close it or remove it"),
        };
    }
    if text.contains(|c: char| c.is_whitespace() || c == ';') && !text.is_empty() {
        let shown: String = text.chars().take(60).collect();
        return bad(
            line,
            format!("`{}` is more than one entry", shown.escape_debug()),
            "separate entries by commas or give a list; one name with a blank or `;` in it stands in backticks",
        );
    }
    let lower = text.to_lowercase();
    if key == Key::AllowedFiles && NO_ENTRIES.contains(&lower.as_str()) {
        return bad(
            line,
            format!("`{text}` names no path"),
            "leave `Allowed files:` out for no limit; `.` means the files in the root, `` `./all` `` a file of that \
             name",
        );
    }
    single(text, line)
}

/// Refuses a Markdown link and a path with line numbers: read as a path, neither names the file.
fn plain(text: &str, line: u32) -> Result<(), BadTask> {
    let link = text.strip_prefix('[').and_then(|rest| rest.strip_suffix(')'));
    let (what, path) = match link.and_then(|rest| rest.split_once("](")) {
        Some((_, target)) => ("a Markdown link", target),
        None => match without_lines(text.trim_matches(['`', '"', '\''])) {
            Some(path) => ("a path with line numbers", path),
            None => return Ok(()),
        },
    };
    let shown: String = text.chars().take(60).collect();
    bad(
        line,
        format!("`{}` is {what}", shown.escape_debug()),
        format!("write the plain path, `{}`", path.escape_debug()),
    )
}

/// The path in `i.ts:10`, `i.ts:10-20`, `i.ts:10:5` or `i.ts#L10`.
fn without_lines(text: &str) -> Option<&str> {
    let (path, lines) = text.split_once("#L").or_else(|| text.split_once(':'))?;
    let is_lines = lines.starts_with(|c: char| c.is_ascii_digit())
        && lines
            .chars()
            .all(|c| c.is_ascii_digit() || matches!(c, '-' | ':' | 'L'));
    (is_lines && !path.is_empty()).then_some(path)
}

/// Words that a person may write for no limit, or for nothing. Read as paths they would allow
/// something else than was meant.
const NO_ENTRIES: &[&str] = &[
    "*",
    "-",
    "all",
    "any",
    "anything",
    "anywhere",
    "everything",
    "everywhere",
    "n/a",
    "no",
    "none",
    "nothing",
    "unlimited",
];

/// At commas that stand neither in quotes nor in the braces or brackets of a glob.
fn split(text: &str) -> Vec<&str> {
    let (mut parts, mut start, mut depth, mut quote) = (Vec::new(), 0, 0_u32, None);
    for (index, c) in text.char_indices() {
        match (quote, c) {
            (Some(open), _) if c == open => quote = None,
            (Some(_), _) => {}
            // A quote opens at the start of an entry only: `don't` has none.
            (None, '`' | '"' | '\'') if text[start..index].trim().is_empty() => quote = Some(c),
            (None, '{' | '[') => depth += 1,
            (None, '}' | ']') => depth = depth.saturating_sub(1),
            (None, ',') if depth == 0 => {
                parts.push(&text[start..index]);
                start = index + 1;
            }
            _ => {}
        }
    }
    parts.push(&text[start..]);
    parts
}

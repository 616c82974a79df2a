//! Requirements files, read as pip reads them (`pip/_internal/req/req_file.py`: `preprocess`,
//! `join_lines`, `break_args_options`).
//!
//! Invariant: a requirement that pip would install from the file is found; where pip's own rules
//! surprise (a comment line never joins the next one), they hold here too.

use super::declared::{self, Dependency, guesses};
use super::names;
use super::python::push;

/// What a requirements file says.
#[derive(Debug, Default)]
pub(super) struct Requirements {
    /// Names, URLs and paths, editable or not, and the files it includes (a new include can bring
    /// in anything, so that it counts as a name).
    pub(super) found: Vec<Dependency>,
    /// Files that it includes with `-r`, as written.
    pub(super) includes: Vec<String>,
    /// Files that bound versions with `-c`, as written. They install nothing by themselves, but
    /// what they include with `-r` is installed.
    pub(super) constraints: Vec<String>,
}

/// Reads one file.
pub(super) fn read(text: &str) -> Requirements {
    let mut read = Requirements::default();
    for line in logical_lines(text) {
        if !line.starts_with('-') {
            take(&line, &mut read.found);
            continue;
        }
        for (option, value) in options(&line) {
            match option {
                Named::Requirement => {
                    read.found.push(Dependency::new(format!("-r {value}"), value.as_str()));
                    read.includes.push(value);
                }
                Named::Constraint => read.constraints.push(value),
                Named::Editable => take(&value, &mut read.found),
            }
        }
    }
    read
}

/// A requirement. A folder of the repository is no new name, but may be called like one that is
/// forbidden.
fn take(text: &str, found: &mut Vec<Dependency>) {
    let path = text.split([';', '[', ' ']).next().unwrap_or_default();
    if !is_own_folder(path) || text.contains("egg=") {
        return push(text, None, found);
    }
    found
        .extend(guesses(path).map(|name| Dependency::new(names::python(name), text).of_kind(declared::Named::Guessed)));
}

/// Whether it can only be a folder below that of the file: `.`, `./local`, `libs/local`. Archives
/// hold what others wrote.
fn is_own_folder(path: &str) -> bool {
    const ARCHIVES: &[&str] = &[
        ".whl", ".zip", ".gz", ".bz2", ".xz", ".tgz", ".tbz", ".txz", ".tar", ".egg",
    ];
    let lower = path.to_ascii_lowercase();
    (path.starts_with('.') || path.contains('/'))
        && !path.starts_with(['/', '~', '-'])
        && !path.contains([':', '@', '\\', '$', '#', '?', '%'])
        && !path.split('/').any(|part| part == "..")
        && !ARCHIVES.iter().any(|ending| lower.ends_with(ending))
}

/// Lines without comments, continuations joined. A comment line ends a continuation and begins
/// none, even if it ends in a backslash: `# x \` does not hide the line below it.
fn logical_lines(text: &str) -> Vec<String> {
    let mut lines = Vec::new();
    let mut open: Option<String> = None;
    let mut push = |line: &str| {
        let line = line[..comment(line).unwrap_or(line.len())].trim();
        if !line.is_empty() {
            lines.push(line.to_owned());
        }
    };
    for line in split_lines(text) {
        let is_comment = line.trim_start().starts_with('#');
        if line.ends_with('\\') && !is_comment {
            open.get_or_insert_default().push_str(line.trim_matches('\\'));
            continue;
        }
        let mut whole = open.take().unwrap_or_default();
        if is_comment {
            // So that the comment is still one behind what it ends.
            whole.push(' ');
        }
        whole.push_str(line);
        push(&whole);
    }
    if let Some(rest) = open {
        push(&rest);
    }
    lines
}

/// Python's `str.splitlines`.
fn split_lines(text: &str) -> Vec<&str> {
    let mut lines = Vec::new();
    let mut rest = text;
    while let Some(at) = rest.find([
        '\n', '\r', '\u{b}', '\u{c}', '\u{1c}', '\u{1d}', '\u{1e}', '\u{85}', '\u{2028}', '\u{2029}',
    ]) {
        lines.push(&rest[..at]);
        let end = match &rest[at..] {
            crlf if crlf.starts_with("\r\n") => 2,
            other => other.chars().next().map_or(1, char::len_utf8),
        };
        rest = &rest[at + end..];
    }
    lines.push(rest);
    lines
}

/// Where a comment begins: a `#` at the start or behind a blank.
fn comment(line: &str) -> Option<usize> {
    line.match_indices('#')
        .map(|(at, _)| at)
        .find(|&at| line[..at].chars().next_back().is_none_or(char::is_whitespace))
}

enum Named {
    Requirement,
    Constraint,
    Editable,
}

/// The options of a line that name a source: `-r x`, `-rx`, `--requirement x`, `--requirement=x`,
/// also behind other options of the line. Long options may be cut short, as optparse allows.
fn options(line: &str) -> Vec<(Named, String)> {
    let mut words = line.split_whitespace();
    let mut found = Vec::new();
    while let Some(word) = words.next() {
        let (name, value) = match word.split_once('=') {
            Some((name, value)) if name.starts_with("--") => (name, Some(value)),
            _ if !word.starts_with("--") && word.len() > 2 && word.is_char_boundary(2) => {
                (&word[..2], Some(&word[2..]))
            }
            _ => (word, None),
        };
        let is = |short: &str, long: &str, shortest: &str| {
            name == short || name.len() >= shortest.len() && name.starts_with("--") && long.starts_with(name)
        };
        let option = if is("-r", "--requirement", "--requirem") {
            Named::Requirement
        } else if is("-c", "--constraint", "--c") {
            Named::Constraint
        } else if is("-e", "--editable", "--ed") {
            Named::Editable
        } else {
            continue;
        };
        let value = match value {
            Some(value) => value,
            None => words.next().unwrap_or_default(),
        };
        found.push((option, value.trim_matches(['"', '\'']).to_owned()));
    }
    found
}

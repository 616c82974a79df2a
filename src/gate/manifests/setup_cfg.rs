//! setup.cfg: an INI file, read as Python's configparser does.

use super::declared::Dependency;
use super::python::push;

const LISTS: &[&str] = &[
    "install_requires",
    "setup_requires",
    "tests_require",
    "requires",
    "requires_dist",
];

/// One key with all lines of its value.
pub(super) struct Entry<'a> {
    section: String,
    pub(super) key: String,
    /// Each with its offset.
    pub(super) lines: Vec<(&'a str, usize)>,
    /// The value begins beside the key.
    is_beside: bool,
}

impl<'a> Entry<'a> {
    /// The items of a list: one a line, or between semicolons where all stands beside the key
    /// (setuptools' `list-semi`).
    fn items(&self) -> Vec<(&'a str, usize)> {
        match self.lines.as_slice() {
            [(line, at)] if self.is_beside => line.split(';').map(|item| (item.trim(), *at)).collect(),
            lines => lines.to_vec(),
        }
    }
}

/// Requirements of `[options]` and of all extras; a file that is named instead (`file: x`) can bring
/// in anything, so that it counts as a name.
pub(super) fn dependencies(text: &str) -> Result<Vec<Dependency>, String> {
    let mut found = Vec::new();
    for entry in entries(text)?.into_iter().filter(is_list) {
        for (line, at) in entry.items().into_iter().filter(|(item, _)| !item.is_empty()) {
            if let Some(files) = directive(line) {
                found.extend(files.map(|file| Dependency::new(format!("file {file}"), file).at(Some(at))));
            } else {
                push(line, Some(at), &mut found);
            }
        }
    }
    Ok(found)
}

/// Files that hold dependencies of the project, relative to the manifest.
pub(super) fn files(text: &str) -> Vec<String> {
    let lists = entries(text).unwrap_or_default().into_iter().filter(is_list);
    lists
        .flat_map(|entry| entry.items())
        .filter_map(|(line, _)| directive(line))
        .flatten()
        .map(str::to_owned)
        .collect()
}

fn is_list(entry: &Entry) -> bool {
    match entry.section.as_str() {
        "options.extras_require" | "extras" => true,
        "options" | "metadata" | "backwards_compat" => LISTS.contains(&entry.key.as_str()),
        _ => false,
    }
}

/// The files of `file: a.txt, b.txt`.
fn directive(line: &str) -> Option<impl Iterator<Item = &str>> {
    let files = line.strip_prefix("file:")?;
    Some(files.split(',').map(str::trim).filter(|file| !file.is_empty()))
}

/// Every key of an INI file.
pub(super) fn entries(text: &str) -> Result<Vec<Entry<'_>>, String> {
    let mut all: Vec<Entry> = Vec::new();
    let mut section = String::new();
    let mut goes_on = false;
    let mut next = 0;
    for (number, whole) in text.split('\n').enumerate() {
        let at = next;
        next += whole.len() + 1;
        let line = whole.trim();
        if line.is_empty() || line.starts_with(['#', ';']) {
            continue;
        }
        let indent = whole.len() - whole.trim_start().len();
        if indent > 0 && goes_on {
            if let Some(entry) = all.last_mut() {
                entry.lines.push((line, at + indent));
            }
            continue;
        }
        if let Some(name) = line.strip_prefix('[').and_then(|rest| rest.split(']').next()) {
            section = name.to_owned();
            goes_on = false;
            continue;
        }
        let Some(mark) = line.find(['=', ':']) else {
            return Err(format!("a line that is no `key = value` (line {})", number + 1));
        };
        let value = line[mark + 1..].trim();
        let value_at = at + indent + line.len() - value.len();
        all.push(Entry {
            section: section.clone(),
            key: line[..mark].trim().to_ascii_lowercase().replace('-', "_"),
            lines: match value {
                "" => Vec::new(),
                value => vec![(value, value_at)],
            },
            is_beside: !value.is_empty(),
        });
        goes_on = true;
    }
    Ok(all)
}

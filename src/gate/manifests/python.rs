//! pyproject.toml and pip's requirements files.

use toml_edit::{DocumentMut, Item, TableLike, Value};

use super::{Dependency, toml_trouble};

/// Names of pyproject.toml: its standard tables and those of Poetry, uv, PDM and Hatch.
pub(super) fn pyproject(text: &str) -> Result<Vec<Dependency>, String> {
    let document: DocumentMut = text.parse().map_err(|error| toml_trouble(&error))?;
    let root = document.as_item();
    let mut found = Vec::new();
    for list in [
        "project.dependencies",
        "build-system.requires",
        "tool.uv.dev-dependencies",
    ] {
        strings(at(root, list), &mut found);
    }
    for list in ["tool.uv.constraint-dependencies", "tool.uv.override-dependencies"] {
        strings(at(root, list), &mut found);
    }
    for lists in [
        "project.optional-dependencies",
        "dependency-groups",
        "tool.pdm.dev-dependencies",
    ] {
        for (_, list) in entries(at(root, lists)) {
            strings(Some(list), &mut found);
        }
    }
    for keys in [
        "tool.poetry.dependencies",
        "tool.poetry.dev-dependencies",
        "tool.uv.sources",
    ] {
        names(at(root, keys), &mut found);
    }
    for (_, group) in entries(at(root, "tool.poetry.group")) {
        names(at(group, "dependencies"), &mut found);
    }
    for (_, environment) in entries(at(root, "tool.hatch.envs")) {
        strings(at(environment, "dependencies"), &mut found);
        strings(at(environment, "extra-dependencies"), &mut found);
    }
    Ok(found)
}

fn at<'a>(item: &'a Item, keys: &str) -> Option<&'a Item> {
    keys.split('.')
        .try_fold(item, |item, key| item.as_table_like()?.get(key))
}

fn entries(item: Option<&Item>) -> impl Iterator<Item = (&str, &Item)> {
    item.and_then(Item::as_table_like).into_iter().flat_map(TableLike::iter)
}

/// An array of requirement strings; tables in it (`{ include-group = "x" }`) declare nothing.
fn strings(list: Option<&Item>, found: &mut Vec<Dependency>) {
    let values = list.and_then(Item::as_array).into_iter().flat_map(|array| array.iter());
    found.extend(values.filter_map(Value::as_str).map(requirement));
}

/// A table with names as keys. `python` there is the interpreter.
fn names(table: Option<&Item>, found: &mut Vec<Dependency>) {
    found.extend(
        entries(table)
            .map(|(name, _)| name)
            .filter(|name| *name != "python")
            .map(requirement),
    );
}

/// The lines of a requirements file: names, URLs and paths, editable or not, and other files that
/// it includes (a new include can bring in anything, so that it counts as a name).
pub(super) fn requirements(text: &str) -> Vec<Dependency> {
    let joined = text.replace("\\\r\n", " ").replace("\\\n", " ");
    let mut found = Vec::new();
    for line in joined.lines() {
        let line = match line.find(" #").or(line.find("\t#")) {
            Some(at) => &line[..at],
            None => line,
        };
        let line = line.trim();
        if line.is_empty() || line.starts_with('#') {
            continue;
        }
        if let Some(file) = option(line, "-r", "--requirement") {
            found.push(Dependency::new(format!("-r {file}"), file));
        } else if let Some(source) = option(line, "-e", "--editable") {
            found.push(requirement(source));
        } else if !line.starts_with('-') {
            found.push(requirement(line));
        }
    }
    found
}

/// The value of `-r x`, `-rx`, `--requirement x`, `--requirement=x`.
fn option<'a>(line: &'a str, short: &str, long: &str) -> Option<&'a str> {
    let rest = match line.strip_prefix(long) {
        Some(rest) => rest
            .strip_prefix('=')
            .or_else(|| rest.starts_with([' ', '\t']).then_some(rest))?,
        None => line.strip_prefix(short).filter(|_| !line.starts_with("--"))?,
    };
    Some(rest.trim())
}

/// `name[extra] >= 1; marker`, `name @ url`, a URL with `#egg=name`, or a URL or path as a whole.
fn requirement(text: &str) -> Dependency {
    let text = text.trim();
    let end = text
        .find(|c: char| !(c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.')))
        .unwrap_or(text.len());
    let (name, rest) = text.split_at(end);
    let named = name.starts_with(|c: char| c.is_ascii_alphanumeric())
        && (rest.is_empty()
            || rest
                .trim_start()
                .starts_with(['[', '<', '>', '=', '!', '~', ';', '@', '(', ','])
            || rest.starts_with(' '));
    if named {
        return Dependency::new(normalised(name), name);
    }
    match text.split_once("#egg=").or_else(|| text.split_once("&egg=")) {
        Some((_, egg)) => {
            let egg = egg.split(['&', '[', ';', ' ']).next().unwrap_or(egg);
            Dependency::new(normalised(egg), egg)
        }
        None => Dependency::new(text, text),
    }
}

/// PEP 503: case and runs of `-`, `_`, `.` do not count.
fn normalised(name: &str) -> String {
    let lower = name.to_ascii_lowercase();
    lower
        .split(['-', '_', '.'])
        .filter(|part| !part.is_empty())
        .collect::<Vec<_>>()
        .join("-")
}

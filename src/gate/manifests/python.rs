//! pyproject.toml.

use toml_edit::{Item, Value};

use super::declared::{Dependency, Named, guesses};
use super::names;
use super::toml::{self, at, entries};

/// Arrays of requirements.
const LISTS: &[&str] = &[
    "project.dependencies",
    "build-system.requires",
    "tool.rye.dev-dependencies",
    "tool.flit.metadata.requires",
];
/// The same, of uv: in `tool.uv`, and at the root of uv.toml.
const UV: &[&str] = &[
    "dev-dependencies",
    "constraint-dependencies",
    "override-dependencies",
    "build-constraint-dependencies",
];
/// Tables of such arrays.
const GROUPS: &[&str] = &[
    "project.optional-dependencies",
    "dependency-groups",
    "tool.pdm.dev-dependencies",
    "tool.flit.metadata.requires-extra",
];
/// Tables with names as keys.
const TABLES: &[&str] = &[
    "tool.poetry.dependencies",
    "tool.poetry.dev-dependencies",
    "tool.poetry.requires-plugins",
    "tool.pdm.resolution.overrides",
];
/// The same, in `tool.pixi` and in each of its features and targets.
const PIXI: &[&str] = &[
    "dependencies",
    "host-dependencies",
    "build-dependencies",
    "run-dependencies",
    "pypi-dependencies",
];

/// Names of pyproject.toml: its standard tables and those of Poetry, uv, PDM, Hatch, pixi, Rye and
/// Flit, and the files in which setuptools and Hatch are told to look for more.
pub(super) fn pyproject(text: &str) -> Result<Vec<Dependency>, String> {
    let document = toml::document(text)?;
    let root = document.as_item();
    let mut found = Vec::new();
    for list in LISTS {
        strings(at(root, list), &mut found);
    }
    for lists in GROUPS {
        for (_, list) in entries(at(root, lists)) {
            strings(Some(list), &mut found);
        }
    }
    for keys in TABLES {
        names(at(root, keys), &mut found);
    }
    for (_, group) in entries(at(root, "tool.poetry.group")) {
        names(at(group, "dependencies"), &mut found);
    }
    hatch(at(root, "tool.hatch"), &mut found);
    uv(at(root, "tool.uv"), &mut found);
    pixi(at(root, "tool.pixi"), &mut found);
    // A newly named file can bring in anything, so that it counts as a name.
    found.extend(
        files(root)
            .iter()
            .map(|file| Dependency::new(format!("file {file}"), file)),
    );
    Ok(found)
}

/// The TOML of a script's own block (PEP 723): `dependencies`, and the tables of tools as in pyproject.toml.
pub(super) fn script(text: &str) -> Result<Vec<Dependency>, String> {
    let document = toml::document(text)?;
    let mut found = Vec::new();
    strings(at(document.as_item(), "dependencies"), &mut found);
    found.extend(pyproject(text)?);
    Ok(found)
}

/// Files that hold dependencies of the project, relative to the manifest. A manifest that does not
/// parse names none: no build takes it either.
pub(super) fn dynamic_files(text: &str) -> Vec<String> {
    toml::document(text)
        .map(|document| files(document.as_item()))
        .unwrap_or_default()
}

fn files(root: &Item) -> Vec<String> {
    let mut files = Vec::new();
    let mut add = |item: Option<&Item>| {
        files.extend(item.and_then(Item::as_str).map(str::to_owned));
        let list = item.and_then(Item::as_array).into_iter().flat_map(|array| array.iter());
        files.extend(list.filter_map(Value::as_str).map(str::to_owned));
    };
    add(at(root, "tool.setuptools.dynamic.dependencies.file"));
    for (_, extra) in entries(at(root, "tool.setuptools.dynamic.optional-dependencies")) {
        add(at(extra, "file"));
    }
    add(at(root, "tool.hatch.metadata.hooks.requirements_txt.files"));
    files
}

fn uv(root: Option<&Item>, found: &mut Vec<Dependency>) {
    let Some(root) = root else { return };
    for list in UV {
        strings(at(root, list), found);
    }
    for (_, list) in entries(at(root, "extra-build-dependencies")) {
        strings(Some(list), found);
    }
    names(at(root, "sources"), found);
}

fn hatch(root: Option<&Item>, found: &mut Vec<Dependency>) {
    let Some(root) = root else { return };
    strings(at(root, "build.dependencies"), found);
    for (_, environment) in entries(at(root, "envs")) {
        strings(at(environment, "dependencies"), found);
        strings(at(environment, "extra-dependencies"), found);
    }
    hatch_hooks(at(root, "build"), found);
    for (_, target) in entries(at(root, "build.targets")) {
        strings(at(target, "dependencies"), found);
        hatch_hooks(Some(target), found);
    }
}

/// uv.toml has at its root what pyproject.toml has below `tool.uv`.
pub(super) fn uv_manifest(text: &str) -> Result<Vec<Dependency>, String> {
    let document = toml::document(text)?;
    let mut found = Vec::new();
    uv(Some(document.as_item()), &mut found);
    Ok(found)
}

/// hatch.toml has at its root what pyproject.toml has below `tool.hatch`.
pub(super) fn hatch_manifest(text: &str) -> Result<Vec<Dependency>, String> {
    let document = toml::document(text)?;
    let mut found = Vec::new();
    hatch(Some(document.as_item()), &mut found);
    Ok(found)
}

fn hatch_hooks(build: Option<&Item>, found: &mut Vec<Dependency>) {
    for (_, hook) in entries(build.and_then(|build| at(build, "hooks"))) {
        strings(at(hook, "dependencies"), found);
    }
}

fn pixi(root: Option<&Item>, found: &mut Vec<Dependency>) {
    let Some(root) = root else { return };
    let features = entries(at(root, "feature")).map(|(_, feature)| feature);
    for part in std::iter::once(root).chain(features) {
        let targets = entries(at(part, "target")).map(|(_, target)| target);
        for place in std::iter::once(part).chain(targets) {
            for table in PIXI {
                names(at(place, table), found);
            }
        }
    }
}

/// An array of requirement strings; tables in it (`{ include-group = "x" }`) declare nothing.
fn strings(list: Option<&Item>, found: &mut Vec<Dependency>) {
    let values = list.and_then(Item::as_array).into_iter().flat_map(|array| array.iter());
    for value in values {
        let place = value.span().map(|span| span.start);
        if let Some(text) = value.as_str() {
            push(text, place, found);
        }
    }
}

/// A table with names as keys. `python` there is the interpreter.
fn names(table: Option<&Item>, found: &mut Vec<Dependency>) {
    let Some(table) = table.and_then(Item::as_table_like) else {
        return;
    };
    for (name, _) in table.iter().filter(|(name, _)| *name != "python") {
        found.push(requirement(name).at(toml::key_place(table, name)));
    }
}

/// Pipfile: every table but those that are Pipenv's own is a category of packages.
pub(super) fn pipfile(text: &str) -> Result<Vec<Dependency>, String> {
    let document = toml::document(text)?;
    let mut found = Vec::new();
    for (key, table) in document.as_table().iter() {
        if !matches!(key, "source" | "requires" | "scripts" | "pipenv") {
            names(Some(table), &mut found);
        }
    }
    Ok(found)
}

/// pixi.toml has at its root what pyproject.toml has below `tool.pixi`.
pub(super) fn pixi_manifest(text: &str) -> Result<Vec<Dependency>, String> {
    let document = toml::document(text)?;
    let mut found = Vec::new();
    pixi(Some(document.as_item()), &mut found);
    Ok(found)
}

/// A requirement, and where it has no name of its own what its address may hold.
pub(super) fn push(text: &str, place: Option<usize>, found: &mut Vec<Dependency>) {
    let dependency = requirement(text).at(place);
    if dependency.name.contains(['/', ':', '\\']) || dependency.name.starts_with('.') {
        found.extend(guesses(text).map(|name| {
            Dependency::new(names::python(name), text)
                .at(place)
                .of_kind(Named::Guessed)
        }));
    }
    found.push(dependency);
}

/// `name[extra] >= 1; marker`, `name @ url`, a URL with `#egg=name`, or a URL or path as a whole.
pub(super) fn requirement(text: &str) -> Dependency {
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
        return Dependency::new(names::python(name), name);
    }
    match text.split_once("#egg=").or_else(|| text.split_once("&egg=")) {
        Some((_, egg)) => {
            let egg = egg.split(['&', '[', ';', ' ']).next().unwrap_or(egg);
            Dependency::new(names::python(egg), egg)
        }
        None => Dependency::new(text, text),
    }
}

//! Cargo.toml.

use std::collections::HashMap;

use toml_edit::{Item, TableLike};

use super::declared::{Dependency, Named, Shelf};
use super::{names, toml};

pub(super) const SECTIONS: &[&str] = &[
    "dependencies",
    "dev-dependencies",
    "dev_dependencies",
    "build-dependencies",
    "build_dependencies",
];

/// The crates of all tables. A rename (`cache = { package = "redis" }`) declares the crate that is
/// built, not the name that it goes by.
pub(super) fn dependencies(text: &str) -> Result<Vec<Dependency>, String> {
    let document = toml::document(text)?;
    let root = document.as_table();
    let mut found = Vec::new();
    sections(root, &mut found);
    if let Some(workspace) = table(root.get("workspace")) {
        sections(workspace, &mut found);
    }
    for (_, target) in toml::entries(root.get("target")) {
        if let Some(target) = target.as_table_like() {
            sections(target, &mut found);
        }
    }
    for (_, registry) in toml::entries(root.get("patch")) {
        crates(Some(registry), &mut found);
    }
    // `[replace]` has keys such as `"redis:0.1.0"`.
    for (key, _) in toml::entries(root.get("replace")) {
        let name = key.split([':', '@']).next().unwrap_or(key);
        found.push(dependency(name).at(toml::place(document.as_item(), "replace", key)));
    }
    Ok(found)
}

/// From the names in `workspace.dependencies` to the crates that they are.
pub(super) fn workspace(text: &str) -> HashMap<String, Vec<Dependency>> {
    let Ok(document) = toml::document(text) else {
        return HashMap::new();
    };
    toml::entries(toml::at(document.as_item(), "workspace.dependencies"))
        .map(|(key, spec)| (names::cargo(key), vec![crate_of(key, spec)]))
        .collect()
}

fn sections(parent: &dyn TableLike, found: &mut Vec<Dependency>) {
    for section in SECTIONS {
        crates(parent.get(section), found);
    }
}

fn crates(section: Option<&Item>, found: &mut Vec<Dependency>) {
    let Some(section) = table(section) else { return };
    for (key, spec) in section.iter() {
        let mut dependency = crate_of(key, spec).at(toml::key_place(section, key));
        if toml::at(spec, "workspace").and_then(Item::as_bool) == Some(true) {
            dependency = dependency.of_kind(Named::Elsewhere(Shelf::Workspace));
        }
        found.push(dependency);
    }
}

/// The crate that an entry of a table is, and its folder.
fn crate_of(key: &str, spec: &Item) -> Dependency {
    let dependency = dependency(package(spec).unwrap_or(key));
    match toml::at(spec, "path").and_then(Item::as_str) {
        // The manifest's own folder.
        Some("") => dependency.of_kind(Named::Local(".".to_owned())),
        Some(path) if toml::at(spec, "git").is_none() => dependency.of_kind(Named::Local(path.to_owned())),
        _ => dependency,
    }
}

fn package(spec: &Item) -> Option<&str> {
    toml::at(spec, "package").and_then(Item::as_str)
}

fn dependency(name: &str) -> Dependency {
    Dependency::new(names::cargo(name), name)
}

pub(super) fn table(item: Option<&Item>) -> Option<&dyn TableLike> {
    item.and_then(Item::as_table_like)
}

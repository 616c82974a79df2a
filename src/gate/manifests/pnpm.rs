//! pnpm-workspace.yaml, by the strict reader of the policy: what two YAML programs could read
//! differently is refused.

use std::collections::HashMap;

use super::declared::Dependency;
use super::npm;
use crate::gate::yaml::{self, Entry, Node, Value};

/// Names of catalogs, overrides, `configDependencies` and of what `packageExtensions` adds.
pub(super) fn dependencies(text: &str) -> Result<Vec<Dependency>, String> {
    let mut found = Vec::new();
    for entry in read(text)? {
        match entry.key.as_str() {
            "catalog" | "configDependencies" => flat(&entry.value, &mut found),
            "catalogs" => entries(&entry.value).for_each(|catalog| flat(&catalog.value, &mut found)),
            "overrides" => {
                for rule in entries(&entry.value) {
                    for name in npm::names_on_the_way(&rule.key) {
                        npm::declare(name, spec(&rule.value), &mut found);
                    }
                }
            }
            "packageExtensions" => {
                for section in entries(&entry.value).flat_map(|package| entries(&package.value)) {
                    if matches!(
                        section.key.as_str(),
                        "dependencies" | "optionalDependencies" | "peerDependencies"
                    ) {
                        flat(&section.value, &mut found);
                    }
                }
            }
            _ => {}
        }
    }
    Ok(found)
}

/// Aliases of its catalogs and overrides, which hold for every package below.
pub(super) fn aliases(text: &str) -> npm::Aliases {
    let mut aliases = npm::Aliases::new();
    for entry in read(text).unwrap_or_default() {
        let tables: Vec<&Node> = match entry.key.as_str() {
            "catalog" | "overrides" => vec![&entry.value],
            "catalogs" => entries(&entry.value).map(|catalog| &catalog.value).collect(),
            _ => continue,
        };
        for package in tables.into_iter().flat_map(entries) {
            let name = npm::names_on_the_way(&package.key).last().copied().unwrap_or_default();
            npm::lead(name, spec(&package.value), &mut aliases);
        }
    }
    aliases
}

/// From the names of one catalog to the packages that they are.
pub(super) fn catalog(text: &str, wanted: &str) -> HashMap<String, Vec<Dependency>> {
    let mut names = HashMap::new();
    for entry in read(text).unwrap_or_default() {
        let catalogs: Vec<&Node> = match entry.key.as_str() {
            "catalog" if wanted == "default" => vec![&entry.value],
            "catalogs" => entries(&entry.value)
                .filter(|catalog| catalog.key == wanted)
                .map(|catalog| &catalog.value)
                .collect(),
            _ => continue,
        };
        for package in catalogs.into_iter().flat_map(entries) {
            let mut found = Vec::new();
            npm::declare(&package.key, spec(&package.value), &mut found);
            names.insert(package.key.clone(), found);
        }
    }
    names
}

fn flat(table: &Node, found: &mut Vec<Dependency>) {
    for package in entries(table) {
        npm::declare(&package.key, spec(&package.value), found);
    }
}

fn spec(node: &Node) -> Option<&str> {
    match &node.value {
        Value::Text(text) => Some(text),
        _ => None,
    }
}

fn entries(node: &Node) -> impl Iterator<Item = &Entry> {
    match &node.value {
        Value::Map(entries) => entries.as_slice(),
        _ => &[],
    }
    .iter()
}

fn read(text: &str) -> Result<Vec<Entry>, String> {
    match yaml::read("", text.as_bytes()) {
        Ok((_, entries)) => Ok(entries),
        // `:LINE:COLUMN: message`, and a snippet of untrusted text.
        Err(error) => Err(
            match error.split(':').nth(1).and_then(|line| line.parse::<u32>().ok()) {
                Some(line) => format!("not the plain YAML that is read here (line {line})"),
                None => "not the plain YAML that is read here".into(),
            },
        ),
    }
}

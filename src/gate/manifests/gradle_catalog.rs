//! Gradle's version catalogs, `*.versions.toml`.

use std::collections::HashMap;

use super::declared::Dependency;
use super::toml;

/// Modules and plugins of a catalog.
pub(super) fn dependencies(text: &str) -> Result<Vec<Dependency>, String> {
    let catalog = read(text)?;
    Ok(catalog
        .into_iter()
        .map(|(_, _, name, at)| Dependency::new(name.as_str(), name.as_str()).at(at))
        .collect())
}

/// From the accessors in scripts (`a.b` for `a-b`) to names: of libraries or of plugins. A bundle
/// has one accessor (`bundles.x`) for several.
pub(super) fn accessors(text: &str, of_plugins: bool) -> HashMap<String, Vec<String>> {
    let mut names: HashMap<String, Vec<String>> = HashMap::new();
    for (is_plugin, key, name, _) in read(text).unwrap_or_default() {
        if is_plugin == of_plugins {
            names.entry(accessor(&key)).or_default().push(name);
        }
    }
    if !of_plugins && let Ok(document) = toml::document(text) {
        for (bundle, libraries) in toml::entries(toml::at(document.as_item(), "bundles")) {
            let items = libraries.as_array().into_iter().flat_map(|array| array.iter());
            let all: Vec<String> = items
                .filter_map(|library| library.as_str())
                .flat_map(|library| names.get(&accessor(library)).cloned().unwrap_or_default())
                .collect();
            names.insert(format!("bundles.{}", accessor(bundle)), all);
        }
    }
    names
}

fn accessor(key: &str) -> String {
    key.to_ascii_lowercase().replace(['-', '_'], ".")
}

type Entry = (bool, String, String, Option<usize>);

fn read(text: &str) -> Result<Vec<Entry>, String> {
    let document = toml::document(text)?;
    let root = document.as_item();
    let mut found = Vec::new();
    for (key, value) in toml::entries(toml::at(root, "libraries")) {
        let part = |key: &str| toml::at(value, key).and_then(|part| part.as_str());
        let name = match (value.as_str(), part("module"), part("group"), part("name")) {
            (Some(text), ..) => text.split(':').take(2).collect::<Vec<_>>().join(":"),
            (None, Some(module), ..) => module.to_owned(),
            (None, None, Some(group), Some(name)) => format!("{group}:{name}"),
            _ => return Err(format!("a library without module ({})", key.escape_debug())),
        };
        found.push((false, key.to_owned(), name, toml::place(root, "libraries", key)));
    }
    for (key, value) in toml::entries(toml::at(root, "plugins")) {
        let id = match value.as_str() {
            Some(text) => text.split(':').next(),
            None => toml::at(value, "id").and_then(|id| id.as_str()),
        };
        let Some(id) = id else {
            return Err(format!("a plugin without id ({})", key.escape_debug()));
        };
        let name = format!("{id}:{id}.gradle.plugin");
        found.push((true, key.to_owned(), name, toml::place(root, "plugins", key)));
    }
    Ok(found)
}

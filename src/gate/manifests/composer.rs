//! composer.json.

use super::declared::{Dependency, Named};
use super::json::Json;
use crate::gate::imports::vendored;

/// Names of `require` and `require-dev`, without what PHP and Composer are themselves, and what `autoload` takes from
/// folders of copies.
pub(super) fn dependencies(text: &str) -> Result<Vec<Dependency>, String> {
    let root = Json::manifest(text)?;
    let mut found = Vec::new();
    for section in ["require", "require-dev"] {
        for table in root.all(section) {
            match table {
                Json::Map(entries) => found.extend(
                    entries
                        .iter()
                        .filter(|(name, _)| !is_platform(name))
                        .map(|(name, _)| Dependency::new(name.to_ascii_lowercase(), name)),
                ),
                // An empty table is often written as an empty list by PHP.
                Json::Null => {}
                Json::List(items) if items.is_empty() => {}
                _ => return Err(format!("`{section}` is no object")),
            }
        }
    }
    for section in ["autoload", "autoload-dev"] {
        for loaded in root.all(section).flat_map(Json::entries) {
            copies(&loaded.1, &mut found);
        }
    }
    Ok(found)
}

/// The copies of packages that composer is told to load classes and files from.
fn copies(loaded: &Json, found: &mut Vec<Dependency>) {
    if let Some(path) = loaded.text() {
        // What composer itself installs has a manifest that says so.
        let segments = vendored(path).filter(|segments| segments[0] != "composer");
        found.extend(segments.map(|segments| {
            let name = segments.join("/").to_ascii_lowercase();
            Dependency::new(name, path).of_kind(Named::Guessed)
        }));
    }
    let inner = loaded
        .items()
        .iter()
        .chain(loaded.entries().iter().map(|(_, value)| value));
    inner.for_each(|inner| copies(inner, found));
}

fn is_platform(name: &str) -> bool {
    let name = name.to_ascii_lowercase();
    matches!(
        name.as_str(),
        "php" | "php-64bit" | "php-ipv6" | "php-zts" | "php-debug" | "hhvm" | "composer"
    ) || name.starts_with("composer-")
        || name.starts_with("lib-")
}

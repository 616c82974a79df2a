//! composer.json.

use super::declared::Dependency;
use super::json::Json;

/// Names of `require` and `require-dev`, without what PHP and Composer are themselves.
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
    Ok(found)
}

fn is_platform(name: &str) -> bool {
    let name = name.to_ascii_lowercase();
    matches!(
        name.as_str(),
        "php" | "php-64bit" | "php-ipv6" | "php-zts" | "php-debug" | "hhvm" | "composer"
    ) || name.starts_with("composer-")
        || name.starts_with("lib-")
}

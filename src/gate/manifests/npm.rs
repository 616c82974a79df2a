//! package.json.

use std::collections::HashMap;

use serde_json::{Map, Value};

use super::Dependency;

const SECTIONS: &[&str] = &[
    "dependencies",
    "devDependencies",
    "optionalDependencies",
    "peerDependencies",
];
const BUNDLES: &[&str] = &["bundledDependencies", "bundleDependencies"];

/// The names of all sections. An alias (`"cache": "npm:redis@4"`) declares both names: the one
/// that code imports and the one that is installed.
pub(super) fn dependencies(text: &str) -> Result<Vec<Dependency>, String> {
    let value: Value = serde_json::from_str(text)
        .map_err(|error| format!("not valid JSON (line {}, column {})", error.line(), error.column()))?;
    let Value::Object(root) = value else {
        return Err("not a JSON object".into());
    };
    let mut found = Vec::new();
    for section in SECTIONS {
        match root.get(*section) {
            None | Some(Value::Null) => {}
            Some(Value::Object(table)) => flat(table, &mut found),
            Some(_) => return Err(format!("`{section}` is no object")),
        }
    }
    for bundle in BUNDLES {
        if let Some(Value::Array(names)) = root.get(*bundle) {
            found.extend(
                names
                    .iter()
                    .filter_map(Value::as_str)
                    .map(|name| Dependency::new(name, name)),
            );
        }
    }
    let pnpm = root.get("pnpm").and_then(|pnpm| pnpm.get("overrides"));
    for table in [root.get("overrides"), root.get("resolutions"), pnpm]
        .into_iter()
        .flatten()
    {
        nested(table, &mut found);
    }
    Ok(found)
}

fn flat(table: &Map<String, Value>, found: &mut Vec<Dependency>) {
    for (name, spec) in table {
        found.push(Dependency::new(name, name));
        found.extend(spec.as_str().and_then(alias));
    }
}

/// Aliases of all sections, from the imported name to the installed one. A manifest that does not
/// parse has none: no package manager takes it either.
pub(super) fn aliases(text: &[u8]) -> HashMap<String, String> {
    let root: Value = serde_json::from_slice(text).unwrap_or_default();
    let tables = SECTIONS.iter().filter_map(|section| root.get(*section)?.as_object());
    let target = |(name, spec): (&String, &Value)| Some((name.clone(), alias(spec.as_str()?)?.name));
    tables.flatten().filter_map(target).collect()
}

/// `npm:redis@4` installs redis, whatever key it stands under.
fn alias(spec: &str) -> Option<Dependency> {
    let target = without_version(spec.strip_prefix("npm:")?);
    Some(Dependency::new(target, target))
}

/// Overrides nest, and their keys carry versions (`foo@^1`) or ways (`**/foo`, `bar/foo`, `bar>foo`).
fn nested(table: &Value, found: &mut Vec<Dependency>) {
    // serde_json stops at 128 levels, so that this recursion is bounded too.
    for (key, value) in table.as_object().into_iter().flatten() {
        for name in names_on_the_way(key) {
            found.push(Dependency::new(name, name));
        }
        found.extend(value.as_str().and_then(alias));
        nested(value, found);
    }
}

fn names_on_the_way(key: &str) -> Vec<&str> {
    let mut names = Vec::new();
    for way in key.split('>') {
        let mut parts = way.trim().split('/').scan(0, |start, part| {
            let at = *start;
            *start += part.len() + 1;
            Some((at, part))
        });
        while let Some((at, part)) = parts.next() {
            if part.starts_with('@') {
                if let Some((second, rest)) = parts.next() {
                    names.push(without_version(&way.trim()[at..second + rest.len()]));
                }
            } else if !matches!(part, "" | "." | "*" | "**") {
                names.push(without_version(part));
            }
        }
    }
    names
}

fn without_version(name: &str) -> &str {
    match name.get(1..).and_then(|rest| rest.find('@')) {
        Some(at) => &name[..at + 1],
        None => name,
    }
}

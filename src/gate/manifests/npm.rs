//! package.json.

use std::collections::HashMap;

use super::declared::{Dependency, Named, Shelf, guesses};
use super::json::Json;

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
    let root = Json::manifest(text)?;
    let mut found = Vec::new();
    for section in SECTIONS {
        for table in root.all(section) {
            match table {
                Json::Null => {}
                Json::Map(_) => flat(table, &mut found),
                _ => return Err(format!("`{section}` is no object")),
            }
        }
    }
    for names in BUNDLES.iter().flat_map(|bundle| root.all(bundle)) {
        found.extend(
            names
                .items()
                .iter()
                .filter_map(Json::text)
                .map(|name| Dependency::new(name, name)),
        );
    }
    let pnpm: Vec<&Json> = root.all("pnpm").collect();
    for table in root
        .all("overrides")
        .chain(root.all("resolutions"))
        .chain(pnpm.iter().flat_map(|pnpm| pnpm.all("overrides")))
    {
        nested(table, &mut found);
    }
    for extensions in pnpm.iter().flat_map(|pnpm| pnpm.all("packageExtensions")) {
        for (_, package) in extensions.entries() {
            for table in SECTIONS.iter().flat_map(|section| package.all(section)) {
                flat(table, &mut found);
            }
        }
    }
    // Bun keeps catalogs in the root or under `workspaces`.
    for home in std::iter::once(&root).chain(root.all("workspaces")) {
        home.all("catalog").for_each(|table| flat(table, &mut found));
        for catalogs in home.all("catalogs") {
            catalogs.entries().iter().for_each(|(_, table)| flat(table, &mut found));
        }
    }
    Ok(found)
}

fn flat(table: &Json, found: &mut Vec<Dependency>) {
    for (name, spec) in table.entries() {
        declare(name, spec.text(), found);
    }
}

/// A name with what it stands for.
pub(super) fn declare(name: &str, spec: Option<&str>, found: &mut Vec<Dependency>) {
    let spec = spec.unwrap_or_default().trim();
    let dependency = Dependency::new(name, name);
    if let Some(catalog) = spec.strip_prefix("catalog:") {
        let catalog = match catalog.trim() {
            "" => "default",
            named => named,
        };
        found.push(dependency.of_kind(Named::Elsewhere(Shelf::Catalog(catalog.to_owned()))));
        return;
    }
    found.push(match folder(spec) {
        Some(folder) => dependency.of_kind(Named::Local(folder.to_owned())),
        None => dependency,
    });
    match alias(spec) {
        Some(alias) => found.push(alias),
        // A range has no slash and no colon; an address or a path has.
        None if spec.contains(['/', ':']) => {
            found.extend(guesses(spec).map(|name| Dependency::new(name, spec).of_kind(Named::Guessed)))
        }
        None => {}
    }
}

/// The folder that a specifier means: `workspace:*` only ever a member of the workspace, `file:../x` what lies
/// there. An archive brings in what nobody can read.
fn folder(spec: &str) -> Option<&str> {
    if spec.starts_with("workspace:") {
        return alias(spec).is_none().then_some("");
    }
    let schemes = ["file:", "link:", "portal:"];
    let path = schemes.iter().find_map(|scheme| spec.strip_prefix(scheme));
    let path = path.or_else(|| spec.starts_with('.').then_some(spec))?;
    let is_folder = !path.starts_with(['/', '~']) && !path.contains(['#', '?', '%', '\\', ':']);
    let is_archive = [".tgz", ".gz", ".tar"]
        .iter()
        .any(|end| path.to_ascii_lowercase().ends_with(end));
    (is_folder && !is_archive).then_some(path)
}

/// Aliases of all sections, from the imported name to the installed one. A manifest that does not
/// parse has none: no package manager takes it either.
pub(super) fn aliases(text: &[u8]) -> HashMap<String, String> {
    let Some(root) = std::str::from_utf8(text)
        .ok()
        .and_then(|text| Json::manifest(text).ok())
    else {
        return HashMap::new();
    };
    let tables = SECTIONS.iter().flat_map(|section| root.all(section));
    let target = |(name, spec): &(String, Json)| Some((name.clone(), alias(spec.text()?)?.name));
    tables.flat_map(|table| table.entries()).filter_map(target).collect()
}

/// `npm:redis@4` installs redis, whatever key it stands under; so do pnpm's `workspace:redis@*`
/// and Yarn's `patch:redis@npm%3A4#...`.
fn alias(spec: &str) -> Option<Dependency> {
    let target = if let Some(target) = spec.strip_prefix("npm:").or_else(|| spec.strip_prefix("jsr:")) {
        target
    } else {
        let target = spec
            .strip_prefix("workspace:")
            .or_else(|| spec.strip_prefix("patch:"))?;
        // `workspace:*`, `workspace:^1` and `workspace:../x` name no package.
        if !target.get(1..)?.contains('@') {
            return None;
        }
        target
    };
    let target = without_version(target.trim());
    // `npm:4` and `npm:^4` are versions of the key itself.
    let named = target.starts_with(|c: char| c.is_alphabetic() || c == '@' || c == '_') && target != "latest";
    named.then(|| Dependency::new(target, target))
}

/// Overrides nest, and their keys carry versions (`foo@^1`) or ways (`**/foo`, `bar/foo`, `bar>foo`).
fn nested(table: &Json, found: &mut Vec<Dependency>) {
    // The reader stops at 128 levels, so that this recursion is bounded too.
    for (key, value) in table.entries() {
        for name in names_on_the_way(key) {
            found.push(Dependency::new(name, name));
        }
        found.extend(value.text().and_then(alias));
        nested(value, found);
    }
}

/// The packages that the key of an override names.
pub(super) fn names_on_the_way(key: &str) -> Vec<&str> {
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
    match name.char_indices().skip(1).find(|(_, c)| *c == '@') {
        Some((at, _)) => &name[..at],
        None => name,
    }
}

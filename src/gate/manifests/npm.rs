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
            // A folder of the same name says nothing more than the name.
            let guessed = guesses(spec).filter(|guess| *guess != name || folder(spec).is_none());
            found.extend(guessed.map(|name| Dependency::new(name, spec).of_kind(Named::Guessed)))
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
///
/// An override, and an entry of a catalog, is one of every package below.
pub(super) fn aliases(text: &[u8]) -> Aliases {
    let Some(root) = std::str::from_utf8(text)
        .ok()
        .and_then(|text| Json::manifest(text).ok())
    else {
        return HashMap::new();
    };
    let mut aliases = HashMap::new();
    let sections = || SECTIONS.iter().flat_map(|section| root.all(section));
    let homes = || std::iter::once(&root).chain(root.all("workspaces"));
    let catalogs = homes().flat_map(|home| home.all("catalog")).chain(
        homes()
            .flat_map(|home| home.all("catalogs"))
            .flat_map(Json::entries)
            .map(|(_, table)| table),
    );
    for (name, spec) in sections().chain(catalogs).flat_map(Json::entries) {
        lead(name, spec.text(), &mut aliases);
    }
    let overrides = (root.all("overrides"))
        .chain(root.all("resolutions"))
        .chain(root.all("pnpm").flat_map(|pnpm| pnpm.all("overrides")));
    let mut open: Vec<(&str, &Json)> = overrides.map(|table| ("", table)).collect();
    while let Some((around, table)) = open.pop() {
        for (key, value) in table.entries() {
            // In the table of a package `.` is that package.
            let name = match key == "." {
                true => around,
                false => names_on_the_way(key).last().copied().unwrap_or_default(),
            };
            // `$x` is whatever the manifest says of `x`.
            let spec = value.text().map(str::trim);
            match spec.and_then(|spec| spec.strip_prefix('$')) {
                Some(other) => sections()
                    .flat_map(|table| table.all(other))
                    .for_each(|spec| lead(name, spec.text(), &mut aliases)),
                None => lead(name, spec, &mut aliases),
            }
            open.push((name, value));
        }
    }
    aliases
}

/// From the names that code imports to the packages that these may be.
pub(super) type Aliases = HashMap<String, Vec<String>>;

/// Adds what a name leads to, if it is an alias.
pub(super) fn lead(name: &str, spec: Option<&str>, aliases: &mut Aliases) {
    if let Some(target) = spec.and_then(|spec| alias(spec.trim())) {
        aliases.entry(name.to_owned()).or_default().push(target.name);
    }
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

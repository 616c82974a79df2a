//! Cargo.toml.

use toml_edit::{DocumentMut, Item, TableLike};

use super::{Dependency, toml_trouble};

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
    let document: DocumentMut = text.parse().map_err(|error| toml_trouble(&error))?;
    let root = document.as_table();
    let mut found = Vec::new();
    sections(root, &mut found);
    if let Some(workspace) = table(root.get("workspace")) {
        sections(workspace, &mut found);
    }
    for (_, target) in table(root.get("target")).into_iter().flat_map(|t| t.iter()) {
        if let Some(target) = target.as_table_like() {
            sections(target, &mut found);
        }
    }
    for (_, registry) in table(root.get("patch")).into_iter().flat_map(|t| t.iter()) {
        crates(Some(registry), &mut found);
    }
    // `[replace]` has keys such as `"redis:0.1.0"`.
    for (key, _) in table(root.get("replace")).into_iter().flat_map(|t| t.iter()) {
        found.push(dependency(key.split([':', '@']).next().unwrap_or(key)));
    }
    Ok(found)
}

fn sections(parent: &dyn TableLike, found: &mut Vec<Dependency>) {
    for section in SECTIONS {
        crates(parent.get(section), found);
    }
}

fn crates(section: Option<&Item>, found: &mut Vec<Dependency>) {
    for (key, spec) in table(section).into_iter().flat_map(|t| t.iter()) {
        let package = table(Some(spec))
            .and_then(|spec| spec.get("package"))
            .and_then(Item::as_str);
        found.push(dependency(package.unwrap_or(key)));
    }
}

/// The registry takes `-` and `_` for the same, and so does the compiler.
fn dependency(name: &str) -> Dependency {
    Dependency::new(name.to_ascii_lowercase().replace('_', "-"), name)
}

pub(super) fn table(item: Option<&Item>) -> Option<&dyn TableLike> {
    item.and_then(Item::as_table_like)
}

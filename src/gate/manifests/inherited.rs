//! Names that a manifest takes from another one: `cache = { workspace = true }` is whatever the
//! workspace says that `cache` is.

use std::collections::HashMap;
use std::rc::Rc;

use super::declared::{Computed, Declared, Dependency, Named, Shelf};
use super::format::parent;
use super::{cargo, gradle_catalog, pnpm, text_of};
use crate::gate::tree::{Side, join, lookup};
use crate::gate::{Kind, Tree, Unreadable};

type Names = Rc<HashMap<String, Vec<Dependency>>>;

/// The shelves of one tree, each read once.
pub(super) struct Shelves<'a> {
    tree: &'a dyn Tree,
    read: Vec<(Vec<u8>, Shelf, Names)>,
}

impl<'a> Shelves<'a> {
    pub(super) fn of(tree: &'a dyn Tree) -> Shelves<'a> {
        Shelves { tree, read: Vec::new() }
    }

    /// Puts the packages in the place of the names that stand for them. A name that nothing
    /// explains stays what it is; an accessor of a Gradle catalog is no name, so that it is as
    /// unknown as a computed one.
    pub(super) fn resolve(&mut self, manifest: &[u8], declared: Declared) -> Result<Declared, Unreadable> {
        let mut resolved = Declared {
            found: Vec::with_capacity(declared.found.len()),
            computed: declared.computed,
        };
        for dependency in declared.found {
            let Named::Elsewhere(shelf) = dependency.kind.clone() else {
                resolved.found.push(dependency);
                continue;
            };
            let packages = self.packages(manifest, &shelf, &dependency.name)?;
            let is_accessor = matches!(shelf, Shelf::Libraries | Shelf::Plugins);
            if packages.is_none() && is_accessor {
                resolved.computed.push(Computed {
                    text: format!("libs.{}", dependency.name),
                    at: dependency.at.unwrap_or_default(),
                });
                continue;
            }
            let packages = packages.unwrap_or_default();
            for package in packages.iter().filter(|package| package.name != dependency.name) {
                resolved.found.push(Dependency {
                    name: package.name.clone(),
                    kind: package.kind.clone(),
                    ..dependency.clone()
                });
            }
            if !is_accessor {
                let is_local = |package: &Dependency| matches!(package.kind, Named::Local(_));
                let kind = match packages.first() {
                    Some(first) if packages.iter().all(is_local) => first.kind.clone(),
                    _ => Named::Outright,
                };
                resolved.found.push(dependency.of_kind(kind));
            }
        }
        Ok(resolved)
    }

    /// What the name stands for, by the nearest shelf that has it.
    fn packages(&mut self, manifest: &[u8], shelf: &Shelf, name: &str) -> Result<Option<Vec<Dependency>>, Unreadable> {
        let mut folder = manifest;
        let mut up = String::new();
        while !folder.is_empty() {
            folder = parent(folder);
            if let Some(packages) = self.shelf(folder, shelf)?.get(name) {
                let package = |package: &Dependency| {
                    let kind = match &package.kind {
                        // A path there is one from the shelf's folder.
                        Named::Local(path) if !path.starts_with('/') => Named::Local(format!("{up}{path}")),
                        _ => Named::Outright,
                    };
                    package.clone().of_kind(kind)
                };
                return Ok(Some(packages.iter().map(package).collect()));
            }
            up.push_str("../");
        }
        Ok(None)
    }

    fn shelf(&mut self, folder: &[u8], shelf: &Shelf) -> Result<Names, Unreadable> {
        let known = self.read.iter().find(|(at, kind, _)| at == folder && kind == shelf);
        if let Some((_, _, names)) = known {
            return Ok(names.clone());
        }
        let file: &[u8] = match shelf {
            Shelf::Workspace => b"Cargo.toml",
            Shelf::Catalog(_) => b"pnpm-workspace.yaml",
            Shelf::Libraries | Shelf::Plugins => b"gradle/libs.versions.toml",
        };
        let text = match lookup(self.tree, &join(folder, file))? {
            Some(entry) if matches!(entry.kind, Kind::File | Kind::Executable) => {
                let side = Side {
                    kind: entry.kind,
                    id: entry.id,
                };
                text_of(self.tree, &side)?.unwrap_or_default()
            }
            _ => String::new(),
        };
        let names = Rc::new(match shelf {
            Shelf::Workspace => cargo::workspace(&text),
            Shelf::Catalog(catalog) => pnpm::catalog(&text, catalog),
            Shelf::Libraries => outright(gradle_catalog::accessors(&text, false)),
            Shelf::Plugins => outright(gradle_catalog::accessors(&text, true)),
        });
        self.read.push((folder.to_vec(), shelf.clone(), names.clone()));
        Ok(names)
    }
}

fn outright(names: HashMap<String, Vec<String>>) -> HashMap<String, Vec<Dependency>> {
    let package = |name: String| Dependency::new(name.clone(), name);
    (names.into_iter())
        .map(|(key, names)| (key, names.into_iter().map(package).collect()))
        .collect()
}

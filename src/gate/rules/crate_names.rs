//! Cargo renames: with `cache = { package = "redis" }` in Cargo.toml, `use cache::Client` loads redis.
//!
//! Every Cargo.toml around a file counts, not only the nearest: a manifest that an agent puts between
//! a file and its package must not take a rename away.

use std::collections::{HashMap, HashSet};
use std::rc::Rc;

use super::manifest;
use crate::gate::imports::Import;
use crate::gate::manifests::{CargoNames, CargoRenames, cargo_names};
use crate::gate::tree::{join, lookup, upward};
use crate::gate::{Tree, Unreadable};

/// The renames of one tree, each Cargo.toml read once.
pub(super) struct CrateNames<'a> {
    tree: &'a dyn Tree,
    manifests: HashMap<Vec<u8>, Rc<CargoNames>>,
}

impl<'a> CrateNames<'a> {
    pub(super) fn of(tree: &'a dyn Tree) -> CrateNames<'a> {
        CrateNames {
            tree,
            manifests: HashMap::new(),
        }
    }

    /// The names of crates that code of a file may use: those of its package, and of every Cargo.toml
    /// above. None where there is no Cargo.toml that can be read.
    pub(super) fn declared(&mut self, file: &[u8]) -> Result<Option<HashSet<String>>, Unreadable> {
        let mut all = HashSet::new();
        let mut is_known = false;
        for folder in upward(file) {
            let names = self.manifest(folder)?;
            if names.is_read {
                is_known = true;
            } else if lookup(self.tree, &join(folder, b"Cargo.toml"))?.is_some() {
                return Ok(None);
            }
            all.extend(names.declared.iter().cloned());
        }
        Ok(is_known.then_some(all))
    }

    /// The renames that hold for a file.
    pub(super) fn around(&mut self, file: &[u8]) -> Result<CargoRenames, Unreadable> {
        let mut around = Vec::new();
        for folder in upward(file) {
            let names = self.manifest(folder)?;
            if let Some(workspace) = names.workspace_folder.as_deref().and_then(|path| below(folder, path)) {
                around.push(self.manifest(&workspace)?);
            }
            around.push(names);
        }
        let mut renames = CargoRenames::new();
        for names in &around {
            for (name, crates) in &names.renamed {
                renames.entry(name.clone()).or_default().extend(crates.iter().cloned());
            }
            for name in &names.inherited {
                for crates in around.iter().filter_map(|names| names.workspace.get(name)) {
                    renames.entry(name.clone()).or_default().extend(crates.iter().cloned());
                }
            }
        }
        Ok(renames)
    }

    fn manifest(&mut self, folder: &[u8]) -> Result<Rc<CargoNames>, Unreadable> {
        if let Some(names) = self.manifests.get(folder) {
            return Ok(names.clone());
        }
        let names = match manifest(self.tree, &join(folder, b"Cargo.toml"))? {
            Some(text) => Rc::new(cargo_names(&text)),
            None => Rc::default(),
        };
        self.manifests.insert(folder.to_vec(), names.clone());
        Ok(names)
    }
}

/// The folder at a relative path from another one; none outside of the repository.
fn below(folder: &[u8], path: &str) -> Option<Vec<u8>> {
    if path.starts_with(['/', '\\']) {
        return None;
    }
    let mut parts: Vec<&[u8]> = folder
        .split(|&byte| byte == b'/')
        .filter(|part| !part.is_empty())
        .collect();
    for part in path.split('/') {
        match part {
            "" | "." => {}
            ".." => {
                parts.pop()?;
            }
            part => parts.push(part.as_bytes()),
        }
    }
    Some(parts.join(&b'/'))
}

/// The import as Cargo resolves it, once for each crate that its name may be.
pub(super) fn resolved(import: &Import, renames: &CargoRenames) -> Vec<Import> {
    let crates = import.first_segment().and_then(|name| renames.get(name));
    crates
        .into_iter()
        .flatten()
        .map(|name| {
            let mut import = import.clone();
            import.identity[0].clone_from(name);
            import
        })
        .collect()
}

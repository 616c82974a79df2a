//! Cargo.toml: which package a file belongs to, and which names in its code are crates of the
//! repository.
//!
//! A crate is the repository's own where the package names it as a dependency by path (also by way of
//! `[workspace.dependencies]`), or where it is the package's own library: that is the only way in which
//! cargo links one. A `[patch]` by path is a copy of somebody else's crate.

use std::collections::HashMap;
use std::rc::Rc;

use toml_edit::{DocumentMut, Item, TableLike};

use super::files::{Files, follow, upward};
use crate::gate::tree::{Unreadable, join};

const SECTIONS: &[&str] = &[
    "dependencies",
    "dev-dependencies",
    "dev_dependencies",
    "build-dependencies",
    "build_dependencies",
];

/// What a Cargo.toml says, as far as it matters here.
#[derive(Debug, Default)]
pub(super) struct Manifest {
    /// The folder it lies in.
    pub(super) folder: Vec<u8>,
    /// It has a `[package]`.
    is_package: bool,
    /// The name that code has for the package's library.
    library: String,
    /// Its file.
    pub(super) lib_path: Vec<u8>,
    /// Files of its programs, tests, examples and benches that it names.
    pub(super) roots: Vec<Vec<u8>>,
    /// Name in code to folder, of dependencies by path.
    paths: HashMap<String, Vec<u8>>,
    /// Names in code of dependencies that the workspace describes, and their keys.
    inherited: Vec<(String, String)>,
    /// Key to folder, of `[workspace.dependencies]`.
    workspace: Option<HashMap<String, Vec<u8>>>,
}

/// Each Cargo.toml, read once.
#[derive(Default)]
pub(super) struct Crates {
    manifests: HashMap<Vec<u8>, Option<Rc<Manifest>>>,
}

impl Crates {
    /// The package that a file belongs to.
    pub(super) fn package(&mut self, files: &Files, from: &[u8]) -> Result<Option<Rc<Manifest>>, Unreadable> {
        for folder in upward(from) {
            if let Some(manifest) = self.manifest(files, folder)?.filter(|manifest| manifest.is_package) {
                return Ok(Some(manifest));
            }
        }
        Ok(None)
    }

    /// The package whose library this name is in the code of `package`.
    pub(super) fn named(
        &mut self,
        files: &Files,
        package: &Rc<Manifest>,
        name: &str,
    ) -> Result<Option<Rc<Manifest>>, Unreadable> {
        let mut folder = package.paths.get(name).cloned();
        if folder.is_none()
            && let Some((_, key)) = package.inherited.iter().find(|(known, _)| known == name)
        {
            let own = join(&package.folder, b"Cargo.toml");
            for above in upward(&own) {
                let manifest = self.manifest(files, above)?;
                if let Some(workspace) = manifest.as_ref().and_then(|manifest| manifest.workspace.as_ref()) {
                    folder = workspace.get(key).cloned();
                    break;
                }
            }
        }
        if let Some(folder) = folder {
            return Ok(self.manifest(files, &folder)?.filter(|manifest| manifest.is_package));
        }
        Ok((package.library == name).then(|| package.clone()))
    }

    fn manifest(&mut self, files: &Files, folder: &[u8]) -> Result<Option<Rc<Manifest>>, Unreadable> {
        if let Some(known) = self.manifests.get(folder) {
            return Ok(known.clone());
        }
        let text = files.text(&join(folder, b"Cargo.toml"))?;
        let manifest = text
            .and_then(|text| text.parse::<DocumentMut>().ok())
            .map(|document| Rc::new(read(document.as_table(), folder)));
        self.manifests.insert(folder.to_vec(), manifest.clone());
        Ok(manifest)
    }
}

fn read(root: &dyn TableLike, folder: &[u8]) -> Manifest {
    let package = table(root.get("package"));
    let text = |item: Option<&Item>| item.and_then(Item::as_str).map(str::to_owned);
    let name = package
        .and_then(|package| text(package.get("name")))
        .unwrap_or_default();
    let lib = table(root.get("lib"));
    let path = |item: &dyn TableLike| text(item.get("path")).and_then(|path| follow(folder, path.as_bytes()));
    let mut manifest = Manifest {
        folder: folder.to_vec(),
        is_package: package.is_some(),
        library: lib
            .and_then(|lib| text(lib.get("name")))
            .unwrap_or(name)
            .replace('-', "_"),
        lib_path: lib.and_then(path).unwrap_or_else(|| join(folder, b"src/lib.rs")),
        ..Manifest::default()
    };
    for kind in ["bin", "test", "example", "bench"] {
        let targets = root.get(kind).and_then(Item::as_array_of_tables);
        manifest
            .roots
            .extend(targets.into_iter().flatten().filter_map(|target| path(target)));
    }
    let mut tables: Vec<&dyn TableLike> = vec![root];
    let targets = table(root.get("target")).into_iter().flat_map(|targets| targets.iter());
    tables.extend(targets.filter_map(|(_, target)| target.as_table_like()));
    for (key, spec) in tables.into_iter().flat_map(dependencies) {
        let code = key.replace('-', "_");
        match table(Some(spec)) {
            Some(spec) if spec.get("workspace").and_then(Item::as_bool) == Some(true) => {
                manifest.inherited.push((code, key.to_owned()));
            }
            Some(spec) => {
                manifest.paths.extend(path(spec).map(|folder| (code, folder)));
            }
            None => {}
        }
    }
    if let Some(workspace) = table(root.get("workspace")) {
        let inherited = dependencies(workspace).into_iter().filter_map(|(key, spec)| {
            let folder = path(table(Some(spec))?)?;
            Some((key.to_owned(), folder))
        });
        manifest.workspace = Some(inherited.collect());
    }
    manifest
}

fn dependencies(parent: &dyn TableLike) -> Vec<(&str, &Item)> {
    SECTIONS
        .iter()
        .filter_map(|section| table(parent.get(section)))
        .flat_map(|section| section.iter())
        .collect()
}

fn table(item: Option<&Item>) -> Option<&dyn TableLike> {
    item?.as_table_like()
}

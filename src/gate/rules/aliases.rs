//! npm aliases: with `"cache": "npm:redis@4"` in package.json, `import "cache"` loads redis.

use std::collections::HashMap;
use std::rc::Rc;

use crate::gate::imports::Import;
use crate::gate::manifests::{MAX_MANIFEST, npm_aliases};
use crate::gate::tree::{join, lookup};
use crate::gate::{Kind, Tree, Unreadable};

/// From the name that code imports to the package that is installed.
pub(super) type Names = Rc<HashMap<String, String>>;

/// The aliases of one tree, each package.json read once.
pub(super) struct Aliases<'a> {
    tree: &'a dyn Tree,
    folders: HashMap<Vec<u8>, Names>,
}

impl<'a> Aliases<'a> {
    pub(super) fn of(tree: &'a dyn Tree) -> Aliases<'a> {
        Aliases {
            tree,
            folders: HashMap::new(),
        }
    }

    /// The aliases that hold for a file, nearest folder first.
    pub(super) fn around(&mut self, file: &[u8]) -> Result<Vec<Names>, Unreadable> {
        let mut around = Vec::new();
        let mut folder = file;
        while !folder.is_empty() {
            folder = folder
                .iter()
                .rposition(|&byte| byte == b'/')
                .map_or(b"", |at| &folder[..at]);
            let names = match self.folders.get(folder) {
                Some(names) => names.clone(),
                None => {
                    let names = Rc::new(self.read(folder)?);
                    self.folders.insert(folder.to_vec(), names.clone());
                    names
                }
            };
            if !names.is_empty() {
                around.push(names);
            }
        }
        Ok(around)
    }

    fn read(&self, folder: &[u8]) -> Result<HashMap<String, String>, Unreadable> {
        match lookup(self.tree, &join(folder, b"package.json"))? {
            Some(entry)
                if matches!(entry.kind, Kind::File | Kind::Executable)
                    && self.tree.blob_size(&entry.id)? <= MAX_MANIFEST =>
            {
                Ok(npm_aliases(&self.tree.blob(&entry.id)?))
            }
            _ => Ok(HashMap::new()),
        }
    }
}

/// The import as the package manager resolves it, where its package is an alias.
pub(super) fn resolved(import: &Import, around: &[Names]) -> Option<Import> {
    let scoped = usize::from(import.identity.first()?.starts_with('@'));
    let name = import.identity.get(..=scoped)?.join("/");
    let target = around.iter().find_map(|names| names.get(&name))?;
    let identity = target
        .split('/')
        .map(str::to_string)
        .chain(import.identity[scoped + 1..].iter().cloned());
    Some(Import {
        identity: identity.collect(),
        ..import.clone()
    })
}

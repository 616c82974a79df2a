//! Prefixes of PHP that a composer.json leads into copies of other people's packages: with
//! `"psr-4": {"App\\Cache\\": "vendor/redis/src"}` the class `App\Cache\Client` is one of redis.
//!
//! Every composer.json around a file counts.

use std::collections::HashMap;
use std::rc::Rc;

use serde_json::Value;

use super::manifest;
use crate::gate::imports::{Import, ImportKind, include_identity, vendored};
use crate::gate::resolve::follow;
use crate::gate::tree::{join, upward};
use crate::gate::{Tree, Unreadable};

/// Segments in lower case, and the folder.
type Prefixes = Rc<Vec<(Vec<String>, String)>>;

/// The prefixes of one tree, each composer.json read once.
pub(super) struct ComposerPrefixes<'a> {
    tree: &'a dyn Tree,
    folders: HashMap<Vec<u8>, Prefixes>,
}

impl<'a> ComposerPrefixes<'a> {
    pub(super) fn of(tree: &'a dyn Tree) -> ComposerPrefixes<'a> {
        ComposerPrefixes {
            tree,
            folders: HashMap::new(),
        }
    }

    /// The copies that names of a file are classes of, by their text as written.
    pub(super) fn leads(
        &mut self,
        found: &[Import],
        file: &[u8],
        leads: &mut HashMap<String, Vec<Import>>,
    ) -> Result<(), Unreadable> {
        let mut around = Vec::new();
        for folder in upward(file) {
            around.push(self.folder(folder)?);
        }
        let all: Vec<&(Vec<String>, String)> = around.iter().flat_map(|prefixes| prefixes.iter()).collect();
        if all.is_empty() {
            return Ok(());
        }
        for import in found {
            if matches!(
                import.kind,
                ImportKind::Opaque | ImportKind::Include | ImportKind::Declared
            ) {
                continue;
            }
            let begins = |prefix: &[String]| {
                prefix.len() <= import.identity.len()
                    && prefix
                        .iter()
                        .zip(&import.identity)
                        .all(|(part, own)| *part == own.to_lowercase())
            };
            let meant = all.iter().filter(|(prefix, _)| begins(prefix));
            let copies: Vec<Import> = meant
                .map(|(prefix, folder)| {
                    let rest = import.identity[prefix.len()..].join("/");
                    let raw = format!("./{folder}/{rest}");
                    Import {
                        identity: include_identity(&vendored(&raw).unwrap_or_default().join("/")),
                        kind: ImportKind::Include,
                        raw,
                        ..import.clone()
                    }
                })
                .collect();
            if !copies.is_empty() {
                leads.entry(import.raw.clone()).or_default().extend(copies);
            }
        }
        Ok(())
    }

    fn folder(&mut self, folder: &[u8]) -> Result<Prefixes, Unreadable> {
        if let Some(known) = self.folders.get(folder) {
            return Ok(known.clone());
        }
        let mut prefixes = Vec::new();
        if let Some(text) = manifest(self.tree, &join(folder, b"composer.json"))? {
            let manifest: Value = serde_json::from_slice(&text).unwrap_or_default();
            for (section, standard) in [
                ("autoload", "psr-4"),
                ("autoload-dev", "psr-4"),
                ("autoload", "psr-0"),
                ("autoload-dev", "psr-0"),
            ] {
                let table = manifest.get(section).and_then(|section| section.get(standard));
                for (prefix, paths) in table.and_then(Value::as_object).into_iter().flatten() {
                    let paths = match paths {
                        Value::Array(paths) => paths.iter().filter_map(Value::as_str).collect(),
                        path => path.as_str().into_iter().collect::<Vec<_>>(),
                    };
                    let segments: Vec<String> = (prefix.split('\\').filter(|part| !part.is_empty()))
                        .map(str::to_lowercase)
                        .collect();
                    for path in paths.into_iter().filter_map(|path| follow(folder, path.as_bytes())) {
                        let path = String::from_utf8_lossy(&path).into_owned();
                        if !segments.is_empty() && vendored(&path).is_some() {
                            prefixes.push((segments.clone(), path));
                        }
                    }
                }
            }
        }
        let prefixes = Rc::new(prefixes);
        self.folders.insert(folder.to_vec(), prefixes.clone());
        Ok(prefixes)
    }
}

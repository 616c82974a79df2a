//! Modules that a go.mod puts in the place of others: with `replace a.com/kv => b.com/redis v1.0.0` an import of
//! `a.com/kv` loads redis.
//!
//! A folder in the place of a module is the module that its own go.mod names, or below `vendor/` and the like, or out of
//! the repository, what it is called. Every go.mod and go.work around a file counts, not only the nearest, as for
//! Cargo's renames.

use std::collections::HashMap;
use std::rc::Rc;

use super::manifest;
use crate::gate::imports::{Import, ImportKind, vendored};
use crate::gate::resolve::{follow, go_module, go_replaced, go_replacements};
use crate::gate::tree::{join, upward};
use crate::gate::{Tree, Unreadable};

/// What stands before the path of a copy that has no module's name.
pub(super) const COPY: &str = "x";

/// From module to module.
type Replaced = Rc<Vec<(String, String)>>;

/// The replacements of one tree, each folder read once.
pub(super) struct GoModules<'a> {
    tree: &'a dyn Tree,
    folders: HashMap<Vec<u8>, Replaced>,
}

impl<'a> GoModules<'a> {
    pub(super) fn of(tree: &'a dyn Tree) -> GoModules<'a> {
        GoModules {
            tree,
            folders: HashMap::new(),
        }
    }

    /// The packages that imports of a file are by replacement, by their text as written.
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
        let all: Vec<&(String, String)> = around.iter().flat_map(|replaced| replaced.iter()).collect();
        if all.is_empty() {
            return Ok(());
        }
        for import in found.iter().filter(|import| import.kind != ImportKind::Opaque) {
            if leads.contains_key(&import.raw) {
                continue;
            }
            let lead = |(old, new): &&(String, String)| {
                let rest = import.raw.strip_prefix(old.as_str())?;
                let raw = match rest.is_empty() || rest.starts_with('/') {
                    true => format!("{new}{rest}"),
                    false => return None,
                };
                let segments = raw.split('/').filter(|segment| !segment.is_empty());
                Some(Import {
                    identity: segments.map(str::to_owned).collect(),
                    raw: raw.clone(),
                    ..import.clone()
                })
            };
            let found: Vec<Import> = all.iter().filter_map(lead).collect();
            if !found.is_empty() {
                leads.insert(import.raw.clone(), found);
            }
        }
        Ok(())
    }

    /// What a folder in the place of a module is, where that is another module.
    fn module_in(&self, from: &[u8], old: &str, new: &str) -> Result<Option<String>, Unreadable> {
        let named = |segment: &str| old.split('/').any(|part| part.eq_ignore_ascii_case(segment));
        let folder = follow(from, new.as_bytes()).filter(|_| new.starts_with('.'));
        let path = folder
            .as_ref()
            .map(|folder| String::from_utf8_lossy(folder).into_owned());
        match (path.as_deref().and_then(vendored), &folder) {
            (Some(segments), _) => {
                let is_another = segments.last().is_some_and(|last| !named(last));
                return Ok(is_another.then(|| format!("{COPY}/vendor/{}", segments.join("/"))));
            }
            (None, None) => {
                let last = new.trim_end_matches('/').rsplit('/').next().unwrap_or_default();
                let is_another = !last.is_empty() && !matches!(last, "." | "..") && !named(last);
                return Ok(is_another.then(|| format!("{COPY}/vendor/{last}")));
            }
            (None, Some(_)) => {}
        }
        let go_mod = folder.map(|folder| join(&folder, b"go.mod")).unwrap_or_default();
        let text = manifest(self.tree, &go_mod)?;
        Ok(text.and_then(|text| go_module(&String::from_utf8_lossy(&text)).filter(|module| module != old)))
    }

    fn folder(&mut self, folder: &[u8]) -> Result<Replaced, Unreadable> {
        if let Some(known) = self.folders.get(folder) {
            return Ok(known.clone());
        }
        let mut replaced = Vec::new();
        for name in [&b"go.mod"[..], b"go.work"] {
            if let Some(text) = manifest(self.tree, &join(folder, name))? {
                let text = String::from_utf8_lossy(&text).into_owned();
                replaced.extend(go_replaced(&text));
                for (old, new) in go_replacements(&text) {
                    if new.starts_with(['.', '/']) {
                        let meant = self.module_in(folder, &old, &new)?;
                        replaced.extend(meant.map(|meant| (old, meant)));
                    }
                }
            }
        }
        let replaced = Rc::new(replaced);
        self.folders.insert(folder.to_vec(), replaced.clone());
        Ok(replaced)
    }
}

//! Other names for a package: with `"cache": "npm:redis@4"` in package.json, `import "cache"` loads
//! redis, and so does a name whose package is a folder (`"cache": "workspace:../redis"`) for what that folder's
//! package.json calls itself, what a `deno.json` or an import map beside it says (`"cache": "npm:redis@4"`), Rails'
//! `pin "cache", to: "https://..."`, and `import "#r"` with `"imports": {"#r": "redis"}` there or a tsconfig's `paths` that
//! lead into node_modules.
//!
//! Every package.json and tsconfig around a file counts, and every condition: which of them holds is
//! for whoever runs the code to say.

use std::collections::HashMap;
use std::rc::Rc;

use serde_json::Value;

use super::{Resolvers, follow_link, manifest};
use crate::gate::imports::{self, Import, ImportKind};
use crate::gate::manifests::{MAX_MANIFEST, npm_aliases, pnpm_aliases};
use crate::gate::resolve::{follow, npm_links, npm_targets, plain_json};
use crate::gate::tree::{join, lookup, upward};
use crate::gate::{Kind, Tree, Unreadable};

/// Files that say which module a name loads, from a folder.
const MAPS: [&[u8]; 5] = [
    b"deno.json",
    b"deno.jsonc",
    b"import_map.json",
    b"importmap.json",
    b"config/importmap.rb",
];

/// What one folder says.
#[derive(Default)]
pub(super) struct Folder {
    /// From the name that code imports to the packages that may be installed.
    renamed: HashMap<String, Vec<String>>,
    /// Beginnings of names, with a slash, and what an import map puts in their place.
    beginnings: Vec<(String, String)>,
    /// The same of names that no package has, also whole ones.
    shorthands: Vec<(String, String)>,
    /// `imports` of its package.json.
    imports: Value,
    /// It has a tsconfig or jsconfig that may have `paths`.
    has_paths: bool,
}

impl Folder {
    fn is_empty(&self) -> bool {
        self.renamed.is_empty()
            && self.beginnings.is_empty()
            && self.shorthands.is_empty()
            && self.imports.is_null()
            && !self.has_paths
    }
}

/// A folder's names, shared by the files below it.
pub(super) type Names = Rc<Folder>;

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
        for folder in upward(file) {
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

    fn read(&self, folder: &[u8]) -> Result<Folder, Unreadable> {
        let mut names = Folder {
            has_paths: self.has_paths(folder)?,
            ..Folder::default()
        };
        if let Some(text) = manifest(self.tree, &join(folder, b"package.json"))? {
            names.renamed = npm_aliases(&text);
            let text = text.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(&text);
            let mut manifest: Value = serde_json::from_slice(text).unwrap_or_default();
            for (key, target) in npm_links(&manifest) {
                if let Some(target) = follow(folder, target.as_bytes())
                    && let Some(name) = self.name(&target)?
                    && name != key
                {
                    names.renamed.entry(key).or_default().push(name);
                }
            }
            names.imports = manifest.get_mut("imports").map(Value::take).unwrap_or_default();
        }
        if let Some(text) = manifest(self.tree, &join(folder, b"pnpm-workspace.yaml"))? {
            for (key, packages) in pnpm_aliases(&text) {
                names.renamed.entry(key).or_default().extend(packages);
            }
        }
        self.links(&join(folder, b"node_modules"), "", &mut names.renamed)?;
        for name in MAPS {
            let Some(text) = self.text(&join(folder, name))? else {
                continue;
            };
            let pairs = match name.ends_with(b".rb") {
                true => pins(&text),
                false => map(&text),
            };
            for (key, target) in pairs {
                let target = imports::javascript_identity(&target).join("/");
                match key.strip_suffix('/') {
                    _ if target.is_empty() || key == target => {}
                    // `@/x`, `#x`: no name of a package.
                    _ if imports::javascript_identity(&key).is_empty() => names.shorthands.push((key, target)),
                    Some(key) => names.beginnings.push((format!("{key}/"), target)),
                    None => names.renamed.entry(key).or_default().push(target),
                }
            }
        }
        Ok(names)
    }

    /// The text of a file that is there and no larger than a manifest.
    fn text(&self, path: &[u8]) -> Result<Option<String>, Unreadable> {
        Ok(manifest(self.tree, path)?.and_then(|text| String::from_utf8(text).ok()))
    }

    /// Links of a `node_modules` that git has: each is what its folder calls itself.
    fn links(&self, modules: &[u8], scope: &str, renamed: &mut HashMap<String, Vec<String>>) -> Result<(), Unreadable> {
        let Some(folder) = lookup(self.tree, modules)?.filter(|entry| entry.kind == Kind::Tree) else {
            return Ok(());
        };
        for entry in self.tree.folder(&folder.id)?.items() {
            let name = String::from_utf8_lossy(entry.name);
            let path = join(modules, entry.name);
            if entry.kind == Kind::Tree && name.starts_with('@') && scope.is_empty() {
                self.links(&path, &format!("{name}/"), renamed)?;
            } else if entry.kind == Kind::Symlink
                && let Some((target, _)) = follow_link(self.tree, &path)?
                && let Some(known) = self.name(&target)?
            {
                let key = format!("{scope}{name}");
                if key != known {
                    renamed.entry(key).or_default().push(known);
                }
            }
        }
        Ok(())
    }

    /// What the package.json of a folder calls its package.
    fn name(&self, folder: &[u8]) -> Result<Option<String>, Unreadable> {
        let path = join(folder, b"package.json");
        let entry = match lookup(self.tree, &path)? {
            Some(entry) => Some(entry),
            None => follow_link(self.tree, &path)?.map(|(_, entry)| entry),
        };
        let Some(entry) = entry.filter(|entry| matches!(entry.kind, Kind::File | Kind::Executable)) else {
            return Ok(None);
        };
        if self.tree.blob_size(&entry.id)? > MAX_MANIFEST {
            return Ok(None);
        }
        let text = self.tree.blob(&entry.id)?;
        let text = text.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(&text);
        let manifest: Value = serde_json::from_slice(text).unwrap_or_default();
        Ok(manifest.get("name").and_then(Value::as_str).map(str::to_owned))
    }

    fn has_paths(&self, folder: &[u8]) -> Result<bool, Unreadable> {
        let id = match lookup(self.tree, folder)? {
            _ if folder.is_empty() => self.tree.root(),
            Some(entry) if entry.kind == Kind::Tree => entry.id,
            _ => return Ok(false),
        };
        for entry in self.tree.entries(&id)? {
            let is_config = entry.name.ends_with(b".json")
                && (entry.name.starts_with(b"tsconfig.") || entry.name.starts_with(b"jsconfig."));
            if !is_config {
                continue;
            }
            let is_small =
                matches!(entry.kind, Kind::File | Kind::Executable) && self.tree.blob_size(&entry.id)? <= MAX_MANIFEST;
            let says = |text: &[u8]| {
                ["paths", "baseUrl", "extends", "\\u"]
                    .iter()
                    .any(|word| text.windows(word.len()).any(|here| here == word.as_bytes()))
            };
            if !is_small || says(&self.tree.blob(&entry.id)?) {
                return Ok(true);
            }
        }
        Ok(false)
    }
}

/// What else the imports of a file may load, by their text as written: the targets of `#x` in a
/// package.json, and those of a tsconfig's `paths` that are somebody else's package.
pub(super) fn leads(
    found: &[Import],
    around: &[Names],
    own: &mut Resolvers,
    path: &[u8],
) -> Result<HashMap<String, Vec<Import>>, Unreadable> {
    let mut leads: HashMap<String, Vec<Import>> = HashMap::new();
    let has_paths = around.iter().any(|names| names.has_paths);
    for import in found {
        let raw = import.raw.as_str();
        if import.kind == ImportKind::Opaque || raw.starts_with(['.', '/']) || leads.contains_key(raw) {
            continue;
        }
        let mut targets = Vec::new();
        if raw.starts_with('#') {
            targets.extend(around.iter().flat_map(|names| npm_targets(&names.imports, raw)));
        }
        for (key, target) in around.iter().flat_map(|names| &names.shorthands) {
            match raw.strip_prefix(key.as_str()) {
                Some("") => targets.push(format!("npm:{target}")),
                Some(rest) if key.ends_with('/') => targets.push(format!("npm:{target}/{rest}")),
                _ => {}
            }
        }
        if has_paths {
            targets.extend(own.candidate.configured(raw, path)?);
        }
        let all: Vec<Import> = targets
            .into_iter()
            .map(|target| Import {
                identity: imports::javascript_identity(&target),
                raw: target,
                ..import.clone()
            })
            // A stub of types is there for the package itself.
            .filter(|lead| {
                let is_types = lead.first_segment() == Some("@types");
                let named = &lead.identity[usize::from(is_types)..];
                !named.is_empty() && !import.identity.starts_with(named)
            })
            .collect();
        if !all.is_empty() {
            leads.insert(raw.to_owned(), all);
        }
    }
    Ok(leads)
}

/// The entries of an import map.
fn map(text: &str) -> Vec<(String, String)> {
    let map: Value = serde_json::from_str(&plain_json(text)).unwrap_or_default();
    let scopes = map.get("scopes").and_then(Value::as_object);
    let tables = (map.get("imports").into_iter()).chain(scopes.into_iter().flat_map(|scopes| scopes.values()));
    let entries = tables.filter_map(Value::as_object).flatten();
    entries
        .filter_map(|(key, target)| Some((key.clone(), target.as_str()?.to_owned())))
        .collect()
}

/// The names that Rails' import map takes from another server.
fn pins(text: &str) -> Vec<(String, String)> {
    let pin = |line: &str| {
        let mut quoted = line.trim().strip_prefix("pin")?.split(['"', '\'']).skip(1).step_by(2);
        let key = quoted.next()?.to_owned();
        Some((key, quoted.find(|text| text.starts_with("http"))?.to_owned()))
    };
    text.lines().filter_map(pin).collect()
}

/// The import as package managers may resolve it, where its package is an alias.
pub(super) fn resolved(import: &Import, around: &[Names]) -> Vec<Import> {
    let scoped = usize::from(import.first_segment().is_some_and(|first| first.starts_with('@')));
    let Some(name) = import.identity.get(..=scoped) else {
        return Vec::new();
    };
    let name = name.join("/");
    let whole = import.identity.join("/");
    let mapped = around
        .iter()
        .flat_map(|names| &names.beginnings)
        .filter_map(|(head, target)| {
            let rest = whole.strip_prefix(head.as_str())?;
            Some(Import {
                identity: target.split('/').chain(rest.split('/')).map(str::to_owned).collect(),
                ..import.clone()
            })
        });
    let targets = around.iter().filter_map(|names| names.renamed.get(&name)).flatten();
    targets
        .map(|target| {
            let rest = import.identity[scoped + 1..].iter().cloned();
            Import {
                identity: target.split('/').map(str::to_string).chain(rest).collect(),
                ..import.clone()
            }
        })
        .chain(mapped)
        .collect()
}

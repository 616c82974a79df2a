//! Go: a package is the folder that its path names below a module.
//!
//! The module of the nearest go.mod above the file, what its `replace` lines map to local folders, and
//! the modules that a go.work above the file uses. The longest module path that fits decides.

use std::collections::HashMap;
use std::rc::Rc;

use super::Target;
use super::files::{Files, follow, parent, upward};
use crate::gate::tree::{Unreadable, join};

/// Module paths and their folders.
type Mapping = Rc<Vec<(String, Vec<u8>)>>;

/// What each go.mod and go.work says, read once.
#[derive(Default)]
pub(super) struct Modules {
    folders: HashMap<Vec<u8>, Mapping>,
}

/// Where an import path of the file at `from` leads.
pub(super) fn resolve(files: &Files, modules: &mut Modules, raw: &str, from: &[u8]) -> Result<Target, Unreadable> {
    if raw.starts_with("./") || raw.starts_with("../") {
        return Ok(match follow(parent(from), raw.as_bytes()) {
            None => Target::unresolved("it leads out of the repository"),
            Some(path) => match files.folder(&path) {
                Some(folder) => Target::one(folder),
                None => Target::unresolved("no such folder"),
            },
        });
    }
    let mut best: Option<(usize, Vec<u8>)> = None;
    let mut has_module = false;
    for folder in upward(from) {
        let (go_mod, go_work) = (join(folder, b"go.mod"), join(folder, b"go.work"));
        let mut found = Vec::new();
        if !has_module && files.file(&go_mod).is_some() {
            has_module = true;
            found.push(modules.read(files, &go_mod)?);
        }
        if files.file(&go_work).is_some() {
            found.push(modules.read(files, &go_work)?);
        }
        for (path, folder) in found.iter().flat_map(|mapping| mapping.iter()) {
            let rest = match raw.strip_prefix(path.as_str()) {
                Some("") => "",
                Some(rest) if rest.starts_with('/') => &rest[1..],
                _ => continue,
            };
            if best.as_ref().is_none_or(|(length, _)| *length < path.len())
                && let Some(package) = follow(folder, rest.as_bytes())
            {
                best = Some((path.len(), package));
            }
        }
    }
    Ok(match best {
        None => Target::External,
        Some((_, path)) => match files.folder(&path) {
            Some(folder) => Target::one(folder),
            None => Target::unresolved("no such folder below the module"),
        },
    })
}

/// The path of the module that a file belongs to.
pub(super) fn module_of(files: &Files, from: &[u8]) -> Result<Option<String>, Unreadable> {
    for folder in upward(from) {
        if let Some(text) = files.text(&join(folder, b"go.mod"))? {
            return Ok(module(&text));
        }
    }
    Ok(None)
}

/// The modules that a go.mod or go.work puts others in the place of, with these; folders left out.
pub(in crate::gate) fn replaced(text: &str) -> Vec<(String, String)> {
    let mut all = replacements(text);
    all.retain(|(_, new)| !new.starts_with(['.', '/']));
    all
}

/// The same with folders.
pub(in crate::gate) fn replacements(text: &str) -> Vec<(String, String)> {
    let replaced = |words: Vec<String>| {
        let arrow = words.iter().position(|word| word == "=>")?;
        Some((words.first()?.clone(), words.get(arrow + 1)?.clone()))
    };
    directives(text, "replace").into_iter().filter_map(replaced).collect()
}

impl Modules {
    fn read(&mut self, files: &Files, path: &[u8]) -> Result<Mapping, Unreadable> {
        if let Some(known) = self.folders.get(path) {
            return Ok(known.clone());
        }
        let folder = parent(path);
        let text = files.text(path)?.unwrap_or_default();
        let mut mapping = Vec::new();
        if path.ends_with(b"go.mod") {
            mapping.extend(module(&text).map(|name| (name, folder.to_vec())));
        }
        for words in directives(&text, "use") {
            if let Some(folder) = words.first().and_then(|used| follow(folder, used.as_bytes())) {
                let text = files.text(&join(&folder, b"go.mod"))?.unwrap_or_default();
                mapping.extend(module(&text).map(|name| (name, folder)));
            }
        }
        for words in directives(&text, "replace") {
            let arrow = words.iter().position(|word| word == "=>");
            let Some((old, new)) = arrow.and_then(|arrow| words.first().zip(words.get(arrow + 1))) else {
                continue;
            };
            if (new.starts_with("./") || new.starts_with("../"))
                && let Some(folder) = follow(folder, new.as_bytes())
            {
                mapping.push((old.clone(), folder));
            }
        }
        let mapping = Rc::new(mapping);
        self.folders.insert(path.to_vec(), mapping.clone());
        Ok(mapping)
    }
}

/// The path that a go.mod gives its module.
pub(in crate::gate) fn module(text: &str) -> Option<String> {
    directives(text, "module").into_iter().next()?.into_iter().next()
}

/// The words after a directive, one line each, also of its block in parentheses.
fn directives(text: &str, wanted: &str) -> Vec<Vec<String>> {
    let mut found = Vec::new();
    let mut block: Option<bool> = None;
    for line in text.lines() {
        let line = line.split("//").next().unwrap_or(line);
        let mut words: Vec<String> = line
            .split_whitespace()
            .map(|word| word.trim_matches(['"', '`']).to_owned())
            .collect();
        match (block, words.as_slice()) {
            (_, []) => {}
            (Some(_), [close, ..]) if close == ")" => block = None,
            (Some(true), _) => found.push(words),
            (Some(false), _) => {}
            (None, [name, open]) if open == "(" => block = Some(name == wanted),
            (None, [name, ..]) if name == wanted => {
                words.remove(0);
                found.push(words);
            }
            (None, _) => {}
        }
    }
    found
}

//! Ruby: `require_relative` by path, `require` below the folders that gems and test runners put on
//! the load path.
//!
//! The roots are `lib/` at the top and beside every gemspec, and the top's `spec/`, `test/` and own
//! folder. A name whose first segment a `lib/` has, and that leads nowhere, is unresolved.

use super::Target;
use super::files::{Files, follow, parent};
use crate::gate::imports::Import;
use crate::gate::tree::join;

/// Gems whose `lib/` counts.
const MAX_GEMS: usize = 2000;

/// The folders from which names are looked up, found once.
pub(super) fn roots<'k>(files: &Files, known: &'k mut Option<Vec<Vec<u8>>>) -> &'k [Vec<u8>] {
    known.get_or_insert_with(|| {
        let mut gems: Vec<Vec<u8>> = files
            .ending(&[b".gemspec"])
            .take(MAX_GEMS)
            .map(|path| join(parent(path), b"lib"))
            .collect();
        gems.sort_unstable();
        let mut roots = vec![b"lib".to_vec()];
        roots.extend(gems);
        roots.extend([b"spec".to_vec(), b"test".to_vec(), Vec::new()]);
        roots.dedup();
        roots.retain(|root| files.folder(root).is_some());
        roots
    })
}

/// Where a required name leads.
pub(super) fn resolve(files: &Files, roots: &[Vec<u8>], import: &Import, from: &[u8]) -> Target {
    let raw = import.raw.as_str();
    let found = |folder: &[u8]| {
        let path = follow(folder, raw.as_bytes())?;
        files
            .file(&[path.as_slice(), b".rb"].concat())
            .or_else(|| files.file(&path))
    };
    if import.identity.is_empty() || raw.starts_with('.') {
        // `require_relative` looks beside the file, `require "./x"` in the working folder.
        return match found(parent(from)).or_else(|| found(b"")) {
            Some(found) => Target::one(found),
            None => Target::unresolved("no such file"),
        };
    }
    if raw.starts_with('/') {
        return Target::unresolved("an absolute path");
    }
    let mut all: Vec<Vec<u8>> = roots.iter().filter_map(|root| found(root)).collect();
    all.dedup();
    if !all.is_empty() {
        return Target::Local(all);
    }
    let first = import.identity.first().map_or("", String::as_str);
    let is_own = |root: &&Vec<u8>| root.ends_with(b"lib") && files.folder(&join(root, first.as_bytes())).is_some();
    match roots.iter().find(is_own) {
        Some(_) => Target::unresolved("no such file below a lib folder that has its first part"),
        None => Target::External,
    }
}

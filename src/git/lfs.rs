//! git-lfs content that a job made: from its private git dirs into the clone's store.
//!
//! Staging and the agent run git with private git dirs, so git-lfs writes objects there, and they
//! would go with them. Invariant: nothing enters the clone's store by its name. An object is opened
//! without following a link, hashed, and only then copied, and only if the candidate names it.

mod pointer;
mod take;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};

use crate::gate::{self, Kind, Tree};

use super::repo::Checkout;
use super::settings::ContentSettings;
use super::tree::GitTree;
use take::Taken;

pub use pointer::Pointer;

/// What became of the content that the candidate's new pointers name.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Brought {
    /// How many objects were copied into the clone's store.
    pub new: usize,
    /// Paths whose content is nowhere on this machine.
    pub missing: Vec<Vec<u8>>,
    /// Paths for which there is a file of the right name and another content, or one that could not be
    /// read to its end.
    pub wrong: Vec<Vec<u8>>,
}

/// Where git-lfs keeps a clone's objects: `lfs.storage`, which counts from the common git dir, or `lfs`.
pub fn store(settings: &ContentSettings, common: &Path) -> PathBuf {
    common.join(settings.lfs_storage.as_deref().unwrap_or("lfs"))
}

/// The same, asked of git.
pub fn store_of(checkout: &Checkout) -> Result<PathBuf> {
    let here = checkout.workdir.as_deref().unwrap_or(&checkout.common);
    let said = checkout
        .git
        .at(here)
        .args(["config", "--get", "lfs.storage"])
        .outcome()?;
    let value = String::from_utf8_lossy(&said.stdout).trim_end_matches('\n').to_owned();
    let named = Some(value).filter(|value| said.success() && !value.is_empty());
    Ok(checkout.common.join(named.as_deref().unwrap_or("lfs")))
}

/// Copies the objects that the candidate's changes name from the git dirs in `from` into the clone's
/// store. The first git dir that has an object gives it.
///
/// # Errors
/// The store cannot be written, or an object of the repository cannot be read.
pub fn bring(base: &GitTree<'_>, candidate: &GitTree<'_>, from: &[PathBuf], store: &Path) -> Result<Brought> {
    let mut brought = Brought::default();
    for (pointer, path) in named(base, candidate)? {
        let object = pointer.place();
        if is_there(&store.join(&object), pointer.size) {
            continue;
        }
        let mut found_wrong = false;
        let mut taken = false;
        for git_dir in from {
            match take::take(git_dir, &Path::new("lfs").join(&object), &pointer, store)
                .with_context(|| format!("cannot bring LFS object {} into {}", pointer.oid, store.display()))?
            {
                Taken::Copied => taken = true,
                Taken::Wrong => found_wrong = true,
                Taken::NotThere => {}
            }
            if taken {
                break;
            }
        }
        match (taken, found_wrong) {
            (true, _) => brought.new += 1,
            (false, true) => brought.wrong.push(path),
            (false, false) => brought.missing.push(path),
        }
    }
    Ok(brought)
}

/// What git-lfs takes for there: a file of this name and size.
fn is_there(object: &Path, size: u64) -> bool {
    std::fs::metadata(object).is_ok_and(|meta| meta.is_file() && meta.len() == size)
}

/// The pointers among the changed files, each with the first path that holds it. One that the base has
/// at the same path has not changed, whatever else did.
fn named(base: &GitTree<'_>, candidate: &GitTree<'_>) -> Result<BTreeMap<Pointer, Vec<u8>>> {
    let mut found = BTreeMap::new();
    for change in gate::tree::diff(base, candidate)? {
        let Some(after) = change
            .after
            .filter(|side| matches!(side.kind, Kind::File | Kind::Executable))
        else {
            continue;
        };
        let is_same = change.before.is_some_and(|before| before.id == after.id);
        if is_same || candidate.blob_size(&after.id)? > pointer::MAX_BYTES {
            continue;
        }
        if let Some(pointer) = Pointer::parse(&candidate.blob(&after.id)?)
            && pointer.size > 0
        {
            found.entry(pointer).or_insert(change.path);
        }
    }
    Ok(found)
}

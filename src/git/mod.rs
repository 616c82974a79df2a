//! git, through two doors: the hardened git program (worktrees, staging, status, trailers) and
//! libgit2 (objects, refs, history; it runs no program and reaches the verdict).
//!
//! Invariant: no hook, pager, editor, prompt, fsmonitor or maintenance of a repository runs in a
//! git that agentgate starts.

pub mod agent_refs;
pub mod applied;
pub mod disarm;
pub mod evidence;
pub mod fingerprint;
pub mod history;
pub mod ignored;
mod import;
pub mod installed;
pub mod large;
pub mod lfs;
mod loose;
mod objects;
mod packs;
pub mod places;
mod plain;
pub mod program;
pub mod range;
pub mod refs;
pub mod repo;
pub mod settings;
pub mod shadow;
pub mod snapshot;
pub mod tree;
pub mod uncommitted;
pub mod worktree;

use std::path::Path;

use crate::gate::Oid;

/// libgit2's id for ours.
pub fn to_git2(id: &Oid) -> Result<git2::Oid, git2::Error> {
    git2::Oid::from_bytes(id.as_bytes())
}

/// Our id for libgit2's.
pub fn from_git2(id: git2::Oid) -> Oid {
    // 20 bytes always fit into the 32 that an id has.
    Oid::from_bytes(id.as_bytes()).unwrap_or_else(|| unreachable!("a SHA-1 id has 20 bytes"))
}

/// A path as one line of text that can be pasted into a shell.
pub fn shell(path: &Path) -> String {
    shell_words::quote(&path.to_string_lossy()).into_owned()
}

/// Whether an error says that an object is missing, damaged or not what its id says.
pub fn is_unreadable(error: &anyhow::Error) -> bool {
    let causes = error.chain().filter_map(|cause| cause.downcast_ref::<git2::Error>());
    causes.into_iter().any(|cause| {
        matches!(
            cause.code(),
            git2::ErrorCode::NotFound | git2::ErrorCode::HashsumMismatch
        ) || cause.class() == git2::ErrorClass::Zlib
    })
}

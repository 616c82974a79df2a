//! Locks of the kernel, flock(2): they end with their holder, however it ends.

use std::fmt;
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::process::ProcessId;

/// Who holds the clone lock; for messages only, never the proof.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Holder {
    /// The job's id.
    pub job: String,
    /// The process that took it.
    pub process: ProcessId,
    /// Its command line, for people.
    pub command: String,
}

/// How long to wait for a lock that is held.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wait {
    /// Not at all.
    No,
    /// Until it is free or a signal arrives.
    Forever,
    /// At most so long.
    For(Duration),
}

/// Why there is no lock.
#[derive(Debug)]
pub enum LockError {
    /// Someone else holds it; who, if they said so and still run.
    Held {
        /// The lock file.
        path: PathBuf,
        /// The holder.
        holder: Option<Holder>,
    },
    /// Locks do not work there (no permission, read-only, a file system without locks).
    Unavailable {
        /// The lock file.
        path: PathBuf,
        /// What failed.
        error: io::Error,
    },
    /// This signal arrived while waiting.
    Interrupted(i32),
}

impl fmt::Display for LockError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        todo!()
    }
}

impl std::error::Error for LockError {}

/// The lock of a clone: one at a time works in it.
pub struct CloneLock;

impl CloneLock {
    /// The lock file's name in the common git directory; also what scripts give to flock(1).
    pub const FILE: &str = "agent-jobs.lock";

    /// Takes `<common_git_dir>/agent-jobs.lock`.
    pub fn acquire(common_git_dir: &Path, holder: &Holder, wait: Wait) -> Result<LockGuard, LockError> {
        todo!()
    }

    /// Who holds the lock now, if they said so and still run. Takes nothing.
    pub fn holder(common_git_dir: &Path) -> Option<Holder> {
        todo!()
    }
}

/// The clone lock, held until this is dropped.
#[derive(Debug)]
pub struct LockGuard {}

/// An exclusive lock on a file of its own, held until this is dropped.
#[derive(Debug)]
pub struct FileLock {}

impl FileLock {
    /// Takes it at once or says why not. The file is created if missing, and stays.
    pub fn try_exclusive(path: &Path) -> Result<FileLock, LockError> {
        todo!()
    }

    /// Whether someone holds it exclusively. A missing file is held by nobody.
    pub fn is_held(path: &Path) -> io::Result<bool> {
        todo!()
    }
}

//! Locks of the kernel, flock(2): they end with their holder, however it ends.

use std::fmt;
use std::fs::{File, OpenOptions};
use std::io;
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use fs4::{FileExt, TryLockError};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fs::OFlags;
use serde::{Deserialize, Serialize};

use crate::files;
use crate::process::{ProcessId, signals};

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
    /// Not at all (but for the moment that a probe may hold it).
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
        match self {
            LockError::Held {
                path,
                holder: Some(Holder { job, process, command }),
            } => {
                write!(
                    f,
                    "{} is held by job {job} (pid {}: {command})",
                    path.display(),
                    process.pid
                )
            }
            LockError::Held { path, holder: None } => write!(f, "{} is held by another process", path.display()),
            LockError::Unavailable { path, error } => {
                write!(f, "locking not available at {}: {error}", path.display())
            }
            LockError::Interrupted(signal) => write!(f, "signal {signal} while waiting for the lock"),
        }
    }
}

impl std::error::Error for LockError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            LockError::Unavailable { error, .. } => Some(error),
            _ => None,
        }
    }
}

/// The lock of a clone: one at a time works in it.
pub struct CloneLock;

impl CloneLock {
    /// The lock file's name in the common git directory; also what scripts give to flock(1).
    pub const FILE: &str = "agent-jobs.lock";
    /// Who holds it, beside it.
    const HOLDER: &str = "agent-jobs.holder";

    /// Who holds it, in words.
    pub fn who(holder: Option<&Holder>, path: &Path) -> String {
        match holder {
            Some(holder) => format!("job {} (pid {}) holds the clone", holder.job, holder.process.pid),
            None => format!("another process holds {}", path.display()),
        }
    }

    /// The same for a clone whose lock is held now; whoever it is need not be a job.
    pub fn in_use(common_git_dir: &Path) -> Option<String> {
        let path = common_git_dir.join(CloneLock::FILE);
        let is_held = FileLock::is_held(&path).unwrap_or(false);
        is_held.then(|| CloneLock::who(CloneLock::holder(common_git_dir).as_ref(), &path))
    }

    /// Takes `<common_git_dir>/agent-jobs.lock`.
    ///
    /// That the kernel's lock is held is the only thing that counts; what the holder wrote about
    /// itself is for messages, and not being able to write it is no error.
    pub fn acquire(common_git_dir: &Path, holder: &Holder, wait: Wait) -> Result<LockGuard, LockError> {
        let path = common_git_dir.join(CloneLock::FILE);
        let started = Instant::now();
        let mut pause = Duration::from_millis(5);
        let file = loop {
            if let Some(file) = take(&path)? {
                break file;
            }
            let left = match wait {
                Wait::No => PROBE_TIME.saturating_sub(started.elapsed()),
                Wait::Forever => Duration::MAX,
                Wait::For(most) => most.saturating_sub(started.elapsed()),
            };
            if left.is_zero() {
                return Err(LockError::Held {
                    holder: CloneLock::holder(common_git_dir),
                    path,
                });
            }
            // flock(2) has no time limit and would not wake for a signal that is only counted.
            rest(pause.min(left));
            if let Some(signal) = signals::pending() {
                return Err(LockError::Interrupted(signal));
            }
            pause = (pause * 2).min(LONGEST_PAUSE);
        };
        // Nothing else of that name is made in this folder, and only under the lock.
        let _ = files::clear_temporary(common_git_dir, files::TEMPORARY);
        let note = common_git_dir.join(CloneLock::HOLDER);
        if let Ok(text) = serde_json::to_vec(holder) {
            let _ = files::replace(&note, &text, 0o644);
        }
        Ok(LockGuard {
            note,
            holder: holder.clone(),
            _file: file,
        })
    }

    /// Who holds the lock now, if they said so and still run. Takes nothing.
    pub fn holder(common_git_dir: &Path) -> Option<Holder> {
        read_holder(&common_git_dir.join(CloneLock::HOLDER)).filter(|holder| holder.process.alive())
    }
}

fn read_holder(note: &Path) -> Option<Holder> {
    serde_json::from_slice(&files::read_small(note, 64 << 10).ok()?).ok()
}

/// The clone lock, held until this is dropped.
#[derive(Debug)]
pub struct LockGuard {
    note: PathBuf,
    holder: Holder,
    _file: File,
}

impl Drop for LockGuard {
    fn drop(&mut self) {
        // Still under the lock, so nobody writes theirs at the same time.
        if read_holder(&self.note).is_some_and(|holder| holder == self.holder) {
            let _ = std::fs::remove_file(&self.note);
        }
    }
}

/// An exclusive lock on a file of its own, held until this is dropped.
#[derive(Debug)]
pub struct FileLock {
    _file: File,
}

impl FileLock {
    /// Takes it at once or says why not. The file is created if missing, and stays.
    pub fn try_exclusive(path: &Path) -> Result<FileLock, LockError> {
        let started = Instant::now();
        loop {
            if let Some(file) = take(path)? {
                return Ok(FileLock { _file: file });
            }
            if started.elapsed() >= PROBE_TIME {
                return Err(LockError::Held {
                    path: path.to_owned(),
                    holder: None,
                });
            }
            std::thread::sleep(Duration::from_millis(5));
        }
    }

    /// Whether someone holds it exclusively. A missing file is held by nobody.
    pub fn is_held(path: &Path) -> io::Result<bool> {
        let file = match OpenOptions::new().read(true).custom_flags(FLAGS).open(path) {
            Ok(file) => files::regular(file)?,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(false),
            Err(error) => return Err(error),
        };
        match FileExt::try_lock_shared(&file) {
            Ok(()) => Ok(false),
            Err(TryLockError::WouldBlock) => Ok(true),
            Err(TryLockError::Error(error)) => Err(error),
        }
    }
}

/// Between two attempts while waiting for a lock, at most.
const LONGEST_PAUSE: Duration = Duration::from_millis(200);
/// [`FileLock::is_held`] holds a lock for a moment; that must not turn an owner away.
const PROBE_TIME: Duration = Duration::from_millis(50);
/// Never through a link, and a FIFO is opened without waiting for its other end. Rust adds
/// O_CLOEXEC by itself: no child may keep the lock after us.
const FLAGS: i32 = (OFlags::NOFOLLOW.bits() | OFlags::NONBLOCK.bits()).cast_signed();

/// Opens and locks the file; `None` if someone holds it.
fn take(path: &Path) -> Result<Option<File>, LockError> {
    let unavailable = |error| LockError::Unavailable {
        path: path.to_owned(),
        error,
    };
    loop {
        let file = open(path).map_err(unavailable)?;
        match FileExt::try_lock(&file) {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => return Ok(None),
            Err(TryLockError::Error(error)) => return Err(unavailable(error)),
        }
        // We never unlink it, but someone else may have done so between our open and our lock;
        // then the next one would lock another file of the same name.
        let held = file.metadata().map_err(unavailable)?;
        match std::fs::symlink_metadata(path) {
            Ok(named) if (named.dev(), named.ino()) == (held.dev(), held.ino()) => return Ok(Some(file)),
            Ok(_) => {}
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            Err(error) => return Err(unavailable(error)),
        }
    }
}

/// Writable, since network file systems lock nothing else; a file of another user of a shared
/// clone, which flock(2) can lock when it can be read, is opened for reading.
fn open(path: &Path) -> io::Result<File> {
    let writable = OpenOptions::new()
        .read(true)
        .write(true)
        .create(true)
        .truncate(false)
        .custom_flags(FLAGS)
        .open(path);
    let file = match writable {
        Err(error) if error.kind() == io::ErrorKind::PermissionDenied => OpenOptions::new()
            .read(true)
            .custom_flags(FLAGS)
            .open(path)
            .map_err(|_| error),
        result => result,
    };
    files::regular(file?)
}

/// Sleeps, but no longer than until a signal arrives.
fn rest(time: Duration) {
    let signals = signals::descriptors();
    let mut fds: Vec<_> = signals
        .iter()
        .map(|fd| PollFd::from_borrowed_fd(*fd, PollFlags::IN))
        .collect();
    let _ = poll(&mut fds, Timespec::try_from(time).ok().as_ref());
}

#[cfg(test)]
#[path = "lock_tests.rs"]
mod tests;

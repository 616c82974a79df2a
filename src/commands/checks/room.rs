//! Where `check --checks` works: a folder below that of the clone's jobs, held by a lock of the kernel's.
//!
//! Invariant: only a folder whose lock was held by its maker and is free now is removed by others: then its
//! maker is dead, whatever its name or age.

use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};

use crate::commands::run::default_job_id;
use crate::files;
use crate::lock::{FileLock, LockError};
use crate::process;
use crate::trailer;

/// Ending of a lock's name; the folder's name is what stands before it.
const LOCK: &str = ".lock";

/// A folder of this process's own, removed with this value.
#[derive(Debug)]
pub struct Room {
    /// The folder.
    pub folder: PathBuf,
    /// Its name.
    pub name: String,
    root: PathBuf,
    _lock: FileLock,
}

impl Room {
    /// Makes one: the lock first, so that nobody takes the folder for a dead one's.
    pub fn make(root: &Path) -> Result<Room> {
        let rooms = rooms(root);
        let name = default_job_id();
        let folder = rooms.join(&name);
        let mut attempts = 0;
        let lock = loop {
            std::fs::create_dir_all(root).with_context(|| format!("cannot make {}", root.display()))?;
            files::make_private_dir(&rooms).with_context(|| format!("cannot make {}", rooms.display()))?;
            attempts += 1;
            match FileLock::try_exclusive(&rooms.join(format!("{name}{LOCK}"))) {
                Ok(lock) => break lock,
                // The last one to leave has just removed the empty folder.
                Err(LockError::Unavailable { error, .. }) if error.kind() == ErrorKind::NotFound && attempts < 10 => {}
                Err(error) => return Err(error.into()),
            }
        };
        files::make_private_dir(&folder).with_context(|| format!("cannot make {}", folder.display()))?;
        Ok(Room {
            folder,
            name,
            root: root.to_owned(),
            _lock: lock,
        })
    }

    /// The mark of its processes; see [`process::end_marked`].
    pub fn mark(&self) -> PathBuf {
        mark(&self.folder)
    }
}

impl Drop for Room {
    fn drop(&mut self) {
        // What could not be deleted stays for the next one, with its lock file.
        let _ = clear(&self.root, &self.name);
    }
}

/// Removes what processes that are dead now left below this root; what cannot be removed is told.
pub fn sweep(root: &Path) -> Vec<String> {
    let mut notices = Vec::new();
    let entries = std::fs::read_dir(rooms(root)).into_iter().flatten().flatten();
    for entry in entries {
        let name = entry.file_name();
        let Some(name) = name.to_str().and_then(|name| name.strip_suffix(LOCK)) else {
            continue;
        };
        if !trailer::valid_job_id(name) {
            continue;
        }
        let Ok(_lock) = FileLock::try_exclusive(&entry.path()) else {
            continue;
        };
        let folder = rooms(root).join(name);
        let removed = process::end_marked(&mark(&folder)).and_then(|_| clear(root, name));
        if let Err(error) = removed {
            notices.push(format!(
                "an interrupted check left {}, which cannot be removed: {error:#}",
                folder.display()
            ));
        }
    }
    notices
}

/// Removes a folder, then its lock file; who calls holds the lock.
fn clear(root: &Path, name: &str) -> Result<()> {
    let rooms = rooms(root);
    let folder = rooms.join(name);
    files::remove_tree(&folder)?;
    std::fs::remove_file(rooms.join(format!("{name}{LOCK}")))?;
    // Empty now, unless others use them.
    for folder in [rooms.as_path(), root] {
        let _ = std::fs::remove_dir(folder);
    }
    Ok(())
}

fn rooms(root: &Path) -> PathBuf {
    root.join(".checks")
}

fn mark(folder: &Path) -> PathBuf {
    folder.join("task")
}

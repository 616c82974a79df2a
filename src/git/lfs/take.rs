//! One object, from a git dir that was not ours alone into the clone's store.

use std::fs::{File, Permissions};
use std::io::{self, Read, Seek};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::time::{Duration, Instant};

use sha2::{Digest, Sha256};

use super::Pointer;
use crate::files;

/// How long one object may be read. An agent can name a file without an end, or nearly so.
const PATIENCE: Duration = Duration::from_secs(10 * 60);

/// What became of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Taken {
    /// It is in the store.
    Copied,
    /// There is no such file.
    NotThere,
    /// There is something that is not it.
    Wrong,
}

/// Copies `<git_dir>/<object>` into the store if it is what the pointer says. Only a failure to write
/// to the store is an error.
pub fn take(git_dir: &Path, object: &Path, pointer: &Pointer, store: &Path) -> io::Result<Taken> {
    let mut file = match files::open_below(git_dir, object) {
        Ok(file) => file,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Taken::NotThere),
        Err(_) => return Ok(Taken::Wrong),
    };
    if !is_it(&mut file, pointer) || file.rewind().is_err() {
        return Ok(Taken::Wrong);
    }
    let target = store.join(pointer.place());
    let folder = target.parent().unwrap_or(store);
    std::fs::create_dir_all(folder)?;
    // Read by others of a shared clone where the umask lets them, as git-lfs makes it.
    let mut copy = tempfile::Builder::new()
        .prefix(".agentgate-")
        .permissions(Permissions::from_mode(0o666))
        .tempfile_in(folder)?;
    let copied = io::copy(&mut file, copy.as_file_mut())?;
    if copied != pointer.size {
        return Ok(Taken::Wrong);
    }
    copy.as_file().sync_all()?;
    copy.persist(&target).map_err(|error| error.error)?;
    files::sync_dir(folder)?;
    Ok(Taken::Copied)
}

/// Whether a file has this size and this hash. One that cannot be read to its end has not.
fn is_it(file: &mut File, pointer: &Pointer) -> bool {
    if !file.metadata().is_ok_and(|meta| meta.len() == pointer.size) {
        return false;
    }
    let started = Instant::now();
    let mut hash = Sha256::new();
    let mut buffer = vec![0; 1 << 20];
    let mut left = pointer.size;
    while started.elapsed() < PATIENCE {
        match file.read(&mut buffer) {
            Ok(0) => break,
            Ok(read) => {
                hash.update(&buffer[..read]);
                left = match left.checked_sub(read as u64) {
                    Some(left) => left,
                    None => return false,
                };
            }
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(_) => return false,
        }
    }
    let hex: String = hash.finalize().iter().map(|byte| format!("{byte:02x}")).collect();
    left == 0 && hex == pointer.oid
}

#[cfg(test)]
#[path = "take_tests.rs"]
mod tests;

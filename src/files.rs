//! Files and folders written so that a crash leaves the old or the new state, never half of one.
//! There is no truncating write anywhere.

use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};

/// Writes a file by replacing it: a temporary file in the same folder, synced, renamed, and the
/// folder synced. `mode` is exact, whatever the umask.
pub fn replace(path: &Path, bytes: &[u8], mode: u32) -> io::Result<()> {
    todo!()
}

/// Writes and syncs a new file; `AlreadyExists` if anything is there, a dangling link included.
pub fn create_new(path: &Path, bytes: &[u8], mode: u32) -> io::Result<()> {
    todo!()
}

/// Opens a regular file for appending, creating it with `mode`; never through a link.
pub fn open_append(path: &Path, mode: u32) -> io::Result<File> {
    todo!()
}

/// Appends by one write(2) and syncs the data. A short write is an error: the tail is torn.
pub fn append_synced(file: &File, line: &[u8]) -> io::Result<()> {
    todo!()
}

/// Makes the entries of a folder durable.
pub fn sync_dir(path: &Path) -> io::Result<()> {
    todo!()
}

/// Makes a folder (and missing parents) with mode 0700; one that exists is set to 0700.
pub fn make_private_dir(path: &Path) -> io::Result<()> {
    todo!()
}

/// Deletes a file, link or whole tree, following nothing. A missing one is fine.
pub fn remove_tree(path: &Path) -> io::Result<()> {
    todo!()
}

/// Moves a tree into `trash` (made if missing, on the same file system) under a new name, which
/// is returned.
pub fn rename_to_trash(path: &Path, trash: &Path) -> io::Result<PathBuf> {
    todo!()
}

/// Reads a regular file of at most `limit` bytes; a link, FIFO or device is refused without being
/// opened for waiting.
pub fn read_small(path: &Path, limit: u64) -> io::Result<Vec<u8>> {
    todo!()
}

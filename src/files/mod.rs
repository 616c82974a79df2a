//! Files and folders written so that a crash leaves the old or the new state, never half of one.
//! There is no truncating write anywhere.

mod remove;

use std::ffi::OsStr;
use std::fs::{self, DirBuilder, File, OpenOptions, Permissions};
use std::io::{self, Read, Write};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt, PermissionsExt};
use std::path::{Component, Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

use rustix::fs::{CWD, Mode, OFlags, RenameFlags, openat, renameat_with};

pub use remove::remove_tree;

/// Writes a file by replacing it: a temporary file in the same folder, synced, renamed, and the
/// folder synced. `mode` is exact, whatever the umask. A link at the path is replaced itself.
pub fn replace(path: &Path, bytes: &[u8], mode: u32) -> io::Result<()> {
    replace_as(path, bytes, mode, TEMPORARY)
}

/// The same in a folder that others write to as well: the temporary file's name begins so, for [`clear_temporary`].
pub fn replace_as(path: &Path, bytes: &[u8], mode: u32, prefix: &str) -> io::Result<()> {
    let folder = parent(path);
    complete(folder, bytes, mode, prefix)?
        .persist(path)
        .map_err(|error| error.error)?;
    sync_dir(folder)
}

/// Removes what was never given its lasting name in a folder, because its writer was killed. Only where nobody else
/// may be writing under this prefix.
pub fn clear_temporary(folder: &Path, prefix: &str) -> io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        if entry.file_type()?.is_file() && entry.file_name().as_bytes().starts_with(prefix.as_bytes()) {
            fs::remove_file(entry.path())?;
        }
    }
    Ok(())
}

/// Like [`replace`], but `AlreadyExists` if anything is there, a dangling link included.
pub fn create_new(path: &Path, bytes: &[u8], mode: u32) -> io::Result<()> {
    let folder = parent(path);
    complete(folder, bytes, mode, TEMPORARY)?
        .persist_noclobber(path)
        .map_err(|error| error.error)?;
    sync_dir(folder)
}

/// What the name of a file begins with that has no lasting one yet: whoever was killed before that leaves it.
pub const TEMPORARY: &str = ".agentgate-";

/// A whole file on disk that has no lasting name yet.
fn complete(folder: &Path, bytes: &[u8], mode: u32, prefix: &str) -> io::Result<tempfile::NamedTempFile> {
    let mut file = tempfile::Builder::new().prefix(prefix).tempfile_in(folder)?;
    file.write_all(bytes)?;
    file.as_file().set_permissions(Permissions::from_mode(mode))?;
    file.as_file().sync_all()?;
    Ok(file)
}

/// Opens a regular file for appending, creating it with `mode` (less the umask); never through a
/// link, and without waiting if it is a FIFO, which is refused.
pub fn open_append(path: &Path, mode: u32) -> io::Result<File> {
    let flags = OFlags::NOFOLLOW | OFlags::NONBLOCK;
    let file = OpenOptions::new()
        .append(true)
        .create(true)
        .mode(mode)
        .custom_flags(flags.bits().cast_signed())
        .open(path)?;
    regular(file)
}

/// Appends by one write(2) and syncs the data. A short write is an error: the tail is torn.
pub fn append_synced(file: &File, line: &[u8]) -> io::Result<()> {
    append(file, line)?;
    file.sync_data()
}

/// The same without the sync, which the caller must not forget.
pub fn append(file: &File, line: &[u8]) -> io::Result<()> {
    let written = loop {
        match rustix::io::write(file, line) {
            Err(rustix::io::Errno::INTR) => {}
            result => break result?,
        }
    };
    if written != line.len() {
        return Err(io::Error::new(
            io::ErrorKind::WriteZero,
            format!("wrote {written} of {} bytes", line.len()),
        ));
    }
    Ok(())
}

/// Makes the entries of a folder durable.
pub fn sync_dir(path: &Path) -> io::Result<()> {
    File::open(path)?.sync_all()
}

/// Makes a folder (and missing parents) with mode 0700; one that exists is set to 0700. Anything
/// else at the path, a link to a folder included, is an error.
pub fn make_private_dir(path: &Path) -> io::Result<()> {
    DirBuilder::new().recursive(true).mode(0o700).create(path)?;
    let found = fs::symlink_metadata(path)?;
    if !found.is_dir() {
        return Err(io::Error::new(
            io::ErrorKind::NotADirectory,
            "a link stands where a private folder belongs",
        ));
    }
    if found.permissions().mode() & 0o7777 != 0o700 {
        fs::set_permissions(path, Permissions::from_mode(0o700))?;
    }
    Ok(())
}

/// Moves a tree into `trash` (made if missing, on the same file system) under a new name, which
/// is returned. `NotFound` if there is nothing.
pub fn rename_to_trash(path: &Path, trash: &Path) -> io::Result<PathBuf> {
    make_private_dir(trash)?;
    let name = path.file_name().ok_or(io::ErrorKind::InvalidInput)?;
    for attempt in 0..100 {
        let nanos = SystemTime::now()
            .duration_since(UNIX_EPOCH)
            .map_or(0, |since| since.as_nanos());
        // The stamp first: a name may be as long as the file system allows.
        let mut new = format!("{nanos:x}-{:x}-{attempt}", std::process::id());
        if let Some(name) = name.to_str().filter(|name| name.len() <= 100) {
            new = format!("{new}-{name}");
        }
        let target = trash.join(new);
        match renameat_with(CWD, path, CWD, &target, RenameFlags::NOREPLACE) {
            Ok(()) => return Ok(target),
            Err(rustix::io::Errno::EXIST) => {}
            // Moving a folder to another parent writes its `..`: an agent's `chmod 0` forbids it.
            Err(rustix::io::Errno::ACCESS) if attempt == 0 => remove::make_accessible(path)?,
            Err(error) => return Err(error.into()),
        }
    }
    Err(io::ErrorKind::AlreadyExists.into())
}

/// What something in the trash was called before [`rename_to_trash`], where its name tells.
pub fn trashed(name: &OsStr) -> Option<&str> {
    let mut parts = name.to_str()?.splitn(4, '-');
    let is_stamp = |part: Option<&str>| part.is_some_and(|part| part.bytes().all(|byte| byte.is_ascii_hexdigit()));
    (is_stamp(parts.next()) && is_stamp(parts.next()) && is_stamp(parts.next())).then(|| parts.next())?
}

/// Renames within a file system where either path may be a name too long, as long as those of the two
/// folders are not; what is in the way is not replaced. Permissions that an agent took from the entry or
/// its folder are given back where they forbid it.
pub fn rename_long(from: &Path, to: &Path) -> io::Result<()> {
    let name = |path: &Path| {
        path.file_name()
            .map(ToOwned::to_owned)
            .ok_or(io::ErrorKind::InvalidInput)
    };
    let (old, new) = (name(from)?, name(to)?);
    let (source, target) = (remove::open_folder(parent(from))?, remove::open_folder(parent(to))?);
    match renameat_with(&source, &old, &target, &new, RenameFlags::NOREPLACE) {
        Err(rustix::io::Errno::ACCESS) => {
            remove::unlock_entry(&source, &old)?;
            Ok(renameat_with(&source, &old, &target, &new, RenameFlags::NOREPLACE)?)
        }
        result => Ok(result?),
    }
}

/// Reads a regular file of at most `limit` bytes. A link, FIFO, folder or device is refused, and
/// opening it waits for nobody; a longer file is `FileTooLarge`.
pub fn read_small(path: &Path, limit: u64) -> io::Result<Vec<u8>> {
    let flags = OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::NOCTTY;
    let file = OpenOptions::new()
        .read(true)
        .custom_flags(flags.bits().cast_signed())
        .open(path)?;
    let mut bytes = Vec::new();
    regular(file)?.take(limit.saturating_add(1)).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > limit {
        return Err(io::Error::new(
            io::ErrorKind::FileTooLarge,
            format!("larger than {limit} bytes"),
        ));
    }
    Ok(bytes)
}

/// Opens a regular file below a folder, following no link on the way and waiting for nobody.
pub fn open_below(folder: &Path, below: &Path) -> io::Result<File> {
    let folder_flags = OFlags::NOFOLLOW | OFlags::DIRECTORY | OFlags::PATH | OFlags::CLOEXEC;
    let file_flags = OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::RDONLY | OFlags::CLOEXEC;
    let mut at = openat(CWD, folder, folder_flags, Mode::empty())?;
    let mut names: Vec<&OsStr> = Vec::new();
    for part in below.components() {
        match part {
            Component::Normal(name) => names.push(name),
            _ => return Err(io::ErrorKind::InvalidInput.into()),
        }
    }
    let last = names.pop().ok_or(io::ErrorKind::InvalidInput)?;
    for name in names {
        at = openat(&at, name, folder_flags, Mode::empty())?;
    }
    regular(File::from(openat(&at, last, file_flags, Mode::empty())?))
}

/// Refuses what is not a regular file. It was opened without waiting, which no longer matters
/// once it is known to be one.
pub(crate) fn regular(file: File) -> io::Result<File> {
    if file.metadata()?.is_file() {
        Ok(file)
    } else {
        Err(io::Error::new(io::ErrorKind::InvalidInput, "not a regular file"))
    }
}

fn parent(path: &Path) -> &Path {
    match path.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        _ => Path::new("."),
    }
}

#[cfg(test)]
#[path = "tests.rs"]
mod tests;

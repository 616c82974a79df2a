//! Deleting what an agent left: folders without permissions, nested deeper than a path can be
//! long, links to anywhere.

use std::ffi::{CStr, CString, OsStr};
use std::fs::Permissions;
use std::io;
use std::os::fd::{AsRawFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use rustix::fs::{AtFlags, CWD, Dir, FileType, Mode, OFlags, Stat, StatxFlags, fstat, openat, statat, statx, unlinkat};
use rustix::io::Errno;

/// How often a folder is listed again because it was not empty after all (a listing may skip
/// entries while others are deleted).
const LISTINGS: u32 = 3;

/// Deletes a file, link or whole tree, following nothing. A missing one is fine.
///
/// Folders are made accessible first. What is mounted inside is left alone (also a bind mount of
/// a folder of the same file system: deleting "in it" would delete the original), and that is an
/// error; so is whatever else could not be deleted, after all the rest was.
///
/// Iterative, with one open folder at a time: 10,000 levels are neither a stack overflow nor too
/// many descriptors, and every name is relative to its folder, so no path gets too long.
pub fn remove_tree(path: &Path) -> io::Result<()> {
    let name = path.file_name().ok_or(io::ErrorKind::InvalidInput)?;
    let name = CString::new(name.as_bytes())?;
    let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
    let parent = match openat(CWD, super::parent(path), flags, Mode::empty()) {
        Ok(parent) => parent,
        Err(Errno::NOENT) => return Ok(()),
        Err(error) => return Err(error.into()),
    };
    match statat(&parent, &name, AtFlags::SYMLINK_NOFOLLOW) {
        Ok(found) if is_dir(&found) => Removal {
            mount: mount_of(&parent)?,
            failed: None,
        }
        .run(parent, name),
        Ok(_) => Ok(unlinkat(&parent, &name, AtFlags::empty())?),
        Err(Errno::NOENT) => Ok(()),
        Err(error) => Err(error.into()),
    }
}

/// Lets the owner list, enter and change one folder.
pub(super) fn make_accessible(path: &Path) -> io::Result<()> {
    let flags = OFlags::PATH | OFlags::NOFOLLOW | OFlags::DIRECTORY | OFlags::CLOEXEC;
    unlock(&openat(CWD, path, flags, Mode::empty())?).map(drop)
}

/// A folder as a starting point for names in it; no permission on it is needed.
pub(super) fn open_folder(path: &Path) -> io::Result<OwnedFd> {
    let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
    Ok(openat(CWD, path, flags, Mode::empty())?)
}

/// Lets the owner change a folder, and move an entry of it away if that is a folder itself.
pub(super) fn unlock_entry(folder: &OwnedFd, name: &OsStr) -> io::Result<()> {
    unlock(folder)?;
    let flags = OFlags::PATH | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let entry = openat(folder, name, flags, Mode::empty())?;
    if is_dir(&fstat(&entry)?) {
        unlock(&entry)?;
    }
    Ok(())
}

/// `folder` is opened with O_PATH, which needs no permission on it; fchmod(2) refuses such a
/// descriptor, its name under /proc does not, and that cannot lead elsewhere.
fn unlock(folder: &OwnedFd) -> io::Result<Stat> {
    let found = fstat(folder)?;
    if found.st_mode & 0o700 != 0o700 {
        let link = format!("/proc/self/fd/{}", folder.as_raw_fd());
        std::fs::set_permissions(link, Permissions::from_mode(found.st_mode & 0o7777 | 0o700))?;
    }
    Ok(found)
}

/// Which mount a folder is seen through. The device does not say: a bind mount shares it with the
/// original. A kernel that does not tell (before 5.8) gets nothing deleted.
fn mount_of(folder: &OwnedFd) -> io::Result<u64> {
    let found = statx(folder, c"", AtFlags::EMPTY_PATH, StatxFlags::MNT_ID)?;
    if found.stx_mask & StatxFlags::MNT_ID.bits() == 0 {
        return Err(io::Error::new(
            io::ErrorKind::Unsupported,
            "this kernel does not say what is mounted where",
        ));
    }
    Ok(found.stx_mnt_id)
}

fn is_dir(found: &Stat) -> bool {
    FileType::from_raw_mode(found.st_mode) == FileType::Directory
}

struct Removal {
    /// The mount that everything deleted must lie in.
    mount: u64,
    /// The first thing that could not be deleted.
    failed: Option<io::Error>,
}

/// A folder on the way down.
struct Level {
    name: CString,
    device: u64,
    inode: u64,
    /// Folders in it that are still to be deleted.
    folders: Vec<CString>,
    listings: u32,
}

impl Removal {
    fn run(mut self, parent: OwnedFd, name: CString) -> io::Result<()> {
        let top = fstat(&parent)?;
        let Some((mut open, level)) = self.enter(&parent, name) else {
            return self.result();
        };
        let mut levels = vec![level];
        while let Some(level) = levels.last_mut() {
            if let Some(name) = level.folders.pop() {
                if let Some((inner, level)) = self.enter(&open, name) {
                    open = inner;
                    levels.push(level);
                }
                continue;
            }
            // Nothing left in it: back up and delete it from there.
            let Some(level) = levels.pop() else { break };
            let up = match levels.last() {
                Some(above) => go_up(&open, above.device, above.inode)?,
                None => go_up(&open, top.st_dev, top.st_ino)?,
            };
            match unlinkat(&up, &level.name, AtFlags::REMOVEDIR) {
                Ok(()) | Err(Errno::NOENT) => {}
                Err(Errno::NOTEMPTY | Errno::EXIST) if level.listings < LISTINGS && self.failed.is_none() => {
                    let listings = level.listings + 1;
                    if let Some((inner, level)) = self.enter(&up, level.name) {
                        open = inner;
                        levels.push(Level { listings, ..level });
                        continue;
                    }
                }
                Err(error) => self.fail(&level.name, error.into()),
            }
            open = up;
        }
        self.result()
    }

    /// Opens a folder, deletes what in it is no folder, and notes the folders.
    fn enter(&mut self, parent: &OwnedFd, name: CString) -> Option<(OwnedFd, Level)> {
        match self.try_enter(parent, &name) {
            Ok((open, found, folders)) => {
                let (device, inode) = (found.st_dev, found.st_ino);
                Some((
                    open,
                    Level {
                        name,
                        device,
                        inode,
                        folders,
                        listings: 1,
                    },
                ))
            }
            Err(error) => {
                self.fail(&name, error);
                None
            }
        }
    }

    fn try_enter(&mut self, parent: &OwnedFd, name: &CStr) -> io::Result<(OwnedFd, Stat, Vec<CString>)> {
        let directory = OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let folder = openat(parent, name, OFlags::PATH | directory, Mode::empty())?;
        if mount_of(&folder)? != self.mount {
            return Err(io::Error::new(
                io::ErrorKind::CrossesDevices,
                "something is mounted there; umount it first",
            ));
        }
        let found = unlock(&folder)?;
        let open = openat(&folder, c".", OFlags::RDONLY | directory, Mode::empty())?;
        let mut folders = Vec::new();
        for entry in Dir::read_from(&open)? {
            let entry = entry?;
            let name = entry.file_name();
            if name == c"." || name == c".." {
                continue;
            }
            let is_folder = match entry.file_type() {
                FileType::Directory => true,
                FileType::Unknown => is_dir(&statat(&open, name, AtFlags::SYMLINK_NOFOLLOW)?),
                _ => false,
            };
            if is_folder {
                folders.push(name.to_owned());
            } else {
                match unlinkat(&open, name, AtFlags::empty()) {
                    Ok(()) | Err(Errno::NOENT) => {}
                    Err(error) => self.fail(name, error.into()),
                }
            }
        }
        Ok((open, found, folders))
    }

    fn fail(&mut self, name: &CStr, error: io::Error) {
        self.failed.get_or_insert_with(|| {
            let name = OsStr::from_bytes(name.to_bytes());
            io::Error::new(
                error.kind(),
                format!("cannot delete {}: {error}", Path::new(name).display()),
            )
        });
    }

    fn result(self) -> io::Result<()> {
        self.failed.map_or(Ok(()), Err)
    }
}

/// The folder above, which must be the one that we came from: if someone moved the folder
/// meanwhile, `..` is elsewhere, and nothing may be deleted there.
fn go_up(open: &OwnedFd, device: u64, inode: u64) -> io::Result<OwnedFd> {
    let up = openat(
        open,
        c"..",
        OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC,
        Mode::empty(),
    )?;
    let found = fstat(&up)?;
    if (found.st_dev, found.st_ino) == (device, inode) {
        Ok(up)
    } else {
        Err(io::Error::other("a folder was moved while it was being deleted"))
    }
}

//! The mount layer: the whole tree read-only, writable binds for what is granted.
//!
//! Runs in a mount namespace of its own. What must stay writable is cloned first (a detached mount
//! keeps its flags), then everything is turned read-only, then the clones are put in their places.
//! In a user namespace of the agent's own these mounts are locked: it can neither take them off nor
//! make them writable.

use std::ffi::CString;
use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use rustix::fs::{CWD, Mode, OFlags, open};
use rustix::mount::{
    MountFlags, MountPropagationFlags, MoveMountFlags, OpenTreeFlags, mount, mount_remount, move_mount, open_tree,
};

use super::plan::Plan;
use super::{DEVICES, SHM, TERMINALS, sys};

/// `mount_setattr(2)`, from `include/uapi/linux/mount.h`.
const RDONLY: u64 = 0x1;
const NODEV: u64 = 0x4;
const AT_EMPTY_PATH: u32 = 0x1000;
const AT_RECURSIVE: u32 = 0x8000;

/// A detached mount and where it goes.
struct Piece {
    tree: OwnedFd,
    at: PathBuf,
}

/// Applies the layer to this process's mount namespace, and gives its PID namespace a `/proc` of its own.
pub fn apply(plan: &Plan) -> io::Result<()> {
    close_for_others()?;
    let mut pieces = Vec::new();
    for folder in &plan.writable {
        pieces.push(Piece::of(folder, folder, Some(NODEV))?);
    }
    // A device on a mount without devices cannot be opened, and on a read-only one it can be written:
    // so devices are off everywhere but for these.
    for device in DEVICES.iter().chain(TERMINALS).map(Path::new) {
        if device.symlink_metadata().is_ok_and(|meta| !meta.is_symlink()) {
            pieces.push(Piece::of(device, device, None)?);
        }
    }
    let void = Path::new("/dev/null");
    let mut masked: Vec<(PathBuf, Vec<Piece>)> = Vec::new();
    let mut covered: Vec<Piece> = Vec::new();
    let hidden = plan.hidden.iter().map(|path| (path, false));
    let private = plan.private.iter().map(|path| (path, true));
    let mut all: Vec<(&PathBuf, bool)> = hidden.chain(private).collect();
    all.sort();
    for (path, whole_entry) in all {
        let Ok(meta) = path.symlink_metadata() else { continue };
        if meta.is_dir() {
            masked.push((path.clone(), kept_below(path, plan, whole_entry)?));
        } else if !meta.is_symlink() {
            covered.push(Piece::of(void, path, None)?);
        }
    }
    let shm = Path::new(SHM);
    let memory = kept_below(shm, plan, true)?;
    for (seen, at) in &plan.over {
        covered.push(Piece::of(seen, at, Some(RDONLY | NODEV))?);
    }
    sys::mount_setattr(CWD, c"/", AT_RECURSIVE, RDONLY | NODEV, false)?;
    fresh_proc();
    if shm.is_dir() {
        empty(shm, "mode=1777")?;
        for piece in memory {
            piece.make_place()?;
            piece.attach()?;
        }
    }
    for (folder, kept) in masked {
        // An outer one may have covered it already.
        if !folder.is_dir() {
            continue;
        }
        empty(&folder, "mode=0755,size=1m")?;
        for piece in kept {
            piece.make_place()?;
            piece.attach()?;
        }
        let flags = MountFlags::RDONLY | MountFlags::NOSUID | MountFlags::NODEV | MountFlags::BIND;
        mount_remount(&folder, flags, c"")?;
    }
    pieces.sort_by(|a, b| a.at.cmp(&b.at));
    for piece in pieces.into_iter().chain(covered) {
        piece.attach()?;
    }
    own_terminals();
    Ok(())
}

/// A `/proc` for the PID namespace, where there are no other mounts.
pub fn only_proc() {
    if rustix::mount::mount_change("/", MountPropagationFlags::REC | MountPropagationFlags::PRIVATE).is_ok() {
        fresh_proc();
    }
}

/// Refused where the outer /proc is partly covered (some containers); then that one stays. It names processes that
/// cannot be reached from inside, no more.
fn fresh_proc() {
    let flags = MountFlags::NOSUID | MountFlags::NODEV | MountFlags::NOEXEC | MountFlags::RDONLY;
    let _ = mount("proc", "/proc", "proc", flags, None);
}

/// Terminals of the job's own, so that the person's cannot be written to. Where that is refused, the
/// machine's stay.
fn own_terminals() {
    let flags = MountFlags::NOSUID | MountFlags::NOEXEC;
    let options = c"newinstance,ptmxmode=0666,mode=0620";
    let pts = Path::new("/dev/pts");
    if mount("devpts", pts, "devpts", flags, options).is_err() {
        return;
    }
    if let Ok(multiplexer) = Piece::of(&pts.join("ptmx"), Path::new("/dev/ptmx"), None) {
        // Where it is a link to the one in /dev/pts, it needs none.
        let _ = multiplexer.attach();
    }
}

/// Whether the layer can be applied here at all, tried on the calls that it needs. To be called in
/// a mount namespace of its own, which is spoilt by it.
pub fn probe() -> io::Result<()> {
    close_for_others()?;
    let tree = Piece::of(Path::new("/dev"), Path::new("/dev"), None)?;
    sys::mount_setattr(CWD, c"/", AT_RECURSIVE, RDONLY | NODEV, false)?;
    tree.attach()?;
    empty(Path::new("/dev"), "mode=0755,size=1m")
}

/// Nothing done here reaches another mount namespace.
fn close_for_others() -> io::Result<()> {
    sys::mount_setattr(CWD, c"/", AT_RECURSIVE, 0, true)
}

fn empty(folder: &Path, options: &str) -> io::Result<()> {
    let options = CString::new(options)?;
    mount(
        "tmpfs",
        folder,
        "tmpfs",
        MountFlags::NOSUID | MountFlags::NODEV,
        options.as_c_str(),
    )
    .map_err(Into::into)
}

/// What stays visible below a folder that is replaced by an empty one: what is writable or needed
/// there, or (`whole_entry`) the folder's own entries that lead to such.
fn kept_below(folder: &Path, plan: &Plan, whole_entry: bool) -> io::Result<Vec<Piece>> {
    let mut paths: Vec<PathBuf> = Vec::new();
    for path in plan.writable.iter().chain(&plan.needed) {
        let Ok(below) = path.strip_prefix(folder) else { continue };
        let Some(first) = below.components().next() else {
            continue;
        };
        paths.push(if whole_entry { folder.join(first) } else { path.clone() });
    }
    paths.sort();
    // What lies below another comes with it.
    paths.dedup_by(|path, outer| path.starts_with(&*outer));
    let there = paths.iter().filter(|path| path.symlink_metadata().is_ok());
    there.map(|path| Piece::of(path, path, Some(RDONLY | NODEV))).collect()
}

impl Piece {
    /// Clones what is at `from`, with all mounts below it. The clone keeps its flags and gets `set`.
    fn of(from: &Path, at: &Path, set: Option<u64>) -> io::Result<Piece> {
        let flags = OpenTreeFlags::OPEN_TREE_CLONE | OpenTreeFlags::OPEN_TREE_CLOEXEC | OpenTreeFlags::AT_RECURSIVE;
        let tree = open_tree(CWD, from, flags)?;
        if let Some(set) = set {
            sys::mount_setattr(tree.as_fd(), c"", AT_EMPTY_PATH | AT_RECURSIVE, set, false)?;
        }
        Ok(Piece {
            tree,
            at: at.to_owned(),
        })
    }

    /// Makes the place in an empty folder: the folders that lead there, and a file for a file.
    fn make_place(&self) -> io::Result<()> {
        let is_dir = rustix::fs::FileType::from_raw_mode(rustix::fs::fstat(&self.tree)?.st_mode).is_dir();
        if is_dir {
            return std::fs::create_dir_all(&self.at);
        }
        if let Some(parent) = self.at.parent() {
            std::fs::create_dir_all(parent)?;
        }
        let flags = OFlags::CREATE | OFlags::EXCL | OFlags::WRONLY | OFlags::CLOEXEC | OFlags::NOFOLLOW;
        open(&self.at, flags, Mode::from_raw_mode(0o444))
            .map(drop)
            .map_err(Into::into)
    }

    fn attach(self) -> io::Result<()> {
        let at = CString::new(self.at.as_os_str().as_bytes())?;
        match move_mount(
            self.tree.as_fd(),
            c"",
            CWD,
            at.as_c_str(),
            MoveMountFlags::MOVE_MOUNT_F_EMPTY_PATH,
        ) {
            // An outer one hides its place.
            Err(rustix::io::Errno::NOENT) => Ok(()),
            result => result.map_err(Into::into),
        }
    }
}

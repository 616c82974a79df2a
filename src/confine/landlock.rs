//! The Landlock layer: a ruleset of the kernel that a process puts on itself and cannot take off.
//!
//! Numbers are those of the kernel's `include/uapi/linux/landlock.h`. All file rights that the
//! probed ABI knows are handled, so what is not granted is refused.

use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::fs::FileTypeExt;
use std::path::{Path, PathBuf};

use rustix::fs::{Access, Mode, OFlags, open};
use rustix::io::Errno;

use super::sys;
use super::wish::Network;

/// The newest ABI whose rights are known here. A newer kernel is used as this one.
const NEWEST: u32 = 7;

/// Below this ABI `truncate` is not handled: another layer must hold.
pub const TRUNCATE: u32 = 3;
/// From this ABI on, TCP can be restricted.
pub const TCP: u32 = 4;
/// From this ABI on, signals and abstract sockets are scoped.
pub const SCOPES: u32 = 6;

const EXECUTE: u64 = 1 << 0;
const WRITE_FILE: u64 = 1 << 1;
const READ_FILE: u64 = 1 << 2;
const READ_DIR: u64 = 1 << 3;
const MAKE_CHAR: u64 = 1 << 6;
const MAKE_BLOCK: u64 = 1 << 11;
const TRUNCATE_FILE: u64 = 1 << 14;
const IOCTL_DEV: u64 = 1 << 15;

/// Character devices below `/dev` that are the machine's memory.
const MEMORY: &[&str] = &["mem", "kmem", "port"];

const BIND_TCP: u64 = 1 << 0;
const CONNECT_TCP: u64 = 1 << 1;

const SCOPE_ABSTRACT_UNIX_SOCKET: u64 = 1 << 0;
const SCOPE_SIGNAL: u64 = 1 << 1;

/// Rights of one path, as far as the ABI knows them.
#[derive(Clone, Copy)]
enum Grant {
    /// Reading and executing.
    Read,
    /// The names in folders alone.
    List,
    /// A folder with everything below it, but for making devices.
    Folder,
    /// A folder of terminals.
    Terminals,
    /// A device.
    Device,
}

/// What the rules say.
pub struct Rules<'a> {
    /// Folders that may be written, with all below them.
    pub folders: &'a [PathBuf],
    /// Devices that may be written. What is not there is passed over.
    pub devices: &'a [&'a Path],
    /// Folders of terminals.
    pub terminals: &'a [&'a Path],
    /// What cannot be read. Where another layer hides it, leave this empty.
    pub hidden: &'a [PathBuf],
    /// What can be read all the same, though it lies in a hidden folder.
    pub needed: &'a [PathBuf],
    /// TCP.
    pub network: &'a Network,
}

/// The kernel's ABI, at most the newest that is known here.
///
/// # Errors
/// `ENOSYS`: the kernel has none. `EOPNOTSUPP`: not in its boot list. Others: a filter.
pub fn abi() -> io::Result<u32> {
    sys::landlock_abi().map(|abi| abi.min(NEWEST))
}

/// The file rights that an ABI knows: one more bit with ABI 2 (refer), 3 (truncate), 5 (ioctl).
fn known(abi: u32) -> u64 {
    let bits = match abi {
        0 | 1 => 13,
        2 => 14,
        3 | 4 => 15,
        _ => 16,
    };
    (1 << bits) - 1
}

impl Grant {
    fn rights(self, abi: u32) -> u64 {
        let wanted = match self {
            Grant::Read => EXECUTE | READ_FILE | READ_DIR,
            Grant::List => READ_DIR,
            Grant::Folder => !(MAKE_CHAR | MAKE_BLOCK | IOCTL_DEV),
            Grant::Terminals => READ_FILE | READ_DIR | WRITE_FILE | TRUNCATE_FILE | IOCTL_DEV,
            Grant::Device => READ_FILE | WRITE_FILE | TRUNCATE_FILE | IOCTL_DEV,
        };
        wanted & known(abi)
    }
}

/// Puts the rules on this thread and what it starts. Needs no_new_privs or the capability.
pub fn restrict(abi: u32, rules: &Rules<'_>) -> io::Result<()> {
    let (net, ports): (u64, &[u16]) = match rules.network {
        Network::Allow => (0, &[]),
        Network::DenyTcp => (BIND_TCP | CONNECT_TCP, &[]),
        Network::Ports(ports) => (BIND_TCP | CONNECT_TCP, ports),
    };
    if net != 0 && abi < TCP {
        return Err(Errno::OPNOTSUPP.into());
    }
    let scoped = if abi >= SCOPES {
        SCOPE_ABSTRACT_UNIX_SOCKET | SCOPE_SIGNAL
    } else {
        0
    };
    let ruleset = sys::landlock_create(abi, known(abi), net, scoped)?;
    for (path, grant) in readable(rules.hidden, rules.needed)? {
        allow(&ruleset, abi, &path, grant, Missing::PassOver)?;
    }
    for folder in rules.folders {
        allow(&ruleset, abi, folder, Grant::Folder, Missing::Fail)?;
    }
    for device in rules.devices {
        allow(&ruleset, abi, device, Grant::Device, Missing::PassOver)?;
    }
    for folder in rules.terminals {
        allow(&ruleset, abi, folder, Grant::Terminals, Missing::PassOver)?;
    }
    for port in ports {
        sys::landlock_allow_port(&ruleset, u64::from(*port), net)?;
    }
    sys::landlock_restrict(&ruleset)
}

/// What to do about a path that cannot be opened.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Missing {
    Fail,
    PassOver,
}

fn allow(ruleset: &OwnedFd, abi: u32, path: &Path, grant: Grant, missing: Missing) -> io::Result<()> {
    let opened = match open(path, OFlags::PATH | OFlags::CLOEXEC, Mode::empty()) {
        Ok(opened) => opened,
        Err(_) if missing == Missing::PassOver => return Ok(()),
        Err(error) => return Err(error.into()),
    };
    let mut rights = grant.rights(abi);
    // The kernel refuses rights of folders on a file.
    if !rustix::fs::FileType::from_raw_mode(rustix::fs::fstat(&opened)?.st_mode).is_dir() {
        rights &= (EXECUTE | WRITE_FILE | READ_FILE | TRUNCATE_FILE | IOCTL_DEV) & known(abi);
    }
    if rights == 0 {
        return Ok(());
    }
    sys::landlock_allow_path(ruleset, &opened, rights)
}

/// Devices from which this process could read what is on the disk or in memory, past all that is hidden.
/// (Where there are mounts, no device can be opened but for those that stay.)
pub fn raw_devices() -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut open = vec![PathBuf::from("/dev")];
    while let Some(folder) = open.pop() {
        // What cannot be listed or looked at cannot be read either.
        for entry in std::fs::read_dir(&folder).into_iter().flatten().flatten() {
            let Ok(kind) = entry.file_type() else { continue };
            let path = entry.path();
            let is_memory = kind.is_char_device() && MEMORY.contains(&entry.file_name().to_string_lossy().as_ref());
            if kind.is_dir() {
                open.push(path);
            } else if (kind.is_block_device() || is_memory) && rustix::fs::access(&path, Access::READ_OK).is_ok() {
                found.push(path);
            }
        }
    }
    found
}

/// The readable set: everything, or what is left of it beside the hidden paths. Rules only add,
/// so the neighbours of every folder on the way are named one by one; the names in folders stay
/// visible, since a folder's own listing cannot be granted without that of all below it.
fn readable(hidden: &[PathBuf], needed: &[PathBuf]) -> io::Result<Vec<(PathBuf, Grant)>> {
    let has_below = |top: &Path| hidden.iter().any(|hidden| hidden.starts_with(top) && hidden != top);
    let lies_in = |path: &&PathBuf| hidden.iter().any(|hidden| path.starts_with(hidden) && *path != hidden);
    let root = PathBuf::from("/");
    let mut granted = Vec::new();
    let mut open = Vec::new();
    if has_below(&root) {
        granted.push((root.clone(), Grant::List));
    }
    let needed = needed.iter().filter(lies_in).filter(|path| !hidden.contains(path));
    for top in std::iter::once(&root).chain(needed) {
        if has_below(top) {
            open.push(top.clone());
        } else {
            granted.push((top.clone(), Grant::Read));
        }
    }
    while let Some(folder) = open.pop() {
        for entry in std::fs::read_dir(&folder)? {
            let path = folder.join(entry?.file_name());
            if hidden.contains(&path) {
                continue;
            }
            if hidden.iter().any(|hidden| hidden.starts_with(&path)) {
                // It cannot be listed by us either: nothing below it is granted.
                if std::fs::read_dir(&path).is_ok() {
                    open.push(path);
                }
                continue;
            }
            // What a link leads to is granted, or not, where it is.
            if !path.symlink_metadata().is_ok_and(|meta| meta.is_symlink()) {
                granted.push((path, Grant::Read));
            }
        }
    }
    Ok(granted)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_abi_knows_its_rights_and_devices_are_granted_nowhere() {
        assert_eq!(known(1), 0x1fff);
        assert_eq!(known(2), 0x3fff);
        assert_eq!(known(3), 0x7fff);
        assert_eq!(known(5), 0xffff);
        for abi in 1..=NEWEST {
            for grant in [Grant::Read, Grant::List, Grant::Folder, Grant::Terminals, Grant::Device] {
                assert_eq!(grant.rights(abi) & (MAKE_CHAR | MAKE_BLOCK), 0);
                assert_eq!(grant.rights(abi) & !known(abi), 0);
            }
        }
    }

    #[test]
    fn what_is_beside_a_hidden_path_stays_readable() {
        let scratch = tempfile::tempdir().expect("a folder");
        let top = std::fs::canonicalize(scratch.path()).expect("real");
        for name in ["home/.ssh", "home/src", "other"] {
            std::fs::create_dir_all(top.join(name)).expect("made");
        }
        let granted = readable(&[top.join("home/.ssh")], &[]).expect("listed");
        let has = |path: &Path| {
            granted
                .iter()
                .any(|(granted, grant)| granted == path && matches!(grant, Grant::Read))
        };
        assert!(has(&top.join("home/src")) && has(&top.join("other")));
        assert!(!granted.iter().any(|(path, _)| path.starts_with(top.join("home/.ssh"))));
        assert!(!has(&top) && !has(&top.join("home")) && !has(Path::new("/")));
    }

    #[test]
    fn what_is_needed_in_a_hidden_folder_stays_readable_but_for_what_is_hidden_in_it() {
        let scratch = tempfile::tempdir().expect("a folder");
        let top = std::fs::canonicalize(scratch.path()).expect("real");
        for name in ["jobs/one/task", "jobs/two", "jobs/clone/records", "jobs/clone/objects"] {
            std::fs::create_dir_all(top.join(name)).expect("made");
        }
        let hidden = [top.join("jobs"), top.join("jobs/clone/records")];
        let needed = [top.join("jobs/one"), top.join("jobs/clone"), top.join("jobs")];
        let granted = readable(&hidden, &needed).expect("listed");
        let below: Vec<&PathBuf> = granted
            .iter()
            .map(|(path, _)| path)
            .filter(|path| path.starts_with(&top))
            .collect();
        assert_eq!(below, [&top.join("jobs/one"), &top.join("jobs/clone/objects")]);
    }
}

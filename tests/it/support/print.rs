//! A fingerprint of folders: everything that a change would change, down to the times of change.

use std::collections::BTreeMap;
use std::ffi::CString;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{FileTypeExt, MetadataExt};
use std::path::{Path, PathBuf};

use super::jobs::sha256;

/// What is at one path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Print {
    /// Kind, size and content: what a read gives.
    pub content: String,
    /// Mode, owner, links, times, attributes and flags.
    pub about: String,
}

/// A fingerprint; its difference to another is [`changes`].
pub type Prints = BTreeMap<PathBuf, Print>;

/// Of all below these folders, and of themselves, but for what is below `without`.
pub fn prints(tops: &[PathBuf], without: &[PathBuf]) -> Prints {
    let mut prints = Prints::new();
    for top in tops {
        let walk = walkdir::WalkDir::new(top).into_iter();
        for entry in walk.filter_entry(|entry| !without.iter().any(|path| entry.path() == path)) {
            let path = entry.expect("it can be listed").into_path();
            prints.insert(path.clone(), print(&path));
        }
    }
    prints
}

fn print(path: &Path) -> Print {
    let meta = fs::symlink_metadata(path).expect("it is there");
    let kind = meta.file_type();
    let content = if kind.is_dir() {
        "folder".to_owned()
    } else if kind.is_symlink() {
        format!("link to {}", fs::read_link(path).expect("a link").display())
    } else if kind.is_file() {
        let bytes = fs::read(path).expect("it can be read");
        format!("{} bytes {}", bytes.len(), sha256(bytes))
    } else {
        format!("fifo {} socket {}", kind.is_fifo(), kind.is_socket())
    };
    // Not the access time: to look is no attack.
    let about = format!(
        "{:o} {}:{} inode {} links {} modified {}.{} changed {}.{} {} {}",
        meta.mode(),
        meta.uid(),
        meta.gid(),
        meta.ino(),
        meta.nlink(),
        meta.mtime(),
        meta.mtime_nsec(),
        meta.ctime(),
        meta.ctime_nsec(),
        attributes(path),
        flags(path, kind.is_file() || kind.is_dir()),
    );
    Print { content, about }
}

fn attributes(path: &Path) -> String {
    let mut names = vec![0u8; 4096];
    let length = rustix::fs::llistxattr(path, &mut names[..]).unwrap_or(0);
    let mut shown = String::new();
    for name in names[..length].split(|byte| *byte == 0).filter(|name| !name.is_empty()) {
        let mut value = vec![0u8; 4096];
        let name = CString::new(name).expect("it was split at each NUL");
        let length = rustix::fs::lgetxattr(path, name.as_c_str(), &mut value[..]).unwrap_or(0);
        shown += &format!("{}={} ", name.to_string_lossy(), value[..length].escape_ascii());
    }
    shown
}

fn flags(path: &Path, has_flags: bool) -> String {
    let opened = has_flags.then(|| fs::File::open(path).ok()).flatten();
    let flags = opened.and_then(|file| rustix::fs::ioctl_getflags(&file).ok());
    flags.map_or_else(String::new, |flags| format!("{:x}", flags.bits()))
}

/// One line a path that is not as it was.
pub fn changes(before: &Prints, after: &Prints) -> Vec<String> {
    let paths: std::collections::BTreeSet<&PathBuf> = before.keys().chain(after.keys()).collect();
    let differs = |path: &&&PathBuf| before.get(**path) != after.get(**path);
    let shown = |path: &&PathBuf| {
        format!(
            "{}:\n  {:?}\n  {:?}",
            String::from_utf8_lossy(path.as_os_str().as_bytes()),
            before.get(*path),
            after.get(*path)
        )
    };
    paths.iter().filter(differs).map(shown).collect()
}

/// [`changes`] of what a read gives alone: content, and which paths there are.
pub fn content_changes(before: &Prints, after: &Prints) -> Vec<String> {
    let bare = |prints: &Prints| {
        let strip = |(path, print): (&PathBuf, &Print)| {
            let about = String::new();
            (path.clone(), Print { about, ..print.clone() })
        };
        prints.iter().map(strip).collect::<Prints>()
    };
    changes(&bare(before), &bare(after))
}

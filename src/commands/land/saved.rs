//! The touched paths of a checkout, saved before git updates it and put back where it could not.

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::fs::Metadata;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use tempfile::TempDir;

use crate::files;
use crate::gate::tree::Change;

/// Name of a folder of copies in a checkout's git dir. What is kept for a person gets another one.
const PREFIX: &str = "agentgate-landing-";
const KEPT: &str = "agentgate-saved-";

/// What stood at a path that a landing touches.
enum Was {
    Absent,
    Folder,
    /// A file or link: the copy, and how the original looked.
    File(PathBuf, Metadata),
}

/// The touched paths of a checkout as they were. git could bring them back only through the filters
/// that may be what failed.
pub(super) struct Saved {
    /// Top of the checkout.
    pub(super) place: PathBuf,
    copies: TempDir,
    paths: Vec<(Vec<u8>, Was)>,
    /// Folders that were not there.
    missing: BTreeSet<PathBuf>,
}

impl Saved {
    pub(super) fn of(place: &Path, changes: &[Change]) -> Result<Saved> {
        let git_dir = git_dir(place)?;
        let copies = tempfile::Builder::new()
            .prefix(PREFIX)
            .tempdir_in(&git_dir)
            .with_context(|| format!("cannot make a folder in {}", git_dir.display()))?;
        let mut paths = Vec::new();
        let mut missing = BTreeSet::new();
        for (number, change) in changes.iter().enumerate() {
            let at = place.join(OsStr::from_bytes(&change.path));
            let absent: Vec<&Path> = folders(place, &at).filter(|folder| !is_folder(folder)).collect();
            let was = match at.symlink_metadata() {
                _ if !absent.is_empty() => Was::Absent,
                Ok(meta) if meta.is_dir() => Was::Folder,
                Ok(meta) => {
                    let copy = copies.path().join(number.to_string());
                    copy_entry(&at, &copy).with_context(|| format!("cannot save {}", at.display()))?;
                    Was::File(copy, meta)
                }
                Err(error) if error.kind() == std::io::ErrorKind::NotFound => Was::Absent,
                Err(error) => return Err(error).with_context(|| format!("cannot read {}", at.display())),
            };
            missing.extend(absent.into_iter().map(Path::to_owned));
            paths.push((change.path.clone(), was));
        }
        Ok(Saved {
            place: place.to_owned(),
            copies,
            paths,
            missing,
        })
    }

    /// Puts back what differs; gives the paths where that failed.
    pub(super) fn put_back(&self) -> Vec<Vec<u8>> {
        let at = |path: &[u8]| self.place.join(OsStr::from_bytes(path));
        let mut left = Vec::new();
        for (path, was) in &self.paths {
            let at = at(path);
            let is_new = !matches!(was, Was::File(..))
                // Through a link it would be somebody else's file.
                && folders(&self.place, &at).all(is_folder)
                && at.symlink_metadata().is_ok_and(|meta| !meta.is_dir());
            if is_new && std::fs::remove_file(&at).is_err() {
                left.push(path.clone());
            }
        }
        for folder in self.missing.iter().rev().filter(|folder| is_folder(folder)) {
            // What a person put there in the meantime keeps it.
            let _ = std::fs::remove_dir(folder);
        }
        for (path, was) in &self.paths {
            let at = at(path);
            let done = match was {
                Was::Absent => Ok(()),
                Was::Folder if is_folder(&at) => Ok(()),
                Was::Folder => std::fs::create_dir_all(&at),
                Was::File(_, before) if at.symlink_metadata().is_ok_and(|now| is_same(before, &now)) => Ok(()),
                Was::File(copy, _) => put(copy, &at),
            };
            if done.is_err() && !left.contains(path) {
                left.push(path.clone());
            }
        }
        left
    }

    /// Leaves the copies where they are.
    pub(super) fn keep(self) -> PathBuf {
        let path = self.copies.keep();
        let name = path.file_name().and_then(OsStr::to_str).unwrap_or_default();
        let kept = path.with_file_name(name.replacen(PREFIX, KEPT, 1));
        match std::fs::rename(&path, &kept) {
            Ok(()) => kept,
            Err(_) => path,
        }
    }
}

/// Removes the copies of a landing that was killed. For whoever has the lock of landings.
pub(super) fn clear(place: &Path) -> Result<()> {
    for entry in std::fs::read_dir(git_dir(place)?).into_iter().flatten().flatten() {
        if entry.file_name().as_bytes().starts_with(PREFIX.as_bytes()) {
            files::remove_tree(&entry.path()).with_context(|| format!("cannot remove {}", entry.path().display()))?;
        }
    }
    Ok(())
}

fn git_dir(place: &Path) -> Result<PathBuf> {
    let repo = git2::Repository::open(place).with_context(|| format!("cannot open {}", place.display()))?;
    Ok(repo.path().to_owned())
}

/// The folders above a path, below the checkout's top, outermost last.
fn folders<'a>(place: &'a Path, at: &'a Path) -> impl Iterator<Item = &'a Path> {
    at.ancestors().skip(1).take_while(move |folder| *folder != place)
}

pub(super) fn is_folder(path: &Path) -> bool {
    path.symlink_metadata().is_ok_and(|meta| meta.is_dir())
}

fn is_same(before: &Metadata, now: &Metadata) -> bool {
    let key = |meta: &Metadata| {
        (
            meta.dev(),
            meta.ino(),
            meta.mode(),
            meta.size(),
            meta.mtime(),
            meta.mtime_nsec(),
        )
    };
    key(before) == key(now)
}

fn put(copy: &Path, at: &Path) -> std::io::Result<()> {
    if let Some(folder) = at.parent() {
        std::fs::create_dir_all(folder)?;
    }
    match std::fs::rename(copy, at) {
        // The git dir may lie on another disk.
        Err(error) if error.kind() == std::io::ErrorKind::CrossesDevices => {
            if at.symlink_metadata().is_ok() {
                std::fs::remove_file(at)?;
            }
            copy_entry(copy, at)
        }
        done => done,
    }
}

fn copy_entry(from: &Path, to: &Path) -> std::io::Result<()> {
    if from.symlink_metadata()?.is_symlink() {
        return std::os::unix::fs::symlink(std::fs::read_link(from)?, to);
    }
    std::fs::copy(from, to)?;
    Ok(())
}

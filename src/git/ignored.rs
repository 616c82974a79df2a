//! Files of a worktree that git ignores: which of them were there when the job left the worktree to a person, and
//! which have come or changed since.
//!
//! Invariants: a file counts as known only where its size and both its times are those that were written down; what
//! cannot be looked at counts as new. What only tools make is passed over: to be asked about a `node_modules` would
//! teach people to always say `--force`.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use serde::{Deserialize, Serialize};

use super::worktree::Worktree;
use crate::files;
use crate::job::left::RawPath;

/// The list, in the worktree's admin folder: it goes with the worktree, and no agent could write there.
const LIST: &str = "agentgate-ignored";
/// The shape of the list.
const SCHEMA: &str = "agentgate/ignored/1";
/// More files are not listed; see [`is_old`].
const MOST: usize = 20_000;
/// A larger list is not ours.
const LIMIT: u64 = 256 << 20;

/// Folders that only tools make, by their names.
const TOOLS: &[&str] = &[
    "node_modules",
    "bower_components",
    "__pycache__",
    ".tox",
    ".nox",
    ".eggs",
    ".pytest_cache",
    ".mypy_cache",
    ".ruff_cache",
    ".hypothesis",
    ".gradle",
    ".next",
    ".nuxt",
    ".turbo",
    ".svelte-kit",
    ".parcel-cache",
    ".angular",
];
/// Folders that are a tool's where one of these files lies beside them.
const BESIDE: &[(&str, &[&str])] = &[
    ("target", &["Cargo.toml", "pom.xml", "build.sbt"]),
    ("build", &["build.gradle", "build.gradle.kts"]),
];
/// Folders that are a tool's where they have this file.
const WITHIN: &[(&str, &str)] = &[(".venv", "pyvenv.cfg"), ("venv", "pyvenv.cfg")];
/// How `CACHEDIR.TAG` begins in a folder that may be deleted at any time (<https://bford.info/cachedir/>).
const CACHE: &[u8] = b"Signature: 8a477f597d28d172789f06886806bc55";

/// Seconds and nanoseconds.
type Time = (i64, i64);

/// One file, as it was.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Stat {
    bytes: u64,
    modified: Time,
    /// No program can set this one.
    changed: Time,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
struct Entry {
    path: RawPath,
    /// None for what could not be looked at.
    stat: Option<Stat>,
}

/// What was there.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
struct There {
    schema: String,
    /// When the list was begun, by the clock of the worktree's file system; where there were more files than are listed.
    cut: Option<Time>,
    files: Vec<Entry>,
}

/// Writes down what ignored files there are now. `listed` are paths below the worktree as git lists them, folders as
/// a whole.
pub fn remember(worktree: &Worktree, listed: &[Vec<u8>]) -> Result<()> {
    let list = worktree.admin.join(LIST);
    // The file system's clock is not the process's.
    files::replace(&list, b"", 0o600).with_context(|| format!("cannot write {}", list.display()))?;
    let now = stat(&list).map(|stat| stat.changed);
    let mut found = below(worktree, listed);
    let cut = if found.len() > MOST { now } else { None };
    while found.len() > MOST {
        found.pop_last();
    }
    let there = There {
        schema: SCHEMA.to_owned(),
        cut,
        files: found
            .into_iter()
            .map(|(path, stat)| Entry {
                path: RawPath::of(&path),
                stat,
            })
            .collect(),
    };
    files::replace(&list, &serde_json::to_vec(&there)?, 0o600)
        .with_context(|| format!("cannot write {}", list.display()))
}

/// Paths of the ignored files that are not as they were then, sorted. Without a list there was none.
pub fn since(worktree: &Worktree, listed: &[Vec<u8>]) -> Vec<Vec<u8>> {
    let there = files::read_small(&worktree.admin.join(LIST), LIMIT)
        .ok()
        .and_then(|bytes| serde_json::from_slice::<There>(&bytes).ok())
        .filter(|there| there.schema == SCHEMA)
        .unwrap_or_default();
    let known: BTreeMap<&[u8], &Option<Stat>> = there
        .files
        .iter()
        .map(|entry| (entry.path.bytes(), &entry.stat))
        .collect();
    let found = below(worktree, listed);
    let is_known = |path: &[u8], stat: &Option<Stat>| match known.get(path) {
        Some(was) => *was == stat,
        None => there
            .cut
            .is_some_and(|moment| stat.is_some_and(|stat| stat.changed <= moment) && is_old(worktree, path, moment)),
    };
    found
        .into_iter()
        .filter(|(path, stat)| !is_known(path, stat))
        .map(|(path, _)| path)
        .collect()
}

/// Whether no folder around a file has changed since: a folder that was moved in keeps the times of its files.
fn is_old(worktree: &Worktree, path: &[u8], moment: Time) -> bool {
    let full = worktree.path.join(OsStr::from_bytes(path));
    let folders = full.ancestors().skip(1);
    folders
        .take_while(|folder| **folder != worktree.path)
        .all(|folder| stat(folder).is_some_and(|stat| stat.changed <= moment))
}

/// Every file and link of what git lists, by its path below the worktree.
fn below(worktree: &Worktree, listed: &[Vec<u8>]) -> BTreeMap<Vec<u8>, Option<Stat>> {
    let top = &worktree.path;
    let mut found = BTreeMap::new();
    for path in listed {
        let full = top.join(OsStr::from_bytes(path));
        let around: Vec<&Path> = full.ancestors().skip(1).take_while(|folder| *folder != top).collect();
        if is_junk(&full) || around.into_iter().any(is_tools) {
            continue;
        }
        let inside = walkdir::WalkDir::new(&full)
            .follow_links(false)
            .follow_root_links(false)
            .into_iter()
            .filter_entry(|entry| !(is_junk(entry.path()) || entry.file_type().is_dir() && is_tools(entry.path())));
        for entry in inside {
            let (path, stat) = match &entry {
                Ok(entry) if entry.file_type().is_dir() => continue,
                Ok(entry) => (entry.path().to_owned(), stat(entry.path())),
                Err(error) => (error.path().map_or_else(|| full.clone(), Path::to_owned), None),
            };
            let path: PathBuf = path.strip_prefix(top).map(Path::to_owned).unwrap_or(path);
            found.insert(path.into_os_string().as_bytes().to_vec(), stat);
        }
    }
    found
}

fn stat(path: &Path) -> Option<Stat> {
    let meta = path.symlink_metadata().ok()?;
    Some(Stat {
        bytes: meta.len(),
        modified: (meta.mtime(), meta.mtime_nsec()),
        changed: (meta.ctime(), meta.ctime_nsec()),
    })
}

/// Files that only tools make.
fn is_junk(path: &Path) -> bool {
    path.file_name().is_some_and(|name| name == ".DS_Store") || path.extension().is_some_and(|ending| ending == "pyc")
}

/// Whether a folder holds nothing but what a tool makes again.
fn is_tools(folder: &Path) -> bool {
    let name = folder.file_name().and_then(OsStr::to_str).unwrap_or_default();
    let is_file = |path: PathBuf| path.symlink_metadata().is_ok_and(|meta| meta.is_file());
    TOOLS.contains(&name)
        || BESIDE
            .iter()
            .any(|(own, beside)| *own == name && beside.iter().any(|beside| is_file(folder.with_file_name(beside))))
        || WITHIN
            .iter()
            .any(|(own, within)| *own == name && is_file(folder.join(within)))
        || files::read_small(&folder.join("CACHEDIR.TAG"), 4096).is_ok_and(|tag| tag.starts_with(CACHE))
}

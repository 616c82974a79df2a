//! `copy`: files that git ignores, copied into the worktree before anything runs there.
//!
//! Invariants: only regular files, no link followed on either side; never a path that the base has, and
//! never one that the worktree's own rules do not ignore, so that none of it can get into the candidate.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::io;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::os::unix::fs::{OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};

use super::freeze::names;
use super::prepare::Job;
use crate::agent::settings::CopyIn;
use crate::commands::Watch;
use crate::exit::{Exit, Stop};
use crate::files;
use crate::gate::{self, GateError};
use crate::git::repo::Checkout;
use crate::git::tree::GitTree;
use crate::git::worktree::Worktree;
use crate::job::machine::Ending;
use crate::paths::PathRule;
use crate::process::signals;

/// What is copied: where it goes, relative to the worktree, and from where (a folder, and the path below).
#[derive(Clone, Debug, Default)]
pub struct Copies {
    files: BTreeMap<Vec<u8>, (PathBuf, PathBuf)>,
    /// What is told about it.
    pub notices: Vec<String>,
}

impl Copies {
    /// Looks up what the settings name, before anything is made.
    ///
    /// # Errors
    /// Exit 64 for a path that cannot be meant: one that the base has, one that is not ignored, a link.
    pub fn plan(checkout: &Checkout, base: git2::Oid, wanted: &[CopyIn]) -> Result<Copies> {
        let mut copies = Copies::default();
        if wanted.is_empty() {
            return Ok(copies);
        }
        let tree = GitTree::of_commit(&checkout.repo, base).map_err(GateError::from)?;
        for wanted in wanted {
            match wanted {
                CopyIn::Ignored(text) => copies.ignored(checkout, &tree, text)?,
                CopyIn::Outside { from, to } => copies.outside(&tree, Path::new(from), to)?,
            }
        }
        Ok(copies)
    }

    /// Where they go.
    pub fn paths(&self) -> impl Iterator<Item = Vec<u8>> + '_ {
        self.files.keys().cloned()
    }

    /// Copies them into a checkout that nobody works in; what is there already stays, and is named.
    ///
    /// # Errors
    /// In words: the first file that could not be copied.
    pub fn put(&self, folder: &Path) -> Result<String, String> {
        let mut there = Vec::new();
        for (to, (top, below)) in &self.files {
            let path = Path::new(OsStr::from_bytes(to));
            if folder.join(path).symlink_metadata().is_ok() {
                there.push(to.as_slice());
                continue;
            }
            copy(top, below, folder, path)
                .map_err(|error| format!("copy: {} could not be copied: {error}", top.join(below).display()))?;
        }
        Ok(names(there.into_iter()))
    }

    fn ignored(&mut self, checkout: &Checkout, base: &GitTree<'_>, text: &str) -> Result<()> {
        let rule = PathRule::parse(text, "copy".to_owned()).map_err(|wrong| Stop::new(Exit::Usage, wrong))?;
        // The checkout that the job starts from; what lies only in the main one is meant as well.
        let mut tops: Vec<&PathBuf> = checkout.workdir.iter().chain(&checkout.main).collect();
        tops.dedup();
        for top in &tops {
            let (mut found, mut links) = (0, Vec::new());
            for path in ignored_files(checkout, top, &rule)? {
                let is_exact = rule.literal() == Some(path.as_slice());
                let below = PathBuf::from(OsString::from_vec(path.clone()));
                if !top.join(&below).symlink_metadata().is_ok_and(|meta| meta.is_file()) {
                    if is_exact {
                        return Err(not_a_file(text).into());
                    }
                    links.push(path);
                    continue;
                }
                self.add(base, path, top, below)?;
                found += 1;
            }
            if !links.is_empty() {
                let names = names(links.iter().map(Vec::as_slice));
                self.notices
                    .push(format!("copy: no regular files, and not copied: {names}"));
            }
            if found > 0 {
                return Ok(());
            }
        }
        let Some(literal) = rule.literal() else {
            self.notices
                .push(format!("copy: `{text}` matches no file that git ignores"));
            return Ok(());
        };
        for top in tops {
            let Ok(meta) = top.join(OsStr::from_bytes(literal)).symlink_metadata() else {
                continue;
            };
            if meta.is_dir() {
                self.notices
                    .push(format!("copy: `{text}` holds no file that git ignores"));
                return Ok(());
            }
            return Err(not_ignored(base, text, literal).into());
        }
        if gate::tree::lookup(base, literal).map_err(GateError::from)?.is_some() {
            return Err(not_ignored(base, text, literal).into());
        }
        self.notices
            .push(format!("copy: `{text}` is not there, so nothing was copied"));
        Ok(())
    }

    /// A file or folder from elsewhere. The path may lead through links, the thing itself is none.
    fn outside(&mut self, base: &GitTree<'_>, from: &Path, to: &str) -> Result<()> {
        let shown = from.display();
        let rule = PathRule::parse(to, "copy.to".to_owned()).map_err(|wrong| Stop::new(Exit::Usage, wrong))?;
        let to = rule.literal().unwrap_or(to.as_bytes()).to_vec();
        let Ok(meta) = from.symlink_metadata() else {
            self.notices
                .push(format!("copy: {shown} is not there, so nothing was copied"));
            return Ok(());
        };
        let parent = from.parent().unwrap_or(Path::new("/"));
        let top = std::fs::canonicalize(parent).with_context(|| format!("cannot resolve {}", parent.display()))?;
        let name = PathBuf::from(from.file_name().unwrap_or_default());
        if meta.is_file() {
            return self.add(base, to, &top, name);
        }
        if !meta.is_dir() {
            return Err(not_a_file(&shown.to_string()).into());
        }
        let folder = top.join(&name);
        for entry in walkdir::WalkDir::new(&folder).follow_links(false).sort_by_file_name() {
            let entry = entry.with_context(|| format!("cannot list {shown}"))?;
            let below = entry.path().strip_prefix(&folder).unwrap_or(entry.path()).to_owned();
            if entry.file_type().is_file() {
                let to = gate::tree::join(&to, below.as_os_str().as_bytes());
                self.add(base, to, &folder, below)?;
            } else if !entry.file_type().is_dir() {
                self.notices.push(format!(
                    "copy: no regular file, and not copied: {}",
                    entry.path().display()
                ));
            }
        }
        Ok(())
    }

    fn add(&mut self, base: &GitTree<'_>, to: Vec<u8>, top: &Path, below: PathBuf) -> Result<()> {
        if gate::tree::lookup(base, &to).map_err(GateError::from)?.is_some() {
            let shown = gate::render::path(&to);
            return Err(not_ignored(base, &shown, &to).into());
        }
        self.files.entry(to).or_insert_with(|| (top.to_owned(), below));
        Ok(())
    }
}

/// Files that git ignores in a checkout and that a rule names.
fn ignored_files(checkout: &Checkout, top: &Path, rule: &PathRule) -> Result<Vec<Vec<u8>>> {
    let mut call = checkout
        .git
        .at(top)
        .args(["ls-files", "--others", "--ignored", "--exclude-standard", "-z"]);
    if let Some(literal) = rule.literal() {
        let spec = [b":(top,literal)", literal].concat();
        call = call.arg("--").arg(OsString::from_vec(spec));
    }
    let listed = call.bytes()?;
    let paths = listed.split(|&b| b == 0).filter(|path| {
        // A repository in an ignored folder is listed as a folder.
        !path.is_empty() && !path.ends_with(b"/") && rule.allows(path)
    });
    Ok(paths.map(<[u8]>::to_vec).collect())
}

fn not_a_file(text: &str) -> Stop {
    Stop::new(Exit::Usage, format!("copy: `{text}` is a link, or no regular file"))
        .hint("name the file that it leads to; links are never followed")
}

fn not_ignored(base: &GitTree<'_>, text: &str, path: &[u8]) -> Stop {
    match gate::tree::lookup(base, path) {
        Ok(Some(_)) => Stop::new(
            Exit::Usage,
            format!("copy: `{text}` is in the base, so the worktree has it by itself"),
        )
        .hint("remove it from `copy`"),
        _ => Stop::new(
            Exit::Usage,
            format!("copy: `{text}` is not ignored by git, so it would end up in the candidate"),
        )
        .hint(format!(
            "ignore it (a line /{text} in .gitignore, committed), or remove it from `copy`"
        )),
    }
}

impl Job {
    /// Copies what was planned. The worktree is as git made it: nobody has run in it yet.
    pub(super) fn copy_in(&mut self, worktree: &Worktree, watch: &dyn Watch) -> Result<Option<Ending>> {
        if self.copies.files.is_empty() {
            return Ok(None);
        }
        let input: Vec<u8> = self
            .copies
            .files
            .keys()
            .flat_map(|path| [path, &b"\0"[..]].concat())
            .collect();
        let said = self
            .checkout
            .git
            .at(&worktree.path)
            .args(["check-ignore", "-z", "--stdin"])
            .stdin(input)
            .outcome()?;
        let ignored: Vec<&[u8]> = said.stdout.split(|&b| b == 0).collect();
        let seen: Vec<&[u8]> = self
            .copies
            .files
            .keys()
            .map(Vec::as_slice)
            .filter(|path| !ignored.contains(path))
            .collect();
        if !seen.is_empty() {
            let reason = format!(
                "copy: not ignored by the rules of the base, so it would end up in the candidate: {}",
                names(seen.into_iter())
            );
            self.notices.push(
                "copy: a rule that is not in the base ignores it in the checkout: commit the line in .gitignore, or \
                 remove the path from `copy`"
                    .to_owned(),
            );
            return Ok(Some(Ending::Failed(Exit::Usage, reason)));
        }
        for (to, (top, below)) in &self.copies.files {
            if signals::pending().is_some() {
                break;
            }
            let to = Path::new(OsStr::from_bytes(to));
            if let Err(error) = copy(top, below, &worktree.path, to) {
                let reason = format!("copy: {} could not be copied: {error}", top.join(below).display());
                return Ok(Some(Ending::Failed(Exit::Usage, reason)));
            }
        }
        let copied: Vec<&[u8]> = self.copies.files.keys().map(Vec::as_slice).collect();
        watch.step(&format!("copied in: {}", names(copied.into_iter())));
        Ok(None)
    }
}

/// Copies one regular file with its mode, making the folders above it.
fn copy(top: &Path, below: &Path, worktree: &Path, to: &Path) -> io::Result<()> {
    let mut from = files::open_below(top, below)?;
    let mode = from.metadata()?.permissions().mode() & 0o777;
    let mut folder = worktree.to_owned();
    for part in to.parent().into_iter().flat_map(Path::components) {
        folder.push(part);
        match std::fs::create_dir(&folder) {
            Err(error) if error.kind() != io::ErrorKind::AlreadyExists => return Err(error),
            _ => {}
        }
        if !folder.symlink_metadata()?.is_dir() {
            return Err(io::Error::new(
                io::ErrorKind::NotADirectory,
                format!("{} is no folder in the worktree", folder.display()),
            ));
        }
    }
    let target = worktree.join(to);
    let mut file = std::fs::OpenOptions::new()
        .write(true)
        .create_new(true)
        .mode(0o600)
        .open(&target)?;
    io::copy(&mut from, &mut file)?;
    file.set_permissions(std::fs::Permissions::from_mode(mode))
}

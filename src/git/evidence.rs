//! What an agent left beside its candidate, saved before anything is deleted: its own branches,
//! tags and stashes, and the files that only its own ignore rules hide.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsString;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Context, Result};
use git2::Repository;

use crate::files;
use crate::gate::{self, Kind, Tree};

use super::disarm::{Moved, Submodule, make_readable};
use super::program::{Call, Git};
use super::settings::{ContentSettings, quote_alternate};
use super::snapshot::Stage;
use super::tree::GitTree;

/// Most bytes of file content that are saved from behind the agent's ignore rules.
pub const HIDDEN_LIMIT: u64 = 32 * 1024 * 1024;
/// How long git may look at objects that an agent wrote.
pub(super) const BUNDLE_LIMIT: Duration = Duration::from_secs(8);

/// The patch from the base to the frozen tree, binary files included, renames never guessed.
pub fn patch(git: &Git, stage: &Stage, base: &str, tree: &str) -> Result<Vec<u8>> {
    patch_by(stage.git(git), base, tree)
}

/// The same for trees that are in the clone's own store, where there is no place to stage in.
///
/// # Errors
/// Git fails.
pub fn patch_of_stored(git: &Git, common: &Path, base: &str, tree: &str) -> Result<Vec<u8>> {
    patch_by(git.at(common).env("GIT_ATTR_SOURCE", base), base, tree)
}

fn patch_by(call: Call<'_>, base: &str, tree: &str) -> Result<Vec<u8>> {
    call.args([
        "diff-tree",
        "-r",
        "-p",
        "--binary",
        "--full-index",
        "--no-renames",
        "--no-ext-diff",
        "--no-textconv",
        "--no-color",
    ])
    .args([base, tree])
    .bytes()
}

/// The tree with other content at some paths, as an id in the stage's own store: nothing of it gets into the clone's.
pub fn with_content(git: &Git, stage: &Stage, tree: &str, files: &[(&[u8], Kind, &[u8])]) -> Result<String> {
    let index = stage.git_dir.join("index.blanked");
    let call = || stage.git(git).env("GIT_INDEX_FILE", &index);
    call().args(["read-tree", tree]).bytes()?;
    let mut lines = Vec::new();
    for (path, kind, content) in files {
        let written = call()
            .args(["hash-object", "-w", "--stdin"])
            .stdin(content.to_vec())
            .text()?;
        let mode = match kind {
            Kind::Executable => "100755",
            Kind::Symlink => "120000",
            _ => "100644",
        };
        lines.extend_from_slice(format!("{mode} {}\t", written.trim()).as_bytes());
        lines.extend_from_slice(path);
        lines.push(0);
    }
    call()
        .args(["update-index", "-z", "--index-info"])
        .stdin(lines)
        .bytes()?;
    Ok(call().arg("write-tree").text()?.trim().to_owned())
}

/// Files that git would have taken under the base's ignore rules and that the agent's own rules
/// hide, sorted.
pub fn hidden_files(git: &Git, stage: &Stage, base: &GitTree<'_>) -> Result<Vec<PathBuf>> {
    let listed = stage
        .git(git)
        .args([
            "ls-files",
            "--others",
            "--ignored",
            "--exclude-standard",
            "--directory",
            "-z",
        ])
        .bytes()?;
    let mut suspects: Vec<PathBuf> = Vec::new();
    for path in ignored_by_base(git, stage, base, &split(&listed))?.1 {
        let full = stage.worktree.join(std::ffi::OsStr::from_bytes(&path));
        if path.ends_with(b"/") {
            // What cannot be opened even so is counted where the files are archived.
            let _ = make_readable(&full);
            let inside = walkdir::WalkDir::new(&full)
                .follow_links(false)
                .into_iter()
                .filter_map(Result::ok);
            suspects.extend(
                inside
                    .filter(|entry| !entry.file_type().is_dir())
                    .map(walkdir::DirEntry::into_path),
            );
        } else {
            suspects.push(full);
        }
    }
    let relative: Vec<Vec<u8>> = suspects
        .iter()
        .filter_map(|path| path.strip_prefix(&stage.worktree).ok())
        .map(|path| path.as_os_str().as_bytes().to_vec())
        .filter(|path| !path.split(|&b| b == b'/').any(|part| part == b".git"))
        .collect();
    let (_, hidden) = ignored_by_base(git, stage, base, &relative)?;
    let mut hidden: Vec<PathBuf> = hidden
        .into_iter()
        .map(|path| PathBuf::from(OsString::from_vec(path)))
        .collect();
    hidden.sort();
    // A folder and what is in it may both have been listed.
    hidden.dedup();
    Ok(hidden)
}

/// Splits paths into those that the base's own ignore rules cover and those they do not.
pub(super) type Split = (Vec<Vec<u8>>, Vec<Vec<u8>>);

pub(super) fn ignored_by_base(git: &Git, stage: &Stage, base: &GitTree<'_>, paths: &[Vec<u8>]) -> Result<Split> {
    if paths.is_empty() {
        return Ok(Split::default());
    }
    // A folder with the base's ignore files and nothing else: git applies its own rules there.
    let scratch = stage.git_dir.join("ignore-rules");
    files::remove_tree(&scratch)?;
    std::fs::create_dir_all(&scratch).with_context(|| format!("cannot make {}", scratch.display()))?;
    let mut folders: BTreeSet<Vec<u8>> = BTreeSet::from([Vec::new()]);
    for path in paths {
        folders.extend(
            path.iter()
                .enumerate()
                .filter(|(_, b)| **b == b'/')
                .map(|(at, _)| path[..at].to_vec()),
        );
        if path.ends_with(b"/") {
            std::fs::create_dir_all(scratch.join(std::ffi::OsStr::from_bytes(path)))
                .context("cannot lay out the base's ignore rules")?;
        }
    }
    for folder in folders {
        let at = gate::tree::join(&folder, b".gitignore");
        if let Some(entry) = gate::tree::lookup(base, &at)?
            && matches!(entry.kind, Kind::File | Kind::Executable)
        {
            let to = scratch.join(std::ffi::OsStr::from_bytes(&at));
            if let Some(parent) = to.parent() {
                std::fs::create_dir_all(parent).context("cannot lay out the base's ignore rules")?;
            }
            // A folder that the agent put in its place: the base's rules are what is asked about.
            if to.is_dir() {
                files::remove_tree(&to)?;
            }
            files::replace(&to, &base.blob(&entry.id)?, 0o600)?;
        }
    }
    let input: Vec<u8> = paths
        .iter()
        .flat_map(|path| [b"./", path.as_slice(), b"\0"].concat())
        .collect();
    let outcome = stage
        .git(git)
        .args(["-C"])
        .arg(&scratch)
        .env("GIT_WORK_TREE", &scratch)
        .args(["check-ignore", "--no-index", "-z", "--stdin"])
        .stdin(input)
        .outcome()?;
    anyhow::ensure!(
        matches!(outcome.status, crate::process::Status::Exited(0 | 1)),
        "git check-ignore failed: {}",
        super::program::first_lines(&outcome.stderr)
    );
    let ignored: BTreeSet<Vec<u8>> = split(&outcome.stdout)
        .into_iter()
        .map(|path| path.strip_prefix(b"./").unwrap_or(&path).to_vec())
        .collect();
    Ok(paths.iter().cloned().partition(|path| ignored.contains(path)))
}

/// Files in submodules that the agent filled and that are not as in the commit that the base names,
/// sorted. No tree of this repository can hold them.
pub fn submodule_files(
    git: &Git,
    settings: &ContentSettings,
    private: &Path,
    worktree: &Path,
    submodules: &[Submodule],
) -> Result<Vec<PathBuf>> {
    let mut found = Vec::new();
    for submodule in submodules {
        let known = files_of(git, settings, private, submodule)?;
        let top = worktree.join(std::ffi::OsStr::from_bytes(&submodule.path));
        let inside = walkdir::WalkDir::new(&top)
            .follow_links(false)
            .into_iter()
            .filter_entry(|entry| entry.file_name() != ".git")
            .filter_map(Result::ok);
        for entry in inside.filter(|entry| entry.file_type().is_file() || entry.file_type().is_symlink()) {
            let path = entry.path();
            let id = if entry.file_type().is_file() {
                git2::Oid::hash_file(git2::ObjectType::Blob, path).ok()
            } else {
                std::fs::read_link(path)
                    .ok()
                    .and_then(|to| git2::Oid::hash_object(git2::ObjectType::Blob, to.as_os_str().as_bytes()).ok())
            };
            let below = path.strip_prefix(&top).unwrap_or(path).as_os_str().as_bytes();
            if id.is_none() || known.get(below) != id.as_ref() {
                found.extend(path.strip_prefix(worktree).map(Path::to_owned));
            }
        }
    }
    found.sort();
    Ok(found)
}

/// Path and blob of every file of a submodule's commit; empty where it cannot be read. git reads it
/// in a git dir of ours and with a time limit: the objects are the agent's.
fn files_of(
    git: &Git,
    settings: &ContentSettings,
    private: &Path,
    submodule: &Submodule,
) -> Result<BTreeMap<Vec<u8>, git2::Oid>> {
    let Some(objects) = &submodule.objects else {
        return Ok(BTreeMap::new());
    };
    let dir = private.join("submodule");
    files::remove_tree(&dir)?;
    settings.write_into(&dir, &[])?;
    let alternates = [&quote_alternate(objects)[..], b"\n"].concat();
    files::replace(&dir.join("objects/info/alternates"), &alternates, 0o600)?;
    files::replace(&dir.join("HEAD"), b"ref: refs/heads/none\n", 0o600)?;
    let listed = git
        .at(&dir)
        .sealed()
        .env("GIT_DIR", &dir)
        .args(["ls-tree", "-r", "-z", &submodule.base])
        .limit(BUNDLE_LIMIT)
        .bytes()
        .unwrap_or_default();
    let entry = |line: &Vec<u8>| {
        let tab = line.iter().position(|&b| b == b'\t')?;
        let id = line.get(..tab)?.rsplit(|&b| b == b' ').next()?;
        let id = git2::Oid::from_str(std::str::from_utf8(id).ok()?).ok()?;
        Some((line[tab + 1..].to_vec(), id))
    };
    Ok(split(&listed).iter().filter_map(entry).collect())
}

fn split(listed: &[u8]) -> Vec<Vec<u8>> {
    listed
        .split(|&b| b == 0)
        .filter(|path| !path.is_empty())
        .map(<[u8]>::to_vec)
        .collect()
}

/// Whether a git dir of an agent's is such that reading its ref files does not show all it holds.
/// Nothing but names and kinds is looked at.
pub fn is_unusual(git_dir: &Path) -> bool {
    if make_readable(git_dir).is_err() {
        return true;
    }
    let is = |name: &str, wanted: fn(&std::fs::Metadata) -> bool| {
        git_dir.join(name).symlink_metadata().is_ok_and(|meta| wanted(&meta))
    };
    let worktrees = std::fs::read_dir(git_dir.join("worktrees")).is_ok_and(|mut entries| entries.next().is_some());
    worktrees
        || git_dir.join("reftable").symlink_metadata().is_ok()
        || !is("HEAD", std::fs::Metadata::is_file)
        || !is("refs", std::fs::Metadata::is_dir)
        || !is("objects", std::fs::Metadata::is_dir)
}

/// Every file and link below a folder, relative to `top`.
pub fn files_below(folder: &Path, top: &Path) -> Vec<PathBuf> {
    // What cannot be made readable is missing from the archive, which says how much.
    let _ = make_readable(folder);
    walkdir::WalkDir::new(folder)
        .follow_links(false)
        .into_iter()
        .filter_map(Result::ok)
        .filter(|entry| !entry.file_type().is_dir())
        .filter_map(|entry| entry.path().strip_prefix(top).ok().map(Path::to_owned))
        .collect()
}

/// Every file and link of what was set aside: where it lies, and its path below the worktree.
pub fn files_of_moved(moved: &[Moved]) -> Vec<(PathBuf, PathBuf)> {
    let mut found = Vec::new();
    for Moved { path, to } in moved {
        let path = Path::new(std::ffi::OsStr::from_bytes(path));
        for below in files_below(to, to) {
            // A file has nothing below itself, and a name with a slash at its end is a folder's.
            let at = |top: &Path| {
                if below.as_os_str().is_empty() {
                    top.to_owned()
                } else {
                    top.join(&below)
                }
            };
            found.push((at(to), at(path)));
        }
    }
    found
}

/// A tar archive of files below the worktree, up to [`HIDDEN_LIMIT`] bytes; the second value says
/// how many files did not fit. Links are archived as links, other kinds are passed over.
pub fn archive(worktree: &Path, paths: &[PathBuf]) -> Result<(Vec<u8>, usize)> {
    archive_as(paths.iter().map(|path| (worktree.join(path), path.clone())))
}

/// The same of files that lie elsewhere than their names in the archive say: full paths and names.
pub fn archive_as(files: impl Iterator<Item = (PathBuf, PathBuf)>) -> Result<(Vec<u8>, usize)> {
    let mut builder = tar::Builder::new(Vec::new());
    builder.follow_symlinks(false);
    let (mut total, mut left_out) = (0, 0);
    for (full, path) in files {
        let Ok(meta) = full.symlink_metadata() else { continue };
        let fits = meta.is_symlink() || (meta.is_file() && total + meta.len() <= HIDDEN_LIMIT);
        if !fits || builder.append_path_with_name(&full, &path).is_err() {
            left_out += 1;
            continue;
        }
        total += meta.len();
    }
    Ok((builder.into_inner().context("cannot finish the archive")?, left_out))
}

/// The base's tree, for [`hidden_files`].
pub fn base_tree<'a>(repo: &'a Repository, base: git2::Oid) -> Result<GitTree<'a>> {
    Ok(GitTree::of_commit(repo, base)?)
}

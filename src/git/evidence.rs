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

use super::disarm::{Submodule, make_readable};
use super::program::Git;
use super::settings::{ContentSettings, quote_alternate};
use super::shadow::Shadow;
use super::snapshot::Stage;
use super::tree::GitTree;

/// Most bytes of file content that are saved from behind the agent's ignore rules.
pub const HIDDEN_LIMIT: u64 = 32 * 1024 * 1024;
/// Most bytes of a ref file or reflog that are read: an agent wrote it.
const REF_LIMIT: u64 = 8 * 1024 * 1024;
const BUNDLE_LIMIT: Duration = Duration::from_secs(8);

/// The patch from the base to the frozen tree, binary files included, renames never guessed.
pub fn patch(git: &Git, stage: &Stage, base: &str, tree: &str) -> Result<Vec<u8>> {
    stage
        .git(git)
        .args([
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
type Split = (Vec<Vec<u8>>, Vec<Vec<u8>>);

fn ignored_by_base(git: &Git, stage: &Stage, base: &GitTree<'_>, paths: &[Vec<u8>]) -> Result<Split> {
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

/// A tar archive of files below the worktree, up to [`HIDDEN_LIMIT`] bytes; the second value says
/// how many files did not fit. Links are archived as links, other kinds are passed over.
pub fn archive(worktree: &Path, paths: &[PathBuf]) -> Result<(Vec<u8>, usize)> {
    let mut builder = tar::Builder::new(Vec::new());
    builder.follow_symlinks(false);
    let (mut total, mut left_out) = (0, 0);
    for path in paths {
        let full = worktree.join(path);
        let Ok(meta) = full.symlink_metadata() else { continue };
        let fits = meta.is_symlink() || (meta.is_file() && total + meta.len() <= HIDDEN_LIMIT);
        if !fits || builder.append_path_with_name(&full, path).is_err() {
            left_out += 1;
            continue;
        }
        total += meta.len();
    }
    Ok((builder.into_inner().context("cannot finish the archive")?, left_out))
}

/// Refs that the agent made or moved in its private git dir, with their ids: branches, tags,
/// stash entries (`refs/stash`, `refs/agent-stash/N`), and where its HEAD stands.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AgentRefs {
    /// Ref name to commit id.
    pub refs: BTreeMap<String, String>,
    /// The commit its HEAD names, if it is not the base.
    pub head: Option<String>,
}

/// Reads them by looking at files alone: nothing is opened that could block or run something.
pub fn agent_refs(shadow: &Shadow, base: &str) -> AgentRefs {
    let read = |path: &Path| {
        files::read_small(path, REF_LIMIT)
            .ok()
            .map(|bytes| String::from_utf8_lossy(&bytes).into_owned())
    };
    let mut all: BTreeMap<String, String> = BTreeMap::new();
    for line in read(&shadow.git_dir.join("packed-refs")).unwrap_or_default().lines() {
        if let Some((id, name)) = line.split_once(' ')
            && is_id(id)
        {
            all.insert(name.to_owned(), id.to_owned());
        }
    }
    let refs = shadow.git_dir.join("refs");
    for entry in walkdir::WalkDir::new(&refs)
        .follow_links(false)
        .max_depth(64)
        .into_iter()
        .filter_map(Result::ok)
    {
        let Ok(name) = entry.path().strip_prefix(&shadow.git_dir) else {
            continue;
        };
        let content = entry
            .file_type()
            .is_file()
            .then(|| read(entry.path()))
            .flatten()
            .unwrap_or_default();
        if is_id(content.trim()) {
            all.insert(name.to_string_lossy().into_owned(), content.trim().to_owned());
        }
    }
    let given: BTreeMap<&str, &str> = shadow
        .given
        .iter()
        .map(|(name, id)| (name.as_str(), id.as_str()))
        .collect();
    let mut found = AgentRefs::default();
    for (name, id) in &all {
        if given.get(name.as_str()) != Some(&id.as_str()) && git2::Reference::is_valid_name(name) {
            found.refs.insert(name.clone(), id.clone());
        }
    }
    // Older stash entries live in the reflog alone; the newest is the ref.
    let reflog = read(&shadow.git_dir.join("logs/refs/stash")).unwrap_or_default();
    let stashes: Vec<&str> = reflog
        .lines()
        .filter_map(|line| line.split(' ').nth(1))
        .filter(|id| is_id(id))
        .collect();
    for (number, id) in stashes.iter().rev().enumerate().skip(1) {
        found
            .refs
            .insert(format!("refs/agent-stash/{number}"), (*id).to_owned());
    }
    let head = read(&shadow.git_dir.join("HEAD")).unwrap_or_default();
    let head = head.trim();
    let id = head
        .strip_prefix("ref: ")
        .map_or_else(|| Some(head.to_owned()), |name| all.get(name.trim()).cloned());
    found.head = id.filter(|id| is_id(id) && id != base);
    found
}

fn is_id(text: &str) -> bool {
    text.len() == 40 && text.bytes().all(|b| b.is_ascii_hexdigit())
}

/// Those of the ids that name a commit or tag: a ref file may hold anything, and one that names
/// nothing would spoil the whole bundle.
fn commits<'a>(git: &Git, dir: &Path, ids: impl Iterator<Item = &'a String>) -> Result<BTreeSet<String>> {
    let asked: String = ids.map(|id| format!("{id}\n")).collect();
    let answered = git
        .at(dir)
        .sealed()
        .env("GIT_DIR", dir)
        .args(["cat-file", "--batch-check=%(objectname) %(objecttype)"])
        .stdin(asked)
        .limit(BUNDLE_LIMIT)
        .bytes()?;
    let answered = String::from_utf8_lossy(&answered).into_owned();
    let id = |line: &str| {
        let (id, kind) = line.split_once(' ')?;
        matches!(kind, "commit" | "tag").then(|| id.to_owned())
    };
    Ok(answered.lines().filter_map(id).collect())
}

/// Writes a bundle of the agent's refs. `None` where they hold no commit beyond the base; an
/// error where its objects cannot be read in time.
pub fn bundle(
    git: &Git,
    settings: &ContentSettings,
    shadow: &Shadow,
    private: &Path,
    refs: &AgentRefs,
    base: &str,
) -> Result<Option<Vec<u8>>> {
    let mut named = refs.refs.clone();
    if let Some(head) = &refs.head {
        named.insert("refs/agent-head".into(), head.clone());
    }
    let dir = private.join("bundle");
    files::remove_tree(&dir)?;
    settings.write_into(&dir, &[])?;
    let alternates = files::read_small(&dir.join("objects/info/alternates"), REF_LIMIT)?;
    let theirs = quote_alternate(&shadow.git_dir.join("objects"));
    let alternates = [&alternates[..], &theirs, b"\n"].concat();
    files::replace(&dir.join("objects/info/alternates"), &alternates, 0o600)?;
    files::replace(&dir.join("HEAD"), format!("{base}\n").as_bytes(), 0o600)?;
    let readable = commits(git, &dir, named.values())?;
    named.retain(|_, id| readable.contains(id));
    if named.values().all(|id| id == base) {
        return Ok(None);
    }
    let packed: String = named.iter().map(|(name, id)| format!("{id} {name}\n")).collect();
    files::replace(&dir.join("packed-refs"), packed.as_bytes(), 0o600)?;
    let file = dir.join("out.bundle");
    let outcome = git
        .at(&dir)
        .sealed()
        .env("GIT_DIR", &dir)
        .args(["bundle", "create", "--quiet"])
        .arg(&file)
        .arg("--stdin")
        .stdin(
            named
                .keys()
                .map(|name| format!("{name}\n"))
                .chain([format!("^{base}\n")])
                .collect::<String>(),
        )
        .limit(BUNDLE_LIMIT)
        .outcome()?;
    if String::from_utf8_lossy(&outcome.stderr).contains("empty bundle") {
        return Ok(None);
    }
    anyhow::ensure!(
        outcome.success(),
        "git bundle failed: {}",
        super::program::first_lines(&outcome.stderr)
    );
    std::fs::read(&file)
        .map(Some)
        .with_context(|| format!("cannot read {}", file.display()))
}

/// The base's tree, for [`hidden_files`].
pub fn base_tree<'a>(repo: &'a Repository, base: git2::Oid) -> Result<GitTree<'a>> {
    Ok(GitTree::of_commit(repo, base)?)
}

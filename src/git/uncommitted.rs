//! Trees of what is not committed: the checkout as it is, or what is staged.
//!
//! Invariant: nothing of the clone is written. The index is a copy, and objects go to a temporary
//! folder that libgit2 reads beside the clone's own and that is deleted with the value.

use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use tempfile::TempDir;

use super::program::{Call, first_lines};
use super::repo::Checkout;
use crate::exit::{Exit, Stop};

/// What is to become a tree.
#[derive(Clone, Debug)]
pub enum What<'a> {
    /// Every file of the checkout that is not ignored.
    Worktree,
    /// The index: the checkout's own, or the one that git names to its hooks in `GIT_INDEX_FILE`
    /// (`git commit FILE` makes one for the occasion).
    Staged(Option<PathBuf>),
    /// HEAD with these files or folders (relative to the second) as they are in the checkout.
    Paths(&'a [PathBuf], &'a Path),
}

/// A tree whose objects may lie in a temporary folder. The folder goes with it.
pub struct Uncommitted {
    /// The tree.
    pub tree: git2::Oid,
    _folder: TempDir,
}

/// Makes the tree and lets the checkout's libgit2 see it.
///
/// # Errors
/// Exit 64 in a bare repository and for a path that is nowhere, 2 for an index with conflicts.
pub fn tree(checkout: &Checkout, what: &What<'_>) -> Result<Uncommitted> {
    let Some(top) = &checkout.workdir else {
        return Err(Stop::new(
            Exit::Usage,
            format!("{} is bare: it has no checkout to look at", checkout.common.display()),
        )
        .hint("agentgate check --range main..BRANCH judges commits")
        .into());
    };
    let folder = tempfile::Builder::new().prefix("agentgate-").tempdir()?;
    let objects = folder.path().join("objects");
    std::fs::create_dir(&objects)?;
    let index = folder.path().join("index");
    let call = |at: &Path| -> Call<'_> {
        checkout
            .git
            .at(at)
            .env("GIT_INDEX_FILE", &index)
            .env("GIT_OBJECT_DIRECTORY", &objects)
            .env(
                "GIT_ALTERNATE_OBJECT_DIRECTORIES",
                quoted(&checkout.common.join("objects")),
            )
            .config("core.fsmonitor", "false")
    };
    match what {
        Worktree => copy_index(checkout, None, &index)?,
        Staged(named) => copy_index(checkout, named.as_deref(), &index)?,
        Paths(..) => {
            call(top).args(["read-tree", "HEAD"]).bytes()?;
        }
    }
    use What::{Paths, Staged, Worktree};
    match what {
        Worktree => {
            show_all(top, &call)?;
            let outcome = call(top).args(["add", "--all", "--", "."]).outcome()?;
            if !outcome.success() || passed_over(&outcome.stderr) {
                return Err(unreadable(&outcome.stderr).into());
            }
        }
        Staged(_) => {}
        Paths(paths, cwd) => {
            for path in *paths {
                if let Some(nested) = repository_around(top, &cwd.join(path)) {
                    return Err(Stop::new(
                        Exit::Usage,
                        format!(
                            "{} lies in a repository of its own, {}",
                            path.display(),
                            nested.display()
                        ),
                    )
                    .hint(
                        "agentgate check --worktree judges the link to it; start agentgate inside of it for its files",
                    )
                    .into());
                }
                let outcome = call(cwd)
                    .args(["add", "--all", "--"])
                    .arg(path)
                    .env("GIT_LITERAL_PATHSPECS", "1")
                    .outcome()?;
                if passed_over(&outcome.stderr) {
                    return Err(unreadable(&outcome.stderr).into());
                }
                if !outcome.success() {
                    return Err(Stop::new(
                        Exit::Usage,
                        format!("{}: {}", path.display(), first_lines(&outcome.stderr)),
                    )
                    .hint("name files or folders that are in the checkout or in HEAD and that git does not ignore")
                    .into());
                }
            }
        }
    }
    let outcome = call(top).arg("write-tree").outcome()?;
    if !outcome.success() {
        return Err(Stop::new(
            Exit::PolicyUnusable,
            format!("the index is no tree: {}", first_lines(&outcome.stderr)),
        )
        .hint("git status names what is unmerged; settle it first")
        .into());
    }
    let id = String::from_utf8(outcome.stdout).context("git write-tree answered with something that is no id")?;
    let tree = git2::Oid::from_str(id.trim()).context("git write-tree answered with something that is no id")?;
    let odb = checkout.repo.odb().context("the object store cannot be opened")?;
    odb.add_disk_alternate(&objects.to_string_lossy())
        .with_context(|| format!("objects in {} cannot be read", objects.display()))?;
    Ok(Uncommitted { tree, _folder: folder })
}

/// In the copy of the index no file stays hidden from git: one that is marked as unchanged, or as not checked out
/// although it is there.
fn show_all<'a>(top: &Path, call: &dyn Fn(&Path) -> Call<'a>) -> Result<()> {
    let listed = call(top).args(["ls-files", "-v", "-z"]).bytes()?;
    let (mut unchanged, mut skipped) = (Vec::new(), Vec::new());
    for line in listed.split(|&byte| byte == 0) {
        let [tag, b' ', path @ ..] = line else { continue };
        if tag.is_ascii_lowercase() {
            unchanged.extend_from_slice(&[path, b"\0"].concat());
        }
        let file = top.join(std::ffi::OsStr::from_bytes(path));
        if tag.eq_ignore_ascii_case(&b's') && file.symlink_metadata().is_ok() {
            skipped.extend_from_slice(&[path, b"\0"].concat());
        }
    }
    for (option, paths) in [("--no-assume-unchanged", unchanged), ("--no-skip-worktree", skipped)] {
        if !paths.is_empty() {
            let update = call(top).args(["update-index", option, "-z", "--stdin"]);
            update.stdin(paths).bytes()?;
        }
    }
    Ok(())
}

/// Whether git passed over something that it could not read, which it says and does not fail for.
fn passed_over(stderr: &[u8]) -> bool {
    stderr.windows(24).any(|text| text == b"could not open directory")
}

fn unreadable(stderr: &[u8]) -> Stop {
    Stop::new(
        Exit::PolicyUnusable,
        format!("the checkout cannot be read whole: {}", first_lines(stderr)),
    )
    .hint("make what it names readable, take it away, or add it to .gitignore; then check again")
}

/// The repository below `top` in which this path lies, or which it is.
fn repository_around(top: &Path, path: &Path) -> Option<PathBuf> {
    let path = path.canonicalize().ok()?;
    let mut folders = path
        .ancestors()
        .take_while(|folder| *folder != top && folder.starts_with(top));
    folders
        .find(|folder| folder.join(".git").symlink_metadata().is_ok())
        .map(Path::to_owned)
}

/// The index with its stat data, so that git reads changed files only.
fn copy_index(checkout: &Checkout, named: Option<&Path>, to: &Path) -> Result<()> {
    let from = match named {
        // git starts its hooks at the top of the checkout.
        Some(named) => checkout.workdir.as_deref().unwrap_or(Path::new("")).join(named),
        None => checkout.git_dir.join("index"),
    };
    match std::fs::copy(&from, to) {
        Ok(_) => {
            // A split index names a file that lies beside it.
            for entry in std::fs::read_dir(&checkout.git_dir)?.flatten() {
                let name = entry.file_name();
                if name.as_bytes().starts_with(b"sharedindex.") {
                    let beside = to.with_file_name(&name);
                    std::fs::copy(entry.path(), &beside)
                        .with_context(|| format!("cannot copy {}", entry.path().display()))?;
                }
            }
            Ok(())
        }
        // Nothing was ever staged.
        Err(error) if error.kind() == std::io::ErrorKind::NotFound && named.is_none() => Ok(()),
        Err(error) if named.is_some() => Err(Stop::new(
            Exit::PolicyUnusable,
            format!("GIT_INDEX_FILE names {}, which cannot be read: {error}", from.display()),
        )
        .hint("unset it to judge the checkout's own index")
        .into()),
        Err(error) => Err(error).with_context(|| format!("cannot copy {}", from.display())),
    }
}

/// A path for a list that is separated by colons.
fn quoted(path: &Path) -> std::ffi::OsString {
    use std::os::unix::ffi::OsStringExt;
    let bytes = path.as_os_str().as_bytes();
    if !bytes.contains(&b':') && !bytes.starts_with(b"\"") {
        return path.as_os_str().to_owned();
    }
    let mut quoted = vec![b'"'];
    for &byte in bytes {
        if matches!(byte, b'"' | b'\\') {
            quoted.push(b'\\');
        }
        quoted.push(byte);
    }
    quoted.push(b'"');
    std::ffi::OsString::from_vec(quoted)
}

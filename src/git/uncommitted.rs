//! Trees of what is not committed: the checkout as it is, or what is staged.
//!
//! Invariant: nothing of the clone is written. The index is a copy, and objects go to a temporary
//! folder that libgit2 reads beside the clone's own and that is deleted with the value.

use std::collections::HashSet;
use std::ffi::OsString;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use tempfile::TempDir;

use super::program::{Call, first_lines};
use super::repo::Checkout;
use crate::exit::{Exit, Stop};
use crate::gate::{imports, render};

/// What is to become a tree.
#[derive(Clone, Debug)]
pub enum What<'a> {
    /// Every file of the checkout that is not ignored, but for this one (without links) while it is a regular file that
    /// git does not know: the task, which is no part of the change that it asks for.
    Worktree(Option<&'a Path>),
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
    /// The path (from the top) of the file that [`What::Worktree`] left out.
    pub spared: Option<PathBuf>,
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
        Worktree(_) => copy_index(checkout, None, &index)?,
        Staged(named) => copy_index(checkout, named.as_deref(), &index)?,
        Paths(..) => {
            call(top).args(["read-tree", "HEAD"]).bytes()?;
            leave_absent(checkout, top, &call)?;
        }
    }
    use What::{Paths, Staged, Worktree};
    let mut spared = None;
    match what {
        Worktree(task) => {
            show_all(top, &call)?;
            if let Some(task) = task {
                spared = untracked(top, task, &call)?;
            }
            // What lies outside of a sparse checkout's cone is there all the same.
            let add = call(top).args(["add", "--all", "--sparse", "--", "."]);
            let add = match &spared {
                None => add,
                Some(path) => add.arg(OsString::from_vec(
                    [b":(top,exclude,literal)", path.as_os_str().as_bytes()].concat(),
                )),
            };
            let outcome = add.outcome()?;
            if !outcome.success() || passed_over(&outcome.stderr) {
                return Err(unreadable(&outcome.stderr).into());
            }
        }
        Staged(_) => {}
        Paths(paths, cwd) => {
            for path in *paths {
                // git passes over it without a word, and nothing in it is ever part of a commit.
                let is_git = |part: &std::ffi::OsStr| part.eq_ignore_ascii_case(".git");
                let real = cwd.join(path).canonicalize().unwrap_or_default();
                let below = real.strip_prefix(top).unwrap_or(path);
                if below.iter().any(is_git) {
                    let shown = render::path(path.as_os_str().as_bytes());
                    return Err(Stop::new(
                        Exit::Usage,
                        format!("{shown} lies in a git dir, and no commit holds it"),
                    )
                    .hint("name files of the checkout")
                    .into());
                }
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
                    .args(["add", "--all", "--sparse", "--"])
                    .arg(path)
                    .env("GIT_LITERAL_PATHSPECS", "1")
                    .outcome()?;
                if passed_over(&outcome.stderr) {
                    return Err(unreadable(&outcome.stderr).into());
                }
                if !outcome.success() {
                    let shown = render::path(path.as_os_str().as_bytes());
                    let listed = call(cwd).args(["ls-files", "-z", "--full-name", "--"]).arg(path);
                    let listed = listed.env("GIT_LITERAL_PATHSPECS", "1").outcome()?;
                    if listed.success() && !listed.stdout.is_empty() {
                        return Err(Stop::new(
                            Exit::Usage,
                            format!("{shown} is in HEAD and not in this sparse checkout, so that nothing of it can be changed here"),
                        )
                        .hint(format!("git sparse-checkout add {}   # to have it here", folder_of(&listed.stdout, path)))
                        .hint("agentgate explain PATH says which rules hold there, and agentgate check judges commits")
                        .into());
                    }
                    return Err(Stop::new(
                        Exit::Usage,
                        format!("{shown}: {}", first_lines(&outcome.stderr)),
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
    Ok(Uncommitted {
        tree,
        spared,
        _folder: folder,
    })
}

/// Marks in the copy what the checkout's own index has as not checked out and what is not there: its absence is no
/// deletion. (A tree that is read into an index brings no such marks.)
fn leave_absent<'a>(checkout: &Checkout, top: &Path, call: &dyn Fn(&Path) -> Call<'a>) -> Result<()> {
    let own = checkout.git.at(top).args(["ls-files", "-t", "-z"]).bytes()?;
    let mut absent: Vec<&[u8]> = Vec::new();
    for line in own.split(|&byte| byte == 0) {
        if let [b'S', b' ', path @ ..] = line
            && top.join(std::ffi::OsStr::from_bytes(path)).symlink_metadata().is_err()
        {
            absent.push(path);
        }
    }
    if absent.is_empty() {
        return Ok(());
    }
    let here = call(top).args(["ls-files", "-z"]).bytes()?;
    let here: HashSet<&[u8]> = here.split(|&byte| byte == 0).collect();
    absent.retain(|path| here.contains(path));
    let paths: Vec<u8> = absent
        .iter()
        .flat_map(|path| [path, b"\0".as_slice()].concat())
        .collect();
    let update = call(top).args(["update-index", "--skip-worktree", "-z", "--stdin"]);
    update.stdin(paths).bytes()?;
    Ok(())
}

/// The path from the top of a regular file that is in neither the index nor HEAD, and no source.
fn untracked<'a>(top: &Path, file: &Path, call: &dyn Fn(&Path) -> Call<'a>) -> Result<Option<PathBuf>> {
    let Some(folder) = file.parent().and_then(|folder| folder.canonicalize().ok()) else {
        return Ok(None);
    };
    let real = folder.join(file.file_name().unwrap_or_default());
    let Ok(path) = real.strip_prefix(top) else {
        return Ok(None);
    };
    // Anything is a task if it is text; a file that rules would read is a change, whatever it was called.
    let is_source = imports::language(path.as_os_str().as_bytes()).is_some();
    let is_file = real.symlink_metadata().is_ok_and(|found| found.is_file());
    if is_source || !is_file || repository_around(top, &real).is_some() {
        return Ok(None);
    }
    let literal = |call: Call<'a>| call.arg("--").arg(path).env("GIT_LITERAL_PATHSPECS", "1");
    let indexed = literal(call(top).args(["ls-files", "-z"])).bytes()?;
    let committed = literal(call(top).args(["ls-tree", "-z", "HEAD"])).bytes()?;
    Ok((indexed.is_empty() && committed.is_empty()).then(|| path.to_owned()))
}

/// The folder that holds the first of these files (from the top), or which was named; quoted for a shell.
fn folder_of(listed: &[u8], named: &Path) -> String {
    let first = listed.split(|&byte| byte == 0).next().unwrap_or_default();
    let first = Path::new(std::ffi::OsStr::from_bytes(first));
    let is_below = |folder: &&Path| folder.file_name() == named.file_name();
    let folder = match first.ancestors().skip(1).find(is_below) {
        Some(folder) => folder,
        None => first.parent().unwrap_or(first),
    };
    super::shell(folder)
}

/// In the copy of the index no file stays hidden from git: one that is marked as unchanged, or as not checked out
/// although it is there.
fn show_all<'a>(top: &Path, call: &dyn Fn(&Path) -> Call<'a>) -> Result<()> {
    Marked::of(top, call(top))?.take_off(|| call(top))
}

/// Files that an index hides from git although they are there.
#[derive(Debug)]
pub struct Marked {
    /// `assume-unchanged`; each name ends in NUL.
    unchanged: Vec<u8>,
    /// `skip-worktree`, likewise.
    skipped: Vec<u8>,
}

impl Marked {
    /// Those of the checkout at `top`, by the index that this call of git sees.
    pub fn of(top: &Path, call: Call<'_>) -> Result<Marked> {
        let listed = call.args(["ls-files", "-v", "-z"]).bytes()?;
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
        Ok(Marked { unchanged, skipped })
    }

    /// There is none.
    pub fn is_empty(&self) -> bool {
        self.unchanged.is_empty() && self.skipped.is_empty()
    }

    /// Those of them that are so, by the option of `git update-index` that takes their mark off.
    pub fn among(&self, is_so: impl Fn(&[u8]) -> bool) -> Vec<(&'static str, Vec<Vec<u8>>)> {
        let kinds = [
            ("--no-assume-unchanged", &self.unchanged),
            ("--no-skip-worktree", &self.skipped),
        ];
        let found = kinds.map(|(option, paths)| {
            let paths = paths.split(|&byte| byte == 0).filter(|path| !path.is_empty());
            (option, paths.filter(|path| is_so(path)).map(<[u8]>::to_vec).collect())
        });
        found
            .into_iter()
            .filter(|(_, paths): &(_, Vec<_>)| !paths.is_empty())
            .collect()
    }

    /// Takes the marks off, in the index that these calls of git see.
    pub fn take_off<'a>(&self, call: impl Fn() -> Call<'a>) -> Result<()> {
        for (option, paths) in [
            ("--no-assume-unchanged", &self.unchanged),
            ("--no-skip-worktree", &self.skipped),
        ] {
            if !paths.is_empty() {
                let update = call().args(["update-index", option, "-z", "--stdin"]);
                update.stdin(paths.clone()).bytes()?;
            }
        }
        Ok(())
    }
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

/// The index with its stat data, so that git reads changed files only, and with its time: see
/// [`super::shadow::copy_index`].
fn copy_index(checkout: &Checkout, named: Option<&Path>, to: &Path) -> Result<()> {
    let from = match named {
        // git starts its hooks at the top of the checkout.
        Some(named) => checkout.workdir.as_deref().unwrap_or(Path::new("")).join(named),
        None => checkout.git_dir.join("index"),
    };
    match std::fs::copy(&from, to) {
        Ok(_) => {
            let time = std::fs::metadata(&from).and_then(|meta| meta.modified());
            time.and_then(|time| std::fs::File::open(to)?.set_modified(time))
                .with_context(|| format!("cannot set the time of {}", to.display()))?;
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

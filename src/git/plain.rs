//! Clones about which git need not be asked first.
//!
//! git is asked about a repository before libgit2 opens it, since it knows `safe.directory`, where discovery ends, and
//! which extensions it supports. Most clones leave nothing to ask: the folder, its `.git` and the configuration in it
//! belong to the person who asks, which git trusts whatever `safe.directory` says, and no extension is named.
//!
//! Invariant: a repository is only opened here if git would say yes to it. In any doubt the answer is `None`, and git
//! is asked, so that a refusal is always git's own.

use std::os::unix::fs::MetadataExt;
use std::path::Path;

use git2::{Config, Repository, RepositoryOpenFlags};

/// The repository around a folder, if it is a plain one.
pub(super) fn open(cwd: &Path) -> Option<Repository> {
    // libgit2's own look at the owner is still on, and it does not leave the file system, as git does not.
    let no_ceilings = std::iter::empty::<&std::ffi::OsStr>();
    let repo = Repository::open_ext(cwd, RepositoryOpenFlags::empty(), no_ceilings).ok()?;
    let top = repo.workdir()?.canonicalize().ok()?;
    let git_dir = top.join(".git");
    let me = rustix::process::geteuid().as_raw();
    let is_mine = |path: &Path| path.symlink_metadata().is_ok_and(|found| found.uid() == me);
    // No linked worktree, no submodule, no `--separate-git-dir`; and not started inside the git dir.
    let is_whole = git_dir.symlink_metadata().is_ok_and(|found| found.is_dir())
        && repo.path().canonicalize().ok()? == git_dir
        && repo.commondir().canonicalize().ok()? == git_dir;
    let here = cwd.canonicalize().ok()?;
    let is_below = here.starts_with(&top) && !here.starts_with(&git_dir);
    let config = git_dir.join("config");
    let is_trusted = [top.as_path(), &git_dir, &config].into_iter().all(is_mine);
    // A HEAD that says nothing makes no repository of a folder for git.
    (is_whole && is_below && is_trusted && is_simple(&config) && repo.find_reference("HEAD").is_ok()).then_some(repo)
}

/// Whether the configuration of a git dir asks nothing of git that an old or a new one may not know.
fn is_simple(config: &Path) -> bool {
    let Ok(config) = Config::open(config) else { return false };
    let Ok(mut entries) = config.entries(None) else {
        return false;
    };
    while let Some(entry) = entries.next() {
        let Ok(entry) = entry else { return false };
        let (name, value) = (entry.name_bytes(), entry.value_bytes());
        let is_plain = match name {
            b"core.repositoryformatversion" => value == b"0",
            b"core.bare" => value == b"false",
            b"core.worktree" => false,
            name => !name.starts_with(b"extensions.") && !name.starts_with(b"include"),
        };
        if !is_plain {
            return false;
        }
    }
    true
}

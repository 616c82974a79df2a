//! Where a clone's jobs live.

use std::path::{Path, PathBuf};

use anyhow::Result;

use crate::exit::{Exit, Stop};
use crate::job::log::sha256_hex;

/// The folders of one job.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Places {
    /// `<root>`
    pub root: PathBuf,
    /// `<root>/<job id>`
    pub worktree: PathBuf,
    /// `<root>/.jobs/<job id>`
    pub private: PathBuf,
    /// `<root>/.trash`
    pub trash: PathBuf,
}

impl Places {
    /// The folders of the job with this id.
    pub fn of(root: &Path, id: &str) -> Places {
        Places {
            root: root.to_owned(),
            worktree: root.join(id),
            private: root.join(".jobs").join(id),
            trash: root.join(".trash"),
        }
    }

    /// Those beside a clone with this common git dir, where jobs are made unless something else was chosen.
    pub fn beside(common: &Path, id: &str) -> Option<Places> {
        let clone = match common.file_name() {
            Some(name) if name == ".git" => common.parent()?,
            _ => common,
        };
        let root = clone.parent()?.join(format!("{}-jobs", clone_name(clone).ok()?));
        Some(Places::of(&root, id))
    }

    /// The folders that the agent may write.
    pub fn writable(&self) -> Vec<PathBuf> {
        let own = ["tmp", "home", "outbox", "git"].map(|name| self.private.join(name));
        std::iter::once(self.worktree.clone()).chain(own).collect()
    }

    /// The agent's copy of its task; its path is what all processes of the job are found by.
    pub fn mark(&self) -> PathBuf {
        self.private.join("task/TASK.md")
    }

    /// Where roles put their answers.
    pub fn outbox(&self) -> PathBuf {
        self.private.join("outbox")
    }

    /// The file that the agent sees in the place of the worktree's `.git`, where that can be done.
    pub fn git_pointer(&self) -> PathBuf {
        self.private.join("git.pointer")
    }
}

/// The git dir in which a path lies or which it is, whatever repository that belongs to; the path's folder must be
/// without links. git takes a folder for one by what is in it, and so does this.
pub fn git_dir_around(path: &Path) -> Option<&Path> {
    path.ancestors().find(|folder| {
        let is_named = folder.file_name().is_some_and(|name| name.eq_ignore_ascii_case(".git"));
        let has = |name: &str| folder.join(name).symlink_metadata().is_ok();
        // The second is a linked worktree's own, below `.git/worktrees` or wherever the clone keeps it.
        is_named || has("HEAD") && (has("objects") && has("refs") || has("commondir"))
    })
}

/// The folder in which a clone's worktrees lie: `<parent>/<clone name>-jobs`, or below
/// `state_home` where the parent lies in another work tree or cannot be written. Never inside a
/// clone: a worktree there makes it dirty, and tools find the parent's configuration.
///
/// # Errors
/// A path that is not UTF-8 is refused: the event log could not name it.
pub fn jobs_root(clone: &Path, state_home: Option<&Path>) -> Result<PathBuf> {
    let name = clone_name(clone)?;
    let beside = clone
        .parent()
        .map(|parent| (parent, parent.join(format!("{name}-jobs"))));
    if let Some((parent, beside)) = beside
        && !in_work_tree(parent)
        && writable(if beside.exists() { &beside } else { parent })
    {
        return Ok(beside);
    }
    let Some(state) = state_home else {
        return Err(Stop::new(
            Exit::Usage,
            format!("there is no writable folder beside {} for worktrees", clone.display()),
        )
        .hint("set HOME or XDG_STATE_HOME to a folder that can be written")
        .into());
    };
    Ok(state.join("agentgate").join(unique_name(clone)?))
}

/// The same below a folder that the person chose for the worktrees of all clones: `<root>/<clone>-<hash>`.
/// `from` says where they chose it.
///
/// # Errors
/// Exit 64 for a folder inside a repository, or one that cannot be made or written.
pub fn chosen_root(clone: &Path, root: &Path, from: &str) -> Result<PathBuf> {
    let refuse = |what: &str, hint: &str| {
        let message = format!("worktree_root {} {what}", root.display());
        Err(Stop::new(Exit::Usage, message)
            .hint(format!("{hint}; it stands in {from}"))
            .into())
    };
    let existing = root
        .ancestors()
        .find(|folder| folder.exists())
        .unwrap_or(Path::new("/"));
    if !existing.is_dir() {
        return refuse("is not a folder", "name a folder");
    }
    // What it leads to counts, not how it is written.
    let real = existing.canonicalize()?;
    if let Ok(git_dir) = git2::Repository::discover_path(&real, std::iter::empty::<&Path>()) {
        return refuse(
            &format!("lies in the repository of {}", git_dir.display()),
            "worktrees inside a clone make it dirty; name a folder outside of every repository",
        );
    }
    if !writable(&real) {
        return refuse("cannot be written", "name a folder that can");
    }
    let rest = root.strip_prefix(existing).unwrap_or(Path::new(""));
    Ok(real.join(rest).join(unique_name(clone)?))
}

/// The clone's name and a few letters of its path's hash.
fn unique_name(clone: &Path) -> Result<String> {
    let hash = sha256_hex(&[clone.as_os_str().as_encoded_bytes()]);
    Ok(format!("{}-{}", clone_name(clone)?, &hash[..8]))
}

/// The clone's folder, without `.git` at its end.
fn clone_name(clone: &Path) -> Result<&str> {
    if clone.to_str().is_none() {
        return Err(Stop::new(
            Exit::Usage,
            format!("the clone's path is not UTF-8: {}", clone.display()),
        )
        .hint("move the clone to a path that is")
        .into());
    }
    let name = clone.file_name().and_then(|name| name.to_str()).unwrap_or("clone");
    Ok(name
        .strip_suffix(".git")
        .filter(|rest| !rest.is_empty())
        .unwrap_or(name))
}

fn in_work_tree(folder: &Path) -> bool {
    git2::Repository::discover(folder).is_ok_and(|repo| !repo.is_bare())
}

fn writable(folder: &Path) -> bool {
    rustix::fs::access(folder, rustix::fs::Access::WRITE_OK | rustix::fs::Access::EXEC_OK).is_ok()
}

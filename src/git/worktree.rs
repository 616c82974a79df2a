//! Worktrees: added detached and locked, kept on a branch, removed by what the record says.

use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Context, Result, bail};

use crate::confine::Plan;
use crate::files;

use super::program::{Git, first_lines};
use super::repo::Checkout;
use super::shell;

/// Marks an admin folder as ours, with the job id.
const MARK: &str = "agentgate-job";

/// A worktree that agentgate made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Worktree {
    /// Its top folder.
    pub path: PathBuf,
    /// Its admin folder below the clone's git dir; read back, never derived.
    pub admin: PathBuf,
}

/// What is in the way of a new job's worktree and branch: a sentence, and what to type.
pub fn in_the_way(checkout: &Checkout, path: &Path, id: &str) -> Result<Option<(String, String)>> {
    if path.symlink_metadata().is_ok() {
        return Ok(Some((
            format!("{} exists already", path.display()),
            format!(
                "choose another --job-id, or move it away: mv {} {}.old",
                shell(path),
                shell(path)
            ),
        )));
    }
    for reference in checkout.repo.references().context("cannot list the clone's refs")? {
        let reference = reference.context("cannot read one of the clone's refs")?;
        let name = String::from_utf8_lossy(reference.name_bytes()).into_owned();
        let folded = name.to_lowercase();
        let branch = format!("refs/heads/agent/{id}").to_lowercase();
        if folded == "refs/heads/agent" {
            return Ok(Some((
                "a branch named agent exists: git cannot have agent/<job id> beside it".into(),
                "git branch -m agent agent-old".into(),
            )));
        }
        if folded == branch || folded.starts_with(&format!("{branch}/")) {
            let short = name.trim_start_matches("refs/heads/").to_owned();
            return Ok(Some((
                format!("the branch {short} exists already"),
                format!(
                    "choose another --job-id, or rename it: git branch -m {} {}",
                    shell_words::quote(&short),
                    shell_words::quote(&format!("{short}-old"))
                ),
            )));
        }
    }
    Ok(None)
}

impl Worktree {
    /// Adds a worktree at the base, detached and locked. No hook of the clone runs.
    pub fn add(git: &Git, common: &Path, path: &Path, base: &str, id: &str, content: Content) -> Result<Worktree> {
        if let Some(parent) = path.parent() {
            std::fs::create_dir_all(parent).with_context(|| format!("cannot make {}", parent.display()))?;
        }
        let mut call = git
            .at(common)
            .config("core.splitIndex", "false")
            .config("core.untrackedCache", "false")
            .config("index.sparse", "false")
            .config("checkout.guess", "false")
            .config("worktree.useRelativePaths", "false")
            .args(["worktree", "add", "--quiet", "--detach", "--lock", "--reason"])
            .arg(lock_reason(id));
        if content == Content::None {
            call = call.arg("--no-checkout");
        }
        let outcome = call
            .arg(path)
            .arg(base)
            .finish_after_signal(Duration::ZERO)
            .outcome()
            .inspect_err(|_| discard_half_made(git, common, path))?;
        if !outcome.success() {
            discard_half_made(git, common, path);
            bail!("git worktree add failed: {}", first_lines(&outcome.stderr));
        }
        let admin = admin_of(path)?;
        files::replace(&admin.join(MARK), id.as_bytes(), 0o600)?;
        Ok(Worktree {
            path: path.to_owned(),
            admin,
        })
    }

    /// Points `.git` back to the clone's admin folder, whatever the agent left there.
    pub fn restore_git_file(&self) -> Result<()> {
        point_git_file(&self.path, &self.admin)
    }

    /// Whether `.git` is the file that [`point_git_file`] writes for this git dir.
    pub fn points_to(&self, git_dir: &Path) -> bool {
        files::read_small(&self.path.join(".git"), 8192).is_ok_and(|text| text == git_file(git_dir))
    }

    /// Whether the registration is the one that was made for this job: it names the recorded path,
    /// and our mark is there (or, where it was never finished, our lock). No other is ever removed.
    pub fn is_ours(&self, id: &str) -> bool {
        let marked = files::read_small(&self.admin.join(MARK), 256).is_ok_and(|mark| mark == id.as_bytes())
            || (!self.admin.join(MARK).exists()
                && files::read_small(&self.admin.join("locked"), 256)
                    .is_ok_and(|reason| reason.trim_ascii_end() == lock_reason(id).as_bytes()));
        let pointed = files::read_small(&self.admin.join("gitdir"), 8192)
            .is_ok_and(|text| text.trim_ascii_end() == self.path.join(".git").as_os_str().as_encoded_bytes());
        marked && pointed
    }

    /// What stands at the path now. The registration alone does not say: a person may have put
    /// something else there. `private` is the git dir that an agent at work is given.
    pub fn standing(&self, private: &Path) -> Standing {
        match self.path.symlink_metadata() {
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Standing::Gone,
            Ok(meta) if meta.is_dir() => {}
            _ => return Standing::Foreign,
        }
        let at = self.path.join(".git");
        let is_ours = match files::read_small(&at, 8192) {
            Ok(text) => pointer(&text).is_some_and(|target| {
                let target = self.path.join(target);
                [&self.admin, private].into_iter().any(|ours| same(&target, ours))
            }),
            // Killed before git wrote the pointer: then there is nothing else in it either.
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
                std::fs::read_dir(&self.path).is_ok_and(|mut entries| entries.next().is_none())
            }
            Err(_) => false,
        };
        if is_ours { Standing::Ours } else { Standing::Foreign }
    }

    /// Removes the registration alone. Half of one would be nobody's, so it is moved away first.
    pub fn forget(&self) -> Result<()> {
        let gone = self.admin.ancestors().nth(2).map(forgotten);
        let moved = gone.and_then(|gone| files::rename_to_trash(&self.admin, &gone).ok());
        // On another disk it cannot be moved.
        let there = moved.as_ref().unwrap_or(&self.admin);
        files::remove_tree(there).with_context(|| format!("cannot remove {}", there.display()))?;
        if let Some(gone) = moved.as_ref().and_then(|moved| moved.parent()) {
            let _ = std::fs::remove_dir(gone);
        }
        // git removes this folder itself when the last worktree goes.
        if let Some(worktrees) = self.admin.parent() {
            let _ = std::fs::remove_dir(worktrees);
        }
        Ok(())
    }

    /// Why a person locked it, unless the lock is our own.
    pub fn locked_by_person(&self, id: &str) -> Option<String> {
        let reason = files::read_small(&self.admin.join("locked"), 4096).ok()?;
        let reason = String::from_utf8_lossy(&reason).trim().to_owned();
        (reason != lock_reason(id)).then_some(reason)
    }

    /// Takes our lock off.
    pub fn unlock(&self) -> Result<()> {
        match std::fs::remove_file(self.admin.join("locked")) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
                Err(error).with_context(|| format!("cannot unlock {}", self.path.display()))
            }
            _ => Ok(()),
        }
    }

    /// Removes folder and registration. What is no longer ours is left alone, and said.
    pub fn remove(&self, id: &str, trash: &Path) -> Result<Option<String>> {
        if !self.admin.exists() && self.path.symlink_metadata().is_err() {
            return Ok(None);
        }
        if !self.is_ours(id) {
            return Ok(Some(format!(
                "{} is not the worktree that job {id} made any more; it is left alone",
                self.path.display()
            )));
        }
        let is_folder = self.path.symlink_metadata().is_ok_and(|meta| meta.is_dir());
        if is_folder {
            let moved = files::rename_to_trash(&self.path, trash)?;
            self.forget()?;
            // It is out of the way; what cannot be deleted (an immutable file, a mount) is told.
            if let Err(error) = files::remove_tree(&moved) {
                return Ok(Some(format!(
                    "the worktree could not be deleted: {error}; what is left of it: {}",
                    moved.display()
                )));
            }
        } else {
            self.forget()?;
        }
        Ok(None)
    }
}

/// Every registration in a clone that was made for this job, wherever its worktree stands now.
pub fn of_job(common: &Path, id: &str) -> Vec<Worktree> {
    let admins = std::fs::read_dir(common.join("worktrees")).into_iter().flatten();
    let mut admins: Vec<PathBuf> = admins.filter_map(Result::ok).map(|entry| entry.path()).collect();
    admins.sort();
    let worktree = |admin: PathBuf| {
        let text = files::read_small(&admin.join("gitdir"), 8192).ok()?;
        let git_file = Path::new(std::ffi::OsStr::from_bytes(text.trim_ascii_end()));
        let path = git_file.parent()?.to_owned();
        Some(Worktree { path, admin })
    };
    let found = admins.into_iter().filter_map(worktree);
    found.filter(|worktree| worktree.is_ours(id)).collect()
}

/// Where registrations are on their way out, below the common git dir.
fn forgotten(common: &Path) -> PathBuf {
    common.join("agentgate/.forgotten")
}

/// Deletes registrations whose deletion was not finished. Whoever is at it now loses nothing.
pub fn forget_the_rest(common: &Path) -> Result<()> {
    let gone = forgotten(common);
    files::remove_tree(&gone).with_context(|| format!("cannot remove {}", gone.display()))
}

/// What stands at a worktree's path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Standing {
    /// The worktree that was made: a folder whose `.git` points to its registration, or to the
    /// private git dir.
    Ours,
    /// Nothing.
    Gone,
    /// Something else, which is not ours to touch.
    Foreign,
}

/// Whether `Worktree::add` fills the folder.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Content {
    /// Check the base out.
    Base,
    /// Leave it empty: the tree to fill it with was written by an agent.
    None,
}

/// Writes a worktree's `.git` file, replacing whatever stands there.
pub fn point_git_file(worktree: &Path, git_dir: &Path) -> Result<()> {
    // Through a link this would replace the git dir of what it leads to.
    if !worktree.symlink_metadata().is_ok_and(|meta| meta.is_dir()) {
        bail!("{} is no folder any more", worktree.display());
    }
    let at = worktree.join(".git");
    if at.symlink_metadata().is_ok_and(|meta| meta.is_dir()) {
        files::remove_tree(&at)?;
    }
    files::replace(&at, &git_file(git_dir), 0o644)?;
    Ok(())
}

/// The content of a `.git` file.
pub fn git_file(git_dir: &Path) -> Vec<u8> {
    [b"gitdir: ", git_dir.as_os_str().as_encoded_bytes(), b"\n"].concat()
}

fn lock_reason(id: &str) -> String {
    format!("agentgate job {id}")
}

fn admin_of(path: &Path) -> Result<PathBuf> {
    let text = files::read_small(&path.join(".git"), 8192)?;
    let target = pointer(&text).with_context(|| format!("{}/.git is no pointer to a git dir", path.display()))?;
    Ok(path.join(target))
}

/// Where a `.git` file points to.
fn pointer(text: &[u8]) -> Option<&Path> {
    let target = text.strip_prefix(b"gitdir: ")?;
    let target = target.strip_suffix(b"\n").unwrap_or(target);
    Some(Path::new(std::ffi::OsStr::from_bytes(target)))
}

fn same(a: &Path, b: &Path) -> bool {
    a == b || matches!((std::fs::canonicalize(a), std::fs::canonicalize(b)), (Ok(a), Ok(b)) if a == b)
}

/// A failed or killed `worktree add` leaves a registration and half the files.
fn discard_half_made(git: &Git, common: &Path, path: &Path) {
    // Best effort: the failure that led here is what the person must see.
    let _ = git
        .at(common)
        .args(["worktree", "remove", "--force", "--force"])
        .arg(path)
        .outcome();
    // git removes this folder itself when the last worktree goes, but not when it was interrupted.
    let _ = std::fs::remove_dir(common.join("worktrees"));
}

/// Fills an empty worktree with a tree, index included, without running a hook. Filters are those
/// of the person's configuration, chosen by the base's attributes.
pub fn fill(git: &Git, worktree: &Worktree, tree: &str, base: &str, plan: &Plan) -> Result<()> {
    let at = |args: &[&str]| {
        git.at(&worktree.path)
            .config("core.splitIndex", "false")
            .env("GIT_ATTR_SOURCE", base)
            .confined(plan)
            .finish_after_signal(Duration::ZERO)
            .args(args)
            .bytes()
    };
    // Filters see what an agent wrote, and the index must be writable for them too: what git obeys there
    // is put back afterwards.
    let names = ["commondir", "gitdir", "HEAD", "config.worktree", "info/sparse-checkout"];
    let before = names.map(|name| files::read_small(&worktree.admin.join(name), 1 << 20).ok());
    at(&["read-tree", tree])?;
    let filled = at(&["checkout-index", "--all", "--force", "--quiet", "-u"]);
    for (name, before) in names.iter().zip(before) {
        let path = worktree.admin.join(name);
        let now = files::read_small(&path, 1 << 20).ok();
        match before {
            before if before == now && (now.is_some() || path.symlink_metadata().is_err()) => {}
            Some(bytes) => files::replace(&path, &bytes, 0o644)?,
            None => files::remove_tree(&path)?,
        }
    }
    if !worktree.points_to(&worktree.admin) {
        worktree.restore_git_file()?;
    }
    filled.map(drop)
}

/// One registration, as git lists it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Listed {
    /// Its top folder, which may be absent.
    pub path: PathBuf,
    /// Commit id of its HEAD; none where it has no commit.
    pub head: Option<String>,
    /// Full ref name of the branch; none when detached.
    pub branch: Option<String>,
    /// Reason of a lock, empty where none was given.
    pub locked: Option<String>,
    /// The main entry of a bare clone: no checkout.
    pub bare: bool,
}

/// All worktrees of a clone, the main checkout first.
pub fn list(git: &Git, common: &Path) -> Result<Vec<Listed>> {
    let listed = git.at(common).args(["worktree", "list", "--porcelain", "-z"]).bytes()?;
    let mut found: Vec<Listed> = Vec::new();
    for line in listed.split(|&b| b == 0) {
        let mut parts = line.splitn(2, |&b| b == b' ');
        let (key, value) = (parts.next().unwrap_or_default(), parts.next().unwrap_or_default());
        let text = String::from_utf8_lossy(value).into_owned();
        match (key, found.last_mut()) {
            (b"worktree", _) => found.push(Listed {
                path: PathBuf::from(std::ffi::OsStr::from_bytes(value)),
                head: None,
                branch: None,
                locked: None,
                bare: false,
            }),
            (b"HEAD", Some(last)) => last.head = Some(text),
            (b"branch", Some(last)) => last.branch = Some(text),
            (b"locked", Some(last)) => last.locked = Some(text),
            (b"bare", Some(last)) => last.bare = true,
            _ => {}
        }
    }
    Ok(found)
}

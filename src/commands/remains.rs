//! What a job left beside the clone, and what its removal would lose.
//!
//! Two things are never believed: that what stands at the recorded path is still the job's (a
//! person may have put a clone or a link there), and anything that an agent wrote into a git dir
//! (git run there would run its settings).

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use anyhow::Result;

use super::walls::Walls;
use crate::exit::{Exit, Stop};
use crate::files;
use crate::git::agent_refs;
use crate::git::refs;
use crate::git::repo::Checkout;
use crate::git::shadow::Shadow;
use crate::git::shell;
use crate::git::worktree::{self, Standing, Worktree};
use crate::job::Created;
use crate::job::machine::State;

/// More lines than these are counted, not shown.
const SHOWN: usize = 50;

/// What a person's edits in a job's worktree mean for its removal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Edits {
    /// They stop it (12).
    Refuse,
    /// `--force`: they go with it.
    Discard,
}

/// What is left of a job's worktree.
#[derive(Clone, Debug)]
pub struct Remains {
    /// Where the worktree is or was.
    pub path: PathBuf,
    /// What stands there.
    pub standing: Standing,
    /// The registration, if the clone still has it.
    registered: Option<Worktree>,
}

/// Finds it by the clone's own registrations: the recorded admin folder, or the one that `open`
/// made for the same path.
pub fn of(checkout: &Checkout, state: &State, created: &Created, id: &str) -> Remains {
    let recorded = state.worktree.as_ref().map(|(_, admin)| PathBuf::from(admin));
    let listed = std::fs::read_dir(checkout.common.join("worktrees"))
        .into_iter()
        .flatten()
        .filter_map(Result::ok)
        .map(|entry| entry.path());
    let admins: Vec<PathBuf> = recorded.into_iter().chain(listed).collect();
    // Whoever goes on with a job removes what the last owner left before it makes a worktree of its own: there is
    // one at a time.
    let places = state.places.iter().rev();
    let mut found = places.flat_map(|path| {
        admins.iter().map(move |admin| Worktree {
            path: PathBuf::from(path),
            admin: admin.clone(),
        })
    });
    let registered = found.find(|worktree| worktree.is_ours(id));
    let path = match &registered {
        Some(worktree) => worktree.path.clone(),
        None => PathBuf::from(state.place().unwrap_or(&created.worktree)),
    };
    let standing = match &registered {
        Some(worktree) => worktree.standing(&Path::new(&created.private).join("git")),
        None if path.symlink_metadata().is_err() => Standing::Gone,
        None => Standing::Foreign,
    };
    Remains {
        path,
        standing,
        registered,
    }
}

/// Where a branch is checked out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CheckedOut {
    /// In no checkout.
    Nowhere,
    /// In this one, which may be absent: on a disk that is not mounted.
    At(PathBuf),
    /// In the main checkout, whose place the git dir does not name.
    MainUnknown,
}

/// Where a branch is checked out: git allows one place.
pub fn checked_out_at(checkout: &Checkout, branch: &str) -> Result<CheckedOut> {
    let listed = worktree::list(&checkout.git, &checkout.common)?;
    let found = listed
        .into_iter()
        .enumerate()
        .find(|(_, one)| !one.bare && one.branch.as_deref() == Some(branch));
    Ok(match (found, &checkout.main) {
        (None, _) => CheckedOut::Nowhere,
        // git names the git dir here where that lies apart from the checkout, as a submodule's does.
        (Some((0, _)), Some(main)) => CheckedOut::At(main.clone()),
        (Some((0, _)), None) => CheckedOut::MainUnknown,
        (Some((_, linked)), _) => CheckedOut::At(linked.path),
    })
}

impl Remains {
    /// Neither folder nor registration is there.
    pub fn is_empty(&self) -> bool {
        self.registered.is_none()
    }

    /// Removes folder and registration, or only the registration where the folder is not ours.
    pub fn remove(&self, id: &str, trash: &Path) -> Result<Vec<String>> {
        let mut notices = Vec::new();
        match (&self.registered, self.standing) {
            (Some(worktree), Standing::Ours | Standing::Gone) => notices.extend(worktree.remove(id, trash)?),
            (registered, standing) => {
                if let Some(worktree) = registered {
                    worktree.forget()?;
                }
                if standing == Standing::Foreign {
                    notices.push(format!(
                        "{} is not the worktree that job {id} made any more; it is left alone",
                        self.path.display()
                    ));
                }
            }
        }
        Ok(notices)
    }

    /// Why a person locked it, if one did.
    pub fn locked_by_person(&self, id: &str) -> Option<String> {
        self.registered.as_ref()?.locked_by_person(id)
    }

    /// Removes the registration of a worktree that somebody deleted.
    pub fn forget_if_gone(&self) -> Result<()> {
        match (&self.registered, self.standing) {
            (Some(worktree), Standing::Gone) => worktree.forget(),
            _ => Ok(()),
        }
    }

    /// Refuses what a removal would lose: edits that are not in the record (12), commits beyond
    /// it (20), a lock that a person set (23).
    pub fn must_be_removable(
        &self,
        checkout: &Checkout,
        state: &State,
        created: &Created,
        id: &str,
        edits: Edits,
    ) -> Result<()> {
        let Some(worktree) = &self.registered else {
            return Ok(());
        };
        if let Some(reason) = worktree.locked_by_person(id) {
            return Err(Stop::new(
                Exit::WrongState,
                format!("{} is locked by a person: {reason}", self.path.display()),
            )
            .hint(format!("git worktree unlock {}", shell(&self.path)))
            .into());
        }
        // Before the worktree was recorded no agent had started: what is there is git's own.
        let is_fresh = state.worktree.is_none() && state.ended.is_none();
        if edits == Edits::Discard || self.standing != Standing::Ours || is_fresh {
            return Ok(());
        }
        // The agent's git dir must not be read by the program that would run its settings.
        worktree.restore_git_file()?;
        let mut holds = Holds::of(state, created, id);
        holds.add_merged(checkout, &self.path, id);
        let force = format!("or give them up: agentgate drop --force {}", shell_words::quote(id));
        let strays = strays(checkout, &self.path, &holds, state);
        if !strays.is_empty() {
            return Err(Stop::new(
                Exit::Collision,
                format!(
                    "{} has commits beyond the candidate or the base: {}",
                    self.path.display(),
                    strays.join(", ")
                ),
            )
            .hint(format!(
                "merge them yourself, then drop the job: git merge {}",
                shell_words::quote(&format!("agent/{id}"))
            ))
            .hint(format!(
                "or put them on a branch of your own: git -C {} branch my-branch HEAD",
                shell(&self.path)
            ))
            .hint(force)
            .into());
        }
        let mut lines = dirt(checkout, worktree, &holds, created)?;
        if holds.died {
            lines.extend(own_commits(checkout, created)?);
        }
        if lines.is_empty() {
            return Ok(());
        }
        let mut shown = lines.iter().take(SHOWN).cloned().collect::<Vec<_>>().join("\n");
        if lines.len() > SHOWN {
            shown.push_str(&format!("\nand {} more", lines.len() - SHOWN));
        }
        Err(Stop::new(
            Exit::DirtyTree,
            format!(
                "{} has changes that are not in the record:\n{shown}",
                self.path.display()
            ),
        )
        .hint(format!(
            "commit or save them elsewhere: git -C {} diff",
            shell(&self.path)
        ))
        .hint(force)
        .into())
    }
}

/// What of the worktree is in the record or the history.
struct Holds {
    /// Ids that its HEAD may have.
    heads: Vec<String>,
    /// The branch of a kept job, which must not have moved on.
    branch: Option<String>,
    /// Trees, one of which its index must equal.
    trees: Vec<String>,
    /// What the agent left was never frozen: what ignore rules hide is not in the record either.
    died: bool,
}

impl Holds {
    fn of(state: &State, created: &Created, id: &str) -> Holds {
        let candidate = state.frozen.as_ref().map(|(tree, _)| tree.clone());
        let kept = state.ended == Some(Exit::Ok) && !state.landed && !state.dropped;
        let base = created.base.clone();
        match (kept, &state.commit) {
            (true, Some(commit)) => Holds {
                // Deleted by hand and opened again, it stands on the base.
                heads: vec![commit.clone(), base],
                branch: Some(refs::branch(id)),
                trees: candidate.into_iter().collect(),
                died: false,
            },
            (_, commit) => {
                let died = state.ended.is_none() || candidate.is_none();
                let at_base = died.then(|| format!("{base}^{{tree}}"));
                Holds {
                    heads: std::iter::once(base).chain(commit.clone()).collect(),
                    branch: None,
                    trees: candidate.into_iter().chain(at_base).collect(),
                    died,
                }
            }
        }
    }
}

impl Holds {
    /// A person's commits on top of the candidate are not lost where another branch has them.
    fn add_merged(&mut self, checkout: &Checkout, path: &Path, id: &str) {
        let own = refs::branch(id);
        let head = head_of(path);
        let tip = self
            .branch
            .as_ref()
            .and_then(|name| checkout.repo.refname_to_id(name).ok());
        for commit in [head, tip].into_iter().flatten() {
            if !refs::held_elsewhere(&checkout.repo, commit, &own).unwrap_or(false) {
                continue;
            }
            self.heads.push(commit.to_string());
            if let Ok(commit) = checkout.repo.find_commit(commit) {
                self.trees.push(commit.tree_id().to_string());
            }
        }
    }
}

fn head_of(path: &Path) -> Option<git2::Oid> {
    git2::Repository::open(path)
        .ok()
        .and_then(|repo| repo.head().ok().and_then(|head| head.target()))
}

/// Commits that would be lost, as short ids with a word on where they are.
fn strays(checkout: &Checkout, path: &Path, holds: &Holds, state: &State) -> Vec<String> {
    let mut found = Vec::new();
    let head = head_of(path).map(|id| id.to_string());
    if let Some(head) = head
        && !holds.heads.contains(&head)
    {
        found.push(format!("HEAD at {head}"));
    }
    if let Some(name) = &holds.branch {
        let at = checkout
            .repo
            .find_reference(name)
            .ok()
            .and_then(|branch| branch.target());
        if let Some(at) = at.map(|at| at.to_string())
            && Some(&at) != state.commit.as_ref()
            && !holds.heads.contains(&at)
        {
            found.push(format!("{} at {at}", name.trim_start_matches("refs/heads/")));
        }
    }
    found
}

/// What an agent that died had committed or stashed away by itself, beyond what the clone has.
fn own_commits(checkout: &Checkout, created: &Created) -> Result<Vec<String>> {
    // Read as files; no git looks into it.
    let shadow = Shadow {
        git_dir: Path::new(&created.private).join("git"),
        given: Vec::new(),
    };
    let own = agent_refs::read(&shadow, &created.base);
    let objects = checkout.repo.odb()?;
    let head = own.head.iter().map(|id| ("HEAD", id));
    let refs = own.refs.iter().map(|(name, id)| (name.as_str(), id));
    Ok(refs
        .chain(head)
        .filter(|(_, id)| git2::Oid::from_str(id).is_ok_and(|id| !objects.exists(id)))
        .map(|(name, id)| format!("its own {name} at {id}, in {}", shadow.git_dir.display()))
        .collect())
}

/// Porcelain lines of what is neither in the record nor in the history. The base's attributes
/// decide, as they did when the candidate was made, and no git is started inside a submodule that
/// an agent may have filled.
fn dirt(checkout: &Checkout, worktree: &Worktree, holds: &Holds, created: &Created) -> Result<Vec<String>> {
    let path = &worktree.path;
    // Filters may be asked about what an agent wrote.
    let plan = Walls::for_filters(checkout, path, Vec::new())?;
    let git = || {
        let call = checkout.git.at(path).confined(&plan);
        call.env("GIT_ATTR_SOURCE", &created.base)
    };
    let mut call = git().args([
        "status",
        "--porcelain=v1",
        "-z",
        "--no-renames",
        "--untracked-files=all",
        "--ignore-submodules=all",
    ]);
    if holds.died {
        call = call.arg("--ignored=matching");
    }
    let status = call.bytes()?;
    let mut lines: BTreeSet<String> = records(&status)
        .filter(|line| line.get(1).is_some_and(|&work| work != b' '))
        .map(|line| line.escape_ascii().to_string())
        .collect();
    let mut staged: Option<Vec<String>> = None;
    for tree in &holds.trees {
        let listed = git()
            .args(["diff-index", "--cached", "-z", "--no-renames", "--name-only"])
            .args(["--ignore-submodules=none", tree])
            .bytes()?;
        let names: Vec<String> = records(&listed)
            .map(|name| format!("M  {}", name.escape_ascii()))
            .collect();
        if staged.as_ref().is_none_or(|fewest| names.len() < fewest.len()) {
            staged = Some(names);
        }
    }
    lines.extend(staged.unwrap_or_default());
    let index = git().args(["ls-files", "--stage", "-z"]).bytes()?;
    for entry in records(&index).filter(|entry| entry.starts_with(b"160000 ")) {
        let Some(name) = entry.splitn(2, |&b| b == b'\t').nth(1) else {
            continue;
        };
        let folder = path.join(OsStr::from_bytes(name));
        if std::fs::read_dir(&folder).map_or(true, |mut entries| entries.next().is_none()) {
            continue;
        }
        if holds.died || !is_persons(&folder, &worktree.admin) {
            lines.insert(format!(" M {} (submodule: not looked into)", name.escape_ascii()));
            continue;
        }
        let spec = [b":(top,literal)", name].concat();
        let status = git()
            .args(["status", "--porcelain=v1", "-z", "--ignore-submodules=none", "--"])
            .arg(OsStr::from_bytes(&spec))
            .bytes()?;
        lines.extend(records(&status).map(|line| format!("{} (submodule)", line.escape_ascii())));
    }
    Ok(lines.into_iter().collect())
}

/// Whether a submodule's git dir is the one that git makes in the clone for this worktree: no agent
/// was given that place.
fn is_persons(folder: &Path, admin: &Path) -> bool {
    let Ok(text) = files::read_small(&folder.join(".git"), 8192) else {
        return false;
    };
    let target = text.strip_prefix(b"gitdir: ").map(<[u8]>::trim_ascii_end);
    let real = target.and_then(|target| std::fs::canonicalize(folder.join(OsStr::from_bytes(target))).ok());
    let modules = std::fs::canonicalize(admin.join("modules"));
    matches!((real, modules), (Some(real), Ok(modules)) if real.starts_with(&modules))
}

fn records(bytes: &[u8]) -> impl Iterator<Item = &[u8]> {
    bytes.split(|&b| b == 0).filter(|record| !record.is_empty())
}

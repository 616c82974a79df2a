//! What of a job's worktree is in no record and no history: the removal of the worktree would lose it.
//!
//! Invariant: nothing is missed because a mark or a rule of the worktree's own index or ignore files hides it from
//! git; and every hint is a command that does what it says as it stands there.

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};

use super::Verb;
use crate::commands::walls::Walls;
use crate::exit::{Exit, Stop};
use crate::files;
use crate::gate::render;
use crate::git::agent_refs;
use crate::git::ignored;
use crate::git::program::{Call, Git};
use crate::git::refs;
use crate::git::repo::Checkout;
use crate::git::shadow::{Shadow, copy_index};
use crate::git::shell;
use crate::git::uncommitted::Marked;
use crate::git::worktree::Worktree;
use crate::job::Created;
use crate::job::machine::State;

/// More lines than these are counted, not shown.
const SHOWN: usize = 50;

/// Of so many commits it is said how to keep them.
const FETCHED: usize = 10;

/// All of it.
pub(super) struct Unsaved<'a> {
    checkout: &'a Checkout,
    path: &'a Path,
    /// Commits, as ids with a word on where they are.
    strays: Vec<String>,
    /// The job's branch is among them.
    has_branch: bool,
    /// Lines of edits.
    edits: Vec<String>,
    /// What an agent that died had committed by itself: ref names and ids.
    commits: Vec<(String, String)>,
    /// The git dir in which it had.
    own_git: PathBuf,
    /// Paths of files that git ignores.
    pub(super) ignored: Vec<Vec<u8>>,
    /// The tree that edits are edits of.
    tree: String,
    /// Options of `git update-index` that show edited files to git again, with their names.
    marked: Vec<(&'static str, Vec<Vec<u8>>)>,
}

impl<'a> Unsaved<'a> {
    /// Looks for it. The worktree's `.git` must be the clone's.
    pub(super) fn of(
        checkout: &'a Checkout,
        worktree: &'a Worktree,
        state: &State,
        created: &Created,
        id: &str,
    ) -> Result<Unsaved<'a>> {
        let path = &worktree.path;
        let mut holds = Holds::of(state, created, id);
        holds.add_merged(checkout, path, id);
        let strays = strays(checkout, path, &holds, state);
        let mut unsaved = Unsaved {
            checkout,
            path,
            has_branch: strays.iter().any(|stray| !stray.starts_with("HEAD ")),
            strays,
            edits: Vec::new(),
            commits: Vec::new(),
            own_git: Path::new(&created.private).join("git"),
            ignored: Vec::new(),
            tree: String::new(),
            marked: Vec::new(),
        };
        if unsaved.strays.is_empty() {
            unsaved.add_edits(worktree, &holds, created)?;
            if holds.died {
                unsaved.commits = own_commits(checkout, created, &unsaved.own_git)?;
            }
        }
        Ok(unsaved)
    }

    /// Refuses what this command would lose of it.
    pub(super) fn refuse(&self, verb: Verb, id: &str) -> Result<()> {
        let there = shell(self.path);
        let quoted = shell_words::quote(id);
        let force = format!("agentgate drop --force {quoted}");
        let mine = free_branch(self.checkout, id);
        if !self.strays.is_empty() {
            let what = format!(
                "{} has commits beyond the candidate or the base: {}",
                self.path.display(),
                self.strays.join(", ")
            );
            let mut stop = Stop::new(Exit::Collision, what);
            if self.has_branch {
                let branch = shell_words::quote(&format!("agent/{id}")).into_owned();
                stop = stop.hint(format!("merge them yourself, then drop the job: git merge {branch}"));
            }
            if self.strays.iter().any(|stray| stray.starts_with("HEAD ")) {
                stop = stop.hint(format!(
                    "or put them on a branch of your own: git -C {there} branch {mine} HEAD"
                ));
            }
            return Err(stop.hint(given_up(verb, &force)).into());
        }
        let ignored: &[Vec<u8>] = if verb == Verb::Land { &[] } else { &self.ignored };
        let hidden = ignored
            .iter()
            .map(|path| format!("!! {} (git ignores it)", path.escape_ascii()));
        let commits = self
            .commits
            .iter()
            .map(|(name, id)| format!("its own {name} at {id}, in {}", self.own_git.display()));
        let lines: Vec<String> = self.edits.iter().cloned().chain(commits).chain(hidden).collect();
        if lines.is_empty() {
            return Ok(());
        }
        let mut shown = lines.iter().take(SHOWN).cloned().collect::<Vec<_>>().join("\n");
        if lines.len() > SHOWN {
            shown.push_str(&format!("\nand {} more", lines.len() - SHOWN));
        }
        let what = format!(
            "{} has changes that are not in the record:\n{shown}",
            self.path.display()
        );
        let mut stop = Stop::new(Exit::DirtyTree, what);
        for (option, paths) in &self.marked {
            stop = stop.hint(format!(
                "a mark hides edits from git; take it off: git -C {there} update-index {option} -- {}",
                words(paths)
            ));
        }
        for hint in self.fetches(id) {
            stop = stop.hint(hint);
        }
        if !self.edits.is_empty() {
            let tree = shell_words::quote(&self.tree).into_owned();
            stop = stop
                .hint(format!("see edits: git -C {there} diff {tree}"))
                .hint(format!(
                    "keep them on a branch of your own: git -C {there} switch -c {mine} && git -C {there} add -A && \
                     git -C {there} commit -m {mine}"
                ));
            if verb != Verb::Drop {
                stop = stop.hint(format!(
                    "or undo them: git -C {there} read-tree --reset -u {tree} && git -C {there} clean -ffd"
                ));
            }
        }
        if !ignored.is_empty() {
            let mut archive = self.path.as_os_str().to_owned();
            archive.push(".ignored.tar");
            stop = stop.hint(format!(
                "move ignored files into an archive beside it: tar -C {there} --remove-files -rf {} -- {}",
                shell(Path::new(&archive)),
                words(ignored)
            ));
        }
        Err(stop.hint(given_up(verb, &force)).into())
    }

    /// How to bring what the agent had committed into the clone, where it stops nobody any more. git takes care that
    /// nothing of the git dir it fetches from is run.
    fn fetches(&self, id: &str) -> Vec<String> {
        let mut ids: Vec<&str> = Vec::new();
        for (_, commit) in &self.commits {
            if !ids.contains(&commit.as_str()) {
                ids.push(commit);
            }
        }
        let is_free = |name: &String| {
            self.checkout
                .repo
                .find_reference(&format!("refs/heads/{name}"))
                .is_err()
        };
        let names = (1..).map(|number| match number {
            1 => format!("{id}-own"),
            _ => format!("{id}-own-{number}"),
        });
        let clone = shell(&self.checkout.clone);
        let from = shell(&self.own_git);
        let fetch = |(commit, name): (&&str, String)| {
            // A branch is of a commit, and what was a tag may be more than that.
            let is_tag = |(of, id): &(String, String)| id == *commit && of.starts_with("refs/tags/");
            let kind = if self.commits.iter().any(is_tag) {
                "tags"
            } else {
                "heads"
            };
            let to = shell_words::quote(&format!("{commit}:refs/{kind}/{name}")).into_owned();
            let short: String = commit.chars().take(8).collect();
            format!("keep its commit {short}: git -C {clone} fetch --quiet --no-tags {from} {to}")
        };
        let mut hints: Vec<String> = ids.iter().take(FETCHED).zip(names.filter(is_free)).map(fetch).collect();
        if ids.len() > FETCHED {
            hints.push(format!("and in the same way {} more", ids.len() - FETCHED));
        }
        hints
    }

    /// Finds what is neither in the record nor in the history. The base's attributes decide, as they did when the
    /// candidate was made, and no git is started inside a submodule that an agent may have filled.
    fn add_edits(&mut self, worktree: &Worktree, holds: &Holds, created: &Created) -> Result<()> {
        let path = &worktree.path;
        let folder = tempfile::Builder::new()
            .prefix("agentgate-")
            .tempdir_in(&worktree.admin)
            .context("no folder for a copy of the index")?;
        // Filters may be asked about what an agent wrote.
        let plan = Walls::for_filters(self.checkout, path, vec![folder.path().to_owned()])?;
        let own = || {
            let call = self.checkout.git.at(path).confined(&plan);
            call.env("GIT_ATTR_SOURCE", &created.base)
        };
        let index = folder.path().join("index");
        let marked = Marked::of(path, own())?;
        if !marked.is_empty() {
            copy_index(&worktree.admin.join("index"), &index)?;
            marked.take_off(|| own().env("GIT_INDEX_FILE", &index))?;
        }
        let git = || match marked.is_empty() {
            true => own(),
            false => own().env("GIT_INDEX_FILE", &index),
        };
        let status = git()
            .args([
                "status",
                "--porcelain=v1",
                "-z",
                "--no-renames",
                "--untracked-files=all",
                "--ignored=matching",
                "--ignore-submodules=all",
            ])
            .bytes()?;
        let (hidden, shown): (Vec<&[u8]>, Vec<&[u8]>) = records(&status).partition(|line| line.starts_with(b"!! "));
        let hidden: Vec<Vec<u8>> = hidden.iter().filter_map(|line| Some(line.get(3..)?.to_vec())).collect();
        self.ignored = match holds.died {
            // It was never written down what there was.
            true => hidden,
            false => ignored::since(worktree, &hidden),
        };
        let edited: Vec<&[u8]> = shown
            .into_iter()
            .filter(|line| line.get(1).is_some_and(|&work| work != b' '))
            .collect();
        self.marked = marked.among(|path| edited.iter().any(|line| line.get(3..) == Some(path)));
        let mut lines: BTreeSet<String> = edited.iter().map(|line| line.escape_ascii().to_string()).collect();
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
                self.tree.clone_from(tree);
            }
        }
        lines.extend(staged.unwrap_or_default());
        let listed = git().args(["ls-files", "--stage", "-z"]).bytes()?;
        for entry in records(&listed).filter(|entry| entry.starts_with(b"160000 ")) {
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
        self.edits = lines.into_iter().collect();
        Ok(())
    }
}

/// Writes down which ignored files there are in a worktree that is left to a person: what they add is known by that.
pub fn remember_ignored(git: &Git, worktree: &Worktree) -> Result<()> {
    let listed: Call<'_> = git.at(&worktree.path).args([
        "ls-files",
        "--others",
        "--ignored",
        "--exclude-standard",
        "--directory",
        "-z",
    ]);
    let listed = listed.bytes()?;
    let listed: Vec<Vec<u8>> = records(&listed).map(<[u8]>::to_vec).collect();
    ignored::remember(worktree, &listed)
}

/// What becomes of it otherwise.
fn given_up(verb: Verb, force: &str) -> String {
    match verb {
        Verb::Drop => format!("or give them up: {force}"),
        Verb::Land | Verb::Answer => format!("or give the job up, and them with it: {force}"),
    }
}

/// The name of a branch that there is not yet.
fn free_branch(checkout: &Checkout, id: &str) -> String {
    let mut names = (1..100).map(|number| match number {
        1 => format!("{id}-mine"),
        _ => format!("{id}-mine-{number}"),
    });
    let is_free = |name: &String| checkout.repo.find_reference(&format!("refs/heads/{name}")).is_err();
    let name = names.find(is_free).unwrap_or_else(|| "my-branch".to_owned());
    shell_words::quote(&name).into_owned()
}

/// The first paths as words of a command. One that cannot be printed would be another file's.
fn words(paths: &[Vec<u8>]) -> String {
    let printable = paths.iter().filter_map(|path| std::str::from_utf8(path).ok());
    let plain = printable.filter(|path| render::path(path.as_bytes()) == **path);
    shell_words::join(plain.take(SHOWN))
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
fn own_commits(checkout: &Checkout, created: &Created, git_dir: &Path) -> Result<Vec<(String, String)>> {
    // Read as files; no git looks into it.
    let shadow = Shadow {
        git_dir: git_dir.to_owned(),
        given: Vec::new(),
    };
    let own = agent_refs::read(&shadow, &created.base);
    let objects = checkout.repo.odb()?;
    let head = own.head.iter().map(|id| ("HEAD", id));
    let refs = own.refs.iter().map(|(name, id)| (name.as_str(), id));
    Ok(refs
        .chain(head)
        .filter(|(_, id)| git2::Oid::from_str(id).is_ok_and(|id| !objects.exists(id)))
        .map(|(name, id)| (name.to_owned(), id.clone()))
        .collect())
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

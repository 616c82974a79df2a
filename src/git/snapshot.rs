//! Freezing: everything an agent left becomes one tree, once, before anything judges it.
//!
//! Invariant: [`Frozen`] is only made here, and it is the only thing that can be judged,
//! committed and recorded. The agent's index, configuration, HEAD and objects are not looked at:
//! staging happens in a second private git dir, made after the agent's end, with the index and
//! the configuration saved before it began.

use std::collections::{HashMap, HashSet};
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Context, Result, bail};
use git2::{ObjectType, Oid, Repository};

use crate::files;
use crate::gate::{self, Kind};

use super::from_git2;
use super::program::{Call, Git, first_lines};
use super::settings::ContentSettings;
use super::shadow::copy_index;
use super::tree::GitTree;

/// How long staging may take: filters run in it.
const STAGING_LIMIT: Duration = Duration::from_secs(30 * 60);
/// More nested repositories than this are not set aside one by one.
const MAX_NESTED: usize = 200;
/// Most bytes of a ref file that are read.
const MAX_REFS: u64 = 8 * 1024 * 1024;
/// An index larger than this (bytes) is not asked for names.
const MAX_INDEX: u64 = 256 * 1024 * 1024;

/// A candidate tree whose objects are in the clone's store.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Frozen {
    tree: Oid,
    /// How many paths differ from the base.
    pub changed: usize,
    /// Folders in which the agent had put a repository of its own; their files are in the tree as
    /// files, which is what a reviewer can see.
    pub nested: Vec<String>,
    /// Submodules of the base that the agent filled. Their links are in the tree, their files are not.
    pub submodules: Vec<Submodule>,
    /// Tracked files in whose place a pipe, socket or device stood: the tree has them as deleted.
    pub special: Vec<Vec<u8>>,
}

impl Frozen {
    /// The tree's id.
    pub fn tree(&self) -> Oid {
        self.tree
    }
}

/// A submodule of the base that the agent filled.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Submodule {
    /// Below the worktree.
    pub path: Vec<u8>,
    /// The commit that the base names.
    pub base: String,
    /// Its object folder, if it had one; the agent may have written anything there.
    pub objects: Option<PathBuf>,
}

/// The git dir in which staging happens.
#[derive(Debug)]
pub struct Stage {
    /// `<private>/stage`
    pub git_dir: PathBuf,
    /// The worktree that is frozen.
    pub worktree: PathBuf,
    base: String,
}

impl Stage {
    /// Makes it. `index` was saved before the agent ran.
    pub fn make(
        settings: &ContentSettings,
        private: &Path,
        worktree: &Path,
        index: &Path,
        base: &str,
    ) -> Result<Stage> {
        let git_dir = private.join("stage");
        files::remove_tree(&git_dir)?;
        // Warnings about line endings would count as a failure of staging.
        settings.write_into(
            &git_dir,
            &[("core.safecrlf", "false"), ("core.logallrefupdates", "false")],
        )?;
        files::replace(&git_dir.join("HEAD"), format!("{base}\n").as_bytes(), 0o600)?;
        copy_index(index, &git_dir.join("index"))?;
        Ok(Stage {
            git_dir,
            worktree: worktree.to_owned(),
            base: base.to_owned(),
        })
    }

    /// A git call on the worktree that believes nothing in it but its files and ignore rules.
    pub fn git<'a>(&self, git: &'a Git) -> Call<'a> {
        git.at(&self.worktree)
            .sealed()
            .env("GIT_DIR", &self.git_dir)
            .env("GIT_WORK_TREE", &self.worktree)
            .env("GIT_INDEX_FILE", self.git_dir.join("index"))
            .env("GIT_ATTR_SOURCE", &self.base)
            .env("HOME", &self.git_dir)
    }

    /// Stages everything, writes the tree and brings its objects into the clone's store.
    /// `agent_index` is only asked which ignored files the agent had added on purpose.
    pub fn freeze(&self, git: &Git, repo: &Repository, base: Oid, agent_index: &Path) -> Result<Frozen> {
        let (submodules, moved) = self.disarm_submodules(git)?;
        let (nested, special) = self.stage_all(git)?;
        if !moved.is_empty() {
            self.git(git)
                .args(["update-index", "-z", "--index-info"])
                .stdin(moved)
                .bytes()?;
        }
        self.stage_forced(git, agent_index)?;
        let text = self.git(git).arg("write-tree").text()?;
        let tree = Oid::from_str(text.trim()).with_context(|| format!("git write-tree answered {text:?}"))?;
        let base_tree = repo.find_commit(base)?.tree_id();
        import(&self.git_dir.join("objects"), repo, tree, base_tree)?;
        let (before, after) = (
            GitTree::new(repo, from_git2(base_tree)),
            GitTree::new(repo, from_git2(tree)),
        );
        let changed = gate::tree::diff(&before, &after)?.len();
        Ok(Frozen {
            tree,
            changed,
            nested,
            submodules,
            special,
        })
    }

    /// `git add --all`. Anything it says is a failure, but for what an agent can cause and
    /// has a right answer: a repository inside the worktree, files it made unreadable, a link in
    /// place of an ignore file, a pipe in place of a file.
    fn stage_all(&self, git: &Git) -> Result<(Vec<String>, Vec<Vec<u8>>)> {
        let mut nested: Vec<String> = Vec::new();
        let mut special: Vec<Vec<u8>> = Vec::new();
        let mut opened = false;
        loop {
            let outcome = self
                .git(git)
                .args(["add", "--all", "--sparse", "."])
                .limit(STAGING_LIMIT)
                .outcome()?;
            let said = String::from_utf8_lossy(&outcome.stderr).into_owned();
            if outcome.success() && said.lines().all(|line| line.trim().is_empty() || is_harmless(line)) {
                return Ok((nested, special));
            }
            let found = nested_in(&said);
            if !found.is_empty() && nested.len() < MAX_NESTED {
                for folder in found {
                    self.set_aside(&folder, nested.len())?;
                    nested.push(folder);
                }
                // The index may hold links to them by now.
                let paths: Vec<u8> = nested
                    .iter()
                    .flat_map(|path| [path.as_bytes(), b"\0"].concat())
                    .collect();
                self.git(git)
                    .args(["update-index", "--force-remove", "-z", "--stdin"])
                    .stdin(paths)
                    .bytes()?;
                continue;
            }
            if said.contains("Permission denied") && !opened {
                opened = true;
                make_readable(&self.worktree)?;
                continue;
            }
            if said.contains("can only add regular files") && special.is_empty() {
                special = self.set_special_aside(git)?;
                if !special.is_empty() {
                    continue;
                }
            }
            bail!(
                "git add --all failed on what the agent left: {}",
                first_lines(&outcome.stderr)
            );
        }
    }

    /// Files that ignore rules hide and that the agent had added all the same (`git add -f`): it
    /// said that they are its work, so they are judged and kept with the rest. The agent's index
    /// only gives names; the content is what lies on the disk.
    fn stage_forced(&self, git: &Git, agent_index: &Path) -> Result<()> {
        let Ok(bytes) = files::read_small(agent_index, MAX_INDEX) else {
            return Ok(());
        };
        let copy = self.git_dir.join("index.agent");
        files::replace(&copy, &bytes, 0o600)?;
        let listed = self
            .git(git)
            .env("GIT_INDEX_FILE", &copy)
            .args(["ls-files", "--cached", "--ignored", "--exclude-standard", "-z"])
            .outcome()?;
        if !listed.success() {
            // An index that git cannot read names nothing.
            return Ok(());
        }
        let there: Vec<u8> = listed
            .stdout
            .split(|&b| b == 0)
            .filter(|path| {
                !path.is_empty()
                    && self
                        .worktree
                        .join(OsStr::from_bytes(path))
                        .symlink_metadata()
                        .is_ok_and(|meta| !meta.is_dir())
            })
            .flat_map(|path| [path, b"\0"].concat())
            .collect();
        if !there.is_empty() {
            let outcome = self
                .git(git)
                .env("GIT_LITERAL_PATHSPECS", "1")
                .args([
                    "add",
                    "--force",
                    "--sparse",
                    "--pathspec-from-file=-",
                    "--pathspec-file-nul",
                ])
                .stdin(there)
                .limit(STAGING_LIMIT)
                .outcome()?;
            if !outcome.success() {
                bail!(
                    "git add --force failed on what the agent had added: {}",
                    first_lines(&outcome.stderr)
                );
            }
        }
        Ok(())
    }

    /// Takes the git dirs out of submodules that the agent filled, and says to which commits they had
    /// moved, as lines for `update-index`. git asks such a folder for its state by running itself in
    /// it, under the configuration that the agent wrote there; without a git dir it asks nothing.
    fn disarm_submodules(&self, git: &Git) -> Result<(Vec<Submodule>, Vec<u8>)> {
        let listed = self.git(git).args(["ls-files", "--stage", "-z"]).bytes()?;
        let (mut found, mut moved) = (Vec::new(), Vec::new());
        for entry in listed.split(|&b| b == 0) {
            let Some((id, path)) = entry.strip_prefix(b"160000 ").and_then(|rest| {
                let tab = rest.iter().position(|&b| b == b'\t')?;
                Some((String::from_utf8_lossy(rest.get(..40)?).into_owned(), &rest[tab + 1..]))
            }) else {
                continue;
            };
            let Some(folder) = self
                .own(path)
                .filter(|folder| folder.symlink_metadata().is_ok_and(|m| m.is_dir()))
            else {
                continue;
            };
            if std::fs::read_dir(&folder).is_ok_and(|mut inside| inside.next().is_none()) {
                continue;
            }
            let dot = folder.join(".git");
            let mut git_dir = pointed(&dot);
            let head = git_dir.as_deref().and_then(head_of);
            if dot.symlink_metadata().is_ok() {
                let kept = self.git_dir.join("submodules");
                std::fs::create_dir_all(&kept).with_context(|| format!("cannot make {}", kept.display()))?;
                let to = kept.join(found.len().to_string());
                std::fs::rename(&dot, &to).with_context(|| format!("cannot set {} aside", dot.display()))?;
                if git_dir.as_ref() == Some(&dot) {
                    git_dir = Some(to);
                }
            }
            if let Some(head) = head.filter(|head| *head != id) {
                moved.extend_from_slice(format!("160000 {head}\t").as_bytes());
                moved.extend_from_slice(path);
                moved.push(0);
            }
            found.push(Submodule {
                path: path.to_vec(),
                base: id,
                objects: git_dir.map(|git_dir| git_dir.join("objects")),
            });
        }
        Ok((found, moved))
    }

    /// Moves what stands in a tracked file's place and cannot be in git out of the way.
    fn set_special_aside(&self, git: &Git) -> Result<Vec<Vec<u8>>> {
        let listed = self.git(git).args(["ls-files", "-z"]).bytes()?;
        let kept = self.git_dir.join("special");
        std::fs::create_dir_all(&kept).with_context(|| format!("cannot make {}", kept.display()))?;
        let mut special = Vec::new();
        for path in listed.split(|&b| b == 0).filter(|path| !path.is_empty()) {
            let Some(full) = self.own(path) else { continue };
            let Ok(meta) = full.symlink_metadata() else { continue };
            if !meta.is_file() && !meta.is_dir() && !meta.is_symlink() {
                std::fs::rename(&full, kept.join(special.len().to_string()))
                    .with_context(|| format!("cannot set {} aside", full.display()))?;
                special.push(path.to_vec());
            }
        }
        Ok(special)
    }

    /// A path below the worktree, if no link leads there: what lies behind one is not the agent's.
    fn own(&self, path: &[u8]) -> Option<PathBuf> {
        let mut at = self.worktree.clone();
        let mut parts = path.split(|&b| b == b'/').peekable();
        while let Some(part) = parts.next() {
            at.push(OsStr::from_bytes(part));
            if parts.peek().is_some() && !at.symlink_metadata().is_ok_and(|meta| meta.is_dir()) {
                return None;
            }
        }
        Some(at)
    }

    /// Moves a nested repository's `.git` out of the way, into the private folder.
    fn set_aside(&self, folder: &str, number: usize) -> Result<()> {
        let from = self.worktree.join(folder).join(".git");
        let kept = self.git_dir.join("nested");
        std::fs::create_dir_all(&kept).with_context(|| format!("cannot make {}", kept.display()))?;
        let to = kept.join(number.to_string());
        std::fs::rename(&from, &to).with_context(|| format!("cannot set {} aside", from.display()))
    }
}

/// The git dir that a `.git` is or points to.
fn pointed(dot: &Path) -> Option<PathBuf> {
    let meta = dot.symlink_metadata().ok()?;
    if meta.is_dir() {
        return Some(dot.to_owned());
    }
    let text = files::read_small(dot, 8192).ok()?;
    let target = text.strip_prefix(b"gitdir: ")?.trim_ascii_end();
    Some(dot.parent()?.join(OsStr::from_bytes(target)))
}

/// The commit that a git dir's HEAD names, by looking at files alone.
fn head_of(git_dir: &Path) -> Option<String> {
    let read = |name: &str| {
        let bytes = files::read_small(&git_dir.join(name), MAX_REFS).ok()?;
        Some(String::from_utf8_lossy(&bytes).into_owned())
    };
    let is_id = |text: &str| text.len() == 40 && text.bytes().all(|b| b.is_ascii_hexdigit());
    let head = read("HEAD")?;
    let Some(name) = head.trim().strip_prefix("ref: ").map(str::trim) else {
        return Some(head.trim().to_owned()).filter(|id| is_id(id));
    };
    if !git2::Reference::is_valid_name(name) {
        return None;
    }
    let loose = read(name).map(|id| id.trim().to_owned()).filter(|id| is_id(id));
    loose.or_else(|| {
        let packed = read("packed-refs")?;
        let mut ids = packed
            .lines()
            .filter_map(|line| line.strip_suffix(name)?.strip_suffix(' '));
        ids.find(|id| is_id(id)).map(str::to_owned)
    })
}

/// git does not follow a link in place of an ignore file: the link is content, and hides nothing.
fn is_harmless(line: &str) -> bool {
    line.starts_with("warning: unable to access '") && line.ends_with(".gitignore': Too many levels of symbolic links")
}

/// Folders that git names as repositories of their own.
fn nested_in(said: &str) -> Vec<String> {
    said.lines()
        .filter_map(|line| {
            let name = line
                .strip_prefix("warning: adding embedded git repository: ")
                .or_else(|| {
                    line.strip_prefix("error: '")
                        .and_then(|rest| rest.strip_suffix("' does not have a commit checked out"))
                })?;
            Some(name.trim_end_matches('/').to_owned())
        })
        .collect()
}

/// Gives the owner back what an agent took away, on everything below a folder.
fn make_readable(folder: &Path) -> Result<()> {
    let mut open = vec![folder.to_owned()];
    while let Some(folder) = open.pop() {
        grant(&folder, 0o700)?;
        for entry in std::fs::read_dir(&folder).with_context(|| format!("cannot list {}", folder.display()))? {
            let entry = entry?;
            let kind = entry.file_type()?;
            if kind.is_dir() {
                open.push(entry.path());
            } else if kind.is_file() {
                grant(&entry.path(), 0o400)?;
            }
        }
    }
    Ok(())
}

fn grant(path: &Path, bits: u32) -> Result<()> {
    let mode = std::fs::symlink_metadata(path)?.permissions().mode();
    if mode & bits != bits {
        std::fs::set_permissions(path, std::fs::Permissions::from_mode((mode | bits) & 0o7777))
            .with_context(|| format!("cannot make {} readable", path.display()))?;
    }
    Ok(())
}

/// Brings a tree's new objects into the clone's store: read, hashed again, written. Folders that
/// the base has at the same place are complete there already and are not opened.
fn import(from: &Path, repo: &Repository, tree: Oid, base: Oid) -> Result<()> {
    let staged = git2::Odb::new()?;
    let path = from.to_str().context("the private folder's path is not UTF-8")?;
    staged
        .add_disk_alternate(path)
        .with_context(|| format!("cannot open {path}"))?;
    let store = repo.odb()?;
    let read = |id: Oid| -> Result<(ObjectType, Vec<u8>)> {
        let object = staged
            .read(id)
            .or_else(|_| store.read(id))
            .with_context(|| format!("object {id} of the candidate cannot be read"))?;
        Ok((object.kind(), object.data().to_vec()))
    };
    let mut order = Vec::new();
    let mut seen = HashSet::new();
    let mut open = vec![(tree, Some(base))];
    while let Some((id, before)) = open.pop() {
        if Some(id) == before || !seen.insert((id, before)) {
            continue;
        }
        order.push(id);
        let (kind, data) = read(id)?;
        if kind != ObjectType::Tree {
            bail!("object {id} of the candidate is no tree");
        }
        let old: HashMap<Vec<u8>, (Kind, Oid)> = match before {
            Some(before) => entries(store.read(before)?.data())?
                .into_iter()
                .map(|(mode, name, id)| (name, (mode, id)))
                .collect(),
            None => HashMap::new(),
        };
        for (mode, name, child) in entries(&data)? {
            let there = old.get(&name).copied();
            if there == Some((mode, child)) {
                continue;
            }
            match mode {
                Kind::Tree => open.push((child, there.filter(|(mode, _)| *mode == Kind::Tree).map(|(_, id)| id))),
                Kind::Submodule => {}
                _ => order.push(child),
            }
        }
    }
    // Leaves first: an object in the store has everything it names.
    for id in order.into_iter().rev() {
        let (kind, data) = read(id)?;
        let written = store
            .write(kind, &data)
            .with_context(|| format!("cannot write object {id} to the clone's store"))?;
        if written != id {
            bail!("object {id} of the candidate has another content than its id says");
        }
    }
    Ok(())
}

/// The entries of a raw tree object.
fn entries(mut data: &[u8]) -> Result<Vec<(Kind, Vec<u8>, Oid)>> {
    let mut found = Vec::new();
    while !data.is_empty() {
        let space = data.iter().position(|&b| b == b' ').context("malformed tree")?;
        let nul = data.iter().position(|&b| b == 0).context("malformed tree")?;
        let id = data.get(nul + 1..nul + 21).context("malformed tree")?;
        let name = data.get(space + 1..nul).context("malformed tree")?;
        let kind = match data.get(..space).unwrap_or_default() {
            b"40000" => Kind::Tree,
            b"120000" => Kind::Symlink,
            b"160000" => Kind::Submodule,
            b"100755" => Kind::Executable,
            _ => Kind::File,
        };
        found.push((kind, name.to_vec(), Oid::from_bytes(id)?));
        data = data.get(nul + 21..).unwrap_or_default();
    }
    Ok(found)
}

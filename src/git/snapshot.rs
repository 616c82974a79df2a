//! Freezing: everything an agent left becomes one tree, once, before anything judges it.
//!
//! Invariant: [`Frozen`] is only made here, and it is the only thing that can be judged,
//! committed and recorded. The agent's index, configuration, HEAD and objects are not looked at:
//! staging happens in a second private git dir, made after the agent's end, with the index and
//! the configuration saved before it began.

use std::collections::HashSet;
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Context, Result, bail};
use git2::{Oid, Repository};

use crate::confine::Plan;
use crate::files;
use crate::gate;
use crate::job::left::{self, Left, RawPath, Uninspectable, Why};

use super::disarm::{Moved, Submodule, make_readable};
use super::from_git2;
use super::import::import;
use super::large::{Large, is_large};
use super::program::{Call, Git, first_lines};
use super::settings::ContentSettings;
use super::shadow::copy_index;
use super::tree::GitTree;

/// How long staging may go on after a signal: a filter may wait for a network.
const STAGING_PATIENCE: Duration = Duration::from_secs(7);
/// How long staging may take: filters run in it.
const STAGING_LIMIT: Duration = Duration::from_secs(30 * 60);
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
    pub nested: Vec<Vec<u8>>,
    /// What was called `.git` but for case. git takes none of it into a tree.
    pub twins: Vec<Moved>,
    /// What else the tree does not show as it is: paths, and why.
    pub uninspectable: Vec<(Vec<u8>, Hidden)>,
    /// What was set aside and lies in ignored folders, or was copied in: from where, to where.
    pub put_back: Vec<(PathBuf, PathBuf)>,
    /// Submodules of the base that the agent filled. Their links are in the tree, their files are not.
    pub submodules: Vec<Submodule>,
    /// Tracked files in whose place a pipe, socket or device stood: the tree has them as deleted.
    pub special: Vec<Vec<u8>>,
    /// It changes a `.gitattributes` file, which does not count for the freeze itself.
    pub attributes: bool,
    /// Paths that [`Stage::keep_out`] named and that the agent had put into the tree.
    pub kept_out: Vec<Vec<u8>>,
    /// The agent's index is there and cannot be read: what it had added by force is not known.
    pub unread_index: bool,
}

impl Frozen {
    /// The tree's id.
    pub fn tree(&self) -> Oid {
        self.tree
    }

    /// What a record keeps of it beside the tree.
    pub fn left(&self) -> Left {
        let paths = |paths: &[Vec<u8>]| paths.iter().map(|path| RawPath::of(path)).collect();
        Left {
            schema: left::SCHEMA.to_owned(),
            tree: self.tree.to_string(),
            changed: self.changed as u64,
            nested: paths(&self.nested),
            twins: self.twins.iter().map(|twin| RawPath::of(&twin.path)).collect(),
            uninspectable: self
                .uninspectable
                .iter()
                .map(|(path, why)| Uninspectable {
                    path: RawPath::of(path),
                    why: match *why {
                        Hidden::Path => Why::Path,
                        Hidden::Repository => Why::Repository,
                        Hidden::Size(bytes) => Why::Size { bytes },
                        Hidden::Encoding => Why::Encoding,
                    },
                })
                .collect(),
            ..Left::default()
        }
    }

    /// The same candidate from its record, without what still lay in the worktree: it was frozen in this job
    /// before, and all that may judge or commit it is there.
    ///
    /// # Errors
    /// The tree's id is none.
    pub fn restored(left: &Left) -> Result<Frozen> {
        let paths = |paths: &[RawPath]| paths.iter().map(|path| path.bytes().to_vec()).collect();
        let tree = Oid::from_str(&left.tree).with_context(|| format!("no tree id: {:?}", left.tree))?;
        Ok(Frozen {
            tree,
            changed: usize::try_from(left.changed).unwrap_or(usize::MAX),
            nested: paths(&left.nested),
            twins: left
                .twins
                .iter()
                .map(|path| Moved {
                    path: path.bytes().to_vec(),
                    to: PathBuf::new(),
                })
                .collect(),
            uninspectable: left
                .uninspectable
                .iter()
                .map(|one| {
                    let why = match one.why {
                        Why::Path => Hidden::Path,
                        Why::Repository => Hidden::Repository,
                        Why::Size { bytes } => Hidden::Size(bytes),
                        Why::Encoding => Hidden::Encoding,
                    };
                    (one.path.bytes().to_vec(), why)
                })
                .collect(),
            put_back: Vec::new(),
            submodules: Vec::new(),
            special: Vec::new(),
            attributes: false,
            kept_out: Vec::new(),
            unread_index: false,
        })
    }
}

/// Why nobody can inspect what an agent left at a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Hidden {
    /// The path is too long for programs; what is there is not in the tree.
    Path,
    /// git takes the folder for a repository, maybe by empty folders, which no tree shows.
    Repository,
    /// The file has so many bytes, too many to be staged; it is not in the tree.
    Size(u64),
    /// It is not in the encoding that the base's attributes say; it is in the tree as it is.
    Encoding,
}

/// The git dir in which staging happens.
#[derive(Debug)]
pub struct Stage {
    /// `<private>/stage`
    pub git_dir: PathBuf,
    /// The worktree that is frozen.
    pub worktree: PathBuf,
    base: String,
    /// What git and the filters that it runs may do.
    plan: Plan,
    tmp: PathBuf,
    private: HashSet<Vec<u8>>,
}

impl Stage {
    /// Makes it. `index` was saved before the agent ran.
    pub fn make(
        settings: &ContentSettings,
        private: &Path,
        worktree: &Path,
        index: &Path,
        base: &str,
        mut plan: Plan,
    ) -> Result<Stage> {
        let git_dir = private.join("stage");
        let tmp = private.join("stage.tmp");
        files::remove_tree(&git_dir)?;
        files::make_private_dir(&tmp)?;
        plan.writable = vec![git_dir.clone(), tmp.clone()];
        plan.needed = vec![worktree.to_owned(), settings.objects.clone()];
        // Warnings about line endings would count as a failure of staging.
        settings.write_into(
            &git_dir,
            &[
                ("core.safecrlf", "false"),
                ("core.logallrefupdates", "false"),
                // A name that another system would take for `.git` is for the gate to refuse.
                ("core.protectntfs", "false"),
                ("core.protecthfs", "false"),
            ],
        )?;
        files::replace(&git_dir.join("HEAD"), format!("{base}\n").as_bytes(), 0o600)?;
        copy_index(index, &git_dir.join("index"))?;
        Ok(Stage {
            git_dir,
            worktree: worktree.to_owned(),
            base: base.to_owned(),
            plan,
            tmp,
            private: HashSet::new(),
        })
    }

    /// Paths that never get into the tree, whatever the agent did with them: files of the person's that
    /// were copied in and that the base does not have.
    pub fn keep_out(mut self, paths: impl IntoIterator<Item = Vec<u8>>) -> Stage {
        self.private.extend(paths);
        self
    }

    /// A git call on the worktree that believes nothing in it but its files and ignore rules. Each is behind
    /// walls: whatever writes an index (`write-tree` does) may ask filters about entries that are as old as
    /// the index itself.
    pub fn git<'a>(&self, git: &'a Git) -> Call<'a> {
        git.at(&self.worktree)
            .sealed()
            .env("GIT_DIR", &self.git_dir)
            .env("GIT_WORK_TREE", &self.worktree)
            .env("GIT_INDEX_FILE", self.git_dir.join("index"))
            .env("GIT_ATTR_SOURCE", &self.base)
            .env("TMPDIR", &self.tmp)
            .persons_home()
            .confined(&self.plan)
    }

    /// Stages everything, writes the tree and brings its objects into the clone's store.
    /// `agent_index` is only asked which ignored files the agent had added on purpose.
    pub fn freeze(&self, git: &Git, repo: &Repository, base: Oid, agent_index: &Path) -> Result<Frozen> {
        let base_tree = repo.find_commit(base)?.tree_id();
        let before = GitTree::new(repo, from_git2(base_tree));
        let aside = self.disarm(git, &before)?;
        let garbled = self.stage_all(git)?;
        let (unread_index, large) = match self.stage_forced(git, agent_index)? {
            Some(large) => (false, large),
            None => (true, Vec::new()),
        };
        let large = [aside.large.clone(), large].concat();
        self.relist(git, &aside)?;
        let kept_out = self.take_out(git)?;
        let text = self.git(git).arg("write-tree").text()?;
        let tree = Oid::from_str(text.trim()).with_context(|| format!("git write-tree answered {text:?}"))?;
        import(&self.git_dir.join("objects"), repo, tree, base_tree)?;
        let after = GitTree::new(repo, from_git2(tree));
        let changes = gate::tree::diff(&before, &after)?;
        let attributes = changes
            .iter()
            .any(|change| change.path.rsplit(|&b| b == b'/').next() == Some(b".gitattributes"));
        let sorted = self.sort_out(git, &aside)?;
        // What had to be left out of the tree is a change all the same.
        let untracked = large
            .iter()
            .filter(|(path, _)| changes.binary_search_by(|change| change.path.cmp(path)).is_err());
        let changed = changes.len() + sorted.long.len() + aside.twins.len() + untracked.count();
        let bare = self.bare_of_agent(git, &before, &changes, &aside.bare)?;
        let bare = bare.into_iter().map(|path| (path, Hidden::Repository));
        let long = sorted.long.into_iter().map(|path| (path, Hidden::Path));
        let large = large.into_iter().map(|(path, size)| (path, Hidden::Size(size)));
        let garbled = garbled.into_iter().map(|path| (path, Hidden::Encoding));
        Ok(Frozen {
            tree,
            changed,
            nested: sorted.nested,
            twins: aside.twins,
            uninspectable: bare.chain(long).chain(large).chain(garbled).collect(),
            put_back: sorted.put_back,
            submodules: aside.submodules,
            special: aside.special,
            attributes,
            kept_out,
            unread_index,
        })
    }

    /// Whether [`Stage::keep_out`] named it.
    pub(super) fn is_private(&self, path: &Path) -> bool {
        self.private.contains(&self.below(path))
    }

    /// Takes the paths of [`Stage::keep_out`] out of the index; which of them were in it.
    fn take_out(&self, git: &Git) -> Result<Vec<Vec<u8>>> {
        if self.private.is_empty() {
            return Ok(Vec::new());
        }
        let listed = self.git(git).args(["ls-files", "--cached", "-z"]).bytes()?;
        let mut found: Vec<Vec<u8>> = listed
            .split(|&b| b == 0)
            .filter(|path| self.private.contains(*path))
            .map(<[u8]>::to_vec)
            .collect();
        found.dedup();
        if !found.is_empty() {
            let input: Vec<u8> = found.iter().flat_map(|path| [path, &b"\0"[..]].concat()).collect();
            self.git(git)
                .args(["update-index", "--force-remove", "-z", "--stdin"])
                .stdin(input)
                .bytes()?;
        }
        Ok(found)
    }

    /// `git add --all`. Anything it says is a failure, but for what an agent can cause and has a right
    /// answer: files it made unreadable, a link in place of an ignore file, and text that is not in the
    /// encoding that the base's attributes say. The answer to the last is a path that it was met at.
    fn stage_all(&self, git: &Git) -> Result<Option<Vec<u8>>> {
        let mut opened = false;
        let mut garbled = None;
        loop {
            let outcome = self
                .git(git)
                .args(["add", "--all", "--sparse", "."])
                .limit(STAGING_LIMIT)
                .finish_after_signal(STAGING_PATIENCE)
                .outcome()?;
            let said = String::from_utf8_lossy(&outcome.stderr).into_owned();
            if outcome.success() && said.lines().all(|line| line.trim().is_empty() || is_harmless(line)) {
                return Ok(garbled);
            }
            if garbled.is_none()
                && let Some(path) = garbled_path(&outcome.stderr)
            {
                garbled = Some(path);
                self.take_text_as_it_is()?;
                continue;
            }
            if said.contains("Permission denied") && !opened {
                opened = true;
                make_readable(&self.worktree)?;
                continue;
            }
            bail!(
                "git add --all failed on what the agent left: {}",
                first_lines(&outcome.stderr)
            );
        }
    }

    /// Turns `working-tree-encoding` off. This file goes before all attributes of the tree.
    fn take_text_as_it_is(&self) -> Result<()> {
        let at = self.git_dir.join("info/attributes");
        let mut attributes = match at.symlink_metadata() {
            Ok(_) => files::read_small(&at, MAX_INDEX)?,
            Err(_) => Vec::new(),
        };
        attributes.extend_from_slice(b"\n* !working-tree-encoding\n");
        files::replace(&at, &attributes, 0o600)?;
        Ok(())
    }

    /// Files that ignore rules hide and that the agent had added all the same (`git add -f`): it
    /// said that they are its work, so they are judged and kept with the rest. The agent's index
    /// only gives names; the content is what lies on the disk.
    /// The answer is what was too large, with sizes in bytes; none where that index is there and cannot be
    /// read.
    fn stage_forced(&self, git: &Git, agent_index: &Path) -> Result<Option<Vec<Large>>> {
        let Ok(bytes) = files::read_small(agent_index, MAX_INDEX) else {
            return Ok(agent_index.symlink_metadata().is_err().then(Vec::new));
        };
        // A split index has most of its entries in files beside it.
        for entry in std::fs::read_dir(agent_index.parent().unwrap_or(agent_index))
            .into_iter()
            .flatten()
            .flatten()
        {
            let name = entry.file_name();
            if name.as_bytes().starts_with(b"sharedindex.")
                && let Ok(bytes) = files::read_small(&entry.path(), MAX_INDEX)
            {
                files::replace(&self.git_dir.join(&name), &bytes, 0o600)?;
            }
        }
        let copy = self.git_dir.join("index.agent");
        files::replace(&copy, &bytes, 0o600)?;
        let listed = self
            .git(git)
            .env("GIT_INDEX_FILE", &copy)
            .args(["ls-files", "--cached", "--ignored", "--exclude-standard", "-z"])
            .outcome()?;
        if !listed.success() {
            return Ok(None);
        }
        let (mut there, mut large) = (Vec::new(), Vec::new());
        for path in listed.stdout.split(|&b| b == 0).filter(|path| !path.is_empty()) {
            match self.worktree.join(OsStr::from_bytes(path)).symlink_metadata() {
                Ok(meta) if is_large(&meta) => large.push((path.to_vec(), meta.len())),
                Ok(meta) if !meta.is_dir() => there.push(path.to_vec()),
                _ => {}
            }
        }
        let paths: Vec<Vec<u8>> = large.iter().map(|(path, _)| path.clone()).collect();
        let filtered = self.filtered(git, &paths)?;
        large.retain(|(path, _)| !filtered.contains(path));
        there.extend(filtered);
        let there: Vec<u8> = there.iter().flat_map(|path| [path, &b"\0"[..]].concat()).collect();
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
        Ok(Some(large))
    }
}

/// The path in what git says of text that it cannot bring from or into an encoding.
fn garbled_path(stderr: &[u8]) -> Option<Vec<u8>> {
    let said = [
        (&b"fatal: BOM is required in '"[..], &b"' if encoded as "[..]),
        (b"fatal: BOM is prohibited in '", b"' if encoded as "),
        (b"fatal: failed to encode '", b"' from "),
        (b"fatal: encoding '", b"' from "),
    ];
    said.iter().find_map(|(start, end)| {
        let from = stderr.windows(start.len()).position(|window| window == *start)? + start.len();
        let rest = &stderr[from..];
        let to = rest.windows(end.len()).rposition(|window| window == *end)?;
        Some(rest[..to].to_vec())
    })
}

/// What git or a filter may say beside a success. A file or folder that was passed over, and a
/// filter that failed, are told with these words; all else (a filter's own chatter, a warning about
/// an attribute line) loses nothing. git does not follow a link in place of an ignore file: the link
/// is content, and hides nothing.
fn is_harmless(line: &str) -> bool {
    let lost = [
        "error:",
        "fatal:",
        "warning: could not open directory",
        "warning: unable to access",
    ];
    let link = line.ends_with(".gitignore': Too many levels of symbolic links");
    link || !lost.iter().any(|start| line.starts_with(start))
}

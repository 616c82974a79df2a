//! Taking out of a worktree what git must not meet there, before it stages what an agent left.
//!
//! Invariant: no git that runs outside the agent's time finds a git dir, or a pipe in place of one of
//! git's own files, that the agent could have written. git would run programs that such a git dir
//! names (it asks a submodule for its state under that one's own configuration), or wait for ever.

use std::collections::{HashMap, HashSet};
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};

use crate::files;
use crate::gate::content::is_of_git_dir;
use crate::gate::{self, Change};
use crate::process::Status;

use super::evidence::ignored_by_base;
use super::large::{Large, is_large};
use super::program::{Git, first_lines};
use super::snapshot::Stage;
use super::tree::GitTree;

/// Most bytes of a ref file that are read.
const MAX_REFS: u64 = 8 * 1024 * 1024;
/// Longest path (bytes, from the root) that is worked with. Programs and the kernel end at 4096, and what
/// is laid out elsewhere for a look is reached by a path that is somewhat longer.
const LONGEST: usize = 4000;
/// Files that git reads in a work tree.
const READ_BY_GIT: &[&str] = &[".gitignore", ".gitattributes", ".gitmodules"];

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

/// What lies elsewhere than where the agent left it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Moved {
    /// Where it was, below the worktree.
    pub path: Vec<u8>,
    /// Where it lies now.
    pub to: PathBuf,
}

/// What was taken out.
#[derive(Debug, Default)]
pub(super) struct Aside {
    /// Git dirs: the folder they were in, and where they lie now.
    git_dirs: Vec<(PathBuf, PathBuf)>,
    /// Filled submodules of the base.
    pub(super) submodules: Vec<Submodule>,
    /// Pipes, sockets and devices, below the worktree.
    pub(super) special: Vec<Vec<u8>>,
    /// What was called `.git` but for case, which git refuses to stage.
    pub(super) twins: Vec<Moved>,
    /// Files too large to be staged, below the worktree, and their sizes in bytes.
    pub(super) large: Vec<Large>,
    /// Folders that git takes for a bare repository, below the worktree. They stay where they are.
    pub(super) bare: Vec<Vec<u8>>,
    /// Such files of the person's that were copied in: where they were, and where they lie now.
    copied: Vec<(PathBuf, PathBuf)>,
    /// What no program could name by its path: where it was, and where it lies now.
    long: Vec<(PathBuf, PathBuf)>,
    /// Lines for `update-index`: to which commits submodules had moved, and what stays as the base has it.
    relisted: Vec<u8>,
}

/// What was taken out, told apart by the ignore rules.
#[derive(Debug, Default)]
pub(super) struct Sorted {
    /// Folders with a repository of the agent's own.
    pub(super) nested: Vec<Vec<u8>>,
    /// Where paths became too long.
    pub(super) long: Vec<Vec<u8>>,
    /// What lay in ignored folders or was copied in: from where, to where.
    pub(super) put_back: Vec<(PathBuf, PathBuf)>,
}

/// What was found below the top.
#[derive(Debug, Default)]
struct Found {
    dots: Vec<PathBuf>,
    special: Vec<PathBuf>,
    long: Vec<PathBuf>,
    large: Vec<PathBuf>,
    bare: Vec<PathBuf>,
}

impl Stage {
    /// Takes out every git dir below the top, pipes and the like in place of files that git reads, and files
    /// that are too large for it.
    pub(super) fn disarm(&self, git: &Git, base: &GitTree<'_>) -> Result<Aside> {
        let listed = self.git(git).args(["ls-files", "--stage", "-z"]).bytes()?;
        let mut links: Vec<(Vec<u8>, String)> = Vec::new();
        let mut tracked: HashMap<&[u8], &[u8]> = HashMap::new();
        for entry in listed.split(|&b| b == 0) {
            let Some(tab) = entry.iter().position(|&b| b == b'\t') else {
                continue;
            };
            let (about, path) = (&entry[..tab], &entry[tab + 1..]);
            tracked.insert(path, entry);
            if let Some(id) = about.strip_prefix(b"160000 ").and_then(|rest| rest.get(..40)) {
                links.push((path.to_vec(), String::from_utf8_lossy(id).into_owned()));
            }
        }
        let Found {
            dots,
            special,
            long,
            large,
            bare,
        } = match self.look_through(&tracked) {
            Ok(found) => found,
            Err(_) => {
                make_readable(&self.worktree)?;
                self.look_through(&tracked)
                    .context("cannot look through what the agent left")?
            }
        };
        let mut aside = Aside {
            bare: bare.iter().map(|path| self.below(path)).collect(),
            ..Aside::default()
        };
        let kept = self.git_dir.join("aside");
        std::fs::create_dir_all(&kept).with_context(|| format!("cannot make {}", kept.display()))?;
        let move_aside = |from: &Path, name: String| -> Result<PathBuf> {
            let to = kept.join(name);
            files::rename_long(from, &to).with_context(|| format!("cannot set {} aside", from.display()))?;
            Ok(to)
        };
        for (number, path) in long.into_iter().enumerate() {
            let to = move_aside(&path, format!("long-{number}"))?;
            aside.long.push((path, to));
        }
        for (number, path) in special.iter().enumerate() {
            move_aside(path, format!("special-{number}"))?;
            aside.special.push(self.below(path));
        }
        let (copied, large): (Vec<_>, Vec<_>) = large.into_iter().partition(|path| self.is_private(path));
        for (number, path) in copied.into_iter().enumerate() {
            let to = move_aside(&path, format!("copied-{number}"))?;
            aside.copied.push((path, to));
        }
        for (number, path) in self.too_large(git, base, &tracked, &large)?.iter().enumerate() {
            let size = path.symlink_metadata().map_or(0, |meta| meta.len());
            move_aside(path, format!("large-{number}"))?;
            let path = self.below(path);
            // It is not gone, so the tree keeps what the base has.
            if let Some(entry) = tracked.get(path.as_slice()) {
                aside.relisted.extend([entry, &b"\0"[..]].concat());
            }
            aside.large.push((path, size));
        }
        // By folder: where the git dir's objects lie, and the commit that its HEAD named.
        let mut found: HashMap<PathBuf, (Option<PathBuf>, Option<String>)> = HashMap::new();
        for (number, dot) in dots.iter().enumerate() {
            if dot.file_name() != Some(OsStr::new(".git")) {
                let to = move_aside(dot, format!("twin-{number}"))?;
                let path = self.below(dot);
                aside.twins.push(Moved { path, to });
                continue;
            }
            let git_dir = pointed(dot);
            let head = git_dir.as_deref().and_then(head_of);
            let to = move_aside(dot, format!("git-{number}"))?;
            let git_dir = git_dir.map(|at| if at == *dot { to.clone() } else { at });
            let folder = dot.parent().unwrap_or(&self.worktree).to_owned();
            found.insert(folder.clone(), (git_dir.map(|at| at.join("objects")), head));
            aside.git_dirs.push((folder, to));
        }
        for (path, base) in links {
            let Some(folder) = self.own(&path) else { continue };
            if !std::fs::read_dir(&folder).is_ok_and(|mut inside| inside.next().is_some())
                && !found.contains_key(&folder)
            {
                continue;
            }
            let (objects, head) = found.remove(&folder).unwrap_or_default();
            aside.git_dirs.retain(|(there, _)| *there != folder);
            if let Some(head) = head.filter(|head| *head != base) {
                let line = [format!("160000 {head}\t").as_bytes(), &path, b"\0"].concat();
                aside.relisted.extend(line);
            }
            aside.submodules.push(Submodule { path, base, objects });
        }
        Ok(aside)
    }

    /// Every `.git` below the top, in any case, and what is no file in the place of a tracked one or of one that
    /// git reads, and where paths get too long, and files that are large. Only names, kinds and sizes are looked at.
    fn look_through(&self, tracked: &HashMap<&[u8], &[u8]>) -> Result<Found> {
        let mut found = Found::default();
        let mut walk = walkdir::WalkDir::new(&self.worktree)
            .follow_links(false)
            .min_depth(1)
            .into_iter();
        while let Some(entry) = walk.next() {
            let entry = entry?;
            let kind = entry.file_type();
            if is_too_long(entry.path()) {
                found.long.push(entry.path().to_owned());
                if kind.is_dir() {
                    walk.skip_current_dir();
                }
            } else if entry.file_name().eq_ignore_ascii_case(".git") {
                if entry.depth() > 1 || entry.file_name() != ".git" {
                    found.dots.push(entry.path().to_owned());
                }
                if kind.is_dir() {
                    walk.skip_current_dir();
                }
            } else if kind.is_file() {
                if entry.depth() > 1 && entry.file_name().eq_ignore_ascii_case("HEAD") {
                    found
                        .bare
                        .extend(entry.path().parent().filter(|at| is_bare(at)).map(Path::to_owned));
                }
                if is_large(&entry.metadata()?) {
                    found.large.push(entry.into_path());
                }
            } else if !kind.is_dir() && !kind.is_symlink() {
                let name = entry.file_name().to_string_lossy();
                if READ_BY_GIT.contains(&name.as_ref()) || tracked.contains_key(self.below(entry.path()).as_slice()) {
                    found.special.push(entry.path().to_owned());
                }
            }
        }
        Ok(found)
    }

    /// A folder below the worktree, if it is one and no link leads there: what lies behind one is not
    /// the agent's.
    fn own(&self, path: &[u8]) -> Option<PathBuf> {
        let mut at = self.worktree.clone();
        for part in path.split(|&b| b == b'/') {
            at.push(OsStr::from_bytes(part));
            if !at.symlink_metadata().is_ok_and(|meta| meta.is_dir()) {
                return None;
            }
        }
        Some(at)
    }

    /// Which of the folders that are bare repositories on the disk the agent made or altered, where the base's
    /// rules do not ignore them: the gate sees no empty `objects` and `refs`, a kept worktree has them.
    pub(super) fn bare_of_agent(
        &self,
        git: &Git,
        base: &GitTree<'_>,
        changes: &[Change],
        bare: &[Vec<u8>],
    ) -> Result<Vec<Vec<u8>>> {
        let asked: Vec<Vec<u8>> = bare.iter().map(|path| [path, &b"/"[..]].concat()).collect();
        let mut found = ignored_by_base(git, self, base, &asked)?.1;
        found.retain(|folder| {
            let changed = |change: &Change| {
                let below = change.path.strip_prefix(folder.as_slice());
                below.is_some_and(|below| below.split(|&b| b == b'/').next().is_some_and(is_of_git_dir))
            };
            let known = gate::tree::lookup(base, &[folder, &b"HEAD"[..]].concat());
            !matches!(known, Ok(Some(_))) || changes.iter().any(changed)
        });
        found.iter_mut().for_each(|folder| folder.truncate(folder.len() - 1));
        Ok(found)
    }

    /// Brings the links of submodules to the commits that they had moved to, and files that were taken out as
    /// too large to what the base has.
    pub(super) fn relist(&self, git: &Git, aside: &Aside) -> Result<()> {
        if !aside.relisted.is_empty() {
            self.git(git)
                .args(["update-index", "-z", "--index-info"])
                .stdin(aside.relisted.clone())
                .bytes()?;
        }
        Ok(())
    }

    /// Tells what the agent put among its work from what lies in ignored folders, such as a package
    /// manager's.
    pub(super) fn sort_out(&self, git: &Git, aside: &Aside) -> Result<Sorted> {
        let mut sorted = Sorted {
            put_back: aside.copied.clone(),
            ..Sorted::default()
        };
        let asked = |path: &Path, is_folder: bool| {
            let end: &[u8] = if is_folder { b"/" } else { b"" };
            [b"./", self.below(path).as_slice(), end].concat()
        };
        let dirs = aside.git_dirs.iter().map(|(folder, to)| {
            let from = folder.join(".git");
            (folder, asked(folder, true), from, to, false)
        });
        let long = aside
            .long
            .iter()
            .map(|(from, to)| (from, asked(from, to.is_dir()), from.clone(), to, true));
        let all: Vec<_> = dirs.chain(long).collect();
        if all.is_empty() {
            return Ok(sorted);
        }
        let input = all.iter().flat_map(|(_, asked, ..)| [asked.as_slice(), b"\0"].concat());
        let outcome = self
            .git(git)
            .args(["check-ignore", "-z", "--stdin"])
            .stdin(input.collect::<Vec<u8>>())
            .outcome()?;
        anyhow::ensure!(
            matches!(outcome.status, Status::Exited(0 | 1)),
            "git check-ignore failed: {}",
            first_lines(&outcome.stderr)
        );
        let ignored: HashSet<&[u8]> = outcome.stdout.split(|&b| b == 0).collect();
        for (path, asked, from, to, is_long) in all {
            if ignored.contains(asked.as_slice()) {
                sorted.put_back.push((from, to.clone()));
            } else if is_long {
                sorted.long.push(self.below(path));
            } else {
                sorted.nested.push(self.below(path));
            }
        }
        Ok(sorted)
    }
}

/// Whether git takes a folder with a `HEAD` for a repository.
fn is_bare(folder: &Path) -> bool {
    let has = |name: &str| folder.join(name).symlink_metadata().is_ok();
    has("commondir") || (has("objects") && has("refs"))
}

fn is_too_long(path: &Path) -> bool {
    path.as_os_str().len() > LONGEST
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

/// Gives the owner back what an agent took away on one folder.
pub fn open_folder(folder: &Path) -> Result<()> {
    grant(folder, 0o700)
}

/// Gives the owner back what an agent took away, on everything below a folder.
pub(super) fn make_readable(folder: &Path) -> Result<()> {
    let mut open = vec![folder.to_owned()];
    while let Some(folder) = open.pop() {
        grant(&folder, 0o700)?;
        for entry in std::fs::read_dir(&folder).with_context(|| format!("cannot list {}", folder.display()))? {
            let entry = entry?;
            let kind = entry.file_type()?;
            if is_too_long(&entry.path()) {
                // Nobody reads it by its path either.
            } else if kind.is_dir() {
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

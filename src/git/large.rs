//! Files that are too large to be staged.
//!
//! git reads every byte of a file to name it, and a hole of a terabyte takes an agent no time to make. Only
//! what git would read is looked for: not what the base ignores, has unchanged, or hands to a filter, as
//! git-lfs is one.

use std::collections::{HashMap, HashSet};
use std::ffi::OsStr;
use std::fs::Metadata;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use anyhow::Result;

use super::evidence::ignored_by_base;
use super::program::Git;
use super::snapshot::Stage;
use super::tree::GitTree;

/// Largest file (bytes, as `ls` shows it) that is staged: forges refuse far smaller ones, nobody can review
/// it, and git takes seconds for it, not minutes.
pub const LARGEST: u64 = 2 << 30;

/// A path below the worktree, and the file's size in bytes.
pub(super) type Large = (Vec<u8>, u64);

pub(super) fn is_large(meta: &Metadata) -> bool {
    meta.is_file() && meta.len() > LARGEST
}

impl Stage {
    /// Those of `large`, which lie below the worktree, that staging would read and must not.
    pub(super) fn too_large(
        &self,
        git: &Git,
        base: &GitTree<'_>,
        tracked: &HashMap<&[u8], &[u8]>,
        large: &[PathBuf],
    ) -> Result<Vec<PathBuf>> {
        if large.is_empty() {
            return Ok(Vec::new());
        }
        let known = self.stats();
        let mut asked = Vec::new();
        let mut suspects = Vec::new();
        for file in large {
            let path = self.below(file);
            match known.get(&path) {
                Some(stat) if stat.is_same(&file.symlink_metadata()?) => {}
                // Ignore rules do not hold for what is tracked.
                _ if tracked.contains_key(path.as_slice()) => suspects.push(path),
                _ => asked.push(path),
            }
        }
        suspects.extend(ignored_by_base(git, self, base, &asked)?.1);
        let filtered = self.filtered(git, &suspects)?;
        suspects.retain(|path| !filtered.contains(path));
        let full = |path: &Vec<u8>| self.worktree.join(OsStr::from_bytes(path));
        Ok(suspects.iter().map(full).collect())
    }

    /// Which of the paths a filter of the person's takes in, by the base's attributes.
    pub(super) fn filtered(&self, git: &Git, paths: &[Vec<u8>]) -> Result<HashSet<Vec<u8>>> {
        let mut filtered = HashSet::new();
        if paths.is_empty() {
            return Ok(filtered);
        }
        let input: Vec<u8> = paths.iter().flat_map(|path| [path, &b"\0"[..]].concat()).collect();
        let said = self
            .git(git)
            .args(["check-attr", "-z", "--stdin", "filter"])
            .stdin(input)
            .bytes()?;
        let words: Vec<&[u8]> = said.split(|&b| b == 0).collect();
        for of_path in words.chunks_exact(3) {
            if self.is_driver(git, of_path[2])? {
                filtered.insert(of_path[0].to_vec());
            }
        }
        Ok(filtered)
    }

    /// Whether there is a filter of this name: where there is none, git reads the file itself.
    fn is_driver(&self, git: &Git, name: &[u8]) -> Result<bool> {
        for key in [&b".clean"[..], b".process"] {
            let key = [b"filter.", name, key].concat();
            let said = self
                .git(git)
                .args(["config", "--get"])
                .arg(OsStr::from_bytes(&key))
                .outcome()?;
            if said.success() && !said.stdout.trim_ascii().is_empty() {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// What the saved index knows of each file. Of an index that cannot be read this way nothing is known:
    /// then a large file counts as changed.
    fn stats(&self) -> HashMap<Vec<u8>, Stat> {
        let index = git2::Index::open(&self.git_dir.join("index"));
        let entries = index.iter().flat_map(git2::Index::iter);
        entries
            .map(|entry| {
                let stat = Stat {
                    size: entry.file_size,
                    modified: (entry.mtime.seconds(), entry.mtime.nanoseconds()),
                    changed: (entry.ctime.seconds(), entry.ctime.nanoseconds()),
                };
                (entry.path, stat)
            })
            .collect()
    }

    pub(super) fn below(&self, path: &Path) -> Vec<u8> {
        let below = path.strip_prefix(&self.worktree).unwrap_or(path);
        below.as_os_str().as_bytes().to_vec()
    }
}

/// What an index keeps of a file's inode: sizes and seconds in 32 bits.
struct Stat {
    size: u32,
    modified: (i32, u32),
    changed: (i32, u32),
}

impl Stat {
    /// Whether git takes the file for unchanged. An index may lack the nanoseconds.
    #[expect(clippy::cast_possible_truncation, reason = "an index holds 32 bits of each")]
    fn is_same(&self, meta: &Metadata) -> bool {
        let same = |kept: (i32, u32), seconds: i64, nanoseconds: i64| {
            kept.0 == seconds as i32 && (kept.1 == 0 || i64::from(kept.1) == nanoseconds)
        };
        self.size == meta.len() as u32
            && same(self.modified, meta.mtime(), meta.mtime_nsec())
            && same(self.changed, meta.ctime(), meta.ctime_nsec())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_the_same_if_nothing_of_it_changed() {
        let folder = tempfile::tempdir().expect("a folder");
        let file = std::fs::File::create_new(folder.path().join("a")).expect("a file");
        let known = |meta: &Metadata| Stat {
            size: 0,
            modified: (meta.mtime() as i32, meta.mtime_nsec() as u32),
            changed: (meta.ctime() as i32, 0),
        };
        let meta = || file.metadata().expect("it is there");
        let stat = known(&meta());
        assert!(stat.is_same(&meta()));
        // The same size in 32 bits and the same time: the change itself has a time that nobody sets.
        let times = std::fs::FileTimes::new().set_modified(meta().modified().expect("a time"));
        file.set_len(1 << 32).expect("room for a hole");
        file.set_times(times).expect("ours");
        let meta = meta();
        let earlier = Stat {
            changed: (meta.ctime() as i32 - 1, 0),
            ..known(&meta)
        };
        assert!(!earlier.is_same(&meta));
        assert!(
            !Stat {
                size: 1,
                ..known(&meta)
            }
            .is_same(&meta)
        );
        assert!(
            !Stat {
                modified: (1, 0),
                ..known(&meta)
            }
            .is_same(&meta)
        );
    }
}

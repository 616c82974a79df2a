//! `gate::Tree` over libgit2.

use std::cell::RefCell;
use std::collections::HashMap;

use crate::gate::{Entry, Kind, Oid, Tree, Unreadable};

use super::{from_git2, to_git2};

/// A tree in a repository's object store. libgit2 checks that each object it reads has the hash
/// it is asked for, ignores replace refs and runs no program.
pub struct GitTree<'a> {
    repo: &'a git2::Repository,
    root: Oid,
    // Several rules look at the same folders.
    folders: RefCell<HashMap<Oid, Vec<Entry>>>,
}

impl<'a> GitTree<'a> {
    /// The tree with this id.
    pub fn new(repo: &'a git2::Repository, root: Oid) -> GitTree<'a> {
        GitTree {
            repo,
            root,
            folders: RefCell::default(),
        }
    }

    /// The tree of a commit.
    pub fn of_commit(repo: &'a git2::Repository, commit: git2::Oid) -> Result<GitTree<'a>, Unreadable> {
        let commit = repo
            .find_commit(commit)
            .map_err(|error| unreadable("commit", commit, &error))?;
        Ok(GitTree::new(repo, from_git2(commit.tree_id())))
    }

    /// The tree without a single entry, as parent of a root commit. It need not exist as an object.
    pub fn empty(repo: &'a git2::Repository) -> GitTree<'a> {
        let root = Oid::from_bytes(&[0; 20]).unwrap_or_else(|| unreachable!("20 bytes fit"));
        let tree = GitTree::new(repo, root);
        tree.folders.borrow_mut().insert(root, Vec::new());
        tree
    }
}

fn unreadable(kind: &str, id: impl std::fmt::Display, error: &git2::Error) -> Unreadable {
    Unreadable {
        what: format!("{kind} {id}: {}", error.message()),
    }
}

impl Tree for GitTree<'_> {
    fn root(&self) -> Oid {
        self.root
    }

    fn entries(&self, folder: &Oid) -> Result<Vec<Entry>, Unreadable> {
        if let Some(known) = self.folders.borrow().get(folder) {
            return Ok(known.clone());
        }
        let read = |error: git2::Error| unreadable("tree", folder, &error);
        let tree = self.repo.find_tree(to_git2(folder).map_err(read)?).map_err(read)?;
        let mut entries = Vec::with_capacity(tree.len());
        for entry in tree.iter() {
            let kind = match entry.filemode_raw() {
                0o040000 => Kind::Tree,
                0o120000 => Kind::Symlink,
                0o160000 => Kind::Submodule,
                mode if mode & 0o170000 == 0o100000 && mode & 0o111 != 0 => Kind::Executable,
                mode if mode & 0o170000 == 0o100000 => Kind::File,
                mode => {
                    return Err(Unreadable {
                        what: format!("tree {folder}: an entry has the unknown mode {mode:o}"),
                    });
                }
            };
            entries.push(Entry {
                name: entry.name_bytes().to_vec(),
                kind,
                id: from_git2(entry.id()),
            });
        }
        self.folders.borrow_mut().insert(*folder, entries.clone());
        Ok(entries)
    }

    fn blob(&self, id: &Oid) -> Result<Vec<u8>, Unreadable> {
        let read = |error: git2::Error| unreadable("blob", id, &error);
        let blob = self.repo.find_blob(to_git2(id).map_err(read)?).map_err(read)?;
        Ok(blob.content().to_vec())
    }

    fn blob_size(&self, id: &Oid) -> Result<u64, Unreadable> {
        let read = |error: git2::Error| unreadable("blob", id, &error);
        let odb = self.repo.odb().map_err(read)?;
        let (size, _) = odb.read_header(to_git2(id).map_err(read)?).map_err(read)?;
        Ok(size as u64)
    }
}

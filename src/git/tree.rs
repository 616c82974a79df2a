//! `gate::Tree` over libgit2.

use std::cell::RefCell;
use std::collections::HashMap;
use std::rc::Rc;

use git2::ObjectType;

use crate::gate::tree::{Fault, Folder, parse};
use crate::gate::{Entry, Oid, Tree, Unreadable};

use super::{from_git2, to_git2};

/// A tree in a repository's object store. libgit2 checks that each object it reads has the hash
/// it is asked for, ignores replace refs and runs no program.
pub struct GitTree<'a> {
    repo: &'a git2::Repository,
    root: Oid,
    // Several rules look at the same folders.
    folders: RefCell<HashMap<Oid, Rc<Folder>>>,
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
        tree.folders.borrow_mut().insert(root, Rc::default());
        tree
    }

    /// The folder with this id, read once. Its bytes are read here and not by libgit2, which passes over
    /// what git would not have written.
    fn folder(&self, id: &Oid) -> Result<Rc<Folder>, Unreadable> {
        if let Some(known) = self.folders.borrow().get(id) {
            return Ok(known.clone());
        }
        let read = |error: git2::Error| unreadable("tree", id, &error);
        let odb = self.repo.odb().map_err(read)?;
        let oid = to_git2(id).map_err(read)?;
        // libgit2 keeps what it reads in memory, a tree only in the form in which it was asked for first. Asked so, each
        // read of the bytes is one of the disk, checked anew: an agent may have been at the store since. It refuses some
        // malformed trees, which are read all the same.
        let _ = self.repo.find_tree(oid);
        let object = odb.read(oid).map_err(read)?;
        let damaged = |why: String| Unreadable {
            what: format!("tree {id}: {why}"),
        };
        if object.kind() != ObjectType::Tree {
            return Err(damaged(format!("it is a {}", object.kind())));
        }
        let folder = parse(object.data(), id.as_bytes().len()).map_err(|why| damaged(why.to_owned()))?;
        let folder = Rc::new(folder);
        self.folders.borrow_mut().insert(*id, folder.clone());
        Ok(folder)
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
        Ok(self.folder(folder)?.entries.clone())
    }

    fn faults(&self, folder: &Oid) -> Result<Vec<Fault>, Unreadable> {
        Ok(self.folder(folder)?.faults.clone())
    }

    fn blob(&self, id: &Oid) -> Result<Vec<u8>, Unreadable> {
        let read = |error: git2::Error| unreadable("blob", id, &error);
        let blob = self.repo.find_blob(to_git2(id).map_err(read)?).map_err(read)?;
        Ok(blob.content().to_vec())
    }

    fn blob_size(&self, id: &Oid) -> Result<u64, Unreadable> {
        let read = |error: git2::Error| unreadable("blob", id, &error);
        let odb = self.repo.odb().map_err(read)?;
        let (size, kind) = odb.read_header(to_git2(id).map_err(read)?).map_err(read)?;
        match kind {
            ObjectType::Blob => Ok(size as u64),
            other => Err(Unreadable {
                what: format!("blob {id}: it is a {other}"),
            }),
        }
    }
}

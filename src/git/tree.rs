//! `gate::Tree` over libgit2.

use std::cell::{OnceCell, RefCell};
use std::collections::HashMap;
use std::rc::Rc;
use std::sync::Once;
use std::sync::atomic::{AtomicUsize, Ordering};

use git2::ObjectType;

use crate::gate::tree::{Blobs, Fault, Folder, Item, parse};
use crate::gate::{Entry, Oid, Tree, Unreadable};

use super::from_git2;
use super::loose::{Loose, OBSTRUCTED};
use super::objects::{LARGEST, Objects, Store, threads};
use super::packs::Place;

/// A tree in a repository's object store. Each object that is read has the hash it is asked for: `Packs` and `Loose`
/// check that, and so does libgit2, which reads what lies elsewhere. None looks at replace refs or runs a program.
pub struct GitTree<'a> {
    repo: &'a git2::Repository,
    root: Oid,
    folders: Folders,
}

/// Fewer folders than this are read by one thread: starting another costs as much as reading some.
const FEW: usize = 4;

/// Folders that were read, for several trees of one store: most folders are the same in a base and its candidate.
#[derive(Clone, Default)]
pub struct Folders(Rc<Known>);

#[derive(Default)]
struct Known {
    folders: RefCell<HashMap<Oid, Rc<Folder>>>,
    objects: OnceCell<Objects>,
}

impl Folders {
    fn objects(&self, repo: &git2::Repository) -> &Objects {
        self.0
            .objects
            .get_or_init(|| Objects::of(&repo.commondir().join("objects")))
    }
}

/// libgit2 keeps commits, trees and tags that it read in memory, and gives them out again unchecked. Each read here is
/// to be one of the disk, checked anew: an agent may have been at the store since. What is worth keeping is kept here.
static UNCACHED: Once = Once::new();

impl<'a> GitTree<'a> {
    /// The tree with this id.
    pub fn new(repo: &'a git2::Repository, root: Oid) -> GitTree<'a> {
        GitTree::with(repo, root, &Folders::default())
    }

    /// The tree with this id, of a store of which these folders were read already. Not for trees between whose
    /// readings somebody else could write to the store.
    pub fn with(repo: &'a git2::Repository, root: Oid, folders: &Folders) -> GitTree<'a> {
        UNCACHED.call_once(|| git2::opts::enable_caching(false));
        GitTree {
            repo,
            root,
            folders: folders.clone(),
        }
    }

    /// The tree of a commit.
    pub fn of_commit(repo: &'a git2::Repository, commit: git2::Oid) -> Result<GitTree<'a>, Unreadable> {
        if Loose::of_repo(repo).is_obstructed(&from_git2(commit)) {
            return Err(Unreadable {
                what: format!("commit {commit}: {OBSTRUCTED}"),
            });
        }
        let commit = repo
            .find_commit(commit)
            .map_err(|error| unreadable("commit", commit, &error))?;
        Ok(GitTree::new(repo, from_git2(commit.tree_id())))
    }

    /// The tree of a commit, of a store of which these folders were read already; see [`GitTree::with`].
    pub fn of_commit_with(
        repo: &'a git2::Repository,
        commit: git2::Oid,
        folders: &Folders,
    ) -> Result<GitTree<'a>, Unreadable> {
        let tree = GitTree::of_commit(repo, commit)?;
        Ok(GitTree::with(repo, tree.root, folders))
    }

    /// The tree without a single entry, as parent of a root commit. It need not exist as an object.
    pub fn empty(repo: &'a git2::Repository) -> GitTree<'a> {
        let root = Oid::from_bytes(&[0; 20]).unwrap_or_else(|| unreachable!("20 bytes fit"));
        let tree = GitTree::new(repo, root);
        tree.folders.0.folders.borrow_mut().insert(root, Rc::default());
        tree
    }
}

/// Reads a folder by its bytes, and not by libgit2, which passes over what git would not have written.
fn folder(store: &Store, id: &Oid, place: Option<Place>) -> Result<Folder, Unreadable> {
    let damaged = |why: String| Unreadable {
        what: format!("tree {id}: {why}"),
    };
    let (kind, bytes) = store.read(id, place, LARGEST).map_err(damaged)?;
    if kind != ObjectType::Tree {
        return Err(damaged(format!("it is a {kind}")));
    }
    parse(bytes, id.as_bytes().len()).map_err(|why| damaged(why.to_owned()))
}

fn unreadable(kind: &str, id: impl std::fmt::Display, error: &git2::Error) -> Unreadable {
    Unreadable {
        what: format!("{kind} {id}: {}", error.message()),
    }
}

impl GitTree<'_> {
    fn store_of(&self, kind: &str, id: &Oid) -> Result<Store<'_>, Unreadable> {
        let odb = self.repo.odb().map_err(|error| unreadable(kind, id, &error))?;
        let objects = self.folders.objects(self.repo);
        Ok(Store::of(odb, objects))
    }
}

impl Tree for GitTree<'_> {
    fn root(&self) -> Oid {
        self.root
    }

    fn entries(&self, folder: &Oid) -> Result<Vec<Entry>, Unreadable> {
        Ok(self.folder(folder)?.items().map(Item::to_entry).collect())
    }

    fn faults(&self, folder: &Oid) -> Result<Vec<Fault>, Unreadable> {
        Ok(self.folder(folder)?.faults.clone())
    }

    fn folder(&self, id: &Oid) -> Result<Rc<Folder>, Unreadable> {
        if let Some(known) = self.folders.0.folders.borrow().get(id) {
            return Ok(known.clone());
        }
        let store = self.store_of("tree", id)?;
        let folder = Rc::new(folder(&store, id, None)?);
        self.folders.0.folders.borrow_mut().insert(*id, folder.clone());
        Ok(folder)
    }

    fn keeper(&self) -> Option<usize> {
        Some(Rc::as_ptr(&self.folders.0).addr())
    }

    fn prepare(&self, ids: &[Oid]) {
        let mut missing: Vec<Oid> = ids.to_vec();
        missing.sort_unstable();
        missing.dedup();
        missing.retain(|id| !self.folders.0.folders.borrow().contains_key(id));
        if missing.len() < FEW {
            return;
        }
        let Ok(odb) = self.repo.odb() else { return };
        let objects = self.folders.objects(self.repo);
        let store = Store::of(odb, objects);
        let mut missing: Vec<(Option<Place>, Oid)> = objects.find(&missing).into_iter().zip(missing).collect();
        missing.sort_unstable();
        // A few at a time, so that who starts late or has the large ones is waited for the least.
        let (next, run) = (AtomicUsize::new(0), missing.len().div_ceil(threads() * 4));
        let read = || {
            let mut found = Vec::new();
            while let Some(mine) = missing.chunks(run).nth(next.fetch_add(1, Ordering::Relaxed)) {
                let folders = mine.iter().map(|(place, id)| (*id, folder(&store, id, *place)));
                found.extend(folders.filter_map(|(id, folder)| Some((id, folder.ok()?))));
            }
            found
        };
        let found: Vec<(Oid, Folder)> = std::thread::scope(|scope| {
            // Where no further thread can be had, this one reads them all.
            let others: Vec<_> = (1..threads())
                .filter_map(|_| std::thread::Builder::new().spawn_scoped(scope, read).ok())
                .collect();
            let mut found = read();
            for other in others {
                match other.join() {
                    Ok(more) => found.extend(more),
                    Err(panic) => std::panic::resume_unwind(panic),
                }
            }
            found
        });
        let found = found.into_iter().map(|(id, folder)| (id, Rc::new(folder)));
        self.folders.0.folders.borrow_mut().extend(found);
    }

    fn blobs(&self) -> Option<Box<dyn Blobs + '_>> {
        let odb = self.repo.odb().ok()?;
        let objects = self.folders.objects(self.repo);
        Some(Box::new(Store::of(odb, objects)))
    }

    fn blob(&self, id: &Oid) -> Result<Vec<u8>, Unreadable> {
        let read = self.store_of("blob", id)?.read(id, None, LARGEST);
        blob_of(id, read)
    }

    fn blob_size(&self, id: &Oid) -> Result<u64, Unreadable> {
        let head = self.store_of("blob", id)?.head(id);
        blob_of(id, head)
    }
}

/// What was read of an object that is to be a blob.
fn blob_of<T>(id: &Oid, read: Result<(ObjectType, T), String>) -> Result<T, Unreadable> {
    let why = match read {
        Ok((ObjectType::Blob, found)) => return Ok(found),
        Ok((other, _)) => format!("it is a {other}"),
        Err(why) => why,
    };
    Err(Unreadable {
        what: format!("blob {id}: {why}"),
    })
}

//! `gate::Tree` over libgit2.

use std::cell::{OnceCell, RefCell};
use std::collections::HashMap;
use std::rc::Rc;
use std::sync::Once;
use std::sync::atomic::{AtomicUsize, Ordering};

use git2::ObjectType;

use crate::gate::tree::{Blobs, Fault, Folder, Item, parse};
use crate::gate::{Entry, Oid, Tree, Unreadable};

use super::packs::{Packs, Place};
use super::{from_git2, to_git2};

/// A tree in a repository's object store. Each object that is read has the hash it is asked for: `Packs` checks that,
/// and so does libgit2, which reads what lies elsewhere. Neither looks at replace refs or runs a program.
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
    packs: OnceCell<Packs>,
}

impl Folders {
    fn packs(&self, repo: &git2::Repository) -> &Packs {
        self.0
            .packs
            .get_or_init(|| Packs::of(&repo.commondir().join("objects")))
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
    let (kind, bytes) = match store.packed(id, place) {
        Some(object) => object,
        None => {
            let read = |error: git2::Error| unreadable("tree", id, &error);
            let object = store.odb.read(to_git2(id).map_err(read)?).map_err(read)?;
            (object.kind(), object.data().to_vec())
        }
    };
    let damaged = |why: String| Unreadable {
        what: format!("tree {id}: {why}"),
    };
    if kind != ObjectType::Tree {
        return Err(damaged(format!("it is a {kind}")));
    }
    parse(bytes, id.as_bytes().len()).map_err(|why| damaged(why.to_owned()))
}

/// How many threads are worth it.
fn threads() -> usize {
    std::thread::available_parallelism().map_or(1, |count| count.get().min(8))
}

/// The objects of a repository, which several threads may read.
struct Store<'a> {
    odb: git2::Odb<'a>,
    packs: &'a Packs,
}

impl Store<'_> {
    /// An object that is in a pack, at a place that is known or is looked for.
    fn packed(&self, id: &Oid, place: Option<Place>) -> Option<(ObjectType, Vec<u8>)> {
        match place {
            Some(place) => self.packs.read_at(id, place),
            None => self.packs.read(id),
        }
    }
}

impl Blobs for Store<'_> {
    fn content(&self, id: &Oid, limit: u64) -> Option<Vec<u8>> {
        if let Some((ObjectType::Blob, content)) = self.packs.read(id) {
            return (content.len() as u64 <= limit).then_some(content);
        }
        let id = to_git2(id).ok()?;
        // Whether it is too large is asked first: an object is read as a whole.
        let (size, kind) = self.odb.read_header(id).ok()?;
        if kind != ObjectType::Blob || size as u64 > limit {
            return None;
        }
        let object = self.odb.read(id).ok()?;
        (object.kind() == ObjectType::Blob && object.len() as u64 <= limit).then(|| object.data().to_vec())
    }

    fn order(&self, ids: &[Oid]) -> Vec<u64> {
        self.packs.order(ids)
    }

    fn threads(&self) -> usize {
        threads()
    }
}

fn unreadable(kind: &str, id: impl std::fmt::Display, error: &git2::Error) -> Unreadable {
    Unreadable {
        what: format!("{kind} {id}: {}", error.message()),
    }
}

impl GitTree<'_> {
    fn store_of(&self, kind: &str, id: &Oid) -> Result<Store<'_>, Unreadable> {
        let odb = self.repo.odb().map_err(|error| unreadable(kind, id, &error))?;
        let packs = self.folders.packs(self.repo);
        Ok(Store { odb, packs })
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
        let packs = self.folders.packs(self.repo);
        let store = Store { odb, packs };
        let mut missing: Vec<(Option<Place>, Oid)> = packs.find(&missing).into_iter().zip(missing).collect();
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
        let packs = self.folders.packs(self.repo);
        Some(Box::new(Store { odb, packs }))
    }

    fn blob(&self, id: &Oid) -> Result<Vec<u8>, Unreadable> {
        if let Some((ObjectType::Blob, content)) = self.folders.packs(self.repo).read(id) {
            return Ok(content);
        }
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

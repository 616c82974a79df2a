//! Trees as the gate sees them, and the difference of two of them.

mod raw;

use std::collections::BTreeMap;
use std::fmt;
use std::rc::Rc;

pub use raw::{Fault, Folder, Item, parse};

/// A git object id: 20 bytes for SHA-1, 32 for SHA-256.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Oid {
    len: u8,
    bytes: [u8; 32],
}

impl Oid {
    /// An id from its raw bytes; more than 32 bytes are no id.
    pub fn from_bytes(raw: &[u8]) -> Option<Oid> {
        let mut bytes = [0; 32];
        bytes.get_mut(..raw.len())?.copy_from_slice(raw);
        Some(Oid {
            len: raw.len() as u8,
            bytes,
        })
    }

    /// The raw bytes.
    pub fn as_bytes(&self) -> &[u8] {
        &self.bytes[..self.len as usize]
    }
}

impl fmt::Display for Oid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.as_bytes().iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

impl fmt::Debug for Oid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// What a tree entry is, by git's file modes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Kind {
    /// 100644 (and the historical 100664)
    File,
    /// 100755
    Executable,
    /// 120000
    Symlink,
    /// 160000: a link to a commit of another repository
    Submodule,
    /// 040000
    Tree,
}

/// One entry of one folder.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    /// File name as git's bytes, without a slash.
    pub name: Vec<u8>,
    /// File, folder, link.
    pub kind: Kind,
    /// Id of the blob, tree or (for a submodule link) commit.
    pub id: Oid,
}

/// An object that a tree names and that could not be read. Always a failure, never "no entries".
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unreadable {
    /// Which object or path, and why.
    pub what: String,
}

impl fmt::Display for Unreadable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "cannot read {}", self.what)
    }
}

impl std::error::Error for Unreadable {}

/// A git tree with everything below it, wherever its objects lie.
pub trait Tree {
    /// Id of the root folder.
    fn root(&self) -> Oid;
    /// The entries of the folder with this id, in git's order.
    fn entries(&self, folder: &Oid) -> Result<Vec<Entry>, Unreadable>;
    /// What git would never have written in the folder with this id.
    fn faults(&self, _folder: &Oid) -> Result<Vec<Fault>, Unreadable> {
        Ok(Vec::new())
    }
    /// Entries and faults of the folder with this id, without a copy where the tree keeps them.
    fn folder(&self, folder: &Oid) -> Result<Rc<Folder>, Unreadable> {
        Ok(Rc::new(Folder::of(&self.entries(folder)?, self.faults(folder)?)))
    }
    /// Folders that are about to be asked for, so that several can be read at once. One that cannot be read is
    /// no failure here: [`Tree::folder`] tells.
    fn prepare(&self, _folders: &[Oid]) {}
    /// An address that trees have in common which keep what they read in one place; `None` where a tree keeps nothing.
    fn keeper(&self) -> Option<usize> {
        None
    }
    /// The content of a blob.
    fn blob(&self, id: &Oid) -> Result<Vec<u8>, Unreadable>;
    /// The size of a blob in bytes, without reading it.
    fn blob_size(&self, id: &Oid) -> Result<u64, Unreadable>;
    /// The tree's blobs for several threads at once, where it can give them.
    fn blobs(&self) -> Option<Box<dyn Blobs + '_>> {
        None
    }
}

/// Blobs that several threads may read at once.
pub trait Blobs: Sync {
    /// The content of a blob; `None` where it is larger than `limit` bytes or cannot be read, which
    /// [`Tree::blob`] tells apart.
    fn content(&self, id: &Oid, limit: u64) -> Option<Vec<u8>>;
    /// Numbers by which the blobs lie beside those that they share content with: in the order of these numbers
    /// they are read fastest.
    fn order(&self, ids: &[Oid]) -> Vec<u64>;
    /// How many threads are worth it.
    fn threads(&self) -> usize;
}

/// The tree without an entry.
pub struct Nothing;

impl Tree for Nothing {
    fn root(&self) -> Oid {
        Oid { len: 0, bytes: [0; 32] }
    }

    fn entries(&self, _folder: &Oid) -> Result<Vec<Entry>, Unreadable> {
        Ok(Vec::new())
    }

    fn blob(&self, id: &Oid) -> Result<Vec<u8>, Unreadable> {
        Err(Unreadable {
            what: format!("blob {id}: the empty tree has none"),
        })
    }

    fn blob_size(&self, id: &Oid) -> Result<u64, Unreadable> {
        self.blob(id).map(|_| 0)
    }
}

/// One side of a change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Side {
    /// Never [`Kind::Tree`].
    pub kind: Kind,
    /// Blob id, or commit id of a submodule link.
    pub id: Oid,
}

/// One changed path. A rename is two changes: nothing here guesses at renames.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Change {
    /// Repository-relative path, `/`-separated, as git's bytes.
    pub path: Vec<u8>,
    /// What the base has there; `None` where it was added.
    pub before: Option<Side>,
    /// What the candidate has there; `None` where it was deleted.
    pub after: Option<Side>,
}

/// The entry at a path, walking from the root; `None` where there is none.
pub fn lookup(tree: &dyn Tree, path: &[u8]) -> Result<Option<Entry>, Unreadable> {
    let mut folder = tree.root();
    let mut parts = path.split(|&b| b == b'/').peekable();
    while let Some(part) = parts.next() {
        let listing = tree.folder(&folder)?;
        let Some(item) = listing.find(part) else {
            return Ok(None);
        };
        if parts.peek().is_none() {
            return Ok(Some(item.to_entry()));
        }
        if item.kind != Kind::Tree {
            return Ok(None);
        }
        folder = item.id();
    }
    Ok(None)
}

/// More changed paths than this are no change that anybody makes: a few small objects can name one folder a
/// billion times.
const MAX_CHANGES: usize = 1_000_000;
/// Longer paths (in bytes, Linux's PATH_MAX) cannot be checked out, and are not followed: each step on the way down
/// copies the path so far.
const MAX_PATH: usize = 4096;

/// A folder on the way: its path, and what base and candidate have there.
type Step = (Vec<u8>, Option<Oid>, Option<Oid>);

/// Every path that differs between two trees, sorted by path bytes. Folders with equal ids are
/// not opened, so the cost is that of the change.
///
/// Where a malformed folder names one path twice, each is a change of its own.
pub fn diff(base: &dyn Tree, candidate: &dyn Tree) -> Result<Vec<Change>, Unreadable> {
    Ok(difference(base, candidate)?.changes)
}

/// What differs between two trees.
pub(in crate::gate) struct Difference {
    /// See [`diff`].
    pub(in crate::gate) changes: Vec<Change>,
    /// Folders of the candidate in which something is wrong, and which the base does not have at the same place: path and
    /// id.
    pub(in crate::gate) faulty: Vec<(Vec<u8>, Oid)>,
}

/// [`diff`], with what its walk sees of folders that git would not have written.
pub(in crate::gate) fn difference(base: &dyn Tree, candidate: &dyn Tree) -> Result<Difference, Unreadable> {
    let mut changes = Vec::new();
    let mut faulty = Vec::new();
    let mut open: Vec<Step> = vec![(Vec::new(), Some(base.root()), Some(candidate.root()))];
    let side_of = |item: Item| {
        (item.kind != Kind::Tree).then(|| Side {
            kind: item.kind,
            id: item.id(),
        })
    };
    let tree_of = |item: Item| (item.kind == Kind::Tree).then(|| item.id());
    // Level by level, so that the folders of one are read together; never by the call stack: an agent can nest
    // folders deeper than that allows.
    while !open.is_empty() {
        open.retain(|(_, before, after)| before != after);
        let folders = |side: fn(&Step) -> Option<Oid>| open.iter().filter_map(side).collect::<Vec<Oid>>();
        match candidate.keeper().is_some() && candidate.keeper() == base.keeper() {
            true => candidate.prepare(&[folders(|step| step.1), folders(|step| step.2)].concat()),
            false => {
                base.prepare(&folders(|step| step.1));
                candidate.prepare(&folders(|step| step.2));
            }
        }
        for (prefix, before, after) in std::mem::take(&mut open) {
            if prefix.len() > MAX_PATH || changes.len() > MAX_CHANGES || open.len() > MAX_CHANGES {
                let start = prefix.get(..200).unwrap_or(&prefix).escape_ascii();
                return Err(Unreadable {
                    what: format!("the whole change: too many or too deep paths, as below {start}"),
                });
            }
            let old = before.map_or(Ok(Rc::default()), |id| base.folder(&id))?;
            let new = after.map_or(Ok(Rc::default()), |id| candidate.folder(&id))?;
            if let Some(id) = after.filter(|_| !new.faults.is_empty()) {
                faulty.push((prefix.clone(), id));
            }
            for (name, (old, new)) in different(&old, &new) {
                if old == new {
                    continue;
                }
                let path = join(&prefix, name);
                let old_tree = old.iter().copied().find_map(tree_of);
                let mut new_trees = new.iter().copied().filter_map(tree_of).peekable();
                if new_trees.peek().is_none() && old_tree.is_some() {
                    open.push((path.clone(), old_tree, None));
                }
                open.extend(new_trees.map(|id| (path.clone(), old_tree, Some(id))));
                let before = old.iter().copied().find_map(side_of);
                let mut sides = new.iter().copied().filter_map(side_of).peekable();
                if sides.peek().is_none() && before.is_some() {
                    let path = path.clone();
                    changes.push(Change {
                        path,
                        before,
                        after: None,
                    });
                }
                changes.extend(sides.map(|side| Change {
                    path: path.clone(),
                    before,
                    after: Some(side),
                }));
            }
        }
    }
    changes.sort_by(|a, b| a.path.cmp(&b.path));
    Ok(Difference { changes, faulty })
}

/// The entries of two folders by name, of each folder in its order; names that are the same in both may be left out.
type Pairs<'a> = BTreeMap<&'a [u8], (Vec<Item<'a>>, Vec<Item<'a>>)>;

/// What differs between two folders.
fn different<'a>(old: &'a Folder, new: &'a Folder) -> Pairs<'a> {
    let mut names = Pairs::new();
    let (mut old_rest, mut new_rest) = (old.items().peekable(), new.items().peekable());
    // What stands at the same place in both is passed over, unless a name may stand once more elsewhere: then all
    // that has the name is needed.
    if old.faults.is_empty() && new.faults.is_empty() {
        while let (Some(a), Some(b)) = (old_rest.peek().copied(), new_rest.peek().copied()) {
            // In whatever order they are: what is passed by on one side only is compared by its name below.
            let order = a.name.cmp(b.name);
            if order.is_le() {
                old_rest.next();
            }
            if order.is_ge() {
                new_rest.next();
            }
            if order.is_eq() && a.leads_as(&b) {
                continue;
            }
            if order.is_le() {
                names.entry(a.name).or_default().0.push(a);
            }
            if order.is_ge() {
                names.entry(b.name).or_default().1.push(b);
            }
        }
    }
    for item in old_rest {
        names.entry(item.name).or_default().0.push(item);
    }
    for item in new_rest {
        names.entry(item.name).or_default().1.push(item);
    }
    names
}

/// The folder that a path lies in; empty for the root.
pub fn parent(path: &[u8]) -> &[u8] {
    path.iter()
        .rposition(|&byte| byte == b'/')
        .map_or(b"", |slash| &path[..slash])
}

/// The folders above a file, nearest first, the root last.
pub fn upward(path: &[u8]) -> impl Iterator<Item = &[u8]> {
    let mut at = Some(path);
    std::iter::from_fn(move || {
        let path = at.filter(|path| !path.is_empty())?;
        let folder = parent(path);
        at = Some(folder);
        Some(folder)
    })
}

/// `prefix/name`, or `name` at the root.
pub fn join(prefix: &[u8], name: &[u8]) -> Vec<u8> {
    if prefix.is_empty() {
        return name.to_vec();
    }
    [prefix, b"/", name].concat()
}

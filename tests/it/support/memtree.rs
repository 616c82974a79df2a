//! Trees in memory, made from lists or from the folders of `fixtures/gate`.

use std::collections::{BTreeMap, HashMap};
use std::ffi::OsString;
use std::fs;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use agentgate::gate::{Entry, Kind, Oid, Tree, Unreadable};
use sha2::{Digest, Sha256};

/// A leaf of a tree: path, kind, and content (link target, or anything that tells commits apart).
pub type Item = (Vec<u8>, Kind, Vec<u8>);

/// A tree whose objects lie in maps. Ids are hashes, so equal content has equal ids, as in git.
#[derive(Default)]
pub struct MemTree {
    root: Option<Oid>,
    folders: HashMap<Oid, Vec<Entry>>,
    blobs: HashMap<Oid, Vec<u8>>,
}

enum Node {
    Leaf(Kind, Vec<u8>),
    Folder(BTreeMap<Vec<u8>, Node>),
}

impl MemTree {
    pub fn new(items: &[Item]) -> MemTree {
        let mut root = BTreeMap::new();
        for (path, kind, bytes) in items {
            let mut folder = &mut root;
            let mut parts: Vec<&[u8]> = path.split(|&byte| byte == b'/').collect();
            let name = parts.pop().expect("a path has a last part");
            for part in parts {
                let node = folder
                    .entry(part.to_vec())
                    .or_insert_with(|| Node::Folder(BTreeMap::new()));
                let Node::Folder(below) = node else {
                    panic!("{} lies below a file", path.escape_ascii())
                };
                folder = below;
            }
            folder.insert(name.to_vec(), Node::Leaf(*kind, bytes.clone()));
        }
        let mut tree = MemTree::default();
        tree.root = Some(tree.store(root));
        tree
    }

    /// Drops the content of a path, as a damaged or partial clone does.
    pub fn lose(&mut self, content: &[u8]) {
        self.blobs
            .remove(&id(b"blob", content))
            .expect("the content is there to be lost");
    }

    fn store(&mut self, folder: BTreeMap<Vec<u8>, Node>) -> Oid {
        let mut entries = Vec::new();
        for (name, node) in folder {
            let (kind, id) = match node {
                Node::Leaf(Kind::Submodule, commit) => (Kind::Submodule, id(b"commit", &commit)),
                Node::Leaf(kind, bytes) => {
                    let id = id(b"blob", &bytes);
                    self.blobs.insert(id, bytes);
                    (kind, id)
                }
                Node::Folder(below) => (Kind::Tree, self.store(below)),
            };
            entries.push(Entry { name, kind, id });
        }
        // Git's order: a folder sorts as if its name ended in a slash.
        entries.sort_by_key(|entry| {
            let slash: &[u8] = if entry.kind == Kind::Tree { b"/" } else { b"" };
            [&entry.name, slash].concat()
        });
        let listing: Vec<u8> = entries
            .iter()
            .flat_map(|e| [&[e.kind as u8], e.name.as_slice(), b"\0", e.id.as_bytes()].concat())
            .collect();
        let id = id(b"tree", &listing);
        self.folders.insert(id, entries);
        id
    }
}

fn id(what: &[u8], content: &[u8]) -> Oid {
    let sum = Sha256::new()
        .chain_update(what)
        .chain_update(b"\0")
        .chain_update(content)
        .finalize();
    Oid::from_bytes(&sum[..20]).expect("20 bytes are an id")
}

impl Tree for MemTree {
    fn root(&self) -> Oid {
        self.root.expect("a tree is made by new")
    }

    fn entries(&self, folder: &Oid) -> Result<Vec<Entry>, Unreadable> {
        self.folders.get(folder).cloned().ok_or_else(|| Unreadable {
            what: format!("tree {folder}"),
        })
    }

    fn blob(&self, id: &Oid) -> Result<Vec<u8>, Unreadable> {
        self.blobs.get(id).cloned().ok_or_else(|| Unreadable {
            what: format!("blob {id}"),
        })
    }

    fn blob_size(&self, id: &Oid) -> Result<u64, Unreadable> {
        self.blob(id).map(|bytes| bytes.len() as u64)
    }
}

/// One folder of `fixtures/gate`: what the base has, what the candidate has, and the verdict.
pub struct Case {
    pub name: String,
    pub base: Vec<Item>,
    pub head: Vec<Item>,
    /// `task.md`, where there is one.
    pub task: Option<Vec<u8>>,
    /// `expect.txt`: the exit code, then one line a finding: `rule path[:line[:col]] judged_by`.
    pub expect: String,
}

/// All cases, by name. Whatever runs them (here or over real repositories) sees the same lists.
pub fn cases() -> Vec<Case> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/gate");
    let mut cases: Vec<Case> = listed(&root)
        .into_iter()
        .map(|folder| Case {
            name: folder
                .file_name()
                .expect("a listed path has a name")
                .to_string_lossy()
                .into_owned(),
            base: items(&folder.join("base")),
            head: items(&folder.join("head")),
            task: fs::read(folder.join("task.md")).ok(),
            expect: fs::read_to_string(folder.join("expect.txt"))
                .unwrap_or_else(|error| panic!("{}/expect.txt: {error}", folder.display())),
        })
        .collect();
    cases.sort_by(|a, b| a.name.cmp(&b.name));
    cases
}

fn listed(folder: &Path) -> Vec<PathBuf> {
    let listing = fs::read_dir(folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
    listing
        .map(|entry| entry.expect("a fixture can be listed").path())
        .collect()
}

fn items(root: &Path) -> Vec<Item> {
    let mut items = Vec::new();
    let mut open = vec![root.to_path_buf()];
    while let Some(folder) = open.pop() {
        for path in listed(&folder) {
            let meta = fs::symlink_metadata(&path).expect("a fixture can be read");
            let name: OsString = path.strip_prefix(root).expect("it lies below").into();
            if meta.is_dir() {
                open.push(path);
            } else if meta.is_symlink() {
                let target = fs::read_link(&path).expect("a link can be read");
                items.push((name.into_vec(), Kind::Symlink, target.as_os_str().as_bytes().to_vec()));
            } else {
                let kind = if meta.permissions().mode() & 0o100 == 0 {
                    Kind::File
                } else {
                    Kind::Executable
                };
                items.push((name.into_vec(), kind, fs::read(&path).expect("a fixture can be read")));
            }
        }
    }
    items.sort();
    items
}

//! The paths of one tree, read once, and what lies at them.
//!
//! Invariants: links are followed inside the tree, so that a link to another area's folder is no way
//! around a rule; a tree with more than [`MAX_ENTRIES`] entries is not half known: nothing is found
//! in it and [`Files::is_whole`] says no.

use std::collections::{HashMap, HashSet, VecDeque};

use crate::gate::imports::may_hold_copies;
use crate::gate::tree::{Entry, Kind, Oid, Tree, Unreadable, join};
pub(super) use crate::gate::tree::{parent, upward};

/// Entries of a tree, folders included, above which it is not indexed.
pub const MAX_ENTRIES: usize = 300_000;
/// Links followed, and components walked, before a link is taken for a loop.
const MAX_LINKS: usize = 40;
const MAX_STEPS: usize = 1000;
/// A target longer than Linux's PATH_MAX cannot be followed.
const MAX_TARGET: u64 = 4096;
/// Manifests and configurations above this many bytes are not read.
const MAX_MANIFEST: u64 = 4 * 1024 * 1024;

/// What lies at a path after all links are followed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Spot {
    /// The path itself, or where a link leads.
    pub(super) path: Vec<u8>,
    pub(super) is_folder: bool,
    id: Oid,
}

/// The index.
pub struct Files<'a> {
    tree: &'a dyn Tree,
    entries: HashMap<Vec<u8>, (Kind, Oid)>,
    names: HashMap<Vec<u8>, Vec<Vec<u8>>>,
    links: HashMap<Vec<u8>, Vec<u8>>,
    /// Folders with a Python module directly in them, and with a C header.
    modules: HashSet<Vec<u8>>,
    headers: HashSet<Vec<u8>>,
    copies: Vec<Vec<u8>>,
    is_whole: bool,
}

const MODULES: &[&[u8]] = &[b".py", b".pyi"];
const HEADERS: &[&[u8]] = &[
    b".h", b".hh", b".hpp", b".hxx", b".h++", b".inl", b".ipp", b".tpp", b".cuh",
];

impl<'a> Files<'a> {
    /// Reads every folder of the tree.
    pub fn of(tree: &'a dyn Tree) -> Result<Files<'a>, Unreadable> {
        Files::bounded(tree, MAX_ENTRIES)
    }

    pub(super) fn bounded(tree: &'a dyn Tree, limit: usize) -> Result<Files<'a>, Unreadable> {
        let mut files = Files {
            tree,
            entries: HashMap::from([(Vec::new(), (Kind::Tree, tree.root()))]),
            names: HashMap::new(),
            links: HashMap::new(),
            modules: HashSet::new(),
            headers: HashSet::new(),
            copies: Vec::new(),
            is_whole: true,
        };
        let mut open = vec![(Vec::new(), tree.root())];
        while let Some((folder, id)) = open.pop() {
            let listing = tree.entries(&id)?;
            let has = |endings: &[&[u8]]| {
                let mut names = listing
                    .iter()
                    .filter(|entry| entry.kind != Kind::Tree)
                    .map(|entry| &entry.name);
                names.any(|name| endings.iter().any(|ending| name.ends_with(ending)))
            };
            if has(MODULES) {
                files.modules.insert(folder.clone());
            }
            if has(HEADERS) {
                files.headers.insert(folder.clone());
            }
            for entry in listing {
                if files.entries.len() > limit {
                    files.entries.clear();
                    files.names.clear();
                    files.links.clear();
                    files.copies.clear();
                    files.is_whole = false;
                    return Ok(files);
                }
                let path = join(&folder, &entry.name);
                if entry.kind == Kind::Tree && may_hold_copies(&entry.name) {
                    files.copies.push(path.clone());
                }
                match entry.kind {
                    Kind::Tree => open.push((path.clone(), entry.id)),
                    Kind::Symlink if tree.blob_size(&entry.id)? <= MAX_TARGET => {
                        files.links.insert(path.clone(), tree.blob(&entry.id)?);
                    }
                    Kind::File | Kind::Executable => files.names.entry(entry.name).or_default().push(path.clone()),
                    Kind::Symlink | Kind::Submodule => {}
                }
                files.entries.insert(path, (entry.kind, entry.id));
            }
        }
        for paths in files.names.values_mut() {
            paths.sort_unstable();
        }
        Ok(files)
    }

    /// Whether the whole tree is known.
    pub fn is_whole(&self) -> bool {
        self.is_whole
    }

    /// Every regular file, sorted by path, with whether it is executable and its blob.
    pub fn regular(&self) -> Vec<(&[u8], Kind, Oid)> {
        let mut all: Vec<(&[u8], Kind, Oid)> = self
            .entries
            .iter()
            .filter(|(_, (kind, _))| matches!(kind, Kind::File | Kind::Executable))
            .map(|(path, (kind, id))| (path.as_slice(), *kind, *id))
            .collect();
        all.sort_unstable();
        all
    }

    /// The folders whose names say that they hold copies of other people's packages, or may, in no order.
    pub fn copies(&self) -> &[Vec<u8>] {
        &self.copies
    }

    /// The paths of all links, in no order.
    pub fn links(&self) -> impl Iterator<Item = &[u8]> {
        self.links.keys().map(Vec::as_slice)
    }

    /// The blob or folder at exactly this path, links not followed.
    pub(super) fn id(&self, path: &[u8]) -> Option<Oid> {
        self.entries.get(path).map(|(_, id)| *id)
    }

    /// What is at this path (without `.` and `..`), links followed.
    pub(super) fn find(&self, path: &[u8]) -> Option<Spot> {
        let spot = |path: &[u8], kind: Kind, id: Oid| {
            match kind {
                Kind::Tree => Some((true, id)),
                Kind::File | Kind::Executable => Some((false, id)),
                Kind::Symlink | Kind::Submodule => None,
            }
            .map(|(is_folder, id)| Spot {
                path: path.to_vec(),
                is_folder,
                id,
            })
        };
        match self.entries.get(path) {
            Some((Kind::Symlink, _)) => {}
            Some((kind, id)) => return spot(path, *kind, *id),
            None if self.links.is_empty() => return None,
            None => {}
        }
        let mut todo: VecDeque<&[u8]> = path.split(|&byte| byte == b'/').collect();
        let mut at: Vec<u8> = Vec::new();
        let mut links = 0;
        for _ in 0..MAX_STEPS {
            let Some(part) = todo.pop_front() else {
                let (kind, id) = self.entries.get(&at)?;
                return spot(&at, *kind, *id);
            };
            match part {
                b"" | b"." => {}
                b".." if at.is_empty() => return None,
                b".." => at.truncate(parent(&at).len()),
                _ => {
                    let next = join(&at, part);
                    match self.entries.get(&next)? {
                        (Kind::Symlink, _) => {
                            links += 1;
                            let target = self.links.get(&next)?;
                            if links > MAX_LINKS || target.starts_with(b"/") {
                                return None;
                            }
                            for part in target.rsplit(|&byte| byte == b'/') {
                                todo.push_front(part);
                            }
                        }
                        _ => at = next,
                    }
                }
            }
        }
        None
    }

    /// The path of the regular file that is there.
    pub fn file(&self, path: &[u8]) -> Option<Vec<u8>> {
        self.find(path).filter(|spot| !spot.is_folder).map(|spot| spot.path)
    }

    /// The path of the folder that is there.
    pub fn folder(&self, path: &[u8]) -> Option<Vec<u8>> {
        self.find(path).filter(|spot| spot.is_folder).map(|spot| spot.path)
    }

    /// What lies directly in a folder; nothing where there is none.
    pub fn list(&self, folder: &[u8]) -> Result<Vec<Entry>, Unreadable> {
        match self.find(folder).filter(|spot| spot.is_folder) {
            Some(spot) => self.tree.entries(&spot.id),
            None => Ok(Vec::new()),
        }
    }

    /// Whether a Python module lies directly in this folder.
    pub(super) fn has_modules(&self, folder: &[u8]) -> bool {
        self.modules.contains(folder)
    }

    /// Whether a C header lies directly in this folder.
    pub(super) fn has_headers(&self, folder: &[u8]) -> bool {
        self.headers.contains(folder)
    }

    /// Every regular file of this name, sorted by path.
    pub fn named(&self, name: &[u8]) -> &[Vec<u8>] {
        self.names.get(name).map_or(&[], Vec::as_slice)
    }

    /// Every regular file whose name ends so, in no order.
    pub(super) fn ending<'s>(&'s self, endings: &'s [&[u8]]) -> impl Iterator<Item = &'s Vec<u8>> {
        self.names
            .iter()
            .filter(move |(name, _)| endings.iter().any(|ending| name.ends_with(ending)))
            .flat_map(|(_, paths)| paths)
    }

    /// The text of a file: `None` where there is none, where it is too large, and where it is not UTF-8.
    pub fn text(&self, path: &[u8]) -> Result<Option<String>, Unreadable> {
        let Some(spot) = self.find(path).filter(|spot| !spot.is_folder) else {
            return Ok(None);
        };
        if self.tree.blob_size(&spot.id)? > MAX_MANIFEST {
            return Ok(None);
        }
        let mut bytes = self.tree.blob(&spot.id)?;
        if bytes.starts_with(b"\xEF\xBB\xBF") {
            bytes.drain(..3);
        }
        Ok(String::from_utf8(bytes).ok())
    }
}

/// The last part of a path.
pub(super) fn name(path: &[u8]) -> &[u8] {
    path.rsplit(|&byte| byte == b'/').next().unwrap_or(path)
}

/// A relative path as seen from a folder, `.` and `..` followed; `None` where it leaves the
/// repository.
pub(in crate::gate) fn follow(folder: &[u8], relative: &[u8]) -> Option<Vec<u8>> {
    let mut parts: Vec<&[u8]> = match folder {
        b"" => Vec::new(),
        folder => folder.split(|&byte| byte == b'/').collect(),
    };
    for part in relative.split(|&byte| byte == b'/') {
        match part {
            b"" | b"." => {}
            b".." => {
                parts.pop()?;
            }
            _ => parts.push(part),
        }
    }
    Some(parts.join(&b'/'))
}

/// What is left of a path below a folder; `None` where it lies elsewhere.
pub(super) fn below<'p>(path: &'p [u8], folder: &[u8]) -> Option<&'p [u8]> {
    match folder {
        b"" => Some(path),
        folder => match path.strip_prefix(folder)? {
            b"" => Some(b""),
            rest => rest.strip_prefix(b"/"),
        },
    }
}

//! A tree with one file touched: what the gate would say about a change that nobody has made yet.
//!
//! Invariant: the answer comes from the rules themselves. The file keeps its content but for a line
//! break at its end, so that no rule about content has anything new to look at.

use std::collections::HashMap;

use sha2::{Digest, Sha256};

use super::tree::{Entry, Kind, Oid, Tree, Unreadable};

/// A tree in which one path is a file that is different from the one before, or new.
pub struct Touched<'a> {
    inner: &'a dyn Tree,
    root: Oid,
    folders: HashMap<Oid, Vec<Entry>>,
    blob: (Oid, Vec<u8>),
}

impl<'a> Touched<'a> {
    /// The tree with the file at `path` (repository-relative) touched. What is in the way of its
    /// folders is replaced by them.
    ///
    /// # Errors
    /// A folder or the file's content that cannot be read.
    pub fn new(inner: &'a dyn Tree, path: &[u8]) -> Result<Touched<'a>, Unreadable> {
        Touched::made(inner, path, None)
    }

    /// The tree with a file at `path` that holds these bytes.
    ///
    /// # Errors
    /// As [`Touched::new`].
    pub fn with(inner: &'a dyn Tree, path: &[u8], content: &str) -> Result<Touched<'a>, Unreadable> {
        Touched::made(inner, path, Some(content))
    }

    fn made(inner: &'a dyn Tree, path: &[u8], given: Option<&str>) -> Result<Touched<'a>, Unreadable> {
        let parts: Vec<&[u8]> = path.split(|&byte| byte == b'/').collect();
        let mut listings = Vec::new();
        let mut folder = Some(inner.root());
        let mut found = None;
        for (depth, part) in parts.iter().enumerate() {
            let entries = folder.map_or(Ok(Vec::new()), |id| inner.entries(&id))?;
            found = entries.iter().find(|entry| entry.name == *part).cloned();
            folder = found
                .as_ref()
                .filter(|entry| entry.kind == Kind::Tree)
                .map(|entry| entry.id);
            listings.push(entries);
            if depth + 1 < parts.len() {
                found = None;
            }
        }
        let mut content = match &found {
            _ if given.is_some() => given.unwrap_or_default().as_bytes().to_vec(),
            Some(entry) if matches!(entry.kind, Kind::File | Kind::Executable) => inner.blob(&entry.id)?,
            // A new file is empty as its kind is empty.
            _ if path.ends_with(b".json") => b"{}".to_vec(),
            _ if path.ends_with(b".xml") || path.ends_with(b"proj") => b"<x/>".to_vec(),
            _ => Vec::new(),
        };
        content.push(b'\n');
        let made = |what: &[u8]| -> Result<Oid, Unreadable> {
            let hash = Sha256::new().chain_update(b"touched ").chain_update(what).finalize();
            Oid::from_bytes(&hash).ok_or_else(|| Unreadable {
                what: "an id that was made here".into(),
            })
        };
        let blob = made(path)?;
        let kind = found
            .map(|entry| entry.kind)
            .filter(|kind| *kind == Kind::Executable)
            .unwrap_or(Kind::File);
        let mut below = Entry {
            name: parts.last().copied().unwrap_or_default().to_vec(),
            kind,
            id: blob,
        };
        let mut folders = HashMap::new();
        for (depth, mut entries) in listings.into_iter().enumerate().rev() {
            entries.retain(|entry| entry.name != below.name);
            entries.push(below);
            let id = made(format!("{depth}").as_bytes())?;
            folders.insert(id, entries);
            below = Entry {
                name: depth
                    .checked_sub(1)
                    .map(|above| parts[above].to_vec())
                    .unwrap_or_default(),
                kind: Kind::Tree,
                id,
            };
        }
        Ok(Touched {
            inner,
            root: below.id,
            folders,
            blob: (blob, content),
        })
    }
}

impl Tree for Touched<'_> {
    fn root(&self) -> Oid {
        self.root
    }

    fn entries(&self, folder: &Oid) -> Result<Vec<Entry>, Unreadable> {
        match self.folders.get(folder) {
            Some(entries) => Ok(entries.clone()),
            None => self.inner.entries(folder),
        }
    }

    fn blob(&self, id: &Oid) -> Result<Vec<u8>, Unreadable> {
        match *id == self.blob.0 {
            true => Ok(self.blob.1.clone()),
            false => self.inner.blob(id),
        }
    }

    fn blob_size(&self, id: &Oid) -> Result<u64, Unreadable> {
        match *id == self.blob.0 {
            true => Ok(self.blob.1.len() as u64),
            false => self.inner.blob_size(id),
        }
    }
}

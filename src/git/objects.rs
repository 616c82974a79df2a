//! Reading a repository's objects: by agentgate itself where it can, by libgit2 where they lie elsewhere, as in the store
//! of an alternate.
//!
//! Invariant: an object has the id that was asked for, and libgit2 is asked for nothing that it would wait for, take
//! all memory for, or stumble over.

use std::path::Path;
use std::sync::OnceLock;

use git2::ObjectType;

use crate::gate::Oid;
use crate::gate::tree::Blobs;

use super::loose::{Loose, too_large};
use super::packs::{Packs, Place};
use super::to_git2;

/// What agentgate reads of a store by itself.
pub(super) struct Objects {
    packs: Packs,
    loose: Loose,
}

/// Larger objects (bytes) are not read: nothing that is asked of one needs as much.
pub(super) const LARGEST: u64 = 512 * 1024 * 1024;

impl Objects {
    /// What lies below this folder.
    pub(super) fn of(folder: &Path) -> Objects {
        Objects {
            packs: Packs::of(folder),
            loose: Loose::of(folder),
        }
    }

    /// Where in packs the objects with these ids lie.
    pub(super) fn find(&self, ids: &[Oid]) -> Vec<Option<Place>> {
        self.packs.find(ids)
    }
}

/// How many threads are worth it.
pub(super) fn threads() -> usize {
    // Asked once: the answer takes reading a dozen files of the kernel.
    static COUNT: OnceLock<usize> = OnceLock::new();
    *COUNT.get_or_init(|| std::thread::available_parallelism().map_or(1, |count| count.get().min(8)))
}

/// The objects of a repository, which several threads may read.
pub(super) struct Store<'a> {
    odb: git2::Odb<'a>,
    objects: &'a Objects,
}

impl<'a> Store<'a> {
    pub(super) fn of(odb: git2::Odb<'a>, objects: &'a Objects) -> Store<'a> {
        Store { odb, objects }
    }

    /// Type and content of an object, which is in a pack at a place that is known or is looked for.
    ///
    /// # Errors
    /// Why it cannot be read, or that it has more than `limit` bytes.
    pub(super) fn read(&self, id: &Oid, place: Option<Place>, limit: u64) -> Result<(ObjectType, Vec<u8>), String> {
        let packed = match place {
            Some(place) => self.objects.packs.read_at(id, place),
            None => self.objects.packs.read(id),
        };
        if let Some((kind, content)) = packed {
            return match content.len() as u64 > limit {
                true => Err(too_large(content.len() as u64, limit)),
                false => Ok((kind, content)),
            };
        }
        // git, too, looks into packs first.
        let own = match self.objects.packs.has(id) {
            true => self.objects.packs.read_large(id, limit),
            false => self.objects.loose.read(id, limit)?,
        };
        if let Some(object) = own {
            return Ok(object);
        }
        let (_, size) = self.head(id)?;
        // Asked first: libgit2 reads an object as a whole.
        if size > limit {
            return Err(too_large(size, limit));
        }
        let said = |error: git2::Error| error.message().to_owned();
        let object = self.odb.read(to_git2(id).map_err(said)?).map_err(said)?;
        Ok((object.kind(), object.data().to_vec()))
    }

    /// Type and size in bytes of an object.
    ///
    /// # Errors
    /// Why it cannot be told.
    pub(super) fn head(&self, id: &Oid) -> Result<(ObjectType, u64), String> {
        if self.objects.packs.has(id) {
            self.objects.packs.check(id)?;
        } else if let Some(head) = self.objects.loose.head(id)? {
            return Ok(head);
        }
        let said = |error: git2::Error| error.message().to_owned();
        let (size, kind) = self.odb.read_header(to_git2(id).map_err(said)?).map_err(said)?;
        Ok((kind, size as u64))
    }
}

impl Blobs for Store<'_> {
    fn content(&self, id: &Oid, limit: u64) -> Option<Vec<u8>> {
        let (kind, content) = self.read(id, None, limit).ok()?;
        (kind == ObjectType::Blob).then_some(content)
    }

    fn order(&self, ids: &[Oid]) -> Vec<u64> {
        self.objects.packs.order(ids)
    }

    fn threads(&self) -> usize {
        threads()
    }
}

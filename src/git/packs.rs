//! Objects of a store's packs, for several threads at once.
//!
//! Invariant: what is given out has the id that was asked for, by SHA-1, and nothing else is promised. Whatever is unusual
//! here (another form of index, an object that is not in a pack, large, or not what its id says) is `None`, and the
//! caller asks libgit2, which finds it or says what is wrong. So nothing that a pack says is believed; it only costs time.
//!
//! Formats: gitformat-pack, "pack-*.pack files have the following format" and "version 2 pack-*.idx files".

mod delta;
mod index;

use std::cell::RefCell;
use std::collections::HashMap;
use std::fs::File;
use std::io::{BufReader, Read};
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::sync::{Arc, Mutex};

use flate2::bufread::ZlibDecoder;
use git2::ObjectType;
use libdeflater::Decompressor;
use sha1::{Digest, Sha1};

use crate::gate::Oid;
use index::Index;

/// With more packs than this each object would be looked for in too many places.
const MAX_PACKS: usize = 32;
/// Larger objects (bytes) are left to libgit2.
const MAX_SIZE: usize = 4 * 1024 * 1024;
/// Bytes of objects that others are made of which are kept, over all threads.
const MAX_KEPT: usize = 16 * 1024 * 1024;
/// Most places that are remembered of one question.
const MAX_PLACES: usize = 100_000;
/// Longer chains of deltas are left to libgit2; git itself makes none of more than 4095.
const MAX_CHAIN: usize = 4096;
/// Bytes that are read of an object before anything of it is known: most objects are smaller.
const FIRST: usize = 4096;
/// Most bytes before an object's content: its type and size, and an offset or an id.
const MAX_HEADER: usize = 10 + 20;

/// The packs of one folder of objects.
#[derive(Default)]
pub(super) struct Packs {
    packs: Vec<Pack>,
    /// Where objects that were looked for in bulk lie.
    places: Mutex<HashMap<Oid, Place>>,
    kept: Mutex<Kept>,
}

struct Pack {
    index: Index,
    data: File,
    /// Where the objects end and the pack's checksum begins.
    end: u64,
}

/// Where an object begins.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub(super) struct Place {
    pack: usize,
    offset: u64,
}

/// Objects by their places: what others are made of.
#[derive(Default)]
struct Kept {
    objects: HashMap<Place, Object>,
    bytes: usize,
}

#[derive(Clone)]
struct Object {
    kind: ObjectType,
    data: Arc<Vec<u8>>,
}

/// What a thread needs to inflate, and the bytes that it read last.
struct Scratch {
    inflate: Decompressor,
    input: Vec<u8>,
}

thread_local! {
    static SCRATCH: RefCell<Scratch> = RefCell::new(Scratch { inflate: Decompressor::new(), input: Vec::new() });
}

/// The head of one object in a pack.
enum Head {
    Whole(ObjectType),
    /// A delta of what begins there.
    Of(u64),
}

impl Packs {
    /// The packs that are there now, those of alternates not counted.
    pub(super) fn of(objects: &Path) -> Packs {
        let mut paths: Vec<_> = (std::fs::read_dir(objects.join("pack")).into_iter().flatten().flatten())
            .map(|entry| entry.path())
            .filter(|path| path.extension().is_some_and(|ending| ending == "idx"))
            .collect();
        paths.sort();
        if paths.len() > MAX_PACKS {
            return Packs::default();
        }
        let pack = |path: &Path| {
            let data = File::open(path.with_extension("pack")).ok()?;
            let end = data.metadata().ok()?.len().checked_sub(20)?;
            Some(Pack {
                index: Index::of(path)?,
                data,
                end,
            })
        };
        Packs {
            packs: paths.iter().filter_map(|path| pack(path)).collect(),
            places: Mutex::default(),
            kept: Mutex::default(),
        }
    }

    /// An object that is too large for [`Packs::read`] and is no delta, as one of more than `core.bigFileThreshold` never
    /// is; without the second copy that libgit2 would need.
    pub(super) fn read_large(&self, id: &Oid, limit: u64) -> Option<(ObjectType, Vec<u8>)> {
        let place = self.place(id)?;
        let pack = self.packs.get(place.pack)?;
        let Start { kind, size, used, .. } = pack.start(place.offset, &mut Vec::new())?;
        let kind = whole(kind)?;
        if size as u64 > limit {
            return None;
        }
        let rest = BufReader::with_capacity(
            1 << 18,
            From {
                file: &pack.data,
                offset: place.offset + used as u64,
            },
        );
        let mut data = Vec::new();
        let inflated = ZlibDecoder::new(rest)
            .take(size as u64 + 1)
            .read_to_end(&mut data)
            .ok()?;
        (inflated == size && is_hash(id, kind, &data)).then_some((kind, data))
    }

    /// Where the objects with these ids lie.
    pub(super) fn find(&self, ids: &[Oid]) -> Vec<Option<Place>> {
        let mut wanted: Vec<(&[u8], usize)> = ids.iter().enumerate().map(|(at, id)| (id.as_bytes(), at)).collect();
        wanted.sort_unstable();
        let mut places = vec![None; ids.len()];
        for (pack, known) in self.packs.iter().enumerate() {
            for (at, offset) in known.index.offsets(&wanted).unwrap_or_default() {
                places[at].get_or_insert(Place { pack, offset });
            }
            wanted.retain(|(_, at)| places[*at].is_none());
        }
        if (2..=MAX_PLACES).contains(&ids.len())
            && let Ok(mut known) = self.places.lock()
        {
            let found = ids.iter().zip(&places);
            known.extend(found.filter_map(|(id, place)| Some((*id, (*place)?))));
        }
        places
    }

    /// A number for each id: in the order of these numbers objects are read fastest, since each comes soon after the one
    /// that it is a delta of. Those that are in no pack come first.
    pub(super) fn order(&self, ids: &[Oid]) -> Vec<u64> {
        // Packs are told apart above the bits of the offset.
        let number = |place: Place| (place.pack as u64 + 1) << 48 | place.offset & ((1 << 48) - 1);
        (self.find(ids).into_iter())
            .map(|place| place.map_or(0, number))
            .collect()
    }

    /// Whether one of the packs names an object with this id.
    pub(super) fn has(&self, id: &Oid) -> bool {
        self.place(id).is_some()
    }

    /// That libgit2 can be asked about the object: it knows the types of all that the object is made of.
    ///
    /// # Errors
    /// Which type git has not.
    pub(super) fn check(&self, id: &Oid) -> Result<(), String> {
        let Some(mut place) = self.place(id) else { return Ok(()) };
        let mut input = Vec::new();
        for _ in 0..=MAX_CHAIN {
            let Some(start) = (self.packs.get(place.pack)).and_then(|pack| pack.start(place.offset, &mut input)) else {
                break;
            };
            match start.kind {
                OFS_DELTA | REF_DELTA => match start.base {
                    Some(base) => place.offset = base,
                    None => break,
                },
                kind if whole(kind).is_some() => break,
                kind => return Err(format!("its pack is damaged: type {kind} is none of git's")),
            }
        }
        Ok(())
    }

    fn place(&self, id: &Oid) -> Option<Place> {
        let known = self.places.lock().ok()?.get(id).copied();
        known.or_else(|| self.find(&[*id])[0])
    }

    /// The object with this id.
    pub(super) fn read(&self, id: &Oid) -> Option<(ObjectType, Vec<u8>)> {
        self.read_at(id, self.place(id)?)
    }

    /// The object with this id, which was found there.
    pub(super) fn read_at(&self, id: &Oid, place: Place) -> Option<(ObjectType, Vec<u8>)> {
        let object = SCRATCH.with_borrow_mut(|scratch| self.object(place, scratch))?;
        is_hash(id, object.kind, &object.data).then(|| (object.kind, Arc::unwrap_or_clone(object.data)))
    }

    /// What lies there, whatever its id.
    fn object(&self, place: Place, scratch: &mut Scratch) -> Option<Object> {
        let pack = self.packs.get(place.pack)?;
        // Places of deltas, and the bytes that each is inflated to; the outermost first.
        let mut deltas: Vec<(Place, Vec<u8>)> = Vec::new();
        let mut here = place;
        let mut object = loop {
            if let Some(known) = self.kept.lock().ok()?.objects.get(&here) {
                break known.clone();
            }
            let (head, content) = pack.entry(here.offset, scratch)?;
            match head {
                Head::Whole(kind) => {
                    let data = Arc::new(content);
                    break Object { kind, data };
                }
                Head::Of(base) if deltas.len() < MAX_CHAIN => {
                    deltas.push((here, content));
                    here.offset = base;
                }
                Head::Of(_) => return None,
            }
        };
        // Of a chain only what lies below is of use to others, but for the last.
        let is_alone = deltas.is_empty();
        while let Some((at, delta)) = deltas.pop() {
            self.keep(here, &object);
            let data = Arc::new(delta::apply(&object.data, &delta, MAX_SIZE)?);
            object = Object { data, ..object };
            here = at;
        }
        if !is_alone {
            self.keep(here, &object);
        }
        Some(object)
    }

    fn keep(&self, place: Place, object: &Object) {
        let Ok(mut kept) = self.kept.lock() else { return };
        if kept.bytes + object.data.len() > MAX_KEPT {
            *kept = Kept::default();
        }
        if kept.objects.insert(place, object.clone()).is_none() {
            kept.bytes += object.data.len();
        }
    }
}

/// Whether an object of this type and content has this id.
pub(super) fn is_hash(id: &Oid, kind: ObjectType, content: &[u8]) -> bool {
    let mut hash = Sha1::new();
    hash.update(format!("{} {}\0", kind.str(), content.len()));
    hash.update(content);
    hash.finalize()[..] == *id.as_bytes()
}

/// A file from a place on, whoever else reads it.
struct From<'a> {
    file: &'a File,
    offset: u64,
}

impl Read for From<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        let count = self.file.read_at(buffer, self.offset)?;
        self.offset += count as u64;
        Ok(count)
    }
}

/// What stands before an object's content.
struct Start {
    kind: u8,
    /// Bytes of the content.
    size: usize,
    /// Where the object begins that this one is a delta of.
    base: Option<u64>,
    /// Bytes up to the content.
    used: usize,
}

/// Numbers of the two types of delta: of an object so many bytes before this one, and of one with an id.
const OFS_DELTA: u8 = 6;
const REF_DELTA: u8 = 7;

/// The type of an object that is no delta.
fn whole(kind: u8) -> Option<ObjectType> {
    match kind {
        1 => Some(ObjectType::Commit),
        2 => Some(ObjectType::Tree),
        3 => Some(ObjectType::Blob),
        4 => Some(ObjectType::Tag),
        _ => None,
    }
}

impl Pack {
    /// What stands at an offset, of which the first bytes are read.
    fn start(&self, offset: u64, input: &mut Vec<u8>) -> Option<Start> {
        let left = usize::try_from(self.end.checked_sub(offset)?).ok()?;
        input.resize(FIRST.min(left), 0);
        self.data.read_exact_at(input, offset).ok()?;
        let mut bytes = input.iter().copied();
        let first = bytes.next()?;
        let mut size = usize::from(first & 0x0f);
        let (mut byte, mut used, mut shift) = (first, 1, 4);
        while byte & 0x80 != 0 {
            byte = bytes.next()?;
            // More bits would be shifted out.
            if shift > 53 {
                return None;
            }
            size |= usize::from(byte & 0x7f) << shift;
            (used, shift) = (used + 1, shift + 7);
        }
        let kind = first >> 4 & 7;
        let mut base = None;
        match kind {
            OFS_DELTA => {
                byte = bytes.next()?;
                let mut back = u64::from(byte & 0x7f);
                used += 1;
                while byte & 0x80 != 0 {
                    byte = bytes.next()?;
                    back = (back.checked_add(1)?.checked_mul(128)?) | u64::from(byte & 0x7f);
                    used += 1;
                }
                // Towards the start, so that no chain leads back to itself.
                base = Some(offset.checked_sub(back).filter(|base| *base < offset && *base > 0)?);
            }
            REF_DELTA => {
                let id = Oid::from_bytes(input.get(used..used + 20)?)?;
                used += 20;
                base = Some(*self.index.offsets(&[(id.as_bytes(), 0)])?.get(&0)?);
            }
            _ => {}
        }
        Some(Start { kind, size, base, used })
    }

    /// What begins at an offset, inflated.
    fn entry(&self, offset: u64, scratch: &mut Scratch) -> Option<(Head, Vec<u8>)> {
        let input = &mut scratch.input;
        let Start { kind, size, base, used } = self.start(offset, input)?;
        if size > MAX_SIZE {
            return None;
        }
        let head = match base {
            Some(base) => Head::Of(base),
            None => Head::Whole(whole(kind)?),
        };
        // Where deflate gains nothing it adds five bytes a block, and zlib six in all.
        let left = usize::try_from(self.end.checked_sub(offset)?).ok()?;
        let most = (MAX_HEADER + size + size / 1024 + 64).min(left);
        if input.len() < most {
            input.resize(most, 0);
            self.data.read_exact_at(input, offset).ok()?;
        }
        let mut content = vec![0; size];
        let inflated = scratch.inflate.zlib_decompress(input.get(used..)?, &mut content).ok()?;
        (inflated == size).then_some((head, content))
    }
}

#[cfg(test)]
#[path = "packs_tests.rs"]
mod tests;

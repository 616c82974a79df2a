//! The index of a pack: where in it each object begins.

use std::collections::HashMap;
use std::fs::File;
use std::os::unix::fs::FileExt;
use std::path::Path;

/// Bytes before the ids: signature, version, and 256 counts.
const HEAD: usize = 8 + 256 * 4;
pub(super) const MAGIC: [u8; 8] = [0xff, b't', b'O', b'c', 0, 0, 0, 2];
pub(super) const ID: usize = 20;
/// An offset with this bit is a number in the table of those above 2 GiB.
const IS_LARGE: u32 = 1 << 31;

/// One index file of version 2.
pub(super) struct Index {
    file: File,
    /// For each first byte of an id, how many ids begin with it or a lower one.
    counts: Vec<u32>,
}

impl Index {
    /// `None` for a file of another form.
    pub(super) fn of(path: &Path) -> Option<Index> {
        let file = File::open(path).ok()?;
        let mut head = [0; HEAD];
        file.read_exact_at(&mut head, 0).ok()?;
        let counts = head.strip_prefix(&MAGIC)?.chunks_exact(4);
        let counts: Vec<u32> = counts
            .filter_map(|four| Some(u32::from_be_bytes(four.try_into().ok()?)))
            .collect();
        // A count that lies would have more memory asked for than there is.
        let is_whole = file.metadata().ok()?.len() >= HEAD as u64 + u64::from(*counts.last()?) * (ID as u64 + 8);
        (is_whole && counts.is_sorted()).then_some(Index { file, counts })
    }

    /// Offsets of those of the sorted ids that the pack has, by their number; `None` where the file cannot be read.
    pub(super) fn offsets(&self, wanted: &[(&[u8], usize)]) -> Option<HashMap<usize, u64>> {
        let total = u64::from(*self.counts.last()?);
        let mut found = HashMap::new();
        let mut ids = Vec::new();
        for same in wanted.chunk_by(|(a, _), (b, _)| a.first() == b.first()) {
            let first = usize::from(*same.first()?.0.first()?);
            let start = if first == 0 { 0 } else { self.counts[first - 1] };
            let end = self.counts[first];
            ids.resize((end - start) as usize * ID, 0);
            let from = |table: u64, size: u64| HEAD as u64 + total * table + u64::from(start) * size;
            self.file.read_exact_at(&mut ids, from(0, ID as u64)).ok()?;
            let known: &[[u8; ID]] = ids.as_chunks().0;
            for (id, at) in same {
                let Ok(index) = known.binary_search_by(|known| known.as_slice().cmp(id)) else {
                    continue;
                };
                // After the ids a checksum of four bytes each, then an offset of four bytes each.
                let offset = self.be32(from(ID as u64 + 4, 4) + index as u64 * 4)?;
                let offset = match offset & IS_LARGE {
                    0 => u64::from(offset),
                    _ => {
                        let place = HEAD as u64 + total * (ID as u64 + 8) + u64::from(offset & !IS_LARGE) * 8;
                        u64::from(self.be32(place)?) << 32 | u64::from(self.be32(place + 4)?)
                    }
                };
                found.insert(*at, offset);
            }
        }
        Some(found)
    }

    fn be32(&self, place: u64) -> Option<u32> {
        let mut four = [0; 4];
        self.file.read_exact_at(&mut four, place).ok()?;
        Some(u32::from_be_bytes(four))
    }
}

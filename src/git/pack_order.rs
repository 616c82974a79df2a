//! Where objects lie in the packs of a store: a hint about the order in which to read many of them.
//!
//! Invariant: nothing but an order comes from here. What the index files say is neither checked nor believed; each
//! object is found and verified by libgit2, and a wrong place only costs time. Read in the order of a pack, an object
//! comes soon after the one that it is a delta of, which is then still in memory.

use std::collections::HashMap;
use std::fs::File;
use std::os::unix::fs::FileExt;
use std::path::Path;

use crate::gate::Oid;

/// Bytes before the ids: signature, version, and 256 counts (gitformat-pack, "version 2 pack-*.idx files").
const HEAD: usize = 8 + 256 * 4;
const MAGIC: [u8; 8] = [0xff, b't', b'O', b'c', 0, 0, 0, 2];
const ID: usize = 20;
/// Packs are told apart above the bits of the offset.
const PACK: u32 = 48;

/// A number for each id: ids of one pack by their offset, pack after pack; those that are in no pack come first, in
/// the order in which they were given.
pub(super) fn places(objects: &Path, ids: &[Oid]) -> Vec<u64> {
    let mut wanted: Vec<(&[u8], usize)> = ids.iter().enumerate().map(|(at, id)| (id.as_bytes(), at)).collect();
    wanted.sort_unstable();
    let mut places = vec![0; ids.len()];
    let mut packs = Vec::new();
    for entry in std::fs::read_dir(objects.join("pack")).into_iter().flatten().flatten() {
        let path = entry.path();
        if path.extension().is_some_and(|ending| ending == "idx") {
            packs.push(path);
        }
    }
    packs.sort();
    for (number, pack) in (1u64..).zip(packs) {
        for (at, offset) in offsets(&pack, &wanted).unwrap_or_default() {
            places[at] = number << PACK | offset & ((1 << PACK) - 1);
        }
    }
    places
}

/// Offsets of those of the sorted ids that one index has, by their number; `None` for a file of another form.
fn offsets(index: &Path, wanted: &[(&[u8], usize)]) -> Option<HashMap<usize, u64>> {
    let file = File::open(index).ok()?;
    let mut head = [0; HEAD];
    file.read_exact_at(&mut head, 0).ok()?;
    let counts = head.strip_prefix(&MAGIC)?;
    let count = |first: usize| be32(counts, first * 4);
    let total = count(255)?;
    // A count that lies would have more memory asked for than there is.
    if file.metadata().ok()?.len() < HEAD as u64 + u64::from(total) * (ID as u64 + 8) {
        return None;
    }
    let mut found = HashMap::new();
    let mut ids = Vec::new();
    for same in wanted.chunk_by(|(a, _), (b, _)| a.first() == b.first()) {
        let first = usize::from(*same.first()?.0.first()?);
        let start = if first == 0 { 0 } else { count(first - 1)? };
        let end = count(first)?;
        if start > end || end > total {
            return None;
        }
        ids.resize((end - start) as usize * ID, 0);
        let from = |table: u64, size: u64| HEAD as u64 + u64::from(total) * table + u64::from(start) * size;
        file.read_exact_at(&mut ids, from(0, ID as u64)).ok()?;
        // Ids, then a checksum of four bytes each, then an offset of four bytes each.
        let mut known = ids.chunks_exact(ID).zip(0u64..).peekable();
        for (id, at) in same {
            while known.next_if(|(known, _)| known < id).is_some() {}
            if let Some((_, index)) = known.peek().filter(|(known, _)| known == id) {
                let mut offset = [0; 4];
                let place = from(ID as u64 + 4, 4) + index * 4;
                file.read_exact_at(&mut offset, place).ok()?;
                // Above 2 GiB this is a number in another table, in the same order.
                found.insert(*at, u64::from(u32::from_be_bytes(offset)));
            }
        }
    }
    Some(found)
}

fn be32(bytes: &[u8], at: usize) -> Option<u32> {
    let four = bytes.get(at..at + 4)?;
    Some(u32::from_be_bytes(four.try_into().ok()?))
}

#[cfg(test)]
#[path = "pack_order_tests.rs"]
mod tests;

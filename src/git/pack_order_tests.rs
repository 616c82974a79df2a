use std::path::Path;

use super::*;

fn id(first: u8, last: u8) -> Oid {
    let mut bytes = [0; ID];
    (bytes[0], bytes[ID - 1]) = (first, last);
    Oid::from_bytes(&bytes).expect("20 bytes fit")
}

/// An index with these objects, each with its offset.
fn index(objects: &Path, name: &str, held: &[(Oid, u32)]) {
    let mut bytes = MAGIC.to_vec();
    for first in 0..=255u8 {
        let count = held.iter().filter(|(id, _)| id.as_bytes()[0] <= first).count() as u32;
        bytes.extend(count.to_be_bytes());
    }
    held.iter().for_each(|(id, _)| bytes.extend(id.as_bytes()));
    held.iter().for_each(|_| bytes.extend([9; 4]));
    held.iter().for_each(|(_, offset)| bytes.extend(offset.to_be_bytes()));
    std::fs::create_dir_all(objects.join("pack")).expect("a folder");
    crate::files::replace(&objects.join("pack").join(name), &bytes, 0o644).expect("a file");
}

#[test]
fn objects_come_in_the_order_of_their_packs() {
    let folder = tempfile::tempdir().expect("a folder");
    let (a, b, c, d) = (id(0, 1), id(0, 2), id(7, 0), id(255, 255));
    index(folder.path(), "pack-1.idx", &[(a, 900), (c, 12)]);
    index(folder.path(), "pack-2.idx", &[(b, 400), (d, 30)]);
    let ids = [a, b, c, d, id(9, 9)];
    let places = places(folder.path(), &ids);
    let mut order: Vec<usize> = (0..ids.len()).collect();
    order.sort_by_key(|&at| places[at]);
    assert_eq!(
        order,
        [4, 2, 0, 3, 1],
        "no pack, then the first by offset, then the second"
    );
}

#[test]
fn an_index_that_is_none_gives_no_order() {
    let folder = tempfile::tempdir().expect("a folder");
    let pack = folder.path().join("pack");
    std::fs::create_dir(&pack).expect("a folder");
    crate::files::replace(&pack.join("short.idx"), b"\xfftOc", 0o644).expect("a file");
    let mut lying = MAGIC.to_vec();
    lying.extend([0xff; 256 * 4]);
    crate::files::replace(&pack.join("lying.idx"), &lying, 0o644).expect("a file");
    assert_eq!(places(folder.path(), &[id(0, 1), id(3, 1)]), [0, 0]);
    assert_eq!(places(&folder.path().join("nowhere"), &[id(0, 1)]), [0]);
}

use std::path::Path;

use super::index::{ID, MAGIC};
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
    let path = objects.join("pack").join(name);
    crate::files::replace(&path, &bytes, 0o644).expect("a file");
    crate::files::replace(&path.with_extension("pack"), &[0; 1000], 0o644).expect("a file");
}

#[test]
fn objects_come_in_the_order_of_their_packs() {
    let folder = tempfile::tempdir().expect("a folder");
    let (a, b, c, d) = (id(0, 1), id(0, 2), id(7, 0), id(255, 255));
    index(folder.path(), "pack-1.idx", &[(a, 900), (c, 12)]);
    index(folder.path(), "pack-2.idx", &[(b, 400), (d, 30)]);
    let ids = [a, b, c, d, id(9, 9)];
    let places = Packs::of(folder.path()).order(&ids);
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
    assert_eq!(Packs::of(folder.path()).order(&[id(0, 1), id(3, 1)]), [0, 0]);
    assert_eq!(Packs::of(&folder.path().join("nowhere")).order(&[id(0, 1)]), [0]);
}

/// A store with a pack of texts that are alike, so that most are deltas, and their ids.
fn packed(folder: &Path) -> (git2::Repository, Vec<git2::Oid>) {
    let repo = git2::Repository::init_bare(folder).expect("a repository");
    let mut ids = Vec::new();
    {
        let mut builder = repo.packbuilder().expect("a builder");
        for number in 0..60 {
            let lines = (0..40).filter(|line| line % 41 != number % 41);
            let text: String = lines
                .map(|line| format!("line {line} of a text with {}\n", line * 7919))
                .collect();
            ids.push(repo.blob(format!("{text}{number}\n").as_bytes()).expect("a blob"));
        }
        ids.push(repo.blob(b"").expect("a blob"));
        ids.iter()
            .for_each(|id| builder.insert_object(*id, None).expect("it is there"));
        builder.write(&folder.join("objects/pack"), 0o644).expect("a pack");
    }
    (repo, ids)
}

fn own(id: &git2::Oid) -> Oid {
    Oid::from_bytes(id.as_bytes()).expect("20 bytes fit")
}

fn only(folder: &Path, ending: &str) -> std::path::PathBuf {
    let entries = std::fs::read_dir(folder.join("objects/pack")).expect("a folder");
    let mut paths = entries.map(|entry| entry.expect("an entry").path());
    (paths.find(|path| path.extension().is_some_and(|found| found == ending))).expect("a file")
}

#[test]
fn every_object_of_a_pack_is_what_libgit2_reads() {
    let folder = tempfile::tempdir().expect("a folder");
    let (repo, ids) = packed(folder.path());
    let packs = Packs::of(&folder.path().join("objects"));
    let odb = repo.odb().expect("a store");
    for _ in 0..2 {
        for id in &ids {
            let (kind, content) = packs.read(&own(id)).expect("it is in the pack");
            let known = odb.read(*id).expect("it is there");
            assert_eq!((kind, content.as_slice()), (known.kind(), known.data()), "{id}");
        }
    }
    let kept = packs.kept.lock().expect("nobody panicked");
    assert!(kept.objects.len() > 30, "most are deltas: {}", kept.objects.len());
    drop(kept);
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                ids.iter()
                    .all(|id| packs.read(&own(id)).is_some())
                    .then_some(())
                    .expect("all")
            });
        }
    });
}

#[test]
fn what_a_damaged_pack_gives_out_is_what_was_asked_for() {
    let folder = tempfile::tempdir().expect("a folder");
    let (repo, ids) = packed(folder.path());
    let odb = repo.odb().expect("a store");
    let known: Vec<Vec<u8>> = (ids.iter())
        .map(|id| odb.read(*id).expect("it is there").data().to_vec())
        .collect();
    for ending in ["pack", "idx"] {
        let path = only(folder.path(), ending);
        let sound = std::fs::read(&path).expect("a file");
        let mut refused = 0;
        for at in (0..sound.len()).step_by(29) {
            let mut bytes = sound.clone();
            bytes[at] ^= 0x41;
            if at % 2 == 0 {
                bytes.truncate(at);
            }
            crate::files::replace(&path, &bytes, 0o644).expect("a file");
            let packs = Packs::of(&folder.path().join("objects"));
            for (id, known) in ids.iter().zip(&known) {
                match packs.read(&own(id)) {
                    Some((kind, content)) => assert_eq!((kind, &content), (ObjectType::Blob, known), "{ending} {at}"),
                    None => refused += 1,
                }
            }
        }
        assert!(refused > 100, "{ending}: {refused}");
        crate::files::replace(&path, &sound, 0o644).expect("a file");
    }
}

#[test]
fn an_object_under_another_id_is_not_given_out() {
    let folder = tempfile::tempdir().expect("a folder");
    let (_repo, ids) = packed(folder.path());
    let packs = Packs::of(&folder.path().join("objects"));
    let places = packs.find(&[own(&ids[0]), own(&ids[1])]);
    let place = places[1].expect("it is in the pack");
    assert_eq!(packs.read_at(&own(&ids[0]), place), None);
    assert!(packs.read_at(&own(&ids[1]), place).is_some());
}

proptest::proptest! {
    #[test]
    fn a_delta_of_any_bytes_makes_no_more_than_it_may(base in proptest::collection::vec(0u8.., 0..300),
                                                      mut delta in proptest::collection::vec(0u8.., 0..80)) {
        // Mostly of the base's length, so that something is made.
        if !delta.is_empty() && base.len() < 128 {
            delta[0] = base.len() as u8;
        }
        if let Some(made) = delta::apply(&base, &delta, 500) {
            assert!(made.len() <= 500);
        }
    }
}

#[test]
fn a_delta_copies_and_inserts() {
    let base: Vec<u8> = (0..=255).cycle().take(70_000).map(|byte: u32| byte as u8).collect();
    let size = [0xf0, 0xa2, 0x04];
    // 3 bytes of its own, then 65,536 from 256 on (a length of 0), then 2 from 5 on.
    let delta = [&size[..], &[0x85, 0x80, 0x04, 3, b'a', b'b', b'c', 0x82, 1, 0x91, 5, 2]].concat();
    let made = delta::apply(&base, &delta, 1 << 20).expect("it is sound");
    assert_eq!(made.len(), 3 + 0x10000 + 2);
    assert_eq!(&made[..3], b"abc");
    assert_eq!(&made[3..0x10003], &base[256..0x10000 + 256]);
    assert_eq!(&made[0x10003..], &base[5..7]);
    assert_eq!(delta::apply(&base, &delta, 1000), None, "more than may be");
    assert_eq!(delta::apply(&base[1..], &delta, 1 << 20), None, "of another base");
}

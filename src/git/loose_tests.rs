use std::io::Write;

use sha1::{Digest, Sha1};

use super::*;

fn zlib(bytes: &[u8]) -> Vec<u8> {
    let mut writer = flate2::write::ZlibEncoder::new(Vec::new(), flate2::Compression::fast());
    writer.write_all(bytes).expect("memory");
    writer.finish().expect("memory")
}

/// A store with one file in place of the object that has this text as its bytes.
fn store(named: &[u8], stored: &[u8]) -> (tempfile::TempDir, Loose, Oid) {
    let folder = tempfile::tempdir().expect("a folder");
    let id = Oid::from_bytes(&Sha1::digest(named)).expect("20 bytes fit");
    let loose = Loose::of(folder.path());
    let path = loose.path(&id);
    std::fs::create_dir(path.parent().expect("a folder")).expect("a folder");
    crate::files::replace(&path, stored, 0o444).expect("a file");
    (folder, loose, id)
}

#[test]
fn an_object_is_read_as_git_wrote_it() {
    let folder = tempfile::tempdir().expect("a folder");
    let repo = git2::Repository::init_bare(folder.path()).expect("a repository");
    let loose = Loose::of(&folder.path().join("objects"));
    for text in [&b""[..], b"text\n", &[7; 100_000]] {
        let id = repo.blob(text).expect("a blob");
        let id = Oid::from_bytes(id.as_bytes()).expect("20 bytes fit");
        assert_eq!(loose.head(&id), Ok(Some((ObjectType::Blob, text.len() as u64))));
        assert_eq!(loose.read(&id, 100_000), Ok(Some((ObjectType::Blob, text.to_vec()))));
    }
    let absent = Oid::from_bytes(&[9; 20]).expect("20 bytes fit");
    assert_eq!((loose.head(&absent), loose.read(&absent, 9)), (Ok(None), Ok(None)));
}

#[test]
fn what_is_not_what_its_id_or_its_header_says_is_refused() {
    let good = b"blob 4\0text";
    for stored in [
        &b"blob 4\0texu"[..],
        b"tree 4\0text",
        b"blob 3\0text",
        b"blob 5\0text",
        b"blob 04\0text",
        b"blob +4\0text",
        b"blob\0text",
        b"thing 4\0text",
        b"blob 4 text without an end of the header at all",
        b"",
    ] {
        let (_folder, loose, id) = store(good, &zlib(stored));
        loose.read(&id, 100).expect_err("it is damaged");
    }
    let (_folder, loose, id) = store(good, b"no zlib");
    loose.read(&id, 100).expect_err("it is damaged");
    let (_folder, loose, id) = store(good, &zlib(good)[..8]);
    loose.read(&id, 100).expect_err("it is cut off");
}

#[test]
fn more_than_the_limit_is_not_read_and_more_than_the_header_says_neither() {
    let mut bomb = b"blob 10\0".to_vec();
    bomb.resize(50_000_000, 0);
    let (_folder, loose, id) = store(b"blob 10\0", &zlib(&bomb));
    let why = loose.read(&id, 100).expect_err("it goes on");
    assert!(why.contains("the size"), "{why}");
    let (_folder, loose, id) = store(b"blob 4\0text", &zlib(b"blob 4\0text"));
    let why = loose.read(&id, 3).expect_err("it is too large");
    assert!(why.contains("4 bytes, more than the 3"), "{why}");
    let (_folder, loose, id) = store(b"x", &zlib(b"blob 99999999999999999\0text"));
    loose.read(&id, u64::MAX).expect_err("it is not that large");
}

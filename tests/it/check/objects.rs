//! Objects that are not what git writes: each is 2 with its id, at once, whatever stands in its place.

use std::fs;
use std::io::Write;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use super::on_branch;
use crate::support::repo::Repo;
use crate::support::tokens;

const LINE: [&str; 3] = ["check", "--base", "main"];

/// A change of one file in a folder, whose objects lie loose.
fn scene() -> Repo {
    let repo = on_branch();
    repo.write("payments/deep/part.py", "import json\n");
    repo.commit("a part");
    repo
}

fn object(repo: &Repo, revision: &str) -> (String, PathBuf) {
    let id = repo.git(["rev-parse", revision]);
    let path = repo.root.join(".git/objects").join(&id[..2]).join(&id[2..]);
    (id, path)
}

fn zlib(bytes: &[u8]) -> Vec<u8> {
    let mut writer = flate2::write::ZlibEncoder::new(Vec::new(), flate2::Compression::fast());
    writer.write_all(bytes).expect("memory");
    writer.finish().expect("memory")
}

#[test]
fn a_pipe_in_place_of_an_object_holds_up_nobody() {
    for revision in [
        "HEAD",
        "HEAD^{tree}",
        "HEAD:payments/deep",
        "HEAD:payments/deep/part.py",
        "main",
    ] {
        let repo = scene();
        let (id, path) = object(&repo, revision);
        fs::remove_file(&path).expect("it lies loose");
        repo.program("mkfifo").args([&path]).run().success();
        let begun = Instant::now();
        let outcome = repo.agentgate(LINE);
        outcome.expect(2, &[]);
        assert!(outcome.stderr.contains(&id), "{revision}: {outcome}");
        assert!(outcome.stderr.contains("is no file"), "{revision}: {outcome}");
        assert!(begun.elapsed() < Duration::from_secs(10), "{revision}: {outcome}");
    }
}

#[test]
fn an_object_that_inflates_to_more_than_it_says_or_to_too_much_is_2() {
    let mut goes_on = b"blob 12\0".to_vec();
    goes_on.resize(60_000_000, b'x');
    let promises = b"blob 900000000000\0import json\n".to_vec();
    let mut folder = b"tree 900000000\0".to_vec();
    folder.extend([b'x'; 100]);
    for (revision, bytes) in [
        ("HEAD:payments/deep/part.py", goes_on),
        ("HEAD:payments/deep/part.py", promises),
        ("HEAD:payments/deep", folder),
    ] {
        let repo = scene();
        let (id, path) = object(&repo, revision);
        fs::remove_file(&path).expect("it lies loose");
        fs::write(&path, zlib(&bytes)).expect("it can be written");
        let outcome = repo.agentgate(LINE);
        outcome.expect(2, &[]);
        assert!(outcome.stderr.contains(&id), "{outcome}");
    }
}

#[test]
fn a_type_in_a_pack_that_git_has_not_is_2() {
    let repo = scene();
    let ids = ["HEAD:payments/deep/part.py", "HEAD:payments/deep"].map(|revision| object(&repo, revision).0);
    repo.git(["repack", "-qadf", "--window=0"]);
    repo.git(["prune-packed"]);
    let [index, path] = ["idx", "pack"].map(|ending| super::packs::file(&repo, ending));
    let listed = repo.git(["verify-pack", "-v", &index.display().to_string()]);
    let sound = fs::read(&path).expect("a pack");
    for id in ids {
        let line = (listed.lines().find(|line| line.starts_with(&id))).expect("it is packed");
        let offset: usize = (line.split_whitespace().last().and_then(|word| word.parse().ok())).expect("an offset");
        for kind in [0, 5] {
            let mut bytes = sound.clone();
            bytes[offset] = bytes[offset] & 0x8f | kind << 4;
            fs::remove_file(&path).expect("it can be removed");
            fs::write(&path, bytes).expect("it can be written");
            let outcome = repo.agentgate(LINE);
            outcome.expect(2, &[]);
            assert!(outcome.stderr.contains(&id), "{kind}: {outcome}");
            assert!(!outcome.stderr.contains("panicked"), "{kind}: {outcome}");
        }
    }
}

#[test]
fn a_large_file_is_searched_to_its_end_wherever_it_lies() {
    let repo = on_branch();
    // Nothing that deflate could make smaller, so that packs keep it whole.
    let mut bytes: Vec<u8> = (0..6_000_000u64)
        .map(|n| (n.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 40) as u8)
        .collect();
    bytes.extend(format!("\0key={}\n", tokens::github()).bytes());
    repo.write("payments/model.bin", bytes);
    repo.commit("a model");
    let loose = repo.agentgate(LINE);
    loose.expect(24, &["payments/model.bin"]);
    repo.git(["repack", "-qad"]);
    repo.git(["prune-packed"]);
    let packed = repo.agentgate(LINE);
    assert_eq!((packed.code, &packed.stdout), (24, &loose.stdout), "{packed}");
}

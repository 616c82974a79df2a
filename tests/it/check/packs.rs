//! What lies in packs is read by agentgate itself, by several threads: the verdict is that of loose objects, and what
//! is not what its id says is never judged.

use std::fs;
use std::path::PathBuf;

use super::on_branch;
use crate::support::repo::Repo;

/// Thirty files that are alike, of which two have a finding.
fn scene() -> Repo {
    let repo = on_branch();
    for number in 0..30 {
        let import = if number % 17 == 9 { "redis" } else { "json" };
        let lines: String = (0..60)
            .map(|line| format!("value_{line} = {}\n", line * number))
            .collect();
        repo.write(
            format!("payments/part_{number}.py"),
            format!("import {import}\n{lines}"),
        );
    }
    repo.commit("parts");
    repo
}

/// A file of the pack.
pub(super) fn file(repo: &Repo, ending: &str) -> PathBuf {
    let entries = fs::read_dir(repo.root.join(".git/objects/pack")).expect("a folder");
    let mut paths = entries.map(|entry| entry.expect("an entry").path());
    (paths.find(|path| path.extension().is_some_and(|found| found == ending))).expect("a pack")
}

const LINE: [&str; 3] = ["check", "--base", "main"];

#[test]
fn what_a_pack_holds_is_judged_as_what_lies_loose() {
    let repo = scene();
    let loose = repo.agentgate(LINE);
    loose.expect(5, &["imports `redis`"]);
    assert_eq!(loose.stdout.matches("imports `redis`").count(), 2, "{loose}");
    for options in [
        &["-adf", "--window=50", "--depth=50"][..],
        &["-adf", "--window=0"],
        &["-ad"],
    ] {
        repo.git([&["repack", "-q"], options].concat());
        repo.git(["prune-packed"]);
        let packed = repo.agentgate(LINE);
        assert_eq!(
            (&loose.stdout, &loose.stderr),
            (&packed.stdout, &packed.stderr),
            "{options:?}"
        );
    }
}

#[test]
fn an_object_that_a_pack_shows_under_the_id_of_another_is_2() {
    let repo = scene();
    repo.git(["repack", "-qadf", "--window=0"]);
    repo.git(["prune-packed"]);
    let ids = ["payments/part_9.py", "payments/part_8.py"].map(|path| repo.git(["rev-parse", &format!("HEAD:{path}")]));
    let path = file(&repo, "idx");
    let mut index = fs::read(&path).expect("an index");
    let count = u32::from_be_bytes(index[8 + 255 * 4..8 + 256 * 4].try_into().expect("four bytes")) as usize;
    let head = 8 + 256 * 4;
    let places = ids.each_ref().map(|id| {
        let id = git2::Oid::from_str(id).expect("an id");
        let at = (0..count)
            .find(|at| index[head + at * 20..][..20] == *id.as_bytes())
            .expect("it is packed");
        head + count * 24 + at * 4
    });
    for byte in 0..4 {
        index.swap(places[0] + byte, places[1] + byte);
    }
    // git makes these files read-only.
    fs::remove_file(&path).expect("it can be removed");
    fs::write(&path, index).expect("it can be written");
    let outcome = repo.agentgate(LINE);
    outcome.expect(2, &[]);
    assert!(ids.iter().any(|id| outcome.stderr.contains(id.as_str())), "{outcome}");
    assert!(outcome.stderr.contains("hash"), "{outcome}");
}

#[test]
fn a_damaged_pack_is_2_and_no_verdict() {
    let repo = scene();
    repo.git(["repack", "-qadf", "--window=50", "--depth=50"]);
    repo.git(["prune-packed"]);
    let path = file(&repo, "pack");
    let sound = fs::read(&path).expect("a pack");
    let mut codes = Vec::new();
    for at in (12..sound.len() - 20).step_by(sound.len() / 40) {
        let mut bytes = sound.clone();
        bytes[at] ^= 0x24;
        fs::remove_file(&path).expect("it can be removed");
        fs::write(&path, bytes).expect("it can be written");
        let outcome = repo.agentgate(LINE);
        codes.push(outcome.code);
        // An object that no check needs may be damaged; then the verdict is whole.
        let is_whole = outcome.code == 5 && outcome.stdout.matches("imports `redis`").count() == 2;
        assert!(outcome.code == 2 || is_whole, "{at}: {outcome}");
    }
    assert!(codes.contains(&2), "{codes:?}");
}

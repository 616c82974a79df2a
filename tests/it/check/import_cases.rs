//! Files that do and that do not import `redis` (`hiredis`, `predis`), each judged by the real
//! binary.

use std::path::Path;

use crate::support::repo::Repo;

/// The paths of all findings where every file of the folder is new in one branch.
fn judged(folder: &str) -> (Vec<String>, Vec<String>, i64) {
    let repo = Repo::empty();
    repo.write(
        "architecture/invariants.yml",
        "version: 1\nall:\n  forbidden_imports: [redis, hiredis, predis]\nmax_new_top_level_dirs: 1\n",
    );
    repo.commit("start");
    repo.branch("f");
    let root = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("fixtures/imports")
        .join(folder);
    let mut names = Vec::new();
    for entry in std::fs::read_dir(&root).expect("the folder is there") {
        let entry = entry.expect("it can be listed");
        let name = entry.file_name().into_string().expect("a plain name");
        repo.write(
            format!("src/{name}"),
            std::fs::read(entry.path()).expect("it can be read"),
        );
        names.push(format!("src/{name}"));
    }
    names.sort();
    repo.commit("all of them");
    let json = repo.agentgate(["check", "--base", "main", "--json"]).json();
    let mut found: Vec<String> = json["findings"]
        .as_array()
        .expect("a list")
        .iter()
        .map(|finding| {
            assert_eq!(finding["rule"], "forbidden-import", "{finding}");
            finding["path"].as_str().expect("a path").to_owned()
        })
        .collect();
    found.sort();
    found.dedup();
    (names, found, json["exit"].as_i64().expect("a code"))
}

#[test]
fn every_file_that_imports_it_is_found() {
    let (names, found, exit) = judged("must-hit");
    assert!(names.len() >= 44, "{names:?}");
    assert_eq!((found, exit), (names, 5));
}

#[test]
fn no_file_that_does_not_is() {
    let (names, found, exit) = judged("must-not-hit");
    assert!(names.len() >= 24, "{names:?}");
    assert_eq!((found, exit), (Vec::new(), 0));
}

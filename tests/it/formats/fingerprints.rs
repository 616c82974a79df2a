//! Fingerprints: services know a finding again by them.

use std::collections::BTreeSet;

use super::check;
use crate::support::repo::Repo;

/// The fingerprints of the SARIF results and of GitLab's issues, in the order of the document.
fn fingerprints(repo: &Repo) -> (Vec<String>, Vec<String>) {
    let text = |value: &serde_json::Value| value.as_str().expect("a text").to_owned();
    let sarif = check(repo, "sarif").json();
    let results = sarif["runs"][0]["results"].as_array().expect("results").clone();
    let issues = check(repo, "gitlab").json();
    (
        results
            .iter()
            .map(|result| text(&result["partialFingerprints"]["agentgate/v1"]))
            .collect(),
        issues
            .as_array()
            .expect("issues")
            .iter()
            .map(|issue| text(&issue["fingerprint"]))
            .collect(),
    )
}

fn with(source: &str) -> Repo {
    let repo = Repo::new();
    repo.branch("f");
    repo.change("payments/q.ts", source);
    repo
}

#[test]
fn lines_above_and_blanks_do_not_change_it() {
    let before = fingerprints(&with("import { x } from 'redis';\n"));
    let after = fingerprints(&with("// new\n\n  import {  x } from 'redis';\n"));
    assert_eq!(before, after);
    assert_eq!(before.0.len(), 1);
    let other = fingerprints(&with("import { y } from 'redis';\n"));
    assert_ne!(before, other);
}

#[test]
fn equal_lines_of_one_file_have_different_ones() {
    let repo = with("import 'redis';\nimport 'redis';\nimport 'redis';\n");
    for path in ["prot/a", "prot/b"] {
        repo.change(path, "x\n");
    }
    // The same file twice: by the end points, and put back within the range.
    repo.change("prot/c", "x\n");
    repo.remove("prot/c");
    repo.commit("put it back");
    let (sarif, gitlab) = fingerprints(&repo);
    assert_eq!(sarif, gitlab);
    let different: BTreeSet<&String> = sarif.iter().collect();
    assert_eq!((sarif.len(), different.len()), (7, 7), "{sarif:?}");
}

#[test]
fn a_rebase_does_not_change_it() {
    let make = |message: &str| {
        let repo = Repo::new();
        repo.branch("f");
        repo.write("prot/c", "x\n");
        repo.commit(message);
        repo.remove("prot/c");
        repo.commit("put it back");
        fingerprints(&repo)
    };
    assert_eq!(make("one"), make("another"));
}

//! The same cases through libgit2: real objects in a real repository.

use std::collections::BTreeMap;

use agentgate::gate::{Kind, Oid};
use agentgate::git::tree::GitTree;
use git2::Repository;

use super::judged;
use crate::support::memtree::{Item, cases};

/// Writes a tree with these leaves; the objects need no commit to be judged.
fn write(repo: &Repository, items: &[Item]) -> git2::Oid {
    let mut folders: BTreeMap<&[u8], Vec<Item>> = BTreeMap::new();
    let mut builder = repo.treebuilder(None).expect("a builder");
    for (path, kind, content) in items {
        match path.iter().position(|&byte| byte == b'/') {
            Some(at) => folders
                .entry(&path[..at])
                .or_default()
                .push((path[at + 1..].to_vec(), *kind, content.clone())),
            None => {
                let (id, mode) = match kind {
                    // A link to a commit of another repository: any id will do.
                    Kind::Submodule => (
                        git2::Oid::hash_object(git2::ObjectType::Blob, content).expect("an id"),
                        0o160_000,
                    ),
                    Kind::Symlink => (repo.blob(content).expect("a blob"), 0o120_000),
                    Kind::Executable => (repo.blob(content).expect("a blob"), 0o100_755),
                    Kind::File | Kind::Tree => (repo.blob(content).expect("a blob"), 0o100_644),
                };
                builder.insert(&path[..], id, mode).expect("an entry");
            }
        }
    }
    for (name, below) in folders {
        builder.insert(name, write(repo, &below), 0o040_000).expect("a folder");
    }
    builder.write().expect("a tree")
}

#[test]
fn every_fixture_gets_the_same_verdict_through_git() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let repo = Repository::init_bare(folder.path()).expect("a repository");
    let tree = |items: &[Item]| {
        let id = write(&repo, items);
        GitTree::new(&repo, Oid::from_bytes(id.as_bytes()).expect("an id"))
    };
    let cases = cases();
    assert!(cases.len() >= 40, "only {} cases were found", cases.len());
    let wrong: Vec<String> = cases
        .iter()
        .map(|case| (case, judged(case, &tree(&case.base), &tree(&case.head))))
        .filter(|(case, got)| case.expect != *got)
        .map(|(case, got)| format!("{}: expected\n{}got\n{got}", case.name, case.expect))
        .collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

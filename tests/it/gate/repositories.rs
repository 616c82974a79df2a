//! Bare repositories in the tree. By code: a folder of fixtures with one would be one.

use agentgate::gate::Kind;

use super::{check, file, item, lines};
use crate::support::memtree::Item;

/// The files of a bare repository, each empty but for what the folder's name makes different.
fn bare(folder: &str) -> Vec<Item> {
    ["HEAD", "config", "objects/.k", "refs/.k"]
        .map(|name| file(format!("{folder}/{name}"), "a"))
        .to_vec()
}

fn finding(folder: &str) -> String {
    format!("uninspectable {folder} built-in: repositories")
}

#[test]
fn a_bare_repository_is_named_once_with_why_and_remedy() {
    let verdict = check(&[], &bare("src/bare"));
    assert_eq!(lines(&verdict), [finding("src/bare")]);
    let found = &verdict.findings[0];
    assert!(found.message.contains("git that is run inside it"), "{found:?}");
    assert!(found.hint.contains("delete it"), "{found:?}");
    // At the top level and far below, and in one another.
    let mut both = bare("out");
    both.extend(bare("a/b/c/d/refs/objects"));
    both.extend(bare("out/objects/in"));
    let found = lines(&check(&[], &both));
    for folder in ["a/b/c/d/refs/objects", "out", "out/objects/in"] {
        assert!(found.contains(&finding(folder)), "{folder}: {found:?}");
    }
    assert_eq!(found.len(), 3);
}

#[test]
fn whatever_git_takes_for_one_is_one() {
    let head = file("s/b/HEAD", "ref: refs/heads/main");
    let shapes = [
        vec![
            file("s/b/head", "a"),
            file("s/b/Objects/x", "a"),
            file("s/b/REFS/x", "a"),
        ],
        vec![head.clone(), file("s/b/commondir", "../c")],
        vec![head.clone(), item("s/b/CommonDir", Kind::Symlink, "c")],
        vec![
            item("s/b/HEAD", Kind::Symlink, "refs/heads/main"),
            item("s/b/objects", Kind::Symlink, "../o"),
            item("s/b/refs", Kind::Symlink, "../r"),
        ],
        // git asks no more than whether it may enter, which it may so.
        vec![
            head.clone(),
            item("s/b/objects", Kind::Executable, "a"),
            file("s/b/refs/x", "a"),
        ],
    ];
    for shape in shapes {
        let found = lines(&check(&[], &shape));
        assert!(found.contains(&finding("s/b")), "{shape:?}: {found:?}");
    }
}

#[test]
fn what_has_only_some_of_the_names_is_none() {
    let one = |path: &str| file(path, "a");
    let shapes = [
        vec![one("s/b/HEAD"), one("s/b/objects/x")],
        vec![one("s/b/HEAD"), one("s/b/refs/x"), one("s/b/config")],
        vec![one("s/b/objects/x"), one("s/b/refs/x"), one("s/b/config")],
        vec![one("s/b/HEAD/x"), one("s/b/objects/x"), one("s/b/refs/x")],
        vec![one("s/b/HEAD"), one("s/b/objects"), one("s/b/refs")],
        vec![one("s/b/HEADER"), one("s/b/objects/x"), one("s/b/refs/x")],
        // The root: what is beside it is found first.
        vec![one("HEAD"), one("objects/x"), one("refs/x")],
    ];
    for shape in shapes {
        assert_eq!(check(&[], &shape).findings, [], "{shape:?}");
    }
}

#[test]
fn one_that_the_base_has_may_stay_and_not_change() {
    let base = bare("test/repo");
    let beside = [&base[..], &[file("test/repo/README", "b"), file("test/x", "b")]].concat();
    assert_eq!(check(&base, &beside).findings, []);
    assert_eq!(check(&base, &[]).findings, []);
    let changes = [
        "HEAD",
        "config",
        "Config.worktree",
        "commondir",
        "hooks/pre-commit",
        "info/attributes",
        "objects/info/alternates",
        "refs/heads/x",
    ];
    for name in changes {
        let path = format!("test/repo/{name}");
        let mut head = base.clone();
        head.retain(|(old, ..)| *old != path.as_bytes());
        head.push(file(&path, "b"));
        assert_eq!(lines(&check(&base, &head)), [finding("test/repo")], "{name}");
    }
    // What goes alters it; and a part that was missing makes one.
    let gone: Vec<Item> = base
        .iter()
        .filter(|(path, ..)| path != b"test/repo/config")
        .cloned()
        .collect();
    assert_eq!(lines(&check(&base, &gone)), [finding("test/repo")]);
    assert_eq!(lines(&check(&base[1..], &base)), [finding("test/repo")]);
}

//! Commits whose trees git itself would not have written, as `git fetch` takes them in.

use crate::support::repo::{Repo, TRAILERS};

/// An entry as a tree object holds it.
fn entry(mode: &str, name: &str, id: &str) -> Vec<u8> {
    let id = git2::Oid::from_str(id).expect("an id");
    [mode.as_bytes(), b" ", name.as_bytes(), b"\0", id.as_bytes()].concat()
}

fn blob(repo: &Repo, content: &str) -> String {
    let written = repo
        .program("git")
        .args(["hash-object", "-w", "--stdin"])
        .stdin(content);
    written.run().success().stdout.trim().to_owned()
}

/// Writes these entries as they are.
fn tree(repo: &Repo, entries: &[Vec<u8>]) -> String {
    let written = repo
        .program("git")
        .args(["hash-object", "-t", "tree", "--literally", "-w", "--stdin"])
        .stdin(entries.concat());
    written.run().success().stdout.trim().to_owned()
}

/// What the root of HEAD has, with a folder `lib` of these entries.
fn with_lib(repo: &Repo, lib: &[Vec<u8>]) -> String {
    let lib = tree(repo, lib);
    let id = |path: &str| repo.git(["rev-parse", &format!("HEAD:{path}")]);
    tree(
        repo,
        &[
            entry("40000", "architecture", &id("architecture")),
            entry("40000", "lib", &lib),
            entry("40000", "payments", &id("payments")),
            entry("40000", "prot", &id("prot")),
        ],
    )
}

fn commit(repo: &Repo, tree: &str, parent: &str) -> String {
    repo.git(["commit-tree", tree, "-p", parent, "-m", "made by hand"])
}

/// A repository whose policy lets `lib` be added.
fn repo() -> Repo {
    let repo = Repo::new();
    let policy = format!("{}max_new_top_level_dirs: 2\n", crate::support::repo::POLICY);
    repo.change("architecture/invariants.yml", &policy);
    repo
}

#[test]
fn each_kind_of_malformed_tree_is_9_and_names_commit_and_path() {
    let repo = repo();
    let (a, b) = (blob(&repo, "a\n"), blob(&repo, "b\n"));
    let below = tree(&repo, &[entry("100644", "x", &a)]);
    let empty = tree(&repo, &[]);
    let cases: &[(&str, &[Vec<u8>], &str)] = &[
        (
            "lib/a",
            &[entry("100644", "a", &a), entry("100644", "a", &b)],
            "`a` stands in it twice",
        ),
        (
            "lib/a",
            &[entry("100644", "a", &a), entry("40000", "a", &below)],
            "`a` stands in it twice",
        ),
        (
            "lib/.git",
            &[entry("40000", ".git", &below)],
            "`.git` is named as a git dir",
        ),
        (
            "lib/.git",
            &[entry("40000", ".git", &empty)],
            "`.git` is named as a git dir",
        ),
        (
            "lib/..",
            &[entry("40000", "..", &below)],
            "`..` names a folder that every folder has",
        ),
        (
            "lib/.",
            &[entry("100644", ".", &a)],
            "`.` names a folder that every folder has",
        ),
        ("lib/", &[entry("100644", "", &a)], "`` has no name"),
        (
            "lib/../prot/rules.txt",
            &[entry("100644", "../prot/rules.txt", &a)],
            "`../prot/rules.txt` has a slash in its name",
        ),
        (
            "lib/a",
            &[entry("100644", "b", &a), entry("100644", "a", &a)],
            "`a` is out of order",
        ),
        (
            "lib/a",
            &[entry("100600", "a", &a)],
            "`a` has a mode that git does not know",
        ),
        ("lib/a", &[entry("10000", "a", &a)], "`a` has a mode that is none"),
        (
            "lib/a",
            &[entry("040000", "a", &below)],
            "`a` has a mode with a zero in front",
        ),
    ];
    for (path, lib, what) in cases {
        let made = commit(&repo, &with_lib(&repo, lib), "HEAD");
        let outcome = repo.agentgate(["check", "--base", "main", "--head", &made]);
        outcome.expect(9, &[&format!("{path}: malformed tree "), what]);
        let place = format!("{what} (in commit {})", &made[..12]);
        assert!(outcome.stdout.contains(&place), "{what}: {outcome}");
    }
}

#[test]
fn a_malformed_tree_comes_in_by_a_fetch() {
    let origin = repo();
    let a = blob(&origin, "a\n");
    let lib = [entry("100644", "a", &a), entry("100644", "a", &blob(&origin, "b\n"))];
    let clone = origin.clone_as("clone", &[]);
    let made = commit(&origin, &with_lib(&origin, &lib), "HEAD");
    origin.git(["update-ref", "refs/heads/f", &made]);
    clone.git(["fetch", "--quiet", "origin"]);
    let outcome = clone.agentgate(["check", "--base", "origin/main", "--head", "origin/f"]);
    outcome.expect(9, &["lib/a: malformed tree "]);
}

#[test]
fn both_entries_of_one_name_are_judged() {
    let repo = repo();
    let (rules, other) = (blob(&repo, "rules\n"), blob(&repo, "none\n"));
    let prot = tree(
        &repo,
        &[
            entry("100644", "rules.txt", &rules),
            entry("100644", "rules.txt", &other),
        ],
    );
    let id = |path: &str| repo.git(["rev-parse", &format!("HEAD:{path}")]);
    let root = tree(
        &repo,
        &[
            entry("40000", "architecture", &id("architecture")),
            entry("40000", "payments", &id("payments")),
            entry("40000", "prot", &prot),
        ],
    );
    let made = commit(&repo, &root, "HEAD");
    repo.agentgate(["check", "--base", "main", "--head", &made])
        .expect(3, &["prot/rules.txt: protected path changed", "stands in it twice"]);
}

#[test]
fn a_malformed_tree_that_a_later_commit_mends_is_still_in_the_history() {
    let repo = repo();
    let lib = [entry("40000", ".git", &tree(&repo, &[]))];
    let made = commit(&repo, &with_lib(&repo, &lib), "HEAD");
    let mended = commit(&repo, &repo.git(["rev-parse", "HEAD^{tree}"]), &made);
    let outcome = repo.agentgate(["check", "--base", "main", "--head", &mended]);
    outcome.expect(9, &["lib/.git: malformed tree "]);
    assert!(outcome.stdout.contains(&made[..12]), "{outcome}");
}

#[test]
fn what_the_base_had_in_the_same_folder_is_no_finding() {
    let repo = repo();
    let a = blob(&repo, "a\n");
    let odd = [entry("100664", "a", &a), entry("0100644", "b", &a)];
    let old = commit(&repo, &with_lib(&repo, &odd), "HEAD");
    repo.git(["update-ref", "refs/heads/main", &old]);
    let changed = [entry("100664", "a", &blob(&repo, "new\n")), entry("0100644", "b", &a)];
    let new = commit(&repo, &with_lib(&repo, &changed), &old);
    repo.agentgate(["check", "--base", "main", "--head", &new])
        .expect(0, &["invariants ok; 1 path checked"]);
}

#[test]
fn a_tree_that_does_not_come_apart_is_2() {
    let repo = repo();
    let broken = tree(&repo, &[b"100644 a\0short".to_vec()]);
    let id = |path: &str| repo.git(["rev-parse", &format!("HEAD:{path}")]);
    let root = tree(
        &repo,
        &[
            entry("40000", "architecture", &id("architecture")),
            entry("40000", "lib", &broken),
            entry("40000", "payments", &id("payments")),
            entry("40000", "prot", &id("prot")),
        ],
    );
    let made = commit(&repo, &root, "HEAD");
    repo.agentgate(["check", "--base", "main", "--head", &made])
        .expect(2, &["cannot read tree", "the id of an entry is cut short"]);
}

#[test]
fn a_path_that_no_disk_holds_ends_with_2_and_soon() {
    let repo = repo();
    let mut folder = tree(&repo, &[entry("100644", "x.ts", &blob(&repo, "import 'redis';\n"))]);
    // 201 bytes each: git makes one process for each level here.
    for _ in 0..21 {
        folder = tree(&repo, &[entry("40000", &"d".repeat(200), &folder)]);
    }
    let made = commit(&repo, &with_lib(&repo, &[entry("40000", "d", &folder)]), "HEAD");
    repo.agentgate(["check", "--base", "main", "--head", &made])
        .expect(2, &["too many or too deep paths"]);
}

#[test]
fn one_folder_named_a_billion_times_ends_with_2_and_soon() {
    let repo = repo();
    let mut folder = tree(&repo, &[entry("100644", "x", &blob(&repo, "a\n"))]);
    for _ in 0..12 {
        let entries: Vec<Vec<u8>> = ["0", "1", "2", "3", "4", "5", "6", "7", "8", "9"]
            .map(|name| entry("40000", name, &folder))
            .into();
        folder = tree(&repo, &entries);
    }
    let made = commit(&repo, &with_lib(&repo, &[entry("40000", "d", &folder)]), "HEAD");
    repo.agentgate(["check", "--base", "main", "--head", &made])
        .expect(2, &["too many or too deep paths"]);
}

#[test]
fn a_blob_where_a_tree_belongs_is_2() {
    let repo = repo();
    let a = blob(&repo, "a\n");
    let made = commit(&repo, &with_lib(&repo, &[entry("40000", "d", &a)]), "HEAD");
    repo.agentgate(["check", "--base", "main", "--head", &made])
        .expect(2, &["cannot read tree", "it is a blob"]);
    // And the other way about: a folder's object as a file.
    let below = tree(&repo, &[entry("100644", "x", &a)]);
    let message = format!("{}\n\n{TRAILERS}", "agent job j1: x");
    let root = with_lib(&repo, &[entry("100644", "d", &below)]);
    let made = repo.git(["commit-tree", &root, "-p", "HEAD", "-m", &message]);
    repo.agentgate(["check", "--base", "main", "--head", &made])
        .expect(2, &["cannot read blob", "it is a tree"]);
}

//! Clones as CI makes them: shallow, fetched by hand, bare, linked, of another owner, damaged.

use std::fs;

use super::on_branch;
use crate::support::repo::Repo;

/// An origin with three commits on `main` and a branch `f` with two, left at the first.
fn origin() -> Repo {
    let repo = on_branch();
    repo.change("payments/a.ts", "export {};\n");
    repo.change("payments/b.ts", "export {};\n");
    repo.checkout("main");
    repo.change("payments/c.ts", "export {};\n");
    repo.change("payments/d.ts", "export {};\n");
    repo
}

#[test]
fn a_clone_of_depth_1_is_2_with_the_remedy() {
    let clone = origin().clone_as("shallow", &["--depth", "1", "--no-single-branch", "--branch", "f"]);
    clone.agentgate(["check", "--base", "origin/main"]).expect(
        2,
        &[
            "hint: this clone is shallow: check out with fetch-depth: 0",
            "hint: git fetch --unshallow origin",
        ],
    );
}

#[test]
fn a_shallow_clone_that_lacks_a_part_of_the_range_is_2() {
    let origin = origin();
    // f merges an old line of its own, whose commits a shallow clone has only the first of.
    origin.git(["checkout", "--quiet", "-b", "side", "main~2"]);
    for number in 0..6 {
        origin.change(&format!("prot/{number}"), "x\n");
    }
    origin.git(["rm", "-r", "--quiet", "prot"]);
    origin.write("prot/rules.txt", "rules\n");
    origin.commit("put back");
    origin.checkout("f");
    origin.git(["merge", "--quiet", "--no-edit", "side"]);
    let clone = origin.clone_as("shallow", &["--depth", "4", "--no-single-branch", "--branch", "f"]);
    clone.agentgate(["check", "--base", "origin/main"]).expect(
        2,
        &["the history of the range is not complete", "git fetch --unshallow"],
    );
}

#[test]
fn a_shallow_clone_that_has_the_whole_range_works() {
    let repo = on_branch();
    for number in 0..5 {
        repo.checkout("main");
        repo.change(&format!("payments/m{number}.ts"), "export {};\n");
    }
    repo.git(["checkout", "--quiet", "-B", "f"]);
    repo.change("payments/a.ts", "export {};\n");
    let clone = repo.clone_as("shallow", &["--depth", "2", "--no-single-branch", "--branch", "f"]);
    clone
        .agentgate(["check", "--base", "origin/main"])
        .expect(0, &["invariants ok; 1 path checked"]);
}

#[test]
fn a_checkout_of_two_commits_of_a_test_merge_works_by_githubs_word() {
    let origin = origin();
    origin.git(["checkout", "--quiet", "-b", "f2", "main"]);
    origin.change("payments/e.ts", "export {};\n");
    origin.git(["checkout", "--quiet", "-b", "pull", "main"]);
    origin.git(["merge", "--quiet", "--no-ff", "--no-edit", "f2"]);
    origin.git(["update-ref", "refs/pull/7/merge", "pull"]);
    let ci = origin.beside("ci");
    fs::create_dir_all(&ci.root).expect("a folder");
    ci.git(["init", "--quiet", "."]);
    let url = format!("file://{}", origin.root.display());
    ci.git([
        "fetch",
        "--quiet",
        "--no-tags",
        "--depth=2",
        &url,
        "+refs/pull/7/merge:refs/remotes/pull/7/merge",
    ]);
    ci.git(["checkout", "--quiet", "--detach", "refs/remotes/pull/7/merge"]);
    let check = || {
        ci.command(["check"])
            .env("GITHUB_BASE_REF", "main")
            .env("GITHUB_REF", "refs/pull/7/merge")
    };
    check().env("GITHUB_SHA", ci.id("HEAD")).run().expect(
        0,
        &["GITHUB_BASE_REF main, as merged into", "invariants ok; 1 path checked"],
    );
    check().run().expect(2, &["(from GITHUB_BASE_REF) names no commit"]);
}

#[test]
fn unrelated_histories_are_2() {
    let repo = on_branch();
    repo.git(["checkout", "--quiet", "--orphan", "o"]);
    repo.commit("another root");
    let outcome = repo.agentgate(["check", "--base", "main"]);
    outcome.expect(2, &["no merge base of", "no history in common"]);
    assert!(!outcome.stderr.contains("shallow"), "{outcome}");
}

#[test]
fn a_clone_made_by_init_and_fetch_works() {
    let origin = origin();
    let ci = origin.beside("ci");
    fs::create_dir_all(&ci.root).expect("a folder");
    ci.git(["init", "--quiet", "."]);
    ci.git(["remote", "add", "origin", &format!("file://{}", origin.root.display())]);
    ci.git([
        "fetch",
        "--quiet",
        "--no-tags",
        "origin",
        "+refs/heads/*:refs/remotes/origin/*",
    ]);
    ci.git(["checkout", "--quiet", "--detach", "refs/remotes/origin/f"]);
    ci.agentgate(["check"])
        .expect(0, &["(base ", ": origin/main)", "invariants ok; 2 paths checked"]);
}

#[test]
fn a_linked_worktree_has_its_own_head() {
    let repo = origin();
    repo.git(["worktree", "add", "--quiet", "../linked", "f"]);
    repo.beside("linked")
        .agentgate(["check", "--base", "main"])
        .expect(0, &["agentgate: 2 commits,", "invariants ok; 2 paths checked"]);
}

#[test]
fn a_subfolder_is_as_good_as_the_top() {
    let repo = origin();
    repo.checkout("f");
    repo.command(["check", "--base", "main"])
        .cwd(repo.root.join("payments"))
        .run()
        .expect(0, &["invariants ok; 2 paths checked"]);
}

#[test]
fn a_bare_repository_works() {
    let bare = origin().clone_as("bare.git", &["--bare"]);
    bare.agentgate(["check", "--range", "main..f"])
        .expect(0, &["invariants ok; 2 paths checked"]);
    bare.agentgate(["trailers", "main..f"])
        .expect(0, &["no agent commit among 2"]);
}

#[test]
fn another_owners_repository_needs_safe_directory_and_environment_is_enough() {
    if !rustix::process::geteuid().is_root() {
        // Only root can give a folder away.
        return;
    }
    let repo = origin();
    repo.checkout("f");
    let owner = rustix::process::Uid::from_raw(1234);
    for entry in walkdir::WalkDir::new(&repo.root) {
        let entry = entry.expect("an entry");
        rustix::fs::chown(entry.path(), Some(owner), None).expect("root can give it away");
    }
    repo.agentgate(["check", "--base", "main"])
        .expect(2, &["hint: git config --global --add safe.directory"]);
    for value in ["*", &repo.root.display().to_string()] {
        repo.command(["check", "--base", "main"])
            .env("GIT_CONFIG_COUNT", "1")
            .env("GIT_CONFIG_KEY_0", "safe.directory")
            .env("GIT_CONFIG_VALUE_0", value)
            .run()
            .expect(0, &["invariants ok; 2 paths checked"]);
    }
}

#[test]
fn a_repository_without_a_commit_is_2_with_advice() {
    Repo::empty()
        .agentgate(["check", "--base", "main"])
        .expect(2, &["no commit yet", "hint: make a first commit"]);
}

/// Takes an object out of the store.
fn lose(repo: &Repo, id: &str) {
    let path = repo.root.join(".git/objects").join(&id[..2]).join(&id[2..]);
    fs::remove_file(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
}

#[test]
fn a_missing_commit_inside_the_range_is_2() {
    let repo = origin();
    let id = repo.id("f~1");
    lose(&repo, &id);
    let text = format!("commit {id} cannot be read");
    repo.agentgate(["check", "--base", "main", "--head", "f"])
        .expect(2, &[&text]);
    repo.agentgate(["trailers", "main..f"]).expect(2, &[&text]);
}

#[test]
fn a_missing_tree_of_a_single_commit_is_2() {
    let repo = origin();
    let id = repo.git(["rev-parse", "f~1:payments"]);
    lose(&repo, &id);
    repo.agentgate(["check", "--base", "main", "--head", "f"])
        .expect(2, &[&format!("tree {id}")]);
}

#[test]
fn a_missing_blob_that_a_rule_reads_is_2() {
    let repo = origin();
    let id = repo.git(["rev-parse", "f:architecture/invariants.yml"]);
    lose(&repo, &id);
    repo.agentgate(["check", "--base", "main", "--head", "f"])
        .expect(2, &[&format!("blob {id}")]);
}

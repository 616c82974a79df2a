//! Submodules that an agent fills: what it did there is judged or saved, and its git dir is never
//! asked anything outside the agent's own time.

use std::fs;

use super::support::jobs::{nothing_left, record, run_to, same, script, submodule, unpacked, untouched};

/// Fills the submodule in the worktree.
const FILL: &str = "git -c protocol.file.allow=always submodule --quiet update --init";

#[test]
fn a_worktree_with_a_filled_submodule_goes_like_any_other() {
    let repo = submodule("s");
    let before = (
        untouched(&repo),
        fs::read(repo.root.join("s/a.txt")).expect("it is there"),
    );
    let outcome = run_to(
        3,
        &repo,
        "j1",
        &format!("{FILL} && echo x > s/a.txt && rm prot/rules.txt"),
    );
    nothing_left(&repo);
    assert_eq!(fs::read(repo.root.join("s/a.txt")).expect("it is there"), before.1);
    same(&before.0, &untouched(&repo));
    assert_eq!(repo.git(["status", "--porcelain"]), "", "{outcome}");
}

#[test]
fn edits_inside_a_submodule_are_told_and_saved() {
    let repo = submodule("s");
    let outcome = run_to(
        15,
        &repo,
        "j1",
        &format!("{FILL} && echo edited > s/a.txt && echo new > s/n.txt"),
    );
    outcome.expect(
        15,
        &[
            "inside submodules the agent left 2 file(s)",
            "s/a.txt, s/n.txt",
            "ignored.tar",
        ],
    );
    assert_eq!(
        unpacked(&record(&repo, "j1").join("ignored.tar")),
        [
            ("s/a.txt".into(), "edited\n".into()),
            ("s/n.txt".into(), "new\n".into())
        ]
    );
    nothing_left(&repo);
}

#[test]
fn a_moved_pointer_is_refused_and_the_work_behind_it_is_saved() {
    for (path, code) in [("s", 9), ("prot/s", 3)] {
        let repo = submodule(path);
        let agent = format!("{FILL} && cd {path} && echo edited > a.txt && git commit -qam x && git switch -qc named");
        run_to(code, &repo, "j1", &agent).expect(code, &[path]);
        let saved = unpacked(&record(&repo, "j1").join("ignored.tar"));
        assert_eq!(saved, [(format!("{path}/a.txt"), "edited\n".to_owned())]);
        let patch = fs::read_to_string(record(&repo, "j1").join("change.patch")).expect("a patch");
        assert!(patch.contains("+Subproject commit "), "{patch}");
        nothing_left(&repo);
    }
}

#[test]
fn a_kept_worktree_has_the_submodule_as_git_would_have_left_it() {
    let repo = submodule("s");
    let outcome = run_to(0, &repo, "j1", &format!("{FILL} && echo 1 > payments/a.ts"));
    assert!(
        !record(&repo, "j1").join("ignored.tar").exists(),
        "nothing differs\n{outcome}"
    );
    let kept = repo.beside("repo-jobs/j1");
    assert_eq!(kept.git(["status", "--porcelain"]), "");
    kept.git(["submodule", "--quiet", "update", "--init"]);
    assert_eq!(fs::read(kept.root.join("s/a.txt")).expect("it is filled"), b"a\n");
    assert_eq!(kept.git(["status", "--porcelain"]), "");
    assert_eq!(repo.git(["diff", "--name-only", "main", "agent/j1"]), "payments/a.ts");
}

#[test]
fn settings_planted_in_a_submodule_never_run() {
    let repo = submodule("s");
    let canary = repo.top().join("canary");
    let evil = script(
        &repo,
        "evil",
        &format!("#!/bin/sh\necho \"$0 $*\" >> '{}'\ncat\n", canary.display()),
    );
    let plant = format!(
        "{FILL}; g=$(git -C s rev-parse --absolute-git-dir)
        git config --file $g/config filter.evil.clean {0}; git config --file $g/config core.fsmonitor {0}
        git config --file $g/config diff.external {0}; git config --file $g/config core.hooksPath {1}
        mkdir -p $g/info; echo '* filter=evil' > $g/info/attributes; touch s/a.txt s/b.txt; echo x >> s/a.txt",
        evil.display(),
        repo.top().display()
    );
    for (id, code, more) in [
        ("j1", 15, "true"),
        ("j2", 0, "echo 1 > payments/a.ts"),
        ("j3", 3, "rm prot/rules.txt"),
        ("j4", 16, "exit 1"),
    ] {
        run_to(code, &repo, id, &format!("{plant}; {more}"));
        assert!(
            !canary.exists(),
            "{id}: {}",
            fs::read_to_string(&canary).unwrap_or_default()
        );
    }
    // A folder in place of the pointer, and a way out through a link.
    let repo_inside = "rm -rf s; git init -q s; git -C s commit -q --allow-empty -m x";
    run_to(
        9,
        &repo,
        "j5",
        &format!("{repo_inside}; git -C s config filter.evil.clean {}", evil.display()),
    );
    assert!(!canary.exists());
}

#[test]
fn a_link_to_another_repository_in_a_submodules_place_leaves_that_alone() {
    let repo = submodule("payments/s");
    let agent = format!(
        "rm -r payments/s; ln -s {0}/payments/s payments/s; echo 1 > payments/a.ts",
        repo.root.display()
    );
    let before = untouched(&repo);
    let outcome = super::support::jobs::run(&repo, "j1", &agent);
    assert_eq!(outcome.code, 9, "{outcome}");
    let agent = format!("mv payments p; ln -s {0}/payments payments", repo.root.display());
    let outcome = super::support::jobs::run(&repo, "j2", &agent);
    assert!(outcome.code > 2 && outcome.code < 10, "{outcome}");
    same(&before, &untouched(&repo));
    assert!(repo.root.join("payments/s/.git").is_file());
    assert_eq!(repo.git(["status", "--porcelain"]), "");
}

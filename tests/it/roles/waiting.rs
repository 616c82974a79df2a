//! What a person puts into a worktree that waits for them: nothing of it is lost, and every hint works as it stands.

use std::fs;

use super::{FIX, IMPLEMENT, REJECT, run, shown, with};
use crate::support::hints;
use crate::support::repo::Repo;
use crate::support::scene::{JOB, nothing_left, tree, worktree};

/// A job that waits at its cap, with what a build of its agent left in ignored files.
fn waiting() -> Repo {
    let build = "echo built > build.log; mkdir -p target/debug; echo obj > target/debug/a.o";
    let repo = with(
        &[
            ("implementer", &format!("{IMPLEMENT}; {build}")),
            ("reviewer", REJECT),
            ("fixer", FIX),
        ],
        "max_review_rounds: 1\n",
    );
    repo.change(".gitignore", "*.log\n/target/\n/notes.md\n/node_modules/\n");
    run(&repo).expect(18, &[]);
    repo
}

fn put(path: &std::path::Path, text: &str) {
    fs::create_dir_all(path.parent().expect("a folder")).expect("it can be made");
    fs::write(path, text).expect("it can be written");
}

#[test]
fn what_a_build_left_in_ignored_files_holds_nobody_up() {
    let repo = waiting();
    assert!(worktree(&repo, JOB).join("target/debug/a.o").exists());
    put(&worktree(&repo, JOB).join("node_modules/x/index.js"), "1\n");
    repo.agentgate(["answer", JOB, "--approve"]).expect(0, &["verdict=ok"]);
}

#[test]
fn open_names_its_worktree_and_what_a_person_can_type() {
    let repo = waiting();
    put(&worktree(&repo, JOB).join("payments/mine.ts"), "mine\n");
    let before = tree(&repo.top());
    let outcome = repo.agentgate(["open", JOB]);
    outcome.expect(
        0,
        &[
            "it waits for a person: this is its worktree",
            "next: agentgate answer j1 --approve",
            "next: agentgate answer j1 --file ANSWER.md",
            "next: agentgate drop j1   # gives it up",
        ],
    );
    assert_eq!(outcome.stdout, format!("worktree={}\n", worktree(&repo, JOB).display()));
    assert_eq!(tree(&repo.top()), before);
}

#[test]
fn a_file_of_a_persons_that_git_ignores_is_not_deleted() {
    let repo = waiting();
    let there = worktree(&repo, JOB);
    put(&there.join("notes.md"), "mine\n");
    put(&there.join("build.log"), "mine too\n");
    for command in [&["answer", JOB, "--approve"][..], &["drop", JOB]] {
        repo.agentgate(command)
            .expect(12, &["!! notes.md", "!! build.log", "agentgate drop --force j1"]);
    }
    assert_eq!(
        fs::read_to_string(there.join("notes.md")).expect("it is there"),
        "mine\n"
    );
    let outcome = repo.agentgate(["answer", JOB, "--approve"]);
    hints::follow(&repo, &outcome, "move ignored files into an archive beside it");
    let archive = there.with_file_name("j1.ignored.tar");
    let tar = |args: &[&str]| {
        repo.program("tar")
            .args(args)
            .args([archive.as_os_str()])
            .run()
            .success()
    };
    assert_eq!(tar(&["-tf"]).stdout, "build.log\nnotes.md\n");
    // What is there already is not written over.
    put(&there.join("notes.md"), "more\n");
    let outcome = repo.agentgate(["answer", JOB, "--approve"]);
    hints::follow(&repo, &outcome, "move ignored files into an archive beside it");
    repo.agentgate(["answer", JOB, "--approve"]).expect(0, &["verdict=ok"]);
    assert_eq!(tar(&["-tf"]).stdout, "build.log\nnotes.md\nnotes.md\n");
}

#[test]
fn an_edit_that_a_mark_of_the_index_hides_is_not_lost() {
    for (mark, back) in [
        ("--assume-unchanged", "--no-assume-unchanged"),
        ("--skip-worktree", "--no-skip-worktree"),
    ] {
        let repo = waiting();
        let there = repo.beside("repo-jobs/j1");
        there.git(["update-index", mark, "payments/pay.ts"]);
        there.write("payments/pay.ts", "mine\n");
        repo.agentgate(["drop", JOB]).expect(12, &[" M payments/pay.ts"]);
        let outcome = repo.agentgate(["answer", JOB, "--approve"]);
        outcome.expect(12, &[" M payments/pay.ts", back]);
        hints::follow(&repo, &outcome, "a mark hides edits from git; take it off");
        let seen = hints::follow(&repo, &outcome, "see edits").stdout;
        assert!(seen.contains("+mine"), "{seen}");
        hints::follow(&repo, &outcome, "keep them on a branch of your own");
        repo.agentgate(["answer", JOB, "--approve"]).expect(0, &["verdict=ok"]);
        assert_eq!(repo.git(["show", "j1-mine:payments/pay.ts"]), "mine");
    }
}

#[test]
fn hints_on_edits_do_what_they_say() {
    let edited = || {
        let repo = waiting();
        let there = repo.beside("repo-jobs/j1");
        there.write("payments/pay.ts", "staged mine\n");
        there.git(["add", "payments/pay.ts"]);
        there.write("payments/new.ts", "edited mine\n");
        there.write("payments/more.ts", "added mine\n");
        let outcome = repo.agentgate(["answer", JOB, "--approve"]);
        outcome.expect(12, &["M  payments/pay.ts", "AM payments/new.ts", "?? payments/more.ts"]);
        let seen = hints::follow(&repo, &outcome, "see edits").stdout;
        assert!(seen.contains("+staged mine") && seen.contains("+edited mine"), "{seen}");
        // The candidate itself is no edit.
        assert!(!seen.contains("new file"), "{seen}");
        (repo, outcome)
    };
    let (repo, outcome) = edited();
    hints::follow(&repo, &outcome, "keep them on a branch of your own");
    repo.agentgate(["answer", JOB, "--approve"]).expect(0, &["verdict=ok"]);
    for (file, text) in [("pay", "staged mine"), ("new", "edited mine"), ("more", "added mine")] {
        assert_eq!(repo.git(["show", &format!("j1-mine:payments/{file}.ts")]), text);
    }
    let (repo, outcome) = edited();
    hints::follow(&repo, &outcome, "or undo them");
    repo.agentgate(["answer", JOB, "--approve"]).expect(0, &["verdict=ok"]);
    assert_eq!(shown(&repo, "payments/new.ts"), "new");
    let (repo, outcome) = edited();
    hints::follow(&repo, &outcome, "or give the job up, and them with it");
    nothing_left(&repo);
}

#[test]
fn hints_on_commits_do_what_they_say() {
    let repo = waiting();
    let mine = repo.beside("repo-jobs/j1").change("payments/more.ts", "mine\n");
    let outcome = repo.agentgate(["answer", JOB, "--approve"]);
    outcome.expect(20, &[&format!("HEAD at {mine}")]);
    // There is no such branch.
    assert!(!outcome.stderr.contains("git merge"), "{outcome}");
    hints::follow(&repo, &outcome, "or put them on a branch of your own");
    repo.agentgate(["answer", JOB, "--approve"]).expect(0, &["verdict=ok"]);
    assert_eq!(repo.id("j1-mine"), mine);
}

//! Files that git ignores: a build's are nobody's, a person's are not deleted.

use std::fs;

use super::super::support::hints;
use super::super::support::repo::Repo;
use super::super::support::scene::{self, AGENT, JOB, agent, kept, last_kind, nothing_left, worktree};

/// A kept job, whose agent has built something.
fn with_build() -> Repo {
    let repo = Repo::new();
    repo.change(".gitignore", "*.log\n*.o\n/target/\n/cache/\n/notes/\nnode_modules/\n");
    let build = "echo built > build.log; mkdir -p notes target/debug; echo o > target/debug/a.o; echo n > notes/agent";
    kept(&repo, &format!("{AGENT}; {build}"));
    repo
}

fn put(repo: &Repo, path: &str, text: &str) {
    repo.beside("repo-jobs/j1").write(path, text);
}

#[test]
fn what_the_agents_build_left_does_not_count() {
    let repo = with_build();
    assert!(worktree(&repo, JOB).join("target/debug/a.o").exists());
    repo.agentgate(["drop", JOB]).success();
    nothing_left(&repo);
}

#[test]
fn what_only_tools_make_does_not_count_either() {
    let repo = with_build();
    put(&repo, "node_modules/x/index.js", "1\n");
    put(
        &repo,
        "cache/CACHEDIR.TAG",
        "Signature: 8a477f597d28d172789f06886806bc55\n",
    );
    put(&repo, "cache/x", "1\n");
    // As cargo does, once there is a manifest beside it.
    let exclude = repo.root.join(".git/info/exclude");
    fs::create_dir_all(exclude.parent().expect("a folder")).expect("it can be made");
    fs::write(&exclude, "Cargo.toml\n").expect("it can be written");
    put(&repo, "target/debug/more", "1\n");
    let outcome = repo.agentgate(["drop", JOB]);
    outcome.expect(12, &["!! target/debug/more"]);
    assert!(
        !outcome.stderr.contains("node_modules") && !outcome.stderr.contains("cache/"),
        "{outcome}"
    );
    put(&repo, "Cargo.toml", "[package]\n");
    let outcome = repo.agentgate(["drop", JOB]);
    outcome.expect(12, &["!! Cargo.toml"]);
    assert!(!outcome.stderr.contains("target/"), "{outcome}");
}

#[test]
fn what_came_or_changed_since_needs_force() {
    for (path, text) in [
        ("todo.log", "mine\n"),
        ("notes/mine.md", "mine\n"),
        ("build.log", "mine\n"),
        ("payments/deep/er/x.log", "mine\n"),
    ] {
        let repo = with_build();
        put(&repo, path, text);
        let outcome = repo.agentgate(["drop", JOB]);
        outcome.expect(
            12,
            &[&format!("!! {path} (git ignores it)"), "agentgate drop --force j1"],
        );
        assert_eq!(outcome.stderr.matches("!! ").count(), 1, "{outcome}");
        let file = worktree(&repo, JOB).join(path);
        assert_eq!(fs::read_to_string(file).expect("it is there"), text);
        hints::follow(&repo, &outcome, "or give them up");
        nothing_left(&repo);
    }
}

#[test]
fn a_folder_that_was_moved_in_counts_though_its_files_are_old() {
    let repo = with_build();
    let mine = repo.beside("mine");
    mine.write("old.md", "mine\n");
    let touch = repo.program("touch").args(["-d", "2001-01-01"]);
    touch.args([mine.root.join("old.md")]).run().success();
    fs::rename(&mine.root, worktree(&repo, JOB).join("notes/mine")).expect("it can be moved");
    repo.agentgate(["drop", JOB]).expect(12, &["!! notes/mine/old.md"]);
}

#[test]
fn a_landing_is_not_held_up_and_deletes_nothing() {
    let repo = with_build();
    put(&repo, "main.o", "o\n");
    let outcome = repo.agentgate(["land", JOB]);
    outcome.expect(
        0,
        &[
            "note: ",
            "stays, since files",
            "main.o",
            "drop --force j1",
            "agentgate: landed on main; the job's worktree, its branch and its record stay\n",
        ],
    );
    assert!(!outcome.stderr.contains("gone"), "{outcome}");
    repo.id("agent/j1");
    assert_eq!(last_kind(&repo, JOB), "job.landed");
    assert!(worktree(&repo, JOB).join("main.o").exists());
    repo.agentgate(["drop", JOB]).expect(12, &["!! main.o"]);
    repo.agentgate(["drop", "--force", JOB]).success();
    nothing_left(&repo);
}

#[test]
fn notes_beside_an_opened_candidate_need_force() {
    let repo = Repo::new();
    repo.change(".gitignore", "*.log\n");
    agent(&repo, JOB, &[], "echo x > prot/rules.txt; echo built > build.log")
        .run()
        .expect(3, &[]);
    repo.agentgate(["open", JOB]).success();
    repo.agentgate(["drop", JOB]).success();
    repo.agentgate(["open", JOB]).success();
    put(&repo, "todo.log", "mine\n");
    repo.agentgate(["drop", JOB]).expect(12, &["!! todo.log"]);
    assert!(scene::worktree(&repo, JOB).join("todo.log").exists());
}

#[test]
fn hints_on_a_kept_job_do_what_they_say() {
    let repo = with_build();
    put(&repo, "payments/pay.ts", "mine\n");
    let outcome = repo.agentgate(["land", JOB]);
    outcome.expect(12, &[" M payments/pay.ts"]);
    let seen = hints::follow(&repo, &outcome, "see edits").stdout;
    assert!(seen.contains("+mine") && !seen.contains("new.ts"), "{seen}");
    hints::follow(&repo, &outcome, "or undo them");
    repo.agentgate(["land", JOB]).success();
    nothing_left(&repo);

    let repo = with_build();
    put(&repo, "payments/pay.ts", "mine\n");
    let outcome = repo.agentgate(["drop", JOB]);
    hints::follow(&repo, &outcome, "keep them on a branch of your own");
    repo.agentgate(["drop", JOB]).success();
    assert_eq!(repo.git(["show", "j1-mine:payments/pay.ts"]), "mine");

    let repo = with_build();
    let there = repo.beside("repo-jobs/j1");
    there.git(["checkout", "--quiet", "--detach"]);
    let mine = there.change("payments/more.ts", "mine\n");
    let outcome = repo.agentgate(["drop", JOB]);
    outcome.expect(20, &[&format!("HEAD at {mine}")]);
    // That branch does not have them.
    assert!(!outcome.stderr.contains("git merge"), "{outcome}");
    hints::follow(&repo, &outcome, "or put them on a branch of your own");
    repo.agentgate(["drop", JOB]).success();
    assert_eq!(repo.id("j1-mine"), mine);
}

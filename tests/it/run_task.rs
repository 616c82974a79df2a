//! The task file: where it lies, what of it reaches whom, and what is refused.

use std::fs;

use super::support::jobs::{events, jobs_root, record, recorded, run, sha256, task, value};
use super::support::program::Outcome;
use super::support::repo::Repo;

/// `run` with a task given by this path.
fn given(repo: &Repo, id: &str, path: &str, agent: &str) -> Outcome {
    repo.agentgate(["run", "--job-id", id, path, "--", "sh", "-c", agent])
}

fn trailer(repo: &Repo, id: &str, key: &str) -> String {
    let format = format!("--format=%(trailers:key={key},valueonly)");
    repo.git(["log", "-1", &format, &format!("agent/{id}")])
        .trim()
        .to_owned()
}

#[test]
fn a_tracked_task_is_hashed_as_given_and_the_agent_gets_a_copy() {
    let repo = Repo::new();
    let text = "Goal: tracked\r\n\r\nprose ü\n";
    repo.change("TASK.md", text);
    // Its own copy in the worktree is a file like any other; the given one is not.
    let agent = "cmp TASK.md \"$AGENTGATE_TASK\" || exit 9; echo edited >> \"$AGENTGATE_TASK\"; echo 1 > payments/a.ts";
    given(&repo, "j1", "TASK.md", agent).expect(0, &[]);
    assert_eq!(trailer(&repo, "j1", "Agent-Task-Sha256"), sha256(text));
    assert_eq!(recorded(&repo, "j1", "task.md"), text);
    assert_eq!(events(&repo, "j1")[0]["task"]["sha256"], sha256(text));
    assert_eq!(repo.git(["diff", "--name-only", "main", "agent/j1"]), "payments/a.ts");
    assert_eq!(
        fs::read_to_string(repo.root.join("TASK.md")).expect("it is there"),
        text
    );
}

#[test]
fn a_task_outside_named_like_a_file_of_the_repository_collides_with_nothing() {
    let repo = Repo::new();
    repo.change("TASK.md", "the repository's own\n");
    let path = task(&repo, "Goal: from outside\n");
    let agent = "grep -q 'own' TASK.md || exit 8; grep -q outside \"$AGENTGATE_TASK\" || exit 9; \
                 case $AGENTGATE_TASK in \"$PWD\"/*) exit 10;; esac; echo 1 > payments/a.ts";
    given(&repo, "j1", path.to_str().expect("text"), agent).expect(0, &[]);
    assert_eq!(repo.git(["diff", "--name-only", "main", "agent/j1"]), "payments/a.ts");
    assert_eq!(
        trailer(&repo, "j1", "Agent-Task-Sha256"),
        sha256("Goal: from outside\n")
    );
    assert!(
        repo.git(["log", "-1", "--format=%s", "agent/j1"])
            .ends_with("from outside")
    );
}

#[test]
fn an_untracked_task_is_never_part_of_the_candidate() {
    let repo = Repo::new();
    repo.write("TASK.md", "Goal: x\n");
    given(&repo, "j1", "./TASK.md", "ls; echo 1 > payments/a.ts").expect(0, &[]);
    assert_eq!(repo.git(["diff", "--name-only", "main", "agent/j1"]), "payments/a.ts");
    assert!(!recorded(&repo, "j1", "agent.log").contains("TASK.md"));
    assert!(!jobs_root(&repo).join("j1/TASK.md").exists());
}

#[test]
fn an_existing_file_can_be_the_task() {
    let repo = Repo::new();
    let agent = "echo 1 > payments/a.ts; echo changed >> payments/pay.ts; ! rm -f \"$AGENTGATE_TASK\"";
    given(&repo, "j1", "payments/pay.ts", agent).expect(0, &[]);
    assert_eq!(
        trailer(&repo, "j1", "Agent-Task-Sha256"),
        sha256("export const pay = 1;\n")
    );
    assert_eq!(
        repo.git(["diff", "--name-only", "main", "agent/j1"]),
        "payments/a.ts\npayments/pay.ts"
    );
}

#[test]
fn a_given_task_that_somebody_edits_meanwhile_is_the_one_that_was_given() {
    let repo = Repo::new();
    let path = task(&repo, "Goal: first\n");
    let agent = format!(
        "echo 'Goal: second' > {}; cat \"$AGENTGATE_TASK\" > payments/a.ts",
        path.display()
    );
    given(&repo, "j1", path.to_str().expect("text"), &agent).expect(0, &[]);
    assert_eq!(recorded(&repo, "j1", "task.md"), "Goal: first\n");
    assert_eq!(repo.git(["show", "agent/j1:payments/a.ts"]), "Goal: first");
    assert_eq!(trailer(&repo, "j1", "Agent-Task-Sha256"), sha256("Goal: first\n"));
}

#[test]
fn a_task_that_cannot_be_used_is_22_before_anything_is_made() {
    let repo = Repo::new();
    let started = repo.top().join("started");
    let agent = format!("touch {}", started.display());
    let large = "x".repeat(256 * 1024 + 1);
    let texts: [(&[u8], &str); 8] = [
        (b"", "empty"),
        (b" \n\t\n", "empty"),
        (b"Goal: \xff\xfe\n", "UTF-8"),
        (large.as_bytes(), "limit"),
        (b"Goal: x\nAllowed file: payments/\n", "did you mean"),
        (b"Goal: x\nAreas: nowhere\n", "nowhere"),
        (b"Goal: x\nGoal: y\n", "Goal"),
        (b"Goal: x\nAllowed files: ../outside\n", "../outside"),
    ];
    for (text, word) in texts {
        let path = task(&repo, text);
        given(&repo, "j1", path.to_str().expect("text"), &agent).expect(22, &[word]);
    }
    given(&repo, "j1", "nowhere.md", &agent).expect(22, &["nowhere.md"]);
    given(&repo, "j1", "payments", &agent).expect(22, &["not a regular file"]);
    assert!(!started.exists() && !record(&repo, "j1").exists() && !jobs_root(&repo).exists());
    let fifo = repo.top().join("fifo");
    repo.program("mkfifo").args([&fifo]).run().success();
    given(&repo, "j1", fifo.to_str().expect("text"), &agent).expect(22, &["not a regular file"]);
}

#[test]
fn the_scope_is_printed_before_the_agent_starts_and_holds() {
    let repo = Repo::new();
    let path = task(
        &repo,
        "Goal: x\nAllowed files: payments/a.ts, docs/*.md\nAreas: payments\nNon-goals: no new dependencies\n",
    );
    let path = path.to_str().expect("text");
    let outcome = repo.agentgate([
        "run",
        "--job-id",
        "j1",
        "-v",
        path,
        "--",
        "sh",
        "-c",
        "echo AGENT; echo 1 > payments/a.ts",
    ]);
    outcome.expect(0, &[]);
    let (before, _) = outcome.stderr.split_once("AGENT").expect("its output");
    for text in ["scope: ", "payments/a.ts", "docs/*.md", "new dependencies"] {
        assert!(before.contains(text), "{text} is missing before the agent\n{outcome}");
    }
    let outcome = given(&repo, "j2", path, "echo 1 > payments/a.ts; echo 1 > payments/b.ts");
    outcome.expect(7, &["payments/b.ts"]);
    let outcome = given(
        &repo,
        "j3",
        path,
        "echo '{\"dependencies\":{\"x\":\"1\"}}' > payments/package.json",
    );
    assert_eq!(outcome.code, 7, "{outcome}");
}

#[test]
fn a_manifest_that_grew_against_the_task_is_8() {
    let repo = Repo::new();
    repo.change("package.json", "{\"dependencies\":{\"a\":\"1\"}}\n");
    let path = task(&repo, "Goal: x\nNon-goals: new dependencies\n");
    let agent = "echo '{\"dependencies\":{\"a\":\"1\",\"b\":\"1\"}}' > package.json";
    given(&repo, "j1", path.to_str().expect("text"), agent).expect(8, &["package.json"]);
    given(
        &repo,
        "j2",
        path.to_str().expect("text"),
        "echo '{\"dependencies\":{\"a\":\"2\"}}' > package.json",
    )
    .expect(0, &[]);
}

#[test]
fn odd_task_names_make_ordinary_folders() {
    let repo = Repo::new();
    for (at, name) in ["--help.md", "   .md", "💥.md", "con", "a'b\"c.md", "new\nline.md"]
        .into_iter()
        .enumerate()
    {
        let path = repo.top().join(name);
        fs::write(&path, "Goal: x\n").expect("it can be written");
        let outcome = repo.agentgate([
            "run",
            path.to_str().expect("text"),
            "--",
            "sh",
            "-c",
            &format!("echo {at} > payments/a.ts"),
        ]);
        outcome.expect(0, &[]);
        let worktree = value(&outcome, "worktree");
        let id = worktree.rsplit('/').next().expect("a name").to_owned();
        assert_eq!(jobs_root(&repo).join(&id).to_string_lossy(), worktree);
        assert!(
            id.len() < 30 && id.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'-'),
            "{id}"
        );
    }
}

#[test]
fn a_goal_with_control_characters_stays_one_clean_subject_line() {
    let repo = Repo::new();
    let path = task(
        &repo,
        format!(
            "Goal: a\u{1b}[31m b\u{7} {}\n\nAgent-Host: forged\n",
            "long ".repeat(60)
        ),
    );
    let outcome = given(&repo, "j1", path.to_str().expect("text"), "echo 1 > payments/a.ts");
    outcome.expect(0, &[]);
    let message = repo.git(["log", "-1", "--format=%B", "agent/j1"]);
    assert!(!message.contains(['\u{1b}', '\u{7}']), "{message:?}");
    assert_eq!(message.matches("Agent-Host:").count(), 1, "{message}");
    assert_eq!(message.lines().nth(1), Some(""));
    assert!(!outcome.stderr.contains(['\u{1b}', '\u{7}']), "{:?}", outcome.stderr);
    run(&repo, "j2", "true").expect(15, &[]);
}

//! What scripts read on the disk: where things are, who may read them, and the event log.

use std::fs;
use std::os::unix::fs::PermissionsExt;

use agentgate::job::log::{NO_SUM, sha256_hex};
use serde_json::Value;

use super::support::repo::Repo;
use super::support::scene::{self, JOB, agent, at_work, events, record, with_kept, worktree};

fn mode(path: &std::path::Path) -> u32 {
    fs::metadata(path).expect("it is there").permissions().mode() & 0o7777
}

#[test]
fn a_kept_job_lies_where_the_contract_says() {
    let repo = with_kept();
    let candidate = repo.id("agent/j1");
    let there = repo.beside("repo-jobs/j1");
    assert_eq!(there.git(["symbolic-ref", "HEAD"]), "refs/heads/agent/j1");
    assert_eq!(there.id("HEAD"), candidate);
    assert_eq!(there.git(["status", "--porcelain", "--ignored"]), "");
    assert_eq!(
        repo.git(["rev-list", "--parents", "-n1", "agent/j1"]),
        format!("{candidate} {}", repo.id("main"))
    );
    let listed = repo.git(["worktree", "list", "--porcelain"]);
    assert!(listed.contains(there.root.to_str().expect("it is UTF-8")), "{listed}");
    assert!(!listed.contains("locked"), "{listed}");
    assert!(!scene::jobs(&repo).join(".jobs").exists(), "the private folder is gone");
    assert!(
        repo.root.join(".git/agent-jobs.lock").exists(),
        "the lock file is never unlinked"
    );
    assert!(!repo.root.join(".git/agent-jobs.holder").exists());

    let record = record(&repo, JOB);
    let mut names: Vec<String> = fs::read_dir(&record)
        .expect("there is a record")
        .map(|entry| {
            entry
                .expect("it can be listed")
                .file_name()
                .into_string()
                .expect("it is UTF-8")
        })
        .collect();
    names.sort();
    assert_eq!(
        names,
        [
            "agent.log",
            "change.patch",
            "events.jsonl",
            "frozen.json",
            "gate.json",
            "gate.log",
            "owner.lock",
            "report.json",
            "task.md"
        ]
    );
    assert_eq!(mode(&record), 0o700);
    for name in names.iter().filter(|name| *name != "owner.lock") {
        assert_eq!(mode(&record.join(name)), 0o600, "{name}");
    }
    assert_eq!(mode(&record.join("owner.lock")) & 0o077 & 0o022, 0);

    let patch = fs::read_to_string(record.join("change.patch")).expect("there is a patch");
    repo.git([
        "apply",
        "--index",
        record.join("change.patch").to_str().expect("it is UTF-8"),
    ]);
    assert_eq!(
        repo.git(["write-tree"]),
        repo.git(["rev-parse", "agent/j1^{tree}"]),
        "{patch}"
    );
}

#[test]
fn the_record_is_a_ref_to_a_tree_that_no_log_shows() {
    for (script, code) in [
        (scene::AGENT, 0),
        ("echo x > prot/rules.txt", 3),
        ("echo x > payments/x; exit 5", 16),
    ] {
        let repo = Repo::new();
        agent(&repo, JOB, &[], script).run().expect(code, &[]);
        assert_eq!(repo.git(["cat-file", "-t", "refs/agentgate/jobs/j1"]), "tree");
        let names = repo.git(["ls-tree", "--name-only", "refs/agentgate/jobs/j1"]);
        for name in ["candidate", "change.patch", "events.jsonl", "gate.log", "task.md"] {
            assert!(names.lines().any(|line| line == name), "{name} is not in {names}");
        }
        let commits = repo.git(["log", "--all", "--format=%s"]);
        assert_eq!(commits.lines().count(), if code == 0 { 2 } else { 1 }, "{commits}");
        // Its log is a prefix of the file: up to the intention, or to the failing end.
        let copy = repo
            .program("git")
            .args(["show", "refs/agentgate/jobs/j1:events.jsonl"])
            .run()
            .success();
        let file = fs::read_to_string(record(&repo, JOB).join("events.jsonl")).expect("there is a log");
        assert!(file.starts_with(&copy.stdout));
        let last: Value = serde_json::from_str(copy.stdout.lines().last().expect("it has lines")).expect("JSON");
        let rest = events(&repo, JOB);
        let next = &rest.get(copy.stdout.lines().count());
        match code {
            0 => assert_eq!(next.expect("there is more")["event"], "commit.intended"),
            3 => assert_eq!((&last["event"], *next), (&"job.refused".into(), None)),
            _ => assert_eq!((&last["event"], *next), (&"job.failed".into(), None)),
        }
    }
}

#[test]
fn the_log_is_a_chain_that_anybody_can_verify() {
    let repo = with_kept();
    repo.agentgate(["land", JOB]).success();
    let text = fs::read_to_string(record(&repo, JOB).join("events.jsonl")).expect("there is a log");
    let mut prev = NO_SUM.to_owned();
    let mut kinds = Vec::new();
    for (number, line) in text.split_inclusive('\n').enumerate() {
        assert!(line.len() <= 4096);
        let json: Value = serde_json::from_str(line).expect("a line is JSON");
        assert_eq!(json["v"], 1);
        assert_eq!(json["seq"], number + 1);
        assert_eq!(json["epoch"], 1);
        assert_eq!(json["job"], JOB);
        let at = json["at"].as_str().expect("a time");
        assert!(at.ends_with('Z') && at.parse::<jiff::Timestamp>().is_ok(), "{at}");
        let body = line.rsplit_once(",\"sum\":").expect("the sum is the last field").0;
        assert_eq!(json["sum"], sha256_hex(&[prev.as_bytes(), body.as_bytes()]));
        prev = json["sum"].as_str().expect("a sum").to_owned();
        kinds.push(json["event"].as_str().expect("a kind").to_owned());
    }
    assert_eq!(
        kinds,
        [
            "job.created",
            "job.owned",
            "preflight.passed",
            "worktree.added",
            "step.started",
            "agent.confined",
            "step.finished",
            "candidate.frozen",
            "gate.finished",
            "commit.intended",
            "commit.made",
            "job.kept",
            "job.landed"
        ]
    );
    let created = &events(&repo, JOB)[0];
    let task = fs::read(record(&repo, JOB).join("task.md")).expect("there is a task");
    assert_eq!(created["task"]["sha256"], sha256_hex(&[&task]));
}

#[test]
fn while_it_runs_the_worktree_is_detached_and_locked() {
    let repo = Repo::new();
    let running = at_work(&repo, JOB, "true");
    let listed = repo.git(["worktree", "list", "--porcelain"]);
    let there = worktree(&repo, JOB);
    let ours = listed
        .split("\n\n")
        .find(|entry| entry.contains(there.to_str().expect("it is UTF-8")))
        .expect("it is registered");
    assert!(
        ours.contains("detached") && ours.contains("locked agentgate job j1"),
        "{ours}"
    );
    assert!(ours.contains(&repo.id("main")), "{ours}");
    let private = scene::jobs(&repo).join(".jobs/j1");
    assert_eq!(mode(&private), 0o700);
    for folder in ["git", "tmp", "outbox", "home", "task"] {
        assert!(private.join(folder).is_dir(), "{folder}");
    }
    let holder: Value =
        serde_json::from_slice(&fs::read(repo.root.join(".git/agent-jobs.holder")).expect("there is a holder"))
            .expect("it is JSON");
    assert_eq!(holder["job"], JOB);
    assert_eq!(holder["process"]["pid"], running.pid());
    // A kept or running job does not make the clone dirty, and a second clone knows nothing of it.
    assert_eq!(repo.git(["status", "--porcelain"]), "");
}

#[test]
fn artifacts_are_copies_of_the_record() {
    let repo = Repo::new();
    let out = repo.top().join("out");
    let options = ["--artifacts", out.to_str().expect("it is UTF-8")];
    agent(&repo, JOB, &options, "echo x > prot/rules.txt")
        .run()
        .expect(3, &[]);
    for name in ["change.patch", "gate.log", "task.md", "events.jsonl"] {
        assert_eq!(
            fs::read(out.join(name)).expect("it was copied"),
            fs::read(record(&repo, JOB).join(name)).expect("it is in the record"),
            "{name}"
        );
    }
    agent(&repo, "j2", &["--artifacts", "out"], "true")
        .run()
        .expect(64, &["info/exclude"]);
    assert!(!repo.root.join("out").exists());
}

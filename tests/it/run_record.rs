//! What outlives a job: the record on disk and as a ref, and the worktree of one that passed.

use std::fs;
use std::os::unix::fs::PermissionsExt;

use super::support::jobs::{
    common, event, events, frozen, job, jobs_root, nothing_left, record, recorded, run_to, sha256, task, value,
    verified,
};
use super::support::repo::Repo;

const EDIT: &str = "echo 1 > payments/a.ts";

fn listed(repo: &Repo, id: &str) -> Vec<String> {
    let mut names: Vec<String> = fs::read_dir(record(repo, id))
        .expect("a record")
        .map(|entry| entry.expect("an entry").file_name().to_string_lossy().into_owned())
        .collect();
    names.sort();
    names
}

fn kinds(repo: &Repo, id: &str) -> Vec<String> {
    let kind = |event: &serde_json::Value| event["event"].as_str().expect("a kind").to_owned();
    events(repo, id).iter().map(kind).collect()
}

const BEGIN: [&str; 8] = [
    "job.created",
    "job.owned",
    "preflight.passed",
    "worktree.added",
    "step.started",
    "agent.confined",
    "step.finished",
    "candidate.frozen",
];

#[test]
fn the_files_of_a_record_are_the_documented_ones_and_private() {
    let repo = Repo::new();
    run_to(0, &repo, "j1", EDIT);
    run_to(3, &repo, "j2", "rm prot/rules.txt");
    for id in ["j1", "j2"] {
        assert_eq!(
            listed(&repo, id),
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
        for name in listed(&repo, id) {
            let mode = fs::metadata(record(&repo, id).join(&name))
                .expect("it is there")
                .permissions()
                .mode();
            assert_eq!(mode & 0o7777, 0o600, "{id}/{name}");
        }
        let mode = fs::metadata(record(&repo, id))
            .expect("it is there")
            .permissions()
            .mode();
        assert_eq!(mode & 0o7777, 0o700);
    }
}

#[test]
fn the_events_are_a_chain_in_the_documented_order() {
    let repo = Repo::new();
    run_to(0, &repo, "ok", EDIT);
    run_to(3, &repo, "refused", "rm prot/rules.txt");
    run_to(15, &repo, "none", "true");
    run_to(16, &repo, "failed", "exit 1");
    let with = |more: &[&'static str]| [&BEGIN[..], more].concat();
    assert_eq!(
        kinds(&repo, "ok"),
        with(&["gate.finished", "commit.intended", "commit.made", "job.kept"])
    );
    assert_eq!(kinds(&repo, "refused"), with(&["gate.finished", "job.refused"]));
    assert_eq!(kinds(&repo, "none"), with(&["job.failed"]));
    assert_eq!(kinds(&repo, "failed"), with(&["job.failed"]));
    for event in events(&repo, "ok") {
        assert_eq!(event["epoch"], 1);
    }
}

#[test]
fn files_named_in_events_have_the_length_and_sum_that_the_event_says() {
    let repo = Repo::new();
    run_to(0, &repo, "j1", "echo said; echo 1 > payments/a.ts");
    let events = events(&repo, "j1");
    let created = &events[0];
    let intended = event(&events, "commit.intended");
    let gate = event(&events, "gate.finished");
    let finished = event(&events, "step.finished");
    for reference in [
        &created["task"],
        &intended["patch"],
        &gate["report"],
        &finished["output"],
    ] {
        let name = reference["name"].as_str().expect("a name");
        let bytes = fs::read(record(&repo, "j1").join(name)).expect("it is there");
        assert_eq!(reference["bytes"], bytes.len(), "{name}");
        assert_eq!(reference["sha256"], sha256(&bytes), "{name}");
    }
    assert_eq!(intended["tree"], frozen(&repo, "j1"));
    assert_eq!(intended["parent"], repo.id("main"));
}

#[test]
fn the_ref_is_a_tree_whose_log_is_a_prefix() {
    let repo = Repo::new();
    run_to(0, &repo, "ok", EDIT);
    run_to(3, &repo, "refused", "rm prot/rules.txt");
    run_to(16, &repo, "failed", "echo 1 > payments/a.ts; exit 1");
    for (id, last) in [
        ("ok", "gate.finished"),
        ("refused", "job.refused"),
        ("failed", "job.failed"),
    ] {
        let name = format!("refs/agentgate/jobs/{id}");
        assert_eq!(repo.git(["cat-file", "-t", &name]), "tree");
        let entries = repo.git(["ls-tree", "--name-only", &name]);
        let gate = if id == "failed" { "" } else { "gate.json\n" };
        assert_eq!(
            entries,
            format!("candidate\nchange.patch\nevents.jsonl\n{gate}gate.log\ntask.md")
        );
        assert_eq!(repo.git(["rev-parse", &format!("{name}:candidate")]), frozen(&repo, id));
        let log = repo.git(["show", &format!("{name}:events.jsonl")]) + "\n";
        assert!(recorded(&repo, id, "events.jsonl").starts_with(&log));
        assert_eq!(verified(&log, id).last().expect("events")["event"], last);
        for file in ["change.patch", "task.md", "gate.log"] {
            let there = repo.git(["rev-parse", &format!("{name}:{file}")]);
            let here = record(&repo, id).join(file);
            assert_eq!(
                there,
                repo.git(["hash-object", "--no-filters", &here.to_string_lossy()]),
                "{id}/{file}"
            );
        }
    }
}

#[test]
fn refused_work_stays_out_of_the_history_of_everything() {
    let repo = Repo::new();
    run_to(3, &repo, "refused", "echo refused-content > prot/rules.txt");
    run_to(
        16,
        &repo,
        "failed",
        "echo 1 > payments/a.ts; git add -A; git commit -qm failed-commit; exit 1",
    );
    let before = repo.id("main");
    assert_eq!(repo.git(["log", "--all", "--format=%H"]), before);
    assert_eq!(
        repo.git(["log", "--all", "-p", "-S", "refused-content", "--format=%H"]),
        ""
    );
    repo.git(["fsck", "--full", "--strict"]);
    repo.git(["gc", "--quiet", "--prune=now"]);
    assert_eq!(
        repo.git(["show", "refs/agentgate/jobs/refused:candidate/prot/rules.txt"]),
        "refused-content"
    );
}

#[test]
fn a_kept_worktree_is_whole_clean_unlocked_and_on_its_branch() {
    let repo = Repo::new();
    repo.change(".gitignore", "build/\n");
    let outcome = run_to(
        0,
        &repo,
        "j1",
        "echo 1 > payments/a.ts; mkdir build; echo b > build/out; git add -A; git commit -qm own",
    );
    let kept = repo.beside("repo-jobs/j1");
    assert_eq!(kept.root.to_string_lossy(), value(&outcome, "worktree"));
    assert_eq!(kept.git(["status", "--porcelain"]), "");
    assert_eq!(kept.git(["symbolic-ref", "HEAD"]), "refs/heads/agent/j1");
    assert_eq!(kept.id("HEAD"), value(&outcome, "commit"));
    assert_eq!(
        fs::read_to_string(kept.root.join("build/out")).expect("it is complete"),
        "b\n"
    );
    let listed = repo.git(["worktree", "list", "--porcelain"]);
    assert!(
        !listed.contains("locked") && listed.contains("branch refs/heads/agent/j1"),
        "{listed}"
    );
    assert!(!listed.contains("prunable"), "{listed}");
    assert!(!jobs_root(&repo).join(".jobs").exists() && !jobs_root(&repo).join(".trash").exists());
    // It is an ordinary worktree: the person can work on and remove it.
    kept.change("payments/b.ts", "b\n");
    assert_eq!(repo.git(["status", "--porcelain"]), "");
    repo.git(["worktree", "remove", "--force", "../repo-jobs/j1"]);
    run_to(0, &repo, "j2", EDIT);
}

#[test]
fn the_patch_brings_a_kept_candidate_back_after_its_worktree_is_gone() {
    let repo = Repo::new();
    run_to(0, &repo, "j1", EDIT);
    let tree = frozen(&repo, "j1");
    repo.tampered("the branch is deleted and its commit pruned");
    repo.git(["worktree", "remove", "--force", "../repo-jobs/j1"]);
    repo.git(["branch", "-D", "agent/j1"]);
    repo.git(["reflog", "expire", "--expire=now", "--all"]);
    repo.git(["gc", "--quiet", "--prune=now"]);
    assert_eq!(super::support::jobs::patched(&repo, "j1", "main"), tree);
}

#[test]
fn artifacts_are_copied_and_a_folder_that_would_make_the_clone_dirty_is_refused() {
    let repo = Repo::new();
    let outside = repo.top().join("out/deep");
    let option = outside.to_string_lossy().into_owned();
    job(&repo, "j1", &["--artifacts", &option], "rm prot/rules.txt")
        .run()
        .expect(3, &[]);
    for name in [
        "change.patch",
        "gate.log",
        "gate.json",
        "task.md",
        "agent.log",
        "events.jsonl",
    ] {
        assert_eq!(
            fs::read(outside.join(name)).expect(name),
            fs::read(record(&repo, "j1").join(name)).expect(name)
        );
    }
    let outcome = job(&repo, "j2", &["--artifacts", "out"], "touch ../../started").run();
    outcome.expect(64, &["not ignored", "info/exclude"]);
    assert!(!repo.root.join("out").exists() && !record(&repo, "j2").exists());
    // The hint, typed.
    let hint = outcome
        .stderr
        .lines()
        .find_map(|line| line.strip_prefix("hint: "))
        .expect("a hint");
    repo.program("sh").args(["-c", hint]).run().success();
    job(&repo, "j3", &["--artifacts", "out"], EDIT).run().expect(0, &[]);
    assert!(repo.root.join("out/change.patch").exists());
    assert_eq!(repo.git(["status", "--porcelain"]), "");
    // The same from a subfolder is below it.
    let outcome = job(&repo, "j4", &["--artifacts", "out"], EDIT)
        .cwd(repo.root.join("payments"))
        .run();
    outcome.expect(64, &["not ignored"]);
}

#[test]
fn much_output_is_kept_at_both_ends() {
    let repo = Repo::new();
    let outcome = run_to(
        16,
        &repo,
        "j1",
        "echo FIRST; head -c 40000000 /dev/zero | tr '\\0' x; echo; echo LAST; exit 1",
    );
    let log = recorded(&repo, "j1", "agent.log");
    assert!(log.starts_with("FIRST\n") && log.ends_with("LAST\n"), "{}", &log[..100]);
    assert!(log.len() < 17 * 1024 * 1024, "{}", log.len());
    assert!(outcome.stderr.contains("LAST") && outcome.stderr.len() < 20_000);
}

#[test]
fn a_record_may_be_read_while_its_task_has_odd_bytes() {
    let repo = Repo::new();
    let path = task(&repo, "Goal: \"quoted\" \\ ü\u{200b}\n");
    let outcome = repo.agentgate(["run", "--job-id", "j1", &path.to_string_lossy(), "--", "sh", "-c", EDIT]);
    outcome.expect(0, &[]);
    assert_eq!(events(&repo, "j1")[0]["clone"], repo.root.to_string_lossy().as_ref());
    assert!(common(&repo).join("agentgate").is_dir());
    nothing_left_but(&repo, "j1");
}

#[track_caller]
fn nothing_left_but(repo: &Repo, id: &str) {
    repo.agentgate(["verify", id]).success();
    repo.tampered("the branch of a kept job is deleted");
    repo.git(["worktree", "remove", "--force", &format!("../repo-jobs/{id}")]);
    repo.git(["branch", "-D", &format!("agent/{id}")]);
    let _ = fs::remove_dir(jobs_root(repo));
    nothing_left(repo);
}

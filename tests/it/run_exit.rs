//! The exit codes of `run`, and what of a failed agent is in the record.

use std::fs;
use std::time::{Duration, Instant};

use super::support::jobs::{
    common, event, events, free, frozen, job, jobs_root, nothing_left, patched, record, recorded, run, run_to, script,
    task, value,
};
use super::support::repo::Repo;

#[test]
fn no_status_of_the_agent_is_ever_ours() {
    let repo = Repo::new();
    for status in [1, 2, 4, 7, 12, 13, 14, 15, 17, 64, 124, 130, 137, 143, 255] {
        let id = format!("j{status}");
        let outcome = run_to(16, &repo, &id, &format!("echo {status} > payments/a.ts; exit {status}"));
        outcome.expect(
            16,
            &[
                "verdict=agent-failed",
                "exit=16",
                &format!("exited with status {status}"),
            ],
        );
        let events = events(&repo, &id);
        let finished = event(&events, "step.finished");
        assert_eq!(
            (&finished["ending"], &finished["status"]),
            (&"exited".into(), &status.into())
        );
        assert_eq!(event(&events, "job.failed")["exit"], 16);
        assert!(recorded(&repo, &id, "change.patch").contains(&format!("\n+{status}\n")));
    }
    assert_eq!(patched(&repo, "j7", "main"), frozen(&repo, "j7"));
    nothing_left(&repo);
}

#[test]
fn a_signal_that_ended_the_agent_is_recorded() {
    let repo = Repo::new();
    run_to(16, &repo, "j1", "echo 1 > payments/a.ts; kill -9 $$").expect(16, &["killed by signal 9"]);
    let finished = event(&events(&repo, "j1"), "step.finished");
    assert_eq!(
        (&finished["ending"], &finished["signal"]),
        (&"signaled".into(), &9.into())
    );
    assert!(recorded(&repo, "j1", "change.patch").contains("payments/a.ts"));
    run_to(16, &repo, "j2", "kill -TERM $$").expect(16, &["killed by signal 15"]);
}

#[test]
fn an_agent_that_cannot_be_started_leaves_nothing_at_all() {
    let repo = Repo::new();
    let task = task(&repo, "Goal: x\n");
    let plain = repo.top().join("plain");
    fs::write(&plain, "#!/bin/sh\n").expect("it can be written");
    let shebang = script(&repo, "shebang", "#!/no/such/interpreter -x\n");
    let env = script(&repo, "env", "#!/usr/bin/env nosuchinterpreter\n");
    for (command, text) in [
        ("nosuchcmd", "nosuchcmd"),
        ("./payments/nosuch", "payments/nosuch"),
        (plain.to_str().expect("text"), "not executable"),
        (repo.top().to_str().expect("text"), "not executable"),
        (shebang.to_str().expect("text"), "/no/such/interpreter"),
        (env.to_str().expect("text"), "nosuchinterpreter"),
    ] {
        let outcome = repo.agentgate(["run", "--job-id", "j1", task.to_str().expect("text"), "--", command]);
        outcome.expect(16, &[text, "could not be started"]);
        assert_eq!(outcome.stdout, "", "{outcome}");
        assert!(!common(&repo).join("agentgate").exists() && !common(&repo).join("agent-jobs.lock").exists());
        assert!(!jobs_root(&repo).exists());
    }
    nothing_left(&repo);
}

#[test]
fn an_agent_past_its_limit_is_17_whatever_it_says_then() {
    let repo = Repo::new();
    for (id, agent) in [
        (
            "polite",
            "trap 'exit 0' TERM; echo 1 > payments/a.ts; while :; do sleep 0.05; done",
        ),
        (
            "deaf",
            "trap '' TERM; echo 1 > payments/a.ts; (setsid sh -c 'trap \"\" TERM; sleep 300' &); while :; do sleep 0.05; done",
        ),
    ] {
        let start = Instant::now();
        let outcome = job(&repo, id, &["--timeout", "1s"], agent).run();
        outcome.expect(17, &["verdict=agent-timeout", "ran past its limit"]);
        assert!(start.elapsed() < Duration::from_secs(15), "{:?}", start.elapsed());
        assert_eq!(event(&events(&repo, id), "step.finished")["ending"], "timed_out");
        assert!(recorded(&repo, id, "change.patch").contains("payments/a.ts"));
        assert_eq!(patched(&repo, id, "main"), frozen(&repo, id));
    }
    nothing_left(&repo);
}

#[test]
fn the_limit_may_stand_in_the_task_and_the_command_line_goes_before_it() {
    let repo = Repo::new();
    let path = task(&repo, "Goal: x\nTimeout: 1s\n");
    let path = path.to_str().expect("text");
    repo.agentgate(["run", "--job-id", "j1", path, "--", "sleep", "60"])
        .expect(17, &[]);
    assert_eq!(events(&repo, "j1")[0]["timeout"], 1);
    repo.agentgate(["run", "--job-id", "j2", "--timeout", "30s", path, "--", "sleep", "1.2"])
        .expect(15, &[]);
    for bad in ["0", "0s", "5", "1.5m", "-1s", "x"] {
        let option = format!("--timeout={bad}");
        repo.agentgate(["run", "--job-id", "j3", &option, path, "--", "true"])
            .expect(64, &[]);
    }
    assert!(!record(&repo, "j3").exists());
}

#[test]
fn nothing_changed_is_15() {
    let repo = Repo::new();
    let outcome = run_to(
        15,
        &repo,
        "j1",
        "touch payments/pay.ts; echo x > y; rm y; git commit -q --allow-empty -m x",
    );
    outcome.expect(15, &["verdict=nothing-to-commit"]);
    assert_eq!(event(&events(&repo, "j1"), "candidate.frozen")["changed"], 0);
    assert_eq!(recorded(&repo, "j1", "change.patch"), "");
    nothing_left(&repo);
}

#[test]
fn commits_that_cancel_out_are_15_and_saved() {
    let repo = Repo::new();
    let agent = "echo secret-work > payments/a.ts; git add -A; git commit -qm add; git rm -q payments/a.ts; git commit -qm remove";
    let outcome = run_to(15, &repo, "j1", agent);
    outcome.expect(15, &["its own commits", "agent-refs.bundle"]);
    let bundle = record(&repo, "j1").join("agent-refs.bundle");
    repo.git(["bundle", "verify", "--quiet", &bundle.to_string_lossy()]);
    repo.git(["fetch", "--quiet", &bundle.to_string_lossy(), "refs/*:refs/tmp/*"]);
    let all = repo.git(["log", "-p", "--format=%s", "refs/tmp/agent-head"]);
    assert!(all.contains("+secret-work"), "{all}");
    nothing_left(&repo);
}

#[test]
fn the_order_of_verdicts_is_agent_then_nothing_then_gate() {
    let repo = Repo::new();
    run_to(16, &repo, "j1", "rm prot/rules.txt; exit 3");
    assert!(recorded(&repo, "j1", "gate.log").starts_with("not judged: "));
    run_to(16, &repo, "j2", "exit 3");
    job(&repo, "j3", &["--timeout", "1s"], "rm prot/rules.txt; sleep 60")
        .run()
        .expect(17, &[]);
    assert!(
        events(&repo, "j3")
            .iter()
            .all(|event| event["event"] != "gate.finished")
    );
}

#[test]
fn thirty_jobs_leave_only_their_records() {
    let repo = Repo::new();
    for number in 0..10 {
        run_to(3, &repo, &format!("gate-{number}"), "rm prot/rules.txt");
        run_to(15, &repo, &format!("none-{number}"), "true");
        run_to(16, &repo, &format!("crash-{number}"), "echo x > x; kill -9 $$");
    }
    nothing_left(&repo);
    assert!(!common(&repo).join("worktrees").exists());
    assert_eq!(
        fs::read_dir(common(&repo).join("agentgate/jobs"))
            .expect("records")
            .count(),
        30
    );
    assert_eq!(
        repo.git(["for-each-ref", "--format=%(refname)", "refs/heads"]),
        "refs/heads/main"
    );
    assert_eq!(repo.git(["for-each-ref", "refs/agentgate"]).lines().count(), 30);
    let left: Vec<_> = fs::read_dir(repo.top())
        .expect("it can be listed")
        .map(|entry| entry.expect("an entry").file_name())
        .filter(|name| !["home", "repo", "TASK.md"].iter().any(|known| name == known))
        .collect();
    assert!(left.is_empty(), "{left:?}");
    assert_eq!(repo.git(["status", "--porcelain"]), "");
}

#[test]
fn a_worktree_that_cannot_be_made_starts_no_agent() {
    let repo = Repo::new();
    // A git first on PATH that refuses to add worktrees.
    let folder = repo.top().join("bin");
    fs::create_dir(&folder).expect("it is new");
    let real = repo.program("sh").args(["-c", "command -v git"]).run().success().stdout;
    let text = format!(
        "#!/bin/sh\nfor a; do [ \"$a\" = add ] && {{ echo 'fatal: no room' >&2; exit 128; }}; done\nexec {} \"$@\"\n",
        real.trim()
    );
    script(&repo, "bin/git", &text);
    let path = format!("{}:{}", folder.display(), std::env::var("PATH").expect("a PATH"));
    let outcome = job(&repo, "j1", &[], "touch ../../started").env("PATH", path).run();
    outcome.expect(1, &["no room"]);
    assert!(!repo.top().join("started").exists());
    nothing_left(&repo);
    assert_eq!(event(&events(&repo, "j1"), "job.failed")["exit"], 1);
    run_to(15, &repo, "j2", "true");
}

#[test]
fn standard_output_has_the_result_alone() {
    let repo = Repo::new();
    let keys = |text: &str| -> Vec<String> {
        text.lines()
            .map(|line| line.split('=').next().unwrap_or_default().to_owned())
            .collect()
    };
    let documented = [
        "job_id", "base", "worktree", "branch", "commit", "record", "verdict", "exit",
    ];
    let noisy = "echo on-stdout; echo on-stderr >&2; echo 1 > payments/a.ts";
    let outcome = job(&repo, "j1", &["--verbose"], noisy).run();
    assert_eq!(keys(&outcome.stdout), documented, "{outcome}");
    assert!(
        outcome.stderr.contains("on-stdout") && outcome.stderr.contains("on-stderr"),
        "{outcome}"
    );
    assert_eq!(
        value(&outcome, "worktree"),
        jobs_root(&repo).join("j1").to_string_lossy()
    );
    assert_eq!(value(&outcome, "branch"), "agent/j1");
    assert_eq!(value(&outcome, "commit"), repo.id("agent/j1"));
    assert_eq!(value(&outcome, "record"), record(&repo, "j1").to_string_lossy());
    assert_eq!(
        (value(&outcome, "verdict").as_str(), value(&outcome, "exit").as_str()),
        ("ok", "0")
    );
    let quiet = run(&repo, "j2", &format!("{noisy}; rm prot/rules.txt"));
    assert_eq!(keys(&quiet.stdout), documented, "{quiet}");
    assert!(!quiet.stderr.contains("on-stdout"), "{quiet}");
    assert_eq!(
        (value(&quiet, "worktree"), value(&quiet, "commit")),
        (String::new(), String::new())
    );
}

#[test]
fn json_is_one_object_with_the_same_facts() {
    let repo = Repo::new();
    let outcome = job(&repo, "j1", &["--json", "--verbose"], "echo noise; rm prot/rules.txt").run();
    assert_eq!(outcome.code, 3, "{outcome}");
    let object = outcome.json();
    assert_eq!(object["schema"], "agentgate/run/1");
    assert_eq!(
        (&object["job_id"], &object["exit"], &object["verdict"]),
        (&"j1".into(), &3.into(), &"protected-path".into())
    );
    assert_eq!(object["base"], repo.id("main"));
    assert!(object["worktree"].is_null() && object["branch"].is_null());
    assert_eq!(object["findings"][0]["path"], "prot/rules.txt");
    let odd = job(&repo, "j2", &["--json"], "echo x > \"prot/$(printf 'a\\351')\"").run();
    let finding = &odd.json()["findings"][0];
    assert_eq!(
        (&finding["path"], &finding["path_b64"]),
        (&"prot/a\\xe9".into(), &"cHJvdC9h6Q==".into()),
        "{odd}"
    );
    let refusal = job(&repo, "j1", &["--json"], "true").run();
    assert_eq!((refusal.code, &refusal.json()["exit"]), (14, &14.into()));
    free(&repo);
}

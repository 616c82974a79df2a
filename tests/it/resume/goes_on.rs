//! What a job that goes on comes to.

use std::fs;

use super::{WORK, count, dead, dead_in_checks, kill_while, with_checks};
use crate::support::jobs::{frozen, value};
use crate::support::repo::Repo;
use crate::support::scene::{self, JOB, agent, events, last_kind, lock_is_free, nothing_left, record, until, worktree};

#[test]
fn killed_at_work_the_agent_begins_again_from_the_same_base() {
    let repo = Repo::new();
    dead(
        &repo,
        JOB,
        &[],
        &format!("test ! -e half || exit 9; {WORK}; pwd > payments/where.txt"),
    );
    // What the killed one had done counts for nothing.
    fs::write(worktree(&repo, JOB).join("half"), "").expect("it is there");
    let outcome = repo.agentgate(["resume", JOB]).success();
    let place = worktree(&repo, "j1~2");
    assert_eq!(value(&outcome, "worktree"), place.display().to_string());
    assert!(!worktree(&repo, JOB).exists(), "{outcome}");
    assert_eq!(
        repo.git(["show", "agent/j1:payments/where.txt"]),
        place.display().to_string()
    );
    assert_eq!(repo.git(["rev-parse", "agent/j1^"]), repo.id("main"));
    assert_eq!(repo.git(["status", "--porcelain"]), "");
    assert_eq!(
        (
            count(&repo, "step.finished"),
            count(&repo, "candidate.frozen"),
            count(&repo, "job.kept")
        ),
        (1, 1, 1)
    );
    assert!(!record(&repo, JOB).join("resume.json").exists());
    lock_is_free(&repo);
}

#[test]
fn neither_worktree_nor_private_folder_need_be_there_and_the_main_checkout_is_no_place_to_work_in() {
    let repo = Repo::new();
    dead(&repo, JOB, &[], &format!("{WORK}; pwd > payments/where.txt"));
    fs::remove_dir_all(scene::jobs(&repo)).expect("it is there");
    repo.agentgate(["resume", JOB]).success();
    let place = worktree(&repo, "j1~2").display().to_string();
    assert_eq!(repo.git(["show", "agent/j1:payments/where.txt"]), place);
    assert_eq!(repo.git(["status", "--porcelain", "--ignored"]), "");
    assert_eq!(repo.git(["worktree", "list"]).lines().count(), 2);
}

#[test]
fn checks_that_were_over_are_not_run_again_and_the_others_find_what_was_copied() {
    let repo = with_checks();
    dead_in_checks(&repo, &[], WORK);
    let said = fs::read(record(&repo, JOB).join("check-1.log")).expect("the first check said something");
    let tree = frozen(&repo, JOB);
    let outcome = repo.agentgate(["resume", JOB]).success();
    assert_eq!(
        fs::read(record(&repo, JOB).join("check-1.log")).expect("it is there"),
        said,
        "{outcome}"
    );
    assert_eq!((count(&repo, "check.finished"), count(&repo, "step.started")), (2, 2));
    outcome.expect(0, &["check `first`: passed", "check `second`: passed", "verdict=ok"]);
    // What was untracked is in it, what was ignored is in none.
    assert_eq!(repo.git(["rev-parse", "agent/j1^{tree}"]), tree);
    let place = repo.beside("repo-jobs/j1~2");
    assert_eq!(
        place.git(["status", "--porcelain", "--branch", "--ignored"]),
        "## agent/j1"
    );
    assert_eq!(place.git(["show", "HEAD:payments/new.ts"]), "new");
    assert!(place.root.join("payments/new.ts").exists() && !place.root.join("build.log").exists());
    // Git takes it for a worktree like any other.
    assert!(!repo.git(["worktree", "list", "--porcelain"]).contains("locked"));
    repo.agentgate(["drop", JOB]).success();
    nothing_left(&repo);
}

#[test]
fn a_candidate_that_was_frozen_is_refused_as_it_would_have_been() {
    let repo = with_checks();
    repo.write(
        "architecture/agentgate.yml",
        fs::read_to_string(repo.root.join("architecture/agentgate.yml"))
            .expect("text")
            .replace("test -f local.env", "false"),
    );
    repo.commit("a check that fails");
    dead_in_checks(&repo, &[], WORK);
    let outcome = repo.agentgate(["resume", JOB]);
    outcome.expect(10, &["verdict=check-failed", "check `second`"]);
    assert_eq!(last_kind(&repo, JOB), "job.refused");
    nothing_left(&repo);
    assert!(
        fs::read_to_string(record(&repo, JOB).join("change.patch"))
            .expect("a patch")
            .contains("+new")
    );
}

#[test]
fn what_run_was_to_do_at_its_end_is_done() {
    let repo = with_checks();
    let artifacts = repo.top().join("artifacts");
    dead_in_checks(
        &repo,
        &["--land", "--artifacts", &artifacts.display().to_string()],
        WORK,
    );
    assert!(!artifacts.join("change.patch").exists());
    let outcome = repo.agentgate(["resume", JOB, "--json"]).success();
    assert_eq!(outcome.json()["landed"]["target"], "refs/heads/main", "{outcome}");
    assert_eq!(last_kind(&repo, JOB), "job.landed");
    assert_eq!(
        fs::read_to_string(repo.root.join("payments/new.ts")).expect("it is landed"),
        "new\n"
    );
    assert_eq!(repo.git(["status", "--porcelain"]), "");
    for name in ["change.patch", "events.jsonl", "check-1.log", "gate.json"] {
        assert!(artifacts.join(name).is_file(), "{name}");
    }
    nothing_left(&repo);
}

#[test]
fn what_was_asked_of_run_holds_for_who_goes_on() {
    let repo = Repo::new();
    let task = repo.top().join("task.md");
    fs::write(&task, "Goal: x\nAllowed files: payments/pay.ts\n").expect("it can be written");
    dead(&repo, JOB, &["--timeout", "7m"], WORK);
    // The task is the one of the record, whatever became of the file; and the folder does not matter.
    fs::write(&task, "Goal: y\n").expect("it can be written");
    let outcome = repo
        .command(["-C", "repo/payments", "resume", JOB])
        .cwd(repo.top())
        .run();
    outcome.expect(7, &["verdict=out-of-scope", "payments/new.ts", "limit 7m"]);
}

#[test]
fn an_agent_that_prints_again_has_its_output_to_itself() {
    let repo = Repo::new();
    let words = super::waiting(&repo, "echo after; echo x > payments/x.ts");
    let log = record(&repo, JOB).join("agent.log");
    let said = || fs::read_to_string(&log).unwrap_or_default();
    kill_while(
        &repo,
        JOB,
        agent(&repo, JOB, &[], &format!("echo words\n{words}")),
        || said() == "words\n",
    );
    super::go(&repo);
    let json = repo.agentgate(["resume", JOB, "--json"]).success().json();
    assert_eq!(json["exit"], 0);
    assert_eq!(said(), "words\nafter\n");
}

#[test]
fn detached_it_goes_on_by_itself() {
    let repo = Repo::new();
    dead(&repo, JOB, &[], WORK);
    fs::remove_file(repo.top().join("go")).expect("it is there");
    let outcome = repo.agentgate(["resume", JOB, "--detach"]).success();
    assert_eq!(outcome.stdout, "j1\n", "{outcome}");
    until("the agent is at work", || {
        worktree(&repo, "j1~2").join("at-work").exists()
    });
    assert_eq!(scene::row(&repo, JOB)["state"], "running");
    repo.agentgate(["resume", JOB])
        .expect(13, &["j1 is being worked on", "attach j1"]);
    super::go(&repo);
    repo.agentgate(["wait", JOB]).success();
    assert_eq!(last_kind(&repo, JOB), "job.kept");
    // What cannot go on is said at once.
    repo.agentgate(["resume", "nobody", "--detach"])
        .expect(23, &["no job nobody"]);
}

#[test]
fn a_job_that_is_over_gives_its_own_code_again_and_nothing_is_written() {
    for (work, code) in [(WORK, 0), ("echo x > prot/rules.txt", 3), ("exit 4", 16), ("true", 15)] {
        let repo = Repo::new();
        agent(&repo, JOB, &[], work).run().expect(code, &[]);
        let before = super::all_bytes(&repo);
        let outcome = repo.agentgate(["resume", JOB]);
        outcome.expect(code, &["job_id=j1\n", &format!("exit={code}\n")]);
        super::unchanged(&before, &super::all_bytes(&repo), &outcome);
        let json = repo.agentgate(["resume", JOB, "--json"]);
        assert_eq!((json.code, &json.json()["exit"]), (code, &code.into()), "{json}");
    }
}

#[test]
fn killed_twice_it_goes_on_all_the_same() {
    let repo = Repo::new();
    dead(&repo, JOB, &[], WORK);
    for owner in 2..5 {
        fs::remove_file(repo.top().join("go")).expect("it is there");
        let sign = worktree(&repo, &format!("j1~{owner}")).join("at-work");
        kill_while(&repo, JOB, repo.command(["resume", JOB]), || sign.exists());
        super::go(&repo);
    }
    let outcome = repo.agentgate(["resume", JOB]).success();
    assert_eq!(
        value(&outcome, "worktree"),
        worktree(&repo, "j1~5").display().to_string()
    );
    let epochs: Vec<u64> = events(&repo, JOB)
        .iter()
        .filter(|event| event["event"] == "job.owned")
        .filter_map(|event| event["epoch"].as_u64())
        .collect();
    assert_eq!(epochs, [1, 2, 3, 4, 5]);
    assert_eq!(
        fs::read_dir(scene::jobs(&repo)).expect("there is one worktree").count(),
        1
    );
}

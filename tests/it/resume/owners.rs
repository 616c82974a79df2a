//! One owner at a time, whoever asks.

use std::fs;
use std::io::Write;

use super::{WORK, dead, go, line, unchanged, waiting};
use crate::detach::{owner, signal};
use crate::support::program::Running;
use crate::support::repo::Repo;
use crate::support::scene::{self, JOB, agent, events, last_kind, lock_is_free, record, until, worktree};

const STOP: i32 = 19;
const CONT: i32 = 18;

/// A job at work, and its process.
fn at_work(repo: &Repo) -> Running {
    let mut running = agent(repo, JOB, &[], &waiting(repo, WORK)).spawn();
    let sign = worktree(repo, JOB).join("at-work");
    until("the agent is at work", || {
        assert!(running.is_running());
        sign.exists()
    });
    running
}

#[test]
fn a_job_that_runs_is_13() {
    let repo = Repo::new();
    let running = at_work(&repo);
    let outcome = repo.agentgate(["resume", JOB]);
    outcome.expect(13, &["is being worked on (pid ", "attach j1", "stop j1"]);
    repo.agentgate(["resume", "--all"]).expect(0, &["no job"]);
    go(&repo);
    running.wait().success();
}

#[test]
fn a_stopped_one_is_13_and_can_be_taken_over() {
    let repo = Repo::new();
    let mut running = at_work(&repo);
    let pid = owner(&repo, JOB);
    running.signal(STOP);
    let detail = scene::row(&repo, JOB)["detail"].to_string();
    for words in [&*format!("is stopped (pid {pid})"), "agentgate resume j1 --take-over"] {
        assert!(detail.contains(words), "{words} is missing in {detail}");
    }
    let outcome = repo.agentgate(["resume", JOB]);
    outcome.expect(
        13,
        &["is stopped", &format!("kill -CONT {pid}"), "resume --take-over j1"],
    );
    go(&repo);
    let outcome = repo.agentgate(["resume", "--take-over", JOB]).success();
    outcome.expect(0, &["taken over", &pid, "verdict=ok"]);
    assert_eq!(running.wait().code, 128 + 9);
    assert_eq!(scene::processes(&repo, JOB), Vec::<String>::new());
    assert_eq!(last_kind(&repo, JOB), "job.kept");
    assert_eq!(
        events(&repo, JOB)
            .iter()
            .filter(|event| event["event"] == "job.owned")
            .count(),
        2
    );
    lock_is_free(&repo);
}

#[test]
fn one_that_goes_on_can_be_taken_over_too() {
    let repo = Repo::new();
    let running = at_work(&repo);
    go(&repo);
    repo.agentgate(["resume", JOB, "--take-over"]);
    let first = running.wait().code;
    assert!([0, 128 + 9].contains(&first), "{first}");
    assert_eq!(last_kind(&repo, JOB), "job.kept");
}

#[test]
fn with_a_line_of_somebody_else_in_its_log_an_owner_writes_nothing_more() {
    let repo = Repo::new();
    let mut running = at_work(&repo);
    running.signal(STOP);
    let log = record(&repo, JOB).join("events.jsonl");
    let foreign = line(
        &log,
        "\"event\":\"job.owned\",\"pid\":1,\"start_time\":1,\"boot_id\":\"b\"",
    );
    let mut file = fs::OpenOptions::new().append(true).open(&log).expect("there is a log");
    file.write_all(foreign.as_bytes()).expect("it can be written");
    go(&repo);
    until("the agent is gone", || scene::processes(&repo, JOB).is_empty());
    let before = super::all_bytes(&repo);
    running.signal(CONT);
    let outcome = running.wait();
    outcome.expect(13, &["somebody else has the job now", "log j1"]);
    unchanged(&before, &super::all_bytes(&repo), &outcome);
    // The job is as whoever wrote that line left it.
    lock_is_free(&repo);
    repo.agentgate(["resume", JOB]).success();
    let epochs: Vec<u64> = events(&repo, JOB)
        .iter()
        .filter(|event| event["event"] == "job.owned")
        .filter_map(|event| event["epoch"].as_u64())
        .collect();
    assert_eq!(epochs, [1, 2, 3]);
}

#[test]
fn of_two_that_race_for_a_job_one_goes_on() {
    let repo = Repo::new();
    for trial in 0..6 {
        let id = format!("race{trial}");
        dead(&repo, &id, &[], WORK);
        fs::remove_file(repo.top().join("go")).expect("it is there");
        let mut both: Vec<Running> = (0..2).map(|_| repo.command(["resume", &id]).spawn()).collect();
        until("one was turned away", || both.iter_mut().any(|one| !one.is_running()));
        go(&repo);
        let mut codes: Vec<i32> = both.into_iter().map(|one| one.wait().code).collect();
        codes.sort_unstable();
        assert_eq!(codes, [0, 13], "{id}");
        let owners = events(&repo, &id)
            .iter()
            .filter(|event| event["event"] == "job.owned")
            .count();
        assert_eq!(owners, 2, "{id}");
        repo.agentgate(["drop", &id]).success();
    }
}

#[test]
fn many_races_have_one_owner_each() {
    // Nothing is left to do but to end: the shortest life of an owner, so that the two meet at every place.
    let repo = Repo::new();
    dead(&repo, JOB, &[], "exit 7");
    let shell = |script: &str| repo.program("sh").cwd(repo.top()).args(["-c", script]).run().success();
    shell("mkdir saved; cp -a repo repo-jobs saved/");
    let trials = std::env::var("AGENTGATE_RACES")
        .ok()
        .and_then(|text| text.parse().ok())
        .unwrap_or(8);
    for trial in 0..trials {
        let both: Vec<Running> = (0..2).map(|_| repo.command(["resume", JOB]).spawn()).collect();
        let outcomes: Vec<_> = both.into_iter().map(Running::wait).collect();
        let codes: Vec<i32> = outcomes.iter().map(|outcome| outcome.code).collect();
        // Whoever comes when all is over is told how it ended.
        assert!(
            codes.iter().all(|code| [13, 16].contains(code)) && codes.contains(&16),
            "trial {trial}: {outcomes:?}"
        );
        let events = crate::support::jobs::events(&repo, JOB);
        let count = |kind: &str| events.iter().filter(|event| event["event"] == kind).count();
        assert_eq!(
            (count("job.owned"), count("job.failed")),
            (2, 1),
            "trial {trial}: {outcomes:?}"
        );
        // The folder itself stays, since programs are started in it.
        shell("rm -rf repo-jobs; find repo -mindepth 1 -delete; cp -a saved/repo/. repo/; cp -a saved/repo-jobs .");
    }
}

#[test]
fn a_signal_ends_a_job_that_goes_on_as_it_ends_a_run() {
    let repo = Repo::new();
    dead(&repo, JOB, &[], WORK);
    fs::remove_file(repo.top().join("go")).expect("it is there");
    let running = repo.command(["resume", JOB]).spawn();
    let sign = worktree(&repo, "j1~2").join("at-work");
    until("the agent is at work", || sign.exists());
    signal(&running.pid().to_string(), 15);
    running.wait().expect(143, &["verdict=interrupted"]);
    scene::nothing_left(&repo);
    repo.agentgate(["resume", JOB]).expect(143, &["verdict=interrupted"]);
}

//! `agentgate wait`: the codes of jobs, wherever they run.

use std::time::{Duration, Instant};

use super::{detached, patient};
use crate::support::repo::Repo;
use crate::support::scene::{self, AGENT, JOB, agent, dead};

#[test]
fn one_job_gives_its_code() {
    for (script, code) in [(AGENT, 0), ("echo x > prot/rules.txt", 3), ("exit 9", 16)] {
        let repo = Repo::new();
        let _job = detached(&repo, &[], script);
        let outcome = repo.agentgate(["wait", JOB]);
        outcome.expect(code, &["job_id=j1 ", &format!(" exit={code}\n")]);
        // Over, it is so at once; and what happens to the job later changes nothing.
        assert_eq!(repo.agentgate(["wait", JOB]).code, code);
        let json = repo.agentgate(["wait", JOB, "--json"]).json();
        assert_eq!(
            (&json["schema"], &json["exit"]),
            (&"agentgate/wait/1".into(), &code.into())
        );
        assert_eq!(json["jobs"][0]["exit"], code);
    }
}

#[test]
fn of_several_the_first_that_is_not_0_in_the_order_of_the_arguments() {
    let repo = Repo::new();
    agent(&repo, "good", &[], AGENT).run().success();
    agent(&repo, "refused", &[], "echo x > prot/rules.txt")
        .run()
        .expect(3, &[]);
    agent(&repo, "failed", &[], "exit 9").run().expect(16, &[]);
    let job = patient(&repo);
    let code = |ids: &[&str]| repo.agentgate([&["wait"], ids].concat()).code;
    assert_eq!(code(&["good", "refused", "failed"]), 3);
    assert_eq!(code(&["failed", "refused", "good"]), 16);
    let all = ["wait", JOB, "good", "failed"];
    let mut waiting = repo.command(all).spawn();
    let also = repo.command(["wait", "good", JOB]).spawn();
    std::thread::sleep(Duration::from_millis(200));
    assert!(waiting.is_running(), "it waits for all of them");
    job.go();
    assert_eq!(waiting.wait().code, 16);
    let outcome = also.wait();
    assert_eq!(outcome.code, 0, "{outcome}");
    assert_eq!(
        outcome.stdout,
        "job_id=good verdict=ok exit=0\njob_id=j1 verdict=ok exit=0\n"
    );
}

#[test]
fn when_the_time_is_over_it_is_13_with_those_that_run() {
    let repo = Repo::new();
    agent(&repo, "good", &[], AGENT).run().success();
    let job = patient(&repo);
    let started = Instant::now();
    let outcome = repo.agentgate(["wait", "good", JOB, "--timeout", "1s"]);
    outcome.expect(13, &["still running after 1s: j1\n", "attach j1"]);
    assert!(started.elapsed() >= Duration::from_secs(1));
    repo.agentgate(["wait", JOB, "--timeout", "1"]).expect(64, &["`1s`"]);
    assert_eq!(scene::row(&repo, JOB)["state"], "running");
    job.go();
    repo.agentgate(["wait", JOB, "--timeout", "30s"]).success();
}

#[test]
fn an_unknown_one_among_them_is_said_at_once() {
    let repo = Repo::new();
    let job = patient(&repo);
    repo.agentgate(["wait", JOB, "nobody"]).expect(23, &["no job nobody"]);
    repo.agentgate(["wait"]).expect(64, &["ID"]);
    job.go();
    repo.agentgate(["wait", JOB]).success();
}

#[test]
fn a_dead_one_counts_as_23_and_the_others_are_waited_for() {
    let repo = Repo::new();
    agent(&repo, "failed", &[], "exit 9").run().expect(16, &[]);
    dead(&repo, "true");
    repo.agentgate(["wait", JOB, "failed"])
        .expect(23, &["j1 is dead", "job_id=failed"]);
    repo.agentgate(["wait", "failed", JOB]).expect(16, &["j1 is dead"]);
}

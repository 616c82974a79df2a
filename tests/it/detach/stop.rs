//! `agentgate stop`: ends what runs, as Ctrl-C would, and nobody else.

use std::fs;
use std::time::{Duration, Instant};

use super::{ended_by_ctrl_c, patient, signal};
use crate::support::repo::Repo;
use crate::support::scene::{self, JOB, at_work, events, record, until, with_kept};

#[test]
fn it_ends_the_job_with_all_that_it_started() {
    let repo = Repo::new();
    let script = format!(
        "echo partial > payments/partial.ts; setsid sh -c 'sleep 60 & wait' &\n{}",
        super::PATIENT
    );
    let job = super::detached(&repo, &[], &script);
    job.at_work();
    let pid = job.pid();
    let attached = repo.command(["attach", JOB]).spawn();
    let started = Instant::now();
    let outcome = repo.agentgate(["stop", JOB]).success();
    assert!(started.elapsed() < Duration::from_secs(15), "{outcome}");
    // All is over by then.
    ended_by_ctrl_c(&repo);
    outcome.expect(0, &["job_id=j1\n", "verdict=interrupted\n", "exit=130\n", "j1 is over"]);
    until("its owner is gone", || !scene::alive(&pid));
    let patch = fs::read_to_string(record(&repo, JOB).join("change.patch")).expect("there is a patch");
    assert!(patch.contains("+partial"), "{patch}");
    attached.wait().expect(130, &["verdict=interrupted"]);
    repo.agentgate(["wait", JOB]).expect(130, &[]);
    repo.agentgate(["stop", JOB]).expect(23, &["is over"]);
}

#[test]
fn it_ends_a_job_in_the_foreground_too() {
    let repo = Repo::new();
    let running = at_work(&repo, JOB, "trap '' TERM INT HUP");
    let json = repo.agentgate(["stop", JOB, "--json"]).success().json();
    assert_eq!(json["schema"], "agentgate/stop/1");
    assert_eq!((&json["ended"]["exit"], &json["exit"]), (&130.into(), &0.into()));
    running.wait().expect(130, &["verdict=interrupted"]);
    ended_by_ctrl_c(&repo);
}

#[test]
fn what_is_over_is_23() {
    let repo = with_kept();
    repo.agentgate(["stop", JOB])
        .expect(23, &["job j1 is over: it is kept", "attach j1"]);
}

#[test]
fn an_owner_that_stands_still_is_13_and_ends_once_it_goes_on() {
    let repo = Repo::new();
    let job = patient(&repo);
    let pid = job.pid();
    signal(&pid, 19);
    let started = Instant::now();
    let outcome = repo.agentgate(["stop", JOB]);
    assert!(started.elapsed() < Duration::from_secs(20), "{outcome}");
    outcome.expect(13, &["is stopped", &format!("kill -CONT {pid}")]);
    signal(&pid, 18);
    repo.agentgate(["wait", JOB]).expect(130, &[]);
    ended_by_ctrl_c(&repo);
}

#[test]
fn a_number_that_is_another_process_now_is_left_alone() {
    let repo = Repo::new();
    let mut stranger = repo.program("sleep").args(["60"]).spawn();
    let job = patient(&repo);
    // A log of this job in which the owner has the stranger's number, and a time of its own.
    let folder = record(&repo, "copy");
    fs::create_dir(&folder).expect("it is new");
    let text = fs::read_to_string(record(&repo, JOB).join("events.jsonl")).expect("there is a log");
    let mut sum = "0".repeat(64);
    let mut lines = String::new();
    for line in text.lines().take(3) {
        let body = line.rsplit_once(",\"sum\":").expect("a sum").0;
        let body = body.replace(
            &format!("\"pid\":{}", job.pid()),
            &format!("\"pid\":{}", stranger.pid()),
        );
        let body = body.replace(&format!("\"job\":\"{JOB}\""), "\"job\":\"copy\"");
        sum = agentgate::job::log::sha256_hex(&[sum.as_bytes(), body.as_bytes()]);
        lines.push_str(&format!("{body},\"sum\":\"{sum}\"}}\n"));
    }
    fs::write(folder.join("events.jsonl"), lines).expect("it can be written");
    fs::write(folder.join("owner.lock"), "").expect("it can be written");
    repo.agentgate(["stop", "copy"]).expect(23, &["copy is dead"]);
    // Held by somebody who is not to be seen: it is not dead, and nobody is to be signalled.
    let lock = fs::File::open(folder.join("owner.lock")).expect("it is there");
    lock.lock().expect("it is free");
    repo.agentgate(["stop", "copy"])
        .expect(13, &["cannot be seen from here"]);
    assert!(stranger.is_running());
    drop(lock);
    stranger.kill();
    job.go();
    repo.agentgate(["wait", JOB]).success();
    assert_eq!(events(&repo, JOB).last().expect("events")["event"], "job.kept");
}

//! Signals and kills while a check of a job runs.

use std::time::Duration;

use super::{CHANGE, finished, with};
use crate::support::jobs::{events, job, jobs_root, nothing_left, recorded, until};
use crate::support::scene;

#[test]
fn signals_end_a_check_and_the_job() {
    for (signal, code) in [(2, 130), (15, 143)] {
        let repo = with("checks: [{name: c, run: 'mkdir build; touch build/at-work; sleep 300'}]\n");
        let mut running = job(&repo, "j1", &[], CHANGE).deadline(Duration::from_secs(40)).spawn();
        let sign = jobs_root(&repo).join(".jobs/j1/check/tree/build/at-work");
        until("the check is at work", || {
            assert!(running.is_running(), "it ended early");
            sign.exists()
        });
        running.signal(signal);
        let outcome = running.wait();
        assert_eq!(outcome.code, code, "{outcome}");
        assert_eq!(finished(&repo)[0]["ending"], "interrupted", "{outcome}");
        let last = events(&repo, "j1");
        assert_eq!(last.last().expect("there are events")["event"], "job.interrupted");
        assert!(recorded(&repo, "j1", "change.patch").contains("pay = 2"));
        assert!(scene::processes(&repo, "j1").is_empty());
        nothing_left(&repo);
    }
}

#[test]
fn a_kill_during_a_check_leaves_no_process_and_drop_removes_the_rest() {
    let repo = with("checks: [{name: c, run: 'mkdir build; touch build/at-work; setsid sleep 300 & sleep 300'}]\n");
    let mut running = job(&repo, "j1", &[], CHANGE).spawn();
    let place = jobs_root(&repo).join(".jobs/j1/check/tree");
    until("the check is at work", || {
        assert!(running.is_running(), "it ended early");
        place.join("build/at-work").exists()
    });
    assert!(!scene::processes(&repo, "j1").is_empty());
    running.signal(9);
    assert_eq!(running.wait().code, 137);
    until("its processes are gone", || scene::processes(&repo, "j1").is_empty());
    assert!(place.exists());
    repo.agentgate(["drop", "--force", "j1"]).success();
    nothing_left(&repo);
}

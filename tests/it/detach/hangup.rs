//! A hang-up ends no job: neither the signal nor the terminal that is gone.

use std::fs;
use std::time::Duration;

use super::{PATIENT, go, on_terminal, owner, run_words, ticks};
use crate::support::repo::Repo;
use crate::support::scene::{self, JOB, agent, last_kind, lock_is_free, record, until, worktree};

/// An agent that talks a lot once it may go on.
const TALKER: &str = "echo first words; : > at-work
while [ ! -e go ]; do sleep 0.02; done; rm go at-work
seq 400000; echo done > payments/done.ts; echo last words";

#[test]
fn a_hangup_ends_no_job_and_all_is_printed() {
    let repo = Repo::new();
    let mut running = agent(&repo, JOB, &[], PATIENT).spawn();
    until("the agent is at work", || worktree(&repo, JOB).join("at-work").exists());
    running.signal(1);
    // What it would do then, it would do at once.
    std::thread::sleep(Duration::from_millis(300));
    assert!(running.is_running());
    go(&repo, JOB);
    running.wait().expect(0, &["verdict=ok", "passed; 1 path changed"]);
    assert_eq!(last_kind(&repo, JOB), "job.kept");
}

#[test]
fn a_signal_after_a_hangup_ends_it_all_the_same() {
    let repo = Repo::new();
    let mut running = agent(&repo, JOB, &[], PATIENT).spawn();
    until("the agent is at work", || worktree(&repo, JOB).join("at-work").exists());
    running.signal(1);
    running.signal(15);
    running.wait().expect(143, &["verdict=interrupted"]);
    scene::nothing_left(&repo);
    lock_is_free(&repo);
}

#[test]
fn a_terminal_that_closes_ends_no_job() {
    for (options, script) in [("", TALKER), ("--verbose", TALKER), ("--json", PATIENT)] {
        let repo = Repo::new();
        let code = repo.top().join("code");
        let run = run_words(&repo, options, script);
        // The shell that leads the session dies of it, and then the kernel tells all who are in the foreground. One
        // in between lives on to say the code.
        let inner = repo.top().join("inner.sh");
        fs::write(&inner, format!("trap : HUP\n{run}\necho $? > {}\n", code.display())).expect("it can be written");
        let mut terminal = on_terminal(&repo, &format!("sh {}; true", inner.display()));
        until("the agent is at work", || worktree(&repo, JOB).join("at-work").exists());
        let pid = owner(&repo, JOB);
        let tty = |pid: &str| fs::read_link(format!("/proc/{pid}/fd/1")).expect("it is open");
        assert!(tty(&pid).starts_with("/dev/pts"), "{:?}", tty(&pid));
        terminal.kill();
        until("the terminal is gone", || !tty(&pid).exists());
        // It does not go round in circles, either.
        let before = ticks(&pid);
        std::thread::sleep(Duration::from_millis(500));
        assert!(ticks(&pid) - before < 20, "{options}: {before} {}", ticks(&pid));
        go(&repo, JOB);
        until("it ended", || {
            fs::read_to_string(&code).is_ok_and(|text| text.ends_with('\n'))
        });
        assert_eq!(fs::read_to_string(&code).expect("it is there"), "0\n", "{options}");
        assert_eq!(last_kind(&repo, JOB), "job.kept");
        let log = fs::read_to_string(record(&repo, JOB).join("agent.log")).expect("there is a log");
        assert!(
            log.starts_with("first words\n") && log.ends_with("last words\n"),
            "{options}"
        );
        // What could not be printed can be read.
        repo.agentgate(["attach", JOB]).expect(0, &["verdict=ok", "last words"]);
    }
}

#[test]
fn where_it_goes_on_nowhere_a_hangup_is_129() {
    let repo = Repo::new();
    // `check` has nobody who would come back for its verdict.
    repo.write("architecture/agentgate.yml", "checks:\n- name: c\n  run: sleep 30\n");
    repo.commit("a check");
    repo.branch("f");
    repo.change("payments/x.ts", "x\n");
    let mut running = repo.command(["check", "--base", "main", "--checks"]).spawn();
    let sign = scene::jobs(&repo).join(".checks");
    until("the check runs", || sign.exists());
    running.signal(1);
    assert_eq!(running.wait().code, 129);
}

//! What the record costs.

use std::fs;
use std::time::{Duration, Instant};

use crate::detach::owner;
use crate::support::repo::Repo;
use crate::support::scene::{self, JOB, agent, record, worktree};

/// A debug build takes ten seconds for a gigabyte, on a machine that does nothing else.
const PATIENCE: Duration = Duration::from_secs(150);

#[test]
fn an_event_is_one_write_and_one_sync() {
    let repo = Repo::new();
    let log = repo.top().join("calls");
    let task = repo.top().join("task.md");
    fs::write(&task, "Goal: x\n").expect("it can be written");
    if repo
        .program("sh")
        .args(["-c", "strace -qq -o /dev/null true"])
        .run()
        .code
        != 0
    {
        eprintln!("skipped: nothing can be traced here");
        return;
    }
    let run = repo.program("strace").args(["-qq", "-y", "-o"]).args([log.as_os_str()]);
    let run = run.args(["-e", "trace=write,fsync,fdatasync"]).args([repo.binary()]);
    let run = run.args(["run", "--job-id", JOB, "../task.md", "--", "sh", "-c", super::WORK]);
    run.run().success();
    let text = String::from_utf8_lossy(&fs::read(&log).expect("strace wrote it")).into_owned();
    let count = |call: &str| {
        text.lines()
            .filter(|line| line.starts_with(call) && line.contains("/events.jsonl>"))
            .count()
    };
    let events = scene::events(&repo, JOB).len();
    assert_eq!(
        (count("write("), count("fdatasync("), count("fsync(")),
        // Nothing is done between `job.created` and `job.owned`, the start of a step and what holds it, its end and its
        // tree: one sync each.
        (events, events - 3, 0)
    );
}

#[test]
fn an_agent_that_prints_a_gigabyte_costs_little_memory() {
    let repo = Repo::new();
    let words = format!(
        "yes 'a line of the output of an agent' | head -c 1000000000\n: > printed\nwhile [ ! -e {} ]; do sleep 0.02; done; rm printed; {}",
        repo.top().join("go").display(),
        super::WORK
    );
    let mut running = agent(&repo, JOB, &[], &words).deadline(PATIENCE).spawn();
    let sign = worktree(&repo, JOB).join("printed");
    let started = Instant::now();
    while !sign.exists() {
        assert!(started.elapsed() < PATIENCE && running.is_running());
        std::thread::sleep(Duration::from_millis(20));
    }
    eprintln!("printed within {:?}", started.elapsed());
    let status = fs::read_to_string(format!("/proc/{}/status", owner(&repo, JOB))).expect("it runs");
    let peak = status
        .lines()
        .find_map(|line| line.strip_prefix("VmHWM:"))
        .expect("a peak");
    let kib: u64 = peak.trim().trim_end_matches(" kB").parse().expect("a number");
    assert!(kib < 60 * 1024, "{kib} KiB");
    super::go(&repo);
    running.wait().success();
    let kept = record(&repo, JOB)
        .join("agent.log")
        .metadata()
        .expect("it is there")
        .len();
    assert!(kept < 100 << 20, "{kept}");
}

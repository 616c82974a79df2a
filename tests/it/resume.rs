//! `agentgate resume`: a job whose process is gone goes on. What is killed at every single call is in `tests/kill/`.

mod cost;
mod goes_on;
mod owners;
mod refusals;
mod several;

use std::fs;
use std::path::{Path, PathBuf};

use crate::support::program::{Outcome, Program};
use crate::support::repo::Repo;
use crate::support::scene::{self, JOB, agent, events, record, until};

/// What the agent does once it may.
pub const WORK: &str =
    "echo 'export const pay = 2;' > payments/pay.ts; echo new > payments/new.ts; echo noise > build.log";

/// An agent that waits, until there is a file `go` beside the repository, and then does its work.
pub fn waiting(repo: &Repo, work: &str) -> String {
    let go = repo.top().join("go");
    format!(
        "test -e {0} || : > at-work\nwhile [ ! -e {0} ]; do sleep 0.02; done\nrm -f at-work\n{work}",
        go.display()
    )
}

/// Lets such an agent work.
pub fn go(repo: &Repo) {
    fs::write(repo.top().join("go"), "").expect("it can be written");
}

/// Kills the process of a job and waits until nothing of it is left.
pub fn kill_while(repo: &Repo, id: &str, program: Program, is_so: impl Fn() -> bool) {
    let mut running = program.spawn();
    until("it is as far", || {
        assert!(running.is_running(), "it ended early");
        is_so()
    });
    running.signal(9);
    assert_eq!(running.wait().code, 128 + 9);
    until("its processes are gone", || scene::processes(repo, id).is_empty());
}

/// A job that was killed while its agent worked. Gone on with, the agent does this work.
pub fn dead(repo: &Repo, id: &str, options: &[&str], work: &str) {
    let _ = fs::remove_file(repo.top().join("go"));
    let sign = scene::worktree(repo, id).join("at-work");
    kill_while(repo, id, agent(repo, id, options, &waiting(repo, work)), || {
        sign.exists()
    });
    go(repo);
}

/// A repository with two checks, the second of which waits for a file `checked` beside it; both print something that
/// they print only once.
pub fn with_checks() -> Repo {
    let repo = Repo::new();
    let checked = repo.top().join("checked");
    repo.write(".gitignore", "*.log\nlocal.env\n");
    repo.write(
        "architecture/agentgate.yml",
        format!(
            "setup: [[sh, -c, 'cat local.env > ready.log']]\ncopy: [local.env]\nchecks:\n\
             - {{name: first, run: 'cat /proc/sys/kernel/random/uuid'}}\n\
             - {{name: second, run: 'while [ ! -e {} ]; do sleep 0.02; done; test -f local.env'}}\n",
            checked.display()
        ),
    );
    repo.commit("settings");
    repo.write("local.env", "KEY=1\n");
    repo
}

/// A job of [`with_checks`] that was killed when its first check was over.
pub fn dead_in_checks(repo: &Repo, options: &[&str], work: &str) {
    let log = record(repo, JOB).join("events.jsonl");
    let is_over = || fs::read_to_string(&log).is_ok_and(|text| text.contains("\"check.finished\""));
    kill_while(repo, JOB, agent(repo, JOB, options, work), is_over);
    fs::write(repo.top().join("checked"), "").expect("it can be written");
}

/// How many events there are of each kind.
pub fn count(repo: &Repo, kind: &str) -> usize {
    events(repo, JOB).iter().filter(|event| event["event"] == kind).count()
}

/// Every file of the clone and beside it, with what is in it. What the clone lock's holder says of itself comes and
/// goes with every look.
pub fn all_bytes(repo: &Repo) -> Vec<(PathBuf, Vec<u8>)> {
    let mut found = Vec::new();
    for folder in [repo.root.clone(), scene::jobs(repo)] {
        for entry in walkdir::WalkDir::new(&folder).sort_by_file_name() {
            let Ok(entry) = entry else { continue };
            let name = entry.file_name().to_string_lossy();
            if name.starts_with("agent-jobs.") {
                continue;
            }
            let bytes = match entry.file_type() {
                kind if kind.is_file() => fs::read(entry.path()).expect("it can be read"),
                kind if kind.is_symlink() => fs::read_link(entry.path())
                    .expect("a link")
                    .into_os_string()
                    .into_encoded_bytes(),
                _ => Vec::new(),
            };
            found.push((entry.path().to_owned(), bytes));
        }
    }
    found
}

/// The paths in which two of these differ must be none.
#[track_caller]
pub fn unchanged(before: &[(PathBuf, Vec<u8>)], after: &[(PathBuf, Vec<u8>)], outcome: &Outcome) {
    let differ = |a: &[(PathBuf, Vec<u8>)], b: &[(PathBuf, Vec<u8>)]| -> Vec<PathBuf> {
        let missing = a.iter().filter(|entry| !b.contains(entry));
        missing.map(|(path, _)| path.clone()).collect()
    };
    let (gone, new) = (differ(before, after), differ(after, before));
    assert!(
        gone.is_empty() && new.is_empty(),
        "changed or gone {gone:?}, changed or new {new:?}\n{outcome}"
    );
}

/// A line for the end of a log, chained as the documented rule says.
pub fn line(log: &Path, fields: &str) -> String {
    let text = fs::read_to_string(log).expect("there is a log");
    let last: serde_json::Value = serde_json::from_str(text.lines().last().expect("a line")).expect("JSON");
    let (seq, epoch) = (
        last["seq"].as_u64().expect("a number") + 1,
        last["epoch"].as_u64().expect("a number") + 1,
    );
    let body =
        format!("{{\"v\":1,\"seq\":{seq},\"epoch\":{epoch},\"at\":\"2026-01-01T00:00:00Z\",\"job\":\"{JOB}\",{fields}");
    let sum = crate::support::jobs::sha256(format!("{}{body}", last["sum"].as_str().expect("a sum")));
    format!("{body},\"sum\":\"{sum}\"}}\n")
}

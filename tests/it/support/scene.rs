//! Jobs in a [`Repo`]: run to their end or watched at work, and what they leave on disk.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use serde_json::Value;

use super::program::{Outcome, Program, Running};
use super::repo::Repo;

/// The id of the job in most tests.
pub const JOB: &str = "j1";

/// An agent that changes one file and adds one.
pub const AGENT: &str = "echo 'export const pay = 2;' > payments/pay.ts; echo new > payments/new.ts";

/// `agentgate run`, with this shell script as the agent.
pub fn agent(repo: &Repo, id: &str, options: &[&str], script: &str) -> Program {
    let task = repo.top().join("task.md");
    if !task.exists() {
        fs::write(&task, "Goal: pay twice\n").expect("the task can be written");
    }
    repo.command(["run", "--job-id", id])
        .args(options)
        .args([task.as_os_str(), "--".as_ref(), "sh".as_ref(), "-c".as_ref()])
        .args([script])
}

/// Runs [`JOB`] with this agent; it must be kept.
#[track_caller]
pub fn kept(repo: &Repo, script: &str) -> Outcome {
    agent(repo, JOB, &[], script).run().success()
}

/// A new repository with [`JOB`] kept in it.
#[track_caller]
pub fn with_kept() -> Repo {
    let repo = Repo::new();
    kept(&repo, AGENT);
    repo
}

/// A job whose agent works and goes on until it is ended, seen at work. The script runs first.
#[track_caller]
pub fn at_work(repo: &Repo, id: &str, script: &str) -> Running {
    let script = format!("{script}\n: > at-work\nwhile :; do sleep 0.1; done");
    let mut running = agent(repo, id, &[], &script).spawn();
    let sign = worktree(repo, id).join("at-work");
    until("the agent is at work", || {
        assert!(running.is_running(), "it ended early");
        sign.exists()
    });
    running
}

/// A job killed by SIGKILL while its agent worked. Nothing of the agent is left.
#[track_caller]
pub fn dead(repo: &Repo, script: &str) {
    let mut running = at_work(repo, JOB, script);
    running.signal(9);
    assert_eq!(running.wait().code, 128 + 9);
    until("the agent is gone", || processes(repo, JOB).is_empty());
}

/// The pids of all processes of a job's agent, found by what each of them has in its environment: an
/// agent's own pids are those of its namespace.
pub fn processes(repo: &Repo, id: &str) -> Vec<String> {
    processes_of(&jobs(repo).join(".jobs").join(id).join("task/TASK.md"))
}

/// The same by the agent's copy of its task.
pub fn processes_of(task: &Path) -> Vec<String> {
    let mark = format!("AGENTGATE_TASK={}", task.display());
    let entries = fs::read_dir("/proc").expect("/proc can be listed");
    let names = entries
        .flatten()
        .filter_map(|entry| entry.file_name().into_string().ok());
    let marked = |pid: &String| {
        let environment = fs::read(format!("/proc/{pid}/environ")).unwrap_or_default();
        environment
            .split(|&byte| byte == 0)
            .any(|entry| entry == mark.as_bytes())
    };
    names.filter(|pid| marked(pid) && alive(pid)).collect()
}

/// Whether a process lives; a zombie does not.
pub fn alive(pid: &str) -> bool {
    fs::read_to_string(format!("/proc/{pid}/stat"))
        .is_ok_and(|stat| !stat.rsplit(") ").next().is_some_and(|rest| rest.starts_with('Z')))
}

/// Waits until something is so; fails when it is not within half a minute.
#[track_caller]
pub fn until(what: &str, mut is_so: impl FnMut() -> bool) {
    let started = Instant::now();
    while !is_so() {
        assert!(started.elapsed() < Duration::from_secs(120), "not in time: {what}");
        std::thread::sleep(Duration::from_millis(5));
    }
}

/// Where the clone's jobs lie.
pub fn jobs(repo: &Repo) -> PathBuf {
    repo.top().join("repo-jobs")
}

/// The worktree of a job.
pub fn worktree(repo: &Repo, id: &str) -> PathBuf {
    jobs(repo).join(id)
}

/// The folder of a job's record.
pub fn record(repo: &Repo, id: &str) -> PathBuf {
    repo.top().join("repo/.git/agentgate/jobs").join(id)
}

/// The events of a job. A line that is being written in this moment does not count; that a log ends with a whole one is
/// proved at the end of each test.
#[track_caller]
pub fn events(repo: &Repo, id: &str) -> Vec<Value> {
    let text = fs::read_to_string(record(repo, id).join("events.jsonl")).expect("the job has a log");
    let end = text.rfind('\n').map_or(0, |at| at + 1);
    text[..end]
        .lines()
        .map(|line| serde_json::from_str(line).expect("a line is JSON"))
        .collect()
}

/// The kind of a job's last event.
#[track_caller]
pub fn last_kind(repo: &Repo, id: &str) -> String {
    let events = events(repo, id);
    let last = events.last().expect("a log has events");
    last["event"].as_str().expect("an event has a kind").to_owned()
}

/// The row of a job in `status --json`.
#[track_caller]
pub fn row(repo: &Repo, id: &str) -> Value {
    let status = repo.agentgate(["status", "--json"]).success().json();
    let rows = status["jobs"].as_array().expect("a list of jobs");
    let row = rows.iter().find(|row| row["job_id"] == id);
    row.unwrap_or_else(|| panic!("{id} is not in {status:#}")).clone()
}

/// Nothing of any job is left beside the clone, and the clone knows of one worktree only.
#[track_caller]
pub fn nothing_left(repo: &Repo) {
    assert!(!jobs(repo).exists(), "{:?}", tree(&jobs(repo)));
    assert_eq!(repo.git(["worktree", "list"]).lines().count(), 1);
    assert!(!repo.root.join(".git/worktrees").exists());
    assert_eq!(repo.git(["branch", "--list", "agent/*"]), "");
}

/// The clone lock is free.
#[track_caller]
pub fn lock_is_free(repo: &Repo) {
    let lock = repo.top().join("repo/.git/agent-jobs.lock");
    let flock = repo
        .program("flock")
        .args(["-n".as_ref(), lock.as_os_str(), "true".as_ref()]);
    flock.run().success();
}

/// Every path below a folder, but for what git keeps: kind, mode and content.
pub fn tree(folder: &Path) -> Vec<String> {
    let mut lines = Vec::new();
    let mut open = vec![folder.to_owned()];
    while let Some(at) = open.pop() {
        let Ok(entries) = fs::read_dir(&at) else { continue };
        for entry in entries {
            let path = entry.expect("a folder can be listed").path();
            let meta = fs::symlink_metadata(&path).expect("an entry has metadata");
            let name = path.strip_prefix(folder).expect("it lies below").display().to_string();
            let content = if meta.is_symlink() {
                format!("-> {}", fs::read_link(&path).expect("a link can be read").display())
            } else if meta.is_file() {
                String::from_utf8_lossy(&fs::read(&path).unwrap_or_default()).into_owned()
            } else {
                String::new()
            };
            lines.push(format!("{name} {:o} {content:?}", meta.permissions().mode()));
            if meta.is_dir() && name != ".git" {
                open.push(path);
            }
        }
    }
    lines.sort();
    lines
}

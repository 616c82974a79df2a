//! A job of four roles, gone on with from every beginning of its log, as if each line had been the last.

use std::fs;
use std::path::Path;

use super::{APPROVE, FIX, PLAN, REJECT, STEP, job, steps, with};
use crate::support::repo::Repo;
use crate::support::scene::{JOB, lock_is_free, record, until};

/// The job's record as a ref.
const REF: &str = "refs/agentgate/jobs/j1";

/// Puts the record back as it was, with so many lines of the log, and nothing else of the job.
fn rewind(repo: &Repo, saved: &Path, reference: &str, lines: usize) {
    let folder = record(repo, JOB);
    let jobs = repo.top().join("repo-jobs");
    if jobs.exists() {
        fs::remove_dir_all(&jobs).expect("it can be removed");
    }
    repo.git(["worktree", "prune"]);
    let branches = repo.git(["branch", "--list", "agent/*"]);
    if !branches.is_empty() {
        repo.git(["branch", "-D", &format!("agent/{JOB}")]);
    }
    repo.git(["update-ref", REF, reference]);
    fs::remove_dir_all(&folder).expect("it can be removed");
    let copied = repo
        .program("cp")
        .args(["-a".as_ref(), saved.as_os_str(), folder.as_os_str()]);
    copied.run().success();
    let log = fs::read_to_string(folder.join("events.jsonl")).expect("it is there");
    let beginning: String = log.split_inclusive('\n').take(lines).collect();
    fs::write(folder.join("events.jsonl"), beginning).expect("it can be written");
}

#[test]
fn each_beginning_of_its_log_leads_to_the_same_end() {
    let review = format!("if [ -e payments/fix.txt ]; then {APPROVE}; else {REJECT}; fi");
    let slow = format!("while [ ! -e {} ]; do sleep 0.02; done; {PLAN}", "GO");
    let repo = with(
        &[
            ("planner", &slow),
            ("implementer", STEP),
            ("reviewer", &review),
            ("fixer", FIX),
        ],
        "checks: [{name: unit, run: 'true'}]\n",
    );
    let go = repo.top().join("go");
    super::becomes(&repo, "planner", &slow.replace("GO", &go.display().to_string()));
    let running = job(&repo).spawn();
    // It is there as long as the job is not over.
    let request = record(&repo, JOB).join("resume.json");
    let mut kept = Vec::new();
    until("it has begun", || {
        kept = fs::read(&request).unwrap_or_default();
        !kept.is_empty()
    });
    fs::write(&go, "").expect("it can be written");
    running.wait().success();
    let reference = repo.git(["rev-parse", REF]);
    let undisturbed = repo.git(["diff", "main", &format!("agent/{JOB}")]);
    let all = steps(&repo);
    let saved = repo.top().join("saved");
    let folder = record(&repo, JOB);
    let copied = repo
        .program("cp")
        .args(["-a".as_ref(), folder.as_os_str(), saved.as_os_str()]);
    copied.run().success();
    fs::remove_file(saved.join("report.json")).expect("it is there");
    fs::write(saved.join("resume.json"), kept).expect("it can be written");
    let log = fs::read_to_string(saved.join("events.jsonl")).expect("it is there");
    let kinds: Vec<String> = log
        .lines()
        .map(|line| serde_json::from_str::<serde_json::Value>(line).expect("JSON")["event"].to_string())
        .collect();
    for lines in 1..kinds.len() {
        rewind(&repo, &saved, &reference, lines);
        let outcome = repo.agentgate(["resume", JOB]);
        outcome.expect(0, &["verdict=ok"]);
        assert_eq!(
            repo.git(["diff", "main", &format!("agent/{JOB}")]),
            undisturbed,
            "after {lines} lines, the last of them {}",
            kinds[lines - 1]
        );
        // At most the step that was under way is there twice.
        let again = steps(&repo);
        assert!(again.len() <= all.len() + 1, "{lines}: {again:?}");
        let mut once = again.clone();
        once.dedup();
        assert_eq!(once, all, "{lines}");
        repo.agentgate(["verify", JOB]).success();
        lock_is_free(&repo);
    }
}

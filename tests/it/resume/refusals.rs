//! What cannot go on is refused, and stays as it was to the last byte.

use std::fs;
use std::io::Write;
use std::path::PathBuf;

use super::{WORK, all_bytes, dead, dead_in_checks, line, unchanged, with_checks};
use crate::support::jobs::frozen;
use crate::support::repo::Repo;
use crate::support::scene::{JOB, record};

/// Refused with 23 and these words, and nothing changes.
#[track_caller]
fn refused(repo: &Repo, texts: &[&str]) {
    for command in [
        &["resume", JOB][..],
        &["resume", JOB, "--take-over"],
        &["resume", "--all"],
    ] {
        let before = all_bytes(repo);
        let outcome = repo.agentgate(command);
        outcome.expect(23, texts);
        unchanged(&before, &all_bytes(repo), &outcome);
    }
}

/// The file of an object that is not packed.
fn object(repo: &Repo, id: &str) -> PathBuf {
    repo.root.join(".git/objects").join(&id[..2]).join(&id[2..])
}

fn append(repo: &Repo, bytes: &[u8]) {
    let path = record(repo, JOB).join("events.jsonl");
    let mut file = fs::OpenOptions::new().append(true).open(path).expect("there is a log");
    file.write_all(bytes).expect("it can be written");
}

#[test]
fn without_its_base() {
    for torn in [&b""[..], b"{\"v\":1,\"seq\":", &[0; 40]] {
        let repo = Repo::new();
        repo.branch("side");
        let base = repo.change("payments/side.ts", "side\n");
        repo.checkout("main");
        dead(&repo, JOB, &["--base", "side"], WORK);
        repo.git(["branch", "-D", "side"]);
        fs::remove_file(object(&repo, &base)).expect("it is there");
        append(&repo, torn);
        refused(&repo, &[&base, "git fetch origin"]);
    }
}

#[test]
fn without_the_tree_of_its_candidate() {
    let repo = with_checks();
    dead_in_checks(&repo, &[], WORK);
    let tree = frozen(&repo, JOB);
    fs::remove_file(object(&repo, &tree)).expect("it is there");
    refused(&repo, &[&tree, "not in this clone"]);
}

#[test]
fn without_what_was_written_down_of_its_candidate() {
    let repo = with_checks();
    dead_in_checks(&repo, &[], WORK);
    let path = record(&repo, JOB).join("frozen.json");
    let text = fs::read_to_string(&path).expect("it is there");
    fs::write(&path, text.replace("\"hidden\": 0", "\"hidden\": 1")).expect("it can be written");
    refused(&repo, &["frozen.json"]);
    fs::write(&path, "").expect("it can be written");
    refused(&repo, &["frozen.json"]);
    fs::remove_file(&path).expect("it is there");
    refused(&repo, &["frozen.json"]);
    fs::write(&path, text).expect("it can be written");
    repo.agentgate(["resume", JOB]).success();
}

#[test]
fn without_what_was_asked() {
    let repo = Repo::new();
    dead(&repo, JOB, &[], WORK);
    let path = record(&repo, JOB).join("resume.json");
    let text = fs::read_to_string(&path).expect("it is there");
    fs::write(&path, "{").expect("it can be written");
    refused(&repo, &["resume.json cannot be read"]);
    fs::write(&path, text.replace("agentgate/resume/1", "agentgate/resume/9")).expect("it can be written");
    refused(&repo, &["agentgate/resume/9"]);
    fs::remove_file(&path).expect("it is there");
    refused(&repo, &["resume.json is not in its record", "drop j1"]);
    fs::write(&path, text).expect("it can be written");
    repo.agentgate(["resume", JOB]).success();
}

#[test]
fn with_another_task() {
    let repo = Repo::new();
    dead(&repo, JOB, &[], WORK);
    let path = record(&repo, JOB).join("task.md");
    let text = fs::read_to_string(&path).expect("it is there");
    fs::write(&path, format!("{text}And more.\n")).expect("it can be written");
    refused(&repo, &["task.md"]);
    fs::remove_file(&path).expect("it is there");
    refused(&repo, &["task.md"]);
}

#[test]
fn in_a_clone_that_was_moved() {
    let repo = Repo::new();
    dead(&repo, JOB, &[], WORK);
    let moved = repo.beside("elsewhere");
    fs::rename(&repo.root, &moved.root).expect("it can be moved");
    let before = all_bytes(&moved);
    let outcome = moved.agentgate(["resume", JOB]);
    outcome.expect(23, &["/repo, and this is", "elsewhere"]);
    unchanged(&before, &all_bytes(&moved), &outcome);
}

#[test]
fn written_by_another_version() {
    for fields in ["\"event\":\"job.paused\"", "\"event\":\"job.kept\",\"branch\":7"] {
        let repo = Repo::new();
        dead(&repo, JOB, &[], WORK);
        let log = record(&repo, JOB).join("events.jsonl");
        append(&repo, line(&log, fields).as_bytes());
        repo.tampered("a version that there is not wrote a line");
        refused(&repo, &["another version of agentgate"]);
    }
}

#[test]
fn damaged() {
    let repo = Repo::new();
    dead(&repo, JOB, &[], WORK);
    let log = record(&repo, JOB).join("events.jsonl");
    let text = fs::read_to_string(&log).expect("there is a log");
    fs::write(&log, text.replace("preflight.passed", "preflight.Passed")).expect("it can be written");
    // `--all` passes over what cannot be read; `status` tells it.
    let before = all_bytes(&repo);
    let outcome = repo.agentgate(["resume", JOB]);
    outcome.expect(23, &["damaged at line 3"]);
    unchanged(&before, &all_bytes(&repo), &outcome);
}

#[test]
fn given_up() {
    let repo = Repo::new();
    dead(&repo, JOB, &[], WORK);
    repo.agentgate(["drop", "--force", JOB]).success();
    let before = all_bytes(&repo);
    let outcome = repo.agentgate(["resume", JOB]);
    outcome.expect(23, &["j1 was dropped"]);
    unchanged(&before, &all_bytes(&repo), &outcome);
    repo.agentgate(["resume", "--all"]).expect(0, &["no job"]);
}

#[test]
fn with_another_agent_in_the_settings() {
    let repo = Repo::new();
    let program = repo.top().join("first");
    fs::write(&program, format!("#!/bin/sh\n{}\n", super::waiting(&repo, WORK))).expect("it can be written");
    repo.git(["update-index", "--refresh"]);
    let run = repo.program("chmod").args(["755".as_ref(), program.as_os_str()]);
    run.run().success();
    let task = repo.top().join("task.md");
    fs::write(&task, "Goal: x\n").expect("it can be written");
    let sign = crate::support::scene::worktree(&repo, JOB).join("at-work");
    let run = repo
        .command(["run", "--job-id", JOB, "../task.md"])
        .env("AGENT_CMD", &program);
    super::kill_while(&repo, JOB, run, || sign.exists());
    super::go(&repo);
    // The variable is part of what was asked; that of the moment does not count.
    let outcome = repo
        .command(["resume", JOB])
        .env("AGENT_CMD", "/bin/false")
        .run()
        .success();
    outcome.expect(0, &["AGENT_CMD"]);
}

#[test]
fn where_the_place_that_it_would_work_in_is_taken() {
    let repo = Repo::new();
    dead(&repo, JOB, &[], WORK);
    let taken = crate::support::scene::worktree(&repo, "j1~2");
    fs::create_dir(&taken).expect("it is new");
    fs::write(taken.join("mine.txt"), "mine\n").expect("it can be written");
    let before = all_bytes(&repo);
    let outcome = repo.agentgate(["resume", JOB]);
    outcome.expect(14, &["j1~2 exists already", "mv "]);
    unchanged(&before, &all_bytes(&repo), &outcome);
}

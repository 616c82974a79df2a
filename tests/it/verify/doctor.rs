//! `doctor --job`: a record that is damaged is explained.

use std::fs;

use super::kept;
use crate::support::jobs::{record, run_to};
use crate::support::program::Outcome;
use crate::support::repo::Repo;
use crate::support::scene;

#[track_caller]
fn doctor(repo: &Repo, id: &str, code: i32, texts: &[&str]) -> Outcome {
    let outcome = repo.agentgate(["doctor", "--job", id]);
    outcome.expect(code, texts);
    outcome
}

/// A kept job whose log is now this.
fn with_log(change: impl Fn(Vec<String>) -> String) -> Repo {
    let repo = kept();
    repo.tampered("the log is damaged");
    let path = record(&repo, "j1").join("events.jsonl");
    let text = fs::read_to_string(&path).expect("a log");
    let lines = text.lines().map(str::to_owned).collect();
    fs::write(&path, change(lines)).expect("it can be written");
    repo
}

#[test]
fn a_whole_record_can_be_used() {
    let repo = kept();
    doctor(
        &repo,
        "j1",
        0,
        &[
            "12 events, chained, without gaps; the last is job.kept",
            "nobody; the last was process ",
            "it is kept",
            "the record of job j1 can be used\n",
        ],
    );
    doctor(&repo, "j2", 23, &["there is no job j2"]);
    let report = repo.agentgate(["doctor", "--job", "j1", "--json"]).success().json();
    assert_eq!(report["job_id"], "j1");
}

#[test]
fn a_torn_tail_is_what_an_owner_sets_aside() {
    let repo = with_log(|lines| lines.join("\n") + "\n{\"v\":1,\"seq\":13,\"ep");
    doctor(
        &repo,
        "j1",
        0,
        &[
            "warn  log",
            "19 bytes behind it are a torn last line",
            "sets them aside as torn-13",
        ],
    );
    repo.agentgate(["verify", "j1"])
        .expect(25, &["ends in 19 bytes that are no event", "agentgate doctor --job j1"]);
    // And so it is.
    repo.agentgate(["land", "j1"]).success();
    let torn = fs::read_to_string(record(&repo, "j1").join("torn-13")).expect("it was set aside");
    assert_eq!(torn, "{\"v\":1,\"seq\":13,\"ep");
}

#[test]
fn a_line_of_garbage_is_named_with_what_is_around_it() {
    let repo = with_log(|mut lines| {
        lines[4] = "garbage".to_owned();
        lines.join("\n") + "\n"
    });
    doctor(
        &repo,
        "j1",
        23,
        &[
            "fail  log",
            "the event log is damaged at line 5: not a JSON object",
            "before it: 4 whole lines, up to event 4 (worktree.added)",
            "it is no event; 7 bytes",
            "behind it: 7 lines, of which 7 read as events, from event 6 (agent.confined) to event 12 (job.kept)",
            "cannot be used as it is (exit 23",
        ],
    );
    repo.agentgate(["land", "j1"])
        .expect(23, &["damaged at line 5", "nothing was changed"]);
}

#[test]
fn a_hole_and_a_foreign_line_are_refused() {
    let repo = with_log(|mut lines| {
        lines.remove(4);
        lines.join("\n") + "\n"
    });
    doctor(
        &repo,
        "j1",
        23,
        &[
            "damaged at line 5: its sum does not fit",
            "it reads as event 6 (agent.confined)",
        ],
    );
    let repo = with_log(|_| String::new());
    doctor(
        &repo,
        "j1",
        23,
        &[
            "events.jsonl is empty: the event log is damaged at line 1",
            "the job had begun",
            "agentgate drop --force j1",
        ],
    );
}

#[test]
fn a_record_that_was_copied_is_no_other_job() {
    let repo = kept();
    let copy = record(&repo, "j1").with_file_name("j9");
    fs::create_dir(&copy).expect("it is new");
    for entry in fs::read_dir(record(&repo, "j1")).expect("a record") {
        let path = entry.expect("an entry").path();
        fs::copy(&path, copy.join(path.file_name().expect("a name"))).expect("it can be copied");
    }
    doctor(
        &repo,
        "j9",
        23,
        &["line 1 is of job \"j1\", and the folder is that of \"j9\""],
    );
    doctor(&repo, "j1", 0, &["warn  copies", "readers and owners refuse them"]);
    for verb in ["land", "drop", "open", "log"] {
        repo.agentgate([verb, "j9"])
            .expect(23, &["it is of job \"j1\", and the folder is that of \"j9\""]);
    }
    repo.agentgate(["verify", "j9"])
        .expect(25, &["line 1 is of job \"j1\""]);
    repo.agentgate(["verify", "j1"]).expect(0, &[]);
    repo.tampered("there is a copy of the record");
    repo.agentgate(["drop", "j1"]).success();
}

#[test]
fn files_that_are_not_as_named_are_told() {
    let repo = kept();
    repo.tampered("files are changed");
    let folder = record(&repo, "j1");
    fs::remove_file(folder.join("gate.log")).expect("it is there");
    fs::write(folder.join("agent.log"), "other").expect("it can be written");
    fs::write(folder.join("more"), "x").expect("it can be written");
    doctor(
        &repo,
        "j1",
        0,
        &[
            "warn  files",
            "gate.log: No such file",
            "agent.log has 5 bytes, and the log says 0",
            "more is named by no event",
        ],
    );
    fs::remove_file(folder.join("owner.lock")).expect("it is there");
    doctor(
        &repo,
        "j1",
        23,
        &["owner.lock is not there: nobody can own the job", "touch "],
    );
}

#[test]
fn a_closing_report_that_is_missing_or_changed_is_told() {
    let repo = kept();
    doctor(&repo, "j1", 0, &["ok    files"]);
    repo.tampered("the report is changed");
    let report = record(&repo, "j1").join("report.json");
    let text = fs::read_to_string(&report).expect("it is there");
    fs::write(&report, text.replace("\"exit\": 0", "\"exit\": 3")).expect("it can be written");
    doctor(
        &repo,
        "j1",
        0,
        &[
            "warn  files",
            "report.json is not as the run wrote it",
            "agentgate verify j1",
        ],
    );
    fs::remove_file(&report).expect("it is there");
    doctor(
        &repo,
        "j1",
        0,
        &["warn  files", "report.json is not there, and its run had written it"],
    );
    // Given up or landed, it goes on from what the log names.
    let repo = kept();
    repo.agentgate(["land", "j1"]).success();
    doctor(&repo, "j1", 0, &["ok    files"]);
    repo.tampered("the report is gone");
    fs::remove_file(record(&repo, "j1").join("report.json")).expect("it is there");
    doctor(&repo, "j1", 0, &["warn  files", "report.json: No such file"]);
}

#[test]
fn who_has_a_job_and_that_it_died_is_told() {
    let repo = Repo::new();
    let mut running = scene::at_work(&repo, "j1", "true");
    let process = format!("process {} has it, in epoch 1", running.pid());
    doctor(&repo, "j1", 0, &[&process]);
    running.signal(15);
    assert_eq!(running.wait().code, 143);
    run_to(0, &repo, "j2", "echo 1 > payments/a.ts");
    let repo = Repo::new();
    scene::dead(&repo, "true");
    doctor(
        &repo,
        "j1",
        0,
        &[
            "warn  job",
            "it never finished, and its process is gone",
            "agentgate drop j1",
        ],
    );
}

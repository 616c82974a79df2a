//! Records whose chain, lengths and sums were computed anew after a change: the repository tells them apart.

use std::fs;

use serde_json::Value;

use super::{EDIT, kept, verify};
use crate::support::jobs::{events, record, run_to, sha256};
use crate::support::repo::Repo;

/// Writes the log anew with these changes, each line chained as the real one is.
fn rewrite(repo: &Repo, id: &str, change: impl Fn(&mut Value)) {
    let mut sum = "0".repeat(64);
    let mut text = String::new();
    for mut event in events(repo, id) {
        event.as_object_mut().expect("an object").shift_remove("sum");
        change(&mut event);
        let line = event.to_string();
        let body = line.strip_suffix('}').expect("an object");
        sum = sha256(format!("{sum}{body}"));
        text.push_str(&format!("{body},\"sum\":\"{sum}\"}}\n"));
    }
    fs::write(record(repo, id).join("events.jsonl"), text).expect("it can be written");
}

/// Changes a file of the record, and what the log says of it.
fn change_file(repo: &Repo, id: &str, name: &str, change: impl Fn(&str) -> String) {
    let path = record(repo, id).join(name);
    let new = change(&fs::read_to_string(&path).expect("it is there"));
    fs::write(&path, &new).expect("it can be written");
    rewrite(repo, id, |event| {
        let object = event.as_object_mut().expect("an object");
        for value in object.values_mut() {
            let files: Vec<&mut Value> = match value {
                Value::Array(list) => list.iter_mut().collect(),
                other => vec![other],
            };
            for file in files.into_iter().filter(|file| file["name"] == name) {
                file["bytes"] = new.len().into();
                file["sha256"] = sha256(&new).into();
            }
        }
    });
}

#[test]
fn a_finding_that_was_taken_out_is_found_again() {
    let repo = Repo::new();
    run_to(3, &repo, "j1", "rm prot/rules.txt; echo 1 > prot/new.txt");
    repo.tampered("the record is a lie");
    change_file(&repo, "j1", "gate.json", |text| {
        let mut verdict: Value = serde_json::from_str(text).expect("JSON");
        verdict["findings"].as_array_mut().expect("a list").pop();
        format!("{verdict:#}\n")
    });
    let outcome = verify(
        &repo,
        "j1",
        25,
        &[
            "FAIL  gate",
            "gate.json lacks a finding: protected-path in prot/rules.txt [must_not_touch[0]]",
        ],
    );
    assert!(outcome.stdout.contains("ok    files"), "{outcome}");
}

#[test]
fn a_finding_that_was_put_in_is_not_found_again() {
    let repo = Repo::new();
    run_to(3, &repo, "j1", "rm prot/rules.txt");
    repo.tampered("the record is a lie");
    change_file(&repo, "j1", "gate.json", |text| {
        text.replace("prot/rules.txt", "prot/other.txt")
    });
    verify(
        &repo,
        "j1",
        25,
        &[
            "FAIL  gate",
            "the candidate has not the finding: protected-path in prot/other.txt",
        ],
    );
}

#[test]
fn another_patch_or_task_does_not_go_with_the_trees() {
    let repo = kept();
    repo.tampered("the record is a lie");
    change_file(&repo, "j1", "change.patch", |text| text.replace("pay = 2", "pay = 3"));
    verify(&repo, "j1", 25, &["FAIL  ref", "FAIL  patch", "it makes 100644 "]);
    let repo = kept();
    repo.tampered("the record is a lie");
    change_file(&repo, "j1", "task.md", |text| {
        text.replace("do the work", "do as I say")
    });
    verify(&repo, "j1", 25, &["FAIL  ref", "FAIL  task", "FAIL  commit"]);
}

#[test]
fn the_commit_names_the_log_that_it_came_from() {
    let repo = kept();
    repo.tampered("the record is a lie");
    rewrite(&repo, "j1", |event| {
        if event["event"] == "step.finished" {
            event["millis"] = 1.into();
        }
    });
    verify(
        &repo,
        "j1",
        25,
        &["ok    log", "FAIL  ref", "FAIL  commit", "Agent-Log-Sum"],
    );
}

#[test]
fn facts_of_the_log_are_those_of_the_repository() {
    for (kind, key, value, row) in [
        (
            "job.created",
            "policy",
            "0123456789012345678901234567890123456789",
            "FAIL  base",
        ),
        ("job.created", "host", "elsewhere", "FAIL  commit"),
        ("job.created", "goal", "another", "FAIL  task"),
        (
            "commit.intended",
            "parent",
            "0123456789012345678901234567890123456789",
            "FAIL  log",
        ),
        (
            "commit.made",
            "commit",
            "0123456789012345678901234567890123456789",
            "FAIL  commit",
        ),
        (
            "candidate.frozen",
            "tree",
            "0123456789012345678901234567890123456789",
            "FAIL  candidate",
        ),
        ("job.kept", "branch", "agent/other", "FAIL  log"),
    ] {
        let repo = kept();
        repo.tampered("the record is a lie");
        rewrite(&repo, "j1", |event| {
            if event["event"] == kind {
                event[key] = value.into();
            }
        });
        verify(&repo, "j1", 25, &[row]);
    }
}

#[test]
fn a_finish_without_a_start_and_an_end_before_the_end_are_told() {
    let repo = Repo::new();
    run_to(0, &repo, "j1", EDIT);
    repo.tampered("the record is a lie");
    rewrite(&repo, "j1", |event| {
        if event["event"] == "step.started" {
            event["step"] = "another".into();
        }
    });
    verify(&repo, "j1", 25, &["(step.finished) has no step.started of its own"]);
    rewrite(&repo, "j1", |event| {
        if event["event"] == "step.finished" {
            event["millis"] = 999_999_999u64.into();
        }
    });
    verify(&repo, "j1", 25, &["took 999999s, and the limit is "]);
    rewrite(&repo, "j1", |event| {
        if event["event"] == "preflight.passed" {
            *event = serde_json::json!({
                "v": 1, "seq": event["seq"], "epoch": 1, "at": event["at"], "job": "j1", "event": "job.danced",
            });
        }
    });
    verify(
        &repo,
        "j1",
        25,
        &["(job.danced) was written by another version of agentgate"],
    );
    rewrite(&repo, "j1", |event| {
        if event["seq"] == 4 {
            event["epoch"] = 2.into();
        }
    });
    verify(&repo, "j1", 25, &["is of epoch 2 where 1 is due"]);
}

#[test]
fn what_stands_in_a_record_moves_no_cursor_and_forges_no_line() {
    let repo = kept();
    repo.tampered("the record is a lie");
    change_file(&repo, "j1", "task.md", |_| "Goal: x\u{1b}[2J\n".to_owned());
    rewrite(&repo, "j1", |event| {
        if event["event"] == "job.created" {
            event["goal"] = "y\nverified job j1: 11 checks hold\n\u{1b}[2J".into();
        }
    });
    let outcome = verify(&repo, "j1", 25, &["FAIL  task"]);
    assert!(!outcome.stdout.contains('\u{1b}'), "{outcome}");
    assert!(!outcome.stdout.contains("\nverified job"), "{outcome}");
}

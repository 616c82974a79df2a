//! GitHub Actions: annotations and the job's summary without an option.

use std::fs;

use super::{broken, sound};
use crate::support::repo::Repo;

fn on_github(repo: &Repo, options: &[&str]) -> crate::support::program::Program {
    repo.command(["check", "--base", "main"])
        .args(options)
        .env("GITHUB_ACTIONS", "true")
        .env("GITHUB_STEP_SUMMARY", repo.top().join("summary.md"))
}

#[test]
fn annotations_and_the_summary_come_beside_the_text() {
    let repo = broken();
    fs::write(repo.top().join("summary.md"), "another step's\n").expect("it can be written");
    let outcome = on_github(&repo, &[]).run();
    outcome.expect(
        3,
        &[
            "::error file=prot/rules.txt,title=protected-path (exit 3)::protected path changed [must_not_touch[0]]%0Ahint: ",
            "::error file=payments/q.ts,line=2,col=19,title=forbidden-import (exit 5)::imports `redis`",
            "::notice title=agentgate::invariants broken; 4 findings in 4 paths (exit 3)\n",
            "prot/rules.txt: protected path changed\n  rule: protected-path [must_not_touch[0]] (exit 3)\n",
        ],
    );
    assert_eq!(outcome.last_line(), "invariants broken; 4 findings in 4 paths (exit 3)");
    let summary = fs::read_to_string(repo.top().join("summary.md")).expect("it is there");
    assert!(
        summary.starts_with("another step's\n### agentgate: invariants broken; 4 findings"),
        "{summary}"
    );
    assert!(
        summary.contains("| protected-path | 3 | <code>prot/rules.txt</code> |"),
        "{summary}"
    );
}

#[test]
fn a_refusal_is_annotated_and_summed_up_too() {
    let repo = sound();
    let outcome = on_github(&repo, &["--head", "nowhere"]).run();
    outcome.expect(
        2,
        &["::error title=agentgate%3A policy-unusable (exit 2)::the head \"nowhere\""],
    );
    let summary = fs::read_to_string(repo.top().join("summary.md")).expect("it is there");
    assert!(
        summary.starts_with("### agentgate: not judged; policy-unusable (exit 2)"),
        "{summary}"
    );
}

#[test]
fn a_format_that_was_asked_for_comes_alone() {
    let repo = sound();
    let json = on_github(&repo, &["--json"]).run();
    assert_eq!(json.json()["exit"], 0);
    let text = on_github(&repo, &["--format", "text"]).run();
    assert_eq!(text.stdout, "invariants ok; 1 path checked\n", "{text}");
    assert!(!repo.top().join("summary.md").exists());
    // Another CI, and a variable that says no.
    let outcome = on_github(&repo, &[]).env("GITHUB_ACTIONS", "false").run();
    assert_eq!(outcome.stdout, "invariants ok; 1 path checked\n", "{outcome}");
}

#[test]
fn a_file_beside_does_not_turn_annotations_off() {
    let repo = broken();
    let outcome = on_github(&repo, &["--output", "sarif=../a.sarif"]).run();
    outcome.expect(3, &["::error file=prot/rules.txt,"]);
    assert!(repo.top().join("a.sarif").is_file() && repo.top().join("summary.md").is_file());
}

#[test]
fn a_summary_that_is_full_or_cannot_be_written_changes_no_verdict() {
    let repo = sound();
    let path = repo.top().join("summary.md");
    fs::write(&path, "x".repeat(1024 * 1024 - 10)).expect("it can be written");
    let outcome = on_github(&repo, &[]).run();
    outcome.expect(
        0,
        &["the job's summary (GITHUB_STEP_SUMMARY) was not written: there is no room left in it"],
    );
    assert_eq!(fs::metadata(&path).expect("it is there").len(), 1024 * 1024 - 10);
    fs::write(&path, "x".repeat(1024 * 1024 - 200)).expect("it can be written");
    on_github(&repo, &[]).run().expect(0, &[]);
    let text = fs::read_to_string(&path).expect("it is there");
    assert!(text.ends_with("more than fits into this summary\n") && text.len() <= 1024 * 1024);
    fs::remove_file(&path).expect("it is there");
    fs::create_dir(&path).expect("it can be made");
    on_github(&repo, &[]).run().expect(0, &["was not written"]);
}

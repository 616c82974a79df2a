//! `agentgate trailers` on real repositories.

use crate::support::repo::{Repo, TRAILERS};

fn message(body: &str) -> String {
    format!("agent job j1: retry\n\n{body}")
}

/// A repository whose HEAD has this message.
fn with(message: &str) -> Repo {
    let repo = Repo::new();
    repo.commit(message);
    repo
}

#[test]
fn valid_trailers_are_shown() {
    let repo = with(&message(TRAILERS));
    let outcome = repo.agentgate(["trailers", "HEAD"]);
    let line = format!("{} ok job=j1 host=local model=unspecified\n", repo.id("HEAD"));
    outcome.expect(0, &[&line]);
    assert_eq!(outcome.last_line(), "trailers ok; 1 agent commit", "{outcome}");
}

#[test]
fn a_missing_trailer_is_11() {
    let repo = with(&message("Agent-Job-Id: j1\nAgent-Model-Label: m\n"));
    let text = format!("{} Agent-Host is missing from the last paragraph", repo.id("HEAD"));
    repo.agentgate(["trailers", "HEAD"])
        .expect(11, &[&text, "trailers broken; 1 of 1"]);
}

#[test]
fn a_single_revision_means_that_commit_alone() {
    let repo = with("agent job j1: nothing\n");
    repo.commit("by a person");
    repo.agentgate(["trailers", "HEAD"])
        .expect(0, &["trailers ok; no agent commit among 1"]);
    repo.agentgate(["trailers", "HEAD~1"]).expect(11, &[]);
}

#[test]
fn a_range_leaves_out_what_the_left_side_has() {
    let repo = with("agent job old: nothing\n");
    repo.branch("f");
    repo.commit(&message(TRAILERS));
    repo.commit("by a person");
    repo.agentgate(["trailers", "main..f"])
        .expect(0, &["ok job=j1", "trailers ok; 1 agent commit"]);
    repo.agentgate(["trailers", "main...f"]).expect(0, &["ok job=j1"]);
    repo.agentgate(["trailers", "main.."]).expect(0, &["ok job=j1"]);
}

#[test]
fn an_empty_range_is_said_to_be_empty() {
    let repo = Repo::new();
    repo.agentgate(["trailers", "HEAD..HEAD"])
        .expect(0, &["trailers ok; HEAD..HEAD is empty: no commit was looked at"]);
}

#[test]
fn what_names_no_commit_is_2() {
    let repo = Repo::new();
    for range in ["nothing", "nothing..HEAD", "HEAD..nothing", "..HEAD", "HEAD:prot"] {
        repo.agentgate(["trailers", range])
            .expect(2, &["names no commit of this clone"]);
    }
    repo.agentgate(["trailers", "--", "--all"])
        .expect(2, &["\"--all\" in \"--all\" names no commit"]);
}

#[test]
fn a_divider_in_the_body_does_not_hide_trailers() {
    let repo = with(&message(&format!("Why\n---\nBecause\n------\n\n{TRAILERS}")));
    repo.agentgate(["trailers", "HEAD"]).expect(0, &["ok job=j1"]);
}

#[test]
fn of_glued_messages_only_the_last_counts() {
    let one =
        |job: &str| format!("agent job {job}: a\n\nAgent-Job-Id: {job}\nAgent-Host: local\nAgent-Model-Label: m\n\n");
    let repo = with(&[one("j1"), one("j2"), one("j3")].concat());
    repo.agentgate(["trailers", "HEAD"]).expect(
        11,
        &["jobs j1, j2 are named outside the last paragraph (a squash merge?)"],
    );
}

#[test]
fn a_persons_settings_change_nothing() {
    let repo = with(&message(TRAILERS));
    for (key, value) in [
        ("log.showSignature", "true"),
        ("trailer.separators", "="),
        ("core.commentChar", "A"),
        ("log.mailmap", "true"),
        ("format.pretty", "oneline"),
        ("log.decorate", "full"),
        ("log.showNotes", "true"),
        ("color.ui", "always"),
        ("i18n.logOutputEncoding", "UTF-16"),
    ] {
        repo.git(["config", key, value]);
        repo.agentgate(["trailers", "HEAD"]).expect(0, &["ok job=j1"]);
    }
}

#[test]
fn replaced_commits_do_not_count() {
    let repo = with("agent job j1: nothing\n");
    let bad = repo.id("HEAD");
    repo.git(["commit", "--quiet", "--amend", "--allow-empty", "-m", "by a person"]);
    let good = repo.id("HEAD");
    repo.git(["reset", "--quiet", "--hard", &bad]);
    repo.git(["replace", &bad, &good]);
    repo.agentgate(["trailers", "HEAD"])
        .expect(11, &["Agent-Job-Id is missing"]);
}

#[test]
fn what_stands_after_a_nul_byte_is_read_too() {
    let repo = Repo::new();
    let tree = repo.git(["rev-parse", "HEAD^{tree}"]);
    let raw = format!("tree {tree}\nauthor A <a@b> 1 +0000\ncommitter A <a@b> 1 +0000\n\nhuman\n\0\n{TRAILERS}");
    let id = repo
        .program("git")
        .args(["hash-object", "-t", "commit", "-w", "--stdin", "--literally"])
        .stdin(raw)
        .run()
        .success();
    repo.agentgate(["trailers", id.stdout.trim()])
        .expect(11, &["is missing from the last paragraph"]);
}

#[test]
fn json_names_the_faults() {
    let repo = with("agent job j1: nothing\n");
    let json = repo.agentgate(["trailers", "HEAD", "--json"]).json();
    assert_eq!(json["exit"], 11, "{json}");
    let row = &json["agent_commits"][0];
    assert_eq!(row["subject"], "agent job j1: nothing", "{json}");
    assert_eq!(row["faults"].as_array().map(Vec::len), Some(3), "{json}");
}

#[test]
fn carriage_returns_are_faults() {
    let repo = Repo::new();
    let raw = message(TRAILERS).replace('\n', "\r\n");
    let commit = ["commit", "--quiet", "--allow-empty", "--cleanup=verbatim", "-F", "-"];
    repo.program("git").args(commit).stdin(raw).run().success();
    repo.agentgate(["trailers", "HEAD"])
        .expect(11, &["`Agent-Host` ends in a carriage return"]);
}

#[test]
fn a_hidden_subject_is_an_agents() {
    for before in [" ", "\t", "\u{200b}"] {
        let repo = Repo::new();
        let commit = ["commit", "--quiet", "--allow-empty", "--cleanup=verbatim", "-F", "-"];
        let raw = format!("{before}agent job j1: x\n");
        repo.program("git").args(commit).stdin(raw).run().success();
        repo.agentgate(["trailers", "HEAD"])
            .expect(11, &["Agent-Job-Id is missing"]);
    }
}

//! What a finding is about, where that is no file, and texts that a reader takes for what they are.

use std::time::{SystemTime, UNIX_EPOCH};

use super::{ALL, check};
use crate::support::repo::{POLICY, Repo};

/// A branch that is over both limits of the whole change and breaks nothing else.
fn too_large() -> Repo {
    let repo = Repo::new();
    repo.change(
        "architecture/invariants.yml",
        &format!("{POLICY}max_changed_files: 1\nmax_changed_lines: 1\n"),
    );
    repo.branch("f");
    repo.write("payments/a.ts", "export {};\n");
    repo.write("payments/b.ts", "export {};\n");
    repo.commit("too much");
    repo
}

#[test]
fn the_summary_counts_no_path_where_there_is_none() {
    let repo = too_large();
    let last = |repo: &Repo| check(repo, "text").last_line().to_owned();
    assert_eq!(
        last(&repo),
        "invariants broken; 2 findings in the whole change (exit 7)"
    );
    repo.change("prot/rules.txt", "none\n");
    assert_eq!(
        last(&repo),
        "invariants broken; 3 findings in 1 path and the whole change (exit 3)"
    );
    repo.commit("agent job j1: x\n\nAgent-Job-Id: j1\nAgent-Host: h\n");
    assert_eq!(
        last(&repo),
        "invariants broken; 4 findings in 1 path, 1 commit and the whole change (exit 3)"
    );
}

#[test]
fn every_format_says_what_a_finding_without_a_path_is_about() {
    let repo = too_large();
    for format in ALL {
        let outcome = check(&repo, format);
        let told = match format {
            "json" => continue,
            "github" => "::error title=too-large (exit 7)::whole change: 2 files changed, more than 1",
            "junit" => "name=\"max_changed_files: whole change\" time=\"0\">",
            "markdown" => "| too-large | 7 | <code>whole change</code> | ",
            _ => "whole change: 2 files changed, more than 1",
        };
        assert!(outcome.stdout.contains(told), "{format}: {outcome}");
        assert!(!outcome.stdout.contains("<code></code>"), "{format}: {outcome}");
    }
}

#[test]
fn a_refusal_has_the_time_of_the_run() {
    let repo = Repo::new();
    let now = || {
        SystemTime::now()
            .duration_since(UNIX_EPOCH)
            .expect("after 1970")
            .as_secs()
    };
    let before = now();
    let outcome = repo.agentgate(["check", "--base", "nowhere", "--format", "junit"]);
    let after = now();
    let stamp = outcome
        .stdout
        .split("timestamp=\"")
        .nth(1)
        .and_then(|rest| rest.split('"').next());
    let stamp: jiff::Timestamp = format!("{}Z", stamp.expect("a timestamp")).parse().expect("a time");
    let at = u64::try_from(stamp.as_second()).expect("after 1970");
    assert!((before..=after).contains(&at), "{before} {at} {after}\n{outcome}");
}

#[test]
fn sarif_names_no_repository_by_a_path_that_is_no_uri() {
    let repo = too_large();
    repo.git(["remote", "add", "origin", "../origin.git"]);
    let outcome = check(&repo, "sarif");
    assert!(!outcome.stdout.contains("origin.git"), "{outcome}");
    let run = &outcome.json()["runs"][0];
    assert!(run.get("versionControlProvenance").is_none(), "{run:#}");
    // What was judged is said all the same.
    assert_eq!(run["properties"]["head"], repo.id("f"), "{run:#}");
}

#[test]
fn quotes_of_an_import_are_shown_as_they_stand_in_the_file() {
    let repo = Repo::new();
    repo.branch("f");
    repo.change("payments/a.c", "#include \"redis/config.h\"\n");
    for format in ALL {
        let outcome = check(&repo, format);
        let told = match format {
            "json" | "sarif" | "gitlab" => "imports `\\\"redis/config.h\\\"`",
            "junit" => "imports `&quot;redis/config.h&quot;`",
            "markdown" => "imports &#96;&#34;redis/config.h&#34;&#96;",
            _ => "imports `\"redis/config.h\"`",
        };
        outcome.expect(5, &[told]);
    }
    // Control characters stay escaped.
    repo.change("payments/a.c", "#include \"redis/\u{1b}[2J.h\"\n");
    let outcome = check(&repo, "text");
    outcome.expect(5, &["redis/\\u{1b}[2J.h"]);
    assert!(!outcome.stdout.contains('\u{1b}'), "{outcome}");
}

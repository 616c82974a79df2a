//! What a run says at its start and its end: who decided what, and what to do about a failure.

use std::fs;

use super::support::jobs::{job, jobs_root, run_to, task};
use super::support::repo::Repo;
use super::support::scene;

const SETTINGS: &str = "architecture/agentgate.yml";
const EDIT: &str = "echo 'export const pay = 2;' > payments/pay.ts";

/// The line that is said when the agent starts.
#[track_caller]
fn banner(stderr: &str) -> &str {
    let mut lines = stderr.lines().filter(|line| line.starts_with("agentgate: agent "));
    lines.next().unwrap_or_else(|| panic!("no banner in {stderr}"))
}

#[test]
fn the_banner_says_where_the_agent_and_its_limits_came_from() {
    let repo = Repo::new();
    let outcome = run_to(0, &repo, "j1", EDIT);
    let line = banner(&outcome.stderr);
    assert!(
        line.starts_with("agentgate: agent sh, from the command line (limit 1h, "),
        "{line}"
    );

    let path = task(&repo, "Goal: x\nTimeout: 20m\n");
    let args = ["run", "--idle-timeout", "5m"];
    let outcome = repo.command(args).args([&path]).env("AGENT_CMD", "true").run();
    let line = banner(&outcome.stderr);
    assert!(
        line.starts_with(
            "agentgate: agent true, from AGENT_CMD (limit 20m by the task, idle limit 5m by --idle-timeout, "
        ),
        "{line}"
    );

    repo.change(SETTINGS, "agents: {implementer: {command: 'true', timeout: 30m}}\n");
    let path = task(&repo, "Goal: x\n");
    let outcome = repo.command(["run"]).args([&path]).run();
    let line = banner(&outcome.stderr);
    let start = format!("agentgate: agent true, from {SETTINGS} (limit 30m by {SETTINGS}, ");
    assert!(line.starts_with(&start), "{line}");
    let outcome = repo.command(["run", "--timeout", "9m"]).args([&path]).run();
    assert!(outcome.stderr.contains("(limit 9m by --timeout, "), "{outcome}");
}

#[test]
fn what_the_person_narrowed_stands_in_the_banner_and_the_summary_and_not_in_the_trailer() {
    let repo = Repo::new();
    let hidden = repo.top().join("hidden");
    fs::create_dir(&hidden).expect("it is new");
    let hide = hidden.to_str().expect("text");
    let options = ["--confinement", "strict", "--network", "deny-tcp", "--hide", hide];
    let outcome = job(&repo, "j1", &options, EDIT).run().success();
    let words = format!(", strict, deny-tcp, hidden {hide}");
    let line = banner(&outcome.stderr);
    assert!(line.ends_with(&format!("{words})")), "{line}");
    let summary = format!("{words}; not covered: ");
    assert!(
        outcome
            .stderr
            .lines()
            .any(|line| line.starts_with("agentgate: confinement ") && line.contains(&summary)),
        "{outcome}"
    );
    let trailer = repo.git(["log", "-1", "--format=%(trailers:key=Agent-Confinement)", "agent/j1"]);
    assert!(!trailer.contains("strict") && !trailer.contains("deny"), "{trailer}");
}

#[test]
fn an_agent_that_met_the_walls_is_told_where_it_may_write() {
    let repo = Repo::new();
    for (id, code, agent) in [
        ("gives-up", 16, "echo x > \"$MAIN/evil\" || exit 1"),
        ("goes-on", 15, "(echo x > \"$MAIN/evil\"); true"),
    ] {
        let outcome = job(&repo, id, &[], agent).env("MAIN", &repo.root).run();
        let worktree = jobs_root(&repo).join(id).display().to_string();
        outcome.expect(
            code,
            &[
                "its last words:\n",
                "the confinement refuses all writes outside of the worktree and $TMPDIR; it may write in ",
                &worktree,
            ],
        );
    }
    let outcome = run_to(15, &repo, "idle", "echo nothing to do");
    assert!(!outcome.stderr.contains("refuses all writes"), "{outcome}");
    let outcome = job(
        &repo,
        "open",
        &["--confinement", "off"],
        "echo Permission denied; exit 1",
    )
    .run();
    outcome.expect(16, &[]);
    assert!(!outcome.stderr.contains("refuses all writes"), "{outcome}");
}

#[test]
fn a_limit_that_ended_a_job_is_named_with_its_origin_and_how_to_raise_it() {
    let repo = Repo::new();
    let outcome = job(&repo, "j1", &["--timeout", "1s"], "sleep 60").run();
    outcome.expect(
        17,
        &[
            "the agent ran past its limit of 1s and was ended (exit 17",
            "note: the limit, 1s, came from --timeout; to raise it: --timeout, `Timeout:` in the task, or `timeout`",
        ],
    );
    repo.change(SETTINGS, "agents: {implementer: {idle_timeout: 1s}}\n");
    let outcome = job(&repo, "j2", &[], "sleep 60").run();
    let told = format!("note: the limit of silence, 1s, came from {SETTINGS}; to raise it: --idle-timeout");
    outcome.expect(17, &["the agent said nothing for 1s", &told]);
    repo.change(SETTINGS, "setup: [sleep 60]\n");
    let outcome = job(&repo, "j3", &["--timeout", "1s"], "true").run();
    outcome.expect(17, &["note: the limit, 1s, came from --timeout"]);
}

#[test]
fn an_agent_that_is_not_executable_is_told_the_command() {
    let repo = Repo::new();
    let path = task(&repo, "Goal: x\n");
    repo.change("agent.sh", "#!/bin/sh\n");
    let outcome = repo.command(["run"]).args([&path]).args(["--", "./agent.sh"]).run();
    outcome.expect(
        16,
        &["is not executable", "make it executable: chmod +x /", "/agent.sh\n"],
    );
    assert!(!outcome.stderr.contains("is it installed"), "{outcome}");
}

#[test]
fn a_dead_job_that_was_dropped_is_not_offered_to_be_dropped() {
    let repo = Repo::new();
    scene::dead(&repo, "true");
    repo.agentgate(["status"])
        .expect(0, &["agentgate drop removes what it left"]);
    repo.agentgate(["drop", "--force", scene::JOB]).success();
    let outcome = repo.agentgate(["status"]).success();
    assert!(!outcome.stdout.contains("agentgate drop"), "{outcome}");
    assert!(outcome.stdout.contains("dropped"), "{outcome}");
}

#[test]
fn a_new_policy_is_to_be_committed_and_not_stashed_away() {
    let repo = Repo::new();
    repo.git(["rm", "--quiet", "architecture/invariants.yml"]);
    repo.commit("none");
    repo.write("architecture/invariants.yml", "version: 1\nunmapped: deny\n");
    let outcome = repo.agentgate(["preflight"]);
    outcome.expect(12, &["git add architecture/invariants.yml && git commit"]);
    assert!(!outcome.stderr.contains("stash"), "{outcome}");
}

#[test]
fn the_log_is_aligned() {
    let repo = Repo::new();
    run_to(0, &repo, "j1", EDIT);
    let outcome = repo.agentgate(["log", "j1"]).success();
    let mut lines = outcome.stdout.lines().filter(|line| !line.starts_with("       "));
    assert!(lines.all(|line| line.chars().nth(28) == Some('Z')), "{outcome}");
}

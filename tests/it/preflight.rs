//! `agentgate preflight`: it ends with what `run` would end with, in the same words, and makes nothing.

use std::fs;

use super::support::jobs::jobs_root;
use super::support::program::Outcome;
use super::support::repo::Repo;
use super::support::scene;

const SETTINGS: &str = "architecture/agentgate.yml";

/// What stands on standard error, without the name of what said it.
fn said(outcome: &Outcome) -> Vec<&str> {
    outcome.stderr.lines().collect()
}

/// A plain run and a preflight end alike, and neither leaves anything.
#[track_caller]
fn alike(repo: &Repo, code: i32, texts: &[&str]) {
    let before = scene::tree(&repo.top());
    let preflight = repo.agentgate(["preflight", "--task", "TASK.md"]);
    assert_eq!(scene::tree(&repo.top()), before);
    preflight.expect(code, texts);
    assert_eq!(preflight.stdout, "", "{preflight}");
    let run = repo.agentgate(["run", "TASK.md"]);
    assert_eq!(run.code, code, "{run}");
    assert_eq!(said(&run), said(&preflight));
    assert!(!jobs_root(repo).exists());
}

fn scene() -> Repo {
    let repo = Repo::new();
    repo.change("TASK.md", "Goal: do the work\n");
    repo
}

#[test]
fn a_policy_or_settings_that_cannot_be_used_are_2() {
    let repo = scene();
    repo.change(SETTINGS, "hide: [~/x]\n");
    alike(&repo, 2, &["architecture/agentgate.yml:1:1", "hide"]);
    repo.change("architecture/invariants.yml", "version: 1\nunmaped: deny\n");
    alike(&repo, 2, &["no usable policy in base", "unmaped"]);
    repo.remove("architecture/invariants.yml");
    repo.commit("no policy");
    alike(&repo, 2, &["no usable policy in base", "invariants.yml"]);
}

#[test]
fn what_run_alone_would_waive_is_said_with_its_command() {
    let repo = scene();
    repo.write("stray.txt", "x\n");
    repo.agentgate(["preflight", "--task", "TASK.md"])
        .expect(12, &["as it is: agentgate run --allow-dirty (recorded"]);
    repo.agentgate(["doctor"])
        .expect(0, &["as it is: agentgate run --allow-dirty (recorded"]);
}

#[test]
fn a_task_that_names_an_unknown_area_counts_with_it_alone() {
    let repo = scene();
    repo.change("TASK.md", "Goal: do the work\nAreas: nowhere\n");
    repo.change(SETTINGS, "agents: {implementer: {command: cat}}\n");
    alike(&repo, 22, &["nowhere"]);
    repo.agentgate(["preflight"]).success();
}

#[test]
fn a_configured_agent_that_cannot_start_is_16_or_64() {
    let repo = scene();
    repo.change(SETTINGS, "agents: {implementer: {command: nope-agent}}\n");
    alike(&repo, 16, &["agent command not found: nope-agent", "is it installed"]);
    repo.change(SETTINGS, "agents: {implementer: {command: ./plain.sh}}\n");
    repo.change("plain.sh", "#!/bin/sh\n");
    alike(&repo, 16, &["is not executable", "make it executable: chmod +x "]);
    repo.change(SETTINGS, "agents: {implementer: {profile: claude}}\n");
    alike(&repo, 64, &["claude must be told its model"]);
}

#[test]
fn agent_cmd_goes_before_the_settings() {
    let repo = scene();
    repo.change(SETTINGS, "agents: {implementer: {command: nope-agent}}\n");
    repo.command(["preflight"]).env("AGENT_CMD", "cat").run().success();
    repo.command(["preflight"])
        .env("AGENT_CMD", "other-agent")
        .run()
        .expect(16, &["agent command not found: other-agent"]);
}

#[test]
fn what_copy_names_wrongly_is_64_also_where_no_agent_is_named() {
    let repo = scene();
    repo.change(".gitignore", "target\n");
    repo.change(SETTINGS, "copy: [.gitignore]\n");
    let preflight = repo.agentgate(["preflight"]);
    preflight.expect(64, &["copy: `.gitignore` is in the base"]);
    let run = repo.agentgate(["run", "TASK.md", "--", "true"]);
    assert_eq!((run.code, &run.stderr), (64, &preflight.stderr));
    repo.agentgate(["doctor"]).expect(64, &["fail  copy", ".gitignore"]);
}

#[test]
fn a_missing_identity_and_a_branch_in_the_way_count_and_dirt_counts_first() {
    let repo = scene();
    repo.change(SETTINGS, "agents: {implementer: {command: cat}}\n");
    repo.git(["branch", "agent"]);
    repo.agentgate(["preflight"])
        .expect(14, &["a branch named agent exists", "git branch -m agent"]);
    repo.git(["config", "--global", "--unset", "user.email"]);
    alike(&repo, 64, &["user.email"]);
    repo.write("dirt.txt", "x\n");
    repo.agentgate(["preflight"]).expect(12, &["?? dirt.txt"]);
}

#[test]
fn a_lock_that_no_job_holds_is_told_as_what_it_is() {
    let repo = scene();
    let path = repo.root.join(".git/agent-jobs.lock");
    let file = fs::File::create(&path).expect("it can be made");
    file.lock().expect("it is free");
    let told = format!("another process holds {}", path.display());
    repo.agentgate(["preflight"])
        .expect(0, &["preflight_ok head=", &told, "another job would end with 13"]);
    repo.agentgate(["status"]).expect(0, &[&told]);
    repo.agentgate(["doctor"]).expect(0, &[&told, "fuser -v"]);
    let outcome = repo.agentgate(["run", "TASK.md", "--", "true"]);
    outcome.expect(13, &[&told, "it is no job of agentgate; fuser -v"]);
    assert!(!outcome.stderr.contains("agentgate status"), "{outcome}");
}

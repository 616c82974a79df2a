//! `agentgate doctor`: what it finds, what it proves, and that nothing of it stays.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use serde_json::Value;

use super::support::program::Outcome;
use super::support::repo::Repo;
use super::support::scene;

/// The check of this name in `doctor --json`; the last one where there are several.
#[track_caller]
fn check(outcome: &Outcome, name: &str) -> Value {
    let json = outcome.json();
    let checks = json["checks"].as_array().expect("a list of checks");
    let found = checks.iter().rfind(|check| check["name"] == name);
    found.unwrap_or_else(|| panic!("no check {name} in\n{outcome}")).clone()
}

#[track_caller]
fn is(outcome: &Outcome, name: &str, state: &str, words: &str) {
    let check = check(outcome, name);
    assert_eq!(check["state"], state, "{outcome}");
    let text = format!("{} {}", check["text"], check["hints"]);
    assert!(text.contains(words), "{words:?} is not in {text}\n{outcome}");
}

fn program(path: &Path, text: &str) {
    fs::create_dir_all(path.parent().expect("it has a folder")).expect("folders can be made");
    fs::write(path, text).expect("it can be written");
    fs::set_permissions(path, fs::Permissions::from_mode(0o755)).expect("it is ours");
}

#[test]
fn a_clone_in_which_a_job_can_run_is_0_and_nothing_of_the_doctor_stays() {
    let repo = Repo::new();
    let before = scene::tree(&repo.top());
    let outcome = repo.agentgate(["doctor"]);
    assert_eq!(outcome.code, 0, "{outcome}");
    assert_eq!(outcome.last_line(), "a job can run here", "{outcome}");
    for line in [
        "ok    git",
        "ok    policy",
        "ok    confinement",
        "ok    proof",
        "ok    lock",
        "ok    identity",
    ] {
        assert!(
            outcome.stdout.lines().any(|found| found.starts_with(line)),
            "{line}\n{outcome}"
        );
    }
    assert_eq!(scene::tree(&repo.top()), before);
    assert!(!scene::jobs(&repo).exists(), "{outcome}");

    let outcome = repo.agentgate(["doctor", "--json"]).success();
    let json = outcome.json();
    assert_eq!(json["schema"], "agentgate/doctor/1");
    assert_eq!(
        (&json["exit"], &json["verdict"]),
        (&0.into(), &"ok".into()),
        "{outcome}"
    );
    let tier = json["tier"].as_str().expect("there is a tier");
    is(&outcome, "confinement", "ok", tier);
    is(&outcome, "proof", "ok", "could write inside");
    is(&outcome, "lock", "ok", "a second process was refused");
    is(&outcome, "checkout", "ok", "clean");
    assert!(
        json["not_covered"].as_array().is_some_and(|open| !open.is_empty()),
        "{outcome}"
    );
}

#[test]
fn the_tier_is_the_one_that_a_job_then_has() {
    let repo = Repo::new();
    let tier = repo.agentgate(["doctor", "--json"]).success().json()["tier"].clone();
    let outcome = scene::kept(&repo, scene::AGENT);
    let confined = scene::events(&repo, scene::JOB)
        .into_iter()
        .find(|event| event["event"] == "agent.confined");
    assert_eq!(confined.expect("it was confined")["tier"], tier, "{outcome}");
}

#[test]
fn the_child_of_the_proof_can_do_all_of_it_without_walls() {
    let repo = Repo::new();
    let file = repo.top().join("canary");
    fs::write(&file, "canary").expect("it can be written");
    let word = |letter: &str, path: &Path| format!("{letter}{}", path.display());
    let outcome = repo
        .command(["__try-writes"])
        .args([
            word("c", &repo.top().join("new")),
            word("a", &file),
            word("t", &file),
            word("r", &file),
            word("m", &file),
            word("d", &file),
            word("d", &file),
        ])
        .run()
        .success();
    assert_eq!(outcome.stdout, "ok\nok\nok\nok\nok\nok\n2\n", "{outcome}");
}

#[test]
fn outside_of_a_repository_it_says_so_and_looks_at_the_rest() {
    let repo = Repo::new();
    let outside = repo.top().join("outside");
    fs::create_dir(&outside).expect("it is new");
    let outcome = repo.command(["doctor", "--json"]).cwd(&outside).run();
    assert_eq!(outcome.code, 2, "{outcome}");
    is(&outcome, "repository", "fail", "is not in a git repository");
    is(&outcome, "proof", "ok", "could write inside");
    assert_eq!(fs::read_dir(&outside).expect("it is there").count(), 0);
}

#[test]
fn the_exit_is_the_one_that_a_run_would_end_with() {
    let repo = Repo::new();
    repo.git(["config", "--global", "--unset", "user.email"]);
    let outcome = repo.agentgate(["doctor"]);
    outcome.expect(
        64,
        &[
            "fail  identity",
            "-> git config --global user.email",
            "(exit 64, usage)",
        ],
    );
    repo.remove("architecture/invariants.yml");
    repo.git(["-c", "user.email=a@b", "commit", "--quiet", "-am", "no policy"]);
    // The policy comes first in a run too.
    let outcome = repo.agentgate(["doctor", "--json"]);
    assert_eq!(outcome.code, 2, "{outcome}");
    is(&outcome, "policy", "fail", "init");
    is(&outcome, "identity", "fail", "user.name");

    let empty = Repo::empty();
    let outcome = empty.agentgate(["doctor", "--json"]);
    assert_eq!(outcome.code, 2, "{outcome}");
    is(&outcome, "base", "fail", "no commit yet");
}

#[test]
fn the_persons_settings_hold_for_it_too() {
    let repo = Repo::new();
    let config = repo.home().join(".config/agentgate/config.yml");
    fs::create_dir_all(config.parent().expect("it has a folder")).expect("folders can be made");
    fs::write(&config, "confinement: off\n").expect("it can be written");
    let outcome = repo.agentgate(["doctor", "--json"]).success();
    is(&outcome, "confinement", "warn", "off, by ");
    assert_eq!(outcome.json()["tier"], "unconfined", "{outcome}");
    fs::write(&config, "confinement: strict\nworktree_root: ~/trees\n").expect("it can be written");
    let outcome = repo.agentgate(["doctor", "--json"]).success();
    is(&outcome, "proof", "ok", "could write inside");
    is(&outcome, "worktree root", "ok", "home/trees/repo-");
    fs::write(&config, "confinment: on\n").expect("it can be written");
    let outcome = repo.agentgate(["doctor", "--json"]);
    assert_eq!(outcome.code, 64, "{outcome}");
    is(&outcome, "your settings", "fail", "did you mean `confinement`?");
}

#[test]
fn a_git_that_is_too_old_is_64_and_a_second_one_is_told() {
    let repo = Repo::new();
    let old = repo.top().join("old");
    program(&old.join("git"), "#!/bin/sh\necho git version 2.20.1\n");
    let outcome = repo.command(["doctor", "--json"]).env("PATH", &old).run();
    assert_eq!(outcome.code, 64, "{outcome}");
    is(&outcome, "git", "fail", "2.20.1");
    let path = std::env::join_paths([old].into_iter().chain(std::env::split_paths(
        &std::env::var_os("PATH").expect("there is a PATH"),
    )));
    let outcome = repo
        .command(["doctor", "--json"])
        .env("PATH", path.expect("it can be joined"))
        .run();
    assert_eq!(outcome.code, 0, "{outcome}");
    is(&outcome, "git", "warn", "old/git (2.20.1)");
}

#[test]
fn what_the_clones_configuration_has_git_run_is_told() {
    let repo = Repo::new();
    let outcome = repo.agentgate(["doctor", "--json"]).success();
    is(&outcome, "hooks", "ok", "none");
    is(&outcome, "fsmonitor", "ok", "off");
    program(&repo.root.join(".git/hooks/pre-commit"), "#!/bin/sh\n");
    repo.git(["config", "core.fsmonitor", "my-monitor"]);
    repo.git(["config", "filter.lfs.process", "no-such-lfs filter-process"]);
    repo.git(["config", "filter.here.clean", "cat"]);
    let outcome = repo.agentgate(["doctor", "--json"]).success();
    is(&outcome, "hooks", "ok", "pre-commit");
    is(&outcome, "fsmonitor", "ok", "my-monitor");
    is(&outcome, "filter lfs", "warn", "no-such-lfs is not found");
    is(&outcome, "filter here", "ok", "its programs are there");
    repo.git(["config", "core.hooksPath", ".husky/_"]);
    let outcome = repo.agentgate(["doctor", "--json"]).success();
    is(&outcome, "hooks", "warn", ".husky/_ does not exist");
}

#[test]
fn a_dirty_checkout_and_a_held_lock_are_only_told() {
    let repo = Repo::new();
    let mut running = scene::at_work(&repo, scene::JOB, "");
    repo.write("stray.txt", "x\n");
    let outcome = repo.agentgate(["doctor", "--json"]);
    assert_eq!(outcome.code, 0, "{outcome}");
    is(
        &outcome,
        "checkout",
        "warn",
        "is dirty (1 path): a job would end with 12",
    );
    is(&outcome, "lock", "warn", "job j1 (pid ");
    assert!(running.is_running());
    running.signal(15);
    assert_eq!(running.wait().code, 143);
    assert!(!scene::jobs(&repo).exists());
}

#[test]
fn agents_on_path_are_found() {
    let repo = Repo::new();
    let tools = repo.top().join("tools");
    program(&tools.join("aider"), "#!/bin/sh\n");
    let path = std::env::var("PATH").expect("it is UTF-8");
    let outcome = repo
        .command(["doctor", "--json"])
        .env("PATH", format!("{}:{path}", tools.display()))
        .run()
        .success();
    is(&outcome, "agents", "ok", "aider");
    let agents = outcome.json()["agents"].clone();
    let aider = agents
        .as_array()
        .and_then(|agents| agents.iter().find(|agent| agent["name"] == "aider"));
    assert!(aider.is_some(), "{outcome}");
}

#[test]
fn the_configured_agent_is_looked_at() {
    let repo = Repo::new();
    let outcome = repo.agentgate(["doctor", "--json"]).success();
    is(&outcome, "agent", "ok", "none is configured");
    repo.change(
        "architecture/agentgate.yml",
        "agents: {implementer: {command: nope-agent --flag}}\n",
    );
    let outcome = repo.agentgate(["doctor", "--json"]);
    assert_eq!(outcome.code, 16, "{outcome}");
    is(
        &outcome,
        "agent",
        "fail",
        "nope-agent, from architecture/agentgate.yml: the agent could not be started",
    );
    repo.agentgate(["agents"]).expect(
        0,
        &[
            "without --agent or a command, here: nope-agent\n  from: architecture/agentgate.yml\n",
            "cannot run: the agent could not be started: agent command not found: nope-agent (exit 16",
        ],
    );
    repo.change(
        "architecture/agentgate.yml",
        "agents: {implementer: {profile: claude}}\n",
    );
    let outcome = repo.agentgate(["doctor", "--json"]);
    assert_eq!(outcome.code, 64, "{outcome}");
    is(
        &outcome,
        "agent",
        "fail",
        "profile claude, from architecture/agentgate.yml",
    );
    is(&outcome, "agent", "fail", "AGENT_MODEL_LABEL");
    let json = repo.agentgate(["agents", "--json"]).success().json();
    assert_eq!(json["implementer"]["name"], "profile claude");
    assert_eq!(json["implementer"]["from"], "architecture/agentgate.yml");
    repo.change("architecture/agentgate.yml", "agents: {implementer: {command: cat}}\n");
    let outcome = repo.agentgate(["doctor", "--json"]).success();
    is(&outcome, "agent", "ok", "/cat), from architecture/agentgate.yml");
    let outcome = repo.command(["doctor", "--json"]).env("AGENT_CMD", "cat --x").run();
    is(&outcome, "agent", "ok", "from AGENT_CMD");
}

//! `agentgate check --checks`: the checks on the head of a range.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use serde_json::json;

use super::with;
use crate::support::jobs::{free, jobs_root, same, until, untouched};
use crate::support::program::{Outcome, Running};
use crate::support::repo::Repo;
use crate::support::scene;

const WITHOUT: &str = include_str!("../confine/without.py");

/// A repository with these settings on `main`, on branch `f` with one change.
fn on_branch(settings: &str) -> Repo {
    let repo = with(settings);
    repo.branch("f");
    repo.change("payments/pay.ts", "export const pay = 2;\n");
    repo
}

#[track_caller]
fn checked(repo: &Repo) -> Outcome {
    repo.agentgate(["check", "--base", "main", "--checks"])
}

/// Nothing of them is left.
#[track_caller]
fn nothing_left(repo: &Repo) {
    assert!(!jobs_root(repo).exists(), "{:?}", scene::tree(&jobs_root(repo)));
    assert_eq!(repo.git(["worktree", "list"]).lines().count(), 1);
    free(repo);
}

#[test]
fn a_range_is_judged_by_them_and_nothing_of_the_clone_changes() {
    let repo = on_branch(
        "checks: [{name: c, run: 'grep 2 payments/pay.ts && git status --porcelain && git rev-parse HEAD > here && test ! -e dirt'}, {name: d, run: 'true', when: [docs]}]\n",
    );
    repo.write("dirt", "of the checkout\n");
    let before = untouched(&repo);
    let outcome = checked(&repo);
    outcome.expect(0, &["check 1 of 2: c (limit 10m)"]);
    assert!(
        outcome
            .stdout
            .contains("check `c`: passed after 0s\ncheck `d`: skipped: no changed path matches\n"),
        "{outcome}"
    );
    assert_eq!(outcome.last_line(), "invariants ok; 1 path checked", "{outcome}");
    same(&before, &untouched(&repo));
    assert_eq!(repo.git(["status", "--porcelain"]), "?? dirt");
    assert!(
        !repo.root.join(".git/agent-jobs.lock").exists(),
        "no lock of the clone is taken"
    );
    nothing_left(&repo);
}

#[test]
fn one_that_fails_is_10() {
    let repo = on_branch("checks: [{name: c, run: 'echo why; exit 4', baseline: true}]\n");
    let outcome = checked(&repo);
    outcome.expect(
        10,
        &[
            "check `c` exited with status 4; on the base it exited with status 4 too, so it was red before this change",
            "rule: check-failed [checks[0] (c)] (exit 10)",
            "  | why\n",
        ],
    );
    let json = repo.agentgate(["check", "--base", "main", "--checks", "--json"]).json();
    assert_eq!(json["schema"], "agentgate/check/1");
    assert_eq!(
        (&json["exit"], &json["checks"][0]["last_lines"]),
        (&json!(10), &json!(["why"])),
        "{json}"
    );
    assert_eq!(
        json["checks"][0]["baseline"],
        json!({"ending": "exited", "status": 4}),
        "{json}"
    );
    assert_eq!(json["checks"][0]["log"], json!(null), "{json}");
    nothing_left(&repo);
}

#[test]
fn the_base_is_its_own_checkout_too() {
    let repo = on_branch("checks: [{name: c, run: 'grep 1 payments/pay.ts', baseline: true}]\n");
    checked(&repo).expect(10, &["it passes on the base, so this change broke it"]);
}

#[test]
fn without_the_option_it_is_said_that_there_are_some() {
    let repo = on_branch("checks: [{name: c, run: 'exit 1'}, {name: d, run: 'exit 1'}]\n");
    let outcome = repo.agentgate(["check", "--base", "main"]);
    outcome.expect(
        0,
        &["note: 2 checks of architecture/agentgate.yml were not run; add --checks"],
    );
    assert_eq!(outcome.last_line(), "invariants ok; 1 path checked", "{outcome}");
    let none = on_branch("setup: ['true']\n");
    let outcome = none.agentgate(["check", "--base", "main"]);
    assert!(!outcome.stdout.contains("note: "), "{outcome}");
    checked(&none).expect(0, &["architecture/agentgate.yml of the base has no checks"]);
}

#[test]
fn a_range_that_the_gate_refuses_runs_none_and_an_empty_one_neither() {
    let repo = on_branch("checks: [{name: c, run: 'exit 1'}]\n");
    repo.checkout("main");
    let outcome = checked(&repo);
    outcome.expect(0, &["1 check was not run: the range is empty"]);
    repo.checkout("f");
    repo.change("prot/x", "x\n");
    let outcome = checked(&repo);
    outcome.expect(3, &["note: 1 check was not run: the gate refuses the range"]);
    let json = repo.agentgate(["check", "--base", "main", "--checks", "--json"]).json();
    assert_eq!(json["checks"], json!([]), "{json}");
}

#[test]
fn a_range_cannot_change_them() {
    let repo = on_branch("checks: [{name: c, run: 'exit 5'}]\n");
    repo.change("architecture/agentgate.yml", "checks: [{name: c, run: 'true'}]\n");
    let outcome = repo.agentgate(["check", "--base", "main", "--checks", "--allow-policy-change"]);
    outcome.expect(3, &[]);
    // By a person, alone, it is accepted, and still judged by the old one.
    repo.checkout("main");
    repo.branch("g");
    repo.change("architecture/agentgate.yml", "checks: [{name: c, run: 'true'}]\n");
    let outcome = repo.agentgate(["check", "--base", "main", "--checks", "--allow-policy-change"]);
    outcome.expect(10, &["check `c` exited with status 5"]);
}

#[test]
fn those_of_the_merge_base_and_of_the_base_itself_both_count() {
    let repo = on_branch("checks: [{name: same, run: 'true'}, {name: old, run: 'exit 1'}]\n");
    repo.checkout("main");
    repo.change(
        "architecture/agentgate.yml",
        "checks: [{name: new, run: 'exit 2'}, {name: same, run: 'true'}]\n",
    );
    let tip = repo.id("main");
    repo.checkout("f");
    let json = repo.agentgate(["check", "--base", "main", "--checks", "--json"]).json();
    let names: Vec<(&str, &str)> = json["checks"]
        .as_array()
        .expect("a list")
        .iter()
        .filter_map(|check| Some((check["key"].as_str()?, check["name"].as_str()?)))
        .collect();
    let newer = format!("checks[0] of {}", &tip[..12]);
    assert_eq!(
        names,
        [("checks[0]", "same"), ("checks[1]", "old"), (newer.as_str(), "new")],
        "{json}"
    );
    assert_eq!(json["findings"].as_array().map(Vec::len), Some(2), "{json}");
    repo.agentgate(["check", "--base", "main"])
        .expect(0, &["3 checks of architecture/agentgate.yml were not run"]);
}

#[test]
fn a_clone_as_ci_has_it_is_enough() {
    let repo = on_branch(
        "setup: [[sh, -c, 'mkdir build; echo ready > build/state']]\nchecks: [{name: c, run: 'grep ready build/state && grep 2 payments/pay.ts && test ! -w $MAIN'}]\n",
    );
    let clone = repo.clone_as("ci", &["--branch", "f"]);
    clone
        .command([
            "check",
            "--base",
            "origin/main",
            "--checks",
            "--pass-env",
            "MAIN",
            "--verbose",
        ])
        .env("MAIN", &clone.root)
        .run()
        .expect(0, &["invariants ok; 1 path checked", "ready\n"]);
    // A runner of GitHub would obey what a check prints.
    let verbose = [
        "check",
        "--base",
        "origin/main",
        "--checks",
        "--pass-env",
        "MAIN",
        "--verbose",
    ];
    let told = clone
        .command(verbose)
        .env("MAIN", &clone.root)
        .env("GITHUB_ACTIONS", "true")
        .run();
    told.expect(
        0,
        &["--verbose does not pass the output of checks on in GitHub Actions"],
    );
    assert!(
        !told.stderr.contains("ready\n") && !told.stdout.contains("ready\n"),
        "{told}"
    );
    assert!(!clone.top().join("ci-jobs").exists());
    // From a linked worktree, and for a head that is checked out nowhere.
    clone.git(["worktree", "add", "--quiet", "--detach", "../linked", "origin/main"]);
    let linked = clone.beside("linked");
    linked
        .command([
            "check",
            "--range",
            "origin/main..origin/f",
            "--checks",
            "--pass-env",
            "MAIN",
        ])
        .env("MAIN", &clone.root)
        .run()
        .expect(0, &["check `c`: passed"]);
}

#[test]
fn settings_of_the_base_that_cannot_be_used_are_2() {
    let repo = on_branch("checks: [{name: c}]\n");
    checked(&repo).expect(2, &["`checks[0]` has no `run`", "in base "]);
    repo.agentgate(["check", "--base", "main"])
        .expect(0, &["whether there are checks is not known: in base "]);
}

#[test]
fn without_confinement_it_is_21_unless_a_person_waives_it() {
    let repo = on_branch("checks: [{name: c, run: 'test -w $MAIN'}]\n");
    let without = repo.top().join("without.py");
    fs::write(&without, WITHOUT).expect("it can be written");
    let calls = [
        libc::SYS_landlock_create_ruleset,
        libc::SYS_unshare,
        libc::SYS_mount_setattr,
    ];
    let calls: Vec<String> = calls.iter().map(i64::to_string).collect();
    let check = |options: &[&str]| {
        let errno = libc::ENOSYS.to_string();
        let python = repo.program("python3").args([without.as_os_str()]);
        python
            .args([errno, calls.join(","), repo.binary()])
            .args(["check", "--base", "main", "--checks", "--pass-env", "MAIN"])
            .args(options)
            .env("MAIN", &repo.root)
            .run()
    };
    let outcome = check(&[]);
    outcome.expect(21, &["--allow-unconfined"]);
    nothing_left(&repo);
    check(&["--allow-unconfined"]).expect(0, &["(unconfined)"]);
    nothing_left(&repo);
}

/// A check at work, and its folder, which is another than this.
#[track_caller]
fn at_work_beside(repo: &Repo, other: Option<&Path>) -> (Running, PathBuf) {
    let command = repo.command(["check", "--base", "main", "--checks"]);
    let mut running = command.deadline(Duration::from_secs(40)).spawn();
    let rooms = jobs_root(repo).join(".checks");
    let mut room = None;
    until("the check is at work", || {
        assert!(running.is_running(), "it ended early");
        let entries = fs::read_dir(&rooms).into_iter().flatten().flatten();
        room = entries
            .map(|entry| entry.path())
            .find(|path| Some(path.as_path()) != other && path.join("check/tree/build/at-work").exists());
        room.is_some()
    });
    (running, room.expect("it was found"))
}

#[track_caller]
fn at_work(repo: &Repo) -> (Running, PathBuf) {
    at_work_beside(repo, None)
}

const AT_WORK: &str = "checks: [{name: c, run: 'mkdir build; touch build/at-work; setsid sleep 300 & sleep 300'}]\n";

#[test]
fn a_signal_ends_them_and_leaves_nothing() {
    for (signal, code) in [(2, 130), (15, 143), (1, 129)] {
        let repo = on_branch(AT_WORK);
        let (mut running, room) = at_work(&repo);
        running.signal(signal);
        let outcome = running.wait();
        outcome.expect(code, &["interrupted while the checks ran"]);
        assert!(scene::processes_of(&room.join("task")).is_empty());
        nothing_left(&repo);
    }
}

#[test]
fn what_a_killed_one_left_is_removed_by_the_next_and_what_lives_is_not() {
    let repo = on_branch(AT_WORK);
    let (mut dead, left) = at_work(&repo);
    assert!(!scene::processes_of(&left.join("task")).is_empty());
    dead.signal(9);
    assert_eq!(dead.wait().code, 137);
    until("its processes are gone", || {
        scene::processes_of(&left.join("task")).is_empty()
    });
    assert!(left.exists());
    // What is not provably a dead one's stays: no lock file, a person's own folder.
    let persons = jobs_root(&repo).join(".checks/persons");
    fs::create_dir(&persons).expect("it is new");
    let (mut living, room) = at_work_beside(&repo, Some(&left));
    assert!(!left.exists(), "the next one removed it");
    let (outcome, removed) = another_job(&repo);
    assert_eq!(outcome.code, 0, "{outcome}");
    assert!(room.exists() && removed == 0, "one that lives keeps its folder");
    living.signal(15);
    living.wait().expect(143, &[]);
    assert!(!room.exists() && persons.exists());
    fs::remove_dir_all(jobs_root(&repo)).expect("it is there");
}

/// A job without checks of its own: how it ended, and how many entries of `.checks` it removed.
#[track_caller]
fn another_job(repo: &Repo) -> (Outcome, usize) {
    let count = || fs::read_dir(jobs_root(repo).join(".checks")).map_or(0, Iterator::count);
    repo.checkout("main");
    repo.change("architecture/agentgate.yml", "setup: ['true']\n");
    let before = count();
    let task = crate::support::jobs::task(repo, crate::support::jobs::TASK);
    let outcome = repo
        .command(["run", "--job-id", "j9"])
        .args([task.as_os_str()])
        .args(["--", "sh", "-c", "echo 3 > payments/pay.ts"])
        .run();
    (outcome, before - count())
}

#[test]
fn a_job_removes_what_a_killed_one_left() {
    let repo = on_branch(AT_WORK);
    let (mut dead, left) = at_work(&repo);
    dead.signal(9);
    assert_eq!(dead.wait().code, 137);
    let (outcome, removed) = another_job(&repo);
    assert_eq!((outcome.code, removed), (0, 2), "{outcome}");
    assert!(
        !left.exists() && !jobs_root(&repo).join(".checks").exists(),
        "{outcome}"
    );
}

#[test]
fn every_format_but_gitlabs_has_the_last_lines_of_a_check_that_failed() {
    let repo = on_branch("checks: [{name: unit, run: 'for i in $(seq 30); do echo \"<line> $i\"; done; exit 3'}]\n");
    for (format, told, until) in [
        ("text", "  | <line> 11\n", "  | <line> 30\n"),
        ("json", "\"<line> 11\",\n", "\"<line> 30\"\n"),
        ("github", "%0A| <line> 11%0A", "%0A| <line> 30\n"),
        ("sarif", "\\n| <line> 11\\n", "\\n| <line> 30\""),
        (
            "junit",
            "&#10;| &lt;line&gt; 11&#10;",
            "&#10;| &lt;line&gt; 30</failure>",
        ),
        (
            "markdown",
            "<br><code>&#124; &#60;line&#62; 11</code><br>",
            "<br><code>&#124; &#60;line&#62; 30</code> |\n",
        ),
    ] {
        let line = ["check", "--base", "main", "--checks", "--format", format];
        let outcome = repo.agentgate(line);
        outcome.expect(10, &[]);
        assert!(
            outcome.stdout.contains(told) && outcome.stdout.contains(until),
            "{format}: {outcome}"
        );
        assert!(!outcome.stdout.contains("line> 10"), "{format}: {outcome}");
        if format == "text" {
            assert_eq!(
                outcome.last_line(),
                "invariants broken; 1 finding in the whole change (exit 10)"
            );
        }
    }
}

//! `checks:`: commands of the repository's owners on a fresh checkout of a candidate. What an agent does
//! against them and `check --checks` have files of their own.

mod ends;
mod hostile;
mod range;

use std::fs;
use std::os::unix::fs::PermissionsExt;

use serde_json::{Value, json};

use super::support::jobs::{
    event, events, job, jobs_root, nothing_left, record, recorded, run_to, sha256, submodule, untouched, value,
};
use super::support::person::Person;
use super::support::repo::Repo;
use super::support::scene;

/// A repository with these settings, and ignore rules for `.env` and `build/`.
fn with(settings: &str) -> Repo {
    let repo = Repo::new();
    repo.write(".gitignore", ".env\nbuild/\n");
    repo.write("architecture/agentgate.yml", settings);
    repo.commit("settings");
    repo
}

const CHANGE: &str = "echo 'export const pay = 2;' > payments/pay.ts";

/// The events of the checks of job `j1`.
#[track_caller]
fn finished(repo: &Repo) -> Vec<Value> {
    let mut events = events(repo, "j1");
    events.retain(|event| event["event"] == "check.finished");
    events
}

#[test]
fn a_candidate_that_passes_them_is_kept() {
    let repo = with(
        "checks:\n- {name: unit tests, run: 'grep -q 2 payments/pay.ts && echo fine | cat'}\n- {name: list, run: [test, -f, payments/pay.ts]}\n",
    );
    let before = untouched(&repo);
    let outcome = run_to(0, &repo, "j1", CHANGE);
    outcome.expect(
        0,
        &[
            "check 1 of 2: unit tests (limit 10m)",
            "check `unit tests`: passed after",
            "check `list`: passed after",
            "verdict=ok",
        ],
    );
    let all = events(&repo, "j1");
    let kinds: Vec<&str> = all.iter().filter_map(|event| event["event"].as_str()).collect();
    let expected = [
        "candidate.frozen",
        "check.finished",
        "check.finished",
        "gate.finished",
        "commit.intended",
    ];
    let from = kinds
        .iter()
        .position(|kind| *kind == "candidate.frozen")
        .expect("it was frozen");
    assert_eq!(kinds[from..from + 5], expected);
    let first = &finished(&repo)[0];
    for (key, value) in [
        ("check", json!("checks[0]")),
        ("name", json!("unit tests")),
        ("on", json!("candidate")),
        ("ending", json!("exited")),
        ("status", json!(0)),
    ] {
        assert_eq!(first[key], value, "{first}");
    }
    let log = recorded(&repo, "j1", "check-1.log");
    assert!(log.starts_with("$ sh -c ") && log.ends_with("\nfine\n"), "{log}");
    assert_eq!(first["output"]["bytes"], log.len(), "{first}");
    assert_eq!(first["output"]["sha256"], sha256(&log), "{first}");
    let mode = fs::metadata(record(&repo, "j1").join("check-1.log")).expect("it is there");
    assert_eq!(mode.permissions().mode() & 0o777, 0o600);
    let gate: Value = serde_json::from_str(&recorded(&repo, "j1", "gate.json")).expect("JSON");
    assert_eq!(gate["checks"][1]["name"], "list", "{gate}");
    assert_eq!(
        event(&all, "gate.finished")["report"]["sha256"],
        sha256(recorded(&repo, "j1", "gate.json"))
    );
    super::support::jobs::same(&before, &untouched(&repo));
    assert!(!jobs_root(&repo).join(".jobs").exists(), "{outcome}");
}

#[test]
fn one_that_fails_is_10_with_its_last_lines_and_the_others_run_all_the_same() {
    let repo = with(
        "checks:\n- {name: unit, run: 'for i in $(seq 30); do printf \"\\033[31mline $i\\033[0m\\n\"; done; exit 3'}\n- {name: other, run: 'echo ran; kill -9 $$'}\n- {name: no such, run: [no-such-program, -x]}\n",
    );
    let artifacts = repo.top().join("artifacts");
    let options = ["--artifacts", &artifacts.to_string_lossy()];
    let outcome = job(&repo, "j1", &options, CHANGE).run();
    outcome.expect(
        10,
        &[
            "check `unit` exited with status 3\n  rule: check-failed [checks[0] (unit)] (exit 10)\n",
            "check `other` was killed by signal 9\n",
            "check `no such` could not be started: command not found: no-such-program",
            "  | line 11\n",
            "  | line 30\n",
            "agentgate: a check failed (exit 10, check-failed)",
            "check-1.log   # what check `unit` said",
            "invariants broken; 3 findings in the whole change (exit 10)",
        ],
    );
    assert_eq!(value(&outcome, "verdict"), "check-failed");
    assert_eq!(value(&outcome, "worktree"), "");
    assert!(
        !outcome.stderr.contains("line 10\n") && !outcome.stderr.contains('\u{1b}'),
        "{outcome}"
    );
    let log = recorded(&repo, "j1", "gate.log");
    assert!(log.contains("  | line 30\n") && !log.contains("line 10\n"), "{log}");
    assert!(recorded(&repo, "j1", "check-2.log").ends_with("\nran\n"));
    let last = events(&repo, "j1");
    let last = last.last().expect("there are events");
    assert_eq!((&last["event"], &last["exit"]), (&json!("job.refused"), &json!(10)));
    assert!(artifacts.join("check-1.log").exists() && artifacts.join("gate.log").exists());
    assert_eq!(scene::row(&repo, "j1")["state"], "refused");
    nothing_left(&repo);
    repo.agentgate(["open", "j1"]).success();
    let opened = fs::read_to_string(jobs_root(&repo).join("j1/payments/pay.ts"));
    assert_eq!(opened.expect("it is there"), "export const pay = 2;\n");
}

#[test]
fn one_that_runs_past_its_limit_is_ended() {
    let repo = with("checks:\n- {name: slow, run: 'echo begun; trap \"\" TERM; sleep 300', timeout: 1s}\n");
    let outcome = run_to(10, &repo, "j1", CHANGE);
    outcome.expect(
        10,
        &["check `slow` ran past its limit of 1s and was ended", "  | begun\n"],
    );
    assert_eq!(finished(&repo)[0]["ending"], "timed_out");
    nothing_left(&repo);
}

#[test]
fn json_has_what_each_came_to() {
    let repo = with("checks:\n- {name: a, run: 'echo said; exit 1'}\n- {name: b, run: 'true', when: [docs/]}\n");
    let json = job(&repo, "j1", &["--json"], CHANGE).run().json();
    assert_eq!(json["exit"], 10, "{json}");
    assert_eq!(json["findings"][0]["rule"], "check-failed", "{json}");
    assert_eq!(json["findings"][0]["judged_by"], "checks[0] (a)", "{json}");
    let mut checks = json["checks"].clone();
    assert!(checks[0]["millis"].is_u64(), "{checks}");
    checks[0]["millis"] = json!(0);
    let expected = json!([
        {
            "key": "checks[0]", "name": "a", "ending": "exited", "status": 1, "words": "exited with status 1",
            "millis": 0, "last_lines": ["said"], "log": "check-1.log", "baseline": null, "broken_by": null,
        },
        {
            "key": "checks[1]", "name": "b", "ending": "skipped", "words": "skipped: no changed path matches",
            "millis": 0, "last_lines": [], "log": null, "baseline": null, "broken_by": null,
        },
    ]);
    assert_eq!(checks, expected);
}

#[test]
fn when_asks_for_one_of_the_changed_paths() {
    for (when, runs) in [
        ("[docs/, '**/*.ts']", true),
        ("[payments]", true),
        ("[docs/, '**/*.py']", false),
        ("[prot/]", false),
        // A twin of a folder's name is no way around it.
        ("[PAYMENTS/]", true),
    ] {
        let repo = with(&format!("checks: [{{name: c, run: 'exit 1', when: {when}}}]\n"));
        let outcome = run_to(if runs { 10 } else { 0 }, &repo, "j1", CHANGE);
        if !runs {
            outcome.expect(0, &["check 1 of 1: c: skipped: no changed path matches"]);
            let event = &finished(&repo)[0];
            assert_eq!((&event["ending"], &event["output"]), (&json!("skipped"), &Value::Null));
            assert!(!record(&repo, "j1").join("check-1.log").exists());
        }
    }
}

#[test]
fn a_change_that_the_gate_refuses_runs_none() {
    let repo = with("checks: [{name: c, run: 'exit 1'}]\n");
    let outcome = run_to(3, &repo, "j1", &format!("{CHANGE}; echo x > prot/rules.txt"));
    outcome.expect(3, &["note: 1 check was not run: the gate refuses the change"]);
    assert!(finished(&repo).is_empty(), "{outcome}");
    assert!(!record(&repo, "j1").join("check-1.log").exists());
}

#[test]
fn copies_come_first_then_set_up_then_the_check_with_what_set_up_gets() {
    let repo = with(
        "copy: [.env]\nsetup: [[sh, -c, 'mkdir build; cp .env build/env; echo $AGENTGATE_ROLE > build/role']]\nchecks: [{name: c, run: 'grep KEY=1 build/env && grep check build/role && cat .env && env'}]\n",
    );
    repo.write(".env", "KEY=1\n");
    let run = job(&repo, "j1", &["--pass-env", "MY_OWN"], CHANGE);
    run.env("OPENAI_API_KEY", "k").env("MY_OWN", "m").run().success();
    let log = recorded(&repo, "j1", "check-1.log");
    assert!(log.contains("\nMY_OWN=m\n") && log.contains("\nPATH="), "{log}");
    assert!(
        log.contains("\nAGENT_JOB_ID=j1\n") && log.contains("\nAGENTGATE_ROLE=check\n"),
        "{log}"
    );
    assert!(!log.contains("OPENAI_API_KEY"), "{log}");
    let home = format!("\nHOME={}", jobs_root(&repo).join(".jobs/j1/check/home").display());
    assert!(log.contains(&home), "{log}");
}

#[test]
fn a_set_up_that_fails_on_the_candidate_is_10() {
    let repo = with(
        "setup: [[sh, -c, 'echo looking; grep -q 1 payments/pay.ts']]\nchecks: [{name: c, run: 'true', baseline: true}]\n",
    );
    run_to(10, &repo, "j1", CHANGE).expect(
        10,
        &[
            "check `c` could not be started: its set-up failed: command 1 of 1 (`sh -c 'echo looking; grep -q 1 payments/pay.ts'`) exited with status 1",
            "it passes on the base, so this change broke it",
            "  | looking\n",
        ],
    );
}

#[test]
fn the_base_tells_who_broke_it_and_10_stays() {
    for (run, words, cause) in [
        (
            "grep 1 payments/pay.ts",
            "it passes on the base, so this change broke it",
            "this-change",
        ),
        (
            "exit 7",
            "on the base it exited with status 7 too, so it was red before this change",
            "before",
        ),
    ] {
        let repo = with(&format!("checks: [{{name: c, run: '{run}', baseline: true}}]\n"));
        let outcome = job(&repo, "j1", &["--json"], CHANGE).run();
        let json = outcome.json();
        assert_eq!(json["exit"], 10, "{outcome}");
        assert_eq!(json["checks"][0]["broken_by"], cause, "{json}");
        let message = json["findings"][0]["message"].as_str().expect("text");
        assert!(message.ends_with(words), "{message}");
        let on: Vec<Value> = finished(&repo).iter().map(|event| event["on"].clone()).collect();
        assert_eq!(on, ["candidate", "base"]);
        assert!(record(&repo, "j1").join("check-1-base.log").exists());
        nothing_left(&repo);
    }
    // What passes is not asked of the base.
    let repo = with("checks: [{name: c, run: 'true', baseline: true}]\n");
    run_to(0, &repo, "j1", CHANGE);
    assert_eq!(finished(&repo).len(), 1);
}

#[test]
fn each_has_a_checkout_of_its_own() {
    let repo = with(
        "checks:\n- {name: writes, run: 'echo no > payments/pay.ts; echo x > new; mkdir build; echo y > build/y; echo z > $HOME/z; chmod 0 payments'}\n- {name: looks, run: 'grep 2 payments/pay.ts && test ! -e new -a ! -e build -a ! -e $HOME/z'}\n",
    );
    run_to(0, &repo, "j1", CHANGE);
    assert_eq!(repo.git(["diff", "--name-only", "main", "agent/j1"]), "payments/pay.ts");
    assert_eq!(repo.git(["show", "agent/j1:payments/pay.ts"]), "export const pay = 2;");
}

#[test]
fn git_there_shows_the_base_with_the_candidate_staged() {
    let repo = with(
        "checks: [{name: c, run: 'git status --porcelain && git rev-parse HEAD && git branch x && git commit -qm mine'}]\n",
    );
    let before = untouched(&repo);
    run_to(
        0,
        &repo,
        "j1",
        &format!("{CHANGE}; git mv prot/rules.txt payments/r 2>&1; git mv payments/r prot/rules.txt; rm -f build"),
    );
    let log = recorded(&repo, "j1", "check-1.log");
    assert!(
        log.contains(&format!("\nM  payments/pay.ts\n{}\n", repo.id("main"))),
        "{log}"
    );
    super::support::jobs::same(&before, &untouched(&repo));
    assert_eq!(repo.git(["branch", "--list", "x"]), "");
}

#[test]
fn the_persons_filters_lay_the_files_out_behind_walls() {
    let repo = Repo::new();
    let outside = repo.top().join("outside");
    repo.git(["config", "filter.up.clean", "tr A-Z a-z"]);
    let smudge = format!("sh -c 'touch {} 2> /dev/null; tr a-z A-Z'", outside.display());
    repo.git(["config", "filter.up.smudge", &smudge]);
    repo.write(".gitattributes", "*.up filter=up\n");
    repo.write("payments/a.up", "base\n");
    repo.write(
        "architecture/agentgate.yml",
        "checks: [{name: c, run: 'grep WORK payments/a.up'}]\n",
    );
    repo.commit("a filter");
    let _ = fs::remove_file(&outside);
    run_to(
        0,
        &repo,
        "j1",
        "rm ../../outside 2> /dev/null; echo WORK > payments/a.up",
    );
    assert_eq!(repo.git(["show", "agent/j1:payments/a.up"]), "work");
    // Where the base was checked out, before any agent, it could.
    let _ = fs::remove_file(&outside);
    fs::remove_dir_all(jobs_root(&repo).join("j1")).expect("it was kept");
    repo.agentgate(["open", "j1"]).success();
    assert!(!outside.exists(), "open lays files out in the same way");
}

#[test]
fn a_checkout_that_cannot_be_made_is_10() {
    let repo = Repo::new();
    repo.git(["config", "filter.f.clean", "cat"]);
    repo.git(["config", "filter.f.smudge", "sh -c 'grep -v agents'"]);
    repo.git(["config", "filter.f.required", "true"]);
    repo.write(".gitattributes", "*.f filter=f\n");
    repo.write("payments/a.f", "base\n");
    repo.write("architecture/agentgate.yml", "checks: [{name: c, run: 'true'}]\n");
    repo.commit("a filter");
    let outcome = run_to(10, &repo, "j1", "echo agents > payments/a.f");
    outcome.expect(
        10,
        &["check `c` could not be started: a fresh checkout cannot be made: git checkout-index"],
    );
    nothing_left(&repo);
}

#[test]
fn an_ordinary_user_and_a_submodule_make_no_difference() {
    for person in Person::all() {
        let repo = Repo::of(person);
        repo.write(
            "architecture/agentgate.yml",
            "checks: [{name: c, run: 'id -u; git status --porcelain; grep 2 payments/pay.ts'}]\n",
        );
        repo.commit("settings");
        run_to(0, &repo, "j1", CHANGE);
        let log = recorded(&repo, "j1", "check-1.log");
        let uid = repo.program("id").args(["-u"]).run().success().stdout;
        assert!(log.contains(&format!("\n{uid}M  payments/pay.ts\n")), "{log}");
    }
    let repo = submodule("payments/sub");
    repo.write(
        "architecture/agentgate.yml",
        "checks: [{name: c, run: 'ls -A payments/sub; git status --porcelain'}]\n",
    );
    repo.commit("settings");
    run_to(0, &repo, "j1", CHANGE);
    let log = recorded(&repo, "j1", "check-1.log");
    assert!(
        log.ends_with("'\nM  payments/pay.ts\n"),
        "as in a worktree that git makes: {log}"
    );
}

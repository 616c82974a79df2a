//! `setup` and `copy`: what is done in the worktree before the agent starts.

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::time::Duration;

use super::support::jobs::{event, events, job, nothing_left, record, recorded, run_to};
use super::support::program::Outcome;
use super::support::repo::Repo;
use super::support::scene;

/// A repository with these settings, and ignore rules for `*.local`, `.env` and `cache/`.
fn with(settings: &str) -> Repo {
    let repo = Repo::new();
    repo.write(".gitignore", "*.local\n.env\ncache/\n");
    repo.write("architecture/agentgate.yml", settings);
    repo.commit("settings");
    repo
}

fn worktree(repo: &Repo) -> Repo {
    repo.beside("repo-jobs/j1")
}

const CHANGE: &str = "echo 'export const pay = 2;' > payments/pay.ts";

#[test]
fn files_are_copied_then_commands_run_then_the_agent_starts() {
    let repo = with(
        "copy: [.env, 'config/*.local']\nsetup: [[sh, -c, 'mkdir cache; cp .env cache/made; echo done $AGENTGATE_ROLE']]\n",
    );
    repo.write(".env", "KEY=1\n");
    repo.write("config/a.local", "a\n");
    repo.write("config/deep/b.local", "b\n");
    repo.write("other.local", "other\n");
    fs::set_permissions(repo.root.join("config/a.local"), fs::Permissions::from_mode(0o750)).expect("it is ours");
    let outcome = run_to(
        0,
        &repo,
        "j1",
        &format!("set -e; grep -q KEY=1 cache/made; grep -q KEY=1 .env; test ! -e other.local; {CHANGE}"),
    );
    outcome.expect(
        0,
        &[
            "copied in: .env, config/a.local\n",
            "setup 1 of 1: sh -c ",
            " (limit 1h)\n",
        ],
    );
    let copied = worktree(&repo).root.join("config/a.local");
    assert_eq!(
        fs::metadata(&copied).expect("it is there").permissions().mode() & 0o777,
        0o750
    );
    assert!(!copied.symlink_metadata().expect("it is there").is_symlink());
    assert!(!worktree(&repo).root.join("config/deep").exists(), "{outcome}");
    assert_eq!(repo.git(["diff", "--name-only", "main", "agent/j1"]), "payments/pay.ts");
    assert_eq!(worktree(&repo).git(["status", "--porcelain"]), "");
    assert!(!record(&repo, "j1").join("ignored.tar").exists(), "{outcome}");
    let log = recorded(&repo, "j1", "setup.log");
    assert!(log.starts_with("$ sh -c ") && log.ends_with("\ndone setup\n"), "{log}");
    let events = events(&repo, "j1");
    let steps: Vec<(&str, &str)> = events
        .iter()
        .filter_map(|event| Some((event["event"].as_str()?, event["step"].as_str()?)))
        .collect();
    let expected = [
        ("step.started", "setup"),
        ("step.finished", "setup"),
        ("step.started", "implement"),
        ("step.finished", "implement"),
    ];
    assert_eq!(steps, expected);
    // The person's files are as they were.
    assert_eq!(
        fs::read_to_string(repo.root.join(".env")).expect("it is there"),
        "KEY=1\n"
    );
}

#[track_caller]
fn not_started(repo: &Repo, outcome: &Outcome) {
    nothing_left(repo);
    assert!(!record(repo, "j1").join("agent.log").exists(), "{outcome}");
    assert!(!repo.top().join("agent-ran").exists());
    let events = events(repo, "j1");
    assert!(events.iter().all(|event| event["step"] != "implement"), "{outcome}");
}

#[test]
fn a_command_that_fails_ends_the_job_before_the_agent() {
    let repo =
        with("setup: ['true', [sh, -c, 'echo one; echo the lock file is old >&2; exit 3'], [sh, -c, 'echo never']]\n");
    let outcome = run_to(16, &repo, "j1", CHANGE);
    outcome.expect(
        16,
        &[
            "setup command 2 of 3 (`sh -c 'echo one; echo the lock file is old >&2; exit 3'`) exited with status 3",
            "the agent was not started",
            "its last words:\none\nthe lock file is old\n",
            "setup.log   # what the setup commands said",
        ],
    );
    not_started(&repo, &outcome);
    let log = recorded(&repo, "j1", "setup.log");
    assert!(log.starts_with("$ true\n$ sh -c ") && !log.contains("never\n"), "{log}");
    let failed = event(&events(&repo, "j1"), "job.failed");
    assert_eq!(failed["exit"], 16, "{failed}");

    let repo = with("setup: [no-such-program --install]\n");
    let outcome = run_to(16, &repo, "j1", CHANGE);
    outcome.expect(
        16,
        &["setup command 1 of 1 (`no-such-program --install`) could not be started: command not found: no-such-program"],
    );
    not_started(&repo, &outcome);
}

#[test]
fn a_script_of_the_base_can_be_a_command() {
    let repo = with("setup: [./scripts/setup.sh]\n");
    repo.write(
        "scripts/setup.sh",
        "#!/bin/sh\nmkdir cache && echo ready > cache/state\n",
    );
    fs::set_permissions(repo.root.join("scripts/setup.sh"), fs::Permissions::from_mode(0o755)).expect("it is ours");
    repo.commit("a script");
    run_to(0, &repo, "j1", &format!("grep -q ready cache/state && {CHANGE}"));
}

#[test]
fn commands_are_behind_the_same_walls_and_in_the_same_home() {
    let repo =
        with("setup: [[sh, -c, 'echo mark > $HOME/mark; ! echo x > $MAIN/evil; ! git -C $MAIN config a.b c']]\n");
    let main = repo.root.to_string_lossy().into_owned();
    let script = format!("grep -q mark $HOME/mark && {CHANGE}");
    job(&repo, "j1", &[], &script).env("MAIN", &main).run().success();
    assert!(!repo.root.join("evil").exists());
    assert!(!repo.home().join("mark").exists());
    assert!(
        !fs::read_to_string(repo.root.join(".git/config"))
            .expect("it is there")
            .contains("[a]")
    );
}

/// They are the repository's, and come before anybody has looked at what it brings.
#[test]
fn commands_get_no_key_of_the_agent_but_what_the_person_passes() {
    let repo = with("setup: [[sh, -c, env]]\n");
    let agent = |id: &str, options: &[&str]| {
        let run = job(
            &repo,
            id,
            options,
            &format!("test $OPENAI_API_KEY = k && test $MY_OWN = m && {CHANGE}"),
        );
        run.env("OPENAI_API_KEY", "k").env("MY_OWN", "m").run().expect(0, &[]);
        recorded(&repo, id, "setup.log")
    };
    let log = agent("j1", &[]);
    assert!(log.contains("\nPATH=") && log.contains("\nHOME="), "{log}");
    assert!(!log.contains("OPENAI_API_KEY") && !log.contains("MY_OWN"), "{log}");
    let log = agent("j2", &["--pass-env", "MY_OWN"]);
    assert!(log.contains("\nMY_OWN=m\n") && !log.contains("OPENAI_API_KEY"), "{log}");
}

#[test]
fn the_jobs_limit_holds_for_them_and_their_daemons_are_ended() {
    let repo = with("setup: [[sh, -c, 'sleep 300']]\n");
    let outcome = job(&repo, "j1", &["--timeout", "1s"], CHANGE).run();
    outcome.expect(17, &["(`sh -c 'sleep 300'`) ran past the job's limit and was ended"]);
    not_started(&repo, &outcome);

    let repo = with("setup: [[sh, -c, 'mkdir cache; (setsid sh -c \"sleep 1; echo late > cache/late\" &)']]\n");
    run_to(0, &repo, "j1", &format!("sleep 2; test ! -e cache/late && {CHANGE}"));
    let finished = events(&repo, "j1");
    let finished = finished
        .iter()
        .find(|event| event["event"] == "step.finished")
        .expect("setup ended");
    assert!(
        finished["leftovers"].as_u64().is_some_and(|count| count > 0),
        "{finished}"
    );
}

#[test]
fn a_hook_that_setup_left_where_nothing_held_it_is_20() {
    let repo = with("setup: [[sh, -c, 'echo x > $MAIN/.git/hooks/pre-commit; exit 1']]\n");
    let outcome = job(&repo, "j1", &["--confinement", "off", "--pass-env", "MAIN"], CHANGE)
        .env("MAIN", &repo.root)
        .run();
    outcome.expect(20, &["the clone's git dir changed during setup: hooks/pre-commit"]);
    not_started(&repo, &outcome);
}

#[test]
fn a_signal_during_setup_ends_the_job() {
    let repo = with("setup: [[sh, -c, 'mkdir cache; echo x > cache/at-work; sleep 300']]\n");
    let mut running = job(&repo, "j1", &[], CHANGE).deadline(Duration::from_secs(40)).spawn();
    let sign = worktree(&repo).root.join("cache/at-work");
    scene::until("setup is at work", || {
        assert!(running.is_running(), "it ended early");
        sign.exists()
    });
    running.signal(15);
    let outcome = running.wait();
    assert_eq!(outcome.code, 143, "{outcome}");
    not_started(&repo, &outcome);
}

#[test]
fn what_cannot_be_meant_is_refused_before_anything_is_made() {
    let cases = [
        ("payments/pay.ts", "is in the base, so the worktree has it by itself"),
        ("link.local", "is a link, or no regular file"),
        (
            "stray.txt",
            "is not ignored by git, so it would end up in the candidate",
        ),
    ];
    for (path, words) in cases {
        let repo = with(&format!("copy: [{path}]\n"));
        symlink("/etc/passwd", repo.root.join("link.local")).expect("it is new");
        repo.write("stray.txt", "stray\n");
        let outcome = job(&repo, "j1", &["--allow-dirty"], CHANGE).run();
        outcome.expect(64, &[&format!("`{path}` {words}"), "hint: "]);
        assert!(
            !record(&repo, "j1").exists() && !scene::jobs(&repo).exists(),
            "{outcome}"
        );
    }
}

#[test]
fn what_is_not_there_is_told() {
    let repo = with("copy: [.env, 'x/*.local', cache]\n");
    fs::create_dir(repo.root.join("cache")).expect("it is new");
    repo.write("more.local", "x\n");
    run_to(0, &repo, "j1", CHANGE).expect(
        0,
        &[
            "copy: `.env` is not there",
            "copy: `x/*.local` matches no file",
            "copy: `cache` holds no file",
        ],
    );
}

#[test]
fn a_folder_is_copied_with_what_git_ignores_in_it_and_no_link() {
    let repo = with("copy: [cache]\n");
    repo.write("cache/a/b", "b\n");
    symlink("/etc/passwd", repo.root.join("cache/link")).expect("it is new");
    let outcome = run_to(
        0,
        &repo,
        "j1",
        &format!("grep -q b cache/a/b && test ! -L cache/link && {CHANGE}"),
    );
    outcome.expect(0, &["not copied: cache/link"]);
}

#[test]
fn where_the_base_does_not_ignore_it_the_job_ends_before_the_agent() {
    let repo = Repo::new();
    repo.write("architecture/agentgate.yml", "copy: [.env]\n");
    let base = repo.commit("settings");
    repo.write(".gitignore", ".env\n");
    repo.commit("ignore it now");
    repo.write(".env", "KEY=1\n");
    let outcome = job(&repo, "j1", &["--base", &base], CHANGE).run();
    outcome.expect(
        64,
        &[
            "not ignored by the rules of the base, so it would end up in the candidate: .env",
            "commit the line in .gitignore, or remove the path from `copy`",
        ],
    );
    not_started(&repo, &outcome);
}

#[test]
fn a_copied_file_never_gets_into_the_candidate() {
    let agents = [
        "git add -f .env && git commit -qm env",
        "git add -f .env",
        "echo > .gitignore",
        "echo > .gitignore; echo more >> .env",
    ];
    for agent in agents {
        let repo = with("copy: [.env]\n");
        repo.write(".env", "KEY=secret\n");
        let outcome = run_to(0, &repo, "j1", &format!("{agent}; {CHANGE}"));
        outcome.expect(
            0,
            &["copied in for the job, and kept out of the candidate although the agent had added it: .env"],
        );
        assert_eq!(
            repo.git(["ls-tree", "-r", "--name-only", "agent/j1", ".env"]),
            "",
            "{agent}"
        );
        let patch = recorded(&repo, "j1", "change.patch");
        assert!(!patch.contains("secret"), "{agent}: {patch}");
    }
}

#[test]
fn a_person_can_copy_from_elsewhere() {
    let repo = with("");
    let config = repo.home().join(".config/agentgate/config.yml");
    fs::create_dir_all(config.parent().expect("it has a folder")).expect("folders can be made");
    fs::write(
        &config,
        "copy:\n- {from: ~/secrets/app.env, to: .env}\n- {from: ~/secrets, to: cache/all}\n- {from: ~/none, to: cache/none}\n",
    )
    .expect("it can be written");
    fs::create_dir(repo.home().join("secrets")).expect("it is new");
    fs::write(repo.home().join("secrets/app.env"), "KEY=1\n").expect("it can be written");
    let script = format!("cmp .env cache/all/app.env && grep -q KEY .env && {CHANGE}");
    run_to(0, &repo, "j1", &script).expect(0, &["home/none is not there"]);
    fs::write(&config, "copy:\n- {from: ~/secrets/app.env, to: payments/pay.ts}\n").expect("it can be written");
    run_to(64, &repo, "j2", CHANGE).expect(64, &["`payments/pay.ts` is in the base"]);
}

//! `agentgate demo`: it ends with 0, what it claims is so, and what it tells people to type works.

use std::fs;
use std::path::PathBuf;

use super::support::program::{Outcome, Program};
use super::support::repo::Repo;

/// The demo started in an empty folder, by somebody without any settings of git.
fn demo() -> (Repo, Outcome) {
    let here = Repo::empty().beside("here");
    fs::remove_file(here.home().join(".gitconfig")).expect("it was there");
    fs::create_dir(&here.root).expect("a new folder");
    let outcome = with_tmp(&here).run();
    (here, outcome)
}

/// The demo with a temporary folder that the test knows and that goes with it.
fn with_tmp(here: &Repo) -> Program {
    let tmp = tmp(here);
    fs::create_dir_all(&tmp).expect("a new folder");
    here.command(["demo"]).env("TMPDIR", tmp)
}

fn tmp(here: &Repo) -> PathBuf {
    here.top().join("tmp")
}

/// The commands in its closing words.
fn commands(out: &str) -> Vec<&str> {
    let next = out.split_once("--- Next ").expect("closing words").1;
    next.lines().filter_map(|line| line.strip_prefix("    ")).collect()
}

fn repository(out: &str) -> &str {
    let first = commands(out)[0];
    first.strip_prefix("cd ").expect("the first command goes there")
}

fn ids(out: &str) -> Vec<&str> {
    out.lines()
        .filter_map(|line| line.strip_prefix("The record: .git/agentgate/jobs/"))
        .map(|id| id.trim_end_matches('/'))
        .collect()
}

#[test]
fn both_jobs_go_as_described() {
    let (here, outcome) = demo();
    assert_eq!(outcome.code, 0, "{outcome}");
    assert!(!outcome.stdout.contains("NOT"), "{outcome}");
    let clone = here.beside(repository(&outcome.stdout));
    assert!(clone.root.starts_with(tmp(&here)), "{outcome}");
    assert_eq!(
        fs::read_dir(&here.root).expect("it can be listed").count(),
        0,
        "where it was started"
    );
    let ids = ids(&outcome.stdout);
    let [refused, kept] = ids[..] else {
        panic!("not two records: {outcome}")
    };

    let record = clone.root.join(".git/agentgate/jobs").join(refused);
    let read = |name: &str| fs::read_to_string(record.join(name)).expect("a file of the record");
    assert!(read("change.patch").contains("infra/async/retry-worker.ts"));
    let log = read("gate.log");
    assert!(
        log.contains("rule: forbidden-directory [payments.forbidden_dirs[0]] (exit 4)"),
        "{log}"
    );
    assert!(
        log.contains("rule: forbidden-import [payments.forbidden_imports[1]] (exit 5)"),
        "{log}"
    );

    // The README shows this run.
    let readme = fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/README.md")).expect("README.md");
    let (_, shown) = readme.split_once("agentgate: gate\n").expect("the run in the README");
    let (verdict, shown) = shown
        .split_once("agentgate: record saved, worktree removed\n")
        .expect("its end");
    let (shown, _) = shown
        .split_once("agentgate: confinement")
        .expect("what follows the findings");
    assert!(log.contains(shown), "{shown}\n---\n{log}");
    let verdict = verdict.strip_prefix("agentgate: ").expect("words").trim();
    assert!(log.contains(verdict), "{verdict}\n---\n{log}");

    let branches = clone.git(["branch", "--format=%(refname:short)"]);
    assert_eq!(branches, format!("agent/{kept}\nmain"));
    assert_eq!(clone.git(["worktree", "list"]).lines().count(), 2);
    assert_eq!(clone.git(["status", "--porcelain"]), "");
    clone
        .agentgate(["trailers", &format!("main..agent/{kept}")])
        .expect(0, &["trailers ok; 1 agent commit"]);
}

#[test]
fn what_it_tells_people_to_type_works() {
    let (here, outcome) = demo();
    let commands = commands(&outcome.stdout);
    let binary = env!("CARGO_BIN_EXE_agentgate");
    assert_eq!(commands[1], format!("alias agentgate={binary}"));
    // One shell, line by line, as a person would; a script does not expand the alias.
    let script = format!("set -e\nagentgate() {{ {binary} \"$@\"; }}\n{}\n", commands.join("\n"));
    let typed = here.program("sh").args(["-c", &script]).run().success();
    assert!(typed.stdout.contains("landed=refs/heads/main"), "{typed}");
    assert_eq!(
        fs::read_dir(tmp(&here)).expect("it can be listed").count(),
        0,
        "{typed}"
    );
}

#[test]
fn a_persons_own_settings_do_not_change_the_story() {
    let here = Repo::empty();
    let home = here.beside("home");
    home.write(
        ".gitconfig",
        "[commit]\n\tgpgsign = true\n[core]\n\texcludesFile = ~/ignore\n\thooksPath = /nowhere\n\
         [init]\n\tdefaultBranch = trunk\n[user]\n\tuseConfigOnly = true\n",
    );
    home.write("ignore", "infra/\n*.ts\n");
    let outcome = with_tmp(&here)
        .cwd("/")
        .env("AGENT_CMD", "false")
        .env("AGENT_JOB_ID", "not/an id")
        .env("AGENT_HOST_LABEL", "not a label")
        .env("GIT_DIR", "/nowhere")
        .env("GIT_WORK_TREE", "/nowhere")
        .env("INVARIANT_BASE", "nowhere")
        .run();
    assert_eq!(outcome.code, 0, "{outcome}");
}

#[test]
fn it_works_where_temporary_files_lie_in_a_work_tree() {
    let here = Repo::new();
    let outcome = here.command(["demo"]).env("TMPDIR", &here.root).run();
    assert_eq!(outcome.code, 0, "{outcome}");
}

#[test]
fn it_can_be_read_in_eighty_columns() {
    let (_, outcome) = demo();
    let told = outcome.stdout.split_once("--- Next ").expect("closing words").0;
    for line in told.lines() {
        assert!(line.chars().count() <= 80, "{line}");
    }
}

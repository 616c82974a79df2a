//! `agentgate verify`: jobs of all kinds are proved from record and repository, and nothing that was changed is.
//!
//! Beyond these, every test that runs a job to its end ends with a verify of it (`support/proof.rs`).

mod changed;
mod doctor;
mod elsewhere;
mod full;
mod full_disk;
mod lies;

use std::fs;

use super::support::jobs::{TASK, common, frozen, job, record, run_to, task};
use super::support::program::Outcome;
use super::support::repo::Repo;
use super::support::scene;
use super::support::tokens::github;

pub const EDIT: &str = "echo 'export const pay = 2;' > payments/pay.ts; echo new > payments/new.ts";

/// Verifies a job, which must come out so, with these texts.
#[track_caller]
pub fn verify(repo: &Repo, what: &str, code: i32, texts: &[&str]) -> Outcome {
    let outcome = repo.agentgate(["verify", what]);
    outcome.expect(code, texts);
    outcome
}

/// A repository with a kept job `j1`.
pub fn kept() -> Repo {
    let repo = Repo::new();
    run_to(0, &repo, "j1", EDIT);
    repo
}

#[test]
fn a_kept_job_is_proved_by_its_id_its_branch_and_its_commit() {
    let repo = kept();
    let outcome = verify(&repo, "j1", 0, &["verified job j1: 11 checks hold\n"]);
    let names: Vec<&str> = outcome
        .stdout
        .lines()
        .filter_map(|line| line.strip_prefix("ok    ")?.split(' ').next())
        .collect();
    assert_eq!(
        names,
        [
            "log",
            "files",
            "report",
            "ref",
            "task",
            "base",
            "candidate",
            "patch",
            "gate",
            "commit",
            "place"
        ]
    );
    verify(&repo, "agent/j1", 0, &["verified job j1: 11 checks hold\n"]);
    verify(&repo, &repo.id("agent/j1"), 0, &["verified job j1: 11 checks hold\n"]);
}

#[test]
fn the_json_has_a_row_for_each_check() {
    let repo = kept();
    let report = repo.agentgate(["verify", "j1", "--json"]).success().json();
    assert_eq!(report["schema"], "agentgate/verify/1");
    assert_eq!(report["verdict"], "ok");
    assert_eq!(report["checks"].as_array().map(Vec::len), Some(11));
    assert_eq!(report["checks"][0]["name"], "log");
    assert_eq!(report["checks"][0]["ok"], true);
    repo.tampered("a file is added");
    fs::write(record(&repo, "j1").join("more"), "x").expect("it can be written");
    let outcome = repo.agentgate(["verify", "j1", "--json"]);
    let report = outcome.json();
    assert_eq!((outcome.code, &report["exit"]), (25, &25.into()), "{outcome}");
    assert_eq!(report["checks"][1]["ok"], false);
    assert_eq!(report["checks"][1]["detail"], "more is named by no event of the log");
}

#[test]
fn verify_changes_nothing() {
    let repo = kept();
    let list = || -> Vec<(std::path::PathBuf, std::time::SystemTime)> {
        let entries = walkdir::WalkDir::new(common(&repo)).sort_by_file_name();
        let entries = entries.into_iter().map(|entry| entry.expect("it can be listed"));
        entries
            .map(|entry| {
                let meta = fs::symlink_metadata(entry.path()).expect("it is there");
                let changed = meta.modified().expect("it is there");
                (entry.into_path(), changed)
            })
            .collect()
    };
    let before = list();
    verify(&repo, "j1", 0, &[]);
    assert!(list() == before, "something has another time");
}

#[test]
fn jobs_that_were_not_kept_are_proved_as_well() {
    let repo = Repo::new();
    run_to(3, &repo, "refused", "rm prot/rules.txt; echo 1 > payments/a.ts");
    verify(
        &repo,
        "refused",
        0,
        &[
            "judged again: the same finding (exit 3)",
            "verified job refused: 9 checks hold\n",
        ],
    );
    run_to(16, &repo, "failed", "echo 1 > payments/a.ts; exit 1");
    verify(
        &repo,
        "failed",
        0,
        &["the job came to no verdict", "verified job failed: 8 checks hold\n"],
    );
    run_to(15, &repo, "empty", "true");
    verify(
        &repo,
        "empty",
        0,
        &["0 paths changed", "verified job empty: 8 checks hold\n"],
    );
    let outcome = job(&repo, "late", &["--timeout", "1s"], "echo 1 > payments/a.ts; sleep 60").run();
    outcome.expect(17, &[]);
    verify(&repo, "late", 0, &["verified job late: 8 checks hold\n"]);
    let mut running = scene::at_work(&repo, "ended", "echo 1 > payments/a.ts");
    verify(
        &repo,
        "ended",
        23,
        &["job ended is not over: it is at work", "agentgate attach ended"],
    );
    running.signal(2);
    assert_eq!(running.wait().code, 130);
    verify(&repo, "ended", 0, &["verified job ended: 8 checks hold\n"]);
}

#[test]
fn a_job_that_died_is_not_over() {
    let repo = Repo::new();
    scene::dead(&repo, "echo 1 > payments/a.ts");
    verify(
        &repo,
        "j1",
        23,
        &["job j1 is not over: it never finished", "hint: agentgate resume j1 "],
    );
}

#[test]
fn what_lies_beside_the_candidate_is_named_and_proved() {
    let repo = Repo::new();
    let agent = "mkdir -p payments/n; git -C payments/n init -q; echo 1 > payments/n/x
        echo 'secret.txt' > .gitignore; echo hidden > secret.txt
        echo 2 > payments/pay.ts; git stash -q; echo 3 > payments/pay.ts";
    run_to(9, &repo, "j1", agent);
    let names: Vec<String> = fs::read_dir(record(&repo, "j1"))
        .expect("a record")
        .map(|entry| entry.expect("an entry").file_name().to_string_lossy().into_owned())
        .collect();
    for name in ["ignored.tar", "agent-refs.bundle"] {
        assert!(names.iter().any(|found| found == name), "{names:?}");
    }
    verify(&repo, "j1", 0, &["verified job j1: 9 checks hold\n"]);
    repo.tampered("a file of the record is changed");
    fs::write(record(&repo, "j1").join("ignored.tar"), "x").expect("it can be written");
    verify(
        &repo,
        "j1",
        25,
        &["FAIL  files      ignored.tar has 1 bytes, and the log says "],
    );
}

#[test]
fn binary_files_links_modes_and_renames_are_in_the_patch() {
    let repo = Repo::new();
    repo.change("payments/old.ts", "const a = 1;\nconst b = 2;\n");
    let agent = "head -c 5000 /dev/urandom > payments/x.bin; ln -s pay.ts payments/link; chmod +x payments/pay.ts
        git mv payments/old.ts payments/renamed.ts; : > payments/empty; printf 'no newline' > 'payments/a b\"c'";
    job(&repo, "j1", &[], agent).run();
    verify(&repo, "j1", 0, &["base and change.patch make the candidate"]);
}

#[test]
fn checks_are_part_of_the_verdict() {
    let repo = Repo::new();
    repo.write(
        "architecture/agentgate.yml",
        "checks:\n- {name: good, run: 'true'}\n- {name: bad, run: 'echo one; echo two; grep -q old payments/pay.ts', baseline: true}\n\
         - {name: skipped, run: 'true', when: [docs/]}\n",
    );
    repo.commit("settings");
    run_to(10, &repo, "red", EDIT);
    verify(&repo, "red", 0, &["judged again: the same finding (exit 10)"]);
    run_to(3, &repo, "refused", "rm prot/rules.txt");
    verify(&repo, "refused", 0, &["verified job refused"]);
    run_to(0, &repo, "green", "echo old > payments/pay.ts");
    verify(
        &repo,
        "green",
        0,
        &["judged again: no findings", "verified job green: 11 checks hold\n"],
    );
}

#[test]
fn a_candidate_with_a_credential_is_not_compared_with_its_patch() {
    let repo = Repo::new();
    let agent = format!("echo 'const t = \"{}\";' > payments/a.ts", github());
    run_to(24, &repo, "j1", &agent);
    verify(
        &repo,
        "j1",
        0,
        &[
            "-     ref        there is none, since the candidate holds a credential",
            "-     patch      not compared: the candidate held a credential",
            "verified job j1: 7 checks hold\n",
        ],
    );
    // Nothing keeps its objects.
    repo.git(["gc", "--quiet", "--prune=now"]);
    verify(
        &repo,
        "j1",
        0,
        &["not compared: the candidate held a credential and has no ref"],
    );
}

#[test]
fn a_landed_job_is_proved_as_long_as_a_branch_has_it() {
    let repo = kept();
    repo.agentgate(["land", "j1"]).success();
    verify(
        &repo,
        "j1",
        0,
        &[
            "landed on refs/heads/main, is in a branch or tag",
            "verified job j1: 11 checks hold\n",
        ],
    );
    verify(&repo, "main", 0, &[]);
    repo.change("payments/more.ts", "1;\n");
    verify(&repo, "j1", 0, &[]);
    repo.tampered("the branch is turned back");
    repo.git(["reset", "--quiet", "--hard", "HEAD~2"]);
    verify(&repo, "j1", 25, &["FAIL  place", "is in no branch or tag any more"]);
}

#[test]
fn a_dropped_job_is_proved_without_its_branch() {
    let repo = kept();
    repo.agentgate(["drop", "j1"]).success();
    verify(
        &repo,
        "j1",
        0,
        &[
            "-     place      the job was dropped",
            "verified job j1: 10 checks hold\n",
        ],
    );
    repo.git(["reflog", "expire", "--expire=now", "--all"]);
    repo.git(["gc", "--quiet", "--prune=now"]);
    verify(
        &repo,
        "j1",
        0,
        &[
            "is gone, as git gc does with what was dropped",
            "verified job j1: 9 checks hold\n",
        ],
    );
}

#[test]
fn what_a_person_does_on_top_of_a_kept_branch_is_their_business() {
    let repo = kept();
    let worktree = scene::worktree(&repo, "j1");
    let person = repo.beside("repo-jobs/j1");
    assert_eq!(person.root, worktree);
    person.change("payments/pay.ts", "export const pay = 3;\n");
    verify(&repo, "j1", 0, &["somebody has built on the candidate"]);
    // Theirs has no trailers.
    verify(&repo, "agent/j1", 23, &["has no Agent-* trailers"]);
}

#[test]
fn a_branch_that_another_took_over_need_not_be_there() {
    let repo = kept();
    repo.git(["branch", "review", "agent/j1"]);
    repo.git([
        "-C",
        &scene::worktree(&repo, "j1").to_string_lossy(),
        "checkout",
        "--quiet",
        "--detach",
    ]);
    repo.git(["branch", "-D", "agent/j1"]);
    verify(
        &repo,
        "j1",
        0,
        &["branch agent/j1 is gone, and another branch or tag has the candidate"],
    );
}

#[test]
fn what_is_neither_a_job_nor_a_commit_is_23() {
    let repo = kept();
    verify(
        &repo,
        "j2",
        23,
        &["there is no job j2 in this clone", "agentgate status"],
    );
    verify(&repo, "no/such", 23, &["is neither a job nor a commit of this clone"]);
    verify(
        &repo,
        "HEAD",
        23,
        &["has no Agent-* trailers: no job is to have made it"],
    );
    repo.commit("agent job x: y\n\nAgent-Job-Id: x\n");
    verify(
        &repo,
        "HEAD",
        25,
        &[
            "names no job that could be verified: Agent-Host is missing",
            "agentgate trailers",
        ],
    );
    repo.commit("agent job x: y\n\nAgent-Job-Id: x\nAgent-Host: h\nAgent-Model-Label: m\n");
    verify(
        &repo,
        "HEAD",
        23,
        &[
            "there is no record of job x",
            "git fetch CLONE refs/agentgate/jobs/x:refs/agentgate/jobs/x",
        ],
    );
}

#[test]
fn the_goal_of_the_task_may_be_odd() {
    let repo = Repo::new();
    let goal = format!(
        "Goal: a \"quoted\" \\ goal with ünïcode {}\n",
        "and many words ".repeat(20)
    );
    let task = task(&repo, format!("{goal}{TASK}").replacen(TASK, "", 1));
    let outcome = repo
        .command(["run", "--job-id", "j1"])
        .args([task.as_os_str()])
        .args(["--", "sh", "-c", EDIT])
        .run();
    outcome.expect(0, &[]);
    verify(&repo, "j1", 0, &["tree, parent and trailers are the record's"]);
    assert!(!frozen(&repo, "j1").is_empty());
}

//! Records and refs of which something was changed: each is 25 and says what.

use std::fs;

use super::{EDIT, kept, verify};
use crate::support::jobs::{common, frozen, record, run_to};
use crate::support::repo::Repo;
use crate::support::scene;

#[test]
fn a_file_that_was_added_removed_or_cut_is_25() {
    let repo = kept();
    repo.tampered("files of the record are changed");
    let folder = record(&repo, "j1");
    let mut names: Vec<String> = fs::read_dir(&folder)
        .expect("a record")
        .map(|entry| entry.expect("an entry").file_name().to_string_lossy().into_owned())
        .collect();
    names.sort();
    for name in &names {
        let path = folder.join(name);
        let bytes = fs::read(&path).expect("it is there");
        fs::remove_file(&path).expect("it can be removed");
        let words = match name.as_str() {
            "owner.lock" | "events.jsonl" | "report.json" => format!("{name} is not there"),
            _ => format!("{name} is named by the log and not there"),
        };
        verify(&repo, "j1", 25, &[&words]);
        if let Some(cut) = bytes.len().checked_sub(1) {
            fs::write(&path, &bytes[..cut]).expect("it can be written");
            verify(&repo, "j1", 25, &["is not proved"]);
            fs::write(&path, b"").expect("it can be written");
            verify(&repo, "j1", 25, &["is not proved"]);
        }
        fs::write(&path, [&bytes[..], b"x"].concat()).expect("it can be written");
        verify(&repo, "j1", 25, &["is not proved"]);
        fs::write(&path, &bytes).expect("it can be written");
    }
    fs::create_dir(folder.join("more")).expect("it can be made");
    verify(&repo, "j1", 25, &["more is no file"]);
    fs::remove_dir(folder.join("more")).expect("it is there");
    verify(&repo, "j1", 0, &[]);
}

#[test]
fn a_report_that_was_removed_is_missed_where_the_run_had_written_one() {
    let remove = |repo: &Repo| {
        repo.tampered("the report is removed");
        fs::remove_file(record(repo, "j1").join("report.json")).expect("it is there");
    };
    for settle in ["land", "drop"] {
        let repo = kept();
        repo.agentgate([settle, "j1"]).success();
        verify(&repo, "j1", 0, &[]);
        remove(&repo);
        verify(
            &repo,
            "j1",
            25,
            &["report.json is not there, and its run had written it"],
        );
    }
    let repo = Repo::new();
    run_to(3, &repo, "j1", "rm prot/rules.txt");
    remove(&repo);
    verify(
        &repo,
        "j1",
        25,
        &["report.json is not there, and its run had written it"],
    );
    // As a run leaves it that was killed over its last words.
    fs::write(record(&repo, "j1").join("resume.json"), "{}").expect("it can be written");
    verify(
        &repo,
        "j1",
        0,
        &["-     report     not provable: report.json is not there"],
    );
    // `run --land` lands before it writes one.
    let repo = Repo::new();
    crate::support::jobs::job(&repo, "j1", &["--land"], EDIT)
        .run()
        .success();
    verify(&repo, "j1", 0, &[]);
    remove(&repo);
    verify(&repo, "j1", 0, &["not provable: report.json is not there"]);
}

#[test]
fn a_landing_that_was_cut_off_the_log_is_found_in_the_branchs_own_log() {
    let repo = kept();
    repo.agentgate(["land", "j1"]).success();
    repo.tampered("the log is cut");
    let path = record(&repo, "j1").join("events.jsonl");
    let text = fs::read_to_string(&path).expect("a log");
    let end = text.trim_end().rfind('\n').expect("a line before the last") + 1;
    fs::write(&path, &text[..end]).expect("it can be written");
    verify(
        &repo,
        "j1",
        25,
        &[
            "FAIL  place",
            "`agentgate land j1` moved refs/heads/main",
            "the log has no job.landed",
        ],
    );
    // Without that log nothing tells, and that is said.
    fs::remove_dir_all(common(&repo).join("logs")).expect("it is there");
    verify(
        &repo,
        "j1",
        0,
        &["not provable: that no job.landed or job.dropped was cut off the log"],
    );
}

#[test]
fn the_end_of_the_log_cannot_be_taken_away() {
    let repo = kept();
    repo.tampered("the log is cut");
    let path = record(&repo, "j1").join("events.jsonl");
    let text = fs::read_to_string(&path).expect("a log");
    let mut lines: Vec<&str> = text.lines().collect();
    while lines.pop().is_some() {
        let cut: String = lines.iter().map(|line| format!("{line}\n")).collect();
        fs::write(&path, cut).expect("it can be written");
        verify(&repo, "j1", 25, &["FAIL  log"]);
    }
}

#[test]
fn a_ref_that_was_moved_or_deleted_is_25() {
    let repo = kept();
    run_to(16, &repo, "j2", "echo 1 > payments/b.ts; exit 1");
    let name = "refs/agentgate/jobs/j1";
    let tree = repo.git(["rev-parse", name]);
    repo.tampered("refs are moved");
    repo.git(["update-ref", name, "refs/agentgate/jobs/j2"]);
    verify(
        &repo,
        "j1",
        25,
        &["FAIL  ref", "is not the beginning of events.jsonl", "candidate is "],
    );
    repo.git(["update-ref", name, &repo.id("HEAD")]);
    verify(&repo, "j1", 25, &["which cannot be read as a tree"]);
    repo.git(["update-ref", "-d", name]);
    verify(&repo, "j1", 25, &["refs/agentgate/jobs/j1 is not there"]);
    // Fewer and more files than there should be.
    let entries = repo.git(["ls-tree", &tree]);
    let made = |entries: &str| {
        let outcome = repo.program("git").args(["mktree"]).stdin(entries).run().success();
        outcome.stdout.trim().to_owned()
    };
    let fewer: String = entries
        .lines()
        .filter(|line| !line.ends_with("gate.log"))
        .map(|line| format!("{line}\n"))
        .collect();
    repo.git(["update-ref", name, &made(&fewer)]);
    verify(&repo, "j1", 25, &["refs/agentgate/jobs/j1 lacks gate.log"]);
    let more = entries.replace("gate.log", "more.log");
    repo.git(["update-ref", name, &made(&more)]);
    verify(&repo, "j1", 25, &["has more.log, which is no part of a record's ref"]);
    repo.git(["update-ref", name, &tree]);
    verify(&repo, "j1", 0, &[]);
}

#[test]
fn an_amended_commit_is_not_the_jobs() {
    let repo = kept();
    let made = repo.id("agent/j1");
    repo.tampered("the branch is turned");
    let worktree = repo.beside("repo-jobs/j1");
    worktree.write("payments/pay.ts", "export const pay = 9;\n");
    worktree.git(["commit", "--quiet", "-a", "--amend", "--no-edit"]);
    verify(
        &repo,
        "j1",
        25,
        &["FAIL  place", &format!("which does not have the candidate {made}")],
    );
    verify(&repo, "agent/j1", 25, &["FAIL  commit", "only claims to be of job j1"]);
    verify(&repo, &made, 25, &["ok    commit", "FAIL  place"]);
}

#[test]
fn a_kept_branch_that_is_gone_is_25() {
    let repo = kept();
    let made = repo.id("agent/j1");
    repo.tampered("the branch is deleted");
    repo.git([
        "-C",
        &scene::worktree(&repo, "j1").to_string_lossy(),
        "checkout",
        "--quiet",
        "--detach",
    ]);
    repo.git(["branch", "-D", "agent/j1"]);
    let hint = format!("-> git branch agent/j1 {made}");
    verify(&repo, "j1", 25, &["branch agent/j1 of a kept job is not there", &hint]);
}

#[test]
fn objects_that_are_gone_are_named() {
    let repo = Repo::new();
    run_to(0, &repo, "j1", EDIT);
    repo.tampered("objects are deleted");
    let blob = repo.git(["rev-parse", "agent/j1:payments/new.ts"]);
    let path = common(&repo).join("objects").join(&blob[..2]).join(&blob[2..]);
    let bytes = fs::read(&path).expect("it is loose");
    fs::remove_file(&path).expect("it can be removed");
    verify(
        &repo,
        "j1",
        25,
        &[
            "FAIL  candidate",
            &format!("object {blob} of the candidate cannot be read"),
        ],
    );
    fs::write(&path, bytes).expect("it can be written");
    let tree = frozen(&repo, "j1");
    let path = common(&repo).join("objects").join(&tree[..2]).join(&tree[2..]);
    fs::remove_file(&path).expect("it can be removed");
    verify(&repo, "j1", 25, &["FAIL  candidate", &tree]);
}

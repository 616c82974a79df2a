//! A job of another clone, of which the ref was fetched.

use super::{kept, verify};
use crate::support::jobs::run_to;
use crate::support::repo::Repo;

const NAME: &str = "refs/agentgate/jobs/j1";

fn fetched(repo: &Repo) -> Repo {
    let clone = repo.clone_as("clone", &[]);
    let from = repo.root.display().to_string();
    clone.git([
        "fetch",
        "--quiet",
        &from,
        &format!("{NAME}:{NAME}"),
        "refs/heads/agent/*:refs/heads/from/*",
    ]);
    clone
}

#[test]
fn a_fetched_ref_is_looked_at_as_far_as_it_goes() {
    let repo = kept();
    let clone = fetched(&repo);
    let outcome = verify(&clone, "j1", 0, &["verified job j1: 7 checks hold\n"]);
    outcome.expect(0, &["note: the job was run in another clone, and only its ref is here"]);
    verify(
        &clone,
        "from/j1",
        0,
        &["ok    commit", "verified job j1: 8 checks hold\n"],
    );
    let report = clone.agentgate(["verify", "j1", "--json"]).success().json();
    assert_eq!(report["from"], "ref");
}

#[test]
fn a_commit_that_the_refs_log_does_not_lead_to_is_25() {
    let repo = kept();
    let clone = fetched(&repo);
    clone.git(["checkout", "--quiet", "from/j1"]);
    clone.git([
        "commit",
        "--quiet",
        "--amend",
        "--no-edit",
        "--allow-empty",
        "--reset-author",
    ]);
    // The same tree, parent and trailers under another date: nothing in the ref tells the two apart.
    verify(&clone, "HEAD", 0, &[]);
    clone.write("payments/pay.ts", "export const pay = 7;\n");
    clone.git(["commit", "--quiet", "-a", "--amend", "--no-edit"]);
    verify(&clone, "HEAD", 25, &["FAIL  commit", "has tree "]);
}

#[test]
fn a_fetched_ref_with_another_file_in_it_is_25() {
    let repo = kept();
    let clone = fetched(&repo);
    let blob = clone
        .program("git")
        .args(["hash-object", "-w", "--stdin"])
        .stdin("other\n")
        .run()
        .success();
    let blob = blob.stdout.trim().to_owned();
    let entries = clone.git(["ls-tree", NAME]);
    let change = |name: &str| {
        let lines = entries.lines().map(|line| match line.split_once('\t') {
            Some((_, found)) if found == name => format!("100644 blob {blob}\t{name}\n"),
            _ => format!("{line}\n"),
        });
        let tree = clone
            .program("git")
            .args(["mktree"])
            .stdin(lines.collect::<String>())
            .run()
            .success();
        clone.git(["update-ref", NAME, tree.stdout.trim()]);
    };
    for (name, row) in [
        ("task.md", "FAIL  task"),
        ("gate.log", "FAIL  gate"),
        ("gate.json", "FAIL  gate"),
        ("change.patch", "FAIL  patch"),
        ("events.jsonl", "FAIL  log"),
    ] {
        change(name);
        verify(&clone, "j1", 25, &[row]);
    }
}

#[test]
fn a_failed_jobs_ref_is_enough_too() {
    let repo = Repo::new();
    run_to(16, &repo, "j1", "echo 1 > payments/a.ts; exit 1");
    let clone = repo.clone_as("clone", &[]);
    clone.git([
        "fetch",
        "--quiet",
        &repo.root.display().to_string(),
        &format!("{NAME}:{NAME}"),
    ]);
    verify(&clone, "j1", 0, &["verified job j1: 6 checks hold\n"]);
}

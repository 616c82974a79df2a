//! What `run` demands of the checkout before it begins, and that asking changes nothing there.

use std::fs;
use std::os::unix::fs::MetadataExt;
use std::time::{Duration, SystemTime};

use super::support::jobs::{common, job, jobs_root, run, run_to, same, submodule, task, untouched};
use super::support::repo::Repo;

const EDIT: &str = "echo 'export const pay = 2;' > payments/pay.ts";

#[track_caller]
fn refused(repo: &Repo, texts: &[&str]) {
    let started = repo.top().join("started");
    let outcome = run(repo, "j1", &format!("touch {}; {EDIT}", started.display()));
    outcome.expect(12, texts);
    assert_eq!(outcome.stdout, "", "{outcome}");
    assert!(!started.exists(), "the agent was started");
    assert!(!common(repo).join("agentgate").exists(), "a record was made");
    assert!(!jobs_root(repo).exists());
}

#[test]
fn an_untracked_file_is_dirt_whatever_the_configuration_shows() {
    let repo = Repo::new();
    repo.write("u.txt", "u\n");
    refused(&repo, &["?? u.txt"]);
    repo.git(["config", "status.showUntrackedFiles", "no"]);
    refused(&repo, &["?? u.txt"]);
}

#[test]
fn a_staged_and_an_edited_file_are_dirt() {
    let repo = Repo::new();
    repo.write("payments/pay.ts", "staged\n");
    repo.git(["add", "-A"]);
    repo.write("prot/rules.txt", "edited\n");
    refused(&repo, &["M  payments/pay.ts", " M prot/rules.txt"]);
}

#[test]
fn a_merge_with_conflicts_is_dirt() {
    let repo = Repo::new();
    repo.branch("other");
    repo.change("payments/pay.ts", "theirs\n");
    repo.checkout("main");
    repo.change("payments/pay.ts", "ours\n");
    repo.program("git")
        .args(["merge", "--quiet", "other"])
        .run()
        .expect(1, &[]);
    refused(&repo, &["in the middle of a merge"]);
}

#[test]
fn a_merge_that_left_only_unmerged_entries_is_dirt() {
    let repo = Repo::new();
    repo.branch("other");
    repo.change("payments/pay.ts", "theirs\n");
    repo.checkout("main");
    repo.change("payments/pay.ts", "ours\n");
    repo.program("git")
        .args(["merge", "--quiet", "other"])
        .run()
        .expect(1, &[]);
    repo.git(["merge", "--quit"]);
    refused(&repo, &["UU payments/pay.ts"]);
}

#[test]
fn a_rebase_that_waits_is_named_even_where_every_file_is_clean() {
    let repo = Repo::new();
    repo.change("payments/a.ts", "a\n");
    repo.program("git")
        .args(["rebase", "--quiet", "-i", "HEAD~1"])
        .env("GIT_SEQUENCE_EDITOR", "sed -i 1s/pick/edit/")
        .run()
        .success();
    assert_eq!(repo.git(["status", "--porcelain"]), "");
    refused(&repo, &["in the middle of a rebase"]);
}

#[test]
fn the_given_task_may_lie_untracked_in_the_root_but_nothing_beside_it() {
    let repo = Repo::new();
    repo.write("TASK.md", "Goal: x\n");
    let args = ["run", "--job-id", "j1", "TASK.md", "--", "sh", "-c", EDIT];
    repo.agentgate(args).expect(0, &["verdict=ok"]);
    assert_eq!(repo.git(["status", "--porcelain"]), "?? TASK.md");
    repo.write("OTHER.md", "x\n");
    repo.agentgate(["run", "TASK.md", "--", "true"])
        .expect(12, &["?? OTHER.md"]);
}

#[test]
fn the_given_task_may_lie_in_an_untracked_folder_but_nothing_beside_it() {
    let repo = Repo::new();
    repo.write("tasks/new/TASK.md", "Goal: x\n");
    let args = ["run", "--job-id", "j1", "tasks/new/TASK.md", "--", "sh", "-c", EDIT];
    repo.agentgate(args).expect(0, &["verdict=ok"]);
    repo.write("tasks/new/beside.md", "x\n");
    let outcome = repo.agentgate(["run", "tasks/new/TASK.md", "--", "true"]);
    outcome.expect(12, &["?? tasks/new/beside.md"]);
    assert!(!outcome.stderr.contains("tasks/new/TASK.md is"), "{outcome}");
    assert!(!outcome.stderr.contains("?? tasks/new/TASK.md"), "{outcome}");
}

#[test]
fn a_task_given_by_an_untracked_link_is_that_one_path() {
    let repo = Repo::new();
    let outside = task(&repo, "Goal: x\n");
    std::os::unix::fs::symlink(&outside, repo.root.join("TASK.md")).expect("a link");
    let args = ["run", "--job-id", "j1", "TASK.md", "--", "sh", "-c", EDIT];
    repo.agentgate(args).expect(0, &["verdict=ok"]);
}

#[test]
fn a_run_leaves_index_and_git_dir_as_they_were_even_with_stale_stat_data() {
    let repo = Repo::new();
    // Another time than the index has: a plain `git status` would write the index anew.
    let file = fs::File::open(repo.root.join("payments/pay.ts")).expect("it is there");
    file.set_modified(SystemTime::now() - Duration::from_secs(3600))
        .expect("a time");
    let index = repo.root.join(".git/index");
    let stat = |path: &std::path::Path| {
        let meta = fs::metadata(path).expect("it is there");
        (
            meta.ino(),
            meta.mtime(),
            meta.mtime_nsec(),
            fs::read(path).expect("it can be read"),
        )
    };
    let (before, index_before) = (untouched(&repo), stat(&index));
    run_to(0, &repo, "j1", EDIT);
    run_to(15, &repo, "j2", "true");
    run_to(3, &repo, "j3", "rm prot/rules.txt");
    assert_eq!(stat(&index), index_before);
    same(&before, &untouched(&repo));
}

#[test]
fn a_run_from_a_linked_worktree_leaves_that_ones_admin_folder_as_it_was() {
    let repo = Repo::new();
    let linked = repo.beside("linked");
    repo.git(["worktree", "add", "--quiet", "-b", "side", "../linked"]);
    let file = fs::File::open(linked.root.join("payments/pay.ts")).expect("it is there");
    file.set_modified(SystemTime::now() - Duration::from_secs(3600))
        .expect("a time");
    let admin = repo.root.join(".git/worktrees/linked");
    let state = || -> Vec<_> {
        let mut state: Vec<_> = fs::read_dir(&admin)
            .expect("it can be listed")
            .map(|entry| entry.expect("an entry").path())
            .map(|path| {
                let meta = fs::metadata(&path).expect("it is there");
                (
                    path.clone(),
                    meta.ino(),
                    meta.mtime(),
                    meta.mtime_nsec(),
                    fs::read(&path).ok(),
                )
            })
            .collect();
        state.sort();
        state
    };
    let before = (state(), untouched(&repo));
    run_to(0, &linked, "j1", EDIT);
    run_to(3, &linked, "j2", "rm prot/rules.txt");
    assert_eq!(state(), before.0);
    same(&before.1, &untouched(&repo));
    assert_eq!(linked.git(["status", "--porcelain"]), "");
}

#[test]
fn a_touched_file_under_a_filter_is_clean() {
    let repo = Repo::new();
    repo.git(["config", "filter.case.clean", "tr a-z A-Z"]);
    repo.git(["config", "filter.case.smudge", "tr A-Z a-z"]);
    repo.write(".gitattributes", "*.t filter=case\n");
    repo.write("x.t", "text\n");
    repo.commit("filter");
    let file = fs::File::open(repo.root.join("x.t")).expect("it is there");
    file.set_modified(SystemTime::now() + Duration::from_secs(5))
        .expect("a time");
    run_to(15, &repo, "j1", "touch x.t");
    run_to(0, &repo, "j2", "echo more >> x.t");
    assert_eq!(repo.git(["show", "agent/j2:x.t"]), "TEXT\nMORE");
    let kept = jobs_root(&repo).join("j2/x.t");
    assert_eq!(fs::read_to_string(kept).expect("it is kept"), "text\nmore\n");
}

#[test]
fn an_edited_submodule_is_named_whatever_its_ignore_setting_says() {
    let repo = submodule("s");
    repo.write("s/a.txt", "edited\n");
    refused(&repo, &[" M s (submodule: modified content)"]);
    repo.git(["config", "submodule.s.ignore", "all"]);
    refused(&repo, &[" M s (submodule: modified content)"]);
}

#[test]
fn a_submodule_at_another_commit_or_with_untracked_files_is_named() {
    let repo = submodule("s");
    repo.write("s/new.txt", "n\n");
    refused(&repo, &[" M s (submodule: untracked content)"]);
    repo.beside("repo/s").commit("moved");
    refused(&repo, &[" M s (submodule: new commits)"]);
}

#[test]
fn allow_dirty_starts_from_head_and_stands_in_the_trailer() {
    let repo = Repo::new();
    repo.write("payments/pay.ts", "mine\n");
    repo.write("u.txt", "mine\n");
    let outcome = job(&repo, "j1", &["--allow-dirty"], "echo x > payments/new.ts").run();
    outcome.expect(0, &["verdict=ok"]);
    assert_eq!(
        repo.git(["diff", "--name-status", "main", "agent/j1"]),
        "A\tpayments/new.ts"
    );
    let trailer = repo.git([
        "log",
        "-1",
        "--format=%(trailers:key=Agent-Confinement,valueonly)",
        "agent/j1",
    ]);
    assert!(trailer.trim().ends_with(",allow-dirty"), "{trailer}");
    assert_eq!(repo.git(["status", "--porcelain"]), " M payments/pay.ts\n?? u.txt");
}

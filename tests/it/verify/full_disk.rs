//! A record that cannot be written: the job stops before it does what it could not record.

use std::fs;
use std::os::unix::fs::PermissionsExt;

use crate::support::jobs::{TASK, common, jobs_root, record, task};
use crate::support::person::Person;
use crate::support::program::Outcome;
use crate::support::repo::Repo;

/// Runs a job in which no file may have more than this many blocks of 512 bytes; a write beyond is short, as on a
/// full disk.
fn run(repo: &Repo, blocks: u32) -> Outcome {
    let task = task(repo, TASK);
    let script = format!("trap '' XFSZ; ulimit -f {blocks}; exec \"$@\"");
    repo.program("sh")
        .args(["-c", &script, "sh", &repo.binary(), "run", "--job-id", "j1"])
        .args([task.as_os_str()])
        .args(["--", "sh", "-c", "echo at work > payments/a.ts"])
        .run()
}

#[test]
fn a_log_that_cannot_grow_ends_the_job_before_the_next_step() {
    let mut before_the_agent = 0;
    for blocks in 2..=5 {
        let repo = Repo::new();
        let outcome = run(&repo, blocks);
        let text = fs::read_to_string(record(&repo, "j1").join("events.jsonl")).expect("a log");
        let has = |kind: &str| {
            text.split_inclusive('\n')
                .any(|line| line.ends_with('\n') && line.contains(kind))
        };
        let there = jobs_root(&repo).join("j1");
        let worked = there.join("payments/a.ts").exists();
        // The start of a step is on the disk before it begins.
        assert!(
            has("\"preflight.passed\"") || !there.exists(),
            "{blocks} blocks: {outcome}"
        );
        assert!(has("\"agent.confined\"") || !worked, "{blocks} blocks: {outcome}");
        assert!(blocks > 2 || !there.exists(), "{outcome}");
        before_the_agent += usize::from(there.exists() && !worked);
        if blocks == 3 {
            outcome.expect(1, &["cannot append to ", "events.jsonl: wrote "]);
            repo.agentgate(["doctor", "--job", "j1"]).expect(
                0,
                &["are a torn last line", "it never finished, and its process is gone"],
            );
            repo.agentgate(["verify", "j1"])
                .expect(25, &["bytes that are no event"]);
            repo.agentgate(["drop", "--force", "j1"]).success();
        }
    }
    assert!(before_the_agent > 0, "no limit came between the worktree and the agent");
}

#[test]
fn where_no_record_can_be_made_nothing_else_is() {
    for person in Person::all().into_iter().filter(|person| !person.is_root()) {
        let repo = Repo::of(person);
        let jobs = common(&repo).join("agentgate/jobs");
        fs::create_dir_all(&jobs).expect("it can be made");
        person.own_all(&common(&repo).join("agentgate"));
        fs::set_permissions(&jobs, fs::Permissions::from_mode(0o500)).expect("it is there");
        // Files of the record are made private again where that can be: so it is no folder of theirs.
        std::os::unix::fs::chown(&jobs, Some(0), Some(0)).expect("root can give it away");
        fs::set_permissions(&jobs, fs::Permissions::from_mode(0o555)).expect("it is there");
        let task = task(&repo, TASK);
        let outcome = repo
            .command(["run", "--job-id", "j1"])
            .args([task.as_os_str()])
            .args(["--", "sh", "-c", "echo at work > payments/a.ts"])
            .run();
        assert_eq!(outcome.code, 1, "{outcome}");
        assert!(!jobs_root(&repo).join("j1").exists(), "{outcome}");
        assert_eq!(repo.git(["worktree", "list"]).lines().count(), 1);
    }
}

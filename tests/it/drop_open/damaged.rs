//! A job whose log is damaged: its worktree can be deleted, and its record stays as it is.

use std::fs;
use std::path::PathBuf;

use super::super::support::repo::Repo;
use super::super::support::scene::{self, AGENT, JOB, dead, kept, nothing_left, record, tree, until, worktree};

/// Puts a line of garbage into the middle of the log, or behind its first lines.
fn damage(repo: &Repo, line: usize) {
    repo.tampered("the log has a line of garbage");
    let log = record(repo, JOB).join("events.jsonl");
    let text = fs::read_to_string(&log).expect("there is a log");
    let mut lines: Vec<&str> = text.lines().collect();
    lines.insert(line, "garbage");
    fs::write(&log, format!("{}\n", lines.join("\n"))).expect("it can be written");
}

fn private(repo: &Repo) -> PathBuf {
    scene::jobs(repo).join(".jobs").join(JOB)
}

#[test]
fn with_force_its_worktree_goes_and_its_record_stays() {
    // The first line is what says where it is; without it, what the clone knows of the worktree has to do.
    for line in [0, 1, 4] {
        let repo = Repo::new();
        dead(&repo, AGENT);
        damage(&repo, line);
        let before = tree(&record(&repo, JOB));
        let there = worktree(&repo, JOB);
        for command in [&["drop", JOB][..], &["resume", JOB]] {
            repo.agentgate(command)
                .expect(23, &["damaged at line", "agentgate drop --force j1"]);
        }
        assert!(there.exists() && private(&repo).exists());
        let outcome = repo.agentgate(["drop", "--force", JOB]);
        outcome.expect(
            0,
            &[
                &format!("damaged at line {}", line + 1),
                "its record was left as it is",
                &format!("deleted: {}", there.display()),
                &format!("deleted: {}", private(&repo).display()),
            ],
        );
        nothing_left(&repo);
        assert_eq!(tree(&record(&repo, JOB)), before);
        repo.agentgate(["drop", "--force", JOB])
            .expect(23, &["nothing to drop", "the record stays"]);
    }
}

#[test]
fn whoever_has_the_job_keeps_it() {
    let repo = Repo::new();
    let mut running = scene::at_work(&repo, JOB, AGENT);
    damage(&repo, 1);
    repo.agentgate(["drop", "--force", JOB])
        .expect(13, &["j1 is being worked on"]);
    assert!(worktree(&repo, JOB).join("at-work").exists());
    running.signal(9);
    running.wait();
    until("it is gone", || scene::processes(&repo, JOB).is_empty());
}

#[test]
fn what_is_not_proved_to_be_its_own_is_left() {
    let repo = Repo::new();
    kept(&repo, AGENT);
    damage(&repo, 2);
    let there = worktree(&repo, JOB);
    repo.git(["worktree", "lock", "--reason", "keep", &there.to_string_lossy()]);
    repo.agentgate(["drop", "--force", JOB])
        .expect(23, &["locked by a person: keep", "git worktree unlock"]);
    repo.git(["worktree", "unlock", &there.to_string_lossy()]);
    // A person has put their own clone there.
    fs::rename(&there, repo.top().join("away")).expect("it can be moved");
    repo.git(["clone", "--quiet", ".", "../repo-jobs/j1"]);
    repo.agentgate(["drop", "--force", JOB])
        .expect(0, &["is not the worktree that job j1 made any more", "agent/j1 stays"]);
    assert!(there.join("payments/pay.ts").exists());
    repo.id("agent/j1");
    // One that was moved with git is theirs.
    let repo = Repo::new();
    kept(&repo, AGENT);
    damage(&repo, 0);
    repo.git(["worktree", "move", "../repo-jobs/j1", "../mine"]);
    repo.agentgate(["drop", "--force", JOB])
        .expect(23, &["nothing to drop"]);
    assert!(repo.top().join("mine/payments/pay.ts").exists());
}

#[test]
fn a_record_that_was_copied_is_no_reason_to_touch_the_job_it_tells_of() {
    let repo = Repo::new();
    kept(&repo, AGENT);
    repo.tampered("the record was copied");
    let copy = record(&repo, "j2");
    let copied = repo.program("cp").args(["-r"]).args([record(&repo, JOB), copy]).run();
    copied.success();
    repo.agentgate(["drop", "--force", "j2"])
        .expect(23, &["nothing to drop"]);
    assert!(worktree(&repo, JOB).join("payments/pay.ts").exists());
}

/// Everything of the record that is not there before the first event.
fn strip(repo: &Repo) {
    for entry in fs::read_dir(record(repo, JOB)).expect("there is a record") {
        let path = entry.expect("an entry").path();
        let name = path.file_name().expect("a name").to_string_lossy().into_owned();
        if !["events.jsonl", "owner.lock", "task.md", "resume.json"].contains(&name.as_str()) {
            fs::remove_file(&path).expect("it can be removed");
        }
    }
}

#[test]
fn a_log_that_was_emptied_is_damaged_and_not_that_of_a_job_that_made_nothing() {
    for (log, is_bare) in [("", false), ("", true), ("{\"v\":1,", true)] {
        let repo = Repo::new();
        dead(&repo, AGENT);
        repo.tampered("the log was emptied");
        fs::write(record(&repo, JOB).join("events.jsonl"), log).expect("it can be written");
        if is_bare {
            strip(&repo);
        }
        let there = worktree(&repo, JOB);
        let way = "agentgate drop --force j1";
        for verb in ["drop", "resume", "open", "land", "attach", "wait"] {
            let outcome = repo.agentgate([verb, JOB]);
            outcome.expect(23, &["damaged at line 1", "the job had begun", way]);
            assert!(!outcome.stderr.contains("made nothing"), "{outcome}");
        }
        let outcome = repo.agentgate(["doctor", "--job", JOB]);
        outcome.expect(23, &["the job had begun", way]);
        assert!(!format!("{outcome}").contains("rm -r"), "{outcome}");
        assert!(there.join("payments/new.ts").exists());
        repo.agentgate(["drop", "--force", JOB]).expect(
            0,
            &[
                "its record was left as it is",
                &format!("deleted: {}", there.display()),
                &format!("deleted: {}", private(&repo).display()),
            ],
        );
        nothing_left(&repo);
    }
}

#[test]
fn whatever_there_is_of_a_job_shows_that_it_had_begun() {
    type Trace = fn(&Repo);
    let traces: [(&str, Trace); 3] = [
        ("its folder", |repo| {
            fs::create_dir_all(private(repo)).expect("it can be made");
        }),
        ("its branch", |repo| {
            repo.git(["branch", "agent/j1"]);
        }),
        ("its record's ref", |repo| {
            repo.git(["update-ref", "refs/agentgate/jobs/j1", "HEAD^{tree}"]);
        }),
    ];
    for (what, leave) in traces {
        let repo = Repo::new();
        repo.tampered("a record without events");
        let folder = record(&repo, JOB);
        fs::create_dir_all(&folder).expect("it can be made");
        fs::write(folder.join("events.jsonl"), "").expect("it can be written");
        fs::write(folder.join("owner.lock"), "").expect("it can be written");
        repo.agentgate(["doctor", "--job", JOB])
            .expect(23, &["it made nothing", "agentgate drop j1 frees its id"]);
        leave(&repo);
        repo.agentgate(["drop", JOB])
            .expect(23, &[&format!("there is {what}"), "agentgate drop --force j1"]);
        assert!(folder.exists());
        let code = if private(&repo).exists() { 0 } else { 23 };
        repo.agentgate(["drop", "--force", JOB])
            .expect(code, &["damaged at line 1"]);
        assert!(folder.exists() && !private(&repo).exists());
    }
}

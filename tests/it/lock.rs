//! The clone lock: one job at a time, whoever takes it, and gone with its holder.

use std::fs;
use std::process::Command;
use std::time::{Duration, Instant};

use super::support::program::Running;
use super::support::repo::Repo;
use super::support::scene::{self, AGENT, JOB, agent, at_work, kept, lock_is_free, nothing_left, until, worktree};

/// The lock, held by flock(1) as a script does it, until this is dropped.
fn held(repo: &Repo) -> Running {
    let lock = repo.root.join(".git/agent-jobs.lock");
    let sign = repo.top().join("held");
    let _ = fs::remove_file(&sign);
    let script = format!(": > '{}'; exec sleep 50", sign.display());
    let holder = repo
        .program("flock")
        .args([lock.as_os_str(), "sh".as_ref(), "-c".as_ref()]);
    let holder = holder.args([script]).spawn();
    until("flock holds it", || sign.exists());
    holder
}

/// Nothing was made for this job.
#[track_caller]
fn nothing_made(repo: &Repo, id: &str) {
    assert!(!worktree(repo, id).exists());
    assert!(!scene::record(repo, id).exists());
    assert!(!scene::jobs(repo).join(".jobs").join(id).exists());
    assert_eq!(repo.git(["branch", "--list", &format!("agent/{id}")]), "");
}

#[test]
fn a_second_job_is_turned_away_and_told_by_whom() {
    let repo = Repo::new();
    let mut first = at_work(&repo, JOB, "true");
    let started = Instant::now();
    let outcome = agent(&repo, "j2", &[], AGENT).run();
    outcome.expect(13, &["job j1", &format!("pid {}", first.pid()), "--wait"]);
    assert!(started.elapsed() < Duration::from_secs(5));
    nothing_made(&repo, "j2");
    let json = agent(&repo, "j3", &["--json"], AGENT).run();
    assert_eq!(json.json()["exit"], 13);

    // And from a linked worktree, which shares the git dir.
    repo.git(["worktree", "add", "--quiet", "-b", "side", "../linked"]);
    agent(&repo.beside("linked"), "j4", &[], AGENT)
        .run()
        .expect(13, &["job j1"]);
    first.signal(15);
    assert_eq!(first.wait().code, 143);
    agent(&repo.beside("linked"), "j5", &[], AGENT).run().success();
}

#[test]
fn a_script_that_holds_it_with_flock_counts() {
    let repo = Repo::new();
    // Who held it last is of no interest.
    agent(&repo, "j0", &[], "true").run().expect(15, &[]);
    let mut holder = held(&repo);
    let outcome = agent(&repo, JOB, &[], AGENT).run();
    outcome.expect(13, &["agent-jobs.lock"]);
    assert!(!outcome.stderr.contains("j0"), "{outcome}");
    nothing_made(&repo, JOB);
    holder.kill();
    drop(holder);
    kept(&repo, AGENT);
}

#[test]
fn waiting_queues_for_as_long_as_was_said() {
    let repo = Repo::new();
    let mut holder = held(&repo);
    let started = Instant::now();
    agent(&repo, JOB, &["--wait=1s"], AGENT)
        .run()
        .expect(13, &["agent-jobs.lock"]);
    assert!(started.elapsed() >= Duration::from_secs(1));
    assert!(started.elapsed() < Duration::from_secs(10));
    nothing_made(&repo, JOB);

    let mut waiting = [
        agent(&repo, "j2", &["--wait"], AGENT).spawn(),
        agent(&repo, "j3", &["--wait=40s"], AGENT).spawn(),
    ];
    // They are past the check of the command line once they try the lock.
    std::thread::sleep(Duration::from_millis(300));
    assert!(waiting.iter_mut().all(Running::is_running));
    holder.kill();
    for job in waiting {
        job.wait().success();
    }
    lock_is_free(&repo);
}

#[test]
fn a_signal_ends_the_wait() {
    let repo = Repo::new();
    let _holder = held(&repo);
    for (signal, code) in [(2, 130), (15, 143), (1, 129)] {
        let mut waiting = agent(&repo, JOB, &["--wait"], AGENT).spawn();
        let caught = format!("/proc/{}/status", waiting.pid());
        until("it catches signals", || {
            fs::read_to_string(&caught).is_ok_and(|status| {
                let mask = status.lines().find_map(|line| line.strip_prefix("SigCgt:"));
                let mask = mask.and_then(|hex| u64::from_str_radix(hex.trim(), 16).ok());
                mask.is_some_and(|mask| mask & (1 << (signal - 1)) != 0)
            })
        });
        waiting.signal(signal);
        waiting.wait().expect(code, &[]);
        nothing_made(&repo, JOB);
    }
}

#[test]
fn a_killed_job_frees_it_at_once() {
    let repo = Repo::new();
    scene::dead(&repo, "true");
    lock_is_free(&repo);
    agent(&repo, "j2", &[], AGENT).run().success();
    assert_eq!(scene::row(&repo, JOB)["state"], "dead");
}

#[test]
fn what_a_file_says_about_its_holder_is_never_the_proof() {
    let me = std::process::id();
    let dead = {
        let mut child = Command::new("true").spawn().expect("true can be started");
        let pid = child.id();
        child.wait().expect("it ends");
        pid
    };
    let holder = |pid: u32| {
        format!(
            "{{\"job\":\"old\",\"process\":{{\"pid\":{pid},\"start_time\":1,\"boot_id\":\"x\"}},\"command\":\"agentgate\"}}"
        )
    };
    for text in [holder(dead), holder(me), holder(1), "not json".into(), String::new()] {
        let repo = Repo::new();
        repo.write(".git/agent-jobs.lock", format!("{me}\n"));
        repo.write(".git/agent-jobs.holder", &text);
        let status = repo.agentgate(["status", "--json"]).success();
        assert_eq!(status.json()["holder"], serde_json::Value::Null);
        kept(&repo, AGENT);
    }
}

#[test]
fn of_eight_at_once_some_run_and_the_rest_leave_nothing() {
    let repo = Repo::new();
    let started: Vec<_> = (0..8)
        .map(|n| {
            let id = format!("e{n}");
            let running = agent(&repo, &id, &[], "echo x > payments/x.ts; sleep 0.2").spawn();
            (id, running)
        })
        .collect();
    let mut ran = Vec::new();
    for (id, running) in started {
        let outcome = running.wait();
        match outcome.code {
            0 => ran.push(id),
            13 => nothing_made(&repo, &id),
            _ => panic!("{outcome}"),
        }
    }
    assert!(!ran.is_empty());
    assert_eq!(repo.git(["worktree", "list"]).lines().count(), 1 + ran.len());
    for id in &ran {
        assert!(worktree(&repo, id).join("payments/x.ts").exists());
    }
    assert!(!scene::jobs(&repo).join(".jobs").exists());
    lock_is_free(&repo);
}

#[test]
fn a_job_id_is_used_once_whatever_its_case_and_its_end() {
    let repo = Repo::new();
    kept(&repo, AGENT);
    let before = scene::tree(&scene::record(&repo, JOB));
    for id in ["j1", "J1"] {
        agent(&repo, id, &[], AGENT)
            .run()
            .expect(14, &["job j1 exists already"]);
    }
    repo.agentgate(["drop", JOB]).success();
    let dropped = scene::tree(&scene::record(&repo, JOB));
    assert_ne!(before, dropped);
    agent(&repo, JOB, &[], AGENT)
        .run()
        .expect(14, &["job j1 exists already"]);
    assert_eq!(scene::tree(&scene::record(&repo, JOB)), dropped);
    nothing_left(&repo);
    agent(&repo, "r1", &[], "echo x > prot/rules.txt").run().expect(3, &[]);
    agent(&repo, "R1", &[], AGENT)
        .run()
        .expect(14, &["job r1 exists already"]);
    lock_is_free(&repo);
}

#[test]
fn what_stands_at_the_worktrees_path_is_not_touched() {
    type Put = fn(&Repo);
    let things: [(&str, Put); 4] = [
        ("an empty folder", |there| {
            fs::create_dir_all(&there.root).expect("folders can be made");
        }),
        ("a full folder", |there| there.write("mine", "mine\n")),
        ("a file", |there| {
            fs::create_dir_all(there.root.parent().expect("a folder")).expect("folders can be made");
            fs::write(&there.root, "mine\n").expect("it can be written");
        }),
        ("a link to nowhere", |there| {
            fs::create_dir_all(there.root.parent().expect("a folder")).expect("folders can be made");
            std::os::unix::fs::symlink("nowhere", &there.root).expect("a link can be made");
        }),
    ];
    for (name, put) in things {
        eprintln!("{name}");
        let repo = Repo::new();
        put(&repo.beside("repo-jobs/j1"));
        let before = scene::tree(&scene::jobs(&repo));
        agent(&repo, JOB, &[], AGENT)
            .run()
            .expect(14, &["exists already", "mv "]);
        assert_eq!(scene::tree(&scene::jobs(&repo)), before);
        assert!(!scene::record(&repo, JOB).exists());
        assert_eq!(repo.git(["worktree", "list"]).lines().count(), 1);
        lock_is_free(&repo);
    }
}

#[test]
fn a_branch_in_the_way_is_refused_with_what_to_type() {
    let repo = Repo::new();
    repo.git(["branch", "agent"]);
    agent(&repo, JOB, &[], AGENT)
        .run()
        .expect(14, &["git branch -m agent agent-old"]);
    nothing_made(&repo, JOB);
    repo.git(["branch", "-m", "agent", "agent-old"]);
    for branch in ["agent/j1", "agent/J1", "agent/j1/x"] {
        repo.git(["branch", branch]);
        agent(&repo, JOB, &[], AGENT)
            .run()
            .expect(14, &["git branch -m", branch]);
        assert!(!worktree(&repo, JOB).exists());
        repo.git(["branch", "--delete", branch]);
    }
    kept(&repo, AGENT);
}

#[test]
fn no_process_of_the_agent_gets_a_lock() {
    let repo = Repo::new();
    kept(
        &repo,
        "ls -l /proc/self/fd > payments/fds.txt; setsid ls -l /proc/self/fd >> payments/fds.txt",
    );
    let fds = fs::read_to_string(worktree(&repo, JOB).join("payments/fds.txt")).expect("it is there");
    assert!(fds.contains("/dev/null") || fds.contains("pipe:"), "{fds}");
    for lock in ["agent-jobs", "owner.lock", "events.jsonl"] {
        assert!(!fds.contains(lock), "{fds}");
    }
}

#[test]
fn a_lock_that_cannot_be_taken_is_no_lock() {
    let repo = Repo::new();
    fs::create_dir(repo.root.join(".git/agent-jobs.lock")).expect("a folder can be made");
    let outcome = agent(&repo, JOB, &[], AGENT).run();
    outcome.expect(1, &["locking is not available at", "agent-jobs.lock"]);
    nothing_made(&repo, JOB);
    fs::remove_dir(repo.root.join(".git/agent-jobs.lock")).expect("it is there");

    // Not through a link either: the file that scripts lock is another one then.
    std::os::unix::fs::symlink(repo.top().join("elsewhere"), repo.root.join(".git/agent-jobs.lock"))
        .expect("a link can be made");
    agent(&repo, JOB, &[], AGENT).run().expect(1, &["agent-jobs.lock"]);
    nothing_made(&repo, JOB);
    assert!(!repo.top().join("elsewhere").exists());
}

#[test]
fn an_index_that_a_dead_git_left_locked_stops_no_job() {
    let repo = Repo::new();
    repo.write(".git/index.lock", "");
    repo.agentgate(["preflight"]).success();
    kept(&repo, AGENT);
    assert!(repo.root.join(".git/index.lock").exists(), "it is not ours to delete");
}

#[test]
fn readers_and_settled_jobs_need_no_lock() {
    let repo = Repo::new();
    kept(&repo, AGENT);
    let _holder = held(&repo);
    repo.agentgate(["status"]).success();
    repo.agentgate(["log", JOB]).success();
    repo.agentgate(["preflight"]).success();
    repo.agentgate(["open", JOB]).success();
    repo.agentgate(["land", JOB]).success();
}

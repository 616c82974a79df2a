//! Signals, floods and closed pipes while a job runs.

use std::fs;
use std::time::{Duration, Instant};

use super::support::repo::Repo;
use super::support::scene::{
    self, JOB, agent, at_work, events, jobs, last_kind, lock_is_free, nothing_left, processes, record, until, worktree,
};

/// Leaves a partial edit, a background process and a daemon.
const BUSY: &str = "echo partial > payments/partial.ts
sleep 60 & echo > started
setsid sh -c 'sleep 60 & echo >> started; wait' &
until [ $(wc -l < started) = 2 ]; do sleep 0.02; done";

/// The agent, both sleepers and the daemon's shell, at least.
#[track_caller]
fn busy(repo: &Repo) {
    let pids = processes(repo, JOB);
    assert!(pids.len() >= 4, "{pids:?}");
}

#[track_caller]
fn all_gone(repo: &Repo) {
    let pids = processes(repo, JOB);
    assert!(pids.is_empty(), "{pids:?}");
}

/// What has to be so after an interruption: the evidence is saved, and nothing else is left.
#[track_caller]
fn settled(repo: &Repo, signal: i32, code: i32) {
    let events = events(repo, JOB);
    let last = events.last().expect("a log has events");
    assert_eq!(last["event"], "job.interrupted");
    assert_eq!((&last["signal"], &last["exit"]), (&signal.into(), &code.into()));
    let patch = fs::read_to_string(record(repo, JOB).join("change.patch")).expect("there is a patch");
    assert!(patch.contains("+partial"), "{patch}");
    let tree = repo.git(["ls-tree", "-r", "--name-only", "refs/agentgate/jobs/j1"]);
    assert!(tree.contains("candidate/payments/partial.ts"), "{tree}");
    nothing_left(repo);
    lock_is_free(repo);
    assert_eq!(scene::row(repo, JOB)["state"], "interrupted");
}

#[test]
fn each_signal_ends_the_agent_and_keeps_its_work_in_the_record() {
    for (signal, code) in [(2, 130), (15, 143)] {
        let repo = Repo::new();
        let mut running = at_work(&repo, JOB, BUSY);
        busy(&repo);
        let started = Instant::now();
        running.signal(signal);
        let outcome = running.wait();
        assert!(started.elapsed() < Duration::from_secs(10), "{outcome}");
        outcome.expect(code, &["verdict=interrupted", &format!("exit={code}")]);
        all_gone(&repo);
        settled(&repo, signal, code);
        // What was made can be brought back.
        repo.agentgate(["open", JOB]).success();
        assert!(worktree(&repo, JOB).join("payments/partial.ts").exists());
    }
}

#[test]
fn an_agent_that_ignores_signals_is_killed() {
    let repo = Repo::new();
    let mut running = at_work(&repo, JOB, &format!("trap '' TERM INT HUP\n{BUSY}"));
    busy(&repo);
    let started = Instant::now();
    running.signal(15);
    let outcome = running.wait();
    assert!(started.elapsed() < Duration::from_secs(10), "{outcome}");
    outcome.expect(143, &[]);
    all_gone(&repo);
    settled(&repo, 15, 143);
}

#[test]
fn in_a_container_that_was_entered_the_agent_is_ended_too() {
    let repo = Repo::new();
    let task = repo.top().join("task.md");
    fs::write(&task, "Goal: pay twice\n").expect("the task can be written");
    let namespace = ["--pid", "--fork", "--mount-proc", "--kill-child"];
    let probe = repo.program("unshare").args(namespace).args(["true"]).run();
    if probe.code != 0 {
        eprintln!("skipped: no PID namespace can be made here: {}", probe.stderr);
        return;
    }
    // The leader of its session is outside and has no number inside. Once agentgate is the first process
    // there, for whom the kernel treats signals differently, and once a shell is.
    for (id, prefix) in [("first", "exec"), ("second", "")] {
        let run = format!(
            "{prefix} '{}' run --job-id {id} --timeout 2s '{}' -- sh -c \"$1\"\nexit $?",
            env!("CARGO_BIN_EXE_agentgate"),
            task.display(),
        );
        let script = format!("trap '' TERM INT HUP\n{BUSY}\nwhile :; do sleep 0.1; done");
        let container = repo.program("unshare").args(namespace);
        let outcome = container.args(["sh", "-c", &run, "sh", &script]).run();
        outcome.expect(17, &["verdict=agent-timeout"]);
        let pids = processes(&repo, id);
        assert!(pids.is_empty(), "{pids:?}");
        let patch = fs::read_to_string(record(&repo, id).join("change.patch")).expect("there is a patch");
        assert!(patch.contains("+partial"), "{patch}");
    }
    nothing_left(&repo);
    lock_is_free(&repo);
}

#[test]
fn a_second_signal_cuts_the_grace_short_and_loses_nothing() {
    let repo = Repo::new();
    let mut running = at_work(&repo, JOB, &format!("trap '' TERM INT HUP\n{BUSY}"));
    busy(&repo);
    let started = Instant::now();
    running.signal(2);
    std::thread::sleep(Duration::from_millis(100));
    running.signal(15);
    until("the agent is gone", || processes(&repo, JOB).is_empty());
    // The grace alone is two seconds.
    assert!(
        started.elapsed() < Duration::from_millis(1900),
        "{:?}",
        started.elapsed()
    );
    running.wait().expect(130, &[]);
    settled(&repo, 2, 130);
}

#[test]
fn an_agent_that_ends_by_itself_on_a_signal_was_interrupted_all_the_same() {
    let repo = Repo::new();
    let mut running = at_work(&repo, JOB, &format!("trap 'exit 0' TERM\n{BUSY}"));
    running.signal(15);
    running.wait().expect(143, &[]);
    settled(&repo, 15, 143);
}

/// A repository in which checking out `*.slow` and staging what an agent wrote to one take time.
fn slow(smudge: &str, clean: &str) -> Repo {
    let repo = Repo::new();
    repo.write(".gitattributes", "*.slow filter=slow\n");
    repo.write("payments/a.slow", "slow\n");
    repo.commit("slow");
    let sign = repo.top().join("filtering");
    let script = |time: &str| {
        let sign = sign.display();
        // Staging may write to its own folder for temporary files alone.
        let sign = format!("touch {sign} 2> /dev/null || touch $TMPDIR/filtering");
        format!("x=$(cat; echo .); case $x in *{time}*) {sign}; sleep 30;; esac; printf %s \"${{x%.}}\"")
    };
    repo.git(["config", "--global", "filter.slow.smudge", &script(smudge)]);
    repo.git(["config", "--global", "filter.slow.clean", &script(clean)]);
    repo
}

#[test]
fn a_signal_while_the_worktree_is_made_ends_the_job() {
    let repo = slow("slow", "never");
    let started = repo.top().join("agent-started");
    let mut running = agent(&repo, JOB, &[], &format!(": > {}", started.display())).spawn();
    until("the filter runs", || repo.top().join("filtering").exists());
    let at = Instant::now();
    running.signal(15);
    let outcome = running.wait();
    assert!(at.elapsed() < Duration::from_secs(10), "{outcome}");
    outcome.expect(143, &[]);
    assert!(!started.exists(), "no agent was started");
    assert_eq!(last_kind(&repo, JOB), "job.interrupted");
    assert_eq!(scene::row(&repo, JOB)["state"], "interrupted");
    nothing_left(&repo);
    lock_is_free(&repo);
}

#[test]
fn a_signal_while_the_candidate_is_staged_ends_the_job_and_deletes_no_evidence() {
    let repo = slow("never", "agents");
    let mut running = agent(&repo, JOB, &[], "echo agents > payments/a.slow").spawn();
    let sign = jobs(&repo).join(".jobs/j1/stage.tmp/filtering");
    until("the filter runs", || sign.exists());
    // One signal leaves it some seconds, two do not.
    let at = Instant::now();
    running.signal(15);
    std::thread::sleep(Duration::from_millis(100));
    assert!(running.is_running());
    running.signal(2);
    let outcome = running.wait();
    assert!(at.elapsed() < Duration::from_secs(5), "{outcome}");
    outcome.expect(143, &["nothing was deleted", "drop --force j1"]);
    lock_is_free(&repo);
    // Staging did not come to its end: what the agent left is where it left it.
    let left = worktree(&repo, JOB).join("payments/a.slow");
    assert_eq!(fs::read(&left).expect("nothing was deleted"), b"agents\n");
    assert_eq!(last_kind(&repo, JOB), "job.interrupted");
    assert_eq!(scene::row(&repo, JOB)["state"], "interrupted");
    repo.agentgate(["drop", JOB]).expect(12, &["payments/a.slow"]);
    repo.agentgate(["drop", "--force", JOB]).success();
    nothing_left(&repo);
}

#[test]
fn evidence_that_takes_too_long_is_left_where_it_is() {
    let repo = slow("never", "agents");
    let mut running = at_work(&repo, JOB, "trap '' TERM; echo agents > payments/a.slow");
    let at = Instant::now();
    running.signal(15);
    let outcome = running.wait();
    assert!(at.elapsed() < Duration::from_secs(11), "{:?} {outcome}", at.elapsed());
    outcome.expect(143, &["nothing was deleted"]);
    assert_eq!(last_kind(&repo, JOB), "job.interrupted");
    let left = worktree(&repo, JOB).join("payments/a.slow");
    assert_eq!(fs::read(&left).expect("nothing was deleted"), b"agents\n");
    lock_is_free(&repo);
}

#[test]
fn a_hangup_is_nothing_under_nohup() {
    let repo = Repo::new();
    let script = "echo x > payments/x.ts; while [ ! -e go ]; do sleep 0.02; done; rm go";
    let task = repo.top().join("task.md");
    fs::write(&task, "Goal: x\n").expect("it can be written");
    let mut running = repo
        .program("nohup")
        .args([env!("CARGO_BIN_EXE_agentgate"), "run", "--job-id", JOB])
        .args([
            task.as_os_str(),
            "--".as_ref(),
            "sh".as_ref(),
            "-c".as_ref(),
            script.as_ref(),
        ])
        .spawn();
    let there = worktree(&repo, JOB);
    until("the agent is at work", || there.join("payments/x.ts").exists());
    running.signal(1);
    std::thread::sleep(Duration::from_millis(200));
    assert!(running.is_running());
    fs::write(there.join("go"), "").expect("it can be written");
    running.wait().success();
}

#[test]
fn a_flood_of_output_blocks_nothing() {
    let repo = Repo::new();
    let script = "echo x > payments/x.ts; head -c 40000000 /dev/zero | tr '\\0' x; echo; echo last words";
    let outcome = agent(&repo, JOB, &[], script).run().success();
    assert!(outcome.stderr.len() < 100_000);
    let log = record(&repo, JOB).join("agent.log");
    let size = fs::metadata(&log).expect("there is a log").len();
    assert!(size < 17 << 20, "{size}");
    let text = fs::read(&log).expect("it can be read");
    assert!(text.ends_with(b"last words\n"));
    assert!(text.windows(7).any(|piece| piece == b"dropped"));
}

#[test]
fn a_reader_that_goes_away_is_no_failure() {
    let repo = Repo::new();
    let task = repo.top().join("task.md");
    fs::write(&task, "Goal: x\n").expect("it can be written");
    let code = repo.top().join("code");
    let binary = env!("CARGO_BIN_EXE_agentgate");
    let piped = |command: &str| {
        let script = format!("{{ {command}; echo $? > {}; }} 2>&1 | true", code.display());
        repo.program("sh").args(["-c", &script]).run().success();
        until("it ended", || {
            fs::read_to_string(&code).is_ok_and(|text| text.ends_with('\n'))
        });
        let text = fs::read_to_string(&code).expect("it is there");
        fs::remove_file(&code).expect("it is there");
        text.trim().to_owned()
    };
    let run = format!(
        "{binary} run --verbose --job-id {JOB} {} -- sh -c 'echo x > payments/x.ts; sleep 0.3; seq 100000'",
        task.display()
    );
    assert_eq!(piped(&run), "0");
    assert_eq!(piped(&format!("{binary} status")), "0");
    assert_eq!(piped(&format!("{binary} log {JOB}")), "0");
    assert_eq!(piped(&format!("{binary} help exit-codes")), "0");
    assert_eq!(piped(&format!("{binary} log nobody")), "23");
    // Closed from the beginning.
    let closed = format!("{binary} status >&- 2>&- <&-");
    repo.program("sh").args(["-c", &closed]).run().success();
    let closed = format!("{binary} land {JOB} >&- 2>&- <&-");
    repo.program("sh").args(["-c", &closed]).run().success();
    assert_eq!(scene::row(&repo, JOB)["state"], "landed");
}

#[test]
fn a_process_that_holds_the_output_open_holds_up_nothing() {
    let repo = Repo::new();
    let started = Instant::now();
    let script = "echo x > payments/x.ts; sleep 60 &";
    agent(&repo, JOB, &[], script).run().success();
    assert!(started.elapsed() < Duration::from_secs(10));
    all_gone(&repo);
}

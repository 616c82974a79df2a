//! Jobs that outlive their terminal: a hang-up, `run --detach`, `attach`, `wait`, `stop`, `log --follow`.

mod attach;
mod follow;
mod hangup;
mod stop;
mod wait;

use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::support::program::{Outcome, Program, Running};
use crate::support::repo::Repo;
use crate::support::scene::{
    self, AGENT, JOB, agent, events, last_kind, lock_is_free, nothing_left, record, until, worktree,
};

/// An agent that works until there is a file `go` in its worktree, and says so before and after.
pub const PATIENT: &str = "echo first words; : > at-work
while [ ! -e go ]; do sleep 0.02; done; rm go at-work
echo done > payments/done.ts; echo last words";

/// A job in the background, ended with the test.
pub struct Job<'a> {
    repo: &'a Repo,
    pub id: String,
}

impl Drop for Job<'_> {
    fn drop(&mut self) {
        if scene::row(self.repo, &self.id)["state"] == "running" {
            let _ = self.repo.agentgate(["stop", &self.id]);
        }
    }
}

impl Job<'_> {
    /// Whether its agent is at work.
    pub fn at_work(&self) {
        let sign = worktree(self.repo, &self.id).join("at-work");
        until("the agent is at work", || sign.exists());
    }

    /// Lets a [`PATIENT`] agent come to its end.
    pub fn go(&self) {
        go(self.repo, &self.id);
    }

    /// The pid of its owner.
    pub fn pid(&self) -> String {
        owner(self.repo, &self.id)
    }
}

pub fn go(repo: &Repo, id: &str) {
    fs::write(worktree(repo, id).join("go"), "").expect("it can be written");
}

/// The pid of a job's owner, from its log.
pub fn owner(repo: &Repo, id: &str) -> String {
    let events = events(repo, id);
    let owned = events.iter().find(|event| event["event"] == "job.owned");
    owned.expect("it is owned")["pid"].to_string()
}

/// Sends a signal by its number.
pub fn signal(pid: &str, signal: i32) {
    let pid = rustix::process::Pid::from_raw(pid.parse().expect("a number")).expect("a pid");
    let signal = rustix::process::Signal::from_named_raw(signal).expect("a known signal");
    rustix::process::kill_process(pid, signal).expect("it can be signalled");
}

/// `run --detach`.
pub fn detached<'a>(repo: &'a Repo, options: &[&str], script: &str) -> Job<'a> {
    let options = [&["--detach"], options].concat();
    let outcome = agent(repo, JOB, &options, script).run().success();
    assert_eq!(outcome.stdout, format!("{JOB}\n"), "{outcome}");
    Job {
        repo,
        id: JOB.to_owned(),
    }
}

/// `run --detach` with a [`PATIENT`] agent, seen at work.
pub fn patient(repo: &Repo) -> Job<'_> {
    let job = detached(repo, &[], PATIENT);
    job.at_work();
    job
}

/// The words of a shell that starts `run` of [`JOB`] with this script as its agent.
fn run_words(repo: &Repo, options: &str, script: &str) -> String {
    let task = repo.top().join("task.md");
    fs::write(&task, "Goal: pay twice\n").expect("the task can be written");
    let file = repo.top().join("agent.sh");
    fs::write(&file, script).expect("the agent can be written");
    format!(
        "{} run --job-id {JOB} {options} {} -- sh {}",
        repo.binary(),
        task.display(),
        file.display()
    )
}

/// A program on a terminal of its own, which closes when what is returned is killed.
fn on_terminal(repo: &Repo, words: &str) -> Running {
    let program = repo.program("script").args(["-qefc", words, "/dev/null"]);
    program.env("TERM", "xterm").spawn()
}

#[test]
fn the_id_comes_back_at_once_and_the_job_goes_on() {
    let repo = Repo::new();
    // A shell reads until the last one who has its pipe has closed it; both outputs, and one it has for itself.
    let run = run_words(&repo, "--detach", PATIENT);
    let script = format!("exec 9> ../inherited; id=$({run} 2>&9); echo \"id=$id code=$?\"");
    let outcome = repo.program("sh").args(["-c", &script]).run().success();
    assert_eq!(outcome.stdout, format!("id={JOB} code=0\n"));
    let job = Job {
        repo: &repo,
        id: JOB.to_owned(),
    };
    let created: Vec<String> = events(&repo, JOB)
        .iter()
        .map(|event| event["event"].to_string())
        .collect();
    assert_eq!(created[..2], ["\"job.created\"", "\"job.owned\""]);
    job.at_work();
    let row = scene::row(&repo, JOB);
    assert_eq!((&row["state"], &row["holder_alive"]), (&"running".into(), &true.into()));
    let status = repo.agentgate(["status"]).success();
    assert!(status.stdout.contains("agentgate attach j1"), "{status}");
    job.go();
    repo.agentgate(["wait", JOB]).success();
    assert_eq!(last_kind(&repo, JOB), "job.kept");
}

#[test]
fn its_owner_has_nothing_of_the_caller() {
    let repo = Repo::new();
    let run = run_words(&repo, "--detach", PATIENT);
    let other = repo.top().join("other");
    let script = format!("exec 7> {0} 8< {0}; {run}", other.display());
    repo.program("sh").args(["-c", &script]).run().success();
    let job = Job {
        repo: &repo,
        id: JOB.to_owned(),
    };
    job.at_work();
    let proc = Path::new("/proc").join(job.pid());
    let stat = fs::read_to_string(proc.join("stat")).expect("it runs");
    let fields: Vec<&str> = stat.rsplit(") ").next().expect("fields").split(' ').collect();
    // Group, session and terminal.
    assert_eq!(
        (fields[2], fields[3], fields[4]),
        (&*job.pid(), &*job.pid(), "0"),
        "{stat}"
    );
    assert_eq!(fs::read_link(proc.join("cwd")).expect("it has one"), Path::new("/"));
    let mut open: Vec<(String, PathBuf)> = Vec::new();
    for entry in fs::read_dir(proc.join("fd")).expect("it can be listed") {
        let entry = entry.expect("an entry");
        let Ok(target) = fs::read_link(entry.path()) else {
            continue;
        };
        open.push((entry.file_name().to_string_lossy().into_owned(), target));
    }
    for number in ["0", "1", "2"] {
        let null = (number.to_owned(), PathBuf::from("/dev/null"));
        assert!(open.contains(&null), "{open:?}");
    }
    assert!(!open.iter().any(|(_, target)| *target == other), "{open:?}");
    job.go();
    repo.agentgate(["wait", JOB]).success();
}

#[test]
fn what_is_refused_at_the_start_is_refused_as_without() {
    let repo = Repo::new();
    let task = repo.top().join("task.md");
    fs::write(&task, "Goal: x\n").expect("it can be written");
    fs::write(repo.top().join("bad.md"), "Goal: x\nAllowed file: y\n").expect("it can be written");
    let held = fs::File::create(repo.root.join(".git/agent-jobs.lock")).expect("it can be made");
    let cases: [(&[&str], i32); 6] = [
        (&["../bad.md", "--", "true"], 22),
        (&["../nowhere.md", "--", "true"], 22),
        (&["../task.md"], 64),
        (&["../task.md", "--job-id", "a/b", "--", "true"], 64),
        (&["../task.md", "--base", "nowhere", "--", "true"], 2),
        (&["../task.md", "--", "no-such-program"], 16),
    ];
    let same = |words: &[&str], code: i32| {
        for json in [&[][..], &["--json"]] {
            let there = repo.agentgate([&["run"], json, words].concat());
            let here = repo.agentgate([&["run", "--detach"], json, words].concat());
            assert_eq!((there.code, here.code), (code, code), "{there}{here}");
            assert_eq!((there.stdout, there.stderr), (here.stdout, here.stderr));
        }
        assert!(!repo.root.join(".git/agentgate/jobs").exists());
    };
    for (words, code) in cases {
        same(words, code);
    }
    let plain: &[&str] = &["../task.md", "--job-id", JOB, "--", "true"];
    held.lock().expect("it is free");
    same(plain, 13);
    held.unlock().expect("it is ours");
    repo.write("dirt", "x");
    same(plain, 12);
    repo.remove("dirt");
    repo.write("architecture/invariants.yml", "version: 2\n");
    repo.commit("no policy");
    same(plain, 2);
    let outcome = repo.agentgate(["run", "--detach", "--verbose", "../task.md", "--", "true"]);
    outcome.expect(64, &["--verbose"]);
}

#[test]
fn as_json_it_is_an_object() {
    let repo = Repo::new();
    let outcome = agent(&repo, JOB, &["--detach", "--json"], AGENT).run().success();
    let json = outcome.json();
    assert_eq!(
        (&json["schema"], &json["job_id"], &json["exit"]),
        (&"agentgate/detached/1".into(), &JOB.into(), &0.into())
    );
    assert_eq!(json["record"], *record(&repo, JOB).to_str().expect("it is UTF-8"));
    assert_eq!(json["pid"].to_string(), owner(&repo, JOB));
    repo.agentgate(["wait", JOB]).success();
}

#[test]
fn it_outlives_its_shell_and_its_terminal() {
    for on_a_terminal in [false, true] {
        let repo = Repo::new();
        let words = format!("{}; sleep 60", run_words(&repo, "--detach", PATIENT));
        let mut caller = if on_a_terminal {
            on_terminal(&repo, &words)
        } else {
            repo.program("sh").args(["-c", &words]).spawn()
        };
        until("the agent is at work", || worktree(&repo, JOB).join("at-work").exists());
        let job = Job {
            repo: &repo,
            id: JOB.to_owned(),
        };
        // All of the group, by SIGKILL. With `script` its end of the terminal closes.
        caller.kill();
        // And a hang-up sent on purpose ends it no more than a job in the foreground.
        signal(&job.pid(), 1);
        job.go();
        repo.agentgate(["wait", JOB]).success();
        assert_eq!(last_kind(&repo, JOB), "job.kept");
    }
}

#[test]
fn landing_and_artifacts_work_and_their_outcome_can_be_found() {
    let repo = Repo::new();
    repo.write(".gitignore", "/out/\n");
    repo.commit("ignore");
    let job = detached(&repo, &["--land", "--artifacts", "out"], PATIENT);
    job.at_work();
    let waiting = repo.command(["attach", JOB]).spawn();
    job.go();
    let outcome = waiting.wait();
    outcome.expect(0, &["landed=refs/heads/main", "verdict=ok", "landed on main"]);
    assert!(repo.root.join("payments/done.ts").exists());
    assert!(repo.root.join("out/change.patch").exists());
    assert_eq!(last_kind(&repo, JOB), "job.landed");
    repo.agentgate(["wait", JOB]).success();
}

#[test]
fn a_landing_that_was_refused_is_the_outcome() {
    let repo = Repo::new();
    let job = detached(&repo, &["--land"], PATIENT);
    job.at_work();
    repo.change("payments/other.ts", "x\n");
    job.go();
    repo.agentgate(["wait", JOB]).expect(19, &["target-moved"]);
    let outcome = repo.agentgate(["attach", JOB]);
    outcome.expect(19, &["kept, but not landed", "verdict=target-moved", "exit=19"]);
    let json = repo.agentgate(["attach", JOB, "--json"]).json();
    assert_eq!(
        (&json["schema"], &json["exit"]),
        (&"agentgate/run/1".into(), &19.into())
    );
}

/// A job that waits for the clone lock in the foreground.
fn queued(repo: &Repo) -> Running {
    let running = agent(repo, "j2", &["--detach", "--wait"], AGENT).spawn();
    until("it waits", || waiting_owners(repo).len() == 1);
    running
}

/// The processes that are to own the job `j2`.
fn waiting_owners(repo: &Repo) -> Vec<String> {
    let task = repo.top().join("task.md").display().to_string();
    let entries = fs::read_dir("/proc").expect("/proc can be listed");
    let names = entries
        .flatten()
        .filter_map(|entry| entry.file_name().into_string().ok());
    let is_one = |pid: &String| {
        let line = fs::read_to_string(format!("/proc/{pid}/cmdline")).unwrap_or_default();
        line.contains("__detached") && line.contains(&task) && scene::alive(pid)
    };
    names.filter(is_one).collect()
}

#[test]
fn a_wait_for_the_lock_happens_before_the_id_is_printed() {
    let repo = Repo::new();
    let held = fs::File::create(repo.root.join(".git/agent-jobs.lock")).expect("it can be made");
    held.lock().expect("it is free");
    let mut running = queued(&repo);
    std::thread::sleep(Duration::from_millis(200));
    assert!(running.is_running());
    assert!(!record(&repo, "j2").exists());
    held.unlock().expect("it is ours");
    let outcome = running.wait().success();
    assert_eq!(outcome.stdout, "j2\n");
    assert!(outcome.stderr.contains("waiting: "), "{outcome}");
    repo.agentgate(["wait", "j2"]).success();
}

#[test]
fn whoever_waits_for_the_lock_ends_with_its_caller() {
    for (number, code) in [(2, 130), (15, 143), (1, 129), (9, 137)] {
        let repo = Repo::new();
        let held = fs::File::create(repo.root.join(".git/agent-jobs.lock")).expect("it can be made");
        held.lock().expect("it is free");
        let mut running = queued(&repo);
        std::thread::sleep(Duration::from_millis(100));
        running.signal(number);
        let started = Instant::now();
        until("the other process is gone", || waiting_owners(&repo).is_empty());
        let outcome: Outcome = running.wait();
        assert_eq!((outcome.code, outcome.stdout.as_str()), (code, ""), "{outcome}");
        assert!(started.elapsed() < Duration::from_secs(30));
        assert!(!record(&repo, "j2").exists());
    }
}

/// The events of a text with one JSON object a line.
pub fn lines(text: &str) -> Vec<Value> {
    let read = |line: &str| serde_json::from_str(line).unwrap_or_else(|error| panic!("{error}: {line}"));
    text.lines().map(read).collect()
}

/// What must be so after a job was ended: the record says 130, nothing is left.
#[track_caller]
pub fn ended_by_ctrl_c(repo: &Repo) {
    assert_eq!(last_kind(repo, JOB), "job.interrupted");
    let events = events(repo, JOB);
    assert_eq!(events.last().expect("it has events")["exit"], 130);
    assert!(scene::processes(repo, JOB).is_empty());
    nothing_left(repo);
    lock_is_free(repo);
}

/// `agentgate`, for a shell.
pub fn program(repo: &Repo, words: &str) -> Program {
    let script = format!("{} {words}", repo.binary());
    repo.program("sh").args(["-c", &script])
}

#[test]
fn whose_output_nobody_reads_goes_on_without_going_round_in_circles() {
    let repo = Repo::new();
    let job = patient(&repo);
    let root = repo.root.display().to_string();
    for verb in ["attach", "wait"] {
        let words = format!("{} -C {root} {verb} {JOB} 2>&1 | true", repo.binary());
        let running = repo.program("sh").args(["-c", &words]).spawn();
        let words = ["-C", &root, verb, JOB];
        until("it waits", || !with_words(&words).is_empty());
        let pid = with_words(&words).remove(0);
        let before = ticks(&pid);
        std::thread::sleep(Duration::from_millis(500));
        let used = ticks(&pid) - before;
        assert!(used < 25, "{verb}: {used}");
        drop(running);
    }
    job.go();
    repo.agentgate(["wait", JOB]).success();
}

/// The processes of agentgate with these as their last arguments.
fn with_words(words: &[&str]) -> Vec<String> {
    let end: String = words.iter().map(|word| format!("\0{word}")).collect::<String>() + "\0";
    let entries = fs::read_dir("/proc").expect("/proc can be listed");
    let names = entries
        .flatten()
        .filter_map(|entry| entry.file_name().into_string().ok());
    let is_one = |pid: &String| {
        let line = fs::read_to_string(format!("/proc/{pid}/cmdline")).unwrap_or_default();
        line.contains("agentgate") && line.ends_with(&end) && scene::alive(pid)
    };
    names.filter(is_one).collect()
}

/// Time on the processor, user and system, in hundredths of a second.
pub fn ticks(pid: &str) -> u64 {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).expect("it runs");
    let fields: Vec<&str> = stat.rsplit(") ").next().expect("fields").split(' ').collect();
    let number = |index: usize| fields[index].parse::<u64>().expect("a number");
    number(11) + number(12)
}

//! `agentgate attach`: all so far, all that comes, and the run's own end.

use std::fs;

use super::{PATIENT, detached, patient};
use crate::support::program::Outcome;
use crate::support::repo::Repo;
use crate::support::scene::{self, AGENT, JOB, agent, at_work, events, last_kind, record, until};

/// Each event's kind stands once in what was shown, in order.
#[track_caller]
fn shows_all(repo: &Repo, outcome: &Outcome) {
    let shown: Vec<&str> = outcome
        .stderr
        .lines()
        .filter_map(|line| line.strip_prefix("agentgate: ")?.split_once("Z ")?.1.split(' ').next())
        .filter(|word| word.contains('.'))
        .collect();
    let kinds: Vec<String> = events(repo, JOB)
        .iter()
        .map(|event| event["event"].as_str().expect("a kind").to_owned())
        .collect();
    assert_eq!(shown, kinds, "{outcome}");
}

#[test]
fn begun_before_the_end_it_follows_and_ends_as_the_run_does() {
    let repo = Repo::new();
    let job = patient(&repo);
    let before = repo.command(["attach", JOB]).spawn();
    let also = repo.command(["attach", JOB]).spawn();
    job.go();
    for outcome in [before.wait(), also.wait(), repo.agentgate(["attach", JOB])] {
        outcome.expect(
            0,
            &[
                "| first words\n",
                "| last words\n",
                "passed; 1 path changed",
                " land j1",
            ],
        );
        shows_all(&repo, &outcome);
        let first: Vec<&str> = outcome.stderr.lines().filter(|line| line.starts_with("| ")).collect();
        assert_eq!(first, ["| first words", "| last words"], "{outcome}");
        let lines: Vec<&str> = outcome
            .stdout
            .lines()
            .filter_map(|line| line.split('=').next())
            .collect();
        let documented = [
            "job_id", "base", "worktree", "branch", "commit", "record", "verdict", "exit",
        ];
        assert_eq!(lines, documented, "{outcome}");
    }
}

#[test]
fn what_is_said_as_it_comes_is_shown_as_it_comes() {
    let repo = Repo::new();
    let job = patient(&repo);
    let out = repo.top().join("shown");
    let mut attached = super::program(&repo, &format!("attach {JOB} 2> {}", out.display())).spawn();
    // Before its end, which only comes once we have seen this.
    until("it is shown", || {
        fs::read_to_string(&out).is_ok_and(|text| text.contains("\n| first words\n"))
    });
    assert!(attached.is_running());
    job.go();
    attached.wait().success();
}

#[test]
fn after_the_end_it_says_what_the_run_said() {
    for (script, code) in [
        (AGENT, 0),
        ("echo x > prot/rules.txt", 3),
        ("echo oh; exit 5", 16),
        ("true", 15),
    ] {
        let repo = Repo::new();
        let run = agent(&repo, JOB, &[], script).run();
        assert_eq!(run.code, code, "{run}");
        let attached = repo.agentgate(["attach", JOB]);
        assert_eq!((attached.code, &attached.stdout), (code, &run.stdout), "{attached}");
        shows_all(&repo, &attached);
        let (_, closing) = run.stderr.split_once("agentgate: confinement ").expect("it is there");
        assert!(attached.stderr.ends_with(closing), "{run}{attached}");
        let json = repo.agentgate(["attach", JOB, "--json"]);
        assert_eq!((json.code, &json.json()["exit"]), (code, &code.into()), "{json}");
        // What became of it since is said, and the code stays.
        if code == 0 {
            repo.agentgate(["drop", JOB]).success();
            repo.agentgate(["attach", JOB])
                .expect(0, &["since then it was dropped"]);
        }
        // Without the kept words the log has to do.
        repo.tampered("its report is removed");
        fs::remove_file(record(&repo, JOB).join("report.json")).expect("it is there");
        let log = repo.agentgate(["attach", JOB]);
        log.expect(code, &["job_id=j1\n", &format!("exit={code}\n"), "what its log says"]);
    }
}

#[test]
fn a_signal_ends_the_looking_on_and_not_the_job() {
    let repo = Repo::new();
    let job = patient(&repo);
    for (number, code) in [(2, 130), (15, 143), (1, 129)] {
        let out = repo.top().join(format!("shown-{number}"));
        // The shell becomes the program, so that the signal reaches it.
        let words = format!("exec {} attach {JOB} 2> {}", repo.binary(), out.display());
        let mut attached = repo.program("sh").args(["-c", &words]).spawn();
        until("it looks on", || {
            fs::read_to_string(&out).is_ok_and(|text| text.contains("| first words"))
        });
        attached.signal(number);
        assert_eq!(attached.wait().code, code);
        let text = fs::read_to_string(&out).expect("it is there");
        for word in ["goes on", "attach j1", "stop j1"] {
            assert!(text.contains(word), "{text}");
        }
        assert_eq!(scene::row(&repo, JOB)["state"], "running");
    }
    job.go();
    repo.agentgate(["wait", JOB]).success();
    assert_eq!(last_kind(&repo, JOB), "job.kept");
}

#[test]
fn a_dead_job_is_23_with_what_to_do() {
    let repo = Repo::new();
    let mut running = at_work(&repo, JOB, "echo words; printf half");
    let log = record(&repo, JOB).join("agent.log");
    until("it is written down", || {
        fs::read(&log).is_ok_and(|text| text.ends_with(b"half"))
    });
    running.signal(9);
    running.wait();
    until("the agent is gone", || scene::processes(&repo, JOB).is_empty());
    let outcome = repo.agentgate(["attach", JOB]);
    outcome.expect(23, &["j1 is dead", "drop j1", "| words\n| half\n"]);
    repo.agentgate(["wait", JOB]).expect(23, &["j1 is dead", "drop j1"]);
    repo.agentgate(["stop", JOB]).expect(23, &["j1 is dead", "drop j1"]);
    repo.agentgate(["log", JOB, "--follow"])
        .expect(0, &["step.started", "j1 is dead"]);
    repo.agentgate(["drop", "--force", JOB]).success();
    repo.agentgate(["attach", JOB]).expect(23, &["it was dropped"]);
}

#[test]
fn a_job_that_is_killed_while_somebody_looks_on_is_23() {
    let repo = Repo::new();
    let job = patient(&repo);
    let attached = repo.command(["attach", JOB]).spawn();
    let waiting = repo.command(["wait", JOB]).spawn();
    super::signal(&job.pid(), 9);
    attached.wait().expect(23, &["j1 is dead"]);
    waiting.wait().expect(23, &["j1 is dead"]);
    until("the agent is gone", || scene::processes(&repo, JOB).is_empty());
}

#[test]
fn no_such_job_and_no_such_id_are_as_for_log() {
    let repo = Repo::new();
    for verb in ["attach", "wait", "stop", "log"] {
        repo.agentgate([verb, "nobody"]).expect(23, &["no job nobody"]);
        repo.agentgate([verb, "a/../b"]).expect(64, &["bad job id"]);
        let json = repo.agentgate([verb, "nobody", "--json"]).json();
        assert_eq!(json["schema"], "agentgate/error/1");
    }
}

#[test]
fn what_the_agent_prints_cannot_steer_the_terminal_of_who_looks_on() {
    let repo = Repo::new();
    let script =
        "printf 'a\\033]0;title\\007b\\033[2Jc\\rd\\342\\200\\256e\\n'; printf 'no newline'; echo x > payments/x.ts";
    let _job = detached(&repo, &[], script);
    let outcome = repo.agentgate(["attach", JOB]).success();
    assert!(outcome.stderr.contains("| abc\n| de\n| no newline\n"), "{outcome}");
    assert!(!outcome.stderr.contains('\x1b'), "{outcome}");
}

#[test]
fn what_failed_unforeseen_is_said_as_the_run_said_it() {
    let repo = Repo::new();
    repo.write(".gitattributes", "*.slow filter=slow\n");
    repo.commit("slow");
    let task = PATIENT.replace("echo done >", "echo x > payments/a.slow; echo done >");
    // A required filter that fails makes no candidate, so nothing is deleted.
    repo.git(["config", "--global", "filter.slow.clean", "false"]);
    repo.git(["config", "--global", "filter.slow.required", "true"]);
    let job = detached(&repo, &[], &task);
    job.at_work();
    job.go();
    let outcome = repo.agentgate(["attach", JOB]);
    outcome.expect(1, &["job j1 failed", "nothing was deleted", "drop --force j1"]);
    assert_eq!(repo.agentgate(["wait", JOB]).code, 1);
    repo.agentgate(["drop", "--force", JOB]).success();
}

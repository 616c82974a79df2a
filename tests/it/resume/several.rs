//! `resume --all`, `--wait` and `--json`.

use std::fs;

use super::{WORK, dead};
use crate::support::jobs::value;
use crate::support::repo::Repo;
use crate::support::scene::{self, JOB, agent, at_work, record};

#[test]
fn all_that_are_left_go_on_and_none_keeps_another_from_it() {
    let repo = Repo::new();
    agent(&repo, "kept", &[], WORK).run().success();
    dead(&repo, "good", &[], WORK);
    dead(&repo, "lost", &[], WORK);
    dead(&repo, "bad", &[], "echo x > prot/rules.txt");
    dead(&repo, "also", &[], WORK);
    fs::remove_file(record(&repo, "lost").join("resume.json")).expect("it is there");
    let outcome = repo.agentgate(["resume", "--all", "--json"]);
    // The first code, oldest job first, that is not 0.
    assert_eq!(outcome.code, 23, "{outcome}");
    let json = outcome.json();
    assert_eq!(
        (&json["schema"], &json["exit"]),
        (&"agentgate/resume/1".into(), &23.into())
    );
    let rows = json["jobs"].as_array().expect("a list");
    let told: Vec<(&str, i64)> = rows
        .iter()
        .map(|row| {
            (
                row["job_id"].as_str().unwrap_or("?"),
                row["exit"].as_i64().unwrap_or(-1),
            )
        })
        .collect();
    assert_eq!(told, [("good", 0), ("lost", 23), ("bad", 3), ("also", 0)]);
    assert_eq!(
        repo.git(["branch", "--list", "--format=%(refname:short)", "agent/*"]),
        "agent/also\nagent/good\nagent/kept"
    );
    // What could not go on is said again, and nothing else is left.
    let again = repo.agentgate(["resume", "--all"]);
    again.expect(23, &["job_id=lost\n", "exit=23\n"]);
    assert_eq!(again.stdout.matches("job_id=").count(), 1, "{again}");
    repo.agentgate(["drop", "--force", "lost"]).success();
    repo.agentgate(["resume", "--all"]).expect(0, &["no job"]);
}

#[test]
fn while_another_job_runs_it_is_13_and_with_wait_it_queues() {
    let repo = Repo::new();
    dead(&repo, JOB, &[], WORK);
    let mut other = at_work(&repo, "other", "true");
    repo.agentgate(["resume", JOB]).expect(13, &["other"]);
    repo.agentgate(["resume", JOB, "--wait=1s"]).expect(13, &["other"]);
    let waiting = repo.command(["resume", JOB, "--wait"]).spawn();
    other.signal(15);
    other.wait().expect(143, &[]);
    waiting.wait().expect(0, &["verdict=ok"]);
}

#[test]
fn json_is_the_runs_own() {
    let repo = Repo::new();
    dead(&repo, JOB, &[], WORK);
    let json = repo.agentgate(["resume", JOB, "--json"]).success().json();
    let kept = Repo::new();
    let run =
        kept.program(&kept.binary())
            .args(["run", "--json", "--job-id", JOB, "../task.md", "--", "sh", "-c", WORK]);
    fs::write(kept.top().join("task.md"), "Goal: pay twice\n").expect("it can be written");
    let run = run.run().success().json();
    let keys = |json: &serde_json::Value| json.as_object().expect("an object").keys().cloned().collect::<Vec<_>>();
    assert_eq!(keys(&json), keys(&run));
    assert_eq!((&json["schema"], &json["job_id"]), (&run["schema"], &run["job_id"]));
}

#[test]
fn usage() {
    let repo = Repo::new();
    repo.agentgate(["resume"]).expect(64, &["ID"]);
    repo.agentgate(["resume", JOB, "--all"]).expect(64, &[]);
    repo.agentgate(["resume", "--all", "--take-over"]).expect(64, &[]);
    repo.agentgate(["resume", "a/../b"]).expect(64, &["bad job id"]);
    repo.agentgate(["resume", "nobody"]).expect(23, &["no job nobody"]);
}

#[test]
fn a_reader_that_comes_and_goes_sees_each_event_once_over_all_owners() {
    let repo = Repo::new();
    dead(&repo, JOB, &[], WORK);
    let mut seen: Vec<serde_json::Value> = Vec::new();
    let read = |seen: &mut Vec<serde_json::Value>, kill_after: Option<u64>| {
        let last = seen.last().map_or(0, |event| event["seq"].as_u64().expect("a number"));
        let out = repo.top().join("read");
        let words = format!(
            "exec {} log {JOB} --since {last} --follow --json > {}",
            repo.binary(),
            out.display()
        );
        let mut reader = repo.program("sh").args(["-c", &words]).spawn();
        if let Some(millis) = kill_after {
            std::thread::sleep(std::time::Duration::from_millis(millis));
            reader.signal(9);
        }
        reader.wait();
        let text = fs::read_to_string(&out).expect("it is there");
        seen.extend(
            text.lines()
                .map(|line| serde_json::from_str::<serde_json::Value>(line).expect("JSON")),
        );
    };
    // It ends where nobody goes on.
    read(&mut seen, None);
    let resumed = repo.command(["resume", JOB]).spawn();
    for round in 0..12 {
        read(&mut seen, Some(20 + 13 * round));
    }
    resumed.wait().success();
    read(&mut seen, None);
    assert_eq!(seen, scene::events(&repo, JOB));
}

#[test]
fn the_worktree_of_a_landing_is_the_one_that_it_went_on_in() {
    let repo = Repo::new();
    dead(&repo, JOB, &[], WORK);
    let outcome = repo.agentgate(["resume", JOB]).success();
    assert!(value(&outcome, "worktree").ends_with("j1~2"));
    let row = scene::row(&repo, JOB);
    assert_eq!(
        (row["state"].as_str(), row["worktree"].as_str()),
        (Some("kept"), Some(&*value(&outcome, "worktree")))
    );
    repo.agentgate(["land", JOB]).success();
    scene::nothing_left(&repo);
}

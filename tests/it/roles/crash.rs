//! A job of several roles that is killed while one of them is at work, and gone on with.

use std::fs;

use super::{APPROVE, FIX, IMPLEMENT, PLAN, REJECT, STEP, becomes, job, of_kind, shown, steps, with};
use crate::support::repo::Repo;
use crate::support::scene::{JOB, lock_is_free, processes, record, until, worktree};

fn scripts() -> [(&'static str, String); 4] {
    let review = format!("if [ -e payments/fix.txt ]; then {APPROVE}; else {REJECT}; fi");
    [
        ("planner", PLAN.to_owned()),
        ("implementer", STEP.to_owned()),
        ("reviewer", review),
        ("fixer", FIX.to_owned()),
    ]
}

fn scene() -> Repo {
    let scripts = scripts();
    let roles: Vec<(&str, &str)> = scripts.iter().map(|(role, script)| (*role, script.as_str())).collect();
    with(&roles, "")
}

/// The change; the base names the folder of its test.
fn candidate(repo: &Repo) -> String {
    repo.git(["diff", "main", &format!("agent/{JOB}")])
}

#[test]
fn whoever_was_at_work_begins_its_step_again_and_nobody_else() {
    let undisturbed = scene();
    job(&undisturbed).run().success();
    let all = steps(&undisturbed);
    assert_eq!(all.len(), 6);
    for at in ["plan", "implement-2", "review-1", "fix-1", "review-2"] {
        let repo = scene();
        // Each does its work, and then the one in question waits to be killed.
        let stuck = "sleep 60";
        for (role, script) in scripts() {
            let wait = format!(
                "{script}\n{}",
                match (role, at) {
                    ("planner", "plan") | ("fixer", "fix-1") => stuck.to_owned(),
                    ("implementer", "implement-2") => format!("if [ -e payments/two.ts ]; then {stuck}; fi"),
                    ("reviewer", "review-1") => format!("if [ ! -e payments/fix.txt ]; then {stuck}; fi"),
                    ("reviewer", "review-2") => format!("if [ -e payments/fix.txt ]; then {stuck}; fi"),
                    _ => "true".to_owned(),
                }
            );
            becomes(&repo, role, &wait);
        }
        let mut running = job(&repo).spawn();
        until("it is at work", || {
            assert!(running.is_running(), "{at}");
            repo.top().join("repo/.git/agentgate/jobs/j1/events.jsonl").exists()
                && steps(&repo).last().is_some_and(|step| step == at)
        });
        std::thread::sleep(std::time::Duration::from_millis(300));
        running.signal(9);
        running.wait();
        until("nothing of it is left", || processes(&repo, JOB).is_empty());
        for (role, script) in scripts() {
            becomes(&repo, role, &script);
        }
        repo.agentgate(["resume", JOB]).expect(0, &["verdict=ok"]);
        let mut expected = all.clone();
        let place = expected.iter().position(|step| step == at).expect("it is one");
        expected.insert(place, at.to_owned());
        assert_eq!(steps(&repo), expected, "{at}");
        assert_eq!(candidate(&repo), candidate(&undisturbed), "{at}");
        assert_eq!(shown(&repo, "payments/fix.txt"), "fixed");
        let answers = of_kind(&repo, "step.answered").len();
        assert_eq!(answers, 3, "{at}");
        lock_is_free(&repo);
    }
}

#[test]
fn a_reviewer_that_was_killed_finds_the_worktree_set_up_again() {
    let repo = with(
        &[
            ("implementer", "test -f ready.log && echo new > payments/new.ts"),
            ("reviewer", "sleep 60"),
        ],
        "setup: [[sh, -c, 'echo ready > ready.log']]\n",
    );
    repo.change(".gitignore", "*.log\n");
    let mut running = job(&repo).spawn();
    until("the reviewer is at work", || {
        steps_if_any(&repo).last().is_some_and(|step| step == "review-1")
    });
    running.signal(9);
    running.wait();
    until("nothing of it is left", || processes(&repo, JOB).is_empty());
    becomes(&repo, "reviewer", &format!("test -f ready.log && {APPROVE}"));
    repo.agentgate(["resume", JOB]).expect(0, &["verdict=ok"]);
    assert_eq!(steps(&repo), ["implement", "review-1", "review-1"]);
}

#[test]
fn a_job_that_waits_for_a_person_waits_on_after_a_crash_of_the_answer() {
    let repo = with(
        &[
            ("implementer", "echo new > payments/new.ts"),
            ("reviewer", REJECT),
            ("fixer", "sleep 60"),
        ],
        "max_review_rounds: 1\n",
    );
    job(&repo).run().expect(18, &[]);
    fs::write(repo.top().join("answer.md"), "go on\n").expect("it can be written");
    let mut running = repo.command(["answer", JOB, "--file", "../answer.md"]).spawn();
    until("the fixer is at work", || {
        steps(&repo).last().is_some_and(|step| step == "fix-1")
    });
    running.signal(9);
    running.wait();
    becomes(&repo, "fixer", FIX);
    becomes(&repo, "reviewer", APPROVE);
    repo.agentgate(["resume", JOB]).expect(0, &["verdict=ok"]);
    assert_eq!(steps(&repo), ["implement", "review-1", "fix-1", "fix-1", "review-2"]);
    assert_eq!(of_kind(&repo, "job.answered").len(), 1);
}

#[test]
fn what_a_killed_agent_had_changed_is_saved_and_no_part_of_the_candidate() {
    let repo = with(&[("implementer", "echo half > payments/half.ts; sleep 60")], "");
    let mut running = job(&repo).spawn();
    until("it is at work", || {
        worktree(&repo, JOB).join("payments/half.ts").exists()
    });
    running.signal(9);
    running.wait();
    becomes(&repo, "implementer", "echo new > payments/new.ts");
    repo.agentgate(["resume", JOB]).expect(0, &["attempt-1.patch"]);
    let patch = fs::read_to_string(record(&repo, JOB).join("attempt-1.patch")).expect("it was saved");
    assert!(patch.contains("payments/half.ts") && patch.contains("+half"), "{patch}");
    let owned = of_kind(&repo, "job.owned").pop().expect("two");
    assert_eq!(owned["attempt"][0]["name"], "attempt-1.patch");
    assert_eq!(
        repo.git(["diff", "--name-only", "main", &format!("agent/{JOB}")]),
        "payments/new.ts"
    );
}

#[test]
fn one_that_was_killed_over_its_last_words_still_waits() {
    let repo = with(
        &[("implementer", "echo new > payments/new.ts"), ("reviewer", REJECT)],
        "max_review_rounds: 1\n",
    );
    job(&repo).run().expect(18, &[]);
    // As if it had been killed before it wrote them.
    fs::remove_file(record(&repo, JOB).join("report.json")).expect("it is there");
    repo.agentgate(["resume", JOB]).expect(18, &["answer j1"]);
    assert!(worktree(&repo, JOB).join("payments/new.ts").exists());
    repo.agentgate(["answer", JOB, "--approve"]).expect(0, &[]);
}

#[test]
fn an_answer_that_is_not_the_recorded_one_is_23_and_nothing_is_touched() {
    let repo = with(&[("planner", PLAN), ("implementer", "sleep 60")], "");
    let mut running = job(&repo).spawn();
    until("it is at work", || steps_if_any(&repo).len() == 2);
    running.signal(9);
    running.wait();
    until("nothing of it is left", || processes(&repo, JOB).is_empty());
    let plan = record(&repo, JOB).join("call-1-plan.json");
    let was = fs::read_to_string(&plan).expect("it is there");
    fs::write(&plan, format!("{was} ")).expect("it can be written");
    let log = fs::read(record(&repo, JOB).join("events.jsonl")).expect("it is there");
    repo.agentgate(["resume", JOB]).expect(23, &["call-1-plan.json"]);
    assert_eq!(
        fs::read(record(&repo, JOB).join("events.jsonl")).expect("it is there"),
        log
    );
    fs::write(&plan, was).expect("it can be written");
    becomes(&repo, "implementer", STEP);
    repo.agentgate(["resume", "--all"]).expect(0, &["verdict=ok"]);
}

fn steps_if_any(repo: &Repo) -> Vec<String> {
    match record(repo, JOB).join("events.jsonl").exists() {
        true => steps(repo),
        false => Vec::new(),
    }
}

#[test]
fn a_killed_agents_own_commits_and_stashes_are_saved_too() {
    let script = "echo s > payments/s.ts; git add -A; git stash -q; echo c > payments/c.ts; git add -A; git commit -qm mine; git checkout -q --detach HEAD~1; echo x > payments/x.ts; : > at-work; sleep 60";
    let repo = with(&[("implementer", script)], "");
    let mut running = job(&repo).spawn();
    until("it is at work", || worktree(&repo, JOB).join("at-work").exists());
    running.signal(9);
    running.wait();
    becomes(&repo, "implementer", "echo new > payments/new.ts");
    repo.agentgate(["resume", JOB]).expect(0, &["attempt-1-refs.bundle"]);
    let bundle = record(&repo, JOB).join("attempt-1-refs.bundle");
    let heads = repo.git(["bundle", "list-heads", &bundle.display().to_string()]);
    assert!(heads.contains("refs/stash"), "{heads}");
}

#[test]
fn who_waits_for_a_person_is_not_gone_on_with_by_all() {
    let repo = with(
        &[("implementer", "echo new > payments/new.ts"), ("reviewer", REJECT)],
        "max_review_rounds: 1\n",
    );
    job(&repo).run().expect(18, &[]);
    repo.agentgate(["resume", "--all"])
        .expect(0, &["no job of this clone waits"]);
}

/// Runs the job, and meanwhile puts a folder in the place of a file that it is to save.
fn with_a_folder_in_the_way(repo: &Repo, implementer: &str, name: &str) {
    let go = repo.top().join("go");
    becomes(
        repo,
        "implementer",
        &format!("while [ ! -e {} ]; do sleep 0.02; done; {implementer}", go.display()),
    );
    let running = job(repo).spawn();
    until("it is at work", || !steps_if_any(repo).is_empty());
    let place = record(repo, JOB).join(name);
    fs::create_dir(&place).expect("it is not there yet");
    fs::write(go, "").expect("it can be written");
    running.wait().expect(1, &["Is a directory"]);
    fs::remove_dir(place).expect("it is there");
}

#[test]
fn a_candidate_that_could_not_be_saved_whole_stands_in_the_log_as_in_the_ref() {
    let repo = with(&[("implementer", "")], "");
    with_a_folder_in_the_way(&repo, "echo new > payments/new.ts", "frozen.json");
    let frozen = of_kind(&repo, "candidate.frozen").pop().expect("one");
    assert_eq!(
        frozen["tree"],
        repo.git(["rev-parse", &format!("refs/agentgate/jobs/{JOB}:candidate")])
    );
    repo.agentgate(["verify", JOB]).success();
}

#[test]
fn a_fix_that_could_not_be_saved_whole_is_not_taken_for_what_was_judged_before() {
    let repo = with(&[("implementer", ""), ("reviewer", REJECT), ("fixer", FIX)], "");
    with_a_folder_in_the_way(&repo, "echo new > payments/new.ts", "frozen-3.json");
    assert_eq!(of_kind(&repo, "gate.finished").len(), 1);
    assert_eq!(of_kind(&repo, "candidate.frozen").len(), 2);
    repo.git([
        "cat-file",
        "-e",
        &format!("refs/agentgate/jobs/{JOB}:candidate/payments/fix.txt"),
    ]);
    repo.agentgate(["verify", JOB]).success();
}

/// A signal in the moment in which another process has taken the job, before it has a worktree: the change is in the
/// record all the same.
#[test]
fn interrupted_as_soon_as_it_is_gone_on_with_it_has_its_patch() {
    let review = "while [ ! -e \"$HOME/never\" ]; do sleep 0.1; done";
    let repo = with(&[("implementer", IMPLEMENT), ("reviewer", review)], "");
    let mut job = super::job(&repo).spawn();
    until("the reviewer is asked", || {
        assert!(job.is_running(), "it ended early");
        fs::read_to_string(record(&repo, JOB).join("events.jsonl")).is_ok_and(|log| log.contains("review-1"))
    });
    job.signal(9);
    job.wait();
    let mut again = repo.command(["resume", JOB]).spawn();
    until("another process has the job", || {
        let log = fs::read_to_string(record(&repo, JOB).join("events.jsonl")).expect("it is there");
        !again.is_running() || log.contains("\"epoch\":2")
    });
    again.signal(2);
    again.wait().expect(130, &[]);
    let patch = fs::read_to_string(record(&repo, JOB).join("change.patch")).expect("it was saved");
    assert!(patch.contains("+++ b/payments/new.ts"), "{patch}");
    repo.agentgate(["verify", JOB]).expect(0, &[]);
}

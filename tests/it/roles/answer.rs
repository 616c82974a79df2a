//! A job that waits for a person: who asks, what can be answered, and how it goes on.

use std::fs;

use super::{APPROVE, FIX, IMPLEMENT, PLAN, REJECT, STEP, job, of_kind, run, said, shown, steps, with};
use crate::support::repo::Repo;
use crate::support::scene::{JOB, last_kind, nothing_left, record, worktree};
use crate::support::tokens;

/// Asks for a person, unless one has spoken.
fn asks(then: &str) -> String {
    format!(
        "if [ -e \"$(dirname \"$AGENTGATE_TASK\")/person-1.md\" ]; then cat \"$(dirname \"$AGENTGATE_TASK\")/person-1.md\"; {then}\nelse echo '{{\"reason\": \"unclear\", \"question\": \"which currency\"}}' > \"$AGENTGATE_OUTBOX/needs_human.json\"; fi"
    )
}

fn answer(repo: &Repo, words: &str) -> crate::support::program::Outcome {
    fs::write(repo.top().join("answer.md"), words).expect("it can be written");
    repo.agentgate(["answer", JOB, "--file", "../answer.md"])
}

#[test]
fn any_role_can_ask_and_goes_on_with_the_answer() {
    for role in ["planner", "implementer", "reviewer"] {
        let script = |own: &str, then: &str| if role == own { asks(then) } else { then.to_owned() };
        let repo = with(
            &[
                ("planner", &script("planner", PLAN)),
                ("implementer", &script("implementer", STEP)),
                ("reviewer", &script("reviewer", APPROVE)),
            ],
            "",
        );
        run(&repo).expect(18, &["which currency", "answer j1 --file"]);
        repo.agentgate(["resume", JOB]).expect(18, &["which currency"]);
        let calls = steps(&repo).len() as u64;
        answer(&repo, "Euro.\n").expect(0, &["verdict=ok"]);
        assert!(said(&repo, calls + 1).contains("Euro."), "{role}");
        assert_eq!(shown(&repo, "payments/two.ts"), "two");
        assert_eq!(of_kind(&repo, "job.answered").len(), 1);
        assert!(!worktree(&repo, JOB).exists());
    }
}

#[test]
fn at_the_cap_a_person_can_approve_or_send_it_back() {
    let scene = || {
        let repo = with(
            &[("implementer", IMPLEMENT), ("reviewer", REJECT), ("fixer", FIX)],
            "max_review_rounds: 1\n",
        );
        run(&repo).expect(18, &[]);
        repo
    };
    let repo = scene();
    repo.agentgate(["answer", JOB, "--approve"]).expect(0, &["verdict=ok"]);
    assert_eq!(steps(&repo).len(), 2);
    repo.agentgate(["land", JOB]).success();
    // Rounds begin anew, with the person's words.
    let repo = scene();
    super::becomes(&repo, "reviewer", APPROVE);
    super::becomes(
        &repo,
        "fixer",
        &format!("cat \"$(dirname \"$AGENTGATE_TASK\")\"/person-*.md; {FIX}"),
    );
    answer(&repo, "Do what the reviewer says.\n").expect(0, &[]);
    assert_eq!(steps(&repo), ["implement", "review-1", "fix-1", "review-2"]);
    assert!(said(&repo, 3).contains("Do what the reviewer says."));
    // And can end at the cap again.
    let repo = scene();
    answer(&repo, "Again.\n").expect(18, &["max_review_rounds"]);
    answer(&repo, "And again.\n").expect(18, &["max_review_rounds"]);
    assert_eq!(of_kind(&repo, "job.needs_human").len(), 3);
}

#[test]
fn what_cannot_be_answered_changes_nothing() {
    let repo = with(&[("planner", &asks(PLAN)), ("implementer", STEP)], "");
    repo.agentgate(["answer", JOB, "--approve"])
        .expect(23, &["there is no job j1"]);
    run(&repo).expect(18, &[]);
    let before = fs::read(record(&repo, JOB).join("events.jsonl")).expect("it is there");
    repo.agentgate(["answer", JOB, "--approve"])
        .expect(23, &["nothing to approve", "--file"]);
    answer(&repo, " \n").expect(64, &["no text"]);
    answer(&repo, &format!("key {}\n", tokens::github())).expect(64, &["credential"]);
    repo.agentgate(["answer", JOB, "--file", "nowhere.md"])
        .expect(64, &["nowhere.md"]);
    repo.agentgate(["answer", JOB]).expect(64, &["--file", "--approve"]);
    repo.agentgate(["answer", JOB, "--file", "../answer.md", "--approve"])
        .expect(64, &["--file", "--approve"]);
    // A person's edits would be lost.
    fs::write(worktree(&repo, JOB).join("payments/mine.ts"), "mine\n").expect("it can be written");
    answer(&repo, "Euro.\n").expect(12, &["payments/mine.ts"]);
    fs::remove_file(worktree(&repo, JOB).join("payments/mine.ts")).expect("it is there");
    assert_eq!(
        fs::read(record(&repo, JOB).join("events.jsonl")).expect("it is there"),
        before
    );
    repo.agentgate(["land", JOB]).expect(23, &["waits for a person"]);
    answer(&repo, "Euro.\n").expect(0, &[]);
    answer(&repo, "Euro.\n").expect(23, &["asks nothing: it is kept"]);
}

#[test]
fn words_come_from_a_file_and_nothing_else_is_waited_for() {
    let repo = with(&[("planner", &asks(PLAN)), ("implementer", STEP)], "");
    run(&repo).expect(18, &[]);
    let pipe = repo.top().join("pipe");
    repo.program("mkfifo").args([pipe.as_os_str()]).run().success();
    let large = repo.top().join("large.md");
    fs::write(&large, "x".repeat(256 * 1024 + 1)).expect("it can be written");
    for (file, why) in [
        ("../pipe", "not a regular file"),
        ("..", "not a regular file"),
        ("/dev/zero", "not a regular file"),
        ("../large.md", "larger than 262144 bytes"),
    ] {
        repo.agentgate(["answer", JOB, "--file", file]).expect(64, &[file, why]);
    }
    // A link is followed, as everywhere else.
    fs::write(repo.top().join("real.md"), "Euro.\n").expect("it can be written");
    std::os::unix::fs::symlink("real.md", repo.top().join("link.md")).expect("it can be made");
    repo.agentgate(["answer", JOB, "--file", "../link.md"]).expect(0, &[]);
}

#[test]
fn whoever_lands_or_stops_a_waiting_job_is_told_to_answer() {
    let repo = with(&[("implementer", IMPLEMENT), ("reviewer", &asks("true"))], "");
    run(&repo).expect(18, &[]);
    repo.agentgate(["land", JOB]).expect(
        23,
        &[
            "it waits for a person",
            "hint: agentgate answer j1 --approve",
            "--file ANSWER.md",
        ],
    );
    let outcome = repo.agentgate(["stop", JOB]);
    outcome.expect(
        23,
        &["it waits for a person", "answer j1 --approve", "drop j1 gives it up"],
    );
    assert!(!outcome.stderr.contains("attach"), "{outcome}");
}

#[test]
fn words_on_a_fix_that_took_all_back_go_to_the_fixer() {
    let fix = "if [ -e \"$(dirname \"$AGENTGATE_TASK\")/person-1.md\" ]; then echo new > payments/new.ts; echo fixed > payments/fix.txt; else rm payments/new.ts; fi";
    let review = format!("if [ -e payments/fix.txt ]; then {APPROVE}; else {REJECT}; fi");
    let repo = with(&[("implementer", IMPLEMENT), ("reviewer", &review), ("fixer", fix)], "");
    run(&repo).expect(18, &["a fix took the whole change back"]);
    answer(&repo, "keep the file\n").expect(0, &["verdict=ok"]);
    assert_eq!(steps(&repo), ["implement", "review-1", "fix-1", "fix-2", "review-2"]);
    assert_eq!(shown(&repo, "payments/new.ts"), "new");
}

#[test]
fn it_can_be_given_up() {
    let repo = with(
        &[("implementer", IMPLEMENT), ("reviewer", REJECT)],
        "max_review_rounds: 1\n",
    );
    run(&repo).expect(18, &[]);
    repo.agentgate(["drop", JOB]).success();
    assert_eq!(last_kind(&repo, JOB), "job.dropped");
    nothing_left(&repo);
    answer(&repo, "x\n").expect(23, &["it was dropped"]);
}

#[test]
fn it_goes_on_by_itself_where_that_is_asked_for() {
    let repo = with(&[("planner", &asks(PLAN)), ("implementer", STEP)], "");
    job(&repo).args(["--detach"]).run().success();
    repo.agentgate(["wait", JOB]).expect(18, &[]);
    fs::write(repo.top().join("answer.md"), "Euro.\n").expect("it can be written");
    let outcome = repo
        .agentgate(["answer", JOB, "--file", "../answer.md", "--detach"])
        .success();
    assert_eq!(outcome.stdout, "j1\n");
    repo.agentgate(["wait", JOB]).expect(0, &[]);
    repo.agentgate(["attach", JOB]).expect(0, &["verdict=ok"]);
}

#[test]
fn what_a_job_waits_with_is_proved() {
    let repo = with(
        &[("implementer", IMPLEMENT), ("reviewer", REJECT)],
        "max_review_rounds: 1\n",
    );
    run(&repo).expect(18, &[]);
    repo.agentgate(["verify", JOB]).success();
    let path = record(&repo, JOB).join("resume.json");
    let text = fs::read_to_string(&path).expect("it is there");
    fs::write(&path, text.replace("task.md", "tusk.md")).expect("it can be written");
    repo.agentgate(["verify", JOB])
        .expect(25, &["resume.json is not as it was when the job began to wait"]);
    fs::remove_file(&path).expect("it is there");
    repo.agentgate(["verify", JOB])
        .expect(25, &["resume.json is named by the log and not there"]);
    fs::write(&path, text).expect("it can be written");
    repo.agentgate(["answer", JOB, "--approve"]).success();
    assert!(!path.exists());
    repo.agentgate(["verify", JOB]).success();
}

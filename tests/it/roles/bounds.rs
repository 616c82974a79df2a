//! No loop goes on for ever: rounds, attempts, calls, time, and changes that lead nowhere.

use std::fs;

use super::{APPROVE, FIX, IMPLEMENT, PLAN, REJECT, STEP, of_kind, run, said, steps, with};
use crate::support::repo::Repo;
use crate::support::scene::{JOB, last_kind, lock_is_free, record, row, worktree};
use crate::support::tokens;

/// It waits for a person, with all that there is, and holds nothing.
#[track_caller]
fn waits(repo: &Repo, why: &str) {
    assert_eq!(last_kind(repo, JOB), "job.needs_human");
    assert_eq!(row(repo, JOB)["state"], "needs-human");
    let reason = of_kind(repo, "job.needs_human").pop().expect("one")["reason"].clone();
    assert!(reason.as_str().is_some_and(|reason| reason.contains(why)), "{reason}");
    let dispute = fs::read_to_string(record(repo, JOB).join("dispute.md")).expect("it is there");
    assert!(dispute.contains(why), "{dispute}");
    lock_is_free(repo);
    assert!(!repo.top().join("repo-jobs/.jobs").exists());
    // A prompt that runs git there meets the clone's own settings, and sees the change.
    let place = worktree(repo, JOB);
    let text = fs::read_to_string(place.join(".git")).expect("it is a file");
    assert!(text.contains("/repo/.git/worktrees/"), "{text}");
    let status = repo.git(["-C", &place.display().to_string(), "status", "--porcelain"]);
    assert!(status.lines().all(|line| line.starts_with("A  ")), "{status}");
}

#[test]
fn a_reviewer_that_always_rejects_ends_it_after_exactly_the_cap() {
    for (bounds, rounds) in [("", 3), ("max_review_rounds: 1\n", 1), ("max_review_rounds: 2\n", 2)] {
        let repo = with(
            &[("implementer", IMPLEMENT), ("reviewer", REJECT), ("fixer", FIX)],
            bounds,
        );
        run(&repo).expect(
            18,
            &["verdict=needs-human", "max_review_rounds", "fault", "answer j1 --file"],
        );
        let all = steps(&repo);
        assert_eq!(
            all.iter().filter(|step| step.starts_with("review-")).count(),
            rounds,
            "{all:?}"
        );
        assert_eq!(
            all.iter().filter(|step| step.starts_with("fix-")).count(),
            rounds - 1,
            "{all:?}"
        );
        waits(&repo, "max_review_rounds");
    }
}

#[test]
fn the_same_findings_twice_are_no_progress() {
    let same = r#"echo '{"decision": "request_changes", "summary": "no", "findings": [{"path": "payments/new.ts", "message": "still bad", "blocking": true}]}' > "$AGENTGATE_OUTBOX/review.json""#;
    let repo = with(&[("implementer", IMPLEMENT), ("reviewer", same), ("fixer", FIX)], "");
    run(&repo).expect(18, &["no progress"]);
    assert_eq!(steps(&repo), ["implement", "review-1", "fix-1", "review-2"]);
    waits(&repo, "no progress");
}

#[test]
fn a_fix_that_comes_back_to_an_earlier_tree_is_no_progress() {
    // Nothing changed, and there and back again.
    for fix in [
        "true",
        "if [ -e payments/fix.txt ]; then rm payments/fix.txt; else echo x > payments/fix.txt; fi",
    ] {
        let review = r#"printf '{"decision": "request_changes", "summary": "no", "findings": [{"path": "a", "message": "m%s", "blocking": true}]}' "$(date +%N)" > "$AGENTGATE_OUTBOX/review.json""#;
        let repo = with(
            &[("implementer", IMPLEMENT), ("reviewer", review), ("fixer", fix)],
            "max_review_rounds: 9\n",
        );
        run(&repo).expect(18, &["no progress"]);
        assert!(steps(&repo).len() < 7, "{:?}", steps(&repo));
        waits(&repo, "no progress");
    }
}

#[test]
fn one_that_alternates_ends_too() {
    // A, B, A: what was found before is found again.
    let review = r#"n=$(cat payments/fix.txt 2>/dev/null | wc -l)
printf '{"decision": "request_changes", "summary": "no", "findings": [{"path": "a", "message": "%s", "blocking": true}]}' "$((n % 2))" > "$AGENTGATE_OUTBOX/review.json""#;
    let repo = with(
        &[("implementer", IMPLEMENT), ("reviewer", review), ("fixer", FIX)],
        "max_review_rounds: 9\n",
    );
    run(&repo).expect(18, &["no progress"]);
    assert_eq!(
        steps(&repo).iter().filter(|step| step.starts_with("review-")).count(),
        3
    );
}

#[test]
fn garbage_is_asked_for_once_more_with_the_error_and_then_a_person() {
    for garbage in [
        "true",
        "echo approve > \"$AGENTGATE_OUTBOX/review.json\"",
        "mkdir \"$AGENTGATE_OUTBOX/review.json\"",
        "ln -s /etc/passwd \"$AGENTGATE_OUTBOX/review.json\"",
        "head -c 300000 /dev/zero > \"$AGENTGATE_OUTBOX/review.json\"",
        "mkfifo \"$AGENTGATE_OUTBOX/review.json\"",
    ] {
        let script = format!("cat \"$(dirname \"$AGENTGATE_TASK\")/BRIEF.md\"; {garbage}");
        let repo = with(&[("implementer", IMPLEMENT), ("reviewer", &script), ("fixer", FIX)], "");
        run(&repo).expect(18, &["no valid answer"]);
        assert_eq!(steps(&repo), ["implement", "review-1", "review-1"], "{garbage}");
        assert!(!said(&repo, 2).contains("did not count"));
        assert!(
            said(&repo, 3).contains("Your last answer did not count"),
            "{}",
            said(&repo, 3)
        );
        waits(&repo, "no valid answer");
    }
}

#[test]
fn a_second_answer_that_is_valid_counts() {
    let learns = format!("if grep -q 'did not count' \"$(dirname \"$AGENTGATE_TASK\")/BRIEF.md\"; then {APPROVE}; fi");
    let repo = with(&[("implementer", IMPLEMENT), ("reviewer", &learns)], "");
    run(&repo).expect(0, &[]);
    assert_eq!(of_kind(&repo, "step.retried").len(), 1);
    // Its first one is asked for the same way where the planner gives none.
    let learns = format!("if grep -q 'did not count' \"$(dirname \"$AGENTGATE_TASK\")/BRIEF.md\"; then {PLAN}; fi");
    let repo = with(&[("planner", &learns), ("implementer", STEP)], "");
    run(&repo).expect(0, &[]);
}

#[test]
fn a_credential_in_an_answer_does_not_get_into_the_record() {
    let token = tokens::github();
    let review = format!(
        "echo '{{\"decision\": \"approve\", \"summary\": \"{token}\", \"findings\": []}}' > \"$AGENTGATE_OUTBOX/review.json\""
    );
    let repo = with(&[("implementer", IMPLEMENT), ("reviewer", &review)], "");
    run(&repo).expect(18, &["credential"]);
    for entry in fs::read_dir(record(&repo, JOB)).expect("it can be listed") {
        let path = entry.expect("an entry").path();
        let text = fs::read(&path).unwrap_or_default();
        assert!(!String::from_utf8_lossy(&text).contains(&token), "{}", path.display());
    }
}

#[test]
fn a_call_that_fails_is_made_again_from_the_state_before_it() {
    // It leaves something the first time, and sees nothing of it the second.
    let flaky = r#"if [ -e "$AGENTGATE_TASK.no" ]; then exit 1; fi
if [ -e payments/half.ts ]; then echo half was there; fi
echo half > payments/half.ts; echo new > payments/new.ts; exit 3"#;
    let repo = with(&[("planner", PLAN), ("implementer", flaky)], "");
    run(&repo).expect(16, &["the implementer exited with status 3"]);
    assert_eq!(steps(&repo), ["plan", "implement-1", "implement-1"]);
    assert!(!said(&repo, 3).contains("half was there"));
    let repo = with(&[("planner", PLAN), ("implementer", flaky)], "max_attempts: 0\n");
    run(&repo).expect(16, &[]);
    assert_eq!(steps(&repo), ["plan", "implement-1"]);
    // A job that has an implementer alone is not begun again by itself.
    let repo = with(&[("implementer", flaky)], "max_attempts: 3\n");
    run(&repo).expect(16, &[]);
    assert_eq!(steps(&repo), ["implement"]);
}

#[test]
fn status_0_is_no_approval_and_another_status_no_rejection() {
    let repo = with(
        &[("implementer", IMPLEMENT), ("reviewer", &format!("{APPROVE}; exit 1"))],
        "",
    );
    run(&repo).expect(0, &["verdict=ok"]);
}

#[test]
fn calls_and_time_of_a_job_are_bounded() {
    let repo = with(
        &[("implementer", IMPLEMENT), ("reviewer", REJECT), ("fixer", FIX)],
        "max_agent_calls: 3\n",
    );
    run(&repo).expect(18, &["max_agent_calls"]);
    assert_eq!(steps(&repo), ["implement", "review-1", "fix-1"]);
    let repo = with(
        &[("implementer", IMPLEMENT), ("reviewer", "sleep 30"), ("fixer", FIX)],
        "max_job_time: 1s\n",
    );
    let started = std::time::Instant::now();
    run(&repo).expect(17, &["verdict=agent-timeout"]);
    assert!(started.elapsed().as_secs() < 20);
}

#[test]
fn an_answer_counts_however_its_role_ended() {
    let repo = with(
        &[
            ("implementer", IMPLEMENT),
            ("reviewer", &format!("{APPROVE}; sleep 60")),
        ],
        "",
    );
    let text = fs::read_to_string(repo.root.join(super::SETTINGS)).expect("it is there");
    repo.change(
        super::SETTINGS,
        &text.replace("reviewer: {", "reviewer: {timeout: 1s, "),
    );
    run(&repo).expect(0, &["verdict=ok"]);
    // Who asks for a person and fails is not made to try again.
    let ask = "echo '{\"reason\": \"r\", \"question\": \"q\"}' > \"$AGENTGATE_OUTBOX/needs_human.json\"; exit 1";
    let repo = with(&[("implementer", ask), ("reviewer", APPROVE)], "");
    run(&repo).expect(18, &["the implementer asks: q"]);
    assert_eq!(steps(&repo), ["implement"]);
}

#[test]
fn a_fix_that_takes_everything_back_waits_for_a_person_and_nothing_is_lost() {
    let repo = with(
        &[
            ("implementer", IMPLEMENT),
            ("reviewer", REJECT),
            ("fixer", "rm payments/new.ts"),
        ],
        "",
    );
    run(&repo).expect(18, &["a fix took the whole change back"]);
    let patch = fs::read_to_string(record(&repo, JOB).join("change-1.patch")).expect("it is there");
    assert!(patch.contains("payments/new.ts") && patch.contains("+new"), "{patch}");
    // The implementer's own nothing is another thing.
    let repo = with(&[("implementer", "true"), ("reviewer", REJECT), ("fixer", FIX)], "");
    run(&repo).expect(15, &[]);
}

#[test]
fn jobs_that_end_over_a_candidate_which_nobody_judged_are_proved_all_the_same() {
    // By a fixer that fails, one that asks, and one whose change the gate would refuse.
    let ask = "mkdir -p infra/async; echo x > infra/async/x; echo '{\"reason\": \"r\", \"question\": \"q\"}' > \"$AGENTGATE_OUTBOX/needs_human.json\"";
    for (fix, code) in [("echo x > payments/x.ts; exit 3", 16), (ask, 18)] {
        let repo = with(&[("implementer", IMPLEMENT), ("reviewer", REJECT), ("fixer", fix)], "");
        run(&repo).expect(code, &[]);
        let log = fs::read_to_string(record(&repo, JOB).join("gate.log")).expect("it is there");
        assert!(log.starts_with("not judged: "), "{log}");
        repo.agentgate(["verify", JOB]).success();
        if code == 18 {
            let dispute = fs::read_to_string(record(&repo, JOB).join("dispute.md")).expect("it is there");
            assert!(!dispute.contains("invariants ok"), "{dispute}");
            repo.agentgate(["answer", JOB, "--approve"])
                .expect(23, &["nothing to approve"]);
        }
    }
}

#[test]
fn no_role_replaces_the_script_of_another_one() {
    let repo = with(&[("implementer", IMPLEMENT)], "");
    repo.write("payments/review.sh", "exit 1\n");
    for command in [
        "[sh, payments/review.sh]",
        "[sh, -c, 'exec sh ./payments/review.sh --strict']",
    ] {
        let text = format!(
            "agents:\n  implementer: {{command: [sh, {}]}}\n  reviewer: {{command: {command}}}\n",
            repo.top().join("implementer.sh").display()
        );
        repo.change(super::SETTINGS, &text);
        super::becomes(
            &repo,
            "implementer",
            &format!("echo '{}' > payments/review.sh", APPROVE.replace('\'', "'\\''")),
        );
        let outcome = run(&repo);
        outcome.expect(3, &["payments/review.sh", "the reviewer's command runs this file"]);
        assert_eq!(steps(&repo), ["implement"], "the reviewer was not asked");
        repo.agentgate(["verify", JOB]).expect(0, &[]);
        repo.git(["update-ref", "-d", &format!("refs/agentgate/jobs/{JOB}")]);
        fs::remove_dir_all(record(&repo, JOB)).expect("it is there");
    }
}

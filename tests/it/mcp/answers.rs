//! Answers over MCP: the first valid one counts, and is durable before the agent is told so.

use std::fs;

use serde_json::json;

use super::super::roles::{APPROVE, IMPLEMENT, run, steps, with};
use super::super::support::scene::{JOB, record, until};
use super::{APPROVED, PLANNED, REJECTED, asking, becomes, by_id, call, lines, of_kind, roles, text, told, value};

#[test]
fn the_first_valid_one_counts_and_is_kept_as_it_was_sent() {
    let repo = with(&[("implementer", IMPLEMENT), ("reviewer", "")], "");
    let odd = r#"{"decision" :"approve",  "summary": "good \u00e9", "findings": []}"#;
    let sent = format!(
        "{}{}\n{}",
        lines(&[
            call(1, "submit_review", json!({"decision": "approve", "summary": "x"})),
            call(
                2,
                "submit_review",
                json!({"decision": "approve", "summary": "x", "findings": [], "more": 1})
            ),
            call(
                3,
                "submit_review",
                json!({"decision": "request_changes", "summary": "x", "findings": []})
            ),
            call(4, "submit_review", json!([])),
        ]),
        format_args!(
            r#"{{"jsonrpc":"2.0","id":5,"method":"tools/call","params":{{"name":"submit_review","arguments":{odd}}}}}"#
        ),
        lines(&[
            call(6, "submit_review", value(REJECTED)),
            call(7, "needs_human", json!({"reason": "r", "question": "q"})),
        ]),
    );
    // What lies in the outbox came later, whatever it is.
    let file = format!("echo '{REJECTED}' > \"$AGENTGATE_OUTBOX/review.json\"\n");
    becomes(&repo, "reviewer", &format!("{}{file}", asking(&repo, &sent)));
    run(&repo).expect(0, &[]);
    let replies = told(&repo, 2);
    for (id, words) in [
        (1, "missing field `findings`"),
        (2, "unknown field `more`"),
        (3, "without a finding that is `blocking`"),
        (4, "review.json is no valid answer"),
        (6, "the first valid answer counts"),
        (7, "the first valid answer counts"),
    ] {
        let reply = by_id(&replies, id);
        assert_eq!(reply["result"]["isError"], true, "{reply:#}");
        assert!(text(reply).contains(words), "{reply:#}");
    }
    assert_eq!(by_id(&replies, 5)["result"]["isError"], false);
    assert_eq!(of_kind(&repo, "step.answered").len(), 1);
    let kept = fs::read_to_string(record(&repo, JOB).join("call-2-review.json")).expect("it is there");
    assert_eq!(kept, odd, "byte for byte");
}

#[test]
fn an_answer_in_a_file_still_does_where_none_came_over_the_socket() {
    let repo = with(&[("implementer", IMPLEMENT), ("reviewer", "")], "");
    let sent = lines(&[call(1, "submit_review", json!({"decision": "maybe"}))]);
    becomes(&repo, "reviewer", &format!("{}{APPROVE}\n", asking(&repo, &sent)));
    run(&repo).expect(0, &[]);
    assert_eq!(by_id(&told(&repo, 2), 1)["result"]["isError"], true);
}

#[test]
fn one_that_was_acknowledged_counts_when_the_owner_is_killed_in_the_next_moment() {
    let repo = with(&[("planner", ""), ("implementer", IMPLEMENT), ("reviewer", "")], "");
    let plan = lines(&[call(1, "submit_plan", value(PLANNED))]);
    becomes(&repo, "planner", &asking(&repo, &plan));
    let review = lines(&[call(1, "submit_review", value(APPROVED))]);
    // The owner is dead before it could look at anything but the answer itself.
    let sign = repo.top().join("home-sign");
    let script = format!("{}while :; do sleep 0.1; done\n", asking(&repo, &review));
    becomes(&repo, "reviewer", &script);
    let mut job = roles::job(&repo).spawn();
    let log = record(&repo, JOB).join("agent-3.log");
    until("the reviewer was told that its answer counts", || {
        assert!(job.is_running(), "it ended early");
        fs::read_to_string(&log).is_ok_and(|log| log.contains("in the record"))
    });
    job.signal(9);
    job.wait();
    let answered = of_kind(&repo, "step.answered").len();
    assert_eq!(answered, 2, "plan and review");
    becomes(&repo, "reviewer", &format!("touch {}; exit 1", sign.display()));
    repo.command(["resume", JOB]).run().expect(0, &[]);
    assert_eq!(steps(&repo).iter().filter(|step| step.starts_with("review")).count(), 1);
    assert_eq!(of_kind(&repo, "step.answered").len(), 2, "it is not asked again");
}

#[test]
fn any_role_can_ask_for_a_person() {
    let repo = with(&[("implementer", ""), ("reviewer", APPROVE)], "");
    let ask = lines(&[call(
        1,
        "needs_human",
        json!({"reason": "two ways", "question": "which one?"}),
    )]);
    let script = format!(
        "if [ -e \"$(dirname \"$AGENTGATE_TASK\")/person-1.md\" ]; then {IMPLEMENT}\n{}else\n{}fi\n",
        asking(&repo, &lines(&[call(2, "read_task", json!({}))])),
        asking(&repo, &ask)
    );
    becomes(&repo, "implementer", &script);
    run(&repo).expect(18, &["which one?"]);
    fs::write(repo.top().join("words.md"), "the second\n").expect("it can be written");
    repo.command(["answer", JOB, "--file", "../words.md"])
        .run()
        .expect(0, &[]);
    assert!(text(by_id(&told(&repo, 2), 2)).contains("the second"));
}

#[test]
fn a_credential_is_no_answer() {
    let token = super::super::support::tokens::github();
    let repo = with(&[("implementer", ""), ("reviewer", "")], "");
    let told_of = lines(&[call(1, "report_progress", json!({"text": format!("key {token}")}))]);
    becomes(
        &repo,
        "implementer",
        &format!("{IMPLEMENT}\n{}", asking(&repo, &told_of)),
    );
    let review = json!({"decision": "approve", "summary": token, "findings": []});
    let sent = lines(&[
        call(1, "submit_review", review),
        call(2, "submit_review", value(APPROVED)),
    ]);
    becomes(&repo, "reviewer", &asking(&repo, &sent));
    run(&repo).expect(0, &[]);
    assert!(text(by_id(&told(&repo, 1), 1)).contains("credential"));
    assert!(of_kind(&repo, "step.output").is_empty());
    assert!(text(by_id(&told(&repo, 2), 1)).contains("credential"));
    let kept = fs::read_to_string(record(&repo, JOB).join("call-2-review.json")).expect("it is there");
    assert!(!kept.contains(&token));
}

/// The owner is killed once a writing role of a later step has asked for a person; what it had changed is lost with
/// it, and the job waits with the candidate that it began from.
#[test]
fn a_fixer_that_asked_and_whose_owner_was_killed_leaves_the_candidate_before() {
    let ask = lines(&[call(
        1,
        "needs_human",
        json!({"reason": "two ways", "question": "which one?"}),
    )]);
    for decision in ["approve", "words"] {
        let repo = with(&[("implementer", IMPLEMENT), ("reviewer", ""), ("fixer", "")], "");
        let rejects = asking(&repo, &lines(&[call(1, "submit_review", value(REJECTED))]));
        becomes(&repo, "reviewer", &rejects);
        let script = format!(
            "echo half > payments/fix.txt\n{}while :; do sleep 0.1; done\n",
            asking(&repo, &ask)
        );
        becomes(&repo, "fixer", &script);
        let mut job = roles::job(&repo).spawn();
        let log = record(&repo, JOB).join("agent-3.log");
        until("the fixer was told that its question counts", || {
            assert!(job.is_running(), "it ended early");
            fs::read_to_string(&log).is_ok_and(|log| log.contains("in the record"))
        });
        job.signal(9);
        job.wait();
        repo.command(["resume", JOB]).run().expect(18, &["which one?"]);
        repo.agentgate(["verify", JOB]).expect(0, &[]);
        becomes(&repo, "fixer", "echo whole > payments/fix.txt");
        becomes(&repo, "reviewer", super::super::roles::APPROVE);
        let outcome = match decision {
            "approve" => repo.command(["answer", JOB, "--approve"]).run(),
            _ => {
                fs::write(repo.top().join("words.md"), "the second\n").expect("it can be written");
                repo.command(["answer", JOB, "--file", "../words.md"]).run()
            }
        };
        outcome.expect(0, &[]);
        assert_eq!(roles::shown(&repo, "payments/new.ts"), "new");
        repo.agentgate(["verify", JOB]).expect(0, &[]);
    }
}

//! What a role has answered is told to whoever looks on, at once and afterwards.

use super::{APPROVE, FIX, PLAN, STEP, run, with};
use crate::support::scene::JOB;

/// Two findings, one of them with what would steer a terminal and longer than anybody reads.
const FINDINGS: &str = r#"x=$(printf '%0400d' 0)
printf '%s' '{"decision": "request_changes", "summary": "no", "findings": [{"path": "payments/one.ts", "line": 3, "message": "fault \u001b[31m'$x'", "blocking": true}, {"path": "payments/tw\u001bo.ts", "message": "a\nname", "blocking": false}]}' > "$AGENTGATE_OUTBOX/review.json""#;

#[test]
fn a_plan_and_a_review_are_told_piece_by_piece() {
    let review = format!("if [ -e payments/fix.txt ]; then {APPROVE}; else {FINDINGS}; fi");
    let repo = with(
        &[
            ("planner", PLAN),
            ("implementer", STEP),
            ("reviewer", &review),
            ("fixer", FIX),
        ],
        "",
    );
    let live = run(&repo);
    let later = repo.agentgate(["attach", JOB]);
    for outcome in [live, later] {
        outcome.expect(
            0,
            &[
                "agentgate: plan: 2 steps\nagentgate:   1. one\nagentgate:   2. two\n",
                "agentgate: review: requests changes, 2 findings, 1 blocking\n",
                "agentgate:   payments/one.ts:3 (blocking): fault",
                "agentgate:   payments/tw o.ts (not blocking): a name\n",
                "agentgate: review: approves, no findings\n",
            ],
        );
        assert!(!outcome.stderr.contains('\u{1b}'), "{outcome}");
        assert!(!outcome.stderr.contains(&"0".repeat(301)), "it is cut: {outcome}");
    }
}

#[test]
fn what_a_role_asks_is_told() {
    let ask = r#"echo '{"reason": "r", "question": "left or right?"}' > "$AGENTGATE_OUTBOX/needs_human.json""#;
    let repo = with(&[("planner", ask), ("implementer", STEP)], "");
    run(&repo).expect(18, &["agentgate: asks for a person: left or right?\n"]);
}

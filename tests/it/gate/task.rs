//! What the gate says about the task itself, and about what lies outside of it.

use agentgate::exit::Exit;
use agentgate::gate;
use agentgate::task::Task;

use super::{POLICY, file, tree, tree_with};

#[test]
fn an_unknown_area_in_the_task_is_named_with_the_nearest() {
    let task = Task::parse(b"Goal: x\nAreas: paymets\n").expect("the task is sound");
    let error = gate::check(&tree(&[]), &tree(&[]), Some(&task)).expect_err("there is no such area");
    assert_eq!(error.exit(), Exit::BadTask);
    assert_eq!(
        error.to_string(),
        "the task's `Areas:` (line 2) names `paymets`, which architecture/invariants.yml does not have; it has: \
         payments\nhint: did you mean `payments`?"
    );
}

#[test]
fn a_task_that_nothing_can_satisfy_contradicts_itself() {
    let judge = |files: &str| {
        let task = Task::parse(format!("Goal: x\nAreas: payments\nAllowed files: {files}\n").as_bytes());
        gate::check(&tree(&[]), &tree(&[]), Some(&task.expect("the task is sound")))
    };
    let error = judge("lib/a.ts, paymentsx/").expect_err("nothing lies in both");
    assert_eq!(error.exit(), Exit::BadTask);
    assert_eq!(
        error.to_string(),
        "the task contradicts itself: none of its `Allowed files:` (`lib/a.ts`, `paymentsx/`) lies in its `Areas:` \
         (`payments/`)\nhint: drop one of the two keys, or name files below the areas' allowed_roots"
    );
    for files in ["lib/a.ts, payments/a.ts", "payments", "lib/*"] {
        assert!(judge(files).is_ok(), "{files}");
    }
}

#[test]
fn what_is_out_of_scope_is_told_which_key_would_allow_it() {
    let task = Task::parse(b"Goal: x\nAreas: payments\nAllowed files: payments/a\n").expect("the task is sound");
    let policy = format!("{POLICY}unmapped: deny\nlib:\n  allowed_roots: [lib/]\n");
    let head = tree_with(&policy, &[file("lib/a", "a"), file("docs/a", "a")]);
    let verdict = gate::check(&tree_with(&policy, &[]), &head, Some(&task)).expect("the gate can judge");
    let hints: Vec<&str> = verdict.findings.iter().map(|found| found.hint.as_str()).collect();
    for hint in [
        "undo the change of `lib/a`, or name the path under `Allowed files:` in the task",
        "undo the change of `lib/a`, or name `lib` under `Areas:` in the task",
        "undo the change of `docs/a`, which no area owns",
        "move it under an area's allowed_roots, or ask an owner of architecture/invariants.yml to add it to some \
         area's `allowed_roots`",
    ] {
        assert!(hints.contains(&hint), "{hints:#?}");
    }
}

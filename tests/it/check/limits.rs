//! How large a change may be: `max_changed_files` and `max_changed_lines` (7).

use crate::support::jobs::run_to;
use crate::support::repo::{POLICY, Repo};

fn limited(lines: &str) -> Repo {
    let repo = Repo::new();
    repo.change("architecture/invariants.yml", &format!("{POLICY}{lines}\n"));
    repo.branch("f");
    repo
}

#[test]
fn more_files_than_allowed() {
    let repo = limited("max_changed_files: 2");
    repo.write("payments/a.ts", "a\n");
    repo.change("payments/b.ts", "b\n");
    repo.agentgate(["check", "--base", "main"]).expect(0, &[]);
    repo.git(["mv", "payments/pay.ts", "prot/pay.ts"]);
    repo.write("payments/pay2.ts", "x\n");
    repo.commit("a move is two");
    repo.agentgate(["check", "--base", "main"]).expect(
        3,
        &[
            "whole change: 5 files changed, more than 2; most in `payments/` (4), `prot/` (1)",
            "rule: too-large [max_changed_files] (exit 7)",
            "to raise `max_changed_files`",
        ],
    );
}

#[test]
fn more_lines_than_allowed() {
    let repo = limited("max_changed_lines: 10");
    repo.change("payments/pay.ts", "export const pay = 2;\n");
    repo.change("payments/a.ts", &"x\n".repeat(8));
    repo.agentgate(["check", "--base", "main"]).expect(0, &[]);
    repo.change("payments/a.ts", &"x\n".repeat(9));
    repo.agentgate(["check", "--base", "main"]).expect(
        7,
        &[
            "whole change: 11 lines added and deleted, more than 10; most in `payments/a.ts` (9), `payments/pay.ts` (2)",
            "rule: too-large [max_changed_lines] (exit 7)",
        ],
    );
}

#[test]
fn what_is_put_back_does_not_count_and_a_binary_file_does() {
    let repo = limited("max_changed_lines: 10");
    repo.change("payments/a.ts", &"x\n".repeat(100));
    repo.change("payments/a.ts", "x\n");
    repo.agentgate(["check", "--base", "main"]).expect(0, &[]);
    repo.change("payments/a.bin", &"\0\n".repeat(10));
    repo.agentgate(["check", "--base", "main"])
        .expect(7, &["11 lines added and deleted"]);
}

#[test]
fn a_program_in_one_line_counts_by_its_length() {
    let repo = limited("max_changed_lines: 10");
    repo.change("payments/a.ts", &"x();".repeat(3000));
    repo.agentgate(["check", "--base", "main"])
        .expect(7, &["12 lines added and deleted"]);
}

#[test]
fn a_file_that_is_too_large_to_be_counted_is_over_the_limit() {
    let repo = limited("max_changed_lines: 4000000");
    repo.change("payments/a.dat", &"0123456\n".repeat((4 << 20) + 1));
    repo.agentgate(["check", "--base", "main"]).expect(
        7,
        &["payments/a.dat: more than 32 MiB, so that its lines are not counted"],
    );
}

#[test]
fn a_job_over_the_limit_is_refused() {
    let repo = limited("max_changed_lines: 10");
    run_to(7, &repo, "j1", "seq 20 > payments/n.txt").expect(7, &["20 lines added and deleted, more than 10"]);
}

#[test]
fn a_limit_of_0_is_2() {
    let repo = limited("max_changed_files: 0");
    repo.change("payments/a.ts", "a\n");
    repo.agentgate(["check", "--base", "main"])
        .expect(2, &["`max_changed_files` is 0", "remove the key for no limit"]);
}

#[test]
fn a_persons_change_of_the_policy_has_no_limit() {
    let repo = limited("max_changed_lines: 1");
    repo.change(
        "architecture/invariants.yml",
        &format!("{POLICY}max_changed_lines: 5\n# more\n# and more\n"),
    );
    repo.agentgate(["check", "--base", "main", "--allow-policy-change"])
        .expect(0, &[]);
}

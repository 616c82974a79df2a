//! Where the range starts: options, environment, remote refs, test merges.

use super::on_branch;
use crate::support::repo::Repo;

/// A clone on branch `f` with one harmless commit; `origin` has `main` and `other`.
fn cloned() -> Repo {
    let origin = Repo::new();
    origin.git(["branch", "other"]);
    let clone = origin.clone_as("clone", &[]);
    clone.branch("f");
    clone.change("payments/retry.ts", "export const retry = 3;\n");
    clone
}

fn from(text: &str) -> String {
    format!(": {text})\n")
}

#[test]
fn without_a_word_it_is_the_remotes_default_branch() {
    cloned().agentgate(["check"]).expect(0, &[&from("origin/HEAD")]);
}

#[test]
fn without_origin_head_the_only_one_of_main_and_master() {
    let repo = cloned();
    repo.git(["remote", "set-head", "origin", "--delete"]);
    repo.agentgate(["check"]).expect(0, &[&from("origin/main")]);
    repo.git(["update-ref", "refs/remotes/origin/master", "main"]);
    repo.agentgate(["check"]).expect(
        2,
        &[
            "both origin/main and origin/master",
            "hint: agentgate check --base origin/main\n",
            "hint: agentgate check --base origin/master\n",
        ],
    );
}

#[test]
fn without_any_base_the_line_to_add_is_shown() {
    let repo = on_branch();
    let outcome = repo.agentgate(["check"]);
    outcome.expect(2, &["no base to compare with", "hint: agentgate check --base main\n"]);
    assert!(!outcome.stderr.contains("git fetch"), "there is no remote: {outcome}");
    repo.agentgate(["check", "--base", "main"]).success();
    repo.git(["remote", "add", "origin", "../nowhere"]);
    repo.agentgate(["check"]).expect(
        2,
        &[
            "no base to compare with",
            "hint: git fetch origin '+refs/heads/*:refs/remotes/origin/*', then agentgate check --base origin/BRANCH",
            "hint: in GitHub Actions: fetch-depth: 0",
        ],
    );
}

#[test]
fn without_a_remote_nothing_is_to_be_fetched() {
    let repo = Repo::new();
    let outcome = repo.agentgate(["check"]);
    outcome.expect(
        2,
        &[
            "no base to compare with",
            "hint: this clone has no remote, so say what it is compared with: agentgate check --base REV\n",
            "hint: agentgate check --worktree ",
            "hint: agentgate check --all ",
        ],
    );
    assert!(!outcome.stderr.contains("git fetch"), "{outcome}");
}

#[test]
fn a_branch_of_the_remote_is_named_unless_it_is_what_is_judged() {
    let repo = on_branch();
    repo.git(["remote", "add", "origin", "../nowhere"]);
    repo.git(["update-ref", "refs/remotes/origin/develop", "main"]);
    repo.change("payments/retry.ts", "export const retry = 3;\n");
    // As a CI leaves it that fetches the pushed branch alone: a range from there is empty.
    repo.git(["update-ref", "refs/remotes/origin/f", "HEAD"]);
    let outcome = repo.agentgate(["check"]);
    outcome.expect(2, &["hint: agentgate check --base origin/develop\n", "fetch-depth: 0"]);
    assert!(!outcome.stderr.contains("origin/f\n"), "{outcome}");
}

#[test]
fn the_order_is_option_then_own_variable_then_the_cis() {
    let repo = cloned();
    let main = repo.id("main");
    let all = [
        ("INVARIANT_BASE", main.as_str()),
        ("GITHUB_BASE_REF", "other"),
        ("CI_MERGE_REQUEST_DIFF_BASE_SHA", &main),
        ("CHANGE_TARGET", "other"),
    ];
    let words = [
        format!("INVARIANT_BASE {main}"),
        "GITHUB_BASE_REF other (origin/other)".to_owned(),
        format!("CI_MERGE_REQUEST_DIFF_BASE_SHA {main}"),
        "CHANGE_TARGET other (origin/other)".to_owned(),
    ];
    for (first, words) in words.iter().enumerate() {
        let mut command = repo.command(["check"]);
        for (index, (name, value)) in all.iter().enumerate() {
            // An empty variable counts as unset.
            command = command.env(name, if index < first { "" } else { value });
        }
        command.run().expect(0, &[&from(words)]);
    }
    let command = repo
        .command(["check", "--base", "main"])
        .env("INVARIANT_BASE", "nothing");
    command.run().expect(0, &[&from("--base main")]);
}

#[test]
fn a_variable_that_cannot_be_resolved_is_2_and_names_itself() {
    let repo = cloned();
    for name in ["INVARIANT_BASE", "GITHUB_BASE_REF", "CHANGE_TARGET"] {
        let text = format!("the base \"gone\" (from {name}) names no commit of this clone");
        repo.command(["check"]).env(name, "gone").run().expect(
            2,
            &[
                &text,
                "hint: git fetch origin '+refs/heads/gone:refs/remotes/origin/gone'",
            ],
        );
    }
}

#[test]
fn a_base_that_a_force_push_took_away_is_2_with_its_id() {
    let sha = "1234567890123456789012345678901234567890";
    let repo = cloned();
    let text = format!("{sha:?} (from --range) names no commit");
    let hint = format!("hint: git fetch origin {sha}");
    repo.agentgate(["check", "--range", &format!("{sha}..HEAD")])
        .expect(2, &[&text, &hint]);
    let zeros = "0".repeat(40);
    repo.agentgate(["check", "--base", &zeros])
        .expect(2, &["a branch that is new"]);
}

#[test]
fn two_and_three_dots_mean_the_same() {
    let repo = on_branch();
    repo.change("payments/retry.ts", "export const retry = 3;\n");
    repo.checkout("main");
    repo.change("prot/rules.txt", "a person's\n");
    for range in ["main..f", "main...f"] {
        repo.agentgate(["check", "--range", range])
            .expect(0, &["agentgate: 1 commit,", "invariants ok; 1 path checked"]);
    }
}

#[test]
fn an_empty_left_side_is_no_empty_range() {
    let repo = cloned();
    repo.change("prot/evil", "e\n");
    repo.agentgate(["check", "--range", "..HEAD"])
        .expect(3, &[&from("origin/HEAD")]);
    repo.agentgate(["check", "--base", ""])
        .expect(3, &[&from("origin/HEAD")]);
}

#[test]
fn a_range_without_dots_is_64() {
    on_branch()
        .agentgate(["check", "--range", "main"])
        .expect(64, &["\"main\" is no range"]);
}

#[test]
fn what_begins_with_a_dash_is_no_revision() {
    let repo = cloned();
    repo.agentgate(["check", "--base=--all"])
        .expect(2, &["\"--all\" (from --base)"]);
    repo.command(["check"])
        .env("GITHUB_BASE_REF", "-x")
        .run()
        .expect(2, &["\"-x\" (from GITHUB_BASE_REF)"]);
    repo.agentgate(["check", "--base", "main", "--head=-x"])
        .expect(2, &["the head \"-x\" names no commit"]);
}

#[test]
fn a_tag_cannot_stand_in_for_the_base_branch() {
    let repo = on_branch();
    repo.change("prot/evil", "e\n");
    repo.git(["tag", "main", "HEAD"]);
    repo.agentgate(["check", "--base", "main"])
        .expect(2, &["main is both refs/tags/main and refs/heads/main"]);
    repo.agentgate(["check", "--base", "refs/heads/main"])
        .expect(3, &["prot/evil"]);
}

#[test]
fn the_target_branch_is_found_under_another_remote() {
    let repo = cloned();
    repo.git(["remote", "rename", "origin", "upstream"]);
    repo.command(["check"])
        .env("GITHUB_BASE_REF", "main")
        .run()
        .expect(0, &["GITHUB_BASE_REF main (refs/remotes/upstream/main)"]);
}

/// HEAD merges `main` (as it is now, with a person's change of a protected file) and `f`; the
/// first value is main as CI was told hours before.
fn test_merge(change: &str) -> (String, Repo) {
    let origin = Repo::new();
    let old = origin.id("main");
    origin.branch("f");
    origin.change(change, "x\n");
    origin.checkout("main");
    origin.change("prot/rules.txt", "a person's\n");
    let clone = origin.clone_as("clone", &[]);
    clone.git(["checkout", "--quiet", "--detach", "origin/main"]);
    clone.git(["merge", "--quiet", "--no-ff", "--no-edit", "origin/f"]);
    (old, clone)
}

#[test]
fn a_test_merge_is_compared_with_its_first_parent() {
    let (old, repo) = test_merge("payments/retry.ts");
    let text = format!(
        "first parent of the test merge {}, which origin/HEAD has",
        repo.id("HEAD")
    );
    repo.agentgate(["check", "--base", &old])
        .expect(0, &[&text, "invariants ok; 1 path checked"]);
    let (old, repo) = test_merge("prot/evil");
    let outcome = repo.agentgate(["check", "--base", &old]);
    outcome.expect(3, &["prot/evil"]);
    assert!(!outcome.stdout.contains("prot/rules.txt"), "{outcome}");
}

#[test]
fn a_merge_whose_first_parent_is_not_in_the_default_branch_is_no_test_merge() {
    let repo = cloned();
    let base = repo.id("origin/main");
    repo.change("prot/evil", "e\n");
    repo.branch("g");
    repo.git(["reset", "--quiet", "--hard", &base]);
    repo.change("payments/g.ts", "export {};\n");
    repo.checkout("f");
    repo.git(["merge", "--quiet", "--no-edit", "g"]);
    repo.agentgate(["check", "--base", &base]).expect(3, &["prot/evil"]);
}

#[test]
fn github_ref_counts_only_for_the_merge_that_github_made() {
    let (old, repo) = test_merge("payments/retry.ts");
    repo.git(["checkout", "--quiet", "-b", "x", "origin/f"]);
    repo.change("prot/evil", "e\n");
    // The author's own merge, which a workflow checked out instead of the test merge.
    repo.git(["checkout", "--quiet", "-b", "y", &old]);
    repo.change("payments/y.ts", "export {};\n");
    repo.checkout("x");
    repo.git(["merge", "--quiet", "--no-edit", "y"]);
    let check = |sha: &str| {
        repo.command(["check", "--base", &old])
            .env("GITHUB_REF", "refs/pull/7/merge")
            .env("GITHUB_SHA", sha)
            .run()
    };
    check(&old).expect(3, &["prot/evil"]);
    check(&repo.id("HEAD")).expect(0, &["as GITHUB_REF says"]);
}

#[test]
fn a_change_for_another_branch_is_not_compared_with_main() {
    let (old, repo) = test_merge("payments/retry.ts");
    repo.git(["branch", "release", &old]);
    repo.agentgate(["check", "--base", "release"])
        .expect(3, &["prot/rules.txt"]);
}

#[test]
fn without_remotes_the_local_main_tells_a_test_merge() {
    let repo = on_branch();
    let old = repo.id("main");
    repo.change("payments/retry.ts", "export {};\n");
    repo.checkout("main");
    repo.change("prot/rules.txt", "a person's\n");
    repo.git(["checkout", "--quiet", "--detach"]);
    repo.git(["merge", "--quiet", "--no-ff", "--no-edit", "f"]);
    repo.agentgate(["check", "--base", &old])
        .expect(0, &["which main has", "invariants ok; 1 path checked"]);
    // The same on main itself: both parents lie in it by then, and all since the base is news.
    repo.git(["checkout", "--quiet", "-B", "main"]);
    repo.agentgate(["check", "--base", &old]).expect(3, &["prot/rules.txt"]);
}

#[test]
fn a_test_merge_is_held_to_the_policy_of_its_first_parent() {
    let origin = Repo::new();
    let old = origin.id("main");
    origin.branch("f");
    origin.change("secret/key", "k\n");
    origin.checkout("main");
    origin.change("architecture/invariants.yml", &super::stricter());
    let clone = origin.clone_as("clone", &[]);
    clone.git(["checkout", "--quiet", "--detach", "origin/main"]);
    clone.git(["merge", "--quiet", "--no-ff", "--no-edit", "origin/f"]);
    clone.agentgate(["check", "--base", &old]).expect(3, &["secret/key"]);
    clone.agentgate(["check"]).expect(3, &["secret/key"]);
}

#[test]
fn the_ci_names_the_branch_that_a_test_merge_is_for() {
    let (old, repo) = test_merge("payments/retry.ts");
    // HEAD's first parent is main's, but the change is for a branch that main has run away from.
    repo.git(["update-ref", "refs/remotes/origin/release", &old]);
    repo.command(["check"])
        .env("CI_MERGE_REQUEST_DIFF_BASE_SHA", &old)
        .env("CI_MERGE_REQUEST_TARGET_BRANCH_NAME", "release")
        .run()
        .expect(3, &["prot/rules.txt"]);
    repo.command(["check"])
        .env("CI_MERGE_REQUEST_DIFF_BASE_SHA", &old)
        .env("CI_MERGE_REQUEST_TARGET_BRANCH_NAME", "main")
        .run()
        .expect(0, &["which origin/main has"]);
}

#[test]
fn the_newest_policy_of_the_named_target_judges_where_the_base_is_an_old_id() {
    let origin = Repo::new();
    origin.branch("f");
    origin.change("secret/key", "k\n");
    origin.checkout("main");
    origin.change("architecture/invariants.yml", &super::stricter());
    let clone = origin.clone_as("clone", &[]);
    clone.git(["checkout", "--quiet", "origin/f"]);
    let old = clone.git(["merge-base", "origin/main", "HEAD"]);
    clone
        .command(["check"])
        .env("CI_MERGE_REQUEST_DIFF_BASE_SHA", &old)
        .run()
        .expect(6, &[]);
    clone
        .command(["check"])
        .env("CI_MERGE_REQUEST_DIFF_BASE_SHA", &old)
        .env("CI_MERGE_REQUEST_TARGET_BRANCH_NAME", "main")
        .run()
        .expect(3, &["secret/key"]);
}

//! `--allow-policy-change`.

use super::{on_branch, stricter};
use crate::support::repo::{POLICY, Repo, TRAILERS};

const CHECK: [&str; 4] = ["check", "--base", "main", "--allow-policy-change"];

#[test]
fn a_change_of_the_policy_alone_is_accepted() {
    let repo = on_branch();
    repo.change("architecture/invariants.yml", &stricter());
    let told = "note: a person's change of human-owned files alone is accepted with --allow-policy-change";
    repo.agentgate(["check", "--base", "main"]).expect(3, &[told]);
    repo.agentgate(CHECK).expect(
        0,
        &[
            "--allow-policy-change accepts 1 finding",
            "invariants ok; 1 path checked",
        ],
    );
}

#[test]
fn human_owned_files_are_those_of_the_bases_policy() {
    let repo = on_branch();
    repo.change("prot/rules.txt", "new\n");
    repo.agentgate(CHECK).expect(0, &[]);
    let repo = on_branch();
    repo.write("architecture/invariants.yml", stricter());
    repo.change("secret/key", "the new policy's, not the base's\n");
    repo.agentgate(CHECK)
        .expect(3, &["--allow-policy-change is void: the range also changes secret/key"]);
}

#[test]
fn any_other_file_makes_it_void_also_one_that_is_put_back() {
    let repo = on_branch();
    repo.change("architecture/invariants.yml", &stricter());
    repo.change("payments/a.ts", "export {};\n");
    let text = "note: --allow-policy-change is void: the range also changes payments/a.ts";
    repo.agentgate(CHECK).expect(3, &[text]);
    repo.remove("payments/a.ts");
    repo.commit("put back");
    repo.agentgate(CHECK).expect(3, &[text]);
}

#[test]
fn an_agent_commit_makes_it_void() {
    let repo = on_branch();
    repo.write("architecture/invariants.yml", stricter());
    let id = repo.commit(&format!("agent job j1: loosen\n\n{TRAILERS}"));
    let text = format!("note: --allow-policy-change is void: {id} is an agent commit");
    repo.agentgate(CHECK).expect(3, &[&text]);
}

#[test]
fn an_unusable_new_policy_is_2() {
    let repo = on_branch();
    repo.change("architecture/invariants.yml", "version: 1\nmust_not_toch: [a]\n");
    let text = format!("in head {}", repo.id("HEAD"));
    repo.agentgate(CHECK).expect(2, &[&text, "must_not_toch"]);
}

#[test]
fn a_policy_that_is_deleted_is_2() {
    let repo = on_branch();
    repo.remove("architecture/invariants.yml");
    repo.commit("no more rules");
    repo.agentgate(CHECK).expect(2, &["there would be no policy"]);
}

#[test]
fn unusable_settings_are_2() {
    let repo = on_branch();
    repo.change("architecture/agentgate.yml", "agnts: {}\n");
    repo.agentgate(CHECK).expect(2, &["architecture/agentgate.yml"]);
}

#[test]
fn what_hides_from_review_is_never_accepted() {
    let repo = on_branch();
    std::os::unix::fs::symlink("../../../etc/passwd", repo.root.join("prot/link")).expect("a link");
    repo.commit("a link out");
    repo.agentgate(CHECK).expect(9, &["prot/link"]);
}

#[test]
fn a_twin_of_a_human_owned_path_is_no_human_owned_path() {
    let repo = on_branch();
    repo.change("Prot/rules.txt", "x\n");
    repo.agentgate(CHECK).expect(
        3,
        &["--allow-policy-change is void: the range also changes Prot/rules.txt"],
    );
}

/// A base without a policy.
fn without_policy() -> Repo {
    let repo = Repo::empty();
    repo.change("README", "hello\n");
    repo.branch("f");
    repo
}

#[test]
fn the_first_policy_lands_on_its_own() {
    let repo = without_policy();
    repo.change("architecture/invariants.yml", POLICY);
    repo.change(".github/workflows/gate.yml", "run: agentgate check\n");
    repo.agentgate(CHECK)
        .expect(0, &["note: the base has no policy; the first one is policy"]);
}

#[test]
fn a_range_without_any_policy_is_said_to_have_none() {
    let repo = without_policy();
    repo.change("src/x.ts", "export {};\n");
    let outcome = repo.agentgate(CHECK);
    outcome.expect(
        2,
        &[
            "no rules in base",
            "hint: agentgate init",
            "is void: neither the base nor the head has a policy",
        ],
    );
    assert!(!outcome.stderr.contains("there would be no policy"), "{outcome}");
}

#[test]
fn the_first_policy_with_other_files_is_2() {
    let repo = without_policy();
    repo.change("architecture/invariants.yml", POLICY);
    repo.change("src/x.ts", "export {};\n");
    repo.agentgate(CHECK)
        .expect(2, &["no rules in base", "is void: the range also changes src/x.ts"]);
}

#[test]
fn the_first_policy_by_an_agent_is_2() {
    let repo = without_policy();
    repo.write("architecture/invariants.yml", POLICY);
    repo.commit(&format!("agent job j1: rules\n\n{TRAILERS}"));
    repo.agentgate(CHECK).expect(2, &["no rules in base"]);
}

#[test]
fn a_branch_older_than_the_policy_is_told_to_catch_up() {
    let repo = without_policy();
    repo.change("architecture/invariants.yml", POLICY);
    repo.checkout("main");
    repo.change("architecture/invariants.yml", POLICY);
    repo.checkout("f");
    let hint = format!("hint: git merge {}", repo.id("main"));
    repo.agentgate(CHECK).expect(2, &["no rules in base", &hint]);
}

#[test]
fn what_a_later_commit_takes_back_is_mended_as_the_hint_says() {
    let repo = on_branch();
    repo.change("architecture/invariants.yml", &stricter());
    repo.change("architecture/invariants.yml", POLICY);
    let refused = repo.agentgate(["check", "--base", "main"]);
    refused.expect(
        3,
        &["; a later commit does not undo what this one did: `git reset --soft "],
    );
    let command = refused
        .stdout
        .split("`git reset --soft ")
        .nth(1)
        .or(refused.stderr.split("`git reset --soft ").nth(1));
    let start = command
        .and_then(|rest| rest.split('`').next())
        .expect("a commit is named");
    repo.git(["reset", "--soft", start]);
    repo.git(["commit", "--quiet", "--allow-empty", "-m", "one"]);
    repo.agentgate(["check", "--base", "main"]).expect(0, &[]);
}

//! `agentgate check`: what it says about a range. Where the base comes from, test merges and the
//! change of a policy have files of their own.

mod base;
mod clones;
mod content;
mod credentials;
mod dependencies;
mod import_cases;
mod imports_braces;
mod imports_copies;
mod imports_dotted;
mod imports_loaders;
mod imports_names;
mod imports_packages;
mod imports_paths;
mod imports_standard;
mod just_added;
mod led_elsewhere;
mod limits;
mod malformed;
mod manifest_entries;
mod mapped_names;
mod named_dependencies;
mod named_files;
mod native;
mod next_steps;
mod objects;
mod own_names;
mod packages;
mod packs;
mod pages;
mod plain;
mod policy_change;
mod processes;
mod stand_ins;
mod templates;
mod uncommitted;
mod whole;

use crate::support::program::Outcome;
use crate::support::repo::{POLICY, Repo, TRAILERS};

/// [`POLICY`] with one more protected folder.
fn stricter() -> String {
    format!("{}  # later\n", POLICY.replace("[prot]", "[prot, secret]"))
}

/// Files by their paths, with their contents.
type Files<'a> = &'a [(&'a str, &'a str)];

/// What is said of a change that writes these files, beside a base that has those and what the repository holds.
fn judged(repo: &Repo, base: Files, change: Files) -> Outcome {
    for (path, content) in base {
        repo.write(path, content);
    }
    repo.commit("start");
    repo.branch("f");
    for (path, content) in change {
        repo.write(path, content);
    }
    repo.commit("change");
    repo.agentgate(["check", "--base", "main"])
}

/// A repository on branch `f`, which is at `main`.
fn on_branch() -> Repo {
    let repo = Repo::new();
    repo.branch("f");
    repo
}

#[test]
fn a_harmless_range_passes() {
    let repo = on_branch();
    repo.change("payments/retry.ts", "export const retry = 3;\n");
    let outcome = repo.agentgate(["check", "--base", "main"]);
    outcome.expect(0, &[]);
    assert_eq!(outcome.last_line(), "invariants ok; 1 path checked", "{outcome}");
}

#[test]
fn a_protected_path_is_3() {
    let repo = on_branch();
    repo.change("prot/rules.txt", "none\n");
    let outcome = repo.agentgate(["check", "--base", "main"]);
    outcome.expect(3, &["prot/rules.txt: protected path changed\n"]);
    assert_eq!(
        outcome.last_line(),
        "invariants broken; 1 finding in 1 path (exit 3)",
        "{outcome}"
    );
}

#[test]
fn a_forbidden_directory_is_4_and_an_import_5() {
    let repo = on_branch();
    repo.change("infra/async/worker.ts", "export {};\n");
    repo.agentgate(["check", "--base", "main"])
        .expect(4, &["infra/async/worker.ts"]);
    let repo = on_branch();
    repo.change("payments/q.ts", "import redis from 'redis';\n");
    repo.agentgate(["check", "--base", "main"])
        .expect(5, &["payments/q.ts:1"]);
}

#[test]
fn the_range_starts_at_the_merge_base() {
    let repo = on_branch();
    repo.change("payments/retry.ts", "export const retry = 3;\n");
    repo.checkout("main");
    repo.change("prot/rules.txt", "a person's\n");
    repo.checkout("f");
    repo.agentgate(["check", "--base", "main"])
        .expect(0, &["invariants ok; 1 path checked"]);
}

#[test]
fn what_was_touched_and_put_back_is_found() {
    let repo = on_branch();
    let touched = repo.change("prot/key", "k\n");
    repo.remove("prot/key");
    let removed = repo.commit("remove it");
    let outcome = repo.agentgate(["check", "--base", "main"]);
    let text = |id: &str, what: &str| format!("prot/key: protected path {what} (in commit {})", &id[..12]);
    outcome.expect(
        3,
        &[
            &text(&touched, "added (file)"),
            &text(&removed, "deleted"),
            "note: net difference of 2 commits is empty",
        ],
    );
}

#[test]
fn a_commit_does_not_repeat_what_the_end_points_say() {
    let repo = on_branch();
    repo.change("prot/a", "1\n");
    repo.change("prot/a", "2\n");
    let json = repo.agentgate(["check", "--base", "main", "--json"]).json();
    assert_eq!(json["findings"].as_array().map(Vec::len), Some(1), "{json}");
    assert_eq!(json["findings"][0]["commit"], serde_json::Value::Null, "{json}");
    assert_eq!(json["commits"], 2, "{json}");
    assert_eq!(json["exit"], 3, "{json}");
    assert_eq!(json["merge_base"], repo.id("main"), "{json}");
    assert_eq!(json["head"], repo.id("f"), "{json}");
}

#[test]
fn merging_in_a_main_where_a_person_changed_the_policy_is_no_finding() {
    let repo = on_branch();
    repo.change("payments/retry.ts", "export const retry = 3;\n");
    repo.checkout("main");
    repo.change("architecture/invariants.yml", &stricter());
    repo.checkout("f");
    repo.git(["merge", "--quiet", "--no-edit", "main"]);
    repo.agentgate(["check", "--base", "main"])
        .expect(0, &["invariants ok; 1 path checked"]);
}

#[test]
fn a_merge_that_changes_a_path_by_itself_is_judged() {
    let repo = on_branch();
    repo.change("payments/retry.ts", "export const retry = 3;\n");
    repo.checkout("main");
    repo.change("payments/other.ts", "export {};\n");
    repo.checkout("f");
    repo.git(["merge", "--quiet", "--no-commit", "main"]);
    repo.write("prot/evil", "e\n");
    let merge = repo.commit("merge main");
    repo.remove("prot/evil");
    repo.commit("put it back");
    let text = format!("(in commit {})", &merge[..12]);
    repo.agentgate(["check", "--base", "main"])
        .expect(3, &["prot/evil: protected path added (file)", &text]);
}

#[test]
fn a_branch_forked_before_a_rule_is_held_to_it_too() {
    let repo = on_branch();
    repo.change("secret/key", "k\n");
    repo.agentgate(["check", "--base", "main"]).expect(6, &["secret"]);
    repo.checkout("main");
    repo.change("architecture/invariants.yml", &stricter());
    let outcome = repo.command(["check", "--base", "main", "--head", "f", "--json"]).run();
    outcome.expect(3, &["must_not_touch[1]"]);
    let ids = [
        repo.git(["rev-parse", "f:architecture/invariants.yml"]),
        repo.git(["rev-parse", "main:architecture/invariants.yml"]),
    ];
    assert_eq!(outcome.json()["policies"], serde_json::json!(ids), "{outcome}");
}

#[test]
fn a_loosened_policy_does_not_judge_its_own_change() {
    let repo = on_branch();
    repo.write(
        "architecture/invariants.yml",
        format!("{POLICY}max_new_top_level_dirs: 99\n"),
    );
    repo.change("new/x", "x\n");
    repo.agentgate(["check", "--base", "main"])
        .expect(3, &["architecture/invariants.yml: protected path changed", "(exit 6)"]);
}

#[test]
fn a_root_commit_in_the_range_is_compared_with_nothing() {
    let repo = on_branch();
    repo.git(["checkout", "--quiet", "--orphan", "o"]);
    repo.git(["rm", "-r", "--quiet", "--cached", "."]);
    repo.git(["clean", "-fdq"]);
    let root = repo.change("prot/evil", "e\n");
    repo.remove("prot/evil");
    repo.commit("gone again");
    repo.checkout("f");
    repo.git(["merge", "--quiet", "--allow-unrelated-histories", "--no-edit", "o"]);
    let text = format!("prot/evil: protected path added (file) (in commit {})", &root[..12]);
    repo.agentgate(["check", "--base", "main"]).expect(3, &[&text]);
}

#[test]
fn exactly_the_agent_commit_that_lacks_a_trailer_is_found() {
    let repo = on_branch();
    repo.change("payments/a.ts", "export {};\n");
    repo.checkout("main");
    repo.change("payments/main.ts", "export {};\n");
    repo.checkout("f");
    repo.git(["merge", "--quiet", "--no-edit", "main"]);
    repo.commit(&format!("agent job j1: a\n\n{TRAILERS}"));
    let bad = repo.commit("agent job j2: b\n\nAgent-Job-Id: j2\nAgent-Model-Label: m\n");
    let text = format!("commit {bad}: Agent-Host is missing from the last paragraph");
    let outcome = repo.agentgate(["check", "--base", "main"]);
    outcome.expect(11, &[&text]);
    assert_eq!(
        outcome.last_line(),
        "invariants broken; 1 finding in 1 commit (exit 11)",
        "{outcome}"
    );
}

#[test]
fn a_merge_that_claims_to_be_an_agents_is_held_to_it() {
    let repo = on_branch();
    repo.change("payments/a.ts", "export {};\n");
    repo.checkout("main");
    repo.change("payments/main.ts", "export {};\n");
    repo.checkout("f");
    repo.git(["merge", "--quiet", "-m", "agent job j1: merge", "main"]);
    repo.agentgate(["check", "--base", "main"]).expect(11, &[]);
}

#[test]
fn gate_findings_go_before_trailers() {
    let repo = on_branch();
    repo.write("prot/a", "1\n");
    repo.commit("agent job j1: a");
    repo.agentgate(["check", "--base", "main"])
        .expect(3, &["(exit 11)", "(exit 3)"]);
}

#[test]
fn a_task_holds_the_end_points_to_its_scope() {
    let repo = on_branch();
    repo.change("payments/a.ts", "export {};\n");
    let task = repo.top().join("TASK.md");
    std::fs::write(&task, "Goal: x\nAllowed files: payments/b.ts\n").expect("a task");
    let task = task.display().to_string();
    repo.agentgate(["check", "--base", "main", "--task", &task])
        .expect(7, &["payments/a.ts"]);
    repo.agentgate(["check", "--base", "main", "--task", "/nowhere/TASK.md"])
        .expect(22, &["the task file /nowhere/TASK.md cannot be read"]);
}

#[test]
fn what_a_task_says_in_a_code_block_limits_nothing_and_is_said() {
    let repo = on_branch();
    repo.change("payments/a.ts", "export {};\n");
    let task = repo.top().join("TASK.md");
    std::fs::write(&task, "Goal: x\n\n```\nAllowed files: payments/b.ts\n```\n").expect("a task");
    let task = task.display().to_string();
    let note = "note: task: `Allowed files:` on line 4 stands in a code block and is not read";
    for what in [&["--base", "main"][..], &["--worktree"]] {
        let line = [&["check", "--task", &task][..], what].concat();
        repo.agentgate(line).expect(0, &[note]);
    }
}

#[test]
fn an_empty_range_is_said_in_words() {
    let repo = on_branch();
    let text = format!("note: the range is empty: {0} is already in {0}", repo.id("f"));
    let outcome = repo.agentgate(["check", "--base", "main"]);
    outcome.expect(0, &[&text]);
    assert_eq!(outcome.last_line(), "invariants ok; 0 paths checked", "{outcome}");
}

#[test]
fn no_rules_in_the_base_is_2_even_if_the_head_brings_some() {
    let repo = Repo::empty();
    let base = repo.change("README", "hello\n");
    repo.branch("f");
    repo.change("architecture/invariants.yml", POLICY);
    let text = format!("no rules in base {base}");
    repo.agentgate(["check", "--base", "main"])
        .expect(2, &[&text, "hint: agentgate check --allow-policy-change"]);
}

#[test]
fn an_untracked_policy_does_not_count() {
    let repo = Repo::empty();
    repo.change("README", "hello\n");
    repo.branch("f");
    repo.change("payments/a.ts", "export {};\n");
    repo.write("architecture/invariants.yml", POLICY);
    repo.agentgate(["check", "--base", "main"])
        .expect(2, &["no rules in base"]);
}

#[test]
fn an_invalid_policy_in_the_base_is_2() {
    let repo = Repo::empty();
    repo.change("architecture/invariants.yml", "version: 1\nmust_not_toch: [a]\n");
    repo.branch("f");
    repo.change("payments/a.ts", "export {};\n");
    repo.agentgate(["check", "--base", "main"])
        .expect(2, &["must_not_touch", "in base"]);
}

#[test]
fn after_a_criss_cross_each_merge_base_counts() {
    let repo = on_branch();
    repo.change("payments/a.ts", "export const a = 1;\n");
    repo.checkout("main");
    repo.change("payments/b.ts", "export const b = 1;\n");
    let (one, other) = (repo.id("main"), repo.id("f"));
    repo.git(["merge", "--quiet", "--no-edit", &other]);
    repo.checkout("f");
    repo.git(["merge", "--quiet", "--no-edit", &one]);
    repo.agentgate(["check", "--base", "main"])
        .expect(0, &["note: 2 merge bases (criss-cross merges)"]);
    repo.change("prot/evil", "e\n");
    repo.agentgate(["check", "--base", "main"]).expect(3, &["prot/evil"]);
}

/// Commits a new file with this committer's date.
fn dated(repo: &Repo, path: &str, date: &str) {
    repo.write(path, "x\n");
    repo.git(["add", "-A"]);
    let commit = repo.program("git").args(["commit", "--quiet", "-m", path]);
    commit.env("GIT_COMMITTER_DATE", date).run().success();
}

#[test]
fn a_wrong_clock_in_mains_history_does_not_turn_its_commits_into_the_branchs() {
    let repo = Repo::new();
    dated(&repo, "prot/person", "@1700001000 +0000");
    let person = repo.id("HEAD");
    // Only by way of this one can it be seen that main has the person's commit.
    dated(&repo, "payments/old.ts", "@1000000000 +0000");
    dated(&repo, "payments/new.ts", "@1700002000 +0000");
    repo.branch("f");
    // A merge of main with what main has already, as scripts make it.
    let head = repo.git(["commit-tree", "HEAD^{tree}", "-p", "HEAD", "-p", &person, "-m", "merge"]);
    repo.agentgate(["check", "--base", "main", "--head", &head])
        .expect(0, &["agentgate: 1 commit,", "invariants ok; 0 paths checked"]);
}

#[test]
fn wrong_clocks_hide_no_commit_and_blame_nobody() {
    let repo = on_branch();
    repo.checkout("main");
    // A person's commit on main, whose clock is years behind, below one of today.
    dated(&repo, "prot/person", "@1000000000 +0000");
    dated(&repo, "payments/c.ts", "@1800000000 +0000");
    repo.checkout("f");
    repo.git(["merge", "--quiet", "--ff-only", "main"]);
    dated(&repo, "payments/d.ts", "@900000000 +0000");
    repo.agentgate(["check", "--base", "main"])
        .expect(0, &["invariants ok; 1 path checked"]);
    dated(&repo, "prot/agent", "@100000 +0000");
    repo.agentgate(["check", "--base", "main"])
        .expect(3, &["prot/agent", "1 finding in 1 path"]);
}

#[test]
fn grafts_hide_no_commit() {
    let repo = on_branch();
    repo.change("prot/key", "k\n");
    repo.remove("prot/key");
    repo.commit("remove it");
    let graft = format!("{} {}\n", repo.id("HEAD"), repo.id("main"));
    std::fs::write(repo.root.join(".git/info/grafts"), graft).expect("a graft");
    repo.agentgate(["check", "--base", "main"]).expect(3, &["prot/key"]);
}

#[test]
fn replace_refs_hide_no_content() {
    let repo = on_branch();
    let bad = repo.change("prot/key", "k\n");
    repo.git(["replace", &bad, "main"]);
    repo.agentgate(["check", "--base", "main"]).expect(3, &["prot/key"]);
}

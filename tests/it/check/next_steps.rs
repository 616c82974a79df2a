//! What a refusal tells people to type, and what it says of a change that an owner would merge over it.

use super::on_branch;
use crate::support::program::Outcome;
use crate::support::repo::{POLICY, Repo, TRAILERS};

const RULES: &str = "architecture/invariants.yml";
const LOCAL: &str = "note: a person's change of human-owned files alone is accepted with --allow-policy-change";
const IN_CI: &str =
    "note: only human-owned files change: this job, which runs without --allow-policy-change, stays red";

/// In this folder, as a person would type it.
fn sh(repo: &Repo, line: &str) -> Outcome {
    repo.program("sh").args(["-c", line]).run()
}

/// The words behind this in one of the lines.
fn behind<'a>(outcome: &'a Outcome, start: &str) -> &'a str {
    let mut lines = outcome.stdout.lines().chain(outcome.stderr.lines());
    let found = lines.find_map(|line| line.split_once(start));
    found.unwrap_or_else(|| panic!("{start:?} is missing in\n{outcome}")).1
}

#[test]
fn a_policy_that_would_be_unusable_is_told_where_it_is_refused() {
    let repo = on_branch();
    repo.change(RULES, &format!("{POLICY}unmaped: deny\n"));
    let told = "note: architecture/invariants.yml changed, and it would be unusable: architecture/invariants.yml:7:1: ";
    let outcome = repo.agentgate(["check", "--base", "main"]);
    outcome.expect(
        3,
        &["architecture/invariants.yml: protected path changed", told, "unmapped"],
    );
    assert!(!outcome.stdout.contains(LOCAL), "it would be refused: {outcome}");
    // The same before it is committed.
    repo.git(["reset", "--quiet", "--soft", "main"]);
    let outcome = repo.agentgate(["check", "--staged"]);
    outcome.expect(3, &[told]);
    assert!(!outcome.stdout.contains(LOCAL), "{outcome}");
    // What is no file, and what is gone.
    repo.git(["reset", "--quiet", "--hard", "main"]);
    repo.remove(RULES);
    let gone = "note: architecture/invariants.yml changed, and it would be unusable: there would be no policy\n";
    repo.agentgate(["check", "--worktree"]).expect(3, &[gone]);
    std::os::unix::fs::symlink("../payments/pay.ts", repo.root.join(RULES)).expect("a link");
    repo.agentgate(["check", "--worktree"]).expect(
        3,
        &["it would be unusable: architecture/invariants.yml: a symlink, where a file belongs; commit it"],
    );
    repo.remove(RULES);
    // A usable one is not told of.
    repo.change(RULES, &format!("{POLICY}unmapped: deny\n"));
    let outcome = repo.agentgate(["check", "--base", "main"]);
    outcome.expect(3, &[LOCAL]);
    assert!(!outcome.stdout.contains("unusable"), "{outcome}");
}

#[test]
fn settings_and_a_baseline_that_would_be_unusable_are_told_too() {
    let repo = on_branch();
    repo.write("architecture/agentgate.yml", "agnts: {}\n");
    repo.write(
        RULES,
        format!("{POLICY}baseline: architecture/invariants.baseline.json\n"),
    );
    repo.change("architecture/invariants.baseline.json", "{}\n");
    repo.agentgate(["check", "--base", "main"]).expect(
        3,
        &[
            "architecture/invariants.baseline.json changed, and it would be unusable: ",
            "architecture/agentgate.yml changed, and it would be unusable: architecture/agentgate.yml:1:1: ",
        ],
    );
}

#[test]
fn the_option_is_named_only_where_it_would_be_accepted() {
    let repo = on_branch();
    repo.change("prot/rules.txt", "new\n");
    let check = ["check", "--base", "main"];
    repo.agentgate(check).expect(3, &[LOCAL]);
    for (name, value) in [
        ("CI", "true"),
        ("GITLAB_CI", "true"),
        ("JENKINS_URL", "http://localhost/"),
    ] {
        let outcome = repo.command(check).env(name, value).run();
        outcome.expect(
            3,
            &[
                IN_CI,
                "an owner runs `agentgate check --allow-policy-change` on it and merges over",
            ],
        );
        assert!(!outcome.stdout.contains(LOCAL), "{outcome}");
    }
    let is_silent = |repo: &Repo, line: &[&str], why: &str| {
        let outcome = repo.command(line).run();
        outcome.expect(3, &[]);
        assert!(!outcome.stdout.contains("--allow-policy-change"), "{why}: {outcome}");
    };
    repo.write("payments/more.ts", "export {};\n");
    repo.write("prot/rules.txt", "newer\n");
    is_silent(&repo, &["check", "--worktree"], "another file, not committed");
    repo.commit("mixed");
    is_silent(&repo, &check, "another file");
    let agents = on_branch();
    agents.write("prot/rules.txt", "new\n");
    agents.commit(&format!("agent job j1: it\n\n{TRAILERS}"));
    is_silent(&agents, &check, "an agent's commit");
}

#[test]
fn without_a_remote_the_options_typed_are_kept() {
    let repo = on_branch();
    repo.change(RULES, &super::stricter());
    let outcome = repo.agentgate(["check", "--allow-policy-change", "--require-inspected"]);
    outcome.expect(
        2,
        &["hint: agentgate check --base main --allow-policy-change --require-inspected\n"],
    );
    let line = behind(&outcome, "hint: agentgate ");
    repo.agentgate(line.split(' '))
        .expect(0, &["human-owned files changed only"]);
    repo.agentgate([
        "check",
        "--checks",
        "--network",
        "443,80",
        "--confinement",
        "strict",
        "--pass-env",
        "A",
    ])
    .expect(
        2,
        &["hint: agentgate check --base main --checks --pass-env A --confinement strict --network 443,80\n"],
    );
    let named = repo.agentgate(["check", "--head", "f", "--task", "my task.md"]);
    named.expect(22, &[]);
    repo.beside("").write("my task.md", "Goal: x\n");
    repo.agentgate(["check", "--head", "f", "--task", "../my task.md"])
        .expect(
            2,
            &["hint: agentgate check --base main --head f --task '../my task.md'\n"],
        );
}

#[test]
fn in_a_shallow_clone_depth_is_said_first() {
    let origin = Repo::new();
    origin.change("payments/old.ts", "export {};\n");
    origin.branch("f");
    origin.change("payments/retry.ts", "export const retry = 3;\n");
    let first = "agentgate: hint: this clone is shallow: check out with fetch-depth: 0 (GitHub Actions), GIT_DEPTH: 0 \
                 (GitLab CI), or type\nhint: git fetch --unshallow origin\n";
    let is_first = |outcome: &Outcome| {
        outcome.expect(2, &[]);
        let hint = outcome.stderr.find("hint: ").map(|at| &outcome.stderr[at..]);
        let wanted = first.trim_start_matches("agentgate: ");
        assert!(hint.is_some_and(|hint| hint.starts_with(wanted)), "{outcome}");
        assert_eq!(outcome.stderr.matches("fetch-depth").count(), 1, "{outcome}");
    };
    origin.change("payments/more.ts", "export {};\n");
    origin.checkout("main");
    let one = origin.clone_as("one", &["--depth", "1", "--branch", "f"]);
    one.git(["checkout", "--quiet", "--detach"]);
    is_first(&one.agentgate(["check"]));
    is_first(&one.command(["check"]).env("GITHUB_BASE_REF", "main").run());
    is_first(&one.agentgate(["check", "--base", &"1".repeat(40)]));
    let both = origin.clone_as("both", &["--depth", "1", "--branch", "f", "--no-single-branch"]);
    is_first(&both.agentgate(["check", "--base", "origin/main"]));
}

#[test]
fn what_is_to_be_put_back_has_its_command() {
    let repo = Repo::new();
    let odd = "prot/it's [a] file.txt";
    repo.change(odd, "old\n");
    repo.branch("f");
    repo.write("prot/rules.txt", "new\n");
    repo.change(odd, "new\n");
    let base = repo.id("main");
    let outcome = repo.agentgate(["check", "--base", "main"]);
    let hint = format!(
        "hint: put it back as it is in the base (git checkout {} -- :/prot/rules.txt), or ask",
        &base[..12]
    );
    outcome.expect(3, &[&hint]);
    let paste = |outcome: &Outcome| -> Vec<String> {
        let lines = outcome.stdout.lines();
        let found = lines.filter_map(|line| line.split_once("in the base (")?.1.rsplit_once("), or ask"));
        found.map(|(line, _)| line.to_owned()).collect()
    };
    let lines = paste(&outcome);
    assert_eq!(lines.len(), 2, "{outcome}");
    for line in lines {
        sh(&repo, &line).success();
    }
    repo.agentgate(["check", "--worktree", "--base", "main"]).expect(0, &[]);
    // From a folder below, and for what is staged.
    repo.git(["reset", "--quiet", "--hard", "main"]);
    repo.write("prot/rules.txt", "new\n");
    repo.git(["add", "-A"]);
    let below = repo.root.join("payments");
    let outcome = repo.command(["check", "--staged"]).cwd(&below).run();
    for line in paste(&outcome) {
        repo.program("sh").args(["-c", &line]).cwd(&below).run().success();
    }
    repo.agentgate(["check", "--staged"]).expect(0, &["nothing is staged"]);
}

#[test]
fn a_policy_that_is_there_and_not_committed_is_told_with_the_line_to_type() {
    let repo = Repo::empty();
    let head = repo.change("payments/pay.ts", "export {};\n");
    let line = "git add architecture/invariants.yml architecture/invariants.schema.json && git commit -m \"Add the agentgate \
                policy\"";
    let asked: [&[&str]; 5] = [
        &["check", "--all"],
        &["graph"],
        &["explain", "payments/pay.ts"],
        &["explain", "--import", "redis", "--in", "payments/pay.ts"],
        &["baseline", "update", "--grow"],
    ];
    let message = format!("error: no architecture/invariants.yml in HEAD ({})\n", &head[..12]);
    for args in asked {
        let outcome = repo.agentgate(args);
        outcome.expect(2, &[&message, "hint: write one with `agentgate init`"]);
        assert!(!outcome.stderr.contains("in the base"), "{outcome}");
    }
    repo.agentgate(["init"]).success();
    for args in asked {
        let outcome = repo.agentgate(args);
        outcome.expect(
            2,
            &[
                &message,
                "hint: it is in this checkout, but not committed",
                &format!("hint: commit it: {line}\n"),
            ],
        );
        assert!(!outcome.stderr.contains("agentgate init"), "{outcome}");
    }
    repo.agentgate(["check", "--base", "HEAD"]).expect(
        2,
        &["hint: git add architecture/invariants.yml architecture/invariants.schema.json && git commit\n"],
    );
    sh(&repo, line).success();
    for args in &asked[..3] {
        repo.agentgate(*args).expect(0, &[]);
    }
}

#[test]
fn what_is_new_and_forbidden_has_hints_that_agree() {
    let repo = Repo::new();
    let more = "dependencies: {new: deny, allowed: [zod], forbidden: [ioredis]}\n";
    repo.change(RULES, &format!("{POLICY}{more}"));
    repo.branch("f");
    repo.change("package.json", "{\"dependencies\": {\"ioredis\": \"5\"}}\n");
    let outcome = repo.agentgate(["check", "--base", "main"]);
    outcome.expect(
        8,
        &[
            "hint: remove `ioredis`; dependencies.forbidden[0] forbids it anyway",
            "to take it out of `dependencies.forbidden` and to list it in `dependencies.allowed`",
            "2 findings",
        ],
    );
    assert!(
        !outcome
            .stdout
            .contains("ask an owner of architecture/invariants.yml to list it"),
        "{outcome}"
    );
    // By an area's list of imports as well.
    repo.change("package.json", "{\"dependencies\": {\"redis\": \"5\"}}\n");
    repo.change("payments/package.json", "{\"dependencies\": {\"redis\": \"5\"}}\n");
    repo.agentgate(["check", "--base", "main"]).expect(
        8,
        &["hint: remove `redis`; payments.forbidden_imports[0] forbids it anyway"],
    );
}

#[test]
fn an_import_that_is_forbidden_and_not_among_the_allowed_has_hints_that_agree() {
    let repo = Repo::new();
    repo.change(
        RULES,
        &POLICY.replace("[redis]\n", "[redis]\n  allowed_imports: [zod]\n"),
    );
    repo.branch("f");
    repo.change("payments/q.ts", "import redis from 'redis';\nimport x from 'other';\n");
    let outcome = repo.agentgate(["check", "--base", "main"]);
    outcome.expect(
        5,
        &[
            "hint: use what is allowed there; payments.forbidden_imports[0] forbids this one anyway\n",
            "to add it to payments.allowed_imports\n",
            "3 findings",
        ],
    );
    assert_eq!(outcome.stdout.matches("to add it to").count(), 1, "{outcome}");
}

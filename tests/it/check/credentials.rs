//! Credentials in a range of commits (24).

use super::on_branch;
use crate::support::repo::{POLICY, Repo};
use crate::support::tokens::{aws, fingerprint, github};

#[test]
fn a_credential_that_is_added_and_removed_is_still_in_the_history() {
    let repo = on_branch();
    let added = repo.change("payments/a.ts", &format!("const t = \"{}\";\n", github()));
    repo.change("payments/a.ts", "const t = process.env.T;\n");
    let outcome = repo.agentgate(["check", "--base", "main"]);
    let place = format!("fingerprint {} (in commit {})", fingerprint(&github()), &added[..12]);
    outcome.expect(
        24,
        &[
            "payments/a.ts:1:12: adds a credential: GitHub token",
            &place,
            "1 finding in 1 path (exit 24)",
        ],
    );
    assert!(!outcome.stdout.contains(&github()), "{outcome}");
    let json = repo.agentgate(["check", "--base", "main", "--json"]);
    assert_eq!(json.code, 24);
    assert!(!json.stdout.contains(&github()), "{json}");
    assert_eq!(json.json()["findings"][0]["rule"], "credential");
}

#[test]
fn of_two_in_one_file_the_one_that_is_gone_is_told_as_well() {
    let repo = on_branch();
    repo.change("payments/a.ts", &format!("const t = \"{}\";\n", github()));
    repo.change("payments/a.ts", &format!("const t = \"{}\";\n", aws()));
    repo.agentgate(["check", "--base", "main"]).expect(
        24,
        &[&fingerprint(&github()), &fingerprint(&aws()), "2 findings in 1 path"],
    );
}

#[test]
fn what_the_base_has_is_no_finding_and_a_merge_of_it_neither() {
    let repo = Repo::new();
    repo.branch("f");
    repo.change("payments/b.ts", "export {};\n");
    repo.checkout("main");
    repo.change("payments/a.ts", &format!("const t = \"{}\";\n", github()));
    repo.checkout("f");
    repo.git(["merge", "--quiet", "main", "-m", "merge main"]);
    repo.change("payments/a.ts", &format!("// {}\n", github()));
    repo.agentgate(["check", "--base", "main"]).expect(0, &[]);
}

#[test]
fn the_task_is_searched_too() {
    let repo = on_branch();
    repo.change("payments/a.ts", "export {};\n");
    let task = repo.top().join("TASK.md");
    std::fs::write(&task, format!("Goal: a thing\n{}\n", aws())).expect("the task can be written");
    let outcome = repo
        .command(["check", "--base", "main", "--task"])
        .args([task.as_os_str()])
        .run();
    outcome.expect(
        24,
        &[
            "task:2:1: the task holds a credential: AWS access key id",
            &fingerprint(&aws()),
        ],
    );
    assert!(!outcome.stdout.contains(&aws()), "{outcome}");
}

#[test]
fn a_fingerprint_in_the_policy_of_the_base_allows_its_value_alone() {
    let repo = Repo::new();
    let policy = format!("{POLICY}allowed_credentials: [\"{}\"]\n", fingerprint(&aws()));
    repo.branch("f");
    repo.write("architecture/invariants.yml", &policy);
    repo.change("payments/a.ts", &format!("const k = \"{}\";\n", aws()));
    // The range cannot bring its own allowance.
    repo.agentgate(["check", "--base", "main"])
        .expect(24, &[&fingerprint(&aws())]);
    repo.checkout("main");
    repo.change("architecture/invariants.yml", &policy);
    repo.branch("g");
    repo.change("payments/a.ts", &format!("const k = \"{}\";\n", aws()));
    repo.agentgate(["check", "--base", "main"]).expect(0, &[]);
    repo.change("payments/a.ts", &format!("const k = \"{}\";\n", github()));
    repo.agentgate(["check", "--base", "main"])
        .expect(24, &[&fingerprint(&github())]);
}

#[test]
fn a_bad_fingerprint_is_2_and_not_repeated() {
    let repo = Repo::new();
    repo.change(
        "architecture/invariants.yml",
        &format!("{POLICY}allowed_credentials: [{}]\n", github()),
    );
    repo.branch("f");
    repo.change("payments/a.ts", "export {};\n");
    let outcome = repo.agentgate(["check", "--base", "main"]);
    outcome.expect(2, &["an entry of `allowed_credentials` is no fingerprint"]);
    assert!(!outcome.stderr.contains(&github()), "{outcome}");
}

#[test]
fn a_file_of_many_megabytes_is_searched_to_its_end() {
    let repo = on_branch();
    let text = format!("{}\n{}\n", "some words and no secret\n".repeat(500_000), aws());
    repo.change("payments/data.txt", &text);
    repo.agentgate(["check", "--base", "main"])
        .expect(24, &["payments/data.txt:500002:1: adds a credential"]);
}

#[test]
fn nothing_that_is_printed_holds_a_value() {
    let token = crate::support::tokens::github();
    let repo = Repo::new();
    repo.branch("f");
    repo.change(
        "architecture/invariants.yml",
        &format!("{}bogus: {token}\n", crate::support::repo::POLICY),
    );
    for format in ["text", "json", "sarif", "github", "junit", "markdown", "gitlab"] {
        let outcome = repo.agentgate(["check", "--base", "main", "--allow-policy-change", "--format", format]);
        assert_eq!(outcome.code, 2, "{outcome}");
        assert!(!format!("{outcome}").contains(&token), "{format}");
    }
    let task = repo.top().join("TASK.md");
    std::fs::write(&task, format!("Goal: x\nAllowed file: {token}\n")).expect("a task");
    let outcome = repo.agentgate(["preflight", "--task", task.to_str().expect("a path")]);
    assert_eq!(outcome.code, 22, "{outcome}");
    assert!(!format!("{outcome}").contains(&token), "{outcome}");
}

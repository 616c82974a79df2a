//! Jobs whose task or candidate holds a credential (24): nothing of it becomes a ref or leaves the machine, and its
//! value is said nowhere.

use std::fs;
use std::path::Path;

use super::support::jobs::{event, events, job, nothing_left, record, recorded, run_to, task, value};
use super::support::program::Outcome;
use super::support::repo::{POLICY, Repo};
use super::support::tokens::{aws, fingerprint, github, private_key};

/// No ref of the job.
#[track_caller]
fn no_ref(repo: &Repo, id: &str) {
    let refs = repo.git(["for-each-ref", "--format=%(refname)"]);
    assert_eq!(refs, "refs/heads/main", "{id}");
}

/// The value is in none of the files below a folder but the agent's own log.
#[track_caller]
fn nowhere(folder: &Path, secret: &str) {
    for entry in walkdir::WalkDir::new(folder) {
        let entry = entry.expect("it can be listed");
        if !entry.file_type().is_file() || entry.file_name() == "agent.log" {
            continue;
        }
        let bytes = fs::read(entry.path()).expect("it can be read");
        let text = String::from_utf8_lossy(&bytes);
        assert!(!text.contains(secret), "{}", entry.path().display());
    }
}

#[track_caller]
fn unsaid(outcome: &Outcome, secret: &str) {
    assert!(!outcome.stdout.contains(secret), "{outcome}");
    assert!(!outcome.stderr.contains(secret), "{outcome}");
}

#[test]
fn a_candidate_with_a_token_is_24_and_its_value_is_said_nowhere() {
    let repo = Repo::new();
    let token = github();
    let agent = format!(
        "echo 'const a = 1;' > payments/a.ts; echo 'const t = \"{token}\";' >> payments/a.ts; echo ok > payments/b.ts"
    );
    let outcome = run_to(24, &repo, "j1", &agent);
    let print = fingerprint(&token);
    outcome.expect(
        24,
        &[
            &format!("payments/a.ts:2:12: adds a credential: GitHub token, fingerprint {print}"),
            "rule: credential [built-in: credentials (github-token)] (exit 24)",
            "(exit 24, credential)",
        ],
    );
    unsaid(&outcome, &token);
    assert_eq!(value(&outcome, "verdict"), "credential");
    assert!(!outcome.stderr.contains("agentgate open"), "{outcome}");
    nowhere(&record(&repo, "j1"), &token);
    no_ref(&repo, "j1");
    nothing_left(&repo);
    assert_eq!(event(&events(&repo, "j1"), "job.refused")["exit"], 24);
    for name in ["gate.log", "gate.json"] {
        let text = recorded(&repo, "j1", name);
        assert!(text.contains("payments/a.ts") && text.contains(&print), "{text}");
    }
    // The rest of the work can be had from the patch.
    repo.git(["apply".as_ref(), record(&repo, "j1").join("change.patch").as_os_str()]);
    let left = fs::read_to_string(repo.root.join("payments/a.ts")).expect("it applied");
    assert_eq!(
        left,
        format!("const a = 1;\nconst t = \"{}\";\n", "x".repeat(token.len()))
    );
    assert_eq!(
        fs::read_to_string(repo.root.join("payments/b.ts")).expect("it applied"),
        "ok\n"
    );
}

#[test]
fn a_task_with_a_credential_is_24_before_anything_is_made() {
    let repo = Repo::new();
    let token = github();
    let file = task(&repo, format!("Goal: use the token\n\nIt is {token}.\n"));
    let file = file.display().to_string();
    for args in [
        &["run", "--job-id", "j1", &file, "--", "sh", "-c", "touch ran"][..],
        &["preflight", "--task", &file],
    ] {
        let outcome = repo.agentgate(args);
        outcome.expect(
            24,
            &[
                "task:3:7: the task holds a credential: GitHub token",
                &fingerprint(&token),
            ],
        );
        unsaid(&outcome, &token);
        assert!(!repo.root.join(".git/agentgate").exists());
        no_ref(&repo, "j1");
        nothing_left(&repo);
    }
}

#[test]
fn a_private_key_a_utf16_file_and_a_link() {
    let key = private_key();
    let body = key.lines().nth(1).expect("a line").to_owned();
    let repo = Repo::new();
    run_to(24, &repo, "j1", &format!("printf '%s' '{key}' > payments/id"))
        .expect(24, &["payments/id:1:1: adds a credential: private key"]);
    nowhere(&record(&repo, "j1"), &body);
    let token = github();
    run_to(
        24,
        &repo,
        "j2",
        &format!("printf '%s' 'k = {token}' | iconv -f UTF-8 -t UTF-16LE > payments/t.reg"),
    )
    .expect(24, &["payments/t.reg:1", "github-token"]);
    assert!(recorded(&repo, "j2", "change.patch").contains("+(left out: it holds a credential)"));
    run_to(24, &repo, "j3", &format!("ln -s 'https://x:{token}@host' payments/l")).expect(24, &["payments/l:1"]);
    nowhere(&record(&repo, "j3"), &token);
    no_ref(&repo, "j1");
}

#[test]
fn an_agent_that_failed_leaves_no_ref_of_a_credential_either() {
    let repo = Repo::new();
    let token = github();
    let agent = format!("echo {token} > payments/t.txt; git add -A; git commit -qm mine; git stash list; exit 3");
    let outcome = run_to(16, &repo, "j1", &agent);
    outcome.expect(
        16,
        &[&format!(
            "the candidate holds credentials: payments/t.txt:1 (github-token, {})",
            fingerprint(&token)
        )],
    );
    unsaid(&outcome, &token);
    nowhere(&record(&repo, "j1"), &token);
    assert!(
        !record(&repo, "j1").join("agent-refs.bundle").exists(),
        "it is packed: nobody could look"
    );
    assert!(recorded(&repo, "j1", "gate.log").contains("payments/t.txt:1 (github-token"));
    no_ref(&repo, "j1");
    nothing_left(&repo);
    repo.agentgate(["open", "j1"])
        .expect(23, &["was not kept: it held a credential"]);
}

#[test]
fn artifacts_do_not_get_the_value() {
    let repo = Repo::new();
    let token = github();
    let out = repo.top().join("out");
    let agent = format!(
        "echo {token} | tee payments/t.txt; echo '*' > payments/.gitignore; echo {token} > payments/hidden; git add -f payments/t.txt"
    );
    let outcome = job(&repo, "j1", &["--artifacts", &out.display().to_string()], &agent).run();
    outcome.expect(
        24,
        &[
            "agent.log was not copied to",
            "were not saved: the credential stands in them too",
        ],
    );
    assert!(out.join("change.patch").exists());
    assert!(!out.join("agent.log").exists() && !out.join("ignored.tar").exists());
    nowhere(&out, &token);
    nowhere(&record(&repo, "j1"), &token);
}

#[test]
fn a_credential_goes_before_all_other_codes() {
    let repo = Repo::new();
    let outcome = run_to(
        24,
        &repo,
        "j1",
        &format!("rm prot/rules.txt; echo {} > payments/a.ts", aws()),
    );
    outcome.expect(24, &["prot/rules.txt: protected path deleted", "AWS access key id"]);
    let first = outcome.stderr.find("adds a credential").expect("it is told");
    assert!(
        first < outcome.stderr.find("protected path deleted").expect("it is told"),
        "{outcome}"
    );
}

#[test]
fn what_other_rules_quote_is_no_way_out() {
    let repo = Repo::new();
    let token = github();
    let outcome = run_to(
        24,
        &repo,
        "j1",
        &format!("echo 'import \"redis/{token}\";' > payments/a.ts"),
    );
    outcome.expect(24, &["(exit 5)", "a credential stands in what this would say"]);
    unsaid(&outcome, &token);
    nowhere(&record(&repo, "j1"), &token);
}

#[test]
fn what_the_base_has_and_what_the_policy_allows_is_no_finding() {
    let (token, other) = (github(), aws());
    let repo = Repo::new();
    repo.write("payments/old.ts", format!("const t = \"{token}\";\n"));
    repo.write(
        "architecture/invariants.yml",
        format!("{POLICY}allowed_credentials: [\"{}\"]\n", fingerprint(&other)),
    );
    repo.commit("both are known");
    // Its line changes, it moves within the file, and the file is renamed.
    run_to(
        0,
        &repo,
        "j1",
        "{ echo first; sed 's/const/let/' payments/old.ts; } > payments/o; mv payments/o payments/old.ts",
    );
    run_to(0, &repo, "j2", "mv payments/old.ts payments/moved.ts");
    run_to(0, &repo, "j3", &format!("echo {other} > payments/a.ts"));
    // A copy into a file that the change adds is one more place.
    run_to(24, &repo, "j4", "cp payments/old.ts payments/copy.ts");
    // So it is where the file that it is copied from changes otherwise.
    run_to(
        24,
        &repo,
        "j5",
        "cp payments/old.ts payments/copy.ts; chmod +x payments/old.ts",
    );
    run_to(
        24,
        &repo,
        "j6",
        "cp payments/old.ts payments/copy.ts; echo more >> payments/old.ts",
    );
    assert!(events(&repo, "j4").iter().any(|event| event["event"] == "job.refused"));
}

#[test]
fn values_of_manuals_are_no_finding() {
    let example = ["AK", "IA", "IOSFODNN7", "EXAMPLE"].concat();
    run_to(0, &Repo::new(), "j1", &format!("echo {example} > payments/a.md"));
}

//! A pass says what it looked at, and one that looked at nothing can be refused.

use serde_json::{Value, json};

use super::{ALL, check, sound};
use crate::support::repo::{POLICY, Repo};

/// A repository with this policy, on branch `f`.
fn with(policy: &str) -> Repo {
    let repo = Repo::empty();
    repo.write("architecture/invariants.yml", policy);
    repo.write("payments/pay.ts", "export const pay = 1;\n");
    repo.write("README.md", "read me\n");
    repo.commit("start");
    repo.branch("f");
    repo
}

fn inspected(repo: &Repo) -> Value {
    check(repo, "json").json()["inspected"].clone()
}

#[test]
fn files_and_imports_are_counted_and_what_was_not_read_has_a_reason() {
    let repo = with(POLICY);
    repo.write("payments/a.ts", "import fs from 'fs';\nrequire('x');\n");
    repo.write("payments/b.py", "import os\n");
    repo.write("payments/c.txt", "text\n");
    repo.write("payments/d.lua", "x\n");
    repo.write("docs/e.md", "text\n");
    repo.remove("README.md");
    repo.commit("work");
    let inspected = inspected(&repo);
    assert_eq!(inspected["files"], 2);
    assert_eq!(inspected["imports"]["javascript"], 2);
    assert_eq!(inspected["imports"]["python"], 1);
    let skipped: Vec<String> = inspected["skipped"]
        .as_array()
        .expect("reasons")
        .iter()
        .map(|row| {
            format!(
                "{} {} {}",
                row["count"],
                row["reason"].as_str().unwrap_or_default(),
                row["paths"][0]["path"]
            )
        })
        .collect();
    assert_eq!(
        skipped,
        [
            "1 .lua: a language that is not read \"payments/d.lua\"",
            "1 deleted \"README.md\"",
            "1 in no area with import rules \"docs/e.md\"",
            "1 no source file \"payments/c.txt\"",
        ]
    );
}

#[test]
fn the_text_says_it_in_three_lines() {
    let repo = with(POLICY);
    repo.change("payments/a.ts", "import fs from 'fs';\n");
    repo.change("README.md", "again\n");
    let outcome = repo.agentgate(["check", "--base", "main"]);
    let policy = repo.git(["rev-parse", "main:architecture/invariants.yml"]);
    let lines: Vec<&str> = outcome.stderr.lines().collect();
    assert_eq!(lines.len(), 3, "{outcome}");
    assert_eq!(
        lines[1],
        format!(
            "agentgate: policy {}; 4 rules, 1 of them without anything to match in the tree",
            &policy[..12]
        )
    );
    assert_eq!(
        lines[2],
        "agentgate: 1 file read; imports: javascript 1; not read: 1 in no area with import rules"
    );
    let verbose = repo.agentgate(["check", "--base", "main", "--verbose"]);
    verbose.expect(
        0,
        &[
            "  rule forbidden-import payments.forbidden_imports[0]: redis\n",
            "  rule forbidden-directory payments.forbidden_dirs[0]: infra/async   (nothing there, as it should be)\n",
            "  rule protected-path must_not_touch[0]: prot   (matches nothing in the tree)\n",
            "  not read, in no area with import rules: README.md\n",
        ],
    );
}

fn reach(repo: &Repo) -> Vec<(String, String)> {
    let rules = inspected(repo)["rules"].as_array().expect("rules").clone();
    let text = |value: &Value| value.as_str().expect("a text").to_owned();
    rules
        .iter()
        .map(|rule| (text(&rule["key"]), text(&rule["reach"])))
        .collect()
}

#[test]
fn a_rule_that_can_match_nothing_is_dead_and_one_that_only_forbids_is_not() {
    let repo = with(
        "version: 1\np:\n  allowed_roots: [payments/]\n  forbidden_imports: [redis]\n  forbidden_dirs: [gone, 'x/**']\n\
         typo:\n  allowed_roots: [paymnets/, 'pya*/**']\n  forbidden_imports: [redis]\n\
         must_not_touch: [README.md, READMEE.md, '**/*.key']\nunmapped: deny\n",
    );
    repo.change("payments/a.ts", "x\n");
    let expected = [
        ("p.forbidden_imports[0]", "live"),
        ("p.forbidden_dirs[0]", "absent"),
        ("p.forbidden_dirs[1]", "absent"),
        ("typo.forbidden_imports[0]", "dead"),
        ("must_not_touch[0]", "live"),
        ("must_not_touch[1]", "dead"),
        ("must_not_touch[2]", "dead"),
        ("max_new_top_level_dirs", "live"),
        ("unmapped", "live"),
    ];
    let expected = expected.map(|(key, reach)| (key.to_owned(), reach.to_owned()));
    assert_eq!(reach(&repo), expected);
}

#[test]
fn what_the_change_itself_brings_is_there() {
    let repo = with(
        "version: 1\np:\n  allowed_roots: [later/, 'lib/**']\n  forbidden_imports: [redis]\nmax_new_top_level_dirs: 2\n",
    );
    repo.change("later/a.ts", "import 'x';\n");
    repo.change("lib/a.ts", "import 'x';\n");
    let outcome = repo.agentgate(["check", "--base", "main", "--require-inspected"]);
    outcome.expect(0, &["2 files read; imports: javascript 2"]);
    assert!(!outcome.stdout.contains("matches nothing"), "{outcome}");
    assert_eq!(reach(&repo)[0].1, "live");
}

#[test]
fn two_policies_count_a_file_once() {
    let repo = with(POLICY);
    repo.change("payments/a.ts", "import fs from 'fs';\n");
    repo.checkout("main");
    repo.change("architecture/invariants.yml", &format!("{POLICY}unmapped: deny\n"));
    repo.checkout("f");
    let json = check(&repo, "json").json();
    assert_eq!(json["policies"].as_array().map(Vec::len), Some(2));
    assert_eq!(json["inspected"]["files"], 1);
    assert_eq!(json["inspected"]["imports"]["javascript"], 1);
    assert_eq!(json["inspected"]["rules"].as_array().map(Vec::len), Some(5), "{json:#}");
}

#[test]
fn a_look_at_nothing_passes_with_words_and_is_2_where_that_is_asked_for() {
    let imports_only = "version: 1\np:\n  allowed_roots: [payments/]\n  forbidden_imports: [redis]\n";
    let misspelt = imports_only.replace("payments/", "paymnets/");
    // An empty range, one that puts back what it did, files that no rule looks at, rules without effect.
    let empty = with(POLICY);
    let put_back = with(POLICY);
    put_back.change("README.md", "x\n");
    put_back.change("README.md", "read me\n");
    let elsewhere = with(imports_only);
    elsewhere.change("README.md", "x\n");
    let dead = with(&misspelt);
    dead.change("payments/q.ts", "import 'redis';\n");
    for (repo, words, why) in [
        (
            &empty,
            "note: the range is empty: ",
            "no path differs between base and head",
        ),
        (
            &put_back,
            "note: net difference of 2 commits is empty",
            "no path differs between base and head",
        ),
        (
            &elsewhere,
            "note: no rule of the policy looked at any of the changed files",
            "no rule of the policy looked at any of the changed files",
        ),
        (
            &dead,
            "note: the policy has no effect: its rule p.forbidden_imports[0] matches nothing in the tree",
            "the policy has no effect",
        ),
    ] {
        repo.agentgate(["check", "--base", "main"]).expect(0, &[words]);
        let refused = repo.agentgate(["check", "--base", "main", "--require-inspected"]);
        refused.expect(2, &["agentgate: error: nothing was inspected: ", why]);
        for format in ALL {
            let line = ["check", "--base", "main", "--require-inspected", "--format", format];
            assert_eq!(repo.agentgate(line).code, 2, "{format}");
        }
    }
}

#[test]
fn what_was_looked_at_passes_and_what_is_broken_keeps_its_code() {
    let line = ["check", "--base", "main", "--require-inspected"];
    sound().agentgate(line).expect(0, &[]);
    let repo = with("version: 1\np:\n  allowed_roots: [paymnets/]\n  forbidden_imports: [redis]\n");
    repo.change("new/a.ts", "x\n");
    repo.agentgate(line).expect(6, &[]);
    // A protected path is a rule about every path.
    let repo = with("version: 1\nmust_not_touch: [README.md]\n");
    repo.change("payments/a", "x\n");
    repo.agentgate(line).expect(0, &[]);
}

#[test]
fn a_file_that_no_entry_speaks_of_was_not_looked_at() {
    let line = ["check", "--base", "main", "--require-inspected"];
    for rule in [
        "p:\n  allowed_roots: [payments/]\n  forbidden_imports: [{import: redis, languages: [go]}]\n",
        "p:\n  allowed_roots: [payments/]\n  forbidden_imports: [{import: redis, except: [\"**\"]}]\n",
        "dependencies: {forbidden: [redis]}\n",
    ] {
        let repo = with(&format!("version: 1\n{rule}"));
        repo.change("payments/a.ts", "import 'redis';\n");
        repo.agentgate(line).expect(2, &["nothing was inspected: "]);
    }
    let repo = with("version: 1\ndependencies: {forbidden: [redis]}\n");
    repo.change("payments/package.json", "{\"dependencies\": {\"left-pad\": \"1\"}}\n");
    repo.agentgate(line).expect(0, &[]);
}

#[test]
fn the_first_policy_is_no_look_at_nothing() {
    let repo = Repo::empty();
    repo.change("a", "a\n");
    repo.branch("f");
    repo.change("architecture/invariants.yml", POLICY);
    repo.agentgate([
        "check",
        "--base",
        "main",
        "--allow-policy-change",
        "--require-inspected",
    ])
    .expect(0, &["the first one is policy"]);
}

#[test]
fn a_jobs_record_has_it_too() {
    use crate::support::scene::{JOB, record, with_kept};
    let repo = with_kept();
    let text = std::fs::read_to_string(record(&repo, JOB).join("gate.json")).expect("there is one");
    let json: Value = serde_json::from_str(&text).expect("it is JSON");
    assert_eq!(json["inspected"]["rules"][0]["key"], "payments.forbidden_imports[0]");
    assert_ne!(json["inspected"]["imports"], json!({}));
}

#[test]
fn a_manifest_that_was_read_was_looked_at() {
    let imports_only = "version: 1\np:\n  allowed_roots: [payments/]\n  forbidden_imports: [redis]\n";
    let line = ["check", "--base", "main", "--require-inspected"];
    let repo = with(imports_only);
    repo.change("payments/package.json", "{\"dependencies\": {\"left-pad\": \"1\"}}\n");
    let outcome = repo.agentgate(line);
    outcome.expect(0, &["no file was read for imports; 1 manifest read for dependencies\n"]);
    assert!(!outcome.stdout.contains("no rule of the policy looked"), "{outcome}");
    assert_eq!(inspected(&repo)["manifests"], 1);
    assert_eq!(inspected(&repo)["skipped"], json!([]));
    repo.change("payments/package.json", "{\"dependencies\": {\"redis\": \"1\"}}\n");
    let outcome = repo.agentgate(line);
    outcome.expect(8, &["declares `redis`"]);
    assert!(!outcome.stdout.contains("no rule of the policy looked"), "{outcome}");
}

#[test]
fn a_manifest_that_no_rule_looks_at_is_not_counted() {
    let repo = with("version: 1\nmust_not_touch: [prot]\n");
    repo.change("package.json", "{}\n");
    assert_eq!(inspected(&repo)["manifests"], 0);
}

//! The gate inside `run`: what counts as touching a protected path, and whose policy judges.

use std::fs;

use super::support::jobs::{event, events, free, nothing_left, record, recorded, run, run_to};
use super::support::program::Outcome;
use super::support::repo::{POLICY, Repo};

/// Runs an agent that must not even start.
#[track_caller]
fn not_started(repo: &Repo, code: i32, texts: &[&str]) -> Outcome {
    let counter = repo.top().join("starts");
    let outcome = run(
        repo,
        "j1",
        &format!("echo x >> '{}'; echo 1 > payments/a.ts", counter.display()),
    );
    outcome.expect(code, texts);
    assert!(!counter.exists(), "the agent was started\n{outcome}");
    assert_eq!(outcome.stdout, "", "{outcome}");
    assert!(!record(repo, "j1").exists());
    nothing_left(repo);
    outcome
}

#[test]
fn every_way_of_changing_a_protected_file_is_3() {
    let repo = Repo::new();
    for (id, agent) in [
        ("edit", "echo x >> prot/rules.txt"),
        ("delete", "rm prot/rules.txt"),
        ("move-out", "git mv prot/rules.txt rules.txt"),
        ("move-in", "mv payments/pay.ts prot/pay.ts"),
        ("mode", "chmod +x prot/rules.txt"),
        ("link", "rm prot/rules.txt; ln -s ../payments/pay.ts prot/rules.txt"),
        (
            "folder",
            "rm prot/rules.txt; mkdir prot/rules.txt; echo x > prot/rules.txt/x",
        ),
        ("replaced", "rm -r prot; echo x > prot"),
        ("replaced-by-link", "mv prot payments/prot; ln -s payments/prot prot"),
        ("new", "echo x > prot/new.txt"),
        ("twin", "mkdir Prot; echo x > Prot/rules.txt"),
        ("settings", "printf 'version: 1\\n' > architecture/agentgate.yml"),
    ] {
        run_to(3, &repo, id, agent).expect(3, &["verdict=protected-path"]);
        assert_eq!(event(&events(&repo, id), "job.refused")["exit"], 3);
    }
    nothing_left(&repo);
}

#[test]
fn a_submodule_link_in_a_protected_place_is_3() {
    let repo = Repo::new();
    let sub = repo.beside("sub");
    fs::create_dir(&sub.root).expect("it is new");
    sub.git(["init", "--quiet"]);
    sub.change("a.txt", "a\n");
    let agent = "git rm -rq prot && git -c protocol.file.allow=always submodule --quiet add --force ../../sub prot";
    run_to(3, &repo, "j1", agent);
    let agent = "git update-index --add --cacheinfo 160000,$(git rev-parse HEAD),prot/mod && mkdir prot/mod && cd prot/mod && git init -q && echo x > x && git add x && git commit -qm x";
    run_to(3, &repo, "j2", agent);
    nothing_left(&repo);
}

#[test]
fn a_name_that_only_begins_like_a_forbidden_folder_passes_and_a_case_twin_does_not() {
    let repo = Repo::new();
    repo.change("infra/x.ts", "x\n");
    run_to(0, &repo, "j1", "echo x > infra/asyncify.ts");
    run_to(4, &repo, "j2", "mkdir -p infra/async; echo x > infra/async/x.ts").expect(4, &["infra/async/x.ts"]);
    let twin = run(&repo, "j3", "mkdir -p infra/Async; echo x > infra/Async/x.ts");
    twin.expect(4, &["infra/Async/x.ts"]);
}

#[test]
fn the_lowest_code_is_returned_and_every_finding_is_in_the_record() {
    let repo = Repo::new();
    let agent = "mkdir -p infra/async infra/x; echo x > infra/async/x.ts; echo 'import \"redis\"' > payments/a.ts; echo \"import 'redis'\" > payments/b.ts; rm prot/rules.txt";
    let outcome = run_to(3, &repo, "j1", agent);
    let log = recorded(&repo, "j1", "gate.log");
    for text in [
        "prot/rules.txt",
        "infra/async/x.ts",
        "payments/a.ts:1",
        "payments/b.ts:1",
    ] {
        assert!(log.contains(text), "{log}");
        assert!(outcome.stderr.contains(text), "{outcome}");
    }
    run_to(3, &repo, "j2", agent);
    assert_eq!(recorded(&repo, "j2", "gate.log"), log, "another order");
    assert_eq!(recorded(&repo, "j2", "gate.json"), recorded(&repo, "j1", "gate.json"));
}

#[test]
fn the_policy_that_the_agent_rewrote_does_not_judge_it() {
    let repo = Repo::new();
    let agent = "printf 'version: 1\\nmax_new_top_level_dirs: 99\\n' > architecture/invariants.yml; rm prot/rules.txt; \
                 mkdir -p infra/async; echo x > infra/async/x.ts; git add -A; git commit -qm x; git branch -f main; git update-ref HEAD HEAD";
    let outcome = run_to(3, &repo, "j1", agent);
    outcome.expect(
        3,
        &["architecture/invariants.yml", "prot/rules.txt", "infra/async/x.ts"],
    );
    assert_eq!(
        events(&repo, "j1")[0]["policy"],
        repo.git(["rev-parse", "main:architecture/invariants.yml"])
    );
}

#[test]
fn a_base_without_a_usable_policy_starts_no_agent() {
    let missing = Repo::empty();
    missing.change("payments/pay.ts", "x\n");
    // In the working tree alone it does not count, even where it is ignored.
    missing.write(".git/info/exclude", "architecture/\n");
    missing.write("architecture/invariants.yml", POLICY);
    let base = missing.id("HEAD");
    not_started(&missing, 2, &["no usable policy in base", &base[..12]]);
    for (policy, texts) in [
        ("", &["architecture/invariants.yml"][..]),
        ("version: 1\n", &["it holds no rule"][..]),
        (
            "version: 1\npayments:\n  forbiden_imports: [redis]\n",
            &["architecture/invariants.yml:3:3", "did you mean `forbidden_imports`"][..],
        ),
        (
            "version: 1\nmust_not_touch: [x]\nmust_not_touch: [y]\n",
            &["architecture/invariants.yml:3"][..],
        ),
        ("version: 2\nmust_not_touch: [x]\n", &["version 2"][..]),
    ] {
        let repo = Repo::new();
        repo.change("architecture/invariants.yml", policy);
        let outcome = run(&repo, "j1", "true");
        assert_eq!(outcome.code, 2, "{policy:?}: {outcome}");
        not_started(&repo, 2, texts);
        free(&repo);
    }
}

#[test]
fn broken_settings_in_the_base_start_no_agent_and_those_of_the_working_tree_do_not_count() {
    let repo = Repo::new();
    repo.change(
        "architecture/agentgate.yml",
        "version: 1\nagents:\n  implementer:\n    comand: x\n",
    );
    not_started(&repo, 2, &["architecture/agentgate.yml:4:5", "did you mean `command`"]);
    repo.change("architecture/agentgate.yml", "version: 1\n");
    repo.git(["update-index", "--skip-worktree", "architecture/agentgate.yml"]);
    repo.write("architecture/agentgate.yml", "nonsense: [\n");
    run_to(15, &repo, "j2", "true");
}

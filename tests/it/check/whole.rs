//! `check --all`, the baseline and its upkeep.

use crate::support::repo::{POLICY, Repo};

/// A repository with three old findings and a policy that names a baseline.
fn old_repository(more: &str) -> Repo {
    let repo = Repo::new();
    repo.write(
        "architecture/invariants.yml",
        format!("{POLICY}baseline: architecture/invariants.baseline.json\n{more}"),
    );
    repo.write(
        "payments/a.ts",
        "import redis from 'redis';\nimport again from 'redis';\n",
    );
    repo.write("infra/async/worker.ts", "export {};\n");
    repo.commit("old");
    repo
}

fn adopted(more: &str) -> Repo {
    let repo = old_repository(more);
    repo.agentgate(["baseline", "update", "--grow"]).expect(
        0,
        &[
            "3 added",
            "+ forbidden-import payments/a.ts: import redis from 'redis';",
        ],
    );
    repo.commit("adopt");
    repo
}

#[test]
fn the_whole_tree_is_judged_whoever_wrote_it() {
    let repo = old_repository("");
    let outcome = repo.agentgate(["check", "--all"]);
    outcome.expect(
        4,
        &[
            "infra/async/worker.ts",
            "payments/a.ts:1:19",
            "payments/a.ts:2:19",
            "3 findings in 2 paths (exit 4)",
        ],
    );
    // Rules about changes have nothing to say: the protected files are where they belong.
    assert!(!outcome.stdout.contains("prot/"), "{outcome}");
}

#[test]
fn known_findings_pass_and_a_new_one_does_not() {
    let repo = adopted("");
    repo.agentgate(["check", "--all"])
        .expect(0, &["3 findings known to the baseline are not counted"]);
    // Lines move; the finding is the same.
    repo.write(
        "payments/a.ts",
        "// moved\n\n  import   redis from 'redis';\nimport again from 'redis';\n",
    );
    repo.commit("move");
    repo.agentgate(["check", "--all"]).expect(0, &[]);
    // A second line like the first is another finding.
    repo.write(
        "payments/a.ts",
        "import redis from 'redis';\nimport again from 'redis';\nimport redis from 'redis';\n",
    );
    repo.commit("again");
    repo.agentgate(["check", "--all"])
        .expect(5, &["payments/a.ts:3", "1 finding in 1 path"]);
}

#[test]
fn a_stale_entry_is_told_and_fails_only_where_that_was_asked_for() {
    let repo = adopted("");
    repo.write("payments/a.ts", "import again from 'redis';\n");
    repo.commit("mend");
    repo.agentgate(["check", "--all"]).expect(
        0,
        &[
            "the baseline lists forbidden-import in payments/a.ts, which is no longer there",
            "`agentgate baseline update` takes stale entries out",
        ],
    );
    let strict = repo.agentgate(["check", "--all", "--strict-baseline"]);
    strict.expect(
        2,
        &[
            "lists forbidden-import in payments/a.ts, which is no longer there: import redis",
            "rule: stale-baseline [--strict-baseline] (exit 2)",
        ],
    );
    assert_eq!(strict.stdout.matches("no longer there").count(), 1, "{strict}");
    let outcome = repo.agentgate(["baseline", "update"]);
    outcome.expect(
        0,
        &[
            "2 entries kept, 1 removed, 0 added",
            "- forbidden-import payments/a.ts",
            "on a branch of its own",
            "next: agentgate check --allow-policy-change ",
        ],
    );
    // Both lines, as they are pasted; without a remote the base is to be named.
    repo.branch("shrink");
    let next: Vec<&str> = outcome
        .stdout
        .lines()
        .filter_map(|line| line.strip_prefix("next: "))
        .collect();
    let [commit, check] = next[..] else { panic!("{outcome}") };
    repo.program("sh").args(["-c", commit]).run().success();
    let check = check.split("   #").next().expect("a command");
    let check: Vec<&str> = check.split(' ').skip(1).chain(["--base", "main"]).collect();
    repo.agentgate(check).expect(0, &["accepts 1 finding"]);
    repo.agentgate(["check", "--all", "--strict-baseline"]).expect(0, &[]);
}

#[test]
fn an_update_only_shrinks_the_baseline() {
    let repo = adopted("");
    repo.change("payments/b.ts", "import r from 'redis';\n");
    let file = repo.root.join("architecture/invariants.baseline.json");
    let before = std::fs::read(&file).unwrap();
    repo.agentgate(["baseline", "update"])
        .expect(0, &["0 added; not written", "1 finding of HEAD is not in it"]);
    assert_eq!(std::fs::read(&file).unwrap(), before);
    repo.agentgate(["baseline", "update", "--grow"]).expect(0, &["1 added"]);
    repo.commit("grow");
    repo.agentgate(["check", "--all"]).expect(0, &[]);
}

#[test]
fn a_range_is_excused_by_the_baseline_of_its_base_only() {
    let repo = adopted("existing: deny\n");
    repo.branch("f");
    repo.write(
        "payments/a.ts",
        "import redis from 'redis';\nimport again from 'redis';\nexport {};\n",
    );
    repo.commit("touch");
    repo.agentgate(["check", "--base", "main"])
        .expect(0, &["2 findings known to the baseline"]);
    // What the range itself adds to the list excuses nothing, and the list is a protected path.
    repo.change("payments/b.ts", "import r from 'redis';\n");
    repo.agentgate(["baseline", "update", "--grow"]).expect(0, &["1 added"]);
    repo.commit("excuse myself");
    repo.agentgate(["check", "--base", "main"]).expect(
        3,
        &[
            "architecture/invariants.baseline.json: protected path changed",
            "payments/b.ts:1",
        ],
    );
}

#[test]
fn an_entry_that_is_stale_in_the_base_excuses_nothing() {
    let repo = adopted("existing: deny\n");
    repo.change("payments/a.ts", "import redis from 'redis';\n");
    repo.branch("f");
    // The first line is known; the second was mended and comes back, and the first comes twice.
    repo.change(
        "payments/a.ts",
        "import redis from 'redis';\nimport again from 'redis';\n",
    );
    repo.agentgate(["check", "--base", "main"]).expect(
        5,
        &["payments/a.ts:2:19", "1 finding known to the baseline", "1 finding in"],
    );
}

#[test]
fn a_baseline_lies_in_the_repository_and_nowhere_else() {
    let repo = Repo::new();
    let outside = tempfile::tempdir().unwrap();
    std::os::unix::fs::symlink(outside.path(), repo.root.join("out")).unwrap();
    repo.change(
        "architecture/invariants.yml",
        &format!("{POLICY}baseline: out/b.json\n"),
    );
    repo.change("payments/a.ts", "import redis from 'redis';\n");
    repo.agentgate(["baseline", "update", "--grow"])
        .expect(2, &["out is a link", "hint: name a file below real folders"]);
    assert_eq!(std::fs::read_dir(outside.path()).unwrap().count(), 0);
    for path in [".git/b.json", "a/.GIT/b.json"] {
        repo.change("architecture/invariants.yml", &format!("{POLICY}baseline: {path}\n"));
        repo.agentgate(["baseline", "update", "--grow"])
            .expect(2, &["`baseline` must lie in the repository"]);
    }
}

#[test]
fn stale_entries_are_asked_for_with_all_only() {
    let repo = adopted("");
    for more in [&["--base", "main"][..], &["--worktree"], &[]] {
        repo.agentgate([&["check", "--strict-baseline"], more].concat())
            .expect(64, &["--strict-baseline"]);
    }
}

#[test]
fn a_baseline_does_not_open_a_forbidden_folder() {
    let repo = adopted("existing: deny\n");
    repo.branch("f");
    repo.change("infra/async/worker.ts", "export const more = 1;\n");
    repo.agentgate(["check", "--base", "main"])
        .expect(4, &["infra/async/worker.ts"]);
}

#[test]
fn a_broken_baseline_is_2() {
    for (text, told) in [
        ("{", "not JSON"),
        (
            "{\"schema\": \"x\", \"findings\": []}",
            "its `schema` is not agentgate/baseline/1",
        ),
        (
            "{\"schema\": \"agentgate/baseline/1\", \"findings\": [], \"more\": 1}",
            "and nothing else",
        ),
        (
            "{\"schema\": \"agentgate/baseline/1\", \"findings\": [{\"fingerprint\": \"x\", \"rule\": \"r\", \"path\": \"p\", \"text\": \"t\"}]}",
            "is not 32 hexadecimal digits",
        ),
    ] {
        let repo = adopted("");
        repo.change("architecture/invariants.baseline.json", text);
        repo.agentgate(["check", "--all"])
            .expect(2, &["architecture/invariants.baseline.json: ", told]);
        repo.agentgate(["baseline", "update"]).expect(2, &[told]);
    }
}

#[test]
fn without_the_key_there_is_nothing_to_update() {
    let repo = Repo::new();
    repo.agentgate(["baseline", "update", "--grow"]).expect(
        2,
        &["names no `baseline`", "baseline: architecture/invariants.baseline.json"],
    );
}

#[test]
fn the_baseline_is_the_same_whoever_writes_it() {
    let repo = adopted("");
    let file = repo.root.join("architecture/invariants.baseline.json");
    let first = std::fs::read_to_string(&file).unwrap();
    std::fs::remove_file(&file).unwrap();
    repo.agentgate(["baseline", "update", "--grow"]).expect(0, &["3 added"]);
    assert_eq!(std::fs::read_to_string(&file).unwrap(), first);
    assert!(!first.contains("\"line\""), "{first}");
}

#[test]
fn a_known_dependency_may_change_its_version() {
    let repo = Repo::new();
    repo.write(
        "architecture/invariants.yml",
        format!("{POLICY}baseline: architecture/invariants.baseline.json\ndependencies: {{forbidden: [ioredis]}}\n"),
    );
    repo.write("payments/package.json", "{\"dependencies\": {\"ioredis\": \"1\"}}\n");
    repo.commit("old");
    repo.agentgate(["check", "--all"])
        .expect(8, &["payments/package.json:1", "1 finding"]);
    repo.agentgate(["baseline", "update", "--grow"]).expect(0, &["1 added"]);
    repo.write(
        "payments/package.json",
        "{\"dependencies\": {\"ioredis\": \"2\", \"a\": \"1\"}}\n",
    );
    repo.commit("update");
    repo.agentgate(["check", "--all", "--strict-baseline"]).expect(0, &[]);
}

#[test]
fn a_credential_in_a_known_line_is_not_listed() {
    let token = crate::support::tokens::github();
    let repo = old_repository("");
    repo.change("payments/b.ts", &format!("import r from 'redis'; // {token}\n"));
    for more in [&[][..], &["--json"]] {
        let outcome = repo.agentgate([&["baseline", "update", "--grow"], more].concat());
        outcome.expect(0, &[]);
        assert!(!format!("{outcome}").contains(&token), "{outcome}");
    }
    let file = std::fs::read_to_string(repo.root.join("architecture/invariants.baseline.json")).unwrap();
    assert!(
        file.contains("import r from 'redis'; // xxxx") && !file.contains(&token),
        "{file}"
    );
}

#[test]
fn a_hundred_thousand_findings_in_one_file_are_judged_in_time() {
    let repo = Repo::new();
    repo.branch("f");
    repo.change("payments/a.py", &"import redis\n".repeat(100_000));
    let outcome = repo
        .command(["check", "--base", "main", "--json"])
        .deadline(std::time::Duration::from_secs(150))
        .run();
    assert_eq!(outcome.code, 5);
    assert_eq!(outcome.json()["findings"].as_array().map(Vec::len), Some(100_000));
}

#[test]
fn a_whole_tree_has_paths_and_no_changed_ones() {
    let repo = Repo::new();
    repo.write("docs/a.txt", "x\n");
    repo.write("payments/a.swift", "import x\n");
    repo.commit("more");
    for format in ["text", "markdown", "json", "junit"] {
        let outcome = repo.agentgate(["check", "--all", "--format", format]);
        outcome.expect(0, &[]);
        for stream in [&outcome.stdout, &outcome.stderr] {
            assert!(!stream.to_lowercase().contains("changed"), "{outcome}");
        }
    }
    repo.agentgate(["check", "--all"]).expect(
        0,
        &[
            "note: 3 paths belong to no area; no import rule looked at them\n",
            "note: 1 file of kinds whose imports this version does not read: .swift\n",
        ],
    );
}

#[test]
fn a_second_line_like_a_known_one_is_found_as_the_readme_says() {
    let twice = "import redis from 'redis';\nimport again from 'redis';\nimport redis from 'redis';\n";
    for (stance, code) in [("allow", 0), ("deny", 5)] {
        let repo = adopted(&format!("existing: {stance}\n"));
        repo.branch("f");
        repo.change("payments/a.ts", twice);
        repo.agentgate(["check", "--base", "main"]).expect(code, &[]);
        repo.agentgate(["check", "--all"])
            .expect(5, &["payments/a.ts:3", "1 finding in 1 path"]);
    }
}

#[test]
fn a_renamed_file_has_new_findings() {
    let repo = adopted("");
    repo.branch("f");
    repo.git(["mv", "payments/a.ts", "payments/b.ts"]);
    repo.commit("rename");
    repo.agentgate(["check", "--base", "main"])
        .expect(5, &["payments/b.ts:1", "payments/b.ts:2"]);
    repo.agentgate(["check", "--all"])
        .expect(5, &["payments/b.ts:1", "payments/b.ts:2", "2 findings"]);
}

//! `agentgate explain`: asked before anything is changed.

use crate::support::repo::{POLICY, Repo};

fn repo() -> Repo {
    let repo = Repo::new();
    repo.write(
        "architecture/invariants.yml",
        format!(
            "{}unmapped: deny\n",
            POLICY.replace(
                "[redis]",
                "[{import: redis, except: [payments/cache/**], reason: one store only, use_instead: our store}, bullmq]"
            )
        ),
    );
    repo.commit("policy");
    repo
}

#[test]
fn a_path_that_may_be_changed() {
    let outcome = repo().agentgate(["explain", "payments/new.ts"]);
    outcome.expect(0, &[]);
    assert_eq!(
        outcome.stdout,
        "payments/new.ts: not in HEAD, javascript\n  areas: payments\n  may be changed: yes\n  must not import (exit 5):\n    \
         `redis` [payments.forbidden_imports[0]]: one store only; use our store instead\n    `bullmq` \
         [payments.forbidden_imports[1]]\n  by the policy of HEAD\n"
    );
}

#[test]
fn what_the_gate_would_refuse_is_said_with_its_code() {
    let repo = repo();
    for (path, told) in [
        ("prot/rules.txt", "[must_not_touch[0]] (exit 3)"),
        ("architecture/invariants.yml", "(exit 3)"),
        ("infra/async/x.ts", "[payments.forbidden_dirs[0]] (exit 4)"),
        ("elsewhere/x.ts", "[max_new_top_level_dirs] (exit 6)"),
        ("README.md", "[unmapped] (exit 7)"),
        ("payments/PAY.ts", "(exit 9)"),
    ] {
        let outcome = repo.agentgate(["explain", path]);
        outcome.expect(0, &["  may be changed: no\n", told]);
    }
}

#[test]
fn a_task_narrows_what_may_be_changed() {
    let repo = repo();
    let task = repo.top().join("TASK.md");
    std::fs::write(&task, "Goal: x\nAllowed files: payments/pay.ts\n").unwrap();
    let task = task.to_str().unwrap();
    repo.agentgate(["explain", "payments/pay.ts", "--task", task])
        .expect(0, &["may be changed: yes"]);
    repo.agentgate(["explain", "payments/new.ts", "--task", task])
        .expect(0, &["may be changed: no", "(exit 7)"]);
}

#[test]
fn a_manifest_is_explained_by_the_rules_that_judge_it() {
    let repo = Repo::new();
    repo.write(
        "architecture/invariants.yml",
        "version: 1\npayments:\n  allowed_roots: [payments/]\n  forbidden_imports: [{import: redis, languages: [ts], reason: one \
         store only}, bullmq]\ndependencies: {new: deny, allowed: [zod, '@acme/*'], forbidden: [ioredis]}\n",
    );
    repo.write("tool.py", "# /// script\n# dependencies = []\n# ///\n");
    repo.commit("policy");
    let text = repo.agentgate(["explain", "package.json"]).success().stdout;
    assert_eq!(
        text,
        "package.json: not in HEAD\n  areas: none\n  may be changed: yes\n  must not declare any new name but `zod`, `@acme/*` \
         (exit 8) [dependencies.new]\n  must not declare (exit 8):\n    `ioredis` [dependencies.forbidden[0]]\n    `redis` \
         [payments.forbidden_imports[0]]: one store only\n    `bullmq` [payments.forbidden_imports[1]]\n  by the policy of HEAD\n"
    );
    // An entry that is for another language says nothing to the manifests of this one.
    for path in [
        "Cargo.toml",
        "pom.xml",
        "go.mod",
        "requirements.txt",
        "payments/Gemfile",
    ] {
        let outcome = repo.agentgate(["explain", path]);
        outcome.expect(0, &["must not declare any new name but", "`ioredis` [", "`bullmq` ["]);
        assert!(!outcome.stdout.contains("`redis` ["), "{outcome}");
    }
    // A script speaks for itself alone.
    let script = repo.agentgate(["explain", "tool.py"]);
    script.expect(0, &["must not declare any new name but", "`ioredis` ["]);
    assert!(!script.stdout.contains("`bullmq` ["), "{script}");
    repo.agentgate(["explain", "mix.exs"]).expect(
        0,
        &[
            "dependencies: this version does not read it",
            "must not declare any new name",
        ],
    );
    for path in ["README.md", "payments/a.ts", "payments"] {
        let outcome = repo.agentgate(["explain", path]);
        assert!(!outcome.stdout.contains("declare"), "{outcome}");
    }
    let json = repo.agentgate(["explain", "package.json", "--json"]).json();
    assert_eq!(json["dependencies"]["read"], true, "{json}");
    assert_eq!(json["dependencies"]["new_denied_by"][0], "dependencies.new", "{json}");
    assert_eq!(json["dependencies"]["allowed"][1], "@acme/*", "{json}");
    assert_eq!(json["dependencies"]["forbidden"][0]["entry"], "ioredis", "{json}");
    assert!(repo.agentgate(["explain", "README.md", "--json"]).json()["dependencies"].is_null());
}

#[test]
fn a_task_without_new_dependencies_is_told_for_a_manifest() {
    let repo = Repo::new();
    let task = repo.top().join("TASK.md");
    std::fs::write(&task, "Goal: x\nNon-goals: new dependencies\n").unwrap();
    let task = task.to_str().unwrap();
    repo.agentgate(["explain", "package.json", "--task", task])
        .expect(0, &["must not declare any new name (exit 8) [task: Non-goals]\n"]);
    let repo = Repo::empty();
    repo.change("architecture/invariants.yml", "version: 1\nunmapped: deny\n");
    repo.agentgate(["explain", "package.json"])
        .expect(0, &["dependencies: no rule looks at what it declares\n"]);
}

#[test]
fn what_explain_says_of_a_manifest_is_what_check_does() {
    let repo = Repo::new();
    let policy = "version: 1\npayments: {allowed_roots: [payments/], forbidden_imports: [bullmq]}\ndependencies: {allowed: [zod], \
                  forbidden: [redis]}\n";
    repo.change("architecture/invariants.yml", policy);
    let json = repo.agentgate(["explain", "payments/package.json", "--json"]).json();
    repo.write(
        "payments/package.json",
        "{\"dependencies\": {\"zod\": \"1\", \"redis\": \"1\", \"bullmq\": \"1\"}}\n",
    );
    let found = repo.agentgate(["check", "--worktree", "--json"]).json();
    let mut judged: Vec<&str> = found["findings"]
        .as_array()
        .expect("findings")
        .iter()
        .map(|found| found["judged_by"].as_str().expect("a key"))
        .collect();
    judged.sort_unstable();
    judged.dedup();
    let told = &json["dependencies"];
    let forbidden = told["forbidden"]
        .as_array()
        .expect("entries")
        .iter()
        .map(|line| &line["key"]);
    let denied = told["new_denied_by"].as_array().expect("keys").iter();
    let mut keys: Vec<&str> = forbidden
        .chain(denied)
        .map(|key| key.as_str().expect("a key"))
        .collect();
    keys.sort_unstable();
    assert_eq!(judged, keys, "{found:#}");
}

#[test]
fn paths_are_taken_as_they_are_typed() {
    let repo = repo();
    let outcome = repo
        .command(["explain", "../prot/rules.txt"])
        .cwd(repo.root.join("payments"))
        .run();
    outcome.expect(0, &["prot/rules.txt: a file\n"]);
    repo.agentgate(["explain", "payments"])
        .expect(0, &["payments: a folder"]);
    repo.agentgate(["explain", "../outside"])
        .expect(64, &["no path inside"]);
    repo.agentgate(["explain", "."]).expect(64, &[]);
}

#[test]
fn an_import_is_explained_entry_by_entry() {
    let repo = repo();
    let ask = |name: &str, path: &str| repo.agentgate(["explain", "--import", name, "--in", path]);
    ask("redis/client", "payments/a.ts").expect(
        0,
        &[
            "`redis/client` in payments/a.ts (javascript): forbidden (exit 5)\n",
            "compared as: redis | client\n",
            "`redis` [payments.forbidden_imports[0]] forbids it: it is a prefix by whole segments: one store only; use our \
             store instead\n",
            "`bullmq` [payments.forbidden_imports[1]] does not match",
        ],
    );
    ask("redis", "payments/cache/a.ts").expect(0, &["no entry forbids it", "has an exception for this file"]);
    ask("ioredis", "payments/a.ts").expect(0, &["no entry forbids it"]);
    ask("./redis", "payments/a.ts").expect(0, &["the import is relative"]);
    ask("github.com/redis/go-redis/v9", "payments/a.go")
        .expect(0, &["forbidden (exit 5)", "one word names any segment"]);
    ask("redis", "lib/a.ts").expect(0, &["no import rule looks at this file"]);
    ask("redis", "payments/a.txt").expect(64, &["names no language"]);
}

#[test]
fn what_explain_says_of_an_import_is_what_check_does() {
    for (name, path, code) in [
        (
            "redis/client",
            "payments/a.ts",
            format!("import {:?};\n", "redis/client"),
        ),
        ("ioredis", "payments/a.ts", "import 'ioredis';\n".into()),
        ("redis.asyncio", "payments/a.py", "import redis.asyncio\n".into()),
    ] {
        let repo = repo();
        let told = repo
            .agentgate(["explain", "--import", name, "--in", path, "--json"])
            .json();
        repo.write(path, code);
        let exit = repo.agentgate(["check", "--worktree", "--json"]).json()["exit"].clone();
        assert_eq!(told["forbidden"].as_bool(), Some(exit == 5), "{name} {told} {exit}");
    }
}

#[test]
fn a_code_is_explained_by_number_name_or_rule() {
    let repo = repo();
    for word in ["5", "forbidden-import"] {
        repo.agentgate(["explain", word]).expect(
            0,
            &[
                "5 forbidden-import: ",
                "  rule forbidden-import: An import that the area forbids\n    ",
                "  rule dynamic-import: ",
            ],
        );
    }
    let rule = repo.agentgate(["explain", "dynamic-import"]);
    rule.expect(
        0,
        &[
            "5 forbidden-import: ",
            "  rule dynamic-import: An import whose name is computed\n    ",
        ],
    );
    assert!(!rule.stdout.contains("rule forbidden-import:"), "{rule}");
    repo.agentgate(["explain", "13"]).expect(0, &["13 locked: "]);
    // A path of that name can still be meant.
    repo.agentgate(["explain", "./5"]).expect(0, &["5: not in HEAD"]);
    let json = repo.agentgate(["explain", "12", "--json"]).json();
    assert_eq!((&json["code"], &json["name"]), (&12.into(), &"dirty-tree".into()));
}

#[test]
fn the_package_graph_is_explained_as_it_is_judged() {
    let repo = Repo::new();
    repo.write(
        "architecture/invariants.yml",
        "version: 1\npayments: {allowed_roots: [payments/], may_depend_on: [shared], allowed_imports: [lodash]}\nshared: \
         {allowed_roots: [shared/]}\nlegacy: {allowed_roots: [legacy/]}\n",
    );
    repo.write("legacy/rates.ts", "export {};\n");
    repo.write("shared/log.ts", "export {};\n");
    repo.commit("areas");
    let ask = |name: &str| repo.agentgate(["explain", "--import", name, "--in", "payments/a.ts"]);
    ask("../legacy/rates").expect(0, &["forbidden (exit 5)", "[payments.may_depend_on]"]);
    ask("../shared/log").expect(0, &["no entry forbids it"]);
    ask("pandas").expect(0, &["forbidden (exit 5)", "[payments.allowed_imports]"]);
    ask("lodash").expect(0, &["no entry forbids it"]);
    repo.change("payments/a.ts", "import '../legacy/rates';\n");
    ask("../legacy/rates").expect(0, &["not refused, since the file has it in HEAD already"]);
    ask("a b").expect(64, &["is no name that javascript could import"]);
    repo.agentgate(["explain", "payments/a.ts"]).expect(
        0,
        &[
            "other areas that it may import: shared [payments]",
            "packages from outside that it may import: lodash [payments]",
        ],
    );
}

#[test]
fn an_import_that_the_file_has_already_is_said_to_be_old() {
    let repo = Repo::new();
    repo.change("payments/pay.ts", "import 'redis';\n");
    repo.agentgate(["explain", "--import", "redis", "--in", "payments/pay.ts"])
        .expect(0, &["not refused, since the file has it in HEAD already"]);
}

#[test]
fn a_mistyped_code_is_no_path() {
    let repo = Repo::new();
    repo.agentgate(["explain", "forbiden-import"])
        .expect(64, &["did you mean forbidden-import?"]);
    repo.agentgate(["explain", "99"]).expect(64, &["99 is no exit code"]);
    repo.agentgate(["explain", "payments"])
        .expect(0, &["payments: a folder"]);
}

#[test]
fn a_path_may_be_of_any_bytes() {
    use std::ffi::OsStr;
    use std::os::unix::ffi::OsStrExt;
    let repo = repo();
    let path = OsStr::from_bytes(b"payments/\xff.ts");
    repo.agentgate([OsStr::new("explain"), path]).expect(
        0,
        &["payments/\\xff.ts: not in HEAD, javascript", "may be changed: yes"],
    );
    let path = OsStr::from_bytes(b"prot/\xff");
    let json = repo
        .agentgate([OsStr::new("explain"), path, OsStr::new("--json")])
        .json();
    assert_eq!(json["path_b64"], "cHJvdC//", "{json}");
    assert_eq!(json["may_be_changed"], false, "{json}");
    repo.agentgate([OsStr::new("explain"), OsStr::from_bytes(b"/\xff\n")])
        .expect(64, &["/\\xff\\n is no path inside this repository"]);
}

#[test]
fn a_word_that_is_no_rule_and_no_path_is_64_with_what_is_like_it() {
    let repo = repo();
    for (word, told) in [
        (
            "nonexistent-rule-x",
            "agentgate help exit-codes lists the codes, agentgate explain 5 the rules of one",
        ),
        ("import-forbidden", "did you mean forbidden-import?"),
        ("forbiden-import", "did you mean forbidden-import?"),
        ("99", "agentgate help exit-codes"),
    ] {
        let outcome = repo.agentgate(["explain", word]);
        outcome.expect(
            64,
            &[
                &format!("{word} is no exit code, no rule and no path of HEAD"),
                told,
                &format!("agentgate explain ./{word}   # for a path of that name"),
            ],
        );
        repo.agentgate(["explain", &format!("./{word}")])
            .expect(0, &["not in HEAD"]);
    }
    // What could be made, and what is there.
    for path in ["Makefile", "docs", "new-file.ts", "payments/new-folder"] {
        repo.agentgate(["explain", path]).expect(0, &["not in HEAD"]);
    }
    repo.write("my-folder/x", "x\n");
    repo.commit("a folder");
    repo.agentgate(["explain", "my-folder"])
        .expect(0, &["my-folder: a folder"]);
}

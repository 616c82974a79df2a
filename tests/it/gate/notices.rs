//! What is said without being a finding.

use agentgate::gate::{self, Kind, Policy, rules};

use super::{check, file, item, notices, tree_with};

fn unmatched(policy: &str, base: &[super::Item]) -> Vec<String> {
    let base = tree_with(policy, base);
    let verdict = gate::check(&base, &base, None).expect("the gate can judge");
    verdict.notices
}

#[test]
fn an_entry_that_matches_nothing_is_named() {
    let policy = "version: 1\nbilling:\n  allowed_roots: [notifer/, bill/]\n  forbidden_dirs: [infra/async]\n  \
                  forbidden_imports: [redis]\n";
    assert_eq!(
        unmatched(policy, &[file("bill/a", "a")]),
        ["`notifer/` of billing.allowed_roots[0] matches nothing in the base (fine if it is yet to come)"]
    );
    assert_eq!(
        unmatched(policy, &[file("bill/a", "a"), file("notifer/a", "a")]),
        [""; 0]
    );
}

#[test]
fn all_of_them_make_one_notice() {
    let policy = "version: 1\nmust_not_touch: [a, b/, '*.key', docs/**/x, link, '.', c, d, e, f, '*.yml/']\n";
    let base = [file("docs/deep/x", "a"), item("link", Kind::Symlink, "docs")];
    assert_eq!(
        unmatched(policy, &base),
        [
            "`a` of must_not_touch[0], `b/` of must_not_touch[1], `c` of must_not_touch[6], `d` of must_not_touch[7], \
          `e` of must_not_touch[8], `f` of must_not_touch[9], `*.key` of must_not_touch[2], `*.yml/` of must_not_touch[10] match nothing in the base (fine if they are yet to come)"
        ]
    );
}

#[test]
fn a_long_list_says_how_many_more_there_are() {
    let entries: Vec<String> = (0..23).map(|number| format!("x{number:02}")).collect();
    let policy = format!("version: 1\nmust_not_touch: [{}]\n", entries.join(", "));
    let told = unmatched(&policy, &[file("a", "a")]);
    assert_eq!(told.len(), 1, "{told:?}");
    assert!(
        told[0].ends_with(
            "`x19` of must_not_touch[19] and 3 more match nothing in the base (fine if they are yet to come)"
        ),
        "{told:?}"
    );
}

#[test]
fn roots_that_name_folders_make_one_notice() {
    let policy =
        "version: 1\np:\n  allowed_roots: ['packages/*', 'libs/*']\nq:\n  allowed_roots: ['apps/*']\nunmapped: deny\n";
    let base = [
        file("packages/x/a.ts", "a"),
        file("libs/x/a.ts", "a"),
        file("apps/x/a.ts", "a"),
    ];
    assert_eq!(
        unmatched(policy, &base),
        [
            "`packages/*` of p.allowed_roots[0], `libs/*` of p.allowed_roots[1], `apps/*` of q.allowed_roots[0] name folders, \
          not what is in them: write `packages/*/**`, `libs/*/**`, `apps/*/**`"
        ]
    );
}

#[test]
fn a_root_that_names_folders_is_told() {
    let policy = "version: 1\nmust_not_touch: ['sec*']\np:\n  allowed_roots: ['packages/*', 'libs/*', 'apps/*/**']\n  \
                  forbidden_imports: [redis]\n";
    let base = [
        file("packages/x/a.ts", "a"),
        file("libs/a.ts", "a"),
        file("libs/x/a.ts", "a"),
        file("apps/x/a.ts", "a"),
        file("secrets/a", "a"),
    ];
    assert_eq!(
        unmatched(policy, &base),
        ["`packages/*` of p.allowed_roots[0] names folders, not what is in them: write `packages/*/**`"]
    );
}

#[test]
fn source_of_unread_languages_is_counted_where_import_rules_look() {
    for (roots, count) in [("[cmd/]", 2), ("['c*']", 2), ("[lib/]", 0)] {
        let policy = format!("version: 1\np:\n  allowed_roots: {roots}\n  forbidden_imports: [redis]\n");
        let base = tree_with(&policy, &[file("cmd/a", "a"), file("lib/a", "a")]);
        let added = [
            file("cmd/a", "a"),
            file("lib/a", "a"),
            file("cmd/n.zig", "package n\n"),
            file("cmd/n.swift", "use redis;\n"),
        ];
        let verdict = gate::check(&base, &tree_with(&policy, &added), None).expect("the gate can judge");
        let expect = "2 changed files of kinds whose imports this version does not read: .swift, .zig";
        let told = verdict.notices.iter().filter(|notice| *notice == expect).count();
        assert_eq!(told * 2, count, "{roots}: {:?}", verdict.notices);
    }
}

#[test]
fn a_policy_of_another_tree_is_not_compared() {
    let newer = tree_with("version: 1\nmust_not_touch: [later]\n", &[]);
    let base = tree_with("version: 1\nmust_not_touch: [now]\n", &[file("now", "a")]);
    let policy = Policy::of(&newer).expect("the policy is sound");
    let verdict = rules::judge(&policy, &base, &base, None).expect("the gate can judge");
    assert_eq!(verdict.notices, [""; 0]);
    let single = rules::judge_commit(&policy, &newer, &newer).expect("the gate can judge");
    assert_eq!(single.notices, [""; 0]);
}

#[test]
fn computed_imports_are_counted_in_a_notice() {
    let verdict = check(
        &[],
        &[file(
            "payments/a.ts",
            "import(name);\nconst a = import(b + c);\nrequire(\"x\");\n",
        )],
    );
    assert_eq!(verdict.findings, []);
    assert_eq!(
        notices(&verdict),
        ["`payments/a.ts`: 2 dynamic imports whose argument is computed; no rule can look at them"]
    );
}

#[test]
fn an_import_taken_for_an_own_package_is_said_aloud() {
    let own = file("redis/__init__.py", "");
    let verdict = check(
        std::slice::from_ref(&own),
        &[own.clone(), file("payments/a.py", "import redis.x\n")],
    );
    assert_eq!(verdict.findings, []);
    assert_eq!(
        notices(&verdict),
        [
            "`payments/a.py`: `redis.x` is taken for this repository's own package, which `redis` of \
          payments.forbidden_imports[0] does not name"
        ]
    );
}

#[test]
fn an_installed_package_goes_before_a_python_folder_that_is_no_package() {
    let import = file("payments/a.py", "import redis\n");
    for own in [
        "redis/healthcheck.py",
        "src/redis/healthcheck.py",
        "redis/__init__.pyi",
        "redis.pyi",
        "svc/pyproject.toml svc/redis.py",
        "svc/pyproject.toml svc/src/redis/__init__.py",
    ] {
        let own: Vec<_> = own.split(' ').map(|path| file(path, "")).collect();
        let verdict = check(&own, &[&own[..], std::slice::from_ref(&import)].concat());
        let exits: Vec<_> = verdict.findings.iter().map(|found| found.rule.code()).collect();
        assert_eq!(exits, ["forbidden-import"], "{own:?}");
    }
    for own in [
        "redis.py",
        "src/redis.py",
        "src/redis/__init__.py",
        "payments/setup.py payments/redis.py",
    ] {
        let own: Vec<_> = own.split(' ').map(|path| file(path, "")).collect();
        let verdict = check(&own, &[&own[..], std::slice::from_ref(&import)].concat());
        assert_eq!(verdict.findings, [], "{own:?}");
    }
}

#[test]
fn paths_without_an_area_are_counted() {
    let one = check(&[], &[file("lib/a", "a"), file("payments/a", "a")]);
    assert_eq!(
        notices(&one),
        ["1 changed path belongs to no area; no import rule looked at it"]
    );
    let two = check(&[file("b", "b")], &[file("lib/a", "a")]);
    assert_eq!(
        notices(&two),
        ["2 changed paths belong to no area; no import rule looked at them"]
    );
    assert_eq!(two.paths_checked, 2);
}

//! New dependencies in files that only other files make manifests, and in those that are not read.

use agentgate::gate::{self, Kind, Verdict};
use agentgate::task::Task;

use super::{Item, file, item, lines, notices, tree, tree_with};

fn check(base: &[Item], head: &[Item]) -> Verdict {
    let task = Task::parse(b"Goal: x\nNon-goals: new dependencies\n").expect("the task is sound");
    gate::check(&tree(base), &tree(head), Some(&task)).expect("the gate can judge")
}

/// The base with the last of its files changed.
fn changed(base: &[Item], content: &str) -> Verdict {
    let mut head = base.to_vec();
    head.last_mut().expect("a file").2 = content.as_bytes().to_vec();
    check(base, &head)
}

#[test]
fn a_file_that_requirements_include_is_read() {
    for (from, line) in [
        ("requirements.txt", "-r lib/b.txt"),
        ("lib/requirements.txt", "-r ./b.txt"),
        ("lib/requirements/dev.in", "--pre --requirement=../b.txt"),
        ("lib/requirements.txt", "-c ../chain"),
    ] {
        let base = [
            file(from, format!("{line}\n")),
            file("chain", "-r lib/b.txt\n"),
            file("lib/b.txt", "django\n"),
        ];
        let verdict = changed(&base, "django\nredis\n");
        assert_eq!(
            lines(&verdict),
            ["new-dependency lib/b.txt:2 task: Non-goals"],
            "{from} {line}"
        );
    }
}

#[test]
fn what_nothing_includes_or_what_only_bounds_versions_is_no_manifest() {
    let alone = [file("requirements.txt", "a\n"), file("lib/b.txt", "a\n")];
    assert_eq!(changed(&alone, "redis\n").findings, []);
    let bounds = [file("requirements.txt", "-c lib/b.txt\n"), file("lib/b.txt", "a\n")];
    assert_eq!(changed(&bounds, "a\nredis==1\n").findings, []);
    let outside = [
        file("requirements.txt", "-r ../../b.txt\n-r b.txt\n"),
        file("lib/b.txt", "a\n"),
    ];
    assert_eq!(changed(&outside, "redis\n").findings, []);
}

#[test]
fn files_that_include_each_other_end() {
    let base = [
        file("requirements.txt", "-r a\n"),
        file("a", "-r requirements.txt\n-r b\n"),
        file("b", "-r a\n"),
    ];
    assert_eq!(
        lines(&changed(&base, "-r a\nredis\n")),
        [
            "new-dependency b:2 task: Non-goals",
            "forbidden-dependency b:2 payments.forbidden_imports[0]"
        ]
    );
}

#[test]
fn a_file_of_dynamic_dependencies_is_read() {
    let manifest = "[project]\ndynamic = [\"dependencies\"]\n[tool.setuptools.dynamic]\n\
                    dependencies = { file = [\"deps.txt\"] }\n";
    let base = [file("lib/pyproject.toml", manifest), file("lib/deps.txt", "a\n")];
    assert_eq!(
        lines(&changed(&base, "a\nredis\n")),
        ["new-dependency lib/deps.txt:2 task: Non-goals"]
    );
}

#[test]
fn a_comment_with_a_backslash_hides_nothing() {
    let base = [file("requirements.txt", "a\n")];
    assert_eq!(
        lines(&changed(&base, "a\n# x \\\nredis\n")),
        [
            "new-dependency requirements.txt:3 task: Non-goals",
            "forbidden-dependency requirements.txt:3 payments.forbidden_imports[0]"
        ]
    );
}

#[test]
fn a_manifest_that_is_not_read_is_said_to_be_so() {
    let verdict = check(&[], &[file("payments/pubspec.yaml", "x"), file("payments/Podfile", "")]);
    assert_eq!(verdict.findings, []);
    assert_eq!(
        notices(&verdict),
        ["Podfile", "pubspec.yaml"].map(|name| format!(
            "`payments/{name}` changed; new dependencies in it were not looked for, since this version does not read it"
        ))
    );
}

const DENY: &str = "version: 1\ndependencies: {new: deny, forbidden: [redis]}\n";
const FORBIDDEN: &str = "version: 1\ndependencies: {forbidden: [redis]}\n";

fn by_policy(policy: &str, base: &[Item], head: &[Item]) -> Verdict {
    gate::check(&tree_with(policy, base), &tree_with(policy, head), None).expect("the gate can judge")
}

#[test]
fn a_manifest_that_is_not_read_is_a_warning_where_new_names_are_refused() {
    let verdict = by_policy(DENY, &[], &[file("mix.exs", "x")]);
    assert_eq!(verdict.findings, []);
    let said: Vec<String> = verdict
        .warnings
        .iter()
        .map(|warning| format!("{} {}", warning.judged_by, warning.message))
        .collect();
    assert_eq!(
        said,
        ["dependencies.new changed; new dependencies in it were not looked for, since this version does not read it"]
    );
    assert!(!agentgate::gate::render::text(&verdict).contains("hint:"));
}

#[test]
fn a_computed_name_is_refused_or_told() {
    let (base, head) = ([file("Gemfile", "gem x\n")], [file("Gemfile", "gem x\n\ngem y\n")]);
    let verdict = by_policy(DENY, &base, &head);
    assert_eq!(lines(&verdict), ["new-dependency Gemfile:3 dependencies.new"]);
    assert_eq!(
        verdict.findings[0].message,
        "a dependency whose name is computed, `gem y`"
    );
    let verdict = by_policy(FORBIDDEN, &base, &head);
    assert_eq!(verdict.findings, []);
    assert_eq!(
        notices(&verdict),
        [
            "`Gemfile`: 1 dependency whose name is computed, which no rule can look at",
            "`Gemfile` changed; names in it are computed, as in the base, so that new ones may not be seen"
        ]
    );
}

#[test]
fn a_byte_order_mark_and_a_link_hide_nothing() {
    let verdict = by_policy(
        FORBIDDEN,
        &[file("app/x", "")],
        &[
            file("app/x", ""),
            file("package.json", "\u{feff}{\"dependencies\": {\"redis\": \"1\"}}"),
            file(
                "app/x.csproj",
                "\u{feff}<Project>\n<PackageReference Include=\"redis\" /></Project>",
            ),
            item("pom.xml", Kind::Symlink, "package.json"),
        ],
    );
    assert_eq!(
        lines(&verdict),
        [
            "forbidden-dependency app/x.csproj:2 dependencies.forbidden[0]",
            "forbidden-dependency package.json:1 dependencies.forbidden[0]",
            "uninspectable pom.xml dependencies",
        ]
    );
}

#[test]
fn an_address_that_holds_a_forbidden_name_is_refused() {
    let verdict = by_policy(
        DENY,
        &[file("package.json", "{\"dependencies\": {\"cache\": \"1\"}}")],
        &[file(
            "package.json",
            "{\"dependencies\": {\"cache\": \"github:x/redis\"}}",
        )],
    );
    assert_eq!(
        lines(&verdict),
        ["forbidden-dependency package.json:1 dependencies.forbidden[0]"]
    );
    assert_eq!(
        verdict.findings[0].message,
        "new dependency `redis` (from `github:x/redis`), which is forbidden"
    );
}

#[test]
fn a_pnpm_catalog_says_what_a_name_is() {
    let catalog = file("pnpm-workspace.yaml", "catalog:\n  cache: npm:redis@4\n");
    let verdict = by_policy(
        FORBIDDEN,
        &[catalog.clone(), file("a/package.json", "{}")],
        &[
            catalog,
            file("a/package.json", "{\"dependencies\": {\"cache\": \"catalog:\"}}"),
        ],
    );
    assert_eq!(
        lines(&verdict),
        ["forbidden-dependency a/package.json:1 dependencies.forbidden[0]"]
    );
}

#[test]
fn rules_that_meet_on_one_name_are_all_told() {
    let task = Task::parse(b"Goal: x\nNon-goals: new dependencies\n").expect("the task is sound");
    let policy = "version: 1\ndependencies: {new: deny, forbidden: [redis]}\na: {forbidden_imports: [redis]}\n";
    let head = [file("go.mod", "require github.com/redis/x v1\n")];
    let verdict = gate::check(&tree_with(policy, &[]), &tree_with(policy, &head), Some(&task));
    assert_eq!(
        lines(&verdict.expect("the gate can judge")),
        [
            "new-dependency go.mod:1 dependencies.new",
            "new-dependency go.mod:1 task: Non-goals",
            "forbidden-dependency go.mod:1 a.forbidden_imports[0]",
            "forbidden-dependency go.mod:1 dependencies.forbidden[0]",
        ]
    );
}

#[test]
fn twenty_thousand_new_names_are_told_in_time() {
    let names: Vec<String> = (0..20_000).map(|at| format!("\"p{at}\": \"1\"")).collect();
    let text = format!("{{\"dependencies\": {{\n{}\n}}}}", names.join(",\n"));
    let verdict = by_policy(DENY, &[], &[file("package.json", text)]);
    assert_eq!(verdict.findings.len(), 20_000);
}

#[test]
fn a_list_behind_a_computed_name_is_told_when_its_file_changes() {
    let (before, after) = (
        "NAMES = listed(a)\nsetup(install_requires=NAMES)\n",
        "NAMES = listed(a, b)\nsetup(install_requires=NAMES)\n",
    );
    // What a name stands for is as good as written in the list.
    let (plain, more) = (
        "N = ['a']\nsetup(install_requires=N)\n",
        "N = ['a', 'b']\nsetup(install_requires=N)\n",
    );
    let verdict = by_policy(DENY, &[file("setup.py", plain)], &[file("setup.py", more)]);
    assert_eq!(lines(&verdict), ["new-dependency setup.py:1 dependencies.new"]);
    let verdict = by_policy(DENY, &[file("setup.py", before)], &[file("setup.py", after)]);
    assert_eq!(verdict.findings, []);
    assert_eq!(
        verdict.warnings[0].message,
        "changed; names in it are computed, as in the base, so that new ones may not be seen"
    );
}

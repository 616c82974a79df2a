//! New dependencies in files that only other files make manifests, and in those that are not read.

use agentgate::gate::{self, Verdict};
use agentgate::task::Task;

use super::{Item, file, lines, notices, tree};

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
        ["new-dependency b:2 task: Non-goals"]
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
        ["new-dependency requirements.txt:3 task: Non-goals"]
    );
}

#[test]
fn a_manifest_that_is_not_read_is_said_to_be_so() {
    let verdict = check(&[], &[file("payments/setup.py", "x"), file("payments/Pipfile", "")]);
    assert_eq!(verdict.findings, []);
    assert_eq!(
        notices(&verdict),
        ["Pipfile", "setup.py"].map(|name| format!(
            "`payments/{name}` changed; new dependencies in it were not looked for, since this version does not read it"
        ))
    );
}

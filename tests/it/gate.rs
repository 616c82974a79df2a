//! The gate over trees in memory: every case of `fixtures/gate`, and by code what a folder of
//! fixtures cannot hold (names that are not UTF-8, case twins, submodule links, control bytes).

mod autoexec;
mod commits;
mod content;
mod dependencies;
mod notices;
mod own;
mod repositories;
mod task;
mod through_git;

use agentgate::exit::Exit;
use agentgate::gate::{self, GateError, Kind, Rule, Tree, Verdict};
use agentgate::task::Task;

use crate::support::memtree::{Case, Item, MemTree, cases};

const POLICY: &str = "version: 1
payments:
  allowed_roots: [payments/]
  forbidden_imports: [redis]
  forbidden_dirs: [infra/async]
must_not_touch: [scripts/invariants.sh, secrets]
max_new_top_level_dirs: 9
";

fn file(path: impl AsRef<[u8]>, content: impl AsRef<[u8]>) -> Item {
    (path.as_ref().to_vec(), Kind::File, content.as_ref().to_vec())
}

fn item(path: &str, kind: Kind, content: &str) -> Item {
    (path.into(), kind, content.into())
}

/// A tree with the policy in it.
fn tree(items: &[Item]) -> MemTree {
    tree_with(POLICY, items)
}

fn tree_with(policy: &str, items: &[Item]) -> MemTree {
    let mut all = vec![file("architecture/invariants.yml", policy)];
    all.extend_from_slice(items);
    MemTree::new(&all)
}

fn check(base: &[Item], head: &[Item]) -> Verdict {
    gate::check(&tree(base), &tree(head), None).expect("the gate can judge")
}

/// Its notices but for the one about entries that match nothing, which these small trees all get.
fn notices(verdict: &Verdict) -> Vec<&str> {
    let notices = verdict.notices.iter().map(String::as_str);
    notices
        .filter(|notice| !notice.contains("in the base (fine if"))
        .collect()
}

/// `rule path[:line[:col]] judged_by`, one line a finding.
fn lines(verdict: &Verdict) -> Vec<String> {
    let line = |finding: &gate::Finding| {
        let path = match std::str::from_utf8(&finding.path) {
            Ok(path) if !path.contains(char::is_control) => path.to_string(),
            _ => finding.path.escape_ascii().to_string(),
        };
        let line = finding.line.map(|line| format!(":{line}")).unwrap_or_default();
        let column = finding.column.map(|column| format!(":{column}")).unwrap_or_default();
        format!("{} {path}{line}{column} {}", finding.rule.code(), finding.judged_by)
    };
    verdict.findings.iter().map(line).collect()
}

/// What a case gives, in the form of its `expect.txt`.
fn outcome(case: &Case) -> String {
    judged(case, &MemTree::new(&case.base), &MemTree::new(&case.head))
}

/// The same for two trees that hold what the case says, wherever their objects lie.
fn judged(case: &Case, base: &dyn Tree, head: &dyn Tree) -> String {
    let task = case
        .task
        .as_ref()
        .map(|bytes| Task::parse(bytes).expect("the task of a fixture is sound"));
    let (exit, lines) = match gate::check(base, head, task.as_ref()) {
        Ok(verdict) => (verdict.exit(), lines(&verdict)),
        Err(error) => (error.exit(), Vec::new()),
    };
    let mut text = format!("{}\n", exit.code());
    lines.iter().for_each(|line| text.extend([line, "\n"]));
    text
}

#[test]
fn every_fixture_gets_its_verdict() {
    let cases = cases();
    assert!(cases.len() >= 40, "only {} cases were found", cases.len());
    let wrong: Vec<String> = cases
        .iter()
        .map(|case| (case, outcome(case)))
        .filter(|(case, got)| case.expect != *got)
        .map(|(case, got)| format!("== {}\n-- expected\n{}-- got\n{got}", case.name, case.expect))
        .collect();
    assert!(wrong.is_empty(), "{} cases differ\n{}", wrong.len(), wrong.join("\n"));
}

#[test]
fn messages_are_one_line_and_carry_no_raw_control() {
    let nasty = "payments/\u{202e}\n\x1b[2Jx.ts";
    let verdict = check(
        &[],
        &[
            file(nasty, "import \"redis\";\n"),
            item("payments/l", Kind::Symlink, "/a\n\u{202e}"),
        ],
    );
    assert_eq!(verdict.exit(), Exit::ForbiddenImport);
    for text in verdict
        .findings
        .iter()
        .flat_map(|f| [&f.message, &f.hint])
        .chain(&verdict.notices)
    {
        assert!(!text.contains(|c: char| c.is_control() || c == '\u{202e}'), "{text:?}");
        assert!(!text.is_empty() && !text.ends_with('.'), "{text:?}");
    }
}

#[test]
fn names_that_are_not_utf8_are_matched_as_bytes() {
    let verdict = check(
        &[],
        &[
            file(b"secrets/\xff\xfe", "a"),
            file(b"infra/async/\xff \"'\n", "a"),
            file(b"\xff", "a"),
        ],
    );
    assert_eq!(
        lines(&verdict),
        [
            r"protected-path secrets/\xff\xfe must_not_touch[1]",
            r#"forbidden-directory infra/async/\xff \"\'\n payments.forbidden_dirs[0]"#,
        ]
    );
}

#[test]
fn a_submodule_link_in_the_place_of_a_protected_file() {
    let verdict = check(
        &[file("scripts/invariants.sh", "exit 1")],
        &[item("scripts/invariants.sh", Kind::Submodule, "c1")],
    );
    assert_eq!(
        lines(&verdict),
        [
            "protected-path scripts/invariants.sh must_not_touch[0]",
            "uninspectable scripts/invariants.sh built-in: submodule links",
        ]
    );
}

#[test]
fn a_moved_submodule_link_below_a_protected_folder() {
    let (old, new) = (
        item("secrets/s", Kind::Submodule, "c1"),
        item("secrets/s", Kind::Submodule, "c2"),
    );
    let verdict = check(&[old], &[new]);
    assert_eq!(verdict.exit(), Exit::ProtectedPath);
    assert_eq!(verdict.findings.len(), 2);
}

#[test]
fn a_new_submodule_link_in_the_root_is_a_new_top_level_directory() {
    let policy = "version: 1\nmax_new_top_level_dirs: 0\n";
    let base = tree_with(policy, &[]);
    let head = tree_with(policy, &[item("lib2", Kind::Submodule, "c1")]);
    let verdict = gate::check(&base, &head, None).expect("the gate can judge");
    assert_eq!(verdict.exit(), Exit::NewTopLevelDirectory);
    assert_eq!(
        lines(&verdict),
        [
            "new-top-level-directory lib2 max_new_top_level_dirs",
            "uninspectable lib2 built-in: submodule links",
        ]
    );
}

#[test]
fn a_link_in_the_root_is_no_directory_but_is_named() {
    let policy = "version: 1\nmax_new_top_level_dirs: 0\n";
    let base = tree_with(policy, &[file("src/a", "a")]);
    let head = tree_with(policy, &[file("src/a", "a"), item("cur", Kind::Symlink, "src")]);
    let verdict = gate::check(&base, &head, None).expect("the gate can judge");
    assert_eq!(verdict.findings, []);
    assert_eq!(
        notices(&verdict),
        ["`cur` is a new symlink in the root; it is not counted as a directory"]
    );
}

#[test]
fn twins_of_protected_paths_are_protected() {
    let verdict = check(&[], &[file("Secrets/new.txt", "a"), file("scripts/INVARIANTS.sh", "a")]);
    assert_eq!(
        lines(&verdict),
        [
            "protected-path Secrets/new.txt must_not_touch[1]",
            "protected-path scripts/INVARIANTS.sh must_not_touch[0]",
        ]
    );
    assert!(
        verdict.findings[0]
            .message
            .contains("case or Unicode twin of a protected path")
    );
}

#[test]
fn a_twin_of_an_area_is_read_for_imports() {
    let verdict = check(
        &[file("lib/a", "a")],
        &[file("lib/a", "a"), file("Payments/q.js", "require(\"redis\");\n")],
    );
    assert_eq!(verdict.findings.len(), 1);
    assert_eq!(verdict.findings[0].rule, Rule::ForbiddenImport);
}

#[test]
fn a_source_file_too_large_to_read_is_uninspectable() {
    let large = " ".repeat(10 * 1024 * 1024) + "\nimport \"redis\";\n";
    let verdict = check(&[], &[file("payments/a.ts", large)]);
    assert_eq!(
        lines(&verdict),
        ["uninspectable payments/a.ts payments.forbidden_imports"]
    );
}

#[test]
fn a_specifier_of_a_megabyte_is_cut_short_in_messages() {
    let long = format!("import \"redis/{}\";\n", "x".repeat(1_000_000));
    let verdict = check(&[], &[file("payments/a.ts", long)]);
    assert_eq!(verdict.exit(), Exit::ForbiddenImport);
    assert!(verdict.findings[0].message.len() < 400);
}

#[test]
fn a_change_of_many_and_deep_paths_is_judged_whole() {
    let deep = "d/".repeat(300);
    let head: Vec<Item> = (0..5000)
        .map(|n| file(format!("lib/{}/{n}.ts", n % 70), "import \"./x\";\n"))
        .chain((0..50).map(|n| file(format!("lib/{deep}{n}"), "a")))
        .collect();
    assert_eq!(check(&[], &head).paths_checked, 5050);
}

#[test]
fn three_hundred_violations_are_all_reported_in_a_stable_order() {
    let head: Vec<Item> = (0..300).map(|n| file(format!("secrets/{n:03}"), "a")).collect();
    let verdict = check(&[], &head);
    assert_eq!(verdict.findings.len(), 300);
    assert_eq!(verdict.broken_paths(), 300);
    assert_eq!(verdict, check(&[], &head));
    assert!(verdict.findings.is_sorted_by_key(|finding| finding.path.clone()));
}

#[test]
fn what_cannot_be_read_is_an_error_and_never_a_pass() {
    let items = [file("payments/a.ts", "import \"redis\";\n")];
    let mut head = tree(&items);
    head.lose(&items[0].2);
    let error = gate::check(&tree(&[]), &head, None).expect_err("a lost blob cannot be judged");
    assert!(matches!(error, GateError::Unreadable(_)));
    assert_eq!(error.exit(), Exit::PolicyUnusable);
}

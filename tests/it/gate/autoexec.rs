//! Files that run by themselves later. What a folder of fixtures cannot hold, and the words.

use agentgate::exit::Exit;
use agentgate::gate::{self, Kind, Policy, Verdict, render, rules};

use super::{Item, file, item, lines, tree_with};

const DENY: &str = "version: 1\nautoexec: deny\nmax_new_top_level_dirs: 9\n";
const WARN: &str = "version: 1\nmax_new_top_level_dirs: 9\n";

fn check(policy: &str, base: &[Item], head: &[Item]) -> Verdict {
    gate::check(&tree_with(policy, base), &tree_with(policy, head), None).expect("the gate can judge")
}

/// `path judged_by message`, one line a warning.
fn warned(verdict: &Verdict) -> Vec<String> {
    let line = |w: &gate::Warning| format!("{} [{}] {}", w.path.escape_ascii(), w.judged_by, w.message);
    verdict.warnings.iter().map(line).collect()
}

#[test]
fn every_kind_of_change_counts() {
    let envrc = || file(".envrc", "a");
    let cases: &[(&str, Vec<Item>, Vec<Item>)] = &[
        ("added (file), and it is run by direnv on cd", vec![], vec![envrc()]),
        ("deleted, and it is run by direnv on cd", vec![envrc()], vec![]),
        (
            "changed (file mode), and it is run by direnv on cd",
            vec![envrc()],
            vec![item(".envrc", Kind::Executable, "a")],
        ),
        (
            "replaced by a symlink, and it is run by direnv on cd",
            vec![envrc()],
            vec![item(".envrc", Kind::Symlink, "b")],
        ),
    ];
    for (message, base, head) in cases {
        let denied = check(DENY, base, head);
        let of_rule: Vec<&str> = denied
            .findings
            .iter()
            .filter(|found| found.judged_by == "autoexec: **/.envrc")
            .map(|found| found.message.as_str())
            .collect();
        assert_eq!(of_rule, [*message]);
        assert_eq!(
            (denied.exit(), denied.warnings.as_slice()),
            (Exit::ProtectedPath, &[][..])
        );
        let told = check(WARN, base, head);
        assert_eq!(warned(&told), [format!(".envrc [autoexec: **/.envrc] {message}")]);
        assert!(
            told.findings
                .iter()
                .all(|found| found.rule != gate::Rule::ProtectedPath)
        );
    }
}

#[test]
fn what_is_put_on_the_way_to_such_a_file() {
    // A plain file leaves no folder, so that only the deletion counts; a link can bring one in.
    let base = [file(".github/workflows/ci.yml", "on: push\n"), file("x/w", "a")];
    let file_there = check(DENY, &base, &[file(".github", "a"), file("x/w", "a")]);
    assert_eq!(
        lines(&file_there),
        ["protected-path .github/workflows/ci.yml autoexec: .github/workflows/**"]
    );
    let link_there = check(DENY, &base, &[item(".github", Kind::Symlink, "x"), file("x/w", "a")]);
    assert_eq!(link_there.findings.len(), 2);
    assert!(
        link_there.findings[0]
            .message
            .contains("added (symlink) on the way to `"),
        "{link_there:?}"
    );
    let module = check(DENY, &[], &[item("web/.husky", Kind::Submodule, "c1")]);
    assert_eq!(lines(&module)[0], "protected-path web/.husky autoexec: **/.husky/**");
}

#[test]
fn gits_own_files_count_and_twins_are_told() {
    let head = [
        file(".gitmodules", "a"),
        file("web/.gitattributes", "* text\n"),
        file("Claude.MD", "a"),
        file(".ｖscode/tasks.json", "a"),
    ];
    let verdict = check(DENY, &[], &head);
    assert_eq!(
        lines(&verdict),
        [
            "protected-path .gitmodules autoexec: .gitmodules",
            "protected-path .ｖscode/tasks.json autoexec: **/.vscode/tasks.json",
            "protected-path Claude.MD autoexec: **/CLAUDE.md",
            "protected-path web/.gitattributes autoexec: **/.gitattributes",
        ]
    );
    assert_eq!(
        verdict.findings[2].message,
        "added (file): case or Unicode twin of `**/CLAUDE.md`, read by claude at start"
    );
    assert!(verdict.findings[2].hint.starts_with("delete it, or ask"));
}

#[test]
fn a_protected_path_is_no_warning_too() {
    let policy = format!("{WARN}must_not_touch: [.envrc]\n");
    let verdict = check(&policy, &[], &[file(".envrc", "a"), file("b/.envrc", "a")]);
    assert_eq!(lines(&verdict), ["protected-path .envrc must_not_touch[0]"]);
    assert_eq!(warned(&verdict).len(), 1, "{verdict:?}");
    // A newer policy that is stricter goes before an older one that only warns.
    let (base, head) = (tree_with(WARN, &[]), tree_with(WARN, &[file(".envrc", "a")]));
    let mut both = gate::check(&base, &head, None).expect("the gate can judge");
    let newer = Policy::of(&tree_with(DENY, &[])).expect("the policy is sound");
    both.merge(rules::judge(&newer, &base, &head, None).expect("the gate can judge"));
    assert_eq!(lines(&both), ["protected-path .envrc autoexec: **/.envrc"]);
    assert_eq!(both.warnings, []);
}

#[test]
fn a_commit_by_itself_is_looked_at() {
    let policy = Policy::of(&tree_with(DENY, &[])).expect("the policy is sound");
    let (parent, commit) = (tree_with(DENY, &[]), tree_with(DENY, &[file(".envrc", "a")]));
    let verdict = rules::judge_commit(&policy, &parent, &commit).expect("the gate can judge");
    assert_eq!(lines(&verdict), ["protected-path .envrc autoexec: **/.envrc"]);
}

#[test]
fn warnings_stand_before_notices_and_are_cut_short_only_in_the_text() {
    let head: Vec<Item> = (0..30).map(|n| file(format!(".claude/{n:02}"), "a")).collect();
    let policy = format!("{WARN}p: {{allowed_roots: [p/], forbidden_imports: [x]}}\n");
    let verdict = check(&policy, &[], &head);
    assert_eq!(verdict.exit(), Exit::Ok);
    let text = render::text(&verdict);
    let at = |what: &str| text.find(what).unwrap_or_else(|| panic!("{what}\n{text}"));
    assert!(text.starts_with(
        "warning: .claude/00: added (file), and it is run by claude at start [autoexec: **/.claude/**]\n"
    ));
    assert_eq!(text.matches("warning: .claude").count(), 20);
    assert!(at("warning: and 10 more such files\n") < at("hint: ") && at("hint: ") < at("note: "));
    let json = render::json(&verdict);
    assert_eq!(json["warnings"].as_array().map(Vec::len), Some(30));
    assert_eq!(json["warnings"][3]["path"], ".claude/03");
    assert_eq!(json["warnings"][3]["judged_by"], "autoexec: **/.claude/**");
}

#[test]
fn a_name_that_forges_a_line_is_escaped() {
    let verdict = check(WARN, &[], &[file(b".claude/\n\xff", "a")]);
    assert!(render::text(&verdict).starts_with("warning: .claude/\\n\\xff: added (file)"));
    assert_eq!(render::json(&verdict)["warnings"][0]["path_b64"], "LmNsYXVkZS8K/w==");
}

/// What the README names as files that run by themselves, the gate knows.
#[test]
fn the_readme_names_files_that_autoexec_knows() {
    let readme = include_str!("../../../README.md");
    let begin = readme.find("`autoexec` knows").expect("the paragraph");
    let paragraph = &readme[begin..readme[begin..].find("\n\n").map_or(readme.len(), |end| begin + end)];
    let words: Vec<&str> = paragraph.split('`').skip(1).step_by(2).collect();
    let (not, known): (Vec<&str>, Vec<&str>) = words
        .into_iter()
        .filter(|word| !matches!(*word, "autoexec" | "src/gate/autoexec.rs"))
        .partition(|word| matches!(*word, "package.json" | "conftest.py"));
    assert!(known.len() > 20 && not.len() == 2, "{known:?} {not:?}");
    let is_known = |word: &&str| agentgate::gate::autoexec::find(word.trim_end_matches('/').as_bytes()).is_some();
    assert!(known.iter().all(is_known), "{known:?}");
    assert!(!not.iter().any(is_known), "{not:?}");
}

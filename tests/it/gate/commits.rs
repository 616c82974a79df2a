//! The commits of a range, one by one.

use agentgate::gate::{Kind, Policy, Tree, rules};

use super::{Item, file, item, lines, tree};

#[test]
fn a_commit_by_itself_is_judged_for_protected_paths_and_content_only() {
    let parent = tree(&[]);
    let commit = tree(&[
        file("secrets/key", "a"),
        file("infra/async/x.ts", "import \"redis\";\n"),
        item("lib/l", Kind::Symlink, "/etc"),
    ]);
    let policy = Policy::of(&parent).expect("the policy is sound");
    let verdict = rules::judge_commit(&policy, &parent, &commit).expect("the gate can judge");
    assert_eq!(
        lines(&verdict),
        [
            "protected-path secrets/key must_not_touch[1]",
            "uninspectable lib/l built-in: symlinks"
        ]
    );
    assert_eq!(verdict.policies, [policy.id.to_string()]);
}

#[test]
fn a_merge_answers_only_for_what_differs_from_all_parents() {
    let ours = tree(&[file("secrets/a", "1"), file("lib/x", "ours")]);
    let theirs = tree(&[file("secrets/a", "2"), file("lib/x", "theirs")]);
    let policy = Policy::of(&ours).expect("the policy is sound");
    let merged = |items: &[Item]| {
        let merge = tree(items);
        let parents: [&dyn Tree; 2] = [&ours, &theirs];
        rules::judge_merge(&policy, &parents, &merge).expect("the gate can judge")
    };
    assert_eq!(merged(&[file("secrets/a", "2"), file("lib/x", "both")]).findings, []);
    assert_eq!(
        merged(&[file("secrets/a", "2"), file("lib/x", "both")]).paths_checked,
        1
    );
    assert_eq!(
        lines(&merged(&[file("secrets/a", "3")])),
        ["protected-path secrets/a must_not_touch[1]"]
    );
    assert_eq!(lines(&merged(&[])), ["protected-path secrets/a must_not_touch[1]"]);
    assert!(rules::judge_merge(&policy, &[], &ours).is_err());
}

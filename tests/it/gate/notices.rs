//! Entries of the policy that match nothing in the base.

use agentgate::gate::{self, Kind, Policy, rules};

use super::{file, item, tree_with};

fn notices(policy: &str, base: &[super::Item]) -> Vec<String> {
    let base = tree_with(policy, base);
    let verdict = gate::check(&base, &base, None).expect("the gate can judge");
    verdict.notices
}

#[test]
fn an_entry_that_matches_nothing_is_named() {
    let policy = "version: 1\nbilling:\n  allowed_roots: [notifer/, bill/]\n  forbidden_dirs: [infra/async]\n  \
                  forbidden_imports: [redis]\n";
    assert_eq!(
        notices(policy, &[file("bill/a", "a")]),
        ["`notifer/` of billing.allowed_roots[0] matches nothing in the base (fine if it is yet to come)"]
    );
    assert_eq!(notices(policy, &[file("bill/a", "a"), file("notifer/a", "a")]), [""; 0]);
}

#[test]
fn all_of_them_make_one_notice() {
    let policy = "version: 1\nmust_not_touch: [a, b/, '*.key', docs/**/x, link, '.', c, d, e, f, '*.yml/']\n";
    let base = [file("docs/deep/x", "a"), item("link", Kind::Symlink, "docs")];
    assert_eq!(
        notices(policy, &base),
        [
            "`a` of must_not_touch[0], `b/` of must_not_touch[1], `c` of must_not_touch[6], `d` of must_not_touch[7], \
          `e` of must_not_touch[8] and 3 more match nothing in the base (fine if they are yet to come)"
        ]
    );
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

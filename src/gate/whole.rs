//! The judgement of a whole tree: what is in it, whoever put it there.
//!
//! Invariant: rules about what a tree holds apply to every file of it, as if all of it were new;
//! rules about what a change does (protected paths, new folders, sizes, scope of a task) have no
//! meaning here and are left out.

use super::policy::Stance;
use super::survey::{Survey, Wants};
use super::tree::{Nothing, difference};
use super::{Extent, GateError, Policy, Tree, Verdict, content, lines, manifests, rules};

/// Judges everything in the tree by the policy that lies in it.
///
/// # Errors
/// No usable policy, or an object that cannot be read.
pub fn check(tree: &dyn Tree) -> Result<Verdict, GateError> {
    judge(&Policy::of(tree)?, tree)
}

/// Judges everything in the tree by the given policy.
///
/// # Errors
/// An object that cannot be read.
pub fn judge(policy: &Policy, tree: &dyn Tree) -> Result<Verdict, GateError> {
    let all = difference(&Nothing, tree)?;
    let changes = &all.changes;
    let mut verdict = Verdict {
        extent: Extent::Tree,
        paths_checked: changes.len(),
        policies: vec![policy.id.to_string()],
        ..Verdict::default()
    };
    // No name is new in a whole tree; the forbidden ones are there or not.
    let mut standing = policy.clone();
    if let Some(dependencies) = &mut standing.dependencies {
        dependencies.new = Stance::Allow;
        dependencies.allowed.clear();
    }
    let survey = Survey::of(
        tree,
        changes,
        &Wants {
            imports: Some(policy),
            mentions: Some(manifests::Mentions::of(&standing, None)),
        },
    );
    content::judge(&[&Nothing], tree, &all, &survey, &mut verdict)?;
    // A link that is there was let in by somebody; only its change is a finding.
    verdict.findings.retain(|found| found.judged_by != content::SUBMODULES);
    rules::judge_content(policy, tree, changes, &survey, &mut verdict)?;
    manifests::judge(&standing, (&Nothing, tree), changes, &survey, None, &mut verdict)?;
    // Last: it clears what the others say of the values that it finds.
    rules::credentials::judge(policy, &[&Nothing], tree, changes, &survey, &mut verdict)?;
    lines::attach(tree, &mut verdict)?;
    verdict.settle();
    Ok(verdict)
}

//! Changes of files that run by themselves later: findings with `autoexec: deny`, else warnings.

use std::collections::HashSet;

use super::protected::is_link;
use super::{finding, shown, undo, what_happened};
use crate::gate::autoexec::{self, Known};
use crate::gate::paths::Match;
use crate::gate::policy::Stance;
use crate::gate::{Change, POLICY_PATH, Policy, Rule, Verdict, Warning};

/// To be called after the protected paths: what they name is reported once, with the policy's own
/// words.
pub(super) fn judge(policy: &Policy, changes: &[Change], verdict: &mut Verdict) {
    let protected: HashSet<Vec<u8>> = verdict
        .findings
        .iter()
        .filter(|found| found.rule == Rule::ProtectedPath)
        .map(|found| found.path.clone())
        .collect();
    for change in changes {
        let Some(known) = autoexec::find(&change.path) else {
            continue;
        };
        // A plain file above leaves no such folder; a link can bring one in.
        if protected.contains(&change.path) || known.is_above && !is_link(change) {
            continue;
        }
        let judged_by = format!("autoexec: {}", known.pattern);
        let message = message(&what_happened(change), &known);
        match policy.autoexec {
            Stance::Deny => verdict.findings.push(finding(
                Rule::ProtectedPath,
                &change.path,
                &judged_by,
                message,
                format!("{}, or ask an owner of {POLICY_PATH} to make this change", undo(change)),
            )),
            Stance::Allow => verdict.warnings.push(Warning {
                path: change.path.clone(),
                judged_by,
                message,
                commit: None,
            }),
        }
    }
}

fn message(what: &str, known: &Known) -> String {
    let (why, pattern) = (known.why, shown(known.pattern.as_bytes()));
    match (known.is_above, known.spelling) {
        (true, _) => format!("{what} on the way to {pattern}, {why}"),
        (false, Match::Exact) => format!("{what}, and it is {why}"),
        (false, Match::Twin) => format!("{what}: case or Unicode twin of {pattern}, {why}"),
    }
}

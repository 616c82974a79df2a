//! Human-owned paths (exit 3) and folders in which nothing may change (exit 4).

use super::{finding, shown, undo, what_happened};
use crate::gate::paths::{Match, PathRule, fold};
use crate::gate::{Change, Kind, POLICY_PATH, Policy, Rule, Verdict};

/// Any change of a path that `must_not_touch` names, and anything put where its folder belongs.
pub(super) fn protected_paths(policy: &Policy, changes: &[Change], verdict: &mut Verdict) {
    for change in changes {
        let what = what_happened(change);
        let (rule, message) = match matched(&policy.must_not_touch, &change.path) {
            Some((rule, Match::Exact)) => (rule, format!("protected path {what}")),
            Some((rule, Match::Twin)) => (
                rule,
                format!(
                    "{what}: case or Unicode twin of a protected path ({})",
                    shown(rule.text.as_bytes())
                ),
            ),
            None => match policy.must_not_touch.iter().find(|rule| stands_above(rule, change)) {
                Some(rule) => (
                    rule,
                    format!(
                        "{what} where a folder of the protected path {} belongs",
                        shown(rule.text.as_bytes())
                    ),
                ),
                None => continue,
            },
        };
        verdict.findings.push(finding(
            Rule::ProtectedPath,
            &change.path,
            &rule.key,
            message,
            format!("{}, or ask an owner of {POLICY_PATH}", undo(change)),
        ));
    }
}

/// Any change inside an area's `forbidden_dirs`, deletions included, and anything that is put in
/// the place of such a folder.
pub(super) fn forbidden_directories(policy: &Policy, changes: &[Change], verdict: &mut Verdict) {
    for area in &policy.areas {
        for change in changes {
            let what = what_happened(change);
            let (rule, message) = match matched(&area.forbidden_dirs, &change.path) {
                Some((rule, Match::Exact)) => (
                    rule,
                    format!("{what} inside the forbidden directory {}", shown(rule.text.as_bytes())),
                ),
                Some((rule, Match::Twin)) => (
                    rule,
                    format!(
                        "{what} inside a case or Unicode twin of the forbidden directory {}",
                        shown(rule.text.as_bytes())
                    ),
                ),
                // A plain file above the folder leaves no such folder; a link can bring one in.
                None => match area
                    .forbidden_dirs
                    .iter()
                    .find(|rule| is_link(change) && stands_above(rule, change))
                {
                    Some(rule) => (
                        rule,
                        format!("{what} above the forbidden directory {}", shown(rule.text.as_bytes())),
                    ),
                    None => continue,
                },
            };
            verdict.findings.push(finding(
                Rule::ForbiddenDirectory,
                &change.path,
                &rule.key,
                message,
                format!(
                    "move the change out of {}, or ask an owner of {POLICY_PATH}",
                    shown(rule.text.as_bytes())
                ),
            ));
        }
    }
}

/// The rule that matches, exact matches first: the message for a twin would mislead otherwise.
fn matched<'a>(rules: &'a [PathRule], path: &[u8]) -> Option<(&'a PathRule, Match)> {
    let mut twin = None;
    for rule in rules {
        match rule.denies(path) {
            Some(Match::Exact) => return Some((rule, Match::Exact)),
            Some(Match::Twin) => twin = twin.or(Some((rule, Match::Twin))),
            None => {}
        }
    }
    twin
}

/// Whether a symlink or submodule link is put there.
pub(super) fn is_link(change: &Change) -> bool {
    change
        .after
        .is_some_and(|side| matches!(side.kind, Kind::Symlink | Kind::Submodule))
}

/// Whether the change puts a file or link where a folder on the way to the rule's paths belongs.
/// Those paths then lead elsewhere although none of them is in the difference by its own name.
fn stands_above(rule: &PathRule, change: &Change) -> bool {
    let Some(after) = change.after else { return false };
    if change.before.is_some_and(|before| before.kind == after.kind) && !is_link(change) {
        return false;
    }
    let depth = change.path.split(|&byte| byte == b'/').count();
    let parts: Vec<&[u8]> = match rule.literal() {
        // The last part of a plain entry is the path itself, which the rule matches by itself.
        Some(path) => {
            let mut parts: Vec<&[u8]> = path.split(|&byte| byte == b'/').collect();
            parts.pop();
            parts
        }
        None => rule
            .text
            .split('/')
            .filter(|part| !matches!(*part, "" | "."))
            .take_while(|part| !part.contains(['*', '?', '[', '{']))
            .map(str::as_bytes)
            .collect(),
    };
    parts
        .get(..depth)
        .is_some_and(|above| fold(&above.join(&b'/')) == fold(&change.path))
}

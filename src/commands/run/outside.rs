//! Findings about what a change has beyond the plan that it was made by.

use anyhow::Result;

use crate::gate::{self, Finding, GateError, Rule};
use crate::git::tree::GitTree;
use crate::job::answer::Plan;
use crate::job::left::RawPath;
use crate::paths::PathRule;

/// What such a finding is judged by.
pub const JUDGED_BY: &str = "plan.json (files)";

/// Changed paths that no step of the plan names, and those of `early` that are still changed: a step changed them
/// although the plan names them for another.
///
/// # Errors
/// A tree cannot be read.
pub fn of_plan(base: &GitTree<'_>, candidate: &GitTree<'_>, plan: &Plan, early: &[RawPath]) -> Result<Vec<Finding>> {
    let changes = gate::tree::diff(base, candidate).map_err(GateError::from)?;
    let rules: Vec<PathRule> = plan.steps.iter().flat_map(|step| rules_of(&step.files)).collect();
    let mut found = Vec::new();
    for change in changes {
        let message = if !rules.iter().any(|rule| rule.allows(&change.path)) {
            "no step of the plan names this file"
        } else if early.iter().any(|path| path.bytes() == change.path) {
            "a step changed it that the plan does not name it for"
        } else {
            continue;
        };
        found.push(Finding {
            rule: Rule::OutOfScope,
            path: change.path,
            line: None,
            column: None,
            judged_by: JUDGED_BY.into(),
            message: message.into(),
            hint: "keep to the plan's files; where they are too few, write needs_human.json".into(),
            commit: None,
            at: None,
        });
    }
    Ok(found)
}

/// The files of a plan's step as rules. They were read before.
pub(super) fn rules_of(files: &[String]) -> Vec<PathRule> {
    let rules = files.iter().map(|file| PathRule::parse(file, "files".to_owned()));
    rules.filter_map(Result::ok).collect()
}

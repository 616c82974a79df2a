//! Findings about what a change has beyond the plan that it was made by, and about changes of what judges it.

use anyhow::Result;

use crate::agent::settings::{Runs, Settings};
use crate::gate::{self, Finding, GateError, Rule};
use crate::git::tree::GitTree;
use crate::job::answer::Plan;
use crate::job::left::RawPath;
use crate::job::role::Role;
use crate::paths::PathRule;

/// What such a finding is judged by.
pub const JUDGED_BY: &str = "plan.json (files)";

/// Changed files that a role's command of the repository's settings names: such a command reads them in the worktree, so
/// that whoever writes there would choose who judges.
///
/// # Errors
/// A tree cannot be read.
pub fn of_roles(base: &GitTree<'_>, candidate: &GitTree<'_>, settings: &Settings) -> Result<Vec<Finding>> {
    let mut rules = Vec::new();
    for role in [Role::Planner, Role::Implementer, Role::Reviewer, Role::Fixer] {
        let Some(Runs::Command(words)) = settings
            .of_role(role)
            .and_then(|agent| agent.agent.as_ref())
            .map(|agent| &agent.runs)
        else {
            continue;
        };
        // A word may be a line for a shell, or an option with a value.
        let parts = words
            .iter()
            .flat_map(|word| word.split([' ', '\t', '\n', '=', ';', '\'', '"', '&', '|', '(', ')']));
        for part in parts {
            let path = part.trim_start_matches("./").trim_end_matches('/');
            let is_path = !(path.is_empty()
                || path == "."
                || path.starts_with(['/', '-', '!', '$'])
                || path.contains(['*', '?', '[', '{']));
            if is_path && let Ok(rule) = PathRule::parse(path, format!("agents.{}.command", role.name())) {
                rules.push((role, rule));
            }
        }
    }
    if rules.is_empty() {
        return Ok(Vec::new());
    }
    let changes = gate::tree::diff(base, candidate).map_err(GateError::from)?;
    let found = changes.into_iter().filter_map(|change| {
        let (role, _) = rules.iter().find(|(_, rule)| rule.allows(&change.path))?;
        Some(Finding {
            rule: Rule::ProtectedPath,
            path: change.path,
            line: None,
            column: None,
            judged_by: format!("architecture/agentgate.yml (agents.{}.command)", role.name()),
            message: format!(
                "the {}'s command runs this file, and no role may change it",
                role.name()
            ),
            hint: "undo the change; a person changes it in a commit of its own".into(),
            commit: None,
            at: None,
        })
    });
    Ok(found.collect())
}

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

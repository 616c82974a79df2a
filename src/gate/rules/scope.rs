//! What lies outside the scope (exit 7): the task's allow-lists, and paths that no area owns.
//! Allow-lists match byte for byte: a case twin of an allowed path is another path.

use super::{finding, shown};
use crate::gate::policy::{Area, Stance};
use crate::gate::{Change, GateError, POLICY_PATH, Policy, Rule, Verdict};
use crate::task::Task;

/// `Allowed files` and `Areas` of the task.
pub(super) fn of_task(
    policy: &Policy,
    task: &Task,
    changes: &[Change],
    verdict: &mut Verdict,
) -> Result<(), GateError> {
    let areas = task
        .areas
        .iter()
        .map(|name| area(policy, name))
        .collect::<Result<Vec<_>, _>>()?;
    for change in changes {
        if !task.allowed_files.is_empty() && !task.allowed_files.iter().any(|rule| rule.allows(&change.path)) {
            verdict.findings.push(finding(
                Rule::OutOfScope,
                &change.path,
                "task: Allowed files",
                "not among the task's allowed files".into(),
                format!(
                    "undo the change of {}, or name the path in the task",
                    shown(&change.path)
                ),
            ));
        }
        if !areas.is_empty() && !areas.iter().any(|area| owns(area, &change.path)) {
            verdict.findings.push(finding(
                Rule::OutOfScope,
                &change.path,
                "task: Areas",
                format!("outside the task's areas ({})", task.areas.join(", ")),
                format!(
                    "undo the change of {}, or name its area in the task",
                    shown(&change.path)
                ),
            ));
        }
    }
    Ok(())
}

/// Paths that no area owns: a finding with `unmapped: deny`, else a count.
pub(super) fn unmapped(policy: &Policy, changes: &[Change], verdict: &mut Verdict) {
    let strays: Vec<&Change> = changes
        .iter()
        .filter(|change| !policy.areas.iter().any(|area| owns(area, &change.path)))
        .collect();
    if policy.unmapped == Stance::Deny {
        verdict.findings.extend(strays.iter().map(|change| {
            finding(
                Rule::OutOfScope,
                &change.path,
                "unmapped",
                "belongs to no area of the policy".into(),
                format!("move it under an area's allowed_roots, or ask an owner of {POLICY_PATH} to give it an area"),
            )
        }));
    }
    // An area without roots reads imports everywhere: then the sentence would be wrong.
    let everywhere = |area: &Area| area.allowed_roots.is_empty() && !area.forbidden_imports.is_empty();
    if !strays.is_empty() && !policy.areas.is_empty() && !policy.areas.iter().any(everywhere) {
        verdict.notices.push(match strays.len() {
            1 => "1 changed path belongs to no area; no import rule looked at it".into(),
            n => format!("{n} changed paths belong to no area; no import rule looked at them"),
        });
    }
}

fn owns(area: &Area, path: &[u8]) -> bool {
    area.allowed_roots.iter().any(|root| root.allows(path))
}

/// The area of that name, which must own something: a scope without paths would allow nothing, or
/// everything, depending on who reads it.
fn area<'a>(policy: &'a Policy, name: &str) -> Result<&'a Area, GateError> {
    match policy.areas.iter().find(|area| area.name == name) {
        Some(area) if area.allowed_roots.is_empty() => Err(GateError::Task(format!(
            "the task's `Areas:` names {}, which has no allowed_roots in {POLICY_PATH}",
            shown(name.as_bytes())
        ))),
        Some(area) => Ok(area),
        None => {
            let nearest = policy
                .areas
                .iter()
                .map(|area| (strsim::damerau_levenshtein(&area.name, name), area.name.as_str()))
                .min()
                .filter(|(distance, known)| *distance <= 1.max(known.chars().count() / 3));
            let advice = match nearest {
                Some((_, known)) => format!("did you mean {}?", shown(known.as_bytes())),
                None => {
                    let names: Vec<&str> = policy.areas.iter().map(|area| area.name.as_str()).collect();
                    format!(
                        "the policy has: {}",
                        if names.is_empty() {
                            "no areas".into()
                        } else {
                            names.join(", ")
                        }
                    )
                }
            };
            Err(GateError::Task(format!(
                "the task's `Areas:` names {}, which {POLICY_PATH} does not have; {advice}",
                shown(name.as_bytes())
            )))
        }
    }
}

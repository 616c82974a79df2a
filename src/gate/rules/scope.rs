//! What lies outside the scope (exit 7): the task's allow-lists, and paths that no area owns.
//! Allow-lists match byte for byte: a case twin of an allowed path is another path.

use super::{finding, shown};
use crate::gate::paths::PathRule;
use crate::gate::policy::{Area, Stance};
use crate::gate::yaml::nearest;
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
        .map(|name| area(policy, task, name))
        .collect::<Result<Vec<_>, _>>()?;
    contradiction(task, &areas)?;
    for change in changes {
        if !task.allowed_files.is_empty() && !task.allowed_files.iter().any(|rule| rule.allows(&change.path)) {
            verdict.findings.push(finding(
                Rule::OutOfScope,
                &change.path,
                "task: Allowed files",
                "not among the task's allowed files".into(),
                format!(
                    "undo the change of {}, or name the path under `Allowed files:` in the task",
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
                match policy.areas.iter().find(|area| owns(area, &change.path)) {
                    Some(area) => format!(
                        "undo the change of {}, or name {} under `Areas:` in the task",
                        shown(&change.path),
                        shown(area.name.as_bytes())
                    ),
                    None => format!("undo the change of {}, which no area owns", shown(&change.path)),
                },
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
                format!(
                    "move it under an area's allowed_roots, or ask an owner of {POLICY_PATH} to add it to some \
                     area's `allowed_roots`"
                ),
            )
        }));
    }
    // An area without roots reads imports everywhere: then the sentence would be wrong.
    let everywhere = |area: &Area| area.allowed_roots.is_empty() && area.reads_imports();
    // Import rules also look below folders that a glob among the roots names, and at twins.
    let is_near = |path: &[u8]| {
        let mut roots = policy.areas.iter().flat_map(|area| &area.allowed_roots);
        roots.any(|root| root.denies(path).is_some())
    };
    let strays: Vec<&Change> = strays.into_iter().filter(|change| !is_near(&change.path)).collect();
    if !strays.is_empty() && !policy.areas.is_empty() && !policy.areas.iter().any(everywhere) {
        let kind = verdict.extent.adjective();
        verdict.notices.push(match strays.len() {
            1 => format!("1 {kind}path belongs to no area; no import rule looked at it"),
            n => format!("{n} {kind}paths belong to no area; no import rule looked at them"),
        });
    }
}

fn owns(area: &Area, path: &[u8]) -> bool {
    area.allowed_roots.iter().any(|root| root.allows(path))
}

/// A task that no change can satisfy, where that is certain: every allowed file is a plain entry,
/// every root of its areas too, and no two of them meet. It is refused before an agent works for
/// nothing.
fn contradiction(task: &Task, areas: &[&Area]) -> Result<(), GateError> {
    if task.allowed_files.is_empty() || areas.is_empty() {
        return Ok(());
    }
    let meets = |file: &PathRule, root: &PathRule| match (file.literal(), root.literal()) {
        (Some(file), Some(path)) => root.allows(file) || starts_below(path, file),
        // A glob may match anything, and `.` means files in the root.
        (Some(file), None) => root.is_glob() || !file.contains(&b'/'),
        (None, _) => true,
    };
    let roots = || areas.iter().flat_map(|area| &area.allowed_roots);
    if task
        .allowed_files
        .iter()
        .any(|file| roots().any(|root| meets(file, root)))
    {
        return Ok(());
    }
    let list = |rules: &mut dyn Iterator<Item = &PathRule>| -> String {
        let texts: Vec<String> = rules.take(5).map(|rule| shown(rule.text.as_bytes())).collect();
        texts.join(", ")
    };
    Err(GateError::Task(format!(
        "the task contradicts itself: none of its `Allowed files:` ({}) lies in its `Areas:` ({})\nhint: drop one of \
         the two keys, or name files below the areas' allowed_roots",
        list(&mut task.allowed_files.iter()),
        list(&mut roots()),
    )))
}

/// Whether `path` lies below `folder`.
fn starts_below(path: &[u8], folder: &[u8]) -> bool {
    path.strip_prefix(folder).is_some_and(|rest| rest.starts_with(b"/"))
}

/// The area of that name, which must own something: a scope without paths would allow nothing, or
/// everything, depending on who reads it.
fn area<'a>(policy: &'a Policy, task: &Task, name: &str) -> Result<&'a Area, GateError> {
    let at = task
        .area_line(name)
        .map_or(String::new(), |line| format!(" (line {line})"));
    let area = shown(name.as_bytes());
    match policy.area(name) {
        Some(found) if found.allowed_roots.is_empty() => Err(GateError::Task(format!(
            "the task's `Areas:`{at} names {area}, which has no allowed_roots in {POLICY_PATH}"
        ))),
        Some(found) => Ok(found),
        None => {
            let names: Vec<&str> = policy.areas.iter().map(|area| area.name.as_str()).collect();
            let known = match names.as_slice() {
                [] => "no areas".to_owned(),
                names => names.join(", "),
            };
            let hint = match nearest(name, &names) {
                Some(near) => format!("\nhint: did you mean {}?", shown(near.as_bytes())),
                None => String::new(),
            };
            Err(GateError::Task(format!(
                "the task's `Areas:`{at} names {area}, which {POLICY_PATH} does not have; it has: {known}{hint}"
            )))
        }
    }
}

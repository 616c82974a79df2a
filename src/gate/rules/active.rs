//! The rules of a policy that are in force, as reports list them.
//!
//! Invariant: every list of paths in a policy is named in [`lists`] and nowhere else, so that a new
//! key cannot be forgotten where entries without effect are looked for.

use std::collections::HashMap;

use crate::gate::inspected::{Active, Reach};
use crate::gate::paths::PathRule;
use crate::gate::policy::{Area, BUILT_IN, Stance};
use crate::gate::{Policy, Rule};

/// What an entry of a list does, and with that what it means when it matches nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Use {
    /// It says what something consists of: without a match it may be misspelt.
    Allows,
    /// It keeps what is there: without a match it may be misspelt.
    Protects,
    /// It forbids what should not be there: without a match all is well.
    Forbids,
}

/// Every path entry of the policy but the built-in ones.
pub(super) fn lists(policy: &Policy) -> Vec<(&PathRule, Use)> {
    let mut all = Vec::new();
    for area in &policy.areas {
        all.extend(area.allowed_roots.iter().map(|rule| (rule, Use::Allows)));
        all.extend(area.forbidden_dirs.iter().map(|rule| (rule, Use::Forbids)));
        let excepted = area.forbidden_imports.iter().flat_map(|entry| &entry.except);
        all.extend(excepted.map(|rule| (rule, Use::Allows)));
    }
    let own = policy.must_not_touch.iter().filter(|rule| rule.key != BUILT_IN);
    all.extend(own.map(|rule| (rule, Use::Protects)));
    all
}

/// The rules, given what is known of the path entries by their keys.
pub(super) fn rules(policy: &Policy, reach: &HashMap<&str, Reach>) -> Vec<Active> {
    let of = |key: &str| reach.get(key).copied().unwrap_or(Reach::Unknown);
    let active = |rule: Rule, key: &str, entry: &str, reach: Reach| Active {
        rule,
        key: key.to_owned(),
        entry: entry.to_owned(),
        reach,
    };
    let mut all = Vec::new();
    for area in &policy.areas {
        let looks_at = area_reach(area, reach);
        all.extend(
            area.forbidden_imports
                .iter()
                .map(|entry| active(Rule::ForbiddenImport, &entry.key, &entry.entry, looks_at)),
        );
        for (rule, key, entries) in [
            (
                Rule::DependencyEdge,
                "may_depend_on",
                area.may_depend_on.as_ref().map(|names| names.join(", ")),
            ),
            (
                Rule::ImportNotAllowed,
                "allowed_imports",
                area.allowed_imports.as_ref().map(|allowed| {
                    let names: Vec<&str> = allowed.iter().map(|rule| rule.entry.as_str()).collect();
                    names.join(", ")
                }),
            ),
        ] {
            let entry = entries.map(|list| if list.is_empty() { "[]".to_owned() } else { list });
            all.extend(entry.map(|entry| active(rule, &format!("{}.{key}", area.name), &entry, looks_at)));
        }
        all.extend(
            area.forbidden_dirs
                .iter()
                .map(|entry| active(Rule::ForbiddenDirectory, &entry.key, &entry.text, of(&entry.key))),
        );
    }
    let own = policy.must_not_touch.iter().filter(|rule| rule.key != BUILT_IN);
    all.extend(own.map(|entry| active(Rule::ProtectedPath, &entry.key, &entry.text, of(&entry.key))));
    all.push(active(
        Rule::NewTopLevelDirectory,
        "max_new_top_level_dirs",
        &policy.max_new_top_level_dirs.to_string(),
        Reach::Live,
    ));
    if policy.unmapped == Stance::Deny {
        all.push(active(Rule::OutOfScope, "unmapped", "deny", Reach::Live));
    }
    if policy.dynamic_imports == Stance::Deny {
        all.push(active(Rule::DynamicImport, "dynamic_imports", "deny", Reach::Live));
    }
    for (key, limit) in [
        ("max_changed_files", policy.max_changed_files),
        ("max_changed_lines", policy.max_changed_lines),
    ] {
        all.extend(limit.map(|limit| active(Rule::TooLarge, key, &limit.to_string(), Reach::Live)));
    }
    if let Some(dependencies) = &policy.dependencies {
        if dependencies.new == Stance::Deny {
            all.push(active(Rule::NewDependency, dependencies.new_key, "deny", Reach::Live));
        }
        let forbidden = dependencies.forbidden.iter();
        all.extend(forbidden.map(|entry| active(Rule::ForbiddenDependency, &entry.key, &entry.entry, Reach::Live)));
    }
    if policy.autoexec == Stance::Deny {
        all.push(active(Rule::ProtectedPath, "autoexec", "deny", Reach::Live));
    }
    all
}

/// What the rules of an area about its files can reach: as much as the best of its roots.
fn area_reach(area: &Area, reach: &HashMap<&str, Reach>) -> Reach {
    let roots = area.allowed_roots.iter();
    roots
        .map(|root| reach.get(root.key.as_str()).copied().unwrap_or(Reach::Unknown))
        .min()
        .unwrap_or(Reach::Live)
}

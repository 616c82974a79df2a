//! Imports of another area that `may_depend_on` does not name (exit 5).
//!
//! A path that belongs to several areas may be imported if one of them is the importing area itself
//! or is named; a path of no area is free. Of a package or namespace that lies in several places, one
//! such place is enough; but where the base knows the name too, its places there must do as well, so
//! that a file that an agent adds to its own area under another area's name opens nothing. Each
//! condition of a package.json's `imports` counts by itself.

use std::collections::HashSet;

use super::forbidden_imports::Scanned;
use super::{Resolvers, finding, shown};
use crate::gate::imports::{Import, ImportKind};
use crate::gate::policy::Area;
use crate::gate::resolve::Target;
use crate::gate::{Finding, POLICY_PATH, Policy, Rule, Unreadable, Verdict};

/// Unresolved imports named in the notice.
const MAX_NAMED: usize = 3;

/// Every new import of a changed file that leads into an area which the file's own may not depend on.
pub(super) fn judge(
    policy: &Policy,
    own: &mut Resolvers,
    sources: &[Scanned],
    verdict: &mut Verdict,
) -> Result<(), Unreadable> {
    let (mut unresolved, mut named) = (0usize, Vec::new());
    for source in sources {
        let bound: Vec<(&Area, &[String])> = source
            .areas
            .iter()
            .filter_map(|area| Some((*area, area.may_depend_on.as_deref()?)))
            .collect();
        if bound.is_empty() {
            continue;
        }
        let mut reported = HashSet::new();
        for import in source.new_imports()? {
            if import.kind == ImportKind::Declared {
                continue;
            }
            let places = match own.candidate.resolve(source.language, import, &source.path)? {
                Target::Local(places) => places,
                Target::External => continue,
                Target::Unresolved(why) => {
                    unresolved += 1;
                    if named.len() < MAX_NAMED {
                        named.push(format!(
                            "{} in {}:{} ({})",
                            shown(import.raw.as_bytes()),
                            shown(&source.path),
                            import.line,
                            why.escape_debug()
                        ));
                    }
                    continue;
                }
            };
            let before = match places.len() {
                1 => Vec::new(),
                _ => match own.base.resolve(source.language, import, &source.path)? {
                    Target::Local(places) => places,
                    Target::External | Target::Unresolved(_) => Vec::new(),
                },
            };
            // Of the conditions of a package.json's `imports` each one counts by itself.
            let judged: Vec<&[Vec<u8>]> = match import.raw.starts_with('#') {
                true => places.chunks(1).chain(before.chunks(1)).collect(),
                false => vec![&places, &before],
            };
            for (area, allowed) in &bound {
                for places in &judged {
                    let Some((place, owner)) = foreign(policy, area, allowed, places) else {
                        continue;
                    };
                    if reported.insert((&area.name, import.line, &owner.name)) {
                        let found = edge(area, allowed, owner, import, &source.path, place);
                        verdict.findings.push(found);
                    }
                    break;
                }
            }
        }
    }
    if unresolved > 0 {
        let more = match unresolved - named.len() {
            0 => String::new(),
            n => format!(" and {n} more"),
        };
        verdict.notices.push(format!(
            "{} of this repository's own could not be followed to a path, and no `may_depend_on` looked at {}: {}{more}",
            match unresolved {
                1 => "1 import".to_owned(),
                n => format!("{n} imports"),
            },
            if unresolved == 1 { "it" } else { "them" },
            named.join(", "),
        ));
    }
    Ok(())
}

/// The first place and the area that owns it, if none of the places may be imported.
fn foreign<'p, 'v>(
    policy: &'p Policy,
    area: &Area,
    allowed: &[String],
    places: &'v [Vec<u8>],
) -> Option<(&'v [u8], &'p Area)> {
    let mut first = None;
    for place in places {
        let mut owners = owners(policy, place).peekable();
        owners.peek()?;
        for owner in owners {
            if may(area, allowed, owner) {
                return None;
            }
            first.get_or_insert((place.as_slice(), owner));
        }
    }
    first
}

/// The areas that a path belongs to, in the order of the policy.
pub(in crate::gate) fn owners<'p>(policy: &'p Policy, path: &[u8]) -> impl Iterator<Item = &'p Area> {
    policy.areas.iter().filter(move |area| area.covers(path))
}

/// Whether files of `area` may import what `owner` has.
pub(in crate::gate) fn may(area: &Area, allowed: &[String], owner: &Area) -> bool {
    owner.name == area.name || allowed.contains(&owner.name)
}

fn edge(area: &Area, allowed: &[String], owner: &Area, import: &Import, path: &[u8], place: &[u8]) -> Finding {
    let raw = shown(import.raw.as_bytes());
    let kind = match import.kind {
        ImportKind::Include => "includes",
        ImportKind::Reference => "uses",
        _ => "imports",
    };
    let list = match allowed {
        [] => "no other area".to_owned(),
        allowed => allowed.join(", "),
    };
    Finding {
        line: Some(import.line),
        column: Some(import.column),
        ..finding(
            Rule::DependencyEdge,
            path,
            &format!("{}.may_depend_on", area.name),
            format!(
                "{} {kind} {raw}, which is {} of {}; it may depend on {list}",
                area.name,
                shown(place),
                owner.name
            ),
            format!(
                "remove the import, or ask an owner of {POLICY_PATH} to add {} to {}.may_depend_on",
                owner.name, area.name
            ),
        )
    }
}

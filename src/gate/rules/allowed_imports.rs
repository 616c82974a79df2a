//! Imports from outside that an area's `allowed_imports` does not name (exit 5).
//!
//! A language's own library needs no entry, where its name tells it for certain. What counts as the
//! repository's own is taken from what base and candidate share, so that a folder that an agent adds
//! does not make a package from outside an own one. An npm alias and a Cargo rename count as what
//! they install, and each crate that a name may be must be allowed. In Rust a path without a `use`
//! whose first name no Cargo.toml around declares is no crate.

use std::collections::{HashMap, HashSet};

use super::aliases::{self, Aliases};
use super::crate_names::{self, CrateNames};
use super::forbidden_imports::Scanned;
use super::{Resolvers, finding, shown};
use crate::gate::imports::{self, Import, ImportKind, Language};
use crate::gate::manifests::CargoRenames;
use crate::gate::policy::{Area, ImportRule};
use crate::gate::resolve::{self, Target};
use crate::gate::{Finding, POLICY_PATH, Rule, Unreadable, Verdict};

/// Every new import of a changed file that leads out of the repository and that no entry names.
pub(super) fn judge(
    own: &mut Resolvers,
    aliases: &mut Aliases,
    crates: &mut CrateNames,
    sources: &[Scanned],
    verdict: &mut Verdict,
) -> Result<(), Unreadable> {
    let banned = banned(verdict);
    for source in sources {
        let bound: Vec<(&Area, &[ImportRule])> = source
            .areas
            .iter()
            .filter_map(|area| Some((*area, area.allowed_imports.as_deref()?)))
            .collect();
        if bound.is_empty() {
            continue;
        }
        let around = match source.language {
            Language::JavaScript => aliases.around(&source.path)?,
            _ => Vec::new(),
        };
        let renames = match source.language {
            Language::Rust => crates.around(&source.path)?,
            _ => CargoRenames::new(),
        };
        let declared = match source.language {
            Language::Rust => crates.declared(&source.path)?,
            _ => None,
        };
        let mut reported = HashSet::new();
        for import in source.new_imports()? {
            // `chan::x()` after `use std::sync::mpsc as chan`, or what a glob brought: no crate without
            // an entry in Cargo.toml.
            if import.kind == ImportKind::Reference
                && let (Some(declared), Some(first)) = (&declared, import.first_segment())
                && !declared.contains(first.trim_start_matches("r#"))
            {
                continue;
            }
            match import.kind {
                ImportKind::Member if source.language == Language::Kotlin => continue,
                ImportKind::Relative | ImportKind::Text => continue,
                _ => {}
            }
            let leads = source.leads(import);
            // Whatever it is, its own file tells that it is no package.
            if import.identity.is_empty() && leads.is_empty() || import.kind == ImportKind::Declared {
                continue;
            }
            // What is installed, and what tells where it leads.
            let mut all: Vec<(Import, &Import)> = Vec::new();
            for asked in std::iter::once(import)
                .chain(leads)
                .filter(|import| !import.identity.is_empty())
            {
                let mut installed = crate_names::resolved(asked, &renames);
                installed.extend(aliases::resolved(asked, &around));
                // What is renamed may have the name of a standard library.
                if installed.is_empty() && !resolve::is_standard(source.language, asked) {
                    installed.push(asked.clone());
                }
                all.extend(installed.into_iter().map(|installed| (installed, asked)));
            }
            let mut missing: Vec<(&Area, Import)> = Vec::new();
            for (area, rules) in &bound {
                for (judged, asked) in &all {
                    let is_allowed = rules
                        .iter()
                        .any(|rule| imports::allows(&rule.entry, source.language, judged));
                    if !is_allowed && is_outside(own, source.language, asked, &source.path)? {
                        missing.push((area, judged.clone()));
                        break;
                    }
                }
            }
            for (area, judged) in missing {
                if reported.insert((&area.name, import.line, import.raw.as_str())) {
                    let place = (source.path.clone(), import.line, import.column);
                    let key = banned.get(&place).map(String::as_str);
                    verdict
                        .findings
                        .push(stranger(area, import, &judged, &source.path, key));
                }
            }
        }
    }
    Ok(())
}

/// A place in a file: path, line, column.
type Place = (Vec<u8>, u32, u32);

/// What the imports that are forbidden outright are forbidden by.
fn banned(verdict: &Verdict) -> HashMap<Place, String> {
    let findings = verdict.findings.iter();
    let forbidden = findings.filter(|found| found.rule == Rule::ForbiddenImport);
    forbidden
        .filter_map(|found| {
            Some((
                (found.path.clone(), found.line?, found.column?),
                found.judged_by.clone(),
            ))
        })
        .collect()
}

fn is_outside(own: &mut Resolvers, language: Language, import: &Import, from: &[u8]) -> Result<bool, Unreadable> {
    for import in own.candidate.within(language, import)? {
        if own.own(language, &import, from)? {
            return Ok(false);
        }
    }
    Ok(match own.candidate.resolve(language, import, from)? {
        Target::External => true,
        // It begins with what is the repository's own.
        Target::Unresolved(_) => !own.candidate.files()?.is_whole(),
        Target::Local(_) => !own.own(language, import, from)?,
    })
}

/// The finding; `banned` is the key that forbids the import whatever the area allows.
fn stranger(area: &Area, import: &Import, judged: &Import, path: &[u8], banned: Option<&str>) -> Finding {
    let raw = shown(import.raw.as_bytes());
    let installs = match judged.identity == import.identity {
        true => String::new(),
        false => format!(
            " (which its manifest makes {})",
            shown(judged.identity.join("/").as_bytes())
        ),
    };
    Finding {
        line: Some(import.line),
        column: Some(import.column),
        ..finding(
            Rule::ImportNotAllowed,
            path,
            &format!("{}.allowed_imports", area.name),
            format!(
                "imports {raw}{installs}, which is not among the packages that {} may use",
                area.name
            ),
            match banned {
                Some(key) => format!("use what is allowed there; {key} forbids this one anyway"),
                None => format!(
                    "use what is allowed there, or ask an owner of {POLICY_PATH} to add it to {}.allowed_imports",
                    area.name
                ),
            },
        )
    }
}

//! Imports from outside that an area's `allowed_imports` does not name (exit 5).
//!
//! A language's own library needs no entry, where its name tells it for certain. What a change adds to the
//! repository's own (a package of the workspace, a crate, a namespace) counts as that, but for a name that a manifest
//! declares from outside, and for what has nothing in it: an empty folder makes no package from outside an own one.
//! Entries of `forbidden_imports` do not ask here: they take what is own from what base and candidate share. An npm alias and a Cargo rename count as what
//! they install, and each crate that a name may be must be allowed. In Rust a path without a `use`
//! whose first name no Cargo.toml around declares is no crate.
//!
//! In C# a dotted name without a `using` may begin with a property or a type (`User.Identity.Name`). It counts where
//! something tells that its first name is a namespace: `global::`, a `using` or a project file of the tree, or the
//! name itself where it is a much-used package's. What nothing tells of is counted in a notice. What cgo compiles is C.

use std::collections::{HashMap, HashSet};

use super::aliases::{self, Aliases};
use super::crate_names::{self, CrateNames};
use super::forbidden_imports::Scanned;
use super::go_modules;
use super::{Resolvers, finding, plain, shown};
use crate::gate::imports::{self, Import, ImportKind, Language};
use crate::gate::manifests::{CargoRenames, FromOutside};
use crate::gate::policy::{Area, ImportRule};
use crate::gate::resolve::{self, Head, Target};
use crate::gate::{Finding, POLICY_PATH, Rule, Unreadable, Verdict};

/// Names of C#, and paths, that are shown in a notice.
const MAX_NAMED: usize = 3;

/// Names of C# of which nothing tells whether they begin with a namespace.
#[derive(Default)]
struct Untold {
    count: usize,
    /// The first ones, with their places.
    named: Vec<String>,
}

/// Every new import of a changed file that leads out of the repository and that no entry names.
pub(super) fn judge(
    own: &mut Resolvers,
    aliases: &mut Aliases,
    crates: &mut CrateNames,
    sources: &[Scanned],
    verdict: &mut Verdict,
) -> Result<(), Unreadable> {
    let banned = banned(verdict);
    let mut untold = Untold::default();
    let mut declared_outside = FromOutside::default();
    let mut of_site: Vec<String> = Vec::new();
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
            if source.language == Language::CSharp
                && !may_be_outside(own, &mut declared_outside, source, import, &bound, &mut untold)?
            {
                continue;
            }
            let leads = source.leads(import);
            // What a site has there, only its server knows.
            if source.language == Language::JavaScript
                && import.identity.is_empty()
                && import.raw.starts_with('/')
                && import.kind != ImportKind::Require
                && !resolve::is_of_machine(&import.raw)
            {
                if !matches!(
                    own.candidate.resolve(source.language, import, &source.path)?,
                    Target::Local(_)
                ) {
                    of_site.push(format!(
                        "{} in {}:{}",
                        shown(import.raw.as_bytes()),
                        shown(&source.path),
                        import.line
                    ));
                }
                continue;
            }
            // Whatever it is, its own file tells that it is no package.
            if import.identity.is_empty() && leads.is_empty() || import.kind == ImportKind::Declared {
                continue;
            }
            // What is installed, and what tells where it leads.
            let mut all: Vec<(Import, &Import)> = Vec::new();
            // A copy in the place of a module that may be used has another name, and is that module here.
            let is_copy =
                |lead: &&Import| source.language != Language::Go || lead.first_segment() != Some(go_modules::COPY);
            for asked in std::iter::once(import)
                .chain(leads.iter().filter(is_copy))
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
                    if !is_allowed
                        && is_outside(
                            own,
                            &mut declared_outside,
                            spoken(source.language, asked),
                            asked,
                            &source.path,
                        )?
                    {
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
    verdict.notices.extend(untold.notice());
    if !of_site.is_empty() {
        let more = match of_site.len().saturating_sub(MAX_NAMED) {
            0 => String::new(),
            n => format!(" and {n} more"),
        };
        of_site.truncate(MAX_NAMED);
        verdict.notices.push(format!(
            "no `allowed_imports` looked at what is loaded by a path from the top of a site that no file here has: {}{more}",
            of_site.join(", ")
        ));
    }
    Ok(())
}

impl Untold {
    fn add(&mut self, source: &Scanned, import: &Import) {
        self.count += 1;
        if self.named.len() < MAX_NAMED {
            self.named.push(format!(
                "{} in {}:{}",
                shown(import.raw.as_bytes()),
                shown(&source.path),
                import.line
            ));
        }
    }

    fn notice(&self) -> Option<String> {
        let more = match self.count - self.named.len() {
            0 => String::new(),
            n => format!(" and {n} more"),
        };
        let (names, them) = match self.count {
            0 => return None,
            1 => ("1 dotted name of C# begins".to_owned(), "it"),
            n => (format!("{n} dotted names of C# begin"), "them"),
        };
        Some(format!(
            "{names} with what no `using` and no project file tells to be a namespace, so it is taken for a property \
             or a type, and no `allowed_imports` looked at {them}: {}{more}",
            self.named.join(", ")
        ))
    }
}

/// Whether a name of C# may be one of a package: any that a `using` or a string has, and a dotted one in the code where
/// something tells that it begins with a namespace.
fn may_be_outside(
    own: &mut Resolvers,
    declared: &mut FromOutside,
    source: &Scanned,
    import: &Import,
    bound: &[(&Area, &[ImportRule])],
    untold: &mut Untold,
) -> Result<bool, Unreadable> {
    let is_dotted = matches!(import.kind, ImportKind::Reference | ImportKind::Member);
    if !is_dotted || import.raw.contains("::") {
        return Ok(true);
    }
    let head = own.candidate.head(&mut own.base, import)?;
    let is_allowed = |rules: &[ImportRule]| {
        rules
            .iter()
            .any(|rule| imports::allows(&rule.entry, source.language, import))
    };
    if head == Head::Unknown
        && !resolve::is_standard(source.language, import)
        && !bound.iter().all(|(_, rules)| is_allowed(rules))
        && is_outside(own, declared, source.language, import, &source.path)?
    {
        untold.add(source, import);
    }
    Ok(matches!(head, Head::Root | Head::Namespace))
}

/// The language whose rules hold for an import.
fn spoken(language: Language, import: &Import) -> Language {
    match (language, import.kind) {
        (Language::Go, ImportKind::Include) => Language::C,
        _ => language,
    }
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

fn is_outside(
    own: &mut Resolvers,
    declared: &mut FromOutside,
    language: Language,
    import: &Import,
    from: &[u8],
) -> Result<bool, Unreadable> {
    let mut is_own = |own: &mut Resolvers, import: &Import| -> Result<bool, Unreadable> {
        Ok(own.own(language, import, from)?
            || own.own_now(language, import, from)?
                && !declared.has(own.candidate_tree, own.candidate.files()?, language, import)?)
    };
    for import in own.candidate.within(language, import)? {
        if is_own(own, &import)? {
            return Ok(false);
        }
    }
    Ok(match own.candidate.resolve(language, import, from)? {
        Target::External => !is_built_here(own, language, import)?,
        // It begins with what is the repository's own.
        Target::Unresolved(_) => !own.candidate.files()?.is_whole(),
        Target::Local(_) => !is_own(own, import)?,
    })
}

/// Whether `-lx` links a library that lies in the tree.
fn is_built_here(own: &mut Resolvers, language: Language, import: &Import) -> Result<bool, Unreadable> {
    let Some(name) = import.raw.strip_prefix("-l").filter(|_| language == Language::C) else {
        return Ok(false);
    };
    let names = ["a", "so", "dylib"].map(|ending| format!("lib{name}.{ending}"));
    let has = |own: &mut resolve::Resolver| -> Result<bool, Unreadable> {
        let files = own.files()?;
        Ok(names.iter().any(|name| !files.named(name.as_bytes()).is_empty()))
    };
    Ok(has(&mut own.candidate)? && has(&mut own.base)?)
}

/// Of an address what an entry names: the package, or the host that comes first where that is no known server of packages.
fn host(import: &Import) -> Option<String> {
    let is_address = import.raw.starts_with("https://") || import.raw.starts_with("http://");
    let scoped = usize::from(import.first_segment().is_some_and(|first| first.starts_with('@')));
    let name = import.identity.get(..=scoped).filter(|_| is_address)?;
    Some(name.join("/"))
}

/// The finding; `banned` is the key that forbids the import whatever the area allows.
fn stranger(area: &Area, import: &Import, judged: &Import, path: &[u8], banned: Option<&str>) -> Finding {
    let raw = shown(import.raw.as_bytes());
    let installs = match judged.identity == import.identity {
        true => String::new(),
        false if import.raw.starts_with(['.', '/']) => " (a path to what is not the repository's own)".to_owned(),
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
                    "use what is allowed there, or ask an owner of {POLICY_PATH} to add {} to {}.allowed_imports",
                    host(import).map_or_else(|| "it".to_owned(), |host| plain(&host)),
                    area.name
                ),
            },
        )
    }
}

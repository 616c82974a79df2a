//! Imports of another area that `may_depend_on` does not name (exit 5).
//!
//! A path that belongs to several areas may be imported if one of them is the importing area itself
//! or is named; a path of no area is free. Of a package or namespace that lies in several places, one
//! such place is enough; but where the base knows the name too, its places there must do as well, so
//! that a file that an agent adds to its own area under another area's name opens nothing. Each
//! condition of a package.json's `imports` counts by itself.
//!
//! A file of Java, Kotlin or C# uses what the other files of its package or namespace have without an
//! import: putting itself into a package is an edge to the area in which most files of it lie in the
//! base, or in the candidate where the base does not know it. Only the same name counts: a namespace of
//! C# sees those around it too, but every project of a company begins with the company's name. Where
//! the base has a file of the package in the same folder, a person has let it in. Tests of the same module
//! (`src/test/java` beside `src/main/java`) are none of the package's files for a file that is no test.

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};

use super::forbidden_imports::Scanned;
use super::{Resolvers, finding, shown};
use crate::gate::imports::{Import, ImportKind, Language};
use crate::gate::policy::{Area, Stance};
use crate::gate::resolve::Target;
use crate::gate::{Finding, POLICY_PATH, Policy, Rule, Unreadable, Verdict, render};

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
    let mut spreads: HashMap<(Language, String, Option<&[u8]>), Spread> = HashMap::new();
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
        let mut new: Vec<Cow<Import>> = Vec::new();
        for import in source.new_imports()? {
            new.push(Cow::Borrowed(import));
            let within = own.candidate.within(source.language, import)?;
            new.extend(within.into_iter().map(Cow::Owned));
        }
        for import in &new {
            let import: &Import = import;
            if import.kind == ImportKind::Declared {
                if !shares_names(source.language) || is_accepted(policy, own, source, import)? {
                    continue;
                }
                let key = (source.language, import.raw.clone(), module_of_main(&source.path));
                if !spreads.contains_key(&key) {
                    let mut files = declaring(own, source.language, &import.raw)?;
                    files.retain(|path| !is_test_beside(key.2, path));
                    spreads.insert(key.clone(), Spread::of(policy, files));
                }
                let Some(spread) = spreads.get(&key) else { continue };
                for (area, allowed) in &bound {
                    if is_let_in(policy, own, source, import, area)? {
                        continue;
                    }
                    let homes = spread.homes(policy, area, &source.path);
                    if homes.iter().any(|(_, owner)| may(area, allowed, owner)) {
                        continue;
                    }
                    if let Some((place, owner)) = homes.first() {
                        verdict
                            .findings
                            .push(joined(area, allowed, owner, (source, import), place));
                    }
                }
                continue;
            }
            let places = match own.candidate.resolve(source.language, import, &source.path)? {
                Target::Local(places) => places,
                Target::External => continue,
                // What only may be a name, or is the namespace's own, need not lead anywhere.
                Target::Unresolved(_) if matches!(import.kind, ImportKind::Relative | ImportKind::Text) => continue,
                Target::Unresolved(why) => {
                    unresolved += 1;
                    if named.len() < MAX_NAMED {
                        named.push(format!(
                            "{} in {}:{} ({})",
                            shown(import.raw.as_bytes()),
                            shown(&source.path),
                            import.line,
                            render::path(why.as_bytes())
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

/// Whether files of the language use what others of their package or namespace have without an import.
pub(in crate::gate) fn shares_names(language: Language) -> bool {
    matches!(language, Language::Java | Language::Kotlin | Language::CSharp)
}

/// Whether the base has another file of the package in the folder of this one. Where all is judged as if it were new,
/// nothing has been let in.
fn is_accepted(policy: &Policy, own: &mut Resolvers, source: &Scanned, import: &Import) -> Result<bool, Unreadable> {
    Ok(policy.existing == Stance::Allow
        && own.base_tree.root() != own.candidate_tree.root()
        && own
            .base
            .is_declared_beside(source.language, &import.raw, &source.path)?)
}

/// The folder above `src/` of a file of Java or Kotlin that is no test: `m` of `m/src/main/java/x/X.java` and of
/// `m/src/commonMain/kotlin/X.kt`.
pub(in crate::gate) fn module_of_main(path: &[u8]) -> Option<&[u8]> {
    let (module, set) = source_set(path)?;
    (set == b"main" || set.ends_with(b"Main")).then_some(module)
}

/// Whether a file is a test of this module. Tests share a package with what they test, which is built without them.
pub(in crate::gate) fn is_test_beside(module: Option<&[u8]>, path: &[u8]) -> bool {
    module.is_some()
        && source_set(path).is_some_and(|(of, set)| {
            Some(of) == module && (set.starts_with(b"test") || set.ends_with(b"Test") || set.ends_with(b"Tests"))
        })
}

/// What stands before and behind the `src/` of `m/src/test/java/...`: a folder of sources and one of a language.
fn source_set(path: &[u8]) -> Option<(&[u8], &[u8])> {
    if !path.ends_with(b".java") && !path.ends_with(b".kt") {
        return None;
    }
    let start = match path.strip_prefix(b"src/") {
        Some(_) => 0,
        None => memchr::memmem::find(path, b"/src/")? + 1,
    };
    let mut parts = path[start + 4..].split(|&byte| byte == b'/');
    let set = parts.next()?;
    let is_language = matches!(parts.next()?, b"java" | b"kotlin");
    (is_language && parts.next().is_some()).then_some((&path[..start], set))
}

/// Whether the base has another file of the package in the area: a package that spans areas already may grow in each.
fn is_let_in(
    policy: &Policy,
    own: &mut Resolvers,
    source: &Scanned,
    import: &Import,
    area: &Area,
) -> Result<bool, Unreadable> {
    if policy.existing != Stance::Allow || own.base_tree.root() == own.candidate_tree.root() {
        return Ok(false);
    }
    let before = own.base.declaring(source.language, &import.raw)?;
    Ok(before.iter().any(|path| *path != source.path && area.covers(path)))
}

/// The files of a package or namespace in the base; those of the candidate where the base has none.
fn declaring(own: &mut Resolvers, language: Language, name: &str) -> Result<Vec<Vec<u8>>, Unreadable> {
    let before = own.base.declaring(language, name)?;
    match before.is_empty() {
        true => own.candidate.newly_declaring(&mut own.base, language, name),
        false => Ok(before),
    }
}

/// How the files of a package or namespace are spread over areas.
pub(in crate::gate) struct Spread<'p> {
    /// Each area with how many of the files it has, and the first of them.
    areas: Vec<(&'p Area, usize, Vec<u8>)>,
    /// How many lie in no area.
    free: usize,
    files: HashSet<Vec<u8>>,
}

impl<'p> Spread<'p> {
    /// Of these files.
    pub(in crate::gate) fn of(policy: &'p Policy, files: Vec<Vec<u8>>) -> Spread<'p> {
        let mut spread = Spread {
            areas: Vec::new(),
            free: 0,
            files: HashSet::new(),
        };
        for path in files {
            let mut is_free = true;
            for owner in owners(policy, &path) {
                is_free = false;
                match spread.areas.iter_mut().find(|(area, ..)| area.name == owner.name) {
                    Some((_, count, _)) => *count += 1,
                    None => spread.areas.push((owner, 1, path.clone())),
                }
            }
            spread.free += usize::from(is_free);
            spread.files.insert(path);
        }
        spread
    }

    /// The areas that have most of the files, the file at `from` not counted, each with one of them; none where
    /// `area` has as many, or no area.
    pub(in crate::gate) fn homes(&self, policy: &Policy, area: &Area, from: &[u8]) -> Vec<(&[u8], &'p Area)> {
        let mine: Vec<&str> = match self.files.contains(from) {
            true => owners(policy, from).map(|area| area.name.as_str()).collect(),
            false => Vec::new(),
        };
        let count =
            |(owner, count, _): &(&Area, usize, Vec<u8>)| count - usize::from(mine.contains(&owner.name.as_str()));
        let most = self.areas.iter().map(count).max().unwrap_or_default();
        let free = self.free - usize::from(self.files.contains(from) && mine.is_empty());
        let homes = self.areas.iter().filter(|entry| count(entry) == most);
        let homes: Vec<(&[u8], &Area)> = homes.map(|(owner, _, place)| (place.as_slice(), *owner)).collect();
        let is_own = homes.iter().any(|(_, owner)| owner.name == area.name);
        if most == 0 || free >= most || is_own {
            return Vec::new();
        }
        homes
    }
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

/// A file that puts itself into a package of another area.
fn joined(
    area: &Area,
    allowed: &[String],
    owner: &Area,
    (source, import): (&Scanned, &Import),
    place: &[u8],
) -> Finding {
    let word = match source.language {
        Language::CSharp => "namespace",
        _ => "package",
    };
    Finding {
        hint: format!(
            "give the file a {word} of its own, or ask an owner of {POLICY_PATH} to add {} to {}.may_depend_on",
            owner.name, area.name
        ),
        message: format!(
            "{} puts a file into {word} {}, which is {} of {}, so that it needs no import of what is there; it may \
             depend on {}",
            area.name,
            shown(import.raw.as_bytes()),
            shown(place),
            owner.name,
            listed(allowed)
        ),
        ..edge(area, allowed, owner, import, &source.path, place)
    }
}

/// The areas of a list, in words.
fn listed(allowed: &[String]) -> String {
    match allowed {
        [] => "no other area".to_owned(),
        allowed => allowed.join(", "),
    }
}

fn edge(area: &Area, allowed: &[String], owner: &Area, import: &Import, path: &[u8], place: &[u8]) -> Finding {
    let raw = shown(import.raw.as_bytes());
    let kind = match import.kind {
        ImportKind::Include => "includes",
        ImportKind::Reference => "uses",
        _ => "imports",
    };
    let list = listed(allowed);
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tests_are_beside_the_main_sources_of_their_module_alone() {
        for (main, test, is_beside) in [
            ("src/main/java/a/A.java", "src/test/java/a/ATest.java", true),
            ("m/src/main/kotlin/A.kt", "m/src/integrationTest/kotlin/AIt.kt", true),
            ("m/src/commonMain/kotlin/A.kt", "m/src/commonTest/kotlin/ATest.kt", true),
            ("m/src/main/java/a/A.java", "m/src/testFixtures/java/a/F.java", true),
            ("m/src/main/java/a/A.java", "n/src/test/java/a/ATest.java", false),
            ("m/src/main/java/a/A.java", "m/src/main/java/a/B.java", false),
            ("m/src/main/java/a/A.java", "m/src/test/ATest.java", false),
            ("m/src/test/java/a/B.java", "m/src/test/java/a/ATest.java", false),
            ("payments/A.java", "src/test/java/a/ATest.java", false),
        ] {
            let module = module_of_main(main.as_bytes());
            assert_eq!(is_test_beside(module, test.as_bytes()), is_beside, "{main} {test}");
        }
    }
}

//! Changed files that something which did not change makes source: of a name that tells no language or another one,
//! what loads them, or a link under a telling name; of any name, a link in another area.
//!
//! Invariant: suspected first, then confirmed. A file is a suspect only where it has, read as some language, a new
//! import that a rule has something to say about; only for suspects the tree is searched. So a change of prose
//! or data costs a look at its own bytes, and prose that nothing loads is never a finding.

mod links;
mod loaders;

use std::collections::HashSet;

use memchr::memmem;

pub(super) use loaders::{exported, is_target};

use super::sources::Source;
use super::{Answer, File, Surroundings, reads, spelling};
use crate::gate::imports::{self, Import, ImportKind, Language};
use crate::gate::policy::{Area, Stance};
use crate::gate::resolve::{self, Target};
use crate::gate::rules::{Resolvers, graph, is_regular};
use crate::gate::survey::Survey;
use crate::gate::tree::Side;
use crate::gate::{Change, Policy, Unreadable, Verdict};

/// Larger files (bytes) under names that tell no language are not searched for imports.
const MAX_STRAY: u64 = 1024 * 1024;

/// One file, read as one language.
struct Suspect {
    path: Vec<u8>,
    before: Option<Side>,
    after: Side,
    language: Language,
    /// It has a computed import, and those are denied everywhere.
    is_computed: bool,
}

/// The files to read.
pub(super) fn of<'p>(
    policy: &'p Policy,
    own: &mut Resolvers<'p>,
    around: &mut Surroundings,
    (changes, survey): (&[Change], &Survey),
    verdict: &mut Verdict,
) -> Result<Vec<Source<'p>>, Unreadable> {
    let mut suspects = Vec::new();
    if policy.dynamic_imports == Stance::Allow && !policy.areas.iter().any(Area::reads_imports) {
        return Ok(Vec::new());
    }
    for change in changes {
        suspect(policy, own, around, (change, survey), &mut suspects)?;
    }
    let changed: HashSet<&[u8]> = changes.iter().map(|change| change.path.as_slice()).collect();
    let mut sources = match suspects.is_empty() {
        true => Vec::new(),
        false => loaders::confirmed(policy, own, &suspects, &changed)?,
    };
    // Where all is judged as new, each link is read by itself.
    if own.base_tree.root() != own.candidate_tree.root() {
        sources.extend(links::to(policy, own, &suspects, (changes, survey), verdict)?);
    }
    Ok(sources)
}

fn suspect(
    policy: &Policy,
    own: &mut Resolvers,
    around: &mut Surroundings,
    (change, survey): (&Change, &Survey),
    suspects: &mut Vec<Suspect>,
) -> Result<(), Unreadable> {
    let path = &change.path;
    let Some(after) = change.after.filter(is_regular) else {
        return Ok(());
    };
    let before = change.before.filter(is_regular);
    let is_as_before = before.is_some_and(|before| before.id == after.id);
    let is_told = is_told(path);
    if is_as_before || is_told && survey.is_of_one_language(path, &after.id) {
        return Ok(());
    }
    if own.candidate_tree.blob_size(&after.id)? > MAX_STRAY {
        return Ok(());
    }
    let content = own.candidate_tree.blob(&after.id)?;
    if is_told && !may_be_loaded_as_another(policy, path, &content) {
        return Ok(());
    }
    let mut known = None;
    for &language in Language::ALL {
        if !has_words(language, &content) || is_told && !may_be_another(path, language, &content) {
            continue;
        }
        let mut is_computed = false;
        let is_concerned = match imports::imports_at(path, language, &content) {
            Ok(mut found) => {
                // Most that is there was there.
                if !found.is_empty()
                    && let Some(before) = before.filter(|_| policy.existing == Stance::Allow)
                    && own.base_tree.blob_size(&before.id)? <= MAX_STRAY
                {
                    let known: &Vec<u8> = match &known {
                        Some(known) => known,
                        None => known.insert(own.base_tree.blob(&before.id)?),
                    };
                    let known = imports::imports_at(path, language, known).unwrap_or_default();
                    let known: HashSet<_> = known.iter().map(spelling).collect();
                    found.retain(|import| !known.contains(&spelling(import)));
                }
                is_computed = policy.dynamic_imports == Stance::Deny
                    && found.iter().any(|import| import.kind == ImportKind::Opaque);
                found.retain(|import| import.kind != ImportKind::Opaque);
                // Only these are no code of its own language.
                found.retain(|import| !is_told || language != Language::C || import.kind == ImportKind::Include);
                !found.is_empty() && {
                    let file = around.file((path, language), &found, own)?;
                    is_any_concerned(policy, own, &file, &found)?
                }
            }
            Err(_) if is_told => false,
            // Nobody can read it, so that loading it is a finding; prose is no reason to search the tree.
            Err(_) => is_mentioned(policy.areas.iter().filter(|area| area.reads_imports()), &content),
        };
        if is_computed || is_concerned {
            suspects.push(Suspect {
                path: path.clone(),
                before,
                after,
                language,
                is_computed,
            });
        }
    }
    Ok(())
}

/// Whether its name tells what the file is.
fn is_told(path: &[u8]) -> bool {
    imports::language(path).is_some() && !imports::is_ambiguous(path) || imports::unread(path).is_some()
}

/// Whether a file that is source by its name may be read as another language, and says what an area forbids. That
/// is seldom, and to read each as several languages would cost more than all else.
pub(in crate::gate) fn may_be_loaded_as_another(policy: &Policy, path: &[u8], content: &[u8]) -> bool {
    is_told(path)
        && (Language::ALL.iter()).any(|&language| may_be_another(path, language, content))
        && is_mentioned(&policy.areas, content)
}

/// Whether a file that is source of one language by its name may be loaded as another.
fn may_be_another(path: &[u8], language: Language, content: &[u8]) -> bool {
    let named = imports::language(path);
    let has = |word: &str| memmem::find(content, word.as_bytes()).is_some();
    named != Some(language)
        && match language {
            Language::C => has("include"),
            Language::Php => has("<?"),
            Language::Rust => has("use ") && named != Some(Language::Php) || has("extern crate"),
            // Of Ruby and Lua this is a call as well.
            Language::JavaScript => named.is_some_and(|named| named != Language::Ruby) && has("require("),
            _ => false,
        }
}

/// Whether anything in the file could be an import of the language.
fn has_words(language: Language, content: &[u8]) -> bool {
    let words: &[&str] = match language {
        Language::C => &["include", "import", "\\"],
        Language::JavaScript => &[
            "import", "require", "export", "Worker", "URL", "_load", "register", "fork", "define", "mock", "\\u",
        ],
        Language::Python => &["import", "pkgutil", "pydoc", "patch"],
        Language::Rust => &["::", "extern", "mod", "include", "use"],
        Language::Go => &["import"],
        Language::Java | Language::Kotlin => &["import", "package"],
        Language::CSharp => &["using", "namespace"],
        Language::Ruby => &["require", "load", "gem"],
        Language::Php => &["<?", "<script"],
    };
    words
        .iter()
        .any(|word| memmem::find(content, word.as_bytes()).is_some())
}

/// Whether an area has something to say about one of the imports.
fn is_any_concerned(policy: &Policy, own: &mut Resolvers, file: &File, found: &[Import]) -> Result<bool, Unreadable> {
    for area in policy.areas.iter().filter(|area| area.reads_imports()) {
        for import in found {
            if is_concerned(policy, area, own, file, import)? {
                return Ok(true);
            }
        }
    }
    Ok(false)
}

fn is_concerned(
    policy: &Policy,
    area: &Area,
    own: &mut Resolvers,
    file: &File,
    import: &Import,
) -> Result<bool, Unreadable> {
    let is_named = |entry: &str| !matches!(file.answer(entry, import), Answer::Other);
    if (area.forbidden_imports.iter()).any(|rule| rule.covers(file.path, file.language) && is_named(&rule.entry)) {
        return Ok(true);
    }
    if let Some(rules) = &area.allowed_imports
        && import.kind != ImportKind::Declared
    {
        let is_unknown = |import: &Import| {
            !import.identity.is_empty()
                && !resolve::is_standard(file.language, import)
                && !(rules.iter()).any(|rule| imports::allows(&rule.entry, file.language, import))
        };
        if file.all(import).any(is_unknown) {
            return Ok(true);
        }
    }
    // To ask where their packages lie, the whole tree would have to be read.
    let is_followed = !graph::shares_names(file.language);
    if let Some(allowed) = area.may_depend_on.as_deref().filter(|_| is_followed)
        && let Target::Local(places) = own.candidate.resolve(file.language, import, file.path)?
    {
        let is_foreign = |place: &Vec<u8>| graph::owners(policy, place).any(|owner| !graph::may(area, allowed, owner));
        return Ok(places.iter().any(is_foreign));
    }
    Ok(false)
}

/// Whether a name that one of the areas forbids stands in the text; escapes may spell any.
fn is_mentioned<'a>(areas: impl IntoIterator<Item = &'a Area>, content: &[u8]) -> bool {
    let mut lower: Option<Vec<u8>> = None;
    areas.into_iter().any(|area| {
        let is_there = |entry: &str, lower: &[u8]| {
            let parts = entry.split(|c: char| !c.is_alphanumeric());
            let longest = parts.max_by_key(|part| part.len()).unwrap_or_default();
            memmem::find(lower, longest.to_ascii_lowercase().as_bytes()).is_some()
        };
        let lower = lower.get_or_insert_with(|| content.to_ascii_lowercase());
        area.forbidden_imports.iter().any(|rule| is_there(&rule.entry, lower))
            || ["\\x", "\\u"]
                .iter()
                .any(|sign| memmem::find(content, sign.as_bytes()).is_some())
    })
}

/// Whether there is an area whose import rules do not cover a source file, and the file says something that an area
/// forbids: a link may show it there.
pub(in crate::gate) fn is_told_elsewhere(policy: &Policy, path: &[u8], content: &[u8]) -> bool {
    let mut areas = policy.areas.iter().filter(|area| area.reads_imports());
    areas.clone().any(|area| !reads(area, path)) && is_mentioned(&mut areas, content)
}

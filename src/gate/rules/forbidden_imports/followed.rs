//! Files that another source file loads as source of its own language, whatever they are called: what C
//! includes, what `require` loads, what Rust and PHP include.
//!
//! Invariants: each is read once, also where it did not change, since the file that names it may have; what
//! the base already had it loaded for is judged as any other source. A file that lies in no area is read for
//! the areas of the one that loads it.

use std::collections::HashSet;

use super::sources::Source;
use super::{Known, reads};
use crate::gate::imports::{self, Import, ImportKind, Language};
use crate::gate::policy::{Area, Stance};
use crate::gate::resolve::Target;
use crate::gate::rules::{Resolvers, finding, is_regular, shown};
use crate::gate::tree::{Side, lookup};
use crate::gate::{Change, Oid, Policy, Rule, Tree, Unreadable, Verdict};

/// Files that are followed; in a hostile change each may name the next.
const MAX_FOLLOWED: usize = 1_000;
/// A changed file without a telling name is searched for includes up to this many bytes.
const MAX_STRAY: u64 = 1024 * 1024;
/// Names that are searched for before a file is read.
const FEW_NAMES: usize = 16;

/// What was followed so far.
#[derive(Default)]
pub(super) struct Followed {
    seen: HashSet<(Vec<u8>, Language)>,
}

impl Followed {
    /// The files that these imports load under a name that does not tell their language.
    pub(super) fn by<'p>(
        &mut self,
        policy: &'p Policy,
        own: &mut Resolvers<'p>,
        (path, language, areas): (&[u8], Language, &[&'p Area]),
        (found, known): (&[Import], &Known),
        verdict: &mut Verdict,
    ) -> Result<Vec<Source<'p>>, Unreadable> {
        let mut sources = Vec::new();
        for import in found.iter().filter(|import| may_load(language, import)) {
            let Target::Local(places) = own.candidate.resolve(language, import, path)? else {
                continue;
            };
            for place in places {
                if is_read_as(language, &place) {
                    continue;
                }
                let Some(after) = regular(own.candidate_tree, &place)? else {
                    continue;
                };
                if self.seen.contains(&(place.clone(), language)) {
                    continue;
                }
                if self.seen.len() >= MAX_FOLLOWED {
                    let key = areas.first().and_then(|area| area.import_key()).unwrap_or_default();
                    verdict.findings.push(finding(
                        Rule::Uninspectable,
                        path,
                        &key,
                        format!(
                            "more than {MAX_FOLLOWED} files are loaded under names that do not tell their language; no \
                             import rule looked at {} and further ones",
                            shown(&place)
                        ),
                        "give source the ending of its language, or load fewer files in one change".to_owned(),
                    ));
                    return Ok(sources);
                }
                let before = match known.has(import)? {
                    true => regular(own.base_tree, &place)?,
                    false => None,
                };
                let is_as_before = before.is_some_and(|before| before.id == after.id);
                if is_as_before && policy.existing == Stance::Allow {
                    continue;
                }
                self.seen.insert((place.clone(), language));
                let mut covering: Vec<&Area> = policy.areas.iter().filter(|area| reads(area, &place)).collect();
                if covering.is_empty() {
                    covering = areas.to_vec();
                }
                sources.push(Source {
                    path: place,
                    before,
                    after,
                    language,
                    areas: covering,
                    is_followed: true,
                });
            }
        }
        Ok(sources)
    }

    /// Changed files of no language that have includes of C and that a C file of the candidate includes, which need
    /// not have changed itself.
    pub(super) fn strays<'p>(
        &mut self,
        policy: &'p Policy,
        own: &mut Resolvers<'p>,
        changes: &[Change],
    ) -> Result<Vec<Source<'p>>, Unreadable> {
        let mut strays = Vec::new();
        for change in changes {
            let path = &change.path;
            let Some(after) = change.after.filter(is_regular) else {
                continue;
            };
            let is_as_before = change.before.is_some_and(|before| before.id == after.id);
            if is_as_before || imports::language(path).is_some() || imports::unread(path).is_some() {
                continue;
            }
            let areas: Vec<&Area> = policy.areas.iter().filter(|area| reads(area, path)).collect();
            if !areas.is_empty() && has_includes(own.candidate_tree, path, &after)? {
                strays.push(Source {
                    path: path.clone(),
                    before: change.before.filter(is_regular),
                    after,
                    language: Language::C,
                    areas,
                    is_followed: true,
                });
            }
        }
        if !strays.is_empty() {
            let included = included(own, strays.iter().map(|source| name(&source.path)).collect())?;
            strays.retain(|source| included.contains(&source.path));
        }
        for source in &strays {
            self.seen.insert((source.path.clone(), Language::C));
        }
        Ok(strays)
    }
}

/// Whether the import may load a file whose name says nothing, or another language, about what it is read as.
fn may_load(language: Language, import: &Import) -> bool {
    let name = name(written(import).as_bytes());
    if is_read_as(language, name) {
        return false;
    }
    let has_ending = name.iter().rposition(|&byte| byte == b'.').is_some_and(|at| at > 0);
    match language {
        // A library's own headers may have no ending, too.
        Language::C => import.kind == ImportKind::Include && (import.raw.starts_with('"') || has_ending),
        // Without an ending it is a module's name, or a file that only counts where it changed.
        Language::JavaScript => {
            let is_own = import.raw.starts_with('#') || import.raw.starts_with('.') && has_ending && name != b"..";
            import.kind == ImportKind::Require && is_own
        }
        Language::Rust | Language::Php => import.kind == ImportKind::Include,
        _ => false,
    }
}

/// Whether the name alone makes the file source of the language, or data to it.
fn is_read_as(language: Language, path: &[u8]) -> bool {
    let is_named = imports::language(path) == Some(language) && !imports::is_ambiguous(path);
    let is_data = language == Language::JavaScript && (path.ends_with(b".json") || path.ends_with(b".node"));
    is_named || is_data
}

/// The file at a path.
fn regular(tree: &dyn Tree, path: &[u8]) -> Result<Option<Side>, Unreadable> {
    let entry = lookup(tree, path)?;
    let side = entry.map(|entry| Side {
        kind: entry.kind,
        id: entry.id,
    });
    Ok(side.filter(is_regular))
}

/// Whether the file, read as C, includes anything.
fn has_includes(tree: &dyn Tree, path: &[u8], side: &Side) -> Result<bool, Unreadable> {
    if tree.blob_size(&side.id)? > MAX_STRAY {
        return Ok(false);
    }
    let content = tree.blob(&side.id)?;
    if memchr::memmem::find(&content, b"include").is_none() && !content.contains(&b'\\') {
        return Ok(false);
    }
    Ok(match imports::imports_at(path, Language::C, &content) {
        Ok(found) => found.iter().any(|import| import.kind == ImportKind::Include),
        Err(_) => false,
    })
}

/// The files of these names that a C file of the candidate includes.
fn included(own: &mut Resolvers, names: HashSet<&[u8]>) -> Result<HashSet<Vec<u8>>, Unreadable> {
    let all: Vec<(Vec<u8>, Side)> = own
        .candidate
        .files()?
        .regular()
        .into_iter()
        .filter(|(other, ..)| imports::language(other) == Some(Language::C))
        .map(|(other, kind, id)| (other.to_vec(), Side { kind, id }))
        .collect();
    let mut found = HashSet::new();
    for (other, side) in all {
        if own.candidate_tree.blob_size(&side.id)? > super::MAX_SOURCE {
            continue;
        }
        let content = own.candidate_tree.blob(&side.id)?;
        // To search for many costs more than to read.
        let is_silent = names.len() <= FEW_NAMES
            && !content.contains(&b'\\')
            && names.iter().all(|name| memchr::memmem::find(&content, name).is_none());
        if is_silent {
            continue;
        }
        // One that cannot be read and changed is a finding by itself.
        let Ok(read) = imports::imports_at(&other, Language::C, &content) else {
            continue;
        };
        for import in read.iter().filter(|import| may_load(Language::C, import)) {
            if names.contains(name(written(import).as_bytes()))
                && let Target::Local(places) = own.candidate.resolve(Language::C, import, &other)?
            {
                found.extend(places);
            }
        }
    }
    Ok(found)
}

/// What an import names, without delimiters.
fn written(import: &Import) -> &str {
    import.raw.trim_matches(['"', '<', '>'])
}

/// The last part of a path.
fn name(path: &[u8]) -> &[u8] {
    path.rsplit(|byte| matches!(byte, b'/' | b'\\')).next().unwrap_or(path)
}

/// Whether JavaScript cannot begin as this does: a byte that stands in no text, or is none of UTF-8's, before any
/// comment or string could hide it.
pub(super) fn is_no_script(tree: &dyn Tree, id: &Oid) -> Result<bool, Unreadable> {
    if tree.blob_size(id)? > MAX_IMAGE {
        return Ok(false);
    }
    let content = tree.blob(id)?;
    let start = &content[..content.len().min(64)];
    let end = start
        .iter()
        .position(|byte| b"/'\"`#<-".contains(byte))
        .unwrap_or(start.len());
    let is_none = |byte: &u8| matches!(byte, 0..=8 | 14..=31 | 0x80..=0xc1 | 0xf5..=0xff);
    let has_none = match std::str::from_utf8(&start[..end]) {
        Ok(text) => text.as_bytes().iter().any(|byte| matches!(byte, 0..=8 | 14..=31)),
        Err(error) => start[..=error.valid_up_to()].iter().any(is_none),
    };
    Ok(has_none)
}

/// Larger ones (bytes) are not read to be told from source.
const MAX_IMAGE: u64 = 10 << 20;

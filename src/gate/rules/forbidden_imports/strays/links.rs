//! Changed files that a link which did not change shows elsewhere: under the name of a source file, or in another
//! area.

use std::collections::{HashMap, HashSet};

use super::{Suspect, is_told_elsewhere};
use crate::gate::imports::{self, Language};
use crate::gate::policy::Area;
use crate::gate::rules::forbidden_imports::sources::{Loaded, Source};
use crate::gate::rules::forbidden_imports::{MAX_SOURCE, reads};
use crate::gate::rules::{Resolvers, is_regular, shown};
use crate::gate::survey::Survey;
use crate::gate::tree::{Side, join};
use crate::gate::{Change, Policy, Unreadable, Verdict};

/// Of more changed files than this it is cheaper to look for links than for names in each.
const FEW_FILES: usize = 64;
/// Files that are read once more because of links.
const MAX_SHOWN: usize = 2_000;

/// One changed file.
struct Target {
    before: Option<Side>,
    after: Side,
    /// What it may be read as, where its own name does not tell.
    languages: Vec<Language>,
    is_computed: bool,
}

/// The files to read, under the names that links give them.
pub(super) fn to<'p>(
    policy: &'p Policy,
    own: &mut Resolvers,
    suspects: &[Suspect],
    (changes, survey): (&[Change], &Survey),
    verdict: &mut Verdict,
) -> Result<Vec<Source<'p>>, Unreadable> {
    let mut targets: HashMap<&[u8], Target> = HashMap::new();
    for suspect in suspects {
        let target = targets.entry(&suspect.path).or_insert_with(|| Target {
            before: suspect.before,
            after: suspect.after,
            languages: Vec::new(),
            is_computed: suspect.is_computed,
        });
        target.languages.push(suspect.language);
    }
    for change in named(policy, own, changes, survey)? {
        if let Some(after) = change.after {
            targets.insert(
                &change.path,
                Target {
                    before: change.before.filter(is_regular),
                    after,
                    languages: Vec::new(),
                    is_computed: false,
                },
            );
        }
    }
    if targets.is_empty() {
        return Ok(Vec::new());
    }
    let changed: HashSet<&[u8]> = changes.iter().map(|change| change.path.as_slice()).collect();
    let files = own.candidate.files()?;
    let mut links: Vec<&[u8]> = files.links().filter(|link| !changed.contains(link)).collect();
    links.sort_unstable();
    let mut sorted: Vec<&[u8]> = targets.keys().copied().collect();
    sorted.sort_unstable();
    let mut sources = Vec::new();
    for link in links {
        let shows: Vec<(Vec<u8>, &[u8])> = if let Some(target) = files.file(link) {
            let target = sorted.binary_search(&target.as_slice()).ok().map(|at| sorted[at]);
            target.map(|target| (link.to_vec(), target)).into_iter().collect()
        } else if let Some(folder) = files.folder(link).filter(|folder| !folder.is_empty()) {
            let head = join(&folder, b"");
            let start = sorted.partition_point(|path| *path < head.as_slice());
            (sorted[start..].iter())
                .map_while(|path| Some((join(link, path.strip_prefix(head.as_slice())?), *path)))
                .collect()
        } else {
            Vec::new()
        };
        for (path, real) in shows {
            let Some(target) = targets.get(real) else { continue };
            let Some(language) = imports::language(&path) else {
                continue;
            };
            let is_told = target.languages.is_empty() && imports::language(real) == Some(language);
            let areas: Vec<&Area> = (policy.areas.iter()).filter(|area| reads(area, &path)).collect();
            let is_read = is_told && areas.iter().all(|area| reads(area, real));
            let is_suspect = target.languages.is_empty() || target.languages.contains(&language);
            if is_read || !is_suspect || areas.is_empty() && !target.is_computed {
                continue;
            }
            if sources.len() >= MAX_SHOWN {
                verdict.notices.push(format!(
                    "more than {MAX_SHOWN} changed files are shown elsewhere by links; no import rule looked at {} and \
                     further ones there",
                    shown(&path)
                ));
                return Ok(sources);
            }
            sources.push(Source {
                path,
                before: target.before,
                after: target.after,
                language,
                areas,
                loaded: Loaded::No,
                only: None,
            });
        }
    }
    Ok(sources)
}

/// The changed source files that say something an area may have to do with which they do not lie in.
fn named<'c>(
    policy: &Policy,
    own: &mut Resolvers,
    changes: &'c [Change],
    survey: &Survey,
) -> Result<Vec<&'c Change>, Unreadable> {
    let areas: Vec<&Area> = policy.areas.iter().filter(|area| area.reads_imports()).collect();
    let mut named: Vec<&Change> = (changes.iter())
        .filter(|change| {
            change.after.is_some_and(|after| is_regular(&after))
                && change.before.map(|before| before.id) != change.after.map(|after| after.id)
                && imports::language(&change.path).is_some()
                && areas.iter().any(|area| !reads(area, &change.path))
        })
        .collect();
    let asks_more = (areas.iter()).any(|area| area.may_depend_on.is_some() || area.allowed_imports.is_some());
    if asks_more || named.len() > FEW_FILES {
        return Ok(named);
    }
    let mut kept = Vec::new();
    for change in named.drain(..) {
        let Some(after) = change.after else { continue };
        if let Some(is_told) = survey.is_told_elsewhere(&change.path, &after.id) {
            if is_told {
                kept.push(change);
            }
            continue;
        }
        if own.candidate_tree.blob_size(&after.id)? > MAX_SOURCE {
            kept.push(change);
            continue;
        }
        let content = own.candidate_tree.blob(&after.id)?;
        if is_told_elsewhere(policy, &change.path, &content) {
            kept.push(change);
        }
    }
    Ok(kept)
}

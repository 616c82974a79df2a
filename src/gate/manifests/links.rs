//! Links that give a file the name of a manifest: tools read `a/package.json` whatever it leads to.
//!
//! Invariant: a changed file that a link of the candidate shows as a manifest is judged as that
//! manifest, under the link's path. A link that itself changes is none that can be read.

use std::collections::{HashMap, HashSet};

use super::format::format;
use crate::gate::imports::{self, Language};
use crate::gate::rules::{follow_link, is_regular};
use crate::gate::survey::Survey;
use crate::gate::tree::{Side, join};
use crate::gate::{Change, Kind, Tree, Unreadable};

/// Above this many entries the tree is not searched for links.
const MAX_ENTRIES: usize = 200_000;
/// Nor are more links than this followed.
const MAX_LINKS: usize = 10_000;

/// The links with a manifest's name, by the file that they lead to.
#[derive(Debug, Default)]
pub(super) struct Links {
    by_target: HashMap<Vec<u8>, Vec<Vec<u8>>>,
    /// That the search was given up, where it was.
    pub(super) notice: Option<String>,
}

/// Whether a link with the name of a manifest may lead to such a file: not to source, but for the
/// languages in which manifests are written.
fn may_be_a_manifest(tree: &dyn Tree, path: &[u8], side: &Side) -> Result<bool, Unreadable> {
    Ok(match imports::language(path) {
        Some(Language::Python) => reads_as_a_manifest(path, &tree.blob(&side.id)?),
        _ => reads_as_a_manifest(path, b""),
    })
}

/// The same, where the content is at hand.
pub(super) fn reads_as_a_manifest(path: &[u8], content: &[u8]) -> bool {
    match imports::language(path) {
        None | Some(Language::Ruby | Language::Kotlin) => true,
        Some(Language::Python) => content.windows(5).any(|window| window == b"setup"),
        Some(_) => false,
    }
}

impl Links {
    /// Those of the candidate that lead to a changed file and did not change themselves.
    /// The tree is only searched where one of them would be judged (`matters`).
    pub(super) fn of(
        candidate: &dyn Tree,
        changes: &[Change],
        survey: &Survey,
        matters: impl Fn(&Side) -> Result<bool, Unreadable>,
    ) -> Result<Links, Unreadable> {
        let mut links = Links::default();
        let mut targets: HashSet<&[u8]> = HashSet::new();
        for change in changes {
            if let Some(side) = change.after.filter(is_regular)
                && !survey.mentions_nothing(&change.path, &side.id)
                && may_be_a_manifest(candidate, &change.path, &side)?
                && matters(&side)?
            {
                targets.insert(&change.path);
            }
        }
        if targets.is_empty() {
            return Ok(links);
        }
        let changed: HashSet<&[u8]> = changes.iter().map(|change| change.path.as_slice()).collect();
        let mut open = vec![(Vec::new(), candidate.root())];
        let (mut seen, mut followed) = (0, 0);
        while let Some((prefix, folder)) = open.pop() {
            for entry in candidate.entries(&folder)? {
                seen += 1;
                let path = join(&prefix, &entry.name);
                match entry.kind {
                    Kind::Tree => open.push((path, entry.id)),
                    Kind::Symlink if format(&path).is_some() && !changed.contains(path.as_slice()) => {
                        followed += 1;
                        if let Some((target, _)) = follow_link(candidate, &path)?
                            && targets.contains(target.as_slice())
                        {
                            links.by_target.entry(target).or_default().push(path);
                        }
                    }
                    _ => {}
                }
                if seen > MAX_ENTRIES || followed > MAX_LINKS {
                    links.notice = Some(format!(
                        "more than {MAX_ENTRIES} entries or {MAX_LINKS} links in the tree: links with a manifest's name \
                         to changed files were not all looked for"
                    ));
                    return Ok(links);
                }
            }
        }
        Ok(links)
    }

    /// The links that lead to this file.
    pub(super) fn to(&self, path: &[u8]) -> &[Vec<u8>] {
        self.by_target.get(path).map_or(&[], Vec::as_slice)
    }
}

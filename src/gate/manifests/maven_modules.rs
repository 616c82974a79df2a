//! Which `group:artifact` of Maven are modules of this repository.
//!
//! Invariant: what a pom.xml says of itself is no way to let a package in. A module counts where the base has it,
//! or where its group is one that the base's modules have, or one below that: a change that adds a module of
//! another group cannot make a package of that group the repository's own. Entries that forbid look at all names
//! alike.

use std::collections::HashSet;

use super::maven;
use crate::gate::imports::may_hold_copies;
use crate::gate::tree::join;
use crate::gate::{Kind, Tree, Unreadable};

/// Entries of a tree above which, and modules after which, none are looked for.
const MAX_ENTRIES: usize = 300_000;
const MAX_MODULES: usize = 5_000;

/// The modules of base and candidate, read when the first is asked for.
#[derive(Default)]
pub(super) struct Modules {
    known: Option<HashSet<String>>,
}

impl Modules {
    /// Whether a name is a module of this repository.
    pub(super) fn has(&mut self, base: &dyn Tree, candidate: &dyn Tree, name: &str) -> Result<bool, Unreadable> {
        if self.known.is_none() {
            let before = modules(base)?;
            let groups: HashSet<&str> = before.iter().filter_map(|name| group(name)).collect();
            let mut after = modules(candidate)?;
            after.retain(|name| {
                let is_group = |group: &str| {
                    let mut ends = group.match_indices('.').map(|(at, _)| at);
                    groups.contains(group) || ends.any(|at| groups.contains(&group[..at]))
                };
                before.contains(name) || group(name).is_some_and(is_group)
            });
            self.known = Some(after);
        }
        Ok(self.known.as_ref().is_some_and(|known| known.contains(name)))
    }
}

fn group(name: &str) -> Option<&str> {
    name.split_once(':').map(|(group, _)| group)
}

/// What every pom.xml of a tree calls itself, but for copies of other people's.
fn modules(tree: &dyn Tree) -> Result<HashSet<String>, Unreadable> {
    let mut found = HashSet::new();
    let mut open = vec![(Vec::new(), tree.root())];
    let mut seen = 0;
    while let Some((prefix, folder)) = open.pop() {
        for entry in tree.entries(&folder)? {
            seen += 1;
            if seen > MAX_ENTRIES || found.len() > MAX_MODULES {
                return Ok(HashSet::new());
            }
            match entry.kind {
                Kind::Tree if !may_hold_copies(&entry.name) => open.push((join(&prefix, &entry.name), entry.id)),
                Kind::File | Kind::Executable
                    if entry.name == b"pom.xml" && tree.blob_size(&entry.id)? <= super::MAX_MANIFEST =>
                {
                    let text = String::from_utf8(tree.blob(&entry.id)?).unwrap_or_default();
                    found.extend(maven::coordinates(text.trim_start_matches('\u{feff}')));
                }
                _ => {}
            }
        }
    }
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::super::maven::coordinates;

    #[test]
    fn a_project_has_its_own_coordinates_or_its_parents_group() {
        let parent = "<parent><groupId>a.b</groupId><artifactId>all</artifactId></parent>";
        for (body, name) in [
            (
                "<groupId>a.b</groupId><artifactId>c</artifactId>".to_owned(),
                Some("a.b:c"),
            ),
            (format!("{parent}<artifactId>c</artifactId>"), Some("a.b:c")),
            (
                format!("{parent}<groupId>d</groupId><artifactId>c</artifactId>"),
                Some("d:c"),
            ),
            (format!("<groupId>d</groupId><artifactId>c</artifactId>{parent}"), None),
            ("<groupId>${x}</groupId><artifactId>c</artifactId>".to_owned(), None),
            ("<artifactId>c</artifactId>".to_owned(), None),
        ] {
            let text = format!("<project>{body}</project>");
            assert_eq!(coordinates(&text).as_deref(), name, "{body}");
        }
        assert_eq!(coordinates("<project>"), None);
    }
}

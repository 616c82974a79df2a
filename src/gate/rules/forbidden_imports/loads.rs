//! What Ruby's `load` runs as Ruby under a name that does not tell so: `load "./w.txt"`.
//!
//! Invariant: a file that no import rule reads, since its name and its first line are not Ruby's, is a finding where
//! code newly loads it, or where it changed since. `require` adds `.rb` to what it is given, so it needs none of this.

use super::Known;
use crate::gate::imports::{self, Import, ImportKind, Language};
use crate::gate::policy::Area;
use crate::gate::resolve::Target;
use crate::gate::rules::{Resolvers, finding, is_regular, shown};
use crate::gate::tree::{Side, lookup};
use crate::gate::{Finding, Rule, Tree, Unreadable};

/// A finding for each file that a Ruby file loads and that is not read as Ruby.
pub(super) fn judge(
    own: &mut Resolvers,
    (path, areas): (&[u8], &[&Area]),
    (found, known): (&[Import], &Known),
    findings: &mut Vec<Finding>,
) -> Result<(), Unreadable> {
    let Some(key) = areas.first().and_then(|area| area.import_key()) else {
        return Ok(());
    };
    for import in found.iter().filter(|import| import.kind == ImportKind::Include) {
        let Target::Local(places) = own.candidate.resolve(Language::Ruby, import, path)? else {
            continue;
        };
        for place in places {
            let Some(after) = regular(own.candidate_tree, &place)? else {
                continue;
            };
            let is_as_before =
                known.has(import)? && regular(own.base_tree, &place)?.is_some_and(|before| before.id == after.id);
            if is_as_before || is_ruby(own.candidate_tree, &place, &after)? {
                continue;
            }
            findings.push(Finding {
                line: Some(import.line),
                column: Some(import.column),
                ..finding(
                    Rule::Uninspectable,
                    path,
                    &key,
                    format!(
                        "loads {} as Ruby, and no import rule reads it under that name",
                        shown(&place)
                    ),
                    format!("give {} the ending `.rb`", shown(&place)),
                )
            });
        }
    }
    Ok(())
}

fn regular(tree: &dyn Tree, path: &[u8]) -> Result<Option<Side>, Unreadable> {
    let entry = lookup(tree, path)?;
    let side = entry.map(|entry| Side {
        kind: entry.kind,
        id: entry.id,
    });
    Ok(side.filter(is_regular))
}

/// Whether rules that cover the path read the file as Ruby.
fn is_ruby(tree: &dyn Tree, path: &[u8], side: &Side) -> Result<bool, Unreadable> {
    if imports::language(path).is_some() {
        return Ok(imports::language(path) == Some(Language::Ruby));
    }
    Ok(tree.blob_size(&side.id)? <= super::MAX_SOURCE
        && imports::language_of(path, &tree.blob(&side.id)?) == Some(Language::Ruby))
}

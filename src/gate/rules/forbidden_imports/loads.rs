//! What Ruby's `load` runs as Ruby under a name that does not tell so: `load "./w.txt"`.
//!
//! Invariant: a file that no import rule reads, since its name and its first line are not Ruby's, is a finding where
//! code newly loads it, or where it changed since. One that holds data by its ending, or that a file with a `load` of its
//! own names, is one only if it would import something as Ruby. `require` adds `.rb` to what it is given, so it needs none of this.

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
            // A `load` of the file's own reads something else, and so, most often, does one of what holds data.
            if (is_data(&place) || defines_load(own.candidate_tree, path)?)
                && !imports_as_ruby(own.candidate_tree, &after)?
            {
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
    if imports::is_template(path) {
        return Ok(false);
    }
    if imports::language(path).is_some() {
        return Ok(imports::language(path) == Some(Language::Ruby));
    }
    Ok(tree.blob_size(&side.id)? <= super::MAX_SOURCE
        && imports::language_of(path, &tree.blob(&side.id)?) == Some(Language::Ruby))
}

/// Endings of what a `load` that is not Ruby's reads.
const DATA: &[&[u8]] = &[
    b".yml", b".yaml", b".json", b".toml", b".csv", b".tsv", b".xml", b".ini", b".env", b".po", b".mo", b".sql",
];

fn is_data(path: &[u8]) -> bool {
    let name = path.to_ascii_lowercase();
    DATA.iter().any(|ending| name.ends_with(ending))
}

/// Whether a method `load` is defined in the file; in a comment it counts, too.
fn defines_load(tree: &dyn Tree, path: &[u8]) -> Result<bool, Unreadable> {
    let Some(side) = regular(tree, path)? else {
        return Ok(false);
    };
    if tree.blob_size(&side.id)? > super::MAX_SOURCE {
        return Ok(false);
    }
    let content = tree.blob(&side.id)?;
    let ends = |rest: &[u8]| {
        !matches!(
            rest.first(),
            Some(b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'_' | b'?' | b'!' | b'=')
        )
    };
    let found = memchr::memmem::find_iter(&content, b"def ").any(|at| {
        let name = content[at + 4..].trim_ascii_start();
        let name = name.strip_prefix(b"self.").unwrap_or(name);
        name.strip_prefix(b"load").is_some_and(ends)
    });
    Ok(found)
}

/// Whether the file is Ruby that imports something.
fn imports_as_ruby(tree: &dyn Tree, side: &Side) -> Result<bool, Unreadable> {
    if tree.blob_size(&side.id)? > super::MAX_SOURCE {
        return Ok(true);
    }
    // What Ruby cannot read it does not run.
    Ok(imports::imports_at(b"", Language::Ruby, &tree.blob(&side.id)?).is_ok_and(|found| !found.is_empty()))
}

//! What the policy and a task say to the names in a manifest, before anybody changes it.
//!
//! Invariant: which rules look at the file is asked of the same functions as in a judgement.

use super::format::{format, is_of_an_image, is_unread};
use super::inline::{self, Inline};
use super::judges::{self, Judges, Speaks};
use crate::gate::policy::{ImportRule, NameRule};
use crate::gate::tree::lookup;
use crate::gate::{Kind, Policy, Tree, Unreadable};

/// The rules that look at one manifest.
#[derive(Clone, Debug)]
pub struct ManifestRules {
    /// Whether this version reads the names in it.
    pub is_read: bool,
    /// The keys that refuse every new name, such as `dependencies.new` and `task: Non-goals`.
    pub denials: Vec<String>,
    /// Names that the policy lets through all the same, as written; the task lets through none.
    pub allowed: Vec<String>,
    /// Names that it must not newly declare.
    pub forbidden: Vec<NameRule>,
    /// Packages that an area must not import, and that it must therefore not declare.
    pub of_areas: Vec<ImportRule>,
}

/// The rules that look at a manifest of this path; `None` for a file that is none. A source file is one if it has a
/// list of its own in this tree.
///
/// # Errors
/// A folder or the file's content that cannot be read.
pub fn rules_for(
    policy: &Policy,
    tree: &dyn Tree,
    path: &[u8],
    is_ruled_out: bool,
) -> Result<Option<ManifestRules>, Unreadable> {
    let by_name = format(path);
    let inline = match by_name {
        Some(_) => Inline::Nothing,
        None => inline_of(tree, path)?,
    };
    let format = match inline {
        Inline::Read => inline::format(path),
        Inline::Nothing | Inline::Unread => by_name,
    };
    if format.is_none() && inline == Inline::Nothing && !is_unread(path) {
        return Ok(None);
    }
    let speaks = match inline != Inline::Nothing || is_of_an_image(path) {
        true => Speaks::ForItself,
        false => Speaks::ForFolders,
    };
    let judges = Judges {
        areas: judges::areas(policy, tree, tree, path, format, speaks)?,
        ..Judges::everywhere(policy, is_ruled_out)
    };
    let names = |list: &[NameRule]| list.iter().map(|rule| rule.entry.clone()).collect();
    let of_areas = judges.areas.iter().flat_map(|area| &area.forbidden_imports);
    let is_for_it = |rule: &&ImportRule| {
        let languages = format.map_or(&[][..], |format| format.ecosystem().languages());
        let is_of_another = format.is_some()
            && !rule.languages.is_empty()
            && !languages.iter().any(|language| rule.languages.contains(language));
        !is_of_another && !rule.excepts(path)
    };
    Ok(Some(ManifestRules {
        is_read: format.is_some(),
        denials: judges.denials().into_iter().map(str::to_owned).collect(),
        allowed: judges
            .dependencies
            .map(|rules| names(&rules.allowed))
            .unwrap_or_default(),
        forbidden: judges
            .dependencies
            .map(|rules| rules.forbidden.clone())
            .unwrap_or_default(),
        of_areas: of_areas.filter(is_for_it).cloned().collect(),
    }))
}

/// What the file has in this tree besides its code.
fn inline_of(tree: &dyn Tree, path: &[u8]) -> Result<Inline, Unreadable> {
    if !inline::may_have(path) {
        return Ok(Inline::Nothing);
    }
    match lookup(tree, path)?.filter(|entry| matches!(entry.kind, Kind::File | Kind::Executable)) {
        Some(entry) if tree.blob_size(&entry.id)? <= super::MAX_MANIFEST => {
            Ok(inline::of(path, &tree.blob(&entry.id)?))
        }
        _ => Ok(Inline::Nothing),
    }
}

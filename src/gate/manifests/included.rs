//! Manifests under other names: requirements that a known requirements file includes with `-r`
//! or `-c`, those that pyproject.toml or setup.cfg name as the place of its dynamic dependencies, and what a Gemfile
//! evaluates as a part of itself (`eval_gemfile "x.lst"`).
//!
//! Invariant: a changed file that the candidate's manifests read so is judged so, whatever it is called.

use std::collections::{HashMap, HashSet};

use super::format::{Format, format};
use super::{BYTE_ORDER_MARK, MAX_MANIFEST, pip, python, ruby, setup_cfg};
use crate::gate::imports::{self, Language};
use crate::gate::rules::is_regular;
use crate::gate::tree::{Side, join};
use crate::gate::{Change, Kind, Oid, Tree, Unreadable};

/// Above this many entries the tree is not searched for files that include others.
const MAX_ENTRIES: usize = 200_000;

/// Files that count as manifests although their names do not say so.
#[derive(Debug, Default)]
pub(super) struct Included {
    paths: HashMap<Vec<u8>, Format>,
    /// That the search was given up, where it was.
    pub(super) notice: Option<String>,
}

/// A file that may name others.
struct Source {
    path: Vec<u8>,
    id: Oid,
    format: Format,
    /// Whether its own names count: those of a constraints file install nothing.
    counts: bool,
}

impl Included {
    /// Those of the candidate. The tree is only searched where a changed file could be one and
    /// would then be judged (`matters`).
    pub(super) fn of(
        candidate: &dyn Tree,
        changes: &[Change],
        matters: impl Fn(&Side) -> Result<bool, Unreadable>,
    ) -> Result<Included, Unreadable> {
        let mut is_wanted = false;
        // A list that changes itself may name anything; one that did not names no source.
        let is_listed = changes
            .iter()
            .any(|change| format(&change.path) == Some(Format::Requirements));
        // Of Ruby any file may be evaluated, too.
        let may_be_one = |path: &[u8]| {
            let language = imports::language(path);
            format(path).is_none() && (is_listed || matches!(language, None | Some(Language::Ruby)))
        };
        for change in changes.iter().filter(|change| may_be_one(&change.path)) {
            if let Some(side) = change.after.filter(is_regular) {
                is_wanted = is_wanted || matters(&side)?;
            }
        }
        if !is_wanted {
            return Ok(Included::default());
        }
        let Some((mut open, files)) = sources(candidate)? else {
            return Ok(Included {
                notice: Some(format!(
                    "more than {MAX_ENTRIES} entries in the tree: files that requirements include under other names \
                     were not looked for"
                )),
                ..Included::default()
            });
        };
        let mut included = Included::default();
        let mut seen: HashSet<(Vec<u8>, bool)> = HashSet::new();
        while let Some(source) = open.pop() {
            if !seen.insert((source.path.clone(), source.counts)) {
                continue;
            }
            if matches!(source.format, Format::Requirements | Format::Ruby) && source.counts {
                included.paths.insert(source.path.clone(), source.format);
            }
            for (name, counts) in named(candidate, &source)? {
                let folder = match source.path.iter().rposition(|&byte| byte == b'/') {
                    Some(at) => &source.path[..at],
                    None => b"",
                };
                let Some(path) = resolved(folder, &name) else { continue };
                if let Some(&id) = files.get(&path) {
                    let format = match source.format {
                        Format::Ruby => Format::Ruby,
                        _ => Format::Requirements,
                    };
                    open.push(Source {
                        path,
                        id,
                        format,
                        counts,
                    });
                }
            }
        }
        Ok(included)
    }

    /// How the file is read, if manifests include it.
    pub(super) fn format(&self, path: &[u8]) -> Option<Format> {
        self.paths.get(path).copied()
    }
}

type Files = HashMap<Vec<u8>, Oid>;

/// Known requirements files, pyproject.tomls, setup.cfgs and Gemfiles of the tree, and all its files.
fn sources(tree: &dyn Tree) -> Result<Option<(Vec<Source>, Files)>, Unreadable> {
    let mut found = Vec::new();
    let mut files = Files::new();
    let mut open = vec![(Vec::new(), tree.root())];
    let mut seen = 0;
    while let Some((prefix, folder)) = open.pop() {
        for entry in tree.entries(&folder)? {
            seen += 1;
            if seen > MAX_ENTRIES {
                return Ok(None);
            }
            let path = join(&prefix, &entry.name);
            match entry.kind {
                Kind::Tree => open.push((path, entry.id)),
                Kind::File | Kind::Executable => {
                    if let Some(format @ (Format::Requirements | Format::Pyproject | Format::SetupCfg | Format::Ruby)) =
                        format(&path)
                    {
                        found.push(Source {
                            path: path.clone(),
                            id: entry.id,
                            format,
                            counts: true,
                        });
                    }
                    files.insert(path, entry.id);
                }
                Kind::Symlink | Kind::Submodule => {}
            }
        }
    }
    Ok(Some((found, files)))
}

/// The files that this one names, and whether their own names count. What cannot be read names
/// none; where it changed, that is a finding of its own.
fn named(tree: &dyn Tree, source: &Source) -> Result<Vec<(String, bool)>, Unreadable> {
    if tree.blob_size(&source.id)? > MAX_MANIFEST {
        return Ok(Vec::new());
    }
    let bytes = tree.blob(&source.id)?;
    let Ok(text) = std::str::from_utf8(bytes.strip_prefix(BYTE_ORDER_MARK).unwrap_or(&bytes)) else {
        return Ok(Vec::new());
    };
    let dynamic = match source.format {
        Format::Pyproject => Some(python::dynamic_files(text)),
        Format::SetupCfg => Some(setup_cfg::files(text)),
        Format::Ruby => Some(ruby::evaluated(text)),
        _ => None,
    };
    if let Some(files) = dynamic {
        return Ok(files.into_iter().map(|file| (file, true)).collect());
    }
    let read = pip::read(text);
    let includes = read.includes.into_iter().map(|file| (file, true));
    let constraints = read.constraints.into_iter().map(|file| (file, false));
    Ok(includes.chain(constraints).collect())
}

/// A path as written in a file of this folder, from the root; `None` where it leaves the tree.
fn resolved(folder: &[u8], name: &str) -> Option<Vec<u8>> {
    if name.starts_with('/') || name.contains("://") {
        return None;
    }
    let mut parts: Vec<&[u8]> = folder
        .split(|&byte| byte == b'/')
        .filter(|part| !part.is_empty())
        .collect();
    for part in name.as_bytes().split(|&byte| byte == b'/') {
        match part {
            b"" | b"." => {}
            b".." => {
                parts.pop()?;
            }
            part => parts.push(part),
        }
    }
    Some(parts.join(&b'/'))
}

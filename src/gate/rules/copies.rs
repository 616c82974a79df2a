//! Folders called `vendors`: copies of other people's packages in one repository, the repository's own code about
//! those it buys from in the next.
//!
//! Invariant: what lies directly in such a folder is a copy only where it shows: it is a folder with a manifest or a
//! licence of its own, has a release in its name, is a repository of its own, or is not in the tree at all. Base
//! and candidate both count: who edits a copy must not turn it into own code by deleting its licence. Such
//! a copy counts like one in `vendor`, under which name it is noted.

use std::collections::HashMap;

use memchr::memmem;

use super::Resolvers;
use crate::gate::imports::{
    self, Import, ImportKind, Language, VENDORS, has_release, include_identity, javascript_identity, vendored,
    vendors_as_vendor,
};
use crate::gate::resolve::Files;
use crate::gate::tree::join;
use crate::gate::{Kind, Unreadable};

/// Folders below `vendors` that may stand before a copy: for its language, its organisation.
const MAX_DEPTH: usize = 4;
/// Files that a package brings and a folder of own code does not, in lower case.
const MANIFESTS: &[&str] = &[
    "package.json",
    "bower.json",
    "component.json",
    "setup.py",
    "setup.cfg",
    "pyproject.toml",
    "pkg-info",
    "cargo.toml",
    "go.mod",
    "composer.json",
    "pom.xml",
    "py.typed",
];
/// Beginnings of the names of such files.
const LICENCES: &[&str] = &["license", "licence", "copying", "unlicense", "changelog", "changes."];
/// Ends of the names of such files.
const ENDINGS: &[&str] = &[".gemspec", ".podspec", ".nuspec", ".min.js", ".min.mjs", ".min.cjs"];
/// Files that are such a folder's own module, in it and beside it.
const INDEXES: &[&[u8]] = &[b"__init__.py", b"mod.rs"];
const MODULES: &[&str] = &["vendors.py", "vendors.rs"];

/// Notes for each import that is a path into a copy below `vendors` what it is as one below `vendor`.
pub(super) fn leads(
    language: Language,
    found: &[Import],
    own: &mut Resolvers,
    leads: &mut HashMap<String, Vec<Import>>,
) -> Result<(), Unreadable> {
    // In C each of them counts, see `vendored_c`.
    if language == Language::C {
        return Ok(());
    }
    let mut more: Vec<(String, Import)> = Vec::new();
    for import in found {
        if import.kind == ImportKind::Opaque || more.iter().any(|(raw, _)| *raw == import.raw) {
            continue;
        }
        let meant = leads.get(&import.raw).into_iter().flatten();
        for meant in std::iter::once(import).chain(meant) {
            if let Some(lead) = as_copy(language, meant, own)? {
                more.push((import.raw.clone(), lead));
            }
        }
    }
    for (raw, lead) in more {
        leads.entry(raw).or_default().push(lead);
    }
    Ok(())
}

/// The import as one of the same copy in `vendor`, if it is one of a copy in `vendors`.
fn as_copy(language: Language, import: &Import, own: &mut Resolvers) -> Result<Option<Import>, Unreadable> {
    if !import
        .raw
        .as_bytes()
        .windows(2)
        .any(|two| two.eq_ignore_ascii_case(b"rs"))
    {
        return Ok(None);
    }
    let Some(raw) = vendors_as_vendor(&import.raw) else {
        return Ok(None);
    };
    let mut lead = Import { raw, ..import.clone() };
    // Another folder of copies behind it names the package.
    let below = match (
        imports::below_copies(language, import),
        imports::below_copies(language, &lead),
    ) {
        (Some(_), _) | (_, None) => return Ok(None),
        (None, Some(below)) => below,
    };
    if below.is_empty() || !is_copy(language, &below, own)? {
        return Ok(None);
    }
    lead.identity = match language {
        Language::JavaScript => javascript_identity(&lead.raw),
        Language::Ruby | Language::Php => include_identity(&vendored(&lead.raw).unwrap_or_default().join("/")),
        _ => lead.identity,
    };
    Ok(Some(lead))
}

/// Whether what lies at this path below a folder `vendors` is somebody else's.
fn is_copy(language: Language, below: &[String], own: &mut Resolvers) -> Result<bool, Unreadable> {
    if has_release(&below[0]) || below[0].contains(".min.") {
        return Ok(true);
    }
    // The ending may be left out, and be another than it seems: `./x.js` is x.ts.
    let stem = below[0].split('.').next().unwrap_or_default().as_bytes();
    let is_it = |name: &[u8]| {
        let is_minified = memmem::find(name, b".min.").is_some();
        !is_minified && matches!(name.strip_prefix(stem), Some([] | [b'.', ..]))
    };
    let mut is_there = false;
    for resolver in [&mut own.candidate, &mut own.base] {
        let files = resolver.files()?;
        if !files.is_whole() {
            return Ok(true);
        }
        // A name of Python and Rust may be one inside of the module itself.
        let is_dotted = matches!(language, Language::Python | Language::Rust);
        is_there |= is_dotted && MODULES.iter().any(|name| !files.named(name.as_bytes()).is_empty());
        for home in files.folders().filter(|path| is_vendors(path)) {
            let mut path = home.to_vec();
            for part in below.iter().take(MAX_DEPTH) {
                path = join(&path, part.as_bytes());
                if is_marked(files, &path)? {
                    return Ok(true);
                }
            }
            for entry in files.list(home)? {
                if entry.kind == Kind::Submodule && is_it(&entry.name) {
                    return Ok(true);
                }
                is_there |= is_it(&entry.name) || is_dotted && INDEXES.contains(&entry.name.as_slice());
            }
        }
    }
    Ok(!is_there)
}

fn is_vendors(path: &[u8]) -> bool {
    let name = path.rsplit(|&byte| byte == b'/').next().unwrap_or_default();
    name.eq_ignore_ascii_case(VENDORS.as_bytes())
}

/// Whether a folder holds what only a package of its own does.
fn is_marked(files: &Files, folder: &[u8]) -> Result<bool, Unreadable> {
    Ok(files.list(folder)?.iter().any(|entry| {
        let name = String::from_utf8_lossy(&entry.name).to_ascii_lowercase();
        MANIFESTS.contains(&name.as_str())
            || LICENCES.iter().any(|head| name.starts_with(head))
            || ENDINGS.iter().any(|end| name.ends_with(end))
            || has_release(&name) && name.ends_with("-info")
    }))
}

//! Copies of other people's packages that only the tree tells: what lies in a folder called `vendors`, which holds copies
//! in one repository and the repository's own code about those it buys from in the next, and what lies in a folder
//! inside of a folder of copies (`third_party/databases/redis`).
//!
//! Invariant: what lies directly in such a folder is a copy only where it shows: it is a folder with a manifest or a
//! licence of its own, has a release in its name, is a repository of its own, or is not in the tree at all. Base
//! and candidate both count: who edits a copy must not turn it into own code by deleting its licence. Such
//! a copy counts like one in `vendor`, under which name it is noted. A folder in a folder of copies groups them where no
//! file lies in it but such as say who cares for it: a package has files of its own.

use std::collections::{HashMap, HashSet};

use memchr::memmem;

use super::Resolvers;
use crate::gate::imports::{
    self, Import, ImportKind, Language, VENDORS, has_release, include_identity, javascript_identity, vendored,
    vendors_as_vendor,
};
use crate::gate::resolve::Files;
use crate::gate::tree::join;
use crate::gate::{Entry, Kind, Unreadable};

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
/// Files that a folder of packages may have, in lower case.
const OF_GROUPS: &[&str] = &[
    "owners",
    "codeowners",
    "build",
    "build.bazel",
    "build.gn",
    ".gitkeep",
    ".gitignore",
    ".gitattributes",
    "readme",
    "readme.md",
    "readme.txt",
];
/// Files that are such a folder's own module, in it and beside it.
const INDEXES: &[&[u8]] = &[b"__init__.py", b"mod.rs"];
const MODULES: &[&str] = &["vendors.py", "vendors.rs"];

/// What is known of such folders, each asked once.
#[derive(Default)]
pub(super) struct Copies {
    /// By the path below a folder `vendors`, and whether a module may name it.
    vendors: HashMap<(Vec<String>, bool), bool>,
    /// By the path below a folder of copies, its last part the package.
    groups: HashMap<Vec<String>, bool>,
}

impl Copies {
    /// Notes for each import that is a path into such a copy what it is as one directly below `vendor`.
    pub(super) fn leads(
        &mut self,
        language: Language,
        found: &[Import],
        own: &mut Resolvers,
        leads: &mut HashMap<String, Vec<Import>>,
    ) -> Result<(), Unreadable> {
        let mut seen: HashSet<&str> = HashSet::new();
        let mut more: Vec<(String, Import)> = Vec::new();
        for import in found {
            if import.kind == ImportKind::Opaque || !seen.insert(&import.raw) {
                continue;
            }
            let meant = leads.get(&import.raw).into_iter().flatten();
            for meant in std::iter::once(import)
                .chain(meant)
                .filter(|import| imports::may_be_copy(import))
            {
                let copies = self
                    .as_copy(language, meant, own)?
                    .into_iter()
                    .chain(self.grouped(language, meant, own)?);
                more.extend(copies.map(|lead| (import.raw.clone(), lead)));
            }
        }
        for (raw, lead) in more {
            leads.entry(raw).or_default().push(lead);
        }
        Ok(())
    }

    /// The import as one of the same copy in `vendor`, if it is one of a copy in `vendors`.
    fn as_copy(
        &mut self,
        language: Language,
        import: &Import,
        own: &mut Resolvers,
    ) -> Result<Option<Import>, Unreadable> {
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
        if below.is_empty() {
            return Ok(None);
        }
        // A name of Python and Rust may be one inside of the module itself.
        let is_dotted = matches!(language, Language::Python | Language::Rust);
        let key = (below.into_iter().take(MAX_DEPTH).collect::<Vec<_>>(), is_dotted);
        let is_copy = match self.vendors.get(&key) {
            Some(known) => *known,
            None => {
                let is_copy = is_copy(&key.0, is_dotted, own)?;
                self.vendors.insert(key, is_copy);
                is_copy
            }
        };
        if !is_copy {
            return Ok(None);
        }
        lead.identity = identity(language, lead.identity, &lead.raw);
        Ok(Some(lead))
    }

    /// The import as those of the packages that a path into a folder of copies may name behind folders that group them.
    fn grouped(&mut self, language: Language, import: &Import, own: &mut Resolvers) -> Result<Vec<Import>, Unreadable> {
        let Some(below) = imports::below_copies(language, import).filter(|below| below.len() > 1) else {
            return Ok(Vec::new());
        };
        let mut found = Vec::new();
        for depth in 1..below.len().min(MAX_DEPTH) {
            // A scope is a part of the name.
            if below[depth - 1].starts_with('@') {
                break;
            }
            let key = &below[..=depth];
            let is_group = match self.groups.get(key) {
                Some(known) => *known,
                None => {
                    let is_group = is_group(&below[..depth], &below[depth], own)?;
                    self.groups.insert(key.to_vec(), is_group);
                    is_group
                }
            };
            if !is_group {
                break;
            }
            let rest = &below[depth..];
            let raw = match language {
                Language::Python => format!("vendor.{}", rest.join(".")),
                Language::Rust if import.kind != ImportKind::Include => format!("crate::vendor::{}", rest.join("::")),
                Language::C => format!("\"./vendor/{}\"", rest.join("/")),
                Language::Go => format!("x/vendor/{}", rest.join("/")),
                _ => format!("./vendor/{}", rest.join("/")),
            };
            let path = raw.trim_matches('"');
            found.push(Import {
                identity: identity(language, import.identity.clone(), path),
                raw,
                ..import.clone()
            });
        }
        Ok(found)
    }
}

/// What an import of a path into a folder of copies is compared by.
fn identity(language: Language, written: Vec<String>, raw: &str) -> Vec<String> {
    match language {
        Language::JavaScript => javascript_identity(raw),
        Language::Ruby | Language::Php | Language::C => include_identity(&vendored(raw).unwrap_or_default().join("/")),
        _ => written,
    }
}

/// Whether these folders of a folder of copies hold nothing but other folders, of which one has this name.
fn is_group(group: &[String], package: &str, own: &mut Resolvers) -> Result<bool, Unreadable> {
    let files = own.candidate.files()?;
    for home in files.copies().iter().filter(|path| !is_vendors(path)) {
        let folder = group
            .iter()
            .fold(home.to_vec(), |path, part| join(&path, part.as_bytes()));
        if files.folder(&join(&folder, package.as_bytes())).is_none() {
            continue;
        }
        let listing = files.list(&folder)?;
        let is_quiet = |entry: &Entry| {
            let name = String::from_utf8_lossy(&entry.name).to_ascii_lowercase();
            entry.kind == Kind::Tree || entry.kind == Kind::Submodule || OF_GROUPS.contains(&name.as_str())
        };
        if listing.iter().all(is_quiet) {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Whether what lies at this path below a folder `vendors` is somebody else's.
fn is_copy(below: &[String], is_dotted: bool, own: &mut Resolvers) -> Result<bool, Unreadable> {
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
        is_there |= is_dotted && MODULES.iter().any(|name| !files.named(name.as_bytes()).is_empty());
        for home in files.copies().iter().filter(|path| is_vendors(path)) {
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

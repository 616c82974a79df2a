//! C#: a namespace is every file that declares it, since namespaces are not paths.
//!
//! `System` and `Microsoft` are never the repository's own: declaring an extension in a namespace of
//! the framework is common and makes the namespace no part of the project. All .cs files of the tree
//! are read once for their declarations, and project files for the packages that they name.

use std::collections::{HashMap, HashSet};

use super::Target;
use super::csharp_heads::{Head, Heads};
use super::files::{Files, name};
use crate::gate::imports::{ImportKind, Language, imports_at};
use crate::gate::manifests::nuget_names;
use crate::gate::tree::Unreadable;

/// Segments of a name that are looked at; the type stands among them.
const MAX_SEGMENTS: usize = 64;
/// First segments that are the framework's, in lower case.
const FRAMEWORK: &[&str] = &["system", "microsoft", "windows"];

/// The namespaces of the tree, in lower case: the language does not tell cases of a path apart
/// where it matters here.
pub(super) struct Namespaces {
    files: HashMap<String, Vec<Vec<u8>>>,
    /// First segments, up to two, of all namespaces.
    heads: HashSet<String>,
    /// Every beginning of a namespace, by whole segments.
    beginnings: HashSet<String>,
    /// Segments that are not the first one.
    inner: HashSet<String>,
    /// What else the tree tells of names.
    names: Heads,
}

/// Project files that may name packages.
const PROJECTS: &[&[u8]] = &[
    b"proj",
    b".props",
    b".targets",
    b"packages.config",
    b"packages.lock.json",
];

/// Reads the declarations, once.
pub(super) fn namespaces<'k>(files: &Files, known: &'k mut Option<Namespaces>) -> Result<&'k Namespaces, Unreadable> {
    if known.is_none() {
        let mut paths: Vec<&Vec<u8>> = files.ending(&[b".cs"]).collect();
        paths.sort_unstable();
        let mut namespaces = Namespaces {
            files: HashMap::new(),
            heads: HashSet::new(),
            beginnings: HashSet::new(),
            inner: HashSet::new(),
            names: Heads::default(),
        };
        for path in paths {
            let text = files.text(path)?.unwrap_or_default();
            namespaces.names.note_source(&text);
            let mut found: HashSet<String> = declared(&text).collect();
            // More than one may be nested, on one line, too; the names of each are joined by who reads the braces.
            if text.matches("namespace").nth(1).is_some()
                && let Ok(imports) = imports_at(path, Language::CSharp, text.as_bytes())
            {
                let declared = imports.into_iter().filter(|import| import.kind == ImportKind::Declared);
                found.extend(declared.map(|import| import.raw.to_lowercase()));
            }
            for namespace in found {
                let head: Vec<&str> = namespace.split('.').take(2).collect();
                namespaces.heads.insert(head.join("."));
                namespaces.note_beginnings(&namespace);
                namespaces.files.entry(namespace).or_default().push(path.clone());
            }
        }
        for path in files.ending(PROJECTS) {
            let text = files.text(path)?.unwrap_or_default();
            for package in nuget_names(path, &text) {
                namespaces.names.note(&package);
            }
        }
        *known = Some(namespaces);
    }
    match known {
        Some(known) => Ok(known),
        None => unreachable!("it was set above"),
    }
}

impl Namespaces {
    fn note_beginnings(&mut self, namespace: &str) {
        for (at, _) in namespace.match_indices('.').take(MAX_SEGMENTS) {
            self.beginnings.insert(namespace[..at].to_owned());
        }
        self.beginnings.insert(namespace.to_owned());
        let inner = namespace.split('.').skip(1).take(MAX_SEGMENTS);
        self.inner.extend(inner.map(str::to_owned));
    }

    /// What the first of these names is, in this tree alone.
    pub(super) fn head(&self, identity: &[String]) -> Head {
        self.names.of(identity, |root| self.has(std::iter::once(root)))
    }

    /// Whether a file declares a type of this name.
    pub(super) fn declares(&self, name: &str) -> bool {
        self.names.declares(name)
    }

    /// Whether a namespace has this segment behind its first.
    pub(super) fn has_inner(&self, segment: &str) -> bool {
        self.inner.contains(&segment.to_lowercase())
    }

    /// Whether there is a namespace of this name or one below it; none of the framework's.
    pub(super) fn has<'n>(&self, segments: impl Iterator<Item = &'n str>) -> bool {
        let name = joined(segments);
        !FRAMEWORK.contains(&name.split('.').next().unwrap_or_default()) && self.beginnings.contains(&name)
    }

    /// Whether a file of this namespace is named like the type.
    pub(super) fn has_type<'n>(&self, segments: impl Iterator<Item = &'n str>, type_name: &str) -> bool {
        let type_name = type_name.to_lowercase();
        let paths = self.files_of(&joined(segments));
        paths.iter().any(|path| stem(path) == type_name)
    }

    /// The files that declare exactly this namespace, sorted; none of the framework's.
    pub(super) fn files_of(&self, namespace: &str) -> &[Vec<u8>] {
        let name = namespace.to_lowercase();
        let first = name.split('.').next().unwrap_or_default();
        if FRAMEWORK.contains(&first) {
            return &[];
        }
        self.files.get(&name).map_or(&[], Vec::as_slice)
    }
}

/// Where a namespace or a type of one leads: to the file that is named like the type, else to every
/// file that declares the namespace.
pub(super) fn resolve(namespaces: &Namespaces, identity: &[String]) -> Target {
    let names: Vec<String> = identity
        .iter()
        .take(MAX_SEGMENTS)
        .map(|name| name.to_lowercase())
        .collect();
    if names.first().is_none_or(|first| FRAMEWORK.contains(&first.as_str())) {
        return Target::External;
    }
    for depth in (1..=names.len()).rev() {
        let Some(paths) = namespaces.files.get(&names[..depth].join(".")) else {
            continue;
        };
        if let Some(class) = names.get(depth) {
            let class: Vec<Vec<u8>> = paths.iter().filter(|path| stem(path) == *class).cloned().collect();
            if !class.is_empty() {
                return Target::Local(class);
            }
        }
        return Target::Local(paths.clone());
    }
    let head = names.iter().take(2).map(String::as_str).collect::<Vec<_>>().join(".");
    match names.len() > 1 && namespaces.heads.contains(&head) {
        true => Target::unresolved("no file of the repository declares such a namespace"),
        false => Target::External,
    }
}

/// The name of a file before its first dot, in lower case.
fn stem(path: &[u8]) -> String {
    let name = String::from_utf8_lossy(name(path)).to_lowercase();
    name.split('.').next().unwrap_or_default().to_owned()
}

fn joined<'n>(segments: impl Iterator<Item = &'n str>) -> String {
    segments.collect::<Vec<_>>().join(".").to_lowercase()
}

/// The namespaces that lines declare, in lower case, as they are written.
fn declared(text: &str) -> impl Iterator<Item = String> {
    text.lines().filter_map(|line| {
        let rest = line
            .trim_start_matches('\u{feff}')
            .trim_start()
            .strip_prefix("namespace")?;
        if !rest.starts_with([' ', '\t']) {
            return None;
        }
        let rest = rest.trim_start();
        let end = rest.find(['{', ';', '/']).unwrap_or(rest.len());
        let name = rest[..end].trim().replace(['@', ' '], "").to_lowercase();
        (!name.is_empty()).then_some(name)
    })
}

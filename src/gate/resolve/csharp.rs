//! C#: a namespace is every file that declares it, since namespaces are not paths.
//!
//! `System` and `Microsoft` are never the repository's own: declaring an extension in a namespace of
//! the framework is common and makes the namespace no part of the project. All .cs files of the tree
//! are read once for their declarations.

use std::collections::{HashMap, HashSet};

use super::Target;
use super::files::{Files, name};
use crate::gate::imports::{ImportKind, Language, imports_at};
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
}

/// Reads the declarations, once.
pub(super) fn namespaces<'k>(files: &Files, known: &'k mut Option<Namespaces>) -> Result<&'k Namespaces, Unreadable> {
    if known.is_none() {
        let mut paths: Vec<&Vec<u8>> = files.ending(&[b".cs"]).collect();
        paths.sort_unstable();
        let mut namespaces = Namespaces {
            files: HashMap::new(),
            heads: HashSet::new(),
        };
        for path in paths {
            let text = files.text(path)?.unwrap_or_default();
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
                namespaces.files.entry(namespace).or_default().push(path.clone());
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
            let stem = |path: &[u8]| String::from_utf8_lossy(name(path)).to_lowercase();
            let class: Vec<Vec<u8>> = paths
                .iter()
                .filter(|path| stem(path).split('.').next() == Some(class.as_str()))
                .cloned()
                .collect();
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

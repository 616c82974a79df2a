//! Whether any manifest of a tree declares a name as a package from outside: asked where a change makes the same name
//! the repository's own.

use std::collections::{HashMap, HashSet};

use super::declared::Named;
use super::format::format;
use super::names::{self, Ecosystem};
use super::{own, read, text_of};
use crate::gate::imports::{Import, Language};
use crate::gate::resolve::Files;
use crate::gate::tree::{Side, Unreadable};
use crate::gate::{Kind, Tree};

/// Manifests that are read.
const MAX_READ: usize = 5_000;

/// The names that the manifests of one tree declare from outside, read at the first question.
#[derive(Default)]
pub(in crate::gate) struct FromOutside {
    names: Option<HashMap<Ecosystem, HashSet<String>>>,
}

impl FromOutside {
    /// Whether an import of the language begins as such a name does. Of npm and Cargo, where the manifest around the
    /// importing file decides, nothing is known here.
    pub(in crate::gate) fn has(
        &mut self,
        tree: &dyn Tree,
        files: &Files,
        language: Language,
        import: &Import,
    ) -> Result<bool, Unreadable> {
        let ecosystem = match language {
            Language::JavaScript | Language::Rust | Language::C => return Ok(false),
            Language::Python => Ecosystem::Python,
            Language::Go => Ecosystem::Go,
            Language::Java | Language::Kotlin => Ecosystem::Maven,
            Language::CSharp => Ecosystem::Nuget,
            Language::Ruby => Ecosystem::Ruby,
            Language::Php => Ecosystem::Composer,
        };
        if self.names.is_none() {
            self.names = Some(read_all(tree, files)?);
        }
        let all = self.names.as_ref().and_then(|names| names.get(&ecosystem));
        let identity: Vec<String> = import.identity.iter().map(|part| part.to_lowercase()).collect();
        Ok(all.is_some_and(|all| all.iter().any(|name| is_of(name, ecosystem, &identity))))
    }
}

fn read_all(tree: &dyn Tree, files: &Files) -> Result<HashMap<Ecosystem, HashSet<String>>, Unreadable> {
    let mut all: HashMap<Ecosystem, HashSet<String>> = HashMap::new();
    let is_installed = |path: &[u8]| path.split(|&byte| byte == b'/').any(|part| part == b"node_modules");
    let manifests = (files.regular().into_iter())
        .filter_map(|(path, kind, id)| Some((path, Side { kind, id }, format(path)?)))
        .filter(|(path, ..)| !is_installed(path));
    for (path, side, format) in manifests.take(MAX_READ) {
        debug_assert!(matches!(side.kind, Kind::File | Kind::Executable), "links are no files");
        let Ok(declared) = text_of(tree, &side)?.and_then(|text| read(&text, format)) else {
            continue;
        };
        let declared = own::settled(tree, path, declared, &HashSet::new())?;
        let names = declared.found.into_iter().filter(|found| found.kind == Named::Outright);
        all.entry(format.ecosystem())
            .or_default()
            .extend(names.map(|found| found.name));
    }
    Ok(all)
}

/// Whether the parts of an import, in lower case, begin as the package does.
fn is_of(name: &str, ecosystem: Ecosystem, identity: &[String]) -> bool {
    let Some(first) = identity.first() else {
        return false;
    };
    let is_beginning = |parts: &[&str]| {
        !parts.is_empty() && parts.len() <= identity.len() && parts.iter().zip(identity).all(|(part, own)| *part == own)
    };
    let lower = name.to_lowercase();
    match ecosystem {
        Ecosystem::Npm | Ecosystem::Cargo => false,
        Ecosystem::Python => names::python(first) == names::python(name),
        Ecosystem::Go => is_beginning(&lower.split('/').collect::<Vec<_>>()),
        Ecosystem::Nuget => is_beginning(&lower.split('.').collect::<Vec<_>>()),
        Ecosystem::Maven => {
            let group = lower.split(':').next().unwrap_or_default();
            is_beginning(&group.split('.').collect::<Vec<_>>())
        }
        Ecosystem::Ruby => {
            is_beginning(&[&lower]) || lower.contains('-') && is_beginning(&lower.split('-').collect::<Vec<_>>())
        }
        // `predis/predis` is `Predis\`, `acme/shared` is `Acme\Shared\`.
        Ecosystem::Composer => match lower.split_once('/') {
            Some((vendor, package)) => {
                *first == vendor && (vendor == package || identity.get(1).is_some_and(|second| second == package))
            }
            None => false,
        },
    }
}

//! From an import to the path of this repository that it loads.
//!
//! Invariants: nothing is guessed to be external: what looks like the repository's own and has no
//! path is [`Target::Unresolved`], with the reason; the tree's paths are indexed at the first
//! question and never before, so a check that asks nothing pays nothing; every configuration that is
//! followed (tsconfig, go.mod ...) is read from the same tree, bounded, without recursion.
//!
//! One file a language says how that language finds a module. Where a package or namespace lies in
//! several places, all of them are given; so are they where two configurations or roots lead to
//! different files, since a file that an agent adds nearer by must not hide what was there. Type-only
//! imports are resolved like any other.

mod c;
mod cargo;
mod csharp;
mod csharp_heads;
mod files;
mod go;
mod javascript;
mod jsonc;
mod just_added;
mod jvm;
mod maps;
mod npm;
mod php;
mod python;
mod ruby;
mod rust;
mod rust_inline;
mod standard;
#[cfg(test)]
mod tests;
#[cfg(test)]
mod tests_compiled;
#[cfg(test)]
mod tests_hostile;
#[cfg(test)]
mod tests_javascript;
mod tsconfig;

use crate::gate::imports::{Import, ImportKind, Language, VENDORED, VENDORS};
use crate::gate::tree::{Tree, Unreadable};

pub use csharp_heads::Head;
pub(in crate::gate) use files::follow;
pub use files::{Files, MAX_ENTRIES};
pub(in crate::gate) use go::{module as go_module, replaced as go_replaced, replacements as go_replacements};
pub(in crate::gate) use javascript::is_of_machine;
pub(in crate::gate) use jsonc::plain_text as plain_json;
pub(in crate::gate) use just_added::is_own_now;
pub(in crate::gate) use npm::{links as npm_links, mapped as npm_targets, names as npm_members};
pub use standard::is_standard;

/// Where an import leads.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Target {
    /// A file or folder of the repository, links followed. More than one where a package lies in
    /// several places, or where two configurations lead to different ones, the likeliest first; never
    /// empty.
    Local(Vec<Vec<u8>>),
    /// Something from outside: a package, or the language's own library.
    External,
    /// It names something of the repository's own, or something computed, and no path is known. Why,
    /// lower case, one line; text of the repository in it is not escaped.
    Unresolved(String),
}

impl Target {
    fn one(path: Vec<u8>) -> Target {
        Target::Local(vec![path])
    }

    /// All of these, each once; external where there are none.
    fn all(mut places: Vec<Vec<u8>>) -> Target {
        let mut seen = std::collections::HashSet::new();
        places.retain(|place| seen.insert(place.clone()));
        match places.is_empty() {
            true => Target::External,
            false => Target::Local(places),
        }
    }

    fn unresolved(why: impl Into<String>) -> Target {
        Target::Unresolved(why.into())
    }
}

/// Resolves imports of one tree.
pub struct Resolver<'a> {
    tree: &'a dyn Tree,
    known: Option<Known<'a>>,
}

struct Known<'a> {
    files: Files<'a>,
    tsconfig: tsconfig::Configs,
    npm: npm::Packages,
    maps: Option<maps::Maps>,
    python: Option<python::Roots>,
    cargo: cargo::Crates,
    inline: rust_inline::Cache,
    go: go::Modules,
    jvm: Option<jvm::Packages>,
    csharp: Option<csharp::Namespaces>,
    php: Option<php::Prefixes>,
    ruby: Option<Vec<Vec<u8>>>,
}

impl<'a> Resolver<'a> {
    /// Nothing is read before the first question.
    pub fn of(tree: &'a dyn Tree) -> Resolver<'a> {
        Resolver { tree, known: None }
    }

    /// The index of the tree's paths.
    pub fn files(&mut self) -> Result<&Files<'a>, Unreadable> {
        Ok(&self.known()?.files)
    }

    fn known(&mut self) -> Result<&mut Known<'a>, Unreadable> {
        if self.known.is_none() {
            self.known = Some(Known {
                files: Files::of(self.tree)?,
                tsconfig: tsconfig::Configs::default(),
                npm: npm::Packages::default(),
                maps: None,
                python: None,
                cargo: cargo::Crates::default(),
                inline: rust_inline::Cache::default(),
                go: go::Modules::default(),
                jvm: None,
                csharp: None,
                php: None,
                ruby: None,
            });
        }
        match &mut self.known {
            Some(known) => Ok(known),
            None => unreachable!("it was set above"),
        }
    }

    /// Where an import of the file at `from` leads.
    pub fn resolve(&mut self, language: Language, import: &Import, from: &[u8]) -> Result<Target, Unreadable> {
        if import.kind == ImportKind::Opaque {
            return Ok(Target::unresolved("its argument is computed"));
        }
        let known = self.known()?;
        let files = &known.files;
        if !files.is_whole() {
            return Ok(Target::Unresolved(format!(
                "the tree has more than {MAX_ENTRIES} entries"
            )));
        }
        match language {
            Language::JavaScript => {
                let (tsconfig, npm) = (&mut known.tsconfig, &mut known.npm);
                // A module behind a link is loaded from where it really lies.
                let real = files.find(from).map(|spot| spot.path);
                let from = real.as_deref().unwrap_or(from);
                let found = javascript::resolve(files, tsconfig, npm, &import.raw, from)?;
                match found {
                    Target::External => javascript::by_maps(files, &mut known.maps, npm, &import.raw, from),
                    found => Ok(found),
                }
            }
            Language::Python if import.kind == ImportKind::Include => Ok(python::executed(files, &import.raw, from)),
            Language::Python => {
                let roots = python::roots(files, &mut known.python);
                Ok(python::resolve(
                    files,
                    roots,
                    &import.raw,
                    from,
                    python::Siblings::Count,
                ))
            }
            Language::Rust => rust::resolve(files, &mut known.cargo, &mut known.inline, import, from),
            Language::Go => go::resolve(files, &mut known.go, &import.raw, from),
            Language::Java | Language::Kotlin => {
                let packages = jvm::packages(files, &mut known.jvm)?;
                match import.kind {
                    ImportKind::Member => jvm::resolve_path(files, packages, &import.identity),
                    _ => jvm::resolve(files, packages, &import.identity),
                }
            }
            Language::C => Ok(c::resolve(files, &import.raw, from)),
            Language::CSharp => {
                let namespaces = csharp::namespaces(files, &mut known.csharp)?;
                Ok(csharp::resolve(namespaces, &import.identity))
            }
            Language::Ruby => {
                let roots = ruby::roots(files, &mut known.ruby);
                Ok(ruby::resolve(files, roots, import, from))
            }
            Language::Php => {
                let prefixes = php::prefixes(files, &mut known.php)?;
                Ok(php::resolve(files, prefixes, import, from))
            }
        }
    }

    /// What an import may stand for by the namespaces around it: those names alone of which this tree declares a
    /// namespace that goes on behind what is around. Only of C#.
    pub fn within(&mut self, language: Language, import: &Import) -> Result<Vec<Import>, Unreadable> {
        let (Language::CSharp, Some(within), Some(first)) = (language, &import.within, import.first_segment()) else {
            return Ok(Vec::new());
        };
        let known = self.known()?;
        let namespaces = csharp::namespaces(&known.files, &mut known.csharp)?;
        if !namespaces.has_inner(first) {
            return Ok(Vec::new());
        }
        // In an expression the name may be a member's: its type must be known as well.
        let type_name = match import.kind {
            ImportKind::Member => import.identity.get(1).map(String::as_str),
            _ => None,
        };
        Ok(within
            .beginnings()
            .filter(|around| {
                let name = || around.iter().map(String::as_str).chain([first]);
                match type_name {
                    None => namespaces.has(name()),
                    Some(type_name) => {
                        namespaces.has(name().chain([type_name])) || namespaces.has_type(name(), type_name)
                    }
                }
            })
            .map(|around| Import {
                identity: around.iter().chain(&import.identity).cloned().collect(),
                within: None,
                ..import.clone()
            })
            .collect())
    }

    /// The files that declare exactly the package or namespace of this name, sorted: of Java, Kotlin and C#, where a
    /// file uses what the others of its package have without any import.
    pub fn declaring(&mut self, language: Language, name: &str) -> Result<Vec<Vec<u8>>, Unreadable> {
        let known = self.known()?;
        let files = &known.files;
        Ok(match language {
            Language::Java | Language::Kotlin => {
                let packages = jvm::packages(files, &mut known.jvm)?;
                packages.files_of(files, name)?.to_vec()
            }
            Language::CSharp => {
                let namespaces = csharp::namespaces(files, &mut known.csharp)?;
                namespaces.files_of(name).to_vec()
            }
            _ => Vec::new(),
        })
    }

    /// As [`declaring`](Self::declaring), of the files alone that `base` does not have as they are.
    pub fn newly_declaring(
        &mut self,
        base: &mut Resolver,
        language: Language,
        name: &str,
    ) -> Result<Vec<Vec<u8>>, Unreadable> {
        let before = &base.known()?.files;
        let known = self.known()?;
        let files = &known.files;
        let is_new = |path: &[u8]| files.id(path) != before.id(path);
        match language {
            Language::Java | Language::Kotlin => {
                let packages = jvm::packages(files, &mut known.jvm)?;
                packages.among(files, is_new, name)
            }
            _ => {
                let mut found = self.declaring(language, name)?;
                let files = &self.known()?.files;
                found.retain(|path| files.id(path) != before.id(path));
                Ok(found)
            }
        }
    }

    /// Whether another file of the folder that `from` lies in declares exactly this package or namespace.
    pub fn is_declared_beside(&mut self, language: Language, name: &str, from: &[u8]) -> Result<bool, Unreadable> {
        let folder = files::parent(from);
        let known = self.known()?;
        match language {
            Language::Java | Language::Kotlin => {
                let packages = jvm::packages(&known.files, &mut known.jvm)?;
                packages.is_beside(&known.files, from, name)
            }
            _ => Ok(self
                .declaring(language, name)?
                .iter()
                .any(|path| files::parent(path) == folder && path != from)),
        }
    }

    /// Whether an own module that the import leads to goes before an installed package of its name. In
    /// other languages than Python own names are not looked up among installed ones.
    pub fn goes_first(&mut self, language: Language, import: &Import, from: &[u8]) -> Result<bool, Unreadable> {
        let (Language::Python, Some(first)) = (language, import.first_segment()) else {
            return Ok(true);
        };
        let known = self.known()?;
        let roots = python::roots(&known.files, &mut known.python);
        Ok(python::goes_first(&known.files, roots, first, from))
    }

    /// What tsconfigs above a file make of a JavaScript specifier, each target that leads into a folder
    /// of other people's packages, as a path.
    pub fn configured(&mut self, specifier: &str, from: &[u8]) -> Result<Vec<String>, Unreadable> {
        let known = self.known()?;
        if !known.files.is_whole() {
            return Ok(Vec::new());
        }
        javascript::configured(&known.files, &mut known.tsconfig, &mut known.npm, specifier, from)
    }

    /// Whether a JavaScript specifier is no package that the package.json around the file takes from a registry, and
    /// whether it is an own package by name.
    fn is_linked(&mut self, specifier: &str, from: &[u8]) -> Result<(bool, bool), Unreadable> {
        let known = self.known()?;
        let is_linked = known.npm.is_linked(&known.files, specifier, from)?;
        let (folders, _) = known.npm.packages(&known.files, specifier, from)?;
        Ok((is_linked, !folders.is_empty()))
    }

    /// The path of the module of Go that a file belongs to.
    fn go_module(&mut self, from: &[u8]) -> Result<Option<String>, Unreadable> {
        let known = self.known()?;
        go::module_of(&known.files, from)
    }

    /// Whether a tsconfig or jsconfig of the tree takes in this file by `extends`, directly or not.
    pub fn is_extended(&mut self, path: &[u8]) -> Result<bool, Unreadable> {
        let known = self.known()?;
        tsconfig::is_extended(&known.files, &mut known.npm, path)
    }

    /// As [`resolve`](Self::resolve), without what only a Python script run from its own folder finds.
    fn resolve_strictly(&mut self, language: Language, import: &Import, from: &[u8]) -> Result<Target, Unreadable> {
        if language != Language::Python || import.kind == ImportKind::Opaque {
            return self.resolve(language, import, from);
        }
        let known = self.known()?;
        if !known.files.is_whole() {
            return Ok(Target::External);
        }
        let roots = python::roots(&known.files, &mut known.python);
        Ok(python::resolve(
            &known.files,
            roots,
            &import.raw,
            from,
            python::Siblings::Pass,
        ))
    }
}

/// Whether an import is the repository's own by base and candidate: an agent that adds an empty
/// `redis/` folder must not turn `redis` into a local import.
///
/// In the candidate it leads to a path. In the base it leads to one too, or at least begins with what
/// is certainly the repository's own there (its Go module, a `paths` entry of a tsconfig, an own
/// package), so that a new module of an own package counts. A copy under `vendor/` and the like is
/// somebody else's package.
pub fn is_own(
    base: &mut Resolver,
    candidate: &mut Resolver,
    language: Language,
    import: &Import,
    from: &[u8],
) -> Result<bool, Unreadable> {
    let is_local = |target: &Target| match target {
        Target::Local(places) => places.iter().any(|place| !is_vendored(place, &import.raw, language)),
        Target::External | Target::Unresolved(_) => false,
    };
    let found = candidate.resolve_strictly(language, import, from)?;
    if !is_local(&found) {
        return Ok(false);
    }
    // `"x.h"` beside the file is what every compiler takes first, so no package can be meant.
    if language == Language::C
        && import.raw.starts_with('"')
        && !import.raw.contains(['/', '\\'])
        && let Target::Local(places) = &found
        && places.iter().all(|place| files::parent(place) == files::parent(from))
    {
        return Ok(true);
    }
    Ok(match base.resolve_strictly(language, import, from)? {
        Target::Unresolved(_) => base.files()?.is_whole(),
        target => is_local(&target),
    })
}

/// Further folders in which other people's packages are kept; no path of code names them as such.
const INSTALLED: &[&str] = &["site-packages", "dist-packages", "Pods", "Carthage"];
/// The same in C and C++ alone; elsewhere these are names for own code.
const VENDORED_C: &[&str] = &["deps", "dep", "external", "externals", "extern", "contrib"];

/// Whether a path is a copy of somebody else's package. A folder that a dotted name names
/// (`from pip._vendor import x`) makes it no copy: then the repository's own name leads there. A path
/// in an import only says where the copy lies.
fn is_vendored(path: &[u8], raw: &str, language: Language) -> bool {
    path.split(|&byte| byte == b'/').any(|part| {
        let Ok(part) = std::str::from_utf8(part) else {
            return false;
        };
        let is_vendors = part == VENDORS;
        let is_copy = VENDORED.contains(&part) || INSTALLED.contains(&part) || is_vendors && language == Language::C;
        let is_listed = is_copy || is_vendors || language == Language::C && VENDORED_C.contains(&part);
        let is_path = match language {
            Language::C => true,
            Language::JavaScript | Language::Ruby => raw.starts_with(['.', '/']),
            Language::Php => raw.contains('/'),
            _ => false,
        };
        is_listed
            && !(!(is_copy && is_path)
                && raw
                    .split(['/', '.', ':', '\\', '<', '>', '"'])
                    .any(|named| named == part))
    })
}

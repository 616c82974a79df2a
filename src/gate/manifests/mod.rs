//! Dependencies that a change declares in manifests (exit 8).
//!
//! Invariant: a dependency is known only if the base's version of the same manifest declared it;
//! for a manifest in a new place, if a manifest deleted in the same change did (a move).

mod cargo;
mod cargo_names;
mod golang;
mod included;
mod npm;
mod pip;
mod python;
#[cfg(test)]
mod tests;

use std::collections::{BTreeSet, HashMap};

use super::rules::{finding, is_regular, shown};
use super::tree::Side;
use super::{Change, Finding, Kind, Rule, Tree, Unreadable, Verdict};
use included::Included;

pub(super) use cargo_names::{Names as CargoNames, Renames as CargoRenames};

/// Manifests above this many bytes are not read.
pub(super) const MAX_MANIFEST: u64 = 10 * 1024 * 1024;
const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";

/// Aliases that a package.json declares, from the imported name to the installed one.
pub(super) fn npm_aliases(package_json: &[u8]) -> HashMap<String, String> {
    npm::aliases(package_json.strip_prefix(BYTE_ORDER_MARK).unwrap_or(package_json))
}

/// What a Cargo.toml says of the names of crates in code.
pub(super) fn cargo_names(cargo_toml: &[u8]) -> CargoNames {
    let bytes = cargo_toml.strip_prefix(BYTE_ORDER_MARK).unwrap_or(cargo_toml);
    std::str::from_utf8(bytes).map(cargo_names::names).unwrap_or_default()
}

/// A family of manifests whose names can be compared with one another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Format {
    Npm,
    Cargo,
    Pyproject,
    Requirements,
    Golang,
}

/// A declared dependency.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Dependency {
    /// Normalised as its registry does.
    name: String,
    /// As written, to find the line.
    written: String,
}

impl Dependency {
    fn new(name: impl Into<String>, written: impl Into<String>) -> Dependency {
        Dependency {
            name: name.into(),
            written: written.into(),
        }
    }
}

/// Every name that a changed manifest declares and its base version did not.
pub fn judge(
    base: &dyn Tree,
    candidate: &dyn Tree,
    changes: &[Change],
    verdict: &mut Verdict,
) -> Result<(), Unreadable> {
    let included = Included::of(candidate, changes)?;
    verdict.notices.extend(included.notice.clone());
    unread(changes, verdict);
    for change in changes {
        let format = format(&change.path).or_else(|| included.format(&change.path));
        let (Some(after), Some(format)) = (change.after, format) else {
            continue;
        };
        if change.before == Some(after) || after.kind == Kind::Submodule {
            continue;
        }
        let declared = match read(candidate, &after, format)? {
            Ok(declared) => declared,
            Err(why) => {
                verdict.findings.push(finding(
                    Rule::Uninspectable,
                    &change.path,
                    "task: Non-goals",
                    format!("its dependencies cannot be read: {why}"),
                    "make the manifest a regular file that parses".into(),
                ));
                continue;
            }
        };
        let known = known(base, change, format, changes)?;
        let text = candidate.blob(&after.id)?;
        let mut reported = BTreeSet::new();
        for dependency in declared {
            if !known.contains(&dependency.name) && reported.insert(dependency.name.clone()) {
                verdict.findings.push(new_dependency(&change.path, &dependency, &text));
            }
        }
    }
    Ok(())
}

/// Manifests that this version does not read: said, since the task's limit does not hold there.
const UNREAD: &[&str] = &[
    "build.gradle",
    "build.gradle.kts",
    "build.sbt",
    "composer.json",
    "conanfile.txt",
    "deno.json",
    "environment.yaml",
    "environment.yml",
    "gemfile",
    "libs.versions.toml",
    "mix.exs",
    "package.swift",
    "pipfile",
    "pixi.toml",
    "pnpm-workspace.yaml",
    "pom.xml",
    "pubspec.yaml",
    "setup.cfg",
    "setup.py",
    "vcpkg.json",
];

fn unread(changes: &[Change], verdict: &mut Verdict) {
    for change in changes.iter().filter(|change| change.after.is_some()) {
        let name = change.path.rsplit(|&byte| byte == b'/').next().unwrap_or_default();
        let name = name.to_ascii_lowercase();
        if UNREAD.iter().any(|known| known.as_bytes() == name) {
            verdict.notices.push(format!(
                "{} changed; new dependencies in it were not looked for, since this version does not read it",
                shown(&change.path)
            ));
        }
    }
}

fn new_dependency(path: &[u8], dependency: &Dependency, text: &[u8]) -> Finding {
    let name = shown(dependency.name.as_bytes());
    let mut finding = finding(
        Rule::NewDependency,
        path,
        "task: Non-goals",
        format!("new dependency {name}, which the task rules out"),
        format!("remove {name}, or take `new dependencies` out of the task's Non-goals"),
    );
    finding.line = line_of(text, &dependency.written);
    finding
}

/// Names that the base declared: in this manifest, or for a new one in those that go away. A base
/// version that cannot be read declares nothing that could be known.
fn known(base: &dyn Tree, change: &Change, format: Format, changes: &[Change]) -> Result<BTreeSet<String>, Unreadable> {
    let sides: Vec<Side> = match change.before {
        Some(before) => vec![before],
        None => changes
            .iter()
            .filter(|other| other.after.is_none() && self::format(&other.path) == Some(format))
            .filter_map(|other| other.before)
            .collect(),
    };
    let mut names = BTreeSet::new();
    for side in sides.iter().filter(|side| is_regular(side)) {
        names.extend(
            read(base, side, format)?
                .unwrap_or_default()
                .into_iter()
                .map(|dependency| dependency.name),
        );
    }
    Ok(names)
}

fn read(tree: &dyn Tree, side: &Side, format: Format) -> Result<Result<Vec<Dependency>, String>, Unreadable> {
    if !is_regular(side) {
        return Ok(Err("it is a symlink".into()));
    }
    let size = tree.blob_size(&side.id)?;
    if size > MAX_MANIFEST {
        return Ok(Err(format!("{size} bytes, more than the {MAX_MANIFEST} that are read")));
    }
    let bytes = tree.blob(&side.id)?;
    let bytes = bytes.strip_prefix(BYTE_ORDER_MARK).unwrap_or(&bytes);
    let Ok(text) = std::str::from_utf8(bytes) else {
        return Ok(Err("it is not UTF-8".into()));
    };
    Ok(match format {
        Format::Npm => npm::dependencies(text),
        Format::Cargo => cargo::dependencies(text),
        Format::Pyproject => python::pyproject(text),
        Format::Requirements => Ok(pip::read(text).found),
        Format::Golang => golang::dependencies(text),
    })
}

/// The format by file name. Case does not count: on a case-folding disk the tools read it.
fn format(path: &[u8]) -> Option<Format> {
    let path = path.to_ascii_lowercase();
    let mut parts = path.rsplit(|&byte| byte == b'/');
    let name = parts.next()?;
    match name {
        b"package.json" => return Some(Format::Npm),
        b"cargo.toml" => return Some(Format::Cargo),
        b"pyproject.toml" => return Some(Format::Pyproject),
        b"go.mod" => return Some(Format::Golang),
        _ => {}
    }
    // `.in` is what pip-compile makes the `.txt` of.
    let stem = name.strip_suffix(b".txt").or_else(|| name.strip_suffix(b".in"))?;
    let listed = stem.starts_with(b"requirements") || stem.ends_with(b"requirements");
    (listed || parts.next() == Some(b"requirements")).then_some(Format::Requirements)
}

/// The first line that has the name as a whole word; without one, the first that has it at all.
fn line_of(text: &[u8], written: &str) -> Option<u32> {
    if written.is_empty() {
        return None;
    }
    let name = written.as_bytes();
    let part =
        |byte: Option<&u8>| byte.is_some_and(|b| b.is_ascii_alphanumeric() || matches!(b, b'-' | b'_' | b'/' | b'@'));
    let mut anywhere = None;
    for (number, line) in (1u32..).zip(text.split(|&byte| byte == b'\n')) {
        for at in line
            .windows(name.len())
            .enumerate()
            .filter(|(_, window)| *window == name)
            .map(|(at, _)| at)
        {
            anywhere = anywhere.or(Some(number));
            let before = at.checked_sub(1).and_then(|before| line.get(before));
            if !part(before) && !part(line.get(at + name.len()).filter(|byte| **byte != b'@')) {
                return Some(number);
            }
        }
    }
    anywhere
}

/// What a TOML parser says, on one line and without the snippet of untrusted text.
fn toml_trouble(error: &toml_edit::TomlError) -> String {
    format!("not valid TOML ({})", error.message().escape_debug())
}

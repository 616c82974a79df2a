//! Rust: paths through the module files of a crate, and into crates of the repository.
//!
//! A path leads to the deepest module that has a file (`x.rs`, `x/mod.rs`): what follows is an item of
//! it or a module written inside it. `self` and `super` start from the module that the import stands
//! in, modules written inside the file counted. A module that `#[path]` moves is not followed: it is
//! unresolved; the attribute itself and `include!` lead to the file that they name.

use std::rc::Rc;

use super::cargo::{Crates, Manifest};
use super::files::{Files, below, follow, name, parent};
use super::{Target, rust_inline};
use crate::gate::imports::{Import, ImportKind, PACKAGE};
use crate::gate::tree::{Unreadable, join};

/// Where a path of the file at `from` leads.
pub(super) fn resolve(
    files: &Files,
    crates: &mut Crates,
    inline: &mut rust_inline::Cache,
    import: &Import,
    from: &[u8],
) -> Result<Target, Unreadable> {
    if import.kind == ImportKind::Include {
        return included(files, crates, inline, import, from);
    }
    let segments: Vec<&str> = import
        .raw
        .trim_start_matches("::")
        .split("::")
        .map(|segment| segment.trim().trim_start_matches("r#"))
        .filter(|segment| !segment.is_empty() && *segment != "*")
        .collect();
    let Some(first) = segments.first().copied() else {
        return Ok(Target::External);
    };
    let package = crates.package(files, from)?;
    let root = root_of(files, package.as_ref(), from);
    let is_local = matches!(first, "crate" | "$crate" | "self" | "super" | "Self") || import.identity.is_empty();
    if is_local {
        let inside = inline.modules(files, from, import.line)?.to_vec();
        return match own_path(&root, &segments, from, &inside) {
            Some(path) => deepest(files, inline, &root, &path),
            None => Ok(Target::unresolved("it leads out of the crate")),
        };
    }
    let Some(package) = package else {
        return Ok(Target::External);
    };
    match crates.named(files, &package, &first.replace('-', "_"))? {
        None => Ok(Target::External),
        Some(library) => {
            let root = Root {
                folder: parent(&library.lib_path).to_vec(),
                file: library.lib_path.clone(),
            };
            deepest(files, inline, &root, &segments[1..])
        }
    }
}

/// The file that `include!` or `#[path]` names. A module that is written inside the file has a folder of its own for
/// `#[path]`, and the file's for `include!`.
fn included(
    files: &Files,
    crates: &mut Crates,
    inline: &mut rust_inline::Cache,
    import: &Import,
    from: &[u8],
) -> Result<Target, Unreadable> {
    let path = import.raw.replace('\\', "/");
    if let Some(rest) = path.strip_prefix(PACKAGE) {
        let package = crates.package(files, from)?;
        let found = package.and_then(|package| follow(&package.folder, rest.as_bytes()));
        return Ok(match found.as_ref().and_then(|found| files.find(found)) {
            Some(spot) => Target::one(spot.path),
            None => Target::unresolved("no such file below or beside the package"),
        });
    }
    if path.starts_with('/') {
        return Ok(Target::unresolved("an absolute path"));
    }
    let here = parent(from);
    let mut folders = vec![here.to_vec()];
    let inside = inline.modules(files, from, import.line)?.join("/");
    if !inside.is_empty() {
        let stem = name(from).strip_suffix(b".rs").unwrap_or(name(from));
        folders.push(join(here, stem));
        folders.push(join(here, inside.as_bytes()));
        folders.push(join(&join(here, stem), inside.as_bytes()));
    }
    let paths: Vec<Vec<u8>> = folders
        .iter()
        .filter_map(|folder| follow(folder, path.as_bytes()))
        .collect();
    // The file of a module inside one that is moved may be `x/mod.rs` as well.
    let is_there = |path: &Vec<u8>| {
        let folder = || path.strip_suffix(b".rs").map(|stem| join(stem, b"mod.rs"));
        files
            .find(path)
            .or_else(|| files.find(&folder()?))
            .map(|spot| spot.path)
    };
    let found = paths.iter().filter_map(is_there).collect();
    Ok(match Target::all(found) {
        Target::External if paths.is_empty() => Target::unresolved("it leads out of the repository"),
        Target::External => Target::unresolved("no such file"),
        found => found,
    })
}

/// The crate that a file is compiled in.
struct Root {
    /// Where its modules lie.
    folder: Vec<u8>,
    /// Its first file.
    file: Vec<u8>,
}

fn root_of(files: &Files, package: Option<&Rc<Manifest>>, from: &[u8]) -> Root {
    let alone = Root {
        folder: parent(from).to_vec(),
        file: from.to_vec(),
    };
    let Some(package) = package else { return alone };
    let Some(path) = below(from, &package.folder) else {
        return alone;
    };
    if from == package.lib_path || package.roots.iter().any(|root| root == from) || path == b"build.rs" {
        return alone;
    }
    let inside = |folder: &[u8], file: &[u8]| Root {
        folder: folder.to_vec(),
        file: file.to_vec(),
    };
    // Programs, tests, examples and benches: a file each, or a folder with a main.rs.
    for kind in [&b"src/bin"[..], b"tests", b"examples", b"benches"] {
        let Some(rest) = below(path, kind) else { continue };
        let Some(slash) = rest.iter().position(|&byte| byte == b'/') else {
            return alone;
        };
        let folder = join(&join(&package.folder, kind), &rest[..slash]);
        let main = join(&folder, b"main.rs");
        return match files.file(&main) {
            Some(_) => inside(&folder, &main),
            // Modules that several of them share (`tests/common/`).
            None => inside(parent(&folder), &join(parent(&folder), b"main.rs")),
        };
    }
    for root in package.roots.iter().chain([&package.lib_path]) {
        if below(from, parent(root)).is_some()
            && parent(root).len() > package.folder.len()
            && files.file(root).is_some()
        {
            return inside(parent(root), root);
        }
    }
    let src = join(&package.folder, b"src");
    if below(from, &src).is_some() {
        return inside(&src, &join(&src, b"main.rs"));
    }
    match below(from, parent(&package.lib_path)) {
        Some(_) => inside(parent(&package.lib_path), &package.lib_path),
        None => alone,
    }
}

/// The segments from the crate's root; none where `super` leads above it.
fn own_path<'s>(root: &Root, segments: &[&'s str], from: &'s [u8], inside: &'s [String]) -> Option<Vec<&'s str>> {
    let mut path: Vec<&'s str> = Vec::new();
    let rest = match segments.first() {
        Some(&("crate" | "$crate")) => &segments[1..],
        _ => {
            path.extend(module_of(root, from));
            path.extend(inside.iter().map(String::as_str));
            segments
        }
    };
    for segment in rest {
        match *segment {
            "self" | "Self" => {}
            "super" => {
                path.pop()?;
            }
            segment => path.push(segment),
        }
    }
    Some(path)
}

/// The module that a file is, from its crate's root.
fn module_of<'s>(root: &Root, from: &'s [u8]) -> Vec<&'s str> {
    let Some(path) = below(from, &root.folder) else {
        return Vec::new();
    };
    if from == root.file || matches!(path, b"lib.rs" | b"main.rs") {
        return Vec::new();
    }
    let path = path.strip_suffix(b".rs").unwrap_or(path);
    let path = path.strip_suffix(b"/mod").unwrap_or(path);
    path.split(|&byte| byte == b'/')
        .filter_map(|part| std::str::from_utf8(part).ok())
        .collect()
}

/// The file of the deepest module on the path.
fn deepest(files: &Files, inline: &mut rust_inline::Cache, root: &Root, path: &[&str]) -> Result<Target, Unreadable> {
    let first = [
        root.file.clone(),
        join(&root.folder, b"lib.rs"),
        join(&root.folder, b"main.rs"),
    ]
    .into_iter()
    .find_map(|file| files.file(&file));
    let mut best = first;
    let mut folder = root.folder.clone();
    let mut found = 0;
    for (depth, segment) in path.iter().enumerate() {
        let next = join(&folder, segment.as_bytes());
        let file = files
            .file(&[next.as_slice(), b".rs"].concat())
            .filter(|file| name(file) != b"mod.rs")
            .or_else(|| files.file(&join(&next, b"mod.rs")));
        match file {
            Some(file) => {
                best = Some(file);
                found = depth + 1;
            }
            // A module written inside the file may have files below.
            None if files.folder(&next).is_some() => {}
            None => break,
        }
        folder = next;
    }
    let Some(best) = best else {
        return Ok(Target::unresolved("its crate has no lib.rs or main.rs"));
    };
    if let Some(next) = path.get(found)
        && inline.moves(files, &best, next)?
    {
        return Ok(Target::unresolved("#[path] puts the module elsewhere"));
    }
    Ok(Target::one(best))
}

//! Java and Kotlin: a package is every folder whose files declare it.
//!
//! The declaration decides and not the path: Kotlin may leave the common beginning out of its
//! folders, and a folder `redis/` of `com.acme.redis` must not stand for the package `redis`. One file
//! a folder is asked. A name whose first two segments an own package has, and that leads nowhere, is
//! unresolved.

use std::collections::{HashMap, HashSet};

use super::Target;
use super::files::{Files, parent};
use crate::gate::tree::{Unreadable, join};

/// Folders whose package is asked.
const MAX_FOLDERS: usize = 50_000;
/// Segments of a name that are looked at; the class stands among them.
const MAX_SEGMENTS: usize = 64;

/// The packages of the tree.
pub(super) struct Packages {
    folders: HashMap<String, Vec<Vec<u8>>>,
    /// First segments, up to two, of all packages.
    heads: HashSet<String>,
}

/// Reads the packages, once.
pub(super) fn packages<'k>(files: &Files, known: &'k mut Option<Packages>) -> Result<&'k Packages, Unreadable> {
    if known.is_none() {
        let mut paths: Vec<&Vec<u8>> = files.ending(&[b".java", b".kt"]).collect();
        paths.sort_unstable();
        let mut packages = Packages {
            folders: HashMap::new(),
            heads: HashSet::new(),
        };
        let mut seen = HashSet::new();
        for path in paths {
            // These two declare no package of their own kind, or hold none at all.
            if path.ends_with(b"module-info.java") || seen.contains(parent(path)) || seen.len() >= MAX_FOLDERS {
                continue;
            }
            let Some(package) = files.text(path)?.as_deref().and_then(declared) else {
                continue;
            };
            seen.insert(parent(path));
            let head: Vec<&str> = package.split('.').take(2).collect();
            packages.heads.insert(head.join("."));
            packages.folders.entry(package).or_default().push(parent(path).to_vec());
        }
        *known = Some(packages);
    }
    match known {
        Some(known) => Ok(known),
        None => unreachable!("it was set above"),
    }
}

/// Where a qualified name leads: to the file of its class where there is one, else to the folders of
/// its package.
pub(super) fn resolve(files: &Files, packages: &Packages, identity: &[String]) -> Target {
    let names: Vec<&str> = identity
        .iter()
        .map(String::as_str)
        .filter(|name| !matches!(*name, "*" | "**"))
        .take(MAX_SEGMENTS)
        .collect();
    for depth in (1..=names.len()).rev() {
        let Some(folders) = packages.folders.get(&names[..depth].join(".")) else {
            continue;
        };
        if let Some(class) = names.get(depth) {
            let class: Vec<Vec<u8>> = folders
                .iter()
                .flat_map(|folder| ["java", "kt"].map(|ending| join(folder, format!("{class}.{ending}").as_bytes())))
                .filter_map(|path| files.file(&path))
                .collect();
            if !class.is_empty() {
                return Target::Local(class);
            }
        }
        return Target::Local(folders.clone());
    }
    let head = names.iter().take(2).copied().collect::<Vec<_>>().join(".");
    match names.len() > 1 && packages.heads.contains(&head) {
        true => Target::unresolved("no file of the repository declares such a package"),
        false => Target::External,
    }
}

/// The package that a file declares: the first statement, after comments and annotations.
fn declared(text: &str) -> Option<String> {
    let bytes = text.as_bytes();
    let mut at = 0;
    let mut brackets = 0usize;
    while at < bytes.len() {
        let rest = &bytes[at..];
        if rest.starts_with(b"//") || (at == 0 && rest.starts_with(b"#!")) {
            at += rest.iter().position(|&byte| byte == b'\n').unwrap_or(rest.len());
        } else if rest.starts_with(b"/*") {
            at += rest[2..]
                .windows(2)
                .position(|pair| pair == b"*/")
                .map_or(rest.len(), |end| end + 4);
        } else if rest[0] == b'"' {
            let end = rest[1..].iter().position(|&byte| matches!(byte, b'"' | b'\n'));
            at += end.map_or(rest.len(), |end| end + 2);
        } else if rest[0].is_ascii_alphanumeric() || rest[0] == b'_' {
            let end = rest
                .iter()
                .position(|&byte| !(byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'.' | b':')))
                .unwrap_or(rest.len());
            let is_annotation = at > 0 && matches!(bytes[at - 1], b'@' | b'[' | b'.');
            match &rest[..end] {
                b"package" if brackets == 0 && !is_annotation => {
                    let line = text[at + end..].trim_start();
                    let end = line.find([';', '\n', '\r', '/']).unwrap_or(line.len());
                    let name: String = line[..end]
                        .chars()
                        .filter(|c| !c.is_whitespace() && *c != '`')
                        .collect();
                    return (!name.is_empty()).then_some(name);
                }
                b"import" | b"class" | b"interface" | b"public" | b"fun" if brackets == 0 && !is_annotation => {
                    return None;
                }
                _ => {}
            }
            at += end;
        } else {
            match rest[0] {
                b'(' | b'[' => brackets += 1,
                b')' | b']' => brackets = brackets.saturating_sub(1),
                b'{' => return None,
                _ => {}
            }
            at += 1;
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::declared;

    #[test]
    fn the_declaration_is_found_after_comments_and_annotations() {
        for (text, package) in [
            ("package a.b;", Some("a.b")),
            ("\n/* package x; */ // package y\n package  a . b ;", Some("a.b")),
            ("@file:JvmName(\"package z\")\npackage a.b\nimport c", Some("a.b")),
            ("@Deprecated @X(y = 1) package a;", Some("a")),
            ("@file:[A B]\r\npackage a.`in`\r\n", Some("a.in")),
            ("import a.b; package c;", None),
            ("class X {}", None),
            ("", None),
            ("/* ", None),
            ("package ;", None),
        ] {
            assert_eq!(declared(text).as_deref(), package, "{text}");
        }
    }
}

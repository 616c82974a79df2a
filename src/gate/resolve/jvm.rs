//! Java and Kotlin: a package is every folder of which a file declares it.
//!
//! The declaration decides and not the path: Kotlin may leave the common beginning out of its
//! folders, and a folder `redis/` of `com.acme.redis` must not stand for the package `redis`. A class is
//! looked for in every file of its name, wherever that lies. For a package all files are read, once: one
//! file of another package in a folder must not hide the others. Of a large tree that is done where the
//! first two segments are those of an own package, by the first and the last file of each folder. A name
//! of such a package that leads nowhere is unresolved.

use std::collections::{HashMap, HashSet};

use super::Target;
use super::files::{Files, parent};
use crate::gate::imports::{self, ImportKind, Language};
use crate::gate::tree::{Unreadable, join};

/// Trees of no more source files than this are read whole at the first question.
const FEW: usize = 2_000;
/// Segments of a name that are looked at; the class stands among them.
const MAX_SEGMENTS: usize = 64;

/// The packages of the tree.
pub(super) struct Packages {
    /// Every source file, sorted.
    sources: Vec<Vec<u8>>,
    /// What each file declares that was read.
    declared: HashMap<Vec<u8>, Option<String>>,
    /// First segments, up to two, of own packages.
    heads: HashSet<String>,
    /// The files of each package, once all were read.
    whole: Option<HashMap<String, Vec<Vec<u8>>>>,
}

/// What is known of the packages; at first as much as tells own names from others.
pub(super) fn packages<'k>(files: &Files, known: &'k mut Option<Packages>) -> Result<&'k mut Packages, Unreadable> {
    if known.is_none() {
        let mut sources: Vec<Vec<u8>> = files
            .ending(&[b".java", b".kt"])
            // It declares a module and no package.
            .filter(|path| !path.ends_with(b"module-info.java"))
            .cloned()
            .collect();
        sources.sort_unstable();
        let mut packages = Packages {
            sources,
            declared: HashMap::new(),
            heads: HashSet::new(),
            whole: None,
        };
        if packages.sources.len() <= FEW {
            packages.read_all(files)?;
        } else {
            let sources = std::mem::take(&mut packages.sources);
            for (at, path) in sources.iter().enumerate() {
                let is_first = at == 0 || parent(&sources[at - 1]) != parent(path);
                let is_last = sources.get(at + 1).is_none_or(|next| parent(next) != parent(path));
                if is_first || is_last {
                    packages.of_file(files, path)?;
                }
            }
            packages.sources = sources;
        }
        *known = Some(packages);
    }
    match known {
        Some(known) => Ok(known),
        None => unreachable!("it was set above"),
    }
}

impl Packages {
    /// The package that a file declares.
    fn of_file(&mut self, files: &Files, path: &[u8]) -> Result<Option<&str>, Unreadable> {
        if !self.declared.contains_key(path) {
            let text = files.text(path)?;
            let package = text.as_deref().and_then(|text| declared(path, text));
            if let Some(package) = &package {
                let head: Vec<&str> = package.split('.').take(2).collect();
                self.heads.insert(head.join("."));
            }
            self.declared.insert(path.to_vec(), package);
        }
        Ok(self.declared.get(path).and_then(Option::as_deref))
    }

    fn read_all(&mut self, files: &Files) -> Result<(), Unreadable> {
        if self.whole.is_some() {
            return Ok(());
        }
        let sources = std::mem::take(&mut self.sources);
        let mut whole: HashMap<String, Vec<Vec<u8>>> = HashMap::new();
        for path in &sources {
            if let Some(package) = self.of_file(files, path)? {
                match whole.get_mut(package) {
                    Some(paths) => paths.push(path.clone()),
                    None => {
                        whole.insert(package.to_owned(), vec![path.clone()]);
                    }
                }
            }
        }
        self.sources = sources;
        self.whole = Some(whole);
        Ok(())
    }

    /// The files that declare exactly this package, sorted.
    pub(super) fn files_of(&mut self, files: &Files, package: &str) -> Result<&[Vec<u8>], Unreadable> {
        self.read_all(files)?;
        let paths = self.whole.as_ref().and_then(|whole| whole.get(package));
        Ok(paths.map_or(&[], Vec::as_slice))
    }

    /// Whether another file in the folder of this one declares exactly this package.
    pub(super) fn is_beside(&mut self, files: &Files, from: &[u8], package: &str) -> Result<bool, Unreadable> {
        let folder = parent(from);
        let here: Vec<Vec<u8>> = files
            .list(folder)?
            .iter()
            .filter(|entry| entry.name.ends_with(b".java") || entry.name.ends_with(b".kt"))
            .map(|entry| join(folder, &entry.name))
            .filter(|path| path != from)
            .collect();
        for path in here {
            if self.of_file(files, &path)? == Some(package) {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Of some files those that declare exactly this package.
    pub(super) fn among(
        &mut self,
        files: &Files,
        is_asked: impl Fn(&[u8]) -> bool,
        package: &str,
    ) -> Result<Vec<Vec<u8>>, Unreadable> {
        let asked: Vec<Vec<u8>> = self.sources.iter().filter(|path| is_asked(path)).cloned().collect();
        let mut found = Vec::new();
        for path in asked {
            if self.of_file(files, &path)? == Some(package) {
                found.push(path);
            }
        }
        Ok(found)
    }
}

/// Where a qualified name leads: to the files of its class where there are any, else to the folders of
/// its package.
pub(super) fn resolve(files: &Files, packages: &mut Packages, identity: &[String]) -> Result<Target, Unreadable> {
    let names: Vec<&str> = identity
        .iter()
        .map(String::as_str)
        .filter(|name| !matches!(*name, "*" | "**"))
        .take(MAX_SEGMENTS)
        .collect();
    for depth in (1..names.len()).rev() {
        let package = names[..depth].join(".");
        let mut class = Vec::new();
        for ending in ["java", "kt"] {
            for path in files.named(format!("{}.{ending}", names[depth]).as_bytes()) {
                if packages.of_file(files, path)? == Some(package.as_str()) {
                    class.push(path.clone());
                }
            }
        }
        if !class.is_empty() {
            return Ok(Target::Local(class));
        }
    }
    let head = names.iter().take(2).copied().collect::<Vec<_>>().join(".");
    if !packages.heads.contains(&head) && !names.first().is_some_and(|first| packages.heads.contains(*first)) {
        return Ok(Target::External);
    }
    for depth in (1..=names.len()).rev() {
        let paths = packages.files_of(files, &names[..depth].join("."))?;
        if !paths.is_empty() {
            let folders = paths.iter().map(|path| parent(path).to_vec()).collect();
            return Ok(Target::all(folders));
        }
    }
    Ok(match names.len() > 1 && packages.heads.contains(&head) {
        true => Target::unresolved("no file of the repository declares such a package"),
        false => Target::External,
    })
}

/// Where what may be the full path of a function leads, if its beginning is a package of two segments or more.
pub(super) fn resolve_path(files: &Files, packages: &mut Packages, identity: &[String]) -> Result<Target, Unreadable> {
    let head = identity.get(..2).map(|head| head.join(".")).unwrap_or_default();
    if !packages.heads.contains(&head) {
        return Ok(Target::External);
    }
    for depth in (2..identity.len().min(MAX_SEGMENTS)).rev() {
        let paths = packages.files_of(files, &identity[..depth].join("."))?;
        if !paths.is_empty() {
            return Ok(Target::all(paths.iter().map(|path| parent(path).to_vec()).collect()));
        }
    }
    Ok(Target::External)
}

/// The package that a file declares. Most declarations are read without the rest of the file; where one has an
/// escape, a comment in it or a line break, the language's scanner decides.
fn declared(path: &[u8], text: &str) -> Option<String> {
    let language = match path.ends_with(b".java") {
        true => Language::Java,
        false => Language::Kotlin,
    };
    match header(text, language) {
        Header::Package(name) => Some(name),
        Header::None => None,
        Header::Unsure => imports::imports_at(path, language, text.as_bytes())
            .ok()?
            .into_iter()
            .find(|import| import.kind == ImportKind::Declared)
            .map(|import| import.identity.join(".")),
    }
}

/// What the beginning of a file says.
#[derive(Debug, PartialEq, Eq)]
enum Header {
    Package(String),
    None,
    Unsure,
}

/// The first statement, after comments and annotations.
fn header(text: &str, language: Language) -> Header {
    let bytes = text.as_bytes();
    let mut at = 0;
    let mut brackets = 0usize;
    while at < bytes.len() {
        let rest = &bytes[at..];
        if rest.starts_with(b"//") || (at == 0 && rest.starts_with(b"#!")) {
            at += rest.iter().position(|&byte| byte == b'\n').unwrap_or(rest.len());
        } else if rest.starts_with(b"/*") {
            let Some(end) = rest[2..].windows(2).position(|pair| pair == b"*/") else {
                return Header::None;
            };
            // Kotlin's comments nest.
            if rest[2..2 + end].windows(2).any(|pair| pair == b"/*") {
                return Header::Unsure;
            }
            at += end + 4;
        } else if rest[0] == b'"' {
            let end = rest[1..].iter().position(|&byte| matches!(byte, b'"' | b'\n' | b'$'));
            if rest.starts_with(b"\"\"\"") || end.is_none_or(|end| rest[end + 1] != b'"') {
                return Header::Unsure;
            }
            at += end.map_or(rest.len(), |end| end + 2);
        } else if rest[0].is_ascii_alphanumeric() || rest[0] == b'_' {
            let end = rest
                .iter()
                .position(|&byte| !(byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'.' | b':')))
                .unwrap_or(rest.len());
            let is_annotation = at > 0 && matches!(bytes[at - 1], b'@' | b'[' | b'.');
            match &rest[..end] {
                b"package" if brackets == 0 && !is_annotation => {
                    // A backslash before it may have hidden something.
                    return match bytes[..at].contains(&b'\\') {
                        true => Header::Unsure,
                        false => package(&text[at + end..], language),
                    };
                }
                b"import" | b"class" | b"interface" | b"public" | b"fun" if brackets == 0 && !is_annotation => {
                    return Header::None;
                }
                _ => {}
            }
            at += end;
        } else {
            match rest[0] {
                b'(' | b'[' => brackets += 1,
                b')' | b']' => brackets = brackets.saturating_sub(1),
                b'{' if brackets == 0 => return Header::None,
                b'\\' | b'\'' => return Header::Unsure,
                _ => {}
            }
            at += 1;
        }
    }
    Header::None
}

/// The name after `package`.
fn package(text: &str, language: Language) -> Header {
    let text = text.trim_start();
    let end = text.find([';', '\n', '\r', '/', '\\']).unwrap_or(text.len());
    let name: String = text[..end]
        .chars()
        .filter(|c| !c.is_whitespace() && *c != '`')
        .collect();
    let rest = text[end..].trim_start();
    let is_sure = match language {
        Language::Java => rest.starts_with(';'),
        _ => !rest.starts_with(['.', '/', '\\']),
    };
    let is_one_word = !text[..end].trim_end().contains(char::is_whitespace);
    match !name.is_empty() && is_sure && is_one_word && !name.ends_with('.') {
        true => Header::Package(name),
        false => Header::Unsure,
    }
}

#[cfg(test)]
mod tests {
    use super::declared;

    #[test]
    fn the_declaration_is_found_after_comments_and_annotations() {
        for (text, package) in [
            ("package a.b;", Some("a.b")),
            ("\n/* package x; */ // package y\npackage  a . b ;", Some("a.b")),
            ("@file:JvmName(\"package z\")\npackage a.b\nimport c", Some("a.b")),
            ("@Deprecated @X(y = 1) package a;", Some("a")),
            ("@file:[A B]\r\npackage a.`in`\r\n", Some("a.in")),
            ("class X {}", None),
            ("", None),
            ("/* ", None),
            ("package ;", None),
        ] {
            assert_eq!(declared(b"X.kt", text).as_deref(), package, "{text}");
        }
    }

    #[test]
    fn a_declaration_that_hides_is_read_by_the_scanner() {
        for (path, text) in [
            (&b"X.java"[..], "package a/* */.b;"),
            (b"X.java", "package a // c\n.b;"),
            (b"X.java", "package a\n.b\n;"),
            (b"X.java", "p\\u0061ckage a.b;"),
            (b"X.java", "package a.\\u0062;"),
            (b"X.java", "@A(\"\\\"package c;\") package a.b;"),
            (b"X.java", "@A({\"x\"}) package a.b;"),
            (b"X.kt", "/* /* */ package c */ package a.b\n"),
            (b"X.kt", "package a\n.b\n"),
            (b"X.kt", "package a.\nb\n"),
            (b"X.kt", "package a.b // c\n"),
            (b"X.kt", "@file:A(\"\"\"\" package c\n\"\"\")\npackage a.b\n"),
        ] {
            assert_eq!(declared(path, text).as_deref(), Some("a.b"), "{text}");
        }
    }
}

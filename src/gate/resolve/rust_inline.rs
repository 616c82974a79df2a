//! Modules that are written inside a Rust file: `mod tests { use super::*; }` means another `super`
//! than the same line at the top of the file.
//!
//! One pass over the bytes, without a stack but the open braces; comments, strings and characters
//! are passed over.

use std::collections::{HashMap, HashSet};

use super::files::Files;
use crate::gate::tree::Unreadable;

/// Open braces, and modules of a file, that are kept; deeper ones belong to the last that was.
const MAX_DEPTH: usize = 1000;
const MAX_MODULES: usize = 2000;
const MAX_NESTED: usize = 64;

/// What was found in each file.
#[derive(Default)]
pub(super) struct Cache {
    files: HashMap<Vec<u8>, Layout>,
}

#[derive(Debug, Default)]
struct Layout {
    /// First and last line, and the path of names from the file; outer ones before inner ones.
    modules: Vec<(u32, u32, Vec<String>)>,
    /// Modules that a `#[path` attribute stands before.
    moved: HashSet<String>,
}

impl Cache {
    /// The names of the inner modules around a line, the outermost first.
    pub(super) fn modules(&mut self, files: &Files, path: &[u8], line: u32) -> Result<&[String], Unreadable> {
        let layout = self.layout(files, path)?;
        let around = layout
            .modules
            .iter()
            .filter(|(first, last, _)| (*first..=*last).contains(&line))
            .max_by_key(|(_, _, names)| names.len());
        Ok(around.map_or(&[], |(_, _, names)| names.as_slice()))
    }

    /// Whether the file puts the module of this name elsewhere by `#[path]`.
    pub(super) fn moves(&mut self, files: &Files, path: &[u8], name: &str) -> Result<bool, Unreadable> {
        Ok(self.layout(files, path)?.moved.contains(name))
    }

    fn layout(&mut self, files: &Files, path: &[u8]) -> Result<&Layout, Unreadable> {
        if !self.files.contains_key(path) {
            let text = files.text(path)?.unwrap_or_default();
            self.files.insert(path.to_vec(), layout(text.as_bytes()));
        }
        match self.files.get(path) {
            Some(layout) => Ok(layout),
            None => unreachable!("it was inserted above"),
        }
    }
}

fn layout(source: &[u8]) -> Layout {
    let mut found = Layout::default();
    // For each open brace the module that it begins.
    let mut open: Vec<Option<usize>> = Vec::new();
    let mut deeper = 0usize;
    let mut names: Vec<String> = Vec::new();
    let mut line = 1u32;
    // `mod`, then its name, then the brace.
    let mut is_mod = false;
    let mut named: Option<String> = None;
    let mut is_moved = false;
    let mut at = 0;
    while at < source.len() {
        let byte = source[at];
        let skipped = skipped(&source[at..]);
        if skipped > 0 {
            line += newlines(&source[at..at + skipped]);
            at += skipped;
            continue;
        }
        if byte.is_ascii_alphabetic() || byte == b'_' || byte >= 0x80 {
            let end = source[at..]
                .iter()
                .position(|&b| !(b.is_ascii_alphanumeric() || b == b'_' || b >= 0x80))
                .map_or(source.len(), |end| at + end);
            let word = &source[at..end];
            if is_mod && word == b"r" && source.get(end) == Some(&b'#') {
                at = end + 1;
                continue;
            }
            named = is_mod.then(|| String::from_utf8_lossy(word).into_owned());
            is_mod = word == b"mod" && named.is_none();
            if let Some(name) = named.as_ref().filter(|_| is_moved) {
                found.moved.insert(name.clone());
            }
            at = end;
            continue;
        }
        match byte {
            b'\n' => line += 1,
            b'{' if open.len() >= MAX_DEPTH => deeper += 1,
            b'{' => {
                let is_kept = found.modules.len() < MAX_MODULES && names.len() < MAX_NESTED;
                let module = named.take().filter(|_| is_kept).map(|name| {
                    names.push(name);
                    found.modules.push((line, u32::MAX, names.clone()));
                    found.modules.len() - 1
                });
                open.push(module);
            }
            b'}' if deeper > 0 => deeper -= 1,
            b'}' => {
                if let Some(Some(module)) = open.pop() {
                    found.modules[module].1 = line;
                    names.pop();
                }
            }
            b'#' => {
                let rest: Vec<u8> = source[at + 1..]
                    .iter()
                    .copied()
                    .filter(|b| !b.is_ascii_whitespace())
                    .take(6)
                    .collect();
                is_moved |= rest == b"[path=";
            }
            _ => {}
        }
        if matches!(byte, b';' | b'{' | b'}') {
            is_moved = false;
        }
        if !byte.is_ascii_whitespace() {
            is_mod = false;
            named = None;
        }
        at += 1;
    }
    found
}

fn newlines(bytes: &[u8]) -> u32 {
    u32::try_from(bytes.iter().filter(|byte| **byte == b'\n').count()).unwrap_or(u32::MAX / 2)
}

/// The length of the comment, string or character that begins here; 0 where none does.
fn skipped(rest: &[u8]) -> usize {
    match rest {
        [b'/', b'/', ..] => rest.iter().position(|&b| b == b'\n').unwrap_or(rest.len()),
        [b'/', b'*', ..] => {
            let (mut depth, mut at) = (0usize, 0);
            while at < rest.len() {
                if rest[at..].starts_with(b"/*") {
                    depth += 1;
                    at += 2;
                } else if rest[at..].starts_with(b"*/") {
                    depth -= 1;
                    at += 2;
                    if depth == 0 {
                        break;
                    }
                } else {
                    at += 1;
                }
            }
            at.min(rest.len())
        }
        [b'r' | b'b' | b'c', ..] => raw_string(rest),
        [b'"', ..] => {
            let mut at = 1;
            while at < rest.len() && rest[at] != b'"' {
                at += if rest[at] == b'\\' { 2 } else { 1 };
            }
            (at + 1).min(rest.len())
        }
        // A character, not a lifetime.
        [b'\'', b'\\', ..] => {
            let end = rest.iter().skip(3).position(|&b| b == b'\'');
            end.map_or(1, |end| end + 4)
        }
        [b'\'', first, ..] => {
            let width = match first {
                0..=0x7f => 1,
                0x80..=0xdf => 2,
                0xe0..=0xef => 3,
                _ => 4,
            };
            if rest.get(1 + width) == Some(&b'\'') {
                width + 2
            } else {
                0
            }
        }
        _ => 0,
    }
}

/// `r#"..."#` and `br"..."`; 0 for a word that only begins so.
fn raw_string(rest: &[u8]) -> usize {
    let mut at = 0;
    while at < rest.len() && at < 2 && matches!(rest[at], b'r' | b'b' | b'c') {
        at += 1;
    }
    if rest[at - 1] != b'r' {
        return 0;
    }
    let hashes = rest[at..].iter().take_while(|&&b| b == b'#').count();
    if rest.get(at + hashes) != Some(&b'"') {
        return 0;
    }
    let mut end = vec![b'"'];
    end.extend(std::iter::repeat_n(b'#', hashes));
    let body = at + hashes + 1;
    let mut from = body;
    // Only quotes are compared, so that many hashes cost no more than the file.
    while let Some(quote) = rest[from..].iter().position(|&b| b == b'"') {
        from += quote;
        if rest[from..].starts_with(&end) {
            return from + end.len();
        }
        from += 1;
    }
    rest.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn around(source: &str, line: u32) -> Vec<String> {
        let layout = layout(source.as_bytes());
        layout
            .modules
            .iter()
            .filter(|(first, last, _)| (*first..=*last).contains(&line))
            .max_by_key(|(_, _, names)| names.len())
            .map(|(_, _, names)| names.clone())
            .unwrap_or_default()
    }

    #[test]
    fn inner_modules_are_found_by_line() {
        let source =
            "use a;\nmod x;\nmod tests {\n    use super::*;\n    mod r#in {\n use b;\n }\n use c;\n}\nuse d;\n";
        assert_eq!(around(source, 1), [""; 0]);
        assert_eq!(around(source, 4), ["tests"]);
        assert_eq!(around(source, 6), ["tests", "in"]);
        assert_eq!(around(source, 8), ["tests"]);
        assert_eq!(around(source, 10), [""; 0]);
    }

    #[test]
    fn braces_in_strings_and_comments_do_not_count() {
        let source = "const A: &str = \"mod a {\"; // mod b {\n/* mod c { /* } */ */ const C: char = '{'; fn f<'a>() {}\n\
                      const R: &str = r#\"mod d { \" \"#; const B: u8 = b'\\''; const S: char = '\u{e9}';\nuse e;\n";
        assert_eq!(around(source, 4), [""; 0]);
        assert!(layout(source.as_bytes()).modules.is_empty());
    }

    #[test]
    fn the_path_attribute_is_seen() {
        let moved = |source: &str| {
            let mut names: Vec<String> = layout(source.as_bytes()).moved.into_iter().collect();
            names.sort_unstable();
            names
        };
        assert_eq!(moved("#[path = \"x.rs\"]\n#[cfg(x)] pub(crate) mod a; mod b;"), ["a"]);
        assert_eq!(moved("# [ path = \"x\" ] mod r#in { mod c; }"), ["in"]);
        assert_eq!(moved("// #[path = \"x.rs\"]\nmod a;"), [""; 0]);
    }

    #[test]
    fn hostile_nesting_is_passed_in_one_go() {
        layout("{".repeat(400_000).as_bytes());
        layout("mod a {".repeat(100_000).as_bytes());
        layout("/*".repeat(200_000).as_bytes());
        layout("r#\"".repeat(200_000).as_bytes());
        layout("'\\".repeat(200_000).as_bytes());
    }
}

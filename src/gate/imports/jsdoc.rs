//! Types that comments of JavaScript import: `@type {import("x").Y}` and `@import { Y } from "x"`.
//!
//! Only what stands in the braces of a tag counts, or behind `@import`: prose and examples name modules without
//! importing anything.

use memchr::memmem;

use super::source::Found;
use super::{ImportKind, identity};

/// Longest tag that is looked at, in bytes.
const MAX_TAG: usize = 4096;

/// Every import in a comment that begins with `/**`; the mask tells which are comments.
pub fn scan(source: &[u8], mask: &[u8]) -> Vec<Found> {
    let mut found = Vec::new();
    let mut behind = 0;
    for at in memmem::find_iter(source, b"/**") {
        if at < behind || mask.get(at..at + 3) != Some(b"   ") {
            continue;
        }
        let end = memmem::find(&source[at + 3..], b"*/").map_or(source.len(), |length| at + 3 + length);
        behind = end;
        for tag in memchr::memchr_iter(b'@', &source[at..end]).map(|length| at + length) {
            read(source, tag, end.min(tag + MAX_TAG), &mut found);
        }
    }
    found
}

/// The tag at `@`.
fn read(source: &[u8], tag: usize, end: usize, found: &mut Vec<Found>) {
    let word = source[tag + 1..end]
        .iter()
        .take_while(|byte| byte.is_ascii_alphanumeric())
        .count();
    let name = &source[tag + 1..tag + 1 + word];
    let rest = tag + 1 + word;
    let blanks = source[rest..end]
        .iter()
        .take_while(|byte| matches!(byte, b' ' | b'\t'))
        .count();
    if name == b"import" && blanks > 0 {
        let line = &source[rest..end];
        // A list may go on in the next lines; the next tag ends it.
        let line = &line[..memchr::memchr(b'@', line).unwrap_or(line.len())];
        if let Some(from) = memmem::rfind(line, b"from") {
            found.extend(literal(source, rest + from + 4, end));
        }
        return;
    }
    if word == 0 || source.get(rest + blanks) != Some(&b'{') || matches!(name, b"example" | b"link" | b"see") {
        return;
    }
    let (open, mut depth) = (rest + blanks, 0usize);
    for at in open..end {
        match source[at] {
            b'{' => depth += 1,
            b'}' => {
                depth -= 1;
                if depth == 0 {
                    return;
                }
            }
            b'i' if source[at..end].starts_with(b"import(") && !source[at - 1].is_ascii_alphanumeric() => {
                found.extend(literal(source, at + 7, end));
            }
            _ => {}
        }
    }
}

/// The text in quotes that stands at an offset, behind blanks.
fn literal(source: &[u8], from: usize, end: usize) -> Option<Found> {
    let text = source.get(from..end)?;
    let at = text.iter().position(|byte| !byte.is_ascii_whitespace())?;
    let quote = text[at];
    if !matches!(quote, b'"' | b'\'') {
        return None;
    }
    let text = &text[at + 1..];
    let length = text
        .iter()
        .position(|&byte| byte == quote || byte == b'\n')
        .filter(|&end| text[end] == quote)?;
    let raw = std::str::from_utf8(&text[..length])
        .ok()
        .filter(|raw| !raw.is_empty())?
        .to_owned();
    Some(Found {
        identity: identity::javascript(&raw),
        raw,
        kind: ImportKind::TypeOnly,
        at: from + at,
    })
}

#[cfg(test)]
mod tests {
    use super::super::{Language, imports_at};
    use crate::gate::imports::ImportKind;

    fn of(path: &str, source: &str) -> Vec<String> {
        let found = imports_at(path.as_bytes(), Language::JavaScript, source.as_bytes()).expect("it can be read");
        assert!(
            found.iter().all(|import| import.kind == ImportKind::TypeOnly),
            "{source}: {found:?}"
        );
        found.into_iter().map(|import| import.raw).collect()
    }

    #[test]
    fn types_of_comments_are_imports() {
        for source in [
            "/** @type {import('a').B} */\nlet x;",
            "/**\n * @param {Map<string, import(\"a\").B>} b the b\n */\nfunction f(b) {}",
            "/** @import { B } from 'a' */",
            "/**\n * @import {\n *   B,\n *   C,\n * } from \"a\"\n */",
            "/** @import * as a from 'a' */",
            "/** @typedef {{ x: import( 'a' ).B }} T */",
        ] {
            assert_eq!(of("x.js", source), ["a"], "{source}");
        }
        assert!(of("x.ts", "/** @type {import('a').B} */\nlet x;").is_empty());
        assert_eq!(of("x.ts", "declare module 'a' { export const b: 1; }"), ["a"]);
    }

    #[test]
    fn prose_and_examples_are_not() {
        for source in [
            "/** Loads import('a') and from 'a'. */",
            "/**\n * @example\n * import x from 'a'\n * const y = { z: await import('a') }\n */",
            "/* @type {import('a').B} */",
            "// @type {import('a').B}",
            "const s = \"/** @type {import('a').B} */\";",
            "/** {@link import('a')} @import 'a' */",
            "/** @important from 'a' */",
            "declare.module('a'); module('a'); let declare; module;",
            "declare module '*.css';",
        ] {
            assert!(of("x.js", source).is_empty(), "{source}: {:?}", of("x.js", source));
        }
        super::scan("/** @".repeat(100_000).as_bytes(), " ".repeat(500_000).as_bytes());
    }
}

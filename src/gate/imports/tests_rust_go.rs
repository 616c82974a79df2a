//! Rust and Go: the files of `fixtures/imports`, arbitrary text, and files made to take long.

use std::time::{Duration, Instant};

use proptest::prelude::*;

use super::{Language, go, imports, language_of, matches, rust};

#[test]
fn the_files_that_must_count_count_and_the_others_do_not() {
    let root = concat!(env!("CARGO_MANIFEST_DIR"), "/fixtures/imports");
    for (folder, expected) in [("must-hit", true), ("must-not-hit", false)] {
        let mut seen = 0;
        for entry in std::fs::read_dir(format!("{root}/{folder}")).expect("the folder is there") {
            let path = entry.expect("it can be listed").path();
            let language = match path.extension().and_then(|ending| ending.to_str()) {
                Some("rs") => Language::Rust,
                Some("go") => Language::Go,
                _ => continue,
            };
            seen += 1;
            let source = std::fs::read(&path).expect("it can be read");
            let found = imports(language, &source).expect("readable");
            let hits = ["redis", "hiredis", "predis"]
                .iter()
                .any(|entry| found.iter().any(|import| matches(entry, language, import)));
            assert_eq!(hits, expected, "{}: {found:?}", path.display());
        }
        assert!(seen > 0);
    }
}

#[test]
fn a_script_is_told_by_its_first_line() {
    for (line, language) in [
        ("#!/usr/bin/env rust-script", Language::Rust),
        ("#!/usr/bin/env -S cargo +nightly -Zscript", Language::Rust),
        ("#!/usr/local/bin/gorun", Language::Go),
    ] {
        assert_eq!(language_of(b"bin/job", line.as_bytes()), Some(language), "{line}");
    }
}

fn check(source: &[u8]) {
    for mask in rust::masks(source).into_iter().chain(go::masked(source)) {
        assert_eq!(source.len(), mask.len());
        let is_line = |bytes: &[u8], at: usize| bytes[at] == b'\n';
        assert!((0..source.len()).all(|at| is_line(source, at) == is_line(&mask, at)));
    }
    for language in [Language::Rust, Language::Go] {
        if let Ok(found) = imports(language, source) {
            assert!(found.is_sorted_by_key(|i| (i.line, i.column)));
        }
    }
}

const SOUP: &[&str] = &[
    "use",
    "mod",
    "extern",
    "crate",
    "self",
    "super",
    "pub",
    "as",
    "struct",
    "enum",
    "fn",
    "redis",
    "macro_rules!",
    "m!",
    "import",
    "package",
    "\"C\"",
    "\"a\"",
    "`",
    "::",
    ":",
    ";",
    ",",
    "{",
    "}",
    "(",
    ")",
    "[",
    "]",
    "<",
    ">",
    "-",
    "=",
    "*",
    "$",
    "$x",
    "$crate",
    "#",
    "#[",
    "#![",
    "cfg",
    "cfg_attr",
    "!",
    "/",
    "//",
    "/*",
    "*/",
    "\"",
    "'",
    "\\",
    "r",
    "r#",
    "r#\"",
    "\"#",
    "br\"",
    "cr\"",
    "cr#\"",
    "b'",
    "'a",
    "'\\''",
    "#!",
    "---",
    "\n",
    "\r\n",
    " ",
    ".",
    "..",
    "1.",
    "0",
    "a",
    "\u{2028}",
    "\u{85}",
    "é",
    "\u{feff}",
    "\u{1}",
    "//go:linkname a b.c",
    "//#include <a>",
    "/*#include <a>*/",
    "#cgo",
    "\\x72",
    "\\u0072",
    "_",
    "Self",
    "T",
];

proptest! {
    #![proptest_config(ProptestConfig { cases: 2000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn arbitrary_bytes_never_panic(source in proptest::collection::vec(any::<u8>(), 0..200)) {
        check(&source);
    }

    #[test]
    fn arbitrary_tokens_never_panic(words in proptest::collection::vec(proptest::sample::select(SOUP), 0..60)) {
        check(words.concat().as_bytes());
        check(words.join(" ").as_bytes());
    }
}

/// Far more than linear time takes even in a debug build on a busy machine, far less than
/// quadratic time would.
const LIMIT: Duration = Duration::from_secs(20);

#[test]
fn hostile_files_end_soon() {
    const SIZE: usize = if cfg!(debug_assertions) { 1 << 16 } else { 14 << 20 };
    let began = Instant::now();
    for unit in [
        "import ",
        "import (",
        "import \"C\"\n",
        "//#include <a>\nimport \"C\"\n",
        "import (\"a\"\n",
        "// a\n",
        "//go:linkname a b.c\n",
        "use ",
        "use a::",
        "use a::{",
        "use a::{b, ",
        "use {a, ",
        "a, ",
        "mod a; a::b; ",
        "mod a { a::b; ",
        "{ mod a; ",
        "{ a::b; ",
        "a::b ",
        "a::",
        "::",
        "::a",
        "use super::*; mod a { ",
        "#[cfg(a)] mod a; ",
        "#[cfg(",
        "#[cfg(#[cfg(",
        "#![cfg(a)]",
        "#[",
        "macro_rules! a { ",
        "$a::",
        "use $",
        "use $(",
        "extern crate a; ",
        "extern crate ",
        "pub(",
        "pub(in ",
        "{",
        "[",
        "(",
        "}",
        "'",
        "'a",
        "\"",
        "`",
        "/*",
        "/**",
        "*/",
        "//",
        "r#",
        "r#\"",
        "r\"\"",
        "#",
        "cr\"",
        "b'",
        "\\",
        "1.",
        "..",
        "!",
        "a!",
        "a!(",
        "---",
        "---\n",
        "--- \n",
        "é",
        "\u{2028}",
        "<",
        "use a as b; b::c; ",
    ] {
        let mut source = unit.repeat(SIZE / unit.len());
        for tail in ["", "}", "*/", "\"", "\n---\n", "; use redis; redis::a"] {
            source.push_str(tail);
            let one = Instant::now();
            for language in [Language::Rust, Language::Go] {
                let _ = imports(language, source.as_bytes());
            }
            assert!(one.elapsed() < LIMIT, "{unit:?} took {:?}", one.elapsed());
        }
    }
    assert!(began.elapsed() < 15 * LIMIT, "all took {:?}", began.elapsed());
}

#[test]
fn deep_nesting_needs_no_stack() {
    const DEPTH: usize = 200_000;
    for (open, close) in [
        ("(", ")"),
        ("[", "]"),
        ("{", "}"),
        ("/*", "*/"),
        ("mod a {", "}"),
        ("m!(", ")"),
        ("macro_rules! a {", "}"),
        ("use a::{", "};"),
        ("#[cfg(", ")]"),
    ] {
        let source = format!("{}{}; use redis::A;", open.repeat(DEPTH), close.repeat(DEPTH));
        let found = imports(Language::Rust, source.as_bytes()).expect("readable");
        let count = found.iter().filter(|import| import.raw == "redis::A").count();
        assert_eq!(count, 1, "{open}");
    }
    let source = format!(
        "package a\n{}{}\nimport \"redis\"",
        "(".repeat(DEPTH),
        ")".repeat(DEPTH)
    );
    assert_eq!(imports(Language::Go, source.as_bytes()).expect("readable").len(), 1);
}

#[test]
fn a_tree_of_groups_takes_no_more_room_than_is_read() {
    let depth = 5_000;
    let source = format!("use {}a{};", "aaaa::{a, ".repeat(depth), "}".repeat(depth));
    let found = imports(Language::Rust, source.as_bytes()).expect("readable");
    assert_eq!(found.len(), depth + 1);
    assert!(found.iter().all(|import| import.identity.len() <= 16));
}

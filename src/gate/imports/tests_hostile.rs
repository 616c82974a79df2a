//! Arbitrary bytes, token soup, and files made to take long.

use std::time::{Duration, Instant};

use proptest::prelude::*;

use super::mask_js::{Elements, Html, mask};
use super::{Language, imports, mask_py};

fn check(source: &[u8]) {
    for elements in [Elements::Jsx, Elements::None] {
        for html in [Html::Operators, Html::Comments] {
            if let Ok(masked) = mask(source, elements, html) {
                assert_same_lines(source, &masked.mask);
            }
        }
    }
    if let Ok(masked) = mask_py::mask(source) {
        assert_same_lines(source, &masked);
    }
    for language in [Language::JavaScript, Language::Python] {
        if let Ok(found) = imports(language, source) {
            assert!(found.is_sorted_by_key(|i| (i.line, i.column)));
        }
    }
}

fn assert_same_lines(source: &[u8], mask: &[u8]) {
    assert_eq!(source.len(), mask.len());
    let newlines = |bytes: &[u8]| {
        bytes
            .iter()
            .enumerate()
            .filter(|(_, b)| **b == b'\n')
            .map(|(at, _)| at)
            .collect::<Vec<_>>()
    };
    assert_eq!(newlines(source), newlines(mask));
}

const SOUP: &[&str] = &[
    "import",
    "from",
    "export",
    "require",
    "(",
    ")",
    "{",
    "}",
    "[",
    "]",
    "<",
    ">",
    "/",
    "*",
    "//",
    "/*",
    "*/",
    "\"",
    "'",
    "`",
    "${",
    "\\",
    "\n",
    "\r\n",
    " ",
    "#",
    "f\"",
    "f'''",
    "\"\"\"",
    "'''",
    "rb'",
    "{{",
    ":",
    "=",
    "=>",
    ".",
    "...",
    ",",
    ";",
    "a",
    "</a>",
    "<a>",
    "<a",
    "/>",
    "T",
    "\u{2028}",
    "\u{a0}",
    "é",
    "\u{feff}",
    "as",
    "type",
    "import_module",
    "createRequire",
    "=",
    "\\u{72}",
    "\\x72",
    "\\N{",
    "if",
    "TYPE_CHECKING",
    "function",
    "return",
    "of",
    "await",
    "!",
    "?",
    "++",
    "0",
    "jest",
    "mock",
    "\u{1}",
    "</",
    "extends",
    "package=",
    "<!--",
    "-->",
    "require",
    "define",
    "typeof",
    "?.",
    "+",
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
    }
}

/// Far more than linear time takes even in a debug build on a busy machine, far less than
/// quadratic time would.
const LIMIT: Duration = Duration::from_secs(20);

#[test]
fn hostile_files_end_soon() {
    const SIZE: usize = if cfg!(debug_assertions) { 1 << 20 } else { 14 << 20 };
    let began = Instant::now();
    for unit in [
        "import ",
        "import {",
        "import {a as b, ",
        "import {import, ",
        "import a.",
        "import (",
        "import(",
        "require(",
        "require(((",
        "from a.",
        "from ",
        ".from a",
        "from . ",
        "export ",
        "export * ",
        "`${",
        "`${`",
        "f'{",
        "f\"{x:{",
        "{",
        "[",
        "(",
        "<a>",
        "<a ",
        "<a>(",
        "<a b={",
        "</a",
        "</a>",
        "<a><",
        "<a<",
        "<>",
        "'",
        "\"",
        "\"\"\"",
        "/",
        "/*",
        "//",
        "await /[",
        "yield /",
        "}/",
        "function(){}/[",
        "\\",
        "\\u{",
        "é\u{a0}",
        "#",
        "createRequire(",
        "import_module(",
        "import_module('a' ",
        "require('a' + ",
        "require<",
        "f(<T>(",
        "x=<T>('a",
        "if TYPE_CHECKING:\n ",
        "a = require; ",
        "import type ",
        "import.meta.",
        "1.",
        "... ",
        "type X = ",
        "require(x || ",
        "require(a ? 'b' : ",
        "require, ",
        "{ require: a, ",
        "['a', ",
        "define(['a', ",
        "createRequire as a, ",
        "import { createRequire as a, ",
        "<!-- ",
        "\n--> ",
        "a > /b",
        "</ ",
        "/// <reference types=\n",
        "@jsxImportSource a\n",
        "import_module([",
        "import_module, 'a', ",
        "# coding: ~ ",
    ] {
        let mut source = unit.repeat(SIZE / unit.len() / 8);
        for tail in ["", "</a>", "*/", "'", "\nimport 'x'"] {
            source.push_str(tail);
            let one = Instant::now();
            for language in [Language::JavaScript, Language::Python] {
                let _ = imports(language, source.as_bytes());
            }
            assert!(one.elapsed() < LIMIT, "{unit:?} took {:?}", one.elapsed());
        }
    }
    assert!(began.elapsed() < 15 * LIMIT, "all took {:?}", began.elapsed());
}

#[test]
fn deep_nesting_needs_no_stack() {
    for (open, close) in [
        ("(", ")"),
        ("[", "]"),
        ("{", "}"),
        ("`${", "}`"),
        ("<a>", "</a>"),
        ("<a b={", "}/>"),
    ] {
        let source = format!(
            "x = {}1{}; import('redis')",
            open.repeat(200_000),
            close.repeat(200_000)
        );
        let found = imports(Language::JavaScript, source.as_bytes()).expect("readable");
        assert_eq!(found.len(), 1, "{open}");
    }
    for (open, close) in [("(", ")"), ("[", "]"), ("{", "}"), ("f'{", "}'")] {
        let source = format!("x = {}1{}; import redis", open.repeat(200_000), close.repeat(200_000));
        let found = imports(Language::Python, source.as_bytes()).expect("readable");
        assert_eq!(found.len(), 1, "{open}");
    }
}

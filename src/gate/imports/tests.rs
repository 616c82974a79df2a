//! Identity, matching and the files that cannot be read.

use super::*;
use Language::{JavaScript, Python};

/// The raw specifiers of a file, `?` for one that is opaque.
pub(super) fn raws(language: Language, source: &str) -> Vec<String> {
    let found = imports(language, source.as_bytes()).unwrap_or_else(|fault| panic!("{source:?}: {fault:?}"));
    found
        .into_iter()
        .filter(|i| i.kind != ImportKind::Declared)
        .map(|i| {
            if i.kind == ImportKind::Opaque {
                "?".to_owned()
            } else {
                i.raw
            }
        })
        .collect()
}

/// Whether any import of the file is named by the entry.
pub(super) fn hits(language: Language, source: &str, entry: &str) -> bool {
    let found = imports(language, source.as_bytes()).unwrap_or_else(|fault| panic!("{source:?}: {fault:?}"));
    found.iter().any(|import| matches(entry, language, import))
}

fn why(language: Language, source: &[u8]) -> Option<(String, Option<u32>)> {
    imports(language, source).err().map(|opaque| (opaque.why, opaque.line))
}

#[test]
fn endings_give_the_language() {
    for path in [
        "a.js", "a.jsx", "a.mjs", "a.cjs", "a.ts", "a.tsx", "a.mts", "a.cts", "x/y.d.ts", "A.TS",
    ] {
        assert_eq!(language(path.as_bytes()), Some(JavaScript), "{path}");
    }
    for path in ["a.py", "a.pyi", "a.pyw", "b/.py"] {
        assert_eq!(language(path.as_bytes()), Some(Python), "{path}");
    }
    for path in ["a", "a.json", "a.py/b", "a.pyc", "ts", "a.ts.bak", ""] {
        assert_eq!(language(path.as_bytes()), None, "{path}");
    }
}

#[test]
fn javascript_entries_match_whole_segments() {
    let is = |entry: &str, specifier: &str| hits(JavaScript, &format!("import {specifier:?}"), entry);
    for (entry, specifiers) in [
        (
            "redis",
            &[
                "redis",
                "redis/client",
                "redis/",
                "npm:redis@4",
                "npm:redis@4/client",
                "npm:/redis",
                "redis?raw",
                "style-loader!redis",
                "x/../redis",
                "../node_modules/redis/index.js",
                "https://esm.sh/redis@4.6.0",
                "https://esm.sh/v135/redis@4/es2022/redis.mjs",
                "https://esm.sh/*redis",
                "https://unpkg.com/redis@4/dist/index.js",
                "https://cdn.skypack.dev/redis",
                "https://cdn.jsdelivr.net/npm/redis@4/+esm",
                "https://deno.land/x/redis@v0.29.0/mod.ts",
            ][..],
        ),
        (
            "@redis/*",
            &[
                "@redis/client",
                "@redis/client/dist",
                "npm:@redis/client@1",
                "jsr:@redis/client@1.2/x",
            ],
        ),
        (
            "@redis/client",
            &["@redis/client", "@redis/client/x", "https://esm.sh/@redis/client@1/x"],
        ),
        ("@redis", &["@redis/client"]),
        ("redis/client", &["redis/client", "redis/client/x"]),
        ("redis*", &["redis", "redis-om", "redis-om/x"]),
        ("redis/**", &["redis", "redis/a/b"]),
        ("*redis", &["ioredis", "redis"]),
        ("node:fs", &["fs", "node:fs", "fs/promises"]),
        ("fs", &["fs", "node:fs", "NODE:fs"]),
        ("npm:redis", &["redis"]),
        ("https://example.com/lib", &["https://example.com/lib/x.js"]),
        ("socket.io", &["socket.io"]),
    ] {
        for specifier in specifiers {
            assert!(is(entry, specifier), "{entry} {specifier}");
        }
    }
    for (entry, specifiers) in [
        (
            "redis",
            &[
                "ioredis",
                "redis-om",
                "@scope/redis",
                "@redis/client",
                "predis",
                "./redis",
                "../redis",
                "/redis",
                "#redis",
                "~/redis",
                "@/redis",
                "Redis",
                "redis.js",
                "https://example.com/redis",
                "x/redis",
                ".",
                "",
                "file:///redis",
            ][..],
        ),
        ("@redis/*", &["@redis", "redis/client", "@redisx/client"]),
        ("redis/client", &["redis", "redis/clientx"]),
        ("redis*", &["ioredis", "x/redis"]),
        ("./redis", &["./redis", "redis"]),
        ("", &["redis", ""]),
    ] {
        for specifier in specifiers {
            assert!(!is(entry, specifier), "{entry} {specifier}");
        }
    }
}

#[test]
fn python_entries_match_whole_segments() {
    for (entry, source) in [
        ("redis", "import redis"),
        ("redis", "import redis.asyncio as r"),
        ("redis", "from redis import asyncio"),
        ("redis.asyncio", "from redis import asyncio"),
        ("redis.asyncio", "from redis import (x, asyncio as a)"),
        ("redis.asyncio", "import redis.asyncio.client"),
        ("app", "from app import db"),
        ("app.db", "from app import db"),
        ("app.db", "from app.db import x"),
        ("app.*", "from app import db"),
        ("redis-om", "import redis_om"),
        ("redis_om", "import redis_om"),
        ("redis*", "import redis_om"),
        ("requests", "import requests.adapters"),
        ("redis", "import \u{ff52}\u{ff45}\u{ff44}\u{ff49}\u{ff53}"),
    ] {
        assert!(hits(Python, source, entry), "{entry} {source}");
    }
    for (entry, source) in [
        ("redis", "import redis_om"),
        ("redis", "import myapp.redis"),
        ("redis", "from . import redis"),
        ("redis", "from .redis import x"),
        ("redis", "from .. import redis"),
        ("redis", "from myapp import redis"),
        ("requests", "import requests_mock, my.requests"),
        ("redis.asyncio", "import redis"),
        ("app.db", "from app import database"),
        ("Redis", "import redis"),
        ("@redis/client", "import redis"),
        ("node:fs", "import fs"),
    ] {
        assert!(!hits(Python, source, entry), "{entry} {source}");
    }
}

#[test]
fn relative_python_imports_resolve_by_folder() {
    for (path, source, entry, expected) in [
        ("app/ui/m.py", "from ..db import x", "app.db", true),
        ("app/ui/deep/m.py", "from ...db import x", "app.db", true),
        ("app/ui/m.py", "from .. import db", "app.db", true),
        ("src/app/ui/m.py", "from ..db import x", "app.db", true),
        ("app/m.py", "from .db import x", "app.db", true),
        ("app/ui/m.py", "from .db import x", "app.db", false),
        ("app/ui/m.py", "from ..database import x", "app.db", false),
        ("app/m.py", "from ....db import x", "app.db", false),
        ("app/m.py", "from . import redis", "redis", false),
        ("app/m.py", "import app.db", "app.db", false),
    ] {
        let found = imports(Python, source.as_bytes()).expect(source);
        assert_eq!(
            found.iter().any(|i| matches_relative(entry, path, i)),
            expected,
            "{path} {source}"
        );
    }
}

#[test]
fn positions_are_those_of_the_specifier() {
    let at = |language, source: &str| {
        let found = imports(language, source.as_bytes()).expect(source);
        found.into_iter().map(|i| (i.line, i.column)).collect::<Vec<_>>()
    };
    assert_eq!(at(JavaScript, "import {\n a, // it's\n} from \"redis\""), [(3, 8)]);
    assert_eq!(
        at(JavaScript, "\u{feff}import x from 'a'\r\nrequire('b')"),
        [(1, 15), (2, 9)]
    );
    assert_eq!(at(JavaScript, "`\n\n`; import('a')"), [(3, 11)]);
    assert_eq!(at(Python, "import os, \\\n  bad"), [(1, 8), (2, 3)]);
    assert_eq!(at(Python, "from redis import (\n  a,\n  b,\n)"), [(1, 6), (1, 6)]);
}

#[test]
fn the_first_segment_is_offered_for_local_packages() {
    let found = imports(Python, b"import redis.asyncio\nfrom . import x").expect("readable");
    assert_eq!(found[0].first_segment(), Some("redis"));
    assert_eq!(found[1].first_segment(), None);
}

const AMBIGUOUS: &str = "has a slash that may divide or begin an expression";

#[test]
fn unreadable_files_are_refused() {
    let at = |why: &str, line| Some((why.to_owned(), Some(line)));
    assert_eq!(why(JavaScript, b"a\n\0"), at("has a NUL byte", 2));
    assert_eq!(why(Python, b"i\0m\0p\0o\0r\0t\0"), at("has a NUL byte", 1));
    assert_eq!(why(Python, b"#\n\n\xff"), at("is not UTF-8", 3));
    assert_eq!(why(JavaScript, b"\n/* x"), at("has a comment that never ends", 2));
    assert_eq!(
        why(JavaScript, b"a = 'x\nimport 'redis'"),
        at("has a string that its line does not end", 1)
    );
    assert_eq!(why(JavaScript, b"a = \"x"), at("has a string that never ends", 1));
    assert_eq!(why(JavaScript, b"a = `x${`"), at("has a template that never ends", 1));
    assert_eq!(why(JavaScript, b"a = `x${ b"), at("has a template that never ends", 1));
    assert_eq!(
        why(JavaScript, b"x = /abc"),
        at("has a regular expression that its line does not end", 1)
    );
    for ambiguous in [
        "(function(){}) + function(){} /\"; import('redis') /\" / 2",
        "let x\n/\"/; import('redis'); /\"/",
        "import 'x'\n/\"/; import('redis'); /\"/",
        "a: for (;;) { break a\n/\"/; import('redis'); /\"/ }",
        "function f() { if (x) return\n{} /\"/; import('redis'); \"/\" }",
        "(function () { a: {} /\"/; import('redis'); \"/\" })",
    ] {
        assert_eq!(
            why(JavaScript, ambiguous.as_bytes()).map(|f| f.0).as_deref(),
            Some(AMBIGUOUS),
            "{ambiguous}"
        );
    }
    assert_eq!(
        why(Python, b"'''\nimport redis\n''"),
        at("has a string that never ends", 1)
    );
    assert_eq!(
        why(Python, b"\nx = 'abc\nimport redis"),
        at("has a string that its line does not end", 2)
    );
    assert_eq!(why(Python, b"f'{a"), at("has an f-string that never ends", 1));
    assert_eq!(
        why(Python, b"# coding: utf-7\n"),
        at("declares an encoding other than UTF-8", 1)
    );
    assert!(why(Python, b"#!/usr/bin/python\n# -*- coding: unicode_escape -*-\n").is_some());
    assert_eq!(why(Python, b"# -*- coding: utf-8 -*-\n"), None);
    assert_eq!(why(Python, b"# vim: set fileencoding=latin-1 :\n"), None);
    assert_eq!(why(Python, b""), None);
    assert_eq!(why(JavaScript, b""), None);
}

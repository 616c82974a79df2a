//! Ways around the name of an import: other readings of a file, other names of `require`.

use super::tests::hits;
use super::*;
use Language::{CSharp, Java, JavaScript, Kotlin, Python};

/// Whether a file of this name with this source passes unseen.
fn passes(path: &str, source: &str) -> bool {
    let language = language(path.as_bytes()).expect(path);
    match imports_at(path.as_bytes(), language, source.as_bytes()) {
        Ok(found) => !found.iter().any(|import| matches("redis", language, import)),
        Err(_) => false,
    }
}

#[test]
fn no_reading_hides_an_import() {
    for (path, source) in [
        ("x.cjs", "<!-- `\nrequire('redis')\n<!-- `\n"),
        ("x.cjs", "/* */ --> `\nrequire('redis')\n/*\n*/ --> `\n"),
        ("x.mjs", "a<!--b; import('redis'); x\n`\n--> `\n"),
        ("x.cjs", "let n=1\n++/\"/.lastIndex; require('redis'); ++/\"/.lastIndex"),
        (
            "x.cjs",
            "let n=1/*\u{2028}*/++/\"/.lastIndex; require('redis'); ++/\"/.lastIndex",
        ),
        ("x.ts", "const z = f<string>/2; import('redis'); 1/2;"),
        ("x.ts", "const z = f<string>/2; /* \" */ import('redis') /* \" */"),
        ("x.ts", "const z = f<string>/2/ /\"/.x; import('redis'); 1/\"/.x"),
        ("x.tsx", "const e = <a.b></a . b>; require('redis'); 1 / 2;"),
        ("x.tsx", "const e = <a . b></a.b>; require('redis'); 1 / 2;"),
        ("x.tsx", "const e = <a></ /**/ a>; require('redis'); 1 / 2;"),
        ("x.tsx", "const e = <a></\u{a0}a>; require('redis'); 1 / 2;"),
        ("x.tsx", "const e = <a b / >; require('redis'); 1 / 2;"),
        ("x.tsx", "let x: T\n<a>it's</a>; require('redis'); <a>'</a>"),
        ("x.tsx", "a; <a>(x): '</a>; require('redis'); <a>'</a>; 1/2"),
        ("x.tsx", "const e = <out>'</out>; require('redis'); <out>'</out>"),
        (
            "x.tsx",
            "const e = function(){} <a> '</a>'; require('redis'); '<a>' </a>",
        ),
        (
            "x.ts",
            "const e = <any>'</any>'; require('redis'); const f = <any>'</any>'",
        ),
        ("x.py", "# coding: ~ coding: utf-7\n#+AAo-import redis\n"),
        ("x.py", "# coding: _utf_7\n#+AAo-import redis\n"),
        ("x.py", "# coding: -utf-7\n#+AAo-import redis\n"),
        ("x.py", "#\n# coding=raw-unicode-escape\n#\\u000aimport redis\n"),
    ] {
        assert!(!passes(path, source), "{path} {source}");
    }
}

#[test]
fn ordinary_files_are_read() {
    for (path, source) in [
        ("x.js", "const s = '<!-- `'; // -->\n"),
        ("x.js", "a = (b + c)\n  / 2 / d // half\nf()\n"),
        ("x.js", "while (n --> 0) f(`x`)\n"),
        ("x.ts", "interface A { <T>(x: T): void; b: 1 } const y = <T>'</T>'"),
        ("x.ts", "if (a > /x'y/.exec(b).index) f()".replace('\'', "").as_str()),
        ("x.tsx", "const a = b\n  < c && d > e"),
        ("x.tsx", "const f = <const T,>(x: T) => <p>don't</p>"),
        ("x.py", "# -*- coding: iso-8859-15 -*-\n"),
        ("x.py", "# coding: utf-8-unix\n"),
        ("x.py", "# encoding: us-ascii\n"),
        ("x.py", "# vim: set fileencoding=UTF_8 :\n"),
        ("x.py", "# the coding: of things\nx\n".replace("of", "~").as_str()),
    ] {
        let language = language(path.as_bytes()).expect(path);
        let found = imports_at(path.as_bytes(), language, source.as_bytes());
        assert_eq!(found, Ok(Vec::new()), "{path} {source}");
    }
}

const COMPUTED: &[&str] = &[
    "require('fs' && 'redis')",
    "import('fs' && 'redis')",
    "require(('fs', 'redis'))",
    "require('a' ? 'redis' : 'b')",
    "require('a' as any && 'redis')",
    "require('a'! && 'redis')",
    "require(['redis'][0])",
    "require(x || 're' + 'dis')",
    "require(...['redis'])",
    "jest.mock('fs' && 'redis')",
    "(require)('fs' && 'redis')",
    "createRequire(url)(x || 'redis')",
    "define(['redis'], function (r) {})",
    "define('x', ['a', 'redis'], function (a, r) {})",
    "requirejs(['redis'], f)",
    "require(['a', 'redis'], f)",
    "System.register(['redis'], f)",
];

const OTHER_NAMES: &[&str] = &[
    "const r: NodeRequire = createRequire(import.meta.url); r('redis')",
    "require!('redis')",
    "(require as any)('redis')",
    "(<any>require)('redis')",
    "module?.require('redis')",
    "module!.require('redis')",
    "(module).require('redis')",
    "(module as any).require('redis')",
    "module['require']('redis')",
    "module?.['require']('redis')",
    "function f() { return r('redis') }\nconst r = require",
    "((require))('redis')",
    "require.call(null, 'redis')",
    "require.apply(null, ['redis'])",
    "require.bind(null, 'redis')()",
    "require['call'](null, 'redis')",
    "['redis'].map(require)",
    "Reflect.apply(require, null, ['redis'])",
    "const { require: r } = module; r('redis')",
    "const { 'require': r } = module; r('redis')",
    "const r = module.require; r('redis')",
    "const r = cond || require; r('redis')",
    "f(require); g('redis')",
    "(function (r) { r('redis') })(require)",
    "import { createRequire as c } from 'module'; const r = c(import.meta.url); r('redis')",
    "import { 'createRequire' as c } from 'module'; c(import.meta.url)('redis')",
    "const { createRequire: c } = x; c(u)('redis')",
    "const c = x.createRequire; c(u)('redis')",
    "x['createRequire'](u)('redis')",
    "Module._load('redis')",
    "import M from 'node:module'; M._load('redis')",
    "import M from 'node:module'; new M('').require('redis')",
    "const m = module; m.require('redis')",
    "eval('require')('redis')",
    "const r = require; r`redis`",
    "/// <reference types=\"redis\"/>",
    "/// <reference types='redis' />\nlet a",
    "/** @jsxImportSource redis */",
    "import '../node_modules/%72edis/x.js'",
    "import '../%6eode_modules/redis/x.js'",
    "import '..\\\\node_modules\\\\redis\\\\x.js'",
    "import '../node_mod\\tules/redis/x.js'",
    "import 'https://esm.sh/%72edis'",
];

const PYTHON: &[&str] = &[
    "importlib.import_module(('json', 'redis')[1])",
    "import_module('redis' if x else 'json')",
    "import_module(x or 'redis')",
    "import_module(*['redis'])",
    "import_module(**{'name': 'redis'})",
    "import_module(package=None, name='redis')",
    "import_module(x or 're' 'dis')",
    "im = importlib.import_module; im('redis')",
    "(__import__)('redis')",
    "(im := __import__)('redis')",
    "getattr(importlib, 'import_module')('redis')",
    "vars(importlib)['import_module']('redis')",
    "list(map(__import__, ['redis']))",
    "def f(): return im('redis')\nfrom importlib import import_module as im",
    "f(__import__, name='redis')",
    "f = __import__\nf(r'redis')",
    "runpy.run_module('redis')",
];

#[test]
fn strings_in_computed_arguments_count() {
    for source in COMPUTED {
        assert!(hits(JavaScript, source, "redis"), "{source}");
    }
}

#[test]
fn other_names_of_the_importer_count() {
    for source in OTHER_NAMES {
        assert!(hits(JavaScript, source, "redis"), "{source}");
    }
    for source in PYTHON {
        assert!(hits(Python, source, "redis"), "{source}");
    }
}

#[test]
fn ordinary_uses_of_the_importer_do_not() {
    for source in [
        "typeof require === 'function'; log('redis')",
        "if (require) log('redis')",
        "const require = createRequire(import.meta.url); log('redis')",
        "const require: NodeRequire = createRequire(import.meta.url); log('redis')",
        "const require = module.createRequire(url); log('redis')",
        "import { createRequire } from 'module'; log('redis')",
        "const { createRequire } = require('module'); log('redis')",
        "define(function (require, exports, module) { log('redis') })",
        "(require, module) => log('redis')",
        "require.cache[x]; require.main === module; log('redis')",
        "const x = { require: true, a: log('redis') }",
        "x.require('a'); log('redis')",
        "require(x, 'redis')",
        "import(x, { with: { type: 'redis' } }); f('redis')",
        "const { require } = x; log('redis')",
        "customElements.define('redis', [])",
        "// <reference types=\"redis\"/>",
        "const s = `\n/// <reference types=\"redis\"/>\n`",
        "const s = '@jsxImportSource redis'",
        "import './%72edis'",
    ] {
        assert!(!hits(JavaScript, source, "redis"), "{source}");
    }
    for source in [
        "import_module(x); f('redis')",
        "def import_module(a): pass\nf('redis')",
        "__import__ = hook\nf('redis')",
        "from importlib import import_module\nf('redis')",
    ] {
        assert!(!hits(Python, source, "redis"), "{source}");
    }
}

#[test]
fn a_first_line_gives_the_language() {
    for (line, expected) in [
        ("#!/usr/bin/env node", Some(JavaScript)),
        ("#!/usr/bin/env -S deno run -A", Some(JavaScript)),
        ("#!/usr/bin/env -S A=b npx tsx", Some(JavaScript)),
        ("#!/opt/bun", Some(JavaScript)),
        ("#! /usr/bin/ts-node\r\n", Some(JavaScript)),
        ("#!/usr/bin/python3.11 -u", Some(Python)),
        ("#!/usr/bin/env -S uv run --script", Some(Python)),
        ("#!/usr/bin/env -Spython3 -u", Some(Python)),
        ("#!/usr/bin/env -vSpython3", Some(Python)),
        ("#!/opt/ruby/bin/python3", Some(Python)),
        ("#!/usr/bin/env A=node python3", Some(Python)),
        ("#!/usr/bin/java --source 17", Some(Java)),
        ("#!/usr/bin/env kotlin", Some(Kotlin)),
        ("#!/usr/bin/env dotnet run", Some(CSharp)),
        ("#!/usr/bin/env -S dotnet fsi", None),
        ("#!/usr/bin/env -S deno run --allow-net", Some(JavaScript)),
        ("#!/bin/sh", None),
        ("#!/bin/sh\nnode", None),
        ("# node", None),
        ("", None),
    ] {
        assert_eq!(language_of(b"bin/x", line.as_bytes()), expected, "{line}");
    }
    assert_eq!(unread(b"a/b.Astro").as_deref(), Some(".astro"));
    for ending in ["jsp", "razor", "cshtml", "phpt", "rbi"] {
        assert!(unread(format!("a/b.{ending}").as_bytes()).is_some(), "{ending}");
    }
    assert_eq!(unread(b"a/b.txt"), None);
}

#[test]
fn dead_entries_are_told_apart() {
    for entry in [
        "{redis,bull}",
        "redi?",
        "r[e]dis",
        "#x",
        "~/x",
        "@/x",
        "!redis",
        "a/**/b",
    ] {
        assert!(dead(entry).is_some(), "{entry}");
    }
    for entry in [
        "redis",
        "@redis/*",
        "redis/**",
        "*redis",
        "node:fs",
        "npm:redis@4",
        "app.db",
        "redis-om",
        "*",
        "socket.io",
        "https://example.com/lib",
        "std/fs",
        "größe",
    ] {
        assert_eq!(dead(entry), None, "{entry}");
    }
}

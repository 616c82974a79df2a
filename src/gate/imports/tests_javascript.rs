//! What counts as an import of JavaScript or TypeScript.

use super::tests::{hits, raws};
use super::{ImportKind, Language, imports};

fn js(source: &str) -> Vec<String> {
    raws(Language::JavaScript, source)
}

fn kinds(source: &str) -> Vec<(String, ImportKind)> {
    let found = imports(Language::JavaScript, source.as_bytes()).expect(source);
    found.into_iter().map(|i| (i.raw, i.kind)).collect()
}

const MUST_HIT: &[&str] = &[
    "declare module 'redis' { }",
    "import{x}from\"redis\"",
    "jest.mock(\"redis\")",
    "import defer * as ns from \"redis\";",
    "import { \"a-b\" as x } from \"redis\";",
    "import x from \"\\x72edis\"",
    "export * as r from 'redis'",
    "\u{feff}import x from \"redis\"",
    "import {\n  a, // it's\n  b,\n} from \"redis\"",
    "const s = `a${ `b${ c }` }`;\nimport x from \"redis\";",
    "if (a) /x\"y/.test(b); import x from \"redis\"",
    "import R = require(\"redis\");",
    "x = a++ / 2; y = \"/\"; import(\"redis\"); z = 1 / 3",
    // Statements.
    "import 'redis'",
    "import x from 'redis/client'",
    "import * as x from 'redis'",
    "import x, * as y from 'redis'",
    "import x, { y, type Z } from 'redis'",
    "import {} from 'redis'",
    "import type X from 'redis'",
    "import type { X } from 'redis'",
    "import type * as X from 'redis'",
    "import type from 'redis'",
    "import type, { x } from 'redis'",
    "import typeof X from 'redis'",
    "import from from 'redis'",
    "import source x from 'redis'",
    "import x from 'redis' with { type: 'json' }",
    "import/**/{x}/**/from/**/\"redis\"",
    "import\n{x}\n// don't\nfrom\n'redis'",
    "let a = 1\nimport x from 'redis'",
    "import\u{a0}x\u{2003}from\u{feff}'redis'",
    "import é\u{a0}from 'redis'",
    "// it is over\u{2028}import 'redis'",
    "// it is over\rimport 'redis'",
    "#!/usr/bin/env node it's\nimport 'redis'",
    "import {default as x} from 'redis'",
    "import { import as x } from 'redis'",
    "import { from } from 'redis'",
    "import x from '\\u0072edis'",
    "import x from '\\u{72}edis'",
    "require('\\162edis')",
    "import x from 're\\\ndis'",
    "export { x } from 'redis'",
    "export * from 'redis'",
    "export * as 'a b' from 'redis'",
    "export type { X } from 'redis'",
    "export type * from 'redis'",
    "export x from 'redis'",
    "export import R = require('redis')",
    "import type R = require('redis')",
    // Calls.
    "require('redis')",
    "require(`redis`)",
    "require('re' + 'dis')",
    "require('re' + `dis`)",
    "require(('redis'))",
    "require('redis',)",
    "require('redis' as string)",
    "require('redis'!)",
    "require?.('redis')",
    "require<Redis>('redis')",
    "require/* it's */('redis')",
    "requ\\u0069re('redis')",
    "requ\\u{69}re('redis')",
    "(0, require)('redis')",
    "(require)('redis')",
    "module.require('redis')",
    "globalThis.require('redis')",
    "process.mainModule.require('redis')",
    "require.main.require('redis')",
    "require.resolve('redis')",
    "[...require('redis')]",
    "require('redis/' + x)",
    "require(`redis/${x}`)",
    "import(`@redis/client/${x}`), require('redis')",
    "const r = require; r('redis')",
    "const r = createRequire(import.meta.url); r('redis')",
    "const r = module.createRequire(__filename); r('redis')",
    "createRequire(import.meta.url)('redis')",
    "import('redis')",
    "import(/* webpackChunkName: \"it's\" */ 'redis')",
    "await import('redis', { with: {} })",
    "[...await import('redis')]",
    "const x = () => import('redis')",
    "import.source('redis')",
    "import.meta.resolve('redis')",
    "let x: import('redis').Redis",
    "type X = typeof import('redis')",
    "function f(x: import('redis').T) {}",
    "import('redis')\n{ }",
    "System.import('redis')",
    "vi.mock('redis', () => ({}))",
    "vi.importActual<typeof import('./x')>('redis')",
    "jest.requireActual<typeof import('redis')>('./x')",
    "mock.module('redis', {})",
    "`${import('redis')}`",
    "`${`${require('redis')}`}`",
    "`a${{ b: '}' }}${require('redis')}`",
    // Slashes.
    "x = /[/'\"]/; require('redis')",
    "x = /\\//; require('redis')",
    "return /'/.test(x) || require('redis')",
    "x = a / b / require('redis')",
    "x = (a) / require('redis') / 2",
    "x = a[0] / require('redis') / 2",
    "x = {} / require('redis') / 2",
    "x = a! / require('redis') / 2",
    "x.return / require('redis') / 2",
    "if (a) {} /'/; require('redis'); /'/",
    "for (const m of /'/[a]) require('redis')",
    "of / require('redis') / 2",
    "while (a) /'/.test(b); require('redis')",
    "() => {}\n/'/.test(require('redis'))",
    "function f() {}\n/'/.test(require('redis'))",
    "x = 1. / require('redis') / 2",
    "x = a ? /'/ : require('redis')",
    "class A { static { } }\n/'/; require('redis')",
    "x\n/ 2 / y; require('redis')",
    "debugger\n/'/; require('redis'); /'/",
    "a\n  / b / c; require('redis')",
    // Elements.
    "const a = <p>don't</p>; require('redis')",
    "const a = <p>don't {require('redis')} won't</p>",
    "const a = <p title=\"it's\n\">it`s</p>;\nimport('redis')",
    "const a = <A.B c-d={<i>'</i>} e='\\' {...f}/>; require('redis')",
    "const a = <><p/>'</>; require('redis')",
    "const a = <div>{/* it's */}{`'`}</div>; require('redis')",
    "const a = b ? <i>'</i> : <b>\"</b>; require('redis')",
    "return (\n<Foo<Bar<'x'>> a />\n); require('redis')",
    "return (\n<Foo<Map<string, () => 'x'>>\n// it's\na={b}\n/>\n); require('redis')",
    "return (\n<Foo<any> {...a} />\n); require('redis')",
    "const a = <p>http://x</p>\nrequire('redis')",
    "const a = <a href={x > 1 ? '/' : `/${y}`}>'</a>; require('redis')",
    "{x && <p>isn't</p>} require('redis')",
    "const f = <T,>(x: T) => x; const s = \"'\"; require('redis')",
    "const f = <T extends X>(x: T) => x; require('redis')",
    "const f = <T>(x: T) => x; require('redis')",
    "const x = <any>require('redis')",
    "const x = <any>y; require('redis'); const z = /* </any> */ 1",
    "type F = <T>(x: 'it') => void; import('redis'); /* </T> */ const y = <T></T>",
    "if (a < b) { require('redis') } c > d",
    "a = b < c || d</'/.x; require('redis')",
    "const f = async <T,>(x: Map<string, T>) => { await import('redis') }",
];

const MUST_NOT_HIT: &[&str] = &[
    "import x from \"./redis\"",
    "export type T = A\nfunction f(from \"redis\") {}",
    "const a = \"import x from 'redis'\";",
    "const t = `import x from \"redis\"`",
    "export { a }\ndb.select().from(\"redis\")",
    "const a = obj.require(\"redis\")",
    "const re = /import x from \"redis\"/",
    "// import 'redis'",
    "/* require('redis')\n import('redis') */",
    "const a = 'it\\'s import(\"redis\")'",
    "const a = 'x\\\nimport(\"redis\")'",
    "const a = `\nimport 'redis'\n${b}\nrequire('redis')\n`",
    "obj.import('redis')",
    "obj?.require('redis')",
    "this.#require('redis')",
    "import.meta('redis')",
    "const a = { import: 'redis', require: 'redis' }",
    "export const from = 'redis'",
    "export default 'redis'",
    "function require(x = 'redis') {}",
    "import x from 'ioredis'",
    "import x from '@scope/redis'",
    "import redis from 'x'",
    "import { redis } from 'x'",
    "export { redis }",
    "import redis = A.redis",
    "const a = <p>require('redis') it's import('redis')</p>",
    "const a = <p title=\"require('redis')\">x</p>",
    "const a = <pre>\n import x from 'redis'\n</pre>",
    "jest.fn('redis')",
    "foo.mock('redis')",
    "requireX('redis')",
    "/[/]require('redis')/.test(x)",
    "#!/usr/bin/env -S node -r require('redis')\n",
];

#[test]
fn imports_count() {
    for source in MUST_HIT {
        assert!(hits(Language::JavaScript, source, "redis"), "{source}");
    }
}

/// However far away its end is.
#[test]
fn an_element_with_type_arguments_is_one() {
    let attributes = "\n    a={b} // it's".repeat(100);
    let source = format!("return (<Foo<any>{attributes}\n/>); require('redis')");
    let found = super::imports_at(b"a.tsx", Language::JavaScript, source.as_bytes()).expect("readable");
    assert_eq!(found.len(), 1, "{found:?}");
}

#[test]
fn comments_strings_and_others_names_do_not() {
    for source in MUST_NOT_HIT {
        assert!(!hits(Language::JavaScript, source, "redis"), "{source}");
    }
}

#[test]
fn kinds_are_told_apart() {
    use ImportKind::*;
    for (source, kind) in [
        ("import x from 'a'", Static),
        ("import 'a'", Static),
        ("import R = require('a')", Static),
        ("import type from 'a'", Static),
        ("import type, { x } from 'a'", Static),
        ("import type X from 'a'", TypeOnly),
        ("import type { X } from 'a'", TypeOnly),
        ("import type from from 'a'", TypeOnly),
        ("import type R = require('a')", TypeOnly),
        ("export type * from 'a'", TypeOnly),
        ("type X = import('a').X", TypeOnly),
        ("x as import('a').X", TypeOnly),
        ("let x: import('a').X", TypeOnly),
        ("x = import('a').x", Dynamic),
        ("x = { a: import('a').x }", Dynamic),
        ("x = as\nimport('a')", Dynamic),
        ("export * from 'a'", ReExport),
        ("require('a')", Require),
        ("require.resolve('a')", Require),
        ("import('a')", Dynamic),
        ("vi.mock('a')", Mock),
    ] {
        assert_eq!(kinds(source), [("a".to_owned(), kind)], "{source}");
    }
}

#[test]
fn what_is_no_literal_is_opaque() {
    for source in [
        "import(x)",
        "require(x)",
        "import(x)\n{ }",
        "import('./' + x)",
        "require(`${x}`)",
        "import('data:text/javascript,import \"redis\"')",
        "class A extends require(x) { }",
    ] {
        assert!(js(source).contains(&"?".to_owned()), "{source}");
    }
    assert_eq!(
        js("require('redis/' + x)"),
        ["?", "redis/"].map(str::to_owned).into_iter().rev().collect::<Vec<_>>()
    );
    for source in [
        "import.meta.url",
        "({ import(name) { return name } })",
        "function require(name) { }",
        "interface A { import(x: string): void; require(x?: string): void }",
        "require()",
        "require.cache",
        "typeof require === 'function' && x",
        "vi.mock(x)",
        "if (require) { }",
    ] {
        assert_eq!(js(source), Vec::<String>::new(), "{source}");
    }
}

#[test]
fn two_readings_of_one_file_do_not_count_twice() {
    assert_eq!(js("import 'a'; const x = <A b='c' />; require('d')"), ["a", "d"]);
}

//! Copies that another file puts in the place of a package, and types that name one.

use super::{Files, judged};
use crate::support::program::Outcome;
use crate::support::repo::Repo;

/// What `check` says of a change that adds these files, with these rules for `app/`.
fn check(rules: &str, base: Files, change: Files) -> Outcome {
    let repo = Repo::empty();
    repo.write(
        "architecture/invariants.yml",
        format!("version: 1\napp: {{allowed_roots: [app/], {rules}}}\nmax_new_top_level_dirs: 9\n"),
    );
    repo.write("app/README", "x\n");
    judged(&repo, base, change)
}

const FORBIDS: &str = "forbidden_imports: [redis]";

fn go_mod(path: &str, folder: &str) -> String {
    format!("module example.com/acme/shop\n\nrequire {path} v1.0.0\n\nreplace {path} => {folder}\n")
}

#[test]
fn a_folder_in_the_place_of_a_module_is_the_copy_that_it_is() {
    let code = ("app/a.go", "package app\n\nimport \"example.com/kv\"\n");
    for folder in [
        "./third_party/redis",
        "../redis",
        "./app/vendor/redis-7.0",
        "/opt/redis",
        "./third_party/go/redis",
    ] {
        let manifest = go_mod("example.com/kv", folder);
        check(FORBIDS, &[], &[("go.mod", &manifest), code])
            .expect(5, &["app/a.go:3", "`redis` forbids in app", "go.mod:5: declares"]);
        // The code did not change.
        check(
            FORBIDS,
            &[("go.mod", "module example.com/acme/shop\n"), code],
            &[("go.mod", &manifest)],
        )
        .expect(5, &["app/a.go:3", "go.mod:5: declares `", "redis`"]);
    }
    // The folder says that it is another module.
    let manifest = go_mod("example.com/kv", "./kv");
    let own = ("kv/go.mod", "module github.com/redis/go-redis/v9\n");
    check(FORBIDS, &[], &[("go.mod", &manifest), own, code]).expect(5, &["app/a.go:3", "`redis` forbids"]);
    for (path, folder) in [
        ("example.com/kv", "./kv"),
        ("example.com/kv", "./internal/redis"),
        ("example.com/kv", "../kv"),
        ("example.com/kv", "./third_party/kv"),
    ] {
        let manifest = go_mod(path, folder);
        let own = (
            format!("{}/go.mod", folder.trim_start_matches("./")),
            format!("module {path}\n"),
        );
        let mut files = vec![("go.mod", manifest.as_str()), code];
        if folder.starts_with("./") {
            files.push((&own.0, &own.1));
        }
        check(&format!("{FORBIDS}, allowed_imports: [example.com/kv]"), &[], &files).expect(0, &[]);
    }
}

#[test]
fn what_composer_loads_from_a_copy_is_that_copy() {
    for autoload in [
        r#"{"psr-4": {"App\\Cache\\": "vendor/redis/src/"}}"#,
        r#"{"psr-0": {"App_Cache_": ["lib/", "third_party/redis/"]}}"#,
        r#"{"classmap": ["vendor/redis/"]}"#,
        r#"{"files": ["vendor/redis/redis.php"]}"#,
    ] {
        let manifest = format!("{{\n  \"autoload\": {autoload}\n}}\n");
        check(FORBIDS, &[], &[("composer.json", &manifest)]).expect(8, &["composer.json:2: declares `redis"]);
        let own = manifest
            .replace("vendor/redis", "app/redis")
            .replace("third_party/redis", "redis");
        check(FORBIDS, &[], &[("composer.json", &own)]).expect(0, &[]);
        let other = manifest
            .replace("vendor/redis", "vendor/acme")
            .replace("third_party/redis", "third_party/acme");
        check(
            &format!("{FORBIDS}}}\ndependencies: {{new: deny"),
            &[],
            &[("composer.json", &other)],
        )
        .expect(0, &[]);
    }
    // In code, by a prefix that leads there.
    let manifest =
        "{\"autoload\": {\"psr-4\": {\"App\\\\Cache\\\\\": \"vendor/redis/src/\", \"App\\\\\": \"app/\"}}}\n";
    let code = ("app/A.php", "<?php\nuse App\\Cache\\Client;\n");
    check(FORBIDS, &[("composer.json", manifest)], &[code]).expect(5, &["app/A.php:2", "`redis` forbids in app"]);
    check(
        FORBIDS,
        &[("composer.json", manifest)],
        &[("app/A.php", "<?php\nuse App\\Redis2\\Client;\n")],
    )
    .expect(0, &[]);
}

#[test]
fn types_of_a_package_are_imports_of_it() {
    for (path, line) in [
        ("app/a.d.ts", "declare module \"redis\" { export const x: number; }"),
        ("app/a.ts", "declare module 'redis/client';"),
        ("app/a.js", "/** @type {import('redis').Client} */\nlet x;"),
        ("app/a.mjs", "/** @import { Client } from \"redis\" */"),
        (
            "app/a.jsx",
            "/** @param {import(\"redis\").Client} c */\nfunction f(c) {}",
        ),
    ] {
        check(FORBIDS, &[], &[(path, line)]).expect(5, &[&format!("{path}:1")]);
        check("allowed_imports: []", &[], &[(path, line)]).expect(5, &[&format!("{path}:1")]);
        check("allowed_imports: [redis]", &[], &[(path, line)]).expect(0, &[]);
    }
    for (path, line) in [
        (
            "app/a.js",
            "/** Like import('redis'), see {@link redis}. */\n// @type {import('redis').X}",
        ),
        (
            "app/a.js",
            "/**\n * @example\n * import r from 'redis'\n */\nconst module = 1;",
        ),
        (
            "app/a.d.ts",
            "declare module \"*.svg\" { const x: string; export default x; }",
        ),
    ] {
        check(&format!("{FORBIDS}, allowed_imports: []"), &[], &[(path, line)]).expect(0, &[]);
    }
}

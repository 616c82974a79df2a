//! What a change itself makes the repository's own, where an area may import certain packages only.

use super::{Files, judged};
use crate::support::program::Outcome;
use crate::support::repo::Repo;

/// What `check` says of a change that adds these files to a repository in which `app/` may import nothing from outside
/// but `zod`, and must not have redis.
fn check(base: Files, change: Files) -> Outcome {
    let repo = Repo::empty();
    repo.write(
        "architecture/invariants.yml",
        "version: 1\napp: {allowed_roots: [app/], allowed_imports: [zod], forbidden_imports: [redis], may_depend_on: []}\n\
         other: {allowed_roots: [other/]}\nmax_new_top_level_dirs: 9\n",
    );
    repo.write("app/README", "x\n");
    judged(&repo, base, change)
}

const ROOT: (&str, &str) = ("package.json", r#"{"workspaces": ["app", "pk/*", "other/*"]}"#);

#[test]
fn a_new_member_of_the_npm_workspace_is_own() {
    let member = (
        "pk/fmt/package.json",
        r#"{"name": "@x/fmt", "version": "1.2.0", "main": "i.ts"}"#,
    );
    let code = ("pk/fmt/i.ts", "export const f = 1;\n");
    let import = ("app/a.ts", "import { f } from \"@x/fmt\";\n");
    for spec in ["workspace:*", "*", "^1.0.0", "file:../pk/fmt"] {
        let app = format!("{{\"dependencies\": {{\"@x/fmt\": \"{spec}\"}}}}");
        check(&[ROOT], &[member, code, ("app/package.json", &app), import]).expect(0, &[]);
    }
    // The workspace's member is of another version, so that the registry's is installed.
    let app = ("app/package.json", r#"{"dependencies": {"@x/fmt": "^4.0.0"}}"#);
    check(&[ROOT], &[member, code, app, import]).expect(5, &["app/a.ts:1", "not among the packages"]);
    // Nothing in it, a name that no member has, one that is forbidden, and one of another area.
    check(&[ROOT], &[member, ("pk/fmt/i.ts", "\n"), import]).expect(5, &["app/a.ts:1"]);
    check(&[ROOT], &[("lib/package.json", member.1), code, import]).expect(5, &["app/a.ts:1"]);
    check(
        &[ROOT],
        &[
            ("pk/r/package.json", r#"{"name": "redis", "main": "i.ts"}"#),
            ("pk/r/i.ts", "export {};\n"),
            ("app/a.ts", "import \"redis\";\n"),
        ],
    )
    .expect(5, &["app/a.ts:1", "which is forbidden in app"]);
    check(
        &[ROOT],
        &[("other/fmt/package.json", member.1), ("other/fmt/i.ts", code.1), import],
    )
    .expect(5, &["app/a.ts:1", "[app.may_depend_on]"]);
}

#[test]
fn a_copy_is_not_own_however_it_is_named() {
    let import = ("app/a.ts", "import x from \"@x/cache\";\n");
    check(
        &[("package.json", r#"{"workspaces": ["app", "vendor/*"]}"#)],
        &[
            ("vendor/redis/package.json", r#"{"name": "@x/cache", "main": "i.js"}"#),
            ("vendor/redis/i.js", "module.exports = 1;\n"),
            import,
        ],
    )
    .expect(5, &["app/a.ts:1"]);
    let paths = r#"{"compilerOptions": {"paths": {"@x/cache": ["./vendor/redis/i.js"]}}}"#;
    check(
        &[],
        &[
            ("tsconfig.json", paths),
            ("vendor/redis/i.js", "module.exports = 1;\n"),
            import,
        ],
    )
    .expect(5, &["app/a.ts:1"]);
    // Types alone say nothing of what runs.
    let paths = r#"{"compilerOptions": {"paths": {"@x/cache": ["./types/cache.d.ts"]}}}"#;
    check(
        &[],
        &[("tsconfig.json", paths), ("types/cache.d.ts", "export {};\n"), import],
    )
    .expect(5, &["app/a.ts:1"]);
    let paths = r#"{"compilerOptions": {"paths": {"@x/*": ["./lib/*"]}}}"#;
    let own = [
        ("tsconfig.json", paths),
        ("lib/cache.ts", "export default 1;\n"),
        import,
    ];
    check(&[], &own).expect(0, &[]);
    let declared = ("app/package.json", r#"{"dependencies": {"@x/cache": "^4"}}"#);
    check(&[], &[&own[..], &[declared]].concat()).expect(5, &["app/a.ts:1"]);
}

#[test]
fn a_new_crate_of_the_workspace_is_own() {
    let root = ("Cargo.toml", "[workspace]\nmembers = [\"app\", \"pg\"]\n");
    let app = |spec: &str| format!("[package]\nname = \"app\"\n[dependencies]\nstore-pg = {spec}\n");
    let pg = [
        ("pg/Cargo.toml", "[package]\nname = \"store-pg\"\n"),
        ("pg/src/lib.rs", "pub struct Pg;\n"),
    ];
    let code = ("app/src/lib.rs", "use store_pg::Pg;\n");
    let by_path = app("{ path = \"../pg\" }");
    check(&[root], &[pg[0], pg[1], ("app/Cargo.toml", &by_path), code]).expect(0, &[]);
    let outside = app("\"1\"");
    check(&[root], &[pg[0], pg[1], ("app/Cargo.toml", &outside), code]).expect(5, &["app/src/lib.rs:1"]);
    let copied = app("{ path = \"../vendor/redis\" }");
    check(
        &[root],
        &[
            ("vendor/redis/Cargo.toml", pg[0].1),
            ("vendor/redis/src/lib.rs", pg[1].1),
            ("app/Cargo.toml", &copied),
            code,
        ],
    )
    .expect(5, &["app/src/lib.rs:1"]);
}

#[test]
fn a_new_package_of_python_is_own() {
    let import = ("app/a.py", "from pricing.rates import rate\nimport pricing\n");
    let rates = ("pricing/rates.py", "rate = 1\n");
    check(&[], &[("pricing/__init__.py", ""), rates, import]).expect(0, &[]);
    check(
        &[],
        &[
            ("src/pricing/__init__.py", "x = 1\n"),
            ("src/pricing/rates.py", rates.1),
            import,
        ],
    )
    .expect(0, &[]);
    check(&[], &[("pricing.py", "rates = 1\n"), ("app/a.py", "import pricing\n")]).expect(0, &[]);
    // An installed package of the name goes first, or is what a manifest declares; or there is nothing.
    check(&[], &[rates, import]).expect(5, &["app/a.py:1"]);
    check(&[], &[("pricing/__init__.py", " \n"), ("app/a.py", "import pricing\n")]).expect(5, &["app/a.py:1"]);
    let declared = ("requirements.txt", "Pricing==1\n");
    check(&[], &[("pricing/__init__.py", ""), rates, import, declared]).expect(5, &["app/a.py:1"]);
    check(&[], &[("redis/__init__.py", "x = 1\n"), ("app/a.py", "import redis\n")])
        .expect(5, &["app/a.py:1", "which is forbidden in app"]);
}

#[test]
fn a_new_library_of_ruby_is_own() {
    let import = ("app/a.rb", "require \"pricing/rates\"\n");
    let rates = ("lib/pricing/rates.rb", "RATE = 1\n");
    check(&[], &[rates, import]).expect(0, &[]);
    check(&[], &[(rates.0, "\n"), import]).expect(5, &["app/a.rb:1"]);
    check(&[], &[rates, import, ("Gemfile", "gem 'pricing'\n")]).expect(5, &["app/a.rb:1"]);
    check(&[], &[("lib/redis.rb", "R = 1\n"), ("app/a.rb", "require 'redis'\n")]).expect(5, &["is forbidden in app"]);
}

#[test]
fn a_new_root_namespace_is_own() {
    let java = ("lib/Money.java", "package org.money;\npublic class Money {}\n");
    let kotlin = ("lib/Money.kt", "package org.money\nclass Money\nfun format() = 1\n");
    let csharp = ("lib/Money.cs", "namespace Money.Core;\npublic class Amount {}\n");
    check(&[], &[java, ("app/A.java", "package app;\nimport org.money.Money;\n")]).expect(0, &[]);
    check(&[], &[java, ("app/A.java", "package app;\nimport org.money.*;\n")]).expect(0, &[]);
    check(&[], &[kotlin, ("app/A.kt", "package app\nimport org.money.format\n")]).expect(0, &[]);
    check(&[], &[csharp, ("app/A.cs", "using Money.Core;\nnamespace App;\n")]).expect(0, &[]);
    // What the files do not say comes from elsewhere, as does what a manifest declares.
    check(&[], &[java, ("app/A.java", "package app;\nimport org.money.Jedis;\n")]).expect(5, &["app/A.java:2"]);
    check(
        &[],
        &[
            ("lib/M.java", "package org.money;\n"),
            ("app/A.java", "package app;\nimport org.money.*;\n"),
        ],
    )
    .expect(5, &["app/A.java:2"]);
    let gradle = ("build.gradle", "dependencies { implementation 'org.money:core:1' }\n");
    check(
        &[],
        &[java, gradle, ("app/A.java", "package app;\nimport org.money.Money;\n")],
    )
    .expect(5, &["app/A.java:2"]);
    let project = (
        "app/app.csproj",
        "<Project><ItemGroup><PackageReference Include=\"Money.Core\" Version=\"1\"/></ItemGroup></Project>\n",
    );
    check(
        &[],
        &[csharp, project, ("app/A.cs", "using Money.Core;\nnamespace App;\n")],
    )
    .expect(5, &["app/A.cs:1"]);
    let redis = ("lib/C.java", "package redis.clients;\npublic class C {}\n");
    check(&[], &[redis, ("app/A.java", "package app;\nimport redis.clients.C;\n")]).expect(5, &["`redis` forbids"]);
}

#[test]
fn a_new_module_of_go_is_own_where_it_has_the_same_owner() {
    let main = ("go.mod", "module example.com/acme/app\n");
    let scene = |path: &str, folder: &str| {
        let go_mod = format!("module example.com/acme/app\nrequire {path} v0.0.0\nreplace {path} => ./{folder}\n");
        let code = format!("package app\nimport \"{path}\"\n");
        let (own_mod, own) = (format!("{folder}/go.mod"), format!("{folder}/m.go"));
        let module = format!("module {path}\n");
        check(
            &[main],
            &[
                ("go.mod", &go_mod),
                ("app/a.go", &code),
                (&own_mod, &module),
                (&own, "package m\n\nvar X = 1\n"),
            ],
        )
    };
    scene("example.com/acme/money", "money").expect(0, &[]);
    scene("github.com/other/money", "money").expect(5, &["app/a.go:2"]);
    scene("example.com/acme/money", "third_party/money").expect(5, &["app/a.go:2"]);
}

#[test]
fn a_new_header_is_own() {
    let code = |line: &str| format!("{line}\nint x;\n");
    let header = ("include/money/m.h", "int m;\n");
    check(&[], &[header, ("app/a.c", &code("#include \"money/m.h\""))]).expect(0, &[]);
    check(
        &[("include/y.h", "int y;\n")],
        &[header, ("app/a.c", &code("#include <money/m.h>"))],
    )
    .expect(0, &[]);
    check(&[], &[header, ("app/a.c", &code("#include <money/m.h>"))]).expect(5, &["app/a.c:1"]);
    check(
        &[],
        &[
            ("third_party/money/m.h", "int m;\n"),
            ("app/a.c", &code("#include \"money/m.h\"")),
        ],
    )
    .expect(5, &["app/a.c:1"]);
}

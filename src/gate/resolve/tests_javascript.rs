//! JavaScript and TypeScript.

use super::tests::{Small, expect, owned};
use crate::gate::imports::Language::JavaScript;

#[test]
fn relative_paths_find_their_file() {
    let tree = Small::new(&[
        ("src/a.ts", ""),
        ("src/b.tsx", ""),
        ("src/c/index.js", ""),
        ("src/d/package.json", r#"{"main": "./lib/main"}"#),
        ("src/d/lib/main.mjs", ""),
        ("src/e.vue", ""),
        ("src/f.d.ts", ""),
        ("src/billing/x.ts", ""),
        ("src/assets/logo.svg", ""),
    ]);
    expect(
        &tree,
        JavaScript,
        &[
            ("./a", "src/x.ts", "src/a.ts"),
            ("./a.js", "src/x.ts", "src/a.ts"),
            ("./b.js", "src/x.ts", "src/b.tsx"),
            ("./b.jsx", "src/x.ts", "src/b.tsx"),
            ("./c", "src/x.ts", "src/c/index.js"),
            (".", "src/c/y.ts", "src/c/index.js"),
            ("..", "src/c/y.ts", "src"),
            ("./d", "src/x.ts", "src/d/lib/main.mjs"),
            ("./e.vue?raw", "src/x.ts", "src/e.vue"),
            ("./f", "src/x.ts", "src/f.d.ts"),
            ("style-loader!./a", "src/x.ts", "src/a.ts"),
            ("../src/./a", "src/x.ts", "src/a.ts"),
            ("./%61", "src/x.ts", "src/a.ts"),
            (".\\billing\\x", "src/x.ts", "src/billing/x.ts"),
            ("./billing/", "src/x.ts", "src/billing"),
            ("./assets/logo.svg", "src/x.ts", "src/assets/logo.svg"),
            ("./gone", "src/x.ts", "? no such file"),
            ("../../gone", "src/x.ts", "? it leads out of the repository"),
            ("../node_modules/redis/index.js", "src/x.ts", "external"),
            ("/src/a", "src/x.ts", "? an absolute path"),
            ("redis", "src/x.ts", "external"),
            ("node:fs", "src/x.ts", "external"),
            ("npm:redis@4", "src/x.ts", "external"),
            ("https://esm.sh/redis", "src/x.ts", "external"),
        ],
    );
}

#[test]
fn tsconfig_paths_and_base_url_are_followed() {
    let tree = Small::new(&[
        (
            "tsconfig.base.json",
            "{ // shared\n \"compilerOptions\": { \"baseUrl\": \".\", \"paths\": {\n  \"@app/*\": [\"src/*\",],\n  \
             \"@app/special\": [\"special/index.ts\"], \"redis\": [\"./node_modules/redis\"], \"*\": [\"types/*\"] } } }",
        ),
        ("packages/a/tsconfig.json", r#"{"extends": "../../tsconfig.base.json"}"#),
        ("src/core/x.ts", ""),
        ("special/index.ts", ""),
        ("types/odd.d.ts", ""),
        ("lib/util.ts", ""),
        (
            "web/tsconfig.json",
            r#"{"references": [{"path": "./tsconfig.app.json"}]}"#,
        ),
        (
            "web/tsconfig.app.json",
            r#"{"compilerOptions": {"paths": {"@/*": ["./src/*"]}}}"#,
        ),
        ("web/src/page.ts", ""),
        (
            "loop/tsconfig.json",
            r#"{"extends": ["./tsconfig.json", "./tsconfig.b.json"]}"#,
        ),
        ("loop/tsconfig.b.json", r#"{"extends": "./tsconfig.json"}"#),
    ]);
    expect(
        &tree,
        JavaScript,
        &[
            ("@app/core/x", "packages/a/src/i.ts", "src/core/x.ts"),
            ("@app/special", "packages/a/src/i.ts", "special/index.ts"),
            (
                "@app/gone",
                "packages/a/src/i.ts",
                "? `paths` maps it by \"@app/*\", and there is no such file",
            ),
            ("redis", "packages/a/src/i.ts", "external"),
            ("odd", "packages/a/src/i.ts", "types/odd.d.ts"),
            ("lib/util", "packages/a/src/i.ts", "lib/util.ts"),
            ("express", "packages/a/src/i.ts", "external"),
            ("@/page", "web/src/main.ts", "web/src/page.ts"),
            (
                "@/page",
                "loop/x.ts",
                "? no `paths` of a tsconfig.json above the file maps it",
            ),
            (
                "~/x",
                "web/src/main.ts",
                "? no `paths` of a tsconfig.json above the file maps it",
            ),
        ],
    );
}

#[test]
fn packages_of_the_workspace_are_own() {
    let tree = Small::new(&[
        (
            "package.json",
            r#"{"name": "root", "workspaces": ["packages/*", "!packages/no"]}"#,
        ),
        (
            "packages/pay/package.json",
            r##"{"name": "@acme/pay", "exports": {".": {"import": "./src/index.ts"}, "./f/*": "./src/f/*.ts"},
             "imports": {"#db": "./src/db.ts", "#x/*": {"node": "./src/x/*.ts"}, "#r": "redis"}}"##,
        ),
        ("packages/pay/src/index.ts", ""),
        ("packages/pay/src/db.ts", ""),
        ("packages/pay/src/x/y.ts", ""),
        ("packages/pay/src/f/g.ts", ""),
        (
            "packages/built/package.json",
            r#"{"name": "built", "main": "dist/index.js"}"#,
        ),
        ("packages/no/package.json", r#"{"name": "no"}"#),
        ("test/fixtures/redis/package.json", r#"{"name": "redis"}"#),
        (
            "linked/package.json",
            r#"{"name": "l", "dependencies": {"other": "file:../elsewhere"}}"#,
        ),
        ("elsewhere/index.js", ""),
        ("pnpm/pnpm-workspace.yaml", "packages:\n  - 'libs/**'\n"),
        ("pnpm/libs/a/b/package.json", r#"{"name": "deep"}"#),
        ("pnpm/libs/a/b/index.ts", ""),
    ]);
    expect(
        &tree,
        JavaScript,
        &[
            ("@acme/pay", "x.ts", "packages/pay/src/index.ts"),
            ("@acme/pay/f/g", "x.ts", "packages/pay/src/f/g.ts"),
            ("@acme/pay/src/db", "x.ts", "packages/pay/src/db.ts"),
            ("@acme/other", "x.ts", "external"),
            ("built", "x.ts", "packages/built"),
            ("no", "x.ts", "external"),
            ("no", "packages/no/x.ts", "packages/no"),
            ("redis", "x.ts", "external"),
            ("other", "linked/x.ts", "elsewhere/index.js"),
            ("deep", "x.ts", "pnpm/libs/a/b/index.ts"),
            ("#db", "packages/pay/src/a.ts", "packages/pay/src/db.ts"),
            ("#x/y", "packages/pay/src/a.ts", "packages/pay/src/x/y.ts"),
            ("#r", "packages/pay/src/a.ts", "external"),
            (
                "#gone",
                "packages/pay/src/a.ts",
                "? no `imports` of the package.json above the file maps it",
            ),
        ],
    );
}

#[test]
fn an_own_name_must_have_been_one_before() {
    let workspace = ("package.json", r#"{"workspaces": ["packages/*"]}"#);
    let base = Small::new(&[workspace, ("a.ts", "")]);
    let head = Small::new(&[
        workspace,
        ("packages/redis/package.json", r#"{"name": "redis"}"#),
        ("packages/redis/index.js", ""),
    ]);
    assert!(owned(&head, &head, JavaScript, "redis", "a.ts"));
    assert!(!owned(&base, &head, JavaScript, "redis", "a.ts"));
    // A new file below a mapping that the base has is own.
    let config = (
        "tsconfig.json",
        r#"{"compilerOptions": {"paths": {"lib/*": ["./src/*"]}}}"#,
    );
    let (base, head) = (Small::new(&[config]), Small::new(&[config, ("src/new.ts", "")]));
    assert!(owned(&base, &head, JavaScript, "lib/new", "a.ts"));
}

//! Names that are the repository's own until a change leads them elsewhere, and names that something else than the
//! importing package leads elsewhere.

use crate::support::repo::Repo;

/// An area that must not have redis, with these rules besides and these files; branch `f` is at `main`.
fn scene(rules: &str, files: &[(&str, &str)]) -> Repo {
    let repo = Repo::empty();
    repo.write(
        "architecture/invariants.yml",
        format!(
            "version: 1\napp: {{allowed_roots: [app/], forbidden_imports: [redis]}}\n\
             other: {{allowed_roots: [other/]}}\nmax_new_top_level_dirs: 9\n{rules}"
        ),
    );
    for (path, content) in files {
        repo.write(path, content);
    }
    repo.commit("start");
    repo.branch("f");
    repo
}

/// What `check` exits with after these files (`""`: removed) changed.
fn after(rules: &str, base: &[(&str, &str)], change: &[(&str, &str)], exit: i32, words: &[&str]) {
    let repo = scene(rules, base);
    for (path, content) in change {
        match *content {
            "" => repo.remove(path),
            content => repo.write(path, content),
        }
    }
    repo.commit("change");
    let outcome = repo.agentgate(["check", "--base", "main"]);
    assert_eq!(outcome.code, exit, "{rules} {change:?}: {outcome}");
    for word in words {
        assert!(outcome.stdout.contains(word), "{word} of {change:?}: {outcome}");
    }
}

const DENY: &str = "dependencies: {new: deny}\n";
const FORBID: &str = "dependencies: {forbidden: [redis]}\n";

const ROOT: (&str, &str) = ("package.json", r#"{"workspaces": ["app", "pk/*"]}"#);
const OWN: (&str, &str) = ("pk/redis/package.json", r#"{"name": "redis"}"#);
const OF_WORKSPACE: (&str, &str) = ("app/package.json", r#"{"dependencies": {"redis": "workspace:*"}}"#);
const IMPORT: (&str, &str) = ("app/a.js", "import \"redis\";\n");

#[test]
fn a_folder_that_becomes_the_registrys_package_is_8() {
    for before in [
        "workspace:*",
        "workspace:^1",
        "file:../pk/redis",
        "link:../pk/redis",
        "../pk/redis",
    ] {
        let own = format!("{{\"dependencies\": {{\"redis\": \"{before}\"}}}}");
        let base = [ROOT, OWN, ("app/package.json", &own), IMPORT];
        for now in [
            "^4",
            "4.6.0",
            "npm:redis@4",
            "file:../vendor/redis",
            "github:o/redis",
            "file:../pk/gone",
        ] {
            let now = format!("{{\"dependencies\": {{\"redis\": \"{now}\"}}}}");
            let rules = match before {
                "workspace:*" => &["", FORBID, DENY][..],
                _ => &[DENY],
            };
            for rules in rules {
                after(
                    rules,
                    &base,
                    &[("app/package.json", &now)],
                    8,
                    &["`redis`", "so far it is the repository's own"],
                );
            }
        }
    }
}

#[test]
fn a_folder_that_stays_one_passes() {
    let base = [
        ROOT,
        OWN,
        OF_WORKSPACE,
        IMPORT,
        ("pk/x/package.json", r#"{"name": "x"}"#),
    ];
    for now in ["workspace:^1", "file:../pk/redis", "link:../pk/redis/"] {
        let now = format!("{{\"dependencies\": {{\"redis\": \"{now}\", \"x\": \"workspace:*\"}}}}");
        after(DENY, &base, &[("app/package.json", &now)], 0, &[]);
        after("", &base, &[("app/package.json", &now)], 0, &[]);
    }
    // What was a package of the registry's may get another version.
    let base = [
        ROOT,
        ("app/package.json", r#"{"dependencies": {"redis": "^3"}}"#),
        IMPORT,
    ];
    after(
        DENY,
        &base,
        &[("app/package.json", r#"{"dependencies": {"redis": "^4"}}"#)],
        0,
        &[],
    );
}

#[test]
fn a_name_that_no_member_of_the_workspace_has_any_more_is_8() {
    for declared in ["workspace:*", "*", "^1"] {
        let of = format!("{{\"dependencies\": {{\"redis\": \"{declared}\"}}}}");
        let base = [ROOT, OWN, ("app/package.json", of.as_str()), IMPORT];
        for change in [
            ("package.json", r#"{"workspaces": ["app"]}"#),
            ("pk/redis/package.json", r#"{"name": "redis2"}"#),
            ("pk/redis/package.json", ""),
        ] {
            for rules in ["", FORBID, DENY] {
                after(
                    rules,
                    &base,
                    &[change],
                    8,
                    &["app/package.json", "so far it is the repository's own"],
                );
            }
        }
    }
    let pnpm = "packages:\n  - app\n  - pk/*\n";
    let base = [("pnpm-workspace.yaml", pnpm), OWN, OF_WORKSPACE, IMPORT];
    after(
        "",
        &base,
        &[("pnpm-workspace.yaml", "packages:\n  - app\n")],
        8,
        &["app/package.json"],
    );
}

#[test]
fn a_member_that_moves_or_that_nobody_declares_passes() {
    let base = [
        ROOT,
        OWN,
        OF_WORKSPACE,
        IMPORT,
        ("pk/x/package.json", r#"{"name": "x"}"#),
    ];
    let moved = [("pk/redis/package.json", ""), ("pk/db/package.json", OWN.1)];
    after(DENY, &base, &moved, 0, &[]);
    after(DENY, &base, &[("pk/x/package.json", "")], 0, &[]);
    after(DENY, &base, &[("pk/x/package.json", r#"{"name": "y"}"#)], 0, &[]);
    let all = ("package.json", r#"{"workspaces": ["app", "pk/redis"]}"#);
    after(DENY, &base, &[all], 0, &[]);
}

#[test]
fn a_crate_that_is_no_folder_any_more_is_8() {
    let own = "[dependencies]\nredis = { path = \"../crates/redis\" }\n";
    let base = [
        ("app/Cargo.toml", own),
        ("crates/redis/Cargo.toml", "[package]\nname = \"redis\"\n"),
    ];
    for now in [
        "redis = \"0.25\"",
        "redis = { path = \"nothere\", version = \"1\" }",
        "redis = { git = \"https://example.com/x\" }",
    ] {
        for rules in ["", FORBID, DENY] {
            after(
                rules,
                &base,
                &[("app/Cargo.toml", &format!("[dependencies]\n{now}\n"))],
                8,
                &["`redis`"],
            );
        }
    }
    let now = "[dependencies]\nredis = { path = \"../crates/redis\", version = \"1\" }\n";
    after(DENY, &base, &[("app/Cargo.toml", now)], 0, &[]);
}

#[test]
fn what_the_workspace_says_is_judged_where_it_is_used() {
    let member = "[package]\nname = \"app\"\n[dependencies]\nstore.workspace = true\nredis.workspace = true\n";
    let root = |lines: &str| format!("[workspace]\nmembers = [\"app\"]\n[workspace.dependencies]\n{lines}\n");
    let own = root("store = \"1\"\nredis = { path = \"crates/redis\" }");
    let base = [
        ("Cargo.toml", own.as_str()),
        ("app/Cargo.toml", member),
        ("app/src/lib.rs", "use store::X;\n"),
        ("crates/redis/Cargo.toml", "[package]\nname = \"redis\"\n"),
    ];
    let renamed = root("store = { package = \"redis\", version = \"1\" }\nredis = { path = \"crates/redis\" }");
    let words = ["app/Cargo.toml", "`redis`"];
    after(
        "",
        &base,
        &[("Cargo.toml", &renamed)],
        5,
        &[&words[..], &["app/src/lib.rs:1:5"]].concat(),
    );
    let outside = root("store = \"1\"\nredis = \"0.25\"");
    after("", &base, &[("Cargo.toml", &outside)], 8, &words);
    let now = root("store = \"2\"\nredis = { path = \"crates/redis\", version = \"1\" }");
    after(DENY, &base, &[("Cargo.toml", &now)], 0, &[]);
    let catalog = |spec: &str| format!("packages:\n  - app\ncatalog:\n  store: {spec}\n");
    let own = catalog("^1.0");
    let base = [
        ("pnpm-workspace.yaml", own.as_str()),
        ("app/package.json", r#"{"dependencies": {"store": "catalog:"}}"#),
    ];
    after(
        "",
        &base,
        &[("pnpm-workspace.yaml", &catalog("npm:redis@4"))],
        8,
        &["app/package.json"],
    );
    after("", &base, &[("pnpm-workspace.yaml", &catalog("^2.0"))], 0, &[]);
}

#[test]
fn an_alias_of_the_whole_workspace_is_5() {
    for (path, content) in [
        ("package.json", r#"{"overrides": {"store": "npm:redis@4"}}"#),
        ("package.json", r#"{"overrides": {"store@^1": {".": "npm:redis@4"}}}"#),
        (
            "package.json",
            r#"{"overrides": {"store": "$cache"}, "dependencies": {"cache": "npm:redis@4"}}"#,
        ),
        ("package.json", r#"{"resolutions": {"**/store": "npm:redis@4"}}"#),
        ("package.json", r#"{"pnpm": {"overrides": {"store": "npm:redis@4"}}}"#),
        (
            "package.json",
            r#"{"workspaces": {"catalog": {"store": "npm:redis@4"}}}"#,
        ),
        ("package.json", r#"{"catalogs": {"old": {"store": "npm:redis@4"}}}"#),
        ("pnpm-workspace.yaml", "catalog:\n  store: npm:redis@4\n"),
        ("pnpm-workspace.yaml", "catalogs:\n  old:\n    store: npm:redis@4\n"),
        ("pnpm-workspace.yaml", "overrides:\n  store: npm:redis@4\n"),
    ] {
        let own = ("app/package.json", r#"{"dependencies": {"store": "catalog:"}}"#);
        let import = ("app/a.js", "import \"store\";\n");
        after("", &[(path, content), own], &[import], 5, &["app/a.js:1"]);
        // The file did not change, and what it imports did.
        let repo = scene("", &[own, import]);
        repo.change(path, content);
        let outcome = repo.agentgate(["check", "--base", "main"]);
        assert!(outcome.stdout.contains("app/a.js:1"), "{content}: {outcome}");
    }
    let other = (
        "package.json",
        r#"{"overrides": {"store": "npm:shop@4", "shop": {"cache": "npm:a@1"}}}"#,
    );
    after(
        "",
        &[other],
        &[("app/a.js", "import \"store\";\nimport \"cache\";\n")],
        0,
        &[],
    );
}

#[test]
fn a_module_that_go_replaces_is_5() {
    let main = "package app\n\nimport \"github.com/acme/kv/sub\"\n";
    for (path, line) in [
        (
            "go.mod",
            "replace github.com/acme/kv => github.com/redis/go-redis/v9 v9.0.0",
        ),
        (
            "go.mod",
            "replace (\n\tgithub.com/acme/kv v1.0.0 => github.com/x/redis v9.0.0\n)",
        ),
        ("app/go.mod", "replace github.com/acme/kv => github.com/x/redis v9.0.0"),
        ("go.work", "replace github.com/acme/kv => github.com/x/redis v9.0.0"),
        // Out of the repository, and a copy.
        ("go.mod", "replace github.com/acme/kv => ../redis"),
        ("app/go.mod", "replace github.com/acme/kv => ../third_party/redis"),
    ] {
        let module = format!("module example.com/m\n\n{line}\n");
        after("", &[(path, &module)], &[("app/a.go", main)], 5, &["app/a.go:3"]);
    }
    for line in [
        "replace github.com/acme/kv => ../kv",
        "replace github.com/acme/kv => ./redis",
        "replace github.com/acme/k => github.com/x/redis v1.0.0",
        "require github.com/acme/kv v1.0.0",
    ] {
        let module = format!("module example.com/m\n\n{line}\n");
        after("", &[("go.mod", &module)], &[("app/a.go", main)], 0, &[]);
    }
}

#[test]
fn a_required_module_that_is_a_folder_is_no_new_name() {
    let module = |lines: &str| format!("module example.com/m\n\nrequire example.com/kv v1.0.0\n{lines}\n");
    let own = ("kv/go.mod", "module example.com/kv\n");
    let by_folder = module("replace example.com/kv => ./kv");
    after(
        DENY,
        &[("go.mod", "module example.com/m\n")],
        &[("go.mod", &by_folder), own],
        0,
        &[],
    );
    for lines in [
        "",
        "replace example.com/kv => ../kv",
        "replace example.com/kv => ./vendor/kv",
    ] {
        after(
            DENY,
            &[("go.mod", "module example.com/m\n")],
            &[("go.mod", &module(lines)), own],
            8,
            &["`example.com/kv`"],
        );
    }
    // It was one, and becomes the package of its name.
    after(
        DENY,
        &[("go.mod", &by_folder), own],
        &[("go.mod", &module(""))],
        8,
        &["so far it is the repository's own"],
    );
}

const EDGE: &str = "app2: {allowed_roots: [app2/], may_depend_on: []}\n";

#[test]
fn a_path_from_the_files_own_folder_is_followed() {
    let base = [
        ("other/x.js", "module.exports = 1;\n"),
        ("other/w.txt", "require(\"redis\");\n"),
    ];
    for argument in [
        "__dirname + \"/../other/x.js\"",
        "__dirname + '/..' + '/other/x'",
        "`${__dirname}/../other/x`",
        "`${ import.meta.dirname }/../other/x.js`",
        "path.join(__dirname, \"../other/x.js\")",
        "path.resolve(__dirname, \"..\", \"other\", \"x.js\")",
        "require(\"path\").resolve(__dirname, '../other', 'x.js')",
        "resolve(path.dirname(__filename), \"..\", \"other/x.js\",)",
    ] {
        let line = format!("require({argument});\n");
        after(EDGE, &base, &[("app2/a.js", &line)], 5, &["app2/a.js:1"]);
    }
    // What it loads is read as a script, whether it changed or not.
    let loads = "require(`${__dirname}/w.txt`);\nrequire(path.resolve(__dirname, \"sub\", \"v.txt\"));\n";
    let base = [("app/w.txt", "1;\n"), ("app/sub/v.txt", "1;\n"), ("app/a.js", loads)];
    for path in ["app/w.txt", "app/sub/v.txt"] {
        after(
            "",
            &base,
            &[(path, "require(\"redis\");\n")],
            5,
            &[&format!("{path}:1")],
        );
    }
    let base = [("app/w.txt", "require(\"redis\");\n")];
    after(
        "",
        &base,
        &[("app/a.js", "require(__dirname + \"/w.txt\");\n")],
        5,
        &["app/w.txt:1"],
    );
}

#[test]
fn a_path_from_the_files_own_folder_that_stays_there_passes() {
    let base = [
        ("app2/x.js", "module.exports = 1;\n"),
        ("other/x.js", "module.exports = 1;\n"),
    ];
    for argument in [
        "__dirname + \"/x.js\"",
        "__dirname + \"/../app2/x\"",
        "`${__dirname}/x.js`",
        "path.resolve(__dirname, \"x.js\")",
    ] {
        let line = format!("require({argument});\n");
        after(EDGE, &base, &[("app2/a.js", &line)], 0, &[]);
    }
    // A forbidden name as a file of one's own.
    after(
        "",
        &[("app/redis.js", "1;\n")],
        &[("app/a.js", "require(__dirname + \"/../app/redis\");\n")],
        0,
        &[],
    );
}

#[test]
fn a_base_of_a_tsconfig_under_any_name_leads_imports_elsewhere() {
    let paths =
        |to: &str| format!("{{\"compilerOptions\": {{\"baseUrl\": \"..\", \"paths\": {{\"db\": [\"{to}\"]}}}}}}");
    let (own, others) = (paths("app2/y.js"), paths("other/x.js"));
    let import = ("app2/a.ts", "import \"db\";\n");
    let files = [
        import,
        ("app2/y.js", "export {};\n"),
        ("other/x.js", "export {};\n"),
        ("configs/b.json", own.as_str()),
    ];
    let via = ("configs/mid.json", r#"{"extends": "./b"}"#);
    for (config, content) in [
        ("tsconfig.json", r#"{"extends": "./configs/b.json"}"#),
        (
            "app2/tsconfig.json",
            r#"{"extends": ["../configs/z.json", "../configs/b"]}"#,
        ),
        ("app2/tsconfig.json", r#"{"extends": "../configs/mid.json"}"#),
        ("tsconfig.json", r#"{"extends": "@acme/tsconfig/b.json"}"#),
    ] {
        let package = ("configs/package.json", r#"{"name": "@acme/tsconfig"}"#);
        let root = ("package.json", r#"{"workspaces": ["configs"]}"#);
        let base = [&files[..], &[via, package, root, (config, content)]].concat();
        after(EDGE, &base, &[("configs/b.json", &others)], 5, &["app2/a.ts:1"]);
        after(EDGE, &base, &[("configs/b.json", &own.replace(": {", ":  {"))], 0, &[]);
    }
    // Nobody extends it.
    after(EDGE, &files, &[("configs/b.json", &others)], 0, &[]);
}

#[test]
fn what_exports_name_is_read_as_a_script() {
    let redis = "require(\"redis\");\n";
    for manifest in [
        r#"{"exports": {"./*": "./lib/*.txt"}}"#,
        r#"{"exports": {"./a": {"node": ["./lib/a.txt"]}}}"#,
        r#"{"exports": {".": "./lib/a.txt"}}"#,
    ] {
        let base = [("app/package.json", manifest), ("app/lib/a.txt", "1;\n")];
        after("", &base, &[("app/lib/a.txt", redis)], 5, &["app/lib/a.txt:1"]);
    }
    let base = [("app/package.json", "{}\n"), ("app/t.txt", redis)];
    for manifest in [
        r#"{"exports": {".": "./t.txt"}}"#,
        r#"{"exports": "./t.txt"}"#,
        r#"{"exports": {"./t": {"import": "./t.txt"}}}"#,
        r#"{"bin": "./t.txt"}"#,
        r#"{"bin": {"t": "t.txt"}}"#,
    ] {
        after("", &base, &[("app/package.json", manifest)], 5, &["app/t.txt:1"]);
    }
}

#[test]
fn what_exports_name_as_data_passes() {
    let prose = "Use it so: `require(\"redis\")`, and don't forget.\n";
    for manifest in [
        r#"{"exports": {"./*": "./*"}}"#,
        r#"{"exports": {"./*": "./docs/*.html"}}"#,
        r#"{"exports": {"./*": "./lib/*.md"}}"#,
        r#"{"exports": {"./a": {"types": "./lib/a.txt"}}}"#,
    ] {
        let base = [("app/package.json", manifest), ("app/lib/a.txt", "1;\n")];
        after("", &base, &[("app/lib/a.txt", "require(\"redis\");\n")], 0, &[]);
    }
    let base = [("app/package.json", "{}\n"), ("app/README.md", prose)];
    let manifest = r#"{"exports": {"./README.md": "./README.md", "./package.json": "./package.json"}}"#;
    after("", &base, &[("app/package.json", manifest)], 0, &[]);
}

#[test]
fn configuration_packages_of_pnpm_are_dependencies() {
    let now = ("pnpm-workspace.yaml", "configDependencies:\n  redis: 4.0.0+sha512-x\n");
    let base = [("pnpm-workspace.yaml", "packages:\n  - app\n"), ("app/a.js", "1;\n")];
    after(DENY, &base, &[now], 8, &["pnpm-workspace.yaml:2", "`redis`"]);
    after(
        "dependencies: {new: deny, allowed: [redis]}\n",
        &base,
        &[now],
        8,
        &["app"],
    );
    let known = [
        ("pnpm-workspace.yaml", "configDependencies:\n  a: 1.0.0+x\n"),
        ("app/a.js", "1;\n"),
    ];
    after(
        DENY,
        &known,
        &[("pnpm-workspace.yaml", "configDependencies:\n  a: 2.0.0+x\n")],
        0,
        &[],
    );
}

//! Packages under other names, entries of a package.json, and what leads an unchanged import elsewhere.

use crate::support::repo::Repo;

/// An area that must have neither redis nor a package of billing's, nor anything else of it; branch `f` is at `main`.
fn scene(files: &[(&str, &str)]) -> Repo {
    let repo = Repo::empty();
    repo.write(
        "architecture/invariants.yml",
        "version: 1\npayments: {allowed_roots: [payments/], forbidden_imports: [redis, '@x/db'], may_depend_on: []}\n\
         billing: {allowed_roots: [billing/]}\nmax_new_top_level_dirs: 9\n",
    );
    repo.write("billing/index.js", "export {};\n");
    repo.write("billing/package.json", "{\"name\": \"@x/db\"}\n");
    repo.write("payments/y.js", "export {};\n");
    for (path, content) in files {
        repo.write(path, content);
    }
    repo.commit("start");
    repo.branch("f");
    repo
}

fn link(repo: &Repo, path: &str, target: &str) {
    let path = repo.root.join(path);
    std::fs::create_dir_all(path.parent().expect("a folder")).expect("a folder can be made");
    let _ = std::fs::remove_file(&path);
    std::os::unix::fs::symlink(target, path).expect("a link can be made");
}

#[test]
fn an_unchanged_import_that_is_led_elsewhere_is_5() {
    for (importer, line, manifest, before, after) in [
        (
            "payments/a.js",
            "import '#x';",
            "payments/package.json",
            r##"{"imports": {"#x": "./y.js"}}"##,
            r##"{"imports": {"#x": "redis"}}"##,
        ),
        (
            "payments/a.js",
            "import '#x';",
            "package.json",
            r##"{"imports": {"#x": "./payments/y.js"}}"##,
            r##"{"imports": {"#x": "./billing/index.js"}}"##,
        ),
        (
            "payments/a.ts",
            "import 'db';",
            "tsconfig.json",
            r#"{"compilerOptions": {"paths": {"db": ["./payments/y.js"]}}}"#,
            r#"{"compilerOptions": {"paths": {"db": ["./billing/index.js"]}}}"#,
        ),
        (
            "payments/a.ts",
            "import 'db';",
            "config/tsconfig.base.json",
            r#"{"compilerOptions": {"paths": {"db": ["../payments/y.js"]}}}"#,
            r#"{"compilerOptions": {"paths": {"db": ["../billing/index.js"]}}}"#,
        ),
        (
            "payments/a.js",
            "import 'cache';",
            "package.json",
            r#"{"dependencies": {"cache": "^1"}}"#,
            r#"{"dependencies": {"cache": "npm:redis@4"}}"#,
        ),
        (
            "payments/a.js",
            "import 'cache';",
            "payments/package.json",
            r#"{"dependencies": {"cache": "^1"}}"#,
            r#"{"dependencies": {"cache": "link:../billing"}}"#,
        ),
        (
            "payments/a.js",
            "require('../lib/m');",
            "lib/m/package.json",
            r#"{"main": "m.js"}"#,
            r#"{"main": "../../node_modules/redis"}"#,
        ),
        (
            "payments/a.js",
            "require('../lib/m');",
            "lib/m/package.json",
            r#"{"main": "m.js"}"#,
            r#"{"main": "../../billing/index.js"}"#,
        ),
    ] {
        let repo = scene(&[
            (importer, line),
            (manifest, before),
            ("lib/m/m.js", ""),
            (
                "payments/tsconfig.json",
                "{\"extends\": \"../config/tsconfig.base.json\"}",
            ),
        ]);
        repo.change(manifest, after);
        repo.agentgate(["check", "--base", "main"])
            .expect(5, &[&format!("{importer}:1:")]);
    }
}

#[test]
fn a_new_entry_of_exports_makes_a_script_of_what_it_names() {
    const REDIS: &str = "require('redis');\n";
    for (importer, line, manifest, before, after, loaded) in [
        // What an unchanged import loads now.
        (
            "payments/a.js",
            "import '@x/lib/w';",
            "lib/package.json",
            r#"{"name": "@x/lib"}"#,
            r#"{"name": "@x/lib", "exports": {"./*": "./data/*.txt"}}"#,
            "lib/data/w.txt",
        ),
        (
            "payments/a.js",
            "import '@x/lib/w';",
            "lib/package.json",
            r#"{"name": "@x/lib"}"#,
            r#"{"name": "@x/lib", "exports": {"./w": "./data/w.txt"}}"#,
            "lib/data/w.txt",
        ),
        (
            "payments/a.js",
            "import 'payments/w.js';",
            "payments/package.json",
            r#"{"name": "payments"}"#,
            r#"{"name": "payments", "exports": {"./*.js": "./data/*.txt"}}"#,
            "payments/data/w.txt",
        ),
        (
            "payments/a.js",
            "import '#w';",
            "payments/package.json",
            r#"{"name": "payments"}"#,
            r##"{"name": "payments", "imports": {"#*": "./data/*.txt"}}"##,
            "payments/data/w.txt",
        ),
        // What somebody else's may load.
        (
            "payments/a.js",
            "1;",
            "payments/package.json",
            r#"{"name": "payments"}"#,
            r#"{"name": "payments", "exports": {"./*": "./data/*.txt"}}"#,
            "payments/data/w.txt",
        ),
    ] {
        let repo = scene(&[
            ("package.json", r#"{"workspaces": ["lib", "payments"]}"#),
            ("lib/w.js", ""),
            ("payments/w.js", ""),
            (importer, line),
            (manifest, before),
            (loaded, REDIS),
        ]);
        repo.change(manifest, after);
        repo.agentgate(["check", "--base", "main"])
            .expect(5, &[&format!("{loaded}:1:"), "1 finding in 1 path"]);
    }
    // A star that is the whole name says nothing about what it names, and prose is no script.
    for after in [
        r#"{"exports": {"./*": "./data/*"}}"#,
        r#"{"exports": {"./*": "./data/*.md"}}"#,
    ] {
        let repo = scene(&[
            ("payments/package.json", "{}"),
            ("payments/data/w.txt", REDIS),
            ("payments/data/w.md", "Don't write `require('redis')`.\n"),
        ]);
        repo.change("payments/package.json", after);
        repo.agentgate(["check", "--base", "main"]).expect(0, &[]);
    }
}

#[test]
fn a_configuration_that_leads_no_import_elsewhere_passes() {
    for (path, before, after) in [
        (
            "package.json",
            r#"{"dependencies": {"left": "1"}}"#,
            r#"{"dependencies": {"left": "2"}}"#,
        ),
        (
            "package.json",
            r#"{"main": "x.js"}"#,
            r#"{"name": "y", "main": "y.js"}"#,
        ),
        (
            "tsconfig.json",
            r#"{"compilerOptions": {"paths": {"p/*": ["./payments/*"]}}}"#,
            r#"{"compilerOptions": {"strict": true, "paths": {"p/*": ["./payments/*"], "b/*": ["./billing/*"]}}}"#,
        ),
    ] {
        let repo = scene(&[
            ("payments/a.js", "import 'redis';\nimport '../billing';\n"),
            (path, before),
        ]);
        repo.change(path, after);
        repo.agentgate(["check", "--base", "main"]).expect(0, &[]);
    }
}

#[test]
fn an_entry_without_a_telling_name_is_read() {
    for entry in [r#""main": "w.txt""#, r#""bin": "w.txt""#, r#""bin": {"w": "./w.txt"}"#] {
        let repo = scene(&[("payments/m/w.txt", "require('redis');\n")]);
        repo.change("payments/m/package.json", &format!("{{{entry}}}"));
        repo.agentgate(["check", "--base", "main"])
            .expect(5, &["payments/m/w.txt:1:9", "1 finding in 1 path"]);
    }
}

#[test]
fn a_folder_outside_the_area_is_what_its_package_names() {
    let repo = scene(&[("lib/m/package.json", r#"{"main": "../../node_modules/redis"}"#)]);
    repo.change("payments/a.js", "require('../lib/m');\n");
    repo.agentgate(["check", "--base", "main"])
        .expect(5, &["payments/a.js:1:9: imports `../lib/m`, which `redis` forbids"]);
}

#[test]
fn a_link_in_node_modules_is_the_folder_it_leads_to() {
    for name in ["zz", "@z/z"] {
        let up = "../".repeat(2 + name.matches('/').count());
        // An importer that is new.
        let repo = scene(&[]);
        link(&repo, &format!("payments/node_modules/{name}"), &format!("{up}billing"));
        repo.commit("a link");
        repo.git(["branch", "-q", "-f", "main", "f"]);
        repo.change("payments/a.js", &format!("import '{name}';\n"));
        let outcome = repo.agentgate(["check", "--base", "main"]);
        outcome.expect(5, &["which `@x/db` forbids", "of billing"]);
        // A link that changes.
        let repo = scene(&[("payments/a.js", &format!("import '{name}';\n")), ("own/index.js", "")]);
        link(&repo, &format!("payments/node_modules/{name}"), &format!("{up}own"));
        repo.commit("a link");
        repo.git(["branch", "-q", "-f", "main", "f"]);
        link(&repo, &format!("payments/node_modules/{name}"), &format!("{up}billing"));
        repo.commit("another");
        let outcome = repo.agentgate(["check", "--base", "main"]);
        outcome.expect(5, &["payments/a.js:1:8", "which `@x/db` forbids", "of billing"]);
    }
}

#[test]
fn another_name_for_a_package_of_the_workspace_is_that_package() {
    for spec in [
        "workspace:@x/db@*",
        "npm:@x/db@*",
        "workspace:../billing",
        "../billing",
        "file:../billing",
        "link:../billing",
        "portal:../billing",
    ] {
        let repo = scene(&[
            ("package.json", r#"{"workspaces": ["billing", "payments"]}"#),
            (
                "payments/package.json",
                &format!("{{\"dependencies\": {{\"store\": \"{spec}\"}}}}"),
            ),
        ]);
        repo.change("payments/a.js", "import 'store';\nimport 'stores';\n");
        repo.agentgate(["check", "--base", "main"]).expect(
            5,
            &[
                "payments/a.js:1:8: imports `store`, which `@x/db` forbids in payments",
                "of billing",
                "2 findings in 1 path",
            ],
        );
    }
}

#[test]
fn a_copy_with_a_version_in_its_name_is_the_package() {
    for (path, line) in [
        ("payments/a.c", "#include \"../third_party/redis-7.0/src/server.h\""),
        ("payments/a.rb", "require_relative \"../vendor/redis-rb-5.0/lib/redis\""),
        (
            "payments/a.rb",
            "require_relative \"../vendor/bundle/ruby/3.2.0/gems/redis-5.0.8/lib/client\"",
        ),
        ("payments/a.js", "require('../vendor/redis-4.6.0/index.js');"),
        ("payments/a.js", "require('../vendor/redis_v4.6.min.js');"),
        ("payments/a.php", "<?php include '../vendor/redis-7.0/src/a.php';"),
    ] {
        let repo = scene(&[]);
        repo.change(path, &format!("{line}\n"));
        repo.agentgate(["check", "--base", "main"]).expect(
            5,
            &[&format!("{path}:1:"), "payments.forbidden_imports[0]", "1 finding"],
        );
    }
}

#[test]
fn a_copy_of_something_else_passes() {
    for line in [
        "require('../vendor/base-64/redis.js');",
        "require('../vendor/redis-om-1.0/index.js');",
        "require('../vendor/redis-7-lite/index.js');",
    ] {
        let repo = scene(&[]);
        repo.change("payments/a.js", &format!("{line}\n"));
        repo.agentgate(["check", "--base", "main"]).expect(0, &[]);
    }
}

//! Source under names that do not tell its language, loaded by files that are source.

use crate::support::repo::Repo;

/// An area that must not have redis nor anything of billing, with these files; branch `f` is at `main`.
fn scene(files: &[(&str, &str)]) -> Repo {
    let repo = Repo::empty();
    repo.write(
        "architecture/invariants.yml",
        "version: 1\npayments: {allowed_roots: [payments/], forbidden_imports: [redis], may_depend_on: []}\n\
         billing: {allowed_roots: [billing/]}\nmax_new_top_level_dirs: 9\n",
    );
    repo.write("billing/x.rs", "pub fn x() {}\n");
    repo.write("billing/x.h", "int x;\n");
    for (path, content) in files {
        repo.write(path, content);
    }
    repo.commit("start");
    repo.branch("f");
    repo
}

/// The same with a link that `main` has.
fn linked(link: &str, target: &str, files: &[(&str, &str)]) -> Repo {
    let repo = scene(files);
    repo.write("payments/kept.txt", "\n");
    std::os::unix::fs::symlink(target, repo.root.join(link)).expect("a link can be made");
    repo.commit("a link");
    repo.git(["branch", "-qf", "main", "f"]);
    repo
}

#[test]
fn what_is_loaded_as_source_is_read_whatever_it_is_called() {
    for (path, line, loaded, content) in [
        (
            "payments/a.c",
            "#include \"i.def\"",
            "payments/i.def",
            "#include <redis/x.h>",
        ),
        (
            "payments/a.c",
            "#include \"i.py\"",
            "payments/i.py",
            "#include <redis/x.h>",
        ),
        (
            "payments/a.c",
            "#include \"noending\"",
            "payments/noending",
            "#include <redis/x.h>",
        ),
        (
            "payments/a.c",
            "#include \"../misc/i.def\"",
            "misc/i.def",
            "#include <redis/x.h>",
        ),
        (
            "payments/a.js",
            "require('./w.txt')",
            "payments/w.txt",
            "require('redis')",
        ),
        (
            "payments/a.rs",
            "include!(\"i.txt\");",
            "payments/i.txt",
            "use redis::Client;",
        ),
        (
            "payments/a.rs",
            "#[path = \"i.txt\"] mod i;",
            "payments/i.txt",
            "use redis::Client;",
        ),
        (
            "payments/a.php",
            "<?php include 'i.html';",
            "payments/i.html",
            "<?php new \\Redis\\Client();",
        ),
    ] {
        // In the change with the file that loads it.
        let repo = scene(&[]);
        repo.write(loaded, format!("{content}\n"));
        repo.change(path, &format!("{line}\n"));
        repo.agentgate(["check", "--base", "main"])
            .expect(5, &[&format!("{loaded}:1"), "[payments.forbidden_imports[0]]"]);
        // There before, but as no source.
        let repo = scene(&[(loaded, content)]);
        repo.change(path, &format!("{line}\n"));
        repo.agentgate(["check", "--base", "main"])
            .expect(5, &[&format!("{loaded}:1")]);
        // Loaded before as it is.
        let repo = scene(&[(loaded, content), (path, line)]);
        repo.change(path, &format!("{line}\n\n"));
        repo.agentgate(["check", "--base", "main"]).expect(0, &[]);
        // Loaded before, and new in it.
        let repo = scene(&[(loaded, "\n"), (path, line)]);
        repo.write(path, format!("{line}\n\n"));
        repo.change(loaded, &format!("{content}\n"));
        repo.agentgate(["check", "--base", "main"])
            .expect(5, &[&format!("{loaded}:1")]);
    }
}

#[test]
fn one_loads_the_next() {
    let repo = scene(&[]);
    repo.write("payments/a.def", "#include \"b.def\"\n#include \"a.def\"\n");
    repo.write("payments/b.def", "#include <redis/x.h>\n");
    repo.change("payments/a.c", "#include \"a.def\"\n");
    repo.agentgate(["check", "--base", "main"])
        .expect(5, &["payments/b.def:1", "1 finding in 1 path"]);
}

#[test]
fn an_include_in_a_table_that_unchanged_c_includes_is_5() {
    let repo = scene(&[
        ("payments/a.c", "#include \"table.def\"\n"),
        ("payments/table.def", "X(1)\n"),
    ]);
    repo.write("payments/notes.md", "Write\n\n#include <redis/x.h>\n");
    repo.change("payments/table.def", "X(1)\n#include <redis/x.h>\n");
    repo.agentgate(["check", "--base", "main"])
        .expect(5, &["payments/table.def:2", "1 finding in 1 path"]);
}

#[test]
fn a_path_in_rust_is_an_edge_to_the_file() {
    for line in [
        "#[path = \"../billing/x.rs\"]\nmod x;",
        "include!(\n\"../billing/x.rs\");",
    ] {
        let repo = scene(&[]);
        repo.change("payments/a.rs", &format!("{line}\n"));
        repo.agentgate(["check", "--base", "main"]).expect(
            5,
            &["payments includes `../billing/x.rs`, which is `billing/x.rs` of billing"],
        );
    }
}

#[test]
fn assembler_with_a_preprocessor_has_includes() {
    let repo = scene(&[]);
    repo.write("payments/b.s", "#include <redis/x.h>\n");
    repo.change(
        "payments/a.S",
        "# it's\n#include <redis/x.h>\n#include \"../billing/x.h\"\n",
    );
    repo.agentgate(["check", "--base", "main"])
        .expect(5, &["payments/a.S:2", "payments/a.S:3", "2 findings in 1 path"]);
}

#[test]
fn a_path_out_of_the_repository_is_told() {
    for (path, line, raw) in [
        ("payments/a.c", "#include \"../../../x.h\"", "../../../x.h"),
        ("payments/a.c", "#include \"x/../../../../x.h\"", "x/../../../../x.h"),
        ("payments/a.rs", "#[path = \"../../x.rs\"] mod x;", "`../../x.rs`"),
        ("payments/a.rs", "include!(\"../../x.rs\");", "`../../x.rs`"),
    ] {
        let repo = scene(&[]);
        repo.change(path, &format!("{line}\n"));
        repo.agentgate(["check", "--base", "main"])
            .expect(0, &[raw, "it leads out of the repository"]);
    }
}

#[test]
fn what_is_required_and_no_javascript_is_told_and_a_stylesheet_passes() {
    let repo = scene(&[]);
    repo.write("payments/a.css", "@import 'redis';\n.a { color: red }\n");
    repo.write("payments/a.png", b"\x89PNG\0\0");
    repo.write("payments/a.json", "{\"redis\": 1}\n");
    repo.change(
        "payments/a.js",
        "require('./a.css');\nrequire('./a.png');\nrequire('./a.json');\n",
    );
    repo.agentgate(["check", "--base", "main"]).expect(
        0,
        &["`payments/a.png`: is required like JavaScript and cannot be read as such"],
    );
}

#[test]
fn what_is_required_and_could_be_a_script_must_be_readable() {
    // Both begin as a script may, so node could run them.
    for content in [
        &b"/*\xff*/require('redis')\n"[..],
        b"GIF89a=1/*\xff*/;require('redis')\n",
    ] {
        let repo = scene(&[]);
        repo.write("payments/w.txt", content);
        repo.change("payments/a.js", "require('./w.txt');\n");
        repo.agentgate(["check", "--base", "main"])
            .expect(9, &["payments/w.txt"]);
    }
}

#[test]
fn what_is_too_many_to_follow_is_9() {
    let repo = scene(&[]);
    let mut loads = String::new();
    for number in 0..1_001 {
        repo.write(
            format!("payments/{number}.txt"),
            "require('other')\n".repeat(usize::from(number == 1_000)),
        );
        loads.push_str(&format!("require('./{number}.txt');\n"));
    }
    repo.change("payments/a.js", &loads);
    repo.agentgate(["check", "--base", "main"]).expect(
        9,
        &["payments/a.js: more than 1000 files are loaded under names that do not tell their language"],
    );
}

#[test]
fn what_unchanged_source_loads_is_read_whatever_it_is_called() {
    for (path, line, loaded, content) in [
        (
            "payments/a.js",
            "require('./w.txt')",
            "payments/w.txt",
            "require('redis')",
        ),
        ("payments/a.js", "require('./w')", "payments/w", "require('redis')"),
        ("payments/a.mjs", "import './w.txt'", "payments/w.txt", "import 'redis'"),
        (
            "payments/a.php",
            "<?php include 'w.txt';",
            "payments/w.txt",
            "<?php new \\Redis\\Client();",
        ),
        (
            "payments/a.php",
            "<?php include __DIR__ . '/w.inc';",
            "payments/w.inc",
            "<?php new \\Redis\\Client();",
        ),
        (
            "payments/a.rs",
            "include!(\"w.txt\");",
            "payments/w.txt",
            "use redis::Client;",
        ),
        (
            "payments/a.rs",
            "#[path = \"w.txt\"] mod w;",
            "payments/w.txt",
            "use redis::Client;",
        ),
        // What lies in no area is read for the area of what loads it.
        (
            "payments/a.js",
            "require('../misc/w.txt')",
            "misc/w.txt",
            "require('redis')",
        ),
        // The loader may lie anywhere, and its name may be spelt otherwise.
        (
            "misc/a.js",
            "require('../payments/\\x77.txt')",
            "payments/w.txt",
            "require('redis')",
        ),
        // A package's entries load as well.
        (
            "payments/m/package.json",
            "{\"main\": \"w.txt\"}",
            "payments/m/w.txt",
            "require('redis')",
        ),
        (
            "payments/package.json",
            "{\"imports\": {\"#w\": \"./w.txt\"}}",
            "payments/w.txt",
            "require('redis')",
        ),
        // Another area's module, and what nobody can read.
        (
            "payments/a.js",
            "require('./w.txt')",
            "payments/w.txt",
            "require('../billing/x.js')",
        ),
    ] {
        let repo = scene(&[(path, line), (loaded, "\n"), ("billing/x.js", "")]);
        repo.change(loaded, &format!("{content}\n"));
        repo.agentgate(["check", "--base", "main"])
            .expect(5, &[&format!("{loaded}:1"), "1 finding in 1 path"]);
    }
}

#[test]
fn what_unchanged_source_requires_and_nobody_can_read_is_9() {
    let repo = scene(&[("payments/a.js", "require('./w.txt')\n"), ("payments/w.txt", "\n")]);
    repo.change("payments/w.txt", "require('redis'); /*\n");
    repo.agentgate(["check", "--base", "main"])
        .expect(9, &["payments/w.txt"]);
}

#[test]
fn an_unchanged_chain_of_files_without_telling_names_is_followed() {
    let repo = scene(&[
        ("payments/a.c", "#include \"a.txt\"\n"),
        ("payments/a.txt", "#include \"b.txt\"\n"),
        ("payments/b.txt", "#include \"c.txt\"\n"),
        ("payments/c.txt", "X(1)\n"),
    ]);
    repo.change("payments/c.txt", "#include <redis/x.h>\n");
    repo.agentgate(["check", "--base", "main"])
        .expect(5, &["payments/c.txt:1", "1 finding in 1 path"]);
}

#[test]
fn an_unchanged_link_makes_its_target_source() {
    for (link, content) in [
        ("payments/a.js", "require('redis')"),
        ("payments/a.py", "import redis"),
        ("payments/a.go", "package a\nimport \"redis\""),
    ] {
        let repo = linked(link, "../data/w.txt", &[("data/w.txt", "\n")]);
        repo.change("data/w.txt", &format!("{content}\n"));
        repo.agentgate(["check", "--base", "main"])
            .expect(5, &[&format!("{link}:"), "1 finding in 1 path"]);
    }
}

#[test]
fn what_an_unchanged_link_brings_into_an_area_is_read_there() {
    for (link, target, changed, at) in [
        ("payments/a.js", "../data/w.js", "data/w.js", "payments/a.js:1"),
        ("payments/a.js", "../billing/w.py", "billing/w.py", "payments/a.js:1"),
        ("payments/lib", "../data", "data/deep/w.js", "payments/lib/deep/w.js:1"),
    ] {
        let repo = linked(
            link,
            target,
            &[("data/w.js", "\n"), ("billing/w.py", "\n"), (changed, "\n")],
        );
        repo.change(changed, "require('redis')\n");
        repo.agentgate(["check", "--base", "main"])
            .expect(5, &[at, "1 finding in 1 path"]);
    }
    // It may have what it had.
    let repo = linked("payments/a.js", "../data/w.js", &[("data/w.js", "require('redis')\n")]);
    repo.change("data/w.js", "require('redis')\nrequire('other')\n");
    repo.agentgate(["check", "--base", "main"]).expect(0, &[]);
    // A link inside of one area brings nothing.
    let repo = linked("payments/b.js", "w.js", &[("payments/w.js", "\n")]);
    repo.change("payments/w.js", "require('redis')\n");
    repo.agentgate(["check", "--base", "main"])
        .expect(5, &["1 finding in 1 path"]);
}

#[test]
fn prose_and_data_that_nothing_loads_as_source_pass() {
    let code = "Use it:\n\n    require('redis')\n    import 'redis';\n    #include <redis/x.h>\n    use redis::Client;\n\n\
                ```js\nconst r = require('redis')\n```\n<?php new \\Redis\\Client();\n";
    for path in [
        "README.md",
        "payments/README.md",
        "payments/notes.txt",
        "misc/a.txt",
        "payments/x.def",
    ] {
        let repo = scene(&[
            (
                "payments/a.rs",
                "#![doc = include_str!(\"../README.md\")]\nconst N: &str = include_str!(\"notes.txt\");\n",
            ),
            (
                "payments/a.js",
                "// require('./notes.txt')\nconst n = fs.readFileSync('./README.md'); const s = \"./notes.txt\";\n",
            ),
            ("payments/a.c", "/* #include \"x.def\" */ int x;\n"),
            (path, "\n"),
        ]);
        repo.change(path, code);
        repo.agentgate(["check", "--base", "main"]).expect(0, &[]);
    }
}

#[test]
fn what_import_loads_and_is_data_passes() {
    let repo = scene(&[]);
    repo.write("payments/q.graphql", "# it's a query\nquery { redis }\n");
    repo.write("payments/a.css", "@import 'redis';\n");
    repo.write("payments/a.svg", "<svg><script>require('redis')</script></svg>\n");
    repo.write("payments/t.txt", "it's text that says require('redis')\n");
    repo.change(
        "payments/a.ts",
        "import './a.css';\nimport q from './q.graphql';\nimport s from './a.svg';\nimport t from './t.txt?raw';\n",
    );
    repo.agentgate(["check", "--base", "main"]).expect(0, &[]);
}

#[test]
fn what_import_loads_and_is_a_script_is_5() {
    for line in [
        "import './w.txt';",
        "export * from './w.txt';",
        "await import('./w.txt');",
        "new Worker('./w.txt');",
        "new Worker(new URL('./w.txt', import.meta.url));",
        "require('child_process').fork('./w.txt');",
        "require('child_process').fork('./w');",
        "register('./w.txt', import.meta.url);",
        "module.register('./w.txt', import.meta.url);",
    ] {
        let repo = scene(&[]);
        repo.write("payments/w.txt", "import 'redis';\n");
        repo.write("payments/w", "import 'redis';\n");
        repo.change("payments/a.mjs", &format!("{line}\n"));
        repo.agentgate(["check", "--base", "main"])
            .expect(5, &["payments/w", "1 finding in 1 path"]);
    }
}

#[test]
fn a_path_inside_a_moved_module_of_rust_is_an_edge() {
    for line in [
        "#[path = \"..\"] mod a {\n#[path = \"billing/x.rs\"] mod x; }",
        "mod b { #[path = \"../..\"] mod a {\n#[path = \"billing/x.rs\"] mod x; } }",
        "#[path = \"..\"] mod a { mod billing {\npub mod x; } }",
    ] {
        let repo = scene(&[]);
        repo.change("payments/a.rs", &format!("{line}\n"));
        repo.agentgate(["check", "--base", "main"])
            .expect(5, &["payments/a.rs:2", "`billing/x.rs` of billing"]);
    }
    let repo = scene(&[]);
    repo.change(
        "payments/a.rs",
        "mod a { #[path = \"x.rs\"] mod x; }\nmod b { mod x; }\n",
    );
    repo.agentgate(["check", "--base", "main"]).expect(0, &[]);
}

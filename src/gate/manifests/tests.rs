//! Each format by itself: which names are found, and what is refused.

use super::{Dependency, Format, cargo, cargo_names, format, golang, line_of, npm, pip, python};

fn names(found: &[Dependency]) -> Vec<&str> {
    found.iter().map(|dependency| dependency.name.as_str()).collect()
}

#[test]
fn manifests_are_known_by_name_anywhere() {
    let formats = [
        ("package.json", Some(Format::Npm)),
        ("a/b/Cargo.toml", Some(Format::Cargo)),
        ("a/PyProject.toml", Some(Format::Pyproject)),
        ("go.mod", Some(Format::Golang)),
        ("requirements.txt", Some(Format::Requirements)),
        ("a/requirements-dev.txt", Some(Format::Requirements)),
        ("dev-requirements.in", Some(Format::Requirements)),
        ("requirements/web.txt", Some(Format::Requirements)),
        ("package-lock.json", None),
        ("requirements.md", None),
        ("docs/notes.txt", None),
        ("x.package.json", None),
    ];
    for (path, expected) in formats {
        assert_eq!(format(path.as_bytes()), expected, "{path}");
    }
}

#[test]
fn npm_sections_aliases_and_overrides() {
    let text = r#"{
        "name": "x",
        "peerDependencies": {"@scope/a": "1"}, "optionalDependencies": {"b": "npm:@scope/c@2"},
        "bundleDependencies": ["d"], "resolutions": {"**/e": "1", "@s/f/g@^2": "npm:h@1"},
        "overrides": {"i@1": {".": "2", "j": "$k"}}, "pnpm": {"overrides": {"l>m": "1"}}
    }"#;
    let found = npm::dependencies(text).expect("it parses");
    assert_eq!(
        names(&found),
        [
            "b", "@scope/c", "@scope/a", "d", "i", "j", "e", "@s/f", "g", "h", "l", "m"
        ]
    );
}

#[test]
fn npm_refuses_what_it_cannot_read() {
    for text in ["", "[]", "{", "{\"dependencies\": []}", "{\"dependencies\": \"x\"}"] {
        assert!(npm::dependencies(text).is_err(), "{text}");
    }
    let deep = format!("{}{}", "{\"a\":".repeat(100_000), "1");
    assert!(npm::dependencies(&deep).is_err());
}

#[test]
fn cargo_tables_and_renames() {
    let text = r#"
        [dependencies]
        A_b = "1"
        x = { package = "redis", version = "1" }
        own = { workspace = true }
        [dev-dependencies.c]
        package = "d"
        [build-dependencies]
        e.version = "1"
        [target.'cfg(unix)'.dependencies]
        f = "1"
        [target.x86_64-unknown-linux-gnu]
        build-dependencies = { g = "1" }
        [workspace.dependencies]
        h = "1"
        [patch.crates-io]
        i = { git = "https://example.com/i" }
        [replace]
        "j:0.1.0" = { path = "j" }
    "#;
    let found = cargo::dependencies(text).expect("it parses");
    assert_eq!(
        names(&found),
        ["a-b", "redis", "own", "d", "e", "h", "f", "g", "i", "j"]
    );
    assert!(cargo::dependencies("[dependencies\n").is_err());
    assert!(cargo::dependencies(&format!("a = {}", "[".repeat(100_000))).is_err());
}

#[test]
fn pyproject_tables() {
    let text = r#"
        [build-system]
        requires = ["hatchling>=1"]
        [project]
        dependencies = ["A.b_c [x] >= 1", "d @ https://example.com/d.whl"]
        optional-dependencies = { e = ["f;python_version<'3'"] }
        [dependency-groups]
        dev = ["g", { include-group = "h" }]
        [tool.poetry.group.dev.dependencies]
        i = { version = "1" }
        [tool.uv]
        dev-dependencies = ["j~=1"]
        sources = { k = { git = "https://example.com/k" } }
        [tool.pdm.dev-dependencies]
        test = ["-e file:///l#egg=L"]
        [tool.hatch.envs.default]
        dependencies = ["m!=1"]
    "#;
    let found = python::pyproject(text).expect("it parses");
    assert_eq!(
        names(&found),
        ["a-b-c", "d", "hatchling", "j", "f", "g", "l", "k", "i", "m"]
    );
    assert!(python::pyproject("[project").is_err());
}

#[test]
fn requirements_lines() {
    let text = "\u{20}Django [argon2] == 4.2 \\\n  --hash=sha256:00 # web\n# no\n\n-r base.txt\n--requirement=more.txt\n\
                -c pins.txt\n--no-binary :all:\n-e ./local\n-e git+ssh://git@example.com/x#egg=X_y&subdirectory=z\n\
                a;python_version<'3'\n./wheels/b.whl\nhttps://example.com/c.zip\nd>=1,<2\n";
    let found = pip::read(text).found;
    assert_eq!(
        names(&found),
        [
            "django",
            "-r base.txt",
            "-r more.txt",
            "./local",
            "x-y",
            "a",
            "./wheels/b.whl",
            "https://example.com/c.zip",
            "d"
        ]
    );
}

#[test]
fn requirements_are_read_as_pip_reads_them() {
    for (text, expected) in [
        // A comment line never joins the next one; a comment behind something does.
        ("# x \\\nredis\n", vec!["redis"]),
        ("  # x \\\nredis\n", vec!["redis"]),
        ("a # x \\\nredis\n", vec!["a"]),
        ("a \\\n# x \\\nredis\n", vec!["a", "redis"]),
        ("re\\\ndis\n", vec!["redis"]),
        ("a#b\n", vec!["a#b"]),
        ("redis \\", vec!["redis"]),
        // Line ends are those of Python.
        ("# x\rredis\u{2028}a\u{85}b\u{c}c", vec!["redis", "a", "b", "c"]),
        // Options behind options, glued, cut short.
        (
            "--pre -r b.txt\n-rc.txt\n--requirem d.txt\n--ed ./e\n--require-hashes\n-c f.txt\n",
            vec!["-r b.txt", "-r c.txt", "-r d.txt", "./e"],
        ),
    ] {
        assert_eq!(names(&pip::read(text).found), expected, "{text:?}");
    }
    let read = pip::read("-r b.txt\n--constraint=c.txt\n-c'd.txt'\n");
    assert_eq!(read.includes, ["b.txt"]);
    assert_eq!(read.constraints, ["c.txt", "d.txt"]);
}

#[test]
fn pyproject_tables_of_tools() {
    let text = r#"
        [project]
        dynamic = ["dependencies"]
        [tool.setuptools.dynamic]
        dependencies = { file = ["deps.txt"] }
        optional-dependencies.x.file = "x.txt"
        [tool.pixi.dependencies]
        python = "3"
        a = "*"
        [tool.pixi.feature.test.target.linux-64.pypi-dependencies]
        b = "*"
        [tool.hatch.build.hooks.custom]
        dependencies = ["c"]
        [tool.hatch.build.targets.wheel]
        dependencies = ["d"]
        hooks.custom.dependencies = ["e"]
        [tool.poetry.requires-plugins]
        f = "*"
    "#;
    let found = python::pyproject(text).expect("it parses");
    assert_eq!(
        names(&found),
        ["f", "c", "d", "e", "a", "b", "file deps.txt", "file x.txt"]
    );
    assert_eq!(python::dynamic_files(text), ["deps.txt", "x.txt"]);
}

#[test]
fn go_directives() {
    let text = "module example.com/x\ngo 1.24\nrequire a.com/b v1 // indirect\nrequire(\n\t\"c.com/d/v2\" v2.1.0\n)\n\
                replace (\n\ta.com/b => f.com/g v1\n\te => ../e\n)\ntool h.com/i/cmd/j\nexclude k.com/l v1\n";
    let found = golang::dependencies(text).expect("it parses");
    assert_eq!(names(&found), ["a.com/b", "c.com/d", "f.com/g", "h.com/i/cmd/j"]);
    assert!(golang::dependencies("require (\n\ta.com/b v1\n").is_err());
}

#[test]
fn the_line_is_that_of_the_whole_name() {
    let text = b"{\n\"ioredis\": 1,\n\"redis-om\": 1,\n\"redis\": 1\n}";
    assert_eq!(line_of(text, "redis"), Some(4));
    assert_eq!(line_of(text, "dis"), Some(2));
    assert_eq!(line_of(text, "none"), None);
    assert_eq!(line_of(text, ""), None);
}

#[test]
fn cargo_names_of_renamed_and_inherited_crates() {
    let names = cargo_names(
        b"\xef\xbb\xbf[package]\nname = 'x'\nworkspace = '../w'\n[dependencies]\nmy-a = { package = 'b-c' }\nd = '1'\n\
          e.workspace = true\nf = { workspace = false }\n[dev-dependencies.my_a]\npackage = 'g'\n\
          [target.x.build-dependencies]\nh = { package = 'i' }\n[workspace.dependencies]\nj = { package = 'k' }\n",
    );
    let of = |renames: &super::CargoRenames, name: &str| renames.get(name).cloned().unwrap_or_default();
    assert_eq!(of(&names.renamed, "my_a"), ["b_c", "g"]);
    assert_eq!(of(&names.renamed, "h"), ["i"]);
    assert_eq!(of(&names.renamed, "d"), [""; 0]);
    assert_eq!(names.inherited, ["e"]);
    assert_eq!(of(&names.workspace, "j"), ["k"]);
    assert_eq!(names.workspace_folder.as_deref(), Some("../w"));
    assert_eq!(cargo_names(b"[dependencies\n"), super::CargoNames::default());
}

//! Each format by itself: which names are found, and what is refused.

use super::declared::{Dependency, Named, Shelf, guesses};
use super::format::{Format, format};
use super::lines::line_of;
use super::{cargo, composer, golang, gradle_catalog, npm, pip, pnpm, python, setup_cfg};

fn names(found: &[Dependency]) -> Vec<&str> {
    found
        .iter()
        .filter(|dependency| dependency.kind != Named::Guessed)
        .map(|dependency| dependency.name.as_str())
        .collect()
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
        ("pnpm-workspace.yaml", Some(Format::PnpmWorkspace)),
        ("a/Pipfile", Some(Format::Pipfile)),
        ("setup.cfg", Some(Format::SetupCfg)),
        ("setup.py", Some(Format::SetupPy)),
        ("go.work", Some(Format::Golang)),
        ("a/pom.xml", Some(Format::Maven)),
        (".mvn/extensions.xml", Some(Format::Maven)),
        ("a/build.gradle", Some(Format::Gradle)),
        ("gradle/deps.gradle", Some(Format::Gradle)),
        ("settings.gradle.kts", Some(Format::GradleKotlin)),
        ("gradle/libs.versions.toml", Some(Format::GradleCatalog)),
        ("src/App.csproj", Some(Format::Dotnet)),
        ("Directory.Packages.props", Some(Format::Dotnet)),
        ("packages.config", Some(Format::Dotnet)),
        ("eng/Common.props", Some(Format::Dotnet)),
        ("x.targets", Some(Format::Dotnet)),
        ("db.sqlproj", Some(Format::Dotnet)),
        ("build.proj", Some(Format::Dotnet)),
        ("x.pbxproj", None),
        ("gemfiles/rails_7.gemfile", Some(Format::Ruby)),
        ("Appraisals", Some(Format::Ruby)),
        ("Gemfile", Some(Format::Ruby)),
        ("x.gemspec", Some(Format::Ruby)),
        ("composer.json", Some(Format::Composer)),
        ("extensions.xml", None),
        (".gradle", None),
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
        ["a-b-c", "d", "hatchling", "f", "g", "l", "i", "m", "j", "k"]
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
            "--pre -r b.txt\n-rc.txt\n--requirem d.txt\n--ed ../e\n--require-hashes\n-c f.txt\n",
            vec!["-r b.txt", "-r c.txt", "-r d.txt", "../e"],
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
    let mut found = golang::dependencies(text).expect("it parses");
    let in_place: Vec<_> = found
        .extract_if(.., |found| found.kind == Named::InPlace("../e".into()))
        .collect();
    assert_eq!(names(&in_place), ["e"]);
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
fn npm_counts_every_key_that_stands_twice() {
    let text = r#"{"dependencies": {"redis": "1", "a": "npm:x@1", "a": "npm:y@1"}, "dependencies": {"b": "1"}}"#;
    let found = npm::dependencies(text).expect("it parses");
    assert_eq!(names(&found), ["redis", "a", "x", "a", "y", "b"]);
}

#[test]
fn npm_specs_that_are_no_ranges() {
    for (spec, expected, guessed) in [
        ("^1 || >=2", vec!["k"], None),
        ("workspace:*", vec!["k"], Some("*")),
        ("workspace:@a/redis@^1", vec!["k", "@a/redis"], None),
        ("patch:redis@npm%3A4#./x.patch", vec!["k", "redis"], None),
        ("jsr:@a/redis@1", vec!["k", "@a/redis"], None),
        ("git+https://example.com/a/redis.git#v4", vec!["k"], Some("redis")),
        ("github:a/redis", vec!["k"], Some("redis")),
        ("a/redis", vec!["k"], Some("redis")),
        ("file:../redis", vec!["k"], Some("redis")),
        ("https://example.com/redis-4.0.1.tgz", vec!["k"], Some("redis")),
    ] {
        let text = format!("{{\"devDependencies\": {{\"k\": \"{spec}\"}}}}");
        let found = npm::dependencies(&text).expect("it parses");
        assert_eq!(names(&found), expected, "{spec}");
        let guess = found.iter().find(|dependency| dependency.kind == Named::Guessed);
        assert_eq!(guess.map(|guess| guess.name.as_str()), guessed, "{spec}");
    }
}

#[test]
fn npm_catalogs_and_extensions() {
    let text = r#"{
        "dependencies": {"a": "catalog:", "b": "catalog:old"},
        "workspaces": {"packages": ["x"], "catalog": {"c": "1"}, "catalogs": {"old": {"d": "npm:e@1"}}},
        "pnpm": {"packageExtensions": {"x@1": {"dependencies": {"f": "1"}}}}
    }"#;
    let found = npm::dependencies(text).expect("it parses");
    assert_eq!(names(&found), ["a", "b", "f", "c", "d", "e"]);
    assert_eq!(found[0].kind, Named::Elsewhere(Shelf::Catalog("default".into())));
    assert_eq!(found[1].kind, Named::Elsewhere(Shelf::Catalog("old".into())));
}

#[test]
fn pnpm_workspaces() {
    let text = "packages:\n  - a/*\ncatalog:\n  a: ^1.0\n  cache: npm:redis@4\ncatalogs:\n  old: {b: 1.0.0}\n\
                overrides: {\"c>d@1\": npm:e@1}\npackageExtensions: {x: {dependencies: {f: 1.0.0}}}\n";
    let found = pnpm::dependencies(text).expect("it parses");
    assert_eq!(names(&found), ["a", "cache", "redis", "b", "c", "e", "d", "e", "f"]);
    assert_eq!(names(&pnpm::catalog(text, "default")["cache"]), ["cache", "redis"]);
    assert_eq!(names(&pnpm::catalog(text, "old")["b"]), ["b"]);
    assert_eq!(
        pnpm::dependencies("catalog:\n  a: &x 1\n").unwrap_err(),
        "not the plain YAML that is read here (line 2)"
    );
}

#[test]
fn cargo_names_of_the_workspace() {
    let root = "[workspace.dependencies]\ncache = { package = \"Redis_x\" }\na = \"1\"\n";
    assert_eq!(names(&cargo::workspace(root)["cache"]), ["redis-x"]);
    assert_eq!(names(&cargo::workspace(root)["a"]), ["a"]);
    let member = cargo::dependencies("[dependencies]\ncache.workspace = true\nb = { workspace = false }\n");
    let member = member.expect("it parses");
    assert_eq!(member[0].kind, Named::Elsewhere(Shelf::Workspace));
    assert_eq!(member[1].kind, Named::Outright);
}

#[test]
fn toml_knows_the_place_of_a_name() {
    let text = "# redis\n[dependencies]\nredis = \"1\"\n";
    let found = cargo::dependencies(text).expect("it parses");
    assert_eq!(found[0].at, text.rfind("redis"));
    let text = "[project]\ndependencies = [\n  \"redis>=1\",\n]\n";
    let found = python::pyproject(text).expect("it parses");
    assert_eq!(found[0].at, text.find("\"redis"));
}

#[test]
fn pipfiles() {
    let text = "[[source]]\nurl = \"x\"\n[packages]\nDjango = \"*\"\n[dev-packages]\nb = {git = \"x\"}\n\
                [docs]\nc = \"*\"\n[requires]\npython_version = \"3\"\n";
    assert_eq!(names(&python::pipfile(text).expect("it parses")), ["django", "b", "c"]);
    assert!(python::pipfile("[packages").is_err());
}

#[test]
fn setup_cfg_lists() {
    let text = "[metadata]\nname = x\n[options]\ninstall-requires =\r\n    A_b>=1\r\n    # no\n    c; os_name=='x'\n\
                setup_requires = d; e\npackages = find:\n[options.extras_require]\ntest = f\nall =\n\tg[x]\n\
                h = file: more.txt, x.txt\n[flake8]\nrequires = no\n";
    let found = setup_cfg::dependencies(text).expect("it parses");
    assert_eq!(
        names(&found),
        ["a-b", "c", "d", "e", "f", "g", "file more.txt", "file x.txt"]
    );
    assert_eq!(found[0].at, text.find("A_b"));
    assert_eq!(setup_cfg::files(text), ["more.txt", "x.txt"]);
    assert!(setup_cfg::dependencies("[options]\nredis\n").is_err());
}

#[test]
fn requirements_that_are_addresses_are_guessed_at() {
    let text = "./wheels/Redis-4.0-py3-none-any.whl\ngit+https://example.com/x/redis_py.git@v4\n";
    let found = pip::read(text).found;
    let guessed: Vec<&str> = found
        .iter()
        .filter(|dependency| dependency.kind == Named::Guessed)
        .map(|dependency| dependency.name.as_str())
        .collect();
    assert_eq!(guessed, ["redis", "redis-py"]);
    assert_eq!(guesses("../.."), None);
    assert_eq!(guesses(""), None);
}

#[test]
fn go_refuses_an_escape() {
    assert!(golang::dependencies("require \"github.com/\\x72edis/x\" v1\n").is_err());
    let found = golang::dependencies("go 1.24\nuse ./a\nreplace a.com/b => github.com/redis/x v1\n");
    assert_eq!(names(&found.expect("it parses")), ["github.com/redis/x"]);
}

#[test]
fn composer_sections() {
    let text = r#"{"require": {"php": ">=8", "ext-redis": "*", "Predis/Predis": "^2"}, "require-dev": {"a/b": "1"},
                  "require": {"c/d": "1"}, "suggest": {"x/y": "z"}}"#;
    let found = composer::dependencies(text).expect("it parses");
    assert_eq!(names(&found), ["ext-redis", "predis/predis", "c/d", "a/b"]);
    assert!(
        composer::dependencies(r#"{"require": []}"#)
            .expect("it parses")
            .is_empty()
    );
    assert!(composer::dependencies(r#"{"require": "x"}"#).is_err());
}

#[test]
fn gradle_catalogs() {
    let text = "[versions]\na = \"1\"\n[libraries]\njedis-core = \"redis.clients:jedis:5\"\n\
                x = { module = \"g:a\", version.ref = \"a\" }\ny = { group = \"h\", name = \"b\" }\n\
                [bundles]\ncache = [\"jedis-core\", \"x\"]\n[plugins]\np = \"com.x:1\"\n\
                q = { id = \"com.y\", version = \"1\" }\n";
    let found = gradle_catalog::dependencies(text).expect("it parses");
    assert_eq!(
        names(&found),
        [
            "redis.clients:jedis",
            "g:a",
            "h:b",
            "com.x:com.x.gradle.plugin",
            "com.y:com.y.gradle.plugin"
        ]
    );
    let libraries = gradle_catalog::accessors(text, false);
    assert_eq!(libraries["jedis.core"], ["redis.clients:jedis"]);
    assert_eq!(libraries["bundles.cache"], ["redis.clients:jedis", "g:a"]);
    assert_eq!(
        gradle_catalog::accessors(text, true)["p"],
        ["com.x:com.x.gradle.plugin"]
    );
    assert!(gradle_catalog::dependencies("[libraries]\nx = { version = \"1\" }\n").is_err());
}

#[test]
fn cargo_names_of_renamed_and_inherited_crates() {
    let names = super::cargo_names(
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
    assert_eq!(super::cargo_names(b"[dependencies\n"), super::CargoNames::default());
}

#[test]
fn folders_of_the_repository_are_no_new_names_in_requirements() {
    for own in [
        "-e .",
        "--editable .",
        "-e .[dev]",
        "./local",
        "libs/local",
        ". ; python_version > '3'",
    ] {
        let found = pip::read(own).found;
        assert!(found.iter().all(|name| name.kind == Named::Guessed), "{own}: {found:?}");
    }
    for other in [
        "-e ../x",
        "/x",
        "./redis-4.whl",
        "./x.tar.gz",
        "git+https://h/x",
        "-e $X/a",
        "a @ ./x",
        "./x#egg=redis",
    ] {
        let found = pip::read(other).found;
        assert!(
            found.iter().any(|name| name.kind == Named::Outright),
            "{other}: {found:?}"
        );
    }
    let found = pip::read("-e ./libs/redis").found;
    assert_eq!(found[0].name, "redis");
}

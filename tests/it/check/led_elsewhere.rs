//! Imports of files that did not change and that a manifest now leads elsewhere, in Go and Rust.

use super::{Files, judged};
use crate::support::program::Outcome;
use crate::support::repo::Repo;

/// An area that must not have redis nor anything of the other area, these files, and then those.
fn after(base: Files, change: Files) -> Outcome {
    let repo = Repo::empty();
    repo.write(
        "architecture/invariants.yml",
        "version: 1\napp: {allowed_roots: [app/], forbidden_imports: [redis], may_depend_on: []}\n\
         other: {allowed_roots: [other/]}\nmax_new_top_level_dirs: 9\n",
    );
    judged(&repo, base, change)
}

const IN_APP: &str = "app/a.go:3:8: imports `a.com/kv/sub`, which `redis` forbids in app";

#[test]
fn a_replace_of_go_is_judged_in_unchanged_files() {
    let require = "module acme\n\nrequire a.com/kv v1.0.0\n";
    let base = [
        ("go.mod", require),
        ("app/a.go", "package a\n\nimport \"a.com/kv/sub\"\n"),
        ("app/b.go", "package a\n\nimport \"a.com/kvs\"\n"),
        ("other/kv/sub/x.go", "package sub\n"),
    ];
    let with = |line: &str| format!("{require}replace {line}\n");
    let redis = with("a.com/kv => github.com/redis/go-redis v9.0.0");
    after(&base, &[("go.mod", &redis)]).expect(5, &[IN_APP, "go.mod:4"]);
    let work = "go 1.22\nuse .\n";
    let base_of_work = [&base[..], &[("go.work", work)]].concat();
    let redis = format!("{work}replace a.com/kv => github.com/redis/go-redis v9.0.0\n");
    after(&base_of_work, &[("go.work", &redis)]).expect(5, &[IN_APP]);
    let folder = with("a.com/kv => ./other/kv");
    after(&base, &[("go.mod", &folder)]).expect(5, &["app/a.go:3:8", "of other"]);
    for line in [
        "a.com/kv => github.com/x/kv v1.0.0",
        "b.com/c => github.com/redis/x v1.0.0",
    ] {
        let outcome = after(&base, &[("go.mod", &with(line))]);
        assert!(!outcome.stdout.contains("app/a.go"), "{line}: {outcome}");
    }
    after(&base, &[("go.mod", &require.replace("1.0.0", "2.0.0"))]).expect(0, &[]);
}

#[test]
fn a_replace_of_go_by_an_own_folder_that_goes_is_5() {
    let require = "module acme\n\nrequire github.com/redis/go-redis v1.0.0\n";
    let own = format!("{require}replace github.com/redis/go-redis => ./app/fork\n");
    let base = [
        ("go.mod", own.as_str()),
        ("app/a.go", "package a\n\nimport \"github.com/redis/go-redis\"\n"),
        ("app/fork/x.go", "package redis\n"),
    ];
    after(&base, &[("go.mod", require)]).expect(5, &["app/a.go:3:8"]);
    after(&base, &[("go.mod", &format!("{own}\n"))]).expect(0, &[]);
}

#[test]
fn a_rename_of_cargo_is_judged_in_unchanged_files() {
    let root = |line: &str| format!("[workspace]\nmembers = [\"app\"]\n[workspace.dependencies]\n{line}\n");
    let own = root("cache = \"1\"");
    let base = [
        ("Cargo.toml", own.as_str()),
        (
            "app/Cargo.toml",
            "[package]\nname = \"app\"\n[dependencies]\ncache.workspace = true\n",
        ),
        ("app/src/lib.rs", "use other::Y;\nuse cache::X;\n"),
        ("other/c/Cargo.toml", "[package]\nname = \"cache\"\n"),
        ("other/c/src/lib.rs", "pub struct X;\n"),
    ];
    let redis = root("cache = { package = \"redis\", version = \"1\" }");
    let in_app = "app/src/lib.rs:2:5: imports `cache::X`, which `redis` forbids in app";
    after(&base, &[("Cargo.toml", &redis)]).expect(5, &[in_app, "app/Cargo.toml:4"]);
    let folder = root("cache = { path = \"other/c\" }");
    after(&base, &[("Cargo.toml", &folder)]).expect(5, &["app/src/lib.rs:2:5", "of other"]);
    for line in [
        "cache = \"2\"",
        "cache = \"1\"\nlog = \"1\"",
        "cache = { package = \"cache\", version = \"1\" }",
        "cache = \"1\"\nlog = { package = \"redis\", version = \"1\" }",
    ] {
        after(&base, &[("Cargo.toml", &root(line))]).expect(0, &[]);
    }
    let of_member = "[package]\nname = \"app\"\n[dependencies]\ncache = { package = \"redis\", version = \"1\" }\n";
    after(&base, &[("app/Cargo.toml", of_member)]).expect(5, &[in_app]);
}

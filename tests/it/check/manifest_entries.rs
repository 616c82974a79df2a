//! Files that a composer.json or Cargo.toml names as source, whatever they are called.

use super::{Files, judged};
use crate::support::program::Outcome;
use crate::support::repo::Repo;

const PHP: &str = "<?php new \\Redis\\Client();\n";
const RUST: &str = "use redis::Client;\n";

/// What `check` says of these changes beside a base with those files, where `app/` must not have redis.
fn after(base: Files, change: Files) -> Outcome {
    let repo = Repo::empty();
    repo.write(
        "architecture/invariants.yml",
        "version: 1\napp: {allowed_roots: [app/], forbidden_imports: [redis]}\nmax_new_top_level_dirs: 9\n",
    );
    repo.write("app/README", "x\n");
    judged(&repo, base, change)
}

#[test]
fn a_file_that_a_manifest_makes_source_is_read() {
    for (manifest, before, now, content) in [
        ("app/composer.json", "{}", r#"{"autoload": {"files": ["w.txt"]}}"#, PHP),
        (
            "app/composer.json",
            "{}",
            r#"{"autoload-dev": {"files": ["./w.txt"]}}"#,
            PHP,
        ),
        (
            "composer.json",
            "{}",
            r#"{"autoload": {"classmap": ["app/w.txt"]}}"#,
            PHP,
        ),
        ("composer.json", "{}", r#"{"bin": "app/w.txt"}"#, PHP),
        (
            "app/Cargo.toml",
            "[package]\nname = \"app\"\n",
            "[package]\nname = \"app\"\n[[bin]]\nname = \"x\"\npath = \"w.txt\"\n",
            RUST,
        ),
        (
            "Cargo.toml",
            "[package]\nname = \"app\"\n",
            "[package]\nname = \"app\"\nbuild = \"app/w.txt\"\n",
            RUST,
        ),
        (
            "app/Cargo.toml",
            "[package]\nname = \"app\"\n",
            "[package]\nname = \"app\"\n[lib]\npath = \"w.txt\"\n",
            RUST,
        ),
    ] {
        // The manifest alone, both, and the file alone.
        after(&[(manifest, before), ("app/w.txt", content)], &[(manifest, now)]).expect(5, &["app/w.txt:1"]);
        after(&[(manifest, before)], &[(manifest, now), ("app/w.txt", content)]).expect(5, &["app/w.txt:1"]);
        after(&[(manifest, now), ("app/w.txt", "\n")], &[("app/w.txt", content)]).expect(5, &["app/w.txt:1"]);
        // Named before, and as it was; and never named.
        after(
            &[(manifest, now), ("app/w.txt", content)],
            &[(manifest, &format!("{now}\n"))],
        )
        .expect(0, &[]);
        after(&[(manifest, before), ("app/w.txt", "\n")], &[("app/w.txt", content)]).expect(0, &[]);
    }
}

#[test]
fn a_file_outside_is_read_for_the_area_of_the_manifest() {
    let now = "[package]\nname = \"app\"\n[[bin]]\nname = \"x\"\npath = \"../misc/w.txt\"\n";
    let base = [("app/Cargo.toml", "[package]\nname = \"app\"\n"), ("misc/w.txt", RUST)];
    after(&base, &[("app/Cargo.toml", now)]).expect(5, &["misc/w.txt:1"]);
    after(
        &[("app/Cargo.toml", now), ("misc/w.txt", "\n")],
        &[("misc/w.txt", RUST)],
    )
    .expect(5, &["misc/w.txt:1"]);
}

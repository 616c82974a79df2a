//! Content that hides from review, one commit each, as CI meets it.

use std::os::unix::fs::symlink;

use crate::support::program::Outcome;
use crate::support::repo::Repo;

/// What `check` says of a commit that this makes on a branch.
fn checked(change: impl FnOnce(&Repo)) -> Outcome {
    let repo = Repo::new();
    repo.branch("f");
    change(&repo);
    repo.commit("a change");
    repo.agentgate(["check", "--base", "main"])
}

#[test]
fn a_symlink_out_of_the_repository() {
    checked(|repo| symlink("../../etc", repo.root.join("payments/etc")).expect("a link"))
        .expect(9, &["payments/etc: symlink to `../../etc`, outside the repository"]);
    checked(|repo| symlink("../prot", repo.root.join("payments/prot")).expect("a link")).expect(0, &[]);
}

#[test]
fn a_submodule_link_added_and_moved() {
    let repo = Repo::new();
    let link = |id: &str| {
        let entry = format!("160000,{},payments/sub", id.repeat(40));
        repo.git(["update-index", "--add", "--cacheinfo", &entry]);
        repo.git(["commit", "--quiet", "-m", "link"]);
    };
    repo.branch("f");
    link("1");
    repo.agentgate(["check", "--base", "main"])
        .expect(9, &["payments/sub: submodule link added or moved"]);
    repo.git(["branch", "--force", "main", "HEAD"]);
    link("2");
    repo.agentgate(["check", "--base", "main"])
        .expect(9, &["payments/sub: submodule link added or moved"]);
}

#[test]
fn source_that_is_no_text_or_too_large() {
    checked(|repo| repo.write("payments/a.kt", b"val x = \"\xe9\"\n"))
        .expect(9, &["payments/a.kt:1: its imports cannot be read: is not UTF-8"]);
    let utf16: Vec<u8> = "\u{feff}class A {}\n"
        .encode_utf16()
        .flat_map(u16::to_le_bytes)
        .collect();
    checked(|repo| repo.write("payments/a.cs", &utf16))
        .expect(9, &["payments/a.cs:1: its imports cannot be read: has a NUL byte"]);
    let large = "// x\n".repeat(2 * 1024 * 1024 + 1);
    checked(|repo| repo.write("payments/a.go", &large))
        .expect(9, &["payments/a.go: its imports cannot be read: 10485765 bytes"]);
    checked(|repo| repo.write("payments/a.dat", &large)).expect(0, &[]);
}

#[test]
fn twins_of_files_and_folders() {
    checked(|repo| repo.write("payments/Pay.ts", "")).expect(9, &["payments/Pay.ts: differs from `payments/pay.ts`"]);
    checked(|repo| {
        repo.write("payments/caf\u{e9}.md", "");
        repo.write("payments/cafe\u{301}.md", "");
    })
    .expect(9, &["only by case or Unicode form"]);
    checked(|repo| {
        repo.write("payments/lib/a", "");
        repo.write("payments/LIB/b", "");
    })
    .expect(
        9,
        &[
            "payments/LIB: differs from `payments/lib`",
            "payments/lib: differs from `payments/LIB`",
        ],
    );
}

#[test]
fn bidirectional_controls() {
    checked(|repo| repo.write("payments/a.py", "ok = 1\nx = '\u{202e}'\n"))
        .expect(9, &["payments/a.py:2:6: bidirectional control character"]);
    checked(|repo| repo.write("payments/a\u{202e}yp.txt", "")).expect(9, &["payments/a\\u{202e}yp.txt: unsafe path"]);
}

#[test]
fn names_that_another_system_takes_for_a_git_dir() {
    for name in ["git~1", ".g\u{200c}it", ".git ", ".git::$INDEX_ALLOCATION", "a\\b"] {
        let repo = Repo::new();
        repo.branch("f");
        repo.git(["config", "core.protectNTFS", "false"]);
        repo.git(["config", "core.protectHFS", "false"]);
        repo.write(format!("payments/{name}/hooks"), "");
        repo.commit("a change");
        repo.agentgate(["check", "--base", "main"])
            .expect(9, &["unsafe path: "]);
    }
}

#[test]
fn names_that_are_another_file_elsewhere() {
    for (name, told) in [
        ("payments/x.py.", "Windows drops a dot or blank at the end"),
        ("payments/x.py ", "Windows drops a dot or blank at the end"),
        ("payments/dir./x.py", "Windows drops a dot or blank at the end"),
        ("payments/x.py::$DATA", "a stream of another file"),
        ("payments/x.py\u{200b}", "a character that cannot be seen"),
    ] {
        checked(|repo| repo.write(name, "import os\n")).expect(9, &[told]);
    }
    for name in [
        "payments/a.b",
        "payments/.env.example",
        "payments/a:b",
        "payments/..x",
        "payments/👩\u{200d}🚀",
    ] {
        checked(|repo| repo.write(name, "x\n")).expect(0, &[]);
    }
    // What the base has may be edited.
    let repo = Repo::new();
    repo.change("payments/etc.", "1\n");
    repo.branch("f");
    repo.change("payments/etc.", "2\n");
    repo.agentgate(["check", "--base", "main"]).expect(0, &[]);
}

#[test]
fn a_large_script_without_an_ending_is_source() {
    let script = format!("#!/usr/bin/python3\nimport redis\n{}", "#\n".repeat(6 * 1024 * 1024));
    checked(|repo| repo.write("payments/run", &script)).expect(9, &["payments/run: its imports cannot be read"]);
}

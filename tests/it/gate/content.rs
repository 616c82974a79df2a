//! What hides from review: names, links and characters that no fixture folder can hold everywhere.

use agentgate::exit::Exit;
use agentgate::gate::Kind;

use super::{check, file, item, lines};

#[test]
fn case_and_unicode_twins_are_uninspectable() {
    let base = [file("src/a.ts", "a"), file("src/caf\u{e9}", "a")];
    let mut head = base.to_vec();
    head.extend([
        file("src/A.ts", "a"),
        file("src/cafe\u{301}", "a"),
        file("SRC/x", "a"),
        file("SRC/y", "a"),
    ]);
    assert_eq!(
        lines(&check(&base, &head)),
        [
            "uninspectable SRC built-in: twins",
            "uninspectable src/A.ts built-in: twins",
            "uninspectable src/cafe\u{301} built-in: twins",
        ]
    );
}

#[test]
fn twins_that_the_base_has_stay_workable() {
    let base = [
        file("net/xt_DSCP.h", "a"),
        file("net/xt_dscp.h", "a"),
        file("Net/other", "a"),
    ];
    let mut head = base.to_vec();
    head[0].2 = b"b".to_vec();
    assert_eq!(check(&base, &head).findings, []);
    // A new file that meets one in the twin folder is still a twin.
    head.push(file("Net/xt_dscp.h", "a"));
    assert_eq!(
        lines(&check(&base, &head)),
        ["uninspectable Net/xt_dscp.h built-in: twins"]
    );
}

#[test]
fn a_deleted_twin_is_no_finding() {
    let base = [file("src/a.ts", "a"), file("src/A.ts", "a")];
    assert_eq!(check(&base, &base[..1]).findings, []);
    assert_eq!(check(&base[..1], &base[1..]).findings, []);
}

#[test]
fn names_that_some_file_system_takes_for_git_are_unsafe() {
    for name in [
        ".git",
        ".GIT",
        "git~1",
        "GIT~1",
        ".g\u{200c}it",
        ".git ",
        ".git.",
        ".git . .",
        ".git::$INDEX_ALLOCATION",
        "..",
        ".",
        "",
        "a\\b",
        "a\0b",
        "\u{ff0e}git",
        "\u{feff}.git",
        ".g\u{131}t\\x",
        "read\u{202e}txt.me",
        "a.",
        "a b ",
        "a.py::$DATA",
        "a\u{200b}.py",
        &"x".repeat(256),
    ] {
        for path in [format!("lib/{name}/x"), format!("lib/{name}")] {
            let verdict = check(&[], &[file(&path, "a")]);
            assert_eq!(verdict.exit(), Exit::Uninspectable, "{path:?}");
        }
    }
    for name in [
        ".gitignore",
        ".github",
        "git",
        "git~2",
        "...x",
        ".gi",
        "line\nbreak",
        "aux.c",
        "a:b",
        &"x".repeat(255),
    ] {
        assert_eq!(
            check(&[], &[file(format!("lib/{name}/x"), "a")]).findings,
            [],
            "{name:?}"
        );
    }
}

#[test]
fn links_out_of_the_repository_and_into_git() {
    for target in [
        "/etc/passwd",
        "../../x",
        "../.git/config",
        "a/../../../x",
        "C:\\x",
        "\\\\host\\x",
        "..\\..\\x",
        "../.GIT/x",
        "../git~1/x",
    ] {
        let verdict = check(&[], &[item("lib/l", Kind::Symlink, target)]);
        assert_eq!(lines(&verdict), ["uninspectable lib/l built-in: symlinks"], "{target}");
    }
    for target in [
        "a",
        "../lib",
        "..",
        ".",
        "l",
        "./././a",
        "../lib/../README",
        "",
        "a..b/..c",
    ] {
        assert_eq!(
            check(&[], &[item("lib/l", Kind::Symlink, target)]).findings,
            [],
            "{target}"
        );
    }
    let through = [item("lib/known", Kind::Symlink, "/opt")];
    let new = [through[0].clone(), item("lib/l", Kind::Symlink, "known/x")];
    assert_eq!(
        lines(&check(&through, &new)),
        ["uninspectable lib/l built-in: symlinks"]
    );
    assert_eq!(
        check(&[], &[item("lib/l", Kind::Symlink, &"a".repeat(5000))]).exit(),
        Exit::Uninspectable
    );
}

#[test]
fn a_link_that_is_tedious_to_follow_is_uninspectable() {
    let link = item("lib/l", Kind::Symlink, &"a/../".repeat(800));
    assert_eq!(lines(&check(&[], &[link])), ["uninspectable lib/l built-in: symlinks"]);
}

#[test]
fn link_loops_end() {
    let items = [
        item("a/x", Kind::Symlink, "../b/y/z"),
        item("b/y", Kind::Symlink, "../a/x/x"),
    ];
    assert_eq!(check(&[], &items).findings, []);
}

#[test]
fn bidirectional_controls_in_added_lines_of_source() {
    let old = "ok = 1\nx = '\u{2066}kept'\n";
    let new = "ok = 1\r\nx = '\u{2066}kept'\r\ny = '\u{202e}'\r\n";
    let base = [file("lib/a.py", old), file("lib/a.png", "")];
    let verdict = check(
        &base,
        &[
            file("lib/a.py", new),
            file("lib/a.png", "\u{202e}\0"),
            file("lib/b.GO", "\u{2069}"),
            file("lib/c.md", "a\n\u{202e}"),
            file("lib/d", "\u{202e}"),
        ],
    );
    assert_eq!(
        lines(&verdict),
        [
            "uninspectable lib/a.py:3:6 built-in: bidirectional controls",
            "uninspectable lib/b.GO:1:1 built-in: bidirectional controls",
            "uninspectable lib/c.md:2:1 built-in: bidirectional controls",
            "uninspectable lib/d:1:1 built-in: bidirectional controls",
        ]
    );
}

#[test]
fn a_removed_submodule_link_is_no_finding() {
    assert_eq!(check(&[item("lib/s", Kind::Submodule, "c1")], &[]).findings, []);
}

#[test]
fn source_that_is_no_text_is_uninspectable_everywhere() {
    let large = "x".repeat(10 * 1024 * 1024 + 1);
    let verdict = check(
        &[],
        &[
            file("docs/big.js", &large),
            file("docs/big.json", &large),
            file("docs/big.txt", &large),
            file("docs/evil.ts", "a\n\0b"),
            file("docs/latin.JAVA", b"\xe9"),
            file("docs/mark.rs", "\u{feff}fn main() {}"),
            file("docs/photo.png", b"\x89PNG\0"),
            file("docs/Makefile", b"\xff"),
        ],
    );
    assert_eq!(
        lines(&verdict),
        [
            "uninspectable docs/Makefile:1 built-in: unreadable source",
            "uninspectable docs/big.js built-in: unreadable source",
            "uninspectable docs/evil.ts:2 built-in: unreadable source",
            "uninspectable docs/latin.JAVA:1 built-in: unreadable source",
        ]
    );
}

#[test]
fn source_that_the_base_had_so_is_said_to_be_so() {
    let base = [file("lib/a.c", b"\xe9"), file("lib/b.c", "a\0")];
    let mut head = base.to_vec();
    assert_eq!(check(&base, &head).findings, []);
    head[0].1 = Kind::Executable;
    assert_eq!(check(&base, &head).findings, []);
    head[0].2 = b"\xe9\xe9".to_vec();
    head[1].2 = b"\xe9".to_vec();
    let messages: Vec<String> = check(&base, &head).findings.into_iter().map(|f| f.message).collect();
    assert_eq!(
        messages,
        [
            "source that is not UTF-8: what a reviewer reads is a guess (the base's version has the same defect)",
            "source that is not UTF-8: what a reviewer reads is a guess",
        ]
    );
    assert_eq!(check(&head, &[]).findings, []);
}

#[test]
fn a_file_whose_imports_cannot_be_read_is_reported_once() {
    assert_eq!(
        lines(&check(&[], &[file("payments/a.ts", "a\0b")])),
        ["uninspectable payments/a.ts:1 payments.forbidden_imports"]
    );
}

#[test]
fn a_link_in_the_place_of_gitmodules_is_refused_by_git() {
    for name in [
        ".gitmodules",
        ".GitModules",
        "GITMOD~1",
        ".gitmodules ",
        ".git\u{200c}modules",
    ] {
        let verdict = check(&[], &[item(name, Kind::Symlink, "lib/a"), file("lib/a", "a")]);
        let is_misleading = name.ends_with(' ');
        assert_eq!(lines(&verdict).len(), 1 + usize::from(is_misleading), "{name}");
        assert_eq!(verdict.exit(), Exit::Uninspectable, "{name}");
        let plain = check(&[], &[file(name, "a")]).findings.len();
        assert_eq!(plain, usize::from(is_misleading), "{name}");
    }
    let other = check(
        &[],
        &[item(".gitattributes2", Kind::Symlink, "lib/a"), file("lib/a", "a")],
    );
    assert_eq!(other.findings, []);
}

#[test]
fn a_link_that_the_base_had_and_that_a_new_link_leads_out() {
    let base = [item("x/l", Kind::Symlink, "b/../../lib"), file("lib/a", "a")];
    let mut head = base.to_vec();
    // By its own target it stays inside; with `b` a link, `b/..` is not `x` any more.
    head.push(item("x/b", Kind::Symlink, ".."));
    let verdict = check(&base, &head);
    assert_eq!(lines(&verdict), ["uninspectable x/l built-in: symlinks"]);
    assert!(verdict.findings[0].message.ends_with("since a link on its way changed"));
    assert_eq!(check(&head, &head).findings, []);
    let mut later = head.clone();
    later.push(item("y", Kind::Symlink, "lib"));
    assert_eq!(check(&head, &later).findings, [], "the base had it so");
}

#[test]
fn a_script_without_an_ending_is_source() {
    let binary = [file("bin/tool", "\u{7f}ELF\0"), file("bin/run", "#!/bin/sh\n\0")];
    assert_eq!(
        lines(&check(&[], &binary)),
        ["uninspectable bin/run:2 built-in: unreadable source"]
    );
}

#[test]
fn every_language_that_is_read_is_known_as_source() {
    let endings = "js jsx mjs cjs ts tsx mts cts vue svelte py pyi pyw rs go java kt kts c h cc cpp cxx hh hpp hxx ixx cs \
                   rb rake gemspec php phtml";
    for ending in endings.split_whitespace() {
        let verdict = check(&[], &[file(format!("lib/a.{ending}"), "a\0")]);
        assert_eq!(verdict.exit(), Exit::Uninspectable, "{ending}");
    }
}

//! What counts as an import of C and what does not.

use std::time::{Duration, Instant};

use proptest::prelude::*;

use super::super::tests::{hits, raws};
use super::super::{ImportKind, Language, imports, imports_at};

fn of(source: &str) -> Vec<String> {
    raws(Language::C, source)
}

fn why(source: &str) -> String {
    imports(Language::C, source.as_bytes()).expect_err(source).why
}

#[test]
fn fixtures_count_as_they_should() {
    for (source, hit) in [
        (include_str!("../../../../fixtures/imports/must-hit/a01.c"), true),
        (include_str!("../../../../fixtures/imports/must-hit/a03.c"), true),
        (include_str!("../../../../fixtures/imports/must-hit/a05.cpp"), true),
        (include_str!("../../../../fixtures/imports/must-hit/a07.cpp"), true),
        (include_str!("../../../../fixtures/imports/must-hit/a08.c"), true),
        (include_str!("../../../../fixtures/imports/must-not-hit/b01.c"), false),
    ] {
        assert_eq!(hits(Language::C, source, "hiredis"), hit, "{source}");
    }
}

#[test]
fn includes_are_found_however_they_are_written() {
    for source in [
        "#include <x/y.h>",
        "#include<x/y.h>",
        "  #  include  <x/y.h> // c",
        "\u{feff}#include <x/y.h>",
        "#\tinclude\t<x/y.h>\r\n",
        "/* a\n b */ #/**/include/**/<x/y.h>",
        "/* a\n b */#include <x/y.h>",
        "int a; // it's\n#include <x/y.h>",
        "#inc\\\nlude <x/y.h>",
        "#\\\r\ninclude <x/\\\r\ny.h>",
        "\\\n#include <x/y.h>",
        "#include \\\n <x/y.h>",
        "/\\\n* c *\\\n/ #include <x/y.h>",
        "%:include <x/y.h>",
        "%\\\n:include <x/y.h>",
        "??=include <x/y.h>",
        "#include_next <x/y.h>",
        "#import <x/y.h>",
        "#embed <x/y.h>",
        "#if 0\ndon't\n#include <x/y.h>\n#endif",
        "#error don't\n#include <x/y.h>",
        "#define A \"\n#include <x/y.h>",
        "char a = '\"';\n#include <x/y.h>",
        "char a = '\\'';\n#include <x/y.h>",
        "char *a = \"\\\"/*\";\n#include <x/y.h>",
        "char *a = \"a\\\n/*\";\n#include <x/y.h>",
        "int a = 1'000'000;\n#include <x/y.h>",
        "int a = 0x'a; // '\n#include <x/y.h>",
        "auto s = u8R\"(\" /* )\";\n#include <x/y.h>",
        "auto s = R\"a(\n)b\"\n)a\";\n#include <x/y.h>",
        "auto s = xR\"(\";\n#include <x/y.h>",
        "import <x/y.h>;",
        "export import <x/y.h>;",
        "module; import <x/y.h>;",
        "#if __has_include(<z>)\n#include <x/y.h>\n#endif",
        "const char *a = R\"(\" \n#include <x/y.h>\n\")\";",
        "// a \\ \n// b\n#include <x/y.h>",
        "\r\r\n// a\r\r\n#include <x/y.h>",
        "%comment in matlab's way\n#include <x/y.h>",
    ] {
        assert_eq!(of(source), ["<x/y.h>"], "{source:?}");
    }
    assert_eq!(of("#include \"x.h\"\n#include \"./y.h\"\n"), ["\"x.h\"", "\"./y.h\""]);
    assert_eq!(of("#include MACRO\n#include_next M(x)\n#import F\n"), ["?", "?", "?"]);
    assert_eq!(of("#include <a//b.h\n"), ["?"]);
    assert_eq!(of("#include <a//b.h> \t\r\n#include <c.h>"), ["<a//b.h>", "<c.h>"]);
}

#[test]
fn what_is_no_directive_does_not_count() {
    for source in [
        "// #include <x>",
        "// a \\\n#include <x>",
        "/* #include <x> */",
        "char *s = \"\\\n#include <x>\\n\";",
        "auto s = R\"(\n#include <x>\n)\";",
        "int a; #include <x>",
        "#define A \\\n#include <x>",
        "#if __has_include(<x>)\n#endif",
        "#includes <x>",
        "#pragma once",
        "#include // <x>",
        "import = 5;",
        "import(x);",
        "a = import < b;",
        "x.import <y>;",
        "@implementation import\n@end",
        "module a.b;\nexport module c;",
    ] {
        assert_eq!(of(source), [""; 0], "{source:?}");
    }
}

#[test]
fn what_is_a_raw_string_to_one_standard_of_c_alone_hides_no_include() {
    let source = "#if 0\nR\"(\n#endif\n#include <x/y.h>\n#if 0\n)\"\n#endif\n";
    let raws = |path: &str| -> Vec<String> {
        let found = imports_at(path.as_bytes(), Language::C, source.as_bytes()).expect("readable");
        found.into_iter().map(|import| import.raw).collect()
    };
    for path in ["a.c", "a.h", "a.m", "a.def", ""] {
        assert_eq!(raws(path), ["<x/y.h>"], "{path}");
    }
    for path in ["a.cpp", "a.hpp", "a.cu"] {
        assert_eq!(raws(path), [""; 0], "{path}");
    }
}

#[test]
fn modules_are_found() {
    assert_eq!(
        of("import a.b;\nexport import c;\nimport :part;"),
        ["a.b", "c", ":part"]
    );
    assert_eq!(of("module;\nimport\n a . b /* c */ [[x]];"), ["a.b"]);
    assert_eq!(
        of("@import redis.client;\n- (void)f { @import x; }"),
        ["redis.client", "x"]
    );
    assert_eq!(of("#pragma clang module import a.b /* c */\n"), ["a.b"]);
    assert_eq!(of("import \"x.h\";"), ["\"x.h\""]);
    assert!(hits(Language::C, "import redis.client;", "redis"));
    assert!(!hits(Language::C, "import :redis;", "redis"));
}

#[test]
fn entries_match_paths_without_their_ending() {
    let is = |include: &str| hits(Language::C, &format!("#include {include}\n"), "hiredis");
    for include in [
        "<hiredis.h>",
        "<hiredis/async.h>",
        "\"hiredis.h\"",
        "<hiredis\\x.h>",
        "\"hiredis\"",
        "\"/usr/include/hiredis/hiredis.h\"",
        "<../include/hiredis.h>",
    ] {
        assert!(is(include), "{include}");
    }
    for include in [
        "\"./hiredis.h\"",
        "\"../hiredis/x.h\"",
        "<x/hiredis.h>",
        "<hiredis-x.h>",
        "HIREDIS",
    ] {
        assert!(!is(include), "{include}");
    }
}

#[test]
fn the_place_is_that_of_the_name() {
    let found = imports(Language::C, b"\n  #include <x>\n").expect("readable");
    assert_eq!(
        (found[0].line, found[0].column, found[0].kind),
        (2, 12, ImportKind::Include)
    );
}

#[test]
fn where_compilers_differ_the_file_is_refused() {
    for (source, word) in [
        ("/* never", "comment"),
        ("/*/", "comment"),
        ("auto s = R\"x(never)\"", "raw string"),
        ("// what??/\n#include <x>", "trigraph"),
        ("char *s = \"??/\" /* \";\n#include <x>\n// */", "trigraph"),
        ("int a; ??/\n", "trigraph"),
        ("/* *??/\n/ */", "trigraph"),
        ("// a \\ \n#include <x>", "blanks"),
        ("// a\r/*\n#include <x>\n// */", "carriage return"),
        ("#if 0\n#include <a/*b>\n#endif", "header name"),
        ("#if __has_include(<a/*b>)\n#endif", "header name"),
    ] {
        assert!(why(source).contains(word), "{source:?}: {}", why(source));
    }
}

const SOUP: &[&str] = &[
    "#",
    "include",
    "include_next",
    "import",
    "export",
    "module",
    "<",
    ">",
    "\"",
    "'",
    "/",
    "*",
    "//",
    "/*",
    "*/",
    "\\",
    "\n",
    "\r\n",
    "\r",
    " ",
    "\\\n",
    "\\ \n",
    "R\"",
    "(",
    ")",
    "x",
    "1",
    "??/",
    "??=",
    "%:",
    "__has_include",
    "if",
    "@",
    ";",
    ":",
    ".",
    "{",
    "}",
    "pragma",
    "clang",
    "é",
    "\u{feff}",
    "\u{1}",
    "1'",
    "[[",
];

proptest! {
    #![proptest_config(ProptestConfig { cases: 2000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn arbitrary_text_never_panics(words in proptest::collection::vec(proptest::sample::select(SOUP), 0..60)) {
        let _ = imports(Language::C, words.concat().as_bytes());
    }

    #[test]
    fn arbitrary_bytes_never_panic(source in proptest::collection::vec(any::<u8>(), 0..200)) {
        let _ = super::scan(&source, super::RawStrings::Doubtful);
    }
}

#[test]
fn hostile_files_end_soon() {
    const SIZE: usize = if cfg!(debug_assertions) { 1 << 18 } else { 14 << 20 };
    for unit in [
        "import ",
        ";import <",
        ";import a.",
        "#include <",
        "#include \\\n",
        "#\\\n",
        "\\\n",
        "\\ ",
        "/*",
        "//\\\n",
        "\"",
        "'",
        "R\"x(",
        "#if __has_x(<",
        "export ",
        "\r",
        "1'",
        "??/ ",
        "/* */ #",
        "@import a.b",
        "import \"",
        "// \\ \n//",
        "{",
        "(",
        "#pragma clang module import a.",
        "*\\\n",
        "R\"(\" \n)\"",
    ] {
        let mut source = unit.repeat(SIZE / unit.len());
        for tail in ["", "\n", "*/", "\"", "\n#include <x>"] {
            source.push_str(tail);
            let began = Instant::now();
            let _ = imports(Language::C, source.as_bytes());
            assert!(
                began.elapsed() < Duration::from_secs(5),
                "{unit:?} took {:?}",
                began.elapsed()
            );
        }
    }
}

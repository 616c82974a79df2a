//! What counts as an import in Go and what does not.

use super::super::{ImportKind, Language, imports, matches};

fn raws(source: &str) -> Vec<String> {
    let found = imports(Language::Go, source.as_bytes()).unwrap_or_else(|fault| panic!("{source:?}: {fault:?}"));
    found
        .into_iter()
        .map(|import| match import.kind {
            ImportKind::Opaque => "?".to_owned(),
            _ => import.raw,
        })
        .collect()
}

fn hits(entry: &str, source: &str) -> bool {
    let found = imports(Language::Go, source.as_bytes()).unwrap_or_else(|fault| panic!("{source:?}: {fault:?}"));
    found.iter().any(|import| matches(entry, Language::Go, import))
}

#[test]
fn every_spec_of_every_declaration_is_an_import() {
    for (source, expected) in [
        ("package a; import \"b\"", &["b"][..]),
        ("package a\nimport \"b\"\nimport \"c\"\n", &["b", "c"]),
        (
            "package a\nimport (\n\t\"b\"\n\tx \"c/d\"\n\t_ \"e\"\n\t. \"f\"\n)\n",
            &["b", "c/d", "e", "f"],
        ),
        ("package a\nimport(\"b\";x \"c\";\"d\")", &["b", "c", "d"]),
        ("package a\nimport ()\nimport (\"b\")", &["b"]),
        (
            "package a\nimport /* x */ ( /* ) */ // )\n \"b\" /* \"c\" */ ; // \"d\"\n)",
            &["b"],
        ),
        ("package a\nimport /*x*/ r /*y*/ \"b\"", &["b"]),
        ("package a\nimport\n\"b\"", &["b"]),
        ("package a\r\nimport (\r\n\t\"b\"\r\n)\r\n", &["b"]),
        ("\u{feff}package a\nimport \"b\"", &["b"]),
        ("package a\nimport `b/c`", &["b/c"]),
        ("package a\nimport `b\r/c`", &["b/c"]),
        ("package a\nimport \"\\x72edi\\163\"", &["redis"]),
        ("package a\nimport \"\\u0072edis/\\U00000061\"", &["redis/a"]),
        ("package a\nimport \"\\xc3\\xa9\"", &["é"]),
        ("package a\nimport é \"b\"", &["b"]),
        ("package a\nfunc f() {}\nimport \"b\"", &["b"]),
        ("package a\nimport (\"b\" \"c\")", &["b", "c"]),
        ("package a\nimport (\"b\"", &["b"]),
        ("package a\nimport \"./b\"", &["./b"]),
        ("package a; var x = `\n`; import \"b\"", &["b"]),
        ("package a; var x = '\"'; import \"b\" //\"", &["b"]),
        ("package a; var x = '\\''; import \"b\"", &["b"]),
        ("package a; var x = \"\\\\\"; import \"b\"", &["b"]),
        ("package a; var x = '`'; import \"b\" // `", &["b"]),
        ("/* import \"x\" /* */ package a; import \"b\"", &["b"]),
    ] {
        assert_eq!(raws(source), expected, "{source}");
    }
}

#[test]
fn what_is_no_import_does_not_count() {
    for source in [
        "package a\n// import \"redis\"",
        "package a\n/*\nimport \"redis\"\n*/",
        "package a\nvar x = `\nimport \"redis\"\n`",
        "package a\nvar x = \"import \\\"redis\\\"\"",
        "package a\nvar x = `import ` + \"redis\"",
        "package a\nfunc f() { imports(\"redis\"); x.imported(\"redis\") }",
        "package a\ntype T struct { A int `import:\"redis\"` }",
        "package redis",
        "package a\nimport \"x\"\nvar _ = (\"redis\")",
        "package a\nimport \"x\"; func f(import_ string, s = \"redis\") {}",
        "//go:embed redis\npackage a",
        "//go:linkname redis\npackage a",
        "// go:linkname a redis.b\npackage a",
        "/*go:linkname a redis.b*/\npackage a",
        "//go:linknamed a redis.b\npackage a",
        "package a\nvar s = \"//go:linkname a redis.b\"",
        "package a\nvar s = `\n//go:linkname a redis.b\n`",
    ] {
        assert!(!hits("redis", source), "{source}: {:?}", raws(source));
    }
}

#[test]
fn what_is_found_has_its_identity_kind_and_place() {
    let source = "package a\n\nimport (\n\tr \"github.com/redis/go-redis/v9\"\n)\n\n//go:linkname x github.com/redis/go-redis/v9/internal.(*P).a/b\n";
    let found = imports(Language::Go, source.as_bytes()).expect("readable");
    let facts: Vec<_> = found
        .iter()
        .map(|i| (i.identity.join(" "), i.kind, i.line, i.column))
        .collect();
    assert_eq!(
        facts,
        [
            ("github.com redis go-redis v9".to_owned(), ImportKind::Static, 4, 4),
            (
                "github.com redis go-redis v9 internal".to_owned(),
                ImportKind::Reference,
                7,
                17
            ),
        ]
    );
    assert!(hits("redis", source) && hits("go-redis", source) && hits("github.com/redis/go-redis", source));
    assert!(!hits("edis", source) && !hits("redis/go-redis", source));
    assert_eq!(
        raws("package a\n//go:linkname a gopkg.in/redis%2ev5.b\n"),
        ["gopkg.in/redis.v5"]
    );
    assert_eq!(raws("package a\n//go:linkname  a\truntime.b \n"), ["runtime"]);
}

#[test]
fn what_cgo_includes_and_links_counts() {
    for source in [
        "package a\n// #include <hiredis/hiredis.h>\nimport \"C\"",
        "package a\n/*\n#include <hiredis/hiredis.h>\n*/\nimport \"C\"",
        "package a\n/*\n  #  include \"hiredis/async.h\"\n*/\nimport \"C\"",
        "package a\n/* #include <hiredis.h> */\nimport \"C\"",
        "package a\n//#include <hiredis.h>\nimport \"C\"",
        "package a\nimport (\n\t\"fmt\"\n\t// #include <hiredis.h>\n\t\"C\"\n)",
        "package a\nimport \"fmt\"\n\n/*\n#include <stdio.h>\n#include <hiredis.h> // x\n*/\nimport \"C\"\nfunc f() {}",
        "package a\n// int x = '\"';\n// char *s = \"/*\";\n// #/**/include/**/<hiredis.h>\nimport \"C\"",
        "package a\n/*\n#inc\\\nlude <hiredis.h>\n*/\nimport \"C\"",
        "package a\n/*\n\\\n#include \\\n<hiredis.h>\n*/\nimport \"C\"",
        "package a\n/*\n%:include <hiredis.h>\n*/\nimport \"C\"",
        "package a\n/*\n#import <hiredis.h>\n*/\nimport \"C\"",
        "package a\r\n/*\r\n#include <hiredis.h>\r\n*/\r\nimport \"C\"\r\n",
        "package a\n// #cgo LDFLAGS: -L/x -lhiredis\n// void* redisConnect(char*, int);\nimport \"C\"",
        "package a\n// #cgo linux pkg-config: --static hiredis\nimport \"C\"",
    ] {
        assert!(hits("hiredis", source), "{source}: {:?}", raws(source));
    }
    for source in [
        "package a\n// #include <hiredis.h>\nimport \"fmt\"",
        "// #include <hiredis.h>\npackage a\nimport \"C\"",
        "package a\nimport \"C\"\n// #include <hiredis.h>\n",
        "package a\n// // #include <hiredis.h>\nimport \"C\"",
        "package a\n// see #include <hiredis.h>\nimport \"C\"",
        "package a\n// /*\n// #include <hiredis.h>\n// */\nimport \"C\"",
        "package a\n/*\n#define A \"#include <hiredis.h>\"\n#included <hiredis.h>\n*/\nimport \"C\"",
        "package a\n// #include <libhiredis.h>\n// #cgo CFLAGS: -Ihiredis\nimport \"C\"",
    ] {
        assert!(!hits("hiredis", source), "{source}: {:?}", raws(source));
    }
    assert_eq!(
        raws("package a\n// #include <hiredis/x.h>\n// #include MACRO\nimport \"C\""),
        ["<hiredis/x.h>", "?", "C"]
    );
    let found = imports(Language::Go, b"package a\n// #include <x.h>\nimport \"C\"").expect("readable");
    assert_eq!(
        (found[0].kind, found[0].line, found[0].column),
        (ImportKind::Include, 2, 13)
    );
}

#[test]
fn what_never_ends_is_refused() {
    for source in [
        "package a; var x = \"",
        "package a; var x = \"\n\"",
        "package a; var x = \"\\\n\"",
        "package a; var x = `",
        "package a; var x = '",
        "package a; var x = 'a\n'",
        "package a /*",
        "package a /*/",
        "package a; import \"\\q\"",
        "package a; import \"\\xff\"",
    ] {
        assert!(imports(Language::Go, source.as_bytes()).is_err(), "{source:?}");
    }
}

#[test]
fn the_comment_of_an_only_import_in_brackets_is_its_preamble() {
    let alone = "package a\n// #include <redis.h>\nimport (\"C\")\n";
    assert!(hits("redis", alone));
    assert!(hits("redis", &alone.replace("(\"C\")", "(\n\t\"C\"\n)")));
    assert!(!hits("redis", &alone.replace("(\"C\")", "(\"C\"; \"fmt\")")));
}

//! Java, Kotlin and C#: whole files, arbitrary text, and files made to take long.

use std::time::{Duration, Instant};

use proptest::prelude::*;

use super::Language::{CSharp, Java, Kotlin};
use super::{Language, imports, language, matches};

const LANGUAGES: [Language; 3] = [Java, Kotlin, CSharp];

/// Whether the file of `fixtures/imports` imports any of these.
fn is_hit(path: &str, source: &str) -> bool {
    let language = language(path.as_bytes()).expect("a language");
    let found = imports(language, source.as_bytes()).unwrap_or_else(|fault| panic!("{path}: {fault:?}"));
    ["redis", "hiredis", "predis"]
        .iter()
        .any(|entry| found.iter().any(|import| matches(entry, language, import)))
}

macro_rules! fixtures {
    ($($path:literal),+ $(,)?) => {
        [$(($path, include_str!(concat!("../../../fixtures/imports/", $path)))),+]
    };
}

#[test]
fn files_that_must_count_do() {
    for (path, source) in fixtures![
        "must-hit/a01.java",
        "must-hit/a03.java",
        "must-hit/a02.kt",
        "must-hit/a02.cs",
        "must-hit/a04.cs",
        "must-hit/a06.cs",
    ] {
        assert!(is_hit(path, source), "{path}");
    }
}

#[test]
fn files_that_must_not_count_do_not() {
    for (path, source) in fixtures![
        "must-not-hit/b02.java",
        "must-not-hit/b02.kt",
        "must-not-hit/b01.cs",
        "must-not-hit/b03.cs",
    ] {
        assert!(!is_hit(path, source), "{path}");
    }
}

fn check(source: &str) {
    let same_lines = |mask: &[u8]| {
        let breaks = |bytes: &[u8]| bytes.iter().map(|b| matches!(b, b'\n' | b'\r')).collect::<Vec<_>>();
        assert_eq!(breaks(source.as_bytes()), breaks(mask), "{source:?}");
    };
    for mask in [
        super::java::mask::mask(source.as_bytes()),
        super::kotlin::mask::mask(source.as_bytes()),
    ]
    .into_iter()
    .flatten()
    {
        same_lines(&mask);
    }
    if let Ok(masked) = super::csharp::mask::mask(source.as_bytes()) {
        same_lines(&masked.mask);
    }
    for language in LANGUAGES {
        if let Ok(found) = imports(language, source.as_bytes()) {
            assert!(found.is_sorted_by_key(|i| (i.line, i.column)), "{source:?}");
        }
    }
}

const SOUP: &[&str] = &[
    "import",
    "using",
    "static",
    "module",
    "global",
    "::",
    ".",
    "..",
    "->",
    "-",
    ">",
    "<",
    "(",
    ")",
    "[",
    "]",
    "{",
    "}",
    "\"",
    "\"\"\"",
    "\"\"\"\"",
    "'",
    "`",
    "$",
    "$$",
    "@",
    "@\"",
    "$\"",
    "$@\"",
    "$$\"\"\"",
    "${",
    "{{",
    "}}",
    "\\",
    "\\{",
    "\\u",
    "\\u0022",
    "\\u005c",
    "\\uuu0041",
    "\\ud83d\\ude00",
    "\\ud83d",
    "\\U00000041",
    "//",
    "/*",
    "*/",
    "/",
    "*",
    "\n",
    "\r\n",
    "\r",
    " ",
    "#",
    "#if",
    "#if false",
    "#else",
    "#endif",
    "#r \"",
    "#:package ",
    "\u{2028}",
    "\u{85}",
    "\u{a0}",
    "\u{200d}",
    "\u{feff}",
    "\u{1}",
    "é",
    "A",
    "a",
    "a.b.C",
    "A.B.C",
    "new",
    "is",
    "class",
    "where",
    "typeof",
    "Class",
    "forName",
    "Type",
    "GetType",
    "Class.forName(",
    "Type.GetType(",
    "CreateInstance(",
    "DependsOn",
    "@file:",
    ":",
    ";",
    ",",
    "=",
    "=>",
    "?",
    "!",
    "+",
    "0",
    "as",
    "extern alias",
    "namespace",
    "package",
    "requires",
    "module a {",
];

proptest! {
    #![proptest_config(ProptestConfig { cases: 3000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn arbitrary_text_never_panics(source in "\\PC{0,100}") {
        check(&source);
    }

    #[test]
    fn arbitrary_tokens_never_panic(words in proptest::collection::vec(proptest::sample::select(SOUP), 0..60)) {
        check(&words.concat());
    }
}

/// Far more than linear time takes even in a debug build on a busy machine, far less than
/// quadratic time would.
const LIMIT: Duration = Duration::from_secs(20);

#[test]
fn hostile_files_end_soon() {
    const SIZE: usize = if cfg!(debug_assertions) { 1 << 20 } else { 14 << 20 };
    for unit in [
        "import ",
        "import a.",
        "import static ",
        "import module ",
        "using ",
        "using a=",
        "using a=(",
        "using static ",
        "a.",
        "a.b.C ",
        "A.B.C ",
        "A.B.C<",
        "A<",
        "a<A.B.C,",
        "(A.B.C",
        "(",
        "[",
        "{",
        "[A.B.C(",
        "[A(",
        "@a.",
        "a.@",
        "::",
        "A::",
        "\"",
        "'",
        "`",
        "`a",
        "\"\"\"",
        "\"\"\"\n",
        "@\"",
        "$\"{",
        "$\"{x:",
        "$$\"\"\"{{",
        "\"${",
        "\"\\{",
        "$",
        "$`",
        "\\u0022",
        "\\u005c",
        "\\",
        "/*",
        "/* ",
        "/**/",
        "//",
        "//\n",
        "*/",
        "#",
        "#if\n",
        "#if a\n'\n",
        "#if a\n'\n#endif\n",
        "#if false\n/*\n#if\n",
        "#if a\n/*\n#endif\n*/",
        "#if a\n\"\"\"\"\"\n",
        "#if false\n/*\n#endif\n",
        "#if a\n#endif\n",
        "#if a\n#else\n'\n#if b\n",
        "\n#r \"a\"",
        "\n#if a\n#r \"a\"\n'\n#endif",
        "\u{a0}",
        "\u{2028}",
        "\u{200d}",
        "\u{1}",
        "\u{e9}",
        "Class.forName(",
        "Class.forName(\"a\" + ",
        "Class.forName(a(",
        "Type.GetType(",
        "x.CreateInstance(\"a\",",
        "Class::",
        "module a.",
        "module ",
        "module a{requires ",
        "uses a,",
        "class A : ",
        "where T : A.B,",
        "class A(",
        "extern alias ",
        "namespace a.",
        "@file:DependsOn(\"a\",",
        "@file:DependsOn(",
        "A.B? a ",
        "A.B[",
        "delegate*<",
        "a ? A.B.C : ",
        "1.",
        "..",
        "->",
        "- ",
        "\n ",
        " ",
    ] {
        let mut source = unit.repeat(SIZE / unit.len() / 16);
        for tail in ["", "\"", "\n#endif */ '\nimport x.y;\nusing x.y;"] {
            source.push_str(tail);
            for language in LANGUAGES {
                let one = Instant::now();
                let _ = imports(language, source.as_bytes());
                assert!(
                    one.elapsed() < LIMIT,
                    "{unit:?} {tail:?} {language:?} took {:?}",
                    one.elapsed()
                );
            }
        }
    }
}

#[test]
fn deep_nesting_needs_no_stack() {
    const DEPTH: usize = 200_000;
    let nested = |open: &str, close: &str| format!("x = {}1{};\n", open.repeat(DEPTH), close.repeat(DEPTH));
    for (open, close) in [("(", ")"), ("[", "]"), ("{", "}"), ("A<", ">"), ("\"\\{", "}\"")] {
        let source = nested(open, close) + "import a.redis.B;";
        assert!(imports(Java, source.as_bytes()).expect("readable").len() == 1, "{open}");
    }
    for (open, close) in [("(", ")"), ("{", "}"), ("/*", "*/"), ("\"${", "}\"")] {
        let source = nested(open, close) + "import a.redis.B;";
        assert!(
            imports(Kotlin, source.as_bytes()).expect("readable").len() == 1,
            "{open}"
        );
    }
    for (open, close) in [
        ("(", ")"),
        ("[", "]"),
        ("{", "}"),
        ("A<", ">"),
        ("$\"{", "}\""),
        ("\n#if A\n", "\n#endif\n"),
        ("\n#if A\n'", "\n#endif\n"),
    ] {
        let source = nested(open, close) + "using A.Redis;";
        assert!(
            imports(CSharp, source.as_bytes()).expect("readable").len() == 1,
            "{open}"
        );
    }
}

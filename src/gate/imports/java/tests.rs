//! Java: what counts, what does not, and what cannot be read.

use super::super::Language::Java;
use super::super::tests::{hits, raws};
use super::super::{ImportKind, imports};

fn kinds(source: &str) -> Vec<(ImportKind, String)> {
    let found = imports(Java, source.as_bytes()).unwrap_or_else(|fault| panic!("{source:?}: {fault:?}"));
    found
        .into_iter()
        .map(|import| (import.kind, import.identity.join(".")))
        .collect()
}

#[test]
fn every_form_of_an_import_is_found() {
    for (source, raw) in [
        ("import redis.clients.jedis.Jedis;", "redis.clients.jedis.Jedis"),
        ("import redis.clients.jedis.*;", "redis.clients.jedis.*"),
        ("import static redis.clients.J.m;", "redis.clients.J.m"),
        ("import static redis.clients.J.*;", "redis.clients.J.*"),
        ("import module redis.clients;", "redis.clients"),
        ("import module.redis.J;", "module.redis.J"),
        (
            "import\n  redis . /* x; */ clients // y;\n .Jedis\n;",
            "redis.clients.Jedis",
        ),
        ("package a; import redis.J;", "redis.J"),
        ("\u{feff}import redis.J;", "redis.J"),
        ("package a;\r\nimport redis.J;\r\n", "redis.J"),
        ("// a\rimport redis.J;", "redis.J"),
        ("/**/import redis.J;", "redis.J"),
        ("/***/import redis.J;", "redis.J"),
        ("/*/**/import redis.J;", "redis.J"),
        ("import redis.J /* no semicolon */", "redis.J"),
        (r"\u0069mport redis.J;", "redis.J"),
        (r"\uuuu0069mport r\u0065dis\u002eJ\u003b", "redis.J"),
        (r"// a\u000aimport redis.J;", "redis.J"),
        (r"/* a \u002a\u002f import redis.J;", "redis.J"),
        (r"/\u002f a\u000dimport redis.J;", "redis.J"),
        ("import re\u{200d}dis.J;", "redis.J"),
        ("import re\u{1}dis.J;", "redis.J"),
        ("im\u{ad}port redis.J;", "redis.J"),
        (r"im\u200dport redis.J;", "redis.J"),
        ("#!/usr/bin/java --source 21\nimport redis.J;", "redis.J"),
        ("import größe.redis.J;", "größe.redis.J"),
    ] {
        assert_eq!(raws(Java, source), [raw], "{source}");
    }
}

#[test]
fn comments_and_strings_are_no_imports() {
    for source in [
        "// import redis.J;",
        "/* import redis.J; */",
        "/** * / import redis.J; */",
        "/*/ import redis.J; */",
        r#"class A { String s = "import redis.J;"; }"#,
        r#"class A { String s = "\"import redis.J;"; }"#,
        "class A { String s = \"\"\"\n import redis.J; \" \"\" \\\"\"\" redis.clients.jedis.Jedis\n\"\"\"; }",
        r#"class A { char a = '"', b = '\'', c = '\\'; String s = " import redis.J; "; }"#,
        r#"class A { char a = '\u0022'; String s = " import redis.J; "; }"#,
        r#"class A { String s = "\\u0022; import redis.J;"; }"#,
        r#"class A { String s = \u0022 import redis.J; \u0022; }"#,
        r#"class A { String s = "a\u005c" import redis.J; "; }"#,
        "package org.redis.Foo;",
        "/* *\u{200d}/ import redis.J; */",
    ] {
        assert_eq!(raws(Java, source), [""; 0], "{source}");
    }
}

#[test]
fn code_stands_after_strings_that_end_in_backslashes() {
    for source in [
        r#"class A { String s = "\\"; redis.clients.J j; }"#,
        r#"class A { String s = "\\\\"; redis.clients.J j; String t = ""; }"#,
        r#"class A { String s = "\u005c\u005c"; redis.clients.J j; }"#,
        r#"class A { char c = '\\'; redis.clients.J j; }"#,
        "class A { String s = \"\"\"\n  \\\\\"\"\"; redis.clients.J j; }",
        "class A { String s = \"\"; redis.clients.J j; }",
        r#"class A { String s = STR."a \{ f("}", new redis.clients.J()) } b"; }"#,
    ] {
        assert_eq!(raws(Java, source), ["redis.clients.J"], "{source}");
    }
}

#[test]
fn full_names_in_code_are_references() {
    for code in [
        "redis.clients.Jedis j;",
        "Object o = new redis.clients.Jedis(\"a\");",
        "Object o = redis.clients.Jedis.class;",
        "Object o = (redis.clients.Jedis) x;",
        "List<redis.clients.Jedis> j;",
        "@redis.clients.Jedis int x;",
        "Runnable r = redis.clients.Jedis::close;",
        "redis.clients.Jedis.Inner.connect();",
        "void f(redis.clients.Jedis... a) {}",
        "void f() throws redis.clients.Jedis {}",
        "redis.clients.Jedis[] j;",
        "boolean b = x instanceof redis.clients.Jedis j;",
        "Object o = a ? redis.clients.Jedis.X : b;",
        "Object o = -> redis.clients.Jedis.X;",
        "void f() { return redis.clients.Jedis.X; }",
        "redis\n.clients\n.Jedis j;",
    ] {
        let source = format!("class A {{ {code} }}");
        let expected = (ImportKind::Reference, "redis.clients.Jedis".to_owned());
        assert_eq!(kinds(&source), [expected], "{source}");
    }
    // The type stands behind its annotation.
    assert_eq!(
        raws(Java, "class A { redis.clients.@NonNull Jedis j; }"),
        ["redis.clients"]
    );
    assert_eq!(raws(Java, "class A { redis.clients.URI u; }"), ["redis.clients.URI"]);
    assert_eq!(
        raws(Java, "class A { int x = java.lang.MATH.f(); }"),
        ["java.lang.MATH"]
    );
}

#[test]
fn members_of_variables_are_no_references() {
    for code in [
        "redis.get(k);",
        "this.redis.cluster.Foo();",
        "super.redis.cluster.Foo();",
        "a().redis.cluster.Foo();",
        "a[0].redis.cluster.Foo();",
        "redis.Foo();",
        "int x = redis.config.URL + 1;",
        "f(config.redis.MAX_SIZE);",
        "config.redis.MODE.name();",
        "token.p11.C_Init(x);",
        "redis.cluster.nodes.get(0);",
        "double d = 1.0; float f = 1.e5F;",
        "int redistribution; Redis redis;",
        "Redis.clients.Foo();",
        "int[] a = {1, 2}; redis:\nfor (;;) break redis;",
    ] {
        let source = format!("class A {{ void f() {{ {code} }} }}");
        assert_eq!(raws(Java, &source), [""; 0], "{source}");
    }
}

#[test]
fn a_module_says_what_it_needs() {
    let source = "import a.B; @Deprecated open module my.redis {\n requires transitive static redis.clients.jedis;\n \
                  requires java.sql; exports my.redis.api to redis.tests; opens my.redis.impl;\n \
                  uses redis.spi.Pool; provides redis.spi.Pool with my.impl.PoolImpl, my.impl.Other; }";
    assert_eq!(
        raws(Java, source),
        [
            "a.B",
            "redis.clients.jedis",
            "java.sql",
            "redis.spi.Pool",
            "redis.spi.Pool",
            "my.impl.PoolImpl",
            "my.impl.Other"
        ]
    );
    assert_eq!(raws(Java, "class A { requires redis.clients; uses module; }"), [""; 0]);
}

#[test]
fn classes_are_loaded_by_name() {
    for (call, expected) in [
        (r#"Class.forName("redis.clients.J")"#, &["redis.clients.J"][..]),
        (r#"Class.forName("redis.clients.J", true, l)"#, &["redis.clients.J"]),
        (
            r#"java.lang.Class.forName("redis.clients.J")"#,
            &["java.lang.Class", "redis.clients.J"],
        ),
        (
            r#"Class . forName ( /* x */ "redis." + "clients.J" )"#,
            &["redis.clients.J"],
        ),
        (r#"Class.forName("\162edis.J")"#, &["redis.J"]),
        (r#"Class.forName("\u0072edis.J")"#, &["redis.J"]),
        (r#"Class.forName("\\u0072edis.J")"#, &[]),
        (r#"x.getLoader().loadClass("redis.J")"#, &["redis.J"]),
        (r#"loadClass("redis.J")"#, &["redis.J"]),
        (r#"Class.forName("redis." + x)"#, &["?", "redis."]),
        ("Class.forName(x)", &["?"]),
        (r#"Class.forName(x ? "redis.J" : y)"#, &["?", "redis.J"]),
        ("loader.loadClass(x)", &["?"]),
        ("f(Class::forName)", &["?"]),
        (r#"System.loadLibrary("hiredis")"#, &["hiredis"]),
        (r#"Charset.forName("redis")"#, &[]),
        (r#"forName("redis.J")"#, &[]),
        ("System.loadLibrary(x)", &[]),
        ("Class<?> loadClass(String name)", &[]),
    ] {
        let source = format!("class A {{ {{ {call}; }} }}");
        let mut found = raws(Java, &source);
        found.sort();
        assert_eq!(found, expected, "{source}");
    }
    let source = "import static java.lang.Class.forName; class A { Object o = forName(\"redis.J\"); }";
    assert!(hits(Java, source, "redis"));
    let source = "import static java.lang.Class.*; class A { Object o = forName(\"redis.J\"); }";
    assert!(hits(Java, source, "redis"));
    let array = r#"class A { Object o = Class.forName("[Lredis.clients.Jedis$Inner;"); }"#;
    assert_eq!(
        kinds(array),
        [(ImportKind::Dynamic, "redis.clients.Jedis.Inner".to_owned())]
    );
}

#[test]
fn what_javac_refuses_cannot_be_read() {
    for (source, line) in [
        ("\n/* a", 2),
        ("\n\nString s = \"a\n\";", 3),
        ("\"\"\"\n a", 1),
        ("char c = 'a\n';", 1),
        ("'", 1),
        ("\"", 1),
        ("\"\\", 1),
        ("\n\n\\u12 ", 3),
        ("\"\\{ f(", 1),
    ] {
        let fault = imports(Java, source.as_bytes()).expect_err(source);
        assert_eq!(fault.line, Some(line), "{source}: {fault:?}");
    }
}

#[test]
fn places_are_those_of_the_file() {
    let source = "// \\u00e9\\u0041\n/* \\u0041 */ import /**/ \\u0072edis.J;\nclass A { redis.clients.J j; }";
    let found = imports(Java, source.as_bytes()).expect("readable");
    let places: Vec<_> = found.iter().map(|i| (i.line, i.column)).collect();
    assert_eq!(places, [(2, 26), (3, 11)]);
}

#[test]
fn a_package_of_one_segment_counts_where_only_a_type_can_stand() {
    for code in [
        "Object o = new redis.Jedis();",
        "redis.Jedis x;",
        "private final redis.Jedis x = null;",
        "void m(int a, redis.Jedis x) {}",
        "void m(redis.Jedis... x) {}",
        "redis.Jedis[] x;",
        "redis.Pool<String> x;",
        "List<redis.Jedis> x;",
        "Map<String, redis.Jedis> x;",
        "Map<A, redis.Jedis, B> x;",
        "List<? extends redis.Jedis> x;",
        "class B extends redis.Jedis {}",
        "class B implements A, redis.Jedis {}",
        "void m() throws A, redis.Jedis {}",
        "@redis.Jedis void m() {}",
        "Object o = (redis.Jedis) x;",
        "f(a, (redis.Jedis) x);",
        "return (redis.Jedis) x;",
        "f(redis.Jedis::new);",
        "f(redis.Jedis.class);",
        "if (x instanceof redis.Jedis) {}",
        "try {} catch (redis.Jedis e) {}",
    ] {
        let source = format!("class A {{ {code} }}");
        assert!(hits(Java, &source, "redis"), "{source}");
    }
    for code in [
        "redis.get();",
        "int x = config.redis;",
        "x = redis.VALUE;",
        "x = redis.Foo;",
        "f(redis.Foo, x);",
        "f(a < redis.Foo, b);",
        "x = (redis.Foo) + y;",
        "if (redis.Foo) x = y;",
        "f(redis.Foo);",
        "new redis.VALUE();",
        "x = this.redis.Foo;",
        "boolean b = a ? redis.Foo : c;",
    ] {
        let source = format!("class A {{ {{ {code} }} }}");
        assert!(!hits(Java, &source, "redis"), "{source}");
    }
}

#[test]
fn a_file_in_a_library_s_package_needs_no_import() {
    let source = "package redis.clients.jedis; class A { Jedis x; }";
    assert!(hits(Java, source, "redis"));
    assert!(hits(Java, source, "redis.clients"));
    assert!(!hits(Java, "package com.acme.redis; class A {}", "redis"));
    assert!(!hits(Java, "package com.acme.redis; class A {}", "acme.redis"));
}

#[test]
fn scopes_of_hostile_files_end_soon() {
    let started = std::time::Instant::now();
    for source in [
        "{ a.b.C.d(); ".repeat(60_000),
        "( a.b.C.d(), ".repeat(60_000),
        "(x -> a.b.C.d(".repeat(60_000),
        "void f(X com) { com.a.B.c(); } ".repeat(50_000),
        format!("void f({}", "X a, ".repeat(100_000)),
        format!("f({}", "(T a, U b, V c".repeat(40_000)),
        "class A { int a; { a.b.C.d(); } ".repeat(30_000),
        "int a = x, ".repeat(100_000),
        "}".repeat(200_000) + &")".repeat(200_000),
    ] {
        let _ = imports(Java, source.as_bytes());
    }
    assert!(started.elapsed().as_secs() < 30, "{:?}", started.elapsed());
}

//! Kotlin: what counts, what does not, and what cannot be read.

use super::super::Language::Kotlin;
use super::super::tests::{hits, raws};
use super::super::{ImportKind, imports};

#[test]
fn every_form_of_an_import_is_found() {
    for (source, raw) in [
        ("import redis.clients.Jedis", "redis.clients.Jedis"),
        ("import redis.clients.Jedis;", "redis.clients.Jedis"),
        ("import redis.clients.*", "redis.clients.*"),
        ("import redis.clients.Jedis as R\nval x = 1", "redis.clients.Jedis"),
        ("package a; import redis.J", "redis.J"),
        ("package a\nimport redis.J", "redis.J"),
        ("package a.b;import redis.J", "redis.J"),
        ("import `redis`.`clients`.J", "redis.clients.J"),
        ("import redis./* x */clients\n.J", "redis.clients.J"),
        ("/* /* */ */ import redis.J", "redis.J"),
        ("/* /* x */\n*/import redis.J", "redis.J"),
        ("/*/**/*/import redis.J", "redis.J"),
        ("#!/usr/bin/env kotlin\nimport redis.J", "redis.J"),
        ("\u{feff}import redis.J\r\n", "redis.J"),
        ("@file:JvmName(\"A\") import redis.J", "redis.J"),
        ("@file:Suppress(\"A\")\r\nimport redis.J\r\n", "redis.J"),
        ("import redis.J // as x", "redis.J"),
        ("val x = 1\nimport redis.J", "redis.J"),
        ("import redis.connect", "redis.connect"),
        ("import redis", "redis"),
    ] {
        assert_eq!(raws(Kotlin, source), [raw], "{source}");
    }
    assert_eq!(
        raws(Kotlin, "import a.b; import redis.c\nimport d"),
        ["a.b", "redis.c", "d"]
    );
    // The new name is none of the path.
    assert_eq!(raws(Kotlin, "import a.b as redis"), ["a.b"]);
}

#[test]
fn comments_strings_and_names_are_no_imports() {
    let raw = "\"\"\"";
    for source in [
        "// import redis.J".to_owned(),
        "/* /* */\nimport redis.J\n*/".to_owned(),
        "val s = \"\\\"\nimport redis.J\"".replace('\n', " "),
        format!("val s = {raw}\nimport redis.J \" \"\" \\\n{raw}"),
        format!("val s = {raw}a{raw}\"\"; val t = {raw}\nimport redis.J{raw}"),
        format!("val s = $${raw}\n${{ \nimport redis.J \n}} $x {raw}"),
        "val c = '\"'; val s = \" import redis.J \"".to_owned(),
        "val c = '\\''; val s = \" import redis.J \"".to_owned(),
        "val s = \"$`a\"b` import redis.J \"".to_owned(),
        "val `import redis.J // \"` = 1".to_owned(),
        "val import = 3".to_owned(),
        "x.import redis".to_owned(),
        "import = redis.x".to_owned(),
        "import\nredis.x".to_owned(),
        "package org.redis.Foo".to_owned(),
        "fun f() { return@redis x }".to_owned(),
        "val s = \"$redis.clients.Jedis\"".to_owned(),
    ] {
        assert_eq!(raws(Kotlin, &source), [""; 0], "{source}");
    }
}

#[test]
fn code_in_strings_is_code() {
    let raw = "\"\"\"";
    for source in [
        "val s = \"a ${redis.clients.Jedis()} b\"".to_owned(),
        "val s = \"${ \"}\" + redis.clients.Jedis(\"${ '}' }\") }\"".to_owned(),
        "val s = \"${ { redis.clients.Jedis() }() }\"".to_owned(),
        format!("val s = {raw} \" ${{redis.clients.Jedis()}} \\{raw}"),
        format!("val s = {raw}{raw}; val j = redis.clients.Jedis()"),
        format!("val s = {raw}\"a\"{raw}\"; val j = redis.clients.Jedis()"),
        format!("val s = $${raw}$$$${{redis.clients.Jedis()}}{raw}"),
        "val s = $$\"${\" + $$\"$${redis.clients.Jedis()}\"".to_owned(),
        "val s = \"\\\\\"; val j = redis.clients.Jedis()".to_owned(),
        "val s = \"$\"; val j = redis.clients.Jedis()".to_owned(),
        "val s = \"$`\"; val j = redis.clients.Jedis()".to_owned(),
        "val `a\"b` = redis.clients.Jedis()".to_owned(),
    ] {
        assert_eq!(raws(Kotlin, &source), ["redis.clients.Jedis"], "{source}");
    }
}

#[test]
fn full_names_in_code_are_references() {
    for source in [
        "val j: redis.clients.Jedis? = null",
        "val j = redis.clients.Jedis()",
        "val j = redis.clients.Jedis::class",
        "val j = `redis`.clients.`Jedis`()",
        "fun f(x: List<redis.clients.Jedis>) = 1",
        "class A : redis.clients.Jedis()",
        "@redis.clients.Jedis class A",
        "@field:redis.clients.Jedis val x = 1",
        "val r = 0..redis.clients.Jedis.MAX",
        "x as redis.clients.Jedis",
        "val f = { redis.clients.Jedis.x }",
        "return@x redis.clients.Jedis.x",
        "typealias R = redis.clients.Jedis",
    ] {
        assert_eq!(raws(Kotlin, source), ["redis.clients.Jedis"], "{source}");
    }
    for source in [
        "redis.get(k)",
        "this.redis.cluster.Foo()",
        "it.redis.cluster.Foo()",
        "this@A.redis.cluster.Foo()",
        "a?.redis.cluster.Foo()",
        "a!!.redis.cluster.Foo()",
        "config.redis.URL.length",
        "redis.Foo()",
        "val redis = Redis()",
    ] {
        assert!(!hits(Kotlin, source, "redis"), "{source}: {:?}", raws(Kotlin, source));
    }
}

#[test]
fn scripts_name_artifacts_and_scripts() {
    let source = "@file:Repository(\"https://redis.example/\")\n\
                  @file:DependsOn(\"redis.clients:jedis:5.0\", \"libs/hiredis.jar\")\n\
                  @file:[DependsOn(\"a:b:1\") Other]\n@file:Import(\"x/redis.main.kts\")\n";
    let found = imports(Kotlin, source.as_bytes()).expect("readable");
    let found: Vec<_> = found.iter().map(|i| (i.kind, i.identity.join("."))).collect();
    assert_eq!(
        found,
        [
            (ImportKind::Static, "redis.clients.jedis".to_owned()),
            (ImportKind::Static, "libs.hiredis".to_owned()),
            (ImportKind::Static, "a.b".to_owned()),
            (ImportKind::Include, String::new()),
        ]
    );
    assert_eq!(raws(Kotlin, "@Import(\"redis\") class A"), [""; 0]);
    assert_eq!(
        raws(
            Kotlin,
            "@kotlin.script.experimental.dependencies.DependsOn(\"redis:x:1\")\nval x = 1"
        )
        .last()
        .map(String::as_str),
        Some("redis:x:1")
    );
}

#[test]
fn classes_are_loaded_by_name() {
    for (call, expected) in [
        ("Class.forName(\"redis.J\")", &["redis.J"][..]),
        ("Class.forName(className = \"redis.J\")", &["redis.J"]),
        ("Class.forName(\"\"\"redis.J\"\"\")", &["redis.J"]),
        ("Class.forName(\"redis.$x\")", &["?", "redis."]),
        ("Class.forName(\"redis.${x}\")", &["?", "redis."]),
        ("Class.forName(\"re\\u0064is.J\")", &["redis.J"]),
        ("Class.forName(\"a\\$b\")", &["a$b"]),
        ("name.let(Class::forName)", &["?"]),
        ("loader?.loadClass(x)", &["?"]),
        ("fun loadClass(x: String) = 1", &[]),
    ] {
        let mut found = raws(Kotlin, call);
        found.sort();
        assert_eq!(found, expected, "{call}");
    }
}

#[test]
fn what_the_compiler_refuses_cannot_be_read() {
    for (source, line) in [
        ("\n/* /* */", 2),
        ("val s = \"a\n\"", 1),
        ("\n\"\"\" \"\"", 2),
        ("val c = 'a\n'", 1),
        ("\"${ f(", 1),
        ("\"\\", 1),
    ] {
        let fault = imports(Kotlin, source.as_bytes()).expect_err(source);
        assert_eq!(fault.line, Some(line), "{source}: {fault:?}");
    }
}

#[test]
fn a_package_of_one_segment_counts_where_only_a_type_can_stand() {
    for code in [
        "val x: redis.Jedis",
        "fun m(a: Int, x: redis.Jedis) {}",
        "class B : redis.Jedis()",
        "@redis.Jedis fun m() {}",
        "val x = y as redis.Jedis",
        "val x = y as? redis.Jedis",
        "val x = y is redis.Jedis",
        "val x: List<redis.Jedis>",
        "val x: Map<String, redis.Jedis>",
        "val x = redis.Jedis::class",
        "val x = f(redis.Jedis::get)",
        "typealias J = redis.Jedis",
        "fun redis.Jedis.m() {}",
    ] {
        assert!(hits(Kotlin, code, "redis"), "{code}");
    }
    for code in [
        "redis.get()",
        "val x = redis.Foo",
        "val x = redis.VALUE",
        "val x = redis.Foo to y",
        "f(a < redis.Foo, b)",
        "f(redis.Foo)",
    ] {
        assert!(!hits(Kotlin, code, "redis"), "{code}");
    }
}

#[test]
fn a_file_in_a_library_s_package_needs_no_import() {
    assert!(hits(Kotlin, "package redis.clients.jedis\nval x = Jedis()", "redis"));
    assert!(!hits(Kotlin, "package com.acme.redis\nval x = 1", "redis"));
}

#[test]
fn functions_and_properties_count_by_their_full_path() {
    for source in [
        "fun f() { com.acme.db.store() }",
        "val x = com.acme.db.default",
        "val x: Int get() = com.acme.db.default.size",
        "fun f() = \"${com.acme.db.store()}\"",
        "fun f() { com.acme.db.STORE.x() }",
        // Another function's variable hides nothing.
        "fun g() { val com = 1 }\nfun f() { com.acme.db.store() }",
        "fun g(com: Int) = 1\nfun f() = com.acme.db.store()",
        "fun f() { fun g(com: Int) = 1\n com.acme.db.store() }",
        "fun f() { com.acme.db.store(); val com = 1 }",
        "class A(com: Int) { val x = com }\nfun f() = com.acme.db.store()",
        "class A { val com = 1 }\nclass B { fun f() = com.acme.db.store() }",
        "fun f() { xs.map { com -> com }; com.acme.db.store() }",
        "fun f() { when (x) { 1 -> com.acme.db.store() } }",
        "fun f() { g(com = com.acme.db.store()) }",
        "`com`.acme.db.store()",
    ] {
        assert!(hits(Kotlin, source, "com.acme.db"), "{source}");
    }
    // A package that does not begin as domains do.
    assert!(hits(Kotlin, "fun f() = acme.db.store()", "acme.db"));
}

#[test]
fn members_of_variables_are_no_packages() {
    for source in [
        "fun f() { val com = x; com.acme.db.store() }",
        "fun f(com: X) { com.acme.db.store() }",
        "fun f(com: X) = com.acme.db.store()",
        "fun f(com: X) = g(com.acme.db.store())",
        "fun f(com: X): Y =\n  com.acme.db.store()",
        "fun f(a: A, vararg com: X) { if (a) { com.acme.db.store() } }",
        "class A(private val com: X) { fun f() { com.acme.db.store() } }",
        "class A { fun f() { com.acme.db.store() }\n private val com = X() }",
        "fun f() = com.acme.db.store()\nval com = X()",
        "fun f() { xs.map { com -> com.acme.db.store() } }",
        "fun f() { xs.map { (a, com) -> com.acme.db.store() } }",
        "fun f() { xs.map { a, com: X<Y> -> com.acme.db.store() } }",
        "fun f() { val (a, com) = x; com.acme.db.store() }",
        "fun f() { for (com in xs) { com.acme.db.store() } }",
        "fun f() { try { } catch (com: E) { com.acme.db.store() } }",
        "fun f() { val `com` = x; com.acme.db.store() }",
        "object A { val com by lazy { X() }\n fun f() = com.acme.db.store() }",
        "fun f() { this.com.acme.db.store(); x.com.acme.db.store(); it.com.acme.db.store() }",
        "val s = \"$com.acme.db.store\"",
    ] {
        assert!(!hits(Kotlin, source, "com.acme.db"), "{source}");
    }
    for source in [
        "fun f() { config.redis.host.trim() }",
        "fun f() { redis.client.get() }",
        "fun f() { app.redis.client.get() }",
        "fun f(com: X) { com.redis.client.get() }",
    ] {
        assert!(!hits(Kotlin, source, "redis"), "{source}");
    }
}

#[test]
fn scopes_of_hostile_files_end_soon() {
    let started = std::time::Instant::now();
    for source in [
        "{ a.b.c ".repeat(60_000),
        "{ a, b, c, d ".repeat(40_000),
        "fun f(com: X) { com.a.b } ".repeat(50_000),
        format!("fun f({}", "a: X = { b.c.d } ,".repeat(40_000)),
        "val (a, ".repeat(60_000),
        "val a; a.b.c; ".repeat(40_000),
    ] {
        let _ = imports(Kotlin, source.as_bytes());
    }
    assert!(started.elapsed().as_secs() < 30, "{:?}", started.elapsed());
}

//! C#: what counts, what does not, and what cannot be read.

use super::super::Language::CSharp;
use super::super::tests::{hits, raws};
use super::super::{ImportKind, imports, matches};

/// The identities of one kind.
fn of(kind: ImportKind, source: &str) -> Vec<String> {
    let found = imports(CSharp, source.as_bytes()).unwrap_or_else(|fault| panic!("{source:?}: {fault:?}"));
    found
        .into_iter()
        .filter(|import| import.kind == kind)
        .map(|import| import.identity.join("."))
        .collect()
}

#[test]
fn every_form_of_a_using_is_found() {
    for (source, identity) in [
        ("using StackExchange.Redis;", "StackExchange.Redis"),
        ("using Redis;", "Redis"),
        ("global using StackExchange.Redis;", "StackExchange.Redis"),
        ("using static StackExchange.Redis.X;", "StackExchange.Redis.X"),
        ("global using static global::Redis.X;", "Redis.X"),
        ("using R = StackExchange.Redis.X;", "StackExchange.Redis.X"),
        ("using R = global::StackExchange.Redis.X;", "StackExchange.Redis.X"),
        ("using unsafe R = StackExchange.Redis.X*;", "StackExchange.Redis.X"),
        ("using R = StackExchange.Redis.X[];", "StackExchange.Redis.X"),
        ("using R = StackExchange.Redis.X?;", "StackExchange.Redis.X"),
        ("namespace A { using StackExchange.Redis; }", "StackExchange.Redis"),
        ("namespace A.Redis; using B;", "B"),
        ("using\nStackExchange /* ; */ . // x\nRedis\n;", "StackExchange.Redis"),
        ("\u{feff}using StackExchange.Redis;\r\n", "StackExchange.Redis"),
        ("\u{feff}\u{feff}using StackExchange.Redis;\r\n", "StackExchange.Redis"),
        ("\u{feff}\u{feff}#if X\nusing Redis;\n#endif", "Redis"),
        ("\u{1a}using Redis;\u{1a}", "Redis"),
        ("// a\u{2028}using Redis;", "Redis"),
        ("// a\u{85}using Redis;", "Redis"),
        ("// a\rusing Redis;", "Redis"),
        ("using\u{a0}Redis\u{3000};", "Redis"),
        ("using @Redis;", "Redis"),
        ("using St\\u0061ckExchange.R\\U00000065dis;", "StackExchange.Redis"),
        ("using Re\u{200d}dis;", "Redis"),
        ("\\u0075sing Redis;", "Redis"),
        ("extern alias Redis;", "Redis"),
        ("#if X\nusing Redis;\n#endif", "Redis"),
        ("#if false\nusing Redis;\n#endif", "Redis"),
        ("#region it's \" /* @\"\nusing Redis;\n#endregion '", "Redis"),
        ("#pragma warning disable 'x \"\n#error don't\nusing Redis;", "Redis"),
        ("#!/usr/bin/env dotnet \"\nusing Redis;", "Redis"),
        ("  # nullable enable \"\nusing Redis;", "Redis"),
    ] {
        assert_eq!(of(ImportKind::Static, source), [identity], "{source}");
    }
    for (source, named) in [
        ("using R = (int, StackExchange.Redis.X);", "StackExchange.Redis.X"),
        (
            "using R = (int a, StackExchange.Redis.X redis);",
            "StackExchange.Redis.X",
        ),
        (
            "using R = (StackExchange.Redis.X? a, int[] redis);",
            "StackExchange.Redis.X",
        ),
        (
            "using R = List<StackExchange.Redis.X>; using StackExchange = Acme.X;",
            "StackExchange.Redis.X",
        ),
        (
            "using StackExchange = Acme.X; using R = List<StackExchange.Redis.X>;",
            "StackExchange.Redis.X",
        ),
        (
            "using unsafe P = delegate* unmanaged<StackExchange.Redis.X, void>;",
            "StackExchange.Redis.X",
        ),
        // A name by itself is a type, for which there is another `using`.
        ("using D = System.D<string, (A.B a, Foo<Bar>[])>.E;", "A.B"),
    ] {
        assert_eq!(of(ImportKind::Reference, source), [named], "{source}");
    }
    let generic = "using D = System.D<string, (Redis a, Foo<Bar>[])>.E;";
    assert_eq!(of(ImportKind::Static, generic), ["System.D"]);
    let generic = "using static A.B<StackExchange.Redis.X>;";
    assert_eq!(of(ImportKind::Static, generic), ["A.B"]);
    assert_eq!(of(ImportKind::Reference, generic), ["StackExchange.Redis.X"]);
    assert_eq!(
        of(ImportKind::Static, "using A; using B;using C;\nclass D {}"),
        ["A", "B", "C"]
    );
}

#[test]
fn other_uses_of_the_word_are_none() {
    for source in [
        "void F() { using (var redis = X()) {} using var redis2 = Y(); }",
        "void F() { await using var redis = Y(); }",
        "void F() { using Redis r = Y(); }",
        "void F() { using (redis) { } using (Redis.Open()) ; }",
        "var @using = 1; @using.redis.X();",
        "namespace A.Redis { } namespace B.Redis;",
        "// using Redis;",
        "/* using Redis; */",
    ] {
        assert_eq!(of(ImportKind::Static, source), [""; 0], "{source}");
        assert!(!hits(CSharp, source, "redis"), "{source}");
    }
    let declaration = "void F() { using StackExchange.Redis.X r = Y(); }";
    assert_eq!(of(ImportKind::Reference, declaration), ["StackExchange.Redis.X"]);
}

#[test]
fn strings_are_no_code() {
    for literal in [
        r#""using Redis; \" using Redis; \\""#,
        "@\"\nusing Redis; \"\" using Redis; \\\"",
        "$\"using Redis; {{ new A.Redis.B() }} \\\" {1:new A.Redis.B()}\"",
        "$@\"\nusing Redis; \"\" {{ new A.Redis.B() \\\"",
        "@$\"\nusing Redis; \"\" {1:x\"\"y} \\\"",
        "\"\"\"using Redis; \" \"\" \\\"\"\"",
        "\"\"\"\n using Redis;\n \" \"\" {new A.Redis.B()}\n \"\"\"",
        "\"\"\"\"\n using Redis; \"\"\" using Redis;\n \"\"\"\"",
        "$$\"\"\"\n {new A.Redis.B()} {{{1}}} using Redis;\n \"\"\"",
        "\"using Redis;\"u8",
        "'\\''",
        "'\"'",
        "'\\\\'",
        "$\"{'}'} {\"}\"} {@\"}\"\"\"} using Redis;\"",
    ] {
        let source = format!("var s = {literal}; new A.B(); // {literal}").replace("// @\"\n", "// ");
        let source = source
            .split("; new A.B();")
            .next()
            .map(|head| format!("{head}; new A.B();"))
            .unwrap_or_default();
        assert_eq!(raws(CSharp, &source), ["A.B"], "{source}");
    }
}

#[test]
fn code_in_strings_is_code() {
    for literal in [
        "$\"a {new A.B()} b\"",
        "$\"{{{new A.B()}}}\"",
        "$\"{(x ? new A.B() : y)} {1,10:x} {{\"",
        "$\"{new A.B():N0}\"",
        "$\"{new A.B(\"}\"):N0}}}\"",
        "$@\"\n {new A.B(@\"\"\"}\")} \"\"\"",
        "$\"{$\"{$\"{new A.B()}\"}\"}\"",
        "$\"{x switch { 1 => new A.B(), _ => y }}\"",
        "$\"\"\"a \" {new A.B()} \"\"\"",
        "$$\"\"\"\n {{new A.B(\"\"\" } \"\"\")}} {x}\n \"\"\"",
        "$$\"\"\"\n {{{new A.B()}}}\n \"\"\"",
        "$\"{/* } */ new A.B()}\"",
        "$\"{\n new A.B() // }\n }\"",
    ] {
        let source = format!("var s = {literal} + \"new C.D()\";");
        assert_eq!(raws(CSharp, &source), ["A.B"], "{source}");
    }
}

#[test]
fn full_names_in_the_place_of_a_type_are_references() {
    for code in [
        "StackExchange.Redis.X d;",
        "StackExchange.Redis.X? d;",
        "StackExchange.Redis.X? D { get; }",
        "StackExchange.Redis.X? F(int x) { }",
        "StackExchange.Redis.X[] d;",
        "StackExchange.Redis.X[]? d;",
        "StackExchange.Redis.X* d;",
        "StackExchange.Redis.X<int> d;",
        "StackExchange.Redis.X<int>? d;",
        "StackExchange.Redis.X<int>[] d;",
        "StackExchange.Redis.X @new;",
        "private readonly StackExchange.Redis.X d;",
        "public static StackExchange.Redis.X F() => 1;",
        "public StackExchange.Redis.X this[int i] => 1;",
        "public static implicit operator StackExchange.Redis.X(A a) => 1;",
        "void F(StackExchange.Redis.X d) {}",
        "void F(int a, StackExchange.Redis.X? d) {}",
        "void F(int a, [In] StackExchange.Redis.X? d = null) {}",
        "void F(params StackExchange.Redis.X[] d) {}",
        "void F(ref StackExchange.Redis.X d) {}",
        "void StackExchange.Redis.X.F() {}",
        "void F() { foreach (StackExchange.Redis.X x in y) ; }",
        "void F() { try { } catch (StackExchange.Redis.X) { } }",
        "void F() { try { } catch (StackExchange.Redis.X e) when (a) { } }",
        "void F() { f(out StackExchange.Redis.X x); }",
        "void F() { var f = (StackExchange.Redis.X x) => x; }",
        "object o = new StackExchange.Redis.X();",
        "object o = new StackExchange.Redis.X { A = 1 };",
        "object o = new StackExchange.Redis.X[3];",
        "object o = new StackExchange.Redis.X<int>();",
        "object o = typeof(StackExchange.Redis.X);",
        "object o = default(StackExchange.Redis.X);",
        "object o = typeof(StackExchange.Redis.X<>);",
        "object o = x as StackExchange.Redis.X;",
        "bool b = x is StackExchange.Redis.X;",
        "bool b = x is not StackExchange.Redis.X;",
        "bool b = x is StackExchange.Redis.X y && z;",
        "object o = (StackExchange.Redis.X)x;",
        "object o = (StackExchange.Redis.X)(x);",
        "object o = (StackExchange.Redis.X)\"x\";",
        "object o = (StackExchange.Redis.X)this;",
        "object o = (StackExchange.Redis.X[])x;",
        "object F() { return (StackExchange.Redis.X)x; }",
        "List<StackExchange.Redis.X> d;",
        "Dictionary<string, StackExchange.Redis.X> d;",
        "Dictionary<string, List<StackExchange.Redis.X>> d;",
        "Dictionary<string, (int, StackExchange.Redis.X)> d;",
        "object o = f.Get<StackExchange.Redis.X>();",
        "object o = f.Get<StackExchange.Redis.X>;",
        "(int, StackExchange.Redis.X) F() => 1;",
        "public (StackExchange.Redis.X, int) F() => 1;",
        "(StackExchange.Redis.X a, int b) F() => 1;",
        "delegate StackExchange.Redis.X D();",
        "event StackExchange.Redis.X E;",
        "delegate*<StackExchange.Redis.X, void> p;",
        "[StackExchange.Redis.X] int x;",
        "[StackExchange.Redis.X(1, \"a\")] int x;",
        "[A, StackExchange.Redis.X] int x;",
        "[A][StackExchange.Redis.X][B] int x;",
        "[return: StackExchange.Redis.X] int F() => 1;",
        "void F([StackExchange.Redis.X] int x) {}",
        "class B : StackExchange.Redis.X { }",
        "class B<T> : C, StackExchange.Redis.X { }",
        "record B(int A) : StackExchange.Redis.X(A);",
        "class B(int a) : D<int>(a), StackExchange.Redis.X { }",
        "class B<T> where T : StackExchange.Redis.X { }",
        "class B<T> where T : class, StackExchange.Redis.X { }",
        "void F<T>() where T : StackExchange.Redis.X { }",
        "object o = StackExchange.Redis.X<int>.Y();",
        "object o = global::StackExchange.Redis.X;",
        "object o = a ? global::StackExchange.Redis.X : b;",
        "void F() { switch (x) { case StackExchange.Redis.X y: break; } }",
    ] {
        let source = format!("class A {{ {code} }}");
        let found = of(ImportKind::Reference, &source);
        assert!(
            found.iter().any(|name| name.starts_with("StackExchange.Redis.X")),
            "{source}: {found:?}"
        );
        assert_eq!(found.len(), 1, "{source}: {found:?}");
        assert!(hits(CSharp, &source, "redis"), "{source}");
        assert!(hits(CSharp, &source, "StackExchange.Redis"), "{source}");
    }
    assert_eq!(
        of(ImportKind::Reference, "[assembly: StackExchange.Redis.X(1)]"),
        ["StackExchange.Redis.X"]
    );
    assert_eq!(
        of(ImportKind::Reference, "[StackExchange.Redis.X]\nclass A {}"),
        ["StackExchange.Redis.X"]
    );
}

#[test]
fn properties_are_not_the_bare_word() {
    for code in [
        "var u = options.Redis.Url;",
        "var u = Config.Redis.Url;",
        "var u = Config.Redis.Url.Get();",
        "var u = this.Config.Redis.Url;",
        "Config.Redis.Url = x;",
        "Config.Redis.Urls[0] = x;",
        "Config.Redis.Get<int>(x);",
        "f(Config.Redis.Url);",
        "f(a, Config.Redis.Url, b);",
        "if (Config.Redis.Enabled) G();",
        "while (Config.Redis.Enabled) G();",
        "switch (Config.Redis.Mode) { }",
        "lock (Config.Redis.Gate) G();",
        "var x = (Config.Redis.A) + b;",
        "var x = (Config.Redis.A) - b;",
        "var x = (Config.Redis.A) != b;",
        "var x = (Config.Redis.A) is int;",
        "var x = (a, Config.Redis.A);",
        "var x = Config.Redis.A ? b : c;",
        "var x = f(Config.Redis.A ? b : c, d);",
        "var x = Config.Redis.A * b;",
        "var x = a < Config.Redis.A && b > c;",
        "for (int i = 0; i < Config.Redis.Count; i++) ;",
        "f(a < Config.Redis.A, b);",
        "var x = a[Config.Redis.Index];",
        "var x = a[0][Config.Redis.Index];",
        "int[] x = [Config.Redis.A, Config.Redis.B];",
        "var d = new D { [Config.Redis.Key] = 1 };",
        "var d = new D { [Config.Redis.Key(1)] = 1 };",
        "var q = from x in Config.Redis.Items where x.A select x;",
        "var q = from x in y where Config.Redis.A select Config.Redis.B into z select z;",
        "var q = from x in y join z in Config.Redis.Z on x.A equals Config.Redis.B;",
        "var x = Config.Redis.A switch { _ => 1 };",
        "return Config.Redis.A;",
        "await Config.Redis.Open();",
        "throw Config.Redis.Error;",
        "f(ref Config.Redis.A);",
        "var x = nameof(Config.Redis.Url);",
        "var x = y ?? Config.Redis.Url;",
        "var x = a?.Config.Redis.Url;",
        "var x = a!.Config.Redis.Url;",
        "var x = p->Config.Redis.Url;",
        "var x = a[..Config.Redis.N];",
        "var s = $\"{Config.Redis.Url}\";",
        "F(url: Config.Redis.Url);",
        "var redis = Connect(); redis.Db.Get();",
        "case Config.Redis.Mode: break;",
        "Redis.Cache.Get();",
        "x = 1.0.Redis.Y;",
    ] {
        let source = format!("class A {{ void F() {{ {code} }} }}");
        assert!(!hits(CSharp, &source, "redis"), "{source}: {:?}", raws(CSharp, &source));
    }
}

#[test]
fn a_full_name_in_an_expression_is_named_by_its_beginning() {
    for code in [
        "StackExchange.Redis.X.Connect(1);",
        "var x = f(StackExchange.Redis.X.Y);",
        "if (StackExchange.Redis.X.Y) G();",
        "var x = nameof(StackExchange.Redis.X);",
        "var x = (StackExchange.Redis.X.Y) + 1;",
        "var x = a < StackExchange.Redis.X.Y;",
        "var x = (int)StackExchange.Redis.X.Y;",
        "var x = StackExchange.Redis.X.Get<int>();",
    ] {
        let source = format!("class A {{ void F() {{ {code} }} }}");
        assert!(hits(CSharp, &source, "StackExchange.Redis"), "{source}");
        assert!(hits(CSharp, &source, "StackExchange"), "{source}");
    }
    // What this file declares is no namespace.
    for source in [
        "class A { StackExchange StackExchange { get; } void F() { StackExchange.Redis.Get(); } }",
        "class StackExchange { void F() { StackExchange.Redis.Get(); } }",
    ] {
        assert!(!hits(CSharp, source, "StackExchange.Redis"), "{source}");
    }
}

#[test]
fn aliases_stand_for_what_they_name() {
    let source =
        "using SE = StackExchange; class A { SE.Redis.X d; object o = SE::Redis.Y.Z; void F() { SE.Redis.X.Go(); } }";
    assert_eq!(
        of(ImportKind::Reference, source),
        ["StackExchange.Redis.X", "StackExchange.Redis.Y.Z"]
    );
    assert_eq!(of(ImportKind::Member, source), ["StackExchange.Redis.X.Go"]);
}

#[test]
fn branches_that_are_no_code_are_compiled_by_nobody() {
    for source in [
        "#if NEVER\nIt's prose: don't \"read\n#endif\nusing Redis;",
        "#if false\n/*\n#endif\nusing Redis;",
        "#if false\n@\"\n#else\nusing Redis;\n#endif",
        "#if A\n\"\n#elif B\n'x\n#else\nusing Redis;\n#endif",
        "#if A\n#if B\n'\n#endif\n'\n#if C\n#endif\n#endif\nusing Redis;",
        "#if A\n/*\n#if B\n#else\n#endif\n*/\nusing Redis;\n#endif",
        "/*\n#if A\n*/using Redis;",
        "var s = @\"\n#endif\n\";using Redis;",
        "#if A\r\nit's\r\n#endif\r\nusing Redis;",
        "#if A\nit's\u{2028}#endif\u{2028}using Redis;",
        "#if NEVER\n#r \"nuget: Other\"\n'\n#endif\nusing Redis;",
    ] {
        assert_eq!(of(ImportKind::Static, source), ["Redis"], "{source}");
    }
    for (source, line) in [
        ("#if A\n/*\n#endif\nusing Redis; /* */", 2),
        ("#if A\n/*\u{2028}#endif\nusing Redis; /* */", 2),
        ("#if A\nvar s = @\"\n#else\n\";\n#endif", 2),
        ("#if A\nvar s = \"\"\"\n#endif\n\"\"\";", 2),
        ("#if A\nvar s = $\"{\n#endif\n}\";", 2),
        ("#if A\n", 1),
        ("\n#endif\n", 2),
        ("#else\n", 1),
        ("#if A\nit's\n", 2),
    ] {
        let fault = imports(CSharp, source.as_bytes()).expect_err(source);
        assert_eq!(fault.line, Some(line), "{source}: {fault:?}");
    }
}

#[test]
fn scripts_name_packages_and_files() {
    for (line, kind, identity) in [
        (
            "#r \"nuget: StackExchange.Redis, 2.0\"",
            ImportKind::Static,
            "StackExchange.Redis",
        ),
        (
            "#r \"nuget:StackExchange.Redis\"",
            ImportKind::Static,
            "StackExchange.Redis",
        ),
        (
            "  # r \"NuGet: StackExchange.Redis/2\"",
            ImportKind::Static,
            "StackExchange.Redis",
        ),
        (
            "#r \"lib/StackExchange.Redis.dll\"",
            ImportKind::Static,
            "StackExchange.Redis",
        ),
        (
            "#r \"StackExchange.Redis, Version=2\"",
            ImportKind::Static,
            "StackExchange.Redis",
        ),
        ("#load \"nuget: A.Redis, 1\"", ImportKind::Include, "A.Redis"),
        ("#load \"redis.csx\"", ImportKind::Include, ""),
        (
            "#:package StackExchange.Redis@2.8",
            ImportKind::Static,
            "StackExchange.Redis",
        ),
        ("#:sdk A.Sdk@1", ImportKind::Static, "A.Sdk"),
        ("#:project ../redis.csproj", ImportKind::Include, ""),
    ] {
        let found = imports(CSharp, format!("\n{line}\n").as_bytes()).expect("readable");
        assert_eq!(found.len(), 1, "{line}");
        assert_eq!(
            (found[0].kind, found[0].identity.join(".").as_str()),
            (kind, identity),
            "{line}"
        );
        assert_eq!(found[0].line, 2, "{line}");
    }
    for line in [
        "#region r \"Redis\"",
        "#:property A=Redis",
        "// #r \"nuget: Redis\"",
        "x #r \"nuget: Redis\"",
    ] {
        assert!(!hits(CSharp, &format!("{line}\n"), "redis"), "{line}");
    }
}

#[test]
fn types_and_assemblies_are_loaded_by_name() {
    for (call, expected) in [
        (
            "Type.GetType(\"StackExchange.Redis.X, Lib.Redis, Version=2\")",
            &["Lib.Redis", "StackExchange.Redis.X"][..],
        ),
        ("System.Type.GetType(\"A.B\")", &["A.B"]),
        ("Type.GetType(typeName: \"A.B\", true)", &["A.B"]),
        ("Type.GetType(\"A.\" + \"B\")", &["A.B"]),
        ("Type.GetType(@\"A.B\")", &["A.B"]),
        ("Type.GetType(\"\"\"A.B\"\"\")", &["A.B"]),
        ("Type.GetType(\"\\x0041.\\u0042\")", &["A.B"]),
        ("Type.GetType(\"G`1[[A.B, C]]\")", &["A.B", "C", "G"]),
        ("Type.GetType(\"A.\" + x)", &["", "A"]),
        ("Type.GetType($\"A.{x}\")", &["", "A"]),
        ("Type.GetType(x)", &[""]),
        ("Func<string, Type> f = Type.GetType;", &[""]),
        ("x.GetType()", &[]),
        ("x.GetType(y)", &[]),
        ("assembly.GetType(\"A.B\")", &["A.B"]),
        ("typeof(X).Assembly.GetType(\"A.B\")", &["A.B"]),
        ("Assembly.Load(\"StackExchange.Redis\")", &["StackExchange.Redis"]),
        ("Assembly.LoadFrom(path)", &[""]),
        ("Activator.CreateInstance(\"A.B\", \"C.D\")", &["A.B", "C.D"]),
        ("Activator.CreateInstance(type)", &[]),
        ("x.CreateInstance(y => y.Z(\"Payload\"))", &[]),
        ("context.LoadFromAssemblyPath(p)", &[""]),
        (
            "[DllImport(\"hiredis.dll\", CharSet = 1)] static extern void F()",
            &["hiredis.dll"],
        ),
    ] {
        let mut found = of(ImportKind::Dynamic, &format!("class A {{ {{ {call}; }} }}"));
        found.extend(of(ImportKind::Opaque, &format!("class A {{ {{ {call}; }} }}")));
        found.sort();
        assert_eq!(found, expected, "{call}");
    }
}

#[test]
fn what_the_compiler_refuses_cannot_be_read() {
    for (source, line) in [
        ("\n/* a", 2),
        ("var s = \"a\n\";", 1),
        ("\n@\"a\"\"", 2),
        ("\"\"\"\na\"\"", 1),
        ("\"\"\"a\n\"\"\"", 1),
        ("'a\n'", 1),
        ("$\"{", 1),
        ("$\"{x:", 1),
        ("$\"{x:\"}\"", 1),
        ("\"\\", 1),
    ] {
        let fault = imports(CSharp, source.as_bytes()).expect_err(source);
        assert_eq!(fault.line, Some(line), "{source}: {fault:?}");
    }
}

#[test]
fn a_file_in_a_library_s_namespace_needs_no_import() {
    for source in [
        "namespace StackExchange.Redis { class A {} }",
        "namespace StackExchange.Redis;",
    ] {
        assert!(hits(CSharp, source, "StackExchange.Redis"), "{source}");
        assert!(hits(CSharp, source, "StackExchange"), "{source}");
        assert!(!hits(CSharp, source, "redis"), "{source}");
    }
    assert!(!hits(CSharp, "namespace Acme.Redis { class A {} }", "redis"));
    for nested in [
        "namespace StackExchange { class B { void F() { } } namespace Redis { class A {} } }",
        "namespace X { } namespace StackExchange\n{\n namespace Redis { } }",
    ] {
        assert!(hits(CSharp, nested, "StackExchange.Redis"), "{nested}");
    }
    let apart = "namespace StackExchange { } namespace Redis.Own { }";
    assert!(!hits(CSharp, apart, "StackExchange.Redis"));
}

#[test]
fn many_nested_namespaces_end_soon() {
    let started = std::time::Instant::now();
    let found = imports(CSharp, "namespace A { ".repeat(100_000).as_bytes()).expect("it can be read");
    assert!(found.len() < 100_200, "{}", found.len());
    assert!(started.elapsed().as_secs() < 20);
}

#[test]
fn a_word_names_an_inner_part_of_a_namespace_in_an_expression() {
    for (code, is_hit) in [
        ("var c = StackExchange.Redis.ConnectionMultiplexer.Connect(x);", true),
        ("Microsoft.Extensions.Caching.Redis.Cache.Open();", true),
        ("var u = Config.Redis.Url;", false),
        ("var u = Config.Redis.Url.Trim();", false),
        ("var u = AppSettings.Redis.Url.Trim();", false),
        ("options.Redis.Url.Trim.X();", false),
        ("var u = Acme.Store.Redis.Url;", false),
        ("Redis.Url.Trim.X();", false),
        ("class Acme {} class B { int F() => Acme.Redis.Url.Trim(); }", false),
    ] {
        assert_eq!(hits(CSharp, code, "redis"), is_hit, "{code}");
    }
}

#[test]
fn a_name_may_begin_in_a_namespace_around_it() {
    for source in [
        "namespace StackExchange { using Redis; }",
        "namespace StackExchange.Own { using Redis.Client; }",
        "namespace StackExchange.Own; class X { Redis.Client c; }",
        "namespace StackExchange { namespace Own { class X { object c = new Redis.Client(); } } }",
        "namespace StackExchange.Own { using R = Redis; class X { R.Client c; } }",
        "namespace StackExchange.Own { class X { void F() { Redis.Client.Open(); } } }",
        "namespace X { }\nnamespace StackExchange { namespace A { } class B { Redis.Client c; } }",
        "namespace stackexchange; using redis;",
        // Which branch is compiled nobody tells.
        "namespace StackExchange {\n#if NEVER\n}\n#endif\nusing Redis; }",
        "namespace StackExchange.Own;\n#if NEVER\nnamespace Y;\n#endif\nusing Redis;",
        "#if NEVER\nnamespace Y {\n#endif\nnamespace StackExchange { using Redis; }\n#if NEVER\n}\n#endif",
    ] {
        assert!(hits(CSharp, source, "StackExchange.Redis"), "{source}");
    }
}

#[test]
fn what_no_namespace_around_makes_the_entry_is_none() {
    for source in [
        "using Redis; namespace StackExchange { }",
        "namespace StackExchange { } namespace Own { using Redis; }",
        "namespace StackExchange { using RedisX; }",
        "namespace Own { using Redis; }",
        "namespace StackExchange { using global::Redis; }",
        "namespace StackExchange { class X { int F() => Redis.Url; } }",
        "namespace StackExchange { class X { Own Redis; int F() => Redis.Client.Open(); } }",
        "namespace Own.StackExchange { using Redis; }",
    ] {
        assert!(!hits(CSharp, source, "StackExchange.Redis"), "{source}");
    }
    // A file in a forbidden namespace is told of by its declaration, not by each of its names.
    let found = imports(CSharp, b"namespace StackExchange.Redis; using Own;").expect("it can be read");
    let hit = found
        .iter()
        .filter(|import| matches("StackExchange.Redis", CSharp, import));
    assert_eq!(hit.count(), 1);
    assert!(!hits(CSharp, "namespace Acme.Redis.Own; using Db;", "redis"));
}

#[test]
fn names_below_many_namespaces_end_soon() {
    let started = std::time::Instant::now();
    let nested = "namespace A { ".repeat(60) + &"namespace B { A.B c; } ".repeat(20_000);
    let found = imports(CSharp, nested.as_bytes()).expect("it can be read");
    assert!(!found.iter().any(|import| matches("B.C.D", CSharp, import)));
    let branches: String = (0..600).map(|at| format!("namespace N{at} {{ }}\n")).collect();
    assert!(imports(CSharp, branches.as_bytes()).is_ok());
    let fault = imports(CSharp, format!("#if X\n#endif\n{branches}").as_bytes()).expect_err("too many");
    assert!(fault.why.contains("namespaces"), "{fault:?}");
    assert!(started.elapsed().as_secs() < 20);
}

//! Rust, Go, Java, Kotlin, C, C++ and C#.

use super::tests::{Small, expect, import, leads_as, owned};
use crate::gate::imports::Language::{C, CSharp, Go, Java, Kotlin, Rust};

#[test]
fn rust_paths_lead_through_module_files() {
    let tree = Small::new(&[
        (
            "Cargo.toml",
            "[package]\nname = \"my-app\"\n[dependencies]\ncore2 = { path = \"crates/core\" }\nredis = \"1\"\n",
        ),
        ("src/lib.rs", ""),
        ("src/main.rs", ""),
        ("src/gate.rs", ""),
        ("src/gate/policy.rs", ""),
        ("src/gate/rules/mod.rs", ""),
        ("src/gate/rules/graph.rs", ""),
        ("src/work/mod.rs", "#[path = \"elsewhere.rs\"]\nmod moved;\n"),
        ("src/bin/tool.rs", ""),
        ("tests/it/main.rs", ""),
        ("tests/it/front.rs", ""),
        ("tests/one.rs", ""),
        ("build.rs", ""),
        (
            "crates/core/Cargo.toml",
            "[package]\nname = \"core2\"\n[lib]\npath = \"lib.rs\"\n",
        ),
        ("crates/core/lib.rs", ""),
        ("crates/core/x.rs", ""),
    ]);
    expect(
        &tree,
        Rust,
        &[
            ("crate::gate::policy::Area", "src/work/mod.rs", "src/gate/policy.rs"),
            ("crate::gate::Verdict", "src/work/mod.rs", "src/gate.rs"),
            ("crate::gate::rules::graph::x", "src/main.rs", "src/gate/rules/graph.rs"),
            ("crate::work::Item", "src/gate.rs", "src/work/mod.rs"),
            ("crate::Top", "src/gate.rs", "src/lib.rs"),
            ("self::policy::X", "src/gate.rs", "src/gate/policy.rs"),
            ("self::graph", "src/gate/rules/mod.rs", "src/gate/rules/graph.rs"),
            ("super::policy", "src/gate/rules/mod.rs", "src/gate/policy.rs"),
            ("super::super::policy", "src/gate/rules/graph.rs", "src/gate/policy.rs"),
            ("super::super::super::x", "src/gate.rs", "? it leads out of the crate"),
            (
                "crate::work::moved::X",
                "src/gate.rs",
                "? #[path] puts the module elsewhere",
            ),
            ("my_app::gate", "tests/one.rs", "src/gate.rs"),
            ("crate::front", "tests/it/main.rs", "tests/it/front.rs"),
            ("super::front", "tests/it/front.rs", "tests/it/front.rs"),
            ("core2::x::Y", "src/gate.rs", "crates/core/x.rs"),
            ("core2::Z", "src/gate.rs", "crates/core/lib.rs"),
            ("redis::Client", "src/gate.rs", "external"),
            ("::redis::Client", "src/gate.rs", "external"),
            ("std::fmt", "src/gate.rs", "external"),
        ],
    );
}

#[test]
fn super_inside_a_module_of_the_file_is_the_file() {
    let tree = Small::new(&[
        ("Cargo.toml", "[package]\nname = \"a\"\n"),
        ("src/lib.rs", ""),
        (
            "src/gate.rs",
            "use super::X;\nmod tests {\n    use super::*;\n    use super::policy::P;\n}\n",
        ),
        ("src/gate/policy.rs", ""),
    ]);
    let at = |raw: &str, line: u32| {
        let mut import = import(Rust, raw);
        import.line = line;
        leads_as(&tree, Rust, &import, "src/gate.rs")
    };
    assert_eq!(at("super::X", 1), "src/lib.rs");
    assert_eq!(at("super", 3), "src/gate.rs");
    assert_eq!(at("super::policy::P", 4), "src/gate/policy.rs");
}

#[test]
fn crates_of_a_workspace_are_own_where_a_path_names_them() {
    let tree = Small::new(&[
        (
            "Cargo.toml",
            "[workspace]\nmembers = [\"a\", \"b\"]\n[workspace.dependencies]\nb-lib = { path = \"b\" }\n[patch.crates-io]\n\
             redis = { path = \"vendor/redis\" }\n",
        ),
        (
            "a/Cargo.toml",
            "[package]\nname = \"a\"\n[dependencies]\nb-lib.workspace = true\nredis = \"1\"\n",
        ),
        ("a/src/lib.rs", ""),
        ("b/Cargo.toml", "[package]\nname = \"b-lib\"\n"),
        ("b/src/lib.rs", ""),
        ("b/src/m.rs", ""),
        ("vendor/redis/Cargo.toml", "[package]\nname = \"redis\"\n"),
        ("vendor/redis/src/lib.rs", ""),
    ]);
    expect(
        &tree,
        Rust,
        &[
            ("b_lib::m::X", "a/src/lib.rs", "b/src/m.rs"),
            ("redis::Client", "a/src/lib.rs", "external"),
            ("b_lib::m", "b/src/m.rs", "b/src/m.rs"),
            ("a::X", "b/src/m.rs", "external"),
        ],
    );
}

#[test]
fn go_paths_lead_below_their_module() {
    let tree = Small::new(&[
        (
            "go.mod",
            "module example.com/acme/shop // ours\n\ngo 1.22\nreplace (\n\texample.com/fork v1.0.0 => ./fork\n)\n\
             replace github.com/redis/go-redis => github.com/acme/go-redis v1\n",
        ),
        ("billing/invoice.go", ""),
        ("internal/redis/r.go", ""),
        ("fork/sub/f.go", ""),
        ("go.work", "go 1.22\nuse ./tools\n"),
        ("tools/go.mod", "module example.com/tools\n"),
        ("tools/gen/g.go", ""),
        ("main.go", ""),
    ]);
    expect(
        &tree,
        Go,
        &[
            ("example.com/acme/shop/billing", "main.go", "billing"),
            ("example.com/acme/shop", "main.go", ""),
            ("example.com/acme/shopping", "main.go", "external"),
            (
                "example.com/acme/shop/gone",
                "main.go",
                "? no such folder below the module",
            ),
            ("example.com/fork/sub", "main.go", "fork/sub"),
            ("example.com/tools/gen", "main.go", "tools/gen"),
            ("example.com/acme/shop/billing", "tools/gen/g.go", "external"),
            ("github.com/redis/go-redis/v9", "main.go", "external"),
            ("fmt", "main.go", "external"),
        ],
    );
    assert!(owned(
        &tree,
        &tree,
        Go,
        "example.com/acme/shop/internal/redis",
        "main.go"
    ));
    let before = Small::new(&[("go.mod", "module example.com/acme/shop\n"), ("main.go", "")]);
    assert!(owned(
        &before,
        &tree,
        Go,
        "example.com/acme/shop/internal/redis",
        "main.go"
    ));
    assert!(!owned(&tree, &tree, Go, "github.com/redis/go-redis/v9", "main.go"));
}

#[test]
fn java_and_kotlin_packages_are_what_files_declare() {
    let tree = Small::new(&[
        (
            "src/main/java/com/acme/billing/Invoice.java",
            "package com.acme.billing;\n",
        ),
        (
            "src/test/java/com/acme/billing/InvoiceTest.java",
            "package com.acme.billing;\n",
        ),
        ("src/main/kotlin/pay/Card.kt", "package com.acme.pay\n"),
        ("src/main/java/com/acme/redis/Cache.java", "package com.acme.redis;\n"),
    ]);
    let billing = "src/main/java/com/acme/billing src/test/java/com/acme/billing";
    for language in [Java, Kotlin] {
        expect(
            &tree,
            language,
            &[
                (
                    "com.acme.billing.Invoice",
                    "x.java",
                    "src/main/java/com/acme/billing/Invoice.java",
                ),
                (
                    "com.acme.billing.Invoice.LINES",
                    "x.java",
                    "src/main/java/com/acme/billing/Invoice.java",
                ),
                ("com.acme.billing.*", "x.java", billing),
                ("com.acme.billing", "x.java", billing),
                ("com.acme.pay.Card", "x.java", "src/main/kotlin/pay/Card.kt"),
                ("com.acme.pay.topLevel", "x.java", "src/main/kotlin/pay"),
                (
                    "com.acme.gone.X",
                    "x.java",
                    "? no file of the repository declares such a package",
                ),
                ("redis.clients.jedis.Jedis", "x.java", "external"),
                ("java.util.List", "x.java", "external"),
            ],
        );
    }
}

#[test]
fn a_file_of_another_package_hides_none_in_its_folder() {
    let tree = Small::new(&[
        ("billing/A.java", "package zzz.decoy;\n"),
        ("billing/Real.java", "package com.acme.billing;\n"),
        ("billing/Z.java", "package zzz.decoy;\n"),
        ("billing/Few.kt", "package com.acme.few\n"),
        ("elsewhere/More.kt", "package com.acme.few\n"),
    ]);
    for language in [Java, Kotlin] {
        expect(
            &tree,
            language,
            &[
                ("com.acme.billing.Real", "x.java", "billing/Real.java"),
                ("com.acme.billing.*", "x.java", "billing"),
                ("com.acme.billing.Real.Inner", "x.java", "billing/Real.java"),
                ("com.acme.few.topLevel", "x.java", "billing elsewhere"),
                ("zzz.decoy.A", "x.java", "billing/A.java"),
            ],
        );
    }
}

#[test]
fn a_large_tree_is_read_as_far_as_a_name_asks() {
    let mut files: Vec<(String, String)> = (0..2_100)
        .map(|n| {
            (
                format!("p{}/F{n}.java", n / 7),
                format!("package com.acme.p{};\n", n / 7),
            )
        })
        .collect();
    for (name, package) in [("A", "zzz"), ("M", "com.acme.inner"), ("Z", "zzz")] {
        files.push((format!("q/{name}.kt"), format!("package {package}\n")));
    }
    let files: Vec<(&str, &str)> = files
        .iter()
        .map(|(path, text)| (path.as_str(), text.as_str()))
        .collect();
    let tree = Small::new(&files);
    expect(
        &tree,
        Java,
        &[
            ("com.acme.inner.topLevel", "x.java", "q"),
            ("com.acme.inner.M", "x.java", "q/M.kt"),
            ("com.acme.p3.*", "x.java", "p3"),
            (
                "com.acme.gone.X",
                "x.java",
                "? no file of the repository declares such a package",
            ),
            ("org.junit.Test", "x.java", "external"),
        ],
    );
}

#[test]
fn files_that_rust_names_by_their_path() {
    let tree = Small::new(&[
        ("Cargo.toml", "[package]\nname = \"a\"\n"),
        ("src/pay/a.rs", "mod inner {\n    #[path = \"x.rs\"]\n    mod x;\n}\n"),
        ("src/pay/a/inner/x.rs", ""),
        ("src/billing/b.rs", ""),
        ("src/billing/c.txt", ""),
    ]);
    let at = |raw: &str, line: u32| {
        let mut import = import(Rust, raw);
        (import.line, import.kind) = (line, crate::gate::imports::ImportKind::Include);
        leads_as(&tree, Rust, &import, "src/pay/a.rs")
    };
    assert_eq!(at("../billing/b.rs", 9), "src/billing/b.rs");
    assert_eq!(at("..\\billing\\b.rs", 9), "src/billing/b.rs");
    assert_eq!(at("../billing/c.txt", 9), "src/billing/c.txt");
    assert_eq!(at("../billing", 9), "src/billing");
    assert_eq!(at("x.rs", 2), "src/pay/a/inner/x.rs");
    assert_eq!(at("$CARGO_MANIFEST_DIR/src/billing/b.rs", 9), "src/billing/b.rs");
    assert_eq!(
        at("$CARGO_MANIFEST_DIR/../b.rs", 9),
        "? no such file below or beside the package"
    );
    assert_eq!(at("../../../b.rs", 9), "? it leads out of the repository");
    assert_eq!(at("gone.rs", 9), "? no such file");
    assert_eq!(at("/etc/x.rs", 9), "? an absolute path");
}

#[test]
fn headers_are_looked_for_where_builds_look() {
    let tree = Small::new(&[
        ("src/net/a.c", ""),
        ("src/net/a.h", ""),
        ("include/shop/cart.h", ""),
        ("lib/deep/only/here.h", ""),
        ("x/twice.h", ""),
        ("y/twice.h", ""),
        ("src/util.h", ""),
        ("redis.h", ""),
        ("lib/queue.h", ""),
    ]);
    expect(
        &tree,
        C,
        &[
            ("\"a.h\"", "src/net/a.c", "src/net/a.h"),
            ("<a.h>", "src/net/a.c", "external"),
            ("<shop/cart.h>", "src/net/a.c", "include/shop/cart.h"),
            ("\"shop/cart.h\"", "src/net/a.c", "include/shop/cart.h"),
            (
                "<shop/new.h>",
                "src/net/a.c",
                "? no such file beside headers of the repository",
            ),
            ("<only/here.h>", "src/net/a.c", "lib/deep/only/here.h"),
            ("\"here.h\"", "src/net/a.c", "lib/deep/only/here.h"),
            ("<here.h>", "src/net/a.c", "external"),
            ("\"twice.h\"", "src/net/a.c", "external"),
            ("<net/a.h>", "x/b.c", "src/net/a.h"),
            ("\"../util.h\"", "src/net/a.c", "src/util.h"),
            ("\"../../../x.h\"", "src/net/a.c", "? it leads out of the repository"),
            (
                "\"x/../../../../y.h\"",
                "src/net/a.c",
                "? it leads out of the repository",
            ),
            ("<../../../x.h>", "src/net/a.c", "? it leads out of the repository"),
            ("\"./gone.h\"", "src/net/a.c", "? no such file"),
            ("<redis.h>", "src/net/a.c", "redis.h"),
            ("<queue.h>", "src/net/a.c", "external"),
            ("<hiredis/hiredis.h>", "src/net/a.c", "external"),
        ],
    );
}

#[test]
fn csharp_namespaces_are_what_files_declare() {
    let tree = Small::new(&[
        ("Billing/Invoice.cs", "namespace Acme.Billing;\nclass Invoice {}\n"),
        ("Billing/Lines.cs", "\u{feff}namespace Acme.Billing\n{\n}\n"),
        ("Core/X.cs", "  namespace Acme.Core { }\n// namespace Acme.No;\n"),
        ("Core/Ext.cs", "namespace Microsoft.Extensions.DependencyInjection;\n"),
    ]);
    expect(
        &tree,
        CSharp,
        &[
            ("Acme.Billing", "Core/X.cs", "Billing/Invoice.cs Billing/Lines.cs"),
            ("Acme.Billing.Invoice", "Core/X.cs", "Billing/Invoice.cs"),
            ("acme.billing.Other", "Core/X.cs", "Billing/Invoice.cs Billing/Lines.cs"),
            ("Microsoft.Extensions.DependencyInjection", "Core/X.cs", "external"),
            ("System.Linq", "Core/X.cs", "external"),
            ("StackExchange.Redis", "Core/X.cs", "external"),
        ],
    );
}

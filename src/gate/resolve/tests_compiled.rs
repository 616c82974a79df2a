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
            ("\"../../../x.h\"", "src/net/a.c", "? no such file"),
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

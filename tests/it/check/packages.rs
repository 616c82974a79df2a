//! Files that share a package or namespace, and `may_depend_on`.

use crate::support::repo::Repo;

/// Two areas of which neither may use the other, one that may, and files on `main`; branch `f` is at it.
fn scene(files: &[(&str, &str)]) -> Repo {
    let repo = Repo::empty();
    repo.write(
        "architecture/invariants.yml",
        "version: 1\npayments: {allowed_roots: [payments/], may_depend_on: []}\nbilling: {allowed_roots: [billing/]}\n\
         tests: {allowed_roots: [tests/], may_depend_on: [billing]}\nmax_new_top_level_dirs: 9\n",
    );
    for (path, content) in files {
        repo.write(path, content);
    }
    repo.commit("start");
    repo.branch("f");
    repo
}

#[test]
fn a_decoy_in_a_folder_hides_no_package_of_it() {
    for (ending, end) in [("java", ";"), ("kt", "")] {
        let repo = scene(&[(
            &format!("billing/Real.{ending}"),
            &format!("package com.acme.billing{end}\n"),
        )]);
        repo.write(format!("billing/A.{ending}"), format!("package zzz{end}\n"));
        repo.write(format!("billing/Z.{ending}"), format!("package zzz{end}\n"));
        repo.change(
            &format!("payments/Use.{ending}"),
            &format!("package com.acme.pay{end}\nimport com.acme.billing.Real{end}\n"),
        );
        let place = format!("payments/Use.{ending}:2:8: payments imports `com.acme.billing.Real`");
        let outcome = repo.agentgate(["check", "--base", "main"]);
        outcome.expect(5, &[&place]);
        assert!(!outcome.stdout.contains("could not be followed"), "{outcome}");
    }
}

#[test]
fn a_file_in_the_package_of_another_area_needs_no_import_and_is_5() {
    for (path, home, line, word) in [
        (
            "payments/Spy.java",
            "billing/Real.java",
            "package com.acme.billing;",
            "package",
        ),
        (
            "payments/Spy.kt",
            "billing/any/Name.kt",
            "package com.acme.billing",
            "package",
        ),
        (
            "payments/Spy.cs",
            "billing/Real.cs",
            "namespace Com.Acme.Billing;",
            "namespace",
        ),
    ] {
        let repo = scene(&[(home, &format!("{line}\nclass Real {{}}\n"))]);
        repo.change(path, &format!("{line}\nclass Spy {{ Real real; }}\n"));
        let name = line.split([' ', ';']).nth(1).expect("a name");
        repo.agentgate(["check", "--base", "main"]).expect(
            5,
            &[
                &format!(
                    "{path}:1:{}: payments puts a file into {word} `{name}`, which is `{home}` of billing, so that it \
                     needs no import of what is there; it may depend on no other area\n",
                    word.len() + 2
                ),
                "rule: dependency-edge [payments.may_depend_on] (exit 5)",
                &format!("hint: give the file a {word} of its own, or ask an owner"),
            ],
        );
    }
}

#[test]
fn many_files_of_ones_own_do_not_make_the_package_ones_own() {
    let repo = scene(&[("billing/Real.java", "package com.acme.billing;\n")]);
    for n in 0..9 {
        repo.write(format!("payments/S{n}.java"), "package com.acme.billing;\n");
    }
    repo.commit("nine");
    repo.agentgate(["check", "--base", "main"])
        .expect(5, &["9 findings in 9 paths"]);
}

#[test]
fn a_package_that_base_and_change_have_only_here_or_that_may_be_used_passes() {
    let repo = scene(&[
        ("billing/Real.java", "package com.acme.billing;\n"),
        ("payments/Pay.java", "package com.acme.pay;\n"),
        ("payments/shared/Old.java", "package com.acme.billing;\n"),
    ]);
    repo.write("payments/Other.java", "package com.acme.pay;\n");
    repo.write("payments/next/New.java", "package com.acme.pay.next;\n");
    repo.write("tests/com/acme/RealTest.java", "package com.acme.billing;\n");
    // A person has let the package into this folder.
    repo.write("payments/shared/More.java", "package com.acme.billing;\n");
    // The namespace around another area's is another one.
    repo.write("payments/P.cs", "namespace Com.Acme;\n");
    repo.write("billing/B.cs", "namespace Com.Acme.Billing;\n");
    repo.commit("new");
    repo.agentgate(["check", "--base", "main"]).expect(0, &[]);
}

#[test]
fn a_new_package_of_two_areas_is_an_edge_of_the_smaller_part() {
    let repo = scene(&[]);
    repo.write("payments/A.java", "package com.acme.fresh;\n");
    repo.write("billing/B.java", "package com.acme.fresh;\n");
    repo.write("billing/C.java", "package com.acme.fresh;\n");
    repo.commit("new");
    repo.agentgate(["check", "--base", "main"])
        .expect(5, &["payments/A.java:1:9", "1 finding in 1 path"]);
}

#[test]
fn the_graph_shows_the_edge() {
    let repo = scene(&[
        ("billing/Real.java", "package com.acme.billing;\n"),
        ("billing/More.java", "package com.acme.billing;\n"),
        ("payments/Spy.java", "package com.acme.billing;\n"),
    ]);
    let graph = repo.agentgate(["graph", "--json"]);
    let edges = graph.json()["edges"].to_string();
    assert!(edges.contains("payments") && edges.contains("forbidden"), "{graph}");
}

#[test]
fn a_package_that_the_area_has_already_may_grow_there() {
    let repo = scene(&[
        ("billing/src/A.java", "package com.acme;\n"),
        ("billing/src/B.java", "package com.acme;\n"),
        ("payments/src/main/Pay.java", "package com.acme;\n"),
    ]);
    repo.change("payments/src/test/PayTest.java", "package com.acme;\n");
    repo.agentgate(["check", "--base", "main"]).expect(0, &[]);
    // What the change itself brings lets in nothing.
    let repo = scene(&[("billing/src/A.java", "package com.acme;\n")]);
    repo.change("payments/a/A.java", "package com.acme;\n");
    repo.change("payments/b/B.java", "package com.acme;\n");
    repo.agentgate(["check", "--base", "main"]).expect(5, &[]);
}

#[test]
fn nested_namespaces_are_joined_wherever_they_stand() {
    let nested = "namespace Acme { namespace Db { class W { Store s; } } }\n";
    let flat = "namespace Acme.Db;\n";
    for (home, spy) in [(flat, nested), (nested, flat), (nested, nested)] {
        let repo = scene(&[("billing/A.cs", home), ("billing/B.cs", home)]);
        repo.change("payments/Spy.cs", spy);
        repo.agentgate(["check", "--base", "main"])
            .expect(5, &["payments/Spy.cs:1", "Acme.Db"]);
    }
}

/// A module whose sources and whose tests are areas, with a test on `main`.
fn tested(language: &str, end: &str) -> Repo {
    let repo = Repo::empty();
    repo.write(
        "architecture/invariants.yml",
        "version: 1\nmain: {allowed_roots: [m/src/main/], may_depend_on: []}\ntest: {allowed_roots: [m/src/test/], \
         may_depend_on: []}\nother: {allowed_roots: [n/], may_depend_on: []}\n",
    );
    let test = format!("m/src/test/{language}/com/acme/pay/PayTest.{end}");
    repo.write(&test, "package com.acme.pay;\nclass PayTest {}\n");
    repo.write("n/README", "x\n");
    repo.commit("start");
    repo.branch("f");
    repo
}

#[test]
fn the_first_class_of_a_package_that_has_tests_passes() {
    for (language, end) in [("java", "java"), ("kotlin", "kt")] {
        let repo = tested(language, end);
        let path = format!("m/src/main/{language}/com/acme/pay/Pay.{end}");
        repo.change(&path, "package com.acme.pay;\nclass Pay {}\n");
        repo.agentgate(["check", "--base", "main"]).expect(0, &[]);
    }
}

#[test]
fn a_class_of_another_module_joins_no_package_of_tests() {
    let repo = tested("java", "java");
    repo.change(
        "n/src/main/java/com/acme/pay/Pay.java",
        "package com.acme.pay;\nclass Pay {}\n",
    );
    repo.agentgate(["check", "--base", "main"])
        .expect(5, &["n/src/main/java/com/acme/pay/Pay.java:1", "of test"]);
}

#[test]
fn the_first_test_of_a_package_depends_on_what_it_tests() {
    let repo = tested("java", "java");
    repo.checkout("main");
    repo.change(
        "m/src/main/java/com/acme/cart/Cart.java",
        "package com.acme.cart;\nclass Cart {}\n",
    );
    repo.checkout("f");
    repo.git(["merge", "--quiet", "main"]);
    repo.change(
        "m/src/test/java/com/acme/cart/CartTest.java",
        "package com.acme.cart;\nclass CartTest {}\n",
    );
    repo.agentgate(["check", "--base", "main"])
        .expect(5, &["CartTest.java:1", "of main"]);
}

//! Names of C#, Kotlin, Java and PHP that need no import, or begin in the namespace around them.

use crate::support::program::Outcome;
use crate::support::repo::Repo;

/// What `check` says about a branch that adds this file, with this line in the policy of `payments/`. Beside it
/// lies `db/`, whose files are given.
fn check(rule: &str, db: &[(&str, &str)], path: &str, source: &str) -> Outcome {
    let repo = Repo::empty();
    repo.write(
        "architecture/invariants.yml",
        format!(
            "version: 1\npayments:\n  allowed_roots: [payments/]\n  {rule}\ndb:\n  allowed_roots: [db/]\nshop:\n  \
             allowed_roots: [shop/]\n"
        ),
    );
    for (path, source) in db {
        repo.write(path, source);
    }
    repo.write("payments/README", "x\n");
    repo.commit("start");
    repo.branch("f");
    repo.change(path, source);
    repo.agentgate(["check", "--base", "main"])
}

const FORBIDS: &str = "forbidden_imports: [Vendor.Redis]";
const EDGES: &str = "may_depend_on: []";

#[test]
fn a_name_of_csharp_begins_in_a_namespace_around_it() {
    for source in [
        "namespace Vendor.Own {\nusing Redis;\n}\n",
        "namespace Vendor.Own;\nclass X { Redis.Client c; }\n",
    ] {
        check(FORBIDS, &[], "payments/a.cs", source).expect(5, &["payments/a.cs:2"]);
    }
    check(FORBIDS, &[], "payments/a.cs", "namespace Own {\nusing Redis;\n}\n").expect(0, &[]);
}

#[test]
fn an_own_namespace_of_csharp_that_is_named_from_within_is_an_edge() {
    let db = [("db/Client.cs", "namespace Acme.Db;\nclass Client {}\n")];
    for source in [
        "namespace Acme.Pay {\nusing Db;\n}\n",
        "namespace Acme.Pay;\nclass X { Db.Client c; }\n",
        "namespace Acme.Pay;\nclass X { void F() { Db.Client.Open(); } }\n",
    ] {
        check(EDGES, &db, "payments/a.cs", source).expect(5, &["payments/a.cs:2", "of db"]);
    }
    for source in [
        "namespace Other.Pay {\nusing Db;\n}\n",
        "namespace Acme.Pay;\nclass X { void F() { Db.Users.Find(); } }\n",
        "namespace Acme.Pay;\nclass X { Dbx.Client c; }\n",
    ] {
        check(EDGES, &db, "payments/a.cs", source).expect(0, &[]);
    }
}

#[test]
fn an_own_namespace_of_csharp_is_no_package_from_outside() {
    let db = [("db/Client.cs", "namespace Acme.Db;\nclass Client {}\n")];
    let source = "namespace Acme.Pay {\nusing Db;\n}\n";
    check("allowed_imports: []", &db, "payments/a.cs", source).expect(0, &[]);
}

#[test]
fn functions_of_kotlin_by_their_full_path_are_5() {
    let forbids = "forbidden_imports: [com.acme.db]";
    for source in ["\nfun f() { com.acme.db.store() }\n", "\nval x = com.acme.db.default\n"] {
        check(forbids, &[], "payments/A.kt", source).expect(5, &["payments/A.kt:2"]);
    }
    let db = [
        ("db/Store.kt", "package com.acme.db\nfun store() {}\n"),
        ("db/Own.kt", "package acme.db\n"),
    ];
    for source in ["\nfun f() { com.acme.db.store() }\n", "\nfun f() { acme.db.store() }\n"] {
        check(EDGES, &db, "payments/A.kt", source).expect(5, &["payments/A.kt:2", "of db"]);
    }
}

#[test]
fn members_of_a_variable_of_kotlin_pass() {
    let db = [
        ("db/Store.kt", "package com.acme.db\nfun store() {}\n"),
        ("db/Own.kt", "package acme.db\n"),
    ];
    for source in [
        "fun f(com: Com) { com.acme.db.store() }\n",
        "class A(private val acme: Acme) { fun f() = acme.db.store() }\n",
        "fun f() { acme.dbs.store() }\n",
    ] {
        check("forbidden_imports: [com.acme.db]", &[], "payments/A.kt", source).expect(0, &[]);
        check(EDGES, &db, "payments/A.kt", source).expect(0, &[]);
        check("allowed_imports: []", &db, "payments/A.kt", source).expect(0, &[]);
    }
}

#[test]
fn a_member_of_an_own_object_passes_whatever_file_it_stands_in() {
    let db = [
        ("db/Settings.kt", "package com.acme\nobject Config { val redis = 1 }\n"),
        ("db/Keys.kt", "package acme\nobject Config { val redis = 1 }\n"),
    ];
    let forbids = "forbidden_imports: [redis]";
    for line in [
        "import com.acme.Config.redis",
        "import com.acme.Config.redis as r",
        "import acme.Config.redis",
    ] {
        let told = "is taken for this repository's own package";
        check(forbids, &db, "payments/A.kt", &format!("{line}\n")).expect(0, &[told]);
    }
    // Where no file of the base declares the package, or the package is another one.
    check(forbids, &[], "payments/A.kt", "import com.acme.Config.redis\n").expect(5, &["payments/A.kt:1"]);
    check(forbids, &db, "payments/A.kt", "import com.other.Config.redis\n").expect(5, &["payments/A.kt:1"]);
}

#[test]
fn a_file_of_java_in_a_forbidden_package_needs_no_import() {
    let source = "package com.acme.db;\nclass A { Store s; }\n";
    check("forbidden_imports: [com.acme.db]", &[], "payments/A.java", source).expect(5, &["payments/A.java:1"]);
    let db = [("db/Store.java", "package com.acme.db;\nclass Store {}\n")];
    check(EDGES, &db, "payments/A.java", source).expect(5, &["payments/A.java:1", "of db"]);
}

#[test]
fn a_class_of_php_in_the_file_s_own_namespace_is_5() {
    let forbids = "forbidden_imports: ['Vendor\\Redis\\Client']";
    for source in [
        "<?php\nnamespace Vendor\\Redis; new Client;\n",
        "<?php\nnamespace Vendor; new Redis\\Client;\n",
        "<?php\narray_map('Vendor\\Redis\\Client::x', $a);\n",
        "<?php\nusort($a, [\"Vendor\\\\Redis\\\\Client\", 'x']);\n",
    ] {
        check(forbids, &[], "payments/a.php", source).expect(5, &["payments/a.php:2"]);
    }
    for source in [
        "<?php\nnamespace Vendor\\Redis; new \\Client;\n",
        "<?php\nf('Vendor\\Redis');\n",
    ] {
        check(forbids, &[], "payments/a.php", source).expect(0, &[]);
    }
}

#[test]
fn an_own_class_of_php_by_its_relative_name_or_in_a_string_is_an_edge() {
    let db = [
        (
            "composer.json",
            "{\"autoload\": {\"psr-4\": {\"App\\\\Db\\\\\": \"db/\", \"App\\\\\": \"payments/\"}}}",
        ),
        ("db/Client.php", "<?php\nnamespace App\\Db;\nclass Client {}\n"),
    ];
    for source in [
        "<?php\nnamespace App; new Db\\Client;\n",
        "<?php\narray_map('App\\Db\\Client::x', $a);\n",
    ] {
        check(EDGES, &db, "payments/a.php", source).expect(5, &["payments/a.php:2", "of db"]);
    }
    for source in ["<?php\nnamespace App; new Client;\n", "<?php\nf('Some\\Thing');\n"] {
        check(EDGES, &db, "payments/a.php", source).expect(0, &[]);
        check("allowed_imports: []", &db, "payments/a.php", source).expect(0, &[]);
    }
}

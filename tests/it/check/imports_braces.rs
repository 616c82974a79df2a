//! Imports of Java, Kotlin and C# in a range.

use super::on_branch;
use crate::support::program::Outcome;

/// What `check` says about a branch that adds this file.
fn check(path: &str, source: &str) -> Outcome {
    let repo = on_branch();
    repo.change(path, source);
    repo.agentgate(["check", "--base", "main"])
}

#[test]
fn an_import_of_java_is_5() {
    check("payments/A.java", "package a;\nimport redis.clients.jedis.Jedis;\n").expect(5, &["payments/A.java:2"]);
}

#[test]
fn a_full_name_in_java_is_5_as_well() {
    check("payments/A.java", "class A { redis.clients.jedis.Jedis j; }\n").expect(5, &["payments/A.java:1"]);
}

#[test]
fn an_import_of_kotlin_is_5() {
    check("payments/A.kt", "import redis.clients.jedis.Jedis\n").expect(5, &["payments/A.kt:1"]);
}

#[test]
fn an_import_of_csharp_is_5() {
    check("payments/A.cs", "using T = (int, StackExchange.Redis.IDatabase);\n").expect(5, &["payments/A.cs:1"]);
    check("payments/A.cs", "\u{feff}\u{feff}using StackExchange.Redis;\n").expect(5, &["payments/A.cs:1"]);
}

#[test]
fn a_property_of_csharp_passes() {
    check("payments/A.cs", "class A { string U => Config.Redis.Url.Value; }\n").expect(0, &[]);
}

#[test]
fn a_comment_that_never_ends_is_9() {
    for path in ["payments/A.java", "payments/A.kt", "payments/A.cs"] {
        check(path, "\n/* import redis.clients.Jedis;\n").expect(9, &[path, "has a comment that never ends"]);
    }
}

//! Trees, configurations and names that are made to cost time.

use std::time::{Duration, Instant};

use super::tests::{Small, leads};
use crate::gate::imports::Language;

#[test]
fn long_names_and_nested_configurations_cost_no_more_than_their_length() {
    let deep = format!(
        "{{\"compilerOptions\": {}1{}}}",
        "[".repeat(200_000),
        "]".repeat(200_000)
    );
    let many: String = (0..20_000).map(|n| format!("\"p{n}*\": [\"./x/*\"],")).collect();
    let tree = Small::new(&[
        ("tsconfig.json", &deep),
        (
            "jsconfig.json",
            &format!("{{\"compilerOptions\": {{\"paths\": {{{many}}}}}}}"),
        ),
        ("package.json", &format!("{{\"exports\": {}", "{\"a\":".repeat(100_000))),
        ("Cargo.toml", &format!("[package]\nname = {}", "[".repeat(100_000))),
        ("go.mod", &"replace (".repeat(100_000)),
        ("composer.json", &"[".repeat(100_000)),
        ("A.java", &"package ".repeat(100_000)),
        ("A.cs", &"namespace ".repeat(100_000)),
        ("a.rs", &"mod a {".repeat(100_000)),
        ("src/x.py", ""),
    ]);
    let before = Instant::now();
    for &language in Language::ALL {
        for raw in [
            "a.".repeat(200_000),
            "a::".repeat(200_000),
            "super::".repeat(200_000),
            "../".repeat(200_000),
            "\"../".repeat(100_000),
            "<a/".repeat(100_000),
            "a\\".repeat(200_000),
            ".".repeat(200_000),
            String::new(),
            "%2e%2e/".repeat(50_000),
        ] {
            leads(&tree, language, &raw, "a.rs");
        }
    }
    assert!(before.elapsed() < Duration::from_secs(60), "{:?}", before.elapsed());
}

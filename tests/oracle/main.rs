//! The scanners beside tree-sitter, which is one parser for all their languages, over the public packages that
//! `.ci/corpora` puts into `target/corpora` and, for Rust, the crates that this project is built from: each import
//! that tree-sitter sees is found, at its line and by its name, and next to nothing else.
//!
//! A target of its own: the grammars are some 25 MB that no other test has to link. Each test looks at so many files
//! as a debug build reads in seconds, spread over all packages; `ORACLE_FILES=999999 cargo test --release --test oracle`
//! looks at all. tests/it/oracle/ has the parsers of single languages.

mod compare;
mod corpora;
mod seen;
mod tree;

use agentgate::gate::imports::{Import, ImportKind, Language};

use compare::{Grammar, compare};
use seen::{c, csharp, go, java, javascript, kotlin, php, python, ruby, rust};

/// A statement that imports, not a name that is used without one.
fn is_static(import: &Import) -> bool {
    matches!(
        import.kind,
        ImportKind::Static | ImportKind::TypeOnly | ImportKind::ReExport
    )
}

/// What a literal tells of JavaScript, Python and Ruby, however it is imported.
fn is_literal(import: &Import) -> bool {
    is_static(import) || matches!(import.kind, ImportKind::Require | ImportKind::Dynamic)
}

fn is_include(import: &Import) -> bool {
    import.kind == ImportKind::Include
}

#[test]
fn javascript() {
    let grammar = Grammar::new(
        Language::JavaScript,
        &["js", "jsx", "mjs", "cjs"],
        tree_sitter_javascript::LANGUAGE,
        javascript::seen,
    )
    .counting(is_literal)
    // What React Native calls JavaScript is Flow, which is nearer to TypeScript.
    .or(tree_sitter_typescript::LANGUAGE_TSX);
    compare(&grammar);
}

#[test]
fn typescript() {
    let grammar = Grammar::new(
        Language::JavaScript,
        &["ts", "mts", "cts"],
        tree_sitter_typescript::LANGUAGE_TYPESCRIPT,
        javascript::seen,
    )
    .counting(is_literal);
    compare(&grammar);
}

#[test]
fn tsx() {
    let grammar = Grammar::new(
        Language::JavaScript,
        &["tsx"],
        tree_sitter_typescript::LANGUAGE_TSX,
        javascript::seen,
    )
    .counting(is_literal);
    compare(&grammar);
}

#[test]
fn scripts_of_vue_and_svelte() {
    let grammar = Grammar::new(
        Language::JavaScript,
        &["vue", "svelte"],
        tree_sitter_typescript::LANGUAGE_TYPESCRIPT,
        javascript::seen,
    )
    .counting(is_literal)
    .in_parts(javascript::scripts);
    compare(&grammar);
}

#[test]
fn python() {
    let grammar = Grammar::new(
        Language::Python,
        &["py", "pyi"],
        tree_sitter_python::LANGUAGE,
        python::seen,
    )
    .counting(is_literal);
    compare(&grammar);
}

#[test]
fn rust() {
    let grammar = Grammar::new(Language::Rust, &["rs"], tree_sitter_rust::LANGUAGE, rust::seen).counting(is_static);
    compare(&grammar);
}

#[test]
fn go() {
    let grammar = Grammar::new(Language::Go, &["go"], tree_sitter_go::LANGUAGE, go::seen);
    compare(&grammar);
}

#[test]
fn java() {
    let grammar = Grammar::new(Language::Java, &["java"], tree_sitter_java::LANGUAGE, java::seen);
    compare(&grammar);
}

#[test]
fn kotlin() {
    let grammar = Grammar::new(
        Language::Kotlin,
        &["kt", "kts"],
        tree_sitter_kotlin_ng::LANGUAGE,
        kotlin::seen,
    );
    compare(&grammar);
}

#[test]
fn c() {
    let grammar = Grammar::new(Language::C, &["c", "m"], tree_sitter_c::LANGUAGE, c::seen).counting(is_include);
    compare(&grammar);
}

#[test]
fn cpp() {
    let grammar = Grammar::new(
        Language::C,
        &["h", "hpp", "cpp", "cc", "cxx", "hh", "mm", "ipp"],
        tree_sitter_cpp::LANGUAGE,
        c::seen,
    )
    .counting(is_include);
    compare(&grammar);
}

#[test]
fn csharp() {
    let grammar = Grammar::new(Language::CSharp, &["cs"], tree_sitter_c_sharp::LANGUAGE, csharp::seen);
    compare(&grammar);
}

#[test]
fn ruby() {
    let grammar = Grammar::new(
        Language::Ruby,
        &["rb", "rake", "gemspec"],
        tree_sitter_ruby::LANGUAGE,
        ruby::seen,
    )
    .counting(|import| is_literal(import) || is_include(import));
    compare(&grammar);
}

#[test]
fn php() {
    let grammar = Grammar::new(Language::Php, &["php", "inc"], tree_sitter_php::LANGUAGE_PHP, php::seen)
        .counting(|import| is_static(import) || is_include(import));
    compare(&grammar);
}

//! What counts as an import in Rust and what does not.

use super::super::{ImportKind, Language, imports, matches};

/// The raw paths of a file, in order; `?` for one that a macro puts in.
fn raws(source: &str) -> Vec<String> {
    let found = imports(Language::Rust, source.as_bytes()).unwrap_or_else(|fault| panic!("{source:?}: {fault:?}"));
    found
        .into_iter()
        .map(|import| match import.kind {
            ImportKind::Opaque => "?".to_owned(),
            _ => import.raw,
        })
        .collect()
}

fn hits(source: &str) -> bool {
    let found = imports(Language::Rust, source.as_bytes()).unwrap_or_else(|fault| panic!("{source:?}: {fault:?}"));
    found.iter().any(|import| matches("redis", Language::Rust, import))
}

fn why(source: &str) -> Option<String> {
    imports(Language::Rust, source.as_bytes())
        .err()
        .map(|opaque| opaque.why)
}

#[track_caller]
fn all_hit(sources: &[&str]) {
    for source in sources {
        assert!(hits(source), "missed: {source}");
    }
}

#[track_caller]
fn none_hits(sources: &[&str]) {
    for source in sources {
        assert!(!hits(source), "counted: {source}: {:?}", raws(source));
    }
}

#[test]
fn each_leaf_of_a_tree_is_an_import() {
    assert_eq!(
        raws("use {std::io, redis::{Client, aio::{self, Connection as C}, *}};"),
        [
            "std::io",
            "redis::Client",
            "redis::aio",
            "redis::aio::Connection",
            "redis::*"
        ]
    );
    assert_eq!(raws("use ::{a::b, c};"), ["::a::b", "::c"]);
    assert_eq!(raws("use {::a::b, c::{d,},};"), ["::a::b", "c::d"]);
    assert_eq!(
        raws("use crate::{db, self as me, x::*}; use super::super::y; use self::z;"),
        ["crate::db", "crate", "crate::x::*", "super::super::y", "self::z"]
    );
    assert_eq!(
        raws("use a::{b::{c, d}, e::{f::{g}}, h};"),
        ["a::b::c", "a::b::d", "a::e::f::g", "a::h"]
    );
    assert_eq!(raws("use a::b as c; use a::c as _;"), ["a::b", "a::c"]);
}

#[test]
fn what_is_found_has_its_identity_kind_and_place() {
    let source = "\u{feff}use std::io;\r\npub(crate) use ::redis::{\r\n    Client,\r\n    r#type as t,\r\n};\nfn f() { redis::cmd(); }";
    let found = imports(Language::Rust, source.as_bytes()).expect("readable");
    let facts: Vec<_> = found
        .iter()
        .map(|i| (i.raw.as_str(), i.identity.join(" "), i.kind, i.line, i.column))
        .collect();
    assert_eq!(
        facts,
        [
            ("std::io", "std io".into(), ImportKind::Static, 1, 5),
            ("::redis::Client", "redis Client".into(), ImportKind::ReExport, 3, 5),
            ("::redis::r#type", "redis type".into(), ImportKind::ReExport, 4, 5),
            ("redis::cmd", "redis cmd".into(), ImportKind::Reference, 6, 10),
        ]
    );
}

#[test]
fn uses_count_wherever_they_stand() {
    all_hit(&[
        "use redis;",
        "use redis as r;",
        "use r#redis::Client;",
        "use ::redis::Client;",
        "use :: redis :: Client ;",
        "use/**/redis/**/::/**/Client;",
        "use // x\n redis // y\n ::Client;",
        "#[cfg(feature = \"x\")] use redis::Client;",
        "#![allow(x)]use redis::Client;",
        "pub use redis::Client;",
        "pub(in crate::a) use redis::Client;",
        "pub (super) use redis::*;",
        "fn f() { let x = 1; use redis::Client; }",
        "fn f() { { { use redis::Client; } } }",
        "mod a { mod b { use redis::Client; } }",
        "m! { use redis::Client; }",
        "m!(use redis::Client;);",
        "m![a b use redis::Client];",
        "macro_rules! m { () => { use redis::Client; } }",
        "macro_rules! m { ($x:ident) => { use redis::$x; } }",
        "impl A { fn f() { use redis::Client; } }",
        "use a::b; use redis::Client;",
        "use {{{redis::Client}}};",
        "use std::{io, fmt}; use {a, redis};",
        "use redis::{};  use redis::{self};",
        "\u{feff}use redis::Client;",
        "use redis::Client;\r\n",
        "fn f<'a>(x: &'a str) {} use redis::Client;",
        "use\u{2028}redis::Client;",
        "use\u{85}redis::Client;",
    ]);
}

#[test]
fn extern_crate_is_an_import() {
    all_hit(&[
        "extern crate redis;",
        "extern crate redis as r;",
        "extern crate redis as _;",
        "extern crate r#redis;",
        "#[macro_use(x)] pub extern crate redis;",
        "extern\ncrate\nredis;",
        "fn f() { extern crate redis; }",
        "m! { extern crate redis; }",
    ]);
    none_hits(&[
        "extern crate self as redis;",
        "extern crate deadpool_redis;",
        "extern crate fred as redis; use redis::Client; fn f() { redis::cmd(); }",
        "extern \"C\" { fn redis(); }",
        "extern fn redis() {}",
    ]);
    let pub_kind = imports(Language::Rust, b"pub extern crate redis;").expect("readable")[0].kind;
    assert_eq!(pub_kind, ImportKind::ReExport);
}

#[test]
fn a_crate_at_the_root_of_a_path_is_a_reference() {
    all_hit(&[
        "fn f() { redis::cmd(\"x\"); }",
        "fn f() { ::redis::cmd(\"x\"); }",
        "fn f() { {} ::redis::cmd(\"x\"); }",
        "fn f(c: &redis::Client) {}",
        "fn f<'a>(c: &'a redis::Client) {}",
        "fn f(c: &'static mut redis::Client) {}",
        "fn f() -> ::redis::Client {}",
        "fn f() -> redis::Client {}",
        "fn f() -> impl redis::Cmd {}",
        "type T = Box<dyn redis::Cmd>;",
        "type T = <redis::Client as A>::B;",
        "type T = <A as redis::X>::B;",
        "impl redis::ToRedisArgs for A {}",
        "impl<T: redis::A> B for T where T: redis::C {}",
        "struct A(redis::Client);",
        "struct A(pub redis::Client);",
        "struct A(pub(crate) ::redis::Client);",
        "struct A(pub (redis::Client));",
        "struct A { redis: redis::Client }",
        "struct A { redis:redis::Client }",
        "#[redis::test] fn f() {}",
        "#[derive(redis::FromRedis)] struct A;",
        "#[cfg_attr(x, redis::test)] fn f() {}",
        "#![redis::x]",
        "fn f() { redis::m!(); }",
        "fn f() { x!(redis::cmd()); }",
        "fn f() { println!(\"{}\", redis::cmd()); }",
        "macro_rules! m { () => { redis::cmd() } }",
        "macro_rules! m { () => { ::redis::cmd() } }",
        "macro_rules! m { () => { $crate::a!(); redis::cmd() } }",
        "fn f() { 0..redis::MAX; }",
        "fn f() { 0..=redis::MAX; }",
        "fn f() { x[..redis::MAX]; }",
        "fn f() { a < redis::MAX; a > redis::MAX; }",
        "fn f() { a > ::redis::MAX; }",
        "fn f() { A { ..redis::a() } }",
        "fn f() { return redis::a(); }",
        "fn f() { x as redis::T }",
        "fn f() { match x { redis::A => 1 } }",
        "fn f() { if let Ok(redis::A) = x {} }",
        "fn f() { !redis::a() }",
        "fn f() { let redis = redis::Client::open(); }",
        "fn f() { redis /* a */ :: /* b */ cmd(); }",
        "fn f() { redis\n::cmd(); }",
        "fn f() { r#redis::cmd(); }",
        "fn f() { 'a: loop { break 'a redis::x(); } }",
        "fn f() { b'\\''; redis::x(); }",
        "const A: [u8; redis::N] = [];",
        "fn f() { x.y(redis::a).z; }",
        "fn f() { a::b::<redis::C>(); }",
        "fn f() { vec![1.0, redis::x()]; }",
        "fn f() { 1.max(redis::X); }",
        "pub(in redis::x) struct A(redis::B);",
    ]);
    none_hits(&[
        "fn f() { crate::redis::cmd(); self::redis::x(); super::redis::y(); Self::redis::z(); }",
        "fn f() { a::redis::cmd(); a :: redis :: cmd(); }",
        "fn f() { x.redis::<T>(); redis::<T>(); }",
        "fn f() { let redis = 1; redis.get(); redis(); }",
        "struct A { redis: u8 } fn redis(redis: A) -> bool { redis.redis }",
        "fn f() { <A>::redis(); <A as B>::redis(); Vec::<T>::redis(); }",
        "macro_rules! m { () => { $crate::redis::cmd() } }",
        "macro_rules! m { ($redis:ident) => { $redis::cmd() } }",
        "fn f() { Redis::cmd(); deadpool_redis::cmd(); redis_rs::cmd(); }",
        "fn f<redis>() {}",
        "fn f() { 'redis: loop {} }",
        "fn f() { x ? redis : y }",
        "pub(in redis::x) struct A;",
        "#[clippy::redis] fn f() {}",
        "impl A { const redis: u8 = 1; }",
    ]);
}

#[test]
fn comments_and_literals_never_count() {
    none_hits(&[
        "// use redis::X;",
        "/// ```\n/// use redis::X;\n/// ```\nfn f() {}",
        "//! use redis::X;",
        "/* use redis::X; */",
        "/* /* */ use redis::X; */",
        "/** use redis::X; */ fn f() {}",
        "const A: &str = \"use redis::X;\";",
        "const A: &str = \"\\\"use redis::X;\";",
        "const A: &str = \"\\\\\"; // use redis::X;",
        "const A: &str = \"\nuse redis::X;\n\";",
        "const A: &str = \"\\\nuse redis::X;\";",
        "const A: &str = r\"\\\"; const B: &str = r\"use redis::X;\";",
        "const A: &str = r#\"use redis::X; \"use redis::X;\"#;",
        "const A: &str = r##\"\"# use redis::X;\"##;",
        "const A: &[u8] = b\"use redis::X;\";",
        "const A: &[u8] = br#\"\"use redis::X;\"#;",
        "const A: &CStr = c\"use redis::X;\";",
        "const A: &CStr = cr#\"\"use redis::X;\"#;",
        "const A: char = '\"'; // use redis::X; \"",
        "const A: char = '\\''; // use redis::X;",
        "#[doc = \"use redis::X;\"] fn f() {}",
        "#[serde(with = \"redis::x\")] struct A;",
        "m!(\"redis::x\");",
        "#!/usr/bin/redis::x\nfn f() {}",
        "---\n[dependencies]\nredis = \"1\" # it's\n---\nfn f() {}",
        "#!/usr/bin/env x\n\n----\nit's\n---\n----\nfn f() {}",
    ]);
}

#[test]
fn literals_end_where_the_compiler_ends_them() {
    all_hit(&[
        "const S: &str = r#\"a\"b\"#; use redis::X;",
        "const A: char = '\"'; use redis::X; // \"",
        "const A: char = '\\\\'; use redis::X;",
        "const A: char = '\\u{22}'; use redis::X;",
        "const A: char = '\\u{1F600}'; use redis::X;",
        "const A: char = '\u{1F600}'; use redis::X;",
        "const A: char = '\u{e9}'; use redis::X;",
        "const A: char = '/'; use redis::X; // '",
        "const A: u8 = b'\"'; use redis::X; // \"",
        "const A: u8 = b'\\\\'; use redis::X;",
        "fn f<'a, 'b>() {} use redis::X; // '",
        "fn f() { m!('a 'b' 'c); } use redis::X;",
        "const A: &str = \"\\\\\"; use redis::X;",
        "const A: &str = \"\\\"\"; use redis::X; // \"",
        "const A: &str = r\"\\\"; use redis::X; // \"",
        "const A: &[u8] = br\"\\\"; use redis::X; // \"",
        "const A: &str = \"//\"; use redis::X;",
        "const A: &str = \"/*\"; use redis::X;",
        "/* \" */ use redis::X; // \"",
        "/* ' */ use redis::X;",
        "// ' \" /*\nuse redis::X;",
        "/**/ use redis::X;",
        "/***/ use redis::X; /**/",
        "/*/**/*/ use redis::X;",
        "//\\\nuse redis::X;",
        "const A: &str = r#\"\\\"#; use redis::X;",
        "fn r() { r# /* \" */; } use redis::X; // \"",
        "fn r#fn() {} use redis::X;",
        "m!(r #\"a\"#); use redis::X;",
        "fn f() { 1u8; 0x1f; 1e5; 1.0e-5f32; 1_0; } use redis::X;",
        "#!/usr/bin/env x's \"\nuse redis::X;",
        "#![cfg(x)] use redis::X;",
        "#! /* x */ [cfg(x)] use redis::X;",
        "#!\n[cfg(x)] use redis::X;",
        "---cargo\nit's\n---\nuse redis::X;",
        // Of the editions that end the literal in different places, either.
        "m!(cr\"\\\"); use redis::X; m!(\"\");",
        "m!(cr\"\\\" use redis::X; \"\");",
        "---\n1 + { use redis::X; 2 }\n---\n3",
    ]);
}

#[test]
fn a_module_of_the_file_hides_the_crate_where_it_is_visible() {
    none_hits(&[
        "mod redis; use redis::Client;",
        "use redis::Client; mod redis;",
        "mod redis { pub struct Client; } use redis::Client;",
        "pub(crate) mod redis; pub use redis::*;",
        "#[path = \"r.rs\"] mod redis; use redis::Client;",
        "mod r#redis; use redis::Client;",
        "mod redis; fn f() { redis::cmd(); { redis::cmd(); } }",
        "fn f() { mod redis {} redis::cmd(); }",
        "mod a { mod redis {} use redis::Client; fn f() { redis::x() } }",
        "mod redis; mod tests { use super::*; fn f() { redis::x() } }",
        "mod redis; mod a { use super::*; mod b { use super::*; fn f() { redis::x() } } }",
        "use a::redis; mod tests { use super::*; fn f() { redis::x() } }",
        "#[cfg(feature = \"r\")] mod redis; #[cfg(feature = \"r\")] pub use redis::Store;",
        "#[cfg(feature = \"r\")] mod redis; #[cfg( feature=\"r\" )] fn f() { redis::x() }",
        "#[cfg(feature = \"r\")] mod redis; #[cfg(feature = \"r\")] mod a { use super::*; fn f() { redis::x() } }",
        "#[cfg_attr(docsrs, doc(cfg(feature = \"r\")))] mod redis; use redis::Store;",
        "fn f() { use crate::redis; redis::x(); }",
        "use a::{redis}; fn f() { redis::x(); }",
        "use a::redis::{self}; fn f() { redis::x(); }",
        "enum redis { A } use redis::A;",
        "mod redis; macro_rules! m { () => {} } fn f() { m!(redis::x()) }",
        "use super::redis; use self::redis;",
    ]);
    assert_eq!(
        raws("mod redis; use redis::{A, b::C};"),
        ["self::redis::A", "self::redis::b::C"]
    );
}

#[test]
fn a_module_elsewhere_hides_nothing() {
    all_hit(&[
        "mod x { mod redis {} } use redis::Client;",
        "fn f() { mod redis {} } use redis::Client;",
        "fn f() { { mod redis {} } redis::cmd(); }",
        "fn f() { mod redis {} } fn g() { redis::cmd(); }",
        "mod redis {} mod a { use redis::Client; }",
        "mod redis {} mod a { fn f() { redis::cmd() } }",
        "mod redis {} mod a { fn g() { use super::*; } fn f() { redis::cmd() } }",
        "mod redis {} mod a { mod b { use super::*; } fn f() { redis::cmd() } }",
        "mod redis {} mod a { m! { use super::*; } fn f() { redis::cmd() } }",
        "mod redis {} mod a { #[cfg(any())] use super::*; fn f() { redis::cmd() } }",
        "mod redis {} mod a { use super::redis2::*; fn f() { redis::cmd() } }",
        "mod redis; use ::redis::Client;",
        "mod redis; fn f() { ::redis::cmd(); }",
        "mod redis; extern crate redis;",
        "mod redis2; use redis::Client;",
        "#[cfg(any())] mod redis {} use redis::Client;",
        "#[cfg(a)] mod redis {} #[cfg(b)] use redis::Client;",
        "#[cfg(feature = \"a\")] mod redis {} #[cfg(feature = \"b\")] use redis::Client;",
        "#[cfg(any())] #[allow(x)] mod redis {} use redis::Client;",
        "#[allow(x)] #[cfg(any())] pub mod redis {} use redis::Client;",
        "#[cfg_attr(all(), cfg(any()))] mod redis {} use redis::Client;",
        "#[r#cfg(any())] mod redis {} use redis::Client;",
        "mod redis { #![cfg(any())] } use redis::Client;",
        "#[cfg(any())] mod redis { #![cfg(any())] } use redis::Client;",
        "#[cfg(any())] mod redis {} fn f<#[cfg(any())] T>() { redis::cmd() }",
        "#[cfg(any())] mod redis {} #[cfg(any())] struct A; fn f() { redis::cmd() }",
        "#[cfg(any())] mod redis {} #[cfg(any())] fn a() {} fn f() { redis::cmd() }",
        "ignore! { mod redis {} } use redis::Client;",
        "ignore! { mod redis; use redis::Client; }",
        "ignore!(mod redis;); use redis::Client;",
        "ignore!(struct redis;); fn f() { redis::cmd(); }",
        "macro_rules! m { () => { mod redis {} } } use redis::Client;",
        "mod redis {} macro_rules! m { () => { redis::cmd() } }",
        "use std::mem::drop as redis; use redis::Client;",
        "use std::mem::drop as redis; fn f() { redis::cmd(); }",
        "use crate::redis; use redis::Client;",
        "fn redis() {} use redis::Client;",
        "fn f() { let redis = 1; redis::cmd(); }",
        "const redis: u8 = 1; fn f() { redis::cmd(); }",
        "impl A { type redis = u8; fn f() { redis::cmd() } }",
        "#[cfg(x)] use crate::redis; fn f() { redis::cmd(); }",
        "m!(use crate::redis;); fn f() { redis::cmd(); }",
        "struct A { redis: B } use redis::Client;",
    ]);
}

#[test]
fn names_of_types_are_local_where_the_file_has_them() {
    let identities = |source: &str| -> Vec<usize> {
        let found = imports(Language::Rust, source.as_bytes()).expect("readable");
        found.iter().map(|import| import.identity.len()).collect()
    };
    assert_eq!(identities("enum State { A } use State::*;"), [0]);
    assert_eq!(identities("use crate::State; use State::*;"), [0, 0]);
    assert_eq!(identities("use a::B as State; use State::A;"), [2, 0]);
    assert_eq!(identities("use Inflector::x;"), [2]);
    assert_eq!(
        identities("fn f() { State::new(); u8::MAX; str::from_utf8(x); }"),
        [0; 0]
    );
}

#[test]
fn a_name_that_a_macro_puts_in_is_opaque_and_its_arguments_count() {
    let source = "macro_rules! m { ($c:ident) => { use $c::Client; } } m!(redis);";
    assert_eq!(raws(source), ["?", "redis"]);
    all_hit(&[
        "macro_rules! m { ($c:ident) => { use $c; } } m! { redis }",
        "macro_rules! m { ($c:ident) => { extern crate $c; } } m![redis];",
        "macro_rules! m { ($c:ident) => { $c::cmd() } } fn f() { m!(a, (redis)); }",
        "macro_rules! m { ($($c:ident),*) => { use {$($c::X),*}; } } m!(a, redis);",
    ]);
    none_hits(&[
        "macro_rules! m { ($c:ident) => { $c.x() } } fn f() { m!(redis); }",
        "macro_rules! m { ($c:ident) => { use $c::Client; } } n!(redis);",
        "macro_rules! m { ($c:ident) => { $c::cmd() } } fn f() { m!(x.redis, a::redis); }",
    ]);
    for source in [
        "macro_rules! m { (use $p:path;) => {} }",
        "macro_rules! m { (extern crate $p:ident;) => {} }",
        "macro_rules! m { () => { use $crate::a; } }",
        "macro_rules! m { ($c:ident) => { $c::MAX } }",
        "macro_rules! m { ($c:ident) => { use super::$c; } }",
    ] {
        assert!(!raws(source).contains(&"?".to_owned()), "{source}");
    }
}

#[test]
fn words_that_look_like_imports_are_none() {
    for source in [
        "fn f<'a, T>() -> impl A + use<'a, T> {}",
        "fn f() { x.use; r#use(redis); }",
        "fn f() { use || 1; }",
        "use crate; use {}; use {{}, {}};",
    ] {
        assert!(!hits(source), "{source}");
    }
}

#[test]
fn what_never_ends_is_refused() {
    for source in [
        "\"",
        "\"\\\"",
        "r\"",
        "r#\"\"",
        "br##\"\"#",
        "cr\"",
        "/*",
        "/* /* */",
        "'",
        "'\\",
        "'\\'",
        "'\n",
        "b'\\x",
        "c\"",
        "b\"",
        "m!(' );",
        "use redis; '",
    ] {
        assert!(why(source).is_some_and(|why| why.contains("end")), "{source:?}");
    }
}

#[test]
fn a_rename_of_an_own_path_hides_the_crate_from_paths() {
    assert!(!hits("use crate::db as redis; fn f() { redis::x() }"));
    assert!(!hits("use self::{db as redis, a}; fn f() { redis::x() }"));
    assert!(hits("use crate::db as redis; use redis::Client;"));
    assert!(hits("use other::db as redis; fn f() { redis::x() }"));
    assert!(hits("mod a { use super::db as redis; } fn f() { redis::x() }"));
}

#[test]
fn files_named_by_their_path_are_includes() {
    for (source, raw) in [
        ("include!(\"a.rs\");", "a.rs"),
        ("include! [ r#\"a.rs\"# ];", "a.rs"),
        ("include!{\"a\\x2ers\",}", "a.rs"),
        ("include!(concat!(\"a\", \".rs\"));", "a.rs"),
        (
            "include!(concat!(env!(\"CARGO_MANIFEST_DIR\"), \"/../a.rs\"));",
            "$CARGO_MANIFEST_DIR/../a.rs",
        ),
        ("#[path = \"a.rs\"] mod b;", "a.rs"),
        ("#[path=\"a.rs\"]\n#[cfg(x)]\npub(crate) mod b;", "a.rs"),
        ("#[cfg_attr(unix, path = \"a.rs\")] mod b;", "a.rs"),
        ("mod c { #[path = \"a.rs\"] mod b; }", "a.rs"),
        ("include!(concat!(\"a\", $x));", "?"),
        ("include!(X);", "?"),
    ] {
        assert_eq!(raws(source), [raw], "{source}");
    }
    for source in [
        "include!(concat!(env!(\"OUT_DIR\"), \"/a.rs\"));",
        "include_str!(\"a.rs\");",
        "// include!(\"a.rs\")\n",
        "let s = \"include!(a)\";",
        "#[utoipa_path(path = \"/users\")] mod b;",
        "#[path = \"/users\"] fn b() {}",
        "fn include() { x.include(\"a.rs\") }",
    ] {
        assert_eq!(raws(source), [""; 0], "{source}");
    }
}

#[test]
fn a_path_inside_a_moved_module_goes_on_from_there() {
    for (source, paths) in [
        (
            "#[path = \"../db\"] mod a { #[path = \"s.rs\"] mod s; }",
            &["../db", "../db/s.rs"][..],
        ),
        (
            "#[path = \"../db\"] mod a { mod b { #[path = \"s.rs\"] mod s; } }",
            &["../db", "../db/b/s.rs"],
        ),
        (
            "mod b { #[path = \"../db\"] mod a { #[path = \"s.rs\"] mod s; } }",
            &["../db", "b/../db/s.rs"],
        ),
        (
            "#[path = \"..\"] mod a { #[path = \"db\"] mod b { pub mod r#s; } }",
            &["..", "../db", "../db/s.rs"],
        ),
        ("#[cfg_attr(x, path = \"..\")] mod a { mod s; }", &["..", "../s.rs"]),
        (
            "#[path = \"..\"] mod a { } mod s; mod b { #[path = \"x.rs\"] mod x; }",
            &["..", "x.rs"],
        ),
        ("#[path = \"..\"] mod a { fn f() { { } } mod s; }", &["..", "../s.rs"]),
        ("#[path = \"x.rs\"] mod a; mod b { mod s; }", &["x.rs"]),
    ] {
        let found = imports(Language::Rust, source.as_bytes()).expect(source);
        let raws: Vec<&str> = found.iter().map(|import| import.raw.as_str()).collect();
        assert_eq!(raws, paths, "{source}");
    }
}

#[test]
fn many_moved_modules_end_soon() {
    let started = std::time::Instant::now();
    let nested = "#[path = \"..\"] mod a { mod s; ".repeat(20_000);
    assert!(imports(Language::Rust, nested.as_bytes()).is_ok());
    assert!(started.elapsed().as_secs() < 20);
}

//! What counts as an import of PHP and what does not.

use std::time::{Duration, Instant};

use proptest::prelude::*;

use super::super::tests::{hits, raws};
use super::super::{ImportKind, Language, imports};
use super::mask::{ShortTags, mask};

/// Without the classes of the global namespace and the file's own, and without strings that only may be names.
fn of(source: &str) -> Vec<String> {
    let found = raws(Language::Php, source);
    let globals: Vec<String> = imports(Language::Php, source.as_bytes())
        .unwrap_or_default()
        .into_iter()
        .filter(|import| {
            let is_global = import.kind == ImportKind::Reference && import.identity.len() == 1;
            is_global || matches!(import.kind, ImportKind::Relative | ImportKind::Text)
        })
        .map(|import| import.raw)
        .collect();
    found.into_iter().filter(|raw| !globals.contains(raw)).collect()
}

fn hit(source: &str) -> bool {
    hits(Language::Php, source, "predis")
}

#[test]
fn fixtures_count_as_they_should() {
    for (source, is) in [
        (include_str!("../../../../fixtures/imports/must-hit/a02.php"), true),
        (include_str!("../../../../fixtures/imports/must-hit/a04.php"), true),
        (include_str!("../../../../fixtures/imports/must-hit/a06.php"), true),
        (include_str!("../../../../fixtures/imports/must-not-hit/b02.php"), false),
    ] {
        assert_eq!(hit(source), is, "{source}");
    }
}

#[test]
fn every_form_of_use_is_found() {
    for (code, expected) in [
        ("use A\\B, Predis\\Client;", &["A\\B", "Predis\\Client"][..]),
        ("USE \\Predis\\Client AS C;", &["Predis\\Client"]),
        ("use Predis \\ Client;", &["Predis\\Client"]),
        ("use /* a */ Predis\\Client // b\n;", &["Predis\\Client"]),
        (
            "use Predis\\{Client, Connection\\Factory as F, function f, const C,};",
            &[
                "Predis\\Client",
                "Predis\\Connection\\Factory",
                "Predis\\f",
                "Predis\\C",
            ],
        ),
        ("use function Predis\\f as g, Predis\\h;", &["Predis\\f", "Predis\\h"]),
        ("use function Predis\\{a, b};", &["Predis\\a", "Predis\\b"]),
        ("use const Predis\\C;", &["Predis\\C"]),
        ("namespace A; use Predis\\Client;", &["Predis\\Client"]),
        ("namespace A { use Predis\\Client; }", &["Predis\\Client"]),
        ("use Predis;", &["Predis"]),
        (
            "class A { function f() { return function () use ($x) {}; } } use Predis\\C;",
            &["Predis\\C"],
        ),
        (
            "$a = new class(fn() => 1) extends B { use T; }; use Predis\\C;",
            &["Predis\\C"],
        ),
        ("echo A::class; use Predis\\C;", &["Predis\\C"]),
    ] {
        assert_eq!(of(&format!("<?php {code}")), expected, "{code}");
    }
}

#[test]
fn names_that_are_certain_are_references() {
    for code in [
        "new \\Predis\\Client();",
        "namespace A; new \\Predis\\Client();",
        "new Predis\\Client();",
        "use Predis as P; new P\\Client();",
        "namespace A; use Predis\\Connection; new Connection\\Factory;",
        "function f(\\Predis\\Client $c): ?\\Predis\\X {}",
        "class A extends \\Predis\\Client implements \\B {}",
        "class A { use \\Predis\\T; }",
        "class A { use \\Predis\\T { x as y; } }",
        "try {} catch (\\A | \\Predis\\E $e) {}",
        "#[\\Predis\\Attr]\nclass A {}",
        "# comment '\n#[Predis\\Attr] class A {}",
        "echo \\Predis\\Client::class;",
        "\\Predis\\f();",
        "\\predis\\f();",
        "$x = \"{$a[\\Predis\\C::X]}\";",
        "$x = \"${a[\\Predis\\C::X]}\";",
        "$x = <<<A\n {$a[\\Predis\\C::X]}\n A;",
        "if (class_exists('Predis\\Client')) {}",
        "if (\\class_exists(\"\\\\Predis\\\\Client\")) {}",
        "is_a($x, 'Predis\\Client');",
        "new \\ReflectionClass('Predis\\Client');",
        "'Predis\\Client'::create();",
        "$x = <<<'A'\n'\n  A . \\Predis\\f();",
        "$x = <<<A\n\"\nA;\nnew \\Predis\\C;",
        "$x = [<<<A\n  AB\n  A, new \\Predis\\C];",
        "// ' ?> ' <?php new \\Predis\\C;",
        "$x = '\\\\'; new \\Predis\\C; // '",
        "$x = `ls \"$y\"`; new \\Predis\\C; // `",
        "?><?= new \\Predis\\C ?>",
        "if ($a): ?> it's <?php endif; new \\Predis\\C;",
        "$a?->b; new \\Predis\\C;",
        "$x->__halt_compiler(); new \\Predis\\C;",
        "throw new \\Predis\\E('x');",
        "new Predis \\ Client;",
    ] {
        assert!(hit(&format!("<?php {code}")), "{code}");
    }
    assert!(hit("<? new \\Predis\\C;"));
    assert!(hit("<? ' ?><?php new \\Predis\\C; ?><? ' ?>"));
    assert!(hit("<? /* ?><?php new \\Predis\\C;"));
}

#[test]
fn what_is_no_import_does_not_count() {
    for code in [
        "// use Predis\\Client;",
        "# use Predis\\Client;",
        "/* use Predis\\Client; */",
        "$x = 'use Predis\\Client;';",
        "$x = \"use \\Predis\\Client; $y\";",
        "$x = <<<A\nnew \\Predis\\C;\nA;",
        "$x = <<<'A'\n{$a[\\Predis\\C::X]}\nA;",
        "?> new \\Predis\\C; <?php",
        "__halt_compiler(); new \\Predis\\C;",
        "namespace A; new Predis\\Client;",
        "namespace A; namespace\\Predis\\f();",
        "function () use ($predis) {};",
        "$predis->use; $x->Predis; Predis();",
        "log('the Predis\\Client');",
        "new PredisClient;",
    ] {
        assert!(!hit(&format!("<?php {code}")), "{code}");
    }
    assert!(!hit("use Predis\\Client;"));
    assert!(!hit("<?xml version='1.0'?> use Predis\\Client;"));
}

#[test]
fn includes_name_packages_or_are_local_or_opaque() {
    for (code, expected) in [
        ("require 'vendor/predis/predis/autoload.php';", true),
        (
            "require_once __DIR__ . '/../vendor/predis/predis/src/Client.php';",
            true,
        ),
        (
            "include(dirname(__FILE__) . \"/vendor/\" . 'predis/predis/x.php');",
            true,
        ),
        ("require $dir . '/vendor/predis/predis/x.php';", true),
        ("require \"$dir/vendor/predis/predis/x.php\";", true),
        ("require __DIR__ . '/third_party/predis/autoload.php';", true),
        ("require 'lib/vendor/predis/autoload.php';", true),
        ("require __DIR__ . '/third_party/predis.php';", false),
        ("require 'Predis/Autoloader.php';", true),
        ("$x = include $y ? 'Predis/Autoloader.php' : 'b.php';", true),
        ("require __DIR__ . '/vendor/autoload.php';", false),
        ("require __DIR__ . '/Predis/x.php';", false),
        ("require './Predis/x.php';", false),
        ("require 'predis.php';", false),
        ("f(require: 'Predis/x.php');", false),
    ] {
        assert_eq!(hit(&format!("<?php {code}")), expected, "{code}");
    }
    for (code, expected) in [
        ("require __DIR__ . '/x.php';", "/x.php"),
        ("require_once(dirname(__DIR__, 2) . '/x' . '.php');", "/x.php"),
        ("(include 'a.php')['k'];", "a.php"),
        ("include 'a.php' or die('b/c.php');", "a.php"),
        ("require $x;", "?"),
        ("require ABSPATH;", "?"),
        ("require \"$x.php\" ;", "?"),
    ] {
        assert_eq!(of(&format!("<?php {code}"))[0], expected, "{code}");
    }
    assert_eq!(
        of("<?php $x->require($y); A::include($z); function require($x) {}"),
        [""; 0]
    );
}

#[test]
fn what_never_ends_is_refused() {
    for source in [
        "<?php '",
        "<?php \"",
        "<?php /*",
        "<?php <<<A\n",
        "<?php `",
        "<?php \"{$a",
        "<?php '\\",
    ] {
        assert!(imports(Language::Php, source.as_bytes()).is_err(), "{source:?}");
    }
    assert_eq!(of("it's \" not php"), [""; 0]);
}

#[test]
fn names_that_stand_for_gigabytes_are_refused() {
    let source = format!("<?php use A{}\\{{{}}};", "\\A".repeat(5000), "a,".repeat(500_000));
    assert!(imports(Language::Php, source.as_bytes()).is_err());
}

#[test]
fn a_script_is_known_by_its_first_line() {
    use super::super::language_of;
    assert_eq!(language_of(b"bin/x", b"#!/usr/bin/php8.2\n<?php"), Some(Language::Php));
    assert_eq!(language_of(b"bin/x", b"#!/usr/bin/env php\n<?php"), Some(Language::Php));
}

const SOUP: &[&str] = &[
    "<?php ",
    "<?=",
    "<?",
    "?>",
    "use",
    "namespace",
    "class",
    "function",
    "include",
    "require_once",
    "class_exists",
    "new",
    "\\",
    "A",
    "a",
    "{",
    "}",
    "(",
    ")",
    ";",
    ",",
    "'",
    "\"",
    "`",
    "$",
    "{$",
    "${",
    "<<<A\n",
    "<<<'A'\n",
    "\nA;\n",
    "#",
    "#[",
    "//",
    "/*",
    "*/",
    "\n",
    "\r\n",
    "\r",
    " ",
    "->",
    "::",
    "=",
    ".",
    "as",
    "__DIR__",
    "__halt_compiler",
    "();",
    "vendor/a/b/c",
    "é",
    "\u{1}",
    "\u{2}",
    "\u{3}",
    "\u{feff}",
    "enum",
    "const",
];

fn check(source: &[u8]) {
    for tags in [ShortTags::On, ShortTags::Off] {
        if let Ok(masked) = mask(source, tags) {
            assert_eq!(masked.mask.len(), source.len());
            for (at, byte) in source.iter().enumerate() {
                assert_eq!(*byte == b'\n', masked.mask[at] == b'\n');
            }
        }
    }
    let _ = imports(Language::Php, source);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn arbitrary_text_never_panics(words in proptest::collection::vec(proptest::sample::select(SOUP), 0..60)) {
        check(words.concat().as_bytes());
        check(["<?php ".to_owned(), words.concat()].concat().as_bytes());
    }

    #[test]
    fn arbitrary_bytes_never_panic(source in proptest::collection::vec(any::<u8>(), 0..200)) {
        check(&source);
        let _ = super::scan(&source);
    }
}

#[test]
fn hostile_files_end_soon() {
    const SIZE: usize = if cfg!(debug_assertions) { 1 << 18 } else { 14 << 20 };
    for unit in [
        "use ",
        "use A\\",
        "use A\\{",
        "use A,",
        "\\A",
        "\\ ",
        "A\\A ",
        "namespace A;",
        "class A {",
        "include ",
        "include 'a' .",
        "is_a(",
        "class_exists(",
        "'a'",
        "\"{$",
        "\"${a",
        "<<<A\n",
        "<<<",
        "\"",
        "'",
        "`",
        "/*",
        "#",
        "{",
        "(",
        "[",
        "<?php ",
        "<?",
        "?>",
        "<",
        "__halt_compiler ",
        "__halt_compiler",
        "namespace\\a",
        "function use ",
        "enum ",
        "new (",
        "a\n",
    ] {
        let mut source = format!("<?php {}", unit.repeat(SIZE / unit.len()));
        for tail in ["", "\nA;\n", "'", "*/", "; use A;"] {
            source.push_str(tail);
            let began = Instant::now();
            let _ = imports(Language::Php, source.as_bytes());
            assert!(
                began.elapsed() < Duration::from_secs(5),
                "{unit:?} took {:?}",
                began.elapsed()
            );
        }
    }
    for (open, close) in [("(", ")"), ("[", "]"), ("{", "}"), ("\"{$a[", "]}\"")] {
        let source = format!(
            "<?php $x = {}1{}; use Predis\\C;",
            open.repeat(200_000),
            close.repeat(200_000)
        );
        assert_eq!(of(&source), ["Predis\\C"], "{open}");
    }
}

#[test]
fn a_file_in_a_library_s_namespace_needs_no_import() {
    for source in [
        "<?php namespace Predis; new Client;",
        "<?php namespace Predis\\Connection { }",
    ] {
        assert!(hits(Language::Php, source, "predis"), "{source}");
    }
    assert!(!super::super::tests::hits(
        Language::Php,
        "<?php namespace App\\Predis;",
        "predis"
    ));
}

#[test]
fn a_class_of_the_global_namespace_needs_no_import() {
    for code in [
        "$r = new Predis();",
        "$r = new Predis;",
        "Predis::connect();",
        "f(Predis::class);",
        "class A extends Predis {}",
        "class A implements B, Predis {}",
        "class A { use Predis; }",
        "class A { private Predis $r; }",
        "class A { function f(): Predis {} }",
        "interface A { function f(): ?Predis; }",
        "fn(): Predis => x();",
        "function f(Predis $r) {}",
        "function f(?Predis $r) {}",
        "function f(Predis|false $r) {}",
        "function f(A|Predis $r) {}",
        "function f(Predis ...$r) {}",
        "function f(Predis &$r) {}",
        "try {} catch (Predis $e) {}",
        "try {} catch (Predis | A $e) {}",
        "if ($x instanceof Predis) {}",
        "#[Predis]\nclass A {}",
        "if (false) { class Predis {} } new Predis();",
        "namespace { new Predis(); }",
    ] {
        assert!(hit(&format!("<?php {code}")), "{code}");
    }
    for code in [
        "class Predis {} new Predis();",
        "new Predis(); interface Predis {}",
        "use A\\B as Predis; new Predis();",
        "namespace A; new Predis();",
        "namespace A { new Predis(); }",
        "$predis->x(); predis(); $predis::x();",
        "$x->Predis; A::PREDIS; $x = PREDIS;",
        "$x = $a ? PREDIS : 1;",
        "$x = PREDIS & $y; $x = PREDIS . $y;",
        "f(PREDIS, $x);",
        "function predis($x) {}",
        "$x = [PREDIS => 1];",
        "goto predis; predis: f();",
    ] {
        assert!(!hit(&format!("<?php {code}")), "{code}");
    }
}

#[test]
fn a_name_begins_in_the_namespace_of_its_file() {
    for source in [
        "<?php namespace Vendor\\Redis; new Client;",
        "<?php namespace Vendor; new Redis\\Client;",
        "<?php namespace Vendor { function f(Redis\\Client $c) { } }",
        "<?php namespace Vendor\\Redis; class A extends Client { }",
        "<?php namespace Vendor\\Redis; Client::open();",
        "<?php namespace Vendor; namespace\\Redis\\Client::open();",
        "<?php namespace vendor\\redis; new client;",
        "<?php namespace A; class Client {} namespace Vendor\\Redis; new Client;",
        "<?php namespace Vendor\\Redis { if (x) { class Client {} } new Client; }",
    ] {
        assert!(hits(Language::Php, source, "Vendor\\Redis\\Client"), "{source}");
    }
}

#[test]
fn another_namespace_s_names_are_not_the_entry_s() {
    for source in [
        "<?php namespace Vendor\\Redis; new \\Client;",
        "<?php namespace Vendor\\Redis; use Own\\Client; new Client;",
        "<?php namespace Vendor\\Redis; class Client {} new Client;",
        "<?php namespace Vendor\\Redis { class Client {} new Client; }",
        "<?php namespace Own\\Vendor; new Redis\\Client;",
        "<?php namespace Vendor\\Redis; client(); $client = CLIENT; new Clients;",
        "<?php namespace Vendor\\Redis { } namespace { new Client; }",
    ] {
        assert!(!hits(Language::Php, source, "Vendor\\Redis\\Client"), "{source}");
    }
    // The declaration tells of what lies in a forbidden namespace.
    let found = imports(Language::Php, b"<?php namespace Vendor\\Redis; new Other;").expect("it can be read");
    let hit = found
        .iter()
        .filter(|import| super::super::matches("Vendor\\Redis", Language::Php, import));
    assert_eq!(hit.count(), 1);
    assert!(!hits(Language::Php, "<?php namespace App\\Redis; new Client;", "redis"));
}

#[test]
fn strings_that_are_qualified_names_may_be_classes() {
    for source in [
        "<?php array_map(\"Redis\\\\Client::x\", $a);",
        "<?php array_map('Redis\\Client::x', $a);",
        "<?php usort($a, ['Redis\\Client', 'x']);",
        "<?php define('X', 'Redis\\Client');",
        "<?php const X = \"\\\\Redis\\\\Client\";",
        "<?php return ['a' => 'Redis\\\\Client'];",
    ] {
        assert!(hits(Language::Php, source, "Redis\\Client"), "{source}");
        assert!(hits(Language::Php, source, "redis"), "{source}");
    }
    for source in [
        "<?php $a = 'redis'; f(['redis', 'x']);",
        "<?php f('the \\Redis\\Client class'); f('/\\bredis\\b/');",
        "<?php f('C:\\redis\\x'); f('redis\\\\'); f('\\redis');",
        "<?php f('Redis\\Clients'); f('RedisX\\Client');",
        "<?php // 'Redis\\Client'",
    ] {
        assert!(!hits(Language::Php, source, "Redis\\Client"), "{source}");
    }
    assert!(!hits(
        Language::Php,
        "<?php f('\\redis'); f('/\\bredis\\b/'); f('redis');",
        "redis"
    ));
}

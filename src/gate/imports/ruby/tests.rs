//! What counts as an import of Ruby and what does not.

use std::time::{Duration, Instant};

use proptest::prelude::*;

use super::super::tests::{hits, raws};
use super::super::{Language, imports};
use super::mask::mask;

fn of(source: &str) -> Vec<String> {
    raws(Language::Ruby, source)
}

#[test]
fn fixtures_count_as_they_should() {
    for (source, hit) in [
        (include_str!("../../../../fixtures/imports/must-hit/a01.rb"), true),
        (include_str!("../../../../fixtures/imports/must-hit/a03.rb"), true),
        (include_str!("../../../../fixtures/imports/must-hit/a05.rb"), true),
        (include_str!("../../../../fixtures/imports/must-hit/a07.rb"), true),
        (include_str!("../../../../fixtures/imports/must-not-hit/b01.rb"), false),
        (include_str!("../../../../fixtures/imports/must-not-hit/b03.rb"), false),
        (include_str!("../../../../fixtures/imports/must-not-hit/b05.rb"), false),
    ] {
        assert_eq!(hits(Language::Ruby, source, "redis"), hit, "{source}");
    }
}

#[test]
fn literal_imports_are_found_however_they_are_written() {
    for source in [
        "require 'redis'",
        "\u{feff}require(\"redis\")",
        "require (\n  \"redis\"\n)",
        "require \"re\" \"dis\"",
        "require \"re\" \\\n  \"dis\"",
        "require \"re\" + 'dis'",
        "require \"\\x72\\u{65}dis\"",
        "require %q(redis)",
        "require %(redis)",
        "require %Q<redis>",
        "require \"redis\".freeze",
        "Kernel.require 'redis'",
        "Kernel::require 'redis'",
        "::Kernel.require 'redis'",
        "Kernel\n  .require 'redis'",
        "x = require 'redis'",
        "begin require 'redis'; rescue LoadError; end",
        "require 'redis' if x",
        "x and require 'redis'",
        "x ? require('redis') : y",
        "Kernel.send(:require, 'redis')",
        "send :require, 'redis'",
        "__send__(\"require\", 'redis')",
        "public_send(:\"require\", 'redis')",
        "load 'redis'",
        "gem 'redis'",
        "gem 'redis', '~> 4'",
        "autoload :Redis, 'redis'",
        "autoload(:Redis,\n 'redis')",
        "Object.autoload(\"Redis\", 'redis')",
        "Foo.autoload name.to_sym, 'redis'",
        "s = \"#{require 'redis'}\"",
        "s = \"#{\"#{require 'redis'}\"}\"",
        "s = <<~A\n  #{require 'redis'}\nA\n",
        "f(<<~A, <<-'B', 1)\n  #{x}'\n  A\n # \" #{y\n  B\nrequire 'redis'",
        "f(<<A + \"x\n a\nA\ny\")\nrequire 'redis'",
        "s = <<A\n#{<<B}\n\"\nB\n'\nA\nrequire 'redis'",
        "s = <<\"A B\"\n'\nA B\nrequire 'redis'",
        "s = <<A\nx\\\nA\n'\nA\nrequire 'redis'",
        "s = <<A\r\n'\r\nA\r\nrequire 'redis'\r\n",
        "a = b / c; d = \"/\"\nrequire 'redis'",
        "a = 1 / 2 # '\nrequire 'redis'",
        "x.y /\"/\nrequire 'redis'",
        "foo /'/, 1\nrequire 'redis'",
        "foo(/['\"]/)\nrequire 'redis'",
        "a = b[1] / 2; '/'\nrequire 'redis'",
        "if /\"/ =~ x then end\nrequire 'redis'",
        "x = y ? '/' : ?\"\nrequire 'redis'",
        "x.nil? ? 1 : 2\nrequire 'redis'",
        "[?', ?\\\", ?\\C-a, ?\\u{41}]\nrequire 'redis'",
        "$\" << $' << $` << $/\nrequire 'redis'",
        "def `(x) end; def /(x) end; def %(x) end; def <<(x) end; def ==(x) end\nrequire 'redis'",
        "a.map(&:/); b = :%; c = :`; d = :\"'\"; e = :[]=\nrequire 'redis'",
        "alias / quo\nalias_method :x, :y\nrequire 'redis'",
        "%w(a ' \" (b) c)\n%i[' ]\nrequire 'redis'",
        "%r{['\"/]}x =~ y; %s(')\nrequire 'redis'",
        "puts %{'} % [1]\nrequire 'redis'",
        "x = y % 3; z %= 4; x /= 2 # '\nrequire 'redis'",
        "=begin\n\"\n=end\nrequire 'redis'",
        "class << self; end\nclass A <B; end\nrequire 'redis'",
        "x <<y\nrequire 'redis'",
        "a = 1; a <<b\nrequire 'redis'",
        "{ a: /'/, \"b\": %w['], if: 1 }\nrequire 'redis'",
        "w = 3; h = 2; (w /h)\nrequire 'redis'",
        "p(1..2, a&.b, -> (x) { /'/ }, ->x { x / 2 })\nrequire 'redis'",
        "foo do |a| /'/ end\nrequire 'redis'",
        "require 'redis'\n__END__\n'",
        "case x when /'/ then 1 end\nrequire 'redis'",
        "x = <<~A.lines.map { |l| l / 2 }\n '\nA\nrequire 'redis'",
        "return /'/ unless x\nrequire 'redis'",
        "a = `echo '#{x}'`\nrequire 'redis'",
        "rules.each { |rule| rule.run }\nrule %w[a b.c], \"x\" do |y|\n  require 'redis'\nend",
    ] {
        assert_eq!(of(source), ["redis"], "{source:?}");
    }
}

#[test]
fn what_is_no_import_does_not_count() {
    for source in [
        "# require 'redis'",
        "\"require 'redis'\"",
        "%q(require 'redis')",
        "%w(require redis)",
        "/require 'redis'/",
        "x = `require 'redis'`",
        "=begin\nrequire 'redis'\n=end",
        "__END__\nrequire 'redis'",
        "s = <<~A\n  require 'redis'\nA",
        "s = <<~'A'\n  #{require 'redis'}\nA",
        "def require(x) end",
        "def self.require(x) end",
        "{ require: 'redis' }",
        "gem_options = { :require => 'redis' }",
        "x = :require",
        "@require = 'redis'",
        "require? 'redis'",
        "YAML.load 'redis'",
        "x.gem 'redis'",
        "log 'redis'",
        "Redis.new",
        "autoload :Redis",
        "respond_to?(:require)",
        "Bundler.require",
        "gem = x\ngem.name\ngem if y",
    ] {
        assert_eq!(of(source), [""; 0], "{source:?}");
    }
}

#[test]
fn what_is_computed_is_opaque_and_its_strings_count() {
    for (source, expected) in [
        ("require x", &["?"][..]),
        ("require(x)", &["?"]),
        ("require \"redis/#{x}\"", &["redis/", "?"]),
        ("require \"#{x}/redis\"", &["?"]),
        ("require \"#{'redis'}\"", &["?", "redis"]),
        ("require x || 'redis'\nlog 'a'", &["?", "redis"]),
        ("require(x ? 'redis' : 'b')", &["?", "redis", "b"]),
        ("require 'sider'.reverse", &["?", "sider"]),
        ("require 'redis%s' % x", &["?", "redis%s"]),
        ("require *%w[redis json]", &["?", "redis", "json"]),
        ("require <<~A.strip\nredis\nA\n", &["?"]),
        ("%w[redis json].each { |l| require l }", &["redis", "json", "?"]),
        (
            "['redis', \"json\"].each do |l|\n  require l\nend",
            &["redis", "json", "?"],
        ),
        ("LIBS = %w(redis)\nLIBS.each { |l| require(l) }", &["redis", "?"]),
        ("for l in ['redis'] do require l end", &["redis", "?"]),
        ("%w[redis].each(&method(:require))", &["redis", "?"]),
        (
            "x = 1\nx %w[redis json].each { |l| require l }",
            &["redis", "json", "?"],
        ),
        ("r = method(:require)\nr.call('redis')", &["?", "redis"]),
        ("alias r require\nr 'redis'", &["?", "redis"]),
        ("alias_method :r, :require\nr 'redis'", &["?", "redis"]),
        ("send(:require, x)", &["?"]),
        ("autoload :X, x + 'redis'", &["?", "redis"]),
        ("require File.join(x, 'redis')", &["?", "redis"]),
    ] {
        let sorted = |mut names: Vec<String>| {
            names.sort();
            names
        };
        let expected = expected.iter().map(|name| (*name).to_owned()).collect();
        assert_eq!(sorted(of(source)), sorted(expected), "{source:?}");
    }
}

#[test]
fn own_files_are_local() {
    for source in [
        "require_relative 'redis'",
        "require './redis'",
        "require '../redis'",
        "require '/redis'",
        "require File.expand_path('../redis', __FILE__)",
        "require File.join(File.dirname(__FILE__), 'redis')",
        "require File.join(__dir__, \"redis\")",
    ] {
        assert!(!hits(Language::Ruby, source, "redis"), "{source}");
        assert!(!of(source).contains(&"?".to_owned()), "{source}");
    }
    for (source, entry) in [
        ("require 'redis/client'", "redis"),
        ("require 'redis/client'", "redis/client"),
        ("load 'redis.rb'", "redis"),
        ("require 'x/../redis'", "redis"),
    ] {
        assert!(hits(Language::Ruby, source, entry), "{source}");
    }
    for source in [
        "require 'redis-rails'",
        "require 'hiredis'",
        "gem 'redis-rails'",
        "require 'x/redis'",
    ] {
        assert!(!hits(Language::Ruby, source, "redis"), "{source}");
    }
}

#[test]
fn what_never_ends_or_cannot_be_told_is_refused() {
    for source in [
        "'never",
        "\"never #{x",
        "%w(never",
        "/never",
        "s = <<A\nnever",
        "s = <<A",
        "=begin\nnever",
        "`never",
        "x = 1\nx /\" + '/'",
        "x = 1\nx <<A\nA\n",
        "x = 1\nx ?\" : 1",
        "x = 1\nx %w['], '",
        "x = 1\nx %w[require a]",
        "x = 1\nx %w[a\n']",
        "# coding: shift_jis\n'\u{e9}'",
    ] {
        assert!(imports(Language::Ruby, source.as_bytes()).is_err(), "{source:?}");
    }
}

#[test]
fn files_without_an_ending_are_known() {
    use super::super::{language, language_of};
    for name in [
        "Rakefile",
        "a/Gemfile",
        "Guardfile",
        "Capfile",
        "Vagrantfile",
        "Podfile",
        "fastlane/Fastfile",
        "config.ru",
        "a.podspec",
        "RAKEFILE",
    ] {
        assert_eq!(language(name.as_bytes()), Some(Language::Ruby), "{name}");
    }
    assert_eq!(language_of(b"bin/x", b"#!/usr/bin/env ruby\n"), Some(Language::Ruby));
    assert_eq!(language_of(b"bin/x", b"#!/usr/bin/ruby3.2 -w\n"), Some(Language::Ruby));
    assert_eq!(language(b"Gemfile.lock"), None);
}

const SOUP: &[&str] = &[
    "require",
    "load",
    "gem",
    "autoload",
    "send",
    "method",
    "alias",
    "def",
    "class",
    "(",
    ")",
    "{",
    "}",
    "[",
    "]",
    "\"",
    "'",
    "`",
    "/",
    "%w[",
    "%(",
    "%q",
    "%",
    "<<A",
    "<<~A",
    "<<-'A'",
    "A",
    "\nA\n",
    "\n",
    "\r\n",
    " ",
    "\\",
    "#",
    "#{",
    "?",
    ":",
    "::",
    ".",
    ",",
    "=",
    "=>",
    "x",
    "x ",
    "redis",
    "|",
    "&",
    "do",
    "end",
    "if",
    "\n=begin\n",
    "\n=end\n",
    "\n__END__\n",
    "$",
    "@",
    "1",
    "é",
    "\u{1}",
    "\u{2}",
    "\u{3}",
    "\u{feff}",
    "?\\",
    "\\u{",
    "__dir__",
    ";",
];

fn check(source: &[u8]) {
    if let Ok(mask) = mask(source) {
        assert_eq!(mask.len(), source.len());
        for (at, byte) in source.iter().enumerate() {
            assert_eq!(*byte == b'\n', mask[at] == b'\n');
        }
    }
    let _ = imports(Language::Ruby, source);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn arbitrary_text_never_panics(words in proptest::collection::vec(proptest::sample::select(SOUP), 0..60)) {
        check(words.concat().as_bytes());
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
        "require ",
        "require(",
        "require x,",
        "require 'a' + ",
        "autoload ",
        "send(:require, ",
        "alias x require ",
        "<<A ",
        "f <<A, ",
        "f <<A\n",
        "\"#{",
        "\"#{<<A\n",
        "%w[",
        "%w[a ",
        "x = x /a ",
        "x = x <<A ",
        "/",
        "'",
        "\"",
        "{",
        "[",
        "(",
        "?",
        "?\\",
        "=begin\n",
        "\\\n",
        "#",
        "$",
        ":",
        "a ",
        "a, ",
        "].",
        "]\n",
        "['a', ",
        "require \"#{",
        "x %w",
        "%w[a].each ",
        "=",
        "a: ",
        "  ",
    ] {
        let mut source = unit.repeat(SIZE / unit.len());
        for tail in ["", "\nA\n", "'", "\"", "\nrequire x"] {
            source.push_str(tail);
            let began = Instant::now();
            let _ = imports(Language::Ruby, source.as_bytes());
            assert!(
                began.elapsed() < Duration::from_secs(5),
                "{unit:?} took {:?}",
                began.elapsed()
            );
        }
    }
    for (open, close) in [("(", ")"), ("[", "]"), ("{", "}"), ("\"#{", "}\""), ("%(#{", "})")] {
        let source = format!(
            "x = {}1{}; require 'redis'",
            open.repeat(200_000),
            close.repeat(200_000)
        );
        assert_eq!(of(&source), ["redis"], "{open}");
    }
}

#[test]
fn a_colon_before_a_call_is_no_symbol_s() {
    for code in [
        "x = false ? 1 :require(\"redis\")",
        "x = y ? nil :require('redis')",
        "x = y ? f(1) :require(\"redis\")",
        "x = y ? a[1] :require \"redis\"",
        "x = y ? true :require('redis')",
        "y = 1; x = y ? y :require('redis')",
        "h = {\"a\":require(\"redis\")}",
    ] {
        assert!(hits(Language::Ruby, code, "redis"), "{code}");
    }
    for code in [
        "f :require, \"redis\"",
        "x = y ? 1 :require\n\"redis\"",
        "h = { :require => \"redis\" }",
        "params.require(\"redis\").permit(:a)",
        "params.require(:redis)",
    ] {
        assert!(!hits(Language::Ruby, code, "redis"), "{code}");
    }
}

#[test]
fn load_names_a_file_as_it_is() {
    for (source, raw) in [
        ("load \"./w.txt\"", "./w.txt"),
        ("Kernel.load(\"./w.txt\")", "./w.txt"),
        ("load \"#{__dir__}/w.txt\"", "./w.txt"),
        ("load File.join(__dir__, \"w.txt\")", "./w.txt"),
    ] {
        let found = super::super::imports(super::super::Language::Ruby, source.as_bytes()).expect(source);
        let all: Vec<_> = found.iter().map(|import| (import.raw.as_str(), import.kind)).collect();
        assert_eq!(all, [(raw, super::super::ImportKind::Include)], "{source}");
    }
}

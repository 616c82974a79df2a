//! Manifests that are programs: what is read in them, and what is said to be computed.

use super::code::Language::{Groovy, Kotlin};
use super::code::{Language, Token, tokens};
use super::declared::{Declared, Named, Shelf};
use super::{gradle, ruby, setup_py};

fn names(declared: &Declared) -> Vec<&str> {
    declared
        .found
        .iter()
        .map(|dependency| dependency.name.as_str())
        .collect()
}

fn in_gradle(language: Language, cases: &[(&str, &[&str], usize)]) {
    for (text, expected, count) in cases {
        let declared = gradle::dependencies(text, language).expect("it can be read");
        assert_eq!(names(&declared), *expected, "{text}");
        assert_eq!(declared.computed.len(), *count, "{text}: {:?}", declared.computed);
    }
}

#[test]
fn gradle_in_groovy() {
    in_gradle(
        Groovy,
        &[
            ("implementation 'redis.clients:jedis:5.1'", &["redis.clients:jedis"], 0),
            (
                "  testImplementation(\"a.b:c:$version\") { exclude group: 'x', module: 'y' }",
                &["a.b:c"],
                0,
            ),
            ("implementation platform('a:bom:1')", &["a:bom"], 0),
            ("implementation 'a:b'\n", &["a:b"], 0),
            ("api group: 'g', name: 'n', version: '1'", &["g:n"], 0),
            ("api(\n  group: 'g',\n  name: 'n')", &["g:n"], 0),
            ("group = 'com.acme'\nversion = '1'\nname = 'x'", &[], 0),
            (
                "classpath \"com.android.tools.build:gradle:8\"",
                &["com.android.tools.build:gradle"],
                0,
            ),
            (
                "def libs2 = [jedis: 'redis.clients:jedis:5']",
                &["redis.clients:jedis"],
                0,
            ),
            (
                "id 'com.example.plugin' version '1'\nid 'java'",
                &["com.example.plugin:com.example.plugin.gradle.plugin"],
                0,
            ),
            (
                "// implementation 'a:b:1'\n/* implementation 'c:d:1' */ implementation 'e:f:1'",
                &["e:f"],
                0,
            ),
            (
                "implementation project(':core')\nimplementation gradleApi()\nfrom files('x')",
                &[],
                0,
            ),
            ("implementation files('x.jar')\napi(fileTree(dir: 'libs'))", &[], 2),
            ("apply from: 'other.gradle'\napply plugin: 'java'", &[], 1),
            ("apply([from: other])\napply {\n  from other\n}", &[], 2),
            ("implementation(/redis.clients:jedis:4/)", &["redis.clients:jedis"], 0),
            ("implementation /redis.clients:jedis:4/", &["redis.clients:jedis"], 0),
            (
                "implementation($/redis.clients:jedis:4/$) // x",
                &["redis.clients:jedis"],
                0,
            ),
            ("implementation(/redis.clients:$x/)", &[], 1),
            ("implementation(/$x/)\nimplementation $/$x/$\napi([x, y])", &[], 3),
            ("def x = a /b\ndef y = c ? a/b:c/d\nurl = x.api/2", &[], 0),
            (
                "library('x', 'redis.clients', 'jedis').versionRef('v')",
                &["redis.clients:jedis"],
                0,
            ),
            (
                "library 'x', 'redis.clients', 'jedis'\nplugin 'y', 'com.p'",
                &["redis.clients:jedis", "com.p:com.p.gradle.plugin"],
                0,
            ),
            ("dependsOn 'sub:build'\nurl 'https://example.com/x'", &[], 0),
            (
                "configurations { implementation { transitive = false } }\nimplementation.extendsFrom x",
                &[],
                0,
            ),
            ("implementation dep", &[], 1),
            ("implementation \"$g:jedis:1\"", &[], 1),
            ("implementation 'redis.clients:' + name", &[], 1),
            ("api group: g, name: 'n'", &[], 1),
            ("implementation '\\u0072edis:x:1'", &[], 1),
            ("\\u0069mplementation 'a:b:1'", &["a:b"], 1),
            // What may be a regular expression cannot begin a comment.
            ("def x = /\\//; implementation 'a:b:1'", &["a:b"], 0),
            ("def x = 'it\nimplementation 'a:b:1'", &["a:b"], 0),
        ],
    );
}

#[test]
fn gradle_in_kotlin() {
    in_gradle(
        Kotlin,
        &[
            (
                "implementation(\"redis.clients:jedis:5.1\")",
                &["redis.clients:jedis"],
                0,
            ),
            ("implementation(group = \"g\", name = \"n\")", &["g:n"], 0),
            ("implementation(\"g\", \"n\", \"1\")", &["g:n"], 0),
            ("\"implementation\"(\"g:n:1\")", &["g:n"], 0),
            ("id(\"com.x\") version \"1\"", &["com.x:com.x.gradle.plugin"], 0),
            ("kotlin(\"jvm\") version \"2\"", &["org.jetbrains.kotlin:kotlin-jvm"], 0),
            (
                "/* a /* b */ implementation(\"c:d:1\") */ implementation(\"e:f:1\")",
                &["e:f"],
                0,
            ),
            ("val api by configurations.creating", &[], 0),
            (
                "library(\"x\",\n  \"redis.clients\", \"jedis\").version(\"4\")",
                &["redis.clients:jedis"],
                0,
            ),
            ("library(\"x\", \"redis.clients:jedis:4\")", &["redis.clients:jedis"], 0),
            (
                "library(\"x\", g, \"jedis\")\nlibrary(\"x\", \"g\", \"je\" + \"dis\")",
                &[],
                2,
            ),
            (
                "plugin(\"y\", \"com.p\").version(\"1\")",
                &["com.p:com.p.gradle.plugin"],
                0,
            ),
            ("apply(from = \"other.gradle.kts\")\napi(files(\"x.jar\"))", &[], 2),
            ("implementation(deps.jedis)", &[], 1),
            ("implementation(libs.jedis.core)", &["jedis.core"], 0),
            ("alias(libs.plugins.x)\nlibs.versions.java.get()", &["x"], 0),
        ],
    );
    let text = "api(libs.bundles.cache)\nalias(libs.plugins.x)";
    let declared = gradle::dependencies(text, Kotlin).expect("it can be read");
    assert_eq!(declared.found[0].kind, Named::Elsewhere(Shelf::Libraries));
    assert_eq!(declared.found[1].kind, Named::Elsewhere(Shelf::Plugins));
    for text in ["/* a", "val x = \"\"\"a"] {
        assert!(gradle::dependencies(text, Kotlin).is_err(), "{text}");
    }
}

#[test]
fn gemfiles_and_gemspecs() {
    for (text, expected, count) in [
        ("gem 'redis', '~> 5'", vec!["redis"], 0),
        ("gem(\"Redis\")", vec!["redis"], 0),
        ("gem(\n  'redis')", vec!["redis"], 0),
        ("group :test do gem %q(redis) end", vec!["redis"], 0),
        (
            "s.add_dependency(%q<a>.freeze, [\"1\"])\nspec.add_development_dependency 'b'",
            vec!["a", "b"],
            0,
        ),
        (
            "# gem 'a'\ngem 'b' # gem 'c'\n=begin\ngem 'd'\n=end\ngem 'e'\n__END__\ngem 'f'",
            vec!["b", "e"],
            0,
        ),
        ("=begin\ngem 'd'\n=end\ngem 'e'", vec!["e"], 0),
        ("x = 'gem \"a\"'\ngemspec\ngem_name = 1\ndef gem(x)\nend", vec![], 0),
        ("gem name", vec![], 1),
        ("gem 're' 'dis'", vec![], 1),
        ("gem 're' + x", vec![], 1),
        ("gem \"re#{x}\"", vec![], 1),
        ("gem \"\\x72edis\"", vec![], 1),
        ("%w[a b].each { |g| gem g }", vec![], 1),
        ("eval_gemfile 'more.rb'", vec![], 1),
        ("eval File.read('more.rb')", vec![], 1),
        ("send :gem, 'redis'", vec!["redis"], 0),
        ("public_send(:gem, 'redis', '5')", vec!["redis"], 0),
        ("__send__(\n  'gem', 'redis'\n)", vec!["redis"], 0),
        ("s.send(:\"add_dependency\", 'redis')", vec!["redis"], 0),
        ("send :gem, name", vec![], 1),
        ("send name, 'redis'", vec![], 1),
        ("send 'g' + 'em', 'redis'", vec![], 1),
        ("method(:gem).call 'redis'", vec![], 1),
        ("x.send(:puts, 'redis')\ny = z.method\n", vec![], 0),
        // What may be a regular expression or a character cannot begin a comment.
        ("x = /#/; gem 'a'", vec!["a"], 0),
        ("x = ?#; gem 'a'", vec!["a"], 0),
        ("x = <<A\nit's\nA\ngem 'a'", vec!["a"], 0),
    ] {
        let declared = ruby::dependencies(text).expect("it can be read");
        assert_eq!(names(&declared), expected, "{text}");
        assert_eq!(declared.computed.len(), count, "{text}: {:?}", declared.computed);
    }
    assert!(ruby::dependencies("=begin\ngem 'a'").is_err());
}

#[test]
fn setup_py_lists() {
    for (text, expected, count) in [
        (
            "setup(install_requires=['Redis>=4', \"a\"], name='x')",
            vec!["redis", "a"],
            0,
        ),
        ("setup(**{'install_requires': ['redis']})", vec!["redis"], 0),
        (
            "setup(extras_require={'x': ['a', 'b'], 'y': 'c'})",
            vec!["a", "b", "c"],
            0,
        ),
        (
            "install_requires = [  # why\n  're'\n  'dis',\n]\nother = ['no']",
            vec!["redis"],
            0,
        ),
        ("install_requires=\"\"\"\na\nb\n\"\"\",", vec!["a", "b"], 0),
        ("install_requires='a'\nx = ['no']\n", vec!["a"], 0),
        (
            "# install_requires=['a']\nif install_requires == ['a']: pass",
            vec![],
            0,
        ),
        ("setup(install_requires=reqs)", vec![], 1),
        ("setup(install_requires=['a'] + more)", vec!["a"], 1),
        ("setup(install_requires=['a', f'{b}'])", vec!["a", "{b}"], 1),
        ("setup(install_requires=[x for x in y])", vec![], 1),
        ("install_requires += ['a']", vec!["a"], 0),
        ("setup(install_requires=[r'a', R\"b\", u'c'])", vec!["a", "b", "c"], 0),
        ("r = 'redis'; setup(install_requires=[r])", vec!["redis"], 0),
        ("b = ['redis']\nsetup(install_requires=b)", vec!["redis"], 0),
        (
            "b = ['redis']\nb = f(b)\nsetup(install_requires=b)",
            vec!["redis", "redis"],
            1,
        ),
        ("setup(install_requires=[r 'a'])", vec!["a"], 1),
        ("setup(**x.args)", vec![], 1),
        ("setuptools.setup(\n  name='x',\n  **x\n)", vec![], 1),
        ("from setuptools import setup as go\ngo(**x)", vec![], 1),
        ("go = setup\ngo(**x)", vec![], 1),
        ("setup(**{'name': 'x', **more})", vec![], 1),
        ("setup(cmdclass=make(**x), data={**x}, n=2 ** 3)\nother(**x)", vec![], 0),
    ] {
        let declared = setup_py::dependencies(text).expect("it can be read");
        assert_eq!(names(&declared), expected, "{text}");
        assert_eq!(declared.computed.len(), count, "{text}: {:?}", declared.computed);
    }
}

#[test]
fn a_computed_declaration_is_told_as_one_line() {
    let declared = ruby::dependencies("gem 'a'\n  gem   name,\t'1'\n").expect("it can be read");
    assert_eq!(declared.computed[0].text, "gem name, '1'");
    assert_eq!(declared.computed[0].at, 10);
}

#[test]
fn tokens_of_a_line() {
    let found = tokens("a 'b' // c", Groovy).expect("it ends");
    let found: Vec<&Token> = found.iter().map(|(token, _)| token).collect();
    let text = Token::Text {
        text: "b",
        is_computed: false,
    };
    assert_eq!(found, [&Token::Word("a"), &text]);
}

//! Lists of dependencies inside of source.

use super::declared::Dependency;
use super::inline::{Inline, csharp_script, of, python_script};
use proptest::prelude::*;

fn names(found: &[Dependency]) -> Vec<&str> {
    found.iter().map(|dependency| dependency.name.as_str()).collect()
}

fn python(text: &str) -> Vec<String> {
    let found = python_script(text).expect("it can be read").found;
    names(&found).into_iter().map(str::to_owned).collect()
}

const SCRIPT: &str = "#!/usr/bin/env -S uv run\n# é\n# /// script\n# requires-python = \">=3.11\"\n# dependencies = [\n\
                      #   \"Redis>=4\",\n#\n#   'rich',\n# ]\n# [tool.uv.sources]\n# own = { path = \"x\" }\n# ///\nimport x\n";

#[test]
fn a_script_block_is_toml_with_its_places() {
    assert_eq!(python(SCRIPT), ["redis", "rich", "own"]);
    assert_eq!(python(&SCRIPT.replace('\n', "\r\n")), ["redis", "rich", "own"]);
    let found = python_script(SCRIPT).unwrap().found;
    let at = found[0].at.unwrap();
    assert_eq!(&SCRIPT[at..at + 7], "\"Redis>");
}

#[test]
fn only_the_block_of_the_specification_counts() {
    for none in [
        "",
        "import redis\n",
        "# dependencies = [\"redis\"]\n",
        "# /// script\n# dependencies = [\"redis\"]\n",
        "# /// other\n# dependencies = [\"redis\"]\n# ///\n",
        "  # /// script\n  # dependencies = [\"redis\"]\n  # ///\n",
        "# /// script\n# dependencies = [\n\"redis\"]\n# ///\n",
        "# /// script\n# ///\n",
    ] {
        assert_eq!(python(none), [""; 0], "{none}");
    }
    // The last end of one comment counts, also at the end of the file.
    let text = "# /// script\n# dependencies = ['a', '''\n# ///\n# ''', 'redis']\n# ///";
    assert_eq!(python(text).last().map(String::as_str), Some("redis"));
    assert!(python_script("# /// script\n# a = [\n# ///\n").is_err());
    let two = "# /// script\n# dependencies = []\n# ///\n\n# /// script\n# dependencies = ['redis']\n# ///\n";
    assert!(python_script(two).is_err());
}

#[test]
fn the_head_of_a_csharp_file_names_packages() {
    let text = "#!/usr/bin/env dotnet\n// x\n/* y\n #:package hidden@1\n*/\n#:package Stack.Redis@2.8\n\
                #:sdk Microsoft.NET.Sdk.Web\n#:sdk Aspire.AppHost.Sdk@9\n#:property A=b\n#:package  Two@1\n\
                #:package $(Name)@1\nvar x = \"\"\"\n#:package no@1\n\"\"\";\n";
    let declared = csharp_script(text);
    assert_eq!(names(&declared.found), ["stack.redis", "aspire.apphost.sdk", "two"]);
    assert_eq!(declared.computed.len(), 1);
    let at = declared.found[0].at.unwrap();
    assert!(text[at..].starts_with("#:package Stack"));
}

#[test]
fn what_is_not_read_is_told_by_its_words() {
    for (path, content) in [
        ("a.rb", "require 'bundler/inline'\n"),
        ("a.fsx", "#r \"nuget: X\"\n"),
        ("a.csx", "#r \"nuget: X, 1\"\n"),
        ("a.main.kts", "@file:DependsOn(\"a:b:1\")\n"),
        ("a.exs", "Mix.install([:a])\n"),
        ("a/CMakeLists.txt", "Find_Package(X)\n"),
        ("a/x.cmake", "FetchContent_Declare(x)\n"),
        (
            "a.rs",
            "#!/usr/bin/env cargo\n---\n[dependencies]\nx = \"1\"\n---\nfn main() {}\n",
        ),
    ] {
        assert_eq!(of(path.as_bytes(), content.as_bytes()), Inline::Unread, "{path}");
    }
    for (path, content) in [
        ("a.rb", "require 'redis'\n"),
        ("a.md", "bundler/inline"),
        ("CMakeLists.txt", "project(x)\n"),
        ("a.rs", "// ---\nlet dependencies = 1;\n"),
        ("a.py", "import redis\n"),
        ("a.cs", "using X;\n"),
    ] {
        assert_eq!(of(path.as_bytes(), content.as_bytes()), Inline::Nothing, "{path}");
    }
    assert_eq!(of(b"a.py", SCRIPT.as_bytes()), Inline::Read);
    assert_eq!(of(b"bin/run", SCRIPT.as_bytes()), Inline::Read);
    assert_eq!(of(b"A.java", b"//DEPS a:b:1\n"), Inline::Read);
}

proptest! {
    #[test]
    fn no_text_makes_a_reader_panic(parts in prop::collection::vec(
        prop::sample::select(vec!["# /// script\n", "# ///\n", "#", "# ", "\n", "\r\n", "é", "a = [", "'", "/*", "*/", "//",
            "#:package ", "x@1", "$(", " ", "dependencies = ['a']\n"]), 0..40)) {
        let text = parts.concat();
        let _ = python_script(&text);
        csharp_script(&text);
        of(b"a.rs", text.as_bytes());
    }
}

//! Names and sources that want to be more than text in some format.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;

use serde_json::Value;

use super::{ALL, check};
use crate::support::python;
use crate::support::repo::Repo;

/// File names that a Linux file system and git take.
const NAMES: &[&[u8]] = &[
    b"::error file=x::forged",
    b"##[error]forged",
    b"##vso[task.complete result=Succeeded]",
    b"a\n::error::forged",
    b"a\r\n##[add-mask]x",
    b"\x1b[2J\x1b[31mred",
    "\u{202e}gpj.ts".as_bytes(),
    "\u{2028}::error::x".as_bytes(),
    b"]]><x>&amp;\"'",
    b"<script>alert(1)</script>",
    b"| cell | `code` | @org/team",
    b"[link](javascript:alert(1)) ![i](http:x)",
    b"%0A::error::x,y:z",
    b"\xff\xfe",
    b"\x01\x08\x7f",
    "\u{fffe}\u{ffff}".as_bytes(),
    b"-o",
];

/// A branch `f` on which all of them are forbidden in two ways, by path and by import.
fn hostile() -> Repo {
    let repo = Repo::new();
    repo.branch("f");
    for name in NAMES {
        let path = [b"infra/async/", *name].concat();
        repo.write(OsStr::from_bytes(&path), "x\n");
    }
    // At the very beginning of a line of text, too.
    for name in [&b"::error::root"[..], b"##[error]root", b"\n::error::root"] {
        repo.write(OsStr::from_bytes(name), "x\n");
    }
    repo.write(
        "payments/q.ts",
        "import 'redis/::error::x';\nimport 'redis/##[error]';\nimport 'redis/\\n::error::x';\n\
         import 'redis/</code>|`@org/team`';\nimport 'redis/]]>\\x1b[2J\\u202e';\n",
    );
    repo.write("evil\u{202e}/a.ts", "x\n");
    repo.commit("hostile");
    repo
}

/// Letters that no report may hold, whatever its format.
fn is_unsafe(letter: char) -> bool {
    letter.is_control() && letter != '\n'
        || matches!(letter, '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{feff}')
}

#[test]
fn nothing_of_a_name_gets_out_of_its_place_in_any_format() {
    let repo = hostile();
    for format in ALL {
        let outcome = repo.agentgate(["check", "--base", "main", "--verbose", "--format", format]);
        assert_eq!(outcome.code, 4, "{format}: {outcome}");
        for text in [&outcome.stdout, &outcome.stderr] {
            assert!(!text.contains(is_unsafe), "{format}: {text:?}");
            for line in text.lines() {
                let is_ours = format == "github"
                    && ["::error file=", "::error title=", "::notice title="]
                        .iter()
                        .any(|begin| line.starts_with(begin));
                assert!(is_ours || !line.trim_start().starts_with("::"), "{format}: {line}");
                assert!(!line.contains("##[") && !line.contains("##vso["), "{format}: {line}");
                assert!(!line.starts_with("forged"), "{format}: {line}");
            }
        }
    }
    // Annotations hold one `::` for each end of their properties, and as many as we made.
    let github = check(&repo, "github").stdout;
    for line in github.lines() {
        let properties = line.split("::").nth(1).expect("a command");
        assert!(properties.split_whitespace().count() >= 2, "{line}");
        assert!(
            ["file", "title"]
                .iter()
                .any(|key| properties.contains(&format!("{key}="))),
            "{line}"
        );
    }
}

#[test]
fn a_refusal_that_quotes_a_hostile_name_is_escaped_too() {
    let repo = Repo::new();
    for format in ALL {
        for line in [
            ["--base", "\u{1b}[2J\u{202e}x\n::error::forged"],
            ["--task", "a\n##[error]\n::error::forged"],
        ] {
            let outcome = repo.command(["check", "--format", format]).args(line).run();
            assert!(matches!(outcome.code, 2 | 22), "{format}: {outcome}");
            for text in [&outcome.stdout, &outcome.stderr] {
                assert!(!text.contains(is_unsafe), "{format}: {text:?}");
                let commands = text.lines().filter(|line| line.trim_start().starts_with("::")).count();
                assert_eq!(
                    commands,
                    usize::from(format == "github" && text == &outcome.stdout),
                    "{format}: {text}"
                );
                assert!(!text.contains("##["), "{format}: {text}");
            }
        }
    }
}

#[test]
fn a_path_that_is_not_printable_is_whole_beside_the_escaped_one() {
    let repo = hostile();
    let json = check(&repo, "json").json();
    let findings = json["findings"].as_array().expect("findings");
    let of = |shown: &str| {
        findings
            .iter()
            .find(|found| found["path"] == format!("infra/async/{shown}"))
            .unwrap_or_else(|| panic!("no {shown} in {json:#}"))
    };
    assert_eq!(of("\\xff\\xfe")["path_b64"], "aW5mcmEvYXN5bmMv//4=");
    assert_eq!(
        of("\\u{1b}[2J\\u{1b}[31mred")["path_b64"],
        "aW5mcmEvYXN5bmMvG1syShtbMzFtcmVk"
    );
    assert_eq!(of("-o")["path_b64"], Value::Null);
}

#[test]
fn uris_are_encoded_bytes() {
    let repo = hostile();
    let sarif = check(&repo, "sarif").json();
    let uris: Vec<&str> = sarif["runs"][0]["results"]
        .as_array()
        .expect("results")
        .iter()
        .map(|result| {
            result["locations"][0]["physicalLocation"]["artifactLocation"]["uri"]
                .as_str()
                .expect("a URI")
        })
        .collect();
    assert!(uris.contains(&"infra/async/%FF%FE"), "{uris:?}");
    assert!(uris.contains(&"infra/async/a%0A%3A%3Aerror%3A%3Aforged"), "{uris:?}");
    for uri in uris {
        let is_uri = |byte: u8| byte.is_ascii_alphanumeric() || b"-._~/%".contains(&byte);
        assert!(uri.bytes().all(is_uri), "{uri}");
    }
}

#[test]
fn markdown_shows_every_name_as_text() {
    let repo = hostile();
    let text = check(&repo, "markdown").stdout;
    for line in text.lines() {
        let mut outside = String::new();
        for (index, part) in line.split("<code>").enumerate() {
            let (code, rest) = if index == 0 {
                ("", part)
            } else {
                part.split_once("</code>").expect("it ends")
            };
            assert!(
                !code.contains(['|', '`', '<', '>', '@', '[', ']', '(', ')', '*', '_', ':', '!', '\\']),
                "{code}"
            );
            outside.push_str(rest);
        }
        for word in ["forged", "org/team", "script", "javascript", "root"] {
            assert!(!outside.contains(word), "{outside}");
        }
        assert!(!line.starts_with('|') || outside.matches('|').count() == 5, "{line}");
    }
}

#[test]
fn junit_can_be_read_by_an_xml_parser() {
    let repo = hostile();
    let xml = check(&repo, "junit").stdout;
    let script = "
import sys, xml.etree.ElementTree as tree
root = tree.fromstring(sys.stdin.buffer.read())
assert {e.tag for e in root.iter()} <= {'testsuites', 'testsuite', 'properties', 'property', 'testcase', 'failure', 'system-out', 'system-err'}
print(sum(1 for e in root.iter('failure') if 'forged' in e.text))
";
    if let Some(outcome) = python::script(&["xml.etree"], script, xml) {
        assert_eq!(outcome.stdout, "5\n", "{outcome}");
    }
}

//! The documents have the shape that their readers want.

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};

use serde_json::Value;

use super::{broken, check, sound};
use crate::support::python;
use crate::support::repo::Repo;

/// Documents of a verdict with all kinds of rows, of a pass, of an empty range and of a refusal.
fn documents(format: &str) -> Vec<String> {
    let repo = broken();
    repo.change("payments/.envrc", "x\n");
    repo.write("gone", "x\n");
    repo.commit("agent job j1: x\n\nno trailers");
    let mut texts = vec![check(&repo, format).stdout, check(&sound(), format).stdout];
    let empty = Repo::new();
    texts.push(check(&empty, format).stdout);
    texts.push(
        empty
            .agentgate(["check", "--base", "nowhere", "--format", format])
            .stdout,
    );
    texts.push(empty.agentgate(["check", "--fly", "--format", format]).stdout);
    texts
}

fn jsons(format: &str) -> Vec<Value> {
    let texts = documents(format);
    texts
        .iter()
        .map(|text| serde_json::from_str(text).expect("it is JSON"))
        .collect()
}

fn schema(path: &Path) -> Value {
    serde_json::from_str(&fs::read_to_string(path).expect("it can be read")).expect("it is JSON")
}

#[test]
fn sarif_keeps_to_the_standard() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let documents = jsons("sarif");
    python::valid(
        &schema(&root.join("fixtures/schemas/sarif-2.1.0-used.json")),
        &documents,
    );
    // The standard's own, which `.ci/run` puts there (see fixtures/schemas/README.md).
    if let Some(whole) = brought("sarif-schema-2.1.0.json") {
        python::valid(&schema(&whole), &documents);
    }
}

/// A schema that is not of this repository, or `None` and a line that says so.
#[track_caller]
fn brought(name: &str) -> Option<PathBuf> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("target/schemas").join(name);
    if path.exists() {
        return Some(path);
    }
    let caller = std::panic::Location::caller();
    let line = format!(
        "skipped: {}:{} reads {}, which is not there",
        caller.file(),
        caller.line(),
        path.display()
    );
    writeln!(std::io::stderr().lock(), "{line}").expect("standard error can be written");
    None
}

#[test]
fn sarif_says_what_was_judged_and_in_which_units() {
    let repo = broken();
    repo.git(["remote", "add", "origin", "https://me:secret@example.com/a.git"]);
    let sarif = check(&repo, "sarif");
    assert!(!sarif.stdout.contains("secret"), "{sarif}");
    let run = &sarif.json()["runs"][0];
    assert_eq!(run["columnKind"], "utf16CodeUnits");
    assert_eq!(run["versionControlProvenance"][0]["revisionId"], repo.id("f"));
    assert_eq!(
        run["versionControlProvenance"][0]["repositoryUri"],
        "https://example.com/a.git"
    );
    assert_eq!(run["invocations"][0]["exitCode"], 3);
    assert_eq!(run["invocations"][0]["executionSuccessful"], true);
    let rules = run["tool"]["driver"]["rules"].as_array().expect("rules");
    for result in run["results"].as_array().expect("results") {
        let index = result["ruleIndex"].as_u64().expect("an index");
        assert_eq!(rules[usize::try_from(index).expect("small")]["id"], result["ruleId"]);
    }
}

#[test]
fn sarif_counts_columns_in_utf16_code_units() {
    let repo = Repo::new();
    repo.branch("f");
    repo.change("payments/q.ts", "/* é𝒳 */ import 'redis';\n");
    let region = |repo: &Repo| {
        check(repo, "sarif").json()["runs"][0]["results"][0]["locations"][0]["physicalLocation"]["region"].clone()
    };
    assert_eq!(check(&repo, "json").json()["findings"][0]["column"], 21);
    assert_eq!(region(&repo), serde_json::json!({ "startLine": 1, "startColumn": 18 }));
}

#[test]
fn sarif_notices_are_notifications() {
    let run = check(&Repo::new(), "sarif").json()["runs"][0].clone();
    let told = &run["invocations"][0]["toolExecutionNotifications"][0];
    assert_eq!(told["level"], "note");
    assert!(
        told["message"]["text"]
            .as_str()
            .is_some_and(|text| text.starts_with("the range is empty")),
        "{run:#}"
    );
}

#[test]
fn junit_keeps_to_what_the_common_schemas_share() {
    // Order, required attributes and counts as in windyroad's JUnit.xsd and Jenkins' junit-10.xsd.
    let script = r#"
import re, sys, json, xml.etree.ElementTree as tree
texts = json.load(sys.stdin)
for text in texts:
    root = tree.fromstring(text.encode())
    assert root.tag == 'testsuites' and not root.attrib, root.attrib
    suites = list(root)
    assert [s.tag for s in suites] == ['testsuite']
    for index, suite in enumerate(suites):
        a = suite.attrib
        assert set(a) == {'id', 'package', 'name', 'timestamp', 'hostname', 'tests', 'failures', 'errors', 'time'}, a
        assert a['id'] == str(index) and re.fullmatch(r'\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d', a['timestamp']), a
        tags = [e.tag for e in suite]
        cases = [e for e in suite if e.tag == 'testcase']
        assert tags == ['properties'] + ['testcase'] * len(cases) + ['system-out', 'system-err'], tags
        assert int(a['tests']) == len(cases) > 0
        assert all(set(p.attrib) == {'name', 'value'} and p.tag == 'property' for p in suite[0])
        counts = {'failure': 0, 'error': 0}
        for case in cases:
            assert set(case.attrib) == {'classname', 'name', 'time'} and all(case.attrib.values()), case.attrib
            assert len(case) <= 1
            for bad in case:
                counts[bad.tag] += 1
                assert set(bad.attrib) == {'type', 'message'} and all(bad.attrib.values()) and bad.text and not len(bad)
        assert counts == {'failure': int(a['failures']), 'error': int(a['errors'])}
        names = [(c.get('classname'), c.get('name')) for c in cases]
        print(a['tests'], a['failures'], a['errors'], len(set(names)) == len(names))
"#;
    let texts = serde_json::to_string(&documents("junit")).expect("texts");
    let Some(outcome) = python::script(&["xml.etree"], script, texts) else {
        return;
    };
    assert_eq!(
        outcome.stdout, "8 7 0 True\n7 0 0 True\n7 0 0 True\n1 0 1 True\n1 0 1 True\n",
        "{outcome}"
    );
}

#[test]
fn junit_is_valid_by_the_schemas_of_ant_and_jenkins() {
    let script = r#"
import sys, json
from lxml import etree
asked = json.load(sys.stdin)
schema = etree.XMLSchema(etree.parse(asked['schema']))
wrong = etree.fromstring(b'<testsuites><testcase/></testsuites>')
assert not schema.validate(wrong), 'it takes anything'
for text in asked['texts']:
    schema.assertValid(etree.fromstring(text.encode()))
    print('valid')
"#;
    let texts = documents("junit");
    for name in ["junit-ant.xsd", "junit-jenkins-10.xsd"] {
        let Some(path) = brought(name) else { continue };
        let asked = serde_json::json!({ "schema": path, "texts": texts }).to_string();
        let Some(outcome) = python::script(&["lxml.etree"], script, asked) else {
            return;
        };
        assert_eq!(outcome.stdout, "valid\n".repeat(texts.len()), "{name}: {outcome}");
    }
}

#[test]
fn junit_has_a_case_for_each_rule_that_held() {
    let text = check(&sound(), "junit").stdout;
    for case in [
        "classname=\"agentgate.forbidden-import\" name=\"payments.forbidden_imports[0]: redis\" time=\"0\"/>",
        "classname=\"agentgate.protected-path\" name=\"must_not_touch[0]: prot\" time=\"0\"/>",
        "classname=\"agentgate.uninspectable\" name=\"built in\" time=\"0\"/>",
    ] {
        assert!(text.contains(case), "{case} is not in\n{text}");
    }
}

#[test]
fn gitlab_issues_have_what_gitlab_wants() {
    for issues in jsons("gitlab") {
        let mut seen = std::collections::BTreeSet::new();
        for issue in issues.as_array().expect("an array") {
            let keys: Vec<&String> = issue.as_object().expect("an object").keys().collect();
            assert_eq!(
                keys,
                ["description", "check_name", "fingerprint", "severity", "location"]
            );
            let severity = issue["severity"].as_str().expect("a word");
            assert!(["info", "minor", "major", "critical", "blocker"].contains(&severity));
            let path = issue["location"]["path"].as_str().expect("a path");
            assert!(!path.is_empty() && !path.starts_with(['/', '.']), "{path}");
            assert!(
                issue["location"]["lines"]["begin"]
                    .as_u64()
                    .is_some_and(|line| line > 0)
            );
            assert!(seen.insert(issue["fingerprint"].as_str().expect("a text").to_owned()));
        }
    }
    let empty = check(&Repo::new(), "gitlab").json();
    assert_eq!(empty[0]["severity"], "info", "an empty range is said: {empty}");
}

#[test]
fn json_keeps_to_the_published_schema() {
    let published = Repo::empty().agentgate(["schema", "report"]).success().json();
    python::valid(&published, &jsons("json"));
}

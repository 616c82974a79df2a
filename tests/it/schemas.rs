//! `agentgate schema`: what is published says the same as the readers.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use agentgate::agent::profiles::PROFILE_KEYS;
use agentgate::agent::settings::{AGENT_KEYS, OF_REPOSITORY, Person, ROLE_KEYS, Settings, TOP_KEYS as SETTINGS_KEYS};
use agentgate::gate::Policy;
use agentgate::gate::policy::{AREA_KEYS, LATER_AREA_KEYS, LATER_TOP_KEYS, TOP_KEYS};
use agentgate::gate::yaml::{self, Value as Yaml};
use agentgate::job::answer::Answer;
use serde_json::{Map, Value, json};

use super::support::python;
use super::support::repo::Repo;

fn published(what: &str) -> Value {
    Repo::empty().agentgate(["schema", what]).success().json()
}

/// The keys of a map of the schema, sorted.
fn keys(schema: &Value, pointer: &str) -> BTreeSet<String> {
    let map = schema.pointer(pointer).and_then(Value::as_object);
    let map = map.unwrap_or_else(|| panic!("there is no {pointer}"));
    map.keys().cloned().collect()
}

fn set(keys: &[&str]) -> BTreeSet<String> {
    keys.iter().map(|key| (*key).to_owned()).collect()
}

/// What our own reader makes of it, as JSON.
fn as_json(text: &str) -> Option<Value> {
    fn of(value: &Yaml) -> Value {
        match value {
            Yaml::Text(text) | Yaml::Odd(text) => text.clone().into(),
            Yaml::Int(number) => (*number).into(),
            Yaml::Bool(bool) => (*bool).into(),
            Yaml::List(items) => items.iter().map(|item| of(&item.value)).collect(),
            Yaml::Map(entries) => map(entries),
        }
    }
    fn map(entries: &[yaml::Entry]) -> Value {
        let pairs = entries.iter().map(|entry| (entry.key.clone(), of(&entry.value.value)));
        Value::Object(pairs.collect::<Map<_, _>>())
    }
    yaml::read("a.yml", text.as_bytes())
        .ok()
        .map(|(_, entries)| map(&entries))
}

#[test]
fn every_key_of_a_policy_is_in_its_schema() {
    let schema = published("policy");
    assert_eq!(keys(&schema, "/properties"), set(TOP_KEYS));
    assert_eq!(keys(&schema, "/$defs/area/properties"), set(AREA_KEYS));
    let no_area: BTreeSet<String> =
        serde_json::from_value(schema["propertyNames"]["not"]["enum"].clone()).expect("a list of names");
    assert_eq!(no_area, set(&[LATER_TOP_KEYS, AREA_KEYS, LATER_AREA_KEYS].concat()));
}

#[test]
fn every_key_of_settings_is_in_their_schemas() {
    let (settings, config) = (published("settings"), published("config"));
    assert_eq!(keys(&settings, "/properties"), set(&SETTINGS_KEYS[..OF_REPOSITORY]));
    // A person's own file cannot have it.
    let of_person: Vec<&str> = SETTINGS_KEYS.iter().copied().filter(|key| *key != "checks").collect();
    assert_eq!(keys(&config, "/properties"), set(&of_person));
    for schema in [&settings, &config] {
        assert_eq!(keys(schema, "/properties/agents/properties"), set(ROLE_KEYS));
        let role = "/properties/agents/properties/implementer/properties";
        assert_eq!(keys(schema, role), set(AGENT_KEYS));
    }
    let profile = "/properties/profiles/additionalProperties/properties";
    assert_eq!(keys(&config, profile), set(PROFILE_KEYS));
}

/// Policies as files of this project: fixtures, the demo's, its own and the README's.
fn policies() -> Vec<String> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut found = Vec::new();
    for entry in walkdir::WalkDir::new(root.join("fixtures")).sort_by_file_name() {
        let path = entry.expect("it can be listed").into_path();
        if path.ends_with("architecture/invariants.yml") {
            found.push(fs::read_to_string(path).expect("it can be read"));
        }
    }
    found.push(fs::read_to_string(root.join("architecture/invariants.yml")).expect("it can be read"));
    found
}

#[test]
fn a_policy_that_is_accepted_is_valid_and_one_with_an_unknown_key_is_not() {
    let schema = published("policy");
    let (mut accepted, mut refused) = (Vec::new(), Vec::new());
    let all = policies();
    assert!(all.len() > 60, "only {} policies were found", all.len());
    for text in &all {
        match (Policy::validate(text.as_bytes()), as_json(text)) {
            (Ok(()), value) => accepted.push(value.expect("what is accepted can be read")),
            (Err(error), Some(value)) if error.to_string().contains("unknown key") => refused.push(value),
            (Err(_), _) => {}
        }
    }
    // What the readers' own tests refuse, in small.
    for text in [
        "version: 1\nmust_not_tuch: [a]\n",
        "version: 1\np: {allowed_root: [a]}\n",
        "version: 1\nallowed_roots: [a]\n",
        "version: 1\ndependencies: {a: [b]}\n",
        "version: 1\ndependencies: {new: maybe}\n",
        "version: 1\ndynamic_imports: warn\n",
        "version: 1\nbaseline: known.txt\n",
        "version: 1\nmax_changed_files: 0\n",
        "version: 1\nallowed_credentials: [x]\n",
        "version: 1\np: {forbidden_imports: [{imports: a}]}\n",
        "version: 1\np: {forbidden_imports: [{import: a, languages: [cobol]}]}\n",
        "version: 1\np: {allowed_roots: [a], may_depend_on: b}\n",
        "version: 2\nmust_not_touch: [a]\n",
        "must_not_touch: [a]\n",
        "version: 1\nmust_not_touch: a\n",
        "version: 1\nmust_not_touch: []\n",
        "version: 1\nmust_not_touch: [a, a]\n",
        "version: 1\nmust_not_touch: [/a]\n",
        "version: 1\nmust_not_touch: [a/../b]\n",
        "version: 1\nmust_not_touch: ['..']\n",
        "version: 1\nmust_not_touch: ['a\\b']\n",
        "version: 1\nmust_not_touch: ['!a']\n",
        "version: 1\nmust_not_touch: [' a']\n",
        "version: 1\nunmapped: maybe\n",
        "version: 1\nmax_new_top_level_dirs: -1\n",
        "version: 1\nmax_new_top_level_dirs: '1'\n",
        "version: 1\np: {forbidden_imports: [./x]}\n",
        "version: 1\np: {forbidden_imports: ['a b']}\n",
        "version: 1\n.p: {forbidden_imports: [a]}\n",
    ] {
        assert!(Policy::validate(text.as_bytes()).is_err(), "{text}");
        refused.push(as_json(text).expect("it can be read"));
    }
    assert!(
        accepted.len() > 50 && refused.len() > 20,
        "{} {}",
        accepted.len(),
        refused.len()
    );
    python::valid(&schema, &accepted);
    let told = python::errors(&schema, &refused);
    for (index, error) in told.into_iter().flatten().enumerate() {
        assert!(error.is_some(), "{}", refused[index]);
    }
}

#[test]
fn what_init_writes_is_valid() {
    let repo = Repo::empty();
    repo.change("payments/a.ts", "x\n");
    repo.agentgate(["init"]).success();
    let text = fs::read_to_string(repo.root.join("architecture/invariants.yml")).expect("it was written");
    python::valid(&published("policy"), &[as_json(&text).expect("it can be read")]);
}

#[test]
fn settings_that_are_accepted_are_valid_and_others_are_not() {
    let of_repository = |text: &str| Settings::of_repository(text.as_bytes(), &Person::default()).is_ok();
    let of_person = |text: &str| Settings::of_person("config.yml", text.as_bytes()).is_ok();
    let common = [
        ("version: 1\n", true),
        ("agents:\n  implementer: {command: my-agent --flags}\n", true),
        (
            "agents:\n  implementer: {command: [a, b], input: stdin, timeout: 30m, idle_timeout: 10s, model_label: x/y}\n",
            true,
        ),
        ("agents:\n  implementer: {profile: claude}\n", true),
        ("agents:\n  implementer: {profile: claude, command: a}\n", false),
        ("agents:\n  implementer: {input: stdin}\n", false),
        ("agents:\n  implementer: {command: a, env: {A: b}}\n", true),
        ("agents:\n  implementer: {command: a, env: {1A: b}}\n", false),
        (
            "agents:\n  planner: {command: a}\n  reviewer: {profile: claude, timeout: 5m}\n",
            true,
        ),
        ("agents:\n  reviewer: {timeout: 5m}\n", false),
        ("agents:\n  critic: {command: a}\n", false),
        (
            "max_review_rounds: 3\nmax_attempts: 0\nmax_job_time: 2h\nmax_agent_calls: 9\n",
            true,
        ),
        ("max_review_rounds: 0\n", false),
        ("max_attempts: 11\n", false),
        ("max_job_time: 3\n", false),
        ("agents:\n  implementer: {timeout: 30}\n", false),
        ("setup: [npm ci, [make, deps]]\n", true),
        ("setup: npm ci\n", false),
        ("copy: [.env, 'config/*.local']\n", true),
        ("copy: [../x]\n", false),
        ("chekcs: [a]\n", false),
        ("checks: [a]\n", false),
    ];
    let persons = [
        ("network: {ports: [443]}\n", true),
        ("network: deny-tcp\n", true),
        ("network: {ports: [0]}\n", false),
        ("network: {port: [443]}\n", false),
        (
            "confinement: strict\nhide: [~/x, /y]\npass_env: [A_B]\nhome_files: [.x/y]\nworktree_root: ~/w\n",
            true,
        ),
        ("hide: [x]\n", false),
        ("pass_env: [A=b]\n", false),
        ("worktree_root: w\n", false),
        ("copy: [{from: ~/app.env, to: .env}]\n", true),
        ("copy: [{from: ~/app.env}]\n", false),
        (
            "profiles: {mine: {command: 'a {sandbox}', sandbox: {confined: [x]}, note: hm, programs: [a]}}\n",
            true,
        ),
        ("profiles: {Mine: {command: a}}\n", false),
        ("profiles: {mine: {comand: a}}\n", false),
    ];
    let built_in = fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("src/agent/profiles.yml"));
    let built_in = built_in.expect("it can be read");
    let mut config: Vec<(&str, bool)> = [&common[..], &persons].concat();
    config.push((&built_in, true));
    let repository: Vec<(&str, bool)> = [&common[..], &persons.map(|(text, _)| (text, false))].concat();
    type Case<'a> = (&'a str, Vec<(&'a str, bool)>, &'a dyn Fn(&str) -> bool);
    let cases: [Case; 2] = [("settings", repository, &of_repository), ("config", config, &of_person)];
    for (what, texts, accepts) in cases {
        let values: Vec<Value> = texts
            .iter()
            .map(|(text, _)| as_json(text).expect("it can be read"))
            .collect();
        for (text, good) in &texts {
            assert_eq!(accepts(text), *good, "{what}: {text}");
        }
        let told = python::errors(&published(what), &values);
        for (error, (text, good)) in told.into_iter().flatten().zip(&texts) {
            assert_eq!(error.is_none(), *good, "{what}: {text}{error:?}");
        }
    }
}

#[test]
fn an_answer_that_counts_is_valid_and_no_other() {
    let step = r#"{"title": "t", "detail": "d", "files": ["src/**"]}"#;
    let finding = |blocking: bool| format!(r#"{{"path": "a", "line": 3, "message": "m", "blocking": {blocking}}}"#);
    let review = |decision: &str, findings: &str| {
        format!(r#"{{"decision": "{decision}", "summary": "s", "findings": [{findings}]}}"#)
    };
    let plan = |steps: &str| format!(r#"{{"summary": "s", "steps": [{steps}]}}"#);
    let plans = [
        plan(step),
        plan(""),
        plan(&[step; 51].join(",")),
        plan(r#"{"title": "t", "detail": "d", "files": []}"#),
        plan(r#"{"title": "t", "detail": "d", "files": ["/etc"]}"#),
        plan(r#"{"title": "t", "detail": "d", "files": ["../x"]}"#),
        plan(r#"{"title": " ", "detail": "d", "files": ["a"]}"#),
        r#"{"summary": "s", "steps": [], "more": 1}"#.to_owned(),
    ];
    let reviews = [
        review("approve", ""),
        review("approve", &finding(false)),
        review("approve", &finding(true)),
        review("request_changes", &finding(true)),
        review("request_changes", &finding(false)),
        review("request_changes", ""),
        review("needs_human", ""),
        review("reject", ""),
        review(
            "approve",
            r#"{"path": "a", "line": 0, "message": "m", "blocking": false}"#,
        ),
        review("approve", r#"{"path": "a", "message": "m"}"#),
    ];
    for (what, name, texts) in [
        ("plan", "plan.json", &plans[..]),
        ("review", "review.json", &reviews[..]),
    ] {
        let values: Vec<Value> = texts
            .iter()
            .map(|text| serde_json::from_str(text).expect("JSON"))
            .collect();
        let told = python::errors(&published(what), &values);
        for (error, text) in told.into_iter().flatten().zip(texts) {
            let good = Answer::parse(name, text.as_bytes()).is_ok();
            assert_eq!(error.is_none(), good, "{what}: {text} {error:?}");
        }
    }
    assert!(Answer::parse("plan.json", plans[0].as_bytes()).is_ok());
}

#[test]
fn each_schema_is_json_with_a_name_and_an_unknown_one_is_64() {
    let mut names = BTreeSet::new();
    for what in ["report", "policy", "settings", "config", "plan", "review"] {
        let schema = published(what);
        assert_eq!(schema["$schema"], "https://json-schema.org/draft/2020-12/schema");
        names.insert(schema["$id"].as_str().expect("an id").to_owned());
        python::valid(&schema, &[]);
    }
    assert_eq!(names.len(), 6);
    Repo::empty().agentgate(["schema", "polcy"]).expect(64, &["policy"]);
    python::valid(&json!({}), &[]);
}

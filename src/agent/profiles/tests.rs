use super::*;
use crate::agent::settings::Settings;

fn with(text: &str) -> Result<Profiles, String> {
    let read = Settings::of_person("c", text.as_bytes());
    read.map(|(_, profiles)| profiles).map_err(|error| error.to_string())
}

#[test]
fn the_built_in_ones_are_sound() {
    let profiles = Profiles::built_in();
    let names: Vec<&str> = profiles.all().iter().map(|profile| profile.name.as_str()).collect();
    assert_eq!(
        names,
        [
            "claude",
            "codex",
            "opencode",
            "qwen",
            "gemini",
            "copilot",
            "aider",
            "mini",
            "openhands",
            "goose",
            "crush",
            "cursor"
        ]
    );
    for profile in profiles.all() {
        let name = &profile.name;
        assert_eq!(profile.command[0], profile.programs[0], "{name}");
        assert!(
            profile.demands_model(),
            "{name}: whoever looks at the commit must know the model"
        );
        assert!(!profile.pass_env.is_empty() && !profile.note.is_empty(), "{name}");
        // A text that may begin with `-` or be long is an argument only where there is no other way.
        assert_eq!(
            profile.input == Input::Argument,
            ["mini", "cursor"].contains(&name.as_str()),
            "{name}"
        );
        let texts = profile.env.iter().map(|(_, value)| value).chain(&profile.command);
        for text in texts.filter(|text| !text.starts_with("{\"")) {
            for rest in text.split('{').skip(1) {
                let word = rest.split('}').next().expect("a word");
                let known = ["model", "task", "task_file", "worktree", "home", "tmp", "sandbox"];
                assert!(known.contains(&word), "{name}: {{{word}}}");
            }
        }
        for folder in &profile.home_folders {
            let there = |(_, value): &(String, String)| *value == format!("{{home}}/{folder}");
            assert!(profile.env.iter().any(there), "{name}: nothing names {folder}");
        }
    }
}

#[test]
fn a_person_changes_and_adds_profiles() {
    let profiles = with(
        "profiles:
  claude:
    env: {ANTHROPIC_BASE_URL: 'http://127.0.0.1:1'}
    note: mine
  codex: {command: 'my-codex exec {task_file}'}
  own:
    command: own-agent {sandbox} -p {task}
    sandbox: {confined: [--open], unconfined: [--shut]}
    home_files: [.own/login.json]
",
    )
    .expect("they are fine");
    let claude = profiles.find("claude").expect("it is there");
    let built_in = Profiles::built_in();
    let before = built_in.find("claude").expect("it is there");
    assert_eq!(claude.command, before.command);
    assert_eq!(claude.env.len(), before.env.len() + 1);
    assert_eq!((claude.origin, claude.note.as_str()), (Origin::Changed, "mine"));
    let codex = profiles.find("codex").expect("it is there");
    assert_eq!(
        (codex.input, &codex.programs[..]),
        (Input::File, &["my-codex".to_owned()][..])
    );
    assert!(codex.confined.is_empty(), "the new command has no place for them");
    let own = profiles.find("own").expect("it is there");
    assert_eq!((own.input, own.origin), (Input::Argument, Origin::Person));
    assert_eq!(own.sandbox(OwnSandbox::Off), ["--open"]);
    assert_eq!(own.sandbox(OwnSandbox::On), ["--shut"]);
    assert_eq!(profiles.all().len(), built_in.all().len() + 1);
}

#[test]
fn a_bad_profile_is_refused_at_its_place() {
    for (text, first, hint) in [
        ("own: {note: x}", "2:3: `profiles.own` has no command", "add `command:"),
        ("Own: {command: x}", "2:3: `Own` cannot be the name of a profile", "a-z"),
        (
            "own: {comand: x}",
            "2:9: unknown key `profiles.own.comand`",
            "did you mean `command`?",
        ),
        (
            "own: {command: x, input: file}",
            "2:18: `profiles.own.command` does not say where",
            "{task_file}",
        ),
        (
            "claude: {input: file}",
            "2:3: `profiles.claude.command` does not say where",
            "{task_file}",
        ),
        (
            "own: {command: x, sandbox: {confined: [a]}}",
            "2:21: `profiles.own.sandbox` has no place",
            "{sandbox}",
        ),
        (
            "own: {command: x, sandbox: {inside: [a]}}",
            "2:31: unknown key `profiles.own.sandbox.inside`",
            "confined",
        ),
        (
            "own: {command: x, env: {TMPDIR: x}}",
            "2:27: `profiles.own.env` cannot set TMPDIR",
            "itself",
        ),
        (
            "own: {command: x, needs: [/x]}",
            "2:29: `profiles.own.needs`: `/x` is absolute",
            ".config",
        ),
    ] {
        let error = with(&format!("profiles:\n  {text}\n")).expect_err(text);
        assert!(error.starts_with(&format!("c:{first}")), "{error}");
        assert!(error.lines().last().is_some_and(|line| line.contains(hint)), "{error}");
    }
    assert!(with("profiles: {}\n").is_err());
}

#[test]
fn a_generic_name_counts_only_where_it_leads_to_the_program() {
    let dir = tempfile::tempdir().expect("folder");
    let bin = dir.path().join("bin");
    let real = dir.path().join("share/cursor-agent/versions/1");
    std::fs::create_dir_all(&bin).expect("folder");
    std::fs::create_dir_all(&real).expect("folder");
    let script = |path: &Path| crate::files::create_new(path, b"#!/bin/sh\n", 0o755).expect("script");
    let profiles = Profiles::built_in();
    let cursor = profiles.find("cursor").expect("it is there");
    let find = || cursor.program(dir.path(), Some(bin.as_os_str()));
    let error = find().expect_err("nothing is there").to_string();
    assert_eq!(error, "agent command not found: cursor-agent or agent");
    script(&bin.join("agent"));
    let error = find().expect_err("another program").to_string();
    assert!(error.contains("is another program of that name"), "{error}");
    std::fs::remove_file(bin.join("agent")).expect("removed");
    script(&real.join("index"));
    std::os::unix::fs::symlink(real.join("index"), bin.join("agent")).expect("link");
    assert_eq!(find().expect("it is there"), ("agent".to_owned(), bin.join("agent")));
    script(&bin.join("cursor-agent"));
    assert_eq!(find().expect("it is there").0, "cursor-agent");
}

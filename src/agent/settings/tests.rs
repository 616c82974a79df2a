mod top;

use super::*;
use crate::job::role::Role;

fn settings(text: &str) -> Settings {
    Settings::of_repository(text.as_bytes(), &Person::default()).unwrap()
}

fn person(text: &str) -> Settings {
    Settings::of_person("config.yml", text.as_bytes()).unwrap().0
}

fn named(settings: Settings) -> NamedAgent {
    settings.implementer.unwrap().agent.unwrap()
}

fn command(text: &str) -> Vec<String> {
    match named(settings(text)).runs {
        Runs::Command(words) => words,
        Runs::Profile(name) => panic!("profile {name}"),
    }
}

/// The first line without the file's name, and the hint.
fn parts(error: &BadSettings, file: &str) -> (String, String) {
    let error = error.to_string();
    let first = error.lines().next().unwrap();
    let first = first.strip_prefix(&format!("{file}:")).unwrap().to_owned();
    let hint = error.lines().find_map(|line| line.strip_prefix("hint: "));
    (first, hint.unwrap_or_default().to_owned())
}

fn refused(text: &str) -> (String, String) {
    let error = Settings::of_repository(text.as_bytes(), &Person::default()).unwrap_err();
    assert_eq!(error.exit(), Exit::PolicyUnusable);
    parts(&error, "architecture/agentgate.yml")
}

fn refused_to_person(text: &str) -> (String, String) {
    let error = Settings::of_person("config.yml", text.as_bytes()).unwrap_err();
    assert_eq!(error.exit(), Exit::Usage);
    parts(&error, "config.yml")
}

fn agent(line: &str) -> (String, String) {
    refused(&format!("agents:\n  implementer:\n    {line}\n"))
}

fn words(text: &str) -> Vec<String> {
    text.split(' ').map(str::to_owned).collect()
}

#[test]
fn all_keys_of_the_repository_are_read() {
    let text = "version: 1
agents:
  implementer:
    command: my-agent --x {task_file}
    input: file
    env: {A: '1', B: '{home}/b'}
    model_label: a/b:1
    timeout: 90m
    idle_timeout: 5m
setup: [npm ci, [sh, -c, 'a b']]
copy: [.env, config/*.local]
";
    let expected = Settings {
        implementer: Some(AgentSettings {
            agent: Some(NamedAgent {
                runs: Runs::Command(words("my-agent --x {task_file}")),
                env: vec![("A".into(), "1".into()), ("B".into(), "{home}/b".into())],
            }),
            model_label: Some("a/b:1".to_owned()),
            timeout: Some(5400),
            idle_timeout: Some(300),
        }),
        setup: vec![words("npm ci"), vec!["sh".into(), "-c".into(), "a b".into()]],
        copy: vec![CopyIn::Ignored(".env".into()), CopyIn::Ignored("config/*.local".into())],
        ..Settings::default()
    };
    assert_eq!(settings(text), expected);
    assert_eq!(person(text), expected);
    let profile = named(settings("agents: {implementer: {profile: claude}}\n"));
    assert_eq!(profile.runs, Runs::Profile("claude".into()));
}

#[test]
fn the_persons_keys_are_read() {
    let text = "confinement: off
network: {ports: [443, 8443]}
hide: [/srv/secrets, ~/private]
home_files: [.netrc-agent, ~/.config/tool/login.json]
pass_env: [GH_TOKEN, my_var]
worktree_root: ~/jobs
copy:
  - {from: ~/secrets/app.env, to: config/.env}
";
    let expected = Settings {
        confinement: Some(Mode::Off),
        network: Some(Network::Ports(vec![443, 8443])),
        hide: words("/srv/secrets ~/private"),
        home_files: words(".netrc-agent .config/tool/login.json"),
        pass_env: words("GH_TOKEN my_var"),
        worktree_root: Some("~/jobs".into()),
        copy: vec![CopyIn::Outside {
            from: "~/secrets/app.env".into(),
            to: "config/.env".into(),
        }],
        ..Settings::default()
    };
    assert_eq!(person(text), expected);
    for (word, mode) in [("on", Mode::On), ("strict", Mode::Strict), ("\"off\"", Mode::Off)] {
        assert_eq!(person(&format!("confinement: {word}\n")).confinement, Some(mode));
    }
    assert_eq!(person("network: allow\n").network, Some(Network::Allow));
    assert_eq!(person("network: deny-tcp\n").network, Some(Network::DenyTcp));
}

#[test]
fn what_widens_rights_is_refused_in_the_repository() {
    let theirs = "~/.config/agentgate/config.yml";
    for (line, option) in [
        ("confinement: strict", Some("--confinement")),
        ("network: allow", Some("--network")),
        ("hide: [/x]", Some("--hide")),
        ("home_files: [.netrc]", None),
        ("pass_env: [GH_TOKEN]", Some("--pass-env")),
        ("worktree_root: /x", None),
        ("profiles: {claude: {command: x}}", None),
    ] {
        let key = line.split(':').next().unwrap();
        let (first, hint) = refused(&format!("{line}\n"));
        assert_eq!(
            first,
            format!("1:1: `{key}` is for a person to set, so the repository's file cannot have it")
        );
        let option = option.map(|option| format!(", or type {option}")).unwrap_or_default();
        assert_eq!(hint, format!("put it into your own {theirs}{option}"));
    }
    for item in [
        "/etc/passwd",
        "~/.ssh/id",
        "../other/.env",
        "a/../../b",
        "{from: /x, to: y}",
    ] {
        let (first, hint) = refused(&format!("copy: [{item}]\n"));
        assert!(first.contains("is for a person to set"), "{item}: {first}");
        assert!(hint.contains(theirs), "{hint}");
    }
    // The person's key would go to where the repository says.
    for name in ["ANTHROPIC_BASE_URL", "HTTPS_PROXY", "NODE_OPTIONS", "ANYTHING"] {
        let block = format!("agents: {{implementer: {{profile: claude, env: {{{name}: x}}}}}}\n");
        let (first, hint) = refused(&block);
        let expected = "`env` beside a profile is for a person to set";
        assert!(first.contains(expected) && hint.contains(theirs), "{first}: {hint}");
        person(&block);
    }
    settings("agents: {implementer: {command: my-agent, env: {A: b}}}\n");
    // A near miss of such a key is not sent to where it cannot stand.
    let (first, hint) = refused("hid: [/x]\n");
    assert!(first.ends_with("unknown key `hid`"), "{first}");
    assert_eq!(
        hint,
        "did you mean `hide`? that one can stand in a person's own file only"
    );
    // Where the person's file is, the message says so.
    let there = Person {
        path: Some("/cfg/agentgate/config.yml".into()),
        ..Person::default()
    };
    let error = Settings::of_repository(b"hide: [/x]\n", &there).unwrap_err();
    assert!(error.to_string().contains("/cfg/agentgate/config.yml"), "{error}");
}

#[test]
fn a_file_without_keys_asks_for_nothing() {
    for text in ["", "# later\n", "version: 1\n"] {
        assert_eq!(settings(text), Settings::default());
        assert_eq!(person(text), Settings::default());
    }
}

#[test]
fn a_command_is_a_text_or_a_list() {
    for line in ["a -m 'b c' {task_file} a", "[a, -m, b c, \"{task_file}\", a]"] {
        let words = command(&format!(
            "agents: {{implementer: {{command: {}}}}}\n",
            match line.starts_with('[') {
                true => line.to_owned(),
                false => format!("\"{line}\""),
            }
        ));
        assert_eq!(words, ["a", "-m", "b c", "{task_file}", "a"]);
    }
}

#[test]
fn an_error_has_place_snippet_and_hint() {
    assert_eq!(
        Settings::of_repository(b"agents:\n  implementer:\n    comand: x\n", &Person::default())
            .unwrap_err()
            .to_string(),
        "architecture/agentgate.yml:3:5: unknown key `agents.implementer.comand`\n 3 |     comand: x\n   |     \
         ^^^^^^\nhint: did you mean `command`?"
    );
}

#[test]
fn keys_of_later_versions_are_refused() {
    let hint = "remove it, so that nobody relies on it".to_owned();
    for key in ["max_jobs", "rails", "workspace"] {
        let first = format!("1:1: `{key}` is not enforced by this version");
        assert_eq!(refused(&format!("{key}: 1\n")), (first, hint.clone()));
    }
}

#[test]
fn roles_and_their_bounds_are_read() {
    let read = settings(
        "agents: {planner: {command: p}, implementer: {command: i}, reviewer: {profile: claude}, fixer: {command: f}}\n\
         max_review_rounds: 2\nmax_attempts: 0\nmax_job_time: 2h\nmax_agent_calls: 9\n",
    );
    for role in Role::ALL {
        assert!(
            read.of_role(role).is_some_and(|block| block.agent.is_some()),
            "{role:?}"
        );
    }
    let bounds = (
        read.max_review_rounds,
        read.max_attempts,
        read.max_job_time,
        read.max_agent_calls,
    );
    assert_eq!(bounds, (Some(2), Some(0), Some(7200), Some(9)));
    for (text, first) in [
        ("max_review_rounds: 0\n", "1:20: `max_review_rounds` is 0"),
        ("max_attempts: 11\n", "1:15: `max_attempts` is 11"),
        ("max_agent_calls: 0\n", "1:18: `max_agent_calls` is 0"),
        (
            "agents: {reviewer: {timeout: 3m}}\n",
            "1:10: `agents.reviewer` has neither a profile nor a command",
        ),
    ] {
        assert_eq!(refused(text).0, first);
    }
}

#[test]
fn unknown_keys_are_refused() {
    for (text, first, hint) in [
        (
            "agent: {implementer: {command: x}}\n",
            "1:1: unknown key `agent`",
            "did you mean `agents`?",
        ),
        (
            "implementer: {command: x}\n",
            "1:1: unknown key `implementer`",
            "it belongs below `agents:`",
        ),
        (
            "foo: 1\n",
            "1:1: unknown key `foo`",
            "known here: version, agents, setup, copy, checks, max_review_rounds, max_attempts, max_job_time, max_agent_calls",
        ),
        ("set_up: [x]\n", "1:1: unknown key `set_up`", "did you mean `setup`?"),
        (
            "hides: [/x]\n",
            "1:1: unknown key `hides`",
            "did you mean `hide`? that one can stand in a person's own file only",
        ),
        (
            "input: file\n",
            "1:1: unknown key `input`",
            "it belongs below `agents:`, `implementer:`",
        ),
        (
            "agents: {implementer: {network: allow}}\n",
            "1:24: unknown key `agents.implementer.network`",
            "it belongs at the top of the file",
        ),
        (
            "agents: {implementor: {command: x}}\n",
            "1:10: unknown key `agents.implementor`",
            "did you mean `implementer`?",
        ),
    ] {
        assert_eq!(refused(text), (first.to_owned(), hint.to_owned()));
    }
}

#[test]
fn wrong_values_are_refused_at_their_place() {
    let usage = "write `command: my-agent --flags` or `command: [my-agent, --flags]`";
    let duration = "write a whole number with s, m, h or d, such as 30m";
    for (line, first, hint) in [
        (
            "input: stdin",
            "3:5: `agents.implementer.input` without a command",
            "add `command: my-agent --flags`, or remove it",
        ),
        (
            "env: {A: b}",
            "3:5: `agents.implementer.env` without a command or a profile",
            "add `command: my-agent --flags`, or remove it",
        ),
        (
            "profile: claud",
            "3:14: there is no profile `claud`",
            "did you mean `claude`?",
        ),
        (
            "profile: claude\n    command: x",
            "4:5: `agents.implementer` has both a profile and a command",
            "keep one of the two",
        ),
        (
            "command: x\n    input: args",
            "4:12: `agents.implementer.input` cannot be `args`",
            "did you mean `arg`?",
        ),
        (
            "command: x\n    input: file",
            "3:14: `agents.implementer.command` does not say where the task's path goes",
            "write {task_file} there, or leave `input: file` out",
        ),
        (
            "command: x {task}\n    input: stdin",
            "3:14: `agents.implementer.command` takes the task elsewhere than `input` says",
            "stdin: neither placeholder; file: {task_file}; arg: {task}",
        ),
        (
            "command: x\n    env: {A-B: x}",
            "4:11: `agents.implementer.env`: `A-B` is no name of a variable",
            "letters, digits and _, not beginning with a digit; no pattern",
        ),
        (
            "command: x\n    env: {A: 1}",
            "4:14: `agents.implementer.env.A` must be text, and `1` is a number",
            "write it in quotes: \"1\"",
        ),
        (
            "command: x\n    env: {HOME: /x}",
            "4:11: `agents.implementer.env` cannot set HOME",
            "agentgate sets it itself",
        ),
        (
            "command: x\n    env: {LD_PRELOAD: /x}",
            "4:11: `agents.implementer.env` cannot set LD_PRELOAD",
            "it would reach agentgate's own program too; put `env NAME=VALUE` in front of the command",
        ),
        (
            "command: \"\"",
            "3:14: `agents.implementer.command` names no program",
            usage,
        ),
        (
            "command: [\" \"]",
            "3:14: `agents.implementer.command` names no program",
            usage,
        ),
        (
            "command: a 'b",
            "3:14: `agents.implementer.command` has a quote that is never closed",
            usage,
        ),
        (
            "command: []",
            "3:14: `agents.implementer.command` is an empty list",
            "list what is meant, or remove the key",
        ),
        (
            "command: [a, 1]",
            "3:18: `agents.implementer.command[1]` must be text, and `1` is a number",
            "write it in quotes: \"1\"",
        ),
        (
            "model_label: a b",
            "3:18: `agents.implementer.model_label` cannot be `a b`",
            "1 to 128 of A-Z a-z 0-9 . _ : / @ + , -",
        ),
        (
            "timeout: 30",
            "3:14: `agents.implementer.timeout` must be a duration, not a number",
            duration,
        ),
        (
            "timeout: 30x",
            "3:14: `30x` is no duration; write a whole number with s, m, h or d, such as 90s or 5m",
            duration,
        ),
    ] {
        assert_eq!(agent(line), (first.to_owned(), hint.to_owned()), "{line}");
    }
    assert_eq!(
        refused("version: 2\nfoo: 1\n").0,
        "1:10: version 2 is not known to this version of agentgate"
    );
    assert_eq!(refused("agents: {}\n").0, "1:9: `agents` is empty");
    assert_eq!(refused("agents: [x]\n").0, "1:9: `agents` must be a map, not a list");
}

use super::*;

fn settings(text: &str) -> Settings {
    Settings::parse(text.as_bytes()).unwrap()
}

fn command(text: &str) -> Vec<String> {
    settings(text).implementer.unwrap().command
}

/// The first line without the file's name, and the hint.
fn refused(text: &str) -> (String, String) {
    let error = Settings::parse(text.as_bytes()).unwrap_err();
    assert_eq!(error.exit(), Exit::PolicyUnusable);
    let error = error.to_string();
    let first = error
        .lines()
        .next()
        .unwrap()
        .strip_prefix("architecture/agentgate.yml:")
        .unwrap()
        .to_owned();
    let hint = error
        .lines()
        .find_map(|line| line.strip_prefix("hint: "))
        .unwrap_or_default();
    (first, hint.to_owned())
}

fn agent(line: &str) -> (String, String) {
    refused(&format!("agents:\n  implementer:\n    {line}\n"))
}

#[test]
fn all_keys_are_read() {
    assert_eq!(
        settings(
            "version: 1\nagents:\n  implementer:\n    command: my-agent --x\n    model_label: a/b:1\n    timeout: 90m\n"
        ),
        Settings {
            implementer: Some(AgentSettings {
                command: vec!["my-agent".to_owned(), "--x".to_owned()],
                model_label: Some("a/b:1".to_owned()),
                timeout: Some(5400),
            })
        }
    );
}

#[test]
fn a_file_without_keys_asks_for_nothing() {
    for text in ["", "# later\n", "version: 1\n"] {
        assert_eq!(settings(text), Settings::default());
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
        Settings::parse(b"agents:\n  implementer:\n    comand: x\n")
            .unwrap_err()
            .to_string(),
        "architecture/agentgate.yml:3:5: unknown key `agents.implementer.comand`\n 3 |     comand: x\n   |     \
         ^^^^^^\nhint: did you mean `command`?"
    );
}

#[test]
fn keys_of_later_versions_are_refused() {
    let hint = "remove it, so that nobody relies on it".to_owned();
    for key in TOP_LATER {
        let first = format!("1:1: `{key}` is not enforced by this version");
        assert_eq!(refused(&format!("{key}: 1\n")), (first, hint.clone()));
    }
    for key in ROLES_LATER {
        let first = format!("1:10: `agents.{key}` is not enforced by this version");
        assert_eq!(
            refused(&format!("agents: {{{key}: {{command: x}}}}\n")),
            (first, hint.clone())
        );
    }
    for key in AGENT_LATER {
        let first = format!("3:5: `agents.implementer.{key}` is not enforced by this version");
        assert_eq!(agent(&format!("{key}: x")), (first, hint.clone()));
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
        ("foo: 1\n", "1:1: unknown key `foo`", "known here: version, agents"),
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
            "model_label: x",
            "2:3: `agents.implementer` has no command",
            "add `command: my-agent --flags`",
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

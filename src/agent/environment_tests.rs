use super::*;

fn build_from(names: &[&str], filter: Filter, pass: &[&str]) -> AgentEnvironment {
    let snapshot: Vec<_> = names
        .iter()
        .map(|name| (OsString::from(name), OsString::from("ours")))
        .collect();
    let pass: Vec<String> = pass.iter().map(|name| (*name).to_owned()).collect();
    let given = Given {
        job: "j1",
        host_label: "local",
        model_label: None,
        task_file: Path::new("/p/task/TASK.md"),
        role: "implementer",
        outbox: Path::new("/p/outbox"),
        mcp: Some(Path::new("/p/task/mcp.sock")),
        home: &[
            ("CODEX_HOME".into(), "/p/home/.codex".into()),
            ("HOME".into(), "/p/home".into()),
            ("TMPDIR".into(), "/p/tmp".into()),
            ("npm_config_cache".into(), "/p/home/.npm".into()),
        ],
        worktree: Path::new("/w"),
    };
    build(&snapshot, filter, &pass, &given)
}

fn get<'a>(environment: &'a AgentEnvironment, name: &str) -> Option<&'a str> {
    environment
        .variables
        .iter()
        .find(|(known, _)| known == name)
        .and_then(|(_, value)| value.to_str())
}

#[test]
fn a_persons_command_gets_everything_but() {
    let kept = [
        "ANTHROPIC_API_KEY",
        "AWS_REGION",
        "CLAUDE_CODE_USE_BEDROCK",
        "MY_OWN",
        "PYENV_ROOT",
    ];
    let refused = [
        "ACTIONS_RUNTIME_TOKEN",
        "AWS_CONFIG_FILE",
        "AWS_SECRET_ACCESS_KEY",
        "BASH_ENV",
        "CLAUDECODE",
        "CLAUDE_CODE_SESSION_ID",
        "CODEX_THREAD_ID",
        "DBUS_SESSION_BUS_ADDRESS",
        "GEMINI_CLI_IDE_SERVER_PORT",
        "GH_TOKEN",
        "GIT_CONFIG_GLOBAL",
        "GIT_DIR",
        "GIT_INDEX_FILE",
        "KUBECONFIG",
        "NPM_CONFIG_USERCONFIG",
        "NPM_TOKEN",
        "PIP_CONFIG_FILE",
        "PYTHONSTARTUP",
        "SLACK_BOT_TOKEN",
        "SSH_AUTH_SOCK",
        "X_CONVERSATION_ID",
        "ZDOTDIR",
    ];
    let environment = build_from(&[&kept[..], &refused[..]].concat(), Filter::Withhold, &[]);
    assert!(
        kept.iter().all(|name| get(&environment, name) == Some("ours")),
        "{environment:?}"
    );
    assert_eq!(environment.withheld, refused);
}

#[test]
fn a_command_from_settings_gets_what_is_known_only() {
    let kept = ["PATH", "LC_TIME", "https_proxy", "RUSTUP_HOME", "OPENAI_API_KEY"];
    let environment = build_from(&[&kept[..], &["MY_OWN", "GIT_DIR"]].concat(), Filter::Allow, &[]);
    assert!(
        kept.iter().all(|name| get(&environment, name) == Some("ours")),
        "{environment:?}"
    );
    assert_eq!(environment.withheld, ["GIT_DIR", "MY_OWN"]);
}

#[test]
fn what_the_person_lets_through_passes_either_filter() {
    for filter in [Filter::Withhold, Filter::Allow] {
        let environment = build_from(&["GH_TOKEN", "NPM_TOKEN"], filter, &["GH_TOKEN"]);
        assert_eq!(get(&environment, "GH_TOKEN"), Some("ours"));
        assert_eq!(environment.withheld, ["NPM_TOKEN"]);
    }
}

#[test]
fn what_we_set_goes_before_what_was_there() {
    let names = [
        "AGENT_JOB_ID",
        "AGENT_MODEL_LABEL",
        "CODEX_HOME",
        "EDITOR",
        "GIT_EDITOR",
        "HOME",
        "NPM_CONFIG_CACHE",
        "OLDPWD",
        "PWD",
        "TMPDIR",
    ];
    let environment = build_from(&names, Filter::Withhold, &["AGENT_JOB_ID", "HOME"]);
    let expected = [
        ("AGENT_JOB_ID", Some("j1")),
        ("AGENT_HOST_LABEL", Some("local")),
        ("AGENT_MODEL_LABEL", None),
        ("AGENTGATE_TASK", Some("/p/task/TASK.md")),
        ("AGENTGATE_ROLE", Some("implementer")),
        ("AGENTGATE_OUTBOX", Some("/p/outbox")),
        ("AGENTGATE_MCP", Some("/p/task/mcp.sock")),
        ("TMPDIR", Some("/p/tmp")),
        ("HOME", Some("/p/home")),
        ("CODEX_HOME", Some("/p/home/.codex")),
        ("npm_config_cache", Some("/p/home/.npm")),
        ("NPM_CONFIG_CACHE", None),
        ("PWD", Some("/w")),
        ("OLDPWD", None),
        ("EDITOR", Some("true")),
        ("GIT_EDITOR", Some("true")),
        ("GIT_TERMINAL_PROMPT", Some("0")),
    ];
    for (name, value) in expected {
        assert_eq!(get(&environment, name), value, "{name}");
    }
    assert!(
        environment.withheld.is_empty(),
        "set anew is not withheld: {:?}",
        environment.withheld
    );
    assert!(environment.variables.is_sorted());
}

#[test]
fn a_profile_gets_its_own_keys_only_and_its_own_variables() {
    let names = ["PATH", "OPENAI_API_KEY", "ANTHROPIC_API_KEY", "MY_STATE", "MY_OWN"];
    let mut environment = build_from(&names, Filter::Profile, &["OPENAI_API_KEY"]);
    assert_eq!(get(&environment, "OPENAI_API_KEY"), Some("ours"));
    assert_eq!(environment.withheld, ["ANTHROPIC_API_KEY", "MY_OWN", "MY_STATE"]);
    environment.set(vec![("MY_STATE".into(), "/p/home/.state".into())]);
    assert_eq!(get(&environment, "MY_STATE"), Some("/p/home/.state"));
    assert_eq!(environment.withheld, ["ANTHROPIC_API_KEY", "MY_OWN"]);
    assert!(environment.variables.is_sorted());
}

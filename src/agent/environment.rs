//! The agent's environment, from a snapshot of ours.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::{OsStr, OsString};
use std::path::Path;

/// Which variables pass.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Filter {
    /// All but git's, sockets into the session, conversation ids and secrets: for a command that
    /// the person wrote (after `--`, or in `AGENT_CMD`).
    Withhold,
    /// Only what is known to be needed: for a command from settings.
    Allow,
    /// The same without the keys of model providers: a profile names those of its own.
    Profile,
}

/// What the agent is told.
#[derive(Clone, Copy, Debug)]
pub struct Given<'a> {
    /// AGENT_JOB_ID.
    pub job: &'a str,
    /// AGENT_HOST_LABEL.
    pub host_label: &'a str,
    /// AGENT_MODEL_LABEL; unset without one.
    pub model_label: Option<&'a str>,
    /// AGENTGATE_TASK: its copy of the task.
    pub task_file: &'a Path,
    /// AGENTGATE_ROLE.
    pub role: &'a str,
    /// AGENTGATE_OUTBOX.
    pub outbox: &'a Path,
    /// TMPDIR.
    pub tmp: &'a Path,
    /// PWD: where it starts.
    pub worktree: &'a Path,
}

/// What the agent gets.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AgentEnvironment {
    /// All of its variables, sorted by name.
    pub variables: Vec<(OsString, OsString)>,
    /// Names from our environment that it did not get, sorted.
    pub withheld: Vec<String>,
}

impl AgentEnvironment {
    /// Sets the agent's own variables (`env` of a profile or of the settings).
    pub fn set(&mut self, variables: Vec<(OsString, OsString)>) {
        let mut all: BTreeMap<_, _> = std::mem::take(&mut self.variables).into_iter().collect();
        all.extend(variables);
        self.withheld.retain(|name| !all.contains_key(OsStr::new(name)));
        self.variables = all.into_iter().collect();
    }
}

/// Builds it. `pass` names variables that go through whatever the filter says (`pass_env`); what
/// we set ourselves goes before all.
pub fn build(
    snapshot: &[(OsString, OsString)],
    filter: Filter,
    pass: &[String],
    given: &Given<'_>,
) -> AgentEnvironment {
    let mut variables = BTreeMap::new();
    let mut withheld = BTreeSet::new();
    for (name, value) in snapshot {
        // A name that is not UTF-8 is on no list.
        let text = name.to_str().unwrap_or_default();
        let passes = match filter {
            Filter::Withhold => WITHHELD.iter().all(|pattern| !matches(pattern, text)) || is_model_key(text),
            Filter::Allow => ALLOWED.iter().any(|pattern| matches(pattern, text)) || is_model_key(text),
            Filter::Profile => ALLOWED.iter().any(|pattern| matches(pattern, text)),
        };
        if passes || pass.iter().any(|passed| passed == text) {
            variables.insert(name.clone(), value.clone());
        } else {
            withheld.insert(name.to_string_lossy().into_owned());
        }
    }
    // The folder we were started in is not where the agent starts.
    variables.remove(OsStr::new("OLDPWD"));
    for (name, value) in QUIET {
        variables.insert(name.into(), value.into());
    }
    variables.remove(OsStr::new("AGENT_MODEL_LABEL"));
    let told = [
        ("AGENT_JOB_ID", Some(OsStr::new(given.job))),
        ("AGENT_HOST_LABEL", Some(OsStr::new(given.host_label))),
        ("AGENT_MODEL_LABEL", given.model_label.map(OsStr::new)),
        ("AGENTGATE_TASK", Some(given.task_file.as_os_str())),
        ("AGENTGATE_ROLE", Some(OsStr::new(given.role))),
        ("AGENTGATE_OUTBOX", Some(given.outbox.as_os_str())),
        ("TMPDIR", Some(given.tmp.as_os_str())),
        ("PWD", Some(given.worktree.as_os_str())),
    ];
    variables.extend(
        told.into_iter()
            .filter_map(|(name, value)| Some((name.into(), value?.to_owned()))),
    );
    withheld.retain(|name| !variables.contains_key(OsStr::new(name)));
    AgentEnvironment {
        variables: variables.into_iter().collect(),
        withheld: withheld.into_iter().collect(),
    }
}

/// Settings with which nothing waits for a person who is not there.
///
/// The editor is `true`, not `false`: it ends at once just the same, `git commit` without a
/// message still fails (the message is empty), and `git rebase --continue` or `git commit --amend`,
/// whose message is there already, work. With the terminal prompt off, a failing askpass program
/// ends a request for a password.
const QUIET: [(&str, &str); 12] = [
    ("GIT_TERMINAL_PROMPT", "0"),
    ("GIT_ASKPASS", "false"),
    ("GIT_EDITOR", "true"),
    ("GIT_SEQUENCE_EDITOR", "true"),
    ("GIT_PAGER", "cat"),
    ("EDITOR", "true"),
    ("VISUAL", "true"),
    ("PAGER", "cat"),
    ("MANPAGER", "cat"),
    ("DEBIAN_FRONTEND", "noninteractive"),
    ("GH_PROMPT_DISABLED", "1"),
    ("PIP_NO_INPUT", "1"),
];

/// One `*` stands for anything, also for nothing.
fn matches(pattern: &str, name: &str) -> bool {
    match pattern.split_once('*') {
        Some((start, end)) => name.strip_prefix(start).is_some_and(|rest| rest.ends_with(end)),
        None => name == pattern,
    }
}

/// Keys of model providers, and their endpoints: the agent cannot work without them.
fn is_model_key(name: &str) -> bool {
    MODEL_KEYS.contains(&name)
}

const MODEL_KEYS: &[&str] = &[
    "ANTHROPIC_API_KEY",
    "ANTHROPIC_AUTH_TOKEN",
    "ANTHROPIC_BASE_URL",
    "ANTHROPIC_MODEL",
    "AWS_BEARER_TOKEN_BEDROCK",
    "AZURE_OPENAI_API_KEY",
    "AZURE_OPENAI_ENDPOINT",
    "CEREBRAS_API_KEY",
    "CLAUDE_CODE_OAUTH_TOKEN",
    "COHERE_API_KEY",
    "CURSOR_API_KEY",
    "DASHSCOPE_API_KEY",
    "DEEPSEEK_API_KEY",
    "GEMINI_API_KEY",
    "GOOGLE_API_KEY",
    "GOOGLE_GENERATIVE_AI_API_KEY",
    "GROQ_API_KEY",
    "MISTRAL_API_KEY",
    "MOONSHOT_API_KEY",
    "OLLAMA_HOST",
    "OPENAI_API_BASE",
    "OPENAI_API_KEY",
    "OPENAI_BASE_URL",
    "OPENAI_ORG_ID",
    "OPENROUTER_API_KEY",
    "QWEN_API_KEY",
    "TOGETHER_API_KEY",
    "XAI_API_KEY",
    "ZAI_API_KEY",
];

/// What does not reach a command that the person wrote.
const WITHHELD: &[&str] = &[
    // Git's variables name our repository, index, identity and helpers.
    "GIT_*",
    // Ways into the person's session: agents, buses, displays, terminals, editors, containers.
    "SSH_*",
    "GPG_AGENT_INFO",
    "GNOME_KEYRING_*",
    "DBUS_*",
    "SESSION_MANAGER",
    "AT_SPI_BUS_ADDRESS",
    "DISPLAY",
    "WAYLAND_DISPLAY",
    "XAUTHORITY",
    "ICEAUTHORITY",
    "XDG_RUNTIME_DIR",
    "SWAYSOCK",
    "I3SOCK",
    "HYPRLAND_INSTANCE_SIGNATURE",
    "PULSE_SERVER",
    "NOTIFY_SOCKET",
    "LISTEN_FDS",
    "LISTEN_PID",
    "LISTEN_FDNAMES",
    "DOCKER_HOST",
    "DOCKER_CONTEXT",
    "DOCKER_CERT_PATH",
    "CONTAINER_HOST",
    "KUBECONFIG",
    "TMUX",
    "TMUX_PANE",
    "STY",
    "WINDOW",
    "ZELLIJ*",
    "KITTY_LISTEN_ON",
    "WEZTERM_UNIX_SOCKET",
    "ALACRITTY_SOCKET",
    "NVIM",
    "NVIM_LISTEN_ADDRESS",
    "VSCODE_IPC*",
    "VSCODE_GIT_*",
    "SUDO_ASKPASS",
    // Conversations and sessions of an agent that we may run inside of: with them an agent would
    // go on with that conversation, or refuse to start inside itself.
    "CLAUDECODE",
    "CLAUDE_CODE_ENTRYPOINT",
    "CLAUDE_CODE_SSE_PORT",
    "CODEX_SANDBOX*",
    "CODEX_INTERNAL_*",
    "OPENCODE",
    "OPENCODE_SESSION*",
    "OPENCODE_PID",
    "OPENCODE_SERVER*",
    "GEMINI_CLI*",
    "QWEN_CODE",
    "CURSOR_AGENT",
    "CURSOR_TRACE_ID",
    "*_SESSION_ID",
    "*_CONVERSATION_ID",
    "*_THREAD_ID",
    // Secrets of clouds.
    "AWS_ACCESS_KEY_ID",
    "AWS_SECRET_ACCESS_KEY",
    "AWS_SESSION_TOKEN",
    "AWS_SECURITY_TOKEN",
    "AWS_WEB_IDENTITY_TOKEN_FILE",
    "AWS_CONTAINER_AUTHORIZATION_TOKEN*",
    "AWS_CONTAINER_CREDENTIALS_*",
    "AZURE_*SECRET",
    "AZURE_CLIENT_CERTIFICATE_*",
    "AZURE_PASSWORD",
    "AZURE_STORAGE_*",
    "AZURE_DEVOPS_EXT_PAT",
    "ARM_CLIENT_SECRET",
    "ARM_ACCESS_KEY",
    "GOOGLE_APPLICATION_CREDENTIALS",
    "GOOGLE_CREDENTIALS",
    "GOOGLE_OAUTH_ACCESS_TOKEN",
    "CLOUDSDK_AUTH_*",
    "CLOUDFLARE_API_*",
    "CF_API_*",
    "DIGITALOCEAN_*TOKEN",
    "HCLOUD_TOKEN",
    "HEROKU_API_KEY",
    "FLY_API_TOKEN",
    "FLY_ACCESS_TOKEN",
    "VERCEL_TOKEN",
    "NETLIFY_AUTH_TOKEN",
    "VAULT_TOKEN",
    "CONSUL_HTTP_TOKEN",
    "NOMAD_TOKEN",
    "TF_TOKEN_*",
    "PULUMI_ACCESS_TOKEN",
    "OP_SERVICE_ACCOUNT_TOKEN",
    "BW_SESSION",
    "DOPPLER_TOKEN",
    "SENTRY_AUTH_TOKEN",
    "DATADOG_API_KEY",
    "DD_API_KEY",
    "DD_APP_KEY",
    "STRIPE_SECRET_KEY",
    "STRIPE_API_KEY",
    "SLACK_*TOKEN",
    // Secrets of forges, their CI and package registries.
    "GITHUB_TOKEN",
    "GITHUB_PAT",
    "GITHUB_ENTERPRISE_TOKEN",
    "GH_TOKEN",
    "GH_ENTERPRISE_TOKEN",
    "COPILOT_GITHUB_TOKEN",
    "ACTIONS_*",
    "GITLAB_TOKEN",
    "GITLAB_PRIVATE_TOKEN",
    "CI_JOB_TOKEN",
    "CI_JOB_JWT*",
    "CI_REGISTRY_PASSWORD",
    "CI_DEPLOY_PASSWORD",
    "CI_REPOSITORY_URL",
    "GITEA_TOKEN",
    "FORGEJO_TOKEN",
    "BITBUCKET_*TOKEN",
    "BITBUCKET_APP_PASSWORD",
    "BUILDKITE_AGENT_ACCESS_TOKEN",
    "CIRCLE_TOKEN",
    "SYSTEM_ACCESSTOKEN",
    "NPM_TOKEN",
    "NPM_AUTH_TOKEN",
    "NODE_AUTH_TOKEN",
    "YARN_NPM_AUTH_TOKEN",
    "npm_config_*auth",
    "npm_config_*authToken",
    "npm_config_*authtoken",
    "CARGO_REGISTRY_TOKEN",
    "CARGO_REGISTRIES_*",
    "PYPI_TOKEN",
    "PYPI_PASSWORD",
    "TWINE_PASSWORD",
    "UV_PUBLISH_*",
    "POETRY_PYPI_TOKEN_*",
    "POETRY_HTTP_BASIC_*",
    "GEM_HOST_API_KEY",
    "RUBYGEMS_API_KEY",
    "NUGET_API_KEY",
    "HEX_API_KEY",
    "DOCKER_PASSWORD",
    "DOCKER_AUTH_CONFIG",
    "DOCKERHUB_TOKEN",
];

/// What reaches a command from settings.
const ALLOWED: &[&str] = &[
    "PATH",
    "HOME",
    "USER",
    "LOGNAME",
    "SHELL",
    "TERM",
    "COLORTERM",
    "NO_COLOR",
    "TZ",
    "LANG",
    "LANGUAGE",
    "LC_*",
    "http_proxy",
    "https_proxy",
    "ftp_proxy",
    "all_proxy",
    "no_proxy",
    "HTTP_PROXY",
    "HTTPS_PROXY",
    "FTP_PROXY",
    "ALL_PROXY",
    "NO_PROXY",
    "SSL_CERT_FILE",
    "SSL_CERT_DIR",
    "NODE_EXTRA_CA_CERTS",
    "REQUESTS_CA_BUNDLE",
    "CURL_CA_BUNDLE",
    "RUSTUP_HOME",
    "RUSTUP_TOOLCHAIN",
    "CARGO_HOME",
    "NVM_DIR",
    "NVM_BIN",
    "FNM_DIR",
    "VOLTA_HOME",
    "PNPM_HOME",
    "BUN_INSTALL",
    "DENO_INSTALL",
    "PYENV_ROOT",
    "RBENV_ROOT",
    "GOPATH",
    "GOROOT",
    "JAVA_HOME",
    "SDKMAN_DIR",
    "ASDF_DIR",
    "ASDF_DATA_DIR",
    "MISE_DATA_DIR",
    "NIX_PROFILES",
    "NIX_PATH",
    "NIX_SSL_CERT_FILE",
    "HOMEBREW_PREFIX",
];

#[cfg(test)]
#[path = "environment_tests.rs"]
mod tests;

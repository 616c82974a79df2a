//! Installed agents, unchanged, in jobs of their own, against a model on 127.0.0.1 that follows a
//! script. They come from a folder that `.ci/run` fills (`AGENTGATE_TEST_AGENTS`, by default
//! `target/agents`) or from PATH. One that is not there, or does not even start here, is skipped, and a
//! line on standard error names it.

use std::ffi::OsString;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use std::time::Duration;

use super::support::jobs::{jobs_root, nothing_left, record, task};
use super::support::model::{ModelServer, Script};
use super::support::program::{Outcome, Program};
use super::support::repo::Repo;
use super::support::scene::processes_of;

/// The longest that one job may take: these start slowly on a busy machine.
const DEADLINE: Duration = Duration::from_secs(240);

/// The file that the scripted model has them make, and its content.
const FILE: &str = "payments/made.ts";
const TEXT: &str = "export const made = 1;\n";

/// A key that opens nothing.
const KEY: &str = "sk-agentgate-test-key";

/// What must not reach the agent, nor a model through it.
const SECRET: &str = "agentgate-test-secret";

/// One agent, and how it ends with what its model does.
struct Agent {
    /// The profile and the program.
    name: &'static str,
    model: &'static str,
    /// Where it finds its model, by the server's address.
    endpoint: fn(&str) -> Vec<(&'static str, String)>,
    /// Variables that only these tests need: retries take minutes otherwise.
    also: &'static [(&'static str, &'static str)],
    /// Exit codes of a job whose model refuses.
    refused: &'static [i32],
    /// Options and exit code of a job whose model fails.
    failed: (&'static [&'static str], i32),
    /// Whether it can be run here: asked once.
    usable: OnceLock<Result<(), String>>,
}

fn openai(url: &str) -> Vec<(&'static str, String)> {
    // Two names for the same: Python programs read the first, Node's the second.
    vec![
        ("OPENAI_API_BASE", format!("{url}/v1")),
        ("OPENAI_BASE_URL", format!("{url}/v1")),
        ("OPENAI_API_KEY", KEY.to_owned()),
    ]
}

fn anthropic(url: &str) -> Vec<(&'static str, String)> {
    vec![
        ("ANTHROPIC_BASE_URL", url.to_owned()),
        ("ANTHROPIC_API_KEY", KEY.to_owned()),
    ]
}

/// Node.
static QWEN: Agent = Agent {
    name: "qwen",
    model: "qwen3-coder-plus",
    endpoint: openai,
    also: &[],
    refused: &[15],
    // Seven attempts, a minute and a half in all: more than anybody waits for here.
    failed: (&["--timeout", "30s"], 17),
    usable: OnceLock::new(),
};

/// Node.
static CLAUDE: Agent = Agent {
    name: "claude",
    model: "claude-sonnet-4-5",
    endpoint: anthropic,
    also: &[("CLAUDE_CODE_MAX_RETRIES", "1")],
    // It takes the provider's refusal for a failure; were it taken for an answer, nothing has changed.
    refused: &[16, 15],
    failed: (&[], 16),
    usable: OnceLock::new(),
};

/// Python. Its model must be one that its price list knows.
static MINI: Agent = Agent {
    name: "mini",
    model: "openai/gpt-4o",
    endpoint: openai,
    also: &[("MSWEA_MODEL_RETRY_STOP_AFTER_ATTEMPT", "1")],
    refused: &[15],
    failed: (&[], 16),
    usable: OnceLock::new(),
};

/// Python. It ends with 0 when it gives up, after a minute and a half.
static AIDER: Agent = Agent {
    name: "aider",
    model: "openai/gpt-4o",
    endpoint: openai,
    also: &[],
    refused: &[15],
    failed: (&[], 15),
    usable: OnceLock::new(),
};

static ALL: [&Agent; 4] = [&QWEN, &CLAUDE, &MINI, &AIDER];

/// The tester's PATH, with the folders that `.ci/run` fills in front.
fn path() -> &'static OsString {
    static PATH: OnceLock<OsString> = OnceLock::new();
    PATH.get_or_init(|| {
        let here = Path::new(env!("CARGO_MANIFEST_DIR"));
        let named = std::env::var_os("AGENTGATE_TEST_AGENTS").map_or_else(|| "target/agents".into(), PathBuf::from);
        let folder = here.join(named);
        let own = [folder.join("npm/node_modules/.bin"), folder.join("venv/bin")];
        let rest = std::env::var_os("PATH").unwrap_or_default();
        std::env::join_paths(own.into_iter().chain(std::env::split_paths(&rest))).expect("no folder has a colon")
    })
}

impl Agent {
    /// Whether it is there and starts, or why not: one that needs a newer Node, say, is of no use here.
    fn usable(&self) -> &Result<(), String> {
        self.usable.get_or_init(|| {
            let mut places = std::env::split_paths(path()).map(|folder| folder.join(self.name));
            let Some(program) = places.find(|place| place.is_file()) else {
                return Err("not installed".to_owned());
            };
            let repo = Repo::empty();
            let help = repo.program(&program.to_string_lossy()).args(["--help"]);
            let outcome = help.env("PATH", path()).deadline(DEADLINE).run();
            let lines = outcome.stderr.lines().chain(outcome.stdout.lines());
            let first = lines.map(str::trim).find(|line| !line.is_empty()).unwrap_or_default();
            match outcome.code {
                0 => Ok(()),
                code => Err(format!("does not start, {code}: {first}")),
            }
        })
    }
}

/// A repository and a model of its own for one agent; none where that cannot be run.
fn stage(script: Script, agent: &Agent) -> Option<(Repo, ModelServer)> {
    if let Err(why) = agent.usable() {
        eprintln!("skipped: {}: {why}", agent.name);
        return None;
    }
    Some((Repo::new(), ModelServer::start(script)))
}

/// `agentgate run --agent`, with the confinement as it is by default.
fn job(repo: &Repo, server: &ModelServer, agent: &Agent, id: &str, options: &[&str], text: &str) -> Program {
    let task = task(repo, text);
    let mut program = repo.command(["run", "--job-id", id, "--agent", agent.name]);
    for (name, _) in agent.also {
        program = program.args(["--pass-env", name]);
    }
    program = program.args(options).args([task]).deadline(DEADLINE);
    for (name, value) in (agent.endpoint)(&server.url()) {
        program = program.env(name, value);
    }
    for (name, value) in agent.also {
        program = program.env(name, value);
    }
    // Two of the person's, and a key of a provider that none of them needs here.
    for name in ["GITHUB_TOKEN", "AWS_SECRET_ACCESS_KEY", "COHERE_API_KEY"] {
        program = program.env(name, SECRET);
    }
    program.env("PATH", path()).env("AGENT_MODEL_LABEL", agent.model)
}

/// Makes the file, shows the model what the agent gave its shell, and runs more.
fn works(more: &str) -> Script {
    Script::Works {
        // In order: an agent may lose the end of what a command prints.
        command: format!("printf '%s' '{TEXT}' > {FILE} && env | sort{more}"),
        file: FILE.to_owned(),
        text: TEXT.to_owned(),
    }
}

/// What went over the wire and what the agent said, for a test that fails.
fn told(repo: &Repo, server: &ModelServer, id: &str, outcome: &Outcome) -> String {
    let requests: Vec<String> = server
        .requests()
        .iter()
        .map(|request| format!("{} {} ({} bytes)", request.method, request.target, request.body.len()))
        .collect();
    let log = std::fs::read_to_string(record(repo, id).join("agent.log")).unwrap_or_default();
    format!("{outcome}\n--- requests\n{}\n--- agent.log\n{log}", requests.join("\n"))
}

/// The one file is the candidate, the model has seen the task, and no secret has left.
fn succeeds(agent: &Agent) {
    let Some((repo, server)) = stage(works(""), agent) else {
        return;
    };
    let text = "Goal: make one file\n\nThe word is heliotrope-1.\n";
    let outcome = job(&repo, &server, agent, "j1", &[], text).run();
    let told = told(&repo, &server, "j1", &outcome);
    assert_eq!(outcome.code, 0, "{told}");
    assert_eq!(
        repo.git(["diff", "--name-status", "main", "agent/j1"]),
        format!("A\t{FILE}"),
        "{told}"
    );
    assert_eq!(
        repo.git(["show", &format!("agent/j1:{FILE}")]),
        TEXT.trim_end(),
        "{told}"
    );
    assert!(server.was_told("heliotrope-1"), "{told}");
    assert!(server.was_told(KEY), "{told}");
    // aider has no shell whose output it would send.
    assert!(server.was_told("AGENT_JOB_ID=j1") || agent.name == "aider", "{told}");
    assert!(!server.was_told(SECRET), "a secret has left: {told}");
    let label = repo.git([
        "log",
        "-1",
        "--format=%(trailers:key=Agent-Model-Label,valueonly)",
        "agent/j1",
    ]);
    assert_eq!(label.trim(), agent.model);
    let log = std::fs::read_to_string(record(&repo, "j1").join("agent.log")).expect("a log");
    assert!(!log.contains(SECRET), "{told}");
}

/// Nothing is kept, whatever the agent makes of it.
fn is_refused(agent: &Agent) {
    let Some((repo, server)) = stage(Script::Refuses, agent) else {
        return;
    };
    let outcome = job(&repo, &server, agent, "j1", &[], "Goal: make one file\n").run();
    let told = told(&repo, &server, "j1", &outcome);
    assert!(agent.refused.contains(&outcome.code), "{told}");
    assert!(!server.requests().is_empty(), "{told}");
    nothing_left(&repo);
}

/// The agent's failing or giving up is no success.
fn meets_errors(agent: &Agent) {
    let Some((repo, server)) = stage(Script::Fails, agent) else {
        return;
    };
    let (options, code) = agent.failed;
    let outcome = job(&repo, &server, agent, "j1", options, "Goal: make one file\n").run();
    let told = told(&repo, &server, "j1", &outcome);
    assert_eq!(outcome.code, code, "{told}");
    assert!(!server.requests().is_empty(), "{told}");
    nothing_left(&repo);
}

/// What the first job was told and noted for later is unknown to the second.
fn forgets(agent: &Agent) {
    // Where those with a shell look for what they should remember.
    let notes = "; mkdir -p ~/.qwen ~/.claude; for note in ~/.qwen/QWEN.md ~/.claude/CLAUDE.md \
                 ${CLAUDE_CONFIG_DIR:-~/.claude}/CLAUDE.md; do echo vermilion-1 > $note; done";
    let Some((repo, first)) = stage(works(notes), agent) else {
        return;
    };
    let outcome = job(
        &repo,
        &first,
        agent,
        "j1",
        &[],
        "Goal: make one file\n\nThe word is vermilion-1.\n",
    )
    .run();
    assert_eq!(outcome.code, 0, "{}", told(&repo, &first, "j1", &outcome));
    assert!(first.was_told("vermilion-1"));
    // The same text as the command would tell the second what it wrote itself.
    let second = ModelServer::start(works(""));
    let outcome = job(
        &repo,
        &second,
        agent,
        "j2",
        &[],
        "Goal: make one file\n\nThe word is vermilion-2.\n",
    )
    .run();
    let told = told(&repo, &second, "j2", &outcome);
    assert_eq!(outcome.code, 0, "{told}");
    assert!(second.was_told("vermilion-2"), "{told}");
    assert!(!second.was_told("vermilion-1"), "it remembers: {told}");
}

macro_rules! each {
    ($($name:ident: $agent:expr),* $(,)?) => {$(
        mod $name {
            #[test]
            fn keeps_what_it_did() {
                super::succeeds(&$agent);
            }

            #[test]
            fn keeps_nothing_when_its_model_refuses() {
                super::is_refused(&$agent);
            }

            #[test]
            fn keeps_nothing_when_its_model_fails() {
                super::meets_errors(&$agent);
            }

            #[test]
            fn knows_nothing_of_the_job_before() {
                super::forgets(&$agent);
            }
        }
    )*};
}

each! { qwen: super::QWEN, claude: super::CLAUDE, mini: super::MINI, aider: super::AIDER }

/// The time limit ends each of them, and everything that it had started. They wait side by side.
#[test]
fn each_is_ended_when_its_model_hangs() {
    let begin = |agent: &&Agent| {
        let (repo, server) = stage(Script::Hangs, agent)?;
        let job = job(
            &repo,
            &server,
            agent,
            "j1",
            &["--timeout", "45s"],
            "Goal: make one file\n",
        )
        .spawn();
        Some((repo, server, job))
    };
    let at_work: Vec<_> = ALL.iter().filter_map(begin).collect();
    for (repo, server, job) in at_work {
        let outcome = job.wait();
        let told = told(&repo, &server, "j1", &outcome);
        assert_eq!(outcome.code, 17, "{told}");
        assert!(!server.requests().is_empty(), "it had not asked yet: {told}");
        let left = processes_of(&jobs_root(&repo).join(".jobs/j1/task/TASK.md"));
        assert!(left.is_empty(), "{left:?} are left: {told}");
        nothing_left(&repo);
    }
}

/// How many there are, written past the test runner's own capture: a skip that nobody sees is taken for
/// a pass.
#[test]
fn those_that_are_not_here_are_named() {
    let (mut here, mut missing) = (Vec::new(), Vec::new());
    for agent in ALL {
        match agent.usable() {
            Ok(()) => here.push(agent.name.to_owned()),
            Err(why) => missing.push(format!("{} ({why})", agent.name)),
        }
    }
    let mut line = format!("real agents: {} of {} installed", here.len(), ALL.len());
    for (what, names) in [("tested", here), ("skipped", missing)] {
        if !names.is_empty() {
            line.push_str(&format!("; {what}: {}", names.join(", ")));
        }
    }
    let mut stderr = std::io::stderr().lock();
    writeln!(stderr, "{line}").expect("standard error can be written");
}

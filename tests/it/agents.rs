//! Known agents: `run --agent`, and what `agents` lists. Programs under their names stand in for them.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;

use agentgate::agent::profiles::Profiles;
use serde_json::Value;

use super::support::jobs::{environment, events, jobs_root, record, shown, task};
use super::support::program::Program;
use super::support::repo::Repo;

const MODEL: &str = "vendor/model-1";

/// A folder of programs, and PATH with it in front.
fn bin(repo: &Repo) -> (PathBuf, String) {
    let folder = repo.top().join("bin");
    fs::create_dir_all(&folder).expect("it can be made");
    let path = std::env::var("PATH").expect("a PATH");
    (folder.clone(), format!("{}:{path}", folder.display()))
}

/// A program that writes its arguments, standard input and environment into the worktree.
fn stand_in(repo: &Repo, name: &str) -> String {
    let (folder, path) = bin(repo);
    // Asked for its version, it is in no folder of the test's.
    let text = "#!/bin/sh\n[ \"$1\" != --version ] || exit 0\nfor a; do printf '%s\\n' \"$a\"; done > args.txt\nreadlink /proc/self/fd/0 > stdin-is.txt\n\
                cat > stdin.txt\nenv -0 | sort -z > env.bin\n";
    let file = folder.join(name);
    fs::write(&file, text).expect("it can be written");
    fs::set_permissions(&file, fs::Permissions::from_mode(0o755)).expect("it can be made executable");
    path
}

fn run(repo: &Repo, id: &str, agent: &str, text: &str) -> Program {
    let path = stand_in(repo, agent);
    let task = task(repo, text);
    repo.command(["run", "--job-id", id, "--agent", agent])
        .args([task])
        .env("PATH", path)
        .env("AGENT_MODEL_LABEL", MODEL)
}

#[test]
fn claude_reads_the_task_and_gets_its_own_variables_only() {
    let repo = Repo::new();
    let job = run(&repo, "j1", "claude", "Goal: do the work\n")
        .env("AGENT_CMD", "false")
        .env("ANTHROPIC_API_KEY", "a")
        .env("OPENAI_API_KEY", "o")
        .env("GITHUB_TOKEN", "g")
        .env("CLAUDE_CONFIG_DIR", "/mine")
        .env("HARMLESS", "h");
    job.run().expect(0, &[]);
    let args = shown(&repo, "j1", "args.txt");
    assert!(args.starts_with("-p\n--no-session-persistence\n"), "{args}");
    assert!(
        args.contains("\nBash Edit Write Read Glob Grep mcp__agentgate\n"),
        "one argument: {args}"
    );
    assert!(
        args.contains("\n--setting-sources\n\n--model\nvendor/model-1"),
        "{args}"
    );
    assert_eq!(shown(&repo, "j1", "stdin.txt"), "Goal: do the work");
    let env = environment(&repo, "j1");
    let home = jobs_root(&repo).join(".jobs/j1/home");
    assert_eq!(env["CLAUDE_CONFIG_DIR"], home.join(".claude").to_string_lossy());
    assert_eq!(env["CLAUDE_CODE_DISABLE_AUTO_MEMORY"], "1");
    assert_eq!(env["ANTHROPIC_API_KEY"], "a");
    assert_eq!(env["AGENT_MODEL_LABEL"], MODEL);
    for name in ["OPENAI_API_KEY", "GITHUB_TOKEN", "HARMLESS", "AGENT_CMD"] {
        assert_eq!(env.get(name), None, "{name}");
    }
    let created = &events(&repo, "j1")[0];
    assert_eq!(
        (&created["agent_source"], &created["agent"], &created["model_label"]),
        (&"profile claude".into(), &"claude".into(), &MODEL.into())
    );
}

#[test]
fn every_profile_runs_with_the_task_where_it_looks_for_it() {
    let repo = Repo::new();
    let profiles = Profiles::built_in();
    for profile in profiles.all() {
        let (name, id) = (profile.name.as_str(), format!("job-{}", profile.name));
        // The program's name is not always the profile's.
        let path = stand_in(&repo, &profile.programs[0]);
        let task = task(&repo, "Goal: do {job} and {model}\n");
        let job = repo.command(["run", "--job-id", &id, "--agent", name]).args([task]);
        job.env("PATH", path)
            .env("AGENT_MODEL_LABEL", MODEL)
            .run()
            .expect(0, &[]);
        let private = jobs_root(&repo).join(".jobs").join(&id);
        let args = shown(&repo, &id, "args.txt");
        let (file, text) = (private.join("task/TASK.md"), "Goal: do {job} and {model}");
        let places = [
            shown(&repo, &id, "stdin.txt") == text,
            args.contains(&format!("\n{}", file.display())),
            args.contains(text),
        ];
        assert_eq!(
            places.iter().filter(|there| **there).count(),
            1,
            "{name}: {places:?}\n{args}"
        );
        if !places[0] {
            assert_eq!(shown(&repo, &id, "stdin-is.txt"), "/dev/null", "{name}");
        }
        let env = environment(&repo, &id);
        let values = || args.lines().chain(env.values().map(String::as_str));
        assert!(values().any(|value| value == MODEL), "{name}: {args}\n{env:?}");
        for open in ["{home}", "{tmp}", "{worktree}", "{sandbox}", "{task"] {
            assert!(!values().any(|value| value.contains(open)), "{name}: {open}");
        }
    }
    // Its own sandbox is off inside of ours, and on where there is none.
    let args = shown(&repo, "job-codex", "args.txt");
    assert!(args.contains("\n--sandbox\ndanger-full-access\n"), "{args}");
    let open = repo.command(["run", "--job-id", "open", "--agent", "codex", "--confinement", "off"]);
    let open = open
        .args([task(&repo, "Goal: x\n")])
        .env("PATH", stand_in(&repo, "codex"));
    open.env("AGENT_MODEL_LABEL", MODEL).run().expect(0, &[]);
    let own = shown(&repo, "open", "args.txt");
    assert!(own.contains("\n--sandbox\nworkspace-write\n"), "{own}");
    let value = repo.git([
        "log",
        "-1",
        "--format=%(trailers:key=Agent-Confinement,valueonly)",
        "agent/open",
    ]);
    assert_eq!(value.trim(), "unconfined,confinement-off");
    let worktree = jobs_root(&repo).join("job-codex");
    assert!(args.contains(&format!("\n-C\n{}\n", worktree.display())), "{args}");
    let home = jobs_root(&repo).join(".jobs/job-codex/home/.codex");
    assert_eq!(environment(&repo, "job-codex")["CODEX_HOME"], home.to_string_lossy());
}

#[test]
fn qwen_is_told_its_model_where_it_looks_for_a_provider() {
    let repo = Repo::new();
    let job = run(&repo, "j1", "qwen", "Goal: x\n")
        .env("OPENAI_API_KEY", "k")
        .env("OPENAI_BASE_URL", "http://127.0.0.1:1/v1")
        .env("OPENAI_MODEL", "of-the-person");
    job.run().expect(0, &[]);
    let env = environment(&repo, "j1");
    for (name, value) in [
        ("OPENAI_API_KEY", "k"),
        ("OPENAI_BASE_URL", "http://127.0.0.1:1/v1"),
        ("OPENAI_MODEL", MODEL),
    ] {
        assert_eq!(env[name], value, "{name}");
    }
}

#[test]
fn folders_that_a_profile_needs_are_there_when_it_starts() {
    let repo = Repo::new();
    let (folder, path) = bin(&repo);
    let file = folder.join("codex");
    fs::write(
        &file,
        "#!/bin/sh\ntest -d \"$CODEX_HOME\" && cat \"$CODEX_HOME/auth.json\" > payments/a.ts\n",
    )
    .expect("it can be written");
    fs::set_permissions(&file, fs::Permissions::from_mode(0o755)).expect("it can be made executable");
    let task = task(&repo, "Goal: x\n");
    let job = |id: &str| {
        let job = repo.command(["run", "--job-id", id, "--agent", "codex"]).args([&task]);
        job.env("PATH", &path).env("AGENT_MODEL_LABEL", "m").run()
    };
    // There is no login: nobody asked for one, so nothing is said.
    let outcome = job("j1");
    outcome.expect(16, &["auth.json"]);
    assert!(!outcome.stderr.contains("home_files"), "{outcome}");
    fs::create_dir_all(repo.home().join(".codex")).expect("it can be made");
    fs::write(repo.home().join(".codex/auth.json"), "{\"a\": 1}\n").expect("it can be written");
    job("j2").expect(0, &[]);
    assert_eq!(shown(&repo, "j2", "payments/a.ts"), "{\"a\": 1}");
}

#[test]
fn a_task_with_front_matter_and_a_long_one_reach_those_that_read_it() {
    let repo = Repo::new();
    let front = "---\ntitle: x\n---\nGoal: y\n";
    let long = format!("Goal: y\n{}", "words and words\n".repeat(200 * 64));
    assert!(long.len() > 200_000);
    for (number, text) in [front, &long].into_iter().enumerate() {
        let id = format!("in{number}");
        run(&repo, &id, "qwen", text).run().expect(0, &[]);
        assert!(format!("{}\n", shown(&repo, &id, "stdin.txt")) == text, "{id}");
        let id = format!("file{number}");
        run(&repo, &id, "goose", text).run().expect(0, &[]);
        assert!(shown(&repo, &id, "args.txt").contains("/task/TASK.md"));
        for agent in ["mini", "cursor"] {
            let id = format!("{agent}{number}");
            stand_in(&repo, "cursor-agent");
            let outcome = run(&repo, &id, agent, text).run();
            let why = ["starts with `-`", "over 100 KiB"][number];
            outcome.expect(16, &["{task} in the agent command", why]);
            assert_eq!(repo.git(["branch", "--list", &format!("agent/{id}")]), "");
        }
    }
}

#[test]
fn a_model_that_is_demanded_must_be_named() {
    let repo = Repo::new();
    let path = stand_in(&repo, "claude");
    let task = task(&repo, "Goal: x\n");
    let job = |id: &str| {
        let job = repo.command(["run", "--job-id", id, "--agent", "claude"]);
        job.args([&task]).env("PATH", &path)
    };
    job("j1")
        .run()
        .expect(64, &["claude must be told its model", "AGENT_MODEL_LABEL"]);
    assert!(!record(&repo, "j1").exists());
    repo.change(
        "architecture/agentgate.yml",
        "agents:\n  implementer:\n    profile: claude\n    model_label: from/settings\n",
    );
    job("j2").run().expect(0, &[]);
    assert!(shown(&repo, "j2", "args.txt").contains("--model\nfrom/settings"));
    // The repository names the profile; no option is needed.
    let job = repo.command(["run", "--job-id", "j3"]).args([&task]).env("PATH", &path);
    job.run().expect(0, &[]);
    assert_eq!(events(&repo, "j3")[0]["agent_source"], "profile claude");
}

#[test]
fn an_agent_that_is_not_here_is_16_before_anything_is_made() {
    let repo = Repo::new();
    let task = task(&repo, "Goal: x\n");
    let job = repo
        .command(["run", "--job-id", "j1", "--agent", "cursor"])
        .args([task]);
    // No agent of the machine that the tests run on is found.
    let (folder, _) = bin(&repo);
    for program in ["git", "sh"] {
        let found = std::env::var("PATH").expect("a PATH");
        let found = found.split(':').map(|folder| PathBuf::from(folder).join(program));
        let found = found.into_iter().find(|path| path.exists()).expect("it is installed");
        std::os::unix::fs::symlink(found, folder.join(program)).expect("a link can be made");
    }
    let outcome = job.env("PATH", &folder).env("AGENT_MODEL_LABEL", "m").run();
    outcome.expect(16, &["cursor-agent or agent", "nothing was begun"]);
    assert!(!record(&repo, "j1").exists());
    // A program of a generic name is not taken for it.
    fs::write(folder.join("agent"), "#!/bin/sh\n").expect("it can be written");
    fs::set_permissions(folder.join("agent"), fs::Permissions::from_mode(0o755)).expect("it can be made executable");
    let outcome = repo.command(["agents", "--json"]).env("PATH", &folder).run().success();
    let rows = outcome.json()["agents"].as_array().expect("a list").clone();
    assert!(rows.iter().all(|row| row["installed"] == false), "{outcome}");
    let cursor = rows.iter().find(|row| row["name"] == "cursor").expect("it is listed");
    let missing = cursor["missing"].as_str().expect("a reason");
    assert!(missing.contains("is another program of that name"), "{missing}");
}

#[test]
fn the_persons_profiles_change_what_runs() {
    let repo = Repo::new();
    let config = repo.home().join(".config/agentgate");
    fs::create_dir_all(&config).expect("it can be made");
    let text = "profiles:\n  claude:\n    command: my-claude --brief\n    env: {EXTRA: '{worktree}'}\n  own:\n    \
                command: own-agent -f {task_file}\n    pass_env: [OWN_KEY]\n    note: mine alone\n";
    fs::write(config.join("config.yml"), text).expect("it can be written");
    let task = task(&repo, "Goal: x\n");
    for (id, agent, program) in [("j1", "claude", "my-claude"), ("j2", "own", "own-agent")] {
        let path = stand_in(&repo, program);
        let job = repo.command(["run", "--job-id", id, "--agent", agent]).args([&task]);
        // Neither names a model, so none is demanded.
        job.env("PATH", path)
            .env("OWN_KEY", "k")
            .env("ANTHROPIC_API_KEY", "a")
            .run()
            .expect(0, &[]);
    }
    assert_eq!(shown(&repo, "j1", "args.txt"), "--brief");
    let env = environment(&repo, "j1");
    assert_eq!(env["EXTRA"], jobs_root(&repo).join("j1").to_string_lossy());
    assert_eq!((env.get("OWN_KEY"), env["ANTHROPIC_API_KEY"].as_str()), (None, "a"));
    assert_eq!(env["DISABLE_AUTOUPDATER"], "1", "what was there stays");
    let env = environment(&repo, "j2");
    assert_eq!((env["OWN_KEY"].as_str(), env.get("ANTHROPIC_API_KEY")), ("k", None));
    let outcome = repo.agentgate(["agents"]).success();
    let theirs = config.join("config.yml").display().to_string();
    outcome.expect(
        0,
        &[
            &format!("  changed in: {theirs}\n"),
            &format!("  from: {theirs}\n"),
            "  note: mine alone\n",
        ],
    );
}

#[test]
fn agents_lists_what_is_here_and_starts_nothing() {
    let repo = Repo::new();
    let elsewhere = repo.beside("home");
    let path = stand_in(&repo, "claude");
    let (folder, _) = bin(&repo);
    let (ran, codex) = (repo.top().join("ran"), folder.join("codex"));
    let text = format!(
        "#!/bin/sh\npwd > '{}'\necho \"codex-cli 9.9 $1\"\necho more\n",
        ran.display()
    );
    fs::write(&codex, text).expect("it can be written");
    fs::set_permissions(&codex, fs::Permissions::from_mode(0o755)).expect("it can be made executable");
    fs::create_dir_all(repo.home().join(".codex")).expect("it can be made");
    fs::write(repo.home().join(".codex/auth.json"), "{}").expect("it can be written");
    let agents = |options: &[&str]| {
        let command = elsewhere.command([&["agents"], options].concat());
        let command = command.env("PATH", &path).env("ANTHROPIC_API_KEY", "sk-value");
        command.env("AGENT_MODEL_LABEL", MODEL).run().success()
    };
    let outcome = agents(&[]);
    let claude = folder.join("claude").display().to_string();
    outcome.expect(
        0,
        &[
            &format!("claude: {claude}\n  runs: claude -p --no-session-persistence "),
            "--allowedTools 'Bash Edit Write Read Glob Grep mcp__agentgate' ",
            "--model vendor/model-1 < {task_file}\n  set here: ANTHROPIC_API_KEY\n",
            "  logged in: ~/.codex/auth.json\n",
        ],
    );
    assert!(!outcome.stdout.contains("sk-value"), "{outcome}");
    assert!(!ran.exists(), "no program is started");
    let names: Vec<&str> = outcome
        .stdout
        .lines()
        .filter(|line| !line.starts_with(' '))
        .map(|line| line.split(':').next().expect("a name"))
        .collect();
    let profiles = Profiles::built_in();
    let expected: Vec<&str> = profiles.all().iter().map(|profile| profile.name.as_str()).collect();
    assert_eq!(names, expected);

    let json = agents(&["--json"]).json();
    assert_eq!(
        (&json["schema"], &json["exit"]),
        (&"agentgate/agents/1".into(), &0.into())
    );
    let row = |json: &Value, name: &str| {
        let rows = json["agents"].as_array().expect("a list");
        rows.iter()
            .find(|row| row["name"] == name)
            .expect("it is listed")
            .clone()
    };
    let claude_row = row(&json, "claude");
    assert_eq!(claude_row["installed"], true);
    assert_eq!(claude_row["program"], claude.as_str());
    assert_eq!(claude_row["keys_set"], serde_json::json!(["ANTHROPIC_API_KEY"]));
    assert_eq!(claude_row["origin"], "built-in");
    assert_eq!(claude_row["needs_model_label"], false);
    assert_eq!(claude_row["version"], Value::Null);
    assert_eq!(
        row(&json, "codex")["login_files"],
        serde_json::json!([".codex/auth.json"])
    );

    let json = agents(&["--json", "--versions"]).json();
    assert_eq!(row(&json, "codex")["version"], "codex-cli 9.9 --version");
    assert_eq!(
        fs::read_to_string(&ran).expect("it ran"),
        "/\n",
        "far from any repository"
    );
    let without = elsewhere.command(["agents"]).env("PATH", &path).run().success();
    without.expect(0, &["  needs: AGENT_MODEL_LABEL"]);
    elsewhere
        .command(["agents"])
        .env("AGENT_MODEL_LABEL", "two words")
        .run()
        .expect(64, &["AGENT_MODEL_LABEL"]);
}

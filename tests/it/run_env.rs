//! Which command runs, with what arguments, standard input and environment.

use std::fs;
use std::os::unix::fs::PermissionsExt;

use super::support::jobs::{environment, events, job, jobs_root, record, run, script, shown, task};
use super::support::program::Program;
use super::support::repo::Repo;

/// `run` without a command after `--`.
fn bare(repo: &Repo, id: &str) -> Program {
    let path = task(repo, "Goal: do the work\n");
    repo.command(["run", "--job-id", id]).args([path])
}

/// An agent that writes its arguments, standard input and environment into the worktree.
fn recorder(repo: &Repo) -> String {
    let text = "#!/bin/sh\nfor a; do printf '%s\\n' \"$a\"; done > args.txt\nreadlink /proc/self/fd/0 > stdin-is.txt\ncat > stdin.txt\nenv -0 | sort -z > env.bin\npwd > pwd.txt\n";
    script(repo, "recorder", text).display().to_string()
}

#[test]
fn agent_cmd_is_split_like_a_shell_and_gets_the_documented_flags() {
    let repo = Repo::new();
    let agent = recorder(&repo);
    let command = format!("'{agent}' --model 'a b' \"\" {{job}} $HOME");
    bare(&repo, "j1").env("AGENT_CMD", command).run().expect(0, &[]);
    let private = jobs_root(&repo).join(".jobs/j1/task/TASK.md");
    assert_eq!(
        shown(&repo, "j1", "args.txt"),
        format!(
            "--model\na b\n\nj1\n$HOME\n--stateless\n--input\n{}\n--apply",
            private.display()
        )
    );
    assert_eq!(shown(&repo, "j1", "stdin.txt"), "");
    assert_eq!(shown(&repo, "j1", "stdin-is.txt"), "/dev/null");
    assert_eq!(events(&repo, "j1")[0]["agent_source"], "AGENT_CMD");
}

#[test]
fn a_command_after_the_dashes_goes_before_agent_cmd_and_reads_the_task() {
    let repo = Repo::new();
    let agent = recorder(&repo);
    let path = task(&repo, "Goal: read me\n");
    let path = path.to_str().expect("text");
    let args = [
        "run",
        "--job-id",
        "j1",
        path,
        "--",
        &agent,
        "--base",
        "x",
        "{worktree}",
        "{\"json\": {job}}",
    ];
    repo.command(args)
        .env("AGENT_CMD", "false")
        .stdin("the terminal")
        .run()
        .expect(0, &[]);
    let worktree = jobs_root(&repo).join("j1");
    assert_eq!(
        shown(&repo, "j1", "args.txt"),
        format!("--base\nx\n{}\n{{\"json\": j1}}", worktree.display())
    );
    assert_eq!(shown(&repo, "j1", "stdin.txt"), "Goal: read me");
    assert_eq!(shown(&repo, "j1", "pwd.txt"), worktree.to_string_lossy());
    assert_eq!(events(&repo, "j1")[0]["agent_source"], "command line");
    assert_eq!(
        events(&repo, "j1")[0]["agent"],
        agent.as_str(),
        "no argument is in the log"
    );
}

#[test]
fn the_task_as_an_argument_leaves_standard_input_empty() {
    let repo = Repo::new();
    let agent = recorder(&repo);
    let path = task(&repo, "Goal: {job} braces\n");
    let path = path.to_str().expect("text");
    repo.command(["run", "--job-id", "j1", path, "--", &agent, "-p", "{task}"])
        .stdin("the terminal")
        .run()
        .expect(0, &[]);
    assert_eq!(shown(&repo, "j1", "args.txt"), "-p\nGoal: {job} braces\n");
    assert_eq!(shown(&repo, "j1", "stdin-is.txt"), "/dev/null");
    task(&repo, format!("Goal: x\n{}\n", "y".repeat(101 << 10)));
    let outcome = repo.agentgate(["run", "--job-id", "j2", path, "--", &agent, "{task}"]);
    outcome.expect(16, &["over 100 KiB"]);
    task(&repo, "--version\n");
    let outcome = repo.agentgate(["run", "--job-id", "j3", path, "--", &agent, "{task}"]);
    outcome.expect(16, &["starts with `-`"]);
    repo.agentgate(["run", "--job-id", "j4", path, "--", &agent, "{model}"])
        .expect(16, &["AGENT_MODEL_LABEL"]);
}

#[test]
fn a_model_label_that_would_be_an_option_is_refused_before_anything_is_made() {
    let repo = Repo::new();
    let path = task(&repo, "Goal: x\n");
    let label = |program: Program| program.env("AGENT_MODEL_LABEL", "--dangerous");
    let typed = repo
        .command(["run", "--job-id", "j1"])
        .args([path.as_os_str()])
        .args(["--", "sh", "{model}"]);
    label(typed).run().expect(64, &["--dangerous", "option", "hint:"]);
    let variable = repo.command(["run", "--job-id", "j1"]).args([path.as_os_str()]);
    label(variable.env("AGENT_CMD", "sh --model '{model}'"))
        .run()
        .expect(64, &["--dangerous", "option"]);
    let profile = repo
        .command(["run", "--job-id", "j1", "--agent", "claude"])
        .args([path.as_os_str()]);
    label(profile).run().expect(64, &["--dangerous", "option"]);
    assert!(!record(&repo, "j1").exists());
    // Where no command names it, it is a claim like any other.
    label(job(&repo, "j1", &[], "echo 1 > payments/a.ts"))
        .run()
        .expect(0, &[]);
}

#[test]
fn a_umask_that_takes_the_owners_own_rights_takes_nothing() {
    let repo = Repo::new();
    let path = task(&repo, "Goal: x\n");
    let user: &[&str] = match rustix::process::geteuid().is_root() {
        // root may use what has no mode at all.
        true => &["setpriv", "--reuid=4321", "--regid=4321", "--clear-groups"],
        false => &[],
    };
    if !user.is_empty() {
        let top = repo.top().to_string_lossy().into_owned();
        repo.program("chown").args(["-R", "4321:4321", &top]).run().success();
    }
    let binary = env!("CARGO_BIN_EXE_agentgate");
    for (id, umask, mode) in [("j1", "777", 0o600), ("j2", "326", 0o640), ("j3", "002", 0o664)] {
        let (set, task) = (format!("umask {umask}; exec \"$@\""), path.to_string_lossy());
        let words = [
            user,
            &["sh", "-c", &set, "sh", binary, "run", "--job-id", id, &task],
            &["--", "sh", "-c", "echo 1 > payments/a.ts"],
        ]
        .concat();
        repo.program(words[0])
            .args(&words[1..])
            .run()
            .expect(0, &["verdict=ok"]);
        for name in ["payments/pay.ts", "payments/a.ts"] {
            let file = repo.top().join("repo-jobs").join(id).join(name);
            let meta = std::fs::metadata(&file).expect("it is kept");
            assert_eq!(meta.permissions().mode() & 0o777, mode, "{umask} {name}");
        }
    }
}

#[test]
fn the_settings_command_is_that_of_the_base() {
    let repo = Repo::new();
    let agent = recorder(&repo);
    let settings = |word: &str| {
        format!(
            "version: 1\nagents:\n  implementer:\n    command: [\"{agent}\", \"{word}\", \"{{task_file}}\", \"{{model}}\", \"{{worktree}}\"]\n    model_label: vendor/model-1\n    timeout: 5m\n"
        )
    };
    repo.change("architecture/agentgate.yml", &settings("base"));
    repo.git(["update-index", "--skip-worktree", "architecture/agentgate.yml"]);
    repo.write("architecture/agentgate.yml", settings("working-tree"));
    bare(&repo, "j1")
        .env("SOME_SECRET", "s")
        .env("ANTHROPIC_API_KEY", "k")
        .run()
        .expect(0, &[]);
    let jobs = jobs_root(&repo);
    assert_eq!(
        shown(&repo, "j1", "args.txt"),
        format!(
            "base\n{0}/.jobs/j1/task/TASK.md\nvendor/model-1\n{0}/j1",
            jobs.display()
        )
    );
    assert_eq!(shown(&repo, "j1", "stdin-is.txt"), "/dev/null");
    let created = &events(&repo, "j1")[0];
    assert_eq!(
        (&created["agent_source"], &created["model_label"], &created["timeout"]),
        (&"settings".into(), &"vendor/model-1".into(), &300.into())
    );
    let env = environment(&repo, "j1");
    assert_eq!(env.get("SOME_SECRET"), None, "a settings command gets an allow-list");
    assert_eq!(env.get("ANTHROPIC_API_KEY").map(String::as_str), Some("k"));
    assert_eq!(env.get("AGENT_MODEL_LABEL").map(String::as_str), Some("vendor/model-1"));
}

#[test]
fn without_any_command_the_three_places_are_named() {
    let repo = Repo::new();
    bare(&repo, "j1")
        .run()
        .expect(64, &["AGENT_CMD", "architecture/agentgate.yml", "-- my-agent"]);
    bare(&repo, "j1")
        .env("AGENT_CMD", "  ")
        .run()
        .expect(16, &["AGENT_CMD"]);
    bare(&repo, "j1")
        .env("AGENT_CMD", "sh 'open")
        .run()
        .expect(16, &["open quote"]);
    assert!(!record(&repo, "j1").exists());
}

#[test]
fn a_well_known_agent_in_agent_cmd_that_fails_gets_a_line_to_type() {
    let repo = Repo::new();
    let folder = repo.top().join("bin");
    std::fs::create_dir(&folder).expect("it is new");
    script(
        &repo,
        "bin/claude",
        "#!/bin/sh\necho \"error: unknown option '--stateless'\" >&2\nexit 1\n",
    );
    let path = format!("{}:{}", folder.display(), std::env::var("PATH").expect("a PATH"));
    let outcome = bare(&repo, "j1").env("AGENT_CMD", "claude -p").env("PATH", path).run();
    outcome.expect(
        16,
        &["unknown option '--stateless'", "agentgate run TASK.md --agent claude"],
    );
}

#[test]
fn what_is_withheld_and_what_is_given() {
    let repo = Repo::new();
    let agent = recorder(&repo);
    let mut program = bare(&repo, "j1").args(["--", &agent]);
    let withheld = [
        "GIT_DIR",
        "GIT_WORK_TREE",
        "GIT_INDEX_FILE",
        "GIT_AUTHOR_NAME",
        "GIT_SSH_COMMAND",
        "GIT_CONFIG_PARAMETERS",
        "SSH_AUTH_SOCK",
        "GITHUB_TOKEN",
        "GH_TOKEN",
        "AWS_SECRET_ACCESS_KEY",
        "DBUS_SESSION_BUS_ADDRESS",
        "TMUX",
        "DOCKER_HOST",
        "DISPLAY",
        "NPM_TOKEN",
        "CLAUDE_CODE_SESSION_ID",
    ];
    for name in withheld {
        program = program.env(name, "/nonexistent/value-of-it");
    }
    let outcome = program
        .env("HARMLESS", "new\nline")
        .env("OPENAI_API_KEY", "key")
        .env("AGENT_HOST_LABEL", "host-1")
        .env("AGENTGATE_TASK", "old")
        .env("TMPDIR", repo.top())
        .run();
    outcome.expect(0, &[]);
    let env = environment(&repo, "j1");
    for name in withheld {
        assert_eq!(env.get(name), None, "{name}");
    }
    assert_eq!(env["HARMLESS"], "new\nline");
    assert_eq!(env["OPENAI_API_KEY"], "key");
    assert_eq!(
        (env["AGENT_JOB_ID"].as_str(), env["AGENT_HOST_LABEL"].as_str()),
        ("j1", "host-1")
    );
    assert_eq!(env.get("AGENT_MODEL_LABEL"), None, "no model is made up");
    let private = jobs_root(&repo).join(".jobs/j1");
    assert_eq!(env["AGENTGATE_TASK"], private.join("task/TASK.md").to_string_lossy());
    assert_eq!(env["AGENTGATE_OUTBOX"], private.join("outbox").to_string_lossy());
    assert_eq!(env["TMPDIR"], private.join("tmp").to_string_lossy());
    assert_eq!(env["AGENTGATE_ROLE"], "implementer");
    let check = "test -d \"$TMPDIR\" && test -w \"$TMPDIR\" && test -d \"$AGENTGATE_OUTBOX\" && test -f \"$AGENTGATE_TASK\" && \
                 [ \"$(stat -c %a \"$TMPDIR/..\")\" = 700 ] && echo 1 > payments/a.ts";
    run(&repo, "j2", check).expect(0, &[]);
    assert!(!private.exists());
}

#[test]
fn a_failing_agent_shows_the_names_of_what_it_was_not_given_but_no_value() {
    let repo = Repo::new();
    let outcome = job(&repo, "j1", &[], "echo last words; exit 1")
        .env("GITHUB_TOKEN", "ghp_value")
        .env("SHLVL", "2")
        .env("OLDPWD", "/")
        .env("DBUS_SESSION_BUS_ADDRESS", "x")
        .run();
    // After the reason, and without what any shell sets.
    outcome.expect(
        16,
        &[
            "exited with status 1 (exit 16, agent-failed)\nnote: variables it was not given: DBUS_SESSION_BUS_ADDRESS, \
             GITHUB_TOKEN",
            "last words",
        ],
    );
    let line = outcome
        .stderr
        .lines()
        .find(|line| line.contains("not given"))
        .expect("it is told");
    assert!(!line.contains("SHLVL") && !line.contains("OLDPWD"), "{outcome}");
    assert!(!outcome.stderr.contains("ghp_value"), "{outcome}");
    let log = std::fs::read_to_string(record(&repo, "j1").join("events.jsonl")).expect("a log");
    assert!(!log.contains("ghp_value"));
}

#[test]
fn files_of_trust_reach_every_agent_and_nothing_else_of_gits_does() {
    let repo = Repo::new();
    let trust = [
        "GIT_SSL_CAINFO",
        "GIT_SSL_CAPATH",
        "PIP_CERT",
        "AWS_CA_BUNDLE",
        "CARGO_HTTP_CAINFO",
        "GRPC_DEFAULT_SSL_ROOTS_FILE_PATH",
        "npm_config_cafile",
    ];
    repo.change(
        "architecture/agentgate.yml",
        "agents: {implementer: {command: [sh, -c, 'env > payments/env.txt']}}\n",
    );
    for (id, command) in [
        ("typed", &["--", "sh", "-c", "env > payments/env.txt"][..]),
        ("settled", &[]),
    ] {
        let path = task(&repo, "Goal: x\n");
        let mut job = repo.command(["run", "--job-id", id]).args([path]).args(command);
        for name in trust {
            job = job.env(name, "/trust");
        }
        job.env("GIT_CONFIG_COUNT", "0").run().success();
        let env = repo.git(["show", &format!("agent/{id}:payments/env.txt")]);
        for name in trust {
            assert!(
                env.lines().any(|line| line == format!("{name}=/trust")),
                "{id}: {name}\n{env}"
            );
        }
        assert!(!env.contains("GIT_CONFIG_COUNT"), "{id}: {env}");
    }
}

#[test]
fn git_variables_of_the_caller_point_agentgate_nowhere_else() {
    let repo = Repo::new();
    let other = repo.clone_as("other", &[]);
    let git = other.root.join(".git");
    let outcome = job(&repo, "j1", &[], "echo 1 > payments/a.ts")
        .env("GIT_DIR", &git)
        .env("GIT_WORK_TREE", &other.root)
        .env("GIT_INDEX_FILE", git.join("index"))
        .env("GIT_OBJECT_DIRECTORY", git.join("objects"))
        .env("GIT_ALTERNATE_OBJECT_DIRECTORIES", git.join("objects"))
        .env("GIT_EXTERNAL_DIFF", "false")
        .env("GIT_CEILING_DIRECTORIES", &repo.root)
        .run();
    outcome.expect(0, &[]);
    assert_eq!(repo.git(["diff", "--name-only", "main", "agent/j1"]), "payments/a.ts");
    assert_eq!(other.git(["branch", "--list", "agent/*"]), "");
    assert!(!git.join("agentgate").exists());
}

#[test]
fn labels_stand_in_the_trailers_and_bad_ones_are_usage_errors() {
    let repo = Repo::new();
    let trailer = |id: &str, key: &str| {
        repo.git([
            "log",
            "-1",
            &format!("--format=%(trailers:key={key},valueonly)"),
            &format!("agent/{id}"),
        ])
        .trim()
        .to_owned()
    };
    job(&repo, "j1", &[], "echo 1 > payments/a.ts")
        .env("AGENT_HOST_LABEL", "ci/runner-7@eu")
        .env("AGENT_MODEL_LABEL", "vendor/model:1")
        .run()
        .expect(0, &[]);
    assert_eq!(
        (trailer("j1", "Agent-Host"), trailer("j1", "Agent-Model-Label")),
        ("ci/runner-7@eu".into(), "vendor/model:1".into())
    );
    run(&repo, "j2", "echo 1 > payments/a.ts").expect(0, &[]);
    assert_eq!(
        (trailer("j2", "Agent-Host"), trailer("j2", "Agent-Model-Label")),
        ("local".into(), "unspecified".into())
    );
    let long = "x".repeat(129);
    for bad in ["two words", "line\nAgent-Host: x", "é", long.as_str(), "a;b"] {
        for name in ["AGENT_HOST_LABEL", "AGENT_MODEL_LABEL"] {
            job(&repo, "j3", &[], "true").env(name, bad).run().expect(64, &[name]);
        }
    }
    assert!(!record(&repo, "j3").exists());
    job(&repo, "j3", &[], "true")
        .env("AGENT_HOST_LABEL", "")
        .run()
        .expect(15, &[]);
}

#[test]
fn the_job_id_may_come_from_the_environment() {
    let repo = Repo::new();
    let path = task(&repo, "Goal: x\n");
    let path = path.to_str().expect("text");
    let outcome = repo
        .command(["run", path, "--", "true"])
        .env("AGENT_JOB_ID", "from-env")
        .run();
    outcome.expect(15, &["job_id=from-env"]);
    repo.command(["run", path, "--", "true"])
        .env("AGENT_JOB_ID", "not/an id")
        .run()
        .expect(64, &["job id"]);
}

/// git-crypt's filter asks git for the git dir and looks for its key there.
#[test]
fn a_filter_finds_its_keys_where_git_crypt_keeps_them() {
    let repo = Repo::new();
    let dir = repo.root.join(".git/git-crypt/keys");
    fs::create_dir_all(&dir).expect("it can be made");
    fs::write(dir.join("default"), "a-z\n").expect("it can be written");
    let clean = "tr \"$(cat $(git rev-parse --git-dir)/git-crypt/keys/default)\" A-Z";
    repo.git(["config", "filter.shout.clean", clean]);
    repo.git(["config", "filter.shout.required", "true"]);
    repo.write(".gitattributes", "*.key filter=shout\n");
    repo.commit("a filter");
    let agent = "echo quiet > payments/a.key; git add -A; git diff --cached --stat; git commit -qm x";
    run(&repo, "j1", agent).expect(0, &[]);
    assert_eq!(repo.git(["show", "agent/j1:payments/a.key"]), "QUIET");
}

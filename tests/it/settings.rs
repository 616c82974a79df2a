//! The settings of the repository and of the person, and the options that go before them.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::PathBuf;

use super::support::jobs::{self, environment, events, record, script, shown, task};
use super::support::program::Program;
use super::support::repo::Repo;

const SETTINGS: &str = "architecture/agentgate.yml";

/// The person's settings file.
fn person(repo: &Repo) -> PathBuf {
    repo.home().join(".config/agentgate/config.yml")
}

fn settle(repo: &Repo, text: &str) {
    let path = person(repo);
    fs::create_dir_all(path.parent().expect("it has a folder")).expect("the folder can be made");
    fs::write(path, text).expect("it can be written");
}

/// `run` with options and no command after `--`.
fn bare(repo: &Repo, id: &str, options: &[&str]) -> Program {
    let path = task(repo, "Goal: do the work\n");
    repo.command(["run", "--job-id", id]).args(options).args([path])
}

/// An agent that writes its arguments, standard input and environment into the worktree.
fn recorder(repo: &Repo, name: &str) -> String {
    let text = "#!/bin/sh\nprintf '%s\\n' \"$0\" \"$@\" > args.txt\nreadlink /proc/self/fd/0 > stdin-is.txt\n\
                cat > stdin.txt\nenv -0 | sort -z > env.bin\n";
    script(repo, name, text).display().to_string()
}

#[test]
fn what_widens_rights_is_2_in_the_repository_and_names_the_persons_file() {
    let repo = Repo::new();
    let agent = recorder(&repo, "recorder");
    for line in [
        "confinement: off",
        "network: allow",
        "hide: [/x]",
        "home_files: [.netrc]",
        "pass_env: [GITHUB_TOKEN]",
        "worktree_root: /tmp",
        "profiles: {claude: {command: sh}}",
        "copy: [/etc/passwd]",
        "copy: [{from: ~/.netrc, to: x}]",
    ] {
        repo.change(SETTINGS, &format!("{line}\n"));
        // Also where the command line says all that is needed.
        let outcome = bare(&repo, "j1", &[]).args(["--", &agent]).run();
        let theirs = person(&repo).display().to_string();
        outcome.expect(2, &["architecture/agentgate.yml:1:", "is for a person to set", &theirs]);
        let key = line.split(':').next().expect("a key");
        assert!(outcome.stderr.contains(key), "{outcome}");
    }
    repo.agentgate(["preflight"]).expect(2, &["is for a person to set"]);
    let elsewhere = repo.top().join("cfg");
    let outcome = bare(&repo, "j1", &[])
        .env("XDG_CONFIG_HOME", &elsewhere)
        .args(["--", &agent])
        .run();
    outcome.expect(2, &[&elsewhere.join("agentgate/config.yml").display().to_string()]);
    assert!(!record(&repo, "j1").exists());
    assert!(!jobs::jobs_root(&repo).exists());
}

#[test]
fn a_near_miss_of_a_persons_key_is_not_sent_to_where_it_cannot_stand() {
    let repo = Repo::new();
    repo.change(SETTINGS, "hid: [/x]\n");
    repo.agentgate(["preflight"]).expect(
        2,
        &["did you mean `hide`? that one can stand in a person's own file only"],
    );
}

#[test]
fn a_bad_file_of_the_person_is_64_at_its_place() {
    let repo = Repo::new();
    let theirs = person(&repo).display().to_string();
    let run = |texts: &[&str]| {
        let outcome = bare(&repo, "j1", &[]).args(["--", "true"]).run();
        outcome.expect(64, texts);
        repo.agentgate(["agents"]).expect(64, texts);
    };
    settle(&repo, "version: 1\nhidden_: [/x]\n");
    run(&[&format!("{theirs}:2:1: unknown key `hidden_`")]);
    settle(&repo, "max_jobs: 3\n");
    run(&[&format!("{theirs}:1:1: `max_jobs` is not enforced by this version")]);
    settle(&repo, "confinment: off\n");
    run(&["did you mean `confinement`?"]);
    settle(&repo, "hide: [&a /x]\n");
    run(&[&format!("{theirs}:1:8: an anchor")]);
    fs::remove_file(person(&repo)).expect("it is there");
    symlink("nowhere.yml", person(&repo)).expect("a link can be made");
    run(&[&theirs, "the link leads nowhere"]);
    fs::remove_file(person(&repo)).expect("it is there");
    rustix::fs::mkfifoat(rustix::fs::CWD, person(&repo), 0o600.into()).expect("a pipe can be made");
    run(&[&theirs, "not a regular file"]);
    let outcome = bare(&repo, "j1", &[])
        .env("XDG_CONFIG_HOME", "cfg")
        .args(["--", "true"])
        .run();
    outcome.expect(64, &["XDG_CONFIG_HOME is not an absolute path: cfg"]);
    assert!(!record(&repo, "j1").exists());
    repo.agentgate(["preflight"]).expect(64, &["not a regular file"]);
    fs::remove_file(person(&repo)).expect("it is there");
    // Absent is fine, and so is a link to a file.
    settle(&repo, "version: 1\n");
    fs::rename(person(&repo), repo.top().join("real.yml")).expect("it can be moved");
    symlink(repo.top().join("real.yml"), person(&repo)).expect("a link can be made");
    bare(&repo, "j2", &[]).args(["--", "true"]).run().expect(15, &[]);
}

#[test]
fn the_persons_command_runs_where_nobody_else_names_one() {
    let repo = Repo::new();
    let agent = recorder(&repo, "recorder");
    settle(
        &repo,
        &format!(
            "agents:\n  implementer:\n    command: [{agent}, mine, '{{task_file}}']\n    input: file\n    \
             env: {{COLOUR: '{{worktree}}', CACHE: '{{home}}/c', SCRATCH: '{{tmp}}/s', LABEL: '{{model}}'}}\n    \
             model_label: mine/1\n    timeout: 7m\npass_env: [SOME_TOKEN]\n"
        ),
    );
    let run = |id: &str, options: &[&str]| {
        bare(&repo, id, options)
            .env("SOME_TOKEN", "t")
            .env("OTHER_TOKEN", "o")
            .env("ANOTHER", "a")
            .run()
            .expect(0, &[]);
    };
    run("j1", &["--pass-env", "ANOTHER"]);
    let root = jobs::jobs_root(&repo);
    let private = root.join(".jobs/j1");
    assert_eq!(
        shown(&repo, "j1", "args.txt"),
        format!("{agent}\nmine\n{}", private.join("task/TASK.md").display())
    );
    assert_eq!(shown(&repo, "j1", "stdin-is.txt"), "/dev/null");
    let env = environment(&repo, "j1");
    assert_eq!(env["COLOUR"], root.join("j1").to_string_lossy());
    assert_eq!(env["CACHE"], private.join("home/c").to_string_lossy());
    assert_eq!(env["SCRATCH"], private.join("tmp/s").to_string_lossy());
    assert_eq!(env["LABEL"], "mine/1");
    assert_eq!((env["SOME_TOKEN"].as_str(), env["ANOTHER"].as_str()), ("t", "a"));
    assert_eq!(env.get("OTHER_TOKEN"), None);
    let created = &events(&repo, "j1")[0];
    assert_eq!(
        (&created["agent_source"], &created["model_label"], &created["timeout"]),
        (&"settings".into(), &"mine/1".into(), &420.into())
    );

    // The repository goes before the person, key by key, and the command line before both.
    repo.change(
        SETTINGS,
        &format!("agents:\n  implementer:\n    command: {agent} theirs\n    timeout: 8m\n"),
    );
    run("j2", &[]);
    assert_eq!(shown(&repo, "j2", "args.txt"), format!("{agent}\ntheirs"));
    assert_eq!(shown(&repo, "j2", "stdin.txt"), "Goal: do the work");
    let created = &events(&repo, "j2")[0];
    assert_eq!(
        (&created["model_label"], &created["timeout"]),
        (&"unspecified".into(), &480.into()),
        "the person's label is that of the person's command"
    );
    assert_eq!(environment(&repo, "j2").get("COLOUR"), None);
    run("j3", &["--timeout", "9m"]);
    assert_eq!(events(&repo, "j3")[0]["timeout"], 540);
    task(&repo, "Goal: x\nTimeout: 10m\n");
    let path = repo.top().join("TASK.md");
    repo.command(["run", "--job-id", "j4"])
        .args([path])
        .run()
        .expect(0, &[]);
    assert_eq!(events(&repo, "j4")[0]["timeout"], 600);
}

#[test]
fn pass_env_lets_a_withheld_variable_through() {
    let repo = Repo::new();
    let agent = recorder(&repo, "recorder");
    let run = |id: &str, options: &[&str]| {
        let job = bare(&repo, id, options).args(["--", &agent]);
        job.env("GITHUB_TOKEN", "g").env("NPM_TOKEN", "n").run().expect(0, &[]);
        let env = environment(&repo, id);
        (env.get("GITHUB_TOKEN").cloned(), env.get("NPM_TOKEN").cloned())
    };
    assert_eq!(run("j1", &[]), (None, None));
    assert_eq!(run("j2", &["--pass-env", "GITHUB_TOKEN"]), (Some("g".into()), None));
    settle(&repo, "pass_env: [NPM_TOKEN]\n");
    let both = (Some("g".into()), Some("n".into()));
    assert_eq!(run("j3", &["--pass-env=GITHUB_TOKEN"]), both);
    // What agentgate sets itself goes before all.
    let job = bare(&repo, "j4", &["--pass-env", "AGENT_JOB_ID"]).args(["--", &agent]);
    job.env("AGENT_JOB_ID", "other").run().expect(0, &[]);
    assert_eq!(environment(&repo, "j4")["AGENT_JOB_ID"], "j4");
}

#[test]
fn worktrees_go_where_the_person_says_and_never_into_a_clone() {
    let repo = Repo::new();
    settle(&repo, "worktree_root: ~/jobs\n");
    let outcome = jobs::run(&repo, "j1", "echo 1 > payments/a.ts; pwd > /dev/stderr");
    outcome.expect(0, &[]);
    let worktree = PathBuf::from(jobs::value(&outcome, "worktree"));
    let root = worktree.parent().expect("it has one");
    assert_eq!(root.parent(), Some(repo.home().join("jobs").as_path()));
    let name = root.file_name().expect("a name").to_string_lossy().into_owned();
    assert!(name.starts_with("repo-") && name.len() == "repo-".len() + 8, "{name}");
    assert!(worktree.join("payments/a.ts").exists());
    assert!(!jobs::jobs_root(&repo).exists(), "nothing lies beside the clone");
    // Another clone has a folder of its own there.
    let other = repo.clone_as("elsewhere/repo", &[]);
    let outcome = jobs::run(&other, "j1", "echo 1 > payments/a.ts");
    outcome.expect(0, &[]);
    assert_ne!(jobs::value(&outcome, "worktree"), worktree.to_string_lossy());
    repo.agentgate(["land", "j1"]).success();
    other.agentgate(["drop", "j1"]).success();
    assert!(!worktree.exists());
    jobs::run(&repo, "j2", "echo x > prot/rules.txt").expect(3, &[]);
    let opened = repo.agentgate(["open", "j2"]).success();
    assert!(opened.stdout.contains("home/jobs/repo-"), "{opened}");

    let inside = [
        repo.root.clone(),
        repo.root.join("jobs/deep"),
        repo.root.join(".git/jobs"),
        other.root.join("payments"),
    ];
    for place in &inside {
        settle(&repo, &format!("worktree_root: {}\n", place.display()));
        let outcome = jobs::run(&repo, "j3", "true");
        let theirs = person(&repo).display().to_string();
        outcome.expect(64, &["worktree_root", "lies in the repository", &theirs]);
    }
    symlink(&repo.root, repo.home().join("link")).expect("a link can be made");
    settle(&repo, "worktree_root: ~/link/jobs\n");
    jobs::run(&repo, "j3", "true").expect(64, &["lies in the repository"]);
    settle(&repo, "worktree_root: ~/.gitconfig/jobs\n");
    jobs::run(&repo, "j3", "true").expect(64, &["worktree_root"]);
    assert!(!record(&repo, "j3").exists());
    assert!(!repo.root.join("jobs").exists());
}

#[test]
fn options_that_cannot_be_meant_are_64() {
    let repo = Repo::new();
    for (options, text) in [
        (&["--confinement", "maybe"][..], "on, strict or off"),
        (&["--network", "none"], "deny-tcp"),
        (&["--network", "443,,80"], "65535"),
        (&["--network", "0"], "65535"),
        (&["--network", "+443"], "65535"),
        (&["--network", "70000"], "65535"),
        (&["--pass-env", "A=b"], "only its name: A"),
        (&["--pass-env", "AWS_*"], "letters, digits"),
        (&["--idle-timeout", "5"], "5m"),
        (&["--agent", "nobody"], "agentgate agents"),
        (&["--agent", "claud"], "did you mean `claude`?"),
        (&["--agent", ""], "there is no agent"),
    ] {
        bare(&repo, "j1", options).run().expect(64, &[text]);
    }
    let both = bare(&repo, "j1", &["--agent", "claude"]).args(["--", "true"]).run();
    both.expect(64, &["--agent"]);
    for options in [
        &["--confinement", "off"][..],
        &["--allow-unconfined", "--network", "allow"],
        &["--hide", "x", "--hide=/y", "--idle-timeout", "10m"],
    ] {
        let id = format!("ok{}", options.len());
        bare(&repo, &id, options).args(["--", "true"]).run().expect(15, &[]);
    }
    assert!(!record(&repo, "j1").exists());
}

#[test]
fn what_the_person_hides_cannot_be_read_and_silence_ends_the_agent() {
    let repo = Repo::new();
    let (secret, other) = (repo.top().join("secret.txt"), repo.top().join("other.txt"));
    fs::write(&secret, "hidden words\n").expect("it can be written");
    fs::write(&other, "open words\n").expect("it can be written");
    settle(&repo, &format!("hide: [{}]\n", secret.display()));
    let script = format!(
        "cat {} {} > payments/a.ts 2>&1; true",
        secret.display(),
        other.display()
    );
    jobs::job(&repo, "j1", &[], &script).run().expect(0, &[]);
    let seen = shown(&repo, "j1", "payments/a.ts");
    assert!(seen.contains("open words") && !seen.contains("hidden words"), "{seen}");
    jobs::job(&repo, "j2", &["--hide", &other.display().to_string()], &script)
        .run()
        .expect(0, &[]);
    assert!(!shown(&repo, "j2", "payments/a.ts").contains("words"));
    jobs::job(&repo, "j3", &["--idle-timeout", "1s"], "sleep 50")
        .run()
        .expect(17, &["nothing for 1s"]);
}

#[test]
fn what_is_to_be_hidden_and_cannot_be_is_told() {
    let repo = Repo::new();
    let task = task(&repo, "Goal: x\n");
    let run = |id: &str, path: &str| {
        let agent = ["--", "sh", "-c", "echo 1 > payments/a.ts"];
        let job = repo.command(["run", "--job-id", id, "--hide", path]).args([&task]);
        job.args(agent).run()
    };
    run("j1", "/nowhere/*.env").expect(0, &["hide: /nowhere/*.env hides nothing", "no patterns"]);
    run("j2", "/").expect(64, &["hide: / is everything"]);
    assert!(!run("j3", "/var").stderr.contains("hides nothing"));
}

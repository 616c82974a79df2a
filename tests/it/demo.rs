//! `agentgate demo`: it ends with 0, what it claims is so, and what it tells people to type works.

use std::fs;
use std::path::{Path, PathBuf};

use agentgate::files;
use agentgate::process::Status;

use super::init::Bench;

/// The commands in its closing words, without those that would delete.
fn commands(out: &str) -> Vec<&str> {
    let next = out.split_once("--- Next ").expect("closing words").1;
    next.lines().filter_map(|line| line.strip_prefix("    ")).collect()
}

fn repository(out: &str) -> PathBuf {
    let first = commands(out)[0];
    PathBuf::from(first.strip_prefix("cd ").expect("the first command goes there"))
}

fn ids(out: &str) -> Vec<&str> {
    let record = |line: &'static str| move |shown: &&str| shown.starts_with(line);
    out.lines()
        .filter(record("The record: "))
        .filter_map(|line| line.trim_end_matches('/').rsplit('/').next())
        .collect()
}

#[test]
fn both_jobs_go_as_described() {
    let bench = Bench::new();
    let (status, out, err) = bench.agentgate(&bench.clone, &["demo"]);
    assert_eq!(status, Status::Exited(0), "{out}{err}");
    assert!(!out.contains("NOT"), "{out}");
    let (repository, ids) = (repository(&out), ids(&out));
    let [refused, kept] = ids[..] else {
        panic!("two records: {out}")
    };
    assert!(repository.starts_with(fs::canonicalize(bench.temp.path()).expect("a folder").join("tmp")));
    assert_eq!(
        fs::read_dir(&bench.clone).expect("it can be listed").count(),
        0,
        "it was started there"
    );

    let record = repository.join(".git/agentgate/jobs");
    let read = |path: PathBuf| fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    assert!(read(record.join(refused).join("change.patch")).contains("infra/async/retry-worker.ts"));
    let log = read(record.join(refused).join("gate.log"));
    assert!(
        log.contains("rule: forbidden-directory [payments.forbidden_dirs[0]] (exit 4)"),
        "{log}"
    );
    assert!(
        log.contains("rule: forbidden-import [payments.forbidden_imports[1]] (exit 5)"),
        "{log}"
    );

    let git = |line: &str| bench.sh(&repository, line);
    assert_eq!(
        git("git branch --format='%(refname:short)'"),
        format!("agent/{kept}\nmain\n")
    );
    assert_eq!(git("git worktree list").lines().count(), 2);
    assert_eq!(git("git status --porcelain"), "");
    let trailers = git(&format!("git show -s --format='%(trailers:only)' agent/{kept}"));
    assert!(
        trailers.starts_with(&format!("Agent-Job-Id: {kept}\nAgent-Host: ")),
        "{trailers}"
    );
}

#[test]
fn what_it_tells_people_to_type_works() {
    let bench = Bench::new();
    let (_, out, _) = bench.agentgate(&bench.clone, &["demo"]);
    let commands = commands(&out);
    let binary = env!("CARGO_BIN_EXE_agentgate");
    assert_eq!(commands[1], format!("alias agentgate={binary}"));
    // One shell, line by line, as a person would; an alias needs a shell that expands it.
    let script = format!("set -e\nagentgate() {{ {binary} \"$@\"; }}\n{}\n", commands.join("\n"));
    let landed = bench.sh(&bench.clone, &script);
    assert!(landed.contains("landed=refs/heads/main"), "{landed}");
    assert_eq!(
        fs::read_dir(bench.temp.path().join("tmp"))
            .expect("it can be listed")
            .count(),
        0
    );
}

#[test]
fn a_persons_own_settings_do_not_change_the_story() {
    let mut bench = Bench::new();
    let home = bench.temp.path().join("home");
    let config = "[commit]\n\tgpgsign = true\n[core]\n\texcludesFile = ~/ignore\n\thooksPath = /nowhere\n\
                  [init]\n\tdefaultBranch = trunk\n[user]\n\tuseConfigOnly = true\n";
    files::replace(&home.join(".gitconfig"), config.as_bytes(), 0o644).expect("a file");
    files::replace(&home.join("ignore"), b"infra/\n*.ts\n", 0o644).expect("a file");
    bench
        .env
        .retain(|(name, _)| !name.to_string_lossy().starts_with("GIT_"));
    for (name, value) in [
        ("AGENT_CMD", "false"),
        ("AGENT_JOB_ID", "not/an id"),
        ("AGENT_HOST_LABEL", "not a label"),
        ("GIT_DIR", "/nowhere"),
        ("GIT_WORK_TREE", "/nowhere"),
        ("INVARIANT_BASE", "nowhere"),
    ] {
        bench.env.push((name.into(), value.into()));
    }
    let (status, out, err) = bench.agentgate(Path::new("/"), &["demo"]);
    assert_eq!(status, Status::Exited(0), "{out}{err}");
}

#[test]
fn it_can_be_read_in_eighty_columns() {
    let bench = Bench::new();
    let (_, out, _) = bench.agentgate(&bench.clone, &["demo"]);
    let told = out.split_once("--- Next ").expect("closing words").0;
    for line in told.lines() {
        assert!(line.chars().count() <= 80, "{line}");
    }
}

//! A bit of every byte of a record turned: never proved.

use std::fs;
use std::path::Path;

use agentgate::commands::Surroundings;
use agentgate::commands::verify::verify;

use crate::support::jobs::{record, run_to};
use crate::support::repo::Repo;
use crate::support::tokens::github;

/// How far apart the bytes are of which one bit is turned, in files whose change costs a whole verify.
const STRIDE: usize = 61;

/// Not the real binary: thousands of programs would be started.
fn surroundings(repo: &Repo) -> Surroundings {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let vars = [
        ("PATH", path),
        ("HOME", repo.home().into()),
        ("GIT_CONFIG_NOSYSTEM", "1".into()),
    ];
    Surroundings {
        vars: vars.into_iter().map(|(key, value)| (key.into(), value)).collect(),
        cwd: repo.root.clone(),
    }
}

#[track_caller]
fn not_proved(surroundings: &Surroundings, id: &str, path: &Path, at: usize) {
    let code = match verify(surroundings, id) {
        Ok(report) => report.exit().code(),
        Err(error) => panic!("{id}: {} byte {at}: {error:#}", path.display()),
    };
    assert_eq!(code, 25, "{id}: {} byte {at}", path.display());
}

/// Turns a bit of each byte of each file of a record. The log is cheap to refuse: there it is every byte.
#[track_caller]
fn turned(repo: &Repo, id: &str) {
    let surroundings = surroundings(repo);
    assert_eq!(verify(&surroundings, id).expect("a report").exit().code(), 0);
    repo.tampered("every byte is changed once");
    let seed = std::process::id() as usize;
    eprintln!("seed {seed}: where in each {STRIDE} bytes a bit is turned");
    for entry in fs::read_dir(record(repo, id)).expect("a record") {
        let path = entry.expect("an entry").path();
        let bytes = fs::read(&path).expect("it is there");
        let (first, step) = match path.ends_with("events.jsonl") {
            true => (0, 1),
            // All of them where whoever runs it has the time.
            false if std::env::var_os("AGENTGATE_EVERY_BYTE").is_some() => (0, 1),
            false => (seed % STRIDE, STRIDE),
        };
        let ends = [0, bytes.len().saturating_sub(1)];
        let places = ends.into_iter().chain((first..bytes.len()).step_by(step));
        for at in places.filter(|at| *at < bytes.len()) {
            let mut changed = bytes.clone();
            changed[at] ^= 1 << (at % 8);
            fs::write(&path, &changed).expect("it can be written");
            not_proved(&surroundings, id, &path, at);
        }
        fs::write(&path, &bytes).expect("it can be written");
    }
    assert_eq!(verify(&surroundings, id).expect("a report").exit().code(), 0);
}

#[test]
fn of_a_kept_job_with_checks() {
    let repo = Repo::new();
    repo.write("architecture/agentgate.yml", "checks:\n- {name: c, run: 'echo fine'}\n");
    repo.commit("settings");
    run_to(
        0,
        &repo,
        "j1",
        "echo said; echo 1 > payments/a.ts; echo x > .gitignore; echo y > x",
    );
    turned(&repo, "j1");
}

#[test]
fn of_a_refused_job() {
    let repo = Repo::new();
    run_to(3, &repo, "j1", "rm prot/rules.txt");
    turned(&repo, "j1");
}

#[test]
fn of_a_failed_job() {
    let repo = Repo::new();
    run_to(16, &repo, "j1", "echo 1 > payments/a.ts; echo why >&2; exit 1");
    turned(&repo, "j1");
}

#[test]
fn of_a_job_with_a_credential() {
    let repo = Repo::new();
    run_to(
        24,
        &repo,
        "j1",
        &format!("echo 'const t = \"{}\";' > payments/a.ts", github()),
    );
    turned(&repo, "j1");
}

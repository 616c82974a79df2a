//! Every job that a test has run to its end is verified when the test is over.

use std::cell::RefCell;
use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use tempfile::TempDir;

use super::person::Person;
use super::program::{Outcome, Program};

/// A test's temporary folder. Dropped, it proves the jobs in it.
pub struct Held {
    folder: TempDir,
    person: Person,
    tampered: RefCell<Option<&'static str>>,
}

impl Held {
    pub fn new(folder: TempDir, person: Person) -> Held {
        Held {
            folder,
            person,
            tampered: RefCell::default(),
        }
    }

    pub fn path(&self) -> &Path {
        self.folder.path()
    }

    /// The test has done something to records, refs or objects after which they cannot be proved.
    pub fn tampered(&self, why: &'static str) {
        *self.tampered.borrow_mut() = Some(why);
    }

    fn prove(&self) -> Vec<String> {
        let Ok(top) = fs::canonicalize(self.folder.path()) else {
            return Vec::new();
        };
        let mut failures = Vec::new();
        for (clone, id) in ended(&top) {
            let outcome = verify(&top, &clone, self.person, &id);
            // Some tests give the repository to another user; git, rightly, lets nobody else read it.
            let is_anothers = outcome.stderr.contains("its folder belongs to another user");
            if outcome.code != 0 && !is_anothers {
                failures.push(outcome.to_string());
            }
        }
        failures
    }
}

impl Drop for Held {
    fn drop(&mut self) {
        if std::thread::panicking() || self.tampered.borrow().is_some() {
            return;
        }
        let failures = self.prove();
        assert!(
            failures.is_empty(),
            "jobs of this test cannot be proved (if it means to leave them so: `repo.tampered(why)`):\n{}",
            failures.join("\n")
        );
    }
}

/// The clones below a folder and their jobs that have come to an end, as their logs say.
fn ended(top: &Path) -> Vec<(PathBuf, String)> {
    let mut found = Vec::new();
    for clone in folders(top).into_iter().chain(folders(&top.join("home"))) {
        for common in [clone.join(".git"), clone.clone()] {
            for job in folders(&common.join("agentgate/jobs")) {
                let log = fs::read(job.join("events.jsonl")).unwrap_or_default();
                let kinds = [
                    "job.kept",
                    "job.refused",
                    "job.failed",
                    "job.interrupted",
                    "job.needs_human",
                ];
                let is_end = |kind: &&str| {
                    let word = format!("\"event\":\"{kind}\"");
                    log.windows(word.len()).any(|window| window == word.as_bytes())
                };
                let id = job.file_name().unwrap_or_default().to_string_lossy().into_owned();
                if kinds.iter().any(is_end) {
                    found.push((clone.clone(), id));
                }
            }
        }
    }
    found
}

fn folders(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let real = entries.filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_dir()));
    real.map(|entry| entry.path()).collect()
}

fn verify(top: &Path, clone: &Path, person: Person, id: &str) -> Outcome {
    let built = Path::new(env!("CARGO_BIN_EXE_agentgate"));
    let mut command = Command::new(person.reachable(built, top));
    let environment: [(&str, OsString); 6] = [
        ("PATH", std::env::var_os("PATH").unwrap_or_default()),
        ("HOME", top.join("home").into()),
        ("LC_ALL", "C.UTF-8".into()),
        ("TZ", "UTC".into()),
        ("GIT_CONFIG_NOSYSTEM", "1".into()),
        ("GIT_CEILING_DIRECTORIES", top.into()),
    ];
    command.env_clear().envs(environment).current_dir(clone);
    person.runs(&mut command);
    Program::of(command).args(["verify", id]).run()
}

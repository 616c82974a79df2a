//! The commands that refusals tell people to type.

use std::path::Path;

use super::program::Outcome;
use super::repo::Repo;

/// The command of the hint that begins with these words.
#[track_caller]
pub fn command(outcome: &Outcome, words: &str) -> String {
    let start = format!("hint: {words}: ");
    let mut lines = outcome.stderr.lines();
    let found = lines.find_map(|line| line.strip_prefix(&start));
    found
        .unwrap_or_else(|| panic!("no hint {words:?} in\n{outcome}"))
        .to_owned()
}

/// Types it, as it stands there, at the top of the clone.
#[track_caller]
pub fn follow(repo: &Repo, outcome: &Outcome, words: &str) -> Outcome {
    let command = command(outcome, words);
    let binary = repo.binary();
    let folder = Path::new(&binary).parent().expect("it lies in a folder").display();
    let path = std::env::var("PATH").unwrap_or_default();
    let shell = repo.program("sh").args(["-c", &command]);
    shell.env("PATH", format!("{folder}:{path}")).run().success()
}

//! `checks:`: commands of the repository's owners, run on a candidate that the gate has nothing against.
//!
//! Invariants: each command has a checkout, a home and a set-up of its own, made for it and deleted after it,
//! so that what one leaves decides nothing about the next (tests are the candidate's code); all of it runs
//! behind the agent's walls; not one of its processes is alive when the next begins. Which commands there are
//! is said by settings of the base.

mod command;
mod room;
mod run_one;
mod workspace;

use std::path::Path;

use anyhow::Result;
use git2::Oid;

use super::run::Copies;
use super::walls::Walls;
use super::{Surroundings, Watch};
use crate::agent::effective::Effective;
use crate::agent::settings::Check;
use crate::gate::checks::{CheckEnd, CheckResult};
use crate::git::fingerprint::Fingerprint;
use crate::git::repo::Checkout;
use crate::git::settings::ContentSettings;
use crate::paths::PathRule;
use crate::task::format_duration;
use run_one::Run;

pub(in crate::commands) use command::last_lines;
pub use room::{Room, sweep};

/// A tree that checks are run on.
#[derive(Clone, Copy, Debug)]
pub struct Subject {
    /// The tree.
    pub tree: Oid,
    /// The commit that HEAD names beside it.
    pub head: Oid,
}

/// What all checks of one candidate have in common.
pub struct Bench<'a> {
    /// The clone.
    pub checkout: &'a Checkout,
    /// The process's surroundings.
    pub surroundings: &'a Surroundings,
    /// Set-up, variables, home files; limit of the set-up.
    pub effective: &'a Effective,
    /// The walls.
    pub walls: &'a Walls,
    /// What git's content depends on.
    pub content: &'a ContentSettings,
    /// What is copied in.
    pub copies: &'a Copies,
    /// What is judged.
    pub candidate: Subject,
    /// What it is compared with: its attributes decide how files are laid out.
    pub base: Oid,
    /// The folder of the clone's jobs, which the commands cannot look into.
    pub root: &'a Path,
    /// Made for each run, and deleted after it.
    pub folder: &'a Path,
    /// Value of AGENTGATE_TASK, by which processes are found that outlived a killed agentgate.
    pub mark: &'a Path,
    /// Value of AGENT_JOB_ID.
    pub job: &'a str,
    /// Value of AGENT_HOST_LABEL.
    pub host: &'a str,
    /// Folder of the log files.
    pub logs: &'a Path,
    /// Whether their output is also copied to our standard error.
    pub verbose: bool,
}

/// One run of one command that is over.
#[derive(Debug)]
pub struct Ran<'a> {
    /// Where the check stands in the settings.
    pub key: &'a str,
    /// Its name.
    pub name: &'a str,
    /// `candidate` or `base`.
    pub on: &'static str,
    /// How it ended.
    pub end: CheckEnd,
    /// How many processes outlived it and had to be ended.
    pub leftovers: u64,
    /// Its time in milliseconds.
    pub millis: u64,
    /// The name of its log in [`Bench::logs`]; none where it was skipped.
    pub log: Option<String>,
}

/// What they came to.
#[derive(Debug, Default)]
pub struct Outcome {
    /// In the order of the settings; not all of them where a signal ended them.
    pub results: Vec<CheckResult>,
    /// Things worth knowing.
    pub notices: Vec<String>,
    /// The signal that ended them.
    pub interrupted: Option<i32>,
}

/// Runs all of them, also after one has failed: a person wants to know all that is wrong. `told` hears of
/// each run when it is over. `first` is the number of the first, for the log files.
///
/// # Errors
/// Exit 21 where the walls cannot be applied, 20 where the clone changed meanwhile and nothing held them, 64
/// where the person's files cannot be copied in.
pub fn run_all(
    bench: &Bench<'_>,
    checks: &[(String, Check)],
    first: usize,
    changed: &[Vec<u8>],
    watch: &dyn Watch,
    told: &mut dyn FnMut(&Ran<'_>) -> Result<()>,
) -> Result<Outcome> {
    let mut outcome = Outcome::default();
    // With read-only mounts nothing of the clone can change, not even a mode.
    let before = match bench.walls.layers.mounts {
        true => None,
        false => Some(Fingerprint::take(bench.checkout, bench.job)?),
    };
    for (index, (key, check)) in checks.iter().enumerate() {
        let run = Run {
            bench,
            before: before.as_ref(),
            key,
            check,
            number: first + index,
            words: format!("check {} of {}: {}", index + 1, checks.len(), check.name),
        };
        if !applies(check, changed) {
            let end = CheckEnd::Skipped;
            watch.step(&format!("{}: {}", run.words, end.words()));
            told(&run.ran(end.clone(), "candidate"))?;
            outcome.results.push(run.result(end));
            continue;
        }
        watch.step(&format!("{} (limit {})", run.words, format_duration(check.timeout)));
        let (ran, last_lines) = run.on(bench.candidate, "candidate", watch, &mut outcome.notices)?;
        told(&ran)?;
        let seconds = format_duration(ran.millis / 1000);
        watch.step(&format!("{} {} after {seconds}", run.words, ran.end.words()));
        if let CheckEnd::Interrupted { signal } = ran.end {
            outcome.interrupted = Some(signal);
            return Ok(outcome);
        }
        let failed = ran.end.failed();
        let mut result = CheckResult {
            millis: ran.millis,
            last_lines: if failed { last_lines } else { Vec::new() },
            log: ran.log.clone(),
            ..run.result(ran.end)
        };
        if failed && check.baseline {
            watch.step(&format!("{}, on the base", run.words));
            let base = Subject {
                tree: bench.checkout.repo.find_commit(bench.base)?.tree_id(),
                head: bench.base,
            };
            let (ran, _) = run.on(base, "base", watch, &mut outcome.notices)?;
            told(&ran)?;
            watch.step(&format!("{}, on the base: {}", run.words, ran.end.words()));
            if let CheckEnd::Interrupted { signal } = ran.end {
                outcome.interrupted = Some(signal);
                return Ok(outcome);
            }
            result.baseline = Some(ran.end);
        }
        outcome.results.push(result);
    }
    Ok(outcome)
}

/// Whether one of the changed paths asks for it. In doubt one does: case and Unicode twins count.
fn applies(check: &Check, changed: &[Vec<u8>]) -> bool {
    let mut rules = check.when.iter().map(|text| PathRule::parse(text, "when".to_owned()));
    check.when.is_empty()
        || rules.any(|rule| rule.map_or(true, |rule| changed.iter().any(|path| rule.denies(path).is_some())))
}

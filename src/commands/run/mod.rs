//! `agentgate run`: the loop around the state machine.
//!
//! next -> do -> append what happened -> fold, until the machine says that the job is over. All
//! that could be refused is refused in `prepare`, before anything was made.

mod answers;
mod attempt;
mod call;
mod checks;
mod copy;
mod credentials;
mod desk;
mod freeze;
mod home;
mod inputs;
mod keep;
mod leftovers;
mod outside;
mod prepare;
mod request;
mod resume;
mod settle;
mod setup;
mod steps;
mod unseen;
mod words;

use std::path::{Path, PathBuf};

use anyhow::Result;

use super::{Surroundings, Watch};
use crate::agent::effective::Asked;
use crate::exit::{Exit, Stop};
use crate::gate::checks::CheckResult;
use crate::gate::{Finding, Warning};
use crate::job::machine::{self, Ending, Step};
use crate::lock::Wait;
use crate::process::signals;
use crate::store::{RESUME, Standing};

pub use call::log_name;
pub use checks::not_run;
pub use copy::Copies;
pub use home::{login_lock, settle_left_behind};
pub use inputs::{default_job_id, must_be_clean, places, read_task, root_of, rules_of, settings_of, task_place};
pub use outside::{JUDGED_BY as BY_PLAN, of_plan, of_roles};
pub use resume::{Again, Persons, Resumed, resume, unfinished};
pub use unseen::add as add_unseen;

/// What the person asked for.
#[derive(Clone, Debug)]
pub struct Options {
    /// The task file, as given.
    pub task: PathBuf,
    /// Which agent, and what may happen while it runs.
    pub asked: Asked,
    /// `--base`
    pub base: Option<String>,
    /// `--job-id`
    pub job_id: Option<String>,
    /// `--artifacts`
    pub artifacts: Option<PathBuf>,
    /// `--land`
    pub land: bool,
    /// `--allow-dirty`
    pub allow_dirty: bool,
    /// `--wait`
    pub wait: Wait,
    /// `--verbose`
    pub verbose: bool,
}

/// How a job ended, for the reporters.
#[derive(Clone, Debug)]
pub struct Report {
    /// Job id.
    pub job_id: String,
    /// Base commit.
    pub base: String,
    /// Where the worktree is, if it is kept.
    pub worktree: Option<PathBuf>,
    /// `agent/<job id>`, if it is kept.
    pub branch: Option<String>,
    /// The candidate, if it was committed.
    pub commit: Option<String>,
    /// The record's folder.
    pub record: PathBuf,
    /// The exit code's name, `ok` for a kept job.
    pub exit: Exit,
    /// Why, one line; empty for a kept job.
    pub reason: String,
    /// The confinement in force, and each waiver.
    pub confinement: String,
    /// What the person has narrowed beyond it, a word or two each.
    pub narrowed: Vec<String>,
    /// What it does not cover, one line each.
    pub not_covered: Vec<String>,
    /// What the gate found.
    pub findings: Vec<Finding>,
    /// What the checks came to.
    pub checks: Vec<CheckResult>,
    /// Changes that break no rule and must not be overlooked.
    pub warnings: Vec<Warning>,
    /// Things worth knowing.
    pub notices: Vec<String>,
    /// What may explain the reason, to be said after it.
    pub afterwards: Vec<String>,
    /// How many paths differ from the base.
    pub changed: usize,
    /// What to type next, with a word on why.
    pub next: Vec<(String, String)>,
    /// The landing, where `--land` was given and the job passed.
    pub landed: Option<super::land::Report>,
}

/// A job that exists: `job.created` and `job.owned` are on the disk, and nothing can be refused any more.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Begun {
    /// Job id.
    pub job_id: String,
    /// The record's folder.
    pub record: PathBuf,
    /// `agentgate` with the folder that it is to work in, as it can be typed anywhere.
    pub agentgate: String,
}

/// Removes what is kept only as long as a job is not over. Called when all is done and said.
pub fn forget(record: &Path) {
    // One that stays behind is removed by the next `resume` or `drop`.
    let _ = std::fs::remove_file(record.join(RESUME));
}

/// Runs a job from preflight to its end. `begun` is called once, when it exists and before it does anything.
pub fn run(
    options: &Options,
    surroundings: &Surroundings,
    watch: &dyn Watch,
    begun: &mut dyn FnMut(&Begun) -> Result<()>,
) -> Result<Report> {
    let mut job = prepare::prepare(options, surroundings, watch)?;
    if let Err(error) = begun(&job.begun()) {
        return Err(job.broke(error));
    }
    finish(job, options, surroundings, watch)
}

/// Takes a job from where it stands to its end, and lands it where that was asked for.
fn finish(mut job: prepare::Job, options: &Options, surroundings: &Surroundings, watch: &dyn Watch) -> Result<Report> {
    let outcome = drive(&mut job, watch);
    if outcome.is_err() {
        // A failure may come of its being somebody else's by now.
        let _ = job.owner.must_be_sole();
    }
    let report = match outcome {
        Ok(exit) => job.report(exit),
        Err(error) if job.owner.standing() == Standing::Lost => {
            watch.settled();
            return Err(error);
        }
        Err(error) => {
            watch.settled();
            let ended = job
                .stop_without_worktree(&error, watch)
                .or_else(|| job.fail_with_evidence(&error, watch));
            match ended {
                Some(exit) => job.report(exit),
                None => return Err(job.broke(error)),
            }
        }
    };
    // The clone must be free for others before anything else happens.
    drop(job);
    land_if_asked(options, surroundings, report)
}

fn drive(job: &mut prepare::Job, watch: &dyn Watch) -> Result<Exit> {
    loop {
        // Whoever stood still meanwhile may have lost the job to another one.
        job.owner.must_be_sole()?;
        let mut step = machine::next(&job.owner.state);
        // A signal ends the job at the next boundary; what the agent had done is frozen first,
        // so that it is in the record.
        let frozen_or_empty = job.owner.state.frozen.is_some() || job.owner.state.agent.is_none();
        if let Some(signal) = signals::pending()
            && !matches!(step, Step::End(_) | Step::Done(_) | Step::Keep | Step::NeedsHuman(_))
            && frozen_or_empty
        {
            step = Step::End(Ending::Interrupted(signal));
        }
        match step {
            Step::Preflight => job.preflight()?,
            Step::AddWorktree => job.add_worktree(watch)?,
            Step::Call(call) => job.call(&call, watch)?,
            Step::Retry { step, reason, failed } => job.retry(&step, &reason, failed)?,
            Step::NeedsHuman(reason) => job.needs_human(&reason, watch)?,
            Step::Freeze => job.pin(watch)?,
            Step::Judge => job.judge(watch)?,
            Step::Commit => job.commit(watch)?,
            Step::Keep => job.keep(watch)?,
            Step::End(ending) => job.end(&ending, watch)?,
            Step::Done(exit) => return Ok(exit),
        }
    }
}

fn land_if_asked(options: &Options, surroundings: &Surroundings, mut report: Report) -> Result<Report> {
    if !options.land || report.exit != Exit::Ok {
        return Ok(report);
    }
    match super::land::land(surroundings, &report.job_id, None) {
        Ok(landed) => {
            report.worktree = None;
            report.branch = None;
            report.next.clear();
            report.landed = Some(landed);
        }
        // The job is kept all the same, and whoever asked must learn where.
        Err(error) => {
            let stop = match error.downcast::<Stop>() {
                Ok(stop) => stop,
                Err(error) => Stop::new(Exit::Internal, format!("{error:#}")),
            };
            report.exit = stop.exit;
            report.reason = format!("kept, but not landed: {}", stop.message);
            report.notices.extend(stop.hints);
        }
    }
    Ok(report)
}

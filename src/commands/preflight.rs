//! `agentgate preflight`: whether a job could start from this checkout.
//!
//! What `run` would certainly end with before it makes anything, this ends with, in the same words. What
//! the command line of that `run` decides is left open: an agent that nobody has configured will stand there.
//! Nothing is made, and the clone lock is not taken.

use std::path::Path;

use anyhow::Result;

use super::implementer::{self, Chosen};
use super::{Surroundings, run};
use crate::agent::effective::{Asked, label};
use crate::exit::Stop;
use crate::git::history::Identity;
use crate::lock::CloneLock;

/// A job could start.
#[derive(Clone, Debug)]
pub struct Report {
    /// Commit id of HEAD.
    pub head: String,
    /// What would stop a job for now: the clone lock.
    pub notices: Vec<String>,
}

/// The same error with the command whose option a hint names: it is an option of `run` alone.
pub(super) fn for_run(error: anyhow::Error) -> anyhow::Error {
    match error.downcast::<Stop>() {
        Ok(mut stop) => {
            for hint in &mut stop.hints {
                *hint = hint.replace(": --allow-dirty", ": agentgate run --allow-dirty");
            }
            stop.into()
        }
        Err(error) => error,
    }
}

/// Exit 22 for a task that cannot be used, 12 for a dirty checkout, then what `run` would end with: 2 for a
/// repository, policy or settings that cannot be used, 24 for a task with a credential, 64 for a set-up that cannot work, 16 for a configured
/// agent that is not there, 21 without confinement, 14 for a branch in the way.
pub fn preflight(surroundings: &Surroundings, given: Option<&Path>) -> Result<Report> {
    let task = given.map(|task| run::read_task(&surroundings.cwd, task)).transpose()?;
    let checkout = surroundings.checkout()?;
    let head = checkout.head()?;
    let spared = given.and_then(|task| run::task_place(&surroundings.cwd, task));
    run::must_be_clean(&checkout, spared.as_deref()).map_err(for_run)?;
    let person = surroundings.person()?;
    let task = task.as_ref().map(|(task, _)| task);
    let (_, settings) = run::rules_of(&checkout, head.commit, task, &person)?;
    let shown = given.unwrap_or(Path::new("TASK.md"));
    let (implementer, effective) = implementer::configured(surroundings, shown, &settings, &person);
    let effective = effective?;
    if let Some(implementer) = implementer {
        implementer.program?;
    }
    let asked = Asked::default();
    let chosen = Chosen {
        asked: &asked,
        task: shown,
        task_timeout: None,
        repository: &settings,
        person: &person,
    };
    implementer::others_start(&chosen, surroundings)?;
    label(surroundings.text("AGENT_HOST_LABEL")?, "AGENT_HOST_LABEL")?;
    implementer::walls(&effective, surroundings)?;
    Identity::of(&checkout)?;
    run::Copies::plan(&checkout, head.commit, &effective.copy)?;
    run::places(&checkout, &effective, &person, surroundings, &run::default_job_id())?;
    let mut notices = Vec::new();
    if let Some(who) = CloneLock::in_use(&checkout.common) {
        notices.push(format!("{who}: another job would end with 13, or wait with --wait"));
    }
    Ok(Report {
        head: head.commit.to_string(),
        notices,
    })
}

//! `agentgate preflight`: whether a job could start from this checkout.

use std::path::Path;

use anyhow::Result;

use super::{Surroundings, run};
use crate::gate::{GateError, Policy};
use crate::git::tree::GitTree;
use crate::lock::CloneLock;

/// The checkout is clean.
#[derive(Clone, Debug)]
pub struct Report {
    /// Commit id of HEAD.
    pub head: String,
    /// What would stop a job all the same: no usable policy or settings, the clone lock.
    pub notices: Vec<String>,
}

/// Exit 22 for a task that cannot be used, 12 for a dirty checkout, 2 for a repository that cannot be read or has no commit.
pub fn preflight(surroundings: &Surroundings, task: Option<&Path>) -> Result<Report> {
    if let Some(task) = task {
        run::read_task(&surroundings.cwd, task)?;
    }
    let checkout = surroundings.checkout()?;
    let head = checkout.head()?;
    let spared = task.and_then(|task| run::task_place(&surroundings.cwd, task));
    run::must_be_clean(&checkout, spared.as_deref())?;
    let mut notices = Vec::new();
    let tree = GitTree::of_commit(&checkout.repo, head.commit).map_err(GateError::from)?;
    if let Err(error) = Policy::of(&tree) {
        notices.push(format!("a job would end with 2 all the same: {error}"));
    }
    match surroundings.person() {
        Ok(person) => {
            if let Err(error) = run::settings_of(&tree, &person) {
                notices.push(format!("a job would end with 2 all the same: {error:#}"));
            }
        }
        Err(error) => notices.push(format!("a job would end with 64 all the same: {error:#}")),
    }
    if let Some(holder) = CloneLock::holder(&checkout.common) {
        let id = holder.job;
        notices.push(format!(
            "job {id} holds the clone: another would end with 13, or wait with --wait"
        ));
    }
    Ok(Report {
        head: head.commit.to_string(),
        notices,
    })
}

//! `agentgate preflight`: whether a job could start from this checkout.

use std::path::Path;

use anyhow::Result;

use super::{Surroundings, run};

/// The checkout is clean.
#[derive(Clone, Debug)]
pub struct Report {
    /// Commit id of HEAD.
    pub head: String,
}

/// Exit 12 for a dirty checkout, 2 for a repository that cannot be read or has no commit.
pub fn preflight(surroundings: &Surroundings, task: Option<&Path>) -> Result<Report> {
    let checkout = surroundings.checkout()?;
    let head = checkout.head()?;
    let spared = task.and_then(|task| run::task_place(&surroundings.cwd, task));
    run::must_be_clean(&checkout, spared.as_deref())?;
    Ok(Report {
        head: head.commit.to_string(),
    })
}

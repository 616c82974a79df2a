//! `agentgate init`: a first policy, fitted to the repository.

use std::path::PathBuf;

use anyhow::Result;

use super::Surroundings;

/// What was written.
#[derive(Clone, Debug)]
pub struct Report {
    /// The policy's path.
    pub path: PathBuf,
    /// Areas that it names, with their folder.
    pub areas: Vec<(String, String)>,
    /// The line to type next.
    pub next: String,
}

/// Writes `architecture/invariants.yml`; never over an existing one.
pub fn init(surroundings: &Surroundings) -> Result<Report> {
    let _ = surroundings;
    anyhow::bail!("not built yet")
}

//! `agentgate trailers`: whether agent commits say who made them.

use anyhow::Result;

use super::Surroundings;
use crate::exit::Exit;
use crate::trailer::Reading;

/// One commit of the range.
#[derive(Clone, Debug)]
pub struct Row {
    /// Commit id.
    pub commit: String,
    /// Its subject.
    pub subject: String,
    /// What it says about itself.
    pub reading: Reading,
}

/// What the range says.
#[derive(Clone, Debug)]
pub struct Report {
    /// 11 where an agent commit's trailers are wrong.
    pub exit: Exit,
    /// The range as given.
    pub range: String,
    /// How many commits it has.
    pub commits: usize,
    /// The agent commits, newest first.
    pub agent_commits: Vec<Row>,
}

/// Reads the trailers of `A..B`, or of one commit.
pub fn trailers(surroundings: &Surroundings, range: &str) -> Result<Report> {
    let _ = (surroundings, range);
    anyhow::bail!("not built yet")
}

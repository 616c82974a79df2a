//! `agentgate check`: the gate over a commit range, as CI runs it.

use std::path::PathBuf;

use anyhow::Result;

use super::Surroundings;
use crate::exit::Exit;
use crate::gate::Verdict;

/// What was asked.
#[derive(Clone, Debug)]
pub struct Options {
    /// `--base`
    pub base: Option<String>,
    /// `--head`
    pub head: String,
    /// `--range A..B`
    pub range: Option<String>,
    /// `--task`
    pub task: Option<PathBuf>,
    /// `--allow-policy-change`
    pub allow_policy_change: bool,
}

/// The verdict over a range.
#[derive(Clone, Debug)]
pub struct Report {
    /// The exit.
    pub exit: Exit,
    /// The base as resolved: commit id.
    pub base: String,
    /// How the base was found, in words (`--base main`, `INVARIANT_BASE`, `origin/HEAD`).
    pub base_from: String,
    /// Where the range starts: the merge base.
    pub merge_base: String,
    /// What was judged: commit id.
    pub head: String,
    /// How many commits were judged one by one.
    pub commits: usize,
    /// The verdict, trailers included.
    pub verdict: Verdict,
}

/// Judges a range.
pub fn check(options: &Options, surroundings: &Surroundings) -> Result<Report> {
    let _ = (options, surroundings);
    anyhow::bail!("not built yet")
}

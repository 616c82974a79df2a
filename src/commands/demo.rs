//! `agentgate demo`: two real jobs in a throwaway repository.

use std::path::PathBuf;

use anyhow::Result;

use super::{Surroundings, Watch};
use crate::exit::Exit;

/// How the demo went.
#[derive(Clone, Debug)]
pub struct Report {
    /// 0 only if both jobs went as described.
    pub exit: Exit,
    /// The throwaway repository.
    pub repository: PathBuf,
    /// Closing words, ready to print.
    pub text: String,
}

/// Plays it.
pub fn demo(surroundings: &Surroundings, watch: &dyn Watch) -> Result<Report> {
    let _ = (surroundings, watch);
    anyhow::bail!("not built yet")
}

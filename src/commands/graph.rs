//! `agentgate graph`: the areas of a commit, and which of them import which.
//!
//! It informs and refuses nothing: a forbidden edge that is there already is marked, and `check` is
//! what judges a change.

use anyhow::Result;

use super::{Surroundings, first_policy};
use crate::exit::{Exit, Stop};
use crate::gate::GateError;
use crate::gate::graph::{self, Graph};
use crate::git::range;
use crate::git::tree::GitTree;

/// How it is drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// Lines for people.
    Text,
    /// One JSON object.
    Json,
    /// A mermaid flowchart.
    Mermaid,
    /// A graph for graphviz.
    Dot,
}

/// The graph of one commit.
#[derive(Clone, Debug)]
pub struct Report {
    /// Whose tree and policy were read: commit id.
    pub commit: String,
    /// What was found.
    pub graph: Graph,
    /// How it was asked for.
    pub format: Format,
}

/// Reads the policy and the tree of a commit; HEAD where none is named.
///
/// # Errors
/// Exit 2 where the commit, its policy or an object cannot be found or read.
pub fn graph(surroundings: &Surroundings, revision: Option<&str>, format: Format) -> Result<Report> {
    let checkout = surroundings.checkout()?;
    let commit = match revision {
        None | Some("" | "HEAD") => checkout.head()?.commit,
        Some(given) => range::resolve(&checkout.repo, given)?.ok_or_else(|| {
            Stop::new(Exit::PolicyUnusable, format!("{given:?} names no commit of this clone"))
                .hint("git fetch origin, then name a branch or commit that is here")
        })?,
    };
    let tree = GitTree::of_commit(&checkout.repo, commit).map_err(GateError::from)?;
    first_policy::must_be_in(&checkout, &surroundings.cwd, commit, &tree)?;
    Ok(Report {
        commit: commit.to_string(),
        graph: graph::of(&tree)?,
        format,
    })
}

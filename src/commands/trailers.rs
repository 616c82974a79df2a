//! `agentgate trailers`: whether agent commits say who made them.

use std::collections::HashMap;

use anyhow::Result;
use git2::Oid;

use super::Surroundings;
use crate::exit::{Exit, Stop};
use crate::git::program::first_lines;
use crate::git::range::{self, Graph};
use crate::git::repo::Checkout;
use crate::trailer::{self, Reading};

/// Longest subject that is kept, in characters.
const MAX_SUBJECT: usize = 120;

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

/// Reads the trailers of `A..B` (the same as `A...B`: what B has and A has not), or of one commit.
///
/// # Errors
/// Exit 2 for a revision that names no commit and for a commit that cannot be read.
pub fn trailers(surroundings: &Surroundings, range: &str) -> Result<Report> {
    let checkout = surroundings.checkout()?;
    let graph = Graph::of(&checkout)?;
    let named = |revision: &str| -> Result<Oid> {
        let stop = || {
            Stop::new(
                Exit::PolicyUnusable,
                format!("{revision:?} in {range:?} names no commit of this clone"),
            )
            .hint("agentgate trailers origin/main..HEAD")
        };
        Ok(range::resolve(&checkout.repo, revision)?.ok_or_else(stop)?)
    };
    let commits = match range::split(range) {
        // An empty left side is most often an unset variable: as HEAD it would be an empty range.
        Some((left, "")) => graph.range(named(left)?, checkout.head()?.commit)?.commits,
        Some((left, right)) => graph.range(named(left)?, named(right)?)?.commits,
        None => vec![named(range)?],
    };
    let agent_commits = agent_commits(&checkout, &graph, &commits)?;
    let is_faulty = agent_commits
        .iter()
        .any(|row| matches!(row.reading, Reading::Faulty(_)));
    Ok(Report {
        exit: if is_faulty { Exit::Trailers } else { Exit::Ok },
        range: range.to_owned(),
        commits: commits.len(),
        agent_commits,
    })
}

/// The agent commits among these, in their order, with what they say. A merge counts like any
/// other commit: one that nobody would take for an agent's is a person's.
pub(super) fn agent_commits(checkout: &Checkout, graph: &Graph, commits: &[Oid]) -> Result<Vec<Row>> {
    let mut asked = Vec::new();
    for commit in commits {
        if !names_no_agent(&graph.raw(*commit)?) {
            asked.push(*commit);
        }
    }
    let blocks = blocks(checkout, &asked)?;
    let mut rows = Vec::new();
    for commit in &asked {
        let Some(block) = blocks.get(&commit.to_string()) else {
            let message = format!("git did not answer for commit {commit}");
            return Err(Stop::new(Exit::PolicyUnusable, message)
                .hint(format!("git log -1 {commit}"))
                .into());
        };
        let message = graph.message(*commit)?;
        let reading = trailer::read(&message, block);
        if reading != Reading::Human {
            rows.push(Row {
                commit: commit.to_string(),
                subject: subject(&message),
                reading,
            });
        }
    }
    Ok(rows)
}

/// Whether a commit is a person's whatever git takes for its trailers: subject and trailers of an agent's commit have
/// that word. A message in another encoding than UTF-8 may have it in other bytes; git knows which.
fn names_no_agent(raw: &[u8]) -> bool {
    let mut header = raw.split(|&byte| byte == b'\n').take_while(|line| !line.is_empty());
    !header.any(|line| line.starts_with(b"encoding")) && !raw.windows(5).any(|word| word.eq_ignore_ascii_case(b"agent"))
}

/// What git takes for the trailers of each commit: its own idea of the last paragraph counts, and
/// no setting of a person or repository may change it.
fn blocks(checkout: &Checkout, commits: &[Oid]) -> Result<HashMap<String, Vec<u8>>> {
    let mut found = HashMap::new();
    if commits.is_empty() {
        // With nothing on its input, git would answer for HEAD.
        return Ok(found);
    }
    let asked: String = commits.iter().map(|commit| format!("{commit}\n")).collect();
    let git = checkout.git.proven()?;
    let outcome = git
        .at(checkout.workdir.as_deref().unwrap_or(&checkout.common))
        .config("trailer.separators", ":")
        .config("core.commentChar", "#")
        .config("log.mailmap", "false")
        .args(["log", "--no-walk=unsorted", "--stdin", "-z", "-s", "--encoding=UTF-8"])
        .args(["--no-show-signature", "--no-notes", "--no-color", "--no-decorate"])
        .arg("--format=tformat:%H%x00%(trailers:only,unfold)")
        .stdin(asked)
        .outcome()?;
    if !outcome.success() {
        let message = format!("git cannot read the range: {}", first_lines(&outcome.stderr));
        return Err(Stop::new(Exit::PolicyUnusable, message).hint("git fsck").into());
    }
    let mut fields = outcome.stdout.split(|&byte| byte == 0);
    while let (Some(id), Some(block)) = (fields.next(), fields.next()) {
        found.insert(String::from_utf8_lossy(id).into_owned(), block.to_vec());
    }
    Ok(found)
}

fn subject(message: &[u8]) -> String {
    let line = message
        .split(|&byte| byte == b'\n')
        .find(|line| !line.trim_ascii().is_empty())
        .unwrap_or_default();
    String::from_utf8_lossy(line.trim_ascii())
        .chars()
        .take(MAX_SUBJECT)
        .collect()
}

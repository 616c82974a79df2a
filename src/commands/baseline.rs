//! `agentgate baseline update`: the list of known findings brought up to date.
//!
//! Invariant: without `--grow` the list only gets shorter.

use std::collections::HashSet;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};

use super::{Surroundings, first_policy};
use crate::exit::{Exit, Stop};
use crate::files;
use crate::gate::baseline::{self, Baseline, Known};
use crate::gate::policy::BASELINE_PATH;
use crate::gate::{GateError, POLICY_PATH, Policy, whole};
use crate::git::tree::GitTree;

/// The file is never larger than this many bytes.
const MAX_BYTES: u64 = 64 * 1024 * 1024;

/// Whether findings may be added to the list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Growth {
    /// Only stale entries are taken out.
    Shrink,
    /// Every finding of today is added.
    Grow,
}

/// What was done.
#[derive(Clone, Debug)]
pub struct Report {
    /// The file, as the policy names it.
    pub path: String,
    /// Where it lies.
    pub file: PathBuf,
    /// Entries that were in it and still are.
    pub kept: usize,
    /// Entries that were taken out, since there is no such finding any more.
    pub removed: Vec<Known>,
    /// Entries that were added.
    pub added: Vec<Known>,
    /// Findings of today that are not in it.
    pub open: usize,
    /// Whether the file was written.
    pub written: bool,
}

/// Brings the baseline of the checkout up to date with HEAD.
///
/// # Errors
/// Exit 2 where HEAD's policy names no baseline or one of the two cannot be used, 64 in a bare
/// repository.
pub fn update(surroundings: &Surroundings, growth: Growth) -> Result<Report> {
    let checkout = surroundings.checkout()?;
    let Some(top) = checkout.workdir.clone() else {
        return Err(Stop::new(
            Exit::Usage,
            format!(
                "{} is bare: there is no checkout to write into",
                checkout.common.display()
            ),
        )
        .hint("start agentgate in a worktree of it: git worktree add ../checkout")
        .into());
    };
    let head = checkout.head()?.commit;
    let tree = GitTree::of_commit(&checkout.repo, head).map_err(GateError::from)?;
    first_policy::must_be_in(&checkout, &surroundings.cwd, head, &tree)?;
    let policy = Policy::of(&tree).map_err(GateError::from)?;
    let Some(path) = policy.baseline.clone() else {
        return Err(Stop::new(
            Exit::PolicyUnusable,
            format!("{POLICY_PATH} of HEAD names no `baseline`, so there is nothing to update"),
        )
        .hint(format!(
            "add the line `baseline: {BASELINE_PATH}` to {POLICY_PATH} and commit it"
        ))
        .into());
    };
    let file = top.join(&path);
    if let Some(link) = link_on_the_way(&top, &path) {
        return Err(Stop::new(
            Exit::PolicyUnusable,
            format!("{link} is a link, so {path} may lie outside of this repository"),
        )
        .hint(format!(
            "name a file below real folders, such as `baseline: {BASELINE_PATH}`"
        ))
        .into());
    }
    let before = match files::read_small(&file, MAX_BYTES) {
        Ok(bytes) => Some(bytes),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => None,
        Err(error) => return Err(error).with_context(|| format!("cannot read {}", file.display())),
    };
    let old = match &before {
        Some(bytes) => Baseline::parse(&path, bytes).map_err(|why| stop(&why))?,
        None => Baseline::default(),
    };
    let verdict = whole::judge(&policy, &tree).map_err(anyhow::Error::from)?;
    let marks = baseline::marks(&verdict.findings, &tree).map_err(GateError::from)?;
    let today: Vec<Known> = verdict
        .findings
        .iter()
        .zip(marks)
        .filter(|(finding, _)| baseline::may_be_known(finding.rule))
        .map(|(_, mark)| mark)
        .collect();
    let ids = |list: &[Known]| -> HashSet<String> { list.iter().map(|known| known.fingerprint.clone()).collect() };
    let (listed, there) = (ids(&old.entries), ids(&today));
    let (mut entries, removed): (Vec<Known>, Vec<Known>) = old
        .entries
        .into_iter()
        .partition(|known| there.contains(&known.fingerprint));
    let kept = entries.len();
    let new: Vec<Known> = today
        .into_iter()
        .filter(|known| !listed.contains(&known.fingerprint))
        .collect();
    let (added, open) = match growth {
        Growth::Shrink => (Vec::new(), new.len()),
        Growth::Grow => (new, 0),
    };
    entries.extend(added.iter().cloned());
    let written = !removed.is_empty() || !added.is_empty();
    if written {
        let folder = file.parent().context("the baseline lies in a folder")?;
        std::fs::create_dir_all(folder).with_context(|| format!("cannot make {}", folder.display()))?;
        let text = Baseline { entries }.text();
        files::replace(&file, text.as_bytes(), 0o644).with_context(|| format!("cannot write {}", file.display()))?;
    }
    Ok(Report {
        path,
        file,
        kept,
        removed,
        added,
        open,
        written,
    })
}

/// The first of the folders on the way to a file that is a symbolic link.
fn link_on_the_way(top: &Path, path: &str) -> Option<String> {
    let ends = path.match_indices('/').map(|(at, _)| &path[..at]);
    let is_link = |folder: &&str| {
        top.join(folder)
            .symlink_metadata()
            .is_ok_and(|found| found.is_symlink())
    };
    ends.into_iter().find(is_link).map(str::to_owned)
}

/// A refusal from a text that has its hint in a line of its own.
fn stop(text: &str) -> Stop {
    let mut lines = text.lines();
    let stop = Stop::new(Exit::PolicyUnusable, lines.next().unwrap_or_default());
    lines.fold(stop, |stop, line| {
        stop.hint(line.strip_prefix("hint: ").unwrap_or(line))
    })
}

//! What must be true after each job, looked up in the repository.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result};

use super::stage::{Played, Stage};
use crate::exit::Exit;
use crate::process::Status;
use crate::store::{self, Store};
use crate::trailer::{self, Reading};

/// A claim, and whether it is so.
pub(super) struct Fact {
    pub(super) claim: String,
    pub(super) holds: bool,
    /// What was found in its place.
    pub(super) found: Option<String>,
}

fn fact(claim: impl Into<String>, holds: bool) -> Fact {
    Fact {
        claim: claim.into(),
        holds,
        found: None,
    }
}

fn equal(claim: impl Into<String>, expected: &str, found: String) -> Fact {
    Fact {
        claim: claim.into(),
        holds: found == expected,
        found: Some(found),
    }
}

/// A refused job: no worktree, no branch, and the evidence in its record.
pub(super) fn refused(stage: &Stage, played: &Played, expected: Exit) -> Result<Vec<Fact>> {
    let worktree = worktree(stage, played)?;
    let read = |name: &str| stage.read(&format!("{}/{name}", played.record)).unwrap_or_default();
    Ok(vec![
        status(played, expected),
        fact(
            "its worktree is gone, on disk and for git",
            !worktree.exists() && listed(stage, &worktree)?.is_none(),
        ),
        fact(
            "there is no branch for it",
            stage
                .git
                .at(&stage.repository)
                .args(["for-each-ref", "refs/heads/agent/"])
                .text()?
                .is_empty(),
        ),
        untouched(stage)?,
        fact(
            "its patch is in the record: change.patch",
            read(store::PATCH).contains("+++ b/infra/async/retry-worker.ts"),
        ),
        fact(
            "the verdict is in the record: gate.log",
            read(store::GATE_LOG).contains("rule: forbidden-directory [payments.forbidden_dirs[0]] (exit 4)"),
        ),
    ])
}

/// A kept job: one commit on the base, on its own branch in its own worktree, with trailers.
pub(super) fn kept(stage: &Stage, played: &Played) -> Result<Vec<Fact>> {
    let worktree = worktree(stage, played)?;
    let branch = format!("agent/{}", played.id);
    let mut facts = vec![
        status(played, Exit::Ok),
        equal(
            format!("its worktree is kept, on branch {branch}"),
            &format!("refs/heads/{branch}"),
            listed(stage, &worktree)?.unwrap_or_default(),
        ),
    ];
    let git = |args: &[&str]| stage.git.at(&stage.repository).args(args).text();
    if git(&["for-each-ref", &format!("refs/heads/{branch}")])?.is_empty() {
        // Nothing more can be asked about it.
        return Ok(facts);
    }
    facts.push(equal(
        "it is one commit on top of main",
        &stage.base,
        git(&["show", "-s", "--format=%P", &branch])?,
    ));
    facts.push(equal(
        "it changes payments/retry.ts and adds its test",
        "M\tpayments/retry.ts\nA\ttest/payments/retry.test.ts",
        git(&["diff", "--name-status", "--no-renames", &stage.base, &branch])?,
    ));
    let message = git(&["show", "-s", "--format=%B", &branch])?;
    let block = git(&["show", "-s", "--format=%(trailers:only,unfold)", &branch])?;
    let reading = trailer::read(message.as_bytes(), block.as_bytes());
    facts.push(fact(
        "its trailers say which job made it",
        matches!(&reading, Reading::Agent(trailers) if trailers.job_id == played.id),
    ));
    facts.push(untouched(stage)?);
    Ok(facts)
}

fn status(played: &Played, expected: Exit) -> Fact {
    Fact {
        claim: format!("exit status {} ({})", expected.code(), expected.name()),
        holds: played.status == Status::Exited(i32::from(expected.code())),
        found: Some(played.status.to_string()),
    }
}

/// main stands where it stood, and the checkout is clean.
fn untouched(stage: &Stage) -> Result<Fact> {
    let git = |args: &[&str]| stage.git.at(&stage.repository).args(args).text();
    let head = git(&["rev-parse", "refs/heads/main"])?;
    let dirt = git(&["status", "--porcelain", "--untracked-files=all"])?;
    Ok(fact(
        "main and the checkout are as they were",
        head == stage.base && dirt.is_empty(),
    ))
}

/// Where the job's worktree was, as its log says.
fn worktree(stage: &Stage, played: &Played) -> Result<PathBuf> {
    let folder = Store::of(&stage.repository.join(".git")).find(&played.id)?;
    let state = folder.context("the job has no record")?.state()?;
    let created = state.created.context("its log does not say how it began")?;
    Ok(PathBuf::from(created.worktree))
}

/// The branch of a worktree that git knows; empty when it is detached.
fn listed(stage: &Stage, worktree: &Path) -> Result<Option<String>> {
    let list = stage
        .git
        .at(&stage.repository)
        .args(["worktree", "list", "--porcelain"])
        .text()?;
    let wanted = format!("worktree {}", worktree.display());
    let entry = list.split("\n\n").find(|entry| entry.lines().next() == Some(&wanted));
    Ok(entry.map(|entry| {
        let branch = entry.lines().find_map(|line| line.strip_prefix("branch "));
        branch.unwrap_or_default().to_owned()
    }))
}

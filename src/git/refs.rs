//! Refs that agentgate moves itself, by libgit2, which runs no hooks.

use std::path::Path;
use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use git2::{Oid, Repository};

use crate::exit::{Exit, Stop};

/// Where records live as refs: `refs/agentgate/jobs/<job id>`. They point to trees, so that
/// `git log --all` does not fill with refused work.
pub const RECORDS: &str = "refs/agentgate/jobs/";

/// How long another process's lock on a ref is waited for.
const LOCK_TIME: Duration = Duration::from_secs(1);

/// Writes the record as a tree and points the job's ref to it, replacing an earlier one.
pub fn write_record(repo: &Repository, id: &str, files: &[(&str, Vec<u8>)], candidate: Option<Oid>) -> Result<Oid> {
    let mut builder = repo.treebuilder(None).context("cannot build the record's tree")?;
    for (name, bytes) in files {
        let blob = repo
            .blob(bytes)
            .with_context(|| format!("cannot write the record's {name}"))?;
        builder.insert(name, blob, 0o100_644)?;
    }
    if let Some(candidate) = candidate {
        builder.insert("candidate", candidate, 0o040_000)?;
    }
    let tree = builder.write().context("cannot write the record's tree")?;
    let name = format!("{RECORDS}{id}");
    repo.reference(&name, tree, true, "agentgate: record")
        .with_context(|| format!("cannot write {name}"))?;
    Ok(tree)
}

/// The record's tree, if the job has one.
pub fn record(repo: &Repository, id: &str) -> Result<Option<Oid>> {
    match repo.find_reference(&format!("{RECORDS}{id}")) {
        Ok(reference) => Ok(reference.target()),
        Err(error) if error.code() == git2::ErrorCode::NotFound => Ok(None),
        Err(error) => Err(error).with_context(|| format!("cannot read {RECORDS}{id}")),
    }
}

/// The first ref that there is of a job, in words, in the clone with this common git dir.
pub fn first_of(common: &Path, id: &str) -> Result<Option<String>> {
    let repo = Repository::open(common).with_context(|| format!("cannot open {}", common.display()))?;
    for (what, name) in [("branch", branch(id)), ("record's ref", format!("{RECORDS}{id}"))] {
        match repo.find_reference(&name) {
            Ok(_) => return Ok(Some(format!("{what} {name}"))),
            // A folder of any name can lie among the jobs.
            Err(error) if matches!(error.code(), git2::ErrorCode::NotFound | git2::ErrorCode::InvalidSpec) => {}
            Err(error) => return Err(error).with_context(|| format!("cannot read {name}")),
        }
    }
    Ok(None)
}

/// Removes the locks on a job's own refs that a process which was killed has left: nobody else moves them while the
/// job is not over. For its owner, once nothing of an earlier one is alive.
pub fn unlock(repo: &Repository, id: &str) -> Result<()> {
    for name in [format!("{RECORDS}{id}"), branch(id)] {
        let lock = repo.commondir().join(format!("{name}.lock"));
        match std::fs::remove_file(&lock) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
                return Err(error).with_context(|| format!("cannot remove {}", lock.display()));
            }
            _ => {}
        }
    }
    Ok(())
}

/// Branch of a kept job, as a full ref name.
pub fn branch(id: &str) -> String {
    format!("refs/heads/agent/{id}")
}

/// Makes the kept job's branch; it must not exist, but as an earlier owner of the job made it.
pub fn create_branch_once(repo: &Repository, id: &str, commit: Oid) -> Result<()> {
    let name = branch(id);
    if repo.refname_to_id(&name).is_ok_and(|at| at == commit) {
        return Ok(());
    }
    repo.reference(&name, commit, false, "agentgate: kept")
        .with_context(|| format!("cannot make {name}"))?;
    Ok(())
}

/// Moves a ref from one commit to another and only from that one.
///
/// # Errors
/// A [`Stop`] with exit 19 where it points elsewhere by now, or where another process keeps it
/// locked for longer than a moment.
pub fn compare_and_swap(repo: &Repository, name: &str, new: Oid, old: Oid, message: &str) -> Result<()> {
    let started = Instant::now();
    loop {
        let Err(error) = repo.reference_matching(name, new, true, old, message) else {
            return Ok(());
        };
        return Err(match error.code() {
            git2::ErrorCode::Locked if started.elapsed() < LOCK_TIME => {
                std::thread::sleep(Duration::from_millis(10));
                continue;
            }
            git2::ErrorCode::Locked => Stop::new(
                Exit::TargetMoved,
                format!("{name} is being changed by another process: {}", error.message()),
            )
            .hint("try again; where no git is at work any more, delete that lock file")
            .into(),
            git2::ErrorCode::Modified => {
                Stop::new(Exit::TargetMoved, format!("{name} moved while it was being landed on"))
                    .hint("try again")
                    .into()
            }
            _ => anyhow::Error::from(error).context(format!("cannot move {name}")),
        });
    }
}

/// Whether a branch, tag or remote branch other than `except` (a full ref name) holds this commit.
pub fn held_elsewhere(repo: &Repository, commit: Oid, except: &str) -> Result<bool> {
    for reference in repo.references().context("cannot list the clone's refs")? {
        let reference = reference.context("cannot read one of the clone's refs")?;
        let name = reference.name_bytes();
        let counts = [&b"refs/heads/"[..], b"refs/tags/", b"refs/remotes/"]
            .iter()
            .any(|folder| name.starts_with(folder));
        if !counts || name == except.as_bytes() {
            continue;
        }
        let Ok(tip) = reference.peel_to_commit() else { continue };
        if tip.id() == commit || repo.graph_descendant_of(tip.id(), commit).unwrap_or(false) {
            return Ok(true);
        }
    }
    Ok(false)
}

/// The branch that was moved to this commit with these words, by the branches' own logs; none where they do not tell.
pub fn moved_by(repo: &Repository, commit: Oid, words: &str) -> Result<Option<String>> {
    for branch in repo
        .branches(Some(git2::BranchType::Local))
        .context("cannot list the clone's branches")?
    {
        let (branch, _) = branch.context("cannot read one of the clone's branches")?;
        let Ok(name) = std::str::from_utf8(branch.get().name_bytes()).map(str::to_owned) else {
            continue;
        };
        let Ok(log) = repo.reflog(&name) else { continue };
        let is_so = |entry: &git2::ReflogEntry<'_>| {
            entry.id_new() == commit && entry.message_bytes().is_some_and(|said| said == words.as_bytes())
        };
        if log.iter().any(|entry| is_so(&entry)) {
            return Ok(Some(name));
        }
    }
    Ok(None)
}

/// Deletes a ref if it still points where it should; says whether it did.
pub fn delete_if_at(repo: &Repository, name: &str, commit: Oid) -> Result<bool> {
    match repo.find_reference(name) {
        Ok(mut reference) if reference.target() == Some(commit) => {
            reference.delete().with_context(|| format!("cannot delete {name}"))?;
            Ok(true)
        }
        Ok(_) => Ok(false),
        Err(error) if error.code() == git2::ErrorCode::NotFound => Ok(true),
        Err(error) => Err(error).with_context(|| format!("cannot read {name}")),
    }
}

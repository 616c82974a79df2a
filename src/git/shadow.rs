//! The private git dir that an agent works with.
//!
//! Invariant: nothing in the clone's `.git` is named by a path that git would write to from
//! inside the worktree. The agent's commits, branches, stashes, hooks and configuration land here,
//! and none of it is believed afterwards.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result};

use crate::files;

use super::places::Places;
use super::settings::ContentSettings;
use super::worktree;

/// A worktree whose `.git` points to a private git dir.
#[derive(Clone, Debug)]
pub struct Shadow {
    /// `<private>/git`
    pub git_dir: PathBuf,
    /// Ref names and ids as they were given to the agent.
    pub given: Vec<(String, String)>,
}

impl Shadow {
    /// Makes the private git dir, and either writes the pointer that the agent will see in the place of
    /// the worktree's `.git`, or points the worktree itself at it.
    ///
    /// `refs/agentgate/*` stay out (no old task or patch reaches a new agent), and so does the
    /// person's stash.
    pub fn make(
        repo: &git2::Repository,
        settings: &ContentSettings,
        places: &Places,
        admin: &Path,
        job: &str,
        base: &str,
        pointer: Pointer,
    ) -> Result<Shadow> {
        let git_dir = places.private.join("git");
        let name = format!("agent job {job}");
        let own = [
            ("core.logallrefupdates", "true"),
            ("user.name", name.as_str()),
            ("user.email", "agent-job@agentgate.invalid"),
            // The person's keys are not the agent's to use.
            ("commit.gpgsign", "false"),
            ("tag.gpgsign", "false"),
            ("gc.auto", "0"),
            ("maintenance.auto", "false"),
            ("advice.detachedHead", "false"),
        ];
        settings.write_into(&git_dir, &own)?;
        let given = refs_given(repo)?;
        let packed: String = given.iter().map(|(name, id)| format!("{id} {name}\n")).collect();
        files::replace(&git_dir.join("packed-refs"), packed.as_bytes(), 0o600)?;
        files::replace(&git_dir.join("HEAD"), format!("{base}\n").as_bytes(), 0o600)?;
        copy_index(&admin.join("index"), &git_dir.join("index"))?;
        match pointer {
            Pointer::Bound => files::replace(&places.git_pointer(), &worktree::git_file(&git_dir), 0o644)?,
            Pointer::Written => worktree::point_git_file(&places.worktree, &git_dir)?,
        }
        Ok(Shadow { git_dir, given })
    }
}

/// How the worktree's `.git` leads to the private git dir.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pointer {
    /// For the agent alone, by a mount; the file stays as it is.
    Bound,
    /// In the file itself, until the agent has ended.
    Written,
}

/// The refs that an agent is given now.
pub fn refs_given(repo: &git2::Repository) -> Result<Vec<(String, String)>> {
    let mut given = Vec::new();
    for reference in repo.references().context("cannot list the clone's refs")? {
        let reference = reference.context("cannot read one of the clone's refs")?;
        let Ok(name) = std::str::from_utf8(reference.name_bytes()) else {
            continue;
        };
        if name.starts_with("refs/agentgate/")
            || name == "refs/stash"
            || !name.starts_with("refs/")
            || name.contains('\n')
        {
            continue;
        }
        if let Ok(target) = reference.resolve()
            && let Some(id) = target.target()
        {
            given.push((name.to_owned(), id.to_string()));
        }
    }
    given.sort();
    Ok(given)
}

/// Copies an index and keeps its time. git takes an entry for unchanged when its stat data match
/// and the index is younger than it: a copy with a later time would hide an edit of the same size
/// within the second of the checkout.
pub fn copy_index(from: &Path, to: &Path) -> Result<()> {
    let bytes = std::fs::read(from).with_context(|| format!("cannot read {}", from.display()))?;
    files::replace(to, &bytes, 0o600)?;
    let time = std::fs::metadata(from)
        .and_then(|meta| meta.modified())
        .with_context(|| format!("cannot stat {}", from.display()))?;
    std::fs::File::open(to)
        .and_then(|file| file.set_modified(time))
        .with_context(|| format!("cannot set the time of {}", to.display()))
}

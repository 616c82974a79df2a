//! `agentgate init`: a first policy, fitted to the repository.
//!
//! Invariant: what is written is a policy that the gate itself accepts, and nothing that exists is
//! ever overwritten. Beside it lies the policy's JSON Schema, which an editor finds by the first line of
//! the policy, without a network.

mod draft;

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};

use super::schema::Schema;
use super::{Surroundings, first_policy};
use crate::exit::{Exit, Stop};
use crate::files;
use crate::gate::{POLICY_PATH, Policy, SCHEMA_PATH};
use crate::git::repo::Checkout;
use crate::git::shell;

/// What was written.
#[derive(Clone, Debug)]
pub struct Report {
    /// The policy's path.
    pub path: PathBuf,
    /// The path of its schema, where there was none.
    pub schema: Option<PathBuf>,
    /// Areas that it names, with their folder.
    pub areas: Vec<(String, String)>,
    /// The line to type next.
    pub next: String,
}

/// Writes `architecture/invariants.yml`; never over an existing one.
///
/// # Errors
/// Exit 23 where something stands in its place already, 64 in a bare repository.
pub fn init(surroundings: &Surroundings) -> Result<Report> {
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
    let path = top.join(POLICY_PATH);
    let folder = path.parent().context("the policy lies in a folder")?;
    let layout = Layout::of(&checkout, &top)?;
    must_be_free(&checkout, &surroundings.cwd, &top, folder)?;
    let draft = draft::draft(&layout);
    // The gate's own reader has the last word; a folder's name must not be able to break the file.
    if let Err(error) = Policy::validate(draft.text.as_bytes()) {
        bail!("the policy fitted to this repository would not be accepted, so nothing was written: {error}");
    }
    if !folder.exists() {
        std::fs::create_dir(folder).with_context(|| format!("cannot make {}", folder.display()))?;
    }
    match files::create_new(&path, draft.text.as_bytes(), 0o644) {
        Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => {
            return Err(exists(&checkout, &surroundings.cwd, &top)?.into());
        }
        result => result.with_context(|| format!("cannot write {}", path.display()))?,
    }
    let schema = top.join(SCHEMA_PATH);
    let schema = match files::create_new(&schema, Schema::Policy.text().as_bytes(), 0o644) {
        Ok(()) => Some(schema),
        // A person's own, or that of another version.
        Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => None,
        Err(error) => return Err(error).with_context(|| format!("cannot write {}", schema.display())),
    };
    Ok(Report {
        schema,
        next: first_policy::line(&checkout, &top, &surroundings.cwd)?,
        areas: draft.areas,
        path,
    })
}

/// The paths that the policy is fitted to.
struct Layout {
    paths: BTreeSet<Vec<u8>>,
}

impl Layout {
    /// HEAD's paths, and a CI's files that lie beside them uncommitted, since one commit is to bring them and the
    /// policy; where there is no commit yet, those that a first one would take.
    fn of(checkout: &Checkout, top: &Path) -> Result<Layout> {
        let unborn = matches!(checkout.repo.head(), Err(error) if error.code() == git2::ErrorCode::UnbornBranch);
        let listed = if unborn {
            checkout
                .git
                .at(top)
                .args(["ls-files", "-z", "--cached", "--others", "--exclude-standard"])
                .bytes()?
        } else {
            let head = checkout.head()?.commit.to_string();
            let mut listed = checkout
                .git
                .at(top)
                .args(["ls-tree", "-r", "-z", "--name-only", "--full-tree", &head])
                .bytes()?;
            let others = ["ls-files", "-z", "--cached", "--others", "--exclude-standard", "--"];
            listed.extend(checkout.git.at(top).args(others).args(draft::ci_files()).bytes()?);
            listed
        };
        let paths = listed.split(|&b| b == 0).filter(|path| !path.is_empty());
        Ok(Layout {
            paths: paths.map(<[u8]>::to_vec).collect(),
        })
    }

    /// Whether there is such a file, link, or folder with something in it.
    fn has(&self, path: &[u8]) -> bool {
        self.paths.contains(path) || self.has_folder(path)
    }

    fn has_folder(&self, path: &[u8]) -> bool {
        let below = [path, b"/"].concat();
        self.paths
            .range(below.clone()..)
            .next()
            .is_some_and(|found| found.starts_with(&below))
    }

    /// Names of the folders in the root.
    fn folders(&self) -> BTreeSet<&[u8]> {
        self.paths
            .iter()
            .filter_map(|path| path.iter().position(|&b| b == b'/').map(|end| &path[..end]))
            .collect()
    }
}

/// Exit 23 where a policy exists: here, in HEAD alone, or as something that is no file.
fn must_be_free(checkout: &Checkout, cwd: &Path, top: &Path, folder: &Path) -> Result<()> {
    if top.join(POLICY_PATH).symlink_metadata().is_ok() {
        return Err(exists(checkout, cwd, top)?.into());
    }
    if is_in_head(checkout, top)? {
        return Err(Stop::new(
            Exit::WrongState,
            format!("{POLICY_PATH} is in HEAD already and only missing here"),
        )
        .hint(format!(
            "bring it back and edit it: git -C {} checkout HEAD -- {POLICY_PATH}",
            shell(top)
        ))
        .into());
    }
    // A link could lead anywhere; the gate reads the policy from a real folder only.
    if let Ok(found) = folder.symlink_metadata()
        && !found.is_dir()
    {
        return Err(Stop::new(
            Exit::WrongState,
            format!("{} is no folder, and the policy belongs in one", folder.display()),
        )
        .hint("rename what stands there, then run agentgate init again")
        .into());
    }
    Ok(())
}

/// What to say where a policy lies in the checkout. Moving it away helps only while HEAD has none:
/// one that is in HEAD judges every job, whatever lies here.
fn exists(checkout: &Checkout, cwd: &Path, top: &Path) -> Result<Stop> {
    let path = top.join(POLICY_PATH);
    if is_in_head(checkout, top)? {
        let message = format!("{} exists already and was not touched", path.display());
        return Ok(Stop::new(Exit::WrongState, message).hint("edit it and commit the change"));
    }
    let message = format!("{} is there but not committed, and was not touched", path.display());
    Ok(Stop::new(Exit::WrongState, message)
        .hint(format!("commit it: {}", first_policy::line(checkout, top, cwd)?))
        .hint("or move it away and run agentgate init again"))
}

/// Whether HEAD has the policy; without a commit it has nothing.
fn is_in_head(checkout: &Checkout, top: &Path) -> Result<bool> {
    let outcome = checkout
        .git
        .at(top)
        .args(["cat-file", "-e", &format!("HEAD:{POLICY_PATH}")])
        .outcome()?;
    Ok(outcome.success())
}

/// Bytes of a path as text, where they are text.
fn text(path: &[u8]) -> Option<&str> {
    OsStr::from_bytes(path).to_str()
}

//! The first policy on its way into the repository: what is said while no commit has it.
//!
//! Invariant: the line that is printed brings all that belongs into that commit and nothing else: the policy, its
//! schema, and the CI files that call agentgate.

use std::path::Path;

use anyhow::Result;
use git2::Oid;

use crate::exit::{Exit, Stop};
use crate::files;
use crate::gate::policy::{CI_PATHS, calls_gate};
use crate::gate::render;
use crate::gate::tree::lookup;
use crate::gate::{GateError, POLICY_PATH, SCHEMA_PATH};
use crate::git::repo::Checkout;
use crate::git::shell;
use crate::git::tree::GitTree;

/// CI files that are larger are not looked into.
const MAX_BYTES: u64 = 1024 * 1024;

/// Refuses a commit without a policy, and says whether one lies in the checkout all the same.
///
/// # Errors
/// Exit 2.
pub fn must_be_in(checkout: &Checkout, cwd: &Path, commit: Oid, tree: &GitTree<'_>) -> Result<()> {
    if lookup(tree, POLICY_PATH.as_bytes()).map_err(GateError::from)?.is_some() {
        return Ok(());
    }
    let short = commit.to_string();
    let short = short.get(..12).unwrap_or(&short);
    let is_head = checkout.head().is_ok_and(|head| head.commit == commit);
    let place = match is_head {
        true => format!("HEAD ({short})"),
        false => short.to_owned(),
    };
    let stop = Stop::new(Exit::PolicyUnusable, format!("no {POLICY_PATH} in {place}"));
    Err(match checkout.workdir.as_deref() {
        Some(top) if is_head && top.join(POLICY_PATH).is_file() => stop
            .hint("it is in this checkout, but not committed; an uncommitted policy judges nothing")
            .hint(format!("commit it: {}", line(checkout, top, cwd)?)),
        _ => stop.hint("write one with `agentgate init`, which ends with the line that commits it"),
    }
    .into())
}

/// The line that commits the policy, pasteable from the folder the person is in.
pub fn line(checkout: &Checkout, top: &Path, cwd: &Path) -> Result<String> {
    let here = std::fs::canonicalize(cwd).unwrap_or_else(|_| cwd.to_owned());
    let (git, up) = match here.strip_prefix(top) {
        Ok(inside) => ("git".to_owned(), "../".repeat(inside.components().count())),
        Err(_) => (format!("git -C {}", shell(top)), String::new()),
    };
    let mut files = vec![POLICY_PATH.to_owned()];
    if top.join(SCHEMA_PATH).is_file() {
        files.push(SCHEMA_PATH.to_owned());
    }
    files.extend(ci_files(checkout, top)?);
    let path = files
        .iter()
        .map(|file| shell(Path::new(&format!("{up}{file}"))))
        .collect::<Vec<_>>()
        .join(" ");
    let quiet = |args: &[&str]| -> Result<bool> { Ok(checkout.git.at(top).args(args).outcome()?.success()) };
    let mut force = "";
    for file in &files {
        if quiet(&["check-ignore", "--quiet", "--", file])? {
            force = "--force ";
        }
    }
    // Something else is staged: the commit must not sweep it in.
    let only = if checkout.repo.head().is_ok() && !quiet(&["diff", "--cached", "--quiet"])? {
        format!(" -- {path}")
    } else {
        String::new()
    };
    Ok(format!(
        "{git} add {force}{path} && {git} commit -m \"Add the agentgate policy\"{only}"
    ))
}

/// CI files that call agentgate and are not in HEAD as they are here. Committed after the policy they would be refused.
fn ci_files(checkout: &Checkout, top: &Path) -> Result<Vec<String>> {
    let status = [
        "status",
        "--porcelain",
        "-z",
        "--no-renames",
        "--untracked-files=all",
        "--",
    ];
    let listed = checkout.git.at(top).args(status).args(CI_PATHS).bytes()?;
    let mut found = Vec::new();
    for entry in listed.split(|&byte| byte == 0) {
        let Some(path) = entry.get(3..).and_then(|path| std::str::from_utf8(path).ok()) else {
            continue;
        };
        // What cannot be typed cannot stand in a line to paste.
        let is_typable = !path.starts_with(':') && render::path(path.as_bytes()) == path;
        if is_typable && files::read_small(&top.join(path), MAX_BYTES).is_ok_and(|content| calls_gate(&content)) {
            found.push(path.to_owned());
        }
    }
    found.sort();
    Ok(found)
}

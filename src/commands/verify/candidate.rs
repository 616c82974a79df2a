//! Base, policy, candidate and patch: what the repository has of them.

use anyhow::Result;

use super::case::Case;
use super::report::Check;
use crate::gate::tree::{diff, lookup};
use crate::gate::{Kind, POLICY_PATH};
use crate::git::applied::differs;
use crate::git::tree::GitTree;
use crate::git::{from_git2, to_git2};
use crate::store::PATCH;

/// Most objects that are named one by one.
const MOST: usize = 10;

/// The base is there, and the policy in it is the one that judged.
pub(super) fn base(case: &Case<'_>, check: &mut Check) -> Result<()> {
    let tree = GitTree::of_commit(&case.checkout.repo, case.base)?;
    let found = lookup(&tree, POLICY_PATH.as_bytes())?.map(|entry| entry.id.to_string());
    match found {
        Some(found) if found == case.created.policy => {}
        Some(found) => check.fails(format!(
            "{POLICY_PATH} in base {} is blob {found}, and job.created says {}",
            case.base, case.created.policy
        )),
        None => check.fails(format!("base {} has no {POLICY_PATH}", case.base)),
    }
    check.says(format!("commit {}, policy {}", case.base, case.created.policy));
    Ok(())
}

/// Every object that the candidate has and the base has not can be read, and is what its id says.
pub(super) fn objects(case: &Case<'_>, check: &mut Check) -> Result<()> {
    let Some(frozen) = case.frozen else { return Ok(()) };
    let base = GitTree::of_commit(&case.checkout.repo, case.base)?;
    let candidate = GitTree::new(&case.checkout.repo, from_git2(frozen));
    let changes = match diff(&base, &candidate) {
        Ok(changes) => changes,
        // Without a ref nothing keeps the objects of a candidate that was refused.
        Err(error) if case.holds_credential().unwrap_or(false) => {
            check.skip(format!(
                "not compared: the candidate held a credential and has no ref, and {error}"
            ));
            return Ok(());
        }
        Err(error) => return Err(error.into()),
    };
    let odb = case.checkout.repo.odb()?;
    let after = changes.iter().filter_map(|change| change.after.as_ref());
    let missing: Vec<String> = after
        .filter(|side| side.kind != Kind::Submodule)
        .filter_map(|side| match to_git2(&side.id).and_then(|id| odb.read(id).map(drop)) {
            Ok(()) => None,
            Err(error) => Some(format!(
                "object {} of the candidate cannot be read: {}",
                side.id,
                error.message()
            )),
        })
        .collect();
    let count = missing.len();
    missing.into_iter().take(MOST).for_each(|what| check.fails(what));
    if count > MOST {
        check.fails(format!("and {} more objects", count - MOST));
    }
    if count > 0 {
        check.hint("git fetch brings what another clone has; git fsck tells more");
    }
    let told = case.state.frozen.as_ref().map_or(0, |(_, changed)| *changed);
    if (changes.len() as u64) > told {
        check.fails(format!(
            "it changes {} paths, and candidate.frozen says {told}",
            changes.len()
        ));
    }
    let count = changes.len();
    check.says(format!(
        "tree {frozen}, {count} path{} changed",
        if count == 1 { "" } else { "s" }
    ));
    Ok(())
}

/// Base and patch make the candidate.
pub(super) fn patch(case: &Case<'_>, check: &mut Check) -> Result<()> {
    let Some(frozen) = case.frozen else { return Ok(()) };
    if case.holds_credential()? {
        check.skip("not compared: the candidate held a credential, and the patch has `x` in its place");
        return Ok(());
    }
    let Some(patch) = case.file(PATCH)? else {
        check.fails(format!("{PATCH} is not there"));
        return Ok(());
    };
    let base = GitTree::of_commit(&case.checkout.repo, case.base)?;
    let changes = diff(&base, &GitTree::new(&case.checkout.repo, from_git2(frozen)))?;
    let git = case.checkout.git.proven()?;
    match differs(&git, &case.checkout.repo, &changes, &patch)? {
        None => check.says(format!("base and {PATCH} make the candidate")),
        Some(how) => check.fails(format!("{PATCH} is not the way from the base to the candidate: {how}")),
    }
    Ok(())
}

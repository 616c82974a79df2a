//! Symlinks that lead out of the repository, directly or through other links of the candidate.

use std::collections::VecDeque;

use super::{hidden, is_git_folder};
use crate::gate::rules::shown;
use crate::gate::tree::{Side, join, lookup};
use crate::gate::{Change, Finding, Kind, Oid, Tree, Unreadable};

/// A target longer than Linux's PATH_MAX cannot be followed; nor is it worth reading.
const MAX_TARGET: u64 = 4096;
/// Links followed before a walk is taken for a loop, as in Linux's path resolution.
const MAX_LINKS: usize = 40;
/// Components walked for one link. Without a limit `a/../a/../...` through forty links is a way to
/// keep the gate busy for hours.
const MAX_STEPS: usize = 1000;

/// Why a symlink hides something: its target is outside the repository or inside `.git`. Links on
/// the way are followed in the candidate: with `up -> .` in `a/`, `a/up/../..` leaves the
/// repository although its text does not look so. Loops lead nowhere and are harmless.
pub(super) fn leads_out(tree: &dyn Tree, link: &[u8], side: &Side) -> Result<Option<String>, Unreadable> {
    let Some(target) = target(tree, &side.id)? else {
        return Ok(Some(format!("symlink whose target is longer than {MAX_TARGET} bytes")));
    };
    let says = |what: &str| Ok(Some(format!("symlink to {}, {what}", shown(&target))));
    let mut at: Vec<Vec<u8>> = link.split(|&byte| byte == b'/').map(<[u8]>::to_vec).collect();
    at.pop();
    let mut next = target.clone();
    let mut todo = VecDeque::new();
    let mut steps = 0;
    for _ in 0..MAX_LINKS {
        if is_absolute(&next) {
            return says("an absolute path");
        }
        for part in next.split(|&byte| byte == b'/' || byte == b'\\').rev() {
            todo.push_front(part.to_vec());
        }
        let mut followed = None;
        while let Some(part) = todo.pop_front() {
            steps += 1;
            if steps > MAX_STEPS {
                return says("a way too long to follow");
            }
            match part.as_slice() {
                b"" | b"." => {}
                b".." => {
                    if at.pop().is_none() {
                        return says("outside the repository");
                    }
                }
                name if is_git_folder(name) => return says("inside `.git`"),
                _ => {
                    at.push(part);
                    let met = lookup(tree, &at.join(&b'/'))?.filter(|entry| entry.kind == Kind::Symlink);
                    if let Some(met) = met {
                        at.pop();
                        followed = Some(met.id);
                        break;
                    }
                }
            }
        }
        let Some(id) = followed else { return Ok(None) };
        match self::target(tree, &id)? {
            Some(target) => next = target,
            None => return says("through a link with an overlong target"),
        }
    }
    Ok(None)
}

/// A finding about a link.
pub(super) fn found(path: &[u8], why: String) -> Finding {
    let hint = "link to a path inside the repository, or copy the content";
    hidden(path, "built-in: symlinks", why, hint)
}

/// Links that are as they were and lead out all the same: through a link that the change adds or moves
/// somewhere on their way. Only such a change makes it worth to look at every link of the tree.
pub(super) fn led_out(
    bases: &[&dyn Tree],
    candidate: &dyn Tree,
    changes: &[Change],
) -> Result<Vec<Finding>, Unreadable> {
    let is_link = |change: &Change| change.after.is_some_and(|after| after.kind == Kind::Symlink);
    let mut findings = Vec::new();
    if !changes.iter().any(is_link) {
        return Ok(findings);
    }
    let mut open = vec![(Vec::new(), candidate.root())];
    while let Some((path, folder)) = open.pop() {
        for entry in candidate.entries(&folder)? {
            let here = join(&path, &entry.name);
            match entry.kind {
                Kind::Tree => open.push((here, entry.id)),
                Kind::Symlink if changes.binary_search_by(|change| change.path.cmp(&here)).is_err() => {
                    let side = Side {
                        kind: entry.kind,
                        id: entry.id,
                    };
                    let Some(why) = leads_out(candidate, &here, &side)? else {
                        continue;
                    };
                    let mut known = false;
                    for base in bases {
                        known |= leads_out(*base, &here, &side)?.is_some();
                    }
                    if !known {
                        findings.push(found(&here, format!("{why} since a link on its way changed")));
                    }
                }
                _ => {}
            }
        }
    }
    Ok(findings)
}

fn target(tree: &dyn Tree, id: &Oid) -> Result<Option<Vec<u8>>, Unreadable> {
    if tree.blob_size(id)? > MAX_TARGET {
        return Ok(None);
    }
    tree.blob(id).map(Some)
}

/// Absolute on Unix or on Windows (`C:\x`, `\\host\x`).
fn is_absolute(target: &[u8]) -> bool {
    match target {
        [b'/' | b'\\', ..] => true,
        [drive, b':', ..] => drive.is_ascii_alphabetic(),
        _ => false,
    }
}

//! Credentials that a change adds or a task holds (exit 24, which goes before all others).
//!
//! A value counts as added unless the base has it in the same file, or in another file that the change takes it out
//! of: one that only moved is in the history already.

use std::collections::HashSet;

use super::{finding, is_regular};
use crate::gate::credentials::{Hit, blanked, search};
use crate::gate::survey::Survey;
use crate::gate::tree::{Side, lookup};
use crate::gate::{Change, Finding, Kind, POLICY_PATH, Policy, Rule, Tree, Unreadable, Verdict};
use crate::task::Task;

/// Larger files (bytes) are not searched, and are a finding for that.
const MAX_SEARCHED: u64 = 512 * 1024 * 1024;
/// Findings for one file: a list of stolen keys needs no line each.
const MAX_FINDINGS: usize = 100;

/// A file of a candidate that holds values which the base does not have.
#[derive(Clone, Debug)]
pub struct Holder {
    /// Its path.
    pub path: Vec<u8>,
    /// What it is.
    pub kind: Kind,
    /// Its content without the values.
    pub blanked: Vec<u8>,
    /// The values.
    pub hits: Vec<Hit>,
}

/// Every file whose change adds values that the policy does not allow, by path; and the paths of those that are too
/// large to be searched.
pub(in crate::gate) fn added(
    policy: &Policy,
    bases: &[&dyn Tree],
    candidate: &dyn Tree,
    changes: &[Change],
    survey: &Survey,
) -> Result<(Vec<Holder>, Vec<Vec<u8>>), Unreadable> {
    let (mut holders, mut unsearched) = (Vec::new(), Vec::new());
    // What the change takes out of files; read when a first value was found that its own file did not have.
    let mut elsewhere: Option<HashSet<String>> = None;
    for change in changes {
        let Some(after) = change.after.filter(has_content) else {
            continue;
        };
        if survey.has_no_credential(&change.path, &after.id) {
            continue;
        }
        let before = before(bases, change)?;
        if before.iter().any(|(_, side)| side.id == after.id) {
            continue;
        }
        if candidate.blob_size(&after.id)? > MAX_SEARCHED {
            unsearched.push(change.path.clone());
            continue;
        }
        let content = candidate.blob(&after.id)?;
        let mut hits = search(&content);
        hits.retain(|hit| !policy.allowed_credentials.contains(&hit.fingerprint));
        if hits.is_empty() {
            continue;
        }
        let own = known(&before)?;
        hits.retain(|hit| !own.contains(&hit.fingerprint));
        if !hits.is_empty() {
            let elsewhere = match &mut elsewhere {
                Some(known) => known,
                None => elsewhere.insert(taken_out(bases, candidate, changes)?),
            };
            hits.retain(|hit| !elsewhere.contains(&hit.fingerprint));
        }
        if !hits.is_empty() {
            holders.push(Holder {
                path: change.path.clone(),
                kind: after.kind,
                blanked: blanked(&content, &hits),
                hits,
            });
        }
    }
    Ok((holders, unsearched))
}

/// Findings about the values that a change adds. What other findings say is cleared of them.
pub(in crate::gate) fn judge(
    policy: &Policy,
    bases: &[&dyn Tree],
    candidate: &dyn Tree,
    changes: &[Change],
    survey: &Survey,
    verdict: &mut Verdict,
) -> Result<(), Unreadable> {
    let (holders, unsearched) = added(policy, bases, candidate, changes, survey)?;
    for path in unsearched {
        verdict.findings.push(finding(
            Rule::Uninspectable,
            &path,
            "built-in: credentials",
            "more than 512 MiB, too large to be searched for credentials".into(),
            "make it smaller, or keep it out of git".into(),
        ));
    }
    for holder in &holders {
        verdict.findings.extend(
            holder
                .hits
                .iter()
                .take(MAX_FINDINGS)
                .map(|hit| found(&holder.path, "adds", hit)),
        );
    }
    let hits: Vec<&Hit> = holders.iter().flat_map(|holder| &holder.hits).collect();
    clear(&hits, verdict);
    Ok(())
}

/// Findings about the values that the text of a task holds.
pub(super) fn of_task(policy: &Policy, task: &Task, verdict: &mut Verdict) {
    let mut hits = search(task.text.as_bytes());
    hits.retain(|hit| !policy.allowed_credentials.contains(&hit.fingerprint));
    verdict.findings.extend(
        hits.iter()
            .take(MAX_FINDINGS)
            .map(|hit| found(b"", "the task holds", hit)),
    );
    clear(&hits.iter().collect::<Vec<_>>(), verdict);
}

fn found(path: &[u8], holds: &str, hit: &Hit) -> Finding {
    let Hit {
        rule,
        what,
        fingerprint,
        line,
        column,
        ..
    } = hit;
    let mut finding = finding(
        Rule::Credential,
        path,
        &format!("built-in: credentials ({rule})"),
        format!("{holds} a credential: {what}, fingerprint {fingerprint}"),
        format!(
            "take it out, and revoke it if it was real; if it is no secret, a person can add \"{fingerprint}\" to \
             `allowed_credentials` in {POLICY_PATH}"
        ),
    );
    (finding.line, finding.column) = (Some(*line), Some(*column));
    finding
}

/// Names and specifiers that other rules quote may be such values.
fn clear(hits: &[&Hit], verdict: &mut Verdict) {
    let clear = |text: &mut String| {
        if hits.iter().any(|hit| hit.is_in(text)) {
            *text = "a credential stands in what this would say".to_owned();
        }
    };
    for finding in &mut verdict.findings {
        clear(&mut finding.message);
        clear(&mut finding.hint);
    }
    verdict
        .warnings
        .iter_mut()
        .for_each(|warning| clear(&mut warning.message));
    verdict.notices.iter_mut().for_each(clear);
}

/// Whether a side is text that can hold a value: a file, or a link, whose target is text too.
fn has_content(side: &Side) -> bool {
    is_regular(side) || side.kind == Kind::Symlink
}

/// What the bases have at the path of a change.
fn before<'a>(bases: &[&'a dyn Tree], change: &Change) -> Result<Vec<(&'a dyn Tree, Side)>, Unreadable> {
    let mut found = Vec::new();
    for (index, base) in bases.iter().enumerate() {
        let side = match index {
            // The changes are the difference from the first.
            0 => change.before,
            _ => lookup(*base, &change.path)?.map(|entry| Side {
                kind: entry.kind,
                id: entry.id,
            }),
        };
        found.extend(side.filter(has_content).map(|side| (*base, side)));
    }
    Ok(found)
}

fn known(before: &[(&dyn Tree, Side)]) -> Result<HashSet<String>, Unreadable> {
    let mut known = HashSet::new();
    for (base, side) in before {
        if base.blob_size(&side.id)? <= MAX_SEARCHED {
            known.extend(search(&base.blob(&side.id)?).into_iter().map(|hit| hit.fingerprint));
        }
    }
    Ok(known)
}

/// The values that the bases have in a file which in the candidate no longer holds them.
fn taken_out(bases: &[&dyn Tree], candidate: &dyn Tree, changes: &[Change]) -> Result<HashSet<String>, Unreadable> {
    let mut all = HashSet::new();
    // Files of one content are searched once, unless something of it is left.
    let mut gone = HashSet::new();
    for change in changes {
        let after = change.after.filter(has_content);
        for (base, side) in before(bases, change)? {
            if after.is_some_and(|after| after.id == side.id) || after.is_none() && !gone.insert(side.id) {
                continue;
            }
            let mut values = known(&[(base, side)])?;
            if let Some(after) = after.filter(|_| !values.is_empty()) {
                let left = known(&[(candidate, after)])?;
                values.retain(|value| !left.contains(value));
            }
            all.extend(values);
        }
    }
    Ok(all)
}

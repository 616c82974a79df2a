//! The candidate's commit, and where it is today.

use anyhow::{Context, Result};
use git2::{ErrorCode, Oid};

use super::case::Case;
use super::report::Check;
use crate::git::refs;
use crate::job::Event;
use crate::trailer::{self, Trailers};

/// Tree, parent and message are what the log makes of them, to the byte.
pub(super) fn commit(case: &Case<'_>, check: &mut Check) -> Result<()> {
    let made = case.state.commit.as_deref().map(Oid::from_str).transpose()?;
    // A fetched ref's log ends before the commit: there it is the one that was asked about.
    let commit = match (made, case.asked) {
        (Some(made), Some(asked)) if made != asked => {
            check.fails(other(case, made, asked));
            made
        }
        (Some(made), _) => made,
        (None, Some(asked)) if case.folder().is_some() => {
            let id = case.id;
            check.fails(format!("commit {asked} claims to be of job {id}, which made no commit"));
            return Ok(());
        }
        (None, Some(asked)) => asked,
        (None, None) => return Ok(()),
    };
    let found = match case.checkout.repo.find_commit(commit) {
        Ok(found) => found,
        Err(error) if case.state.dropped && error.code() == ErrorCode::NotFound => {
            check.skip(format!("commit {commit} is gone, as git gc does with what was dropped"));
            return Ok(());
        }
        Err(error) => return Err(error).with_context(|| format!("commit {commit} cannot be read")),
    };
    if Some(found.tree_id()) != case.frozen {
        let frozen = case.frozen.map_or_else(|| "none".to_owned(), |tree| tree.to_string());
        let tree = found.tree_id();
        check.fails(format!(
            "commit {commit} has tree {tree}, and what was frozen is {frozen}"
        ));
    }
    let parents: Vec<Oid> = found.parent_ids().collect();
    if parents != [case.base] {
        let shown: Vec<String> = parents.iter().map(ToString::to_string).collect();
        check.fails(format!(
            "commit {commit} has the parents {}, and its only one is to be the base {}",
            if shown.is_empty() {
                "none".to_owned()
            } else {
                shown.join(", ")
            },
            case.base
        ));
    }
    let expected = message(case)?;
    let message = String::from_utf8_lossy(found.message_raw_bytes()).into_owned();
    if message != expected {
        let mut lines = expected.lines().zip(message.lines());
        match lines.find(|(expected, found)| expected != found) {
            Some((expected, found)) => check.fails(format!(
                "the message of commit {commit} says {found:?} where the record makes it {expected:?}"
            )),
            None => check.fails(format!(
                "the message of commit {commit} is longer or shorter than the record makes it"
            )),
        }
    }
    check.says(format!("commit {commit}: tree, parent and trailers are the record's"));
    Ok(())
}

/// A commit with the job's trailers that is not the job's.
fn other(case: &Case<'_>, made: Oid, asked: Oid) -> String {
    let landed = case.log.lines.iter().find_map(|line| match &line.event {
        Some(Event::Landed { commit, .. }) => Some(commit.as_str()),
        _ => None,
    });
    if landed == Some(asked.to_string().as_str()) {
        return format!(
            "commit {asked} is what landing made of the candidate, on another parent; the candidate itself is {made}"
        );
    }
    format!(
        "commit {asked} only claims to be of job {}: its commit is {made}",
        case.id
    )
}

/// The message as the record's facts make it.
fn message(case: &Case<'_>) -> Result<String> {
    let intended = case.last(|event| matches!(event, Event::CommitIntended { .. }));
    let before = match intended {
        Some(line) => case.log.lines.get((line.seq as usize).wrapping_sub(2)),
        // A ref's log ends just there.
        None => case.log.lines.last(),
    };
    let confined = case.last(|event| matches!(event, Event::Confined { .. }));
    let tier = match confined.and_then(|line| line.event.as_ref()) {
        Some(Event::Confined { tier, .. }) => tier.clone(),
        _ => String::new(),
    };
    let waivers = case.created.waivers.iter().cloned();
    let trailers = Trailers {
        job_id: case.id.to_owned(),
        host: case.created.host.clone(),
        model_label: case.created.model_label.clone(),
        task_sha256: Some(case.created.task.sha256.clone()),
        policy_oid: Some(case.created.policy.clone()),
        confinement: Some(std::iter::once(tier).chain(waivers).collect::<Vec<_>>().join(",")),
        log_sum: before.map(|line| line.sum.clone()),
    };
    trailers
        .validate()
        .map_err(|wrong| anyhow::anyhow!("the record makes no valid trailers: {wrong}"))?;
    Ok(trailer::message(&case.task()?.goal, &trailers))
}

/// What the branch's log says of a landing of the job.
fn landing(id: &str) -> String {
    crate::commands::land::words(id)
}

/// A kept job's branch, a landed one's history.
pub(super) fn place(case: &Case<'_>, check: &mut Check) -> Result<()> {
    let Some(commit) = case.state.commit.as_deref().map(Oid::from_str).transpose()? else {
        return Ok(());
    };
    let repo = &case.checkout.repo;
    let landed = case.log.lines.iter().find_map(|line| match &line.event {
        Some(Event::Landed { commit, target, .. }) => Some((commit.clone(), target.clone())),
        _ => None,
    });
    if let Some((landed, target)) = landed {
        let landed = Oid::from_str(&landed).context("the commit in job.landed is no id")?;
        let what = format!("commit {landed}, landed on {target},");
        match refs::held_elsewhere(repo, landed, "")? {
            true if landed == commit => check.says(format!("{what} is in a branch or tag")),
            true => check.says(format!(
                "{what} is in a branch or tag; it stands on another parent than the candidate"
            )),
            false => {
                check.fails(format!("{what} is in no branch or tag any more"));
                check.hint(format!("git branch --contains {landed}; git reflog {target}"));
            }
        }
        return Ok(());
    }
    if case.state.dropped {
        check.skip("the job was dropped: its branch need not be there");
        return Ok(());
    }
    if case.state.ended != Some(crate::exit::Exit::Ok) {
        check.skip("the job was not kept: its commit has no branch");
        return Ok(());
    }
    let name = refs::branch(case.id);
    let branch = name.trim_start_matches("refs/heads/").to_owned();
    let quoted = shell_words::quote(&branch).into_owned();
    match repo.find_reference(&name) {
        Ok(reference) => {
            let tip = reference
                .peel_to_commit()
                .with_context(|| format!("{name} names no commit"))?
                .id();
            if tip == commit {
                check.says(format!("kept on branch {branch}"));
            } else if repo.graph_descendant_of(tip, commit)? {
                check.says(format!(
                    "branch {branch} is at {tip}: somebody has built on the candidate"
                ));
            } else {
                check.fails(format!(
                    "branch {branch} is at {tip}, which does not have the candidate {commit}"
                ));
                check.hint(format!(
                    "git log {quoted} shows what stands there; the candidate: git show {commit}"
                ));
            }
        }
        Err(error) if error.code() == ErrorCode::NotFound => {
            if let Some(target) = refs::moved_by(repo, commit, &landing(case.id))? {
                // The branch is deleted when the log has the event, and not before.
                check.fails(format!(
                    "`{}` moved {target} to the candidate, branch {branch} is gone, and the log has no job.landed",
                    landing(case.id)
                ));
            } else if refs::held_elsewhere(repo, commit, &name)? {
                check.says(format!(
                    "branch {branch} is gone, and another branch or tag has the candidate"
                ));
                check.says("not provable: that no job.landed or job.dropped was cut off the log");
            } else {
                check.fails(format!(
                    "branch {branch} of a kept job is not there, and no other has the candidate"
                ));
                check.hint(format!("git branch {quoted} {commit}"));
            }
        }
        Err(error) => return Err(error).with_context(|| format!("{name} cannot be read")),
    }
    Ok(())
}

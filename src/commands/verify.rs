//! `agentgate verify`: the proof of a job that a reviewer can replay, from its record and the repository alone.
//!
//! Invariants: nothing that the record says is believed where the repository can be asked (trees, blobs, the
//! policy, the verdict, the commit are looked up or computed anew); every check is made and every failure told,
//! not only the first; what could not be looked at is said in words; nothing is locked, written or repaired.

mod candidate;
mod case;
mod commit;
mod record;
mod reference;
mod report;
mod verdict;

use anyhow::Result;
use git2::Oid;

use super::{Surroundings, job_folder, trailers};
use crate::exit::{Exit, Stop};
use crate::git::fingerprint;
use crate::git::range::{self, Graph};
use crate::git::refs;
use crate::git::repo::Checkout;
use crate::store::Store;
use crate::trailer::{Reading, valid_job_id};
use case::{Case, Source};

pub use report::{Check, Holds, Report};

/// Verifies the job that `what` names: by its id, or by a commit with its trailers.
///
/// # Errors
/// Exit 23 where there is no such job, or it is not over; 25 for a commit whose trailers are wrong. That something
/// does not hold is no error: the report says so.
pub fn verify(surroundings: &Surroundings, what: &str) -> Result<Report> {
    let checkout = surroundings.quiet_checkout()?;
    if let Some(name) = fingerprint::no_file(&checkout) {
        let stop = format!("{name} of the clone is no file, and whoever opens it may wait for ever");
        return Err(Stop::new(Exit::PolicyUnusable, stop)
            .hint("look who put it there, and remove it")
            .into());
    }
    let store = Store::of(&checkout.common);
    let (id, asked) = subject(&checkout, &store, what)?;
    let folder = store.find(&id)?;
    let reference = refs::record(&checkout.repo, &id)?;
    let source = match (folder, reference) {
        (Some(folder), _) => Source::Folder(folder),
        (None, Some(tree)) => Source::Ref(tree),
        (None, None) => return Err(elsewhere(&id, asked).into()),
    };
    let mut report = Report::new(&id, &source, asked.map(|commit| commit.to_string()));
    let Some(case) = Case::open(&checkout, &id, source, asked, &mut report)? else {
        return Ok(report);
    };
    prove(&case, &mut report);
    Ok(report)
}

fn prove(case: &Case<'_>, report: &mut Report) {
    report.check("files", |check| record::files(case, check));
    if case.folder().is_some() {
        report.check("report", |check| record::closing(case, check));
        report.check("ref", |check| reference::compare(case, check));
    }
    report.check("task", |check| record::task(case, check));
    report.check("base", |check| candidate::base(case, check));
    if case.frozen.is_some() {
        report.check("candidate", |check| candidate::objects(case, check));
        report.check("patch", |check| candidate::patch(case, check));
    }
    report.check("gate", |check| verdict::compare(case, check));
    if case.asked.is_some() || case.is_committed() {
        report.check("commit", |check| commit::commit(case, check));
    }
    if case.folder().is_some() && case.is_committed() {
        report.check("place", |check| commit::place(case, check));
    }
}

/// The job's id, and the commit where that was named.
fn subject(checkout: &Checkout, store: &Store, what: &str) -> Result<(String, Option<Oid>)> {
    if valid_job_id(what) && (store.find(what)?.is_some() || refs::record(&checkout.repo, what)?.is_some()) {
        return Ok((what.to_owned(), None));
    }
    let Some(commit) = range::resolve(&checkout.repo, what)? else {
        return Err(match job_folder(store, what) {
            Err(error) if valid_job_id(what) => error,
            _ => Stop::new(
                Exit::WrongState,
                format!("{what:?} is neither a job nor a commit of this clone"),
            )
            .hint("agentgate status lists the jobs")
            .into(),
        });
    };
    let graph = Graph::of(checkout)?;
    let rows = trailers::agent_commits(checkout, &graph, &[commit])?;
    match rows.into_iter().next().map(|row| row.reading) {
        Some(Reading::Agent(trailers)) => Ok((trailers.job_id, Some(commit))),
        Some(Reading::Faulty(faults)) => Err(Stop::new(
            Exit::NotProved,
            format!(
                "commit {commit} names no job that could be verified: {}",
                faults.join("; ")
            ),
        )
        .hint(format!("agentgate trailers {commit}"))
        .into()),
        Some(Reading::Human) | None => Err(Stop::new(
            Exit::WrongState,
            format!("commit {commit} has no Agent-* trailers: no job is to have made it"),
        )
        .hint("agentgate status lists the jobs")
        .into()),
    }
}

/// The record of a job that was run in another clone.
fn elsewhere(id: &str, asked: Option<Oid>) -> Stop {
    let name = format!("{}{id}", refs::RECORDS);
    let whose = asked.map_or_else(String::new, |commit| format!(", which commit {commit} names"));
    Stop::new(
        Exit::WrongState,
        format!("there is no record of job {id}{whose} in this clone"),
    )
    .hint(format!(
        "fetch it from the clone that ran it: git fetch CLONE {name}:{name}"
    ))
    .hint("agentgate status lists the jobs")
}

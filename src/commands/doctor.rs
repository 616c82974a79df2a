//! `agentgate doctor`: whether a job could run here, and what stands in its way.
//!
//! Nothing is taken for granted: the confinement and the lock are tried with processes that must
//! fail. Checks stand in the order in which `run` would meet them, so that the first failed one gives
//! the exit that a job would end with.

mod agents;
mod clone;
mod locks;
mod machine;
mod proof;
mod record;
mod report;
mod settings;
pub mod trial;

use std::path::{Path, PathBuf};

use anyhow::Result;

use super::Surroundings;
use crate::agent::settings::Person;
use crate::exit::{Exit, Stop};
use crate::git::places::{chosen_root, jobs_root};
use crate::git::program::Git;
use crate::git::repo::Checkout;
use crate::process::signals;

pub use agents::Row;
pub use record::job;
pub use report::{Check, Report, State};

/// Looks at everything. What could not be found out is a failed check, not an error.
///
/// # Errors
/// A signal arrived.
pub fn doctor(surroundings: &Surroundings) -> Result<Report> {
    // So that what it makes is removed again.
    signals::install()?;
    let mut report = Report::default();
    let git = machine::git(&mut report, surroundings);
    let checkout = git.and_then(|git| repository(&mut report, git, surroundings));
    let person = person(&mut report, surroundings);
    let base = checkout
        .as_ref()
        .and_then(|checkout| clone::base(&mut report, checkout, &person));
    let effective = base
        .as_ref()
        .and_then(|base| clone::agent(&mut report, base, &person, surroundings));
    let root = |checkout: &Checkout| root_of(checkout, &person, surroundings);
    let walls = machine::walls(&mut report, &person);
    if let Some(walls) = walls {
        let place = checkout.as_ref().and_then(|checkout| root(checkout).ok());
        proof::confinement(&mut report, &walls, checkout.as_ref(), place.as_deref(), surroundings);
    }
    if let Some(checkout) = &checkout {
        clone::identity(&mut report, checkout);
        clone::clean(&mut report, checkout);
        if let (Some(base), Some(effective)) = (&base, &effective) {
            clone::copy(&mut report, checkout, base, effective);
        }
        locks::lock(&mut report, checkout);
        match root(checkout) {
            Ok(root) => machine::root(&mut report, &root),
            Err(error) => report.fail("worktree root", &as_stop(error)),
        }
        settings::hooks(&mut report, checkout, surroundings);
        settings::filters(&mut report, checkout, surroundings);
    }
    agents::look(&mut report, surroundings);
    if let Some(signal) = signals::pending() {
        return Err(Stop::new(Exit::from_signal(signal), "interrupted").into());
    }
    Ok(report)
}

/// The checkout that it was started in, if in any.
fn repository(report: &mut Report, git: Git, surroundings: &Surroundings) -> Option<Checkout> {
    match Checkout::discover(git, &surroundings.cwd) {
        Ok(checkout) => {
            let mut text = checkout.clone.display().to_string();
            if let Some(workdir) = checkout.workdir.as_ref().filter(|top| **top != checkout.clone) {
                text = format!("{text}, from its worktree {}", workdir.display());
            }
            report.ok("repository", text);
            Some(checkout)
        }
        Err(error) => {
            let mut stop = as_stop(error);
            if stop.message.ends_with("is not in a git repository") {
                stop.message.push_str(": what a clone would be asked is left out");
            }
            report.fail("repository", &stop);
            None
        }
    }
}

/// The person's own settings; where they cannot be used, none.
fn person(report: &mut Report, surroundings: &Surroundings) -> Person {
    match surroundings.person() {
        Ok(person) => {
            let is_there = person.path.as_ref().is_some_and(|path| path.exists());
            let text = if is_there {
                person.shown()
            } else {
                format!("none ({} is not there): defaults", person.shown())
            };
            report.ok("your settings", text);
            person
        }
        Err(error) => {
            report.fail("your settings", &as_stop(error));
            Person::default()
        }
    }
}

/// Where its jobs would lie.
fn root_of(checkout: &Checkout, person: &Person, surroundings: &Surroundings) -> Result<PathBuf> {
    let chosen = person.settings.worktree_root.as_deref().map(Path::new);
    match chosen.map(|root| (root, root.strip_prefix("~"), surroundings.home())) {
        None => jobs_root(&checkout.clone, surroundings.state_home().as_deref()),
        Some((_, Ok(below), Some(home))) => chosen_root(&checkout.clone, &home.join(below), &person.shown()),
        Some((root, ..)) => chosen_root(&checkout.clone, &surroundings.cwd.join(root), &person.shown()),
    }
}

/// An error as what `run` would say.
fn as_stop(error: anyhow::Error) -> Stop {
    match error.downcast::<Stop>() {
        Ok(stop) => stop,
        Err(error) => Stop::new(Exit::Internal, format!("{error:#}")),
    }
}

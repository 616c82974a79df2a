//! A job put together from its record, or refused with what is missing of it.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result};

use super::super::Options;
use super::super::checks::settle;
use super::super::copy::Copies;
use super::super::inputs::{must_be_clean, program_of, rules_of, source_words, task_place};
use super::super::prepare::{Decided, Job, seats_of};
use super::super::request::Request;
use crate::commands::Surroundings;
use crate::commands::implementer::{self, Chosen};
use crate::exit::{Exit, Stop};
use crate::git::history::Identity;
use crate::git::places::Places;
use crate::git::repo::Checkout;
use crate::git::shell;
use crate::git::snapshot::Frozen;
use crate::job::Created;
use crate::job::left::Left;
use crate::job::log::sha256_hex;
use crate::job::machine::State;
use crate::lock::LockGuard;
use crate::store::{self, Owner};
use crate::task::Task;

/// What is missing, so that a job cannot be gone on with.
fn gone(id: &str, what: &str) -> Stop {
    Stop::new(Exit::WrongState, format!("job {id} cannot be gone on with: {what}")).hint("nothing was changed")
}

/// The job as it was, from its record; refused where that or what it names is not there. `goes_on`: although its
/// log says of an end, since a person has answered.
#[expect(clippy::too_many_arguments, reason = "what the record is to be put together with")]
pub(super) fn restore(
    request: &Request,
    options: &Options,
    here: &Surroundings,
    checkout: Checkout,
    owner: Owner,
    created: Created,
    lock: LockGuard,
    goes_on: bool,
) -> Result<Job> {
    let id = owner.folder.id.clone();
    let surroundings = request.surroundings(here);
    if Path::new(&created.clone) != checkout.clone {
        let what = format!(
            "it belongs to the clone in {}, and this is {}",
            created.clone,
            checkout.clone.display()
        );
        return Err(gone(&id, &what).into());
    }
    // It may have been started in a linked worktree, whose ignored files are copied from there.
    let checkout = match surroundings.checkout() {
        Ok(there) if there.common == checkout.common => there,
        _ => checkout,
    };
    let base = git2::Oid::from_str(&created.base).context("the base's id")?;
    let has_base = {
        let commit = checkout.repo.find_commit(base);
        commit.and_then(|commit| commit.tree()).is_ok()
    };
    if !has_base {
        let what = format!("its base {base} is not in this clone any more");
        return Err(gone(&id, &what)
            .hint(format!("git fetch may bring it back: git fetch origin {base}"))
            .into());
    }
    let (task, task_bytes) = task_of(&owner, &created)?;
    let left = left_of(&owner)?;
    must_be_whole(&checkout, &owner, left.as_ref())?;
    let state = &owner.state;
    let person = surroundings.person()?;
    let (policy, settings) = rules_of(&checkout, base, Some(&task), &person)?;
    if policy.to_string() != created.policy {
        let what = format!("its log names the policy {}, and its base has {policy}", created.policy);
        return Err(gone(&id, &what).into());
    }
    let chosen = Chosen {
        asked: &options.asked,
        task: &options.task,
        task_timeout: task.timeout,
        repository: &settings,
        person: &person,
    };
    let effective = chosen.effective(&surroundings)?;
    let origin = chosen.origin(&surroundings);
    let agent = implementer::found(&effective, &surroundings);
    if (state.agent.is_none() && state.ended.is_none()) || goes_on {
        if let Err(stop) = &agent {
            return Err(stop.clone().into());
        }
        let now = (source_words(&effective.source), program_of(&effective.source));
        if now != (created.agent_source.clone(), created.agent.clone()) {
            let what = format!(
                "it was begun with the agent {} ({}), and the settings name {} ({}) now",
                created.agent, created.agent_source, now.1, now.0
            );
            return Err(gone(&id, &what).into());
        }
        if !state.preflight && !options.allow_dirty {
            must_be_clean(&checkout, task_place(&surroundings.cwd, &options.task).as_deref())?;
        }
    }
    let seats = match state.ended {
        Some(_) if !goes_on => Vec::new(),
        _ => seats_of(&chosen, &surroundings)?,
    };
    let walls = implementer::walls(&effective, &surroundings)?;
    let identity = Identity::of(&checkout)?;
    let copies = match state.gate {
        Some(_) if !goes_on && created.pipeline.is_none() => Copies::default(),
        _ if state.ended.is_some() && !goes_on => Copies::default(),
        _ => Copies::plan(&checkout, base, &effective.copy)?,
    };
    let places = places_of(&owner, &created, goes_on)?;
    let head = match state.preflight {
        true => base,
        false => checkout.head()?.commit,
    };
    let confined = state.confined.clone();
    let decided = Decided {
        checkout,
        surroundings,
        owner,
        created,
        base,
        head,
        task,
        task_bytes,
        agent,
        effective,
        identity,
        places,
        artifacts: options.artifacts.clone(),
        verbose: options.verbose,
        walls,
        copies,
        not_covered: confined.map(|(_, not_covered)| not_covered).unwrap_or_default(),
        notices: Vec::new(),
        origin,
        seats,
    };
    let mut job = Job::new(decided, lock);
    if let Some(left) = left {
        job.bring_back(left)?;
    }
    // Only that of the last step tells what is there now; one that is under way begins from the one before it.
    Ok(job)
}

/// The answers that its log names are there as they were, and so is the tree that it goes on from.
fn must_be_whole(checkout: &Checkout, owner: &Owner, left: Option<&Left>) -> Result<()> {
    let id = &owner.folder.id;
    let state = &owner.state;
    let progress = &state.progress;
    let answers = progress
        .plan
        .iter()
        .map(|(file, _)| file)
        .chain(&progress.review)
        .chain(&progress.persons);
    for file in answers {
        if recorded(owner, &file.name, &file.sha256)?.is_none() {
            let what = format!("{} of its record is not the one that its log names", file.name);
            return Err(gone(id, &what).into());
        }
    }
    let good = state.progress.good.as_ref().map(|(good, _)| good);
    // A step that is finished and not yet written down as frozen has a tree of its own, which is looked at then.
    let name = state.left.as_ref().map_or(store::FROZEN, |file| &file.name);
    let pinned = match (&state.frozen, &state.left) {
        (None, Some(_)) => None,
        (frozen, _) => frozen.as_ref().or(good),
    };
    if let (Some((tree, _)), left) = (pinned, left) {
        let what = match left {
            None => Some(format!("{name} is not in its record")),
            Some(left) if left.tree != *tree => Some(format!("{name} names another tree than its log")),
            Some(_) if git2::Oid::from_str(tree).is_ok_and(|tree| checkout.repo.find_tree(tree).is_ok()) => None,
            Some(_) => Some(format!(
                "the tree of its candidate, {tree}, is not in this clone any more"
            )),
        };
        if let Some(what) = what {
            return Err(gone(id, &what).into());
        }
    }
    Ok(())
}

impl Job {
    /// The last candidate that is good, for a step that is made again.
    pub(in crate::commands::run) fn bring_back_good(&mut self) -> Result<()> {
        self.frozen = None;
        self.verdict = None;
        self.left = None;
        match left_of(&self.owner)? {
            Some(left) => self.bring_back(left),
            None => Ok(()),
        }
    }

    /// What an earlier owner had reached.
    fn bring_back(&mut self, left: Left) -> Result<()> {
        if self.has_tree(&left.tree) {
            let frozen = Frozen::restored(&left)?;
            self.find_credentials(&frozen)?;
            self.frozen = Some(frozen);
        }
        self.notices.clone_from(&left.notices);
        self.withheld.clone_from(&left.withheld);
        self.last_output.clone_from(&left.last_output);
        self.met_a_wall = left.met_a_wall;
        self.left = Some(left);
        self.bring_back_verdict()
    }

    /// What the gate had said of it.
    pub(in crate::commands::run) fn bring_back_verdict(&mut self) -> Result<()> {
        if self.owner.state.gate.is_some() && self.frozen.is_some() {
            let (mut verdict, _) = self.judge_tree()?;
            settle(&mut verdict, self.checks_over());
            self.verdict = Some(verdict);
        }
        Ok(())
    }
}

/// The task as it was given.
fn task_of(owner: &Owner, created: &Created) -> Result<(Task, Vec<u8>)> {
    let id = &owner.folder.id;
    let bytes = recorded(owner, store::TASK, &created.task.sha256)?.ok_or_else(|| {
        gone(
            id,
            &format!("{} of its record is not the one that its log names", store::TASK),
        )
    })?;
    let task = Task::parse(&bytes).map_err(|error| gone(id, &format!("its task cannot be read: {}", error.message)))?;
    Ok((task, bytes))
}

/// What was frozen by an earlier owner, as far as the log says that it was.
fn left_of(owner: &Owner) -> Result<Option<Left>> {
    let good = owner.state.progress.good.as_ref().and_then(|(_, left)| left.as_ref());
    let Some(file) = owner.state.left.as_ref().or(good) else {
        return Ok(None);
    };
    let Some(bytes) = recorded(owner, &file.name, &file.sha256)? else {
        return Ok(None);
    };
    Ok(serde_json::from_slice::<Left>(&bytes)
        .ok()
        .filter(|left| left.schema == crate::job::left::SCHEMA))
}

/// A file of the record; none where it is not the one with this sum.
fn recorded(owner: &Owner, name: &str, sha256: &str) -> Result<Option<Vec<u8>>> {
    let path = owner.folder.path.join(name);
    match std::fs::read(&path) {
        Ok(bytes) => Ok((sha256_hex(&[&bytes]) == sha256).then_some(bytes)),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error).with_context(|| format!("cannot read {}", path.display())),
    }
}

/// Where it will work: beside the places of its earlier owners.
fn places_of(owner: &Owner, created: &Created, goes_on: bool) -> Result<Places> {
    let id = &owner.folder.id;
    let first = PathBuf::from(&created.worktree);
    let root = first.parent().map(Path::to_owned).unwrap_or_default();
    let mut places = Places::of(&root, id);
    places.private = PathBuf::from(&created.private);
    let state: &State = &owner.state;
    if state.ended.is_some() && !goes_on {
        places.worktree = PathBuf::from(state.place().unwrap_or(&created.worktree));
        return Ok(places);
    }
    let epoch = owner.next_epoch();
    if epoch > 1 {
        places.worktree = root.join(format!("{id}~{epoch}"));
        if places.worktree.symlink_metadata().is_ok() {
            let stop = format!("{} exists already", places.worktree.display());
            return Err(Stop::new(Exit::WorktreeExists, stop)
                .hint(format!(
                    "it is not the job's; move it away: mv {0} {0}.old",
                    shell(&places.worktree)
                ))
                .into());
        }
    }
    Ok(places)
}

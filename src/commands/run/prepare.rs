//! Everything that can be refused, before anything is made.

use std::path::PathBuf;

use anyhow::{Context, Result};

use super::Options;
use super::copy::Copies;
use super::inputs::{
    acquire, artifacts_folder, default_job_id, must_be_clean, places, program_of, read_task, rules_of, source_words,
    task_place, text,
};
use super::request::Request;
use crate::agent::command::Found;
use crate::agent::effective::{Effective, label};
use crate::commands::checks::sweep;
use crate::commands::implementer::{self, Chosen, Origin};
use crate::commands::walls::Walls;
use crate::commands::{Surroundings, Watch, bad_job_id};
use crate::confine::Mode;
use crate::exit::{Exit, Stop};
use crate::gate::{self, Holder, Verdict};
use crate::git::agent_refs::AgentRefs;
use crate::git::fingerprint::Fingerprint;
use crate::git::history::Identity;
use crate::git::places::Places;
use crate::git::repo::Checkout;
use crate::git::settings::ContentSettings;
use crate::git::shadow::Shadow;
use crate::git::snapshot::{Frozen, Stage};
use crate::git::worktree::Worktree;
use crate::job::left::Left;
use crate::job::role::{ATTEMPTS, Pipeline, REVIEW_ROUNDS, Role};
use crate::job::{Created, Event};
use crate::lock::{LockGuard, Wait};
use crate::process::{MARK, signals};
use crate::store::{Owner, Store};
use crate::task::Task;
use crate::trailer;

/// A job under way. What it learns on the way stands beside what was decided at the start.
pub struct Job {
    pub(super) checkout: Checkout,
    pub(super) surroundings: Surroundings,
    pub(super) owner: Owner,
    pub(super) created: Created,
    pub(super) base: git2::Oid,
    pub(super) head: git2::Oid,
    pub(super) task: Task,
    pub(super) task_bytes: Vec<u8>,
    /// Its program, or why it cannot be started.
    pub(super) agent: Result<Found, Stop>,
    /// What command line, task and settings come to.
    pub(super) effective: Effective,
    pub(super) identity: Identity,
    pub(super) places: Places,
    pub(super) artifacts: Option<PathBuf>,
    pub(super) verbose: bool,
    pub(super) walls: Walls,
    /// What is copied into the worktree.
    pub(super) copies: Copies,
    /// What the agent's plan leaves open, once it is made.
    pub(super) not_covered: Vec<String>,
    pub(super) worktree: Option<Worktree>,
    /// Device and inode of its top folder when it was made.
    pub(super) made: Option<(u64, u64)>,
    pub(super) content: Option<ContentSettings>,
    pub(super) shadow: Option<Shadow>,
    pub(super) stage: Option<Stage>,
    pub(super) frozen: Option<Frozen>,
    /// What an earlier owner had frozen, from the record.
    pub(super) left: Option<Left>,
    pub(super) verdict: Option<Verdict>,
    /// Files of the candidate that hold credentials: then nothing of it may become a ref or leave the machine.
    pub(super) credentials: Vec<Holder>,
    pub(super) refs: AgentRefs,
    pub(super) before: Option<Fingerprint>,
    /// The agent's refs could not be bundled.
    pub(super) unbundled: bool,
    pub(super) notices: Vec<String>,
    pub(super) withheld: Vec<String>,
    pub(super) last_output: String,
    /// Its output speaks of a write that was refused.
    pub(super) met_a_wall: bool,
    /// Who named the agent and set its limits.
    pub(super) origin: Origin,
    /// The roles beside the implementer.
    pub(super) seats: Vec<Seat>,
    /// The agent's copy of the task.
    pub(super) task_file: PathBuf,
    /// Where roles answer.
    pub(super) outbox: PathBuf,
    /// What the names of the last writing call's files have before their ending.
    pub(super) suffix: String,
    /// Copies and set-up are in the worktree.
    pub(super) ready: bool,
    /// Why the last call gave no valid answer, asked for the second time.
    pub(super) unanswered: Option<String>,
    pub(super) _lock: LockGuard,
}

/// What a job begins with, or is taken up again with; each is as in [`Job`].
pub(super) struct Decided {
    pub(super) checkout: Checkout,
    pub(super) surroundings: Surroundings,
    pub(super) owner: Owner,
    pub(super) created: Created,
    pub(super) base: git2::Oid,
    pub(super) head: git2::Oid,
    pub(super) task: Task,
    pub(super) task_bytes: Vec<u8>,
    pub(super) agent: Result<Found, Stop>,
    pub(super) effective: Effective,
    pub(super) identity: Identity,
    pub(super) places: Places,
    pub(super) artifacts: Option<PathBuf>,
    pub(super) verbose: bool,
    pub(super) walls: Walls,
    pub(super) copies: Copies,
    pub(super) not_covered: Vec<String>,
    pub(super) notices: Vec<String>,
    pub(super) origin: Origin,
    pub(super) seats: Vec<Seat>,
}

impl Job {
    /// A job of which nothing was made or found yet.
    pub(super) fn new(decided: Decided, lock: LockGuard) -> Job {
        let Decided {
            mut checkout,
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
            artifacts,
            verbose,
            walls,
            copies,
            not_covered,
            notices,
            origin,
            seats,
        } = decided;
        checkout.git = checkout.git.marked(MARK, &places.mark());
        Job {
            task_file: places.mark(),
            outbox: places.outbox(),
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
            artifacts,
            verbose,
            walls,
            copies,
            not_covered,
            worktree: None,
            made: None,
            content: None,
            shadow: None,
            stage: None,
            frozen: None,
            left: None,
            verdict: None,
            credentials: Vec::new(),
            refs: AgentRefs::default(),
            before: None,
            unbundled: false,
            notices,
            withheld: Vec::new(),
            last_output: String::new(),
            met_a_wall: false,
            origin,
            seats,
            suffix: String::new(),
            ready: false,
            unanswered: None,
            _lock: lock,
        }
    }
}

/// A role with the agent that acts in it.
#[derive(Clone, Debug)]
pub struct Seat {
    pub(super) role: Role,
    pub(super) effective: Effective,
    /// Its program, or why it cannot be started.
    pub(super) agent: Result<Found, Stop>,
    pub(super) walls: Walls,
    pub(super) model_label: Option<String>,
}

/// The roles beside the implementer that the settings name; a reviewer's findings are mended by the implementer
/// where they name no fixer.
pub(super) fn seats_of(chosen: &Chosen<'_>, surroundings: &Surroundings) -> Result<Vec<Seat>> {
    let names = |role: Role| {
        let files = [chosen.repository, &chosen.person.settings];
        files.iter().any(|settings| settings.of_role(role).is_some())
    };
    let mut roles: Vec<Role> = [Role::Planner, Role::Reviewer]
        .into_iter()
        .filter(|role| names(*role))
        .collect();
    if names(Role::Fixer) || names(Role::Reviewer) {
        roles.push(Role::Fixer);
    }
    let mut seats = Vec::new();
    for role in roles {
        let effective = chosen.effective_of(role, surroundings)?;
        seats.push(Seat {
            role,
            agent: implementer::found(&effective, surroundings),
            walls: implementer::walls(&effective, surroundings)?,
            model_label: effective.model_label.clone(),
            effective,
        });
    }
    Ok(seats)
}

/// The shape of a job with these roles; none where there is an implementer alone.
pub(super) fn pipeline_of(chosen: &Chosen<'_>, seats: &[Seat]) -> Option<Pipeline> {
    let has = |role: Role| seats.iter().any(|seat| seat.role == role);
    let (here, mine) = (chosen.repository, &chosen.person.settings);
    (!seats.is_empty()).then(|| Pipeline {
        planner: has(Role::Planner),
        reviewer: has(Role::Reviewer),
        fixer: has(Role::Fixer),
        max_review_rounds: here
            .max_review_rounds
            .or(mine.max_review_rounds)
            .unwrap_or(REVIEW_ROUNDS),
        max_attempts: here.max_attempts.or(mine.max_attempts).unwrap_or(ATTEMPTS),
        max_job_time: here.max_job_time.or(mine.max_job_time),
        max_agent_calls: here.max_agent_calls.or(mine.max_agent_calls),
    })
}

/// Checks everything and takes the lock; then the job exists.
pub fn prepare(options: &Options, surroundings: &Surroundings, watch: &dyn Watch) -> Result<Job> {
    signals::install().context("cannot catch signals")?;
    let id = match options
        .job_id
        .clone()
        .map_or_else(|| surroundings.text("AGENT_JOB_ID"), |id| Ok(Some(id)))?
    {
        Some(id) if !trailer::valid_job_id(&id) => return Err(bad_job_id(&id).into()),
        Some(id) => id,
        None => default_job_id(),
    };
    let (task, task_bytes) = read_task(&surroundings.cwd, &options.task)?;
    let task_place = task_place(&surroundings.cwd, &options.task);
    let checkout = surroundings.checkout()?;
    // Whoever queues starts from what HEAD is when its turn comes.
    let queued = (options.wait != Wait::No)
        .then(|| acquire(&checkout, &id, options, watch))
        .transpose()?;
    let head = checkout.head()?;
    if options.land && head.branch.is_none() {
        return Err(Stop::new(
            Exit::Usage,
            "--land: HEAD is detached, so there is no branch to land on",
        )
        .hint("git switch to a branch, or leave --land out and land with --onto BRANCH")
        .into());
    }
    let base = match &options.base {
        None => head.commit,
        Some(revision) => checkout.commit(revision)?.ok_or_else(|| {
            Stop::new(Exit::PolicyUnusable, format!("--base {revision} names no commit here"))
                .hint("git fetch, or name a commit that git log shows")
        })?,
    };
    if options.land && base != head.commit {
        let stop = format!(
            "--land: the candidate would stand on {base}, but the branch is at {}",
            head.commit
        );
        return Err(Stop::new(Exit::TargetMoved, stop)
            .hint("leave --base out, or leave --land out and land elsewhere with --onto BRANCH")
            .into());
    }
    let person = surroundings.person()?;
    let (policy, settings) = rules_of(&checkout, base, Some(&task), &person)?;
    let chosen = Chosen {
        asked: &options.asked,
        task: &options.task,
        task_timeout: task.timeout,
        repository: &settings,
        person: &person,
    };
    let effective = chosen.effective(surroundings)?;
    let origin = chosen.origin(surroundings);
    let agent = implementer::found(&effective, surroundings)?;
    implementer::others_start(&chosen, surroundings)?;
    let seats = seats_of(&chosen, surroundings)?;
    let pipeline = pipeline_of(&chosen, &seats);
    let host = label(surroundings.text("AGENT_HOST_LABEL")?, "AGENT_HOST_LABEL")?.unwrap_or_else(|| "local".into());
    let walls = implementer::walls(&effective, surroundings)?;
    let mut notices = walls.odd_to_hide()?;
    let identity = Identity::of(&checkout)?;
    let artifacts = options
        .artifacts
        .as_ref()
        .map(|dir| artifacts_folder(&checkout, surroundings, dir))
        .transpose()?;
    let mut waivers = Vec::new();
    if effective.confinement == Mode::Off {
        waivers.push("confinement-off".to_owned());
    } else if effective.allow_unconfined && !walls.layers.hold() {
        waivers.push("allow-unconfined".to_owned());
    }
    if options.allow_dirty {
        waivers.push("allow-dirty".to_owned());
    } else {
        must_be_clean(&checkout, task_place.as_deref())?;
    }
    let mut copies = Copies::plan(&checkout, base, &effective.copy)?;
    let store = Store::of(&checkout.common);
    let lock = match queued {
        Some(lock) => lock,
        None => acquire(&checkout, &id, options, watch)?,
    };
    let places = places(&checkout, &effective, &person, surroundings, &id)?;
    notices.append(&mut sweep(&places.root));
    signals::outlive_hangup();
    let (owner, task_ref) = store.create(&id, &task_bytes)?;
    Request::of(options, surroundings, artifacts.as_deref()).save(&owner.folder)?;
    let created = Created {
        agentgate: env!("CARGO_PKG_VERSION").to_owned(),
        base: base.to_string(),
        target: head.branch.clone(),
        goal: task.goal.chars().take(200).collect(),
        task: task_ref,
        policy: policy.to_string(),
        agent_source: source_words(&effective.source),
        agent: program_of(&effective.source),
        host,
        model_label: effective.model_label.clone().unwrap_or_else(|| "unspecified".into()),
        waivers,
        timeout: effective.timeout,
        clone: text(&checkout.clone)?,
        worktree: text(&places.worktree)?,
        private: text(&places.private)?,
        pipeline,
    };
    notices.append(&mut copies.notices);
    let decided = Decided {
        checkout,
        surroundings: surroundings.clone(),
        owner,
        created: created.clone(),
        base,
        head: head.commit,
        task,
        task_bytes,
        agent: Ok(agent),
        effective,
        identity,
        places,
        artifacts,
        verbose: options.verbose,
        walls,
        copies,
        not_covered: Vec::new(),
        notices,
        origin,
        seats,
    };
    let mut job = Job::new(decided, lock);
    job.owner.create(Event::Created(created))?;
    watch.step(&format!("job {id}: {}", printable(&job.created.goal)));
    watch.step(&format!(
        "base {} ({})",
        base,
        head.branch
            .as_deref()
            .unwrap_or("detached HEAD")
            .trim_start_matches("refs/heads/")
    ));
    job.task
        .scope()
        .iter()
        .for_each(|line| watch.step(&format!("scope: {}", printable(line))));
    if options.allow_dirty {
        watch.step("--allow-dirty: the checkout's own changes are not part of the job and stay as they are");
    }
    Ok(job)
}

/// A line of the task for a terminal: what would move its cursor or colours is escaped.
fn printable(line: &str) -> String {
    gate::render::path(line.as_bytes())
}

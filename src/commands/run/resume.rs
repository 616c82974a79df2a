//! `agentgate resume`: goes on with a job whose process is gone, from its record.
//!
//! Invariants: whatever can be refused is refused before the log gets a line, so that a refused job stays as it was;
//! the old process tree is proved gone before anything else happens; what is done next is what the log says, in a
//! fresh worktree made from a tree that the log names. Nothing is taken from what a dead owner left on the disk.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use anyhow::{Context, Result};

use super::checks::settle;
use super::copy::Copies;
use super::inputs::{must_be_clean, program_of, rules_of, source_words, take_lock, task_place};
use super::prepare::{Job, seats_of};
use super::request::Request;
use super::{Begun, Options, Report, finish};
use crate::commands::closing::Closing;
use crate::commands::following::{Look, Stand};
use crate::commands::implementer::{self, Chosen};
use crate::commands::remains::{Edits, Verb};
use crate::commands::{Surroundings, Watch, attach, drop, job_folder, remains, typed};
use crate::exit::{Exit, Stop};
use crate::files;
use crate::gate::credentials::search;
use crate::git::agent_refs::AgentRefs;
use crate::git::history::Identity;
use crate::git::places::Places;
use crate::git::refs;
use crate::git::repo::Checkout;
use crate::git::shell;
use crate::git::snapshot::Frozen;
use crate::job::answer::MAX;
use crate::job::left::Left;
use crate::job::log::sha256_hex;
use crate::job::machine::State;
use crate::job::{Created, Event, PersonsVerdict};
use crate::lock::{LockGuard, Wait};
use crate::process::{self, MARK, signals};
use crate::store::{self, Folder, Owner, Store};
use crate::task::Task;

/// How long a holder that was ended may take to be gone.
const GONE: Duration = Duration::from_secs(10);
/// SIGKILL
const KILL: i32 = 9;

/// What the person asked for.
#[derive(Clone, Debug)]
pub struct Again {
    /// Job id.
    pub id: String,
    /// `--take-over`: end the process that has the job.
    pub take_over: bool,
    /// `--wait`
    pub wait: Wait,
    /// `--verbose`
    pub verbose: bool,
    /// What a person says to a job that waits for one (`answer`).
    pub answer: Option<Persons>,
}

/// What a person says.
#[derive(Clone, Debug)]
pub struct Persons {
    /// What it comes to.
    pub verdict: PersonsVerdict,
    /// The words, for the role whose turn it is.
    pub words: Vec<u8>,
}

impl Persons {
    /// Of `answer`'s options: a file with words, or the approval.
    ///
    /// # Errors
    /// Exit 64 for a file that cannot be read, is empty or holds a credential.
    pub fn of(here: &Surroundings, file: Option<&Path>) -> Result<Persons> {
        let Some(given) = file else {
            return Ok(Persons {
                verdict: PersonsVerdict::Approve,
                words: b"approved as it is\n".to_vec(),
            });
        };
        let bad = |what: String| Stop::new(Exit::Usage, format!("--file {}: {what}", given.display()));
        // Through links, as any editor goes; but a pipe would be waited for, and a device never ends.
        let real = std::fs::canonicalize(here.cwd.join(given));
        let words = real.and_then(|real| files::read_small(&real, MAX)).map_err(|error| {
            let hint = match error.kind() {
                std::io::ErrorKind::FileTooLarge => "shorten it",
                _ => "write what is to be done into a text file",
            };
            bad(error.to_string()).hint(hint)
        })?;
        if std::str::from_utf8(&words).map_or(true, |text| text.trim().is_empty()) {
            return Err(bad("no text".to_owned())
                .hint("write what is to be done into it")
                .into());
        }
        if let Some(hit) = search(&words).first() {
            return Err(bad(format!("line {} holds a credential ({})", hit.line, hit.rule))
                .hint("agents read it, and it goes into the record: name where the secret is instead")
                .into());
        }
        Ok(Persons {
            verdict: PersonsVerdict::GoOn,
            words,
        })
    }
}

/// What came of it.
#[derive(Debug)]
pub enum Resumed {
    /// It went on to its end.
    Ran(Report),
    /// It was over already.
    Over(attach::Report),
}

/// Ids of the jobs that are not over and that nobody works on, oldest first.
pub fn unfinished(surroundings: &Surroundings) -> Result<Vec<String>> {
    let checkout = surroundings.checkout()?;
    let store = Store::of(&checkout.common);
    let mut found = Vec::new();
    for id in store.ids()? {
        let Some(folder) = store.find(&id)? else { continue };
        // What cannot be read is told by `status`; it must not keep the others from going on.
        let Ok(look) = Look::at(&folder) else { continue };
        let has_request = folder.path.join(store::RESUME).symlink_metadata().is_ok();
        let is_left = match look.stand {
            Stand::Running => false,
            Stand::Dead => !look.state.dropped && look.state.created.is_some(),
            // One that waits for a person goes on by `answer`.
            Stand::Over(exit, Some(_)) => has_request && exit != Exit::NeedsHuman,
            Stand::Over(_, None) => has_request,
        };
        if is_left {
            let at = look.log.lines.first().map(|line| line.at.clone());
            found.push((at, id));
        }
    }
    found.sort();
    Ok(found.into_iter().map(|(_, id)| id).collect())
}

/// Goes on with a job. `begun` is called once, when nothing can be refused any more.
///
/// # Errors
/// Exit 23 for a job that is not there, was dropped, was written by another version, or lacks what it would go on
/// from; 13 while another process has it; what `run` refuses for agent, walls and settings.
pub fn resume(
    again: &Again,
    here: &Surroundings,
    watch: &dyn Watch,
    begun: &mut dyn FnMut(&Begun) -> Result<()>,
) -> Result<Resumed> {
    signals::install().context("cannot catch signals")?;
    let id = again.id.as_str();
    let checkout = here.checkout()?;
    let store = Store::of(&checkout.common);
    let folder = job_folder(&store, id)?;
    let look = Look::at(&folder)?;
    if matches!(look.stand, Stand::Running) {
        match again.take_over {
            true => end_owner(&folder, &look, watch)?,
            false => return Err(owned(&checkout, id, &look).into()),
        }
    }
    let words = format!("agentgate resume {id}");
    let lock = take_lock(&checkout, id, &words, again.wait, watch)?;
    let (owner, created) = drop::take(&store, id)?;
    let record = folder.path.clone();
    if let Some(answer) = &again.answer {
        must_wait(&checkout, &owner, &created, answer)?;
    } else if let Some(over) = over(&checkout, &folder, &owner, &created)? {
        if over.exit() != Exit::NeedsHuman {
            super::forget(&record);
        }
        return Ok(Resumed::Over(over));
    }
    let Some(request) = Request::read(&folder)? else {
        return Err(Stop::new(
            Exit::WrongState,
            format!(
                "job {id} cannot be gone on with: {} is not in its record",
                store::RESUME
            ),
        )
        .hint("another version of agentgate made it, or somebody removed the file")
        .hint(format!(
            "{} drop {} gives it up; its record stays",
            typed(&checkout),
            shell_words::quote(id)
        ))
        .into());
    };
    let mut options = request.options(id);
    options.verbose |= again.verbose;
    let mut job = restore(
        &request,
        &options,
        here,
        checkout,
        owner,
        created,
        lock,
        again.answer.is_some(),
    )?;
    let ended = process::end_marked(&job.places.mark())?;
    if ended > 0 {
        job.notices.push(match ended {
            1 => "1 process of the job was still at work, and was ended".to_owned(),
            _ => format!("{ended} processes of the job were still at work, and were ended"),
        });
    }
    signals::outlive_hangup();
    refs::unlock(&job.checkout.repo, id)?;
    job.owner.folder.clear_temporary()?;
    if job.owner.state.ended.is_none() || again.answer.is_some() {
        job.take(watch)?;
    } else if job.owner.has_torn()? {
        let place = job.owner.state.place().map(str::to_owned);
        job.owner.begin(place, Vec::new())?;
    }
    if let Some(answer) = &again.answer {
        let number = job.owner.state.progress.persons.len() + 1;
        let file = job.owner.folder.save(&format!("person-{number}.md"), &answer.words)?;
        job.owner.append(&Event::Answered {
            verdict: answer.verdict,
            file,
        })?;
    }
    if let Err(error) = begun(&job.begun()) {
        return Err(job.broke(error));
    }
    if let Some(exit) = job.owner.state.ended {
        if job.owner.state.left_as_is {
            return Err(job.left_as_it_is(exit).into());
        }
        job.settle_ended(exit)?;
    }
    let surroundings = job.surroundings.clone();
    finish(job, &options, &surroundings, watch).map(Resumed::Ran)
}

/// Refuses an answer to a job that did not ask, that has nothing to approve, or whose worktree holds edits that
/// going on would lose.
fn must_wait(checkout: &Checkout, owner: &Owner, created: &Created, answer: &Persons) -> Result<()> {
    let (id, state) = (&owner.folder.id, &owner.state);
    let agentgate = typed(checkout);
    let quoted = shell_words::quote(id);
    if state.ended != Some(Exit::NeedsHuman) || state.dropped {
        return Err(Stop::new(
            Exit::WrongState,
            format!("job {id} asks nothing: {}", drop::words(state)),
        )
        .hint(format!("{agentgate} log {quoted} shows what it did"))
        .into());
    }
    if answer.verdict == PersonsVerdict::Approve && (state.gate != Some(0) || state.frozen.is_none()) {
        return Err(Stop::new(
            Exit::WrongState,
            format!("job {id} has no candidate that passed the gate, so there is nothing to approve"),
        )
        .hint(format!(
            "{agentgate} answer {quoted} --file ANSWER.md says what is to be done"
        ))
        .into());
    }
    let edits = Edits::Refuse(Verb::Answer);
    remains::of(checkout, state, created, id).must_be_removable(checkout, state, created, id, edits)?;
    Ok(())
}

/// A job that needs nothing any more: how it came to its end.
fn over(checkout: &Checkout, folder: &Folder, owner: &Owner, created: &Created) -> Result<Option<attach::Report>> {
    let state = &owner.state;
    let id = &folder.id;
    if state.dropped && state.ended.is_none() {
        return Err(Stop::new(Exit::WrongState, format!("job {id} was dropped"))
            .hint("its record stays; run the task again for another attempt")
            .into());
    }
    let Some(exit) = state.ended else { return Ok(None) };
    let closing = Closing::of(folder, &folder.log()?)?;
    let settled = state.landed || state.dropped || closing.is_some();
    if !settled && folder.path.join(store::RESUME).symlink_metadata().is_ok() {
        return Ok(None);
    }
    if state.landed {
        // Killed over its landing, it may have left what that removes; a person's edits since then stay.
        refs::unlock(&checkout.repo, id)?;
        let remains = remains::of(checkout, state, created, id);
        if remains
            .must_be_removable(checkout, state, created, id, Edits::Refuse(Verb::Land))
            .is_ok_and(|ignored| ignored.is_empty())
        {
            drop::remove(checkout, owner, created, &remains, id)?;
        }
    }
    owner.folder.clear_temporary()?;
    // Killed after its last words, it may have left its private folder; nothing of it is needed.
    if !state.left_as_is {
        let _ = crate::files::remove_tree(Path::new(&created.private));
    }
    attach::ending(folder, state, exit, closing).map(Some)
}

/// The refusal of a job that another process has.
fn owned(checkout: &Checkout, id: &str, look: &Look) -> Stop {
    let (agentgate, quoted) = (typed(checkout), shell_words::quote(id));
    let owner = look.owner.as_ref().filter(|owner| owner.alive());
    match owner {
        Some(owner) if owner.is_stopped() => Stop::new(
            Exit::Locked,
            format!(
                "the process of job {id} is stopped (pid {}), and it still has the job",
                owner.pid
            ),
        )
        .hint(format!("kill -CONT {} lets it go on", owner.pid))
        .hint(format!(
            "{agentgate} resume --take-over {quoted} ends it and goes on from its last finished step"
        )),
        Some(owner) => Stop::new(Exit::Locked, format!("job {id} is being worked on (pid {})", owner.pid))
            .hint(format!("{agentgate} attach {quoted} shows what it does"))
            .hint(format!("{agentgate} stop {quoted} ends it")),
        None => Stop::new(
            Exit::Locked,
            format!("job {id} is being worked on by a process that cannot be seen from here"),
        )
        .hint("a `land`, `drop` or `open` of this moment, or a process in another container")
        .hint(format!("{agentgate} status shows whether it goes on")),
    }
}

/// Ends the recorded holder, and nobody else, and waits until the kernel has released its lock.
fn end_owner(folder: &Folder, look: &Look, watch: &dyn Watch) -> Result<()> {
    let id = &folder.id;
    let Some((owner, process)) = look.owner.as_ref().and_then(|owner| Some((owner, owner.open().ok()??))) else {
        return Err(Stop::new(
            Exit::Locked,
            format!(
                "job {id} is held by a process that is not the one its log names, or that cannot be seen from here"
            ),
        )
        .hint("nothing was ended; a `land`, `drop` or `open` of this moment holds it only for a moment: try again")
        .into());
    };
    process
        .signal(KILL)
        .with_context(|| format!("cannot end the process of job {id} (pid {})", owner.pid))?;
    watch.step(&format!(
        "taken over: the process that had the job (pid {}) was ended",
        owner.pid
    ));
    let started = Instant::now();
    while folder.is_owned()? {
        if started.elapsed() > GONE {
            let stop = format!(
                "job {id} is still locked {} s after its process was ended",
                GONE.as_secs()
            );
            return Err(Stop::new(Exit::Locked, stop)
                .hint(format!(
                    "fuser -v {} names who has it",
                    shell(&folder.path.join(store::OWNER_LOCK))
                ))
                .into());
        }
        std::thread::sleep(Duration::from_millis(5));
    }
    Ok(())
}

/// What is missing, so that a job cannot be gone on with.
fn gone(id: &str, what: &str) -> Stop {
    Stop::new(Exit::WrongState, format!("job {id} cannot be gone on with: {what}")).hint("nothing was changed")
}

/// The job as it was, from its record; refused where that or what it names is not there. `goes_on`: although its
/// log says of an end, since a person has answered.
#[expect(clippy::too_many_arguments, reason = "what the record is to be put together with")]
fn restore(
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
    let mut checkout = match surroundings.checkout() {
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
    let state = &owner.state;
    let progress = &state.progress;
    let answers = progress
        .plan
        .iter()
        .map(|(file, _)| file)
        .chain(&progress.review)
        .chain(&progress.persons);
    for file in answers {
        if recorded(&owner, &file.name, &file.sha256)?.is_none() {
            let what = format!("{} of its record is not the one that its log names", file.name);
            return Err(gone(&id, &what).into());
        }
    }
    let left = left_of(&owner)?;
    let good = state.progress.good.as_ref().map(|(good, _)| good);
    // A step that is finished and not yet written down as frozen has a tree of its own, which is looked at then.
    let name = state.left.as_ref().map_or(store::FROZEN, |file| &file.name);
    let pinned = match (&state.frozen, &state.left) {
        (None, Some(_)) => None,
        (frozen, _) => frozen.as_ref().or(good),
    };
    if let (Some((tree, _)), left) = (pinned, &left) {
        let what = match left {
            None => Some(format!("{name} is not in its record")),
            Some(left) if left.tree != *tree => Some(format!("{name} names another tree than its log")),
            Some(_) if git2::Oid::from_str(tree).is_ok_and(|tree| checkout.repo.find_tree(tree).is_ok()) => None,
            Some(_) => Some(format!(
                "the tree of its candidate, {tree}, is not in this clone any more"
            )),
        };
        if let Some(what) = what {
            return Err(gone(&id, &what).into());
        }
    }
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
    checkout.git = checkout.git.marked(MARK, &places.mark());
    let confined = state.confined.clone();
    let (task_file, outbox) = (places.mark(), places.outbox());
    let mut job = Job {
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
        notices: Vec::new(),
        withheld: Vec::new(),
        last_output: String::new(),
        met_a_wall: false,
        origin,
        seats,
        task_file,
        outbox,
        suffix: String::new(),
        ready: false,
        unanswered: None,
        _lock: lock,
    };
    if let Some(left) = left {
        job.bring_back(left)?;
    }
    // Only that of the last step tells what is there now; one that is under way begins from the one before it.
    Ok(job)
}

impl Job {
    /// What an earlier owner had reached.
    /// The last candidate that is good, for a step that is made again.
    pub(super) fn bring_back_good(&mut self) -> Result<()> {
        self.frozen = None;
        self.verdict = None;
        self.left = None;
        match left_of(&self.owner)? {
            Some(left) => self.bring_back(left),
            None => Ok(()),
        }
    }

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
        if self.owner.state.gate.is_some() && self.frozen.is_some() {
            let (mut verdict, _) = self.judge_tree()?;
            settle(&mut verdict, self.checks_over());
            self.verdict = Some(verdict);
        }
        Ok(())
    }

    /// Becomes the owner, and clears away what the last one left on the disk: all that counts is in the record.
    fn take(&mut self, watch: &dyn Watch) -> Result<()> {
        let id = self.owner.folder.id.clone();
        let epoch = self.owner.next_epoch();
        let place = (epoch > 1).then(|| self.places.worktree.display().to_string());
        let attempt = self.save_attempt(epoch)?;
        if let Err(error) = self.settle_dead_home() {
            self.notices.push(format!(
                "logins that the killed agent may have renewed were not brought back: {error:#}"
            ));
        }
        self.owner.begin(place, attempt)?;
        watch.step(&format!("job {id} goes on (owner {epoch})"));
        let remains = remains::of(&self.checkout, &self.owner.state, &self.created, &id);
        if let Some(reason) = remains.locked_by_person(&id) {
            self.notices.push(format!(
                "{} was locked by a person ({reason}), so it was left where it is",
                remains.path.display()
            ));
            return Ok(());
        }
        let told = remains.remove(&id, &self.places.trash)?;
        self.notices.extend(told);
        Ok(())
    }

    /// Ends what a job that has its verdict did not come to: all but the last deletions was done before.
    fn settle_ended(&mut self, exit: Exit) -> Result<()> {
        let id = self.owner.folder.id.clone();
        if exit != Exit::Ok {
            self.write_record_ref()?;
        }
        self.copy_artifacts();
        // What waits for a person stays where it is.
        if !matches!(exit, Exit::Ok | Exit::NeedsHuman) {
            let remains = remains::of(&self.checkout, &self.owner.state, &self.created, &id);
            let told = remains.remove(&id, &self.places.trash)?;
            self.notices.extend(told);
        }
        self.remove_private();
        Ok(())
    }

    /// A job that failed in a way that nobody had planned for: what its worktree holds is in no record.
    fn left_as_it_is(&self, exit: Exit) -> Stop {
        let id = shell_words::quote(&self.owner.folder.id).into_owned();
        let agentgate = typed(&self.checkout);
        Stop::new(exit, format!("job {id} failed: {}", self.owner.state.reason))
            .hint(format!(
                "nothing was deleted: what the agent left is in {}",
                shell(&self.places.worktree)
            ))
            .hint(format!("when you have what you need: {agentgate} drop --force {id}"))
            .hint(format!("the record: {}", shell(&self.owner.folder.path)))
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

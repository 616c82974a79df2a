//! `agentgate resume`: goes on with a job whose process is gone, from its record.
//!
//! Invariants: whatever can be refused is refused before the log gets a line, so that a refused job stays as it was;
//! the old process tree is proved gone before anything else happens; what is done next is what the log says, in a
//! fresh worktree made from a tree that the log names. Nothing is taken from what a dead owner left on the disk.

mod holder;
mod persons;
mod record;

use std::path::Path;

use anyhow::{Context, Result};

use super::inputs::take_lock;
use super::prepare::Job;
use super::request::Request;
use super::{Begun, Report, finish};
use crate::commands::closing::Closing;
use crate::commands::following::{Look, Stand};
use crate::commands::remains::{Edits, Verb};
use crate::commands::{Surroundings, Watch, attach, drop, job_folder, remains, typed};
use crate::exit::{Exit, Stop};
use crate::git::refs;
use crate::git::repo::Checkout;
use crate::git::shell;
use crate::job::{Created, Event};
use crate::lock::Wait;
use crate::process::{self, signals};
use crate::store::{self, Folder, Owner, Store};
use holder::{end_owner, owned};
use persons::must_wait;
use record::restore;

pub use persons::Persons;

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

impl Job {
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
        if self.verdict.is_none() {
            // To be owned anew may bring an earlier candidate back.
            self.bring_back_verdict()?;
        }
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

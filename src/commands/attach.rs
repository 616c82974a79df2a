//! `agentgate attach`: what a job has done so far and what it does, until it ends; looking on changes nothing.

use std::path::PathBuf;

use anyhow::{Context, Result};

use super::closing::Closing;
use super::following::{Look, Stand, Tail, dead, rest};
use super::{Surroundings, answered, drop, job_folder, run, typed};
use crate::exit::Exit;
use crate::job::Event;
use crate::job::log::Line;
use crate::job::machine::{SETUP, State};
use crate::process::signals;
use crate::store::{Folder, SETUP_LOG, Store};

/// What is shown on the way.
#[derive(Clone, Copy, Debug)]
pub enum News<'a> {
    /// An event.
    Event(&'a Line),
    /// A line of what a role has answered.
    Answer(&'a str),
    /// A line of the agent's output, or of a setup command's.
    Output(&'a str),
}

/// How it came to its end.
#[derive(Clone, Debug)]
#[expect(clippy::large_enum_variant, reason = "one of these exists per process")]
pub enum Report {
    /// The job is over: what its `run` said.
    Ended {
        /// As it was kept.
        closing: Closing,
        /// What became of the job since.
        since: Option<String>,
    },
    /// The job is over, and its own words are not there: what the log says.
    Rebuilt(run::Report),
    /// A signal ended the looking on; the job goes on.
    Left {
        /// Job id.
        job_id: String,
        /// `agentgate` as it can be typed anywhere.
        agentgate: String,
        /// The signal.
        signal: i32,
    },
}

impl Report {
    /// The process's exit.
    pub fn exit(&self) -> Exit {
        match self {
            Report::Ended { closing, .. } => closing.exit(),
            Report::Rebuilt(report) => report.exit,
            Report::Left { signal, .. } => Exit::from_signal(*signal),
        }
    }
}

/// Shows all of job `id` and goes on until it is over, or until a signal.
///
/// # Errors
/// Exit 23 for a job that is not there, whose record cannot be read or whose process is gone; the error that its
/// `run` ended with.
pub fn attach(surroundings: &Surroundings, id: &str, show: &mut dyn FnMut(News<'_>)) -> Result<Report> {
    signals::install().context("cannot catch signals")?;
    let checkout = surroundings.checkout()?;
    let agentgate = typed(&checkout);
    let folder = job_folder(&Store::of(&checkout.common), id)?;
    let mut seen = 0;
    let mut output: Option<Tail> = None;
    loop {
        let look = Look::at(&folder)?;
        for line in look.after(seen) {
            if matches!(line.event, Some(Event::StepFinished { .. }))
                && let Some(output) = output.take()
            {
                output.finish(&mut |text| show(News::Output(text)));
            }
            show(News::Event(line));
            if let Some(Event::StepAnswered { file, .. }) = &line.event {
                for text in answered::lines(&folder, file) {
                    show(News::Answer(&text));
                }
            }
            if let Some(Event::StepStarted { step, call, .. }) = &line.event {
                let name = match call {
                    _ if step == SETUP => SETUP_LOG.to_owned(),
                    call => run::log_name(*call),
                };
                output = Some(Tail::of(folder.path.join(name)));
            }
            seen = line.seq;
        }
        if let Some(output) = &mut output {
            output.read(&mut |text| show(News::Output(text)));
        }
        if !matches!(look.stand, Stand::Running)
            && let Some(output) = output.take()
        {
            output.finish(&mut |text| show(News::Output(text)));
        }
        match look.stand {
            Stand::Running => {}
            Stand::Dead => return Err(dead(&agentgate, id, &look.state).into()),
            Stand::Over(exit, closing) => return ending(&folder, &look.state, exit, closing),
        }
        if let Some(signal) = signals::pending() {
            return Ok(Report::Left {
                job_id: id.to_owned(),
                agentgate,
                signal,
            });
        }
        rest();
    }
}

/// How a job that is over came to its end.
///
/// # Errors
/// The error that its run ended with.
pub fn ending(folder: &Folder, state: &State, exit: Exit, closing: Option<Closing>) -> Result<Report> {
    let Some(closing) = closing else {
        return Ok(Report::Rebuilt(rebuilt(folder, state, exit)));
    };
    if let Some(stop) = closing.error() {
        return Err(stop.into());
    }
    let later = state.dropped || (state.landed && !landed_itself(&closing));
    let since = later.then(|| drop::words(state));
    Ok(Report::Ended { closing, since })
}

/// Whether the run had landed its candidate, so that this is no news.
fn landed_itself(closing: &Closing) -> bool {
    match &closing.said {
        super::closing::Said::Report { json, .. } => !json["landed"].is_null(),
        super::closing::Said::Error { .. } => false,
    }
}

/// What the log says, where the run's own words were not kept (it was killed after its last event).
fn rebuilt(folder: &Folder, state: &State, exit: Exit) -> run::Report {
    let created = state.created.as_ref();
    let worktree = state.place().map(PathBuf::from);
    let kept = exit == Exit::Ok && !state.landed && !state.dropped;
    run::Report {
        job_id: folder.id.clone(),
        base: created.map(|created| created.base.clone()).unwrap_or_default(),
        worktree: worktree.filter(|_| kept),
        branch: kept.then(|| format!("agent/{}", folder.id)),
        commit: state.commit.clone(),
        record: folder.path.clone(),
        exit,
        reason: state.reason.clone(),
        confinement: "as the log says".to_owned(),
        narrowed: Vec::new(),
        not_covered: Vec::new(),
        findings: Vec::new(),
        checks: Vec::new(),
        warnings: Vec::new(),
        notices: vec!["its own report was not kept; this is what its log says".to_owned()],
        afterwards: Vec::new(),
        changed: state
            .frozen
            .as_ref()
            .map_or(0, |(_, changed)| usize::try_from(*changed).unwrap_or(usize::MAX)),
        next: Vec::new(),
        landed: None,
    }
}

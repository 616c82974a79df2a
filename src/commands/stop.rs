//! `agentgate stop`: ends a running job from elsewhere, as Ctrl-C would where it was started.

use std::path::PathBuf;
use std::time::{Duration, Instant};

use anyhow::{Context, Result};

use super::drop::{answers, waits, words};
use super::following::{Look, Stand, dead, rest};
use super::{Surroundings, job_folder, typed};
use crate::exit::{Exit, Stop};
use crate::process::{Found, ProcessId};
use crate::store::{Folder, Store};

/// How long a job may take to end: the agent's grace, the evidence, the removal. See `run`.
const LONGEST: Duration = Duration::from_secs(45);
/// How long its process may stand still before it is said so.
const STILL: Duration = Duration::from_secs(3);
/// How long a job that was just made may be without an owner's name.
const UNNAMED: Duration = Duration::from_secs(3);
/// SIGINT
const INTERRUPT: i32 = 2;

/// How the job ended.
#[derive(Clone, Debug)]
pub struct Report {
    /// Job id.
    pub job_id: String,
    /// What its `run` returned.
    pub exit: Exit,
    /// Why, one line.
    pub reason: String,
    /// Where the record is.
    pub record: PathBuf,
}

/// Ends job `id` and waits until it is over.
///
/// # Errors
/// Exit 23 for a job that is not there, is over already or whose process is gone; 13 for one that does not end.
pub fn stop(surroundings: &Surroundings, id: &str) -> Result<Report> {
    let checkout = surroundings.checkout()?;
    let agentgate = typed(&checkout);
    let folder = job_folder(&Store::of(&checkout.common), id)?;
    let (owner, process) = running(&folder, &agentgate)?;
    process
        .signal(INTERRUPT)
        .with_context(|| format!("cannot end job {id} (pid {})", owner.pid))?;
    let started = Instant::now();
    let mut still: Option<Instant> = None;
    let quoted = shell_words::quote(id);
    loop {
        let look = Look::at(&folder)?;
        match look.stand {
            Stand::Running => {}
            Stand::Dead => return Err(dead(&agentgate, id, &look.state).into()),
            Stand::Over(exit, _) => {
                return Ok(Report {
                    job_id: id.to_owned(),
                    exit,
                    reason: look.state.reason,
                    record: folder.path,
                });
            }
        }
        still = owner.is_stopped().then(|| still.unwrap_or_else(Instant::now));
        if still.is_some_and(|since| since.elapsed() >= STILL) {
            return Err(Stop::new(
                Exit::Locked,
                format!(
                    "job {id} was told to end, but its process is stopped (pid {})",
                    owner.pid
                ),
            )
            .hint(format!("kill -CONT {} lets it go on, and it ends then", owner.pid))
            .hint(format!("{agentgate} wait {quoted} waits for its end"))
            .into());
        }
        if started.elapsed() >= LONGEST {
            return Err(Stop::new(
                Exit::Locked,
                format!(
                    "job {id} was told to end and has not after {} s (pid {})",
                    LONGEST.as_secs(),
                    owner.pid
                ),
            )
            .hint(format!("{agentgate} wait {quoted} waits on"))
            .hint(format!(
                "kill -KILL {} ends it at once, and nothing more is saved; then {agentgate} drop {quoted}",
                owner.pid
            ))
            .into());
        }
        rest();
    }
}

/// The process that owns a running job, held so that it cannot become another one.
fn running(folder: &Folder, agentgate: &str) -> Result<(ProcessId, Found)> {
    let id = &folder.id;
    let started = Instant::now();
    loop {
        let look = Look::at(folder)?;
        if look.state.ended.is_some() {
            let quoted = shell_words::quote(id);
            let stop = Stop::new(Exit::WrongState, format!("job {id} is over: {}", words(&look.state)));
            return Err(match waits(&look.state) {
                true => stop
                    .hint(answers(agentgate, id))
                    .hint(format!("{agentgate} drop {quoted} gives it up")),
                false => stop.hint(format!("{agentgate} attach {quoted} shows how it ended")),
            }
            .into());
        }
        if matches!(look.stand, Stand::Dead) {
            return Err(dead(agentgate, id, &look.state).into());
        }
        if let Some(owner) = &look.owner
            && let Some(process) = owner.open().context("cannot open its process")?
        {
            return Ok((owner.clone(), process));
        }
        // It runs by its lock: made this moment, ending this moment, or out of our sight.
        if started.elapsed() >= UNNAMED {
            let pid = look
                .owner
                .map_or_else(String::new, |owner| format!(" (pid {} there)", owner.pid));
            return Err(Stop::new(
                Exit::Locked,
                format!("job {id} is at work in a process that cannot be seen from here{pid}"),
            )
            .hint("end it where it was started: in its container, or on the machine that shares this folder")
            .into());
        }
        rest();
    }
}

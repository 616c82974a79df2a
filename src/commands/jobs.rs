//! `agentgate status` and `agentgate log`: readers that take no lock and repair nothing.

use std::path::PathBuf;

use anyhow::{Context, Result};
use serde_json::{Map, Value};

use super::following::{self, Look, Stand};
use super::{Surroundings, drop, job_folder, typed};
use crate::exit::{Exit, Stop};
use crate::git::worktree::Worktree;
use crate::git::worktree::{self, Listed};
use crate::job::log::{self, Line};
use crate::job::machine::{self, State, Step};
use crate::lock::{CloneLock, Holder};
use crate::store::{Folder, Store};

/// One job of this clone.
#[derive(Clone, Debug)]
pub struct Row {
    /// Job id.
    pub id: String,
    /// `running`, `kept`, `landed`, `dropped`, `refused`, `failed`, `interrupted`, `dead` (its
    /// owner is gone and it never finished) or `unreadable`.
    pub state: String,
    /// Exit code, once it ended.
    pub exit: Option<u8>,
    /// Base commit.
    pub base: String,
    /// Seconds since it was created.
    pub age: Option<i64>,
    /// The goal.
    pub goal: String,
    /// The worktree, if it is there.
    pub worktree: Option<PathBuf>,
    /// Whether a process owns it now, by its lock.
    pub owned: bool,
    /// What is under way, or went wrong.
    pub detail: String,
}

/// All jobs of the clone, oldest first.
#[derive(Clone, Debug)]
pub struct Status {
    /// Top folder of the clone.
    pub clone: PathBuf,
    /// Who holds the clone lock, if they live.
    pub holder: Option<Holder>,
    /// The same in words; also of a holder that is no job.
    pub in_use: Option<String>,
    /// The jobs.
    pub jobs: Vec<Row>,
    /// The clone's worktrees, whoever made them, the main checkout first.
    pub worktrees: Vec<Listed>,
}

/// Lists the jobs.
pub fn status(surroundings: &Surroundings) -> Result<Status> {
    let checkout = surroundings.checkout()?;
    let store = Store::of(&checkout.common);
    let mut jobs = Vec::new();
    for id in store.ids()? {
        if let Some(folder) = store.find(&id)? {
            jobs.push(row(&folder));
        }
    }
    jobs.sort_by(|a, b| b.age.cmp(&a.age).then_with(|| a.id.cmp(&b.id)));
    Ok(Status {
        clone: checkout.clone.clone(),
        holder: CloneLock::holder(&checkout.common),
        in_use: CloneLock::in_use(&checkout.common),
        jobs,
        worktrees: worktree::list(&checkout.git, &checkout.common)?,
    })
}

fn row(folder: &Folder) -> Row {
    // A job that cannot be looked at must not hide the others.
    let (owned, trouble) = match folder.is_owned() {
        Ok(owned) => (owned, None),
        Err(error) => (false, Some(error)),
    };
    let mut row = Row {
        id: folder.id.clone(),
        state: "unreadable".into(),
        exit: None,
        base: String::new(),
        age: None,
        goal: String::new(),
        worktree: None,
        owned,
        detail: String::new(),
    };
    let log = match trouble.map_or_else(|| folder.log(), Err) {
        Ok(log) if !log.lines.is_empty() => log,
        Ok(_) => {
            row.detail = "its log is empty: it ended before it began".into();
            return row;
        }
        Err(error) => {
            row.detail = format!("{error:#}");
            return row;
        }
    };
    let state = log
        .lines
        .iter()
        .filter_map(|line| line.event.as_ref())
        .fold(State::default(), machine::fold);
    row.age = log
        .lines
        .first()
        .and_then(|line| line.at.parse::<jiff::Timestamp>().ok())
        .map(|at| jiff::Timestamp::now().as_second() - at.as_second());
    row.exit = state.ended.map(Exit::code);
    row.state = state_word(&state, owned).into();
    row.detail = match state.ended {
        None if owned => still_words(&log, &folder.id).unwrap_or_else(|| step_words(&machine::next(&state)).into()),
        None if state.dropped => "its process was gone, and what it left is removed".into(),
        None => "its process is gone; agentgate resume goes on with it, agentgate drop removes what it left".into(),
        Some(Exit::Ok) => String::new(),
        Some(_) => state.reason.clone(),
    };
    if let Some((path, admin)) = &state.worktree {
        let (path, admin) = (PathBuf::from(path), PathBuf::from(admin));
        let worktree = Worktree { path, admin };
        if worktree.is_ours(&folder.id)
            && let Some(reason) = worktree.locked_by_person(&folder.id)
        {
            row.detail = format!("locked by a person: {reason}");
        }
    }
    if let Some(created) = state.created {
        row.base = created.base;
        row.goal = created.goal;
        let places = state.places.iter().rev().map(PathBuf::from);
        row.worktree = places.into_iter().find(|path| path.is_dir());
    }
    row
}

/// What is said of a running job whose process was stopped: nothing goes on in it.
fn still_words(log: &log::Log, id: &str) -> Option<String> {
    let events = log.lines.iter().filter_map(|line| line.event.as_ref());
    let owner = events.filter_map(following::owner_of).next_back()?;
    (owner.alive() && owner.is_stopped()).then(|| {
        format!(
            "its process is stopped (pid {pid}) and stands still; kill -CONT {pid} lets it go on, agentgate resume {} \
             --take-over ends it and goes on in its place",
            shell_words::quote(id),
            pid = owner.pid
        )
    })
}

fn state_word(state: &State, owned: bool) -> &'static str {
    match state.ended {
        _ if state.landed => "landed",
        _ if state.dropped => "dropped",
        None if owned => "running",
        None => "dead",
        Some(Exit::Ok) => "kept",
        Some(Exit::NeedsHuman) => "needs-human",
        Some(Exit::Hangup | Exit::Interrupted | Exit::Terminated) => "interrupted",
        Some(exit) if state.gate.is_some_and(|gate| gate == exit.code()) => "refused",
        Some(_) => "failed",
    }
}

fn step_words(step: &Step) -> &'static str {
    match step {
        Step::Preflight => "preflight",
        Step::AddWorktree => "adding the worktree",
        Step::Call(_) | Step::Retry { .. } => "the agent is at work",
        Step::Freeze => "freezing",
        Step::Judge => "at the gate",
        Step::Commit | Step::Keep => "committing",
        Step::End(_) | Step::NeedsHuman(_) => "saving the record",
        Step::Done(_) => "done",
    }
}

/// A job's events.
#[derive(Clone, Debug)]
pub struct Log {
    /// Job id.
    pub job_id: String,
    /// Folder of the record.
    pub record: PathBuf,
    /// The events asked for.
    pub lines: Vec<Line>,
    /// Files of the record beside the log.
    pub files: Vec<String>,
    /// How it ended, once it did.
    pub ended: Option<Exit>,
    /// Bytes of a torn last line that were passed over.
    pub torn: u64,
    /// What it is now.
    pub words: String,
}

/// The events of job `id` after `since`; none where there are none.
pub fn log(surroundings: &Surroundings, id: &str, since: u64) -> Result<Log> {
    let checkout = surroundings.checkout()?;
    let folder = job_folder(&Store::of(&checkout.common), id)?;
    let log = folder.log().map_err(|error| {
        Stop::new(
            Exit::WrongState,
            format!("the record of job {id} cannot be read: {error:#}"),
        )
    })?;
    let state = log
        .lines
        .iter()
        .filter_map(|line| line.event.as_ref())
        .fold(State::default(), machine::fold);
    let mut files: Vec<String> = std::fs::read_dir(&folder.path)
        .with_context(|| format!("cannot list {}", folder.path.display()))?
        .filter_map(Result::ok)
        .map(|entry| entry.file_name().to_string_lossy().into_owned())
        .filter(|name| name != "owner.lock")
        .collect();
    files.sort();
    Ok(Log {
        job_id: id.to_owned(),
        record: folder.path.clone(),
        torn: log.torn_bytes,
        lines: log.lines.into_iter().filter(|line| line.seq > since).collect(),
        files,
        ended: state.ended,
        words: match state.ended {
            // Whether it runs, only its lock says; a reader takes none.
            None if !state.dropped => "it has not finished".into(),
            _ => drop::words(&state),
        },
    })
}

/// Shows the events of job `id` after `since` as they come, until its run is over, its process is gone, or
/// nobody reads any more, which `show` and `rest`, a moment's wait, say by `false`. What comes back has no events left in it; `None` where
/// nobody reads.
///
/// # Errors
/// As [`log()`]; what `show` fails with.
pub fn follow(
    surroundings: &Surroundings,
    id: &str,
    since: u64,
    show: &mut dyn FnMut(&Line) -> Result<bool>,
    rest: &mut dyn FnMut() -> bool,
) -> Result<Option<Log>> {
    let checkout = surroundings.checkout()?;
    let folder = job_folder(&Store::of(&checkout.common), id)?;
    let mut seen = since;
    loop {
        let look = Look::at(&folder)?;
        for line in look.after(seen) {
            if !show(line)? {
                return Ok(None);
            }
            seen = line.seq;
        }
        match look.stand {
            Stand::Running if rest() => {}
            Stand::Running => return Ok(None),
            Stand::Over(..) => return log(surroundings, id, seen).map(Some),
            Stand::Dead => {
                let mut left = log(surroundings, id, seen)?;
                left.words = following::dead(&typed(&checkout), id, &look.state).message;
                return Ok(Some(left));
            }
        }
    }
}

/// The fields of a line that a person wants to see beside time and kind.
pub fn details(json: &Map<String, Value>) -> Vec<(String, String)> {
    const HEAD: &[&str] = &["v", "seq", "epoch", "at", "job", "event", "sum"];
    json.iter()
        .filter(|(key, _)| !HEAD.contains(&key.as_str()))
        .map(|(key, value)| {
            let shown = match value {
                Value::String(text) => text.clone(),
                Value::Object(file) if file.contains_key("sha256") => {
                    format!(
                        "{} ({} bytes)",
                        file["name"].as_str().unwrap_or_default(),
                        file["bytes"]
                    )
                }
                other => other.to_string(),
            };
            (key.clone(), shown)
        })
        .collect()
}

//! How a job stands, for whoever looks on: read again and again, without a lock and without repairs.
//!
//! A job is over when its run is, and not when its last event is written: removing, landing and copying come
//! after that.

use std::fs::File;
use std::io::Read;
use std::os::unix::fs::OpenOptionsExt;
use std::path::PathBuf;

use anyhow::Result;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fs::OFlags;

use super::closing::Closing;
use super::drop::{with_ways_out, words};
use crate::exit::{Exit, Stop};
use crate::files;
use crate::job::Event;
use crate::job::log::{Damaged, Line, Log};
use crate::job::machine::{self, State};
use crate::process::{self, ProcessId, signals};
use crate::store::Folder;

/// Between two looks.
pub const LOOK: Timespec = Timespec {
    tv_sec: 0,
    tv_nsec: 50_000_000,
};
/// A line of output that is longer is shown in pieces.
const LONGEST: usize = 8 << 10;
/// Most of an output that is read at once.
const CHUNK: u64 = 1 << 20;

/// How a job stands.
#[derive(Debug)]
pub enum Stand {
    /// Its run goes on.
    Running,
    /// Its run is over, with what it said, where that was kept.
    Over(Exit, Option<Closing>),
    /// Its process is gone, and it never ended.
    Dead,
}

/// One look at a job.
#[derive(Debug)]
pub struct Look {
    /// Its events.
    pub log: Log,
    /// What they come to.
    pub state: State,
    /// Who owns it, or did.
    pub owner: Option<ProcessId>,
    /// How it stands.
    pub stand: Stand,
}

impl Look {
    /// Looks at a job.
    ///
    /// # Errors
    /// Exit 23 where its record cannot be read.
    pub fn at(folder: &Folder) -> Result<Look> {
        let mut look = Look::read(folder)?;
        // Between our reading and our asking it may have ended: only what is written after that is the last word.
        if !matches!(look.stand, Stand::Running) {
            look = Look::read(folder)?;
        }
        Ok(look)
    }

    fn read(folder: &Folder) -> Result<Look> {
        let unreadable = |error: anyhow::Error| {
            let what = format!("the record of job {} cannot be read: {error:#}", folder.id);
            let stop = Stop::new(Exit::WrongState, what);
            match error.is::<Damaged>() {
                true => with_ways_out(stop, &folder.id),
                false => stop,
            }
        };
        let log = folder.log().map_err(unreadable)?;
        let events = || log.lines.iter().filter_map(|line| line.event.as_ref());
        let state = events().fold(State::default(), machine::fold);
        let owner = events().filter_map(owner_of).next_back();
        let closing = match state.ended {
            Some(_) => Closing::of(folder, &log).map_err(unreadable)?,
            None => None,
        };
        let is_at_work = || -> Result<bool> {
            Ok(owner.as_ref().is_some_and(ProcessId::alive) || folder.is_owned().map_err(unreadable)?)
        };
        let stand = match (state.ended, closing) {
            (Some(_), Some(closing)) => Stand::Over(closing.exit(), Some(closing)),
            // Dead, and given up by `drop`.
            (None, _) if state.dropped => Stand::Dead,
            _ if is_at_work()? => Stand::Running,
            (Some(exit), None) => Stand::Over(exit, None),
            (None, _) => Stand::Dead,
        };
        Ok(Look {
            log,
            state,
            owner,
            stand,
        })
    }

    /// The events after this one that are whole. A line that still lacks its newline is not, as long as
    /// somebody may be writing it.
    pub fn after(&self, seq: u64) -> impl Iterator<Item = &Line> {
        let written = matches!(self.stand, Stand::Running) && self.log.unterminated;
        let whole = self.log.lines.len() - usize::from(written);
        self.log.lines[..whole].iter().filter(move |line| line.seq > seq)
    }
}

/// The process that an event says has the job.
pub fn owner_of(event: &Event) -> Option<ProcessId> {
    match event {
        Event::Owned {
            pid,
            start_time,
            boot_id,
            ..
        } => Some(ProcessId {
            pid: i32::try_from(*pid).ok()?,
            start_time: *start_time,
            boot_id: boot_id.clone(),
        }),
        _ => None,
    }
}

/// What is said of a job whose process is gone.
pub fn dead(agentgate: &str, id: &str, state: &State) -> Stop {
    let quoted = shell_words::quote(id);
    let stop = if state.dropped {
        Stop::new(
            Exit::WrongState,
            format!("job {id} never finished, and {}", words(state)),
        )
    } else {
        Stop::new(
            Exit::WrongState,
            format!("job {id} is dead: its process is gone, and it never finished"),
        )
        .hint(format!("{agentgate} resume {quoted} goes on from its last finished step"))
        .hint(format!(
            "{agentgate} drop {quoted} removes what it left; where that has changes it says so, and --force drops them too"
        ))
    };
    stop.hint(format!("{agentgate} log {quoted} shows how far it came"))
}

/// Waits a moment, or until a signal comes that is caught.
pub fn rest() {
    let signals = signals::descriptors();
    let fds = signals.iter().map(|fd| PollFd::from_borrowed_fd(*fd, PollFlags::IN));
    let _ = poll(&mut fds.collect::<Vec<_>>(), Some(&LOOK));
}

/// A file of output, read as it grows.
#[derive(Debug)]
pub struct Tail {
    path: PathBuf,
    file: Option<File>,
    /// A line that is not ended yet.
    rest: Vec<u8>,
}

impl Tail {
    /// From its beginning. It need not exist yet.
    pub fn of(path: PathBuf) -> Tail {
        Tail {
            path,
            file: None,
            rest: Vec::new(),
        }
    }

    /// Shows what has come since, whole lines only, without what would steer a terminal.
    pub fn read(&mut self, show: &mut dyn FnMut(&str)) {
        if self.file.is_none() {
            let flags = OFlags::NOFOLLOW | OFlags::NONBLOCK;
            let opened = std::fs::OpenOptions::new()
                .read(true)
                .custom_flags(flags.bits().cast_signed())
                .open(&self.path);
            self.file = opened.and_then(files::regular).ok();
        }
        let Some(file) = &mut self.file else { return };
        loop {
            let mut bytes = Vec::new();
            if file.take(CHUNK).read_to_end(&mut bytes).is_err() || bytes.is_empty() {
                return;
            }
            for piece in bytes.split_inclusive(|&byte| byte == b'\n' || byte == b'\r') {
                self.rest.extend_from_slice(piece);
                let ended = self.rest.last().is_some_and(|&byte| byte == b'\n' || byte == b'\r');
                if ended || self.rest.len() >= LONGEST {
                    show_line(&mut self.rest, show);
                }
            }
        }
    }

    /// The same to its end: nothing more will come.
    pub fn finish(mut self, show: &mut dyn FnMut(&str)) {
        self.read(show);
        show_line(&mut self.rest, show);
    }
}

fn show_line(line: &mut Vec<u8>, show: &mut dyn FnMut(&str)) {
    let text = process::printable(line);
    if !text.trim().is_empty() {
        show(text.trim_end());
    }
    line.clear();
}

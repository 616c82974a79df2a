//! A job that outlives the command which started it: this program again, in a session of its own.
//!
//! The child does all that a run in the foreground does, with the caller's standard output and error, so
//! that what is refused at the start is refused in the same words and with the same code. Once its job is
//! durable it leaves: no terminal, nothing of the caller's open, no parent that it dies with. Until then the
//! caller's end is its own, and the caller's signals are passed on to it.

use std::ffi::OsString;
use std::os::fd::OwnedFd;
use std::os::unix::process::CommandExt;
use std::process::{Child, Command, Stdio};

use anyhow::Context;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fs::{Mode, OFlags};
use rustix::io::{Errno, fcntl_dupfd_cloexec, ioctl_fionbio};
use rustix::pipe::{PipeFlags, pipe_with};
use rustix::process::{Pid, PidfdFlags, Signal, pidfd_open, pidfd_send_signal};
use rustix::stdio::{dup2_stderr, dup2_stdin, dup2_stdout, stdin};

use super::outcome::Status;
use super::signals;
use super::tool::SELF;
use crate::confine::sys;
use crate::exit::{Exit, Stop};

/// The hidden subcommand; the words of the command line follow it.
pub const COMMAND: &str = "__detached";

/// How the start went.
#[derive(Debug)]
pub enum Start {
    /// It left, and this is what it said at its leave.
    Left(Vec<u8>),
    /// It ended before it left, or for a signal of the caller's.
    Ended(Status),
}

/// Starts this program again with these arguments and waits until it has left or ended.
pub fn start(args: &[OsString]) -> anyhow::Result<Start> {
    signals::install().context("cannot catch signals")?;
    let (reader, writer) = pipe_with(PipeFlags::CLOEXEC).context("make a pipe")?;
    ioctl_fionbio(&reader, true)?;
    // A shell that reads our output waits until the last one who has it has closed it, and who knows what
    // else it has open.
    sys::close_above_stderr_at_exec().context("close what was inherited")?;
    #[expect(clippy::disallowed_methods, reason = "the door: a job that goes on by itself")]
    let mut command = Command::new(SELF);
    command.arg0("agentgate").arg(COMMAND).args(args);
    // It reads nothing: this is where it speaks to us.
    let mut child = command
        .stdin(Stdio::from(writer))
        .spawn()
        .context("start agentgate again")?;
    drop(command);
    attend(&mut child, &reader)
}

fn attend(child: &mut Child, reader: &OwnedFd) -> anyhow::Result<Start> {
    let process = pidfd_open(Pid::from_child(child), PidfdFlags::empty()).context("open the process")?;
    let mut told = Vec::new();
    let mut open = true;
    let mut passed_on = 0;
    loop {
        let mut buffer = [0; 4096];
        while open {
            match rustix::io::read(reader, &mut buffer) {
                Ok(0) => open = false,
                Ok(read) => told.extend_from_slice(&buffer[..read]),
                Err(Errno::INTR) => {}
                Err(_) => break,
            }
        }
        // What was told to end stays ours until it has; by a hang-up alone a job is not.
        let told_to_end = passed_on > 0 && signals::pending() != Some(signal_hook::consts::SIGHUP);
        if told.ends_with(b"\n") && !told_to_end {
            return Ok(Start::Left(told));
        }
        if let Some(status) = child.try_wait().context("wait for agentgate")? {
            return Ok(Start::Ended(Status::of(status)));
        }
        if let Some(signal) = signals::pending().and_then(Signal::from_named_raw) {
            while passed_on < signals::count() {
                passed_on += 1;
                let _ = pidfd_send_signal(&process, signal);
            }
        }
        let signals = signals::descriptors();
        let mut fds = vec![PollFd::new(&process, PollFlags::IN)];
        fds.extend(open.then(|| PollFd::new(reader, PollFlags::IN)));
        fds.extend(signals.iter().map(|fd| PollFd::from_borrowed_fd(*fd, PollFlags::IN)));
        match poll(&mut fds, None) {
            Ok(_) | Err(Errno::INTR) => {}
            Err(error) => return Err(error).context("wait for agentgate"),
        }
    }
}

/// The child's side: what it needs to leave.
#[derive(Debug)]
pub struct Leave {
    caller: OwnedFd,
    null: OwnedFd,
}

impl Leave {
    /// Begins a session of its own. To be called first, before anything is opened.
    ///
    /// # Errors
    /// Exit 143 where the caller is gone already.
    pub fn prepare() -> anyhow::Result<Leave> {
        signals::install().context("cannot catch signals")?;
        rustix::process::setsid().context("begin a session")?;
        let null =
            rustix::fs::open("/dev/null", OFlags::RDWR | OFlags::CLOEXEC, Mode::empty()).context("open /dev/null")?;
        let caller = fcntl_dupfd_cloexec(stdin(), 3).context("keep the way to the caller")?;
        dup2_stdin(&null).context("close standard input")?;
        // Nobody but the caller knows that we wait for a lock; and it cannot tell us once it is killed.
        rustix::process::set_parent_process_death_signal(Some(Signal::TERM))?;
        let mut fds = [PollFd::new(&caller, PollFlags::empty())];
        if poll(&mut fds, Some(&Timespec::default()))? > 0 {
            return Err(Stop::new(Exit::Terminated, "the command that started it is gone").into());
        }
        Ok(Leave { caller, null })
    }

    /// Leaves, and tells the caller. False, and nothing is done, where a signal has come by now: then the
    /// caller waits for the end.
    pub fn leave(self, words: &[u8]) -> anyhow::Result<bool> {
        if signals::pending().is_some() {
            return Ok(false);
        }
        rustix::process::set_parent_process_death_signal(None)?;
        // Whoever wants to unmount or delete the caller's folder can.
        std::env::set_current_dir("/").context("enter /")?;
        dup2_stdout(&self.null).context("close standard output")?;
        dup2_stderr(&self.null).context("close standard error")?;
        let mut rest = words;
        while !rest.is_empty() {
            match rustix::io::write(&self.caller, rest) {
                Ok(written) => rest = &rest[written..],
                Err(Errno::INTR) => {}
                // Nobody will hear it; `status` lists the job.
                Err(_) => break,
            }
        }
        Ok(true)
    }
}

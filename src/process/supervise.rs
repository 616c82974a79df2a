//! The loop that watches an agent. One thread, one poll(2): the output pipe, the agent's process,
//! our signals and, with `--verbose`, our standard error.

use std::collections::HashSet;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::time::{Duration, Instant};

use anyhow::bail;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;

use super::agent_run::{Ending, Progress};
use super::identity::Stat;
use super::output::{Echo, Output};
use super::signals;
use super::stub::Report;
use super::tree::{self, END, Key, STORM, Tree};

/// Between two calls of the tick function.
const TICK: Duration = Duration::from_millis(100);
/// Between two walks for orphans that ended while the agent works.
const REAP: Duration = Duration::from_secs(1);
/// Between two walks while the tree is being ended.
const WALK: Duration = Duration::from_millis(10);
/// What is about to end by itself when the agent does is no daemon.
pub(super) const SETTLE: Duration = Duration::from_millis(50);
/// Time for daemons between SIGTERM and SIGKILL once the agent itself has ended.
pub(super) const DAEMON_GRACE: Duration = Duration::from_millis(500);

const CHUNK: usize = 64 << 10;
/// Chunks that are read before the clock is looked at again.
const BURST: usize = 16;
/// Chunks that are read once nothing is left of the agent: more than any pipe holds, and an end,
/// should a process that is none of ours write into it.
pub(super) const DRAIN: usize = 256;
/// Longest wait for a reader of our standard error at the end.
pub(super) const FLUSH: Duration = Duration::from_secs(2);

pub(super) struct Supervisor {
    pub tree: Tree,
    pub leader: OwnedFd,
    /// What the stub reports.
    pub report: OwnedFd,
    /// What it has reported so far.
    pub reported: Vec<u8>,
    /// `None` once every writer has closed it.
    pub pipe: Option<OwnedFd>,
    pub output: Output,
    pub echo: Echo,
    pub started: Instant,
    pub limit: Option<Duration>,
    pub idle: Option<Duration>,
    /// When it last wrote something, or could have without being read.
    pub heard: Instant,
    pub grace: Duration,
    /// Why we ended it, if we did.
    pub cause: Option<Ending>,
    pub leftovers: HashSet<Key>,
    pub ticked: Option<Instant>,
}

/// The order of the end.
struct End {
    terminate_at: Instant,
    kill_at: Instant,
    give_up_at: Instant,
    /// Signals received when it began; one more cuts the grace short.
    signals: usize,
    told: HashSet<Key>,
    killing: bool,
}

impl End {
    fn after(settle: Duration, grace: Duration) -> End {
        let terminate_at = Instant::now() + settle;
        let kill_at = terminate_at + grace;
        let (signals, told) = (signals::count(), HashSet::new());
        End {
            terminate_at,
            kill_at,
            give_up_at: kill_at + END,
            signals,
            told,
            killing: false,
        }
    }
}

impl Supervisor {
    /// Until nothing is left of the agent.
    pub fn supervise(&mut self, tick: &mut dyn FnMut(&Progress<'_>)) -> anyhow::Result<()> {
        let mut end = self.watch(tick)?;
        let mut walked: Option<Instant> = None;
        loop {
            if walked.is_none_or(|at| at.elapsed() >= WALK) {
                if self.end_pass(&mut end)? {
                    return Ok(());
                }
                walked = Some(Instant::now());
            }
            self.wait(WALK, Watch::Output)?;
            self.read_output(BURST);
            self.tick(tick);
        }
    }

    /// Until the agent ends by itself or has to be ended; how to go on from there.
    fn watch(&mut self, tick: &mut dyn FnMut(&Progress<'_>)) -> anyhow::Result<End> {
        let mut reaped = Instant::now();
        loop {
            // Its own end goes first: an agent that just made it has made it.
            if self.tree.status()?.is_some() {
                return Ok(End::after(SETTLE, DAEMON_GRACE));
            }
            if let Some(signal) = signals::pending() {
                self.cause = Some(Ending::Interrupted(signal));
                let grace = if signals::count() > 1 {
                    Duration::ZERO
                } else {
                    self.grace
                };
                return Ok(End::after(Duration::ZERO, grace));
            }
            let left = self.limit.map(|limit| limit.saturating_sub(self.started.elapsed()));
            if left == Some(Duration::ZERO) {
                self.cause = Some(Ending::TimedOut);
                return Ok(End::after(Duration::ZERO, self.grace));
            }
            let quiet = self.quiet_left();
            if let (Some(idle), Some(Duration::ZERO)) = (self.idle, quiet) {
                self.cause = Some(Ending::Silent(idle));
                return Ok(End::after(Duration::ZERO, self.grace));
            }
            let left = [left, quiet].into_iter().flatten().min();
            self.tree.reap_quickly()?;
            if reaped.elapsed() >= REAP {
                self.tree.reap()?;
                reaped = Instant::now();
            }
            self.tick(tick);
            self.wait(left.map_or(TICK, |left| left.min(TICK)), Watch::Everything)?;
            if !self.echo.is_full() {
                self.read_output(BURST);
            }
        }
    }

    /// How much longer it may be silent. `Instant` stands still while the machine is suspended.
    fn quiet_left(&mut self) -> Option<Duration> {
        let idle = self.idle?;
        // While nobody reads our standard error nobody reads its output either: that is no silence
        // of its own.
        if self.echo.is_full() {
            self.heard = Instant::now();
        } else if self.heard.elapsed() >= idle {
            // We may have been held up ourselves, and what it wrote meanwhile waits in the pipe.
            self.read_output(BURST);
        }
        Some(idle.saturating_sub(self.heard.elapsed()))
    }

    /// One step of ending the tree. True when nothing is left.
    fn end_pass(&mut self, end: &mut End) -> anyhow::Result<bool> {
        if Instant::now() < end.kill_at && signals::count() == end.signals {
            let Some(left) = self.tree.look()? else {
                return Ok(true);
            };
            if Instant::now() >= end.terminate_at {
                self.note_leftovers(&left)?;
                for process in left.iter().filter(|process| end.told.insert(tree::key(process))) {
                    tree::terminate(process);
                }
            }
            return Ok(false);
        }
        if !end.killing {
            end.killing = true;
            end.give_up_at = Instant::now() + END;
            // Who was told is noted; another walk would only give a storm time.
            if end.told.is_empty() {
                let Some(left) = self.tree.look()? else {
                    return Ok(true);
                };
                self.note_leftovers(&left)?;
            }
        }
        self.read_report();
        if self.tree.kill()? > 0 {
            // What still finds somebody who lives has not failed yet.
            end.give_up_at = end.give_up_at.max(Instant::now() + END).min(end.kill_at + STORM);
        }
        if self.tree.emptied()? {
            return Ok(true);
        }
        if Instant::now() >= end.give_up_at {
            let Some(left) = self.tree.look()? else {
                return Ok(true);
            };
            let pids: Vec<String> = left.iter().map(|process| process.pid.to_string()).collect();
            self.tree.abandon();
            bail!("processes of the agent cannot be ended (pid {})", pids.join(", "));
        }
        Ok(false)
    }

    /// Whoever is left once the agent itself has ended.
    fn note_leftovers(&mut self, left: &[Stat]) -> anyhow::Result<()> {
        if self.tree.status()?.is_some() {
            let others = left.iter().filter(|process| self.tree.is_other(process));
            self.leftovers.extend(others.map(tree::key));
        }
        Ok(())
    }

    /// Waits for something to do, and passes output on to standard error.
    fn wait(&mut self, at_most: Duration, watch: Watch) -> anyhow::Result<()> {
        let stderr = rustix::stdio::stderr();
        let signals: Vec<BorrowedFd<'_>> = signals::descriptors();
        if self.echo.is_waiting() && super::terminal_is_gone(stderr) {
            self.echo.close();
        }
        let mut fds = Vec::new();
        if self.echo.is_waiting() {
            fds.push(PollFd::new(&stderr, PollFlags::OUT));
        }
        let echoing = !fds.is_empty();
        if watch == Watch::Everything {
            fds.push(PollFd::from_borrowed_fd(self.leader.as_fd(), PollFlags::IN));
        }
        fds.extend(signals.iter().map(|fd| PollFd::from_borrowed_fd(*fd, PollFlags::IN)));
        if let Some(pipe) = &self.pipe
            && !(watch == Watch::Everything && self.echo.is_full())
        {
            fds.push(PollFd::from_borrowed_fd(pipe.as_fd(), PollFlags::IN));
        }
        match poll(&mut fds, Some(&Timespec::try_from(at_most)?)) {
            Ok(_) | Err(Errno::INTR) => {}
            Err(error) => return Err(error.into()),
        }
        let writable = echoing && !fds[0].revents().is_empty();
        drop(fds);
        if writable {
            self.echo.write_some();
        }
        Ok(())
    }

    /// Reads what is in the pipe without waiting, up to `chunks` pieces. The end of the file is
    /// never waited for: a process that outlives the agent may hold the pipe open.
    pub fn read_output(&mut self, chunks: usize) {
        let mut buffer = vec![0; CHUNK];
        for _ in 0..chunks {
            let Some(pipe) = &self.pipe else { return };
            match rustix::io::read(pipe, &mut buffer) {
                Ok(0) => self.pipe = None,
                Ok(read) => {
                    self.heard = Instant::now();
                    self.output.add(&buffer[..read]);
                    self.echo.add(&buffer[..read]);
                }
                Err(Errno::INTR) => {}
                Err(_) => return,
            }
        }
    }

    /// Reads what the stub has reported by now.
    pub fn read_report(&mut self) {
        let mut buffer = [0; 64];
        while let Ok(read @ 1..) = rustix::io::read(&self.report, &mut buffer) {
            self.reported.extend_from_slice(&buffer[..read]);
        }
        if let Some(agent) = Report::group(&self.reported) {
            self.tree.set_group(agent);
        }
    }

    fn tick(&mut self, tick: &mut dyn FnMut(&Progress<'_>)) {
        if self.ticked.is_none_or(|at| at.elapsed() >= TICK) {
            self.ticked = Some(Instant::now());
            let last_line = self.output.last_line();
            let (elapsed, output_bytes) = (self.started.elapsed(), self.output.total());
            tick(&Progress {
                elapsed,
                last_line: &last_line,
                output_bytes,
            });
        }
    }
}

/// What [`Supervisor::wait`] looks at.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Watch {
    /// All, and the pipe only while its output can be passed on.
    Everything,
    /// Not the agent's own process, which may have ended already.
    Output,
}

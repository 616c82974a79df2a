//! Who stays beside the agent, so that nothing of it outlives agentgate.
//!
//! With a PID namespace: the stub outside ([`as_outside`]) and the first process inside. agentgate gone,
//! the kernel kills the stub; the stub gone, it kills the first process; and with that one the whole
//! namespace, daemons included. Without: the stub is a child subreaper that watches agentgate by a
//! descriptor and ends all that is left, with waitpid = ECHILD as the only proof.

use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use rustix::pipe::{PipeFlags, pipe_with};
use rustix::process::{Pid, PidfdFlags, Signal, WaitOptions, pidfd_open, set_child_subreaper, wait, waitpid};

use super::outcome::Status as Ended;
use super::stub::{GROUP, LEFTOVERS, Order, Status, Step};
use super::supervise::{DAEMON_GRACE, SETTLE};
use super::tree::Tree;
use crate::confine::sys::{self, Forked};

/// Between two looks while the agent's daemons are given time.
const LOOK: Duration = Duration::from_millis(2);
/// Between two walks for orphans that ended.
const REAP: Duration = Duration::from_millis(500);

/// Starts the first process of the PID namespace and ends as the agent does.
pub fn as_outside(order: &Order<'_>, status: &mut Status) -> (Step, io::Error) {
    let pipes = || Ok::<_, io::Error>((pipe_with(PipeFlags::CLOEXEC)?, pipe_with(PipeFlags::CLOEXEC)?));
    let ((alive, alive_here), (result, result_inside)) = match pipes() {
        Ok(pipes) => pipes,
        Err(error) => return (Step::Prepare, error),
    };
    let first = match sys::fork() {
        Ok(Forked::Child) => {
            drop(alive_here);
            drop(result);
            as_first(order, status, &alive, &result_inside)
        }
        Ok(Forked::Parent(first)) => first,
        Err(error) => return (Step::Namespaces, error),
    };
    drop(alive);
    drop(result_inside);
    // What is sent to the whole tree is meant for the agent; we end when it does.
    for signal in [Signal::TERM, Signal::INT, Signal::HUP, Signal::QUIT] {
        sys::ignore(signal);
    }
    let _ = retry(|| waitpid(Some(first), WaitOptions::empty()));
    let mut raw = [0; 4];
    match retry(|| rustix::io::read(&result, &mut raw)) {
        Ok(4) => sys::end_like(i32::from_ne_bytes(raw)),
        // It was killed before it could say.
        _ => sys::end_like(Signal::KILL.as_raw()),
    }
}

/// The first process of the PID namespace: applies the mounts, starts the agent, reaps, and ends what
/// the agent leaves.
fn as_first(order: &Order<'_>, status: &mut Status, outside: &OwnedFd, result: &OwnedFd) -> ! {
    // Our parent is outside of the namespace, so its pid cannot be compared; the pipe tells.
    let dies = rustix::process::set_parent_process_death_signal(Some(Signal::KILL));
    let mut fds = [PollFd::new(outside, PollFlags::IN)];
    let gone = poll(&mut fds, Some(&Timespec::default())).is_err() || !fds[0].revents().is_empty();
    if dies.is_err() || gone {
        sys::exit_now(1);
    }
    if let Err(error) = order.apply_mounts() {
        status.failed(Step::Mounts, &error);
        sys::exit_now(1);
    }
    let agent = match sys::fork() {
        Ok(Forked::Child) => {
            let (step, error) = order.become_program(status);
            status.failed(step, &error);
            sys::exit_now(1);
        }
        Ok(Forked::Parent(agent)) => agent,
        Err(error) => {
            status.failed(Step::Prepare, &error);
            sys::exit_now(1);
        }
    };
    let ended = loop {
        match wait(WaitOptions::empty()) {
            Ok(Some((pid, ended))) if pid == agent => break ended,
            Ok(_) | Err(Errno::INTR) => {}
            Err(_) => sys::exit_now(1),
        }
    };
    let left = end_the_rest();
    if left > 0 {
        let count = i32::try_from(left).unwrap_or(i32::MAX).to_ne_bytes();
        let _ = status.write(&[&[LEFTOVERS], &count[..]].concat());
    }
    let _ = rustix::io::write(result, &ended.as_raw().to_ne_bytes());
    // With us the kernel kills what is still there, and waits for it.
    sys::exit_now(0)
}

/// SIGTERM to everything in the namespace and a while to end; how many were there after a moment.
fn end_the_rest() -> usize {
    let none_after = |limit: Duration| {
        let until = Instant::now() + limit;
        loop {
            match wait(WaitOptions::NOHANG) {
                Ok(Some(_)) | Err(Errno::INTR) => {}
                Ok(None) if Instant::now() < until => std::thread::sleep(LOOK),
                Ok(None) => return false,
                Err(_) => return true,
            }
        }
    };
    if none_after(SETTLE) {
        return 0;
    }
    let left = count();
    // All but ourselves.
    let _ = sys::signal_all(Signal::TERM);
    let _ = sys::signal_all(Signal::CONT);
    none_after(DAEMON_GRACE);
    left
}

/// Processes that run in the namespace, beside us. One, where /proc is not ours: there is a child.
fn count() -> usize {
    let me = rustix::process::getpid().as_raw_pid();
    let Ok(entries) = std::fs::read_dir("/proc") else {
        return 1;
    };
    if std::fs::read_link("/proc/self").map_or(true, |link| link.as_os_str() != me.to_string().as_str()) {
        return 1;
    }
    let pids = entries
        .flatten()
        .filter_map(|entry| entry.file_name().to_str()?.parse().ok());
    let alive = |pid: &i32| *pid != me && super::identity::Stat::of(*pid).is_some_and(|stat| !stat.ended());
    pids.filter(alive).count().max(1)
}

/// Starts the agent and stays until it has ended, or agentgate has.
pub fn as_warden(order: &Order<'_>, supervisor: Pid, status: &mut Status) -> (Step, io::Error) {
    let me = rustix::process::getpid();
    let watched = match set_child_subreaper(Some(me)).and_then(|()| pidfd_open(supervisor, PidfdFlags::empty())) {
        Ok(watched) => watched,
        Err(error) => return (Step::Prepare, error.into()),
    };
    // It may have ended before it could be opened, and its number be another's.
    if rustix::process::getppid() != Some(supervisor) {
        return (Step::Prepare, Errno::SRCH.into());
    }
    let agent = match sys::fork() {
        Ok(Forked::Child) => {
            let dies = rustix::process::set_parent_process_death_signal(Some(Signal::KILL));
            if dies.is_err() || rustix::process::getppid() != Some(me) {
                sys::exit_now(1);
            }
            // Said here and not by the warden: so it stands before what the last steps say, whoever runs first.
            let number = rustix::process::getpid().as_raw_pid().to_ne_bytes();
            let _ = status.write(&[&[GROUP], &number[..]].concat());
            let (step, error) = order.become_program(status);
            status.failed(step, &error);
            sys::exit_now(1);
        }
        Ok(Forked::Parent(agent)) => agent,
        Err(error) => return (Step::Prepare, error),
    };
    for signal in [Signal::TERM, Signal::INT, Signal::HUP, Signal::QUIT] {
        sys::ignore(signal);
    }
    let Ok(running) = pidfd_open(agent, PidfdFlags::empty()) else {
        sys::end_like(Signal::KILL.as_raw());
    };
    let mut tree = Tree::alone(agent);
    loop {
        let mut fds = [
            PollFd::from_borrowed_fd(watched.as_fd(), PollFlags::IN),
            PollFd::from_borrowed_fd(running.as_fd(), PollFlags::IN),
        ];
        let _ = poll(&mut fds, Timespec::try_from(REAP).ok().as_ref());
        if !fds[0].revents().is_empty() {
            // Dropping it ends everything.
            drop(tree);
            sys::exit_now(1);
        }
        // Not reaped: as long as it is a zombie, its number is that of its process group.
        if let Ok(Some(ended)) = tree.status() {
            tree.abandon();
            // What it left becomes agentgate's, which ends it.
            sys::end_like(raw_status(ended));
        }
        let _ = tree.reap_quickly();
    }
}

/// As wait(2) gives it: the exit status in the second byte, or the signal in the first.
fn raw_status(ended: Ended) -> i32 {
    match ended {
        Ended::Exited(status) => (status & 0xff) << 8,
        Ended::Signaled(signal) => signal,
    }
}

fn retry<T>(mut call: impl FnMut() -> rustix::io::Result<T>) -> rustix::io::Result<T> {
    loop {
        match call() {
            Err(Errno::INTR) => {}
            result => return result,
        }
    }
}

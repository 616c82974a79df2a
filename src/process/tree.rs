//! Finding and ending everything that an agent started.
//!
//! We are a child subreaper: whatever an agent starts stays our descendant, because an orphan
//! (a daemon that forked twice) becomes our child. So nothing is left exactly when the kernel says
//! that we have no child (waitpid: ECHILD). Walks over /proc only tell whom to signal; they race
//! with forks and prove nothing.

use std::collections::{HashMap, HashSet};
use std::fs;
use std::io;
use std::time::{Duration, Instant};

use rustix::io::Errno;
use rustix::process::{
    Pid, PidfdFlags, Signal, WaitId, WaitIdOptions, WaitOptions, kill_process_group, pidfd_open, pidfd_send_signal,
    set_child_subreaper, wait, waitid, waitpid,
};

use super::identity::Stat;
use super::tool::Status;

/// How long the end may take after SIGKILL before we give up.
pub(super) const END: Duration = Duration::from_secs(10);

/// A pid with its start time, of this boot.
pub(super) type Key = (i32, u64);

/// Children and their descendants that were there before the agent: a shell that started a
/// background job and then `exec`ed us leaves us such ones. They are not signalled, and not reaped.
pub(super) struct Bystanders(HashSet<Key>);

impl Bystanders {
    /// Makes us the subreaper and looks who is there. To be called before the agent is started.
    pub fn note() -> io::Result<Bystanders> {
        set_child_subreaper(Some(rustix::process::getpid()))?;
        let processes = all()?;
        Ok(Bystanders(
            descendants(&processes, &HashSet::new()).iter().map(key).collect(),
        ))
    }
}

/// The process tree of one agent. Dropped before it was found empty (an error, a panic), it is
/// killed.
pub(super) struct Tree {
    leader: Pid,
    status: Option<Status>,
    /// The leader stays a zombie until nothing else is left: as long as it is not reaped, its pid
    /// names its process group and nothing else.
    leader_reaped: bool,
    bystanders: HashSet<Key>,
    gone: bool,
}

impl Tree {
    /// `leader` is our child, not reaped yet.
    pub fn new(leader: Pid, bystanders: Bystanders) -> Tree {
        Tree {
            leader,
            status: None,
            leader_reaped: false,
            bystanders: bystanders.0,
            gone: false,
        }
    }

    /// How the leader ended, if it has.
    pub fn status(&mut self) -> io::Result<Option<Status>> {
        if self.status.is_none() {
            let options = WaitIdOptions::EXITED | WaitIdOptions::NOWAIT | WaitIdOptions::NOHANG;
            let seen = retry(|| waitid(WaitId::Pid(self.leader), options))?;
            self.status = seen.and_then(|seen| {
                let exited = seen.exit_status().map(Status::Exited);
                exited.or_else(|| seen.terminating_signal().map(Status::Signaled))
            });
        }
        Ok(self.status)
    }

    /// Takes the children that have ended off the process table. True when nothing is left.
    pub fn reap(&mut self) -> io::Result<bool> {
        let me = rustix::process::getpid().as_raw_pid();
        let ours = self.descendants()?;
        for process in ours.iter().filter(|process| process.ended() && process.parent == me) {
            if let Some(pid) = Pid::from_raw(process.pid).filter(|pid| *pid != self.leader || self.leader_reaped) {
                retry(|| waitpid(Some(pid), WaitOptions::NOHANG))?;
            }
        }
        let leader = self.leader.as_raw_pid();
        if self.status()?.is_none() || ours.iter().any(|process| process.pid != leader || self.leader_reaped) {
            return Ok(false);
        }
        if !self.leader_reaped {
            retry(|| waitpid(Some(self.leader), WaitOptions::NOHANG))?;
            self.leader_reaped = true;
        }
        self.gone = self.none_left()?;
        Ok(self.gone)
    }

    /// The proof. With bystanders among our children the kernel does not say ECHILD, and taking
    /// just any child could take one of theirs; then several walks in a row have to find nothing.
    fn none_left(&self) -> io::Result<bool> {
        if !self.bystanders.is_empty() {
            return Ok((0..3).try_fold(true, |none, _| {
                Ok::<_, io::Error>(none && self.descendants()?.is_empty())
            })?);
        }
        loop {
            match retry(|| wait(WaitOptions::NOHANG)) {
                Ok(Some(_)) => {}
                Ok(None) => return Ok(false),
                Err(error) if error.raw_os_error() == Some(Errno::CHILD.raw_os_error()) => return Ok(true),
                Err(error) => return Err(error),
            }
        }
    }

    /// Sends SIGTERM to every descendant that runs and has not had it yet.
    pub fn terminate(&self, told: &mut HashSet<Key>) -> io::Result<()> {
        for process in self.alive()?.iter().filter(|process| told.insert(key(process))) {
            signal(process, Signal::TERM);
            // A stopped process acts on a signal only once it goes on.
            signal(process, Signal::CONT);
        }
        Ok(())
    }

    /// Sends SIGKILL to every descendant that runs.
    pub fn kill(&self) -> io::Result<()> {
        if !self.leader_reaped {
            // All members at once, and a fork in progress fails: a storm of forks cannot outrun
            // it. Before the stub has made its session there is no such group; that is no error.
            let _ = kill_process_group(self.leader, Signal::KILL);
        }
        self.alive()?.iter().for_each(|process| signal(process, Signal::KILL));
        Ok(())
    }

    /// Every descendant that runs, but for the leader.
    pub fn others(&self) -> io::Result<Vec<Key>> {
        let leader = self.leader.as_raw_pid();
        let others = self
            .alive()?
            .into_iter()
            .filter(|process| process.pid != leader || self.leader_reaped);
        Ok(others.map(|process| key(&process)).collect())
    }

    /// Gives up: what is left cannot be killed.
    pub fn abandon(&mut self) {
        self.gone = true;
    }

    fn alive(&self) -> io::Result<Vec<Stat>> {
        let mut alive = self.descendants()?;
        alive.retain(|process| !process.ended());
        Ok(alive)
    }

    fn descendants(&self) -> io::Result<Vec<Stat>> {
        Ok(descendants(&all()?, &self.bystanders))
    }
}

impl Drop for Tree {
    fn drop(&mut self) {
        let until = Instant::now() + END;
        while !self.gone && Instant::now() < until {
            let _ = self.kill();
            if !self.reap().unwrap_or(false) {
                std::thread::sleep(Duration::from_millis(5));
            }
        }
    }
}

fn key(process: &Stat) -> Key {
    (process.pid, process.start_time)
}

/// Signals exactly this process. The descriptor is opened first and the start time compared after:
/// if they agree, the process that was seen lived the whole time, so the descriptor is its.
fn signal(process: &Stat, signal: Signal) {
    let Some(pid) = Pid::from_raw(process.pid) else { return };
    let Ok(descriptor) = pidfd_open(pid, PidfdFlags::empty()) else {
        return;
    };
    if Stat::of(process.pid).is_some_and(|now| now.start_time == process.start_time) {
        // It may have ended, or belong to another user (sudo); whoever is left is found at the end.
        let _ = pidfd_send_signal(&descriptor, signal);
    }
}

fn retry<T>(mut call: impl FnMut() -> rustix::io::Result<T>) -> io::Result<T> {
    loop {
        match call() {
            Err(Errno::INTR) => {}
            result => return result.map_err(io::Error::from),
        }
    }
}

/// Every process that can be seen.
fn all() -> io::Result<Vec<Stat>> {
    let mut processes = Vec::new();
    for entry in fs::read_dir("/proc")? {
        let name = entry?.file_name();
        if let Some(pid) = name.to_str().and_then(|name| name.parse().ok())
            && let Some(stat) = Stat::of(pid)
        {
            processes.push(stat);
        }
    }
    Ok(processes)
}

/// Those that descend from us, through a chain without bystanders.
fn descendants(processes: &[Stat], bystanders: &HashSet<Key>) -> Vec<Stat> {
    let mut children: HashMap<i32, Vec<&Stat>> = HashMap::new();
    for process in processes {
        children.entry(process.parent).or_default().push(process);
    }
    let mut found = Vec::new();
    let mut parents = vec![rustix::process::getpid().as_raw_pid()];
    // A walk that races with forks can show the same pid twice under odd parents: never a loop.
    let mut seen = HashSet::new();
    while let Some(parent) = parents.pop() {
        for process in children.get(&parent).into_iter().flatten() {
            if seen.insert(process.pid) && !bystanders.contains(&key(process)) {
                parents.push(process.pid);
                found.push(**process);
            }
        }
    }
    found
}

#[cfg(test)]
#[path = "tree_tests.rs"]
mod tests;

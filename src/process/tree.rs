//! Finding and ending everything that an agent started.
//!
//! We are a child subreaper: whatever an agent starts stays our descendant, because an orphan
//! (a daemon that forked twice) becomes our child. So nothing is left exactly when the kernel says
//! that we have no child (waitpid: ECHILD). Walks over /proc only tell whom to signal; they race
//! with forks and prove nothing. Without a PID namespace a storm in which each process begins a session of
//! its own can outrun them on a machine that is busy with other things; the caller then gives up and says so.

use std::collections::{HashMap, HashSet};
use std::io;
use std::mem::MaybeUninit;
use std::time::{Duration, Instant};

use rustix::fs::{CWD, Mode, OFlags, RawDir, openat};
use rustix::io::Errno;
use rustix::process::{
    Pid, PidfdFlags, Signal, WaitId, WaitIdOptions, WaitOptions, kill_process_group, pidfd_open, pidfd_send_signal,
    set_child_subreaper, wait, waitid, waitpid,
};

use super::identity::Stat;
use super::outcome::Status;
use crate::confine::sys;

/// How long the end may take after SIGKILL before we give up.
pub(super) const END: Duration = Duration::from_secs(10);

/// The same while each look still finds new ones to kill.
pub(super) const STORM: Duration = Duration::from_secs(60);

/// Ended children that are taken in a row: a storm makes new ones all the time.
const REAPED: u32 = 10_000;

/// Walks in a row that may still find new processes before the caller looks at its clock again.
const WALKS: u32 = 20;

/// A pid with its start time, of this boot.
pub(super) type Key = (i32, u64);

/// Children and their descendants that were there before the agent: a shell that started a
/// background job and then `exec`ed us leaves us such ones. They are not signalled, and not reaped.
pub(super) struct Bystanders(HashSet<Key>);

impl Bystanders {
    /// Makes us the subreaper and looks who is there. To be called before the agent is started.
    pub fn note() -> io::Result<Bystanders> {
        set_child_subreaper(Some(rustix::process::getpid()))?;
        Ok(Bystanders(
            walk(&HashSet::new(), Names::First, &mut |_| {})?
                .iter()
                .map(key)
                .collect(),
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
    /// The agent's own process under a warden, and so its group. It is kept like the leader.
    group: Option<Pid>,
    bystanders: HashSet<Key>,
    gone: bool,
}

impl Tree {
    /// For a process that has no other children than the leader and what it starts.
    pub fn alone(leader: Pid) -> Tree {
        Tree::new(leader, Bystanders(HashSet::new()))
    }

    /// The leader is the agent's warden; this is the agent.
    pub fn set_group(&mut self, agent: Pid) {
        self.group = Some(agent);
    }

    /// `leader` is our child, not reaped yet.
    pub fn new(leader: Pid, bystanders: Bystanders) -> Tree {
        Tree {
            leader,
            status: None,
            leader_reaped: false,
            group: None,
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
        Ok(self.look()?.is_none())
    }

    /// The same, and who is left otherwise: one walk for all that is to be known, since under a storm of
    /// forks each may take seconds.
    pub fn look(&mut self) -> io::Result<Option<Vec<Stat>>> {
        self.reap_quickly()?;
        let mut ours = self.descendants()?;
        for process in &ours {
            self.collect(process)?;
        }
        let leader = self.leader.as_raw_pid();
        let kept = |process: &Stat| {
            process.pid == leader
                || (process.ended() && self.group.is_some_and(|group| group.as_raw_pid() == process.pid))
        };
        if !ours.iter().any(|process| self.leader_reaped || !kept(process)) && self.status()?.is_some() {
            self.release_leader()?;
            self.gone = self.none_left()?;
            if self.gone {
                return Ok(None);
            }
        }
        ours.retain(|process| !process.ended());
        Ok(Some(ours))
    }

    /// True when nothing is left, after [`Tree::kill`].
    pub fn emptied(&mut self) -> io::Result<bool> {
        if !self.bystanders.is_empty() {
            return self.reap();
        }
        // The members of its group died as one, so its number need not be kept any longer.
        self.release_leader()?;
        self.reap_quickly()?;
        self.gone = self.leader_reaped && self.none_left()?;
        Ok(self.gone)
    }

    /// Takes the leader off the process table if it has ended.
    fn release_leader(&mut self) -> io::Result<()> {
        if !self.leader_reaped && self.status()?.is_some() {
            retry(|| waitpid(Some(self.leader), WaitOptions::NOHANG))?;
            self.leader_reaped = true;
        }
        Ok(())
    }

    /// While the leader is no zombie: takes orphans that have ended off the process table without a walk.
    /// An agent that starts thousands of short-lived daemons would make every walk longer, and a
    /// storm of forks could outrun it.
    pub fn reap_quickly(&mut self) -> io::Result<()> {
        for _ in 0..REAPED {
            if !self.bystanders.is_empty() || (!self.leader_reaped && self.status()?.is_some()) {
                break;
            }
            let Ok(Some((pid, status))) = wait(WaitOptions::NOHANG) else {
                break;
            };
            if pid == self.leader && !self.leader_reaped {
                // It ended in this very moment. Only the signal to its whole group is lost.
                self.leader_reaped = true;
                let exited = status.exit_status().map(Status::Exited);
                self.status = exited.or_else(|| status.terminating_signal().map(Status::Signaled));
            }
        }
        Ok(())
    }

    /// Takes an orphan that has ended off the process table; not the leader before its time.
    fn collect(&self, process: &Stat) -> io::Result<()> {
        match Pid::from_raw(process.pid) {
            Some(pid) if self.may_collect(process) => match waitpid(Some(pid), WaitOptions::NOHANG) {
                Ok(_) | Err(Errno::CHILD | Errno::INTR) => Ok(()),
                Err(error) => Err(error.into()),
            },
            _ => Ok(()),
        }
    }

    fn may_collect(&self, process: &Stat) -> bool {
        let kept = [Some(self.leader), self.group].map(|pid| pid.map(Pid::as_raw_pid));
        process.ended()
            && process.parent == rustix::process::getpid().as_raw_pid()
            && (self.leader_reaped || !kept.contains(&Some(process.pid)))
    }

    /// The proof. With bystanders among our children the kernel does not say ECHILD, and taking
    /// just any child could take one of theirs; then several walks in a row have to find nothing.
    fn none_left(&self) -> io::Result<bool> {
        if !self.bystanders.is_empty() {
            for _ in 0..3 {
                if !self.descendants()?.is_empty() {
                    return Ok(false);
                }
            }
            return Ok(true);
        }
        for _ in 0..REAPED {
            match retry(|| wait(WaitOptions::NOHANG)) {
                Ok(Some(_)) => {}
                Ok(None) => return Ok(false),
                Err(error) if error.raw_os_error() == Some(Errno::CHILD.raw_os_error()) => return Ok(true),
                Err(error) => return Err(error),
            }
        }
        Ok(false)
    }

    /// Sends SIGKILL to every descendant that runs, until a walk finds no new one. How many there were.
    pub fn kill(&self) -> io::Result<usize> {
        let mut told = HashSet::new();
        for _ in 0..WALKS {
            if !self.leader_reaped {
                // All members at once, and a fork in progress fails: a storm of forks cannot
                // outrun it. Before the stub has made its session there is no such group; that is
                // no error.
                let _ = kill_process_group(self.leader, Signal::KILL);
                if let Some(group) = self.group {
                    let _ = kill_process_group(group, Signal::KILL);
                }
            }
            self.reap_with_groups()?;
            let before = told.len();
            // Each as soon as it is seen: a walk that first collects would come too late for a
            // process that lives for milliseconds, and /proc lists by rising pid, so what such a
            // one started meanwhile mostly comes later in the same walk.
            walk(&self.bystanders, Names::AsTheyCome, &mut |process| {
                // Those that ended are taken away at once, or a storm makes every walk longer.
                if process.ended() {
                    self.kill_group_of(process);
                    let _ = self.collect(process);
                } else if told.insert(key(process)) {
                    signal(process, Signal::KILL);
                }
            })?;
            if told.len() == before {
                break;
            }
        }
        Ok(told.len())
    }

    /// Takes orphans that have ended off the process table, each with what is left of its group. Beside
    /// the walk, since under load there may be a thousand of them, each of which makes it longer.
    fn reap_with_groups(&self) -> io::Result<()> {
        for _ in 0..REAPED {
            // With bystanders it could be one of theirs.
            if !self.bystanders.is_empty() {
                break;
            }
            let Some(process) = sys::ended_child().ok().flatten().and_then(Stat::of) else {
                break;
            };
            // The leader before its time is no orphan, and would be found again for ever.
            if !self.may_collect(&process) {
                break;
            }
            self.kill_group_of(&process);
            self.collect(&process)?;
        }
        Ok(())
    }

    /// Kills what is left of the group of a process that has ended and that only we can take off the
    /// table: until then no stranger can have the number. Such a signal reaches every member at once, a
    /// fork in progress included, so a chain of short-lived processes that stays in its group ends here
    /// however seldom we get to run. The agent began in a session of its own, which nothing can leave but
    /// for a new one: what is in another than ours is the agent's.
    fn kill_group_of(&self, process: &Stat) {
        let me = rustix::process::getpid();
        let ours = sys::own_session() == process.session;
        if process.ended()
            && process.parent == me.as_raw_pid()
            && !ours
            && let Some(group) = Pid::from_raw(process.group).filter(|group| group.as_raw_pid() > 1)
        {
            let _ = kill_process_group(group, Signal::KILL);
        }
    }

    /// Whether this one of [`Tree::look`] is not the leader.
    pub fn is_other(&self, process: &Stat) -> bool {
        process.pid != self.leader.as_raw_pid() || self.leader_reaped
    }

    /// Gives up: what is left cannot be killed.
    pub fn abandon(&mut self) {
        self.gone = true;
    }

    fn descendants(&self) -> io::Result<Vec<Stat>> {
        walk(&self.bystanders, Names::First, &mut |_| {})
    }
}

impl Drop for Tree {
    fn drop(&mut self) {
        let until = Instant::now() + END;
        while !self.gone && Instant::now() < until {
            let _ = self.kill();
            if !self.emptied().unwrap_or(false) {
                std::thread::sleep(Duration::from_millis(5));
            }
        }
    }
}

/// Asks exactly this process to end.
pub(super) fn terminate(process: &Stat) {
    signal(process, Signal::TERM);
    // A stopped process acts on a signal only once it goes on.
    signal(process, Signal::CONT);
}

/// Kills exactly this process.
pub(super) fn kill(process: &Stat) {
    signal(process, Signal::KILL);
}

pub(super) fn key(process: &Stat) -> Key {
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

/// How a walk takes the names of /proc.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Names {
    /// All before it looks at the first: it ends although new processes come faster than it looks.
    First,
    /// Some thirty at a time: of a thousand, the last would have ended before its turn comes. Only for who
    /// kills what it finds, or it may go on up to the greatest pid there can be.
    AsTheyCome,
}

/// Walks over /proc and hands each of our descendants to `act` as soon as it is known to be one;
/// returns them all. Bystanders and what they started are left out.
fn walk(bystanders: &HashSet<Key>, names: Names, act: &mut dyn FnMut(&Stat)) -> io::Result<Vec<Stat>> {
    let mut ours = Descendants::new(bystanders);
    let mut unknown = Vec::new();
    let mut see = |pid: i32| {
        if let Some(process) = Stat::of(pid) {
            if ours.adopt(process, Stat::of) {
                act(&process);
            } else {
                unknown.push(process);
            }
        }
    };
    let mut first = Vec::new();
    let proc = openat(
        CWD,
        c"/proc",
        OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC,
        Mode::empty(),
    )?;
    let mut buffer = [MaybeUninit::uninit(); 1024];
    let mut entries = RawDir::new(proc, &mut buffer);
    while let Some(entry) = entries.next() {
        if let Some(pid) = entry?.file_name().to_str().ok().and_then(|name| name.parse().ok()) {
            match names {
                Names::First => first.push(pid),
                Names::AsTheyCome => see(pid),
            }
        }
    }
    first.into_iter().for_each(&mut see);
    // Pids wrap: a child may have come before its parent.
    loop {
        let before = ours.found.len();
        unknown.retain(|process| {
            let adopted = ours.starts.contains_key(&process.parent)
                && Stat::of(process.pid).is_some_and(|now| key(&now) == key(process) && ours.adopt(now, Stat::of));
            if adopted {
                act(process);
            }
            !adopted
        });
        if ours.found.len() == before {
            return Ok(ours.found);
        }
    }
}

/// The descendants found so far in one walk.
struct Descendants<'a> {
    me: i32,
    bystanders: &'a HashSet<Key>,
    /// Start time by pid.
    starts: HashMap<i32, u64>,
    found: Vec<Stat>,
}

impl Descendants<'_> {
    fn new(bystanders: &HashSet<Key>) -> Descendants<'_> {
        let me = rustix::process::getpid().as_raw_pid();
        Descendants {
            me,
            bystanders,
            starts: HashMap::new(),
            found: Vec::new(),
        }
    }

    /// Takes it in if it is a child of ours or of one that was taken in. The parent is looked at
    /// again after the child was read: if it is still the same process, the child's parent number
    /// meant that one, not a later process with its pid. A descendant stays one for ever.
    fn adopt(&mut self, process: Stat, look: impl Fn(i32) -> Option<Stat>) -> bool {
        if process.pid == self.me || self.bystanders.contains(&key(&process)) {
            return false;
        }
        let child = process.parent == self.me
            || self
                .starts
                .get(&process.parent)
                .is_some_and(|start| look(process.parent).is_some_and(|parent| parent.start_time == *start));
        if child && self.starts.insert(process.pid, process.start_time) != Some(process.start_time) {
            self.found.push(process);
        }
        child
    }
}

#[cfg(test)]
#[path = "tree_tests.rs"]
mod tests;

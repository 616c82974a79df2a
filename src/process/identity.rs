//! Who a process is: a pid alone is reused within seconds on a busy machine.

use std::fs;
use std::io::{self, Read};
use std::os::fd::OwnedFd;

use rustix::io::Errno;
use rustix::process::{Pid, PidfdFlags, Signal, pidfd_open, pidfd_send_signal};
use serde::{Deserialize, Serialize};

/// A process, told apart from every other that has or had the same pid.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct ProcessId {
    /// The process number.
    pub pid: i32,
    /// When it started, in clock ticks since boot: field 22 of `/proc/<pid>/stat`.
    pub start_time: u64,
    /// `/proc/sys/kernel/random/boot_id`: start times of different boots do not compare.
    pub boot_id: String,
}

impl ProcessId {
    /// This process. Fails where `/proc` cannot be read.
    pub fn current() -> io::Result<ProcessId> {
        // Read through /proc/self, so that pid and start time are of the same pid namespace.
        let stat = Stat::parse(&fs::read("/proc/self/stat")?)
            .ok_or_else(|| io::Error::new(io::ErrorKind::InvalidData, "/proc/self/stat is not as documented"))?;
        Ok(ProcessId {
            pid: stat.pid,
            start_time: stat.start_time,
            boot_id: boot_id()?,
        })
    }

    /// Whether that very process runs now. A zombie does not. False when `/proc` cannot be read.
    pub fn alive(&self) -> bool {
        boot_id().is_ok_and(|boot| boot == self.boot_id)
            && Stat::of(self.pid).is_some_and(|stat| stat.start_time == self.start_time && !stat.ended())
    }
}

impl ProcessId {
    /// Holds that very process, so that no other can come into its number's place. `None` where it is gone.
    ///
    /// # Errors
    /// It cannot be opened for another reason.
    pub fn open(&self) -> io::Result<Option<Found>> {
        let Some(pid) = Pid::from_raw(self.pid) else {
            return Ok(None);
        };
        match pidfd_open(pid, PidfdFlags::empty()) {
            // Asked after it was opened: then what was opened is what was asked about.
            Ok(process) if self.alive() => Ok(Some(Found { process })),
            Ok(_) | Err(Errno::SRCH) => Ok(None),
            Err(error) => Err(error.into()),
        }
    }

    /// Whether it stands still: stopped by a signal or by a debugger.
    pub fn is_stopped(&self) -> bool {
        Stat::of(self.pid).is_some_and(|stat| stat.start_time == self.start_time && matches!(stat.state, b'T' | b't'))
    }
}

/// A process that was found by its [`ProcessId`].
#[derive(Debug)]
pub struct Found {
    process: OwnedFd,
}

impl Found {
    /// Sends it a signal by its number. One that has ended meanwhile needs none.
    ///
    /// # Errors
    /// It belongs to somebody else.
    pub fn signal(&self, signal: i32) -> io::Result<()> {
        let signal = Signal::from_named_raw(signal).ok_or(io::ErrorKind::InvalidInput)?;
        match pidfd_send_signal(&self.process, signal) {
            Ok(()) | Err(Errno::SRCH) => Ok(()),
            Err(error) => Err(error.into()),
        }
    }
}

fn boot_id() -> io::Result<String> {
    Ok(fs::read_to_string("/proc/sys/kernel/random/boot_id")?.trim().to_owned())
}

/// Longest chain of parents that is followed.
const DEEPEST: usize = 4096;

/// Whether this process started that one, or one of those that led to it. An orphan whose parents are gone counts
/// as long as it has come to us, its subreaper.
pub fn descends_from_us(pid: i32) -> bool {
    let us = rustix::process::getpid().as_raw_pid();
    let mut at = pid;
    for _ in 0..DEEPEST {
        match Stat::of(at) {
            Some(stat) if stat.parent == us => return true,
            Some(stat) if stat.parent > 1 => at = stat.parent,
            _ => return false,
        }
    }
    false
}

/// The fields of `/proc/<pid>/stat` that are used here; see proc_pid_stat(5).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Stat {
    pub pid: i32,
    pub state: u8,
    pub parent: i32,
    /// Its process group and its session. Both numbers stay taken as long as it is on the process table.
    pub group: i32,
    pub session: i32,
    pub start_time: u64,
}

impl Stat {
    /// The process with this pid now; `None` if there is none.
    pub fn of(pid: i32) -> Option<Stat> {
        // One read: the line is at most a few hundred bytes, and this is on the path where a
        // storm of forks has to be outrun.
        let mut line = [0; 1024];
        let read = fs::File::open(format!("/proc/{pid}/stat")).ok()?.read(&mut line).ok()?;
        Stat::parse(&line[..read])
    }

    /// The name in parentheses may hold spaces and parentheses itself, and is chosen by the
    /// process: only what follows the LAST `)` can be trusted.
    fn parse(line: &[u8]) -> Option<Stat> {
        let open = line.iter().position(|&b| b == b'(')?;
        let close = line.iter().rposition(|&b| b == b')')?;
        let pid = std::str::from_utf8(&line[..open]).ok()?.trim().parse().ok()?;
        let rest = std::str::from_utf8(line.get(close + 1..)?).ok()?;
        let fields: Vec<&str> = rest.split_ascii_whitespace().collect();
        // Field 3 (state) is fields[0], field 22 (start time) is fields[19].
        Some(Stat {
            pid,
            state: *fields.first()?.as_bytes().first()?,
            parent: fields.get(1)?.parse().ok()?,
            group: fields.get(2)?.parse().ok()?,
            session: fields.get(3)?.parse().ok()?,
            start_time: fields.get(19)?.parse().ok()?,
        })
    }

    /// Whether it has ended and only waits to be reaped.
    pub fn ended(&self) -> bool {
        matches!(self.state, b'Z' | b'X' | b'x')
    }
}

#[cfg(test)]
#[path = "identity_tests.rs"]
mod tests;

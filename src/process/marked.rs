//! What a killed agentgate left running, found by the mark that each process of an agent has in its
//! environment.
//!
//! It is the second net: a PID namespace or a warden ends an agent whose agentgate is gone. A process
//! that cleared its environment is not found.

use std::fs;
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::time::{Duration, Instant};

use anyhow::bail;

use super::identity::Stat;
use super::tree::{END, Key, key, kill};

/// The variable with the path of the agent's copy of its task: no two jobs have the same.
pub const MARK: &str = "AGENTGATE_TASK";

/// Ends every process with this mark by SIGKILL and returns how many there were, once none is left.
///
/// # Errors
/// /proc cannot be read, or some are alive 10 s later.
pub fn end_marked(task: &Path) -> anyhow::Result<usize> {
    let mark = [MARK.as_bytes(), b"=", task.as_os_str().as_bytes()].concat();
    let until = Instant::now() + END;
    let mut ended: std::collections::HashSet<Key> = std::collections::HashSet::new();
    loop {
        let alive = marked(&mark)?;
        if alive.is_empty() {
            return Ok(ended.len());
        }
        if Instant::now() >= until {
            let pids: Vec<String> = alive.iter().map(|process| process.pid.to_string()).collect();
            bail!("processes of the job cannot be ended (pid {})", pids.join(", "));
        }
        for process in &alive {
            ended.insert(key(process));
            kill(process);
        }
        std::thread::sleep(Duration::from_millis(5));
    }
}

fn marked(mark: &[u8]) -> io::Result<Vec<Stat>> {
    let me = rustix::process::getpid().as_raw_pid();
    let mut found = Vec::new();
    for entry in fs::read_dir("/proc")? {
        let name = entry?.file_name();
        let Some(pid) = name
            .to_str()
            .and_then(|name| name.parse().ok())
            .filter(|pid| *pid != me)
        else {
            continue;
        };
        // The start time is read first: if it is still the same when the signal is sent, the
        // environment was this process's.
        let Some(stat) = Stat::of(pid).filter(|stat| !stat.ended()) else {
            continue;
        };
        let environment = fs::read(format!("/proc/{pid}/environ")).unwrap_or_default();
        if environment.split(|&byte| byte == 0).any(|entry| entry == mark) {
            found.push(stat);
        }
    }
    Ok(found)
}

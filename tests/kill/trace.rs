//! The system calls of one process, counted and disturbed by strace.

use std::fs;
use std::path::{Path, PathBuf};

use super::support::program::{Outcome, Program};
use super::support::repo::Repo;

/// Calls that change what others see. Opening a file may make one, but what comes after is one of these.
const CALLS: &str = "write,pwrite64,writev,pwritev,fsync,fdatasync,rename,renameat,renameat2,unlink,unlinkat,rmdir,mkdir,mkdirat,\
ftruncate,truncate,flock,link,linkat,symlink,symlinkat,chmod,fchmod,fchmodat,copy_file_range,sendfile,clone,clone3,vfork,fork,\
kill,tkill,pidfd_send_signal";

/// One call of an undisturbed run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Call {
    pub name: &'static str,
    /// Its line in the log, cut.
    pub line: String,
    /// Which of those with its name it is, from 1.
    pub nth: usize,
    /// Which of all it is, from 1.
    pub at: usize,
}

impl Call {
    /// Whether it changed something that outlives the process and that another one sees: it did not fail, and was no
    /// message to a person. (Synced or not is the same to whoever comes after a kill.)
    pub fn changes(&self) -> bool {
        if ["fsync", "fdatasync"].contains(&self.name) {
            return false;
        }
        let to_pipe = self.name == "write" && !self.line.contains("</");
        !to_pipe && !self.line.contains(" = -1 ")
    }

    /// Whether it writes to the log of a job.
    pub fn is_append(&self) -> bool {
        self.name == "write" && self.line.contains("/events.jsonl>")
    }
}

/// What happens to a call: strace counts those of each name by themselves, from 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Harm {
    /// SIGKILL comes instead of it.
    Kill(&'static str, usize),
    /// ENOSPC from this write.
    Full(usize),
    /// ENOSPC from this write and all that follow.
    FullFrom(usize),
    /// EIO from this fdatasync.
    Unsynced(usize),
}

/// Why nothing can be traced here.
pub fn missing() -> Option<String> {
    let repo = Repo::empty();
    let path = std::env::var_os("PATH").unwrap_or_default();
    if !std::env::split_paths(&path).any(|folder| folder.join("strace").is_file()) {
        return Some("there is no strace".to_owned());
    }
    let outcome = repo.program("strace").args(["-qq", "-o", "/dev/null", "true"]).run();
    (outcome.code != 0).then(|| format!("strace cannot trace here: {}", outcome.stderr.trim()))
}

/// agentgate with these arguments, its calls written to the log.
fn traced(repo: &Repo, log: &Path, inject: &[String]) -> Program {
    let trace = format!("trace={CALLS}");
    repo.program("strace")
        .args(["-qq", "-y", "-s", "40", "-o"])
        .args([log.as_os_str()])
        .args(["-e", &trace])
        .args(inject)
        .args([repo.binary()])
}

fn log_of(repo: &Repo) -> PathBuf {
    repo.top().join("calls.log")
}

/// A program of agentgate that is harmed so.
pub fn harmed(repo: &Repo, harm: Harm) -> Program {
    let inject = match harm {
        Harm::Kill(name, nth) => format!("--inject={name}:signal=SIGKILL:when={nth}"),
        Harm::Full(at) => format!("--inject=write:error=ENOSPC:when={at}"),
        Harm::FullFrom(at) => format!("--inject=write:error=ENOSPC:when={at}+"),
        Harm::Unsynced(at) => format!("--inject=fdatasync:error=EIO:when={at}"),
    };
    traced(repo, &log_of(repo), &[inject])
}

/// The last call of the run before.
pub fn last(repo: &Repo) -> String {
    let text = fs::read(log_of(repo)).unwrap_or_default();
    let text = String::from_utf8_lossy(&text).into_owned();
    let last = text.lines().rfind(|line| line.contains('('));
    last.unwrap_or_default().chars().take(300).collect()
}

/// The calls of an undisturbed run.
pub fn calls(repo: &Repo, with: impl FnOnce(Program) -> Program) -> (Outcome, Vec<Call>) {
    let log = log_of(repo);
    let outcome = with(traced(repo, &log, &[])).run();
    let text = fs::read(&log).expect("strace wrote its log");
    let text = String::from_utf8_lossy(&text).into_owned();
    let mut calls: Vec<Call> = Vec::new();
    for line in text.lines().filter(|line| !line.starts_with(['-', '+'])) {
        let name = line.split_once('(').map(|(name, _)| name);
        let Some(name) = CALLS.split(',').find(|known| Some(*known) == name) else {
            continue;
        };
        let nth = 1 + calls.iter().filter(|call| call.name == name).count();
        calls.push(Call {
            name,
            line: line.to_owned(),
            nth,
            at: calls.len() + 1,
        });
    }
    (outcome, calls)
}

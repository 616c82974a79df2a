//! One run of a program that is not trusted, supervised from its start until nothing of it is left.

use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

/// An agent to run. Every field is public and there is no default for what the caller must decide.
#[derive(Clone, Debug)]
pub struct AgentRun {
    /// Absolute path of the program.
    pub program: PathBuf,
    /// Its arguments; the first is the name it sees as its own (`argv[0]`).
    pub argv: Vec<OsString>,
    /// The folder it runs in.
    pub cwd: PathBuf,
    /// All of its environment.
    pub environment: Vec<(OsString, OsString)>,
    /// The file on its standard input; `None` is /dev/null.
    pub stdin: Option<PathBuf>,
    /// Where both its outputs go, in the order written: created with mode 0600, appended to. The
    /// first and the last 8 MiB of a run are kept.
    pub log: PathBuf,
    /// Whether its output is also copied to our standard error.
    pub verbose: bool,
    /// Wall-clock limit, not counting time the machine was suspended.
    pub limit: Option<Duration>,
    /// Time between SIGTERM and SIGKILL at the limit or a signal; [`AgentRun::GRACE`] is usual.
    pub grace: Duration,
}

/// How it stands, for a progress line.
#[derive(Clone, Debug)]
pub struct Progress<'a> {
    /// Time since the start.
    pub elapsed: Duration,
    /// The last line of output that is not blank: at most 200 characters, no control characters.
    pub last_line: &'a str,
    /// Bytes of output so far.
    pub output_bytes: u64,
}

/// How the agent ended. The limit and our signal are remembered by us: an agent that exits 0 on
/// SIGTERM still timed out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Ending {
    /// It exited with this status by itself.
    Exited(i32),
    /// It was killed by this signal, which was not ours.
    Signaled(i32),
    /// It ran past the limit and was ended.
    TimedOut,
    /// We received this signal (SIGINT 2, SIGTERM 15, SIGHUP 1) and ended it.
    Interrupted(i32),
    /// It was never executed; why, in words.
    NotStarted(String),
}

/// What is known once nothing of the agent is left.
#[derive(Clone, Debug)]
pub struct Finished {
    /// How it ended.
    pub ending: Ending,
    /// How many processes outlived the agent's own and had to be ended.
    pub leftovers: usize,
    /// Bytes it wrote, also those not kept.
    pub output_bytes: u64,
    /// The last 2 KiB of its output, as written.
    pub last_lines: Vec<u8>,
    /// From start until nothing was left.
    pub duration: Duration,
    /// Why the log is not complete, when it could not be written (a full disk).
    pub log_error: Option<String>,
}

impl AgentRun {
    /// The usual time between SIGTERM and SIGKILL.
    pub const GRACE: Duration = Duration::from_secs(2);

    /// Runs it to its end. `tick` is called at most ten times a second.
    ///
    /// Errors: `/proc` cannot be read, the log or standard input cannot be opened, or processes
    /// of the agent are still alive 10 s after SIGKILL; then nothing it left may be judged.
    /// Call it on the main thread.
    pub fn run(self, tick: &mut dyn FnMut(&Progress<'_>)) -> anyhow::Result<Finished> {
        let _ = tick;
        todo!()
    }
}

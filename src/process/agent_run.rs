//! One run of a program that is not trusted, supervised from its start until nothing of it is left.

use std::collections::HashSet;
use std::ffi::OsString;
use std::fs::File;
use std::io;
use std::os::fd::{AsRawFd, OwnedFd};
use std::os::unix::process::CommandExt;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::Context;
use rustix::io::{FdFlags, fcntl_setfd, ioctl_fionbio};
use rustix::pipe::{PipeFlags, pipe_with};
use rustix::process::{Pid, PidfdFlags, pidfd_open};

use super::outcome::Status;
use super::output::{Echo, Output};
use super::signals;
use super::stub;
use super::supervise::{DRAIN, FLUSH, Supervisor};
use super::tool::SELF;
use super::tree::{Bystanders, Tree};
use crate::confine::Plan;
use crate::exit::{Exit, Stop};

/// An agent to run. Every field is public and there is no default for what the caller must decide.
#[derive(Clone, Debug)]
pub struct AgentRun {
    /// Absolute path of the program.
    pub program: PathBuf,
    /// Its arguments; the first is the name it sees as its own (`argv[0]`).
    pub argv: Vec<OsString>,
    /// The folder it runs in.
    pub cwd: PathBuf,
    /// What it may do.
    pub plan: Plan,
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
    /// Longest silence on both its outputs together, counted like the limit; one that is silent for
    /// longer is ended as at the limit.
    pub idle: Option<Duration>,
    /// Time between SIGTERM and SIGKILL at the limit, a silence or a signal; [`AgentRun::GRACE`] is usual.
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
    /// It wrote nothing for this long, the allowed silence, and was ended.
    Silent(Duration),
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
    /// This program, for one of its hidden subcommands.
    pub const SELF: &str = SELF;

    /// The usual time between SIGTERM and SIGKILL.
    pub const GRACE: Duration = Duration::from_secs(2);

    /// Runs it to its end. `tick` is called at most ten times a second.
    ///
    /// Errors: `/proc` cannot be read, the log or standard input cannot be opened, or processes
    /// of the agent are still alive 10 s after SIGKILL; then nothing it left may be judged.
    /// Call it on the main thread.
    pub fn run(self, tick: &mut dyn FnMut(&Progress<'_>)) -> anyhow::Result<Finished> {
        let output = Output::open(&self.log).with_context(|| format!("open {}", self.log.display()))?;
        let started = Instant::now();
        if let Some(signal) = signals::pending() {
            return Ok(never_ran(Ending::Interrupted(signal), started));
        }
        let (reader, writer) = pipe_with(PipeFlags::CLOEXEC).context("make a pipe for the agent's output")?;
        ioctl_fionbio(&reader, true)?;
        let (report, report_writer) = pipe_with(PipeFlags::CLOEXEC).context("make a pipe for the agent's start")?;
        ioctl_fionbio(&report, true)?;
        let bystanders = Bystanders::note().context("look at the running processes in /proc")?;
        // Of our children only the stub may inherit this end, and it is the only one started here.
        fcntl_setfd(&report_writer, FdFlags::empty())?;
        let child = self.spawn(writer, &report_writer)?;
        drop(report_writer);
        let child = match child {
            Ok(child) => child,
            Err(error) => return Ok(never_ran(Ending::NotStarted(error.to_string()), started)),
        };
        let leader = Pid::from_child(&child);
        let tree = Tree::new(leader, bystanders);
        let leader = pidfd_open(leader, PidfdFlags::empty()).context("open a descriptor of the agent's process")?;
        let mut supervisor = Supervisor {
            tree,
            leader,
            report,
            reported: Vec::new(),
            pipe: Some(reader),
            output,
            echo: Echo::new(self.verbose),
            started,
            limit: self.limit,
            idle: self.idle,
            heard: started,
            grace: self.grace,
            cause: None,
            leftovers: HashSet::new(),
            ticked: None,
        };
        let ended = supervisor.supervise(tick);
        supervisor.read_output(DRAIN);
        supervisor.output.finish();
        supervisor.echo.flush(FLUSH);
        ended?;
        let status = supervisor.tree.status()?;
        supervisor.read_report();
        let report = stub::Report::read(&supervisor.reported);
        let mut leftovers = supervisor.leftovers.len();
        match &report {
            stub::Report::Executed(inside) => leftovers += inside,
            // It never ran, and without its walls it never will.
            stub::Report::Failed(step, error) if step.is_confinement() => {
                let what = format!("the confinement could not be applied: {}", words(*step, error, &self));
                return Err(Stop::new(Exit::Unconfined, what)
                    .hint("agentgate doctor tries each layer and says what is missing")
                    .into());
            }
            _ => {}
        }
        let ending = ending(supervisor.cause, report, status, &self);
        Ok(Finished {
            ending,
            leftovers,
            output_bytes: supervisor.output.total(),
            last_lines: supervisor.output.last(),
            duration: started.elapsed(),
            log_error: supervisor.output.error(),
        })
    }

    /// Starts the stub. The inner error says that it could not be executed at all (arguments and
    /// environment too large, no processes left).
    fn spawn(&self, output: OwnedFd, report: &OwnedFd) -> anyhow::Result<io::Result<Child>> {
        let stdin = match &self.stdin {
            Some(path) => Stdio::from(File::open(path).with_context(|| format!("open {}", path.display()))?),
            None => Stdio::null(),
        };
        let second = output.try_clone()?;
        #[expect(clippy::disallowed_methods, reason = "the door: agents")]
        let mut command = Command::new(SELF);
        command.arg0("agentgate").arg(stub::COMMAND);
        command
            .arg(std::process::id().to_string())
            .arg(report.as_raw_fd().to_string());
        command.arg(stub::Kind::Agent.word()).arg(&self.cwd);
        command.args(self.plan.to_args()).arg(&self.program).args(&self.argv);
        command
            .env_clear()
            .envs(self.environment.iter().map(|(name, value)| (name, value)));
        command.stdin(stdin).stdout(output).stderr(second);
        Ok(command.spawn())
    }
}

fn never_ran(ending: Ending, started: Instant) -> Finished {
    let duration = started.elapsed();
    Finished {
        ending,
        leftovers: 0,
        output_bytes: 0,
        last_lines: Vec::new(),
        duration,
        log_error: None,
    }
}

/// Our reason to end it goes before the agent's status; that it never ran goes before both.
fn ending(cause: Option<Ending>, report: stub::Report, status: Option<Status>, run: &AgentRun) -> Ending {
    match (report, cause, status) {
        (stub::Report::Failed(step, error), ..) => Ending::NotStarted(words(step, &error, run)),
        (_, Some(cause), _) => cause,
        (stub::Report::Died, None, status) => {
            let status = status.map_or("no status".to_owned(), |status| status.to_string());
            Ending::NotStarted(format!("its process ended before it was executed ({status})"))
        }
        (stub::Report::Executed(_), None, Some(Status::Exited(status))) => Ending::Exited(status),
        (stub::Report::Executed(_), None, Some(Status::Signaled(signal))) => Ending::Signaled(signal),
        (stub::Report::Executed(_), None, None) => Ending::NotStarted("its exit status was not seen".to_owned()),
    }
}

fn words(step: stub::Step, error: &io::Error, run: &AgentRun) -> String {
    match step {
        stub::Step::Prepare => format!("cannot prepare a process: {error}"),
        stub::Step::Namespaces => format!("namespaces: {error}"),
        stub::Step::Mounts => format!("read-only mounts: {error}"),
        stub::Step::Lock => format!("Landlock: {error}"),
        stub::Step::Folder => format!("cannot enter {}: {error}", run.cwd.display()),
        stub::Step::Execute if error.kind() == io::ErrorKind::NotFound && run.program.exists() => {
            format!(
                "cannot execute {}: the interpreter or loader it names is missing",
                run.program.display()
            )
        }
        stub::Step::Execute => format!("cannot execute {}: {error}", run.program.display()),
    }
}

#[cfg(test)]
#[path = "agent_run_tests.rs"]
mod tests;

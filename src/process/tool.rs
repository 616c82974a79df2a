//! Short-lived programs that are trusted, such as git.

use std::ffi::{OsStr, OsString};
use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::{Errno, ioctl_fionbio};
use rustix::process::{Pid, PidfdFlags, Signal, kill_process_group, pidfd_open};

use super::outcome::{Outcome, Status, ToolError};
use super::signals;
use super::stub;
use crate::confine::{Answer, Plan, Probe};

/// A program to run to its end, with its output captured.
///
/// It gets a process group of its own, so that a terminal's Ctrl-C does not hit it in the middle
/// of an update, and exactly the environment it is given.
#[derive(Clone, Debug)]
pub struct Tool {
    program: PathBuf,
    cwd: PathBuf,
    args: Vec<OsString>,
    environment: Vec<(OsString, OsString)>,
    stdin: Option<Vec<u8>>,
    stdout_limit: usize,
    stderr_limit: usize,
    time_limit: Option<Duration>,
    patience: Option<Duration>,
    plan: Option<Plan>,
}

/// Between SIGTERM, on which git removes its lock files, and SIGKILL.
const GRACE: Duration = Duration::from_secs(1);
const CHUNK: usize = 64 << 10;
/// The link of the kernel, not a path: it works after an update has replaced our file.
pub(super) const SELF: &str = "/proc/self/exe";
/// How long the attempt at the layers may take.
const PROBE_LIMIT: Duration = Duration::from_secs(10);

/// Tries the layers of confinement in a process of its own.
pub fn try_layers() -> Result<Probe, ToolError> {
    let outcome = Tool::new(SELF, "/").arg(stub::PROBE).time_limit(PROBE_LIMIT).run()?;
    // One that could not even say what failed has nothing to offer.
    let answer = Answer::from_text(&String::from_utf8_lossy(&outcome.stdout)).unwrap_or_default();
    Ok(Probe::new(answer))
}

impl Tool {
    /// `program` is a path (no lookup on PATH), `cwd` the folder it runs in. Standard input is
    /// /dev/null, the environment is empty, there is no time limit.
    pub fn new(program: impl Into<PathBuf>, cwd: impl Into<PathBuf>) -> Tool {
        Tool {
            program: program.into(),
            cwd: cwd.into(),
            args: Vec::new(),
            environment: Vec::new(),
            stdin: None,
            stdout_limit: 1 << 30,
            stderr_limit: 1 << 20,
            time_limit: None,
            patience: None,
            plan: None,
        }
    }

    /// This program again, for one of its hidden subcommands.
    pub fn own(cwd: impl Into<PathBuf>) -> Tool {
        Tool::new(SELF, cwd)
    }

    /// Runs it under the kernel's rules, in the process group that it would have without. It is then ended
    /// by SIGKILL alone.
    pub fn confined(mut self, plan: Plan) -> Tool {
        self.plan = Some(plan);
        self
    }

    /// Adds one argument.
    pub fn arg(mut self, arg: impl AsRef<OsStr>) -> Tool {
        self.args.push(arg.as_ref().to_owned());
        self
    }

    /// Adds arguments.
    pub fn args<I: IntoIterator<Item: AsRef<OsStr>>>(mut self, args: I) -> Tool {
        self.args.extend(args.into_iter().map(|arg| arg.as_ref().to_owned()));
        self
    }

    /// Replaces the whole environment.
    pub fn environment(mut self, variables: Vec<(OsString, OsString)>) -> Tool {
        self.environment = variables;
        self
    }

    /// Sets one variable.
    pub fn variable(mut self, name: impl AsRef<OsStr>, value: impl AsRef<OsStr>) -> Tool {
        self.environment
            .push((name.as_ref().to_owned(), value.as_ref().to_owned()));
        self
    }

    /// What it reads on standard input.
    pub fn stdin(mut self, bytes: Vec<u8>) -> Tool {
        self.stdin = Some(bytes);
        self
    }

    /// Most bytes of standard output; more is [`ToolError::TooMuchOutput`]. Default 1 GiB.
    pub fn stdout_limit(mut self, bytes: usize) -> Tool {
        self.stdout_limit = bytes;
        self
    }

    /// Bytes of standard error that are kept; the rest is read and dropped. Default 1 MiB.
    pub fn stderr_limit(mut self, bytes: usize) -> Tool {
        self.stderr_limit = bytes;
        self
    }

    /// Ends its group (TERM, then KILL) after this time.
    pub fn time_limit(mut self, limit: Duration) -> Tool {
        self.time_limit = Some(limit);
        self
    }

    /// Ends it when a signal arrives while it runs. Not for clean-up work, which must go on.
    pub fn stop_on_signal(self) -> Tool {
        self.finish_after_signal(Duration::ZERO)
    }

    /// The same, but it has this long to finish after the first signal; one more ends it at once.
    /// A signal that arrived before it was started counts as the first.
    pub fn finish_after_signal(mut self, patience: Duration) -> Tool {
        self.patience = Some(patience);
        self
    }

    /// Runs it to its end: until its own process ends, not until the last one that inherited its
    /// output does. A non-zero exit is an [`Outcome`], not an error.
    pub fn run(self) -> Result<Outcome, ToolError> {
        let command = self.command_line();
        #[expect(clippy::disallowed_methods, reason = "the door: tools")]
        let mut starting = Command::new(self.plan.as_ref().map_or(self.program.as_path(), |_| Path::new(SELF)));
        if let Some(plan) = &self.plan {
            starting.arg0("agentgate").arg(stub::COMMAND);
            starting.arg(std::process::id().to_string()).arg(stub::NO_STATUS);
            starting.arg(stub::Kind::Tool.word()).arg(&self.cwd);
            starting.args(plan.to_args()).arg(&self.program).arg(&self.program);
        }
        starting.args(&self.args).current_dir(&self.cwd).process_group(0);
        starting
            .env_clear()
            .envs(self.environment.iter().map(|(name, value)| (name, value)));
        starting.stdin(if self.stdin.is_some() {
            Stdio::piped()
        } else {
            Stdio::null()
        });
        starting.stdout(Stdio::piped()).stderr(Stdio::piped());
        let started = Instant::now();
        let mut child = match starting.spawn() {
            Ok(child) => child,
            Err(error) => return Err(ToolError::NotStarted { command, error }),
        };
        let stopped = self.attend(&mut child, started);
        if !matches!(stopped, Ok(Stop::Ended(..))) {
            end_group(&child);
        }
        let waited = child.wait();
        match stopped {
            Ok(Stop::Ended(stdout, stderr)) => match waited {
                Ok(status) => Ok(Outcome {
                    status: Status::of(status),
                    stdout,
                    stderr,
                }),
                Err(error) => Err(ToolError::Io { command, error }),
            },
            Ok(Stop::TimedOut(limit)) => Err(ToolError::TimedOut { command, limit }),
            Ok(Stop::TooMuch) => Err(ToolError::TooMuchOutput {
                command,
                limit: self.stdout_limit,
            }),
            Ok(Stop::Signal(signal)) => Err(ToolError::Interrupted { command, signal }),
            Err(error) => Err(ToolError::Io { command, error }),
        }
    }

    /// Feeds and reads it until it ends or has to be ended.
    fn attend(&self, child: &mut Child, started: Instant) -> io::Result<Stop> {
        let process = pidfd_open(Pid::from_child(child), PidfdFlags::empty())?;
        let mut input = child.stdin.take();
        let mut fed = 0;
        let mut stdout = Capture::new(child.stdout.take().map(OwnedFd::from), self.stdout_limit)?;
        let mut stderr = Capture::new(child.stderr.take().map(OwnedFd::from), self.stderr_limit)?;
        if let Some(input) = &input {
            ioctl_fionbio(input, true)?;
        }
        let signals_before = signals::count();
        let mut signaled: Option<Instant> = None;
        loop {
            let mut left = self.time_limit.map(|limit| limit.saturating_sub(started.elapsed()));
            if let (Some(limit), Some(Duration::ZERO)) = (self.time_limit, left) {
                return Ok(Stop::TimedOut(limit));
            }
            if let Some(patience) = self.patience
                && let Some(signal) = signals::pending()
            {
                let more = signals::count() - signals_before;
                let is_first = signals_before == 0 || patience.is_zero();
                let patient_for = patience.saturating_sub(signaled.get_or_insert_with(Instant::now).elapsed());
                if more > usize::from(is_first) || (patient_for.is_zero() && (more > 0 || !is_first)) {
                    return Ok(Stop::Signal(signal));
                }
                if !patience.is_zero() {
                    left = Some(left.map_or(patient_for, |left| left.min(patient_for)));
                }
            }
            if self.wait(&process, input.as_ref(), [&stdout, &stderr], left)? {
                // All that it wrote itself is in the pipes now.
                return Ok(if stdout.read()? {
                    stderr.read()?;
                    Stop::Ended(stdout.bytes, stderr.bytes)
                } else {
                    Stop::TooMuch
                });
            }
            if !stdout.read()? {
                return Ok(Stop::TooMuch);
            }
            stderr.read()?;
            if let (Some(pipe), Some(bytes)) = (&input, &self.stdin) {
                match rustix::io::write(pipe, &bytes[fed..]) {
                    Ok(written) => fed += written,
                    Err(Errno::AGAIN | Errno::INTR) => {}
                    // It does not want the rest; whether that is a failure, its status says.
                    Err(Errno::PIPE) => fed = bytes.len(),
                    Err(error) => return Err(error.into()),
                }
                if fed == bytes.len() {
                    input = None;
                }
            }
        }
    }

    /// Waits until there is something to do. True when the process has ended.
    fn wait(
        &self,
        process: &OwnedFd,
        input: Option<&ChildStdin>,
        outputs: [&Capture; 2],
        left: Option<Duration>,
    ) -> io::Result<bool> {
        let signals = if self.patience.is_some() {
            signals::descriptors()
        } else {
            Vec::new()
        };
        let mut fds = vec![PollFd::new(process, PollFlags::IN)];
        fds.extend(signals.iter().map(|fd| PollFd::from_borrowed_fd(*fd, PollFlags::IN)));
        fds.extend(input.map(|fd| PollFd::new(fd, PollFlags::OUT)));
        let open = outputs.into_iter().filter_map(|output| output.pipe.as_ref());
        fds.extend(open.map(|fd| PollFd::new(fd, PollFlags::IN)));
        let timeout = left.map(Timespec::try_from).transpose().map_err(io::Error::other)?;
        match poll(&mut fds, timeout.as_ref()) {
            Ok(_) => Ok(!fds[0].revents().is_empty()),
            Err(Errno::INTR) => Ok(false),
            Err(error) => Err(error.into()),
        }
    }

    /// For messages, in a form that can be pasted.
    fn command_line(&self) -> String {
        let words = std::iter::once(self.program.as_os_str()).chain(self.args.iter().map(OsString::as_os_str));
        shell_words::join(words.map(OsStr::to_string_lossy))
    }
}

/// Why [`Tool::attend`] came back.
enum Stop {
    Ended(Vec<u8>, Vec<u8>),
    TimedOut(Duration),
    TooMuch,
    Signal(i32),
}

/// Ends the tool's process group. Its leader, our child, is not reaped yet, so that the number
/// names this group and no other.
fn end_group(child: &Child) {
    let leader = Pid::from_child(child);
    let _ = kill_process_group(leader, Signal::TERM);
    if let Ok(process) = pidfd_open(leader, PidfdFlags::empty()) {
        let mut fds = [PollFd::new(&process, PollFlags::IN)];
        let _ = poll(&mut fds, Timespec::try_from(GRACE).ok().as_ref());
    }
    let _ = kill_process_group(leader, Signal::KILL);
}

/// One output pipe and what came out of it.
struct Capture {
    pipe: Option<OwnedFd>,
    bytes: Vec<u8>,
    limit: usize,
}

impl Capture {
    fn new(pipe: Option<OwnedFd>, limit: usize) -> io::Result<Capture> {
        if let Some(pipe) = &pipe {
            ioctl_fionbio(pipe, true)?;
        }
        Ok(Capture {
            pipe,
            bytes: Vec::new(),
            limit,
        })
    }

    /// Reads what is there without waiting. False when it was more than the limit; what is over
    /// it is dropped. At most 16 MiB, so that a fast writer does not keep the clock from being
    /// looked at; no pipe holds more.
    fn read(&mut self) -> io::Result<bool> {
        let mut buffer = [0; CHUNK];
        let mut within = true;
        for _ in 0..256 {
            let Some(pipe) = &self.pipe else { break };
            match rustix::io::read(pipe, &mut buffer) {
                Ok(0) => self.pipe = None,
                Ok(read) => {
                    let room = self.limit - self.bytes.len();
                    within &= read <= room;
                    self.bytes.extend_from_slice(&buffer[..read.min(room)]);
                }
                Err(Errno::INTR) => {}
                Err(Errno::AGAIN) => break,
                Err(error) => return Err(error.into()),
            }
        }
        Ok(within)
    }
}

#[cfg(test)]
#[path = "tool_tests.rs"]
mod tests;

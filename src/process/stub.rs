//! The process that becomes the agent: this program again, started as `agentgate __exec`.
//!
//! It exists because what must happen between fork and exec (a session, namespaces, mounts, the
//! kernel's rules) is more than a signal-safe closure may do.
//!
//! Arguments: `<parent pid> <status descriptor> <kind> <folder> <plan...> -- <program> <argv[0]> [argument...]`.
//! Protocol on the status descriptor, a pipe that closes at exec: one [`READY`] byte right before
//! exec; if a step fails, then the step's letter and errno (4 bytes, native order). So the parent
//! tells "executed" (READY and nothing more, or a count of leftovers) from "failed" and from "died
//! before", and never takes an exit status of the agent for one of these.
//!
//! With a PID namespace there are three processes: the stub, which ends as the agent does and dies with
//! agentgate; the namespace's first process, which dies with the stub; and the agent, which dies
//! with that one, as does all that it started. Without, the stub stays as the agent's warden.

use std::ffi::{OsStr, OsString};
use std::io::{self, Write};
use std::os::unix::process::CommandExt;
use std::process::ExitCode;

use rustix::process::{Pid, Signal};

use super::warden;
use crate::confine::{self, Answer, Plan, sys};

/// The hidden subcommand.
pub const COMMAND: &str = "__exec";

/// The hidden subcommand that tries the layers and prints what it found.
pub const PROBE: &str = "__probe";

/// The byte that says that everything up to exec was done.
pub const READY: u8 = b'r';

/// The letter before the pid of the agent (4 bytes), the first thing that a warden reports.
pub(super) const GROUP: u8 = b'g';

/// The letter before the number of processes that outlived the agent in its PID namespace (4 bytes).
pub(super) const LEFTOVERS: u8 = b'n';

/// The status descriptor of a process that reports to nobody.
pub const NO_STATUS: &str = "-";

/// What the process becomes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A program that is not trusted: a session of its own, and somebody who ends what it leaves.
    Agent,
    /// A tool in the process group that it was started in.
    Tool,
}

impl Kind {
    /// As an argument.
    pub fn word(self) -> &'static str {
        match self {
            Kind::Agent => "agent",
            Kind::Tool => "tool",
        }
    }
}

/// A step of the stub that failed, as it goes over the status pipe.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// Preparing the process: session, signals, descriptors.
    Prepare,
    /// Entering namespaces.
    Namespaces,
    /// Making the mounts.
    Mounts,
    /// Landlock and capabilities.
    Lock,
    /// Entering the folder.
    Folder,
    /// Executing the program.
    Execute,
}

impl Step {
    const ALL: [(Step, u8); 6] = [
        (Step::Prepare, b'p'),
        (Step::Namespaces, b's'),
        (Step::Mounts, b'm'),
        (Step::Lock, b'l'),
        (Step::Folder, b'f'),
        (Step::Execute, b'x'),
    ];

    /// Whether a layer of the confinement could not be applied.
    pub fn is_confinement(self) -> bool {
        matches!(self, Step::Namespaces | Step::Mounts | Step::Lock)
    }

    fn letter(self) -> u8 {
        Step::ALL
            .iter()
            .find(|(step, _)| *step == self)
            .map_or(b'p', |(_, letter)| *letter)
    }
}

/// What the status pipe said in the end.
#[derive(Debug)]
pub enum Report {
    /// The program was executed; so many processes outlived it in its PID namespace.
    Executed(usize),
    /// A step failed.
    Failed(Step, io::Error),
    /// The stub ended before it came to exec (killed, or its parent was gone).
    Died,
}

impl Report {
    /// Reads all that came over the status pipe until its end.
    pub fn read(bytes: &[u8]) -> Report {
        let bytes = if Report::group(bytes).is_some() {
            &bytes[5..]
        } else {
            bytes
        };
        let (ready, rest) = match bytes {
            [READY, rest @ ..] => (true, rest),
            rest => (false, rest),
        };
        let number = |bytes: &[u8]| bytes.try_into().ok().map(i32::from_ne_bytes);
        if let [LEFTOVERS, count @ ..] = rest
            && ready
            && let Some(count) = number(count)
        {
            return Report::Executed(usize::try_from(count).unwrap_or(0));
        }
        if let [letter, errno @ ..] = rest
            && let Some(errno) = number(errno)
            && let Some((step, _)) = Step::ALL.iter().find(|(_, known)| known == letter)
        {
            return Report::Failed(*step, io::Error::from_raw_os_error(errno));
        }
        if ready && rest.is_empty() {
            Report::Executed(0)
        } else {
            Report::Died
        }
    }
}

impl Report {
    /// The agent's pid, where a warden reported it.
    pub(super) fn group(bytes: &[u8]) -> Option<Pid> {
        let number = bytes.strip_prefix(&[GROUP])?.first_chunk()?;
        Pid::from_raw(i32::from_ne_bytes(*number))
    }
}

/// Prepares this process and becomes the agent; returns only if that failed. `args` is what
/// follows [`COMMAND`]. Must run before any thread is started.
pub fn main(args: Vec<OsString>) -> ExitCode {
    // Nobody types this command, so a wrong one needs no words: only the parent reads the status.
    let Some(order) = Order::parse(&args) else {
        return ExitCode::FAILURE;
    };
    let Ok(mut status) = Status::open(order.status) else {
        return ExitCode::FAILURE;
    };
    let (step, error) = order.follow(&mut status);
    status.failed(step, &error);
    ExitCode::FAILURE
}

/// Tries the layers that need a process of their own, and prints the answer on standard output.
pub fn probe() -> ExitCode {
    let answer = Answer::find();
    let written = |answer: Answer| rustix::io::write(rustix::stdio::stdout(), answer.to_text().as_bytes()).is_ok();
    if answer.pids.is_none() {
        return if written(answer) {
            ExitCode::SUCCESS
        } else {
            ExitCode::FAILURE
        };
    }
    match sys::fork() {
        Ok(sys::Forked::Child) => sys::exit_now(i32::from(!written(answer.try_mounts()))),
        Ok(sys::Forked::Parent(child)) => {
            match rustix::process::waitpid(Some(child), rustix::process::WaitOptions::empty()) {
                Ok(Some((_, status))) if status.exit_status() == Some(0) => ExitCode::SUCCESS,
                _ => ExitCode::FAILURE,
            }
        }
        Err(_) => ExitCode::FAILURE,
    }
}

/// Where the process reports, if to anybody.
pub(super) struct Status(Option<std::fs::File>);

impl Status {
    /// Opened anew through /proc: a number from the command line is not a descriptor that this
    /// process could own safely.
    fn open(descriptor: Option<u32>) -> io::Result<Status> {
        let open = |descriptor| {
            std::fs::OpenOptions::new()
                .write(true)
                .open(format!("/proc/self/fd/{descriptor}"))
        };
        descriptor.map(open).transpose().map(Status)
    }

    pub fn write(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.0.as_mut().map_or(Ok(()), |file| file.write_all(bytes))
    }

    /// Where nobody listens, the words go to standard error, as a shell's do.
    pub fn failed(&mut self, step: Step, error: &io::Error) {
        if self.0.is_none() {
            let words = format!("agentgate: cannot start a confined program ({step:?}): {error}\n");
            let _ = rustix::io::write(rustix::stdio::stderr(), words.as_bytes());
        }
        let errno = error
            .raw_os_error()
            .unwrap_or(rustix::io::Errno::IO.raw_os_error())
            .to_ne_bytes();
        let _ = self.write(&[&[step.letter()], &errno[..]].concat());
    }
}

pub(super) struct Order<'a> {
    parent: Pid,
    status: Option<u32>,
    kind: Kind,
    folder: &'a OsStr,
    plan: Plan,
    program: &'a OsStr,
    argv: &'a [OsString],
}

impl<'a> Order<'a> {
    fn parse(args: &'a [OsString]) -> Option<Order<'a>> {
        let [parent, status, kind, folder, rest @ ..] = args else {
            return None;
        };
        let (plan, rest) = Plan::from_args(rest)?;
        let [program, argv @ ..] = rest else {
            return None;
        };
        let parent = Pid::from_raw(parent.to_str()?.parse().ok()?)?;
        let status = match status.to_str()? {
            NO_STATUS => None,
            number => Some(number.parse().ok()?),
        };
        let kind = [Kind::Agent, Kind::Tool]
            .into_iter()
            .find(|known| kind == known.word())?;
        (!argv.is_empty()).then_some(Order {
            parent,
            status,
            kind,
            folder,
            plan,
            program,
            argv,
        })
    }

    /// Returns the step that failed; otherwise it does not return.
    fn follow(&self, status: &mut Status) -> (Step, io::Error) {
        let has_pids = self.plan.layers.pids.is_some();
        let warded = self.kind == Kind::Agent && !has_pids;
        if let Err(error) = self.prepare(warded) {
            return (Step::Prepare, error);
        }
        if let Err(error) = confine::enter_namespaces(&self.plan) {
            return (Step::Namespaces, error);
        }
        if has_pids {
            return warden::as_outside(self, status);
        }
        if warded {
            return warden::as_warden(self, self.parent, status);
        }
        self.become_program(status)
    }

    fn prepare(&self, warded: bool) -> io::Result<()> {
        if self.kind == Kind::Agent {
            // A Ctrl-C in the terminal reaches us, not the agent behind our back.
            rustix::process::setsid()?;
        }
        if !warded {
            rustix::process::set_parent_process_death_signal(Some(Signal::KILL))?;
        }
        // The parent may have died before that call: then no signal will ever come.
        if rustix::process::getppid() != Some(self.parent) {
            return Err(rustix::io::Errno::SRCH.into());
        }
        sys::close_above_stderr_at_exec()
    }

    pub(super) fn apply_mounts(&self) -> io::Result<()> {
        confine::apply_mounts(&self.plan)
    }

    /// The last steps, in the process that becomes the program.
    pub(super) fn become_program(&self, status: &mut Status) -> (Step, io::Error) {
        // A session of its own: no controlling terminal (a prompt on /dev/tty fails at once), and a signal that
        // it sends to its group reaches nobody else.
        if self.kind == Kind::Agent
            && let Err(error) = rustix::process::setsid()
            && error != rustix::io::Errno::PERM
        {
            return (Step::Prepare, error.into());
        }
        if let Err(error) = sys::reset_signals() {
            return (Step::Prepare, error);
        }
        if !self.plan.layers.hold() {
            // Nothing was promised; what setuid programs (sudo) did before, they do.
        } else if let Err(error) = confine::lock(&self.plan) {
            return (Step::Lock, error);
        }
        if let Err(error) = std::env::set_current_dir(self.folder) {
            return (Step::Folder, error);
        }
        if let Err(error) = status.write(&[READY]) {
            return (Step::Prepare, error);
        }
        (Step::Execute, self.execute())
    }

    /// A text file without `#!` is run by /bin/sh, as exec*p(3) and every shell do.
    #[expect(clippy::disallowed_methods, reason = "becomes the agent: an exec, not a spawn")]
    fn execute(&self) -> io::Error {
        std::process::Command::new(self.program)
            .arg0(&self.argv[0])
            .args(&self.argv[1..])
            .exec()
    }
}

#[cfg(test)]
#[path = "stub_tests.rs"]
mod tests;

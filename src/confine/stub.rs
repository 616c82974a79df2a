//! The process that becomes the agent: this program again, started as `agentgate __exec`.
//!
//! It exists because what must happen between fork and exec (a session, the parent-death signal,
//! later the layers of confinement) is more than a signal-safe closure may do.
//!
//! Arguments: `<parent pid> <status descriptor> <folder> <program> <argv[0]> [argument...]`.
//! Protocol on the status descriptor, a pipe that closes at exec: one [`READY`] byte right before
//! exec; if a step fails, then the step's letter and errno (4 bytes, native order). So the parent
//! tells "executed" (READY and end of file) from "failed" and from "died before", and never takes
//! an exit status of the agent for one of these.

use std::ffi::{OsStr, OsString};
use std::io::{self, Write};
use std::os::unix::process::CommandExt;
use std::process::ExitCode;

use rustix::process::{Pid, Signal};

use super::sys;

/// The hidden subcommand.
pub const COMMAND: &str = "__exec";

/// The byte that says that everything up to exec was done.
pub const READY: u8 = b'r';

/// A step of the stub that failed, as it goes over the status pipe.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// Preparing the process: session, signals, descriptors.
    Prepare,
    /// Entering the folder.
    Folder,
    /// Executing the program.
    Execute,
}

impl Step {
    const ALL: [(Step, u8); 3] = [(Step::Prepare, b'p'), (Step::Folder, b'f'), (Step::Execute, b'x')];

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
    /// The program was executed.
    Executed,
    /// A step failed.
    Failed(Step, io::Error),
    /// The stub ended before it came to exec (killed, or its parent was gone).
    Died,
}

impl Report {
    /// Reads all that came over the status pipe until its end.
    pub fn read(bytes: &[u8]) -> Report {
        let (ready, rest) = match bytes {
            [READY, rest @ ..] => (true, rest),
            rest => (false, rest),
        };
        if let [letter, errno @ ..] = rest
            && let Ok(errno) = errno.try_into()
            && let Some((step, _)) = Step::ALL.iter().find(|(_, known)| known == letter)
        {
            return Report::Failed(*step, io::Error::from_raw_os_error(i32::from_ne_bytes(errno)));
        }
        if ready && rest.is_empty() {
            Report::Executed
        } else {
            Report::Died
        }
    }
}

/// Prepares this process and becomes the agent; returns only if that failed. `args` is what
/// follows [`COMMAND`]. Must run before any thread is started.
pub fn main(args: Vec<OsString>) -> ExitCode {
    // Nobody types this command, so a wrong one needs no words: only the parent reads the status.
    let Some(order) = Order::parse(&args) else {
        return ExitCode::FAILURE;
    };
    let Ok(mut status) = open_status(order.status) else {
        return ExitCode::FAILURE;
    };
    let (step, error) = order.follow(&mut status);
    let mut report = vec![step.letter()];
    report.extend(
        error
            .raw_os_error()
            .unwrap_or(rustix::io::Errno::IO.raw_os_error())
            .to_ne_bytes(),
    );
    let _ = status.write_all(&report);
    ExitCode::FAILURE
}

struct Order<'a> {
    parent: Pid,
    status: u32,
    folder: &'a OsStr,
    program: &'a OsStr,
    argv: &'a [OsString],
}

impl<'a> Order<'a> {
    fn parse(args: &'a [OsString]) -> Option<Order<'a>> {
        let [parent, status, folder, program, argv @ ..] = args else {
            return None;
        };
        let parent = Pid::from_raw(parent.to_str()?.parse().ok()?)?;
        let status = status.to_str()?.parse().ok()?;
        (!argv.is_empty()).then_some(Order {
            parent,
            status,
            folder,
            program,
            argv,
        })
    }

    /// Returns the step that failed; otherwise it does not return.
    fn follow(&self, status: &mut impl Write) -> (Step, io::Error) {
        if let Err(error) = self.prepare() {
            return (Step::Prepare, error);
        }
        // Layers of confinement go here: after the process is on its own, before it enters the
        // folder, whose mount they may replace.
        if let Err(error) = std::env::set_current_dir(self.folder) {
            return (Step::Folder, error);
        }
        if let Err(error) = status.write_all(&[READY]) {
            return (Step::Prepare, error);
        }
        (Step::Execute, self.execute())
    }

    fn prepare(&self) -> io::Result<()> {
        // A session of its own: no controlling terminal (a prompt on /dev/tty fails at once), and
        // a Ctrl-C reaches us, not the agent behind our back.
        rustix::process::setsid()?;
        rustix::process::set_parent_process_death_signal(Some(Signal::KILL))?;
        // The parent may have died before that call: then no signal will ever come.
        if rustix::process::getppid() != Some(self.parent) {
            return Err(rustix::io::Errno::SRCH.into());
        }
        sys::close_above_stderr_at_exec()?;
        sys::reset_signals()
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

/// Opened anew through /proc: a number from the command line is not a descriptor that this
/// process could own safely.
fn open_status(descriptor: u32) -> io::Result<std::fs::File> {
    std::fs::OpenOptions::new()
        .write(true)
        .open(format!("/proc/self/fd/{descriptor}"))
}

#[cfg(test)]
#[path = "stub_tests.rs"]
mod tests;

//! The process that becomes the agent: this program again, started as `agentgate __exec`.

use std::ffi::OsString;
use std::process::ExitCode;

/// The hidden subcommand.
pub const COMMAND: &str = "__exec";

/// Prepares this process and becomes the agent; returns only if that failed. `args` is what
/// follows [`COMMAND`]. Must run before any thread is started.
pub fn main(args: Vec<OsString>) -> ExitCode {
    let _ = args;
    todo!()
}

//! Outcomes as text and JSON; the only writers to standard output.

mod doctor_text;
mod graph;
mod json;
mod progress;
mod text;

use std::io::Write;

use crate::commands::{
    agents, check, demo, doctor, drop, graph as graph_command, init, jobs, land, open, preflight, run, trailers,
};
use crate::exit::{Exit, Stop};

pub use progress::Terminal;

/// What a command came to.
#[derive(Debug)]
#[expect(clippy::large_enum_variant, reason = "one of these exists per process")]
pub enum Outcome {
    /// `run`
    Run(run::Report),
    /// `check`
    Check(check::Report),
    /// `preflight`
    Preflight(preflight::Report),
    /// `trailers`
    Trailers(trailers::Report),
    /// `status`
    Status(jobs::Status),
    /// `log`
    Log(jobs::Log),
    /// `land`
    Land(land::Report),
    /// `drop`
    Drop(drop::Report),
    /// `open`
    Open(open::Report),
    /// `agents`
    Agents(agents::Report),
    /// `graph`
    Graph(graph_command::Report),
    /// `init`
    Init(init::Report),
    /// `doctor`
    Doctor(doctor::Report),
    /// `demo`
    Demo(demo::Report),
    /// `help`
    Help(Help),
}

/// What `help` prints.
#[derive(Debug)]
pub enum Help {
    /// Rendered by clap.
    Text(String),
    /// The table of exit codes.
    ExitCodes,
}

impl Outcome {
    /// The process's exit.
    pub fn exit(&self) -> Exit {
        match self {
            Outcome::Run(report) => report.exit,
            Outcome::Check(report) => report.exit,
            Outcome::Trailers(report) => report.exit,
            Outcome::Doctor(report) => report.exit(),
            Outcome::Demo(report) => report.exit,
            _ => Exit::Ok,
        }
    }
}

/// Prints an outcome: the result to standard output, the rest to standard error.
///
/// # Errors
/// The result could not be written (a full disk): whoever reads it must not take it for whole.
pub fn print(outcome: &Outcome, as_json: bool) -> std::io::Result<()> {
    let (result, beside) = text::render(outcome);
    if as_json {
        return stdout(&json::render(outcome));
    }
    stderr(&beside);
    stdout(&result)
}

/// Prints why a command was refused.
pub fn refusal(stop: &Stop, as_json: bool) {
    if as_json {
        // The exit says no already.
        let _ = stdout(&json::refusal(stop));
    }
    let mut text = format!("agentgate: error: {}\n", stop.message);
    for hint in &stop.hints {
        text.push_str(&format!("hint: {hint}\n"));
    }
    if stop.exit != Exit::Internal || !stop.hints.is_empty() {
        text.push_str(&format!("(exit {})\n", stop.exit));
    }
    stderr(&text);
}

/// Writes to standard output. A reader that has gone away is no failure of ours.
///
/// # Errors
/// Any other failure.
pub fn stdout(text: &str) -> std::io::Result<()> {
    let mut out = std::io::stdout().lock();
    match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
        Err(error) if error.kind() != std::io::ErrorKind::BrokenPipe => Err(error),
        _ => Ok(()),
    }
}

/// Writes to standard error.
pub fn stderr(text: &str) {
    let _ = std::io::stderr().lock().write_all(text.as_bytes());
}

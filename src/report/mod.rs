//! Outcomes as text, JSON and the formats of CIs; the only writers to standard output.

mod check_text;
mod checked;
mod doctor_text;
mod elsewhere;
mod explain;
mod files;
mod github;
mod gitlab;
mod graph;
mod json;
mod junit;
mod live;
mod markdown;
mod progress;
mod sarif;
mod text;
mod verified;

use std::io::Write;
use std::path::Path;

use checked::Checked;

use crate::cli::{Format, Reports};
use crate::commands::{
    agents, attach, baseline, check, demo, detach, doctor, drop, explain as explaining, graph as graph_command, init,
    jobs, land, open, preflight, run, schema, stop, trailers, verify, wait,
};
use crate::exit::{Exit, Stop};
use crate::gate::{credentials, render};

use crate::process::{is_device, terminal_is_gone};

pub use live::{event, keep, line, message, news, rest_while_read};
pub use progress::Terminal;

/// What a command came to.
#[derive(Debug)]
#[allow(
    clippy::large_enum_variant,
    reason = "one of these exists per process; which one is the largest changes"
)]
pub enum Outcome {
    /// `run`
    Run(run::Report),
    /// `resume --all`: each job with what came of it
    ResumedAll(Vec<(String, Result<Outcome, Stop>)>),
    /// `check`
    Check(check::Report),
    /// `explain`
    Explain(explaining::Report),
    /// `baseline`
    Baseline(baseline::Report),
    /// `preflight`
    Preflight(preflight::Report),
    /// `trailers`
    Trailers(trailers::Report),
    /// `status`
    Status(jobs::Status),
    /// `log`
    Log(jobs::Log),
    /// `log --follow`, of which nobody reads the rest
    Nothing,
    /// `run --detach`
    Detached(detach::Report),
    /// `attach`
    Attach(attach::Report),
    /// `wait`
    Wait(wait::Report),
    /// `stop`
    Stop(stop::Report),
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
    /// `verify`
    Verify(verify::Report),
    /// `init`
    Init(init::Report),
    /// `doctor`
    Doctor(doctor::Report),
    /// `demo`
    Demo(demo::Report),
    /// `schema`
    Schema(schema::Schema),
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
            Outcome::ResumedAll(jobs) => {
                let exits = jobs
                    .iter()
                    .map(|(_, result)| result.as_ref().map_or_else(|stop| stop.exit, Outcome::exit));
                exits.into_iter().find(|exit| *exit != Exit::Ok).unwrap_or(Exit::Ok)
            }
            Outcome::Check(report) => report.exit,
            Outcome::Detached(report) => report.exit(),
            Outcome::Attach(report) => report.exit(),
            Outcome::Wait(report) => report.exit(),
            Outcome::Trailers(report) => report.exit,
            Outcome::Doctor(report) => report.exit(),
            Outcome::Demo(report) => report.exit,
            Outcome::Verify(report) => report.exit(),
            _ => Exit::Ok,
        }
    }
}

/// Prints an outcome: the result to standard output, the rest to standard error; and writes the
/// reports that go to files. The exit is that of the outcome, or 1 where a report could not be written.
///
/// # Errors
/// The result could not be written (a full disk): whoever reads it must not take it for whole.
pub fn print(outcome: &Outcome, reports: &Reports, cwd: &Path) -> std::io::Result<Exit> {
    let mut exit = outcome.exit();
    let mut failures = Vec::new();
    if let Outcome::Check(report) = outcome {
        let checked = Checked::judged(report);
        failures = to_files(&checked, reports, cwd);
        if !failures.is_empty() {
            exit = Exit::Internal;
        }
    }
    let (result, beside) = text::render(outcome);
    if reports.shown.contains(&Format::Text) {
        stderr(&beside);
    }
    let mut written = Ok(());
    for format in &reports.shown {
        let text = match (format, outcome) {
            (Format::Text, _) => result.clone(),
            (Format::Json, _) => json::render(outcome),
            (format, Outcome::Check(report)) => check_format(&Checked::judged(report), *format),
            (_, _) => continue,
        };
        written = written.and_then(|()| stdout(&text));
    }
    failures.iter().for_each(say);
    written.map(|()| exit)
}

/// Prints why a command was refused, in the formats that were asked for. The exit is that of the
/// refusal, also where a report of it could not be written: it says no already.
pub fn refusal(stop: &Stop, reports: &Reports, cwd: &Path) {
    let checked = Checked::refused(stop);
    let failures = if reports.is_check {
        to_files(&checked, reports, cwd)
    } else {
        Vec::new()
    };
    for format in reports.shown.iter().filter(|format| **format != Format::Text) {
        let _ = stdout(&check_format(&checked, *format));
    }
    failures.iter().for_each(say);
    // Last, since it is what the exit says.
    say(stop);
}

fn to_files(checked: &Checked, reports: &Reports, cwd: &Path) -> Vec<Stop> {
    let failures = files::save(checked, reports, cwd);
    if let Some(summary) = &reports.summary
        && let Err(error) = files::append_summary(checked, summary)
    {
        stderr(&format!(
            "agentgate: the job's summary (GITHUB_STEP_SUMMARY) was not written: {error}\n"
        ));
    }
    failures
}

/// A `check` in one format.
fn check_format(checked: &Checked, format: Format) -> String {
    match format {
        Format::Text => match checked.outcome {
            checked::Outcome::Judged(report) => render::text(&report.verdict),
            checked::Outcome::Refused(stop) => format!("{}\n{}\n", checked::reason(stop), checked.summary()),
        },
        Format::Json => match checked.outcome {
            checked::Outcome::Judged(report) => json::check(report),
            checked::Outcome::Refused(stop) => json::refusal(stop),
        },
        Format::Sarif => sarif::render(checked),
        Format::Github => github::render(checked),
        Format::Junit => junit::render(checked),
        Format::Markdown => markdown::render(checked),
        Format::Gitlab => gitlab::render(checked),
    }
}

/// Prints a refusal for a person.
fn say(stop: &Stop) {
    stderr(&refused(stop));
}

/// A refusal in words.
fn refused(stop: &Stop) -> String {
    let mut text = format!("agentgate: error: {}\n", render::lines(&stop.message));
    for hint in &stop.hints {
        text.push_str(&format!("hint: {}\n", render::lines(hint)));
    }
    if stop.exit != Exit::Internal || !stop.hints.is_empty() {
        text.push_str(&format!("(exit {})\n", stop.exit));
    }
    text
}

/// Writes to standard output. A reader that has gone away is no failure of ours.
///
/// # Errors
/// Any other failure.
pub fn stdout(text: &str) -> std::io::Result<()> {
    let text = credentials::masked(text);
    let mut out = std::io::stdout().lock();
    if terminal_is_gone(&out) {
        return Ok(());
    }
    match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
        Err(error) if !reader_is_gone(&out, &error) => Err(error),
        _ => Ok(()),
    }
}

/// The end of a pipe whose other end is closed, or a terminal that was. A device of another kind that
/// fails so (EIO) has no reader either.
fn reader_is_gone(out: &std::io::StdoutLock<'_>, error: &std::io::Error) -> bool {
    error.kind() == std::io::ErrorKind::BrokenPipe
        || (error.raw_os_error() == Some(rustix::io::Errno::IO.raw_os_error()) && is_device(out))
}

/// Writes to standard error, as far as somebody reads it.
pub fn stderr(text: &str) {
    let text = credentials::masked(text);
    let mut out = std::io::stderr().lock();
    if !terminal_is_gone(&out) {
        let _ = out.write_all(text.as_bytes());
    }
}

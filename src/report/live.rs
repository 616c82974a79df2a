//! What is printed while a command goes on, and what a run leaves for those who come later.

use std::path::Path;

use rustix::event::{PollFd, PollFlags, poll};
use serde_json::Value;

use super::{Outcome, json, reader_is_gone, stderr, text};
use crate::commands::attach::News;
use crate::commands::closing::{Closing, Said};
use crate::commands::following::LOOK;
use crate::commands::jobs;
use crate::exit::{Exit, Stop};
use crate::gate::{credentials, render};
use crate::job::log::Line;
use crate::process::terminal_is_gone;

/// Longest line about an event, in characters.
const LONGEST: usize = 140;

/// Writes whole lines to standard output at once. False where nobody reads them any more.
///
/// # Errors
/// They cannot be written for another reason.
pub fn line(text: &str) -> std::io::Result<bool> {
    use std::io::Write;
    let text = credentials::masked(text);
    let mut out = std::io::stdout().lock();
    if terminal_is_gone(&out) {
        return Ok(false);
    }
    match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
        Ok(()) => Ok(true),
        Err(error) if reader_is_gone(&out, &error) => Ok(false),
        Err(error) => Err(error),
    }
}

/// Writes one message of a protocol as it is. False where nobody reads any more.
///
/// # Errors
/// It cannot be written for another reason.
pub fn message(line: &str) -> std::io::Result<bool> {
    use std::io::Write;
    let mut out = std::io::stdout().lock();
    let text = format!("{line}\n");
    match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
        Ok(()) => Ok(true),
        Err(error) if reader_is_gone(&out, &error) => Ok(false),
        Err(error) => Err(error),
    }
}

/// Waits a moment. False once nobody reads our standard output, although nothing is to be printed.
pub fn rest_while_read() -> bool {
    let out = rustix::stdio::stdout();
    let mut fds = [PollFd::new(&out, PollFlags::empty())];
    match poll(&mut fds, Some(&LOOK)) {
        Ok(_) => !fds[0].revents().intersects(PollFlags::ERR | PollFlags::HUP),
        Err(_) => true,
    }
}

/// An event as `log` prints it.
pub fn event(line: &Line, json: bool) -> String {
    if json { json::event(line) } else { text::event(line) }
}

/// Shows what a job does, for `attach`: beside the result, as `run` does it.
pub fn news(news: News<'_>) {
    match news {
        News::Output(text) => stderr(&format!("| {text}\n")),
        News::Answer(text) => stderr(&format!("agentgate: {text}\n")),
        News::Event(line) => {
            let details = jobs::details(&line.json).into_iter();
            let details: Vec<String> = details.map(|(key, value)| format!("{key}={value}")).collect();
            let about = render::path(details.join(" ").as_bytes());
            let at = line.at.parse::<jiff::Timestamp>();
            let at = at.map_or_else(
                |_| render::path(line.at.as_bytes()),
                |at| at.strftime("%H:%M:%SZ").to_string(),
            );
            let text = format!("agentgate: {at} {} {about}", render::path(line.kind.as_bytes()));
            let text = match text.char_indices().nth(LONGEST) {
                // `log` shows it whole.
                Some((end, _)) => format!("{} ...", text[..end].trim_end()),
                None => text.trim_end().to_owned(),
            };
            stderr(&format!("{text}\n"));
        }
    }
}

/// Keeps what a run says at its end in the record; whether it did. That it cannot be kept is told: the log has the
/// verdict. Whoever lost the job to another process, and whatever is no end of it, leaves nothing.
pub fn keep(record: &Path, result: &Result<Outcome, Stop>) -> bool {
    let (exit, said) = match result {
        // It is there already.
        Ok(Outcome::Attach(_)) => return true,
        Err(stop) if stop.exit == Exit::Locked => return false,
        Ok(outcome) => {
            let (result, beside) = text::render(outcome);
            let (result, beside) = (credentials::masked(&result), credentials::masked(&beside));
            let json = serde_json::from_str(&credentials::masked(&json::render(outcome))).unwrap_or(Value::Null);
            let said = Said::Report {
                result: result.to_string(),
                beside: beside.to_string(),
                json,
            };
            (outcome.exit(), said)
        }
        Err(stop) => {
            let said = Said::Error {
                message: credentials::masked(&stop.message).to_string(),
                hints: stop
                    .hints
                    .iter()
                    .map(|hint| credentials::masked(hint).to_string())
                    .collect(),
            };
            (stop.exit, said)
        }
    };
    let saved = Closing::save(record, exit, said);
    if let Err(error) = &saved {
        stderr(&format!(
            "note: this report could not be kept in the record: {error:#}\n"
        ));
    }
    saved.is_ok()
}

//! What a `run` says at its end, kept beside the log: for `attach`, `wait` and `stop`, which come from elsewhere
//! or later, and for a job whose own output nobody saw.
//!
//! The log says how the job ended. What came after it (a landing that was refused, copies that failed) and the
//! words of the report stand only here. It is written once all is done and every lock is free again, so its
//! being there says that the run is over.
//!
//! No event can name it, so its last field checks it: the file is one JSON object of several lines and ends in
//! `,\n  "sum": "S"\n}\n`, where S is the lower-case hex SHA-256 over the `sum` of the event that `ended_by` names
//! (64 bytes) and all of the file before that `,`.

use std::io::ErrorKind;
use std::path::Path;

use anyhow::{Context, Result, bail};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::exit::{Exit, Stop};
use crate::files;
use crate::job::Event;
use crate::job::log::{Line, Log, sha256_hex};
use crate::store::{Folder, REPORT};

/// Larger ones are not read.
const LIMIT: u64 = 64 << 20;

/// The closing report of a run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Closing {
    /// Of this file's shape.
    pub schema: String,
    /// The event that ended the job; of another one this is not the report.
    pub ended_by: u64,
    /// What `run` returned.
    pub exit: u8,
    /// The report, or why there is none.
    #[serde(flatten)]
    pub said: Said,
}

/// What was printed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Said {
    /// The report.
    Report {
        /// On standard output.
        result: String,
        /// On standard error.
        beside: String,
        /// With `--json`.
        json: Value,
    },
    /// A failure that nobody planned for.
    Error {
        /// What happened.
        message: String,
        /// What to do next.
        hints: Vec<String>,
    },
}

impl Closing {
    /// The shape that this version writes and reads.
    pub const SCHEMA: &str = "agentgate/closing/1";

    /// The process's exit.
    pub fn exit(&self) -> Exit {
        Exit::from_code(self.exit).unwrap_or(Exit::Internal)
    }

    /// Keeps it in the record, bound to the event that ended the job.
    ///
    /// # Errors
    /// The log cannot be read or says of no end, or of another one than a failure that this is: then the process
    /// does not know what it wrote, or the job is not its own any more. The file cannot be written.
    pub fn save(record: &Path, exit: Exit, said: Said) -> Result<()> {
        let id = record.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let folder = Folder {
            id,
            path: record.to_owned(),
        };
        let log = folder.log()?;
        let end = ending(&log).context("its log says of no end")?;
        let ended = end.event.as_ref().and_then(Event::ends_with);
        if matches!(said, Said::Error { .. }) && ended != Some(exit) {
            bail!("its log says of another end");
        }
        let closing = Closing {
            schema: Closing::SCHEMA.to_owned(),
            ended_by: end.seq,
            exit: exit.code(),
            said,
        };
        let text = summed(&format!("{:#}", serde_json::to_value(&closing)?), &end.sum);
        files::replace(&record.join(REPORT), text.as_bytes(), 0o600)
            .with_context(|| format!("cannot write {REPORT} of the record"))
    }

    /// That of the end which this log tells of; none where it is not there (yet) or not of this shape.
    pub fn of(folder: &Folder, log: &Log) -> Result<Option<Closing>> {
        let bytes = match files::read_small(&folder.path.join(REPORT), LIMIT) {
            Ok(bytes) => bytes,
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(error).with_context(|| format!("cannot read {REPORT} of job {}", folder.id)),
        };
        let closing: Option<Closing> = serde_json::from_slice(&bytes).ok();
        let seq = ending(log).map(|line| line.seq);
        Ok(closing.filter(|closing| closing.schema == Closing::SCHEMA && Some(closing.ended_by) == seq))
    }

    /// The failure that it tells of, as `run` returned it.
    pub fn error(&self) -> Option<Stop> {
        match &self.said {
            Said::Report { .. } => None,
            Said::Error { message, hints } => Some(Stop {
                exit: self.exit(),
                message: message.clone(),
                hints: hints.clone(),
            }),
        }
    }
}

/// The file's text: the object with its sum as the last field.
fn summed(object: &str, end: &str) -> String {
    let body = object.strip_suffix("\n}").unwrap_or(object);
    let sum = sha256_hex(&[end.as_bytes(), body.as_bytes()]);
    format!("{body}{}", tail(&sum))
}

fn tail(sum: &str) -> String {
    format!(",\n  \"sum\": \"{sum}\"\n}}\n")
}

/// Whether the file is byte for byte what the run wrote when its job had ended by the event with this sum.
pub fn is_whole(file: &[u8], end: &str) -> bool {
    let length = file.len().saturating_sub(tail(end).len());
    let (body, rest) = file.split_at(length);
    rest == tail(&sha256_hex(&[end.as_bytes(), body])).as_bytes()
}

/// The event that ended the job.
pub fn ending(log: &Log) -> Option<&Line> {
    let ends = |line: &&crate::job::log::Line| line.event.as_ref().is_some_and(|event| event.ends_with().is_some());
    log.lines.iter().rev().find(ends)
}

//! The lines of `events.jsonl`: encoded, decoded, and their chain verified.
//!
//! `sum` is the lower-case hex SHA-256 over the previous line's `sum` (64 zeros for the first)
//! and all of this line before `,"sum"`. It proves the order of the lines and each line by itself.

use std::fmt;

use serde_json::{Map, Value};
use sha2::{Digest, Sha256};

use super::Event;

/// Format version of a line.
pub const VERSION: u64 = 1;
/// Upper limit of a line in bytes, newline included: one `write` of this size is not torn by others.
pub const MAX_LINE: usize = 4096;
/// The sum before the first line.
pub const NO_SUM: &str = "0000000000000000000000000000000000000000000000000000000000000000";

/// One line as it stands in the file.
#[derive(Clone, Debug, PartialEq)]
pub struct Line {
    /// Position, from 1 without gaps.
    pub seq: u64,
    /// Which ownership wrote it.
    pub epoch: u64,
    /// RFC 3339, UTC.
    pub at: String,
    /// Its own sum.
    pub sum: String,
    /// The dotted kind.
    pub kind: String,
    /// All of it, unknown fields included.
    pub json: Map<String, Value>,
    /// The event, or `None` for a kind or version that this agentgate does not know.
    pub event: Option<Event>,
}

/// A whole log.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Log {
    /// Every valid line, in order.
    pub lines: Vec<Line>,
    /// Length in bytes of what is valid.
    pub valid_bytes: u64,
    /// Bytes after that which are a torn tail.
    pub torn_bytes: u64,
    /// The last line is complete but for its newline.
    pub unterminated: bool,
}

impl Log {
    /// Sum of the last line.
    pub fn last_sum(&self) -> &str {
        self.lines.last().map_or(NO_SUM, |line| &line.sum)
    }
}

/// Damage that is not a torn tail: something valid stands after it, or it cannot be explained.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Damaged {
    /// 1-based line of the file.
    pub line: u64,
    /// What is wrong with it.
    pub why: String,
}

impl fmt::Display for Damaged {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the event log is damaged at line {}: {}", self.line, self.why)
    }
}

impl std::error::Error for Damaged {}

/// Lower-case hex SHA-256.
pub fn sha256_hex(parts: &[&[u8]]) -> String {
    let mut hash = Sha256::new();
    parts.iter().for_each(|part| hash.update(part));
    hash.finalize().iter().map(|byte| format!("{byte:02x}")).collect()
}

/// The line for an event, with its newline, and its sum.
///
/// # Errors
/// A line longer than [`MAX_LINE`] is refused: large things belong into a file beside the log.
pub fn encode(
    prev_sum: &str,
    seq: u64,
    epoch: u64,
    at: &str,
    job: &str,
    event: &Event,
) -> Result<(String, String), String> {
    let mut fields = Map::new();
    fields.insert("v".into(), VERSION.into());
    fields.insert("seq".into(), seq.into());
    fields.insert("epoch".into(), epoch.into());
    fields.insert("at".into(), at.into());
    fields.insert("job".into(), job.into());
    match serde_json::to_value(event) {
        Ok(Value::Object(own)) => fields.extend(own),
        Ok(_) | Err(_) => return Err("an event could not be written as JSON".into()),
    }
    let mut text = Value::Object(fields).to_string();
    text.pop(); // the closing brace comes after the sum
    let sum = sha256_hex(&[prev_sum.as_bytes(), text.as_bytes()]);
    let line = format!("{text},\"sum\":\"{sum}\"}}\n");
    if line.len() > MAX_LINE {
        return Err(format!(
            "an event of {} bytes is over the limit of {MAX_LINE}",
            line.len()
        ));
    }
    Ok((line, sum))
}

/// Reads a log. A torn tail (a half line, NULs) is counted and left out; anything else that does
/// not fit is [`Damaged`].
pub fn decode(bytes: &[u8]) -> Result<Log, Damaged> {
    let mut log = Log::default();
    let mut start = 0;
    let mut number = 0;
    while start < bytes.len() {
        number += 1;
        let newline = bytes[start..].iter().position(|&b| b == b'\n').map(|at| start + at);
        let end = newline.unwrap_or(bytes.len());
        match read_line(&bytes[start..end], &log) {
            Ok(line) => {
                log.lines.push(line);
                log.unterminated = newline.is_none();
                start = newline.map_or(bytes.len(), |at| at + 1);
                log.valid_bytes = start as u64;
            }
            Err(why) => {
                let rest = &bytes[start..];
                if is_torn_tail(rest) {
                    log.torn_bytes = rest.len() as u64;
                    return Ok(log);
                }
                return Err(Damaged { line: number, why });
            }
        }
    }
    Ok(log)
}

/// A torn tail has no complete line in it: only a half line without newline, and NUL bytes that a
/// file system leaves where data never reached the disk.
fn is_torn_tail(rest: &[u8]) -> bool {
    let text: Vec<u8> = rest.iter().copied().filter(|&b| b != 0).collect();
    !text.contains(&b'\n') || text.iter().all(|&b| b == b'\n')
}

fn read_line(raw: &[u8], log: &Log) -> Result<Line, String> {
    let text = std::str::from_utf8(raw).map_err(|_| "not UTF-8".to_string())?;
    let json: Map<String, Value> =
        serde_json::from_str(text).map_err(|error| format!("not a JSON object ({error})"))?;
    let number = |key: &str| {
        json.get(key)
            .and_then(Value::as_u64)
            .ok_or_else(|| format!("no number under {key:?}"))
    };
    let string = |key: &str| {
        json.get(key)
            .and_then(Value::as_str)
            .map(str::to_owned)
            .ok_or_else(|| format!("no text under {key:?}"))
    };
    let sum = string("sum")?;
    let tail = format!(",\"sum\":\"{sum}\"}}");
    let body = text.strip_suffix(&tail).ok_or("its sum is not the last field")?;
    if sha256_hex(&[log.last_sum().as_bytes(), body.as_bytes()]) != sum {
        return Err("its sum does not fit: the line or one before it was changed".into());
    }
    let (seq, epoch, v) = (number("seq")?, number("epoch")?, number("v")?);
    let expected = log.lines.len() as u64 + 1;
    if seq != expected {
        return Err(format!("seq {seq} where {expected} is due"));
    }
    let event = (v == VERSION)
        .then(|| serde_json::from_value(Value::Object(json.clone())).ok())
        .flatten();
    Ok(Line {
        seq,
        epoch,
        at: string("at")?,
        kind: string("event")?,
        sum,
        event,
        json,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::job::FileRef;

    fn encoded(event: &Event) -> String {
        encode(NO_SUM, 1, 1, "2026-11-30T12:00:00.000Z", &"j".repeat(64), event)
            .expect("it fits")
            .0
    }

    #[test]
    fn lines_without_the_files_that_later_versions_name_still_read() {
        let at = r#"{"v":1,"seq":1,"epoch":1,"at":"2026-11-30T12:00:00.000Z","job":"j","event":"#;
        let tree = "0".repeat(40);
        for rest in [
            format!(
                r#""candidate.frozen","tree":"{tree}","changed":1,"hidden":0,"refs":[],"nested":[],"collisions":[]"#
            ),
            r#""gate.finished","exit":0,"findings":0,"report":{"name":"gate.json","bytes":1,"sha256":"x"}"#.into(),
            r#""job.refused","exit":3"#.into(),
            r#""job.failed","exit":16,"reason":"x""#.into(),
            r#""job.interrupted","signal":2,"exit":130"#.into(),
        ] {
            let body = format!("{at}{rest}");
            let sum = sha256_hex(&[NO_SUM.as_bytes(), body.as_bytes()]);
            let log = decode(format!("{body},\"sum\":\"{sum}\"}}\n").as_bytes()).expect("a log");
            let event = log.lines[0].event.clone().expect("a known event");
            assert!(event.files().iter().all(|file| file.name == "gate.json"), "{event:?}");
            // What is not there is not written either.
            assert!(!encoded(&event).contains("\"files\""), "{event:?}");
        }
    }

    #[test]
    fn the_lists_of_a_frozen_candidate_fit_into_a_line() {
        let file = |name: &str| FileRef {
            name: name.into(),
            bytes: u64::from(u32::MAX),
            sha256: "a".repeat(64),
        };
        // As much as `few` lets through.
        let list = || vec!["x".repeat(100); 8];
        let names = ["ignored.tar", "agent-refs.bundle", "agent-git.tar", "frozen.json"];
        let event = Event::Frozen {
            tree: "0".repeat(64),
            changed: u64::from(u32::MAX),
            hidden: u64::from(u32::MAX),
            refs: list(),
            nested: list(),
            collisions: list(),
            credentials: u64::from(u32::MAX),
            files: names.map(file).to_vec(),
        };
        assert!(encoded(&event).len() <= MAX_LINE);
    }
}

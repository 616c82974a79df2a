//! `agentgate run --detach`: the command that waits until the job goes on by itself.

use std::ffi::OsString;
use std::path::PathBuf;

use anyhow::{Context, Result};
use serde_json::{Value, json};

use super::run::Begun;
use crate::exit::{Exit, Stop};
use crate::process::detach::{self, Start};
use crate::process::{ProcessId, Status};

/// What came of it.
#[derive(Clone, Debug)]
pub enum Report {
    /// The job goes on.
    Left {
        /// The job.
        begun: Begun,
        /// The process that owns it.
        pid: i32,
    },
    /// There is none, or it has ended: all was said already.
    Ended(Exit),
}

impl Report {
    /// The process's exit.
    pub fn exit(&self) -> Exit {
        match self {
            Report::Left { .. } => Exit::Ok,
            Report::Ended(exit) => *exit,
        }
    }
}

/// Starts `agentgate` again with these arguments, which are those of a `run`, and waits until it has left.
pub fn detach(args: &[OsString]) -> Result<Report> {
    match detach::start(args)? {
        Start::Left(words) => read(&words),
        Start::Ended(Status::Exited(code)) => {
            let code = u8::try_from(code).ok().and_then(Exit::from_code);
            Ok(Report::Ended(code.unwrap_or(Exit::Internal)))
        }
        Start::Ended(Status::Signaled(signal)) => {
            let stop = format!("the process that was to own the job was ended by signal {signal}");
            Err(Stop::new(Exit::Internal, stop)
                .hint("agentgate status shows whether there is a job")
                .into())
        }
    }
}

/// What the owner tells when it leaves: one line.
pub fn words(begun: &Begun) -> Result<Vec<u8>> {
    let me = ProcessId::current().context("cannot read /proc/self")?;
    let line = json!({
        "job_id": begun.job_id, "record": begun.record.to_string_lossy(), "agentgate": begun.agentgate, "pid": me.pid,
    });
    Ok(format!("{line}\n").into_bytes())
}

fn read(words: &[u8]) -> Result<Report> {
    let line: Value = serde_json::from_slice(words).context("what the job's process said cannot be read")?;
    let text = |key: &str| {
        let text = line[key].as_str().map(str::to_owned);
        text.with_context(|| format!("the job's process did not say its {key}"))
    };
    Ok(Report::Left {
        begun: Begun {
            job_id: text("job_id")?,
            record: PathBuf::from(text("record")?),
            agentgate: text("agentgate")?,
        },
        pid: line["pid"]
            .as_i64()
            .and_then(|pid| i32::try_from(pid).ok())
            .unwrap_or(0),
    })
}

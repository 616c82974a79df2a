//! One command in a workspace, behind the agent's walls, until nothing of it is left.

use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io::{Read, Seek, SeekFrom};
use std::path::Path;
use std::time::Duration;

use anyhow::{Context, Result};

use super::Bench;
use super::workspace::Workspace;
use crate::agent::lookup;
use crate::commands::Watch;
use crate::files;
use crate::gate::checks::{CheckEnd, one_line};
use crate::gate::{credentials, render};
use crate::process::{AgentRun, Ending, printable};

/// How many lines of output a failure shows.
const LINES: usize = 20;
/// Longest of them in characters.
const LINE: usize = 300;
/// How much of the end of a log is looked at.
const TAIL: u64 = 64 << 10;

/// How it was.
pub(super) struct Ended {
    pub(super) end: CheckEnd,
    pub(super) leftovers: u64,
    pub(super) duration: Duration,
    /// The last lines of its output, printable.
    pub(super) last_lines: Vec<String>,
}

impl Workspace {
    /// Runs a command in the checkout; its output is appended to the log.
    ///
    /// # Errors
    /// Exit 21 where the walls cannot be applied; the output cannot be recorded; something of it cannot be
    /// ended.
    pub(super) fn command(
        &mut self,
        bench: &Bench<'_>,
        words: &[String],
        limit: Duration,
        log: &Path,
        watch: &dyn Watch,
    ) -> Result<Ended> {
        let line = format!("$ {}\n", render::path(shell_words::join(words).as_bytes()));
        files::append_synced(&files::open_append(log, 0o600)?, line.as_bytes())
            .with_context(|| format!("cannot append to {}", log.display()))?;
        let name = words.first().context("a command without a program")?;
        let program = match lookup::program(OsStr::new(name), &self.places.worktree, self.path()) {
            Ok(program) => program,
            Err(error) => {
                // It is no agent.
                let error = error.to_string();
                let error = error.strip_prefix("agent ").unwrap_or(&error);
                return Ok(Ended {
                    end: CheckEnd::NotStarted { error: one_line(error) },
                    leftovers: 0,
                    duration: Duration::ZERO,
                    last_lines: Vec::new(),
                });
            }
        };
        let from = std::fs::metadata(log)?.len();
        let run = AgentRun {
            plan: bench
                .walls
                .agent(bench.checkout, &self.places, &program, bench.surroundings),
            program,
            argv: words.iter().map(OsString::from).collect(),
            cwd: self.places.worktree.clone(),
            environment: self.environment.clone(),
            stdin: None,
            log: log.to_owned(),
            verbose: bench.verbose,
            limit: Some(limit),
            idle: None,
            grace: AgentRun::GRACE,
        };
        let finished = run.run(&mut |progress| watch.agent(progress.elapsed, progress.last_line));
        watch.settled();
        let finished = finished?;
        if let Some(error) = finished.log_error {
            anyhow::bail!("the output of a check could not be recorded: {error}");
        }
        let end = match finished.ending {
            Ending::Exited(status) => CheckEnd::Exited { status },
            Ending::Signaled(signal) => CheckEnd::Signaled { signal },
            Ending::TimedOut | Ending::Silent(_) => CheckEnd::TimedOut {
                timeout: limit.as_secs(),
            },
            Ending::Interrupted(signal) => CheckEnd::Interrupted { signal },
            Ending::NotStarted(error) => CheckEnd::NotStarted {
                error: one_line(&error),
            },
        };
        Ok(Ended {
            end,
            leftovers: finished.leftovers as u64,
            duration: finished.duration,
            last_lines: last_lines(log, from)?,
        })
    }
}

/// The last lines that were written to a file behind this place, printable.
pub(in crate::commands) fn last_lines(log: &Path, from: u64) -> Result<Vec<String>> {
    let read = || -> std::io::Result<Vec<u8>> {
        let mut file = File::open(log)?;
        let length = file.metadata()?.len();
        file.seek(SeekFrom::Start(from.max(length.saturating_sub(TAIL))))?;
        let mut bytes = Vec::new();
        file.take(TAIL).read_to_end(&mut bytes)?;
        Ok(bytes)
    };
    let bytes = read().with_context(|| format!("cannot read {}", log.display()))?;
    // They go into the gate's log, and with it into a ref.
    let bytes = credentials::masked(&String::from_utf8_lossy(&bytes)).into_bytes();
    // A progress bar rewrites its line behind a carriage return: the last text is what stands there.
    let lines = bytes.split(|&b| b == b'\n').map(|line| {
        let line = line.strip_suffix(b"\r").unwrap_or(line);
        let shown = line.rsplit(|&b| b == b'\r').next().unwrap_or(line);
        let shown: String = printable(shown).trim_end().chars().take(LINE).collect();
        shown
    });
    let lines: Vec<String> = lines.filter(|line| !line.is_empty()).collect();
    Ok(lines[lines.len().saturating_sub(LINES)..].to_vec())
}

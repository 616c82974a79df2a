//! One check on one tree: workspace, set-up, command, and the look at the clone afterwards.

use std::path::Path;
use std::time::Duration;

use anyhow::Result;

use super::workspace::Workspace;
use super::{Bench, Ran, Subject};
use crate::agent::settings::Check;
use crate::commands::Watch;
use crate::exit::{Exit, Stop};
use crate::files;
use crate::gate::checks::{CheckEnd, CheckResult, one_line};
use crate::git::fingerprint::Fingerprint;
use crate::process::signals;
use crate::task::format_duration;

/// One check, wherever it is run.
pub(super) struct Run<'a> {
    pub(super) bench: &'a Bench<'a>,
    /// The clone as it was, where no mount keeps it so.
    pub(super) before: Option<&'a Fingerprint>,
    pub(super) key: &'a str,
    pub(super) check: &'a Check,
    /// For the names of its logs.
    pub(super) number: usize,
    /// What a progress line calls it.
    pub(super) words: String,
}

impl<'a> Run<'a> {
    /// With nothing done yet.
    pub(super) fn ran(&self, end: CheckEnd, on: &'static str) -> Ran<'a> {
        Ran {
            key: self.key,
            name: &self.check.name,
            on,
            end,
            leftovers: 0,
            millis: 0,
            log: None,
        }
    }

    /// With nothing but how it ended.
    pub(super) fn result(&self, end: CheckEnd) -> CheckResult {
        CheckResult {
            key: self.key.to_owned(),
            name: self.check.name.clone(),
            end,
            millis: 0,
            last_lines: Vec::new(),
            log: None,
            baseline: None,
        }
    }

    /// Makes a workspace, sets it up, runs the command and deletes the workspace, whatever happened.
    pub(super) fn on(
        &self,
        subject: Subject,
        on: &'static str,
        watch: &dyn Watch,
        notices: &mut Vec<String>,
    ) -> Result<(Ran<'a>, Vec<String>)> {
        let log = match on {
            "base" => format!("check-{}-base.log", self.number),
            _ => format!("check-{}.log", self.number),
        };
        let place = self.bench.logs.join(&log);
        files::replace(&place, b"", 0o600)?;
        let mut ran = Ran {
            log: Some(log),
            ..self.ran(CheckEnd::Skipped, on)
        };
        let mut workspace = match Workspace::make(self.bench, subject) {
            Ok(workspace) => workspace,
            Err(error) => {
                ran.end = match signals::pending() {
                    Some(signal) => CheckEnd::Interrupted { signal },
                    None if error.is::<Stop>() => return Err(error),
                    None => CheckEnd::NotStarted {
                        error: one_line(&format!("a fresh checkout cannot be made: {error:#}")),
                    },
                };
                return Ok((ran, Vec::new()));
            }
        };
        let ended = self.in_workspace(&mut workspace, &place, &mut ran, watch);
        let mut said = std::mem::take(&mut workspace.notices);
        said.extend(workspace.remove());
        if ran.leftovers > 0 {
            said.push(format!(
                "check `{}` left {} process(es) running, which were ended",
                self.check.name, ran.leftovers
            ));
        }
        said.retain(|notice| !notices.contains(notice));
        notices.append(&mut said);
        Ok((ran, ended?))
    }

    /// The set-up, then the command; the last lines of whichever came last.
    fn in_workspace(
        &self,
        workspace: &mut Workspace,
        log: &Path,
        ran: &mut Ran<'_>,
        watch: &dyn Watch,
    ) -> Result<Vec<String>> {
        let limit = Duration::from_secs(self.bench.effective.timeout);
        let mut left = limit;
        let setup = &self.bench.effective.setup;
        for (index, words) in setup.iter().enumerate() {
            let one = workspace.command(self.bench, words, left, log, watch)?;
            self.compare(&mut workspace.notices)?;
            ran.leftovers += one.leftovers;
            left = left.saturating_sub(one.duration);
            if one.end.failed() {
                ran.end = match one.end {
                    CheckEnd::Interrupted { .. } => one.end,
                    end => CheckEnd::NotStarted {
                        error: one_line(&format!(
                            "its set-up failed: command {} of {} (`{}`) {}",
                            index + 1,
                            setup.len(),
                            shell_words::join(words),
                            match end {
                                CheckEnd::TimedOut { .. } =>
                                    format!("was not done within {}", format_duration(limit.as_secs())),
                                end => end.words(),
                            }
                        )),
                    },
                };
                return Ok(one.last_lines);
            }
        }
        let limit = Duration::from_secs(self.check.timeout);
        let one = workspace.command(self.bench, &self.check.run, limit, log, watch)?;
        self.compare(&mut workspace.notices)?;
        ran.leftovers += one.leftovers;
        ran.millis = u64::try_from(one.duration.as_millis()).unwrap_or(u64::MAX);
        ran.end = one.end;
        Ok(one.last_lines)
    }

    /// Before any git starts in the clone again.
    fn compare(&self, notices: &mut Vec<String>) -> Result<()> {
        let Some(before) = self.before else { return Ok(()) };
        let difference = before.difference(self.bench.checkout, self.bench.job)?;
        if !difference.collisions.is_empty() {
            let what = format!(
                "the clone's git dir changed while check `{}` ran: {}",
                self.check.name,
                difference.collisions.join(", ")
            );
            return Err(Stop::new(Exit::Collision, what)
                .hint("look at what changed there, and put it back if it was not you")
                .into());
        }
        if !difference.told.is_empty() {
            let shown: Vec<&str> = difference.told.iter().take(10).map(String::as_str).collect();
            let notice = format!(
                "the clone changed while checks ran, origin unknown (nothing of it is in the candidate): {}",
                shown.join("; ")
            );
            notices.push(notice);
        }
        Ok(())
    }
}

//! The commands of `checks:`, on the frozen tree of a job that breaks no other rule.

use anyhow::{Context, Result};
use git2::Oid;

use super::prepare::Job;
use crate::commands::Watch;
use crate::commands::checks::{Bench, Subject, last_lines, run_all};
use crate::gate::Verdict;
use crate::gate::checks::{CheckEnd, CheckResult};
use crate::job::Event;

impl Job {
    /// Runs them and puts what they came to into the verdict. False where a signal ended them: then there is
    /// no verdict.
    pub(super) fn run_checks(
        &mut self,
        verdict: &mut Verdict,
        tree: Oid,
        changed: &[Vec<u8>],
        watch: &dyn Watch,
    ) -> Result<bool> {
        let checks = &self.effective.checks;
        if checks.is_empty() {
            return Ok(true);
        }
        if !verdict.findings.is_empty() {
            verdict
                .notices
                .push(not_run(checks.len(), "the gate refuses the change"));
            return Ok(true);
        }
        let keyed = checks.iter().cloned().enumerate();
        let mut keyed: Vec<_> = keyed
            .map(|(index, check)| (format!("checks[{index}]"), check))
            .collect();
        // Those that were over when an earlier owner ended are not run again.
        let over = self.checks_over();
        keyed.drain(..over.len());
        if keyed.is_empty() {
            settle(verdict, over);
            return Ok(true);
        }
        let first = 1 + over.len();
        let folder = self.places.private.join("check");
        let mark = self.places.private.join("task/TASK.md");
        let logs = self.owner.folder.path.clone();
        let id = self.owner.folder.id.clone();
        let bench = Bench {
            checkout: &self.checkout,
            surroundings: &self.surroundings,
            effective: &self.effective,
            walls: &self.walls,
            content: self.content.as_ref().context("no settings")?,
            copies: &self.copies,
            candidate: Subject { tree, head: self.base },
            base: self.base,
            root: &self.places.root,
            folder: &folder,
            mark: &mark,
            job: &id,
            host: &self.created.host,
            logs: &logs,
            verbose: self.verbose,
        };
        let owner = &mut self.owner;
        let outcome = run_all(&bench, &keyed, first, changed, watch, &mut |ran| {
            let output = ran.log.as_deref().map(|log| owner.folder.describe(log)).transpose()?;
            owner.append(&Event::CheckFinished {
                check: ran.key.to_owned(),
                name: ran.name.to_owned(),
                on: ran.on.to_owned(),
                end: ran.end.clone(),
                leftovers: ran.leftovers,
                millis: ran.millis,
                output,
            })
        })?;
        let told = outcome
            .notices
            .into_iter()
            .filter(|notice| !self.notices.contains(notice));
        let told: Vec<String> = told.collect();
        self.notices.extend(told);
        settle(verdict, over.into_iter().chain(outcome.results).collect());
        Ok(outcome.interrupted.is_none())
    }

    /// What the checks came to that are over, by the log: the first of those that the settings name, without gaps.
    pub(super) fn checks_over(&self) -> Vec<CheckResult> {
        let runs = &self.owner.state.checks;
        let run = |key: &str, on: &str| runs.iter().rev().find(|run| run.check == key && run.on == on);
        let mut over = Vec::new();
        for (index, check) in self.effective.checks.iter().enumerate() {
            let key = format!("checks[{index}]");
            let Some(found) = run(&key, "candidate") else { break };
            let baseline = run(&key, "base").map(|run| run.end.clone());
            let failed = found.end.failed();
            let is_half = failed && check.baseline && baseline.is_none();
            if is_half || matches!(found.end, CheckEnd::Interrupted { .. }) {
                break;
            }
            let log = found.output.as_ref().map(|file| file.name.clone());
            let said = log.as_ref().filter(|_| failed);
            let said = said.and_then(|log| last_lines(&self.owner.folder.path.join(log), 0).ok());
            over.push(CheckResult {
                key,
                name: check.name.clone(),
                end: found.end.clone(),
                millis: found.millis,
                last_lines: said.unwrap_or_default(),
                log,
                baseline: baseline.filter(|_| failed),
            });
        }
        over
    }
}

/// Puts what checks came to into a verdict.
pub(super) fn settle(verdict: &mut Verdict, results: Vec<CheckResult>) {
    let findings = results.iter().filter_map(CheckResult::finding);
    verdict.findings.extend(findings);
    verdict.checks = results;
    verdict.settle();
}

/// Why checks were not run, as a notice.
pub fn not_run(count: usize, why: &str) -> String {
    match count {
        1 => format!("1 check was not run: {why}"),
        _ => format!("{count} checks were not run: {why}"),
    }
}

//! The commands of `checks:`, on the frozen tree of a job that breaks no other rule.

use anyhow::{Context, Result};
use git2::Oid;

use super::prepare::Job;
use crate::commands::Watch;
use crate::commands::checks::{Bench, Subject, run_all};
use crate::gate::Verdict;
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
        let keyed: Vec<_> = keyed
            .map(|(index, check)| (format!("checks[{index}]"), check))
            .collect();
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
        let outcome = run_all(&bench, &keyed, 1, changed, watch, &mut |ran| {
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
        verdict
            .findings
            .extend(outcome.results.iter().filter_map(|result| result.finding()));
        verdict.checks = outcome.results;
        verdict.settle();
        Ok(outcome.interrupted.is_none())
    }
}

/// Why checks were not run, as a notice.
pub fn not_run(count: usize, why: &str) -> String {
    match count {
        1 => format!("1 check was not run: {why}"),
        _ => format!("{count} checks were not run: {why}"),
    }
}

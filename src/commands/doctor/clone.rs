//! What a job would find in the clone: base, policy, identity, a clean checkout.

use std::path::Path;

use super::as_stop;
use super::report::Report;
use crate::agent::effective::Effective;
use crate::agent::settings::{Person, Settings};
use crate::commands::{Surroundings, first_policy, implementer, preflight, run};
use crate::exit::{Exit, Stop};
use crate::gate::policy::PolicyError;
use crate::gate::{self, GateError, POLICY_PATH, Policy, SETTINGS_PATH, Tree};
use crate::git::history::Identity;
use crate::git::repo::Checkout;
use crate::git::shell;
use crate::git::tree::GitTree;

/// What a job would start from.
pub struct Base {
    commit: git2::Oid,
    settings: Settings,
}

/// HEAD, and the policy and settings that it holds.
pub fn base(report: &mut Report, checkout: &Checkout, person: &Person) -> Option<Base> {
    let head = match checkout.head() {
        Ok(head) => head,
        Err(error) => {
            report.fail("base", &as_stop(error));
            return None;
        }
    };
    let id = head.commit.to_string();
    let branch = head
        .branch
        .as_deref()
        .map(|name| name.trim_start_matches("refs/heads/"));
    report.ok("base", format!("{} ({})", &id[..12], branch.unwrap_or("detached HEAD")));
    let tree = match GitTree::of_commit(&checkout.repo, head.commit) {
        Ok(tree) => tree,
        Err(error) => {
            let error = GateError::from(error);
            report.fail("policy", &Stop::new(error.exit(), error.to_string()));
            return None;
        }
    };
    policy(report, checkout, &tree);
    let settings = settings(report, &tree, person)?;
    Some(Base {
        commit: head.commit,
        settings,
    })
}

/// The agent that is configured here, and all that holds for it.
pub fn agent(report: &mut Report, base: &Base, person: &Person, surroundings: &Surroundings) -> Option<Effective> {
    let task = Path::new("TASK.md");
    let (implementer, effective) = implementer::configured(surroundings, task, &base.settings, person);
    match implementer {
        None => report.ok("agent", "none is configured: say it after `--`, or with --agent"),
        Some(agent) => match agent.program {
            Ok(program) => report.ok(
                "agent",
                format!("{} ({}), from {}", agent.name, program.display(), agent.named_by),
            ),
            Err(mut stop) => {
                stop.message = format!("{}, from {}: {}", agent.name, agent.named_by, stop.message);
                report.fail("agent", &stop);
                return effective.ok();
            }
        },
    }
    effective.map_err(|error| report.fail("agent", &as_stop(error))).ok()
}

/// What would be copied into a worktree.
pub fn copy(report: &mut Report, checkout: &Checkout, base: &Base, effective: &Effective) {
    match run::Copies::plan(checkout, base.commit, &effective.copy) {
        Err(error) => report.fail("copy", &as_stop(error)),
        Ok(copies) if effective.copy.is_empty() => drop(copies),
        Ok(copies) => match copies.notices[..] {
            [] => report.ok(
                "copy",
                match copies.paths().count() {
                    1 => "1 file".to_owned(),
                    count => format!("{count} files"),
                },
            ),
            _ => report.warn("copy", copies.notices.join("; "), &[]),
        },
    }
}

fn policy(report: &mut Report, checkout: &Checkout, tree: &GitTree<'_>) {
    let error = match Policy::of(tree) {
        Ok(policy) => return report.ok("policy", format!("{POLICY_PATH} at HEAD, {}", policy.id)),
        Err(error) => error,
    };
    let stop = match error {
        PolicyError::Missing => {
            let top = checkout.workdir.as_ref().unwrap_or(&checkout.clone);
            let stop = Stop::new(Exit::PolicyUnusable, format!("there is no {POLICY_PATH} at HEAD"));
            if top.join(POLICY_PATH).is_file() {
                stop.hint("it is in this checkout, but not committed; an uncommitted policy judges nothing")
                    .hint(match first_policy::line(checkout, top, Path::new("/")) {
                        Ok(line) => line,
                        Err(_) => format!("git -C {} add {POLICY_PATH} && git commit", shell(top)),
                    })
            } else {
                stop.hint(format!("agentgate -C {} init", shell(top)))
            }
        }
        error => Stop::new(Exit::PolicyUnusable, error.to_string()),
    };
    report.fail("policy", &stop);
}

fn settings(report: &mut Report, tree: &GitTree<'_>, person: &Person) -> Option<Settings> {
    let name = "settings";
    let read = || -> Result<Option<Settings>, Stop> {
        let unreadable = |error: gate::Unreadable| {
            let error = GateError::from(error);
            Stop::new(error.exit(), error.to_string())
        };
        let Some(entry) = gate::tree::lookup(tree, SETTINGS_PATH.as_bytes()).map_err(unreadable)? else {
            return Ok(None);
        };
        let bytes = tree.blob(&entry.id).map_err(unreadable)?;
        let bad = |error: crate::agent::settings::BadSettings| Stop::new(error.exit(), error.to_string());
        Settings::of_repository(&bytes, person).map(Some).map_err(bad)
    };
    match read() {
        Ok(None) => {
            report.ok(name, format!("no {SETTINGS_PATH} at HEAD: defaults"));
            Some(Settings::default())
        }
        Ok(Some(settings)) => {
            report.ok(name, format!("{SETTINGS_PATH} at HEAD"));
            Some(settings)
        }
        Err(stop) => {
            report.fail(name, &stop);
            None
        }
    }
}

/// Who would sign the candidate.
pub fn identity(report: &mut Report, checkout: &Checkout) {
    match Identity::of(checkout) {
        Ok(identity) => report.ok("identity", identity.author()),
        Err(error) => report.fail("identity", &as_stop(error)),
    }
}

/// Whether the checkout is clean. It changes from minute to minute, so that it is not is only told.
pub fn clean(report: &mut Report, checkout: &Checkout) {
    match run::must_be_clean(checkout, None)
        .map_err(preflight::for_run)
        .map_err(as_stop)
    {
        Ok(()) => report.ok("checkout", "clean"),
        Err(stop) if stop.exit == Exit::DirtyTree => {
            let mut lines = stop.message.lines();
            let first = lines.next().unwrap_or_default().trim_end_matches(':');
            let count = lines.count();
            let paths = match count {
                0 => String::new(),
                1 => " (1 path)".to_owned(),
                count => format!(" ({count} paths)"),
            };
            report.warn(
                "checkout",
                format!("{first}{paths}: a job would end with {}", stop.exit.code()),
                &stop.hints,
            );
        }
        Err(stop) => report.fail("checkout", &stop),
    }
}

//! How a job ends: evidence first, then the event, then the deletion.

use anyhow::Result;

use super::call::log_name;
use super::prepare::Job;
use super::words::speaks_of_a_wall;
use super::{Begun, Report};
use crate::agent::command;
use crate::commands::{Watch, typed};
use crate::exit::{Exit, Stop};
use crate::gate::GateError;
use crate::git::{is_unreadable, shell};
use crate::job::machine::Ending;
use crate::job::{AgentEnd, Event};
use crate::process::ToolError;
use crate::store;

impl Job {
    pub(super) fn end(&mut self, ending: &Ending, watch: &dyn Watch) -> Result<()> {
        let unsaid = self.frozen_unsaid()?;
        // A signal may come before a job that is gone on with has a place to stage in; without one a credential cannot
        // be taken out of the patch.
        if self.frozen.is_some() && (self.stage.is_some() || self.credentials.is_empty()) {
            self.save_patch()?;
        }
        if self.verdict.is_none() {
            let why = match ending {
                Ending::Refused(exit) => format!("refused: {exit}"),
                Ending::Failed(exit, reason) => format!("{reason} (exit {})", exit.code()),
                Ending::Interrupted(signal) => format!("interrupted by signal {signal}"),
            };
            let held = self
                .credential_words()
                .map_or_else(String::new, |held| format!("{held}\n"));
            self.owner
                .folder
                .save(store::GATE_LOG, format!("not judged: {why}\n{held}").as_bytes())?;
        }
        let files = self.owner.unnamed()?;
        let event = match ending {
            Ending::Refused(exit) => Event::Refused {
                exit: exit.code(),
                files,
            },
            Ending::Failed(exit, reason) => Event::Failed {
                exit: exit.code(),
                reason: short(reason.chars()),
                left: false,
                files,
            },
            Ending::Interrupted(signal) => Event::Interrupted {
                signal: *signal,
                exit: Exit::from_signal(*signal).code(),
                left: false,
                files,
            },
        };
        let events: Vec<Event> = unsaid.into_iter().chain([event]).collect();
        self.owner.append_all(&events)?;
        if let Err(error) = self.write_record_ref() {
            // In a clone that was tampered with this may well fail; the record's files are there.
            if self.owner.state.collisions.is_empty() {
                return Err(error);
            }
            self.notices
                .push(format!("the record's ref could not be written: {error:#}"));
        }
        self.copy_artifacts();
        if let Some(worktree) = self.worktree.clone()
            && let Some(left) = worktree.remove(&self.owner.folder.id, &self.places.trash)?
        {
            self.notices.push(left);
        }
        self.remove_private();
        watch.step("record saved, worktree removed");
        Ok(())
    }

    /// A signal ended git while it made the worktree: there is nothing to save and to delete.
    pub(super) fn stop_without_worktree(&mut self, error: &anyhow::Error, watch: &dyn Watch) -> Option<Exit> {
        let signal = ToolError::signal_in(error).filter(|_| self.worktree.is_none())?;
        self.end(&Ending::Interrupted(signal), watch)
            .ok()
            .map(|()| Exit::from_signal(signal))
    }

    /// A failure after the candidate was frozen and before anything was kept: all evidence is at
    /// hand, so the job ends as any other that failed. `None` where it cannot be saved.
    pub(super) fn fail_with_evidence(&mut self, error: &anyhow::Error, watch: &dyn Watch) -> Option<Exit> {
        let state = &self.owner.state;
        if self.frozen.is_none() || state.commit.is_some() || state.ended.is_some() {
            return None;
        }
        let exit = match (error.downcast_ref::<Stop>(), error.downcast_ref::<GateError>()) {
            (Some(stop), _) => stop.exit,
            (_, Some(gate)) => gate.exit(),
            _ => unplanned(error),
        };
        self.end(&Ending::Failed(exit, format!("{error:#}")), watch)
            .ok()
            .map(|()| exit)
    }

    /// A failure that nobody planned for. Whatever could not be saved is not deleted either.
    pub(super) fn broke(&mut self, error: anyhow::Error) -> anyhow::Error {
        // The person ended the job: that its evidence could not be saved is told, not returned.
        let signal = ToolError::signal_in(&error).or(match self.owner.state.agent {
            Some(AgentEnd::Interrupted { signal }) => Some(signal),
            _ => None,
        });
        let (exit, message) = match error.downcast_ref::<Stop>() {
            Some(stop) => (stop.exit, stop.message.clone()),
            None => (
                signal.map_or_else(|| unplanned(&error), Exit::from_signal),
                format!("{error:#}"),
            ),
        };
        let left = self.worktree.as_ref().is_some_and(|worktree| {
            let is_there = worktree.path.symlink_metadata().is_ok_and(|meta| meta.is_dir());
            is_there && (self.owner.state.agent.is_some() || self.shadow.is_some())
        });
        let reason = short(message.chars().filter(|letter| !letter.is_control()));
        // What cannot be read cannot be named: that is told by `verify`.
        let files = self.owner.unnamed().unwrap_or_default();
        let event = match signal.filter(|signal| exit == Exit::from_signal(*signal)) {
            Some(signal) => Event::Interrupted {
                signal,
                exit: exit.code(),
                left,
                files,
            },
            None => Event::Failed {
                exit: exit.code(),
                reason,
                left,
                files,
            },
        };
        let recorded = self.owner.state.ended.is_some() || self.owner.append(&event).is_ok();
        if self.owner.state.frozen.is_none() {
            self.frozen = None;
        }
        let id = shell_words::quote(&self.owner.folder.id).into_owned();
        let mut stop = Stop::new(exit, format!("job {id} failed: {message}"));
        if recorded {
            let _ = self.write_record_ref();
        }
        match self.worktree.clone() {
            // The agent never ran: there is nothing in it to lose.
            // Or somebody removed it, and what was elsewhere is saved.
            Some(worktree) if !left => {
                let _ = worktree.remove(&self.owner.folder.id, &self.places.trash);
                self.remove_private();
            }
            None => {
                self.remove_private();
            }
            Some(worktree) => {
                if self.worktree_is_there() {
                    let _ = worktree.restore_git_file();
                }
                let _ = worktree.unlock();
                stop = stop
                    .hint(format!(
                        "nothing was deleted: what the agent left is in {}",
                        shell(&worktree.path)
                    ))
                    .hint(format!(
                        "when you have what you need: {} drop --force {id}",
                        self.agentgate()
                    ));
            }
        }
        stop.hint(format!("the record: {}", shell(&self.owner.folder.path)))
            .into()
    }

    /// The command as it can be typed in any folder.
    fn agentgate(&self) -> String {
        typed(&self.checkout)
    }

    /// What can be said of it before it does anything.
    pub(super) fn begun(&self) -> Begun {
        Begun {
            job_id: self.owner.folder.id.clone(),
            record: self.owner.folder.path.clone(),
            agentgate: self.agentgate(),
        }
    }

    pub(super) fn report(&self, exit: Exit) -> Report {
        let folder = &self.owner.folder;
        let id = shell_words::quote(&folder.id).into_owned();
        let kept = exit == Exit::Ok;
        let reason = self.owner.state.reason.clone();
        let mut notices = self.notices.clone();
        let mut afterwards = Vec::new();
        let waits = exit == Exit::NeedsHuman;
        if waits {
            afterwards.extend(self.dispute_words());
        }
        if matches!(exit, Exit::AgentFailed | Exit::NothingToCommit) {
            if !self.last_output.is_empty() {
                notices.push(format!("its last words:\n{}", self.last_output));
            }
            if self.walls.layers.hold() && (self.met_a_wall || speaks_of_a_wall(&self.last_output)) {
                notices.push(self.wall_words());
            }
        }
        if exit == Exit::AgentTimeout {
            notices.push(self.limit_words());
        }
        if exit == Exit::AgentFailed {
            afterwards.extend(self.withheld_words());
            if self.created.agent_source == "AGENT_CMD"
                && let Some(hint) = command::hint(&[self.created.agent.clone().into()])
            {
                notices.push(hint);
            }
        }
        let agentgate = self.agentgate();
        let mut next = Vec::new();
        if kept {
            next.push((
                format!("git -C {} show", shell(&self.places.worktree)),
                "look at it".to_owned(),
            ));
            next.push((
                format!("{agentgate} land {id}"),
                "put it on the branch the job started from".to_owned(),
            ));
            next.push((
                format!("{agentgate} drop {id}"),
                "give it up; the record stays".to_owned(),
            ));
        } else if waits {
            next.push((
                format!("cat {}", shell(&folder.path.join(store::DISPUTE))),
                "what a person has to decide".to_owned(),
            ));
            if self.frozen.is_some() {
                next.push((
                    format!("git -C {} diff --cached", shell(&self.places.worktree)),
                    "the change so far".to_owned(),
                ));
            }
            next.push((
                format!("{agentgate} answer {id} --file ANSWER.md"),
                "say what is to be done; the job goes on".to_owned(),
            ));
            if self.owner.state.gate == Some(0) {
                next.push((
                    format!("{agentgate} answer {id} --approve"),
                    "take it as it is".to_owned(),
                ));
            }
            next.push((
                format!("{agentgate} drop {id}"),
                "give it up; the record stays".to_owned(),
            ));
        } else {
            if self.frozen.as_ref().is_some_and(|frozen| frozen.changed > 0) {
                let patch = format!("cat {}", shell(&folder.path.join(store::PATCH)));
                if self.credentials.is_empty() {
                    next.push((patch, "what the agent had changed".to_owned()));
                    next.push((format!("{agentgate} open {id}"), "the same as a worktree".to_owned()));
                } else {
                    next.push((patch, "what the agent had changed, without the credential".to_owned()));
                }
            }
            for (start, command) in [
                ("config", format!("cat {}", shell(&self.checkout.common.join("config")))),
                (
                    "hooks/",
                    format!("ls -la {}", shell(&self.checkout.common.join("hooks"))),
                ),
                ("info/", format!("ls -la {}", shell(&self.checkout.common.join("info")))),
            ] {
                if self.owner.state.collisions.iter().any(|name| name.starts_with(start)) {
                    next.push((
                        command,
                        "what changed there is still there: put it back if it was not you".to_owned(),
                    ));
                }
            }
            let checks = self.verdict.iter().flat_map(|verdict| &verdict.checks);
            for (result, log) in checks.filter_map(|result| Some((result, result.log.as_ref()?))) {
                if result.end.failed() {
                    let what = format!("what check `{}` said", result.name);
                    next.push((format!("cat {}", shell(&folder.path.join(log))), what));
                }
            }
            if self.owner.state.setup.is_some() {
                next.push((
                    format!("cat {}", shell(&folder.path.join(store::SETUP_LOG))),
                    "what the setup commands said".to_owned(),
                ));
            }
            if self.owner.state.agent.is_some() {
                let call = self.owner.state.progress.calling.as_ref();
                let log = log_name(call.and_then(|call| call.number));
                next.push((
                    format!("cat {}", shell(&folder.path.join(log))),
                    "what the agent said".to_owned(),
                ));
            }
        }
        Report {
            job_id: folder.id.clone(),
            base: self.created.base.clone(),
            worktree: (kept || waits).then(|| self.places.worktree.clone()),
            branch: kept.then(|| format!("agent/{}", folder.id)),
            commit: self.owner.state.commit.clone(),
            record: folder.path.clone(),
            exit,
            reason,
            confinement: self.confinement_value(),
            narrowed: self.walls.narrowed(),
            not_covered: self.not_covered.clone(),
            findings: self
                .verdict
                .as_ref()
                .map(|verdict| verdict.findings.clone())
                .unwrap_or_default(),
            checks: self
                .verdict
                .as_ref()
                .map(|verdict| verdict.checks.clone())
                .unwrap_or_default(),
            warnings: self
                .verdict
                .as_ref()
                .map(|verdict| verdict.warnings.clone())
                .unwrap_or_default(),
            notices: self
                .verdict
                .iter()
                .flat_map(|verdict| verdict.notices.clone())
                .chain(notices)
                .collect(),
            afterwards,
            changed: self.frozen.as_ref().map_or(0, |frozen| frozen.changed),
            next,
            landed: None,
        }
    }
}

/// A reason, cut so that it fits into a line of the log beside the files that stand there.
fn short(reason: impl Iterator<Item = char>) -> String {
    let mut room = 1500;
    reason
        .take(500)
        .take_while(|letter| {
            // In JSON a control character takes six bytes, a quote or a backslash two.
            let length = match letter {
                '"' | '\\' => 2,
                letter if letter.is_control() => 6,
                letter => letter.len_utf8(),
            };
            let fits = room >= length;
            room = room.saturating_sub(length);
            fits
        })
        .collect()
}

/// The code of a failure that has none of its own.
fn unplanned(error: &anyhow::Error) -> Exit {
    if is_unreadable(error) {
        Exit::PolicyUnusable
    } else {
        Exit::Internal
    }
}

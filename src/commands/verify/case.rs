//! One job's record, opened: its log read whole, and what the other checks ask for.

use std::collections::BTreeMap;

use anyhow::{Context, Result};
use git2::Oid;

use super::report::Report;
use crate::exit::{Exit, Stop};
use crate::files;
use crate::gate::{GateError, credentials_in};
use crate::git::from_git2;
use crate::git::repo::Checkout;
use crate::git::tree::GitTree;
use crate::job::audit;
use crate::job::log::{self, Line, Log};
use crate::job::machine::{self, State};
use crate::job::{Created, Event, FileRef};
use crate::store::{EVENTS, Folder, OWNER_LOCK, REPORT, TASK};
use crate::task::Task;

/// Larger files of a record are not read whole.
const LIMIT: u64 = 1 << 30;

/// Where the record is read from.
#[derive(Clone, Debug)]
pub(super) enum Source {
    /// The clone that ran the job has all of it.
    Folder(Folder),
    /// The tree of its ref.
    Ref(Oid),
}

pub(super) struct Case<'a> {
    pub(super) checkout: &'a Checkout,
    pub(super) id: &'a str,
    pub(super) source: Source,
    /// The commit that was asked about.
    pub(super) asked: Option<Oid>,
    /// `events.jsonl`
    pub(super) bytes: Vec<u8>,
    pub(super) log: Log,
    pub(super) state: State,
    pub(super) created: Created,
    pub(super) base: Oid,
    /// The frozen tree.
    pub(super) frozen: Option<Oid>,
}

impl<'a> Case<'a> {
    /// Reads the log. `None` where it is not such that anything could be compared with it: the report says why.
    ///
    /// # Errors
    /// Exit 23 where the job is not over.
    pub(super) fn open(
        checkout: &'a Checkout,
        id: &'a str,
        source: Source,
        asked: Option<Oid>,
        report: &mut Report,
    ) -> Result<Option<Case<'a>>> {
        let mut opened = None;
        let mut stop = None;
        report.check("log", |check| {
            let folder = match &source {
                Source::Folder(folder) => Some(folder),
                Source::Ref(_) => None,
            };
            // Asked before the log is read: what an owner is writing is not torn.
            let is_owned = folder.map_or(Ok(false), Folder::is_owned).unwrap_or(false);
            let bytes = read(checkout, &source, EVENTS)?.with_context(|| format!("{EVENTS} is not there"))?;
            let doctor = format!("agentgate doctor --job {}", shell_words::quote(id));
            let log = match log::decode(&bytes) {
                Ok(log) => log,
                Err(damaged) => {
                    check.fails(damaged.to_string());
                    check.hint(doctor);
                    return Ok(());
                }
            };
            let events = log.lines.iter().filter_map(|line| line.event.as_ref());
            let state = events.fold(State::default(), machine::fold);
            let is_known = log.lines.iter().all(|line| line.event.is_some());
            let is_over = match folder {
                Some(_) => state.ended.is_some() || !is_known,
                // Its log ends before the commit.
                None => true,
            };
            if is_owned && !is_over {
                stop = Some(not_over(id, "it is at work", "attach", "shows what it does"));
                return Ok(());
            }
            if log.torn_bytes > 0 {
                check.fails(format!(
                    "{EVENTS} ends in {} bytes that are no event: its last line is torn or was changed",
                    log.torn_bytes
                ));
                check.hint(doctor.clone());
            } else if log.unterminated {
                check.fails(format!("the last line of {EVENTS} lacks its newline"));
                check.hint(doctor.clone());
            } else if !is_over {
                // A run that was ended before its job was writes no report, and no ref.
                let later = folder.map(later_than_the_log).transpose()?.unwrap_or_default();
                if later.is_empty() {
                    stop = Some(match state.dropped {
                        true => not_over(
                            id,
                            "it never finished, and it was dropped",
                            "log",
                            "shows how far it came",
                        ),
                        false => not_over(
                            id,
                            "it never finished, and nobody is at work on it",
                            "resume",
                            "goes on from its last finished step",
                        ),
                    });
                    return Ok(());
                }
                check.fails(format!(
                    "{EVENTS} says of no end, but there is what only comes then: {}",
                    later.join(", ")
                ));
                check.hint(doctor.clone());
            }
            for fault in audit::faults(&log, id) {
                check.fails(fault);
            }
            for line in &log.lines {
                if line.json.get("job").and_then(serde_json::Value::as_str) != Some(id) {
                    let other = line.json.get("job").map(ToString::to_string).unwrap_or_default();
                    check.fails(format!(
                        "line {} is of job {other}, and the record is that of {id}",
                        line.seq
                    ));
                    check.hint(doctor.clone());
                    break;
                }
            }
            let Some(created) = state.created.clone() else {
                check.fails(format!("{EVENTS} does not begin with job.created"));
                check.hint(doctor);
                return Ok(());
            };
            let epochs = log.lines.last().map_or(0, |line| line.epoch);
            check.says(format!(
                "{} events in {epochs} epoch{}, chained, without gaps",
                log.lines.len(),
                if epochs == 1 { "" } else { "s" }
            ));
            let base = Oid::from_str(&created.base).context("the base in job.created is no id")?;
            let tree = state.frozen.as_ref().map(|(tree, _)| Oid::from_str(tree)).transpose();
            let frozen = tree.context("the tree in candidate.frozen is no id")?;
            opened = Some((bytes, log, state, created, base, frozen));
            Ok(())
        });
        if let Some(stop) = stop {
            return Err(stop.into());
        }
        Ok(opened.map(|(bytes, log, state, created, base, frozen)| Case {
            checkout,
            id,
            source,
            asked,
            bytes,
            log,
            state,
            created,
            base,
            frozen,
        }))
    }

    /// The folder, in the clone that ran the job.
    pub(super) fn folder(&self) -> Option<&Folder> {
        match &self.source {
            Source::Folder(folder) => Some(folder),
            Source::Ref(_) => None,
        }
    }

    /// A file of the record; `None` where it is not there.
    pub(super) fn file(&self, name: &str) -> Result<Option<Vec<u8>>> {
        read(self.checkout, &self.source, name)
    }

    /// A file that must be there.
    pub(super) fn must(&self, name: &str) -> Result<Vec<u8>> {
        self.file(name)?.with_context(|| format!("{name} is not there"))
    }

    /// Every file that an event names, as the last one says.
    pub(super) fn named(&self) -> &BTreeMap<String, FileRef> {
        &self.state.files
    }

    /// The task as it was given.
    pub(super) fn task(&self) -> Result<Task> {
        Task::parse(&self.must(TASK)?).map_err(|error| anyhow::anyhow!("{TASK} cannot be read: {error}"))
    }

    /// The last line whose event is such.
    pub(super) fn last(&self, is_such: impl Fn(&Event) -> bool) -> Option<&Line> {
        let mut lines = self.log.lines.iter().rev();
        lines.find(|line| line.event.as_ref().is_some_and(&is_such))
    }

    /// Whether the log names the job's commit.
    pub(super) fn is_committed(&self) -> bool {
        self.state.commit.is_some()
    }

    /// Whether the candidate holds a credential: then it has no ref, and its patch has no values. Asked of the
    /// trees, and of the record only where they are gone, as those of a refused candidate without a ref may be.
    pub(super) fn holds_credential(&self) -> Result<bool> {
        let Some(frozen) = self.frozen else { return Ok(false) };
        let asked = || -> Result<bool, GateError> {
            let base = GitTree::of_commit(&self.checkout.repo, self.base)?;
            let candidate = GitTree::new(&self.checkout.repo, from_git2(frozen));
            Ok(!credentials_in(&base, &candidate)?.is_empty())
        };
        match asked() {
            Ok(holds) => Ok(holds),
            Err(_) if self.state.gate == Some(Exit::Credential.code()) => Ok(true),
            Err(error) => match self.file(crate::store::GATE_LOG)? {
                Some(text) if text.windows(WORDS.len()).any(|window| window == WORDS) => Ok(true),
                _ => Err(error.into()),
            },
        }
    }
}

/// What `gate.log` says of a candidate that was not judged and holds one.
const WORDS: &[u8] = b"\nthe candidate holds credentials: ";

fn not_over(id: &str, how: &str, verb: &str, does: &str) -> Stop {
    let id = shell_words::quote(id);
    Stop::new(Exit::WrongState, format!("job {id} is not over: {how}"))
        .hint(format!("agentgate {verb} {id} {does}"))
        .hint(format!("agentgate doctor --job {id} says how its record stands"))
}

/// What stands in a record although the log says of no end.
fn later_than_the_log(folder: &Folder) -> Result<Vec<String>> {
    let mut names = folder.names()?;
    let log = log::decode(&std::fs::read(folder.path.join(EVENTS))?).unwrap_or_default();
    names.retain(|name| match name.as_str() {
        REPORT => true,
        EVENTS | OWNER_LOCK | TASK => false,
        // Before it began it had not one file more.
        _ => log.lines.is_empty(),
    });
    Ok(names)
}

fn read(checkout: &Checkout, source: &Source, name: &str) -> Result<Option<Vec<u8>>> {
    match source {
        Source::Folder(folder) => match files::read_small(&folder.path.join(name), LIMIT) {
            Ok(bytes) => Ok(Some(bytes)),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(error).with_context(|| format!("{name} cannot be read")),
        },
        Source::Ref(tree) => {
            let tree = checkout
                .repo
                .find_tree(*tree)
                .with_context(|| format!("the record's tree {tree} cannot be read"))?;
            let Some(id) = tree.get_name(name).map(|entry| entry.id()) else {
                return Ok(None);
            };
            let blob = checkout.repo.find_blob(id);
            let blob = blob.with_context(|| format!("{name} ({id}) of the record's tree cannot be read"))?;
            Ok(Some(blob.content().to_vec()))
        }
    }
}

//! `agentgate doctor --job`: how a job's record stands, what is wrong with it, and what to type next.
//!
//! A reader: it takes no lock, and repairs and deletes nothing.

use std::path::Path;

use anyhow::{Context, Result};
use serde_json::Value;

use super::report::Report;
use crate::commands::closing;
use crate::commands::drop::words;
use crate::commands::{Surroundings, job_folder};
use crate::exit::{Exit, Stop};
use crate::git::{refs, shell};
use crate::job::Event;
use crate::job::log::{self, Damaged, Log, sha256_hex};
use crate::job::machine::{self, State};
use crate::process::ProcessId;
use crate::store::{EVENTS, Folder, OWNER_LOCK, REPORT, RESUME, Store};

/// Explains the record of job `id`.
///
/// # Errors
/// Exit 23 where there is no such job.
pub fn job(surroundings: &Surroundings, id: &str) -> Result<Report> {
    let checkout = surroundings.quiet_checkout()?;
    let store = Store::of(&checkout.common);
    let folder = job_folder(&store, id)?;
    let mut report = Report {
        job: Some(id.to_owned()),
        ..Report::default()
    };
    report.ok("record", folder.path.display().to_string());
    let bytes = match std::fs::read(folder.path.join(EVENTS)) {
        Ok(bytes) => bytes,
        Err(error) => {
            let stop = Stop::new(Exit::WrongState, format!("{EVENTS} cannot be read: {error}"));
            report.fail("log", &stop.hint(look_at(&folder)));
            return Ok(report);
        }
    };
    let has_ref = refs::record(&checkout.repo, id)?.is_some();
    let Some((log, state)) = log_of(&mut report, &folder, &bytes, has_ref) else {
        return Ok(report);
    };
    owner(&mut report, &folder, &log, &state)?;
    copies(&mut report, &store, &folder)?;
    files(&mut report, &folder, &log, &state)?;
    Ok(report)
}

fn look_at(folder: &Folder) -> String {
    format!("ls -la {}", shell(&folder.path))
}

/// The log, if it can be used by anybody.
fn log_of(report: &mut Report, folder: &Folder, bytes: &[u8], has_ref: bool) -> Option<(Log, State)> {
    let name = "log";
    let refused = |what: String| Stop::new(Exit::WrongState, what);
    let place = folder.path.join(EVENTS);
    let log = match log::decode(bytes) {
        Ok(log) => log,
        Err(damaged) => {
            let stop = refused(around(&damaged, bytes));
            let mut stop = stop
                .hint(format!("look at it: sed -n {}p {}", damaged.line, shell(&place)))
                .hint("nobody repairs this: what stands after the damage may be true or not");
            if has_ref {
                stop = stop.hint(format!(
                    "the record's ref has the beginning of the log: git show {}{}:{EVENTS}",
                    refs::RECORDS,
                    folder.id
                ));
            }
            report.fail(name, &stop.hint(deletes(folder)));
            return None;
        }
    };
    if log.lines.is_empty() {
        let has = match log.torn_bytes {
            0 => "is empty".to_owned(),
            torn => format!("has {torn} bytes and not one whole event"),
        };
        let stop = match folder.log() {
            Err(error) => {
                let why = error
                    .downcast_ref::<Damaged>()
                    .map_or_else(|| format!("{error:#}"), Damaged::to_string);
                refused(format!("{EVENTS} {has}: {why}"))
                    .hint("nobody repairs this: what the job did, its other files may tell")
                    .hint(deletes(folder))
            }
            Ok(_) => refused(format!(
                "{EVENTS} {has}: the job ended before it began, and it made nothing"
            ))
            .hint(format!(
                "agentgate drop {} frees its id",
                shell_words::quote(&folder.id)
            )),
        };
        report.fail(name, &stop);
        return None;
    }
    if let Some(unknown) = log.lines.iter().find(|line| line.event.is_none()) {
        let stop = refused(format!(
            "event {} ({:?}) is not known here: another version of agentgate wrote it",
            unknown.seq, unknown.kind
        ));
        report.fail(
            name,
            &stop.hint("use that version; agentgate log shows the events all the same"),
        );
        return None;
    }
    let is_foreign = |line: &&log::Line| line.json.get("job").and_then(Value::as_str) != Some(folder.id.as_str());
    if let Some(line) = log.lines.iter().find(is_foreign) {
        let other = line.json.get("job").and_then(Value::as_str).unwrap_or_default();
        let stop = refused(format!(
            "line {} is of job {other:?}, and the folder is that of {:?}: a record was copied or renamed",
            line.seq, folder.id
        ));
        report.fail(
            name,
            &stop.hint(format!(
                "if it is a copy: move it out of {}",
                shell(&parent(&folder.path))
            )),
        );
        return None;
    }
    let events = log.lines.iter().filter_map(|line| line.event.as_ref());
    let state = events.fold(State::default(), machine::fold);
    let last = log.lines.last().map_or("", |line| line.kind.as_str());
    let whole = format!("{} events, chained, without gaps; the last is {last}", log.lines.len());
    if log.torn_bytes > 0 {
        let aside = format!("torn-{}", log.lines.len() + 1);
        report.warn(
            name,
            format!(
                "{whole}\n{} bytes behind it are a torn last line: a process or the machine died while it wrote\n\
                 whoever owns the job next sets them aside as {aside} and goes on behind event {}",
                log.torn_bytes,
                log.lines.len()
            ),
            &[],
        );
    } else if log.unterminated {
        report.warn(
            name,
            format!("{whole}\nits newline is missing; whoever owns the job next adds it"),
            &[],
        );
    } else {
        report.ok(name, whole);
    }
    Some((log, state))
}

/// What can be done about a job whose log is damaged.
fn deletes(folder: &Folder) -> String {
    format!(
        "agentgate drop --force {} deletes its worktree, with all that is in there; the record stays",
        shell_words::quote(&folder.id)
    )
}

fn parent(path: &Path) -> std::path::PathBuf {
    path.parent().map(Path::to_owned).unwrap_or_default()
}

/// The damage, with what stands before and behind it.
fn around(damaged: &Damaged, bytes: &[u8]) -> String {
    let lines: Vec<&[u8]> = bytes
        .split(|&byte| byte == b'\n')
        .filter(|line| !line.is_empty())
        .collect();
    let (before, rest) = lines.split_at(lines.len().min(damaged.line.saturating_sub(1) as usize));
    let kind = |line: &[u8]| {
        let event: Value = serde_json::from_slice(line).ok()?;
        let (seq, kind) = (event["seq"].as_u64()?, event["event"].as_str()?.to_owned());
        Some(format!("event {seq} ({})", kind.escape_debug()))
    };
    let mut text = damaged.to_string();
    text.push_str(&match before.last().and_then(|line| kind(line)) {
        Some(last) => format!("\nbefore it: {} whole lines, up to {last}", before.len()),
        None => "\nbefore it: nothing".to_owned(),
    });
    if let Some(own) = rest.first() {
        text.push_str(&match kind(own) {
            Some(own) => format!("\nit reads as {own}"),
            None => format!("\nit is no event; {} bytes", own.len()),
        });
    }
    let after = rest.get(1..).unwrap_or_default();
    let events: Vec<String> = after.iter().filter_map(|line| kind(line)).collect();
    text.push_str(&match (events.first(), events.last()) {
        (Some(first), Some(last)) => format!(
            "\nbehind it: {} lines, of which {} read as events, from {first} to {last}",
            after.len(),
            events.len()
        ),
        _ => format!("\nbehind it: {} lines, none of which reads as an event", after.len()),
    });
    text
}

/// Who owns it, how it stands, and what to type next.
fn owner(report: &mut Report, folder: &Folder, log: &Log, state: &State) -> Result<()> {
    let id = shell_words::quote(&folder.id).into_owned();
    let owner = log.lines.iter().rev().find_map(|line| match &line.event {
        Some(Event::Owned {
            pid,
            start_time,
            boot_id,
            ..
        }) => Some(ProcessId {
            pid: pid.cast_signed(),
            start_time: *start_time,
            boot_id: boot_id.clone(),
        }),
        _ => None,
    });
    let by = owner
        .as_ref()
        .map_or_else(|| "a process".to_owned(), |owner| format!("process {}", owner.pid));
    let lock = folder.path.join(OWNER_LOCK);
    if !lock.exists() {
        let stop = Stop::new(
            Exit::WrongState,
            format!("{OWNER_LOCK} is not there: nobody can own the job"),
        );
        report.fail(
            "owner",
            &stop.hint(format!("if no agentgate is at work on it: touch {}", shell(&lock))),
        );
    } else if folder
        .is_owned()
        .with_context(|| format!("cannot ask for {}", lock.display()))?
    {
        report.ok(
            "owner",
            format!(
                "{by} has it, in epoch {}",
                log.lines.last().map_or(0, |line| line.epoch)
            ),
        );
    } else {
        report.ok("owner", format!("nobody; the last was {by}"));
    }
    let next: &[String] = &match (state.ended, state.landed || state.dropped) {
        (None, false) => vec![
            format!("agentgate log {id} shows how far it came"),
            format!("agentgate resume {id} goes on with it; agentgate drop {id} gives it up"),
        ],
        (Some(Exit::NeedsHuman), false) => vec![format!(
            "agentgate answer {id} --file ANSWER.md says what is to be done, --approve takes it as it is"
        )],
        (Some(Exit::Ok), false) => vec![format!("agentgate land {id}, or agentgate drop {id}")],
        _ => Vec::new(),
    };
    let is_dead = state.ended.is_none() && !state.dropped && !folder.is_owned().unwrap_or(true);
    match is_dead {
        true if !folder.path.join(RESUME).exists() => {
            let stop = Stop::new(
                Exit::WrongState,
                format!("it never finished, and cannot be gone on with: {RESUME} is not there"),
            );
            report.fail(
                "job",
                &stop.hint(format!("agentgate drop {id} gives it up; its record stays")),
            );
        }
        true => report.warn("job", "it never finished, and its process is gone", next),
        false if state.ended == Some(Exit::NeedsHuman) && !state.dropped => report.warn("job", words(state), next),
        false => report.ok("job", words(state)),
    }
    Ok(())
}

/// Other folders whose log is of this job as well.
fn copies(report: &mut Report, store: &Store, folder: &Folder) -> Result<()> {
    let mut found = Vec::new();
    for other in store.ids()?.into_iter().filter(|other| *other != folder.id) {
        let Some(other) = store.find(&other)? else { continue };
        let bytes = std::fs::read(other.path.join(EVENTS)).unwrap_or_default();
        let first: Value = match bytes.split(|&byte| byte == b'\n').next().map(serde_json::from_slice) {
            Some(Ok(first)) => first,
            _ => continue,
        };
        if first["job"] == folder.id.as_str() {
            found.push(other.path.display().to_string());
        }
    }
    if !found.is_empty() {
        report.warn(
            "copies",
            format!("also of this job: {}; readers and owners refuse them", found.join(", ")),
            &["move them out of the folder of jobs".to_owned()],
        );
    }
    Ok(())
}

/// Files that are missing, changed or named by nobody.
fn files(report: &mut Report, folder: &Folder, log: &Log, state: &State) -> Result<()> {
    let mut wrong = Vec::new();
    for (name, file) in &state.files {
        if name == RESUME && (state.ended != Some(Exit::NeedsHuman) || state.dropped) {
            // It goes when the job is over.
            continue;
        }
        match std::fs::read(folder.path.join(name)) {
            Err(error) => wrong.push(format!("{name}: {error}")),
            Ok(bytes) if bytes.len() as u64 != file.bytes => {
                wrong.push(format!(
                    "{name} has {} bytes, and the log says {}",
                    bytes.len(),
                    file.bytes
                ));
            }
            Ok(bytes) if sha256_hex(&[&bytes]) != file.sha256 => {
                wrong.push(format!("{name} is not the file that the log names"));
            }
            Ok(_) => {}
        }
    }
    if !state.files.contains_key(REPORT) {
        wrong.extend(closing_report(folder, log, state));
    }
    // While it is at work there are files that no event names yet.
    if state.ended.is_some() {
        let own = [EVENTS, OWNER_LOCK, REPORT, RESUME];
        let names = folder.names()?.into_iter();
        let unknown = names.filter(|name| !own.contains(&name.as_str()) && !state.files.contains_key(name));
        wrong.extend(unknown.map(|name| format!("{name} is named by no event")));
    }
    match wrong.is_empty() {
        true => report.ok(
            "files",
            match state.files.len() {
                1 => "1 file as the log names it".to_owned(),
                count => format!("{count} files as the log names them"),
            },
        ),
        false => report.warn(
            "files",
            wrong.join("\n"),
            &[format!(
                "agentgate verify {} tells what does not hold",
                shell_words::quote(&folder.id)
            )],
        ),
    }
    Ok(())
}

/// What is wrong with the report of the run that ended the job: it is written after the last event, so that no event
/// names it, and has a sum of its own.
fn closing_report(folder: &Folder, log: &Log, state: &State) -> Option<String> {
    let end = closing::ending(log)?;
    match std::fs::read(folder.path.join(REPORT)) {
        Ok(bytes) if closing::is_whole(&bytes, &end.sum) => None,
        Ok(_) => Some(format!("{REPORT} is not as the run wrote it: its `sum` does not fit")),
        // The run takes its request away when it has written its report, and not before.
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
            let is_due = !folder.path.join(RESUME).exists() && !state.landed && !state.dropped;
            is_due.then(|| format!("{REPORT} is not there, and its run had written it"))
        }
        Err(error) => Some(format!("{REPORT}: {error}")),
    }
}

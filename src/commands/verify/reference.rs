//! The record's ref beside its folder: the same bytes, and a log that is the beginning of the file's.

use anyhow::{Context, Result};

use super::case::Case;
use super::report::Check;
use crate::exit::Exit;
use crate::git::refs;
use crate::job::Event;
use crate::store::{EVENTS, GATE_JSON, GATE_LOG, PATCH, TASK};

pub(super) fn compare(case: &Case<'_>, check: &mut Check) -> Result<()> {
    if case.state.ended == Some(Exit::NeedsHuman) && case.state.gate.is_none() && case.holds_credential()? {
        check.fails("the job waits for a person over a candidate that holds a credential, and the gate was not asked");
    }
    if case.state.credentials > 0 && case.frozen.is_some() && !case.holds_credential()? {
        check.fails("candidate.frozen counts credentials, and the candidate holds none");
    }
    let name = format!("{}{}", refs::RECORDS, case.id);
    let Some(id) = refs::record(&case.checkout.repo, case.id)? else {
        if case.holds_credential()? {
            check.skip("there is none, since the candidate holds a credential");
        } else if !case.state.collisions.is_empty() {
            check.skip("there is none: the clone's git dir had changed under the job");
        } else {
            check.fails(format!("{name} is not there"));
            check.hint("it was deleted, or the job ended before it could be written");
        }
        return Ok(());
    };
    if case.holds_credential()? {
        check.fails(format!("{name} is there although the candidate holds a credential"));
        check.hint(format!("see that it is pushed nowhere, then: git update-ref -d {name}"));
    }
    let tree = case.checkout.repo.find_tree(id);
    let tree = tree.with_context(|| format!("{name} names {id}, which cannot be read as a tree"))?;
    let mut seen = Vec::new();
    for entry in &tree {
        let file = String::from_utf8_lossy(entry.name_bytes()).into_owned();
        seen.push(file.clone());
        if file == "candidate" {
            let (found, frozen) = (entry.id(), case.frozen);
            if Some(found) != frozen {
                let frozen = frozen.map_or_else(|| "none was frozen".to_owned(), |frozen| frozen.to_string());
                check.fails(format!("{name}:candidate is {found}, and in the log it is {frozen}"));
            }
            continue;
        }
        if ![EVENTS, TASK, PATCH, GATE_LOG, GATE_JSON].contains(&file.as_str()) {
            check.fails(format!("{name} has {file}, which is no part of a record's ref"));
            continue;
        }
        let blob = case.checkout.repo.find_blob(entry.id());
        let blob = blob.with_context(|| format!("{name}:{file} ({}) cannot be read", entry.id()))?;
        if file == EVENTS {
            log(case, check, &name, blob.content());
        } else if case.file(&file)?.as_deref() != Some(blob.content()) {
            check.fails(format!("{name}:{file} has other bytes than {file} of the record"));
        }
    }
    let due = [EVENTS, TASK, PATCH, GATE_LOG, GATE_JSON, "candidate"];
    for file in due {
        let is_there = match file {
            "candidate" => case.frozen.is_some(),
            file => case.file(file)?.is_some(),
        };
        if is_there && !seen.iter().any(|name| name == file) {
            check.fails(format!("{name} lacks {file}"));
        }
    }
    check.says(format!("{name} is tree {id}, with the same bytes"));
    Ok(())
}

/// Up to the event before the last commit.intended, or to the failing end.
fn log(case: &Case<'_>, check: &mut Check, name: &str, bytes: &[u8]) {
    if !case.bytes.starts_with(bytes) {
        check.fails(format!(
            "{name}:{EVENTS} is not the beginning of {EVENTS} of the record"
        ));
        return;
    }
    let lines = bytes.iter().filter(|byte| **byte == b'\n').count() as u64;
    let is_last = |event: &Event| match case.state.ended {
        Some(Exit::Ok) => matches!(event, Event::CommitIntended { .. }),
        _ => event.ends_with().is_some(),
    };
    let Some(line) = case.last(is_last) else { return };
    let due = match case.state.ended {
        Some(Exit::Ok) => line.seq - 1,
        _ => line.seq,
    };
    if lines != due || !bytes.ends_with(b"\n") {
        check.fails(format!("{name}:{EVENTS} has {lines} events where {due} are due"));
    }
}

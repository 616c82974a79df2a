//! The files of the record: each named by an event, with the length and sum that it has.

use anyhow::Result;

use super::case::{Case, Source};
use super::report::Check;
use crate::commands::closing;
use crate::exit::Exit;
use crate::job::log::sha256_hex;
use crate::store::{EVENTS, OWNER_LOCK, REPORT, RESUME};

/// How the name of a file begins that is not written whole yet.
const PASSING: &str = ".agentgate-";
/// What the record's tree has besides files.
const CANDIDATE: &str = "candidate";

/// Every file that is there is named, and every file that is named is there.
pub(super) fn files(case: &Case<'_>, check: &mut Check) -> Result<()> {
    let there = match &case.source {
        Source::Folder(folder) => {
            let mut names = Vec::new();
            for entry in std::fs::read_dir(&folder.path)? {
                let entry = entry?;
                let name = entry.file_name().to_string_lossy().into_owned();
                if entry.file_type()?.is_file() {
                    names.push(name);
                } else {
                    check.fails(format!("{name} is no file"));
                }
            }
            names.sort();
            names
        }
        Source::Ref(tree) => {
            let tree = case.checkout.repo.find_tree(*tree)?;
            let names = tree
                .iter()
                .map(|entry| String::from_utf8_lossy(entry.name_bytes()).into_owned());
            names.filter(|name| name != CANDIDATE).collect()
        }
    };
    let is_here = case.folder().is_some();
    // The run writes its report when all else is done: until then its file has a passing name.
    let is_closed = there.iter().any(|name| name == REPORT);
    let mut compared = 0;
    for name in &there {
        match name.as_str() {
            EVENTS => {}
            REPORT if is_here => {}
            OWNER_LOCK if is_here => {
                if !case.must(name)?.is_empty() {
                    check.fails(format!("{name} is not empty"));
                }
            }
            passing if is_here && !is_closed && passing.starts_with(PASSING) => {}
            // It waits for a person, and goes on with it.
            RESUME if is_here && waits(case) => {
                let bytes = case.must(name)?;
                match case.named().get(name) {
                    Some(file) if sha256_hex(&[&bytes]) == file.sha256 => compared += 1,
                    Some(_) => check.fails(format!("{name} is not as it was when the job began to wait")),
                    None => check.says(format!("not provable: {name}, which this job's log does not name")),
                }
            }
            // Its run was ended before it could write its report; `resume` does both.
            RESUME if is_here && !is_closed => {}
            RESUME if is_here => check.fails(format!("{name} is only there while a job is not over")),
            _ => match case.named().get(name) {
                Some(file) => {
                    compared += 1;
                    let bytes = case.must(name)?;
                    let sum = sha256_hex(&[&bytes]);
                    if bytes.len() as u64 != file.bytes {
                        let (found, expected) = (bytes.len(), file.bytes);
                        check.fails(format!("{name} has {found} bytes, and the log says {expected}"));
                    } else if sum != file.sha256 {
                        check.fails(format!(
                            "{name} has the SHA-256 {sum}, and the log says {}",
                            file.sha256
                        ));
                    }
                }
                // The event that names it comes after what the ref has.
                None if !is_here && name == crate::store::PATCH => {}
                None => check.fails(format!("{name} is named by no event of the log")),
            },
        }
    }
    if is_here {
        let is_due = |name: &&String| name.as_str() != RESUME || waits(case);
        let missing = case.named().keys().filter(|name| !there.contains(name)).filter(is_due);
        for name in missing {
            check.fails(format!("{name} is named by the log and not there"));
        }
        if !there.iter().any(|name| name == OWNER_LOCK) {
            check.fails(format!("{OWNER_LOCK} is not there"));
        }
    }
    check.says(format!(
        "{compared} file{} as the log names them",
        if compared == 1 { "" } else { "s" }
    ));
    if let Some(folder) = case.folder() {
        check.hint(format!("look at {}", folder.path.display()));
    }
    Ok(())
}

/// It waits for a person.
fn waits(case: &Case<'_>) -> bool {
    case.state.ended == Some(Exit::NeedsHuman) && !case.state.dropped
}

/// The closing report is the one that the run wrote at the end of this log.
pub(super) fn closing(case: &Case<'_>, check: &mut Check) -> Result<()> {
    let Some(bytes) = case.file(REPORT)? else {
        // A run takes its request away when it has written its report, and not before.
        let is_open = case.file(RESUME)?.is_some();
        let is_settled = case.state.landed || case.state.dropped;
        if case.named().contains_key(REPORT) || !is_open && !is_settled {
            check.fails(format!("{REPORT} is not there, and its run had written it"));
        } else {
            check.skip(format!(
                "not provable: {REPORT} is not there; its run was ended before it could write one, or it was removed"
            ));
        }
        return Ok(());
    };
    let end = closing::ending(&case.log)
        .map(|line| line.sum.clone())
        .unwrap_or_default();
    match closing::is_whole(&bytes, &end) {
        true => check.says(format!("{REPORT} is the one that the run wrote at this end")),
        false => check.fails(format!("{REPORT} is not as the run wrote it: its `sum` does not fit")),
    }
    Ok(())
}

/// The task is the one that the job was made for.
pub(super) fn task(case: &Case<'_>, check: &mut Check) -> Result<()> {
    let bytes = case.must(&case.created.task.name)?;
    let sum = sha256_hex(&[&bytes]);
    if sum != case.created.task.sha256 {
        check.fails(format!(
            "the task has the SHA-256 {sum}, and job.created says {}",
            case.created.task.sha256
        ));
    }
    let goal: String = case.task()?.goal.chars().take(200).collect();
    if goal != case.created.goal {
        check.fails(format!(
            "its goal is {goal:?}, and job.created says {:?}",
            case.created.goal
        ));
    }
    check.says(format!("SHA-256 {sum}"));
    Ok(())
}

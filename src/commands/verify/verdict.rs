//! The verdict, computed again: gate, what checks came to, and the two files that tell of it.

use anyhow::{Context, Result};
use serde_json::Value;

use super::case::Case;
use super::report::Check;
use crate::agent::settings::Person;
use crate::commands::checks::last_lines;
use crate::commands::run::{BY_PLAN, add_unseen, not_run, of_plan, of_roles, settings_of};
use crate::gate::checks::CheckResult;
use crate::gate::content::REPOSITORIES;
use crate::gate::{self, Finding, Rule, Verdict, render};
use crate::git::from_git2;
use crate::git::snapshot::Frozen;
use crate::git::tree::GitTree;
use crate::job::Event;
use crate::job::answer::{Answer, PLAN, Plan};
use crate::job::left::{Left, RawPath};
use crate::store::{FROZEN, GATE_JSON, GATE_LOG};

/// Findings about what a candidate's tree does not show, by what judged: where only the ref is here, they are taken
/// from the record.
const UNSEEN: &[&str] = &[
    "nested repository (built in)",
    "name of a git dir (built in)",
    "path length (built in)",
    "file size (built in)",
    "working-tree-encoding (built in)",
    REPOSITORIES,
];
/// Most findings that are named one by one.
const MOST: usize = 5;

pub(super) fn compare(case: &Case<'_>, check: &mut Check) -> Result<()> {
    // A job of several roles may have ended over a candidate that came after the last one that was judged.
    let frozen = case
        .last(|event| matches!(event, Event::Frozen { .. }))
        .map_or(0, |line| line.seq);
    let judged = case
        .last(|event| matches!(event, Event::GateFinished { .. }))
        .filter(|line| line.seq > frozen)
        // Nor is what a role began to change after it what was judged.
        .filter(|_| case.state.gate.is_some());
    let Some(Event::GateFinished { exit, findings, .. }) = judged.and_then(|line| line.event.as_ref()) else {
        return not_judged(case, check);
    };
    let json = case.must(GATE_JSON)?;
    let recorded: Value = serde_json::from_slice(&json).with_context(|| format!("{GATE_JSON} is no JSON"))?;
    let log = case.must(GATE_LOG)?;
    let (verdict, unseen) = match again(case, &recorded, check) {
        Ok(verdict) => verdict,
        // Without a ref nothing keeps the objects of a candidate that was refused.
        Err(error) if case.holds_credential().unwrap_or(false) && error.is::<gate::GateError>() => {
            check.skip(format!(
                "not computed again: the candidate held a credential and has no ref, and {error:#}"
            ));
            return Ok(());
        }
        Err(error) => return Err(error),
    };
    let version = &case.created.agentgate;
    let is_ours = version == env!("CARGO_PKG_VERSION");
    let by = match is_ours {
        true => String::new(),
        false => format!(
            " (the job was judged by agentgate {version}, and this is {})",
            env!("CARGO_PKG_VERSION")
        ),
    };
    let own = verdict.exit().code();
    if own != *exit || verdict.findings.len() as u64 != *findings {
        check.fails(format!(
            "judged again the candidate has {} findings (exit {own}), and gate.finished says {findings} (exit {exit}){by}",
            verdict.findings.len()
        ));
    }
    let found = render::json(&verdict);
    for (who, what) in different(&found["findings"], &recorded["findings"]) {
        check.fails(format!("{who}: {what}{by}"));
    }
    let same_json = format!("{found:#}\n").as_bytes() == json;
    let same_log = render::text(&verdict).as_bytes() == log;
    for (name, same) in [(GATE_JSON, same_json), (GATE_LOG, same_log)] {
        if !same && is_ours {
            check.fails(format!("{name} is not what the gate writes of this verdict"));
        }
    }
    check.says(match *exit {
        0 => "judged again: no findings".to_owned(),
        exit if *findings == 1 => format!("judged again: the same finding (exit {exit})"),
        exit => format!("judged again: the same {findings} findings (exit {exit})"),
    });
    if unseen > 0 {
        check.says(format!(
            "{unseen} of them are about what no tree shows, and are taken from the record"
        ));
    }
    if !(is_ours || same_json && same_log) {
        check.says(format!("the words differ{by}"));
    }
    Ok(())
}

/// A job that came to no verdict says so where one would stand.
fn not_judged(case: &Case<'_>, check: &mut Check) -> Result<()> {
    let judged_before = case.last(|event| matches!(event, Event::GateFinished { .. })).is_some();
    if case.folder().is_none() && !judged_before && case.file(GATE_JSON)?.is_some() {
        check.fails(format!("{GATE_JSON} is there, and the log has no gate.finished"));
    }
    match case.file(GATE_LOG)? {
        // It may be of the candidate before.
        Some(text) if case.state.ended.is_some() && !judged_before && !text.starts_with(b"not judged: ") => {
            check.fails(format!("{GATE_LOG} tells of a verdict, and the log has none"));
        }
        _ => check.skip("the job came to no verdict"),
    }
    Ok(())
}

/// What the candidate's tree does not show, as it was written down when it was frozen.
fn left(case: &Case<'_>) -> Result<Option<(Frozen, Vec<RawPath>)>> {
    let name = case.state.left.as_ref().map_or(FROZEN, |file| &file.name);
    let Some(bytes) = case.file(name)? else {
        return Ok(None);
    };
    let left: Left = serde_json::from_slice(&bytes).with_context(|| format!("{name} cannot be read"))?;
    Ok(Some((Frozen::restored(&left)?, left.outside)))
}

/// The plan that the change was made by, if there was one.
fn plan(case: &Case<'_>) -> Result<Option<Plan>> {
    let Some((file, _)) = &case.state.progress.plan else {
        return Ok(None);
    };
    match Answer::parse(PLAN, &case.must(&file.name)?).map_err(anyhow::Error::msg)? {
        Answer::Plan(plan) => Ok(Some(plan)),
        _ => anyhow::bail!("{} is no plan", file.name),
    }
}

/// The verdict, and how many of its findings are taken from the record.
fn again(case: &Case<'_>, recorded: &Value, check: &mut Check) -> Result<(Verdict, usize)> {
    let frozen = case.frozen.context("gate.finished without a candidate")?;
    let base = GitTree::of_commit(&case.checkout.repo, case.base).map_err(gate::GateError::from)?;
    let candidate = GitTree::new(&case.checkout.repo, from_git2(frozen));
    let mut verdict = gate::check(&base, &candidate, Some(&case.task()?))?;
    if case.created.pipeline.is_some() {
        let settings = settings_of(&base, &Person::default())?;
        verdict.findings.extend(of_roles(&base, &candidate, &settings)?);
    }
    let mut count = 0;
    match left(case)? {
        Some((left, outside)) => {
            if left.tree().to_string() != frozen.to_string() {
                check.fails(format!(
                    "{FROZEN} is of tree {}, and the candidate is {frozen}",
                    left.tree()
                ));
            }
            if let Some(plan) = plan(case)? {
                verdict.findings.extend(of_plan(&base, &candidate, &plan, &outside)?);
            }
            add_unseen(&mut verdict, &left);
        }
        // The ref has no such file.
        None if case.folder().is_none() => {
            let unseen = unseen(recorded).into_iter();
            let unseen: Vec<Finding> = unseen.filter(|found| !verdict.findings.contains(found)).collect();
            count = unseen.len();
            verdict.findings.extend(unseen);
        }
        None => check.fails(format!("{FROZEN} is not there")),
    }
    verdict.settle();
    let results = results(case, recorded, check)?;
    let checks = settings_of(&base, &Person::default())?.checks;
    if checks.is_empty() {
        if !results.is_empty() {
            check.fails("the log has checks, and the base's settings have none");
        }
        return Ok((verdict, count));
    }
    if !verdict.findings.is_empty() {
        verdict
            .notices
            .push(not_run(checks.len(), "the gate refuses the change"));
        return Ok((verdict, count));
    }
    let named: Vec<&str> = checks.iter().map(|check| check.name.as_str()).collect();
    let ran: Vec<&str> = results.iter().map(|result| result.name.as_str()).collect();
    if named != ran {
        check.fails(format!(
            "the base's settings name the checks {}, and the log has {}",
            named.join(", "),
            ran.join(", ")
        ));
    }
    verdict.findings.extend(results.iter().filter_map(CheckResult::finding));
    verdict.checks = results;
    verdict.settle();
    Ok((verdict, count))
}

/// What the checks came to, as the events since the candidate was frozen say. The last lines of one that failed
/// stand in `gate.json` and must be the end of its log.
fn results(case: &Case<'_>, recorded: &Value, check: &mut Check) -> Result<Vec<CheckResult>> {
    let frozen = case
        .last(|event| matches!(event, Event::Frozen { .. }))
        .map_or(0, |line| line.seq);
    let mut results: Vec<CheckResult> = Vec::new();
    for line in case.log.lines.iter().filter(|line| line.seq > frozen) {
        let Some(Event::CheckFinished {
            check: key,
            name,
            on,
            end,
            millis,
            output,
            ..
        }) = &line.event
        else {
            continue;
        };
        if on == "base" {
            if let Some(result) = results.iter_mut().find(|result| result.key == *key) {
                result.baseline = Some(end.clone());
            }
            continue;
        }
        let log = output.as_ref().map(|file| file.name.clone());
        let mut result = CheckResult {
            key: key.clone(),
            name: name.clone(),
            end: end.clone(),
            millis: *millis,
            last_lines: Vec::new(),
            log,
            baseline: None,
        };
        if end.failed() {
            result.last_lines = said(recorded, key);
            if let (Some(folder), Some(log)) = (case.folder(), &result.log) {
                let all = last_lines(&folder.path.join(log), 0)?;
                if !all.ends_with(&result.last_lines) {
                    check.fails(format!(
                        "the last lines of check `{name}` in {GATE_JSON} are not the end of {log}"
                    ));
                }
            }
        }
        // One that an earlier owner had begun and that was made again.
        results.retain(|other| other.key != *key);
        results.push(result);
    }
    Ok(results)
}

/// The last lines of a check, as `gate.json` has them.
fn said(recorded: &Value, key: &str) -> Vec<String> {
    let checks = recorded["checks"].as_array().into_iter().flatten();
    let mut own = checks.filter(|check| check["key"] == key);
    let lines = own.next().and_then(|check| check["last_lines"].as_array());
    let lines = lines.into_iter().flatten().filter_map(Value::as_str);
    lines.map(str::to_owned).collect()
}

/// The findings of `gate.json` that no tree can show.
fn unseen(recorded: &Value) -> Vec<Finding> {
    let findings = recorded["findings"].as_array().into_iter().flatten();
    let text = |found: &Value, key: &str| found[key].as_str().unwrap_or_default().to_owned();
    let is_unseen = |found: &&Value| {
        let by = found["judged_by"].as_str().unwrap_or_default();
        let rule = if by == BY_PLAN {
            Rule::OutOfScope
        } else {
            Rule::Uninspectable
        };
        found["rule"] == rule.code() && (by == BY_PLAN || UNSEEN.contains(&by))
    };
    findings
        .filter(is_unseen)
        .map(|found| Finding {
            rule: match found["judged_by"].as_str() {
                Some(BY_PLAN) => Rule::OutOfScope,
                _ => Rule::Uninspectable,
            },
            path: render::path_of(found),
            line: None,
            column: None,
            judged_by: text(found, "judged_by"),
            message: text(found, "message"),
            hint: text(found, "hint"),
            commit: None,
            at: None,
        })
        .collect()
}

/// Findings that only one of the two has.
fn different(own: &Value, recorded: &Value) -> Vec<(String, String)> {
    let list = |value: &Value| value.as_array().cloned().unwrap_or_default();
    let (own, recorded) = (list(own), list(recorded));
    let sides = [
        (format!("{GATE_JSON} lacks a finding"), &own, &recorded),
        ("the candidate has not the finding".to_owned(), &recorded, &own),
    ];
    let mut told = Vec::new();
    for (who, these, others) in sides {
        let only = these.iter().filter(|found| !others.contains(found));
        told.extend(only.take(MOST).map(|found| {
            let text = |key: &str| found[key].as_str().unwrap_or_default();
            (
                who.clone(),
                format!("{} in {} [{}]", text("rule"), text("path"), text("judged_by")),
            )
        }));
    }
    told
}

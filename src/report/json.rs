//! Outcomes as JSON: one object with `schema` and the same facts as the text.

use serde_json::{Value, json};

use super::{Help, Outcome};
use crate::agent::profiles::Origin;
use crate::commands::open::Shown;
use crate::commands::{agents, check, doctor, jobs, land, run};
use crate::exit::{Exit, Stop};
use crate::gate::render;
use crate::job::log::Line;
use crate::trailer::Reading;

/// The text of an outcome's object; `log` is the exception: its events are JSON lines already.
pub fn render(outcome: &Outcome) -> String {
    let value = match outcome {
        Outcome::Log(report) => {
            return report.lines.iter().map(event).collect();
        }
        Outcome::Graph(report) => return super::graph::render(report),
        Outcome::Run(report) => run(report),
        Outcome::Check(report) => return check(report),
        Outcome::Explain(report) => super::explain::json(report),
        Outcome::Baseline(report) => super::explain::baseline_json(report),
        Outcome::Preflight(report) => json!({
            "schema": "agentgate/preflight/1", "head": report.head, "notices": report.notices, "exit": 0,
        }),
        Outcome::Trailers(report) => json!({
            "schema": "agentgate/trailers/1",
            "range": report.range,
            "commits": report.commits,
            "exit": report.exit.code(),
            "agent_commits": report.agent_commits.iter().map(|row| {
                let (valid, job, faults) = match &row.reading {
                    Reading::Human => (true, None, Vec::new()),
                    Reading::Agent(trailers) => (true, Some(trailers.job_id.clone()), Vec::new()),
                    Reading::Faulty(faults) => (false, None, faults.clone()),
                };
                json!({ "commit": row.commit, "subject": row.subject, "valid": valid, "job_id": job, "faults": faults })
            }).collect::<Vec<_>>(),
        }),
        Outcome::Nothing => return String::new(),
        Outcome::Detached(report) => return super::elsewhere::detached_json(report),
        Outcome::Attach(report) => return super::elsewhere::attach_json(report),
        Outcome::ResumedAll(jobs) => super::elsewhere::resumed_all_json(jobs, outcome.exit()),
        Outcome::Wait(report) => super::elsewhere::wait_json(report),
        Outcome::Stop(report) => super::elsewhere::stop_json(report),
        Outcome::Status(report) => status(report),
        Outcome::Land(report) => land(report),
        Outcome::Drop(report) => json!({
            "schema": "agentgate/drop/1", "job_id": report.job_id, "record": report.record.to_string_lossy(),
            "notices": report.notices, "exit": 0,
        }),
        Outcome::Open(report) => json!({
            "schema": "agentgate/open/1", "job_id": report.job_id, "worktree": report.worktree.to_string_lossy(),
            "was_there": report.shown != Shown::Candidate, "exit": 0,
        }),
        Outcome::Agents(report) => agents(report),
        Outcome::Init(report) => json!({
            "schema": "agentgate/init/1", "path": report.path.to_string_lossy(),
            "editor_schema": report.schema.as_ref().map(|path| path.to_string_lossy()), "next": report.next, "exit": 0,
        }),
        Outcome::Verify(report) => super::verified::json(report),
        Outcome::Doctor(report) => doctor(report),
        Outcome::Demo(report) => json!({ "schema": "agentgate/demo/1", "exit": report.exit.code() }),
        Outcome::Schema(schema) => return schema.text().to_owned(),
        Outcome::Help(Help::Text(text)) => json!({ "schema": "agentgate/help/1", "text": text }),
        Outcome::Help(Help::ExitCodes) => json!({
            "schema": "agentgate/exit-codes/1",
            "codes": Exit::ALL.iter().map(|exit| json!({
                "code": exit.code(), "name": exit.name(), "meaning": exit.meaning(),
            })).collect::<Vec<_>>(),
        }),
    };
    plain(&format!("{value:#}\n"))
}

/// An event as it stands in the file.
pub fn event(line: &Line) -> String {
    let text = Value::Object(line.json.clone()).to_string();
    format!("{}\n", plain(&text))
}

/// The same JSON with characters as escapes that a terminal would not show, or act on: outside of its strings JSON has
/// none of them, so that nobody who parses it sees a difference.
pub(super) fn plain(json: &str) -> String {
    let is_shown = |c: char| match c {
        '\u{7f}' => false,
        c => c.is_ascii() || c.escape_debug().len() == 1,
    };
    if json.chars().all(is_shown) {
        return json.to_owned();
    }
    let mut text = String::with_capacity(json.len() + 16);
    for c in json.chars() {
        match is_shown(c) {
            true => text.push(c),
            false => (c.encode_utf16(&mut [0; 2]).iter()).for_each(|unit| text.push_str(&format!("\\u{unit:04x}"))),
        }
    }
    text
}

/// The text of the object of a `check`.
pub fn check(report: &check::Report) -> String {
    let mut object = render::json(&report.verdict);
    object["schema"] = "agentgate/check/1".into();
    object["subject"] = report.subject.word().into();
    object["base"] = report.base.clone().into();
    object["base_from"] = render::lines(&report.base_from).into();
    object["merge_base"] = report.merge_base.clone().into();
    object["head"] = report.head.clone().into();
    object["commits"] = report.commits.into();
    plain(&format!("{object:#}\n"))
}

fn doctor(report: &doctor::Report) -> Value {
    let exit = report.exit();
    json!({
        "schema": "agentgate/doctor/1",
        "job_id": report.job,
        "verdict": exit.name(),
        "exit": exit.code(),
        "tier": report.tier,
        "not_covered": report.not_covered,
        "checks": report.checks.iter().map(|check| json!({
            "name": check.name,
            "state": check.state.word(),
            "exit": match check.state {
                doctor::State::Fail(exit) => Some(exit.code()),
                doctor::State::Ok | doctor::State::Warn => None,
            },
            "text": check.text,
            "hints": check.hints,
        })).collect::<Vec<_>>(),
        "agents": report.agents.iter().map(|row| json!({
            "name": row.profile.name, "program": row.program.as_ref().map(|path| path.to_string_lossy()),
        })).collect::<Vec<_>>(),
    })
}

pub(super) fn run(report: &run::Report) -> Value {
    json!({
        "schema": "agentgate/run/1",
        "job_id": report.job_id,
        "base": report.base,
        "worktree": report.worktree.as_ref().map(|path| path.to_string_lossy()),
        "branch": report.branch,
        "commit": report.commit,
        "record": report.record.to_string_lossy(),
        "verdict": report.exit.name(),
        "exit": report.exit.code(),
        "reason": report.reason,
        "confinement": report.confinement,
        "narrowed": report.narrowed,
        "not_covered": report.not_covered,
        "changed": report.changed,
        "findings": report.findings.iter().map(render::finding_json).collect::<Vec<_>>(),
        "checks": report.checks.iter().map(render::check_json).collect::<Vec<_>>(),
        "warnings": report.warnings.iter().map(render::warning_json).collect::<Vec<_>>(),
        "notices": report.notices.iter().chain(&report.afterwards).collect::<Vec<_>>(),
        "landed": report.landed.as_ref().map(land),
    })
}

fn land(report: &land::Report) -> Value {
    json!({
        "schema": "agentgate/land/1",
        "job_id": report.job_id,
        "commit": report.commit,
        "target": report.target,
        "old": report.old,
        "checkout": report.checkout.as_ref().map(|path| path.to_string_lossy()),
        "notices": report.notices,
        "exit": 0,
    })
}

fn status(report: &jobs::Status) -> Value {
    json!({
        "schema": "agentgate/status/1",
        "clone": report.clone.to_string_lossy(),
        "holder": report.holder.as_ref().map(|holder| json!({ "job_id": holder.job, "pid": holder.process.pid, "command": holder.command })),
        "worktrees": report.worktrees.iter().map(|tree| json!({
            "path": tree.path.to_string_lossy(),
            "head": tree.head,
            "branch": tree.branch,
            "locked": tree.locked,
            "bare": tree.bare,
            "missing": !tree.path.is_dir(),
        })).collect::<Vec<_>>(),
        "jobs": report.jobs.iter().map(|job| json!({
            "job_id": job.id,
            "state": job.state,
            "exit": job.exit,
            "base": job.base,
            "age_seconds": job.age,
            "goal": job.goal,
            "worktree": job.worktree.as_ref().map(|path| path.to_string_lossy()),
            "holder_alive": job.owned,
            "detail": job.detail,
        })).collect::<Vec<_>>(),
    })
}

fn agents(report: &agents::Report) -> Value {
    json!({
        "schema": "agentgate/agents/1",
        "settings": report.settings,
        "agents": report.rows.iter().map(|row| json!({
            "name": row.profile.name,
            "origin": origin(row.profile.origin),
            "installed": row.program.is_some(),
            "program": row.program.as_ref().map(|path| path.to_string_lossy()),
            "missing": row.missing,
            "version": row.version,
            "keys": row.profile.pass_env,
            "keys_set": row.keys_set,
            "login_files": row.logins,
            "needs_model_label": row.lacks_model,
            "command": row.command,
            "note": row.profile.note,
        })).collect::<Vec<_>>(),
        "implementer": report.implementer.as_ref().map(|agent| json!({
            "name": agent.name,
            "from": agent.named_by,
            "program": agent.program.as_ref().ok().map(|path| path.to_string_lossy()),
            "error": agent.program.as_ref().err().map(|stop| &stop.message),
        })),
        "unread": report.unread,
        "exit": 0,
    })
}

/// Who wrote a profile, in a word.
pub(super) fn origin(origin: Origin) -> &'static str {
    match origin {
        Origin::BuiltIn => "built-in",
        Origin::Changed => "changed",
        Origin::Person => "yours",
    }
}

/// Why a command was refused.
pub fn refusal(stop: &Stop) -> String {
    let value = json!({
        "schema": "agentgate/error/1",
        "verdict": stop.exit.name(),
        "exit": stop.exit.code(),
        "error": render::lines(&stop.message),
        "hints": stop.hints.iter().map(|hint| render::lines(hint)).collect::<Vec<_>>(),
    });
    plain(&format!("{value:#}\n"))
}

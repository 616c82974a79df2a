//! The commands that meet a job from elsewhere: `run --detach`, `attach`, `wait`, `stop`. Texts are
//! `(standard output, standard error)`.

use serde_json::{Value, json};

use super::{Outcome, json as objects, text};
use crate::commands::closing::Said;
use crate::commands::{attach, detach, stop, wait};
use crate::exit::{Exit, Stop};

/// The id alone, for `id=$(agentgate run --detach ...)`.
pub fn detached(report: &detach::Report) -> (String, String) {
    match report {
        detach::Report::Ended(_) => (String::new(), String::new()),
        detach::Report::Left { begun, pid } => {
            let id = shell_words::quote(&begun.job_id);
            let agentgate = &begun.agentgate;
            let beside = format!(
                "agentgate: job {} goes on by itself (pid {pid})\n\
                 next: {agentgate} attach {id}   # see what it does\n\
                 next: {agentgate} wait {id}   # wait for its end and its code\n\
                 next: {agentgate} stop {id}   # end it\n",
                begun.job_id
            );
            (format!("{}\n", begun.job_id), beside)
        }
    }
}

/// Nothing where another process has said it all.
pub fn detached_json(report: &detach::Report) -> String {
    let detach::Report::Left { begun, pid } = report else {
        return String::new();
    };
    let object = json!({
        "schema": "agentgate/detached/1", "job_id": begun.job_id, "record": begun.record.to_string_lossy(), "pid": pid,
        "exit": 0,
    });
    super::json::plain(&format!("{object:#}\n"))
}

pub fn attach(report: &attach::Report) -> (String, String) {
    match report {
        attach::Report::Rebuilt(report) => text::run(report),
        attach::Report::Ended { closing, since } => {
            let (result, mut beside) = match &closing.said {
                Said::Report { result, beside, .. } => (result.clone(), beside.clone()),
                Said::Error { .. } => (String::new(), String::new()),
            };
            if let Some(since) = since {
                beside.push_str(&format!("note: since then {since}\n"));
            }
            (result, beside)
        }
        attach::Report::Left { job_id, agentgate, .. } => {
            let id = shell_words::quote(job_id);
            let beside = format!(
                "agentgate: job {job_id} goes on; only the looking on has ended (exit {})\n\
                 next: {agentgate} attach {id}   # come back\n\
                 next: {agentgate} stop {id}   # end it\n",
                report.exit()
            );
            (String::new(), beside)
        }
    }
}

pub fn attach_json(report: &attach::Report) -> String {
    let object = match report {
        attach::Report::Rebuilt(report) => objects::run(report),
        attach::Report::Ended { closing, .. } => match &closing.said {
            Said::Report { json, .. } => json.clone(),
            Said::Error { .. } => return String::new(),
        },
        attach::Report::Left { job_id, signal, .. } => json!({
            "schema": "agentgate/attach/1", "job_id": job_id, "state": "running", "signal": signal,
            "exit": report.exit().code(),
        }),
    };
    super::json::plain(&format!("{object:#}\n"))
}

/// Each job as its own `resume` would have told it; a blank line between two.
pub fn resumed_all(jobs: &[(String, Result<Outcome, Stop>)]) -> (String, String) {
    if jobs.is_empty() {
        return (
            String::new(),
            "agentgate: no job of this clone waits to be gone on with\n".to_owned(),
        );
    }
    let told = jobs.iter().map(|(id, result)| match result {
        Ok(outcome) => text::render(outcome),
        Err(stop) => {
            let result = format!("job_id={id}\nverdict={}\nexit={}\n", stop.exit.name(), stop.exit.code());
            (result, super::refused(stop))
        }
    });
    let (results, beside): (Vec<String>, Vec<String>) = told.unzip();
    (results.join("\n"), beside.join("\n"))
}

pub fn resumed_all_json(jobs: &[(String, Result<Outcome, Stop>)], exit: Exit) -> Value {
    let rows = jobs.iter().map(|(id, result)| match result {
        Ok(outcome) => serde_json::from_str(&objects::render(outcome)).unwrap_or(Value::Null),
        Err(stop) => json!({
            "job_id": id, "verdict": stop.exit.name(), "exit": stop.exit.code(), "error": stop.message,
            "hints": stop.hints,
        }),
    });
    json!({"schema": "agentgate/resume/1", "jobs": rows.collect::<Vec<_>>(), "exit": exit.code()})
}

pub fn wait(report: &wait::Report) -> (String, String) {
    let mut result = String::new();
    let mut beside = String::new();
    for row in &report.rows {
        let (id, exit) = (&row.job_id, row.exit);
        result.push_str(&format!("job_id={id} verdict={} exit={}\n", exit.name(), exit.code()));
        if let Some(stop) = &row.dead {
            beside.push_str(&format!("agentgate: {} (exit {})\n", stop.message, stop.exit));
            stop.hints
                .iter()
                .for_each(|hint| beside.push_str(&format!("hint: {hint}\n")));
        }
    }
    (result, beside)
}

pub fn wait_json(report: &wait::Report) -> Value {
    json!({
        "schema": "agentgate/wait/1",
        "jobs": report.rows.iter().map(|row| json!({
            "job_id": row.job_id,
            "verdict": row.exit.name(),
            "exit": row.exit.code(),
            "error": row.dead.as_ref().map(|stop| &stop.message),
            "hints": row.dead.as_ref().map_or(&[][..], |stop| &stop.hints),
        })).collect::<Vec<_>>(),
        "exit": report.exit().code(),
    })
}

pub fn stop(report: &stop::Report) -> (String, String) {
    let result = format!(
        "job_id={}\nrecord={}\nverdict={}\nexit={}\n",
        report.job_id,
        text::line(&report.record),
        report.exit.name(),
        report.exit.code()
    );
    let words = match report.exit {
        Exit::Interrupted | Exit::Terminated | Exit::Hangup => format!(
            "job {} is over: {} (exit {})",
            report.job_id, report.reason, report.exit
        ),
        exit => format!("job {} had come to its end by itself (exit {exit})", report.job_id),
    };
    (result, format!("agentgate: {words}\n"))
}

pub fn stop_json(report: &stop::Report) -> Value {
    json!({
        "schema": "agentgate/stop/1", "job_id": report.job_id, "record": report.record.to_string_lossy(),
        "ended": { "verdict": report.exit.name(), "exit": report.exit.code(), "reason": report.reason }, "exit": 0,
    })
}

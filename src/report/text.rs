//! Outcomes as text: `(standard output, standard error)`.

use std::path::Path;

use super::{Help, Outcome};
use crate::agent::profiles::Origin;
use crate::commands::open::{self, Shown};
use crate::commands::{agents, jobs, land, run, trailers};
use crate::exit::Exit;
use crate::gate::render;
use crate::job::log::Line;
use crate::trailer::Reading;

/// The two texts of an outcome.
pub fn render(outcome: &Outcome) -> (String, String) {
    match outcome {
        Outcome::Run(report) => run(report),
        Outcome::ResumedAll(jobs) => super::elsewhere::resumed_all(jobs),
        Outcome::Check(report) => super::check_text::render(report),
        Outcome::Explain(report) => (super::explain::text(report), String::new()),
        Outcome::Baseline(report) => (super::explain::baseline_text(report), String::new()),
        Outcome::Preflight(report) => (format!("preflight_ok head={}\n", report.head), notes(&report.notices)),
        Outcome::Trailers(report) => (trailers(report), String::new()),
        Outcome::Status(report) => status(report),
        Outcome::Log(report) => log(report),
        Outcome::Nothing => Default::default(),
        Outcome::Detached(report) => super::elsewhere::detached(report),
        Outcome::Attach(report) => super::elsewhere::attach(report),
        Outcome::Wait(report) => super::elsewhere::wait(report),
        Outcome::Stop(report) => super::elsewhere::stop(report),
        Outcome::Land(report) => (land(report), notes(&report.notices) + &landed_words(report)),
        Outcome::Drop(report) => (
            format!("job_id={}\nrecord={}\n", report.job_id, line(&report.record)),
            notes(&report.notices),
        ),
        Outcome::Open(report) => (format!("worktree={}\n", line(&report.worktree)), opened(report)),
        Outcome::Agents(report) => (agents(report), String::new()),
        Outcome::Graph(report) => (super::graph::render(report), String::new()),
        Outcome::Init(report) => {
            let mut text = format!("wrote {}\n", report.path.display());
            if let Some(schema) = &report.schema {
                text.push_str(&format!("wrote {}, by which editors know its keys\n", schema.display()));
            }
            for (name, folder) in &report.areas {
                text.push_str(&format!("  area {name}: {folder}\n"));
            }
            text.push_str(&format!("read it, then make it count:\n  {}\n", report.next));
            (text, String::new())
        }
        Outcome::Verify(report) => super::verified::text(report),
        Outcome::Doctor(report) => (super::doctor_text::render(report), String::new()),
        Outcome::Demo(report) => (report.text.clone(), String::new()),
        Outcome::Schema(schema) => (schema.text().to_owned(), String::new()),
        Outcome::Help(Help::Text(text)) => (text.clone(), String::new()),
        Outcome::Help(Help::ExitCodes) => (exit_codes(), String::new()),
    }
}

/// A path as the value of a `key=value` line.
pub(super) fn line(path: &Path) -> String {
    path.to_string_lossy().replace('\n', "\\n")
}

fn notes(notices: &[String]) -> String {
    notices.iter().map(|notice| format!("note: {notice}\n")).collect()
}

fn agents(report: &agents::Report) -> String {
    let mut text = String::new();
    for row in &report.rows {
        let name = &row.profile.name;
        text.push_str(&match (&row.program, &row.version) {
            (Some(program), None) => format!("{name}: {}\n", line(program)),
            (Some(program), Some(version)) => format!("{name}: {} ({version})\n", line(program)),
            (None, _) => format!("{name}: {}\n", row.missing.as_deref().unwrap_or("not found")),
        });
        let mut say = |what: &str, value: &str| {
            if !value.is_empty() {
                text.push_str(&format!("  {what}: {value}\n"));
            }
        };
        match row.profile.origin {
            Origin::BuiltIn => {}
            Origin::Changed => say("changed in", &report.settings),
            Origin::Person => say("from", &report.settings),
        }
        say("runs", &row.command);
        say("set here", &row.keys_set.join(", "));
        let logins: Vec<String> = row.logins.iter().map(|path| format!("~/{path}")).collect();
        say("logged in", &logins.join(", "));
        if row.program.is_some() && row.keys_set.is_empty() && logins.is_empty() {
            say("no key set", &row.profile.pass_env.join(", "));
        }
        if row.lacks_model {
            say("needs", "AGENT_MODEL_LABEL, or model_label in the settings");
        }
        say("note", &row.profile.note);
    }
    if let Some(agent) = &report.implementer {
        text.push_str(&format!("\nwithout --agent or a command, here: {}", agent.name));
        match &agent.program {
            Ok(program) => text.push_str(&format!(" ({})\n  from: {}\n", line(program), agent.named_by)),
            Err(stop) => {
                text.push_str(&format!("\n  from: {}\n", agent.named_by));
                text.push_str(&format!("  cannot run: {} (exit {})\n", stop.message, stop.exit));
                for hint in &stop.hints {
                    text.push_str(&format!("  hint: {hint}\n"));
                }
            }
        }
    }
    if let Some(why) = &report.unread {
        text.push_str(&format!("\nthe settings here cannot be read: {why}\n"));
    }
    text
}

pub(super) fn run(report: &run::Report) -> (String, String) {
    let path = |path: &Option<std::path::PathBuf>| path.as_deref().map(line).unwrap_or_default();
    let mut result = format!(
        "job_id={}\nbase={}\nworktree={}\nbranch={}\ncommit={}\nrecord={}\nverdict={}\nexit={}\n",
        report.job_id,
        report.base,
        path(&report.worktree),
        report.branch.as_deref().unwrap_or_default(),
        report.commit.as_deref().unwrap_or_default(),
        line(&report.record),
        report.exit.name(),
        report.exit.code(),
    );
    if let Some(landed) = &report.landed {
        result.push_str(&format!("landed={}\n", landed.target));
    }
    let mut beside: String = report.findings.iter().map(render::finding).collect();
    beside.push_str(&render::checks(&report.checks));
    let narrowed: String = report.narrowed.iter().map(|word| format!(", {word}")).collect();
    beside.push_str(&format!(
        "agentgate: confinement {}{narrowed}; not covered: {}\n",
        report.confinement,
        report.not_covered.join("; ")
    ));
    beside.push_str(&render::warnings(&report.warnings));
    beside.push_str(&notes(&report.notices));
    if report.exit == Exit::Ok {
        let files = if report.changed == 1 {
            "1 path".to_owned()
        } else {
            format!("{} paths", report.changed)
        };
        beside.push_str(&format!("agentgate: passed; {files} changed\n"));
    } else {
        beside.push_str(&format!("agentgate: {} (exit {})\n", report.reason, report.exit));
        beside.push_str(&notes(&report.afterwards));
        beside.push_str(&format!("the record: {}\n", line(&report.record)));
    }
    for (command, why) in &report.next {
        beside.push_str(&format!("next: {command}   # {why}\n"));
    }
    if let Some(landed) = &report.landed {
        beside.push_str(&landed_words(landed));
    }
    (result, beside)
}

fn trailers(report: &trailers::Report) -> String {
    let mut text = String::new();
    let mut faulty = 0;
    for row in &report.agent_commits {
        match &row.reading {
            Reading::Human => {}
            Reading::Agent(trailers) => {
                text.push_str(&format!(
                    "{} ok job={} host={} model={}\n",
                    row.commit, trailers.job_id, trailers.host, trailers.model_label
                ));
            }
            Reading::Faulty(faults) => {
                faulty += 1;
                for fault in faults {
                    text.push_str(&format!("{} {fault}\n", row.commit));
                }
            }
        }
    }
    let total = report.agent_commits.len();
    text.push_str(&match (report.commits, total, faulty) {
        (0, ..) => format!("trailers ok; {} is empty: no commit was looked at\n", report.range),
        (commits, 0, _) => format!("trailers ok; no agent commit among {commits}\n"),
        (_, 1, 0) => "trailers ok; 1 agent commit\n".to_owned(),
        (_, total, 0) => format!("trailers ok; {total} agent commits\n"),
        (_, total, faulty) => format!(
            "trailers broken; {faulty} of {total} agent commits (exit {})\n",
            Exit::Trailers.code()
        ),
    });
    text
}

fn age(seconds: i64) -> String {
    match seconds {
        ..60 => format!("{}s", seconds.max(0)),
        60..3600 => format!("{}m", seconds / 60),
        3600..86400 => format!("{}h", seconds / 3600),
        _ => format!("{}d", seconds / 86400),
    }
}

fn status(report: &jobs::Status) -> (String, String) {
    let mut text = String::new();
    if report.jobs.is_empty() {
        text.push_str("no jobs in this clone\n");
    }
    let width = report.jobs.iter().map(|job| job.id.len()).max().unwrap_or(0);
    for job in &report.jobs {
        let exit = job.exit.map_or("-".to_owned(), |exit| exit.to_string());
        let base = job.base.get(..12).unwrap_or("-");
        let age = job.age.map_or("-".to_owned(), age);
        let place = job.worktree.as_deref().map(line).unwrap_or_default();
        let row = format!(
            "{:width$}  {:11}  exit {exit:>3}  base {base}  {age:>4}  {}",
            job.id, job.state, job.goal
        );
        text.push_str(row.trim_end());
        text.push('\n');
        let attach = match job.state.as_str() {
            "running" => format!("agentgate attach {} shows what it does", shell_words::quote(&job.id)),
            _ => String::new(),
        };
        for more in [&job.detail, &place, &attach]
            .into_iter()
            .filter(|more| !more.is_empty())
        {
            text.push_str(&format!("{:width$}  {more}\n", ""));
        }
    }
    for tree in report.worktrees.iter().filter(|tree| !tree.bare) {
        if report.jobs.iter().any(|job| job.worktree.as_ref() == Some(&tree.path)) {
            continue;
        }
        let branch = tree
            .branch
            .as_deref()
            .map_or("detached", |name| name.trim_start_matches("refs/heads/"));
        let head = tree.head.as_deref().and_then(|head| head.get(..12)).unwrap_or("-");
        let mut words = format!("worktree  {branch} at {head}  {}", line(&tree.path));
        if let Some(reason) = &tree.locked {
            words.push_str(&format!("  locked {}", render::path(reason.as_bytes())));
        }
        if !tree.path.is_dir() {
            words.push_str("  missing");
        }
        text.push_str(words.trim_end());
        text.push('\n');
    }
    let beside = match &report.in_use {
        Some(who) => format!("agentgate: {who}\n"),
        None => String::new(),
    };
    (text, beside)
}

/// An event: its number, time and kind, and its fields below.
pub fn event(line: &Line) -> String {
    let known = if line.event.is_none() {
        " (not known to this version)"
    } else {
        ""
    };
    // All of one width; the log itself leaves zeros out.
    let at = line.at.parse::<jiff::Timestamp>();
    let at = at.map_or_else(|_| render::path(line.at.as_bytes()), |at| format!("{at:.3}"));
    let kind = render::path(line.kind.as_bytes());
    let mut text = format!("{:>3}  {at}  {kind}{known}\n", line.seq);
    for (key, value) in jobs::details(&line.json) {
        let key = render::path(key.as_bytes());
        text.push_str(&format!("       {key}: {}\n", render::path(value.as_bytes())));
    }
    text
}

fn log(report: &jobs::Log) -> (String, String) {
    let mut text = String::new();
    report.lines.iter().for_each(|line| text.push_str(&event(line)));
    let mut beside = format!("agentgate: job {}: {}\n", report.job_id, report.words);
    beside.push_str(&format!(
        "the record: {} ({})\n",
        line(&report.record),
        report.files.join(", ")
    ));
    if report.ended.is_some_and(|exit| exit != Exit::Ok) {
        let shown = ["gate.log", "agent.log"]
            .into_iter()
            .filter(|name| report.files.iter().any(|file| file == name));
        for name in shown {
            beside.push_str(&format!(
                "next: cat {}\n",
                shell_words::quote(&line(&report.record.join(name)))
            ));
        }
    }
    if report.torn > 0 {
        beside.push_str(&format!(
            "note: a torn last line of {} bytes was passed over\n",
            report.torn
        ));
    }
    (text, beside)
}

/// What stands in the worktree, and what to type next: what gives the job up comes last, and says so.
fn opened(report: &open::Report) -> String {
    let id = shell_words::quote(&report.job_id);
    let gives_up = format!("next: agentgate drop {id}   # gives it up: deletes the worktree and the job's branch\n");
    match report.shown {
        Shown::Kept => format!(
            "agentgate: it is kept: this is its worktree\n\
             next: agentgate land {id}   # when you agree: the change onto its branch\n{gives_up}"
        ),
        Shown::Waiting => format!(
            "agentgate: it waits for a person: this is its worktree\n\
             next: agentgate answer {id} --approve   # takes the candidate as it is\n\
             next: agentgate answer {id} --file ANSWER.md   # says what is to be done\n{gives_up}"
        ),
        Shown::Candidate => format!(
            "agentgate: the candidate is staged there; git diff --cached shows it\n\
             next: agentgate drop {id}   # when you are done: deletes this worktree\n"
        ),
    }
}

fn landed_words(report: &land::Report) -> String {
    let target = report.target.trim_start_matches("refs/heads/");
    let what = if report.old == report.commit {
        format!("{target} had it already")
    } else {
        format!("landed on {target}")
    };
    let rest = match (report.worktree.is_some(), report.has_branch) {
        (false, false) => "the job's worktree and branch are gone, its record stays",
        (true, true) => "the job's worktree, its branch and its record stay",
        (true, false) => "the job's branch is gone, its worktree and its record stay",
        (false, true) => "the job's worktree is gone, its branch and its record stay",
    };
    format!("agentgate: {what}; {rest}\n")
}

fn land(report: &land::Report) -> String {
    let place = report
        .checkout
        .as_deref()
        .map(|place| format!("checkout={}\n", line(place)))
        .unwrap_or_default();
    format!(
        "landed={}\ncommit={}\nold={}\n{place}",
        report.target, report.commit, report.old
    )
}

fn exit_codes() -> String {
    let mut text = String::from("code  name                     meaning\n");
    for exit in Exit::ALL {
        text.push_str(&format!("{:>4}  {:23}  {}\n", exit.code(), exit.name(), exit.meaning()));
    }
    text
}

//! `agentgate check`: the gate over a commit range, as CI runs it.
//!
//! Invariant: what cannot be found or read ends with 2; a range is only called empty when it is.

mod base;
mod commands;
mod judge;
mod policy_change;
mod restore;
mod uncommitted;

use std::path::{Path, PathBuf};

use anyhow::Result;
use git2::Oid;

use super::trailers::{self, Row};
use super::{Surroundings, Watch};
use crate::exit::{Exit, Stop};
use crate::files;
use crate::gate::{Finding, Rule, Verdict};
use crate::git::range::{self, Graph};
use crate::git::repo::Checkout;
use crate::git::tree::Folders;
use crate::task::{self, Task};
use crate::trailer::Reading;
pub use commands::Commands;
use judge::Scene;
use policy_change::Claim;

/// What is judged.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Subject {
    /// A range of commits.
    Range,
    /// Everything in the head's tree.
    All,
    /// The checkout, untracked files included.
    Worktree,
    /// The index.
    Staged,
    /// These files or folders of the checkout.
    Paths(Vec<PathBuf>),
}

impl Subject {
    /// A word for reports.
    pub const fn word(&self) -> &'static str {
        match self {
            Subject::Range => "range",
            Subject::All => "tree",
            Subject::Worktree => "worktree",
            Subject::Staged => "index",
            Subject::Paths(_) => "paths",
        }
    }
}

/// What was asked.
#[derive(Clone, Debug)]
pub struct Options {
    /// A range, or `--all`, `--worktree`, `--staged`, `--paths`
    pub subject: Subject,
    /// `--strict-baseline`
    pub strict_baseline: bool,
    /// `--base`
    pub base: Option<String>,
    /// `--head`
    pub head: String,
    /// `--range A..B`
    pub range: Option<String>,
    /// `--task`
    pub task: Option<PathBuf>,
    /// `--allow-policy-change`
    pub allow_policy_change: bool,
    /// `--checks`, and what goes with it.
    pub checks: Option<Commands>,
    /// `--require-inspected`
    pub require_inspected: bool,
    /// `--verbose`
    pub verbose: bool,
}

/// The verdict over a range.
#[derive(Clone, Debug)]
pub struct Report {
    /// The exit.
    pub exit: Exit,
    /// What was judged.
    pub subject: Subject,
    /// The base as resolved: commit id.
    pub base: String,
    /// How the base was found, in words (`--base main`, `INVARIANT_BASE`, `origin/HEAD`).
    pub base_from: String,
    /// Where the range starts: the merge base (the newest, where there are several).
    pub merge_base: String,
    /// What was judged: commit id; of what is not committed the id of its tree.
    pub head: String,
    /// When the head was committed, in seconds since 1970.
    pub head_time: i64,
    /// The address of the remote `origin`, as configured: it may hold a password.
    pub origin: Option<String>,
    /// How many commits were judged one by one.
    pub commits: usize,
    /// The verdict, trailers included.
    pub verdict: Verdict,
    /// Whether a person wants to read all of it.
    pub verbose: bool,
}

/// Judges a range.
///
/// # Errors
/// Exit 2 where the range or its policy cannot be found or read, 22 for a bad task, 64 for a
/// `--range` that is none; with `--checks` also 21 without
/// confinement that nobody waived, 20 where the clone changed meanwhile, 129, 130 and 143 for a signal.
pub fn check(options: &Options, surroundings: &Surroundings, watch: &dyn Watch) -> Result<Report> {
    let task = options
        .task
        .as_deref()
        .map(|path| read_task(&surroundings.cwd, path))
        .transpose()?;
    // A range is read by libgit2 alone, but for trailers and the commands of `--checks`.
    let is_quiet = options.subject == Subject::Range && options.checks.is_none();
    let checkout = match is_quiet {
        true => surroundings.quiet_checkout()?,
        false => surroundings.checkout()?,
    };
    let unread = task
        .iter()
        .flat_map(|task| task.unread())
        .map(|line| format!("task: {line}"));
    if options.subject != Subject::Range {
        let mut report = uncommitted::judge(options, &checkout, surroundings, task.as_ref())?;
        report.verdict.notices.splice(0..0, unread);
        return Ok(report);
    }
    let graph = Graph::of(&checkout)?;
    let (left, right) = sides(options)?;
    let head = resolve_head(&checkout, right)?;
    let base = base::find(&checkout, &graph, surroundings, left, head).map_err(|error| base::typed(error, options))?;
    let range = graph
        .range(base.commit, head)
        .map_err(|error| base::typed(error, options))?;
    let agents = trailers::agent_commits(&checkout, &graph, &range.commits)?;

    let scene = Scene {
        repo: &checkout.repo,
        graph: &graph,
        range: &range,
        tip: base.commit,
        target: base::target_tip(&checkout.repo, surroundings)?,
        head,
        folders: Folders::default(),
    };
    let mut notices: Vec<String> = unread.collect();
    let mut is_first = false;
    let claim = match options.allow_policy_change && !range.commits.is_empty() {
        true => policy_change::claim(&scene, &agents)?,
        false => Claim::Void(None),
    };
    let mut verdict = match claim {
        Claim::First(verdict) => {
            is_first = true;
            *verdict
        }
        Claim::Change => policy_change::accept(scene.judge(task.as_ref())?),
        Claim::Void(why) => {
            let judged = scene.judge(task.as_ref());
            notices.extend(why.clone());
            judged.map_err(|error| match (why, error.downcast::<Stop>()) {
                // Else a person who gave the option would be told to give it.
                (Some(why), Ok(stop)) => stop.hint(why).into(),
                (None, Ok(stop)) => stop.into(),
                (_, Err(error)) => error,
            })?
        }
    };
    if verdict.findings.iter().any(|found| found.rule == Rule::ProtectedPath) {
        notices.extend(policy_change::unusable(&scene.tree(head)?, &verdict));
        if !options.allow_policy_change && policy_change::would_accept(&scene, &agents, &verdict) {
            notices.push(policy_change::how(surroundings).to_owned());
        }
    }
    if let [start] = range.merge_bases[..] {
        restore::add_commands(&mut verdict, start, &checkout);
    }
    if range.merge_bases.len() > 1 {
        notices.push(format!(
            "{} merge bases (criss-cross merges): the range is judged against each",
            range.merge_bases.len()
        ));
    }
    match range.commits.len() {
        0 => notices.push(format!(
            "the range is empty: {head} is already in {}; what is not committed is judged with --worktree",
            base.commit
        )),
        count if scene.is_net_empty()? => notices.push(format!(
            "net difference of {count} commit{} is empty",
            if count == 1 { "" } else { "s" }
        )),
        _ => {}
    }
    notices.append(&mut verdict.notices);
    verdict.notices = notices;
    verdict.findings.extend(faults(&agents));
    verdict.settle();
    // The first policy judges nothing yet: it is what changes.
    if let Some(why) = verdict.is_hollow().filter(|_| !is_first) {
        if options.require_inspected && verdict.exit() == Exit::Ok {
            return Err(hollow(&why, &verdict).into());
        }
        if verdict.paths_checked > 0 {
            verdict.notices.push(why);
        }
    }
    match &options.checks {
        Some(asked) => commands::run(asked, &scene, &checkout, surroundings, watch, &mut verdict)?,
        None => verdict.notices.extend(commands::told_of(&scene)),
    }
    let commit = checkout.repo.find_commit(head)?;
    Ok(Report {
        head_time: commit.time().seconds(),
        origin: origin(&checkout),
        exit: verdict.exit(),
        subject: Subject::Range,
        base: base.commit.to_string(),
        base_from: base.from,
        merge_base: range.merge_bases.first().unwrap_or(&base.commit).to_string(),
        head: head.to_string(),
        commits: range.commits.len(),
        verdict,
        verbose: options.verbose,
    })
}

/// The refusal of `--require-inspected`.
fn hollow(why: &str, verdict: &Verdict) -> Stop {
    let stop = Stop::new(Exit::PolicyUnusable, format!("nothing was inspected: {why}"));
    let stop = verdict
        .notices
        .iter()
        .fold(stop, |stop, notice| stop.hint(notice.clone()));
    stop.hint("mend the range or the policy, or leave --require-inspected out where that is as it should be")
}

/// The address of `origin`, where there is one.
fn origin(checkout: &Checkout) -> Option<String> {
    let remote = checkout.repo.find_remote("origin").ok()?;
    Some(String::from_utf8_lossy(remote.url_bytes()).into_owned())
}

/// What the base was given by (option and value), and the head.
type Sides<'a> = (Option<(&'static str, &'a str)>, &'a str);

/// Base and head as given. An empty side counts as not given, like an empty variable: CI lines
/// such as `--range "$BASE..HEAD"` must not turn into an empty range.
fn sides(options: &Options) -> Result<Sides<'_>> {
    let Some(given) = &options.range else {
        return Ok((options.base.as_deref().map(|base| ("--base", base)), &options.head));
    };
    let Some((left, right)) = range::split(given) else {
        return Err(Stop::new(Exit::Usage, format!("{given:?} is no range"))
            .hint("agentgate check --range origin/main..HEAD")
            .into());
    };
    Ok((Some(("--range", left)), right))
}

fn resolve_head(checkout: &Checkout, given: &str) -> Result<Oid> {
    if matches!(given, "" | "HEAD") {
        return Ok(checkout.head()?.commit);
    }
    match range::resolve(&checkout.repo, given)? {
        Some(commit) => Ok(commit),
        None => Err(Stop::new(
            Exit::PolicyUnusable,
            format!("the head {given:?} names no commit of this clone"),
        )
        .hint("git fetch origin, then name a branch or commit that is here")
        .into()),
    }
}

/// The task in a file that was named on the command line.
pub(super) fn read_task(cwd: &Path, given: &Path) -> Result<Task> {
    let shown = given.display();
    let bad = |message: String, hint: &str| Stop::new(Exit::BadTask, message).hint(hint);
    let cannot = |error: std::io::Error| {
        bad(
            format!("the task file {shown} cannot be read: {error}"),
            "give the path of the text file that the job was given",
        )
    };
    let path = std::fs::canonicalize(cwd.join(given)).map_err(cannot)?;
    let bytes = files::read_small(&path, task::MAX_BYTES as u64).map_err(cannot)?;
    Ok(Task::parse(&bytes).map_err(|error| {
        let place = error
            .line
            .map_or_else(|| shown.to_string(), |line| format!("{shown}:{line}"));
        bad(format!("{place}: {}", error.message), &error.hint)
    })?)
}

/// One finding a fault.
fn faults(agents: &[Row]) -> Vec<Finding> {
    let mut findings = Vec::new();
    for row in agents {
        let Reading::Faulty(faults) = &row.reading else {
            continue;
        };
        findings.extend(faults.iter().map(|fault| {
            Finding {
                rule: Rule::Trailers,
                path: Vec::new(),
                line: None,
                column: None,
                judged_by: "built-in: trailers of agent commits".to_owned(),
                message: fault.clone(),
                hint: "let `agentgate run` make the commit, or reword it: its last paragraph names Agent-Job-Id, \
                   Agent-Host and Agent-Model-Label once each"
                    .to_owned(),
                commit: Some(row.commit.clone()),
                at: None,
            }
        }));
    }
    findings
}

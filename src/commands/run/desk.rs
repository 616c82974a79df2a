//! What a role's agent is offered over MCP while its call lasts.
//!
//! Invariants: the tools are those of the role whose socket it is; what they read was read before the agent
//! started; an answer is in the record, and synced, before the agent is told that it counts. What runs on the
//! worktree (`check`) runs at the agent's side, inside its walls: nothing of it is trusted here.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{self, Receiver, Sender, SyncSender};
use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use serde::Deserialize;

use super::inputs::text;
use super::prepare::Job;
use crate::commands::Watch;
use crate::gate;
use crate::gate::credentials::search;
use crate::git::from_git2;
use crate::git::tree::GitTree;
use crate::job::Event;
use crate::job::answer::{self, NEEDS_HUMAN, PLAN, REVIEW};
use crate::job::pipeline::Call;
use crate::job::role::Role;
use crate::mcp::lines::Lines;
use crate::mcp::session::{Desk, Reply, Session};
use crate::mcp::tools::{self, Shapes, Tool};
use crate::socket::{Server, Service, Talk};

/// Bytes of a text that one call of a tool gives.
const PAGE: usize = 48 << 10;
/// Files that one call of `list_tree` gives.
const FILES: usize = 1000;
/// Reports of progress that go into the log of one call.
const REPORTS: usize = 200;
/// Between two appends of them.
const BATCH: Duration = Duration::from_secs(1);
/// The name of the socket, beside the task.
const SOCKET: &str = "mcp.sock";

/// What the desk asks of the one who holds the job.
enum Ask {
    /// Take an answer; whether it counts, in words.
    Answer {
        name: &'static str,
        text: String,
        reply: SyncSender<Result<String, String>>,
    },
    /// Show a line.
    Progress(String),
}

/// One for all clients of a call.
struct RoleDesk {
    tools: Vec<Tool>,
    instructions: String,
    task: String,
    policy: String,
    plan: Option<String>,
    step: Option<String>,
    findings: Option<String>,
    diff: Vec<u8>,
    files: Vec<String>,
    /// `-C` and what is judged against.
    worktree: String,
    base: String,
    task_file: String,
    /// Reports of progress so far.
    reports: AtomicUsize,
    asks: Sender<Ask>,
}

/// A socket that is served, and what comes from it.
pub(super) struct Serving {
    server: Server,
    inbox: Receiver<Ask>,
    answered: Option<&'static str>,
    progress: Vec<String>,
    appended: Option<Instant>,
    /// Why the record could not be written.
    error: Option<anyhow::Error>,
}

/// Where an agent's connector finds the socket of a call.
pub(super) fn socket_of(task_file: &Path) -> PathBuf {
    task_file.with_file_name(SOCKET)
}

impl Job {
    /// Serves a call's tools from now on. The brief is written.
    pub(super) fn serve(&mut self, call: &Call) -> Result<Serving> {
        let folder = self.places.private.join("task");
        // All in memory: these files are there to be read by the agent, not to be believed afterwards.
        let read = |name: &str| -> Result<Option<String>> {
            match std::fs::read(folder.join(name)) {
                Ok(bytes) => Ok(Some(String::from_utf8_lossy(&bytes).into_owned())),
                Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(None),
                Err(error) => Err(error).with_context(|| format!("cannot read {name}")),
            }
        };
        let (tools, instructions) = match call.number {
            None => (tools::alone(), instructions(None)),
            Some(_) => {
                let shapes = Shapes {
                    plan: include_str!("../../report/schema/plan.json"),
                    review: include_str!("../../report/schema/review.json"),
                };
                (tools::of_role(call.role, shapes), instructions(Some(call.role)))
            }
        };
        let has = |name: &str| tools.iter().any(|tool| tool.name == name);
        let mut task = self.task.text.clone();
        for (index, person) in self.owner.state.progress.persons.iter().enumerate() {
            let words = String::from_utf8_lossy(&self.recorded(person)?).into_owned();
            task.push_str(&format!("\n\nWhat a person said since ({}):\n{words}\n", index + 1));
        }
        let policy = match has("read_policy") {
            true => String::from_utf8_lossy(&self.rules()?.unwrap_or_default()).into_owned(),
            false => String::new(),
        };
        let files = match has("list_tree") {
            true => self.files_now()?,
            false => Vec::new(),
        };
        let (asks, inbox) = mpsc::channel();
        let diff = match has("read_diff") {
            true => std::fs::read(folder.join("change.patch")).context("cannot read change.patch")?,
            false => Vec::new(),
        };
        let desk = RoleDesk {
            tools,
            instructions,
            task,
            policy,
            plan: read(PLAN)?,
            step: read("step.json")?,
            findings: read("findings.json")?,
            diff,
            files,
            worktree: self
                .worktree
                .as_ref()
                .map_or_else(|| Ok(String::new()), |worktree| text(&worktree.path))?,
            base: self.created.base.clone(),
            task_file: text(&self.task_file)?,
            reports: AtomicUsize::new(0),
            asks,
        };
        let path = socket_of(&self.task_file);
        // A killed owner's.
        let _ = std::fs::remove_file(&path);
        let server =
            Server::start(&path, desk.shared()).with_context(|| format!("cannot listen at {}", path.display()))?;
        Ok(Serving {
            server,
            inbox,
            answered: None,
            progress: Vec::new(),
            appended: None,
            error: None,
        })
    }

    /// Every path of the tree that a planner plans for.
    fn files_now(&self) -> Result<Vec<String>> {
        let tree = GitTree::new(&self.checkout.repo, from_git2(self.tree_before()?));
        let changes = gate::tree::diff(&gate::tree::Nothing, &tree).map_err(gate::GateError::from)?;
        Ok(changes.iter().map(|change| gate::render::path(&change.path)).collect())
    }

    /// Takes what has come from the socket. Called on the thread that holds the job.
    pub(super) fn hear(&mut self, serving: &mut Serving, call: &Call, watch: &dyn Watch) {
        while let Ok(ask) = serving.inbox.try_recv() {
            match ask {
                Ask::Answer { name, text, reply } => {
                    // Whoever asked may be gone.
                    let _ = reply.send(self.hear_answer(serving, call, name, &text));
                }
                Ask::Progress(line) => {
                    watch.step(&format!(
                        "{}: {}",
                        call.role.name(),
                        gate::render::path(line.as_bytes())
                    ));
                    serving.progress.push(line);
                }
            }
        }
        if serving.appended.is_none_or(|at| at.elapsed() >= BATCH) {
            self.append_progress(serving, call);
        }
    }

    fn append_progress(&mut self, serving: &mut Serving, call: &Call) {
        let lines = std::mem::take(&mut serving.progress);
        if lines.is_empty() || serving.error.is_some() {
            return;
        }
        serving.appended = Some(Instant::now());
        let events: Vec<Event> = lines
            .into_iter()
            .map(|text| Event::StepOutput {
                step: call.step.clone(),
                call: call.number,
                text,
            })
            .collect();
        if let Err(error) = self.owner.append_all(&events) {
            serving.error = Some(error);
        }
    }

    fn hear_answer(
        &mut self,
        serving: &mut Serving,
        call: &Call,
        name: &'static str,
        text: &str,
    ) -> Result<String, String> {
        if serving.error.is_some() {
            return Err("the job's record cannot be written, so that nothing counts any more: stop".to_owned());
        }
        if let Some(first) = serving.answered {
            return Err(format!(
                "this call has answered already ({first}), and the first valid answer counts: stop"
            ));
        }
        let number = call.number.ok_or("this job asks for no answer")?;
        let answer = self.valid(name, text.as_bytes())?;
        match self.record_answer(call, number, &answer, name, text.as_bytes()) {
            Ok(()) => {
                serving.answered = Some(name);
                Ok("taken, and in the record: stop now".to_owned())
            }
            Err(error) => {
                let words = format!("{error:#}");
                serving.error = Some(error);
                Err(format!("it could not be recorded: {words}"))
            }
        }
    }

    /// Ends the serving once nothing of the agent is left. Whether the call has answered.
    pub(super) fn served(&mut self, mut serving: Serving, call: &Call, watch: &dyn Watch) -> Result<bool> {
        // What was sent in its last moment.
        serving.appended = None;
        self.hear(&mut serving, call, watch);
        // Without it nobody who asks can wait for a reply.
        drop(serving.inbox);
        serving.server.stop();
        match serving.error {
            None => Ok(serving.answered.is_some()),
            Some(error) => Err(error),
        }
    }
}

impl RoleDesk {
    fn shared(self) -> Shared {
        Shared(Arc::new(self))
    }

    fn ask(&self, name: &'static str, text: &str) -> Reply {
        let (reply, answer) = mpsc::sync_channel(1);
        let ask = Ask::Answer {
            name,
            text: text.to_owned(),
            reply,
        };
        let sent = self.asks.send(ask).is_ok();
        match answer.recv() {
            Ok(Ok(words)) if sent => Reply::Text(words),
            Ok(Err(words)) if sent => Reply::Failed(words),
            _ => Reply::Failed("the call is over".to_owned()),
        }
    }

    fn diff(&self, offset: u64) -> Reply {
        let at = usize::try_from(offset).unwrap_or(usize::MAX).min(self.diff.len());
        let rest = &self.diff[at..];
        let end = match rest.get(..PAGE) {
            None => rest.len(),
            // A line that is longer than a page is cut.
            Some(page) => memchr::memrchr(b'\n', page).map_or(PAGE, |end| end + 1),
        };
        let mut text = String::from_utf8_lossy(&rest[..end]).into_owned();
        if end < rest.len() {
            text.push_str(&format!(
                "\n[{} of {} bytes: go on with offset {}]\n",
                at + end,
                self.diff.len(),
                at + end
            ));
        }
        Reply::Text(text)
    }

    fn list(&self, path: Option<&str>, offset: u64) -> Reply {
        let prefix = path.unwrap_or_default().trim_start_matches("./").trim_matches('/');
        let is_inside = |file: &&String| {
            prefix.is_empty()
                || prefix == "."
                || file
                    .strip_prefix(prefix)
                    .is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
        };
        let all: Vec<&String> = self.files.iter().filter(is_inside).collect();
        let at = usize::try_from(offset).unwrap_or(usize::MAX).min(all.len());
        let page = &all[at..all.len().min(at + FILES)];
        let mut text: String = page.iter().map(|file| format!("{file}\n")).collect();
        let next = at + page.len();
        if next < all.len() {
            text.push_str(&format!("[{next} of {} files: go on with offset {next}]\n", all.len()));
        } else if all.is_empty() {
            text = format!("no file in {prefix:?}\n");
        }
        Reply::Text(text)
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Nothing {}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct At {
    #[serde(default)]
    offset: u64,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct List {
    path: Option<String>,
    #[serde(default)]
    offset: u64,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Explain {
    path: String,
    import: Option<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Progress {
    text: String,
}

impl RoleDesk {
    fn serve(&self, tool: &str, arguments: &str) -> Result<Reply, serde_json::Error> {
        let read = |text: &str| -> Result<Reply, serde_json::Error> {
            serde_json::from_str::<Nothing>(arguments)?;
            Ok(Reply::Text(text.to_owned()))
        };
        Ok(match tool {
            "read_task" => read(&self.task)?,
            "read_policy" => read(&self.policy)?,
            "read_plan" => read(
                self.plan
                    .as_deref()
                    .unwrap_or("There is no plan: the task is all there is.\n"),
            )?,
            "read_step" => read(self.step.as_deref().unwrap_or("There is no plan: do the task.\n"))?,
            "read_findings" => read(self.findings.as_deref().unwrap_or("Nothing was found so far.\n"))?,
            "read_diff" => self.diff(serde_json::from_str::<At>(arguments)?.offset),
            "list_tree" => {
                let List { path, offset } = serde_json::from_str(arguments)?;
                self.list(path.as_deref(), offset)
            }
            "explain_path" => {
                let Explain { path, import } = serde_json::from_str(arguments)?;
                let at = ["-C", &self.worktree, "explain", "--base", &self.base].map(str::to_owned);
                let what = match import {
                    Some(import) => vec![format!("--import={import}"), format!("--in={path}")],
                    // A path, whatever else the word would be.
                    None => {
                        let path = if path.starts_with('/') {
                            path
                        } else {
                            format!("./{path}")
                        };
                        vec![format!("--task={}", self.task_file), "--".to_owned(), path]
                    }
                };
                Reply::Run(at.into_iter().chain(what).collect())
            }
            "check" => {
                serde_json::from_str::<Nothing>(arguments)?;
                let at = ["-C", &self.worktree, "check", "--worktree", "--base", &self.base].map(str::to_owned);
                Reply::Run(at.into_iter().chain([format!("--task={}", self.task_file)]).collect())
            }
            "report_progress" => {
                let Progress { text } = serde_json::from_str(arguments)?;
                if !search(text.as_bytes()).is_empty() {
                    return Ok(Reply::Failed(
                        "the text holds a credential, which cannot go into the record".to_owned(),
                    ));
                }
                if self.reports.fetch_add(1, Ordering::Relaxed) >= REPORTS {
                    let why = format!("not shown: {REPORTS} reports of this call have been");
                    return Ok(Reply::Failed(why));
                }
                match self.asks.send(Ask::Progress(answer::line(text.trim()))) {
                    Ok(()) => Reply::Text("shown".to_owned()),
                    Err(_) => Reply::Failed("the call is over".to_owned()),
                }
            }
            "submit_plan" => self.ask(PLAN, arguments),
            "submit_review" => self.ask(REVIEW, arguments),
            "needs_human" => self.ask(NEEDS_HUMAN, arguments),
            other => Reply::Failed(format!("{other} is not served")),
        })
    }
}

impl Desk for RoleDesk {
    fn tools(&self) -> &[Tool] {
        &self.tools
    }

    fn instructions(&self) -> &str {
        &self.instructions
    }

    fn call(&self, tool: &str, arguments: &str) -> Reply {
        self.serve(tool, arguments)
            .unwrap_or_else(|error| Reply::Failed(format!("the arguments of {tool} are not its own: {error}")))
    }
}

struct Shared(Arc<RoleDesk>);

impl Service for Shared {
    type Talk = Client;

    fn welcome(&self) -> Client {
        Client {
            desk: Arc::clone(&self.0),
            lines: Lines::default(),
            session: Session::default(),
        }
    }
}

struct Client {
    desk: Arc<RoleDesk>,
    lines: Lines,
    session: Session,
}

impl Talk for Client {
    fn hear(&mut self, bytes: &[u8]) -> Vec<u8> {
        let mut said = Vec::new();
        for line in self.lines.feed(bytes) {
            if let Some(reply) = self.session.hear(&line, &*self.desk) {
                said.extend_from_slice(reply.as_bytes());
                said.push(b'\n');
            }
        }
        said
    }
}

/// What an agent's model is told of the server.
fn instructions(role: Option<Role>) -> String {
    let what = match role {
        None => "The task, the rules that the change is judged by, and the judgement before it is final.",
        Some(Role::Planner) => "You are the planner of a job: read_task, read_policy, list_tree, then submit_plan.",
        Some(Role::Implementer) => {
            "You are the implementer of a job: read_task, read_step, then make the change, and check it before you stop."
        }
        Some(Role::Reviewer) => {
            "You are the reviewer of a job: read_task, read_plan, read_diff, read_findings, then submit_review."
        }
        Some(Role::Fixer) => "You are the fixer of a job: read_findings, mend what is blocking, and check it.",
    };
    match role {
        None => what.to_owned(),
        Some(_) => format!("{what} needs_human where only a person can decide."),
    }
}

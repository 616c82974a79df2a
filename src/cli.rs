//! The command line: arguments as typed, and the environment read once.

mod format;

use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

use clap::builder::{OsStringValueParser, TypedValueParser};
use clap::{ArgGroup, Args, Parser, Subcommand};

use crate::agent::values::valid_variable;
use crate::commands::graph::Format as Drawing;
use crate::confine::{Mode, Network};
use crate::lock::Wait;
use crate::task::parse_duration;

pub use format::{Format, Output, Reports};

/// What was typed.
#[derive(Debug, Parser)]
#[command(
    name = "agentgate",
    version,
    about = "Runs a coding agent in its own git worktree and judges what it changed by a policy that only people may change",
    disable_help_subcommand = true,
    after_help = "Exit codes: agentgate help exit-codes"
)]
pub struct Cli {
    /// Act as if started in this folder
    #[arg(short = 'C', value_name = "DIR", global = true)]
    pub dir: Option<PathBuf>,
    /// The verb.
    #[command(subcommand)]
    pub command: Command,
}

/// The verbs.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Run one task: worktree, agent, gate, and keep or delete
    Run(RunArgs),
    /// Judge a commit range, as CI does
    Check(CheckArgs),
    /// Say which rules hold for a path or an import, or what an exit code means
    Explain(ExplainArgs),
    /// Bring the list of known findings up to date
    Baseline(BaselineArgs),
    /// Say whether a job could start from this checkout (12 if it is dirty)
    Preflight(PreflightArgs),
    /// Check the trailers of agent commits in a range (A..B) or of one commit
    Trailers(TrailersArgs),
    /// List this clone's jobs
    Status(JsonArgs),
    /// Show what a job did
    Log(LogArgs),
    /// Show what a job has done and does, until it ends; ends with the job's own code
    Attach(AttachArgs),
    /// Wait until jobs are over; ends with the job's own code, or the first that is not 0
    Wait(WaitArgs),
    /// Go on with a job whose process is gone, from its last finished step
    Resume(ResumeArgs),
    /// Decide what a job asks that waits for a person (18), and let it go on
    Answer(AnswerArgs),
    /// End a running job, as Ctrl-C would where it was started
    Stop(IdArgs),
    /// Put a kept job's commit on its branch (fast-forward)
    Land(LandArgs),
    /// Give a job's worktree and branch up; the record stays
    Drop(DropArgs),
    /// Bring a job's candidate back as a worktree
    Open(IdArgs),
    /// Prove from record and repository that a job was as it says (25 if not)
    Verify(VerifyArgs),
    /// List the agents that `run --agent` knows, and what of them is here
    Agents(AgentsArgs),
    /// Show which areas import which, and what the policy allows
    Graph(GraphArgs),
    /// Write a commented policy fitted to this repository
    Init(JsonArgs),
    /// Say whether a job could run here, and try the confinement and the lock for real; or explain a job's record
    Doctor(DoctorArgs),
    /// Play two jobs in a throwaway repository
    Demo,
    /// Serve tools over MCP: to an agent in its job, or with --stdio to you
    Mcp(McpArgs),
    /// Print the JSON Schema of a report, a policy or settings
    Schema(SchemaArgs),
    /// Show help: for a command, or `exit-codes`
    Help {
        /// A command, or `exit-codes`
        topic: Option<String>,
    },
}

impl Command {
    /// Whether the result is wanted as JSON.
    pub fn json(&self) -> bool {
        match self {
            Command::Run(args) => args.json,
            Command::Check(args) => args.json,
            Command::Explain(args) => args.json,
            Command::Baseline(args) => match args.verb {
                BaselineVerb::Update { json, .. } => json,
            },
            Command::Preflight(args) => args.json,
            Command::Trailers(args) => args.json,
            Command::Status(args) | Command::Init(args) => args.json,
            Command::Doctor(args) => args.json,
            Command::Verify(args) => args.json,
            Command::Log(args) => args.json,
            Command::Attach(args) => args.json,
            Command::Wait(args) => args.json,
            Command::Resume(args) => args.json,
            Command::Answer(args) => args.json,
            Command::Stop(args) => args.json,
            Command::Graph(args) => args.format() == Drawing::Json,
            Command::Land(args) => args.json,
            Command::Drop(args) => args.json,
            Command::Open(args) => args.json,
            Command::Agents(args) => args.json,
            Command::Demo | Command::Mcp(_) | Command::Schema(_) | Command::Help { .. } => false,
        }
    }
}

/// `agentgate run`
#[derive(Debug, Args)]
pub struct RunArgs {
    /// The task file
    #[arg(value_name = "TASK.md")]
    pub task: PathBuf,
    /// The agent's command; default: --agent, AGENT_CMD, the repository's settings, then yours
    #[arg(last = true, value_name = "COMMAND")]
    pub command: Vec<OsString>,
    /// Run a known agent: `agentgate agents` lists them
    #[arg(long, value_name = "NAME", conflicts_with = "command")]
    pub agent: Option<String>,
    /// Start from this commit instead of HEAD
    #[arg(long, value_name = "REV")]
    pub base: Option<String>,
    /// The job's id; default: AGENT_JOB_ID, then UTC time and four letters
    #[arg(long, value_name = "ID", allow_hyphen_values = true)]
    pub job_id: Option<String>,
    /// Copy patch, logs and task to this folder
    #[arg(long, value_name = "DIR")]
    pub artifacts: Option<PathBuf>,
    /// Land the candidate when it passes
    #[arg(long)]
    pub land: bool,
    /// Start although the checkout is dirty; its changes stay out (recorded in the commit)
    #[arg(long)]
    pub allow_dirty: bool,
    /// Wait for the clone lock, for ever or for a time such as 10m
    #[arg(long, value_name = "DURATION", num_args = 0..=1, require_equals = true, default_missing_value = "forever", value_parser = wait)]
    pub wait: Option<Wait>,
    /// End the agent after this time, such as 90s, 60m, 2h [default: the task's, the settings', then 60m]
    #[arg(long, value_name = "DURATION", value_parser = parse_duration)]
    pub timeout: Option<u64>,
    /// End the agent when it has printed nothing for this time
    #[arg(long, value_name = "DURATION", value_parser = parse_duration)]
    pub idle_timeout: Option<u64>,
    /// How far the agent is confined: on, strict (also without /run and the host's /tmp) or off
    #[arg(long, value_name = "MODE", value_parser = confinement)]
    pub confinement: Option<Mode>,
    /// Go on where the agent cannot be confined here
    #[arg(long)]
    pub allow_unconfined: bool,
    /// What the agent may reach: allow, deny-tcp, or TCP ports such as 443,8443
    #[arg(long, value_name = "WHAT", value_parser = network)]
    pub network: Option<Network>,
    /// Keep the agent from reading this path (may be given more than once)
    #[arg(long, value_name = "PATH")]
    pub hide: Vec<PathBuf>,
    /// Give the agent this variable of yours (may be given more than once)
    #[arg(long, value_name = "NAME", value_parser = variable)]
    pub pass_env: Vec<String>,
    /// Print the job's id as soon as the job exists, and let it go on by itself: attach, wait and stop find it
    #[arg(long, conflicts_with = "verbose")]
    pub detach: bool,
    /// Show the agent's output on standard error
    #[arg(long, short)]
    pub verbose: bool,
    /// One JSON object instead of key=value lines
    #[arg(long)]
    pub json: bool,
}

fn wait(text: &str) -> Result<Wait, String> {
    if text == "forever" {
        return Ok(Wait::Forever);
    }
    parse_duration(text).map(|seconds| Wait::For(Duration::from_secs(seconds)))
}

fn confinement(text: &str) -> Result<Mode, String> {
    match text {
        "on" => Ok(Mode::On),
        "strict" => Ok(Mode::Strict),
        "off" => Ok(Mode::Off),
        _ => Err("write on, strict or off".to_owned()),
    }
}

fn network(text: &str) -> Result<Network, String> {
    match text {
        "allow" => return Ok(Network::Allow),
        "deny-tcp" => return Ok(Network::DenyTcp),
        _ => {}
    }
    let mut ports = Vec::new();
    for part in text.split(',') {
        match part.parse::<u16>() {
            Ok(port) if port != 0 && part.bytes().all(|b| b.is_ascii_digit()) => {
                if !ports.contains(&port) {
                    ports.push(port);
                }
            }
            _ => return Err("write allow, deny-tcp, or ports from 1 to 65535 such as 443,8443".to_owned()),
        }
    }
    Ok(Network::Ports(ports))
}

fn variable(name: &str) -> Result<String, String> {
    match name.split_once('=') {
        _ if valid_variable(name) => Ok(name.to_owned()),
        Some((name, _)) => Err(format!(
            "only its name: {name}; the value is that of your own environment"
        )),
        None => Err("a variable's name has letters, digits and _, and does not begin with a digit".to_owned()),
    }
}

/// `agentgate agents`
#[derive(Debug, Args)]
pub struct AgentsArgs {
    /// Ask each installed program for its version (it is started for that)
    #[arg(long)]
    pub versions: bool,
    /// One JSON object
    #[arg(long)]
    pub json: bool,
}

/// `agentgate check`
#[derive(Debug, Args)]
pub struct CheckArgs {
    /// What the range starts from; default: INVARIANT_BASE, the CI's own variables, origin/HEAD
    #[arg(long, value_name = "REV", conflicts_with = "range")]
    pub base: Option<String>,
    /// What is judged
    #[arg(long, value_name = "REV", default_value = "HEAD", conflicts_with = "range")]
    pub head: String,
    /// Both at once: BASE..HEAD
    #[arg(long, value_name = "BASE..HEAD")]
    pub range: Option<String>,
    /// Hold the range to a task's scope too
    #[arg(long, value_name = "TASK.md")]
    pub task: Option<PathBuf>,
    /// Accept a range that changes human-owned files only; void if it has an agent commit
    #[arg(long)]
    pub allow_policy_change: bool,
    /// Judge everything in the head's tree, whoever put it there
    #[arg(long, conflicts_with_all = ["base", "range", "task", "allow_policy_change"])]
    pub all: bool,
    /// Judge what is not committed, untracked files included, against HEAD or --base
    #[arg(long, conflicts_with_all = ["all", "range", "head"])]
    pub worktree: bool,
    /// Judge what is staged, against HEAD or --base
    #[arg(long, conflicts_with_all = ["all", "worktree", "range", "head"])]
    pub staged: bool,
    /// Judge these files or folders of the checkout, against HEAD or --base
    #[arg(long, value_name = "FILE", num_args = 1.., conflicts_with_all = ["all", "worktree", "staged", "range", "head"])]
    pub paths: Vec<PathBuf>,
    /// With --all: an entry of the baseline for which there is no finding any more fails (2)
    // What conflicts with --all is named here too, or clap would not ask for it beside them.
    #[arg(long, requires = "all", conflicts_with_all = ["base", "range", "task", "worktree", "staged", "paths"])]
    pub strict_baseline: bool,
    /// Where the range breaks no rule, also run the commands of `checks:` on it, confined
    #[arg(long, conflicts_with_all = ["all", "worktree", "staged", "paths"])]
    pub checks: bool,
    /// Run them where they cannot be confined here
    #[arg(long, requires = "checks")]
    pub allow_unconfined: bool,
    /// How far they are confined: on, strict (also without /run and the host's /tmp) or off
    #[arg(long, value_name = "MODE", value_parser = confinement, requires = "checks")]
    pub confinement: Option<Mode>,
    /// What they may reach: allow, deny-tcp, or TCP ports such as 443,8443
    #[arg(long, value_name = "WHAT", value_parser = network, requires = "checks")]
    pub network: Option<Network>,
    /// Give them this variable of yours (may be given more than once)
    #[arg(long, value_name = "NAME", value_parser = variable, requires = "checks")]
    pub pass_env: Vec<String>,
    /// Refuse a pass that looked at nothing: an empty range, or no rule that fits the tree (2)
    #[arg(long)]
    pub require_inspected: bool,
    /// What standard output gets: text, json, sarif, github, junit, markdown or gitlab
    #[arg(long, value_name = "FORMAT", value_parser = format::format)]
    pub format: Option<Format>,
    /// Write a report to a file as well, such as sarif=agentgate.sarif (may be given more than once)
    #[arg(long, value_name = "FORMAT=FILE", value_parser = OsStringValueParser::new().try_map(format::output))]
    pub output: Vec<Output>,
    /// Name the rules, and the files that were not read; show the output of --checks
    #[arg(long, short)]
    pub verbose: bool,
    /// The same as --format json
    #[arg(long, conflicts_with = "format")]
    pub json: bool,
}

/// `agentgate explain`
#[derive(Debug, Args)]
pub struct ExplainArgs {
    /// A path of the repository, an exit code (5), its name or a rule (forbidden-import)
    #[arg(value_name = "PATH or CODE", required_unless_present = "import", conflicts_with_all = ["import", "path"])]
    pub word: Option<OsString>,
    /// An import, as the code would name it
    #[arg(long, value_name = "NAME", requires = "path")]
    pub import: Option<String>,
    /// The file that would have the import
    #[arg(long = "in", value_name = "PATH", requires = "import")]
    pub path: Option<PathBuf>,
    /// Hold the path to a task's scope too
    #[arg(long, value_name = "TASK.md", conflicts_with = "import")]
    pub task: Option<PathBuf>,
    /// By the policy of this commit; default: HEAD
    #[arg(long, value_name = "REV")]
    pub base: Option<String>,
    /// One JSON object
    #[arg(long)]
    pub json: bool,
}

/// `agentgate mcp`
#[derive(Debug, Args)]
pub struct McpArgs {
    /// Outside of a job: offer status, explain, check and log of this clone on standard input and output
    #[arg(long)]
    pub stdio: bool,
}

/// `agentgate baseline`
#[derive(Debug, Args)]
pub struct BaselineArgs {
    /// What to do with it.
    #[command(subcommand)]
    pub verb: BaselineVerb,
}

/// What can be done with a baseline.
#[derive(Debug, Subcommand)]
pub enum BaselineVerb {
    /// Take out the entries for which HEAD has no finding any more
    Update {
        /// Add every finding that HEAD has, too
        #[arg(long)]
        grow: bool,
        /// One JSON object
        #[arg(long)]
        json: bool,
    },
}

/// `agentgate schema`
#[derive(Debug, Args)]
pub struct SchemaArgs {
    /// report, policy, settings (architecture/agentgate.yml), config (your own config.yml), plan or review (what
    /// roles answer)
    #[arg(value_name = "WHAT", value_parser = ["report", "policy", "settings", "config", "plan", "review"])]
    pub what: String,
}

/// `agentgate graph`
#[derive(Debug, Args)]
pub struct GraphArgs {
    /// How it is drawn: text, json, mermaid or dot
    #[arg(long, value_name = "FORMAT", value_parser = drawing, default_value = "text")]
    pub format: Drawing,
    /// The commit whose policy and files are read [default: HEAD]
    #[arg(long, value_name = "REV", conflicts_with = "head")]
    pub base: Option<String>,
    /// The same by another name
    #[arg(long, value_name = "REV")]
    pub head: Option<String>,
    /// As --format json
    #[arg(long, conflicts_with = "format")]
    pub json: bool,
}

impl GraphArgs {
    /// How it was asked for.
    pub fn format(&self) -> Drawing {
        if self.json { Drawing::Json } else { self.format }
    }
}

fn drawing(text: &str) -> Result<Drawing, String> {
    match text {
        "text" => Ok(Drawing::Text),
        "json" => Ok(Drawing::Json),
        "mermaid" => Ok(Drawing::Mermaid),
        "dot" => Ok(Drawing::Dot),
        _ => Err("write text, json, mermaid or dot".to_owned()),
    }
}

/// `agentgate preflight`
#[derive(Debug, Args)]
pub struct PreflightArgs {
    /// A task file that may lie in the checkout untracked
    #[arg(long, value_name = "TASK.md")]
    pub task: Option<PathBuf>,
    /// One JSON object
    #[arg(long)]
    pub json: bool,
}

/// `agentgate trailers`
#[derive(Debug, Args)]
pub struct TrailersArgs {
    /// A..B, or one commit
    #[arg(value_name = "RANGE")]
    pub range: String,
    /// One JSON object
    #[arg(long)]
    pub json: bool,
}

/// A verb with nothing but `--json`.
#[derive(Debug, Args)]
pub struct JsonArgs {
    /// One JSON object
    #[arg(long)]
    pub json: bool,
}

/// `agentgate log`
#[derive(Debug, Args)]
pub struct LogArgs {
    /// The job's id
    pub id: String,
    /// Only events after this number
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub since: u64,
    /// Go on until the job is over, each event as it comes
    #[arg(long, short)]
    pub follow: bool,
    /// The events as they stand in the file, one JSON object a line
    #[arg(long)]
    pub json: bool,
}

/// `agentgate attach`
#[derive(Debug, Args)]
pub struct AttachArgs {
    /// The job's id
    pub id: String,
    /// The closing report as one JSON object, as `run --json` prints it
    #[arg(long)]
    pub json: bool,
}

/// `agentgate wait`
#[derive(Debug, Args)]
pub struct WaitArgs {
    /// The jobs' ids
    #[arg(value_name = "ID", required = true)]
    pub ids: Vec<String>,
    /// Give up after this time, such as 90s or 10m (13)
    #[arg(long, value_name = "DURATION", value_parser = parse_duration)]
    pub timeout: Option<u64>,
    /// One JSON object
    #[arg(long)]
    pub json: bool,
}

/// `agentgate resume`
#[derive(Debug, Args)]
pub struct ResumeArgs {
    /// The job's id
    #[arg(value_name = "ID", required_unless_present = "all", conflicts_with = "all")]
    pub id: Option<String>,
    /// Every job of this clone that is not over and that no process has, one after the other, oldest first
    #[arg(long)]
    pub all: bool,
    /// End the process that has the job, stopped or at work, and go on in its place; its step begins anew
    #[arg(long, conflicts_with = "all")]
    pub take_over: bool,
    /// Wait for the clone lock, for ever or for a time such as 10m
    #[arg(long, value_name = "DURATION", num_args = 0..=1, require_equals = true, default_missing_value = "forever", value_parser = wait)]
    pub wait: Option<Wait>,
    /// Print the job's id as soon as it goes on, and let it do so by itself: attach, wait and stop find it
    #[arg(long, conflicts_with_all = ["verbose", "all"])]
    pub detach: bool,
    /// Show the agent's output on standard error
    #[arg(long, short)]
    pub verbose: bool,
    /// One JSON object instead of key=value lines
    #[arg(long)]
    pub json: bool,
}

/// `agentgate answer`
#[derive(Debug, Args)]
#[command(group(ArgGroup::new("said").required(true).args(["file", "approve"])))]
pub struct AnswerArgs {
    /// The job's id
    pub id: String,
    /// Text for all roles from now on, first for the one whose turn it is; the job gets its rounds anew
    #[arg(long, value_name = "FILE")]
    pub file: Option<PathBuf>,
    /// Take the candidate as it is
    #[arg(long)]
    pub approve: bool,
    /// Wait for the clone lock, for ever or for a time such as 10m
    #[arg(long, value_name = "DURATION", num_args = 0..=1, require_equals = true, default_missing_value = "forever", value_parser = wait)]
    pub wait: Option<Wait>,
    /// Print the job's id as soon as it goes on, and let it do so by itself: attach, wait and stop find it
    #[arg(long, conflicts_with = "verbose")]
    pub detach: bool,
    /// Show the agent's output on standard error
    #[arg(long, short)]
    pub verbose: bool,
    /// One JSON object instead of key=value lines
    #[arg(long)]
    pub json: bool,
}

/// `agentgate land`
#[derive(Debug, Args)]
pub struct LandArgs {
    /// The job's id
    pub id: String,
    /// The branch to land on; default: the one HEAD pointed at when the job started
    #[arg(long, value_name = "BRANCH")]
    pub onto: Option<String>,
    /// One JSON object
    #[arg(long)]
    pub json: bool,
}

/// `agentgate drop`
#[derive(Debug, Args)]
pub struct DropArgs {
    /// The job's id
    pub id: String,
    /// Even if its worktree has changes or commits beyond the candidate: they are lost
    #[arg(long)]
    pub force: bool,
    /// One JSON object
    #[arg(long)]
    pub json: bool,
}

/// `agentgate verify`
#[derive(Debug, Args)]
pub struct VerifyArgs {
    /// A job's id, or a commit that names one in its trailers
    #[arg(value_name = "JOB|COMMIT")]
    pub what: String,
    /// One JSON object
    #[arg(long)]
    pub json: bool,
}

/// `agentgate doctor`
#[derive(Debug, Args)]
pub struct DoctorArgs {
    /// Say how the record of this job stands (23 if it cannot be used as it is), and nothing else
    #[arg(long, value_name = "ID")]
    pub job: Option<String>,
    /// One JSON object
    #[arg(long)]
    pub json: bool,
}

/// A verb on one job.
#[derive(Debug, Args)]
pub struct IdArgs {
    /// The job's id
    pub id: String,
    /// One JSON object
    #[arg(long)]
    pub json: bool,
}

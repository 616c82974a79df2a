//! `agentgate` wraps coding agents: each job in its own git worktree, judged by a policy that
//! only people may change.
//!
//! This file parses, dispatches and reports, and it is the only place where an error becomes a
//! number.

pub mod agent;
pub mod cli;
pub mod commands;
pub mod confine;
pub mod exit;
pub mod files;
pub mod gate;
pub mod git;
pub mod job;
pub mod lock;
pub mod paths;
pub mod process;
pub mod report;
pub mod store;
pub mod task;
pub mod trailer;

use std::ffi::OsString;
use std::path::Path;
use std::process::ExitCode;

use clap::{CommandFactory, Parser};
use rustix::fs::Mode;
use rustix::process::umask;

use agent::effective::Asked;
use cli::{Cli, Command, Format, Reports};
use commands::Surroundings;
use commands::agents::Versions;
use commands::baseline::Growth;
use commands::check::Subject;
use commands::doctor::trial;
use commands::explain::Question;
use exit::{Exit, Stop};
use lock::Wait;
use report::{Outcome, Terminal};

/// The whole program.
pub fn main() -> ExitCode {
    let args: Vec<OsString> = std::env::args_os().collect();
    // Before any thread is started, and before anything of the agent's could be printed.
    match args.get(1).and_then(|first| first.to_str()) {
        Some(process::stub::COMMAND) => return process::stub::main(args.into_iter().skip(2).collect()),
        Some(process::stub::PROBE) => return process::stub::probe(),
        Some(trial::WRITES) => return trial::writes(&args[2..]),
        Some(trial::LOCK) => return trial::lock(&args[2..]),
        _ => {}
    }
    // A panic has printed itself by then; what it held is released by unwinding.
    match std::panic::catch_unwind(|| real_main(args)) {
        Ok(exit) => ExitCode::from(exit.code()),
        Err(_) => ExitCode::from(Exit::Internal.code()),
    }
}

fn real_main(args: Vec<OsString>) -> Exit {
    keep_owners_rights();
    let cwd = std::env::current_dir();
    let mut surroundings = Surroundings {
        vars: std::env::vars_os().collect(),
        cwd: cwd.as_ref().cloned().unwrap_or_default(),
    };
    let cli = match Cli::try_parse_from(&args) {
        Ok(cli) => cli,
        Err(error) if error.use_stderr() => {
            let reports = Reports::guess(&args, &surroundings);
            if reports.shown == [Format::Text] && reports.files.is_empty() {
                report::stderr(&error.to_string());
            } else {
                report::refusal(&usage(&error), &reports, &surroundings.cwd);
            }
            return Exit::Usage;
        }
        Err(error) => {
            return written(report::stdout(&error.to_string()).map(|()| Exit::Ok), Exit::Ok);
        }
    };
    let reports = Reports::of(&cli.command, &surroundings);
    let refuse = |stop: Stop, cwd: &Path| {
        report::refusal(&stop, &reports, cwd);
        stop.exit
    };
    let cwd = match cwd {
        Ok(cwd) => cwd,
        Err(error) => {
            let stop = Stop::new(Exit::Usage, format!("the current folder cannot be read: {error}"));
            return refuse(stop, Path::new(""));
        }
    };
    match &cli.dir {
        None => {}
        Some(dir) if cwd.join(dir).is_dir() => surroundings.cwd = cwd.join(dir),
        Some(dir) => {
            let stop = Stop::new(Exit::Usage, format!("-C {}: no such folder", dir.display()));
            return refuse(stop, &cwd);
        }
    }
    match dispatch(cli.command, &surroundings) {
        Ok(outcome) => {
            let exit = outcome.exit();
            written(report::print(&outcome, &reports, &surroundings.cwd), exit)
        }
        Err(error) => refuse(stop_of(error), &surroundings.cwd),
    }
}

/// Takes the owner's bits out of the umask. Under `umask 777` nobody, git included, can use what was just made;
/// what the person withholds from others stays withheld. No thread runs yet.
fn keep_owners_rights() {
    let asked = umask(Mode::RWXU);
    umask(asked - Mode::RWXU);
}

/// The exit of a command whose result was written, or 1 where it was not: what is on standard output
/// then must not be taken for whole.
fn written(result: std::io::Result<Exit>, exit: Exit) -> Exit {
    match result {
        Ok(exit) => exit,
        Err(error) => {
            report::stderr(&format!(
                "agentgate: error: standard output could not be written: {error}; the exit would have been {exit}\n"
            ));
            Exit::Internal
        }
    }
}

/// What clap says, as one refusal.
fn usage(error: &clap::Error) -> Stop {
    let text = error.to_string();
    let mut lines = text.lines().map(str::trim).filter(|line| !line.is_empty());
    let first = lines.next().unwrap_or("bad command line");
    let stop = Stop::new(Exit::Usage, first.strip_prefix("error: ").unwrap_or(first));
    lines.fold(stop, |stop, line| stop.hint(line))
}

/// Every error as a documented exit. What nobody planned for is 1.
fn stop_of(error: anyhow::Error) -> Stop {
    let error = match error.downcast::<Stop>() {
        Ok(stop) => return stop,
        Err(error) => error,
    };
    match error.downcast_ref::<gate::GateError>() {
        Some(gate) => Stop::new(gate.exit(), format!("{error:#}")),
        None => Stop::new(Exit::Internal, format!("{error:#}")).hint("nothing was let through"),
    }
}

fn dispatch(command: Command, surroundings: &Surroundings) -> anyhow::Result<Outcome> {
    Ok(match command {
        Command::Run(args) => {
            let options = commands::run::Options {
                task: args.task,
                asked: Asked {
                    command: args.command,
                    agent: args.agent,
                    timeout: args.timeout,
                    idle_timeout: args.idle_timeout,
                    allow_unconfined: args.allow_unconfined,
                    confinement: args.confinement,
                    network: args.network,
                    hide: args.hide,
                    pass_env: args.pass_env,
                },
                base: args.base,
                job_id: args.job_id,
                artifacts: args.artifacts,
                land: args.land,
                allow_dirty: args.allow_dirty,
                wait: args.wait.unwrap_or(Wait::No),
                verbose: args.verbose,
            };
            Outcome::Run(commands::run::run(
                &options,
                surroundings,
                &Terminal::new(args.verbose),
            )?)
        }
        Command::Check(args) => {
            args.validate()?;
            let subject = match args {
                ref args if args.all => Subject::All,
                ref args if args.worktree => Subject::Worktree,
                ref args if args.staged => Subject::Staged,
                ref args if !args.paths.is_empty() => Subject::Paths(args.paths.clone()),
                _ => Subject::Range,
            };
            let options = commands::check::Options {
                subject,
                strict_baseline: args.strict_baseline,
                base: args.base,
                head: args.head,
                range: args.range,
                task: args.task,
                allow_policy_change: args.allow_policy_change,
                checks: args.checks.then(|| commands::check::Commands {
                    asked: Asked {
                        allow_unconfined: args.allow_unconfined,
                        confinement: args.confinement,
                        network: args.network,
                        pass_env: args.pass_env,
                        ..Asked::default()
                    },
                    verbose: args.verbose,
                }),
                require_inspected: args.require_inspected,
                verbose: args.verbose,
            };
            Outcome::Check(commands::check::check(
                &options,
                surroundings,
                &Terminal::new(args.verbose),
            )?)
        }
        Command::Explain(args) => {
            let question = match (args.word, args.import, args.path) {
                (_, Some(name), Some(path)) => Question::Import { name, path },
                (word, ..) => Question::Word(word.unwrap_or_default(), args.task),
            };
            Outcome::Explain(commands::explain::explain(surroundings, &question)?)
        }
        Command::Baseline(args) => match args.verb {
            cli::BaselineVerb::Update { grow, .. } => {
                let growth = if grow { Growth::Grow } else { Growth::Shrink };
                Outcome::Baseline(commands::baseline::update(surroundings, growth)?)
            }
        },
        Command::Preflight(args) => {
            Outcome::Preflight(commands::preflight::preflight(surroundings, args.task.as_deref())?)
        }
        Command::Trailers(args) => Outcome::Trailers(commands::trailers::trailers(surroundings, &args.range)?),
        Command::Status(_) => Outcome::Status(commands::jobs::status(surroundings)?),
        Command::Log(args) => Outcome::Log(commands::jobs::log(surroundings, &args.id, args.since)?),
        Command::Land(args) => Outcome::Land(commands::land::land(surroundings, &args.id, args.onto.as_deref())?),
        Command::Drop(args) => {
            let edits = if args.force {
                commands::remains::Edits::Discard
            } else {
                commands::remains::Edits::Refuse
            };
            Outcome::Drop(commands::drop::drop_job(surroundings, &args.id, edits)?)
        }
        Command::Open(args) => Outcome::Open(commands::open::open(surroundings, &args.id)?),
        Command::Agents(args) => {
            let versions = if args.versions { Versions::Ask } else { Versions::Leave };
            Outcome::Agents(commands::agents::agents(surroundings, versions)?)
        }
        Command::Graph(args) => {
            let revision = args.base.as_deref().or(args.head.as_deref());
            Outcome::Graph(commands::graph::graph(surroundings, revision, args.format())?)
        }
        Command::Init(_) => Outcome::Init(commands::init::init(surroundings)?),
        Command::Doctor(_) => Outcome::Doctor(commands::doctor::doctor(surroundings)?),
        Command::Demo => Outcome::Demo(commands::demo::demo(surroundings, &Terminal::new(false))?),
        Command::Schema(args) => match commands::schema::Schema::find(&args.what) {
            Some(schema) => Outcome::Schema(schema),
            None => anyhow::bail!("there is no schema {}", args.what),
        },
        Command::Help { topic } => Outcome::Help(help(topic.as_deref())?),
    })
}

fn help(topic: Option<&str>) -> anyhow::Result<report::Help> {
    let mut command = Cli::command();
    Ok(match topic {
        None => report::Help::Text(command.render_help().to_string()),
        Some("exit-codes") => report::Help::ExitCodes,
        Some(name) => match command.find_subcommand_mut(name) {
            Some(found) => report::Help::Text(found.render_help().to_string()),
            None => {
                return Err(Stop::new(Exit::Usage, format!("there is no help on {name:?}"))
                    .hint("agentgate help lists the commands; agentgate help exit-codes the exit codes")
                    .into());
            }
        },
    })
}

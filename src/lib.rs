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
pub mod mcp;
pub mod paths;
pub mod process;
pub mod report;
pub mod socket;
pub mod store;
pub mod task;
pub mod trailer;

use std::ffi::OsString;
use std::os::unix::ffi::OsStrExt;
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
use commands::run::Resumed;
use exit::{Exit, Stop};
use lock::Wait;
use process::detach::{self, Leave};
use report::{Outcome, Terminal};

/// The whole program.
pub fn main() -> ExitCode {
    let args: Vec<OsString> = std::env::args_os().collect();
    // Before any thread is started, and before anything of the agent's could be printed.
    let mut leave = None;
    let mut args = args;
    match args.get(1).and_then(|first| first.to_str()) {
        Some(detach::COMMAND) => {
            args.remove(1);
            match Leave::prepare() {
                Ok(ready) => leave = Some(ready),
                Err(error) => {
                    let stop = stop_of(error);
                    report::refusal(&stop, &Reports::plain(false), Path::new(""));
                    return ExitCode::from(stop.exit.code());
                }
            }
        }
        Some(process::stub::COMMAND) => return process::stub::main(args.into_iter().skip(2).collect()),
        Some(process::stub::PROBE) => return process::stub::probe(),
        Some(trial::WRITES) => return trial::writes(&args[2..]),
        Some(trial::LOCK) => return trial::lock(&args[2..]),
        _ => {}
    }
    // A panic has printed itself by then; what it held is released by unwinding.
    match std::panic::catch_unwind(|| real_main(args, leave)) {
        Ok(exit) => ExitCode::from(exit.code()),
        Err(_) => ExitCode::from(Exit::Internal.code()),
    }
}

/// `leave` is there in the process of a detached job, until it goes on by itself.
fn real_main(args: Vec<OsString>, leave: Option<Leave>) -> Exit {
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
            match misunderstood(&args, error) {
                Misunderstood::Words(text) if reports.shown == [Format::Text] && reports.files.is_empty() => {
                    report::stderr(&text);
                }
                Misunderstood::Words(text) => report::refusal(&usage(&text), &reports, &surroundings.cwd),
                Misunderstood::Bytes(stop) => report::refusal(&stop, &reports, &surroundings.cwd),
            }
            return Exit::Usage;
        }
        Err(error) => {
            return written(report::stdout(&error.to_string()).map(|()| Exit::Ok), Exit::Ok);
        }
    };
    let mut reports = Reports::of(&cli.command, &surroundings);
    let refuse = |stop: Stop, reports: &Reports, cwd: &Path| {
        report::refusal(&stop, reports, cwd);
        stop.exit
    };
    let cwd = match cwd {
        Ok(cwd) => cwd,
        Err(error) => {
            let stop = Stop::new(Exit::Usage, format!("the current folder cannot be read: {error}"));
            return refuse(stop, &reports, Path::new(""));
        }
    };
    match &cli.dir {
        None => {}
        Some(dir) if cwd.join(dir).is_dir() => surroundings.cwd = cwd.join(dir),
        Some(dir) => {
            let stop = Stop::new(Exit::Usage, format!("-C {}: no such folder", dir.display()));
            return refuse(stop, &reports, &cwd);
        }
    }
    if let Err(stop) = reports.validate(&surroundings.cwd) {
        reports.files.clear();
        return refuse(stop, &reports, &surroundings.cwd);
    }
    match dispatch(cli.command, &surroundings, &args[1..], leave) {
        Ok(outcome) => {
            let exit = outcome.exit();
            written(report::print(&outcome, &reports, &surroundings.cwd), exit)
        }
        Err(error) => refuse(stop_of(error), &reports, &surroundings.cwd),
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

/// A command line that is none.
enum Misunderstood {
    /// What clap says of it.
    Words(String),
    /// An argument that has to be text and is not.
    Bytes(Stop),
}

/// Says what is wrong with arguments. clap quotes them as they are, and what stands in them (a job's title, a branch of
/// somebody else's) could forge lines of a log or steer a terminal: so it is asked about the escaped ones.
fn misunderstood(args: &[OsString], error: clap::Error) -> Misunderstood {
    let escaped = |arg: &OsString| OsString::from(gate::render::path(arg.as_bytes()));
    let again = |args: Vec<OsString>| Cli::try_parse_from(args).err();
    if error.kind() != clap::error::ErrorKind::InvalidUtf8 {
        let asked = again(args.iter().map(escaped).collect());
        // Escaped, what was wrong may be right; then there is nothing of theirs to quote.
        return Misunderstood::Words(
            asked.map_or_else(|| gate::render::lines(&error.to_string()), |error| error.to_string()),
        );
    }
    // Paths may be of any bytes: the culprit is the one that alone is still one too many.
    let is_culprit = |index: usize| {
        let others = args.iter().enumerate();
        let line = others.map(|(at, arg)| if at == index { arg.clone() } else { escaped(arg) });
        again(line.collect()).is_some_and(|error| error.kind() == clap::error::ErrorKind::InvalidUtf8)
    };
    let culprit = (0..args.len()).find(|&index| args[index].to_str().is_none() && is_culprit(index));
    let words = culprit.map_or_else(
        || "an argument is not UTF-8".to_owned(),
        |index| {
            format!(
                "an argument is not UTF-8: {}",
                gate::render::path(args[index].as_bytes())
            )
        },
    );
    Misunderstood::Bytes(
        Stop::new(Exit::Usage, words)
            .hint("paths may be of any bytes; for a branch or tag of such a name give its commit: git rev-parse NAME")
            .hint("agentgate help COMMAND says what each argument is"),
    )
}

/// What clap says, as one refusal.
fn usage(text: &str) -> Stop {
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

fn dispatch(
    command: Command,
    surroundings: &Surroundings,
    words: &[OsString],
    leave: Option<Leave>,
) -> anyhow::Result<Outcome> {
    Ok(match command {
        Command::Run(args) if args.detach && leave.is_none() => Outcome::Detached(commands::detach::detach(words)?),
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
            return run(&options, surroundings, leave);
        }
        Command::Check(args) => {
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
            let base = args.base;
            let question = match (args.word, args.import, args.path) {
                (_, Some(name), Some(path)) => Question::Import { name, path },
                (word, ..) => Question::Word(word.unwrap_or_default(), args.task),
            };
            Outcome::Explain(commands::explain::explain(surroundings, &question, base.as_deref())?)
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
        Command::Log(args) if args.follow => {
            let mut show = |line: &job::log::Line| Ok(report::line(&report::event(line, args.json))?);
            match commands::jobs::follow(
                surroundings,
                &args.id,
                args.since,
                &mut show,
                &mut report::rest_while_read,
            )? {
                Some(log) => Outcome::Log(log),
                None => Outcome::Nothing,
            }
        }
        Command::Log(args) => Outcome::Log(commands::jobs::log(surroundings, &args.id, args.since)?),
        Command::Attach(args) => Outcome::Attach(commands::attach::attach(surroundings, &args.id, &mut report::news)?),
        Command::Wait(args) => Outcome::Wait(commands::wait::wait(surroundings, &args.ids, args.timeout)?),
        Command::Answer(args) if args.detach && leave.is_none() => Outcome::Detached(commands::detach::detach(words)?),
        Command::Answer(args) => {
            let again = commands::run::Again {
                id: args.id,
                take_over: false,
                wait: args.wait.unwrap_or(Wait::No),
                verbose: args.verbose,
                answer: Some(commands::run::Persons::of(surroundings, args.file.as_deref())?),
            };
            return resume(&again, surroundings, leave);
        }
        Command::Resume(args) if args.detach && leave.is_none() => Outcome::Detached(commands::detach::detach(words)?),
        Command::Resume(args) => {
            let wait = args.wait.unwrap_or(Wait::No);
            let again = |id: String| commands::run::Again {
                id,
                take_over: args.take_over,
                wait,
                verbose: args.verbose,
                answer: None,
            };
            match args.id {
                Some(id) => return resume(&again(id), surroundings, leave),
                None => return resume_all(&again, surroundings),
            }
        }
        Command::Stop(args) => Outcome::Stop(commands::stop::stop(surroundings, &args.id)?),
        Command::Land(args) => Outcome::Land(commands::land::land(surroundings, &args.id, args.onto.as_deref())?),
        Command::Drop(args) => {
            let edits = if args.force {
                commands::remains::Edits::Discard
            } else {
                commands::remains::Edits::Refuse(commands::remains::Verb::Drop)
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
        Command::Verify(args) => Outcome::Verify(commands::verify::verify(surroundings, &args.what)?),
        Command::Doctor(args) if args.job.is_some() => Outcome::Doctor(commands::doctor::job(
            surroundings,
            args.job.as_deref().unwrap_or_default(),
        )?),
        Command::Doctor(_) => Outcome::Doctor(commands::doctor::doctor(surroundings)?),
        Command::Demo => Outcome::Demo(commands::demo::demo(surroundings, &Terminal::new(false))?),
        Command::Mcp(args) => {
            let mut show = |line: &str| report::message(line).map_err(anyhow::Error::from);
            if args.stdio {
                commands::mcp::serve(surroundings, std::io::stdin(), &mut show)?;
            } else {
                commands::mcp::connect(surroundings, std::io::stdin(), &mut show)?;
            }
            Outcome::Nothing
        }
        Command::Schema(args) => match commands::schema::Schema::find(&args.what) {
            Some(schema) => Outcome::Schema(schema),
            None => anyhow::bail!("there is no schema {}", args.what),
        },
        Command::Help { topic } => Outcome::Help(help(topic.as_deref())?),
    })
}

/// Runs a job to its end.
fn run(options: &commands::run::Options, surroundings: &Surroundings, leave: Option<Leave>) -> anyhow::Result<Outcome> {
    let terminal = Terminal::new(options.verbose || leave.is_some());
    to_its_end(leave, |begun| {
        commands::run::run(options, surroundings, &terminal, begun).map(Outcome::Run)
    })
}

/// Goes on with a job to its end.
fn resume(again: &commands::run::Again, surroundings: &Surroundings, leave: Option<Leave>) -> anyhow::Result<Outcome> {
    let terminal = Terminal::new(again.verbose || leave.is_some());
    to_its_end(leave, |begun| {
        Ok(match commands::run::resume(again, surroundings, &terminal, begun)? {
            Resumed::Ran(report) => Outcome::Run(report),
            Resumed::Over(report) => Outcome::Attach(report),
        })
    })
}

/// The same for all that are left. One that cannot go on keeps no other from it.
fn resume_all(again: &dyn Fn(String) -> commands::run::Again, surroundings: &Surroundings) -> anyhow::Result<Outcome> {
    let mut jobs = Vec::new();
    for id in commands::run::unfinished(surroundings)? {
        let result = resume(&again(id.clone()), surroundings, None).map_err(stop_of);
        let exit = result.as_ref().map_or_else(|stop| stop.exit, Outcome::exit);
        jobs.push((id, result));
        if matches!(exit, Exit::Interrupted | Exit::Terminated) && process::signals::pending().is_some() {
            break;
        }
    }
    Ok(Outcome::ResumedAll(jobs))
}

/// Keeps what a run says at its end in the record, once the job is there.
fn to_its_end(
    mut leave: Option<Leave>,
    run: impl FnOnce(&mut dyn FnMut(&commands::run::Begun) -> anyhow::Result<()>) -> anyhow::Result<Outcome>,
) -> anyhow::Result<Outcome> {
    let mut record = None;
    let mut begun = |begun: &commands::run::Begun| {
        record = Some(begun.record.clone());
        if let Some(leave) = leave.take() {
            leave.leave(&commands::detach::words(begun)?)?;
        }
        Ok(())
    };
    let result = run(&mut begun).map_err(stop_of);
    if let Some(record) = record
        && report::keep(&record, &result)
        && result.as_ref().map_or_else(|stop| stop.exit, Outcome::exit) != Exit::NeedsHuman
    {
        commands::run::forget(&record);
    }
    Ok(result?)
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

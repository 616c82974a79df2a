//! Kills at every moment: agentgate ended before each system call of its own that changes something, and gone on with.
//!
//! `cargo test --test kill` runs a sample, always the same one, so that a change and not the day decides; `--seed N` another. `cargo test --test kill -- --sweep` runs all of it,
//! which takes some hours on two cores. `--seed N` repeats a sample, `--only WORD` takes the groups whose name has the
//! word, `--call TEXT` the calls that have the text, `--part K/N` each Nth trial, `--jobs N` so many at a time, `--case GROUP:N` one trial.
//!
//! Only agentgate's own process is traced, not git or the agent: SIGKILL comes before the Nth of these calls, which
//! is then not made. That holds for every point in between, since nothing changes between two of them. Where strace
//! is not there, or may not trace, those groups are skipped, counted and named.
//!
//! A trial fails where what there is after `agentgate resume` is not what an undisturbed run leaves: see `world`.

#![expect(
    clippy::disallowed_methods,
    clippy::disallowed_macros,
    reason = "a test starts programs, writes files and says how it went by itself"
)]

mod errors;
mod random;
mod roles;
mod support;
mod trace;
mod trials;
mod world;

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::process::ExitCode;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use random::Random;
use trials::{Plan, Trial};

/// The sample of the test command; the sweep and other seeds are for whoever looks for faults.
const SEED: u64 = 20_318;
/// What a sample may take, after the undisturbed runs, before no further trial is begun.
const SAMPLE: Duration = Duration::from_secs(30);

struct Options {
    sweep: bool,
    seed: u64,
    only: Vec<String>,
    calls: Vec<String>,
    part: (usize, usize),
    jobs: usize,
    case: Option<(String, usize)>,
}

fn main() -> ExitCode {
    let options = options();
    // Failures are collected, with what was tried.
    std::panic::set_hook(Box::new(|_| {}));
    let started = Instant::now();
    let plan = match catch_unwind(Plan::make) {
        Ok(plan) => plan,
        Err(panic) => {
            eprintln!("the undisturbed runs failed: {}", words(&*panic));
            return ExitCode::FAILURE;
        }
    };
    let planned = Instant::now();
    for skipped in &plan.skipped {
        eprintln!("skipped: {skipped}");
    }
    let mut trials = plan.trials(&mut Random::of(options.seed), options.sweep);
    trials.retain(|trial| options.only.is_empty() || options.only.iter().any(|word| trial.group.contains(word)));
    trials.retain(|trial| options.calls.is_empty() || options.calls.iter().any(|word| trial.what.contains(word)));
    if let Some((group, at)) = &options.case {
        trials.retain(|trial| trial.group == *group && trial.at == *at);
    }
    // What is alike lies side by side, and a part of all, or the first minutes, should have some of each.
    let count = trials.len();
    let mut trials = Random::of(options.seed).some(trials, count);
    let (part, parts) = options.part;
    let mut index = 0;
    trials.retain(|_| {
        index += 1;
        (index - 1) % parts == part
    });
    println!(
        "kill: {} trials, seed {}, {} calls that change something in an undisturbed run",
        trials.len(),
        options.seed,
        plan.calls()
    );
    let (next, done) = (AtomicUsize::new(0), AtomicUsize::new(0));
    let failures = Mutex::new(Vec::<String>::new());
    std::thread::scope(|scope| {
        for _ in 0..options.jobs {
            scope.spawn(|| {
                loop {
                    let late = !options.sweep && options.case.is_none() && planned.elapsed() > SAMPLE;
                    let Some(trial) = trials.get(next.fetch_add(1, Ordering::Relaxed)).filter(|_| !late) else {
                        return;
                    };
                    let begun = Instant::now();
                    let result = catch_unwind(AssertUnwindSafe(|| plan.run(trial)));
                    let done = done.fetch_add(1, Ordering::Relaxed) + 1;
                    if options.sweep && done.is_multiple_of(50) {
                        println!("kill: {done} trials after {} s", started.elapsed().as_secs());
                    }
                    if let Err(panic) = result {
                        let name = format!("{trial} ({:.1} s)", begun.elapsed().as_secs_f64());
                        println!("kill {name} ... FAILED\n{}", words(&*panic));
                        failures.lock().expect("no panic in here").push(name);
                    }
                }
            });
        }
    });
    let failures = failures.into_inner().expect("no panic in here");
    for name in &failures {
        println!("failed: {name}");
    }
    let done = done.into_inner();
    for (group, count) in Trial::counts(&trials[..done.min(trials.len())]) {
        println!("kill {group}: {count} trials");
    }
    let missed = trials::MISSED.load(Ordering::Relaxed);
    println!(
        "kill: {} of {done} trials failed, {missed} were over before the kill, {} groups skipped, {} s, seed {}",
        failures.len(),
        plan.skipped.len(),
        started.elapsed().as_secs(),
        options.seed
    );
    // Two runs differ in a few calls, and a sample is small; much more than that, and nothing is tried any more.
    if missed > 3 + done / 4 {
        println!("kill: too many were over before the kill");
        return ExitCode::FAILURE;
    }
    match failures.is_empty() && (done > 0 || trials.is_empty()) {
        true => ExitCode::SUCCESS,
        false => ExitCode::FAILURE,
    }
}

fn options() -> Options {
    let mut options = Options {
        sweep: false,
        seed: SEED,
        only: Vec::new(),
        calls: Vec::new(),
        part: (0, 1),
        jobs: std::thread::available_parallelism().map_or(2, |count| count.get().clamp(2, 4)),
        case: None,
    };
    let mut args = std::env::args().skip(1);
    while let Some(arg) = args.next() {
        let mut value = || args.next().unwrap_or_else(|| panic!("{arg} needs a value"));
        match arg.as_str() {
            "--sweep" => options.sweep = true,
            "--seed" => options.seed = value().parse().expect("--seed takes a number"),
            "--only" => options.only.push(value()),
            "--call" => options.calls.push(value()),
            "--jobs" => options.jobs = value().parse().expect("--jobs takes a number"),
            "--part" => {
                let value = value();
                let (part, of) = value.split_once('/').expect("--part takes K/N");
                let number = |text: &str| text.parse::<usize>().expect("--part takes K/N");
                options.part = (number(part) - 1, number(of));
            }
            "--case" => {
                let value = value();
                let (group, at) = value.rsplit_once(':').expect("--case takes GROUP:N");
                options.case = Some((group.to_owned(), at.parse().expect("--case takes GROUP:N")));
            }
            // What cargo and its users pass to any test.
            _ => {}
        }
    }
    options
}

fn words(panic: &(dyn std::any::Any + Send)) -> String {
    let text = panic.downcast_ref::<String>().cloned();
    text.or_else(|| panic.downcast_ref::<&str>().map(|text| (*text).to_owned()))
        .unwrap_or_else(|| "a panic without words".to_owned())
}

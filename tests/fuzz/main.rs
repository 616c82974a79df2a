//! Fuzzing of what reads untrusted bytes: imports of every language, policy, task, trailers,
//! settings, baseline.
//!
//! Without arguments each target runs for `AGENTGATE_FUZZ_SECONDS` (default 1), so that the targets
//! cannot rot. With names it runs those alone. Built with the flags that `tests/fuzz/README.md`
//! gives, the compiler's own coverage counters guide it. What fails is written to `target/fuzz/`
//! and is run first the next time.

#![expect(
    clippy::disallowed_methods,
    clippy::disallowed_macros,
    reason = "a test reads its corpus, writes what it found and says how it went by itself"
)]

mod corpus;
mod coverage;
mod mutate;
mod targets;

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::{Duration, Instant};

use mutate::Random;
use targets::{TARGETS, Target};

/// Inputs grow up to this many bytes.
const MAX_BYTES: usize = 64 * 1024;
/// An input of at most [`MAX_BYTES`] that takes longer is a finding, in a debug build too.
const MAX_TIME: Duration = Duration::from_secs(5);

fn main() -> ExitCode {
    let names: Vec<String> = std::env::args().skip(1).filter(|arg| !arg.starts_with('-')).collect();
    let seconds = std::env::var("AGENTGATE_FUZZ_SECONDS")
        .ok()
        .and_then(|text| text.parse().ok())
        .unwrap_or(1);
    let seed = std::env::var("AGENTGATE_FUZZ_SEED")
        .ok()
        .and_then(|text| text.parse().ok())
        .unwrap_or(0x5eed);
    // A panic is a finding and is reported once, with its input.
    std::panic::set_hook(Box::new(|_| {}));
    let (mut passed, mut failed) = (0, 0);
    // A part of a name chooses all that have it, unless it is the whole name of one.
    let is_whole = |name: &str| TARGETS.iter().any(|target| target.name == name);
    let chosen = |target: &Target, name: &str| match is_whole(name) {
        true => target.name == name,
        false => target.name.contains(name),
    };
    for target in TARGETS {
        if !names.is_empty() && !names.iter().any(|name| chosen(target, name)) {
            continue;
        }
        match run(target, Duration::from_secs(seconds), seed) {
            Ok(summary) => {
                passed += 1;
                println!("fuzz {} ... ok ({summary}, seed {seed})", target.name);
            }
            Err(failure) => {
                failed += 1;
                println!("fuzz {} ... FAILED: {failure} (seed {seed})", target.name);
            }
        }
    }
    println!("{passed} passed, {failed} failed");
    match failed {
        0 => ExitCode::SUCCESS,
        _ => ExitCode::FAILURE,
    }
}

fn folder(target: &Target) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
        .join("target/fuzz")
        .join(target.name)
}

fn run(target: &Target, time: Duration, seed: u64) -> Result<String, String> {
    let mut random = Random::new(seed);
    let mut corpus = corpus::of(target, &folder(target));
    for input in &corpus {
        once(target, input)?;
        coverage::is_new();
    }
    let start = Instant::now();
    let (mut runs, mut found) = (0u64, 0u64);
    while start.elapsed() < time {
        let input = mutate::mutated(&mut random, &corpus, target.words, MAX_BYTES);
        once(target, &input)?;
        runs += 1;
        if coverage::is_new() {
            found += 1;
            corpus.push(input);
        }
    }
    let guided = match coverage::counters() {
        0 => "without coverage".to_owned(),
        counters => format!("{found} new inputs, {} of {counters} counters", coverage::seen()),
    };
    Ok(format!("{runs} runs, {guided}"))
}

/// Runs the target once. A panic or an endless reading is written down.
fn once(target: &Target, input: &[u8]) -> Result<(), String> {
    let start = Instant::now();
    let outcome = catch_unwind(AssertUnwindSafe(|| (target.run)(input)));
    let took = start.elapsed();
    let why = match outcome {
        Ok(()) if took <= MAX_TIME => return Ok(()),
        Ok(()) => format!("took {took:?}"),
        Err(panic) => {
            let said = panic
                .downcast_ref::<String>()
                .cloned()
                .or_else(|| panic.downcast_ref::<&str>().map(|text| (*text).to_owned()));
            format!("panicked: {}", said.unwrap_or_default())
        }
    };
    let folder = folder(target);
    let hash = input.iter().fold(0xcbf2_9ce4_8422_2325u64, |hash, byte| {
        (hash ^ u64::from(*byte)).wrapping_mul(0x100_0000_01b3)
    });
    let file = folder.join(format!("{hash:016x}"));
    let written = std::fs::create_dir_all(&folder).and_then(|()| std::fs::write(&file, input));
    Err(match written {
        Ok(()) => format!("{why}; the input is {}", file.display()),
        Err(error) => format!(
            "{why}; the input could not be written ({error}): {}",
            input.escape_ascii()
        ),
    })
}

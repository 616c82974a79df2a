//! What is tried, and what must come of it.

use std::collections::BTreeMap;
use std::fmt;
use std::fs;
use std::io::Write;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use super::errors;
use super::random::Random;
use super::support::program::Outcome;
use super::support::repo::Repo;
use super::support::scene::JOB;
use super::trace::{self, Call, Harm};
use super::world::{Facts, Variant, World};

/// How many runs came to their end before the call at which they were to be killed.
pub static MISSED: AtomicUsize = AtomicUsize::new(0);

/// How a run is disturbed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Blow {
    /// By strace.
    Harm(Harm),
    /// SIGKILL after so many thousandths of the time that an undisturbed run takes.
    Moment(u64),
}

/// What becomes of the log's end between the kill and `resume`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tail {
    /// As it is.
    Whole,
    /// Half a line.
    Torn,
    /// Bytes that a crashed disk leaves.
    Zeros,
}

/// One trial.
#[derive(Clone, Debug)]
pub struct Trial {
    pub group: &'static str,
    pub at: usize,
    pub variant: Variant,
    pub blow: Blow,
    pub tail: Tail,
    /// The call of the first `resume` that is killed too.
    pub second: Option<Harm>,
    /// In words.
    pub what: String,
}

impl fmt::Display for Trial {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "--case {}:{} {:?}", self.group, self.at, self.blow)?;
        if self.tail != Tail::Whole {
            write!(f, " {:?}", self.tail)?;
        }
        if let Some(second) = self.second {
            write!(f, " and {second:?}")?;
        }
        write!(f, ": {}", self.what)
    }
}

impl Trial {
    /// How many there are of each group.
    pub fn counts(trials: &[Trial]) -> BTreeMap<&'static str, usize> {
        let mut counts = BTreeMap::new();
        for trial in trials {
            *counts.entry(trial.group).or_default() += 1;
        }
        counts
    }
}

/// An undisturbed run.
struct Undisturbed {
    calls: Vec<Call>,
    facts: Facts,
    time: Duration,
}

/// All that is known before the first trial.
pub struct Plan {
    of: BTreeMap<Variant, Undisturbed>,
    pub skipped: Vec<String>,
}

impl Plan {
    /// Runs each variant undisturbed.
    pub fn make() -> Plan {
        let missing = trace::missing();
        let traced = missing.is_none();
        let mut of = BTreeMap::new();
        let pairs = Variant::ALL.chunks(2);
        for pair in pairs {
            std::thread::scope(|scope| {
                let threads: Vec<_> = pair
                    .iter()
                    .map(|&variant| scope.spawn(move || undisturbed(variant, traced)))
                    .collect();
                for (&variant, thread) in pair.iter().zip(threads) {
                    let result = thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
                    of.insert(variant, result);
                }
            });
        }
        let skipped = missing.map(|why| format!("all groups but the random moments; {why}"));
        Plan {
            of,
            skipped: skipped.into_iter().collect(),
        }
    }

    /// How many calls the longest run makes.
    pub fn calls(&self) -> usize {
        self.of
            .values()
            .map(|one| one.calls.iter().filter(|call| call.changes()).count())
            .max()
            .unwrap_or(0)
    }

    /// All trials, or a random choice of each group.
    pub fn trials(&self, random: &mut Random, all: bool) -> Vec<Trial> {
        let mut groups: Vec<Vec<Trial>> = Vec::new();
        for (&variant, one) in &self.of {
            let group = |name: &[&'static str; 5]| {
                name[Variant::ALL
                    .iter()
                    .position(|&other| other == variant)
                    .expect("it is one")]
            };
            let appends: Vec<&Call> = one.calls.iter().filter(|call| call.is_append()).collect();
            // Up to the gate all variants do the same.
            let from = match variant {
                Variant::Passes => 0,
                Variant::Lands => appends.last().map_or(0, |call| call.at - 10),
                Variant::Refused | Variant::Fails => appends.get(8).map_or(0, |call| call.at),
                // As `Passes` up to the first call.
                Variant::Roles => appends.get(3).map_or(0, |call| call.at),
            };
            let kill = |call: &Call, group, tail, second| Trial {
                group,
                at: call.at,
                variant,
                blow: Blow::Harm(Harm::Kill(call.name, call.nth)),
                tail,
                second,
                what: call.line.chars().take(160).collect(),
            };
            let changes: Vec<&Call> = one
                .calls
                .iter()
                .filter(|call| call.changes() && call.at >= from)
                .collect();
            let name = group(&["kill-passes", "kill-lands", "kill-refused", "kill-fails", "kill-roles"]);
            groups.push(changes.iter().map(|call| kill(call, name, Tail::Whole, None)).collect());
            let mut twice = Vec::new();
            for call in changes.iter().filter(|call| all || call.at % 2 == 0) {
                if random.below(8) == 0 || !all {
                    let second = &one.calls[random.below(one.calls.len() as u64) as usize];
                    let second = Harm::Kill(second.name, second.nth);
                    twice.push(kill(
                        call,
                        group(&[
                            "twice-passes",
                            "twice-lands",
                            "twice-refused",
                            "twice-fails",
                            "twice-roles",
                        ]),
                        Tail::Whole,
                        Some(second),
                    ));
                }
            }
            groups.push(twice);
            if [Variant::Passes, Variant::Roles].contains(&variant) {
                let of_both = |names: [&'static str; 2]| names[usize::from(variant == Variant::Roles)];
                let appends = appends.iter().filter(|call| call.at >= from);
                let torn = |tail, name| {
                    appends
                        .clone()
                        .map(move |call| kill(call, name, tail, None))
                        .collect::<Vec<_>>()
                };
                groups.push(torn(Tail::Torn, of_both(["torn", "torn-roles"])));
                groups.push(torn(Tail::Zeros, of_both(["zeros", "zeros-roles"])));
                let harm = |call: &Call, group, harm| Trial {
                    group,
                    at: call.nth,
                    variant,
                    blow: Blow::Harm(harm),
                    tail: Tail::Whole,
                    second: None,
                    what: call.line.chars().take(160).collect(),
                };
                let of = |name: &'static str| {
                    let calls = one.calls.iter().filter(move |call| call.at >= from);
                    calls.filter(move |call| call.name == name)
                };
                groups.push(
                    of("write")
                        .map(|call| harm(call, of_both(["full", "full-roles"]), Harm::Full(call.nth)))
                        .collect(),
                );
                groups.push(
                    of("write")
                        .map(|call| {
                            harm(
                                call,
                                of_both(["full-from", "full-from-roles"]),
                                Harm::FullFrom(call.nth),
                            )
                        })
                        .collect(),
                );
                groups.push(
                    of("fdatasync")
                        .map(|call| harm(call, of_both(["unsynced", "unsynced-roles"]), Harm::Unsynced(call.nth)))
                        .collect(),
                );
            }
            let count = if variant == Variant::Passes { 110 } else { 30 };
            let moments = (0..count).map(|at| Trial {
                group: group(&[
                    "moment-passes",
                    "moment-lands",
                    "moment-refused",
                    "moment-fails",
                    "moment-roles",
                ]),
                at,
                variant,
                blow: Blow::Moment(random.below(1000)),
                tail: Tail::Whole,
                second: None,
                what: "a moment".to_owned(),
            });
            groups.push(moments.collect());
        }
        groups.retain(|group| !group.is_empty());
        if all {
            return groups.into_iter().flatten().collect();
        }
        // A few of each, one group after the other, so that time that runs out takes from all of them.
        let mut chosen: Vec<Vec<Trial>> = groups.into_iter().map(|group| random.some(group, 2)).collect();
        let mut sample = Vec::new();
        for _ in 0..2 {
            let round = chosen.iter_mut().filter_map(Vec::pop).collect();
            sample.extend(random.some(round, usize::MAX));
        }
        sample
    }

    /// Tries it; panics with what is wrong.
    pub fn run(&self, trial: &Trial) {
        let undisturbed = &self.of[&trial.variant];
        let world = World::new(trial.variant);
        let outcome = strike(&world, trial.blow, undisturbed.time);
        let last = match trial.blow {
            Blow::Harm(_) => trace::last(&world.repo),
            Blow::Moment(_) => String::new(),
        };
        let result = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| match trial.blow {
            Blow::Harm(Harm::Kill(..)) | Blow::Moment(_) => killed(&world, trial, &outcome, &undisturbed.facts),
            Blow::Harm(_) => errors::stopped(&world, &outcome, &undisturbed.facts),
        }));
        if let Err(panic) = result {
            let log = String::from_utf8_lossy(&world.log()).into_owned();
            let log: Vec<String> = log.lines().map(|line| line.chars().take(220).collect()).collect();
            panic!(
                "{}\nlast call: {last}\nthe disturbed run: {} {}\nthe log:\n{}",
                super::words(&*panic),
                outcome.code,
                outcome.stderr,
                log.join("\n")
            );
        }
    }
}

fn undisturbed(variant: Variant, traced: bool) -> Undisturbed {
    let world = World::new(variant);
    // Its time is that of a run which nobody traces.
    let begun = Instant::now();
    let (outcome, calls) = match traced {
        true => trace::calls(&world.repo, |program| world.run(program)),
        false => (world.run(world.repo.program(&world.repo.binary())).run(), Vec::new()),
    };
    let time = begun.elapsed();
    assert_eq!(outcome.code, variant.code(), "{outcome}");
    let facts = world.facts(outcome.code);
    world.nothing_left();
    Undisturbed { calls, facts, time }
}

fn strike(world: &World, blow: Blow, time: Duration) -> Outcome {
    match blow {
        Blow::Harm(harm) => world.run(trace::harmed(&world.repo, harm)).run(),
        Blow::Moment(thousandths) => {
            let mut running = world.run(world.repo.program(&world.repo.binary())).spawn();
            std::thread::sleep(time.mul_f64(thousandths as f64 / 1000.0));
            if running.is_running() {
                running.signal(9);
            }
            running.wait()
        }
    }
}

/// After a kill: what `resume` makes of it is what the run would have made.
fn killed(world: &World, trial: &Trial, outcome: &Outcome, facts: &Facts) {
    let code = world.variant.code();
    if outcome.code != 128 + 9 {
        // It was over before: the calls of two runs are not the same to the last one.
        MISSED.fetch_add(1, Ordering::Relaxed);
        assert_eq!(outcome.code, code, "{outcome}");
        same(facts, &world.facts(code));
        return world.nothing_left();
    }
    if trial.tail != Tail::Whole {
        tear(world, trial.tail);
    }
    if !world.exists() {
        return never_began(world, facts);
    }
    if let Some(second) = trial.second {
        free_branch(world);
        let first = trace::harmed(&world.repo, second);
        let first = world.around(first).args(["resume", JOB]).run();
        assert!([code, 128 + 9].contains(&first.code), "the first resume: {first}");
    }
    goes_on(world, code, facts);
}

/// The branch to land on is the person's, and so is a lock on it: `land` says that it may be deleted.
fn free_branch(world: &World) {
    let lock = world.repo.root.join(".git/refs/heads/main.lock");
    if world.variant == Variant::Lands && lock.exists() {
        fs::remove_file(lock).expect("it is there");
    }
}

/// `resume` brings it to the end that it would have had, and then nothing is left to do.
pub fn goes_on(world: &World, code: i32, facts: &Facts) {
    free_branch(world);
    let resumed = world.agentgate(&["resume", JOB]);
    assert_eq!(resumed.code, code, "{resumed}");
    let found = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
        same(facts, &world.facts(code));
        world.nothing_left();
    }));
    if let Err(panic) = found {
        panic!("{}\nafter {resumed}", super::words(&*panic));
    }
    proved(&world.repo, JOB);
    let before = world.log();
    for verb in ["resume", "wait"] {
        let again = world.agentgate(&[verb, JOB]);
        assert_eq!(again.code, code, "{again}");
    }
    assert!(before == world.log(), "resume of a job that is over wrote to its log");
    let row = super::support::scene::row(&world.repo, JOB);
    let place = row["worktree"].as_str().map(str::to_owned);
    if [Variant::Passes, Variant::Roles].contains(&world.variant) {
        let place = place.unwrap_or_else(|| panic!("no worktree in {row:#}"));
        let (name, content) = world.variant.work();
        let found = fs::read_to_string(std::path::Path::new(&place).join(name));
        assert_eq!(found.ok().as_deref(), Some(content), "{row:#}");
    }
}

/// A job of which there is nothing but perhaps its folder: only the id is taken, and `drop` frees it.
pub fn never_began(world: &World, facts: &Facts) {
    let resumed = world.agentgate(&["resume", JOB]);
    assert_eq!(resumed.code, 23, "nothing to go on with: {resumed}");
    if world.record().exists() {
        let taken = world.run(world.repo.program(&world.repo.binary())).run();
        assert_eq!(taken.code, 14, "its id is taken: {taken}");
        let dropped = world.agentgate(&["drop", JOB]);
        assert_eq!(dropped.code, 0, "{dropped}");
        assert!(!world.record().exists(), "drop left {}", world.record().display());
    }
    let code = world.variant.code();
    let run = world.run(world.repo.program(&world.repo.binary())).run();
    assert_eq!(run.code, code, "the id can be used again: {run}");
    same(facts, &world.facts(code));
    world.nothing_left();
}

/// What a crash of the machine makes of the last line.
fn tear(world: &World, tail: Tail) {
    let path = world.record().join("events.jsonl");
    let Ok(mut file) = fs::OpenOptions::new().append(true).open(path) else {
        return;
    };
    let bytes: &[u8] = match tail {
        Tail::Whole => b"",
        Tail::Torn => br#"{"v":1,"seq":9,"epoch":1,"at":"2026-01-01T00:00:00.000Z","job":"j1","event":"job.ke"#,
        Tail::Zeros => &[0; 700],
    };
    file.write_all(bytes).expect("it can be written");
}

/// What differs must be nothing.
pub fn same(expected: &Facts, found: &Facts) {
    let names: std::collections::BTreeSet<&String> = expected.keys().chain(found.keys()).collect();
    let differ = |name: &&&String| expected.get(**name) != found.get(**name);
    let lines: Vec<String> = names
        .iter()
        .filter(differ)
        .map(|name| {
            format!(
                "{name}:\n  undisturbed {:?}\n  found       {:?}",
                expected.get(*name),
                found.get(*name)
            )
        })
        .collect();
    assert!(
        lines.is_empty(),
        "not as after an undisturbed run:\n{}",
        lines.join("\n")
    );
}

/// Where this binary can prove a job, it does.
pub fn proved(repo: &Repo, id: &str) {
    if repo.agentgate(["help", "verify"]).code == 0 {
        let outcome = repo.agentgate(["verify", id]);
        assert_eq!(outcome.code, 0, "{outcome}");
    }
}

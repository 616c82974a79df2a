//! Logs that an earlier version wrote (`fixtures/jobs/*-v1.jsonl`): they are read for ever. Never edit one; a new
//! version adds its own beside them.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use agentgate::exit::Exit;
use agentgate::job::audit;
use agentgate::job::log::{Log, decode};
use agentgate::job::machine::{self, State, Step};

fn read(name: &str) -> (Log, State) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("fixtures/jobs/{name}-v1.jsonl"));
    let bytes = fs::read(&path).expect("it is there");
    let log = decode(&bytes).unwrap_or_else(|error| panic!("{name}: {error}"));
    assert_eq!((log.torn_bytes, log.unterminated), (0, false), "{name}");
    let events = log.lines.iter().map(|line| {
        let event = line.event.as_ref();
        event.unwrap_or_else(|| panic!("{name}: event {} ({}) is not known any more", line.seq, line.kind))
    });
    let state = events.fold(State::default(), machine::fold);
    (log, state)
}

#[test]
fn every_log_of_version_1_tells_what_it_told() {
    for (name, lines, ended, changed, gate) in [
        ("kept", 17, Exit::Ok, Some(2), Some(0)),
        ("refused", 12, Exit::ForbiddenImport, Some(1), Some(5)),
        ("failed", 11, Exit::AgentFailed, Some(1), None),
        ("killed", 23, Exit::Ok, Some(1), Some(0)),
        ("stopped", 11, Exit::Interrupted, Some(1), None),
        ("roles", 53, Exit::Ok, Some(3), Some(0)),
        ("tools", 17, Exit::Ok, Some(1), Some(0)),
    ] {
        let (log, state) = read(name);
        assert_eq!(log.lines.len(), lines, "{name}");
        assert_eq!(state.ended, Some(ended), "{name}");
        assert_eq!(state.frozen.as_ref().map(|(_, changed)| *changed), changed, "{name}");
        assert_eq!(state.gate, gate, "{name}");
        assert_eq!(machine::next(&state), Step::Done(ended), "{name}");
        let created = state.created.as_ref().expect("the first event");
        assert_eq!(created.goal, "pay twice");
        assert_eq!(created.clone, "/home/dev/payments");
        assert_eq!(audit::faults(&log, name), Vec::<String>::new(), "{name}");
    }
    let (_, kept) = read("kept");
    assert!(kept.landed && kept.commit.is_some());
    let (_, killed) = read("killed");
    assert!(killed.dropped);
    assert_eq!(killed.owners, 2);
    assert_eq!(killed.place(), Some("/home/dev/payments-jobs/killed~2"));
    let (_, roles) = read("roles");
    let progress = &roles.progress;
    assert_eq!(
        (
            progress.calls,
            progress.implemented,
            progress.reviews,
            progress.fixes,
            progress.persons.len()
        ),
        (9, 2, 3, 2, 1)
    );
    assert!(progress.approved);
}

#[test]
fn together_they_have_every_kind_that_version_1_writes() {
    let mut kinds = BTreeSet::new();
    for name in ["kept", "refused", "failed", "killed", "stopped", "roles", "tools"] {
        kinds.extend(read(name).0.lines.into_iter().map(|line| line.kind));
    }
    let expected = [
        "agent.confined",
        "candidate.frozen",
        "check.finished",
        "commit.intended",
        "commit.made",
        "gate.finished",
        "job.answered",
        "job.created",
        "job.dropped",
        "job.failed",
        "job.interrupted",
        "job.kept",
        "job.landed",
        "job.needs_human",
        "job.owned",
        "job.refused",
        "preflight.passed",
        "step.answered",
        "step.finished",
        "step.output",
        "step.retried",
        "step.started",
        "worktree.added",
    ];
    assert_eq!(kinds, expected.map(str::to_owned).into());
}

/// A log is folded the same way wherever it is cut, and each cut says what is next: whoever goes on from there
/// arrives at what was done.
#[test]
fn each_beginning_of_a_log_says_what_came_next() {
    for name in ["kept", "refused", "failed", "killed", "stopped", "roles", "tools"] {
        let (log, _) = read(name);
        let mut state = State::default();
        for line in &log.lines {
            let event = line.event.as_ref().expect("it is known");
            let next = machine::next(&state);
            let fits = match line.kind.as_str() {
                "preflight.passed" => next == Step::Preflight,
                "worktree.added" => next == Step::AddWorktree,
                "gate.finished" => next == Step::Judge,
                "commit.intended" => next == Step::Commit,
                "job.kept" => next == Step::Keep,
                "job.needs_human" => matches!(next, Step::NeedsHuman(_)),
                "job.refused" | "job.failed" => matches!(next, Step::End(_)),
                _ => true,
            };
            assert!(fits, "{name}: {} where {next:?} was next", line.kind);
            state = machine::fold(state, event);
        }
    }
}

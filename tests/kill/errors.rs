//! A disk that is full, or that loses what it took: nothing is done that could not be written down.

use super::support::jobs::verified;
use super::support::program::Outcome;
use super::support::scene::{self, JOB};
use super::trials::{goes_on, never_began, proved, same};
use super::world::{Facts, Variant, World};

/// After one call failed: the job stopped with 1, or the call did not matter.
pub fn stopped(world: &World, outcome: &Outcome, facts: &Facts) {
    let code = world.variant.code();
    let is_refused = outcome
        .stderr
        .contains("could not be started: a fresh checkout cannot be made");
    if world.variant == Variant::Roles && is_refused && [0, 18].contains(&outcome.code) {
        return refused(world, outcome, facts);
    }
    // Where its last words could not be kept, they are said again.
    if outcome.code == code && world.record().join("resume.json").exists() {
        return goes_on(world, code, facts);
    }
    if outcome.code == code {
        let mut found = world.facts(code);
        // Copies and what is only evidence may fail, and then that is said.
        if outcome.stderr.contains("could not be") {
            let names = ["artifacts", "artifacts patch", "record", "bundle"];
            let names = names.into_iter().map(str::to_owned);
            for name in names.chain((1..=6).map(|call| format!("call {call} refs"))) {
                if let Some(fact) = facts.get(&name) {
                    found.insert(name, fact.clone());
                }
            }
        }
        same(facts, &found);
        return world.nothing_left();
    }
    if !world.exists() {
        // A git that could not even be asked for its version is none that works (64).
        let is_planned = outcome.code == 64 && outcome.stderr.contains("or newer is needed");
        assert!(
            outcome.code == 1 || is_planned,
            "a failure that nobody planned for is 1: {outcome}"
        );
        return never_began(world, facts);
    }
    let log = String::from_utf8(world.log()).expect("text");
    // A line may be there in part: an owner has to cut it off.
    let whole = log.rfind('\n').map_or(0, |at| at + 1);
    let events = verified(&log[..whole], JOB);
    let has = |kind: &str| events.iter().any(|event| event["event"] == kind);
    let end = events.iter().rfind(|event| {
        ["job.kept", "job.failed", "job.refused", "job.interrupted"]
            .iter()
            .any(|kind| event["event"] == *kind)
    });
    let branch = world.repo.git(["branch", "--list", "agent/*"]);
    assert!(
        branch.is_empty() || has("commit.made"),
        "a branch that the log knows nothing of: {branch}"
    );
    let Some(end) = end.filter(|end| end["event"] != "job.kept" && end["exit"] != code) else {
        assert_eq!(outcome.code, 1, "a failure that nobody planned for is 1");
        return goes_on(world, code, facts);
    };
    // It was recorded as failed: it stays so, and the agent's work is in the record or where it was. A check or an
    // agent that could not be started has a code of its own.
    assert!(outcome.code == 1 || end["exit"] == outcome.code, "{end:#}");
    let recorded = end["exit"].as_i64().expect("a code") as i32;
    assert!([1, 10, 16].contains(&recorded), "{end:#}");
    // In a job of several roles a step has a candidate when it is finished.
    let (kind, first, work) = match world.variant {
        Variant::Roles => ("step.finished", "implement-1", "payments/one.ts"),
        _ => ("step.started", "implement", "payments/new.ts"),
    };
    let ran = events
        .iter()
        .any(|event| event["event"] == kind && event["step"] == first);
    let is_left = end["left"] == true;
    if is_left {
        let place = scene::worktree(&world.repo, JOB);
        assert!(
            place.join(world.variant.work().0).exists(),
            "{} is gone",
            place.display()
        );
    } else if has("step.finished") && ran {
        let candidate = format!("refs/agentgate/jobs/{JOB}:candidate/{work}");
        world
            .repo
            .program("git")
            .args(["cat-file", "-e", &candidate])
            .run()
            .success();
    }
    assert_eq!(scene::processes(&world.repo, JOB), Vec::<String>::new());
    let resumed = world.agentgate(&["resume", JOB]);
    assert_eq!(resumed.code, recorded, "{resumed}");
    if is_left {
        let dropped = world.agentgate(&["drop", "--force", JOB]);
        assert_eq!(dropped.code, 0, "{dropped}");
    }
    world.nothing_left();
}

/// A check that could not be started turned the candidate down: that is a round of its own. Where its fixer found nothing
/// to mend, a person is asked, and says that it is good.
fn refused(world: &World, outcome: &Outcome, facts: &Facts) {
    if outcome.code == 18 {
        assert_eq!(scene::processes(&world.repo, JOB), Vec::<String>::new());
        let answered = world.agentgate(&["answer", JOB, "--approve"]);
        assert_eq!(answered.code, 0, "{answered}");
    }
    let candidate = format!("refs/agentgate/jobs/{JOB}:candidate");
    assert_eq!(world.repo.git(["rev-parse", &candidate]), facts["candidate"]);
    proved(&world.repo, JOB);
    world.nothing_left();
}

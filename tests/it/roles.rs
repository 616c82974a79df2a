//! Jobs of several roles: planner, implementer, reviewer, fixer; shell scripts in each of them, the real binary.

mod answer;
mod bounds;
mod crash;
mod prefix;
mod said;
mod waiting;

use std::fs;

use serde_json::Value;

use super::support::program::{Outcome, Program};
use super::support::repo::Repo;
use super::support::scene::{self, JOB, events, last_kind, lock_is_free, nothing_left, record};
use super::support::tokens;

pub const SETTINGS: &str = "architecture/agentgate.yml";

/// Approves.
pub const APPROVE: &str =
    r#"echo '{"decision": "approve", "summary": "good", "findings": []}' > "$AGENTGATE_OUTBOX/review.json""#;
/// Rejects, with a finding that is another one each time the fixer has been there.
pub const REJECT: &str = r#"n=$(cat payments/fix.txt 2>/dev/null | wc -l)
printf '{"decision": "request_changes", "summary": "no", "findings": [{"path": "payments/new.ts", "line": 1, "message": "fault %s", "blocking": true}]}' "$n" > "$AGENTGATE_OUTBOX/review.json""#;
/// Leaves one more line.
pub const FIX: &str = "echo fixed >> payments/fix.txt";
/// Adds a file.
pub const IMPLEMENT: &str = "echo new > payments/new.ts";
/// Two steps, a file each.
pub const PLAN: &str = r#"echo '{"summary": "s", "steps": [{"title": "one", "detail": "d1", "files": ["payments/one.ts"]}, {"title": "two", "detail": "d2", "files": ["payments/two.ts", "payments/fix.txt"]}]}' > "$AGENTGATE_OUTBOX/plan.json""#;
/// Does the step that it is given.
pub const STEP: &str = r#"t=$(sed -n 's/.*"title": "\(.*\)",/\1/p' "$(dirname "$AGENTGATE_TASK")/step.json"); echo "$t" > "payments/$t.ts""#;

/// A repository whose settings name these roles, each with its script, and these bounds.
pub fn with(roles: &[(&str, &str)], bounds: &str) -> Repo {
    let repo = Repo::new();
    let mut text = "agents:\n".to_owned();
    for (role, script) in roles {
        let path = repo.top().join(format!("{role}.sh"));
        fs::write(&path, script).expect("it can be written");
        text.push_str(&format!("  {role}: {{command: [sh, {}]}}\n", path.display()));
    }
    repo.change(SETTINGS, &format!("{text}{bounds}"));
    fs::write(repo.top().join("task.md"), "Goal: pay twice\n").expect("it can be written");
    repo
}

/// Puts another script in a role's place.
pub fn becomes(repo: &Repo, role: &str, script: &str) {
    fs::write(repo.top().join(format!("{role}.sh")), script).expect("it can be written");
}

pub fn job(repo: &Repo) -> Program {
    repo.command(["run", "--job-id", JOB, "../task.md"])
}

pub fn run(repo: &Repo) -> Outcome {
    job(repo).run()
}

/// The steps of a job in their order, as often as they were begun.
pub fn steps(repo: &Repo) -> Vec<String> {
    let events = events(repo, JOB);
    let started = events.iter().filter(|event| event["event"] == "step.started");
    let names = started.map(|event| event["step"].as_str().expect("a name").to_owned());
    names.filter(|name| name != "setup").collect()
}

pub fn of_kind(repo: &Repo, kind: &str) -> Vec<Value> {
    let events = events(repo, JOB);
    events.into_iter().filter(|event| event["event"] == kind).collect()
}

pub fn shown(repo: &Repo, path: &str) -> String {
    repo.git(["show", &format!("agent/{JOB}:{path}")])
}

/// What a call printed.
pub fn said(repo: &Repo, call: u64) -> String {
    fs::read_to_string(record(repo, JOB).join(format!("agent-{call}.log"))).expect("it was kept")
}

#[test]
fn a_plan_is_implemented_step_by_step_reviewed_fixed_and_reviewed_again() {
    let review = format!("if [ -e payments/fix.txt ]; then {APPROVE}; else {REJECT}; fi");
    let repo = with(
        &[
            ("planner", PLAN),
            ("implementer", STEP),
            ("reviewer", &review),
            ("fixer", FIX),
        ],
        "",
    );
    let outcome = run(&repo);
    outcome.expect(0, &["verdict=ok", "planner (plan)", "reads only"]);
    assert_eq!(
        steps(&repo),
        ["plan", "implement-1", "implement-2", "review-1", "fix-1", "review-2"]
    );
    for (file, text) in [("one.ts", "one"), ("two.ts", "two"), ("fix.txt", "fixed")] {
        assert_eq!(shown(&repo, &format!("payments/{file}")), text);
    }
    assert_eq!(repo.git(["rev-list", "--count", &format!("main..agent/{JOB}")]), "1");
    let calls: Vec<Value> = of_kind(&repo, "step.started")
        .iter()
        .map(|event| event["call"].clone())
        .collect();
    assert_eq!(calls, (1..=6).map(Value::from).collect::<Vec<_>>());
    let answers: Vec<Value> = of_kind(&repo, "step.answered")
        .iter()
        .map(|event| event["answer"].clone())
        .collect();
    assert_eq!(answers, ["plan", "review", "review"]);
    // The review is bound to the tree that was reviewed.
    let reviewed = of_kind(&repo, "step.answered").pop().expect("one")["tree"].clone();
    assert_eq!(reviewed, of_kind(&repo, "candidate.frozen").pop().expect("one")["tree"]);
    lock_is_free(&repo);
}

#[test]
fn each_call_has_a_home_and_a_git_dir_of_its_own_and_files_for_its_only_input() {
    let nosy = r#"echo "role $AGENTGATE_ROLE"; ls -A "$HOME" "$TMPDIR" "$AGENTGATE_OUTBOX"; : > "$HOME/left"; : > "$TMPDIR/left"
git log --oneline | wc -l; git branch -q "left-$AGENTGATE_ROLE"; git branch --list 'left-*'; git stash list; ls "$(dirname "$AGENTGATE_TASK")""#;
    let repo = with(
        &[
            ("planner", &format!("{nosy}\n{PLAN}")),
            (
                "implementer",
                &format!("{nosy}\n{STEP}\ngit stash list; git commit -qam x || true"),
            ),
            ("reviewer", &format!("{nosy}\n{APPROVE}")),
        ],
        "",
    );
    run(&repo).expect(0, &[]);
    for call in 1..=4 {
        let said = said(&repo, call);
        assert!(!said.lines().any(|line| line == "left"), "{said}");
        // What HEAD was for the call before is forgotten: each begins at the base.
        let commits = repo.git(["rev-list", "--count", "main"]);
        assert!(said.lines().any(|line| line.trim() == commits), "{said}");
        let branches = said
            .lines()
            .filter(|line| line.trim_start_matches("* ").trim().starts_with("left-"));
        assert_eq!(branches.count(), 1, "{said}");
        assert!(said.contains("TASK.md") && said.contains("BRIEF.md"), "{said}");
    }
    assert!(said(&repo, 1).contains("role planner") && said(&repo, 4).contains("role reviewer"));
    assert!(said(&repo, 2).contains("step.json") && said(&repo, 2).contains("plan.json"));
    assert!(said(&repo, 4).contains("change.patch") && said(&repo, 4).contains("invariants.yml"));
}

#[test]
fn a_planner_and_a_reviewer_cannot_change_what_they_read() {
    let edit = "for f in payments/pay.ts payments/other.ts .git architecture/invariants.yml; do echo x 2>/dev/null > $f && echo wrote $f; done\nchmod 600 payments/pay.ts 2>/dev/null && echo wrote mode; rm payments/pay.ts 2>/dev/null && echo wrote rm\n";
    let repo = with(
        &[
            ("planner", &format!("{edit}{PLAN}")),
            ("implementer", STEP),
            ("reviewer", &format!("{edit}{APPROVE}")),
        ],
        "",
    );
    run(&repo).expect(0, &["verdict=ok"]);
    for call in [1, 4] {
        assert!(!said(&repo, call).contains("wrote"), "{}", said(&repo, call));
    }
    assert_eq!(
        repo.git(["diff", "--name-only", "main", &format!("agent/{JOB}")]),
        "payments/one.ts\npayments/two.ts"
    );
}

#[test]
fn without_walls_a_reviewer_that_edits_ends_the_job() {
    let repo = with(
        &[
            ("implementer", IMPLEMENT),
            ("reviewer", &format!("echo mine >> payments/new.ts\n{APPROVE}")),
        ],
        "",
    );
    let outcome = job(&repo).args(["--confinement", "off"]).run();
    outcome.expect(20, &["the reviewer changed the worktree"]);
    assert_eq!(repo.git(["branch", "--list", "agent/*"]), "");
    let repo = with(&[("implementer", IMPLEMENT), ("reviewer", APPROVE)], "");
    job(&repo).args(["--confinement", "off"]).run().success();
}

#[test]
fn what_the_gate_finds_goes_to_the_fixer_and_no_reviewer_is_asked() {
    let bad = "echo 'import redis from \"redis\";' > payments/new.ts";
    let fix = "grep -q forbidden-import \"$(dirname \"$AGENTGATE_TASK\")/findings.json\" && echo ok > payments/new.ts";
    let repo = with(&[("implementer", bad), ("reviewer", APPROVE), ("fixer", fix)], "");
    run(&repo).expect(0, &["verdict=ok"]);
    assert_eq!(steps(&repo), ["implement", "fix-1", "review-1"]);
    assert_eq!(shown(&repo, "payments/new.ts"), "ok");
}

#[test]
fn a_gate_that_is_still_broken_at_the_end_gives_its_code_and_the_worktree_goes() {
    let bad = "echo 'import redis from \"redis\";' > payments/new.ts";
    // The same finding twice is no progress; a finding of its own each time goes up to the cap.
    let other = "n=$(ls payments | wc -l); echo 'import redis from \"redis\";' > payments/new-$n.ts";
    for (fix, rounds) in [(FIX, 2), (other, 3)] {
        let repo = with(&[("implementer", bad), ("reviewer", APPROVE), ("fixer", fix)], "");
        run(&repo).expect(5, &["verdict=forbidden-import"]);
        assert_eq!(steps(&repo).len(), rounds, "{:?}", steps(&repo));
        assert_eq!(of_kind(&repo, "gate.finished").len(), rounds);
        assert_eq!(last_kind(&repo, JOB), "job.refused");
        nothing_left(&repo);
    }
}

#[test]
fn a_protected_file_or_a_credential_ends_the_job_without_a_fix() {
    let token = format!("echo 'key = \"{}\"' > payments/new.ts", tokens::github());
    for (script, code) in [("echo x > prot/rules.txt", 3), (token.as_str(), 24)] {
        let repo = with(&[("implementer", script), ("reviewer", APPROVE), ("fixer", FIX)], "");
        run(&repo).expect(code, &[]);
        assert_eq!(steps(&repo), ["implement"]);
        nothing_left(&repo);
    }
}

#[test]
fn a_credential_is_24_also_where_a_person_is_asked_for() {
    let token = format!("echo 'key = \"{}\"' > payments/new.ts", tokens::github());
    let ask = r#"echo '{"reason": "r", "question": "q"}' > "$AGENTGATE_OUTBOX/needs_human.json""#;
    let capped = "max_agent_calls: 2\n";
    let of_plan = format!("{STEP}; {token}");
    for (roles, bounds) in [
        (
            vec![
                ("implementer", format!("{token}; {ask}")),
                ("reviewer", APPROVE.to_owned()),
            ],
            "",
        ),
        (vec![("planner", PLAN.to_owned()), ("implementer", of_plan)], capped),
    ] {
        let roles: Vec<(&str, &str)> = roles.iter().map(|(role, script)| (*role, script.as_str())).collect();
        let repo = with(&roles, bounds);
        run(&repo).expect(24, &["verdict=credential"]);
        assert_eq!(last_kind(&repo, JOB), "job.refused");
        assert_eq!(repo.git(["for-each-ref", "refs/agentgate"]), "");
        nothing_left(&repo);
    }
    // Without one a person is asked, and nobody judges what is not done.
    let repo = with(
        &[("implementer", &format!("{IMPLEMENT}; {ask}")), ("reviewer", APPROVE)],
        "",
    );
    run(&repo).expect(18, &[]);
    assert!(of_kind(&repo, "gate.finished").is_empty());
}

#[test]
fn a_failed_check_is_mended_before_anybody_reviews() {
    let checks = "checks: [{name: has fix, run: test -e payments/fix.txt}]\n";
    let repo = with(
        &[("implementer", IMPLEMENT), ("reviewer", APPROVE), ("fixer", FIX)],
        checks,
    );
    run(&repo).expect(0, &["verdict=ok"]);
    assert_eq!(steps(&repo), ["implement", "fix-1", "review-1"]);
    let fix = said(&repo, 2);
    assert!(fix.is_empty(), "{fix}");
    // Without anybody who mends it is the job's end.
    let repo = with(&[("planner", PLAN), ("implementer", STEP)], checks);
    run(&repo).expect(10, &["verdict=check-failed"]);
    nothing_left(&repo);
}

#[test]
fn a_steps_files_narrow_the_scope() {
    // A file that no step names, and one that another step has.
    let wide = format!("{STEP}\necho x > payments/extra.ts; [ -e payments/two.ts ] || echo early > payments/two.ts");
    let fix = "cat \"$(dirname \"$AGENTGATE_TASK\")/findings.json\"; rm -f payments/extra.ts";
    let repo = with(
        &[
            ("planner", PLAN),
            ("implementer", &wide),
            ("reviewer", APPROVE),
            ("fixer", fix),
        ],
        "",
    );
    run(&repo).expect(0, &[]);
    assert_eq!(
        steps(&repo),
        ["plan", "implement-1", "implement-2", "fix-1", "review-1"]
    );
    let told = said(&repo, 4);
    assert!(
        told.contains("payments/extra.ts") && told.contains("no step of the plan names this file"),
        "{told}"
    );
    assert!(
        told.contains("payments/two.ts") && told.contains("does not name it for"),
        "{told}"
    );
    // Where nobody mends it, it is out of scope.
    let repo = with(&[("planner", PLAN), ("implementer", &wide)], "");
    run(&repo).expect(7, &["payments/extra.ts"]);
}

#[test]
fn the_task_is_not_widened_by_a_plan() {
    let repo = with(&[("planner", PLAN), ("implementer", STEP)], "");
    fs::write(
        repo.top().join("task.md"),
        "Goal: one\nAllowed files: payments/one.ts\n",
    )
    .expect("it can be written");
    run(&repo).expect(7, &["payments/two.ts"]);
}

#[test]
fn findings_that_do_not_block_let_pass() {
    let mild = r#"echo '{"decision": "approve", "summary": "fine", "findings": [{"path": "payments/new.ts", "message": "a nit", "blocking": false}]}' > "$AGENTGATE_OUTBOX/review.json""#;
    let repo = with(&[("implementer", IMPLEMENT), ("reviewer", mild), ("fixer", FIX)], "");
    run(&repo).expect(0, &[]);
    assert_eq!(steps(&repo), ["implement", "review-1"]);
}

#[test]
fn without_a_fixer_the_implementer_mends() {
    let both =
        "if [ \"$AGENTGATE_ROLE\" = fixer ]; then echo fixed > payments/fix.txt; else echo new > payments/new.ts; fi";
    let review = format!("if [ -e payments/fix.txt ]; then {APPROVE}; else {REJECT}; fi");
    let repo = with(&[("implementer", both), ("reviewer", &review)], "");
    run(&repo).expect(0, &[]);
    assert_eq!(steps(&repo), ["implement", "review-1", "fix-1", "review-2"]);
}

#[test]
fn who_is_not_there_is_refused_before_anything_is_made() {
    let repo = with(&[("implementer", IMPLEMENT)], "");
    repo.change(
        SETTINGS,
        "agents: {implementer: {command: 'true'}, reviewer: {command: no-such-program}}\n",
    );
    for outcome in [run(&repo), repo.agentgate(["preflight", "--task", "../task.md"])] {
        outcome.expect(16, &["reviewer: ", "no-such-program"]);
    }
    assert!(!record(&repo, JOB).exists());
}

#[test]
fn stop_ends_whoever_is_at_work() {
    let repo = with(
        &[("implementer", IMPLEMENT), ("reviewer", "echo waiting; sleep 60")],
        "",
    );
    job(&repo).args(["--detach"]).run().success();
    scene::until("the reviewer is at work", || steps(&repo).len() == 2);
    repo.agentgate(["stop", JOB]).success();
    repo.agentgate(["wait", JOB]).expect(130, &[]);
    nothing_left(&repo);
    let patch = fs::read_to_string(record(&repo, JOB).join("change.patch")).expect("there is a patch");
    assert!(patch.contains("+new"), "{patch}");
}

#[test]
fn who_looks_on_sees_the_output_of_each_call_once() {
    let repo = with(
        &[
            ("planner", &format!("echo plan-words\n{PLAN}")),
            ("implementer", &format!("echo do-words; {STEP}")),
        ],
        "",
    );
    job(&repo).args(["--detach"]).run().success();
    let outcome = repo.agentgate(["attach", JOB]);
    outcome.expect(0, &["| plan-words", "verdict=ok"]);
    assert_eq!(outcome.stderr.matches("| do-words").count(), 2, "{outcome}");
}

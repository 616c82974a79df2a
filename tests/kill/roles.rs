//! A job of four roles, each a shell script: a plan of two steps, a reviewer that rejects once, a fixer.
//!
//! A call that was killed is made again under another number; what a number names is compared by its step.

use std::collections::BTreeMap;
use std::path::Path;

use serde_json::Value;

use super::support::repo::Repo;
use super::world::{keep, text};

const SETTINGS: &str = "setup: [[sh, -c, 'test -f local.env && echo ready > ready.log']]
copy: [local.env]
checks:
- {name: first, run: 'test -f payments/one.ts && test ! -e payments/old.ts && test -f local.env'}
- {name: second, run: 'echo second; test -f ready.log'}
agents:
  planner: {command: [sh, prot/planner.sh]}
  implementer: {command: [sh, prot/implementer.sh]}
  reviewer: {command: [sh, prot/reviewer.sh]}
  fixer: {command: [sh, prot/fixer.sh]}
";

const PLANNER: &str = r#"set -e
test ! -e payments/one.ts && test -f payments/old.ts
cat > "$AGENTGATE_OUTBOX/plan.json" <<'END'
{"summary": "s", "steps": [{"title": "one", "detail": "d1", "files": ["payments/one.ts", "payments/old.ts"]},
 {"title": "two", "detail": "d2", "files": ["payments/two.ts", "payments/fix.txt"]}]}
END
setsid sleep 300 > /dev/null 2>&1 &
echo planned
"#;

/// It fails where it finds work of its own step, or nothing of the step before, and leaves all kinds of things behind.
const IMPLEMENTER: &str = r#"set -e
title=$(sed -n 's/.*"title": "\(.*\)",/\1/p' "$(dirname "$AGENTGATE_TASK")/step.json")
test ! -e "payments/$title.ts" && test -f ready.log && test -f local.env && test -z "$(git stash list)"
case $title in
one) rm payments/old.ts;;
two) test -f payments/one.ts && test ! -e payments/old.ts;;
esac
echo "$title" > "payments/$title.ts"
echo noise > build.log
echo stashed > payments/stashed.ts
git add payments/stashed.ts
git stash push --quiet -- payments/stashed.ts
setsid sleep 300 > /dev/null 2>&1 &
echo "did $title"
"#;

const REVIEWER: &str = r#"set -e
test -f payments/one.ts && test -f payments/two.ts && test -f ready.log
answer='{"decision": "request_changes", "summary": "no", "findings": [{"path": "payments/one.ts", "line": 1, "message": "fault", "blocking": true}]}'
if [ -e payments/fix.txt ]; then answer='{"decision": "approve", "summary": "good", "findings": []}'; fi
echo "$answer" > "$AGENTGATE_OUTBOX/review.json"
setsid sleep 300 > /dev/null 2>&1 &
echo reviewed
"#;

const FIXER: &str = r#"set -e
test ! -e payments/fix.txt && test -f payments/two.ts && test -f ready.log
echo fixed > payments/fix.txt
echo fixed
"#;

/// The calls of an undisturbed run, with what each prints.
const CALLS: [(&str, &str); 6] = [
    ("plan", "planned\n"),
    ("implement-1", "did one\n"),
    ("implement-2", "did two\n"),
    ("review-1", "reviewed\n"),
    ("fix-1", "fixed\n"),
    ("review-2", "reviewed\n"),
];

/// Writes settings and scripts; they are committed with the rest.
pub fn settle(repo: &Repo) {
    repo.write("architecture/agentgate.yml", SETTINGS);
    for (role, script) in [
        ("planner", PLANNER),
        ("implementer", IMPLEMENTER),
        ("reviewer", REVIEWER),
        ("fixer", FIXER),
    ] {
        repo.write(format!("prot/{role}.sh"), script);
    }
}

/// What came of the calls, whatever their numbers are.
#[track_caller]
pub fn meaning(events: &[Value]) -> Vec<(String, String)> {
    let of = |kind: &'static str| events.iter().filter(move |event| event["event"] == kind);
    let mut order: Vec<&str> = of("step.started").filter_map(|event| event["step"].as_str()).collect();
    order.retain(|step| *step != "setup");
    order.dedup();
    let expected: Vec<&str> = CALLS.iter().map(|(step, _)| *step).collect();
    assert_eq!(order, expected, "each step in its turn, and none again after the next");
    let numbers: Vec<u64> = of("step.started").filter_map(|event| event["call"].as_u64()).collect();
    let counted: Vec<u64> = (1..=numbers.len() as u64).collect();
    assert_eq!(numbers, counted, "numbers of the calls");
    let mut found = Vec::new();
    for (step, _) in CALLS {
        let ended: Vec<&Value> = of("step.finished").filter(|event| event["step"] == step).collect();
        // One that was killed over its last words, when its answer was written down, is not asked again.
        let is_answered = of("step.answered").any(|event| event["step"] == step);
        assert!(
            ended.len() == 1 || is_answered && ended.is_empty(),
            "{step} is finished once: {events:#?}"
        );
        for event in ended {
            assert_eq!(
                keep(event, &["ending", "status"]),
                r#"ending="exited" status=0"#,
                "{step}"
            );
        }
    }
    assert_eq!(of("step.retried").count(), 0, "a script failed: {events:#?}");
    let keys = ["step", "answer", "steps", "decision", "blocking", "digest", "tree"];
    let answers: Vec<String> = of("step.answered").map(|event| keep(event, &keys)).collect();
    found.push(("answers".to_owned(), answers.join("\n")));
    found
}

/// The number of the call that counts of each step, and its place among the steps.
fn places(events: &[Value]) -> BTreeMap<u64, usize> {
    let mut places = BTreeMap::new();
    for (place, (step, _)) in CALLS.iter().enumerate() {
        let of = |kind: &'static str| {
            let events = events.iter().filter(move |event| event["event"] == kind);
            events.filter(|event| event["step"] == *step)
        };
        let counts = of("step.answered")
            .next_back()
            .or_else(|| of("step.started").next_back());
        if let Some(call) = counts.and_then(|event| event["call"].as_u64()) {
            places.insert(call, place + 1);
        }
    }
    places
}

/// Names of a record with each call's place instead of its number.
pub fn renumber(names: &mut Vec<String>, events: &[Value]) {
    let places = places(events);
    for name in names.iter_mut() {
        let parts: Vec<&str> = name.split_inclusive(['-', '.']).collect();
        if name.starts_with("check-") {
            continue;
        }
        let renamed: Vec<String> = parts
            .iter()
            .map(|part| {
                let number = part.trim_end_matches(['-', '.']);
                let end = &part[number.len()..];
                match number.parse::<u64>() {
                    Ok(call) => match places.get(&call) {
                        Some(place) => format!("{place}{end}"),
                        None => format!("of-no-step-{call}{end}"),
                    },
                    Err(_) => (*part).to_owned(),
                }
            })
            .collect();
        *name = renamed.concat();
    }
    for place in unfinished(events) {
        names.push(format!("agent-{place}.log"));
    }
    names.sort();
    names.dedup();
}

/// Places of the steps that were answered and killed before their end: what they printed may be lost.
fn unfinished(events: &[Value]) -> Vec<usize> {
    let is_finished = |step: &str| {
        let mut events = events.iter();
        events.any(|event| event["event"] == "step.finished" && event["step"] == step)
    };
    let places = CALLS.iter().enumerate().filter(|(_, (step, _))| !is_finished(step));
    places.map(|(place, _)| place + 1).collect()
}

/// What the files of each call hold.
#[track_caller]
pub fn files(repo: &Repo, record: &Path, events: &[Value]) -> Vec<(String, String)> {
    let mut found = Vec::new();
    let unfinished = unfinished(events);
    for (call, place) in places(events) {
        let printed = match unfinished.contains(&place) {
            true => CALLS[place - 1].1.to_owned(),
            false => text(&record.join(format!("agent-{call}.log"))),
        };
        found.push((format!("call {place} printed"), printed));
        for (kind, name) in [("plan", "plan.json"), ("review", "review.json")] {
            let answer = text(&record.join(format!("call-{call}-{name}")));
            found.push((format!("call {place} {kind}"), answer));
        }
        found.push((
            format!("call {place} patch"),
            text(&record.join(format!("change-{call}.patch"))),
        ));
        let bundle = record.join(format!("agent-refs-{call}.bundle"));
        let heads = repo
            .program("git")
            .args(["bundle".as_ref(), "list-heads".as_ref(), bundle.as_os_str()])
            .run();
        let heads: Vec<&str> = heads.stdout.lines().filter_map(|line| line.split(' ').nth(1)).collect();
        found.push((format!("call {place} refs"), heads.join(" ")));
    }
    found
}

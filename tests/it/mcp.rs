//! The Model Context Protocol: a role's tools over the socket of its call, and a person's over standard input. Shell
//! scripts pipe their questions into the real connector, inside the real confinement; a public client is in `sdk`.

mod answers;
mod hostile;
mod persons;
mod profiles;
mod sdk;

use std::fs;

use serde_json::{Value, json};

use super::roles::{self, of_kind, said, with};
use super::support::repo::Repo;
use super::support::scene::{JOB, record};

/// One message a line.
fn lines(messages: &[Value]) -> String {
    messages.iter().map(|message| format!("{message}\n")).collect()
}

/// A call of a tool, as a message.
fn call(id: u64, tool: &str, arguments: Value) -> Value {
    json!({"jsonrpc": "2.0", "id": id, "method": "tools/call", "params": {"name": tool, "arguments": arguments}})
}

fn list() -> Value {
    json!({"jsonrpc": "2.0", "id": 1, "method": "tools/list"})
}

/// Shell that asks the connector and prints what it says.
fn asking(repo: &Repo, messages: &str) -> String {
    assert!(!messages.contains("\nEND\n"));
    format!("cat <<'END' | {} mcp\n{messages}END\n", repo.binary())
}

/// What a call was told, by the id of the question.
fn told(repo: &Repo, number: u64) -> Vec<Value> {
    let text = said(repo, number);
    let lines = text.lines().filter(|line| line.starts_with('{'));
    lines.map(|line| serde_json::from_str(line).expect("JSON")).collect()
}

fn by_id(replies: &[Value], id: u64) -> &Value {
    replies
        .iter()
        .find(|reply| reply["id"] == id)
        .unwrap_or_else(|| panic!("{id}: {replies:#?}"))
}

fn text(reply: &Value) -> &str {
    reply["result"]["content"][0]["text"]
        .as_str()
        .unwrap_or_else(|| panic!("{reply:#}"))
}

fn names(reply: &Value) -> Vec<&str> {
    let tools = reply["result"]["tools"]
        .as_array()
        .unwrap_or_else(|| panic!("{reply:#}"));
    tools
        .iter()
        .map(|tool| tool["name"].as_str().expect("a name"))
        .collect()
}

/// Sets a role's script.
fn becomes(repo: &Repo, role: &str, script: &str) {
    roles::becomes(repo, role, script);
}

const PLANNED: &str = r#"{"summary": "s", "steps": [{"title": "one", "detail": "d", "files": ["payments/**"]}]}"#;
const APPROVED: &str = r#"{"decision": "approve", "summary": "good", "findings": []}"#;
const REJECTED: &str = r#"{"decision": "request_changes", "summary": "no", "findings": [{"path": "payments/new.ts", "line": 1, "message": "fault", "blocking": true}]}"#;

fn value(text: &str) -> Value {
    serde_json::from_str(text).expect("JSON")
}

#[test]
fn each_role_has_its_own_tools_and_a_job_can_be_done_with_them_alone() {
    let repo = with(
        &[("planner", ""), ("implementer", ""), ("reviewer", ""), ("fixer", "")],
        "max_review_rounds: 3\n",
    );
    let asks = [
        list(),
        call(2, "read_task", json!({})),
        call(3, "read_policy", json!({})),
        call(4, "list_tree", json!({"path": "payments"})),
        call(5, "submit_plan", value(PLANNED)),
    ];
    becomes(&repo, "planner", &asking(&repo, &lines(&asks)));
    let asks = [
        list(),
        call(2, "read_step", json!({})),
        call(3, "explain_path", json!({"path": "payments/pay.ts"})),
        call(6, "explain_path", json!({"path": "5"})),
        call(7, "explain_path", json!({"path": "/etc/passwd"})),
        call(4, "report_progress", json!({"text": "half of it\u{1b}[2J\ndone"})),
        call(5, "check", json!({})),
    ];
    becomes(
        &repo,
        "implementer",
        &format!("echo new > payments/new.ts\n{}", asking(&repo, &lines(&asks))),
    );
    let asks = |review| {
        [
            list(),
            call(2, "read_plan", json!({})),
            call(3, "read_diff", json!({})),
            call(4, "read_findings", json!({})),
            call(5, "submit_review", value(review)),
        ]
    };
    let script = format!(
        "if [ -e payments/fix.txt ]; then\n{}else\n{}fi\n",
        asking(&repo, &lines(&asks(APPROVED))),
        asking(&repo, &lines(&asks(REJECTED)))
    );
    becomes(&repo, "reviewer", &script);
    let asks = [list(), call(2, "read_findings", json!({})), call(3, "check", json!({}))];
    becomes(
        &repo,
        "fixer",
        &format!("echo fixed > payments/fix.txt\n{}", asking(&repo, &lines(&asks))),
    );

    let outcome = roles::run(&repo);
    outcome.expect(0, &["implementer: half of it [2J done"]);

    let planner = told(&repo, 1);
    assert_eq!(
        names(by_id(&planner, 1)),
        ["read_task", "read_policy", "list_tree", "submit_plan", "needs_human"]
    );
    assert!(text(by_id(&planner, 2)).contains("Goal: pay twice"));
    assert!(
        text(by_id(&planner, 3)).contains("allowed_roots"),
        "{:#}",
        by_id(&planner, 3)
    );
    assert_eq!(text(by_id(&planner, 4)), "payments/pay.ts\n");
    let implementer = told(&repo, 2);
    assert_eq!(
        names(by_id(&implementer, 1)),
        [
            "read_task",
            "read_step",
            "explain_path",
            "check",
            "report_progress",
            "needs_human"
        ]
    );
    assert_eq!(value(text(by_id(&implementer, 2)))["title"], "one");
    assert!(
        text(by_id(&implementer, 3)).contains("may be changed: yes"),
        "{implementer:#?}"
    );
    assert!(
        text(by_id(&implementer, 6)).starts_with("5: not in "),
        "a path and no exit code"
    );
    assert_eq!(by_id(&implementer, 7)["result"]["isError"], true, "no verdict");
    let checked = text(by_id(&implementer, 5));
    assert!(
        checked.contains("invariants ok") && checked.ends_with("exit 0\n"),
        "{checked}"
    );
    let reviewer = told(&repo, 3);
    assert_eq!(
        names(by_id(&reviewer, 1)),
        [
            "read_task",
            "read_plan",
            "read_diff",
            "read_findings",
            "submit_review",
            "needs_human"
        ]
    );
    assert_eq!(value(text(by_id(&reviewer, 2)))["steps"][0]["title"], "one");
    assert!(text(by_id(&reviewer, 3)).contains("+++ b/payments/new.ts"));
    assert!(text(by_id(&reviewer, 4)).contains("Nothing was found"));
    let fixer = told(&repo, 4);
    assert_eq!(
        names(by_id(&fixer, 1)),
        ["read_findings", "check", "report_progress", "needs_human"]
    );
    assert_eq!(value(text(by_id(&fixer, 2)))["findings"][0]["message"], "fault");
    assert!(text(by_id(&fixer, 3)).ends_with("exit 0\n"));
    assert!(
        text(by_id(&told(&repo, 5), 4)).contains("fault"),
        "what the review before found"
    );

    let outputs = of_kind(&repo, "step.output");
    assert_eq!(outputs.len(), 1);
    assert_eq!(outputs[0]["text"], "half of it [2J done");
    assert_eq!(outputs[0]["call"], 2);
    assert_eq!(of_kind(&repo, "step.answered").len(), 3);
    repo.agentgate(["log", JOB]).expect(0, &["half of it"]);
    repo.agentgate(["verify", JOB]).expect(0, &[]);
}

#[test]
fn a_tool_of_another_role_is_unknown() {
    let repo = with(&[("implementer", ""), ("reviewer", "")], "");
    let asks = [
        call(1, "submit_review", value(APPROVED)),
        call(2, "submit_plan", value(PLANNED)),
    ];
    becomes(
        &repo,
        "implementer",
        &format!("echo new > payments/new.ts\n{}", asking(&repo, &lines(&asks))),
    );
    let asks = [
        call(1, "check", json!({})),
        call(2, "report_progress", json!({"text": "x"})),
        call(3, "submit_review", value(APPROVED)),
    ];
    becomes(&repo, "reviewer", &asking(&repo, &lines(&asks)));
    roles::run(&repo).expect(0, &[]);
    for (number, id) in [(1, 1), (1, 2), (2, 1), (2, 2)] {
        assert_eq!(
            by_id(&told(&repo, number), id)["error"]["code"],
            -32602,
            "{number} {id}"
        );
    }
    assert_eq!(of_kind(&repo, "step.answered").len(), 1);
}

#[test]
fn an_agent_that_has_the_job_for_itself_can_check_its_work() {
    let repo = Repo::new();
    let asks = lines(&[
        list(),
        call(2, "check", json!({})),
        call(3, "explain_path", json!({"path": "payments/new.ts", "import": "redis"})),
    ]);
    let script = format!(
        "echo 'import \"redis\";' > payments/new.ts\n{}echo 'export {{}};' > payments/new.ts\n{}",
        asking(&repo, &asks),
        // As agents do that give a server nothing but what stands in its settings.
        asking(&repo, &lines(&[call(4, "check", json!({}))]))
            .replace("| ", "| env -i AGENTGATE_MCP=\"$AGENTGATE_MCP\" ")
    );
    super::support::scene::agent(&repo, JOB, &[], &script)
        .run()
        .expect(0, &[]);
    let log = fs::read_to_string(record(&repo, JOB).join("agent.log")).expect("it was kept");
    let replies: Vec<Value> = log.lines().map(value).collect();
    assert_eq!(
        names(by_id(&replies, 1)),
        ["read_task", "explain_path", "check", "report_progress"]
    );
    let refused = text(by_id(&replies, 2));
    assert!(
        refused.contains("payments/new.ts") && refused.ends_with("exit 5\n"),
        "{refused}"
    );
    assert_eq!(
        by_id(&replies, 2)["result"]["isError"],
        false,
        "a verdict is no failure"
    );
    assert!(
        text(by_id(&replies, 3)).contains("forbidden (exit 5)"),
        "{:#}",
        by_id(&replies, 3)
    );
    assert!(text(by_id(&replies, 4)).ends_with("exit 0\n"));
}

#[test]
fn what_the_agent_commits_or_edits_does_not_change_the_rules_that_it_is_told() {
    let repo = Repo::new();
    let asks = lines(&[
        call(1, "check", json!({})),
        call(2, "explain_path", json!({"path": "architecture/invariants.yml"})),
    ]);
    let script = format!(
        "printf 'version: 1\\nmust_not_touch: [nothing]\\n' > architecture/invariants.yml\n\
         git -c user.name=a -c user.email=a@b commit -qam x\n{}git reset -q --hard HEAD~1; echo new > payments/new.ts\n",
        asking(&repo, &asks)
    );
    super::support::scene::agent(&repo, JOB, &[], &script)
        .run()
        .expect(0, &[]);
    let log = fs::read_to_string(record(&repo, JOB).join("agent.log")).expect("it was kept");
    let replies: Vec<Value> = log.lines().filter(|line| line.starts_with('{')).map(value).collect();
    assert!(text(by_id(&replies, 1)).ends_with("exit 3\n"), "{replies:#?}");
    assert!(text(by_id(&replies, 2)).contains("may be changed: no"), "{replies:#?}");
}

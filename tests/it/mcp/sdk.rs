//! The official Python SDK as the client: it lists and calls the tools of each role over stdio, with the handshake and
//! without. Where it is not there, the test is skipped and says so.

use std::io::Write;
use std::path::Path;
use std::process::Command;

use serde_json::Value;

use super::super::roles::{self, of_kind, run, said, with};
use super::super::support::repo::Repo;
use super::super::support::scene::JOB;
use super::{becomes, names, value};

const CLIENT: &str = r#"
import json, os, sys
import anyio
from mcp import Client, MCPError, StdioServerParameters, stdio_client

async def main():
    mode, binary, args, calls = sys.argv[1], sys.argv[2], json.loads(sys.argv[3]), json.loads(sys.argv[4])
    env = {"AGENTGATE_MCP": os.environ["AGENTGATE_MCP"]} if "AGENTGATE_MCP" in os.environ else {}
    server = StdioServerParameters(command=binary, args=args, env=env)
    async with Client(stdio_client(server), mode=mode, read_timeout_seconds=60) as client:
        said = {"protocol": client.protocol_version}
        said["result"] = {"tools": [{"name": tool.name} for tool in (await client.list_tools()).tools]}
        said["calls"] = []
        for name, arguments in calls:
            try:
                result = await client.call_tool(name, arguments)
                said["calls"].append([result.is_error, result.content[0].text])
            except MCPError as error:
                said["calls"].append(error.error.code)
    print(json.dumps(said), flush=True)

anyio.run(main)
"#;

/// An interpreter that has the SDK: the one that CI made for it, else the one on PATH, with PYTHONPATH as it is.
#[track_caller]
fn interpreter() -> Option<String> {
    let own = Path::new(env!("CARGO_MANIFEST_DIR")).join("target/mcp/venv/bin/python");
    let python = match own.exists() {
        true => own.display().to_string(),
        false => "python3".to_owned(),
    };
    let probe = Command::new(&python).args(["-c", "from mcp import Client"]).output();
    if probe.is_ok_and(|output| output.status.success()) {
        let path = std::env::var("PYTHONPATH").unwrap_or_default();
        return Some(format!("PYTHONPATH='{path}' {python}"));
    }
    let caller = std::panic::Location::caller();
    let mut stderr = std::io::stderr().lock();
    writeln!(
        stderr,
        "skipped: {}:{}: {python} has no MCP SDK of version 2 (pip install mcp==2.0.0)",
        caller.file(),
        caller.line()
    )
    .expect("standard error can be written");
    None
}

/// Shell that asks with the SDK.
fn asking(repo: &Repo, python: &str, mode: &str, calls: &str) -> String {
    let client = repo.top().join("client.py");
    std::fs::write(&client, CLIENT).expect("it can be written");
    format!(
        "{python} {} {mode} {} '[\"mcp\"]' '{calls}'\n",
        client.display(),
        repo.binary()
    )
}

fn told(repo: &Repo, number: u64) -> Value {
    let text = said(repo, number);
    value(
        text.lines()
            .find(|line| line.starts_with('{'))
            .unwrap_or_else(|| panic!("{text}")),
    )
}

#[test]
fn it_lists_and_calls_the_tools_of_each_role() {
    let Some(python) = interpreter() else { return };
    for (mode, protocol) in [("legacy", "2025-11-25"), ("auto", "2026-07-28")] {
        let repo = with(
            &[("planner", ""), ("implementer", ""), ("reviewer", ""), ("fixer", "")],
            "",
        );
        let ask = |calls: &str| asking(&repo, &python, mode, calls);
        let plan = super::PLANNED;
        becomes(
            &repo,
            "planner",
            &ask(&format!(
                r#"[["read_task", {{}}], ["read_policy", {{}}], ["list_tree", {{}}], ["submit_plan", {{"summary": 1}}], ["submit_plan", {plan}], ["check", {{}}]]"#
            )),
        );
        let implement = ask(
            r#"[["read_task", {}], ["read_step", {}], ["explain_path", {"path": "payments/new.ts"}], ["check", {}], ["report_progress", {"text": "done"}], ["submit_review", {}]]"#,
        );
        becomes(
            &repo,
            "implementer",
            &format!("echo new > payments/new.ts\n{implement}"),
        );
        let review = |review: &str| {
            ask(&format!(
                r#"[["read_task", {{}}], ["read_plan", {{}}], ["read_diff", {{}}], ["read_findings", {{}}], ["submit_review", {review}], ["check", {{}}]]"#
            ))
        };
        becomes(
            &repo,
            "reviewer",
            &format!(
                "if [ -e payments/fix.txt ]; then\n{}else\n{}fi\n",
                review(super::APPROVED),
                review(super::REJECTED)
            ),
        );
        let fix = ask(
            r#"[["read_findings", {}], ["check", {}], ["report_progress", {"text": "mended"}], ["read_task", {}]]"#,
        );
        becomes(&repo, "fixer", &format!("echo fixed > payments/fix.txt\n{fix}"));
        run(&repo).expect(0, &["implementer: done", "fixer: mended"]);

        for (number, tools, failed) in [
            (1, "read_task read_policy list_tree submit_plan needs_human", vec![3]),
            (
                2,
                "read_task read_step explain_path check report_progress needs_human",
                vec![],
            ),
            (
                3,
                "read_task read_plan read_diff read_findings submit_review needs_human",
                vec![],
            ),
            (4, "read_findings check report_progress needs_human", vec![]),
        ] {
            let told = told(&repo, number);
            assert_eq!(told["protocol"], protocol);
            assert_eq!(names(&told).join(" "), tools);
            let calls = told["calls"].as_array().expect("a list");
            // The last one is a tool of another role.
            assert_eq!(calls[calls.len() - 1], -32602, "{told:#}");
            for (index, call) in calls[..calls.len() - 1].iter().enumerate() {
                assert_eq!(call[0], failed.contains(&index), "{index}: {call:#}");
            }
        }
        assert_eq!(of_kind(&repo, "step.answered").len(), 3);
        repo.agentgate(["verify", JOB]).expect(0, &[]);
    }
}

#[test]
fn any_role_asks_for_a_person_by_it() {
    let Some(python) = interpreter() else { return };
    let repo = with(&[("implementer", ""), ("reviewer", roles::APPROVE)], "");
    let ask = asking(
        &repo,
        &python,
        "auto",
        r#"[["needs_human", {"reason": "r", "question": "which?"}]]"#,
    );
    becomes(&repo, "implementer", &ask);
    run(&repo).expect(18, &["which?"]);
}

#[test]
fn a_persons_assistant_uses_it_too() {
    let Some(python) = interpreter() else { return };
    let repo = super::super::support::scene::with_kept();
    let client = repo.top().join("client.py");
    std::fs::write(&client, CLIENT).expect("it can be written");
    for mode in ["legacy", "auto"] {
        let calls = r#"[["status", {}], ["explain", {"what": "payments/pay.ts"}], ["check", {}], ["log", {"id": "j1"}], ["drop", {}]]"#;
        let script = format!(
            "{python} {} {mode} {} '[\"-C\", \"'$PWD'\", \"mcp\", \"--stdio\"]' '{calls}'",
            client.display(),
            repo.binary()
        );
        let outcome = repo
            .program("sh")
            .args(["-c", &script])
            .env_remove("AGENTGATE_MCP")
            .run();
        outcome.expect(0, &[]);
        let told = value(outcome.stdout.trim());
        assert_eq!(names(&told).join(" "), "status explain check log");
        let calls = told["calls"].as_array().expect("a list");
        assert!(calls[..4].iter().all(|call| call[0] == false), "{told:#}");
        assert_eq!(calls[4], -32602);
    }
}

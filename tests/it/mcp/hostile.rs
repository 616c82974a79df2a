//! Clients that are not what they should be: nothing that they send ends the server, and nobody else is served.

use std::fs;

use serde_json::{Value, json};

use super::super::roles::{self, APPROVE, IMPLEMENT, run, with};
use super::super::support::repo::Repo;
use super::super::support::scene::{JOB, agent, at_work, jobs, processes, record};
use super::{APPROVED, asking, becomes, by_id, call, lines, list, names, told, value};

#[test]
fn protocol_errors_are_answered_and_the_conversation_goes_on() {
    let repo = with(&[("implementer", IMPLEMENT), ("reviewer", "")], "");
    let deep = "[".repeat(100_000);
    let garbage = format!(
        "{{\nnull\n[]\n\"x\"\n\u{1}\n{{\"jsonrpc\":\"2.0\",\"id\":10,\"method\":\"resources/list\"}}\n\
         {{\"jsonrpc\":\"1.0\",\"id\":11,\"method\":\"ping\"}}\n{deep}\n{{\"jsonrpc\":\"2.0\",\"id\":12,\"method\":\"tools/call\",\"params\":7}}\n\
         {{\"jsonrpc\":\"2.0\",\"id\":13,\"method\":\"tools/call\",\"params\":{{\"name\":\"rm -rf\"}}}}\n"
    );
    let sent = format!("{garbage}{}", lines(&[call(1, "submit_review", value(APPROVED))]));
    becomes(&repo, "reviewer", &asking(&repo, &sent));
    run(&repo).expect(0, &[]);
    let replies = told(&repo, 2);
    let codes: Vec<i64> = replies
        .iter()
        .filter_map(|reply| reply["error"]["code"].as_i64())
        .collect();
    assert_eq!(
        codes,
        [
            -32700, -32600, -32600, -32600, -32700, -32601, -32600, -32600, -32602, -32602
        ]
    );
    assert_eq!(by_id(&replies, 1)["result"]["isError"], false);
}

#[test]
fn a_message_of_three_megabytes_is_an_error_and_the_next_one_is_read() {
    let repo = Repo::new();
    let script = format!(
        "echo new > payments/new.ts\n\
         {{ printf '{{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"'; head -c 3000000 /dev/zero | tr '\\0' x; echo '\"}}'; echo '{}'; }} | {} mcp\n",
        list(),
        repo.binary()
    );
    agent(&repo, JOB, &[], &script).run().expect(0, &[]);
    let log = fs::read_to_string(record(&repo, JOB).join("agent.log")).expect("it was kept");
    let replies: Vec<Value> = log.lines().map(value).collect();
    assert_eq!(replies.len(), 2, "{log}");
    assert_eq!(replies[0]["error"]["code"], -32600);
    assert_eq!(names(&replies[1])[0], "read_task");
}

#[test]
fn many_clients_that_say_nothing_hold_nothing_up() {
    let repo = Repo::new();
    let script = format!(
        "for i in $(seq 30); do (sleep 600 | {binary} mcp >/dev/null) & done\nsleep 0.5\necho new > payments/new.ts\n",
        binary = repo.binary()
    );
    agent(&repo, JOB, &[], &script).run().expect(0, &[]);
    assert_eq!(processes(&repo, JOB), Vec::<String>::new());
}

#[test]
fn a_process_that_is_not_of_the_job_is_not_served() {
    let repo = Repo::new();
    let running = at_work(&repo, JOB, "");
    let socket = jobs(&repo).join(".jobs").join(JOB).join("task/mcp.sock");
    assert!(socket.exists(), "{}", socket.display());
    let outside = repo
        .command(["mcp"])
        .env("AGENTGATE_MCP", &socket)
        .stdin(lines(&[list()]))
        .run();
    outside.expect(13, &["does not serve this process", "agentgate mcp --stdio"]);
    assert_eq!(outside.stdout, "", "nothing was said to it");
    let mut running = running;
    running.signal(2);
    running.wait().expect(130, &[]);
    assert!(!socket.exists());
}

#[test]
fn whoever_is_in_no_job_is_told_what_to_type() {
    let repo = Repo::new();
    repo.command(["mcp"])
        .env_remove("AGENTGATE_MCP")
        .run()
        .expect(64, &["AGENTGATE_MCP is not set", "agentgate mcp --stdio"]);
    repo.command(["mcp"])
        .env("AGENTGATE_MCP", repo.top().join("gone/mcp.sock"))
        .run()
        .expect(13, &["the call is over", "nobody serves", "gone/mcp.sock"]);
}

#[test]
fn the_path_of_the_socket_may_be_longer_than_the_kernel_takes() {
    let repo = Repo::new();
    let long = repo.clone_as(&"l".repeat(120), &[]);
    let script = format!("echo new > payments/new.ts\n{}", asking(&long, &lines(&[list()])));
    let outcome = agent(&long, JOB, &[], &script).run();
    outcome.expect(0, &[]);
    let record = super::super::support::jobs::value(&outcome, "record");
    let log = fs::read_to_string(format!("{record}/agent.log")).expect("it was kept");
    assert!(log.contains("read_task"), "{log}");
}

#[test]
fn it_is_reached_whatever_holds_the_agent() {
    for options in [
        &["--confinement", "strict"][..],
        &["--confinement", "off"],
        &["--network", "deny-tcp"],
    ] {
        let repo = Repo::new();
        let asks = lines(&[list(), call(2, "check", json!({}))]);
        let script = format!("echo new > payments/new.ts\n{}", asking(&repo, &asks));
        agent(&repo, JOB, options, &script).run().expect(0, &[]);
        let log = fs::read_to_string(record(&repo, JOB).join("agent.log")).expect("it was kept");
        assert!(
            log.contains("explain_path") && log.contains("exit 0"),
            "{options:?}: {log}"
        );
    }
}

#[test]
fn a_storm_of_progress_is_bounded_and_no_line_of_it_steers_a_terminal() {
    let repo = with(&[("implementer", ""), ("reviewer", APPROVE)], "");
    let storm: Vec<Value> = (0..2000)
        .map(|id| {
            call(
                id,
                "report_progress",
                json!({"text": format!("\u{1b}]0;x\u{7} {id} {}", "y".repeat(2000))}),
            )
        })
        .collect();
    becomes(
        &repo,
        "implementer",
        &format!("{IMPLEMENT}\n{}", asking(&repo, &lines(&storm))),
    );
    let outcome = run(&repo);
    outcome.expect(0, &[]);
    assert!(!outcome.stderr.contains('\u{1b}'));
    let outputs = roles::of_kind(&repo, "step.output");
    assert_eq!(outputs.len(), 200);
    let replies = told(&repo, 1);
    assert_eq!(by_id(&replies, 199)["result"]["isError"], false);
    assert_eq!(
        by_id(&replies, 200)["result"]["isError"],
        true,
        "whoever is not heard is told"
    );
    let log = fs::metadata(record(&repo, JOB).join("events.jsonl")).expect("it is there");
    assert!(log.len() < 200_000, "{}", log.len());
}

#[test]
fn what_an_earlier_call_was_told_is_no_input_of_the_next() {
    let script = r#"ls "$(dirname "$AGENTGATE_TASK")" | tr '\n' ' ' | sed 's/^/files: /'; echo"#;
    let review = format!("{script}\n{APPROVE}");
    let repo = with(
        &[("implementer", IMPLEMENT), ("reviewer", &review), ("fixer", "true")],
        "",
    );
    // The gate refuses the first attempt, so that the fixer has findings and the reviewer after it none.
    becomes(
        &repo,
        "implementer",
        &format!("{IMPLEMENT}; echo 'import \"redis\";' > payments/bad.ts"),
    );
    becomes(&repo, "fixer", "rm payments/bad.ts");
    run(&repo).expect(0, &[]);
    let said = roles::said(&repo, 3);
    let files = said.lines().find(|line| line.starts_with("files: ")).expect("a line");
    assert_eq!(
        files, "files: BRIEF.md TASK.md change.patch invariants.yml mcp.sock ",
        "no findings of the gate's"
    );
    assert!(told(&repo, 3).is_empty());
}

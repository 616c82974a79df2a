//! `agentgate mcp --stdio`: a person's assistant, outside of any job.

use serde_json::{Value, json};

use super::super::support::program::Outcome;
use super::super::support::repo::Repo;
use super::super::support::scene::{JOB, with_kept};
use super::{by_id, call, lines, list, names, text, value};

fn ask(repo: &Repo, messages: &[Value]) -> Vec<Value> {
    let outcome: Outcome = repo.command(["mcp", "--stdio"]).stdin(lines(messages)).run();
    outcome.expect(0, &[]);
    outcome.stdout.lines().map(value).collect()
}

#[test]
fn it_offers_what_only_reads() {
    let repo = with_kept();
    repo.write("payments/pay.ts", "import \"redis\";\n");
    let before = repo.git(["for-each-ref"]);
    let replies = ask(
        &repo,
        &[
            json!({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}}}),
            json!({"jsonrpc": "2.0", "method": "notifications/initialized"}),
            list(),
            call(2, "status", json!({})),
            call(3, "explain", json!({"what": "payments/pay.ts"})),
            call(4, "explain", json!({"what": "payments/pay.ts", "import": "redis"})),
            call(5, "check", json!({})),
            call(6, "log", json!({"id": JOB, "since": 2})),
            call(7, "explain", json!({"what": "5"})),
            call(8, "log", json!({"id": "--help"})),
            call(9, "check", json!({"range": "--worktree"})),
            call(10, "land", json!({})),
        ],
    );
    assert_eq!(by_id(&replies, 0)["result"]["protocolVersion"], "2025-06-18");
    assert_eq!(names(by_id(&replies, 1)), ["status", "explain", "check", "log"]);
    assert!(text(by_id(&replies, 2)).contains(JOB));
    assert!(text(by_id(&replies, 3)).contains("areas: payments"));
    assert!(text(by_id(&replies, 4)).contains("forbidden"));
    assert!(text(by_id(&replies, 5)).ends_with("exit 5\n"));
    assert!(text(by_id(&replies, 6)).contains("worktree.added"));
    assert!(text(by_id(&replies, 7)).contains("forbidden"));
    assert!(
        text(by_id(&replies, 8)).ends_with("exit 64\n"),
        "{:#}",
        by_id(&replies, 8)
    );
    assert!(!text(by_id(&replies, 9)).ends_with("exit 0\n"));
    assert_eq!(by_id(&replies, 10)["error"]["code"], -32602);
    assert_eq!(repo.git(["for-each-ref"]), before);
}

#[test]
fn outside_of_a_repository_the_tools_say_so_and_the_server_lives() {
    let repo = Repo::new();
    let outcome = repo
        .command(["mcp", "--stdio"])
        .cwd(repo.top())
        .stdin(lines(&[call(1, "status", json!({})), list()]))
        .run();
    outcome.expect(0, &[]);
    let replies: Vec<Value> = outcome.stdout.lines().map(value).collect();
    let said = text(by_id(&replies, 1));
    assert!(
        said.contains("repository") && said.contains("exit ") && !said.ends_with("exit 0\n"),
        "{said}"
    );
    assert_eq!(names(&replies[1]).len(), 4);
}

use super::*;
use crate::mcp::tools::alone;

struct Echo(Vec<Tool>);

impl Desk for Echo {
    fn tools(&self) -> &[Tool] {
        &self.0
    }
    fn instructions(&self) -> &'static str {
        "what to do"
    }
    fn call(&self, tool: &str, arguments: &str) -> Reply {
        match tool {
            "check" => Reply::Run(vec!["check".into()]),
            "report_progress" => Reply::Failed("no".into()),
            _ => Reply::Text(format!("{tool} {arguments}")),
        }
    }
}

fn hear(session: &mut Session, line: &str) -> Option<Value> {
    let said = session.hear(&Line::Whole(line.as_bytes().to_vec()), &Echo(alone()))?;
    assert!(!said.contains('\n'), "{said}");
    Some(serde_json::from_str(&said).expect("JSON"))
}

fn ask(line: &str) -> Value {
    hear(&mut Session::default(), line).expect("a reply")
}

const META: &str = r#""_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}"#;

#[test]
fn a_handshake_agrees_on_a_revision() {
    for version in HANDSHAKES {
        let line = format!(
            r#"{{"jsonrpc":"2.0","id":1,"method":"initialize","params":{{"protocolVersion":"{version}","capabilities":{{}},"clientInfo":{{"name":"x","version":"1"}}}}}}"#
        );
        let said = ask(&line);
        assert_eq!(said["result"]["protocolVersion"], version);
        assert_eq!(said["result"]["serverInfo"]["name"], "agentgate");
        assert_eq!(said["result"]["resultType"], Value::Null, "not of that revision");
    }
    let newer = ask(r#"{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2031-01-01"}}"#);
    assert_eq!(newer["result"]["protocolVersion"], "2025-11-25");
}

#[test]
fn a_request_that_carries_its_revision_needs_no_handshake() {
    let said = ask(&format!(
        r#"{{"jsonrpc":"2.0","id":"a","method":"server/discover","params":{{{META}}}}}"#
    ));
    assert_eq!(said["id"], "a");
    assert_eq!(said["result"]["supportedVersions"], json!(["2026-07-28"]));
    assert_eq!(said["result"]["resultType"], "complete");
    let said = ask(&format!(
        r#"{{"jsonrpc":"2.0","id":2,"method":"tools/list","params":{{{META}}}}}"#
    ));
    assert_eq!(said["result"]["tools"][0]["name"], "read_task");
    assert_eq!(said["result"]["cacheScope"], "private");
    let said = ask(
        r#"{"jsonrpc":"2.0","id":2,"method":"tools/list","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"2030-01-01"}}}"#,
    );
    assert_eq!(said["error"]["code"], -32022);
    assert_eq!(said["error"]["data"]["requested"], "2030-01-01");
    assert_eq!(said["error"]["data"]["supported"][0], "2026-07-28");
}

#[test]
fn a_tool_gets_its_arguments_as_they_were_sent() {
    let said = ask(
        r#"{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"read_task","arguments":{"a": 1, "a": 2}}}"#,
    );
    assert_eq!(said["result"]["content"][0]["text"], r#"read_task {"a": 1, "a": 2}"#);
    assert_eq!(said["result"]["isError"], false);
    let said = ask(r#"{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"report_progress"}}"#);
    assert_eq!(said["result"]["isError"], true);
}

#[test]
fn what_is_wrong_is_answered_with_its_code() {
    for (line, code, id) in [
        ("{", -32700, Value::Null),
        ("\u{feff}nothing", -32700, Value::Null),
        ("3", -32600, Value::Null),
        ("[]", -32600, Value::Null),
        (r#"[{"jsonrpc":"2.0","id":1,"method":"ping"}]"#, -32600, Value::Null),
        (r#"{"id":1,"method":"ping"}"#, -32600, json!(1)),
        (r#"{"jsonrpc":"1.0","id":1,"method":"ping"}"#, -32600, json!(1)),
        (r#"{"jsonrpc":"2.0","id":null,"method":"ping"}"#, -32600, Value::Null),
        (r#"{"jsonrpc":"2.0","id":1.5,"method":"ping"}"#, -32600, Value::Null),
        (r#"{"jsonrpc":"2.0","id":{},"method":"ping"}"#, -32600, Value::Null),
        (
            r#"{"jsonrpc":"2.0","id":1,"id":2,"method":"ping"}"#,
            -32600,
            Value::Null,
        ),
        (r#"{"jsonrpc":"2.0","id":1}"#, -32600, json!(1)),
        (r#"{"jsonrpc":"2.0","id":1,"method":7}"#, -32600, json!(1)),
        (
            r#"{"jsonrpc":"2.0","id":1,"method":"resources/list"}"#,
            -32601,
            json!(1),
        ),
        (r#"{"jsonrpc":"2.0","id":1,"method":"initialize"}"#, -32602, json!(1)),
        (
            r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":[]}"#,
            -32602,
            json!(1),
        ),
        (
            r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{}}"#,
            -32602,
            json!(1),
        ),
        (
            r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"submit_review"}}"#,
            -32602,
            json!(1),
        ),
    ] {
        let said = ask(line);
        assert_eq!(said["error"]["code"], code, "{line}: {said}");
        assert_eq!(said["id"], id, "{line}");
    }
    let deep = format!(
        r#"{{"jsonrpc":"2.0","id":1,"method":"x","params":{}"#,
        "[".repeat(500_000)
    );
    assert_eq!(ask(&deep)["error"]["code"], -32700);
    let said = Session::default()
        .hear(&Line::TooLong, &Echo(alone()))
        .expect("a reply");
    assert!(said.contains("-32600"), "{said}");
}

#[test]
fn a_notification_is_not_answered() {
    for line in [
        r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#,
        r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":9}}"#,
        r#"{"jsonrpc":"2.0","method":"tools/call","params":{"name":"read_task"}}"#,
        r#"{"jsonrpc":"2.0","id":"agentgate-1","result":{}}"#,
        r#"{"jsonrpc":"2.0","id":5,"error":{"code":1,"message":"x"}}"#,
    ] {
        assert_eq!(hear(&mut Session::default(), line), None, "{line}");
    }
}

#[test]
fn a_command_is_run_by_the_connector_and_the_call_answered_when_it_is_done() {
    let mut session = Session::default();
    let call = r#"{"jsonrpc":"2.0","id":4,"method":"tools/call","params":{"name":"check"}}"#;
    let asked = hear(&mut session, call).expect("a request");
    assert_eq!(asked["method"], RUN);
    assert_eq!(asked["params"]["args"], json!(["check"]));
    let ping = hear(&mut session, r#"{"jsonrpc":"2.0","id":5,"method":"ping"}"#).expect("a reply");
    assert_eq!(ping["result"], json!({}));
    let ran = r#"{"jsonrpc":"2.0","id":"agentgate-1","result":{"exit":5,"text":"broken\n"}}"#;
    let said = hear(&mut session, ran).expect("a reply");
    assert_eq!(said["id"], 4);
    assert_eq!(said["result"]["content"][0]["text"], "broken\nexit 5\n");
    assert_eq!(hear(&mut session, ran), None, "once only");
    // A client without the connector says that it does not know the method.
    hear(&mut session, call);
    let refused = r#"{"jsonrpc":"2.0","id":"agentgate-2","error":{"code":-32601,"message":"what?"}}"#;
    assert_eq!(hear(&mut session, refused).expect("a reply")["result"]["isError"], true);
    // One that was called off is not answered, and a storm of them is bounded.
    hear(&mut session, call);
    hear(
        &mut session,
        r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":4}}"#,
    );
    assert_eq!(
        hear(
            &mut session,
            r#"{"jsonrpc":"2.0","id":"agentgate-3","result":{"exit":0,"text":""}}"#
        ),
        None
    );
    for _ in 0..WAITING {
        assert_eq!(hear(&mut session, call).expect("a request")["method"], RUN);
    }
    assert_eq!(hear(&mut session, call).expect("a reply")["result"]["isError"], true);
}

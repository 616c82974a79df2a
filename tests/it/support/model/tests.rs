//! The server itself, asked by a client that knows nothing but sockets.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::{ModelServer, Script};

/// A connection that nobody waits on for long.
fn connection(server: &ModelServer) -> BufReader<TcpStream> {
    let address = server.url().replace("http://", "");
    let stream = TcpStream::connect(address).expect("it listens");
    stream
        .set_read_timeout(Some(Duration::from_secs(20)))
        .expect("a limit can be set");
    BufReader::new(stream)
}

fn send(connection: &mut BufReader<TcpStream>, target: &str, body: &str) {
    let head = format!(
        "POST {target} HTTP/1.1\r\nHost: here\r\nContent-Length: {}\r\n\r\n",
        body.len()
    );
    connection
        .get_mut()
        .write_all(format!("{head}{body}").as_bytes())
        .expect("it reads");
}

fn line(connection: &mut BufReader<TcpStream>) -> String {
    let mut line = String::new();
    connection.read_line(&mut line).expect("it answers");
    line.trim_end().to_owned()
}

/// Status and body of the next answer, chunks put together.
fn receive(connection: &mut BufReader<TcpStream>) -> (u16, String) {
    let status = line(connection)[9..12].parse().expect("a status");
    let (mut length, mut chunked) = (0, false);
    loop {
        let header = line(connection);
        match header.split_once(": ") {
            None => break,
            Some(("content-length", value)) => length = value.parse().expect("a length"),
            Some(("transfer-encoding", "chunked")) => chunked = true,
            Some(_) => {}
        }
    }
    let mut body = String::new();
    loop {
        let size = match chunked {
            true => usize::from_str_radix(&line(connection), 16).expect("a size"),
            false => length,
        };
        let mut part = vec![0; size];
        connection.read_exact(&mut part).expect("the body");
        body.push_str(std::str::from_utf8(&part).expect("text"));
        if chunked {
            line(connection);
        }
        if !chunked || size == 0 {
            return (status, body);
        }
    }
}

fn ask(connection: &mut BufReader<TcpStream>, target: &str, body: &Value) -> (u16, String) {
    send(connection, target, &body.to_string());
    receive(connection)
}

/// The data of a stream's events.
fn data(stream: &str) -> Vec<Value> {
    let lines = stream.lines().filter_map(|line| line.strip_prefix("data: "));
    lines
        .filter(|data| *data != "[DONE]")
        .map(|data| serde_json::from_str(data).expect("an event is JSON"))
        .collect()
}

fn works() -> Script {
    Script::Works {
        command: "touch a.txt".to_owned(),
        file: "a.txt".to_owned(),
        text: "a\n".to_owned(),
    }
}

fn chat_tool(name: &str) -> Value {
    json!([{ "type": "function", "function": { "name": name } }])
}

#[test]
fn a_shell_is_called_once_and_then_all_is_done() {
    let server = ModelServer::start(works());
    let mut one = connection(&server);
    let target = "/v1/chat/completions";
    let asked = json!({ "model": "m", "tools": chat_tool("run_shell_command"), "messages": [] });
    let (status, body) = ask(&mut one, target, &asked);
    let answer: Value = serde_json::from_str(&body).expect("JSON");
    let call = &answer["choices"][0]["message"]["tool_calls"][0]["function"];
    assert_eq!((status, &answer["model"]), (200, &"m".into()));
    assert_eq!(call["name"], "run_shell_command");
    let arguments: Value = serde_json::from_str(call["arguments"].as_str().expect("a text")).expect("JSON in it");
    assert_eq!(arguments["command"], "touch a.txt");
    // The same connection goes on.
    let results = json!([{ "role": "tool", "tool_call_id": "call_1", "content": "" }]);
    let asked = json!({ "model": "m", "tools": chat_tool("run_shell_command"), "messages": results, "stream": true });
    let (_, stream) = ask(&mut one, target, &asked);
    assert!(stream.ends_with("data: [DONE]\n\n"), "{stream}");
    let events = data(&stream);
    assert_eq!(events[0]["choices"][0]["delta"]["content"], "All is done.");
    assert_eq!(events[1]["choices"][0]["finish_reason"], "stop");
    assert_eq!(events[2]["usage"]["total_tokens"], 40);
    // mini ends with a command.
    let asked = json!({ "tools": chat_tool("bash"), "messages": results });
    let (_, body) = ask(&mut one, target, &asked);
    assert!(body.contains("COMPLETE_TASK_AND_SUBMIT_FINAL_OUTPUT"), "{body}");
    assert_eq!(server.requests().len(), 3);
}

#[test]
fn messages_are_streamed_as_blocks() {
    let server = ModelServer::start(works());
    let mut one = connection(&server);
    let asked =
        json!({ "model": "m", "tools": [{ "name": "Edit" }, { "name": "Bash" }], "messages": [], "stream": true });
    let (_, stream) = ask(&mut one, "/v1/messages?beta=true", &asked);
    assert!(stream.starts_with("event: message_start\ndata: {"), "{stream}");
    let events = data(&stream);
    let kinds: Vec<&str> = events
        .iter()
        .map(|event| event["type"].as_str().expect("a kind"))
        .collect();
    let expected = [
        "message_start",
        "content_block_start",
        "content_block_delta",
        "content_block_stop",
        "message_delta",
        "message_stop",
    ];
    assert_eq!(kinds, expected);
    assert_eq!(events[1]["content_block"]["name"], "Bash");
    let input = events[2]["delta"]["partial_json"].as_str().expect("a text");
    assert!(input.contains("\"command\":\"touch a.txt\""), "{input}");
    assert_eq!(events[4]["delta"]["stop_reason"], "tool_use");
    let results = json!([{ "role": "user", "content": [{ "type": "tool_result", "tool_use_id": "toolu_1" }] }]);
    let asked = json!({ "tools": [{ "name": "Bash" }], "messages": results });
    let (_, body) = ask(&mut one, "/v1/messages", &asked);
    assert!(body.contains("\"stop_reason\":\"end_turn\""), "{body}");
}

#[test]
fn an_agent_that_reads_edits_from_the_text_gets_one() {
    let server = ModelServer::start(works());
    let messages = json!([{ "role": "system", "content": "Use *SEARCH/REPLACE* blocks" }]);
    let (_, body) = ask(
        &mut connection(&server),
        "/chat/completions",
        &json!({ "messages": messages }),
    );
    let answer: Value = serde_json::from_str(&body).expect("JSON");
    assert_eq!(
        answer["choices"][0]["message"]["content"],
        "a.txt\n```\n<<<<<<< SEARCH\n=======\na\n>>>>>>> REPLACE\n```\n"
    );
}

#[test]
fn a_refusal_calls_no_tool_and_a_failing_model_answers_500() {
    let server = ModelServer::start(Script::Refuses);
    let mut one = connection(&server);
    let asked = json!({ "tools": chat_tool("bash"), "messages": [] });
    let (status, body) = ask(&mut one, "/v1/chat/completions", &asked);
    assert_eq!((status, body.contains("tool_calls")), (200, false), "{body}");
    let (_, body) = ask(&mut one, "/v1/messages", &json!({ "tools": [{ "name": "Bash" }] }));
    assert!(body.contains("\"stop_reason\":\"refusal\""), "{body}");
    let server = ModelServer::start(Script::Fails);
    for target in ["/v1/chat/completions", "/v1/messages", "/"] {
        assert_eq!(ask(&mut connection(&server), target, &json!({})).0, 500);
    }
}

#[test]
fn bodies_in_chunks_are_read_and_everything_is_kept() {
    let server = ModelServer::start(works());
    let mut one = connection(&server);
    let request = "POST /v1/models HTTP/1.1\r\nAuthorization: Bearer key-1\r\nTransfer-Encoding: chunked\r\n\r\n\
                   5;x=y\r\nhello\r\n6\r\n world\r\n0\r\nTrailer: t\r\n\r\n";
    one.get_mut().write_all(request.as_bytes()).expect("it reads");
    assert_eq!(receive(&mut one).0, 200);
    let requests = server.requests();
    assert_eq!((requests.len(), requests[0].body.as_str()), (1, "hello world"));
    assert!(server.was_told("key-1") && server.was_told("/v1/models") && !server.was_told("key-2"));
}

#[test]
fn a_hanging_model_says_nothing_and_ends_with_the_test() {
    let server = ModelServer::start(Script::Hangs);
    let mut one = connection(&server);
    send(&mut one, "/v1/messages", "{}");
    one.get_mut()
        .set_read_timeout(Some(Duration::from_millis(300)))
        .expect("a limit can be set");
    assert!(one.read(&mut [0; 1]).is_err(), "nothing comes");
    assert_eq!(server.requests().len(), 1);
    let begun = Instant::now();
    drop(server);
    assert!(begun.elapsed() < Duration::from_secs(10), "{:?}", begun.elapsed());
    one.get_mut()
        .set_read_timeout(Some(Duration::from_secs(20)))
        .expect("a limit can be set");
    assert!(matches!(one.read(&mut [0; 1]), Ok(0) | Err(_)), "it is closed");
}

#[test]
fn more_connections_than_it_serves_are_closed() {
    let server = ModelServer::start(Script::Hangs);
    let mut held: Vec<_> = (0..super::CONNECTIONS).map(|_| connection(&server)).collect();
    for (count, one) in held.iter_mut().enumerate() {
        send(one, "/v1/messages", "{}");
        super::super::jobs::until("the request is read", || server.requests().len() > count);
    }
    let mut more = connection(&server);
    assert!(matches!(more.read(&mut [0; 1]), Ok(0) | Err(_)), "it is closed");
}

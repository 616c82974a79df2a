//! What a model that follows a [`Script`] answers, in the two protocols that the agents speak: chat
//! completions and messages, streamed or whole.

use std::sync::atomic::{AtomicU64, Ordering};

use serde_json::{Value, json};

use super::Script;
use super::http::{Answer, Request};

/// What mini's shell must print for it to end.
const SUBMIT: &str = "echo COMPLETE_TASK_AND_SUBMIT_FINAL_OUTPUT";

const DONE: &str = "All is done.";
const REFUSAL: &str = "I cannot help with that.";

/// Tokens of every question and of every answer: more than none, so that those who compute a price get one.
const TOKENS: u64 = 20;

/// What the model says in one turn.
enum Turn {
    Text(String),
    Refusal,
    /// Name of a tool, and its arguments.
    Call(String, Value),
}

/// The answer; none is no answer at all.
pub fn answer(script: &Script, request: &Request) -> Option<Answer> {
    let body = request.json();
    let path = request.path();
    let is_model = request.method == "POST";
    Some(match script {
        Script::Hangs => return None,
        Script::Fails => Answer::Json(500, fault("api_error", "scripted to fail")),
        _ if is_model && path.ends_with("/chat/completions") => chat(&body, &turn(script, &body, chat_tool)),
        _ if is_model && path.ends_with("/messages") => messages(&body, &turn(script, &body, messages_tool)),
        _ if is_model && path.ends_with("/count_tokens") => Answer::Json(200, json!({ "input_tokens": TOKENS })),
        _ if path.ends_with("/models") => Answer::Json(200, json!({ "object": "list", "data": [] })),
        _ if path == "/" => Answer::Json(200, json!({})),
        _ => Answer::Json(404, fault("not_found_error", "there is nothing here")),
    })
}

fn fault(kind: &str, message: &str) -> Value {
    json!({ "type": "error", "error": { "type": kind, "message": message } })
}

/// An id that no other answer has: agents join what has the same.
fn unique(kind: &str) -> String {
    static COUNT: AtomicU64 = AtomicU64::new(1);
    format!("{kind}_{}", COUNT.fetch_add(1, Ordering::Relaxed))
}

/// What is said next. A request that names no shell is not the agent's own work (a title, a summary),
/// unless the agent reads edits from the text.
fn turn(script: &Script, body: &Value, name: fn(&Value) -> Option<&str>) -> Turn {
    let Script::Works { command, file, text } = script else {
        return Turn::Refusal;
    };
    let tools = body["tools"].as_array().map(Vec::as_slice).unwrap_or_default();
    let shell = tools.iter().filter_map(name).find(|name| arguments(name, "").is_some());
    match shell {
        Some("bash") if has_result(body) => Turn::Call("bash".to_owned(), json!({ "command": SUBMIT })),
        Some(shell) if !has_result(body) => Turn::Call(shell.to_owned(), arguments(shell, command).unwrap_or_default()),
        None if body["messages"].to_string().contains("SEARCH/REPLACE") => Turn::Text(format!(
            "{file}\n```\n<<<<<<< SEARCH\n=======\n{text}>>>>>>> REPLACE\n```\n"
        )),
        _ => Turn::Text(DONE.to_owned()),
    }
}

/// The arguments with which each known shell takes a command.
fn arguments(tool: &str, command: &str) -> Option<Value> {
    match tool {
        "bash" => Some(json!({ "command": command })),
        "Bash" => Some(json!({ "command": command, "description": "Do the work" })),
        "run_shell_command" => {
            Some(json!({ "command": command, "is_background": false, "description": "Do the work" }))
        }
        _ => None,
    }
}

fn chat_tool(tool: &Value) -> Option<&str> {
    tool["function"]["name"].as_str()
}

fn messages_tool(tool: &Value) -> Option<&str> {
    tool["name"].as_str()
}

/// Whether a tool has been run in this conversation.
fn has_result(body: &Value) -> bool {
    let messages = body["messages"].as_array().map(Vec::as_slice).unwrap_or_default();
    messages.iter().any(|message| {
        let blocks = message["content"].as_array().map(Vec::as_slice).unwrap_or_default();
        message["role"] == "tool" || blocks.iter().any(|block| block["type"] == "tool_result")
    })
}

/// Chat completions.
fn chat(body: &Value, turn: &Turn) -> Answer {
    let (message, reason) = match turn {
        Turn::Text(text) => (json!({ "role": "assistant", "content": text }), "stop"),
        Turn::Refusal => (json!({ "role": "assistant", "content": REFUSAL }), "stop"),
        Turn::Call(name, arguments) => {
            let function = json!({ "name": name, "arguments": arguments.to_string() });
            let call = json!({ "id": unique("call"), "type": "function", "function": function });
            let message = json!({ "role": "assistant", "content": null, "tool_calls": [call] });
            (message, "tool_calls")
        }
    };
    let usage = json!({ "prompt_tokens": TOKENS, "completion_tokens": TOKENS, "total_tokens": 2 * TOKENS });
    let id = unique("chatcmpl");
    let made = |object: &str, choices: Value, usage: &Value| {
        json!({
            "id": id, "object": object, "created": 1_700_000_000, "model": body["model"],
            "choices": choices, "usage": usage,
        })
    };
    if body["stream"] != true {
        let choice = json!([{ "index": 0, "message": message, "finish_reason": reason }]);
        return Answer::Json(200, made("chat.completion", choice, &usage));
    }
    let object = "chat.completion.chunk";
    let mut message = message;
    if let Some(call) = message["tool_calls"].get_mut(0) {
        // In a stream, parts of one call are joined by its number.
        call["index"] = 0.into();
    }
    let delta = json!([{ "index": 0, "delta": message, "finish_reason": null }]);
    let end = json!([{ "index": 0, "delta": {}, "finish_reason": reason }]);
    let chunks = [
        made(object, delta, &Value::Null),
        made(object, end, &Value::Null),
        made(object, json!([]), &usage),
    ];
    let events = chunks.iter().map(|chunk| (None, chunk.to_string()));
    Answer::Events(events.chain([(None, "[DONE]".to_owned())]).collect())
}

/// Messages.
fn messages(body: &Value, turn: &Turn) -> Answer {
    let (block, reason) = match turn {
        Turn::Text(text) => (json!({ "type": "text", "text": text }), "end_turn"),
        Turn::Refusal => (json!({ "type": "text", "text": REFUSAL }), "refusal"),
        Turn::Call(name, arguments) => {
            let block = json!({ "type": "tool_use", "id": unique("toolu"), "name": name, "input": arguments });
            (block, "tool_use")
        }
    };
    let id = unique("msg");
    let made = |content: Value, reason: Value| {
        json!({
            "id": id, "type": "message", "role": "assistant", "model": body["model"], "content": content,
            "stop_reason": reason, "stop_sequence": null,
            "usage": { "input_tokens": TOKENS, "output_tokens": TOKENS },
        })
    };
    if body["stream"] != true {
        return Answer::Json(200, made(json!([block]), reason.into()));
    }
    // A block begins empty and is filled by its deltas.
    let mut begun = block.clone();
    let delta = match turn {
        Turn::Call(_, arguments) => {
            begun["input"] = json!({});
            json!({ "type": "input_json_delta", "partial_json": arguments.to_string() })
        }
        _ => {
            begun["text"] = "".into();
            json!({ "type": "text_delta", "text": block["text"] })
        }
    };
    let end = json!({ "stop_reason": reason, "stop_sequence": null });
    let events = [
        ("message_start", json!({ "message": made(json!([]), Value::Null) })),
        ("content_block_start", json!({ "index": 0, "content_block": begun })),
        ("content_block_delta", json!({ "index": 0, "delta": delta })),
        ("content_block_stop", json!({ "index": 0 })),
        (
            "message_delta",
            json!({ "delta": end, "usage": { "output_tokens": TOKENS } }),
        ),
        ("message_stop", json!({})),
    ];
    let named = events.into_iter().map(|(name, mut data)| {
        data["type"] = name.into();
        (Some(name), data.to_string())
    });
    Answer::Events(named.collect())
}

//! One client's conversation: a line in, at most one line out.
//!
//! A session knows nothing between two requests but which of them wait for a command that the connector runs; the
//! tools that it offers are its desk's, and no word of the client's changes them.

use std::collections::HashMap;

use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Value, json};

use super::lines::Line;
use super::message::{
    INVALID_PARAMS, INVALID_REQUEST, METHOD_NOT_FOUND, Message, UNSUPPORTED_VERSION, error, request, result,
};
use super::tools::Tool;
use super::{HANDSHAKES, LONGEST, RUN, STATELESS};

/// How long in milliseconds a client may keep the list of tools: it does not change while a server lives.
const TTL_MS: u64 = 3_600_000;
/// Most calls of one client that may wait for the connector.
const WAITING: usize = 16;

/// What a call of a tool came to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Reply {
    /// The result.
    Text(String),
    /// It could not be done; what to do about it.
    Failed(String),
    /// The connector runs `agentgate` with these arguments, and what that prints is the result.
    Run(Vec<String>),
}

/// What a client is offered.
pub trait Desk {
    /// Its tools, always the same.
    fn tools(&self) -> &[Tool];
    /// What the client's model is told about them.
    fn instructions(&self) -> &str;
    /// Calls one of them. `arguments` is the JSON as sent.
    fn call(&self, tool: &str, arguments: &str) -> Reply;
}

/// A conversation.
#[derive(Debug, Default)]
pub struct Session {
    /// Calls that wait for the connector, by the id of our request to it.
    waiting: HashMap<String, Waiting>,
    asked: u64,
}

#[derive(Debug)]
struct Waiting {
    id: Value,
    stateless: bool,
}

#[derive(Deserialize)]
struct Meta {
    #[serde(rename = "io.modelcontextprotocol/protocolVersion")]
    version: Option<Value>,
}

#[derive(Deserialize)]
struct Common {
    #[serde(rename = "_meta")]
    meta: Option<Meta>,
}

#[derive(Deserialize)]
struct Initialize {
    #[serde(rename = "protocolVersion")]
    version: String,
}

#[derive(Deserialize)]
struct Call {
    name: String,
    arguments: Option<Box<RawValue>>,
}

#[derive(Deserialize)]
struct Cancelled {
    #[serde(rename = "requestId")]
    id: Value,
}

/// What the connector says of a command that it ran.
#[derive(Deserialize)]
struct Ran {
    exit: Option<i32>,
    #[serde(default)]
    text: String,
}

impl Session {
    /// Takes a line and gives the one that answers it.
    pub fn hear(&mut self, line: &Line, desk: &dyn Desk) -> Option<String> {
        let line = match line {
            Line::Whole(line) => line,
            Line::TooLong => {
                let why = format!("a message of more than {LONGEST} bytes");
                return Some(error(&Value::Null, INVALID_REQUEST, &why, None));
            }
        };
        match Message::read(line) {
            Message::Request { id, method, params } => self.answer(&id, &method, params.get(), desk),
            Message::Notification { method, params } => {
                if method == "notifications/cancelled"
                    && let Ok(cancelled) = serde_json::from_str::<Cancelled>(params.get())
                {
                    self.waiting.retain(|_, waiting| waiting.id != cancelled.id);
                }
                None
            }
            Message::Reply { id, result } => self.ran(id.as_str()?, result),
            Message::Wrong(line) => Some(line),
        }
    }

    fn answer(&mut self, id: &Value, method: &str, params: &str, desk: &dyn Desk) -> Option<String> {
        let bad = |why: &str| Some(error(id, INVALID_PARAMS, why, None));
        let common: Common = match serde_json::from_str(params) {
            Ok(common) => common,
            Err(wrong) => {
                return bad(&format!(
                    "the parameters are not an object with a right \"_meta\": {wrong}"
                ));
            }
        };
        let version = common.meta.and_then(|meta| meta.version);
        if let Some(version) = version.as_ref().filter(|version| *version != STATELESS) {
            let spoken: Vec<&str> = [STATELESS].into_iter().chain(HANDSHAKES.into_iter().rev()).collect();
            let data = json!({"supported": spoken, "requested": version});
            return Some(error(
                id,
                UNSUPPORTED_VERSION,
                "Unsupported protocol version",
                Some(data),
            ));
        }
        let stateless = version.is_some();
        let complete = |value: Value| Some(result(id, &dressed(value, stateless)));
        match method {
            "initialize" => {
                let asked: Initialize = match serde_json::from_str(params) {
                    Ok(asked) => asked,
                    Err(wrong) => return bad(&wrong.to_string()),
                };
                let newest = HANDSHAKES[HANDSHAKES.len() - 1];
                let version = HANDSHAKES.into_iter().find(|version| *version == asked.version);
                complete(json!({
                    "protocolVersion": version.unwrap_or(newest),
                    "capabilities": {"tools": {}},
                    "serverInfo": who(),
                    "instructions": desk.instructions(),
                }))
            }
            "server/discover" => complete(json!({
                "supportedVersions": [STATELESS],
                "capabilities": {"tools": {}},
                "instructions": desk.instructions(),
                "ttlMs": TTL_MS,
                "cacheScope": "private",
            })),
            "ping" => complete(json!({})),
            "tools/list" => {
                let mut list = json!({"tools": desk.tools().iter().map(Tool::json).collect::<Vec<_>>()});
                if stateless {
                    list["ttlMs"] = json!(TTL_MS);
                    list["cacheScope"] = json!("private");
                }
                complete(list)
            }
            "tools/call" => {
                let call: Call = match serde_json::from_str(params) {
                    Ok(call) => call,
                    Err(wrong) => return bad(&wrong.to_string()),
                };
                if !desk.tools().iter().any(|tool| tool.name == call.name) {
                    let name: String = call.name.chars().take(100).collect();
                    return bad(&format!("Unknown tool: {name}"));
                }
                let arguments = call.arguments.as_ref().map_or("{}", |arguments| arguments.get());
                match desk.call(&call.name, arguments) {
                    Reply::Text(text) => complete(said(&text, false)),
                    Reply::Failed(why) => complete(said(&why, true)),
                    Reply::Run(_) if self.waiting.len() >= WAITING => {
                        complete(said("too many commands at once: wait for one of them", true))
                    }
                    Reply::Run(args) => {
                        self.asked += 1;
                        let name = format!("agentgate-{}", self.asked);
                        let waiting = Waiting {
                            id: id.clone(),
                            stateless,
                        };
                        self.waiting.insert(name.clone(), waiting);
                        Some(request(&name, RUN, &json!({ "args": args })))
                    }
                }
            }
            _ => {
                let method: String = method.chars().take(100).collect();
                Some(error(
                    id,
                    METHOD_NOT_FOUND,
                    &format!("Method not found: {method}"),
                    None,
                ))
            }
        }
    }

    /// The connector has run a command.
    fn ran(&mut self, name: &str, reply: Option<Value>) -> Option<String> {
        let waiting = self.waiting.remove(name)?;
        let said = match reply.map(serde_json::from_value::<Ran>) {
            Some(Ok(Ran { exit: Some(exit), text })) => said(&format!("{text}exit {exit}\n"), !is_verdict(exit)),
            Some(Ok(Ran { exit: None, text })) => said(&text, true),
            _ => said("this tool needs the connector: agentgate mcp", true),
        };
        Some(result(&waiting.id, &dressed(said, waiting.stateless)))
    }
}

/// Whether this exit code of agentgate's says what was asked: a pass, or a rule that is broken. Any other says that
/// it could not be told.
pub fn is_verdict(exit: i32) -> bool {
    matches!(exit, 0 | 3..=11 | 24)
}

/// The result of a tool.
fn said(text: &str, failed: bool) -> Value {
    json!({"content": [{"type": "text", "text": text}], "isError": failed})
}

/// A result as the revision has it.
fn dressed(mut value: Value, stateless: bool) -> Value {
    if stateless {
        value["resultType"] = json!("complete");
        value["_meta"] = json!({"io.modelcontextprotocol/serverInfo": who()});
    }
    value
}

fn who() -> Value {
    json!({"name": "agentgate", "version": env!("CARGO_PKG_VERSION")})
}

#[cfg(test)]
#[path = "session_tests.rs"]
mod tests;

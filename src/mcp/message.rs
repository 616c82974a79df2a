//! JSON-RPC 2.0: one message a line, in and out.

use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Value, json};

/// JSON-RPC: no JSON.
pub const PARSE_ERROR: i64 = -32700;
/// JSON-RPC: no request.
pub const INVALID_REQUEST: i64 = -32600;
/// JSON-RPC: a method that is not served.
pub const METHOD_NOT_FOUND: i64 = -32601;
/// JSON-RPC: parameters that are not the method's; in MCP also a tool that there is not.
pub const INVALID_PARAMS: i64 = -32602;
/// MCP: the request is of a revision that is not spoken.
pub const UNSUPPORTED_VERSION: i64 = -32022;

/// What a client sent.
#[derive(Debug)]
pub enum Message {
    /// It wants a reply.
    Request {
        /// A string or an integer.
        id: Value,
        /// Such as `tools/call`.
        method: String,
        /// As sent, or `{}`.
        params: Box<RawValue>,
    },
    /// It wants none.
    Notification {
        /// Such as `notifications/cancelled`.
        method: String,
        /// As sent, or `{}`.
        params: Box<RawValue>,
    },
    /// The reply to a request of ours; `None` for an error.
    Reply {
        /// Of our request.
        id: Value,
        /// Its result.
        result: Option<Value>,
    },
    /// It is none: the line that says so.
    Wrong(String),
}

#[derive(Deserialize)]
struct Wire {
    jsonrpc: Option<Value>,
    #[serde(default, deserialize_with = "present")]
    id: Option<Value>,
    method: Option<Value>,
    params: Option<Box<RawValue>>,
    #[serde(default, deserialize_with = "present")]
    result: Option<Value>,
    error: Option<Value>,
}

/// `null` is a value here, not an absence.
fn present<'de, D: serde::Deserializer<'de>>(from: D) -> Result<Option<Value>, D::Error> {
    Value::deserialize(from).map(Some)
}

impl Message {
    /// Reads a line.
    pub fn read(line: &[u8]) -> Message {
        let wrong = |id: &Value, code, why: &str| Message::Wrong(error(id, code, why, None));
        let none = Value::Null;
        let Ok(text) = std::str::from_utf8(line) else {
            return wrong(&none, PARSE_ERROR, "not UTF-8");
        };
        let text = text.trim();
        if text.starts_with('[') {
            return wrong(&none, INVALID_REQUEST, "one message a line: a batch is not taken");
        }
        let wire: Wire = match serde_json::from_str(text) {
            Ok(wire) => wire,
            Err(error) if error.is_data() => {
                return wrong(&none, INVALID_REQUEST, &format!("no JSON-RPC message: {error}"));
            }
            Err(error) => return wrong(&none, PARSE_ERROR, &format!("not JSON: {error}")),
        };
        let id_is_good = |id: &Value| id.is_string() || id.is_i64() || id.is_u64();
        let echoed = wire.id.clone().filter(id_is_good).unwrap_or_default();
        if wire.jsonrpc != Some(json!("2.0")) {
            return wrong(&echoed, INVALID_REQUEST, "\"jsonrpc\" is not \"2.0\"");
        }
        let params = wire.params.unwrap_or_else(|| {
            #[expect(clippy::unwrap_used, reason = "a constant")]
            RawValue::from_string("{}".to_owned()).unwrap()
        });
        match (wire.method, wire.id) {
            (Some(Value::String(method)), None) => Message::Notification { method, params },
            (Some(Value::String(method)), Some(id)) if id_is_good(&id) => Message::Request { id, method, params },
            (Some(Value::String(_)), Some(_)) => {
                wrong(&none, INVALID_REQUEST, "\"id\" is neither a string nor an integer")
            }
            (None, Some(id)) if wire.result.is_some() || wire.error.is_some() => Message::Reply {
                id,
                result: wire.result,
            },
            _ => wrong(&echoed, INVALID_REQUEST, "no \"method\""),
        }
    }
}

/// The line of an error.
pub fn error(id: &Value, code: i64, message: &str, data: Option<Value>) -> String {
    let mut error = json!({"code": code, "message": message});
    if let Some(data) = data {
        error["data"] = data;
    }
    json!({"jsonrpc": "2.0", "id": id, "error": error}).to_string()
}

/// The line of a result.
pub fn result(id: &Value, result: &Value) -> String {
    json!({"jsonrpc": "2.0", "id": id, "result": result}).to_string()
}

/// The line of a request of ours.
pub fn request(id: &str, method: &str, params: &Value) -> String {
    json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params}).to_string()
}

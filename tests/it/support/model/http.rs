//! As much of HTTP/1.1 as clients of models speak: bodies with a length or in chunks, connections that
//! stay open, answers whole or as a stream of events.

use std::io::{self, BufRead, Read, Write};

use serde_json::Value;

/// A line of a request, in bytes.
const LINE: u64 = 64 << 10;

/// Lines of a request's head.
const HEADERS: usize = 200;

/// A request's body, in bytes.
const BODY: u64 = 16 << 20;

/// What a client asked.
#[derive(Clone, Debug)]
pub struct Request {
    pub method: String,
    /// Path and query, as sent.
    pub target: String,
    /// Names in lower case.
    pub headers: Vec<(String, String)>,
    pub body: String,
}

impl Request {
    /// Whether this text stands anywhere in it.
    pub fn contains(&self, text: &str) -> bool {
        let in_headers = || self.headers.iter().any(|(_, value)| value.contains(text));
        self.target.contains(text) || self.body.contains(text) || in_headers()
    }

    /// The path without the query.
    pub fn path(&self) -> &str {
        self.target.split('?').next().unwrap_or_default()
    }

    /// The body; null where it is not JSON.
    pub fn json(&self) -> Value {
        serde_json::from_str(&self.body).unwrap_or_default()
    }

    pub(super) fn keeps_open(&self) -> bool {
        !self
            .header("connection")
            .is_some_and(|value| value.eq_ignore_ascii_case("close"))
    }

    fn header(&self, name: &str) -> Option<&str> {
        let mut found = self.headers.iter().filter(|(given, _)| given == name);
        found.next().map(|(_, value)| value.as_str())
    }
}

/// What is answered.
#[derive(Clone, Debug)]
pub enum Answer {
    /// Status and a body with its length.
    Json(u16, Value),
    /// Status 200 and events, one chunk each: name (or none) and data.
    Events(Vec<(Option<&'static str>, String)>),
}

/// The next request of a connection; none where the client has closed it.
pub fn read(reader: &mut impl BufRead, writer: &mut impl Write) -> io::Result<Option<Request>> {
    let first = line(reader)?;
    if first.is_empty() {
        return Ok(None);
    }
    let mut words = first.split_whitespace().map(str::to_owned);
    let (Some(method), Some(target), Some(_)) = (words.next(), words.next(), words.next()) else {
        return Err(bad("no request line"));
    };
    let mut request = Request {
        method,
        target,
        headers: Vec::new(),
        body: String::new(),
    };
    loop {
        let text = line(reader)?;
        if text.trim_end().is_empty() {
            break;
        }
        let (name, value) = text.split_once(':').ok_or_else(|| bad("no header"))?;
        request
            .headers
            .push((name.to_ascii_lowercase(), value.trim().to_owned()));
        if request.headers.len() > HEADERS {
            return Err(bad("too many headers"));
        }
    }
    if request.header("expect").is_some() {
        writer.write_all(b"HTTP/1.1 100 Continue\r\n\r\n")?;
    }
    let mut body = Vec::new();
    if request
        .header("transfer-encoding")
        .is_some_and(|value| value.eq_ignore_ascii_case("chunked"))
    {
        chunks(reader, &mut body)?;
    } else if let Some(length) = request.header("content-length") {
        let length = length.parse().map_err(|_| bad("no length"))?;
        exactly(reader, length, &mut body)?;
    }
    request.body = String::from_utf8_lossy(&body).into_owned();
    Ok(Some(request))
}

/// Sends an answer; for HEAD without its body.
pub fn write(writer: &mut impl Write, answer: &Answer, head_only: bool) -> io::Result<()> {
    match answer {
        Answer::Json(status, value) => {
            let body = value.to_string();
            let reason = if *status == 200 { "OK" } else { "Error" };
            let body_sent = if head_only { "" } else { &body };
            write!(
                writer,
                "HTTP/1.1 {status} {reason}\r\ncontent-type: application/json\r\ncontent-length: {}\r\n\r\n{body_sent}",
                body.len()
            )?;
        }
        Answer::Events(events) => {
            writer.write_all(
                b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ncache-control: no-cache\r\n\
                  transfer-encoding: chunked\r\n\r\n",
            )?;
            for (name, data) in events {
                let name = name.map_or(String::new(), |name| format!("event: {name}\n"));
                let event = format!("{name}data: {data}\n\n");
                write!(writer, "{:x}\r\n{event}\r\n", event.len())?;
                writer.flush()?;
            }
            writer.write_all(b"0\r\n\r\n")?;
        }
    }
    writer.flush()
}

fn line(reader: &mut impl BufRead) -> io::Result<String> {
    let mut text = String::new();
    reader.take(LINE).read_line(&mut text)?;
    match text.len() as u64 == LINE {
        true => Err(bad("a line is too long")),
        false => Ok(text),
    }
}

fn chunks(reader: &mut impl BufRead, body: &mut Vec<u8>) -> io::Result<()> {
    loop {
        let text = line(reader)?;
        let size = text.split(';').next().unwrap_or_default().trim();
        let size = u64::from_str_radix(size, 16).map_err(|_| bad("no chunk"))?;
        if size == 0 {
            // Trailers end with an empty line.
            while !line(reader)?.trim_end().is_empty() {}
            return Ok(());
        }
        exactly(reader, size, body)?;
        line(reader)?;
    }
}

fn exactly(reader: &mut impl BufRead, length: u64, body: &mut Vec<u8>) -> io::Result<()> {
    if body.len() as u64 + length > BODY {
        return Err(bad("the body is too long"));
    }
    let read = reader.take(length).read_to_end(body)?;
    match read as u64 == length {
        true => Ok(()),
        false => Err(io::ErrorKind::UnexpectedEof.into()),
    }
}

fn bad(why: &str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, why)
}

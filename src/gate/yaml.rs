//! The only door to YAML: a strict reader that keeps positions.
//!
//! Invariant: what the reader returns is a plain tree of text, whole numbers, booleans, lists and
//! maps with unique text keys; whatever two YAML programs could read differently (aliases,
//! anchors, tags, merge keys, directives, further documents, folded lines, `yes`, `0x10`, nulls,
//! hidden characters) is an error at its place.
//!
//! It is built on the event stream of the parser under serde-saphyr, not on its serde layer: only
//! the events tell a quoted `"123"` from a plain `123` and carry the place of tags and anchors.

mod source;
#[cfg(test)]
mod tests;

use serde_yaml::granit_parser::{self, ErrorKind, Event, Parser, ScalarStyle, Span};

pub use source::{At, Source, nearest};

/// Upper limit of a file in bytes.
pub const MAX_BYTES: usize = 1024 * 1024;
/// Upper limit of nested lists and maps; what is documented needs three.
const MAX_DEPTH: usize = 16;

/// A value with its place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Node {
    /// Where it begins.
    pub at: At,
    /// What it is.
    pub value: Value,
}

/// What a value is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Value {
    /// Quoted, or plain and read as text by every YAML program.
    Text(String),
    /// A plain decimal number.
    Int(i64),
    /// Plain `true` or `false`.
    Bool(bool),
    /// Plain and, to some YAML program, no text: `yes`, `1.0`, `1e3`, `0x10`. As written.
    Odd(String),
    /// `[a, b]` or `- a`.
    List(Vec<Node>),
    /// `a: b`, in the order of the file.
    Map(Vec<Entry>),
}

/// One key of a map with its value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    /// The key; unique in its map.
    pub key: String,
    /// Where the key begins.
    pub at: At,
    /// The value; never null.
    pub value: Node,
}

/// Reads the bytes of one file, which holds nothing or one map. `name` is what errors call the
/// file. Errors: `name:LINE:COLUMN: message`, the line with a caret, and a `hint:` line.
pub fn read<'a>(name: &'a str, bytes: &'a [u8]) -> Result<(Source<'a>, Vec<Entry>), String> {
    if bytes.len() > MAX_BYTES {
        return Err(format!(
            "{name}: {} bytes, more than the limit of {MAX_BYTES}",
            bytes.len()
        ));
    }
    let source = Source::new(name, bytes)?;
    let mut options = granit_parser::options! {
        strict_indentation: true,
        disallow_directives: true,
        emit_unresolved_aliases: true,
        emit_anchor_events: true,
    };
    options.set_emit_comments(false);
    let mut reader = Reader {
        source,
        events: Parser::new_from_str_with_options(source.text(), options),
    };
    let entries = reader.document()?;
    Ok((source, entries))
}

struct Reader<'a> {
    source: Source<'a>,
    events: Parser<'a, granit_parser::StrInput<'a>>,
}

impl<'a> Reader<'a> {
    /// The next event after the start of the stream.
    fn next(&mut self) -> Result<(Event<'a>, Span), String> {
        loop {
            match self.events.next() {
                None => return Err(format!("{}: the file ends too early", self.source.name())),
                Some(Ok((Event::StreamStart, _))) => {}
                Some(Ok(next)) => return Ok(next),
                Some(Err(error)) => {
                    let at = At::new(error.marker(), error.marker());
                    let hint = match error.kind() {
                        ErrorKind::DirectiveDisallowed => "remove the line that begins with `%`",
                        _ => "",
                    };
                    return Err(self
                        .source
                        .fault(at, &format!("not valid YAML: {}", error.info()), hint));
                }
            }
        }
    }

    fn document(&mut self) -> Result<Vec<Entry>, String> {
        match self.next()? {
            (Event::StreamEnd, _) => return Ok(Vec::new()),
            (Event::DocumentStart(..), _) => {}
            (_, span) => return Err(self.unexpected(&span)),
        }
        let (event, span) = self.next()?;
        let entries = match &event {
            Event::Scalar(text, ScalarStyle::Plain, 0, None) if text.is_empty() => Vec::new(),
            _ => match self.node(event, span, 0)? {
                Node {
                    value: Value::Map(entries),
                    ..
                } => entries,
                Node { at, value } => {
                    let message = format!("the file must be a map of keys, not {}", value.kind());
                    return Err(self.source.fault(at, &message, "begin with `version: 1`"));
                }
            },
        };
        match self.next()? {
            (Event::DocumentEnd, _) => {}
            (_, span) => return Err(self.unexpected(&span)),
        }
        match self.next()? {
            (Event::StreamEnd, _) => Ok(entries),
            (_, span) => Err(self
                .source
                .fault(At::of(&span), "a second document", "keep one document in the file")),
        }
    }

    fn node(&mut self, event: Event<'a>, span: Span, depth: usize) -> Result<Node, String> {
        let at = At::of(&span);
        if depth > MAX_DEPTH {
            return Err(self.source.fault(at, &format!("nested more than {MAX_DEPTH} deep"), ""));
        }
        self.plain_syntax(&event, &span)?;
        let value = match event {
            Event::Scalar(text, style, ..) => self.scalar(&text, style, &span)?,
            Event::SequenceStart(..) => {
                let mut items = Vec::new();
                loop {
                    match self.next()? {
                        (Event::SequenceEnd, _) => break Value::List(items),
                        (event, span) => items.push(self.node(event, span, depth + 1)?),
                    }
                }
            }
            Event::MappingStart(..) => Value::Map(self.entries(depth)?),
            _ => return Err(self.unexpected(&span)),
        };
        Ok(Node { at, value })
    }

    fn entries(&mut self, depth: usize) -> Result<Vec<Entry>, String> {
        let mut entries = Vec::new();
        let mut seen = std::collections::HashMap::new();
        loop {
            let (event, span) = self.next()?;
            if matches!(event, Event::MappingEnd) {
                return Ok(entries);
            }
            let (key, at) = self.key(event, span)?;
            if let Some(line) = seen.insert(key.clone(), at.line) {
                let message = format!("duplicate key `{}`, first on line {line}", key.escape_debug());
                return Err(self.source.fault(at, &message, "keep one of the two, or join them"));
            }
            let (event, span) = self.next()?;
            if let Event::Scalar(text, ScalarStyle::Plain, 0, None) = &event
                && is_null(text)
            {
                let message = format!("`{}` has no value", key.escape_debug());
                return Err(self.source.fault(at, &message, "give it a value or remove the key"));
            }
            let value = self.node(event, span, depth + 1)?;
            entries.push(Entry { key, at, value });
        }
    }

    fn key(&mut self, event: Event<'a>, span: Span) -> Result<(String, At), String> {
        let at = At::of(&span);
        self.plain_syntax(&event, &span)?;
        let Event::Scalar(text, style, ..) = event else {
            return Err(self.source.fault(at, "a key must be text, not a list or a map", ""));
        };
        if style == ScalarStyle::Plain && text == "<<" {
            return Err(self.source.fault(at, "a merge key `<<`", "write the keys out"));
        }
        if style == ScalarStyle::Plain && is_null(&text) {
            return Err(self.source.fault(at, "a key is null", "give it a name"));
        }
        match self.scalar(&text, style, &span)? {
            Value::Text(key) => Ok((key, at)),
            other => {
                let message = format!("a key must be text, and `{text}` is {}", other.kind());
                Err(self
                    .source
                    .fault(at, &message, &format!("write it in quotes: \"{text}\"")))
            }
        }
    }

    /// Refuses what has a meaning beyond its own text: aliases, anchors and tags.
    fn plain_syntax(&mut self, event: &Event<'a>, span: &Span) -> Result<(), String> {
        let (anchor, tag) = match event {
            Event::Alias(..) | Event::UnresolvedAlias(..) => {
                return Err(self.source.fault(At::of(span), "an alias", "write the value out"));
            }
            Event::Scalar(_, _, anchor, tag) => (*anchor, tag),
            Event::SequenceStart(_, anchor, tag) | Event::MappingStart(_, anchor, tag) => (*anchor, tag),
            _ => return Ok(()),
        };
        if tag.is_some() {
            let at = span.tag_span().map_or(At::of(span), |span| At::of(&span));
            return Err(self.source.fault(at, "a tag", "remove it; text is written in quotes"));
        }
        if anchor != 0 {
            let at = match self.next()? {
                (Event::Anchor(..), span) => At::of(&span),
                _ => At::of(span),
            };
            return Err(self
                .source
                .fault(at, "an anchor", "remove it and write the value out where it is needed"));
        }
        Ok(())
    }

    fn scalar(&self, text: &str, style: ScalarStyle, span: &Span) -> Result<Value, String> {
        let at = At::of(span);
        if matches!(style, ScalarStyle::Literal | ScalarStyle::Folded) || span.start.line() != span.end.line() {
            return Err(self
                .source
                .fault(at, "a value over several lines", "write it on one line"));
        }
        if text.contains('\0') {
            return Err(self.source.fault(at, "a NUL character", "remove it"));
        }
        if style != ScalarStyle::Plain {
            return Ok(Value::Text(text.to_owned()));
        }
        if is_null(text) {
            return Err(self
                .source
                .fault(at, "an empty value (null)", "remove it, or write it in quotes"));
        }
        Ok(plain(text))
    }

    fn unexpected(&self, span: &Span) -> String {
        self.source
            .fault(At::of(span), "not valid YAML: something else was expected here", "")
    }
}

impl Value {
    /// What it is, in words, for messages.
    pub fn kind(&self) -> &'static str {
        match self {
            Value::Text(_) => "text",
            Value::Int(_) => "a number",
            Value::Bool(_) => "a boolean",
            Value::Odd(text) if text.starts_with(|c: char| c.is_ascii_alphabetic()) => "a boolean",
            Value::Odd(_) => "a number",
            Value::List(_) => "a list",
            Value::Map(_) => "a map",
        }
    }
}

fn is_null(plain: &str) -> bool {
    plain.is_empty() || plain == "~" || plain.eq_ignore_ascii_case("null")
}

/// What a plain scalar is. The lists are those of YAML 1.1 and 1.2 together.
fn plain(text: &str) -> Value {
    match text {
        "true" => return Value::Bool(true),
        "false" => return Value::Bool(false),
        _ => {}
    }
    let lower = text.to_ascii_lowercase();
    if matches!(lower.as_str(), "true" | "false" | "yes" | "no" | "on" | "off") || is_number(&lower) {
        return match text.parse() {
            Ok(int) if text == "0" || !text.trim_start_matches('-').starts_with(['0', '+']) => Value::Int(int),
            _ => Value::Odd(text.to_owned()),
        };
    }
    Value::Text(text.to_owned())
}

/// Decimal, `0x`, `0o`, `0b`, with `_` between digits, base 60 (`1:30`), floats, `.inf`, `.nan`.
fn is_number(lower: &str) -> bool {
    let text = lower.strip_prefix(['+', '-']).unwrap_or(lower).replace('_', "");
    if matches!(text.as_str(), ".inf" | ".nan") {
        return true;
    }
    if !text.starts_with(|c: char| c.is_ascii_digit() || c == '.') {
        return false;
    }
    let digits = |prefix: &str, radix: u32| {
        text.strip_prefix(prefix)
            .is_some_and(|rest| !rest.is_empty() && rest.chars().all(|c| c.is_digit(radix)))
    };
    let base60 = text.contains(':') && text.split(':').all(|part| part.parse::<f64>().is_ok());
    text.parse::<f64>().is_ok() || digits("0x", 16) || digits("0o", 8) || digits("0b", 2) || base60
}

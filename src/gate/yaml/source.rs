//! The text of a YAML file: error messages with snippets, and typed access to its values.

use std::collections::HashMap;

use serde_yaml::granit_parser::{Marker, Span};

use super::{Entry, Node, Value};

/// A place in a file. Lines and columns are 1-based; columns count characters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct At {
    /// Line.
    pub line: usize,
    /// Column.
    pub column: usize,
    /// Characters to underline, at least 1.
    pub width: usize,
}

impl At {
    pub(super) fn of(span: &Span) -> At {
        At::new(&span.start, &span.end)
    }

    pub(super) fn new(start: &Marker, end: &Marker) -> At {
        let width = match start.line() == end.line() {
            true => end.col().saturating_sub(start.col()).max(1),
            false => 1,
        };
        At {
            line: start.line().max(1),
            column: start.col() + 1,
            width,
        }
    }
}

/// A file's name and text.
#[derive(Clone, Copy, Debug)]
pub struct Source<'a> {
    name: &'a str,
    text: &'a str,
}

impl<'a> Source<'a> {
    /// Refuses bytes that are no text, and characters that hide what the file says: control
    /// characters, a lone carriage return (a line break to YAML, none to most editors),
    /// bidirectional controls and Unicode line separators.
    pub(super) fn new(name: &'a str, bytes: &'a [u8]) -> Result<Source<'a>, String> {
        let (text, bad) = match std::str::from_utf8(bytes) {
            Ok(text) => (text, false),
            Err(error) => (
                std::str::from_utf8(&bytes[..error.valid_up_to()]).unwrap_or_default(),
                true,
            ),
        };
        let source = Source { name, text };
        let mut chars = text.char_indices().peekable();
        while let Some((index, c)) = chars.next() {
            let hidden = match c {
                '\n' | '\t' => false,
                '\r' => chars.peek().is_none_or(|&(_, next)| next != '\n'),
                '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{2028}' | '\u{2029}' => true,
                _ => c.is_control(),
            };
            if hidden {
                let message = match c {
                    '\0' => "a NUL byte".to_owned(),
                    '\r' => "a carriage return without a line feed".to_owned(),
                    _ => format!("a hidden character, U+{:04X}", c as u32),
                };
                return Err(source.fault(source.at(index), &message, "remove it"));
            }
        }
        match bad {
            true => Err(source.fault(source.at(text.len()), "not UTF-8", "save the file as UTF-8")),
            false => Ok(source),
        }
    }

    /// What messages call the file.
    pub fn name(&self) -> &'a str {
        self.name
    }

    pub(super) fn text(&self) -> &'a str {
        self.text
    }

    fn at(&self, index: usize) -> At {
        let before = &self.text[..index];
        let line_start = before.rfind('\n').map_or(0, |at| at + 1);
        At {
            line: before.matches('\n').count() + 1,
            column: before[line_start..].chars().filter(|&c| c != '\u{feff}').count() + 1,
            width: 1,
        }
    }

    /// An error: `name:LINE:COLUMN: message`, the line with carets under the place, and a `hint:`
    /// line unless the hint is empty.
    pub fn fault(&self, at: At, message: &str, hint: &str) -> String {
        let line = self.text.split('\n').nth(at.line - 1).unwrap_or_default();
        let line: Vec<char> = line
            .trim_start_matches('\u{feff}')
            .trim_end_matches('\r')
            .chars()
            .collect();
        // Of a long line only the neighbourhood is shown.
        let skip = if at.column > 80 { at.column - 40 } else { 0 };
        let shown: String = line.iter().skip(skip).take(120).map(|&c| visible(c)).collect();
        let width = at.width.min((line.len() + 1).saturating_sub(at.column)).clamp(1, 60);
        let gutter = at.line.to_string();
        let hint = if hint.is_empty() {
            String::new()
        } else {
            format!("\nhint: {hint}")
        };
        format!(
            "{}:{}:{}: {message}\n {gutter} | {}\n {} | {}{}{hint}",
            self.name,
            at.line,
            at.column,
            shown.trim_end(),
            " ".repeat(gutter.len()),
            " ".repeat(at.column - 1 - skip),
            "^".repeat(width),
        )
    }

    /// Text, without the numbers and booleans that look like it.
    pub fn string<'n>(&self, node: &'n Node, what: &str) -> Result<&'n str, String> {
        let written = match &node.value {
            Value::Text(text) => return Ok(text),
            Value::Int(int) => int.to_string(),
            Value::Bool(bool) => bool.to_string(),
            Value::Odd(text) => text.clone(),
            Value::List(_) | Value::Map(_) => {
                return Err(self.fault(node.at, &format!("{what} must be text, not {}", node.value.kind()), ""));
            }
        };
        let message = format!("{what} must be text, and `{written}` is {}", node.value.kind());
        Err(self.fault(node.at, &message, &format!("write it in quotes: \"{written}\"")))
    }

    /// A list with at least one item.
    pub fn list<'n>(&self, node: &'n Node, key: &str) -> Result<&'n [Node], String> {
        match &node.value {
            Value::List(items) if items.is_empty() => {
                let hint = "list what is meant, or remove the key";
                Err(self.fault(node.at, &format!("`{key}` is an empty list"), hint))
            }
            Value::List(items) => Ok(items),
            other => {
                let hint = match other {
                    Value::Text(text) => format!(
                        "write `[{}]`",
                        text.split([' ', ','])
                            .filter(|part| !part.is_empty())
                            .collect::<Vec<_>>()
                            .join(", ")
                    ),
                    _ => String::new(),
                };
                Err(self.fault(node.at, &format!("`{key}` must be a list, not {}", other.kind()), &hint))
            }
        }
    }

    /// A list of at least one text, none of them twice.
    pub fn strings<'n>(&self, node: &'n Node, key: &str) -> Result<Vec<(&'n str, At)>, String> {
        let mut seen = HashMap::new();
        let mut texts = Vec::new();
        for (index, item) in self.list(node, key)?.iter().enumerate() {
            let text = self.string(item, &format!("`{key}[{index}]`"))?;
            if let Some(first) = seen.insert(text, index) {
                let message = format!("`{}` stands twice in `{key}`", text.escape_debug());
                return Err(self.fault(item.at, &message, &format!("it is `{key}[{first}]` already")));
            }
            texts.push((text, item.at));
        }
        Ok(texts)
    }

    /// A map with at least one key.
    pub fn map<'n>(&self, node: &'n Node, key: &str) -> Result<&'n [Entry], String> {
        match &node.value {
            Value::Map(entries) if entries.is_empty() => {
                Err(self.fault(node.at, &format!("`{key}` is empty"), "give it a key or remove it"))
            }
            Value::Map(entries) => Ok(entries),
            other => Err(self.fault(node.at, &format!("`{key}` must be a map, not {}", other.kind()), "")),
        }
    }

    /// A whole number from 0 to `u32::MAX`.
    pub fn number(&self, node: &Node, key: &str) -> Result<u32, String> {
        self.number_from(0, node, key)
    }

    /// The same where the smallest one that makes sense is this; who asks looks for smaller ones.
    pub fn number_from(&self, least: u32, node: &Node, key: &str) -> Result<u32, String> {
        let wrong = |what: &str| {
            let message = format!(
                "`{key}` must be a whole number from {least} to {}, not {what}",
                u32::MAX
            );
            Err(self.fault(node.at, &message, ""))
        };
        match &node.value {
            Value::Int(int) => u32::try_from(*int).or_else(|_| wrong(&int.to_string())),
            Value::Odd(text) => wrong(text),
            other => wrong(other.kind()),
        }
    }

    /// One of the given words.
    pub fn choice<'w>(&self, node: &Node, key: &str, words: &[&'w str]) -> Result<&'w str, String> {
        // Quotes would not help here, so a number or boolean gets the list of words instead.
        let written = match &node.value {
            Value::Int(int) => int.to_string(),
            Value::Bool(bool) => bool.to_string(),
            Value::Odd(text) => text.clone(),
            _ => self.string(node, &format!("`{key}`"))?.to_owned(),
        };
        let text = written.as_str();
        if let Some(word) = words.iter().find(|word| **word == text) {
            return Ok(word);
        }
        let message = format!("`{key}` cannot be `{}`", text.escape_debug());
        let hint = match nearest(text, words) {
            Some(word) => format!("did you mean `{word}`?"),
            None => format!("one of: {}", words.join(", ")),
        };
        Err(self.fault(node.at, &message, &hint))
    }
}

/// Tabs and what cannot be seen as one column each, so that the caret stands right.
fn visible(c: char) -> char {
    match c {
        '\t' => ' ',
        '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{2028}' | '\u{2029}' => '\u{fffd}',
        c if c.is_control() => '\u{fffd}',
        c => c,
    }
}

/// The word that was probably meant, if one is near: letters in another case, `-` for `_`, or up
/// to a third of the letters (at most three) mistyped.
pub fn nearest<'w>(text: &str, words: &[&'w str]) -> Option<&'w str> {
    let plain = |text: &str| text.to_lowercase().replace(['-', ' '], "_");
    let text = plain(text);
    words
        .iter()
        .map(|word| (strsim::damerau_levenshtein(&text, &plain(word)), *word))
        .filter(|&(distance, word)| distance <= (word.chars().count() / 3).clamp(1, 3))
        .min_by_key(|&(distance, _)| distance)
        .map(|(_, word)| word)
}

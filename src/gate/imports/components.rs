//! Vue and Svelte components: the script blocks are JavaScript or TypeScript, the rest is markup.
//!
//! Invariant: no markup can hide a script block. Every `<script` counts wherever it stands, but in
//! a comment of which it is certain that the compiler takes it for one too. It is certain as long as
//! nothing came before it in which `<!--` may be mere text: an expression in braces, an element
//! whose content is text, a block of Vue's that is no template.
//!
//! In the markup only `import("x")` and `require("x")` count; anything else cannot stand there. In a
//! `<template>` the text of elements and of plain attributes is prose, as long as it is certain that it is:
//! no braces came before it but such as hold nothing that could hide their end.

use super::ImportKind;
use super::identity;
use super::javascript_readings::{self, Dialect};
use super::source::{Fault, Found};

/// Elements whose content is text for an HTML parser, so that `<!--` in it begins no comment.
const TEXT_ELEMENTS: &[&[u8]] = &[
    b"textarea",
    b"title",
    b"xmp",
    b"iframe",
    b"noembed",
    b"noframes",
    b"noscript",
    b"plaintext",
    b"svg",
    b"math",
];

/// Every import of the component.
pub fn scan(source: &[u8]) -> Result<Vec<Found>, Fault> {
    let mut reader = Reader {
        source,
        at: 0,
        templates: 0,
        trusts_comments: true,
        trusts_prose: true,
        code_end: 0,
        unquoted_end: 0,
        script: (usize::MAX, 0),
        found: Vec::new(),
    };
    reader.run()?;
    // Code that is loaded under such a name, and no component: node reads all of it.
    if !begins_as_markup(source)
        && let Ok(found) = javascript_readings::scan(source, Dialect::Either)
    {
        reader.found.extend(found);
    }
    Ok(reader.found)
}

/// Whether the first thing in the file is a tag, or nothing is there; comments of code are passed over.
fn begins_as_markup(source: &[u8]) -> bool {
    let mut rest = source
        .strip_prefix(b"\xEF\xBB\xBF")
        .unwrap_or(source)
        .trim_ascii_start();
    loop {
        let end = match rest {
            [b'/', b'/', ..] => memchr::memchr(b'\n', rest),
            [b'/', b'*', ..] => memchr::memmem::find(rest, b"*/").map(|at| at + 1),
            _ => return matches!(rest.first(), None | Some(b'<')),
        };
        let Some(end) = end else { return true };
        rest = rest[end + 1..].trim_ascii_start();
    }
}

struct Reader<'a> {
    source: &'a [u8],
    at: usize,
    /// How many `<template>` are open.
    templates: usize,
    trusts_comments: bool,
    /// Whether no expression is open that could have been taken for markup.
    trusts_prose: bool,
    /// Where the last expression in braces ends.
    code_end: usize,
    /// Where the last value without quotes ends. One that begins before it ends there as well, and
    /// reading each to its end (`a=b=c=d=`) would take quadratic time.
    unquoted_end: usize,
    /// From where on `<script` was last looked for, and where it stands; the length of the source
    /// where it does not.
    script: (usize, usize),
    found: Vec<Found>,
}

/// A tag as far as it matters here.
struct Tag {
    /// Lower case, without the `/` of an end tag.
    name: Vec<u8>,
    closes: bool,
    is_empty: bool,
    lang: Vec<u8>,
    /// Offset and length of the value of `src`.
    src: Option<(usize, usize)>,
}

impl Reader<'_> {
    fn run(&mut self) -> Result<(), Fault> {
        while let Some(&byte) = self.source.get(self.at) {
            let rest = &self.source[self.at..];
            match byte {
                b'<' if rest.starts_with(b"<!--") && self.trusts_comments => {
                    match find(rest, b"-->") {
                        Some(length) => self.at += length + 3,
                        // Parsers differ in what they make of it; nothing may be hidden by it.
                        None => {
                            self.trusts_comments = false;
                            self.at += 4;
                        }
                    }
                }
                b'<' if matches!(rest.get(1), Some(b'!' | b'?')) => {
                    self.trusts_comments = false;
                    self.at += 2;
                }
                b'<' if rest.get(1).is_some_and(|b| b.is_ascii_alphabetic() || *b == b'/') => {
                    let begin = self.at;
                    let tag = self.tag();
                    self.element(begin, tag)?;
                }
                b'{' => {
                    self.trusts_comments = false;
                    self.braces();
                }
                b'i' | b'r' if self.is_prose() => self.at += 1,
                b'i' | b'r' => self.call(),
                _ => self.at += 1,
            }
        }
        Ok(())
    }

    /// Whether text here is certainly no code.
    fn is_prose(&self) -> bool {
        self.templates > 0 && self.trusts_prose && self.at >= self.code_end
    }

    /// At an expression in braces: looks for its end, if nothing in it could hide that end.
    fn braces(&mut self) {
        let opening = self.source[self.at..]
            .iter()
            .take(2)
            .take_while(|b| **b == b'{')
            .count();
        self.at += opening;
        if !self.trusts_prose {
            return;
        }
        let end = self.source[self.at..]
            .iter()
            .position(|b| matches!(b, b'}' | b'{' | b'<' | b'"' | b'\'' | b'`' | b'/'));
        match end {
            Some(length) if self.source[self.at + length] == b'}' => self.code_end = self.at + length,
            _ => self.trusts_prose = false,
        }
    }

    fn element(&mut self, begin: usize, tag: Tag) -> Result<(), Fault> {
        match tag.name.as_slice() {
            b"script" if !tag.closes => return self.script(begin, &tag),
            b"template" if tag.closes => self.templates = self.templates.saturating_sub(1),
            b"template" if !tag.is_empty => {
                self.templates += 1;
                // Another language's markup is text up to the end tag.
                self.trusts_comments &= matches!(tag.lang.as_slice(), b"" | b"html");
                self.trusts_prose &= matches!(tag.lang.as_slice(), b"" | b"html");
            }
            b"style" if !tag.closes && !tag.is_empty && self.trusts_comments => {
                // What is in it may be a script block all the same, if this is no style element.
                match find_end(&self.source[self.at..], b"style") {
                    Some(length) if !self.has_script(self.at, self.at + length) => self.at += length,
                    _ => self.trusts_comments = false,
                }
            }
            b"style" => {}
            name => {
                if self.templates == 0 || TEXT_ELEMENTS.contains(&name) {
                    self.trusts_comments = false;
                }
            }
        }
        Ok(())
    }

    fn script(&mut self, begin: usize, tag: &Tag) -> Result<(), Fault> {
        if let Some((from, length)) = tag.src {
            self.found
                .extend(import(&self.source[from..from + length], ImportKind::Static, from));
        }
        if tag.is_empty {
            return Ok(());
        }
        let start = self.at;
        let Some(length) = find_end(&self.source[start..], b"script") else {
            return Err(Fault {
                why: "has a script block that does not end",
                at: begin,
            });
        };
        let dialect = match tag.lang.as_slice() {
            b"ts" | b"typescript" => Dialect::Plain,
            b"tsx" | b"jsx" => Dialect::Elements,
            b"" | b"js" | b"javascript" => Dialect::Either,
            _ => {
                return Err(Fault {
                    why: "has a script block in a language that is not read",
                    at: begin,
                });
            }
        };
        let found = javascript_readings::scan(&self.source[start..start + length], dialect).map_err(|fault| Fault {
            at: fault.at + start,
            ..fault
        })?;
        self.found.extend(found.into_iter().map(|found| Found {
            at: found.at + start,
            ..found
        }));
        self.at = start + length;
        Ok(())
    }

    /// Reads the tag at which the reader stands and moves behind it. The values of its attributes
    /// are looked through for calls, too: `@click="import('x')"`.
    fn tag(&mut self) -> Tag {
        let source = self.source;
        let closes = source.get(self.at + 1) == Some(&b'/');
        self.at += 1 + usize::from(closes);
        let mut tag = Tag {
            name: self.word().to_ascii_lowercase(),
            closes,
            is_empty: false,
            lang: Vec::new(),
            src: None,
        };
        loop {
            match source.get(self.at) {
                None => return tag,
                Some(b'>') => {
                    self.at += 1;
                    return tag;
                }
                Some(b'/') => {
                    tag.is_empty = source.get(self.at + 1) == Some(&b'>');
                    self.at += 1;
                }
                // Svelte: an expression, in which `>` does not end the tag. What it is made of is not
                // told apart, so what follows is read as if it were markup.
                Some(b'{' | b'<') => {
                    self.trusts_comments = false;
                    self.trusts_prose = false;
                    return tag;
                }
                Some(byte) if byte.is_ascii_whitespace() || matches!(byte, b'=' | b'"' | b'\'') => self.at += 1,
                Some(_) => self.attribute(&mut tag),
            }
        }
    }

    fn attribute(&mut self, tag: &mut Tag) {
        let source = self.source;
        let name = self.word().to_ascii_lowercase();
        let blank = |at: usize| at + source[at..].iter().take_while(|b| b.is_ascii_whitespace()).count();
        let equals = blank(self.at);
        if source.get(equals) != Some(&b'=') {
            return;
        }
        let from = blank(equals + 1);
        let (from, length, after) = match source.get(from) {
            Some(&quote @ (b'"' | b'\'')) => {
                let length = source[from + 1..].iter().position(|&b| b == quote);
                let length = length.unwrap_or(source.len() - from - 1);
                (from + 1, length, (from + length + 2).min(source.len()))
            }
            Some(b'{') => {
                self.trusts_prose = false;
                self.at = from;
                return;
            }
            _ => {
                if from >= self.unquoted_end {
                    let length = source[from..]
                        .iter()
                        .take_while(|b| !b.is_ascii_whitespace() && **b != b'>')
                        .count();
                    self.unquoted_end = from + length;
                }
                (from, self.unquoted_end - from, self.unquoted_end)
            }
        };
        let value = &source[from..from + length];
        if self.has_script(from, from + length) {
            // A value only if this is a tag, and in an expression it is none.
            self.trusts_comments = false;
            self.trusts_prose = false;
            self.at = from;
            return;
        }
        match name.as_slice() {
            b"lang" => tag.lang = value.trim_ascii().to_ascii_lowercase(),
            b"src" => tag.src = Some((from, length)),
            // Only a directive's value is code.
            name if self.is_prose()
                && !matches!(
                    name,
                    [b':' | b'@' | b'#' | b'.', ..] | [b'v', b'-', ..] | b"slot-scope" | b"scope"
                )
                && !value.contains(&b'{') => {}
            _ => {
                self.at = from;
                while self.at < from + length {
                    self.call();
                }
            }
        }
        self.at = after.max(self.at);
    }

    /// Whether `<script` stands between two offsets. What was found for an earlier one is kept, so
    /// that values in values are not looked through again and again.
    fn has_script(&mut self, from: usize, to: usize) -> bool {
        let (since, at) = self.script;
        if !(since..=at).contains(&from) {
            let next = memchr::memchr_iter(b'<', &self.source[from..])
                .map(|length| from + length)
                .find(|at| {
                    self.source
                        .get(at + 1..at + 7)
                        .is_some_and(|name| name.eq_ignore_ascii_case(b"script"))
                });
            self.script = (from, next.unwrap_or(self.source.len()));
        }
        self.script.1 + 7 <= to
    }

    /// A name of a tag or attribute; at least one byte is passed.
    fn word(&mut self) -> &[u8] {
        let start = self.at;
        let length = self.source[start..]
            .iter()
            .take_while(|b| !b.is_ascii_whitespace() && !matches!(b, b'>' | b'<' | b'/' | b'=' | b'{' | b'"' | b'\''))
            .count();
        self.at = (start + length.max(1)).min(self.source.len());
        &self.source[start..self.at]
    }

    /// Takes `import("x")` or `require("x")` if it stands here, and moves on by at least a byte.
    fn call(&mut self) {
        let start = self.at;
        self.at += 1;
        let is_part = |b: u8| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'$' | b'.') || b >= 0x80;
        if start > 0 && is_part(self.source[start - 1]) {
            return;
        }
        let rest = &self.source[start..];
        let Some((word, kind)) = [
            (&b"import"[..], ImportKind::Dynamic),
            (&b"require"[..], ImportKind::Require),
        ]
        .into_iter()
        .find(|(word, _)| rest.starts_with(word)) else {
            return;
        };
        let blank = |at: usize| at + rest[at..].iter().take_while(|b| b.is_ascii_whitespace()).count();
        let open = blank(word.len());
        if rest.get(open) != Some(&b'(') {
            return;
        }
        let quote = blank(open + 1);
        let Some(&mark @ (b'"' | b'\'' | b'`')) = rest.get(quote) else {
            // Prose may have it as well.
            if open == word.len() && rest.get(quote).is_some_and(|b| is_part(*b) || *b == b'&') {
                self.found.push(Found {
                    raw: String::new(),
                    identity: Vec::new(),
                    kind: ImportKind::Opaque,
                    at: start,
                });
            }
            return;
        };
        let length = rest[quote + 1..].iter().position(|&b| b == mark).unwrap_or(0);
        let text = &rest[quote + 1..quote + 1 + length];
        self.found.extend(import(text, kind, start + quote));
    }
}

fn import(specifier: &[u8], kind: ImportKind, at: usize) -> Option<Found> {
    let raw = std::str::from_utf8(specifier).ok()?.to_owned();
    (!raw.is_empty()).then(|| Found {
        identity: identity::javascript(&raw),
        raw,
        kind,
        at,
    })
}

fn find(haystack: &[u8], needle: &[u8]) -> Option<usize> {
    memchr::memmem::find(haystack, needle)
}

/// How far it is to the end tag of this name.
fn find_end(bytes: &[u8], name: &[u8]) -> Option<usize> {
    memchr::memchr_iter(b'<', bytes).find(|at| {
        let rest = bytes[at + 1..].strip_prefix(b"/");
        rest.and_then(|rest| rest.get(..name.len()))
            .is_some_and(|found| found.eq_ignore_ascii_case(name))
    })
}

#[cfg(test)]
#[path = "components_tests.rs"]
mod tests;

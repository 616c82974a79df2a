//! HTML: its script blocks are JavaScript, its import maps say what names in them load.
//!
//! Invariant: no markup can hide a script block. Every `<script` counts but those in comments, and a comment begins
//! wherever it does for a browser; what cannot be told apart is read as markup.
//!
//! Pages are often templates of some other language, so that a block need not be JavaScript before that has run: one
//! that cannot be read is searched for what looks like an import. Blocks of other types are data. A name that the
//! template computes is opaque; where it has a text in quotes (`{% static 'app.js' %}`), that is a file of the site,
//! unless it is an address. Of a script's `src` an address counts, a path into a folder of copies, and of a module a
//! relative one: where any other path of a site leads, only its server knows.

use std::collections::HashMap;

use serde_json::Value;

mod marks;

use super::ImportKind;
use super::html_text::decoded;
use super::identity;
use super::javascript_readings::{self, Dialect};
use super::source::Found;
use marks::{computed_address, has_marks, unless_computed};

/// Elements whose content is text.
const TEXT: &[&[u8]] = &[
    b"textarea",
    b"title",
    b"style",
    b"xmp",
    b"iframe",
    b"noembed",
    b"noframes",
];
/// Types of scripts, besides those that say `module`, `javascript` or `ecmascript`.
const TYPES: &[&str] = &[
    "",
    "jsx",
    "text/jsx",
    "text/babel",
    "text/typescript",
    "text/tsx",
    "tsx",
    "ts",
];
/// Values in an import map.
const MAX_VALUES: usize = 10_000;

/// Every import of the page.
pub fn scan(source: &[u8]) -> Vec<Found> {
    let mut reader = Reader {
        source,
        at: 0,
        script: (usize::MAX, 0),
        ends: HashMap::new(),
        has_comment_ends: true,
        unquoted_end: 0,
        base: String::new(),
        found: Vec::new(),
    };
    reader.run();
    reader.found
}

struct Reader<'a> {
    source: &'a [u8],
    at: usize,
    /// From where on `<script` was last looked for, and where it stands.
    script: (usize, usize),
    /// The same of the end tags of each element.
    ends: HashMap<Vec<u8>, (usize, Option<usize>)>,
    /// Whether a comment may still end.
    has_comment_ends: bool,
    /// Where the last value without quotes ends.
    unquoted_end: usize,
    /// What addresses of the page begin with, where it says so.
    base: String,
    found: Vec<Found>,
}

/// The attributes of a tag, as far as they matter here; offset and end of each value.
#[derive(Default)]
struct Tag {
    name: Vec<u8>,
    kind: Option<(usize, usize)>,
    src: Option<(usize, usize)>,
    rel: Option<(usize, usize)>,
    href: Option<(usize, usize)>,
}

impl Reader<'_> {
    fn run(&mut self) {
        while let Some(length) = memchr::memchr(b'<', &self.source[self.at..]) {
            self.at += length;
            let rest = &self.source[self.at..];
            if rest.starts_with(b"<!--") && self.has_comment_ends {
                // `<!-->` is a whole one.
                let ends = [&b"-->"[..], b"--!>"];
                let end = ends.iter().filter_map(|end| {
                    let at = memchr::memmem::find(&rest[2..], end)?;
                    Some(at + 2 + end.len())
                });
                let end = end.min();
                self.has_comment_ends = end.is_some();
                self.at += end.unwrap_or(4);
            } else if rest.get(1).is_some_and(u8::is_ascii_alphabetic) {
                let tag = self.tag();
                self.element(&tag);
            } else {
                self.at += 1;
            }
        }
    }

    fn element(&mut self, tag: &Tag) {
        let name = tag.name.as_slice();
        if name == b"script" {
            self.script(tag);
        } else if name == b"base" {
            let base = self.value(tag.href).trim().replace('\\', "/");
            if self.base.is_empty() && is_address(&base) && !has_marks(base.as_bytes()) {
                let end = base
                    .rfind('/')
                    .filter(|end| *end > base.find("//").unwrap_or_default() + 1);
                self.base = match end {
                    Some(end) => base[..=end].to_owned(),
                    None => format!("{base}/"),
                };
            }
        } else if name == b"link" {
            let rel = self.value(tag.rel).to_ascii_lowercase();
            if let Some((from, end)) = tag
                .href
                .filter(|_| rel.split_whitespace().any(|word| word == "modulepreload"))
            {
                self.address(from, end, true);
            }
        } else if TEXT.contains(&name)
            && let Some(end) = self.end_of(name)
            && !self.has_script(self.at, end)
        {
            self.at = end;
        }
    }

    fn script(&mut self, tag: &Tag) {
        let kind = self.value(tag.kind).trim().to_ascii_lowercase();
        let kind = kind.split(';').next().unwrap_or_default().trim().to_owned();
        let is_map = kind.ends_with("importmap");
        let is_module = kind == "module";
        let is_code = is_module
            || TYPES.contains(&kind.as_str())
            || ["javascript", "ecmascript"].iter().any(|word| kind.contains(word))
            || has_marks(kind.as_bytes());
        // In a picture inside of the page it is `href`.
        for (from, end) in tag.src.into_iter().chain(tag.href).filter(|_| is_code) {
            self.address(from, end, is_module);
        }
        // One that does not end is not run.
        let start = self.at;
        let Some(end) = self.end_of(b"script") else {
            return;
        };
        self.at = end;
        let block = &self.source[start..end];
        let found = match (is_map, is_code) {
            (true, _) => mapped(block),
            (false, true) => {
                let found = javascript_readings::scan(block, Dialect::Either);
                let found = found.unwrap_or_else(|_| like_imports(block));
                found.into_iter().map(unless_computed).collect()
            }
            (false, false) => Vec::new(),
        };
        self.found.extend(found.into_iter().map(|found| Found {
            at: found.at + start,
            ..found
        }));
    }

    fn value(&self, place: Option<(usize, usize)>) -> String {
        let (from, end) = place.unwrap_or_default();
        decoded(&String::from_utf8_lossy(&self.source[from..end]))
    }

    /// The address of a script.
    fn address(&mut self, from: usize, end: usize, is_module: bool) {
        // In an address line breaks and tabs say nothing, wherever they stand.
        let written = self.value(Some((from, end)));
        let written = match has_marks(written.as_bytes()) {
            true => written,
            false => written.replace(['\t', '\n', '\r'], ""),
        };
        let written = written.trim();
        if written.is_empty() {
            return;
        }
        if has_marks(written.as_bytes()) {
            self.found.extend(computed_address(written, from));
            return;
        }
        if written
            .get(..5)
            .is_some_and(|scheme| scheme.eq_ignore_ascii_case("data:"))
        {
            // The code is in the address itself.
            self.found.push(opaque(from));
            return;
        }
        let written = written.replace('\\', "/");
        let has_scheme = written
            .split(['/', '?', '#'])
            .next()
            .is_some_and(|head| head.contains(':'));
        let is_relative = !has_scheme && !written.starts_with("//");
        let whole = match is_relative && !self.base.is_empty() {
            true => format!("{}{}", self.base, written.trim_start_matches('/')),
            false => written,
        };
        if let Some(raw) = as_specifier(&whole, is_module) {
            self.found.push(import(raw, from));
        }
    }

    /// The tag at which the reader stands; the reader moves behind it.
    fn tag(&mut self) -> Tag {
        let source = self.source;
        self.at += 1;
        let mut tag = Tag {
            name: self.word(),
            ..Tag::default()
        };
        while let Some(&byte) = source.get(self.at) {
            match byte {
                b'>' => {
                    self.at += 1;
                    return tag;
                }
                // A browser takes it for a part of a name; nothing may be hidden by it.
                b'<' => return tag,
                b'/' | b'=' | b'"' | b'\'' => self.at += 1,
                byte if byte.is_ascii_whitespace() => self.at += 1,
                _ => self.attribute(&mut tag),
            }
        }
        tag
    }

    fn attribute(&mut self, tag: &mut Tag) {
        let source = self.source;
        let name = self.word();
        let blank = |at: usize| at + source[at..].iter().take_while(|b| b.is_ascii_whitespace()).count();
        let equals = blank(self.at);
        if source.get(equals) != Some(&b'=') {
            return;
        }
        let from = blank(equals + 1);
        let (from, end, after) = match source.get(from) {
            Some(&quote @ (b'"' | b'\'')) => match memchr::memchr(quote, &source[from + 1..]) {
                Some(length) => (from + 1, from + 1 + length, from + 2 + length),
                // It never ends, so that this is no tag.
                None => {
                    self.at = from + 1;
                    return;
                }
            },
            _ => {
                if from >= self.unquoted_end {
                    let ends = |byte: &u8| byte.is_ascii_whitespace() || *byte == b'>';
                    self.unquoted_end = from + source[from..].iter().take_while(|byte| !ends(byte)).count();
                }
                (from, self.unquoted_end, self.unquoted_end)
            }
        };
        // A value only if the quotes are what they seem, and in a template they need not be.
        if self.has_script(from, end) {
            self.at = from;
            return;
        }
        let place = match name.as_slice() {
            b"type" => &mut tag.kind,
            b"src" => &mut tag.src,
            b"rel" => &mut tag.rel,
            b"href" | b"xlink:href" => &mut tag.href,
            _ => return self.at = after,
        };
        // Of two attributes of a name the first counts.
        place.get_or_insert((from, end));
        self.at = after;
    }

    /// A name in lower case; at least one byte is passed.
    fn word(&mut self) -> Vec<u8> {
        let start = self.at;
        let ends = |b: &u8| b.is_ascii_whitespace() || matches!(b, b'>' | b'<' | b'/' | b'=' | b'"' | b'\'');
        let length = self.source[start..].iter().take_while(|byte| !ends(byte)).count();
        self.at = (start + length.max(1)).min(self.source.len());
        self.source[start..self.at].to_ascii_lowercase()
    }

    /// Where the next end tag of this name stands.
    fn end_of(&mut self, name: &[u8]) -> Option<usize> {
        if let Some((since, end)) = self.ends.get(name)
            && *since <= self.at
            && end.is_none_or(|end| self.at <= end)
        {
            return *end;
        }
        let is_end = |at: &usize| {
            let rest = self.source[at + 1..].strip_prefix(b"/");
            rest.and_then(|rest| rest.get(..name.len()))
                .is_some_and(|found| found.eq_ignore_ascii_case(name))
        };
        let end = memchr::memchr_iter(b'<', &self.source[self.at..])
            .map(|length| self.at + length)
            .find(is_end);
        self.ends.insert(name.to_vec(), (self.at, end));
        end
    }

    /// Whether `<script` stands between two offsets. What was found for an earlier one is kept.
    fn has_script(&mut self, from: usize, to: usize) -> bool {
        let (since, at) = self.script;
        if !(since..=at).contains(&from) {
            let next = memchr::memchr_iter(b'<', &self.source[from..])
                .map(|length| from + length)
                .find(|at| {
                    let name = self.source.get(at + 1..at + 7);
                    name.is_some_and(|name| name.eq_ignore_ascii_case(b"script"))
                });
            self.script = (from, next.unwrap_or(self.source.len()));
        }
        self.script.1 + 7 <= to
    }
}

/// Whether a text names a server.
fn is_address(text: &str) -> bool {
    let lower = text.to_ascii_lowercase();
    ["//", "http://", "https://"]
        .iter()
        .any(|scheme| lower.starts_with(scheme))
}

/// What an address is as a specifier; `None` for one that tells no package and no file.
fn as_specifier(written: &str, is_module: bool) -> Option<String> {
    let lower = written.to_ascii_lowercase();
    if lower.starts_with("//") || lower.starts_with("http://") || lower.starts_with("https://") {
        let raw = match lower.starts_with("//") {
            true => format!("https:{written}"),
            false => written.to_owned(),
        };
        return Some(raw);
    }
    let scheme = lower.split(['/', '?', '#']).next().unwrap_or_default();
    if scheme.contains(':') {
        return None;
    }
    if written.starts_with(['/', '\\']) {
        return (!identity::javascript(written).is_empty()).then(|| written.to_owned());
    }
    let raw = match written.starts_with('.') {
        true => written.to_owned(),
        false => format!("./{written}"),
    };
    // Most are made by a build that puts them elsewhere.
    (is_module || !identity::javascript(&raw).is_empty()).then_some(raw)
}

fn opaque(at: usize) -> Found {
    Found {
        raw: String::new(),
        identity: Vec::new(),
        kind: ImportKind::Opaque,
        at,
    }
}

fn import(raw: String, at: usize) -> Found {
    Found {
        identity: identity::javascript(&raw),
        raw,
        kind: ImportKind::Static,
        at,
    }
}

/// The addresses of an import map.
fn mapped(block: &[u8]) -> Vec<Found> {
    let map: Value = serde_json::from_slice(block).unwrap_or_default();
    let scopes = map.get("scopes").and_then(Value::as_object);
    let tables = map
        .get("imports")
        .into_iter()
        .chain(scopes.into_iter().flat_map(|scopes| scopes.values()));
    let mut addresses: Vec<&str> = (tables.filter_map(Value::as_object))
        .flat_map(|table| table.values())
        .filter_map(Value::as_str)
        .take(MAX_VALUES)
        .collect();
    addresses.sort_unstable();
    addresses.dedup();
    (addresses.into_iter())
        .filter_map(|address| {
            let raw = as_specifier(address, true)?;
            let at = memchr::memmem::find(block, address.as_bytes()).unwrap_or(0);
            Some(import(raw, at))
        })
        .collect()
}

/// What looks like an import in a block that is no JavaScript as it stands.
fn like_imports(block: &[u8]) -> Vec<Found> {
    let mut found = Vec::new();
    for word in ["import", "from", "require"] {
        for at in memchr::memmem::find_iter(block, word) {
            let is_part = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'$' | b'.');
            let before = at.checked_sub(1).and_then(|before| block.get(before));
            let rest = &block[at + word.len()..];
            let blanks = |rest: &[u8]| rest.iter().take_while(|byte| byte.is_ascii_whitespace()).count();
            let mut quote = blanks(rest);
            if word != "from" && rest.get(quote) == Some(&b'(') {
                quote += 1 + blanks(&rest[quote + 1..]);
            } else if word == "require" {
                continue;
            }
            let Some(&mark @ (b'"' | b'\'')) = rest.get(quote).filter(|_| !before.is_some_and(is_part)) else {
                continue;
            };
            let text = &rest[quote + 1..];
            let Some(length) = text.iter().take(4096).position(|&byte| byte == mark || byte == b'\n') else {
                continue;
            };
            if let Ok(raw) = std::str::from_utf8(&text[..length])
                && !raw.is_empty()
            {
                found.push(import(raw.to_owned(), at + word.len() + quote));
            }
        }
    }
    found
}

#[cfg(test)]
mod tests;

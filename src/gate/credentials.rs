//! Credentials in text: values of well-known forms, found by their fixed parts.
//!
//! Invariants: the time is linear in the text, whatever it says; nothing is guessed from how random a text
//! looks; what is told of a value is its [`Hit::fingerprint`], never the value.

mod assigned;
mod checksum;
mod keys;
#[cfg(test)]
mod tests;
mod tokens;

use std::collections::HashSet;
use std::ops::Range;

use sha2::{Digest, Sha256};

/// Hexadecimal digits of a fingerprint: the first of the value's SHA-256.
pub const FINGERPRINT: usize = 16;

/// One value in a text.
#[derive(Clone, PartialEq, Eq)]
pub struct Hit {
    /// Which form, in kebab-case.
    pub rule: &'static str,
    /// The same in words.
    pub what: &'static str,
    /// 1-based line where it begins.
    pub line: u32,
    /// 1-based column in bytes.
    pub column: u32,
    /// The first [`FINGERPRINT`] hexadecimal digits of the SHA-256 of the value; of a private key it is that of its
    /// base64 characters alone, so that another layout of the same key has the same one.
    pub fingerprint: String,
    /// Where the value lies in the content; `None` where it had to be decoded first.
    span: Option<Range<usize>>,
    value: Vec<u8>,
}

impl std::fmt::Debug for Hit {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} {} at {}:{}", self.rule, self.fingerprint, self.line, self.column)
    }
}

impl Hit {
    /// Whether a text holds the value as it is.
    pub fn is_in(&self, text: &str) -> bool {
        std::str::from_utf8(&self.value).is_ok_and(|value| text.contains(value))
    }
}

/// What a form found in a text: where the value lies, and what of it is hashed.
struct Found {
    rule: &'static str,
    what: &'static str,
    span: Range<usize>,
    value: Vec<u8>,
}

/// Every different value in a content, in the order of their places. Text in UTF-16 is read too, and text between
/// NUL bytes: whether git takes a file for binary says nothing about who can read it.
pub fn search(content: &[u8]) -> Vec<Hit> {
    search_by(content, WINDOW)
}

/// [`search`], with the content decoded in windows of so many bytes.
fn search_by(content: &[u8], window: usize) -> Vec<Hit> {
    let mut hits = scan(content);
    for decode in decoders(content) {
        let mut lines = 0;
        for start in (0..content.len()).step_by(window) {
            let (own, next) = content[start..].split_at(window.min(content.len() - start));
            let mut text = decode(own);
            let end = text.len();
            let found = text.iter().filter(|byte| **byte == b'\n').count();
            text.extend(decode(&next[..next.len().min(OVERLAP)]));
            let known: HashSet<String> = hits.iter().map(|hit| hit.fingerprint.clone()).collect();
            // What begins further on is found whole in the next window.
            let begins_here = |hit: &Hit| hit.span.as_ref().is_some_and(|span| span.start < end);
            let more = scan(&text).into_iter().filter(begins_here);
            hits.extend(more.filter(|hit| !known.contains(&hit.fingerprint)).map(|hit| Hit {
                span: None,
                line: hit.line.saturating_add(lines),
                ..hit
            }));
            lines = lines.saturating_add(u32::try_from(found).unwrap_or(u32::MAX));
        }
    }
    hits
}

/// The content with `x` in the place of each character of these values; line breaks stay. Where one of them had to be
/// decoded, nothing of the content is left.
pub fn blanked(content: &[u8], hits: &[Hit]) -> Vec<u8> {
    let mut text = content.to_vec();
    for hit in hits {
        let Some(span) = &hit.span else {
            return b"(left out: it holds a credential)\n".to_vec();
        };
        for byte in text.iter_mut().take(span.end).skip(span.start) {
            if !matches!(byte, b'\n' | b'\r') {
                *byte = b'x';
            }
        }
    }
    text
}

/// Text that is about to be shown or kept, without the values in it: `x` stands for each character.
pub fn masked(text: &str) -> String {
    let mut bytes = text.as_bytes().to_vec();
    // A search names each value once, wherever it stands.
    for _ in 0..100 {
        let hits = scan(&bytes);
        if hits.is_empty() {
            return String::from_utf8(bytes).unwrap_or_else(|_| "(left out: it holds a credential)\n".to_owned());
        }
        bytes = blanked(&bytes, &hits);
    }
    "(left out: it holds credentials)\n".to_owned()
}

/// Bytes of a content that are decoded at a time; of an even number, since units of UTF-16 have two.
const WINDOW: usize = 8 * 1024 * 1024;
/// Bytes after them that a value which begins in them can reach into: the largest private keys have some 13,000
/// letters of two bytes.
const OVERLAP: usize = 128 * 1024;

/// How a part of the content is read.
type Decode = fn(&[u8]) -> Vec<u8>;

/// UTF-16 by its byte order mark, and what is left without NUL bytes, which is what UTF-16 without one and strings in
/// a binary file come to, also where a mark is none and the text begins at an odd place.
fn decoders(content: &[u8]) -> Vec<Decode> {
    let mut all = Vec::new();
    let by_mark: Option<Decode> = match content {
        [0xff, 0xfe, ..] => Some(|part| utf16(part, u16::from_le_bytes)),
        [0xfe, 0xff, ..] => Some(|part| utf16(part, u16::from_be_bytes)),
        _ => None,
    };
    all.extend(by_mark);
    if memchr::memchr(0, content).is_some() {
        let without: Decode = |part| part.iter().copied().filter(|&byte| byte != 0).collect();
        all.push(without);
    }
    all
}

fn utf16(content: &[u8], unit: fn([u8; 2]) -> u16) -> Vec<u8> {
    let units = content.chunks_exact(2).map(|pair| unit([pair[0], pair[1]]));
    let text: String = char::decode_utf16(units)
        .map(|letter| letter.unwrap_or('\u{fffd}'))
        .collect();
    text.into_bytes()
}

fn scan(text: &[u8]) -> Vec<Hit> {
    let mut found: Vec<Found> = Vec::new();
    let mut runs = tokens::Runs::default();
    let mut at = skip(text);
    while at < text.len() {
        let here = tokens::at(text, at, &mut runs)
            .or_else(|| assigned::at(text, at))
            .or_else(|| keys::at(text, at));
        // A value is passed over: what lies inside of it is no second one.
        at = match here {
            Some(hit) => {
                let end = hit.span.end.max(at + 1);
                found.push(hit);
                end
            }
            None => at + 1 + skip(&text[at + 1..]),
        };
    }
    let mut hits = Vec::new();
    let mut seen = HashSet::new();
    let (mut line, mut line_start, mut counted) = (1u32, 0, 0);
    for Found {
        rule,
        what,
        span,
        value,
    } in found
    {
        for (index, _) in text[counted..span.start]
            .iter()
            .enumerate()
            .filter(|(_, byte)| **byte == b'\n')
        {
            line = line.saturating_add(1);
            line_start = counted + index + 1;
        }
        counted = span.start;
        let fingerprint = fingerprint(&value);
        if !keys::is_key(rule) && is_documented(&value, &fingerprint) || !seen.insert(fingerprint.clone()) {
            continue;
        }
        hits.push(Hit {
            rule,
            what,
            line,
            column: u32::try_from(span.start - line_start + 1).unwrap_or(u32::MAX),
            fingerprint,
            span: Some(span),
            value,
        });
    }
    hits
}

/// How many bytes cannot begin anything that is looked for.
fn skip(text: &[u8]) -> usize {
    let mut at = 0;
    while let Some(next) = text[at..].iter().position(|&byte| BEGIN[byte as usize]) {
        at += next;
        let rest = &text[at..];
        if tokens::begins(rest) || assigned::begins(rest) || keys::begins(rest) {
            return at;
        }
        at += 1;
    }
    text.len()
}

/// The first bytes of tokens, names and headers.
const BEGIN: [bool; 256] = {
    let mut table = [false; 256];
    let bytes = b"AGNPSadghlnprsx-";
    let mut index = 0;
    while index < bytes.len() {
        table[bytes[index] as usize] = true;
        index += 1;
    }
    table
};

fn fingerprint(value: &[u8]) -> String {
    let sum = Sha256::digest(value);
    sum.iter()
        .take(FINGERPRINT / 2)
        .map(|byte| format!("{byte:02x}"))
        .collect()
}

/// Values of manuals, which open nothing: those that say so, those typed along the keyboard, and the key of the storage
/// emulator, which is the same for everybody.
fn is_documented(value: &[u8], fingerprint: &str) -> bool {
    let lower = value.to_ascii_lowercase();
    let has = |text: &[u8], part: &[u8]| text.windows(part.len()).any(|window| window == part);
    has(value, b"EXAMPLE")
        || has(&lower, b"123456789")
        || has(&lower, b"abcdefgh")
        || value.chunk_by(|a, b| a == b).any(|run| run.len() >= 8)
        || fingerprint == AZURITE
}

/// Fingerprint of the storage key of devstoreaccount1, which Azurite's manual prints.
const AZURITE: &str = "0011cc25eb432071";

//! Java's Unicode escapes, which are translated before anything else is read: `\u002a\u002f` ends a
//! comment, `\u000a` a line.
//!
//! Characters that javac leaves out of names (`re\u200ddis` is `redis`) are dropped here as well,
//! behind a character of a name only, so that none brings two others together.

use std::borrow::Cow;

use super::super::dotted::{is_ignorable, is_word_byte};
use super::super::source::Fault;

/// A source as the compiler reads it.
pub struct Translated<'a> {
    /// Its bytes.
    pub bytes: Cow<'a, [u8]>,
    /// Where the distance to the file's offsets changes: (offset here, offset in the file).
    steps: Vec<(usize, usize)>,
}

impl Translated<'_> {
    /// The offset in the file of an offset in [`Translated::bytes`].
    pub fn origin(&self, at: usize) -> usize {
        match self.steps.partition_point(|(here, _)| *here <= at) {
            0 => at,
            count => {
                let (here, there) = self.steps[count - 1];
                there + (at - here)
            }
        }
    }
}

/// Translates the file.
pub fn translate(source: &[u8]) -> Result<Translated<'_>, Fault> {
    let untouched = |bytes| Translated {
        bytes,
        steps: Vec::new(),
    };
    let is_plain = !source.iter().any(|b| is_rare(*b)) && !source.windows(2).any(|pair| pair == b"\\u");
    if is_plain {
        return Ok(untouched(Cow::Borrowed(source)));
    }
    let mut out: Vec<u8> = Vec::with_capacity(source.len());
    let mut steps = Vec::new();
    let mut at = 0;
    // Whether the last character is a backslash that takes the next one's meaning away, and
    // whether it was written as an escape, which takes no part in another one.
    let (mut backslash, mut escaped) = (false, false);
    while let Some(&byte) = source.get(at) {
        if byte == b'\\' && source.get(at + 1) == Some(&b'u') && (!backslash || escaped) {
            let start = at;
            at += 1;
            let mut code = unit(source, &mut at, start)?;
            if (0xD800..0xDC00).contains(&code) && source[at..].starts_with(b"\\u") {
                let mut after = at + 1;
                let low = unit(source, &mut after, at)?;
                if (0xDC00..0xE000).contains(&low) {
                    code = 0x10000 + ((code - 0xD800) << 10) + (low - 0xDC00);
                    at = after;
                }
            }
            let character = char::from_u32(code).unwrap_or(char::REPLACEMENT_CHARACTER);
            backslash = character == '\\' && !backslash;
            escaped = true;
            if !(is_ignorable(character) && out.last().is_some_and(|b| is_word_byte(*b))) {
                steps.push((out.len(), start));
                out.extend_from_slice(character.encode_utf8(&mut [0; 4]).as_bytes());
            }
            steps.push((out.len(), at));
            continue;
        }
        backslash = byte == b'\\' && !backslash;
        escaped = false;
        let length = match byte {
            0..0x80 => 1,
            0xC0..0xE0 => 2,
            0xE0..0xF0 => 3,
            _ => 4,
        };
        let end = (at + length).min(source.len());
        let is_dropped = (length > 1 || byte < b' ' || byte == 0x7F)
            && out.last().is_some_and(|b| is_word_byte(*b))
            && std::str::from_utf8(&source[at..end])
                .ok()
                .and_then(|text| text.chars().next())
                .is_some_and(is_ignorable);
        if is_dropped {
            steps.push((out.len(), end));
        } else {
            out.extend_from_slice(&source[at..end]);
        }
        at = end;
    }
    Ok(Translated {
        bytes: Cow::Owned(out),
        steps,
    })
}

/// Bytes of characters that names may lose.
const fn is_rare(byte: u8) -> bool {
    matches!(byte, 0..=0x08 | 0x0E..=0x1B | 0x7F..)
}

/// The number after the `u`s at `at`, with `at` behind it.
fn unit(source: &[u8], at: &mut usize, start: usize) -> Result<u32, Fault> {
    while source.get(*at) == Some(&b'u') {
        *at += 1;
    }
    let mut code = 0;
    for _ in 0..4 {
        let digit = source.get(*at).and_then(|b| char::from(*b).to_digit(16));
        code = code * 16
            + digit.ok_or(Fault {
                why: "has a Unicode escape without four hexadecimal digits",
                at: start,
            })?;
        *at += 1;
    }
    Ok(code)
}

//! The encoding that a Ruby file names in a comment of its first two lines. In Shift JIS and its like
//! a byte of a character can be a backslash or a quote, so such a file would be read wrongly here.

use super::super::source::Fault;

/// Refuses a file in an encoding that is not read as UTF-8 is.
pub(super) fn check(source: &[u8]) -> Result<(), Fault> {
    if source.is_ascii() && !has_escapes(source) {
        return Ok(());
    }
    let mut at = 0;
    for line in source.split(|b| *b == b'\n').take(2) {
        if let Some(name) = named(line) {
            let name = name.to_ascii_lowercase();
            let known: [&[u8]; 8] = [
                b"utf-8",
                b"utf8",
                b"us-ascii",
                b"ascii",
                b"binary",
                b"iso-8859",
                b"windows-125",
                b"koi8",
            ];
            if !known.iter().any(|known| name.starts_with(known)) {
                return Err(Fault {
                    why: "names an encoding that is not read here",
                    at,
                });
            }
        }
        at += line.len() + 1;
    }
    Ok(())
}

/// ISO 2022 and its like write other characters in ASCII bytes after an escape.
fn has_escapes(source: &[u8]) -> bool {
    source.contains(&0x1B)
}

/// The name after `coding:` or `coding=` in a comment.
fn named(line: &[u8]) -> Option<&[u8]> {
    let line = &line[..line.len().min(512)];
    let comment = &line[line.iter().position(|b| *b == b'#')?..];
    let word = b"coding";
    let place = comment
        .windows(word.len())
        .position(|part| part.eq_ignore_ascii_case(word))?;
    let rest = comment[place + word.len()..].trim_ascii_start();
    let rest = rest.strip_prefix(b":").or(rest.strip_prefix(b"="))?.trim_ascii_start();
    let length = rest
        .iter()
        .take_while(|b| b.is_ascii_alphanumeric() || matches!(b, b'-' | b'_' | b'.'))
        .count();
    Some(&rest[..length]).filter(|name| !name.is_empty())
}

//! Private keys as files hold them: PEM, OpenSSH, PGP, PuTTY.
//!
//! A header alone is no key: parsers and manuals name it. What counts is a body of base64.

use super::Found;

/// Least characters of a body: an Ed25519 key in PKCS #8 has 64.
const MIN_BODY: usize = 60;
/// The same of a PuTTY file, whose header says that a private part follows: an Ed25519 key has one line of 48.
const MIN_PUTTY_BODY: usize = 44;
/// Least characters of its longest run, so that prose is none.
const MIN_RUN: usize = 32;

/// Shorter runs are words: of a header, or of prose. So many may come before the body (`Proc-Type: 4,ENCRYPTED` and
/// the like), and so many after it began.
const SHORT: usize = 16;
const MAX_WORDS: usize = 32;
const MAX_WORDS_AFTER: usize = 4;

const PEM_RULE: &str = "private-key";
const PUTTY_RULE: &str = "putty-key";
const PUTTY: &[u8] = b"PuTTY-User-Key-File-";
const PUTTY_BODY: &[u8] = b"Private-Lines: ";
/// Longest part of a PuTTY file before its private lines, in bytes: the public key of 16384 bits has 2800.
const PUTTY_PUBLIC: usize = 16 * 1024;

/// Whether a rule is one of these. Whole keys have long runs of one letter.
pub(super) fn is_key(rule: &str) -> bool {
    matches!(rule, PEM_RULE | PUTTY_RULE)
}

/// Whether a header can begin with these bytes: most places of a text are decided by that.
#[inline]
pub(super) fn begins(rest: &[u8]) -> bool {
    matches!(rest, [b'-', b'-', ..] | [b'P', b'u', ..])
}

/// The key whose header begins here.
pub(super) fn at(text: &[u8], at: usize) -> Option<Found> {
    let rest = &text[at..];
    if let Some(after) = rest.strip_prefix(b"-----BEGIN ") {
        let label = label(after)?;
        let from = at + b"-----BEGIN ".len() + label;
        return found(text, at, from, PEM_RULE, "private key", MIN_BODY);
    }
    if rest.starts_with(PUTTY) {
        let head = &rest[PUTTY.len()..rest.len().min(PUTTY_PUBLIC)];
        // The next file's header ends this one, so that no text is searched twice.
        let end = position(head, PUTTY).unwrap_or(head.len());
        let body = position(&head[..end], PUTTY_BODY)?;
        return found(
            text,
            at,
            at + PUTTY.len() + body + PUTTY_BODY.len(),
            PUTTY_RULE,
            "PuTTY private key",
            MIN_PUTTY_BODY,
        );
    }
    None
}

/// The length of `RSA PRIVATE KEY-----` or the like.
fn label(after: &[u8]) -> Option<usize> {
    let dashes = after
        .iter()
        .take(64)
        .position(|byte| !(byte.is_ascii_uppercase() || byte.is_ascii_digit() || *byte == b' '))?;
    let (name, rest) = after.split_at(dashes);
    let is_private = name.ends_with(b"PRIVATE KEY") || name.ends_with(b"PRIVATE KEY BLOCK");
    (is_private && rest.starts_with(b"-----")).then_some(dashes + 5)
}

/// The key, if a body follows.
fn found(text: &[u8], at: usize, from: usize, rule: &'static str, what: &'static str, least: usize) -> Option<Found> {
    let (value, end) = body(text, from, least)?;
    Some(Found {
        rule,
        what,
        span: at..end,
        value,
    })
}

/// The base64 of a body and where it ends: at the next dashes, at a PuTTY file's last line, or where text comes that is
/// neither base64 nor what stands between its lines in source code (quotes, escapes, `+`, `,`) or in a header. So it ends
/// where words come instead of lines.
fn body(text: &[u8], from: usize, least: usize) -> Option<(Vec<u8>, usize)> {
    let mut value = Vec::new();
    let (mut at, mut end, mut longest, mut words) = (from, from, 0, 0);
    while let Some(&byte) = text.get(at) {
        if text[at..].starts_with(b"-----") || text[at..].starts_with(b"Private-MAC") {
            break;
        }
        if is_base64(byte) {
            let run = text[at..].iter().take_while(|byte| is_base64(**byte)).count();
            words = if run < SHORT { words + 1 } else { 0 };
            if words > if longest < MIN_RUN { MAX_WORDS } else { MAX_WORDS_AFTER } {
                break;
            }
            value.extend_from_slice(&text[at..at + run]);
            longest = longest.max(run);
            at += run;
            end = at;
            continue;
        }
        match byte {
            b'\\' if matches!(text.get(at + 1), Some(b'n' | b'r' | b't')) => at += 2,
            b'\n' | b'\r' | b' ' | b'\t' | b'"' | b'\'' | b'`' | b',' | b'\\' | b'#' | b'*' | b'|' | b'>' | b';'
            | b'(' | b')' | b'.' | b':' | b'-' | b'_' | b'<' => at += 1,
            _ => break,
        }
    }
    (value.len() >= least && longest >= MIN_RUN).then_some((value, end))
}

fn is_base64(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/' | b'=')
}

fn position(text: &[u8], part: &[u8]) -> Option<usize> {
    text.windows(part.len()).position(|window| window == part)
}

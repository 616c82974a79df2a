//! Imports that stand in comments of JavaScript and TypeScript files: `/// <reference types="x"/>`
//! and `@jsxImportSource x`.

use memchr::memmem;

use super::ImportKind;
use super::identity;
use super::source::Found;

const PRAGMA: &[u8] = b"@jsxImportSource";

/// Those of the file. The mask tells comments (blanks there) from strings.
pub fn scan(source: &[u8], mask: &[u8]) -> Vec<Found> {
    let mut found = Vec::new();
    // Nearly no file has either, and looking at each line takes longer than all else.
    let has_pragma = memmem::find(source, PRAGMA).is_some();
    if !has_pragma && memmem::find(source, b"///").is_none() {
        return found;
    }
    let mut at = 0;
    for line in source.split(|b| matches!(b, b'\n' | b'\r')) {
        let start = at + line.iter().take_while(|b| b.is_ascii_whitespace()).count();
        let end = at + line.len();
        at = end + 1;
        // What is code or a string has its own bytes or other ones in the mask.
        let is_comment = |at: usize| source[at] != b' ' && mask[at] == b' ';
        if source[start..end].starts_with(b"///") && is_comment(start) {
            for name in [&b"types"[..], b"path"] {
                if let Some((from, to)) = attribute(&source[start..end], name) {
                    found.extend(import(source, start + from, start + to, ImportKind::TypeOnly));
                }
            }
        }
        if has_pragma
            && line.len() > PRAGMA.len()
            && let Some(place) = memmem::find(line, PRAGMA)
        {
            let place = end - line.len() + place;
            let after = place + PRAGMA.len();
            let from = after
                + source[after..end]
                    .iter()
                    .take_while(|b| b.is_ascii_whitespace())
                    .count();
            let length = source[from..end]
                .iter()
                .take_while(|b| !b.is_ascii_whitespace() && **b != b'*')
                .count();
            if is_comment(place) && length > 0 {
                found.extend(import(source, from, from + length, ImportKind::Static));
            }
        }
    }
    found
}

fn import(source: &[u8], from: usize, to: usize, kind: ImportKind) -> Option<Found> {
    let raw = String::from_utf8(source[from..to].to_vec()).ok()?;
    Some(Found {
        identity: identity::javascript(&raw),
        raw,
        kind,
        at: from,
    })
}

/// Where the value of `name="..."` lies in a comment.
fn attribute(line: &[u8], name: &[u8]) -> Option<(usize, usize)> {
    let place = memmem::find(line, name)?;
    let blank = |at: usize| at + line[at..].iter().take_while(|b| b.is_ascii_whitespace()).count();
    let equals = blank(place + name.len());
    if line.get(equals) != Some(&b'=') {
        return None;
    }
    let quote = blank(equals + 1);
    let mark = line.get(quote).filter(|b| matches!(b, b'"' | b'\''))?;
    let length = line[quote + 1..].iter().position(|b| b == mark)?;
    Some((quote + 1, quote + 1 + length))
}

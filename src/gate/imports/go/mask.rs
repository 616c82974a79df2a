//! The mask of a Go file, as [`lexeme`](super::super::lexeme) describes it.

use super::super::lexeme::{blank, hide};
use super::super::source::{Fault, byte_order_mark};
use super::super::token::HIDDEN;

/// What begins a comment that gives a name of another package a name here.
const LINK: &[u8] = b"//go:linkname";

/// A mask and what comments matter.
pub struct Masked {
    /// As long as the source.
    pub mask: Vec<u8>,
    /// Where each `//go:linkname` begins.
    pub links: Vec<usize>,
}

/// Masks the file.
pub fn mask(source: &[u8]) -> Result<Masked, Fault> {
    let mut mask = source.to_vec();
    let mut links = Vec::new();
    let mut at = byte_order_mark(source);
    blank(&mut mask, 0, at);
    while let Some(&byte) = source.get(at) {
        let start = at;
        match byte {
            b'/' if source.get(at + 1) == Some(&b'/') => {
                at = line_end(source, at);
                blank(&mut mask, start, at);
                let after = source.get(start + LINK.len());
                if source[start..].starts_with(LINK) && after.is_some_and(u8::is_ascii_whitespace) {
                    links.push(start);
                }
            }
            b'/' if source.get(at + 1) == Some(&b'*') => {
                at = block_comment_end(source, at).ok_or(Fault {
                    why: "has a comment that never ends",
                    at,
                })?;
                blank(&mut mask, start, at);
            }
            b'"' | b'\'' => {
                at = quoted_end(source, at).ok_or(Fault {
                    why: "has a string that its line does not end",
                    at,
                })?;
                hide(&mut mask, start, at);
            }
            b'`' => {
                let body = source[at + 1..].iter().position(|b| *b == b'`').ok_or(Fault {
                    why: "has a raw string that never ends",
                    at,
                })?;
                at += body + 2;
                hide(&mut mask, start, at);
            }
            HIDDEN => {
                mask[at] = b' ';
                at += 1;
            }
            _ => at += 1,
        }
    }
    Ok(Masked { mask, links })
}

/// Where the line ends that `at` is in.
pub fn line_end(source: &[u8], at: usize) -> usize {
    let length = source[at..].iter().position(|b| *b == b'\n');
    length.map_or(source.len(), |length| at + length)
}

/// Where the comment ends whose `/*` is at `at`.
pub fn block_comment_end(source: &[u8], at: usize) -> Option<usize> {
    let body = at + 2;
    let length = source.get(body..)?.windows(2).position(|pair| pair == b"*/")?;
    Some(body + length + 2)
}

/// Where the literal ends whose quote is at `at`; none if its line does not end it.
pub fn quoted_end(source: &[u8], at: usize) -> Option<usize> {
    let quote = source[at];
    let mut at = at + 1;
    loop {
        match source.get(at)? {
            b'\n' => return None,
            b'\\' if source.get(at + 1) != Some(&b'\n') => at += 2,
            byte if *byte == quote => return Some(at + 1),
            _ => at += 1,
        }
    }
}

//! What the comments before `import "C"` bring in: they are C, which cgo compiles.
//!
//! Their `#include` lines are imports of kind [`ImportKind::Include`], with the segments of the path
//! as identity (`<hiredis/hiredis.h>` is `hiredis`, `hiredis`); so are the libraries that a `#cgo`
//! line links (`#cgo LDFLAGS: -lhiredis`, `#cgo pkg-config: hiredis`), since C needs no header to call
//! a function. Every comment since the last code counts, also one that an empty line separates.

use super::super::ImportKind;
use super::super::identity;
use super::super::source::{Fault, Found};
use super::mask::{block_comment_end, line_end};

/// Adds what the comments in `from..to` of the file include. What is no comment there is passed over.
pub fn scan(source: &[u8], from: usize, to: usize, found: &mut Vec<Found>) -> Result<(), Fault> {
    Reader {
        text: &preamble(source, from, to),
        at: 0,
        from,
        found,
    }
    .run()
}

/// The text of the comments, with blanks in place of what else stands there, so that offsets stay.
fn preamble(source: &[u8], from: usize, to: usize) -> Vec<u8> {
    let mut text: Vec<u8> = source[from..to]
        .iter()
        .map(|b| if *b == b'\n' { *b } else { b' ' })
        .collect();
    let mut at = from;
    while at < to {
        match &source[at..to] {
            [b'/', b'/', ..] => {
                let end = line_end(source, at).min(to);
                text[at + 2 - from..end - from].copy_from_slice(&source[at + 2..end]);
                at = end;
            }
            [b'/', b'*', ..] => {
                let end = block_comment_end(source, at).unwrap_or(to).min(to);
                let body = at + 2..end.saturating_sub(2).max(at + 2);
                text[body.start - from..body.end - from].copy_from_slice(&source[body]);
                at = end;
            }
            _ => at += 1,
        }
    }
    text
}

struct Reader<'a> {
    text: &'a [u8],
    at: usize,
    /// Where the text begins in the file.
    from: usize,
    found: &'a mut Vec<Found>,
}

impl Reader<'_> {
    /// Lines of C: a directive is `#` at the beginning of one, over blanks and comments.
    fn run(mut self) -> Result<(), Fault> {
        let mut line_begins = true;
        while let Some(&byte) = self.text.get(self.at) {
            match byte {
                b'\n' => {
                    line_begins = true;
                    self.at += 1;
                }
                b'#' if line_begins => {
                    self.at += 1;
                    line_begins = false;
                    self.directive()?;
                }
                b'%' if line_begins && self.text.get(self.at + 1) == Some(&b':') => {
                    self.at += 2;
                    line_begins = false;
                    self.directive()?;
                }
                b'"' | b'\'' => {
                    line_begins = false;
                    self.quoted(byte);
                }
                _ => {
                    let before = self.at;
                    self.blanks();
                    if self.at == before {
                        line_begins = false;
                        self.at += 1;
                    }
                }
            }
        }
        Ok(())
    }

    /// Blanks, comments and continued lines.
    fn blanks(&mut self) {
        loop {
            match &self.text[self.at..] {
                [b' ' | b'\t' | b'\r' | 0x0B | 0x0C, ..] => self.at += 1,
                [b'\\', b'\n', ..] => self.at += 2,
                [b'\\', b'\r', b'\n', ..] => self.at += 3,
                [b'/', b'/', ..] => self.at = line_end(self.text, self.at),
                [b'/', b'*', ..] => self.at = block_comment_end(self.text, self.at).unwrap_or(self.text.len()),
                _ => return,
            }
        }
    }

    /// A literal; its line ends it in any case.
    fn quoted(&mut self, quote: u8) {
        self.at += 1;
        while let Some(&byte) = self.text.get(self.at) {
            match byte {
                b'\n' => return,
                b'\\' => self.at = (self.at + 2).min(self.text.len()),
                _ => self.at += 1,
            }
            if byte == quote {
                return;
            }
        }
    }

    /// After `#`.
    fn directive(&mut self) -> Result<(), Fault> {
        self.blanks();
        let mut word = Vec::new();
        while let Some(&byte) = self.text.get(self.at) {
            match byte {
                b'\\' => {
                    let before = self.at;
                    self.blanks();
                    if self.at == before {
                        break;
                    }
                }
                _ if byte.is_ascii_alphanumeric() || byte == b'_' => {
                    word.push(byte);
                    self.at += 1;
                }
                _ => break,
            }
            if word.len() > 16 {
                return Ok(());
            }
        }
        match word.as_slice() {
            b"include" | b"include_next" | b"import" => self.include(),
            b"cgo" => self.cgo(),
            _ => {}
        }
        match self.found.get(super::MAX_FOUND) {
            Some(last) => Err(Fault {
                why: "has more imports than are read",
                at: last.at,
            }),
            None => Ok(()),
        }
    }

    fn include(&mut self) {
        self.blanks();
        let start = self.at;
        let closing = match self.text.get(start) {
            Some(b'<') => b'>',
            Some(b'"') => b'"',
            None | Some(b'\n') => return,
            // A macro's name.
            Some(_) => {
                self.push(String::new(), Vec::new(), ImportKind::Opaque, start);
                return;
            }
        };
        let body = &self.text[start + 1..line_end(self.text, start)];
        let Some(length) = body.iter().position(|b| *b == closing) else {
            return;
        };
        let path = String::from_utf8_lossy(&body[..length]);
        let raw = String::from_utf8_lossy(&self.text[start..start + length + 2]).into_owned();
        self.at = start + length + 2;
        self.push(raw, identity::include(&path), ImportKind::Include, start);
    }

    /// `linux LDFLAGS: -lx`, `pkg-config: x`.
    fn cgo(&mut self) {
        let end = line_end(self.text, self.at);
        let line = &self.text[self.at..end];
        let start = self.at;
        self.at = end;
        let Some(colon) = line.iter().position(|b| *b == b':') else {
            return;
        };
        let key = String::from_utf8_lossy(&line[..colon]).into_owned();
        let is_package = key.split_whitespace().last() == Some("pkg-config");
        let mut at = start + colon + 1;
        for word in line[colon + 1..].split(u8::is_ascii_whitespace) {
            let place = at;
            at += word.len() + 1;
            let name = match word.strip_prefix(b"-l") {
                Some(library) => library,
                None if is_package && !word.starts_with(b"-") => word,
                None => continue,
            };
            if name.is_empty() {
                continue;
            }
            let name = String::from_utf8_lossy(name).into_owned();
            let raw = String::from_utf8_lossy(word).into_owned();
            self.push(raw, vec![name], ImportKind::Include, place);
        }
    }

    fn push(&mut self, raw: String, identity: Vec<String>, kind: ImportKind, at: usize) {
        self.found.push(Found {
            raw,
            identity,
            kind,
            at: self.from + at,
        });
    }
}

//! The mask of a Python file: comments become spaces, string bodies [`HIDDEN`], line breaks stay.
//!
//! Fields of f-strings are code and stay visible; they are read as Python 3.12 reads them (the
//! same quotes may nest), which agrees with older versions on everything those accept.

use super::source::{Fault, byte_order_mark};
use super::token::{HIDDEN, is_word_byte, newline_length};

/// An f-string (or t-string) whose text goes on after a field.
#[derive(Clone, Copy)]
struct Format {
    start: usize,
    quote: u8,
    triple: bool,
    raw: bool,
}

#[derive(Clone, Copy)]
enum Frame {
    /// `(`, `[` or `{` in code.
    Bracket,
    /// `{` of a field, code.
    Field(Format),
    /// After the `:` of a field, text.
    Spec(Format),
}

struct Lexer<'a> {
    source: &'a [u8],
    out: Vec<u8>,
    at: usize,
    frames: Vec<Frame>,
}

/// Masks the file. The result has the length of the source.
pub fn mask(source: &[u8]) -> Result<Vec<u8>, Fault> {
    let mut lexer = Lexer {
        source,
        out: source.to_vec(),
        at: 0,
        frames: Vec::new(),
    };
    let mark = byte_order_mark(source);
    lexer.out[..mark].fill(b' ');
    lexer.at = mark;
    lexer.run()?;
    Ok(lexer.out)
}

impl Lexer<'_> {
    fn run(&mut self) -> Result<(), Fault> {
        while let Some(&byte) = self.source.get(self.at) {
            match byte {
                b'#' => self.comment(),
                b'"' | b'\'' => self.string(self.at, self.at)?,
                b'(' | b'[' | b'{' => {
                    self.frames.push(Frame::Bracket);
                    self.at += 1;
                }
                b')' | b']' | b'}' => self.close(byte)?,
                b':' => match self.frames.last() {
                    Some(&Frame::Field(format)) => {
                        self.frames.pop();
                        self.frames.push(Frame::Spec(format));
                        self.at += 1;
                        self.text(format)?;
                    }
                    _ => self.at += 1,
                },
                HIDDEN => {
                    self.out[self.at] = b' ';
                    self.at += 1;
                }
                _ if is_word_byte(byte) => {
                    let start = self.at;
                    while self.source.get(self.at).is_some_and(|b| is_word_byte(*b) && *b != b'#') {
                        self.at += 1;
                    }
                    if matches!(self.source.get(self.at), Some(b'"' | b'\'')) {
                        self.string(start, self.at)?;
                    }
                }
                _ => self.at += 1,
            }
        }
        let open = self.frames.iter().find_map(|frame| match frame {
            Frame::Field(format) | Frame::Spec(format) => Some(format.start),
            Frame::Bracket => None,
        });
        open.map_or(Ok(()), |at| {
            Err(Fault {
                why: "has an f-string that never ends",
                at,
            })
        })
    }

    fn comment(&mut self) {
        // A lone `\r` ends a line for Python's loader: code may follow it.
        while self.source.get(self.at).is_some_and(|b| !matches!(b, b'\n' | b'\r')) {
            self.out[self.at] = b' ';
            self.at += 1;
        }
    }

    fn close(&mut self, byte: u8) -> Result<(), Fault> {
        self.at += 1;
        match self.frames.last() {
            Some(Frame::Bracket) => {
                self.frames.pop();
                Ok(())
            }
            Some(&Frame::Field(format)) if byte == b'}' => {
                self.frames.pop();
                self.text(format)
            }
            _ => Ok(()),
        }
    }

    /// A string whose quotes are at `open`, with the word at `start` as its possible prefix.
    fn string(&mut self, start: usize, open: usize) -> Result<(), Fault> {
        let prefix = self.source[start..open].to_ascii_lowercase();
        // Any other word before a quote is no prefix: Python 2's `print"x"`.
        let (raw, fields) = match prefix.as_slice() {
            b"r" | b"br" | b"rb" | b"ur" => (true, false),
            b"f" | b"t" => (false, true),
            b"fr" | b"rf" | b"tr" | b"rt" => (true, true),
            _ => (false, false),
        };
        let quote = self.source[open];
        let triple = self.source[open..].starts_with(&[quote; 3]);
        self.at = open + if triple { 3 } else { 1 };
        let format = Format {
            start: open,
            quote,
            triple,
            raw,
        };
        if fields { self.text(format) } else { self.plain(format) }
    }

    fn plain(&mut self, format: Format) -> Result<(), Fault> {
        while let Some(&byte) = self.source.get(self.at) {
            if byte == b'\\' {
                self.hide(2);
            } else if self.closes(format) {
                self.at += if format.triple { 3 } else { 1 };
                return Ok(());
            } else if matches!(byte, b'\n' | b'\r') && !format.triple {
                return Err(Fault {
                    why: "has a string that its line does not end",
                    at: format.start,
                });
            } else {
                self.hide(1);
            }
        }
        Err(Fault {
            why: "has a string that never ends",
            at: format.start,
        })
    }

    /// The text of an f-string up to its next field or its end, or up to the end of a field whose
    /// format specification this is.
    fn text(&mut self, format: Format) -> Result<(), Fault> {
        while let Some(&byte) = self.source.get(self.at) {
            let spec = matches!(self.frames.last(), Some(Frame::Spec(_)));
            let next = self.source.get(self.at + 1).copied();
            match byte {
                b'\\' if matches!(next, Some(b'{' | b'}')) => self.hide(1),
                b'\\' if next == Some(b'N') && !format.raw && self.source.get(self.at + 2) == Some(&b'{') => {
                    let name = self.source[self.at..].iter().take(128).position(|b| *b == b'}');
                    self.hide(name.map_or(2, |length| length + 1));
                }
                b'\\' => self.hide(2),
                b'{' if next == Some(b'{') && !spec => self.hide(2),
                b'{' => {
                    // With a field the literal is no longer one token: its quotes go as well.
                    let fence = if format.triple { 3 } else { 1 };
                    self.out[format.start..format.start + fence].fill(HIDDEN);
                    self.frames.push(Frame::Field(format));
                    self.at += 1;
                    return Ok(());
                }
                b'}' if spec => {
                    self.frames.pop();
                    self.at += 1;
                }
                _ if self.closes(format) => {
                    if spec {
                        return Err(Fault {
                            why: "has an f-string that ends inside a field",
                            at: format.start,
                        });
                    }
                    let fence = if format.triple { 3 } else { 1 };
                    if self.out[format.start] == HIDDEN {
                        self.out[self.at..self.at + fence].fill(HIDDEN);
                    }
                    self.at += fence;
                    return Ok(());
                }
                b'\n' | b'\r' if !format.triple && !spec => {
                    return Err(Fault {
                        why: "has a string that its line does not end",
                        at: format.start,
                    });
                }
                _ => self.hide(1),
            }
        }
        Err(Fault {
            why: "has a string that never ends",
            at: format.start,
        })
    }

    fn closes(&self, format: Format) -> bool {
        let rest = &self.source[self.at..];
        if format.triple {
            rest.starts_with(&[format.quote; 3])
        } else {
            rest.first() == Some(&format.quote)
        }
    }

    /// Hides `count` bytes, and both of a `\r\n` that the last of them begins.
    fn hide(&mut self, count: usize) {
        let mut end = (self.at + count).min(self.source.len());
        if count > 1 && newline_length(&self.source[end - 1..]) == 2 {
            end += 1;
        }
        for at in self.at..end {
            if !matches!(self.source[at], b'\n' | b'\r') {
                self.out[at] = HIDDEN;
            }
        }
        self.at = end;
    }
}

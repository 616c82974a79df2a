//! The mask of a PHP file: comments and the text outside of PHP become spaces, literals take the form
//! that [`super::super::literal_cursor`] reads, line breaks stay. Code in `{$}` and `${}` stays visible.

use super::super::literal_cursor::{CLOSE, OPEN, is_word_byte};
use super::super::source::{Fault, byte_order_mark};
use super::super::token::HIDDEN;

/// Whether `<?` alone begins PHP, which the server's settings say.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ShortTags {
    On,
    Off,
}

/// A file as one of the settings reads it.
pub(super) struct Masked {
    /// As long as the source.
    pub(super) mask: Vec<u8>,
    /// Whether the other setting would read it in another way.
    pub(super) has_short_tags: bool,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum End {
    /// `"` or a backtick.
    Quote(u8),
    /// The name of a heredoc at the beginning of a line, by its place.
    Name(usize, usize),
}

#[derive(Clone, Copy)]
struct Literal {
    start: usize,
    end: End,
    /// Whether it holds code and escapes.
    may_have_code: bool,
    has_code: bool,
}

enum Frame {
    Brace,
    /// The braces of a literal's code; the literal is the frame below.
    Code,
    Literal(Literal),
}

struct Lexer<'a> {
    source: &'a [u8],
    out: Vec<u8>,
    at: usize,
    frames: Vec<Frame>,
    short_tags: ShortTags,
    has_short_tags: bool,
}

/// Masks what is code from its first byte on.
pub(super) fn mask_code(source: &[u8]) -> Result<Vec<u8>, Fault> {
    let mut lexer = Lexer {
        source,
        out: source.to_vec(),
        at: 0,
        frames: Vec::new(),
        short_tags: ShortTags::Off,
        has_short_tags: false,
    };
    lexer.inside()?;
    Ok(lexer.out)
}

/// Masks the file.
pub(super) fn mask(source: &[u8], short_tags: ShortTags) -> Result<Masked, Fault> {
    let mark = byte_order_mark(source);
    let mut lexer = Lexer {
        source,
        out: source.to_vec(),
        at: mark,
        frames: Vec::new(),
        short_tags,
        has_short_tags: false,
    };
    lexer.out[..mark].fill(b' ');
    lexer.run()?;
    Ok(Masked {
        mask: lexer.out,
        has_short_tags: lexer.has_short_tags,
    })
}

impl Lexer<'_> {
    fn run(&mut self) -> Result<(), Fault> {
        self.outside();
        self.inside()
    }

    fn inside(&mut self) -> Result<(), Fault> {
        while self.at < self.source.len() {
            match self.frames.last() {
                Some(&Frame::Literal(literal)) => self.text(literal)?,
                _ => self.code(self.source[self.at])?,
            }
        }
        let open = self.frames.iter().rev().find_map(|frame| match frame {
            Frame::Literal(literal) => Some(literal.start),
            _ => None,
        });
        open.map_or(Ok(()), |at| Err(unended(at)))
    }

    fn byte(&self, at: usize) -> u8 {
        self.source.get(at).copied().unwrap_or(b'\n')
    }

    fn fill(&mut self, end: usize, with: u8) {
        for byte in &mut self.out[self.at..end] {
            if *byte != b'\n' {
                *byte = with;
            }
        }
        self.at = end;
    }

    /// Text up to and with the tag that begins PHP.
    fn outside(&mut self) {
        let mut at = self.at;
        loop {
            let rest = &self.source[at..];
            let Some(place) = rest.iter().position(|b| *b == b'<') else {
                self.fill(self.source.len(), b' ');
                return;
            };
            let tag = &rest[place..];
            at += place + 1;
            if tag.get(1) != Some(&b'?') {
                continue;
            }
            let is = |name: &[u8]| {
                tag.get(2..2 + name.len())
                    .is_some_and(|head| head.eq_ignore_ascii_case(name))
            };
            let length = if is(b"php") && tag.get(5).is_none_or(u8::is_ascii_whitespace) {
                5
            } else if is(b"=") {
                3
            } else if is(b"xml") {
                continue;
            } else {
                self.has_short_tags = true;
                match self.short_tags {
                    ShortTags::On => 2,
                    ShortTags::Off => continue,
                }
            };
            self.fill(at - 1 + length, b' ');
            // A statement begins, as after the end of another one.
            self.out[self.at - 1] = b';';
            return;
        }
    }

    fn code(&mut self, byte: u8) -> Result<(), Fault> {
        let next = self.byte(self.at + 1);
        match byte {
            b'?' if next == b'>' => {
                self.out[self.at] = b';';
                self.out[self.at + 1] = b' ';
                self.at += 2;
                self.outside();
            }
            b'/' if next == b'/' => self.comment(),
            b'#' if next != b'[' => self.comment(),
            b'/' if next == b'*' => {
                let rest = &self.source[self.at + 2..];
                let Some(length) = rest.windows(2).position(|pair| pair == b"*/") else {
                    return Err(Fault {
                        why: "has a comment that never ends",
                        at: self.at,
                    });
                };
                self.fill(self.at + length + 4, b' ');
            }
            b'\'' => self.plain()?,
            b'"' | b'`' => self.open(1, End::Quote(byte), true),
            b'<' if self.source[self.at..].starts_with(b"<<<") => match self.heredoc() {
                Some((length, name, is_raw)) => {
                    self.open(length, name, !is_raw);
                    // The name may stand on the very next line.
                    self.at -= 1;
                }
                None => self.at += 3,
            },
            b'{' => {
                self.frames.push(Frame::Brace);
                self.at += 1;
            }
            b'}' => {
                self.frames.pop();
                self.at += 1;
            }
            b'_' | b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | 0x80.. => {
                let start = self.at;
                self.at += self.source[start..].iter().take_while(|b| is_word_byte(**b)).count();
                let word = &self.source[start..self.at];
                if word.eq_ignore_ascii_case(b"__halt_compiler") && self.is_halt(start) {
                    // What follows is data.
                    self.fill(self.source.len(), b' ');
                    self.frames.clear();
                }
            }
            HIDDEN | OPEN | CLOSE => {
                self.out[self.at] = b' ';
                self.at += 1;
            }
            _ => self.at += 1,
        }
        Ok(())
    }

    /// Whether `();` follows the word before `at`, and nothing says that it is only a name.
    fn is_halt(&self, start: usize) -> bool {
        let before = self.out[..start].trim_ascii_end();
        let is_name = matches!(before, [.., b'>' | b':' | b'$' | b'\\']) || before.ends_with(b"function");
        let mut expected = b"()".iter();
        let rest = self.source[self.at..].iter().filter(|b| !b.is_ascii_whitespace());
        !is_name && rest.take(2).all(|b| expected.next() == Some(b)) && expected.next().is_none()
    }

    /// A comment up to the end of its line or of PHP.
    fn comment(&mut self) {
        let rest = &self.source[self.at..];
        let mut length = 0;
        while let Some(&byte) = rest.get(length) {
            if matches!(byte, b'\n' | b'\r') || (byte == b'?' && rest.get(length + 1) == Some(&b'>')) {
                break;
            }
            length += 1;
        }
        self.fill(self.at + length, b' ');
    }

    /// `'...'`
    fn plain(&mut self) -> Result<(), Fault> {
        let start = self.at;
        let mut end = start + 1;
        loop {
            match self.source.get(end) {
                None => return Err(unended(start)),
                Some(b'\\') => end += 2,
                Some(b'\'') => break,
                Some(_) => end += 1,
            }
        }
        self.fill(end + 1, HIDDEN);
        self.out[start] = b'"';
        self.out[end] = b'"';
        Ok(())
    }

    /// The length of the beginning of a heredoc here with its line break, how it ends, and whether it
    /// is raw.
    fn heredoc(&self) -> Option<(usize, End, bool)> {
        let mut at = self.at + 3;
        while matches!(self.source.get(at), Some(b' ' | b'\t')) {
            at += 1;
        }
        let quote = self.source.get(at).copied().filter(|b| matches!(b, b'\'' | b'"'));
        at += usize::from(quote.is_some());
        let length = self.source[at..].iter().take_while(|b| is_word_byte(**b)).count();
        if length == 0 || self.source[at].is_ascii_digit() {
            return None;
        }
        let name = End::Name(at, at + length);
        at += length;
        if let Some(quote) = quote {
            if self.source.get(at) != Some(&quote) {
                return None;
            }
            at += 1;
        }
        let line_break = match &self.source[at..] {
            [b'\r', b'\n', ..] => 2,
            [b'\n' | b'\r', ..] => 1,
            _ => return None,
        };
        Some((at + line_break - self.at, name, quote == Some(b'\'')))
    }

    fn open(&mut self, length: usize, end: End, may_have_code: bool) {
        let start = self.at;
        self.fill(start + length, HIDDEN);
        self.out[start] = b'"';
        self.frames.push(Frame::Literal(Literal {
            start,
            end,
            may_have_code,
            has_code: false,
        }));
    }

    /// The text of a literal up to its end or its next code.
    fn text(&mut self, literal: Literal) -> Result<(), Fault> {
        while let Some(&byte) = self.source.get(self.at) {
            let next = self.byte(self.at + 1);
            match (byte, literal.end) {
                (b'\\', End::Quote(_)) => self.fill((self.at + 2).min(self.source.len()), HIDDEN),
                // The end of a heredoc's line is no character that a backslash could escape.
                (b'\\', End::Name(..)) if literal.may_have_code && !matches!(next, b'\n' | b'\r') => {
                    self.fill((self.at + 2).min(self.source.len()), HIDDEN);
                }
                (b'{', _) if literal.may_have_code && next == b'$' => {
                    self.enter(literal, self.at);
                    return Ok(());
                }
                (b'$', _) if literal.may_have_code && next == b'{' => {
                    self.out[self.at] = HIDDEN;
                    self.enter(literal, self.at + 1);
                    return Ok(());
                }
                (_, End::Quote(quote)) if byte == quote => {
                    self.out[self.at] = if literal.has_code { CLOSE } else { b'"' };
                    self.at += 1;
                    self.frames.pop();
                    return Ok(());
                }
                (b'\n' | b'\r', End::Name(from, to)) => {
                    if byte == b'\r' {
                        self.out[self.at] = HIDDEN;
                    }
                    self.at += 1;
                    if let Some(end) = self.last_line(from, to) {
                        self.fill(end, HIDDEN);
                        self.out[end - 1] = if literal.has_code { CLOSE } else { b'"' };
                        self.frames.pop();
                        return Ok(());
                    }
                }
                (b'\n', _) => self.at += 1,
                _ => {
                    self.out[self.at] = HIDDEN;
                    self.at += 1;
                }
            }
        }
        Err(unended(literal.start))
    }

    /// Into the code whose brace is at `brace`.
    fn enter(&mut self, mut literal: Literal, brace: usize) {
        literal.has_code = true;
        self.out[literal.start] = OPEN;
        if let Some(frame) = self.frames.last_mut() {
            *frame = Frame::Literal(literal);
        }
        self.frames.push(Frame::Code);
        self.at = brace + 1;
    }

    /// The end of a heredoc's name, if this line ends it.
    fn last_line(&self, from: usize, to: usize) -> Option<usize> {
        let rest = &self.source[self.at..];
        let blanks = rest.iter().take_while(|b| matches!(b, b' ' | b'\t')).count();
        let name = &self.source[from..to];
        let after = &rest[blanks..];
        let ends = after.starts_with(name) && !after.get(name.len()).is_some_and(|b| is_word_byte(*b));
        ends.then_some(self.at + blanks + name.len())
    }
}

fn unended(at: usize) -> Fault {
    Fault {
        why: "has a string or heredoc that never ends",
        at,
    }
}

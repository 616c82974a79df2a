//! The mask of a C# file.
//!
//! Lines of the preprocessor are blank, whatever stands in them; those that name a package or
//! another script are handed back. Each branch of an `#if` is read as code. A branch whose text is
//! no C# (prose with an apostrophe below `#if NEVER`) is compiled by nobody and becomes blank.
//! Where a comment or string of a branch would swallow the line that ends it, the two readings of
//! the file differ: that is a fault, but for `#if false`, where only one of them is ever compiled.

use super::super::mask_braces::{Lexer, unended, unended_line};
use super::super::source::Fault;
use super::super::token::HIDDEN;

/// Masked bytes, and the lines of the preprocessor that import something.
pub struct Masked {
    /// Of the length of the source.
    pub mask: Vec<u8>,
    /// Offsets after the `#`, and of the line's end.
    pub directives: Vec<(usize, usize)>,
    /// Whether there is an `#if`.
    pub has_branches: bool,
}

/// A string literal.
#[derive(Clone, Copy)]
struct Literal {
    /// Offset of its first byte, of its prefix where it has one.
    start: usize,
    /// Offset of its text.
    body: usize,
    /// `@`: a backslash is one, two quotes are one, lines go on.
    verbatim: bool,
    /// How many quotes fence a raw string; 0 for any other.
    quotes: usize,
    /// How many braces begin code; 0 where none do.
    dollars: usize,
}

/// A string whose text goes on after code.
struct Hole {
    literal: Literal,
    brackets: usize,
}

/// A branch of an `#if`.
struct Section {
    /// Offset of its first line.
    start: usize,
    /// Whether its condition is `false`.
    never: bool,
}

struct Masker<'a> {
    lexer: Lexer<'a>,
    holes: Vec<Hole>,
    sections: Vec<Section>,
    /// Branches that nobody compiles, apart from each other and in order.
    skipped: Vec<(usize, usize)>,
    directives: Vec<(usize, usize)>,
    has_branches: bool,
}

const CROSSES: &str = "has a comment or string that goes over the end of a conditional branch";

/// Masks the file.
pub fn mask(source: &[u8]) -> Result<Masked, Fault> {
    let mut masker = Masker {
        lexer: Lexer::new(source),
        holes: Vec::new(),
        sections: Vec::new(),
        skipped: Vec::new(),
        directives: Vec::new(),
        has_branches: false,
    };
    masker.directive(masker.lexer.at)?;
    while masker.lexer.at < source.len() {
        if let Err(fault) = masker.step() {
            masker.skip(fault)?;
        }
    }
    if let Some(hole) = masker.holes.first() {
        return Err(unended(hole.literal.start));
    }
    if let Some(section) = masker.sections.last() {
        return Err(Fault {
            why: "has an #if without #endif",
            at: section.start,
        });
    }
    // An old end of a file, which is a blank to the compiler.
    for at in memchr::memchr_iter(0x1A, source) {
        if masker.lexer.out[at] == 0x1A {
            masker.lexer.out[at] = b' ';
        }
    }
    let skipped = std::mem::take(&mut masker.skipped);
    for (from, to) in &skipped {
        masker.lexer.blank(*from, *to);
    }
    masker.directives.retain(|(at, _)| {
        let before = skipped.partition_point(|(from, _)| from <= at);
        before == 0 || skipped[before - 1].1 <= *at
    });
    Ok(Masked {
        mask: masker.lexer.out,
        directives: masker.directives,
        has_branches: masker.has_branches,
    })
}

impl Masker<'_> {
    /// One piece of code.
    fn step(&mut self) -> Result<(), Fault> {
        let at = self.lexer.at;
        let byte = self.lexer.peek(0);
        match byte {
            b'/' if self.lexer.peek(1) == b'/' => self.line_comment(),
            b'/' if self.lexer.peek(1) == b'*' => self.block_comment()?,
            b'\'' => self.lexer.character()?,
            b'"' => self.string(at, at)?,
            b'$' | b'@' => {
                let prefix = self.lexer.source[at..]
                    .iter()
                    .take_while(|b| matches!(b, b'$' | b'@'))
                    .count();
                if self.lexer.peek(prefix) == b'"' {
                    self.string(at, at + prefix)?;
                } else {
                    self.lexer.at += prefix;
                }
            }
            b'{' | b'(' | b'[' => {
                if let Some(hole) = self.holes.last_mut() {
                    hole.brackets += 1;
                }
                self.lexer.at += 1;
            }
            b'}' | b')' | b']' => self.close(byte)?,
            b':' if self.holes.last().is_some_and(|hole| hole.brackets == 0) => self.format()?,
            b'\n' | b'\r' => {
                self.lexer.at += 1;
                self.directive(at + 1)?;
            }
            HIDDEN => {
                self.lexer.out[at] = b' ';
                self.lexer.at += 1;
            }
            0x80.. => {
                let (length, ends_line) = blank_length(&self.lexer.source[at..]);
                self.lexer.blank(at, at + length);
                self.lexer.at += length.max(1);
                if ends_line {
                    self.directive(at + length)?;
                }
            }
            _ => {
                self.lexer.at += 1;
                self.lexer.skip_plain();
            }
        }
        Ok(())
    }

    fn close(&mut self, byte: u8) -> Result<(), Fault> {
        self.lexer.at += 1;
        match self.holes.last_mut() {
            Some(hole) if hole.brackets > 0 => hole.brackets -= 1,
            Some(hole) if byte == b'}' => {
                let literal = hole.literal;
                self.holes.pop();
                let from = self.lexer.at;
                // The first brace stays as the end of the code.
                self.text(literal, from + literal.dollars - 1)?;
                self.lexer.hide(from, from + literal.dollars - 1);
            }
            _ => {}
        }
        Ok(())
    }

    /// After the `:` of a piece of code in a string: text up to the brace that ends the piece.
    fn format(&mut self) -> Result<(), Fault> {
        let Some(&Hole { literal, .. }) = self.holes.last() else {
            return Ok(());
        };
        let is_regular = literal.quotes == 0 && !literal.verbatim;
        let from = self.lexer.at;
        let mut at = from;
        loop {
            match self.lexer.source.get(at) {
                Some(b'}') => break,
                Some(b'"') if literal.verbatim && self.lexer.source.get(at + 1) == Some(&b'"') => at += 2,
                Some(b'"') if literal.quotes > 0 => at += 1,
                Some(b'"' | b'\n' | b'\r') | None => return Err(unended_line(literal.start)),
                Some(b'\\') if is_regular => at += 2,
                Some(_) => at += 1,
            }
        }
        self.lexer.hide(from, at);
        self.lexer.at = at;
        Ok(())
    }

    fn line_comment(&mut self) {
        let from = self.lexer.at;
        let end = line_end(self.lexer.source, from);
        self.lexer.blank(from, end);
        self.lexer.at = end;
    }

    fn block_comment(&mut self) -> Result<(), Fault> {
        if self.sections.is_empty() {
            return self.lexer.block_comment(false);
        }
        let start = self.lexer.at;
        let mut at = start + 2;
        let mut depth = 0;
        loop {
            match self.lexer.source.get(at..) {
                Some([b'*', b'/', ..]) => break,
                Some(rest @ [b'\n' | b'\r' | 0xC2 | 0xE2, ..]) => {
                    at += line_break_length(rest).max(1);
                    self.crosses(start, at, &mut depth)?;
                }
                Some([_, ..]) => at += 1,
                _ => {
                    return Err(Fault {
                        why: "has a comment that never ends",
                        at: start,
                    });
                }
            }
        }
        self.ends_inside(start, depth)?;
        self.lexer.blank(start, at + 2);
        self.lexer.at = at + 2;
        Ok(())
    }

    /// A string whose quotes are at `open`, with its prefix from `start`.
    fn string(&mut self, start: usize, open: usize) -> Result<(), Fault> {
        let prefix = &self.lexer.source[start..open];
        let verbatim = prefix.contains(&b'@');
        let dollars = prefix.iter().filter(|b| **b == b'$').count();
        let run = self.lexer.run(open, b'"');
        let quotes = if !verbatim && run >= 3 { run } else { 0 };
        let literal = Literal {
            start,
            body: open + quotes.max(1),
            verbatim,
            quotes,
            dollars,
        };
        self.text(literal, literal.body)
    }

    /// The text of a string from `from` to its end or to the code in it.
    fn text(&mut self, literal: Literal, from: usize) -> Result<(), Fault> {
        let is_whole = from == literal.body;
        let goes_on = literal.verbatim
            || (literal.quotes > 0 && !is_whole)
            || (literal.quotes > 0 && rest_is_blank(self.lexer.source, literal.body));
        let mut at = from;
        let mut depth = 0;
        let end = loop {
            match self.lexer.source.get(at) {
                Some(b'"') if literal.quotes > 0 => {
                    let run = self.lexer.run(at, b'"');
                    at += run;
                    if run >= literal.quotes {
                        break at;
                    }
                }
                Some(b'"') if literal.verbatim && self.lexer.source.get(at + 1) == Some(&b'"') => at += 2,
                Some(b'"') => break at + 1,
                Some(b'\\') if !literal.verbatim && literal.quotes == 0 => at += 2,
                Some(b'{') if literal.dollars > 0 => {
                    let run = self.lexer.run(at, b'{');
                    let opens = if literal.quotes > 0 {
                        run >= literal.dollars
                    } else {
                        run % 2 == 1
                    };
                    at += run;
                    if opens {
                        self.ends_inside(literal.start, depth)?;
                        self.lexer.hide(if is_whole { literal.start } else { from }, at - 1);
                        self.lexer.at = at;
                        self.holes.push(Hole { literal, brackets: 0 });
                        return Ok(());
                    }
                }
                Some(b'\n' | b'\r' | 0xC2 | 0xE2) if goes_on => {
                    at += line_break_length(&self.lexer.source[at..]).max(1);
                    self.crosses(literal.start, at, &mut depth)?;
                }
                Some(b'\n' | b'\r') => return Err(unended_line(literal.start)),
                Some(_) => at += 1,
                None => return Err(unended(literal.start)),
            }
        };
        self.ends_inside(literal.start, depth)?;
        if is_whole {
            self.lexer.literal(literal.start, end);
        } else {
            self.lexer.hide(from, end);
            self.lexer.at = end;
        }
        Ok(())
    }

    /// At the beginning of a line inside a comment or string: whether it ends the branch for a
    /// compiler that skips it.
    fn crosses(&self, start: usize, line: usize, depth: &mut usize) -> Result<(), Fault> {
        if self.sections.is_empty() || !ends_with_break(&self.lexer.source[..line]) {
            return Ok(());
        }
        match conditional(self.lexer.source, line) {
            Some(b"if") => *depth += 1,
            Some(b"endif") if *depth > 0 => *depth -= 1,
            Some(_) if *depth == 0 => {
                return Err(Fault {
                    why: CROSSES,
                    at: start,
                });
            }
            _ => {}
        }
        Ok(())
    }

    fn ends_inside(&self, start: usize, depth: usize) -> Result<(), Fault> {
        if depth > 0 {
            return Err(Fault {
                why: CROSSES,
                at: start,
            });
        }
        Ok(())
    }

    /// A line of the preprocessor, if one begins at `line`.
    fn directive(&mut self, line: usize) -> Result<(), Fault> {
        let source = self.lexer.source;
        let Some(hash) = hash(source, line) else { return Ok(()) };
        if let Some(hole) = self.holes.first() {
            // Code in a string has no lines of the preprocessor.
            return match conditional(source, line) {
                Some(_) => Err(Fault {
                    why: CROSSES,
                    at: hole.literal.start,
                }),
                None => Ok(()),
            };
        }
        let end = line_end(source, hash);
        let (word, rest) = word(source, hash + 1, end);
        match word {
            b"if" => {
                self.has_branches = true;
                self.sections.push(Section {
                    start: end,
                    never: is_false(&source[rest..end]),
                });
            }
            b"elif" | b"else" | b"endif" => {
                if self.sections.pop().is_none() {
                    return Err(Fault {
                        why: "has an end of a conditional branch without #if",
                        at: hash,
                    });
                }
                if word != b"endif" {
                    self.sections.push(Section {
                        start: end,
                        never: word == b"elif" && is_false(&source[rest..end]),
                    });
                }
            }
            b"r" | b"load" | b":" => self.directives.push((hash + 1, end)),
            _ => {}
        }
        self.lexer.blank(hash, end);
        self.lexer.at = end;
        Ok(())
    }

    /// The branch in which the lexer failed is compiled by nobody: goes on at the line that ends it.
    fn skip(&mut self, fault: Fault) -> Result<(), Fault> {
        let source = self.lexer.source;
        let Some(section) = self.sections.last() else {
            return Err(fault);
        };
        if fault.why == CROSSES && !section.never {
            return Err(fault);
        }
        let (start, mut depth) = (section.start, 0_usize);
        let mut at = fault.at.max(start);
        loop {
            at = line_end(source, at);
            if at >= source.len() {
                return Err(fault);
            }
            at += line_break_length(&source[at..]);
            match conditional(source, at) {
                Some(b"if") => depth += 1,
                Some(b"endif") if depth > 0 => depth -= 1,
                Some(_) if depth == 0 => break,
                _ => {}
            }
        }
        while self.skipped.last().is_some_and(|(from, _)| *from >= start) {
            self.skipped.pop();
        }
        self.skipped.push((start, at));
        self.holes.clear();
        self.lexer.at = at;
        self.directive(at)
    }
}

/// Offset of the `#` that a line begins with.
fn hash(source: &[u8], line: usize) -> Option<usize> {
    let mut at = line;
    loop {
        match source.get(at)? {
            b'#' => return Some(at),
            b' ' | b'\t' | 0x0B | 0x0C | 0x1A => at += 1,
            0x80.. => match blank_length(&source[at..]) {
                (length, false) if length > 0 => at += length,
                _ => return None,
            },
            _ => return None,
        }
    }
}

/// The word of a line that begins or ends a conditional branch.
fn conditional(source: &[u8], line: usize) -> Option<&[u8]> {
    let hash = hash(source, line)?;
    let word = word(source, hash + 1, source.len()).0;
    matches!(word, b"if" | b"elif" | b"else" | b"endif").then_some(word)
}

/// The first word after `from`, and where it ends. `:` is one by itself.
fn word(source: &[u8], from: usize, end: usize) -> (&[u8], usize) {
    let start = from
        + source[from..end]
            .iter()
            .take_while(|b| matches!(b, b' ' | b'\t'))
            .count();
    let length = match source.get(start) {
        Some(b':') => 1,
        _ => source[start..end]
            .iter()
            .take_while(|b| b.is_ascii_alphabetic())
            .count(),
    };
    (&source[start..start + length], start + length)
}

fn is_false(condition: &[u8]) -> bool {
    let comment = condition.windows(2).position(|pair| pair == b"//");
    condition[..comment.unwrap_or(condition.len())].trim_ascii() == b"false"
}

/// Whether only blanks follow on the line.
fn rest_is_blank(source: &[u8], from: usize) -> bool {
    source[from..]
        .iter()
        .find(|b| !matches!(b, b' ' | b'\t' | 0x0B | 0x0C))
        .is_some_and(|b| matches!(b, b'\n' | b'\r'))
}

fn line_end(source: &[u8], from: usize) -> usize {
    let mut at = from;
    while let Some(&byte) = source.get(at) {
        if matches!(byte, b'\n' | b'\r') || (byte >= 0x80 && blank_length(&source[at..]).1) {
            break;
        }
        at += 1;
    }
    at
}

fn ends_with_break(bytes: &[u8]) -> bool {
    matches!(
        bytes,
        [.., b'\n' | b'\r'] | [.., 0xC2, 0x85] | [.., 0xE2, 0x80, 0xA8 | 0xA9]
    )
}

fn line_break_length(bytes: &[u8]) -> usize {
    match bytes {
        [b'\n' | b'\r', ..] => 1,
        _ => blank_length(bytes).0,
    }
}

/// Length of the non-ASCII blank at the beginning of `bytes`, 0 if there is none, and whether it
/// ends a line.
fn blank_length(bytes: &[u8]) -> (usize, bool) {
    match bytes {
        [0xC2, 0x85, ..] => (2, true),
        [0xE2, 0x80, 0xA8 | 0xA9, ..] => (3, true),
        [0xC2, 0xA0, ..] => (2, false),
        [0xE1, 0x9A, 0x80, ..] | [0xE2, 0x80, 0x80..=0x8A | 0xAF, ..] => (3, false),
        // A byte order mark is a blank wherever it stands; files that were joined have several.
        [0xE2, 0x81, 0x9F, ..] | [0xE3, 0x80, 0x80, ..] | [0xEF, 0xBB, 0xBF, ..] => (3, false),
        _ => (0, false),
    }
}

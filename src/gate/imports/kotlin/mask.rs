//! The mask of a Kotlin file. Comments nest; the code in `${}` stays visible, the name after a bare
//! `$` does not, since it is a variable's and never a path. As many `$` as stand before the quotes
//! begin code (one, where none does). Names in backquotes stay as they are: quotes and slashes in
//! them mean nothing.

use super::super::mask_braces::{Lexer, unended, unended_line};
use super::super::source::Fault;

/// A string literal.
#[derive(Clone, Copy)]
struct Literal {
    /// Offset of its first byte, a `$` where such stand before it.
    start: usize,
    /// Offset of its text.
    body: usize,
    raw: bool,
    dollars: usize,
}

/// A string whose text goes on after code.
struct Hole {
    literal: Literal,
    braces: usize,
}

/// Masks the file. The result has the length of the source.
pub fn mask(source: &[u8]) -> Result<Vec<u8>, Fault> {
    let mut lexer = Lexer::new(source);
    let mut holes: Vec<Hole> = Vec::new();
    while let Some(&byte) = source.get(lexer.at) {
        match byte {
            b'/' if lexer.peek(1) == b'/' => lexer.line_comment(),
            b'/' if lexer.peek(1) == b'*' => lexer.block_comment(true)?,
            b'$' | b'"' => {
                let dollars = lexer.run(lexer.at, b'$');
                let quote = lexer.at + dollars;
                if source.get(quote) == Some(&b'"') {
                    let raw = source[quote..].starts_with(b"\"\"\"");
                    let literal = Literal {
                        start: lexer.at,
                        body: quote + if raw { 3 } else { 1 },
                        raw,
                        dollars: dollars.max(1),
                    };
                    text(&mut lexer, &mut holes, literal, literal.body)?;
                } else {
                    lexer.at = quote;
                }
            }
            b'\'' => lexer.character()?,
            b'`' => lexer.at += backquoted(&source[lexer.at..]).unwrap_or(1),
            b'{' => {
                if let Some(hole) = holes.last_mut() {
                    hole.braces += 1;
                }
                lexer.at += 1;
            }
            b'}' => {
                lexer.at += 1;
                match holes.last_mut() {
                    Some(hole) if hole.braces > 0 => hole.braces -= 1,
                    Some(_) => {
                        if let Some(hole) = holes.pop() {
                            let from = lexer.at;
                            text(&mut lexer, &mut holes, hole.literal, from)?;
                        }
                    }
                    None => {}
                }
            }
            _ => {
                lexer.at += 1;
                lexer.skip_plain();
            }
        }
    }
    match holes.first() {
        Some(hole) => Err(unended(hole.literal.start)),
        None => Ok(lexer.out),
    }
}

/// Length of a name in backquotes at the beginning of `bytes`; its line must end it.
fn backquoted(bytes: &[u8]) -> Option<usize> {
    let end = bytes[1..].iter().position(|b| matches!(b, b'`' | b'\n' | b'\r'))?;
    (end > 0 && bytes[end + 1] == b'`').then_some(end + 2)
}

/// The text of a string from `from` to its end or to the code in it.
fn text(lexer: &mut Lexer<'_>, holes: &mut Vec<Hole>, literal: Literal, from: usize) -> Result<(), Fault> {
    let is_whole = from == literal.body;
    let mut at = from;
    let end = loop {
        match lexer.source.get(at) {
            Some(b'\\') if !literal.raw => at += 2,
            Some(b'"') if !literal.raw => break at + 1,
            Some(b'"') => {
                // Of more than three quotes the last three are the end.
                let quotes = lexer.run(at, b'"');
                at += quotes;
                if quotes >= 3 {
                    break at;
                }
            }
            Some(b'$') => {
                let dollars = lexer.run(at, b'$');
                at += dollars;
                match lexer.source.get(at) {
                    Some(b'{') if dollars >= literal.dollars => {
                        lexer.hide(if is_whole { literal.start } else { from }, at);
                        lexer.at = at + 1;
                        holes.push(Hole { literal, braces: 0 });
                        return Ok(());
                    }
                    Some(b'`') if dollars >= literal.dollars => {
                        at += backquoted(&lexer.source[at..]).unwrap_or(1);
                    }
                    _ => {}
                }
            }
            Some(b'\n' | b'\r') if !literal.raw => return Err(unended_line(literal.start)),
            Some(_) => at += 1,
            None => return Err(unended(literal.start)),
        }
    };
    if is_whole {
        lexer.literal(literal.start, end);
    } else {
        lexer.hide(from, end);
        lexer.at = end;
    }
    Ok(())
}

//! The mask of a Java file whose Unicode escapes are translated.
//!
//! `"""` always opens a text block: two adjacent strings are no Java of any version. The code in
//! `\{}` of the string templates that Java 21 and 22 tried stays visible.

use super::super::mask_braces::{Lexer, unended, unended_line};
use super::super::source::Fault;

/// A string whose text goes on after code.
struct Hole {
    start: usize,
    block: bool,
    braces: usize,
}

/// Masks the file. The result has the length of the source.
pub fn mask(source: &[u8]) -> Result<Vec<u8>, Fault> {
    let mut lexer = Lexer::new(source);
    let mut holes: Vec<Hole> = Vec::new();
    while let Some(&byte) = source.get(lexer.at) {
        match byte {
            b'/' if lexer.peek(1) == b'/' => lexer.line_comment(),
            b'/' if lexer.peek(1) == b'*' => lexer.block_comment(false)?,
            b'"' => {
                let (start, block) = (lexer.at, source[lexer.at..].starts_with(b"\"\"\""));
                let from = start + if block { 3 } else { 1 };
                text(&mut lexer, &mut holes, start, from, block)?;
            }
            b'\'' => lexer.character()?,
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
                        if let Some(Hole { start, block, .. }) = holes.pop() {
                            let from = lexer.at;
                            text(&mut lexer, &mut holes, start, from, block)?;
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
        Some(hole) => Err(unended(hole.start)),
        None => Ok(lexer.out),
    }
}

/// The text of a string from `from` to its end or to the code in it.
fn text(lexer: &mut Lexer<'_>, holes: &mut Vec<Hole>, start: usize, from: usize, block: bool) -> Result<(), Fault> {
    let is_whole = from == start + if block { 3 } else { 1 };
    let mut at = from;
    loop {
        match lexer.source.get(at) {
            Some(b'\\') if lexer.source.get(at + 1) == Some(&b'{') => {
                lexer.hide(if is_whole { start } else { from }, at + 1);
                lexer.at = at + 2;
                holes.push(Hole {
                    start,
                    block,
                    braces: 0,
                });
                return Ok(());
            }
            // Of `\` and a line break the first byte is enough, the second one ends nothing here.
            Some(b'\\') if block || !matches!(lexer.source.get(at + 1), Some(b'\n' | b'\r')) => at += 2,
            Some(b'"') if !block || lexer.source[at..].starts_with(b"\"\"\"") => break,
            Some(b'\n' | b'\r') if !block => return Err(unended_line(start)),
            Some(_) => at += 1,
            None => return Err(unended(start)),
        }
    }
    let end = at + if block { 3 } else { 1 };
    if is_whole {
        lexer.literal(start, end);
    } else {
        lexer.hide(from, end);
        lexer.at = end;
    }
    Ok(())
}

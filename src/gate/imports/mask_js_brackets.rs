//! Brackets of JavaScript: what they nest, and what follows them.

use super::mask_js::{Frame, Lexer, Slash};
use super::source::Fault;

impl Lexer<'_> {
    pub(super) fn open(&mut self, byte: u8) {
        let frame = match byte {
            b'(' => {
                let after = if self.is_word(|word| matches!(word, b"if" | b"while" | b"for" | b"with")) {
                    Slash::Regex
                } else {
                    Slash::Division
                };
                Frame::Paren {
                    after,
                    is_for: self.is_word(|word| word == b"for"),
                }
            }
            b'[' => Frame::Square,
            _ => Frame::Brace {
                after: self.after_brace(),
            },
        };
        self.frames.push(frame);
        self.at += 1;
        self.token(byte, Slash::Regex);
    }

    /// What follows the `}` of a `{` here: after a block a statement begins, after an object
    /// literal an operator.
    fn after_brace(&mut self) -> Slash {
        let depth = self.frames.len();
        while self.expressions.last().is_some_and(|d| *d > depth) {
            self.expressions.pop();
        }
        if self.expressions.last() == Some(&depth) {
            self.expressions.pop();
            return Slash::Unsure;
        }
        match self.last {
            // A block on a line of its own.
            b'a' if self.broke_line && self.is_word(|word| matches!(word, b"return" | b"yield" | b"await")) => {
                Slash::Unsure
            }
            b'a' if self.is_word(|word| {
                matches!(
                    word,
                    b"return"
                        | b"typeof"
                        | b"case"
                        | b"in"
                        | b"of"
                        | b"instanceof"
                        | b"new"
                        | b"delete"
                        | b"void"
                        | b"throw"
                        | b"yield"
                        | b"await"
                        | b"default"
                        | b"extends"
                )
            }) =>
            {
                Slash::Division
            }
            b':' if matches!(
                self.frames.last(),
                None | Some(Frame::Brace {
                    after: Slash::Regex | Slash::Unsure
                })
            ) =>
            {
                Slash::Unsure
            }
            0 | b';' | b')' | b'>' | b']' | b'"' | b'{' | b'}' | b'a' => Slash::Regex,
            _ => Slash::Division,
        }
    }

    pub(super) fn close(&mut self, byte: u8) {
        let mut slash = Slash::Division;
        match (self.frames.last(), byte) {
            (Some(&Frame::Paren { after, .. }), b')') => {
                slash = after;
                self.frames.pop();
            }
            (Some(Frame::Square), b']') => {
                self.frames.pop();
            }
            _ => {}
        }
        self.at += 1;
        self.token(byte, slash);
    }

    pub(super) fn close_brace(&mut self) -> Result<(), Fault> {
        self.at += 1;
        while let Some(Frame::Paren { .. } | Frame::Square) = self.frames.last() {
            self.frames.pop();
        }
        match self.frames.last() {
            Some(&Frame::Hole { start }) => {
                self.frames.pop();
                self.template(start)
            }
            Some(Frame::Expression { .. }) => {
                self.frames.pop();
                Ok(())
            }
            Some(&Frame::Brace { after }) => {
                self.frames.pop();
                self.token(b'}', after);
                Ok(())
            }
            _ => {
                self.token(b'}', Slash::Regex);
                Ok(())
            }
        }
    }
}

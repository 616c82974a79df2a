//! Paths that begin at the place of the file: `File.join(__dir__, "..", "x")`,
//! `File.expand_path("../x", __FILE__)`, `"#{__dir__}/../x"`.
//!
//! They become what `require_relative` would have: a path from the file's folder that begins with a dot.

use super::super::ImportKind;
use super::super::escapes;
use super::super::literal_cursor::{CLOSE, Token};
use super::super::token::HIDDEN;
use super::Scanner;

/// What stands in an argument besides literals.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Place {
    /// `__FILE__`, which is a folder too many.
    is_file: bool,
    /// `__dir__`
    is_folder: bool,
    /// How often the folder above is taken.
    ups: usize,
}

impl Place {
    /// A word of the argument.
    pub(super) fn see(&mut self, word: &[u8]) {
        match word {
            b"__FILE__" => self.is_file = true,
            b"__dir__" => self.is_folder = true,
            b"dirname" | b"parent" => self.ups += 1,
            _ => {}
        }
    }

    pub(super) fn is_known(self) -> bool {
        self.is_file || self.is_folder
    }

    /// The path from the file's folder, of what is written behind the place.
    pub(super) fn path(self, written: &str) -> String {
        let mut parts: Vec<&str> = written.split('/').filter(|part| !part.is_empty()).collect();
        // From `__FILE__` itself the first `..` is its folder.
        let ups = match (self.is_file, self.ups) {
            (true, 0) => {
                if parts.first() == Some(&"..") {
                    parts.remove(0);
                }
                0
            }
            (true, ups) => ups - 1,
            (false, ups) => ups,
        };
        let path = format!("{}{}", "../".repeat(ups), parts.join("/"));
        match path.starts_with("../") {
            true => path,
            false => format!("./{path}"),
        }
    }
}

impl Scanner<'_> {
    /// Takes a literal that begins with the file's folder and has no other code in it; whether it is one.
    pub(super) fn begins_at_place(&mut self, kind: ImportKind, open: Token) -> bool {
        let Some(body) = self.source[open.start..].strip_prefix(b"\"") else {
            return false;
        };
        let Some(end) = body.iter().take(80).position(|byte| *byte == b'}') else {
            return false;
        };
        let code: Vec<u8> = body[..end].iter().copied().filter(|byte| *byte != b' ').collect();
        if !matches!(code.as_slice(), b"#{__dir__" | b"#{File.dirname(__FILE__)") {
            return false;
        }
        let start = open.start + 1 + end + 1;
        let length = self.mask[start..].iter().take_while(|byte| **byte == HIDDEN).count();
        if self.mask.get(start + length) != Some(&CLOSE) {
            return false;
        }
        let Some(text) = escapes::javascript(&self.source[start..start + length]) else {
            return false;
        };
        self.push(Place::default().path(&text), kind, start);
        true
    }
}

//! Imports of C, C++ and Objective-C: `#include` and its kin, `@import`, and C++20's `import`.
//!
//! No mask is needed: a directive begins a line, so one pass over the bytes that knows comments,
//! strings and joined lines finds all of them. Invariants: a backslash before a line break joins
//! lines everywhere but in raw strings, also inside of words; a quote that its line does not end
//! ends there, as compilers read it in a block that `#if` leaves out, so an apostrophe in prose
//! refuses no file. Branches that `#if` leaves out count: which of them are taken nobody can tell.
//!
//! Where compilers differ so that one of them would see another file than the other (a trigraph
//! `??/` before a line break or a quote, a lone carriage return in a comment, blanks between the
//! backslash and the line break before code, a comment or quote in a `<name>`), the file is a fault.
//!
//! `__has_include(<x>)` asks and does not import. `import x;` counts as a module wherever a
//! statement may begin, although it could declare an `x` of a type `import`. Not seen:
//! `#pragma comment(lib, ...)` and other ways to link, files that a build's options include.

mod lexer;
mod macros;
mod names;
#[cfg(test)]
mod tests;

use super::source::{Fault, Found};
pub(super) use lexer::RawStrings;

/// Every import of the file.
pub fn scan(source: &[u8], raw_strings: RawStrings) -> Result<Vec<Found>, Fault> {
    lexer::Lexer::new(source, raw_strings).run()
}

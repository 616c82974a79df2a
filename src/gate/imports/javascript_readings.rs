//! In which ways a JavaScript or TypeScript file may be read.

use super::javascript::Scanner;
use super::mask_js::{Elements, Html, mask};
use super::source::{Fault, Found};
use super::{jsdoc, references};

/// Every import, in no particular order and perhaps twice.
///
/// `<T>(don't)` is an element in .tsx and code in .ts; `<!--` is a comment in a script and none in
/// a module. Where the file's name does not say which, every reading is tried; a wrong one nearly
/// always breaks off in a string or regular expression. The imports of all that work count, so
/// that no reading can hide one, and one that breaks off unsure refuses the file.
pub fn scan(source: &[u8], dialect: Dialect) -> Result<Vec<Found>, Fault> {
    let has = |needle: &[u8]| memchr::memmem::find(source, needle).is_some();
    let html: &[Html] = if has(b"<!--") || has(b"-->") {
        &[Html::Operators, Html::Comments]
    } else {
        &[Html::Operators]
    };
    let mut all = Vec::new();
    let mut faults = Vec::new();
    let mut readings = 0;
    for html in html {
        let mut read = |elements: Elements| match mask(source, elements, *html) {
            Ok(masked) => {
                readings += 1;
                all.extend(Scanner::new(source, &masked.mask).run());
                all.extend(references::scan(source, &masked.mask));
                // Of TypeScript no comment is a type.
                if dialect != Dialect::Plain {
                    all.extend(jsdoc::scan(source, &masked.mask));
                }
                Ok(masked.has_elements)
            }
            Err(fault) => Err(fault),
        };
        let outcome = match dialect {
            Dialect::Plain => read(Elements::None),
            Dialect::Elements => read(Elements::Jsx),
            Dialect::Either => match read(Elements::Jsx) {
                Ok(true) => {
                    // Of a file with elements this reading is mostly wrong, and may well be unsure.
                    let _ = read(Elements::None);
                    Ok(true)
                }
                Err(fault) if !fault.is_unsure() => read(Elements::None).map_err(|_| fault),
                other => other,
            },
        };
        faults.extend(outcome.err());
    }
    match faults.iter().find(|fault| fault.is_unsure()).or(faults.first()) {
        Some(fault) if readings == 0 || fault.is_unsure() => Err(*fault),
        _ => Ok(all),
    }
}

/// What the ending of a file says about elements.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Dialect {
    /// .ts .mts .cts: `<T>x` is a type assertion.
    Plain,
    /// .tsx .jsx
    Elements,
    /// .js and scripts without an ending.
    Either,
}

impl Dialect {
    /// By the ending, letter case ignored.
    pub fn of(path: &[u8]) -> Dialect {
        match super::ending(path).as_deref() {
            Some(b"ts" | b"mts" | b"cts") => Dialect::Plain,
            Some(b"tsx" | b"jsx") => Dialect::Elements,
            _ => Dialect::Either,
        }
    }
}

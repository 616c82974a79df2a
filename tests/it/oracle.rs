//! The scanners beside real parsers, on the files of public packages that are on the machine anyway: what a
//! parser sees imported is found, and nothing else. In each language's file stands which parser.
//!
//! The figures of all languages, and what the others were compared with, stand in architecture/README.md.

use std::collections::BTreeSet;

use agentgate::gate::imports::{self, Import, Language};

mod javascript;
mod python;
mod rust;
mod typescript;

/// Files in which the scanner and the parser were compared.
#[derive(Default)]
struct Compared {
    files: usize,
    imports: usize,
    different: Vec<String>,
    /// In how many files of these something was missed.
    missed: usize,
}

impl Compared {
    /// Compares one file; `name` is what an import is called in `expected`, if it counts.
    fn file(
        &mut self,
        path: &str,
        language: Language,
        expected: &BTreeSet<String>,
        name: impl Fn(&Import) -> Option<String>,
    ) {
        let found = found(path, language, name);
        self.files += 1;
        self.imports += expected.len();
        if found != *expected {
            let missed: Vec<_> = expected.difference(&found).collect();
            let more: Vec<_> = found.difference(expected).collect();
            self.missed += usize::from(!missed.is_empty());
            self.different.push(format!("{path}: missed {missed:?}, more {more:?}"));
        }
    }

    /// There was something to compare, nothing was missed, and of a hundred files less than one has more: a file
    /// that declares a `require` of its own, say, which takes more than a parser to tell.
    fn misses_none(self, at_least: usize) {
        eprintln!(
            "{} files, {} imports; more in {:#?}",
            self.files, self.imports, self.different
        );
        assert!(self.files >= at_least, "only {} files are here", self.files);
        assert_eq!(self.missed, 0, "{:#?}", self.different);
        assert!(self.different.len() * 100 <= self.files, "{:#?}", self.different);
    }

    /// There was something to compare, and no difference.
    fn agree(self, at_least: usize) {
        eprintln!("{} files, {} imports", self.files, self.imports);
        assert!(self.files >= at_least, "only {} files are here", self.files);
        assert!(
            self.different.is_empty(),
            "{} of {}: {:#?}",
            self.different.len(),
            self.files,
            self.different
        );
    }
}

/// What the scanner finds in a file, by name; a refusal is something that no parser names.
fn found(path: &str, language: Language, name: impl Fn(&Import) -> Option<String>) -> BTreeSet<String> {
    let source = std::fs::read(path).expect("the parser read it too");
    match imports::imports_at(path.as_bytes(), language, &source) {
        Err(opaque) => BTreeSet::from([format!("(refused: {})", opaque.why)]),
        Ok(found) => found.iter().filter_map(name).collect(),
    }
}

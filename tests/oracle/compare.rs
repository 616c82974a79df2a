//! The comparison.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::io::Write as _;
use std::ops::{Range, RangeInclusive};

use agentgate::gate::imports::{self, Import, ImportKind, Language};
use tree_sitter::{Parser, Tree};

use crate::corpora;

/// Files that are compared where `ORACLE_FILES` does not say how many.
const FILES: usize = 400;

/// The line of an import and its name.
pub type Found = (usize, String);

/// The parts of a file that are in a language.
type Parts = fn(&[u8]) -> Vec<Range<usize>>;

/// What tree-sitter sees in a file.
#[derive(Default)]
pub struct Seen {
    /// Imports, in statements that have no error in them.
    pub imports: BTreeSet<Found>,
    /// Lines, from 1, that tree-sitter has as words only, such as a macro's: there more may be found.
    pub unread: Vec<RangeInclusive<usize>>,
    /// Lines of comments that may import types, which is nothing to tree-sitter.
    pub documentation: Vec<RangeInclusive<usize>>,
}

/// One language beside a grammar of it.
pub struct Grammar {
    language: Language,
    endings: &'static [&'static str],
    grammars: Vec<tree_sitter::Language>,
    seen: fn(&Tree, &[u8]) -> Seen,
    counts: fn(&Import) -> bool,
    parts: Option<Parts>,
}

impl Grammar {
    /// Files with these endings; what counts are the imports of statements.
    pub fn new(
        language: Language,
        endings: &'static [&'static str],
        grammar: impl Into<tree_sitter::Language>,
        seen: fn(&Tree, &[u8]) -> Seen,
    ) -> Grammar {
        Grammar {
            language,
            endings,
            grammars: vec![grammar.into()],
            seen,
            counts: |import| import.kind == ImportKind::Static,
            parts: None,
        }
    }

    /// Which of the imports that the scanner finds count.
    pub fn counting(self, counts: fn(&Import) -> bool) -> Grammar {
        Grammar { counts, ..self }
    }

    /// What of a file is written in the language.
    pub fn in_parts(self, parts: Parts) -> Grammar {
        Grammar {
            parts: Some(parts),
            ..self
        }
    }

    /// A grammar for files that the first cannot read.
    pub fn or(mut self, grammar: impl Into<tree_sitter::Language>) -> Grammar {
        self.grammars.push(grammar.into());
        self
    }

    /// The tree of the first grammar that has no error, else of the first.
    fn parse(&self, source: &[u8]) -> Tree {
        let mut first = None;
        for grammar in &self.grammars {
            let mut parser = Parser::new();
            parser
                .set_language(grammar)
                .expect("a grammar of this version of tree-sitter");
            if let Some(parts) = self.parts {
                let ranges: Vec<_> = parts(source).into_iter().map(|part| range(source, part)).collect();
                parser.set_included_ranges(&ranges).expect("in order");
            }
            let tree = parser.parse(source, None).expect("a parser with a language");
            if !tree.root_node().has_error() {
                return tree;
            }
            first.get_or_insert(tree);
        }
        first.expect("one grammar")
    }
}

/// A part of a source as tree-sitter wants it.
fn range(source: &[u8], part: Range<usize>) -> tree_sitter::Range {
    let point = |at: usize| {
        let before = &source[..at];
        let start = before.iter().rposition(|byte| *byte == b'\n').map_or(0, |at| at + 1);
        tree_sitter::Point {
            row: before.iter().filter(|byte| **byte == b'\n').count(),
            column: at - start,
        }
    };
    tree_sitter::Range {
        start_byte: part.start,
        end_byte: part.end,
        start_point: point(part.start),
        end_point: point(part.end),
    }
}

/// Counts over the files of a language.
#[derive(Default)]
struct Counts {
    files: usize,
    bytes: usize,
    imports: usize,
    missed: usize,
    more: usize,
    /// Files in which more was found.
    with_more: usize,
    /// Files that tree-sitter does not parse as a whole; in them more may be found.
    with_errors: usize,
    /// Files that import something by a name that is computed; in them more may be found.
    computed: usize,
    /// Files that the scanner refuses.
    refused: usize,
}

/// Nothing that tree-sitter sees is missed, and more is found in less than one file of a hundred.
pub fn compare(grammar: &Grammar) {
    let packages = corpora::packages(grammar.language, grammar.endings);
    let name = grammar.endings[0];
    let mut stderr = std::io::stderr().lock();
    if packages.is_empty() {
        writeln!(
            stderr,
            "skipped: .{name} beside tree-sitter: .ci/corpora brought no package with it"
        )
        .expect("standard error can be written");
        return;
    }
    drop(stderr);
    let most = std::env::var("ORACLE_FILES").map_or(FILES, |most| most.parse().expect("ORACLE_FILES is a number"));
    let mut counts = Counts::default();
    let mut different = String::new();
    for path in corpora::sample(&packages, most) {
        let source = std::fs::read(path).expect("a file of a package");
        // Neither of them reads another encoding.
        if std::str::from_utf8(&source).is_err() || source.contains(&0) {
            continue;
        }
        counts.files += 1;
        counts.bytes += source.len();
        let Ok(all) = imports::imports_at(path.as_os_str().as_encoded_bytes(), grammar.language, &source) else {
            // Go's compiler is tested with files that it must refuse, which say so.
            let is_faulty = memchr::memmem::find(&source, b"ERROR").is_some();
            counts.with_errors += usize::from(is_faulty);
            counts.refused += usize::from(!is_faulty);
            writeln!(different, "{}: refused", path.display()).expect("a string");
            continue;
        };
        let tree = grammar.parse(&source);
        let seen = (grammar.seen)(&tree, &source);
        let ours: BTreeSet<Found> = all
            .iter()
            .filter(|import| (grammar.counts)(import))
            .map(|import| ((import.line as usize, import.raw.clone()), import.kind))
            .filter(|(found, kind)| {
                let is_documented = || seen.documentation.iter().any(|lines| lines.contains(&found.0));
                *kind != ImportKind::TypeOnly || seen.imports.contains(found) || !is_documented()
            })
            .map(|(found, _)| found)
            .collect();
        let missed: Vec<_> = seen.imports.difference(&ours).collect();
        let has_errors = tree.root_node().has_error();
        // Where something is imported by a name that is computed, strings count that may be it.
        let is_computed = all.iter().any(|import| import.kind == ImportKind::Opaque);
        let more: Vec<_> = ours
            .difference(&seen.imports)
            .filter(|(line, _)| !has_errors && !is_computed && !seen.unread.iter().any(|lines| lines.contains(line)))
            .collect();
        counts.imports += seen.imports.len();
        counts.with_errors += usize::from(has_errors);
        counts.computed += usize::from(is_computed);
        counts.missed += missed.len();
        counts.more += more.len();
        counts.with_more += usize::from(!more.is_empty());
        if !missed.is_empty() || !more.is_empty() {
            writeln!(different, "{}: missed {missed:?}, more {more:?}", path.display()).expect("a string");
        }
    }
    let names: Vec<_> = packages.keys().map(String::as_str).collect();
    eprintln!(
        ".{}: {} files, {:.1} MB, {} imports, {} missed, {} more in {} files; {} files with errors, {} with a computed import, {} refused; {}\n{different}",
        grammar.endings.join(" ."),
        counts.files,
        counts.bytes as f64 / 1e6,
        counts.imports,
        counts.missed,
        counts.more,
        counts.with_more,
        counts.with_errors,
        counts.computed,
        counts.refused,
        names.join(", "),
    );
    assert!(counts.imports > 0, "nothing to compare in {} files", counts.files);
    assert_eq!(counts.missed, 0, "{different}");
    assert!(counts.with_more * 100 <= counts.files, "{different}");
    assert_eq!(counts.refused, 0, "{different}");
}

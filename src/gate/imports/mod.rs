//! Imports of a source file: found by a masking lexer and a statement scanner, never by a
//! recursive parser (agent-written nesting overflows its stack).

use super::Unreadable;

/// Languages whose imports this version reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Language {
    /// .js .jsx .mjs .cjs .ts .tsx .mts .cts
    JavaScript,
    /// .py .pyi .pyw
    Python,
}

/// How something is imported.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ImportKind {
    /// `import x from "y"`, `import y`
    Static,
    /// `import type`, `import("y").T` in a type
    TypeOnly,
    /// `export ... from "y"`
    ReExport,
    /// `require("y")`
    Require,
    /// `import("y")`, `__import__("y")`, `importlib.import_module("y")`
    Dynamic,
    /// A dynamic import whose argument is no literal: worth a notice.
    Opaque,
    /// `jest.mock("y")`, `vi.mock("y")`
    Mock,
}

/// One import as found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Import {
    /// As written, escapes decoded; empty for [`ImportKind::Opaque`].
    pub raw: String,
    /// The external identity in segments (`["redis", "client"]`, `["@redis", "client"]`,
    /// `["redis", "asyncio"]`); empty where the import is relative or the repository's own.
    pub identity: Vec<String>,
    /// How.
    pub kind: ImportKind,
    /// 1-based line of the specifier.
    pub line: u32,
    /// 1-based byte column of the specifier.
    pub column: u32,
}

/// A source file that cannot be inspected: not UTF-8, NUL bytes, unterminated string or comment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Opaque {
    /// Why, lower case, one line.
    pub why: String,
    /// 1-based line where it begins, where known.
    pub line: Option<u32>,
}

/// The language of a path by its ending, if its imports can be read.
pub fn language(path: &[u8]) -> Option<Language> {
    todo!()
}

/// Every import of the file, in order of position.
pub fn imports(language: Language, source: &[u8]) -> Result<Vec<Import>, Opaque> {
    todo!()
}

/// Whether an entry of `forbidden_imports` names this import.
pub fn matches(entry: &str, language: Language, import: &Import) -> bool {
    todo!()
}

//! Imports of a source file: found by a masking lexer and a statement scanner, never by a
//! recursive parser (agent-written nesting overflows its stack).
//!
//! Invariants: comments and the inside of strings never count; an import that the language would
//! perform is reported or the file is [`Opaque`], never silently skipped; time and stack are
//! linear and constant in the size of the file.
//!
//! Type-only imports (`import type`, Python's `if TYPE_CHECKING:`) are reported like any other,
//! with [`ImportKind::TypeOnly`] where that is certain; whether they count is the caller's rule.
//! `from app import db` names either a module or an attribute, so its identity is `app.db`, which
//! the entries `app` and `app.db` both match. One statement may yield several imports at one
//! position: report one finding per (rule, line).

mod arguments;
mod escapes;
mod identity;
mod javascript;
mod javascript_calls;
mod jsx;
mod mask_js;
mod mask_js_literals;
mod mask_py;
mod matching;
mod python;
mod python_calls;
mod source;
mod token;

#[cfg(test)]
mod tests;
#[cfg(test)]
mod tests_hostile;
#[cfg(test)]
mod tests_javascript;
#[cfg(test)]
mod tests_python;

pub use matching::{matches, matches_relative};

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
    /// `import type`, `x as import("y").T`, an import below Python's `if TYPE_CHECKING:`. Only
    /// where it is certain: `import("y").T` that may be an expression is [`ImportKind::Dynamic`].
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
    /// As written, escapes decoded; empty for [`ImportKind::Opaque`]. Of Python's from-imports the
    /// dotted path with the name (`redis.asyncio`, `..db.x`, `.redis`), without it for `*`. Where
    /// only the beginning is a literal (`require("redis/" + x)`), that beginning.
    pub raw: String,
    /// The external identity in segments (`["redis", "client"]`, `["@redis", "client"]`,
    /// `["redis", "asyncio"]`); empty where the import is relative.
    pub identity: Vec<String>,
    /// How.
    pub kind: ImportKind,
    /// 1-based line of the specifier.
    pub line: u32,
    /// 1-based byte column of the specifier, a byte order mark not counted.
    pub column: u32,
}

impl Import {
    /// The first segment of the identity: for Python the name to look for among the repository's
    /// own top-level packages (`redis/`, `redis.py`, also below a source root), which only a
    /// caller that knows the tree can do. None for a relative import.
    pub fn first_segment(&self) -> Option<&str> {
        self.identity.first().map(String::as_str)
    }
}

/// A source file that cannot be inspected: not UTF-8, NUL bytes, unterminated string or comment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Opaque {
    /// Why, lower case, one line.
    pub why: String,
    /// 1-based line where it begins, where known.
    pub line: Option<u32>,
}

/// The language of a path by its ending (letter case ignored), if its imports can be read.
pub fn language(path: &[u8]) -> Option<Language> {
    let name = path.rsplit(|b| *b == b'/').next().unwrap_or(path);
    let dot = name.iter().rposition(|b| *b == b'.')?;
    match name[dot + 1..].to_ascii_lowercase().as_slice() {
        b"js" | b"jsx" | b"mjs" | b"cjs" | b"ts" | b"tsx" | b"mts" | b"cts" => Some(Language::JavaScript),
        b"py" | b"pyi" | b"pyw" => Some(Language::Python),
        _ => None,
    }
}

/// Every import of the file, in order of position.
pub fn imports(language: Language, source: &[u8]) -> Result<Vec<Import>, Opaque> {
    source::inspectable(source)?;
    let found = match language {
        Language::JavaScript => javascript::scan(source),
        Language::Python => python::scan(source),
    };
    match found {
        Ok(found) => Ok(source::placed(source, found)),
        Err(fault) => Err(fault.located(source)),
    }
}

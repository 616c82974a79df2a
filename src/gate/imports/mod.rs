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
//! the entries `app` and `app.db` both match.
//!
//! Where the language cannot be followed without running it, the rule is: an argument that is no
//! literal is [`ImportKind::Opaque`], and each string in it counts as an import; where `require`
//! or `import_module` becomes a value that may be called under another name, the file has one
//! opaque import, and each literal argument and list element in it counts. A name that a file
//! computes from pieces stays what the opaque import says: unknown.
//!
//! Not seen: code in strings (`eval`, `exec`, `data:`), what another file exports under an own name. One statement may yield several imports at one
//! position: report one finding per (rule, line).

use std::sync::Arc;

mod addresses;
mod arguments;
mod c;
mod components;
mod copies;
mod csharp;
mod dotted;
mod embedded;
mod escapes;
mod go;
mod html;
mod html_text;
mod identity;
mod java;
mod javascript;
mod javascript_calls;
mod javascript_dirname;
mod javascript_literals;
mod javascript_paths;
mod javascript_readings;
mod javascript_require;
mod jsdoc;
mod jsx;
mod jsx_start;
mod kotlin;
mod lexeme;
mod literal_cursor;
mod mask_braces;
mod mask_js;
mod mask_js_brackets;
mod mask_js_literals;
mod mask_py;
mod matching;
mod package_manifest;
mod php;
mod python;
mod python_calls;
mod python_encoding;
mod python_files;
mod python_loaders;
mod references;
mod reflection;
mod ruby;
mod rust;
mod source;
mod token;
mod type_position;

#[cfg(test)]
mod tests;
#[cfg(test)]
mod tests_braces;
#[cfg(test)]
mod tests_escapes;
#[cfg(test)]
mod tests_hostile;
#[cfg(test)]
mod tests_javascript;
#[cfg(test)]
mod tests_loaders;
#[cfg(test)]
mod tests_python;
#[cfg(test)]
mod tests_rust_go;

pub(in crate::gate) use copies::below as below_copies;
pub use copies::may_be_copy;
pub(in crate::gate) use identity::{
    VENDORED, VENDORS, has_release, include as include_identity, javascript as javascript_identity, may_hold_copies,
    percent_decoded, vendored, vendors_as_vendor,
};
pub(super) use matching::is_match;
pub use matching::{allows, as_matched, copied, dead, file_with, is_anywhere, matches, matches_relative, named};
pub(in crate::gate) use package_manifest::is_package_manifest;
pub(super) use rust::PACKAGE;

/// Languages whose imports this version reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Language {
    /// .js .jsx .mjs .cjs .es6 .ts .tsx .mts .cts, the scripts in .vue, .svelte and .html, the code in .ejs
    JavaScript,
    /// .py .pyi .pyw
    Python,
    /// .rs
    Rust,
    /// .go
    Go,
    /// .java
    Java,
    /// .kt .kts
    Kotlin,
    /// C and C++: .c .h .cc .cpp .cxx .c++ .hh .hpp .hxx .h++ .inl .ipp .tpp .tcc .txx .ixx .cppm .ccm .cxxm
    /// .c++m .m .mm .cu .cuh, and of assembler what is preprocessed: .S (in that case) and .sx
    C,
    /// .cs .csx
    CSharp,
    /// .rb .rake .gemspec .podspec .ru and the like, the code in .erb, and the files that are named `Rakefile`, `Gemfile`
    /// and the like
    Ruby,
    /// .php .phtml and older endings, the code in .blade.php; .inc where it holds `<?`, else it is C
    Php,
}

impl Language {
    /// The language that a policy means by this word; JavaScript and TypeScript are one, as are C
    /// and C++, since each imports files of the other.
    pub fn named(word: &str) -> Option<Language> {
        Some(match word {
            "javascript" | "typescript" | "js" | "ts" => Language::JavaScript,
            "python" | "py" => Language::Python,
            "rust" | "rs" => Language::Rust,
            "go" => Language::Go,
            "java" => Language::Java,
            "kotlin" | "kt" => Language::Kotlin,
            "c" | "cpp" | "c++" => Language::C,
            "csharp" | "cs" | "c#" => Language::CSharp,
            "ruby" | "rb" => Language::Ruby,
            "php" => Language::Php,
            _ => return None,
        })
    }

    /// The words by which a policy may name a language.
    pub const WORDS: &'static [&'static str] = &[
        "javascript",
        "typescript",
        "js",
        "ts",
        "python",
        "py",
        "rust",
        "rs",
        "go",
        "java",
        "kotlin",
        "kt",
        "c",
        "cpp",
        "c++",
        "csharp",
        "cs",
        "c#",
        "ruby",
        "rb",
        "php",
    ];
}

/// Every language once; a variant that is missing here does not compile.
macro_rules! languages {
    ($($variant:ident = $name:literal),+ $(,)?) => {
        impl Language {
            /// Every language, in the order of reports.
            pub const ALL: &'static [Language] = &[$(Language::$variant),+];

            /// The language's name in reports.
            pub const fn name(self) -> &'static str {
                match self { $(Language::$variant => $name),+ }
            }
        }
    };
}

languages! {
    JavaScript = "javascript",
    Python = "python",
    Rust = "rust",
    Go = "go",
    Java = "java",
    Kotlin = "kotlin",
    C = "c",
    CSharp = "csharp",
    Ruby = "ruby",
    Php = "php",
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
    /// `#include <y>`, PHP's `include "y"`, Ruby's `load "y"`, Python's `exec(open("y").read())`, Rust's
    /// `include!("y")` and `#[path = "y"] mod x;`
    Include,
    /// A use without an import: Rust's `redis::cmd()`, a fully qualified name of Java, Kotlin, C# or
    /// PHP.
    Reference,
    /// A dotted name in an expression of C# (`A.B.C()`), where A may be a namespace or something that
    /// another file declares: only an entry that begins as the name does names it, and a word that is
    /// neither the first segment nor one of the last two. Of Kotlin (`a.b.c()`) only an entry of several
    /// segments, and allow-lists pass over it.
    Member,
    /// A name of PHP that begins in the namespace of its file (`new Client` in `namespace Redis`), its identity the
    /// whole name: only an entry that goes on behind the namespace names it, which [`ImportKind::Declared`] tells
    /// of. Allow-lists pass over it.
    Relative,
    /// A string of PHP that is written like a qualified name (`'Redis\\Client'`), which a callable or a factory may
    /// take for a class. Allow-lists pass over it.
    Text,
    /// The package or namespace that the file puts itself into (`package redis.clients.jedis;`), whose
    /// names then need no import: only an entry that begins as the name does names it. Where the
    /// repository's own files lie is no import, so allow-lists and edges pass over it.
    Declared,
}

/// One import as found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Import {
    /// As written, escapes decoded; empty for [`ImportKind::Opaque`]. Of Python's from-imports the
    /// dotted path with the name (`redis.asyncio`, `..db.x`, `.redis`), without it for `*`. Where
    /// only the beginning is a literal (`require("redis/" + x)`), that beginning. Of Rust one path
    /// for each leaf of a tree (`redis::aio::Connection`, `crate::db`, `self::redis::x`), of C and C++
    /// with the delimiters (`<redis/x.h>`, `"x.h"`), which tell where it is looked for; of Rust's includes
    /// the path, which `PACKAGE` may begin.
    pub raw: String,
    /// The external identity in segments (`["redis", "client"]`, `["@redis", "client"]`,
    /// `["redis", "asyncio"]`, `["github.com", "redis", "go-redis", "v9"]`); empty where the file
    /// alone tells that the import is relative or the repository's own. Names that only the tree can
    /// tell to be the repository's own (Go's module path, Java packages, `"x.h"`) are given in full.
    pub identity: Vec<String>,
    /// How.
    pub kind: ImportKind,
    /// 1-based line of the specifier.
    pub line: u32,
    /// 1-based byte column of the specifier, a byte order mark not counted.
    pub column: u32,
    /// The namespaces around it in C#, where its name may begin in one of them.
    pub within: Option<Arc<Within>>,
}

/// The namespaces around a name of C#, each in segments, the outermost first: `Db` in `namespace A.B` is
/// `A.B.Db`, `A.Db` or `Db`, whichever there is first.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Within(Vec<Vec<String>>);

impl Within {
    /// What may stand before the name, of each namespace the longest first; never nothing.
    pub fn beginnings(&self) -> impl Iterator<Item = &[String]> {
        self.0
            .iter()
            .flat_map(|name| (1..=name.len()).rev().map(|length| &name[..length]))
    }
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

/// Files of Ruby that have no ending, in lower case.
const RUBY_NAMES: &[&str] = &[
    "rakefile",
    "gemfile",
    "guardfile",
    "capfile",
    "vagrantfile",
    "podfile",
    "fastfile",
    "appfile",
    "matchfile",
    "deliverfile",
    "snapfile",
    "scanfile",
    "gymfile",
    "pluginfile",
    "berksfile",
    "thorfile",
    "cheffile",
    "puppetfile",
    "dangerfile",
    "steepfile",
    "brewfile",
    "buildfile",
    "appraisals",
    ".irbrc",
    ".pryrc",
    ".simplecov",
];

/// The language of a path by its ending or its name (letter case ignored), if its imports can be
/// read.
pub fn language(path: &[u8]) -> Option<Language> {
    let name = path.rsplit(|b| *b == b'/').next().unwrap_or(path);
    if RUBY_NAMES
        .iter()
        .any(|known| name.eq_ignore_ascii_case(known.as_bytes()))
    {
        return Some(Language::Ruby);
    }
    // `.s` is not preprocessed: no include in it does anything.
    if name.ends_with(b".S") {
        return Some(Language::C);
    }
    match ending(path)?.as_slice() {
        b"js" | b"jsx" | b"mjs" | b"cjs" | b"es6" | b"ts" | b"tsx" | b"mts" | b"cts" | b"vue" | b"svelte" | b"html"
        | b"htm" | b"xhtml" | b"ejs" => Some(Language::JavaScript),
        b"py" | b"pyi" | b"pyw" => Some(Language::Python),
        b"rs" => Some(Language::Rust),
        b"go" => Some(Language::Go),
        b"java" => Some(Language::Java),
        b"kt" | b"kts" => Some(Language::Kotlin),
        b"c" | b"h" | b"cc" | b"cpp" | b"cxx" | b"c++" | b"hh" | b"hpp" | b"hxx" | b"h++" | b"inl" | b"ipp"
        | b"tpp" | b"tcc" | b"txx" | b"ixx" | b"cppm" | b"ccm" | b"cxxm" | b"c++m" | b"m" | b"mm" | b"cu" | b"cuh"
        | b"sx" => Some(Language::C),
        b"cs" | b"csx" => Some(Language::CSharp),
        b"rb" | b"rake" | b"gemspec" | b"ru" | b"podspec" | b"rbw" | b"thor" | b"jbuilder" | b"builder" | b"erb"
        | b"rhtml" => Some(Language::Ruby),
        b"php" | b"phtml" | b"php3" | b"php4" | b"php5" | b"php7" | b"php8" | b"pht" | b"phps" | b"inc" => {
            Some(Language::Php)
        }
        _ => None,
    }
}

/// Whether only a part of the file is code, by its ending. Code that loads it as source takes all of it for that.
pub fn is_template(path: &[u8]) -> bool {
    matches!(
        ending(path).as_deref(),
        Some(b"html" | b"htm" | b"xhtml" | b"ejs" | b"erb" | b"rhtml")
    )
}

/// Whether the file is source of another language around the text of a page.
pub fn is_page(path: &[u8]) -> bool {
    matches!(
        ending(path).as_deref(),
        Some(b"erb" | b"rhtml" | b"php" | b"phtml" | b"php3" | b"php4" | b"php5" | b"php7" | b"php8")
    )
}

/// Lower case, without the dot.
fn ending(path: &[u8]) -> Option<Vec<u8>> {
    let name = path.rsplit(|b| *b == b'/').next().unwrap_or(path);
    let dot = name.iter().rposition(|b| *b == b'.')?;
    Some(name[dot + 1..].to_ascii_lowercase())
}

/// The language of a file whose name does not tell it, by the interpreter that its first line
/// names (`#!/usr/bin/env -S node --no-warnings`). An `.inc` is PHP's only with an opening tag.
pub fn language_of(path: &[u8], content: &[u8]) -> Option<Language> {
    if is_ambiguous(path) {
        return Some(match content.windows(2).any(|pair| pair == b"<?") {
            true => Language::Php,
            false => Language::C,
        });
    }
    if let Some(language) = language(path) {
        return Some(language);
    }
    let line = content
        .strip_prefix(b"\xEF\xBB\xBF")
        .unwrap_or(content)
        .strip_prefix(b"#!")?;
    let line = line.split(|b| matches!(b, b'\n' | b'\r')).next().unwrap_or_default();
    interpreted(&line[..line.len().min(4096)])
}

/// Whether only its content tells which language a file with a known ending is.
pub fn is_ambiguous(path: &[u8]) -> bool {
    ending(path).as_deref() == Some(b"inc")
}

/// The language of the first interpreter that a first line names, less its `#!`.
fn interpreted(line: &[u8]) -> Option<Language> {
    let words: Vec<&[u8]> = line
        .split(|b| b.is_ascii_whitespace() || matches!(b, b'"' | b'\''))
        .filter(|word| !word.is_empty())
        .collect();
    let is_fsharp = words.contains(&&b"fsi"[..]);
    words.iter().find_map(|word| {
        let word = match word {
            // `env -Spython3` and `env -vSpython3`
            [b'-', rest @ ..] if rest.first() != Some(&b'-') => match rest.iter().position(|b| *b == b'S') {
                Some(at) => &rest[at + 1..],
                None => return None,
            },
            // `env A=b node`
            word if !word.starts_with(b"-") && word.contains(&b'=') => return None,
            word => word,
        };
        let word = word.rsplit(|b| matches!(b, b'/' | b'\\' | b'=')).next()?;
        let word = word.to_ascii_lowercase();
        let stem = word.strip_suffix(b".exe").unwrap_or(&word);
        let end = stem
            .iter()
            .rposition(|b| !(b.is_ascii_digit() || *b == b'.'))
            .map_or(0, |at| at + 1);
        match &stem[..end] {
            b"node" | b"nodejs" | b"bun" | b"bunx" | b"deno" | b"ts-node" | b"ts-node-esm" | b"ts-node-script"
            | b"tsx" | b"zx" | b"npx" | b"vite-node" | b"esno" | b"jiti" => Some(Language::JavaScript),
            b"python" | b"pypy" | b"ipython" | b"pythonw" | b"uv" | b"uvx" | b"pipx" => Some(Language::Python),
            b"rust-script" | b"cargo" => Some(Language::Rust),
            b"gorun" | b"go" => Some(Language::Go),
            b"java" | b"jbang" => Some(Language::Java),
            b"kotlin" | b"kotlinc" | b"kscript" => Some(Language::Kotlin),
            b"dotnet" | b"dotnet-script" | b"csi" | b"scriptcs" if !is_fsharp => Some(Language::CSharp),
            b"tcc" => Some(Language::C),
            b"ruby" | b"jruby" | b"truffleruby" | b"macruby" | b"rake" => Some(Language::Ruby),
            b"php" | b"php-cli" | b"php-cgi" | b"phpdbg" => Some(Language::Php),
            _ => None,
        }
    })
}

/// Endings of source whose imports this version does not read.
const UNREAD: &[&str] = &[
    "astro", "mdx", "ipynb", "pyx", "pxd", "fs", "vb", "swift", "scala", "groovy", "clj", "ex", "exs", "erl", "hs",
    "ml", "lua", "pl", "pm", "dart", "jl", "r", "zig", "nim", "sol", "coffee", "jsp", "jspx", "razor", "cshtml",
    "vbhtml", "aspx", "phpt", "rbi",
];

/// The ending of a known source file whose imports no rule can look at, with its dot.
pub fn unread(path: &[u8]) -> Option<String> {
    let ending = String::from_utf8(ending(path)?).ok()?;
    UNREAD
        .iter()
        .find(|known| **known == ending)
        .map(|known| format!(".{known}"))
}

/// Every import of the file, in order of position, whatever dialect it is written in.
#[cfg(test)]
pub fn imports(language: Language, source: &[u8]) -> Result<Vec<Import>, Opaque> {
    imports_at(b"", language, source)
}

/// Every import of the file, in order of position. The path only says which dialect it is.
pub fn imports_at(path: &[u8], language: Language, source: &[u8]) -> Result<Vec<Import>, Opaque> {
    source::inspectable(source)?;
    let found = match language {
        Language::JavaScript if matches!(ending(path).as_deref(), Some(b"vue" | b"svelte")) => components::scan(source),
        Language::JavaScript if matches!(ending(path).as_deref(), Some(b"html" | b"htm" | b"xhtml")) => {
            Ok(html::scan(source))
        }
        Language::JavaScript if ending(path).as_deref() == Some(b"ejs") => {
            let mut found = html::scan(&embedded::text(source));
            let code = embedded::code(source);
            javascript_readings::scan(&code, javascript_readings::Dialect::Either).map(|of_code| {
                found.extend(of_code);
                found
            })
        }
        Language::JavaScript if is_package_manifest(path) => package_manifest::scan(source),
        Language::JavaScript => javascript_readings::scan(source, javascript_readings::Dialect::of(path)),
        Language::Python => python::scan(source),
        Language::Rust => rust::scan(source),
        Language::Go => go::scan(source),
        Language::Java => java::scan(source),
        Language::Kotlin => kotlin::scan(source),
        Language::C => {
            let is_cpp = !matches!(
                ending(path).as_deref(),
                Some(b"c" | b"h" | b"m" | b"s" | b"sx" | b"inc")
            );
            let is_named = is_cpp && self::language(path) == Some(Language::C);
            c::scan(
                source,
                match is_named {
                    true => c::RawStrings::Known,
                    false => c::RawStrings::Doubtful,
                },
            )
        }
        Language::CSharp => {
            return match csharp::scan(source) {
                Ok(scan) => Ok(source::placed_within(source, scan.found, &scan.namespaces)),
                Err(fault) => Err(fault.located(source)),
            };
        }
        Language::Ruby if is_template(path) => ruby::scan(&embedded::code(source)),
        Language::Ruby => ruby::scan(source),
        Language::Php if path.to_ascii_lowercase().ends_with(b".blade.php") => php::blade::scan(source),
        Language::Php => php::scan(source),
    };
    match found {
        Ok(mut found) => {
            if language == Language::JavaScript {
                apart(&mut found);
            }
            Ok(source::placed(source, found))
        }
        Err(fault) => Err(fault.located(source)),
    }
}

/// Puts each file of an address that stands for several in its place.
fn apart(found: &mut Vec<source::Found>) {
    let mut more = Vec::new();
    for one in found.iter() {
        let parts = addresses::combined(&one.raw);
        more.extend(parts.into_iter().skip(1).map(|raw| source::Found {
            identity: identity::javascript(&raw),
            raw,
            ..one.clone()
        }));
    }
    found.extend(more);
}

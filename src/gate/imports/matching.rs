//! Entries of `forbidden_imports` against imports.

use super::{Import, ImportKind, Language, copies, identity};

/// Whether an entry of `forbidden_imports` names this import: it is a prefix of the identity by
/// whole segments. What separates segments is the language's own (`/`, `.`, `::`, `\`). `*` stands
/// for any characters within one segment, a last segment `**` for anything below. Names are compared
/// with letter case, but for C# and PHP, which do not tell cases apart; in Python and Rust `-` and
/// `_` are the same. Where a name begins with a host or an organisation (Go, Java, Kotlin, C#, PHP)
/// an entry of one segment names any segment: `redis` is `github.com/redis/go-redis`.
pub fn matches(entry: &str, language: Language, import: &Import) -> bool {
    if import.kind == ImportKind::Opaque || import.identity.is_empty() {
        return false;
    }
    if let Some(is_named) = word_matches(entry, language, import) {
        return is_named;
    }
    let written = entry;
    let entry = entry_segments(entry, language);
    let identity = compared(&import.identity, language);
    match (entry.as_slice(), is_anywhere(language)) {
        // `Redis.Url` may be a class of the repository's own; with a library's letter case it hardly is.
        // One word is more often a variable's member than a package.
        ([_], _) if import.kind == ImportKind::Member && language != Language::CSharp => false,
        ([word], _) if import.kind == ImportKind::Member => {
            is_match(written.as_bytes(), import.identity[0].as_bytes())
                || is_within(word, &import.identity[0], &identity)
        }
        (entry, _) if import.kind == ImportKind::Relative => {
            let written = import.raw.split('\\').filter(|segment| !segment.is_empty()).count();
            entry.len() + written > identity.len() && is_prefix(entry, &identity)
        }
        ([word], _) if import.kind == ImportKind::Declared => is_match(word.as_bytes(), identity[0].as_bytes()),
        ([word], true) => identity
            .iter()
            .any(|segment| is_match(word.as_bytes(), segment.as_bytes())),
        (entry, _) => {
            identities(import, language).any(|identity| is_prefix(entry, &identity))
                || beginning(entry, &identity, import).is_some()
        }
    }
}

/// Whether an entry names the package to whose copy in the repository the import is a path, see `copies.rs`.
pub fn copied(entry: &str, language: Language, import: &Import) -> bool {
    let readings = copies::readings(language, import);
    if readings.is_empty() {
        return false;
    }
    let entry = entry_segments(entry, language);
    readings.iter().any(|reading| {
        let reading = compared(reading, language);
        match (entry.as_slice(), language) {
            ([word], Language::Go) => reading
                .iter()
                .any(|segment| is_match(word.as_bytes(), segment.as_bytes())),
            (entry, _) => is_prefix(entry, &reading),
        }
    })
}

/// What the namespaces around a name put before it, where the whole then begins with the entry. The entry goes on
/// behind it: that the file itself lies in such a namespace is no import.
fn beginning<'i>(entry: &[String], identity: &[String], import: &'i Import) -> Option<&'i [String]> {
    let within = import.within.as_deref()?;
    within.beginnings().find(|around| {
        entry.len() > around.len()
            && entry.len() - around.len() <= identity.len()
            && is_prefix(&entry[around.len()..], identity)
            && entry
                .iter()
                .zip(around.iter().map(|part| part.to_lowercase()))
                .all(|(pattern, part)| is_match(pattern.as_bytes(), part.as_bytes()))
    })
}

/// The import as an entry that matches it names it: with what stands before it in the namespaces around, where only
/// that makes it match.
pub fn as_matched(entry: &str, language: Language, import: &Import) -> Import {
    let mut whole = Import {
        within: None,
        ..import.clone()
    };
    let identity = compared(&import.identity, language);
    let entry = entry_segments(entry, language);
    if !identities(import, language).any(|identity| is_prefix(&entry, &identity))
        && entry.len() > 1
        && let Some(around) = beginning(&entry, &identity, import)
    {
        whole.identity = around.iter().chain(&import.identity).cloned().collect();
    }
    whole
}

/// The same for the most usual entry, one word without a glob, where it can only name the first segment: without a
/// copy of either. `None` where it takes more to tell.
fn word_matches(entry: &str, language: Language, import: &Import) -> Option<bool> {
    let is_word = !entry.is_empty()
        && entry
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || b"_-".contains(&byte));
    if !is_word || matches!(import.kind, ImportKind::Member | ImportKind::Declared) {
        return None;
    }
    let first = import.identity[0].as_str();
    let is_same = |first: &str| {
        let like = |byte: u8| if byte == b'-' { b'_' } else { byte };
        first.len() == entry.len() && first.bytes().zip(entry.bytes()).all(|(a, b)| like(a) == like(b))
    };
    match language {
        Language::JavaScript | Language::Ruby => Some(first == entry),
        Language::Python => Some(is_same(first)),
        Language::Rust => Some(is_same(first.strip_prefix("r#").unwrap_or(first))),
        _ => None,
    }
}

/// Whether a word names an inner part of a namespace in a dotted expression of C#. The first segment
/// may be a class, and of the last two one is a type and one its member: `Redis` is a namespace in
/// `StackExchange.Redis.Connection.Open`, not in `Config.Redis.Url`. A root that is named like what
/// holds settings or names is a class, of whatever length the chain is (`Config.Redis.Url.Trim`).
fn is_within(word: &str, root: &str, identity: &[String]) -> bool {
    const HOLDERS: [&str; 14] = [
        "Config",
        "Configuration",
        "Settings",
        "Options",
        "Constants",
        "Consts",
        "Keys",
        "Names",
        "Defaults",
        "Resources",
        "Strings",
        "Properties",
        "Current",
        "Instance",
    ];
    !HOLDERS.iter().any(|holder| root.ends_with(holder))
        && identity.len() > 3
        && identity[1..identity.len() - 2]
            .iter()
            .any(|segment| is_match(word.as_bytes(), segment.as_bytes()))
}

/// An import of this name as code of the language would write it, for questions about it.
pub fn named(language: Language, name: &str) -> Import {
    let split = |separator: &str| -> Vec<String> {
        name.split(separator)
            .filter(|segment| !segment.is_empty())
            .map(str::to_owned)
            .collect()
    };
    let is_path = name.starts_with('.');
    let identity = match language {
        Language::JavaScript => identity::javascript(name),
        Language::Python => identity::python(name),
        Language::Rust => match split("::") {
            path if matches!(path.first().map(String::as_str), Some("crate" | "self" | "super")) => Vec::new(),
            path => path,
        },
        Language::Go | Language::Ruby if is_path => Vec::new(),
        Language::Go | Language::Ruby => split("/"),
        Language::Java | Language::Kotlin | Language::CSharp => split("."),
        Language::Php => split("\\"),
        Language::C => identity::include(name.trim_matches(['<', '>', '"'])),
    };
    Import {
        raw: name.to_owned(),
        identity,
        kind: ImportKind::Static,
        line: 1,
        column: 1,
        within: None,
    }
}

/// A whole file that has this import and nothing else; `None` for a name that could not be written in
/// the language, since it holds quotes, blanks or control characters.
pub fn file_with(language: Language, name: &str) -> Option<String> {
    let odd =
        |c: char| c.is_control() || c.is_whitespace() || matches!(c, '\'' | '`' | ';' | '(' | ')' | '{' | '}' | '*');
    let name = match language {
        Language::C => name,
        _ => name.trim_matches('"'),
    };
    if name.is_empty() || name.chars().any(odd) || (language != Language::C && name.contains('"')) {
        return None;
    }
    Some(match language {
        Language::JavaScript => format!("import \"{name}\";\n"),
        Language::Python => match name.trim_start_matches('.') {
            "" => format!("from {name} import x\n"),
            rest if rest.len() < name.len() => match rest.rsplit_once('.') {
                Some((from, last)) => format!("from {}{from} import {last}\n", &name[..name.len() - rest.len()]),
                None => format!("from {} import {rest}\n", &name[..name.len() - rest.len()]),
            },
            _ => format!("import {name}\n"),
        },
        Language::Rust => format!("use {name};\n"),
        Language::Go => format!("package x\n\nimport \"{name}\"\n"),
        Language::Java => format!("import {name};\n"),
        Language::Kotlin => format!("import {name}\n"),
        Language::C => match name.starts_with(['<', '"']) {
            true => format!("#include {name}\n"),
            false => format!("#include <{name}>\n"),
        },
        Language::CSharp => format!("using {name};\n"),
        Language::Ruby => match name.strip_prefix("./") {
            Some(rest) => format!("require_relative \"{rest}\"\n"),
            None => format!("require \"{name}\"\n"),
        },
        Language::Php => format!("<?php\nuse {name};\n"),
    })
}

/// The identity of an import; of C's path into a folder of copies also the whole path, which an
/// entry may spell (`third_party/**`).
fn identities(import: &Import, language: Language) -> impl Iterator<Item = Vec<String>> {
    let whole = (language == Language::C && identity::vendored_c(import.raw.trim_matches(['"', '<', '>'])).is_some())
        .then(|| identity::include(import.raw.trim_matches(['"', '<', '>'])));
    std::iter::once(compared(&import.identity, language)).chain(whole)
}

/// Whether an entry of an allow-list names this import: as [`matches`](fn@matches), but always from the
/// beginning of the identity. `redis` allows the package of that name, not every path in which the
/// word stands.
pub fn allows(entry: &str, language: Language, import: &Import) -> bool {
    import.kind != ImportKind::Opaque
        && identities(import, language).any(|identity| is_prefix(&entry_segments(entry, language), &identity))
}

/// Whether an entry of one segment names any segment of an import.
pub fn is_anywhere(language: Language) -> bool {
    match language {
        Language::Go | Language::Java | Language::Kotlin | Language::CSharp | Language::Php => true,
        Language::JavaScript | Language::Python | Language::Rust | Language::C | Language::Ruby => false,
    }
}

/// Why an entry can match no import at all, and what to write; `None` where it can.
pub fn dead(entry: &str) -> Option<(&'static str, &'static str)> {
    const GLOB: &str = "a glob is `*`, for any characters within one segment, or a last segment `**`";
    if let Some(at) = entry.find([
        '?', '[', ']', '{', '}', '!', '(', ')', '|', ',', ';', '"', '\'', '`', '<', '>',
    ]) {
        return match entry.as_bytes()[at] {
            b'?' | b'[' | b']' | b'{' | b'}' | b'!' | b'(' | b')' | b'|' | b',' => {
                Some(("no import has such a name, and it is no glob that is read here", GLOB))
            }
            _ => Some((
                "no import has such a name",
                "write the name as it is imported, such as `redis`",
            )),
        };
    }
    let segments: Vec<&str> = entry.split('/').collect();
    if segments.len() > 1 && segments[..segments.len() - 1].contains(&"**") {
        return Some(("`**` stands before the end", GLOB));
    }
    let is_dotted = entry.replace("::", ".").split(['.', '\\']).all(|part| {
        !part.is_empty()
            && part
                .chars()
                .all(|c| c.is_alphanumeric() || matches!(c, '_' | '-' | '*'))
    });
    if !is_dotted && identity::javascript(entry).is_empty() {
        return Some((
            "a name of the repository's own, and only external packages are matched",
            "protect own folders with `forbidden_dirs`",
        ));
    }
    None
}

/// Whether a dotted entry names this relative Python import of the file at `path` (repository
/// relative, `/` between components): `..db` in `app/ui/m.py` is `app.db`. Nothing says here at
/// which folder the packages begin (`src/`), so the entry may match at any depth; one without a
/// dot never matches, `from . import redis` is the repository's own.
pub fn matches_relative(entry: &str, path: &str, import: &Import) -> bool {
    let dots = import.raw.len() - import.raw.trim_start_matches('.').len();
    let entry = entry_segments(entry, Language::Python);
    if dots == 0 || entry.len() < 2 {
        return false;
    }
    let mut folders: Vec<&str> = path.split('/').collect();
    if dots > folders.len() {
        return false;
    }
    folders.truncate(folders.len() - dots);
    let below = identity::python(&import.raw[dots..]);
    let whole: Vec<String> = folders.into_iter().map(str::to_owned).chain(below).collect();
    let whole = compared(&whole, Language::Python);
    (0..whole.len()).any(|start| is_prefix(&entry, &whole[start..]))
}

/// The segments of an entry as they are compared; empty where it can never name an external import.
fn entry_segments(entry: &str, language: Language) -> Vec<String> {
    let split = |separator: &str| -> Vec<String> {
        entry
            .split(separator)
            .filter(|segment| !segment.is_empty())
            .map(str::to_owned)
            .collect()
    };
    let segments = match language {
        Language::JavaScript => identity::javascript(entry),
        Language::Python => identity::python(entry),
        Language::Rust => split("::"),
        Language::Go | Language::Ruby => split("/"),
        Language::Java | Language::Kotlin | Language::CSharp => split("."),
        Language::Php => split("\\"),
        Language::C => identity::include(entry),
    };
    let mut segments = compared(&segments, language);
    if segments.len() > 1 && segments.last().is_some_and(|last| last == "**") {
        segments.pop();
    }
    segments
}

/// Segments in the spelling in which two of them are compared.
fn compared(segments: &[String], language: Language) -> Vec<String> {
    match language {
        Language::JavaScript | Language::Java | Language::Kotlin | Language::C | Language::Ruby => segments.to_vec(),
        Language::Python => segments.iter().map(|segment| segment.replace('-', "_")).collect(),
        Language::Rust => segments
            .iter()
            .map(|segment| segment.strip_prefix("r#").unwrap_or(segment).replace('-', "_"))
            .collect(),
        Language::Go => identity::without_versions(segments),
        Language::CSharp | Language::Php => segments.iter().map(|segment| segment.to_lowercase()).collect(),
    }
}

fn is_prefix(entry: &[String], identity: &[String]) -> bool {
    !entry.is_empty()
        && entry.len() <= identity.len()
        && entry
            .iter()
            .zip(identity)
            .all(|(pattern, segment)| is_match(pattern.as_bytes(), segment.as_bytes()))
}

/// A pattern with `*`, without recursion: on a mismatch the last `*` takes one byte more.
pub(in crate::gate) fn is_match(pattern: &[u8], text: &[u8]) -> bool {
    let (mut p, mut t) = (0, 0);
    let mut star = None;
    while t < text.len() {
        match pattern.get(p) {
            Some(b'*') => {
                star = Some((p, t));
                p += 1;
            }
            Some(byte) if *byte == text[t] => {
                p += 1;
                t += 1;
            }
            _ => {
                let Some((star_p, star_t)) = star else { return false };
                star = Some((star_p, star_t + 1));
                p = star_p + 1;
                t = star_t + 1;
            }
        }
    }
    pattern[p..].iter().all(|b| *b == b'*')
}

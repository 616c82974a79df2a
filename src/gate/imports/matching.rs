//! Entries of `forbidden_imports` against imports.

use super::{Import, ImportKind, Language, identity};

/// Whether an entry of `forbidden_imports` names this import: it is a prefix of the identity by
/// whole segments (`/` separates them in JavaScript, `.` in Python). `*` stands for any characters
/// within one segment, a last segment `**` for anything below. Names are compared with letter
/// case; in Python `-` and `_` are the same.
pub fn matches(entry: &str, language: Language, import: &Import) -> bool {
    import.kind != ImportKind::Opaque && is_prefix(&entry_segments(entry, language), &import.identity, language)
}

/// Why an entry can match no import at all, and what to write; `None` where it can.
pub fn dead(entry: &str) -> Option<(&'static str, &'static str)> {
    const GLOB: &str = "a glob is `*`, for any characters within one segment, or a last segment `**`";
    if let Some(at) = entry.find([
        '?', '[', ']', '{', '}', '!', '(', ')', '|', ',', ';', '\\', '"', '\'', '`', '<', '>',
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
    let is_dotted = entry.split('.').all(|part| {
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
    (0..whole.len()).any(|start| is_prefix(&entry, &whole[start..], Language::Python))
}

/// The segments of an entry; empty where it can never name an external import.
fn entry_segments(entry: &str, language: Language) -> Vec<String> {
    let mut segments = match language {
        Language::JavaScript => identity::javascript(entry),
        Language::Python => identity::python(entry),
    };
    if segments.len() > 1 && segments.last().is_some_and(|last| last == "**") {
        segments.pop();
    }
    segments
}

fn is_prefix(entry: &[String], identity: &[String], language: Language) -> bool {
    !entry.is_empty()
        && entry.len() <= identity.len()
        && entry.iter().zip(identity).all(|(pattern, segment)| match language {
            Language::JavaScript => is_match(pattern.as_bytes(), segment.as_bytes()),
            Language::Python => is_match(
                pattern.replace('-', "_").as_bytes(),
                segment.replace('-', "_").as_bytes(),
            ),
        })
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

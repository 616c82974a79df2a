//! How names are spelled in each ecosystem, and which of them an entry of the policy means.
//!
//! Invariant: what forbids is read widely (a prefix by whole parts; where names have several parts,
//! a bare word is any of them), what allows is read narrowly (the whole name).

use crate::gate::imports::{Language, is_match};

/// Whose rules a name follows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Ecosystem {
    Npm,
    Python,
    Cargo,
    Go,
    /// Maven and Gradle: `group:artifact`.
    Maven,
    Nuget,
    Ruby,
    Composer,
}

impl Ecosystem {
    /// The languages that import what its manifests declare.
    pub(super) fn languages(self) -> &'static [Language] {
        match self {
            Ecosystem::Npm => &[Language::JavaScript],
            Ecosystem::Python => &[Language::Python],
            Ecosystem::Cargo => &[Language::Rust],
            Ecosystem::Go => &[Language::Go],
            Ecosystem::Maven => &[Language::Java, Language::Kotlin],
            Ecosystem::Nuget => &[Language::CSharp],
            Ecosystem::Ruby => &[Language::Ruby],
            Ecosystem::Composer => &[Language::Php],
        }
    }
}

/// Whether an entry of a deny-list means this name (normalised as its manifest's reader does).
pub(super) fn forbids(entry: &str, ecosystem: Ecosystem, name: &str) -> bool {
    if let (Ecosystem::Maven, Some(pattern)) = (ecosystem, entry.split_once(':')) {
        return is_coordinate(pattern, name);
    }
    let Some(pattern) = entry_parts(entry, ecosystem) else {
        return false;
    };
    let name = parts(name, ecosystem);
    match pattern.as_slice() {
        [] => false,
        [word] if has_bare_words(ecosystem) => name.iter().any(|part| matches(word, part)),
        _ => pattern.len() <= name.len() && all_match(&pattern, &name),
    }
}

/// Whether an entry of an allow-list means this name as a whole.
pub(super) fn allows(entry: &str, ecosystem: Ecosystem, name: &str) -> bool {
    if ecosystem == Ecosystem::Maven {
        return entry
            .split_once(':')
            .is_some_and(|pattern| is_coordinate(pattern, name));
    }
    let Some(pattern) = entry_parts(entry, ecosystem) else {
        return false;
    };
    let is_open = separator(ecosystem).is_some_and(|mark| entry.ends_with(&format!("{mark}**")));
    let name = parts(name, ecosystem);
    let fits = match is_open {
        true => pattern.len() < name.len(),
        false => pattern.len() == name.len(),
    };
    fits && all_match(&pattern, &name)
}

/// `group:artifact` against one of the same form. A group that ends in `.**` is all below it.
fn is_coordinate((group, artifact): (&str, &str), name: &str) -> bool {
    let Some((named_group, named_artifact)) = name.split_once(':') else {
        return false;
    };
    let dotted = |text: &str| {
        text.to_ascii_lowercase()
            .split('.')
            .map(str::to_owned)
            .collect::<Vec<_>>()
    };
    let (mut pattern, named) = (dotted(group), dotted(named_group));
    let is_open = pattern.len() > 1 && pattern.last().is_some_and(|last| last == "**");
    if is_open {
        pattern.pop();
    }
    let fits = match is_open {
        true => pattern.len() <= named.len(),
        false => pattern.len() == named.len(),
    };
    fits && all_match(&pattern, &named) && matches(&artifact.to_ascii_lowercase(), &named_artifact.to_ascii_lowercase())
}

fn has_bare_words(ecosystem: Ecosystem) -> bool {
    matches!(
        ecosystem,
        Ecosystem::Go | Ecosystem::Maven | Ecosystem::Nuget | Ecosystem::Composer
    )
}

/// What stands between the parts of a name; `None`: it has one part.
fn separator(ecosystem: Ecosystem) -> Option<char> {
    match ecosystem {
        Ecosystem::Npm | Ecosystem::Go | Ecosystem::Composer => Some('/'),
        Ecosystem::Maven | Ecosystem::Nuget => Some('.'),
        Ecosystem::Python | Ecosystem::Cargo | Ecosystem::Ruby => None,
    }
}

/// The parts of an entry, without a last `**`; `None` where no name of the ecosystem is so built.
fn entry_parts(entry: &str, ecosystem: Ecosystem) -> Option<Vec<String>> {
    if entry.contains(':') && ecosystem != Ecosystem::Npm {
        return None;
    }
    let entry = match ecosystem {
        Ecosystem::Npm => ["npm:", "jsr:"]
            .iter()
            .find_map(|scheme| entry.strip_prefix(scheme))
            .unwrap_or(entry),
        _ => entry,
    };
    if separator(ecosystem) != Some('/') && entry.contains('/') {
        return None;
    }
    let mut parts = parts(entry, ecosystem);
    if parts.len() > 1 && parts.last().is_some_and(|last| last == "**") {
        parts.pop();
    }
    Some(parts)
}

fn parts(name: &str, ecosystem: Ecosystem) -> Vec<String> {
    let split = |text: &str, marks: &[char]| text.split(marks).map(str::to_owned).collect::<Vec<_>>();
    match ecosystem {
        Ecosystem::Npm => split(name, &['/']),
        Ecosystem::Python => vec![python(name)],
        Ecosystem::Cargo => vec![cargo(name)],
        Ecosystem::Ruby => vec![name.to_ascii_lowercase()],
        Ecosystem::Go => go(&name.to_ascii_lowercase()),
        Ecosystem::Maven => split(&name.to_ascii_lowercase(), &['.', ':']),
        Ecosystem::Nuget => split(&name.to_ascii_lowercase(), &['.']),
        // An extension of PHP itself: `ext-redis` is redis.
        Ecosystem::Composer => {
            let name = name.to_ascii_lowercase();
            split(name.strip_prefix("ext-").unwrap_or(&name), &['/'])
        }
    }
}

/// PEP 503: case and runs of `-`, `_`, `.` do not count.
pub(super) fn python(name: &str) -> String {
    let lower = name.to_ascii_lowercase();
    lower
        .split(['-', '_', '.'])
        .filter(|part| !part.is_empty())
        .collect::<Vec<_>>()
        .join("-")
}

/// The registry takes `-` and `_` for the same, and so does the compiler.
pub(super) fn cargo(name: &str) -> String {
    name.to_ascii_lowercase().replace('_', "-")
}

/// Parts of a module path without major versions (`/v9`; of gopkg.in `.v9`).
fn go(path: &str) -> Vec<String> {
    let is_major = |part: &str| {
        part.strip_prefix('v')
            .is_some_and(|digits| !digits.is_empty() && digits.bytes().all(|b| b.is_ascii_digit()))
    };
    let old_style = path.starts_with("gopkg.in/");
    path.split('/')
        .enumerate()
        .filter(|(at, part)| *at == 0 || !is_major(part))
        .map(|(_, part)| match part.rsplit_once('.') {
            Some((name, major)) if old_style && is_major(major) => name.to_owned(),
            _ => part.to_owned(),
        })
        .collect()
}

fn all_match(pattern: &[String], name: &[String]) -> bool {
    pattern.iter().zip(name).all(|(pattern, part)| matches(pattern, part))
}

fn matches(pattern: &str, part: &str) -> bool {
    is_match(pattern.as_bytes(), part.as_bytes())
}

//! What a change itself makes the repository's own: a package, a crate, a module or a namespace that the base does not
//! have yet.
//!
//! Invariant: that a name leads to a path of the candidate is not enough, since a package of its name may be what runs.
//! There must be something in it (an empty folder is a decoy), it is what the language takes first, and what is named
//! of a package or namespace is in it. Copies of other people's packages never count, and whether a manifest declares
//! the name from outside is for the caller to ask.

use super::files::{Files, name, parent};
use super::{Resolver, Target, is_vendored};
use crate::gate::imports::{Import, Language};
use crate::gate::tree::{Kind, Unreadable, join};

/// Files of a package or namespace that are searched for a name.
const MAX_SEARCHED: usize = 2_000;

/// Whether an import leads to what only the candidate has, and that is the repository's own.
pub(in crate::gate) fn is_own_now(
    base: &mut Resolver,
    candidate: &mut Resolver,
    language: Language,
    import: &Import,
    from: &[u8],
) -> Result<bool, Unreadable> {
    let Target::Local(places) = candidate.resolve_strictly(language, import, from)? else {
        return Ok(false);
    };
    if places.iter().any(|place| is_vendored(place, &import.raw, language)) {
        return Ok(false);
    }
    match language {
        Language::JavaScript => {
            let (is_linked, is_package) = candidate.is_linked(&import.raw, from)?;
            // Types that a tsconfig names are no package: what runs is another file.
            let is_types = |place: &Vec<u8>| {
                [&b".d.ts"[..], b".d.mts", b".d.cts"]
                    .iter()
                    .any(|end| place.ends_with(end))
            };
            if !is_linked || !is_package && places.iter().any(is_types) {
                return Ok(false);
            }
        }
        Language::Python if !candidate.goes_first(language, import, from)? => return Ok(false),
        Language::Go if !is_of_the_same_host(base, import, from)? => return Ok(false),
        Language::Java | Language::Kotlin | Language::CSharp => return names_something(candidate, language, import),
        // Whether the compiler is told to look there, only its settings say.
        Language::C if import.raw.starts_with('<') => {
            let inner = import.raw.trim_matches(['<', '>']);
            let files = base.files()?;
            let is_searched = |place: &Vec<u8>| {
                let root = place.strip_suffix(inner.as_bytes());
                root.is_some_and(|root| files.folder(root.strip_suffix(b"/").unwrap_or(root)).is_some())
            };
            if !places.iter().all(is_searched) {
                return Ok(false);
            }
        }
        _ => {}
    }
    let files = candidate.files()?;
    for place in &places {
        if has_content(files, place)? {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Whether there is anything in a file, or in one beside the file that a folder is loaded from.
fn has_content(files: &Files, place: &[u8]) -> Result<bool, Unreadable> {
    let is_blank =
        |path: &[u8]| -> Result<bool, Unreadable> { Ok(files.text(path)?.is_some_and(|text| text.trim().is_empty())) };
    let folder = match files.file(place) {
        Some(_) if !is_blank(place)? => return Ok(true),
        Some(_) if name(place).starts_with(b"__init__.") => parent(place),
        Some(_) => return Ok(false),
        None => place,
    };
    for entry in files.list(folder)? {
        let is_file = matches!(entry.kind, Kind::File | Kind::Executable);
        if is_file && !is_blank(&join(folder, &entry.name))? {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Whether the module that an import path of Go lies in has the host and the owner of the module that imports it: one
/// that `replace` puts in the place of somebody else's is a copy.
fn is_of_the_same_host(base: &mut Resolver, import: &Import, from: &[u8]) -> Result<bool, Unreadable> {
    let Some(module) = base.go_module(from)? else {
        return Ok(false);
    };
    let heads = |path: &str| -> Vec<String> { path.split('/').take(2).map(str::to_owned).collect() };
    Ok(heads(&module) == heads(&import.raw))
}

/// Whether files declare the package or namespace that an import begins with, and one of them says what follows.
fn names_something(candidate: &mut Resolver, language: Language, import: &Import) -> Result<bool, Unreadable> {
    let names: Vec<&str> = import
        .identity
        .iter()
        .map(String::as_str)
        .filter(|name| !matches!(*name, "*" | "**"))
        .collect();
    for depth in (1..=names.len()).rev() {
        let paths = candidate.declaring(language, &names[..depth].join("."))?;
        if paths.is_empty() {
            continue;
        }
        let files = candidate.files()?;
        for path in paths.iter().take(MAX_SEARCHED) {
            let text = files.text(path)?.unwrap_or_default();
            let is_said = match names.get(depth) {
                Some(name) => has_word(&text, name),
                None => text.contains(['{', '(', '=']),
            };
            if is_said {
                return Ok(true);
            }
        }
        return Ok(false);
    }
    Ok(false)
}

fn has_word(text: &str, word: &str) -> bool {
    let is_part = |c: char| c.is_alphanumeric() || c == '_';
    text.match_indices(word)
        .any(|(at, _)| !text[..at].ends_with(is_part) && !text[at + word.len()..].starts_with(is_part))
}

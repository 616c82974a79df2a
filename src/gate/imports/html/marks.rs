//! Names and addresses that a page's template puts together.
//!
//! Invariant: what is written out in one counts, and what only the template's run would tell is opaque.

use super::super::source::Found;
use super::{as_specifier, import, is_address, opaque};

/// Marks by which other languages put text into a page.
const MARKS: &[&str] = &["{{", "{%", "<%", "<?", "${", "#{", "@("];
/// The import as it is found; of one that the page's template computes, as much as is written out.
pub(super) fn unless_computed(found: Found) -> Found {
    if !has_marks(found.raw.as_bytes()) {
        return found;
    }
    match written_out(&found.raw) {
        Some(head) => Found {
            kind: found.kind,
            ..import(head.to_owned(), found.at)
        },
        None => opaque(found.at),
    }
}

/// What stands before the first mark of a template, where that tells a host or the whole name of a package.
fn written_out(text: &str) -> Option<&str> {
    let head = &text[..MARKS.iter().filter_map(|mark| text.find(mark)).min()?];
    let rest = match head.split_once("//") {
        Some((_, rest)) => rest,
        None if head.starts_with(['.', '/', '#', '~']) => return None,
        None => head,
    };
    let scope = usize::from(rest.starts_with('@'));
    let mut parts = rest[scope..].split(['/', '?', '@']).skip(scope);
    (parts.next().is_some_and(|part| !part.is_empty()) && parts.next().is_some()).then_some(head)
}

/// What an address is that a template puts together: one that is written out in it, nothing where a text says a file of
/// the site, else something that nobody can tell here.
pub(super) fn computed_address(written: &str, at: usize) -> Option<Found> {
    let is_written_out = |text: &&str| is_address(text) && !has_marks(text.as_bytes());
    let mut quoted = written.split(['"', '\'', '`']).map(str::trim);
    if let Some(address) = quoted
        .clone()
        .find(is_written_out)
        .or_else(|| written_out(written).filter(is_written_out))
    {
        return as_specifier(address, true).map(|raw| import(raw, at));
    }
    let head = &written[..MARKS.iter().filter_map(|mark| written.find(mark)).min().unwrap_or(0)];
    let is_of_the_site = quoted.nth(1).is_some() || head.contains('/') && !head.contains("//");
    (!is_of_the_site).then(|| opaque(at))
}

/// Whether a template puts something into the text.
pub(super) fn has_marks(text: &[u8]) -> bool {
    MARKS
        .iter()
        .any(|mark| memchr::memmem::find(text, mark.as_bytes()).is_some())
}

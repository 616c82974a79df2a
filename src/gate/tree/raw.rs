//! Tree objects as git stores them, read by their bytes.
//!
//! Invariant: what git itself would never write is named, and never dropped or mended without a word.
//! Tools disagree about such trees: one takes the first of two entries of a name, another the last, and a
//! third only finds entries that are in order.

use std::collections::HashSet;

use memchr::memchr;

use super::{Entry, Kind, Oid};

/// What is wrong with one entry, or with the folder as a whole.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Fault {
    /// The entry's name as git's bytes; it may be empty or hold a slash.
    pub name: Vec<u8>,
    /// What is wrong, the end of a sentence.
    pub what: &'static str,
}

/// A folder: its entries, and what is wrong with them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Folder {
    /// In the order of the object. Entries that no path can name are left out, and are in `faults`.
    pub entries: Vec<Entry>,
    /// Empty for every tree that git wrote.
    pub faults: Vec<Fault>,
}

/// How nearly all entries begin: files and folders.
const USUAL: [&[u8]; 2] = [b"100644 ", b"40000 "];

/// Reads a tree object: for each entry an octal mode, a blank, the name, a NUL and the id of
/// `id_length` bytes (gitformat-pack's "tree entry"; fsck's list says what is malformed).
///
/// # Errors
/// With the reason, where the bytes do not come apart into entries.
pub fn parse(mut rest: &[u8], id_length: usize) -> Result<Folder, &'static str> {
    // Of a mode of five or six digits, a blank, a name, a NUL and the id.
    let entries = rest.len() / (id_length + 16);
    let mut folder = Folder {
        entries: Vec::with_capacity(entries),
        faults: Vec::new(),
    };
    let mut names: Vec<&[u8]> = Vec::with_capacity(entries);
    // Names that ascend byte by byte stand once each; the others are looked up.
    let mut seen: Option<HashSet<&[u8]>> = None;
    let mut previous: Option<(&[u8], bool)> = None;
    while !rest.is_empty() {
        let usual = USUAL.iter().find(|mode| rest.starts_with(mode));
        let blank = match usual {
            Some(mode) => mode.len() - 1,
            None => memchr(b' ', rest).ok_or("an entry has no mode")?,
        };
        let (mode, after) = (&rest[..blank], &rest[blank + 1..]);
        let end = memchr(0, after).ok_or("the name of an entry does not end")?;
        let (name, after) = (&after[..end], &after[end + 1..]);
        let id = after.get(..id_length).ok_or("the id of an entry is cut short")?;
        rest = &after[id_length..];
        let mut fault = |what| {
            folder.faults.push(Fault {
                name: name.to_vec(),
                what,
            });
        };
        let kind = match kind(mode) {
            Some((kind, None)) => Some(kind),
            Some((kind, Some(what))) => {
                fault(what);
                Some(kind)
            }
            None => {
                fault("has a mode that is none");
                None
            }
        };
        let is_folder = kind == Some(Kind::Tree);
        let ascends = names.last().is_none_or(|before| *before < name);
        if seen.is_none() && !ascends {
            seen = Some(names.iter().copied().collect());
        }
        names.push(name);
        if seen.as_mut().is_some_and(|seen| !seen.insert(name)) {
            fault("stands in it twice");
        }
        let is_after = |(before, folder): (&[u8], bool)| {
            // Only where one begins with the other does it matter what is a folder.
            ascends && !name.starts_with(before) || order(before, folder).le(order(name, is_folder))
        };
        if !previous.is_none_or(is_after) {
            fault("is out of order");
        }
        previous = Some((name, is_folder));
        let nameless = match name {
            b"" => Some("has no name"),
            b"." | b".." => Some("names a folder that every folder has"),
            _ if memchr(b'/', name).is_some() => Some("has a slash in its name"),
            _ => None,
        };
        if name.eq_ignore_ascii_case(b".git") {
            fault("is named as a git dir");
        }
        if id.iter().all(|&byte| byte == 0) {
            fault("has no id");
        }
        if let Some(what) = nameless {
            fault(what);
        }
        if let (Some(kind), None, Some(id)) = (kind, nameless, Oid::from_bytes(id)) {
            let name = name.to_vec();
            folder.entries.push(Entry { name, kind, id });
        }
    }
    Ok(folder)
}

/// The kind that a mode says, and what is wrong with how it says it.
fn kind(mode: &[u8]) -> Option<(Kind, Option<&'static str>)> {
    match mode {
        b"100644" => return Some((Kind::File, None)),
        b"40000" => return Some((Kind::Tree, None)),
        _ => {}
    }
    // Six digits are all that git writes; more would not fit the number either.
    if mode.is_empty() || mode.len() > 7 || !mode.iter().all(|byte| matches!(byte, b'0'..=b'7')) {
        return None;
    }
    let number = mode.iter().fold(0u32, |sum, digit| sum * 8 + u32::from(digit - b'0'));
    let (kind, mut fault) = match number {
        0o040_000 => (Kind::Tree, None),
        0o120_000 => (Kind::Symlink, None),
        0o160_000 => (Kind::Submodule, None),
        0o100_755 => (Kind::Executable, None),
        // Early versions of git wrote the second.
        0o100_644 | 0o100_664 => (Kind::File, None),
        number if number & 0o170_000 == 0o100_000 => {
            let kind = if number & 0o111 == 0 {
                Kind::File
            } else {
                Kind::Executable
            };
            (kind, Some("has a mode that git does not know"))
        }
        _ => return None,
    };
    if mode.starts_with(b"0") {
        fault = fault.or(Some("has a mode with a zero in front"));
    }
    Some((kind, fault))
}

/// What git sorts an entry by: a folder as if its name ended in a slash.
fn order(name: &[u8], is_folder: bool) -> impl Iterator<Item = u8> + '_ {
    name.iter().copied().chain(is_folder.then_some(b'/'))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entry(mode: &str, name: &[u8], id: u8) -> Vec<u8> {
        [mode.as_bytes(), b" ", name, b"\0", &[id; 20]].concat()
    }

    fn faults(entries: &[Vec<u8>]) -> Vec<(String, &'static str)> {
        let folder = parse(&entries.concat(), 20).expect("it comes apart");
        let text = |fault: Fault| (fault.name.escape_ascii().to_string(), fault.what);
        folder.faults.into_iter().map(text).collect()
    }

    #[test]
    fn what_git_writes_has_no_fault() {
        let entries = [
            entry("100644", b"a", 1),
            entry("100755", b"a-b", 1),
            entry("40000", b"a.b", 1),
            entry("100644", b"a.b0", 1),
            entry("100664", b"b", 1),
            entry("120000", b"c", 1),
            entry("160000", b"d", 1),
        ];
        assert_eq!(faults(&entries), []);
        assert_eq!(parse(&entries.concat(), 20).expect("it comes apart").entries.len(), 7);
        assert_eq!(parse(b"", 20), Ok(Folder::default()));
    }

    #[test]
    fn what_git_never_writes_is_named() {
        let one = |mode: &str, name: &[u8], id| {
            let found = faults(&[entry(mode, name, id)]);
            assert_eq!(found.len(), 1, "{mode} {found:?}");
            found[0].1
        };
        assert_eq!(one("100644", b"", 1), "has no name");
        assert_eq!(one("40000", b"..", 1), "names a folder that every folder has");
        assert_eq!(one("40000", b".", 1), "names a folder that every folder has");
        assert_eq!(one("100644", b"a/b", 1), "has a slash in its name");
        assert_eq!(one("40000", b".GIT", 1), "is named as a git dir");
        assert_eq!(one("040000", b"a", 1), "has a mode with a zero in front");
        assert_eq!(one("100600", b"a", 1), "has a mode that git does not know");
        assert_eq!(one("10000", b"a", 1), "has a mode that is none");
        assert_eq!(one("8", b"a", 1), "has a mode that is none");
        assert_eq!(one("100644", b"a", 0), "has no id");
    }

    #[test]
    fn a_name_that_stands_twice_is_found_wherever_it_stands() {
        let apart = [
            entry("100644", b"a", 1),
            entry("100644", b"a.b", 2),
            entry("40000", b"a", 3),
        ];
        assert_eq!(faults(&apart), [("a".to_owned(), "stands in it twice")]);
        let folder = parse(&apart.concat(), 20).expect("it comes apart");
        assert_eq!(folder.entries.len(), 3, "both are judged");
    }

    #[test]
    fn entries_are_in_gits_order() {
        let swapped = [entry("100644", b"b", 1), entry("100644", b"a", 1)];
        assert_eq!(faults(&swapped), [("a".to_owned(), "is out of order")]);
        // A folder sorts as `a/`, after `a.b`.
        let folder_first = [entry("40000", b"a", 1), entry("100644", b"a.b", 1)];
        assert_eq!(faults(&folder_first), [("a.b".to_owned(), "is out of order")]);
    }

    #[test]
    fn bytes_that_do_not_come_apart_are_an_error() {
        let whole = entry("100644", b"a", 1);
        for cut in 1..whole.len() {
            assert!(parse(&whole[..cut], 20).is_err(), "{cut}");
        }
    }
}

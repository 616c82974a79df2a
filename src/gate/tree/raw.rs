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

/// A folder: its entries, and what is wrong with them. The entries stay where the object has them: of a large folder
/// few are looked at more closely.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Folder {
    object: Vec<u8>,
    spots: Vec<Spot>,
    /// Empty for every tree that git wrote.
    pub faults: Vec<Fault>,
}

/// Where an entry's name lies in the object; a NUL and the id follow it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Spot {
    start: u32,
    end: u32,
    /// Bytes of the id.
    id_length: u8,
    /// Of an entry that a path can name.
    kind: Option<Kind>,
}

/// One entry of a [`Folder`], see [`Entry`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Item<'a> {
    /// File name as git's bytes, without a slash.
    pub name: &'a [u8],
    /// File, folder, link.
    pub kind: Kind,
    id: &'a [u8],
}

impl Item<'_> {
    /// Id of the blob, tree or (for a submodule link) commit.
    pub fn id(&self) -> Oid {
        Oid::from_bytes(self.id).unwrap_or_else(|| unreachable!("it was as long when it was read"))
    }

    /// Whether another entry has the same kind and id, whatever its name.
    pub fn leads_as(&self, other: &Item) -> bool {
        self.kind == other.kind && self.id == other.id
    }

    /// The same, on its own.
    pub fn to_entry(self) -> Entry {
        Entry {
            name: self.name.to_vec(),
            kind: self.kind,
            id: self.id(),
        }
    }
}

impl Folder {
    /// A folder of these entries, with what is known to be wrong with it.
    pub fn of(entries: &[Entry], faults: Vec<Fault>) -> Folder {
        let mut folder = Folder {
            faults,
            ..Folder::default()
        };
        for entry in entries {
            let (id, start) = (entry.id.as_bytes(), folder.object.len());
            folder.object.extend_from_slice(&entry.name);
            let end = folder.object.len();
            folder.object.push(0);
            folder.object.extend_from_slice(id);
            // Folders that are made here are small.
            if let (Ok(start), Ok(end)) = (u32::try_from(start), u32::try_from(end)) {
                folder.spots.push(Spot {
                    start,
                    end,
                    id_length: id.len() as u8,
                    kind: Some(entry.kind),
                });
            }
        }
        folder
    }

    /// In the order of the object. Entries that no path can name are left out, and are in `faults`.
    pub fn items(&self) -> impl Iterator<Item = Item<'_>> {
        self.places().map(|(_, item)| item)
    }

    /// The same with their places, which [`Folder::at`] takes.
    pub fn places(&self) -> impl Iterator<Item = (usize, Item<'_>)> {
        let spots = self.spots.iter().enumerate();
        spots.filter_map(|(at, spot)| Some((at, self.item(spot)?)))
    }

    /// The entry at a place.
    pub fn at(&self, place: usize) -> Option<Item<'_>> {
        self.item(self.spots.get(place)?)
    }

    /// The entry of this name; the first one, where a malformed folder has several.
    pub fn find(&self, name: &[u8]) -> Option<Item<'_>> {
        self.items().find(|item| item.name == name)
    }

    fn item(&self, spot: &Spot) -> Option<Item<'_>> {
        let kind = spot.kind?;
        let end = spot.end as usize;
        Some(Item {
            name: &self.object[spot.start as usize..end],
            kind,
            id: &self.object[end + 1..end + 1 + usize::from(spot.id_length)],
        })
    }
}

/// How nearly all entries begin: files and folders.
const USUAL: [(&[u8], Kind); 2] = [(b"100644 ", Kind::File), (b"40000 ", Kind::Tree)];

/// Reads a tree object: for each entry an octal mode, a blank, the name, a NUL and the id of
/// `id_length` bytes (gitformat-pack's "tree entry"; fsck's list says what is malformed).
///
/// # Errors
/// With the reason, where the bytes do not come apart into entries.
pub fn parse(object: Vec<u8>, id_length: usize) -> Result<Folder, &'static str> {
    if u32::try_from(object.len()).is_err() {
        return Err("it is larger than 4 GiB");
    }
    if Oid::from_bytes(&vec![0; id_length]).is_none() {
        return Err("its ids are of a length that is none");
    }
    // Of a mode of five or six digits, a blank, a name, a NUL and the id.
    let mut spots: Vec<Spot> = Vec::with_capacity(object.len() / (id_length + 16));
    let mut faults = Vec::new();
    // Names that ascend byte by byte stand once each; the others are looked up.
    let mut seen: Option<HashSet<&[u8]>> = None;
    let mut previous: Option<(&[u8], bool)> = None;
    let mut at = 0;
    while at < object.len() {
        let rest = &object[at..];
        let usual = USUAL.iter().find(|mode| rest.starts_with(mode.0));
        let blank = match usual {
            Some(mode) => mode.0.len() - 1,
            None => memchr(b' ', rest).ok_or("an entry has no mode")?,
        };
        let (mode, after) = (&rest[..blank], &rest[blank + 1..]);
        let length = memchr(0, after).ok_or("the name of an entry does not end")?;
        let (name, after) = (&after[..length], &after[length + 1..]);
        let id = after.get(..id_length).ok_or("the id of an entry is cut short")?;
        let (start, end) = (at + blank + 1, at + blank + 1 + length);
        at = end + 1 + id_length;
        let mut fault = |what| {
            faults.push(Fault {
                name: name.to_vec(),
                what,
            });
        };
        let kind = match usual.map_or_else(|| kind(mode), |mode| Some((mode.1, None))) {
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
        let ascends = previous.is_none_or(|(before, _)| before < name);
        if seen.is_none() && !ascends {
            let names = spots.iter().map(|spot| &object[spot.start as usize..spot.end as usize]);
            seen = Some(names.collect());
        }
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
        spots.push(Spot {
            start: start as u32,
            end: end as u32,
            id_length: id_length as u8,
            kind: kind.filter(|_| nameless.is_none()),
        });
    }
    drop(seen);
    Ok(Folder { object, spots, faults })
}

/// The kind that a mode says, and what is wrong with how it says it.
fn kind(mode: &[u8]) -> Option<(Kind, Option<&'static str>)> {
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
        let folder = parse(entries.concat(), 20).expect("it comes apart");
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
        assert_eq!(parse(entries.concat(), 20).expect("it comes apart").items().count(), 7);
        assert_eq!(parse(Vec::new(), 20), parse(Vec::new(), 20));
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
        let folder = parse(apart.concat(), 20).expect("it comes apart");
        assert_eq!(folder.items().count(), 3, "both are judged");
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
    fn a_folder_of_entries_gives_them_back_whatever_the_length_of_their_ids() {
        let entry = |name: &[u8], kind, id: &[u8]| Entry {
            name: name.to_vec(),
            kind,
            id: Oid::from_bytes(id).expect("an id"),
        };
        let entries = [
            entry(b"a", Kind::File, &[1; 20]),
            entry(b"b", Kind::Tree, &[2; 32]),
            entry(b"c", Kind::Symlink, &[3; 20]),
        ];
        let folder = Folder::of(&entries, Vec::new());
        assert_eq!(folder.items().map(Item::to_entry).collect::<Vec<_>>(), entries);
        assert_eq!(folder.find(b"b").map(Item::to_entry), Some(entries[1].clone()));
    }

    #[test]
    fn bytes_that_do_not_come_apart_are_an_error() {
        let whole = entry("100644", b"a", 1);
        for cut in 1..whole.len() {
            assert!(parse(whole[..cut].to_vec(), 20).is_err(), "{cut}");
        }
    }
}

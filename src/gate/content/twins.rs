//! Names that a case-folding or normalising file system takes for one.

use std::cell::{Cell, OnceCell};
use std::collections::HashMap;
use std::rc::Rc;

use super::hidden;
use crate::gate::paths::fold;
use crate::gate::rules::shown;
use crate::gate::tree::{Folder, Item, join, lookup};
use crate::gate::{Finding, Kind, Oid, Tree, Unreadable};

/// From how many questions on the names of a folder are sorted.
const FEW: usize = 8;

/// The entries of one folder by their folded name.
pub(super) struct Listing {
    folder: Rc<Folder>,
    /// How often it was asked.
    asked: Cell<usize>,
    /// Folded names and the places of their entries, sorted.
    names: OnceCell<Vec<(Vec<u8>, usize)>>,
}

impl Listing {
    /// The entries whose names fold to this, in the folder's order.
    pub(super) fn get(&self, folded: &[u8]) -> Vec<Item<'_>> {
        self.asked.set(self.asked.get() + 1);
        if self.asked.get() < FEW {
            let same = |item: &Item| match item.name.is_ascii() {
                // It folds to as many bytes.
                true => item.name.len() == folded.len() && item.name.eq_ignore_ascii_case(folded),
                false => fold(item.name) == folded,
            };
            return self.folder.items().filter(same).collect();
        }
        let names = self.names.get_or_init(|| {
            let folded = self.folder.places().map(|(at, item)| (fold(item.name), at));
            let mut names: Vec<(Vec<u8>, usize)> = folded.collect();
            names.sort_unstable();
            names
        });
        let start = names.partition_point(|(name, _)| name.as_slice() < folded);
        let same = names[start..].iter().take_while(|(name, _)| name == folded);
        same.filter_map(|(_, at)| self.folder.at(*at)).collect()
    }
}

/// Finds paths of the candidate that a case-folding or normalising file system takes for one.
pub(super) struct Twins<'a> {
    pub(super) bases: &'a [&'a dyn Tree],
    pub(super) candidate: &'a dyn Tree,
    /// Every folder of the candidate is listed once.
    pub(super) folders: HashMap<Oid, Rc<Listing>>,
}

impl Twins<'_> {
    /// The outermost component of `path` that is new and has a twin.
    pub(super) fn of(&mut self, path: &[u8]) -> Result<Option<Finding>, Unreadable> {
        // Where the base has twin folders, what lies in them is compared across them.
        let mut places: Vec<(Vec<u8>, Oid)> = vec![(Vec::new(), self.candidate.root())];
        let mut here = Vec::new();
        for part in path.split(|&byte| byte == b'/') {
            here = join(&here, part);
            let folded = fold(part);
            let mut below = Vec::new();
            let mut twins = Vec::new();
            for (folder, id) in &places {
                for entry in self.listing(id)?.get(&folded) {
                    let there = join(folder, entry.name);
                    if entry.kind == Kind::Tree {
                        below.push((there.clone(), entry.id()));
                    }
                    if there != here {
                        twins.push(there);
                    }
                }
            }
            // Of two twins the new one is at fault; both, when both are new.
            if let Some(twin) = twins.first()
                && !self.in_a_base(&here)?
            {
                return Ok(Some(hidden(
                    &here,
                    "built-in: twins",
                    format!("differs from {} only by case or Unicode form", shown(twin)),
                    "many file systems hold only one of the two; rename or delete one",
                )));
            }
            places = below;
        }
        Ok(None)
    }

    /// The folder's entries, read once.
    pub(super) fn listing(&mut self, folder: &Oid) -> Result<Rc<Listing>, Unreadable> {
        if let Some(known) = self.folders.get(folder) {
            return Ok(known.clone());
        }
        let listing = Rc::new(Listing {
            folder: self.candidate.folder(folder)?,
            asked: Cell::default(),
            names: OnceCell::new(),
        });
        self.folders.insert(*folder, listing.clone());
        Ok(listing)
    }

    fn in_a_base(&self, path: &[u8]) -> Result<bool, Unreadable> {
        for base in self.bases {
            if lookup(*base, path)?.is_some() {
                return Ok(true);
            }
        }
        Ok(false)
    }
}

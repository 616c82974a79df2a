//! What agents and their tools left behind, as notices.

use std::path::PathBuf;

use super::prepare::Job;
use crate::gate;
use crate::gate::leftovers::{self, Leftover, Sort};
use crate::store;

impl Job {
    /// Names what looks as if an agent's tools had left it, in the candidate and among the files
    /// that were archived. Said whatever the end is: nothing else would show it.
    pub(super) fn name_leftovers(&mut self, left: &[Leftover], hidden: &[PathBuf]) {
        for (sort, what) in [
            (Sort::Left, "the candidate holds what looks like leftovers of the agent"),
            (
                Sort::Settings,
                "the candidate changes settings that tools may rewrite by themselves",
            ),
        ] {
            let of_sort: Vec<&Leftover> = left.iter().filter(|file| file.sort == sort).collect();
            if !of_sort.is_empty() {
                let named = explained(of_sort.iter().map(|file| (file.path.as_slice(), file.what)));
                self.notices.push(format!("{what}: {named}; look before you use it"));
            }
        }
        let archived: Vec<(&[u8], &str)> = hidden
            .iter()
            .map(|path| path.as_os_str().as_encoded_bytes())
            .filter_map(|path| leftovers::find(path).map(|(_, what)| (path, what)))
            .collect();
        if !archived.is_empty() {
            let named = explained(archived.into_iter());
            self.notices.push(format!(
                "leftovers of the agent among the files in {}: {named}",
                store::HIDDEN
            ));
        }
    }
}

/// The first ten paths, printable, with what each is.
fn explained<'a>(paths: impl ExactSizeIterator<Item = (&'a [u8], &'a str)>) -> String {
    let count = paths.len();
    let mut shown: Vec<String> = paths
        .take(10)
        .map(|(path, what)| format!("{} ({what})", gate::render::path(path)))
        .collect();
    if count > shown.len() {
        shown.push(format!("and {} more", count - shown.len()));
    }
    shown.join(", ")
}

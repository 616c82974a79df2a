//! A candidate that holds credentials: no ref of it, and no file with the values, leaves the job.
//!
//! Looked for when the candidate is frozen, before anything of it is saved, so that a job that ends for another
//! reason keeps to it as well.

use anyhow::Result;

use super::prepare::Job;
use crate::exit::Stop;
use crate::gate::credentials::search;
use crate::gate::{self, GateError};
use crate::git::evidence;
use crate::git::from_git2;
use crate::git::snapshot::{Frozen, Stage};
use crate::git::tree::GitTree;

impl Job {
    /// Looks for them in what was frozen.
    pub(super) fn find_credentials(&mut self, frozen: &Frozen) -> Result<()> {
        let base = GitTree::of_commit(&self.checkout.repo, self.base).map_err(GateError::from)?;
        let candidate = GitTree::new(&self.checkout.repo, from_git2(frozen.tree()));
        // Where it cannot be told, nothing of the candidate is saved, and nothing is deleted.
        let found = gate::credentials_in(&base, &candidate);
        self.credentials = found.map_err(|error| Stop::new(error.exit(), error.to_string()))?;
        if let Some(held) = self.credential_words() {
            self.notices.push(format!(
                "{held}; so the record has no ref, and `x` stands in the place of the values in its patch"
            ));
        }
        Ok(())
    }

    /// Where they stand, without the values. `None` where there are none.
    pub(super) fn credential_words(&self) -> Option<String> {
        let mut places: Vec<String> = Vec::new();
        for holder in &self.credentials {
            let path = gate::render::path(&holder.path);
            let hits = holder.hits.iter();
            places.extend(hits.map(|hit| format!("{path}:{} ({}, {})", hit.line, hit.rule, hit.fingerprint)));
        }
        let more = places.len().saturating_sub(10);
        places.truncate(10);
        if more > 0 {
            places.push(format!("and {more} more"));
        }
        (!places.is_empty()).then(|| format!("the candidate holds credentials: {}", places.join(", ")))
    }

    /// Whether bytes hold one of the values that were found. Only asked where there are any: what else a log may hold
    /// is not looked at.
    pub(super) fn holds_credential(&self, bytes: &[u8]) -> bool {
        if self.credentials.is_empty() {
            return false;
        }
        let known = |fingerprint: &str| {
            let mut hits = self.credentials.iter().flat_map(|holder| &holder.hits);
            hits.any(|hit| hit.fingerprint == fingerprint)
        };
        search(bytes).iter().any(|hit| known(&hit.fingerprint))
    }

    /// The patch of the same change with the values blanked. One that still holds a value (a path may) is left out.
    pub(super) fn blanked_patch(&self, stage: &Stage, base: &str, tree: &str) -> Result<Vec<u8>> {
        let git = &self.checkout.git;
        let files: Vec<_> = self
            .credentials
            .iter()
            .map(|holder| (holder.path.as_slice(), holder.kind, holder.blanked.as_slice()))
            .collect();
        let blanked = evidence::with_content(git, stage, tree, &files)?;
        let patch = evidence::patch(git, stage, base, &blanked)?;
        Ok(match self.holds_credential(&patch) {
            true => b"left out: the candidate holds a credential that could not be blanked\n".to_vec(),
            false => patch,
        })
    }
}

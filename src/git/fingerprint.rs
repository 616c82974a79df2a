//! What a clone looked like before an agent ran, to be compared with what it looks like after.
//!
//! Where the kernel does not hold the agent, this is what notices that it wrote into the clone.
//! It proves nothing about who wrote: a difference in configuration, hooks or `info/` fails the
//! job, since no person changes those in the middle of one by chance; moved refs and edited files
//! are told.

use std::collections::BTreeMap;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::Path;

use anyhow::{Context, Result};

use crate::files;
use crate::job::log::sha256_hex;

use super::repo::Checkout;

/// Size limit of a file that is hashed; larger ones count by size and time.
const HASHED: u64 = 4 * 1024 * 1024;

/// The state of a clone outside its objects.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Fingerprint {
    guarded: BTreeMap<String, String>,
    told: BTreeMap<String, String>,
}

/// What differs between two fingerprints.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Difference {
    /// Changed configuration, hooks and `info/` files: exit 20.
    pub collisions: Vec<String>,
    /// Moved refs, HEAD, edited files: a person may have done that.
    pub told: Vec<String>,
}

impl Fingerprint {
    /// Takes it. Refs of the job itself are left out.
    pub fn take(checkout: &Checkout, id: &str) -> Result<Fingerprint> {
        let mut print = Fingerprint::default();
        for name in ["config", "config.worktree"] {
            print.guard(&checkout.common, Path::new(name))?;
        }
        for folder in ["hooks", "info"] {
            for entry in walkdir::WalkDir::new(checkout.common.join(folder))
                .follow_links(false)
                .sort_by_file_name()
            {
                // A folder that is not there has nothing to guard.
                let Ok(entry) = entry else { continue };
                if !entry.file_type().is_dir()
                    && let Ok(relative) = entry.path().strip_prefix(&checkout.common)
                {
                    print.guard(&checkout.common, relative)?;
                }
            }
        }
        let own = [format!("refs/agentgate/jobs/{id}"), format!("refs/heads/agent/{id}")];
        for reference in checkout.repo.references().context("cannot list the clone's refs")? {
            let reference = reference.context("cannot read one of the clone's refs")?;
            let name = String::from_utf8_lossy(reference.name_bytes()).into_owned();
            if !own.contains(&name) {
                let target = reference
                    .target()
                    .map(|id| id.to_string())
                    .or_else(|| reference.symbolic_target().ok().flatten().map(str::to_owned));
                print.told.insert(format!("ref {name}"), target.unwrap_or_default());
            }
        }
        let head = files::read_small(&checkout.git_dir.join("HEAD"), HASHED).unwrap_or_default();
        print
            .told
            .insert("HEAD".into(), String::from_utf8_lossy(&head).trim().to_owned());
        for line in checkout.dirt(None)? {
            print.told.insert(format!("file {line}"), String::new());
        }
        Ok(print)
    }

    fn guard(&mut self, common: &Path, relative: &Path) -> Result<()> {
        let path = common.join(relative);
        let Ok(meta) = path.symlink_metadata() else {
            return Ok(());
        };
        let content = if meta.is_symlink() {
            std::fs::read_link(&path)
                .with_context(|| format!("cannot read {}", path.display()))?
                .display()
                .to_string()
        } else if meta.is_file() && meta.len() <= HASHED {
            sha256_hex(&[&files::read_small(&path, HASHED)?])
        } else {
            format!("{} bytes at {}", meta.len(), meta.mtime())
        };
        let mode = meta.permissions().mode();
        self.guarded
            .insert(relative.display().to_string(), format!("{mode:o} {content}"));
        Ok(())
    }

    /// What is different in `after`.
    pub fn compare(&self, after: &Fingerprint) -> Difference {
        Difference {
            collisions: changed(&self.guarded, &after.guarded)
                .into_iter()
                .map(|(name, how)| format!("{name} {how}"))
                .collect(),
            told: changed(&self.told, &after.told)
                .into_iter()
                .map(|(name, how)| format!("{name} {how}"))
                .collect(),
        }
    }
}

fn changed(before: &BTreeMap<String, String>, after: &BTreeMap<String, String>) -> Vec<(String, &'static str)> {
    let mut found = Vec::new();
    for (name, value) in before {
        match after.get(name) {
            None => found.push((name.clone(), "is gone")),
            Some(now) if now != value => found.push((name.clone(), "changed")),
            Some(_) => {}
        }
    }
    found.extend(
        after
            .keys()
            .filter(|name| !before.contains_key(*name))
            .map(|name| (name.clone(), "is new")),
    );
    found
}

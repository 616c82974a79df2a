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
        print.hooks_elsewhere(checkout);
        print.worktrees(&checkout.common);
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
        // Entries that were stashed earlier are in no ref but in this list.
        if let Ok(stashes) = files::read_small(&checkout.common.join("logs/refs/stash"), HASHED) {
            print.told.insert("stash".into(), sha256_hex(&[&stashes]));
        }
        print
            .told
            .insert("index".into(), index(&checkout.git_dir.join("index")));
        for line in checkout.dirt(None)? {
            print.told.insert(format!("file {line}"), String::new());
        }
        Ok(print)
    }

    /// A hooks folder that the configuration names, such as a hook manager's.
    fn hooks_elsewhere(&mut self, checkout: &Checkout) {
        let configured = checkout
            .repo
            .config()
            .and_then(|config| config.get_path("core.hooksPath"));
        let top = checkout.workdir.as_ref().unwrap_or(&checkout.common);
        let Ok(folder) = configured.map(|folder| top.join(folder)) else {
            return;
        };
        let entries = std::fs::read_dir(&folder).into_iter().flatten().flatten();
        for name in entries.map(|entry| entry.file_name()) {
            // What cannot be read is not compared; the clone's own hooks are what must be.
            let _ = self.guard(&folder, Path::new(&name));
        }
    }

    /// The registered worktrees: what git reads of them counts as configuration, where they stand is told.
    fn worktrees(&mut self, common: &Path) {
        let entries = std::fs::read_dir(common.join("worktrees"))
            .into_iter()
            .flatten()
            .flatten();
        for name in entries.map(|entry| Path::new("worktrees").join(entry.file_name())) {
            for file in ["commondir", "gitdir", "config.worktree"] {
                let _ = self.guard(common, &name.join(file));
            }
            let head = files::read_small(&common.join(&name).join("HEAD"), HASHED).unwrap_or_default();
            let head = String::from_utf8_lossy(&head).trim().to_owned();
            self.told.insert(format!("{} HEAD", name.display()), head);
        }
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

/// What an index says, but for the times and sizes that every look at the checkout may refresh. Flags
/// count: they can hide an edit from `git status`.
fn index(path: &Path) -> String {
    let Ok(index) = git2::Index::open(path) else {
        return "unreadable".to_owned();
    };
    let mut content = Vec::new();
    for entry in index.iter() {
        content.extend_from_slice(entry.id.as_bytes());
        content.extend_from_slice(&entry.mode.to_ne_bytes());
        content.extend_from_slice(&entry.flags.to_ne_bytes());
        // The upper bits are libgit2's own.
        content.extend_from_slice(&(entry.flags_extended & 0x6000).to_ne_bytes());
        content.extend_from_slice(&entry.path);
        content.push(0);
    }
    sha256_hex(&[&content])
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

//! What a clone looked like before an agent ran, to be compared with what it looks like after.
//!
//! Where the kernel does not hold the agent, this is what notices that it wrote into the clone.
//! It proves nothing about who wrote: a difference in configuration, hooks, `info/` and what else
//! decides which programs and objects git takes fails the job, since no person changes those in the
//! middle of one by chance; moved refs and edited files are told.
//!
//! Invariant: after an agent that nothing held, no git starts in the clone before these were compared.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
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
    /// Found by looking at files alone.
    files: BTreeMap<String, String>,
    /// What git makes of them; nothing runs for it.
    read: BTreeMap<String, String>,
    /// What a person may change meanwhile.
    told: BTreeMap<String, String>,
}

/// What differs between two fingerprints.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Difference {
    /// Changed configuration, hooks, `info/` files and the like: exit 20.
    pub collisions: Vec<String>,
    /// Moved refs, HEAD, edited files: a person may have done that.
    pub told: Vec<String>,
}

impl Fingerprint {
    /// Takes it. Refs of the job itself are left out.
    pub fn take(checkout: &Checkout, id: &str) -> Result<Fingerprint> {
        let mut print = Fingerprint::default();
        print.look_at_files(checkout)?;
        print.read_settings(checkout)?;
        print.look_around(checkout, id)?;
        Ok(print)
    }

    /// What is different now. The least trusting look comes first, and the first that finds something is
    /// the last: under settings that an agent may have written, asking for the state of the checkout would
    /// run its programs, and a pipe among the files would hold every reader up.
    pub fn difference(&self, checkout: &Checkout, id: &str) -> Result<Difference> {
        let mut now = Fingerprint::default();
        now.look_at_files(checkout)?;
        let mut collisions = changed(&self.files, &now.files);
        if collisions.is_empty() {
            now.read_settings(checkout)?;
            collisions = changed(&self.read, &now.read);
        }
        let mut told = Vec::new();
        if collisions.is_empty() {
            now.look_around(checkout, id)?;
            told = changed(&self.told, &now.told);
        }
        Ok(Difference { collisions, told })
    }

    /// Names, kinds and contents of what git obeys. Nothing but regular files is opened.
    fn look_at_files(&mut self, checkout: &Checkout) -> Result<()> {
        let common = &checkout.common;
        self.git_dir(common, Path::new(""))?;
        for name in ["objects/info/alternates", "objects/info/http-alternates"] {
            self.guard(common, Path::new(name))?;
        }
        self.modules(common, Path::new("modules"))?;
        self.worktrees(common);
        for name in strays(checkout) {
            self.files.insert(name, "no file".to_owned());
        }
        Ok(())
    }

    /// Settings, hooks and `info/` of a git dir below the common one.
    fn git_dir(&mut self, common: &Path, relative: &Path) -> Result<()> {
        for name in ["config", "config.worktree"] {
            self.guard(common, &relative.join(name))?;
        }
        for folder in ["hooks", "info"] {
            let walk = walkdir::WalkDir::new(common.join(relative).join(folder));
            // A folder that is not there has nothing to guard.
            for entry in walk.follow_links(false).into_iter().filter_map(Result::ok) {
                if !entry.file_type().is_dir()
                    && let Ok(relative) = entry.path().strip_prefix(common)
                {
                    self.guard(common, relative)?;
                }
            }
        }
        Ok(())
    }

    /// The git dirs of submodules, in which every `git status` looks around.
    fn modules(&mut self, common: &Path, below: &Path) -> Result<()> {
        for entry in std::fs::read_dir(common.join(below)).into_iter().flatten().flatten() {
            if !entry.file_type().is_ok_and(|kind| kind.is_dir()) {
                continue;
            }
            let relative = below.join(entry.file_name());
            if entry.path().join("HEAD").symlink_metadata().is_ok() {
                self.git_dir(common, &relative)?;
                self.modules(common, &relative.join("modules"))?;
            } else {
                // A submodule's name may have slashes.
                self.modules(common, &relative)?;
            }
        }
        Ok(())
    }

    /// The configuration with all that it includes, the hooks that it names, and what makes git read
    /// another object than the one that is asked for.
    fn read_settings(&mut self, checkout: &Checkout) -> Result<()> {
        let top = checkout.workdir.as_ref().unwrap_or(&checkout.common);
        let listed = checkout.git.at(top).args(["config", "--list", "-z"]).bytes()?;
        self.read
            .insert("configuration as git reads it".into(), sha256_hex(&[&listed]));
        self.hooks_elsewhere(checkout);
        self.submodules(checkout, top);
        for reference in checkout.repo.references().context("cannot list the clone's refs")? {
            let reference = reference.context("cannot read one of the clone's refs")?;
            let name = String::from_utf8_lossy(reference.name_bytes()).into_owned();
            if name.starts_with("refs/replace/") {
                let target = reference.target().map(|id| id.to_string());
                self.read.insert(name, target.unwrap_or_default());
            }
        }
        Ok(())
    }

    /// Where the `.git` files of submodules lead.
    fn submodules(&mut self, checkout: &Checkout, top: &Path) {
        const LINK: u32 = 0o160_000;
        let Ok(index) = checkout.repo.index() else { return };
        for entry in index.iter().filter(|entry| entry.mode == LINK) {
            let pointer = Path::new(OsStr::from_bytes(&entry.path)).join(".git");
            if let Ok(Some(state)) = state_of(&top.join(&pointer)) {
                self.read.insert(pointer.display().to_string(), state);
            }
        }
    }

    /// Refs, HEAD, stash, index and state of the checkout.
    fn look_around(&mut self, checkout: &Checkout, id: &str) -> Result<()> {
        let own = [format!("refs/agentgate/jobs/{id}"), format!("refs/heads/agent/{id}")];
        for reference in checkout.repo.references().context("cannot list the clone's refs")? {
            let reference = reference.context("cannot read one of the clone's refs")?;
            let name = String::from_utf8_lossy(reference.name_bytes()).into_owned();
            if !own.contains(&name) {
                let target = reference
                    .target()
                    .map(|id| id.to_string())
                    .or_else(|| reference.symbolic_target().ok().flatten().map(str::to_owned));
                self.told.insert(format!("ref {name}"), target.unwrap_or_default());
            }
        }
        let text = |path: &Path| {
            let bytes = files::read_small(path, HASHED).unwrap_or_default();
            String::from_utf8_lossy(&bytes).trim().to_owned()
        };
        self.told.insert("HEAD".into(), text(&checkout.git_dir.join("HEAD")));
        for entry in std::fs::read_dir(checkout.common.join("worktrees"))
            .into_iter()
            .flatten()
            .flatten()
        {
            let name = entry.file_name();
            self.told.insert(
                format!("worktrees/{} HEAD", name.display()),
                text(&entry.path().join("HEAD")),
            );
        }
        // Entries that were stashed earlier are in no ref but in this list.
        if let Ok(stashes) = files::read_small(&checkout.common.join("logs/refs/stash"), HASHED) {
            self.told.insert("stash".into(), sha256_hex(&[&stashes]));
        }
        self.told.insert("index".into(), index(&checkout.git_dir.join("index")));
        // git asks a submodule for its state under that one's own settings: only its commit counts here.
        match checkout.dirt_but_inside_submodules() {
            Ok(lines) => self
                .told
                .extend(lines.into_iter().map(|line| (format!("file {line}"), String::new()))),
            // An object that it needs was damaged, for one. The verdict does not hang on it.
            Err(error) => {
                self.told.insert("state of the checkout".into(), format!("{error:#}"));
            }
        }
        Ok(())
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
            if let Ok(Some(state)) = state_of(&folder.join(&name)) {
                self.read.insert(name.display().to_string(), state);
            }
        }
    }

    /// The registered worktrees: what git reads of them counts as configuration.
    fn worktrees(&mut self, common: &Path) {
        let entries = std::fs::read_dir(common.join("worktrees"))
            .into_iter()
            .flatten()
            .flatten();
        for name in entries.map(|entry| Path::new("worktrees").join(entry.file_name())) {
            for file in ["commondir", "gitdir", "config.worktree"] {
                // A registration may go while it is looked at.
                let _ = self.guard(common, &name.join(file));
            }
        }
    }

    fn guard(&mut self, common: &Path, relative: &Path) -> Result<()> {
        if let Some(state) = state_of(&common.join(relative))? {
            self.files.insert(relative.display().to_string(), state);
        }
        Ok(())
    }
}

/// The first of the files that git and libgit2 read that is none: a pipe, for one, which holds up whoever
/// opens it.
pub fn no_file(checkout: &Checkout) -> Option<String> {
    strays(checkout).into_iter().next()
}

fn strays(checkout: &Checkout) -> Vec<String> {
    let common = &checkout.common;
    let named = [
        (common, "config"),
        (common, "packed-refs"),
        (&checkout.git_dir, "HEAD"),
        (&checkout.git_dir, "index"),
    ];
    let named = named.map(|(top, name)| (name.to_owned(), top.join(name)));
    let refs = walkdir::WalkDir::new(common.join("refs")).follow_links(false);
    let refs = refs.into_iter().filter_map(Result::ok);
    let refs = refs.filter(|entry| !entry.file_type().is_dir()).map(|entry| {
        let name = entry.path().strip_prefix(common).unwrap_or(entry.path());
        (name.display().to_string(), entry.path().to_owned())
    });
    let is_stray = |path: &Path| {
        // A link counts by what it leads to.
        std::fs::metadata(path).is_ok_and(|meta| !meta.is_file())
    };
    let found = named.into_iter().chain(refs).filter(|(_, path)| is_stray(path));
    found.map(|(name, _)| name).collect()
}

/// Mode and content of a file, or what is there instead; `None` where there is nothing.
fn state_of(path: &Path) -> Result<Option<String>> {
    let Ok(meta) = path.symlink_metadata() else {
        return Ok(None);
    };
    let content = if meta.is_symlink() {
        let target = std::fs::read_link(path).with_context(|| format!("cannot read {}", path.display()))?;
        // What it leads to counts as well: git follows it.
        let real = std::fs::canonicalize(path).and_then(|real| files::read_small(&real, HASHED));
        format!("{} {}", target.display(), sha256_hex(&[&real.unwrap_or_default()]))
    } else if meta.is_file() && meta.len() <= HASHED {
        sha256_hex(&[&files::read_small(path, HASHED)?])
    } else if meta.is_dir() {
        "folder".to_owned()
    } else {
        format!("{} bytes at {}", meta.len(), meta.mtime())
    };
    Ok(Some(format!("{:o} {content}", meta.permissions().mode())))
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

fn changed(before: &BTreeMap<String, String>, after: &BTreeMap<String, String>) -> Vec<String> {
    let mut found = Vec::new();
    for (name, value) in before {
        match after.get(name) {
            None => found.push(format!("{name} is gone")),
            Some(now) if now != value => found.push(format!("{name} changed")),
            Some(_) => {}
        }
    }
    let is_new = after.keys().filter(|name| !before.contains_key(*name));
    found.extend(is_new.map(|name| format!("{name} is new")));
    found
}

//! Branches, tags and stashes that an agent made in its private git dir, saved as a bundle.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use anyhow::{Context, Result};

use crate::files;

use super::evidence::BUNDLE_LIMIT;
use super::program::Git;
use super::settings::{ContentSettings, quote_alternate};
use super::shadow::Shadow;

/// Most bytes of a ref file or reflog that are read: an agent wrote it.
const REF_LIMIT: u64 = 8 * 1024 * 1024;

/// Refs that the agent made or moved in its private git dir, with their ids: branches, tags,
/// stash entries (`refs/stash`, `refs/agent-stash/N`), and where its HEAD stands.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AgentRefs {
    /// Ref name to commit id.
    pub refs: BTreeMap<String, String>,
    /// The commit its HEAD names, if it is not the base.
    pub head: Option<String>,
}

/// Reads them by looking at files alone: nothing is opened that could block or run something.
pub fn read(shadow: &Shadow, base: &str) -> AgentRefs {
    let text = |path: &Path| {
        files::read_small(path, REF_LIMIT)
            .ok()
            .map(|bytes| String::from_utf8_lossy(&bytes).into_owned())
    };
    let mut all: BTreeMap<String, String> = BTreeMap::new();
    for line in text(&shadow.git_dir.join("packed-refs")).unwrap_or_default().lines() {
        if let Some((id, name)) = line.split_once(' ')
            && is_id(id)
        {
            all.insert(name.to_owned(), id.to_owned());
        }
    }
    let refs = shadow.git_dir.join("refs");
    for entry in walkdir::WalkDir::new(&refs)
        .follow_links(false)
        .max_depth(64)
        .into_iter()
        .filter_map(Result::ok)
    {
        let Ok(name) = entry.path().strip_prefix(&shadow.git_dir) else {
            continue;
        };
        let content = entry
            .file_type()
            .is_file()
            .then(|| text(entry.path()))
            .flatten()
            .unwrap_or_default();
        if is_id(content.trim()) {
            all.insert(name.to_string_lossy().into_owned(), content.trim().to_owned());
        }
    }
    let given: BTreeMap<&str, &str> = shadow
        .given
        .iter()
        .map(|(name, id)| (name.as_str(), id.as_str()))
        .collect();
    let mut found = AgentRefs::default();
    for (name, id) in &all {
        if given.get(name.as_str()) != Some(&id.as_str()) && git2::Reference::is_valid_name(name) {
            found.refs.insert(name.clone(), id.clone());
        }
    }
    // Older stash entries live in the reflog alone; the newest is the ref.
    let reflog = text(&shadow.git_dir.join("logs/refs/stash")).unwrap_or_default();
    let stashes: Vec<&str> = reflog
        .lines()
        .filter_map(|line| line.split(' ').nth(1))
        .filter(|id| is_id(id))
        .collect();
    for (number, id) in stashes.iter().rev().enumerate().skip(1) {
        found
            .refs
            .insert(format!("refs/agent-stash/{number}"), (*id).to_owned());
    }
    let head = text(&shadow.git_dir.join("HEAD")).unwrap_or_default();
    let head = head.trim();
    let id = head
        .strip_prefix("ref: ")
        .map_or_else(|| Some(head.to_owned()), |name| all.get(name.trim()).cloned());
    found.head = id.filter(|id| is_id(id) && id != base);
    found
}

fn is_id(text: &str) -> bool {
    text.len() == 40 && text.bytes().all(|b| b.is_ascii_hexdigit())
}

/// Those of the ids that name a commit or tag: a ref file may hold anything, and one that names
/// nothing would spoil the whole bundle.
fn commits<'a>(git: &Git, dir: &Path, ids: impl Iterator<Item = &'a String>) -> Result<BTreeSet<String>> {
    let asked: String = ids.map(|id| format!("{id}\n")).collect();
    let answered = git
        .at(dir)
        .sealed()
        .env("GIT_DIR", dir)
        .args(["cat-file", "--batch-check=%(objectname) %(objecttype)"])
        .stdin(asked)
        .limit(BUNDLE_LIMIT)
        .bytes()?;
    let answered = String::from_utf8_lossy(&answered).into_owned();
    let id = |line: &str| {
        let (id, kind) = line.split_once(' ')?;
        matches!(kind, "commit" | "tag").then(|| id.to_owned())
    };
    Ok(answered.lines().filter_map(id).collect())
}

/// Writes a bundle of the agent's refs. `None` where they hold no commit beyond the base; an
/// error where its objects cannot be read in time.
pub fn bundle(
    git: &Git,
    settings: &ContentSettings,
    shadow: &Shadow,
    private: &Path,
    refs: &AgentRefs,
    base: &str,
) -> Result<Option<Vec<u8>>> {
    let mut named = refs.refs.clone();
    if let Some(head) = &refs.head {
        named.insert("refs/agent-head".into(), head.clone());
    }
    let dir = private.join("bundle");
    files::remove_tree(&dir)?;
    settings.write_into(&dir, &[])?;
    let alternates = files::read_small(&dir.join("objects/info/alternates"), REF_LIMIT)?;
    let theirs = quote_alternate(&shadow.git_dir.join("objects"));
    let alternates = [&alternates[..], &theirs, b"\n"].concat();
    files::replace(&dir.join("objects/info/alternates"), &alternates, 0o600)?;
    files::replace(&dir.join("HEAD"), format!("{base}\n").as_bytes(), 0o600)?;
    let readable = commits(git, &dir, named.values())?;
    named.retain(|_, id| readable.contains(id));
    if named.values().all(|id| id == base) {
        return Ok(None);
    }
    let packed: String = named.iter().map(|(name, id)| format!("{id} {name}\n")).collect();
    files::replace(&dir.join("packed-refs"), packed.as_bytes(), 0o600)?;
    let file = dir.join("out.bundle");
    let outcome = git
        .at(&dir)
        .sealed()
        .env("GIT_DIR", &dir)
        .args(["bundle", "create", "--quiet"])
        .arg(&file)
        .arg("--stdin")
        .stdin(
            named
                .keys()
                .map(|name| format!("{name}\n"))
                .chain([format!("^{base}\n")])
                .collect::<String>(),
        )
        .limit(BUNDLE_LIMIT)
        .outcome()?;
    if String::from_utf8_lossy(&outcome.stderr).contains("empty bundle") {
        return Ok(None);
    }
    anyhow::ensure!(
        outcome.success(),
        "git bundle failed: {}",
        super::program::first_lines(&outcome.stderr)
    );
    std::fs::read(&file)
        .map(Some)
        .with_context(|| format!("cannot read {}", file.display()))
}

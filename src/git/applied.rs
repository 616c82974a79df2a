//! Whether a patch makes one tree of another, found out by git in a git dir of its own.
//!
//! Invariant: nothing of the clone is written, not even the time of an object: git renews that of each object
//! it would write and finds in an alternate. So the git dir borrows nothing. It gets what the changed paths
//! have in the base, and nothing else: a patch that touches other paths does not apply, or leaves more behind.

use std::collections::BTreeMap;
use std::fs::OpenOptions;
use std::io::Write;
use std::path::Path;

use anyhow::{Context, Result};
use git2::{ObjectType, Repository};

use crate::gate::{Change, Kind};

use super::program::{Call, Git, first_lines};
use super::to_git2;

/// Whoever made the trees had these off as well: a name that another system would take for `.git` is for the
/// gate to refuse.
const CONFIG: &[u8] = b"[core]\n\trepositoryformatversion = 0\n\tbare = true\n\tprotectNTFS = false\n\
                        \tprotectHFS = false\n";

/// Mode and id (hex) of each path.
type Entries = BTreeMap<Vec<u8>, (u32, String)>;

/// What is wrong with `patch` as the way over these changes; `None` where it is exactly that. `patch` is what
/// `git diff-tree --binary --full-index` prints.
///
/// # Errors
/// An object of the base cannot be read, no temporary folder can be made, or git cannot be started.
pub fn differs(git: &Git, repo: &Repository, changes: &[Change], patch: &[u8]) -> Result<Option<String>> {
    let folder = tempfile::Builder::new()
        .prefix("agentgate-verify-")
        .tempdir()
        .context("cannot make a temporary folder")?;
    let dir = folder.path();
    make(dir)?;
    let own = Repository::open(dir).context("cannot open a repository in a temporary folder")?;
    let (from, to) = (repo.odb()?, own.odb()?);
    let mut lines = Vec::new();
    let mut expected = Entries::new();
    for change in changes {
        if let Some(side) = &change.before {
            if side.kind != Kind::Submodule {
                let object = from
                    .read(to_git2(&side.id)?)
                    .with_context(|| format!("object {} of the base cannot be read", side.id))?;
                to.write(ObjectType::Blob, object.data())?;
            }
            lines.extend_from_slice(format!("{:06o} {}\t", mode(side.kind), side.id).as_bytes());
            lines.extend_from_slice(&change.path);
            lines.push(0);
        }
        if let Some(side) = &change.after {
            expected.insert(change.path.clone(), (mode(side.kind), side.id.to_string()));
        }
    }
    let index = dir.join("index");
    let call = || -> Call<'_> { git.at(dir).sealed().env("GIT_DIR", dir).env("GIT_INDEX_FILE", &index) };
    call()
        .args(["update-index", "-z", "--index-info"])
        .stdin(lines)
        .bytes()?;
    let outcome = call()
        .config("apply.ignoreWhitespace", "no")
        .args(["apply", "--cached", "--allow-empty", "--whitespace=nowarn", "-"])
        .stdin(patch)
        .outcome()?;
    if !outcome.success() {
        return Ok(Some(format!("it does not apply: {}", first_lines(&outcome.stderr))));
    }
    let listed = call().args(["ls-files", "--stage", "-z"]).bytes()?;
    Ok(first_difference(&expected, &entries(&listed)?))
}

fn make(dir: &Path) -> Result<()> {
    for below in ["objects/info", "objects/pack", "refs"] {
        std::fs::create_dir_all(dir.join(below)).with_context(|| format!("cannot make {}", dir.display()))?;
    }
    for (name, bytes) in [("config", CONFIG), ("HEAD", b"ref: refs/heads/none\n")] {
        let path = dir.join(name);
        // Not synced, as all of this folder is gone in a moment.
        let file = OpenOptions::new().write(true).create_new(true).open(&path);
        file.and_then(|mut file| file.write_all(bytes))
            .with_context(|| format!("cannot make {}", path.display()))?;
    }
    Ok(())
}

const fn mode(kind: Kind) -> u32 {
    match kind {
        Kind::File => 0o100_644,
        Kind::Executable => 0o100_755,
        Kind::Symlink => 0o120_000,
        Kind::Submodule => 0o160_000,
        Kind::Tree => 0o040_000,
    }
}

/// What `git ls-files --stage -z` prints. (libgit2 refuses an index with the names that the gate is to refuse.)
fn entries(listed: &[u8]) -> Result<Entries> {
    let mut found = Entries::new();
    for line in listed.split(|&byte| byte == 0).filter(|line| !line.is_empty()) {
        let tab = line.iter().position(|&byte| byte == b'\t');
        let (about, path) = line.split_at(tab.with_context(|| "git ls-files answered without a path")?);
        let about = String::from_utf8_lossy(about);
        let mut words = about.split(' ');
        let (mode, id) = (words.next().unwrap_or_default(), words.next().unwrap_or_default());
        let mode = u32::from_str_radix(mode, 8).with_context(|| format!("git ls-files answered {about:?}"))?;
        found.insert(path[1..].to_vec(), (mode, id.to_owned()));
    }
    Ok(found)
}

fn first_difference(expected: &Entries, found: &Entries) -> Option<String> {
    let mut paths = expected.keys().chain(found.keys());
    let path = paths.find(|path| expected.get(*path) != found.get(*path))?;
    let side = |entries: &Entries| match entries.get(path) {
        Some((mode, id)) => format!("{mode:06o} {id}"),
        None => "nothing".to_owned(),
    };
    Some(format!(
        "it makes {} of {}, and the candidate has {}",
        side(found),
        crate::gate::render::path(path),
        side(expected)
    ))
}

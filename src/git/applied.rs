//! What a patch makes of a tree, found out by git in a git dir of its own: nothing is written to the clone.

use std::path::Path;

use anyhow::{Context, Result};
use git2::Oid;

use crate::files;

use super::program::{Call, Git, first_lines};
use super::settings::quote_alternate;

/// Whoever made the trees had these off as well: a name that another system would take for `.git` is for the
/// gate to refuse.
const CONFIG: &[u8] = b"[core]\n\trepositoryformatversion = 0\n\tbare = true\n\tprotectNTFS = false\n\
                        \tprotectHFS = false\n";

/// The tree that `patch` makes of the tree `base`, whose objects lie below `common`; or git's words where it
/// does not apply. `patch` is what `git diff-tree --binary --full-index` prints.
///
/// # Errors
/// No temporary folder could be made, or git could not be started or read the base.
pub fn applied(git: &Git, common: &Path, base: Oid, patch: &[u8]) -> Result<Result<Oid, String>> {
    let folder = tempfile::Builder::new()
        .prefix("agentgate-verify-")
        .tempdir()
        .context("cannot make a temporary folder")?;
    let dir = folder.path();
    for below in ["objects/info", "objects/pack", "refs"] {
        std::fs::create_dir_all(dir.join(below)).with_context(|| format!("cannot make {}", dir.display()))?;
    }
    let alternate = [&quote_alternate(&common.join("objects"))[..], b"\n"].concat();
    for (name, bytes) in [
        ("objects/info/alternates", &alternate[..]),
        ("config", CONFIG),
        ("HEAD", b"ref: refs/heads/none\n"),
    ] {
        let path = dir.join(name);
        files::create_new(&path, bytes, 0o600).with_context(|| format!("cannot make {}", path.display()))?;
    }
    let call = || -> Call<'_> {
        git.at(dir)
            .sealed()
            .env("GIT_DIR", dir)
            .env("GIT_INDEX_FILE", dir.join("index"))
    };
    call().args(["read-tree", &base.to_string()]).bytes()?;
    let outcome = call()
        .config("apply.whitespace", "nowarn")
        .config("apply.ignoreWhitespace", "no")
        .args([
            "apply",
            "--cached",
            "--binary",
            "--allow-empty",
            "--whitespace=nowarn",
            "-",
        ])
        .stdin(patch)
        .outcome()?;
    if !outcome.success() {
        return Ok(Err(first_lines(&outcome.stderr)));
    }
    // What is not changed may be missing (a partial clone): the id is what is asked for.
    let text = call().args(["write-tree", "--missing-ok"]).text()?;
    Oid::from_str(text.trim())
        .map(Ok)
        .with_context(|| format!("git write-tree answered {text:?}"))
}

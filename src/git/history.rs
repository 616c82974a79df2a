//! Commits: made from a frozen tree, and read over a range.

use anyhow::{Context, Result};
use git2::{Oid, Repository};

use crate::exit::{Exit, Stop};

use super::program::{Git, first_lines};
use super::repo::Checkout;
use super::snapshot::Frozen;

/// Who signs a commit and how, as the person's configuration says, taken before the agent starts.
#[derive(Clone, Debug)]
pub struct Identity {
    author: (String, String),
    committer: (String, String),
    sign: bool,
}

impl Identity {
    /// `Name <address>` of the author.
    pub fn author(&self) -> String {
        format!("{} <{}>", self.author.0, self.author.1)
    }

    /// Reads it.
    ///
    /// # Errors
    /// A [`Stop`] with exit 64 where no identity is configured: git's guess from the host name
    /// must not get into history.
    pub fn of(checkout: &Checkout) -> Result<Identity> {
        let here = checkout.workdir.as_deref().unwrap_or(&checkout.common);
        let ident = |name: &str| -> Result<(String, String)> {
            let outcome = checkout
                .git
                .at(here)
                .config("user.useConfigOnly", "true")
                .args(["var", name])
                .outcome()?;
            let text = String::from_utf8_lossy(&outcome.stdout).into_owned();
            let parts = text.rsplit_once('>').and_then(|(who, _)| who.split_once(" <"));
            match parts {
                Some((name, email)) if outcome.success() => Ok((name.to_owned(), email.to_owned())),
                _ => Err(Stop::new(
                    Exit::Usage,
                    "no git identity is configured, so the candidate could not be committed",
                )
                .hint("git config --global user.name \"Your Name\"")
                .hint("git config --global user.email you@example.com")
                .into()),
            }
        };
        let sign = checkout
            .git
            .at(here)
            .args(["config", "--type=bool", "--get", "commit.gpgsign"])
            .outcome()?;
        Ok(Identity {
            author: ident("GIT_AUTHOR_IDENT")?,
            committer: ident("GIT_COMMITTER_IDENT")?,
            sign: sign.stdout.starts_with(b"true"),
        })
    }
}

/// Commits a frozen tree with the base as its only parent, signed where the person's
/// configuration says so. No hook runs.
pub fn commit(
    git: &Git,
    common: &std::path::Path,
    frozen: &Frozen,
    base: Oid,
    message: &str,
    who: &Identity,
) -> Result<Oid> {
    let mut call = git
        .at(common)
        .env("GIT_DIR", common)
        .env("GIT_AUTHOR_NAME", &who.author.0)
        .env("GIT_AUTHOR_EMAIL", &who.author.1)
        .env("GIT_COMMITTER_NAME", &who.committer.0)
        .env("GIT_COMMITTER_EMAIL", &who.committer.1)
        .config("i18n.commitEncoding", "UTF-8")
        .arg("commit-tree");
    if who.sign {
        call = call.arg("-S");
    }
    let outcome = call
        .args(["-p", &base.to_string(), &frozen.tree().to_string()])
        .stdin(message.as_bytes())
        .outcome()?;
    if !outcome.success() {
        let what = if who.sign {
            "the candidate could not be signed (commit.gpgsign is set)"
        } else {
            "the candidate could not be committed"
        };
        anyhow::bail!("{what}: {}", first_lines(&outcome.stderr));
    }
    let text = String::from_utf8_lossy(&outcome.stdout).trim().to_owned();
    Oid::from_str(&text).with_context(|| format!("git commit-tree answered {text:?}"))
}

/// The tree of a commit.
pub fn tree_of(repo: &Repository, commit: Oid) -> Result<Oid> {
    Ok(repo
        .find_commit(commit)
        .with_context(|| format!("commit {commit} cannot be read"))?
        .tree_id())
}

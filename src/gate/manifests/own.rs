//! Dependencies that are the repository's own: folders of it, and members of its npm workspaces.
//!
//! Invariant: a name counts as own only while what makes it so is there. Where the change takes that away (another
//! specifier, a member that goes or gets another name), the same name is somebody else's package, and a new one.

use std::collections::HashSet;

use serde_json::Value;

use super::declared::{Declared, Named};
use super::format::{Format, format, home};
use super::{cargo, text_of};
use crate::gate::imports::may_hold_copies;
use crate::gate::resolve::{follow, npm_members};
use crate::gate::rules::follow_link;
use crate::gate::tree::{Side, lookup};
use crate::gate::{Change, Kind, Tree, Unreadable};

/// What a change takes from manifests that did not change.
#[derive(Debug, Default)]
pub(super) struct Taken {
    /// Names of members of npm workspaces that the candidate has no more.
    pub(super) members: HashSet<String>,
    /// `workspace.dependencies` of a Cargo.toml say something else.
    pub(super) crates: bool,
    /// A pnpm-workspace.yaml does.
    pub(super) catalogs: bool,
    /// That the members could not be compared.
    pub(super) notice: Option<String>,
}

impl Taken {
    pub(super) fn of(base: &dyn Tree, candidate: &dyn Tree, changes: &[Change]) -> Result<Taken, Unreadable> {
        let mut taken = Taken::default();
        if base.root() == candidate.root() {
            return Ok(taken);
        }
        let mut may_lose = false;
        for change in changes {
            let name = change.path.rsplit(|&byte| byte == b'/').next().unwrap_or_default();
            let format = format(&change.path);
            let is_looked_at = matches!(format, Some(Format::Npm | Format::PnpmWorkspace | Format::Cargo));
            if change.before == change.after || !is_looked_at && name != b"lerna.json" {
                continue;
            }
            // A new manifest takes nothing away.
            let Some(before) = change.before else { continue };
            let before = text_of(base, &before)?.unwrap_or_default();
            let after = match &change.after {
                Some(after) => text_of(candidate, after)?.unwrap_or_default(),
                None => String::new(),
            };
            match format {
                Some(Format::Cargo) => taken.crates |= cargo::workspace(&before) != cargo::workspace(&after),
                Some(Format::Npm) => may_lose |= membership(&before) != membership(&after),
                _ => {
                    taken.catalogs |= before != after;
                    may_lose |= before != after;
                }
            }
        }
        if may_lose {
            match (npm_members(base)?, npm_members(candidate)?) {
                (Some(before), Some(after)) => taken.members = &before - &after,
                _ => {
                    taken.notice = Some(
                        "the tree has too many entries to compare the members of its npm workspaces: names that are \
                         theirs no more were not looked for"
                            .to_owned(),
                    );
                }
            }
        }
        Ok(taken)
    }

    /// Whether an unchanged manifest with this text may declare something else now.
    pub(super) fn concerns(&self, format: Format, text: &str) -> bool {
        match format {
            Format::Cargo => self.crates && text.contains("workspace"),
            Format::Npm => {
                self.catalogs && text.contains("catalog:")
                    || !self.members.is_empty() && text.contains('\\')
                    || self.members.iter().any(|name| text.contains(name.as_str()))
            }
            _ => false,
        }
    }

    pub(super) fn is_any(&self) -> bool {
        self.crates || self.catalogs || !self.members.is_empty()
    }
}

/// What makes a folder a member, or others members.
fn membership(package_json: &str) -> (Option<Value>, Option<Value>) {
    let mut manifest: Value = serde_json::from_str(package_json).unwrap_or_default();
    let mut take = |key: &str| manifest.get_mut(key).map(Value::take);
    (take("name"), take("workspaces"))
}

/// What a manifest declares, where a folder that is not the repository's own is none.
pub(super) fn settled(
    tree: &dyn Tree,
    manifest: &[u8],
    mut declared: Declared,
    gone: &HashSet<String>,
) -> Result<Declared, Unreadable> {
    let mut at = 0;
    while let Some(dependency) = declared.found.get_mut(at) {
        if let Named::InPlace(folder) = &dependency.kind {
            match is_own_folder(tree, manifest, folder)? {
                true => {
                    declared.found.remove(at);
                    continue;
                }
                false => dependency.kind = Named::Guessed,
            }
        }
        at += 1;
    }
    for dependency in &mut declared.found {
        let Named::Local(folder) = &dependency.kind else {
            continue;
        };
        // Without a path it is a member.
        let is_own = match folder.as_str() {
            "" => !gone.contains(&dependency.name) && is_own_folder(tree, manifest, "")?,
            folder => is_own_folder(tree, manifest, folder)?,
        };
        if !is_own {
            dependency.kind = Named::Outright;
        }
    }
    Ok(declared)
}

/// Whether a folder, from that of a manifest, is there and below none of other people's packages.
fn is_own_folder(tree: &dyn Tree, manifest: &[u8], folder: &str) -> Result<bool, Unreadable> {
    if folder.starts_with('/') || folder.contains('\\') {
        return Ok(false);
    }
    let Some(folder) = follow(home(manifest), folder.as_bytes()) else {
        return Ok(false);
    };
    let is_vendored = |path: &[u8]| path.split(|&byte| byte == b'/').any(may_hold_copies);
    if is_vendored(&folder) {
        return Ok(false);
    }
    if folder.is_empty() || is_there(tree, &folder)? {
        return Ok(true);
    }
    let Some((real, entry)) = follow_link(tree, &folder)? else {
        return Ok(false);
    };
    Ok(entry.kind == Kind::Tree && !is_vendored(&real))
}

/// Whether the folder is there without any link, or lies in a repository of its own.
fn is_there(tree: &dyn Tree, folder: &[u8]) -> Result<bool, Unreadable> {
    let ends = (folder.iter().enumerate())
        .filter(|(_, byte)| **byte == b'/')
        .map(|(at, _)| at);
    for end in ends.chain([folder.len()]) {
        match lookup(tree, &folder[..end])?.map(|entry| entry.kind) {
            Some(Kind::Submodule) => return Ok(true),
            Some(Kind::Tree) if end == folder.len() => return Ok(true),
            Some(Kind::Tree) => {}
            _ => return Ok(false),
        }
    }
    Ok(false)
}

/// The regular file at a path.
pub(super) fn side(tree: &dyn Tree, path: &[u8]) -> Result<Option<Side>, Unreadable> {
    Ok(lookup(tree, path)?
        .filter(|entry| matches!(entry.kind, Kind::File | Kind::Executable))
        .map(|entry| Side {
            kind: entry.kind,
            id: entry.id,
        }))
}

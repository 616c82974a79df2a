//! Objects that staging wrote, into the clone's store.

use std::collections::{HashMap, HashSet};
use std::path::Path;

use anyhow::{Context, Result, bail};
use git2::{ObjectType, Oid, Repository};

use crate::gate::Kind;

/// Brings a tree's new objects into the clone's store: read, hashed again, written. Folders that
/// the base has at the same place are complete there already and are not opened.
pub(super) fn import(from: &Path, repo: &Repository, tree: Oid, base: Oid) -> Result<()> {
    let staged = git2::Odb::new()?;
    let path = from.to_str().context("the private folder's path is not UTF-8")?;
    staged
        .add_disk_alternate(path)
        .with_context(|| format!("cannot open {path}"))?;
    let store = repo.odb()?;
    let read = |id: Oid| -> Result<(ObjectType, Vec<u8>)> {
        let object = staged
            .read(id)
            .or_else(|_| store.read(id))
            .with_context(|| format!("object {id} of the candidate cannot be read"))?;
        Ok((object.kind(), object.data().to_vec()))
    };
    let mut order = Vec::new();
    let mut seen = HashSet::new();
    let mut open = vec![(tree, Some(base))];
    while let Some((id, before)) = open.pop() {
        if Some(id) == before || !seen.insert((id, before)) {
            continue;
        }
        order.push(id);
        let (kind, data) = read(id)?;
        if kind != ObjectType::Tree {
            bail!("object {id} of the candidate is no tree");
        }
        let old: HashMap<Vec<u8>, (Kind, Oid)> = match before {
            Some(before) => entries(store.read(before)?.data())?
                .into_iter()
                .map(|(mode, name, id)| (name, (mode, id)))
                .collect(),
            None => HashMap::new(),
        };
        for (mode, name, child) in entries(&data)? {
            let there = old.get(&name).copied();
            if there == Some((mode, child)) {
                continue;
            }
            match mode {
                Kind::Tree => open.push((child, there.filter(|(mode, _)| *mode == Kind::Tree).map(|(_, id)| id))),
                Kind::Submodule => {}
                _ => order.push(child),
            }
        }
    }
    // Leaves first: an object in the store has everything it names.
    for id in order.into_iter().rev() {
        let (kind, data) = read(id)?;
        let written = store
            .write(kind, &data)
            .with_context(|| format!("cannot write object {id} to the clone's store"))?;
        if written != id {
            bail!("object {id} of the candidate has another content than its id says");
        }
    }
    Ok(())
}

/// The entries of a raw tree object.
fn entries(mut data: &[u8]) -> Result<Vec<(Kind, Vec<u8>, Oid)>> {
    let mut found = Vec::new();
    while !data.is_empty() {
        let space = data.iter().position(|&b| b == b' ').context("malformed tree")?;
        let nul = data.iter().position(|&b| b == 0).context("malformed tree")?;
        let id = data.get(nul + 1..nul + 21).context("malformed tree")?;
        let name = data.get(space + 1..nul).context("malformed tree")?;
        let kind = match data.get(..space).unwrap_or_default() {
            b"40000" => Kind::Tree,
            b"120000" => Kind::Symlink,
            b"160000" => Kind::Submodule,
            b"100755" => Kind::Executable,
            _ => Kind::File,
        };
        found.push((kind, name.to_vec(), Oid::from_bytes(id)?));
        data = data.get(nul + 21..).unwrap_or_default();
    }
    Ok(found)
}

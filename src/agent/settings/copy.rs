//! `copy`: what is copied into the worktree, and from where.

use crate::gate::yaml::{At, Node, Source, Value};
use crate::paths::PathRule;

use super::super::values;
use super::keys::{elsewhere, not_here, unknown};
use super::{CopyIn, Owner};

pub(super) fn copies(source: &Source, node: &Node, owner: Owner<'_>) -> Result<Vec<CopyIn>, String> {
    let mut copies = Vec::new();
    for (index, item) in source.list(node, "copy")?.iter().enumerate() {
        let key = format!("copy[{index}]");
        let found = match &item.value {
            Value::Map(_) => outside(source, item, &key, owner)?,
            _ => {
                let text = source.string(item, &format!("`{key}`"))?;
                let is_outside = text.starts_with(['/', '~']) || text.split('/').any(|part| part == "..");
                match owner {
                    Owner::Repository(person) if is_outside => {
                        let message = not_here(&format!("`{key}`, which lies outside the clone,"));
                        return Err(source.fault(item.at, &message, &elsewhere(person, None)));
                    }
                    _ => {}
                }
                if is_outside {
                    let message = format!("`{key}` lies outside the clone");
                    let hint = "write where it goes as well: `- {from: ~/secrets/app.env, to: .env}`";
                    return Err(source.fault(item.at, &message, hint));
                }
                inside(source, text, item.at, &key)?;
                CopyIn::Ignored(text.to_owned())
            }
        };
        if copies.contains(&found) {
            return Err(source.fault(
                item.at,
                &format!("`{key}` stands twice in `copy`"),
                "remove one of the two",
            ));
        }
        copies.push(found);
    }
    Ok(copies)
}

fn outside(source: &Source, item: &Node, key: &str, owner: Owner<'_>) -> Result<CopyIn, String> {
    if let Owner::Repository(person) = owner {
        let message = not_here(&format!("`{key}` with `from`"));
        return Err(source.fault(item.at, &message, &elsewhere(person, None)));
    }
    let (mut from, mut to) = (None, None);
    for entry in source.map(item, key)? {
        let inner = format!("{key}.{}", entry.key);
        let text = source.string(&entry.value, &format!("`{inner}`"));
        match entry.key.as_str() {
            "from" => from = Some(values::place(source, text?, entry.value.at, &inner)?),
            "to" => {
                let text = text?;
                inside(source, text, entry.value.at, &inner)?;
                if text.contains(['*', '?', '[', '{']) || text == "." {
                    let message = format!("`{inner}` must be the path of one file or folder");
                    return Err(source.fault(entry.value.at, &message, "such as `.env`"));
                }
                to = Some(text.to_owned());
            }
            _ => return Err(unknown(source, entry, &format!("{key}."), &["from", "to"], &[])),
        }
    }
    match (from, to) {
        (Some(from), Some(to)) => Ok(CopyIn::Outside { from, to }),
        _ => Err(source.fault(
            item.at,
            &format!("`{key}` needs both `from` and `to`"),
            "write `- {from: ~/secrets/app.env, to: .env}`",
        )),
    }
}

/// A path or glob of the repository that does not reach into git's own folder.
fn inside(source: &Source, text: &str, at: At, key: &str) -> Result<(), String> {
    if let Err(wrong) = PathRule::parse(text, key.to_owned()) {
        return Err(source.fault(
            at,
            &format!("`{key}`: {wrong}"),
            "write it relative to the repository's top folder",
        ));
    }
    if text.split('/').any(|part| part.eq_ignore_ascii_case(".git")) {
        let message = format!("`{key}` lies in a git dir");
        return Err(source.fault(at, &message, "the worktree has a git dir of its own; remove it"));
    }
    Ok(())
}

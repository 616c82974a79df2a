//! `may_depend_on` and `allowed_imports` of an area: who may import whom.

use super::super::paths::PathRule;
use super::super::yaml::{Entry, Node, Source, Value, nearest};
use super::parse;
use super::{Area, ImportRule};

impl Area {
    /// Whether the area has a rule that looks at imports.
    pub fn reads_imports(&self) -> bool {
        self.import_key().is_some()
    }

    /// The first key of the area that looks at imports, such as `payments.forbidden_imports`.
    pub fn import_key(&self) -> Option<String> {
        let key = if !self.forbidden_imports.is_empty() {
            "forbidden_imports"
        } else if self.may_depend_on.is_some() {
            "may_depend_on"
        } else if self.allowed_imports.is_some() {
            "allowed_imports"
        } else {
            return None;
        };
        Some(format!("{}.{key}", self.name))
    }

    /// Whether the area's roots cover a path. Case twins of a root count: on a case-folding disk they
    /// are the root. An area without roots covers nothing.
    pub fn covers(&self, path: &[u8]) -> bool {
        self.allowed_roots
            .iter()
            .any(|root: &PathRule| root.denies(path).is_some())
    }
}

/// The names of a `may_depend_on`; an empty list is a rule too: nothing may be depended on. Whether
/// there are such areas can only be said when all are read.
pub(super) fn may_depend_on(source: &Source, node: &Node, key: &str) -> Result<Vec<String>, String> {
    if is_empty_list(node) {
        return Ok(Vec::new());
    }
    let names = source.strings(node, key)?;
    Ok(names.into_iter().map(|(name, _)| name.to_owned()).collect())
}

/// The entries of an `allowed_imports`; an empty list allows nothing from outside.
pub(super) fn allowed_imports(source: &Source, node: &Node, key: &str) -> Result<Vec<ImportRule>, String> {
    if is_empty_list(node) {
        return Ok(Vec::new());
    }
    for (index, item) in source.list(node, key)?.iter().enumerate() {
        source.string(item, &format!("`{key}[{index}]`"))?;
    }
    parse::imports::read(source, node, key)
}

fn is_empty_list(node: &Node) -> bool {
    matches!(&node.value, Value::List(items) if items.is_empty())
}

/// Refuses a `may_depend_on` that names no area, its own, or one that owns no path: each would be a
/// rule that does not do what it says.
pub(super) fn check(source: &Source, entries: &[Entry], areas: &[Area]) -> Result<(), String> {
    let names: Vec<&str> = areas.iter().map(|area| area.name.as_str()).collect();
    for entry in entries {
        let Some(area) = areas.iter().find(|area| area.name == entry.key) else {
            continue;
        };
        let Value::Map(inner) = &entry.value.value else {
            continue;
        };
        let Some(list) = inner.iter().find(|inner| inner.key == "may_depend_on") else {
            continue;
        };
        if area.allowed_roots.is_empty() {
            let message = format!("`{}` has `may_depend_on` and no `allowed_roots`", area.name);
            return Err(source.fault(list.at, &message, "say which paths the area consists of"));
        }
        let Value::List(items) = &list.value.value else {
            continue;
        };
        for item in items {
            let Value::Text(name) = &item.value else { continue };
            let shown = name.escape_debug();
            if *name == area.name {
                let message = format!("`{shown}` names itself in its `may_depend_on`");
                return Err(source.fault(item.at, &message, "remove it: an area always may import itself"));
            }
            match areas.iter().find(|area| area.name == *name) {
                None => {
                    let others: Vec<&str> = names.iter().copied().filter(|other| *other != area.name).collect();
                    let hint = match (nearest(name, &others), others.as_slice()) {
                        (Some(near), _) => format!("did you mean `{near}`?"),
                        (None, []) => "there is no other area".to_owned(),
                        (None, others) => format!("areas: {}", others.join(", ")),
                    };
                    return Err(source.fault(item.at, &format!("there is no area `{shown}`"), &hint));
                }
                Some(other) if other.allowed_roots.is_empty() => {
                    let message = format!("the area `{shown}` has no `allowed_roots`, so nothing can depend on it");
                    return Err(source.fault(item.at, &message, "give it roots, or remove it here"));
                }
                Some(_) => {}
            }
        }
    }
    Ok(())
}

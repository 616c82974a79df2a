//! From the bytes of a policy to its rules. Errors are whole texts with place, snippet and hint.

use super::super::paths::PathRule;
use super::super::yaml::{self, Entry, Node, Source, Value, nearest};
use super::super::{Oid, POLICY_PATH};
use super::{Area, ImportRule, Policy, Stance, areas};

/// Top-level keys that are enforced.
const TOP: &[&str] = &[
    "version",
    "max_new_top_level_dirs",
    "must_not_touch",
    "unmapped",
    "existing",
    "autoexec",
];
/// Reserved top-level keys whose rules are not built yet.
const TOP_LATER: &[&str] = &[
    "dependencies",
    "dynamic_imports",
    "max_changed_files",
    "max_changed_lines",
    "baseline",
    "allowed_credentials",
];
/// Keys of an area that are enforced.
const AREA: &[&str] = &[
    "allowed_roots",
    "forbidden_imports",
    "forbidden_dirs",
    "may_depend_on",
    "allowed_imports",
];
/// Keys of an area whose rules are not built yet.
const AREA_LATER: &[&str] = &[];

pub(super) fn parse(bytes: &[u8], id: Oid) -> Result<Policy, String> {
    let (source, entries) = yaml::read(POLICY_PATH, bytes)?;
    if entries.is_empty() {
        return Err(format!(
            "{POLICY_PATH}: empty, it holds no rule\nhint: `agentgate init` shows one that fits"
        ));
    }
    // First, since a later version may have any other key.
    version(&source, &entries)?;
    let mut policy = Policy {
        id,
        areas: Vec::new(),
        max_new_top_level_dirs: 0,
        must_not_touch: Vec::new(),
        unmapped: Stance::Allow,
        existing: Stance::Allow,
        autoexec: Stance::Allow,
    };
    for entry in &entries {
        let (key, value) = (entry.key.as_str(), &entry.value);
        match key {
            "version" => {}
            "max_new_top_level_dirs" => policy.max_new_top_level_dirs = source.number(value, key)?,
            "must_not_touch" => policy.must_not_touch = paths(&source, value, key)?,
            "unmapped" => policy.unmapped = stance(&source, value, key)?,
            "existing" => policy.existing = stance(&source, value, key)?,
            "autoexec" => {
                if source.choice(value, key, &["warn", "deny"])? == "deny" {
                    policy.autoexec = Stance::Deny;
                }
            }
            _ if TOP_LATER.contains(&key) => return Err(later(&source, entry)),
            _ => policy.areas.push(area(&source, entry)?),
        }
    }
    areas::check(&source, &entries, &policy.areas)?;
    let has_rule = !policy.must_not_touch.is_empty()
        || policy.unmapped == Stance::Deny
        || policy.autoexec == Stance::Deny
        || entries.iter().any(|entry| entry.key == "max_new_top_level_dirs")
        || policy
            .areas
            .iter()
            .any(|area| area.reads_imports() || !area.forbidden_dirs.is_empty());
    match has_rule {
        true => Ok(policy),
        false => Err(format!(
            "{POLICY_PATH}: it holds no rule, so every change would pass\nhint: add `must_not_touch`, \
             `max_new_top_level_dirs`, `unmapped: deny`, `autoexec: deny`, or an area's `forbidden_imports` or `forbidden_dirs`"
        )),
    }
}

fn version(source: &Source, entries: &[Entry]) -> Result<(), String> {
    let Some(entry) = entries.iter().find(|entry| entry.key == "version") else {
        let hint = match nearest(&entries[0].key, &["version"]) {
            Some(_) => "did you mean `version`?",
            None => "begin the file with `version: 1`",
        };
        return Err(source.fault(entries[0].at, "`version` is missing", hint));
    };
    match source.number(&entry.value, "version")? {
        1 => Ok(()),
        other => {
            let message = format!("version {other} is not known to this version of agentgate");
            Err(source.fault(entry.value.at, &message, "it reads `version: 1`"))
        }
    }
}

fn area(source: &Source, entry: &Entry) -> Result<Area, String> {
    let name = entry.key.as_str();
    if AREA.contains(&name) || AREA_LATER.contains(&name) {
        let message = format!("`{name}` stands at the top level");
        let hint = format!("it belongs inside an area, as in `payments: {{{name}: [...]}}`");
        return Err(source.fault(entry.at, &message, &hint));
    }
    if !matches!(entry.value.value, Value::Map(_)) {
        return Err(unknown_top(source, entry));
    }
    if !is_area_name(name) {
        let message = format!("`{}` is no name for an area", name.escape_debug());
        let hint = "letters, digits, `_`, `.` and `-`, and neither `.` nor `-` first";
        return Err(source.fault(entry.at, &message, hint));
    }
    let mut area = Area {
        name: name.to_owned(),
        allowed_roots: Vec::new(),
        forbidden_imports: Vec::new(),
        forbidden_dirs: Vec::new(),
        may_depend_on: None,
        allowed_imports: None,
    };
    for inner in source.map(&entry.value, name)? {
        let key = format!("{name}.{}", inner.key);
        match inner.key.as_str() {
            "allowed_roots" => area.allowed_roots = paths(source, &inner.value, &key)?,
            "forbidden_imports" => area.forbidden_imports = imports(source, &inner.value, &key)?,
            "forbidden_dirs" => area.forbidden_dirs = paths(source, &inner.value, &key)?,
            "may_depend_on" => area.may_depend_on = Some(areas::may_depend_on(source, &inner.value, &key)?),
            "allowed_imports" => area.allowed_imports = Some(areas::allowed_imports(source, &inner.value, &key)?),
            other if AREA_LATER.contains(&other) => return Err(later(source, inner)),
            _ => return Err(unknown_in_area(source, entry, inner)),
        }
    }
    Ok(area)
}

fn is_area_name(name: &str) -> bool {
    !name.starts_with(['.', '-'])
        && !name.is_empty()
        && name.bytes().all(|b| b.is_ascii_alphanumeric() || b"._-".contains(&b))
}

fn unknown_top(source: &Source, entry: &Entry) -> String {
    let key = &entry.key;
    let hint = if let Some(near) = nearest(key, &[TOP, TOP_LATER].concat()) {
        format!("did you mean `{near}`?")
    } else if let Some(near) = nearest(key, &[AREA, AREA_LATER].concat()) {
        format!("did you mean `{near}`, inside an area?")
    } else {
        format!("known: {}; anything else names an area and is a map", TOP.join(", "))
    };
    source.fault(entry.at, &format!("unknown key `{}`", key.escape_debug()), &hint)
}

fn unknown_in_area(source: &Source, area: &Entry, inner: &Entry) -> String {
    let (name, key) = (&area.key, inner.key.as_str());
    if TOP.contains(&key) || TOP_LATER.contains(&key) {
        let message = format!("`{key}` stands inside the area `{name}`");
        return source.fault(inner.at, &message, "it belongs at the top level");
    }
    let hint = if let Some(near) = nearest(key, &[AREA, AREA_LATER].concat()) {
        format!("did you mean `{near}`?")
    } else if nearest(name, &[TOP, TOP_LATER].concat()).is_some() {
        // A misspelt top-level key whose value is a map looks like an area.
        return unknown_top(source, area);
    } else if let Some(near) = nearest(key, &[TOP, TOP_LATER].concat()) {
        format!("did you mean `{near}`, at the top level?")
    } else {
        format!("known in an area: {}", AREA.join(", "))
    };
    source.fault(
        inner.at,
        &format!("unknown key `{}` in the area `{name}`", key.escape_debug()),
        &hint,
    )
}

fn later(source: &Source, entry: &Entry) -> String {
    not_enforced_at(source, entry.at, &format!("`{}`", entry.key))
}

fn not_enforced(source: &Source, node: &Node, what: &str) -> String {
    not_enforced_at(source, node.at, what)
}

fn not_enforced_at(source: &Source, at: yaml::At, what: &str) -> String {
    let message = format!("{what} is not enforced by this version");
    source.fault(at, &message, "remove it, so that nobody relies on it")
}

fn stance(source: &Source, node: &Node, key: &str) -> Result<Stance, String> {
    match source.choice(node, key, &["allow", "deny"])? {
        "deny" => Ok(Stance::Deny),
        _ => Ok(Stance::Allow),
    }
}

fn paths(source: &Source, node: &Node, key: &str) -> Result<Vec<PathRule>, String> {
    let mut rules = Vec::new();
    for (index, (text, at)) in source.strings(node, key)?.into_iter().enumerate() {
        let rule = PathRule::parse(text, format!("{key}[{index}]"));
        rules.push(rule.map_err(|message| source.fault(at, &message, "fix or remove this entry"))?);
    }
    Ok(rules)
}

pub(super) fn imports(source: &Source, node: &Node, key: &str) -> Result<Vec<ImportRule>, String> {
    if let Some(long) = source
        .list(node, key)?
        .iter()
        .find(|item| matches!(item.value, Value::Map(_)))
    {
        return Err(not_enforced(source, long, "an import entry with keys of its own"));
    }
    let mut rules = Vec::new();
    for (index, (text, at)) in source.strings(node, key)?.into_iter().enumerate() {
        let shown = text.escape_debug();
        if text.is_empty() || text.contains(|c: char| c.is_whitespace() || c.is_control()) {
            let message = format!("import `{shown}`: empty or with a blank in it");
            return Err(source.fault(at, &message, "write the name as it is imported, such as `redis`"));
        }
        if text.starts_with(['.', '/']) {
            let message = format!("import `{shown}`: a path, and only external packages are matched");
            return Err(source.fault(at, &message, "protect own folders with `forbidden_dirs`"));
        }
        if let Some((why, hint)) = super::super::imports::dead(text) {
            return Err(source.fault(at, &format!("import `{shown}`: {why}"), hint));
        }
        rules.push(ImportRule {
            entry: text.to_owned(),
            key: format!("{key}[{index}]"),
        });
    }
    Ok(rules)
}

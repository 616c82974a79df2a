//! From the bytes of a policy to its rules. Errors are whole texts with place, snippet and hint.

use super::super::credentials::FINGERPRINT;
use super::super::paths::PathRule;
use super::super::yaml::{self, Entry, Node, Source, Value, nearest};
use super::super::{Oid, POLICY_PATH};
use super::{Area, BASELINE_PATH, Dependencies, Policy, Stance, areas, dependencies};

pub(super) mod imports;

/// Top-level keys that are enforced.
pub const TOP: &[&str] = &[
    "version",
    "max_new_top_level_dirs",
    "must_not_touch",
    "unmapped",
    "existing",
    "autoexec",
    "dependencies",
    "dynamic_imports",
    "baseline",
    "max_changed_files",
    "max_changed_lines",
    "allowed_credentials",
];
/// Reserved top-level keys whose rules are not built yet.
pub const TOP_LATER: &[&str] = &[];
/// Keys of an area that are enforced.
pub const AREA: &[&str] = &[
    "allowed_roots",
    "forbidden_imports",
    "forbidden_dirs",
    "may_depend_on",
    "allowed_imports",
];
/// Keys of an area whose rules are not built yet.
pub const AREA_LATER: &[&str] = &[];

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
        dynamic_imports: Stance::Allow,
        baseline: None,
        max_changed_files: None,
        max_changed_lines: None,
        allowed_credentials: Vec::new(),
        dependencies: None,
    };
    for entry in &entries {
        let (key, value) = (entry.key.as_str(), &entry.value);
        match key {
            "version" => {}
            "max_new_top_level_dirs" => policy.max_new_top_level_dirs = source.number(value, key)?,
            "must_not_touch" => policy.must_not_touch = paths(&source, value, key)?,
            "unmapped" => policy.unmapped = stance(&source, value, key)?,
            "existing" => policy.existing = stance(&source, value, key)?,
            "dynamic_imports" => policy.dynamic_imports = stance(&source, value, key)?,
            "baseline" => policy.baseline = Some(baseline(&source, value)?),
            "autoexec" => {
                if source.choice(value, key, &["warn", "deny"])? == "deny" {
                    policy.autoexec = Stance::Deny;
                }
            }
            "max_changed_files" => policy.max_changed_files = Some(limit(&source, value, key)?),
            "max_changed_lines" => policy.max_changed_lines = Some(limit(&source, value, key)?),
            "allowed_credentials" => policy.allowed_credentials = fingerprints(&source, value, key)?,
            "dependencies" => policy.dependencies = Some(dependencies::parse(&source, value)?),
            _ if TOP_LATER.contains(&key) => return Err(later(&source, entry)),
            _ => policy.areas.push(area(&source, entry)?),
        }
    }
    areas::check(&source, &entries, &policy.areas)?;
    let has_rule = !policy.must_not_touch.is_empty()
        || policy.unmapped == Stance::Deny
        || policy.autoexec == Stance::Deny
        || policy.dynamic_imports == Stance::Deny
        || policy.max_changed_files.is_some()
        || policy.max_changed_lines.is_some()
        || policy.dependencies.as_ref().is_some_and(Dependencies::is_rule)
        || entries.iter().any(|entry| entry.key == "max_new_top_level_dirs")
        || policy
            .areas
            .iter()
            .any(|area| area.reads_imports() || !area.forbidden_dirs.is_empty());
    match has_rule {
        true => Ok(policy),
        false => Err(format!(
            "{POLICY_PATH}: it holds no rule, so every change would pass\nhint: add `must_not_touch`, \
             `max_new_top_level_dirs`, `unmapped: deny`, `autoexec: deny`, `dynamic_imports: deny`, `dependencies`, or an area's `forbidden_imports` or `forbidden_dirs`"
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
            "forbidden_imports" => area.forbidden_imports = imports::read(source, &inner.value, &key)?,
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

fn not_enforced_at(source: &Source, at: yaml::At, what: &str) -> String {
    let message = format!("{what} is not enforced by this version");
    source.fault(at, &message, "remove it, so that nobody relies on it")
}

/// A plain path: one file, which becomes a protected path.
fn baseline(source: &Source, node: &Node) -> Result<String, String> {
    let text = source.string(node, "`baseline`")?;
    let rule = PathRule::parse(text, "baseline".into());
    let rule = rule.map_err(|message| source.fault(node.at, &message, &format!("write {BASELINE_PATH}")))?;
    let is_file = rule.literal().is_some_and(|path| path == text.as_bytes()) && text.ends_with(".json");
    if !is_file {
        let message = format!(
            "`baseline` must be the path of a .json file, not `{}`",
            text.escape_debug()
        );
        return Err(source.fault(node.at, &message, &format!("write {BASELINE_PATH}")));
    }
    if text.split('/').any(|name| name.eq_ignore_ascii_case(".git")) {
        let message = format!(
            "`baseline` must lie in the repository, not in its git dir: `{}`",
            text.escape_debug()
        );
        return Err(source.fault(node.at, &message, &format!("write {BASELINE_PATH}")));
    }
    Ok(text.to_owned())
}

pub(super) fn stance(source: &Source, node: &Node, key: &str) -> Result<Stance, String> {
    match source.choice(node, key, &["allow", "deny"])? {
        "deny" => Ok(Stance::Deny),
        _ => Ok(Stance::Allow),
    }
}

/// 0 would refuse every change, and whoever writes it means the opposite.
fn limit(source: &Source, node: &Node, key: &str) -> Result<u32, String> {
    match source.number_from(1, node, key)? {
        0 => {
            let message = format!("`{key}` is 0, so that nothing could change");
            Err(source.fault(node.at, &message, "remove the key for no limit; a limit begins at 1"))
        }
        limit => Ok(limit),
    }
}

fn fingerprints(source: &Source, node: &Node, key: &str) -> Result<Vec<String>, String> {
    let mut found = Vec::new();
    for (text, at) in source.strings(node, key)? {
        let is_hex = text.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'));
        if text.len() != FINGERPRINT || !is_hex {
            // Without the line: it may be the credential itself.
            return Err(format!(
                "{POLICY_PATH}:{}:{}: an entry of `{key}` is no fingerprint\nhint: write the {FINGERPRINT} digits (0-9, a-f) \
                 that the finding names, in quotes, and never the value itself",
                at.line, at.column
            ));
        }
        found.push(text.to_owned());
    }
    Ok(found)
}

pub(super) fn paths(source: &Source, node: &Node, key: &str) -> Result<Vec<PathRule>, String> {
    let mut rules = Vec::new();
    for (index, (text, at)) in source.strings(node, key)?.into_iter().enumerate() {
        let rule = PathRule::parse(text, format!("{key}[{index}]"));
        rules.push(rule.map_err(|message| source.fault(at, &message, "fix or remove this entry"))?);
    }
    Ok(rules)
}

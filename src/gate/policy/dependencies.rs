//! The key `dependencies`: what manifests may newly declare.

use super::super::yaml::{Entry, Node, Source, Value, nearest};
use super::Stance;

const KEYS: &[&str] = &["new", "forbidden", "allowed"];

/// What the policy says about new names in manifests. Names that the base declares are never
/// judged by it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Dependencies {
    /// `Deny`: a new name is only let through if `allowed` names it.
    pub new: Stance,
    /// The key that denies new names: `dependencies.new`, or `dependencies.allowed` where that
    /// stands alone.
    pub new_key: &'static str,
    /// Names that no manifest may newly declare, whatever `allowed` says.
    pub forbidden: Vec<NameRule>,
    /// Names that `new: deny` lets through.
    pub allowed: Vec<NameRule>,
}

impl Dependencies {
    /// Whether it could refuse anything.
    pub fn is_rule(&self) -> bool {
        self.new == Stance::Deny || !self.forbidden.is_empty()
    }
}

/// One entry of `dependencies.forbidden` or `dependencies.allowed`, as written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NameRule {
    /// Such as `redis`, `@redis/*`, `github.com/redis/go-redis` or `redis.clients:jedis`.
    pub entry: String,
    /// `dependencies.forbidden[0]`
    pub key: String,
}

/// Reads the value of `dependencies`. A list of what is allowed says that the rest is not, so that
/// it denies by itself; together with `new: allow` it would mean nothing and is refused.
pub(super) fn parse(source: &Source, node: &Node) -> Result<Dependencies, String> {
    if !matches!(node.value, Value::Map(_)) {
        let message = format!("`dependencies` must be a map, not {}", node.value.kind());
        return Err(source.fault(node.at, &message, "write `dependencies: {new: deny}`"));
    }
    let mut new = None;
    let mut dependencies = Dependencies {
        new: Stance::Allow,
        new_key: "dependencies.new",
        forbidden: Vec::new(),
        allowed: Vec::new(),
    };
    let mut list = None;
    for entry in source.map(node, "dependencies")? {
        match entry.key.as_str() {
            "new" => new = Some((super::parse::stance(source, &entry.value, "dependencies.new")?, entry)),
            "forbidden" => dependencies.forbidden = names(source, &entry.value, "dependencies.forbidden")?,
            "allowed" => {
                dependencies.allowed = names(source, &entry.value, "dependencies.allowed")?;
                list = Some(entry);
            }
            _ => return Err(unknown(source, entry)),
        }
    }
    match (new, list) {
        (Some((Stance::Allow, entry)), Some(_)) => {
            let message = "`new: allow` beside `allowed`, which then means nothing";
            return Err(source.fault(entry.at, message, "write `new: deny`, or remove one of the two"));
        }
        (Some((stance, _)), _) => dependencies.new = stance,
        (None, Some(_)) => {
            dependencies.new = Stance::Deny;
            dependencies.new_key = "dependencies.allowed";
        }
        (None, None) => {}
    }
    for (index, rule) in dependencies.allowed.iter().enumerate() {
        if let (Some(other), Some(entry)) = (
            dependencies.forbidden.iter().find(|other| other.entry == rule.entry),
            list,
        ) {
            let at = match &entry.value.value {
                Value::List(items) => items.get(index).map_or(entry.at, |item| item.at),
                _ => entry.at,
            };
            let message = format!("`{}` is {} as well", rule.entry.escape_debug(), other.key);
            return Err(source.fault(at, &message, "remove it from one of the two lists"));
        }
    }
    Ok(dependencies)
}

fn unknown(source: &Source, entry: &Entry) -> String {
    let key = entry.key.as_str();
    let message = format!("unknown key `{}` in `dependencies`", key.escape_debug());
    let hint = match nearest(key, KEYS) {
        Some(near) => format!("did you mean `{near}`?"),
        None => format!("known in `dependencies`: {}", KEYS.join(", ")),
    };
    source.fault(entry.at, &message, &hint)
}

fn names(source: &Source, node: &Node, key: &str) -> Result<Vec<NameRule>, String> {
    let mut rules = Vec::new();
    for (index, (text, at)) in source.strings(node, key)?.into_iter().enumerate() {
        if let Some((why, hint)) = dead(text) {
            let message = format!("dependency `{}`: {why}", text.escape_debug());
            return Err(source.fault(at, &message, hint));
        }
        rules.push(NameRule {
            entry: text.to_owned(),
            key: format!("{key}[{index}]"),
        });
    }
    Ok(rules)
}

/// Why an entry can name no dependency, and what to write; `None` where it can.
fn dead(entry: &str) -> Option<(&'static str, &'static str)> {
    const ALONE: &str = "write the name alone, such as `redis`, `@redis/client` or `redis.clients:jedis`";
    const GLOB: &str = "a glob is `*`, for any characters within one part of a name, or a last part `**`";
    if entry.is_empty() || entry.contains(|c: char| c.is_whitespace() || c.is_control()) {
        return Some(("empty or with a blank in it", ALONE));
    }
    if entry.chars().all(|c| matches!(c, '*' | '/' | '.' | ':')) {
        return Some((
            "it names everything or nothing",
            "say `new: deny` or `new: allow` instead",
        ));
    }
    if entry.starts_with(['.', '/']) || entry.contains("://") {
        return Some(("a path or an address, and names are compared", ALONE));
    }
    if let Some(at) = entry.find(|c: char| !c.is_alphanumeric() && !"-_./@:*+~".contains(c)) {
        return match entry.as_bytes()[at] {
            b'?' | b'{' | b'}' | b'!' | b'|' | b',' => Some(("it is no glob that is read here", GLOB)),
            _ => Some(("no dependency has such a name", ALONE)),
        };
    }
    if entry.get(1..).is_some_and(|rest| rest.contains('@')) {
        return Some(("a version stands behind the name", ALONE));
    }
    if let Some((group, artifact)) = entry.split_once(':') {
        let is_scheme = matches!(group, "npm" | "jsr" | "node" | "file" | "workspace" | "git" | "github");
        if is_scheme || group.is_empty() || artifact.is_empty() || artifact.contains(':') {
            return Some(("a version or a scheme stands beside the name", ALONE));
        }
    }
    let parts: Vec<&str> = entry.split(['/', '.', ':']).collect();
    let is_tail = |at: usize| at > 0 && (at + 1 == parts.len() || entry.contains(':'));
    if (0..parts.len()).any(|at| parts[at].contains("**") && (parts[at] != "**" || !is_tail(at))) {
        return Some(("`**` stands before the end", GLOB));
    }
    None
}

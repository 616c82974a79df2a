//! The entries of `forbidden_imports`: a name, or a map with a name and what narrows it.

use super::super::super::imports::{Language, dead};
use super::super::super::yaml::{At, Entry, Node, Source, Value, nearest};
use super::super::ImportRule;

/// Keys of the long form.
const KEYS: &[&str] = &["import", "languages", "except", "reason", "use_instead"];
/// Most characters of `reason` and `use_instead`: each is part of one line.
const MAX_WORDS: usize = 200;

pub(in crate::gate::policy) fn read(source: &Source, node: &Node, key: &str) -> Result<Vec<ImportRule>, String> {
    let mut rules: Vec<ImportRule> = Vec::new();
    for (index, item) in source.list(node, key)?.iter().enumerate() {
        let key = format!("{key}[{index}]");
        let (rule, at) = match &item.value {
            Value::Map(entries) if !entries.is_empty() => long(source, item, entries, key)?,
            _ => {
                let text = source.string(item, &format!("`{key}`"))?;
                (plain(name(source, text, item.at)?, key), item.at)
            }
        };
        // Two long forms may name one import with different exceptions, and then both hold.
        let is_plain = |rule: &ImportRule| rule.languages.is_empty() && rule.except.is_empty();
        if let Some(first) = rules
            .iter()
            .find(|known| known.entry == rule.entry && (is_plain(known) || is_plain(&rule)))
        {
            let message = format!(
                "`{}` stands twice in `{}`",
                rule.entry.escape_debug(),
                list_of(&rule.key)
            );
            let hint = match is_plain(first) && is_plain(&rule) {
                true => format!("it is `{}` already", first.key),
                false => format!(
                    "`{}` names it too, and the entry without `languages` and `except` holds everywhere",
                    first.key
                ),
            };
            return Err(source.fault(at, &message, &hint));
        }
        rules.push(rule);
    }
    Ok(rules)
}

/// `payments.forbidden_imports` of `payments.forbidden_imports[3]`.
fn list_of(key: &str) -> &str {
    key.rsplit_once('[').map_or(key, |(list, _)| list)
}

fn plain(entry: String, key: String) -> ImportRule {
    ImportRule {
        entry,
        key,
        languages: Vec::new(),
        except: Vec::new(),
        reason: None,
        use_instead: None,
    }
}

fn long(source: &Source, item: &Node, entries: &[Entry], key: String) -> Result<(ImportRule, At), String> {
    let Some(import) = entries.iter().find(|entry| entry.key == "import") else {
        let hint = "write it as `{import: redis, reason: ...}`";
        return Err(source.fault(item.at, &format!("`{key}` has no `import`"), hint));
    };
    let text = source.string(&import.value, &format!("`{key}.import`"))?;
    let mut rule = plain(name(source, text, import.value.at)?, key);
    for inner in entries {
        let key = format!("{}.{}", rule.key, inner.key);
        match inner.key.as_str() {
            "import" => {}
            "languages" => rule.languages = languages(source, &inner.value, &key)?,
            "except" => rule.except = super::paths(source, &inner.value, &key)?,
            "reason" => rule.reason = Some(words(source, &inner.value, &key)?),
            "use_instead" => rule.use_instead = Some(words(source, &inner.value, &key)?),
            other => {
                let hint = match nearest(other, KEYS) {
                    Some(near) => format!("did you mean `{near}`?"),
                    None => format!("known in an import entry: {}", KEYS.join(", ")),
                };
                let message = format!("unknown key `{}` in `{}`", other.escape_debug(), rule.key);
                return Err(source.fault(inner.at, &message, &hint));
            }
        }
    }
    Ok((rule, import.value.at))
}

/// A name as it is imported.
fn name(source: &Source, text: &str, at: At) -> Result<String, String> {
    let shown = text.escape_debug();
    if text.is_empty() || text.contains(|c: char| c.is_whitespace() || c.is_control()) {
        let message = format!("import `{shown}`: empty or with a blank in it");
        return Err(source.fault(at, &message, "write the name as it is imported, such as `redis`"));
    }
    if text.starts_with(['.', '/']) {
        let message = format!("import `{shown}`: a path, and only external packages are matched");
        return Err(source.fault(at, &message, "protect own folders with `forbidden_dirs`"));
    }
    if let Some((why, hint)) = dead(text) {
        return Err(source.fault(at, &format!("import `{shown}`: {why}"), hint));
    }
    Ok(text.to_owned())
}

fn languages(source: &Source, node: &Node, key: &str) -> Result<Vec<Language>, String> {
    let mut languages = Vec::new();
    for (word, at) in source.strings(node, key)? {
        let Some(language) = Language::named(word) else {
            let hint = match nearest(word, Language::WORDS) {
                Some(near) => format!("did you mean `{near}`?"),
                None => format!("one of: {}", Language::WORDS.join(", ")),
            };
            let message = format!("`{}` is no language whose imports are read", word.escape_debug());
            return Err(source.fault(at, &message, &hint));
        };
        languages.push(language);
    }
    Ok(languages)
}

/// One line of an owner's own words, which a finding repeats.
fn words(source: &Source, node: &Node, key: &str) -> Result<String, String> {
    let text = source.string(node, &format!("`{key}`"))?.trim();
    if text.is_empty() || text.contains(char::is_control) || text.chars().count() > MAX_WORDS {
        let message = format!("`{key}` must be one line of 1 to {MAX_WORDS} characters");
        return Err(source.fault(node.at, &message, ""));
    }
    Ok(text.to_owned())
}

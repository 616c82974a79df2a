//! The files that a composer.json or Cargo.toml names as source, whatever they are called: what composer loads with
//! each request, the roots of Cargo's targets.

use serde_json::Value;
use toml_edit::{DocumentMut, Item, TableLike};

use crate::gate::imports::Language;
use crate::gate::resolve::follow;

/// The name of the manifest of a language that names such files.
pub(super) fn manifest(language: Language) -> Option<&'static [u8]> {
    match language {
        Language::Php => Some(b"composer.json"),
        Language::Rust => Some(b"Cargo.toml"),
        _ => None,
    }
}

/// The language whose manifest this is.
pub(super) fn of_manifest(path: &[u8]) -> Option<Language> {
    let name = super::followed::name(path);
    [Language::Php, Language::Rust]
        .into_iter()
        .find(|language| manifest(*language) == Some(name))
}

/// The paths of the files that a manifest of this language in this folder names.
pub(super) fn entries(language: Language, folder: &[u8], text: &[u8]) -> Vec<Vec<u8>> {
    let text = text.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(text);
    let named = match language {
        Language::Php => serde_json::from_slice(text)
            .map(|value| composer(&value))
            .unwrap_or_default(),
        Language::Rust => String::from_utf8_lossy(text)
            .parse::<DocumentMut>()
            .map(|document| cargo(document.as_table()))
            .unwrap_or_default(),
        _ => Vec::new(),
    };
    (named.iter())
        .filter_map(|path| follow(folder, path.as_bytes()))
        .collect()
}

fn composer(manifest: &Value) -> Vec<String> {
    let mut lists: Vec<&Value> = manifest.get("bin").into_iter().collect();
    for section in ["autoload", "autoload-dev"] {
        let section = manifest.get(section);
        lists.extend(["files", "classmap"].iter().filter_map(|key| section?.get(key)));
    }
    let mut named = Vec::new();
    for list in lists {
        match list {
            Value::String(path) => named.push(path.clone()),
            Value::Array(items) => named.extend(items.iter().filter_map(Value::as_str).map(str::to_owned)),
            _ => {}
        }
    }
    named
}

fn cargo(root: &dyn TableLike) -> Vec<String> {
    let text = |item: Option<&Item>| item.and_then(Item::as_str).map(str::to_owned);
    let table = |key: &str| root.get(key).and_then(Item::as_table_like);
    let mut named: Vec<String> = table("package")
        .and_then(|package| text(package.get("build")))
        .into_iter()
        .collect();
    named.extend(table("lib").and_then(|lib| text(lib.get("path"))));
    for kind in ["bin", "test", "example", "bench"] {
        match root.get(kind) {
            Some(Item::ArrayOfTables(targets)) => {
                named.extend(targets.iter().filter_map(|target| text(target.get("path"))));
            }
            // `bin = [{ name = "x", path = "x.txt" }]`
            Some(item) => {
                let targets = item.as_array().into_iter().flat_map(|array| array.iter());
                let paths = targets.filter_map(|target| target.as_inline_table()?.get("path")?.as_str());
                named.extend(paths.map(str::to_owned));
            }
            None => {}
        }
    }
    named
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(language: Language, text: &str) -> Vec<String> {
        (entries(language, b"a/b", text.as_bytes()).into_iter())
            .map(|path| String::from_utf8_lossy(&path).into_owned())
            .collect()
    }

    #[test]
    fn what_composer_loads_is_found() {
        let text = r#"{"bin": ["x", "y"], "autoload": {"files": ["f.txt", "../g"], "classmap": "c"},
            "autoload-dev": {"files": ["h"], "psr-4": {"A\\": "src"}}, "extra": {"files": ["no"]}}"#;
        let found = of(Language::Php, text);
        assert_eq!(found, ["a/b/x", "a/b/y", "a/b/f.txt", "a/g", "a/b/c", "a/b/h"]);
        assert!(of(Language::Php, "{").is_empty());
        assert!(of(Language::Php, r#"{"bin": 1, "autoload": []}"#).is_empty());
    }

    #[test]
    fn what_cargo_builds_is_found() {
        let text = "[package]\nbuild = \"b.txt\"\n[lib]\npath = \"../l\"\n[[bin]]\npath = \"x\"\n[[bin]]\nname = \"y\"\n\
                    [[test]]\npath = \"t\"\n";
        assert_eq!(of(Language::Rust, text), ["a/b/b.txt", "a/l", "a/b/x", "a/b/t"]);
        assert_eq!(of(Language::Rust, "bin = [{ path = \"x\" }]\n"), ["a/b/x"]);
        assert!(of(Language::Rust, "[package\n").is_empty());
    }
}

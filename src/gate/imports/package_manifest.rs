//! The entries of a package.json: what an import of its folder, or of its package, loads.
//!
//! Only an entry that leads elsewhere is an import: into a folder of other people's packages, out of the
//! package's own folder, or, in a `browser` map, to another package; and one whose name tells no script (`"m.txt"`),
//! which is loaded as one. What a package builds for itself
//! (`"./dist/index.js"`) is its own. `imports` is read where a `#x` uses it.

use memchr::memmem;
use serde_json::Value;

use super::identity;
use super::source::{Fault, Found};
use super::{ImportKind, Language};

/// Fields that name one file.
const ENTRIES: [&str; 10] = [
    "main",
    "module",
    "jsnext:main",
    "source",
    "browser",
    "react-native",
    "unpkg",
    "jsdelivr",
    "types",
    "typings",
];
/// Fields whose values, at any depth, name files.
const TABLES: [&str; 3] = ["exports", "browser", "react-native"];
/// Endings of entries that are no script.
const DATA: [&str; 9] = ["json", "node", "wasm", "css", "scss", "sass", "less", "styl", "html"];
/// Values looked at in one field.
const MAX_VALUES: usize = 10_000;

/// Whether the path is that of a package.json.
pub fn is_package_manifest(path: &[u8]) -> bool {
    path.rsplit(|&byte| byte == b'/').next() == Some(b"package.json")
}

/// Every entry that leads elsewhere. What is no JSON loads nothing; what is too deep to be read may.
pub fn scan(source: &[u8]) -> Result<Vec<Found>, Fault> {
    let text = source.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(source);
    let manifest: Value = match serde_json::from_slice(text) {
        Ok(manifest) => manifest,
        Err(error) if error.to_string().contains("recursion limit") => {
            return Err(Fault {
                why: "is nested too deeply",
                at: 0,
            });
        }
        Err(_) => return Ok(Vec::new()),
    };
    let mut found = Vec::new();
    for key in ENTRIES {
        if let Some(entry) = manifest.get(key).and_then(Value::as_str) {
            let kind = match key {
                "types" | "typings" => ImportKind::TypeOnly,
                _ => ImportKind::Static,
            };
            push(&mut found, source, path(entry), entry, kind);
            if kind != ImportKind::TypeOnly {
                push_odd(&mut found, source, entry);
            }
        }
    }
    if let Some(Value::String(entry)) = manifest.get("exports") {
        push(&mut found, source, path(entry), entry, ImportKind::Static);
        push_odd(&mut found, source, entry);
    }
    match manifest.get("bin") {
        Some(Value::String(entry)) => push_odd(&mut found, source, entry),
        Some(Value::Object(map)) => {
            for entry in map.values().filter_map(Value::as_str).take(MAX_VALUES) {
                push_odd(&mut found, source, entry);
            }
        }
        _ => {}
    }
    for key in TABLES {
        let Some(table @ (Value::Object(_) | Value::Array(_))) = manifest.get(key) else {
            continue;
        };
        let mut open = vec![table];
        for _ in 0..MAX_VALUES {
            match open.pop() {
                None => break,
                // A map of a bundler may name packages; `exports` only files.
                Some(Value::String(entry)) if key == "exports" => {
                    push(&mut found, source, path(entry), entry, ImportKind::Static);
                }
                Some(Value::String(entry)) => push(&mut found, source, entry.clone(), entry, ImportKind::Static),
                Some(Value::Array(items)) => open.extend(items.iter().rev()),
                Some(Value::Object(map)) => open.extend(map.values().collect::<Vec<_>>().into_iter().rev()),
                Some(_) => {}
            }
        }
        if key == "exports" && open.is_empty() {
            odd_exports(&mut found, source, table);
        }
        if !open.is_empty() {
            return Err(Fault {
                why: "has more entries than are read",
                at: 0,
            });
        }
    }
    Ok(found)
}

/// Of `exports` those that tell no script: what the package itself is, is one, and what a path into it is may be one.
fn odd_exports(found: &mut Vec<Found>, source: &[u8], table: &Value) {
    let paths = table
        .as_object()
        .filter(|map| map.keys().any(|key| key.starts_with('.')));
    let mut open: Vec<(&Value, ImportKind)> = match paths {
        Some(map) => map
            .iter()
            .map(|(key, value)| match key == "." {
                true => (value, ImportKind::Require),
                false => (value, ImportKind::Static),
            })
            .collect(),
        None => vec![(table, ImportKind::Require)],
    };
    // All of them were counted above.
    while let Some((value, kind)) = open.pop() {
        match value {
            Value::String(entry) if !entry.contains('*') => push_odd_as(found, source, entry, kind),
            Value::Array(items) => open.extend(items.iter().map(|item| (item, kind))),
            // What only a compiler of types reads is no script.
            Value::Object(map) => {
                let read = map.iter().filter(|(key, _)| !key.starts_with("types"));
                open.extend(read.map(|(_, value)| (value, kind)));
            }
            _ => {}
        }
    }
}

/// An entry whose name tells no script, data or style: it is loaded as a script.
fn push_odd(found: &mut Vec<Found>, source: &[u8], entry: &str) {
    push_odd_as(found, source, entry, ImportKind::Require);
}

fn push_odd_as(found: &mut Vec<Found>, source: &[u8], entry: &str, kind: ImportKind) {
    let name = entry.rsplit(['/', '\\']).next().unwrap_or(entry);
    let Some((_, ending)) = name.rsplit_once('.').filter(|(stem, _)| !stem.is_empty()) else {
        return;
    };
    let ending = ending.to_ascii_lowercase();
    let is_told = super::language(name.as_bytes()) == Some(Language::JavaScript)
        || super::unread(name.as_bytes()).is_some()
        || DATA.contains(&ending.as_str());
    let raw = path(entry);
    if !is_told && identity::javascript(&raw).is_empty() && !found.iter().any(|found| found.raw == raw) {
        let quoted = format!("\"{entry}\"");
        found.push(Found {
            raw,
            identity: Vec::new(),
            kind,
            at: memmem::find(source, quoted.as_bytes()).unwrap_or_default(),
        });
    }
}

/// `lib/x.js` is a path from the manifest's folder, with or without `./`.
fn path(entry: &str) -> String {
    match entry.starts_with(['.', '/', '\\']) {
        true => entry.to_owned(),
        false => format!("./{entry}"),
    }
}

fn push(found: &mut Vec<Found>, source: &[u8], raw: String, written: &str, kind: ImportKind) {
    let identity = identity::javascript(&raw);
    let leaves = raw.starts_with('/') || raw.split(['/', '\\']).any(|part| part == "..");
    if identity.is_empty() && !leaves {
        return;
    }
    // One that is written with escapes is shown at the top.
    let quoted = format!("\"{written}\"");
    found.push(Found {
        raw,
        identity,
        kind,
        at: memmem::find(source, quoted.as_bytes()).unwrap_or_default(),
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    fn raws(source: &str) -> Vec<String> {
        let found = scan(source.as_bytes()).expect(source);
        found.into_iter().map(|found| found.raw).collect()
    }

    #[test]
    fn an_entry_that_leads_elsewhere_is_an_import() {
        for (source, raw) in [
            (r#"{"main": "../../node_modules/redis"}"#, "../../node_modules/redis"),
            (
                r#"{"main": "node_modules/redis/index.js"}"#,
                "./node_modules/redis/index.js",
            ),
            (r#"{"module": "./../other/x.js"}"#, "./../other/x.js"),
            (
                r#"{"exports": {".": {"node": ["./node_modules/redis/a.js"]}}}"#,
                "./node_modules/redis/a.js",
            ),
            (r#"{"browser": {"./x.js": "redis"}}"#, "redis"),
            ("{\"main\": \"/opt/redis\"}", "/opt/redis"),
            ("{\"main\": \"m.txt\", \"module\": \"m.txt\"}", "./m.txt"),
            ("{\"bin\": {\"x\": \"./x.y\"}}", "./x.y"),
            (r#"{"exports": {".": {"import": "./x.txt"}}}"#, "./x.txt"),
            (r#"{"exports": "./x.txt"}"#, "./x.txt"),
            (r#"{"exports": {"./x": ["./x.txt"]}}"#, "./x.txt"),
            ("\u{feff}{\"main\": \"../redis\"}", "../redis"),
        ] {
            assert_eq!(raws(source), [raw], "{source}");
        }
    }

    #[test]
    fn its_own_files_are_none() {
        for source in [
            r#"{"main": "dist/redis.js", "exports": {".": "./redis/index.js"}}"#,
            r#"{"main": "dist/index", "bin": {"x": "bin/x"}, "module": "a.css", "types": "a.txt"}"#,
            r#"{"exports": {"./*": "./lib/*.txt", ".": {"types": "./x.txt"}, "./package.json": "./package.json"}}"#,
            r#"{"browser": {"fs": false, "./a.js": "./redis.js"}, "name": "redis"}"#,
            "{\"main\": ",
            "[]",
        ] {
            assert_eq!(raws(source), [""; 0], "{source}");
        }
    }

    #[test]
    fn what_is_nested_too_deeply_is_unreadable() {
        let deep = format!(
            "{{\"a\": {}{}, \"main\": \"../redis\"}}",
            "[".repeat(500),
            "]".repeat(500)
        );
        assert!(scan(deep.as_bytes()).is_err());
    }
}

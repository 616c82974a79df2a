//! PHP: names by the psr-4 and psr-0 prefixes of every composer.json, included files by their path.
//!
//! A composer.json below a folder of copied packages (`vendor/`) says nothing here.

use serde_json::Value;

use super::files::{Files, follow, parent, upward};
use super::{Target, is_vendored};
use crate::gate::imports::{Import, ImportKind, Language};
use crate::gate::tree::Unreadable;

/// composer.json files that are read.
const MAX_PROJECTS: usize = 2000;

/// One prefix and the folders that its names lie in.
struct Prefix {
    /// Without the trailing `\`, in lower case.
    segments: Vec<String>,
    folders: Vec<Vec<u8>>,
    /// psr-0 repeats the prefix in the path.
    keeps_prefix: bool,
}

/// The longest prefix first.
pub(super) struct Prefixes(Vec<Prefix>);

/// Reads the prefixes, once.
pub(super) fn prefixes<'k>(files: &Files, known: &'k mut Option<Prefixes>) -> Result<&'k Prefixes, Unreadable> {
    if known.is_none() {
        let mut all = Vec::new();
        let manifests = files.named(b"composer.json").iter();
        for path in manifests
            .filter(|path| !is_vendored(path, "", Language::Php))
            .take(MAX_PROJECTS)
        {
            let value: Option<Value> = files.text(path)?.and_then(|text| serde_json::from_str(&text).ok());
            let Some(value) = value else { continue };
            for (section, standard) in [
                ("autoload", "psr-4"),
                ("autoload-dev", "psr-4"),
                ("autoload", "psr-0"),
                ("autoload-dev", "psr-0"),
            ] {
                let table = value.get(section).and_then(|section| section.get(standard));
                for (prefix, folders) in table.and_then(Value::as_object).into_iter().flatten() {
                    let folders: Vec<&str> = match folders {
                        Value::String(one) => vec![one],
                        Value::Array(many) => many.iter().filter_map(Value::as_str).collect(),
                        _ => Vec::new(),
                    };
                    all.push(Prefix {
                        segments: segments(prefix),
                        folders: folders
                            .iter()
                            .filter_map(|folder| follow(parent(path), folder.as_bytes()))
                            .collect(),
                        keeps_prefix: standard == "psr-0",
                    });
                }
            }
        }
        all.sort_by_key(|prefix| std::cmp::Reverse(prefix.segments.len()));
        *known = Some(Prefixes(all));
    }
    match known {
        Some(known) => Ok(known),
        None => unreachable!("it was set above"),
    }
}

fn segments(name: &str) -> Vec<String> {
    name.split('\\')
        .filter(|part| !part.is_empty())
        .map(str::to_lowercase)
        .collect()
}

/// Where a name or an included file leads.
pub(super) fn resolve(files: &Files, prefixes: &Prefixes, import: &Import, from: &[u8]) -> Target {
    if import.kind == ImportKind::Include {
        return included(files, &import.raw, from);
    }
    let lower: Vec<String> = import.identity.iter().map(|name| name.to_lowercase()).collect();
    let mut is_own = false;
    let mut all = Vec::new();
    let mut longest = 0;
    for prefix in prefixes.0.iter().filter(|prefix| lower.starts_with(&prefix.segments)) {
        // Of two prefixes the longer one decides, where it leads anywhere.
        if !all.is_empty() && prefix.segments.len() < longest {
            break;
        }
        longest = prefix.segments.len();
        // An empty prefix is a fallback for any name, and makes none the repository's own by itself.
        is_own |= !prefix.segments.is_empty();
        let rest = match prefix.keeps_prefix {
            true => &import.identity[..],
            false => &import.identity[prefix.segments.len()..],
        };
        let rest = rest.join("/");
        for folder in &prefix.folders {
            let Some(path) = follow(folder, rest.as_bytes()) else {
                continue;
            };
            if let Some(found) = files.file(&[path.as_slice(), b".php"].concat()) {
                all.push(found);
            } else if is_own && let Some(found) = files.folder(&path) {
                all.push(found);
            // A function or constant of a namespace has no file of its own.
            } else if is_own
                && let Some(found) = files.folder(parent(&path))
                && prefix.segments.len() < lower.len()
                && !prefix.keeps_prefix
                && found.len() > folder.len()
            {
                all.push(found);
            }
        }
    }
    match Target::all(all) {
        Target::External if is_own => Target::unresolved("no file below its composer.json prefix"),
        found => found,
    }
}

/// `include "x.php"` is looked up beside the file and in the working folder, which may be any above.
fn included(files: &Files, raw: &str, from: &[u8]) -> Target {
    if raw.contains("://") {
        return Target::External;
    }
    // `__DIR__ . "/x.php"`
    let raw = raw.trim_start_matches('/');
    match upward(from).find_map(|folder| files.file(&follow(folder, raw.as_bytes())?)) {
        Some(found) => Target::one(found),
        None => Target::unresolved("no such file"),
    }
}

//! Which files that did not change a change may concern, by what it says of names.

use std::collections::BTreeSet;

use memchr::memmem;
use serde_json::Value;

use crate::gate::imports::{self, Import, Language};
use crate::gate::manifests::{MAX_MANIFEST, cargo_names, npm_aliases};
use crate::gate::resolve::{go_replacements, npm_links};
use crate::gate::rules::is_regular;
use crate::gate::tree::Side;
use crate::gate::{Change, Kind, Tree, Unreadable};

/// Keys of a package.json by which code of other folders finds something.
const ENTRIES: [&str; 10] = [
    "name",
    "workspaces",
    "exports",
    "main",
    "module",
    "source",
    "browser",
    "types",
    "typings",
    "react-native",
];
/// Words of a tsconfig without which it says nothing about names.
const WORDS: [&str; 5] = ["paths", "baseUrl", "extends", "rootDirs", "\\u"];

/// Which files a change may concern: of JavaScript, but for the last.
pub(super) enum Reach {
    /// Those below a folder.
    Below(Vec<u8>),
    /// Those in which one of these stands.
    Naming(Vec<Vec<u8>>),
    All,
    /// Those of another language below a folder, and in them the imports that begin with one of these names.
    Names {
        language: Language,
        folder: Vec<u8>,
        names: BTreeSet<String>,
    },
}

impl Reach {
    pub(super) fn may_cover(&self, path: &[u8], language: Language) -> bool {
        match self {
            Reach::Below(folder) => language == Language::JavaScript && is_below(path, folder),
            Reach::Naming(_) | Reach::All => language == Language::JavaScript,
            Reach::Names {
                language: other,
                folder,
                ..
            } => language == *other && is_below(path, folder),
        }
    }

    pub(super) fn covers(&self, path: &[u8], language: Language, content: &[u8]) -> bool {
        let has = |word: &[u8]| memmem::find(content, word).is_some();
        self.may_cover(path, language)
            && match self {
                Reach::Naming(words) => words.iter().any(|word| has(word)) || has(b"\\x") || has(b"\\u"),
                Reach::Names { names, .. } => names.iter().any(|name| has(name.as_bytes())),
                Reach::Below(_) | Reach::All => true,
            }
    }

    /// Whether the change may lead this import of such a file elsewhere.
    pub(super) fn concerns(&self, import: &Import) -> bool {
        match self {
            Reach::Names {
                language: Language::Go,
                names,
                ..
            } => names.iter().any(|name| {
                let rest = import.raw.strip_prefix(name.as_str());
                rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
            }),
            Reach::Names { names, .. } => import.first_segment().is_some_and(|first| names.contains(first)),
            Reach::Below(_) | Reach::Naming(_) | Reach::All => true,
        }
    }
}

fn is_below(path: &[u8], folder: &[u8]) -> bool {
    folder.is_empty() || (path.strip_prefix(folder)).is_some_and(|rest| rest.starts_with(b"/"))
}

/// Whether the change may be one of a tsconfig under another name, which those that extend it only tell.
pub(super) fn is_base(base: &dyn Tree, candidate: &dyn Tree, change: &Change) -> Result<bool, Unreadable> {
    let path = change.path.as_slice();
    if !path.ends_with(b".json") || is_config(path) || imports::is_package_manifest(path) {
        return Ok(false);
    }
    let (before, after) = (text(base, change.before)?, text(candidate, change.after)?);
    Ok(before != after && (says(&before) || says(&after)))
}

/// Whether the path is that of a tsconfig or jsconfig by name.
fn is_config(path: &[u8]) -> bool {
    let name = path.rsplit(|&byte| byte == b'/').next().unwrap_or_default();
    name.ends_with(b".json") && (name.starts_with(b"tsconfig.") || name.starts_with(b"jsconfig."))
}

/// Whether a configuration says anything about names.
fn says(config: &[u8]) -> bool {
    (WORDS.iter()).any(|word| memmem::find(config, word.as_bytes()).is_some())
}

/// Each name with what a manifest says it is.
type Said = BTreeSet<(String, String)>;

/// What a change of a go.mod or Cargo.toml may lead elsewhere.
fn names(base: &dyn Tree, candidate: &dyn Tree, change: &Change) -> Result<Option<Reach>, Unreadable> {
    let (before, after) = (text(base, change.before)?, text(candidate, change.after)?);
    let is_go = !change.path.ends_with(b"Cargo.toml");
    let said = |text: &[u8]| match is_go {
        true => go_replacements(&String::from_utf8_lossy(text)).into_iter().collect(),
        false => cargo_names(text).leads(),
    };
    let (old, new): (Said, Said) = (said(&before), said(&after));
    let names: BTreeSet<String> = old.symmetric_difference(&new).map(|(name, _)| name.clone()).collect();
    let folder = match is_go {
        true => folder(&change.path).to_vec(),
        // A member may lie anywhere.
        false if !cargo_names(&after).workspace.is_empty() || !cargo_names(&before).workspace.is_empty() => Vec::new(),
        false => folder(&change.path).to_vec(),
    };
    let language = if is_go { Language::Go } else { Language::Rust };
    Ok((!names.is_empty()).then_some(Reach::Names {
        language,
        folder,
        names,
    }))
}

/// What a change may lead elsewhere.
pub(super) fn of(base: &dyn Tree, candidate: &dyn Tree, change: &Change) -> Result<Option<Reach>, Unreadable> {
    let path = change.path.as_slice();
    let (folder, name) = match path.iter().rposition(|&byte| byte == b'/') {
        Some(slash) => (&path[..slash], &path[slash + 1..]),
        None => (&b""[..], path),
    };
    let is_link = |side: &Option<Side>| side.is_some_and(|side| side.kind == Kind::Symlink);
    if is_link(&change.before) || is_link(&change.after) {
        let parts: Vec<&[u8]> = path.split(|&byte| byte == b'/').collect();
        let home = parts.iter().rposition(|part| *part == b"node_modules");
        return Ok(home.map(|at| Reach::Below(parts[..at].join(&b'/'))));
    }
    if matches!(name, b"go.mod" | b"go.work") || path.ends_with(b"Cargo.toml") {
        return names(base, candidate, change);
    }
    let is_config = is_config(path);
    let is_workspace = name == b"pnpm-workspace.yaml" || name == b"lerna.json";
    if !is_config && !is_workspace && !imports::is_package_manifest(path) {
        return Ok(None);
    }
    let before = text(base, change.before)?;
    let after = text(candidate, change.after)?;
    if is_workspace {
        return Ok((before != after).then_some(Reach::All));
    }
    if is_config {
        return Ok(match says(&before) || says(&after) {
            false => None,
            true if matches!(name, b"tsconfig.json" | b"jsconfig.json") => Some(Reach::Below(folder.to_vec())),
            // Others may extend it from anywhere.
            true => Some(Reach::All),
        });
    }
    let (old, new) = (value(&before), value(&after));
    if folder.is_empty() && old.get("workspaces") != new.get("workspaces") {
        return Ok(Some(Reach::All));
    }
    if ENTRIES.iter().any(|key| old.get(key) != new.get(key)) {
        let names = [&old, &new].map(|manifest| manifest.get("name").and_then(Value::as_str));
        let last = folder
            .rsplit(|&byte| byte == b'/')
            .next()
            .filter(|name| !name.is_empty());
        let words = (names.into_iter().flatten().map(|name| name.as_bytes().to_vec())).chain(last.map(<[u8]>::to_vec));
        let mut words: Vec<Vec<u8>> = words.filter(|word| !word.is_empty()).collect();
        // From below it is `..`.
        words.extend(["'..", "\"..", "`.."].map(|dots| dots.as_bytes().to_vec()));
        return Ok(Some(Reach::Naming(words)));
    }
    let is_same = old.get("imports") == new.get("imports")
        && npm_aliases(&before) == npm_aliases(&after)
        && npm_links(&old).eq(npm_links(&new));
    Ok((!is_same).then(|| Reach::Below(folder.to_vec())))
}

pub(super) fn value(text: &[u8]) -> Value {
    let text = text.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(text);
    serde_json::from_slice(text).unwrap_or_default()
}

pub(super) fn folder(path: &[u8]) -> &[u8] {
    path.iter()
        .rposition(|&byte| byte == b'/')
        .map_or(b"", |at| &path[..at])
}

pub(super) fn text(tree: &dyn Tree, side: Option<Side>) -> Result<Vec<u8>, Unreadable> {
    match side.filter(is_regular) {
        Some(side) if tree.blob_size(&side.id)? <= MAX_MANIFEST => tree.blob(&side.id),
        _ => Ok(Vec::new()),
    }
}

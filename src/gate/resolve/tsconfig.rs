//! `paths` and `baseUrl` of tsconfig.json and jsconfig.json.
//!
//! The configurations of each folder above a file count, nearest first, those with a middle name
//! (`tsconfig.app.json`) too: a bundler's templates keep `paths` there. `extends` is followed inside
//! the repository; of its chain the first that has a key decides it.

use std::collections::{HashMap, HashSet};
use std::rc::Rc;

use serde_json::Value;

use super::files::{Files, follow, parent};
use super::{jsonc, npm};
use crate::gate::tree::Unreadable;

/// Files of one `extends` chain.
const MAX_CHAIN: usize = 32;
/// Patterns of one configuration, and targets of one pattern.
const MAX_PATTERNS: usize = 2000;

/// What one configuration says.
#[derive(Debug, Default)]
pub(super) struct Config {
    /// `baseUrl` as a folder of the repository.
    pub(super) base: Option<Vec<u8>>,
    /// Pattern and targets, as paths from the root that may hold a `*`; the most exact first.
    pub(super) paths: Vec<(String, Vec<Aim>)>,
}

/// One target of a pattern.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Aim {
    /// A path of the repository, perhaps with a `*`.
    Path(Vec<u8>),
    /// Into node_modules, or out of the repository; as written.
    Outside(String),
}

/// Each folder's configurations, read once.
#[derive(Default)]
pub(super) struct Configs {
    folders: HashMap<Vec<u8>, Rc<Vec<Config>>>,
}

impl Configs {
    /// The configurations that lie in a folder.
    pub(super) fn in_folder(
        &mut self,
        files: &Files,
        npm: &mut npm::Packages,
        folder: &[u8],
    ) -> Result<Rc<Vec<Config>>, Unreadable> {
        if let Some(known) = self.folders.get(folder) {
            return Ok(known.clone());
        }
        let mut names: Vec<Vec<u8>> = files
            .list(folder)?
            .into_iter()
            .map(|entry| entry.name)
            .filter(|name| name.ends_with(b".json"))
            .filter(|name| {
                [b"tsconfig.".as_slice(), b"jsconfig."]
                    .iter()
                    .any(|head| name.starts_with(head))
            })
            .collect();
        // `tsconfig.json` before `tsconfig.app.json`.
        names.sort_by_key(|name| (name.len(), name.clone()));
        let mut configs = Vec::new();
        for name in names {
            let config = read(files, npm, &crate::gate::tree::join(folder, &name))?;
            if config.base.is_some() || !config.paths.is_empty() {
                configs.push(config);
            }
        }
        let configs = Rc::new(configs);
        self.folders.insert(folder.to_vec(), configs.clone());
        Ok(configs)
    }
}

fn read(files: &Files, npm: &mut npm::Packages, path: &[u8]) -> Result<Config, Unreadable> {
    let own_folder = parent(path).to_vec();
    let mut base = None;
    let mut paths: Option<(Vec<u8>, Value)> = None;
    let mut seen = HashSet::new();
    // The last is next; what extends something goes before it.
    let mut open = vec![path.to_vec()];
    while let Some(path) = open.pop() {
        if seen.len() >= MAX_CHAIN || !seen.insert(path.clone()) {
            continue;
        }
        let Some(value) = files.text(&path)?.and_then(|text| jsonc::read(&text)) else {
            continue;
        };
        let folder = parent(&path);
        let options = value.get("compilerOptions");
        if let Some(url) = options
            .and_then(|options| options.get("baseUrl"))
            .and_then(Value::as_str)
            && base.is_none()
        {
            base = follow(folder, url.replace("${configDir}", "./").as_bytes());
        }
        if let Some(found) = options.and_then(|options| options.get("paths"))
            && paths.is_none()
        {
            paths = Some((folder.to_vec(), found.clone()));
        }
        // Of several the last one counts first.
        for name in bases(&value) {
            open.extend(extended(files, npm, &path, name)?);
        }
    }
    let mut config = Config {
        base,
        paths: Vec::new(),
    };
    let Some((folder, Value::Object(paths))) = paths else {
        return Ok(config);
    };
    let folder = config.base.clone().unwrap_or(folder);
    for (pattern, targets) in paths.into_iter().take(MAX_PATTERNS) {
        let Value::Array(targets) = targets else { continue };
        let aims = targets
            .iter()
            .filter_map(Value::as_str)
            .take(MAX_PATTERNS)
            .map(|target| {
                let (folder, target) = match target.strip_prefix("${configDir}") {
                    Some(rest) => (&own_folder, rest),
                    None => (&folder, target),
                };
                match follow(folder, target.as_bytes()) {
                    Some(path) if !target.contains("node_modules") => Aim::Path(path),
                    _ => Aim::Outside(target.to_owned()),
                }
            });
        config.paths.push((pattern, aims.collect()));
    }
    // TypeScript takes an exact pattern before any other, then the longest text before the star.
    config.paths.sort_by_key(|(pattern, _)| match pattern.find('*') {
        None => (0, 0),
        Some(star) => (1, usize::MAX - star),
    });
    Ok(config)
}

/// Whether a configuration of the tree takes in this file.
pub(super) fn is_extended(files: &Files, npm: &mut npm::Packages, wanted: &[u8]) -> Result<bool, Unreadable> {
    for (path, ..) in files.regular() {
        let name = super::files::name(path);
        let is_config = name.ends_with(b".json") && (name.starts_with(b"tsconfig.") || name.starts_with(b"jsconfig."));
        if !is_config || path.split(|&byte| byte == b'/').any(|part| part == b"node_modules") {
            continue;
        }
        let mut seen = HashSet::new();
        let mut open = vec![path.to_vec()];
        while let Some(path) = open.pop() {
            if path == wanted {
                return Ok(true);
            }
            if seen.len() >= MAX_CHAIN || !seen.insert(path.clone()) {
                continue;
            }
            let value = files.text(&path)?.and_then(|text| jsonc::read(&text));
            for name in value.as_ref().map(bases).unwrap_or_default() {
                open.extend(extended(files, npm, &path, name)?);
            }
        }
    }
    Ok(false)
}

/// What `extends` says.
fn bases(config: &Value) -> Vec<&str> {
    match config.get("extends") {
        Some(Value::String(one)) => vec![one],
        Some(Value::Array(many)) => many.iter().filter_map(Value::as_str).collect(),
        _ => Vec::new(),
    }
}

/// The file that `extends` names.
fn extended(files: &Files, npm: &mut npm::Packages, from: &[u8], name: &str) -> Result<Option<Vec<u8>>, Unreadable> {
    let bare = match name.starts_with('.') {
        true => follow(parent(from), name.as_bytes()),
        false => npm.folder_of(files, name, from)?,
    };
    let Some(bare) = bare else { return Ok(None) };
    Ok([&b""[..], b".json", b"/tsconfig.json"]
        .iter()
        .find_map(|ending| files.file(&[bare.as_slice(), ending].concat())))
}

/// What stands for the star where the pattern matches; empty for one without a star.
pub(super) fn matched<'s>(pattern: &str, specifier: &'s str) -> Option<&'s str> {
    match pattern.split_once('*') {
        None => (pattern == specifier).then_some(""),
        Some((head, tail)) => {
            let rest = specifier.strip_prefix(head)?;
            rest.strip_suffix(tail)
        }
    }
}

/// The target with the star filled in.
pub(super) fn filled(target: &[u8], star: &str) -> Vec<u8> {
    match target.iter().position(|&byte| byte == b'*') {
        None => target.to_vec(),
        Some(at) => [&target[..at], star.as_bytes(), &target[at + 1..]].concat(),
    }
}

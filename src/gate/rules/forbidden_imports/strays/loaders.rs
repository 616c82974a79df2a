//! Which suspects an unchanged file loads as source.
//!
//! Invariant: what loads a suspect is source by its own name or first line, or is loaded by such a file itself. Files
//! are opened only where the name of what is searched for, or a sign that may spell it, stands in them; a chain
//! that is longer than is followed counts as loaded.

use std::collections::{HashMap, HashSet, VecDeque};

use memchr::memmem;
use serde_json::Value;

use super::{MAX_STRAY, Suspect};
use crate::gate::imports::{self, Import, ImportKind, Language};
use crate::gate::policy::Area;
use crate::gate::resolve::{follow, npm_targets};
use crate::gate::rules::Resolvers;
use crate::gate::rules::forbidden_imports::entries;
use crate::gate::rules::forbidden_imports::followed::{
    MAX_FOLLOWED, is_asset, is_bundled, is_read_as, may_load, name, places, written,
};
use crate::gate::rules::forbidden_imports::sources::{Loaded, Source};
use crate::gate::rules::forbidden_imports::{MAX_SOURCE, reads};
use crate::gate::tree::Side;
use crate::gate::{Policy, Unreadable};

/// Languages in which a file names another one that is then read as source, whatever it is called.
pub(super) const LANGUAGES: [Language; 5] = [
    Language::C,
    Language::JavaScript,
    Language::Php,
    Language::Ruby,
    Language::Rust,
];
/// Steps of a chain of files without telling names; each is a pass over the tree.
const MAX_STEPS: usize = 8;
/// Names that are searched for before a file is read.
const FEW_NAMES: usize = 16;
/// Entries of a package.json that node loads as they are.
const ENTRIES: [&str; 3] = ["main", "module", "source"];

/// The suspects that are loaded.
pub(super) fn confirmed<'p>(
    policy: &'p Policy,
    own: &mut Resolvers,
    suspects: &[Suspect],
    changed: &HashSet<&[u8]>,
) -> Result<Vec<Source<'p>>, Unreadable> {
    let mut sources = Vec::new();
    for language in LANGUAGES {
        let mine: Vec<&Suspect> = (suspects.iter())
            .filter(|suspect| suspect.language == language && !is_read_as(language, &suspect.path))
            .collect();
        if mine.is_empty() {
            continue;
        }
        // What a changed file of Ruby loads is judged there, see `loads`.
        let is_asked = |path: &[u8]| language != Language::Ruby || !changed.contains(path);
        let paths = mine.iter().map(|suspect| suspect.path.clone()).collect();
        let loads = Loads::of(own, language, paths, is_asked)?;
        let reached = loads.reached(policy);
        for suspect in mine {
            let Some(areas) = reached.get(&suspect.path) else {
                continue;
            };
            if areas.is_empty() && !suspect.is_computed {
                continue;
            }
            sources.push(Source {
                path: suspect.path.clone(),
                before: suspect.before,
                after: suspect.after,
                language,
                areas: areas.clone(),
                loaded: match loads.surely.contains(&suspect.path) {
                    true => Loaded::Surely,
                    false => Loaded::Perhaps,
                },
                only: None,
            });
        }
    }
    Ok(sources)
}

/// What loads what, as far as it leads to a suspect.
#[derive(Default)]
struct Loads {
    /// From the file that loads to those that it loads.
    by: HashMap<Vec<u8>, HashSet<Vec<u8>>>,
    /// Files that are source by themselves.
    roots: HashSet<Vec<u8>>,
    /// What is loaded as source for certain.
    surely: HashSet<Vec<u8>>,
}

impl Loads {
    fn of(
        own: &mut Resolvers,
        language: Language,
        suspects: HashSet<Vec<u8>>,
        is_asked: impl Fn(&[u8]) -> bool,
    ) -> Result<Loads, Unreadable> {
        let mut loads = Loads::default();
        let all: Vec<(Vec<u8>, Side, bool)> = (own.candidate.files()?.regular().into_iter())
            .filter_map(|(path, kind, id)| {
                let is_source = is_read_as(language, path) || imports::is_ambiguous(path);
                let is_other = imports::language(path).is_none() && imports::unread(path).is_none();
                (is_asked(path) && (is_source || is_other)).then(|| (path.to_vec(), Side { kind, id }, is_source))
            })
            .collect();
        let mut searched = suspects.clone();
        let mut fresh = suspects;
        for _ in 0..MAX_STEPS {
            let mut next = HashSet::new();
            let names: HashSet<Vec<u8>> = fresh.iter().map(|path| name(path).to_vec()).collect();
            for (path, side, is_source) in &all {
                let limit = if *is_source { MAX_SOURCE } else { MAX_STRAY };
                if own.candidate_tree.blob_size(&side.id)? > limit {
                    continue;
                }
                let content = own.candidate_tree.blob(&side.id)?;
                // To search for many costs more than to read.
                let is_silent = names.len() <= FEW_NAMES
                    && !may_spell(language, &content)
                    && (names.iter()).all(|name| memmem::find(&content, name).is_none());
                if is_silent {
                    continue;
                }
                // One that cannot be read and changed is a finding by itself.
                let Ok(found) = imports::imports_at(path, language, &content) else {
                    continue;
                };
                for import in &found {
                    if !is_load(language, import, &names) {
                        continue;
                    }
                    for place in places(own, language, import, path)? {
                        if !fresh.contains(&place) || place == *path {
                            continue;
                        }
                        if Loaded::by(import) == Loaded::Surely {
                            loads.surely.insert(place.clone());
                        }
                        loads.by.entry(path.clone()).or_default().insert(place);
                        if *is_source || imports::language_of(path, &content) == Some(language) {
                            loads.roots.insert(path.clone());
                        } else if searched.len() < MAX_FOLLOWED {
                            if searched.insert(path.clone()) {
                                next.insert(path.clone());
                            }
                        } else {
                            loads.roots.insert(path.clone());
                        }
                    }
                }
            }
            if language == Language::JavaScript {
                loads.entries(own, &fresh)?;
            }
            loads.named(own, language, &fresh)?;
            fresh = next;
            if fresh.is_empty() {
                return Ok(loads);
            }
        }
        loads.roots.extend(fresh);
        Ok(loads)
    }

    /// What the package.json files of the repository name as what an import of their folder, of their package or
    /// of a `#x` loads.
    fn entries(&mut self, own: &mut Resolvers, fresh: &HashSet<Vec<u8>>) -> Result<(), Unreadable> {
        let files = own.candidate.files()?;
        for path in files.named(b"package.json") {
            let Some(text) = files.text(path)? else { continue };
            let is_there = |target: &Vec<u8>| memmem::find(text.as_bytes(), name(target)).is_some();
            if !fresh.iter().any(is_there) && !text.contains(['\\', '*']) {
                continue;
            }
            let Ok(manifest) = serde_json::from_str::<Value>(&text) else {
                continue;
            };
            let folder = &path[..path.len() - "package.json".len()];
            let folder = folder.strip_suffix(b"/").unwrap_or(folder);
            // What a bundler or node reads as a script where it is asked for.
            for target in exported(&manifest) {
                for place in fresh.iter().filter(|place| is_target(folder, target, place)) {
                    self.by.entry(path.clone()).or_default().insert(place.clone());
                    self.roots.insert(path.clone());
                }
            }
            for entry in entries_of(&manifest) {
                let place = follow(folder, entry.as_bytes());
                if let Some(place) = place.filter(|place| fresh.contains(place)) {
                    self.surely.insert(place.clone());
                    self.by.entry(path.clone()).or_default().insert(place);
                    self.roots.insert(path.clone());
                }
            }
        }
        Ok(())
    }

    /// What the manifests of another language name as source.
    fn named(&mut self, own: &mut Resolvers, language: Language, fresh: &HashSet<Vec<u8>>) -> Result<(), Unreadable> {
        let Some(manifest) = entries::manifest(language) else {
            return Ok(());
        };
        let files = own.candidate.files()?;
        for path in files.named(manifest) {
            let Some(text) = files.text(path)? else { continue };
            let folder = &path[..path.len() - manifest.len()];
            let folder = folder.strip_suffix(b"/").unwrap_or(folder);
            for place in entries::entries(language, folder, text.as_bytes()) {
                if fresh.contains(&place) {
                    self.surely.insert(place.clone());
                    self.by.entry(path.clone()).or_default().insert(place);
                    self.roots.insert(path.clone());
                }
            }
        }
        Ok(())
    }

    /// Every file that is loaded, with the areas that it is read for: its own, else those of what loads it.
    fn reached<'p>(&self, policy: &'p Policy) -> HashMap<Vec<u8>, Vec<&'p Area>> {
        let covering =
            |path: &[u8]| -> Vec<&'p Area> { policy.areas.iter().filter(|area| reads(area, path)).collect() };
        let mut reached: HashMap<Vec<u8>, Vec<&Area>> = HashMap::new();
        let mut open: VecDeque<(&Vec<u8>, Vec<&Area>)> = VecDeque::new();
        for root in &self.roots {
            open.push_back((root, covering(root)));
        }
        while let Some((path, areas)) = open.pop_front() {
            for loaded in self.by.get(path).into_iter().flatten() {
                let own = covering(loaded);
                let areas = if own.is_empty() { areas.clone() } else { own };
                let is_first = !reached.contains_key(loaded);
                let known = reached.entry(loaded.clone()).or_default();
                let count = known.len();
                for area in areas {
                    if !known.iter().any(|other| other.name == area.name) {
                        known.push(area);
                    }
                }
                if is_first || known.len() > count {
                    open.push_back((loaded, known.clone()));
                }
            }
        }
        reached
    }
}

/// Whether the import may load one of the files of these names.
fn is_load(language: Language, import: &Import, names: &HashSet<Vec<u8>>) -> bool {
    let written = name(written(import).as_bytes());
    if language == Language::Ruby {
        return import.kind == ImportKind::Include && names.contains(written);
    }
    if language != Language::JavaScript {
        return may_load(language, import) && names.contains(written);
    }
    // A `#x` and a folder are looked up where the package.json is. Without an ending the file may be the one.
    let is_value = import.kind == ImportKind::Require || is_bundled(import) && !is_asset(written);
    let is_bare = import.raw.starts_with('.') && is_value && names.contains(written);
    let is_odd = import.raw.starts_with('.') && import.raw.contains(['%', '?', '#', '!', '\\']);
    is_bare || may_load(language, import) && is_odd
}

/// Whether the name may stand in the file in another spelling.
fn may_spell(language: Language, content: &[u8]) -> bool {
    let is_hex = |pair: &[u8]| pair[0] == b'%' && pair[1].is_ascii_hexdigit() && pair[2].is_ascii_hexdigit();
    content.contains(&b'\\') || language == Language::JavaScript && content.windows(3).any(is_hex)
}

/// The paths that a package.json names.
fn entries_of(manifest: &Value) -> Vec<String> {
    let mut all: Vec<String> = Vec::new();
    let texts = ENTRIES.iter().filter_map(|key| manifest.get(key)?.as_str());
    all.extend(texts.map(str::to_owned));
    match manifest.get("bin") {
        Some(Value::String(path)) => all.push(path.clone()),
        Some(Value::Object(map)) => all.extend(map.values().filter_map(Value::as_str).map(str::to_owned)),
        _ => {}
    }
    all.extend(
        manifest
            .get("exports")
            .into_iter()
            .flat_map(|table| npm_targets(table, ".")),
    );
    if let Some(table @ Value::Object(map)) = manifest.get("imports") {
        all.extend(map.keys().flat_map(|key| npm_targets(table, key)));
    }
    all
}

/// Every path of `exports`.
pub(in crate::gate::rules::forbidden_imports) fn exported(manifest: &Value) -> Vec<&str> {
    let mut found = Vec::new();
    let mut open: Vec<&Value> = manifest.get("exports").into_iter().collect();
    while let Some(value) = open.pop() {
        match value {
            Value::String(text) => found.push(text.as_str()),
            Value::Array(items) => open.extend(items),
            Value::Object(map) => open.extend(
                map.iter()
                    .filter(|(key, _)| !key.starts_with("types"))
                    .map(|(_, value)| value),
            ),
            _ => {}
        }
    }
    found
}

/// Whether a path of a package in this folder, perhaps with stars, is that of the file. A star that stands for the
/// whole name says nothing about it.
pub(in crate::gate::rules::forbidden_imports) fn is_target(folder: &[u8], target: &str, place: &[u8]) -> bool {
    let Some(target) = follow(folder, target.as_bytes()) else {
        return false;
    };
    let Some(star) = target.iter().position(|&byte| byte == b'*') else {
        return target == place && !is_asset(place);
    };
    let (head, tail) = (&target[..star], &target[star + 1..]);
    // A second star stands for the same again.
    let last = tail
        .iter()
        .rposition(|&byte| byte == b'*')
        .map_or(tail, |at| &tail[at + 1..]);
    !last.is_empty()
        && !is_asset(place)
        && place.len() > head.len() + last.len()
        && place.starts_with(head)
        && place.ends_with(last)
}

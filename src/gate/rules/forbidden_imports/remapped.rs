//! Files that did not change and whose imports now lead elsewhere, since a package.json, a tsconfig or a link in
//! a committed `node_modules` did.
//!
//! Invariant: such a file is judged by exactly those of its imports that lead elsewhere than in the base. The tree is
//! only searched where a change touches what names are resolved by; a version that is raised does not. What such an
//! import now loads under a name that does not tell its language, and what a new entry of `exports` takes in by a
//! pattern, is read as a script, as is what a changed file loads so.

use std::collections::HashSet;

use memchr::memmem;
use serde_json::Value;

use super::followed::{MAX_FOLLOWED, is_asset, is_bundled, is_read_as, name, regular};
use super::sources::{Loaded, Source};
use super::strays::{exported, is_target};
use super::{MAX_SOURCE, Surroundings, reads};
use crate::gate::imports::{self, Import, ImportKind, Language};
use crate::gate::manifests::{MAX_MANIFEST, npm_aliases};
use crate::gate::policy::Area;
use crate::gate::resolve::{Target, npm_links};
use crate::gate::rules::aliases::Aliases;
use crate::gate::rules::{Resolvers, is_regular};
use crate::gate::tree::Side;
use crate::gate::{Change, Kind, Policy, Tree, Unreadable};

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

/// Which files a change may concern.
enum Reach {
    /// Those below a folder.
    Below(Vec<u8>),
    /// Those in which one of these stands.
    Naming(Vec<Vec<u8>>),
    All,
}

/// The files to judge again.
pub(super) fn of<'p>(
    policy: &'p Policy,
    own: &mut Resolvers<'p>,
    around: &mut Surroundings,
    changes: &[Change],
) -> Result<Vec<Source<'p>>, Unreadable> {
    let (base, candidate) = (own.base_tree, own.candidate_tree);
    let mut reaches = Vec::new();
    let mut before = Resolvers::of(base, base);
    // Where all is judged as new there is nothing that did not change.
    if base.root() != candidate.root() {
        for change in changes {
            let reach = match is_base(base, candidate, change)?
                && (before.candidate.is_extended(&change.path)? || own.candidate.is_extended(&change.path)?)
            {
                true => Some(Reach::All),
                false => reach(base, candidate, change)?,
            };
            reaches.extend(reach);
        }
    }
    if reaches.is_empty() {
        return Ok(Vec::new());
    }
    let changed: HashSet<&[u8]> = changes.iter().map(|change| change.path.as_slice()).collect();
    let files: Vec<(Vec<u8>, Side, Vec<&Area>)> = (own.candidate.files()?.regular().into_iter())
        .filter(|(path, ..)| imports::language(path) == Some(Language::JavaScript) && !changed.contains(path))
        .filter(|(path, ..)| reaches.iter().any(|reach| reach.may_cover(path)))
        .filter_map(|(path, kind, id)| {
            let areas: Vec<&Area> = policy.areas.iter().filter(|area| reads(area, path)).collect();
            (!areas.is_empty()).then(|| (path.to_vec(), Side { kind, id }, areas))
        })
        .collect();
    let mut names = Aliases::of(base);
    let mut around_before = Surroundings::of(base, base, &mut names);
    let mut sources = taken_in(policy, own, changes)?;
    for (path, after, areas) in files {
        if candidate.blob_size(&after.id)? > MAX_SOURCE {
            continue;
        }
        let content = candidate.blob(&after.id)?;
        if !reaches.iter().any(|reach| reach.covers(&path, &content)) {
            continue;
        }
        // One that cannot be read is a finding where it changes.
        let Ok(found) = imports::imports_at(&path, Language::JavaScript, &content) else {
            continue;
        };
        let (only, loaded) = elsewhere(&path, &found, (&mut before, &mut around_before), (own, around))?;
        for (place, loaded) in loaded {
            sources.extend(script(policy, candidate, place, &areas, loaded)?);
        }
        if !only.is_empty() {
            sources.push(Source {
                path,
                before: None,
                after,
                language: Language::JavaScript,
                areas,
                loaded: Loaded::No,
                only: Some(only),
            });
        }
    }
    Ok(sources)
}

/// A file that another one makes a script.
fn script<'p>(
    policy: &'p Policy,
    candidate: &dyn Tree,
    path: Vec<u8>,
    by: &[&'p Area],
    loaded: Loaded,
) -> Result<Option<Source<'p>>, Unreadable> {
    let Some(after) = regular(candidate, &path)? else {
        return Ok(None);
    };
    let mut areas: Vec<&Area> = policy.areas.iter().filter(|area| reads(area, &path)).collect();
    if areas.is_empty() {
        areas = by.to_vec();
    }
    Ok((!areas.is_empty()).then_some(Source {
        path,
        before: None,
        after,
        language: Language::JavaScript,
        areas,
        loaded,
        only: None,
    }))
}

/// The files that a changed package.json newly names by a pattern of its `exports` and that did not change.
fn taken_in<'p>(policy: &'p Policy, own: &mut Resolvers, changes: &[Change]) -> Result<Vec<Source<'p>>, Unreadable> {
    let (base, candidate) = (own.base_tree, own.candidate_tree);
    let mut found = Vec::new();
    for change in changes
        .iter()
        .filter(|change| imports::is_package_manifest(&change.path))
    {
        let (old, new) = (
            value(&text(base, change.before)?),
            value(&text(candidate, change.after)?),
        );
        let known = exported(&old);
        let fresh: Vec<&str> = (exported(&new).into_iter())
            .filter(|target| target.contains('*') && !known.contains(target))
            .collect();
        if fresh.is_empty() {
            continue;
        }
        let folder = folder(&change.path);
        let by: Vec<&Area> = (policy.areas.iter()).filter(|area| reads(area, &change.path)).collect();
        let changed: HashSet<&[u8]> = changes.iter().map(|change| change.path.as_slice()).collect();
        let places: Vec<Vec<u8>> = (own.candidate.files()?.regular().into_iter())
            .map(|(path, ..)| path)
            .filter(|path| imports::language(path).is_none() && imports::unread(path).is_none())
            .filter(|path| !is_read_as(Language::JavaScript, path) && !changed.contains(path))
            .filter(|path| fresh.iter().any(|target| is_target(folder, target, path)))
            .take(MAX_FOLLOWED)
            .map(<[u8]>::to_vec)
            .collect();
        for place in places {
            found.extend(script(policy, candidate, place, &by, Loaded::Perhaps)?);
        }
    }
    Ok(found)
}

/// The imports of a file that lead elsewhere than they did, and what they load that is no script by its name.
fn elsewhere(
    path: &[u8],
    found: &[Import],
    (before, around_before): (&mut Resolvers, &mut Surroundings),
    (own, around): (&mut Resolvers, &mut Surroundings),
) -> Result<(HashSet<String>, Vec<(Vec<u8>, Loaded)>), Unreadable> {
    let language = Language::JavaScript;
    let old = around_before.file((path, language), found, before)?;
    let new = around.file((path, language), found, own)?;
    let (mut only, mut loaded) = (HashSet::new(), Vec::new());
    for import in found.iter().filter(|import| import.kind != ImportKind::Opaque) {
        if only.contains(&import.raw) {
            continue;
        }
        if old.meanings(import) != new.meanings(import) {
            only.insert(import.raw.clone());
            continue;
        }
        let target = own.candidate.resolve(language, import, path)?;
        let Target::Local(places) = &target else { continue };
        if target == before.candidate.resolve(language, import, path)? {
            continue;
        }
        only.insert(import.raw.clone());
        if import.kind == ImportKind::Require || is_bundled(import) {
            let odd = places
                .iter()
                .filter(|place| !is_read_as(language, place) && !is_asset(name(place)));
            loaded.extend(odd.map(|place| (place.clone(), Loaded::by(import))));
        }
    }
    Ok((only, loaded))
}

impl Reach {
    fn may_cover(&self, path: &[u8]) -> bool {
        match self {
            Reach::Below(folder) => {
                folder.is_empty() || (path.strip_prefix(folder.as_slice())).is_some_and(|rest| rest.starts_with(b"/"))
            }
            Reach::Naming(_) | Reach::All => true,
        }
    }

    fn covers(&self, path: &[u8], content: &[u8]) -> bool {
        let has = |word: &[u8]| memmem::find(content, word).is_some();
        match self {
            Reach::Naming(words) => words.iter().any(|word| has(word)) || has(b"\\x") || has(b"\\u"),
            Reach::Below(_) | Reach::All => self.may_cover(path),
        }
    }
}

/// Whether the change may be one of a tsconfig under another name, which those that extend it only tell.
fn is_base(base: &dyn Tree, candidate: &dyn Tree, change: &Change) -> Result<bool, Unreadable> {
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

/// What a change may lead elsewhere.
fn reach(base: &dyn Tree, candidate: &dyn Tree, change: &Change) -> Result<Option<Reach>, Unreadable> {
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

fn value(text: &[u8]) -> Value {
    let text = text.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(text);
    serde_json::from_slice(text).unwrap_or_default()
}

fn folder(path: &[u8]) -> &[u8] {
    path.iter()
        .rposition(|&byte| byte == b'/')
        .map_or(b"", |at| &path[..at])
}

fn text(tree: &dyn Tree, side: Option<Side>) -> Result<Vec<u8>, Unreadable> {
    match side.filter(is_regular) {
        Some(side) if tree.blob_size(&side.id)? <= MAX_MANIFEST => tree.blob(&side.id),
        _ => Ok(Vec::new()),
    }
}

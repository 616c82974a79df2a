//! Files that did not change and whose imports now lead elsewhere: those of JavaScript since a package.json, a tsconfig
//! or a link in a committed `node_modules` did, those of Go since a `replace` did, those of Rust since a rename or a
//! folder of a Cargo.toml did.
//!
//! Invariant: such a file is judged by exactly those of its imports that lead elsewhere than in the base. The tree is
//! only searched where a change touches what names are resolved by; a version that is raised does not. What such an
//! import now loads under a name that does not tell its language, and what a new entry of `exports` takes in by a
//! pattern, is read as a script, as is what a changed file loads so.

mod reach;

use std::collections::HashSet;

use reach::{Reach, folder, text, value};

use super::entries;
use super::followed::{MAX_FOLLOWED, is_asset, is_bundled, is_read_as, name, regular};
use super::sources::{Loaded, Source};
use super::strays::{exported, is_target};
use super::{MAX_SOURCE, Surroundings, reads};
use crate::gate::imports::{self, Import, ImportKind, Language};
use crate::gate::policy::Area;
use crate::gate::resolve::Target;
use crate::gate::rules::Resolvers;
use crate::gate::rules::aliases::Aliases;
use crate::gate::tree::Side;
use crate::gate::{Change, Policy, Tree, Unreadable};

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
            let reach = match reach::is_base(base, candidate, change)?
                && (before.candidate.is_extended(&change.path)? || own.candidate.is_extended(&change.path)?)
            {
                true => Some(Reach::All),
                false => reach::of(base, candidate, change)?,
            };
            reaches.extend(reach);
        }
    }
    let mut sources = match base.root() != candidate.root() {
        true => named(policy, own, changes)?,
        false => Vec::new(),
    };
    if reaches.is_empty() {
        return Ok(sources);
    }
    let changed: HashSet<&[u8]> = changes.iter().map(|change| change.path.as_slice()).collect();
    let files: Vec<(Vec<u8>, Side, Language, Vec<&Area>)> = (own.candidate.files()?.regular().into_iter())
        .filter(|(path, ..)| !changed.contains(path))
        .filter_map(|(path, kind, id)| {
            let language = imports::language(path)?;
            let is_near = reaches.iter().any(|reach| reach.may_cover(path, language));
            let areas = || -> Vec<&Area> { policy.areas.iter().filter(|area| reads(area, path)).collect() };
            let areas = if is_near { areas() } else { Vec::new() };
            (!areas.is_empty()).then(|| (path.to_vec(), Side { kind, id }, language, areas))
        })
        .collect();
    let mut names = Aliases::of(base);
    let mut around_before = Surroundings::of(base, base, &mut names);
    sources.extend(taken_in(policy, own, changes)?);
    for (path, after, language, areas) in files {
        if candidate.blob_size(&after.id)? > MAX_SOURCE {
            continue;
        }
        let content = candidate.blob(&after.id)?;
        let near: Vec<&Reach> = (reaches.iter())
            .filter(|reach| reach.covers(&path, language, &content))
            .collect();
        if near.is_empty() {
            continue;
        }
        // One that cannot be read is a finding where it changes.
        let Ok(mut found) = imports::imports_at(&path, language, &content) else {
            continue;
        };
        found.retain(|import| near.iter().any(|reach| reach.concerns(import)));
        let file = (path.as_slice(), language);
        let (only, loaded) = elsewhere(file, &found, (&mut before, &mut around_before), (own, around))?;
        for (place, loaded) in loaded {
            sources.extend(script(policy, candidate, (place, language), &areas, loaded)?);
        }
        if !only.is_empty() {
            sources.push(Source {
                path,
                before: None,
                after,
                language,
                areas,
                loaded: Loaded::No,
                only: Some(only),
            });
        }
    }
    Ok(sources)
}

/// A file that another one makes source.
fn script<'p>(
    policy: &'p Policy,
    candidate: &dyn Tree,
    (path, language): (Vec<u8>, Language),
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
        language,
        areas,
        loaded,
        only: None,
    }))
}

/// The files that a changed composer.json or Cargo.toml newly names as source, and that did not change.
fn named<'p>(policy: &'p Policy, own: &mut Resolvers, changes: &[Change]) -> Result<Vec<Source<'p>>, Unreadable> {
    let (base, candidate) = (own.base_tree, own.candidate_tree);
    let mut found = Vec::new();
    for change in changes {
        let Some(language) = entries::of_manifest(&change.path) else {
            continue;
        };
        let of = |text: &[u8]| entries::entries(language, folder(&change.path), text);
        let (old, new) = (of(&text(base, change.before)?), of(&text(candidate, change.after)?));
        let by: Vec<&Area> = (policy.areas.iter()).filter(|area| reads(area, &change.path)).collect();
        for place in new {
            let is_changed = || changes.iter().any(|change| change.path == place);
            if !old.contains(&place) && !is_read_as(language, &place) && !is_changed() {
                found.extend(script(policy, candidate, (place, language), &by, Loaded::Surely)?);
            }
        }
    }
    Ok(found)
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
            found.extend(script(
                policy,
                candidate,
                (place, Language::JavaScript),
                &by,
                Loaded::Perhaps,
            )?);
        }
    }
    Ok(found)
}

/// Imports as written, and files.
type Elsewhere = (HashSet<String>, Vec<(Vec<u8>, Loaded)>);

/// The imports of a file that lead elsewhere than they did, and what they load that is no script by its name.
fn elsewhere(
    (path, language): (&[u8], Language),
    found: &[Import],
    (before, around_before): (&mut Resolvers, &mut Surroundings),
    (own, around): (&mut Resolvers, &mut Surroundings),
) -> Result<Elsewhere, Unreadable> {
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
        let earlier = before.candidate.resolve(language, import, path)?;
        let Target::Local(places) = &target else {
            // What was a folder of the repository is a package of this name now; of JavaScript the manifest tells.
            let was_own = matches!(earlier, Target::Local(_)) && target == Target::External;
            if was_own && language != Language::JavaScript {
                only.insert(import.raw.clone());
            }
            continue;
        };
        if target == earlier {
            continue;
        }
        only.insert(import.raw.clone());
        if language == Language::JavaScript && (import.kind == ImportKind::Require || is_bundled(import)) {
            let odd = (places.iter()).filter(|place| !is_read_as(language, place) && !is_asset(name(place)));
            loaded.extend(odd.map(|place| (place.clone(), Loaded::by(import))));
        }
    }
    Ok((only, loaded))
}

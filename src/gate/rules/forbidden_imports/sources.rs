//! Which files of a change are source of an area.
//!
//! A name alone does not tell: a script without an ending is what its first line says, and a link
//! makes the file it leads to source under the link's own name. A file without an ending may be
//! JavaScript that another one requires, which only that one can tell.

use std::collections::{BTreeMap, HashSet, VecDeque};

use memchr::memmem;

use super::reads;
use crate::gate::imports::{self, Import, Language};
use crate::gate::policy::{Area, Stance};
use crate::gate::rules::{finding, is_regular, shown};
use crate::gate::survey::Survey;
use crate::gate::tree::{Side, join, lookup};
use crate::gate::{Change, Entry, Kind, Policy, Rule, Tree, Unreadable, Verdict};

/// Links followed, and components walked, before a link is taken for a loop.
const MAX_LINKS: usize = 40;
const MAX_STEPS: usize = 1000;
/// A target longer than Linux's PATH_MAX cannot be followed.
const MAX_TARGET: u64 = 4096;
/// Files without a telling name are asked for their first line up to this many bytes; more are not read
/// anywhere in the gate.
const MAX_FIRST_LINE: u64 = 512 * 1024 * 1024;
/// Files read below a link to a folder.
const MAX_BELOW: usize = 20_000;

/// One file to read.
pub(super) struct Source<'a> {
    /// Where it is source: for a link the link's path, not its target's.
    pub(super) path: Vec<u8>,
    /// What the base has at this path, if it is a file of its own.
    pub(super) before: Option<Side>,
    pub(super) after: Side,
    pub(super) language: Language,
    /// The areas whose import rules cover it; empty only with `dynamic_imports: deny`, which covers
    /// every source.
    pub(super) areas: Vec<&'a Area>,
    /// Whether another file alone makes it source, see [`followed`](super::followed).
    pub(super) loaded: Loaded,
    /// The imports that are looked at, as written, where not all of them are: those whose meaning changed.
    pub(super) only: Option<HashSet<String>>,
}

/// What makes a file source.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Loaded {
    /// Its own name or content.
    No,
    /// Another file that loads it as source.
    Surely,
    /// Another file that a bundler may read as loading data.
    Perhaps,
    /// It is a template, and what browsers load of the page that it makes is read.
    Page,
}

impl Loaded {
    /// What this import makes of the file that it loads.
    pub(super) fn by(import: &Import) -> Loaded {
        match super::followed::is_bundled(import) {
            true => Loaded::Perhaps,
            false => Loaded::Surely,
        }
    }
}

/// Every changed source file, in the order of the changes, and the files without an ending that are
/// none by themselves. Known source whose imports cannot be read is counted in one notice.
pub(super) fn of<'a>(
    policy: &'a Policy,
    candidate: &dyn Tree,
    changes: &[Change],
    survey: &Survey,
    verdict: &mut Verdict,
) -> Result<(Vec<Source<'a>>, Vec<Source<'a>>), Unreadable> {
    let (mut sources, mut bare) = (Vec::new(), Vec::new());
    let mut unread: BTreeMap<String, usize> = BTreeMap::new();
    for change in changes {
        let Some(after) = change.after else {
            verdict.inspected.skip(&change.path, "deleted");
            continue;
        };
        let areas: Vec<&Area> = policy.areas.iter().filter(|area| reads(area, &change.path)).collect();
        if areas.is_empty() && policy.dynamic_imports == Stance::Allow {
            verdict.inspected.skip(&change.path, "in no area with import rules");
            continue;
        }
        let reported = verdict.findings.len();
        let files = match after.kind {
            Kind::Symlink => behind(candidate, change, &areas, verdict)?,
            _ if is_regular(&after) => vec![(change.path.clone(), after)],
            _ => Vec::new(),
        };
        if files.is_empty() {
            let reason = match after.kind {
                Kind::Symlink if verdict.findings.len() > reported => "unreadable, which is a finding",
                Kind::Symlink => "a link to no file of its own",
                _ => "a submodule link",
            };
            verdict.inspected.skip(&change.path, reason);
        }
        for (path, after) in files {
            let language = match survey.language(&path, &after.id) {
                Some(language) => language,
                None => language(candidate, &path, &after)?,
            };
            // Its entries say what an import of its folder loads.
            let language = match imports::is_package_manifest(&path) {
                true => Some(Language::JavaScript),
                false => language,
            };
            if imports::is_page(&path) && has_scripts(candidate, &after)? {
                sources.push(Source {
                    before: change.before.filter(is_regular),
                    path: path.clone(),
                    after,
                    language: Language::JavaScript,
                    areas: areas.clone(),
                    loaded: Loaded::Page,
                    only: None,
                });
            }
            match language {
                Some(language) => sources.push(Source {
                    before: change.before.filter(is_regular),
                    path,
                    after,
                    language,
                    areas: areas.clone(),
                    loaded: Loaded::No,
                    only: None,
                }),
                None => match imports::unread(&path) {
                    Some(ending) => {
                        verdict
                            .inspected
                            .skip(&path, format!("{ending}: a language that is not read"));
                        *unread.entry(ending).or_default() += 1;
                    }
                    None if !path
                        .rsplit(|&byte| byte == b'/')
                        .next()
                        .unwrap_or(&path)
                        .contains(&b'.') =>
                    {
                        bare.push(Source {
                            before: change.before.filter(is_regular),
                            path,
                            after,
                            language: Language::JavaScript,
                            areas: areas.clone(),
                            loaded: Loaded::No,
                            only: None,
                        });
                    }
                    None => verdict.inspected.skip(&path, "no source file"),
                },
            }
        }
    }
    if !unread.is_empty() {
        let count: usize = unread.values().sum();
        let endings: Vec<&str> = unread.keys().map(String::as_str).collect();
        verdict.notices.push(format!(
            "{count} {}file{} of kinds whose imports this version does not read: {}",
            verdict.extent.adjective(),
            if count == 1 { "" } else { "s" },
            endings.join(", "),
        ));
    }
    Ok((sources, bare))
}

/// Whether a page could load a script.
fn has_scripts(tree: &dyn Tree, side: &Side) -> Result<bool, Unreadable> {
    if tree.blob_size(&side.id)? > super::MAX_SOURCE {
        return Ok(false);
    }
    let content = tree.blob(&side.id)?.to_ascii_lowercase();
    let words: [&[u8]; 2] = [b"<script", b"modulepreload"];
    Ok(words.iter().any(|word| memmem::find(&content, word).is_some()))
}

fn language(tree: &dyn Tree, path: &[u8], side: &Side) -> Result<Option<Language>, Unreadable> {
    let named = imports::language(path);
    // A first line counts only where the name says nothing.
    if named.is_some() && !imports::is_ambiguous(path)
        || imports::unread(path).is_some()
        || tree.blob_size(&side.id)? > MAX_FIRST_LINE
    {
        return Ok(named);
    }
    Ok(imports::language_of(path, &tree.blob(&side.id)?))
}

/// The files that a link brings into an area, under the link's name.
fn behind(
    tree: &dyn Tree,
    change: &Change,
    areas: &[&Area],
    verdict: &mut Verdict,
) -> Result<Vec<(Vec<u8>, Side)>, Unreadable> {
    let link = change.path.as_slice();
    // Dangling links and those that leave the repository are judged with the content.
    let Some((target, entry)) = resolve(tree, link)? else {
        return Ok(Vec::new());
    };
    let side = |entry: &Entry| Side {
        kind: entry.kind,
        id: entry.id,
    };
    if entry.kind != Kind::Tree {
        let files = is_regular(&side(&entry)).then(|| (link.to_vec(), side(&entry)));
        return Ok(files.into_iter().collect());
    }
    // What lies in the areas anyway is read where it lies.
    if areas.iter().all(|area| reads(area, &target)) {
        return Ok(Vec::new());
    }
    let mut files = Vec::new();
    let mut open = vec![(link.to_vec(), entry.id)];
    while let Some((folder, id)) = open.pop() {
        for entry in tree.entries(&id)? {
            let path = join(&folder, &entry.name);
            if entry.kind == Kind::Tree {
                open.push((path, entry.id));
            } else if is_regular(&side(&entry)) {
                files.push((path, side(&entry)));
            }
        }
        if files.len() + open.len() > MAX_BELOW {
            let message = format!(
                "leads to a folder of more than {MAX_BELOW} files, {}; no import rule looked at them",
                shown(&target)
            );
            if change.before == change.after {
                verdict.notices.push(format!("{} {message}", shown(link)));
                return Ok(Vec::new());
            }
            let judged_by = match areas.first() {
                Some(area) => area.import_key().unwrap_or_default(),
                None => super::computed::KEY.to_owned(),
            };
            verdict.findings.push(finding(
                Rule::Uninspectable,
                link,
                &judged_by,
                message,
                "link to what is needed of it, file by file or by smaller folders".into(),
            ));
            return Ok(Vec::new());
        }
    }
    files.sort_by(|a, b| a.0.cmp(&b.0));
    Ok(files)
}

/// Where a link leads inside the tree, links on the way followed.
pub(in crate::gate) fn resolve(tree: &dyn Tree, link: &[u8]) -> Result<Option<(Vec<u8>, Entry)>, Unreadable> {
    let mut todo: VecDeque<Vec<u8>> = link.split(|&byte| byte == b'/').map(<[u8]>::to_vec).collect();
    let mut at: Vec<Vec<u8>> = Vec::new();
    let mut here = Entry {
        name: Vec::new(),
        kind: Kind::Tree,
        id: tree.root(),
    };
    let mut links = 0;
    for _ in 0..MAX_STEPS {
        let Some(part) = todo.pop_front() else {
            return Ok(Some((at.join(&b'/'), here)));
        };
        match part.as_slice() {
            b"" | b"." => continue,
            b".." => {
                if at.pop().is_none() {
                    return Ok(None);
                }
            }
            _ => at.push(part),
        }
        let Some(entry) = entry_at(tree, &at)? else {
            return Ok(None);
        };
        if entry.kind == Kind::Symlink {
            links += 1;
            if links > MAX_LINKS || tree.blob_size(&entry.id)? > MAX_TARGET {
                return Ok(None);
            }
            let target = tree.blob(&entry.id)?;
            if target.starts_with(b"/") {
                return Ok(None);
            }
            at.pop();
            for part in target.split(|&byte| byte == b'/').rev() {
                todo.push_front(part.to_vec());
            }
            // `here` stays the folder that the link lies in until its target is walked.
            match entry_at(tree, &at)? {
                Some(folder) => here = folder,
                None => return Ok(None),
            }
        } else {
            here = entry;
        }
    }
    Ok(None)
}

fn entry_at(tree: &dyn Tree, at: &[Vec<u8>]) -> Result<Option<Entry>, Unreadable> {
    if at.is_empty() {
        return Ok(Some(Entry {
            name: Vec::new(),
            kind: Kind::Tree,
            id: tree.root(),
        }));
    }
    lookup(tree, &at.join(&b'/'))
}

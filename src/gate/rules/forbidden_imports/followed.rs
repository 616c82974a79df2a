//! Files that another source file loads as source of its own language, whatever they are called: what C
//! includes, what `require` loads, what Rust and PHP include.
//!
//! Invariants: each is read once, also where it did not change, since the file that names it may have; what
//! the base already had it loaded for is judged as any other source. A file that lies in no area is read for
//! the areas of the one that loads it.
//!
//! What `import` loads under such a name is JavaScript only to a bundler that was not told otherwise, so it is
//! read, and where that fails it is data. Pictures, fonts, media and styles are data to every bundler.

use std::collections::HashSet;

use super::sources::{Loaded, Source};
use super::{Known, reads};
use crate::gate::imports::{self, Import, ImportKind, Language};
use crate::gate::policy::{Area, Stance};
use crate::gate::resolve::{Target, follow};
use crate::gate::rules::{Resolvers, finding, is_regular, manifest, shown};
use crate::gate::tree::{Side, join, lookup, upward};
use crate::gate::{Oid, Policy, Rule, Tree, Unreadable, Verdict};

/// Files that are followed; in a hostile change each may name the next.
pub(super) const MAX_FOLLOWED: usize = 1_000;
/// Endings of what every bundler takes for data where it is imported.
const ASSETS: &str = "png jpg jpeg gif webp avif bmp ico svg woff woff2 ttf eot otf mp3 mp4 webm wav ogg pdf css scss \
                      sass less styl pcss";

/// What was followed so far.
#[derive(Default)]
pub(super) struct Followed {
    seen: HashSet<(Vec<u8>, Language)>,
}

impl Followed {
    /// The files that these imports load under a name that does not tell their language.
    pub(super) fn by<'p>(
        &mut self,
        policy: &'p Policy,
        own: &mut Resolvers<'p>,
        (path, language, areas): (&[u8], Language, &[&'p Area]),
        (found, known): (&[Import], &Known),
        verdict: &mut Verdict,
    ) -> Result<Vec<Source<'p>>, Unreadable> {
        let mut sources = Vec::new();
        for import in found {
            let is_followed = may_load(language, import)
                || language == Language::JavaScript
                    && may_be_member(import)
                    && !known.has(import)?
                    && is_in_workspace(own, path)?;
            if !is_followed {
                continue;
            }
            for place in places(own, language, import, path)? {
                if is_read_as(language, &place) {
                    continue;
                }
                let Some(after) = regular(own.candidate_tree, &place)? else {
                    continue;
                };
                if self.seen.contains(&(place.clone(), language)) {
                    continue;
                }
                if self.seen.len() >= MAX_FOLLOWED {
                    let key = areas.first().and_then(|area| area.import_key()).unwrap_or_default();
                    verdict.findings.push(finding(
                        Rule::Uninspectable,
                        path,
                        &key,
                        format!(
                            "more than {MAX_FOLLOWED} files are loaded under names that do not tell their language; no \
                             import rule looked at {} and further ones",
                            shown(&place)
                        ),
                        "give source the ending of its language, or load fewer files in one change".to_owned(),
                    ));
                    return Ok(sources);
                }
                let before = match known.has(import)? {
                    true => regular(own.base_tree, &place)?,
                    false => None,
                };
                let is_as_before = before.is_some_and(|before| before.id == after.id);
                if is_as_before && policy.existing == Stance::Allow {
                    continue;
                }
                self.seen.insert((place.clone(), language));
                let mut covering: Vec<&Area> = policy.areas.iter().filter(|area| reads(area, &place)).collect();
                if covering.is_empty() {
                    covering = areas.to_vec();
                }
                sources.push(Source {
                    path: place,
                    before,
                    after,
                    language,
                    areas: covering,
                    loaded: Loaded::by(import),
                    only: None,
                });
            }
        }
        Ok(sources)
    }

    /// Whether the file is still to read as this language; from now on it is not.
    pub(super) fn is_new(&mut self, path: &[u8], language: Language) -> bool {
        self.seen.insert((path.to_vec(), language))
    }
}

/// Whether the import may load a file whose name says nothing, or another language, about what it is read as.
pub(super) fn may_load(language: Language, import: &Import) -> bool {
    let name = name(written(import).as_bytes());
    if is_read_as(language, name) {
        return false;
    }
    let has_ending = name.iter().rposition(|&byte| byte == b'.').is_some_and(|at| at > 0);
    match language {
        // A library's own headers may have no ending, too.
        Language::C => import.kind == ImportKind::Include && (import.raw.starts_with('"') || has_ending),
        // Without an ending it is a module's name, or a file that only counts where it changed.
        Language::JavaScript => {
            let is_own = import.raw.starts_with('#') || import.raw.starts_with('.') && has_ending && name != b"..";
            is_own && (import.kind == ImportKind::Require || is_bundled(import) && !is_asset(name))
        }
        Language::Rust | Language::Php | Language::Python => import.kind == ImportKind::Include,
        _ => false,
    }
}

/// Whether the import may be one of a package of the repository's own, by its name.
fn may_be_member(import: &Import) -> bool {
    !import.identity.is_empty()
        && !import.raw.starts_with(['.', '/'])
        && !import.raw.contains(':')
        && (import.kind == ImportKind::Require || is_bundled(import))
}

/// Whether the folders around a file have packages of their own, so that it takes the index of the tree to tell what
/// a bare name loads.
fn is_in_workspace(own: &Resolvers, path: &[u8]) -> Result<bool, Unreadable> {
    let tree = own.candidate_tree;
    for folder in upward(path) {
        for name in [&b"pnpm-workspace.yaml"[..], b"lerna.json"] {
            if lookup(tree, &join(folder, name))?.is_some() {
                return Ok(true);
            }
        }
        if let Some(text) = manifest(tree, &join(folder, b"package.json"))? {
            let says = |word: &[u8]| memchr::memmem::find(&text, word).is_some();
            if says(b"\"workspaces\"") || says(b"\"exports\"") || says(b"file:") || says(b"link:") {
                return Ok(true);
            }
        }
    }
    Ok(false)
}

/// Whether `import` in one of its forms loads it.
pub(super) fn is_bundled(import: &Import) -> bool {
    matches!(
        import.kind,
        ImportKind::Static | ImportKind::ReExport | ImportKind::Dynamic
    )
}

pub(super) fn is_asset(name: &[u8]) -> bool {
    let name = name.split(|byte| b"?#".contains(byte)).next().unwrap_or_default();
    let ending = name.rsplit(|&byte| byte == b'.').next().unwrap_or_default();
    ASSETS
        .split_whitespace()
        .any(|known| ending.eq_ignore_ascii_case(known.as_bytes()))
}

/// The files that an import may load.
pub(super) fn places(
    own: &mut Resolvers,
    language: Language,
    import: &Import,
    from: &[u8],
) -> Result<Vec<Vec<u8>>, Unreadable> {
    // What lies where it says needs no index of the tree, unless a link leads to the file that says so.
    if language == Language::JavaScript
        && import.raw.starts_with('.')
        && !import.raw.contains(['%', '!', '\\', '#', '?'])
    {
        let folder = from.iter().rposition(|&byte| byte == b'/').unwrap_or(0);
        if let Some(path) = follow(&from[..folder], import.raw.as_bytes())
            && regular(own.candidate_tree, &path)?.is_some()
            && regular(own.candidate_tree, from)?.is_some()
        {
            return Ok(vec![path]);
        }
    }
    Ok(match own.candidate.resolve(language, import, from)? {
        Target::Local(places) => places,
        Target::External | Target::Unresolved(_) => Vec::new(),
    })
}

/// Whether the name alone makes the file source of the language, or data to it.
pub(super) fn is_read_as(language: Language, path: &[u8]) -> bool {
    let is_named =
        imports::language(path) == Some(language) && !imports::is_ambiguous(path) && !imports::is_template(path);
    let is_data = language == Language::JavaScript && (path.ends_with(b".json") || path.ends_with(b".node"));
    is_named || is_data
}

/// The file at a path.
pub(super) fn regular(tree: &dyn Tree, path: &[u8]) -> Result<Option<Side>, Unreadable> {
    let entry = lookup(tree, path)?;
    let side = entry.map(|entry| Side {
        kind: entry.kind,
        id: entry.id,
    });
    Ok(side.filter(is_regular))
}

/// What an import names, without delimiters.
pub(super) fn written(import: &Import) -> &str {
    import.raw.trim_matches(['"', '<', '>'])
}

/// The last part of a path.
pub(super) fn name(path: &[u8]) -> &[u8] {
    path.rsplit(|byte| matches!(byte, b'/' | b'\\')).next().unwrap_or(path)
}

/// Whether JavaScript cannot begin as this does: a byte that stands in no text, or is none of UTF-8's, before any
/// comment or string could hide it.
pub(super) fn is_no_script(tree: &dyn Tree, id: &Oid) -> Result<bool, Unreadable> {
    if tree.blob_size(id)? > MAX_IMAGE {
        return Ok(false);
    }
    let content = tree.blob(id)?;
    let start = &content[..content.len().min(64)];
    let end = start
        .iter()
        .position(|byte| b"/'\"`#<-".contains(byte))
        .unwrap_or(start.len());
    let is_none = |byte: &u8| matches!(byte, 0..=8 | 14..=31 | 0x80..=0xc1 | 0xf5..=0xff);
    let has_none = match std::str::from_utf8(&start[..end]) {
        Ok(text) => text.as_bytes().iter().any(|byte| matches!(byte, 0..=8 | 14..=31)),
        Err(error) => start[..=error.valid_up_to()].iter().any(is_none),
    };
    Ok(has_none)
}

/// Larger ones (bytes) are not read to be told from source.
const MAX_IMAGE: u64 = 10 << 20;

//! What the blobs of a change say, each read once, in bulk and by several threads.
//!
//! Invariants: the survey only ever says what a rule would find out by reading the blob itself, and a rule that asks for
//! what is not here reads it. So it can leave out whatever it likes: what cannot be read or is large, what would take
//! too much memory, and all of a tree that has no blobs for several threads. The order in which blobs are read changes
//! nothing of what a verdict says.

use std::cell::RefCell;
use std::collections::HashMap;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use super::content::is_plain;
use super::imports::{self, Import, Language, Opaque};
use super::manifests::{InlineList, Mentions, inline_list};
use super::policy::Stance;
use super::rules::{is_regular, is_told_elsewhere, may_be_loaded_as_another, reads_imports};
use super::tree::Blobs;
use super::{Change, Oid, Policy, Tree, credentials};

/// Larger blobs (bytes) are left to the rules: each thread holds one at a time.
const MAX_BLOB: u64 = 4 * 1024 * 1024;
/// Imports that are kept; a rule reads the other files again. One takes about 250 bytes.
const MAX_IMPORTS: usize = 250_000;
/// Fewer blobs than this are read by one thread.
const FEW: usize = 8;
/// Blobs that a thread takes at a time: neighbours in a pack, so that each finds what the one before it is made of.
const RUN: usize = 32;

/// What is asked of each blob besides what every rule about content asks.
#[derive(Default)]
pub(super) struct Wants<'a> {
    /// Whose areas' imports are read.
    pub(super) imports: Option<&'a Policy>,
    /// Names that a manifest must not declare.
    pub(super) mentions: Option<Mentions>,
}

/// What is known of a candidate's changed files, by their paths.
#[derive(Default)]
pub(super) struct Survey(HashMap<Vec<u8>, Seen>);

/// What one file says.
struct Seen {
    id: Oid,
    is_plain: bool,
    has_credential: bool,
    mentions: bool,
    /// See [`is_told_elsewhere`]; `None` where imports are not judged.
    is_told_elsewhere: Option<bool>,
    inline: InlineList,
    is_of_one_language: bool,
    /// Whether its language and imports were asked for.
    reads_imports: bool,
    language: Option<Language>,
    imports: RefCell<Option<Result<Vec<Import>, Opaque>>>,
}

/// One blob to read.
struct Job<'a> {
    path: &'a [u8],
    id: Oid,
    reads_imports: bool,
}

impl Survey {
    /// Reads what the change puts into the candidate.
    pub(super) fn of(candidate: &dyn Tree, changes: &[Change], wants: &Wants) -> Survey {
        let Some(blobs) = candidate.blobs() else {
            return Survey::default();
        };
        let jobs: Vec<Job> = changes.iter().filter_map(|change| job(change, wants)).collect();
        let places = match jobs.len() {
            0..FEW => vec![0; jobs.len()],
            _ => blobs.order(&jobs.iter().map(|job| job.id).collect::<Vec<_>>()),
        };
        let mut jobs: Vec<(u64, Job)> = places.into_iter().zip(jobs).collect();
        jobs.sort_by_key(|(place, _)| *place);
        let threads = match jobs.len() {
            0..FEW => 1,
            count => blobs.threads().min(count / (FEW / 2)).max(1),
        };
        // A few at a time, so that who starts late or has the large ones is waited for the least.
        let run = RUN.min(jobs.len().div_ceil(threads * 4)).max(1);
        let (next, imports) = (AtomicUsize::new(0), AtomicUsize::new(0));
        let seen = Mutex::new(HashMap::with_capacity(jobs.len()));
        let work = || {
            loop {
                let start = next.fetch_add(run, Ordering::Relaxed);
                let Some(mine) = jobs.get(start..).filter(|rest| !rest.is_empty()) else {
                    return;
                };
                for (_, job) in mine.iter().take(run) {
                    let Some(found) = look(&*blobs, job, wants, &imports) else {
                        continue;
                    };
                    // A thread that panicked takes the others with it, by the scope.
                    if let Ok(mut seen) = seen.lock() {
                        seen.insert(job.path.to_vec(), found);
                    }
                }
            }
        };
        std::thread::scope(|scope| {
            for _ in 1..threads {
                // Where no further thread can be had, this one does it all.
                let _ = std::thread::Builder::new().spawn_scoped(scope, work);
            }
            work();
        });
        Survey(seen.into_inner().unwrap_or_default())
    }

    /// Whether the file is known to be text in which nothing hides.
    pub(super) fn is_plain(&self, path: &[u8], id: &Oid) -> bool {
        self.get(path, id).is_some_and(|seen| seen.is_plain)
    }

    /// Whether the file is known to hold nothing that looks like a credential.
    pub(super) fn has_no_credential(&self, path: &[u8], id: &Oid) -> bool {
        self.get(path, id).is_some_and(|seen| !seen.has_credential)
    }

    /// Whether the file is known to say nothing, whatever manifest it may be read as, that [`Wants::mentions`] names.
    pub(super) fn mentions_nothing(&self, path: &[u8], id: &Oid) -> bool {
        self.get(path, id).is_some_and(|seen| !seen.mentions)
    }

    /// What [`is_told_elsewhere`] says of the file; `None` where that is not known here.
    pub(super) fn is_told_elsewhere(&self, path: &[u8], id: &Oid) -> Option<bool> {
        self.get(path, id)?.is_told_elsewhere
    }

    /// Whether the file is known to be of no other language than its name tells, for all that the rules ask.
    pub(super) fn is_of_one_language(&self, path: &[u8], id: &Oid) -> bool {
        self.get(path, id).is_some_and(|seen| seen.is_of_one_language)
    }

    /// What the file says about dependencies besides its code; `None` where that is not known here.
    pub(super) fn inline(&self, path: &[u8], id: &Oid) -> Option<InlineList> {
        self.get(path, id).map(|seen| seen.inline)
    }

    /// What the file is written in, as far as name and content tell; `None` where that is not known here.
    pub(super) fn language(&self, path: &[u8], id: &Oid) -> Option<Option<Language>> {
        let seen = self.get(path, id).filter(|seen| seen.reads_imports)?;
        Some(seen.language)
    }

    /// The imports of the file, read as this language. They are given away.
    pub(super) fn imports(&self, path: &[u8], id: &Oid, language: Language) -> Option<Result<Vec<Import>, Opaque>> {
        let seen = self.get(path, id).filter(|seen| seen.language == Some(language))?;
        seen.imports.take()
    }

    fn get(&self, path: &[u8], id: &Oid) -> Option<&Seen> {
        self.0.get(path).filter(|seen| seen.id == *id)
    }
}

fn job<'a>(change: &'a Change, wants: &Wants) -> Option<Job<'a>> {
    let after = change.after.filter(is_regular)?;
    let is_as_before = change.before.is_some_and(|before| before.id == after.id);
    let path = change.path.as_slice();
    let reads_imports = wants.imports.is_some_and(|policy| {
        let is_source = imports::language(path).is_some() || imports::unread(path).is_none();
        is_source && reads_imports(policy, path) && !(is_as_before && policy.existing == Stance::Allow)
    });
    (reads_imports || !is_as_before).then_some(Job {
        path,
        id: after.id,
        reads_imports,
    })
}

fn look(blobs: &dyn Blobs, job: &Job, wants: &Wants, imports: &AtomicUsize) -> Option<Seen> {
    let content = blobs.content(&job.id, MAX_BLOB)?;
    let language = match job.reads_imports {
        true => imports::language_of(job.path, &content),
        false => None,
    };
    // Roughly: threads that meet here may keep a few more.
    let found = language
        .filter(|_| imports.load(Ordering::Relaxed) < MAX_IMPORTS)
        .map(|language| imports::imports_at(job.path, language, &content));
    if let Some(Ok(found)) = &found {
        imports.fetch_add(found.len(), Ordering::Relaxed);
    }
    Some(Seen {
        id: job.id,
        is_plain: is_plain(&content),
        has_credential: !credentials::search(&content).is_empty(),
        mentions: wants
            .mentions
            .as_ref()
            .is_none_or(|mentions| mentions.stand_in(job.path, &content)),
        is_told_elsewhere: (wants.imports).map(|policy| is_told_elsewhere(policy, job.path, &content)),
        inline: match wants.mentions {
            Some(_) => inline_list(job.path, &content),
            None => InlineList::Nothing,
        },
        is_of_one_language: wants
            .imports
            .is_some_and(|policy| !may_be_loaded_as_another(policy, job.path, &content)),
        reads_imports: job.reads_imports,
        language,
        imports: RefCell::new(found),
    })
}

#[cfg(test)]
#[path = "survey_tests.rs"]
mod tests;

//! Ranges of commits, walked over the raw commit objects.
//!
//! Invariants: a commit that is named and cannot be read is an error, never the end of a list; a
//! commit is left out of a range only because it was reached from the base. Grafts, replace refs
//! and commit-graph files have no say in who a commit's parents are (libgit2's own walk believes
//! grafts and ends quietly where a shallow clone does).

use std::cell::RefCell;
use std::collections::{BinaryHeap, HashMap, HashSet};
use std::rc::Rc;

use anyhow::Result;
use git2::{ErrorCode, Oid, Repository};

use crate::exit::{Exit, Stop};

use super::from_git2;
use super::loose::{Loose, OBSTRUCTED};
use super::repo::Checkout;

/// Reached from the base, from the head, from a merge base.
const BASE: u8 = 1;
const HEAD: u8 = 2;
const STALE: u8 = 4;

/// How far clocks of committers may disagree, in seconds, and how many commits are read beyond
/// that. A walk that ends too early takes commits of the base for the head's own: it blames too
/// many, and never passes one over.
const SKEW: i64 = 24 * 3600;
const BEYOND: usize = 10_000;

/// `merge base..head`.
#[derive(Clone, Debug)]
pub struct Range {
    /// The best common ancestors of base and head; more than one after criss-cross merges.
    pub merge_bases: Vec<Oid>,
    /// Reachable from the head and not from the base, newest first.
    pub commits: Vec<Oid>,
}

/// What the walk needs of a commit.
struct Node {
    parents: Vec<Oid>,
    /// Committer's time, seconds since 1970; 0 where there is none.
    time: i64,
}

/// The commits of a clone.
pub struct Graph<'a> {
    odb: git2::Odb<'a>,
    loose: Loose,
    is_shallow: bool,
    known: RefCell<HashMap<Oid, Rc<Node>>>,
}

/// Where a walk from two commits came.
struct Painted {
    /// Reached from the head only.
    ahead: Vec<Oid>,
    /// Best common ancestors.
    common: Vec<Oid>,
    /// A commit of `ahead` whose parents this shallow clone does not have.
    cut: Option<Oid>,
    /// Whether the history of either side ends where the clone is shallow.
    ends_early: bool,
}

impl<'a> Graph<'a> {
    /// The graph of this checkout's clone.
    pub fn of(checkout: &'a Checkout) -> Result<Graph<'a>> {
        let odb = checkout.repo.odb().map_err(|error| {
            Stop::new(
                Exit::PolicyUnusable,
                format!("the object store cannot be read: {}", error.message()),
            )
        })?;
        Ok(Graph {
            odb,
            loose: Loose::of_repo(&checkout.repo),
            is_shallow: is_shallow(checkout),
            known: RefCell::default(),
        })
    }

    /// The parents that the commit object itself names.
    pub fn parents(&self, commit: Oid) -> Result<Vec<Oid>> {
        Ok(self.node(commit)?.parents.clone())
    }

    /// The message as it is stored, NUL bytes included.
    pub fn message(&self, commit: Oid) -> Result<Vec<u8>> {
        let raw = self.raw(commit)?;
        let end = raw.windows(2).position(|pair| pair == b"\n\n");
        Ok(end.map_or(Vec::new(), |end| raw[end + 2..].to_vec()))
    }

    /// The range from where `head` left `base`.
    ///
    /// # Errors
    /// Exit 2 where there is no common ancestor or the history of the range is not complete.
    pub fn range(&self, base: Oid, head: Oid) -> Result<Range> {
        let painted = self.paint(base, head)?;
        if let Some(cut) = painted.cut {
            let message =
                format!("the history of the range is not complete: the parents of {cut} are not in this clone");
            return Err(fetch_all(Stop::new(Exit::PolicyUnusable, message)).into());
        }
        if painted.common.is_empty() {
            let stop = Stop::new(Exit::PolicyUnusable, format!("no merge base of {base} and {head}"));
            return Err(match painted.ends_early {
                true => fetch_all(stop).into(),
                false => stop
                    .hint("the two have no history in common; name another base: agentgate check --base BRANCH")
                    .into(),
            });
        }
        Ok(Range {
            merge_bases: painted.common,
            commits: painted.ahead,
        })
    }

    /// Whether `commit` is `tip` or one of its ancestors, as far as the history is here.
    pub fn contains(&self, tip: Oid, commit: Oid) -> Result<bool> {
        Ok(self.paint(tip, commit)?.ahead.is_empty())
    }

    /// Walks from both tips, newest first, until nothing that is left could change the answer.
    fn paint(&self, base: Oid, head: Oid) -> Result<Painted> {
        let mut flags: HashMap<Oid, u8> = HashMap::new();
        let mut queue: BinaryHeap<(i64, Oid)> = BinaryHeap::new();
        let (mut common, mut cut) = (HashSet::new(), HashSet::new());
        for (tip, flag) in [(base, BASE), (head, HEAD)] {
            *flags.entry(tip).or_default() |= flag;
            queue.push((self.node(tip)?.time, tip));
        }
        let (mut horizon, mut beyond) = (None, 0);
        while let Some(&(time, _)) = queue.peek() {
            if queue.iter().all(|(_, id)| flags[id] & STALE != 0) {
                // Common history only, from here on. With wrong clocks it may still lead to what
                // was taken for the head's own, so go on until all is older than that.
                let horizon = *horizon.get_or_insert_with(|| self.oldest(&flags, &common).saturating_sub(SKEW));
                beyond += usize::from(time < horizon);
                if beyond > BEYOND {
                    break;
                }
            }
            let Some((_, id)) = queue.pop() else { break };
            let mut paint = flags[&id];
            if paint == BASE | HEAD {
                common.insert(id);
                paint |= STALE;
            }
            for parent in &self.node(id)?.parents {
                let time = match self.node(*parent) {
                    Ok(node) => node.time,
                    Err(error) if self.is_shallow && self.is_absent(*parent) => {
                        drop(error);
                        cut.insert(id);
                        continue;
                    }
                    Err(error) => return Err(error),
                };
                let seen = flags.entry(*parent).or_default();
                if *seen | paint != *seen {
                    *seen |= paint;
                    queue.push((time, *parent));
                }
            }
        }
        common.retain(|id| flags[id] & STALE == 0);
        let mut ahead: Vec<Oid> = flags.iter().filter(|(_, f)| **f == HEAD).map(|(id, _)| *id).collect();
        let mut common: Vec<Oid> = common.into_iter().collect();
        self.sort(&mut ahead)?;
        self.sort(&mut common)?;
        Ok(Painted {
            cut: ahead.iter().copied().find(|id| cut.contains(id)),
            ends_early: !cut.is_empty(),
            ahead,
            common,
        })
    }

    /// Time of the oldest commit that a longer walk might still take away from its set.
    fn oldest(&self, flags: &HashMap<Oid, u8>, common: &HashSet<Oid>) -> i64 {
        let open = flags.iter().filter(|(id, f)| **f == HEAD || common.contains(id));
        let times = open.filter_map(|(id, _)| self.known.borrow().get(id).map(|node| node.time));
        times.min().unwrap_or(i64::MAX / 2)
    }

    /// Newest first; equal times by id, so that two runs print the same.
    fn sort(&self, commits: &mut Vec<Oid>) -> Result<()> {
        let mut dated = Vec::with_capacity(commits.len());
        for id in commits.drain(..) {
            dated.push((self.node(id)?.time, id));
        }
        dated.sort_unstable_by(|a, b| b.cmp(a));
        commits.extend(dated.into_iter().map(|(_, id)| id));
        Ok(())
    }

    fn node(&self, commit: Oid) -> Result<Rc<Node>> {
        if let Some(node) = self.known.borrow().get(&commit) {
            return Ok(node.clone());
        }
        let node = Rc::new(parse(&self.raw(commit)?).ok_or_else(|| unreadable(commit, "it is damaged"))?);
        self.known.borrow_mut().insert(commit, node.clone());
        Ok(node)
    }

    /// The commit object as it is stored.
    pub fn raw(&self, commit: Oid) -> Result<Vec<u8>> {
        if self.loose.is_obstructed(&from_git2(commit)) {
            return Err(unreadable(commit, OBSTRUCTED).into());
        }
        let object = self
            .odb
            .read(commit)
            .map_err(|error| unreadable(commit, error.message()))?;
        if object.kind() != git2::ObjectType::Commit {
            return Err(unreadable(commit, "it is no commit").into());
        }
        Ok(object.data().to_vec())
    }

    fn is_absent(&self, commit: Oid) -> bool {
        !self.odb.exists(commit)
    }
}

/// Parents and time of a raw commit: parents are the lines right after the tree, as git reads it.
fn parse(raw: &[u8]) -> Option<Node> {
    let mut parents = Vec::new();
    let mut lines = raw.split(|&b| b == b'\n');
    lines.next()?.strip_prefix(b"tree ")?;
    let mut time = 0;
    for line in lines {
        if let Some(id) = line.strip_prefix(b"parent ") {
            parents.push(Oid::from_str(std::str::from_utf8(id).ok()?).ok()?);
        } else if let Some(committer) = line.strip_prefix(b"committer ") {
            let seconds = committer.rsplit(|&b| b == b' ').nth(1);
            let seconds = seconds.and_then(|text| std::str::from_utf8(text).ok()?.parse().ok());
            time = seconds.unwrap_or(0);
            break;
        } else if line.is_empty() {
            break;
        }
    }
    Some(Node { parents, time })
}

fn unreadable(commit: Oid, why: &str) -> Stop {
    Stop::new(Exit::PolicyUnusable, format!("commit {commit} cannot be read: {why}")).hint(
        "git fsck shows what else is missing; a whole clone has it: fetch-depth: 0 (GitHub Actions), GIT_DEPTH: 0 (GitLab CI), or git fetch --unshallow origin",
    )
}

/// What to say first where history is missing in a shallow clone.
pub const SHALLOW: &str =
    "this clone is shallow: check out with fetch-depth: 0 (GitHub Actions), GIT_DEPTH: 0 (GitLab CI), or type";

/// Whether the clone has only a part of its history.
pub fn is_shallow(checkout: &Checkout) -> bool {
    checkout.common.join("shallow").exists()
}

fn fetch_all(stop: Stop) -> Stop {
    stop.hint(SHALLOW).hint("git fetch --unshallow origin")
}

/// The commit that a revision names; `None` where it names none here. A revision that begins with
/// `-` is none: it would be an option elsewhere.
///
/// # Errors
/// Exit 2 for a name that several refs have, since a tag can stand before the branch that was
/// meant, and where the repository cannot be read.
pub fn resolve(repo: &Repository, revision: &str) -> Result<Option<Oid>> {
    if revision.is_empty() || revision.starts_with('-') || revision.contains('\0') {
        return Ok(None);
    }
    let mut named: Vec<(String, Oid)> = Vec::new();
    for folder in ["refs/tags/", "refs/heads/", "refs/remotes/"] {
        let name = format!("{folder}{revision}");
        if let Some(commit) = of_ref(repo, &name)? {
            named.push((name, commit));
        }
    }
    if let Some((first, commit)) = named.first()
        && let Some((other, _)) = named.iter().find(|(_, id)| id != commit)
    {
        return Err(
            Stop::new(Exit::PolicyUnusable, format!("{revision} is both {first} and {other}"))
                .hint("name the ref in full, such as refs/heads/main")
                .into(),
        );
    }
    if let Ok(id) = Oid::from_str(revision) {
        readable(repo, id)?;
    }
    match repo.revparse_single(revision) {
        Ok(object) => Ok(object.peel_to_commit().ok().map(|commit| commit.id())),
        Err(error) if is_nothing(&error) => Ok(None),
        Err(error) => Err(Stop::new(
            Exit::PolicyUnusable,
            format!("{revision} cannot be resolved: {}", error.message()),
        )
        .into()),
    }
}

/// The commit of a ref by its full name.
pub fn of_ref(repo: &Repository, name: &str) -> Result<Option<Oid>> {
    if !git2::Reference::is_valid_name(name) {
        return Ok(None);
    }
    let found = repo.find_reference(name);
    let target = found
        .as_ref()
        .ok()
        .and_then(|reference| reference.target_peel().or(reference.target()));
    if let Some(target) = target {
        readable(repo, target)?;
    }
    match found.and_then(|reference| reference.peel(git2::ObjectType::Commit)) {
        Ok(object) => Ok(Some(object.id())),
        Err(error) if is_nothing(&error) => Ok(None),
        Err(error) => Err(Stop::new(
            Exit::PolicyUnusable,
            format!("{name} cannot be read: {}", error.message()),
        )
        .into()),
    }
}

/// That git can read this object without waiting for what stands in its place.
///
/// # Errors
/// Exit 2.
pub(super) fn readable(repo: &Repository, id: Oid) -> Result<(), Stop> {
    match Loose::of_repo(repo).is_obstructed(&from_git2(id)) {
        true => Err(unreadable(id, OBSTRUCTED)),
        false => Ok(()),
    }
}

fn is_nothing(error: &git2::Error) -> bool {
    matches!(
        error.code(),
        ErrorCode::NotFound | ErrorCode::InvalidSpec | ErrorCode::Ambiguous | ErrorCode::Peel
    )
}

/// `A..B` and `A...B` in two; `None` for a single revision.
pub fn split(range: &str) -> Option<(&str, &str)> {
    range.split_once("...").or_else(|| range.split_once(".."))
}

//! What a range is compared with, and how that was found.

use std::path::Path;

use anyhow::Result;
use git2::{Oid, Repository};

use super::Options;
use crate::commands::Surroundings;
use crate::confine::{Mode, Network};
use crate::exit::{Exit, Stop};
use crate::git::range::{self, Graph};
use crate::git::repo::Checkout;
use crate::git::shell;

/// The start of a range.
pub(super) struct Base {
    /// The commit.
    pub(super) commit: Oid,
    /// How it was found, in words.
    pub(super) from: String,
    /// The branch it was named by, without the remote.
    branch: Option<String>,
}

/// Variables in which CIs name the branch that a change is for.
const TARGETS: [&str; 3] = [
    "GITHUB_BASE_REF",
    "CI_MERGE_REQUEST_TARGET_BRANCH_NAME",
    "CHANGE_TARGET",
];

/// Where `agentgate` looks before it gives up, for the hint.
const ORDER: &str =
    "looked at: --base, INVARIANT_BASE, GITHUB_BASE_REF, CI_MERGE_REQUEST_DIFF_BASE_SHA, CHANGE_TARGET, origin/HEAD";

/// What CIs call a whole clone.
const FETCHED: &str = "in GitHub Actions: fetch-depth: 0 of actions/checkout; in GitLab CI: GIT_DEPTH: 0";

/// Branches that the hint names.
const MAX_NAMED: usize = 3;

/// Finds the base: what was given (option and value), else the environment, else the remote's
/// default branch. The first that is set counts: a base that cannot be resolved is an error and
/// never a reason to look further.
pub(super) fn find(
    checkout: &Checkout,
    graph: &Graph,
    surroundings: &Surroundings,
    given: Option<(&str, &str)>,
    head: Oid,
) -> Result<Base> {
    let base = resolve(checkout, graph, surroundings, given, head).map_err(|error| deepen(checkout, error))?;
    match test_merge(checkout, graph, surroundings, &base, head)? {
        None => Ok(base),
        Some((commit, why)) => Ok(Base {
            commit,
            from: format!("{}; first parent of the test merge {head}, {why}", base.from),
            branch: None,
        }),
    }
}

/// The same error with the other options as they were typed in each line that names a base.
pub(super) fn typed(error: anyhow::Error, options: &Options) -> anyhow::Error {
    let mut stop = match error.downcast::<Stop>() {
        Ok(stop) => stop,
        Err(error) => return error,
    };
    let others = others(options);
    // Such a line ends with the base.
    for hint in stop
        .hints
        .iter_mut()
        .filter(|hint| hint.contains("agentgate check --base "))
    {
        hint.push_str(&others);
    }
    stop.into()
}

/// The options of `check` but for the base, each with a blank before it.
fn others(options: &Options) -> String {
    let mut words: Vec<String> = Vec::new();
    let mut push = |option: &str, value: Option<&Path>| {
        words.push(option.to_owned());
        words.extend(value.map(shell));
    };
    let head = options.range.as_deref().and_then(range::split).map(|(_, right)| right);
    let head = head.unwrap_or(&options.head);
    if !matches!(head, "" | "HEAD") {
        push("--head", Some(Path::new(head)));
    }
    if let Some(task) = &options.task {
        push("--task", Some(task));
    }
    if options.allow_policy_change {
        push("--allow-policy-change", None);
    }
    if let Some(checks) = &options.checks {
        push("--checks", None);
        for name in &checks.asked.pass_env {
            push("--pass-env", Some(Path::new(name)));
        }
        if let Some(mode) = checks.asked.confinement {
            let mode = match mode {
                Mode::On => "on",
                Mode::Strict => "strict",
                Mode::Off => "off",
            };
            push("--confinement", Some(Path::new(mode)));
        }
        if let Some(network) = &checks.asked.network {
            let text = match network {
                Network::Ports(ports) => ports.iter().map(u16::to_string).collect::<Vec<_>>().join(","),
                network => network.to_string(),
            };
            push("--network", Some(Path::new(&text)));
        }
        if checks.asked.allow_unconfined {
            push("--allow-unconfined", None);
        }
    }
    if options.require_inspected {
        push("--require-inspected", None);
    }
    if options.verbose {
        push("--verbose", None);
    }
    words.iter().map(|word| format!(" {word}")).collect()
}

/// Tip of the branch that the CI names as the target, where the clone has it. A base given as an
/// id may lie far behind it, and its newest policy judges too.
pub(super) fn target_tip(repo: &Repository, surroundings: &Surroundings) -> Result<Option<Oid>> {
    for variable in TARGETS {
        if let Some(value) = surroundings.text(variable)? {
            let name = value.strip_prefix("refs/heads/").unwrap_or(&value);
            return range::of_ref(repo, &format!("refs/remotes/origin/{name}"));
        }
    }
    Ok(None)
}

/// In a shallow clone the missing history is the likely reason, so that is said first.
fn deepen(checkout: &Checkout, error: anyhow::Error) -> anyhow::Error {
    match error.downcast::<Stop>() {
        Ok(mut stop) if range::is_shallow(checkout) => {
            stop.hints
                .retain(|hint| !hint.contains(range::SHALLOW) && hint != FETCHED);
            stop.hints.insert(0, range::SHALLOW.to_owned());
            stop.hints.insert(1, "git fetch --unshallow origin".to_owned());
            stop.into()
        }
        Ok(stop) => stop.into(),
        Err(error) => error,
    }
}

fn resolve(
    checkout: &Checkout,
    graph: &Graph,
    surroundings: &Surroundings,
    given: Option<(&str, &str)>,
    head: Oid,
) -> Result<Base> {
    let repo = &checkout.repo;
    if let Some((option, value)) = given.filter(|(_, value)| !value.is_empty()) {
        return revision(repo, value, option);
    }
    if let Some(value) = surroundings.text("INVARIANT_BASE")? {
        return revision(repo, &value, "INVARIANT_BASE");
    }
    if let Some(value) = surroundings.text("GITHUB_BASE_REF")? {
        return match branch(repo, &value, "GITHUB_BASE_REF") {
            Ok(base) => Ok(base),
            // A checkout of few commits has no ref of the target, only the merge with it.
            Err(error) => match graph.parents(head)?.as_slice() {
                [first, _] if is_hosters_merge(surroundings, head)? => Ok(Base {
                    commit: *first,
                    from: format!("GITHUB_BASE_REF {value}, as merged into {head}"),
                    branch: None,
                }),
                _ => Err(error),
            },
        };
    }
    if let Some(value) = surroundings.text("CI_MERGE_REQUEST_DIFF_BASE_SHA")? {
        return revision(repo, &value, "CI_MERGE_REQUEST_DIFF_BASE_SHA");
    }
    if let Some(value) = surroundings.text("CHANGE_TARGET")? {
        return branch(repo, &value, "CHANGE_TARGET");
    }
    let found = |commit: Oid, from: &str| Base {
        commit,
        from: from.to_owned(),
        branch: branch_of(repo, from),
    };
    if let Some(commit) = range::of_ref(repo, "refs/remotes/origin/HEAD")? {
        return Ok(found(commit, "origin/HEAD"));
    }
    let main = range::of_ref(repo, "refs/remotes/origin/main")?;
    let master = range::of_ref(repo, "refs/remotes/origin/master")?;
    match (main, master) {
        (Some(commit), None) => Ok(found(commit, "origin/main")),
        (None, Some(commit)) => Ok(found(commit, "origin/master")),
        (both, _) => {
            let why = match both {
                Some(_) => "no base: there are both origin/main and origin/master",
                None => "no base to compare with",
            };
            let stop = Stop::new(Exit::PolicyUnusable, why);
            // Without a remote there is nothing to fetch, and one branch of the clone's own is the likely base.
            if both.is_none() && repo.remotes().is_ok_and(|remotes| remotes.is_empty()) {
                return Err(match own_branch(repo)? {
                    Some(name) => stop
                        .hint(format!("agentgate check --base {name}"))
                        .hint("this clone has no remote, so say which branch the change is for"),
                    None => stop
                        .hint("this clone has no remote, so say what it is compared with: agentgate check --base REV")
                        .hint("agentgate check --worktree   (what is not committed)")
                        .hint("agentgate check --all   (everything in HEAD)"),
                }
                .into());
            }
            let known = match both {
                Some(_) => vec!["origin/main".to_owned(), "origin/master".to_owned()],
                None => remote_branches(repo, head)?,
            };
            let stop = known.iter().take(MAX_NAMED).fold(stop, |stop, name| {
                stop.hint(format!("agentgate check --base {}", shell(Path::new(name))))
            });
            let stop = match both {
                Some(_) => stop,
                None => stop
                    .hint("git fetch origin '+refs/heads/*:refs/remotes/origin/*', then agentgate check --base origin/BRANCH")
                    .hint(FETCHED),
            };
            Err(stop.hint(ORDER).into())
        }
    }
}

/// The branches of `origin` that are here, sorted; without those at the head: a range from there is empty, and a CI that
/// was told of one branch has no other.
fn remote_branches(repo: &Repository, head: Oid) -> Result<Vec<String>> {
    let unreadable = |error: git2::Error| {
        Stop::new(
            Exit::PolicyUnusable,
            format!("the refs cannot be read: {}", error.message()),
        )
    };
    let mut names = Vec::new();
    for reference in repo.references_glob("refs/remotes/origin/*").map_err(unreadable)? {
        let reference = reference.map_err(unreadable)?;
        let name = reference
            .name_bytes()
            .strip_prefix(b"refs/remotes/")
            .unwrap_or_default();
        if let Ok(name) = std::str::from_utf8(name)
            && name != "origin/HEAD"
            && reference.target() != Some(head)
        {
            names.push(name.to_owned());
        }
    }
    names.sort();
    Ok(names)
}

/// `main` or `master` of the clone's own, where HEAD is on another branch.
fn own_branch(repo: &Repository) -> Result<Option<&'static str>> {
    let here = repo.find_reference("HEAD").ok();
    let here = here.as_ref().and_then(|head| head.symbolic_target().ok().flatten());
    for name in ["main", "master"] {
        let full = format!("refs/heads/{name}");
        if here != Some(full.as_str()) && range::of_ref(repo, &full)?.is_some() {
            return Ok(Some(name));
        }
    }
    Ok(None)
}

/// A base given as a revision.
fn revision(repo: &Repository, value: &str, from: &str) -> Result<Base> {
    match range::resolve(repo, value)? {
        Some(commit) => Ok(Base {
            commit,
            from: format!("{from} {value}"),
            branch: branch_of(repo, value),
        }),
        None => Err(unresolved(repo, value, from)?.into()),
    }
}

/// A base given as the name of a branch of the remote.
fn branch(repo: &Repository, value: &str, from: &str) -> Result<Base> {
    let name = value.strip_prefix("refs/heads/").unwrap_or(value);
    let base = |commit: Oid, full: &str| Base {
        commit,
        from: format!("{from} {value} ({full})"),
        branch: Some(name.to_owned()),
    };
    if name.starts_with('-') {
        return Err(unresolved(repo, value, from)?.into());
    }
    if let Some(commit) = range::of_ref(repo, &format!("refs/remotes/origin/{name}"))? {
        return Ok(base(commit, &format!("origin/{name}")));
    }
    let remotes = remotes_of(repo, name)?;
    match remotes.as_slice() {
        [] => revision(repo, name, from),
        [(full, commit), others @ ..] if others.iter().all(|(_, other)| other == commit) => Ok(base(*commit, full)),
        [(first, _), (second, _), ..] => Err(Stop::new(
            Exit::PolicyUnusable,
            format!("{from} {value} is both {first} and {second}"),
        )
        .hint(format!("agentgate check --base {first}"))
        .into()),
        [_] => unreachable!("a single one agrees with all the others"),
    }
}

/// The refs `refs/remotes/<any>/<name>`, sorted.
fn remotes_of(repo: &Repository, name: &str) -> Result<Vec<(String, Oid)>> {
    let unreadable = |error: git2::Error| {
        Stop::new(
            Exit::PolicyUnusable,
            format!("the refs cannot be read: {}", error.message()),
        )
    };
    let mut found = Vec::new();
    for reference in repo.references().map_err(unreadable)? {
        let full = String::from_utf8_lossy(reference.map_err(unreadable)?.name_bytes()).into_owned();
        let rest = full.strip_prefix("refs/remotes/").and_then(|rest| rest.split_once('/'));
        if rest.is_some_and(|(_, branch)| branch == name)
            && let Some(commit) = range::of_ref(repo, &full)?
        {
            found.push((full, commit));
        }
    }
    found.sort();
    Ok(found)
}

fn unresolved(repo: &Repository, value: &str, from: &str) -> Result<Stop> {
    let stop = Stop::new(
        Exit::PolicyUnusable,
        format!("the base {value:?} (from {from}) names no commit of this clone"),
    );
    if !value.is_empty() && value.bytes().all(|byte| byte == b'0') {
        return Ok(stop.hint("zeros stand for a branch that is new: agentgate check --base BRANCH"));
    }
    if !git2::Reference::is_valid_name(&format!("refs/heads/{value}")) || value.starts_with('-') {
        return Ok(stop.hint("agentgate check --base BRANCH"));
    }
    if range::of_ref(repo, &format!("refs/remotes/origin/{value}"))?.is_some() {
        return Ok(stop.hint(format!("agentgate check --base origin/{value}")));
    }
    if value.len() >= 7 && value.bytes().all(|byte| byte.is_ascii_hexdigit()) {
        return Ok(stop
            .hint("after a force push the old commit is no longer fetched by itself")
            .hint(format!("git fetch origin {value}")));
    }
    let name = value.strip_prefix("origin/").unwrap_or(value);
    let line = format!("git fetch origin '+refs/heads/{name}:refs/remotes/origin/{name}'");
    Ok(stop.hint(line).hint(format!("agentgate check --base origin/{name}")))
}

/// The branch that a revision is the name of; `None` for an id or an expression.
fn branch_of(repo: &Repository, revision: &str) -> Option<String> {
    let is_ref = |name: &str| repo.find_reference(name).is_ok();
    let short = revision.strip_prefix("refs/heads/").unwrap_or(revision);
    if is_ref(&format!("refs/heads/{short}")) {
        return Some(short.to_owned());
    }
    let remote = revision.strip_prefix("refs/remotes/").unwrap_or(revision);
    let name = remote.split_once('/').map(|(_, name)| name)?;
    is_ref(&format!("refs/remotes/{remote}")).then(|| name.to_owned())
}

/// The first parent of a hoster's test merge, where the range starts then: the base that CI was
/// told may be hours older, and others' commits between the two are not the change under test.
///
/// Nothing unjudged is passed over: that parent must descend from the base, and either lie in the
/// default branch itself or be named by the hoster as what it merged into.
fn test_merge(
    checkout: &Checkout,
    graph: &Graph,
    surroundings: &Surroundings,
    base: &Base,
    head: Oid,
) -> Result<Option<(Oid, String)>> {
    let parents = graph.parents(head)?;
    let [first, second] = parents[..] else {
        return Ok(None);
    };
    // Where the base has the first parent already, the range leaves it out by itself.
    let Ok(base_has_first) = graph.contains(base.commit, first) else {
        return Ok(None);
    };
    if base_has_first || !graph.contains(first, base.commit)? {
        return Ok(None);
    }
    if is_hosters_merge(surroundings, head)? {
        return Ok(Some((first, "as GITHUB_REF says".to_owned())));
    }
    for (name, tip) in default_branches(&checkout.repo, surroundings, base)? {
        if graph.contains(tip, first)? && !graph.contains(tip, second)? {
            return Ok(Some((first, format!("which {name} has"))));
        }
    }
    Ok(None)
}

/// GITHUB_REF alone does not prove it: a workflow may check out the pull request's own head, and
/// that can be a merge of whatever its author likes.
fn is_hosters_merge(surroundings: &Surroundings, head: Oid) -> Result<bool> {
    let reference = surroundings.text("GITHUB_REF")?.unwrap_or_default();
    let number = reference
        .strip_prefix("refs/pull/")
        .and_then(|rest| rest.strip_suffix("/merge"));
    let is_pull = number.is_some_and(|number| !number.is_empty() && number.bytes().all(|b| b.is_ascii_digit()));
    Ok(is_pull
        && surroundings
            .text("GITHUB_SHA")?
            .is_some_and(|sha| sha == head.to_string()))
}

/// The branches whose commits were judged when they landed: the target of the merge where the CI
/// names it, else the remote's default branch.
fn default_branches(repo: &Repository, surroundings: &Surroundings, base: &Base) -> Result<Vec<(String, Oid)>> {
    let mut names = Vec::new();
    for variable in TARGETS {
        if let Some(target) = surroundings.text(variable)? {
            names.push(format!("refs/remotes/origin/{target}"));
        }
    }
    if names.is_empty() {
        let origin_head = repo.find_reference("refs/remotes/origin/HEAD").ok();
        let origin_head = origin_head
            .as_ref()
            .and_then(|head| head.symbolic_target_bytes())
            .and_then(|target| std::str::from_utf8(target.strip_prefix(b"refs/remotes/origin/")?).ok());
        let is_default = |name: &str| matches!(name, "HEAD" | "main" | "master") || Some(name) == origin_head;
        if base.branch.as_deref().is_some_and(|branch| !is_default(branch)) {
            // The change goes to another branch, where the default one's commits are news.
            return Ok(Vec::new());
        }
        let has_remotes = repo
            .references_glob("refs/remotes/*")
            .is_ok_and(|mut refs| refs.next().is_some());
        let known: &[&str] = match has_remotes {
            true => &[
                "refs/remotes/origin/HEAD",
                "refs/remotes/origin/main",
                "refs/remotes/origin/master",
            ],
            false => &["refs/heads/main", "refs/heads/master"],
        };
        names.extend(known.iter().map(|name| (*name).to_owned()));
    }
    let mut found = Vec::new();
    for name in names {
        if let Some(tip) = range::of_ref(repo, &name)? {
            let short = name.strip_prefix("refs/remotes/").or(name.strip_prefix("refs/heads/"));
            found.push((short.unwrap_or(&name).to_owned(), tip));
        }
    }
    Ok(found)
}

//! What a job is made of, read and refused one by one: id, task, rules, command, labels, folders, lock.

use std::collections::hash_map::RandomState;
use std::hash::{BuildHasher, Hasher};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};

use super::Options;
use crate::agent::command::Source;
use crate::agent::effective::Effective;
use crate::agent::settings::{Person, Settings};
use crate::commands::{Surroundings, Watch};
use crate::exit::{Exit, Stop};
use crate::gate::policy::PolicyError;
use crate::gate::{self, GateError, POLICY_PATH, Policy, Rule, SETTINGS_PATH, Tree};
use crate::git::places::{Places, chosen_root, jobs_root};
use crate::git::repo::Checkout;
use crate::git::shell;
use crate::git::tree::GitTree;
use crate::git::worktree::in_the_way;
use crate::lock::{CloneLock, Holder, LockError, LockGuard, Wait};
use crate::process::ProcessId;
use crate::store::Store;
use crate::task::{self, Task};

/// `20261129T195644Z-abcd`: UTC time and four random letters.
pub fn default_job_id() -> String {
    let now = jiff::Timestamp::now().strftime("%Y%m%dT%H%M%SZ").to_string();
    let mut random = RandomState::new().build_hasher().finish();
    let letters: String = std::iter::repeat_with(|| {
        let letter = char::from(b'a' + (random % 26) as u8);
        random /= 26;
        letter
    })
    .take(4)
    .collect();
    format!("{now}-{letters}")
}

/// Where the given task file lies. A link is the path that counts, not what it points to.
pub fn task_place(cwd: &Path, given: &Path) -> Option<PathBuf> {
    let given = cwd.join(given);
    let folder = std::fs::canonicalize(given.parent()?).ok()?;
    Some(folder.join(given.file_name()?))
}

/// Reads a task file: exit 22 with the reason for one that cannot be used.
pub fn read_task(cwd: &Path, given: &Path) -> Result<(Task, Vec<u8>)> {
    let bad = |message: String, hint: &str| Stop::new(Exit::BadTask, message).hint(hint);
    let shown = given.display();
    let path = std::fs::canonicalize(cwd.join(given)).map_err(|error| {
        bad(
            format!("the task file {shown} cannot be read: {error}"),
            "give the path of a text file that says what is to be done",
        )
    })?;
    let meta = std::fs::metadata(&path).map_err(|error| {
        bad(
            format!("the task file {shown} cannot be read: {error}"),
            "check its permissions",
        )
    })?;
    if !meta.is_file() {
        return Err(bad(
            format!("the task file {shown} is not a regular file"),
            "write the task into a file",
        )
        .into());
    }
    if meta.len() > task::MAX_BYTES as u64 {
        return Err(bad(
            format!(
                "the task file {shown} has {} bytes; the limit is {}",
                meta.len(),
                task::MAX_BYTES
            ),
            "shorten it, and name files for the agent to read",
        )
        .into());
    }
    let bytes = std::fs::read(&path).map_err(|error| {
        bad(
            format!("the task file {shown} cannot be read: {error}"),
            "check its permissions",
        )
    })?;
    let task = Task::parse(&bytes).map_err(|error| {
        let place = error
            .line
            .map_or_else(|| shown.to_string(), |line| format!("{shown}:{line}"));
        bad(format!("{place}: {}", error.message), &error.hint)
    })?;
    Ok((task, bytes))
}

/// The policy's blob id and the settings, both from the base; the task's areas must exist, and it must hold no
/// credential (24).
pub fn rules_of(
    checkout: &Checkout,
    base: git2::Oid,
    task: Option<&Task>,
    person: &Person,
) -> Result<(gate::Oid, Settings)> {
    let tree = GitTree::of_commit(&checkout.repo, base).map_err(GateError::from)?;
    let short = base.to_string();
    let policy = Policy::of(&tree).map_err(|error| {
        let stop = Stop::new(
            Exit::PolicyUnusable,
            format!("no usable policy in base {}: {error}", &short[..12]),
        );
        match &checkout.workdir {
            Some(top) if matches!(error, PolicyError::Missing) && top.join(POLICY_PATH).is_file() => stop
                .hint("it is in this checkout, but not committed; an uncommitted policy judges nothing")
                .hint(format!("git -C {} add {POLICY_PATH} && git commit", shell(top))),
            _ => stop,
        }
    })?;
    // An empty change judged by the task: what the task names must exist in the policy, and whoever reads the task would
    // read a credential in it.
    let verdict = gate::check(&tree, &tree, task)?;
    if let Some(first) = verdict.findings.iter().find(|found| found.rule == Rule::Credential) {
        let stop = format!("{}: {}", gate::render::place(first), first.message);
        return Err(Stop::new(Exit::Credential, stop).hint(first.hint.clone()).into());
    }
    Ok((policy.id, settings_of(&tree, person)?))
}

/// The settings in a tree: exit 2 for a file that cannot be used.
pub fn settings_of(tree: &GitTree<'_>, person: &Person) -> Result<Settings> {
    let Some(entry) = gate::tree::lookup(tree, SETTINGS_PATH.as_bytes()).map_err(GateError::from)? else {
        return Ok(Settings::default());
    };
    let bytes = tree.blob(&entry.id).map_err(GateError::from)?;
    let settings = Settings::of_repository(&bytes, person);
    settings.map_err(|error| Stop::new(error.exit(), error.to_string()).into())
}

pub(super) fn source_words(source: &Source) -> String {
    match source {
        Source::CommandLine(_) => "command line".to_owned(),
        Source::Variable(_) => "AGENT_CMD".to_owned(),
        Source::Settings(_) => "settings".to_owned(),
        Source::Profile(profile) => format!("profile {}", profile.name),
    }
}

/// The program as written; arguments stay out of the log, they may hold a secret.
pub(super) fn program_of(source: &Source) -> String {
    let first = match source {
        Source::CommandLine(words) => words.first().map(|word| word.to_string_lossy().into_owned()),
        Source::Variable(text) => shell_words::split(text).ok().and_then(|words| words.into_iter().next()),
        Source::Settings(words) => words.first().cloned(),
        Source::Profile(profile) => profile.programs.first().cloned(),
    };
    first.unwrap_or_default().chars().take(200).collect()
}

pub(super) fn text(path: &Path) -> Result<String> {
    path.to_str()
        .map(str::to_owned)
        .with_context(|| format!("the path {} is not UTF-8", path.display()))
}

/// A folder for copies of the record. Inside a checkout it must be ignored, or it would make the
/// checkout dirty.
pub(super) fn artifacts_folder(checkout: &Checkout, surroundings: &Surroundings, given: &Path) -> Result<PathBuf> {
    let dir = surroundings.cwd.join(given);
    // The folder need not exist: resolve what does.
    let existing = dir.ancestors().find(|folder| folder.exists()).unwrap_or(Path::new("/"));
    let rest = dir.strip_prefix(existing).unwrap_or(Path::new("")).to_owned();
    let real = std::fs::canonicalize(existing)
        .with_context(|| format!("cannot resolve {}", existing.display()))?
        .components()
        .chain(rest.components())
        .collect::<PathBuf>();
    let inside = [Some(&checkout.clone), checkout.workdir.as_ref()]
        .into_iter()
        .flatten()
        .find(|top| real.starts_with(top));
    if let Some(top) = inside
        && !real.starts_with(&checkout.common)
    {
        let probe = real.join("change.patch");
        let ignored = checkout
            .git
            .at(top)
            .args(["check-ignore", "--quiet", "--"])
            .arg(&probe)
            .outcome()?
            .success();
        if !ignored {
            let line = real.strip_prefix(top).unwrap_or(&real).display().to_string();
            return Err(Stop::new(
                Exit::Usage,
                format!(
                    "--artifacts {} lies in the clone and is not ignored: it would make it dirty",
                    given.display()
                ),
            )
            .hint(format!(
                "echo {} >> {}",
                shell_words::quote(&format!("/{line}/")),
                shell(&checkout.common.join("info/exclude"))
            ))
            .into());
        }
    }
    // Now, and not after an hour of work.
    std::fs::create_dir_all(&real).map_err(|error| {
        Stop::new(
            Exit::Usage,
            format!("--artifacts {} cannot be made: {error}", given.display()),
        )
        .hint("name a folder that can be written")
    })?;
    Ok(real)
}

/// Exit 12 unless the checkout is clean; `spared` is the task file, which may lie there untracked.
pub fn must_be_clean(checkout: &Checkout, spared: Option<&Path>) -> Result<()> {
    let place = checkout
        .workdir
        .as_ref()
        .unwrap_or(&checkout.common)
        .display()
        .to_string();
    if let Some(operation) = checkout.operation() {
        return Err(
            Stop::new(Exit::DirtyTree, format!("{place} is in the middle of {operation}"))
                .hint("finish or abort it first: git status says how")
                .into(),
        );
    }
    let dirt = checkout.dirt(spared)?;
    if dirt.is_empty() {
        return Ok(());
    }
    let stop = Stop::new(Exit::DirtyTree, format!("{place} is dirty:\n{}", dirt.join("\n")));
    // git shows a new folder as one line.
    let is_policy = |line: &String| {
        let is_new = line.starts_with("?? ") || line.starts_with('A');
        is_new && line.get(3..).is_some_and(|path| POLICY_PATH.starts_with(path))
    };
    let is_there = |top: &PathBuf| top.join(POLICY_PATH).is_file();
    let stop = if checkout.workdir.as_ref().is_some_and(is_there) && dirt.iter().any(is_policy) {
        stop.hint(format!(
            "the policy is new, and it counts only once it is committed: git add {POLICY_PATH} && git commit"
        ))
    } else {
        stop.hint("commit or stash it: git stash --include-untracked")
    };
    Err(stop
        .hint("or start from HEAD and leave it as it is: --allow-dirty (recorded in the commit)")
        .into())
}

/// Takes the clone lock for a new job.
pub(super) fn acquire(checkout: &Checkout, id: &str, options: &Options, watch: &dyn Watch) -> Result<LockGuard> {
    let words = format!("agentgate run {}", options.task.display());
    take_lock(checkout, id, &words, options.wait, watch)
}

/// Takes the clone lock; whoever waits says for whom. `words` is the command, for those who meet the lock.
pub(super) fn take_lock(
    checkout: &Checkout,
    id: &str,
    words: &str,
    wait: Wait,
    watch: &dyn Watch,
) -> Result<LockGuard> {
    let process = ProcessId::current().context("cannot read /proc/self")?;
    let holder = Holder {
        job: id.to_owned(),
        process,
        command: words.to_owned(),
    };
    let mut taken = CloneLock::acquire(&checkout.common, &holder, Wait::No);
    if wait != Wait::No
        && let Err(LockError::Held { holder: other, path }) = &taken
    {
        watch.step(&format!("waiting: {}", CloneLock::who(other.as_ref(), path)));
        taken = CloneLock::acquire(&checkout.common, &holder, wait);
    }
    taken.map_err(|error| match error {
        LockError::Held { holder, path } => {
            let stop = Stop::new(Exit::Locked, CloneLock::who(holder.as_ref(), &path));
            match holder {
                Some(_) => stop.hint("agentgate status shows it; --wait queues behind it"),
                None => stop
                    .hint(format!("it is no job of agentgate; fuser -v {} names it", shell(&path)))
                    .hint("--wait queues behind it"),
            }
            .into()
        }
        LockError::Interrupted(signal) => Stop::new(
            Exit::from_signal(signal),
            "interrupted while waiting for the clone lock",
        )
        .into(),
        LockError::Unavailable { path, error } => {
            anyhow::anyhow!("locking is not available at {}: {error}", path.display())
        }
    })
}

/// Where a job lies, which must be free.
///
/// # Errors
/// Exit 14 where something is in the way, 64 for a root that cannot be used.
pub fn places(
    checkout: &Checkout,
    effective: &Effective,
    person: &Person,
    surroundings: &Surroundings,
    id: &str,
) -> Result<Places> {
    let root = root_of(checkout, effective, person, surroundings)?;
    let places = Places::of(&root, id);
    must_be_free(checkout, &Store::of(&checkout.common), &places, id)?;
    Ok(places)
}

/// The folder of the clone's jobs, which need not exist.
///
/// # Errors
/// Exit 64 for one that cannot be used.
pub fn root_of(
    checkout: &Checkout,
    effective: &Effective,
    person: &Person,
    surroundings: &Surroundings,
) -> Result<PathBuf> {
    match &effective.worktree_root {
        Some(root) => chosen_root(&checkout.clone, root, &person.shown()),
        None => jobs_root(&checkout.clone, surroundings.state_home().as_deref()),
    }
}

fn must_be_free(checkout: &Checkout, store: &Store, places: &Places, id: &str) -> Result<()> {
    if let Some(taken) = store.taken(id)? {
        return Err(Stop::new(Exit::WorktreeExists, format!("job {taken} exists already"))
            .hint("choose another --job-id")
            .hint(format!(
                "agentgate log {} shows what it did",
                shell_words::quote(&taken)
            ))
            .into());
    }
    if let Some((what, hint)) = in_the_way(checkout, &places.worktree, id)? {
        return Err(Stop::new(Exit::WorktreeExists, what).hint(hint).into());
    }
    if places.private.symlink_metadata().is_ok() {
        return Err(Stop::new(
            Exit::WorktreeExists,
            format!("{} exists already", places.private.display()),
        )
        .hint(format!(
            "it belongs to no job of this clone; move it away: mv {} {}.old",
            shell(&places.private),
            shell(&places.private)
        ))
        .into());
    }
    Ok(())
}

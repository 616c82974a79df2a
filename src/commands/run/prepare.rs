//! Everything that can be refused, before anything is made.

use std::collections::hash_map::RandomState;
use std::hash::{BuildHasher, Hasher};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};

use super::Options;
use crate::agent::command::{Found, Source};
use crate::agent::settings::Settings;
use crate::commands::{Surroundings, Watch, bad_job_id};
use crate::exit::{Exit, Stop};
use crate::gate::{self, GateError, Policy, SETTINGS_PATH, Tree, Verdict};
use crate::git::evidence::AgentRefs;
use crate::git::fingerprint::Fingerprint;
use crate::git::history::Identity;
use crate::git::places::{Places, jobs_root};
use crate::git::repo::Checkout;
use crate::git::settings::ContentSettings;
use crate::git::shadow::Shadow;
use crate::git::shell;
use crate::git::snapshot::{Frozen, Stage};
use crate::git::tree::GitTree;
use crate::git::worktree::{Worktree, in_the_way};
use crate::job::{Created, Event};
use crate::lock::{CloneLock, Holder, LockError, LockGuard};
use crate::process::{ProcessId, signals};
use crate::store::{Owner, Store};
use crate::task::{self, Task};
use crate::trailer;

/// The default limit of an agent: 60 minutes.
const DEFAULT_TIMEOUT: u64 = 60 * 60;

/// A job under way. What it learns on the way stands beside what was decided at the start.
pub struct Job {
    pub(super) checkout: Checkout,
    pub(super) surroundings: Surroundings,
    pub(super) owner: Owner,
    pub(super) created: Created,
    pub(super) base: git2::Oid,
    pub(super) head: git2::Oid,
    pub(super) task: Task,
    pub(super) task_bytes: Vec<u8>,
    pub(super) agent: Found,
    pub(super) trusted_command: bool,
    pub(super) identity: Identity,
    pub(super) places: Places,
    pub(super) artifacts: Option<PathBuf>,
    pub(super) verbose: bool,
    pub(super) worktree: Option<Worktree>,
    /// Device and inode of its top folder when it was made.
    pub(super) made: Option<(u64, u64)>,
    pub(super) content: Option<ContentSettings>,
    pub(super) shadow: Option<Shadow>,
    pub(super) stage: Option<Stage>,
    pub(super) frozen: Option<Frozen>,
    pub(super) verdict: Option<Verdict>,
    pub(super) refs: AgentRefs,
    pub(super) before: Option<Fingerprint>,
    pub(super) notices: Vec<String>,
    pub(super) withheld: Vec<String>,
    pub(super) last_output: String,
    _lock: LockGuard,
}

/// Checks everything and takes the lock; then the job exists.
pub fn prepare(options: &Options, surroundings: &Surroundings, watch: &dyn Watch) -> Result<Job> {
    signals::install().context("cannot catch signals")?;
    let id = match options
        .job_id
        .clone()
        .map_or_else(|| surroundings.text("AGENT_JOB_ID"), |id| Ok(Some(id)))?
    {
        Some(id) if !trailer::valid_job_id(&id) => return Err(bad_job_id(&id).into()),
        Some(id) => id,
        None => default_job_id(),
    };
    let (task, task_bytes) = read_task(&surroundings.cwd, &options.task)?;
    let task_place = task_place(&surroundings.cwd, &options.task);
    let checkout = surroundings.checkout()?;
    let head = checkout.head()?;
    if options.land && head.branch.is_none() {
        return Err(Stop::new(
            Exit::Usage,
            "--land: HEAD is detached, so there is no branch to land on",
        )
        .hint("git switch to a branch, or leave --land out and land with --onto BRANCH")
        .into());
    }
    let base = match &options.base {
        None => head.commit,
        Some(revision) => checkout.commit(revision)?.ok_or_else(|| {
            Stop::new(Exit::PolicyUnusable, format!("--base {revision} names no commit here"))
                .hint("git fetch, or name a commit that git log shows")
        })?,
    };
    let (policy, settings) = rules_of(&checkout, base, &task)?;
    let (source, trusted_command) = command_source(options, surroundings, &settings)?;
    let path = surroundings.var("PATH");
    let agent = Found::find(&source, &surroundings.cwd, path)
        .map_err(|error| Stop::new(Exit::AgentFailed, format!("the agent could not be started: {error}")))?;
    let implementer = settings.implementer.as_ref();
    let host = label(surroundings.text("AGENT_HOST_LABEL")?, "AGENT_HOST_LABEL")?.unwrap_or_else(|| "local".into());
    let model_label = match label(surroundings.text("AGENT_MODEL_LABEL")?, "AGENT_MODEL_LABEL")? {
        Some(label) => Some(label),
        None => label(implementer.and_then(|agent| agent.model_label.clone()), "model_label")?,
    };
    let identity = Identity::of(&checkout)?;
    let artifacts = options
        .artifacts
        .as_ref()
        .map(|dir| artifacts_folder(&checkout, surroundings, dir))
        .transpose()?;
    let mut waivers = Vec::new();
    if options.allow_dirty {
        waivers.push("allow-dirty".to_owned());
    } else {
        must_be_clean(&checkout, task_place.as_deref())?;
    }
    let store = Store::of(&checkout.common);
    let lock = acquire(&checkout, &id, options)?;
    if !options.allow_dirty && options.wait != crate::lock::Wait::No {
        // Time may have passed.
        must_be_clean(&checkout, task_place.as_deref())?;
    }
    let places = Places::of(&jobs_root(&checkout.clone, surroundings.state_home().as_deref())?, &id);
    must_be_free(&checkout, &store, &places, &id)?;
    let timeout = options
        .timeout
        .or(task.timeout)
        .or(implementer.and_then(|agent| agent.timeout))
        .unwrap_or(DEFAULT_TIMEOUT);
    let (owner, task_ref) = store.create(&id, &task_bytes)?;
    let created = Created {
        agentgate: env!("CARGO_PKG_VERSION").to_owned(),
        base: base.to_string(),
        target: head.branch.clone(),
        goal: task.goal.chars().take(200).collect(),
        task: task_ref,
        policy: policy.to_string(),
        agent_source: source_words(&source).to_owned(),
        agent: program_of(&source),
        host,
        model_label: model_label.unwrap_or_else(|| "unspecified".into()),
        waivers,
        timeout,
        clone: text(&checkout.clone)?,
        worktree: text(&places.worktree)?,
        private: text(&places.private)?,
    };
    let mut job = Job {
        checkout,
        surroundings: surroundings.clone(),
        owner,
        created: created.clone(),
        base,
        head: head.commit,
        task,
        task_bytes,
        agent,
        trusted_command,
        identity,
        places,
        artifacts,
        verbose: options.verbose,
        worktree: None,
        made: None,
        content: None,
        shadow: None,
        stage: None,
        frozen: None,
        verdict: None,
        refs: AgentRefs::default(),
        before: None,
        notices: Vec::new(),
        withheld: Vec::new(),
        last_output: String::new(),
        _lock: lock,
    };
    let me = ProcessId::current().context("cannot read /proc/self")?;
    job.owner.append(&Event::Created(created))?;
    job.owner.append(&Event::Owned {
        pid: me.pid.unsigned_abs(),
        start_time: me.start_time,
        boot_id: me.boot_id,
    })?;
    watch.step(&format!("job {id}: {}", printable(&job.created.goal)));
    watch.step(&format!(
        "base {} ({})",
        base,
        head.branch
            .as_deref()
            .unwrap_or("detached HEAD")
            .trim_start_matches("refs/heads/")
    ));
    job.task
        .scope()
        .iter()
        .for_each(|line| watch.step(&format!("scope: {}", printable(line))));
    if options.allow_dirty {
        watch.step("--allow-dirty: the checkout's own changes are not part of the job and stay as they are");
    }
    Ok(job)
}

/// A line of the task for a terminal: what would move its cursor or colours is escaped.
fn printable(line: &str) -> String {
    gate::render::path(line.as_bytes())
}

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

fn read_task(cwd: &Path, given: &Path) -> Result<(Task, Vec<u8>)> {
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

/// The policy's blob id and the settings, both from the base; the task's areas must exist.
fn rules_of(checkout: &Checkout, base: git2::Oid, task: &Task) -> Result<(gate::Oid, Settings)> {
    let tree = GitTree::of_commit(&checkout.repo, base).map_err(GateError::from)?;
    let short = base.to_string();
    let policy = Policy::of(&tree).map_err(|error| {
        Stop::new(
            Exit::PolicyUnusable,
            format!("no usable policy in base {}: {error}", &short[..12]),
        )
    })?;
    // An empty change judged by the task: what the task names must exist in the policy.
    gate::check(&tree, &tree, Some(task))?;
    let settings = match gate::tree::lookup(&tree, SETTINGS_PATH.as_bytes()).map_err(GateError::from)? {
        None => Settings::default(),
        Some(entry) => {
            let bytes = tree.blob(&entry.id).map_err(GateError::from)?;
            Settings::parse(&bytes).map_err(|error| Stop::new(Exit::PolicyUnusable, error.to_string()))?
        }
    };
    Ok((policy.id, settings))
}

/// The command, and whether it comes from the repository's settings (then the agent gets an
/// allow-list of variables).
fn command_source(options: &Options, surroundings: &Surroundings, settings: &Settings) -> Result<(Source, bool)> {
    if !options.command.is_empty() {
        return Ok((Source::CommandLine(options.command.clone()), true));
    }
    if let Some(command) = surroundings.text("AGENT_CMD")? {
        return Ok((Source::Variable(command), true));
    }
    if let Some(implementer) = &settings.implementer {
        return Ok((Source::Settings(implementer.command.clone()), false));
    }
    Err(Stop::new(
        Exit::Usage,
        "no agent command: nothing after --, AGENT_CMD is not set, and the base's settings name none",
    )
    .hint(format!(
        "agentgate run {} -- my-agent --its-flags",
        shell(&options.task)
    ))
    .hint(format!("or commit agents.implementer.command in {SETTINGS_PATH}"))
    .into())
}

fn source_words(source: &Source) -> &'static str {
    match source {
        Source::CommandLine(_) => "command line",
        Source::Variable(_) => "AGENT_CMD",
        Source::Settings(_) => "settings",
    }
}

/// The program as written; arguments stay out of the log, they may hold a secret.
fn program_of(source: &Source) -> String {
    let first = match source {
        Source::CommandLine(words) => words.first().map(|word| word.to_string_lossy().into_owned()),
        Source::Variable(text) => shell_words::split(text).ok().and_then(|words| words.into_iter().next()),
        Source::Settings(words) => words.first().cloned(),
    };
    first.unwrap_or_default().chars().take(200).collect()
}

fn label(value: Option<String>, name: &str) -> Result<Option<String>> {
    match value {
        Some(value) if !trailer::valid_value(&value) => Err(Stop::new(
            Exit::Usage,
            format!("{name} {value:?} cannot stand in a trailer"),
        )
        .hint("1 to 128 of A-Z a-z 0-9 . _ : / @ + , -")
        .into()),
        other => Ok(other),
    }
}

fn text(path: &Path) -> Result<String> {
    path.to_str()
        .map(str::to_owned)
        .with_context(|| format!("the path {} is not UTF-8", path.display()))
}

/// A folder for copies of the record. Inside a checkout it must be ignored, or it would make the
/// checkout dirty.
fn artifacts_folder(checkout: &Checkout, surroundings: &Surroundings, given: &Path) -> Result<PathBuf> {
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
    Err(
        Stop::new(Exit::DirtyTree, format!("{place} is dirty:\n{}", dirt.join("\n")))
            .hint("commit or stash it: git stash --include-untracked")
            .hint("or start from HEAD and leave it as it is: --allow-dirty (recorded in the commit)")
            .into(),
    )
}

fn acquire(checkout: &Checkout, id: &str, options: &Options) -> Result<LockGuard> {
    let process = ProcessId::current().context("cannot read /proc/self")?;
    let holder = Holder {
        job: id.to_owned(),
        process,
        command: format!("agentgate run {}", options.task.display()),
    };
    CloneLock::acquire(&checkout.common, &holder, options.wait).map_err(|error| match error {
        LockError::Held { holder, path } => {
            let who = holder.map_or_else(
                || format!("another process holds {}", path.display()),
                |holder| format!("job {} (pid {}) holds the clone", holder.job, holder.process.pid),
            );
            Stop::new(Exit::Locked, who)
                .hint("agentgate status shows it; --wait queues behind it")
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

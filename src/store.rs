//! The job folders below the clone's git dir: append and sync, replay, evidence files.
//!
//! Invariant: a line is on the disk before the step that follows it begins, and what a line names
//! is on the disk before the line. Lines are never rewritten; readers never lock and never repair.

use std::fs::{File, OpenOptions};
use std::io::Read;
use std::os::unix::fs::{FileExt, MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};

use crate::exit::{Exit, Stop};
use crate::files;
use crate::git::places::Places;
use crate::git::{refs, worktree};
use crate::job::log::{self, Damaged, Log};
use crate::job::machine::{self, State};
use crate::job::{Event, FileRef};
use crate::lock::{FileLock, LockError};
use crate::process::ProcessId;

/// Name of the log in a job's folder.
pub const EVENTS: &str = "events.jsonl";
/// The task as given.
pub const TASK: &str = "task.md";
/// Base to candidate.
pub const PATCH: &str = "change.patch";
/// The verdict for people.
pub const GATE_LOG: &str = "gate.log";
/// The verdict for programs.
pub const GATE_JSON: &str = "gate.json";
/// What the agent printed.
pub const AGENT_LOG: &str = "agent.log";
/// The output of the commands that ran before the agent.
pub const SETUP_LOG: &str = "setup.log";
/// The agent's own branches, tags and stashes.
pub const BUNDLE: &str = "agent-refs.bundle";
/// Files that only the agent's own ignore rules hide.
pub const HIDDEN: &str = "ignored.tar";
/// The agent's git dirs as they were, where bundling its refs would not have saved everything.
pub const GIT_DIRS: &str = "agent-git.tar";
/// What `run` said at its end, for whoever was not there.
pub const REPORT: &str = "report.json";
/// All that another process needs to go on with the job; there as long as the job is not over.
pub const RESUME: &str = "resume.json";
/// What the candidate's tree does not show of what the agent left.
pub const FROZEN: &str = "frozen.json";
/// What a person has to decide, in words.
pub const DISPUTE: &str = "dispute.md";
/// Whose flock(2) is the job's ownership; empty.
pub const OWNER_LOCK: &str = "owner.lock";
/// What is in a job's folder before its first event. Anything else of the job, there or beside the clone, comes later.
const FIRST: [&str; 4] = [OWNER_LOCK, TASK, EVENTS, RESUME];
/// How the name of a torn tail begins that was set aside; the number of the line that it would have been follows.
const TORN: &str = "torn-";
/// Most of them that one event names beside its own.
const MOST_TORN: usize = 10;
/// Room in an event's line for such files, in bytes of JSON.
const UNNAMED_ROOM: usize = 1800;

/// All jobs of one clone.
#[derive(Clone, Debug)]
pub struct Store {
    jobs: PathBuf,
}

/// The folder of one job, for reading.
#[derive(Clone, Debug)]
pub struct Folder {
    /// Job id.
    pub id: String,
    /// `<common git dir>/agentgate/jobs/<id>`
    pub path: PathBuf,
}

/// The one process that may append to a job's log.
#[derive(Debug)]
pub struct Owner {
    /// The job's folder.
    pub folder: Folder,
    file: File,
    length: u64,
    /// The end of the file as this owner left it.
    last_line: Vec<u8>,
    last_sum: String,
    seq: u64,
    epoch: u64,
    standing: Standing,
    /// What is wrong with the end of the file, until this owner writes to it.
    tail: Option<Tail>,
    /// The torn tail that was set aside, until an event names it.
    torn: Option<FileRef>,
    /// The state after everything appended so far.
    pub state: State,
    _lock: FileLock,
}

/// An end of the log that the next line must not be put behind.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Tail {
    /// Length in bytes of the valid lines.
    valid: u64,
    /// Something stands behind them.
    torn: bool,
    /// The last of them lacks its newline.
    unterminated: bool,
}

/// Whether an owner may go on writing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Standing {
    /// The file is as it left it.
    Sole,
    /// A line could not be made durable: what is in the file now is not known.
    Failed,
    /// Somebody else wrote to the file, or removed it: the job is not this owner's any more.
    Lost,
}

impl Store {
    /// The store of the clone with this common git dir.
    pub fn of(common: &Path) -> Store {
        Store {
            jobs: common.join("agentgate/jobs"),
        }
    }

    /// Ids of all jobs, sorted. A folder that is no job (no log) is listed too: it is shown as such.
    pub fn ids(&self) -> Result<Vec<String>> {
        let mut ids = Vec::new();
        let entries = match std::fs::read_dir(&self.jobs) {
            Ok(entries) => entries,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(ids),
            Err(error) => return Err(error).with_context(|| format!("cannot list {}", self.jobs.display())),
        };
        for entry in entries {
            let entry = entry.with_context(|| format!("cannot list {}", self.jobs.display()))?;
            ids.push(entry.file_name().to_string_lossy().into_owned());
        }
        ids.sort();
        Ok(ids)
    }

    /// The id of an existing job that equals this one but for case: refs and folders of two such
    /// jobs would be one on a case-folding file system.
    pub fn taken(&self, id: &str) -> Result<Option<String>> {
        let folded = id.to_lowercase();
        Ok(self.ids()?.into_iter().find(|other| other.to_lowercase() == folded))
    }

    /// The folder of a job, if there is one.
    pub fn find(&self, id: &str) -> Result<Option<Folder>> {
        Ok(self
            .ids()?
            .into_iter()
            .find(|other| other == id)
            .map(|id| self.folder(&id)))
    }

    fn folder(&self, id: &str) -> Folder {
        Folder {
            id: id.to_owned(),
            path: self.jobs.join(id),
        }
    }

    /// Makes a job's folder with the task in it and takes ownership. The log is still empty.
    pub fn create(&self, id: &str, task: &[u8]) -> Result<(Owner, FileRef)> {
        files::make_private_dir(&self.jobs)?;
        let folder = self.folder(id);
        std::fs::create_dir(&folder.path).with_context(|| format!("cannot make {}", folder.path.display()))?;
        files::make_private_dir(&folder.path)?;
        let lock = folder.path.join(OWNER_LOCK);
        files::create_new(&lock, b"", 0o600).with_context(|| format!("cannot make {}", lock.display()))?;
        let lock = FileLock::try_exclusive(&lock)?;
        let task = folder.save(TASK, task)?;
        let file = OpenOptions::new()
            .read(true)
            .append(true)
            .create_new(true)
            .mode(0o600)
            .open(folder.path.join(EVENTS))
            .with_context(|| format!("cannot make {EVENTS} in {}", folder.path.display()))?;
        files::sync_dir(&folder.path)?;
        files::sync_dir(&self.jobs)?;
        let owner = Owner {
            folder,
            file,
            length: 0,
            last_line: Vec::new(),
            last_sum: log::NO_SUM.into(),
            seq: 0,
            epoch: 1,
            standing: Standing::Sole,
            tail: None,
            torn: None,
            state: State::default(),
            _lock: lock,
        };
        Ok((owner, task))
    }

    /// The folder of a job that ended before it began: nothing but what comes before its first event is in it. Only
    /// whoever holds the clone lock makes such a folder, so that it is nobody's where that is free.
    pub fn unbegun(&self, id: &str) -> Result<Option<Folder>> {
        let Some(folder) = self.find(id)? else { return Ok(None) };
        let has_log = folder.path.join(EVENTS).symlink_metadata().is_ok();
        let began = match has_log.then(|| folder.log()) {
            Some(Err(error)) if error.downcast_ref::<Damaged>().is_some() => true,
            Some(log) => !log?.lines.is_empty(),
            None => folder.traces()?.is_some(),
        };
        Ok((!began).then_some(folder))
    }

    /// Takes ownership of an existing job. `None` while another owner lives.
    ///
    /// Where the last line was torn, that is set aside and written down as an ownership of its own.
    pub fn own(&self, id: &str) -> Result<Option<Owner>> {
        let mut owner = self.take(id)?;
        if let Some(owner) = &mut owner
            && owner.seq > 0
            && owner.has_torn()?
        {
            let place = owner.state.place().map(str::to_owned);
            owner.begin(place, Vec::new())?;
        }
        Ok(owner)
    }

    /// The same for whoever goes on with the job and calls [`Owner::begin`] itself. Until then all is as it was.
    pub fn take(&self, id: &str) -> Result<Option<Owner>> {
        let folder = self.folder(id);
        let lock = match FileLock::try_exclusive(&folder.path.join(OWNER_LOCK)) {
            Ok(lock) => lock,
            Err(LockError::Held { .. }) => return Ok(None),
            Err(error) => return Err(error.into()),
        };
        let log = folder.log()?;
        if let Some(unknown) = log.lines.iter().find(|line| line.event.is_none()) {
            bail!(NewerFormat {
                job: id.to_owned(),
                kind: unknown.kind.clone(),
                seq: unknown.seq
            });
        }
        let tail = Tail {
            valid: log.valid_bytes,
            torn: log.torn_bytes > 0,
            unterminated: log.unterminated,
        };
        let file = OpenOptions::new()
            .read(true)
            .append(true)
            .open(folder.path.join(EVENTS))
            .with_context(|| format!("cannot open {EVENTS} in {}", folder.path.display()))?;
        let length = file.metadata()?.len();
        let state = log
            .lines
            .iter()
            .filter_map(|line| line.event.as_ref())
            .fold(State::default(), machine::fold);
        let epoch = log.lines.last().map_or(1, |line| line.epoch);
        let (last_sum, seq) = (log.last_sum().to_owned(), log.lines.len() as u64);
        Ok(Some(Owner {
            folder,
            file,
            length,
            last_line: Vec::new(),
            last_sum,
            seq,
            epoch,
            standing: Standing::Sole,
            tail: Some(tail).filter(|tail| tail.torn || tail.unterminated),
            torn: None,
            state,
            _lock: lock,
        }))
    }
}

/// A job written by another version: shown, never touched (exit 23).
#[derive(Debug)]
pub struct NewerFormat {
    job: String,
    kind: String,
    seq: u64,
}

impl std::fmt::Display for NewerFormat {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let NewerFormat { job, kind, seq } = self;
        write!(
            f,
            "job {job} was written by another version of agentgate: event {seq} ({kind:?}) is not known here"
        )
    }
}

impl std::error::Error for NewerFormat {}

impl Folder {
    /// The log as it is now, chain verified. One without an event is that of a job which has not begun; where there
    /// is more of the job than that, events were lost, and it is damaged.
    pub fn log(&self) -> Result<Log> {
        let path = self.path.join(EVENTS);
        let read = || {
            let mut bytes = Vec::new();
            File::open(&path)
                .and_then(|mut file| file.read_to_end(&mut bytes))
                .with_context(|| format!("cannot read {}", path.display()))?;
            log::decode(&bytes).with_context(|| format!("in {}", path.display()))
        };
        let mut log = read()?;
        if log.lines.is_empty()
            && let Some(trace) = self.traces()?
        {
            // It may have begun between the two looks.
            log = read()?;
            if log.lines.is_empty() {
                let why = format!("it has not one whole event, and the job had begun: there is {trace}");
                return Err(Damaged { line: 1, why }).with_context(|| format!("in {}", path.display()));
            }
        }
        // A record that was copied or renamed tells of another job, whose worktree and branch are not this one's.
        let job = |line: &log::Line| line.json.get("job").and_then(|job| job.as_str()).map(str::to_owned);
        if let Some(line) = log.lines.iter().find(|line| job(line).as_ref() != Some(&self.id)) {
            let other = job(line).unwrap_or_default();
            let why = format!("it is of job {other:?}, and the folder is that of {:?}", self.id);
            return Err(Damaged { line: line.seq, why }).with_context(|| format!("in {}", path.display()));
        }
        Ok(log)
    }

    /// What shows that the job has begun, whatever its log says; none where there is only what comes before the first
    /// event.
    fn traces(&self) -> Result<Option<String>> {
        let is_first = |name: &String| FIRST.contains(&name.as_str()) || name.starts_with(files::TEMPORARY);
        if let Some(name) = self.names()?.into_iter().find(|name| !is_first(name)) {
            return Ok(Some(format!("{} in its record", name.escape_debug())));
        }
        let Some(common) = self.path.ancestors().nth(3) else {
            return Ok(None);
        };
        if let Some(worktree) = worktree::of_job(common, &self.id).first() {
            return Ok(Some(format!("its worktree {}", worktree.path.display())));
        }
        if let Some(places) = Places::beside(common, &self.id)
            && places.private.symlink_metadata().is_ok()
        {
            return Ok(Some(format!("its folder {}", places.private.display())));
        }
        refs::first_of(common, &self.id).map(|name| name.map(|name| format!("its {name}")))
    }

    /// The state that the log describes; events of other versions are passed over.
    pub fn state(&self) -> Result<State> {
        let log = self.log()?;
        Ok(log
            .lines
            .iter()
            .filter_map(|line| line.event.as_ref())
            .fold(State::default(), machine::fold))
    }

    /// Whether some process owns the job, by its lock and not by a pid.
    pub fn is_owned(&self) -> Result<bool> {
        Ok(FileLock::is_held(&self.path.join(OWNER_LOCK))?)
    }

    /// Saves a file of the record, synced, and says what it is for the log.
    pub fn save(&self, name: &str, bytes: &[u8]) -> Result<FileRef> {
        files::replace(&self.path.join(name), bytes, 0o600)?;
        Ok(FileRef {
            name: name.to_owned(),
            bytes: bytes.len() as u64,
            sha256: log::sha256_hex(&[bytes]),
        })
    }

    /// Names of everything in the folder, sorted. One that is not UTF-8 is not ours.
    pub fn names(&self) -> Result<Vec<String>> {
        let list = || format!("cannot list {}", self.path.display());
        let mut names = Vec::new();
        for entry in std::fs::read_dir(&self.path).with_context(list)? {
            let name = entry.with_context(list)?.file_name();
            names.extend(name.into_string());
        }
        names.sort();
        Ok(names)
    }

    /// Removes files that were never finished. Owners only.
    pub fn clear_temporary(&self) -> Result<()> {
        files::clear_temporary(&self.path, files::TEMPORARY)
            .with_context(|| format!("cannot clear {}", self.path.display()))
    }

    /// What a file of the record is, for the log.
    pub fn describe(&self, name: &str) -> Result<FileRef> {
        let path = self.path.join(name);
        let bytes = std::fs::read(&path).with_context(|| format!("cannot read {}", path.display()))?;
        Ok(FileRef {
            name: name.to_owned(),
            bytes: bytes.len() as u64,
            sha256: log::sha256_hex(&[&bytes]),
        })
    }
}

impl Owner {
    /// Writes down that this process owns the job now: the first time in epoch 1, each later time in a new one.
    /// `worktree` is where it will work, where that is not the place that the job began with.
    /// `attempt` is what was saved of the step that its last owner did not finish.
    pub fn begin(&mut self, worktree: Option<String>, attempt: Vec<FileRef>) -> Result<()> {
        let owned = self.owned(worktree, attempt)?;
        self.append(&owned)
    }

    /// The first lines of a log: what the job is, and that this process owns it.
    pub fn create(&mut self, created: Event) -> Result<()> {
        let owned = self.owned(None, Vec::new())?;
        self.append_all(&[created, owned])
    }

    fn owned(&mut self, worktree: Option<String>, mut attempt: Vec<FileRef>) -> Result<Event> {
        let me = ProcessId::current().context("cannot read /proc/self")?;
        self.mend()?;
        let torn = self.torn.take();
        // Killed before it had said so, an earlier owner may have set one aside as well.
        for name in self.torn_aside()? {
            let is_named = torn.iter().chain(&attempt).any(|file| file.name == name);
            if !is_named && attempt.len() < MOST_TORN {
                attempt.push(self.folder.describe(&name)?);
            }
        }
        self.epoch = self.next_epoch();
        Ok(Event::Owned {
            pid: me.pid.unsigned_abs(),
            start_time: me.start_time,
            boot_id: me.boot_id,
            worktree,
            torn,
            attempt,
        })
    }

    /// Whether a torn tail is to be named by an event: it stands behind the last valid line, or was set aside.
    pub fn has_torn(&self) -> Result<bool> {
        Ok(self.tail.is_some_and(|tail| tail.torn) || !self.torn_aside()?.is_empty())
    }

    /// Torn tails that were set aside and that no event names.
    fn torn_aside(&self) -> Result<Vec<String>> {
        let mut names = self.nameless()?;
        names.retain(|name| name.starts_with(TORN));
        Ok(names)
    }

    /// A name for this one that is not taken by another: what was set aside at the same place before stays.
    fn torn_name(&self, bytes: &[u8]) -> String {
        let first = format!("{TORN}{}", self.seq + 1);
        let mut names = std::iter::once(first.clone()).chain((2..100).map(|number| format!("{first}-{number}")));
        let is_free = |name: &String| match std::fs::read(self.folder.path.join(name)) {
            Ok(there) => there == bytes,
            Err(error) => error.kind() == std::io::ErrorKind::NotFound,
        };
        names.find(is_free).unwrap_or(first)
    }

    /// Sets a torn tail aside and cuts it off; ends an unterminated last line.
    fn mend(&mut self) -> Result<()> {
        self.must_be_sole()?;
        let Some(tail) = self.tail else { return Ok(()) };
        let path = self.folder.path.join(EVENTS);
        if tail.torn {
            let bytes = std::fs::read(&path).with_context(|| format!("cannot read {}", path.display()))?;
            let rest = bytes.get(tail.valid as usize..).unwrap_or_default();
            let name = self.torn_name(rest);
            self.torn = Some(self.folder.save(&name, rest)?);
            let file = OpenOptions::new().write(true).open(&path)?;
            file.set_len(tail.valid)
                .with_context(|| format!("cannot cut {}", path.display()))?;
            file.sync_data()?;
        }
        if tail.unterminated {
            files::append_synced(&self.file, b"\n").with_context(|| format!("cannot append to {}", path.display()))?;
        }
        self.length = self.file.metadata()?.len();
        self.tail = None;
        Ok(())
    }

    /// The epoch that [`Owner::begin`] begins.
    pub fn next_epoch(&self) -> u64 {
        match self.state.owners {
            0 => 1,
            _ => self.epoch + 1,
        }
    }

    /// Whether it may go on writing, as far as it knows.
    pub fn standing(&self) -> Standing {
        self.standing
    }

    /// Compares the file with what this owner left: nobody else has the lock, but a lock is only advice.
    ///
    /// # Errors
    /// Exit 13 where somebody wrote to the file or removed it. Then nothing of the job may be written any more.
    pub fn must_be_sole(&mut self) -> Result<()> {
        let path = self.folder.path.join(EVENTS);
        let found = self
            .file
            .metadata()
            .with_context(|| format!("cannot stat {}", path.display()))?;
        if self.standing == Standing::Failed {
            bail!("{} could not be written before", path.display());
        }
        let mut last = vec![0; self.last_line.len()];
        let from = self.length.saturating_sub(last.len() as u64);
        let what = if found.nlink() == 0 {
            "was removed".to_owned()
        } else if found.len() != self.length {
            format!("has {} bytes where this owner left {}", found.len(), self.length)
        } else if self.file.read_exact_at(&mut last, from).is_err() || last != self.last_line {
            format!(
                "does not end with the line that this owner wrote in epoch {}",
                self.epoch
            )
        } else {
            return Ok(());
        };
        self.standing = Standing::Lost;
        let id = shell_words::quote(&self.folder.id).into_owned();
        let stop = format!("{} {what}: somebody else has the job now", path.display());
        Err(Stop::new(Exit::Locked, stop)
            .hint("this process wrote nothing more and deleted nothing")
            .hint(format!("agentgate log {id} shows what stands there"))
            .into())
    }

    /// Makes an event durable, then folds it into the state.
    ///
    /// # Errors
    /// When the line cannot be written and synced, or somebody else wrote to the file (13): the caller
    /// must stop before it does what it could not record.
    pub fn append(&mut self, event: &Event) -> Result<()> {
        self.append_all(std::slice::from_ref(event))
    }

    /// The same for events between which nothing is done: a line each, and one sync.
    ///
    /// # Errors
    /// As [`Owner::append`].
    pub fn append_all(&mut self, events: &[Event]) -> Result<()> {
        self.mend()?;
        let path = self.folder.path.join(EVENTS);
        for event in events {
            let at = jiff::Timestamp::now()
                .round(jiff::Unit::Millisecond)
                .unwrap_or_else(|_| jiff::Timestamp::now())
                .to_string();
            let (line, sum) = log::encode(&self.last_sum, self.seq + 1, self.epoch, &at, &self.folder.id, event)
                .map_err(anyhow::Error::msg)?;
            if let Err(error) = files::append(&self.file, line.as_bytes()) {
                self.standing = Standing::Failed;
                return Err(error).with_context(|| format!("cannot append to {}", path.display()));
            }
            self.length += line.len() as u64;
            self.last_line = line.into_bytes();
            self.last_sum = sum;
            self.seq += 1;
        }
        if let Err(error) = self.file.sync_data() {
            self.standing = Standing::Failed;
            return Err(error).with_context(|| format!("cannot append to {}", path.display()));
        }
        let state = std::mem::take(&mut self.state);
        self.state = events.iter().fold(state, machine::fold);
        Ok(())
    }

    /// The files of the record that no event names as they are now, for the event that ends the job. The log, the
    /// lock and what comes and goes with the run are not among them.
    pub fn unnamed(&self) -> Result<Vec<FileRef>> {
        let own = [EVENTS, OWNER_LOCK, RESUME, REPORT];
        let mut names: Vec<String> = self.folder.names()?;
        names.retain(|name| !own.contains(&name.as_str()));
        let mut unnamed = Vec::new();
        let mut room = UNNAMED_ROOM;
        for name in names {
            // What is no file was not made here, and a pipe would be waited for.
            if !self
                .folder
                .path
                .join(&name)
                .symlink_metadata()
                .is_ok_and(|meta| meta.is_file())
            {
                continue;
            }
            let file = self.folder.describe(&name)?;
            if self.state.files.get(&name) == Some(&file) {
                continue;
            }
            let length = serde_json::to_string(&file)?.len() + 1;
            let Some(left) = room.checked_sub(length) else { break };
            room = left;
            unnamed.push(file);
        }
        Ok(unnamed)
    }

    /// The closing report, where the run is over and has left one: for the event that settles the job afterwards.
    pub fn closing(&self) -> Result<Vec<FileRef>> {
        let is_there = self.folder.path.join(REPORT).symlink_metadata().is_ok();
        let file = is_there.then(|| self.folder.describe(REPORT)).transpose()?;
        Ok(file.into_iter().collect())
    }

    /// Names of files in the record that no event names.
    pub fn nameless(&self) -> Result<Vec<String>> {
        let own = [EVENTS, OWNER_LOCK, RESUME, REPORT];
        let mut names: Vec<String> = self.folder.names()?;
        names.retain(|name| !own.contains(&name.as_str()) && !self.state.files.contains_key(name));
        Ok(names)
    }

    /// Sum of the last event.
    pub fn last_sum(&self) -> &str {
        &self.last_sum
    }

    /// The log's bytes so far, for the record ref.
    pub fn log_bytes(&self) -> Result<Vec<u8>> {
        let path = self.folder.path.join(EVENTS);
        std::fs::read(&path).with_context(|| format!("cannot read {}", path.display()))
    }
}

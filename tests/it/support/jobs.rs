//! Jobs run with the real binary, and what they left on disk and in git.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};

use serde_json::Value;
use sha2::{Digest, Sha256};

use super::program::{Outcome, Program};
use super::repo::Repo;

/// What the task file says unless a test says something else.
pub const TASK: &str = "Goal: do the work\n";

/// Writes the task outside the checkout.
pub fn task(repo: &Repo, text: impl AsRef<[u8]>) -> PathBuf {
    let path = repo.top().join("TASK.md");
    fs::write(&path, text).expect("the task can be written");
    path
}

/// `agentgate run` of [`TASK`] with a shell script as the agent.
pub fn job(repo: &Repo, id: &str, options: &[&str], script: &str) -> Program {
    let task = task(repo, TASK);
    repo.command(["run", "--job-id", id])
        .args(options)
        .args([task.as_os_str()])
        .args(["--", "sh", "-c", script])
}

/// The same, run to its end.
#[track_caller]
pub fn run(repo: &Repo, id: &str, script: &str) -> Outcome {
    job(repo, id, &[], script).run()
}

/// The same, which must end so.
#[track_caller]
pub fn run_to(code: i32, repo: &Repo, id: &str, script: &str) -> Outcome {
    let outcome = run(repo, id, script);
    assert_eq!(outcome.code, code, "{outcome}");
    outcome
}

/// The value of one `key=value` line on standard output.
#[track_caller]
pub fn value(outcome: &Outcome, key: &str) -> String {
    let mut lines = outcome
        .stdout
        .lines()
        .filter_map(|line| line.strip_prefix(key)?.strip_prefix('='));
    let value = lines.next().unwrap_or_else(|| panic!("no {key} in\n{outcome}"));
    assert_eq!(lines.next(), None, "{key} stands twice in\n{outcome}");
    value.to_owned()
}

/// The git dir that all worktrees of a clone share.
pub fn common(repo: &Repo) -> PathBuf {
    PathBuf::from(repo.git(["rev-parse", "--path-format=absolute", "--git-common-dir"]))
}

/// The folder of a job's record.
pub fn record(repo: &Repo, id: &str) -> PathBuf {
    common(repo).join("agentgate/jobs").join(id)
}

/// A file of the record as text.
#[track_caller]
pub fn recorded(repo: &Repo, id: &str, name: &str) -> String {
    let path = record(repo, id).join(name);
    fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// SHA-256 in lower-case hex.
pub fn sha256(bytes: impl AsRef<[u8]>) -> String {
    hex(&Sha256::digest(bytes.as_ref()))
}

/// The events of a job, each line's chain, number and id verified from the documented rule alone.
#[track_caller]
pub fn events(repo: &Repo, id: &str) -> Vec<Value> {
    verified(&recorded(repo, id, "events.jsonl"), id)
}

/// [`events`] of a text.
#[track_caller]
pub fn verified(text: &str, id: &str) -> Vec<Value> {
    assert!(text.ends_with('\n'), "the last line is not ended: {text}");
    let mut sum = "0".repeat(64);
    let mut events = Vec::new();
    for (index, line) in text.lines().enumerate() {
        assert!(line.len() < 4096, "{line}");
        let event: Value = serde_json::from_str(line).unwrap_or_else(|error| panic!("{error}: {line}"));
        let (covered, _) = line.rsplit_once(",\"sum\"").expect("a sum");
        sum = sha256(format!("{sum}{covered}"));
        assert_eq!(event["sum"], Value::from(sum.clone()), "{line}");
        assert_eq!(event["seq"], Value::from(index + 1), "{line}");
        assert_eq!(event["job"], Value::from(id), "{line}");
        assert_eq!(event["v"], Value::from(1), "{line}");
        let at = event["at"].as_str().expect("a time");
        assert!(at.parse::<jiff::Timestamp>().is_ok() && at.ends_with('Z'), "{line}");
        events.push(event);
    }
    events
}

/// The only event of this kind.
#[track_caller]
pub fn event(events: &[Value], kind: &str) -> Value {
    let found: Vec<&Value> = events.iter().filter(|event| event["event"] == kind).collect();
    let [one] = found[..] else {
        panic!("{} events {kind} in {events:#?}", found.len())
    };
    one.clone()
}

/// The frozen tree of a job, from its log.
#[track_caller]
pub fn frozen(repo: &Repo, id: &str) -> String {
    let event = event(&events(repo, id), "candidate.frozen");
    event["tree"].as_str().expect("a tree id").to_owned()
}

/// The tree that the saved patch makes of the base, in a clone of its own.
#[track_caller]
pub fn patched(repo: &Repo, id: &str, base: &str) -> String {
    let other = repo.beside(&format!("patched-{id}"));
    fs::create_dir(&other.root).expect("it is new");
    other.git(["init", "--quiet"]);
    other.git(["config", "core.autocrlf", "false"]);
    let (from, base) = (common(repo), repo.id(base));
    other.git(["fetch", "--quiet", &from.to_string_lossy(), &base]);
    other.git(["checkout", "--quiet", "--detach", &base]);
    let patch = record(repo, id).join("change.patch");
    other.git(["apply", "--index", "--binary", &patch.to_string_lossy()]);
    other.git(["write-tree"])
}

/// Whether nothing of a job is left but its record: no worktree, branch or folder.
#[track_caller]
pub fn nothing_left(repo: &Repo) {
    assert_eq!(repo.git(["branch", "--list", "agent/*"]), "");
    let listed = repo.git(["worktree", "list", "--porcelain"]);
    assert!(!listed.contains("-jobs/"), "{listed}");
    assert!(!jobs_root(repo).exists(), "{} is there", jobs_root(repo).display());
    free(repo);
}

/// A file of a kept job's candidate.
#[track_caller]
pub fn shown(repo: &Repo, id: &str, name: &str) -> String {
    repo.git(["show", &format!("agent/{id}:{name}")])
}

/// What an agent had written of its environment by `env -0 > env.bin`.
#[track_caller]
pub fn environment(repo: &Repo, id: &str) -> BTreeMap<String, String> {
    let text = shown(repo, id, "env.bin");
    let entries = text.split('\0').filter_map(|entry| entry.split_once('='));
    entries
        .map(|(name, value)| (name.to_owned(), value.to_owned()))
        .collect()
}

/// `<root>` of a clone whose parent can be written.
pub fn jobs_root(repo: &Repo) -> PathBuf {
    let name = repo.root.file_name().expect("a name").to_string_lossy();
    repo.root.with_file_name(format!("{name}-jobs"))
}

/// Whether the clone lock can be taken, by a program that is not ours.
#[track_caller]
pub fn free(repo: &Repo) {
    let lock = common(repo).join("agent-jobs.lock");
    if lock.exists() {
        repo.program("flock")
            .args(["--nonblock", &lock.to_string_lossy(), "true"])
            .run()
            .success();
    }
}

/// One file of a git dir: mode, time in nanoseconds, content (or the target of a link).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    pub mode: u32,
    pub time: (i64, i64),
    pub content: Vec<u8>,
}

/// Every file of the clone's git dir that no job may touch: all but objects, the job records and
/// the refs, registrations and locks that are agentgate's own.
pub fn untouched(repo: &Repo) -> BTreeMap<PathBuf, Entry> {
    let common = common(repo);
    let ours = [
        "objects",
        "agentgate",
        "worktrees",
        "refs/agentgate",
        "refs/heads/agent",
        "logs/refs/heads/agent",
    ];
    let mut found = BTreeMap::new();
    let mut open = vec![common.clone()];
    while let Some(folder) = open.pop() {
        for entry in fs::read_dir(&folder).expect("it can be listed") {
            let path = entry.expect("an entry").path();
            let below = path.strip_prefix(&common).expect("it is below").to_owned();
            if ours.iter().any(|own| below == Path::new(own)) || below.to_string_lossy().starts_with("agent-jobs.lock")
            {
                continue;
            }
            let meta = fs::symlink_metadata(&path).expect("it is there");
            let content = if meta.is_dir() {
                open.push(path);
                continue;
            } else if meta.is_symlink() {
                fs::read_link(&path)
                    .expect("a link")
                    .into_os_string()
                    .into_encoded_bytes()
            } else {
                fs::read(&path).expect("it can be read")
            };
            let time = (meta.mtime(), meta.mtime_nsec());
            found.insert(
                below,
                Entry {
                    mode: meta.permissions().mode(),
                    time,
                    content,
                },
            );
        }
    }
    assert!(found.contains_key(Path::new("HEAD")) && found.contains_key(Path::new("config")));
    found
}

/// What the two snapshots do not have in common must be nothing.
#[track_caller]
pub fn same(before: &BTreeMap<PathBuf, Entry>, after: &BTreeMap<PathBuf, Entry>) {
    let differs = |path: &&PathBuf| before.get(*path) != after.get(*path);
    let paths: std::collections::BTreeSet<&PathBuf> = before.keys().chain(after.keys()).filter(differs).collect();
    assert!(
        paths.is_empty(),
        "{:#?}",
        paths
            .iter()
            .map(|path| (path, before.get(*path), after.get(*path)))
            .collect::<Vec<_>>()
    );
}

/// A program in the temporary folder.
pub fn script(repo: &Repo, name: &str, text: &str) -> PathBuf {
    let path = repo.top().join(name);
    fs::write(&path, text).expect("it can be written");
    fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).expect("it can be made executable");
    path
}

/// Waits until something is so.
#[track_caller]
pub fn until(what: &str, mut is_so: impl FnMut() -> bool) {
    let start = std::time::Instant::now();
    while !is_so() {
        assert!(start.elapsed().as_secs() < 120, "{what} never came");
        std::thread::sleep(std::time::Duration::from_millis(5));
    }
}

/// A repository with a submodule at this path, filled in its main checkout.
pub fn submodule(path: &str) -> Repo {
    let repo = Repo::new();
    let sub = repo.beside("sub");
    fs::create_dir(&sub.root).expect("it is new");
    sub.git(["init", "--quiet"]);
    sub.write("a.txt", "a\n");
    sub.write("b.txt", "b\n");
    sub.commit("start");
    repo.git(["submodule", "--quiet", "add", "../sub", path]);
    repo.commit("submodule");
    repo
}

/// Names and contents of an archive of text files.
pub fn unpacked(path: &Path) -> Vec<(String, String)> {
    use std::io::Read;
    let mut archive = tar::Archive::new(fs::File::open(path).expect("it is there"));
    let entries = archive.entries().expect("an archive");
    let read = |entry: std::io::Result<tar::Entry<'_, fs::File>>| {
        let mut entry = entry.expect("an entry");
        let name = entry.path().expect("a name").to_string_lossy().into_owned();
        let mut content = String::new();
        entry.read_to_string(&mut content).expect("text");
        (name, content)
    };
    entries.map(read).collect()
}

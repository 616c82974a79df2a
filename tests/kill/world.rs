//! One job in one repository, and all that may be seen of it afterwards.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;

use super::roles;
use super::support::jobs::{sha256, verified};
use super::support::program::{Outcome, Program};
use super::support::repo::Repo;
use super::support::scene::{self, JOB};

/// What becomes of the job.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Variant {
    /// Kept, with artifacts.
    Passes,
    /// Landed by the run itself.
    Lands,
    /// The gate refuses it.
    Refused,
    /// The agent fails.
    Fails,
    /// Four roles, six calls; kept.
    Roles,
}

impl Variant {
    pub const ALL: [Variant; 5] = [
        Variant::Passes,
        Variant::Lands,
        Variant::Refused,
        Variant::Fails,
        Variant::Roles,
    ];

    pub fn code(self) -> i32 {
        match self {
            Variant::Passes | Variant::Lands | Variant::Roles => 0,
            Variant::Refused => 5,
            Variant::Fails => 16,
        }
    }

    /// A file that its first agent who writes changes, and how.
    pub fn work(self) -> (&'static str, &'static str) {
        match self {
            Variant::Roles => ("payments/one.ts", "one\n"),
            _ => ("payments/pay.ts", "export const pay = 2;\n"),
        }
    }
}

const POLICY: &str = "version: 1
payments:
  allowed_roots: [payments/]
  forbidden_imports: [redis]
must_not_touch: [prot]
";

const SETTINGS: &str = "setup: [[sh, -c, 'test -f local.env && echo ready > ready.log']]
copy: [local.env]
checks:
- {name: first, run: 'test -f payments/new.ts && test ! -e payments/old.ts && test -f local.env'}
- {name: second, run: 'echo second; test -f ready.log'}
";

/// It fails where it finds work of its own, and leaves all kinds of things behind.
const AGENT: &str = "set -e
test ! -e payments/new.ts && test -f payments/old.ts && test -f ready.log && test -z \"$(git stash list)\"
echo 'export const pay = 2;' > payments/pay.ts
echo 'export const more = 1;' > payments/new.ts
rm payments/old.ts
printf 'deep/\\n*.zip\\n' > payments/.gitignore
mkdir -p payments/deep/d
echo hidden > payments/deep/d/a.txt
echo archive > payments/deep/d/b.zip
echo noise > build.log
echo stashed > payments/stashed.ts
git add payments/stashed.ts
git stash push --quiet -- payments/stashed.ts
setsid sleep 300 > /dev/null 2>&1 &
echo did it
";

/// A repository in which the job may be run.
pub struct World {
    pub repo: Repo,
    pub variant: Variant,
}

/// All of it that must be the same in the end, by name.
pub type Facts = BTreeMap<String, String>;

impl World {
    pub fn new(variant: Variant) -> World {
        let repo = Repo::empty();
        repo.write("architecture/invariants.yml", POLICY);
        match variant {
            Variant::Roles => roles::settle(&repo),
            _ => repo.write("architecture/agentgate.yml", SETTINGS),
        }
        repo.write(".gitignore", "local.env\n*.log\n");
        repo.write("payments/pay.ts", "export const pay = 1;\n");
        repo.write("payments/old.ts", "export const old = 1;\n");
        repo.write("prot/rules.txt", "rules\n");
        repo.commit("start");
        repo.write("local.env", "KEY=1\n");
        fs::create_dir(repo.top().join("tmp")).expect("it is new");
        fs::write(repo.top().join("task.md"), "Goal: pay twice\n").expect("it can be written");
        World { repo, variant }
    }

    /// The arguments and surroundings of `run`, put to the program.
    pub fn run(&self, program: Program) -> Program {
        let script = match self.variant {
            Variant::Passes | Variant::Lands => AGENT.to_owned(),
            Variant::Refused => format!("{AGENT}echo 'import \"redis\";' > payments/new.ts\n"),
            Variant::Fails => format!("{AGENT}exit 3\n"),
            Variant::Roles => String::new(),
        };
        let top = self.repo.top();
        let (task, artifacts) = (top.join("task.md"), top.join("artifacts"));
        let land: &[&str] = if self.variant == Variant::Lands {
            &["--land"]
        } else {
            &[]
        };
        let program = self.around(program).args(["run", "--job-id", JOB]).args(land).args([
            "--artifacts".as_ref(),
            artifacts.as_os_str(),
            task.as_os_str(),
        ]);
        match self.variant {
            // Who works stands in the settings.
            Variant::Roles => program,
            _ => program.args(["--", "sh", "-c", &script]),
        }
    }

    /// The same for any other verb.
    pub fn around(&self, program: Program) -> Program {
        program.env("TMPDIR", self.repo.top().join("tmp"))
    }

    pub fn agentgate(&self, args: &[&str]) -> Outcome {
        self.around(self.repo.command(args)).run()
    }

    pub fn record(&self) -> PathBuf {
        scene::record(&self.repo, JOB)
    }

    pub fn log(&self) -> Vec<u8> {
        fs::read(self.record().join("events.jsonl")).unwrap_or_default()
    }

    /// Whether the log has its first line.
    pub fn exists(&self) -> bool {
        self.log().contains(&b'\n')
    }

    /// All that must be as after an undisturbed run.
    #[track_caller]
    pub fn facts(&self, code: i32) -> Facts {
        let mut facts = Facts::new();
        let mut say = |name: &str, value: String| assert_eq!(facts.insert(name.to_owned(), value), None);
        let repo = &self.repo;
        say("exit", code.to_string());
        let log = String::from_utf8(self.log()).expect("text");
        let events = verified(&log, JOB);
        let is_roles = self.variant == Variant::Roles;
        for (name, value) in meaning(&events, is_roles) {
            say(&name, value);
        }
        if is_roles {
            for (name, value) in roles::meaning(&events) {
                say(&name, value);
            }
            for (name, value) in roles::files(repo, &self.record(), &events) {
                say(&name, value);
            }
        }
        self.record_is_whole(&events);
        let mut record = names(&self.record());
        record.retain(|name| self.variant != Variant::Lands || name != "report.json");
        // What the killed agent had done is there beside it; an event names it, as of every other file.
        record.retain(|name| !name.starts_with("attempt-"));
        if is_roles {
            roles::renumber(&mut record, &events);
        }
        say("record", record.join(" "));
        say("patch", text(&self.record().join("change.patch")));
        say("agent.log", text(&self.record().join("agent.log")));
        say("setup.log", text(&self.record().join("setup.log")));
        say("ignored.tar", self.listed(&self.record().join("ignored.tar")));
        let bundle = self.record().join("agent-refs.bundle");
        let heads = repo
            .program("git")
            .args(["bundle".as_ref(), "list-heads".as_ref(), bundle.as_os_str()])
            .run();
        let heads = heads.stdout.lines().filter_map(|line| line.split(' ').nth(1));
        say("bundle", heads.collect::<Vec<_>>().join(" "));
        say("artifacts", names(&repo.top().join("artifacts")).join(" "));
        say("artifacts patch", text(&repo.top().join("artifacts/change.patch")));
        self.ref_is_a_prefix(&log);
        let record_ref = format!("refs/agentgate/jobs/{JOB}");
        say("ref", repo.git(["ls-tree", "--name-only", &record_ref]));
        say("candidate", repo.git(["rev-parse", &format!("{record_ref}:candidate")]));
        say(
            "branches",
            repo.git(["for-each-ref", "--format=%(refname)", "refs/heads"]),
        );
        let count = repo.git(["rev-list", "--count", "--all"]);
        say("commits", count);
        let tips = repo.git(["for-each-ref", "--format=%(refname) %(tree)", "refs/heads"]);
        say("tips", tips);
        say("checkout", repo.git(["status", "--porcelain", "--branch"]));
        say(
            "checkout files",
            scene::tree(&repo.root)
                .into_iter()
                .filter(|line| !line.starts_with(".git "))
                .collect::<Vec<_>>()
                .join("\n"),
        );
        say(
            "jobs",
            below(&scene::jobs(repo))
                .iter()
                .map(|path| plain(path))
                .collect::<Vec<_>>()
                .join("\n"),
        );
        say("worktrees", names(&repo.root.join(".git/worktrees")).len().to_string());
        let row = scene::row(repo, JOB);
        say("state", row["state"].to_string());
        if [Variant::Passes, Variant::Roles].contains(&self.variant) {
            let place = PathBuf::from(row["worktree"].as_str().unwrap_or_default());
            let there = repo.beside(
                &place
                    .strip_prefix(repo.top())
                    .expect("it is below")
                    .display()
                    .to_string(),
            );
            say(
                "worktree status",
                there.git(["status", "--porcelain", "--branch", "--untracked-files=all"]),
            );
            say("worktree tree", there.git(["rev-parse", "HEAD^{tree}"]));
            say(
                "worktree lock",
                repo.root
                    .join(".git/worktrees")
                    .join(place.file_name().expect("a name"))
                    .join("locked")
                    .exists()
                    .to_string(),
            );
        }
        facts
    }

    /// Every file that an event names is as the last of them says.
    #[track_caller]
    fn record_is_whole(&self, events: &[Value]) {
        let mut named: BTreeMap<String, (u64, String)> = BTreeMap::new();
        let mut open: Vec<&Value> = events.iter().collect();
        open.reverse();
        while let Some(value) = open.pop() {
            match value {
                Value::Object(map) => {
                    if let (Some(name), Some(bytes), Some(sum)) = (map.get("name"), map.get("bytes"), map.get("sha256"))
                    {
                        let name = name.as_str().expect("a name").to_owned();
                        named.insert(
                            name,
                            (
                                bytes.as_u64().expect("a number"),
                                sum.as_str().expect("a sum").to_owned(),
                            ),
                        );
                    }
                    open.extend(map.values().rev());
                }
                Value::Array(list) => open.extend(list.iter().rev()),
                _ => {}
            }
        }
        for (name, (bytes, sum)) in &named {
            let there =
                fs::read(self.record().join(name)).unwrap_or_else(|error| panic!("{name} of the record: {error}"));
            assert_eq!(
                (there.len() as u64, &sha256(&there)),
                (*bytes, sum),
                "{name} is not the file that the log names"
            );
        }
        // And all there is is named, but for what comes and goes with the run.
        for name in names(&self.record()) {
            let own = ["events.jsonl", "owner.lock", "report.json"];
            assert!(
                named.contains_key(&name) || own.contains(&name.as_str()),
                "{name} is in the record, and no event names it"
            );
        }
        // Killed after its landing was written down, its own words are lost; nothing else is.
        if self.variant == Variant::Lands && !self.record().join("report.json").exists() {
            return;
        }
        let report: Value =
            serde_json::from_str(&text(&self.record().join("report.json"))).expect("the closing report");
        assert_eq!(report["exit"], self.variant.code(), "{report:#}");
    }

    /// The record's ref has the beginning of the log, whole lines.
    #[track_caller]
    fn ref_is_a_prefix(&self, log: &str) {
        let copy =
            self.repo
                .program("git")
                .args(["cat-file", "blob", &format!("refs/agentgate/jobs/{JOB}:events.jsonl")]);
        let copy = copy.run().success().stdout;
        assert!(
            log.starts_with(&copy) && copy.ends_with('\n'),
            "the ref's log is no beginning of the log"
        );
        let last = copy.lines().last().expect("a line");
        let expected = match self.variant {
            // Every role's answer is in it.
            Variant::Roles => "step.finished",
            variant if variant.code() == 0 => "gate.finished",
            _ => "job.",
        };
        // An owner that came later stands in it too.
        assert!(
            last.contains(expected) || last.contains("worktree.added") || last.contains("job.owned"),
            "{last}"
        );
        if self.variant.code() == 0 {
            let commit = verified(log, JOB)
                .into_iter()
                .rfind(|event| event["event"] == "commit.made")
                .expect("it is committed");
            let message = self
                .repo
                .git(["cat-file", "-p", commit["commit"].as_str().expect("an id")]);
            let lines = message.lines().filter_map(|line| line.strip_prefix("Agent-Log-Sum: "));
            let sums: Vec<&str> = lines.collect();
            let sum: Value = serde_json::from_str(last).expect("JSON");
            assert_eq!(sums, [sum["sum"].as_str().expect("a sum")], "{message}");
        }
    }

    fn listed(&self, archive: &Path) -> String {
        if !archive.exists() {
            return "there is none".to_owned();
        }
        self.repo
            .program("tar")
            .args(["-tf".as_ref(), archive.as_os_str()])
            .run()
            .success()
            .stdout
    }

    /// No process, lock or temporary file of the job is left.
    #[track_caller]
    pub fn nothing_left(&self) {
        let repo = &self.repo;
        assert_eq!(
            processes_below(&repo.top()),
            Vec::<String>::new(),
            "processes of the job are alive"
        );
        assert_eq!(
            names(&repo.top().join("tmp")),
            Vec::<String>::new(),
            "left in the temporary folder"
        );
        let left: Vec<PathBuf> = below(&repo.root.join(".git"))
            .into_iter()
            .filter(|path| is_temporary(path))
            .collect();
        assert_eq!(left, Vec::<PathBuf>::new(), "left in the git dir");
        let left: Vec<PathBuf> = below(&scene::jobs(repo))
            .into_iter()
            .filter(|path| path.starts_with(".trash") || path.starts_with(".jobs") || path.starts_with(".checks"))
            .collect();
        assert_eq!(left, Vec::<PathBuf>::new(), "left beside the worktrees");
        for lock in [repo.root.join(".git/agent-jobs.lock"), self.record().join("owner.lock")] {
            if lock.exists() {
                repo.program("flock")
                    .args(["-n".as_ref(), lock.as_os_str(), "true".as_ref()])
                    .run()
                    .success();
            }
        }
        repo.program("git")
            .args(["fsck", "--no-dangling", "--connectivity-only"])
            .run()
            .success();
    }
}

/// What git or agentgate make for a moment. Objects that were never finished git itself removes (`git gc`), and they are
/// nobody's.
fn is_temporary(path: &Path) -> bool {
    let name = path.file_name().expect("a name").to_string_lossy();
    let is_lock = name.ends_with(".lock") && !["agent-jobs.lock", "owner.lock", "land.lock"].contains(&&*name);
    is_lock
        || name.starts_with(".agentgate-")
        || name == "resume.json"
        || name == "agent-jobs.holder"
        || name.starts_with("agentgate-landing-")
        || name == ".forgotten"
}

/// The pids of all processes that have something of this folder in their environment: agents of any owner of any job,
/// and the tools around them.
fn processes_below(folder: &Path) -> Vec<String> {
    let mark = folder.as_os_str().as_encoded_bytes();
    let entries = fs::read_dir("/proc").expect("/proc can be listed");
    let names = entries
        .flatten()
        .filter_map(|entry| entry.file_name().into_string().ok());
    let marked = |pid: &String| {
        let environment = fs::read(format!("/proc/{pid}/environ")).unwrap_or_default();
        memchr::memmem::find(&environment, mark).is_some()
    };
    names.filter(|pid| marked(pid) && scene::alive(pid)).collect()
}

/// Names in a folder, sorted.
pub fn names(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).into_iter().flatten();
    let mut names: Vec<String> = entries
        .map(|entry| {
            entry
                .expect("it can be listed")
                .file_name()
                .to_string_lossy()
                .into_owned()
        })
        .collect();
    names.retain(|name| !name.starts_with("torn-"));
    names.sort();
    names
}

/// All paths below a folder, without what belongs to a worktree's files.
fn below(folder: &Path) -> Vec<PathBuf> {
    let walk = walkdir::WalkDir::new(folder).min_depth(1).sort_by_file_name();
    let is_worktree = |entry: &walkdir::DirEntry| {
        entry
            .path()
            .parent()
            .is_some_and(|parent| parent != folder && parent.join(".git").is_file())
    };
    let entries = walk
        .into_iter()
        .filter_entry(|entry| !is_worktree(entry))
        .filter_map(Result::ok);
    entries
        .map(|entry| entry.path().strip_prefix(folder).expect("it is below").to_owned())
        .collect()
}

/// A path without the number of the owner that made it.
fn plain(path: &Path) -> String {
    let name = path.display().to_string();
    match name.split_once('~') {
        Some((before, after)) => format!(
            "{before}{}",
            after.trim_start_matches(|letter: char| letter.is_ascii_digit())
        ),
        None => name,
    }
}

pub fn text(path: &Path) -> String {
    fs::read(path).map_or_else(
        |error| format!("{:?}", error.kind()),
        |bytes| String::from_utf8_lossy(&bytes).into_owned(),
    )
}

/// What an event says under these keys.
pub fn keep(event: &Value, keys: &[&str]) -> String {
    let texts: Vec<String> = keys.iter().map(|key| format!("{key}={}", event[*key])).collect();
    texts.join(" ")
}

/// The events without what each run has its own of.
#[track_caller]
fn meaning(events: &[Value], is_roles: bool) -> Vec<(String, String)> {
    let of = |kind: &'static str| events.iter().filter(move |event| event["event"] == kind);
    let mut found = Vec::new();
    // No step's effect is there twice.
    for kind in [
        "job.created",
        "preflight.passed",
        "candidate.frozen",
        "gate.finished",
        "commit.made",
        "job.kept",
        "job.landed",
        "job.refused",
        "job.failed",
        "job.interrupted",
        "job.dropped",
    ] {
        found.push((format!("count {kind}"), of(kind).count().to_string()));
    }
    let owners: Vec<u64> = of("job.owned").filter_map(|event| event["epoch"].as_u64()).collect();
    assert_eq!(
        owners,
        (1..=owners.len() as u64).collect::<Vec<_>>(),
        "epochs of the owners"
    );
    if !is_roles {
        let implemented = |kind| of(kind).filter(|event| event["step"] == "implement").count();
        let retried = implemented("step.retried");
        assert!(
            retried <= 1 && implemented("step.finished") == 1 + retried,
            "the agent's step is finished once: {events:#?}"
        );
        let last = of("step.finished")
            .rfind(|event| event["step"] == "implement")
            .expect("the agent ended");
        found.push(("agent".to_owned(), keep(last, &["ending", "status"])));
    }
    for (kind, keys) in [
        (
            "job.created",
            &[
                "base",
                "target",
                "goal",
                "policy",
                "agent",
                "agent_source",
                "host",
                "model_label",
                "waivers",
                "timeout",
            ][..],
        ),
        (
            "candidate.frozen",
            &["tree", "changed", "hidden", "refs", "nested", "collisions"],
        ),
        ("gate.finished", &["exit", "findings"]),
        ("job.kept", &["branch"]),
        ("job.landed", &["target", "old"]),
        ("job.refused", &["exit"]),
        ("job.failed", &["exit", "reason", "left"]),
    ] {
        found.extend(
            of(kind)
                .enumerate()
                .map(|(index, event)| (format!("{kind} {index}"), keep(event, keys))),
        );
    }
    let checks: Vec<String> = of("check.finished")
        .map(|event| keep(event, &["check", "name", "on", "ending", "status"]))
        .collect();
    found.push(("checks".to_owned(), checks.join("\n")));
    // Who sets a torn tail aside says so, also behind the end.
    let end = events.iter().rfind(|event| event["event"] != "job.owned");
    let end = end.expect("a log has events");
    found.push(("last event".to_owned(), end["event"].to_string()));
    found
}

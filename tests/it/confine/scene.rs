//! A clone with everything around it that an agent must not reach, and an agent that tries.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};
use tempfile::TempDir;

use crate::support::jobs::{common, jobs_root, recorded, until};
use crate::support::person::Person;
use crate::support::print::{Prints, prints};
use crate::support::program::{Outcome, Program, Running};
use crate::support::repo::Repo;

/// What is read where something hidden is read.
const SECRET: &str = "SECRET\n";
/// The job that was kept before.
const OTHER: &str = "other";
/// The job whose agent attacks.
pub const JOB: &str = "j1";

const ATTACK: &str = include_str!("attack.py");
const WITHOUT: &str = include_str!("without.py");
const TERMINAL: &str = include_str!("terminal.py");

/// How one attack ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Attempt {
    pub name: String,
    /// `through`, `refused`, `absent`, or `broken` where the attack itself is wrong.
    pub how: String,
    pub why: String,
}

/// A siege that is over.
pub struct Siege {
    pub outcome: Outcome,
    pub attempts: Vec<Attempt>,
    /// Everything outside of the job's own folders, as the attacks began and when they were over.
    pub before: Prints,
    pub after: Prints,
    /// What came up on the person's terminal.
    pub on_terminal: String,
}

impl Siege {
    /// Names of the attacks that ended so.
    pub fn those(&self, how: &str) -> Vec<&str> {
        let ended = self.attempts.iter().filter(|attempt| attempt.how == how);
        ended.map(|attempt| attempt.name.as_str()).collect()
    }
}

/// System calls that fail, and how.
#[derive(Clone, Copy, Debug)]
pub struct Without<'a> {
    pub calls: &'a [i64],
    pub errno: i32,
}

pub struct Scene {
    pub repo: Repo,
    pub person: Person,
    /// Folders of the person in the machine's temporary ones.
    temporary: [TempDir; 2],
    config: Value,
    mark: String,
    /// Of `agentgate run`.
    pub options: &'static [&'static str],
}

impl Scene {
    /// With everything that can be attacked.
    pub fn new(person: Person) -> Scene {
        let mut scene = Scene::bare(person);
        let task = scene.repo.top().join("TASK.md");
        let kept = scene.repo.command(["run", "--job-id", OTHER]).args([task.as_os_str()]);
        let script = "echo SECRET > payments/secret.txt";
        kept.args(["--", "sh", "-c", script]).run().success();
        scene.config = scene.describe();
        scene
    }

    /// Without the other job.
    pub fn bare(person: Person) -> Scene {
        let repo = Repo::of(person);
        let home = repo.home();
        for (path, text) in [
            (home.join(".ssh/id"), SECRET),
            (home.join(".netrc"), SECRET),
            (home.join(".bashrc"), "# theirs\n"),
            (repo.root.join(".git/hooks/pre-commit"), "#!/bin/sh\n"),
            (repo.root.join(".git/info/exclude"), "*.own\n"),
        ] {
            fs::create_dir_all(path.parent().expect("a folder")).expect("it can be made");
            fs::write(&path, text).expect("it can be written");
            fs::set_permissions(&path, std::os::unix::fs::PermissionsExt::from_mode(0o755)).expect("ours");
        }
        for (name, text) in [
            ("attack.py", ATTACK),
            ("without.py", WITHOUT),
            ("terminal.py", TERMINAL),
            ("TASK.md", "Goal: SECRET\n"),
        ] {
            fs::write(repo.top().join(name), text).expect("it can be written");
        }
        person.own_all(&repo.top());
        let temporary = ["/tmp", "/var/tmp"].map(|place| {
            let folder = person.folder(place);
            fs::write(folder.path().join("file"), "a file\n").expect("it can be written");
            person.own_all(folder.path());
            folder
        });
        let mark = format!("agentgate-attack-{}-{}", std::process::id(), person.number());
        Scene {
            repo,
            person,
            temporary,
            config: Value::Null,
            mark,
            options: &[],
        }
    }

    /// For `attack.py`.
    fn describe(&self) -> Value {
        let (main, git, home) = (self.repo.root.clone(), common(&self.repo), self.repo.home());
        let jobs = jobs_root(&self.repo);
        let (other, record) = (jobs.join(OTHER), git.join("agentgate/jobs").join(OTHER));
        let head = self.repo.id("main");
        let [tmp, var_tmp] = self.temporary.each_ref().map(TempDir::path);
        let secret = home.join(".ssh/id");
        let admin = git.join("worktrees").join(OTHER);
        json!({
            "top": self.repo.top(),
            "main": main,
            "pids": [],
            "mark": self.mark,
            "terminal": self.repo.top().join("terminal"),
            "secret": secret,
            "handle": self.handle(&secret),
            "secrets": {
                "a key below the home": secret,
                "a file of passwords": home.join(".netrc"),
                "the task of another job": record.join("task.md"),
                "the worktree of another job": other.join("payments/secret.txt"),
            },
            "files": {
                "main": main.join("payments/pay.ts"),
                "config": git.join("config"),
                "hook": git.join("hooks/pre-commit"),
                "ref": git.join("refs/heads/main"),
                "object": git.join("objects").join(&head[..2]).join(&head[2..]),
                "exclude": git.join("info/exclude"),
                "HEAD": git.join("HEAD"),
                "index": git.join("index"),
                "lock": git.join("agent-jobs.lock"),
                "admin": admin.join("HEAD"),
                "record": record.join("events.jsonl"),
                "other": other.join("payments/secret.txt"),
                "other's .git": other.join(".git"),
                "home": home.join(".bashrc"),
                "home's git": home.join(".gitconfig"),
                "tmp": tmp.join("file"),
                "var-tmp": var_tmp.join("file"),
            },
            "folders": {
                "main": main,
                "payments": main.join("payments"),
                ".git": git,
                "hooks": git.join("hooks"),
                "objects": git.join("objects"),
                "refs": git.join("refs/heads"),
                "admins": git.join("worktrees"),
                "records": git.join("agentgate/jobs"),
                "other": other,
                "jobs": jobs,
                "home": home,
                "tmp": tmp,
                "var-tmp": var_tmp,
            },
        })
    }

    /// What open_by_handle_at(2) needs: found out beforehand, so that nothing keeps it from the agent.
    fn handle(&self, path: &Path) -> Value {
        let script = "import ctypes, struct, sys\n\
            handle = ctypes.create_string_buffer(struct.pack('Ii', 128, 0) + bytes(128))\n\
            mount = ctypes.c_int()\n\
            ctypes.CDLL(None).name_to_handle_at(-100, sys.argv[1].encode(), handle, ctypes.byref(mount), 0)\n\
            length, kind = struct.unpack_from('Ii', handle)\n\
            print(kind, handle[8:8 + length].hex())";
        let python = self.repo.program("python3").args(["-c", script]);
        let told = python.args([path]).run().success().stdout;
        let (kind, raw) = told.trim().split_once(' ').expect("two words");
        json!([kind.parse::<i64>().expect("a number"), raw])
    }

    fn write_config(&self) -> PathBuf {
        let path = self.repo.top().join("scene.json");
        fs::write(&path, self.config.to_string()).expect("it can be written");
        path
    }

    /// The attacks that need no more than the person's rights, with no wall around them. What they do
    /// not get through here proves nothing when it is refused there.
    pub fn control(&self) -> Vec<Attempt> {
        let config = self.write_config();
        let folder = self.repo.top().join("control");
        fs::create_dir(&folder).expect("it is new");
        self.person.own(&folder);
        let python = self.repo.program("python3").cwd(&folder);
        let script = self.repo.top().join("attack.py");
        let outcome = python
            .args([script.as_os_str(), config.as_os_str(), "files".as_ref()])
            .run();
        attempts(&outcome.success().stdout)
    }

    /// `agentgate run`, for which some calls fail.
    pub fn run(&self, without: Option<Without<'_>>, agent: &[&str]) -> Program {
        let binary = self.repo.binary();
        let program = match without {
            None => self.repo.program(&binary),
            Some(Without { calls, errno }) => {
                let numbers: Vec<String> = calls.iter().map(i64::to_string).collect();
                let without = self.repo.top().join("without.py");
                let python = self.repo.program("python3").args([without]);
                python.args([errno.to_string(), numbers.join(","), binary])
            }
        };
        let task = self.repo.top().join("TASK.md");
        let program = program
            .args(["run", "--json", "--job-id", JOB])
            .args(self.options)
            .args([task.as_os_str()]);
        program.args(["--"]).args(agent)
    }

    /// Lets the agent attack, and watches.
    #[track_caller]
    pub fn besiege(&self, without: Option<Without<'_>>) -> Siege {
        let config = self.write_config();
        let script = self.repo.top().join("attack.py");
        let terminal = self.terminal();
        let words = ["python3", &script.to_string_lossy(), &config.to_string_lossy()];
        let mut running = self.run(without, &words).spawn();
        let worktree = jobs_root(&self.repo).join(JOB);
        let mut wait = |file: &str| {
            until(file, || worktree.join(file).exists() || !running.is_running());
            running.is_running()
        };
        let mut before = Prints::new();
        let mut after = Prints::new();
        if wait("at-work") {
            before = self.outside();
            let pids = family(running.pid());
            fs::write(worktree.join("go.new"), pids.join(" ")).expect("it can be written");
            fs::rename(worktree.join("go.new"), worktree.join("go")).expect("it can be renamed");
            let mut wait = |file: &str| {
                until(file, || worktree.join(file).exists() || !running.is_running());
                running.is_running()
            };
            if wait("done") {
                after = self.outside();
                fs::write(worktree.join("finish"), "").expect("it can be written");
            }
        }
        let outcome = running.wait();
        fs::write(self.repo.top().join("stop"), "").expect("it can be written");
        terminal.wait().success();
        let log = recorded(&self.repo, JOB, "agent.log");
        let attempts = attempts(&log);
        assert!(
            attempts.last().is_some_and(|last| last.name == "end"),
            "the agent did not come to its end:\n{log}\n{outcome}"
        );
        for folder in ["/tmp", "/var/tmp"] {
            let created = Path::new(folder).join(&self.mark);
            assert!(fs::remove_file(&created).is_err(), "{} was created", created.display());
        }
        Siege {
            outcome,
            attempts,
            before,
            after,
            on_terminal: fs::read_to_string(self.repo.top().join("seen")).unwrap_or_default(),
        }
    }

    fn terminal(&self) -> Running {
        let top = self.repo.top();
        let paths = ["terminal.py", "terminal.name", "seen", "stop"].map(|name| top.join(name));
        let running = self.repo.program("python3").args(&paths).spawn();
        until("a terminal", || paths[1].exists());
        let name = fs::read_to_string(&paths[1]).expect("it was named");
        // The name is known only now; the agent is told by a link.
        std::os::unix::fs::symlink(name, top.join("terminal")).expect("a link");
        running
    }

    /// Everything outside of the job's own folders.
    fn outside(&self) -> Prints {
        let jobs = jobs_root(&self.repo);
        let own = [
            jobs.join(JOB),
            jobs.join(".jobs").join(JOB),
            common(&self.repo).join("agentgate/jobs").join(JOB),
            self.repo.top().join("seen"),
        ];
        let mut tops = vec![self.repo.top()];
        tops.extend(self.temporary.iter().map(|folder| folder.path().to_owned()));
        prints(&tops, &own)
    }
}

/// A process and those that it started.
pub fn family(pid: u32) -> Vec<String> {
    let children = fs::read_to_string(format!("/proc/{pid}/task/{pid}/children")).unwrap_or_default();
    let pids = std::iter::once(pid.to_string()).chain(children.split_whitespace().map(str::to_owned));
    pids.collect()
}

fn attempts(log: &str) -> Vec<Attempt> {
    let lines = log.lines().filter_map(|line| line.strip_prefix("attack\t"));
    let parse = |line: &str| {
        let mut words = line.splitn(3, '\t').map(str::to_owned);
        let mut next = || words.next().expect("three words");
        Attempt {
            name: next(),
            how: next(),
            why: next(),
        }
    };
    lines.map(parse).collect()
}

/// Processes with a word in their environment or command line: pid and command line.
pub fn marked(word: &str) -> Vec<(u32, String)> {
    let mut found = Vec::new();
    for entry in fs::read_dir("/proc").expect("it can be listed").flatten() {
        let Some(pid) = entry.file_name().to_str().and_then(|name| name.parse().ok()) else {
            continue;
        };
        let read = |name: &str| fs::read(entry.path().join(name)).unwrap_or_default();
        let command = read("cmdline");
        let has_word = |bytes: &[u8]| bytes.windows(word.len()).any(|window| window == word.as_bytes());
        // A zombie has neither.
        if has_word(&command) || has_word(&read("environ")) {
            found.push((pid, String::from_utf8_lossy(&command).replace('\0', " ")));
        }
    }
    found
}

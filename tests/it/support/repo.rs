//! Real repositories in a temporary folder, with nothing of the machine's own configuration, and
//! the real binary run in them.

use std::cell::Cell;
use std::ffi::{OsStr, OsString};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::rc::Rc;

use tempfile::TempDir;

use super::person::Person;
use super::program::{Outcome, Program};
use super::proof::Held;

/// A policy that protects `prot/` and forbids `infra/async` and redis in `payments/`.
pub const POLICY: &str = "version: 1
payments:
  allowed_roots: [payments/]
  forbidden_imports: [redis]
  forbidden_dirs: [infra/async]
must_not_touch: [prot]
";

/// The trailers that an agent commit needs.
pub const TRAILERS: &str = "Agent-Job-Id: j1\nAgent-Host: local\nAgent-Model-Label: unspecified\n";

/// The first seconds of the repositories' time: commits are one minute apart.
const EPOCH: u64 = 1_700_000_000;

/// A file system in memory that programs can be started from, where the machine has one and nobody
/// chose a place: records are synced to the disk many times a job, which is most of a test's time.
fn in_memory() -> Option<&'static Path> {
    let place = Path::new("/dev/shm");
    let about = rustix::fs::statvfs(place).ok()?;
    let has_room = about.f_bavail.saturating_mul(about.f_frsize) > 1 << 30;
    let runs = !about.f_flag.contains(rustix::fs::StatVfsMountFlags::NOEXEC);
    let writable = rustix::fs::access(place, rustix::fs::Access::WRITE_OK).is_ok();
    (has_room && runs && writable && std::env::var_os("TMPDIR").is_none()).then_some(place)
}

/// A repository, and the temporary folder around it with the person's home.
#[derive(Clone)]
pub struct Repo {
    folder: Rc<Held>,
    clock: Rc<Cell<u64>>,
    person: Person,
    /// Top folder of the checkout (the git dir itself where it is bare).
    pub root: PathBuf,
}

impl Repo {
    /// An empty repository with branch `main`; no commit yet.
    pub fn empty() -> Repo {
        let folder = match in_memory() {
            Some(place) => TempDir::with_prefix_in("agentgate-it-", place),
            None => TempDir::with_prefix("agentgate-it-"),
        };
        Repo::empty_in(folder.expect("a temporary folder can be made"), Person::Tester)
    }

    /// [`Repo::empty`] on a disk, all of it this person's.
    pub fn empty_of(person: Person) -> Repo {
        Repo::empty_in(person.folder("/var/tmp"), person)
    }

    fn empty_in(folder: TempDir, person: Person) -> Repo {
        // Some systems reach their temporary folder through a link.
        let top = fs::canonicalize(folder.path()).expect("it can be resolved");
        let home = top.join("home");
        fs::create_dir_all(&home).expect("the home can be made");
        fs::write(
            home.join(".gitconfig"),
            "[user]\n\tname = A Person\n\temail = person@example.com\n[init]\n\tdefaultBranch = main\n\
             [protocol \"file\"]\n\tallow = always\n[commit]\n\tgpgsign = false\n",
        )
        .expect("the configuration can be written");
        let repo = Repo {
            folder: Rc::new(Held::new(folder, person)),
            clock: Rc::new(Cell::new(EPOCH)),
            person,
            root: top.join("repo"),
        };
        fs::create_dir_all(&repo.root).expect("the checkout can be made");
        person.own_all(&repo.top());
        repo.git(["init", "--quiet", "."]);
        repo
    }

    /// [`Repo::new`] on a disk, all of it this person's.
    pub fn of(person: Person) -> Repo {
        Repo::empty_of(person).filled()
    }

    /// One with [`POLICY`], a source file and a protected one, committed to `main`.
    pub fn new() -> Repo {
        Repo::empty().filled()
    }

    fn filled(self) -> Repo {
        let repo = self;
        repo.write("architecture/invariants.yml", POLICY);
        repo.write("payments/pay.ts", "export const pay = 1;\n");
        repo.write("prot/rules.txt", "rules\n");
        repo.commit("start");
        repo
    }

    /// The same temporary folder and clock, another checkout; it need not exist.
    pub fn beside(&self, name: &str) -> Repo {
        Repo {
            root: self.top().join(name),
            ..self.clone()
        }
    }

    /// The temporary folder.
    pub fn top(&self) -> PathBuf {
        fs::canonicalize(self.folder.path()).expect("it is there")
    }

    /// The test has done something (say it in a word) after which its jobs cannot be verified any more; all
    /// others are when the test ends.
    pub fn tampered(&self, why: &'static str) {
        self.folder.tampered(why);
    }

    /// The person's home.
    pub fn home(&self) -> PathBuf {
        self.top().join("home")
    }

    /// A clone of this one as `git clone` makes it.
    pub fn clone_as(&self, name: &str, options: &[&str]) -> Repo {
        let clone = self.beside(name);
        // A plain path would be copied whole, whatever the depth.
        let url = format!("file://{}", self.root.display());
        let args = [&["clone", "--quiet"], options, &[&url, name]].concat();
        self.beside("").git(args);
        clone
    }

    /// Writes a file below the checkout, with the folders above it.
    pub fn write(&self, path: impl AsRef<Path>, content: impl AsRef<[u8]>) {
        let path = self.root.join(path);
        fs::create_dir_all(path.parent().expect("it has a folder")).expect("folders can be made");
        fs::write(&path, content).expect("the file can be written");
        for made in path.ancestors().take_while(|made| made.starts_with(&self.root)) {
            self.person.own(made);
        }
    }

    /// Deletes a file of the checkout.
    pub fn remove(&self, path: &str) {
        fs::remove_file(self.root.join(path)).expect("the file is there");
    }

    /// Commits everything in the checkout with this message, as it is; gives the id.
    pub fn commit(&self, message: &str) -> String {
        self.git(["add", "-A"]);
        self.program("git")
            .args(["commit", "--quiet", "--allow-empty", "--cleanup=verbatim", "-F", "-"])
            .stdin(message)
            .run()
            .success();
        self.id("HEAD")
    }

    /// [`Repo::write`] and [`Repo::commit`].
    pub fn change(&self, path: &str, content: &str) -> String {
        self.write(path, content);
        self.commit(&format!("change {path}"))
    }

    /// A new branch at HEAD, checked out.
    pub fn branch(&self, name: &str) {
        self.git(["checkout", "--quiet", "-b", name]);
    }

    /// Checks a revision out.
    pub fn checkout(&self, revision: &str) {
        self.git(["checkout", "--quiet", revision]);
    }

    /// The commit id of a revision.
    pub fn id(&self, revision: &str) -> String {
        self.git(["rev-parse", "--verify", &format!("{revision}^{{commit}}")])
    }

    /// Runs git, which must succeed; its output without the last newline.
    pub fn git<I: IntoIterator<Item = S>, S: AsRef<OsStr>>(&self, args: I) -> String {
        let outcome = self.program("git").args(args).run().success();
        outcome.stdout.strip_suffix('\n').unwrap_or(&outcome.stdout).to_owned()
    }

    /// Runs `agentgate` to its end.
    pub fn agentgate<I: IntoIterator<Item = S>, S: AsRef<OsStr>>(&self, args: I) -> Outcome {
        self.command(args).run()
    }

    /// `agentgate`, to be given more than arguments.
    pub fn command<I: IntoIterator<Item = S>, S: AsRef<OsStr>>(&self, args: I) -> Program {
        self.program(&self.binary()).args(args)
    }

    /// The real binary, where this person can reach it.
    pub fn binary(&self) -> String {
        let built = Path::new(env!("CARGO_BIN_EXE_agentgate"));
        self.person.reachable(built, &self.top()).display().to_string()
    }

    /// Any program, in the checkout, with the hermetic environment. git's time moves on.
    pub fn program(&self, program: &str) -> Program {
        let now = self.clock.get();
        self.clock.set(now + 60);
        let date = format!("{now} +0000");
        let path = std::env::var_os("PATH").unwrap_or_default();
        let environment: Vec<(&str, OsString)> = vec![
            ("PATH", path),
            ("HOME", self.home().into()),
            ("LC_ALL", "C.UTF-8".into()),
            ("TZ", "UTC".into()),
            ("GIT_CONFIG_NOSYSTEM", "1".into()),
            ("GIT_CEILING_DIRECTORIES", self.top().into()),
            ("GIT_AUTHOR_DATE", date.clone().into()),
            ("GIT_COMMITTER_DATE", date.into()),
        ];
        let mut command = Command::new(program);
        command.env_clear().envs(environment).current_dir(&self.root);
        self.person.runs(&mut command);
        Program::of(command)
    }
}

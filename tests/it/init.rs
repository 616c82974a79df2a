//! `agentgate init`: what it writes fits the repository, is accepted by the gate, and overwrites
//! nothing.

use std::ffi::{OsStr, OsString};
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use agentgate::files;
use agentgate::process::{Outcome, Status, Tool};

const POLICY: &str = "architecture/invariants.yml";

/// A folder with a home of its own and a clone in it. Nothing of the machine's settings counts.
pub struct Bench {
    pub temp: tempfile::TempDir,
    pub clone: PathBuf,
    pub env: Vec<(OsString, OsString)>,
}

impl Bench {
    pub fn new() -> Bench {
        let temp = tempfile::tempdir().expect("a temporary folder");
        let root = fs::canonicalize(temp.path()).expect("it can be resolved");
        let path = std::env::var_os("PATH").unwrap_or_default();
        let env = [
            ("PATH", path),
            ("HOME", root.join("home").into()),
            ("TMPDIR", root.join("tmp").into()),
            ("GIT_CONFIG_NOSYSTEM", "1".into()),
            ("GIT_AUTHOR_NAME", "A Person".into()),
            ("GIT_AUTHOR_EMAIL", "person@example.com".into()),
            ("GIT_COMMITTER_NAME", "A Person".into()),
            ("GIT_COMMITTER_EMAIL", "person@example.com".into()),
        ];
        for folder in ["home", "tmp", "clone"] {
            fs::create_dir(root.join(folder)).expect("a new folder");
        }
        Bench {
            temp,
            clone: root.join("clone"),
            env: env
                .into_iter()
                .map(|(name, value): (&str, OsString)| (name.into(), value))
                .collect(),
        }
    }

    /// A clone with these files and no commit.
    fn with(paths: &[&[u8]]) -> Bench {
        let bench = Bench::new();
        bench.sh(&bench.clone, "git init -q -b main");
        paths.iter().for_each(|path| bench.put(path, b"x\n"));
        bench
    }

    /// The same with a first commit.
    fn committed(paths: &[&[u8]]) -> Bench {
        let bench = Bench::with(paths);
        bench.sh(&bench.clone, "git add -A && git commit -qm first");
        bench
    }

    fn put(&self, path: &[u8], content: &[u8]) {
        let path = self.clone.join(OsStr::from_bytes(path));
        fs::create_dir_all(path.parent().expect("it lies in a folder")).expect("a folder");
        files::replace(&path, content, 0o644).expect("a file");
    }

    fn tool(&self, program: &str, cwd: &Path, args: &[&str]) -> Outcome {
        Tool::new(program, cwd)
            .args(args)
            .environment(self.env.clone())
            .time_limit(std::time::Duration::from_secs(120))
            .run()
            .expect("it runs to its end")
    }

    pub fn sh(&self, cwd: &Path, line: &str) -> String {
        let outcome = self.tool("/bin/sh", cwd, &["-c", line]);
        assert!(outcome.success(), "{line}: {outcome:?}");
        String::from_utf8_lossy(&outcome.stdout).into_owned()
    }

    pub fn agentgate(&self, cwd: &Path, args: &[&str]) -> (Status, String, String) {
        let outcome = self.tool(env!("CARGO_BIN_EXE_agentgate"), cwd, args);
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        (outcome.status, text(&outcome.stdout), text(&outcome.stderr))
    }

    fn policy(&self) -> String {
        fs::read_to_string(self.clone.join(POLICY)).expect("a policy")
    }

    /// Runs init in a folder of the clone and commits by the line it ends with.
    fn init_and_commit(&self, folder: &str) -> String {
        let cwd = self.clone.join(folder);
        let (status, out, err) = self.agentgate(&cwd, &["init"]);
        assert_eq!((status, err.as_str()), (Status::Exited(0), ""), "{out}");
        let next = out.lines().last().expect("a last line").trim().to_owned();
        self.sh(&cwd, &next);
        let tracked = self.sh(&self.clone, "git ls-tree -r --name-only HEAD architecture");
        assert_eq!(tracked, format!("{POLICY}\n"));
        next
    }

    /// Exit status of a job whose agent is this shell line.
    fn job(&self, line: &str) -> (Status, String) {
        let task = self.clone.with_file_name("TASK.md");
        files::replace(&task, b"Goal: try it\n", 0o644).expect("a task");
        let (status, _, err) = self.agentgate(&self.clone, &["run", "../TASK.md", "--", "sh", "-c", line]);
        (status, err)
    }
}

#[test]
fn a_policy_fits_its_repository() {
    let bench = Bench::committed(&[
        b"package.json",
        b"LICENSE",
        b".github/workflows/ci.yml",
        b"docs/a.md",
        b"payments/retry.ts",
        b"test/payments/retry.ts",
        b"version/v.ts",
    ]);
    assert_eq!(
        bench.init_and_commit(""),
        format!("git add {POLICY} && git commit -m \"Add the agentgate policy\"")
    );
    let keys: Vec<String> = bench
        .policy()
        .lines()
        .filter(|line| !line.is_empty() && !line.starts_with('#'))
        .map(str::to_owned)
        .collect();
    let expected = "\
version: 1
payments:
  allowed_roots: [payments/, test/payments/]
  # forbidden_imports: [amqplib, bullmq, ioredis, redis]
test:
  allowed_roots: [test/]
  # forbidden_imports: [amqplib, bullmq, ioredis, redis]
version-folder:
  allowed_roots: [version/]
  # forbidden_imports: [amqplib, bullmq, ioredis, redis]
rest:
  allowed_roots: [\".\", \".github/\", docs/, architecture/]
unmapped: deny
max_new_top_level_dirs: 0
must_not_touch:
  - architecture/invariants.yml
  # terms and owners
  - LICENSE
  # CI: who can edit it can switch checks off
  - \".github/workflows\"
existing: allow";
    assert_eq!(keys.join("\n"), expected);
}

#[test]
fn ordinary_work_passes_and_the_rest_does_not() {
    let bench = Bench::committed(&[b"LICENSE", b"README.md", b"docs/a.md", b"src/a.py", b".gitlab-ci.yml"]);
    bench.init_and_commit("src");
    let all = "echo y | tee src/a.py src/b.py docs/a.md README.md new.txt architecture/notes.md";
    let cases = [
        (all, 0),
        ("echo y > LICENSE", 3),
        ("echo y > .gitlab-ci.yml", 3),
        ("echo y >> architecture/invariants.yml", 3),
        ("mkdir queue; echo y > queue/a.py", 6),
    ];
    for (line, code) in cases {
        let (status, err) = bench.job(line);
        assert_eq!(status, Status::Exited(code), "{line}\n{err}");
    }
}

#[test]
fn folders_with_odd_names_get_an_area_that_owns_them() {
    let odd: &[&[u8]] = &[
        b"two words/f",
        "gr\u{f6}\u{df}e/f".as_bytes(),
        b"it's \"quoted\"/f",
        b"caf\xe9/f",
        b"a\nb/f",
        b"[id]/f",
        b"back\\slash/f",
        b"on/f",
        b"123/f",
        b"allowed_roots/f",
    ];
    let bench = Bench::committed(odd);
    bench.init_and_commit("");
    let (status, err) = bench.job("for folder in *; do echo y > \"$folder/f\"; done; rm architecture/f");
    assert_eq!(status, Status::Exited(0), "{err}\n{}", bench.policy());
}

#[test]
fn what_exists_is_never_overwritten() {
    let bench = Bench::committed(&[b"src/a.ts"]);
    bench.init_and_commit("");
    let before = bench.policy();
    let (status, out, err) = bench.agentgate(&bench.clone, &["init"]);
    assert_eq!((status, out.as_str()), (Status::Exited(23), ""));
    assert_eq!(
        err,
        format!(
            "agentgate: error: {} exists already and was not touched\n\
             hint: edit it, or move it away and run agentgate init again\nexit 23 (wrong-state)\n",
            bench.clone.join(POLICY).display()
        )
    );
    assert_eq!(bench.policy(), before);

    // In HEAD and only missing here: the person's rules are not to be replaced by a guess.
    fs::remove_file(bench.clone.join(POLICY)).expect("it was there");
    let (status, _, err) = bench.agentgate(&bench.clone, &["init"]);
    assert_eq!(status, Status::Exited(23), "{err}");
    assert!(err.contains("only missing here"), "{err}");

    for what in [
        "ln -s ../elsewhere architecture",
        "touch architecture",
        "ln -s nowhere architecture",
    ] {
        let bench = Bench::committed(&[b"src/a.ts"]);
        bench.sh(&bench.clone, &format!("mkdir ../elsewhere; {what}"));
        let (status, _, err) = bench.agentgate(&bench.clone, &["init"]);
        assert_eq!(status, Status::Exited(23), "{what}: {err}");
        assert_eq!(bench.sh(&bench.clone, "ls ../elsewhere"), "");
    }
}

#[test]
fn without_a_commit_the_files_that_lie_there_count() {
    let bench = Bench::with(&[b"src/a.ts", b"ignored/a", b"LICENSE", b".gitignore"]);
    bench.put(b".gitignore", b"/ignored/\n");
    bench.init_and_commit("src");
    assert!(bench.policy().contains("allowed_roots: [src/]"), "{}", bench.policy());
    assert!(bench.policy().contains("- LICENSE"), "{}", bench.policy());
    assert!(!bench.policy().contains("ignored"), "{}", bench.policy());

    let empty = Bench::with(&[]);
    empty.init_and_commit("");
    assert!(
        empty
            .policy()
            .contains("rest:\n  allowed_roots: [\".\", architecture/]\n"),
        "{}",
        empty.policy()
    );
}

#[test]
fn the_line_to_type_commits_the_policy_alone() {
    let bench = Bench::committed(&[b"src/deep/a.ts", b".gitignore"]);
    bench.put(b".gitignore", b"/architecture/\n");
    bench.sh(&bench.clone, "git add -A");
    let next = bench.init_and_commit("src/deep");
    assert_eq!(
        next,
        format!("git add --force ../../{POLICY} && git commit -m \"Add the agentgate policy\" -- ../../{POLICY}")
    );
    assert_eq!(bench.sh(&bench.clone, "git diff --cached --name-only"), ".gitignore\n");
}

#[test]
fn where_no_policy_can_be_written_it_says_so() {
    let bench = Bench::new();
    let (status, _, err) = bench.agentgate(&bench.clone, &["init"]);
    assert_eq!(status, Status::Exited(2), "{err}");
    assert!(err.contains("is not in a git repository"), "{err}");

    bench.sh(&bench.clone, "git init -q --bare");
    let (status, _, err) = bench.agentgate(&bench.clone, &["init"]);
    assert_eq!(status, Status::Exited(64), "{err}");
    assert!(err.contains("is bare"), "{err}");
}

#[test]
fn a_range_on_top_of_it_is_judged_by_it() {
    let bench = Bench::committed(&[b"src/a.ts", b"LICENSE"]);
    bench.init_and_commit("");
    bench.sh(
        &bench.clone,
        "git branch base; echo y > src/a.ts; git commit -qam change",
    );
    let (status, out, err) = bench.agentgate(&bench.clone, &["check", "--base", "base"]);
    assert_eq!(status, Status::Exited(0), "{out}{err}");
    bench.sh(&bench.clone, "echo y > LICENSE; git commit -qam terms");
    let (status, out, err) = bench.agentgate(&bench.clone, &["check", "--base", "base"]);
    assert_eq!(status, Status::Exited(3), "{out}{err}");
}

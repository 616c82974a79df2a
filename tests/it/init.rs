//! `agentgate init`: what it writes fits the repository, is accepted by the gate, and overwrites
//! nothing.

use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt;

use super::support::program::Outcome;
use super::support::repo::Repo;

const POLICY: &str = "architecture/invariants.yml";
const SCHEMA: &str = "architecture/invariants.schema.json";

/// A checkout with these files and no commit.
fn with(paths: &[&[u8]]) -> Repo {
    let repo = Repo::empty();
    paths.iter().for_each(|path| repo.write(OsStr::from_bytes(path), "x\n"));
    repo
}

/// The same with a first commit.
fn committed(paths: &[&[u8]]) -> Repo {
    let repo = with(paths);
    repo.commit("start");
    repo
}

fn policy(repo: &Repo) -> String {
    fs::read_to_string(repo.root.join(POLICY)).expect("a policy")
}

fn sh(repo: &Repo, folder: &str, line: &str) -> String {
    let cwd = repo.root.join(folder);
    repo.program("sh").args(["-c", line]).cwd(cwd).run().success().stdout
}

/// Runs init in a folder of the checkout and commits by the line it ends with.
fn init_and_commit(repo: &Repo, folder: &str) -> String {
    let outcome = repo.command(["init"]).cwd(repo.root.join(folder)).run().success();
    assert_eq!(outcome.stderr, "");
    let next = outcome.last_line().trim().to_owned();
    sh(repo, folder, &next);
    assert_eq!(
        repo.git(["ls-tree", "-r", "--name-only", "HEAD", "architecture"]),
        format!("{SCHEMA}\n{POLICY}")
    );
    next
}

/// A job whose agent is this shell line.
fn job(repo: &Repo, line: &str) -> Outcome {
    repo.beside("").write("TASK.md", "Goal: try it\n");
    repo.agentgate(["run", "../TASK.md", "--", "sh", "-c", line])
}

#[test]
fn a_policy_fits_its_repository() {
    let repo = committed(&[
        b"package.json",
        b"LICENSE",
        b".github/workflows/ci.yml",
        b"docs/a.md",
        b"payments/retry.ts",
        b"test/payments/retry.ts",
        b"version/v.ts",
    ]);
    assert_eq!(
        init_and_commit(&repo, ""),
        format!("git add {POLICY} {SCHEMA} && git commit -m \"Add the agentgate policy\"")
    );
    let keys: Vec<String> = policy(&repo)
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
existing: allow
autoexec: deny";
    assert_eq!(keys.join("\n"), expected);
}

#[test]
fn ordinary_work_passes_and_the_rest_does_not() {
    let repo = committed(&[b"LICENSE", b"README.md", b"docs/a.md", b"src/a.py", b".gitlab-ci.yml"]);
    init_and_commit(&repo, "src");
    let all = "echo y | tee src/a.py src/b.py docs/a.md README.md new.txt architecture/notes.md";
    let cases = [
        (all, 0),
        ("echo y > LICENSE", 3),
        ("echo y > .gitlab-ci.yml", 3),
        ("echo y >> architecture/invariants.yml", 3),
        ("mkdir queue; echo y > queue/a.py", 6),
    ];
    for (line, code) in cases {
        let outcome = job(&repo, line);
        assert_eq!(outcome.code, code, "{line}\n{outcome}");
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
        b"on/f",
        b"123/f",
        b"allowed_roots/f",
    ];
    let repo = committed(odd);
    init_and_commit(&repo, "");
    let outcome = job(
        &repo,
        "for folder in *; do echo y > \"$folder/f\"; done; rm architecture/f",
    );
    assert_eq!(outcome.code, 0, "{outcome}\n{}", policy(&repo));
}

#[test]
fn editors_find_the_schema_beside_the_policy() {
    let repo = committed(&[b"src/a.ts"]);
    init_and_commit(&repo, "");
    let text = policy(&repo);
    let line = text.lines().next().expect("it has lines");
    let named = line
        .strip_prefix("# yaml-language-server: $schema=")
        .expect("the line that editors read");
    let there = repo.root.join("architecture").join(named);
    assert_eq!(
        fs::read_to_string(there).expect("it is there"),
        repo.agentgate(["schema", "policy"]).success().stdout
    );
    // It is a person's, and an owner can renew it.
    job(&repo, &format!("echo '{{}}' > {SCHEMA}")).expect(3, &[SCHEMA]);
    repo.git(["branch", "base"]);
    repo.change(SCHEMA, "{}\n");
    repo.agentgate(["check", "--base", "base", "--allow-policy-change"])
        .expect(0, &[]);
}

/// The README's block that begins with this line, without it.
fn readme_block(first: &str) -> String {
    let readme = fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/README.md")).expect("README.md can be read");
    let (_, rest) = readme.split_once(&format!("{first}\n")).expect("the README has it");
    rest.split_once("\n```").expect("it ends").0.to_owned() + "\n"
}

#[test]
fn policy_and_ci_file_land_as_the_readme_says() {
    let ci = ".github/workflows/invariants.yml";
    let text = readme_block(&format!("# {ci}"));
    let repo = committed(&[b"src/a.ts"]);
    repo.git(["branch", "before"]);
    repo.write(ci, &text);
    repo.agentgate(["init"]).success();
    sh(&repo, "", "git add .github architecture");
    repo.agentgate(["check", "--staged", "--allow-policy-change"]).expect(
        0,
        &[
            "; it judges from the next commit on\n",
            "this is the first one",
            "invariants ok; 3 paths checked",
        ],
    );
    repo.git(["commit", "--quiet", "-m", "Rules for agents"]);
    repo.agentgate(["check", "--base", "before"])
        .expect(2, &["hint: agentgate check --allow-policy-change"]);
    repo.agentgate(["check", "--base", "before", "--allow-policy-change"])
        .expect(0, &["invariants ok"]);
    // It has an area: nothing is to be mended afterwards.
    repo.agentgate(["check", "--all"]).expect(0, &["invariants ok"]);
    repo.git(["branch", "base"]);
    repo.change(ci, &format!("{text}# mine\n"));
    let refused = repo.agentgate(["check", "--base", "base"]);
    refused.expect(3, &["is accepted with --allow-policy-change", "1 finding in 1 path"]);
    repo.agentgate(["check", "--base", "base", "--allow-policy-change"])
        .expect(0, &["invariants ok"]);
}

#[test]
fn a_ci_file_that_comes_after_the_policy_is_an_owners_change() {
    let repo = committed(&[b"src/a.ts"]);
    init_and_commit(&repo, "");
    repo.git(["branch", "base"]);
    let ci = ".github/workflows/invariants.yml";
    repo.change(ci, &readme_block(&format!("# {ci}")));
    repo.agentgate(["check", "--base", "base"])
        .expect(3, &["is accepted with --allow-policy-change"]);
    repo.agentgate(["check", "--base", "base", "--allow-policy-change"])
        .expect(0, &["invariants ok"]);
}

#[test]
fn the_line_to_type_names_a_ci_file_that_calls_agentgate() {
    let repo = committed(&[b"src/a.ts", b".github/workflows/old.yml"]);
    repo.git(["branch", "base"]);
    let mine = ".github/workflows/my rules.yml";
    repo.write(mine, "run: agentgate check\n");
    repo.write(".github/workflows/other.yml", "run: make\n");
    repo.write(".gitlab-ci.yml", "script: AgentGate check\n");
    let next = init_and_commit(&repo, "src");
    assert!(
        next.contains(" '../.github/workflows/my rules.yml' ../.gitlab-ci.yml && "),
        "{next}"
    );
    assert!(!next.contains("other.yml") && !next.contains("old.yml"), "{next}");
    assert_eq!(repo.git(["status", "--porcelain"]), "?? .github/workflows/other.yml");
    repo.agentgate(["check", "--base", "base", "--allow-policy-change"])
        .expect(0, &["invariants ok; 4 paths checked"]);
    // Committed, they are no longer of it.
    repo.remove(POLICY);
    repo.git(["rm", "--quiet", POLICY]);
    repo.commit("away");
    assert!(!repo.agentgate(["init"]).success().last_line().contains("my rules"));
}

#[test]
fn a_schema_that_is_there_is_left_as_it_is() {
    let repo = committed(&[b"src/a.ts"]);
    repo.write(SCHEMA, "{}\n");
    let outcome = repo.agentgate(["init"]).success();
    assert!(!outcome.stdout.contains("by which editors"), "{outcome}");
    assert_eq!(fs::read_to_string(repo.root.join(SCHEMA)).expect("it is there"), "{}\n");
}

#[test]
fn what_exists_is_never_overwritten() {
    let repo = committed(&[b"src/a.ts"]);
    init_and_commit(&repo, "");
    let before = policy(&repo);
    let again = repo.agentgate(["init"]);
    assert_eq!((again.code, again.stdout.as_str()), (23, ""));
    let said = format!(
        "agentgate: error: {} exists already and was not touched\n\
         hint: edit it and commit the change\n",
        repo.root.join(POLICY).display()
    );
    assert!(again.stderr.starts_with(&said), "{again}");
    assert_eq!(policy(&repo), before);

    // In HEAD and only missing here: the person's rules are not to be replaced by a guess.
    repo.remove(POLICY);
    let missing = repo.agentgate(["init"]);
    missing.expect(
        23,
        &["only missing here", "checkout HEAD -- architecture/invariants.yml"],
    );
}

#[test]
fn one_that_is_not_committed_is_said_to_be_so() {
    for repo in [with(&[b"src/a.ts"]), committed(&[b"src/a.ts"])] {
        repo.agentgate(["init"]).success();
        let again = repo.agentgate(["init"]);
        let said = format!(
            "agentgate: error: {} is there but not committed, and was not touched\n\
             hint: commit it: git add {POLICY} {SCHEMA} && git commit -m \"Add the agentgate policy\"\n\
             hint: or move it away and run agentgate init again\n",
            repo.root.join(POLICY).display()
        );
        assert_eq!((again.code, again.stdout.as_str()), (23, ""));
        assert!(again.stderr.starts_with(&said), "{again}");
        // Moved away, also out of the index, it can be written again.
        repo.git(["add", POLICY]);
        repo.remove(POLICY);
        repo.agentgate(["init"]).success();
    }
}

#[test]
fn a_link_or_file_in_the_folders_place_is_not_followed() {
    for what in [
        "ln -s ../elsewhere architecture",
        "ln -s nowhere architecture",
        "touch architecture",
    ] {
        let repo = committed(&[b"src/a.ts"]);
        sh(&repo, "", &format!("mkdir ../elsewhere; {what}"));
        repo.agentgate(["init"]).expect(23, &["no folder"]);
        assert_eq!(sh(&repo, "../elsewhere", "ls -A"), "", "{what}");
    }
}

#[test]
fn without_a_commit_the_files_that_lie_there_count() {
    let repo = with(&[b"src/a.ts", b"ignored/a", b"LICENSE"]);
    repo.write(".gitignore", "/ignored/\n");
    init_and_commit(&repo, "src");
    let text = policy(&repo);
    assert!(
        text.contains("allowed_roots: [src/]") && text.contains("- LICENSE"),
        "{text}"
    );
    assert!(!text.contains("ignored"), "{text}");

    let empty = with(&[]);
    init_and_commit(&empty, "");
    let text = policy(&empty);
    assert!(
        text.contains("rest:\n  allowed_roots: [\".\", architecture/]\n"),
        "{text}"
    );
}

#[test]
fn the_line_to_type_commits_the_policy_alone() {
    let repo = committed(&[b"src/deep/a.ts", b".gitignore"]);
    repo.write(".gitignore", "/architecture/\n");
    repo.git(["add", "-A"]);
    let next = init_and_commit(&repo, "src/deep");
    assert_eq!(
        next,
        format!(
            "git add --force ../../{POLICY} ../../{SCHEMA} && git commit -m \"Add the agentgate policy\" -- \
             ../../{POLICY} ../../{SCHEMA}"
        )
    );
    assert_eq!(repo.git(["diff", "--cached", "--name-only"]), ".gitignore");
}

#[test]
fn where_no_policy_can_be_written_it_says_so() {
    let nowhere = Repo::empty().beside("");
    nowhere.agentgate(["init"]).expect(2, &["is not in a git repository"]);

    let bare = nowhere.beside("bare.git");
    nowhere.git(["init", "--quiet", "--bare", "bare.git"]);
    bare.agentgate(["init"]).expect(64, &["is bare"]);
}

#[test]
fn a_range_on_top_of_it_is_judged_by_it() {
    let repo = committed(&[b"src/a.ts", b"LICENSE"]);
    init_and_commit(&repo, "");
    repo.git(["branch", "base"]);
    repo.change("src/a.ts", "y\n");
    let passes = repo.agentgate(["check", "--base", "base"]);
    passes.expect(0, &["invariants ok; 1 path checked"]);
    repo.change("LICENSE", "y\n");
    repo.agentgate(["check", "--base", "base"]).expect(3, &["LICENSE"]);
}

/// The draft protects what runs by itself, also what is yet to come.
#[test]
fn a_first_policy_protects_what_runs_by_itself() {
    let repo = committed(&[b"src/a.ts"]);
    init_and_commit(&repo, "");
    job(&repo, "mkdir -p src/.vscode; echo '{}' > src/.vscode/tasks.json")
        .expect(3, &["protected-path [autoexec: **/.vscode/tasks.json]"]);
    job(&repo, "echo x > CLAUDE.md").expect(3, &["protected-path [autoexec: **/CLAUDE.md]"]);
    job(&repo, "echo x > src/b.ts").expect(0, &[]);
}

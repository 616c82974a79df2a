//! git-lfs: the candidate holds pointers, and their content is in the clone's store afterwards, whatever
//! the end was, and nothing else is.
//!
//! Most tests run a stand-in that writes objects where git-lfs does; the last one runs git-lfs.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use super::support::jobs::{nothing_left, record, sha256, task};
use super::support::program::{Outcome, Program};
use super::support::repo::Repo;

/// `git-lfs clean` and `git-lfs smudge`: the same files in the same places, and no network.
const STAND_IN: &str = r#"#!/bin/sh
set -eu
dir=$(cd "$(git rev-parse --git-common-dir)" && pwd)
storage=$(git config lfs.storage || echo lfs)
case $storage in /*) ;; *) storage=$dir/$storage ;; esac
place() { echo "objects/$(echo "$1" | cut -c1-2)/$(echo "$1" | cut -c3-4)"; }
case $1 in
clean)
    mkdir -p "$storage/tmp"
    tmp=$(mktemp "$storage/tmp/XXXXXX")
    cat > "$tmp"
    if head -c 42 "$tmp" | grep -q '^version https://git-lfs.github.com/spec/v1'; then
        cat "$tmp"; rm "$tmp"; exit
    fi
    oid=$(sha256sum "$tmp" | cut -d' ' -f1)
    size=$(stat -c %s "$tmp")
    mkdir -p "$storage/$(place "$oid")"
    mv "$tmp" "$storage/$(place "$oid")/$oid"
    printf 'version https://git-lfs.github.com/spec/v1\noid sha256:%s\nsize %s\n' "$oid" "$size"
    ;;
smudge)
    oid=$(sed -n 's/^oid sha256://p')
    for store in "$storage" $(sed 's,/objects$,/lfs,' "$dir/objects/info/alternates" 2>/dev/null); do
        if [ -f "$store/$(place "$oid")/$oid" ]; then exec cat "$store/$(place "$oid")/$oid"; fi
    done
    echo "no content for $oid" >&2
    exit 2
    ;;
esac
"#;

/// A repository with one large file, its filter configured as `git lfs install` does it.
struct Scene {
    repo: Repo,
    path: String,
}

impl Scene {
    fn new() -> Scene {
        Scene::with(|_| ())
    }

    fn with(configure: impl FnOnce(&Scene)) -> Scene {
        let repo = Repo::new();
        let tools = repo.top().join("tools");
        fs::create_dir(&tools).expect("it is new");
        fs::write(tools.join("git-lfs"), STAND_IN).expect("it can be written");
        fs::set_permissions(tools.join("git-lfs"), fs::Permissions::from_mode(0o755)).expect("it is ours");
        let path = std::env::var("PATH").expect("it is UTF-8");
        let scene = Scene {
            path: format!("{}:{path}", tools.display()),
            repo,
        };
        for (key, value) in [
            ("filter.lfs.clean", "git-lfs clean -- %f"),
            ("filter.lfs.smudge", "git-lfs smudge -- %f"),
            ("filter.lfs.required", "true"),
        ] {
            scene.repo.git(["config", "--global", key, value]);
        }
        configure(&scene);
        scene
            .repo
            .write(".gitattributes", "*.bin filter=lfs diff=lfs merge=lfs -text\n");
        scene.repo.write("payments/logo.bin", "the first logo\n");
        scene.git(&["add", "-A"]);
        scene.git(&["commit", "--quiet", "-m", "a large file"]);
        scene
    }

    fn git(&self, args: &[&str]) -> String {
        let outcome = self
            .repo
            .program("git")
            .env("PATH", &self.path)
            .args(args)
            .run()
            .success();
        outcome.stdout.trim_end().to_owned()
    }

    fn agentgate(&self, args: &[&str]) -> Program {
        self.repo.command(args).env("PATH", &self.path)
    }

    #[track_caller]
    fn job(&self, code: i32, script: &str) -> Outcome {
        let task = task(&self.repo, "Goal: change the logo\n");
        let outcome = self
            .agentgate(&["run", "--job-id", "j1"])
            .args([task.as_os_str()])
            .args(["--", "sh", "-c", script])
            .run();
        assert_eq!(outcome.code, code, "{outcome}");
        outcome
    }

    /// Where this content would lie in the clone's store.
    fn object(&self, content: &str) -> PathBuf {
        stored(&self.repo.root.join(".git/lfs"), content)
    }

    #[track_caller]
    fn has(&self, content: &str) {
        let object = self.object(content);
        let found = fs::read_to_string(&object).unwrap_or_else(|error| panic!("{}: {error}", object.display()));
        assert_eq!(found, content);
    }
}

fn stored(store: &Path, content: &str) -> PathBuf {
    let oid = sha256(content);
    store.join("objects").join(&oid[..2]).join(&oid[2..4]).join(&oid)
}

fn pointer(content: &str) -> String {
    let (oid, size) = (sha256(content), content.len());
    format!("version https://git-lfs.github.com/spec/v1\noid sha256:{oid}\nsize {size}")
}

#[test]
fn the_candidate_holds_pointers_and_the_clone_their_content() {
    let scene = Scene::new();
    let outcome = scene.job(
        0,
        "echo 'a new logo' > payments/logo.bin; echo 'another file' > payments/more.bin",
    );
    outcome.expect(0, &["2 new LFS object(s) are in the clone's store"]);
    let shown = |path: &str| scene.git(&["show", &format!("agent/j1:payments/{path}")]);
    assert_eq!(shown("logo.bin"), pointer("a new logo\n"));
    assert_eq!(shown("more.bin"), pointer("another file\n"));
    scene.has("a new logo\n");
    scene.has("another file\n");
    let worktree = scene.repo.beside("repo-jobs/j1");
    let status = worktree
        .program("git")
        .env("PATH", &scene.path)
        .args(["status", "--porcelain"]);
    assert_eq!(status.run().success().stdout, "");
    scene.agentgate(&["land", "j1"]).run().success();
    let logo = fs::read_to_string(scene.repo.root.join("payments/logo.bin")).expect("it is there");
    assert_eq!(logo, "a new logo\n");
    assert_eq!(scene.git(&["status", "--porcelain"]), "");
}

#[test]
fn a_file_that_was_only_touched_is_not_dirty_and_no_work() {
    let scene = Scene::new();
    let first = scene.object("the first logo\n");
    fs::remove_file(&first).expect("the store has it");
    scene.repo.write("payments/logo.bin", "the first logo\n");
    scene.agentgate(&["preflight"]).run().success();
    scene.has("the first logo\n");
    scene.job(
        15,
        "touch payments/logo.bin; cat payments/logo.bin > copy; mv copy payments/logo.bin",
    );
    nothing_left(&scene.repo);
}

#[test]
fn a_refused_candidate_can_be_opened_with_its_content() {
    let scene = Scene::new();
    scene.job(3, "echo 'a new logo' > payments/logo.bin; echo x > prot/rules.txt");
    nothing_left(&scene.repo);
    scene.has("a new logo\n");
    scene.agentgate(&["open", "j1"]).run().success();
    let opened = scene.repo.top().join("repo-jobs/j1/payments/logo.bin");
    assert_eq!(fs::read_to_string(opened).expect("it is there"), "a new logo\n");
}

#[test]
fn what_the_agent_committed_itself_is_brought_too() {
    let scene = Scene::new();
    // It leaves the pointer in the worktree: only its own git dir has the content.
    let outcome = scene.job(
        0,
        "echo 'a new logo' > payments/logo.bin && git add -A && git commit -qm logo \
         && git show HEAD:payments/logo.bin > payments/logo.bin",
    );
    assert_eq!(
        scene.git(&["show", "agent/j1:payments/logo.bin"]),
        pointer("a new logo\n"),
        "{outcome}"
    );
    scene.has("a new logo\n");
}

#[test]
fn old_content_is_there_for_the_agent() {
    let scene = Scene::new();
    scene.job(
        15,
        "rm payments/logo.bin && git checkout -q -- payments/logo.bin && grep -q 'the first logo' payments/logo.bin",
    );
}

#[test]
fn a_name_is_not_believed_and_a_pointer_to_nowhere_is_told() {
    let scene = Scene::new();
    let forged = pointer("what it should be\n");
    let nowhere = pointer("nobody has this\n");
    let outcome = scene.job(
        0,
        &format!(
            "echo '{forged}' > payments/forged.bin; echo '{nowhere}' > payments/nowhere.bin; \
             object=$(git rev-parse --git-dir)/lfs/{}; mkdir -p ${{object%/*}}; printf 'what it shoulD be\\n' > $object",
            stored(Path::new(""), "what it should be\n").display()
        ),
    );
    outcome.expect(
        0,
        &[
            "something else under the name of the content of these LFS pointers, and it stayed out: payments/forged.bin",
            "is not on this machine, so that they can be filled only if the LFS server has it: payments/nowhere.bin",
        ],
    );
    assert!(!scene.object("what it should be\n").exists(), "{outcome}");
    assert!(!scene.object("nobody has this\n").exists(), "{outcome}");
}

#[test]
fn no_link_is_followed_into_the_store() {
    let scene = Scene::new();
    let secret = scene.repo.home().join("secret");
    fs::write(&secret, "a secret of the person\n").expect("it can be written");
    let text = pointer("a secret of the person\n");
    let outcome = scene.job(
        0,
        &format!(
            "echo '{text}' > payments/secret.bin; object=$(git rev-parse --git-dir)/lfs/{}; mkdir -p ${{object%/*}}; \
             ln -s {} $object",
            stored(Path::new(""), "a secret of the person\n").display(),
            secret.display(),
        ),
    );
    outcome.expect(0, &["it stayed out: payments/secret.bin"]);
    assert!(!scene.object("a secret of the person\n").exists(), "{outcome}");
}

#[test]
fn a_store_elsewhere_is_read_by_the_agent_and_gets_the_new_content() {
    let scene = Scene::with(|scene| {
        let store = scene.repo.top().join("large files");
        scene.repo.git(["config", "lfs.storage", &store.to_string_lossy()]);
    });
    let store = scene.repo.top().join("large files");
    assert!(stored(&store, "the first logo\n").exists());
    scene.job(
        0,
        "rm payments/logo.bin && git checkout -q -- payments/logo.bin && echo 'a new logo' >> payments/logo.bin",
    );
    let content = "the first logo\na new logo\n";
    assert_eq!(
        fs::read_to_string(stored(&store, content)).expect("it is there"),
        content
    );
    assert!(!scene.repo.root.join(".git/lfs").exists());
}

#[test]
fn a_failed_agents_content_is_kept_for_its_patch() {
    let scene = Scene::new();
    scene.job(16, "echo 'half a logo' > payments/logo.bin; exit 3");
    scene.has("half a logo\n");
    let patch = fs::read_to_string(record(&scene.repo, "j1").join("change.patch")).expect("there is a patch");
    assert!(patch.contains(&sha256("half a logo\n")), "{patch}");
}

#[test]
fn git_lfs_itself_can_push_what_a_job_made() {
    let repo = Repo::new();
    let version = std::process::Command::new("git-lfs").arg("version").output();
    let Some(version) = version.ok().filter(|said| said.status.success()) else {
        eprintln!("skipped 1 test: git-lfs is not installed (apt install git-lfs)");
        return;
    };
    eprintln!("with {}", String::from_utf8_lossy(&version.stdout).trim());
    repo.git(["lfs", "install", "--skip-repo"]);
    let remote = repo.beside("remote.git");
    repo.git(["init", "--quiet", "--bare", &remote.root.to_string_lossy()]);
    repo.git(["remote", "add", "origin", &format!("file://{}", remote.root.display())]);
    repo.write(".gitattributes", "*.bin filter=lfs diff=lfs merge=lfs -text\n");
    repo.write("payments/logo.bin", "the first logo\n");
    repo.commit("a large file");
    repo.git(["push", "--quiet", "origin", "main"]);
    repo.git(["lfs", "push", "origin", "main"]);
    let run = |id: &str, code: i32, script: &str| {
        let task = task(&repo, "Goal: change the logo\n");
        let run = repo.command(["run", "--job-id", id]).args([task.as_os_str()]);
        let outcome = run.args(["--", "sh", "-c", script]).run();
        assert_eq!(outcome.code, code, "{outcome}");
    };
    run("touched", 15, "touch payments/logo.bin");
    run(
        "checkout",
        15,
        "rm payments/logo.bin && git checkout -q -- payments/logo.bin && grep -q first payments/logo.bin",
    );
    run(
        "new",
        0,
        "echo 'a new logo' > payments/logo.bin; git add -A; git commit -qm logo; echo more > payments/more.bin",
    );
    assert_eq!(
        repo.git(["show", "agent/new:payments/logo.bin"]),
        pointer("a new logo\n")
    );
    repo.agentgate(["land", "new"]).success();
    assert_eq!(repo.git(["status", "--porcelain"]), "");
    repo.git(["push", "--quiet", "origin", "main"]);
    repo.git(["lfs", "push", "origin", "main"]);
    for content in ["a new logo\n", "more\n"] {
        let pushed = stored(&remote.root.join("lfs"), content);
        assert_eq!(fs::read_to_string(&pushed).expect("it was pushed"), content);
    }
}

#[test]
fn a_check_sees_the_content_in_a_job_and_in_a_range() {
    let scene = Scene::with(|scene| {
        let checks = "checks: [{name: c, run: 'cat payments/logo.bin; git status --porcelain'}]\n";
        scene.repo.write("architecture/agentgate.yml", checks);
    });
    scene.job(0, "echo 'a new logo' > payments/logo.bin");
    let log = scene.repo.root.join(".git/agentgate/jobs/j1/check-1.log");
    let log = fs::read_to_string(log).expect("it is there");
    assert!(log.ends_with("'\na new logo\nM  payments/logo.bin\n"), "{log}");
    let check = ["check", "--base", "main", "--head", "agent/j1", "--checks", "--verbose"];
    let outcome = scene.agentgate(&check).run();
    outcome.expect(0, &["check `c`: passed"]);
    assert!(outcome.stderr.contains("\na new logo\n"), "{outcome}");
    // A pointer whose content is nowhere cannot be laid out.
    fs::remove_file(scene.object("a new logo\n")).expect("the store has it");
    scene.agentgate(&check).run().expect(
        10,
        &[
            "check `c` could not be started: a fresh checkout cannot be made: ",
            "no content for ",
        ],
    );
}

//! Where a job starts, and the forms of repositories in which it works or is refused.

use std::fs;

use super::support::jobs::{events, frozen, job, jobs_root, nothing_left, record, run, run_to, task, value};
use super::support::program::Outcome;
use super::support::repo::{POLICY, Repo};

const EDIT: &str = "git rev-parse HEAD > seen.txt";

/// The base is this commit: printed, recorded, seen by the agent, the candidate's only parent.
#[track_caller]
fn based(repo: &Repo, outcome: &Outcome, id: &str, base: &str) {
    outcome.expect(0, &["verdict=ok"]);
    assert_eq!(value(outcome, "base"), base);
    assert!(outcome.stderr.contains(&format!("base {base}")), "{outcome}");
    assert_eq!(events(repo, id)[0]["base"], base);
    assert_eq!(
        repo.git(["rev-list", "--parents", "-1", &format!("agent/{id}")])
            .split(' ')
            .nth(1),
        Some(base)
    );
    assert_eq!(repo.git(["show", &format!("agent/{id}:seen.txt")]), base);
}

fn ahead() -> (Repo, String) {
    let repo = Repo::new();
    repo.git(["update-ref", "refs/remotes/origin/main", "HEAD"]);
    repo.git(["symbolic-ref", "refs/remotes/origin/HEAD", "refs/remotes/origin/main"]);
    repo.branch("dev");
    repo.change("payments/a.ts", "a\n");
    let tip = repo.change("payments/b.ts", "b\n");
    (repo, tip)
}

#[test]
fn the_base_is_what_is_checked_out_not_the_remote_default_branch() {
    let (repo, tip) = ahead();
    based(&repo, &run(&repo, "j1", EDIT), "j1", &tip);
    assert_eq!(events(&repo, "j1")[0]["target"], "refs/heads/dev");
}

#[test]
fn a_linked_worktree_starts_from_its_own_head() {
    let (repo, _) = ahead();
    let linked = repo.beside("linked");
    repo.git(["worktree", "add", "--quiet", "-b", "side", "../linked", "main"]);
    let tip = linked.change("payments/side.ts", "s\n");
    based(&repo, &run(&linked, "j1", EDIT), "j1", &tip);
    assert!(jobs_root(&repo).join("j1").is_dir(), "worktrees lie beside the clone");
}

#[test]
fn a_subfolder_and_a_detached_head_start_from_head() {
    let (repo, tip) = ahead();
    let outcome = job(&repo, "j1", &[], EDIT).cwd(repo.root.join("payments")).run();
    based(&repo, &outcome, "j1", &tip);
    let earlier = repo.id("main");
    repo.git(["checkout", "--quiet", "--detach", "main"]);
    let outcome = run(&repo, "j2", EDIT);
    based(&repo, &outcome, "j2", &earlier);
    outcome.expect(0, &["detached HEAD"]);
    assert!(events(&repo, "j2")[0]["target"].is_null());
}

#[test]
fn a_base_given_by_name_is_recorded_by_id_and_an_unknown_one_is_unusable() {
    let (repo, _) = ahead();
    let earlier = repo.id("main");
    based(
        &repo,
        &job(&repo, "j1", &["--base", "dev~2"], EDIT).run(),
        "j1",
        &earlier,
    );
    let outcome = job(&repo, "j2", &["--base", "nowhere"], EDIT).run();
    outcome.expect(2, &["nowhere"]);
    assert!(!record(&repo, "j2").exists());
}

#[test]
fn no_commit_sha256_and_reftable_are_refused_before_the_agent() {
    let empty = Repo::empty();
    let outcome = run(&empty, "j1", "touch ../started");
    outcome.expect(2, &["no commit yet", "make a first commit"]);
    for (name, option) in [
        ("sha256", "--object-format=sha256"),
        ("reftable", "--ref-format=reftable"),
    ] {
        let repo = empty.beside(name);
        fs::create_dir(&repo.root).expect("it is new");
        repo.git(["init", "--quiet", option]);
        repo.write("architecture/invariants.yml", POLICY);
        repo.commit("start");
        run(&repo, "j1", "touch ../started").expect(2, &["not supported"]);
        assert!(!repo.root.join(".git/agentgate").exists());
    }
    assert!(!empty.top().join("started").exists());
}

#[test]
fn a_partial_clone_works_with_what_it_has_and_a_path_that_is_not_utf8_is_refused() {
    use std::os::unix::ffi::OsStrExt;
    let origin = Repo::new();
    origin.git(["config", "uploadpack.allowFilter", "true"]);
    let partial = origin.clone_as("partial", &["--filter=blob:none"]);
    run_to(0, &partial, "j1", "echo 1 > payments/a.ts");
    run_to(3, &partial, "j2", "rm prot/rules.txt");
    let odd = origin
        .beside("plain")
        .root
        .with_file_name(std::ffi::OsStr::from_bytes(b"latin\xe9"));
    origin
        .program("git")
        .args(["clone", "--quiet", "."])
        .args([&odd])
        .run()
        .success();
    let outcome = job(&origin, "j1", &[], "touch ../../started").cwd(&odd).run();
    outcome.expect(64, &["not UTF-8"]);
    assert!(!odd.join(".git/agentgate").exists());
    assert!(!origin.top().join("started").exists());
}

#[test]
fn an_extension_that_this_git_does_not_know_is_named_at_once() {
    let repo = Repo::new();
    repo.git(["config", "core.repositoryFormatVersion", "1"]);
    repo.git(["config", "extensions.relativeWorktrees", "true"]);
    if repo.program("git").args(["status"]).run().code == 0 {
        run_to(15, &repo, "j1", "true");
    } else {
        run(&repo, "j1", "touch ../../started").expect(2, &["relativeWorktrees", "2.48"]);
        assert!(!repo.top().join("started").exists());
    }
}

#[test]
fn a_clone_inside_another_clone_has_its_worktrees_elsewhere() {
    let outer = Repo::new();
    outer.change(".gitignore", "vendor/\n");
    let inner = outer.beside("repo/vendor/inner");
    outer.git(["clone", "--quiet", ".", "vendor/inner"]);
    let outcome = run(&inner, "j1", EDIT);
    outcome.expect(0, &[]);
    let worktree = value(&outcome, "worktree");
    assert!(
        worktree.starts_with(&*outer.home().join(".local/state/agentgate/inner-").to_string_lossy()),
        "{worktree}"
    );
    assert_eq!(outer.git(["status", "--porcelain"]), "");
}

#[test]
fn a_bare_clone_with_a_worktree_works_from_the_worktree_and_from_the_git_dir() {
    let origin = Repo::new();
    let bare = origin.clone_as("bare.git", &["--bare"]);
    let tree = origin.beside("tree");
    bare.git(["worktree", "add", "--quiet", "-b", "work", "../tree"]);
    based(&bare, &run(&tree, "j1", EDIT), "j1", &bare.id("main"));
    assert!(origin.beside("bare-jobs").root.join("j1").is_dir());
    based(&bare, &run(&bare, "j2", EDIT), "j2", &bare.id("main"));
    run_to(3, &tree, "j3", "rm prot/rules.txt");
    // The person's git takes no bare repository that it happens to find; agentgate does not happen to find it.
    tree.git(["config", "--global", "safe.bareRepository", "explicit"]);
    run_to(0, &tree, "j4", EDIT);
    tree.agentgate(["land", "j4"]).success();
}

#[test]
fn inside_a_submodule_the_job_belongs_to_the_submodule() {
    let outer = Repo::new();
    let inner = outer.beside("inner");
    fs::create_dir(&inner.root).expect("it is new");
    inner.git(["init", "--quiet"]);
    inner.write("architecture/invariants.yml", POLICY);
    inner.commit("start");
    outer.git(["submodule", "--quiet", "add", "../inner", "s"]);
    outer.commit("submodule");
    let sub = outer.beside("repo/s");
    let outcome = run(&sub, "j1", EDIT);
    based(&sub, &outcome, "j1", &sub.id("HEAD"));
    let worktree = value(&outcome, "worktree");
    assert!(!worktree.starts_with(&*outer.root.to_string_lossy()), "{worktree}");
    assert_eq!(outer.git(["status", "--porcelain"]), "");
    run_to(3, &sub, "j2", "echo x >> architecture/invariants.yml");
}

#[test]
fn a_path_with_blanks_quotes_and_a_newline_works() {
    let origin = Repo::new();
    for (at, name) in ["my \"repo\" $x é", "'new\nline'#", "\"quoted\""]
        .into_iter()
        .enumerate()
    {
        let parent = origin.beside(&format!("parent {at}\n{name}"));
        fs::create_dir(&parent.root).expect("it is new");
        let repo = parent.beside(&format!("parent {at}\n{name}/{name}"));
        origin.git(["clone", "--quiet", "--no-local", ".", &repo.root.to_string_lossy()]);
        let outcome = job(&repo, "j1", &[], EDIT).cwd(repo.root.join("payments")).run();
        outcome.expect(0, &["verdict=ok"]);
        assert_eq!(outcome.stdout.lines().count(), 8, "{outcome}");
        assert_eq!(repo.git(["diff", "--name-only", "main", "agent/j1"]), "seen.txt");
        let kept = repo.beside(&jobs_root(&repo).join("j1").to_string_lossy());
        assert_eq!(kept.git(["status", "--porcelain"]), "");
        // The agent's own refs come from a second object store, whose path must be found too.
        let script = "echo x > payments/s.ts && git add -A && git stash --quiet && rm prot/rules.txt";
        let outcome = run(&repo, "j2", script);
        outcome.expect(3, &["agent-refs.bundle"]);
        assert!(record(&repo, "j2").join("agent-refs.bundle").exists(), "{outcome}");
    }
}

#[test]
fn a_sparse_checkout_stays_sparse_and_loses_nothing() {
    let repo = Repo::new();
    repo.write("big/data.txt", "data\n");
    repo.write("other/x.txt", "x\n");
    repo.commit("more");
    repo.git(["sparse-checkout", "set", "payments", "architecture"]);
    assert!(!repo.root.join("big").exists());
    let outcome = run(
        &repo,
        "j1",
        "ls > seen.txt; echo x > payments/new.ts; mkdir -p big; echo n > big/new.txt",
    );
    outcome.expect(0, &["verdict=ok"]);
    assert_eq!(
        repo.git(["diff", "--name-status", "main", "agent/j1"]),
        "A\tbig/new.txt\nA\tpayments/new.ts\nA\tseen.txt"
    );
    assert_eq!(
        repo.git(["show", "agent/j1:seen.txt"]),
        "architecture\npayments\nseen.txt"
    );
    let kept = repo.beside("repo-jobs/j1");
    assert_eq!(kept.git(["status", "--porcelain"]), "");
    assert!(!repo.root.join("big").exists());
    run_to(15, &repo, "j2", "git sparse-checkout disable && test -e big/data.txt");
}

#[test]
fn line_ends_are_judged_by_gits_rules() {
    let repo = Repo::new();
    repo.write("payments/lines.txt", "one\ntwo\nthree\n");
    repo.commit("lines");
    repo.git(["config", "core.autocrlf", "true"]);
    repo.remove("payments/lines.txt");
    repo.git(["checkout", "--quiet", "--", "payments/lines.txt"]);
    let text = fs::read_to_string(repo.root.join("payments/lines.txt")).expect("it is there");
    assert_eq!(text, "one\r\ntwo\r\nthree\r\n");
    run_to(
        15,
        &repo,
        "j1",
        "grep -c '\r' payments/lines.txt >/dev/null || exit 1; touch payments/lines.txt",
    );
    run_to(
        0,
        &repo,
        "j2",
        "sed -i 's/two/TWO/' payments/lines.txt; printf 'lf\\n' > payments/lf.txt",
    );
    assert_eq!(
        repo.git(["diff", "--numstat", "main", "agent/j2"]),
        "1\t0\tpayments/lf.txt\n1\t1\tpayments/lines.txt"
    );
    assert_eq!(frozen(&repo, "j2"), repo.git(["rev-parse", "agent/j2^{tree}"]));
}

#[test]
fn a_shallow_clone_works() {
    let origin = Repo::new();
    origin.change("payments/a.ts", "a\n");
    origin.change("payments/b.ts", "b\n");
    let shallow = origin.clone_as("shallow", &["--depth", "1"]);
    let before = fs::read(shallow.root.join(".git/shallow")).expect("it is shallow");
    let script =
        "git log --oneline | wc -l > n.txt; echo x > payments/c.ts; git add -A; git commit -qm x; git branch side";
    run_to(0, &shallow, "j1", script);
    assert_eq!(shallow.git(["show", "agent/j1:n.txt"]).trim(), "1");
    run_to(3, &shallow, "j2", "rm prot/rules.txt");
    assert_eq!(
        fs::read(shallow.root.join(".git/shallow")).expect("it is there"),
        before
    );
    shallow.git(["fsck", "--no-dangling"]);
}

#[test]
fn a_branch_called_agent_or_a_folder_in_the_way_is_14_and_stays() {
    let repo = Repo::new();
    repo.git(["branch", "agent"]);
    run(&repo, "j1", "touch ../../started").expect(14, &["git branch -m agent agent-old"]);
    repo.git(["branch", "-m", "agent", "other"]);
    let place = jobs_root(&repo).join("j1");
    fs::create_dir_all(place.parent().expect("a folder")).expect("it can be made");
    for kind in ["empty", "full", "file"] {
        match kind {
            "empty" => fs::create_dir(&place).expect("it is new"),
            "full" => fs::write(place.join("x"), "x").expect("it can be written"),
            _ => {
                fs::remove_dir_all(&place).expect("it is there");
                fs::write(&place, "x").expect("it can be written");
            }
        }
        run(&repo, "j1", "touch ../../started").expect(14, &[&*place.to_string_lossy(), "exists already"]);
    }
    assert_eq!(fs::read(&place).expect("it is there"), b"x");
    assert!(!repo.top().join("started").exists());
    assert_eq!(repo.git(["worktree", "list"]).lines().count(), 1);
    fs::remove_dir_all(jobs_root(&repo))
        .or_else(|_| fs::remove_file(&place))
        .expect("it can be removed");
    run_to(15, &repo, "j1", "true");
    nothing_left(&repo);
}

#[test]
fn an_id_that_differs_only_by_case_exists_and_a_bad_one_is_a_usage_error() {
    let repo = Repo::new();
    run_to(15, &repo, "Job-a", "true");
    run(&repo, "job-A", "true").expect(14, &["Job-a exists already"]);
    let long = "a".repeat(65);
    for id in ["a..b", ".a", "a.lock", "a/b", "a b", "é", "", "a.", &long] {
        let path = task(&repo, "Goal: x\n");
        let option = format!("--job-id={id}");
        let outcome = repo.agentgate(["run", &option, &path.to_string_lossy(), "--", "true"]);
        outcome.expect(64, &["job id"]);
    }
    let long = "a".repeat(64);
    run_to(15, &repo, &long, "true");
}

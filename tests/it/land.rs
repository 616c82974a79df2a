//! `agentgate land`: fast-forward, nothing of a person's lost, nothing of the candidate's run.

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::time::{Duration, SystemTime};

use super::support::repo::Repo;
use super::support::scene::{self, AGENT, JOB, agent, kept, last_kind, nothing_left, with_kept, worktree};

/// The landing is refused with this code: the branch has not moved, the files of the checkout are
/// as before, and the job is kept as it was.
#[track_caller]
fn refused(repo: &Repo, code: i32, texts: &[&str]) {
    let (at, files) = (repo.id("main"), scene::tree(&repo.root));
    let branch = repo.git(["branch", "--list", "agent/*"]);
    repo.agentgate(["land", JOB]).expect(code, texts);
    assert_eq!(repo.id("main"), at);
    assert_eq!(scene::tree(&repo.root), files);
    assert_eq!(repo.git(["branch", "--list", "agent/*"]), branch);
    assert_ne!(last_kind(repo, JOB), "job.landed");
}

/// The candidate of [`AGENT`] is on main, in the main checkout, and the job has left nothing.
#[track_caller]
fn landed(repo: &Repo, candidate: &str) {
    assert_eq!(repo.id("main"), candidate);
    assert_eq!(
        fs::read_to_string(repo.root.join("payments/pay.ts")).expect("it is there"),
        "export const pay = 2;\n"
    );
    assert!(repo.root.join("payments/new.ts").exists());
    assert_eq!(repo.git(["status", "--porcelain"]), "");
    nothing_left(repo);
    scene::lock_is_free(repo);
}

#[test]
fn it_moves_the_branch_and_the_main_checkout() {
    let repo = with_kept();
    let (base, candidate) = (repo.id("main"), repo.id("agent/j1"));
    let outcome = repo.agentgate(["land", JOB]).success();
    assert_eq!(
        outcome.stdout,
        format!(
            "landed=refs/heads/main\ncommit={candidate}\nold={base}\ncheckout={}\n",
            repo.root.display()
        )
    );
    assert_eq!(
        outcome.stderr,
        "agentgate: landed on main; the job's worktree and branch are gone, its record stays\n"
    );
    landed(&repo, &candidate);
    let events = scene::events(&repo, JOB);
    let last = events.last().expect("a log has events");
    assert_eq!(last["event"], "job.landed");
    assert_eq!(last["commit"], *candidate);
    assert_eq!(last["target"], "refs/heads/main");
    assert_eq!(last["old"], *base);
    assert!(scene::record(&repo, JOB).join("change.patch").exists());
    repo.git(["rev-parse", "--verify", "refs/agentgate/jobs/j1"]);
    assert_eq!(scene::row(&repo, JOB)["state"], "landed");
}

#[test]
fn it_works_from_a_linked_worktree_a_subfolder_and_the_jobs_own_worktree() {
    let repo = with_kept();
    repo.git(["worktree", "add", "--quiet", "-b", "other", "../linked"]);
    let candidate = repo.id("agent/j1");
    repo.beside("linked").agentgate(["land", JOB]).success();
    assert_eq!(repo.id("main"), candidate);
    assert_eq!(repo.id("other"), repo.id("main~1"));
    assert_eq!(repo.git(["status", "--porcelain"]), "");

    for folder in ["repo/payments", "repo-jobs/j1"] {
        let repo = with_kept();
        let candidate = repo.id("agent/j1");
        repo.beside(folder).agentgate(["land", JOB]).success();
        landed(&repo, &candidate);
    }
}

#[test]
fn onto_another_branch_leaves_the_checkout_alone() {
    let repo = with_kept();
    repo.git(["branch", "release"]);
    let (base, candidate, files) = (repo.id("main"), repo.id("agent/j1"), scene::tree(&repo.root));
    let outcome = repo.agentgate(["land", JOB, "--onto", "release"]).success();
    assert!(!outcome.stdout.contains("checkout="), "{outcome}");
    assert_eq!(repo.id("release"), candidate);
    assert_eq!(repo.id("main"), base);
    assert_eq!(scene::tree(&repo.root), files);
    nothing_left(&repo);
}

#[test]
fn a_branch_that_is_checked_out_in_a_linked_worktree_is_updated_there() {
    let repo = with_kept();
    repo.git(["worktree", "add", "--quiet", "-b", "release", "../linked"]);
    let linked = repo.beside("linked");
    repo.agentgate(["land", JOB, "--onto", "release"])
        .expect(0, &[&format!("checkout={}", linked.root.display())]);
    assert!(linked.root.join("payments/new.ts").exists());
    assert_eq!(linked.git(["status", "--porcelain"]), "");
    assert!(!repo.root.join("payments/new.ts").exists());
    assert_eq!(repo.git(["status", "--porcelain"]), "");
}

#[test]
fn an_older_branch_does_not_get_commits_that_nobody_judged() {
    let repo = Repo::new();
    repo.git(["branch", "old"]);
    let old = repo.id("old");
    let base = repo.change("payments/between.ts", "export {};\n");
    kept(&repo, AGENT);
    let candidate = repo.id("agent/j1");
    repo.agentgate(["land", JOB, "--onto", "old"]).expect(
        19,
        &[
            &format!("old is at {old}, the candidate stands on {base}"),
            "bring 1 commit along that nobody judged",
            &format!("agentgate check --range {old}..{base}"),
        ],
    );
    assert_eq!(repo.id("old"), old);
    assert_eq!(last_kind(&repo, JOB), "job.kept");
    // Where a person brought it to the base, it is landed.
    repo.git(["branch", "--force", "old", &base]);
    repo.agentgate(["land", JOB, "--onto", "old"]).success();
    assert_eq!(repo.id("old"), candidate);
}

#[test]
fn a_run_on_another_branch_does_not_land_that_branch_too() {
    let repo = Repo::new();
    let main = repo.id("main");
    repo.branch("feature");
    repo.change("payments/one.ts", "export {};\n");
    repo.change("payments/two.ts", "export {};\n");
    repo.checkout("main");
    agent(&repo, JOB, &["--base", "feature"], AGENT).run().success();
    repo.agentgate(["land", JOB])
        .expect(19, &["bring 2 commits along that nobody judged"]);
    assert_eq!(repo.id("main"), main);
    assert_eq!(scene::row(&repo, JOB)["state"], "kept");
}

/// A clone with this file besides the usual ones, as a submodule `lib` of another, on branch main.
fn submodule_with(path: &str) -> Repo {
    let outer = Repo::new();
    let inner = outer.clone_as("inner", &[]);
    inner.change(path, "in the module\n");
    outer.git(["submodule", "--quiet", "add", "../inner", "lib"]);
    outer.commit("submodule");
    let module = outer.beside("repo/lib");
    assert!(module.root.join(".git").is_file());
    module
}

/// The git dir of a checkout.
fn git_dir(repo: &Repo) -> std::path::PathBuf {
    repo.git(["rev-parse", "--absolute-git-dir"]).into()
}

#[test]
fn in_a_submodule_the_files_of_its_checkout_are_the_ones_that_count() {
    let module = submodule_with("payments/more.ts");
    kept(&module, AGENT);
    let (at, candidate) = (module.id("main"), module.id("agent/j1"));
    let exclude = git_dir(&module).join("info/exclude");
    fs::create_dir_all(exclude.parent().expect("a folder")).expect("it can be made");
    fs::write(&exclude, "new.ts\n").expect("it can be written");
    module.write("payments/new.ts", "mine\n");
    // From a linked worktree too, which does not lie where the main checkout does.
    module.git(["worktree", "add", "--quiet", "--detach", "../../linked"]);
    for place in [&module, &module.beside("linked")] {
        place.agentgate(["land", JOB]).expect(12, &["payments/new.ts"]);
        assert_eq!(module.id("main"), at);
        assert_eq!(
            fs::read(module.root.join("payments/new.ts")).expect("it is there"),
            b"mine\n"
        );
    }
    module.remove("payments/new.ts");
    module
        .agentgate(["land", JOB])
        .expect(0, &[&format!("checkout={}", module.root.display())]);
    assert_eq!(module.id("main"), candidate);
    assert_eq!(module.git(["status", "--porcelain"]), "");
    assert!(module.root.join("payments/new.ts").exists());
}

#[test]
fn in_a_submodule_files_named_like_those_of_a_git_dir_are_landed() {
    let module = submodule_with("payments/more.ts");
    let script = "for name in config description HEAD; do echo mine > $name; done";
    kept(&module, script);
    let config = fs::read(git_dir(&module).join("config")).expect("it is there");
    module.agentgate(["land", JOB]).success();
    for name in ["config", "description", "HEAD"] {
        assert_eq!(fs::read(module.root.join(name)).expect("it is there"), b"mine\n");
    }
    assert_eq!(fs::read(git_dir(&module).join("config")).expect("it is there"), config);
}

#[test]
fn a_git_dir_that_lies_apart_is_never_taken_for_a_checkout() {
    let origin = Repo::new();
    fs::create_dir(origin.top().join("store")).expect("it is new");
    let option = format!("--separate-git-dir={}", origin.top().join("store/git").display());
    let clone = origin.clone_as("apart", &[&option]);
    kept(&clone, AGENT);
    assert!(origin.top().join("apart-jobs/j1").is_dir());
    let (at, candidate) = (clone.id("main"), clone.id("agent/j1"));
    clone.git(["worktree", "add", "--quiet", "--detach", "../linked"]);
    clone
        .beside("linked")
        .agentgate(["land", JOB])
        .expect(23, &["main checkout", "cd into"]);
    assert_eq!(clone.id("main"), at);
    fs::write(origin.top().join("store/git/info/exclude"), "new.ts\n").expect("it can be written");
    clone.write("payments/new.ts", "mine\n");
    clone.agentgate(["land", JOB]).expect(12, &["payments/new.ts"]);
    assert_eq!(
        fs::read(clone.root.join("payments/new.ts")).expect("it is there"),
        b"mine\n"
    );
    clone.remove("payments/new.ts");
    clone.agentgate(["land", JOB]).success();
    assert_eq!(clone.id("main"), candidate);
    assert_eq!(clone.git(["status", "--porcelain"]), "");
    assert!(!origin.top().join("apart-jobs").exists());
}

#[test]
fn a_branch_that_moved_is_not_touched() {
    let repo = with_kept();
    repo.change("payments/other.ts", "export {};\n");
    refused(&repo, 19, &["main moved"]);
    repo.agentgate(["drop", JOB]).success();
}

#[test]
fn a_branch_that_does_not_exist_or_is_symbolic_is_not_made() {
    let repo = with_kept();
    repo.agentgate(["land", JOB, "--onto", "nowhere"])
        .expect(23, &["nowhere"]);
    repo.git(["symbolic-ref", "refs/heads/alias", "refs/heads/main"]);
    repo.agentgate(["land", JOB, "--onto", "alias"])
        .expect(23, &["symbolic"]);
    assert_eq!(repo.git(["branch", "--list", "nowhere"]), "");
    assert_eq!(scene::row(&repo, JOB)["state"], "kept");
}

#[test]
fn a_candidate_that_a_person_merged_already_counts_as_landed() {
    let repo = with_kept();
    let candidate = repo.id("agent/j1");
    repo.git(["merge", "--quiet", "--ff-only", "agent/j1"]);
    repo.agentgate(["land", JOB]).success();
    landed(&repo, &candidate);
    assert_eq!(last_kind(&repo, JOB), "job.landed");
}

#[test]
fn what_is_dirty_at_a_touched_path_stays_as_it_is() {
    let put = |path: &'static str, content: &'static str| move |repo: &Repo| repo.write(path, content);
    type Case = (&'static str, Box<dyn Fn(&Repo)>, &'static str);
    let cases: Vec<Case> = vec![
        ("edited", Box::new(put("payments/pay.ts", "mine\n")), "payments/pay.ts"),
        (
            "staged",
            Box::new(|repo| {
                repo.write("payments/pay.ts", "mine\n");
                repo.git(["add", "-A"]);
            }),
            "payments/pay.ts",
        ),
        (
            "staged, then put back",
            Box::new(|repo| {
                repo.write("payments/pay.ts", "mine\n");
                repo.git(["add", "-A"]);
                repo.write("payments/pay.ts", "export const pay = 1;\n");
            }),
            "payments/pay.ts",
        ),
        (
            "deleted",
            Box::new(|repo| repo.remove("payments/pay.ts")),
            "payments/pay.ts",
        ),
        (
            "only its mode",
            Box::new(|repo| {
                let path = repo.root.join("payments/pay.ts");
                fs::set_permissions(path, fs::Permissions::from_mode(0o755)).expect("it can be set");
            }),
            "payments/pay.ts",
        ),
        (
            "hidden from status",
            Box::new(|repo| {
                repo.git(["update-index", "--assume-unchanged", "payments/pay.ts"]);
                repo.write("payments/pay.ts", "mine\n");
            }),
            "payments/pay.ts",
        ),
        (
            "skipped",
            Box::new(|repo| {
                repo.git(["update-index", "--skip-worktree", "payments/pay.ts"]);
                repo.write("payments/pay.ts", "mine\n");
            }),
            "payments/pay.ts",
        ),
        (
            "untracked",
            Box::new(put("payments/new.ts", "mine\n")),
            "payments/new.ts",
        ),
        (
            "ignored",
            Box::new(|repo| {
                repo.write(".git/info/exclude", "new.ts\n");
                repo.write("payments/new.ts", "mine\n");
            }),
            "payments/new.ts",
        ),
        (
            "a folder",
            Box::new(put("payments/new.ts/mine", "mine\n")),
            "payments/new.ts",
        ),
        (
            "an ignored folder",
            Box::new(|repo| {
                repo.write(".git/info/exclude", "mine\n");
                repo.write("payments/new.ts/mine", "mine\n");
            }),
            "payments/new.ts",
        ),
        (
            "a link that leads nowhere",
            Box::new(|repo| symlink("nowhere", repo.root.join("payments/new.ts")).expect("a link can be made")),
            "payments/new.ts",
        ),
    ];
    for (name, spoil, path) in cases {
        let repo = with_kept();
        spoil(&repo);
        eprintln!("{name}");
        refused(&repo, 12, &[path]);
    }
}

#[test]
fn a_file_in_the_place_of_a_new_folder_stays_as_it_is() {
    let repo = Repo::new();
    kept(&repo, "mkdir -p payments/sub/deep && echo 1 > payments/sub/deep/new.ts");
    repo.write(".git/info/exclude", "sub\n");
    repo.write("payments/sub", "mine\n");
    refused(&repo, 12, &["payments/sub"]);
    // A link to a folder would take the file elsewhere.
    repo.remove("payments/sub");
    fs::create_dir(repo.top().join("outside")).expect("a folder can be made");
    symlink(repo.top().join("outside"), repo.root.join("payments/sub")).expect("a link can be made");
    refused(&repo, 12, &["payments/sub"]);
}

#[test]
fn what_is_dirty_elsewhere_survives() {
    let repo = with_kept();
    repo.write("prot/rules.txt", "mine\n");
    repo.write("architecture/staged", "mine\n");
    repo.git(["add", "architecture/staged"]);
    repo.write("untracked", "mine\n");
    let candidate = repo.id("agent/j1");
    repo.agentgate(["land", JOB]).success();
    assert_eq!(repo.id("main"), candidate);
    assert_eq!(
        repo.git(["status", "--porcelain"]),
        "A  architecture/staged\n M prot/rules.txt\n?? untracked"
    );
    assert_eq!(
        fs::read(repo.root.join("prot/rules.txt")).expect("it is there"),
        b"mine\n"
    );
}

#[test]
fn a_file_that_was_only_touched_does_not_block() {
    let repo = with_kept();
    let candidate = repo.id("agent/j1");
    let file = fs::File::options().write(true).open(repo.root.join("payments/pay.ts"));
    let later = SystemTime::now() + Duration::from_secs(100);
    file.expect("it can be opened")
        .set_modified(later)
        .expect("a time can be set");
    repo.agentgate(["land", JOB]).success();
    landed(&repo, &candidate);
}

#[test]
fn a_merge_under_way_in_the_targets_checkout_stops_it() {
    let repo = with_kept();
    repo.branch("side");
    repo.change("prot/side.txt", "side\n");
    repo.checkout("main");
    repo.git(["merge", "--quiet", "--no-ff", "--no-commit", "side"]);
    refused(&repo, 12, &["merge"]);
    repo.git(["merge", "--abort"]);
    repo.agentgate(["land", JOB]).success();
}

#[test]
fn a_branch_that_is_being_rebased_is_not_moved() {
    let repo = Repo::new();
    repo.branch("upstream");
    repo.change("payments/pay.ts", "theirs\n");
    repo.checkout("main");
    repo.change("payments/pay.ts", "ours\n");
    kept(&repo, AGENT);
    assert_ne!(
        repo.program("git").args(["rebase", "--quiet", "upstream"]).run().code,
        0
    );
    refused(&repo, 12, &["main is being rebased"]);
    repo.git(["rebase", "--abort"]);
    repo.git(["bisect", "start", "HEAD", "HEAD~1"]);
    repo.git(["checkout", "--quiet", "--detach"]);
    refused(&repo, 12, &["main is being bisected"]);
    repo.git(["bisect", "reset"]);
    repo.agentgate(["land", JOB]).success();
    assert_eq!(repo.git(["status", "--porcelain"]), "");
}

#[test]
fn an_index_that_git_holds_stops_it() {
    let repo = with_kept();
    repo.write(".git/index.lock", "");
    let at = repo.id("main");
    repo.agentgate(["land", JOB]).expect(12, &["index.lock"]);
    assert_eq!(repo.id("main"), at);
    assert!(!repo.root.join("payments/new.ts").exists());
    repo.remove(".git/index.lock");
    repo.agentgate(["land", JOB]).success();
}

#[test]
fn a_branch_that_somebody_else_is_moving_is_not_a_failure_of_ours() {
    let repo = with_kept();
    repo.write(".git/refs/heads/main.lock", "");
    let at = repo.id("main");
    repo.agentgate(["land", JOB]).expect(19, &["main"]);
    assert_eq!(repo.id("main"), at);
    assert!(!repo.root.join("payments/new.ts").exists());
    repo.remove(".git/refs/heads/main.lock");
    repo.agentgate(["land", JOB]).success();
}

#[test]
fn no_hook_of_the_clone_runs() {
    let repo = with_kept();
    let canary = repo.top().join("canary");
    let names = [
        "post-checkout",
        "post-merge",
        "pre-commit",
        "post-commit",
        "reference-transaction",
        "post-index-change",
        "post-rewrite",
    ];
    for name in names {
        let path = format!(".git/hooks/{name}");
        repo.write(&path, format!("#!/bin/sh\necho {name} >> {}\n", canary.display()));
        fs::set_permissions(repo.root.join(&path), fs::Permissions::from_mode(0o755)).expect("it can be set");
    }
    let candidate = repo.id("agent/j1");
    repo.agentgate(["land", JOB]).success();
    assert_eq!(fs::read_to_string(&canary).ok(), None);
    fs::remove_dir_all(repo.root.join(".git/hooks")).expect("they are there");
    landed(&repo, &candidate);
}

#[test]
fn attributes_of_the_candidate_name_filters_in_vain() {
    let repo = Repo::new();
    kept(
        &repo,
        "printf '*.ts filter=evil\\n' > payments/.gitattributes; echo new > payments/new.ts
         git config filter.evil.smudge 'echo owned; cat'; git config filter.evil.clean cat",
    );
    repo.agentgate(["land", JOB]).success();
    assert_eq!(
        fs::read(repo.root.join("payments/new.ts")).expect("it is there"),
        b"new\n"
    );
    assert!(!repo.git(["config", "--list", "--local"]).contains("evil"));
}

/// A kept job that changes, adds, deletes and swaps, and a person's filter that fails at one file.
fn with_failing_filter(smudge: &str) -> Repo {
    let repo = Repo::new();
    repo.write("payments/.gitattributes", "*.ts filter=f\n");
    repo.write("payments/a-file", "file\n");
    repo.write("payments/a-folder/x", "x\n");
    repo.commit("more");
    kept(
        &repo,
        "cd payments; mkdir -p a-new/deep; echo 1 > a-new/deep/x; rm a-file; mkdir a-file; echo in > a-file/in
         rm -r a-folder; echo file > a-folder; echo 'export const pay = 2;' > pay.ts",
    );
    for (key, value) in [("smudge", smudge), ("clean", "cat"), ("required", "true")] {
        repo.git(["config", &format!("filter.f.{key}"), value]);
    }
    repo
}

#[test]
fn where_git_fails_half_way_files_and_branch_are_put_back() {
    let repo = with_failing_filter("false");
    refused(&repo, 1, &["smudge filter f failed", "as they were"]);
    assert_eq!(repo.git(["status", "--porcelain"]), "");
    assert!(!repo.root.join(".git/index.lock").exists());
    let names = fs::read_dir(repo.root.join(".git")).expect("it is there");
    let is_copy = |name: &std::ffi::OsStr| name.to_string_lossy().starts_with("agentgate-landing");
    assert!(
        !names
            .into_iter()
            .any(|entry| is_copy(&entry.expect("an entry").file_name()))
    );
    let candidate = repo.id("agent/j1");
    repo.git(["config", "filter.f.smudge", "cat"]);
    repo.agentgate(["land", JOB]).success();
    assert_eq!(repo.id("main"), candidate);
    assert_eq!(repo.git(["status", "--porcelain"]), "");
    assert!(repo.root.join("payments/a-new/deep/x").exists());
}

#[test]
fn a_folder_that_cannot_be_written_is_named_before_anything_moves() {
    let repo = Repo::new();
    repo.write("payments/closed/x", "x\n");
    repo.commit("more");
    kept(&repo, "rm -r payments/closed; echo 2 > payments/pay.ts");
    let closed = repo.root.join("payments/closed");
    let set = |mode| fs::set_permissions(&closed, fs::Permissions::from_mode(mode)).expect("it can be set");
    set(0o555);
    // root writes everywhere.
    if fs::File::create(closed.join("probe")).is_err() {
        refused(&repo, 1, &["payments/closed", "nothing was touched"]);
    } else {
        fs::remove_file(closed.join("probe")).expect("it was made");
    }
    set(0o755);
    repo.agentgate(["land", JOB]).success();
    assert_eq!(repo.git(["status", "--porcelain"]), "");
}

#[test]
fn what_cannot_be_put_back_is_named_with_its_repair() {
    let repo = with_failing_filter("mv payments gone; echo > payments; false");
    let at = repo.id("main");
    let outcome = repo.agentgate(["land", JOB]);
    outcome.expect(
        1,
        &[
            "main is at",
            "half written",
            "payments/pay.ts",
            "checkout --force",
            "agentgate-saved-",
        ],
    );
    assert!(!outcome.stderr.contains("as they were"), "{outcome}");
    assert_eq!(repo.id("main"), at);
    assert_eq!(scene::row(&repo, JOB)["state"], "kept");
}

#[test]
fn modes_links_deletions_and_swaps_of_kinds_arrive() {
    let repo = Repo::new();
    repo.write("payments/to-folder", "file\n");
    repo.write("payments/to-file/a", "a\n");
    repo.write("payments/to-file/b/c", "c\n");
    repo.write("payments/gone/deep/x", "x\n");
    repo.commit("more");
    kept(
        &repo,
        "cd payments
         chmod +x pay.ts; ln -s pay.ts link; rm -r gone
         rm to-folder; mkdir to-folder; echo in > to-folder/in
         rm -r to-file; echo file > to-file",
    );
    repo.agentgate(["land", JOB]).success();
    assert_eq!(repo.git(["status", "--porcelain"]), "");
    let at = |path: &str| repo.root.join("payments").join(path);
    let mode = fs::metadata(at("pay.ts")).expect("it is there").permissions().mode();
    assert_eq!(mode & 0o111, 0o111);
    assert_eq!(
        fs::read_link(at("link")).expect("a link"),
        std::path::Path::new("pay.ts")
    );
    assert!(!at("gone").exists());
    assert_eq!(fs::read(at("to-folder/in")).expect("a file"), b"in\n");
    assert_eq!(fs::read(at("to-file")).expect("a file"), b"file\n");
}

#[test]
fn a_folder_that_becomes_a_file_keeps_what_a_person_put_into_it() {
    let repo = Repo::new();
    repo.write("payments/to-file/a", "a\n");
    repo.commit("more");
    kept(&repo, "rm -r payments/to-file; echo file > payments/to-file");
    repo.write(".git/info/exclude", "mine\n");
    repo.write("payments/to-file/mine", "mine\n");
    refused(&repo, 12, &["payments/to-file"]);
}

#[test]
fn edits_commits_and_locks_in_the_jobs_worktree_stop_it() {
    let repo = with_kept();
    let there = repo.beside("repo-jobs/j1");
    there.write("payments/pay.ts", "more\n");
    refused(&repo, 12, &["payments/pay.ts", "drop --force j1"]);
    there.git(["checkout", "--quiet", "payments/pay.ts"]);

    repo.git(["worktree", "lock", "--reason", "mine", "../repo-jobs/j1"]);
    refused(&repo, 23, &["locked by a person: mine"]);
    repo.git(["worktree", "unlock", "../repo-jobs/j1"]);

    there.change("payments/more.ts", "export {};\n");
    refused(&repo, 20, &["commits beyond the candidate"]);
    assert!(worktree(&repo, JOB).join("payments/more.ts").exists());
}

#[test]
fn only_a_kept_job_is_landed_and_only_once() {
    let repo = with_kept();
    repo.agentgate(["land", JOB]).success();
    repo.agentgate(["land", JOB]).expect(23, &["it was landed"]);
    repo.agentgate(["land", "nobody"]).expect(23, &["no job nobody"]);
    repo.agentgate(["land", "../j1"]).expect(64, &["bad job id"]);
    agent(&repo, "j2", &[], "echo x > prot/rules.txt").run().expect(3, &[]);
    repo.agentgate(["land", "j2"]).expect(23, &["protected-path"]);
    agent(&repo, "j3", &[], "exit 4").run().expect(16, &[]);
    repo.agentgate(["land", "j3"]).expect(23, &["agent-failed"]);
    agent(&repo, "j4", &[], "echo 4 > payments/4.ts").run().success();
    repo.agentgate(["drop", "j4"]).success();
    repo.agentgate(["land", "j4"]).expect(23, &["it was dropped"]);
}

#[test]
fn a_job_from_a_detached_head_needs_a_branch_to_land_on() {
    let repo = Repo::new();
    repo.git(["checkout", "--quiet", "--detach"]);
    kept(&repo, AGENT);
    repo.agentgate(["land", JOB]).expect(64, &["--onto BRANCH"]);
    let candidate = repo.id("agent/j1");
    repo.agentgate(["land", JOB, "--onto", "main"]).success();
    assert_eq!(repo.id("main"), candidate);
    assert!(!repo.root.join("payments/new.ts").exists(), "HEAD is not on main");
    // Asked for beforehand, it is refused before an agent works for nothing.
    agent(&repo, "j2", &["--land"], AGENT).run().expect(64, &["detached"]);
    assert!(!scene::record(&repo, "j2").exists());
}

#[test]
fn a_submodule_is_looked_into_only_where_git_itself_filled_it() {
    let repo = Repo::new();
    let module = repo.beside("module");
    fs::create_dir(&module.root).expect("a folder can be made");
    module.git(["init", "--quiet", "."]);
    module.change("inside", "inside\n");
    repo.git(["submodule", "--quiet", "add", "../module", "module"]);
    repo.commit("submodule");
    kept(&repo, AGENT);
    let there = repo.beside("repo-jobs/j1");
    let canary = repo.top().join("canary");
    there.git(["clone", "--quiet", "../../module", "module"]);
    let trap = format!("echo owned >> {}; false", canary.display());
    there
        .beside("repo-jobs/j1/module")
        .git(["config", "core.fsmonitor", &trap]);
    refused(&repo, 12, &["module (submodule: not looked into)"]);
    assert_eq!(fs::read_to_string(&canary).ok(), None);

    fs::remove_dir_all(there.root.join("module")).expect("it is there");
    there.git(["submodule", "--quiet", "update", "--init"]);
    there.write("module/inside", "mine\n");
    refused(&repo, 12, &["module (submodule)"]);
    there.write("module/inside", "inside\n");
    repo.agentgate(["land", JOB]).success();
    assert!(!there.root.exists());
}

#[test]
fn run_with_land_does_it_in_one_go() {
    let repo = Repo::new();
    let outcome = agent(&repo, JOB, &["--land"], AGENT).run().success();
    outcome.expect(0, &["landed=refs/heads/main", "verdict=ok"]);
    landed(&repo, &repo.id("main"));
    assert_eq!(last_kind(&repo, JOB), "job.landed");
}

#[test]
fn run_with_land_says_what_stopped_the_landing_and_keeps_the_job() {
    let repo = Repo::new();
    // The person commits while the agent works.
    let script = format!("{AGENT}; while [ ! -e go ]; do sleep 0.02; done; rm go");
    let running = agent(&repo, JOB, &["--land"], &script).spawn();
    let there = worktree(&repo, JOB);
    scene::until("the agent is at work", || there.join("payments/new.ts").exists());
    let moved = repo.change("payments/other.ts", "export {};\n");
    fs::write(there.join("go"), "").expect("it can be written");
    let outcome = running.wait();
    outcome.expect(
        19,
        &["main moved", "job_id=j1", "exit=19", &there.display().to_string()],
    );
    assert_eq!(repo.id("main"), moved);
    assert_eq!(scene::row(&repo, JOB)["state"], "kept");
}

#[test]
fn of_two_landings_at_once_one_wins() {
    let repo = with_kept();
    agent(&repo, "j2", &[], "echo 2 > payments/2.ts").run().success();
    let base = repo.id("main");
    let (one, two) = (repo.id("agent/j1"), repo.id("agent/j2"));
    let running = [
        repo.command(["land", JOB]).spawn(),
        repo.command(["land", "j2"]).spawn(),
    ];
    let codes = running.map(|landing| landing.wait().code);
    let at = repo.id("main");
    match codes {
        [0, 19] => assert_eq!(at, one),
        [19, 0] => assert_eq!(at, two),
        other => panic!("{other:?}, base {base}, main {at}"),
    }
    assert_eq!(repo.git(["status", "--porcelain"]), "");
    assert_eq!(repo.git(["rev-parse", "main~1"]), base);
}

#[test]
fn run_land_from_another_base_is_refused_before_the_agent_starts() {
    let repo = Repo::new();
    repo.branch("feature");
    repo.change("docs/other", "unjudged\n");
    repo.checkout("main");
    agent(&repo, JOB, &["--base", "feature", "--land"], "touch ../started")
        .run()
        .expect(19, &["--land: the candidate would stand on"]);
    assert!(!repo.top().join("started").exists());
}

#[test]
fn one_that_was_killed_between_branch_and_files_is_finished() {
    let repo = Repo::new();
    kept(&repo, "echo 2 > payments/pay.ts; echo new > payments/new.ts");
    let (base, tip) = (repo.id("main"), repo.id("agent/j1"));
    // All that it had done: the branch moved, by a line in its log, and copies were made of what was there.
    repo.git(["update-ref", "-m", "agentgate land j1", "refs/heads/main", &tip, &base]);
    fs::create_dir(repo.root.join(".git/agentgate-landing-a1b2c3")).expect("it is new");
    repo.agentgate(["land", JOB]).success();
    assert_eq!(repo.git(["status", "--porcelain"]), "");
    assert_eq!(
        fs::read_to_string(repo.root.join("payments/new.ts")).expect("it is there"),
        "new\n"
    );
    let events = scene::events(&repo, JOB);
    assert_eq!(events.last().expect("events")["old"], *base);
    assert!(!repo.root.join(".git/agentgate-landing-a1b2c3").exists());
    scene::nothing_left(&repo);
}

#[test]
fn a_persons_edits_stop_the_finishing_of_a_landing() {
    let repo = Repo::new();
    kept(&repo, "echo 2 > payments/pay.ts; echo new > payments/new.ts");
    let (base, tip) = (repo.id("main"), repo.id("agent/j1"));
    repo.git(["update-ref", "-m", "agentgate land j1", "refs/heads/main", &tip, &base]);
    repo.write("payments/pay.ts", "mine\n");
    repo.write("payments/new.ts", "mine too\n");
    let outcome = repo.agentgate(["land", JOB]);
    assert_ne!(outcome.code, 0, "{outcome}");
    assert_eq!(
        fs::read_to_string(repo.root.join("payments/pay.ts")).expect("it is there"),
        "mine\n"
    );
    assert_eq!(
        fs::read_to_string(repo.root.join("payments/new.ts")).expect("it is there"),
        "mine too\n"
    );
    assert_eq!(scene::row(&repo, JOB)["state"], "kept");
}

//! `check --worktree`, `--staged` and `--paths`: what is not committed yet.

use crate::support::print::{content_changes, prints};
use crate::support::repo::Repo;

#[test]
fn the_checkout_is_judged_with_what_git_does_not_know_yet() {
    let repo = Repo::new();
    repo.write("payments/pay.ts", "import redis from 'redis';\n");
    repo.write("prot/new.txt", "x\n");
    repo.write(".gitignore", "ignored/\n");
    repo.write("ignored/prot.txt", "x\n");
    let outcome = repo.agentgate(["check", "--worktree"]);
    outcome.expect(
        3,
        &[
            "payments/pay.ts:1:19: imports `redis`",
            "prot/new.txt: protected path added",
        ],
    );
    assert!(!outcome.stdout.contains("ignored/"), "{outcome}");
}

#[test]
fn nothing_of_the_clone_is_written() {
    let repo = Repo::new();
    repo.write("payments/pay.ts", "export const pay = 2;\n");
    repo.write("payments/new.ts", "export {};\n");
    repo.git(["add", "payments/new.ts"]);
    let before = prints(std::slice::from_ref(&repo.root), &[]);
    for what in [&["--worktree"][..], &["--staged"], &["--paths", "payments"]] {
        let outcome = repo.agentgate([&["check"], what].concat());
        outcome.expect(0, &["invariants ok"]);
    }
    assert_eq!(
        content_changes(&before, &prints(std::slice::from_ref(&repo.root), &[])),
        [""; 0]
    );
}

#[test]
fn what_is_staged_is_judged_and_not_what_lies_beside_it() {
    let repo = Repo::new();
    repo.write("payments/pay.ts", "import redis from 'redis';\n");
    repo.git(["add", "payments/pay.ts"]);
    repo.write("payments/pay.ts", "export const pay = 2;\n");
    repo.write("prot/new.txt", "x\n");
    let outcome = repo.agentgate(["check", "--staged"]);
    outcome.expect(5, &["payments/pay.ts:1:19", "1 finding in 1 path"]);
}

#[test]
fn only_the_paths_that_were_named_count() {
    let repo = Repo::new();
    repo.write("payments/pay.ts", "import redis from 'redis';\n");
    repo.write("prot/new.txt", "x\n");
    repo.git(["add", "-A"]);
    repo.agentgate(["check", "--paths", "payments/pay.ts"])
        .expect(5, &["1 finding in 1 path"]);
    repo.agentgate(["check", "--paths", "prot", "payments"])
        .expect(3, &["2 findings in 2 paths"]);
    // As typed in a folder below, and by its very name.
    let outcome = repo
        .command(["check", "--paths", "pay.ts"])
        .cwd(repo.root.join("payments"))
        .run();
    outcome.expect(5, &["payments/pay.ts:1"]);
    repo.agentgate(["check", "--paths", "p*"]).expect(64, &["p*"]);
    for path in [".git/config", "payments/../.git"] {
        repo.agentgate(["check", "--paths", path])
            .expect(64, &[path, "lies in a git dir, and no commit holds it"]);
    }
}

#[test]
fn a_deleted_file_is_a_change() {
    let repo = Repo::new();
    repo.remove("prot/rules.txt");
    for what in [&["--worktree"][..], &["--paths", "prot/rules.txt"]] {
        repo.agentgate([&["check"], what].concat())
            .expect(3, &["prot/rules.txt: protected path deleted"]);
    }
}

#[test]
fn an_edited_policy_does_not_judge_itself() {
    let repo = Repo::new();
    repo.write("architecture/invariants.yml", "version: 1\nmax_new_top_level_dirs: 9\n");
    repo.write("prot/rules.txt", "none\n");
    repo.agentgate(["check", "--worktree"]).expect(
        3,
        &["architecture/invariants.yml: protected", "prot/rules.txt: protected"],
    );
}

#[test]
fn the_base_can_be_another_commit() {
    let repo = Repo::new();
    repo.branch("f");
    repo.change("prot/rules.txt", "none\n");
    repo.agentgate(["check", "--worktree"])
        .expect(0, &["nothing is changed, so nothing was judged"]);
    repo.agentgate(["check", "--worktree", "--base", "main"]).expect(3, &[]);
    repo.agentgate(["check", "--worktree", "--base", "nowhere"])
        .expect(2, &["\"nowhere\" names no commit"]);
}

#[test]
fn an_index_with_conflicts_is_2() {
    let repo = Repo::new();
    repo.branch("f");
    repo.change("payments/pay.ts", "export const pay = 2;\n");
    repo.checkout("main");
    repo.change("payments/pay.ts", "export const pay = 3;\n");
    repo.program("git").args(["merge", "f"]).run();
    repo.agentgate(["check", "--staged"])
        .expect(2, &["payments/pay.ts", "git status names what is unmerged"]);
}

#[test]
fn json_says_what_was_judged() {
    let repo = Repo::new();
    repo.write("prot/new.txt", "x\n");
    let json = repo.agentgate(["check", "--worktree", "--json"]).json();
    assert_eq!(json["subject"], "worktree");
    assert_eq!(json["exit"], 3);
    assert_eq!(json["base"], repo.id("HEAD"));
}

#[test]
fn a_hook_judges_the_index_that_git_commits() {
    let repo = Repo::new();
    let hook = format!("#!/bin/sh\nexec {} check --staged\n", repo.binary());
    repo.write(".git/hooks/pre-commit", &hook);
    let hook = repo.root.join(".git/hooks/pre-commit");
    std::fs::set_permissions(&hook, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    let commit = |args: &[&str]| repo.program("git").args([&["commit", "-m", "x"], args].concat()).run();
    repo.write("payments/pay.ts", "import redis from 'redis';\n");
    // Neither is in the checkout's own index before git asks the hook.
    commit(&["-a"]).expect(1, &["payments/pay.ts:1:19"]);
    commit(&["payments/pay.ts"]).expect(1, &["payments/pay.ts:1:19"]);
    // What stays behind does not count.
    repo.git(["add", "payments/pay.ts"]);
    repo.write("payments/good.ts", "export {};\n");
    repo.git(["add", "payments/good.ts"]);
    repo.git(["commit", "--quiet", "-m", "good", "payments/good.ts"]);
    repo.command(["check", "--staged"])
        .env("GIT_INDEX_FILE", "/nowhere/index")
        .run()
        .expect(2, &["GIT_INDEX_FILE names /nowhere/index"]);
}

#[test]
fn an_edit_of_the_same_size_within_the_second_of_the_index_is_seen() {
    let repo = Repo::new();
    // As if all of it had happened in one second; the time of the inode cannot be set.
    repo.git(["config", "core.trustctime", "false"]);
    let at = |path: &str| repo.program("touch").args(["-d", "@1000000000", path]).run().success();
    repo.write("payments/pay.ts", "import a from 'reduced';\n");
    at("payments/pay.ts");
    repo.git(["add", "-A"]);
    repo.git(["commit", "--quiet", "-m", "reduced"]);
    at(".git/index");
    repo.write("payments/pay.ts", "import a from 'redis/x';\n");
    at("payments/pay.ts");
    repo.agentgate(["check", "--worktree"])
        .expect(5, &["payments/pay.ts:1:"]);
}

#[test]
fn an_owner_changes_the_policy_through_the_hook() {
    let repo = Repo::new();
    repo.write(
        "architecture/invariants.yml",
        format!("{}unmapped: deny\n", crate::support::repo::POLICY),
    );
    repo.git(["add", "-A"]);
    repo.agentgate(["check", "--staged"])
        .expect(3, &["is accepted with --allow-policy-change"]);
    repo.agentgate(["check", "--staged", "--allow-policy-change"])
        .expect(0, &["human-owned files changed only"]);
    // With anything else beside it the option is void, and a broken policy never passes.
    repo.write("payments/pay.ts", "export const pay = 2;\n");
    repo.agentgate(["check", "--worktree", "--allow-policy-change"])
        .expect(3, &["is void: payments/pay.ts changes as well"]);
    repo.write("architecture/invariants.yml", "version: 1\nunmaped: deny\n");
    repo.agentgate(["check", "--paths", "architecture", "--allow-policy-change"])
        .expect(2, &["in what is not committed", "unmaped"]);
}

#[test]
fn where_there_is_no_policy_yet_the_next_step_is_said() {
    let repo = Repo::empty();
    let base = repo.change("README.md", "x\n");
    let asked = [&["--staged"][..], &["--staged", "--allow-policy-change"]];
    let told = |repo: &Repo, here: &str, hint: &str| {
        for options in asked {
            let outcome = repo.agentgate([&["check"], options].concat());
            let message = format!(
                "error: no architecture/invariants.yml in the base (HEAD, {}), and {here}\n",
                &base[..12]
            );
            outcome.expect(2, &[&message, hint]);
            assert!(!outcome.stderr.contains("would be no policy"), "{outcome}");
        }
    };
    told(&repo, "nothing is staged", "hint: write one with `agentgate init`");
    repo.write("a.txt", "x\n");
    repo.git(["add", "a.txt"]);
    told(&repo, "none is staged", "hint: write one with `agentgate init`");
    repo.agentgate(["init"]).success();
    told(
        &repo,
        "none is staged",
        "hint: one lies in the checkout: git add architecture/invariants.yml architecture/invariants.schema.json\n",
    );
    repo.write(".gitignore", "architecture/\n");
    repo.agentgate(["check", "--worktree", "--allow-policy-change"]).expect(
        2,
        &[
            "and none in the checkout that git would take",
            "git add --force architecture/invariants.yml",
        ],
    );
    repo.agentgate(["check", "--paths", "a.txt"]).expect(
        2,
        &[
            "and none among these paths",
            "one lies in the checkout; it judges once it is committed",
        ],
    );
}

#[test]
fn nothing_staged_is_nothing_accepted() {
    let repo = Repo::new();
    let outcome = repo.agentgate(["check", "--staged", "--allow-policy-change"]);
    outcome.expect(0, &["note: nothing is staged, so nothing was judged\n"]);
    assert!(!outcome.stdout.contains("accepts"), "{outcome}");
}

#[test]
fn before_the_first_commit_a_hook_is_told_how_to_be_passed() {
    let repo = Repo::empty();
    repo.write("README.md", "x\n");
    repo.git(["add", "-A"]);
    repo.agentgate(["check", "--staged"])
        .expect(2, &["the repository has no commit yet", "git commit --no-verify\n"]);
    let outcome = repo.agentgate(["check", "--worktree"]);
    outcome.expect(2, &["the repository has no commit yet"]);
    assert!(!outcome.stderr.contains("--no-verify"), "{outcome}");
}

#[test]
fn the_first_policy_passes_on_its_own() {
    let repo = Repo::empty();
    repo.change("README.md", "x\n");
    repo.write("architecture/invariants.yml", crate::support::repo::POLICY);
    repo.git(["add", "-A"]);
    repo.agentgate(["check", "--staged"])
        .expect(2, &["judges from the next commit on", "--allow-policy-change accepts"]);
    repo.agentgate(["check", "--staged", "--allow-policy-change"])
        .expect(0, &["this is the first one"]);
    repo.write("payments/pay.ts", "import 'redis'\n");
    repo.agentgate(["check", "--worktree", "--allow-policy-change"]).expect(
        2,
        &["payments/pay.ts changes as well", "commit the first policy on its own"],
    );
}

#[test]
fn no_mark_in_the_index_hides_a_file() {
    for mark in ["--assume-unchanged", "--skip-worktree"] {
        let repo = Repo::new();
        repo.git(["update-index", mark, "payments/pay.ts"]);
        repo.write("payments/pay.ts", "import redis from 'redis';\n");
        repo.agentgate(["check", "--worktree"])
            .expect(5, &["payments/pay.ts:1:19"]);
        let flags = repo.git(["ls-files", "-v", "payments/pay.ts"]);
        assert!(!flags.starts_with('H'), "the clone's own index is as it was: {flags}");
    }
}

#[test]
fn a_file_of_a_repository_inside_is_not_passed_over() {
    let repo = Repo::new();
    repo.git(["init", "-q", "payments/inner"]);
    repo.write("payments/inner/a.ts", "import redis from 'redis';\n");
    for path in ["payments/inner/a.ts", "payments/inner"] {
        repo.agentgate(["check", "--paths", path])
            .expect(64, &["lies in a repository of its own", "payments/inner"]);
    }
    repo.agentgate(["check", "--worktree"])
        .expect(2, &["the checkout cannot be read whole: ", "payments/inner"]);
}

/// A checkout without `far/`, which has a file in HEAD.
fn sparse() -> Repo {
    let repo = Repo::new();
    repo.write("far/pay.ts", "export {};\n");
    repo.write("payments/deep/x.ts", "export {};\n");
    repo.commit("far");
    repo.git(["sparse-checkout", "set", "architecture", "payments"]);
    assert!(!repo.root.join("far").exists() && !repo.root.join("prot").exists());
    repo
}

#[test]
fn outside_of_a_sparse_checkout_there_is_nothing_to_judge_and_a_way_to_get_it() {
    let repo = sparse();
    for path in ["far", "far/pay.ts", "far/", "./far/pay.ts"] {
        let outcome = repo.agentgate(["check", "--paths", path]);
        let text = format!("{path} is in HEAD and not in this sparse checkout");
        outcome.expect(64, &[&text, "hint: git sparse-checkout add far   #"]);
        assert!(!outcome.stderr.contains("exist;"), "{outcome}");
    }
    let nowhere = repo.agentgate(["check", "--paths", "nowhere"]);
    nowhere.expect(64, &["nowhere: fatal: pathspec"]);
    // What is named beside it is judged as it is: what is not checked out is not deleted.
    repo.write("payments/pay.ts", "import redis from 'redis';\n");
    repo.agentgate(["check", "--paths", "."])
        .expect(5, &["payments/pay.ts:1:19", "1 finding in 1 path"]);
}

#[test]
fn what_lies_outside_of_the_cone_is_judged_where_it_is_there() {
    let repo = sparse();
    repo.write("prot/new.txt", "x\n");
    for line in [&["--worktree"][..], &["--paths", "prot/new.txt"], &["--paths", "prot"]] {
        repo.agentgate([&["check"], line].concat())
            .expect(3, &["prot/new.txt: protected path added", "1 finding in 1 path"]);
    }
    repo.write("prot/rules.txt", "none\n");
    for line in [&["--worktree"][..], &["--paths", "prot/rules.txt"]] {
        repo.agentgate([&["check"], line].concat())
            .expect(3, &["prot/rules.txt: protected path changed"]);
    }
}

const TASK: &str = "Goal: x\nAllowed files: payments/\n";

#[test]
fn an_untracked_task_is_no_part_of_the_change() {
    let repo = Repo::new();
    repo.write("TASK.md", TASK);
    repo.write("payments/pay.ts", "export const pay = 2;\n");
    let note = "note: TASK.md is the task and untracked, so it is no part of the change\n";
    let outcome = repo.agentgate(["check", "--worktree", "--task", "TASK.md"]);
    outcome.expect(0, &[note, "invariants ok; 1 path checked"]);
    let below = repo.command(["check", "--worktree", "--task", "../payments/../TASK.md"]);
    below.cwd(repo.root.join("payments")).run().expect(0, &[note]);
    // No other file goes with it, whatever its name.
    for other in ["TASK.md.ts", "TASK.mdx", "x/TASK.md", "task.md"] {
        repo.write(other, "x\n");
        let text = format!("{other}: not among the task's allowed files");
        repo.agentgate(["check", "--worktree", "--task", "TASK.md"])
            .expect(7.min(6 + i32::from(!other.contains('/'))), &[&text, note]);
        repo.remove(other);
        let _ = std::fs::remove_dir(repo.root.join("x"));
    }
    // A name with a meaning for git's patterns.
    std::fs::rename(repo.root.join("TASK.md"), repo.root.join("*.md")).unwrap();
    repo.write("a.md", "x\n");
    repo.agentgate(["check", "--worktree", "--task", "*.md"])
        .expect(7, &["a.md: not among", "note: *.md is the task", "1 finding in 1 path"]);
}

#[test]
fn a_task_that_git_knows_is_a_change_like_any_other() {
    let line = ["check", "--worktree", "--task", "TASK.md"];
    let is_judged = |repo: &Repo| {
        repo.agentgate(line)
            .expect(7, &["TASK.md: not among the task's allowed files"])
    };
    let staged = Repo::new();
    staged.write("TASK.md", TASK);
    staged.git(["add", "TASK.md"]);
    is_judged(&staged);
    let changed = Repo::new();
    changed.change("TASK.md", "Goal: y\n");
    changed.write("TASK.md", TASK);
    is_judged(&changed);
    // Taken out of the index alone, it is HEAD's all the same.
    changed.git(["rm", "--quiet", "--cached", "TASK.md"]);
    is_judged(&changed);
    let old = Repo::new();
    old.change("TASK.md", "Goal: y\n");
    old.git(["rm", "--quiet", "TASK.md"]);
    old.commit("away");
    old.write("TASK.md", TASK);
    old.agentgate([&line[..], &["--base", "HEAD~1"]].concat())
        .expect(7, &["TASK.md: not among the task's allowed files"]);
    // A link is none, and what it leads to is not what was named.
    let link = Repo::new();
    link.write("real.md", TASK);
    std::os::unix::fs::symlink("real.md", link.root.join("TASK.md")).unwrap();
    is_judged(&link);
    link.agentgate(line).expect(7, &["real.md: not among"]);
    // Only what is not committed is looked at without it.
    let named = Repo::new();
    named.write("TASK.md", TASK);
    named
        .agentgate(["check", "--paths", "TASK.md", "--task", "TASK.md"])
        .expect(7, &["TASK.md: not among"]);
    // Any text is a task; source is no less judged for being named as one.
    named.write("payments/q.ts", "import redis from 'redis';\n");
    named
        .agentgate(["check", "--worktree", "--task", "payments/q.ts"])
        .expect(5, &["payments/q.ts:1:19: imports `redis`"]);
}

#[test]
fn a_folder_that_cannot_be_read_is_2_and_named() {
    use crate::support::person::Person;
    use std::os::unix::fs::PermissionsExt;
    // Root reads everything.
    let Some(person) = Person::all().into_iter().find(|person| !person.is_root()) else {
        eprintln!("skipped: there is nobody here who is not root");
        return;
    };
    let repo = Repo::of(person);
    repo.write("payments/closed/new.ts", "import redis from 'redis';\n");
    let closed = repo.root.join("payments/closed");
    let set = |mode: u32| std::fs::set_permissions(&closed, PermissionsExt::from_mode(mode)).unwrap();
    for mode in [0o000, 0o300] {
        set(mode);
        let outcomes =
            [&["--worktree"][..], &["--paths", "payments"]].map(|line| repo.agentgate([&["check"], line].concat()));
        set(0o755);
        for outcome in outcomes {
            outcome.expect(
                2,
                &[
                    "the checkout cannot be read whole",
                    "payments/closed",
                    "hint: make what it names readable",
                ],
            );
        }
    }
    repo.agentgate(["check", "--worktree"])
        .expect(5, &["payments/closed/new.ts"]);
}

//! `agentgate drop` and `agentgate open`: nothing of a person's is deleted, nothing of an agent's
//! is run.

mod damaged;
mod ignored;
mod logins;
mod torn;

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};

use super::support::hints;
use super::support::repo::Repo;
use super::support::scene::{
    self, AGENT, JOB, agent, dead, events, kept, last_kind, nothing_left, record, row, tree, until, with_kept, worktree,
};

/// What a drop leaves: record and its ref.
#[track_caller]
fn record_stays(repo: &Repo) {
    assert!(record(repo, JOB).join("task.md").exists());
    assert!(!events(repo, JOB).is_empty());
}

#[test]
fn a_kept_job_is_given_up_and_its_record_stays() {
    let repo = with_kept();
    let (base, files) = (repo.id("main"), tree(&repo.root));
    let outcome = repo.agentgate(["drop", JOB]).success();
    assert_eq!(
        outcome.stdout,
        format!("job_id=j1\nrecord={}\n", record(&repo, JOB).display())
    );
    nothing_left(&repo);
    record_stays(&repo);
    repo.git(["rev-parse", "--verify", "refs/agentgate/jobs/j1"]);
    assert_eq!(last_kind(&repo, JOB), "job.dropped");
    assert_eq!(row(&repo, JOB)["state"], "dropped");
    assert_eq!((repo.id("main"), tree(&repo.root)), (base, files));
    repo.agentgate(["drop", JOB]).expect(23, &["it was dropped"]);
    repo.agentgate(["drop", "nobody"]).expect(23, &["no job nobody"]);
}

#[test]
fn edits_in_a_kept_worktree_need_force() {
    type Edit = fn(&Repo);
    let edits: [(&str, Edit); 4] = [
        ("edited", |there| there.write("payments/pay.ts", "mine\n")),
        ("staged", |there| {
            there.write("payments/pay.ts", "mine\n");
            there.git(["add", "-A"]);
        }),
        ("untracked", |there| there.write("payments/mine", "mine\n")),
        ("deleted", |there| there.remove("payments/new.ts")),
    ];
    let repo = with_kept();
    let there = repo.beside("repo-jobs/j1");
    for (name, edit) in edits {
        eprintln!("{name}");
        edit(&there);
        let before = tree(&there.root);
        repo.agentgate(["drop", JOB]).expect(12, &["agentgate drop --force j1"]);
        assert_eq!(tree(&there.root), before);
        there.git(["reset", "--quiet", "--hard"]);
        there.git(["clean", "--quiet", "-fd"]);
    }
    there.write("payments/pay.ts", "mine\n");
    repo.agentgate(["drop", "--force", JOB]).success();
    nothing_left(&repo);
}

#[test]
fn commits_that_another_branch_has_are_not_lost() {
    let repo = with_kept();
    let there = repo.beside("repo-jobs/j1");
    let more = there.change("payments/more.ts", "export {};\n");
    repo.agentgate(["land", JOB]).expect(20, &["git merge agent/j1"]);
    repo.git(["merge", "--quiet", "agent/j1"]);
    repo.agentgate(["drop", JOB]).success();
    nothing_left(&repo);
    assert_eq!(repo.id("main"), more);
    assert_eq!(repo.git(["branch", "--list", "agent/*"]), "");
}

#[test]
fn commits_beyond_the_candidate_need_force() {
    let repo = with_kept();
    let there = repo.beside("repo-jobs/j1");
    let more = there.change("payments/more.ts", "export {};\n");
    repo.agentgate(["drop", JOB])
        .expect(20, &["commits beyond the candidate"]);
    assert_eq!(repo.id("agent/j1"), more);
    // Moved to a branch of the person's, they stop nobody, and they stay.
    there.git(["switch", "--quiet", "-c", "mine"]);
    repo.git(["branch", "--force", "agent/j1", "mine~1"]);
    there.git(["reset", "--quiet", "--hard", "mine~1"]);
    repo.git(["branch", "saved", &more]);
    repo.agentgate(["drop", JOB]).success();
    assert_eq!(repo.id("saved"), more);
    assert_eq!(repo.git(["branch", "--list", "agent/*"]), "");

    let repo = with_kept();
    let there = repo.beside("repo-jobs/j1");
    let more = there.change("payments/more.ts", "export {};\n");
    repo.agentgate(["drop", "--force", JOB])
        .expect(0, &["agent/j1 does not point at the candidate any more"]);
    assert_eq!(repo.id("agent/j1"), more, "the commits can still be reached");
    assert!(!there.root.exists());
}

#[test]
fn a_branch_that_is_checked_out_elsewhere_is_left() {
    let repo = with_kept();
    let candidate = repo.id("agent/j1");
    repo.beside("repo-jobs/j1").git(["checkout", "--quiet", "--detach"]);
    repo.checkout("agent/j1");
    repo.agentgate(["drop", JOB]).expect(0, &["agent/j1 is checked out"]);
    assert_eq!(repo.id("HEAD"), candidate);
    assert_eq!(repo.git(["symbolic-ref", "HEAD"]), "refs/heads/agent/j1");
    assert!(!worktree(&repo, JOB).exists());
}

#[test]
fn a_persons_lock_is_respected_even_with_force() {
    let repo = with_kept();
    repo.git(["worktree", "lock", "--reason", "keep", "../repo-jobs/j1"]);
    assert_eq!(row(&repo, JOB)["detail"], "locked by a person: keep");
    for args in [&["drop", JOB][..], &["drop", "--force", JOB]] {
        repo.agentgate(args)
            .expect(23, &["locked by a person", "git worktree unlock"]);
    }
    assert!(worktree(&repo, JOB).join("payments/new.ts").exists());
    assert_eq!(last_kind(&repo, JOB), "job.kept");
}

#[test]
fn a_dead_job_with_edits_needs_force() {
    let edits = [
        "echo partial > payments/new.ts",
        "echo partial >> payments/pay.ts; git add -A; git commit -qm own",
        "echo partial >> payments/pay.ts; git stash -q",
        "git commit -q --allow-empty -m own",
        "printf '*\\n' > .gitignore; echo partial > payments/hidden.ts",
    ];
    for edit in edits {
        eprintln!("{edit}");
        let repo = Repo::new();
        dead(&repo, edit);
        let there = worktree(&repo, JOB);
        fs::remove_file(there.join("at-work")).expect("it is there");
        assert_eq!(row(&repo, JOB)["state"], "dead");
        repo.agentgate(["drop", JOB]).expect(12, &["agentgate drop --force j1"]);
        assert!(there.join("payments/pay.ts").exists());
        repo.agentgate(["drop", "--force", JOB]).success();
        nothing_left(&repo);
        record_stays(&repo);
        assert_eq!(row(&repo, JOB)["state"], "dropped");
        repo.agentgate(["drop", JOB]).expect(23, &["it was dropped"]);
    }
}

/// What a refusal says to type is enough, and afterwards all that the agent had committed is in the clone.
#[test]
fn what_an_agent_that_died_had_committed_can_be_kept() {
    for edit in [
        "echo partial >> payments/pay.ts; git add -A; git commit -qm own",
        "echo partial >> payments/pay.ts; git stash -q; echo more >> payments/pay.ts; git stash -q",
        "echo partial >> payments/pay.ts; git commit -qam own; git tag -a v -m v; git checkout -q --detach HEAD~1",
    ] {
        eprintln!("{edit}");
        let repo = Repo::new();
        dead(&repo, &format!("{edit}; git rev-list --all --reflog > commits"));
        let made = fs::read_to_string(worktree(&repo, JOB).join("commits")).expect("the agent wrote it");
        let refused = repo.agentgate(["drop", JOB]);
        refused.expect(12, &["its own ", "agentgate drop --force j1"]);
        let words = refused.stderr.lines().filter_map(|line| {
            let (words, _) = line.strip_prefix("hint: keep its commit ")?.split_once(": ")?;
            Some(format!("keep its commit {words}"))
        });
        let words: Vec<String> = words.collect();
        assert!(!words.is_empty(), "{refused}");
        for words in words {
            hints::follow(&repo, &refused, &words);
        }
        hints::follow(&repo, &refused, "keep them on a branch of your own");
        repo.agentgate(["drop", JOB]).success();
        nothing_left(&repo);
        let held = repo.git(["rev-list", "--all"]);
        assert!(made.lines().count() > 1);
        // git keeps the untracked files of a stash, of which there are none here, in a commit that none has.
        for commit in made.lines() {
            assert!(held.contains(commit), "{commit} is in no ref of the clone:\n{held}");
        }
    }
}

#[test]
fn a_dead_job_without_edits_goes_at_once() {
    let repo = Repo::new();
    dead(&repo, "true");
    fs::remove_file(worktree(&repo, JOB).join("at-work")).expect("it is there");
    repo.agentgate(["drop", JOB]).success();
    nothing_left(&repo);
}

/// A PID namespace ends an agent with its agentgate; this is one that got away all the same.
#[test]
fn what_is_still_at_work_in_a_dead_job_is_ended_first() {
    let repo = Repo::new();
    dead(&repo, "true");
    fs::remove_file(worktree(&repo, JOB).join("at-work")).expect("it is there");
    let task = scene::jobs(&repo).join(".jobs/j1/task/TASK.md");
    let survivor = repo.program("sleep").args(["300"]).env("AGENTGATE_TASK", &task).spawn();
    let mut stranger = repo
        .program("sleep")
        .args(["300"])
        .env("AGENTGATE_TASK", task.with_file_name("OTHER.md"))
        .spawn();
    until("it runs", || scene::processes(&repo, JOB).len() == 1);
    repo.agentgate(["drop", JOB])
        .expect(0, &["1 process of the job that was still at work was ended"]);
    assert_eq!(survivor.wait().code, 128 + 9);
    assert!(stranger.is_running());
    stranger.signal(9);
    stranger.wait();
    nothing_left(&repo);
}

/// Settings of git that run a program when somebody looks at a work tree.
fn traps(canary: &str) -> String {
    format!(
        "arm() {{ git -C \"$1\" config core.fsmonitor 'echo fsmonitor >> {canary}; false'
           git -C \"$1\" config filter.evil.clean 'echo clean >> {canary}; cat'
           git -C \"$1\" config filter.evil.smudge 'echo smudge >> {canary}; cat'
           git -C \"$1\" config core.hooksPath hooks; }}\n"
    )
}

#[test]
fn a_dead_agents_git_configuration_never_runs() {
    let repo = Repo::new();
    // A submodule of the base: git looks into it, with that repository's own configuration.
    let module = repo.beside("module");
    fs::create_dir(&module.root).expect("a folder can be made");
    module.git(["init", "--quiet", "."]);
    module.change("inside", "inside\n");
    repo.git(["submodule", "--quiet", "add", "../module", "module"]);
    repo.commit("submodule");
    let canary = repo.top().join("canary");
    let script = format!(
        "{}
         printf '*.ts filter=evil\\n' > .gitattributes; arm .
         git -c protocol.file.allow=always clone -q {} module; arm module
         echo '* filter=evil' > module/.gitattributes; echo edited > module/inside
         echo edited > payments/pay.ts; rm -f {}",
        traps(&canary.display().to_string()),
        module.root.display(),
        canary.display()
    );
    dead(&repo, &script);
    assert!(worktree(&repo, JOB).join("module/.git").exists());
    let _ = fs::remove_file(&canary);
    repo.agentgate(["status"]).success();
    repo.agentgate(["drop", JOB]).expect(12, &["payments/pay.ts"]);
    repo.agentgate(["land", JOB]).expect(23, &[]);
    repo.agentgate(["open", JOB]).expect(23, &[]);
    repo.agentgate(["drop", "--force", JOB]).success();
    assert_eq!(fs::read_to_string(&canary).ok(), None);
    assert!(!worktree(&repo, JOB).exists());
}

#[test]
fn an_edit_inside_a_submodule_alone_needs_force() {
    let repo = Repo::new();
    let module = repo.beside("module");
    fs::create_dir(&module.root).expect("a folder can be made");
    module.git(["init", "--quiet", "."]);
    module.change("inside", "inside\n");
    repo.git(["submodule", "--quiet", "add", "../module", "module"]);
    repo.commit("submodule");
    dead(&repo, "echo mine > module/mine; rm -f at-work");
    fs::remove_file(worktree(&repo, JOB).join("at-work")).expect("it is there");
    repo.agentgate(["drop", JOB]).expect(12, &["module"]);
    assert!(worktree(&repo, JOB).join("module/mine").exists());
}

/// Puts something of the person's at the worktree's path; every form of drop must leave it alone.
#[track_caller]
fn stays(repo: &Repo, name: &str) {
    eprintln!("{name}");
    let there = worktree(repo, JOB);
    let (link, before) = (fs::read_link(&there).ok(), tree(&there));
    let outside = tree(&repo.top().join("outside"));
    for args in [&["drop", JOB][..], &["drop", "--force", JOB]] {
        let outcome = repo.agentgate(args);
        assert!([0, 23].contains(&outcome.code), "{outcome}");
        if outcome.code == 0 {
            outcome.expect(0, &["it is left alone"]);
        }
        assert_eq!(fs::read_link(&there).ok(), link, "{outcome}");
        assert_eq!(tree(&there), before, "{outcome}");
        assert_eq!(tree(&repo.top().join("outside")), outside, "{outcome}");
    }
    assert_eq!(repo.git(["branch", "--list", "agent/*"]), "");
}

#[test]
fn what_a_person_put_at_the_recorded_path_is_left_alone() {
    for is_dead in [false, true] {
        let made = || {
            let repo = Repo::new();
            if is_dead {
                dead(&repo, AGENT);
            } else {
                kept(&repo, AGENT);
            }
            fs::remove_dir_all(worktree(&repo, JOB)).expect("it is there");
            let outside = repo.beside("outside");
            repo.git(["clone", "--quiet", ".", "../outside"]);
            outside.write("mine", "mine\n");
            repo
        };
        let repo = made();
        repo.git(["clone", "--quiet", ".", "../repo-jobs/j1"]);
        repo.beside("repo-jobs/j1").write("mine", "mine\n");
        stays(&repo, "a clone");

        let repo = made();
        symlink(repo.top().join("outside"), worktree(&repo, JOB)).expect("a link can be made");
        stays(&repo, "a link to a clone");

        let repo = made();
        repo.beside("repo-jobs/j1").write("mine/deep", "mine\n");
        stays(&repo, "a folder");

        let repo = made();
        fs::write(worktree(&repo, JOB), "mine").expect("it can be written");
        stays(&repo, "a file");

        let repo = made();
        repo.git(["worktree", "prune"]);
        repo.git(["worktree", "add", "--quiet", "-f", "-f", "--detach", "../repo-jobs/j1"]);
        stays(&repo, "a worktree of the person's");
    }
}

#[test]
fn a_worktree_that_a_person_deleted_is_only_unregistered() {
    let repo = with_kept();
    fs::remove_dir_all(worktree(&repo, JOB)).expect("it is there");
    repo.agentgate(["drop", JOB]).success();
    nothing_left(&repo);
}

#[test]
fn a_drop_that_was_killed_on_its_way_is_finished_by_the_next() {
    let repo = with_kept();
    let candidate = repo.id("agent/j1");
    repo.agentgate(["drop", JOB]).success();
    repo.git(["branch", "agent/j1", &candidate]);
    fs::create_dir_all(scene::jobs(&repo).join(".jobs/j1/git")).expect("folders can be made");
    repo.agentgate(["drop", JOB]).success();
    nothing_left(&repo);
    repo.agentgate(["drop", JOB]).expect(23, &["it was dropped"]);
}

#[test]
fn two_drops_at_once_do_not_meet() {
    let repo = with_kept();
    let running = [repo.command(["drop", JOB]).spawn(), repo.command(["drop", JOB]).spawn()];
    let mut codes = running.map(|one| one.wait().code);
    codes.sort_unstable();
    assert!(codes == [0, 13] || codes == [0, 23], "{codes:?}");
    nothing_left(&repo);
    let kinds = events(&repo, JOB);
    assert_eq!(kinds.iter().filter(|event| event["event"] == "job.dropped").count(), 1);
}

#[test]
fn a_worktree_that_a_person_moved_is_theirs() {
    for args in [&["drop", JOB][..], &["drop", "--force", JOB], &["land", JOB]] {
        let repo = with_kept();
        let candidate = repo.id("agent/j1");
        repo.git(["worktree", "move", "../repo-jobs/j1", "../moved"]);
        repo.beside("moved").write("mine", "mine\n");
        let before = tree(&repo.top().join("moved"));
        repo.agentgate(args).expect(0, &["agent/j1 is checked out in", "moved"]);
        assert_eq!(tree(&repo.top().join("moved")), before);
        assert_eq!(repo.id("agent/j1"), candidate);
        assert_eq!(repo.beside("moved").git(["status", "--porcelain"]), "?? mine");
    }
}

#[test]
fn siblings_that_are_only_absent_stay_registered() {
    let repo = with_kept();
    repo.git(["worktree", "add", "--quiet", "--detach", "../away"]);
    fs::rename(repo.top().join("away"), repo.top().join("moved")).expect("it can be moved");
    repo.agentgate(["drop", JOB]).success();
    assert_eq!(repo.git(["worktree", "list"]).lines().count(), 2);
}

#[test]
fn links_are_not_followed_and_closed_folders_are_deleted() {
    let repo = with_kept();
    let there = worktree(&repo, JOB);
    let outside = repo.top().join("outside");
    fs::create_dir(&outside).expect("a folder can be made");
    fs::write(outside.join("mine"), "mine\n").expect("it can be written");
    symlink(&outside, there.join("payments/out")).expect("a link can be made");
    fs::create_dir_all(there.join("closed/inner")).expect("folders can be made");
    fs::write(there.join("closed/inner/file"), "x").expect("it can be written");
    for folder in ["closed/inner", "closed"] {
        fs::set_permissions(there.join(folder), fs::Permissions::from_mode(0o000)).expect("it can be set");
    }
    repo.agentgate(["drop", "--force", JOB]).success();
    nothing_left(&repo);
    assert_eq!(fs::read(outside.join("mine")).expect("it is there"), b"mine\n");
}

#[test]
fn what_is_mounted_inside_is_not_emptied() {
    for is_dead in [false, true] {
        let repo = Repo::new();
        if is_dead {
            dead(&repo, AGENT);
        } else {
            kept(&repo, AGENT);
        }
        let there = worktree(&repo, JOB);
        let outside = repo.top().join("outside");
        for folder in [&outside.join("deep"), &there.join("payments/mounted")] {
            fs::create_dir_all(folder).expect("folders can be made");
        }
        fs::write(outside.join("deep/mine"), "mine\n").expect("it can be written");
        // The same file system, seen at another place: its device number says nothing. In a
        // namespace of its own, so that nothing of the machine's changes.
        let unshared = |script: String| {
            let unshare = repo.program("unshare").args(["--user", "--map-root-user", "--mount"]);
            unshare.args(["sh", "-c", &script]).run()
        };
        if unshared("true".into()).code != 0 {
            eprintln!("no namespaces for users here: nothing can be mounted");
            return;
        }
        let outcome = unshared(format!(
            "mount --bind '{}' '{}' && exec '{}' drop --force {JOB}",
            outside.display(),
            there.join("payments/mounted").display(),
            env!("CARGO_BIN_EXE_agentgate"),
        ));
        assert_eq!(
            fs::read(outside.join("deep/mine")).expect("it is there"),
            b"mine\n",
            "{outcome}"
        );
        // The job is given up; what could not be deleted is named.
        outcome.expect(0, &["could not be deleted", "mounted there"]);
    }
}

#[test]
fn a_job_that_died_before_its_worktree_was_recorded_is_cleaned_up() {
    let repo = Repo::new();
    // Checking this file out takes as long as the filter does.
    repo.write(".gitattributes", "*.slow filter=slow\n");
    repo.write("payments/a.slow", "slow\n");
    repo.commit("slow");
    let sign = repo.top().join("smudging");
    let smudge = format!("echo $PPID > {}; sleep 20; cat", sign.display());
    repo.git(["config", "--global", "filter.slow.smudge", &smudge]);
    let mut running = agent(&repo, JOB, &[], AGENT).spawn();
    scene::until("the worktree is being made", || {
        fs::read_to_string(&sign).is_ok_and(|pid| pid.ends_with('\n'))
    });
    running.signal(9);
    running.wait();
    // git lives on by itself; its group is ours to end.
    let pid: i32 = fs::read_to_string(&sign)
        .expect("it is there")
        .trim()
        .parse()
        .expect("a pid");
    let git = rustix::process::Pid::from_raw(pid).expect("a pid");
    let group = rustix::process::getpgid(Some(git)).expect("git has a group");
    rustix::process::kill_process_group(group, rustix::process::Signal::KILL).expect("it can be ended");
    scene::until("git is gone", || !scene::alive(&pid.to_string()));
    scene::lock_is_free(&repo);
    assert_eq!(row(&repo, JOB)["state"], "dead");
    repo.agentgate(["drop", JOB]).success();
    nothing_left(&repo);
    assert_eq!(row(&repo, JOB)["state"], "dropped");
}

#[test]
fn a_job_without_a_readable_beginning_is_no_internal_failure() {
    let repo = Repo::new();
    let folder = record(&repo, JOB);
    for log in [None, Some(""), Some("{\"v\":1,")] {
        fs::create_dir_all(&folder).expect("folders can be made");
        fs::write(folder.join(".agentgate-a1b2c3"), "").expect("it can be written");
        if let Some(log) = log {
            fs::write(folder.join("events.jsonl"), log).expect("it can be written");
            fs::write(folder.join("owner.lock"), "").expect("it can be written");
        }
        for verb in ["land", "open", "resume"] {
            repo.agentgate([verb, JOB]).expect(23, &[]);
        }
        agent(&repo, JOB, &[], AGENT).run().expect(14, &[]);
        // It made nothing, and its id can be had again; but not while another may be about to begin.
        let lock = fs::File::create(repo.root.join(".git/agent-jobs.lock")).expect("it can be made");
        lock.lock().expect("it is free");
        repo.agentgate(["drop", JOB]).expect(13, &["has not begun"]);
        assert!(folder.exists());
        drop(lock);
        repo.agentgate(["drop", JOB]).expect(0, &["its id is free again"]);
        assert!(!folder.exists());
    }
    // With anything else in it, it is more than a beginning.
    fs::create_dir_all(&folder).expect("folders can be made");
    fs::write(folder.join("change.patch"), "").expect("it can be written");
    repo.agentgate(["drop", JOB]).expect(23, &["cannot be read"]);
    assert!(folder.join("change.patch").exists());
}

/// A job that the gate refuses, and its candidate.
fn refused() -> Repo {
    let repo = Repo::new();
    let script =
        format!("{AGENT}; echo mine > prot/rules.txt; rm architecture/invariants.yml; ln -s pay.ts payments/l");
    agent(&repo, JOB, &[], &script).run().expect(3, &[]);
    repo
}

#[test]
fn a_refused_candidate_can_be_looked_at() {
    let repo = refused();
    let canary = repo.top().join("canary");
    for name in ["post-checkout", "reference-transaction", "post-index-change"] {
        let path = format!(".git/hooks/{name}");
        repo.write(&path, format!("#!/bin/sh\necho {name} >> {}\n", canary.display()));
        fs::set_permissions(repo.root.join(&path), fs::Permissions::from_mode(0o755)).expect("it can be set");
    }
    let there = repo.beside("repo-jobs/j1");
    let outcome = repo.agentgate(["open", JOB]).success();
    assert_eq!(outcome.stdout, format!("worktree={}\n", there.root.display()));
    assert_eq!(fs::read_to_string(&canary).ok(), None);
    fs::remove_dir_all(repo.root.join(".git/hooks")).expect("they are there");

    assert_eq!(there.id("HEAD"), repo.id("main"));
    let candidate = repo.git(["rev-parse", "refs/agentgate/jobs/j1:candidate"]);
    assert_eq!(there.git(["write-tree"]), candidate);
    assert_eq!(there.git(["diff-files"]), "");
    assert_eq!(there.git(["ls-files", "--others"]), "");
    assert_eq!(
        fs::read(there.root.join("prot/rules.txt")).expect("it is there"),
        b"mine\n"
    );
    assert!(!there.root.join("architecture/invariants.yml").exists());
    assert_eq!(row(&repo, JOB)["state"], "refused");

    repo.agentgate(["open", JOB]).expect(14, &["exists already"]);
    repo.agentgate(["drop", JOB]).success();
    nothing_left(&repo);
    record_stays(&repo);
    // And once more.
    repo.agentgate(["open", JOB]).success();
    repo.agentgate(["drop", JOB]).success();
    repo.agentgate(["drop", JOB]).expect(23, &["nothing to drop"]);
}

#[test]
fn a_persons_work_in_an_opened_worktree_needs_force() {
    let repo = refused();
    let there = repo.beside("repo-jobs/j1");
    repo.agentgate(["open", JOB]).success();
    let candidate = there.git(["write-tree"]);
    let reset = || {
        there.git(["read-tree", "--reset", "-u", &candidate]);
        there.git(["clean", "--quiet", "-fd"]);
    };
    there.write("payments/pay.ts", "mine\n");
    repo.agentgate(["drop", JOB]).expect(12, &["payments/pay.ts"]);
    there.git(["add", "-A"]);
    repo.agentgate(["drop", JOB]).expect(12, &["payments/pay.ts"]);
    reset();
    there.write("payments/mine.ts", "mine\n");
    repo.agentgate(["drop", JOB]).expect(12, &["payments/mine.ts"]);
    there.git(["add", "-A"]);
    repo.agentgate(["drop", JOB]).expect(12, &["payments/mine.ts"]);
    // Committed, on no branch at all.
    let mine = there.commit("mine");
    repo.agentgate(["drop", JOB]).expect(20, &["commits"]);
    assert_eq!(there.id("HEAD"), mine);
    repo.agentgate(["drop", "--force", JOB]).success();
    nothing_left(&repo);
}

#[test]
fn open_names_a_kept_jobs_worktree_and_makes_nothing() {
    let repo = with_kept();
    let before = tree(&repo.top());
    let outcome = repo.agentgate(["open", JOB]).success();
    assert_eq!(outcome.stdout, format!("worktree={}\n", worktree(&repo, JOB).display()));
    assert_eq!(tree(&repo.top()), before);
    // Whoever agrees lands it; what gives it up comes last, and says so.
    let next: Vec<&str> = outcome
        .stderr
        .lines()
        .filter_map(|line| line.strip_prefix("next: "))
        .collect();
    assert!(next[0].starts_with("agentgate land j1 "), "{outcome}");
    assert!(next[1].starts_with("agentgate drop j1   # gives it up"), "{outcome}");
    assert_eq!(next.len(), 2);
}

#[test]
fn open_brings_back_what_was_dropped_landed_or_deleted_by_hand() {
    let repo = with_kept();
    repo.agentgate(["drop", JOB]).success();
    repo.agentgate(["open", JOB]).success();
    assert!(worktree(&repo, JOB).join("payments/new.ts").exists());
    repo.agentgate(["drop", JOB]).success();
    nothing_left(&repo);

    let repo = with_kept();
    repo.agentgate(["land", JOB]).success();
    repo.agentgate(["open", JOB]).success();
    repo.agentgate(["drop", JOB]).success();
    nothing_left(&repo);
    assert_eq!(row(&repo, JOB)["state"], "landed");

    let repo = with_kept();
    fs::remove_dir_all(worktree(&repo, JOB)).expect("it is there");
    repo.agentgate(["open", JOB]).success();
    assert!(worktree(&repo, JOB).join("payments/new.ts").exists());
    repo.agentgate(["drop", JOB]).success();
    nothing_left(&repo);
}

#[test]
fn the_candidate_outlives_worktree_branch_and_gc() {
    let repo = with_kept();
    let tree_id = repo.git(["rev-parse", "agent/j1^{tree}"]);
    repo.agentgate(["drop", JOB]).success();
    repo.git(["reflog", "expire", "--expire=now", "--all"]);
    repo.git(["gc", "--quiet", "--prune=now"]);
    repo.agentgate(["open", JOB]).success();
    assert_eq!(repo.beside("repo-jobs/j1").git(["write-tree"]), tree_id);
    let patch = record(&repo, JOB).join("change.patch");
    repo.git(["apply", "--index", patch.to_str().expect("it is UTF-8")]);
    assert_eq!(repo.git(["write-tree"]), tree_id);
}

#[test]
fn a_job_without_a_candidate_cannot_be_opened() {
    let repo = Repo::new();
    agent(&repo, JOB, &[], "true").run().expect(15, &[]);
    let before = tree(&repo.top());
    let outcome = repo.agentgate(["open", JOB]);
    // Its candidate is the base; where there is one at all it is shown, and nothing else is.
    assert!([0, 23].contains(&outcome.code), "{outcome}");
    if outcome.code == 23 {
        assert_eq!(tree(&repo.top()), before);
    }
    repo.agentgate(["open", "nobody"]).expect(23, &["no job nobody"]);
    dead(&Repo::new(), "true");
    let repo = Repo::new();
    dead(&repo, "echo x > payments/x.ts");
    let before = tree(&worktree(&repo, JOB));
    repo.agentgate(["open", JOB]).expect(23, &["never finished"]);
    assert_eq!(tree(&worktree(&repo, JOB)), before);
}

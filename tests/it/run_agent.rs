//! What an agent does with git in its worktree: the result is right, and the clone's git dir is
//! byte for byte, mode for mode and time for time what it was.

use std::fs;

use super::support::jobs::{
    common, event, events, free, frozen, job, jobs_root, nothing_left, patched, record, recorded, run, same, script,
    unpacked, until, untouched,
};
use super::support::program::Outcome;
use super::support::repo::Repo;
use super::support::scene::processes_of;

/// A clone with everything an agent might reach for: a stash, a hook, excludes, another branch.
fn busy() -> Repo {
    let repo = Repo::new();
    repo.git(["branch", "other"]);
    repo.git(["tag", "v1"]);
    repo.write("payments/pay.ts", "stashed\n");
    repo.git(["stash", "--quiet"]);
    repo.git(["config", "extensions.worktreeConfig", "true"]);
    repo.git(["config", "--worktree", "core.quotePath", "false"]);
    repo.write(".git/info/exclude", "*.ignored\n");
    repo.write(".git/info/attributes", "*.x text\n");
    repo.write(".git/hooks/post-merge", "#!/bin/sh\nexit 0\n");
    repo
}

/// Runs it, and sees that the clone is as before.
#[track_caller]
fn quiet(repo: &Repo, id: &str, agent: &str) -> Outcome {
    let before = untouched(repo);
    let outcome = run(repo, id, agent);
    same(&before, &untouched(repo));
    assert_eq!(repo.git(["status", "--porcelain"]), "");
    outcome
}

/// A job whose agent nothing holds.
fn free_to_write(repo: &Repo, id: &str, agent: &str) -> Outcome {
    job(repo, id, &["--confinement", "off"], agent).run()
}

/// Names and kinds of what differs between base and candidate.
fn changes(repo: &Repo, id: &str) -> String {
    repo.git(["diff", "--name-status", "--no-renames", "main", &format!("agent/{id}")])
}

#[test]
fn commits_of_the_agent_are_its_work() {
    let repo = busy();
    let agent = "echo 1 > payments/a.ts && git add -A && git commit -qm one && \
                 echo 2 > payments/b.ts && git add -A && git commit -qm two";
    quiet(&repo, "j1", agent).expect(0, &["verdict=ok"]);
    assert_eq!(changes(&repo, "j1"), "A\tpayments/a.ts\nA\tpayments/b.ts");
    assert_eq!(repo.git(["rev-list", "--count", "main..agent/j1"]), "1");
    let refused = quiet(&repo, "j2", "echo x > prot/rules.txt && git commit -qam done");
    refused.expect(3, &["prot/rules.txt"]);
    assert!(recorded(&repo, "j2", "change.patch").contains("prot/rules.txt"));
}

#[test]
fn a_branch_of_the_agent_is_judged_by_its_last_state_and_saved() {
    let repo = busy();
    let agent =
        "git switch -qc mine && echo 1 > payments/a.ts && git add -A && git commit -qm one && echo 2 > payments/b.ts";
    let outcome = quiet(&repo, "j1", agent);
    outcome.expect(0, &["refs/heads/mine", "agent-refs.bundle"]);
    assert_eq!(changes(&repo, "j1"), "A\tpayments/a.ts\nA\tpayments/b.ts");
    assert_eq!(repo.git(["branch", "--list", "mine"]), "");
    let bundle = record(&repo, "j1").join("agent-refs.bundle");
    repo.git(["bundle", "verify", "--quiet", &bundle.to_string_lossy()]);
    let heads = repo.git(["bundle", "list-heads", &bundle.to_string_lossy()]);
    assert!(heads.contains("refs/heads/mine"), "{heads}");
    let frozen = event(&events(&repo, "j1"), "candidate.frozen");
    assert_eq!(frozen["refs"], serde_json::json!(["refs/heads/mine"]));
}

#[test]
fn work_on_a_side_branch_that_was_left_again_is_saved() {
    let repo = busy();
    let agent = "git switch -qc side && echo 1 > payments/a.ts && git add -A && git commit -qm one && git switch -q --detach main";
    quiet(&repo, "j1", agent).expect(15, &["refs/heads/side"]);
    let bundle = record(&repo, "j1").join("agent-refs.bundle");
    repo.git([
        "fetch",
        "--quiet",
        &bundle.to_string_lossy(),
        "refs/heads/side:refs/tmp/side",
    ]);
    assert_eq!(repo.git(["show", "refs/tmp/side:payments/a.ts"]), "1");
    nothing_left(&repo);
}

#[test]
fn moving_main_in_the_worktree_moves_nothing_in_the_clone() {
    let repo = busy();
    let main = repo.id("main");
    let agent = "echo 1 > payments/a.ts && git add -A && git commit -qm one && \
                 git update-ref refs/heads/main HEAD && git branch -D other && git tag -d v1";
    quiet(&repo, "j1", agent).expect(0, &["refs/heads/main"]);
    assert_eq!(repo.id("main"), main);
    assert_eq!(changes(&repo, "j1"), "A\tpayments/a.ts");
}

#[test]
fn a_stash_is_named_and_the_bundle_holds_the_edit() {
    let repo = busy();
    let agent = "echo one > payments/pay.ts && git stash -q && echo two > payments/pay.ts && git stash -q";
    let outcome = quiet(&repo, "j1", agent);
    outcome.expect(15, &["refs/stash", "agent-refs.bundle", "2 stash entries"]);
    let bundle = record(&repo, "j1").join("agent-refs.bundle");
    repo.git(["bundle", "verify", "--quiet", &bundle.to_string_lossy()]);
    repo.git(["fetch", "--quiet", &bundle.to_string_lossy(), "refs/*:refs/tmp/*"]);
    assert_eq!(repo.git(["show", "refs/tmp/stash:payments/pay.ts"]), "two");
    assert_eq!(repo.git(["show", "refs/tmp/agent-stash/1:payments/pay.ts"]), "one");
    assert_eq!(repo.git(["stash", "list"]).lines().count(), 1, "the person's own");
}

#[test]
fn a_ref_that_names_nothing_does_not_spoil_the_others() {
    let repo = busy();
    let agent = "echo one > payments/pay.ts && git stash -q; d=$(git rev-parse --git-dir); \
                 echo 1234567890123456789012345678901234567890 > $d/refs/heads/bad; git rev-parse HEAD:prot > $d/refs/heads/tree";
    quiet(&repo, "j1", agent).expect(15, &["refs/stash", "refs/heads/bad", "agent-refs.bundle"]);
    let bundle = record(&repo, "j1").join("agent-refs.bundle");
    repo.git([
        "fetch",
        "--quiet",
        &bundle.to_string_lossy(),
        "refs/stash:refs/tmp/stash",
    ]);
    assert_eq!(repo.git(["show", "refs/tmp/stash:payments/pay.ts"]), "one");
}

#[test]
fn thousands_of_refs_with_long_names_fit_into_log_and_bundle() {
    let repo = busy();
    let agent = "git commit -q --allow-empty -m x; id=$(git rev-parse HEAD); n=$(printf '😀%.0s' $(seq 45)); \
                 for i in $(seq 2000); do echo \"create refs/heads/$n/$i $id\"; done | git update-ref --stdin; \
                 for i in $(seq 30); do mkdir -p \"payments/$n/$i\"; git init -q \"payments/$n/$i\"; echo x > \"payments/$n/$i/x\"; done";
    quiet(&repo, "j1", agent).expect(9, &["agent-refs.bundle"]);
    let bundle = record(&repo, "j1").join("agent-refs.bundle");
    let heads = repo.git(["bundle", "list-heads", &bundle.to_string_lossy()]);
    assert!(heads.lines().count() >= 2000, "{}", heads.lines().count());
    let frozen = event(&events(&repo, "j1"), "candidate.frozen");
    assert!(!frozen["refs"].as_array().expect("a list").is_empty());
    nothing_left(&repo);
}

#[test]
fn an_agent_does_not_see_records_or_the_persons_stash() {
    let repo = busy();
    run(&repo, "j1", "rm prot/rules.txt").expect(3, &[]);
    quiet(&repo, "j2", "git for-each-ref > refs.txt; git stash list >> refs.txt").expect(0, &[]);
    let seen = repo.git(["show", "agent/j2:refs.txt"]);
    assert!(
        seen.contains("refs/heads/other") && seen.contains("refs/tags/v1"),
        "{seen}"
    );
    assert!(!seen.contains("agentgate") && !seen.contains("stash"), "{seen}");
}

#[test]
fn gc_and_prune_of_the_agent_do_not_touch_the_clones_objects() {
    let repo = busy();
    repo.write("loose", "unreachable\n");
    let loose = repo.git(["hash-object", "-w", "loose"]);
    repo.remove("loose");
    let agent = "echo 1 > payments/a.ts && git add -A && git commit -qm one && \
                 git reflog expire --expire=now --all && git gc -q --prune=now && git prune --expire=now && git repack -adfq";
    quiet(&repo, "j1", agent).expect(0, &[]);
    assert_eq!(repo.git(["cat-file", "-t", &loose]), "blob");
    repo.git(["fsck", "--full"]);
    assert_eq!(changes(&repo, "j1"), "A\tpayments/a.ts");
}

#[test]
fn settings_that_would_break_every_checkout_stay_in_the_worktree() {
    let repo = busy();
    let agent = "git config core.hooksPath /dev/null; git config core.bare true; git config core.worktree /; \
                 git config extensions.objectFormat sha256; git config core.repositoryformatversion 99; \
                 echo 1 > payments/a.ts";
    quiet(&repo, "j1", agent).expect(0, &[]);
    assert_eq!(changes(&repo, "j1"), "A\tpayments/a.ts");
    let agent = "printf 'not [a config' > \"$(git rev-parse --git-dir)/config\"; echo 1 > payments/a.ts";
    quiet(&repo, "j2", agent).expect(0, &[]);
}

#[test]
fn marks_in_the_agents_index_hide_nothing() {
    let repo = busy();
    let agent = "git update-index --assume-unchanged payments/pay.ts && echo x > payments/pay.ts && \
                 git update-index --skip-worktree prot/rules.txt && echo x > prot/rules.txt && git status --porcelain > seen.txt";
    let outcome = quiet(&repo, "j1", agent);
    outcome.expect(3, &["prot/rules.txt"]);
    let patch = recorded(&repo, "j1", "change.patch");
    assert!(
        patch.contains("payments/pay.ts") && patch.contains("prot/rules.txt"),
        "{patch}"
    );
}

#[test]
fn marks_that_the_person_has_set_hide_nothing_either() {
    let repo = busy();
    repo.git(["update-index", "--assume-unchanged", "prot/rules.txt"]);
    quiet(&repo, "j1", "echo x > prot/rules.txt").expect(3, &["prot/rules.txt"]);
}

#[test]
fn a_worktree_without_its_git_file_is_judged_all_the_same() {
    let repo = busy();
    for (id, agent) in [
        ("j1", "rm .git; echo 1 > payments/a.ts"),
        (
            "j2",
            "rm .git; mkdir .git; mkfifo .git/HEAD .git/config .git/index; echo 1 > payments/a.ts",
        ),
        ("j3", "rm .git; mkfifo .git; echo 1 > payments/a.ts"),
        ("j4", "rm .git; ln -s /dev/zero .git; echo 1 > payments/a.ts"),
        (
            "j5",
            "rm .git; git init -q .; git add -A; git commit -qm own; echo 1 > payments/a.ts",
        ),
        ("j6", "rm -rf \"$(git rev-parse --git-dir)\"; echo 1 > payments/a.ts"),
        (
            "j7",
            "d=$(git rev-parse --git-dir); rm $d/HEAD $d/packed-refs $d/index; mkfifo $d/HEAD $d/packed-refs $d/index $d/refs/x; mkdir -p $d/logs/refs; mkfifo $d/logs/refs/stash; echo 1 > payments/a.ts",
        ),
        (
            "j8",
            "rm .git; printf 'gitdir: /nonexistent' > .git; echo 1 > payments/a.ts",
        ),
    ] {
        quiet(&repo, id, agent).expect(0, &["verdict=ok"]);
        assert_eq!(changes(&repo, id), "A\tpayments/a.ts", "{id}");
        let kept = repo.beside(&format!("repo-jobs/{id}"));
        assert_eq!(kept.git(["status", "--porcelain"]), "");
    }
}

#[test]
fn the_agents_excludes_do_not_count_and_the_persons_do() {
    let repo = busy();
    let agent = "echo '*' >> \"$(git rev-parse --git-path info/exclude)\"; git config core.excludesFile /tmp/none; \
                 echo 1 > new.txt; echo 2 > x.ignored";
    quiet(&repo, "j1", agent).expect(0, &[]);
    assert_eq!(changes(&repo, "j1"), "A\tnew.txt");
}

#[test]
fn an_ignore_file_with_a_star_hides_nothing_from_the_record() {
    let repo = busy();
    repo.change(".gitignore", "node_modules/\n*.log\n");
    let agent = "mkdir deep && printf '*\\n' > deep/.gitignore && echo work > deep/new.txt && echo l > deep/a.log && \
                 mkdir node_modules && echo n > node_modules/n.js";
    let outcome = quiet(&repo, "j1", agent);
    outcome.expect(15, &["deep/new.txt", "ignored.tar"]);
    assert!(!outcome.stderr.contains("node_modules"), "{outcome}");
    assert_eq!(
        unpacked(&record(&repo, "j1").join("ignored.tar")),
        [
            ("deep/.gitignore".into(), "*\n".into()),
            ("deep/new.txt".into(), "work\n".into())
        ]
    );
    assert_eq!(event(&events(&repo, "j1"), "candidate.frozen")["hidden"], 2);
    // One that rewrites the repository's own rules.
    let outcome = quiet(&repo, "j2", "echo '*' >> .gitignore; echo work > new.txt");
    outcome.expect(0, &["new.txt", "ignored.tar"]);
    assert_eq!(
        unpacked(&record(&repo, "j2").join("ignored.tar")),
        [("new.txt".into(), "work\n".into())]
    );
}

#[test]
fn hidden_files_that_do_not_fit_are_counted() {
    let repo = busy();
    let agent = "mkdir docs && printf '*\n' > docs/.gitignore && echo small > docs/a && head -c 40000000 /dev/zero > docs/big && echo small > docs/z";
    quiet(&repo, "j1", agent).expect(15, &["docs/big", "1 of these file(s) did not fit"]);
    let names: Vec<String> = unpacked(&record(&repo, "j1").join("ignored.tar"))
        .into_iter()
        .map(|(name, _)| name)
        .collect();
    assert_eq!(names, ["docs/.gitignore", "docs/a", "docs/z"]);
}

#[test]
fn a_link_that_a_folder_rule_does_not_cover_is_named() {
    let repo = busy();
    repo.change(".gitignore", "node_modules/\n");
    let agent = format!(
        "ln -s {}/node_modules node_modules; echo 1 > payments/a.ts",
        repo.root.display()
    );
    quiet(&repo, "j1", &agent).expect(9, &["node_modules"]);
}

#[test]
fn a_file_added_by_force_is_judged_with_the_rest() {
    let repo = busy();
    repo.change(".gitignore", "*.log\ngen/\n");
    let agent = "mkdir payments/gen && echo a > payments/gen/a.txt && echo b > payments/gen/b.txt && echo l > x.log && git add -f payments/gen/a.txt x.log";
    quiet(&repo, "j1", agent).expect(0, &[]);
    assert_eq!(changes(&repo, "j1"), "A\tpayments/gen/a.txt\nA\tx.log");
    quiet(
        &repo,
        "j2",
        "mkdir -p infra/async && echo a > infra/async/a.log && git add -f infra && git commit -qm x",
    )
    .expect(4, &["infra/async/a.log"]);
}

#[test]
fn a_daemon_that_would_write_later_is_gone_first() {
    let repo = busy();
    let before = untouched(&repo);
    let agent = "echo 1 > payments/a.ts
        loop='sleep 0.3; while :; do date +%N > payments/late.ts; sleep 0.02; done'
        (setsid nohup sh -c \"$loop\" >/dev/null 2>&1 </dev/null &)
        (setsid sh -c \"(setsid sh -c 'touch $TMPDIR/daemon; $loop' &) &\" &)
        while [ ! -e $TMPDIR/daemon ]; do sleep 0.01; done";
    let outcome = run(&repo, "j1", agent);
    outcome.expect(0, &["that the agent had left running w"]);
    let left = processes_of(&jobs_root(&repo).join(".jobs/j1/task/TASK.md"));
    assert!(left.is_empty(), "daemons live: {left:?}");
    assert_eq!(changes(&repo, "j1"), "A\tpayments/a.ts");
    assert!(
        event(&events(&repo, "j1"), "step.finished")["leftovers"]
            .as_u64()
            .is_some_and(|n| n >= 2)
    );
    std::thread::sleep(std::time::Duration::from_millis(400));
    assert!(!jobs_root(&repo).join("j1/payments/late.ts").exists());
    same(&before, &untouched(&repo));
    free(&repo);
}

#[test]
fn a_run_ends_with_its_agent_though_a_grandchild_holds_the_output_open() {
    let repo = Repo::new();
    let start = std::time::Instant::now();
    run(&repo, "j1", "sleep 300 & (setsid sleep 300 &) ; echo said").expect(15, &[]);
    assert!(start.elapsed().as_secs() < 10);
    assert_eq!(recorded(&repo, "j1", "agent.log"), "said\n");
}

#[test]
fn a_process_that_is_not_the_agents_lives_on() {
    let repo = Repo::new();
    let mut other = repo.program("sleep").args(["60"]).spawn();
    run(&repo, "j1", "sleep 60 & exit 0").expect(15, &[]);
    assert!(other.is_running());
    other.kill();
}

#[test]
fn nothing_can_ask_the_agent_a_question() {
    let repo = Repo::new();
    for number in 0..3 {
        repo.commit(&format!("commit {number}\n{}", "line\n".repeat(60)));
    }
    let agent = "cat > /dev/null; read -r line && echo \"got $line\"; ( : < /dev/tty ) 2>/dev/null && echo terminal; \
                 git log -p > /dev/null; git commit --allow-empty; echo \"commit $?\"; git rebase -i HEAD~1; echo end";
    run(&repo, "j1", agent).expect(15, &[]);
    let said = recorded(&repo, "j1", "agent.log");
    assert!(
        said.ends_with("end\n") && !said.contains("got") && !said.contains("terminal"),
        "{said}"
    );
    assert!(said.contains("commit 1"), "{said}");
}

#[test]
fn nothing_the_agent_planted_ever_runs() {
    let repo = busy();
    repo.write(".gitattributes", "*.f filter=evil diff=evil merge=evil\n");
    repo.write("tool/hooks/README", "hooks\n");
    repo.write("a.f", "a\n");
    repo.commit("attributes");
    repo.git(["config", "core.hooksPath", "tool/hooks"]);
    let canary = repo.top().join("canary");
    let evil = script(
        &repo,
        "evil",
        &format!("#!/bin/sh\necho \"$0 $*\" >> '{}'\ncat\n", canary.display()),
    );
    let evil = evil.display();
    // Committed and stashed first: what its own git runs is the agent's affair.
    let plant = format!(
        "echo x > a.f; echo 1 > payments/a.ts; git add -A; git commit -qm own; echo y > b.f; git add b.f; git stash -q; echo z > c.f
        g=$(git rev-parse --git-dir)
        for h in pre-commit post-checkout reference-transaction commit-msg post-commit post-index-change fsmonitor-watchman pre-auto-gc; do
            mkdir -p $g/hooks; cp {evil} $g/hooks/$h; cp {evil} tool/hooks/$h
        done
        for f in config config.worktree; do
          git config --file $g/$f core.fsmonitor {evil}
          git config --file $g/$f core.hooksPath {}
          for k in filter.evil.clean filter.evil.smudge filter.evil.process diff.evil.textconv diff.evil.command diff.external \
             gpg.program gpg.ssh.program core.sshCommand core.editor core.pager core.askPass credential.helper uploadpack.packObjectsHook \
             core.alternateRefsCommand sequence.editor merge.evil.driver; do git config --file $g/$f $k {evil}; done
          git config --file $g/$f commit.gpgsign true
          git config --file $g/$f filter.evil.required true
          git config --file $g/$f extensions.worktreeConfig true
        done
        printf '* filter=evil diff=evil\\n' > $g/info/attributes
        printf '* filter=evil diff=evil\\n' >> .gitattributes
        rm -f '{}'",
        repo.top().join("hooks").display(),
        canary.display()
    );
    let outcome = quiet(&repo, "j1", &plant);
    outcome.expect(0, &["refs/stash", "agent-refs.bundle"]);
    assert!(
        !canary.exists(),
        "{}\n{outcome}",
        fs::read_to_string(&canary).unwrap_or_default()
    );
    let outcome = quiet(&repo, "j2", &format!("{plant}; rm prot/rules.txt"));
    outcome.expect(3, &["prot/rules.txt"]);
    let outcome = quiet(&repo, "j3", &format!("{plant}; exit 7"));
    outcome.expect(16, &[]);
    assert!(!canary.exists(), "{}", fs::read_to_string(&canary).unwrap_or_default());
    assert_eq!(repo.git(["show", "agent/j1:c.f"]), "z");
}

#[test]
fn a_repository_inside_the_worktree_is_taken_as_files_and_refused() {
    let repo = busy();
    let agent =
        "mkdir payments/sub && cd payments/sub && git init -q && echo x > x.txt && git add -A && git commit -qm x";
    quiet(&repo, "j1", agent).expect(9, &["payments/sub"]);
    assert_eq!(patched(&repo, "j1", "main"), frozen(&repo, "j1"));
    assert!(recorded(&repo, "j1", "change.patch").contains("b/payments/sub/x.txt"));
    quiet(
        &repo,
        "j2",
        "mkdir payments/empty && git -C payments/empty init -q; echo 1 > payments/a.ts",
    )
    .expect(9, &["payments/empty"]);
}

#[test]
fn a_link_out_of_the_worktree_goes_without_its_target() {
    let repo = Repo::new();
    repo.change(".gitignore", "node_modules\n");
    for number in 0..5 {
        repo.write(format!("node_modules/p/{number}.js"), "x\n");
    }
    let agent = format!(
        "ln -s {0}/node_modules node_modules; ln -s {0} payments/clone; mkdir ro; echo x > ro/x; ln -s {0}/node_modules ro/l; chmod 555 ro; rm prot/rules.txt",
        repo.root.display()
    );
    run(&repo, "j1", &agent).expect(3, &[]);
    nothing_left(&repo);
    assert_eq!(
        fs::read_dir(repo.root.join("node_modules/p"))
            .expect("it is there")
            .count(),
        5
    );
    assert!(repo.root.join("prot/rules.txt").exists());
}

#[test]
fn edits_of_the_person_meanwhile_stay_theirs() {
    let repo = Repo::new();
    let go = repo.top().join("go");
    let agent = format!(
        "touch $TMPDIR/begun; while [ ! -e {} ]; do sleep 0.01; done; echo 1 > payments/a.ts",
        go.display()
    );
    // Behind its walls it cannot have been the agent, so nothing needs to be told.
    for (id, options, told) in [("j1", &[][..], false), ("j2", &["--confinement", "off"][..], true)] {
        let running = job(&repo, id, options, &agent).spawn();
        let begun = jobs_root(&repo).join(".jobs").join(id).join("tmp/begun");
        until("the agent", || begun.exists());
        repo.write("prot/rules.txt", "mine\n");
        fs::write(&go, "").expect("it can be written");
        let outcome = running.wait();
        outcome.expect(0, &[]);
        assert_eq!(outcome.stderr.contains("origin unknown"), told, "{outcome}");
        assert_eq!(outcome.stderr.contains("prot/rules.txt"), told, "{outcome}");
        assert_eq!(changes(&repo, id), "A\tpayments/a.ts");
        assert_eq!(repo.git(["status", "--porcelain"]), " M prot/rules.txt");
        repo.git(["checkout", "--", "prot"]);
        fs::remove_file(&go).expect("it is there");
    }
}

#[test]
fn refs_and_files_of_the_clone_that_moved_meanwhile_are_told() {
    let repo = busy();
    let agent = format!(
        "git -C {0} branch leaked; git -C {0} update-ref refs/heads/other HEAD~0; echo x > {0}/leak.txt; echo 1 > payments/a.ts",
        repo.root.display()
    );
    let outcome = free_to_write(&repo, "j1", &agent);
    outcome.expect(
        0,
        &["origin unknown", "ref refs/heads/leaked is new", "leak.txt is new"],
    );
    assert_eq!(changes(&repo, "j1"), "A\tpayments/a.ts");
    assert_eq!(fs::read(repo.root.join("leak.txt")).expect("it is left alone"), b"x\n");
}

#[test]
fn writing_into_the_clones_own_configuration_is_a_collision() {
    let repo = busy();
    let git = common(&repo);
    for (id, write) in [
        ("j1", format!("git config --file {}/config alias.x y", git.display())),
        (
            "j2",
            format!("printf '#!/bin/sh\\n' > {}/hooks/pre-commit", git.display()),
        ),
        ("j3", format!("chmod 600 {}/hooks/post-merge", git.display())),
        ("j4", format!("echo x >> {}/info/exclude", git.display())),
        (
            "j5",
            format!("git config --file {}/config.worktree alias.x y", git.display()),
        ),
    ] {
        let outcome = free_to_write(&repo, id, &format!("{write}; echo 1 > payments/a.ts"));
        outcome.expect(20, &["git dir changed while the agent ran"]);
        assert!(recorded(&repo, id, "change.patch").contains("payments/a.ts"));
    }
    nothing_left(&repo);
}

#[test]
fn a_worktree_that_was_replaced_by_another_folder_harms_nothing_else() {
    for (id, agent) in [
        // A link to the clone itself: its .git must not be taken for the worktree's.
        ("link", "d=$PWD; cd ..; mv $d gone; ln -s ../repo $d"),
        ("link-in-link", "d=$PWD; cd ..; rm -rf $d; ln -s ../repo x; ln -s x $d"),
        // The folder of all worktrees leads elsewhere, where the same name is somebody's.
        (
            "root",
            "cd ../..; mv repo-jobs moved; mkdir -p other/root/.git; echo mine > other/root/.git/config; echo mine > other/root/file; ln -s other repo-jobs",
        ),
        ("moved", "mv \"$PWD\" ../elsewhere; mkdir \"$PWD\""),
        ("file", "rm -rf \"$PWD\"; echo x > \"$PWD\""),
    ] {
        let repo = busy();
        let before = untouched(&repo);
        free_to_write(&repo, id, agent).expect(20, &["removed or replaced"]);
        same(&before, &untouched(&repo));
        assert!(repo.root.join("payments/pay.ts").exists() && repo.root.join(".git").is_dir());
        repo.git(["fsck", "--full"]);
        if id == "root" {
            let theirs = repo.top().join("other/root");
            assert_eq!(fs::read(theirs.join("file")).expect("it is left alone"), b"mine\n");
            assert_eq!(
                fs::read(theirs.join(".git/config")).expect("it is left alone"),
                b"mine\n"
            );
        }
        assert_eq!(event(&events(&repo, id), "job.failed")["exit"], 20);
        free(&repo);
        repo.agentgate(["drop", "--force", id]);
        assert!(repo.root.join(".git").is_dir());
        if id == "root" {
            assert!(
                repo.top().join("other/root/file").exists(),
                "it was deleted as the job's"
            );
        }
    }
}

#[test]
fn a_worktree_that_was_removed_under_the_job_is_a_collision_and_its_refs_are_saved() {
    let repo = busy();
    let agent = "echo 1 > payments/a.ts && git add -A && git commit -qm one && git branch mine && rm -rf \"$PWD\"";
    free_to_write(&repo, "j1", agent).expect(20, &["is gone"]);
    let bundle = record(&repo, "j1").join("agent-refs.bundle");
    repo.git([
        "fetch",
        "--quiet",
        &bundle.to_string_lossy(),
        "refs/heads/mine:refs/tmp/mine",
    ]);
    assert_eq!(repo.git(["show", "refs/tmp/mine:payments/a.ts"]), "1");
    nothing_left(&repo);
    let frozen: Vec<_> = events(&repo, "j1");
    assert_eq!(frozen.last().expect("events")["event"], "job.failed");
}

/// Names in the archive of the agent's git dirs.
fn git_dirs(repo: &Repo, id: &str) -> Vec<String> {
    let file = std::fs::File::open(record(repo, id).join("agent-git.tar")).expect("the archive is there");
    let mut archive = tar::Archive::new(file);
    let entries = archive.entries().expect("an archive");
    entries
        .map(|entry| entry.expect("an entry").path().expect("a path").display().to_string())
        .collect()
}

#[test]
fn a_repository_in_the_place_of_the_git_file_is_saved() {
    let repo = busy();
    let agent = "rm .git && git init -q && git add -A && git -c user.name=a -c user.email=a@b commit -qm own && \
                 echo kept > payments/s.ts && git add -A && git -c user.name=a -c user.email=a@b stash -q";
    free_to_write(&repo, "j1", agent).expect(15, &["agent-git.tar", "the agent changed the worktree's .git file"]);
    let names = git_dirs(&repo, "j1");
    assert!(names.iter().any(|name| name == "git.replaced/refs/stash"), "{names:?}");
}

#[test]
fn refs_in_another_format_and_worktrees_of_the_agents_own_are_saved() {
    let repo = busy();
    let version = repo.git(["version"]);
    let minor: u32 = version
        .split('.')
        .nth(1)
        .and_then(|part| part.parse().ok())
        .expect("a version");
    let reftable = "git switch -qc mine && echo a > payments/r.ts && git add -A && git commit -qm a && \
                    git switch -q --detach HEAD~1 && rm -rf $(git rev-parse --git-dir)/logs && git refs migrate --ref-format=reftable";
    if minor >= 46 {
        quiet(&repo, "j1", reftable).expect(15, &["agent-git.tar"]);
        let names = git_dirs(&repo, "j1");
        assert!(names.iter().any(|name| name.starts_with("git/reftable/")), "{names:?}");
    } else {
        eprintln!("skipped: {version} has no git refs migrate (2.46)");
    }
    let linked =
        "git worktree add -q --detach $TMPDIR/x && cd $TMPDIR/x && echo a > a && git add -A && git commit -qm x";
    quiet(&repo, "j2", linked).expect(15, &["agent-git.tar"]);
    assert!(git_dirs(&repo, "j2").iter().any(|name| name == "git/worktrees/x/HEAD"));
}

#[test]
fn a_file_added_by_force_counts_with_a_split_index_too() {
    let repo = busy();
    let agent = "echo work > payments/x.log && git update-index --split-index && git add -f payments/x.log";
    repo.change(".gitignore", "*.log\n");
    quiet(&repo, "j1", agent).expect(0, &[]);
    assert_eq!(changes(&repo, "j1"), "A\tpayments/x.log");
}

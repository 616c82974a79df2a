//! What a confined agent plants where it may write: in its git dir, in the worktree, in its home.

use super::{Trap, inviting, look_at};
use crate::support::jobs::{
    common, event, events, free, frozen, jobs_root, nothing_left, patched, recorded, run, same, untouched,
};
use crate::support::program::Outcome;
use crate::support::repo::Repo;

/// A job whose agent plants and then leaves the same work as any other; nothing may run, and nothing of
/// the clone may change.
#[track_caller]
fn harmless(repo: &Repo, trap: &Trap, id: &str, plant: &str) -> Outcome {
    let before = untouched(repo);
    let outcome = run(
        repo,
        id,
        &format!("{}{plant}\necho 1 > payments/a.ts; calm", trap.words()),
    );
    trap.quiet(&format!("during {id}"));
    look_at(repo, id);
    trap.quiet(&format!("after {id}"));
    same(&before, &untouched(repo));
    assert_eq!(repo.git(["status", "--porcelain"]), "", "{id}");
    free(repo);
    outcome
}

/// Names of what differs between base and candidate.
fn changes(repo: &Repo, id: &str) -> String {
    repo.git(["diff", "--name-status", "--no-renames", "main", &format!("agent/{id}")])
}

#[test]
fn a_git_file_that_leads_elsewhere_is_not_followed() {
    let repo = inviting();
    let trap = Trap::new(&repo);
    for (id, how) in [
        ("written", "printf 'gitdir: %s\\n' $TMPDIR/e > .git"),
        ("replaced", "rm -f .git; printf 'gitdir: %s\\n' $TMPDIR/e > .git"),
        ("moved", "printf 'gitdir: %s\\n' $TMPDIR/e > x; mv -f x .git; rm -f x"),
        ("linked", "ln -sfn $TMPDIR/e .git"),
        ("folder", "rm -f .git && mv $TMPDIR/e .git"),
        ("deleted", "rm -rf .git"),
    ] {
        let plant = format!("git init -q --bare $TMPDIR/e; arm $TMPDIR/e; ({how}) 2> /dev/null");
        harmless(&repo, &trap, id, &plant).expect(0, &["verdict=ok"]);
        assert_eq!(changes(&repo, id), "A\tpayments/a.ts", "{id}");
    }
}

#[test]
fn the_admin_folder_of_the_worktree_cannot_be_written_and_its_likes_are_not_believed() {
    let repo = inviting();
    let trap = Trap::new(&repo);
    let admin = common(&repo).join("worktrees/admin");
    let plant = format!(
        "git init -q --bare $TMPDIR/e; arm $TMPDIR/e; a={}; g=$(git rev-parse --git-dir)
         for d in $a $g; do
             for f in commondir config.worktree HEAD gitdir; do echo $TMPDIR/e > $d/$f; done
             arm $d; mv $d $d.away; mkdir -p $d/x
         done 2> /dev/null
         test -e $a/x && touch payments/wrote.ts; true",
        admin.display()
    );
    harmless(&repo, &trap, "admin", &plant).expect(0, &["verdict=ok"]);
    assert_eq!(changes(&repo, "admin"), "A\tpayments/a.ts");
}

#[test]
fn a_bare_repository_in_the_tree_is_uninspectable_in_a_job_and_in_a_range() {
    let repo = inviting();
    let trap = Trap::new(&repo);
    let plant = "mkdir -p payments/bare; (cd payments/bare; git init -q --bare .; arm $PWD; git config core.bare false
         git config core.worktree ..; rm -rf hooks; touch refs/.k objects/.k)";
    harmless(&repo, &trap, "j1", plant).expect(
        9,
        &[
            "uninspectable",
            "payments/bare: ",
            "built-in: repositories",
            "delete it",
        ],
    );
    // In a worktree that was kept its empty folders would be there, which no tree shows; a rule of the agent's own
    // makes no difference.
    let empty = plant.replace("touch refs/.k objects/.k", "echo bare > ../.gitignore");
    for (id, plant) in [("j2", plant.replace("; touch refs/.k objects/.k", "")), ("j3", empty)] {
        let outcome = harmless(&repo, &trap, id, &plant);
        outcome.expect(9, &["payments/bare: ", "built-in: repositories", "empty folders"]);
    }
    nothing_left(&repo);
    // What the base ignores is nobody's business.
    repo.change(".gitignore", "bare/\n");
    harmless(&repo, &trap, "j4", plant).expect(0, &[]);
    repo.agentgate(["drop", "j4"]).success();
    repo.change(".gitignore", "\n");
    // One of the base may have a neighbour.
    repo.program("sh")
        .args([
            "-c",
            "mkdir -p payments/old; cd payments/old; git init -q --bare .; touch refs/.k objects/.k",
        ])
        .run()
        .success();
    repo.commit("a fixture");
    harmless(&repo, &trap, "j5", "echo 1 > payments/old/README").expect(0, &[]);
    harmless(
        &repo,
        &trap,
        "j6",
        "mkdir -p payments/old/hooks; echo 1 > payments/old/hooks/pre-push",
    )
    .expect(9, &["payments/old: "]);
    // As it would be after landing: git believes it there.
    repo.git(["switch", "-qc", "side"]);
    let agent = format!("{}{plant}", trap.words());
    repo.program("sh").args(["-c", &agent]).run().success();
    repo.git(["add", "-A"]);
    repo.git(["commit", "-qm", "a bare repository"]);
    repo.program("git")
        .cwd(repo.root.join("payments/bare"))
        .args(["status"])
        .run();
    trap_sprung(&trap);
    repo.agentgate(["check", "--base", "main", "--head", "side"])
        .expect(9, &["payments/bare: ", "built-in: repositories"]);
}

/// It was armed well: otherwise its silence proves nothing.
#[track_caller]
fn trap_sprung(trap: &Trap) {
    assert!(trap.canary.exists());
}

#[test]
fn hooks_that_the_persons_settings_name_are_run_by_nobody() {
    let repo = inviting();
    let trap = Trap::new(&repo);
    repo.git(["config", "core.hooksPath", "tool/hooks"]);
    let before = untouched(&repo);
    let plant = format!(
        "{}for h in post-checkout pre-commit post-commit reference-transaction post-index-change post-merge; do
             cp {} tool/hooks/$h; done; arm $(git rev-parse --git-dir)",
        trap.words(),
        trap.evil.display()
    );
    let outcome = run(&repo, "j1", &format!("{plant}; calm"));
    outcome.expect(0, &["verdict=ok"]);
    trap.quiet("while the candidate was kept");
    run(&repo, "j2", &format!("{plant}; rm prot/rules.txt; calm")).expect(3, &["prot/rules.txt"]);
    same(&before, &untouched(&repo));
    for args in [
        &["status"][..],
        &["log", "j1"],
        &["check", "--base", "main", "--head", "agent/j1"],
        &["open", "j2"],
        &["drop", "j2"],
        &["land", "j1"],
    ] {
        repo.agentgate(args).expect(0, &[]);
        trap.quiet(&format!("in {args:?}"));
    }
    nothing_left(&repo);
}

#[test]
fn attributes_name_the_agents_own_drivers_in_vain() {
    let repo = inviting();
    let trap = Trap::new(&repo);
    let plant = "arm $(git rev-parse --git-dir); printf '* filter=evil diff=evil merge=evil ident\\n' > .gitattributes
         cp .gitattributes payments/.gitattributes; echo x >> payments/a.f; echo y > payments/b.f; touch prot/rules.txt";
    harmless(&repo, &trap, "j1", plant).expect(0, &[".gitattributes"]);
    assert_eq!(repo.git(["show", "agent/j1:payments/b.f"]), "y");
    harmless(&repo, &trap, "j2", &format!("{plant}; rm prot/rules.txt")).expect(3, &[]);
    assert_eq!(patched(&repo, "j2", "main"), frozen(&repo, "j2"));
}

#[test]
fn replaced_objects_and_grafts_change_no_verdict() {
    let repo = inviting();
    let trap = Trap::new(&repo);
    let plant = "g=$(git rev-parse --git-dir); h=$(git rev-parse HEAD)
         lax=$(printf 'version: 1\\nmax_new_top_level_dirs: 9\\n' | git hash-object -w --stdin)
         git replace $(git rev-parse HEAD:architecture/invariants.yml) $lax
         echo x > prot/rules.txt; git add -A
         git replace $(git rev-parse HEAD^{tree}) $(git write-tree)
         c=$(git commit-tree -m x $(git write-tree)); git replace -f $h $c
         mkdir -p $g/info; echo $h > $g/info/grafts; echo $h > $g/shallow";
    harmless(&repo, &trap, "j1", plant).expect(3, &["prot/rules.txt"]);
    assert!(recorded(&repo, "j1", "change.patch").contains("prot/rules.txt"));
    assert_eq!(repo.git(["for-each-ref", "refs/replace"]), "");
}

#[test]
fn sparse_settings_of_the_agent_hide_nothing() {
    let repo = inviting();
    let trap = Trap::new(&repo);
    // What it took off the disk is deleted, whatever its index says of it.
    harmless(&repo, &trap, "j1", "git sparse-checkout set --no-cone payments").expect(3, &["prot/rules.txt"]);
    let changed = "git sparse-checkout set --no-cone payments; mkdir -p prot architecture; echo x > prot/rules.txt; \
                   git config core.sparseCheckout true; git update-index --skip-worktree payments/a.f; echo x > payments/a.f";
    harmless(&repo, &trap, "j2", changed).expect(3, &["prot/rules.txt"]);
    assert!(recorded(&repo, "j2", "change.patch").contains("b/payments/a.f"));
}

#[test]
fn forged_objects_and_alternates_in_the_agents_git_dir_are_not_read() {
    let repo = inviting();
    let trap = Trap::new(&repo);
    // A loose object under the id of the policy, of the candidate's own file and of the base's tree.
    let plant = "g=$(git rev-parse --git-dir); mkdir -p $TMPDIR/o/info
         path() { echo $(echo $1 | cut -c1-2)/$(echo $1 | cut -c3-); }
         forge() { mkdir -p $2/$(dirname $(path $1)); cp -f $g/objects/$(path $3) $2/$(path $1); }
         lax=$(printf 'version: 1\\nmax_new_top_level_dirs: 9\\n' | git hash-object -w --stdin)
         mine=$(echo 1 | git hash-object --stdin)
         for o in $g/objects $TMPDIR/o; do
             for id in $(git rev-parse HEAD:architecture/invariants.yml HEAD: HEAD) $mine; do forge $id $o $lax; done
         done
         echo $TMPDIR/o > $g/objects/info/alternates; echo $g/objects > $TMPDIR/o/info/alternates
         echo x > prot/rules.txt";
    harmless(&repo, &trap, "j1", plant).expect(3, &["prot/rules.txt"]);
    assert_eq!(
        repo.git(["show", &format!("{}:payments/a.ts", frozen(&repo, "j1"))]),
        "1"
    );
    repo.git(["fsck", "--full", "--strict"]);
    // A pipe in its place holds nothing up for long, and refs that need it are told.
    let pipe =
        "git checkout -q -b side; echo s > payments/s.ts; git add -A; git commit -qm s; git checkout -q --detach HEAD~1
         g=$(git rev-parse --git-dir); rm -f $g/objects/info/alternates; mkdir -p $TMPDIR/p/info
         echo $TMPDIR/p > $g/objects/info/alternates; mkfifo $TMPDIR/p/info/alternates";
    let start = std::time::Instant::now();
    harmless(&repo, &trap, "j2", pipe).expect(0, &["refs/heads/side"]);
    assert!(start.elapsed().as_secs() < 25, "{:?}", start.elapsed());
    assert_eq!(event(&events(&repo, "j2"), "candidate.frozen")["changed"], 1);
}

#[test]
fn what_is_planted_in_home_and_temporary_folder_is_nobodys() {
    let repo = inviting();
    let trap = Trap::new(&repo);
    let plant = "settings $HOME/hooks > $HOME/.gitconfig; mkdir -p $HOME/.config/git $HOME/hooks
         cp $HOME/.gitconfig $HOME/.config/git/config; printf '* filter=evil diff=evil\\n' > $HOME/.config/git/attributes
         cp $HOME/.config/git/attributes $HOME/.gitattributes; echo y > payments/b.f; export -p > $TMPDIR/x";
    harmless(&repo, &trap, "j1", plant).expect(0, &["verdict=ok"]);
    assert!(!jobs_root(&repo).join(".jobs").exists());
}

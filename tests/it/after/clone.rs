//! What an agent that nothing holds plants in the clone itself: the job ends with 20, runs nothing of it
//! and loses nothing of the person's.

use std::fs;

use super::{Trap, inviting, look_at};
use crate::support::jobs::{job, submodule};
use crate::support::program::Outcome;
use crate::support::repo::Repo;

/// A job whose agent nothing holds, on a clone in which the person has work of their own.
#[track_caller]
fn unheld(repo: &Repo, trap: &Trap, id: &str, plant: &str) -> Outcome {
    let git = repo.root.join(".git");
    let script = format!(
        "{}G={}; M={}; {plant}\necho 1 > payments/a.ts; calm",
        trap.words(),
        git.display(),
        repo.root.display()
    );
    let outcome = job(repo, id, &["--confinement", "off"], &script).run();
    trap.quiet(&format!("during {id}\n{outcome}"));
    outcome
}

/// The same, which must be noticed; the work is in the record and the job is gone.
#[track_caller]
fn noticed(repo: &Repo, trap: &Trap, id: &str, plant: &str, names: &[&str]) {
    let before = fs::read(repo.root.join("payments/pay.ts")).expect("it is there");
    let outcome = unheld(repo, trap, id, plant);
    outcome.expect(20, &["the clone's git dir changed while the agent ran"]);
    outcome.expect(20, names);
    saved(repo, id);
    assert_eq!(
        fs::read(repo.root.join("payments/pay.ts")).expect("it is there"),
        before,
        "{id}"
    );
    let listed = fs::read_dir(repo.beside("repo-jobs").root).map(|entries| entries.count());
    assert_eq!(listed.unwrap_or(0), 0, "{id}: something of the job is left\n{outcome}");
}

/// The agent's work is in the record, and the lock is free. No git is asked: it may not work here any more.
#[track_caller]
fn saved(repo: &Repo, id: &str) {
    let record = repo.root.join(".git/agentgate/jobs").join(id);
    let patch = fs::read_to_string(record.join("change.patch")).expect("there is a patch");
    assert!(patch.contains("payments/a.ts"), "{patch}");
    let lock = repo.root.join(".git/agent-jobs.lock").display().to_string();
    repo.program("flock")
        .args(["--nonblock", &lock, "true"])
        .run()
        .success();
}

#[test]
fn settings_that_run_at_the_first_look_at_the_clone() {
    // The checkout is touched, so that whoever asks for its state has to run the filter.
    let touch = "printf '* filter=evil\\n' >> $M/.gitattributes; for f in pay.ts a.f; do cp $M/payments/$f x; cat x > $M/payments/$f; done; rm x";
    for (id, plant, names) in [
        ("all", format!("arm $G; {touch}"), &["config changed", "hooks/"][..]),
        (
            "config",
            format!("settings /nowhere >> $G/config; {touch}"),
            &["config changed"],
        ),
        (
            "include",
            format!("settings /nowhere >> $M/../shared; {touch}"),
            &["configuration"],
        ),
        (
            "attributes",
            format!("echo '* filter=x' > $G/info/attributes; {touch}"),
            &["info/attributes"],
        ),
    ] {
        let repo = inviting();
        fs::write(repo.top().join("shared"), "[alias]\n\tx = status\n").expect("it can be written");
        repo.git(["config", "include.path", "../../shared"]);
        let trap = Trap::new(&repo);
        noticed(&repo, &trap, id, &plant, names);
    }
}

#[test]
fn settings_of_a_submodule_that_git_status_would_run() {
    for (id, plant) in [
        ("module", "arm $G/modules/payments/s; echo x >> $M/payments/s/a.txt"),
        (
            "pointer",
            "cp -r $G/modules/payments/s $M/../e; arm $M/../e; echo \"gitdir: $(cd $M/../e && pwd)\" > $M/payments/s/.git; git --git-dir=$M/../e config core.worktree $M/payments/s; touch $M/payments/s/b.txt; echo x >> $M/payments/s/a.txt",
        ),
    ] {
        let repo = submodule("payments/s");
        let trap = Trap::new(&repo);
        let outcome = unheld(&repo, &trap, id, plant);
        assert!(outcome.code == 0 || outcome.code == 20, "{outcome}");
        saved(&repo, id);
    }
}

#[test]
fn settings_that_break_every_git_or_hold_it_up() {
    for (id, plant) in [
        ("broken", "echo '[' > $G/config"),
        (
            "extension",
            "git config --file $G/config core.repositoryformatversion 1; git config --file $G/config extensions.nobodyKnows x",
        ),
        ("pipe", "rm $G/config; mkfifo $G/config"),
        ("worktree", "git config --file $G/config core.worktree /"),
        ("bare", "git config --file $G/config core.bare true"),
    ] {
        let repo = inviting();
        repo.tampered("its clone is not what it was");
        let trap = Trap::new(&repo);
        let start = std::time::Instant::now();
        noticed(&repo, &trap, id, plant, &["config changed"]);
        assert!(start.elapsed().as_secs() < 20, "{id}: {:?}", start.elapsed());
    }
}

#[test]
fn pipes_among_the_clones_refs_hold_nothing_up() {
    for (id, plant, name) in [
        ("ref", "mkfifo $G/refs/heads/x", "refs/heads/x is new"),
        (
            "packed",
            "rm -f $G/packed-refs; mkfifo $G/packed-refs",
            "packed-refs is new",
        ),
        ("head", "rm -f $G/HEAD; mkfifo $G/HEAD", "HEAD is new"),
        ("index", "rm -f $G/index; mkfifo $G/index", "index is new"),
    ] {
        let repo = inviting();
        repo.tampered("its clone is not what it was");
        let trap = Trap::new(&repo);
        noticed(&repo, &trap, id, plant, &[name]);
    }
}

#[test]
fn the_admin_folder_of_the_worktree() {
    for (id, plant, name) in [
        (
            "commondir",
            "git init -q --bare $M/../e; arm $M/../e; echo $M/../e > $G/worktrees/commondir/commondir",
            "commondir",
        ),
        ("own-config", "arm $G/worktrees/own-config", "config.worktree"),
    ] {
        let repo = inviting();
        let trap = Trap::new(&repo);
        noticed(&repo, &trap, id, plant, &[name]);
    }
    // Registered for another place, it is not removed as ours.
    let repo = inviting();
    let trap = Trap::new(&repo);
    let outcome = unheld(
        &repo,
        &trap,
        "gitdir",
        "mkdir $M/../mine; echo $M/../mine/.git > $G/worktrees/gitdir/gitdir",
    );
    outcome.expect(20, &["gitdir changed", "left alone"]);
    assert!(repo.top().join("mine").is_dir());
}

#[test]
fn hooks_of_the_clone_and_of_its_configured_folder() {
    for (id, plant, name) in [
        (
            "reference",
            "cp $M/../evil $G/hooks/reference-transaction",
            "hooks/reference-transaction is new",
        ),
        (
            "tracked",
            "cp $M/../evil $M/tool/hooks/post-checkout",
            "post-checkout is new",
        ),
        ("mode", "chmod +x $M/tool/hooks/README", "README changed"),
    ] {
        let repo = inviting();
        repo.git(["config", "core.hooksPath", "tool/hooks"]);
        let trap = Trap::new(&repo);
        noticed(&repo, &trap, id, plant, &[name]);
    }
}

#[test]
fn what_makes_git_read_other_objects() {
    for (id, plant, name) in [
        (
            "replace",
            "p=$(git rev-parse HEAD:architecture/invariants.yml); l=$(echo 'version: 1' | git -C $M hash-object -w --stdin); git -C $M replace $p $l",
            "refs/replace/",
        ),
        ("grafts", "git rev-parse HEAD > $G/info/grafts", "info/grafts is new"),
        (
            "alternates",
            "mkdir -p $M/../o; echo $M/../o > $G/objects/info/alternates",
            "objects/info/alternates is new",
        ),
    ] {
        let repo = inviting();
        let trap = Trap::new(&repo);
        noticed(&repo, &trap, id, plant, &[name]);
    }
}

/// Puts one object in the place of another in the clone's own store.
const FORGE: &str = "path() { echo $(echo $1 | cut -c1-2)/$(echo $1 | cut -c3-); }
    forge() { rm -f $G/objects/$(path $1); mkdir -p $G/objects/$(dirname $(path $1)); cp $G/objects/$(path $2) $G/objects/$(path $1); }
    lax=$(printf 'version: 1\\nmax_new_top_level_dirs: 9\\n' | git -C $M hash-object -w --stdin);";

#[test]
fn a_forged_policy_in_the_clone_lets_nothing_through() {
    for (id, what) in [
        ("policy", "HEAD:architecture/invariants.yml"),
        ("tree", "HEAD:"),
        ("folder", "HEAD:architecture"),
        ("commit", "HEAD"),
        ("protected", "HEAD:prot/rules.txt"),
    ] {
        let repo = inviting();
        repo.tampered("its clone is not what it was");
        let trap = Trap::new(&repo);
        let plant = format!("{FORGE} forge $(git -C $M rev-parse {what}) $lax; echo x > prot/rules.txt");
        let outcome = unheld(&repo, &trap, id, &plant);
        assert!(matches!(outcome.code, 2 | 3), "{id}: {outcome}");
        assert!(repo.git(["branch", "--list", "agent/*"]).is_empty());
    }
}

#[test]
fn a_forged_object_of_the_candidate_is_not_taken_for_its_content() {
    let repo = inviting();
    let trap = Trap::new(&repo);
    // What the agent writes has another content than the object that lies under its id.
    let plant = format!("{FORGE} forge $(echo evil | git hash-object --stdin) $lax; echo evil > payments/e.ts");
    let outcome = unheld(&repo, &trap, "j1", &plant);
    outcome.expect(2, &["cannot be read"]);
}

#[test]
fn another_git_dir_in_the_place_of_the_clones_own() {
    let repo = inviting();
    repo.tampered("its clone is not what it was");
    let trap = Trap::new(&repo);
    let plant = "cp -r $G $M/real; mv $G $M/../away; mv $M/real $G; arm $G";
    let outcome = unheld(&repo, &trap, "j1", plant);
    assert_eq!(outcome.code, 20, "{outcome}");
    assert!(repo.top().join("away/HEAD").exists());
}

#[test]
fn a_git_file_that_leads_elsewhere_is_put_back() {
    let repo = inviting();
    let trap = Trap::new(&repo);
    for (id, how) in [
        ("written", "echo gitdir: $M/../e > .git"),
        ("linked", "rm .git; ln -s $M/../e .git"),
        ("folder", "rm .git; cp -r $M/../e .git"),
        ("deleted", "rm .git"),
        ("clone", "rm .git; ln -s $G .git"),
    ] {
        let plant = format!("git init -q --bare $M/../e; arm $M/../e; {how}");
        unheld(&repo, &trap, id, &plant).expect(0, &["the agent changed the worktree's .git file; it was put back"]);
        look_at(&repo, id);
        trap.quiet(&format!("after {id}"));
        let diff = repo.git(["diff", "--name-status", "main", &format!("agent/{id}")]);
        assert_eq!(diff, "A\tpayments/a.ts", "{id}");
    }
}

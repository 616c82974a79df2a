//! What an agent, or a check that runs its code, tries against the checks.

use std::fs;

use super::{CHANGE, finished, with};
use crate::support::jobs::{event, events, job, jobs_root, nothing_left, recorded, run_to, same, script, untouched};
use crate::support::repo::Repo;
use crate::support::scene;

#[test]
fn nothing_of_the_agents_worktree_and_home_is_there() {
    let repo = with(
        "checks: [{name: c, run: 'ls -A; test ! -e build -a ! -e payments/hidden -a ! -e $HOME/left -a ! -e $TMPDIR/left'}]\n",
    );
    let agent = format!(
        "{CHANGE}; mkdir build; echo x > build/out; echo hidden > payments/.gitignore; echo x > payments/hidden; touch $HOME/left $TMPDIR/left"
    );
    run_to(0, &repo, "j1", &agent);
    assert!(repo.beside("repo-jobs/j1").root.join("build/out").exists());
}

#[test]
fn nothing_that_the_agent_planted_in_its_git_dir_or_in_the_tree_is_run_for_the_checkout() {
    let repo = Repo::new();
    repo.write("tool/hooks/README", "hooks\n");
    repo.write(".gitattributes", "*.f filter=evil\n");
    repo.write("payments/a.f", "a\n");
    let checks = "checks: [{name: c, run: 'git status --porcelain && git log --oneline -1'}]\n";
    repo.write("architecture/agentgate.yml", checks);
    repo.commit("settings");
    repo.git(["config", "core.hooksPath", "tool/hooks"]);
    let canary = repo.top().join("canary");
    let evil = script(
        &repo,
        "evil",
        &format!(
            "#!/bin/sh\necho \"$0 $*\" >> '{0}' 2> /dev/null || touch \"$HOME/evil-ran\" \"$TMPDIR/evil-ran\"\ncat\n",
            canary.display()
        ),
    );
    let evil = evil.display();
    // Hooks in the candidate's tree, and in the git dir that the agent was given.
    let agent = format!(
        "for h in post-checkout post-index-change reference-transaction pre-commit; do
             cp {evil} tool/hooks/$h; mkdir -p $(git rev-parse --git-dir)/hooks; cp {evil} $(git rev-parse --git-dir)/hooks/$h
         done
         git config core.hooksPath $PWD/tool/hooks; git config core.fsmonitor {evil}
         git config filter.evil.smudge {evil}; git config filter.evil.clean {evil}
         printf '* filter=evil\\n' > $(git rev-parse --git-dir)/info/attributes
         {CHANGE}; rm -f '{0}'",
        canary.display()
    );
    let outcome = run_to(0, &repo, "j1", &agent);
    assert!(!canary.exists(), "{:?}\n{outcome}", fs::read_to_string(&canary));
    let log = recorded(&repo, "j1", "check-1.log");
    assert!(log.contains("\nM  payments/pay.ts\n"), "{log}");
    // The trap works: what its silence proves would otherwise be nothing.
    repo.program("sh").args(["-c", &evil.to_string()]).run().success();
    assert!(canary.exists());
}

#[test]
fn the_settings_are_the_bases() {
    let repo = with("checks: [{name: c, run: 'exit 1'}]\n");
    // It is refused for that, too.
    let agent = format!("{CHANGE}; echo 'checks: [{{name: c, run: \"true\"}}]' > architecture/agentgate.yml");
    run_to(3, &repo, "j1", &agent).expect(3, &["architecture/agentgate.yml: protected path changed"]);
    // What lies in the checkout uncommitted, or on a later commit, does not count either.
    let base = repo.id("main");
    repo.change("architecture/agentgate.yml", "checks: [{name: c, run: 'true'}]\n");
    job(&repo, "j2", &["--base", &base], CHANGE)
        .run()
        .expect(10, &["check `c` exited with status 1"]);
    job(&repo, "j3", &[], CHANGE).run().success();
}

#[test]
fn a_check_can_write_nowhere_else() {
    let repo = with(
        "checks: [{name: c, run: 'for f in $MAIN/evil $MAIN/.git/evil $MAIN/.git/hooks/pre-commit $JOBS/evil $JOBS/j1/evil $JOBS/j1/payments/pay.ts $JOBS/.jobs/j1/evil $RECORD/evil $REAL/evil; do echo x > $f && echo through $f; done; git -C $MAIN config a.b c; ls $JOBS; cat $RECORD/task.md; true'}]\n",
    );
    let before = untouched(&repo);
    let run = job(
        &repo,
        "j1",
        &[
            "--pass-env",
            "MAIN",
            "--pass-env",
            "JOBS",
            "--pass-env",
            "RECORD",
            "--pass-env",
            "REAL",
        ],
        CHANGE,
    );
    run.env("MAIN", &repo.root)
        .env("JOBS", jobs_root(&repo))
        .env("RECORD", repo.root.join(".git/agentgate/jobs/j1"))
        .env("REAL", repo.home())
        .run()
        .success();
    let log = recorded(&repo, "j1", "check-1.log");
    assert!(!log.contains("\nthrough ") && log.contains("cannot create"), "{log}");
    assert!(!log.contains("Goal: "), "records are hidden: {log}");
    same(&before, &untouched(&repo));
    assert!(!repo.home().join("evil").exists() && !repo.root.join("evil").exists());
    assert_eq!(repo.git(["status", "--porcelain"]), "");
    assert_eq!(repo.git(["show", "agent/j1:payments/pay.ts"]), "export const pay = 2;");
}

#[test]
fn what_a_check_leaves_running_is_gone_before_the_next() {
    let repo = with(
        "checks:\n- {name: leaves, run: '(setsid sh -c \"trap : TERM; while :; do sleep 0.1; done\" &) ; sleep 0.3'}\n- {name: looks, run: 'ps -ef 2> /dev/null | grep \"[w]hile :\" && exit 1; true'}\n",
    );
    let outcome = run_to(0, &repo, "j1", CHANGE);
    outcome.expect(0, &["note: check `leaves` left ", "running, which were ended"]);
    assert!(finished(&repo)[0]["leftovers"].as_u64().is_some_and(|count| count > 0));
    assert!(scene::processes(&repo, "j1").is_empty());
}

#[test]
fn without_walls_a_change_of_the_clones_hooks_by_a_check_is_20() {
    let repo = with("checks: [{name: c, run: 'echo x > $MAIN/.git/hooks/pre-commit'}]\n");
    let run = job(&repo, "j1", &["--confinement", "off", "--pass-env", "MAIN"], CHANGE);
    let outcome = run.env("MAIN", &repo.root).run();
    outcome.expect(
        20,
        &["the clone's git dir changed while check `c` ran: hooks/pre-commit"],
    );
    assert_eq!(event(&events(&repo, "j1"), "job.failed")["exit"], 20, "{outcome}");
    nothing_left(&repo);
}

#[test]
fn a_flood_of_output_is_bounded_and_names_nothing_to_a_terminal() {
    let repo = with(
        "checks: [{name: c, run: 'yes 0123456789abcdef | head -c 30000000; printf \"\\n\\033]0;title\\007end\\n\"; exit 1'}]\n",
    );
    let outcome = run_to(10, &repo, "j1", CHANGE);
    outcome.expect(10, &["  | end\n"]);
    assert!(
        !outcome.stderr.contains('\u{1b}') && !outcome.stderr.contains('\u{7}'),
        "{outcome}"
    );
    let log = fs::metadata(repo.root.join(".git/agentgate/jobs/j1/check-1.log")).expect("it is there");
    assert!(log.len() < 17 << 20, "{}", log.len());
}

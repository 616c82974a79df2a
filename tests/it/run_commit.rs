//! The candidate commit: message, parent, tree, signature, identity, and no hook.

use std::fs;

use super::support::jobs::{
    event, events, frozen, job, nothing_left, patched, record, run, run_to, same, script, sha256, untouched,
};
use super::support::repo::Repo;

const EDIT: &str = "echo 1 > payments/a.ts";

#[test]
fn the_trailers_stand_once_in_the_documented_order() {
    let repo = Repo::new();
    run_to(0, &repo, "j1", EDIT);
    let message = repo.git(["log", "-1", "--format=%B", "agent/j1"]);
    let events = events(&repo, "j1");
    let gate = event(&events, "gate.finished");
    let policy = repo.git(["rev-parse", "main:architecture/invariants.yml"]);
    let expected = format!(
        "agent job j1: do the work\n\nAgent-Job-Id: j1\nAgent-Host: local\nAgent-Model-Label: unspecified\n\
         Agent-Task-Sha256: {}\nAgent-Policy-Oid: {policy}\nAgent-Confinement: {}\nAgent-Log-Sum: {}\n",
        sha256("Goal: do the work\n"),
        event(&events, "agent.confined")["tier"].as_str().expect("a tier"),
        gate["sum"].as_str().expect("a sum"),
    );
    assert_eq!(message, expected);
    let intended = event(&events, "commit.intended");
    assert_eq!(intended["seq"].as_u64(), gate["seq"].as_u64().map(|seq| seq + 1));
    assert_eq!(event(&events, "commit.made")["commit"], repo.id("agent/j1"));
    repo.agentgate(["trailers", "main..agent/j1"])
        .expect(0, &["trailers ok; 1 agent commit"]);
    // In git's own view every one of them is in the last paragraph.
    let parsed = repo.git(["log", "-1", "--format=%(trailers:only)", "agent/j1"]);
    assert_eq!(parsed.trim().lines().count(), 7, "{parsed}");
}

#[test]
fn the_base_is_the_only_parent_and_the_frozen_tree_the_tree() {
    let repo = Repo::new();
    run_to(
        0,
        &repo,
        "j1",
        "echo 1 > payments/a.ts; git add -A; git commit -qm own; echo 2 > payments/b.ts",
    );
    assert_eq!(repo.git(["rev-parse", "agent/j1^@"]), repo.id("main"));
    assert_eq!(repo.git(["rev-parse", "agent/j1^{tree}"]), frozen(&repo, "j1"));
    assert_eq!(patched(&repo, "j1", "main"), frozen(&repo, "j1"));
    assert_eq!(
        repo.git(["log", "-1", "--format=%an <%ae> %cn", "agent/j1"]),
        "A Person <person@example.com> A Person"
    );
}

#[test]
fn the_persons_taste_in_git_changes_nothing() {
    let repo = Repo::new();
    for (key, value) in [
        ("feature.manyFiles", "true"),
        ("index.skipHash", "true"),
        ("submodule.recurse", "true"),
        ("diff.noprefix", "true"),
        ("diff.renames", "copies"),
        ("color.ui", "always"),
        ("core.abbrev", "4"),
        ("core.commentChar", "A"),
        ("core.quotePath", "false"),
        ("core.whitespace", "trailing-space"),
        ("apply.whitespace", "error"),
        ("i18n.commitEncoding", "ISO-8859-1"),
        ("i18n.logOutputEncoding", "ISO-8859-1"),
        ("commit.cleanup", "scissors"),
        ("commit.verbose", "true"),
        ("commit.template", "/nonexistent"),
        ("trailer.separators", "#"),
        ("trailer.sign.key", "Agent-Host: "),
        ("log.showSignature", "true"),
        ("status.showUntrackedFiles", "no"),
        ("worktree.guessRemote", "true"),
        ("checkout.workers", "4"),
        ("core.logAllRefUpdates", "always"),
        ("user.useConfigOnly", "true"),
        ("advice.statusHints", "false"),
        ("alias.commit-tree", "!false"),
        ("core.pager", "false"),
        ("core.editor", "false"),
        ("core.untrackedCache", "true"),
        ("core.preloadIndex", "false"),
    ] {
        repo.git(["config", key, value]);
    }
    repo.write("payments/ü.ts", "u  \n");
    repo.commit("under these settings");
    let path = super::support::jobs::task(&repo, "Goal: Größe ändern\n");
    let agent = "echo 'x  ' >> payments/ü.ts; mv payments/pay.ts payments/moved.ts; git add -A; git commit -qm x";
    let outcome = repo.agentgate([
        "run",
        "--job-id",
        "j1",
        &path.to_string_lossy(),
        "--",
        "sh",
        "-c",
        agent,
    ]);
    outcome.expect(0, &["verdict=ok"]);
    assert_eq!(patched(&repo, "j1", "main"), frozen(&repo, "j1"));
    let raw = repo.git(["cat-file", "commit", "agent/j1"]);
    assert!(
        raw.contains("\nagent job j1: Größe ändern") || raw.contains(": Größe ändern\n"),
        "{raw}"
    );
    assert!(!raw.contains("\nencoding "), "{raw}");
    repo.agentgate(["trailers", "main..agent/j1"])
        .expect(0, &["1 agent commit"]);
    assert_eq!(
        repo.beside("repo-jobs/j1")
            .git(["-c", "color.ui=never", "status", "--porcelain", "-uall"]),
        ""
    );
    run_to(15, &repo, "j2", "git status; git stash list");
    run_to(3, &repo, "j3", "rm prot/rules.txt");
}

#[test]
fn a_split_index_of_the_person_is_no_hindrance() {
    let repo = Repo::new();
    repo.git(["config", "core.splitIndex", "true"]);
    repo.git(["config", "splitIndex.maxPercentChange", "100"]);
    repo.git(["update-index", "--split-index"]);
    repo.change("payments/b.ts", "b\n");
    // git itself renews the time of a shared index whenever it reads one.
    let state = || {
        let mut state = untouched(&repo);
        state.retain(|path, _| !path.to_string_lossy().starts_with("sharedindex."));
        state
    };
    let before = state();
    run_to(
        0,
        &repo,
        "j1",
        "echo x >> payments/b.ts; git add -A; git commit -qm x; echo y > payments/c.ts; git add -A",
    );
    assert_eq!(
        repo.git(["diff", "--name-only", "main", "agent/j1"]),
        "payments/b.ts\npayments/c.ts"
    );
    assert_eq!(repo.beside("repo-jobs/j1").git(["status", "--porcelain"]), "");
    same(&before, &state());
}

#[test]
fn no_hook_of_the_clone_ever_runs() {
    let repo = Repo::new();
    let ran = repo.top().join("hooks-ran");
    let names = [
        "pre-commit",
        "prepare-commit-msg",
        "commit-msg",
        "post-commit",
        "post-checkout",
        "reference-transaction",
        "post-index-change",
        "pre-push",
        "post-rewrite",
        "pre-auto-gc",
        "push-to-checkout",
        "fsmonitor",
    ];
    let hooks = repo.root.join(".git/hooks");
    fs::create_dir_all(&hooks).expect("a folder");
    for name in names {
        let hook = script(
            &repo,
            name,
            &format!("#!/bin/sh\necho {name} >> '{}'\nexit 1\n", ran.display()),
        );
        fs::rename(hook, hooks.join(name)).expect("it moves");
    }
    repo.git(["config", "core.fsmonitor", &hooks.join("fsmonitor").to_string_lossy()]);
    let _ = fs::remove_file(&ran);
    let before = untouched(&repo);
    for (id, code, agent) in [
        (
            "j1",
            0,
            "echo 1 > payments/a.ts; git add -A; git commit -qm x; git switch -qc y",
        ),
        ("j2", 3, "rm prot/rules.txt"),
        ("j3", 15, "true"),
        ("j4", 16, "exit 1"),
    ] {
        run_to(code, &repo, id, agent);
        assert!(!ran.exists(), "{id}: {}", fs::read_to_string(&ran).unwrap_or_default());
    }
    same(&before, &untouched(&repo));
}

#[test]
fn a_hook_that_makes_repositories_of_its_own_is_never_asked() {
    let repo = Repo::new();
    let hook = script(
        &repo,
        "pre-commit",
        "#!/bin/sh\nd=$(mktemp -d) && cd \"$d\" && git init && echo x > x && git add x && git commit -m x\n",
    );
    fs::create_dir_all(repo.root.join(".git/hooks")).expect("a folder");
    fs::rename(hook, repo.root.join(".git/hooks/pre-commit")).expect("it moves");
    let before = untouched(&repo);
    run_to(0, &repo, "j1", EDIT);
    same(&before, &untouched(&repo));
    assert_eq!(repo.git(["diff", "--name-only", "main", "agent/j1"]), "payments/a.ts");
}

#[test]
fn a_signature_is_made_where_the_person_wants_one() {
    let repo = Repo::new();
    let gpg = script(
        &repo,
        "gpg",
        "#!/bin/sh\ncat > /dev/null\necho '[GNUPG:] SIG_CREATED ' >&2\nprintf -- '-----BEGIN PGP SIGNATURE-----\\n\\nfake\\n-----END PGP SIGNATURE-----\\n'\n",
    );
    repo.git(["config", "commit.gpgsign", "true"]);
    repo.git(["config", "user.signingkey", "0xABC"]);
    repo.git(["config", "gpg.program", &gpg.to_string_lossy()]);
    run_to(
        0,
        &repo,
        "j1",
        "git commit -q --allow-empty -m unsigned; echo 1 > payments/a.ts",
    );
    let raw = repo.git(["cat-file", "commit", "agent/j1"]);
    assert!(raw.contains("\ngpgsig -----BEGIN PGP SIGNATURE-----"), "{raw}");
    assert_eq!(repo.git(["rev-parse", "agent/j1^{tree}"]), frozen(&repo, "j1"));
}

#[test]
fn a_signature_that_cannot_be_made_fails_the_job_and_loses_nothing() {
    let repo = Repo::new();
    let gpg = script(
        &repo,
        "gpg",
        "#!/bin/sh\ncat > /dev/null\necho 'gpg: no secret key' >&2\nexit 2\n",
    );
    repo.git(["config", "commit.gpgsign", "true"]);
    repo.git(["config", "gpg.program", &gpg.to_string_lossy()]);
    let outcome = run(&repo, "j1", EDIT);
    outcome.expect(1, &["could not be signed (commit.gpgsign is set)", "no secret key"]);
    let events = events(&repo, "j1");
    assert_eq!(events.last().expect("events")["event"], "job.failed");
    assert_eq!(patched(&repo, "j1", "main"), frozen(&repo, "j1"));
    nothing_left(&repo);
    assert_eq!(repo.git(["status", "--porcelain"]), "");
}

#[test]
fn without_an_identity_the_agent_does_not_start() {
    let repo = Repo::new();
    fs::write(repo.home().join(".gitconfig"), "").expect("it can be written");
    let before = untouched(&repo);
    let outcome = run(&repo, "j1", "touch ../../started");
    outcome.expect(64, &["no git identity", "git config --global user.name"]);
    assert!(!repo.top().join("started").exists() && !record(&repo, "j1").exists());
    same(&before, &untouched(&repo));
    let named = job(&repo, "j2", &[], EDIT)
        .env("GIT_AUTHOR_NAME", "Au Thor")
        .env("GIT_AUTHOR_EMAIL", "a@x")
        .env("GIT_COMMITTER_NAME", "Com Mitter")
        .env("GIT_COMMITTER_EMAIL", "c@x")
        .run();
    named.expect(0, &[]);
    assert_eq!(
        repo.git(["log", "-1", "--format=%an %ae %cn %ce", "agent/j2"]),
        "Au Thor a@x Com Mitter c@x"
    );
}

#[test]
fn the_agents_own_commits_carry_another_name_than_the_person() {
    let repo = Repo::new();
    run_to(
        0,
        &repo,
        "j1",
        "git commit -q --allow-empty -m x; git log -1 --format='%an <%ae>' > who.txt",
    );
    let who = repo.git(["show", "agent/j1:who.txt"]);
    assert_eq!(who, "agent job j1 <agent-job@agentgate.invalid>");
}
